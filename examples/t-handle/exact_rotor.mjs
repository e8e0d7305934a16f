// exact rotor: a step of the rotation of a rigid body, in JavaScript.
//
// Source: van Zon and Schofield (2007); Celledoni et al. (2008).
// Ours: The closed form of the free rotation is ours, and the angular velocity predicted for friction.
// Symplectic and reversible; exact without a torque.
//
// Exact-rotor splitting: half kick, exact free rotation, half kick; van Zon and Schofield (2007), Celledoni et al.
// (2008).
//
// The kinetic energy is not split any further, so that all of the error comes from the torque. With Pi the angular
// momentum in the body frame and Phi the exact motion of the free body (polhode.methods.free_top):
//
//    \Pi' &= \Pi_n + \tfrac{\Delta t}{2} M_n \\
//    (q_{n+1}, \Pi'') &= \Phi_{\Delta t}(q_n, \Pi') \\
//    \Pi_{n+1} &= \Pi'' + \tfrac{\Delta t}{2} M_{n+1}
//
// A torque that depends on the angular velocity gets a predicted one, that of Pi'' + (dt/2) M_n, which costs nothing
// and makes the step of second order then, too. Nothing else depends on the prediction. Under linear friction,
// d(omega)/dt = -k omega, a step obeys lambda^2 - (1 - 3z/2) lambda - z/2 = 0 with z = k dt, and is stable for z <
// 1. The velocity of a centre of mass that moves beside the rotation is predicted in the same way.
//
// The sources write the exact motion with Jacobi's elliptic functions and an integral of the third kind, by theta
// functions or by quadrature; the form used here is ours. Its error is that of rounding for every body, motion and
// step.
//
// The state is q, the angular momentum Pi in the body frame and the last torque (N m, body frame); shapes, frames
// and units are as in polhode.methods.protocol.
//
// run shows a run, with body = inertia_of(moments). Vectors are objects {x, y, z}, quaternions {w, x, y, z};
// functions return new ones and change none. All numbers are doubles, with the bits of
// polhode. A test, which prints ok:
// node -e 'import("./exact_rotor.mjs").then((method) => method.test())'
//
// q takes body to lab; omega, torque and moments are in the body frame along the principal axes; units are SI or
// any others that fit together.
// Generated from the kernels of exact_rotor by polhode 0.1.0. SPDX-License-Identifier: BSD-3-Clause

/**
 * Hamilton's, scalar first, from body to lab
 * @typedef {{ w: number, x: number, y: number, z: number }} Quat
 */

/** @typedef {{ x: number, y: number, z: number }} Vec3 */

/**
 * Ix, Iy, Iz; 1/Ix, 1/Iy, 1/Iz; (Iy - Iz)/Ix, (Iz - Ix)/Iy, (Ix - Iy)/Iz: see inertia_of
 * @typedef {{ moments: Vec3, reciprocals: Vec3, gyroscopic: Vec3 }} Inertia
 */

/**
 * The torque in the body frame at the time t; parameters are passed on as they are.
 * @callback Torque
 * @param {number} t
 * @param {Quat} q
 * @param {Vec3} omega
 * @param {any} parameters
 * @returns {Vec3}
 */

// What exact rotor carries from step to step.
/** @typedef {{ q: Quat, momentum: Vec3, torque: Vec3 }} State */

/** @typedef {{ state: State, q: Quat, omega: Vec3 }} Wanted */

/** @typedef {{ q: Quat, omega: Vec3 }} Reading */

const TINY = 1e-300;
const SMALLEST = 1e-16;
const HALF_PI_SQUARED = 2.4674011002723395;
const ONE_OVER_PI = 0.3183098861837907;
const ROUND = 6755399441055744.0;
const PI_HIGH = 3.1415926534682512;
const PI_LOW = 1.2154201013012384e-10;
const C0 = 1.0;
const C1 = -0.4999999999999997;
const C2 = 0.04166666666666388;
const C3 = -0.001388888888877299;
const C4 = 2.4801587277414923e-05;
const C5 = -2.755731639102574e-07;
const C6 = 2.0876561839932584e-09;
const C7 = -1.1462901901741764e-11;
const C8 = 4.60897700283419e-14;
const S0 = 1.0;
const S1 = -0.16666666666666666;
const S2 = 0.008333333333333186;
const S3 = -0.00019841269841208676;
const S4 = 2.7557319211229606e-06;
const S5 = -2.5052106890569513e-08;
const S6 = 1.6058940878486252e-10;
const S7 = -7.643026557963443e-13;
const S8 = 2.7215749422098424e-15;

// What functions on numbers leave for their callers, who take it at once.
const out = new Float64Array(7);

/**
 * algebra/body.py, coefficients_of. The numbers of a body that the kernels read, from its principal moments:
 * Body.coefficients.
 *
 * moments (3,) in kg m^2 -> nine numbers: three moments, three inverses (1/(kg m^2)), three ratios.
 * @param {Vec3} moments
 * @returns {Inertia}
 */
export function inertia_of(moments) {
    const x = moments.x;
    const y = moments.y;
    const z = moments.z;
    return {
        moments: { x, y, z },
        reciprocals: { x: 1.0 / x, y: 1.0 / y, z: 1.0 / z },
        gyroscopic: { x: (y - z) / x, y: (z - x) / y, z: (x - y) / z }
    };
}

/**
 * methods/splitting.py, start. The state from which the first step begins.
 * @param {Quat} q
 * @param {Vec3} omega
 * @param {Vec3} torque
 * @param {Inertia} body
 * @param {number} dt
 * @returns {State}
 */
export function start(q, omega, torque, body, dt) {
    return {
        q, momentum: { x: body.moments.x * omega.x, y: body.moments.y * omega.y, z: body.moments.z * omega.z }, torque
    };
}

