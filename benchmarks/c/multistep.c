/* Witnesses that remember torques of earlier steps. */

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

KERNEL vec subtract(vec a, vec b) { return (vec){a.x - b.x, a.y - b.y, a.z - b.z}; }

/* ---- backward_differences.py ---- */

typedef struct { vec predicted, last, first, second; double known, missed; } memory;
typedef struct { vec first, second, third, end; } differences;

KERNEL differences continued(memory *m, vec load) {
    const vec zero = {0.0, 0.0, 0.0};
    double known = m->known;
    differences d;
    d.first = known > 0.5 ? subtract(load, m->last) : zero;
    d.second = known > 1.5 ? subtract(d.first, m->first) : zero;
    d.third = known > 2.5 ? subtract(d.second, m->second) : zero;

    double largest = dot(d.first, d.first);
    double squared = dot(d.second, d.second);
    largest = squared > largest ? squared : largest;
    squared = dot(d.third, d.third);
    largest = squared > largest ? squared : largest;
    vec miss = subtract(load, m->predicted);
    squared = dot(miss, miss);
    squared = known > 1.5 ? squared : 0.0;
    m->missed = squared > 0.25 * largest ? m->missed + 1.0 : 0.0;

    known = m->missed > 4.0 ? 1.0 : known;
    d.second = m->missed > 4.0 ? zero : d.second;
    d.third = m->missed > 4.0 ? zero : d.third;
    d.end = add(load, add(d.first, add(d.second, d.third)));
    m->known = known < 3.5 ? known + 1.0 : known;
    m->predicted = d.end, m->last = load, m->first = d.first, m->second = d.second;
    return d;
}

/* ---- magnus_adams4.py ---- */

typedef struct { quat q; vec omega; memory memory; } remembering;
typedef remembering magnus_adams4_state;

KERNEL remembering magnus_adams4_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)torque; (void)b; (void)dt;
    const vec zero = {0.0, 0.0, 0.0};
    return (remembering){q, omega, {zero, zero, zero, zero, 0.0, 0.0}};
}
KERNEL remembering magnus_adams4_before(remembering s, const inertia *b, double dt, quat *q, vec *omega) {
    (void)b; (void)dt;
    *q = s.q, *omega = s.omega;
    return s;
}
KERNEL remembering magnus_adams4_after(remembering s, vec torque, const inertia *b, double dt) {
    vec omega = s.omega;
    differences d = continued(&s.memory, torque);
    vec middle = axpy(5.0 / 16, d.third, axpy(3.0 / 8, d.second, axpy(1.0 / 2, d.first, torque)));
    vec rate = euler_equations(omega, torque, b);

    vec k2 = euler_equations(axpy(0.5 * dt, rate, omega), middle, b);
    vec k3 = euler_equations(axpy(0.5 * dt, k2, omega), middle, b);
    vec k4 = euler_equations(axpy(dt, k3, omega), d.end, b);
    s.omega = axpy(dt / 6, k4, axpy(dt / 3, k3, axpy(dt / 3, k2, axpy(dt / 6, rate, omega))));

    vec new_rate = euler_equations(s.omega, d.end, b);
    vec mean = axpy(dt / 12, subtract(rate, new_rate), scale(0.5, add(omega, s.omega)));
    s.q = multiply(s.q, exponential(axpy(dt * dt / 12, cross(omega, s.omega), scale(dt, mean))));
    return s;
}
KERNEL remembering magnus_adams4_warm_up(
    remembering s, vec moment, double t, double dt, const inertia *b, torque_function torque, const double *parameters
) {
    continued(&s.memory, moment);
    turning next = fourth_order_step(s.q, s.omega, moment, t, dt, b, torque, parameters);
    s.q = next.q, s.omega = next.omega;
    return s;
}
READ_SYNCHRONOUS(magnus_adams4)
ONE_TORQUE_WARM_UP(magnus_adams4, 0.0, LEAVE, LEAVE, 3)

/* ---- adams_bashforth.py ---- */

/* Rates of q and omega have the form of a state. */
KERNEL turning added(double s, turning rate, turning to) {
    return (turning){increment(s, rate.q, to.q), axpy(s, rate.omega, to.omega)};
}
KERNEL turning fourth_formula(turning now, turning newest, turning last, turning before, turning first, double dt) {
    turning sum = added(37.0 / 24 * dt, before, added(-9.0 / 24 * dt, first, now));
    return added(55.0 / 24 * dt, newest, added(-59.0 / 24 * dt, last, sum));
}
KERNEL turning rates(quat q, vec omega, vec torque, const inertia *b) {
    return (turning){derivative(q, omega), euler_equations(omega, torque, b)};
}

/* ---- adams_bashforth4.py ---- */

typedef struct { quat q; vec omega; turning last, before, first; } adams_bashforth4_state;
KERNEL adams_bashforth4_state adams_bashforth4_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)dt;
    turning first = rates(q, omega, torque, b);
    return (adams_bashforth4_state){q, omega, first, first, first};
}
KERNEL adams_bashforth4_state adams_bashforth4_before(adams_bashforth4_state s, const inertia *b, double dt, quat *q,
                                                      vec *omega) {
    (void)b; (void)dt;
    *q = s.q, *omega = s.omega;
    return s;
}
KERNEL adams_bashforth4_state adams_bashforth4_after(adams_bashforth4_state s, vec torque, const inertia *b, double dt) {
    turning newest = rates(s.q, s.omega, torque, b);
    turning next = fourth_formula((turning){s.q, s.omega}, newest, s.last, s.before, s.first, dt);
    return (adams_bashforth4_state){next.q, next.omega, newest, s.last, s.before};
}
KERNEL adams_bashforth4_state adams_bashforth4_warm_up(
    adams_bashforth4_state s, vec moment, double t, double dt, const inertia *b, torque_function torque,
    const double *parameters
) {
    turning newest = rates(s.q, s.omega, moment, b);
    turning next = fourth_order_step(s.q, s.omega, moment, t, dt, b, torque, parameters);
    return (adams_bashforth4_state){next.q, next.omega, newest, s.last, s.before};
}
READ_SYNCHRONOUS(adams_bashforth4)
ONE_TORQUE_WARM_UP(adams_bashforth4, 0.0, LEAVE, NORMALISE, 3)
