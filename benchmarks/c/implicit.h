/* Linear systems and the midpoint rule: linear_system.py and implicit_midpoint.py. */

#pragma once
#include "driver.h"

/* ---- linear_system.py ---- */

/* The determinant, and the solution times that. */
KERNEL double cramer(vec x, vec y, vec z, vec right, vec *sum) {
    vec first = cross(y, z);
    *sum = axpy(right.x, first, axpy(right.y, cross(z, x), scale(right.z, cross(x, y))));
    return dot(x, first);
}
KERNEL vec solve(vec x, vec y, vec z, vec right) {
    vec sum;
    double determinant = cramer(x, y, z, right, &sum);
    return scale(1.0 / determinant, sum);
}
KERNEL vec solve_or_huge(vec x, vec y, vec z, vec right) {
    vec sum;
    double determinant = cramer(x, y, z, right, &sum);
    return scale(1.0 / (determinant + 1e-300), sum);
}

/* ---- implicit_midpoint.py ---- */

KERNEL vec newton_midpoint(vec mean, vec omega, vec torque, const inertia *b, double half) {
    vec gap = axpy(half, euler_equations(mean, torque, b), axpy(-1.0, mean, omega));
    double x = half * b->i[6], y = half * b->i[7], z = half * b->i[8];
    vec rows[3] = {{1.0, -x * mean.z, -x * mean.y}, {-y * mean.z, 1.0, -y * mean.x}, {-z * mean.y, -z * mean.x, 1.0}};
    return add(mean, solve_or_huge(rows[0], rows[1], rows[2], gap));
}
KERNEL vec mean_velocity(vec omega, vec torque, const inertia *b, double dt) {
    double half = 0.5 * dt;
    vec mean = axpy(half, euler_equations(omega, torque, b), omega);
    mean = newton_midpoint(mean, omega, torque, b, half);
    mean = newton_midpoint(mean, omega, torque, b, half);
    return newton_midpoint(mean, omega, torque, b, half);
}
KERNEL quat turned(quat q, vec c) {
    return scaled(1.0 / sqrt(1.0 + dot(c, c)), multiply(q, (quat){1.0, c.x, c.y, c.z}));
}