/**
 * methods/free_top.py, half_step. The functions and 2 Theta_1 at the time h.
 *
 * Parameters
 * ----------
 * squared, small, apart : p^2, k^2 p^2 and (1 - k^2) p^2, in 1/s^2
 * tilt : n_1/k_1, without a unit
 * h : half the step, s
 *
 * Returns
 * -------
 * (sn/p, cn, dn), sn/p in s; 2 Theta_1 as a complex number (real, imaginary), not of length one, and an angle (rad)
 * that turns
 * it further.
 *
 * Leaves in out: functions_x, functions_y, functions_z, v_x, v_x2, x.
 */
function half_step(squared, small, apart, tilt, h) {
    const p = Math.sqrt(squared + TINY);
    const m = small / (squared + TINY);
    let other = (apart + TINY) / (squared + TINY);
    if (other < SMALLEST) {
        other = SMALLEST;
    }
    const complement0 = Math.sqrt(other);
    const inverse = 1.0 / (1.0 + complement0);
    const k1 = m * inverse * inverse;
    let complement = 2.0 * Math.sqrt(complement0) * inverse;
    // landen(k1, complement, tilt * k1)
    const n_2 = tilt * k1;
    const inverse_2 = 1.0 / (1.0 + complement);
    const ratio = k1 * inverse_2;
    const lower = ratio * ratio;
    const stretch = (1.0 + lower) * (1.0 + lower) * n_2;
    const lower_n = 2.0 * lower * lower
        / ((2.0 * lower + stretch) + Math.sqrt(stretch * (4.0 * lower + stretch) + TINY));
    const k2 = lower;
    let n = lower_n;
    const root2 = Math.sqrt(1.0 + n_2);
    complement = 2.0 * Math.sqrt(complement) * inverse_2;
    // landen(k2, complement, n)
    const inverse_3 = 1.0 / (1.0 + complement);
    const ratio_2 = k2 * inverse_3;
    const lower_2 = ratio_2 * ratio_2;
    const stretch_2 = (1.0 + lower_2) * (1.0 + lower_2) * n;
    const lower_n_2 = 2.0 * lower_2 * lower_2
        / ((2.0 * lower_2 + stretch_2) + Math.sqrt(stretch_2 * (4.0 * lower_2 + stretch_2) + TINY));
    const k3 = lower_2;
    const root3 = Math.sqrt(1.0 + n);
    complement = 2.0 * Math.sqrt(complement) * inverse_3;
    n = lower_n_2;
    // landen(k3, complement, n)
    const inverse_4 = 1.0 / (1.0 + complement);
    const ratio_3 = k3 * inverse_4;
    const lower_3 = ratio_3 * ratio_3;
    const stretch_3 = (1.0 + lower_3) * (1.0 + lower_3) * n;
    const lower_n_3 = 2.0 * lower_3 * lower_3
        / ((2.0 * lower_3 + stretch_3) + Math.sqrt(stretch_3 * (4.0 * lower_3 + stretch_3) + TINY));
    const k4 = lower_3;
    const root4 = Math.sqrt(1.0 + n);
    complement = 2.0 * Math.sqrt(complement) * inverse_4;
    n = lower_n_3;
    // landen(k4, complement, n)
    const inverse_5 = 1.0 / (1.0 + complement);
    const ratio_4 = k4 * inverse_5;
    const lower_4 = ratio_4 * ratio_4;
    const stretch_4 = (1.0 + lower_4) * (1.0 + lower_4) * n;
    const lower_n_4 = 2.0 * lower_4 * lower_4
        / ((2.0 * lower_4 + stretch_4) + Math.sqrt(stretch_4 * (4.0 * lower_4 + stretch_4) + TINY));
    const k5 = lower_4;
    const root5 = Math.sqrt(1.0 + n);
    complement = 2.0 * Math.sqrt(complement) * inverse_5;
    n = lower_n_4;
    // landen(k5, complement, n)
    const inverse_6 = 1.0 / (1.0 + complement);
    const ratio_5 = k5 * inverse_6;
    const lower_5 = ratio_5 * ratio_5;
    const stretch_5 = (1.0 + lower_5) * (1.0 + lower_5) * n;
    const lower_n_5 = 2.0 * lower_5 * lower_5
        / ((2.0 * lower_5 + stretch_5) + Math.sqrt(stretch_5 * (4.0 * lower_5 + stretch_5) + TINY));
    const k6 = lower_5;
    const root6 = Math.sqrt(1.0 + n);
    complement = 2.0 * Math.sqrt(complement) * inverse_6;
    n = lower_n_5;
    // landen(k6, complement, n)
    const inverse_7 = 1.0 / (1.0 + complement);
    const ratio_6 = k6 * inverse_7;
    const lower_6 = ratio_6 * ratio_6;
    const stretch_6 = (1.0 + lower_6) * (1.0 + lower_6) * n;
    const lower_n_6 = 2.0 * lower_6 * lower_6
        / ((2.0 * lower_6 + stretch_6) + Math.sqrt(stretch_6 * (4.0 * lower_6 + stretch_6) + TINY));
    const k7 = lower_6;
    const root7 = Math.sqrt(1.0 + n);
    complement = 2.0 * Math.sqrt(complement) * inverse_7;
    n = lower_n_6;
    // landen(k7, complement, n)
    const inverse_8 = 1.0 / (1.0 + complement);
    const ratio_7 = k7 * inverse_8;
    const lower_7 = ratio_7 * ratio_7;
    const stretch_7 = (1.0 + lower_7) * (1.0 + lower_7) * n;
    const lower_n_7 = 2.0 * lower_7 * lower_7
        / ((2.0 * lower_7 + stretch_7) + Math.sqrt(stretch_7 * (4.0 * lower_7 + stretch_7) + TINY));
    const k8 = lower_7;
    const root8 = Math.sqrt(1.0 + n);
    complement = 2.0 * Math.sqrt(complement) * inverse_8;
    n = lower_n_7;
    const z7 = 1.0 + k8;
    const z6 = (1.0 + k7) * z7;
    const z5 = (1.0 + k6) * z6;
    const z4 = (1.0 + k5) * z5;
    const z3 = (1.0 + k4) * z4;
    const z2 = (1.0 + k3) * z3;
    const z1 = (1.0 + k2) * z2;
    const time = h / ((1.0 + k1) * z1);
    const z = p * time;
    // cos_sinc(squared * time * time)
    const x_2 = squared * time * time;
    let y_2 = x_2;
    let sign = 1.0;
    let ratio_8 = 1.0;
    if (x_2 > HALF_PI_SQUARED) {
        const a = Math.sqrt(x_2);
        const k = (a * ONE_OVER_PI + ROUND) - ROUND;
        const r = (a - k * PI_HIGH) - k * PI_LOW;
        const odd = k - 2.0 * ((0.5 * k + ROUND) - ROUND);
        y_2 = r * r;
        sign = 1.0 - 2.0 * odd * odd;
        ratio_8 = sign * (r / a);
    }
    // cos_sinc_series(y)
    const y2 = y_2 * y_2;
    const y4 = y2 * y2;
    // Estrin's scheme: short dependency chains, on which successive steps have to wait.
    const c = (C0 + C1 * y_2) + y2 * (C2 + C3 * y_2) + y4 * ((C4 + C5 * y_2) + y2 * (C6 + C7 * y_2) + y4 * C8);
    const s = (S0 + S1 * y_2) + y2 * (S2 + S3 * y_2) + y4 * ((S4 + S5 * y_2) + y2 * (S6 + S7 * y_2) + y4 * S8);
    const c_2 = c;
    const s_2 = s;
    const cosine = sign * c_2;
    const sinc = ratio_8 * s_2;
    let functions_x = time * sinc, functions_y = cosine, functions_z = 1.0;
    const last_x = z * sinc, last_x2 = cosine;
    let arc_x = 1.0, arc_y = 0.0, arc_z = 0.0;
    // turned(arc, functions, last, p, k8, root8, z7)
    const x_3 = arc_x;
    const y_3 = arc_y;
    const turns_2 = arc_z;
    const s_3 = functions_x;
    const c_3 = functions_y;
    const d = functions_z;
    const sine = (1.0 + k8) * root8 * p * s_3;
    const cosine_2 = c_3 * d;
    // Both angles without that of the last level: they agree where k has died out, and bit for bit.
    const real = cosine_2 * last_x2 + sine * last_x;
    const imaginary = sine * last_x2 - cosine_2 * last_x;
    const xx = x_3 * x_3 - y_3 * y_3;
    const yy = 2.0 * x_3 * y_3;
    arc_x = xx * real - yy * imaginary;
    arc_y = -(xx * imaginary + yy * real);
    arc_z = (root8 * z7 - 1.0) - 2.0 * turns_2;
    // ascended(functions, k8, squared)
    const s_4 = functions_x;
    const c_4 = functions_y;
    const d_2 = functions_z;
    const bend = k8 * squared * s_4 * s_4;
    const share = 1.0 / (1.0 + bend);
    functions_x = (1.0 + k8) * share * s_4;
    functions_y = share * c_4 * d_2;
    functions_z = share * (1.0 - bend);
    // turned(arc, functions, last, p, k7, root7, z6)
    const x_4 = arc_x;
    const y_4 = arc_y;
    const turns_3 = arc_z;
    const s_5 = functions_x;
    const c_5 = functions_y;
    const d_3 = functions_z;
    const sine_2 = (1.0 + k7) * root7 * p * s_5;
    const cosine_3 = c_5 * d_3;
    // Both angles without that of the last level: they agree where k has died out, and bit for bit.
    const real_2 = cosine_3 * last_x2 + sine_2 * last_x;
    const imaginary_2 = sine_2 * last_x2 - cosine_3 * last_x;
    const xx_2 = x_4 * x_4 - y_4 * y_4;
    const yy_2 = 2.0 * x_4 * y_4;
    arc_x = xx_2 * real_2 - yy_2 * imaginary_2;
    arc_y = -(xx_2 * imaginary_2 + yy_2 * real_2);
    arc_z = (root7 * z6 - 1.0) - 2.0 * turns_3;
    // ascended(functions, k7, squared)
    const s_6 = functions_x;
    const c_6 = functions_y;
    const d_4 = functions_z;
    const bend_2 = k7 * squared * s_6 * s_6;
    const share_2 = 1.0 / (1.0 + bend_2);
    functions_x = (1.0 + k7) * share_2 * s_6;
    functions_y = share_2 * c_6 * d_4;
    functions_z = share_2 * (1.0 - bend_2);
    // turned(arc, functions, last, p, k6, root6, z5)
    const x_5 = arc_x;
    const y_5 = arc_y;
    const turns_4 = arc_z;
    const s_7 = functions_x;
    const c_7 = functions_y;
    const d_5 = functions_z;
    const sine_3 = (1.0 + k6) * root6 * p * s_7;
    const cosine_4 = c_7 * d_5;
    // Both angles without that of the last level: they agree where k has died out, and bit for bit.
    const real_3 = cosine_4 * last_x2 + sine_3 * last_x;
    const imaginary_3 = sine_3 * last_x2 - cosine_4 * last_x;
    const xx_3 = x_5 * x_5 - y_5 * y_5;
    const yy_3 = 2.0 * x_5 * y_5;
    arc_x = xx_3 * real_3 - yy_3 * imaginary_3;
    arc_y = -(xx_3 * imaginary_3 + yy_3 * real_3);
    arc_z = (root6 * z5 - 1.0) - 2.0 * turns_4;
    // ascended(functions, k6, squared)
    const s_8 = functions_x;
    const c_8 = functions_y;
    const d_6 = functions_z;
    const bend_3 = k6 * squared * s_8 * s_8;
    const share_3 = 1.0 / (1.0 + bend_3);
    functions_x = (1.0 + k6) * share_3 * s_8;
    functions_y = share_3 * c_8 * d_6;
    functions_z = share_3 * (1.0 - bend_3);
    // turned(arc, functions, last, p, k5, root5, z4)
    const x_6 = arc_x;
    const y_6 = arc_y;
    const turns_5 = arc_z;
    const s_9 = functions_x;
    const c_9 = functions_y;
    const d_7 = functions_z;
    const sine_4 = (1.0 + k5) * root5 * p * s_9;
    const cosine_5 = c_9 * d_7;
    // Both angles without that of the last level: they agree where k has died out, and bit for bit.
    const real_4 = cosine_5 * last_x2 + sine_4 * last_x;
    const imaginary_4 = sine_4 * last_x2 - cosine_5 * last_x;
    const xx_4 = x_6 * x_6 - y_6 * y_6;
    const yy_4 = 2.0 * x_6 * y_6;
    arc_x = xx_4 * real_4 - yy_4 * imaginary_4;
    arc_y = -(xx_4 * imaginary_4 + yy_4 * real_4);
    arc_z = (root5 * z4 - 1.0) - 2.0 * turns_5;
    // ascended(functions, k5, squared)
    const s_10 = functions_x;
    const c_10 = functions_y;
    const d_8 = functions_z;
    const bend_4 = k5 * squared * s_10 * s_10;
    const share_4 = 1.0 / (1.0 + bend_4);
    functions_x = (1.0 + k5) * share_4 * s_10;
    functions_y = share_4 * c_10 * d_8;
    functions_z = share_4 * (1.0 - bend_4);
    // turned(arc, functions, last, p, k4, root4, z3)
    const x_7 = arc_x;
    const y_7 = arc_y;
    const turns_6 = arc_z;
    const s_11 = functions_x;
    const c_11 = functions_y;
    const d_9 = functions_z;
    const sine_5 = (1.0 + k4) * root4 * p * s_11;
    const cosine_6 = c_11 * d_9;
    // Both angles without that of the last level: they agree where k has died out, and bit for bit.
    const real_5 = cosine_6 * last_x2 + sine_5 * last_x;
    const imaginary_5 = sine_5 * last_x2 - cosine_6 * last_x;
    const xx_5 = x_7 * x_7 - y_7 * y_7;
    const yy_5 = 2.0 * x_7 * y_7;
    arc_x = xx_5 * real_5 - yy_5 * imaginary_5;
    arc_y = -(xx_5 * imaginary_5 + yy_5 * real_5);
    arc_z = (root4 * z3 - 1.0) - 2.0 * turns_6;
    // ascended(functions, k4, squared)
    const s_12 = functions_x;
    const c_12 = functions_y;
    const d_10 = functions_z;
    const bend_5 = k4 * squared * s_12 * s_12;
    const share_5 = 1.0 / (1.0 + bend_5);
    functions_x = (1.0 + k4) * share_5 * s_12;
    functions_y = share_5 * c_12 * d_10;
    functions_z = share_5 * (1.0 - bend_5);
    // turned(arc, functions, last, p, k3, root3, z2)
    const x_8 = arc_x;
    const y_8 = arc_y;
    const turns_7 = arc_z;
    const s_13 = functions_x;
    const c_13 = functions_y;
    const d_11 = functions_z;
    const sine_6 = (1.0 + k3) * root3 * p * s_13;
    const cosine_7 = c_13 * d_11;
    // Both angles without that of the last level: they agree where k has died out, and bit for bit.
    const real_6 = cosine_7 * last_x2 + sine_6 * last_x;
    const imaginary_6 = sine_6 * last_x2 - cosine_7 * last_x;
    const xx_6 = x_8 * x_8 - y_8 * y_8;
    const yy_6 = 2.0 * x_8 * y_8;
    arc_x = xx_6 * real_6 - yy_6 * imaginary_6;
    arc_y = -(xx_6 * imaginary_6 + yy_6 * real_6);
    arc_z = (root3 * z2 - 1.0) - 2.0 * turns_7;
    // ascended(functions, k3, squared)
    const s_14 = functions_x;
    const c_14 = functions_y;
    const d_12 = functions_z;
    const bend_6 = k3 * squared * s_14 * s_14;
    const share_6 = 1.0 / (1.0 + bend_6);
    functions_x = (1.0 + k3) * share_6 * s_14;
    functions_y = share_6 * c_14 * d_12;
    functions_z = share_6 * (1.0 - bend_6);
    // turned(arc, functions, last, p, k2, root2, z1)
    const x_9 = arc_x;
    const y_9 = arc_y;
    const turns_8 = arc_z;
    const s_15 = functions_x;
    const c_15 = functions_y;
    const d_13 = functions_z;
    const sine_7 = (1.0 + k2) * root2 * p * s_15;
    const cosine_8 = c_15 * d_13;
    // Both angles without that of the last level: they agree where k has died out, and bit for bit.
    const real_7 = cosine_8 * last_x2 + sine_7 * last_x;
    const imaginary_7 = sine_7 * last_x2 - cosine_8 * last_x;
    const xx_7 = x_9 * x_9 - y_9 * y_9;
    const yy_7 = 2.0 * x_9 * y_9;
    const x = xx_7 * real_7 - yy_7 * imaginary_7;
    const y = -(xx_7 * imaginary_7 + yy_7 * real_7);
    const turns = (root2 * z1 - 1.0) - 2.0 * turns_8;
    // ascended(functions, k2, squared)
    const s_16 = functions_x;
    const c_16 = functions_y;
    const d_14 = functions_z;
    const bend_7 = k2 * squared * s_16 * s_16;
    const share_7 = 1.0 / (1.0 + bend_7);
    functions_x = (1.0 + k2) * share_7 * s_16;
    functions_y = share_7 * c_16 * d_14;
    functions_z = share_7 * (1.0 - bend_7);
    // ascended(functions, k1, squared)
    const s_17 = functions_x;
    const c_17 = functions_y;
    const d_15 = functions_z;
    const bend_8 = k1 * squared * s_17 * s_17;
    const share_8 = 1.0 / (1.0 + bend_8);
    functions_x = (1.0 + k1) * share_8 * s_17;
    functions_y = share_8 * c_17 * d_15;
    functions_z = share_8 * (1.0 - bend_8);
    out[0] = functions_x;
    out[1] = functions_y;
    out[2] = functions_z;
    out[3] = x * x - y * y;
    out[4] = 2.0 * x * y;
    out[5] = 2.0 * turns * z;
}

