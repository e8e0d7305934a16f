"""The leapfrog of Calzavarini (2010) with each of its misprints restored alone."""

from math import nan

import numpy as np
import xarray as xr

from polhode.algebra import metrics
from polhode.fits.orders import fit_order
from polhode.interface.arrays import about
from polhode.methods import calzavarini2010, fincham1992
from polhode.simulate import simulate
from polhode_study.run.check import exact_end, fincham_normalised, problem_of
from polhode_study.run.making import Settings

#: Problems for the misprints of the note: torques of the orientation and of the angular velocity, and a moving body.
NOTE_PROBLEMS = ("asymmetric_heavy_top", "damped_top", "sinking_propeller")
NOTE_DIVISIONS = tuple(2**k for k in range(4, 14))
NOTE_QUANTITIES = ("q", "omega", "r", "v")


def note_corrections(settings: Settings) -> xr.Dataset:
    """The leapfrog of Calzavarini (2010) with each of its misprints restored alone: errors over dt, and the orders.

    ``fincham_distance`` is the largest difference of q, over a run, between the corrected scheme and Fincham's with the
    half-step quaternion also normalised, ``fincham_distance_plain`` that with it normalised in neither: the two are the same
    scheme, with kernels written separately.
    """
    variants, divisions = calzavarini2010.VARIANTS, settings.get("divisions", NOTE_DIVISIONS)
    errors = np.full((len(variants), len(NOTE_PROBLEMS), len(NOTE_QUANTITIES), len(divisions)), nan)
    orders, low, high = (np.full(errors.shape[:-1], nan) for _ in range(3))
    dts = np.full((len(NOTE_PROBLEMS), len(divisions)), nan)
    for j, name in enumerate(NOTE_PROBLEMS):
        problem = problem_of(name)
        exact = exact_end(problem)
        dts[j] = problem.horizon / np.array(divisions)
        for i, (_, _, misprints) in enumerate(variants.values()):
            method = calzavarini2010.scheme(**misprints)
            for k, dt in enumerate(dts[j]):
                with np.errstate(over="ignore", invalid="ignore"):
                    run = simulate(problem, method, float(dt), samples=1)
                for m, quantity in enumerate(NOTE_QUANTITIES):
                    if quantity in exact and "diverged" not in run.attrs:
                        distance = metrics.orientation_l1 if quantity == "q" else metrics.relative_l1
                        value = run[quantity].values[-1].reshape(-1)
                        errors[i, j, m, k] = distance(value, exact[quantity].reshape(-1))
            for m in range(len(NOTE_QUANTITIES)):
                order = fit_order(dts[j], errors[i, j, m], problem.horizon)
                orders[i, j, m], low[i, j, m], high[i, j, m] = order.order, order.low, order.high
    dims = ("variant", "problem", "quantity")
    return xr.Dataset(
        {
            "error": ((*dims, "division"), errors, about("relative L1 error at the end")),
            "order": (dims, orders, about("fitted order; NaN where the errors follow no power")),
            "order_low": (dims, low, about("lowest order over shifted windows of the fit")),
            "order_high": (dims, high, about("highest order over shifted windows of the fit")),
            "finest_error": (dims, errors[..., -1], about("error at the finest step")),
            "dt": (("problem", "division"), dts, about("step size", "s")),
            "fincham_distance": ((), _distance_to_fincham(True), about("largest difference of q to Fincham's scheme")),
            "fincham_distance_plain": ((), _distance_to_fincham(False), about("the same, half step not normalised")),
            "description": ("variant", [v[0] for v in variants.values()], {"long_name": "misprint restored"}),
            "equation": ("variant", [v[1] for v in variants.values()], {"long_name": "equation of the note"}),
        },
        {
            "variant": list(variants),
            "problem": list(NOTE_PROBLEMS),
            "quantity": list(NOTE_QUANTITIES),
            "division": list(divisions),
        },
        {"fincham_problem": FINCHAM_PROBLEM, "fincham_dt": FINCHAM_DT, "fincham_steps": FINCHAM_STEPS},
    )


#: The run over which the note's scheme is compared with Fincham's.
FINCHAM_PROBLEM, FINCHAM_DT, FINCHAM_STEPS = "asymmetric_heavy_top", 1e-3, 2000


def _distance_to_fincham(normalised: bool) -> float:
    """Largest difference of a component of q between Calzavarini's scheme and Fincham's.

    Parameters
    ----------
    normalised : whether both normalise the half-step quaternion; if not, Fincham's is the registered method
    """
    fincham = fincham_normalised() if normalised else fincham1992.METHOD
    noted = calzavarini2010.scheme(normalise_half=normalised)
    problem, end = problem_of(FINCHAM_PROBLEM), FINCHAM_STEPS * FINCHAM_DT
    runs = [simulate(problem, m, FINCHAM_DT, end, FINCHAM_STEPS).q.values for m in (noted, fincham)]
    return float(np.abs(runs[0] - runs[1]).max())
