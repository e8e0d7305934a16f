"""Figures of many-body energy: scenes, errors over steps, ratios of methods, and the rods of the review."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from string import ascii_lowercase
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

from polhode.fits.seed_statistics import (
    followed,
    mean_error,
    spin_label,
)
from polhode.manybody import pictures
from polhode_study.chapters.many_body.frames import own_scenes
from polhode_study.chapters.many_body.measures import ONE_BOX
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import style
from polhode_study.report.drawing import (
    STEP,
    TIME,
    curves,
    decades_below,
    legend_below_styles,
    log_error_axis,
    method_looks,
    new_figure,
    note,
    panel_grid,
    panel_title,
    printable,
)

#: The chess pieces as stated in the publication and as run by its program, in the order of the panels.
CHESS = ("chess", "chess_no_spin")

#: The exponent with which a leapfrog's error grows with the time step, and the step at which scaled errors are unchanged, s.
EXPONENT, SCALED_TO = 2.5, 4.85e-6

#: The colour of published values.
PUBLISHED = style.STATED

#: Style of the published points.
SQUARES: dict[str, Any] = {
    "linestyle": "none",
    "marker": "s",
    "color": "none",
    "markeredgecolor": PUBLISHED,
    "markeredgewidth": 1.2,
}

#: Style of the current run, in the colour of the method.
CHECK: dict[str, Any] = {"linestyle": "none", "marker": "x", "markersize": 3.4, "markeredgewidth": 0.8}

#: Smaller changes are drawn at this value.
LEAST = 1e-16

Pair = tuple[xr.Dataset | None, xr.Dataset | None]


def _scenes(inputs: Inputs) -> dict[str, Pair]:
    """The available chess scenes, from the published-scale results and from this run, and those that a user has added."""
    pairs: dict[str, Pair] = {}
    for name in CHESS:
        full = run = None
        with suppress(NotInRun):
            full = _followed(inputs.released_many_body(name))
        with suppress(NotInRun):
            run = _followed(inputs.many_body(name))
        if full is not None or run is not None:
            pairs[name] = (full, run)
    pairs |= {name: (inputs.many_body(name), None) for name in own_scenes(inputs)}
    if not pairs:
        raise NotInRun("neither this run nor data/released has the chess pieces")
    return pairs


def _followed(data: xr.Dataset) -> xr.Dataset:
    """The scene with the methods that have a curve over the step."""
    return data.sel(integrator=followed(data))


def _datasets(*pairs: Pair) -> list[xr.Dataset]:
    return [data for pair in pairs for data in pair if data is not None]


def many_body_energy(inputs: Inputs) -> Figure:
    """A figure of the mean energy error over dt^(5/2), against the time step: of the chess pieces, and of a user's scenes."""
    scenes = _scenes(inputs)
    labels, looks = method_looks(*_datasets(*scenes.values()))
    figure = new_figure((style.TEXT_WIDTH, 4.3 + 2.8 * (-(-len(scenes) // 2) - 1)))
    panels = panel_grid(figure, len(scenes), 2, sharex=True, sharey=True)
    drawn: list[float] = []
    published = inputs.published_numbers("delvalle_many_body")
    for axes, (name, (full, run)), letter in zip(panels, scenes.items(), ascii_lowercase, strict=False):
        shown = _datasets((full, run))[0]
        for key in labels:
            if full is not None:
                drawn += _means(axes, full, key, looks[key])
            if run is not None:
                drawn += _means(axes, run, key, looks[key] | CHECK, bars=False)
        panel_title(axes, letter, spin_label(shown) if name in CHESS else printable(name))
        axes.set_xscale("log")
        _time_scales(axes, shown)
        if name in CHESS:
            at, error = published["dt"].to_numpy(), published["energy_error"].to_numpy()
            axes.plot(at, scaled(at, error), **SQUARES, markersize=7.5, zorder=6)
        axes.set_xlabel(STEP)
    log_error_axis(panels[0], *_decades(drawn))
    for axes in panels[::2]:
        axes.set_ylabel(r"mean energy error $\times\,(4.85\,\mu\mathrm{s}/\Delta t)^{5/2}$ (%)")
    dt = np.concatenate([data["dt"].values for data in _datasets(*scenes.values())])
    contact = max(float(data.attrs["contact_time"]) for data in _datasets(*scenes.values()))
    decades_below(panels[0], np.array([dt.min(), contact]))
    _legend(figure, labels, looks, scenes.values(), {"published": SQUARES})
    return figure


def scaled(dt: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Errors scaled to the step :data:`SCALED_TO` on the assumption that they grow as dt^(5/2) from ``dt``, s."""
    return np.asarray(error * (SCALED_TO / dt) ** EXPONENT)


def _means(axes: Axes, data: xr.Dataset, key: str, look: Mapping[str, Any], bars: bool = True) -> list[float]:
    """Draw the scaled means of one method with their intervals; returns the values drawn."""
    if key not in data["integrator"].values:
        return []
    dt = data["dt"].values
    estimates = [mean_error(data, key, row) for row in range(len(dt))]
    value, low, high = (scaled(dt, np.array([getattr(e, name) for e in estimates])) for name in ("value", "low", "high"))
    drawable = np.isfinite(value) & (value > 0)
    axes.plot(dt, np.where(drawable, value, np.nan), **look, zorder=3)
    if bars:
        # An interval that extends into runs that blew up, or below zero, has no end there.
        barred = drawable & ~np.isnan(low)
        lower, upper = np.where(low > 0, low, 1e-99), np.where(np.isfinite(high), high, 1e99)
        axes.vlines(dt[barred], lower[barred], upper[barred], color=look["color"], linewidth=style.FINE, zorder=2)
    return list(map(float, value[drawable]))


def _legend(
    figure: Figure,
    labels: Mapping[str, str],
    looks: Mapping[str, dict[str, Any]],
    pairs: Iterable[Pair],
    more: Mapping[str, dict[str, Any]],
) -> None:
    """Draw the legend: the methods, the additional curves, and the number of states of this run.

    A method that only this run has is shown as it is drawn, by a cross.
    """
    pairs = list(pairs)
    shown = {**labels, **{name: name for name in more}}
    full_there = [full for full, _ in pairs if full is not None]
    if full_there:
        lasting = {str(key) for full in full_there for key in full["integrator"].values}
        looks = {key: look if key in lasting else {**look, **CHECK} for key, look in looks.items()}
    for full, run in pairs:
        if full is not None and run is not None:
            shown["run"] = f"this run ({run.sizes['seed']} states)"
    legend_below_styles(figure, shown, {**looks, **more, "run": {**CHECK, "color": style.DARK}}, 4)


def _decades(values: list[float]) -> tuple[float, float]:
    """Powers of ten that enclose the values."""
    if not values:
        return 1e-6, 1.0
    return 10.0 ** np.floor(np.log10(min(values)) - 0.1), 10.0 ** np.ceil(np.log10(max(values)) + 0.1)


def _time_scales(axes: Axes, data: xr.Dataset) -> None:
    """Draw vertical lines at the Rayleigh step and the contact time, each with its name."""
    for name, text, dashes in (
        ("rayleigh_step", "Rayleigh step", (0, (4, 2))),
        ("contact_time", "contact time", (0, (4, 1.5, 1, 1.5))),
    ):
        at = float(data.attrs[name])
        axes.axvline(at, **style.GUIDES, linestyle=dashes, zorder=1)
        note(axes, text, (at, 0.97), (-2, 0), xycoords=("data", "axes fraction"), rotation=90, ha="right", va="top")


def peaks(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The maximum since the previous place, at each of the ascending ``places``, so that an oscillation shows as its height.

    It is NaN beyond the end of the values.
    """
    whole = np.fmax.reduceat(np.concatenate([values[: places[-1] + 1], [np.nan]]), np.concatenate([[0], places[:-1] + 1]))
    return np.where(np.isfinite(values[places]), whole, np.nan)


def rods_energy(inputs: Inputs) -> Figure:
    """A figure of the change of the rods' energy over time and, below, of their axial spin, which should be constant."""
    try:
        data = inputs.released_many_body(ONE_BOX)
    except NotInRun:
        data = inputs.many_body(ONE_BOX)
    if "axial_spin_change" not in data:
        raise NotInRun("the rods were not followed over time")
    labels, looks = method_looks(data)
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
        lines = {key: of_all.sel(integrator=key).values[later] for key in labels}
        _log_lines(axes, time[later], lines, looks)
        axes.set_ylabel(text)
        panel_title(axes, letter, title)
    panels[1].set_xlabel(TIME)
    panels[1].set_xscale("log")
    panels[1].set_xlim(time[later].min(), time.max())
    spin = float(data.attrs["spin"])
    panels[1].axhline(spin, **style.GUIDES, linestyle=(0, (1, 1.5)), zorder=0)
    text = f"the entire initial spin, {spin:g} rad/s"
    note(panels[1], text, (1, spin), (-4, 2), xycoords=("axes fraction", "data"), ha="right")
    legend_below_styles(figure, labels, looks, 4)
    return figure


def _log_lines(axes: Axes, time: np.ndarray, lines: dict[str, np.ndarray], looks: dict[str, dict[str, Any]]) -> None:
    """Draw lines on logarithmic axes; values at or next to zero lie on the lower edge, which is labelled accordingly."""
    places = np.unique(np.geomspace(1, len(time), 120).astype(int) - 1)
    lines = {key: peaks(line, places) for key, line in lines.items()}
    time = time[places]
    # Powers of ten that enclose all values but zeros, which are drawn a decade lower.
    joined = np.concatenate(list(lines.values()))
    low, high = _decades(joined[np.isfinite(joined) & (joined > LEAST)].tolist())
    bottom = low / 10 if (joined <= LEAST).any() else low
    log_error_axis(axes, bottom, high)
    drawn = {key: (time, np.where(line <= LEAST, bottom, line)) for key, line in lines.items()}
    curves(axes, drawn, looks, 8, clip_on=False)
    if bottom < low:
        axes.yaxis.set_major_locator(FixedLocator([bottom, *(t for t in axes.get_yticks() if low <= t <= high)]))
        axes.yaxis.set_major_formatter(_powers_above(bottom))
        axes.yaxis.set_minor_formatter(NullFormatter())


def _powers_above(zero: float) -> FuncFormatter:
    """Ticks as powers of ten, and as 0 where zeros are drawn."""
    return FuncFormatter(lambda value, _: "0" if value <= 2 * zero else f"$10^{{{round(np.log10(value))}}}$")


def many_body_pieces(inputs: Inputs) -> Figure:
    """A figure of each kind of clump in the chess scene."""
    film = inputs.film("chess")
    names = film["labels"].split(",")
    figure = new_figure((style.TEXT_WIDTH, 2.95))
    of_kind = [film["sphere_kind"] == kind for kind in range(len(names))]
    clumps = [(name, film["centre"][mine], film["radius"][mine]) for name, mine in zip(names, of_kind, strict=True)]
    pictures.draw_row(figure.subplots(), clumps)
    return figure


def many_body_scene(inputs: Inputs) -> Figure:
    """A figure of the chess pieces in their box in the middle of a run, of the rods in theirs, and of a user's scenes."""
    films = {}
    for name in ("chess", "rods", *own_scenes(inputs)):
        with suppress(NotInRun):
            films[name] = inputs.film(name)
    if not films:
        raise NotInRun("this run has no film of many bodies")
    figure = new_figure((style.TEXT_WIDTH, 3.3 * -(-len(films) // 2) if len(films) > 1 else 5.0))
    for axes, (name, film), letter in zip(panel_grid(figure, len(films), 2), films.items(), ascii_lowercase, strict=False):
        pixels = 1000
        pictures.draw(axes, film, len(film["time"]) // 2, pictures.view_of(film, pixels, pixels))
        time = float(film["time"][len(film["time"]) // 2])
        panel_title(axes, letter, f"{printable(name)}, {time:.2g} s after the start")
    return figure
