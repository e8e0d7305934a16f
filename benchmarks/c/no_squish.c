#include "driver.h"

/* ---- no_squish.py ---- */

typedef struct { quat q, p; vec torque; } no_squish_state;
typedef struct { quat q, p; } phase;
KERNEL double product(quat p, quat q) { return (p.w * q.w + p.x * q.x) + (p.y * q.y + p.z * q.z); }
KERNEL quat p1(quat q) { return (quat){-q.x, q.w, q.z, -q.y}; }
KERNEL quat p2(quat q) { return (quat){-q.y, -q.z, q.w, q.x}; }
KERNEL quat p3(quat q) { return (quat){-q.z, q.y, -q.x, q.w}; }
KERNEL pair angle(quat p, quat turned, double inverse, double dt) {
    double a = 0.25 * inverse * dt * product(p, turned);
    pair e = cos_sinc(a * a);
    return (pair){e.c, a * e.s};
}
#define ROTOR(K)                                                                                                               \
    KERNEL phase rotor##K(phase s, const inertia *b, double dt) {                                                              \
        pair e = angle(s.p, p##K(s.q), b->i[2 + K], dt);                                                                       \
        return (phase){increment(e.s, p##K(s.q), scaled(e.c, s.q)), increment(e.s, p##K(s.p), scaled(e.c, s.p))};              \
    }
ROTOR(1)
ROTOR(2)
ROTOR(3)
KERNEL quat no_squish_kick(quat q, quat p, vec torque, double dt) { return increment(4.0 * dt, derivative(q, torque), p); }
KERNEL vec omega_of(quat q, quat p, const inertia *b) {
    return (vec){0.5 * b->i[3] * product(p, p1(q)), 0.5 * b->i[4] * product(p, p2(q)), 0.5 * b->i[5] * product(p, p3(q))};
}
KERNEL no_squish_state no_squish_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)dt;
    return (no_squish_state){q, scaled(4.0, derivative(q, angular_momentum(omega, b))), torque};
}
KERNEL no_squish_state no_squish_before(no_squish_state s, const inertia *b, double dt, quat *q, vec *omega) {
    phase f = {s.q, no_squish_kick(s.q, s.p, s.torque, 0.5 * dt)};
    f = rotor3(f, b, 0.5 * dt);
    f = rotor2(f, b, 0.5 * dt);
    f = rotor1(f, b, dt);
    f = rotor2(f, b, 0.5 * dt);
    f = rotor3(f, b, 0.5 * dt);
    *q = f.q, *omega = omega_of(f.q, f.p, b);
    return (no_squish_state){f.q, f.p, s.torque};
}
KERNEL no_squish_state no_squish_after(no_squish_state s, vec torque, const inertia *b, double dt) {
    (void)b;
    return (no_squish_state){s.q, no_squish_kick(s.q, s.p, torque, 0.5 * dt), torque};
}
KERNEL void no_squish_read(no_squish_state s, vec torque, const inertia *b, double dt, quat *q, vec *omega) {
    (void)torque; (void)dt;
    *q = s.q, *omega = omega_of(s.q, s.p, b);
}
ONE_TORQUE(no_squish, 1.0, LEAVE, LEAVE)
