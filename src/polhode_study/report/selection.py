"""The methods and problems that a run shows, in order, with their names."""

from collections.abc import Sequence
from math import floor, nan

from polhode.registry import LAST
from polhode_study.inputs import Inputs, NotInRun

#: The problem on which the two options of the note of Calzavarini (2010) for velocity-dependent torques are compared.
FRICTION = "damped_top"


#: The time at which the cylinder of del Valle et al. (2024) is drawn, s: that of the inset of their Fig. 1.
SNAPSHOT_TIME = 15.0


def short_name(inputs: Inputs, problem: str) -> str:
    """The short name of a problem."""
    return str(inputs.of(problem).problem_declarations.get("short_label", "")) or problem


def problems_by_class(inputs: Inputs) -> list[tuple[str, list[str]]]:
    """The problems of the run, grouped by torque class in the order in which the run declares the classes."""
    rank = {key: int(inputs.of(key).problem_declarations.get("rank", LAST)) for key in inputs.problems}
    classes = {key: str(inputs.of(key).problem_declarations.get("torque_class", "")) for key in inputs.problems}
    known = inputs.torque_classes
    names = [*known, *sorted(set(classes.values()) - set(known))]
    groups = [(name, sorted((k for k in classes if classes[k] == name), key=lambda k: (rank[k], k))) for name in names]
    return [(name, keys) for name, keys in groups if keys]


def representative(inputs: Inputs, problems: Sequence[str]) -> str:
    """The problem shown for a torque class where there is room for one: the declared representative, else the first."""
    return next((key for key in problems if inputs.of(key).problem_declarations.get("represents_class", 0)), problems[0])


def all_methods(inputs: Inputs) -> list[str]:
    """All methods of the run, over all its problems, in groups."""
    return inputs.in_order(key for problem in inputs.problems for key in inputs.of(problem).errors["integrator"].values)


def label(inputs: Inputs, method: str) -> str:
    """The name of a method, even of one that only some problems have."""
    for problem in [inputs.problem, *inputs.problems]:
        if problem in inputs.problems and method in inputs.of(problem).errors["integrator"].values:
            return inputs.of(problem).label(method)
    return inputs.label(method) if inputs.problem in inputs.problems else method


def reference_digits(inputs: Inputs, problem: str) -> float:
    """Number of digits to which the reference of a problem agrees with its check, rounded down; NaN if not recorded."""
    try:
        return float(floor(float(inputs.of(problem).reference_states.attrs.get("agreement", nan))))
    except (NotInRun, ValueError):
        return nan


#: The methods that the figures of del Valle et al. (2024) compare, in the variants that reproduce their curves.
PUBLISHED_SET = (
    "spiral_leapfrog",
    "omelyan1998",
    "buss2000_delvalle2024",
    "verlet_delvalle2024",
    "fincham1992_delvalle2024",
    "euler",
    "johnson2008_delvalle2024",
    "pfc4_delvalle2024",
    "rk4",
)


def method_order(inputs: Inputs) -> list[str]:
    """All methods of the run: the published set, then the rest by key, each variant after its method."""
    present = list(map(str, inputs.errors["integrator"].values))
    first = [key for key in PUBLISHED_SET if key in present]
    rest = sorted(set(present) - set(first), key=lambda key: (key in inputs.plugins, key))
    return first + rest
