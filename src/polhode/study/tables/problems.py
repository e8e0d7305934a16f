"""Every problem of the study in numbers, so that it can be set up from the report alone."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pandas as pd

from polhode.problems.problem import TORQUE_CLASSES
from polhode.problems.system import System
from polhode.registry import catalogue
from polhode.study import comparison
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.tables.latex import escape, long_table

#: The torque in the body frame, or the loads, in LaTeX; constants are named as in the column that gives them. A problem that is
#: not here shows what its class says.
FORMULAS: dict[str, str] = {
    "free_symmetric_top": "$M=0$",
    "free_asymmetric_top": "$M=0$",
    "free_asymmetric_top_unstable": "$M=0$",
    "free_asymmetric_top_separatrix": "$M=0$",
    "spiral_cylinder": "$M=(M_x,0,0)$",
    "exponential_sphere": r"$M=(0,A\,\mathrm e^t,0)$",
    "forced_cylinder": r"$M_x=a_x\sin\nu_xt$, $M_y=a_y\mathrm e^{3+g_yt}$, $M_z=a_z\mathrm e^{g_zt}$",
    "lab_torque": r"$M=A(q)M^{\mathrm{lab}}$, $M^{\mathrm{lab}}_k=c_k+a_k\sin(\nu t+k)$, $k=0,1,2$ for $x,y,z$",
    "heavy_top": r"$M=mgl\,(u_y,-u_x,0)$, $u=A(q)(0,0,1)$",
    "asymmetric_heavy_top": r"$M=s\times A(q)(0,0,-G)$, $s=(x,y,z)$ the centre of mass, $G$ the weight",
    "damped_top": r"$M=h\times\omega-(c_x\omega_x,c_y\omega_y,c_z\omega_z)$",
    "coupled_cylinders": r"$M_i=-R_i\,\eta\,(R_1\omega_1+R_2\omega_2)$ about $x$; centres fixed; $k=\eta(R_1^2/I_1+R_2^2/I_2)$",
    "sinking_propeller": (
        r"$F=A^T(q)(-c\,u_x,-c\,u_y,-a\,u_z+s\,\omega_z)-(0,0,G+b\,z)$, "
        r"$M=-d\,(\omega_x,\tfrac32\omega_y,\tfrac12\omega_z)+(0,0,s\,u_z)$, $u=A(q)v$"
    ),
}
#: The symbol of a parameter in these formulas, where it is not its name.
SYMBOLS: dict[str, str] = {
    "Mx": "M_x",
    "x_amplitude": "a_x",
    "x_frequency": r"\nu_x",
    "y_amplitude": "a_y",
    "y_growth": "g_y",
    "z_amplitude": "a_z",
    "z_growth": "g_z",
    "nu": r"\nu",
    "mgl": "mgl",
    "eta": r"\eta",
    "R1": "R_1",
    "R2": "R_2",
    "along": "a",
    "across": "c",
    "turning": "d",
    "screw": "s",
    "buoyancy": "b",
    "weight": "G",
} | {f"{letter}{axis}": f"{letter}_{axis}" for letter in "ach" for axis in "xyz"}
NO_MASS = "--"


def problems(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Moments (kg m^2), mass (kg), initial state, torque with its constants, and the time simulated, of every problem."""
    registry: Any = catalogue("polhode.problems")
    shown = [key for _, keys in comparison.problems_by_class(inputs) for key in keys if key in registry]
    if not shown:
        raise NotInRun("this run holds no problem that is registered")
    records: list[dict[str, Any]] = []
    rows: list[Sequence[str] | str] = []
    for key in shown:
        problem = registry[key]
        several = isinstance(problem, System)
        bodies = problem.bodies if several else (problem.body,)
        q0s, omega0s = (problem.q0, problem.omega0) if several else ((problem.q0,), (problem.omega0,))
        moving = several and not problem.fixed
        record = {
            "problem": key,
            "torque_class": problem.torque_class,
            "moments": "; ".join(_list(body.inertia) for body in bodies),
            "mass": "; ".join(repr(float(body.mass)) for body in bodies) if several else "",
            "q0": "; ".join(_list(q) for q in q0s),
            "omega0": "; ".join(_list(w) for w in omega0s),
            "r0": "; ".join(_list(r) for r in problem.r0) if moving else "",
            "v0": "; ".join(_list(v) for v in problem.v0) if moving else "",
            "parameters": "; ".join(f"{name}={value!r}" for name, value in problem.parameters.items()),
            "horizon": problem.horizon,
        }
        rate = _decay_rate(problem) if key == "coupled_cylinders" else None
        records.append(record | {"decay_rate": rate})
        constants = [f"{SYMBOLS.get(name, escape(name))}={_plain(value)}" for name, value in problem.parameters.items()]
        constants += [f"k={_plain(rate)}"] if rate is not None else []
        start = [rf"$q_0={_tuple(q)}$" for q in dict.fromkeys(map(tuple, q0s))]
        start += [rf"$\omega_0={_tuple(w)}$" for w in omega0s]
        start += [rf"$r_0={_tuple(problem.r0[0])}$", rf"$v_0={_tuple(problem.v0[0])}$"] if moving else []
        load = FORMULAS.get(key, TORQUE_CLASSES[problem.torque_class])
        load += "; " + ", ".join(f"${text}$" for text in constants) if constants else ""
        moments = [rf"${_tuple(body.inertia)}$" for body in bodies]
        masses = ", ".join(_dollar(body.mass) for body in bodies) if several else NO_MASS
        rows.append(
            [
                escape(comparison.short_name(inputs, key)),
                r"\newline ".join(moments),
                masses,
                r"\newline ".join(start),
                load,
                _dollar(problem.horizon),
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


def _decay_rate(system: System) -> float:
    """k of Seelen et al. (2016), Sec. 3.4, 1/s."""
    p = system.parameters
    return float(p["eta"] * sum(p[f"R{i + 1}"] ** 2 / system.bodies[i].inertia[0] for i in range(2)))


def _list(values: Iterable[float]) -> str:
    return " ".join(repr(float(v)) for v in values)


def _plain(value: float) -> str:
    """A number for LaTeX's mathematics: as it is if it is short, else seven digits."""
    text = f"{value:.10g}"
    text = f"{value:.7g}" if len(text.lstrip("-")) > 9 else text
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa}\times10^{{{int(exponent)}}}" if exponent else mantissa


def _dollar(value: float) -> str:
    return f"${_plain(value)}$"


def _tuple(values: Iterable[float]) -> str:
    """A vector; of moments that are small, with the power of ten in front."""
    numbers = [float(v) for v in values]
    return "(" + r",\allowbreak ".join(_plain(v) for v in numbers) + ")"


TABLES: dict[str, Callable[[Inputs], tuple[pd.DataFrame, str]]] = {"problems": problems}
