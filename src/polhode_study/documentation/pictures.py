"""The pictures of the generated pages: small, reproducible byte for byte, in the style of the report."""

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

import polhode
from polhode.advice.prices import USUAL
from polhode.fits.ranking import candidates
from polhode.interface.netcdf import plain
from polhode.manybody import Scene, scenes
from polhode.manybody import pictures as clumps
from polhode.methods import METHODS, in_order
from polhode.problems import PROBLEMS
from polhode.problems.system import System
from polhode_study.chapters.engines import figures as engines
from polhode_study.cli.animate import step_of
from polhode_study.documentation import handle
from polhode_study.documentation.measured import Measurements, representatives
from polhode_study.fingerprint import fingerprint
from polhode_study.inputs import Inputs
from polhode_study.report import style
from polhode_study.report.drawing import (
    decades_below,
    legend_below_styles,
    log_error_axis,
    new_figure,
    outer_labels,
    panel_title,
)
from polhode_study.run.scene import film_of

#: Dots per inch: twice what a screen shows.
DPI = 150
#: Range of errors plotted.
SHOWN = (1e-12, 1.0)
#: Number of steps of the run from which the motion of a problem is plotted.
FINE = 20000
#: Times shown of a film, s; multiples of the second.
FILMED = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6)
#: The errors at which a method must be fastest to be plotted in colour.
FIRST_AT = (1e-2, 1e-4, 1e-6, 1e-8)


def all_pictures(measured: Measurements, folder: Path) -> dict[str, bytes]:
    """Every picture by its path below ``folder``, as PNG.

    Existing pictures drawn from the same data by the same code are reused.
    """
    drawers: dict[str, Callable[[], Figure]] = {
        "engines/errors.png": partial(engines.engine_errors, _released_atlas(measured)),
        "engines/spins.png": partial(engines.engine_spins, _released_atlas(measured)),
        "engines/t_handle.png": partial(handle.picture),
        **{f"methods/{key}.png": partial(method_picture, key, measured) for key in METHODS},
        **{f"problems/{key}.png": partial(problem_picture, key, measured) for key in PROBLEMS},
        **{f"scenes/{key}.png": partial(scene_picture, key) for key in scenes},
        **{
            f"scenes/{key}_film.png": partial(film_picture, key)
            for key, scene in scenes.items()
            if isinstance(scene, Scene) and scene.walls_move
        },
    }
    stamp, record = _stamp(measured), folder / "pictures.json"
    current = record.is_file() and json.loads(record.read_text()) == stamp
    result = {"pictures.json": json.dumps(stamp, indent=1).encode()}
    for name, drawer in drawers.items():
        result[name] = (folder / name).read_bytes() if current and (folder / name).is_file() else _png(drawer)
    return result


def _released_atlas(measured: Measurements) -> Inputs:
    """Inputs that show the released engine atlas, as the tables of its page do."""
    return Inputs(released=measured.inputs.paths["released"])


def _stamp(measured: Measurements) -> dict[str, str]:
    """A hash of what the pictures depend on: the data, and the code of this module and of everything it imports."""
    files = [measured.inputs.paths["cost"], Path(measured.inputs.paths["released"]) / "atlas.nc"]
    data = hashlib.sha256(b"".join(hashlib.sha256(Path(path).read_bytes()).digest() for path in files))
    return {"data": data.hexdigest(), "code": fingerprint(__name__), "matplotlib": matplotlib.__version__}


def _png(drawer: Callable[[], Figure]) -> bytes:
    with style.settings():
        figure = drawer()
        FigureCanvasAgg(figure)
        style.lay_out(figure, DPI)
        stream = BytesIO()
        figure.savefig(stream, format="png", dpi=DPI, metadata=style.METADATA["png"])
    return stream.getvalue()


def _torques(data: xr.Dataset) -> np.ndarray:
    """Evaluations of the torque over method and step size."""
    steps = np.rint(float(data.attrs["horizon"]) / data["ladder_dt"].values)[None, :]
    return np.asarray(data["torques_per_step"].values[:, None] * steps + data["starting_torques"].values[:, None])


def _curves(data: xr.Dataset) -> dict[str, np.ndarray]:
    """(torques, error) of every method, within the plotted range."""
    work, error = _torques(data), data["ladder_error"].values
    inside = np.isfinite(error) & (error > SHOWN[0]) & (error < 3 * SHOWN[1])
    keys = map(str, data["integrator"].values)
    return {key: np.column_stack([work[i][inside[i]], error[i][inside[i]]]) for i, key in enumerate(keys)}


