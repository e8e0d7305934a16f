"""Measures for the statements specific to Seelen et al. (2016), Calzavarini (2010) and Tuckerman (2010) in claims.yaml."""

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from polhode.study.analysis import seelen2016
from polhode.study.analysis.selection import short_name
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.judge.measured import Measure, Measured


def _of(data: xr.Dataset, method: str) -> xr.Dataset:
    if method not in data["integrator"].values:
        raise NotInRun(f"{method} is not in this run")
    return data.sel(integrator=method)


# Tuckerman (2010), Sec. 3.12


def symplectic_defect(results: Inputs, method: str, problems: list[str]) -> tuple[float, str]:
    """The largest defect of the canonical form over one step, over problems and time steps, in the better reading."""
    rows = _of(results.check("symplecticity"), method)
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


# Seelen et al. (2016), Sec. 1: matrices and quaternions


def rotation_cost(results: Inputs, vectors: int) -> tuple[float, str]:
    """The operations of rotating vectors by the matrix of a quaternion, over those of rotating them by the quaternion."""
    one, two = (results.block_operations(f"{by}_{vectors}") for by in ("matrix", "quaternion"))
    return one / two, f"{one} against {two} operations"


def rotation_rounding(results: Inputs) -> Measured:
    """Ratio of the rounding errors of a vector rotated by a matrix and by the quaternion, as rms, with 95 % interval."""
    names = ("matrix", "quaternion", "ratio", "ratio_low", "ratio_high")
    one, two, ratio, low, high = (float(results.rotation_rounding(name)) for name in names)
    rotations = results.rotation_rounding("ratio").attrs["rotations"]
    return Measured(ratio, f"{one:.2g} against {two:.2g}, {rotations} random rotations", low, high)


# Seelen et al. (2016), Sec. 3.1: the free top


def largest_of(results: Inputs, methods: list[str], quantity: str) -> tuple[float, str]:
    """The largest value of an error over the long run, of several methods."""
    data = results.long_run
    worst = {m: float(_of(data, m)[quantity].max()) for m in methods}
    words = ", ".join(f"{results.label(m)} {value:.2g}" for m, value in worst.items())
    return max(worst.values()), f"{words} up to t = {float(data.time[-1]):g} s at dt = {data.attrs['dt']:g} s"


def spin_change(results: Inputs, methods: list[str]) -> tuple[float, str]:
    """The largest relative change of omega_z over the long run."""
    data = results.long_run
    changes = {}
    for method in methods:
        spin = _of(data, method)["omega"].values[:, 2]
        changes[method] = float(np.abs(spin / spin[0] - 1).max())
    return max(changes.values()), ", ".join(f"{results.label(m)} {value:.2g}" for m, value in changes.items())


def energy_of_halved_step(results: Inputs, methods: list[str]) -> tuple[float, str]:
    """The energy error over that with the next larger step, the worst of all pairs of steps.

    For steps up to that of the long run; pairs in which both errors are rounding are excluded.
    """
    data = results.errors
    order = np.argsort(data.dt.values)
    order = order[data.dt.values[order] <= results.long_run.attrs["dt"] * (1 + 1e-9)]
    worst = {}
    for method in methods:
        row = _of(data, method).isel(dt=order)
        error = np.where(row.energy_error > 10 * np.finfo(float).eps * row.steps, row.energy_error, np.nan)
        ratio = error[:-1] / error[1:]
        if not np.isfinite(ratio).any():
            raise NotInRun(f"too few steps of {method} clear of rounding")
        worst[method] = float(np.nanmax(ratio))
    return max(worst.values()), ", ".join(f"{results.label(m)} {value:.3g}" for m, value in worst.items())


# Secs. 3.2 to 4


def sphere_error(results: Inputs, method: str, quantity: str) -> tuple[float, str]:
    """The largest error over the run of the sphere (Fig. 2): ``spin``, of omega_y, relative, or ``cosine``, of the arrow."""
    data = results.of(seelen2016.SPHERE).long_run
    if "exact_q" not in data:
        raise NotInRun(f"this run has no exact solution of {seelen2016.SPHERE}")
    row = _of(data, method)
    if quantity == "spin":
        # It starts from rest, where the relative error is undefined.
        error = np.abs(row["omega"].values[1:, 1] / data["exact_omega"].values[1:, 1] - 1)
    else:
        error = np.abs(seelen2016.arrow(row["q"].values)[:, 0] - seelen2016.arrow(data["exact_q"].values)[:, 0])
    return float(error.max()), f"up to t = {float(data.time[-1]):g} s at dt = {data.attrs['dt']:g} s"


