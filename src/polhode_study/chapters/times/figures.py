"""The time of a step, the time of a method to a given error, and what the laws of the ensembles mean in time."""

import re
from collections.abc import Callable
from textwrap import wrap
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from polhode.fits import laws
from polhode.fits.ladders import RIVAL, UNIT
from polhode.fits.ranking import CLOSE, at_the_edge, candidates, winners
from polhode_study.chapters.laws.frames import EnsembleLaws
from polhode_study.chapters.times import frames
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import maps, selection, style
from polhode_study.report.drawing import (
    available,
    curves,
    decades_below,
    legend_below_styles,
    log_error_axis,
    method_looks,
    new_figure,
    note,
    outer_labels,
    panel_grid,
    panel_title,
    printable,
    ratio_ticks,
    row_places,
    rows_height,
    styles_of,
)
from polhode_study.report.frames import records
from polhode_study.report.selection import PUBLISHED_SET

#: Opacity of the bands of published values.
BAND = 0.25

#: The methods compared with SPIRAL: those of the publication, a second-order form of Verlet's, and the method of highest order.
RIVALS = ("omelyan1998", "verlet", "verlet_delvalle2024", "rk4")

#: Errors of the work-precision diagrams: above the upper limit nothing is resolved, below the lower one is round-off.
SHOWN_ERRORS = (1e-12, 1.0)

#: Fraction of colour by the time of the second over that of the first, from a threshold on: pale if the lead is small.
LEADS = (
    (1.0, 0.2, rf"second: within {100 * (CLOSE - 1):.0f}$\,$%"),
    (CLOSE, 0.42, "second: up to twice"),
    (2.0, 0.72, "second: longer"),
)


def representatives(inputs: Inputs) -> list[tuple[str, str, xr.Dataset]]:
    """The torque classes of the run, each with the problem that represents it and the problem's group of cost.nc.

    Raises
    ------
    NotInRun
        If the run measured no times, or contains no problem.
    """
    classes = []
    for torque_class, keys in selection.problems_by_class(inputs):
        problem = selection.representative(inputs, keys)
        classes.append((torque_class, problem, inputs.cost(problem)))
    if not classes:
        raise NotInRun("this run has no problems")
    return classes


def speed_up(inputs: Inputs) -> Figure:
    """A figure of speed-ups over direct Euler at target errors, and of SPIRAL over others: del Valle et al. (2024), Fig. 5."""
    data = inputs.cost("published")
    labels, looks = method_looks(data)
    shown = [key for key in available(data, PUBLISHED_SET, inputs.plugins) if key != UNIT]
    rivals = available(data, RIVALS)
    figure = new_figure((style.TEXT_WIDTH, 3.75))
    left, right = figure.subplots(1, 2)
    for axes in (left, right):
        axes.set_yscale("log")
    target = data["target_error"].values
    lab = data.sel(frame="lab")
    for key in shown:
        left.plot(target, lab["speed_up_euler"].sel(integrator=key).values, **looks[key])
    left.axhline(1.0, color=style.PALE, linewidth=style.FINE, zorder=1)
    note(left, "direct Euler", (0.5, 1), (0, -7.5), xycoords=("axes fraction", "data"), ha="center")
    left.set_ylabel("speed-up over direct Euler")
    panel_title(left, "a", "as published: velocity kept in the lab")
    for key in rivals:
        for frame, line in (("body", {}), ("lab", {"linestyle": ":", "marker": "none"})):
            gain = 1 / data["speed_up_spiral"].sel(integrator=key, frame=frame).values
            right.plot(target, gain, **{**looks[key], "linestyle": "-", **line})
    bands: list[Line2D] = []
    others: list[str] = []
    for stated in stated_speed_ups(inputs):
        # A second value for the same method is a broken band.
        broken: Any = (0, (1.0, 0.5)) if stated["other"] in others else "-"
        others.append(stated["other"])
        colour = looks[stated["other"]]["color"] if stated["other"] in looks else style.GUIDE
        right.axhline(stated["value"], color=colour, linewidth=3.5, alpha=BAND, linestyle=broken, zorder=0)
        other = _short(inputs, stated["other"], labels)
        text = f"stated {stated['source'][-4:]}: {stated['reading']} {stated['value']:g} ({other})"
        bands.append(Line2D([], [], color=colour, linewidth=3.5, alpha=BAND, linestyle=broken, label=text))
    right.axhline(1.0, color=style.PALE, linewidth=style.FINE, zorder=1)
    # Space for the legend.
    right.set_ylim(None, right.get_ylim()[1] * 12)
    right.set_ylabel("time over that of SPIRAL")
    panel_title(right, "b", "SPIRAL against others")
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xlim(target.max() * 1.7, target.min() / 1.7)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("target error")
    keys = [*shown, *(key for key in rivals if key not in shown)]
    legend_below_styles(figure, {key: labels[key] for key in keys}, looks, 3)
    right.legend(
        handles=[
            Line2D([], [], color=style.DARK, label="kept in the body frame"),
            Line2D([], [], color=style.DARK, linestyle=":", label="kept in the lab"),
            *bands,
        ],
        loc="upper left",
        fontsize=style.NOTE,
        handlelength=1.8,
        labelspacing=0.25,
    )
    return figure


