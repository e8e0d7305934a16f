"""Numbers on the repeated comparison of del Valle et al. (2024)."""

from collections.abc import Callable
from math import degrees, isfinite, nan

import numpy as np

from polhode.fits.values import at, nearest_step, peak, quotient
from polhode_study.chapters.spiral2024.frames import step_off_the_curve
from polhode_study.chapters.spiral2024.measures import VARIANT_DIVISION
from polhode_study.inputs import Inputs
from polhode_study.report.formats import factor, macro_name, plain, upper
from polhode_study.report.latex import decimal, number
from polhode_study.report.selection import SNAPSHOT_TIME

#: The step size at which originators and published variants are compared in the text, s; the nearest one of the ladder is used.
COMPARED_DT = 1e-4


#: Methods of which the text names the error at the end of the long run, in the middle of it, and the drift of the norm.
AT_THE_END = ("euler", "omelyan1998", "rk4", "spiral_leapfrog")
IN_THE_MIDDLE = ("euler", "spiral_leapfrog")
NORMS = ("buss2000", "omelyan1998", "spiral_leapfrog", "spiral_synchronous")
#: Methods whose steps for the finest and the coarsest target are set against SPIRAL's, and those with a published variant.
STEPS = ("martys1999", "omelyan1998", "rozmanov2010", "verlet", "verlet_delvalle2024")
VARIANTS = ("buss2000", "fincham1992", "pfc4", "verlet")


def each_method(inputs: Inputs) -> dict[str, str]:
    """Macros for errors in the long run, and for the norm."""
    long_run = inputs.long_run
    snapshot = int(np.argmin(np.abs(long_run["time"].values - SNAPSHOT_TIME)))
    made: dict[str, tuple[tuple[str, ...], Callable[[str], str]]] = {
        "LongQ": (AT_THE_END, lambda key: number(at(long_run, "q_error_l1", key, time=-1), 2)),
        "SnapshotAngle": (IN_THE_MIDDLE, lambda key: number(degrees(at(long_run, "angle_error", key, time=snapshot)), 2)),
        "NormDrift": (NORMS, lambda key: number(upper(peak(long_run, "norm_error", key), 1), 1)),
    }
    return {f"study{name}{macro_name(key)}": make(key) for name, (methods, make) in made.items() for key in methods}


def comparisons(inputs: Inputs) -> dict[str, str]:
    """Macros for ratios of steps and errors between methods, and for the deviation of the printed steps from ours."""
    ladder, long_run, targets = inputs.ladder, inputs.long_run, inputs.targets
    result: dict[str, str] = {}

    # The ratio of SPIRAL's step to another method's, for the finest and the coarsest target of all.
    errors = targets["target_error"].values
    for name, column in (("Fine", int(np.argmin(errors))), ("Coarse", int(np.argmax(errors)))):
        result[f"studyGainTarget{name}"] = plain(float(errors[column]))
        for key in STEPS:
            gain = quotient(
                at(targets, "step_size", "spiral_leapfrog", target_error=column),
                at(targets, "step_size", key, target_error=column),
            )
            result[f"studyGain{name}{macro_name(key)}"] = factor(gain)

    # Loss of accuracy of the published variants relative to the methods as described by their originators.
    row = nearest_step(ladder["dt"].values, COMPARED_DT)
    result["studyComparedDt"] = plain(float(ladder["dt"].values[row]))
    for key in VARIANTS:
        loss = quotient(*(at(ladder, "q_error_l1", method, dt=row) for method in (f"{key}_delvalle2024", key)))
        result[f"studyLossQ{macro_name(key)}"] = factor(loss)

    # Direct comparisons at the end of the long run.
    for name, a, b in (
        ("OmelyanSpiral", "omelyan1998", "spiral_leapfrog"),
        ("OmelyanHybrid", "omelyan1998", "spiral_omelyan"),
    ):
        ratio = quotient(at(long_run, "q_error_l1", a, time=-1), at(long_run, "q_error_l1", b, time=-1))
        result[f"studyLongRatio{name}"] = factor(ratio)

    # Table 2: deviation of our steps from the printed ones, and the effect of measuring all methods alike.
    published = inputs.published_steps
    drawn, on_runs, apart = [], [], []
    equal = 0
    for key in dict.fromkeys(published["method"]):
        for column, target in enumerate(errors):
            printed = inputs.published_step(key, float(target))
            as_published = at(targets, "step_size_as_published", key, target_error=column)
            interpolated = step_off_the_curve(inputs, key, float(target))
            on_runs.append(abs(quotient(as_published, printed) - 1))
            drawn.append(abs(quotient(interpolated, printed) - 1))
            equal += f"{interpolated:.3e}" == f"{printed:.3e}"
            if inputs.declared(key, "published_error", "quaternion") != "quaternion":
                apart.append(quotient(at(targets, "step_size", key, target_error=column), as_published))
    finite = [[x for x in values if isfinite(x)] for values in (drawn, on_runs, apart)]
    entries = len(finite[0])
    result["studyTableWorst"] = number(max(finite[0], default=nan), 2)
    result["studyTableWorstFound"] = number(max(finite[1], default=nan), 2)
    result["studyTableEqual"] = f"all {entries}" if equal == entries else f"{equal} of the {entries}"
    result["studyMatrixGainLow"] = decimal(min(finite[2], default=nan), 2)
    result["studyMatrixGainHigh"] = decimal(max(finite[2], default=nan), 2)
    result["studyNoStepNote"] = _no_step(targets["step_size"].transpose("integrator", "target_error").values, errors)
    return result


def variants(inputs: Inputs) -> dict[str, str]:
    """Macros for the published methods with one choice changed: the step, and the change by a matrix as it is."""
    chosen = inputs.check("published_variants").sel({"division": VARIANT_DIVISION, "quantity": "q"})
    row = chosen.sel({"variant": "half_step_as_it_is"})
    gain = float(chosen["error"].sel({"variant": str(row["base"].values)}) / row["error"])
    return {
        "studyVariantDt": number(float(chosen["dt"]), 3),
        "studyVariantSteps": rf"\num{{{VARIANT_DIVISION}}}",
        "studyVariantPercentQHalfStepAsItIs": decimal(100 * abs(quotient(1.0, gain) - 1), 1),
    }


def _no_step(steps: np.ndarray, errors: np.ndarray) -> str:
    """The end of a caption that says why steps (method, target) are missing; empty if there is one for every target."""
    steps = np.asarray(steps, float)[:, np.argsort(errors)]
    gone = ~np.isfinite(steps)
    # Where a smaller error has a step, the larger one is met by the longest step of the search.
    easy = gone & np.maximum.accumulate(~gone, axis=1)
    if not gone.any():
        return ""
    if (gone == easy).all():
        return "; n/a: the longest step tried still meets the target"
    return "; n/a: of the steps tried none is the longest that meets the target"