/**
 * methods/free_top.py, free_motion. The motion of a free body for dt.
 *
 * Parameters
 * ----------
 * momentum : (3,) angular momentum in the body frame, kg m^2/s
 * body : nine coefficients of polhode.algebra.body.Body.coefficients
 * dt : s
 *
 * Returns
 * -------
 * The unit quaternion (4,) of the rotation (from the body axes at the end to those at the beginning), and the
 * angular momentum
 * (3,) in the body frame at the end.
 *
 * Leaves in out: v_w, v_x, v_y, v_z, v2_x, v2_y, v2_z.
 */
function free_motion(momentum_x, momentum_y, momentum_z, body, dt) {
    // middle_second(body, (body[0], body[1], body[2]))
    // The middle axis is the one whose two partners have gyroscopic coefficients of equal sign.
    let a = body.moments.x;
    let b = body.moments.y;
    let c_2 = body.moments.z;
    if (body.gyroscopic.y * body.gyroscopic.z >= 0.0) {
        a = body.moments.z;
        b = body.moments.x;
        c_2 = body.moments.y;
    }
    if (body.gyroscopic.x * body.gyroscopic.y >= 0.0) {
        a = body.moments.y;
        b = body.moments.z;
        c_2 = body.moments.x;
    }
    if (body.gyroscopic.x * body.gyroscopic.z >= 0.0) {
        a = body.moments.x;
        b = body.moments.y;
        c_2 = body.moments.z;
    }
    const i1 = a;
    const i2 = b;
    const i3 = c_2;
    // middle_second(body, (body[3], body[4], body[5]))
    // The middle axis is the one whose two partners have gyroscopic coefficients of equal sign.
    let a_2 = body.reciprocals.x;
    let b_2 = body.reciprocals.y;
    let c_3 = body.reciprocals.z;
    if (body.gyroscopic.y * body.gyroscopic.z >= 0.0) {
        a_2 = body.reciprocals.z;
        b_2 = body.reciprocals.x;
        c_3 = body.reciprocals.y;
    }
    if (body.gyroscopic.x * body.gyroscopic.y >= 0.0) {
        a_2 = body.reciprocals.y;
        b_2 = body.reciprocals.z;
        c_3 = body.reciprocals.x;
    }
    if (body.gyroscopic.x * body.gyroscopic.z >= 0.0) {
        a_2 = body.reciprocals.x;
        b_2 = body.reciprocals.y;
        c_3 = body.reciprocals.z;
    }
    const r1 = a_2;
    const r2 = b_2;
    const r3 = c_3;
    // middle_second(body, (body[6], body[7], body[8]))
    // The middle axis is the one whose two partners have gyroscopic coefficients of equal sign.
    let a_3 = body.gyroscopic.x;
    let b_3 = body.gyroscopic.y;
    let c_4 = body.gyroscopic.z;
    if (body.gyroscopic.y * body.gyroscopic.z >= 0.0) {
        a_3 = body.gyroscopic.z;
        b_3 = body.gyroscopic.x;
        c_4 = body.gyroscopic.y;
    }
    if (body.gyroscopic.x * body.gyroscopic.y >= 0.0) {
        a_3 = body.gyroscopic.y;
        b_3 = body.gyroscopic.z;
        c_4 = body.gyroscopic.x;
    }
    if (body.gyroscopic.x * body.gyroscopic.z >= 0.0) {
        a_3 = body.gyroscopic.x;
        b_3 = body.gyroscopic.y;
        c_4 = body.gyroscopic.z;
    }
    const g1 = a_3;
    const g2 = b_3;
    const g3 = c_4;
    // middle_second(body, momentum)
    // The middle axis is the one whose two partners have gyroscopic coefficients of equal sign.
    let a_4 = momentum_x;
    let b_4 = momentum_y;
    let c_5 = momentum_z;
    if (body.gyroscopic.y * body.gyroscopic.z >= 0.0) {
        a_4 = momentum_z;
        b_4 = momentum_x;
        c_5 = momentum_y;
    }
    if (body.gyroscopic.x * body.gyroscopic.y >= 0.0) {
        a_4 = momentum_y;
        b_4 = momentum_z;
        c_5 = momentum_x;
    }
    if (body.gyroscopic.x * body.gyroscopic.z >= 0.0) {
        a_4 = momentum_x;
        b_4 = momentum_y;
        c_5 = momentum_z;
    }
    const l1 = a_4;
    const l2 = b_4;
    const l3 = c_5;
    const w1 = r1 * l1;
    const w2 = r2 * l2;
    const w3 = r3 * l3;
    // How the square of omega_2 is shared between those of a_1 and a_3. A sphere may share as it likes, but not
    // nothing.
    const spread = i3 - i1;
    let share1 = 1.0;
    let share3 = 0.0;
    if (spread * spread > 0.0) {
        share1 = (i3 - i2) / spread;
        share3 = (i2 - i1) / spread;
    }
    const largest1 = w1 * w1 + share1 * i2 * r1 * (w2 * w2);
    const largest3 = w3 * w3 + share3 * i2 * r3 * (w2 * w2);
    const product12 = -g1 * g2;
    const product23 = -g2 * g3;
    const first = product12 * largest3;
    const third = product23 * largest1;
    let apart = g2 * (g3 * (w1 * w1) - g1 * (w3 * w3));
    // The axis about which the momentum circulates takes the place of axis 3.
    let squared = first;
    let small = third;
    let a1 = largest1;
    let a3 = largest3;
    let m1 = i1;
    let m3 = i3;
    let side = 1.0;
    if (first < third) {
        squared = third;
        small = first;
        a1 = largest3;
        a3 = largest1;
        m1 = i3;
        m3 = i1;
        side = -1.0;
    }
    apart = side * apart;
    const length2 = (l1 * l1 + l2 * l2) + l3 * l3;
    const length = Math.sqrt(length2 + TINY);
    const omega3 = Math.sqrt(a3 + TINY);
    const pi3 = m3 * omega3;
    const whole = 1.0 / (length + pi3);
    const h = 0.5 * dt;
    half_step(squared, small, apart, m1 * m1 * a1 * (whole * whole), h);
    const s = out[0];
    const c = out[1];
    const d = out[2];
    const x = out[3];
    let y = out[4];
    const turn = out[5];
    // eta
    const over = 1.0 / length;
    let u3 = over * pi3 * d;
    const corner = over * over * m1 * m1 * a1 * (c * c) + u3 * (u3 + 1.0);
    const cross = over * over * m1 * a1 * c * ((m3 - m1) * omega3 * s);
    let sense = 1.0;
    if (m3 < m1) {
        sense = -1.0;
    }
    const angle = h * ((w1 * l1 + w2 * l2) + w3 * l3 + length * omega3) * whole + sense * turn;
    y = sense * y;
    let real = x * corner - y * cross;
    let imaginary = y * corner + x * cross;
    // cos_sinc(angle * angle)
    const x_2 = angle * angle;
    let y_2 = x_2;
    let sign = 1.0;
    let ratio = 1.0;
    if (x_2 > HALF_PI_SQUARED) {
        const a_5 = Math.sqrt(x_2);
        const k = (a_5 * ONE_OVER_PI + ROUND) - ROUND;
        const r = (a_5 - k * PI_HIGH) - k * PI_LOW;
        const odd = k - 2.0 * ((0.5 * k + ROUND) - ROUND);
        y_2 = r * r;
        sign = 1.0 - 2.0 * odd * odd;
        ratio = sign * (r / a_5);
    }
    // cos_sinc_series(y)
    const y2 = y_2 * y_2;
    const y4 = y2 * y2;
    // Estrin's scheme: short dependency chains, on which successive steps have to wait.
    const c_6 = (C0 + C1 * y_2) + y2 * (C2 + C3 * y_2) + y4 * ((C4 + C5 * y_2) + y2 * (C6 + C7 * y_2) + y4 * C8);
    const s_2 = (S0 + S1 * y_2) + y2 * (S2 + S3 * y_2) + y4 * ((S4 + S5 * y_2) + y2 * (S6 + S7 * y_2) + y4 * S8);
    const c_7 = c_6;
    const s_3 = s_2;
    const cosine = sign * c_7;
    const sinc = ratio * s_3;
    const sine = angle * sinc;
    const next_imaginary = real * sine + imaginary * cosine;
    real = real * cosine - imaginary * sine;
    imaginary = next_imaginary;
    // The functions of the whole step, and the angular velocity at its end.
    const double_ = 1.0 / (c * c + squared * s * s * (d * d));
    const s2_ = 2.0 * s * c * d * double_;
    let c2_ = (c * c - squared * s * s * (d * d)) * double_;
    let d2 = (d * d - small * s * s * (c * c)) * double_;
    if (first < third) {
        const next_d2 = c2_;
        c2_ = d2;
        d2 = next_d2;
    }
    // The differences from the beginning, so that rounding does not accumulate where steps are short.
    const ss = s2_ * s2_;
    const drop1 = product12 * (w3 * w3) * ss;
    const drop3 = product23 * (w1 * w1) * ss;
    let away1 = 1.0 - c2_;
    let away3 = 1.0 - d2;
    if (c2_ > 0.0) {
        away1 = first * ss / (1.0 + c2_);
    }
    if (d2 > 0.0) {
        away3 = third * ss / (1.0 + d2);
    }
    const away2 = away1 + away3 * c2_;
    const share = 1.0 / (c2_ * c2_ + drop1);
    const e1 = l1 + i1 * share * (w1 * (c2_ * away1 - drop1) + g1 * w2 * w3 * s2_ * d2);
    const e2 = l2 + i2 * share * (g1 * g3 * ss * (w2 * w2) * w2 - away2 * w2 + g2 * w1 * w3 * s2_);
    const e3 = l3 + i3 * share * (w3 * (d2 * away3 - drop3) + g3 * w1 * w2 * s2_ * c2_);
    // The rotation.
    const u1 = over * l1;
    const u2 = over * l2;
    u3 = over * l3;
    const v1 = over * e1;
    const v2 = over * e2;
    const v3 = over * e3;
    const real0 = real * (1.0 + ((u1 * v1 + u2 * v2) + u3 * v3));
    const axis_x = real * (v2 * u3 - v3 * u2) + imaginary * (u1 + v1);
    const axis_y = real * (v3 * u1 - v1 * u3) + imaginary * (u2 + v2);
    const axis_z = real * (v1 * u2 - v2 * u1) + imaginary * (u3 + v3);
    // back_in_place(body, axis)
    let a_6 = axis_x;
    let b_5 = axis_y;
    let c_8 = axis_z;
    if (body.gyroscopic.y * body.gyroscopic.z >= 0.0) {
        a_6 = axis_y;
        b_5 = axis_z;
        c_8 = axis_x;
    }
    if (body.gyroscopic.x * body.gyroscopic.y >= 0.0) {
        a_6 = axis_z;
        b_5 = axis_x;
        c_8 = axis_y;
    }
    if (body.gyroscopic.x * body.gyroscopic.z >= 0.0) {
        a_6 = axis_x;
        b_5 = axis_y;
        c_8 = axis_z;
    }
    const qx = a_6;
    const qy = b_5;
    const qz = c_8;
    // normalise((real0, qx, qy, qz))
    // scaled(1.0 / sqrt(norm_squared(q)), q)
    const s_4 = 1.0 / Math.sqrt(real0 * real0 + qx * qx + qy * qy + qz * qz);
    // back_in_place(body, (e1, e2, e3))
    let a_7 = e1;
    let b_6 = e2;
    let c_9 = e3;
    if (body.gyroscopic.y * body.gyroscopic.z >= 0.0) {
        a_7 = e2;
        b_6 = e3;
        c_9 = e1;
    }
    if (body.gyroscopic.x * body.gyroscopic.y >= 0.0) {
        a_7 = e3;
        b_6 = e1;
        c_9 = e2;
    }
    if (body.gyroscopic.x * body.gyroscopic.z >= 0.0) {
        a_7 = e1;
        b_6 = e2;
        c_9 = e3;
    }
    out[0] = s_4 * real0;
    out[1] = s_4 * qx;
    out[2] = s_4 * qy;
    out[3] = s_4 * qz;
    out[4] = a_7;
    out[5] = b_6;
    out[6] = c_9;
}

