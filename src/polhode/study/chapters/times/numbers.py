"""Macros for what a step and a solution cost, and for what the laws of the ensembles mean in time."""

from collections.abc import Iterable, Mapping
from math import isfinite, nan
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from pandas import isna

from polhode.fits.ranking import CLOSE, candidates, winners
from polhode.fits.step_times import OTHER, UNIT, in_frame
from polhode.study.chapters.laws.frames import FREE, PRICES, ROBUST, SPIRAL, TARGET, EnsembleLaws
from polhode.study.chapters.many_body.frames import MACRO_NAMES, times_to_level
from polhode.study.chapters.times import frames
from polhode.study.chapters.times.frames import counts
from polhode.study.chapters.times.measures import BLOCKS
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report import selection
from polhode.study.report.formats import enumerated, factor, factor_or_infinite, macro_name, plain, spoken, without_comma
from polhode.study.report.frames import keyed, only_finite, records
from polhode.study.report.latex import NOT_AVAILABLE, decimal, escape, number

#: Target errors in macros.
TARGETS = {1e-2: "Two", 1e-3: "Three", 1e-4: "Four", 1e-5: "Five", 1e-6: "Six", 1e-8: "Eight", 1e-10: "Ten"}

FRAMES = {"body": "Body", "lab": "Lab"}

#: Largest target error at which the published ladder and the search are compared: coarser steps have few points.
COMPARED = 1e-3


def gains(inputs: Inputs) -> dict[str, str]:
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


#: Names of parts of a step in macros, and their keys in single_body.nc.
PARTS = {"Normalise": "normalisation", "Rotate": "rotation", "Linear": "linear_update", "Frame": "change_of_frame"}


def operations(inputs: Inputs) -> dict[str, str]:
    """Macros for the operations of a step of each method, and of its building blocks."""
    rows = keyed(counts(inputs), "method")
    result = {f"costOperations{name}": str(inputs.block_operations(block)) for name, block in PARTS.items()}
    for key, row in rows.items():
        if not isna(row["total"]):
            result[f"costOperations{macro_name(key)}"] = str(row["total"])
            result[f"costOperationsRelative{macro_name(key)}"] = decimal(row["relative"], 1)
    # The text does not include the variants as published in its comparisons.
    one = [row for key, row in rows.items() if row["torques"] == 1 and not key.endswith("_delvalle2024")]
    one.sort(key=lambda row: int(row["total"]))
    names = [row["method"] for row in one]
    if not {UNIT, "spiral_leapfrog"} <= set(names):
        return result
    cheaper = one[names.index(UNIT) + 1 : names.index("spiral_leapfrog")]
    result["costOperationsCheaper"] = enumerated(spoken(inputs, str(row["method"])) for row in cheaper)
    result["costOperationsMost"] = escape(one[-1]["label"])
    result["costOperationsMostRelative"] = decimal(one[-1]["relative"], 1)
    return result


#: Names of the frames in macros.
def measured(inputs: Inputs) -> dict[str, str]:
    """Macros for the machine on which the times were measured, and for the procedure."""
    step = inputs.cost("step")
    noted, released = step.attrs, "timed" in step and bool(step.attrs.get("released"))
    times = "Where marked $^*$ in the table, the relative time is from the release, and the other times follow from it."
    texts = {name: escape(str(noted.get(name, NOT_AVAILABLE))) for name in ("cpu", "system", "clock", "core", "problem")}
    block, dt = float(noted.get("block", nan)), float(noted.get("dt", nan))
    return {
        "costCpu": texts["cpu"],
        "costSystem": texts["system"],
        "costClock": texts["clock"],
        "costReleasedTimes": times if released else "",
        "costDay": escape(str(noted.get("date", NOT_AVAILABLE))[:10]),
        "costVersions": f"Numba {escape(str(noted.get('numba', NOT_AVAILABLE)))}",
        "costRounds": str(noted.get("rounds", NOT_AVAILABLE)),
        "costBlock": decimal(1e3 * block, 1),
        "costStepSize": rf"\num{{{dt:.0e}}}" if isfinite(dt) else NOT_AVAILABLE,
    }


