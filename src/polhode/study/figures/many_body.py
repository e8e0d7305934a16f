"""Many bodies: how the energy of a scene is kept, the spin of rods about their axes, and what the scene looks like."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from polhode.manybody import pictures
from polhode.study import style
from polhode.study.ensembles import Estimate, mean_error, median_error, paired_ratio, spin_label
from polhode.study.figures.drawing import STEP, legend_below_styles, log_error_axis, new_figure, panel_title
from polhode.study.inputs import Inputs, NotInRun

#: The chess pieces as the publication states them and as its program runs them, in the order of the panels.
CHESS = ("chess", "chess_no_spin")
#: The method that the others are compared with from the same initial states.
COMPARED = "spiral_leapfrog"
#: The colour of what publications say.
PUBLISHED = "#C00000"
#: How the points are drawn that the publication states.
SQUARES: dict[str, Any] = {
    "linestyle": "none",
    "marker": "s",
    "color": "none",
    "markeredgecolor": PUBLISHED,
    "markeredgewidth": 1.2,
}
#: Changes below this are drawn here.
LEAST = 1e-16

Curve = Callable[[str, int], Estimate]


def method_looks(scenes: Iterable[xr.Dataset]) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """Labels and line styles of all methods of these scenes."""
    labels: dict[str, str] = {}
    variants: dict[str, str] = {}
    for data in scenes:
        keys = list(map(str, data["method"].values))
        labels |= dict(zip(keys, map(str, data["label"].values), strict=True))
        variants |= dict(zip(keys, map(str, data["variant_of"].values), strict=True))
    return labels, style.styles(labels, variants)


# Energy against the time step


def many_body_energy(inputs: Inputs) -> Figure:
    """Energy error of the chess pieces against the time step: the mean over initial states as published, and the median."""
    return _energy_against_step(_scenes(inputs.many_body), inputs)


def many_body_released(inputs: Inputs) -> Figure:
    """The same of the full study that came with the code."""
    return _energy_against_step(_scenes(inputs.released_many_body), inputs)


def _scenes(read: Callable[[str], xr.Dataset]) -> dict[str, xr.Dataset]:
    """Those of the chess scenes that there are."""
    found = {}
    for name in CHESS:
        with suppress(NotInRun):
            found[name] = read(name)
    if not found:
        raise NotInRun("there are no chess pieces in this run")
    return found


def _energy_against_step(scenes: dict[str, xr.Dataset], inputs: Inputs) -> Figure:
    labels, looks = method_looks(scenes.values())
    figure = new_figure((style.TEXT_WIDTH, 6.2))
    panels: Any = figure.subplots(2, len(scenes), sharex=True, sharey=True, squeeze=False)
    letters = iter("abcd")
    drawn: list[float] = []
    for line, name, statistic in zip(panels, ("mean", "median"), (mean_error, median_error), strict=True):
        for axes, data in zip(line, scenes.values(), strict=True):
            drawn += _curves(axes, data, partial(statistic, data), list(map(str, data["method"].values)), looks)
            panel_title(axes, next(letters), f"{name}, {spin_label(data)}")
            _time_scales(axes, data)
        line[0].set_ylabel(f"energy error, {name} (%)")
    published = inputs.published_numbers("delvalle_many_body")
    for axes in panels[0]:
        _published_points(axes, published["dt"].to_numpy(), published["energy_error"].to_numpy())
    dt = np.concatenate([data["dt"].values for data in scenes.values()])
    log_error_axis(panels[0, 0], *_decades(drawn))
    _step_axis(panels[0, 0], float(dt.min()), max(float(data.attrs["contact_time"]) for data in scenes.values()))
    for axes in panels[1]:
        axes.set_xlabel(STEP)
    shown = {**labels, "published": "published"}
    legend_below_styles(figure, shown, {**looks, "published": SQUARES}, 4)
    return figure


def _curves(axes: Axes, data: xr.Dataset, curve: Curve, keys: list[str], looks: dict[str, dict[str, Any]]) -> list[float]:
    """One line a method with a thin bar for each interval, the bars a little beside each other; returns the values drawn."""
    dt = data["dt"].values
    axes.set_xscale("log")
    axes.set_yscale("log")
    drawn: list[float] = []
    for number, key in enumerate(keys):
        found = [curve(key, row) for row in range(len(dt))]
        at = dt * 10 ** (0.018 * (number - (len(keys) - 1) / 2))
        value, low, high = (np.array([getattr(e, name) for e in found]) for name in ("value", "low", "high"))
        there = np.isfinite(value) & (value > 0)
        axes.plot(at, np.where(there, value, np.nan), **looks[key], zorder=3)
        # An interval that reaches into runs that blew up has no upper end.
        barred = there & np.isfinite(low)
        upper = np.where(np.isfinite(high), high, 1e12)
        axes.vlines(at[barred], low[barred], upper[barred], color=looks[key]["color"], linewidth=0.7, alpha=0.75, zorder=2)
        drawn += value[there].tolist()
    return drawn


def _decades(values: list[float]) -> tuple[float, float]:
    """Whole decades around values."""
    if not values:
        return 1e-6, 1.0
    return 10.0 ** np.floor(np.log10(min(values)) - 0.1), 10.0 ** np.ceil(np.log10(max(values)) + 0.1)


def _step_axis(axes: Axes, low: float, high: float) -> None:
    axes.set_xscale("log")
    axes.set_xlim(low / 1.6, high * 1.6)
    axes.xaxis.set_major_locator(LogLocator(10, numticks=12))
    axes.xaxis.set_minor_locator(NullLocator())


def _time_scales(axes: Axes, data: xr.Dataset) -> None:
    """Vertical lines at the Rayleigh step and the contact time, each with its name."""
    for name, text, dashes in (
        ("rayleigh_step", "Rayleigh step", (0, (4, 2))),
        ("contact_time", "contact time", (0, (4, 1.5, 1, 1.5))),
    ):
        at = float(data.attrs[name])
        axes.axvline(at, color="0.5", linewidth=0.7, linestyle=dashes, zorder=1)
        axes.annotate(
            text,
            (at, 0.03),
            xycoords=("data", "axes fraction"),
            xytext=(-2, 0),
            textcoords="offset points",
            rotation=90,
            fontsize=7,
            color="0.35",
            ha="right",
            va="bottom",
        )


def _published_points(axes: Axes, dt: np.ndarray, error: np.ndarray) -> None:
    """The points that the text of the publication names, on the level it marks."""
    for level in np.unique(error):
        axes.axhline(level, color=PUBLISHED, linewidth=0.6, linestyle=(0, (1, 2)), zorder=1)
    axes.plot(dt, error, **SQUARES, markersize=7.5, zorder=6)


def many_body_pairs(inputs: Inputs) -> Figure:
    """Energy errors over SPIRAL's from the same initial state: the median over the states, with its interval."""
    scenes = {key: data for key, data in _scenes(inputs.many_body).items() if COMPARED in data["method"]}
    if not scenes:
        raise NotInRun(f"{COMPARED} is not among the methods of the chess pieces")
    labels, looks = method_looks(scenes.values())
    labels.pop(COMPARED)
    figure = new_figure((style.TEXT_WIDTH, 3.9))
    panels: Any = figure.subplots(1, len(scenes), sharex=True, sharey=True, squeeze=False)
    drawn: list[float] = []
    for axes, data, letter in zip(panels[0], scenes.values(), "ab", strict=False):
        others = [m for m in map(str, data["method"].values) if m != COMPARED]
        drawn += _curves(axes, data, lambda m, row, data=data: paired_ratio(data, m, COMPARED, row), others, looks)  # type: ignore[misc]
        axes.axhline(1, color=looks[COMPARED]["color"], linewidth=1.2, zorder=1)
        axes.set_xlabel(STEP)
        panel_title(axes, letter, spin_label(data))
    dt = np.concatenate([data["dt"].values for data in scenes.values()])
    _step_axis(panels[0, 0], float(dt.min()), float(dt.max()))
    low, high = (min([0.5, *drawn]) / 1.3, max([2.0, *drawn]) * 1.3)
    panels[0, 0].set_ylim(low, high)
    marks = [m * 10.0**e for e in range(-6, 9) for m in (1, 2, 5) if low <= m * 10.0**e <= high]
    marks = marks if len(marks) <= 7 else [m for m in marks if abs(np.log10(m) - round(np.log10(m))) < 0.01]
    panels[0, 0].yaxis.set_major_locator(FixedLocator(marks))
    panels[0, 0].yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:g}" if value < 1e4 else f"$10^{{{round(np.log10(value))}}}$")
    )
    panels[0, 0].yaxis.set_minor_locator(NullLocator())
    panels[0, 0].set_ylabel("energy error / that of SPIRAL")
    legend_below_styles(figure, labels, looks, 4)
    return figure


