"""Quaternion algebra as kernels on tuples: four numbers for a quaternion, three for a vector.

Conventions: Hamilton's product, scalar first, ``q = (q0, qx, qy, qz)``. A unit quaternion maps body to lab,
``v_lab = q v_body q*``, and turns as ``dq/dt = q (0, omega) / 2`` with ``omega`` in the body frame.

>>> from math import pi
>>> from polhode.algebra.quaternion import multiply, rotate, to_lab
>>> multiply((0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0))  # i j = k
(0.0, 0.0, 0.0, 1.0)
>>> to_lab((0.5, 0.5, 0.5, 0.5), (1.0, 0.0, 0.0))  # a third of a turn about (1, 1, 1) takes x to y
(0.0, 1.0, 0.0)
>>> [round(x, 12) for x in rotate((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, pi / 3), 1.0)]  # pi/3 about z
[0.866025403784, 0.0, 0.0, 0.5]
"""

from collections.abc import Sequence
from math import sqrt

from polhode.compiling.kernel import Quaternion, Vector, kernel

# cos(sqrt(y)) and sin(sqrt(y))/sqrt(y) for 0 <= y <= (pi/2)**2 as polynomials in y: Chebyshev interpolation in 40 digits
# over that interval and a billionth more, rounded. Their errors are below 6e-17 and 2e-17; tests/test_quaternion.py
# recomputes them.
C0, C1, C2, C3, C4, C5, C6, C7, C8 = (
    1.0,
    -0.4999999999999997,
    0.04166666666666388,
    -0.001388888888877299,
    2.4801587277414923e-05,
    -2.755731639102574e-07,
    2.0876561839932584e-09,
    -1.1462901901741764e-11,
    4.60897700283419e-14,
)
S0, S1, S2, S3, S4, S5, S6, S7, S8 = (
    1.0,
    -0.16666666666666666,
    0.008333333333333186,
    -0.00019841269841208676,
    2.7557319211229606e-06,
    -2.5052106890569513e-08,
    1.6058940878486252e-10,
    -7.643026557963443e-13,
    2.7215749422098424e-15,
)
HALF_PI_SQUARED = 2.4674011002723395
ONE_OVER_PI = 0.3183098861837907
# pi in two parts; the first has 32 bits, so that its product with any integer below 2**21 is exact.
PI_HIGH = 3.1415926534682512
PI_LOW = 1.2154201013012384e-10
# Adding and subtracting 1.5 * 2**52 rounds to the nearest integer without a library call.
ROUND = 6755399441055744.0


@kernel
def cos_sinc_series(y: float) -> tuple[float, float]:
    """cos(a) and sin(a)/a, dimensionless, of an angle a from 0 to pi/2 rad, given its square y."""
    y2 = y * y
    y4 = y2 * y2
    # Estrin's scheme: short dependency chains, on which successive steps have to wait.
    c = (C0 + C1 * y) + y2 * (C2 + C3 * y) + y4 * ((C4 + C5 * y) + y2 * (C6 + C7 * y) + y4 * C8)
    s = (S0 + S1 * y) + y2 * (S2 + S3 * y) + y4 * ((S4 + S5 * y) + y2 * (S6 + S7 * y) + y4 * S8)
    return c, s


@kernel
def cos_sinc(x: float) -> tuple[float, float]:
    """cos(a) and sin(a)/a of the angle a = sqrt(x) >= 0, given its square. ``x`` in rad^2; two numbers without a unit.

    A rotation vector gives the square without a root, and needs sin(a)/a, which avoids a division by zero. The branch
    contains only plain arithmetic, so it costs nothing where it is not taken and vectorises in lanes.
    """
    y = x
    sign = 1.0
    ratio = 1.0
    if x > HALF_PI_SQUARED:
        a = sqrt(x)
        k = (a * ONE_OVER_PI + ROUND) - ROUND
        r = (a - k * PI_HIGH) - k * PI_LOW
        odd = k - 2.0 * ((0.5 * k + ROUND) - ROUND)
        y = r * r
        sign = 1.0 - 2.0 * odd * odd
        ratio = sign * (r / a)
    c, s = cos_sinc_series(y)
    return sign * c, ratio * s


@kernel
def multiply(p: Quaternion, q: Quaternion) -> Quaternion:
    """Hamilton's product p q of two quaternions (4,), scalar first."""
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


@kernel
def conjugate(q: Quaternion) -> Quaternion:
    """The conjugate q* of a quaternion (4,): the inverse rotation of a unit quaternion."""
    return (q[0], -q[1], -q[2], -q[3])


