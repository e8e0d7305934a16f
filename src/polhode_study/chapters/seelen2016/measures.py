"""Measures for the statements of Seelen et al. (2016)."""

import numpy as np

from polhode_study.chapters.seelen2016 import frames
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.judge.measured import Measured, of
from polhode_study.judge.measures import share_below
from polhode_study.report.selection import short_name

# Seelen et al. (2016), Sec. 1: matrices and quaternions


def rotation_cost(results: Inputs, vectors: int) -> tuple[float, str]:
    """The operations of rotating vectors by the matrix of a quaternion, over those of rotating them by the quaternion."""
    first, second = (results.block_operations(f"{by}_{vectors}") for by in ("matrix", "quaternion"))
    return first / second, f"{first} against {second} operations"


def rotation_rounding(results: Inputs) -> Measured:
    """Ratio of the rounding errors of a vector rotated by a matrix and by the quaternion, as rms, with 95 % interval."""
    names = ("matrix", "quaternion", "ratio", "ratio_low", "ratio_high")
    first, second, ratio, low, high = (float(results.rotation_rounding(name)) for name in names)
    rotations = results.rotation_rounding("ratio").attrs["rotations"]
    return Measured(ratio, f"{first:.2g} against {second:.2g}, {rotations} random rotations", low, high)


# Seelen et al. (2016), Sec. 3.1: the free top


def largest_of(results: Inputs, methods: list[str], quantity: str) -> tuple[float, str]:
    """The largest value of an error over the long run, of several methods."""
    data = results.long_run
    worst = {m: float(of(data, m)[quantity].max()) for m in methods}
    words = ", ".join(f"{results.label(m)} {value:.2g}" for m, value in worst.items())
    return max(worst.values()), f"{words} up to t = {float(data.time[-1]):g} s at dt = {data.attrs['dt']:g} s"


def spin_change(results: Inputs, methods: list[str]) -> tuple[float, str]:
    """The largest relative change of omega_z over the long run."""
    data = results.long_run
    changes = {}
    for method in methods:
        spin = of(data, method)["omega"].values[:, 2]
        changes[method] = float(np.abs(spin / spin[0] - 1).max())
    return max(changes.values()), ", ".join(f"{results.label(m)} {value:.2g}" for m, value in changes.items())


def energy_of_halved_step(results: Inputs, methods: list[str]) -> tuple[float, str]:
    """The energy error over the error with the next larger step, the largest ratio of all pairs of steps.

    For steps up to that of the long run; pairs in which both errors are rounding are excluded.
    """
    data = results.errors
    order = np.argsort(data.dt.values)
    order = order[data.dt.values[order] <= results.long_run.attrs["dt"] * (1 + 1e-9)]
    worst = {}
    for method in methods:
        row = of(data, method).isel(dt=order)
        error = np.where(row.energy_error > 10 * np.finfo(float).eps * row.steps, row.energy_error, np.nan)
        ratio = error[:-1] / error[1:]
        if not np.isfinite(ratio).any():
            raise NotInRun(f"too few steps of {method} clear of rounding")
        worst[method] = float(np.nanmax(ratio))
    return max(worst.values()), ", ".join(f"{results.label(m)} {value:.3g}" for m, value in worst.items())


# Secs. 3.2 to 4


def sphere_error(results: Inputs, method: str, quantity: str) -> tuple[float, str]:
    """The largest error over the run of the sphere (Fig. 2): ``spin``, of omega_y, relative, or ``cosine``, of the arrow."""
    data = results.of(frames.SPHERE).long_run
    if "exact_q" not in data:
        raise NotInRun(f"this run has no exact solution of {frames.SPHERE}")
    row = of(data, method)
    if quantity == "spin":
        # It starts from rest, where the relative error is undefined.
        error = np.abs(row["omega"].values[1:, 1] / data["exact_omega"].values[1:, 1] - 1)
    else:
        error = np.abs(frames.arrow(row["q"].values)[:, 0] - frames.arrow(data["exact_q"].values)[:, 0])
    return float(error.max()), f"up to t = {float(data.time[-1]):g} s at dt = {data.attrs['dt']:g} s"


def end_of_pair(results: Inputs, method: str) -> tuple[float, str]:
    """The smallest of omega_1, the decrease of omega_1, and -omega_2 at the end of the two cylinders, rad/s (Sec. 3.4)."""
    data = results.of(frames.PAIR).long_run
    spins = of(data, method)["omega"].values[:, :, 0]
    first, second = (float(x) for x in spins[-1])
    return min(
        first, float(spins[0, 0]) - first, -second
    ), f"{first:.4g} and {second:.4g} rad/s at t = {float(data.time[-1]):g} s"


def larger_step(results: Inputs, method: str, other: str, dt: float) -> tuple[float, str]:
    """Ratio of the step of one method to ``dt`` of another for the same mean angle error over time (Fig. 3)."""
    steps, wanted = frames.mean_error(results, other, "angle_error_mean")
    at = int(np.argmin(np.abs(steps / dt - 1)))
    if abs(steps[at] / dt - 1) > 1e-6:
        raise NotInRun(f"dt = {dt:g} s is not among the steps of this run")
    steps, error = frames.mean_error(results, method, "angle_error_mean")
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
    switched, declared = (of(data, method)["angle_error"].values for data in (results.long_run_switched, results.long_run))
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
        error = float(of(data, method)["angle_error"].values[at])
        for rival in rivals:
            ratios[f"{results.label(rival)}, {short_name(results, problem)}"] = (
                float(of(data, rival)["angle_error"].values[at]) / error
            )
    lost = {key: value for key, value in ratios.items() if value < 1}
    worst = min(ratios, key=lambda key: ratios[key])
    return ratios[worst], f"{worst}; {len(lost)} of {len(ratios)} pairs below 1"


