/* The torques of some problems, in the order in which compare.py names them; in a file of their own: no step knows them. */

#include "driver.h"

/* A torque with the arguments t, q, omega and parameters. */
#define TORQUE(NAME)                                                                                                           \
    KERNEL vec NAME##_of(double t, quat q, vec omega, const double *parameters);                                               \
    static vec NAME(double t, double q0, double qx, double qy, double qz, double ox, double oy, double oz,                     \
                    const double *parameters) {                                                                                \
        return NAME##_of(t, (quat){q0, qx, qy, qz}, (vec){ox, oy, oz}, parameters);                                            \
    }                                                                                                                          \
    KERNEL vec NAME##_of(double t, quat q, vec omega, const double *parameters)

/* free_asymmetric_top */
TORQUE(no_torque) {
    (void)t; (void)q; (void)omega; (void)parameters;
    return (vec){0.0, 0.0, 0.0};
}

/* spiral_cylinder: parameter Mx */
TORQUE(constant_torque) {
    (void)t; (void)q; (void)omega;
    return (vec){parameters[0], 0.0, 0.0};
}

/* asymmetric_heavy_top: parameters weight, x, y, z */
TORQUE(heavy_torque) {
    (void)t; (void)omega;
    vec arm = {parameters[1], parameters[2], parameters[3]};
    return cross(arm, to_body(q, (vec){0.0, 0.0, -parameters[0]}));
}

/* damped_top: parameters cx, cy, cz, hx, hy, hz */
TORQUE(damping_torque) {
    (void)t; (void)q;
    vec turned = cross((vec){parameters[3], parameters[4], parameters[5]}, omega);
    return (vec){turned.x - parameters[0] * omega.x, turned.y - parameters[1] * omega.y, turned.z - parameters[2] * omega.z};
}

/* lab_torque: parameters cx, cy, cz, ax, ay, az, nu */
TORQUE(turned_torque) {
    (void)omega;
    double phase = parameters[6] * t;
    vec lab = {
        parameters[0] + parameters[3] * sin(phase),
        parameters[1] + parameters[4] * sin(phase + 1.0),
        parameters[2] + parameters[5] * sin(phase + 2.0),
    };
    return to_body(q, lab);
}

const torque_function TORQUES[] = {no_torque, constant_torque, heavy_torque, damping_torque, turned_torque};
