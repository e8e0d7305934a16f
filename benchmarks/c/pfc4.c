#include "driver.h"

/* ---- pfc4.py ---- */

typedef struct { quat q; vec omega, torque; } pfc4_state;
KERNEL vec implicit_half_kick(vec omega, vec torque, const inertia *b, double dt) {
    vec new = axpy(0.5 * dt, euler_equations(omega, torque, b), omega);
    new = axpy(0.5 * dt, euler_equations(new, torque, b), omega);
    return axpy(0.5 * dt, euler_equations(new, torque, b), omega);
}
KERNEL pfc4_state pfc4_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)b; (void)dt;
    return (pfc4_state){q, omega, torque};
}
KERNEL pfc4_state pfc4_before(pfc4_state s, const inertia *b, double dt, quat *q, vec *omega) {
    s.omega = implicit_half_kick(s.omega, s.torque, b, dt);
    s.q = rotate(s.q, s.omega, dt);
    *q = s.q, *omega = s.omega;
    return s;
}
KERNEL pfc4_state pfc4_after(pfc4_state s, vec torque, const inertia *b, double dt) {
    return (pfc4_state){s.q, implicit_half_kick(s.omega, torque, b, dt), torque};
}
READ_SYNCHRONOUS(pfc4)
ONE_TORQUE(pfc4, 1.0, LEAVE, LEAVE)

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
