/* SPIRAL: a step of the rotation of a rigid body, in C99, C++ and CUDA.

   Source: del Valle et al. (2024), Eqs. 7-10.
   Third order in omega while the body torque is constant; the orientation is second order.

   SPIRAL, leapfrog form: del Valle et al. (2024), Eqs. 7-10.

      k_1 &= a(\omega_{n-1/2}, M_n) \\
      k_2 &= a(\omega_{n-1/2} + \Delta t\, k_1, M_n) \\
      k_3 &= a(\omega_{n-1/2} + \tfrac{\Delta t}{4}(k_1 + k_2), M_n) \\
      \omega_{n+1/2} &= \omega_{n-1/2} + \tfrac{\Delta t}{6}(k_1 + k_2 + 4 k_3) \\
      q_{n+1} &= q_n \exp(\tfrac{\Delta t}{2}\,\omega_{n+1/2})

   The state is q, and omega of half a step before; shapes, frames and units are as in polhode.methods.protocol.

   spiral_leapfrog_run shows a run, with body = polhode_inertia_of(moments). Compiled with -ffp-contract=off and
   without -ffast-math it gives the bits of polhode. A test, which prints ok: cc -x c -DSPIRAL_LEAPFROG_MAIN
   spiral_leapfrog.h -lm

   q takes body to lab; omega, torque and moments are in the body frame along the principal axes; units are SI or
   any others that fit together.
   Generated from the kernels of spiral_leapfrog by polhode 0.1.0. SPDX-License-Identifier: BSD-3-Clause */

#ifndef POLHODE_SPIRAL_LEAPFROG_H
#define POLHODE_SPIRAL_LEAPFROG_H

#ifndef POLHODE_TYPES
#define POLHODE_TYPES

#include <math.h>

#ifdef __CUDACC__
#define POLHODE_FUNCTION static inline __host__ __device__
#else
#define POLHODE_FUNCTION static inline
#endif

typedef struct { double w, x, y, z; } polhode_quat; /* Hamilton's, scalar first, from body to lab */
typedef struct { double x, y, z; } polhode_vec3;
/* Ix, Iy, Iz; 1/Ix, 1/Iy, 1/Iz; (Iy - Iz)/Ix, (Iz - Ix)/Iy, (Ix - Iy)/Iz: see polhode_inertia_of */
typedef struct { polhode_vec3 moments, reciprocals, gyroscopic; } polhode_inertia;
/* The torque in the body frame at the time t; parameters are handed on as they are. */
typedef polhode_vec3 (*polhode_torque)(double t, polhode_quat q, polhode_vec3 omega, const void *parameters);

POLHODE_FUNCTION polhode_vec3 polhode_vec3_of(double x, double y, double z)
{
    const polhode_vec3 v = {x, y, z};
    return v;
}

POLHODE_FUNCTION polhode_quat polhode_quat_of(double w, double x, double y, double z)
{
    const polhode_quat q = {w, x, y, z};
    return q;
}

/* algebra/body.py, coefficients_of. The numbers of a body that the kernels read, from its principal moments:
   Body.coefficients.

   moments (3,) in kg m^2 -> nine numbers: three moments, three inverses (1/(kg m^2)), three ratios. */
POLHODE_FUNCTION polhode_inertia polhode_inertia_of(polhode_vec3 moments)
{
    const double x = moments.x;
    const double y = moments.y;
    const double z = moments.z;
    const polhode_inertia result = {
        polhode_vec3_of(x, y, z),
        polhode_vec3_of(1.0 / x, 1.0 / y, 1.0 / z),
        polhode_vec3_of((y - z) / x, (z - x) / y, (x - y) / z)
    };
    return result;
}

#endif

/* What SPIRAL carries from step to step. */
typedef struct {
    polhode_quat q;
    polhode_vec3 omega;
} spiral_leapfrog_state;

typedef struct {
    spiral_leapfrog_state state;
    polhode_quat q;
    polhode_vec3 omega;
} spiral_leapfrog_wanted;

typedef struct {
    double c, s;
} spiral_leapfrog_cos_sinc_series_result;

typedef struct {
    double c, s;
} spiral_leapfrog_cos_sinc_result;

typedef struct {
    polhode_quat q;
    polhode_vec3 omega;
} spiral_leapfrog_reading;

