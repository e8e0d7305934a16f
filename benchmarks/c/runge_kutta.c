/* Runge-Kutta schemes with four torques in a step. */

#include "stages.h"

/* ---- rk4.py ---- */

typedef turning rk4_state;
#define rk4_start start_of_stages
KERNEL turning rk4_step(turning s, double t, double dt, const inertia *b, torque_function torque, const double *parameters) {
    quat q = s.q;
    vec omega = s.omega;
    quat q1 = derivative(q, omega);
    vec w1 = euler_equations(omega, load(torque, t, q, omega, parameters), b);

    quat q_half = increment(0.5 * dt, q1, q);
    vec omega_half = axpy(0.5 * dt, w1, omega);
    quat q2 = derivative(q_half, omega_half);
    vec w2 = euler_equations(omega_half, load(torque, t + 0.5 * dt, q_half, omega_half, parameters), b);

    q_half = increment(0.5 * dt, q2, q);
    omega_half = axpy(0.5 * dt, w2, omega);
    quat q3 = derivative(q_half, omega_half);
    vec w3 = euler_equations(omega_half, load(torque, t + 0.5 * dt, q_half, omega_half, parameters), b);

    quat q_full = increment(dt, q3, q);
    vec omega_full = axpy(dt, w3, omega);
    quat q4 = derivative(q_full, omega_full);
    vec w4 = euler_equations(omega_full, load(torque, t + dt, q_full, omega_full, parameters), b);

    q = increment(dt / 6, increment(2.0, q2, increment(2.0, q3, increment(1.0, q4, q1))), q);
    omega = axpy(dt / 6, axpy(2.0, w2, axpy(2.0, w3, axpy(1.0, w4, w1))), omega);
    return (turning){q, omega};
}
READ_SYNCHRONOUS(rk4)
SEVERAL_TORQUES(rk4, NORMALISE)

/* ---- lie_rk4_naive.py ---- */

typedef turning lie_rk4_naive_state;
#define lie_rk4_naive_start start_of_stages
KERNEL turning lie_rk4_naive_step(turning s, double t, double dt, const inertia *b, torque_function torque,
                                  const double *parameters) {
    quat q = s.q;
    vec omega = s.omega;
    vec a1 = euler_equations(omega, load(torque, t, q, omega, parameters), b);

    quat q2 = rotate(q, omega, 0.5 * dt);
    vec omega2 = axpy(0.5 * dt, a1, omega);
    vec a2 = euler_equations(omega2, load(torque, t + 0.5 * dt, q2, omega2, parameters), b);

    quat q3 = rotate(q, omega2, 0.5 * dt);
    vec omega3 = axpy(0.5 * dt, a2, omega);
    vec a3 = euler_equations(omega3, load(torque, t + 0.5 * dt, q3, omega3, parameters), b);

    quat q4 = rotate(q, omega3, dt);
    vec omega4 = axpy(dt, a3, omega);
    vec a4 = euler_equations(omega4, load(torque, t + dt, q4, omega4, parameters), b);

    q = rotate(q, weighted(omega, omega2, omega3, omega4), dt / 6);
    return (turning){q, axpy(dt / 6, weighted(a1, a2, a3, a4), omega)};
}
READ_SYNCHRONOUS(lie_rk4_naive)
SEVERAL_TORQUES(lie_rk4_naive, NORMALISE)

/* ---- cf4.py ---- */

typedef turning cf4_state;
#define cf4_start start_of_stages
KERNEL turning cf4_step(turning s, double t, double dt, const inertia *b, torque_function torque, const double *parameters) {
    quat q = s.q;
    vec omega = s.omega;
    vec a1 = euler_equations(omega, load(torque, t, q, omega, parameters), b);

    quat q2 = rotate(q, omega, 0.5 * dt);
    vec omega2 = axpy(0.5 * dt, a1, omega);
    vec a2 = euler_equations(omega2, load(torque, t + 0.5 * dt, q2, omega2, parameters), b);

    quat q3 = rotate(q, omega2, 0.5 * dt);
    vec omega3 = axpy(0.5 * dt, a2, omega);
    vec a3 = euler_equations(omega3, load(torque, t + 0.5 * dt, q3, omega3, parameters), b);

    quat q4 = rotate(q2, axpy(-0.5, omega, omega3), dt);
    vec omega4 = axpy(dt, a3, omega);
    vec a4 = euler_equations(omega4, load(torque, t + dt, q4, omega4, parameters), b);

    vec middle = scale(2.0, add(omega2, omega3));
    q = rotate(q, axpy(3.0, omega, axpy(-1.0, omega4, middle)), dt / 12);
    q = rotate(q, axpy(-1.0, omega, axpy(3.0, omega4, middle)), dt / 12);
    return (turning){q, axpy(dt / 6, weighted(a1, a2, a3, a4), omega)};
}
READ_SYNCHRONOUS(cf4)
SEVERAL_TORQUES(cf4, LEAVE)

/* ---- rkmk4.py ---- */

typedef turning rkmk4_state;
#define rkmk4_start start_of_stages
KERNEL turning rkmk4_step(turning s, double t, double dt, const inertia *b, torque_function torque,
                          const double *parameters) {
    quat q = s.q;
    vec omega = s.omega;
    return fourth_order_step(q, omega, load(torque, t, q, omega, parameters), t, dt, b, torque, parameters);
}
READ_SYNCHRONOUS(rkmk4)
SEVERAL_TORQUES(rkmk4, LEAVE)