/**
 * methods/exact_rotor.py, before_torque. The first part of a step, and the q and omega at which the torque is
 * needed.
 * @param {State} state
 * @param {Inertia} body
 * @param {number} dt
 * @returns {Wanted}
 */
export function before_torque(state, body, dt) {
    let q_w = state.q.w, q_x = state.q.x, q_y = state.q.y, q_z = state.q.z;
    let momentum_x = state.momentum.x, momentum_y = state.momentum.y, momentum_z = state.momentum.z;
    const torque_x = state.torque.x, torque_y = state.torque.y, torque_z = state.torque.z;
    // splitting.kick(momentum, torque, 0.5 * dt)
    // axpy(dt, torque, momentum)
    const s = 0.5 * dt;
    // moved(q, splitting.kick(momentum, torque, 0.5 * dt), body, dt)
    let momentum_2_x = s * torque_x + momentum_x;
    let momentum_2_y = s * torque_y + momentum_y;
    let momentum_2_z = s * torque_z + momentum_z;
    free_motion(momentum_2_x, momentum_2_y, momentum_2_z, body, dt);
    const turn_w = out[0], turn_x = out[1], turn_y = out[2], turn_z = out[3];
    momentum_2_x = out[4];
    momentum_2_y = out[5];
    momentum_2_z = out[6];
    const next_q_x = q_w * turn_x + q_x * turn_w + q_y * turn_z - q_z * turn_y;
    const next_q_y = q_w * turn_y - q_x * turn_z + q_y * turn_w + q_z * turn_x;
    const next_q_z = q_w * turn_z + q_x * turn_y - q_y * turn_x + q_z * turn_w;
    q_w = q_w * turn_w - q_x * turn_x - q_y * turn_y - q_z * turn_z;
    q_x = next_q_x;
    q_y = next_q_y;
    q_z = next_q_z;
    momentum_x = momentum_2_x;
    momentum_y = momentum_2_y;
    momentum_z = momentum_2_z;
    // splitting.kick(momentum, torque, 0.5 * dt)
    // axpy(dt, torque, momentum)
    const s_2 = 0.5 * dt;
    return {
        state: {
            q: { w: q_w, x: q_x, y: q_y, z: q_z },
            momentum: { x: momentum_x, y: momentum_y, z: momentum_z },
            torque: { x: torque_x, y: torque_y, z: torque_z }
        },
        q: { w: q_w, x: q_x, y: q_y, z: q_z },
        omega: {
            x: body.reciprocals.x * (s_2 * torque_x + momentum_x),
            y: body.reciprocals.y * (s_2 * torque_y + momentum_y),
            z: body.reciprocals.z * (s_2 * torque_z + momentum_z)
        }
    };
}

