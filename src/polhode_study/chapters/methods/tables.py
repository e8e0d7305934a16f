"""The methods, their references, the classes of torque and the problems in numbers."""

import json
from collections.abc import Iterable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from polhode.fits.values import at
from polhode.interface.table import Column, RowGroup, Table
from polhode_study.chapters.methods import frames
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import selection
from polhode_study.report.latex import escape
from polhode_study.report.selection import method_order


def orders_by_torque(inputs: Inputs) -> Table:
    """The orders of q and omega on every problem, measured and declared; a file only."""
    return Table(frames.orders(inputs))


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


def torque_classes(inputs: Inputs) -> Table:
    """A table of the classes, with what the torque depends on, and the problems of the run with source, reference and check."""
    records: list[dict[str, Any]] = []
    for name, keys in selection.problems_by_class(inputs):
        for key in keys:
            attrs = inputs.of(key).problem_declarations
            records.append(
                {
                    "torque_class": name,
                    "torque": inputs.torque_classes.get(name, ""),
                    "problem": key,
                    "label": str(attrs.get("label", key)),
                    "source": str(attrs.get("source", "")),
                    "reference": str(attrs.get("formula", "") or "Taylor series"),
                    "agreement": selection.reference_digits(inputs, key),
                }
            )

    def torque(record: dict[str, Any]) -> str:
        """What the torque depends on; what is true of all of a class stands at the first."""
        name, first = record["torque_class"], next(r for r in records if r["torque_class"] == record["torque_class"])
        of_class = MEANINGS.get(name, escape(record["torque"])) if record is first else ""
        return str(inputs.of(record["problem"]).problem_declarations["dependence"] or of_class)

    columns = [
        Column("class", "torque_class", once=True),
        Column("torque in the body frame", None, torque, "23mm"),
        Column("problem", "label", align="38mm"),
        Column("source", "source", _cited, "24mm"),
        Column("reference", "reference", align="38mm"),
        Column("digits", "agreement", ".0f", "r", none="--"),
    ]
    return Table(records, columns, groups=[RowGroup("torque_class")])


def reconstructions(inputs: Inputs) -> Table:
    """A table of our own contributions to each method, where the original was not available or leaves something open."""
    ours = {key: str(inputs.declared(key, "reconstruction")) for key in method_order(inputs)}
    records = [{"method": key, "label": inputs.label(key), "ours": text} for key, text in ours.items() if text]
    if not records:
        raise NotInRun("no method of this run has a part that is our reconstruction")
    return Table(records, [Column("method", "label"), Column("our part", "ours", align="105mm")])