def _against_torques(axes: Axes, curves: Mapping[str, np.ndarray], coloured: Mapping[str, Any], grey: list[str]) -> None:
    """Errors against torque evaluations: some methods in colour, others grey."""
    axes.add_collection(
        LineCollection([curves[key] for key in grey if key in curves], colors=style.RULE, linewidths=style.HAIR, zorder=1)
    )
    for key, look in coloured.items():
        if key in curves:
            points = curves[key]
            axes.plot(*points.T, markevery=max(1, len(points) // 8), zorder=3, **look)
    if (spread := np.concatenate([points[:, 0] for points in curves.values()])).size:
        decades_below(axes, spread, 1.5, 5.5)
    log_error_axis(axes, *SHOWN)


def method_picture(key: str, measured: Measurements) -> Figure:
    """Errors of one method against torque evaluations, on the problem that represents each class; grey: the others."""
    # Laid out by hand, in a fraction of the time, since the panels are the same for all methods.
    figure = Figure(figsize=(style.TEXT_WIDTH, 4.2))
    panels = figure.subplots(2, 3, sharey=True).ravel()
    figure.subplots_adjust(left=0.1, right=0.985, bottom=0.1, top=0.945, wspace=0.07, hspace=0.28)
    for number, (torque_class, problem) in enumerate(representatives().items()):
        axes, data = panels[number], measured.cost(problem)
        panel_title(axes, "abcdef"[number], f"{torque_class}: {PROBLEMS[problem].short_label or PROBLEMS[problem].label}")
        if data is None:
            axes.set_axis_off()
            continue
        _against_torques(axes, _curves(data), {key: style.style(key)}, candidates(data))
    outer_labels(panels, 3, "torque evaluations", r"error $(\varepsilon_q+\varepsilon_\omega)/2$")
    return figure


@cache
def _motion(problem: str) -> xr.Dataset:
    """The motion of a problem, fine enough to be drawn."""
    case = PROBLEMS[problem]
    method = "pcdm2016" if isinstance(case, System) else "rk4"
    return polhode.simulate(problem, method, dt=case.horizon / FINE, samples=1000)


@cache
def angle(problem: str) -> float:
    """The angle in rad by which the body of a problem turns in the time simulated: the integral of the norm of omega."""
    run = _motion(problem)
    return float(np.trapezoid(np.linalg.norm(run["omega"].values, axis=-1), run["time"].values))


def problem_picture(key: str, measured: Measurements) -> Figure:
    """The angular velocity of a problem against time, and the errors of all methods if they were measured."""
    figure, data = new_figure((style.TEXT_WIDTH, 3.4)), measured.cost(key)
    panels = figure.subplots(1, 1 if data is None else 2, squeeze=False)[0]
    left, right = panels[0], panels[-1]
    run = _motion(key)
    omega = run["omega"].values
    omega = omega[:, 0] if omega.ndim == 3 else omega
    # The colours and dashes denote axes, not methods.
    for i, (name, colour, dashes) in enumerate((("x", style.BLACK, "-"), ("y", style.DARK, "--"), ("z", style.PALE, "-."))):
        left.plot(run["time"].values, omega[:, i], color=colour, linestyle=dashes, label=rf"$\omega_{name}$")
    left.set_xlabel("time (s)")
    left.set_ylabel("angular velocity (rad/s)")
    left.set_xlim(0, float(run["time"][-1]))
    left.legend(loc="best", handlelength=1.8)
    panel_title(left, "a", "motion")
    if data is None:
        return figure
    panel_title(right, "b", "errors")
    first: list[str] = []
    for target in FIRST_AT:
        for one_torque in (True, False):
            best = measured.first(key, target, USUAL, one_torque)
            if best is not None:
                first.append(str(best["method"]))
    shown = [name for name in in_order({*first, "spiral_leapfrog", "euler"}) if name in data["integrator"].values]
    looks, labels = style.styles(shown), dict(zip(data["integrator"].values, data["label"].values, strict=True))
    _against_torques(right, _curves(data), {name: looks[name] for name in shown}, candidates(data))
    right.set_xlabel("torque evaluations")
    right.set_ylabel(r"error $(\varepsilon_q+\varepsilon_\omega)/2$")
    legend_below_styles(
        figure, {**{n: str(labels[n]) for n in shown}, "": "all others"}, {**looks, "": {"color": style.RULE}}, 4
    )
    return figure


def scene_picture(key: str) -> Figure:
    """The initial state of a scene."""
    return clumps.picture_of_scene(scenes[key], scenes[key].initial_state(0), width=4.2)


def film_picture(key: str) -> Figure:
    """Frames of a film of a scene, as ``polhode animate`` makes it."""
    scene = scenes[key]
    film = plain(film_of(scene, "spiral_leapfrog", step_of(scene), FILMED[-1], round(FILMED[-1] / FILMED[1])).dataset())
    figure = Figure(figsize=(1.7 * len(FILMED), 1.85), layout="constrained")
    pixels = round(DPI * 1.7)
    for axes, time in zip(figure.subplots(1, len(FILMED)), FILMED, strict=True):
        frame = int(np.argmin(abs(film["time"] - time)))
        clumps.draw(axes, film, frame, clumps.view_of(film, pixels, pixels))
        axes.set_title(f"{film['time'][frame]:.1f} s", fontsize=style.KEY)
    return figure