/**
 * methods/splitting.py, after_torque. The rest of a step, given the torque in the body frame.
 * @param {State} state
 * @param {Vec3} torque
 * @param {Inertia} body
 * @param {number} dt
 * @returns {State}
 */
export function after_torque(state, torque, body, dt) {
    // kick(state[4:7], torque, 0.5 * dt)
    // axpy(dt, torque, momentum)
    const s = 0.5 * dt;
    return {
        q: state.q,
        momentum: {
            x: s * torque.x + state.momentum.x, y: s * torque.y + state.momentum.y, z: s * torque.z + state.momentum.z
        },
        torque
    };
}

/**
 * methods/splitting.py, read. q and omega (body frame) at the whole time.
 * @param {State} state
 * @param {Vec3} torque
 * @param {Inertia} body
 * @param {number} dt
 * @returns {Reading}
 */
export function read(state, torque, body, dt) {
    return {
        q: state.q,
        omega: {
            x: body.reciprocals.x * state.momentum.x,
            y: body.reciprocals.y * state.momentum.y,
            z: body.reciprocals.z * state.momentum.z
        }
    };
}

/**
 * methods/splitting.py, stored. The angular velocity (body frame) that the method carries.
 * @param {State} state
 * @param {Inertia} body
 * @param {number} dt
 * @returns {Vec3}
 */
