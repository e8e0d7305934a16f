"""The tables of the report, a module for each source or theme: each as CSV in full precision and as LaTeX for people."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from polhode.study.inputs import Inputs, NotInRun
from polhode.study.storage import write_text
from polhode.study.tables import (
    calzavarini2010,
    cost,
    delvalle2024,
    judgement,
    long_runs,
    many_body,
    problems,
    seelen2016,
    sources,
    time_to_solution,
    timing,
    torque_classes,
)
from polhode.study.tables.latex import escape, tabular

#: Every table by name; the name is that of its files.
TABLES: dict[str, Callable[[Inputs], tuple[pd.DataFrame, str]]] = {
    **delvalle2024.TABLES,
    **seelen2016.TABLES,
    **torque_classes.TABLES,
    **long_runs.TABLES,
    **many_body.TABLES,
    **cost.TABLES,
    **timing.TABLES,
    **time_to_solution.TABLES,
    **calzavarini2010.TABLES,
    **judgement.TABLES,
    **sources.TABLES,
    **problems.TABLES,
}


def render(name: str, inputs: Inputs, folder: str | Path) -> None:
    """Build the table ``name`` and write NAME.csv and NAME.tex into ``folder``.

    Where the run lacks what the table shows, the table says so instead.

    Raises
    ------
    KeyError
        If there is no such table; the message lists all.
    """
    if name not in TABLES:
        raise KeyError(f"unknown table {name!r}; known are: {', '.join(TABLES)}")
    try:
        data, text = TABLES[name](inputs)
    except NotInRun as missing:
        data, text = pd.DataFrame({"note": [str(missing)]}), tabular("l", [escape(str(missing))], [])
    folder = Path(folder)
    write_text(folder / f"{name}.csv", data.to_csv(index=False, lineterminator="\n"))
    write_text(folder / f"{name}.tex", text)
