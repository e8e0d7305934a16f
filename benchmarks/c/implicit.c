/* The implicit midpoint rule, with one torque and with an iterated one. */

#include "implicit.h"
#include "pcdm.h"

/* ---- implicit_midpoint.py ---- */

typedef predicting implicit_midpoint_state;
KERNEL predicting implicit_midpoint_start(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)dt;
    return (predicting){q, omega, euler_equations(omega, torque, b), q, omega};
}
#define implicit_midpoint_before pcdm2013_mid_before
KERNEL predicting implicit_midpoint_after(predicting s, vec torque, const inertia *b, double dt) {
    vec mean = mean_velocity(s.omega, torque, b, dt);
    s.q = turned(s.q, scale(0.5 * dt, mean));
    s.omega = axpy(2.0, mean, scale(-1.0, s.omega));
    s.acceleration = euler_equations(mean, torque, b);
    return s;
}
READ_SYNCHRONOUS(implicit_midpoint)
ONE_TORQUE(implicit_midpoint, 0.5, LEAVE, LEAVE)

/* ---- implicit_midpoint_iterated.py ---- */

typedef turning implicit_midpoint_iterated_state;
#define implicit_midpoint_iterated_start start_of_stages
KERNEL quat half_turned(quat q, vec c) {
    double length = sqrt(1.0 + dot(c, c));
    double w = 1.0 + length;
    return scaled(1.0 / sqrt(w * w + dot(c, c)), multiply(q, (quat){w, c.x, c.y, c.z}));
}
KERNEL turning implicit_midpoint_iterated_step(turning s, double t, double dt, const inertia *b, torque_function torque,
                                               const double *parameters) {
    double h = 0.5 * dt, middle = t + 0.5 * dt;
    vec mean = s.omega;
    for (int i = 0; i < 4; i++) {
        vec moment = load(torque, middle, half_turned(s.q, scale(h, mean)), mean, parameters);
        mean = mean_velocity(s.omega, moment, b, dt);
    }
    return (turning){turned(s.q, scale(h, mean)), axpy(2.0, mean, scale(-1.0, s.omega))};
}
READ_SYNCHRONOUS(implicit_midpoint_iterated)
SEVERAL_TORQUES(implicit_midpoint_iterated, LEAVE)
