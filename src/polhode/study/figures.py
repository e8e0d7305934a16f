"""The figures of the report: one function each, from the gathered files to a matplotlib figure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter, NullLocator

from polhode.study import style
from polhode.study.inputs import Inputs

#: The methods that the figures of del Valle et al. (2024) compare, in the variants that reproduce their curves.
PUBLISHED_SET = (
    "spiral_leapfrog",
    "omelyan1998",
    "buss2000_delvalle2024",
    "verlet_delvalle2024",
    "fincham1992_delvalle2024",
    "euler",
    "johnson2008_delvalle2024",
    "pfc4",
    "rk4",
)
#: The methods of their appendix A, and the hybrid found in their data.
SPIRAL_VARIANTS = ("spiral_leapfrog", "spiral_synchronous", "omelyan1998", "spiral_omelyan")
#: Methods as their originators meant them, each followed by the published variant.
ORIGINATORS = (
    "verlet",
    "verlet_delvalle2024",
    "fincham1992",
    "fincham1992_delvalle2024",
    "buss2000",
    "buss2000_delvalle2024",
    "johnson2008",
    "johnson2008_delvalle2024",
)
#: Errors below this are drawn here: a logarithmic axis has no zero.
FLOOR = 1e-17
#: Errors above this say only that the orientation is lost; the axes end here.
CEILING = 10.0
#: The time at which the cylinder is drawn, s.
SNAPSHOT_TIME = 15.0
#: Radius and half height of the cylinder drawn, in cm.
CYLINDER = (5.0, 7.5)
#: Half a unit of the last of four printed digits, relative to the smallest number with four digits.
PRINTED_ROUNDING = 5e-4

Q_ERROR = r"error of orientation $\varepsilon_q$"
OMEGA_ERROR = r"error of angular velocity $\varepsilon_\omega$"
STEP = r"time step $\Delta t$ (s)"


def _available(data: xr.Dataset, wanted: Iterable[str], plugins: Sequence[str] = ()) -> list[str]:
    present = set(map(str, data["method"].values))
    return [key for key in dict.fromkeys([*wanted, *plugins]) if key in present]


def _new(size: tuple[float, float]) -> Figure:
    return Figure(figsize=size, layout="constrained")


def _looks(inputs: Inputs, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Styles that do not depend on which of the run's methods a figure shows."""
    every = list(map(str, inputs.errors["method"].values))
    variants = {key: str(inputs.declared(key, "variant_of")) for key in every}
    return {key: look for key, look in style.styles(every, variants).items() if key in keys}


def _legend_below(figure: Figure, inputs: Inputs, keys: Sequence[str], looks: dict[str, dict[str, Any]], columns: int) -> None:
    handles = [Line2D([], [], label=inputs.label(key), **looks[key]) for key in keys]
    if handles:
        # Filled row by row: matplotlib fills columns first.
        rows = -(-len(handles) // columns)
        order = [row * columns + column for column in range(columns) for row in range(rows)]
        figure.legend(
            handles=[handles[i] for i in order if i < len(handles)],
            loc="outside lower center",
            ncols=min(columns, len(handles)),
            handlelength=2.6,
            columnspacing=1.4,
            labelspacing=0.35,
        )


def _letter(axes: Axes, letter: str, text: str) -> None:
    axes.set_title(f"({letter}) {text}", loc="left")


def _log_error_axis(axes: Axes, lowest: float, highest: float) -> None:
    axes.set_yscale("log")
    axes.set_ylim(lowest, highest)
    axes.yaxis.set_major_locator(LogLocator(10, numticks=30))
    decades = int(np.log10(highest / lowest))
    if decades > 9:
        exponents = range(int(np.floor(np.log10(lowest))), int(np.ceil(np.log10(highest))) + 1)
        axes.yaxis.set_major_locator(FixedLocator([10.0**e for e in exponents if e % 2 == 0]))
        axes.yaxis.set_minor_locator(FixedLocator([10.0**e for e in exponents if e % 2]))
    else:
        axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())


def _limits(*values: np.ndarray) -> tuple[float, float]:
    """Whole decades around all finite errors, within FLOOR and CEILING."""
    joined = np.concatenate([np.ravel(v) for v in values]) if values else np.array([1.0])
    joined = np.clip(joined[np.isfinite(joined)], FLOOR, CEILING)
    if joined.size == 0:
        return FLOOR, CEILING
    low = 10.0 ** np.floor(np.log10(joined.min()) - 0.2)
    high = 10.0 ** np.ceil(np.log10(joined.max()) + 0.2)
    return max(low, FLOOR / 10), min(high, CEILING)


