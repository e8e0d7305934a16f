"""The reference of a problem as a data set others can use, with the digits that an independent computation confirms."""

from collections.abc import Sequence
from itertools import pairwise
from math import nan
from typing import Any

import mpmath
import numpy as np
import xarray as xr

from polhode.interface.arguments import array, positive, shown, whole
from polhode.problems.problem import MOST_DIGITS, Case, Problem
from polhode.problems.system import System
from polhode.references import taylor
from polhode.references.precision import GUARD_DIGITS
from polhode.references.taylor import agreement

__all__ = ["agreement", "reference_dataset"]

#: How many of the requested digits may be missing from the agreement.
TOLERATED_DIGITS = 5
#: The vectors of a state in the order of the solvers: name, dimension, long name, units.
ROTATION = (
    ("q", "quaternion", "orientation, body to lab", "1"),
    ("omega", "axis", "angular velocity in the body frame", "rad s-1"),
)
MOTION = (
    ("r", "axis", "position of the centre of mass in the lab", "m"),
    ("v", "axis", "velocity of the centre of mass in the lab", "m s-1"),
    *ROTATION,
)


def reference_dataset(problem: Case, times: Sequence[float], digits: int = 50, check_until: float | None = None) -> xr.Dataset:
    """The exact solution of a problem of one or several bodies at ``times``, checked as it is computed.

    A closed form is checked by the independent Taylor integrator. Where there is none, the Taylor solution is used, and is
    checked by a run of higher precision and order.

    Parameters
    ----------
    problem : Problem or System
    times : sequence of float
        Times in s, ascending. A float is taken as an exact binary number.
    digits : int
        Significant decimal digits of ``q_digits`` and ``omega_digits``; they are relative to the norm of the vector, so a
        component near zero has fewer digits of its own.
    check_until : float, optional
        Leave out the check beyond this time in s; its cost grows with the angle turned.

    Returns
    -------
    xarray.Dataset
        ``q`` (time, quaternion; body to lab, scalar first) and ``omega`` (time, axis; body frame), correctly rounded;
        ``q_digits``, ``omega_digits``: their values as decimal strings; ``agreement_digits`` (time): decimal digits shared with
        the check, NaN where left out. For a system the dimension body follows time, and ``r`` and ``v`` (time, body, axis) are
        included with their digits. Attributes: ``problem``, ``source``, ``formula``, ``check``, ``digits``, ``guard_digits``
        (further digits that were computed), ``agreement`` (the minimum of ``agreement_digits``), ``agreement_time`` (s, the
        last time checked) and ``agreement_samples`` (number of times checked).

    Raises
    ------
    TypeError, ValueError
        If an argument has a wrong type, ``digits`` or ``check_until`` is out of bounds, the times do not ascend, or none of
        them is checked; if the torque or the loads do not run, also on series (:func:`polhode.references.taylor.solve`), or the
        closed form does not hold for the problem.
    ArithmeticError
        If fewer than ``digits`` - 5 digits agree.
    """
    if not isinstance(problem, Problem | System):
        raise TypeError(f"problem must be a polhode Problem, got {shown(problem)}")
    problem.try_out()
    digits = whole("digits", digits, least=1, most=MOST_DIGITS)
    if check_until is not None:
        check_until = positive("check_until", check_until, "s")
    times = array("times", times).tolist()
    if any(a >= b for a, b in pairwise(times)):
        raise ValueError(f"problem {problem.key!r}: reference times must ascend, got {shown(times)}")
    checked = [t for t in times if check_until is None or t <= check_until]
    if not checked:
        raise ValueError(
            f"problem {problem.key!r}: none of the times is up to check_until = {check_until!r} s, so nothing is checked"
        )

    if problem.closed_form is None:
        states = taylor.solver_of(problem)(problem, times, digits)
        shared = taylor.self_agreement(problem, checked, digits, states[: len(checked)])
        formula, check = "Taylor series", "Taylor series of higher precision and order"
    else:
        states = problem.closed_form(problem, times, digits)
        others = taylor.solver_of(problem)(problem, checked, digits)
        shared = taylor.shared_digits(states[: len(checked)], others, digits)
        formula, check = problem.formula, "Taylor series"
    least = min(shared)
    if not least >= digits - TOLERATED_DIGITS:
        raise ArithmeticError(
            f"problem {problem.key!r}: of {digits} digits only {least:g} agree with the check ({check}) "
            f"at t = {checked[shared.index(least)]!r} s; formula: {formula}"
        )

    several = isinstance(problem, System)
    data: dict[str, Any] = {}
    for i, (name, dimension, long_name, units) in enumerate(MOTION if several else ROTATION):
        dimensions = ("time", "body", dimension) if several else ("time", dimension)
        description = {"long_name": long_name, "units": units, "symbol": name}
        values = np.array([[body[i] for body in state] if several else state[i] for state in states], dtype=object)
        data[name] = (dimensions, values.astype(float), description)
        data[f"{name}_digits"] = (
            dimensions,
            np.vectorize(lambda x: _decimal(x, digits), otypes=[str])(values),
            {**description, "long_name": f"{long_name}, decimal digits"},
        )
    data["agreement_digits"] = (
        "time",
        np.array(shared + [nan] * (len(times) - len(shared))),
        {"long_name": "decimal digits shared with the check", "units": "1", "symbol": "d"},
    )
    coordinates: dict[str, Any] = {
        "time": ("time", times, {"long_name": "time", "units": "s", "symbol": "t"}),
        "quaternion": ("quaternion", ["0", "x", "y", "z"], {"long_name": "quaternion component"}),
        "axis": ("axis", ["x", "y", "z"], {"long_name": "axis of the body; of the lab for r and v"}),
    }
    if isinstance(problem, System):
        coordinates["body"] = ("body", range(len(problem.bodies)), {"long_name": "body"})
    attributes = {
        "problem": problem.key,
        "source": problem.source,
        "formula": formula,
        "check": check,
        "digits": digits,
        "guard_digits": GUARD_DIGITS,
        "agreement": least,
        "agreement_time": checked[-1],
        "agreement_samples": len(checked),
    }
    return xr.Dataset(data, coordinates, attributes)


def _decimal(x: Any, digits: int) -> str:
    """A number as a decimal string of ``digits`` significant digits."""
    text: str = mpmath.nstr(x, digits, strip_zeros=False)
    return text
