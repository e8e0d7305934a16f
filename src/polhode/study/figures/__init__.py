"""The figures of the report, a module for each source or theme: from the gathered files to a matplotlib figure."""

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from polhode.study import style
from polhode.study.figures import (
    calzavarini2010,
    delvalle2024,
    long_runs,
    many_body,
    seelen2016,
    time_to_solution,
    timing,
    torque_classes,
    tuckerman2010,
)
from polhode.study.figures.drawing import note_instead
from polhode.study.inputs import Inputs, NotInRun

#: Every figure by name; the name is that of its files.
FIGURES: dict[str, Callable[[Inputs], Figure]] = {
    **delvalle2024.FIGURES,
    **seelen2016.FIGURES,
    **torque_classes.FIGURES,
    **long_runs.FIGURES,
    **calzavarini2010.FIGURES,
    **tuckerman2010.FIGURES,
    **many_body.FIGURES,
    **timing.FIGURES,
    **time_to_solution.FIGURES,
}


def render(name: str, inputs: Inputs, folder: str | Path) -> None:
    """Draw the figure ``name`` and write NAME.pdf and NAME.png into ``folder``.

    Where the run lacks what the figure shows, the figure says so instead.

    Raises
    ------
    KeyError
        If there is no such figure; the message lists all.
    """
    if name not in FIGURES:
        raise KeyError(f"unknown figure {name!r}; known are: {', '.join(FIGURES)}")
    with style.settings():
        try:
            figure = FIGURES[name](inputs)
        except NotInRun as missing:
            figure = note_instead(str(missing))
    style.save(figure, Path(folder) / name)
