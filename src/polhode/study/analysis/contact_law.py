"""One law for the energy of bodies that collide: the error over the time step in units of the contact time.

A leapfrog leaves in each contact an error of either sign that grows as (dt/T)^(5/2), where T is the contact time. The errors of
many contacts add up like the steps of a random walk: over n bodies, each of which has been in contact for N T, to sqrt(N n) of
them, and relative to an energy that is proportional to n to sqrt(N/n).
"""

from collections.abc import Mapping, Sequence
from math import gamma, isclose, nan, pi, sqrt

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import zeta

from polhode.study.analysis.ensembles import Estimate, median, ranks
from polhode.study.inputs import Inputs, NotInRun

#: The exponent of the time step for Hertz contacts, whose force is not smooth where they begin and end.
EXPONENT = 2.5
#: The method whose errors define the law.
LEADING = "spiral_leapfrog"
#: Fewer steps than these in a contact are not resolved, and are left out.
COARSEST = 1 / 7
#: Smaller errors may be round-off.
ROUND_OFF = 1e-12
#: A scene needs this many step sizes.
LEAST_STEPS = 3
#: The time step of the table, in contact times.
SHOWN = 1 / 30


def scenes(inputs: Inputs) -> dict[str, xr.Dataset]:
    """The scenes with enough step sizes, by their names, each from the data with more initial states: released, or of the run.

    The attribute ``released`` says which. Released data that are older than the time in contact take it from another file
    with the same scene, in proportion to the time: it varies by a few per cent between states, and the law has its root. The
    attribute ``contact_states`` is the number of states in which it was measured.

    Raises
    ------
    NotInRun
        If there is none.
    """
    ours = {name: inputs.many_body(name).assign_attrs(released=0) for name in inputs.scenes}
    theirs = {name: inputs.released_many_body(name).assign_attrs(released=1) for name in inputs.released_scenes}
    every = [*theirs.values(), *ours.values()]
    kept = {}
    for name in dict.fromkeys([*ours, *theirs]):
        both = [found[name] for found in (ours, theirs) if name in found]
        if len(both) == 2 and not _same_scene(*both):
            both = both[:1]
        counted = [data for data in (_counted(data, every) for data in both if _is_resolved(data)) if "contacts" in data]
        if counted:
            kept[name] = max(counted, key=lambda data: data.sizes["seed"])
    if not kept:
        raise NotInRun(f"there is no scene of many bodies with {LEAST_STEPS} step sizes below the contact time")
    return kept


def _is_resolved(data: xr.Dataset) -> bool:
    """Whether a scene was run with enough steps that resolve its contacts."""
    return "contact_time" in data.attrs and int((relative_steps(data) <= COARSEST).sum()) >= LEAST_STEPS


def _same_scene(data: xr.Dataset, other: xr.Dataset) -> bool:
    """Whether two files hold the same bodies with the same speeds; the number of states and the time may differ."""
    numbers = ("clumps", "spin", "box", "speed", "contact_time")
    return data.attrs.get("label") == other.attrs.get("label") and all(
        isclose(data.attrs.get(key, 0.0), other.attrs.get(key, 0.0), rel_tol=1e-6) for key in numbers
    )


def _counted(data: xr.Dataset, every: Sequence[xr.Dataset]) -> xr.Dataset:
    """A scene with its time in contact, which may come from another file; as it is if no file has it."""
    if "contacts" in data:
        return data.assign_attrs(contact_states=data.sizes["seed"])
    others = [other for other in every if "contacts" in other and "horizon" in other.attrs and _same_scene(data, other)]
    if not others or "horizon" not in data.attrs:
        return data
    best = max(others, key=lambda other: other.sizes["seed"])
    count = time_in_contact(best) * float(data.attrs["horizon"]) / float(best.attrs["horizon"])
    return data.assign(contacts=count).assign_attrs(contact_states=best.sizes["seed"])


def names(found: Mapping[str, xr.Dataset]) -> dict[str, str]:
    """What to call the scenes in figures and tables, by their names in the configuration.

    A scene is called as it declares ("rods in a box"), without the box that all have. Where two are the same but for the spin,
    the one without says so; what is then still called alike is told apart by its name in the configuration.
    """
    called = {name: str(data.attrs.get("label", name)).removesuffix(" in a box") for name, data in found.items()}
    for name, data in found.items():
        if list(called.values()).count(called[name]) > 1 and data.attrs.get("spin") == 0:
            called[name] += ", no spin"
    alike = [name for name in called if list(called.values()).count(called[name]) > 1]
    return called | {name: f"{called[name]} ({name})" for name in alike}


def names_with_states(found: Mapping[str, xr.Dataset]) -> dict[str, str]:
    """As :func:`names`, with the number of initial states of each scene where they differ."""
    called, states = names(found), {name: data.sizes["seed"] for name, data in found.items()}
    if len(set(states.values())) < 2:
        return called
    return {name: f"{called[name]}, {states[name]} states" for name in found}


def relative_steps(data: xr.Dataset) -> np.ndarray:
    """The step sizes of a scene in units of its contact time (dt,)."""
    return np.asarray(data["dt"].values / float(data.attrs["contact_time"]))


def time_in_contact(data: xr.Dataset) -> float:
    """N: touching pairs of spheres, summed over the steps in contact times, per clump; median over all runs that lasted."""
    lasted = data["contacts"].where(data["diverged"] == 0)
    return float(lasted.median()) if bool(lasted.notnull().any()) else nan


