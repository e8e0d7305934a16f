/* Methods that carry omega in the body frame and turn the quaternion by a rotation. */

#include "driver.h"

/* ---- spiral_leapfrog.py ---- */

typedef turning spiral_leapfrog_state;
KERNEL vec spiral_kick(vec omega, vec torque, const inertia *b, double dt) {
    vec k1 = euler_equations(omega, torque, b);
    vec k2 = euler_equations(axpy(dt, k1, omega), torque, b);
    vec k3 = euler_equations(axpy(dt / 4, k2, axpy(dt / 4, k1, omega)), torque, b);
    return axpy(2 * dt / 3, k3, axpy(dt / 6, k2, axpy(dt / 6, k1, omega)));
}
KERNEL turning spiral_leapfrog_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    return (turning){q, spiral_kick(omega, torque, b, -0.5 * dt)};
}
#define spiral_leapfrog_before torque_wanted_at_state
KERNEL turning spiral_leapfrog_after(turning s, vec torque, const inertia *b, double dt) {
    vec omega = spiral_kick(s.omega, torque, b, dt);
    return (turning){rotate(s.q, omega, dt), omega};
}
KERNEL void spiral_leapfrog_read(turning s, vec torque, const inertia *b, double dt, quat *q, vec *omega) {
    *q = s.q, *omega = spiral_kick(s.omega, torque, b, 0.5 * dt);
}
ONE_TORQUE(spiral_leapfrog, 0.0, LEAVE, LEAVE)

/* ---- predictor.py ---- */

#define HOLD 1e300
KERNEL vec damped(vec explicit, vec last, double rate, double dt) {
    return axpy(1.0 / (1.0 + 0.5 * dt * rate), axpy(-1.0, last, explicit), last);
}
KERNEL double secant_rate(vec torque, vec last_torque, vec omega, vec last_omega, const inertia *b) {
    vec change = axpy(-1.0, last_omega, omega);
    double work = dot(axpy(-1.0, torque, last_torque), change);
    double energy = b->i[0] * change.x * change.x + b->i[1] * change.y * change.y + b->i[2] * change.z * change.z;
    return 0.5 * (work + sqrt(work * work + 1e-300)) / (energy + 1e-130);
}

/* The omega handed to the last torque, and that to the torque of now. */
typedef struct { quat q; vec omega, torque, last; double rate; vec predicted; } secant;

/* ---- spiral_predicted.py ---- */

typedef secant spiral_predicted_state;
KERNEL secant spiral_predicted_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    return (secant){q, spiral_kick(omega, torque, b, -0.5 * dt), torque, omega, HOLD, omega};
}
KERNEL secant spiral_predicted_before(secant s, const inertia *b, double dt, quat *q, vec *omega) {
    s.predicted = damped(spiral_kick(s.omega, s.torque, b, 0.5 * dt), s.last, s.rate, dt);
    *q = s.q, *omega = s.predicted;
    return s;
}
KERNEL secant spiral_predicted_after(secant s, vec torque, const inertia *b, double dt) {
    double rate = secant_rate(torque, s.torque, s.predicted, s.last, b);
    vec omega = spiral_kick(s.omega, torque, b, dt);
    return (secant){rotate(s.q, omega, dt), omega, torque, s.predicted, rate, s.predicted};
}
KERNEL void spiral_predicted_read(secant s, vec torque, const inertia *b, double dt, quat *q, vec *omega) {
    *q = s.q, *omega = spiral_kick(s.omega, torque, b, 0.5 * dt);
}
ONE_TORQUE(spiral_predicted, 0.0, LEAVE, LEAVE)

/* ---- spiral_predicted_last.py ---- */

typedef struct { quat q; vec omega, torque; } spiral_predicted_last_state;
KERNEL spiral_predicted_last_state spiral_predicted_last_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    return (spiral_predicted_last_state){q, spiral_kick(omega, torque, b, -0.5 * dt), torque};
}
KERNEL spiral_predicted_last_state spiral_predicted_last_before(
    spiral_predicted_last_state s, const inertia *b, double dt, quat *q, vec *omega
) {
    *q = s.q, *omega = spiral_kick(s.omega, s.torque, b, 0.5 * dt);
    return s;
}
KERNEL spiral_predicted_last_state spiral_predicted_last_after(
    spiral_predicted_last_state s, vec torque, const inertia *b, double dt
) {
    vec omega = spiral_kick(s.omega, torque, b, dt);
    return (spiral_predicted_last_state){rotate(s.q, omega, dt), omega, torque};
}
KERNEL void spiral_predicted_last_read(
    spiral_predicted_last_state s, vec torque, const inertia *b, double dt, quat *q, vec *omega
) {
    *q = s.q, *omega = spiral_kick(s.omega, torque, b, 0.5 * dt);
}
ONE_TORQUE(spiral_predicted_last, 0.0, LEAVE, LEAVE)

/* ---- spiral_kdk.py ---- */

