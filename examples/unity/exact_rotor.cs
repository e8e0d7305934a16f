// exact rotor: a step of the rotation of a rigid body, in C#.
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
// run shows a run, with body = inertia_of(moments). All numbers are double; they have the bits of polhode. A torque
// is a lambda (t, q, omega) => ..., which has its parameters in itself. A test, which prints ok: ExactRotor.test(),
// or alone, with Mono: mcs -define:POLHODE_MAIN exact_rotor.cs && mono exact_rotor.exe
//
// q takes body to lab; omega, torque and moments are in the body frame along the principal axes; units are SI or
// any others that fit together.
// Generated from the kernels of exact_rotor by polhode 0.1.0. SPDX-License-Identifier: BSD-3-Clause

using System;
using System.Globalization;

public static class ExactRotor
{
    // Hamilton's, scalar first, from body to lab.
    public struct Quat
    {
        public double w;
        public double x;
        public double y;
        public double z;

        public Quat(double w, double x, double y, double z)
        {
            this.w = w;
            this.x = x;
            this.y = y;
            this.z = z;
        }
    }

    // Components along x, y, z.
    public struct Vec3
    {
        public double x;
        public double y;
        public double z;

        public Vec3(double x, double y, double z)
        {
            this.x = x;
            this.y = y;
            this.z = z;
        }
    }

    // Ix, Iy, Iz; 1/Ix, 1/Iy, 1/Iz; (Iy - Iz)/Ix, (Iz - Ix)/Iy, (Ix - Iy)/Iz: see inertia_of.
    public struct Inertia
    {
        public Vec3 moments;
        public Vec3 reciprocals;
        public Vec3 gyroscopic;

        public Inertia(Vec3 moments, Vec3 reciprocals, Vec3 gyroscopic)
        {
            this.moments = moments;
            this.reciprocals = reciprocals;
            this.gyroscopic = gyroscopic;
        }
    }

    // The torque in the body frame at the time t.
    public delegate Vec3 Torque(double t, Quat q, Vec3 omega);

    // What exact rotor carries from step to step.
    public struct State
    {
        public Quat q;
        public Vec3 momentum;
        public Vec3 torque;

        public State(Quat q, Vec3 momentum, Vec3 torque)
        {
            this.q = q;
            this.momentum = momentum;
            this.torque = torque;
        }
    }

    public struct LandenResult
    {
        public double lower;
        public double complement;
        public double lower_n;
        public double root2;

        public LandenResult(double lower, double complement, double lower_n, double root2)
        {
            this.lower = lower;
            this.complement = complement;
            this.lower_n = lower_n;
            this.root2 = root2;
        }
    }

    public struct CosSincSeriesResult
    {
        public double c;
        public double s;

        public CosSincSeriesResult(double c, double s)
        {
            this.c = c;
            this.s = s;
        }
    }

    public struct CosSincResult
    {
        public double cosine;
        public double sinc;

        public CosSincResult(double cosine, double sinc)
        {
            this.cosine = cosine;
            this.sinc = sinc;
        }
    }

    public struct HalfStepLast
    {
        public double x;
        public double x2;

        public HalfStepLast(double x, double x2)
        {
            this.x = x;
            this.x2 = x2;
        }
    }

    public struct HalfStepV
    {
        public double x;
        public double y;

        public HalfStepV(double x, double y)
        {
            this.x = x;
            this.y = y;
        }
    }

    public struct HalfStepResult
    {
        public Vec3 functions;
        public HalfStepV v;
        public double turn;

        public HalfStepResult(Vec3 functions, HalfStepV v, double turn)
        {
            this.functions = functions;
            this.v = v;
            this.turn = turn;
        }
    }

    public struct FreeMotionResult
    {
        public Quat turn;
        public Vec3 momentum;

        public FreeMotionResult(Quat turn, Vec3 momentum)
        {
            this.turn = turn;
            this.momentum = momentum;
        }
    }

