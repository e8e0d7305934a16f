"""The tables of the report: each as CSV in full precision and as LaTeX for people."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10, nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from polhode.study.figures import PUBLISHED_SET
from polhode.study.inputs import ERRATA_FIELDS, Inputs
from polhode.study.storage import write_text

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "-": "-",
    "ω": r"\ensuremath{\omega}",
    "Δ": r"\ensuremath{\Delta}",
    "τ": r"\ensuremath{\tau}",
    "π": r"\ensuremath{\pi}",
    "±": r"\ensuremath{\pm}",
    "×": r"\ensuremath{\times}",
    "≈": r"\ensuremath{\approx}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "°": r"\ensuremath{^\circ}",
    "²": r"\ensuremath{^2}",
    "³": r"\ensuremath{^3}",
    "·": r"\ensuremath{\cdot}",
    "−": r"\ensuremath{-}",
    "–": "--",
    "—": "---",
    "’": "'",
}
NOT_AVAILABLE = "n/a"


def escape(text: str) -> str:
    """Plain text as LaTeX that prints the same characters; characters that LaTeX's fonts lack become ``?``."""
    return "".join(_SPECIAL.get(c, c if c.isprintable() and ord(c) < 0x180 else "?") for c in str(text))


def number(value: float, digits: int = 3) -> str:
    """A number for LaTeX (siunitx), ``digits`` significant digits; ``n/a`` where there is none."""
    if not isfinite(value):
        return NOT_AVAILABLE
    if value != 0 and not 1e-3 <= abs(value) < 1e4:
        return rf"\num{{{value:.{digits - 1}e}}}"
    decimals = max(0, digits - 1 - (floor(log10(abs(value))) if value else 0))
    return rf"\num{{{value:.{decimals}f}}}"


def step(value: float, digits: int = 4) -> str:
    """A time step for LaTeX, always with an exponent, so that a column of them is easy to compare."""
    return rf"\num{{{value:.{digits - 1}e}}}" if isfinite(value) else NOT_AVAILABLE


def decimal(value: float, decimals: int) -> str:
    """A number for LaTeX with a fixed number of decimals; ``n/a`` where there is none."""
    return rf"\num{{{value:.{decimals}f}}}" if isfinite(value) else NOT_AVAILABLE


def with_error(value: float, error: float) -> str:
    """A number with its standard error in brackets, one digit of it, at most four decimals."""
    if not isfinite(value):
        return NOT_AVAILABLE
    if not isfinite(error):
        return decimal(value, 2)
    decimals = 4 if error <= 0 else min(4, max(1, -floor(log10(error))))
    bracket = max(1, round(error * 10**decimals))
    if bracket == 10 and decimals > 1:
        decimals, bracket = decimals - 1, 1
    return rf"\num{{{value:.{decimals}f}({bracket})}}"


def tabular(columns: str, head: Sequence[str], rows: Sequence[Sequence[str] | str]) -> str:
    """A booktabs tabular; a row given as a plain string is put in as it is (a rule, say)."""
    body = [row if isinstance(row, str) else " & ".join(row) + r" \\" for row in rows]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(head) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def long_table(columns: str, head: Sequence[str], rows: Sequence[Sequence[str]], name: str) -> str:
    r"""A booktabs longtable over pages; the text of its caption is the report's ``\NAMEcaption``, its label ``tab:NAME``."""
    width = len(head)
    top = " & ".join(head) + r" \\"
    lines = [
        rf"\begin{{longtable}}{{{columns}}}",
        rf"\caption{{\{name}caption}}\label{{tab:{name}}}\\",
        r"\toprule",
        top,
        r"\midrule",
        r"\endfirsthead",
        rf"\multicolumn{{{width}}}{{l}}{{\emph{{Table~\thetable, continued}}}}\\",
        r"\toprule",
        top,
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        *(" & ".join(row) + r" \\" + r"\addlinespace[2pt]" for row in rows),
        r"\end{longtable}",
        "",
    ]
    return "\n".join(lines)


def method_order(inputs: Inputs) -> list[str]:
    """All methods of the run: the published set, then the rest by key, each variant behind the method it belongs to."""
    present = list(map(str, inputs.errors["method"].values))
    first = [key for key in PUBLISHED_SET if key in present]
    rest = sorted(set(present) - set(first), key=lambda key: (key in inputs.plugins, key))
    return first + rest


def _value(inputs: Inputs, name: str, key: str) -> float:
    if name not in inputs.errors:
        return nan
    return float(inputs.errors[name].sel({"method": key}).values)


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
        }
        records.append(record)
        citation = str(inputs.declared(key, "citation"))
        rows.append(
            [
                escape(record["label"]),
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
                escape(record["engines"].replace(" body", "")),
            ]
        )
    head = ["method", "source", r"$n_M$", "published", r"$p_q$", r"$p_\omega$", "norm.", "frame", "engines"]
    return pd.DataFrame(records), tabular("llclcclll", head, rows)


