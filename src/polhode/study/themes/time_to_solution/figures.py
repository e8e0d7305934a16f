"""Figures of the time a method takes to a given error."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import LogLocator, NullLocator

from polhode.fits.ladders import RIVAL, UNIT
from polhode.fits.ranking import CLOSE, at_the_edge, candidates, winners
from polhode.study.analysis import selection
from polhode.study.analysis.frames import records
from polhode.study.analysis.selection import PUBLISHED_SET
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report import style
from polhode.study.report.drawing import (
    available,
    legend_below_styles,
    log_error_axis,
    new_figure,
    panel_title,
    printable,
)

#: Opacity of the bands of published values.
BAND = 0.25

#: The methods compared with SPIRAL: those of the publication, a second-order form of Verlet's, and the method of highest order.
RIVALS = ("omelyan1998", "verlet", "verlet_delvalle2024", "rk4")

#: Errors of the work-precision diagrams: above the upper limit nothing is resolved, below the lower one is round-off.
SHOWN_ERRORS = (1e-12, 1.0)

#: Fraction of a method's colour in a cell, low enough for text to stand out.
TINT = 0.5

#: Fraction of colour by the time of the second over that of the first, from a threshold on: pale if the lead is small.
LEADS = (
    (1.0, 0.2, rf"second: within {100 * (CLOSE - 1):.0f}$\,$%"),
    (CLOSE, 0.42, "second: up to twice"),
    (2.0, 0.72, "second: longer"),
)

#: Space between the torque classes in the overview, in cells.
GAP = 0.35


def representatives(inputs: Inputs) -> list[tuple[str, str, xr.Dataset]]:
    """The torque classes of the run, each with the problem that represents it and the problem's group of cost.nc.

    Raises
    ------
    NotInRun
        If the run measured no times, or contains no problem.
    """
    found = []
    for torque_class, keys in selection.problems_by_class(inputs):
        problem = selection.representative(inputs, keys)
        found.append((torque_class, problem, inputs.cost(problem)))
    if not found:
        raise NotInRun("this run has no problems")
    return found


def _looks(*groups: xr.Dataset) -> dict[str, dict[str, Any]]:
    """Styles of all methods of some groups of cost.nc."""
    variants = {
        key: str(parent)
        for data in groups
        for key, parent in zip(map(str, data["integrator"].values), data["variant_of"].values, strict=True)
    }
    return style.styles(variants, variants)


def _labels(*groups: xr.Dataset) -> dict[str, str]:
    return {
        str(key): str(text)
        for data in groups
        for key, text in zip(data["integrator"].values, data["label"].values, strict=True)
    }


def speed_up(inputs: Inputs) -> Figure:
    """A figure of speed-ups over direct Euler at target errors, and of SPIRAL over others: del Valle et al. (2024), Fig. 5."""
    data = inputs.cost("published")
    looks, labels = _looks(data), _labels(data)
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
    left.axhline(1.0, color="0.6", linewidth=0.8, zorder=1)
    left.annotate(
        "direct Euler", (0.5, 1), xycoords=("axes fraction", "data"), xytext=(0, -7.5), textcoords="offset points", fontsize=7,
        color="0.4", ha="center",
    )  # fmt: skip
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
        colour = looks[stated["other"]]["color"] if stated["other"] in looks else "0.5"
        right.axhline(stated["value"], color=colour, linewidth=3.5, alpha=BAND, linestyle=broken, zorder=0)
        other = _short(inputs, stated["other"], labels)
        text = f"stated {stated['source'][-4:]}: {stated['reading']} {stated['value']:g} ({other})"
        bands.append(Line2D([], [], color=colour, linewidth=3.5, alpha=BAND, linestyle=broken, label=text))
    right.axhline(1.0, color="0.6", linewidth=0.8, zorder=1)
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
            Line2D([], [], color="0.3", label="kept in the body frame"),
            Line2D([], [], color="0.3", linestyle=":", label="kept in the lab"),
            *bands,
        ],
        loc="upper left",
        fontsize=7,
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
    shown = representatives(inputs)
    groups = [data for _, _, data in shown]
    looks, labels = _looks(*groups), _labels(*groups)
    first = {UNIT, RIVAL}
    for data in groups:
        wanted = float(data["torque_price"].values[price])
        for one_torque in (False, True):
            found = winners(data, candidates(data, one_torque))
            first |= {rows[0][0] for (_, other), rows in found.items() if rows and other == wanted}
    coloured = [key for key in inputs.in_order(labels) if key in first]
    lines = -(-len(shown) // 3)
    figure = new_figure((style.TEXT_WIDTH, 0.95 + 2.05 * lines))
    panels = np.atleast_1d(figure.subplots(lines, min(3, len(shown)), sharey=True)).ravel()
    for number, (torque_class, problem, data) in enumerate(shown):
        axes = panels[number]
        effort, error = work(data), data["ladder_error"].values
        inside = np.isfinite(error) & (error > SHOWN_ERRORS[0]) & (error < SHOWN_ERRORS[1]) & np.isfinite(effort)
        for key in candidates(data):
            i = list(data["integrator"].values).index(key)
            x, y = effort[i][inside[i]], error[i][inside[i]]
            if key in coloured:
                axes.plot(x, y, markevery=max(1, len(x) // 7), zorder=3, **{**looks[key], "linewidth": 0.9})
            else:
                axes.plot(x, y, color="0.78", linewidth=0.6, zorder=1)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(10, numticks=12))
        axes.xaxis.set_minor_locator(NullLocator())
        spread = effort[inside]
        if spread.size:
            axes.set_xlim(spread.min() / 1.5, spread.max() * 1.5)
            decades = np.log10(spread.max() / spread.min())
            axes.xaxis.set_major_locator(LogLocator(100 if decades > 5.5 else 10, numticks=12))
        log_error_axis(axes, *SHOWN_ERRORS)
        panel_title(axes, "abcdefgh"[number], f"{torque_class}: {selection.short_name(inputs, problem)}")
        if number % 3 == 0:
            axes.set_ylabel(r"error $(\varepsilon_q+\varepsilon_\omega)/2$")
        if number + 3 >= len(shown):
            axes.set_xlabel(label)
    for axes in panels[len(shown) :]:
        axes.set_axis_off()
    legend_below_styles(
        figure, {**{key: labels[key] for key in coloured}, "": "all others"}, {**looks, "": {"color": "0.78"}}, 3
    )
    return figure


def price_of_torque(inputs: Inputs) -> Figure:
    """A figure of the first method to reach a target error, over error and torque price, with a panel for each torque class."""
    shown = representatives(inputs)
    groups = [data for _, _, data in shown]
    looks, labels = _looks(*groups), _labels(*groups)
    columns = min(2, len(shown))
    lines = -(-len(shown) // columns)
    figure = new_figure((style.TEXT_WIDTH, 0.6 + 1.85 * lines))
    panels = np.atleast_1d(figure.subplots(lines, columns)).ravel()
    used: set[str] = set()
    for number, (torque_class, problem, data) in enumerate(shown):
        axes = panels[number]
        used |= _map(inputs, axes, data, looks, labels)
        panel_title(axes, "abcdefgh"[number], f"{torque_class}: {selection.short_name(inputs, problem)}")
        if number % columns == 0:
            axes.set_ylabel("price of a torque\n(steps of direct Euler)")
        if number + columns >= len(shown):
            axes.set_xlabel("target error")
    for axes in panels[len(shown) :]:
        axes.set_axis_off()
    handles = [
        Patch(facecolor=_tint(looks[key]["color"], LEADS[-1][1]), label=printable(labels[key]))
        for key in inputs.in_order(labels)
        if key in used
    ]
    handles += [Patch(facecolor=_tint("#000000", share), label=text) for _, share, text in LEADS]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, handlelength=1.2, columnspacing=1.6)
    return figure


def best_methods(inputs: Inputs) -> Figure:
    """A figure of the first method on each problem at each target error: of all, and of those with one torque per step."""
    classes = selection.problems_by_class(inputs)
    groups = {problem: inputs.cost(problem) for _, keys in classes for problem in keys}
    if not groups:
        raise NotInRun("this run has no problems")
    looks, labels = _looks(*groups.values()), _labels(*groups.values())
    targets = next(iter(groups.values()))["target_error"].values
    highest = max(float(price) for price in next(iter(groups.values()))["torque_price"].values)
    figure = new_figure((style.TEXT_WIDTH, 1.35 + 0.235 * (len(groups) + GAP * len(classes))))
    panels = figure.subplots(1, 3, sharey=True)
    kinds = ((False, 0.0, "all, cheap torque"), (True, 0.0, "one torque, cheap"), (True, highest, "one torque, expensive"))
    used: set[str] = set()
    for axes, (one_torque, price, title), letter in zip(panels, kinds, "abc", strict=True):
        at, names, ticks = 0.0, [], []
        for number, (_, problems) in enumerate(classes):
            at += GAP if number else 0.0
            for problem in problems:
                data = groups[problem]
                found = winners(data, candidates(data, one_torque))
                for i, target in enumerate(targets):
                    used |= _best_cell(axes, i, at, found.get((float(target), price), []), data, float(target), looks)
                names.append(selection.short_name(inputs, problem))
                ticks.append(at + 0.5)
                at += 1.0
        axes.set_xlim(0, len(targets))
        axes.set_ylim(at, 0)
        axes.set_xticks(np.arange(len(targets)) + 0.5, [rf"${round(np.log10(t))}$" for t in targets])
        axes.set_yticks(ticks, names)
        axes.tick_params(length=0, labelsize=7)
        panel_title(axes, letter, title)
        for spine in axes.spines.values():
            spine.set_visible(False)
    panels[1].set_xlabel("power of ten of the target error")
    at = 0.0
    for number, (name, problems) in enumerate(classes):
        at += GAP if number else 0.0
        above = panels[0].get_yaxis_transform()
        panels[0].plot(
            [-0.62, -0.62], [at + 0.08, at + len(problems) - 0.08], color="0.3", linewidth=0.9, clip_on=False, transform=above
        )
        panels[0].text(-0.65, at + len(problems) / 2, name, fontsize=7, ha="right", va="center", transform=above)
        at += len(problems)
    keys = [key for key in inputs.in_order(labels) if key in used]
    marks = {key: {**looks[key], "linestyle": "none", "markersize": 6} for key in keys}
    legend_below_styles(figure, {key: labels[key] for key in keys}, marks, 3)
    return figure


def _best_cell(
    axes: Axes,
    x: float,
    y: float,
    rows: list[tuple[str, float]],
    data: xr.Dataset,
    target: float,
    looks: dict[str, dict[str, Any]],
) -> set[str]:
    """Draw one cell of the overview: the winner's colour and marker; hatched grey if no method reaches the target."""
    if not rows:
        none: Any = {"facecolor": "white", "edgecolor": "0.8", "hatch": "////", "linewidth": 0}
        axes.add_patch(Rectangle((x, y), 1, 1, **none))
        return set()
    key = rows[0][0]
    _winner_cell(axes, x, y, looks[key]["color"], at_the_edge(data, key, target))
    axes.plot([x + 0.5], [y + 0.5], **{**looks[key], "linestyle": "none", "markersize": 3.6}, clip_on=False)
    return {key}