    public struct MovedResult
    {
        public Quat q;
        public Vec3 momentum;

        public MovedResult(Quat q, Vec3 momentum)
        {
            this.q = q;
            this.momentum = momentum;
        }
    }

    public struct Wanted
    {
        public State state;
        public Quat q;
        public Vec3 omega;

        public Wanted(State state, Quat q, Vec3 omega)
        {
            this.state = state;
            this.q = q;
            this.omega = omega;
        }
    }

    public struct Reading
    {
        public Quat q;
        public Vec3 omega;

        public Reading(Quat q, Vec3 omega)
        {
            this.q = q;
            this.omega = omega;
        }
    }

    const double TINY = 1e-300;
    const double SMALLEST = 1e-16;
    const double HALF_PI_SQUARED = 2.4674011002723395;
    const double ONE_OVER_PI = 0.3183098861837907;
    const double ROUND = 6755399441055744.0;
    const double PI_HIGH = 3.1415926534682512;
    const double PI_LOW = 1.2154201013012384e-10;
    const double C0 = 1.0;
    const double C1 = -0.4999999999999997;
    const double C2 = 0.04166666666666388;
    const double C3 = -0.001388888888877299;
    const double C4 = 2.4801587277414923e-05;
    const double C5 = -2.755731639102574e-07;
    const double C6 = 2.0876561839932584e-09;
    const double C7 = -1.1462901901741764e-11;
    const double C8 = 4.60897700283419e-14;
    const double S0 = 1.0;
    const double S1 = -0.16666666666666666;
    const double S2 = 0.008333333333333186;
    const double S3 = -0.00019841269841208676;
    const double S4 = 2.7557319211229606e-06;
    const double S5 = -2.5052106890569513e-08;
    const double S6 = 1.6058940878486252e-10;
    const double S7 = -7.643026557963443e-13;
    const double S8 = 2.7215749422098424e-15;

    // algebra/body.py, coefficients_of. The numbers of a body that the kernels read, from its principal moments:
    // Body.coefficients.
    //
    // moments (3,) in kg m^2 -> nine numbers: three moments, three inverses (1/(kg m^2)), three ratios.
    public static Inertia inertia_of(Vec3 moments)
    {
        double x = moments.x;
        double y = moments.y;
        double z = moments.z;
        return new Inertia(
            new Vec3(x, y, z), new Vec3(1.0 / x, 1.0 / y, 1.0 / z), new Vec3((y - z) / x, (z - x) / y, (x - y) / z)
        );
    }

    // algebra/body.py, angular_momentum. I omega, in the body frame. omega (3,) in rad/s -> (3,) in N m s.
    //
    // body has the numbers of Body.coefficients.
    static Vec3 angular_momentum(Vec3 omega, Inertia body)
    {
        return new Vec3(body.moments.x * omega.x, body.moments.y * omega.y, body.moments.z * omega.z);
    }

    // methods/splitting.py, start. The state from which the first step begins.
    public static State start(Quat q, Vec3 omega, Vec3 torque, Inertia body, double dt)
    {
        return new State(q, angular_momentum(omega, body), torque);
    }

    // algebra/vector.py, axpy. The vector s a + b (3,), in the unit of b, which s a must have, too.
    static Vec3 axpy(double s, Vec3 a, Vec3 b)
    {
        return new Vec3(s * a.x + b.x, s * a.y + b.y, s * a.z + b.z);
    }

    // methods/splitting.py, kick. The momentum Pi (3,), N m s in the body frame, after dt (s) under a constant torque
    // (3,), N m in the body frame.
    static Vec3 kick(Vec3 momentum, Vec3 torque, double dt)
    {
        return axpy(dt, torque, momentum);
    }