# Energy over time


def running_peak(values: np.ndarray, width: int) -> np.ndarray:
    """The largest of each group of ``width`` neighbours, at their places; an oscillation then shows as its height."""
    padded = np.concatenate([values, np.full(-len(values) % width, np.nan)]).reshape(-1, width)
    return np.repeat(np.fmax.reduce(padded, axis=1), width)[: len(values)]


def rods_energy(inputs: Inputs) -> Figure:
    """Change of the energy of the rods over time, and below it that of their spin about the long axis, which should stay."""
    return _rods(inputs.many_body("rods"))


def rods_released(inputs: Inputs) -> Figure:
    """The same of the full study that came with the code."""
    return _rods(inputs.released_many_body("rods"))


def _rods(data: xr.Dataset) -> Figure:
    if "axial_spin_change" not in data:
        raise NotInRun("the rods of this run were not followed over time")
    labels, looks = method_looks([data])
    figure = new_figure((style.TEXT_WIDTH, 5.2))
    panels: Any = figure.subplots(2, 1, sharex=True)
    time = data["time"].values
    later = time > 0
    shown = (
        ("energy_change", r"$|\Delta E|/E_0$", "change of the energy"),
        (
            "axial_spin_change",
            r"$\max\,|\Delta\omega_x|$ (rad/s)",
            "largest change of a rod's spin about its long axis",
        ),
    )
    for axes, (name, text, title), letter in zip(panels, shown, "ab", strict=True):
        of_all = abs(data[name]).max("seed", skipna=False)
        lines = {key: of_all.sel({"method": key}).values[later] for key in labels}
        _log_lines(axes, time[later], lines, looks)
        axes.set_ylabel(text)
        panel_title(axes, letter, title)
    panels[1].set_xlabel("time $t$ (s)")
    panels[1].set_xlim(0, time.max())
    spin = float(data.attrs["spin"])
    panels[1].axhline(spin, color="0.45", linewidth=0.7, linestyle=(0, (1, 1.5)), zorder=0)
    panels[1].annotate(
        f"all of the spin at the start, {spin:g} rad/s",
        (1, spin),
        xycoords=("axes fraction", "data"),
        xytext=(-4, 2),
        textcoords="offset points",
        fontsize=7,
        color="0.35",
        ha="right",
    )
    legend_below_styles(figure, labels, looks, 4)
    return figure


