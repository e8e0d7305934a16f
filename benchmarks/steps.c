/* Some methods of polhode once more in C, with the same arithmetic in the same order, to see what the compiled kernels are worth.

   Every function stands under the name of the kernel it repeats; src/polhode says which formula of which paper it is.
   Sums keep the order and the brackets of the kernels: with -ffp-contract=off the results agree to the last bits. */

#include <math.h>

#define KERNEL static inline __attribute__((always_inline))

typedef struct { double w, x, y, z; } quat;
typedef struct { double x, y, z; } vec;
/* Ix, Iy, Iz, their reciprocals, and (Iy - Iz)/Ix, (Iz - Ix)/Iy, (Ix - Iy)/Iz. */
typedef struct { double i[9]; } inertia;
typedef vec (*torque_function)(double t, quat q, vec omega, const double *parameters);

/* ---- vector.py ---- */

KERNEL vec add(vec a, vec b) { return (vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
KERNEL vec scale(double s, vec a) { return (vec){s * a.x, s * a.y, s * a.z}; }
KERNEL vec axpy(double s, vec a, vec b) { return (vec){s * a.x + b.x, s * a.y + b.y, s * a.z + b.z}; }
KERNEL double dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
KERNEL vec cross(vec a, vec b) { return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

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
KERNEL quat normalise(quat q) { return scaled(1.0 / sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z), q); }
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

/* ---- torques, called through a pointer as polhode's drivers do ---- */

/* spiral_cylinder: parameter Mx */
static __attribute__((noinline)) vec constant_torque(double t, quat q, vec omega, const double *parameters) {
    (void)t; (void)q; (void)omega;
    return (vec){parameters[0], 0.0, 0.0};
}

/* asymmetric_heavy_top: parameters weight, x, y, z */
static __attribute__((noinline)) vec heavy_torque(double t, quat q, vec omega, const double *parameters) {
    (void)t; (void)omega;
    vec arm = {parameters[1], parameters[2], parameters[3]};
    return cross(arm, to_body(q, (vec){0.0, 0.0, -parameters[0]}));
}

static const torque_function TORQUES[] = {constant_torque, heavy_torque};

/* ---- the driver ----

   A method NAME gives a state NAME_state with the quaternion q first, and NAME_start, NAME_before, NAME_after, NAME_read.
   before writes the q and omega at which the torque is wanted. */

#define ONE_TORQUE(NAME, TORQUE_TIME, NORMALISES)                                                                              \
    void NAME(const double *q0, const double *omega0, const inertia *given, int which, const double *parameters, double dt,    \
              long steps, double *q_out, double *omega_out) {                                                                  \
        torque_function torque = TORQUES[which];                                                                               \
        inertia body = *given;                                                                                                 \
        quat q = {q0[0], q0[1], q0[2], q0[3]};                                                                                 \
        vec omega = {omega0[0], omega0[1], omega0[2]};                                                                         \
        NAME##_state state = NAME##_start(q, omega, torque(0.0, q, omega, parameters), &body, dt);                             \
        for (long n = 0; n < steps; n++) {                                                                                     \
            state = NAME##_before(state, &body, dt, &q, &omega);                                                               \
            vec moment = torque((n + TORQUE_TIME) * dt, q, omega, parameters);                                                 \
            state = NAME##_after(state, moment, &body, dt);                                                                    \
            if (NORMALISES) state.q = normalise(state.q);                                                                      \
        }                                                                                                                      \
        vec moment = {0.0, 0.0, 0.0};                                                                                          \
        if (TORQUE_TIME == 0.0) {                                                                                              \
            state = NAME##_before(state, &body, dt, &q, &omega);                                                               \
            moment = torque(steps * dt, q, omega, parameters);                                                                 \
        }                                                                                                                      \
        NAME##_read(state, moment, &body, dt, &q, &omega);                                                                     \
        q_out[0] = q.w, q_out[1] = q.x, q_out[2] = q.y, q_out[3] = q.z;                                                        \
        omega_out[0] = omega.x, omega_out[1] = omega.y, omega_out[2] = omega.z;                                                \
    }

/* ---- states.py: q, then omega in the body frame ---- */

typedef struct { quat q; vec omega; } turning;

#define WANTED_AT_STATE(NAME)                                                                                                  \
    typedef turning NAME##_state;                                                                                              \
    KERNEL turning NAME##_before(turning s, const inertia *b, double dt, quat *q, vec *omega) {                                \
        (void)b; (void)dt;                                                                                                     \
        *q = s.q, *omega = s.omega;                                                                                            \
        return s;                                                                                                              \
    }

/* ---- euler.py ---- */

WANTED_AT_STATE(euler)
KERNEL turning euler_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)torque; (void)b; (void)dt;
    return (turning){q, omega};
}
KERNEL turning euler_after(turning s, vec torque, const inertia *b, double dt) {
    vec omega = axpy(dt, euler_equations(s.omega, torque, b), s.omega);
    return (turning){increment(dt, derivative(s.q, omega), s.q), omega};
}
KERNEL void euler_read(turning s, vec torque, const inertia *b, double dt, quat *q, vec *omega) {
    (void)torque; (void)b; (void)dt;
    *q = s.q, *omega = s.omega;
}
ONE_TORQUE(euler, 0.0, 1)

