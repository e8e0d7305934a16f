"""The tables of the comparison of del Valle et al. (2024), and of its methods."""

from collections.abc import Callable, Sequence
from math import isfinite, nan
from typing import Any

import numpy as np
import pandas as pd

from polhode.study.claims import VARIANT_DIVISION
from polhode.study.figures.delvalle2024 import PUBLISHED_SET
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.tables.latex import NOT_AVAILABLE, decimal, escape, in_range, number, step, tabular


def method_order(inputs: Inputs) -> list[str]:
    """All methods of the run: the published set, then the rest by key, each variant behind the method it belongs to."""
    present = list(map(str, inputs.errors["integrator"].values))
    first = [key for key in PUBLISHED_SET if key in present]
    rest = sorted(set(present) - set(first), key=lambda key: (key in inputs.plugins, key))
    return first + rest


def reconstructions(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """What of each method is ours, because the original was not at hand or leaves it open."""
    ours = {key: str(inputs.declared(key, "reconstruction")) for key in method_order(inputs)}
    records = [{"method": key, "label": inputs.label(key), "ours": text} for key, text in ours.items() if text]
    if not records:
        raise NotInRun("of no method in this run a part is ours")
    rows = [[escape(record["label"]), escape(record["ours"])] for record in records]
    return pd.DataFrame(records), tabular(r"l>{\raggedright\arraybackslash}p{105mm}", ["method", "what is ours"], rows)


def published_variants(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """The published methods with one choice changed at a time: errors at one step, over those as published, and orders."""
    check = inputs.check("published_variants")
    chosen = check.sel({"division": VARIANT_DIVISION})
    records: list[dict[str, Any]] = []
    rows: list[Sequence[str] | str] = []
    for key in map(str, check["variant"].values):
        row = chosen.sel({"variant": key})
        base = str(row["base"].values)
        record: dict[str, Any] = {"variant": key, "base": base, "description": str(row["description"].values)}
        if key == base and rows:
            rows.append(r"\addlinespace[3pt]")
        cells = [escape(inputs.label(base).partition(" (")[0]) if key == base else "", escape(record["description"])]
        for quantity in map(str, check["quantity"].values):
            error, published = (float(chosen["error"].sel({"variant": v, "quantity": quantity})) for v in (key, base))
            record |= {
                f"{quantity}_error": error,
                f"{quantity}_gain": published / error,
                f"{quantity}_order": float(row["order"].sel({"quantity": quantity})),
            }
            gain = "" if key == base else number(published / error, 2)
            cells += [number(error, 2), gain, decimal(record[f"{quantity}_order"], 2)]
        records.append(record)
        rows.append(cells)
    head = ["method", "what is changed"]
    head += [r"$\errorq$", "gain", r"$p_q$", r"$\errorw$", "gain", r"$p_\omega$"]
    return pd.DataFrame(records), tabular(r"l>{\raggedright\arraybackslash}p{54mm}rrcrrc", head, rows)


def _value(inputs: Inputs, name: str, key: str) -> float:
    if name not in inputs.errors:
        return nan
    return float(inputs.errors[name].sel(integrator=key).values)


def methods(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Source, torques per step, published and measured orders, and what else a method declares."""
    records: list[dict[str, Any]] = []
    rows = []
    for key in method_order(inputs):
        record: dict[str, Any] = {
            "method": key,
            "label": inputs.label(key),
            "source": str(inputs.declared(key, "source")),
            "torques_per_step": int(inputs.declared(key, "torques_per_step", 0)),
            "published_order": str(inputs.declared(key, "published_order")),
            "q_order": _value(inputs, "q_order", key),
            "omega_order": _value(inputs, "omega_order", key),
            "normalises": "yes" if inputs.declared(key, "normalises", False) else "no",
            "momentum_frame": str(inputs.declared(key, "momentum_frame")),
            "starts": str(inputs.declared(key, "starts")),
            "engines": ", ".join(inputs.declared(key, "engines", ())),
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
                str(record["torques_per_step"]),
                escape(record["published_order"].removesuffix(" order")) or "--",
                decimal(record["q_order"], 2),
                decimal(record["omega_order"], 2),
                record["normalises"],
                escape(record["momentum_frame"]),
                "yes" if "many" in record["engines"] else "no",
            ]
        )
    head = ["method", "source", r"$n_M$", "published", r"$p_q$", r"$p_\omega$", "norm.", "frame", "several"]
    return pd.DataFrame(records), tabular("llclcclll", head, rows)


def target_dt(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """The time step that meets each target error, beside the published one (del Valle et al. 2024, Table 2).

    Ours are found on runs, all methods in one measure. The ratios to the published ones take the measure of the publication:
    of steps interpolated between the points of the ladder, as there, and of steps found on runs.
    """
    targets = [float(t) for t in inputs.targets["target_error"].values]
    present = set(map(str, inputs.targets["integrator"].values))
    records: list[dict[str, Any]] = []
    groups: list[tuple[str, list[list[str]]]] = []
    for key in method_order(inputs):
        if key not in present:
            continue
        ours = inputs.targets["step_size"].sel(integrator=key).values.astype(float)
        own = inputs.targets["step_size_as_published"].sel(integrator=key).values.astype(float)
        reached = inputs.targets["mean_error"].sel(integrator=key).values.astype(float)
        steps = inputs.targets["steps"].sel(integrator=key).values.astype(float)
        drawn = np.array([inputs.interpolated_step(key, target) for target in targets])
        theirs = np.array([inputs.published_step(key, target) for target in targets])
        for i, target in enumerate(targets):
            records.append(
                {
                    "method": key,
                    "target_error": target,
                    "dt": ours[i],
                    "steps": steps[i],
                    "mean_error": reached[i],
                    "dt_published": theirs[i],
                    "dt_interpolated": drawn[i],
                    "ratio_interpolated": drawn[i] / theirs[i],
                    "dt_as_published": own[i],
                    "ratio_as_published": own[i] / theirs[i],
                }
            )
        lines = [[escape(inputs.label(key)), "ours", *(step(v) for v in ours)]]
        if inputs.declared(key, "published_error", "quaternion") != "quaternion":
            lines.append(["", "ours (matrix)", *(step(v) for v in own)])
        if np.isfinite(theirs).any():
            lines.append(["", "published", *(step(v) for v in theirs)])
            lines.append(["", "ratio (interp.)", *(decimal(v, 4) for v in drawn / theirs)])
            lines.append(["", "ratio (runs)", *(decimal(v, 4) for v in own / theirs)])
        groups.append((key, lines))
    rows: list[Sequence[str] | str] = []
    groups.sort(key=lambda group: len(group[1]) == 1)
    for number_of_group, (_, lines) in enumerate(groups):
        if number_of_group and len(lines) > 1:
            rows.append(r"\addlinespace[3pt]")
        elif number_of_group and len(groups[number_of_group - 1][1]) > 1:
            rows.append(r"\midrule")
        rows += lines
    head = ["method", "", *(step(t, 1) for t in targets)]
    text = tabular("ll" + "r" * len(targets), head, rows)
    top = (
        rf" & & \multicolumn{{{len(targets)}}}{{c}}{{target error}} \\"
        + "\n"
        + rf"\cmidrule(lr){{3-{2 + len(targets)}}}"
        + "\n"
    )
    return pd.DataFrame(records), text.replace("\\toprule\n", "\\toprule\n" + top, 1)


def orders(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Declared and fitted orders of q and omega, with the range over shifted fits and the range of dt fitted."""
    records: list[dict[str, Any]] = []
    rows = []
    for key in method_order(inputs):
        record: dict[str, Any] = {"method": key}
        cells = [escape(inputs.label(key))]
        for short, claim in (("q", "claimed_q_order"), ("omega", "claimed_omega_order")):
            record[claim] = int(inputs.errors[claim].sel(integrator=key).values) if claim in inputs.errors else None
            for suffix in ("", "_low", "_high", "_dt_min", "_dt_max", "_points"):
                record[f"{short}_order{suffix}"] = _value(inputs, f"{short}_order{suffix}", key)
            order, low, high, first, last = (
                record[f"{short}_order{suffix}"] for suffix in ("", "_low", "_high", "_dt_min", "_dt_max")
            )
            known = isfinite(first) and isfinite(last)
            cells += [
                str(record[claim]) if record[claim] is not None else NOT_AVAILABLE,
                in_range(order, low, high, 3),
                f"{step(first, 2)} to {step(last, 2)}" if known else NOT_AVAILABLE,
            ]
        for suffix in ("", "_low", "_high"):
            record[f"stored_omega_order{suffix}"] = _value(inputs, f"stored_omega_order{suffix}", key)
        records.append(record)
        rows.append(cells)
    head = [
        "",
        r"\multicolumn{3}{c}{orientation}",
        r"\multicolumn{3}{c}{angular velocity}",
    ]
    second = ["method", "decl.", "measured", r"$\Delta t$ (s)", "decl.", "measured", r"$\Delta t$ (s)"]
    text = tabular("lccrccr", second, rows)
    top = " & ".join(head) + r" \\" + "\n" + r"\cmidrule(lr){2-4}\cmidrule(lr){5-7}" + "\n"
    return pd.DataFrame(records), text.replace("\\toprule\n", "\\toprule\n" + top, 1)


def reference(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """How the exact solution was computed and checked, and its state at the end of the comparison."""
    data = inputs.reference_states
    end = float(np.nanmax(inputs.errors["end_time"].values))
    time = data["time"].values
    row = int(np.argmin(np.abs(time - end)))
    records = [
        ("formula", str(data.attrs.get("formula", ""))),
        ("digits asked for", str(data.attrs.get("digits", ""))),
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
    """A long decimal string in groups of ten, in the typewriter face, broken nowhere."""
    sign, digits = ("$-$", digits[1:]) if digits.startswith("-") else ("", digits)
    mantissa, _, exponent = digits.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    groups = r"\,".join(fraction[i : i + 10] for i in range(0, len(fraction), 10))
    power = rf"\,$\times10^{{{int(exponent)}}}$" if exponent else ""
    return rf"{sign}\texttt{{{whole}.{groups}}}{power}" if fraction else rf"{sign}\texttt{{{whole}}}{power}"


TABLES: dict[str, Callable[[Inputs], tuple[pd.DataFrame, str]]] = {
    "methods": methods,
    "reconstructions": reconstructions,
    "target_dt": target_dt,
    "published_variants": published_variants,
    "orders": orders,
    "reference": reference,
}
