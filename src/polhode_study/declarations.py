"""The declarations of methods and problems, written into the files of a run so that later stages need no registry."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from polhode.interface.arrays import about
from polhode.interface.cf_attributes import CLASSES, ROWS
from polhode.methods import METHODS, group_of, place_of, short_label_of
from polhode.methods.protocol import Method, OneTorque
from polhode.problems import PROBLEMS
from polhode.problems.problem import TORQUE_CLASSES, Case, Problem
from polhode.problems.system import System
from polhode.registry import LAST

#: Columns of the table of methods: their description and how they are computed. First texts, then flags, yes (1) or no (0).
TEXTS: dict[str, tuple[str, Callable[[Method], str]]] = {
    "label": ("name of the method", lambda m: m.label),
    "short_label": ("name of the method where space is limited", lambda m: short_label_of(m.key)),
    "group": ("group in which figures and tables list the method", lambda m: group_of(m.key)),
    "source": ("publication and equation numbers", lambda m: m.source),
    "citation": ("keys of the publications in the list of references, comma-separated", lambda m: m.citation),
    "variant_of": ("method of which this is a variant; empty for an original method", lambda m: m.variant_of),
    "published_order": ("what the source says about the order", lambda m: m.published_order),
    "starts": ("how the hidden half step is taken", lambda m: m.starts),
    "reads": ("how q and omega are brought to the same whole time", lambda m: m.reads),
    "momentum_frame": ("frame in which the method carries its angular velocity or momentum", lambda m: m.momentum_frame),
    "omega_handed": ("angular velocity that the method supplies to the torque", lambda m: m.omega_handed),
    "engines": ("engines that run the method, comma-separated", lambda m: ", ".join(m.engines)),
    "translation": (
        "scheme that moves the centre of mass alongside the method; empty if there is none",
        lambda m: _translation(m),
    ),
    "published_error": ("how the publication measures the orientation", lambda m: m.published_error),
    "reconstruction": ("parts of the method that are ours; empty if there are none", lambda m: m.reconstruction),
    "caution": ("why not to use it for long conservative runs; empty if nothing is known", lambda m: m.caution),
    "note": ("important information for users", lambda m: m.note),
}
FLAGS: dict[str, tuple[str, Callable[[Method], bool]]] = {
    "normalises": ("whether the quaternion is normalised every step", lambda m: m.normalises),
    "normalisable": ("whether the normalisation can be switched", lambda m: m.normalisable),
}


def _translation(method: Method) -> str:
    if not isinstance(method, OneTorque) or "many body" not in method.engines or method.translation is None:
        return ""
    return method.translation.name


def method_declarations(keys: Sequence[str]) -> xr.Dataset:
    """The declarations of methods, one row each, with one column for each torque class where they depend on it.

    The dimensions have no coordinates, which would be inherited by all groups below the root.
    """
    methods = [METHODS[key] for key in keys]
    columns: dict[str, Any] = {
        name: (ROWS, [get(m) for m in methods], {"long_name": text}) for name, (text, get) in TEXTS.items()
    }
    for name, (text, get) in FLAGS.items():
        columns[name] = (ROWS, np.array([get(m) for m in methods], "int8"), about(text))
    columns["place"] = (ROWS, np.array([place_of(key) for key in keys], "int32"), about("place in lists, first to last"))
    columns["torques_per_step"] = (
        ROWS,
        np.array([m.torques_per_step for m in methods], "int32"),
        about("torque evaluations of a step"),
    )
    columns["torques_per_output"] = (
        ROWS,
        np.array([m.torques_per_output for m in methods], "int32"),
        about("torque evaluations of an output, and once more at the start, for a change of variables"),
    )
    columns["stored_offset"] = (
        ROWS,
        np.array([m.stored_offset for m in methods]),
        about("time of the angular velocity that the method carries, after that of q, in steps"),
    )
    orders = np.array([[m.orders(name) for name in TORQUE_CLASSES] for m in methods], "int32").reshape(len(methods), -1, 2)
    for i, (name, text) in enumerate((("q", "orientation"), ("omega", "angular velocity"))):
        long_name = f"order of the {text} that the method declares for a class of torque"
        columns[f"claimed_{name}_order"] = ((ROWS, CLASSES), orders[:, :, i], about(long_name))
    columns["method"] = (ROWS, list(keys), {"long_name": "key of the method"})
    columns["torque_class"] = (CLASSES, list(TORQUE_CLASSES), {"long_name": "class of torque"})
    columns["torque_class_meaning"] = (CLASSES, list(TORQUE_CLASSES.values()), {"long_name": "what the torque depends on"})
    return xr.Dataset(columns)


def variant_of_registered(key: str) -> str:
    """The method of which a registered one is a variant; empty for an original method and for one that is not registered."""
    return METHODS[key].variant_of if key in METHODS else ""


def problem_declarations(problem: Case) -> dict[str, Any]:
    """The declarations of a problem, as attributes of its group; ``setup`` is JSON with the numbers that define the problem."""
    is_built_in = problem.key not in PROBLEMS.plugins()
    return {
        "problem": problem.key,
        "label": problem.label,
        "short_label": problem.short_label or problem.label,
        "rank": problem.rank if is_built_in else LAST,
        "represents_class": int(problem.represents_class and is_built_in),
        "source": problem.source,
        "torque_class": problem.torque_class,
        "formula": problem.formula or "Taylor series",
        "load_formula": problem.load_formula,
        "dependence": problem.dependence,
        "setup": json.dumps(setup_of(problem)),
    }


def setup_of(problem: Case) -> dict[str, Any]:
    """Bodies (kg m^2, N m s, kg), initial state (SI units), parameters and their symbols, and the simulated time, s."""
    assert isinstance(problem, Problem | System)
    several = isinstance(problem, System)
    bodies = problem.bodies if isinstance(problem, System) else (problem.body,)
    moving = isinstance(problem, System) and not problem.fixed
    return {
        "moments": [[float(value) for value in body.inertia] for body in bodies],
        "wheels": [list(body.wheel_momentum) for body in bodies if body.wheels],
        "masses": [float(body.mass) for body in bodies] if several else [],
        "q0": _rows(problem.q0 if several else [problem.q0]),
        "omega0": _rows(problem.omega0 if several else [problem.omega0]),
        "r0": _rows(problem.r0) if isinstance(problem, System) and moving else [],
        "v0": _rows(problem.v0) if isinstance(problem, System) and moving else [],
        "parameters": dict(problem.parameters),
        "derived": problem.derived(problem) if problem.derived is not None else {},
        "symbols": dict(problem.symbols),
        "horizon": problem.horizon,
    }


def _rows(values: Sequence[Any]) -> list[list[float]]:
    return [[float(value) for value in row] for row in values]
