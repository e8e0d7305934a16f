"""Many bodies: how the energy of a scene is kept, the spin of rods about their axes, and what the scene looks like."""

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from polhode.study import style
from polhode.study.figures.drawing import legend_below_styles, log_error_axis, new_figure, panel_title
from polhode.study.inputs import Inputs, NotInRun

#: Changes below this are drawn here.
LEAST = 1e-16


def method_looks(data: xr.Dataset) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """Labels and line styles of the methods of a many-body scene."""
    keys = list(map(str, data["method"].values))
    variants = dict(zip(keys, map(str, data["variant_of"].values), strict=True))
    labels = dict(zip(keys, map(str, data["label"].values), strict=True))
    return labels, style.styles(keys, variants)


def running_peak(values: np.ndarray, width: int) -> np.ndarray:
    """The largest of each group of ``width`` neighbours, at their places; an oscillation then shows as its height."""
    padded = np.concatenate([values, np.full(-len(values) % width, np.nan)]).reshape(-1, width)
    with np.errstate(invalid="ignore"):
        return np.repeat(np.where(np.isnan(padded).all(1), np.nan, np.fmax.reduce(padded, axis=1)), width)[: len(values)]


def rods_energy(inputs: Inputs) -> Figure:
    """Change of the energy of the rods over time, and below it that of their spin about the long axis, which should stay."""
    data = inputs.many_body("rods")
    if "axial_spin_change" not in data:
        raise NotInRun("the rods of this run were not followed over time")
    labels, looks = method_looks(data)
    figure = new_figure((style.TEXT_WIDTH, 5.0))
    panels: Any = figure.subplots(2, 1, sharex=True)
    time = data["time"].values
    later = time > 0
    shown = (
        ("energy_change", r"change of the energy $|\Delta E|/E_0$", "energy"),
        ("axial_spin_change", r"change of the axial spin (rad/s)", "largest change of a rod's spin about its long axis"),
    )
    for axes, (name, text, title), letter in zip(panels, shown, "ab", strict=True):
        lines = {key: np.abs(data[name].sel({"method": key}).isel(seed=0).values[later]) for key in labels}
        finite = np.concatenate(list(lines.values()))
        finite = finite[np.isfinite(finite) & (finite > 0)]
        low = max(LEAST, float(finite.min(initial=1.0)))
        high = float(finite.max(initial=1.0))
        log_error_axis(axes, 10.0 ** np.floor(np.log10(low)), 10.0 ** np.ceil(np.log10(high) + 0.1))
        marks = max(1, int(later.sum()) // 8)
        for number, (key, line) in enumerate(lines.items()):
            drawn = np.maximum(running_peak(line, max(1, len(line) // 150)), low)
            look = {**looks[key], "linewidth": 0.9, "markevery": (number * marks // len(lines), marks)}
            axes.plot(time[later], drawn, **look)
        axes.set_ylabel(text)
        panel_title(axes, letter, title)
    panels[1].set_xlabel("time $t$ (s)")
    panels[1].set_xlim(0, time.max())
    spin = float(data.attrs["spin"])
    _level(panels[1], spin, rf"spin at the start, {spin:g} rad/s")
    legend_below_styles(figure, labels, looks, 3)
    return figure


def _level(axes: Axes, value: float, text: str) -> None:
    """A horizontal line that says what it is."""
    axes.axhline(value, color="0.45", linewidth=0.7, linestyle=(0, (1, 1.5)), zorder=0)
    axes.annotate(
        text,
        (0, value),
        xycoords=("axes fraction", "data"),
        xytext=(4, 2),
        textcoords="offset points",
        fontsize=7,
        color="0.35",
    )


FIGURES: dict[str, Callable[[Inputs], Figure]] = {"rods_energy": rods_energy}
