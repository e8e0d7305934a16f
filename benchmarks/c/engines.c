/* Methods of physics engines and simulation codes. */

#include "implicit.h"

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

/* ---- lacoursiere2006.py ---- */

typedef turning lacoursiere2006_state;
#define lacoursiere2006_start start_with_omega
#define lacoursiere2006_before torque_wanted_at_state
KERNEL vec implicit_step(vec omega, const inertia *b, double dt) {
    vec l = scale(dt, angular_momentum(omega, b));
    vec x = {b->i[0], l.z, -l.y}, y = {-l.z, b->i[1], l.x}, z = {l.y, -l.x, b->i[2]};
    return add(omega, solve(x, y, z, cross(l, omega)));
}
KERNEL turning lacoursiere2006_after(turning s, vec torque, const inertia *b, double dt) {
    vec omega = axpy(dt, angular_velocity(torque, b), implicit_step(s.omega, b, dt));
    return (turning){increment(dt, derivative(s.q, omega), s.q), omega};
}
READ_SYNCHRONOUS(lacoursiere2006)
ONE_TORQUE(lacoursiere2006, 0.0, LEAVE, NORMALISE)

/* ---- rescaled_momentum.py ---- */

typedef turning rescaled_momentum_state;
#define rescaled_momentum_start start_with_omega
#define rescaled_momentum_before torque_wanted_at_state
KERNEL vec rescaled_step(vec momentum, vec omega, double dt) {
    vec new = axpy(-dt, cross(omega, momentum), momentum);
    double old_square = dot(momentum, momentum), new_square = dot(new, new), ratio = 1.0;
    if (new_square > 0.0) ratio = old_square / new_square;
    return scale(sqrt(ratio), new);
}
KERNEL turning rescaled_momentum_after(turning s, vec torque, const inertia *b, double dt) {
    vec momentum = rescaled_step(angular_momentum(s.omega, b), s.omega, dt);
    vec omega = angular_velocity(axpy(dt, torque, momentum), b);
    return (turning){rotate(s.q, omega, dt), omega};
}
READ_SYNCHRONOUS(rescaled_momentum)
ONE_TORQUE(rescaled_momentum, 0.0, LEAVE, NORMALISE)

/* ---- richardson.py ---- */

/* momentum and torque in the lab frame */
typedef struct { quat q; vec momentum, torque; } richardson_state;
KERNEL quat extrapolated(quat q, vec momentum, const inertia *b, double dt, vec *omega_lab) {
    quat rate = derivative(q, angular_velocity(to_body(q, momentum), b));
    quat full = normalise(increment(dt, rate, q));
    quat half = normalise(increment(0.5 * dt, rate, q));
    vec omega = angular_velocity(to_body(half, momentum), b);
    quat twice = normalise(increment(0.5 * dt, derivative(half, omega), half));
    *omega_lab = to_lab(half, omega);
    return increment(-1.0, full, scaled(2.0, twice));
}
KERNEL richardson_state richardson_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)dt;
    return (richardson_state){q, to_lab(q, angular_momentum(omega, b)), to_lab(q, torque)};
}
KERNEL richardson_state richardson_before(richardson_state s, const inertia *b, double dt, quat *q, vec *omega) {
    vec omega_lab;
    s.momentum = axpy(0.5 * dt, s.torque, s.momentum);
    s.q = extrapolated(s.q, s.momentum, b, dt, &omega_lab);
    *q = s.q, *omega = scale(1.0 / norm_squared(s.q), to_body(s.q, omega_lab));
    return s;
}
KERNEL richardson_state richardson_after(richardson_state s, vec torque, const inertia *b, double dt) {
    (void)b;
    vec torque_lab = to_lab(s.q, torque);
    return (richardson_state){s.q, axpy(0.5 * dt, torque_lab, s.momentum), torque_lab};
}
READ_MOMENTUM(richardson)
ONE_TORQUE(richardson, 1.0, NORMALISE, LEAVE)

/* ---- munjiza2003.py ---- */

typedef struct { quat q; vec momentum; } munjiza2003_state;
KERNEL munjiza2003_state munjiza2003_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)torque; (void)dt;
    return (munjiza2003_state){q, to_lab(q, angular_momentum(omega, b))};
}
WANTED_AT_MOMENTUM(munjiza2003)
KERNEL vec omega_in_lab(quat q, vec momentum, const inertia *b) {
    return to_lab(q, angular_velocity(to_body(q, momentum), b));
}
KERNEL quat turned_in_lab(quat q, vec omega, double dt) { return multiply(exponential(scale(dt, omega)), q); }
KERNEL munjiza2003_state munjiza2003_after(munjiza2003_state s, vec torque, const inertia *b, double dt) {
    vec w1 = omega_in_lab(s.q, s.momentum, b);
    vec momentum = axpy(dt, to_lab(s.q, torque), s.momentum);
    vec w2 = omega_in_lab(turned_in_lab(s.q, w1, 0.5 * dt), momentum, b);
    vec w3 = omega_in_lab(turned_in_lab(s.q, w2, 0.5 * dt), momentum, b);
    vec w4 = omega_in_lab(turned_in_lab(s.q, w3, dt), momentum, b);
    vec mean = scale(1.0 / 6, axpy(2.0, w3, axpy(2.0, w2, axpy(1.0, w4, w1))));
    return (munjiza2003_state){turned_in_lab(s.q, mean, dt), momentum};
}
READ_MOMENTUM(munjiza2003)
ONE_TORQUE(munjiza2003, 0.0, LEAVE, LEAVE)
