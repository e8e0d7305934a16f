"""What the check ``strengths`` and the runs of a liquid say of correctors."""

from contextlib import suppress
from dataclasses import dataclass
from math import nan

import numpy as np

from polhode.fits import drift
from polhode.fits.canonical_form import symplectic
from polhode_study.chapters.laws import frames_of_checks as law_checks
from polhode_study.chapters.laws.frames import TARGET
from polhode_study.chapters.liquids import frames as liquids
from polhode_study.chapters.long_runs import frames_of_drift
from polhode_study.chapters.many_body.frames import chess_ratios
from polhode_study.chapters.methods import frames as order_frames
from polhode_study.inputs import Inputs, NotInRun

#: The plain splitting and the corrected one.
PLAIN, CORRECTED = "exact_rotor", "exact_rotor_corrected"
#: The coarsest step of the check, in radians: what needs no more is not told apart.
COARSEST = 0.5
#: The error at which splittings are compared with and without a corrector, small enough that no step is the coarsest.
TIGHT = 1e-6


Torques = dict[str, dict[float, float]]


def torques(inputs: Inputs, torque_class: str, error: float = TARGET) -> Torques:
    """Method -> strength -> the median torques per radian."""
    frame = law_checks.strengths(inputs)
    result: Torques = {}
    for row in frame[(frame["torque_class"] == torque_class) & (frame["error"] == error)].to_dict("records"):
        result.setdefault(row["method"], {})[row["strength"]] = row["torques"]
    return result


def gain(table: Torques, method: str, other: str, strength: float) -> float:
    """The torques of ``other`` over those of ``method``; NaN where one is not in the run."""
    try:
        return table[other][strength] / table[method][strength]
    except KeyError:
        return nan


def crossing(table: Torques, method: str, other: str) -> float:
    """The strength up to which ``method`` needs fewer torques than ``other``, between two that were run; NaN if not so."""
    strengths = sorted(table[method])
    ratio = np.log([table[method][x] / table[other][x] for x in strengths])
    place = np.flatnonzero((ratio[:-1] < 0) & (ratio[1:] >= 0))
    if place.size == 0:
        return nan
    x, y = np.log(strengths[place[-1] : place[-1] + 2]), ratio[place[-1] : place[-1] + 2]
    return float(np.exp(x[0] - y[0] / (y[1] - y[0]) * (x[1] - x[0])))


def scatter(inputs: Inputs, method: str) -> dict[float, float]:
    """Step in fs -> the mean scatter of the energy of a liquid, kT per degree of freedom, of runs that are not lost."""
    data = liquids.runs(inputs)
    if method not in data["integrator"].values:
        return {}
    values = data["rms"].sel(integrator=method).mean("seed", skipna=False)
    return {float(dt): float(x) for dt, x in zip(data["dt"].values, values.values, strict=True) if np.isfinite(x)}


#: One method for each kind of step, with the place of its torque and the angular velocity that the torque is handed.
PLACES = {
    "spiral_synchronous": r"of the start, $\omega$ too",
    "verlet": r"both ends, $\omega$ before the kick",
    "spiral_leapfrog": r"whole times, $\omega$ half a step old",
    "no_squish": r"both ends, $\omega$ before the kick",
    "pcdm2016": "of a predicted state",
    "spiral_predicted": r"whole times, $\omega$ predicted",
    "exact_rotor": r"both ends, $\omega$ predicted",
    "exact_rotor_corrected": "as before, corrected",
    "magnus_adams4": "last four, extrapolated",
    "rk4": "four in a step",
}
#: Classes of torque that have a column.
COLUMNS = ("free", "constant", "time", "lab", "state", "velocity")
#: The long run whose change of energy is shown.
LONG_RUN = "free_asymmetric_top"


@dataclass(frozen=True)
class KindOfStep:
    """A method in the figure of orders and drift: where its torque is taken, and what was measured.

    Parameters
    ----------
    orders : the lowest order of q and omega for each of :data:`COLUMNS`; NaN without a fit
    contacts : energy error of colliding chess pieces over SPIRAL's
    energy, stays : the change of energy at the end of :data:`LONG_RUN`, over the kinetic energy, and whether it is bounded
    libration : what becomes of a small libration: steady, damped or heated; empty if it was not run
    symplectic : yes or no; with memory, if its step is no map of orientation and momentum
    """

    label: str
    torque: str
    orders: tuple[float, ...]
    contacts: float
    energy: float
    stays: bool
    libration: str
    symplectic: str


def order_and_drift(inputs: Inputs) -> list[KindOfStep]:
    """The rows of the figure of orders and drift."""
    lowest = order_frames.lowest_orders(order_frames.orders(inputs))
    lowest["order"] = lowest[["q_order", "omega_order"]].min(axis=1)
    ratios = chess_ratios(inputs, list(PLACES))
    energy = frames_of_drift.long_runs(inputs, [LONG_RUN])
    energy = energy[energy["quantity"] == "energy_drift"].set_index("method")
    check = inputs.check("symplecticity")
    symplectic_methods = symplectic(check)
    has_memory = (check["memory"] > drift.ROUNDING).any("problem")
    roots = None
    with suppress(NotInRun):
        roots = inputs.check("librations")
    rows = []
    for key, torque in PLACES.items():
        if key not in set(lowest["method"]) or key not in energy.index or key not in check["integrator"]:
            continue
        of_method = lowest[lowest["method"] == key].set_index("torque_class")["order"]
        orders = tuple(map(float, of_method.reindex(list(COLUMNS)).to_numpy(float)))
        libration = ""
        if roots is not None and key in roots["integrator"]:
            coefficient = float(roots["coefficient"].sel(integrator=key))
            libration = "steady" if coefficient == 0 else "damped" if coefficient < 0 else "heated"
        last, growth = energy.loc[key, ["last", "growth"]].to_numpy(float)
        rows.append(
            KindOfStep(
                label=inputs.label(key),
                torque=torque,
                orders=orders,
                contacts=ratios[key].value if key in ratios else nan,
                energy=float(last),
                stays=drift.bounded(float(growth), float(last)),
                libration=libration,
                symplectic="memory" if has_memory.sel(integrator=key) else "yes" if key in symplectic_methods else "no",
            )
        )
    if not rows:
        raise NotInRun("this run has none of the methods that stand for the places of a torque")
    return rows
