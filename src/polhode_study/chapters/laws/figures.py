"""Figures of the laws: slowdown of every method, and the flow chart."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from polhode.fits import impact_errors
from polhode_study.chapters.impacts import frames as impacts
from polhode_study.chapters.laws import advice as analysis
from polhode_study.chapters.laws import frames as law_frames
from polhode_study.chapters.laws.advice import Advice
from polhode_study.chapters.laws.frames import FREE, FRICTION, SMOOTH, BestMethod, EnsembleLaws
from polhode_study.chapters.liquids import frames as liquids
from polhode_study.chapters.many_body.frames import chess_ratios
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import style
from polhode_study.report.drawing import (
    new_figure,
    printable,
)
from polhode_study.report.formats import as_many

#: Upper ends of the ranges of slowdown that have one colour each, and a colour for what never reaches the error.
ENDS = (1.1, 1.5, 3.0, 10.0, 100.0)
NEVER = 1e12
#: Names of the groups of methods above their columns.
GROUP_NAMES = {
    "new in this work": "new",
    "SPIRAL and Omelyan": "SPIRAL",
    "leapfrogs of the angular momentum": "leapfrogs",
    "kicks at both ends": "kicks",
    "splittings and variational": "splittings",
    "PCDM and scalar factor": "PCDM",
    "implicit": "impl.",
    "multistep": "multistep",
    "simple": "simple",
    "engines and codes": "codes",
    law_frames.PUBLISHED: "as published",
}
#: Methods of the figure in the article; a method of the reader's own is shown with them.
TWELVE = (
    *("exact_rotor_dkd_corrected", "magnus_adams4", "adams_bashforth4", "spiral_predicted", "pcdm2016", "spiral_leapfrog"),
    *("omelyan1998", "fincham1992", "fincham1992_yade", "verlet", "richardson", "no_squish"),
)


def slowdown(inputs: Inputs) -> Figure:
    """A heat map of the slowdown of twelve one-torque methods in every class of torque, and below it the chess pieces.

    Columns are methods by group; colours are ranges of the median over bodies of the torques per radian over those of the
    best method of the class; a dot marks the best, and those that the bodies do not tell from it.
    """
    ens = law_frames.ensemble(inputs)
    frame = law_frames.slowdowns(ens)
    table = frame.pivot(index="torque_class", columns="method", values="slowdown").loc[ens.classes]
    groups = columns(ens, table, {*TWELVE, *inputs.plugins})
    keys = [key for _, members in groups for key in members]
    if not keys:
        raise NotInRun("the ensembles of this run have none of the twelve methods of the figure")
    ratios = chess_ratios(inputs, keys)
    heights = [0.135 * len(ens.classes), 0.52] if ratios else [0.135 * len(ens.classes)]
    figure = new_figure((style.WIDE, sum(heights) + 1.3))
    grid: Any = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)
    top, bottom = grid[0, 0], grid[-1, 0]
    _heat(top, table[keys], frame, ens)
    at = np.arange(len(keys)) + 0.5
    if ratios:
        _chess(bottom, keys, ratios)
    marks = {key: r"$^\dagger$" if inputs.declared(key, "caution") else "" for key in keys}
    bottom.set_xticks(at, ["\n".join(wrap(_column_name(ens, key), 10)) + marks[key] for key in keys], fontsize=style.NOTE)
    bottom.tick_params(axis="x", length=0, pad=2)
    top.tick_params(axis="x", length=0, labelbottom=not ratios)
    _groups(top, bottom, groups)
    _heat_legend(figure, table[keys].to_numpy())
    return figure


def columns(ens: EnsembleLaws, table: pd.DataFrame, selected: Collection[str]) -> list[tuple[str, list[str]]]:
    """Those methods of ``selected`` that some class has, by group in the order of their places, in a group by mean slowdown."""
    places, groups = ens.declared("place", 0), ens.declared("group", "")
    single = law_frames.one_torque(ens)
    members: dict[str, list[str]] = {}
    for i in np.argsort(np.array(places), kind="stable"):
        key = ens.methods[int(i)]
        if single[i] and key in selected and table[key].notna().any():
            members.setdefault(groups[int(i)], []).append(key)
    capped = np.log(table.clip(upper=1e4))
    return [(group, sorted(keys, key=lambda key: float(capped[key].mean()))) for group, keys in members.items()]


def _column_name(ens: EnsembleLaws, key: str) -> str:
    label = ens.label(key).replace(" (as published)", "").replace("Adams-Bashforth ", "AB")
    return printable(label.replace("Calzavarini (mean velocities)", "Calzavarini (mean)"))


def _heat(axes: Axes, table: pd.DataFrame, frame: pd.DataFrame, ens: EnsembleLaws) -> None:
    """Draw the heat map with seaborn, in discrete colours, and dots for the best methods."""
    colours, norm = _colours()
    values = table.replace(np.inf, NEVER).set_axis([printable(ens.class_label(name)) for name in table.index], axis=0)
    sns.heatmap(
        values,
        ax=axes,
        cmap=colours,
        norm=norm,
        cbar=False,
        linewidths=style.HAIR,
        linecolor="white",
        xticklabels=False,
        rasterized=False,
    )
    axes.set_facecolor(style.SHADE)
    axes.set_xlabel("")
    axes.set_ylabel("")
    axes.tick_params(axis="y", length=0, labelsize=style.LABEL, rotation=0)
    rows = frame.set_index(["torque_class", "method"])
    for row, torque_class in enumerate(table.index):
        for column, key in enumerate(table.columns):
            cell = rows.loc[(torque_class, key)]
            if not isfinite(cell["slowdown"]):
                continue
            if cell["best"] == key:
                axes.plot(column + 0.5, row + 0.5, marker="*", color="black", markersize=4.6, markeredgewidth=0)
            elif not cell["told_apart"]:
                axes.plot(column + 0.5, row + 0.5, marker="o", color="black", markersize=1.7, markeredgewidth=0)


def _colours() -> tuple[ListedColormap, BoundaryNorm]:
    """Light to dark over the ranges of slowdown; the last colour for methods that never reach the error."""
    shades = [*sns.color_palette("YlGnBu", len(ENDS) + 1), (0.0, 0.0, 0.0)]
    return ListedColormap(shades), BoundaryNorm([0.0, *ENDS, NEVER / 10, 10 * NEVER], len(shades))


def _heat_legend(figure: Figure, values: np.ndarray) -> None:
    """Explain the colours of the ranges into which some value falls."""
    colours, norm = _colours()
    used = set(norm(np.where(np.isinf(values), NEVER, values)[~np.isnan(values)]).tolist())
    texts = [f"up to {ENDS[0]:g}", *(f"{low:g} to {high:g}" for low, high in pairwise(ENDS))]
    texts += [f"above {ENDS[-1]:g}", "never"]
    handles: list[Any] = [
        Patch(facecolor=colours(i), edgecolor=style.PALE, linewidth=style.HAIR, label=t)
        for i, t in enumerate(texts)
        if i in used
    ]
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=len(handles),
        fontsize=style.NOTE,
        handlelength=1.1,
        columnspacing=1.1,
        handletextpad=0.4,
        title="steps per radian, over those of the best one-torque method",
        title_fontsize=style.LABEL,
    )


def _groups(top: Axes, bottom: Axes, groups: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Draw a line before each group through both panels, and its name above it."""
    at = 0
    for number, (group, keys) in enumerate(groups):
        for axes in {top, bottom}:
            if number:
                axes.axvline(
                    at, color="white" if axes is top else style.RULE, linewidth=2.2 if axes is top else style.HAIR, zorder=3
                )
        top.plot(
            [at + 0.12, at + len(keys) - 0.12],
            [1.03, 1.03],
            transform=top.get_xaxis_transform(),
            **style.INK,
            clip_on=False,
        )
        top.text(
            at + len(keys) / 2,
            1.06 + 0.085 * (number % 2),
            GROUP_NAMES.get(group, group.split()[0] if group else "others"),
            transform=top.get_xaxis_transform(),
            fontsize=style.NOTE,
            ha="center",
            va="bottom",
        )
        at += len(keys)


