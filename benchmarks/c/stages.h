/* What the classical Runge-Kutta scheme on rotations shares: lie_rk4_naive.py and fourth_order_start.py. */

#pragma once
#include "driver.h"

/* ---- lie_rk4_naive.py ---- */

KERNEL vec weighted(vec k1, vec k2, vec k3, vec k4) { return axpy(2.0, k2, axpy(2.0, k3, add(k1, k4))); }

/* ---- fourth_order_start.py ---- */

/* Rates of a rotation vector and of omega. */
typedef struct { vec turn, omega; } pace;

KERNEL vec rate_of_turn(vec u, vec omega) {
    vec bracket = cross(u, omega);
    return axpy(1.0 / 12, cross(u, bracket), axpy(0.5, bracket, omega));
}
KERNEL pace stage(quat q, vec omega, vec turn, vec a, double t, double dt, const inertia *b, torque_function torque,
                  const double *parameters) {
    omega = axpy(dt, a, omega);
    a = euler_equations(omega, load(torque, t + dt, multiply(q, exponential(turn)), omega, parameters), b);
    return (pace){rate_of_turn(turn, omega), a};
}
KERNEL turning fourth_order_step(quat q, vec omega, vec moment, double t, double dt, const inertia *b, torque_function torque,
                                 const double *parameters) {
    double half = 0.5 * dt;
    vec a1 = euler_equations(omega, moment, b);
    pace k2 = stage(q, omega, scale(half, omega), a1, t, half, b, torque, parameters);
    pace k3 = stage(q, omega, scale(half, k2.turn), k2.omega, t, half, b, torque, parameters);
    pace k4 = stage(q, omega, scale(dt, k3.turn), k3.omega, t, dt, b, torque, parameters);
    vec turn = scale(dt / 6, weighted(omega, k2.turn, k3.turn, k4.turn));
    vec sum = weighted(a1, k2.omega, k3.omega, k4.omega);
    return (turning){multiply(q, exponential(turn)), axpy(dt / 6, sum, omega)};
}
