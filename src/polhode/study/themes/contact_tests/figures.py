"""Figure of the tests of contacts: reflection, recoil, restitution, and each cure by itself."""

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from polhode.study.inputs import Inputs
from polhode.study.report import style
from polhode.study.report.drawing import new_figure, panel_grid, panel_title
from polhode.study.themes.contact_tests import analysis

COLOURS = matplotlib.colormaps["viridis"](np.linspace(0.0, 0.85, 4))
MARKERS = "osD^"
CURES = {"start": "first increment", "slip": "return", "plane": "plane and twirl", "dashpot": "dashpot"}


def contact_tests(inputs: Inputs) -> Figure:
    """A figure with four panels."""
    data = analysis.check(inputs)
    figure = new_figure((style.TEXT_WIDTH, 5.4))
    panels = panel_grid(figure, 4, 2)
    for axes, letter, title, draw in zip(
        panels,
        "abcd",
        ("test 5: reflection", "tests 6 and 8: recoil", "restitution", "each cure by itself"),
        (_reflection, _recoil, _restitution, _cures),
        strict=True,
    ):
        draw(axes, data)
        panel_title(axes, letter, title)
        axes.legend(fontsize=7)
    return figure


def _reflection(axes: Axes, data: xr.Dataset) -> None:
    psi, kappa = data["psi"].values, analysis.compliance(data)
    axes.plot(psi, data["psi_maw"].values, color="0.5", label="Maw et al.")
    axes.plot(psi, data["psi_law"].values, color=COLOURS[0], label="law of Hertz and Mindlin")
    axes.plot(psi, psi - 7 * kappa, color="0.5", linestyle=":", linewidth=0.8, label="sliding throughout")
    before, after = (data[name].isel(sample=data["test"].values == "5") for name in ("before", "after"))
    scale = kappa / data.attrs["friction_5"]
    x = scale * before.sel(observed="tangential") / before.sel(observed="normal")
    y = -scale * after.sel(observed="tangential") / after.sel(observed="normal")
    axes.plot(x, y.isel(division=0), "o", color=COLOURS[0], markersize=3, label=f"$T/{int(data['division'][0])}$")
    axes.set_xlim(0, psi[-1])
    axes.set_ylim(-3, 4)
    axes.set_xlabel(r"$\psi$ before")
    axes.set_ylabel(r"$\psi$ after")


def _recoil(axes: Axes, data: xr.Dataset) -> None:
    for i, test in enumerate(("6", "8a", "8b")):
        one = data.isel(sample=data["test"].values == test)
        x = one["before"].sel(observed="tangential") / one["before"].sel(observed="normal")
        run = one["after"].isel(division=0)
        exact, measured = (-of.sel(observed="tangential") / of.sel(observed="normal") for of in (one["after_exact"], run))
        if i == 0:
            rigid = -one["rigid"] / one["after_exact"].sel(observed="normal")
            axes.plot(x, rigid, color="0.5", linestyle=":", linewidth=0.8, label="sliding throughout")
        axes.plot(x, exact, MARKERS[i], color=COLOURS[i], markersize=7 - 1.5 * i, fillstyle="none", markeredgewidth=0.7)
        axes.plot(x, measured, MARKERS[i], color=COLOURS[i], markersize=2.4, label=f"test {test}")
    axes.set_ylim(-1, 8)
    axes.set_xlabel("tangent of the angle of incidence")
    axes.set_ylabel("tangent of the angle of recoil")


def _restitution(axes: Axes, data: xr.Dataset) -> None:
    every = {str(name): data["restitution"].sel(material=name) for name in data["material"].values}
    labels = {"oxide": "aluminium oxide", "iron": "cast iron"}
    for i, (name, values) in enumerate({**every, "linear": data["linear_restitution"]}.items()):
        for k, division in enumerate((20, 160)):
            off = abs(values.sel(division=division) - data["asked"])
            axes.plot(
                data["asked"],
                off,
                marker=MARKERS[i],
                color=COLOURS[i],
                linestyle=("-", ":")[k],
                markersize=3,
                linewidth=0.8,
                label=f"{labels.get(name, name)}, $T/{division}$",
            )
    axes.set_yscale("log")
    axes.set_xlabel("restitution asked for")
    axes.set_ylabel("deviation")


def _cures(axes: Axes, data: xr.Dataset) -> None:
    for i, (cure, label) in enumerate(CURES.items()):
        for choice, look in (("usual", ":"), ("cured", "-")):
            axes.plot(
                data["steps"],
                data["error"].sel(cure=cure, choice=choice),
                marker=MARKERS[i],
                color=COLOURS[i],
                linestyle=look,
                markersize=3,
                linewidth=0.9,
                label=label if choice == "cured" else None,
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(data["steps"].values, [f"{n}" for n in data["steps"].values])
    axes.minorticks_off()
    axes.set_xlabel("steps in the unit of time")
    axes.set_ylabel("error")
