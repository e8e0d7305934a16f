/* The torques of some problems, in the order in which compare.py names them; in a file of their own, so that no step knows them. */

#include "driver.h"

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

const torque_function TORQUES[] = {constant_torque, heavy_torque, damping_torque};
