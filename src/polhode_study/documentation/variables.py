"""The list of all variables in the netCDF files of a run, docs/variables.csv, from which a reference page is generated.

``python -m polhode_study.documentation.variables RESULTS...`` writes it from the files of runs of the default study.
"""

import csv
import io
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import netCDF4
import xarray as xr

from polhode.problems import PROBLEMS
from polhode_study.artefacts import ARTEFACTS, kind_of
from polhode_study.documentation.markdown import put
from polhode_study.workflow.entry import HOME

#: Separator between alternative dimensions.
OR = " or "
FIELDS = ("file", "group", "variable", "dimensions", "units", "long_name")
#: The file of the list.
LIST = HOME / "docs/variables.csv"
#: Kinds of files that are listed one by one, because each has variables of its own.
EACH = ("checks",)


def listed_as(path: Path) -> str:
    """The name under which a file of a run, relative to the results, is listed: with placeholders for those of objects."""
    kind = kind_of(path.as_posix())
    if kind is None or kind.key in EACH:
        return path.as_posix()
    return kind.filled(tuple(map(str.upper, kind.fields)))


def _group_name(file: str, group: str) -> str:
    """A group with its name replaced by a placeholder: PROBLEM or SCENE."""
    parts = group.split("/")
    if parts[0] in PROBLEMS:
        parts[0] = "PROBLEM" if parts[1:2] != ["published"] else parts[0]
    elif file == "many_body.nc" and parts[0]:
        parts[0] = "SCENE"
    return "/".join(parts)


def _groups(path: Path) -> list[str]:
    def below(group: netCDF4.Dataset, name: str) -> list[str]:
        return [name, *(g for key, child in group.groups.items() for g in below(child, f"{name}/{key}".lstrip("/")))]

    with netCDF4.Dataset(path) as file:
        return below(file, "")


def found_in(results: Path, paths: Iterable[Path]) -> list[dict[str, str]]:
    """The variables in these files of a run, one row for each kind of file, group and variable, sorted."""
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for path in paths:
        file = listed_as(path.relative_to(results))
        for group in _groups(path):
            with xr.open_dataset(path, group=group or None, decode_times=False, decode_timedelta=False) as data:
                for name, variable in data.variables.items():
                    row = {
                        "file": file,
                        "group": _group_name(file, group),
                        "variable": str(name),
                        "dimensions": " ".join(map(str, variable.dims)),
                        "units": str(variable.attrs.get("units", "")),
                        "long_name": " ".join(str(variable.attrs.get("long_name", "")).split()),
                    }
                    enter(rows, row)
    return sorted(rows.values(), key=_place)


def enter(rows: dict[tuple[str, str, str], dict[str, str]], row: dict[str, str]) -> None:
    """Add a row, or further dimensions of a variable that differ between files: with several bodies there is one more."""
    known = rows.setdefault((row["file"], row["group"], row["variable"]), row)
    other = {*known["dimensions"].split(OR), *row["dimensions"].split(OR)}
    known["dimensions"] = OR.join(sorted(other, key=lambda names: (len(names), names)))


def _place(row: Mapping[str, str]) -> tuple[int, str, str, bool, str]:
    kind = kind_of(row["file"])
    first = list(ARTEFACTS).index(kind.key) if kind is not None else len(ARTEFACTS)
    # Coordinates, which have the name of their dimension, come first.
    return first, row["file"], row["group"], row["variable"] != row["dimensions"], row["variable"]


def files_of(results: Path) -> list[Path]:
    """All netCDF files of a run, but only a few of those of single runs, which are alike."""
    files: list[Path] = []
    counts: dict[tuple[str, str], int] = {}
    for path in sorted(results.rglob("*.nc")):
        relative = path.relative_to(results)
        # Problems of several bodies have variables that others lack.
        key = (listed_as(relative), relative.parts[1] if len(relative.parts) > 1 else "")
        counts[key] = counts.get(key, 0) + 1
        if counts[key] <= 2:
            files.append(path)
    return files


def write(runs: Iterable[Path], path: Path = LIST) -> None:
    """Write the list from runs that together have all kinds of files; duplicates are taken from the first."""
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for results in runs:
        for row in found_in(results, files_of(results)):
            enter(rows, row)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted(rows.values(), key=_place))
    put(path, stream.getvalue())


if __name__ == "__main__":
    write([Path(name).absolute() for name in sys.argv[1:]])