def steps(inputs: Inputs) -> dict[str, str]:
    """Macros for the time of a step of each method, in ns and relative to direct Euler, and for the cost of normalisation."""
    step = inputs.cost("step")
    result: dict[str, str] = {}
    for frame, name in FRAMES.items():
        rows = in_frame(step, frame)
        for row in records(rows):
            key = macro_name(row["method"])
            result[f"costStep{name}{key}"] = decimal(row["step"], 1)
            result[f"costNormalising{name}{key}"] = percent(row["normalised"] / row["left_alone"] - 1)
            result[f"costExtra{name}{key}"] = percent(row["to_euler"] - 1)
        result |= _compared(rows, name)
    body, lab = (in_frame(step, frame).set_index("method") for frame in FRAMES)
    exchange = lab["step"] - body["step"]
    for key in body.index:
        result[f"costExchange{macro_name(str(key))}"] = decimal(float(exchange[key]), 0)
    return result


def percent(fraction: float) -> str:
    """A fraction as an integer percentage, with its sign if it is negative."""
    return rf"\num{{{100 * fraction:.0f}}}\,\%" if isfinite(fraction) else NOT_AVAILABLE


def _compared(rows: pd.DataFrame, name: str) -> dict[str, str]:
    """Macros on all methods with the angular velocity kept in one frame."""
    added = rows["normalised"] / rows["left_alone"] - 1
    # The text does not rank the variants as published.
    ranked = rows[~rows["method"].str.endswith("_delvalle2024")].sort_values("step")
    ours = float(ranked["step"][ranked["method"] == OTHER].min())
    cheaper = ranked[(ranked["step"] < ours) & (ranked["method"] != UNIT)]
    dearest = records(ranked)[-1]
    spread = rows["median"] / rows["step"] - 1
    return {
        f"costNormalisingLeast{name}": percent(float(added.min())),
        f"costNormalisingMost{name}": percent(float(added.max())),
        f"costCheaper{name}": enumerated(escape(without_comma(label)) for label in cheaper["label"]),
        f"costDearest{name}": escape(str(dearest["label"])),
        f"costDearestRelative{name}": decimal(float(dearest["to_euler"]), 1),
        f"costMedianAbove{name}": percent(float(spread.median())),
        f"costMedianAboveMost{name}": percent(float(spread.max())),
    }


def time_of_an_operation(inputs: Inputs) -> dict[str, str]:
    """Macros for the time of a step compared with its operations: the range of the time per operation."""
    step, totals = inputs.cost("step"), inputs.cost("operations")["total"].to_series()
    rows = in_frame(step, "body").set_index("method")
    each = (rows["step"] / totals.reindex(rows.index)).dropna()
    if each.empty:
        return {}
    labels: Any = rows["label"]
    return {
        "costOperationLeast": decimal(float(each.min()), 2),
        "costOperationLeastOf": escape(str(labels[each.idxmin()])),
        "costOperationMost": decimal(float(each.max()), 2),
        "costOperationMostOf": escape(str(labels[each.idxmax()])),
    }


def codings(inputs: Inputs) -> dict[str, str]:
    """Macros for the extra time of a step of SPIRAL over direct Euler's in two codings, whole per cent over all problems."""
    step_times: Any = inputs.published_numbers("two_codings").set_index(["method", "problem"])
    extra = 100 * (step_times.loc[OTHER] / step_times.loc[UNIT] - 1)
    ranges = {"Kernels": extra["kernels"], "C": extra["c"], "Both": extra.stack()}
    ends = {f"{name}{end}": value for name, of in ranges.items() for end, value in (("Least", of.min()), ("Most", of.max()))}
    return {f"costCoding{name}": rf"\num{{{value:.0f}}}" for name, value in ends.items()}


