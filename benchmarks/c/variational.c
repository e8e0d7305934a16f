/* The discrete Moser-Veselov algorithm. */

#include "buss.h"
#include "implicit.h"

/* ---- moser_veselov.py ---- */

typedef buss2000_state moser_veselov_state;
#define moser_veselov_start buss2000_start
#define moser_veselov_after buss2000_after
KERNEL vec products(vec f, vec c) { return (vec){f.x * c.y * c.z, f.y * c.z * c.x, f.z * c.x * c.y}; }
KERNEL vec newton(vec c, vec a, vec f) {
    vec gap = add(axpy(1.0 + dot(c, c), a, products(f, c)), scale(-1.0, c));
    vec x = scale(-2.0 * a.x, c), y = scale(-2.0 * a.y, c), z = scale(-2.0 * a.z, c);
    x = (vec){1.0 + x.x, x.y - f.x * c.z, x.z - f.x * c.y};
    y = (vec){y.x - f.y * c.z, 1.0 + y.y, y.z - f.y * c.x};
    z = (vec){z.x - f.z * c.y, z.y - f.z * c.x, 1.0 + z.z};
    return add(c, solve_or_huge(x, y, z, gap));
}
KERNEL vec rotation(vec a, vec f) {
    vec c = axpy(1.0 + dot(a, a), a, products(f, a));
    return newton(newton(newton(c, a, f), a, f), a, f);
}
KERNEL buss2000_state moser_veselov_before(buss2000_state s, const inertia *b, double dt, quat *q, vec *omega) {
    s.momentum = axpy(0.5 * dt, to_lab(s.q, s.torque), s.momentum);
    vec a = scale(0.5 * dt, OMEGA_OF_MOMENTUM(s, b));
    s.q = turned(s.q, rotation(a, (vec){b->i[6], b->i[7], b->i[8]}));
    *q = s.q, *omega = OMEGA_OF_MOMENTUM(s, b);
    return s;
}
READ_MOMENTUM(moser_veselov)
ONE_TORQUE(moser_veselov, 1.0, NORMALISE, LEAVE)

/* ---- moser_veselov4.py ---- */

typedef buss2000_state moser_veselov4_state;
#define moser_veselov4_start buss2000_start
#define moser_veselov4_after buss2000_after
#define moser_veselov4_read moser_veselov_read
KERNEL vec modified_inverses(vec momentum, const inertia *b, double dt) {
    const double *i = b->i;
    double twice_energy = dot(momentum, angular_velocity(momentum, b)), square = dot(momentum, momentum);
    double inverse = i[3] * i[4] * i[5];
    double mixed = inverse * (i[0] + i[1] + i[2]) / 6;
    double h = 0.5 * dt * dt;
    double s = 1.0 + h * (mixed * square - (i[3] + i[4] + i[5]) / 3 * twice_energy);
    double d = h * (mixed * twice_energy - inverse / 3 * square);
    return (vec){s * i[3] + d, s * i[4] + d, s * i[5] + d};
}
KERNEL buss2000_state moser_veselov4_before(buss2000_state s, const inertia *b, double dt, quat *q, vec *omega) {
    s.momentum = axpy(0.5 * dt, to_lab(s.q, s.torque), s.momentum);
    vec in_body = to_body(s.q, s.momentum);
    vec r = modified_inverses(in_body, b, dt);
    double x = 1.0 / r.x, y = 1.0 / r.y, z = 1.0 / r.z;
    vec a = {r.x * in_body.x, r.y * in_body.y, r.z * in_body.z};
    vec f = {(y - z) * r.x, (z - x) * r.y, (x - y) * r.z};
    s.q = turned(s.q, rotation(scale(0.5 * dt, a), f));
    *q = s.q, *omega = OMEGA_OF_MOMENTUM(s, b);
    return s;
}
ONE_TORQUE(moser_veselov4, 1.0, NORMALISE, LEAVE)
