"""Figures of many-body energy: scenes, errors over steps, ratios of methods, and the rods of the review."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from string import ascii_lowercase
from typing import Any

import numpy as np
import seaborn as sns
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from polhode.fits.seed_statistics import (
    Estimate,
    followed,
    mean_error,
    median,
    ratio_of_means,
    ratio_over_steps,
    spin_label,
)
from polhode.manybody import pictures
from polhode.study.analysis.many_body import NEAR, own_scenes
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.judge.measures_many_body import HALF_STEP, ONE_BOX, RODS
from polhode.study.report import style
from polhode.study.report.drawing import (
    STEP,
    TIME,
    decades_below,
    legend_below_styles,
    log_error_axis,
    method_looks,
    new_figure,
    panel_grid,
    panel_title,
    printable,
    ratio_ticks,
)

#: The chess pieces as stated in the publication and as run by its program, in the order of the panels.
CHESS = ("chess", "chess_no_spin")

#: The method with which the others are compared from the same initial states.
COMPARED = "spiral_leapfrog"

#: The exponent with which a leapfrog's error grows with the time step, and the step at which scaled errors are unchanged, s.
EXPONENT, SCALED_TO = 2.5, 4.85e-6

#: The colour of published values.
PUBLISHED = "#C00000"

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
    """The available chess scenes, each from the published-scale results and from the current run."""
    pairs: dict[str, Pair] = {}
    for name in CHESS:
        full = run = None
        with suppress(NotInRun):
            full = _followed(inputs.released_many_body(name))
        with suppress(NotInRun):
            run = _followed(inputs.many_body(name))
        if full is not None or run is not None:
            pairs[name] = (full, run)
    if not pairs:
        raise NotInRun("neither this run nor data/released has the chess pieces")
    return pairs


def _followed(data: xr.Dataset) -> xr.Dataset:
    """The scene with the methods that have a curve over the step."""
    return data.sel(integrator=followed(data))


def _with_own(inputs: Inputs) -> dict[str, Pair]:
    """The chess scenes, and after them those that a user has added to the run."""
    of_user: dict[str, Pair] = {name: (inputs.many_body(name), None) for name in own_scenes(inputs)}
    try:
        return _scenes(inputs) | of_user
    except NotInRun:
        if not of_user:
            raise
        return of_user


def _datasets(*pairs: Pair) -> list[xr.Dataset]:
    return [data for pair in pairs for data in pair if data is not None]


def many_body_energy(inputs: Inputs) -> Figure:
    """A figure of the mean energy error over dt^(5/2), against the time step: of the chess pieces, and of a user's scenes."""
    scenes = _with_own(inputs)
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
        _bars(axes, dt, low, high, drawable, look["color"])
    return list(map(float, value[drawable]))


