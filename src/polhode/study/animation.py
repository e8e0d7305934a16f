"""A moving picture of many bodies in their box: a GIF that any browser opens. ``polhode animate`` makes one of any scene."""

import argparse
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from polhode.cli import UsageError, check_writable, not_negative, positive, whole
from polhode.manybody import Scene, pictures
from polhode.progress import Stage, watched
from polhode.registry import nearest
from polhode.study import style
from polhode.study.configuration import METHODS, SCENES
from polhode.study.storage import write_atomically

#: Edge of the picture in pixels, pictures in a second, colours.
SIZE, RATE, COLOURS = 480, 25, 96
#: Smallest and largest edge, and most pictures: all of them are held in memory.
SMALLEST, LARGEST, MOST = 32, 2000, 2000
#: Most steps; more are hours.
MOST_STEPS = 1e9
SUMMARY = "a moving picture (GIF) of many bodies in a box"


def frame_of(film: Mapping[str, Any], frame: int, size: int) -> Image.Image:
    """One picture of a film, with the time below it."""
    # The figure too: with the user's layout the box would move.
    with style.settings():
        figure = Figure(figsize=(size / 100, size / 100), dpi=100)
        canvas = FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0.03, 1, 0.96))
        pictures.draw(axes, film, frame, pictures.view_of(float(film["@box"]), size, size))
        figure.text(0.02, 0.015, f"{1e3 * float(film['time'][frame]):.{_decimals(film['time'])}f} ms", fontsize=9, color="0.3")
        canvas.draw()  # type: ignore[no-untyped-call]
    return Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy())  # type: ignore[no-untyped-call]


def _decimals(times: np.ndarray) -> int:
    """Of times in ms that the pictures of a film can be told apart by."""
    return max(0, -int(np.floor(np.log10(1e3 * (times[1] - times[0]))))) if len(times) > 1 else 0


def write_gif(
    film: Mapping[str, Any], path: str | Path, size: int = SIZE, progress: Callable[[], object] = lambda: None
) -> None:
    """Write a film (see :func:`polhode.study.many_body.run_film`) as a GIF that repeats; the same film gives the same bytes.

    Parameters
    ----------
    film : variables and attributes of the file
    size : edge of the picture in pixels
    progress : called after each picture
    """
    shown = []
    for frame in range(len(film["time"])):
        shown.append(frame_of(film, frame, size))
        progress()
    # One palette for all pictures, or colours would flicker.
    palette = shown[len(shown) // 2].quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    reduced = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in shown]
    with BytesIO() as buffer:
        reduced[0].save(
            buffer, "GIF", save_all=True, append_images=reduced[1:], duration=1000 // RATE, loop=0, optimize=False, disposal=1
        )
        content = buffer.getvalue()
    write_atomically(path, lambda temporary: temporary.write_bytes(content))


def animate(
    scene: Scene,
    path: str | Path,
    method: str,
    dt: float,
    time: float,
    frames: int = 72,
    seed: int = 0,
    size: int = SIZE,
) -> None:
    """Simulate a scene, one's own too, for a moment and write it as a GIF; bars show how far it is.

    Parameters
    ----------
    scene : what moves; :meth:`polhode.manybody.Scene.with_spin` changes its spin
    path : file to write
    method, dt, time, seed : as in :func:`polhode.manybody.simulate`, in s
    frames : pictures after the first
    size : edge of the picture in pixels

    Raises
    ------
    ValueError
        If the scene cannot be run, or the run blows up before its end.
    """
    from polhode.study.many_body import film_of

    simulating, drawing = Stage("simulating", 1, "runs"), Stage("drawing", frames + 1, "pictures")
    with watched(simulating, drawing):
        film = film_of(scene, method, dt, time, frames, seed)
        if "diverged" in film.attrs:
            raise ValueError(f"the run blew up at t = {film.attrs['diverged']:g} s; take a smaller dt or a shorter time")
        simulating.advance()
        shown = {str(name): film[name].values for name in film.variables} | {"@box": scene.box}
        write_gif(shown, path, size, drawing.advance)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``polhode animate``."""
    parser.add_argument("scene", nargs="?", default="chess", help=f"one of {', '.join(SCENES)}; by default chess")
    parser.add_argument("--method", default="spiral_leapfrog", help="key of a method with one torque in a step")
    parser.add_argument("--dt", type=positive, help="time step, s; by default that of the publication")
    parser.add_argument("--time", type=positive, default=0.6, help="simulated time, s")
    parser.add_argument("--frames", type=whole(1, MOST), default=72, help="pictures after the first")
    parser.add_argument("--seed", type=whole(0), default=0, help="of the initial state")
    parser.add_argument("--spin", type=not_negative, help="angular velocity at the start, rad/s; by default that of the scene")
    parser.add_argument("--size", type=whole(SMALLEST, LARGEST), default=SIZE, help="edge of the picture, pixels")
    parser.add_argument("--output", type=Path, help="file to write; by default SCENE.gif")


def run(arguments: argparse.Namespace) -> int:
    """Simulate, draw and write; says where."""
    from polhode.study.many_body import scene_of
    from polhode.study.many_body_timing import DT

    if arguments.scene not in SCENES:
        raise UsageError(f"unknown scene {arguments.scene!r}; {nearest(arguments.scene, list(SCENES))}")
    if arguments.method not in METHODS:
        raise UsageError(f"unknown method {arguments.method!r}; {nearest(arguments.method, list(METHODS))}")
    output = arguments.output or Path(f"{arguments.scene}.gif")
    if output.suffix.lower() != ".gif":
        raise UsageError(f"--output: only GIF is written, got {output.name!r}; name a file that ends in .gif")
    check_writable(output, "--output")
    dt = DT[arguments.scene] if arguments.dt is None else arguments.dt
    if arguments.time / dt > MOST_STEPS:
        raise UsageError(f"--time {arguments.time:g} with steps of {dt:g} s is more than {MOST_STEPS:g} steps; ask for less")
    scene = scene_of({"scene": arguments.scene, "spin": arguments.spin})
    try:
        animate(scene, output, arguments.method, dt, arguments.time, arguments.frames, arguments.seed, arguments.size)
    except (ValueError, FileNotFoundError) as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"--output: {output} cannot be written: {error.strerror or error}") from None
    print(f"{output}: {output.stat().st_size / 1e6:.1f} MB")
    return 0
