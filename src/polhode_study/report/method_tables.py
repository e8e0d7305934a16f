"""The sheets of all methods: the released ones, and their numbers as one table, as netCDF and as CSV, whose schema stays.

:data:`VARIABLES` is the schema. A variable keeps its name, dimensions, unit and meaning for as long as :data:`FORMAT` is the
same; new ones may come. What a method cannot run is NaN, or an empty text.
"""

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache, reduce
from itertools import product
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from pydantic.dataclasses import dataclass

from polhode.interface.table import csv
from polhode_study.artefacts import CHECKOUT
from polhode_study.report.method_page import RETURN, new_or_known
from polhode_study.workflow.entry import HOME

#: The attribute ``format`` of the netCDF file.
FORMAT = "polhode methods 1"
#: The released sheets.
RELEASED = HOME / CHECKOUT["released"] / "sheets.json.gz"
#: Why an identity is not known.
NOT_COMPARED = "not applicable"
#: The dimensions beside that of methods, in the order of the columns of the CSV file.
DIMENSIONS = {
    "torque_class": "class of torque",
    "quantity": "orientation (q) or angular velocity (omega)",
    "target": "error per radian",
    "problem": "problem of a long run, and of a run there and back",
    "step": "step in radians of the initial angular velocity",
}


@dataclass(frozen=True)
class TableVariable:
    """A variable of the table: its dimensions, unit and meaning, and where its value is in the sheet of a method.

    ``place`` names the keys, with a dimension in brackets for each of its members. ``unit`` is empty for a text.
    """

    place: str
    meaning: str
    unit: str = "1"
    otherwise: float = nan

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Those in the brackets."""
        return tuple(key[1:-1] for key in self.place.split("/") if key[0] == "[")


#: The variables of the table, by name.
VARIABLES = {
    "label": TableVariable("label", "name of the method", ""),
    "source": TableVariable("source", "publication", ""),
    "made_by": TableVariable("made/version", "version of polhode that measured it", ""),
    "made_from": TableVariable("made/commit", "commit that measured it", ""),
    "made_on": TableVariable("made/date", "date", ""),
    "processor": TableVariable("made/processor", "processor of the times", ""),
    "torques_per_step": TableVariable("cost/torques_per_step", "torque evaluations of a step"),
    "torques_per_output": TableVariable("cost/torques_per_output", "torque evaluations of an output besides"),
    "torques_at_start": TableVariable("cost/torques_at_start", "torque evaluations besides, at the start of a run"),
    "operations": TableVariable("cost/operations/total", "operations of a step without its torques"),
    "step_time": TableVariable("cost/nanoseconds", "time of a step without its torques, on one core of the processor", "ns"),
    "step_time_relative": TableVariable("cost/in_steps_of_euler", "the same over that of a step of direct Euler"),
    "order_declared": TableVariable("orders/[torque_class]/[quantity]/declared", "order that the method declares"),
    "order": TableVariable("orders/[torque_class]/[quantity]/measured", "order, the median over the bodies"),
    "order_verdict": TableVariable("orders/[torque_class]/[quantity]/verdict", "what they say together", ""),
    "error_coefficient": TableVariable(
        "laws/[torque_class]/coefficient/median", "C of the law: error per radian = C step^p, the median over the bodies"
    ),
    "error_per_radian": TableVariable(
        "laws/[torque_class]/error_per_radian/median/[step]", "error per radian, the median over the bodies"
    ),
    "steps_per_radian": TableVariable(
        "laws/[torque_class]/steps_per_radian/[target]/median", "steps per radian that half the bodies need", "1", inf
    ),
    "steps_per_radian_90": TableVariable(
        "laws/[torque_class]/steps_per_radian/[target]/ninety_percent", "steps per radian sufficient for 90 % of them", "1", inf
    ),
    "diverged": TableVariable("laws/[torque_class]/diverged", "bodies of which some run diverged"),
    "energy_last": TableVariable(
        "long_runs/[problem]/last",
        "largest change of the energy over the last tenth, over the initial kinetic energy",
        "1",
        inf,
    ),
    "energy_growth": TableVariable("long_runs/[problem]/growth", "power of time with which it grows"),
    "libration_power": TableVariable(
        "librations/power", "power of the step with which small librations grow or decay; 0: neither"
    ),
    "libration_limit": TableVariable("librations/limit", "largest stable product of frequency and step of small librations"),
    "caution": TableVariable("librations/caution", "what becomes of small librations", ""),
    "return_angle": TableVariable(
        f"reversibility/[problem]/angle/{RETURN}", "angle to the start after a run there and back", "rad", inf
    ),
    "canonical_form": TableVariable("symplecticity/verdict", "whether a step is symplectic", ""),
    "drag_limit": TableVariable("drag/limit", "largest product of rate and step at which friction decays", "1", inf),
    "contacts_energy_error": TableVariable(
        "contacts/largest_energy_error", "largest relative error of the energy in a short run of contacts", "1", inf
    ),
    "liquid_drift": TableVariable("liquid/drift", "drift of the energy of a liquid per degree of freedom", "kT/ns"),
    "liquid_drift_error": TableVariable("liquid/block_error", "its standard error", "kT/ns"),
    "liquid_lost_at": TableVariable("liquid/lost_at", "when its energy has left every use; missing if it has not", "fs"),
    "known_as": TableVariable("known_as", "whether it equals a known method", ""),
}


@cache
def released_sheets(path: Path = RELEASED) -> dict[str, Any]:
    """The released sheets of all methods; no entries if the file is not there."""
    if not path.is_file():
        return {"entries": {}}
    sheets: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return sheets


def sheet_of(sheets: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The sheet of one method among the released ones, as :func:`polhode_study.run.method_sheet.sheet` returns it."""
    entries = sheets["entries"]
    beside = [other for other in entries[key]["beside"] if other in entries]
    rows = {name: entries[name]["row"] for name in (key, *beside)}
    head = {name: value for name, value in sheets.items() if name != "entries"}
    return {**head, "method": key, "beside": beside, "methods": rows, "identity": entries[key]["identity"]}


