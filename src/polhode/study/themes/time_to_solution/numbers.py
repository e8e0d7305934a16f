"""Numbers on the time to a solution, for one body and for many."""

from collections.abc import Iterable
from math import isfinite, nan

import numpy as np
import xarray as xr

from polhode.fits.ranking import CLOSE, candidates, winners
from polhode.study.analysis import selection
from polhode.study.analysis.frames import only_finite
from polhode.study.analysis.many_body import MACRO_NAMES, OTHER, times_to_level
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report.formats import enumerated, factor, macro_name, plain, without_comma
from polhode.study.report.latex import NOT_AVAILABLE, escape, number

#: Target errors in macros.
TARGETS = {1e-2: "Two", 1e-3: "Three", 1e-4: "Four", 1e-5: "Five", 1e-6: "Six", 1e-8: "Eight", 1e-10: "Ten"}

FRAMES = {"body": "Body", "lab": "Lab"}

#: Largest target error at which the published ladder and the search are compared: coarser steps have few points.
COMPARED = 1e-3


def published(inputs: Inputs) -> dict[str, str]:
    """Macros for speed-ups of SPIRAL over every other method at the published target errors."""
    data = inputs.cost("published")
    result: dict[str, str] = {}
    gains: dict[str, list[float]] = {}
    for key in map(str, data["integrator"].values):
        for frame, name in FRAMES.items():
            for target, short in TARGETS.items():
                if not np.isclose(data["target_error"].values, target, rtol=1e-9).any():
                    continue
                gain = 1 / float(data["speed_up_spiral"].sel(integrator=key, frame=frame, target_error=target))
                result[f"costSpiralOver{name}{macro_name(key)}{short}"] = factor(gain)
                gains.setdefault(key, []).append(gain)
    for key, values in gains.items():
        known = only_finite(values)
        result[f"costSpiralOver{macro_name(key)}Least"] = factor(min(known, default=nan))
        result[f"costSpiralOver{macro_name(key)}Most"] = factor(max(known, default=nan))
    errors = sorted(data["target_error"].values.tolist())
    result["costPublishedErrors"] = f"{plain(errors[-1])} to {plain(errors[0])}"
    fine = data["target_error"].values <= COMPARED * 1.01
    away = np.abs(data["ladder_dt_at_target"].values / data["dt"].values - 1)[:, fine]
    away = away[np.isfinite(away)]
    result["costLadderWorst"] = number(100 * float(away.max()), 2) if away.size else NOT_AVAILABLE
    result["costLadderMiddle"] = number(100 * float(np.median(away)), 1) if away.size else NOT_AVAILABLE
    result["costLadderBelow"] = plain(COMPARED)
    return result


def first(inputs: Inputs) -> dict[str, str]:
    """Macros for the first method in each torque class, and for the gain from several torques per step."""
    inputs.cost("step")
    result: dict[str, str] = {}
    sooner, some, never = {}, [], []
    for torque_class, problems in selection.problems_by_class(inputs):
        shown = selection.representative(inputs, problems)
        data = inputs.cost(shown)
        prices = [float(price) for price in data["torque_price"].values]
        everyone, single = (winners(data, candidates(data, one_torque)) for one_torque in (False, True))
        name = torque_class.capitalize()
        for suffix, price in (("", min(prices)), ("Dear", max(prices))):
            for target, short in TARGETS.items():
                if (target, price) not in everyone:
                    continue
                rows, ours = everyone[target, price], single[target, price]
                result[f"costFirst{suffix}{name}{short}"] = _label(data, rows)
                result[f"costFirstOne{suffix}{name}{short}"] = _label(data, ours)
                result[f"costSeveralGain{suffix}{name}{short}"] = factor(ours[0][1] / rows[0][1] if rows and ours else nan)
        highest = _several_from(data, everyone, max(prices))
        if isfinite(highest):
            sooner[torque_class] = highest
        elif _several_somewhere(data, everyone, max(prices)):
            some.append(torque_class)
        else:
            never.append(torque_class)
    if not result:
        raise NotInRun("this run has no problems")
    result["costSeveralSentence"] = _several_sentence(sooner, some, never)
    return result


def _label(data: xr.Dataset, rows: list[tuple[str, float]]) -> str:
    return escape(_name(data, rows[0][0])) if rows else "none"


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