/* ---- spiral_leapfrog.py ---- */

WANTED_AT_STATE(spiral_leapfrog)
KERNEL vec spiral_kick(vec omega, vec torque, const inertia *b, double dt) {
    vec k1 = euler_equations(omega, torque, b);
    vec k2 = euler_equations(axpy(dt, k1, omega), torque, b);
    vec k3 = euler_equations(axpy(dt / 4, k2, axpy(dt / 4, k1, omega)), torque, b);
    return axpy(2 * dt / 3, k3, axpy(dt / 6, k2, axpy(dt / 6, k1, omega)));
}
KERNEL turning spiral_leapfrog_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    return (turning){q, spiral_kick(omega, torque, b, -0.5 * dt)};
}
KERNEL turning spiral_leapfrog_after(turning s, vec torque, const inertia *b, double dt) {
    vec omega = spiral_kick(s.omega, torque, b, dt);
    return (turning){rotate(s.q, omega, dt), omega};
}
KERNEL void spiral_leapfrog_read(turning s, vec torque, const inertia *b, double dt, quat *q, vec *omega) {
    *q = s.q, *omega = spiral_kick(s.omega, torque, b, 0.5 * dt);
}
ONE_TORQUE(spiral_leapfrog, 0.0, 0)

/* ---- omelyan1998.py ---- */

WANTED_AT_STATE(omelyan1998)
KERNEL vec omelyan_kick(vec omega, vec torque, const inertia *b, double dt) {
    vec old = euler_equations(omega, torque, b);
    vec new = axpy(dt, old, omega);
    new = axpy(0.5 * dt, add(old, euler_equations(new, torque, b)), omega);
    return axpy(0.5 * dt, add(old, euler_equations(new, torque, b)), omega);
}
KERNEL turning omelyan1998_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    return (turning){q, axpy(-0.5 * dt, euler_equations(omega, torque, b), omega)};
}
KERNEL turning omelyan1998_after(turning s, vec torque, const inertia *b, double dt) {
    vec omega = omelyan_kick(s.omega, torque, b, dt);
    double a = (0.0625 * dt * dt) * dot(omega, omega);
    quat turned = increment(dt, derivative(s.q, omega), scaled(1.0 - a, s.q));
    return (turning){scaled(1.0 / (1.0 + a), turned), omega};
}
KERNEL void omelyan1998_read(turning s, vec torque, const inertia *b, double dt, quat *q, vec *omega) {
    *q = s.q, *omega = omelyan_kick(s.omega, torque, b, 0.5 * dt);
}
ONE_TORQUE(omelyan1998, 0.0, 0)

/* ---- fincham1992.py ---- */

typedef struct { quat q; vec momentum, omega; } fincham1992_state;
KERNEL fincham1992_state fincham1992_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    vec momentum = to_lab(q, axpy(-0.5 * dt, torque, angular_momentum(omega, b)));
    return (fincham1992_state){q, momentum, axpy(-0.5 * dt, euler_equations(omega, torque, b), omega)};
}
KERNEL fincham1992_state fincham1992_before(fincham1992_state s, const inertia *b, double dt, quat *q, vec *omega) {
    (void)dt;
    *q = s.q, *omega = angular_velocity(to_body(s.q, s.momentum), b);
    return s;
}
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
ONE_TORQUE(fincham1992, 0.0, 1)

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
ONE_TORQUE(no_squish, 1.0, 0)

