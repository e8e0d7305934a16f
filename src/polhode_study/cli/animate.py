"""Animate many bodies in their box: ``polhode animate`` makes a GIF of any scene, which any browser can open.

With ``--output NAME.xyz`` or ``--output NAME.vtk`` it writes the motion of all spheres for OVITO or ParaView instead.
"""

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
from polhode.interface.netcdf import plain
from polhode.interface.progress import Stage, watched
from polhode.interface.storage import write_atomically
from polhode.manybody import Fluid, Scene, motion_files, pictures, simulate
from polhode.manybody.scenes import SCENES
from polhode.methods import METHODS
from polhode_study.report import style

#: Edge of the picture in pixels, frames per second, number of colours.
SIZE, RATE, COLOURS = 480, 25, 96
#: Smallest and largest edge, and largest number of frames: all of them are held in memory.
SMALLEST, LARGEST, MOST = 32, 2000, 2000
#: Largest number of steps; more would take hours.
MOST_STEPS = 1e9
#: Steps in a contact if none is published: with the Rayleigh step, a quarter of a contact, grains that rub may blow up.
STEPS_IN_CONTACT = 20


def step_of(scene: Scene | Fluid) -> float:
    """The time step of a film by default, s: that of the publication, or a part of a contact if this is shorter."""
    if isinstance(scene, Scene) and scene.dt is None and scene.speed > 0:
        return min(scene.usual_step, scene.contact_time() / STEPS_IN_CONTACT)
    return scene.usual_step


def frame_of(film: Mapping[str, Any], frame: int, size: int) -> Image.Image:
    """One frame of a film, with the time below it."""
    # Including the figure: with the user's layout settings the box would move.
    with style.settings():
        figure = Figure(figsize=(size / 100, size / 100), dpi=100)
        canvas = FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0.03, 1, 0.96))
        pictures.draw(axes, film, frame, pictures.view_of(film, size, size))
        figure.text(
            0.02,
            0.015,
            f"{1e3 * float(film['time'][frame]):.{_decimals(film['time'])}f} ms",
            fontsize=style.TEXT,
            color=style.DARK,
        )
        canvas.draw()  # type: ignore[no-untyped-call]
    return Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy())  # type: ignore[no-untyped-call]


def _decimals(times: np.ndarray) -> int:
    """Number of decimals of a time in ms needed to distinguish the frames of a film."""
    return max(0, -int(np.floor(np.log10(1e3 * (times[1] - times[0]))))) if len(times) > 1 else 0


def write_gif(
    film: Mapping[str, Any], path: str | Path, size: int = SIZE, progress: Callable[[], object] = lambda: None
) -> None:
    """Write a film (see :func:`polhode_study.run.scene.make_film`) as a looping GIF; the same film gives the same bytes.

    Parameters
    ----------
    film : variables and attributes of the file
    size : edge of the picture in pixels
    progress : called after each frame
    """
    shown = []
    for frame in range(len(film["time"])):
        shown.append(frame_of(film, frame, size))
        progress()
    # One palette for all frames, or colours would flicker.
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
    """Simulate a scene, which may be one's own, for a short time and write it as a GIF; bars show the progress.

    Parameters
    ----------
    scene : what moves; :meth:`polhode.manybody.Scene.with_spin` changes its spin
    path : file to write
    method, dt, time, seed : as in :func:`polhode.manybody.simulate`, in s
    frames : number of frames after the first
    size : edge of the picture in pixels

    Raises
    ------
    ValueError
        If the scene cannot be run, or the run blows up before its end.
    """
    from polhode_study.run.scene import film_of

    simulating, drawing = Stage("simulating", 1, "runs"), Stage("drawing", frames + 1, "pictures")
    with watched(simulating, drawing):
        film = film_of(scene, method, dt, time, frames, seed).dataset()
        if "diverged" in film.attrs:
            raise ValueError(f"the run blew up at t = {film.attrs['diverged']:g} s; take a smaller dt or a shorter time")
        simulating.advance()
        write_gif(plain(film), path, size, drawing.advance)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``polhode animate``."""
    parser.add_argument("scene", nargs="?", default="chess", help=f"one of {', '.join(SCENES)}; by default chess")
    parser.add_argument("--method", default="spiral_leapfrog", help="key of a method with one torque per step")
    parser.add_argument("--dt", type=positive, help="time step, s; by default that of the publication, or a 20th of a contact")
    parser.add_argument("--time", type=positive, default=0.6, help="simulated time, s")
    parser.add_argument("--frames", type=whole(1, MOST), default=72, help="number of frames after the first")
    parser.add_argument("--seed", type=whole(0), default=0, help="number of the initial state")
    parser.add_argument("--spin", type=not_negative, help="initial angular velocity, rad/s; by default that of the scene")
    parser.add_argument("--size", type=whole(SMALLEST, LARGEST), default=SIZE, help="edge of the picture, pixels")
    parser.add_argument(
        "--output", type=Path, help="file to write, .gif, .xyz (OVITO) or .vtk (ParaView); by default SCENE.gif"
    )


def run(arguments: argparse.Namespace) -> int:
    """Simulate, draw and write the GIF, and print its path."""
    from polhode_study.run.scene import scene_of

    if arguments.scene not in SCENES:
        raise UsageError(f"unknown scene {arguments.scene!r}; {SCENES.nearest(arguments.scene)}")
    if arguments.method not in METHODS:
        raise UsageError(f"unknown method {arguments.method!r}; {METHODS.nearest(arguments.method)}")
    output = arguments.output or Path(f"{arguments.scene}.gif")
    if output.suffix.lower() not in (".gif", *motion_files.WRITERS):
        endings = " or ".join([".gif", *motion_files.WRITERS])
        raise UsageError(
            f"--output: only GIF, XYZ and VTK are written, got {output.name!r}; name a file that ends in {endings}"
        )
    check_writable(output, "--output")
    scene = scene_of({"scene": arguments.scene, "spin": arguments.spin})
    dt = step_of(scene) if arguments.dt is None else arguments.dt
    if arguments.time / dt > MOST_STEPS:
        raise UsageError(f"--time {arguments.time:g} with steps of {dt:g} s is more than {MOST_STEPS:g} steps; ask for less")
    try:
        if output.suffix.lower() in motion_files.WRITERS:
            with watched(Stage("simulating", 1, "runs")):
                motion = simulate(scene, arguments.method, dt, arguments.seed, arguments.time, arguments.frames, record=True)
            first, *others = motion_files.write_motion(motion, output, scene)
            print(f"{first}" + (f", and {len(others)} files that it names" if others else ""))
            return 0
        animate(scene, output, arguments.method, dt, arguments.time, arguments.frames, arguments.seed, arguments.size)
    except (ValueError, FileNotFoundError) as error:
        raise UsageError(str(error)) from None
    print(f"{output}: {output.stat().st_size / 1e6:.1f} MB")
    return 0
