"""Quantities specific to the cases of Seelen et al. (2016): the arrow on the sphere, and slopes of their metric."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from polhode.fits.orders import Order, fit_order
from polhode_study.chapters.seelen2016.theory import FreeTop
from polhode_study.inputs import Inputs, NotInRun

#: Keys of their four cases, Secs. 3.1 to 3.4.
FREE_TOP, SPHERE, CYLINDER, PAIR = "free_symmetric_top", "exponential_sphere", "forced_cylinder", "coupled_cylinders"
#: The original scheme in its three readings of the time of the torque, the improved one, and the other row of Table 1.
METHODS = ("pcdm2013_lag", "pcdm2013_lead", "pcdm2013_mid", "pcdm2016", "scalar_factor")
READINGS = METHODS[:3]
#: The methods of Figs. 1 and 5: the original, with the torque at the old time as in the text, and the improved scheme.
COMPARED = ("pcdm2013_lag", "pcdm2016")
#: The sets of step sizes of their Fig. 3; only their methods run with the second.
PUBLISHED = ("published", "published_fine")
#: Number of final samples plotted in Fig. 1a.
LAST_SAMPLES = 30
#: Printed row of Table 1 -> the corresponding methods of ours; the reading of the original is decided by the numbers.
ROWS: dict[str, tuple[str, ...]] = {
    "Theory": ("exact",),
    "Scalar factor": ("scalar_factor",),
    "PCDM": READINGS,
    "This work": ("pcdm2016",),
}


def arrow(q: ArrayLike) -> NDArray[np.float64]:
    """The body's x axis in the lab frame. Shape (..., 4) -> (..., 3)."""
    w, x, y, z = np.moveaxis(np.asarray(q, float), -1, 0)
    return np.stack([w * w + x * x - y * y - z * z, 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=-1)


def free_top(inputs: Inputs) -> FreeTop:
    """The top of case 1, from the numbers stored with its runs."""
    inputs = inputs.of(FREE_TOP)
    setup = inputs.setup
    if inputs.problem_declarations["torque_class"] != "free":
        raise ValueError(f"a torque acts in {FREE_TOP}; the predictions are for a free top")
    return FreeTop(setup["moments"][0], setup["omega0"][0])


def exact_arrow(inputs: Inputs, time: ArrayLike) -> NDArray[np.float64]:
    """The arrow of case 2 at times in s: it turns about y by (A/I)(exp(t) - 1 - t). Shape (..., 3).

    Raises
    ------
    ValueError
        If the sphere does not start at rest in the orientation of the lab, as the formula requires.
    """
    setup = inputs.of(SPHERE).setup
    if setup["q0"][0] != [1.0, 0.0, 0.0, 0.0] or any(setup["omega0"][0]):
        raise ValueError(f"{SPHERE} does not start at rest in the orientation of the lab")
    t = np.asarray(time, float)
    angle = setup["parameters"]["A"] / setup["moments"][0][1] * (np.expm1(t) - t)
    return np.stack([np.cos(angle), np.zeros_like(angle), -np.sin(angle)], axis=-1)


def sphere_end(inputs: Inputs) -> pd.DataFrame:
    """x and z of the arrow after 1 s, exact and for every method of the run, indexed by method; the exact row is first.

    Raises
    ------
    NotInRun
        If the run does not end there or was not compared with the exact solution.
    """
    data = inputs.of(SPHERE).long_run
    if "exact_q" not in data or abs(float(data["time"].values[-1]) - 1) > 1e-9:
        raise NotInRun(f"this run does not contain the exact state of {SPHERE} after 1 s")
    ends = {"exact": data["exact_q"].values[-1]}
    ends |= {str(key): data["q"].values[i, -1] for i, key in enumerate(data["integrator"].values)}
    arrows = {key: arrow(q) for key, q in ends.items()}
    return pd.DataFrame({"x": {k: v[0] for k, v in arrows.items()}, "z": {k: v[2] for k, v in arrows.items()}})


def printed_rows(inputs: Inputs) -> pd.DataFrame:
    """Table 1 as printed, indexed by row; errors in per cent."""
    return inputs.published_numbers("seelen2016_table1").set_index("row")[["x", "z", "error_percent"]].astype(float)


def error_percent(x: float, theory: float) -> float:
    """The error of Table 1: that of the x component relative to the theory's, in per cent."""
    return abs(x - theory) / abs(theory) * 100


def published_ladder(inputs: Inputs) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Our step sizes for their Fig. 3, s, ascending, and their positions among those of the run."""
    data = inputs.of(CYLINDER).errors
    chosen = np.array([name in PUBLISHED for name in data["dt_set"].values]) & np.isfinite(data["dt"].values)
    if "inclination_error_mean" not in data or not chosen.any():
        raise NotInRun(f"this run has no means over time of {CYLINDER} at the published step sizes")
    return data["dt"].values[chosen], chosen


def mean_error(inputs: Inputs, method: str, quantity: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Step sizes of their Fig. 3 in s, ascending, and a mean error over time of one method there."""
    dt, chosen = published_ladder(inputs)
    data = inputs.of(CYLINDER).errors
    if method not in data["integrator"].values:
        raise NotInRun(f"{method} is not in this run")
    order = np.argsort(dt)
    return dt[order], data[quantity].sel(integrator=method).values[chosen][order]


def mean_slope(inputs: Inputs, method: str, quantity: str) -> Order:
    """The order with which a time average falls, fitted where it follows a power law above rounding."""
    dt, error = mean_error(inputs, method, quantity)
    return fit_order(dt, error, float(inputs.of(CYLINDER).errors["end_time"].max()))


def first_spin_error(inputs: Inputs, method: str) -> NDArray[np.float64]:
    """Relative error of the first cylinder's angular velocity at the samples of the long run (Fig. 5b)."""
    data = inputs.of(PAIR).long_run
    if method not in data["integrator"].values or "exact_omega" not in data:
        raise NotInRun(f"this run has no {method} on {PAIR}, or no exact solution there")
    return np.asarray(np.abs(data["omega"].sel(integrator=method).values[:, 0, 0] / data["exact_omega"].values[:, 0, 0] - 1))
