/* What other methods take from those of Buss (buss2000_delvalle2024.py, buss2000.py). */

#pragma once
#include "driver.h"

/* ---- buss2000_delvalle2024.py ---- */

KERNEL vec mean_rotation(vec omega, vec acceleration, double dt, double coefficient) {
    vec turning = cross(acceleration, omega);
    return add(axpy(0.5 * dt, acceleration, omega), scale(coefficient * dt * dt, turning));
}

/* ---- buss2000.py ---- */

typedef struct { quat q; vec momentum, torque; } buss2000_state;
KERNEL buss2000_state buss2000_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)dt;
    return (buss2000_state){q, to_lab(q, angular_momentum(omega, b)), torque};
}
KERNEL buss2000_state buss2000_after(buss2000_state s, vec torque, const inertia *b, double dt) {
    (void)b;
    return (buss2000_state){s.q, axpy(0.5 * dt, to_lab(s.q, torque), s.momentum), torque};
}
