r"""A body that librates: one step of a method about rest, linearised, and what its roots say of the energy in a long run.

A body at rest in a field that pulls it back turns about its principal axis k by a small angle :math:`\xi_k` with

.. math::

   \ddot\xi_k = -\Omega_k^2\,\xi_k .

The gyroscopic term is of second order in the small quantities, so that the axes do not act on each other. One step of a method
multiplies all that it carries (q, omega or the momentum at its own time, torques of earlier steps) by a matrix. A root
:math:`\lambda` of this matrix multiplies a libration in every step: it is damped at a modulus below one and grows above. The
exact motion has :math:`e^{ix}` with the turn :math:`x = \Omega\,\Delta t`. The energy changes by :math:`2 \ln|\lambda|` of
itself a step, and in a liquid, where the other motions refill a mode to kT, by so many kT.

The matrix comes from the method's own kernels in plain Python. What is zero at rest is made :data:`AMPLITUDE` in turn, whose
square is nothing beside one: there is no error of differences.
"""

from collections.abc import Sequence
from math import inf, isnan, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polhode.algebra.body import Body
from polhode.compiling.plain import in_plain_python
from polhode.methods.plain_driver import plain_driver
from polhode.methods.protocol import Method

Array = NDArray[np.float64]

#: The size of what is disturbed, in rad and rad a step.
AMPLITUDE = 1e-100
#: Steps at rest until a multistep method has all its torques.
SETTLED = 6
#: Logarithms of moduli below this are rounding, and the excess of one that counts as growth at the limit of stability.
ROUNDING, GROWS = 1e-13, 1e-9
#: Turns at which the limit of stability is looked for.
TURNS = np.arange(1, 61) / 20
#: The turns from which powers and coefficients are read, in ascending order: at the first, the sixth power is above rounding.
SHORT = np.array([0.05, 0.1, 0.15, 0.2])
#: What :func:`fault` says of a method of which a root grows at any step, and of one whose roots are not those of the motion.
UNSTABLE, ASTRAY = "unstable at every step tried", "not followed, however short the step"
#: Any body with three moments, kg m^2.
BODY = Body((1.0, 1.7, 2.3))