#: The largest ratio that is drawn, and where methods are put that blow up.
TOP = 6000.0


def _chess(axes: Axes, keys: Sequence[str], ratios: dict[str, Any]) -> None:
    axes.axhline(1, color=style.PALE, linewidth=style.HAIR, zorder=1)
    for column, key in enumerate(keys):
        if key not in ratios:
            continue
        ratio = ratios[key]
        if not isfinite(ratio.value):
            axes.plot(column + 0.5, TOP / 1.7, marker="^", color="black", markersize=4)
            continue
        axes.vlines(column + 0.5, max(ratio.low, 0.4), min(ratio.high, TOP), color="black", linewidth=style.LINE)
        axes.plot(column + 0.5, ratio.value, marker="_", color="black", markersize=6, markeredgewidth=1.4)
    axes.set_yscale("log")
    axes.set_ylim(0.4, TOP)
    axes.yaxis.set_major_locator(FixedLocator([1, 30, 1000]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel(
        "energy error\nin collisions,\nover SPIRAL's", fontsize=style.LABEL, rotation=0, ha="right", va="center", labelpad=4
    )
    axes.grid(axis="x", color=style.SHADE, linewidth=style.HAIR)
    axes.tick_params(axis="x", top=False)


# The flow chart


#: Characters in a line of a box.
LINE = 45


@dataclass(frozen=True)
class Leaf:
    """An end of the flow chart: a method, and the lines below it."""

    method: str
    lines: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All lines; the first is the method."""
        return "\n".join((self.method or "n/a", *self.lines))


def leaves(inputs: Inputs) -> dict[str, Leaf]:
    """The ends of the flow chart by name: what the laws of this run recommend.

    Names: liquid, contacts, rubbing, free, friction_one, friction_several, smooth_kept, smooth_one, smooth_several.
    """
    ens = law_frames.ensemble(inputs)
    advice = analysis.all_advice(inputs, ens)
    ends = {"liquid": _liquid_leaf(inputs), "contacts": _contact_leaf(inputs), "rubbing": _rubbing_leaf(inputs)}
    none = Leaf("n/a", ("not in this run",))
    free, smooth, friction = (advice.get(situation.key) for situation in (FREE, SMOOTH, FRICTION))
    ends["free"] = _leaf(free.single) if free else none
    if free and free.single.at_least:
        ends["free"] = Leaf(free.single.label, ("any step",))
    for name, answer in (("friction", friction), ("smooth", smooth)):
        ends[f"{name}_one"] = _leaf(answer.single) if answer else none
        ends[f"{name}_several"] = _several_leaf(answer) if answer else none
    ends["smooth_kept"] = _leaf(smooth.steady) if smooth else none
    return ends


def _leaf(choice: BestMethod) -> Leaf:
    if not choice.method:
        return Leaf("n/a", ("no method is known to reach the error",))
    return Leaf(choice.label, (_steps_text(choice, "steps per radian"),))


def _several_leaf(answer: Advice) -> Leaf:
    if not answer.several.method:
        return Leaf("n/a", ("no method is known to reach the error",))
    torques = f"{round_steps(answer.several.torques)} torques per radian"
    if answer.single.method:
        torques += (
            f", fewer than with one below {_power(answer.breakeven)}"
            if isfinite(answer.breakeven)
            else ", never fewer than with one"
        )
    return Leaf(answer.several.label, (_steps_text(answer.several, "steps per radian"), torques))


def _contact_leaf(inputs: Inputs) -> Leaf:
    collisions = law_frames.collisions(inputs)
    best = law_frames.recommended_in_contacts(collisions)
    if best is None:
        return Leaf("n/a", ("no collisions in this run",))
    equal = [contact.label for contact in law_frames.as_good(collisions) if contact is not best]
    median, low, high = best.steps
    steps = f"{median:.2g} ({low:.2g} to {high:.2g}) steps per elastic contact"
    return Leaf(best.label, (f"or {as_many(equal, LINE)}", steps) if equal else (steps,))


def _rubbing_leaf(inputs: Inputs) -> Leaf:
    """Contacts with friction and damping: the steps of the check ``random_impacts`` for the smaller of its errors."""
    try:
        _, cured, saved = impacts.steps(inputs, impact_errors.ERRORS[0])
    except NotInRun:
        return Leaf("n/a", ("not in this run",))
    half, low, high = map(round_steps, (cured.half, cured.low, cured.high))
    steps = f"{half} ({low} to {high}) steps per contact with all corrections,"
    return Leaf("nearly any method", (steps, f"{saved.median:.1f} times as many with the contact update of codes"))


def _liquid_leaf(inputs: Inputs) -> Leaf:
    try:
        best = liquids.recommended(inputs)
    except NotInRun:
        best = None
    if best is None:
        return Leaf("n/a", ("not in this run",))
    return Leaf(inputs.label(best.method), (f"{best.steps:.1f} steps in the fastest libration ({best.dt:g} fs in water)",))


def _steps_text(choice: BestMethod, unit: str) -> str:
    median, low, high = choice.steps
    if choice.at_least:
        most = round_steps(median)
        return f"at most {most} {unit.replace('steps', 'step') if most == '1' else unit}"
    least = r"$\leq$" if choice.low_at_most else ""
    return f"{round_steps(median)} ({least}{round_steps(low)} to {round_steps(high)}) {unit}"


def round_steps(value: float) -> str:
    """A number of steps with two digits, without an exponent where it is short."""
    if not isfinite(value):
        return "no"
    rounded = float(f"{value:.2g}")
    return f"{rounded:.0f}" if rounded >= 10 else f"{rounded:g}"


def _power(value: float) -> str:
    return rf"$10^{{{round(np.log10(value))}}}$"


#: Height of a row of the flow chart, inches.
_ROW_HEIGHT = 0.49
#: Questions: text, the ends in the middle of which they are, and whether they are in the second column.
_QUESTIONS: dict[str, tuple[str, tuple[str, ...], bool]] = {
    "liquid": ("Is it a liquid of molecules\nat constant energy?", ("liquid",), False),
    "contacts": ("Do bodies collide?\n(short, stiff)", ("contacts", "rubbing"), False),
    "rubbing": ("With friction\nor damping?", ("contacts", "rubbing"), True),
    "free": ("Is there a torque?", ("free",), False),
    "omega": ("Does the torque depend on\nthe angular velocity?", ("friction_one", "friction_several"), False),
    "several_friction": ("Can a step afford\nseveral torques?", ("friction_one", "friction_several"), True),
    "kept": ("Must energy and momentum\nnot drift in long runs?", ("smooth_kept",), False),
    "several_smooth": ("Can a step afford\nseveral torques?", ("smooth_one", "smooth_several"), False),
}
#: From a question to a question below or beside it, or to an end; with the answer.
_ARROWS = (
    ("liquid", "leaf liquid", "yes"),
    ("liquid", "contacts", "no"),
    ("contacts", "rubbing", "yes"),
    ("contacts", "free", "no"),
    ("rubbing", "leaf contacts", "no"),
    ("rubbing", "leaf rubbing", "yes"),
    ("free", "leaf free", "no"),
    ("free", "omega", "yes"),
    ("omega", "several_friction", "yes"),
    ("omega", "kept", "no"),
    ("several_friction", "leaf friction_one", "no"),
    ("several_friction", "leaf friction_several", "yes"),
    ("kept", "leaf smooth_kept", "yes"),
    ("kept", "several_smooth", "no"),
    ("several_smooth", "leaf smooth_one", "no"),
    ("several_smooth", "leaf smooth_several", "yes"),
)
#: Left edge and width of the columns of questions and of ends, in parts of the width of the figure.
_COLUMNS = {False: (0.005, 0.265), True: (0.335, 0.185), "leaf": (0.575, 0.42)}


def decision(inputs: Inputs) -> Figure:
    """A flow chart from the torque to a method and the steps that it needs; its ends are filled by the data.

    Where the method for long runs is that for any run, there is no question about long runs.
    """
    ends = leaves(inputs)
    skipped = "kept" if ends["smooth_kept"] == ends["smooth_one"] else ""
    if skipped:
        leaf = ends["smooth_one"]
        ends["smooth_one"] = Leaf(leaf.method, (*leaf.lines, "also for long runs: energy and momentum do not drift"))
        del ends["smooth_kept"]
    rows = {key: row for row, key in enumerate(ends)}
    figure = Figure(figsize=(style.TEXT_WIDTH, _ROW_HEIGHT * len(rows)))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, 1)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    boxes = {}
    for key, (text, beside, second) in _QUESTIONS.items():
        if key != skipped:
            boxes[key] = _box(axes, _COLUMNS[second], sum(rows[end] for end in beside) / len(beside), text, False)
    boxes |= {f"leaf {key}": _box(axes, _COLUMNS["leaf"], row, ends[key].text, True) for key, row in rows.items()}
    for start, end, text in _ARROWS:
        if start != skipped:
            _arrow(axes, boxes[start], boxes["several_smooth" if end == skipped else end], text)
    return figure


#: Left, right, top and bottom.
Box = tuple[float, float, float, float]
#: Distance of lines of text, and margin of a box, in rows.
_LINE, _MARGIN = 0.235, 0.1


def _box(axes: Axes, column: tuple[float, float], row: float, text: str, leaf: bool) -> Box:
    """Draw a box around its lines of text; returns its edges."""
    left, width = column
    lines = text.split("\n")
    half = _LINE * len(lines) / 2 + _MARGIN
    axes.add_patch(
        FancyBboxPatch(
            (left, row - half),
            width,
            2 * half,
            boxstyle=f"round,pad=0,rounding_size={0.006 if leaf else 0.02}",
            **(style.TAKE if leaf else style.STEP),
            mutation_aspect=style.TEXT_WIDTH / _ROW_HEIGHT,
        )
    )
    for number, line in enumerate(lines):
        first = leaf and number == 0
        axes.text(
            left + 0.012 if leaf else left + width / 2,
            row + _LINE * (number - (len(lines) - 1) / 2),
            line if "$" in line else printable(line),
            ha="left" if leaf else "center",
            va="center",
            fontsize=style.TEXT if first else style.LABEL if leaf else style.KEY,
            color=style.TAKE["edgecolor"] if first else "black",
        )
    return left, left + width, row - half, row + half


def _arrow(axes: Axes, start: Box, end: Box, text: str) -> None:
    """Draw an arrow down between two boxes of a column, or sideways, with a corner where the rows differ; with its answer."""
    props = {"arrowstyle": "-|>", "color": style.DARK, "linewidth": style.FINE, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 8}
    if end[0] < start[1]:
        x = start[0] + 0.07
        axes.annotate("", (x, end[2]), (x, start[3]), arrowprops=props)
        axes.text(x + 0.01, (start[3] + end[2]) / 2, text, fontsize=style.LABEL, style="italic", ha="left", va="center")
        return
    y0, y1 = (start[2] + start[3]) / 2, (end[2] + end[3]) / 2
    begin = start[1]
    if abs(y1 - y0) > 0.05:
        begin = start[1] + 0.018
        axes.plot([start[1], begin, begin], [y0, y0, y1], **style.INK)
    axes.annotate("", (end[0], y1), (begin, y1), arrowprops=props)
    axes.text(max(start[1], begin) + 0.006, y1 - 0.05, text, fontsize=style.LABEL, style="italic", ha="left", va="bottom")


# How laws are fitted, and how they scatter
