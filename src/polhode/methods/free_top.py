r"""The exact motion of a free rigid body over one step, in plain arithmetic: for splittings that treat it exactly.

Van Zon and Schofield (2007) and Celledoni et al. (2008) write the motion with Jacobi's elliptic functions and an integral of
the third kind. This module has the solution in another form, ours, which needs neither the phase of the motion nor a case for
each kind of motion, and remains regular for symmetric tops, spheres and bodies at rest.

**Angular velocity.** The axes are renamed cyclically so that axis 2 has the middle moment. With the gyroscopic coefficients
g1 = (I2 - I3)/I1 and so on, the addition theorem of Jacobi's functions becomes

.. math::

   \omega_1(t) = \frac{\omega_1 C + g_1 \omega_2 \omega_3\, \sigma D}{\Delta}, \quad
   \omega_2(t) = \frac{\omega_2 C D + g_2 \omega_1 \omega_3\, \sigma}{\Delta}, \quad
   \omega_3(t) = \frac{\omega_3 D + g_3 \omega_1 \omega_2\, \sigma C}{\Delta}, \quad
   \Delta = C^2 - g_1 g_2 \omega_3^2 \sigma^2

with functions of the time and of the two invariants

.. math::

   C^2 = 1 - P \sigma^2, \quad D^2 = 1 - M \sigma^2, \quad
   P = -g_1 g_2 \omega_3^2 + g_1 g_3 \omega_2^2, \quad M = -g_2 g_3 \omega_1^2 + g_1 g_3 \omega_2^2

which are sums of terms that are not negative. For P > M they are sigma = sn(pt)/p, C = cn(pt), D = dn(pt) of parameter M/P,
p^2 = P; otherwise C and D, P and M change places. Where P = M is the separatrix.

**Orientation.** If Pi and Pi' are the angular momenta in the body at both ends of the step, of length L, every rotation that
takes one to the other is

.. math::

   \cos\eta\, \bigl(L^2 + \Pi \cdot \Pi',\; \Pi' \times \Pi\bigr) + L \sin\eta\, \bigl(0,\; \Pi + \Pi'\bigr)

up to a factor, and eta depends on the time and the invariants alone. It is therefore found from the motion with the same
invariants that passes omega_2 = 0 in the middle of the step. There, with h half the step, a_1 and a_3 the largest omega_1 and
omega_3, and Pi = (I_1 a_1 cn, I_2 omega_2, I_3 a_3 dn) at its end,

.. math::

   \eta = h\, \frac{2E + L a_3}{L + I_3 a_3} \pm 2 \Theta_1 + \arg(\Pi_1^2 + \Pi_3^2 + L \Pi_3 + i\, \Pi_1 \Pi_2)

with the sign of I3 - I1 (for P < M, I1 and I3 change places, too).

**The functions.** Both come from one descending Landen transformation. With k_0^2 = M/P, k_0'^2 = 1 - k_0^2, z_0 = p h,

.. math::

   k_{j+1} &= \frac{1 - k_j'}{1 + k_j'}, \quad z_{j+1} = \frac{z_j}{1 + k_{j+1}}, \quad
   n_1 = k_1 \frac{L - I_3 a_3}{L + I_3 a_3}, \quad
   n_{j+1} = \Bigl(\frac{2 k_{j+1}}{\sqrt{4 k_{j+1} + T} + \sqrt{T}}\Bigr)^2, \; T = n_j (1 + k_{j+1})^2 \\
   \mathrm{sn}_j &= \frac{(1 + k_{j+1})\, \mathrm{sn}_{j+1}}{1 + k_{j+1} \mathrm{sn}_{j+1}^2}, \quad
   \mathrm{cn}_j = \frac{\mathrm{cn}_{j+1} \mathrm{dn}_{j+1}}{1 + k_{j+1} \mathrm{sn}_{j+1}^2}, \quad
   \mathrm{dn}_j = \frac{1 - k_{j+1} \mathrm{sn}_{j+1}^2}{1 + k_{j+1} \mathrm{sn}_{j+1}^2} \\
   \Theta_j &= z_j \sqrt{1 + n_j}
   - \arg\bigl(\mathrm{cn}_{j+1} \mathrm{dn}_{j+1} + i\, (1 + k_{j+1}) \sqrt{1 + n_j}\; \mathrm{sn}_{j+1}\bigr)
   - 2 \Theta_{j+1}

(Abramowitz and Stegun 1964, 16.12, for the functions; the last line, for the integral of the third kind
Theta_j = Gamma_j times that of n_j sn^2/(1 + n_j sn^2) from 0 to z_j, Gamma_j^2 = (1 + n_j)(1 + k_j^2/n_j), is ours). k and n
fall quadratically; after eight steps cosine and sine remain. Arguments are multiplied as complex numbers, so that no inverse
function is needed.

In the functions ``body`` has the nine coefficients of :meth:`polhode.algebra.body.Body.coefficients`: the moments of inertia
(kg m^2), their reciprocals and the gyroscopic coefficients, each for x, y, z. Numbers v (3,) of axes may have any unit.
Arguments are otherwise as in :mod:`polhode.methods.protocol`.
"""

