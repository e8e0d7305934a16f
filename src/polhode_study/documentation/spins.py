"""The first picture of the README: ``python -m polhode_study.documentation.spins`` makes docs/spins.png.

It shows data/released/atlas.nc, and is that on the article's first page (:mod:`polhode_study.chapters.communities.figures`).
"""

import sys
import warnings
from pathlib import Path

from matplotlib.figure import Figure

from polhode.interface.netcdf import read_dataset
from polhode_study.chapters.communities import figures

HOME = Path(__file__).parents[3]
RELEASED, PICTURE = HOME / "data" / "released" / "atlas.nc", HOME / "docs" / "spins.png"


def main(path: Path = PICTURE) -> None:
    """Write the picture."""
    figure = Figure(figsize=(10.4, 10.4 * figures.HEIGHT), facecolor="white")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figures.draw(figure, read_dataset(RELEASED))
    figure.savefig(path, dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
