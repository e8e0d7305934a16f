/* What the classical Runge-Kutta scheme on rotations shares: rkmk4.py, lie_rk4_naive.py and fourth_order_start.py. */

#pragma once
#include "driver.h"

KERNEL vec rate_of_turn(vec u, vec omega) {
    vec bracket = cross(u, omega);
    return axpy(1.0 / 12, cross(u, bracket), axpy(0.5, bracket, omega));
}
KERNEL vec weighted(vec k1, vec k2, vec k3, vec k4) { return axpy(2.0, k2, axpy(2.0, k3, axpy(1.0, k4, k1))); }

KERNEL turning fourth_order_step(
    quat q, vec omega, vec moment, double t, double dt, const inertia *b, torque_function torque, const double *parameters
) {
    vec a1 = euler_equations(omega, moment, b);

    quat q2 = rotate(q, omega, 0.5 * dt);
    vec omega2 = axpy(0.5 * dt, a1, omega);
    vec k2 = rate_of_turn(scale(0.5 * dt, omega), omega2);
    vec a2 = euler_equations(omega2, load(torque, t + 0.5 * dt, q2, omega2, parameters), b);

    quat q3 = rotate(q, k2, 0.5 * dt);
    vec omega3 = axpy(0.5 * dt, a2, omega);
    vec k3 = rate_of_turn(scale(0.5 * dt, k2), omega3);
    vec a3 = euler_equations(omega3, load(torque, t + 0.5 * dt, q3, omega3, parameters), b);

    quat q4 = rotate(q, k3, dt);
    vec omega4 = axpy(dt, a3, omega);
    vec k4 = rate_of_turn(scale(dt, k3), omega4);
    vec a4 = euler_equations(omega4, load(torque, t + dt, q4, omega4, parameters), b);

    return (turning){rotate(q, weighted(omega, k2, k3, k4), dt / 6), axpy(dt / 6, weighted(a1, a2, a3, a4), omega)};
}