    // methods/free_top.py, middle_second. The three numbers v (3,) of the axes x, y, z in the cyclic order in which the
    // second axis of body has the middle moment.
    static Vec3 middle_second(Inertia body, Vec3 v)
    {
        // The middle axis is the one whose two partners have gyroscopic coefficients of equal sign.
        double a = v.x;
        double b = v.y;
        double c = v.z;
        if (body.gyroscopic.y * body.gyroscopic.z >= 0.0) {
            a = v.z;
            b = v.x;
            c = v.y;
        }
        if (body.gyroscopic.x * body.gyroscopic.y >= 0.0) {
            a = v.y;
            b = v.z;
            c = v.x;
        }
        if (body.gyroscopic.x * body.gyroscopic.z >= 0.0) {
            a = v.x;
            b = v.y;
            c = v.z;
        }
        return new Vec3(a, b, c);
    }

    // methods/free_top.py, landen. One Landen step down: k_{j+1}, its complement k_{j+1}', n_{j+1} and sqrt(1 + n_j),
    // numbers without a unit.
    //
    // k, complement and n are k_j, k_j' = sqrt(1 - k_j^2) and n_j.
    static LandenResult landen(double k, double complement, double n)
    {
        double inverse = 1.0 / (1.0 + complement);
        double ratio = k * inverse;
        double lower = ratio * ratio;
        double stretch = (1.0 + lower) * (1.0 + lower) * n;
        double lower_n = 2.0 * lower * lower
            / ((2.0 * lower + stretch) + Math.Sqrt(stretch * (4.0 * lower + stretch) + TINY));
        return new LandenResult(lower, 2.0 * Math.Sqrt(complement) * inverse, lower_n, Math.Sqrt(1.0 + n));
    }

    // algebra/quaternion.py, cos_sinc_series. cos(a) and sin(a)/a, dimensionless, of an angle a from 0 to pi/2 rad,
    // given its square y.
    static CosSincSeriesResult cos_sinc_series(double y)
    {
        double y2 = y * y;
        double y4 = y2 * y2;
        // Estrin's scheme: short dependency chains, on which successive steps have to wait.
        double c = (C0 + C1 * y) + y2 * (C2 + C3 * y) + y4 * ((C4 + C5 * y) + y2 * (C6 + C7 * y) + y4 * C8);
        double s = (S0 + S1 * y) + y2 * (S2 + S3 * y) + y4 * ((S4 + S5 * y) + y2 * (S6 + S7 * y) + y4 * S8);
        return new CosSincSeriesResult(c, s);
    }

    // algebra/quaternion.py, cos_sinc. cos(a) and sin(a)/a of the angle a = sqrt(x) >= 0, given its square. x in rad^2;
    // two numbers without a unit.
    //
    // A rotation vector gives the square without a root, and needs sin(a)/a, which avoids a division by zero. The branch
    // contains only plain arithmetic, so it costs nothing where it is not taken and vectorises in lanes.
    static CosSincResult cos_sinc(double x)
    {
        double y = x;
        double sign = 1.0;
        double ratio = 1.0;
        if (x > HALF_PI_SQUARED) {
            double a = Math.Sqrt(x);
            double k = (a * ONE_OVER_PI + ROUND) - ROUND;
            double r = (a - k * PI_HIGH) - k * PI_LOW;
            double odd = k - 2.0 * ((0.5 * k + ROUND) - ROUND);
            y = r * r;
            sign = 1.0 - 2.0 * odd * odd;
            ratio = sign * (r / a);
        }
        CosSincSeriesResult cos_sinc_series_out = cos_sinc_series(y);
        double c = cos_sinc_series_out.c;
        double s = cos_sinc_series_out.s;
        return new CosSincResult(sign * c, ratio * s);
    }