def _bars(axes: Axes, dt: np.ndarray, low: np.ndarray, high: np.ndarray, drawable: np.ndarray, colour: str) -> None:
    """Draw intervals as thin lines; one that extends into runs that blew up, or below zero, has no end there."""
    barred = drawable & ~np.isnan(low)
    lower, upper = np.where(low > 0, low, 1e-99), np.where(np.isfinite(high), high, 1e99)
    axes.vlines(dt[barred], lower[barred], upper[barred], color=colour, linewidth=0.9, zorder=2)


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
    legend_below_styles(figure, shown, {**looks, **more, "run": {**CHECK, "color": "0.3"}}, 4)


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
        axes.axvline(at, color="0.5", linewidth=0.7, linestyle=dashes, zorder=1)
        axes.annotate(
            text,
            (at, 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(-2, 0),
            textcoords="offset points",
            rotation=90,
            fontsize=7,
            color="0.35",
            ha="right",
            va="top",
        )


def many_body_pairs(inputs: Inputs) -> Figure:
    """A figure of mean energy errors over SPIRAL's from the same initial states, with intervals.

    There is one panel for each method close to SPIRAL, and one for all others.
    """
    pairs = [pair for pair in _scenes(inputs).values() if COMPARED in _datasets(pair)[0]["integrator"]]
    if not pairs:
        raise NotInRun(f"{COMPARED} is not among the methods of the chess pieces")
    full, run = pairs[0]
    labels, looks = method_looks(*_datasets(pairs[0]))
    others = [key for key in labels if key != COMPARED]
    overall = {key: _overall(_datasets(pairs[0]), key) for key in others}
    near = [key for key in others if 1 / NEAR < overall[key].value < NEAR]
    far = [key for key in others if key not in near]
    groups: list[Sequence[str]] = [*([key] for key in near), *([far] if far else [])]
    figure = new_figure((style.TEXT_WIDTH, 0.9 + 1.75 * -(-len(groups) // 3)))
    panels = panel_grid(figure, len(groups), 3, sharex=True)
    drawn: list[float] = []
    for number, (axes, keys) in enumerate(zip(panels, groups, strict=True)):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.axhline(1, color=looks[COMPARED]["color"], linewidth=1.2, zorder=1)
        values = [value for key in keys for value in _ratios(axes, full, run, key, looks[key])]
        if keys is far:
            log_error_axis(axes, *_decades([1.0, *values]))
            panel_title(axes, ascii_lowercase[number], "others")
        else:
            drawn += values
            panel_title(axes, ascii_lowercase[number], printable(labels[keys[0]]))
            axes.annotate(
                f"all steps: {_words(overall[keys[0]])}",
                (0.03, 0.96),
                xycoords="axes fraction",
                va="top",
                fontsize=7,
                color="0.25",
            )
        if number % 3 == 0:
            axes.set_ylabel("error / that of SPIRAL")
        if number + 3 >= len(groups):
            axes.set_xlabel(STEP)
            axes.xaxis.set_tick_params(labelbottom=True)
    dt = np.concatenate([data["dt"].values for data in _datasets(pairs[0])])
    decades_below(panels[0], dt)
    limits = (min([1 / NEAR, *drawn]) / 1.15, max([NEAR, *drawn]) * 1.15)
    for axes in panels[: len(near)]:
        axes.set_ylim(*limits)
        ratio_ticks(axes.yaxis, *limits)
    _legend(figure, {key: labels[key] for key in others}, looks, pairs[:1], {})
    return figure


def _overall(sources: Sequence[xr.Dataset], key: str) -> Estimate:
    """The ratio over all steps, from the published-scale results if they contain the method."""
    data = next(data for data in sources if key in data["integrator"].values)
    return ratio_over_steps(data, key, COMPARED)


def _words(estimate: Estimate) -> str:
    interval = f" ({estimate.low:.2f} to {estimate.high:.2f})" if np.isfinite(estimate.low) else ""
    return f"{estimate.value:.2f}{interval}"


def _ratios(axes: Axes, full: xr.Dataset | None, run: xr.Dataset | None, key: str, look: dict[str, Any]) -> list[float]:
    """Draw a method's ratios with intervals from the published-scale results, and from the run; returns the values drawn."""
    drawn: list[float] = []
    for data in (full, run):
        if data is None or key not in data["integrator"].values or COMPARED not in data["integrator"].values:
            continue
        dt = data["dt"].values
        ratios = [ratio_of_means(data, key, row, COMPARED) for row in range(len(dt))]
        value, low, high = (np.array([getattr(e, name) for e in ratios]) for name in ("value", "low", "high"))
        drawable = np.isfinite(value) & (value > 0)
        axes.plot(dt, np.where(drawable, value, np.nan), **(look if data is full else look | CHECK), zorder=3)
        if data is full:
            _bars(axes, dt, low, high, drawable, look["color"])
        drawn += value[drawable].tolist()
    return drawn


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
    panels[1].axhline(spin, color="0.45", linewidth=0.7, linestyle=(0, (1, 1.5)), zorder=0)
    panels[1].annotate(
        f"the entire initial spin, {spin:g} rad/s",
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
    """Draw lines on logarithmic axes; values at or next to zero lie on the lower edge, which is labelled accordingly."""
    places = np.unique(np.geomspace(1, len(time), 120).astype(int) - 1)
    lines = {key: peaks(line, places) for key, line in lines.items()}
    time = time[places]
    bottom, low, high = _edges(lines.values())
    log_error_axis(axes, bottom, high)
    marks = max(1, len(time) // 8)
    for number, (key, line) in enumerate(lines.items()):
        drawn = np.where(line <= LEAST, bottom, line)
        look = {**looks[key], "linewidth": 0.9, "markevery": (number * marks // len(lines), marks)}
        axes.plot(time, drawn, **look, clip_on=False)
    if bottom < low:
        axes.yaxis.set_major_locator(FixedLocator([bottom, *(t for t in axes.get_yticks() if low <= t <= high)]))
        axes.yaxis.set_major_formatter(_powers_above(bottom))
        axes.yaxis.set_minor_formatter(NullFormatter())


def _edges(values: Iterable[np.ndarray]) -> tuple[float, float, float]:
    """Where zeros are drawn on a logarithmic axis, and powers of ten that enclose all other values; without zeros the lower."""
    joined = np.concatenate(list(values))
    low, high = _decades(joined[np.isfinite(joined) & (joined > LEAST)].tolist())
    return low / 10 if (joined <= LEAST).any() else low, low, high


def _powers_above(zero: float) -> FuncFormatter:
    """Ticks as powers of ten, and as 0 where zeros are drawn."""
    return FuncFormatter(lambda value, _: "0" if value <= 2 * zero else f"$10^{{{round(np.log10(value))}}}$")


def rods_states(inputs: Inputs) -> Figure:
    """A figure of rods from many initial states: energy and spin by method, and the unstable variant with half the step."""
    data = inputs.released_many_body(RODS)
    labels, looks = method_looks(data)
    figure = new_figure((style.TEXT_WIDTH, 5.0))
    panels = figure.subplot_mosaic([["energy", "spin"], ["time", "time"]], height_ratios=[1.15, 1])  # type: ignore[list-item]
    order = inputs.in_order(labels)
    for name, text, variable, letter in (
        ("energy", r"largest $|\Delta E|/E_0$", "energy_change", "a"),
        ("spin", r"largest $|\Delta\omega_x|$ (rad/s)", "axial_spin_change", "b"),
    ):
        axes = panels[name]
        _strips(axes, {key: abs(data[variable].sel(integrator=key)).max("time").values for key in order}, looks)
        axes.set_yticks(range(len(order)), [printable(labels[key]) for key in order] if name == "energy" else [])
        axes.set_ylim(len(order) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0, labelsize=7.5)
        axes.set_xlabel(text)
        panel_title(axes, letter, f"{data.sizes['seed']} states, {float(data['time'][-1]):g} s")
    _halved(panels["time"], inputs, data)
    return figure


def _strips(axes: Axes, values: Mapping[str, np.ndarray], looks: Mapping[str, dict[str, Any]]) -> None:
    """Draw one row of points for each method, one point per state, with median and interval; zeros lie on the left edge."""
    left, low, high = _edges(values.values())
    axes.set_xscale("log")
    axes.set_xlim(left / 1.8, high)
    shown = {key: np.where(points <= LEAST, left, points) for key, points in values.items()}
    rows = np.repeat(np.arange(len(shown)), [len(at) for at in shown.values()])
    sns.stripplot(
        x=np.concatenate(list(shown.values())),
        y=rows,
        hue=rows,
        palette=[looks[key]["color"] for key in shown],
        orient="h",
        native_scale=True,
        jitter=False,
        legend=False,
        marker="|",
        size=7,
        linewidth=0.6,
        edgecolor="face",
        alpha=0.7,
        zorder=2,
        ax=axes,
    )
    for row, (key, at) in enumerate(shown.items()):
        middle = median(at)
        axes.plot([middle.low, middle.high], [row, row], color="0.15", linewidth=1.2, zorder=3)
        axes.plot(middle.value, row, **{**looks[key], "linestyle": "none", "markersize": 5}, zorder=4)
    exponents = range(round(np.log10(left)), round(np.log10(high)) + 1)
    stride = 1 if len(exponents) < 7 else 2 if len(exponents) < 13 else 4
    ticks = [10.0**e for e in exponents if e % stride == 0 and (10.0**e >= low * 0.99)]
    axes.xaxis.set_major_locator(FixedLocator([left, *ticks] if left < low else ticks))
    axes.xaxis.set_major_formatter(_powers_above(left if left < low else 0.0))
    axes.xaxis.set_minor_locator(NullLocator())


def _halved(axes: Axes, inputs: Inputs, data: xr.Dataset) -> None:
    """Draw the energy of the unstable variant over time, all states and their median, with the full and with half the step."""
    half = inputs.released_many_body(HALF_STEP)
    (key,) = map(str, half["integrator"].values)
    colour = method_looks(half)[1][key]["color"]
    handles = []
    looks: tuple[tuple[xr.Dataset, Any, str], ...] = ((data, "-", colour), (half, (0, (4, 1.6)), "0.25"))
    for runs, line, shade in looks:
        time = runs["time"].values[1:]
        change = abs(runs["energy_change"].sel(integrator=key).transpose("time", "seed").values[1:])
        axes.plot(time, change, linestyle=line, color=shade, linewidth=0.4, alpha=0.45)
        axes.plot(time, np.median(change, axis=1), linestyle=line, color=shade, linewidth=2.0)
        label = rf"$\Delta t={1e6 * float(runs['dt'].values[0]):.4g}\,\mu$s"
        handles.append(Line2D([], [], linestyle=line, color=shade, linewidth=2.0, label=label))
    log_error_axis(axes, *_decades([1e-4, float(np.nanmax(change))]))
    axes.set_xlim(0, float(data["time"][-1]))
    axes.axhline(1.0, color="0.6", linewidth=0.7, linestyle=(0, (1, 1.5)), zorder=0)
    axes.set_xlabel(TIME)
    axes.set_ylabel(r"$|\Delta E|/E_0$")
    panel_title(axes, "c", printable(str(half["label"].values[0])))
    axes.legend(handles=handles, loc="lower right")


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
