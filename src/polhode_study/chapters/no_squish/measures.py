"""Measures for the statements of Tuckerman (2010), Sec. 3.12."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polhode_study.inputs import Inputs, NotInRun
from polhode_study.judge.measured import of
from polhode_study.report.selection import short_name


def symplectic_defect(results: Inputs, method: str, problems: list[str]) -> tuple[float, str]:
    """The largest defect of the canonical form over one step, over problems and time steps, in the better reading."""
    rows = of(results.check("symplecticity"), method)
    missing = [p for p in problems if p not in rows["problem"].values or np.isnan(rows["defect"].sel(problem=p)).all()]
    if missing:
        raise NotInRun(f"no Jacobian of {method} on {', '.join(missing)}")
    largest = rows["defect"].sel(problem=problems).max(["problem", "division"], skipna=False)
    best = str(largest["reading"].values[int(np.argmin(largest.values))])
    words = "all steps" if len(problems) == 1 else "all steps and problems"
    return float(largest.min()), f"{words}, q and angular momentum as {best}"


def constrained_defect(results: Inputs, iterations: int, of: str) -> tuple[float, str]:
    """The error of a step of RATTLE with this many iterations: ``defect`` of the form, or ``return`` to the start."""
    check = results.check("symplecticity")
    if iterations not in check["iterations"].values:
        raise NotInRun(f"the check has no step with {iterations} iterations")
    row = check.sel(iterations=iterations)
    words = (
        f"constraint met to {float(row['constraint_error']):.2g}, {short_name(results, str(check.attrs['constraint_problem']))}"
    )
    return float(row[f"constraint_{of}"]), words


#: Number of states in which the page's formulas are compared with each other, the arbitrary moment there, kg m^2, and the
#: problem whose body has the other moments.
PAGE_STATES, PAGE_MOMENT, PAGE_BODY = 20, 0.7, "free_asymmetric_top"


def page_formula(results: Inputs, formula: str, length: float) -> tuple[float, str]:
    """Relative deviation of Eq. 3.12.4 from the result of Eqs. 3.12.2 and 3.12.3; the largest over states with this |q|.

    Parameters
    ----------
    formula : ``momentum``, p against the derivative of L by dq/dt, or ``hamiltonian``, H against p dq/dt - L
    length : of the quaternion
    """
    d = np.array([PAGE_MOMENT, *results.of(PAGE_BODY).setup["moments"][0]])
    rng = np.random.default_rng(3124)
    apart = []
    for _ in range(PAGE_STATES):
        q, rate = rng.normal(size=(2, 4))
        s = _left(length * q / np.linalg.norm(q))

        def lagrangian(rate: NDArray[Any], s: NDArray[Any] = s) -> Any:
            omega = 2 * s.T @ rate  # Eq. 3.12.2
            return (d * omega * omega).sum() / 2  # Eq. 3.12.3, U left out

        # Complex step: exact to rounding.
        momentum = np.array([lagrangian(rate + 1e-30j * row).imag / 1e-30 for row in np.eye(4)])
        if formula == "momentum":
            printed = 2 / length**4 * s @ (2 * s.T @ rate / d)
            apart.append(np.linalg.norm(printed - momentum) / np.linalg.norm(momentum))
        else:
            energy = momentum @ rate - lagrangian(rate)
            printed = ((s.T @ momentum) ** 2 / d).sum() / 8
            apart.append(abs(printed - energy) / energy)
    return float(max(apart)), f"{PAGE_STATES} random states, moments {', '.join(f'{x:g}' for x in d)} kg m^2, |q| = {length:g}"


def _left(q: NDArray[Any]) -> NDArray[Any]:
    """S(q): the matrix of multiplication by q from the left."""
    w, x, y, z = q
    return np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])


def return_angle(results: Inputs, method: str) -> tuple[float, str]:
    """The largest angle between the start and the end of a run there and back, over problems and steps."""
    rows = of(results.check("reversibility"), method)
    largest = {str(p): float(rows.return_angle.sel(problem=p).max()) for p in rows.problem.values}
    words = ", ".join(f"{angle:.2g} ({short_name(results, p)})" for p, angle in largest.items())
    return float(rows.return_angle.max()), words


def moment_influence(results: Inputs, least: float) -> tuple[float, str]:
    """The largest angle, rad, by which NO_SQUISH changes with its arbitrary moment, over moments from ``least`` kg m^2."""
    check = results.check("extended_inertia")
    chosen = check.isel(i11=(check.i11.values >= least))
    worst = chosen.angle_to_plain.max("time")
    at = float(chosen.i11.values[int(np.argmax(worst.values))])
    where = short_name(results, str(check.attrs["problem"]))
    return float(worst.max()), f"at I_11 = {at:g} kg m^2, {check.attrs['steps']} steps of the {where}"
