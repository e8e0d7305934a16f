/* Witnesses that carry omega in the body frame. */

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

/* ---- catto2015.py ---- */

typedef turning catto2015_state;
#define catto2015_start start_with_omega
#define catto2015_before torque_wanted_at_state
KERNEL vec newton_step(vec o, const inertia *body, double dt) {
    double a = dt * body->i[6], b = dt * body->i[7], c = dt * body->i[8];
    vec x = {1.0, -a * o.z, -a * o.y}, y = {-b * o.z, 1.0, -b * o.x}, z = {-c * o.y, -c * o.x, 1.0};
    return solve(x, y, z, (vec){a * o.y * o.z, b * o.z * o.x, c * o.x * o.y});
}
KERNEL turning catto2015_after(turning s, vec torque, const inertia *b, double dt) {
    vec omega = axpy(dt, angular_velocity(torque, b), add(s.omega, newton_step(s.omega, b, dt)));
    return (turning){rotate(s.q, omega, dt), omega};
}
READ_SYNCHRONOUS(catto2015)
ONE_TORQUE(catto2015, 0.0, LEAVE, NORMALISE)

/* ---- pcdm2013_mid.py ---- */

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

KERNEL quat turn(quat q, quat q_half, vec omega_half, double dt) {
    return multiply(exponential(scale(dt, to_lab(q_half, omega_half))), q);
}

typedef predicting pcdm2013_mid_state;
KERNEL predicting pcdm2013_mid_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)dt;
    return (predicting){q, omega, euler_equations(omega, torque, b), q, omega};
}
KERNEL predicting pcdm2013_mid_after(predicting s, vec torque, const inertia *b, double dt) {
    s.omega = axpy(dt, euler_equations(s.predicted_omega, torque, b), s.omega);
    s.q = turn(s.q, s.predicted, s.predicted_omega, dt);
    s.acceleration = euler_equations(s.omega, torque, b);
    return s;
}
READ_SYNCHRONOUS(pcdm2013_mid)
ONE_TORQUE(pcdm2013_mid, 0.5, LEAVE, LEAVE)

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

typedef predicting implicit_midpoint_state;
KERNEL predicting implicit_midpoint_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)dt;
    return (predicting){q, omega, euler_equations(omega, torque, b), q, omega};
}
#define implicit_midpoint_before pcdm2013_mid_before
KERNEL predicting implicit_midpoint_after(predicting s, vec torque, const inertia *b, double dt) {
    vec mean = mean_velocity(s.omega, torque, b, dt);
    s.q = turned(s.q, scale(0.5 * dt, mean));
    s.omega = axpy(2.0, mean, scale(-1.0, s.omega));
    s.acceleration = euler_equations(mean, torque, b);
    return s;
}
READ_SYNCHRONOUS(implicit_midpoint)
ONE_TORQUE(implicit_midpoint, 0.5, LEAVE, LEAVE)

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