def target_dt(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """The time step that meets each target error: ours, the published one and their ratio (del Valle et al. 2024, Table 2).

    A second ratio takes our step by interpolation between the points of the ladder, as the publication does.
    """
    published = inputs.published_steps
    targets = [float(t) for t in inputs.targets["target_error"].values]
    present = set(map(str, inputs.targets["method"].values))
    records: list[dict[str, Any]] = []
    groups: list[tuple[str, list[list[str]]]] = []
    for key in method_order(inputs):
        if key not in present:
            continue
        ours = inputs.targets["step_size"].sel({"method": key}).values.astype(float)
        reached = inputs.targets["mean_error"].sel({"method": key}).values.astype(float)
        steps = inputs.targets["steps"].sel({"method": key}).values.astype(float)
        drawn = np.array([inputs.interpolated_step(key, target) for target in targets])
        theirs = np.array([published_step(published, key, target) for target in targets])
        for i, target in enumerate(targets):
            records.append(
                {
                    "method": key,
                    "target_error": target,
                    "dt": ours[i],
                    "steps": steps[i],
                    "mean_error": reached[i],
                    "dt_published": theirs[i],
                    "ratio": ours[i] / theirs[i],
                    "dt_interpolated": drawn[i],
                    "ratio_interpolated": drawn[i] / theirs[i],
                }
            )
        lines = [[escape(inputs.label(key)), "ours", *(step(v) for v in ours)]]
        if np.isfinite(theirs).any():
            lines.append(["", "published", *(step(v) for v in theirs)])
            lines.append(["", "ratio", *(decimal(v, 4) for v in ours / theirs)])
            lines.append(["", "ratio (interp.)", *(decimal(v, 4) for v in drawn / theirs)])
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


def published_step(published: pd.DataFrame, key: str, target: float) -> float:
    """The published dt of a method for a target error in s, NaN where none is printed."""
    found = published[(published["method"] == key) & np.isclose(published["target_error"].astype(float), target, rtol=1e-6)]
    return float(found["dt"].iloc[0]) if len(found) else nan


def orders(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Declared and fitted orders of q and omega, with standard errors and the range of dt fitted."""
    records: list[dict[str, Any]] = []
    rows = []
    for key in method_order(inputs):
        record: dict[str, Any] = {"method": key}
        cells = [escape(inputs.label(key))]
        for short, claim in (("q", "claimed_q_order"), ("omega", "claimed_omega_order")):
            record[claim] = int(inputs.errors[claim].sel({"method": key}).values) if claim in inputs.errors else None
            for suffix in ("", "_stderr", "_dt_min", "_dt_max", "_points"):
                record[f"{short}_order{suffix}"] = _value(inputs, f"{short}_order{suffix}", key)
            low, high = record[f"{short}_order_dt_min"], record[f"{short}_order_dt_max"]
            known = isfinite(low) and isfinite(high)
            cells += [
                str(record[claim]) if record[claim] is not None else NOT_AVAILABLE,
                with_error(record[f"{short}_order"], record[f"{short}_order_stderr"]),
                f"{step(low, 2)} to {step(high, 2)}" if known else NOT_AVAILABLE,
            ]
        for suffix in ("", "_stderr"):
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


def claims(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """What the publication says, what we measure, and whether they agree."""
    data = inputs.claim_rows
    rows = [
        [escape(r["location"]), escape(r["statement"]), _cell(r["published"]), _cell(r["measured"]), escape(r["verdict"])]
        for r in data.to_dict("records")
    ]
    columns = (
        r"@{}>{\raggedright\arraybackslash}p{17mm}>{\raggedright\arraybackslash}p{62mm}"
        r">{\raggedright\arraybackslash}p{22mm}>{\raggedright\arraybackslash}p{26mm}>{\raggedright\arraybackslash}p{19mm}@{}"
    )
    return data, long_table(columns, ["place", "statement", "published or asked", "measured", "verdict"], rows, "claims")


def _cell(text: str) -> str:
    """A number of a table of texts as LaTeX, other text escaped."""
    try:
        value = float(text)
    except ValueError:
        return escape(text)
    if not isfinite(value):
        return NOT_AVAILABLE
    return number(value, 4) if len(text.strip()) > 5 else rf"\num{{{text.strip()}}}"


def errata(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Misprints and ambiguities of the publication, the reading that works and how we know."""
    entries = inputs.errata_rows
    rows = [
        [
            rf"{entry['location']}\newline\emph{{{entry['kind']}}}",
            rf"{entry['printed']}.\newline {entry['problem']}",
            rf"{entry['reading']}.",
            entry["shown"],
        ]
        for entry in entries
    ]
    columns = (
        r"@{}>{\raggedright\arraybackslash}p{21mm}>{\raggedright\arraybackslash}p{58mm}"
        r">{\raggedright\arraybackslash}p{41mm}>{\raggedright\arraybackslash}p{29mm}@{}"
    )
    head = ["place, kind", "as printed; why it does not do", "reading that works", "how shown"]
    return pd.DataFrame(entries, columns=list(ERRATA_FIELDS)), long_table(columns, head, rows, "errata")


@dataclass(frozen=True)
class TableRule:
    """A table and the fields of :class:`~polhode.study.inputs.Inputs` that it reads."""

    build: Callable[[Inputs], tuple[pd.DataFrame, str]]
    needs: tuple[str, ...]


TABLES: dict[str, TableRule] = {
    "methods": TableRule(methods, ("single_body",)),
    "target_dt": TableRule(target_dt, ("single_body", "published")),
    "orders": TableRule(orders, ("single_body",)),
    "reference": TableRule(reference, ("single_body", "reference")),
    "claims": TableRule(claims, ("claims",)),
    "errata": TableRule(errata, ("errata",)),
}


def render(name: str, inputs: Inputs, folder: str | Path) -> None:
    """Build the table ``name`` and write NAME.csv and NAME.tex into ``folder``.

    Raises
    ------
    KeyError
        If there is no such table; the message lists all.
    """
    if name not in TABLES:
        raise KeyError(f"unknown table {name!r}; known are: {', '.join(TABLES)}")
    data, text = TABLES[name].build(inputs)
    folder = Path(folder)
    write_text(folder / f"{name}.csv", data.to_csv(index=False, lineterminator="\n"))
    write_text(folder / f"{name}.tex", text)
