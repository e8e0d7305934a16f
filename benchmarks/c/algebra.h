/* The algebra of polhode's kernels once more in C: src/polhode/algebra/vector.py, quaternion.py and body.py.

   Every function stands under the name of the kernel it repeats, with the same arithmetic in the same order and brackets:
   with -ffp-contract=off the results agree to the last bits. */

#pragma once
#include <math.h>

#define KERNEL static inline __attribute__((always_inline))

typedef struct { double w, x, y, z; } quat;
typedef struct { double x, y, z; } vec;
/* Ix, Iy, Iz, their reciprocals, and (Iy - Iz)/Ix, (Iz - Ix)/Iy, (Ix - Iy)/Iz. */
typedef struct { double i[9]; } inertia;

/* ---- vector.py ---- */

KERNEL vec add(vec a, vec b) { return (vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
KERNEL vec scale(double s, vec a) { return (vec){s * a.x, s * a.y, s * a.z}; }
KERNEL vec axpy(double s, vec a, vec b) { return (vec){s * a.x + b.x, s * a.y + b.y, s * a.z + b.z}; }
KERNEL double dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
KERNEL vec cross(vec a, vec b) { return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
KERNEL vec unit(vec a) { return scale(1.0 / sqrt(dot(a, a)), a); }

/* ---- quaternion.py ---- */

static const double C[9] = {1.0, -0.4999999999999997, 0.04166666666666388, -0.001388888888877299, 2.4801587277414923e-05,
    -2.755731639102574e-07, 2.0876561839932584e-09, -1.1462901901741764e-11, 4.60897700283419e-14};
static const double S[9] = {1.0, -0.16666666666666666, 0.008333333333333186, -0.00019841269841208676, 2.7557319211229606e-06,
    -2.5052106890569513e-08, 1.6058940878486252e-10, -7.643026557963443e-13, 2.7215749422098424e-15};
#define HALF_PI_SQUARED 2.4674011002723395
#define ONE_OVER_PI 0.3183098861837907
#define PI_HIGH 3.1415926534682512
#define PI_LOW 1.2154201013012384e-10
#define ROUND 6755399441055744.0

typedef struct { double c, s; } pair;

KERNEL pair cos_sinc(double x) {
    double y = x, sign = 1.0, ratio = 1.0;
    if (x > HALF_PI_SQUARED) {
        double a = sqrt(x);
        double k = (a * ONE_OVER_PI + ROUND) - ROUND;
        double r = (a - k * PI_HIGH) - k * PI_LOW;
        double odd = k - 2.0 * ((0.5 * k + ROUND) - ROUND);
        y = r * r;
        sign = 1.0 - 2.0 * odd * odd;
        ratio = sign * (r / a);
    }
    double y2 = y * y, y4 = y2 * y2;
    double c = (C[0] + C[1] * y) + y2 * (C[2] + C[3] * y) + y4 * ((C[4] + C[5] * y) + y2 * (C[6] + C[7] * y) + y4 * C[8]);
    double s = (S[0] + S[1] * y) + y2 * (S[2] + S[3] * y) + y4 * ((S[4] + S[5] * y) + y2 * (S[6] + S[7] * y) + y4 * S[8]);
    return (pair){sign * c, ratio * s};
}

KERNEL quat multiply(quat p, quat q) {
    return (quat){
        p.w * q.w - p.x * q.x - p.y * q.y - p.z * q.z,
        p.w * q.x + p.x * q.w + p.y * q.z - p.z * q.y,
        p.w * q.y - p.x * q.z + p.y * q.w + p.z * q.x,
        p.w * q.z + p.x * q.y - p.y * q.x + p.z * q.w,
    };
}
KERNEL quat scaled(double s, quat q) { return (quat){s * q.w, s * q.x, s * q.y, s * q.z}; }
KERNEL quat increment(double s, quat p, quat q) {
    return (quat){q.w + s * p.w, q.x + s * p.x, q.y + s * p.y, q.z + s * p.z};
}
KERNEL double norm_squared(quat q) { return q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z; }
KERNEL quat normalise(quat q) { return scaled(1.0 / sqrt(norm_squared(q)), q); }
KERNEL quat derivative(quat q, vec o) {
    return (quat){
        -0.5 * (q.x * o.x + q.y * o.y + q.z * o.z),
        0.5 * (q.w * o.x + q.y * o.z - q.z * o.y),
        0.5 * (q.w * o.y + q.z * o.x - q.x * o.z),
        0.5 * (q.w * o.z + q.x * o.y - q.y * o.x),
    };
}
KERNEL quat exponential(vec v) {
    pair e = cos_sinc(0.25 * (v.x * v.x + v.y * v.y + v.z * v.z));
    double s = 0.5 * e.s;
    return (quat){e.c, s * v.x, s * v.y, s * v.z};
}
KERNEL quat rotate(quat q, vec o, double dt) {
    double h = 0.5 * dt;
    pair e = cos_sinc((h * h) * (o.x * o.x + o.y * o.y + o.z * o.z));
    double s = h * e.s;
    return multiply(q, (quat){e.c, s * o.x, s * o.y, s * o.z});
}
KERNEL vec to_lab(quat q, vec v) {
    double a = q.w * v.x + q.y * v.z - q.z * v.y;
    double b = q.w * v.y + q.z * v.x - q.x * v.z;
    double c = q.w * v.z + q.x * v.y - q.y * v.x;
    double d = q.x * v.x + q.y * v.y + q.z * v.z;
    return (vec){
        q.w * a + q.x * d + (q.y * c - q.z * b),
        q.w * b + q.y * d + (q.z * a - q.x * c),
        q.w * c + q.z * d + (q.x * b - q.y * a),
    };
}
KERNEL vec to_body(quat q, vec v) { return to_lab((quat){q.w, -q.x, -q.y, -q.z}, v); }

/* ---- body.py ---- */

KERNEL vec euler_equations(vec o, vec t, const inertia *b) {
    return (vec){t.x * b->i[3] + o.y * o.z * b->i[6], t.y * b->i[4] + o.z * o.x * b->i[7], t.z * b->i[5] + o.x * o.y * b->i[8]};
}
KERNEL vec angular_momentum(vec o, const inertia *b) { return (vec){b->i[0] * o.x, b->i[1] * o.y, b->i[2] * o.z}; }
KERNEL vec angular_velocity(vec l, const inertia *b) { return (vec){b->i[3] * l.x, b->i[4] * l.y, b->i[5] * l.z}; }