    // methods/free_top.py, turned. The arc Theta of the level above: (real part, imaginary part) of a unit complex
    // number, times a factor, and a number of turns, which multiplies the last argument.
    //
    // Parameters
    // ----------
    // arc : (real part, imaginary part, turns) of Theta on this level
    // functions, last : (sn/p, cn, dn) on this level, sn/p in s; (sin, cos) on the last
    // p : in 1/s
    // k, root, stretch : of this level: the modulus, sqrt(1 + n of the level above), z of the level above over the last
    //     z
    static Vec3 turned(Vec3 arc, Vec3 functions, HalfStepLast last, double p, double k, double root, double stretch)
    {
        double x = arc.x;
        double y = arc.y;
        double turns = arc.z;
        double s = functions.x;
        double c = functions.y;
        double d = functions.z;
        double sine = (1.0 + k) * root * p * s;
        double cosine = c * d;
        // Both angles without that of the last level: they agree where k has died out, and bit for bit.
        double real = cosine * last.x2 + sine * last.x;
        double imaginary = sine * last.x2 - cosine * last.x;
        double xx = x * x - y * y;
        double yy = 2.0 * x * y;
        return new Vec3(xx * real - yy * imaginary, -(xx * imaginary + yy * real), (root * stretch - 1.0) - 2.0 * turns);
    }

    // methods/free_top.py, ascended. The functions (sn/p, cn, dn) one Landen step up, sn/p in s, the others without a
    // unit.
    //
    // functions are the three of the modulus k at the smaller argument; squared is p^2 in 1/s^2.
    static Vec3 ascended(Vec3 functions, double k, double squared)
    {
        double s = functions.x;
        double c = functions.y;
        double d = functions.z;
        double bend = k * squared * s * s;
        double share = 1.0 / (1.0 + bend);
        return new Vec3((1.0 + k) * share * s, share * c * d, share * (1.0 - bend));
    }

    // methods/free_top.py, half_step. The functions and 2 Theta_1 at the time h.
    //
    // Parameters
    // ----------
    // squared, small, apart : p^2, k^2 p^2 and (1 - k^2) p^2, in 1/s^2
    // tilt : n_1/k_1, without a unit
    // h : half the step, s
    //
    // Returns
    // -------
    // (sn/p, cn, dn), sn/p in s; 2 Theta_1 as a complex number (real, imaginary), not of length one, and an angle (rad)
    //     that turns
    // it further.
    static HalfStepResult half_step(double squared, double small, double apart, double tilt, double h)
    {
        double p = Math.Sqrt(squared + TINY);
        double m = small / (squared + TINY);
        double other = (apart + TINY) / (squared + TINY);
        if (other < SMALLEST) {
            other = SMALLEST;
        }
        double complement0 = Math.Sqrt(other);
        double inverse = 1.0 / (1.0 + complement0);
        double k1 = m * inverse * inverse;
        double complement = 2.0 * Math.Sqrt(complement0) * inverse;
        LandenResult landen_out = landen(k1, complement, tilt * k1);
        double k2 = landen_out.lower;
        complement = landen_out.complement;
        double n = landen_out.lower_n;
        double root2 = landen_out.root2;
        LandenResult landen_out2 = landen(k2, complement, n);
        double k3 = landen_out2.lower;
        complement = landen_out2.complement;
        n = landen_out2.lower_n;
        double root3 = landen_out2.root2;
        LandenResult landen_out3 = landen(k3, complement, n);
        double k4 = landen_out3.lower;
        complement = landen_out3.complement;
        n = landen_out3.lower_n;
        double root4 = landen_out3.root2;
        LandenResult landen_out4 = landen(k4, complement, n);
        double k5 = landen_out4.lower;
        complement = landen_out4.complement;
        n = landen_out4.lower_n;
        double root5 = landen_out4.root2;
        LandenResult landen_out5 = landen(k5, complement, n);
        double k6 = landen_out5.lower;
        complement = landen_out5.complement;
        n = landen_out5.lower_n;
        double root6 = landen_out5.root2;
        LandenResult landen_out6 = landen(k6, complement, n);
        double k7 = landen_out6.lower;
        complement = landen_out6.complement;
        n = landen_out6.lower_n;
        double root7 = landen_out6.root2;
        LandenResult landen_out7 = landen(k7, complement, n);
        double k8 = landen_out7.lower;
        complement = landen_out7.complement;
        n = landen_out7.lower_n;
        double root8 = landen_out7.root2;
        double z7 = 1.0 + k8;
        double z6 = (1.0 + k7) * z7;
        double z5 = (1.0 + k6) * z6;
        double z4 = (1.0 + k5) * z5;
        double z3 = (1.0 + k4) * z4;
        double z2 = (1.0 + k3) * z3;
        double z1 = (1.0 + k2) * z2;
        double time = h / ((1.0 + k1) * z1);
        double z = p * time;
        CosSincResult cos_sinc_out = cos_sinc(squared * time * time);
        double cosine = cos_sinc_out.cosine;
        double sinc = cos_sinc_out.sinc;
        Vec3 functions = new Vec3(time * sinc, cosine, 1.0);
        HalfStepLast last = new HalfStepLast(z * sinc, cosine);
        Vec3 arc = new Vec3(1.0, 0.0, 0.0);
        arc = turned(arc, functions, last, p, k8, root8, z7);
        functions = ascended(functions, k8, squared);
        arc = turned(arc, functions, last, p, k7, root7, z6);
        functions = ascended(functions, k7, squared);
        arc = turned(arc, functions, last, p, k6, root6, z5);
        functions = ascended(functions, k6, squared);
        arc = turned(arc, functions, last, p, k5, root5, z4);
        functions = ascended(functions, k5, squared);
        arc = turned(arc, functions, last, p, k4, root4, z3);
        functions = ascended(functions, k4, squared);
        arc = turned(arc, functions, last, p, k3, root3, z2);
        functions = ascended(functions, k3, squared);
        Vec3 turned_out = turned(arc, functions, last, p, k2, root2, z1);
        double x = turned_out.x;
        double y = turned_out.y;
        double turns = turned_out.z;
        functions = ascended(functions, k2, squared);
        functions = ascended(functions, k1, squared);
        return new HalfStepResult(functions, new HalfStepV(x * x - y * y, 2.0 * x * y), 2.0 * turns * z);
    }

