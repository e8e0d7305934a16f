"""Macros for what a step and a solution cost."""

from collections.abc import Mapping, Sequence
from math import isfinite, nan
from typing import Any

import xarray as xr

from polhode.fits.ranking import candidates, winners
from polhode.fits.step_times import OTHER, UNIT, in_frame
from polhode_study.chapters.many_body.frames import times_to_level
from polhode_study.chapters.times.measures import BLOCKS
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import selection
from polhode_study.report.formats import enumerated, factor, macro_name, plain
from polhode_study.report.frames import only_finite
from polhode_study.report.latex import NOT_AVAILABLE, decimal, escape, number

#: Frames in which the angular velocity is kept, with their names in macros.
FRAMES = {"body": "Body", "lab": "Lab"}


def gains(inputs: Inputs) -> dict[str, str]:
    """Macros for speed-ups of SPIRAL over other methods at the published target errors."""
    data = inputs.cost("published")
    result: dict[str, str] = {}
    for key in ("omelyan1998", "verlet", "verlet_delvalle2024"):
        if key in data["integrator"]:
            gains = only_finite(1 / data["speed_up_spiral"].sel(integrator=key).values.ravel())
            result[f"costSpiralOver{macro_name(key)}Least"] = factor(min(gains, default=nan))
            result[f"costSpiralOver{macro_name(key)}Most"] = factor(max(gains, default=nan))
    errors = sorted(data["target_error"].values.tolist())
    result["costPublishedErrors"] = f"{plain(errors[-1])} to {plain(errors[0])}"
    return result


def first(inputs: Inputs) -> dict[str, str]:
    """A macro for the errors from which on several torques per step are worth it although a torque is expensive."""
    inputs.cost("step")
    sooner, some, never = {}, [], []
    for torque_class, problems in selection.problems_by_class(inputs):
        data = inputs.cost(selection.representative(inputs, problems))
        highest_price = float(data["torque_price"].max())
        everyone = winners(data, candidates(data))
        highest = _several_from(data, everyone, highest_price)
        if isfinite(highest):
            sooner[torque_class] = highest
        elif _several_somewhere(data, everyone, highest_price):
            some.append(torque_class)
        else:
            never.append(torque_class)
    if not (sooner or some or never):
        raise NotInRun("this run has no problems")
    return {"costSeveralSentence": _several_sentence(sooner, some, never, inputs.torque_classes)}


def _several_from(data: xr.Dataset, first_of: dict[tuple[float, float], list[tuple[str, float]]], price: float) -> float:
    """The largest target error below which a method with several torques is always first at this price; NaN if none."""
    largest = nan
    for target in sorted(float(t) for t in data["target_error"].values):
        rows = first_of[target, price]
        if not rows:
            continue
        if int(data["torques_per_step"].sel(integrator=rows[0][0])) == 1:
            break
        largest = target
    return largest


def _several_somewhere(data: xr.Dataset, first_of: dict[tuple[float, float], list[tuple[str, float]]], price: float) -> bool:
    """Whether a method with several torques is first at some target error at this price."""
    first = {rows[0][0] for (_, its_price), rows in first_of.items() if its_price == price and rows}
    return any(int(data["torques_per_step"].sel(integrator=key)) > 1 for key in first)


def _several_sentence(sooner: dict[str, float], some: list[str], never: list[str], meanings: Mapping[str, str]) -> str:
    """A sentence on the errors below which methods with several torques are first although a torque is expensive, by class.

    Parameters
    ----------
    sooner : the largest error from which they are first downward, by class
    some : classes in which they are first at some errors, but not at the smallest
    never : all other classes
    meanings : what the torque of a class is, in words
    """
    by_error: dict[float, list[str]] = {}
    for name, error in sooner.items():
        by_error.setdefault(error, []).append(name)
    texts = [
        f"from a target error of {plain(error)} downward where the torque is {_any_of(by_error[error], meanings)}"
        for error in sorted(by_error, reverse=True)
    ]
    texts += [f"at some errors where the torque is {_any_of(some, meanings)}"] if some else []
    if not texts:
        return "at no target error"
    return enumerated([*texts, *(["at none under other torques"] if never else [])])


def _any_of(classes: Sequence[str], meanings: Mapping[str, str]) -> str:
    """What the torque is in some classes of torque, in words."""
    *others, last = (escape(meanings[name]) for name in classes)
    return f"{', '.join(others)} or {last}" if others else last