def end_of_pair(results: Inputs, method: str) -> tuple[float, str]:
    """The smallest of omega_1, the decrease of omega_1, and -omega_2 at the end of the two cylinders, rad/s (Sec. 3.4)."""
    data = results.of(seelen2016.PAIR).long_run
    spins = _of(data, method)["omega"].values[:, :, 0]
    one, two = (float(x) for x in spins[-1])
    return min(one, float(spins[0, 0]) - one, -two), f"{one:.4g} and {two:.4g} rad/s at t = {float(data.time[-1]):g} s"


def larger_step(results: Inputs, method: str, other: str, dt: float) -> tuple[float, str]:
    """Ratio of the step of one method to ``dt`` of another for the same mean angle error over time (Fig. 3)."""
    steps, wanted = seelen2016.mean_error(results, other, "angle_error_mean")
    at = int(np.argmin(np.abs(steps / dt - 1)))
    if abs(steps[at] / dt - 1) > 1e-6:
        raise NotInRun(f"dt = {dt:g} s is not among the steps of this run")
    steps, error = seelen2016.mean_error(results, method, "angle_error_mean")
    # From the coarse end, where rounding does not matter.
    crossings = np.flatnonzero((error[:-1] <= wanted[at]) & (error[1:] > wanted[at]))
    if not crossings.size:
        raise NotInRun(f"{method} does not meet the error of {other} within the steps of this run")
    i = int(crossings[-1])
    share = np.log(wanted[at] / error[i]) / np.log(error[i + 1] / error[i])
    step = float(steps[i] * (steps[i + 1] / steps[i]) ** share)
    return step / dt, f"dt = {step:.3g} s against {dt:g} s at a mean angle error of {wanted[at]:.2g} rad"


#: Above this angle error, rad, a run says nothing about the accuracy of a method.
FOLLOWED = 0.1


def switched_ratio(results: Inputs, method: str) -> tuple[float, str]:
    """Ratio of the angle errors along the long run with the normalisation switched and as declared: mean while it is small."""
    switched, declared = (_of(data, method)["angle_error"].values for data in (results.long_run_switched, results.long_run))
    held = (declared > 0) & (declared < FOLLOWED)
    if not held.any():
        raise NotInRun(f"the angle error of {method} is nowhere below {FOLLOWED:g} rad")
    until = float(results.long_run.time.values[held].max())
    return float(np.exp(np.log(switched[held] / declared[held]).mean())), f"{int(held.sum())} samples up to t = {until:g} s"


def least_rival(results: Inputs, method: str, rivals: list[str], problems: list[str], dt_share: int) -> tuple[float, str]:
    """The smallest ratio of a rival's angle error to a method's, over rivals and problems, at about horizon / ``dt_share``."""
    ratios = {}
    for problem in problems:
        data = results.of(problem).errors
        at = int(np.argmin(np.abs(np.log(data.dt.values * dt_share / float(data.end_time.max())))))
        error = float(_of(data, method)["angle_error"].values[at])
        for rival in rivals:
            ratios[f"{results.label(rival)}, {short_name(results, problem)}"] = (
                float(_of(data, rival)["angle_error"].values[at]) / error
            )
    lost = {key: value for key, value in ratios.items() if value < 1}
    worst = min(ratios, key=lambda key: ratios[key])
    return ratios[worst], f"{worst}; {len(lost)} of {len(ratios)} pairs below 1"


# Calzavarini (2010), Sec. I


def lowest_translation_order(results: Inputs, method: str) -> tuple[float, str]:
    """The lower of the orders of position and velocity at a fixed time."""
    row = _of(results.errors, method)
    orders = {name: float(row[f"{name}_order"]) for name in ("r", "v") if f"{name}_order" in row}
    if not orders or not np.isfinite(list(orders.values())).all():
        raise NotInRun(f"no order of the centre of mass could be fitted for {method}")
    return min(orders.values()), ", ".join(f"{name} {value:.4g}" for name, value in orders.items())


MEASURES: dict[str, Measure] = {
    f.__name__: f
    for f in (
        symplectic_defect,
        constrained_defect,
        page_formula,
        rotation_cost,
        rotation_rounding,
        largest_of,
        spin_change,
        energy_of_halved_step,
        sphere_error,
        end_of_pair,
        larger_step,
        switched_ratio,
        least_rival,
        lowest_translation_order,
    )
}
