"""The methods, their references, the classes of torque and the problems in numbers."""

import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd

from polhode.fits.values import at
from polhode.study.chapters.methods import frames
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report import selection
from polhode.study.report.frames import keyed
from polhode.study.report.latex import (
    NOT_AVAILABLE,
    above_head,
    decimal,
    escape,
    grouped_rows,
    long_table,
    or_dash,
    spanning,
    tabular,
)
from polhode.study.report.selection import method_order


def orders_by_torque(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of orders of q and omega: the CSV has every problem, the LaTeX the lowest of each class and the declared ones.

    Bold type marks an order lower than the highest that the method declares; an asterisk, one lower than declared for this
    class; a dagger, that no order could be fitted on some problem of the class.
    """
    frame = frames.orders(inputs)
    lowest = keyed(frames.lowest_orders(frame), "method", "torque_class")
    classes = [name for name, _ in selection.problems_by_class(inputs)]

    def row(method: str) -> list[str]:
        cells = [escape(selection.label(inputs, method))]
        for name in classes:
            for short in frames.QUANTITIES:
                if (method, name) not in lowest:
                    cells.append("--")
                    continue
                record = lowest[method, name]
                measured, declared = float(record[f"{short}_order"]), float(record[f"declared_{short}"])
                text = f"{measured:.1f}" if isfinite(measured) else "--"
                text = rf"\textbf{{{text}}}" if record[f"reduced_{short}"] else text
                star = "*" if record[f"missed_{short}"] else ""
                star += r"$^\dagger$" if record[f"unfitted_{short}"] else ""
                star = rf"\rlap{{{star}}}" if star else ""
                cells.append(f"{text}/{declared:.0f}{star}" if isfinite(declared) else text)
        return cells

    rows = grouped_rows(inputs, list(dict.fromkeys(frame["method"])), row)
    head = ["method", *([r"$p_q$", r"$p_\omega$"] * len(classes))]
    text = tabular("@{}l" + r"c@{\hspace{7.5pt}}c" * len(classes) + "@{}", head, rows)
    return frame, above_head(text, spanning(*((name, 2) for name in classes)))


#: The defining property of a class and the choice made for it, in a word; the problems themselves come from the run.
MEANINGS: dict[str, str] = {
    "free": r"$M=0$",
    "constant": r"$M$ constant",
    "time": r"$M=M(t)$",
    "lab": r"$M=A(q)\,M^{\mathrm{lab}}(t)$",
    "state": r"$M=M(q)$",
    "velocity": r"$M=M(\omega)$",
}


#: Authors and years as the problems name their sources, and the keys of the bibliography.
CITATIONS = {"del Valle et al. (2024)": "delvalle2024", "Seelen et al. (2016)": "seelen2016"}


def _cited(source: str) -> str:
    """The source of a problem, with numbers of the bibliography for authors and years."""
    text = escape(source)
    for name, key in CITATIONS.items():
        text = text.replace(escape(name), rf"\cite{{{key}}}")
    return text


def torque_classes(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the classes, with what the torque depends on, and the problems of the run with source, reference and check."""
    records = []
    rows: list[Sequence[str] | str] = []
    for number, (name, keys) in enumerate(selection.problems_by_class(inputs)):
        if number:
            rows.append(r"\addlinespace[3pt]")
        for place, key in enumerate(keys):
            attrs = inputs.of(key).problem_declarations
            record: dict[str, Any] = {
                "torque_class": name,
                "torque": inputs.torque_classes.get(name, ""),
                "problem": key,
                "label": str(attrs.get("label", key)),
                "source": str(attrs.get("source", "")),
                "reference": str(attrs.get("formula", "") or "Taylor series"),
                "agreement": selection.reference_digits(inputs, key),
            }
            records.append(record)
            rows.append(
                [
                    escape(name) if place == 0 else "",
                    attrs["dependence"] or (MEANINGS.get(name, escape(record["torque"])) if place == 0 else ""),
                    escape(record["label"]),
                    _cited(record["source"]),
                    escape(record["reference"]),
                    or_dash(decimal(record["agreement"], 0)),
                ]
            )
    columns = (
        r"l>{\raggedright\arraybackslash}p{23mm}>{\raggedright\arraybackslash}p{38mm}>{\raggedright\arraybackslash}p{24mm}"
        r">{\raggedright\arraybackslash}p{38mm}r"
    )
    text = tabular(columns, ["class", "torque in the body frame", "problem", "source", "reference", "digits"], rows)
    return pd.DataFrame(records), text


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


NO_MASS = "--"
#: Numbers with many digits are printed as quotients up to this denominator.
LARGEST_DENOMINATOR = 20


def problems(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the problems: moments (kg m^2), mass (kg), initial state, torque with its constants, and simulated time, s."""
    shown = [key for _, keys in selection.problems_by_class(inputs) for key in keys]
    said = {key: inputs.of(key).problem_declarations for key in shown if "setup" in inputs.of(key).problem_declarations}
    if not said:
        raise NotInRun("this run describes the set-up of no problem")
    setups = {key: json.loads(problem["setup"]) for key, problem in said.items()}
    records: list[dict[str, Any]] = []
    rows: list[Sequence[str] | str] = []
    derived = dict.fromkeys(name for setup in setups.values() for name in setup["derived"])
    for key, setup in setups.items():
        torque_class, symbols = said[key]["torque_class"], setup["symbols"]
        record = {
            "problem": key,
            "torque_class": torque_class,
            "moments": "; ".join(map(_list, setup["moments"])),
            "mass": "; ".join(map(repr, setup["masses"])),
            **{name: "; ".join(map(_list, setup[name])) for name in ("q0", "omega0", "r0", "v0")},
            "parameters": "; ".join(f"{name}={value!r}" for name, value in setup["parameters"].items()),
            "horizon": setup["horizon"],
        }
        records.append(record | {name: setup["derived"].get(name) for name in derived})
        constants = [
            f"{symbols.get(name, escape(name))}={_exact(value)}"
            for name, value in (setup["parameters"] | setup["derived"]).items()
        ]
        start = [rf"$q_0={_tuple(q)}$" for q in dict.fromkeys(map(tuple, setup["q0"]))]
        start += [rf"$\omega_0={_tuple(w)}$" for w in setup["omega0"]]
        start += [rf"$r_0={_tuple(setup['r0'][0])}$", rf"$v_0={_tuple(setup['v0'][0])}$"] if setup["r0"] else []
        load = said[key]["load_formula"] or inputs.torque_classes[torque_class]
        load += "; " + ", ".join(f"${text}$" for text in constants) if constants else ""
        moments = [rf"${_tuple(values)}$" for values in setup["moments"]]
        masses = ", ".join(map(_dollar, setup["masses"])) or NO_MASS
        rows.append(
            [
                escape(selection.short_name(inputs, key)),
                r"\newline ".join(moments),
                masses,
                r"\newline ".join(start),
                load,
                _dollar(setup["horizon"]),
            ]
        )
    narrow = r">{\raggedright\arraybackslash}p"
    columns = rf"@{{}}{narrow}{{18mm}}{narrow}{{30mm}}l{narrow}{{33mm}}{narrow}{{47mm}}r@{{}}"
    head = [
        "problem",
        r"$I$ (\unit{\kilogram\metre\squared})",
        r"$m$ (\unit{\kilogram})",
        "start",
        "torque and constants",
        "$T$ (s)",
    ]
    return pd.DataFrame(records), long_table(columns, head, rows, "problems")


def _list(values: Iterable[float]) -> str:
    return " ".join(repr(float(v)) for v in values)


def _exact(value: float) -> str:
    """A number for LaTeX math mode: unchanged if it is short, a quotient if it is a simple one, otherwise with seven digits."""
    text = f"{value:.10g}"
    quotient = Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
    if len(text.lstrip("-")) > 9 and abs(value - float(quotient)) < 1e-12 * abs(value):
        return f"{quotient.numerator}/{quotient.denominator}"
    text = f"{value:.7g}" if len(text.lstrip("-")) > 9 else text
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa}\times10^{{{int(exponent)}}}" if exponent else mantissa


def _dollar(value: float) -> str:
    return f"${_exact(value)}$"


def _tuple(values: Iterable[float]) -> str:
    """A vector for LaTeX; small moments share a power of ten in front."""
    numbers = [float(v) for v in values]
    return "(" + r",\allowbreak ".join(_exact(v) for v in numbers) + ")"