/* ---- pcdm2016.py ---- */

typedef struct { quat q; vec omega, acceleration; quat predicted; vec predicted_omega; } pcdm2016_state;
KERNEL void predict(quat q, vec omega, vec acceleration, double dt, quat *q_half, vec *omega_half) {
    *q_half = rotate(q, axpy(0.25 * dt, acceleration, omega), 0.5 * dt);
    *omega_half = axpy(0.5 * dt, acceleration, omega);
}
KERNEL quat turn(quat q, quat q_half, vec omega_half, double dt) {
    return multiply(exponential(scale(dt, to_lab(q_half, omega_half))), q);
}
KERNEL pcdm2016_state pcdm2016_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    pcdm2016_state s = {.acceleration = euler_equations(omega, torque, b), .predicted = q, .predicted_omega = omega};
    predict(q, omega, s.acceleration, dt, &s.q, &s.omega);
    return s;
}
KERNEL pcdm2016_state pcdm2016_before(pcdm2016_state s, const inertia *b, double dt, quat *q, vec *omega) {
    (void)b;
    predict(s.q, s.omega, s.acceleration, dt, &s.predicted, &s.predicted_omega);
    *q = s.predicted, *omega = s.predicted_omega;
    return s;
}
KERNEL pcdm2016_state pcdm2016_after(pcdm2016_state s, vec torque, const inertia *b, double dt) {
    s.acceleration = euler_equations(s.predicted_omega, torque, b);
    s.omega = axpy(dt, s.acceleration, s.omega);
    s.q = turn(s.q, s.predicted, s.predicted_omega, dt);
    return s;
}
KERNEL void pcdm2016_read(pcdm2016_state s, vec torque, const inertia *b, double dt, quat *q, vec *omega) {
    (void)torque; (void)b; (void)dt;
    *q = s.predicted, *omega = s.predicted_omega;
}
ONE_TORQUE(pcdm2016, 1.0, 0)

/* ---- rk4.py ---- */

void rk4(const double *q0, const double *omega0, const inertia *given, int which, const double *parameters, double dt,
         long steps, double *q_out, double *omega_out) {
    torque_function torque = TORQUES[which];
    inertia body = *given;
    const inertia *b = &body;
    quat q = {q0[0], q0[1], q0[2], q0[3]};
    vec omega = {omega0[0], omega0[1], omega0[2]};
    for (long n = 0; n < steps; n++) {
        double t = n * dt;
        quat q1 = derivative(q, omega);
        vec w1 = euler_equations(omega, torque(t, q, omega, parameters), b);

        quat q_half = increment(0.5 * dt, q1, q);
        vec omega_half = axpy(0.5 * dt, w1, omega);
        quat q2 = derivative(q_half, omega_half);
        vec w2 = euler_equations(omega_half, torque(t + 0.5 * dt, q_half, omega_half, parameters), b);

        q_half = increment(0.5 * dt, q2, q);
        omega_half = axpy(0.5 * dt, w2, omega);
        quat q3 = derivative(q_half, omega_half);
        vec w3 = euler_equations(omega_half, torque(t + 0.5 * dt, q_half, omega_half, parameters), b);

        quat q_full = increment(dt, q3, q);
        vec omega_full = axpy(dt, w3, omega);
        quat q4 = derivative(q_full, omega_full);
        vec w4 = euler_equations(omega_full, torque(t + dt, q_full, omega_full, parameters), b);

        q = increment(dt / 6, increment(2.0, q2, increment(2.0, q3, increment(1.0, q4, q1))), q);
        omega = axpy(dt / 6, axpy(2.0, w2, axpy(2.0, w3, axpy(1.0, w4, w1))), omega);
        q = normalise(q);
    }
    q_out[0] = q.w, q_out[1] = q.x, q_out[2] = q.y, q_out[3] = q.z;
    omega_out[0] = omega.x, omega_out[1] = omega.y, omega_out[2] = omega.z;
}