def intervals(inputs: Inputs) -> dict[str, str]:
    """Macros for the published value, and for the intervals of ours."""
    stated: Any = inputs.published_numbers("delvalle_cost").set_index("quantity")
    one = float(stated.loc[["step"], "value"].iloc[0])
    statements = inputs.cost_claim_rows["kind"].isin(("number", "statement"))
    return {
        "costPublishedExtra": percent(one - 1),
        "costBlocks": str(BLOCKS),
        "costCoverage": percent(1 - 2 ** (1 - BLOCKS)),
        "costClaimCount": str(int(statements.sum())),
    }


_PRICES = {0.0: "Zero", 10.0: "Ten", 100.0: "Hundred"}
_WORDS = {0.0: "nothing", 10.0: "ten", 100.0: "a hundred"}


def in_time(inputs: Inputs) -> dict[str, str]:
    """Macros for the fastest method, of all and with one torque a step, and the slowdown of some, by situation and price."""
    ens, times = frames.read(inputs)
    result: dict[str, str] = {"costLawUnit": plain(times.get(UNIT, float("nan")))} | _first_of_map(ens, times)
    for situation in frames.present(ens):
        names: dict[str, dict[float, str]] = {"One": {}, "All": {}}
        for price in PRICES:
            if situation is FREE and price:
                continue
            name = f"{situation.key.capitalize()}{_PRICES[price]}"
            one = frames.in_time(ens, times, situation, price, TARGET, True)
            every = frames.in_time(ens, times, situation, price, TARGET, False)
            for kind, compared in (("One", one), ("All", every)):
                text = escape(ens.label(ens.methods[compared.best])) if compared.best >= 0 else NOT_AVAILABLE
                result[f"costLawFastest{kind}{name}"] = text
                names[kind][price] = rf"\emph{{{text}}}"
            for i, key in enumerate(ens.methods):
                if key in (SPIRAL, ROBUST, "exact_rotor", "magnus_adams4", "verlet", "fincham1992"):
                    ends = [float(x) for x in (one.value[i], one.low[i], one.high[i])]
                    result |= _slower(f"costLawSlow{macro_name(key)}{name}", ends, one.best == i)
        for kind, by_cost in names.items():
            if len(by_cost) > 1:
                result[f"costLawFastest{kind}{situation.key.capitalize()}"] = by_price(by_cost)
    return result


def by_price(names: Mapping[float, str]) -> str:
    """The method for each price of a torque, in words; a method that several prices have is named once."""
    prices: dict[str, list[float]] = {}
    for price, name in names.items():
        prices.setdefault(name, []).append(price)
    unit = " steps of direct Euler"
    clauses: list[str] = []
    for name, its_prices in prices.items():
        words = [_WORDS[price] for price in its_prices]
        costs = ", ".join(words[:-1]) + " or " + words[-1] if len(words) > 1 else words[0]
        if any(its_prices):
            costs, unit = costs + unit, ""
        if len(prices) == 1:
            return f"{name}, whether the torque costs {costs}"
        clauses.append(f"{name} if {'it' if clauses else 'the torque'} costs {costs}")
    return enumerated(clauses).replace("; and ", ", and " if len(clauses) == 2 else "; and ")


def _slower(name: str, ends: list[float], itself: bool) -> dict[str, str]:
    """A ratio of times with its interval, alone and together; of the fastest method, that it is this itself."""
    value, low, high = map(factor_or_infinite, ends)
    if itself:
        text = r"\num{1} (itself the fastest)"
        return {name: text, f"{name}Low": r"\num{1}", f"{name}High": r"\num{1}", f"{name}Full": text}
    return {name: value, f"{name}Low": low, f"{name}High": high, f"{name}Full": f"{value} ({low} to {high})"}


def _first_of_map(ens: EnsembleLaws, times: Mapping[str, float]) -> dict[str, str]:
    """The method that is the fastest in most cells of the map, and in how many."""
    best = np.array([frames.fastest(ens, times, situation).best for situation in frames.mapped(ens)])
    if not (best >= 0).any():
        return {}
    counts = np.bincount(best[best >= 0])
    return {
        "costLawMapMethod": escape(ens.label(ens.methods[int(counts.argmax())])),
        "costLawMapCells": str(int(counts.max())),
        "costLawMapAll": str(best.size),
    }