def relative_contacts(data: xr.Dataset) -> float:
    """N/n: the time in contact of each clump, in contact times, over the number of clumps."""
    return time_in_contact(data) / int(data.attrs["clumps"])


def reduced_errors(data: xr.Dataset, method: str) -> np.ndarray:
    """Mean energy error of every run over sqrt(N/n) (dt, seed); inf where a run blew up.

    Raises
    ------
    NotInRun
        If the scene was not run with the method.
    """
    if method not in data["integrator"].values:
        raise NotInRun(f"{method} is not among the methods of this scene")
    error = np.asarray(data["energy_error_mean"].sel(integrator=method).values, float) / sqrt(relative_contacts(data))
    return np.where(np.isnan(error), np.inf, error)


def _usable(data: xr.Dataset, method: str) -> tuple[np.ndarray, np.ndarray]:
    """Relative steps and reduced errors of the steps that are resolved and at which all runs lasted, above round-off."""
    step, error = relative_steps(data), reduced_errors(data, method)
    kept = (step <= COARSEST) & np.isfinite(error).all(axis=1) & (error > ROUND_OFF).all(axis=1)
    return step[kept], error[kept]


def exponent(data: xr.Dataset, method: str, longest: bool = True) -> Estimate:
    """The exponent of the time step: the slope of a straight line in logarithms for each state, and the median of these.

    ``longest``: with the longest step, at which the fewest steps make a contact.
    """
    step, error = _usable(data, method)
    if not longest:
        step, error = step[:-1], error[:-1]
    if len(step) < LEAST_STEPS:
        return Estimate(nan)
    return median(np.polyfit(np.log(step), np.log(error), 1)[0])


def coefficient(data: xr.Dataset, method: str) -> Estimate:
    """C of error = C sqrt(N/n) (dt/T)^(5/2): the geometric mean over the steps for each state, and the median of these."""
    step, error = _usable(data, method)
    if len(step) < LEAST_STEPS:
        return Estimate(nan)
    return median(np.exp(np.log(error / step[:, None] ** EXPONENT).mean(axis=0)))


def at_step(data: xr.Dataset, method: str, step: float = SHOWN) -> Estimate:
    """The error over sqrt(N/n) at a step in contact times, from each state's line in logarithms; NaN outside the steps run."""
    steps, error = _usable(data, method)
    if len(steps) < LEAST_STEPS or not steps.min() <= step <= steps.max():
        return Estimate(nan)
    slope, offset = np.polyfit(np.log(steps), np.log(error), 1)
    return median(np.exp(offset + slope * np.log(step)))


def law(found: Mapping[str, xr.Dataset], method: str = LEADING) -> tuple[float, float, float]:
    """The coefficient C of all scenes together: its geometric mean over the scenes, the smallest and the largest.

    NaN if no scene was run with the method at enough steps.
    """
    values = [coefficient(data, method).value for data in found.values() if method in data["integrator"].values]
    values = [value for value in values if np.isfinite(value)]
    return (float(np.exp(np.mean(np.log(values)))), min(values), max(values)) if values else (nan, nan, nan)


def contact_time_over_depth() -> float:
    """T v/delta: the time of a head-on Hertz contact at speed v with the largest overlap delta, in units of delta/v."""
    return float(0.8 * sqrt(pi) * gamma(0.4) / gamma(0.9))


def bounce() -> float:
    """The root mean square of |dE|/E0 over (dt/T)^(5/2) that a leapfrog leaves in one head-on bounce of one body, 1.02.

    The sum of kicks at an edge of a contact differs from the work of the force by zeta(-3/2, phi), the Hurwitz zeta function
    of the phase phi of the edge between two steps, in units of the force at the overlap v dt times v dt. Its mean square over
    the phase follows from its Fourier series; a bounce has two edges.
    """
    edge = 2 * gamma(EXPONENT) / (2 * pi) ** EXPONENT * sqrt(float(zeta(2 * EXPONENT)) / 2)
    return float(2.5 * contact_time_over_depth() ** EXPONENT * sqrt(2) * edge)


def head_on() -> float:
    """C if every contact were a head-on one at the initial speed: a bounce, and the mean over a random walk of its size."""
    return bounce() * 2 / 3 * sqrt(2 / pi)


def steps_in_contact(coefficient: float, error: float, contacts: float) -> float:
    """T/dt for a relative error of the total energy; ``contacts`` is N/n, see :func:`relative_contacts`."""
    return float((coefficient * sqrt(contacts) / error) ** (1 / EXPONENT))


def frame(found: Mapping[str, xr.Dataset]) -> pd.DataFrame:
    """A row for each method and scene: time in contact, exponent, coefficient, error at the shown step, with intervals."""
    rows = []
    for name, data in found.items():
        for method in map(str, data["integrator"].values):
            row = {
                "method": method,
                "label": str(data["label"].sel(integrator=method).item()),
                "scene": name,
                "contact_time_s": float(data.attrs["contact_time"]),
                "source": "released" if data.attrs.get("released") else "this run",
                "states": data.sizes["seed"],
                "coverage": ranks(data.sizes["seed"])[1],
                "contacts": time_in_contact(data),
            }
            for quantity, estimate in {
                "exponent": exponent(data, method),
                "coefficient": coefficient(data, method),
                "error_at_shown_step": at_step(data, method),
            }.items():
                row |= {quantity: estimate.value, f"{quantity}_low": estimate.low, f"{quantity}_high": estimate.high}
            rows.append(row)
    return pd.DataFrame(rows)
