"""Table of the engine atlas; its CSV has everything but the paths and the ladders."""

import math
import re

import pandas as pd

from polhode.study.inputs import Inputs
from polhode.study.report.latex import decimal, escape, long_table, number, or_dash, tabular
from polhode.study.themes.engines import analysis
from polhode.study.themes.engines.analysis import LOADS


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


def peers(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Many clumps here and in other codes: time of a step and error of the energy at the same step."""
    frame = analysis.peers(inputs)
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


def _breakable(option: str) -> str:
    """The name of an option, which may be broken where its words join: after an underscore, before a capital letter."""
    return r"\allowbreak{}".join(escape(part) for part in re.split(r"(?<=_)|(?<=[a-z])(?=[A-Z])", option))
