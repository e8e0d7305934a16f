"""Figures of drift, energy, normalisation and reversibility in long runs, and of librations."""

from collections.abc import Sequence
from math import isfinite
from string import ascii_lowercase
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, NullFormatter

from polhode.fits import drift
from polhode_study.chapters.long_runs import frames, frames_of_drift
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import selection, style
from polhode_study.report.drawing import (
    TIME,
    curves,
    legend_below_styles,
    limits,
    log_error_axis,
    new_figure,
    panel_title,
    printable,
    ratio_ticks,
    row_places,
    rows_height,
    slope_guides,
    styles_of,
)
from polhode_study.report.frames import keyed, records

#: Kinds of growth of a distance, each with the lowest exponent of time and a colour: bounded, slow growth, drift.
GROWTHS: tuple[tuple[float, str, str], ...] = (
    (-np.inf, style.STAYS, "stays bounded"),
    (drift.BOUNDED, style.GROWS, "grows slowly"),
    (drift.GROWING, style.DRIFTS, "grows with $t$ or faster"),
)

#: Markers of the problems, in the order in which they are given.
MARKERS = ("o", "s", "^", "D", "v")

#: Right end of the axes; methods that lost the motion or blew up are drawn there.
EDGE = 30.0

#: Methods whose path through a long run is drawn as a line.
LINES = ("no_squish", "spiral_leapfrog", "omelyan1998", "pcdm2016", "rk4")

#: Place of a symbol beyond the axes, as a fraction of their width from either end.
INSET = 0.03

#: The colour of runs that blew up; the marker shows the problem.
GONE = "black"


def growth_colour(exponent: float, last: float) -> str:
    """The colour of a growth: of a distance that stays at zero or rounding, bounded; white if no other could be fitted."""
    if not isfinite(exponent):
        return GROWTHS[0][1] if last < drift.ROUNDING else "white"
    return [colour for least, colour, _ in GROWTHS if exponent >= least][-1]


def method_rows(axes: Axes, inputs: Inputs, methods: Sequence[str]) -> dict[str, float]:
    """Draw one row for each method, in groups separated by a small space; returns the height of each row."""
    rows, end = row_places(inputs.grouped(methods), 0.5)
    axes.set_yticks(list(rows.values()), [printable(selection.label(inputs, key)) for key in rows])
    axes.set_ylim(end - 0.9, -0.6)
    axes.tick_params(axis="y", length=0, labelsize=style.NOTE)
    for y in rows.values():
        axes.axhline(y, color=style.SHADE, linewidth=style.HAIR, zorder=0)
    return rows


def distance_axis(axes: Axes, low: float, high: float = EDGE) -> None:
    """Set up a logarithmic horizontal axis of distances; beyond one the motion is lost."""
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    decades = int(np.log10(high / low))
    stride = 1 if decades <= 6 else 2 if decades <= 8 else 4
    first = int(np.ceil(np.log10(low)))
    axes.xaxis.set_major_locator(FixedLocator([10.0**e for e in range(first, 1) if e % stride == 0]))
    axes.xaxis.set_minor_locator(FixedLocator([10.0**e for e in range(first, 2) if e % stride]))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.axvspan(drift.LOST_CHANGE, high, color=style.SHADE, zorder=0, linewidth=0)


def _inside(value: float, low: float, high: float = EDGE) -> float:
    """A distance as drawn: within the axes; what is beyond, such as an exact zero, near their ends."""
    return float(np.clip(value, low * (high / low) ** INSET, high * (low / high) ** INSET))


def _lowest(values: pd.Series) -> float:
    """A power of ten below all distances, but not below the resolution of double precision."""
    finite = values[np.isfinite(values) & (values > 0)]
    return float(10.0 ** (np.floor(np.log10(max(finite.min(), 1e-16))) - 0.8)) if len(finite) else 1e-17


