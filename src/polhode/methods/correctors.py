r"""Symplectic correctors: moves before and after the steps that take the part linear in the torque out of the error.

Let h be the step, A the motion of the free body and B the kick by the torque, both as linear operators that act on a state from
the left, and x the commutator with hA. A splitting into exact free motion and kicks is, up to terms of second order in B,

.. math::

   e^{-C}\, e^{h(A+B)}\, e^{C}, \qquad C = \chi(x)\, hB

(Wisdom, Holman and Touma 1996; the supplement derives it). With chi_n the coefficient of x^(2n-1), and Bernoulli's numbers,

.. math::

   \text{kick-drift-kick: } \chi = \tfrac12\coth\tfrac x2 - \tfrac1x, \quad \chi_n = \frac{B_{2n}}{(2n)!}; \qquad
   \text{drift-kick-drift: } \chi = \frac{1}{2\sinh(x/2)} - \frac1x, \quad \chi_n = -(1 - 2^{1-2n}) \frac{B_{2n}}{(2n)!}

Free motion by -a h, a kick of b h and free motion by a h are exp(b e^{ax} hB). Followed by the same with both signs changed
they are exp(2b sinh(ax) hB) up to terms of second order in B. A corrector of order 2k + 1 has k such pairs, of two torques
each.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import comb, factorial
from typing import TYPE_CHECKING, Any

from polhode.methods.free_top import moved
from polhode.methods.processor import Processor

if TYPE_CHECKING:
    from polhode.methods.protocol import OneTorque

#: By the form of the splitting: the coefficient chi_n of x^(2n-1) times (2n)!/B_2n.
FORMS = {
    "kick-drift-kick": lambda n: Fraction(1),
    "drift-kick-drift": lambda n: Fraction(2, 4**n) - 1,
}


def bernoulli(n: int) -> Fraction:
    """Bernoulli's number B_n, exact, with B_1 = -1/2, for n = 0, 1, 2, ..."""
    numbers = [Fraction(1)]
    for m in range(1, n + 1):
        numbers.append(-sum((comb(m + 1, j) * numbers[j] for j in range(m)), Fraction(0)) / (m + 1))
    return numbers[n]


def chi(form: str, count: int) -> tuple[Fraction, ...]:
    """The first ``count`` coefficients chi_n, of x, x^3, ..., in the change of variables of a form, exact.

    Raises
    ------
    ValueError
        If the form is not one of ``FORMS``.
    """
    if form not in FORMS:
        raise ValueError(f"form {form!r}: no such splitting; write one of {', '.join(FORMS)}")
    return tuple(FORMS[form](n) * bernoulli(2 * n) / factorial(2 * n) for n in range(1, count + 1))


def pairs(order: int, form: str) -> list[tuple[Fraction, Fraction]]:
    """(a, b) of each pair, in steps, with a = 1/2, 1, 3/2, ...: the sum of 2 b sinh(a x) is chi up to x^(order - 2).

    Raises
    ------
    ValueError
        If the order is not 3, 5, 7, ... or the form is not one of ``FORMS``.
    """
    if order < 3 or order % 2 == 0:
        raise ValueError(f"order {order!r}: a corrector has the order 3, 5, 7, ...; each two orders cost two torques more")
    drifts = [Fraction(i, 2) for i in range(1, (order + 1) // 2)]
    moments = [factorial(2 * n - 1) * c for n, c in enumerate(chi(form, len(drifts)), 1)]
    solution = []
    for a in drifts:
        # Vandermonde's equations for 2 a b in powers of a^2: the coefficients of Lagrange's polynomial that is 1 at a^2.
        basis = [Fraction(1)]
        for other in drifts:
            if other != a:
                pairwise = zip([Fraction(0), *basis], [*basis, Fraction(0)], strict=True)
                basis = [(low - other**2 * high) / (a**2 - other**2) for low, high in pairwise]
        solution.append((a, sum((x * y for x, y in zip(basis, moments, strict=True)), Fraction(0)) / (2 * a)))
    return solution


def shares(order: int, form: str, even: bool = False) -> tuple[tuple[float, float], ...]:
    """The moves before the first step: free motion for the first number times the step, then a kick of the second times it.

    The moves at an output are the exact inverse: a kick of minus the second number, then free motion for minus the first, from
    the last move to the first.

    Parameters
    ----------
    order : 3, 5, 7, ...: what is left in the part of the error linear in the torque is of the order of h^(order + 1)
    form : "kick-drift-kick" or "drift-kick-drift"
    even : whether half of the first kick of each pair comes last, for steps of fourth order: the error of the moves of the
        order of h^3 is then gone, and one of h^4 is left

    Returns
    -------
    Moves (free motion, kick), of which the last has no kick: two for each pair and that one, three if even.

    Raises
    ------
    ValueError
        If the order is not 3, 5, 7, ... or the form is neither of the two.
    """
    moves, waiting = [], Fraction(0)
    for a, b in pairs(order, form):
        for drift, kick in ((a, b / 2), (-a, -b), (a, b / 2)) if even else ((a, b), (-a, -b)):
            moves.append((waiting - drift, -kick))
            waiting = drift
    return tuple((float(drift), float(kick)) for drift, kick in [*moves, (waiting, Fraction(0))])


def corrected(method: "OneTorque", order: int = 5, drift: Callable[..., Any] = moved) -> "OneTorque":
    """A splitting with a corrector; those of all orders share what is compiled.

    Parameters
    ----------
    method : OneTorque
        Kick, drift, kick or drift, kick, drift, which needs the torque at the end or in the middle of a step.
    order : int
        The order 3, 5, 7, ... of the corrector, :func:`shares`.
    drift : kernel (q, momentum, body, dt) -> (q, momentum)
        The free motion between the kicks of the corrector, with the momentum in the body frame (N m s); by default the exact
        one.

    Returns
    -------
    The method with the key ``KEY_correctedORDER``, not registered.

    Raises
    ------
    ValueError
        If the method needs the torque at the beginning of a step, or the order is not 3, 5, 7, ...

    Examples
    --------
    >>> from polhode import methods
    >>> corrected(methods["exact_rotor"], order=7).torques_per_output
    6
    """
    forms = {1.0: "kick-drift-kick", 0.5: "drift-kick-drift"}
    if method.torque_time not in forms:
        raise ValueError(f"method {method.key}: a corrector is for splittings whose torque_time is 0.5 or 1, not 0")
    maps = f"of the corrector, with {order - 1} torques"
    other = replace(
        method,
        key=f"{method.key}_corrected{order}",
        label=f"{method.label}, corrected ({order})",
        short_label="",
        other_names=(),
        starts=f"pre-map {maps}",
        reads=f"post-map {maps}",
        processor=Processor(drift, shares(order, forms[method.torque_time])),
    )
    other.__dict__["drivers"] = _compiled_drivers(method.before_torque, method.after_torque, drift)
    return other


@cache
def _compiled_drivers(*kernels: Callable[..., Any]) -> dict[str, Any]:
    """The drivers of a corrected method, which do not depend on the order of the corrector."""
    return {}
