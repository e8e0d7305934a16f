/* The torques of some problems, in the order in which compare.py names them; in a file of their own, so that no step knows them. */

#include "driver.h"

/* free_asymmetric_top */
static vec no_torque(double t, quat q, vec omega, const double *parameters) {
    (void)t; (void)q; (void)omega; (void)parameters;
    return (vec){0.0, 0.0, 0.0};
}

/* spiral_cylinder: parameter Mx */
static vec constant_torque(double t, quat q, vec omega, const double *parameters) {
    (void)t; (void)q; (void)omega;
    return (vec){parameters[0], 0.0, 0.0};
}

/* asymmetric_heavy_top: parameters weight, x, y, z */
static vec heavy_torque(double t, quat q, vec omega, const double *parameters) {
    (void)t; (void)omega;
    vec arm = {parameters[1], parameters[2], parameters[3]};
    return cross(arm, to_body(q, (vec){0.0, 0.0, -parameters[0]}));
}

/* damped_top: parameters cx, cy, cz, hx, hy, hz */
static vec damping_torque(double t, quat q, vec omega, const double *parameters) {
    (void)t; (void)q;
    vec turned = cross((vec){parameters[3], parameters[4], parameters[5]}, omega);
    return (vec){turned.x - parameters[0] * omega.x, turned.y - parameters[1] * omega.y, turned.z - parameters[2] * omega.z};
}

/* lab_torque: parameters cx, cy, cz, ax, ay, az, nu */
static vec turned_torque(double t, quat q, vec omega, const double *parameters) {
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