def long_drift(inputs: Inputs) -> Figure:
    """A figure of energy, angular momentum and |q| at the end of long runs, all methods; colours show how the distance grew."""
    frame = frames_of_drift.long_runs(inputs, frames_of_drift.long_problems(inputs) or frames_of_drift.LONG_PROBLEMS)
    problems = list(dict.fromkeys(frame["problem"]))
    methods = inputs.in_order(frame["method"])
    figure = new_figure((style.TEXT_WIDTH, max(2.5, rows_height(1.5, 0.235, len(methods)))))
    quantities = ("energy_drift", "momentum_drift", "norm_error")
    panels = figure.subplots(1, 3, sharey=True)
    for axes, name, letter in zip(panels, quantities, "abc", strict=True):
        chosen = frame[frame["quantity"] == name]
        low = _lowest(chosen["last"])
        rows = method_rows(axes, inputs, methods)
        distance_axis(axes, low)
        for record in records(chosen):
            marker = MARKERS[problems.index(record["problem"]) % len(MARKERS)]
            gone = not isfinite(record["last"])
            axes.plot(
                _inside(EDGE if gone else record["last"], low),
                rows[record["method"]] + 0.22 * (problems.index(record["problem"]) - (len(problems) - 1) / 2),
                linestyle="none",
                marker=marker,
                markersize=3.9 if gone else 3.4,
                color=GONE if gone else growth_colour(record["growth"], record["last"]),
                markeredgecolor="white" if gone else style.DARK,
                markeredgewidth=0.5,
                clip_on=False,
                in_layout=False,
            )
        axes.set_xlabel(frames_of_drift.FOLLOWED[name][1])
        panel_title(axes, letter, frames_of_drift.FOLLOWED[name][0])
    handles: list[Any] = [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=MARKERS[i],
            color="white",
            markeredgecolor=style.DARK,
            label=str(inputs.of(key).errors.attrs.get("label", key)),
        )
        for i, key in enumerate(problems)
    ]
    handles += [Patch(facecolor=colour, label=text) for _, colour, text in GROWTHS]
    handles.append(Patch(facecolor=GONE, label="blew up"))
    figure.legend(handles=handles, loc="outside lower center", ncols=4, handlelength=1.2, columnspacing=1.6)
    return figure


def normalisation(inputs: Inputs) -> Figure:
    """A figure of norm and energy at the end of the long runs, with and without normalising the quaternion every step."""
    declared = frames_of_drift.long_runs(inputs, ("free_asymmetric_top", "heavy_top"))
    switched = frames_of_drift.long_runs(inputs, ("free_asymmetric_top", "heavy_top"), "long_run_switched")
    both = declared.merge(switched, on=["problem", "method", "quantity"], suffixes=("", "_switched"))
    if both.empty:
        raise NotInRun("this run has no long run with normalisation switched")
    methods = inputs.in_order(both["method"])
    figure = new_figure((style.TEXT_WIDTH, max(2.3, rows_height(1.3, 0.175, len(methods)))))
    panels = figure.subplots(1, 3, sharey=True)
    shown = (
        ("heavy_top", "norm_error", frames_of_drift.FOLLOWED["norm_error"][1], "norm, heavy top"),
        ("free_asymmetric_top", "energy_drift", frames_of_drift.FOLLOWED["energy_drift"][1], "energy, free top"),
        ("heavy_top", "energy_drift", frames_of_drift.FOLLOWED["energy_drift"][1], "energy, heavy top"),
    )
    for axes, (problem, name, text, title), letter in zip(panels, shown, "abc", strict=True):
        chosen = both[(both["problem"] == problem) & (both["quantity"] == name)]
        low = _lowest(pd.concat([chosen["last"], chosen["last_switched"]]))
        rows = method_rows(axes, inputs, methods)
        distance_axis(axes, low)
        for record in records(chosen):
            y, colour = rows[record["method"]], style.BLUE
            normalises = bool(inputs.of(problem).declared(record["method"], "normalises", False))
            pair = {normalises: record["last"], not normalises: record["last_switched"]}
            at = {with_: _inside(value, low) for with_, value in pair.items() if isfinite(value)}
            if len(at) == 2:
                axes.plot([at[True], at[False]], [y, y], **style.GUIDES, zorder=1)
            for with_, value in pair.items():
                gone = not isfinite(value)
                shift = 0.16 if with_ else -0.16
                axes.plot(
                    _inside(EDGE, low) if gone else at[with_],
                    y + (shift if gone else 0.0),
                    linestyle="none",
                    marker="x" if gone else "o",
                    markersize=3.2 if with_ and not gone else 4.6,
                    markerfacecolor=colour if with_ else "none",
                    color=colour if with_ else style.VERMILION,
                    markeredgecolor=colour if with_ else style.VERMILION,
                    markeredgewidth=0.9,
                    clip_on=False,
                    in_layout=False,
                )
        axes.set_xlabel(text)
        panel_title(axes, letter, title)
    looks: dict[str, dict[str, Any]] = {
        "normalised every step": {"marker": "o", "markersize": 3.2, "color": style.BLUE},
        "never": {"marker": "o", "markersize": 4.6, "color": style.VERMILION, "markerfacecolor": "none"},
        "blew up, normalised": {"marker": "x", "markersize": 4.6, "color": style.BLUE},
        "blew up, not normalised": {"marker": "x", "markersize": 4.6, "color": style.VERMILION},
    }
    handles = [Line2D([], [], linestyle="none", label=label, **look) for label, look in looks.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, handlelength=1.2)
    return figure