    // methods/free_top.py, back_in_place. The inverse of middle_second: the three numbers v (3,) of the renamed axes of
    // body in the order x, y, z.
    static Vec3 back_in_place(Inertia body, Vec3 v)
    {
        double a = v.x;
        double b = v.y;
        double c = v.z;
        if (body.gyroscopic.y * body.gyroscopic.z >= 0.0) {
            a = v.y;
            b = v.z;
            c = v.x;
        }
        if (body.gyroscopic.x * body.gyroscopic.y >= 0.0) {
            a = v.z;
            b = v.x;
            c = v.y;
        }
        if (body.gyroscopic.x * body.gyroscopic.z >= 0.0) {
            a = v.x;
            b = v.y;
            c = v.z;
        }
        return new Vec3(a, b, c);
    }

    // algebra/quaternion.py, norm_squared. |q|^2, the sum of the squares of the four components. A number without a
    // unit.
    static double norm_squared(Quat q)
    {
        return q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    }

    // algebra/quaternion.py, scaled. The quaternion s q, each of the four components times s.
    static Quat scaled(double s, Quat q)
    {
        return new Quat(s * q.w, s * q.x, s * q.y, s * q.z);
    }

    // algebra/quaternion.py, normalise. q / |q|, the unit quaternion along a quaternion q (4,) other than zero.
    static Quat normalise(Quat q)
    {
        return scaled(1.0 / Math.Sqrt(norm_squared(q)), q);
    }

