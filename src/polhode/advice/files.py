"""The files with measurements that advice rests on: those of a run, or those distributed with polhode."""

from importlib.resources import files
from pathlib import Path

from polhode.advice.errors import AdviceError

#: The folder of the distributed files, in the repository and in an installed package.
RELEASED = Path("data/released")
#: The checkout, if polhode runs from one.
HOME = Path(__file__).parents[3]


def find(name: str, results: Path | None = None, home: Path = HOME) -> Path:
    """The file ``name`` of a run. If no run is named: that of ``results``, or else the released one.

    Both are looked for in the working directory, in ``home`` and in the installed package.

    Raises
    ------
    AdviceError
        If there is none; also if the named run has none, since another run would answer another question.
    """
    if results is not None:
        if not (results / name).is_file():
            what = f"holds no {name}" if results.is_dir() else "is not a folder"
            raise AdviceError(
                f"--results: {results} {what}; make one with ./reproduce {results / name}, or leave --results out for the "
                "data released with polhode"
            )
        return results / name
    installed = Path(str(files("polhode").joinpath(*RELEASED.parts, name)))
    places = [Path("results") / name, RELEASED / name, home / RELEASED / name, installed]
    for path in places:
        if path.is_file():
            return path
    raise AdviceError(
        f"there is no {places[0]} and no {places[1]}; make one: ./reproduce {places[0]}, or name the folder of a run: --results"
    )


def is_released(path: Path) -> bool:
    """Whether it is one of the files that come with polhode."""
    return path.parent.parts[-len(RELEASED.parts) :] == RELEASED.parts
