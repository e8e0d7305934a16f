"""Table of the engine atlas; its CSV has everything but the paths and the ladders."""

import math
import re
from typing import Any

import pandas as pd
import xarray as xr

from polhode.study.chapters.engines import frames
from polhode.study.chapters.engines.frames import LOADS
from polhode.study.inputs import Inputs
from polhode.study.report.latex import above_head, decimal, escape, long_table, number, or_dash, spanning, step, tabular


def engines(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Engine, version, option, method, orders of q, energy drift and end of a free spin; the CSV also source and advice."""
    data = inputs.atlas
    flat = [name for name, values in data.data_vars.items() if values.dims == ("engine",)]
    frame = data[flat].to_dataframe().reset_index(drop=True)
    for load, short in LOADS.items():
        for name in ("q_order", "omega_order", "deviation", "runner_up_deviation", "fitting", "runner_up"):
            frame[f"{name}_{short}"] = data[name].sel(load=load).values
    rows: list[list[str] | str] = []
    previous = ""
    for _, row in frame.iterrows():
        name = str(row["label"])
        orders = "/".join(or_dash(decimal(float(row[f"q_order_{short}"]), 1)) for short in LOADS.values())
        done = bool(row["is_identified"])
        said = str(row["method_label"])
        method = (said if "$" in said else escape(said)) if done else "---"
        drift = float(row["energy_drift"])
        rows.append(
            [
                # In every row, because a page may end anywhere; the version and what is in brackets once.
                escape(name.partition(" (")[0] if name == previous else f"{name} {row['version']}"),
                _breakable(str(row["option"])) + (r"$^\ast$" if row["is_default"] else ""),
                method,
                orders,
                number(drift, 2) if math.isfinite(drift) else r"$\infty$" if math.isinf(drift) else "---",
                escape(str(row["end"])),
            ]
        )
        previous = name
    head = ["engine", "option", "method identified", "orders of $q$", r"$\Delta E/E$", "a free spin"]
    columns = "".join(rf">{{\raggedright\arraybackslash}}p{{{width}\textwidth}}" for width in (0.12, 0.17, 0.21)) + "lll"
    return frame, long_table(columns, head, rows, "engines")


def engines_in_short(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """What each engine runs by default, or can run if it has no default: orders of q, steps for an error, a free spin's end."""
    data = inputs.atlas
    records: list[dict[str, Any]] = []
    rows: list[list[str] | str] = []
    for i in frames.usual(data):
        row = data.isel(engine=i)
        record: dict[str, Any] = {name: str(row[name].item()) for name in ("label", "version", "option", "method_label", "end")}
        record |= {"is_default": int(row["is_default"]), "is_identified": int(row["is_identified"])}
        loads = frames.SHORT_LOADS
        record |= {f"q_order_{LOADS[load]}": float(row["q_order"].sel(load=load)) for load in loads}
        record |= {f"steps_{LOADS[load]}": frames.steps_for(row, load) for load in loads}
        method = record["method_label"] if record["is_identified"] else "not identified"
        method = method if "$" in method else escape(method)
        name, version = record["label"].partition(" (")[0], record["version"].partition(":")[2] or record["version"]
        label = (
            ""
            if records and records[-1]["label"] == record["label"]
            else f"{name} {version.partition('+')[0].partition('-')[0]}"
        )
        records.append(record)
        rows.append(
            [
                escape(label),
                _breakable(record["option"]) + ("" if record["is_default"] else r"$^\dagger$"),
                method,
                *(_order(record[f"q_order_{LOADS[load]}"]) for load in loads),
                *(_count(row, load, record[f"steps_{LOADS[load]}"]) for load in loads),
                escape(record["end"]),
            ]
        )
    names = [LOADS[load] for load in frames.SHORT_LOADS]
    head = ["engine", "option", "what it runs", *names, *names, "a free spin"]
    widths = [rf">{{\raggedright\arraybackslash}}p{{{width}\textwidth}}" for width in (0.09, 0.16, 0.25)]
    table = tabular(f"@{{}}{''.join(widths)}{'c' * len(names)}{'r' * len(names)}l@{{}}", head, rows)
    groups = spanning(("order of $q$", len(names)), ("steps per radian", len(names)), before=" & & & ")
    return pd.DataFrame(records), above_head(table, groups)


def _order(order: float) -> str:
    return or_dash(decimal(order, 0)) if order > 0.5 else "--"


def _count(row: xr.Dataset, load: str, steps: float) -> str:
    """Steps per radian in two digits, and where they are a bound: the fewest or the most that were run; never: no order."""
    fewest, most = (decimal(1 / float(dt), 0) for dt in (row["step"].max(), row["step"].min()))
    of_load = row.sel(load=load)
    if math.isnan(steps):
        return "--" if of_load["q_error"].isnull().all() else f"$>${most}" if of_load["q_order"] > 0.5 else "never"
    return rf"$\le${fewest}" if steps <= 1 / float(row["step"].max()) else rf"\num{{{float(f'{steps:.2g}'):g}}}"


def peers(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Many clumps here and in other codes: time of a step and error of the energy at the same step."""
    frame = frames.peers(inputs)
    rows: list[list[str] | str] = []
    previous, place = "", 0
    for _, row in frame.iterrows():
        if row["scene"] != previous and rows:
            rows.append(r"\midrule")
            place = 0
        about = (
            escape(str(row["scene"])),
            f"{row['clumps']} clumps",
            f"{row['spheres']} spheres",
            rf"\num{{{row['steps']}}} steps",
        )
        scene = about[place] if place < len(about) else ""
        place += 1
        low, high = (number(float(row[name]), 2) for name in ("us_per_step", "us_per_step_most"))
        rows.append(
            [
                scene,
                escape(f"{row['code']} {row['version']}"),
                escape(str(row["option"])),
                f"{low} to {high}",
                number(float(row["energy_error"]), 2),
                number(float(row["energy_error_most"]), 2),
            ]
        )
        previous = row["scene"]
    head = ["scene", "code", "integrator", r"\unit{\micro\second} a step", r"$|\Delta E|/E$", "at most"]
    return frame, tabular("llllll", head, rows)


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


def contact_choices(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """What our engine and other codes do in a contact with friction, in the words of our law's parameters."""
    data = frames.contacts(inputs)
    names = [f"{label} {version}" for label, version in zip(data["label"].values, data["version"].values, strict=True)]
    rows = []
    for name, (variable, words) in CHOICES.items():
        rows.append([name, *(words.get(str(value), str(value)) for value in data[variable].values)])
    frame = pd.DataFrame(rows, columns=["choice", *names])
    width = ">{\\raggedright\\arraybackslash}p{0.22\\textwidth}"
    return frame, tabular(f"@{{}}l{width * len(names)}@{{}}", ["", *map(escape, names)], [list(map(escape, r)) for r in rows])


def contact_errors(inputs: Inputs) -> tuple[pd.DataFrame, str]:
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
    frame = pd.DataFrame(records)
    rows: list[list[str] | str] = []
    for impact, of_impact in frame.groupby("impact", sort=False):
        rows += [r"\addlinespace[3pt]"] if rows else []
        rows.append(rf"\multicolumn{{7}}{{@{{}}l}}{{\emph{{{escape(str(impact))}}}}} \\")
        for row in of_impact.to_dict("records"):
            errors = [step(row[f"{name}_spin"], 2) for name in ("error", "step_error")]
            far = [step(row[f"{name}_spin"], 1) for name in ("off", "deviation")]
            far[1] = "--" if row["code"] == "polhode" else far[1]
            made = decimal(-100 * row["taken_by_law"], 2)
            rows.append([rf"\quad {escape(row['code'])}", *errors, decimal(row["order_spin"], 2), *far, made])
    head = ["", rf"error, $T/{frames.SHOWN}$", "by the step", "order", "by the law", "imitation", r"made, \%"]
    return frame, tabular("@{}lcccccc@{}", head, rows)


def contact_beds(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """What is read off a bed of grains by code: means over seeds, scatter, and where our engine says that the energy goes."""
    data = frames.contacts(inputs)
    records: list[dict[str, Any]] = []
    for code, label in zip(data["code"].values, data["label"].values, strict=True):
        of_code = data.sel(code=code)
        record: dict[str, Any] = {"code": str(label), "seeds": int(data.sizes["seed"])}
        for name in ("height", "contacts", "settling_time"):
            values = of_code[f"bed_{name}"].values
            record |= {name: float(values.mean()), f"{name}_scatter": float(values.std(ddof=1))}
        records.append(record | {str(f): float(of_code["bed_share"].sel(form=f).mean()) for f in data["form"].values})
    frame = pd.DataFrame(records)
    rows = []
    for row in frame.to_dict("records"):
        means = [
            rf"{decimal(scale * row[name], places)} $\pm$ {decimal(scale * row[f'{name}_scatter'], places)}"
            for name, scale, places in (("height", 1e3, 2), ("contacts", 1.0, 2), ("settling_time", 1e3, 0))
        ]
        shares = [decimal(100 * row[f"dissipated_{name}"], 1) for name in ("normal", "tangential", "sliding")]
        rows.append([escape(str(row["code"])), *means, *shares, decimal(-100 * row["taken_by_law"], 1)])
    head = ["", "height, mm", "contacts", "settling, ms", r"normal, \%", r"tangential, \%", r"sliding, \%", r"made, \%"]
    return frame, tabular("@{}lccccccc@{}", head, rows)


def liquid_codes(inputs: Inputs) -> tuple[pd.DataFrame, str]:
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
    frame = pd.DataFrame(records)
    rows = []
    for record in records:
        apart = number(max(record[f"apart_{scene}"] for scene in data["scene"].values), 1)
        drifts = [
            ", ".join(number(record[f"drift_{dt:g}_{start}"], 1) for start in data["start"].values)
            for dt in data["long_dt"].values
        ]
        spent = [decimal(record[name], 0) for name in ("us_per_step", "us_per_step_here")]
        more = number(record["more_kinetic"], 1)
        rows.append([escape(record["option"]), escape(record["label"]), apart, more, *drifts, *spent])
    steps = [rf"drift, {dt:g}\,fs" for dt in data["long_dt"].values]
    head = ["fix", "here", r"$|\delta U|$", r"$\delta K$", *steps, r"\unit{\us}", "here"]
    return frame, tabular(f"@{{}}ll{'c' * (len(head) - 4)}rr@{{}}", head, rows)


def _breakable(option: str) -> str:
    """The name of an option, which may be broken where its words join: after an underscore, before a capital letter."""
    return r"\allowbreak{}".join(escape(part) for part in re.split(r"(?<=_)|(?<=[a-z])(?=[A-Z])", option))
