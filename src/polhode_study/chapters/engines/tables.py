"""Table of the engine atlas; its CSV has everything but the paths and the ladders."""

import math
import re
from functools import partial
from operator import itemgetter
from typing import Any

import xarray as xr

from polhode.interface.table import Column, Table
from polhode_study.chapters.engines import frames
from polhode_study.chapters.engines.frames import LOADS
from polhode_study.inputs import Inputs
from polhode_study.report.frames import records
from polhode_study.report.latex import decimal, escape, number, or_dash

#: Heads of narrow columns.
NARROW = {"velocity": "drag"}


def engines(inputs: Inputs) -> Table:
    """Engine, version, option, method, orders of q, energy drift and end of a free spin; the CSV also source and advice."""
    data = inputs.atlas
    flat = [name for name, values in data.data_vars.items() if values.dims == ("engine",)]
    frame = data[flat].to_dataframe().reset_index(drop=True)
    for load, short in LOADS.items():
        for name in ("q_order", "omega_order", "deviation", "runner_up_deviation", "fitting", "runner_up"):
            frame[f"{name}_{short}"] = data[name].sel(load=load).values
    again = frame["label"].eq(frame["label"].shift()) & frame["version"].eq(frame["version"].shift())

    def engine(row: dict[str, Any]) -> str:
        """In every row, because a page may end anywhere; the version and what is in brackets once for each release."""
        label = str(row["label"])
        return label.partition(" (")[0] if row["again"] else f"{label} {row['version']}"

    def drift(value: float) -> str:
        return number(value, 2) if math.isfinite(value) else r"$\infty$" if math.isinf(value) else "---"

    orders = itemgetter(*(f"q_order_{short}" for short in LOADS.values()))
    columns = [
        Column("engine", engine, align=r"0.12\textwidth"),
        Column("option", None, lambda row: _option(row, r"$^\ast$" if row["is_default"] else ""), r"0.17\textwidth"),
        Column("method identified", None, partial(_method, otherwise="---"), r"0.21\textwidth"),
        Column("orders of $q$", orders, lambda values: "/".join(or_dash(decimal(value, 1)) for value in values)),
        Column(r"$\Delta E/E$", "energy_drift", drift),
        Column("a free spin", "end"),
    ]
    return Table(frame, columns, rows=records(frame.assign(again=again)), long="engines", gap="2pt")


def engines_in_short(inputs: Inputs) -> Table:
    """What each engine runs by default, or can run if it has no default: orders of q, steps for an error, a free spin's end."""
    data = inputs.atlas
    rows: list[dict[str, Any]] = []
    loads = frames.SHORT_LOADS
    for i in frames.usual(data):
        row = data.isel(engine=i)
        record: dict[str, Any] = {name: str(row[name].item()) for name in ("label", "version", "option", "method_label", "end")}
        record |= {"is_default": int(row["is_default"]), "is_identified": int(row["is_identified"])}
        record |= {f"q_order_{LOADS[load]}": float(row["q_order"].sel(load=load)) for load in loads}
        rows.append(record | {f"steps_{LOADS[load]}": frames.steps_for(row, load) for load in loads})

    def engine(row: dict[str, Any]) -> str:
        version = row["version"].partition(":")[2] or row["version"]
        name, _, program = row["label"].removesuffix(")").partition(" (")
        # Bullet is in several programs.
        name = program if name == "Bullet" and program else name
        return f"{name} {version.partition('+')[0].partition('-')[0]}"

    columns = [
        Column("engine", engine, align=r"0.13\textwidth", once=True),
        Column("option", None, lambda row: _option(row, "" if row["is_default"] else r"$^\dagger$"), r"0.16\textwidth"),
        Column("what it runs", None, partial(_method, otherwise="not identified"), r"0.345\textwidth"),
        *(Column(NARROW.get(load, LOADS[load]), f"q_order_{LOADS[load]}", _order, "c", over="order of $q$") for load in loads),
        *(
            Column(LOADS[load], lambda row, load=load: (data.isel(engine=row["i"]), load), _count, "r", over="steps per radian")
            for load in loads[:2]
        ),
        Column("a free spin", lambda row: row["end"].replace("moment", "$I$"), str),
    ]
    numbered = [row | {"i": i} for row, i in zip(rows, frames.usual(data), strict=True)]
    return Table(rows, columns, rows=numbered, tight=True)


def _method(row: dict[str, Any], otherwise: str) -> str:
    """The method that was identified, whose name may have a formula in LaTeX."""
    label = str(row["method_label"]) if row["is_identified"] else otherwise
    return label if "$" in label else escape(label)


def _order(order: float) -> str:
    return or_dash(decimal(order, 0)) if order > 0.5 else "--"


def _count(of: tuple[xr.Dataset, str]) -> str:
    """Steps per radian in two digits, and where they are a bound: the fewest or the most that were run; never: no order."""
    row, load = of
    steps = frames.steps_for(row, load)
    fewest, most = (decimal(1 / float(dt), 0) for dt in (row["step"].max(), row["step"].min()))
    of_load = row.sel(load=load)
    if math.isnan(steps):
        return "--" if of_load["q_error"].isnull().all() else f"$>${most}" if of_load["q_order"] > 0.5 else "never"
    return rf"$\le${fewest}" if steps <= 1 / float(row["step"].max()) else rf"\num{{{float(f'{steps:.2g}'):g}}}"


def _option(row: dict[str, Any], mark: str) -> str:
    return r"\allowbreak{}".join(escape(syllable) for syllable in re.split(r"(?<=_)|(?<=[a-z])(?=[A-Z])", row["option"])) + mark