from math import sqrt
from typing import Any

from polhode.algebra.quaternion import cos_sinc, multiply, normalise
from polhode.compiling.kernel import kernel

#: Added where a quotient of two zeros or the root of zero would occur: at rest, and for spheres. Everything else absorbs it.
TINY = 1e-300
#: The smallest 1 - k^2. Rounding makes it uncertain by more, and eight Landen steps suffice for it.
SMALLEST = 1e-16


@kernel
def middle_second(body: Any, v: Any) -> Any:
    """The three numbers v (3,) of the axes x, y, z in the cyclic order in which the second axis of ``body`` has the middle
    moment.
    """
    # The middle axis is the one whose two partners have gyroscopic coefficients of equal sign.
    a, b, c = v
    if body[7] * body[8] >= 0.0:
        a, b, c = v[2], v[0], v[1]
    if body[6] * body[7] >= 0.0:
        a, b, c = v[1], v[2], v[0]
    if body[6] * body[8] >= 0.0:
        a, b, c = v[0], v[1], v[2]
    return a, b, c


@kernel
def back_in_place(body: Any, v: Any) -> Any:
    """The inverse of :func:`middle_second`: the three numbers v (3,) of the renamed axes of ``body`` in the order x, y, z."""
    a, b, c = v
    if body[7] * body[8] >= 0.0:
        a, b, c = v[1], v[2], v[0]
    if body[6] * body[7] >= 0.0:
        a, b, c = v[2], v[0], v[1]
    if body[6] * body[8] >= 0.0:
        a, b, c = v[0], v[1], v[2]
    return a, b, c


@kernel
def landen(k: Any, complement: Any, n: Any) -> Any:
    """One Landen step down: k_{j+1}, its complement k_{j+1}', n_{j+1} and sqrt(1 + n_j), numbers without a unit.

    ``k``, ``complement`` and ``n`` are k_j, k_j' = sqrt(1 - k_j^2) and n_j.
    """
    inverse = 1.0 / (1.0 + complement)
    ratio = k * inverse
    lower = ratio * ratio
    stretch = (1.0 + lower) * (1.0 + lower) * n
    lower_n = 2.0 * lower * lower / ((2.0 * lower + stretch) + sqrt(stretch * (4.0 * lower + stretch) + TINY))
    return lower, 2.0 * sqrt(complement) * inverse, lower_n, sqrt(1.0 + n)


@kernel
def ascended(functions: Any, k: Any, squared: Any) -> Any:
    """The functions (sn/p, cn, dn) one Landen step up, sn/p in s, the others without a unit.

    ``functions`` are the three of the modulus ``k`` at the smaller argument; ``squared`` is p^2 in 1/s^2.
    """
    s, c, d = functions
    bend = k * squared * s * s
    share = 1.0 / (1.0 + bend)
    return (1.0 + k) * share * s, share * c * d, share * (1.0 - bend)


@kernel
def turned(arc: Any, functions: Any, last: Any, p: Any, k: Any, root: Any, stretch: Any) -> Any:
    """The arc Theta of the level above: (real part, imaginary part) of a unit complex number, times a factor, and a number of
    turns, which multiplies the last argument.

    Parameters
    ----------
    arc : (real part, imaginary part, turns) of Theta on this level
    functions, last : (sn/p, cn, dn) on this level, sn/p in s; (sin, cos) on the last
    p : in 1/s
    k, root, stretch : of this level: the modulus, sqrt(1 + n of the level above), z of the level above over the last z
    """
    x, y, turns = arc
    s, c, d = functions
    sine, cosine = (1.0 + k) * root * p * s, c * d
    # Both angles without that of the last level: they agree where k has died out, and bit for bit.
    real, imaginary = cosine * last[1] + sine * last[0], sine * last[1] - cosine * last[0]
    xx, yy = x * x - y * y, 2.0 * x * y
    return xx * real - yy * imaginary, -(xx * imaginary + yy * real), (root * stretch - 1.0) - 2.0 * turns