#define SPIRAL_LEAPFROG_HALF_PI_SQUARED 2.4674011002723395
#define SPIRAL_LEAPFROG_ONE_OVER_PI 0.3183098861837907
#define SPIRAL_LEAPFROG_ROUND 6755399441055744.0
#define SPIRAL_LEAPFROG_PI_HIGH 3.1415926534682512
#define SPIRAL_LEAPFROG_PI_LOW 1.2154201013012384e-10
#define SPIRAL_LEAPFROG_C0 1.0
#define SPIRAL_LEAPFROG_C1 (-0.4999999999999997)
#define SPIRAL_LEAPFROG_C2 0.04166666666666388
#define SPIRAL_LEAPFROG_C3 (-0.001388888888877299)
#define SPIRAL_LEAPFROG_C4 2.4801587277414923e-05
#define SPIRAL_LEAPFROG_C5 (-2.755731639102574e-07)
#define SPIRAL_LEAPFROG_C6 2.0876561839932584e-09
#define SPIRAL_LEAPFROG_C7 (-1.1462901901741764e-11)
#define SPIRAL_LEAPFROG_C8 4.60897700283419e-14
#define SPIRAL_LEAPFROG_S0 1.0
#define SPIRAL_LEAPFROG_S1 (-0.16666666666666666)
#define SPIRAL_LEAPFROG_S2 0.008333333333333186
#define SPIRAL_LEAPFROG_S3 (-0.00019841269841208676)
#define SPIRAL_LEAPFROG_S4 2.7557319211229606e-06
#define SPIRAL_LEAPFROG_S5 (-2.5052106890569513e-08)
#define SPIRAL_LEAPFROG_S6 1.6058940878486252e-10
#define SPIRAL_LEAPFROG_S7 (-7.643026557963443e-13)
#define SPIRAL_LEAPFROG_S8 2.7215749422098424e-15

/* algebra/body.py, euler_equations. d(omega)/dt in the body frame: I^-1 (torque - omega x I omega), written out for
   principal axes.

   omega (3,) in rad/s and torque (3,) in N m, body frame -> (3,) in rad/s^2. body has the numbers of
   Body.coefficients. */
POLHODE_FUNCTION polhode_vec3 spiral_leapfrog_euler_equations(
    polhode_vec3 omega, polhode_vec3 torque, polhode_inertia body
)
{
    return polhode_vec3_of(
        torque.x * body.reciprocals.x + omega.y * omega.z * body.gyroscopic.x,
        torque.y * body.reciprocals.y + omega.z * omega.x * body.gyroscopic.y,
        torque.z * body.reciprocals.z + omega.x * omega.y * body.gyroscopic.z
    );
}

/* algebra/vector.py, axpy. The vector s a + b (3,), in the unit of b, which s a must have, too. */
POLHODE_FUNCTION polhode_vec3 spiral_leapfrog_axpy(double s, polhode_vec3 a, polhode_vec3 b)
{
    return polhode_vec3_of(s * a.x + b.x, s * a.y + b.y, s * a.z + b.z);
}

/* methods/spiral_leapfrog.py, kick. The angular velocity after an SSPRK3 step of Euler's equations for dt (s) with
   the torque frozen (Eqs. 9, 10).

   It and omega, both (3,), are in rad/s, torque (3,) is in N m, all in the body frame. Terms are added as they
   become known: the next step waits for the last term, and a sum around it would prolong the wait. */
POLHODE_FUNCTION polhode_vec3 spiral_leapfrog_kick(
    polhode_vec3 omega, polhode_vec3 torque, polhode_inertia body, double dt
)
{
    const polhode_vec3 k1 = spiral_leapfrog_euler_equations(omega, torque, body);
    const polhode_vec3 k2 = spiral_leapfrog_euler_equations(spiral_leapfrog_axpy(dt, k1, omega), torque, body);
    const polhode_vec3 k3 = spiral_leapfrog_euler_equations(
        spiral_leapfrog_axpy(dt / 4.0, k2, spiral_leapfrog_axpy(dt / 4.0, k1, omega)), torque, body
    );
    /* 24.6 ns a step at 2.6 GHz, and 28.3 ns with a sum around k3. */
    return spiral_leapfrog_axpy(
        2.0 * dt / 3.0, k3, spiral_leapfrog_axpy(dt / 6.0, k2, spiral_leapfrog_axpy(dt / 6.0, k1, omega))
    );
}

/* methods/spiral_leapfrog.py, start. The state from which the first step begins. */
POLHODE_FUNCTION spiral_leapfrog_state spiral_leapfrog_start(
    polhode_quat q, polhode_vec3 omega, polhode_vec3 torque, polhode_inertia body, double dt
)
{
    const spiral_leapfrog_state result = {q, spiral_leapfrog_kick(omega, torque, body, -0.5 * dt)};
    return result;
}

/* methods/states.py, torque_wanted_at_state. The first part of a step, and the q and omega at which the torque is
   needed. */
POLHODE_FUNCTION spiral_leapfrog_wanted spiral_leapfrog_before_torque(
    spiral_leapfrog_state state, polhode_inertia body, double dt
)
{
    (void)body; (void)dt;
    const spiral_leapfrog_wanted result = {state, state.q, state.omega};
    return result;
}

