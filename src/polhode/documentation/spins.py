"""The first picture of the README: ``python -m polhode.documentation.spins`` makes docs/spins.png from data/released/atlas.nc.

One free body in five simulators, as :func:`polhode.study.themes.engines.figures.engine_spins` shows it for more of them.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from polhode.interface.netcdf import read_dataset
from polhode.study.report import spheres

HOME = Path(__file__).parents[3]
RELEASED, PICTURE = HOME / "data" / "released" / "atlas.nc", HOME / "docs" / "spins.png"
#: Engine and option, and what a reader who knows nothing of rotation sees; ``end`` of these rows must be as said here.
SHOWN = (
    ("LAMMPS", "rigid/nve", "tumbles", "tumbles for ever,\nas a real body does"),
    ("MuJoCo", "implicit", "largest moment", "slows itself down,\nends about its short axis"),
    ("YADE", "aspherical", "smallest moment", "speeds itself up,\nends about its long axis"),
    ("MuJoCo", "Euler", "diverges", "speeds up until\nthe numbers overflow"),
    ("Rapier", "1 substep, gyroscopic off", "middle moment", "never leaves its axis: the\ngyroscopic term is off"),
)


def row(data: xr.Dataset, label: str, option: str) -> int:
    """The row of an engine and option."""
    rows = np.flatnonzero((data["label"].values.astype(str) == label) & (data["option"].values.astype(str) == option))
    if len(rows) != 1:
        raise LookupError(f"the atlas has {len(rows)} rows of {label} {option}")
    return int(rows[0])


def picture(data: xr.Dataset) -> Figure:
    """Five spheres in a row.

    Raises
    ------
    LookupError, ValueError
        If an engine is not in the atlas, or its spin ends in another way than is written below it.
    """
    figure = Figure(figsize=(10.4, 3.2), facecolor="white")
    inertia = np.asarray(data.attrs["inertia"], dtype=float)
    for number, (label, option, end, said) in enumerate(SHOWN):
        i = row(data, label, option)
        if str(data["end"].values[i]) != end:
            raise ValueError(f"{label} {option} now ends with {data['end'].values[i]!s}, not {end}")
        axes = figure.add_axes((0.005 + 0.2 * number, 0.19, 0.19, 0.19 * 10.4 / 3.2))
        axes.set_axis_off()
        spheres.sphere(axes, inertia, ("long axis", "", "short axis"), 8.0)
        spheres.path(axes, data["path"].values[i].astype(float), 6.0)
        axes.plot(
            *(spheres.VIEW @ data["path"].values[i][0].astype(float))[:2],
            "o",
            color="none",
            markeredgecolor="black",
            markersize=7,
        )
        figure.text(0.1 + 0.2 * number, 0.99, label, ha="center", va="top", fontsize=12, fontweight="bold")
        figure.text(
            0.1 + 0.2 * number,
            0.918,
            f"{data['version'].values[i]}, {option.replace('1 substep, ', '')}",
            ha="center",
            va="top",
            fontsize=9,
            color="0.3",
        )
        figure.text(0.1 + 0.2 * number, 0.165, said, ha="center", va="top", fontsize=10.5)
    return figure


def main(path: Path = PICTURE) -> None:
    """Write the picture."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = picture(read_dataset(RELEASED))
    figure.savefig(path, dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
