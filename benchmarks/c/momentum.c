/* Methods that carry the angular momentum in the lab frame. */

#include "buss.h"

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

/* ---- fincham1992_delvalle2024.py ---- */

typedef fincham1992_state fincham1992_delvalle2024_state;
#define fincham1992_delvalle2024_start fincham1992_start
#define fincham1992_delvalle2024_before fincham1992_before
#define fincham1992_delvalle2024_read fincham1992_read
KERNEL fincham1992_state fincham1992_delvalle2024_after(fincham1992_state s, vec torque, const inertia *b, double dt) {
    vec torque_lab = to_lab(s.q, torque);
    vec omega = angular_velocity(to_body(s.q, axpy(0.5 * dt, torque_lab, s.momentum)), b);
    quat half = normalise(increment(0.5 * dt, derivative(s.q, omega), s.q));
    vec momentum = axpy(dt, torque_lab, s.momentum);
    omega = angular_velocity(to_body(s.q, momentum), b);
    return (fincham1992_state){increment(dt, derivative(half, omega), s.q), momentum, omega};
}
ONE_TORQUE(fincham1992_delvalle2024, 0.0, LEAVE, NORMALISE)

/* ---- fincham1992_yade.py ---- */

typedef fincham1992_state fincham1992_yade_state;
#define fincham1992_yade_start fincham1992_start
#define fincham1992_yade_read fincham1992_read
KERNEL fincham1992_state fincham1992_yade_before(fincham1992_state s, const inertia *b, double dt, quat *q, vec *omega) {
    (void)b; (void)dt;
    *q = s.q, *omega = s.omega;
    return s;
}
KERNEL fincham1992_state fincham1992_yade_after(fincham1992_state s, vec torque, const inertia *b, double dt) {
    vec torque_lab = to_lab(s.q, torque);
    vec omega = angular_velocity(to_body(s.q, axpy(0.5 * dt, torque_lab, s.momentum)), b);
    quat half = increment(0.5 * dt, derivative(s.q, omega), s.q);
    vec momentum = axpy(dt, torque_lab, s.momentum);
    omega = angular_velocity(to_body(s.q, momentum), b);
    return (fincham1992_state){increment(dt, derivative(half, omega), s.q), momentum, omega};
}
ONE_TORQUE(fincham1992_yade, 0.0, LEAVE, NORMALISE)

/* ---- calzavarini2010.py ---- */

/* momentum, and omega of the last two half steps in the lab frame, and of the last in the body frame */
typedef struct { quat q; vec momentum, late, early, omega; } calzavarini2010_state;
typedef calzavarini2010_state calzavarini2010_mean_state;
KERNEL calzavarini2010_state calzavarini2010_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    vec momentum = to_lab(q, axpy(-0.5 * dt, torque, angular_momentum(omega, b)));
    quat half = normalise(increment(-0.5 * dt, derivative(q, omega), q));
    vec omega_half = angular_velocity(to_body(half, momentum), b);
    vec late = to_lab(half, omega_half);
    vec early = axpy(3.0, late, scale(-2.0, to_lab(q, omega)));
    return (calzavarini2010_state){q, momentum, late, early, omega_half};
}
#define HANDED_OUT(NAME, LATE, EARLY)                                                                                          \
    KERNEL calzavarini2010_state NAME##_before(calzavarini2010_state s, const inertia *b, double dt, quat *q, vec *omega) {    \
        (void)b; (void)dt;                                                                                                     \
        *q = s.q, *omega = to_body(s.q, axpy(LATE, s.late, scale(EARLY, s.early)));                                            \
        return s;                                                                                                              \
    }