/* algebra/quaternion.py, cos_sinc_series. cos(a) and sin(a)/a, dimensionless, of an angle a from 0 to pi/2 rad,
   given its square y. */
POLHODE_FUNCTION spiral_leapfrog_cos_sinc_series_result spiral_leapfrog_cos_sinc_series(double y)
{
    const double y2 = y * y;
    const double y4 = y2 * y2;
    /* Estrin's scheme: short dependency chains, on which successive steps have to wait. */
    const double c = (SPIRAL_LEAPFROG_C0 + SPIRAL_LEAPFROG_C1 * y) + y2 * (SPIRAL_LEAPFROG_C2 + SPIRAL_LEAPFROG_C3 * y)
        + y4
            * ((SPIRAL_LEAPFROG_C4 + SPIRAL_LEAPFROG_C5 * y) + y2 * (SPIRAL_LEAPFROG_C6 + SPIRAL_LEAPFROG_C7 * y)
                + y4 * SPIRAL_LEAPFROG_C8);
    const double s = (SPIRAL_LEAPFROG_S0 + SPIRAL_LEAPFROG_S1 * y) + y2 * (SPIRAL_LEAPFROG_S2 + SPIRAL_LEAPFROG_S3 * y)
        + y4
            * ((SPIRAL_LEAPFROG_S4 + SPIRAL_LEAPFROG_S5 * y) + y2 * (SPIRAL_LEAPFROG_S6 + SPIRAL_LEAPFROG_S7 * y)
                + y4 * SPIRAL_LEAPFROG_S8);
    const spiral_leapfrog_cos_sinc_series_result result = {c, s};
    return result;
}

/* algebra/quaternion.py, cos_sinc. cos(a) and sin(a)/a of the angle a = sqrt(x) >= 0, given its square. x in rad^2;
   two numbers without a unit.

   A rotation vector gives the square without a root, and needs sin(a)/a, which avoids a division by zero. The branch
   contains only plain arithmetic, so it costs nothing where it is not taken and vectorises in lanes. */
POLHODE_FUNCTION spiral_leapfrog_cos_sinc_result spiral_leapfrog_cos_sinc(double x)
{
    double y = x;
    double sign = 1.0;
    double ratio = 1.0;
    if (x > SPIRAL_LEAPFROG_HALF_PI_SQUARED) {
        const double a = sqrt(x);
        const double k = (a * SPIRAL_LEAPFROG_ONE_OVER_PI + SPIRAL_LEAPFROG_ROUND) - SPIRAL_LEAPFROG_ROUND;
        const double r = (a - k * SPIRAL_LEAPFROG_PI_HIGH) - k * SPIRAL_LEAPFROG_PI_LOW;
        const double odd = k - 2.0 * ((0.5 * k + SPIRAL_LEAPFROG_ROUND) - SPIRAL_LEAPFROG_ROUND);
        y = r * r;
        sign = 1.0 - 2.0 * odd * odd;
        ratio = sign * (r / a);
    }
    const spiral_leapfrog_cos_sinc_series_result cos_sinc_series_out = spiral_leapfrog_cos_sinc_series(y);
    const double c = cos_sinc_series_out.c;
    const double s = cos_sinc_series_out.s;
    const spiral_leapfrog_cos_sinc_result result = {sign * c, ratio * s};
    return result;
}

/* algebra/quaternion.py, multiply. Hamilton's product p q of two quaternions (4,), scalar first. */
POLHODE_FUNCTION polhode_quat spiral_leapfrog_multiply(polhode_quat p, polhode_quat q)
{
    return polhode_quat_of(
        p.w * q.w - p.x * q.x - p.y * q.y - p.z * q.z,
        p.w * q.x + p.x * q.w + p.y * q.z - p.z * q.y,
        p.w * q.y - p.x * q.z + p.y * q.w + p.z * q.x,
        p.w * q.z + p.x * q.y - p.y * q.x + p.z * q.w
    );
}

/* algebra/quaternion.py, rotate. q rotated exactly for the time dt by the constant body angular velocity omega: q
   exp(omega dt / 2). omega is in rad/s, dt in s; a unit quaternion stays one. */
POLHODE_FUNCTION polhode_quat spiral_leapfrog_rotate(polhode_quat q, polhode_vec3 omega, double dt)
{
    const double h = 0.5 * dt;
    const spiral_leapfrog_cos_sinc_result cos_sinc_out = spiral_leapfrog_cos_sinc((h * h)
        * (omega.x * omega.x + omega.y * omega.y + omega.z * omega.z));
    const double c = cos_sinc_out.c;
    double s = cos_sinc_out.s;
    s = h * s;
    return spiral_leapfrog_multiply(q, polhode_quat_of(c, s * omega.x, s * omega.y, s * omega.z));
}