def _slope_guides(axes: Axes, slopes: Sequence[int]) -> None:
    """Straight grey lines of the given slopes through the lower right corner region, each labelled where it leaves the axes."""
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    width, height = np.log10(x1 / x0), np.log10(y1 / y0)
    for number, slope in enumerate(slopes):
        # Fan of lines below the data: the steeper, the further right.
        run = min(0.16 * width, 0.2 * height / slope)
        left = np.log10(x0) + width * (0.88 - 0.125 * (len(slopes) - number)) + (0 if slope > 2 else -0.03 * width)
        bottom = np.log10(y0) + 0.045 * height
        xs = 10.0 ** np.array([left, left + run])
        ys = 10.0 ** np.array([bottom, bottom + slope * run])
        axes.plot(xs, ys, color="0.45", linewidth=0.8, zorder=1)
        axes.annotate(
            f"{slope}",
            (xs[1], ys[1]),
            xytext=(1.5, 1),
            textcoords="offset points",
            fontsize=7,
            color="0.35",
            ha="left",
            va="center",
        )


def _errors_against_step(inputs: Inputs, keys: Sequence[str], omega: str, slopes: Sequence[int], columns: int) -> Figure:
    data, looks = inputs.ladder, _looks(inputs, keys)
    figure = _new(style.TWO_PANELS)
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    dt = data["dt"].values
    shown = data.sel({"method": list(keys)})
    low, high = _limits(shown["q_error_l1"].values, shown[omega].values)
    for axes, name, label, letter, title in zip(
        panels, ("q_error_l1", omega), (Q_ERROR, OMEGA_ERROR), "ab", ("orientation", "angular velocity"), strict=True
    ):
        for key in keys:
            error = data[name].sel({"method": key}).values
            there = np.isfinite(error)
            axes.plot(dt[there], np.maximum(error[there], FLOOR), **looks[key])
        axes.set_xscale("log")
        axes.set_xlim(dt.min() / 1.6, dt.max() * 1.6)
        axes.xaxis.set_major_locator(LogLocator(10, numticks=12))
        axes.xaxis.set_minor_locator(NullLocator())
        _log_error_axis(axes, low, high)
        axes.set_xlabel(STEP)
        axes.set_ylabel(label)
        axes.yaxis.set_tick_params(labelleft=True)
        _letter(axes, letter, title)
        _slope_guides(axes, slopes)
    _legend_below(figure, inputs, keys, looks, columns)
    return figure


