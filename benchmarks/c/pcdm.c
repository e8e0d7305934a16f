/* Predictor-corrector direct multiplication: the original in three readings, and improved. */

#include "pcdm.h"

/* ---- pcdm2013_mid.py ---- */

KERNEL quat turn(quat q, quat q_half, vec omega_half, double dt) {
    return multiply(exponential(scale(dt, to_lab(q_half, omega_half))), q);
}

typedef predicting pcdm2013_mid_state;
KERNEL predicting pcdm2013_mid_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)dt;
    return (predicting){q, omega, euler_equations(omega, torque, b), q, omega};
}
KERNEL predicting pcdm2013_mid_after(predicting s, vec torque, const inertia *b, double dt) {
    s.omega = axpy(dt, euler_equations(s.predicted_omega, torque, b), s.omega);
    s.q = turn(s.q, s.predicted, s.predicted_omega, dt);
    s.acceleration = euler_equations(s.omega, torque, b);
    return s;
}
READ_SYNCHRONOUS(pcdm2013_mid)
ONE_TORQUE(pcdm2013_mid, 0.5, LEAVE, LEAVE)

/* ---- pcdm2013_lag.py ---- */

typedef turning pcdm2013_lag_state;
#define pcdm2013_lag_start start_with_omega
#define pcdm2013_lag_before torque_wanted_at_state
KERNEL turning pcdm2013_lag_after(turning s, vec torque, const inertia *b, double dt) {
    quat q_half;
    vec omega_half;
    predict(s.q, s.omega, euler_equations(s.omega, torque, b), dt, &q_half, &omega_half);
    return (turning){turn(s.q, q_half, omega_half, dt), axpy(dt, euler_equations(omega_half, torque, b), s.omega)};
}
READ_SYNCHRONOUS(pcdm2013_lag)
ONE_TORQUE(pcdm2013_lag, 0.0, LEAVE, LEAVE)

/* ---- pcdm2013_lead.py ---- */

/* Between the two parts of a step the predicted omega stands for the acceleration. */
typedef struct { quat q; vec omega, acceleration; } pcdm2013_lead_state;
KERNEL pcdm2013_lead_state pcdm2013_lead_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)dt;
    return (pcdm2013_lead_state){q, omega, euler_equations(omega, torque, b)};
}
KERNEL pcdm2013_lead_state pcdm2013_lead_before(pcdm2013_lead_state s, const inertia *b, double dt, quat *q, vec *omega) {
    (void)b;
    quat q_half;
    vec omega_half;
    predict(s.q, s.omega, s.acceleration, dt, &q_half, &omega_half);
    *q = turn(s.q, q_half, omega_half, dt), *omega = axpy(dt, s.acceleration, s.omega);
    return (pcdm2013_lead_state){*q, s.omega, omega_half};
}
KERNEL pcdm2013_lead_state pcdm2013_lead_after(pcdm2013_lead_state s, vec torque, const inertia *b, double dt) {
    vec omega = axpy(dt, euler_equations(s.acceleration, torque, b), s.omega);
    return (pcdm2013_lead_state){s.q, omega, euler_equations(omega, torque, b)};
}
READ_SYNCHRONOUS(pcdm2013_lead)
ONE_TORQUE(pcdm2013_lead, 1.0, LEAVE, LEAVE)

/* ---- pcdm2016.py ---- */

typedef predicting pcdm2016_state;
KERNEL predicting pcdm2016_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    predicting s = {.acceleration = euler_equations(omega, torque, b), .predicted = q, .predicted_omega = omega};
    predict(q, omega, s.acceleration, dt, &s.q, &s.omega);
    return s;
}
#define pcdm2016_before pcdm2013_mid_before
KERNEL predicting pcdm2016_after(predicting s, vec torque, const inertia *b, double dt) {
    s.acceleration = euler_equations(s.predicted_omega, torque, b);
    s.omega = axpy(dt, s.acceleration, s.omega);
    s.q = turn(s.q, s.predicted, s.predicted_omega, dt);
    return s;
}
KERNEL void pcdm2016_read(predicting s, vec torque, const inertia *b, double dt, quat *q, vec *omega) {
    (void)torque; (void)b; (void)dt;
    *q = s.predicted, *omega = s.predicted_omega;
}
ONE_TORQUE(pcdm2016, 1.0, LEAVE, LEAVE)
