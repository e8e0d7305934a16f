/* A witness of splittings: half kicks around the exact motion of the free body. */

#include "driver.h"

#define TINY 1e-300
#define SMALLEST 1e-16

KERNEL vec middle_second(const inertia *b, vec v) {
    const double *g = b->i + 6;
    vec r = v;
    if (g[1] * g[2] >= 0.0) r = (vec){v.z, v.x, v.y};
    if (g[0] * g[1] >= 0.0) r = (vec){v.y, v.z, v.x};
    if (g[0] * g[2] >= 0.0) r = v;
    return r;
}
KERNEL vec back_in_place(const inertia *b, vec v) {
    const double *g = b->i + 6;
    vec r = v;
    if (g[1] * g[2] >= 0.0) r = (vec){v.y, v.z, v.x};
    if (g[0] * g[1] >= 0.0) r = (vec){v.z, v.x, v.y};
    if (g[0] * g[2] >= 0.0) r = v;
    return r;
}

/* k', its complement, n' and sqrt(1 + n). */
typedef struct { double k, complement, n, root; } level;
KERNEL level landen(double k, double complement, double n) {
    double one = 1.0 / (1.0 + complement);
    double ratio = k * one;
    double lower = ratio * ratio;
    double stretch = (1.0 + lower) * (1.0 + lower) * n;
    double lower_n = 2.0 * lower * lower / ((2.0 * lower + stretch) + sqrt(stretch * (4.0 * lower + stretch) + TINY));
    return (level){lower, 2.0 * sqrt(complement) * one, lower_n, sqrt(1.0 + n)};
}

/* sn/p, cn and dn; a complex number and turns. */
typedef struct { double s, c, d; } elliptic;
typedef struct { double x, y, turns; } arc;
KERNEL elliptic ascended(elliptic f, double k, double squared) {
    double bend = k * squared * f.s * f.s;
    double share = 1.0 / (1.0 + bend);
    return (elliptic){(1.0 + k) * share * f.s, share * f.c * f.d, share * (1.0 - bend)};
}
KERNEL arc arc_above(arc a, elliptic f, pair last, double p, double k, double root, double stretch) {
    double sine = (1.0 + k) * root * p * f.s, cosine = f.c * f.d;
    double xx = a.x * a.x - a.y * a.y, yy = 2.0 * a.x * a.y;
    double real = cosine * last.c + sine * last.s, imaginary = sine * last.c - cosine * last.s;
    return (arc){xx * real - yy * imaginary, -(xx * imaginary + yy * real), (root * stretch - 1.0) - 2.0 * a.turns};
}
typedef struct { elliptic f; double x, y, turn; } half_period;
KERNEL half_period half_step(double squared, double small, double apart, double tilt, double h) {
    double p = sqrt(squared + TINY);
    double m = small / (squared + TINY);
    double other = (apart + TINY) / (squared + TINY);
    if (other < SMALLEST) other = SMALLEST;
    double complement0 = sqrt(other);
    double one = 1.0 / (1.0 + complement0);
    double k1 = m * one * one;
    level l2 = landen(k1, 2.0 * sqrt(complement0) * one, tilt * k1);
    level l3 = landen(l2.k, l2.complement, l2.n);
    level l4 = landen(l3.k, l3.complement, l3.n);
    level l5 = landen(l4.k, l4.complement, l4.n);
    level l6 = landen(l5.k, l5.complement, l5.n);
    level l7 = landen(l6.k, l6.complement, l6.n);
    level l8 = landen(l7.k, l7.complement, l7.n);
    double z7 = 1.0 + l8.k;
    double z6 = (1.0 + l7.k) * z7;
    double z5 = (1.0 + l6.k) * z6;
    double z4 = (1.0 + l5.k) * z5;
    double z3 = (1.0 + l4.k) * z4;
    double z2 = (1.0 + l3.k) * z3;
    double z1 = (1.0 + l2.k) * z2;
    double time = h / ((1.0 + k1) * z1);
    double z = p * time;
    pair e = cos_sinc(squared * time * time);
    elliptic f = {time * e.s, e.c, 1.0};
    pair last = {e.c, z * e.s};
    arc a = {1.0, 0.0, 0.0};
#define UP(LEVEL, STRETCH)                                                                                                     \
    a = arc_above(a, f, last, p, LEVEL.k, LEVEL.root, STRETCH);                                                                \
    f = ascended(f, LEVEL.k, squared);
    UP(l8, z7)
    UP(l7, z6)
    UP(l6, z5)
    UP(l5, z4)
    UP(l4, z3)
    UP(l3, z2)
    UP(l2, z1)
#undef UP
    f = ascended(f, k1, squared);
    return (half_period){f, a.x * a.x - a.y * a.y, 2.0 * a.x * a.y, 2.0 * a.turns * z};
}