def _errors_against_time(inputs: Inputs, keys: Sequence[str], omega: str, columns: int) -> Figure:
    data, looks = inputs.long_run, _looks(inputs, keys)
    figure = _new(style.TWO_PANELS)
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    time = data["time"].values
    later = time > 0
    shown = data.sel({"method": list(keys)}).isel(time=later)
    low, high = _limits(shown["q_error_l1"].values, shown[omega].values)
    marks = max(1, len(time) // 8)
    for axes, name, label, letter, title in zip(
        panels, ("q_error_l1", omega), (Q_ERROR, OMEGA_ERROR), "ab", ("orientation", "angular velocity"), strict=True
    ):
        for number, key in enumerate(keys):
            error = data[name].sel({"method": key}).values
            there = np.isfinite(error) & later
            offset = number * marks // max(1, len(keys))
            axes.plot(
                time[there], np.maximum(error[there], FLOOR), markevery=(offset, marks), **{**looks[key], "linewidth": 0.8}
            )
        axes.set_xlim(0, time.max())
        _log_error_axis(axes, low, high)
        axes.set_xlabel("time $t$ (s)")
        axes.set_ylabel(label)
        axes.yaxis.set_tick_params(labelleft=True)
        _letter(axes, letter, title)
    _legend_below(figure, inputs, keys, looks, columns)
    return figure


def error_vs_dt(inputs: Inputs) -> Figure:
    """Errors of q and omega after one second against dt, published methods and plug-ins: del Valle et al. (2024), Fig. 2."""
    keys = _available(inputs.errors, PUBLISHED_SET, inputs.plugins)
    return _errors_against_step(inputs, keys, "stored_omega_error_l1", (1, 2, 3, 4), 3)


def error_vs_time(inputs: Inputs) -> Figure:
    """Errors of q and omega against time at one small dt, published methods and plug-ins: del Valle et al. (2024), Fig. 3."""
    keys = _available(inputs.long_run, PUBLISHED_SET, inputs.plugins)
    return _errors_against_time(inputs, keys, "stored_omega_error_l1", 3)


def spiral_variants_vs_dt(inputs: Inputs) -> Figure:
    """SPIRAL's two forms, Omelyan's method, the hybrid and plug-ins against dt: del Valle et al. (2024), Fig. A.8."""
    keys = _available(inputs.errors, SPIRAL_VARIANTS, inputs.plugins)
    return _errors_against_step(inputs, keys, "stored_omega_error_l1", (2, 3), 4)


def spiral_variants_vs_time(inputs: Inputs) -> Figure:
    """SPIRAL's two forms, Omelyan's method, the hybrid and plug-ins against time: del Valle et al. (2024), Fig. A.9."""
    keys = _available(inputs.long_run, SPIRAL_VARIANTS, inputs.plugins)
    return _errors_against_time(inputs, keys, "stored_omega_error_l1", 4)


def originators_vs_published(inputs: Inputs) -> Figure:
    """Methods as their originators meant them beside the published variants, q and omega at the same time."""
    keys = _available(inputs.errors, ORIGINATORS, inputs.plugins)
    return _errors_against_step(inputs, keys, "omega_error_l1", (1, 2), 2)


def norm_drift(inputs: Inputs) -> Figure:
    """| |q| - 1 | against time in the long run, for the methods that do not normalise."""
    data = inputs.long_run
    keys = [key for key in map(str, data["method"].values) if not inputs.declared(key, "normalises", True)]
    looks = _looks(inputs, keys)
    figure = _new((style.TEXT_WIDTH, 2.9))
    axes = figure.subplots()
    time = data["time"].values
    later = time > 0
    for number, key in enumerate(keys):
        drift = data["norm_error"].sel({"method": key}).values
        there = np.isfinite(drift) & later
        axes.plot(
            time[there],
            np.maximum(drift[there], FLOOR),
            markevery=(number, max(1, len(time) // 12)),
            **{**looks[key], "linewidth": 0.8},
        )
    axes.axhline(2.0**-53, color="0.45", linewidth=0.8, linestyle=":")
    axes.annotate(
        "half a unit in the last place of 1",
        (time.max(), 2.0**-53),
        xytext=(-4, -7),
        textcoords="offset points",
        fontsize=7,
        color="0.35",
        ha="right",
    )
    low, high = _limits(data["norm_error"].sel({"method": keys}).isel(time=later).values, np.array([2e-17]))
    axes.set_xlim(0, time.max())
    _log_error_axis(axes, low, high)
    axes.set_xlabel("time $t$ (s)")
    axes.set_ylabel(r"$|\,|q|-1\,|$")
    _legend_below(figure, inputs, keys, looks, 4)
    return figure


def target_ratio(inputs: Inputs) -> Figure:
    """How far our time steps for the target errors are from the published ones, interpolated as there and found on runs."""
    table = inputs.published_steps
    keys = _available(inputs.targets, dict.fromkeys(table["method"]))
    looks = _looks(inputs, keys)
    figure = _new(style.TWO_PANELS)
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    smallest = 1e-6
    values = [1e-5, 1e-2]
    steps: tuple[Callable[[str, float], float], ...] = (inputs.interpolated_step, partial(_target_step, inputs))
    for axes, step, letter, title in zip(
        panels,
        steps,
        "ab",
        ("interpolated on the ladder", "found on runs"),
        strict=True,
    ):
        for number, key in enumerate(keys):
            rows = table[table["method"] == key].sort_values("target_error")
            at = rows["target_error"].to_numpy(float)
            distance = np.abs(np.array([step(key, target) for target in at]) / rows["dt"].to_numpy(float) - 1)
            spread = 10.0 ** (0.08 * (number - (len(keys) - 1) / 2))
            there = np.isfinite(distance)
            shown = np.maximum(distance[there], smallest)
            axes.plot(at[there] * spread, shown, **{**looks[key], "linestyle": "none"})
            values += list(shown)
        axes.axhspan(smallest / 1e3, PRINTED_ROUNDING, color="0.92", zorder=0)
        _letter(axes, letter, title)
    low, high = _limits(np.array(values))
    for axes in panels:
        axes.set_xscale("log")
        axes.set_xlim(10**-5.5, 10**-1.5)
        axes.xaxis.set_major_locator(FixedLocator(sorted({float(t) for t in table["target_error"]})))
        axes.xaxis.set_minor_locator(NullLocator())
        _log_error_axis(axes, low, high)
        axes.set_xlabel("target error")
        axes.yaxis.set_tick_params(labelleft=True)
    panels[0].set_ylabel(r"$|\Delta t_{\mathrm{ours}}/\Delta t_{\mathrm{published}}-1|$")
    _legend_below(figure, inputs, keys, looks, 3)
    return figure


def _target_step(inputs: Inputs, key: str, target: float) -> float:
    """The dt found for a target error, NaN where the run has none."""
    data = inputs.targets
    near = np.flatnonzero(np.isclose(data["target_error"].values, target, rtol=1e-6))
    if key not in data["method"].values or near.size == 0:
        return float("nan")
    return float(data["step_size"].sel({"method": key}).values[near[0]])


#: Components and their look; not method colours.
_COMPONENTS: tuple[tuple[str, str, Any], ...] = (
    ("x", "#004488", "-"),
    ("y", "#BB5566", (0, (5, 1.5))),
    ("z", "#DDAA33", (0, (1.5, 1.2))),
)


def reference_solution(inputs: Inputs) -> Figure:
    """Exact angular velocity and orientation, and the cylinder at 15 s: del Valle et al. (2024), Fig. 1."""
    data = inputs.reference_states
    horizon = float(np.nanmax(inputs.errors["end_time"].values))
    data = data.isel(time=(data["time"].values <= horizon * (1 + 1e-9)))
    figure = _new((style.TEXT_WIDTH, 3.0))
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.0, 1.0, 0.8))
    time = data["time"].values
    handles = []
    for i, (name, colour, dashes) in enumerate(_COMPONENTS):
        left.plot(time, data["omega"].values[:, i], color=colour, linestyle=dashes)
        middle.plot(time, data["q"].values[:, i + 1], color=colour, linestyle=dashes)
        handles.append(Line2D([], [], color=colour, linestyle=dashes, label=rf"$\omega_{name}$, $q_{name}$"))
    handles.append(Line2D([], [], color="0.25", linestyle=(0, (6, 1.5, 1.5, 1.5)), linewidth=0.8, label="$q_0$"))
    middle.plot(time, data["q"].values[:, 0], color="0.25", linestyle=(0, (6, 1.5, 1.5, 1.5)), linewidth=0.8)
    # The axial component grows forty times larger than the others: a linear core shows all three.
    left.set_yscale("symlog", linthresh=1.2, linscale=1.6)
    left.yaxis.set_major_locator(FixedLocator([-1, -0.5, 0, 0.5, 1, 10, 100]))
    left.yaxis.set_major_formatter(lambda value, _: f"{value:g}".replace("-", "$-$"))
    left.yaxis.set_minor_locator(NullLocator())
    left.set_ylim(-1.6, 100)
    middle.set_ylim(-1.15, 1.15)
    for axes in (left, middle):
        axes.set_xlim(0, horizon)
        axes.set_xlabel("time $t$ (s)")
    left.set_ylabel(r"angular velocity $\omega'$ (rad s$^{-1}$)")
    middle.set_ylabel("orientation $q'$")
    _letter(left, "a", "")
    _letter(middle, "b", "")
    handles += _snapshot(right, inputs)
    figure.legend(handles=handles, loc="outside lower center", ncols=7, handlelength=2.1, columnspacing=0.9, handletextpad=0.5)
    return figure


def _snapshot(axes: Axes, inputs: Inputs) -> list[Line2D]:
    """The cylinder at SNAPSHOT_TIME in perspective: exact, SPIRAL and direct Euler."""
    axes.set_aspect("equal")
    axes.set_axis_off()
    long_run = inputs.long_run
    at = int(np.argmin(np.abs(long_run["time"].values - SNAPSHOT_TIME)))
    _letter(axes, "c", f"$t={long_run['time'].values[at]:g}$ s")
    drawn: list[tuple[str, np.ndarray, dict[str, Any]]] = []
    looks = _looks(inputs, ("euler", "spiral_leapfrog"))
    for key in ("euler", "spiral_leapfrog"):
        if key in looks:
            q = long_run["q"].sel({"method": key}).values[at]
            colour = looks[key]["color"]
            if np.isfinite(q).all():
                dashes = "-" if key == "euler" else (0, (4, 2))
                drawn.append((inputs.label(key), q, {"color": colour, "linewidth": 1.1, "linestyle": dashes}))
    drawn.insert(0, ("exact", long_run["exact_q"].values[at], {"color": "#004488", "linewidth": 2.6, "alpha": 0.45}))
    handles = []
    for number, (label, q, look) in enumerate(drawn):
        _cylinder(axes, q, look, fill=number == 0, zorder=number + 2)
        handles.append(Line2D([], [], label=label, **look))
    reach = 10.0
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    return handles


def _cylinder(axes: Axes, q: np.ndarray, look: dict[str, Any], fill: bool, zorder: int) -> None:
    """Outline of the cylinder with its axis along body x, and a line along its side at body y, which shows the spin."""
    radius, half = CYLINDER
    angle = np.linspace(0, 2 * np.pi, 73)
    rim = np.stack([np.zeros_like(angle), radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    ends = [_project(_rotate(q, rim + np.array([x, 0.0, 0.0]))) for x in (-half, half)]
    if fill:
        hull = _convex_hull(np.concatenate([end[0] for end in ends]))
        axes.add_patch(Polygon(hull, closed=True, facecolor="#004488", alpha=0.08, edgecolor="none", zorder=1))
    outline = _convex_hull(np.concatenate([end[0] for end in ends]))
    axes.add_patch(Polygon(outline, closed=True, fill=False, edgecolor=look["color"], **_without_colour(look), zorder=zorder))
    near = max(ends, key=lambda end: float(end[1].mean()))
    axes.plot(*near[0].T, **look, zorder=zorder)
    mark = np.array([[-half, radius, 0.0], [half, radius, 0.0], [half, 0.0, 0.0]])
    axes.plot(*_project(_rotate(q, mark))[0].T, **{**look, "linewidth": 0.6 * look["linewidth"]}, zorder=zorder)


def _without_colour(look: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in look.items() if name != "color"}


def _rotate(q: np.ndarray, points: np.ndarray) -> np.ndarray:
    """q v q* for each row of ``points``."""
    scalar, vector = q[0], q[1:]
    twice = 2 * np.cross(vector, points)
    return np.asarray(points + scalar * twice + np.cross(vector, twice))


def _project(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Perspective view of lab points, in cm, from a fixed direction: positions in the picture, and how near they are."""
    towards = np.array([0.62, -0.70, 0.35])
    towards = towards / np.linalg.norm(towards)
    across = np.cross([0.0, 0.0, 1.0], towards)
    across = across / np.linalg.norm(across)
    upward = np.cross(towards, across)
    depth = points @ towards
    scale = 60.0 / (60.0 - depth)
    return np.stack([points @ across * scale, points @ upward * scale], axis=-1), depth


def _convex_hull(points: np.ndarray) -> np.ndarray:
    """The corners of the convex hull of points in the plane, in order (monotone chain)."""
    ordered = sorted(map(tuple, points.tolist()))

    def chain(sequence: Iterable[tuple[float, ...]]) -> list[tuple[float, ...]]:
        corners: list[tuple[float, ...]] = []
        for p in sequence:
            while len(corners) > 1:
                a, b = corners[-2:]
                if (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0:
                    break
                corners.pop()
            corners.append(p)
        return corners[:-1]

    return np.array(chain(ordered) + chain(reversed(ordered)))


@dataclass(frozen=True)
class FigureRule:
    """A figure and the fields of :class:`~polhode.study.inputs.Inputs` that it reads."""

    draw: Callable[[Inputs], Figure]
    needs: tuple[str, ...]


FIGURES: dict[str, FigureRule] = {
    "reference_solution": FigureRule(reference_solution, ("single_body", "reference")),
    "error_vs_dt": FigureRule(error_vs_dt, ("single_body",)),
    "error_vs_time": FigureRule(error_vs_time, ("single_body",)),
    "spiral_variants_vs_dt": FigureRule(spiral_variants_vs_dt, ("single_body",)),
    "spiral_variants_vs_time": FigureRule(spiral_variants_vs_time, ("single_body",)),
    "originators_vs_published": FigureRule(originators_vs_published, ("single_body",)),
    "norm_drift": FigureRule(norm_drift, ("single_body",)),
    "target_ratio": FigureRule(target_ratio, ("single_body", "published")),
}


def render(name: str, inputs: Inputs, folder: str | Path) -> None:
    """Draw the figure ``name`` and write NAME.pdf and NAME.png into ``folder``.

    Raises
    ------
    KeyError
        If there is no such figure; the message lists all.
    """
    if name not in FIGURES:
        raise KeyError(f"unknown figure {name!r}; known are: {', '.join(FIGURES)}")
    with style.settings():
        figure = FIGURES[name].draw(inputs)
    style.save(figure, Path(folder) / name)
