"""The files with measurements that advice rests on: those of a run, or those distributed with polhode."""

from importlib.resources import files
from pathlib import Path

from polhode.advice.errors import AdviceError

#: The folder of the distributed files, in the repository and in an installed package.
RELEASED = Path("data/released")
#: The folder of a run, in the working directory.
RUN = Path("results")
#: The checkout, if polhode runs from one.
HOME = Path(__file__).parents[3]
#: The file with the laws of random bodies.
LAWS = "laws.nc"


def find(name: str, results: Path | None = None, home: Path = HOME) -> Path:
    """The file ``name`` of a run. If no run is named: that of ``results``, or else the released one.

    The folder ``results`` is looked for in the working directory, the released file also in ``home`` and in the installed
    package.

    Raises
    ------
    AdviceError
        If there is none; also if the named run has none, since another run would answer another question.
    """
    if results is not None:
        if not (results / name).is_file():
            what = f"holds no {name}" if results.is_dir() else "is not a folder"
            raise AdviceError(
                f"results: {results} {what}; make one with ./reproduce {results / name}, or leave `results` out for the "
                "data released with polhode"
            )
        return results / name
    path = of_run(name) or released(name, home)
    if path is None:
        of_results, of_release = RUN / name, RELEASED / name
        raise AdviceError(
            f"there is no {of_results} and no {of_release}; make one: ./reproduce {of_results}, or name the folder of a run "
            "with `results`"
        )
    return path


def of_run(name: str) -> Path | None:
    """The file ``name`` of the run in ``results`` in the working directory; None if there is none."""
    return path if (path := RUN / name).is_file() else None


def released(name: str, home: Path = HOME) -> Path | None:
    """The file ``name`` that comes with polhode, or None.

    It is looked for in the working directory, in ``home`` and in the installed package.
    """
    installed = Path(str(files("polhode").joinpath(*RELEASED.parts, name)))
    places = [RELEASED / name, home / RELEASED / name, installed]
    return next((path for path in places if path.is_file()), None)


def is_released(path: Path) -> bool:
    """Whether it is one of the files that come with polhode: whether it lies in a folder :data:`RELEASED`."""
    return any(place.parts[-len(RELEASED.parts) :] == RELEASED.parts for place in path.parents)


def named(path: Path, released: str = ", which comes with polhode") -> str:
    """A file as evidence, in words: its path and, if it comes with polhode, the text ``released``."""
    return f"{path}{released if is_released(path) else ''}"