/* methods/spiral_leapfrog.py, after_torque. The rest of a step, given the torque in the body frame. */
POLHODE_FUNCTION spiral_leapfrog_state spiral_leapfrog_after_torque(
    spiral_leapfrog_state state, polhode_vec3 torque, polhode_inertia body, double dt
)
{
    const polhode_quat q = state.q;
    polhode_vec3 omega = state.omega;
    omega = spiral_leapfrog_kick(omega, torque, body, dt);
    /* Eq. 7: the exact rotation by omega(t + dt/2) */
    const spiral_leapfrog_state result = {spiral_leapfrog_rotate(q, omega, dt), omega};
    return result;
}

/* methods/spiral_leapfrog.py, read. q and omega (body frame) at the whole time. */
POLHODE_FUNCTION spiral_leapfrog_reading spiral_leapfrog_read(
    spiral_leapfrog_state state, polhode_vec3 torque, polhode_inertia body, double dt
)
{
    const spiral_leapfrog_reading result = {state.q, spiral_leapfrog_kick(state.omega, torque, body, 0.5 * dt)};
    return result;
}

/* methods/states.py, stored_in_body_frame. The angular velocity (body frame) that the method carries. */
POLHODE_FUNCTION polhode_vec3 spiral_leapfrog_stored(spiral_leapfrog_state state, polhode_inertia body, double dt)
{
    (void)body; (void)dt;
    return state.omega;
}

/* q and omega after so many steps from those at t = 0. A program with a loop of its own calls the parts of a
   step in this order. */
POLHODE_FUNCTION spiral_leapfrog_reading spiral_leapfrog_run(
    polhode_quat q,
    polhode_vec3 omega,
    polhode_inertia body,
    polhode_torque torque,
    const void *parameters,
    double dt,
    long steps
)
{
    spiral_leapfrog_state state = spiral_leapfrog_start(q, omega, torque(0.0, q, omega, parameters), body, dt);
    for (long n = 0; n < steps; n++) {
        const spiral_leapfrog_wanted before_torque_out = spiral_leapfrog_before_torque(state, body, dt);
        state = before_torque_out.state;
        q = before_torque_out.q;
        omega = before_torque_out.omega;
        const polhode_vec3 moment = torque((double)n * dt, q, omega, parameters);
        state = spiral_leapfrog_after_torque(state, moment, body, dt);
    }
    const spiral_leapfrog_wanted before_torque_out2 = spiral_leapfrog_before_torque(state, body, dt);
    state = before_torque_out2.state;
    q = before_torque_out2.q;
    omega = before_torque_out2.omega;
    return spiral_leapfrog_read(state, torque((double)steps * dt, q, omega, parameters), body, dt);
}

#ifdef SPIRAL_LEAPFROG_MAIN
#include <stdio.h>

/* A torque (3,) N m that grows with time, turns with the body and resists its rotation. */
POLHODE_FUNCTION polhode_vec3 spiral_leapfrog_test_torque(
    double t, polhode_quat q, polhode_vec3 omega, const void *parameters
)
{
    (void)parameters;
    const double q0 = q.w;
    const double qx = q.x;
    const double qy = q.y;
    const double qz = q.z;
    const double x = omega.x;
    const double y = omega.y;
    const double z = omega.z;
    return polhode_vec3_of(
        0.5 - 0.25 * t + 0.75 * (qy * qz + q0 * qx) - 0.125 * x,
        0.25 * t - 0.75 * (qx * qz - q0 * qy) - 0.125 * y,
        0.5 * (q0 * q0 + qz * qz) - 0.25 - 0.125 * z
    );
}

int main(void)
{
    const double expected[7] = {
        -0.088907652620514824,
        0.65611270733224469,
        0.72953455262222999,
        0.17143768871792625,
        1.4113461115174559,
        0.8348948674548613,
        0.90598027451626295
    };
    const polhode_inertia body = polhode_inertia_of(polhode_vec3_of(1.0, 1.7, 2.3));
    const spiral_leapfrog_reading end = spiral_leapfrog_run(
        polhode_quat_of(0.5, -0.1, 0.7, 0.5),
        polhode_vec3_of(0.9, -0.7, 1.1),
        body,
        spiral_leapfrog_test_torque,
        0,
        0.0625,
        20
    );
    const double numbers[7] = {
        end.q.w, end.q.x, end.q.y, end.q.z, end.omega.x, end.omega.y, end.omega.z
    };
    double largest = 0.0;
    for (int i = 0; i < 7; i++) {
        printf("%.17g\n", numbers[i]);
        largest = fmax(largest, fabs(numbers[i] - expected[i]));
    }
    if (largest <= 1e-12) {
        printf("ok\n");
        return 0;
    }
    printf("differs by %g\n", largest);
    return 1;
}
#endif

#endif
