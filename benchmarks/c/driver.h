/* What polhode's drivers do (src/polhode/methods/drivers.py), and the states that several methods share (states.py). */

#pragma once
#include "algebra.h"

/* Called through a pointer, as polhode's drivers do; see torques.c. The numbers of q and omega are arguments of their own,
   which are passed in registers. Structures of this size would be passed through memory; Numba does not do that either. */
typedef vec (*torque_function)(double t, double q0, double qx, double qy, double qz, double ox, double oy, double oz,
                               const double *parameters);
KERNEL vec load(torque_function torque, double t, quat q, vec omega, const double *parameters) {
    return torque(t, q.w, q.x, q.y, q.z, omega.x, omega.y, omega.z, parameters);
}
extern const torque_function TORQUES[];

/* Whether the quaternion, with which a state begins, is normalised there. */
#define LEAVE(state, q)
#define NORMALISE(state, q) state.q = normalise(state.q), q = state.q;

#define ARGUMENTS                                                                                                              \
    const double *q0, const double *omega0, const inertia *given, int which, const double *parameters, double dt, long steps,  \
        double *q_out, double *omega_out

#define BEGIN                                                                                                                  \
    torque_function torque = TORQUES[which];                                                                                   \
    inertia body = *given;                                                                                                     \
    quat q = {q0[0], q0[1], q0[2], q0[3]};                                                                                     \
    vec omega = {omega0[0], omega0[1], omega0[2]};

#define END                                                                                                                    \
    q_out[0] = q.w, q_out[1] = q.x, q_out[2] = q.y, q_out[3] = q.z;                                                            \
    omega_out[0] = omega.x, omega_out[1] = omega.y, omega_out[2] = omega.z;

/* A method with one torque in a step gives a type NAME_state, and NAME_start, NAME_before, NAME_after and NAME_read.
   NAME_before writes the q and omega at which the torque is wanted, NAME_read those of the whole time.
   FIRST and LAST say whether the quaternion is normalised before the torque and at the end of the step. */
#define ONE_TORQUE(NAME, TORQUE_TIME, FIRST, LAST) LOOP(NAME, TORQUE_TIME, FIRST, LAST, NAME##_after(state, moment, &body, dt))

/* The same with a warm-up: in the first STEPS steps NAME_warm_up, which may evaluate more torques, stands for NAME_after. */
#define ONE_TORQUE_WARM_UP(NAME, TORQUE_TIME, FIRST, LAST, STEPS)                                                              \
    LOOP(NAME, TORQUE_TIME, FIRST, LAST,                                                                                       \
         n < STEPS ? NAME##_warm_up(state, moment, n * dt, dt, &body, torque, parameters)                                      \
                   : NAME##_after(state, moment, &body, dt))

#define LOOP(NAME, TORQUE_TIME, FIRST, LAST, AFTER)                                                                            \
    void NAME(ARGUMENTS) {                                                                                                     \
        BEGIN                                                                                                                  \
        NAME##_state state = NAME##_start(q, omega, load(torque, 0.0, q, omega, parameters), &body, dt);                       \
        for (long n = 0; n < steps; n++) {                                                                                     \
            state = NAME##_before(state, &body, dt, &q, &omega);                                                               \
            FIRST(state, q)                                                                                                    \
            vec moment = load(torque, (n + TORQUE_TIME) * dt, q, omega, parameters);                                           \
            state = AFTER;                                                                                                     \
            LAST(state, q)                                                                                                     \
        }                                                                                                                      \
        vec moment = {0.0, 0.0, 0.0};                                                                                          \
        if (TORQUE_TIME == 0.0) {                                                                                              \
            state = NAME##_before(state, &body, dt, &q, &omega);                                                               \
            moment = load(torque, steps * dt, q, omega, parameters);                                                           \
        }                                                                                                                      \
        NAME##_read(state, moment, &body, dt, &q, &omega);                                                                     \
        END                                                                                                                    \
    }

/* A method with several gives NAME_state, NAME_start, NAME_step, which calls the torque itself, and NAME_read. */
#define SEVERAL_TORQUES(NAME, LAST)                                                                                            \
    void NAME(ARGUMENTS) {                                                                                                     \
        BEGIN                                                                                                                  \
        NAME##_state state = NAME##_start(q, omega, &body);                                                                    \
        for (long n = 0; n < steps; n++) {                                                                                     \
            state = NAME##_step(state, n * dt, dt, &body, torque, parameters);                                                 \
            LAST(state, q)                                                                                                     \
        }                                                                                                                      \
        NAME##_read(state, (vec){0.0, 0.0, 0.0}, &body, dt, &q, &omega);                                                       \
        END                                                                                                                    \
    }

/* ---- states.py: q, then omega in the body frame ---- */

typedef struct { quat q; vec omega; } turning;

KERNEL turning start_with_omega(quat q, vec omega, vec torque, const inertia *b, double dt) {
    (void)torque; (void)b; (void)dt;
    return (turning){q, omega};
}
KERNEL turning torque_wanted_at_state(turning s, const inertia *b, double dt, quat *q, vec *omega) {
    (void)b; (void)dt;
    *q = s.q, *omega = s.omega;
    return s;
}
/* rk4.py: the start of every method with several torques that carries omega. */
KERNEL turning start_of_stages(quat q, vec omega, const inertia *b) {
    (void)b;
    return (turning){q, omega};
}
#define READ_SYNCHRONOUS(NAME)                                                                                                 \
    KERNEL void NAME##_read(NAME##_state s, vec torque, const inertia *b, double dt, quat *q, vec *omega) {                    \
        (void)torque; (void)b; (void)dt;                                                                                       \
        *q = s.q, *omega = s.omega;                                                                                            \
    }

/* ---- states.py: q, then the angular momentum in the lab frame ---- */

#define OMEGA_OF_MOMENTUM(s, b) angular_velocity(to_body(s.q, s.momentum), b)
#define WANTED_AT_MOMENTUM(NAME)                                                                                               \
    KERNEL NAME##_state NAME##_before(NAME##_state s, const inertia *b, double dt, quat *q, vec *omega) {                      \
        (void)dt;                                                                                                              \
        *q = s.q, *omega = OMEGA_OF_MOMENTUM(s, b);                                                                            \
        return s;                                                                                                              \
    }
#define READ_MOMENTUM(NAME)                                                                                                    \
    KERNEL void NAME##_read(NAME##_state s, vec torque, const inertia *b, double dt, quat *q, vec *omega) {                    \
        (void)torque; (void)dt;                                                                                                \
        *q = s.q, *omega = OMEGA_OF_MOMENTUM(s, b);                                                                            \
    }
