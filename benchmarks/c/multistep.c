/* Methods that remember torques of earlier steps. */

#include "buss.h"
#include "stages.h"

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

/* ---- adams_bashforth.py ---- */

KERNEL vec second_formula(vec value, vec newest, vec last, double dt) {
    return axpy(3.0 / 2 * dt, newest, axpy(-1.0 / 2 * dt, last, value));
}
/* Rates of q and omega have the form of a state. */
KERNEL turning added(double s, turning rate, turning to) {
    return (turning){increment(s, rate.q, to.q), axpy(s, rate.omega, to.omega)};
}
KERNEL turning third_formula(turning now, turning newest, turning last, turning before, double dt) {
    return added(23.0 / 12 * dt, newest, added(-16.0 / 12 * dt, last, added(5.0 / 12 * dt, before, now)));
}
KERNEL turning fourth_formula(turning now, turning newest, turning last, turning before, turning first, double dt) {
    turning sum = added(37.0 / 24 * dt, before, added(-9.0 / 24 * dt, first, now));
    return added(55.0 / 24 * dt, newest, added(-59.0 / 24 * dt, last, sum));
}

/* ---- adams_bashforth2_buss.py ---- */

typedef struct { quat q; vec omega, last; } adams_bashforth2_buss_state;
KERNEL adams_bashforth2_buss_state adams_bashforth2_buss_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)dt;
    return (adams_bashforth2_buss_state){q, omega, euler_equations(omega, torque, b)};
}
#define WANTED_AT_OMEGA(NAME)                                                                                                  \
    KERNEL NAME##_state NAME##_before(NAME##_state s, const inertia *b, double dt, quat *q, vec *omega) {                      \
        (void)b; (void)dt;                                                                                                     \
        *q = s.q, *omega = s.omega;                                                                                            \
        return s;                                                                                                              \
    }
WANTED_AT_OMEGA(adams_bashforth2_buss)
KERNEL adams_bashforth2_buss_state adams_bashforth2_buss_after(adams_bashforth2_buss_state s, vec torque, const inertia *b,
                                                               double dt) {
    vec rate = euler_equations(s.omega, torque, b);
    quat q = rotate(s.q, mean_rotation(s.omega, rate, dt, 1.0 / 12), dt);
    return (adams_bashforth2_buss_state){q, second_formula(s.omega, rate, s.last, dt), rate};
}
READ_SYNCHRONOUS(adams_bashforth2_buss)
ONE_TORQUE(adams_bashforth2_buss, 0.0, LEAVE, LEAVE)

/* ---- adams_bashforth2_barker.py ---- */

typedef adams_bashforth2_buss_state adams_bashforth2_barker_state;
#define adams_bashforth2_barker_start adams_bashforth2_buss_start
#define adams_bashforth2_barker_before adams_bashforth2_buss_before
#define adams_bashforth2_barker_read adams_bashforth2_buss_read
KERNEL double third_coefficient(double square, double sinc) {
    double ratio = 1.0 / 6 - square * (1.0 / 120 - square * (1.0 / 5040 - square / 362880));
    if (square > 0.01) ratio = (1.0 - sinc) / square;
    return ratio;
}
KERNEL quat local_linearisation(quat q, vec omega, vec acceleration, double dt) {
    vec v = scale(0.5, omega), u = scale(0.5, acceleration);
    double square = dt * dt * dot(v, v);
    pair e = cos_sinc(square);
    double half_sinc = cos_sinc(0.25 * square).s;
    double c2 = dt * e.s, c3 = 0.5 * dt * dt * half_sinc * half_sinc, c4 = dt * dt * dt * third_coefficient(square, e.s);
    vec turn = axpy(c2, v, axpy(c3, u, scale(c4, cross(u, v))));
    return multiply(q, (quat){e.c - c4 * dot(v, u), turn.x, turn.y, turn.z});
}
KERNEL adams_bashforth2_barker_state adams_bashforth2_barker_after(adams_bashforth2_barker_state s, vec torque,
                                                                   const inertia *b, double dt) {
    vec rate = euler_equations(s.omega, torque, b);
    quat q = local_linearisation(s.q, s.omega, rate, dt);
    return (adams_bashforth2_barker_state){q, second_formula(s.omega, rate, s.last, dt), rate};
}
ONE_TORQUE(adams_bashforth2_barker, 0.0, LEAVE, NORMALISE)

/* ---- adams_bashforth3.py ---- */

KERNEL turning rates(quat q, vec omega, vec torque, const inertia *b) {
    return (turning){derivative(q, omega), euler_equations(omega, torque, b)};
}
typedef struct { quat q; vec omega; turning last, before; } adams_bashforth3_state;
KERNEL adams_bashforth3_state adams_bashforth3_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)dt;
    turning first = rates(q, omega, torque, b);
    return (adams_bashforth3_state){q, omega, first, first};
}
WANTED_AT_OMEGA(adams_bashforth3)
KERNEL adams_bashforth3_state adams_bashforth3_after(adams_bashforth3_state s, vec torque, const inertia *b, double dt) {
    turning newest = rates(s.q, s.omega, torque, b);
    turning next = third_formula((turning){s.q, s.omega}, newest, s.last, s.before, dt);
    return (adams_bashforth3_state){next.q, next.omega, newest, s.last};
}
KERNEL adams_bashforth3_state adams_bashforth3_warm_up(
    adams_bashforth3_state s, vec moment, double t, double dt, const inertia *b, torque_function torque,
    const double *parameters
) {
    turning newest = rates(s.q, s.omega, moment, b);
    turning next = fourth_order_step(s.q, s.omega, moment, t, dt, b, torque, parameters);
    return (adams_bashforth3_state){next.q, next.omega, newest, s.last};
}
READ_SYNCHRONOUS(adams_bashforth3)
ONE_TORQUE_WARM_UP(adams_bashforth3, 0.0, LEAVE, NORMALISE, 2)

/* ---- adams_bashforth4.py ---- */

typedef struct { quat q; vec omega; turning last, before, first; } adams_bashforth4_state;
KERNEL adams_bashforth4_state adams_bashforth4_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)dt;
    turning first = rates(q, omega, torque, b);
    return (adams_bashforth4_state){q, omega, first, first, first};
}
WANTED_AT_OMEGA(adams_bashforth4)
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
