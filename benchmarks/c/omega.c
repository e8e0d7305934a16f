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

/* ---- martys1999.py ---- */

typedef verlet_state martys1999_state;
#define martys1999_start verlet_start
KERNEL quat constrained(quat q, vec omega, vec rate, double dt) {
    quat first = derivative(q, omega);
    double square = norm_squared(first);
    quat second = increment(-square, q, derivative(q, rate));
    double product = first.w * second.w + first.x * second.x + first.y * second.y + first.z * second.z;
    double half = 0.5 * dt;
    double mu = 1.0 - half * dt * square;
    double under = mu * mu - dt * dt * (dt * product + half * half * norm_squared(second));
    double root = under > 0.0 ? sqrt(under) : 0.0;
    return increment(root - mu, q, increment(half * dt, second, increment(dt, first, q)));
}
KERNEL verlet_state martys1999_before(verlet_state s, const inertia *b, double dt, quat *q, vec *omega) {
    vec rate = euler_equations(s.omega, s.torque, b);
    s.q = constrained(s.q, s.omega, rate, dt);
    s.omega = axpy(0.5 * dt, rate, s.omega);
    *q = s.q, *omega = s.omega;
    return s;
}
KERNEL verlet_state martys1999_after(verlet_state s, vec torque, const inertia *b, double dt) {
    double half = 0.5 * dt;
    vec omega = axpy(half, angular_velocity(torque, b), s.omega);
    omega = axpy(half, euler_equations(omega, torque, b), s.omega);
    omega = axpy(half, euler_equations(omega, torque, b), s.omega);
    omega = axpy(half, euler_equations(omega, torque, b), s.omega);
    return (verlet_state){s.q, omega, torque};
}
READ_SYNCHRONOUS(martys1999)
ONE_TORQUE(martys1999, 1.0, LEAVE, LEAVE)