HANDED_OUT(calzavarini2010, 1.5, -0.5)
KERNEL calzavarini2010_state calzavarini2010_after(calzavarini2010_state s, vec torque, const inertia *b, double dt) {
    vec torque_lab = to_lab(s.q, torque);
    vec omega = angular_velocity(to_body(s.q, axpy(0.5 * dt, torque_lab, s.momentum)), b);
    quat half = normalise(increment(0.5 * dt, derivative(s.q, omega), s.q));
    vec momentum = axpy(dt, torque_lab, s.momentum);
    vec omega_half = angular_velocity(to_body(half, momentum), b);
    vec new = to_lab(half, omega_half);
    return (calzavarini2010_state){increment(dt, derivative(half, omega_half), s.q), momentum, new, s.late, omega_half};
}
KERNEL void calzavarini2010_read(calzavarini2010_state s, vec torque, const inertia *b, double dt, quat *q, vec *omega) {
    *q = s.q, *omega = angular_velocity(to_body(s.q, axpy(0.5 * dt, to_lab(s.q, torque), s.momentum)), b);
}
ONE_TORQUE(calzavarini2010, 0.0, LEAVE, NORMALISE)

/* ---- calzavarini2010_mean.py ---- */

#define calzavarini2010_mean_start calzavarini2010_start
#define calzavarini2010_mean_after calzavarini2010_after
#define calzavarini2010_mean_read calzavarini2010_read
HANDED_OUT(calzavarini2010_mean, 0.5, 0.5)
ONE_TORQUE(calzavarini2010_mean, 0.0, LEAVE, NORMALISE)

/* ---- omelyan1999_momentum.py ---- */

#define CHANGE_SQUARED 1e-26
#define ROUNDS 50
typedef fincham1992_state omelyan1999_momentum_state;
#define omelyan1999_momentum_start fincham1992_start
#define omelyan1999_momentum_before fincham1992_before
#define omelyan1999_momentum_read fincham1992_read
KERNEL fincham1992_state omelyan1999_momentum_after(fincham1992_state s, vec torque, const inertia *b, double dt) {
    vec momentum = axpy(dt, to_lab(s.q, torque), s.momentum);
    vec old = to_body(s.q, momentum);
    vec omega = angular_velocity(old, b);
    double change = 1.0;
    for (int rounds = 0; change > CHANGE_SQUARED && rounds < ROUNDS; rounds++) {
        vec last = omega, new = to_body(cayley(s.q, last, dt), momentum);
        omega = angular_velocity(scale(0.5, add(old, new)), b);
        vec gap = axpy(-1.0, last, omega);
        change = dt * dt * dot(gap, gap);
    }
    return (fincham1992_state){cayley(s.q, omega, dt), momentum, omega};
}
ONE_TORQUE(omelyan1999_momentum, 0.0, LEAVE, LEAVE)

/* ---- rozmanov2010.py ---- */

typedef buss2000_state rozmanov2010_state;
KERNEL buss2000_state rozmanov2010_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)dt;
    return (buss2000_state){q, to_lab(q, angular_momentum(omega, b)), to_lab(q, torque)};
}
KERNEL buss2000_state rozmanov2010_before(buss2000_state s, const inertia *b, double dt, quat *q, vec *omega) {
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
KERNEL buss2000_state rozmanov2010_after(buss2000_state s, vec torque, const inertia *b, double dt) {
    (void)b;
    vec torque_lab = to_lab(s.q, torque);
    return (buss2000_state){s.q, axpy(0.5 * dt, torque_lab, s.momentum), torque_lab};
}
READ_MOMENTUM(rozmanov2010)
ONE_TORQUE(rozmanov2010, 1.0, NORMALISE, LEAVE)

/* ---- buss2000_delvalle2024.py ---- */

typedef struct { quat q; vec momentum; } buss2000_delvalle2024_state;
KERNEL buss2000_delvalle2024_state buss2000_delvalle2024_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)torque; (void)dt;
    return (buss2000_delvalle2024_state){q, to_lab(q, angular_momentum(omega, b))};
}
WANTED_AT_MOMENTUM(buss2000_delvalle2024)
KERNEL buss2000_delvalle2024_state buss2000_delvalle2024_after(buss2000_delvalle2024_state s, vec torque, const inertia *b,
                                                               double dt) {
    vec omega = OMEGA_OF_MOMENTUM(s, b);
    vec mean = mean_rotation(omega, euler_equations(omega, torque, b), dt, 1.0 / 16);
    return (buss2000_delvalle2024_state){rotate(s.q, mean, dt), axpy(dt, to_lab(s.q, torque), s.momentum)};
}
READ_MOMENTUM(buss2000_delvalle2024)
ONE_TORQUE(buss2000_delvalle2024, 0.0, LEAVE, LEAVE)