export function stored(state, body, dt) {
    return {
        x: body.reciprocals.x * state.momentum.x,
        y: body.reciprocals.y * state.momentum.y,
        z: body.reciprocals.z * state.momentum.z
    };
}

/**
 * q and omega after so many steps from those at t = 0. A program with a loop of its own calls the parts of a
 * step in this order.
 * @param {Quat} q
 * @param {Vec3} omega
 * @param {Inertia} body
 * @param {Torque} torque
 * @param {any} parameters
 * @param {number} dt
 * @param {number} steps
 * @returns {Reading}
 */
export function run(q, omega, body, torque, parameters, dt, steps) {
    let q_w = q.w, q_x = q.x, q_y = q.y, q_z = q.z;
    let omega_x = omega.x, omega_y = omega.y, omega_z = omega.z;
    const moment = torque(0.0, { w: q_w, x: q_x, y: q_y, z: q_z }, { x: omega_x, y: omega_y, z: omega_z }, parameters);
    let state_q_w = q_w;
    let state_q_x = q_x;
    let state_q_y = q_y;
    let state_q_z = q_z;
    let state_momentum_x = body.moments.x * omega_x;
    let state_momentum_y = body.moments.y * omega_y;
    let state_momentum_z = body.moments.z * omega_z;
    let state_torque_x = moment.x;
    let state_torque_y = moment.y;
    let state_torque_z = moment.z;
    for (let n = 0; n < steps; n++) {
        // before_torque(state, body, dt)
        let q_2_w = state_q_w, q_2_x = state_q_x, q_2_y = state_q_y, q_2_z = state_q_z;
        let momentum_x = state_momentum_x, momentum_y = state_momentum_y, momentum_z = state_momentum_z;
        const torque_x = state_torque_x, torque_y = state_torque_y, torque_z = state_torque_z;
        // splitting.kick(momentum, torque, 0.5 * dt)
        // axpy(dt, torque, momentum)
        const s = 0.5 * dt;
        // moved(q, splitting.kick(momentum, torque, 0.5 * dt), body, dt)
        let momentum_2_x = s * torque_x + momentum_x;
        let momentum_2_y = s * torque_y + momentum_y;
        let momentum_2_z = s * torque_z + momentum_z;
        free_motion(momentum_2_x, momentum_2_y, momentum_2_z, body, dt);
        const turn_w = out[0], turn_x = out[1], turn_y = out[2], turn_z = out[3];
        momentum_2_x = out[4];
        momentum_2_y = out[5];
        momentum_2_z = out[6];
        const next_q_2_x = q_2_w * turn_x + q_2_x * turn_w + q_2_y * turn_z - q_2_z * turn_y;
        const next_q_2_y = q_2_w * turn_y - q_2_x * turn_z + q_2_y * turn_w + q_2_z * turn_x;
        const next_q_2_z = q_2_w * turn_z + q_2_x * turn_y - q_2_y * turn_x + q_2_z * turn_w;
        q_2_w = q_2_w * turn_w - q_2_x * turn_x - q_2_y * turn_y - q_2_z * turn_z;
        q_2_x = next_q_2_x;
        q_2_y = next_q_2_y;
        q_2_z = next_q_2_z;
        momentum_x = momentum_2_x;
        momentum_y = momentum_2_y;
        momentum_z = momentum_2_z;
        // splitting.kick(momentum, torque, 0.5 * dt)
        // axpy(dt, torque, momentum)
        const s_2 = 0.5 * dt;
        state_q_w = q_2_w;
        state_q_x = q_2_x;
        state_q_y = q_2_y;
        state_q_z = q_2_z;
        state_momentum_x = momentum_x;
        state_momentum_y = momentum_y;
        state_momentum_z = momentum_z;
        state_torque_x = torque_x;
        state_torque_y = torque_y;
        state_torque_z = torque_z;
        q_w = q_2_w;
        q_x = q_2_x;
        q_y = q_2_y;
        q_z = q_2_z;
        omega_x = body.reciprocals.x * (s_2 * torque_x + momentum_x);
        omega_y = body.reciprocals.y * (s_2 * torque_y + momentum_y);
        omega_z = body.reciprocals.z * (s_2 * torque_z + momentum_z);
        const moment2 = torque(
            (n + 1.0) * dt, { w: q_w, x: q_x, y: q_y, z: q_z }, { x: omega_x, y: omega_y, z: omega_z }, parameters
        );
        const moment_x = moment2.x, moment_y = moment2.y, moment_z = moment2.z;
        // after_torque(state, moment, body, dt)
        // kick(state[4:7], torque, 0.5 * dt)
        // axpy(dt, torque, momentum)
        const s_3 = 0.5 * dt;
        state_momentum_x = s_3 * moment_x + state_momentum_x;
        state_momentum_y = s_3 * moment_y + state_momentum_y;
        state_momentum_z = s_3 * moment_z + state_momentum_z;
        state_torque_x = moment_x;
        state_torque_y = moment_y;
        state_torque_z = moment_z;
    }
    return {
        q: { w: state_q_w, x: state_q_x, y: state_q_y, z: state_q_z },
        omega: {
            x: body.reciprocals.x * state_momentum_x,
            y: body.reciprocals.y * state_momentum_y,
            z: body.reciprocals.z * state_momentum_z
        }
    };
}