def with_sheet(sheets: Mapping[str, Any], sheet: Mapping[str, Any]) -> dict[str, Any]:
    """The released sheets with the method of another sheet, and with those beside it that they have not."""
    others = {
        key: {"row": row, "identity": sheet["identity"] if key == sheet["method"] else {NOT_COMPARED: "it stood beside"}}
        for key, row in sheet["methods"].items()
        if key == sheet["method"] or key not in sheets["entries"]
    }
    head = {name: value for name, value in sheet.items() if name not in ("method", "beside", "methods", "identity")}
    return head | {"entries": {**sheets["entries"], **others}}


def table(sheets: Mapping[str, Any]) -> xr.Dataset:
    """The numbers of all sheets over methods and :data:`DIMENSIONS`."""
    entries = sheets["entries"]
    rows = {key: entry["row"] | {"known_as": new_or_known(entry["identity"])} for key, entry in entries.items()}
    members: dict[str, Sequence[Any]] = {
        "torque_class": list(sheets["classes"]),
        "quantity": ["q", "omega"],
        "target": [float(name) for name in next(iter(next(iter(rows.values()))["laws"].values()))["steps_per_radian"]],
        "problem": list(sheets["long_runs"]["problems"]),
        "step": list(sheets["steps"]),
    }
    coordinates: dict[str, Any] = {"integrator": ("integrator", list(rows), {"long_name": "key of the method"})}
    coordinates |= {name: (name, values, {"long_name": DIMENSIONS[name]}) for name, values in members.items()}
    variables = {}
    for name, variable in VARIABLES.items():
        sizes = [members[dimension] for dimension in variable.dimensions]
        values = [[_value(variable, row, place, members) for place in product(*sizes)] for row in rows.values()]
        shape = [len(rows), *map(len, sizes)]
        attributes = {"long_name": variable.meaning} | ({"units": variable.unit} if variable.unit else {})
        variables[name] = (("integrator", *variable.dimensions), np.array(values).reshape(shape), attributes)
    about = {"title": "What polhode sheet measures of each method", "format": FORMAT, "bodies": sheets["bodies"]}
    return xr.Dataset(variables, coordinates, about | {"seed": sheets["seed"], "radians": sheets["radians"]})


def _value(variable: TableVariable, row: Mapping[str, Any], place: Sequence[Any], members: Mapping[str, Sequence[Any]]) -> Any:
    """A value of a variable in the sheet of a method; ``otherwise`` for a number that is not finite there."""
    of_dimension = dict(zip(variable.dimensions, place, strict=True))
    if "target" in of_dimension:
        of_dimension["target"] = f"{of_dimension['target']:g}"
    if "step" in of_dimension:
        of_dimension["step"] = members["step"].index(of_dimension["step"])
    keys = [of_dimension[key[1:-1]] if key[0] == "[" else key for key in variable.place.split("/")]

    def member(value: Any, key: Any) -> Any:
        if isinstance(value, list):
            return value[int(key)]
        return value.get(key, _ABSENT) if isinstance(value, Mapping) else _ABSENT

    value: Any = reduce(member, keys, row)
    if not variable.unit:
        return "" if value is _ABSENT or value is None else str(value)
    return nan if value is _ABSENT else variable.otherwise if value is None else float(value)


#: What a sheet does not have.
_ABSENT = object()


def as_csv(data: xr.Dataset) -> str:
    """The table as text: a line for each value that there is, but for those along the steps."""
    form: Callable[[Any], str] = lambda value: value if isinstance(value, str) else f"{value:.6g}"  # noqa: E731
    rows = []
    for key, (name, variable) in product(map(str, data["integrator"].values), VARIABLES.items()):
        if "step" in variable.dimensions:
            continue
        members = [data[dimension].values.tolist() for dimension in variable.dimensions]
        for place, value in zip(product(*members), np.ravel(data[name].sel(integrator=key).values).tolist(), strict=True):
            if not (value == "" or (variable.unit and isnan(value))):
                at = dict(zip(variable.dimensions, map(form, place), strict=True))
                rows.append({"integrator": key, "variable": name} | at | {"value": form(value), "unit": variable.unit})
    columns = ["integrator", "variable", *(name for name in DIMENSIONS if name != "step"), "value", "unit"]
    return csv(pd.DataFrame(rows, columns=columns))
