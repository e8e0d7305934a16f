/* What other methods take from the predicted midpoint of pcdm2013_mid.py. */

#pragma once
#include "driver.h"

typedef struct { quat q; vec omega, acceleration; quat predicted; vec predicted_omega; } predicting;

KERNEL void predict(quat q, vec omega, vec acceleration, double dt, quat *q_half, vec *omega_half) {
    *q_half = rotate(q, axpy(0.25 * dt, acceleration, omega), 0.5 * dt);
    *omega_half = axpy(0.5 * dt, acceleration, omega);
}
KERNEL predicting pcdm2013_mid_before(predicting s, const inertia *b, double dt, quat *q, vec *omega) {
    (void)b;
    predict(s.q, s.omega, s.acceleration, dt, &s.predicted, &s.predicted_omega);
    *q = s.predicted, *omega = s.predicted_omega;
    return s;
}
