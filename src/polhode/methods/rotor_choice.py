r"""Which order of rotors suits a body: from the leading term of the modified Hamiltonian, as Fassò (2003) compares splittings.

A symmetric composition of the rotors 1, 2, 3, 2, 1 with rates alpha (:func:`polhode.methods.splitting.rotors`) follows the
Hamiltonian H + dt^2 H_2 + ... With Y_k = Pi_k^2, the formula of Baker, Campbell and Hausdorff gives

.. math::

   24 H_2 &= A\, Y_1 (Y_3 - Y_2) + B\, Y_2 (Y_1 - Y_3) + C\, Y_3 (Y_2 - Y_1) \\
   A &= \alpha_1^2 (\alpha_3 - \alpha_2), \quad
   B = \alpha_2 \bigl(2 \alpha_1 (\alpha_3 - \alpha_2) - \alpha_2 \alpha_3\bigr), \quad
   C = 2 \alpha_3 \bigl(\alpha_1 (\alpha_3 - \alpha_2) - \alpha_2 \alpha_3\bigr)

The energy changes in time as

.. math::

   \frac{dH}{dt} = -\frac{\Delta t^2}{12}\, \Pi_1 \Pi_2 \Pi_3 \sum_k \gamma_k Y_k, \quad
   \gamma_1 = p_{12} d_2 + p_{13} d_3, \quad \gamma_2 = p_{12} d_1 + p_{23} d_3, \quad \gamma_3 = p_{13} d_1 + p_{23} d_2

with p_12 = B - A, p_13 = A - C, p_23 = C - B and d = (alpha_3 - alpha_2, alpha_1 - alpha_3, alpha_2 - alpha_1). Its mean square
over all directions of Pi is, up to a common factor,

.. math::

   S = 2 \sum_k \gamma_k^2 + 3 \Bigl(\sum_k \gamma_k\Bigr)^2

which is the score used here: the least is chosen. It vanishes for moments (1/4, 3/4, 1) with the smallest outside and the
largest in the middle, where the splitting is of order four (Fassò 2003).

An order of axes is its number in :data:`ORDERS`, a float, since kernels have nothing else. Rates alpha_k are in one unit, such
as 1/(kg m^2).

Arguments are otherwise as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.compiling.kernel import hides_nothing, kernel

#: The orders (outer, second, middle axis), the cyclic ones first.
ORDERS = ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2))


@kernel
def score(a: Any, b: Any, c: Any) -> Any:
    """The score S of the rotors 1, 2, 3, 2, 1 with the rates a, b, c: a float in the eighth power of their unit; the least is
    best.
    """
    first = a * a * (c - b)
    second = b * (2.0 * a * (c - b) - b * c)
    three = 2.0 * c * (a * (c - b) - b * c)
    p12, p13, p23 = second - first, first - three, three - second
    d1, d2, d3 = c - b, a - c, b - a
    g1, g2, g3 = p12 * d2 + p13 * d3, p12 * d1 + p23 * d3, p13 * d1 + p23 * d2
    total = g1 + g2 + g3
    return 2.0 * ((g1 * g1 + g2 * g2) + g3 * g3) + 3.0 * (total * total)


@hides_nothing
@kernel
def least(s0: Any, s1: Any, s2: Any, s3: Any, s4: Any, s5: Any) -> Any:
    """The number, 0 to 5 as a float, of the least of six scores, floats in one unit; of equal ones the first."""
    which, best = 0.0, s0
    if s1 < best:
        which, best = 1.0, s1
    if s2 < best:
        which, best = 2.0, s2
    if s3 < best:
        which, best = 3.0, s3
    if s4 < best:
        which, best = 4.0, s4
    if s5 < best:
        which, best = 5.0, s5
    return which


@kernel
def best_order(body: Any) -> Any:
    """The number in :data:`ORDERS`, a float, of the order in which the rotors with the rates 1/I_k have the least score.

    ``body`` has the nine coefficients of :meth:`polhode.algebra.body.Body.coefficients`.
    """
    # In units of one of them, so that powers of the moments neither overflow nor vanish.
    x, y, z = 1.0, body[4] * body[0], body[5] * body[0]
    return least(score(x, y, z), score(y, z, x), score(z, x, y), score(x, z, y), score(z, y, x), score(y, x, z))


@kernel
def best_pair(body: Any) -> Any:
    """The number in :data:`ORDERS`, a float, of the axes a, b, c with the least score where a rotation by 1/I_b is split off.

    Two rotors are then left, of a and c, with the rates 1/I_a - 1/I_b and 1/I_c - 1/I_b (:mod:`polhode.methods.touma1994`).
    ``body`` has the nine coefficients of :meth:`polhode.algebra.body.Body.coefficients`.
    """
    x, y, z = 1.0, body[4] * body[0], body[5] * body[0]
    return least(
        score(x - y, 0.0, z - y),
        score(y - z, 0.0, x - z),
        score(z - x, 0.0, y - x),
        score(x - z, 0.0, y - z),
        score(z - y, 0.0, x - y),
        score(y - x, 0.0, z - x),
    )


@hides_nothing
@kernel
def ordered(which: Any, v: Any) -> Any:
    """The three numbers v (3,) of the axes x, y, z in the order with the number ``which`` in :data:`ORDERS`, in their unit."""
    a, b, c = v
    if which == 1.0:
        a, b, c = v[1], v[2], v[0]
    if which == 2.0:
        a, b, c = v[2], v[0], v[1]
    if which == 3.0:
        a, b, c = v[0], v[2], v[1]
    if which == 4.0:
        a, b, c = v[2], v[1], v[0]
    if which == 5.0:
        a, b, c = v[1], v[0], v[2]
    return a, b, c


@hides_nothing
@kernel
def restored(which: Any, v: Any) -> Any:
    """The inverse of :func:`ordered`: three numbers v (3,) of the renamed axes in the order x, y, z, in their unit.

    The two orders that are rotations of the axes are each other's inverse, the others their own.
    """
    inverse = which
    if which == 1.0:
        inverse = 2.0
    if which == 2.0:
        inverse = 1.0
    return ordered(inverse, v)


@hides_nothing
@kernel
def handed(which: Any, v: Any) -> Any:
    """An axial vector v (3,), in its unit, with the sign that it has in the axes of the order ``which``, or back.

    The last three of :data:`ORDERS` exchange two axes; this is a reflection, which reverses the vector.
    """
    sign = 1.0
    if which > 2.5:
        sign = -1.0
    return sign * v[0], sign * v[1], sign * v[2]


@kernel
def renamed(which: Any, q: Any, momentum: Any) -> Any:
    """The components of q (4,) and of Pi (3,), N m s in the body frame, when the axes are named in the order with the number
    ``which`` in :data:`ORDERS`.
    """
    return (q[0], *handed(which, ordered(which, (q[1], q[2], q[3])))), handed(which, ordered(which, momentum))


@kernel
def named_back(which: Any, q: Any, momentum: Any) -> Any:
    """The inverse of :func:`renamed`: the components of q (4,) and of Pi (3,), N m s in the body frame, along x, y and z."""
    return (q[0], *handed(which, restored(which, (q[1], q[2], q[3])))), handed(which, restored(which, momentum))