@kernel
def scaled(s: float, q: Quaternion) -> Quaternion:
    """The quaternion s q, each of the four components times s."""
    return (s * q[0], s * q[1], s * q[2], s * q[3])


@kernel
def increment(s: float, p: Quaternion, q: Quaternion) -> Quaternion:
    """The quaternion q + s p, component by component; not a unit quaternion in general."""
    return (q[0] + s * p[0], q[1] + s * p[1], q[2] + s * p[2], q[3] + s * p[3])


@kernel
def norm_squared(q: Quaternion) -> float:
    """|q|^2, the sum of the squares of the four components. A number without a unit."""
    return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]


@kernel
def normalise(q: Quaternion) -> Quaternion:
    """q / |q|, the unit quaternion along a quaternion q (4,) other than zero."""
    return scaled(1.0 / sqrt(norm_squared(q)), q)


@kernel
def derivative(q: Quaternion, omega: Vector) -> Quaternion:
    """dq/dt = q (0, omega) / 2, omega in the body frame. ``q`` (4,), ``omega`` (3,) in rad/s -> (4,) in 1/s."""
    return (
        -0.5 * (q[1] * omega[0] + q[2] * omega[1] + q[3] * omega[2]),
        0.5 * (q[0] * omega[0] + q[2] * omega[2] - q[3] * omega[1]),
        0.5 * (q[0] * omega[1] + q[3] * omega[0] - q[1] * omega[2]),
        0.5 * (q[0] * omega[2] + q[1] * omega[1] - q[2] * omega[0]),
    )


@kernel
def exponential(v: Vector) -> Quaternion:
    """The unit quaternion (4,) of the rotation vector v (3,), whose norm is the angle in rad: exp((0, v) / 2)."""
    c, s = cos_sinc(0.25 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]))
    s = 0.5 * s
    return (c, s * v[0], s * v[1], s * v[2])


@kernel
def rotate(q: Quaternion, omega: Vector, dt: float) -> Quaternion:
    """q rotated exactly for the time dt by the constant body angular velocity omega: q exp(omega dt / 2). ``omega`` is in
    rad/s, ``dt`` in s; a unit quaternion stays one.
    """
    h = 0.5 * dt
    c, s = cos_sinc((h * h) * (omega[0] * omega[0] + omega[1] * omega[1] + omega[2] * omega[2]))
    s = h * s
    return multiply(q, (c, s * omega[0], s * omega[1], s * omega[2]))


@kernel
def to_lab(q: Quaternion, v: Vector) -> Vector:
    """q v q*: components in the lab frame of a vector (3,) given in the body frame (times |q|^2 if q is not unit)."""
    a = q[0] * v[0] + q[2] * v[2] - q[3] * v[1]
    b = q[0] * v[1] + q[3] * v[0] - q[1] * v[2]
    c = q[0] * v[2] + q[1] * v[1] - q[2] * v[0]
    d = q[1] * v[0] + q[2] * v[1] + q[3] * v[2]
    return (
        q[0] * a + q[1] * d + (q[2] * c - q[3] * b),
        q[0] * b + q[2] * d + (q[3] * a - q[1] * c),
        q[0] * c + q[3] * d + (q[1] * b - q[2] * a),
    )


@kernel
def to_body(q: Quaternion, v: Vector) -> Vector:
    """q* v q: components in the body frame of a vector (3,) given in the lab frame (times |q|^2 if q is not unit)."""
    return to_lab(conjugate(q), v)


def of_axes(axes: Sequence[Sequence[float]]) -> Quaternion:
    """The unit quaternion of a rotation matrix (3 x 3), whose columns are the body axes in the lab; q0 is not negative.

    Shepperd, J. Guid. Control 1 (1978) 223: the largest of the four components first, from which the others follow.
    """
    (a, b, c), (d, e, f), (g, h, i) = axes
    squares = (1 + a + e + i, 1 + a - e - i, 1 - a + e - i, 1 - a - e + i)
    rows = (
        (squares[0], h - f, c - g, d - b),
        (h - f, squares[1], b + d, c + g),
        (c - g, b + d, squares[2], f + h),
        (d - b, c + g, f + h, squares[3]),
    )
    q = rows[max(range(4), key=squares.__getitem__)]
    scale = (-1.0 if q[0] < 0 else 1.0) / sqrt(sum(x * x for x in q))
    return (q[0] * scale + 0.0, q[1] * scale + 0.0, q[2] * scale + 0.0, q[3] * scale + 0.0)
