/* Witnesses that carry the angular momentum or the axes in the lab frame. */

#include "driver.h"

/* ---- fincham1992.py ---- */

typedef struct { quat q; vec momentum, omega; } fincham1992_state;
KERNEL fincham1992_state fincham1992_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    vec momentum = to_lab(q, axpy(-0.5 * dt, torque, angular_momentum(omega, b)));
    return (fincham1992_state){q, momentum, axpy(-0.5 * dt, euler_equations(omega, torque, b), omega)};
}
WANTED_AT_MOMENTUM(fincham1992)
KERNEL fincham1992_state fincham1992_after(fincham1992_state s, vec torque, const inertia *b, double dt) {
    vec torque_lab = to_lab(s.q, torque);
    vec omega = angular_velocity(to_body(s.q, axpy(0.5 * dt, torque_lab, s.momentum)), b);
    quat half = increment(0.5 * dt, derivative(s.q, omega), s.q);
    vec momentum = axpy(dt, torque_lab, s.momentum);
    omega = angular_velocity(to_body(half, momentum), b);
    return (fincham1992_state){increment(dt, derivative(half, omega), s.q), momentum, omega};
}
KERNEL void fincham1992_read(fincham1992_state s, vec torque, const inertia *b, double dt, quat *q, vec *omega) {
    *q = s.q, *omega = angular_velocity(axpy(0.5 * dt, torque, to_body(s.q, s.momentum)), b);
}
ONE_TORQUE(fincham1992, 0.0, LEAVE, NORMALISE)

/* ---- rozmanov2010.py ---- */

#define CHANGE_SQUARED 1e-26
#define ROUNDS 50
typedef struct { quat q; vec momentum, torque; } rozmanov2010_state;
KERNEL rozmanov2010_state rozmanov2010_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)dt;
    return (rozmanov2010_state){q, to_lab(q, angular_momentum(omega, b)), to_lab(q, torque)};
}
KERNEL rozmanov2010_state rozmanov2010_before(rozmanov2010_state s, const inertia *b, double dt, quat *q, vec *omega) {
    vec old = OMEGA_OF_MOMENTUM(s, b);
    vec predicted = axpy(0.5 * dt, euler_equations(old, to_body(s.q, s.torque), b), old);
    s.momentum = axpy(0.5 * dt, s.torque, s.momentum);
    quat rate = derivative(s.q, predicted);
    quat half = normalise(increment(0.5 * dt, rate, s.q));
    double change = 1.0;
    for (int rounds = 0; change > CHANGE_SQUARED && rounds < ROUNDS; rounds++) {
        quat last = half;
        rate = derivative(last, angular_velocity(to_body(last, s.momentum), b));
        half = normalise(increment(0.5 * dt, rate, s.q));
        change = norm_squared(increment(-1.0, last, half));
    }
    s.q = increment(dt, rate, s.q);
    *q = s.q, *omega = OMEGA_OF_MOMENTUM(s, b);
    return s;
}
KERNEL rozmanov2010_state rozmanov2010_after(rozmanov2010_state s, vec torque, const inertia *b, double dt) {
    (void)b;
    vec torque_lab = to_lab(s.q, torque);
    return (rozmanov2010_state){s.q, axpy(0.5 * dt, torque_lab, s.momentum), torque_lab};
}
READ_MOMENTUM(rozmanov2010)
ONE_TORQUE(rozmanov2010, 1.0, NORMALISE, LEAVE)

/* ---- pfc4_delvalle2024.py ---- */

