"""Figure of the first page: what limits each of four kinds of simulations."""

from collections.abc import Callable
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogLocator, NullLocator

from polhode.fits.liquid_drifts import CONSTRAINTS, STATED, outcomes
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
HEIGHTS = (4.3, 7)
#: No type below this size, points.
TYPE = 8.0


class Bar(NamedTuple):
    """A bar with its name, value, colour, and whether it is an upper bound."""

    name: str
    value: float
    colour: str
    is_bound: bool = False

    @property
    def text(self) -> str:
        """The value as it stands at the end of the bar."""
        if not isfinite(self.value):
            return "never"
        mantissa, _, exponent = f"{self.value:.1e}".partition("e")
        digits = int(exponent)
        short = f"{float(f'{self.value:.2g}'):g}" if -4 < digits < 5 else rf"${mantissa}\times10^{{{digits}}}$"
        return f"$<$ {short}" if self.is_bound else short


def limits(inputs: Inputs) -> Figure:
    """A panel for each kind of simulation; a panel says so if the run lacks its data."""
    figure = new_figure((style.FIRST_PAGE_WIDTH, 1.9))
    drawings: tuple[tuple[str, Callable[[Inputs], list[Bar]], float], ...] = (
        ("DEM with friction: error of the spin, %", _impacts, 0.0),
        (f"MD, water at {WATER:g} fs: drift, $kT$/ns", _water, STATED),
        (f"games: Hz for a turn a second (dashed: {FRAMES:g})", _games, FRAMES),
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
    finite = [bar.value for bar in bars if isfinite(bar.value) and bar.value > 0]
    low, most = 10 ** np.floor(np.log10(min(finite)) - 0.2), max(finite)
    # A third of the width is left for the numbers at the ends of the bars.
    high = most * (most / low) ** 0.45
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    for place, bar in enumerate(bars):
        value = min(bar.value, 2 * most)
        look: dict[str, Any] = {"facecolor": "white", "hatch": "////"} if bar.is_bound else {"facecolor": bar.colour}
        axes.barh(place, value - low, left=low, height=0.66, edgecolor=bar.colour, linewidth=0.8, **look)
        number = axes.annotate(bar.text, (value, place), (4, 0), textcoords="offset points", va="center", fontsize=TYPE)
        number.set_path_effects([withStroke(linewidth=1.8, foreground="white")])
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
        Bar("the contact as codes have it", errors["codes"], FIRST),
        Bar("with its four cures", errors["cured"], TAKE),
        Bar("change by another rotation", errors["method"], OTHERS),
    ]


def _water(inputs: Inputs) -> list[Bar]:
    every, cutoffs = outcomes(liquids.runs(inputs)), liquids.cutoffs(inputs)
    best = liquids.recommended(inputs)
    if best is None:
        raise NotInRun("no method is shown to keep the energy of the liquid")
    jump = outcomes(cutoffs.sel(law="shifted_energy"))[best.method][WATER].drift
    bars = [Bar(f"{inputs.label(best.method)}, force jumps", jump, FIRST)]
    for key, name in {analysis.CENTRED: inputs.label(analysis.CENTRED), "richardson": "LAMMPS rigid"}.items():
        if (of_step := every.get(key, {}).get(WATER)) and of_step.is_shown:
            bars.append(Bar(name, abs(of_step.drift), OTHERS))
    (keeps,) = analysis.codes(inputs, {"lammps": "rigid/nve"})
    named = [key for key in (best.method, keeps.method, CONSTRAINTS) if key in every]
    unseen = [every[key][WATER].largest for key in named if not every[key][WATER].is_shown]
    if unseen:
        bars.append(Bar("methods to take" if len(unseen) > 1 else inputs.label(best.method), max(unseen), TAKE, True))
    return bars


def _games(inputs: Inputs) -> list[Bar]:
    ens = law_frames.ensemble(inputs)
    by_method = analysis.grouped(ens, analysis.codes(inputs, analysis.GAMES))
    rows = [(", ".join(names), key, OTHERS) for key, names in by_method.items()]
    rows = sorted(rows, key=lambda row: -analysis.steps(ens, row[1], GAME).most)
    rows.append((f"{ens.label(analysis.CENTRED)}, torque frozen", analysis.FROZEN, FIRST))
    rows.append((ens.label(analysis.CENTRED), analysis.CENTRED, TAKE))
    best = analysis.serving(ens, analysis.without_outputs(inputs, ens), GAME)
    rows.append((ens.label(best), best, TAKE))
    return [Bar(name, analysis.steps(ens, key, GAME).rate, colour) for name, key, colour in rows]


def _spacecraft(inputs: Inputs) -> list[Bar]:
    ens = law_frames.ensemble(inputs)
    several, single = (analysis.serving(ens, kind(inputs, ens), SPACE) for kind in (analysis.several, analysis.single))
    rows = [(f"{ens.label(analysis.CENTRED)}, torque frozen", analysis.FROZEN, FIRST)]
    rows += [(ens.label(key), key, OTHERS) for key in ("verlet", analysis.CENTRED) if key in ens.methods]
    rows += [(ens.label(key), key, TAKE) for key in (single, analysis.RUNGE_KUTTA, several)]
    return [Bar(name, analysis.steps(ens, key, SPACE).most, colour) for name, key, colour in rows]
