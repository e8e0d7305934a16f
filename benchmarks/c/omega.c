/* Methods that carry omega in the body frame and turn the quaternion by a sum. */

#include "driver.h"

/* ---- euler.py ---- */

typedef turning euler_state;
#define euler_start start_with_omega
#define euler_before torque_wanted_at_state
KERNEL turning euler_after(turning s, vec torque, const inertia *b, double dt) {
    vec omega = axpy(dt, euler_equations(s.omega, torque, b), s.omega);
    return (turning){increment(dt, derivative(s.q, omega), s.q), omega};
}
READ_SYNCHRONOUS(euler)
ONE_TORQUE(euler, 0.0, LEAVE, NORMALISE)

/* ---- verlet_delvalle2024.py ---- */

typedef struct { quat q; vec omega, torque; } verlet_state;
typedef verlet_state verlet_delvalle2024_state;
KERNEL verlet_state verlet_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)b; (void)dt;
    return (verlet_state){q, omega, torque};
}
KERNEL verlet_state verlet_before(verlet_state s, const inertia *b, double dt, quat *q, vec *omega) {
    s.omega = axpy(0.5 * dt, euler_equations(s.omega, s.torque, b), s.omega);
    s.q = increment(dt, derivative(s.q, s.omega), s.q);
    *q = s.q, *omega = s.omega;
    return s;
}
#define verlet_delvalle2024_start verlet_start
#define verlet_delvalle2024_before verlet_before
KERNEL verlet_state verlet_delvalle2024_after(verlet_state s, vec torque, const inertia *b, double dt) {
    return (verlet_state){s.q, axpy(0.5 * dt, euler_equations(s.omega, torque, b), s.omega), torque};
}
READ_SYNCHRONOUS(verlet_delvalle2024)
ONE_TORQUE(verlet_delvalle2024, 1.0, NORMALISE, LEAVE)

/* ---- verlet.py ---- */

KERNEL verlet_state verlet_after(verlet_state s, vec torque, const inertia *b, double dt) {
    vec omega = axpy(0.5 * dt, euler_equations(s.omega, torque, b), s.omega);
    omega = axpy(0.5 * dt, euler_equations(omega, torque, b), s.omega);
    omega = axpy(0.5 * dt, euler_equations(omega, torque, b), s.omega);
    return (verlet_state){s.q, omega, torque};
}
READ_SYNCHRONOUS(verlet)
ONE_TORQUE(verlet, 1.0, NORMALISE, LEAVE)