/**
 * A torque (3,) N m that grows with time, turns with the body and resists its rotation.
 * @param {number} t
 * @param {Quat} q
 * @param {Vec3} omega
 * @param {any} parameters
 * @returns {Vec3}
 */
function test_torque(t, q, omega, parameters) {
    const q0 = q.w;
    const qx = q.x;
    const qy = q.y;
    const qz = q.z;
    const x = omega.x;
    const y = omega.y;
    const z = omega.z;
    return {
        x: 0.5 - 0.25 * t + 0.75 * (qy * qz + q0 * qx) - 0.125 * x,
        y: 0.25 * t - 0.75 * (qx * qz - q0 * qy) - 0.125 * y,
        z: 0.5 * (q0 * q0 + qz * qz) - 0.25 - 0.125 * z
    };
}

/** Repeat a run of polhode: print the numbers of its end and ok, or throw an error. */
export function test() {
    const expected = [
        -0.08796169045840492,
        0.65656287387879,
        0.7290786895992662,
        0.1721400535260172,
        1.410985430103972,
        0.8310474404424051,
        0.9075116976230454,
    ];
    const body = inertia_of({ x: 1.0, y: 1.7, z: 2.3 });
    const end = run(
        { w: 0.5, x: -0.1, y: 0.7, z: 0.5 }, { x: 0.9, y: -0.7, z: 1.1 }, body, test_torque, null, 0.0625, 20
    );
    const numbers = [end.q.w, end.q.x, end.q.y, end.q.z, end.omega.x, end.omega.y, end.omega.z];
    numbers.forEach((x) => console.log(x));
    const largest = Math.max(...numbers.map((x, i) => Math.abs(x - expected[i])));
    if (!(largest <= 1e-12)) {
        throw new Error(`differs by ${largest}`);
    }
    console.log("ok");
}
