"""Figure of the first page: one free body in five simulators."""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from polhode.fits.tumbling import tumbling
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import spheres, style
from polhode_study.report.drawing import new_figure, printable

#: Engine and option, and what a reader who knows nothing of rotation sees; ``end`` of these rows must be as said here.
SHOWN = (
    ("LAMMPS", "rigid/nve", "tumbles", "tumbles for ever,\nas a real body does"),
    ("MuJoCo", "implicit", "largest moment", "slows itself down,\nends about its short axis"),
    ("YADE", "aspherical", "smallest moment", "speeds itself up,\nends about its long axis"),
    ("MuJoCo", "Euler", "diverges", "speeds up until\nthe numbers overflow"),
    ("Rapier", "1 substep, gyroscopic off", "middle moment", "never leaves its axis: the\ngyroscopic term is off"),
)
#: Where the names of the axes stand, outside of the sphere: of the smallest, middle and largest moment.
NAMES = {0: ("long axis", (-0.62, -1.12)), 2: ("short axis", (0.33, 1.1))}
#: Height of the picture in parts of its width, and the part of the width that a sphere takes.
HEIGHT, WIDE = 0.32, 0.19


def free_body(inputs: Inputs) -> Figure:
    """Five spheres in a row, with the path of the angular momentum in the body; :class:`NotInRun` without these engines."""
    width = style.TEXT_WIDTH
    figure = new_figure((width, HEIGHT * width))
    figure.set_layout_engine("none")
    try:
        draw(figure, inputs.atlas, 0.62)
    except LookupError as error:
        raise NotInRun(str(error)) from error
    return figure


def row(data: xr.Dataset, label: str, option: str) -> int:
    """The row of an engine and option."""
    rows = np.flatnonzero((data["label"].values.astype(str) == label) & (data["option"].values.astype(str) == option))
    if len(rows) != 1:
        raise LookupError(f"the atlas has {len(rows)} rows of {label} {option}")
    return int(rows[0])


def draw(figure: Figure, data: xr.Dataset, size: float = 1.0) -> None:
    """Draw the spheres into a figure; ``size`` scales type and markers, 1 for a width of 10 inches.

    Raises
    ------
    LookupError, ValueError
        If an engine is not in the atlas, or its spin ends in another way than is written below it.
    """
    inertia = np.asarray(data.attrs["inertia"], dtype=float)
    tall = WIDE / HEIGHT
    for number, (label, option, end, said) in enumerate(SHOWN):
        i = row(data, label, option)
        if str(data["end"].values[i]) != end:
            raise ValueError(f"{label} {option} now ends with {data['end'].values[i]!s}, not {end}")
        if end == "tumbles" and not tumbling(data.isel(engine=[i])).all():
            raise ValueError(f"{label} {option} tumbles, and not as a real body does")
        axes = figure.add_axes((0.005 + 0.2 * number, 0.21, WIDE, tall))
        axes.set_axis_off()
        spheres.sphere(axes, inertia, ("", "", ""), 8.0)
        way = data["path"].values[i].astype(float)
        spheres.path(axes, way, 6.0 * size)
        for axis, (name, place) in NAMES.items():
            tip = spheres.VIEW[:2, axis]
            axes.plot(*zip(tip, np.array(place) * (0.97, 0.95), strict=True), **style.GUIDES, clip_on=False, zorder=1)
            side = "left" if axis else "center"
            axes.text(*place, name, ha=side, va="center", fontsize=style.TEXT * size, color=style.DARK, clip_on=False)
        axes.plot(*(spheres.VIEW @ way[0])[:2], "o", color="none", markeredgecolor="black", markersize=7 * size)
        middle = 0.1 + 0.2 * number
        option = option.replace("1 substep, ", "")
        figure.text(middle, 0.995, label, ha="center", va="top", fontsize=style.HEAD * size, fontweight="bold")
        figure.text(
            middle,
            0.925,
            printable(f"{data['version'].values[i]}, {option}"),
            ha="center",
            va="top",
            fontsize=style.TEXT * size,
            color=style.DARK,
        )
        figure.text(middle, 0.15, said, ha="center", va="top", fontsize=style.LEAD * size)
