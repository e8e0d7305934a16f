"""Tables of the methods, of our own readings in them, and of the digits of the reference."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from polhode.fits.values import at
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report.latex import NOT_AVAILABLE, decimal, escape, long_table, tabular
from polhode.study.report.selection import method_order


def reconstructions(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of our own contributions to each method, where the original was not available or leaves something open."""
    ours = {key: str(inputs.declared(key, "reconstruction")) for key in method_order(inputs)}
    records = [{"method": key, "label": inputs.label(key), "ours": text} for key, text in ours.items() if text]
    if not records:
        raise NotInRun("no method of this run has a part that is our reconstruction")
    rows = [[escape(record["label"]), escape(record["ours"])] for record in records]
    return pd.DataFrame(records), tabular(r"l>{\raggedright\arraybackslash}p{105mm}", ["method", "our part"], rows)


def methods(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the methods: source, torques per step, published and measured orders, and further declarations."""
    records: list[dict[str, Any]] = []
    rows = []
    for key in method_order(inputs):
        record: dict[str, Any] = {
            "method": key,
            "label": inputs.label(key),
            "source": str(inputs.declared(key, "source")),
            "torques_per_step": int(inputs.declared(key, "torques_per_step", 0)),
            "torques_per_output": int(inputs.declared(key, "torques_per_output", 0)),
            "published_order": str(inputs.declared(key, "published_order")),
            "q_order": at(inputs.errors, "q_order", key),
            "omega_order": at(inputs.errors, "omega_order", key),
            "normalises": "yes" if inputs.declared(key, "normalises", False) else "no",
            "momentum_frame": str(inputs.declared(key, "momentum_frame")),
            "starts": str(inputs.declared(key, "starts")),
            "engines": str(inputs.declared(key, "engines")),
            "reconstruction": str(inputs.declared(key, "reconstruction")),
        }
        records.append(record)
        citation = str(inputs.declared(key, "citation"))
        rows.append(
            [
                escape(record["label"]) + (r"\textsuperscript{$\dagger$}" if record["reconstruction"] else ""),
                rf"\cite{{{citation}}}"
                if citation and key not in inputs.plugins
                else "plug-in"
                if key in inputs.plugins
                else "--",
                str(record["torques_per_step"]) + (f"+{record['torques_per_output']}" if record["torques_per_output"] else ""),
                escape(record["published_order"].removesuffix(" order")) or "--",
                decimal(record["q_order"], 2),
                decimal(record["omega_order"], 2),
                record["normalises"],
                escape(record["momentum_frame"]),
                "yes" if "many" in record["engines"] else "no",
            ]
        )
    head = ["method", "source", r"$n_M$", "published", r"$p_q$", r"$p_\omega$", "norm.", "frame", "many"]
    return pd.DataFrame(records), long_table("llclcclll", head, rows, "methods", gap="")


def reference(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of how the exact solution was computed and checked, with its state at the end of the comparison."""
    data = inputs.reference_states
    end = float(np.nanmax(inputs.errors["end_time"].values))
    time = data["time"].values
    row = int(np.argmin(np.abs(time - end)))
    records = [
        ("formula", str(data.attrs.get("formula", ""))),
        ("digits requested", str(data.attrs.get("digits", ""))),
        ("digits shared with the Taylor series", str(data.attrs.get("agreement", ""))),
        ("compared up to (s)", str(data.attrs.get("agreement_time", ""))),
        ("time (s)", repr(float(time[row]))),
    ]
    components = [*(("q", c) for c in range(data.sizes["quaternion"])), *(("omega", c) for c in range(data.sizes["axis"]))]
    symbols = {"q": ("$q_0$", "$q_x$", "$q_y$", "$q_z$"), "omega": (r"$\omega_x$", r"$\omega_y$", r"$\omega_z$")}
    names = {"q": ("q0", "qx", "qy", "qz"), "omega": ("wx (rad/s)", "wy (rad/s)", "wz (rad/s)")}
    shown = []
    for name, c in components:
        digits = data[f"{name}_digits"].values[row, c] if f"{name}_digits" in data else repr(float(data[name].values[row, c]))
        records.append((names[name][c], str(digits)))
        unit = r" (\unit{\radian\per\second})" if name == "omega" else ""
        shown.append([symbols[name][c] + unit, _grouped(str(digits))])
    rows: list[Sequence[str] | str] = []
    for label, value in records[:4]:
        plain = value.replace(".", "", 1).isdigit()
        rows.append(
            [escape(label), rf"\num{{{float(value):.4g}}}" if plain and "." in value else escape(value) or NOT_AVAILABLE]
        )
    rows += [r"\midrule", [r"state at $t$ (s)", rf"\num{{{float(time[row]):.10g}}}"], *shown]
    return pd.DataFrame(records, columns=["property", "value"]), tabular("ll", ["property", "value"], rows)


def _grouped(digits: str) -> str:
    """A long decimal string in groups of ten, in typewriter type, without line breaks."""
    sign, digits = ("$-$", digits[1:]) if digits.startswith("-") else ("", digits)
    mantissa, _, exponent = digits.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    groups = r"\,".join(fraction[i : i + 10] for i in range(0, len(fraction), 10))
    power = rf"\,$\times10^{{{int(exponent)}}}$" if exponent else ""
    return rf"{sign}\texttt{{{whole}.{groups}}}{power}" if fraction else rf"{sign}\texttt{{{whole}}}{power}"