def methods(inputs: Inputs) -> Table:
    """A table of the methods: source, torques per step, published and measured orders, and further declarations."""
    records = [
        {
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
        for key in method_order(inputs)
    ]

    def source(key: str) -> str:
        citation = str(inputs.declared(key, "citation"))
        return "plug-in" if key in inputs.plugins else rf"\cite{{{citation}}}" if citation else "--"

    def torques(record: dict[str, Any]) -> str:
        at_output = record["torques_per_output"]
        return f"{record['torques_per_step']}" + (f"+{at_output}" if at_output else "")

    def label(record: dict[str, Any]) -> str:
        return escape(record["label"]) + (r"\textsuperscript{$\dagger$}" if record["reconstruction"] else "")

    columns = [
        Column("method", None, label),
        Column("source", "method", source),
        Column(r"$n_M$", None, torques, "c"),
        Column("published", "published_order", lambda order: escape(order.removesuffix(" order")) or "--"),
        Column(r"$p_q$", "q_order", ".2f", "c"),
        Column(r"$p_\omega$", "omega_order", ".2f", "c"),
        Column("norm.", "normalises"),
        Column("frame", "momentum_frame"),
        Column("many", lambda record: "yes" if "many" in record["engines"] else "no"),
    ]
    return Table(records, columns, long="methods")


def reference(inputs: Inputs) -> Table:
    """How the exact solution was computed and checked, with its state at the end of the comparison; a file only."""
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
    names = {"q": ("q0", "qx", "qy", "qz"), "omega": ("wx (rad/s)", "wy (rad/s)", "wz (rad/s)")}
    for name, c in [(name, c) for name, components in names.items() for c in range(len(components))]:
        digits = data[f"{name}_digits"].values[row, c] if f"{name}_digits" in data else repr(float(data[name].values[row, c]))
        records.append((names[name][c], str(digits)))
    return Table(pd.DataFrame(records, columns=["property", "value"]))


NO_MASS = "--"
#: Numbers with many digits are printed as quotients up to this denominator.
LARGEST_DENOMINATOR = 20


def problems(inputs: Inputs) -> Table:
    """A table of the problems: moments (kg m^2), mass (kg), initial state, torque with its constants, and simulated time, s.

    Of a body with wheels, their angular momentum (N m s) as well.
    """
    problems = [key for _, keys in selection.problems_by_class(inputs) for key in keys]
    said = {key: inputs.of(key).problem_declarations for key in problems if "setup" in inputs.of(key).problem_declarations}
    if not said:
        raise NotInRun("this run describes the set-up of no problem")
    setups = {key: json.loads(problem["setup"]) for key, problem in said.items()}
    records: list[dict[str, Any]] = []
    derived = dict.fromkeys(name for setup in setups.values() for name in setup["derived"])
    for key, setup in setups.items():
        record = {
            "problem": key,
            "torque_class": said[key]["torque_class"],
            "moments": "; ".join(map(_list, setup["moments"])),
            "wheels": "; ".join(map(_list, setup["wheels"])),
            "mass": "; ".join(map(repr, setup["masses"])),
            **{name: "; ".join(map(_list, setup[name])) for name in ("q0", "omega0", "r0", "v0")},
            "parameters": "; ".join(f"{name}={value!r}" for name, value in setup["parameters"].items()),
            "horizon": setup["horizon"],
        }
        records.append(record | {name: setup["derived"].get(name) for name in derived})

    def start(setup: dict[str, Any]) -> str:
        lines = [rf"$q_0={_tuple(q)}$" for q in dict.fromkeys(map(tuple, setup["q0"]))]
        lines += [rf"$\omega_0={_tuple(w)}$" for w in setup["omega0"]]
        lines += [rf"$r_0={_tuple(setup['r0'][0])}$", rf"$v_0={_tuple(setup['v0'][0])}$"] if setup["r0"] else []
        return r"\newline ".join(lines)

    def load(key: str) -> str:
        constants = (setups[key]["parameters"] | setups[key]["derived"]).items()
        texts = [f"$h={_tuple(momentum)}$" for momentum in setups[key]["wheels"]]
        texts += [f"${setups[key]['symbols'].get(name, escape(name))}={_exact(value)}$" for name, value in constants]
        formula = said[key]["load_formula"] or inputs.torque_classes[said[key]["torque_class"]]
        return formula + ("; " + ", ".join(texts) if texts else "")

    columns = [
        Column("problem", partial(selection.short_name, inputs), align="18mm"),
        Column(
            r"$I$ (\unit{\kilogram\metre\squared})",
            lambda key: r"\newline ".join(rf"${_tuple(values)}$" for values in setups[key]["moments"]),
            str,
            "30mm",
        ),
        Column(r"$m$ (\unit{\kilogram})", None, lambda key: ", ".join(map(_dollar, setups[key]["masses"])) or NO_MASS),
        Column("start", setups.get, start, "33mm"),
        Column("torque and constants", None, load, "47mm"),
        Column("$T$ (s)", lambda key: setups[key]["horizon"], _dollar, "r"),
    ]
    return Table(records, columns, rows=list(setups), long="problems", gap="2pt", tight=True)


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