def stated_speed_ups(inputs: Inputs) -> list[dict[str, Any]]:
    """The speed-ups of SPIRAL over a named method stated in publications: source, other, reading, value."""
    rows = inputs.published_numbers("delvalle_cost")
    rows = rows[(rows["quantity"] == "speed_up") & rows["other"].notna()]
    return records(rows[["source", "other", "reading", "value"]])


def _short(inputs: Inputs, key: str, labels: dict[str, str]) -> str:
    return str(inputs.declared(key, "short_label", labels.get(key, key)))


def work_precision(inputs: Inputs) -> Figure:
    """A figure of error against CPU time, for a torque that costs next to nothing, with a panel for each torque class."""

    def work(data: xr.Dataset) -> np.ndarray:
        seconds = data["step_time"].values[:, None] * _ladder_steps(data)
        return np.asarray(seconds)

    return _against_work(inputs, work, "CPU time (s)", 0)


def work_in_torques(inputs: Inputs) -> Figure:
    """A figure of error against the number of torque evaluations: the cost if the torque is expensive, on any machine."""

    def work(data: xr.Dataset) -> np.ndarray:
        per_step = data["torques_per_step"].values[:, None].astype(float)
        return np.asarray(per_step * _ladder_steps(data) + data["starting_torques"].values[:, None])

    return _against_work(inputs, work, "torque evaluations", -1)


def _ladder_steps(data: xr.Dataset) -> np.ndarray:
    return np.asarray(np.rint(float(data.attrs["horizon"]) / data["ladder_dt"].values)[None, :])