@kernel
def half_step(squared: Any, small: Any, apart: Any, tilt: Any, h: Any) -> Any:
    """The functions and 2 Theta_1 at the time h.

    Parameters
    ----------
    squared, small, apart : p^2, k^2 p^2 and (1 - k^2) p^2, in 1/s^2
    tilt : n_1/k_1, without a unit
    h : half the step, s

    Returns
    -------
    (sn/p, cn, dn), sn/p in s; 2 Theta_1 as a complex number (real, imaginary), not of length one, and an angle (rad) that turns
    it further.
    """
    p = sqrt(squared + TINY)
    m = small / (squared + TINY)
    other = (apart + TINY) / (squared + TINY)
    if other < SMALLEST:
        other = SMALLEST
    complement0 = sqrt(other)
    inverse = 1.0 / (1.0 + complement0)
    k1 = m * inverse * inverse
    complement = 2.0 * sqrt(complement0) * inverse
    k2, complement, n, root2 = landen(k1, complement, tilt * k1)
    k3, complement, n, root3 = landen(k2, complement, n)
    k4, complement, n, root4 = landen(k3, complement, n)
    k5, complement, n, root5 = landen(k4, complement, n)
    k6, complement, n, root6 = landen(k5, complement, n)
    k7, complement, n, root7 = landen(k6, complement, n)
    k8, complement, n, root8 = landen(k7, complement, n)
    z7 = 1.0 + k8
    z6 = (1.0 + k7) * z7
    z5 = (1.0 + k6) * z6
    z4 = (1.0 + k5) * z5
    z3 = (1.0 + k4) * z4
    z2 = (1.0 + k3) * z3
    z1 = (1.0 + k2) * z2
    time = h / ((1.0 + k1) * z1)
    z = p * time
    cosine, sinc = cos_sinc(squared * time * time)
    functions = (time * sinc, cosine, 1.0)
    last = (z * sinc, cosine)
    arc = (1.0, 0.0, 0.0)
    arc = turned(arc, functions, last, p, k8, root8, z7)
    functions = ascended(functions, k8, squared)
    arc = turned(arc, functions, last, p, k7, root7, z6)
    functions = ascended(functions, k7, squared)
    arc = turned(arc, functions, last, p, k6, root6, z5)
    functions = ascended(functions, k6, squared)
    arc = turned(arc, functions, last, p, k5, root5, z4)
    functions = ascended(functions, k5, squared)
    arc = turned(arc, functions, last, p, k4, root4, z3)
    functions = ascended(functions, k4, squared)
    arc = turned(arc, functions, last, p, k3, root3, z2)
    functions = ascended(functions, k3, squared)
    x, y, turns = turned(arc, functions, last, p, k2, root2, z1)
    functions = ascended(functions, k2, squared)
    functions = ascended(functions, k1, squared)
    return functions, (x * x - y * y, 2.0 * x * y), 2.0 * turns * z