def _map(inputs: Inputs, axes: Axes, data: xr.Dataset, looks: dict[str, dict[str, Any]], labels: dict[str, str]) -> set[str]:
    """Draw one panel: each cell in the colour of the winner, stronger the larger its lead over the second."""
    targets, prices = data["target_error"].values, data["torque_price"].values
    first = winners(data, candidates(data))
    best: dict[tuple[int, int], str] = {}
    for i, target in enumerate(targets):
        for j, price in enumerate(prices):
            rows = first[float(target), float(price)]
            if not rows:
                axes.add_patch(Rectangle((i, j), 1, 1, facecolor="white", edgecolor="0.8", hatch="////", linewidth=0))
                continue
            key, seconds = rows[0]
            best[i, j] = key
            lead = rows[1][1] / seconds if len(rows) > 1 else np.inf
            _winner_cell(axes, i, j, looks[key]["color"], at_the_edge(data, key, float(target)), strength(lead))
    for (i, j), key in best.items():
        # A line where the winner changes.
        for (di, dj), xs, ys in (((1, 0), (i + 1, i + 1), (j, j + 1)), ((0, 1), (i, i + 1), (j + 1, j + 1))):
            if best.get((i + di, j + dj), key) != key:
                axes.plot(xs, ys, color="black", linewidth=1.4, solid_capstyle="projecting", zorder=3)
    for cells in _regions(best):
        key = best[cells[0]]
        begin, length, row = _name_place(cells)
        name = _short(inputs, key, labels)
        small = 7.0 if len(name) > 4.2 * length else 8.0
        # Longer than its cells: on two lines, if it can be broken.
        name = re.sub(r" |(?<=-)", "\n", name, count=1) if len(name) > 7 * length else name
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.2}
        axes.text(
            begin + length / 2,
            row + 0.5,
            printable(name),
            fontsize=small,
            ha="center",
            va="center",
            zorder=4,
            bbox=box,
            linespacing=1.0,
        )
    axes.set_xlim(0, len(targets))
    axes.set_ylim(0, len(prices))
    axes.set_xticks(np.arange(len(targets)) + 0.5, [rf"$10^{{{round(np.log10(t))}}}$" for t in targets])
    axes.set_yticks(np.arange(len(prices)) + 0.5, [_price(p) for p in prices])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return set(best.values())