/* ---- buss2000.py ---- */

KERNEL buss2000_state buss2000_before(buss2000_state s, const inertia *b, double dt, quat *q, vec *omega) {
    vec old = OMEGA_OF_MOMENTUM(s, b);
    vec mean = mean_rotation(old, euler_equations(old, s.torque, b), dt, 1.0 / 12);
    s.momentum = axpy(0.5 * dt, to_lab(s.q, s.torque), s.momentum);
    s.q = rotate(s.q, mean, dt);
    *q = s.q, *omega = OMEGA_OF_MOMENTUM(s, b);
    return s;
}
READ_MOMENTUM(buss2000)
ONE_TORQUE(buss2000, 1.0, LEAVE, LEAVE)

/* ---- johnson2008_delvalle2024.py ---- */

typedef struct { quat q; vec momentum; } johnson2008_state;
typedef johnson2008_state johnson2008_delvalle2024_state;
KERNEL quat orientation_rate(quat q, vec momentum, const inertia *b) {
    return derivative(q, angular_velocity(to_body(q, momentum), b));
}
KERNEL quat runge_kutta(quat q, vec momentum, vec torque_lab, const inertia *b, double dt) {
    vec half = axpy(0.5 * dt, torque_lab, momentum);
    vec full = axpy(dt, torque_lab, momentum);
    quat k1 = orientation_rate(q, momentum, b);
    quat k2 = orientation_rate(increment(0.5 * dt, k1, q), half, b);
    quat k3 = orientation_rate(increment(0.5 * dt, k2, q), half, b);
    quat k4 = orientation_rate(increment(dt, k3, q), full, b);
    q = increment(dt / 6, k1, q);
    q = increment(dt / 3, k2, q);
    q = increment(dt / 3, k3, q);
    return increment(dt / 6, k4, q);
}
KERNEL johnson2008_state johnson2008_delvalle2024_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)torque; (void)dt;
    return (johnson2008_state){q, to_lab(q, angular_momentum(omega, b))};
}
KERNEL johnson2008_state johnson2008_delvalle2024_before(johnson2008_state s, const inertia *b, double dt, quat *q,
                                                         vec *omega) {
    s.q = runge_kutta(s.q, s.momentum, (vec){0.0, 0.0, 0.0}, b, dt);
    *q = s.q, *omega = OMEGA_OF_MOMENTUM(s, b);
    return s;
}
KERNEL johnson2008_state johnson2008_delvalle2024_after(johnson2008_state s, vec torque, const inertia *b, double dt) {
    (void)b;
    return (johnson2008_state){s.q, axpy(dt, to_lab(s.q, torque), s.momentum)};
}
READ_MOMENTUM(johnson2008_delvalle2024)
ONE_TORQUE(johnson2008_delvalle2024, 1.0, NORMALISE, LEAVE)

/* ---- johnson2008.py ---- */

KERNEL johnson2008_state johnson2008_start(quat q, vec omega, const inertia *b) {
    return (johnson2008_state){q, to_lab(q, angular_momentum(omega, b))};
}
KERNEL johnson2008_state johnson2008_step(johnson2008_state s, double t, double dt, const inertia *b, torque_function torque,
                                          const double *parameters) {
    vec old = to_lab(s.q, load(torque, t, s.q, OMEGA_OF_MOMENTUM(s, b), parameters));
    quat predicted = normalise(runge_kutta(s.q, s.momentum, old, b, dt));
    vec omega = angular_velocity(to_body(predicted, axpy(dt, old, s.momentum)), b);
    vec new = to_lab(predicted, load(torque, t + dt, predicted, omega, parameters));
    vec mean = scale(0.5, add(old, new));
    return (johnson2008_state){runge_kutta(s.q, s.momentum, mean, b, dt), axpy(dt, mean, s.momentum)};
}
READ_MOMENTUM(johnson2008)
SEVERAL_TORQUES(johnson2008, NORMALISE)
