/* Splittings of the kinetic energy between two half kicks: splitting.py and rotor_choice.py. */

#pragma once
#include "driver.h"

/* ---- splitting.py ---- */

/* The angular momentum is that in the body frame. */
typedef struct { quat q; vec momentum; } motion;
typedef struct { quat q; vec momentum, torque; } split;

KERNEL split split_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)dt;
    return (split){q, angular_momentum(omega, b), torque};
}
KERNEL split split_after(split s, vec torque, const inertia *b, double dt) {
    (void)b;
    return (split){s.q, axpy(0.5 * dt, torque, s.momentum), torque};
}
KERNEL void split_read(split s, vec torque, const inertia *b, double dt, quat *q, vec *omega) {
    (void)torque; (void)dt;
    *q = s.q, *omega = angular_velocity(s.momentum, b);
}
KERNEL pair half_angle(double momentum, double rate, double dt) {
    double a = 0.5 * dt * (rate * momentum);
    pair e = cos_sinc(a * a);
    return (pair){e.c, a * e.s};
}
KERNEL void turn_back(pair e, double *x, double *y) {
    double first = *x, second = *y;
    *x = first - 2.0 * e.s * (e.s * first - e.c * second), *y = second - 2.0 * e.s * (e.s * second + e.c * first);
}
KERNEL motion rotor1(motion m, double rate, double dt) {
    pair e = half_angle(m.momentum.x, rate, dt);
    quat q = m.q;
    m.q = (quat){e.c * q.w - e.s * q.x, e.c * q.x + e.s * q.w, e.c * q.y + e.s * q.z, e.c * q.z - e.s * q.y};
    turn_back(e, &m.momentum.y, &m.momentum.z);
    return m;
}
KERNEL motion rotor2(motion m, double rate, double dt) {
    pair e = half_angle(m.momentum.y, rate, dt);
    quat q = m.q;
    m.q = (quat){e.c * q.w - e.s * q.y, e.c * q.x - e.s * q.z, e.c * q.y + e.s * q.w, e.c * q.z + e.s * q.x};
    turn_back(e, &m.momentum.z, &m.momentum.x);
    return m;
}
KERNEL motion rotor3(motion m, double rate, double dt) {
    pair e = half_angle(m.momentum.z, rate, dt);
    quat q = m.q;
    m.q = (quat){e.c * q.w - e.s * q.z, e.c * q.x + e.s * q.y, e.c * q.y - e.s * q.x, e.c * q.z + e.s * q.w};
    turn_back(e, &m.momentum.x, &m.momentum.y);
    return m;
}
KERNEL motion rotors(motion m, vec rates, double dt) {
    double half = 0.5 * dt;
    m = rotor1(m, rates.x, half);
    m = rotor2(m, rates.y, half);
    m = rotor3(m, rates.z, dt);
    m = rotor2(m, rates.y, half);
    return rotor1(m, rates.x, half);
}
KERNEL vec inverses(const inertia *b) { return (vec){b->i[3], b->i[4], b->i[5]}; }

/* A method NAME with a motion NAME_drift of the free body between its half kicks. */
#define KICKED(NAME)                                                                                                           \
    typedef split NAME##_state;                                                                                                \
    KERNEL split NAME##_before(split s, const inertia *b, double dt, quat *q, vec *omega) {                                    \
        motion m = NAME##_drift((motion){s.q, axpy(0.5 * dt, s.torque, s.momentum)}, b, dt);                                   \
        *q = m.q, *omega = angular_velocity(m.momentum, b);                                                                    \
        return (split){m.q, m.momentum, s.torque};                                                                             \
    }

/* ---- rotor_choice.py ---- */

KERNEL double score(double a, double b, double c) {
    double one = a * a * (c - b);
    double two = b * (2.0 * a * (c - b) - b * c);
    double three = 2.0 * c * (a * (c - b) - b * c);
    double p12 = two - one, p13 = one - three, p23 = three - two;
    double d1 = c - b, d2 = a - c, d3 = b - a;
    double g1 = p12 * d2 + p13 * d3, g2 = p12 * d1 + p23 * d3, g3 = p13 * d1 + p23 * d2;
    double total = g1 + g2 + g3;
    return 2.0 * ((g1 * g1 + g2 * g2) + g3 * g3) + 3.0 * (total * total);
}
KERNEL double least(double s0, double s1, double s2, double s3, double s4, double s5) {
    double which = 0.0, best = s0;
    if (s1 < best) which = 1.0, best = s1;
    if (s2 < best) which = 2.0, best = s2;
    if (s3 < best) which = 3.0, best = s3;
    if (s4 < best) which = 4.0, best = s4;
    if (s5 < best) which = 5.0, best = s5;
    return which;
}
KERNEL double best_order(const inertia *b) {
    double x = 1.0, y = b->i[4] * b->i[0], z = b->i[5] * b->i[0];
    return least(score(x, y, z), score(y, z, x), score(z, x, y), score(x, z, y), score(z, y, x), score(y, x, z));
}
KERNEL double best_pair(const inertia *b) {
    double x = 1.0, y = b->i[4] * b->i[0], z = b->i[5] * b->i[0];
    return least(score(x - y, 0.0, z - y), score(y - z, 0.0, x - z), score(z - x, 0.0, y - x), score(x - z, 0.0, y - z),
                 score(z - y, 0.0, x - y), score(y - x, 0.0, z - x));
}
KERNEL vec ordered(double which, vec v) {
    vec r = v;
    if (which == 1.0) r = (vec){v.y, v.z, v.x};
    if (which == 2.0) r = (vec){v.z, v.x, v.y};
    if (which == 3.0) r = (vec){v.x, v.z, v.y};
    if (which == 4.0) r = (vec){v.z, v.y, v.x};
    if (which == 5.0) r = (vec){v.y, v.x, v.z};
    return r;
}
KERNEL vec restored(double which, vec v) {
    double inverse = which;
    if (which == 1.0) inverse = 2.0;
    if (which == 2.0) inverse = 1.0;
    return ordered(inverse, v);
}
KERNEL vec handed(double which, vec v) { return scale(which > 2.5 ? -1.0 : 1.0, v); }
KERNEL motion renamed(double which, motion m) {
    vec axis = handed(which, ordered(which, (vec){m.q.x, m.q.y, m.q.z}));
    return (motion){{m.q.w, axis.x, axis.y, axis.z}, handed(which, ordered(which, m.momentum))};
}
KERNEL motion named_back(double which, motion m) {
    vec axis = handed(which, restored(which, (vec){m.q.x, m.q.y, m.q.z}));
    return (motion){{m.q.w, axis.x, axis.y, axis.z}, handed(which, restored(which, m.momentum))};
}
