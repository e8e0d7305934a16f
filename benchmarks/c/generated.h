/* A method as polhode.export writes it, called as those of driver.h are: compare.py puts this behind its code. */

#include <string.h>

/* The numbers of q and omega are arguments of their own, as in driver.h. */
typedef polhode_vec3 (*torque_of_numbers)(double t, double q0, double qx, double qy, double qz, double ox, double oy,
                                          double oz, const double *parameters);
extern const torque_of_numbers TORQUES[];

typedef struct { torque_of_numbers torque; const double *parameters; } torque_of_problem;

static inline polhode_vec3 torque_called(double t, polhode_quat q, polhode_vec3 omega, const void *problem) {
    const torque_of_problem *p = problem;
    return p->torque(t, q.w, q.x, q.y, q.z, omega.x, omega.y, omega.z, p->parameters);
}

static inline polhode_inertia body_of(const double *b) {
    const polhode_inertia body = {
        polhode_vec3_of(b[0], b[1], b[2]), polhode_vec3_of(b[3], b[4], b[5]), polhode_vec3_of(b[6], b[7], b[8])
    };
    return body;
}

#define GENERATED(NAME)                                                                                                        \
    void NAME(const double *q0, const double *omega0, const double *b, int which, const double *parameters, double dt,         \
              long steps, double *q_out, double *omega_out) {                                                                  \
        const torque_of_problem problem = {TORQUES[which], parameters};                                                        \
        const polhode_inertia body = body_of(b);                                                                               \
        const polhode_quat q = polhode_quat_of(q0[0], q0[1], q0[2], q0[3]);                                                    \
        const polhode_vec3 omega = polhode_vec3_of(omega0[0], omega0[1], omega0[2]);                                           \
        const NAME##_reading end = NAME##_run(q, omega, body, torque_called, &problem, dt, steps);                             \
        q_out[0] = end.q.w, q_out[1] = end.q.x, q_out[2] = end.q.y, q_out[3] = end.q.z;                                        \
        omega_out[0] = end.omega.x, omega_out[1] = end.omega.y, omega_out[2] = end.omega.z;                                    \
    }                                                                                                                          \
    void NAME##_stored_by(const double *numbers, const double *b, double dt, double *omega_out) {                              \
        NAME##_state state;                                                                                                    \
        memcpy(&state, numbers, sizeof state);                                                                                 \
        const polhode_inertia body = body_of(b);                                                                               \
        const polhode_vec3 omega = NAME##_stored(state, body, dt);                                                             \
        omega_out[0] = omega.x, omega_out[1] = omega.y, omega_out[2] = omega.z;                                                \
    }