def scope(inputs: Inputs) -> dict[str, str]:
    """Macros for the prices of a torque that are compared."""
    inputs.cost("step")
    groups = [inputs.cost(problem) for problem in inputs.problems]
    if not groups:
        raise NotInRun("this run has no problems")
    return {
        "costPriceMost": plain(float(groups[0]["torque_price"].max())),
        "costPriceUnit": number(1e9 * float(groups[0].attrs["price_unit"]), 2),
    }


def times(inputs: Inputs) -> dict[str, str]:
    """Macros for times of many bodies: whether they are from the release, and the ratio of Fincham's at the published level."""
    text = "Where marked $^*$, the time of a step is from the release, in proportion to those measured here."
    made = {"costReleasedTimesOfMany": text if inputs.cost("many_body").attrs.get("released") else ""}
    cpu = times_to_level(inputs)["cpu"]
    if "chess" in cpu["case"].values and {"fincham1992", OTHER} <= set(cpu["integrator"].values):
        of_chess = cpu.sel(case="chess")
        ratio = float(of_chess.sel(integrator="fincham1992") / of_chess.sel(integrator=OTHER))
        made["costCpuRatioChessFincham"] = factor(ratio)
    return made


def measured(inputs: Inputs) -> dict[str, str]:
    """Macros for the machine on which the times were measured, and for the procedure."""
    step = inputs.cost("step")
    noted, released = step.attrs, "timed" in step and bool(step.attrs.get("released"))
    times = "Where marked $^*$ in the table, the relative time is from the release, and the other times follow from it."
    texts = {name: escape(str(noted.get(name, NOT_AVAILABLE))) for name in ("cpu", "system", "clock")}
    block = float(noted.get("block", nan))
    return {
        "costCpu": texts["cpu"],
        "costSystem": texts["system"],
        "costClock": texts["clock"],
        "costReleasedTimes": times if released else "",
        "costDay": escape(str(noted.get("date", NOT_AVAILABLE))[:10]),
        "costVersions": f"Numba {escape(str(noted.get('numba', NOT_AVAILABLE)))}",
        "costRounds": str(noted.get("rounds", NOT_AVAILABLE)),
        "costBlock": decimal(1e3 * block, 1),
    }


def steps(inputs: Inputs) -> dict[str, str]:
    """Macros for the time of a step relative to direct Euler, and for the cost of normalisation."""
    result: dict[str, str] = {}
    for frame, name in FRAMES.items():
        rows = in_frame(inputs.cost("step"), frame).set_index("method")
        result[f"costExtra{name}SpiralLeapfrog"] = percent(rows["to_euler"].get(OTHER, nan) - 1)
        if frame == "body":
            added, spread = rows["normalised"] / rows["left_alone"] - 1, rows["median"] / rows["step"] - 1
            result |= {
                "costNormalisingBodyEuler": percent(added.get(UNIT, nan)),
                "costNormalisingLeastBody": percent(float(added.min())),
                "costNormalisingMostBody": percent(float(added.max())),
                "costMedianAboveBody": percent(float(spread.median())),
                "costMedianAboveMostBody": percent(float(spread.max())),
            }
    return result


def percent(fraction: float) -> str:
    """A fraction as an integer percentage, with its sign if it is negative."""
    return rf"\num{{{100 * fraction:.0f}}}\,\%" if isfinite(fraction) else NOT_AVAILABLE


def codings(inputs: Inputs) -> dict[str, str]:
    """Macros for the extra time of a step of SPIRAL over direct Euler's in two codings, whole per cent over all problems."""
    step_times: Any = inputs.published_numbers("two_codings").set_index(["method", "problem"])
    extra = 100 * (step_times.loc[OTHER] / step_times.loc[UNIT] - 1)
    ranges = {"Kernels": extra["kernels"], "C": extra["c"]}
    ends = {f"{name}{end}": value for name, of in ranges.items() for end, value in (("Least", of.min()), ("Most", of.max()))}
    return {f"costCoding{name}": rf"\num{{{value:.0f}}}" for name, value in ends.items()}


def intervals(inputs: Inputs) -> dict[str, str]:
    """Macros for the published value, and for the intervals of ours."""
    stated: Any = inputs.published_numbers("delvalle_cost").set_index("quantity")
    step = float(stated.loc[["step"], "value"].iloc[0])
    statements = inputs.cost_claim_rows["kind"].isin(("number", "statement"))
    return {
        "costPublishedExtra": percent(step - 1),
        "costBlocks": str(BLOCKS),
        "costCoverage": percent(1 - 2 ** (1 - BLOCKS)),
        "costClaimCount": str(int(statements.sum())),
    }