    // methods/free_top.py, free_motion. The motion of a free body for dt.
    //
    // Parameters
    // ----------
    // momentum : (3,) angular momentum in the body frame, kg m^2/s
    // body : nine coefficients of polhode.algebra.body.Body.coefficients
    // dt : s
    //
    // Returns
    // -------
    // The unit quaternion (4,) of the rotation (from the body axes at the end to those at the beginning), and the
    //     angular momentum
    // (3,) in the body frame at the end.
    static FreeMotionResult free_motion(Vec3 momentum, Inertia body, double dt)
    {
        Vec3 middle_second_out = middle_second(body, new Vec3(body.moments.x, body.moments.y, body.moments.z));
        double i1 = middle_second_out.x;
        double i2 = middle_second_out.y;
        double i3 = middle_second_out.z;
        Vec3 middle_second_out2 = middle_second(body, new Vec3(body.reciprocals.x, body.reciprocals.y, body.reciprocals.z));
        double r1 = middle_second_out2.x;
        double r2 = middle_second_out2.y;
        double r3 = middle_second_out2.z;
        Vec3 middle_second_out3 = middle_second(body, new Vec3(body.gyroscopic.x, body.gyroscopic.y, body.gyroscopic.z));
        double g1 = middle_second_out3.x;
        double g2 = middle_second_out3.y;
        double g3 = middle_second_out3.z;
        Vec3 middle_second_out4 = middle_second(body, momentum);
        double l1 = middle_second_out4.x;
        double l2 = middle_second_out4.y;
        double l3 = middle_second_out4.z;
        double w1 = r1 * l1;
        double w2 = r2 * l2;
        double w3 = r3 * l3;
        // How the square of omega_2 is shared between those of a_1 and a_3. A sphere may share as it likes, but not
        // nothing.
        double spread = i3 - i1;
        double share1 = 1.0;
        double share3 = 0.0;
        if (spread * spread > 0.0) {
            share1 = (i3 - i2) / spread;
            share3 = (i2 - i1) / spread;
        }
        double largest1 = w1 * w1 + share1 * i2 * r1 * (w2 * w2);
        double largest3 = w3 * w3 + share3 * i2 * r3 * (w2 * w2);
        double product12 = -g1 * g2;
        double product23 = -g2 * g3;
        double first = product12 * largest3;
        double third = product23 * largest1;
        double apart = g2 * (g3 * (w1 * w1) - g1 * (w3 * w3));
        // The axis about which the momentum circulates takes the place of axis 3.
        double squared = first;
        double small = third;
        double a1 = largest1;
        double a3 = largest3;
        double m1 = i1;
        double m3 = i3;
        double side = 1.0;
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
        double length2 = (l1 * l1 + l2 * l2) + l3 * l3;
        double length = Math.Sqrt(length2 + TINY);
        double omega3 = Math.Sqrt(a3 + TINY);
        double pi3 = m3 * omega3;
        double whole = 1.0 / (length + pi3);
        double h = 0.5 * dt;
        HalfStepResult half_step_out = half_step(squared, small, apart, m1 * m1 * a1 * (whole * whole), h);
        double s = half_step_out.functions.x;
        double c = half_step_out.functions.y;
        double d = half_step_out.functions.z;
        double x = half_step_out.v.x;
        double y = half_step_out.v.y;
        double turn = half_step_out.turn;
        // eta
        double over = 1.0 / length;
        double u3 = over * pi3 * d;
        double corner = over * over * m1 * m1 * a1 * (c * c) + u3 * (u3 + 1.0);
        double cross = over * over * m1 * a1 * c * ((m3 - m1) * omega3 * s);
        double sense = 1.0;
        if (m3 < m1) {
            sense = -1.0;
        }
        double angle = h * ((w1 * l1 + w2 * l2) + w3 * l3 + length * omega3) * whole + sense * turn;
        y = sense * y;
        double real = x * corner - y * cross;
        double imaginary = y * corner + x * cross;
        CosSincResult cos_sinc_out = cos_sinc(angle * angle);
        double cosine = cos_sinc_out.cosine;
        double sinc = cos_sinc_out.sinc;
        double sine = angle * sinc;
        double next_real = real * cosine - imaginary * sine;
        double next_imaginary = real * sine + imaginary * cosine;
        real = next_real;
        imaginary = next_imaginary;
        // The functions of the whole step, and the angular velocity at its end.
        double double_ = 1.0 / (c * c + squared * s * s * (d * d));
        double s2 = 2.0 * s * c * d * double_;
        double c2 = (c * c - squared * s * s * (d * d)) * double_;
        double d2 = (d * d - small * s * s * (c * c)) * double_;
        if (first < third) {
            double next_c2 = d2;
            double next_d2 = c2;
            c2 = next_c2;
            d2 = next_d2;
        }
        // The differences from the beginning, so that rounding does not accumulate where steps are short.
        double ss = s2 * s2;
        double drop1 = product12 * (w3 * w3) * ss;
        double drop3 = product23 * (w1 * w1) * ss;
        double away1 = 1.0 - c2;
        double away3 = 1.0 - d2;
        if (c2 > 0.0) {
            away1 = first * ss / (1.0 + c2);
        }
        if (d2 > 0.0) {
            away3 = third * ss / (1.0 + d2);
        }
        double away2 = away1 + away3 * c2;
        double share = 1.0 / (c2 * c2 + drop1);
        double e1 = l1 + i1 * share * (w1 * (c2 * away1 - drop1) + g1 * w2 * w3 * s2 * d2);
        double e2 = l2 + i2 * share * (g1 * g3 * ss * (w2 * w2) * w2 - away2 * w2 + g2 * w1 * w3 * s2);
        double e3 = l3 + i3 * share * (w3 * (d2 * away3 - drop3) + g3 * w1 * w2 * s2 * c2);
        // The rotation.
        double u1 = over * l1;
        double u2 = over * l2;
        u3 = over * l3;
        double v1 = over * e1;
        double v2 = over * e2;
        double v3 = over * e3;
        double real0 = real * (1.0 + ((u1 * v1 + u2 * v2) + u3 * v3));
        Vec3 axis = new Vec3(
            real * (v2 * u3 - v3 * u2) + imaginary * (u1 + v1),
            real * (v3 * u1 - v1 * u3) + imaginary * (u2 + v2),
            real * (v1 * u2 - v2 * u1) + imaginary * (u3 + v3)
        );
        Vec3 back_in_place_out = back_in_place(body, axis);
        double qx = back_in_place_out.x;
        double qy = back_in_place_out.y;
        double qz = back_in_place_out.z;
        return new FreeMotionResult(normalise(new Quat(real0, qx, qy, qz)), back_in_place(body, new Vec3(e1, e2, e3)));
    }