def _log_lines(axes: Axes, time: np.ndarray, lines: dict[str, np.ndarray], looks: dict[str, dict[str, Any]]) -> None:
    """Lines on a logarithmic axis; what is zero, or next to it, lies on the lower edge, which then says so."""
    stride = max(1, len(time) // 150)
    lines = {key: running_peak(line, stride) for key, line in lines.items()}
    joined = np.concatenate(list(lines.values()))
    least = joined[np.isfinite(joined) & (joined > LEAST)]
    low, high = _decades(least.tolist())
    has_zero = bool((joined <= LEAST).any())
    bottom = low / 10 if has_zero else low
    log_error_axis(axes, bottom, high)
    marks = max(1, len(time) // 8)
    for number, (key, line) in enumerate(lines.items()):
        drawn = np.where(line <= LEAST, bottom, line)
        look = {**looks[key], "linewidth": 0.9, "markevery": (number * marks // len(lines), marks)}
        axes.plot(time, drawn, **look, clip_on=False)
    if has_zero:
        ticks = [bottom, *(t for t in axes.get_yticks() if low <= t <= high)]
        axes.yaxis.set_major_locator(FixedLocator(ticks))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: "0" if v <= 2 * bottom else f"$10^{{{round(np.log10(v))}}}$"))
        axes.yaxis.set_minor_formatter(NullFormatter())


# Pictures


def many_body_pieces(inputs: Inputs) -> Figure:
    """Each kind of clump of the chess scene."""
    film = inputs.film("chess")
    names = str(film["@labels"].decode() if isinstance(film["@labels"], bytes) else film["@labels"]).split(",")
    figure = new_figure((style.TEXT_WIDTH, 2.95))
    of_kind = [film["sphere_kind"] == kind for kind in range(len(names))]
    clumps = [(name, film["centre"][mine], film["radius"][mine]) for name, mine in zip(names, of_kind, strict=True)]
    pictures.draw_row(figure.subplots(), clumps)
    return figure


def many_body_scene(inputs: Inputs) -> Figure:
    """The chess pieces in their box in the middle of a run, and the rods in theirs."""
    films = {}
    for name in ("chess", "rods"):
        with suppress(NotInRun):
            films[name] = inputs.film(name)
    if not films:
        raise NotInRun("this run has no film of many bodies")
    figure = new_figure((style.TEXT_WIDTH, 3.3 if len(films) == 2 else 5.0))
    panels: Any = figure.subplots(1, len(films), squeeze=False)
    for axes, (name, film), letter in zip(panels[0], films.items(), "ab", strict=False):
        pixels = 1000
        pictures.draw(axes, film, len(film["time"]) // 2, pictures.view_of(float(film["@box"]), pixels, pixels))
        time = float(film["time"][len(film["time"]) // 2])
        panel_title(axes, letter, f"{name}, {time:.2g} s after the start")
    return figure


FIGURES: dict[str, Callable[[Inputs], Figure]] = {
    "many_body_pieces": many_body_pieces,
    "many_body_scene": many_body_scene,
    "many_body_energy": many_body_energy,
    "many_body_pairs": many_body_pairs,
    "many_body_released": many_body_released,
    "rods_energy": rods_energy,
    "rods_released": rods_released,
}
