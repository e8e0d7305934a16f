"""Figure of liquids in a heat bath: temperatures, potential energy, and methods that a bath does not heal."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from polhode.fits import baths as analysis
from polhode.fits.bath_runs import CHAINS
from polhode_study.chapters.baths import frames
from polhode_study.inputs import Inputs
from polhode_study.report import style
from polhode_study.report.drawing import drawn_in_turn, new_figure, panel_grid, printable, styles_of

STEP_FS = r"time step $\Delta t$ (fs)"
#: What is drawn of which scheme: reading, name, colour, marker, and what linear analysis says of it over the bath.
READ = (
    ("BAOAB", "middle_rotation", "BAOAB, between the kicks", style.NAVY, "o", None),
    ("BAOAB", "rotation", "BAOAB, end of the step", style.NAVY, "s", analysis.at_the_end),
    ("LAMMPS", "rotation", "as forces, end of the step", style.RED, "s", None),
    ("LAMMPS", "configurational", "as forces, by torques", style.RED, "D", analysis.of_places),
)
#: Where keys stand: inside they would cover points.
BELOW: dict[str, Any] = {"fontsize": style.NOTE, "loc": "upper center", "bbox_to_anchor": (0.5, -0.2), "handletextpad": 0.1}
#: Colours of frictions, 1/ps.
COLOURS = matplotlib.colormaps["viridis"](np.linspace(0.0, 0.8, 3)).tolist()


def baths(inputs: Inputs) -> Figure:
    """A figure with three panels."""
    figure = new_figure((style.TEXT_WIDTH, 3.5))
    panels = panel_grid(figure, 3, 3)
    drawings = {"rotation": _rotation, "potential energy": _potential, "methods that drift": _methods}
    drawn_in_turn(panels, "abc", drawings, inputs)
    return figure


def _points(axes: Axes, at: list[float], values: list[Any], **options: Any) -> None:
    """Values with their intervals."""
    ends = np.array([(each.value - each.low, each.high - each.value) for each in values]).reshape(-1, 2).T
    looks: dict[str, Any] = {"linestyle": "none", "markersize": 3.2, "linewidth": style.FINE} | options
    axes.errorbar(at, [each.value for each in values], ends, **looks)


def _rotation(axes: Axes, inputs: Inputs) -> None:
    every, rate = frames.runs(inputs), frames.rates(inputs)[1]
    for scheme, name, label, colour, marker, over in READ:
        ladder = every.ladder(frames.SMALL, scheme, frames.FRICTION)
        values = [case.configurational if name == "configurational" else case.reading(name) for case in ladder.values()]
        _points(axes, list(ladder), values, color=colour, marker=marker, label=label)
        if over is not None:
            fine = np.linspace(0, max(ladder), 100)
            axes.plot(fine, [every.temperature * over(rate, dt) for dt in fine], color=colour, linewidth=style.FINE)
    axes.axhline(every.temperature, **style.GUIDES)
    axes.set_xlabel(STEP_FS)
    axes.set_ylabel("temperature of rotation (K)")
    axes.legend(**BELOW)


def _potential(axes: Axes, inputs: Inputs) -> None:
    every = frames.runs(inputs)
    truth = every.truth(frames.SMALL)
    frictions = sorted({case.friction for case in every.cases.values() if case.scheme == "BAOAB"})
    looks = {("BAOAB", friction): (colour, "o") for friction, colour in zip(frictions, COLOURS, strict=False)}
    looks |= {("OBABO", frames.FRICTION): (style.GOLD, "D"), ("LAMMPS", frames.FRICTION): (style.RED, "s")}
    looks |= {(CHAINS, frames.OF_CHAINS): (style.LEAF, "^")}
    for (scheme, friction), (colour, marker) in looks.items():
        ladder = every.ladder(frames.SMALL, scheme, friction)
        values = [case.biases(truth)["potential"] for case in ladder.values()]
        label = frames.SCHEMES[scheme] + (f", {friction:g}/ps" if scheme != CHAINS else "")
        _points(axes, list(ladder), values, color=colour, marker=marker, label=label)
    axes.axhline(0, **style.GUIDES)
    axes.set_xlabel(STEP_FS)
    axes.set_ylabel("potential energy above the truth ($kT$)")
    axes.legend(**BELOW)


def _methods(axes: Axes, inputs: Inputs) -> None:
    every = frames.runs(inputs)
    methods = dict.fromkeys(case.scheme for case in every.cases.values() if case.scheme not in frames.SCHEMES)
    looks = styles_of(inputs, methods)
    for method in methods:
        colour, marker = looks[method]["color"], looks[method]["marker"]
        for dt, face in ((2.0, colour), (4.0, "white")):
            cases = [case for case in every.cases.values() if (case.scheme, case.dt) == (method, dt) and not case.is_lost]
            at, shift = [case.friction for case in cases], [case.excess for case in cases]
            label = printable(f"{inputs.label(method)}, {dt:g} fs")
            _points(axes, at, shift, color=colour, marker=marker, markerfacecolor=face, label=label)
            axes.plot(at, [case.balance - every.temperature for case in cases], color=colour, linewidth=style.FINE)
    axes.axhline(0, **style.GUIDES)
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set_xlabel(r"friction $\gamma$ (1/ps)")
    axes.set_ylabel("temperature above the bath (K)")
    axes.legend(**BELOW)
