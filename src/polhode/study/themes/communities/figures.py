"""Figure of the first page: what limits each of four kinds of simulations."""

from collections.abc import Callable
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from polhode.fits.liquid_drifts import STATED, outcomes
from polhode.study.analysis import law_frames, liquids
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report import style
from polhode.study.report.drawing import new_figure, panel_grid, panel_title, printable
from polhode.study.themes.communities import analysis
from polhode.study.themes.communities.analysis import FRAMES, GAME, SPACE

#: What to take, what is run or else possible, and what to change first.
TAKE, OTHERS, FIRST = "#0072B2", "0.68", "#E69F00"
#: The step in fs of the drifts.
WATER = 2.0
#: Relative heights of the rows of panels: their bars.
HEIGHTS = (5, 7)
#: No type below this size, points.
TYPE = 8.0


class Bar(NamedTuple):
    """A bar with its name, value, the end of a whisker that begins there, its colour, and whether it is an upper bound."""

    name: str
    value: float
    most: float
    colour: str
    is_bound: bool = False


def limits(inputs: Inputs) -> Figure:
    """A panel for each kind of simulation; a panel says so if the run lacks its data."""
    figure = new_figure((style.FIRST_PAGE_WIDTH, 2.2))
    drawings: tuple[tuple[str, Callable[[Inputs], list[Bar]], float], ...] = (
        ("DEM with friction: error of the spin, %", _impacts, 0.0),
        (f"MD, water: drift at {WATER:g} fs, $kT$/ns", _water, STATED),
        ("games: Hz for a turn a second", _games, FRAMES),
        ("spacecraft: steps per radian", _spacecraft, 0.0),
    )
    drawn = 0
    for axes, letter, (title, make, line) in zip(
        panel_grid(figure, 4, 2, height_ratios=HEIGHTS), "abcd", drawings, strict=True
    ):
        panel_title(axes, letter, title)
        try:
            _bars(axes, make(inputs), line)
        except NotInRun:
            axes.text(0.5, 0.5, "not in this run", ha="center", va="center", fontsize=TYPE, transform=axes.transAxes)
            axes.set_yticks([])
        else:
            drawn += 1
    if not drawn:
        raise NotInRun("this run has nothing of what limits the simulations of the first page")
    return figure


def _bars(axes: Axes, bars: list[Bar], line: float) -> None:
    finite = [x for bar in bars for x in (bar.value, bar.most) if isfinite(x) and x > 0]
    low, high = 10 ** np.floor(np.log10(min(finite)) - 0.2), 3 * max(finite)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    for place, bar in enumerate(bars):
        value, most = min(bar.value, high), min(bar.most, high)
        look: dict[str, Any] = {"facecolor": "white", "hatch": "////"} if bar.is_bound else {"facecolor": bar.colour}
        axes.barh(place, value - low, left=low, height=0.66, edgecolor=bar.colour, linewidth=0.8, **look)
        if most > value:
            axes.plot([value, most], [place, place], color="0.15", linewidth=1.1, solid_capstyle="butt")
            axes.plot([most], [place], marker=">" if bar.most == inf else "|", color="0.15", markersize=4, clip_on=False)
    if line:
        axes.axvline(line, color="0.15", linewidth=0.9, linestyle=(0, (4, 2)))
    axes.set_yticks(range(len(bars)), [printable(bar.name) for bar in bars], fontsize=TYPE)
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0, right=False)
    axes.tick_params(axis="x", labelsize=TYPE, top=False, which="both")
    axes.xaxis.set_major_locator(LogLocator(10, numticks=7))
    axes.xaxis.set_minor_locator(NullLocator())


def _impacts(inputs: Inputs) -> list[Bar]:
    errors = analysis.of_impacts(inputs)
    return [
        Bar("the contact as codes book it", errors["codes"], 0, FIRST),
        Bar("with its four cures", errors["cured"], 0, TAKE),
        Bar("another rotation method", errors["method"], 0, OTHERS),
    ]


def _water(inputs: Inputs) -> list[Bar]:
    every, cutoffs = outcomes(liquids.runs(inputs)), liquids.cutoffs(inputs)
    best = liquids.recommended(inputs)
    if best is None:
        raise NotInRun("no method is shown to keep the energy of the liquid")
    jump = outcomes(cutoffs.sel(law="shifted_energy"))[best.method][WATER].drift
    bars = [Bar("a jump at the cut-off", jump, 0, FIRST)]
    for key, name in {
        "spiral_leapfrog": "",
        "richardson": "LAMMPS rigid",
        analysis.CONSTRAINTS: "SETTLE, SHAKE",
        best.method: "",
    }.items():
        of_step = every.get(key, {}).get(WATER)
        if of_step is not None:
            size = abs(of_step.drift) if of_step.is_shown else of_step.largest
            colour = TAKE if key == best.method else OTHERS
            bars.append(Bar(name or inputs.label(key), size, 0, colour, not of_step.is_shown))
    return bars


def _games(inputs: Inputs) -> list[Bar]:
    ens = law_frames.ensemble(inputs)
    by_method = analysis.grouped(ens, analysis.codes(inputs, analysis.GAMES))
    rows = [(", ".join(names), key, OTHERS) for key, names in by_method.items()]
    rows = sorted(rows, key=lambda row: -analysis.steps(ens, row[1], GAME).half)
    rows.append((f"{ens.label(analysis.CENTRED)}, torque frozen", analysis.FROZEN, FIRST))
    rows.append((ens.label(analysis.CENTRED), analysis.CENTRED, TAKE))
    best = analysis.serving(ens, analysis.without_outputs(inputs, ens), GAME)
    rows.append((ens.label(best), best, TAKE))
    return [Bar(name, (of := analysis.steps(ens, key, GAME)).rate("half"), of.rate(), colour) for name, key, colour in rows]


def _spacecraft(inputs: Inputs) -> list[Bar]:
    ens = law_frames.ensemble(inputs)
    best = analysis.serving(ens, analysis.several(inputs, ens), SPACE)
    rows = [(f"{ens.label(analysis.CENTRED)}, torque frozen", analysis.FROZEN, FIRST)]
    rows += [(ens.label(key), key, OTHERS) for key in ("verlet", analysis.CENTRED) if key in ens.methods]
    rows += [(ens.label(key), key, TAKE) for key in (analysis.RUNGE_KUTTA, best)]
    return [Bar(name, (of := analysis.steps(ens, key, SPACE)).half, of.most, colour) for name, key, colour in rows]