@kernel
def free_motion(momentum: Any, body: Any, dt: Any) -> Any:
    """The motion of a free body for dt.

    Parameters
    ----------
    momentum : (3,) angular momentum in the body frame, kg m^2/s
    body : nine coefficients of :meth:`polhode.algebra.body.Body.coefficients`
    dt : s

    Returns
    -------
    The unit quaternion (4,) of the rotation (from the body axes at the end to those at the beginning), and the angular momentum
    (3,) in the body frame at the end.
    """
    i1, i2, i3 = middle_second(body, (body[0], body[1], body[2]))
    r1, r2, r3 = middle_second(body, (body[3], body[4], body[5]))
    g1, g2, g3 = middle_second(body, (body[6], body[7], body[8]))
    l1, l2, l3 = middle_second(body, momentum)
    w1, w2, w3 = r1 * l1, r2 * l2, r3 * l3
    # How the square of omega_2 is shared between those of a_1 and a_3. A sphere may share as it likes, but not nothing.
    spread = i3 - i1
    share1, share3 = 1.0, 0.0
    if spread * spread > 0.0:
        share1, share3 = (i3 - i2) / spread, (i2 - i1) / spread
    largest1 = w1 * w1 + share1 * i2 * r1 * (w2 * w2)
    largest3 = w3 * w3 + share3 * i2 * r3 * (w2 * w2)
    product12, product23 = -g1 * g2, -g2 * g3
    first, third = product12 * largest3, product23 * largest1
    apart = g2 * (g3 * (w1 * w1) - g1 * (w3 * w3))
    # The axis about which the momentum circulates takes the place of axis 3.
    squared, small, a1, a3, m1, m3, side = first, third, largest1, largest3, i1, i3, 1.0
    if first < third:
        squared, small, a1, a3, m1, m3, side = third, first, largest3, largest1, i3, i1, -1.0
    apart = side * apart
    length2 = (l1 * l1 + l2 * l2) + l3 * l3
    length = sqrt(length2 + TINY)
    omega3 = sqrt(a3 + TINY)
    pi3 = m3 * omega3
    whole = 1.0 / (length + pi3)
    h = 0.5 * dt
    (s, c, d), (x, y), turn = half_step(squared, small, apart, m1 * m1 * a1 * (whole * whole), h)

    # eta
    over = 1.0 / length
    u3 = over * pi3 * d
    corner = over * over * m1 * m1 * a1 * (c * c) + u3 * (u3 + 1.0)
    cross = over * over * m1 * a1 * c * ((m3 - m1) * omega3 * s)
    sense = 1.0
    if m3 < m1:
        sense = -1.0
    angle = h * ((w1 * l1 + w2 * l2) + w3 * l3 + length * omega3) * whole + sense * turn
    y = sense * y
    real, imaginary = x * corner - y * cross, y * corner + x * cross
    cosine, sinc = cos_sinc(angle * angle)
    sine = angle * sinc
    real, imaginary = real * cosine - imaginary * sine, real * sine + imaginary * cosine

    # The functions of the whole step, and the angular velocity at its end.
    double = 1.0 / (c * c + squared * s * s * (d * d))
    s2 = 2.0 * s * c * d * double
    c2 = (c * c - squared * s * s * (d * d)) * double
    d2 = (d * d - small * s * s * (c * c)) * double
    if first < third:
        c2, d2 = d2, c2
    # The differences from the beginning, so that rounding does not accumulate where steps are short.
    ss = s2 * s2
    drop1, drop3 = product12 * (w3 * w3) * ss, product23 * (w1 * w1) * ss
    away1, away3 = 1.0 - c2, 1.0 - d2
    if c2 > 0.0:
        away1 = first * ss / (1.0 + c2)
    if d2 > 0.0:
        away3 = third * ss / (1.0 + d2)
    away2 = away1 + away3 * c2
    share = 1.0 / (c2 * c2 + drop1)
    e1 = l1 + i1 * share * (w1 * (c2 * away1 - drop1) + g1 * w2 * w3 * s2 * d2)
    e2 = l2 + i2 * share * (g1 * g3 * ss * (w2 * w2) * w2 - away2 * w2 + g2 * w1 * w3 * s2)
    e3 = l3 + i3 * share * (w3 * (d2 * away3 - drop3) + g3 * w1 * w2 * s2 * c2)

    # The rotation.
    u1, u2, u3 = over * l1, over * l2, over * l3
    v1, v2, v3 = over * e1, over * e2, over * e3
    real0 = real * (1.0 + ((u1 * v1 + u2 * v2) + u3 * v3))
    axis = (
        real * (v2 * u3 - v3 * u2) + imaginary * (u1 + v1),
        real * (v3 * u1 - v1 * u3) + imaginary * (u2 + v2),
        real * (v1 * u2 - v2 * u1) + imaginary * (u3 + v3),
    )
    qx, qy, qz = back_in_place(body, axis)
    return normalise((real0, qx, qy, qz)), back_in_place(body, (e1, e2, e3))


@kernel
def moved(q: Any, momentum: Any, body: Any, dt: Any) -> Any:
    """q (4,), body to lab, and the angular momentum (3,), N m s in the body frame, after free motion for ``dt`` (s)."""
    turn, momentum = free_motion(momentum, body, dt)
    return multiply(q, turn), momentum