    // algebra/quaternion.py, multiply. Hamilton's product p q of two quaternions (4,), scalar first.
    static Quat multiply(Quat p, Quat q)
    {
        return new Quat(
            p.w * q.w - p.x * q.x - p.y * q.y - p.z * q.z,
            p.w * q.x + p.x * q.w + p.y * q.z - p.z * q.y,
            p.w * q.y - p.x * q.z + p.y * q.w + p.z * q.x,
            p.w * q.z + p.x * q.y - p.y * q.x + p.z * q.w
        );
    }

    // methods/free_top.py, moved. q (4,), body to lab, and the angular momentum (3,), N m s in the body frame, after
    // free motion for dt (s).
    static MovedResult moved(Quat q, Vec3 momentum, Inertia body, double dt)
    {
        FreeMotionResult free_motion_out = free_motion(momentum, body, dt);
        Quat turn = free_motion_out.turn;
        momentum = free_motion_out.momentum;
        return new MovedResult(multiply(q, turn), momentum);
    }

    // algebra/body.py, angular_velocity. I^-1 L, in the body frame. momentum (3,) in N m s -> (3,) in rad/s.
    //
    // body has the numbers of Body.coefficients.
    static Vec3 angular_velocity(Vec3 momentum, Inertia body)
    {
        return new Vec3(body.reciprocals.x * momentum.x, body.reciprocals.y * momentum.y, body.reciprocals.z * momentum.z);
    }

