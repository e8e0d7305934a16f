"""Table of the definition of every problem in numbers."""

import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import pandas as pd

from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report import selection
from polhode.study.report.latex import escape, long_table

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
            f"{symbols.get(name, escape(name))}={_plain(value)}"
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


def _plain(value: float) -> str:
    """A number for LaTeX math mode: unchanged if it is short, a quotient if it is a simple one, otherwise with seven digits."""
    text = f"{value:.10g}"
    quotient = Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
    if len(text.lstrip("-")) > 9 and abs(value - float(quotient)) < 1e-12 * abs(value):
        return f"{quotient.numerator}/{quotient.denominator}"
    text = f"{value:.7g}" if len(text.lstrip("-")) > 9 else text
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa}\times10^{{{int(exponent)}}}" if exponent else mantissa


def _dollar(value: float) -> str:
    return f"${_plain(value)}$"


def _tuple(values: Iterable[float]) -> str:
    """A vector for LaTeX; small moments share a power of ten in front."""
    numbers = [float(v) for v in values]
    return "(" + r",\allowbreak ".join(_plain(v) for v in numbers) + ")"