def mean_order(results: Inputs, method: str, quantity: str) -> Measured:
    """The order with which the mean of an error over time falls (Seelen et al. 2016, Fig. 3)."""
    fit = frames.mean_slope(results, method, quantity)
    if not np.isfinite(fit.order):
        raise NotInRun(f"too few step sizes for an order of {method}")
    words = f"fit {fit.order:.4g} [{fit.low:.4g}, {fit.high:.4g}], over dt = {fit.dt_min:.2g} to {fit.dt_max:.2g} s"
    return Measured(fit.order, words, fit.low, fit.high)


def share_converging(results: Inputs, methods: list[str], quantity: str) -> Measured:
    """The fraction of the published step sizes below which the mean error still falls; the lowest of the methods.

    Undecided where both errors are below the round-off that the steps may accumulate, see :func:`share_won`.
    """
    end = float(results.of(frames.CYLINDER).errors["end_time"].max())
    shares = []
    for method in methods:
        dt, error = frames.mean_error(results, method, quantity)
        if dt.size < 2:
            raise NotInRun("too few step sizes")
        floor = np.finfo(float).eps * end / dt[:-1]
        share = share_below(error[:-1], error[1:], floor, [f"{step:.2g} s" for step in dt[:-1]], "steps", "dt")
        shares.append(share._replace(evidence=f"{results.label(method)}: {share.evidence}"))
    least = min(shares, key=lambda m: m.value)
    lows, highs = (
        [m.value if np.isnan(edge) else edge for m, edge in zip(shares, edges, strict=True)]
        for edges in ([m.low for m in shares], [m.high for m in shares])
    )
    words = "; ".join(m.evidence for m in shares)
    if all(np.isnan(m.low) for m in shares):
        return Measured(least.value, words)
    return Measured(least.value, words, min(lows), min(highs))


def growth_at_end(results: Inputs, methods: list[str], quantity: str) -> tuple[float, str]:
    """The error at the end of the long run over that at half of it; the lowest of the methods."""
    data = results.long_run
    middle = int(np.argmin(np.abs(data.time.values - data.time.values[-1] / 2)))
    pairs = {m: of(data, m)[quantity].values[[middle, -1]] for m in methods}
    words = ", ".join(f"{results.label(m)} {half:.3g} to {end:.3g}" for m, (half, end) in pairs.items())
    return float(min(end / half for half, end in pairs.values())), f"{words} from t = {float(data.time[middle]):g} s to the end"


def arrow_component(results: Inputs, row: str, component: str) -> tuple[float, str]:
    """A component of the arrow on the sphere after 1 s: exact or of a method (Seelen et al. 2016, Table 1)."""
    ours = frames.sphere_end(results)
    if row not in ours.index:
        raise NotInRun(f"{row} is not in this run")
    return float(ours[component][row]), f"{results.label(row)}: x = {ours.x[row]:.7f}, z = {ours.z[row]:.7f}"


def arrow_error(results: Inputs, method: str) -> tuple[float, str]:
    """The error of x as defined in Table 1 of Seelen et al. (2016), relative to the printed theory, in per cent."""
    x, _ = arrow_component(results, method, "x")
    exact, _ = arrow_component(results, "exact", "x")
    theory = float(frames.printed_rows(results).x["Theory"])
    against_exact = frames.error_percent(x, exact)
    return frames.error_percent(x, theory), f"against the printed theory; {against_exact:.3g} % against the exact value"


def arrow_error_decades(results: Inputs, method: str, other: str) -> tuple[float, str]:
    """Orders of magnitude by which the error of x after 1 s of one method exceeds another's, relative to the exact value."""
    exact, _ = arrow_component(results, "exact", "x")
    first, second = (frames.error_percent(arrow_component(results, m, "x")[0], exact) for m in (method, other))
    return float(np.log10(first / second)), f"{first:.3g} % against {second:.3g} %"


def pair_ratio(results: Inputs, method: str, other: str) -> tuple[float, str]:
    """The largest relative error of the first cylinder's spin over the run, divided by another method's (Fig. 5b)."""
    first, second = (float(np.nanmax(frames.first_spin_error(results, m))) for m in (method, other))
    return first / second, f"{first:.2g} against {second:.2g} at dt = {results.of(frames.PAIR).long_run.attrs['dt']:g} s"


def evaluations_per_step(results: Inputs, method: str) -> tuple[float, str]:
    """Torque evaluations of the runs over their steps, at the finest step; one more at the start does not count."""
    row = of(results.errors, method)
    finest = int(np.argmin(row.dt.values))
    steps, count = float(row.steps.values[finest]), float(row.torque_evaluations.values[finest])
    return float(np.floor(count / steps)), f"{count:g} evaluations in {steps:g} steps"