typedef struct { quat turn; vec momentum; } free_turn;
KERNEL free_turn free_motion(vec momentum, const inertia *b, double dt) {
    vec i = middle_second(b, (vec){b->i[0], b->i[1], b->i[2]});
    vec r = middle_second(b, (vec){b->i[3], b->i[4], b->i[5]});
    vec g = middle_second(b, (vec){b->i[6], b->i[7], b->i[8]});
    vec l = middle_second(b, momentum);
    vec w = {r.x * l.x, r.y * l.y, r.z * l.z};
    double spread = i.z - i.x, share1 = 1.0, share3 = 0.0;
    if (spread * spread > 0.0) share1 = (i.z - i.y) / spread, share3 = (i.y - i.x) / spread;
    double largest1 = w.x * w.x + share1 * i.y * r.x * (w.y * w.y);
    double largest3 = w.z * w.z + share3 * i.y * r.z * (w.y * w.y);
    double product12 = -g.x * g.y, product23 = -g.y * g.z;
    double first = product12 * largest3, third = product23 * largest1;
    double apart = g.y * (g.z * (w.x * w.x) - g.x * (w.z * w.z));
    double squared = first, small = third, a1 = largest1, a3 = largest3, m1 = i.x, m3 = i.z, side = 1.0;
    if (first < third) squared = third, small = first, a1 = largest3, a3 = largest1, m1 = i.z, m3 = i.x, side = -1.0;
    apart = side * apart;
    double length2 = (l.x * l.x + l.y * l.y) + l.z * l.z;
    double length = sqrt(length2 + TINY);
    double omega3 = sqrt(a3 + TINY);
    double pi3 = m3 * omega3;
    double whole = 1.0 / (length + pi3);
    double h = 0.5 * dt;
    half_period e = half_step(squared, small, apart, m1 * m1 * a1 * (whole * whole), h);
    double s = e.f.s, c = e.f.c, d = e.f.d, x = e.x, y = e.y;

    double over = 1.0 / length;
    double u3 = over * pi3 * d;
    double corner = over * over * m1 * m1 * a1 * (c * c) + u3 * (u3 + 1.0);
    double cross = over * over * m1 * a1 * c * ((m3 - m1) * omega3 * s);
    double sense = m3 < m1 ? -1.0 : 1.0;
    double angle = h * ((w.x * l.x + w.y * l.y) + w.z * l.z + length * omega3) * whole + sense * e.turn;
    y = sense * y;
    double re = x * corner - y * cross, im = y * corner + x * cross;
    pair t = cos_sinc(angle * angle);
    double sine = angle * t.s;
    double real = re * t.c - im * sine, imaginary = re * sine + im * t.c;

    double twice = 1.0 / (c * c + squared * s * s * (d * d));
    double s2 = 2.0 * s * c * d * twice;
    double c2 = (c * c - squared * s * s * (d * d)) * twice;
    double d2 = (d * d - small * s * s * (c * c)) * twice;
    if (first < third) {
        double kept = c2;
        c2 = d2, d2 = kept;
    }
    double ss = s2 * s2;
    double drop1 = product12 * (w.z * w.z) * ss, drop3 = product23 * (w.x * w.x) * ss;
    double away1 = 1.0 - c2, away3 = 1.0 - d2;
    if (c2 > 0.0) away1 = first * ss / (1.0 + c2);
    if (d2 > 0.0) away3 = third * ss / (1.0 + d2);
    double away2 = away1 + away3 * c2;
    double share = 1.0 / (c2 * c2 + drop1);
    vec end = {
        l.x + i.x * share * (w.x * (c2 * away1 - drop1) + g.x * w.y * w.z * s2 * d2),
        l.y + i.y * share * (g.x * g.z * ss * (w.y * w.y) * w.y - away2 * w.y + g.y * w.x * w.z * s2),
        l.z + i.z * share * (w.z * (d2 * away3 - drop3) + g.z * w.x * w.y * s2 * c2),
    };

    vec u = scale(over, l), v = scale(over, end);
    double real0 = real * (1.0 + ((u.x * v.x + u.y * v.y) + u.z * v.z));
    vec axis = back_in_place(b, (vec){
        real * (v.y * u.z - v.z * u.y) + imaginary * (u.x + v.x),
        real * (v.z * u.x - v.x * u.z) + imaginary * (u.y + v.y),
        real * (v.x * u.y - v.y * u.x) + imaginary * (u.z + v.z),
    });
    return (free_turn){normalise((quat){real0, axis.x, axis.y, axis.z}), back_in_place(b, end)};
}

/* ---- splitting.py ---- */

/* The angular momentum is that in the body frame. */
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

/* ---- exact_rotor.py ---- */

typedef split exact_rotor_state;
KERNEL split exact_rotor_before(split s, const inertia *b, double dt, quat *q, vec *omega) {
    free_turn f = free_motion(axpy(0.5 * dt, s.torque, s.momentum), b, dt);
    *q = multiply(s.q, f.turn), *omega = angular_velocity(axpy(0.5 * dt, s.torque, f.momentum), b);
    return (split){*q, f.momentum, s.torque};
}
#define exact_rotor_start split_start
#define exact_rotor_after split_after
#define exact_rotor_read split_read
ONE_TORQUE(exact_rotor, 1.0, LEAVE, LEAVE)
