"""Table of the engine atlas; its CSV has everything but the paths and the ladders."""

import math
import re
from functools import partial
from math import nan
from operator import itemgetter
from typing import Any

import pandas as pd
import xarray as xr

from polhode.interface.table import Column, RowGroup, Table
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
    again = frame["label"].eq(frame["label"].shift())

    def engine(row: dict[str, Any]) -> str:
        """In every row, because a page may end anywhere; the version and what is in brackets once."""
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


#: What a law keeps of its tangential spring.
LAWS = {"hertz_mindlin_tsuji": "stretch", "hertz_mindlin_incremental": "force"}
#: Rows of the table of choices: what a code decides, the parameters of our law, and their values in other words.
CHOICES: dict[str, tuple[str, dict[str, str]]] = {
    "spring keeps its": ("law", LAWS),
    "first increment": ("choice_start", {"touch": "since the touch", "whole": "whole step"}),
    "way of a step": (
        "choice_displacement",
        {"poses": "between poses", "velocity": "velocity", "stretched velocity": "velocity, stretched"},
    ),
    "its plane": ("choice_plane", {"middle": "of the middle", "end": "of the end"}),
    "springs twirl": ("choice_twirl", {"on": "by halves", "off": "no", "before": "at first"}),
    "return to the cone": (
        "choice_slip",
        {"radial of the sum": "radial, with the dashpot", "radial without dashpot": "radial; no dashpot if it slides"},
    ),
    "velocity of dashpots": ("choice_dashpot", {"predicted": "predicted", "handed": "half a step old"}),
    "arm of the velocity": ("choice_arms", {"point": "to the contact", "radius of the velocity": "radius"}),
    "arm of the torque": (
        "choice_arms",
        {"point": "to the contact", "radius of the velocity": "to the contact; at walls radius"},
    ),
}


def contact_choices(inputs: Inputs) -> Table:
    """What our engine and other codes do in a contact with friction, in the words of our law's parameters."""
    data = frames.contacts(inputs)
    names = [f"{label} {version}" for label, version in zip(data["label"].values, data["version"].values, strict=True)]
    rows = []
    for name, (variable, words) in CHOICES.items():
        rows.append([name, *(words.get(str(value), str(value)) for value in data[variable].values)])
    frame = pd.DataFrame(rows, columns=["choice", *names])
    columns = [Column("", "choice"), *(Column(escape(name), name, align=r"0.22\textwidth") for name in names)]
    return Table(frame, columns, tight=True)


def contact_errors(inputs: Inputs) -> Table:
    """Errors of the spin in impacts by code, orders, the distance of laws and of imitations; the CSV has velocities too."""
    data = frames.contacts(inputs)
    records: list[dict[str, Any]] = []
    for case, case_label in zip(data["case"].values, data["case_label"].values, strict=True):
        for code, label in zip(data["code"].values, data["label"].values, strict=True):
            of_case = data.sel(code=code, case=case)
            record: dict[str, Any] = {"case": str(case), "impact": str(case_label), "code": str(label)}
            for quantity in map(str, data["quantity"].values):
                chosen = of_case.sel(quantity=quantity)
                at_step = chosen.sel(division=frames.SHOWN)
                record |= {f"{name}_{quantity}": float(at_step[name]) for name in ("error", "step_error")}
                record |= {f"{name}_{quantity}": float(chosen[name]) for name in ("order", "off")}
                record |= {f"deviation_{quantity}": float(chosen["deviation"].max())}
            records.append(record | {str(form): float(of_case["energy"].sel(form=form)) for form in data["form"].values})
    columns = [
        Column("", "code", lambda code: rf"\quad {escape(code)}"),
        Column(rf"error, $T/{frames.SHOWN}$", "error_spin", ".1e", "c"),
        Column("by the step", "step_error_spin", ".1e", "c"),
        Column("order", "order_spin", ".2f", "c"),
        Column("by the law", "off_spin", ".0e", "c"),
        Column("imitation", lambda row: nan if row["code"] == "polhode" else row["deviation_spin"], ".0e", "c", none="--"),
        Column(r"made, \%", lambda row: -100 * row["taken_by_law"], ".2f", "c"),
    ]
    return Table(records, columns, groups=[RowGroup("impact", title=lambda impact: rf"\emph{{{escape(impact)}}}")], tight=True)


def liquid_codes(inputs: Inputs) -> Table:
    """Rigid molecules in LAMMPS: distance from our energies, drifts by step and start, times; the CSV has it by fluid."""
    data = frames.liquids(inputs)
    records: list[dict[str, Any]] = []
    for option in data["option"].values:
        row = data.sel(option=option)
        record: dict[str, Any] = {name: str(row[name].item()) for name in ("option", "integrator", "label")}
        record |= {f"apart_{scene}": float(row["apart"].sel(scene=scene, size="long")) for scene in data["scene"].values}
        for dt in data["long_dt"].values:
            record |= {
                f"drift_{dt:g}_{start}": float(row["drift"].sel(long_dt=dt, start=start)) for start in data["start"].values
            }
        record["more_kinetic"] = float(row["more_kinetic"].sel(scene=data["scene"].values[0], size="long"))
        times = {"us_per_step": "step_time", "us_per_step_here": "our_step_time"}
        records.append(record | {name: 1e6 * float(row[variable]) for name, variable in times.items()})
    scenes, starts = data["scene"].values, data["start"].values

    def drifts(dt: float) -> Column:
        names = [f"drift_{dt:g}_{start}" for start in starts]
        return Column(rf"drift, {dt:g}\,fs", None, lambda row: ", ".join(number(row[name], 1) for name in names), "c")

    columns = [
        Column("fix", "option"),
        Column("here", "label"),
        Column(r"$|\delta U|$", lambda row: max(row[f"apart_{scene}"] for scene in scenes), ".1g", "c"),
        Column(r"$\delta K$", "more_kinetic", ".1g", "c"),
        *map(drifts, data["long_dt"].values),
        Column(r"\unit{\us}", "us_per_step", ".0f", "r"),
        Column("here", "us_per_step_here", ".0f", "r"),
    ]
    return Table(records, columns, tight=True)


def _option(row: dict[str, Any], mark: str) -> str:
    return r"\allowbreak{}".join(escape(syllable) for syllable in re.split(r"(?<=_)|(?<=[a-z])(?=[A-Z])", row["option"])) + mark