def _several_sentence(sooner: dict[str, float], some: list[str], never: list[str]) -> str:
    """A sentence on the errors below which methods with several torques are first although a torque is expensive, by class.

    Parameters
    ----------
    sooner : the largest error from which they are first downward, by class
    some : classes in which they are first at some errors, but not at the smallest
    never : all others
    """
    by_error: dict[float, list[str]] = {}
    for name, error in sooner.items():
        by_error.setdefault(error, []).append(name)
    parts = [rf"{plain(error)} ({_emphasised(by_error[error])})" for error in sorted(by_error, reverse=True)]
    texts = [f"from target errors of {enumerated(parts)} downward"] if parts else []
    texts += [f"at some errors under {_emphasised(some)}"] if some else []
    if not texts:
        return "at no target error"
    return enumerated([*texts, *([f"at none under {_emphasised(never)}"] if never else [])])


def _emphasised(names: Iterable[str]) -> str:
    return enumerated(rf"\emph{{{escape(name)}}}" for name in names)


def scope(inputs: Inputs) -> dict[str, str]:
    """Macros for the extent of the comparison, and for its uncertainty."""
    inputs.cost("step")
    groups = [inputs.cost(problem) for problem in inputs.problems]
    if not groups:
        raise NotInRun("this run has no problems")
    prices = groups[0]["torque_price"].values
    targets = groups[0]["target_error"].values
    reached = sum(int(np.isfinite(data["dt"].values).sum()) for data in groups)
    beyond = sum(int(data["extrapolated"].values.sum()) for data in groups)
    ends = sum(int(data["coarsest"].values.sum()) for data in groups)
    wanted = sum(data["dt"].size for data in groups)
    close, cells = 0, 0
    for data in groups:
        for rows in winners(data, candidates(data)).values():
            if len(rows) > 1:
                cells += 1
                close += rows[1][1] < CLOSE * rows[0][1]
    return {
        "costPriceMost": plain(float(prices.max())),
        "costTargetMost": plain(float(targets.max())),
        "costTargetLeast": plain(float(targets.min())),
        "costTargetsAsked": str(wanted),
        "costTargetsReached": str(reached),
        "costTargetsExtrapolated": str(beyond),
        "costTargetsCoarsest": str(ends),
        "costCloseCells": str(close),
        "costCells": str(cells),
        "costClose": rf"\num{{{100 * (CLOSE - 1):.0f}}}\,\%",
        "costPriceUnit": number(1e9 * float(groups[0].attrs["price_unit"]), 2),
        "costDearTorque": number(1e6 * float(groups[0].attrs["price_unit"]) * float(prices.max()), 2),
    }


def _name(data: xr.Dataset, key: str) -> str:
    return without_comma(str(data["label"].sel(integrator=key).values)) if key in data["integrator"].values else NOT_AVAILABLE


def times(inputs: Inputs) -> dict[str, str]:
    """Macros for the time of a step in each scene and of a run at the published level, and for the ratios to SPIRAL's."""
    steps, to_level = inputs.cost("many_body"), times_to_level(inputs)
    text = "Where marked $^*$, the time of a step is from the release, in proportion to those measured here."
    result = {"costReleasedTimesOfMany": text if steps.attrs.get("released") else ""}
    for scene in map(str, steps["scene"].values):
        for key in map(str, steps["integrator"].values):
            value = float(steps["fastest"].sel(scene=scene, integrator=key))
            result[f"costStep{MACRO_NAMES.get(scene, '')}{macro_name(key)}"] = number(value, 2)
    rows = inputs.published_numbers("delvalle_many_body")
    published = dict(zip(map(str, rows["method"]), map(float, rows["cpu"]), strict=True))
    for case in map(str, to_level["case"].values):
        if case not in MACRO_NAMES:
            continue
        values = to_level["cpu"].sel({"case": case}).values
        of_scene = dict(zip(map(str, to_level["integrator"].values), map(float, values), strict=True))
        for key, value in of_scene.items():
            name = f"{MACRO_NAMES[case]}{macro_name(key)}"
            result[f"costCpu{name}"] = number(value, 2)
            result[f"costCpuRatio{name}"] = factor(value / of_scene.get(OTHER, nan))
    for key, value in published.items():
        result[f"costPublishedCpuRatio{macro_name(key)}"] = factor(value / published[OTHER])
    return result
