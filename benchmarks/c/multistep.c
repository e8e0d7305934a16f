/* Methods that remember torques of earlier steps. */

#include "driver.h"

KERNEL vec subtract(vec a, vec b) { return (vec){a.x - b.x, a.y - b.y, a.z - b.z}; }

/* ---- fourth_order_start.py ---- */

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
    vec a2 = euler_equations(omega2, torque(t + 0.5 * dt, q2, omega2, parameters), b);

    quat q3 = rotate(q, k2, 0.5 * dt);
    vec omega3 = axpy(0.5 * dt, a2, omega);
    vec k3 = rate_of_turn(scale(0.5 * dt, k2), omega3);
    vec a3 = euler_equations(omega3, torque(t + 0.5 * dt, q3, omega3, parameters), b);

    quat q4 = rotate(q, k3, dt);
    vec omega4 = axpy(dt, a3, omega);
    vec k4 = rate_of_turn(scale(dt, k3), omega4);
    vec a4 = euler_equations(omega4, torque(t + dt, q4, omega4, parameters), b);

    return (turning){rotate(q, weighted(omega, k2, k3, k4), dt / 6), axpy(dt / 6, weighted(a1, a2, a3, a4), omega)};
}

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
    return (remembering){q, omega, {{0}, {0}, {0}, {0}, 0.0, 0.0}};
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