/* The rotation matrix by columns, and omega in the lab frame. */
typedef struct { vec x, y, z, omega; } pfc4_delvalle2024_state;
KERNEL vec from_body(vec x, vec y, vec z, vec v) { return add(scale(v.x, x), axpy(v.y, y, scale(v.z, z))); }
KERNEL vec into_body(vec x, vec y, vec z, vec v) { return (vec){dot(x, v), dot(y, v), dot(z, v)}; }
KERNEL vec acceleration(vec x, vec y, vec z, vec omega, vec torque_lab, const inertia *b) {
    vec momentum = from_body(x, y, z, angular_momentum(into_body(x, y, z, omega), b));
    vec rest = axpy(-1.0, cross(omega, momentum), torque_lab);
    return from_body(x, y, z, angular_velocity(into_body(x, y, z, rest), b));
}
KERNEL vec kick(vec x, vec y, vec z, vec omega, vec torque_lab, const inertia *b, double dt) {
    vec new = axpy(dt, acceleration(x, y, z, omega, torque_lab, b), omega);
    new = axpy(dt, acceleration(x, y, z, new, torque_lab, b), omega);
    return axpy(dt, acceleration(x, y, z, new, torque_lab, b), omega);
}
KERNEL quat to_quaternion(vec x, vec y, vec z) {
    double trace = x.x + y.y + z.z;
    quat q;
    if (trace >= x.x && trace >= y.y && trace >= z.z)
        q = (quat){1.0 + trace, y.z - z.y, z.x - x.z, x.y - y.x};
    else if (x.x >= y.y && x.x >= z.z)
        q = (quat){y.z - z.y, 1.0 + 2.0 * x.x - trace, x.y + y.x, z.x + x.z};
    else if (y.y >= z.z)
        q = (quat){z.x - x.z, x.y + y.x, 1.0 + 2.0 * y.y - trace, y.z + z.y};
    else
        q = (quat){x.y - y.x, z.x + x.z, y.z + z.y, 1.0 + 2.0 * z.z - trace};
    return normalise(q);
}
KERNEL pfc4_delvalle2024_state pfc4_delvalle2024_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    vec x = to_lab(q, (vec){1.0, 0.0, 0.0});
    vec y = to_lab(q, (vec){0.0, 1.0, 0.0});
    vec z = to_lab(q, (vec){0.0, 0.0, 1.0});
    vec torque_lab = from_body(x, y, z, torque);
    return (pfc4_delvalle2024_state){x, y, z, kick(x, y, z, from_body(x, y, z, omega), torque_lab, b, -0.5 * dt)};
}
KERNEL pfc4_delvalle2024_state pfc4_delvalle2024_before(pfc4_delvalle2024_state s, const inertia *b, double dt, quat *q,
                                                        vec *omega) {
    (void)b; (void)dt;
    *q = to_quaternion(s.x, s.y, s.z), *omega = into_body(s.x, s.y, s.z, s.omega);
    return s;
}
KERNEL pfc4_delvalle2024_state pfc4_delvalle2024_after(pfc4_delvalle2024_state s, vec torque, const inertia *b, double dt) {
    vec omega = kick(s.x, s.y, s.z, s.omega, from_body(s.x, s.y, s.z, torque), b, dt);
    vec x = axpy(dt, cross(omega, s.x), s.x);
    vec y = axpy(dt, cross(omega, s.y), s.y);
    vec z = axpy(dt, cross(omega, s.z), s.z);
    vec first = unit((vec){x.x, y.x, z.x});
    vec second = (vec){x.y, y.y, z.y};
    second = unit(axpy(-dot(first, second), first, second));
    vec third = (vec){x.z, y.z, z.z};
    third = unit(axpy(-dot(second, third), second, axpy(-dot(first, third), first, third)));
    x = (vec){first.x, second.x, third.x};
    y = (vec){first.y, second.y, third.y};
    z = (vec){first.z, second.z, third.z};
    return (pfc4_delvalle2024_state){x, y, z, omega};
}
KERNEL void pfc4_delvalle2024_read(pfc4_delvalle2024_state s, vec torque, const inertia *b, double dt, quat *q, vec *omega) {
    *q = to_quaternion(s.x, s.y, s.z);
    *omega = into_body(s.x, s.y, s.z, kick(s.x, s.y, s.z, s.omega, from_body(s.x, s.y, s.z, torque), b, 0.5 * dt));
}
ONE_TORQUE(pfc4_delvalle2024, 0.0, LEAVE, LEAVE)
