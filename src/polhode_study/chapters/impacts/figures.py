"""The figure of impacts: errors over the steps in a contact, correction by correction."""

from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from polhode.fits.impact_errors import CURED, LEADING
from polhode_study.chapters.impacts import frames
from polhode_study.inputs import Inputs
from polhode_study.report import style
from polhode_study.report.drawing import limits, log_error_axis, new_figure, panel_grid, panel_title, printable

#: Widths of the lines: the first stages are the widest, so that they show behind later ones that coincide with them.
WIDEST, NARROWEST = 4.6, 1.0
#: Colours of the band and of the mistake.
BAND, MISTAKE = style.RULE, style.GUIDE
#: A factor by which the band is wider than the errors, which often coincide.
MARGIN = 1.7
#: Ticks of the steps in a contact.
TICKS = (10, 20, 40, 80, 160, 320, 640)


def impacts(inputs: Inputs) -> Figure:
    """A figure of the error of the spin: a panel for each impact, a curve for each stage, and a band for rotation methods."""
    data = frames.check(inputs)
    stages = [str(key) for key in data["stage"].values if key != frames.SPRING]
    colours = matplotlib.colormaps["viridis_r"](np.linspace(0.12, 1.0, len(stages)))
    looks: dict[str, dict[str, Any]] = {
        stage: {"color": colour, "linewidth": width}
        for stage, colour, width in zip(stages, colours, np.linspace(WIDEST, NARROWEST, len(stages)), strict=True)
    }
    looks[frames.SPRING] = {"color": MISTAKE, "linewidth": style.LINE, "linestyle": (0, (1, 1.2))}
    apart = [key for key in frames.APART if key in data["integrator"].values]
    figure = new_figure((style.TEXT_WIDTH, 5.6))
    panels = panel_grid(figure, data.sizes["case"], 3, sharex=True, sharey=True)
    low, high = limits(data["error_spin"].values)
    for number, (axes, case) in enumerate(zip(panels, data["case"].values, strict=False)):
        of_case = data.sel(case=case)
        _band(axes, of_case, apart)
        for stage, look in looks.items():
            curve = of_case["error_spin"].sel(stage=stage, integrator=LEADING)
            axes.plot(data["division"].values, curve.values, **look)
        for key in apart:
            curve = of_case["error_spin"].sel(stage=CURED, integrator=key)
            axes.plot(data["division"].values, curve.values, **_thin(key))
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(FixedLocator(TICKS))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_locator(NullLocator())
        log_error_axis(axes, low, high)
        panel_title(axes, "abcdefgh"[number], printable(str(of_case["case_label"].values)))
    for axes in panels[-3:]:
        axes.set_xlabel(r"steps in a contact $T/\Delta t$")
    for axes in panels[::3]:
        axes.set_ylabel("error of the spin")
    labels = dict(zip(map(str, data["stage"].values), map(str, data["stage_label"].values), strict=True))
    names = dict(zip(map(str, data["integrator"].values), map(str, data["label"].values), strict=True))
    added = {stage: "+ " for stage in stages[1:]}
    handles: list[Artist] = [
        Line2D([], [], label=printable(added.get(stage, "") + labels[stage]), **look) for stage, look in looks.items()
    ]
    handles += [Patch(color=BAND, label=f"{data.sizes['integrator'] - len(apart)} methods, all corrections")]
    handles += [Line2D([], [], label=printable(f"{names[key]}, all corrections"), **_thin(key)) for key in apart]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, handlelength=2.4, columnspacing=1.2)
    return figure


def _thin(key: str) -> dict[str, Any]:
    return {**style.style(key), "linewidth": style.FINE, "markersize": 2.6}


def _band(axes: Axes, data: xr.Dataset, apart: list[str]) -> None:
    """From the smallest to the largest error of the methods that are not drawn by themselves, with all cures."""
    cured = data["error_spin"].sel(stage=CURED).drop_sel(integrator=apart)
    if cured.sizes["integrator"]:
        least, most = cured.min("integrator").values, cured.max("integrator").values
        axes.fill_between(data["division"].values, least / MARGIN, most * MARGIN, color=BAND, linewidth=0, zorder=0)