    // methods/exact_rotor.py, before_torque. The first part of a step, and the q and omega at which the torque is
    // needed.
    public static Wanted before_torque(State state, Inertia body, double dt)
    {
        Quat q = state.q;
        Vec3 momentum = state.momentum;
        Vec3 torque = state.torque;
        MovedResult moved_out = moved(q, kick(momentum, torque, 0.5 * dt), body, dt);
        q = moved_out.q;
        momentum = moved_out.momentum;
        return new Wanted(new State(q, momentum, torque), q, angular_velocity(kick(momentum, torque, 0.5 * dt), body));
    }

    // methods/splitting.py, after_torque. The rest of a step, given the torque in the body frame.
    public static State after_torque(State state, Vec3 torque, Inertia body, double dt)
    {
        return new State(state.q, kick(state.momentum, torque, 0.5 * dt), torque);
    }

    // methods/splitting.py, read. q and omega (body frame) at the whole time.
    public static Reading read(State state, Vec3 torque, Inertia body, double dt)
    {
        return new Reading(state.q, angular_velocity(state.momentum, body));
    }

    // methods/splitting.py, stored. The angular velocity (body frame) that the method carries.
    public static Vec3 stored(State state, Inertia body, double dt)
    {
        return angular_velocity(state.momentum, body);
    }

    // q and omega after so many steps from those at t = 0. A program with a loop of its own calls the parts of a
    // step in this order.
    public static Reading run(Quat q, Vec3 omega, Inertia body, Torque torque, double dt, long steps)
    {
        State state = start(q, omega, torque(0.0, q, omega), body, dt);
        for (long n = 0; n < steps; n++) {
            Wanted before_torque_out = before_torque(state, body, dt);
            state = before_torque_out.state;
            q = before_torque_out.q;
            omega = before_torque_out.omega;
            Vec3 moment = torque(((double)n + 1.0) * dt, q, omega);
            state = after_torque(state, moment, body, dt);
        }
        return read(state, new Vec3(0.0, 0.0, 0.0), body, dt);
    }

    // A torque (3,) N m that grows with time, turns with the body and resists its rotation.
    static Vec3 test_torque(double t, Quat q, Vec3 omega)
    {
        double q0 = q.w;
        double qx = q.x;
        double qy = q.y;
        double qz = q.z;
        double x = omega.x;
        double y = omega.y;
        double z = omega.z;
        return new Vec3(
            0.5 - 0.25 * t + 0.75 * (qy * qz + q0 * qx) - 0.125 * x,
            0.25 * t - 0.75 * (qx * qz - q0 * qy) - 0.125 * y,
            0.5 * (q0 * q0 + qz * qz) - 0.25 - 0.125 * z
        );
    }

    // Repeat a run of polhode: print the numbers of its end and ok, or throw an exception.
    public static void test()
    {
        double[] expected = {
            -0.08796169045840492,
            0.65656287387879,
            0.7290786895992662,
            0.1721400535260172,
            1.410985430103972,
            0.8310474404424051,
            0.9075116976230454,
        };
        Inertia body = inertia_of(new Vec3(1.0, 1.7, 2.3));
        Reading end = run(new Quat(0.5, -0.1, 0.7, 0.5), new Vec3(0.9, -0.7, 1.1), body, test_torque, 0.0625, 20);
        double[] numbers = {end.q.w, end.q.x, end.q.y, end.q.z, end.omega.x, end.omega.y, end.omega.z};
        double largest = 0.0;
        for (int i = 0; i < 7; i++) {
            Console.WriteLine(numbers[i].ToString("R", CultureInfo.InvariantCulture));
            largest = Math.Max(largest, Math.Abs(numbers[i] - expected[i]));
        }
        if (!(largest <= 1e-12)) {
            throw new Exception("differs by " + largest.ToString("R", CultureInfo.InvariantCulture));
        }
        Console.WriteLine("ok");
    }

#if POLHODE_MAIN
    static void Main()
    {
        test();
    }
#endif
}