def energy_over_time(inputs: Inputs) -> Figure:
    """A figure of energy against time in the long runs, with one method of each kind, to show which ones drift."""
    problems = frames_of_drift.long_problems(inputs)
    shown = [p for p in problems if "energy_drift" in (run := _long_run(inputs, p)) and run["energy_drift"].notnull().any()]
    if not shown:
        raise NotInRun(f"this run has no long run of {', '.join(frames_of_drift.LONG_PROBLEMS)}")
    present = set.intersection(*(set(map(str, _long_run(inputs, p)["integrator"].values)) for p in shown))
    keys = [key for key in (*LINES, *inputs.plugins) if key in present]
    looks = styles_of(inputs, selection.all_methods(inputs))
    figure = new_figure((style.TEXT_WIDTH, 2.7))
    panels = np.atleast_1d(figure.subplots(1, len(shown), sharey=True))
    values = [_long_run(inputs, p)["energy_drift"].sel(integrator=keys).values for p in shown]
    low, high = limits(*(np.where(v > 0, v, np.nan) for v in values))
    for axes, problem, letter in zip(panels, shown, ascii_lowercase, strict=False):
        data = _long_run(inputs, problem)
        time = data["time"].values
        later = time > 0
        distance = {key: np.abs(data["energy_drift"].sel(integrator=key).values) for key in keys}
        tops = {key: _running_top(each, max(1, len(time) // 60))[later] for key, each in distance.items()}
        curves(axes, {key: (time[later], top) for key, top in tops.items()}, looks, 8)
        axes.set_xlim(0, time[-1])
        axes.xaxis.set_major_locator(FixedLocator([0, time[-1] / 2, time[-1]]))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}".replace(",", r"$\,$"))
        # The labels at the ends lie inside, where those of the next panel are not.
        for text, side in zip(axes.get_xticklabels(), ("left", "center", "right"), strict=True):
            text.set_horizontalalignment(side)
        log_error_axis(axes, low, high)
        axes.set_xlabel(TIME)
        panel_title(axes, letter, selection.short_name(inputs, problem))
    panels[0].set_ylabel(frames_of_drift.FOLLOWED["energy_drift"][1])
    legend_below_styles(figure, {key: selection.label(inputs, key) for key in keys}, looks, 5)
    return figure


def _long_run(inputs: Inputs, problem: str) -> Any:
    try:
        return inputs.of(problem).long_run
    except NotInRun:
        return {}


def _running_top(values: np.ndarray, width: int) -> np.ndarray:
    """The maximum of each value and its neighbours within ``width`` samples, so that an oscillation shows as its height."""
    padded = np.pad(values, width, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * width + 1)
    top: np.ndarray = windows.max(axis=-1)
    return top


def librations(inputs: Inputs) -> Figure:
    """A figure of the growth (filled) or damping (hollow) of a libration a step against Omega dt, where there is any."""
    check, data = inputs.check("librations"), keyed(frames.librations(inputs), "method")
    turn = check["turn"].values
    methods = [key for key, record in data.items() if record["power"] > 0]
    looks = styles_of(inputs, data)
    figure = new_figure((style.TEXT_WIDTH, 3.3 + 0.145 * -(-len(methods) // 3)))
    axes = figure.subplots()
    for place, key in enumerate(methods):
        growth, damped = check["growth"].sel(integrator=key).values, data[key]["coefficient"] < 0
        shown = (turn < data[key]["limit"] - 1e-3) if damped else np.full(turn.shape, True)
        # Markers of methods with the same roots lie beside each other.
        look = looks[key] | {"markevery": (place % 5, 5)} | ({"markerfacecolor": "white"} if damped else {})
        looks[key] = look
        axes.plot(turn[shown], np.abs(growth[shown]), **look)
        if damped and isfinite(data[key]["limit"]):
            axes.axvline(data[key]["limit"], ymax=0.04, color=look["color"], linewidth=style.BOLD)
    water = [frames.WAVE_NUMBER * nu * frames.WATER_STEP for nu in frames.WATER_LIBRATIONS]
    axes.axvspan(*water, color=style.SHADE, zorder=0, linewidth=0)
    axes.text(np.sqrt(water[0] * water[1]), 3.0, f"water, {frames.WATER_STEP:g} fs", ha="center", **style.NOTES)
    axes.axvline(2.0, **style.GUIDES, zorder=1)
    axes.set_xscale("log")
    axes.set_xlim(turn[0] * 0.95, turn[-1])
    ratio_ticks(axes.xaxis, *axes.get_xlim(), (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0))
    log_error_axis(axes, 1e-10, 10.0)
    slope_guides(axes, (2, 4, 6))
    axes.set_xlabel(r"$\Omega\,\Delta t$ (rad)")
    axes.set_ylabel(r"$|\ln|\lambda||$ a step")
    legend_below_styles(figure, {key: selection.label(inputs, key) for key in methods}, looks, 3)
    return figure
