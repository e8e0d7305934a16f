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

/* ---- rk4.py ---- */

typedef turning rk4_state;
KERNEL turning rk4_start(quat q, vec omega, const inertia *b) {
    (void)b;
    return (turning){q, omega};
}
KERNEL turning rk4_step(turning s, double t, double dt, const inertia *b, torque_function torque, const double *parameters) {
    quat q = s.q;
    vec omega = s.omega;
    quat q1 = derivative(q, omega);
    vec w1 = euler_equations(omega, torque(t, q, omega, parameters), b);

    quat q_half = increment(0.5 * dt, q1, q);
    vec omega_half = axpy(0.5 * dt, w1, omega);
    quat q2 = derivative(q_half, omega_half);
    vec w2 = euler_equations(omega_half, torque(t + 0.5 * dt, q_half, omega_half, parameters), b);

    q_half = increment(0.5 * dt, q2, q);
    omega_half = axpy(0.5 * dt, w2, omega);
    quat q3 = derivative(q_half, omega_half);
    vec w3 = euler_equations(omega_half, torque(t + 0.5 * dt, q_half, omega_half, parameters), b);

    quat q_full = increment(dt, q3, q);
    vec omega_full = axpy(dt, w3, omega);
    quat q4 = derivative(q_full, omega_full);
    vec w4 = euler_equations(omega_full, torque(t + dt, q_full, omega_full, parameters), b);

    q = increment(dt / 6, increment(2.0, q2, increment(2.0, q3, increment(1.0, q4, q1))), q);
    omega = axpy(dt / 6, axpy(2.0, w2, axpy(2.0, w3, axpy(1.0, w4, w1))), omega);
    return (turning){q, omega};
}
READ_SYNCHRONOUS(rk4)
SEVERAL_TORQUES(rk4, NORMALISE)