def step_matrix(method: Method, turns: tuple[float, float, float], body: Body = BODY) -> Array:
    """The linearised step of a body at rest that librates with Omega_k dt = ``turns[k]``, on all that the method carries.

    Parameters
    ----------
    method : Method
        A multistep method is taken after its first steps, with all its torques.
    turns : Omega dt for each principal axis, rad
    body : Body, optional
        The result does not depend on it but for the units of what is carried.

    Returns
    -------
    array (n, n)
        For the n components of the state that are zero at rest; the others, such as the real part of q, do not act on these. In
        units of the state, with a time step of 1 s.

    Raises
    ------
    ArithmeticError
        If a step of the body at rest gives numbers that are not finite.
    """
    method = method.without_passages()
    stiffness = [moment * turn * turn for moment, turn in zip(body.inertia, turns, strict=True)]

    def torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
        return tuple(-2 * k * x for k, x in zip(stiffness, q[1:4], strict=True))

    driver = plain_driver(method, in_plain_python, torque, method.numbers_of(body), 1.0)
    rest = driver.start((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    for n in range(SETTLED):
        rest = driver.step(rest, n)
    zero = [i for i, value in enumerate(rest) if value == 0]
    matrix = np.empty((len(zero), len(zero)))
    for column, i in enumerate(zero):
        disturbed = driver.step((*rest[:i], AMPLITUDE, *rest[i + 1 :]), SETTLED)
        matrix[:, column] = [disturbed[k] / AMPLITUDE for k in zero]
    if np.isnan(matrix).any() or not np.isfinite(rest).all():
        raise ArithmeticError("a step of a body at rest gives numbers that are not finite")
    # A counter, such as that of predictions that fail, jumps by one.
    linear = (np.abs(matrix) < 0.5 / AMPLITUDE).all(axis=1)
    return matrix[np.ix_(linear, linear)]


def roots(method: Method, turn: float) -> NDArray[np.complex128]:
    """The complex roots (n,), without a unit, by which a step multiplies librations with Omega dt = ``turn`` (rad) about all
    axes.

    Raises
    ------
    ArithmeticError
        If a step of the body at rest gives numbers that are not finite.
    """
    return np.linalg.eigvals(step_matrix(method, (turn,) * 3)).astype(complex)


def growth(method: Method, turn: float) -> float:
    """The growth ln|lambda| of a libration in a step, by the largest root at Omega dt = ``turn`` (rad): negative if it is
    damped.

    A float without a unit; what is below :data:`ROUNDING` is zero. It raises what :func:`roots` raises.
    """
    logarithm = log(np.abs(roots(method, turn)).max())
    return logarithm if abs(logarithm) > ROUNDING else 0.0


class PowerLaw(NamedTuple):
    """The law coefficient x^power for small turns x = Omega dt (rad); both are 0 where there is nothing but rounding."""

    power: int
    coefficient: float


def leading_power(values: Array) -> PowerLaw:
    """The first term in the power series of a quantity that is even in the turn, from its values (4,) at the turns
    :data:`SHORT`.

    All logarithms of moduli and shifts of frequencies are even. They have no unit. Values that are all below :data:`ROUNDING`
    have the power and the coefficient 0.
    """
    if np.abs(values).max() < ROUNDING:
        return PowerLaw(0, 0.0)
    power = round(log(values[1] / values[0]) / log(SHORT[1] / SHORT[0]))
    # A polynomial in x^2 through all four.
    return PowerLaw(power, float(np.linalg.solve(np.vander(SHORT**2, increasing=True), values / SHORT**power)[0]))


class Libration(NamedTuple):
    """What the roots of a method say of librations, with turns x = Omega dt in rad.

    ``growth`` is the law of ln|lambda| per step, ``shift`` the law of the relative shift of the frequency, and ``limit`` the
    largest stable turn, rad: see :func:`libration`.
    """

    growth: PowerLaw
    shift: PowerLaw
    limit: float


def short_roots(method: Method) -> list[NDArray[np.complex128]]:
    """The roots (n,) at each of the turns :data:`SHORT`, in a list of four: what :func:`roots` returns and raises."""
    return [roots(method, float(turn)) for turn in SHORT]


def laws(method: Method, known: Sequence[NDArray[np.complex128]] = ()) -> tuple[PowerLaw, PowerLaw]:
    """The laws of ln|lambda| of the root next to exp(ix), per step, and of the relative shift of its frequency, for small turns
    x.

    ``known`` are the :func:`short_roots` of the method, if they have been computed.
    """
    every = zip(SHORT, known or short_roots(method), strict=True)
    nearest = [values[np.argmin(np.abs(values - np.exp(1j * x)))] for x, values in every]
    return leading_power(np.log(np.abs(nearest))), leading_power(np.angle(nearest) / SHORT - 1)


def libration(method: Method) -> Libration:
    """Growth and shift of the frequency for short steps, and the limit of stability, a turn Omega dt in rad.

    The limit is the first turn above which a root leaves the unit circle: 0 where librations grow in any step, infinite if
    there is none up to the last of :data:`TURNS`. It is that of the linear step: a method that notices a motion it cannot
    follow may change before (:mod:`polhode.methods.backward_differences`).
    """
    grows, shift = laws(method)
    return Libration(grows, shift, 0.0 if grows.coefficient > 0 else limit_of_stability(method))


def fault(method: Method, known: Sequence[NDArray[np.complex128]] = ()) -> str:
    """The words :data:`UNSTABLE` or :data:`ASTRAY`, if a method is so at all of the turns :data:`SHORT`, or else an empty text.

    It is unstable where the logarithm of the largest |lambda| is above :data:`GROWS`, and above twice the one of the root next
    to exp(ix). It is astray where fewer than three roots, one for each axis, are within x/2 of exp(ix); the root of a body at
    rest, 1, is as far as x. The root next to exp(ix) alone then says nothing. ``known`` are the :func:`short_roots` of the
    method, if they have been computed.
    """
    unstable, astray = [], []
    for turn, values in zip(map(float, SHORT), known or short_roots(method), strict=True):
        distances = np.abs(values - np.exp(1j * turn))
        nearest = log(np.abs(values[np.argmin(distances)]))
        unstable.append(log(np.abs(values).max()) > max(GROWS, 2 * nearest))
        astray.append(np.sort(distances)[: len(BODY.inertia)].max() > 0.5 * turn)
    return UNSTABLE if all(unstable) else ASTRAY if all(astray) else ""


def limit_of_stability(method: Method) -> float:
    """The first of the turns :data:`TURNS` at which a libration grows, refined by bisection to 1e-6, rad; infinite if there is
    none.
    """
    stable = 0.0
    for turn in map(float, TURNS):
        if growth(method, turn) > GROWS:
            unstable = turn
            break
        stable = turn
    else:
        return inf
    while unstable - stable > 1e-6:
        middle = 0.5 * (stable + unstable)
        stable, unstable = (stable, middle) if growth(method, middle) > GROWS else (middle, unstable)
    return 0.5 * (stable + unstable)


def caution(method: Method) -> str:
    """What to know before a long run at constant energy: ``damps librations``, ``heats librations`` or a :func:`fault`.

    Empty if none is found, also for a user's own method whose step cannot be run in plain Python at rest.
    """
    try:
        known = short_roots(method)
        if unfit := fault(method, known):
            return unfit
        (power, coefficient), _ = laws(method, known)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):
        return ""
    if isnan(coefficient) or not power:
        return ""
    return f"{'heats' if coefficient > 0 else 'damps'} librations"