def strength(lead: float) -> float:
    """The fraction of colour in a cell in which the second method takes ``lead`` times as long.

    A lead below 1 comes from a timing so short that noise made a step cost less than nothing.
    """
    return next((share for least, share, _ in reversed(LEADS) if lead >= least), LEADS[0][1])


def _winner_cell(axes: Axes, x: float, y: float, colour: str, edge: bool, share: float = TINT) -> None:
    """Draw a cell in a method's colour, with thin white edges; hatched if its step size is the first or last of the runs."""
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=_tint(colour, share), edgecolor="white", linewidth=0.4))
    if edge:
        hatched: Any = {"facecolor": "none", "edgecolor": (1, 1, 1, 0.45), "hatch": "////", "linewidth": 0}
        axes.add_patch(Rectangle((x, y), 1, 1, **hatched))


def _price(price: float) -> str:
    exponent = np.log10(price) if price > 0 else np.nan
    return rf"$10^{{{round(exponent)}}}$" if exponent > 1 and exponent == round(exponent) else f"{price:g}"


def _tint(colour: str, share: float = TINT) -> tuple[float, float, float]:
    """A colour mixed with white, so that black text stands out."""
    red, green, blue = (1 - share * (1 - x) for x in to_rgb(colour))
    return red, green, blue


def _regions(best: dict[tuple[int, int], str]) -> list[list[tuple[int, int]]]:
    """The cells divided into connected groups with one winner each."""
    left, found = dict(best), []
    while left:
        start = next(iter(left))
        key = left.pop(start)
        group, front = [start], [start]
        while front:
            i, j = front.pop()
            for near in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
                if left.get(near) == key:
                    del left[near]
                    group.append(near)
                    front.append(near)
        found.append(sorted(group))
    return found


def _name_place(cells: Sequence[tuple[int, int]]) -> tuple[int, int, int]:
    """The place of a region's name: beginning and length of its longest run of cells in a row, and that row."""
    runs = []
    for row in sorted({j for _, j in cells}):
        columns = sorted(i for i, j in cells if j == row)
        begin = columns[0]
        for here, there in zip(columns, [*columns[1:], -1], strict=True):
            if there != here + 1:
                runs.append((here - begin + 1, row, begin))
                begin = there
    # Of runs of equal length, the middle one.
    longest = [run for run in runs if run[0] == max(runs)[0]]
    length, row, begin = longest[len(longest) // 2]
    return begin, length, row
