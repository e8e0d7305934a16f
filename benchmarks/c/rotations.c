/* Methods that carry omega in the body frame and turn the quaternion by a rotation. */

#include "driver.h"

/* ---- spiral_leapfrog.py ---- */

typedef turning spiral_leapfrog_state;
KERNEL vec spiral_kick(vec omega, vec torque, const inertia *b, double dt) {
    vec k1 = euler_equations(omega, torque, b);
    vec k2 = euler_equations(axpy(dt, k1, omega), torque, b);
    vec k3 = euler_equations(axpy(dt / 4, k2, axpy(dt / 4, k1, omega)), torque, b);
    return axpy(2 * dt / 3, k3, axpy(dt / 6, k2, axpy(dt / 6, k1, omega)));
}
KERNEL turning spiral_leapfrog_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    return (turning){q, spiral_kick(omega, torque, b, -0.5 * dt)};
}
#define spiral_leapfrog_before torque_wanted_at_state
KERNEL turning spiral_leapfrog_after(turning s, vec torque, const inertia *b, double dt) {
    vec omega = spiral_kick(s.omega, torque, b, dt);
    return (turning){rotate(s.q, omega, dt), omega};
}
KERNEL void spiral_leapfrog_read(turning s, vec torque, const inertia *b, double dt, quat *q, vec *omega) {
    *q = s.q, *omega = spiral_kick(s.omega, torque, b, 0.5 * dt);
}
ONE_TORQUE(spiral_leapfrog, 0.0, LEAVE, LEAVE)

/* ---- spiral_synchronous.py ---- */

typedef turning spiral_synchronous_state;
#define spiral_synchronous_start start_with_omega
#define spiral_synchronous_before torque_wanted_at_state
KERNEL turning spiral_synchronous_after(turning s, vec torque, const inertia *b, double dt) {
    vec acceleration = euler_equations(s.omega, torque, b);
    quat q = rotate(rotate(s.q, s.omega, dt), acceleration, 0.5 * dt * dt);
    return (turning){q, spiral_kick(s.omega, torque, b, dt)};
}
READ_SYNCHRONOUS(spiral_synchronous)
ONE_TORQUE(spiral_synchronous, 0.0, LEAVE, LEAVE)

/* ---- omelyan1998.py ---- */

typedef turning omelyan1998_state;
KERNEL vec omelyan_kick(vec omega, vec torque, const inertia *b, double dt) {
    vec old = euler_equations(omega, torque, b);
    vec new = axpy(dt, old, omega);
    new = axpy(0.5 * dt, add(old, euler_equations(new, torque, b)), omega);
    return axpy(0.5 * dt, add(old, euler_equations(new, torque, b)), omega);
}
KERNEL turning omelyan1998_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    return (turning){q, axpy(-0.5 * dt, euler_equations(omega, torque, b), omega)};
}
#define omelyan1998_before torque_wanted_at_state
KERNEL turning omelyan1998_after(turning s, vec torque, const inertia *b, double dt) {
    vec omega = omelyan_kick(s.omega, torque, b, dt);
    double a = (0.0625 * dt * dt) * dot(omega, omega);
    quat turned = increment(dt, derivative(s.q, omega), scaled(1.0 - a, s.q));
    return (turning){scaled(1.0 / (1.0 + a), turned), omega};
}
KERNEL void omelyan1998_read(turning s, vec torque, const inertia *b, double dt, quat *q, vec *omega) {
    *q = s.q, *omega = omelyan_kick(s.omega, torque, b, 0.5 * dt);
}
ONE_TORQUE(omelyan1998, 0.0, LEAVE, LEAVE)

/* ---- spiral_omelyan.py ---- */

typedef turning spiral_omelyan_state;
#define spiral_omelyan_start spiral_leapfrog_start
#define spiral_omelyan_before torque_wanted_at_state
#define spiral_omelyan_read omelyan1998_read
KERNEL turning spiral_omelyan_after(turning s, vec torque, const inertia *b, double dt) {
    vec omega = omelyan_kick(s.omega, torque, b, dt);
    return (turning){rotate(s.q, omega, dt), omega};
}
ONE_TORQUE(spiral_omelyan, 0.0, LEAVE, LEAVE)

/* ---- scalar_factor.py ---- */

typedef turning scalar_factor_state;
#define scalar_factor_start start_with_omega
#define scalar_factor_before torque_wanted_at_state
KERNEL turning scalar_factor_after(turning s, vec torque, const inertia *b, double dt) {
    vec omega = axpy(dt, euler_equations(s.omega, torque, b), s.omega);
    return (turning){rotate(s.q, omega, dt), omega};
}
READ_SYNCHRONOUS(scalar_factor)
ONE_TORQUE(scalar_factor, 1.0, LEAVE, NORMALISE)
