"""Made-up data of a run: tests name variables and their values, docs/variables.csv says over which dimensions they are."""

import csv
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import polhode
from polhode.interface.cf_attributes import SHARED
from polhode_study.inputs import Inputs

HOME = Path(__file__).parents[1]
VARIABLES = HOME / "docs" / "variables.csv"
#: What the report reads of a checkout.
COMMITTED = {"published": HOME / "data" / "published", **{k: HOME / "data" / f"{k}.yaml" for k in ("errata", "sources")}}


@cache
def schema(group: str) -> dict[str, list[tuple[str, ...]]]:
    """The dimensions of the variables of a group, or alternatives: ``cost.nc/step``, ``checks/bed.nc``."""
    with open(VARIABLES, encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if f"{row['file']}/{row['group']}".rstrip("/") == group]
    assert rows, f"no run has a group {group}"
    return {row["variable"]: [tuple(names.split()) for names in row["dimensions"].split(" or ")] for row in rows}


def invented(group: str, axes: dict[str, Any], attrs: dict[str, Any] | None = None, /, **values: Any) -> xr.Dataset:
    """The group of a run with these coordinates and values, which are whole or lack leading dimensions of their variable.

    What describes methods, steps and the like is a coordinate, as it is in runs but for ensembles.nc, and so are all labels. A
    variable that runs do not have brings its own dimensions, as xarray takes them: ``name=(dims, values)``.
    """
    known = schema(group)
    sizes = {name: len(value) for name, value in axes.items()}
    made: dict[str, xr.Variable] = {}
    for name, value in (axes | values).items():
        if isinstance(value, tuple) and name not in known:
            made[name] = xr.Variable(*value)
            continue
        array = np.asarray(value)
        assert name in known, f"{group} has no variable {name}"
        dims = next((dims for dims in known[name] if len(dims) == array.ndim), known[name][0])
        sizes |= {dim: n for dim, n in zip(dims[::-1], array.shape[::-1], strict=False) if n > 1 or dim not in sizes}
        made[name] = xr.Variable(dims, np.broadcast_to(array, [sizes[dim] for dim in dims]).copy())
    described = set() if group == "ensembles.nc" else {key for key, v in made.items() if key in SHARED or v.dtype.kind in "UO"}
    coordinates = axes.keys() | {key for key in described if made[key].ndim == 1}
    rest = {key: made[key] for key in made if key not in coordinates}
    return xr.Dataset(rest, {key: made[key] for key in made if key in coordinates}, attrs)


def inputs_in(folder: Path, **places: Path) -> Inputs:
    """The files of a made-up run, with the data of the checkout."""
    of_run = {"references": folder, "checks": folder / "checks", "claims": folder / "claims.csv"}
    return Inputs(folder / "single_body.nc", **COMMITTED | of_run | places)


def of_methods(methods: Iterable[str], *names: str) -> dict[str, list[Any]]:
    """What methods declare under these names, for :func:`invented`; one that is not registered has a label to be escaped."""

    def declared(key: str, name: str) -> Any:
        unknown = {"label": f"{key} & co", "variant_of": "", "torques_per_step": 1}
        return getattr(polhode.methods[key], name) if key in polhode.methods else unknown[name]

    return {name: [declared(key, name) for key in methods] for name in names}