def _against_work(inputs: Inputs, work: Callable[[xr.Dataset], np.ndarray], label: str, price: int) -> Figure:
    """A figure of errors against work. Colours mark the unit, SPIRAL, and the methods that are first at some target error.

    First among all methods, or among those with one torque. ``price`` is the index of the torque price for this ranking.
    """
    examples = representatives(inputs)
    groups = [data for _, _, data in examples]
    labels, looks = method_looks(*groups)
    first = {UNIT, RIVAL}
    for data in groups:
        wanted = float(data["torque_price"].values[price])
        for one_torque in (False, True):
            first_of = winners(data, candidates(data, one_torque))
            first |= {rows[0][0] for (_, other), rows in first_of.items() if rows and other == wanted}
    coloured = [key for key in inputs.in_order(labels) if key in first]
    figure = new_figure((style.TEXT_WIDTH, 0.95 + 2.05 * -(-len(examples) // 3)))
    panels = panel_grid(figure, len(examples), 3, sharey=True)
    for number, (axes, (torque_class, problem, data)) in enumerate(zip(panels, examples, strict=True)):
        effort, error = work(data), data["ladder_error"].values
        inside = np.isfinite(error) & (error > SHOWN_ERRORS[0]) & (error < SHOWN_ERRORS[1]) & np.isfinite(effort)
        effort, error = np.where(inside, effort, np.nan), np.where(inside, error, np.nan)
        methods, competing = list(map(str, data["integrator"].values)), candidates(data)
        lines = {key: (x, y) for key, x, y in zip(methods, effort, error, strict=True) if key in competing}
        curves(axes, lines, {key: looks[key] for key in coloured}, 7)
        if inside.any():
            decades_below(axes, effort, 1.5, 5.5)
        log_error_axis(axes, *SHOWN_ERRORS)
        panel_title(axes, "abcdefgh"[number], f"{torque_class}: {selection.short_name(inputs, problem)}")
    outer_labels(panels, 3, label, r"error $(\varepsilon_q+\varepsilon_\omega)/2$")
    legend_below_styles(
        figure, {**{key: labels[key] for key in coloured}, "": "all others"}, {**looks, "": {"color": style.RULE}}, 3
    )
    return figure


def price_of_torque(inputs: Inputs) -> Figure:
    """A figure of the first method to reach a target error, over error and torque price, with a panel for each torque class."""
    examples = representatives(inputs)
    groups = [data for _, _, data in examples]
    labels, looks = method_looks(*groups)
    columns = min(2, len(examples))
    figure = new_figure((style.TEXT_WIDTH, 0.9 + 1.85 * -(-len(examples) // columns)))
    used: set[str] = set()
    panels = panel_grid(figure, len(examples), 2)
    for number, (axes, (torque_class, problem, data)) in enumerate(zip(panels, examples, strict=True)):
        used |= _map(inputs, axes, data, looks, labels)
        panel_title(axes, "abcdefgh"[number], f"{torque_class}: {selection.short_name(inputs, problem)}")
    outer_labels(panels, columns, "target error", "price of a torque\n(steps of direct Euler)")
    handles = [
        Patch(facecolor=maps.tint(looks[key]["color"], LEADS[-1][1]), label=printable(labels[key]))
        for key in inputs.in_order(labels)
        if key in used
    ]
    handles += [Patch(facecolor=maps.tint(style.BLACK, share), label=text) for _, share, text in LEADS]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, handlelength=1.2, columnspacing=1.6)
    return figure


def _map(inputs: Inputs, axes: Axes, data: xr.Dataset, looks: dict[str, dict[str, Any]], labels: dict[str, str]) -> set[str]:
    """Draw one panel: each cell in the colour of the winner, stronger the larger its lead over the second."""
    targets, prices = data["target_error"].values, data["torque_price"].values
    keys = list(labels)
    first = winners(data, candidates(data))
    best = np.full((len(prices), len(targets)), -1)
    for i, target in enumerate(targets):
        for j, price in enumerate(prices):
            rows = first[float(target), float(price)]
            if not rows:
                maps.empty_cell(axes, i, j)
                continue
            key, seconds = rows[0]
            best[j, i] = keys.index(key)
            lead = rows[1][1] / seconds if len(rows) > 1 else np.inf
            maps.cell(axes, i, j, looks[key]["color"], strength(lead), at_the_edge(data, key, float(target)))
    maps.borders(axes, best, 1.4)
    for method, x, y, length in maps.regions(best):
        text = _short(inputs, keys[method], labels)
        size = 7.0 if len(text) > 4.2 * length else 8.0
        # Longer than its cells: on two lines, if it can be broken.
        maps.name(axes, x, y, re.sub(r" |(?<=-)", "\n", text, count=1) if len(text) > 7 * length else text, size, 0.8, 1.2)
    maps.error_axes(axes, targets, len(prices))
    axes.set_yticks(np.arange(len(prices)) + 0.5, [_price(p) for p in prices])
    return {keys[method] for method in best[best >= 0]}


def strength(lead: float) -> float:
    """The fraction of colour in a cell in which the second method takes ``lead`` times as long.

    A lead below 1 comes from a timing so short that noise made a step cost less than nothing.
    """
    return next((share for least, share, _ in reversed(LEADS) if lead >= least), LEADS[0][1])


def _price(price: float) -> str:
    exponent = np.log10(price) if price > 0 else np.nan
    return rf"$10^{{{round(exponent)}}}$" if exponent > 1 and exponent == round(exponent) else f"{price:g}"


#: The right end of the axes, in units of the slowest median.
MARGIN = 1.1

#: The look of the range up to the median.
MEDIAN: dict[str, Any] = {"facecolor": style.PALE, "edgecolor": style.PALE, "linewidth": style.HAIR}

#: The colour of published values.
PUBLISHED = style.STATED


def relative_cost(inputs: Inputs) -> Figure:
    """A figure of the time of a step relative to direct Euler, in both frames, with and without normalisation.

    The figure has few marks: the numbers are in the table, the quartiles in its CSV, and all samples in cost.nc.
    """
    step = inputs.cost("step")
    keys = list(map(str, step["integrator"].values))
    labels = dict(zip(keys, map(str, step["label"].values), strict=True))
    looks = styles_of(inputs, keys)
    published = inputs.published_numbers("delvalle_cost")
    stated = published[published["quantity"] == "step"]
    figure = new_figure((style.TEXT_WIDTH, max(2.6, rows_height(1.1, 0.185, len(keys)))))
    panels = figure.subplots(1, 2, sharey=True)
    highest = float(np.nanmax(step["relative"].values * step["median"].values / step["fastest"].values)) * MARGIN
    lowest = float(np.nanmin(step["relative"].values)) / 1.15
    for axes, frame, letter in zip(panels, map(str, step["frame"].values), "ab", strict=True):
        in_frame = step.sel({"frame": frame})
        rows = _rows(inputs, axes, labels)
        euler = in_frame.sel(integrator="euler")
        unit = float(euler["fastest"].isel(normalised=int(euler["declared"])))
        for key, row in rows.items():
            of_method = in_frame.sel(integrator=key)
            declared = int(of_method["declared"])
            relative = of_method["relative"].values
            middle = float(of_method["median"].isel(normalised=declared)) / unit
            # Higher than the symbol, which would hide it.
            axes.fill_betweenx([row - 0.46, row + 0.46], relative[declared], middle, **MEDIAN, zorder=2)
            if np.isfinite(relative).all():
                axes.plot(relative, [row, row], **style.INK, zorder=3)
                axes.plot(relative[1 - declared], row, "|" if declared else ".", color=style.DARK, markersize=5, zorder=4)
            axes.plot(relative[declared], row, **{**looks[key], "linestyle": "none", "markersize": 4.8, "zorder": 5})
        for record in stated.to_dict("records"):
            if frame == "lab" and record["method"] in rows:
                y = rows[str(record["method"])]
                axes.plot([record["value"]] * 2, [y - 0.5, y + 0.5], color=PUBLISHED, linewidth=style.BOLD, zorder=6)
        axes.axvline(1.0, **style.GUIDES, linestyle=(0, (4, 2)), zorder=1)
        axes.set_xscale("log")
        axes.set_xlim(lowest, highest)
        ratio_ticks(axes.xaxis, lowest, highest, (0.25, 0.5, 1, 2, 5, 10, 20, 50))
        axes.set_xlabel("time of a step / that of direct Euler")
        panel_title(axes, letter, rf"$\omega$ kept in the {frame} frame")
    _legend(figure)
    return figure


def _rows(inputs: Inputs, axes: Axes, labels: dict[str, str]) -> dict[str, float]:
    """Draw one row for each method, in groups separated by a small space; returns the height of each row."""
    rows, end = row_places(inputs.grouped(labels), 0.4)
    axes.set_yticks(list(rows.values()), [printable(labels[key]) for key in rows])
    axes.set_ylim(end - 0.75, -0.65)
    axes.tick_params(axis="y", length=0, labelsize=style.LABEL)
    for number, y in enumerate(rows.values()):
        if number % 2:
            axes.axhspan(y - 0.5, y + 0.5, color=style.SHADE, zorder=0, linewidth=0)
    return rows


def _legend(figure: Figure) -> None:
    """Draw the legend below both panels."""
    marks: list[tuple[str, dict[str, Any]]] = [
        ("fastest sample, as the method declares", {"marker": "o", "color": style.DARK, "markersize": 4.8}),
        ("with normalisation, which it does not need", {"marker": ".", "color": style.DARK, "markersize": 5}),
        ("without normalisation", {"marker": "|", "color": style.DARK, "markersize": 5}),
        ("published", {"marker": "|", "color": PUBLISHED, "markersize": 8, "markeredgewidth": 1.6}),
    ]
    handles: list[Any] = [Line2D([], [], label=label, **{"linestyle": "none", **look}) for label, look in marks]
    handles.insert(2, Patch(**MEDIAN, label="from there to the median"))
    figure.legend(handles=handles, loc="outside lower center", ncols=2, handlelength=1.2, columnspacing=1.6)


#: The part of a method's colour in its cells: more if bodies tell it from all others.
LIGHT, STRONG = 0.22, 0.5
#: Characters of a name for which a cell has room, with lines of at least so many; the height of a line in cells.
ROOM, WORD, LINE = 6, 9, 0.36


def slowdown_map(inputs: Inputs) -> Figure:
    """A map of the fastest of all methods for a given error per radian, over that error and the price of a torque."""
    ens, times = frames.read(inputs)
    situations = frames.mapped(ens)
    if not situations:
        raise NotInRun("the ensembles of this run have no torque")
    looks = style.styles(ens.methods, dict(zip(ens.methods, ens.declared("variant_of", ""), strict=True)))
    figure = new_figure((style.TEXT_WIDTH, 3.0))
    panels: Any = figure.subplots(1, len(situations), sharey=True, squeeze=False)
    for axes, situation, letter in zip(panels[0], situations, "abc", strict=False):
        fastest = frames.fastest(ens, times, situation)
        _map_of_laws(axes, fastest.best, fastest.apart, ens, looks)
        panel_title(axes, letter, situation.label)
        axes.set_xlabel("error per radian")
    panels[0, 0].set_yticks(np.arange(len(frames.MAP_PRICES)) + 0.5, [f"{price:g}" for price in frames.MAP_PRICES])
    panels[0, 0].set_ylabel("price of a torque\n(steps of direct Euler)")
    return figure


def _map_of_laws(axes: Axes, best: np.ndarray, apart: np.ndarray, ens: EnsembleLaws, looks: dict[str, dict[str, Any]]) -> None:
    """Draw the cells of a panel in the colours of the best methods, with a name in each connected region."""
    for (i, j), method in np.ndenumerate(best):
        if method < 0:
            maps.empty_cell(axes, j, i)
        else:
            maps.cell(axes, j, i, looks[ens.methods[method]]["color"], STRONG if apart[i, j] else LIGHT)
    maps.borders(axes, best, 1.2, around_empty=True)
    names = ens.declared("short_label", "")
    for method, x, y, length in maps.regions(best):
        text = ens.label(ens.methods[method])
        if len(text) > ROOM * length:
            lines = wrap(str(names[method]) or text, max(ROOM * int(length), WORD))
            text, half = "\n".join(lines), LINE * len(lines) / 2
            y = min(max(y, half), len(best) - half)
        maps.name(axes, x, y, text, 6.8, 0.75, 1.0)
    maps.error_axes(axes, np.array(laws.TARGETS), len(best))