typedef secant spiral_kdk_state;
KERNEL secant spiral_kdk_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)b; (void)dt;
    return (secant){q, omega, torque, omega, 0.0, omega};
}
KERNEL secant spiral_kdk_before(secant s, const inertia *b, double dt, quat *q, vec *omega) {
    s.omega = spiral_kick(s.omega, s.torque, b, 0.5 * dt);
    s.q = rotate(s.q, s.omega, dt);
    s.predicted = damped(spiral_kick(s.omega, s.torque, b, 0.5 * dt), s.last, s.rate, dt);
    *q = s.q, *omega = s.predicted;
    return s;
}
KERNEL secant spiral_kdk_after(secant s, vec torque, const inertia *b, double dt) {
    double rate = secant_rate(torque, s.torque, s.predicted, s.last, b);
    return (secant){s.q, spiral_kick(s.omega, torque, b, 0.5 * dt), torque, s.predicted, rate, s.predicted};
}
READ_SYNCHRONOUS(spiral_kdk)
ONE_TORQUE(spiral_kdk, 1.0, LEAVE, LEAVE)

/* ---- spiral_dkd.py ---- */

typedef secant spiral_dkd_state;
#define spiral_dkd_start spiral_kdk_start
KERNEL secant spiral_dkd_before(secant s, const inertia *b, double dt, quat *q, vec *omega) {
    s.q = rotate(s.q, s.omega, 0.5 * dt);
    s.predicted = damped(spiral_kick(s.omega, s.torque, b, 0.5 * dt), s.last, s.rate, dt);
    *q = s.q, *omega = s.predicted;
    return s;
}
KERNEL secant spiral_dkd_after(secant s, vec torque, const inertia *b, double dt) {
    double rate = secant_rate(torque, s.torque, s.predicted, s.last, b);
    vec omega = spiral_kick(s.omega, torque, b, dt);
    return (secant){rotate(s.q, omega, 0.5 * dt), omega, torque, s.predicted, rate, s.predicted};
}
READ_SYNCHRONOUS(spiral_dkd)
ONE_TORQUE(spiral_dkd, 0.5, LEAVE, LEAVE)

/* ---- spiral_synchronous.py ---- */

typedef turning spiral_synchronous_state;
#define spiral_synchronous_start start_with_omega
#define spiral_synchronous_before torque_wanted_at_state
KERNEL turning spiral_synchronous_after(turning s, vec torque, const inertia *b, double dt) {
    vec acceleration = euler_equations(s.omega, torque, b);
    quat q = rotate(rotate(s.q, s.omega, dt), acceleration, 0.5 * dt * dt);
    return (turning){q, spiral_kick(s.omega, torque, b, dt)};
}
READ_SYNCHRONOUS(spiral_synchronous)
ONE_TORQUE(spiral_synchronous, 0.0, LEAVE, LEAVE)

/* ---- omelyan1998.py ---- */

typedef turning omelyan1998_state;
KERNEL vec omelyan_kick(vec omega, vec torque, const inertia *b, double dt) {
    vec old = euler_equations(omega, torque, b);
    vec new = axpy(dt, old, omega);
    new = axpy(0.5 * dt, add(old, euler_equations(new, torque, b)), omega);
    return axpy(0.5 * dt, add(old, euler_equations(new, torque, b)), omega);
}
KERNEL turning omelyan1998_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    return (turning){q, axpy(-0.5 * dt, euler_equations(omega, torque, b), omega)};
}
#define omelyan1998_before torque_wanted_at_state
KERNEL turning omelyan1998_after(turning s, vec torque, const inertia *b, double dt) {
    vec omega = omelyan_kick(s.omega, torque, b, dt);
    return (turning){cayley(s.q, omega, dt), omega};
}
KERNEL void omelyan1998_read(turning s, vec torque, const inertia *b, double dt, quat *q, vec *omega) {
    *q = s.q, *omega = omelyan_kick(s.omega, torque, b, 0.5 * dt);
}
ONE_TORQUE(omelyan1998, 0.0, LEAVE, LEAVE)

/* ---- spiral_omelyan.py ---- */

typedef turning spiral_omelyan_state;
#define spiral_omelyan_start spiral_leapfrog_start
#define spiral_omelyan_before torque_wanted_at_state
#define spiral_omelyan_read omelyan1998_read
KERNEL turning spiral_omelyan_after(turning s, vec torque, const inertia *b, double dt) {
    vec omega = omelyan_kick(s.omega, torque, b, dt);
    return (turning){rotate(s.q, omega, dt), omega};
}
ONE_TORQUE(spiral_omelyan, 0.0, LEAVE, LEAVE)

/* ---- scalar_factor.py ---- */

typedef turning scalar_factor_state;
#define scalar_factor_start start_with_omega
#define scalar_factor_before torque_wanted_at_state
KERNEL turning scalar_factor_after(turning s, vec torque, const inertia *b, double dt) {
    vec omega = axpy(dt, euler_equations(s.omega, torque, b), s.omega);
    return (turning){rotate(s.q, omega, dt), omega};
}
READ_SYNCHRONOUS(scalar_factor)
ONE_TORQUE(scalar_factor, 1.0, LEAVE, NORMALISE)
