"""One law for the energy of bodies that collide: the error over the time step in units of the contact time.

A leapfrog leaves in each contact an error of either sign that grows as (dt/T)^(5/2), where T is the contact time. The errors of
many contacts add up like the steps of a random walk: over n bodies, each of which has been in contact for N T, to sqrt(N n) of
them, and relative to an energy that is proportional to n to sqrt(N/n).

``data`` is a scene's group of many_body.nc, with ``energy_error_mean`` (the mean over the run of abs(dE/E0), no unit),
``diverged`` and ``contacts`` over integrator, dt (s) and seed, and ``scenes`` are several by name. ``method`` is a key. Lines
are fitted over the steps up to :data:`COARSEST` contact times at which all runs lasted and all errors are above
:data:`ROUND_OFF`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import gamma, isfinite, nan, pi, sqrt

import numpy as np
import pandas as pd
import xarray as xr

from polhode.fits import NotInRun, laws
from polhode.fits.errors_of_steps import ErrorsOfSteps
from polhode.fits.largest_step import SHARE_OF_CASES, largest_step
from polhode.fits.orders import straight_line
from polhode.fits.seed_statistics import Estimate, median, ranks

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
#: The case for which steps are stated: each of so many bodies is in contact for so many contact times during the run.
CONTACTS, BODIES = 16.0, 32
#: Errors of either sign, whose exponent is that of the law within this, grow as the root of the time in contact.
LAWFUL = 0.25
#: The largest value of a random walk over its mean, both of its size and as means over walks: 3 pi/4.
LARGEST_OVER_MEAN = 0.75 * pi


def names(scenes: Mapping[str, xr.Dataset]) -> dict[str, str]:
    """Name of a scene in the configuration -> what to call the scene in figures and tables.

    A scene is called as it declares ("rods in a box"), without the box that all have. Where two are the same but for the spin,
    the one without says so; what is then still called alike is distinguished by its name in the configuration.
    """
    called = {name: str(data.attrs.get("label", name)).removesuffix(" in a box") for name, data in scenes.items()}
    for name, data in scenes.items():
        if list(called.values()).count(called[name]) > 1 and data.attrs.get("spin") == 0:
            called[name] += ", no spin"
    alike = [name for name in called if list(called.values()).count(called[name]) > 1]
    return called | {name: f"{called[name]} ({name})" for name in alike}


def names_with_states(scenes: Mapping[str, xr.Dataset]) -> dict[str, str]:
    """As :func:`names`, with the number of initial states of each scene where they differ."""
    called, states = names(scenes), {name: data.sizes["seed"] for name, data in scenes.items()}
    if len(set(states.values())) < 2:
        return called
    return {name: f"{called[name]}, {states[name]} states" for name in scenes}


def relative_steps(data: xr.Dataset) -> np.ndarray:
    """The step sizes of a scene in units of its contact time (dt,)."""
    return np.asarray(data["dt"].values / float(data.attrs["contact_time"]))


def time_in_contact(data: xr.Dataset) -> float:
    """N: touching pairs of spheres, summed over the steps in contact times, per clump; median over all runs that lasted.

    A number of contact times; NaN if no run lasted.
    """
    lasted = data["contacts"].where(data["diverged"] == 0)
    return float(lasted.median()) if bool(lasted.notnull().any()) else nan


def relative_contacts(data: xr.Dataset) -> float:
    """N/n: the time in contact of each clump, in contact times, over the number of clumps."""
    return time_in_contact(data) / int(data.attrs["clumps"])


def reduced_errors(data: xr.Dataset, method: str) -> np.ndarray:
    """Mean energy error of every run over sqrt(N/n), no unit (dt, seed); inf where a run blew up or was not made.

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
    usable = (step <= COARSEST) & np.isfinite(error).all(axis=1) & (error > ROUND_OFF).all(axis=1)
    return step[usable], error[usable]


def exponent(data: xr.Dataset, method: str, longest: bool = True) -> Estimate:
    """The exponent of the time step: the slope of a straight line in logarithms for each state, and the median of these.

    ``longest``: with the longest step, at which the fewest steps make a contact. NaN with less than :data:`LEAST_STEPS` steps;
    :class:`~polhode.fits.NotInRun` if the scene was not run with the method.
    """
    step, error = _usable(data, method)
    if not longest:
        step, error = step[:-1], error[:-1]
    if len(step) < LEAST_STEPS:
        return Estimate(nan)
    return median(straight_line(np.log(step), np.log(error).T)[0])


def coefficient(data: xr.Dataset, method: str) -> Estimate:
    """C of error = C sqrt(N/n) (dt/T)^(5/2), no unit: the geometric mean over the steps for each state, and the median of
    these.

    NaN with less than :data:`LEAST_STEPS` steps; :class:`~polhode.fits.NotInRun` if the scene was not run with the method.
    """
    step, error = _usable(data, method)
    if len(step) < LEAST_STEPS:
        return Estimate(nan)
    return median(np.exp(np.log(error / step[:, None] ** EXPONENT).mean(axis=0)))


def at_step(data: xr.Dataset, method: str, step: float = SHOWN) -> Estimate:
    """The error over sqrt(N/n), no unit, at a step in contact times, from each state's line in logarithms.

    NaN outside the steps of the fit, and with less than :data:`LEAST_STEPS` of them; :class:`~polhode.fits.NotInRun` if the
    scene was not run with the method.
    """
    steps, error = _usable(data, method)
    if len(steps) < LEAST_STEPS or not steps.min() <= step <= steps.max():
        return Estimate(nan)
    slope, offset, _ = straight_line(np.log(steps), np.log(error).T)
    return median(np.exp(offset + slope * np.log(step)))


def law(scenes: Mapping[str, xr.Dataset], method: str = LEADING) -> tuple[float, float, float]:
    """The coefficient C (no unit) of all scenes together: its geometric mean over the scenes, the smallest and the largest.

    NaN if no scene was run with the method at enough steps.
    """
    values = [coefficient(data, method).value for data in scenes.values() if method in data["integrator"].values]
    values = [value for value in values if np.isfinite(value)]
    return (float(np.exp(np.mean(np.log(values)))), min(values), max(values)) if values else (nan, nan, nan)


def contact_time_over_depth() -> float:
    """T v/delta, a number: the time T of a head-on Hertz contact at speed v with the largest overlap delta, in units of
    delta/v.
    """
    return float(0.8 * sqrt(pi) * gamma(0.4) / gamma(0.9))


def bounce() -> float:
    """The root mean square of |dE|/E0 over (dt/T)^(5/2) that a leapfrog leaves in one head-on bounce of one body, 1.02.

    The sum of kicks at an edge of a contact differs from the work of the force by zeta(-3/2, phi), the Hurwitz zeta function
    of the phase phi of the edge between two steps, in units of the force at the overlap v dt times v dt. Its mean square over
    the phase follows from its Fourier series; a bounce has two edges.
    """
    from scipy.special import zeta  # takes as long to import as half of an answer, which needs none

    edge = 2 * gamma(EXPONENT) / (2 * pi) ** EXPONENT * sqrt(float(zeta(2 * EXPONENT)) / 2)
    return float(2.5 * contact_time_over_depth() ** EXPONENT * sqrt(2) * edge)


def head_on() -> float:
    """C, a number, if every contact were head-on at the initial speed: a bounce, and the mean over a random walk of its
    size.
    """
    return bounce() * 2 / 3 * sqrt(2 / pi)


@dataclass(frozen=True)
class Curve(ErrorsOfSteps):
    """The energy errors of a method on a scene: the mean |dE/E0| over the run of each of its states.

    ``share`` and ``errors`` (no unit) are as in :class:`~polhode.fits.errors_of_steps.ErrorsOfSteps`, over steps and states.

    Parameters
    ----------
    scene, label : key of the group and its name
    method : key
    spin : of the bodies at the start, rad/s
    clumps : number of bodies
    horizon : s
    contacts : float
        The time that each body was in contact during a run, in contact times; NaN where it was not measured.
    """

    scene: str
    label: str
    method: str
    spin: float
    clumps: int
    horizon: float
    contacts: float

    @property
    def kind(self) -> tuple[str, int, float]:
        """The label, the number of clumps and the spin, which runs of the same bodies with the same spin have in common."""
        return self.label, self.clumps, self.spin

    def of_contacts(self, contacts: float, exponent: float) -> "Curve":
        """The errors of :data:`BODIES` bodies in contact for ``contacts`` contact times; as they are if the time was not
        measured.

        ``exponent``: the power of the step with which the errors of the method grow (:func:`common_exponent`).

        Errors of either sign grow as the root of that time over the number of bodies. Those of a method that does not follow
        the law may have one sign and add up in proportion to the time; of the two the larger is taken.
        """
        if not isfinite(self.contacts):
            return self
        longer, bodies = contacts / self.contacts, self.clumps / BODIES
        factor = sqrt(longer * bodies)
        if not abs(exponent - EXPONENT) <= LAWFUL:
            factor = max(factor, longer)
        return replace(self, errors=self.errors * factor)


def curves(name: str, data: xr.Dataset) -> Iterator[Curve]:
    """The energy errors of every method on a scene, each with the steps at which all its states were run.

    ``name``: the key of the scene, which is its label where ``data`` has none.
    """
    time = float(data.attrs["contact_time"])
    contacts = time_in_contact(data) if "contacts" in data else nan
    data = data.sortby("dt")
    about = (str(data.attrs.get("label", name)), float(data.attrs.get("spin", nan)), int(data.attrs["clumps"]))
    horizon = float(data.attrs.get("horizon", nan))
    for key in map(str, data["integrator"].values):
        of_method = data.sel(integrator=key)
        errors = of_method["energy_error_mean"].transpose("dt", "seed").values
        errors = np.where(of_method["diverged"].transpose("dt", "seed").values == 1, np.inf, errors)
        run = ~np.isnan(errors).any(axis=1)
        if run.any():
            share = of_method["dt"].values[run] / time
            yield Curve(share, errors[run], name, about[0], key, about[1], about[2], horizon, contacts)


def common_exponent(of_method: Iterable[Curve]) -> float:
    """The power p of the step with which the error of a method grows, a number: the median of its curves, or NaN."""
    known = [curve.exponent for curve in of_method if isfinite(curve.exponent)]
    return float(np.median(known)) if known else nan


def steps_of_scenes(
    of_method: Sequence[Curve], error: float, contacts: float = CONTACTS, fraction: float = SHARE_OF_CASES
) -> np.ndarray:
    """Steps in a contact time that keep the mean error of the energy below ``error`` in this part of the states (scene,).

    With every step a state is another draw of the random walk. A line through two draws scatters less than a run does; the
    quantiles are therefore those of the errors with each step, and between two steps they are powers of the step.

    Parameters
    ----------
    of_method : the curves of a method on some scenes
    error : the mean relative error of the energy, greater than zero
    contacts : the time that each of :data:`BODIES` bodies is in contact, in contact times
    fraction : the part of the states, from 0 to 1

    Returns
    -------
    An array (scene,) without a unit: infinite where no step meets the error, NaN where nothing was run.

    Raises
    ------
    ValueError
        If the error is no positive number.
    """
    power = common_exponent(of_method)
    every = [curve.of_contacts(contacts, power) for curve in of_method]
    quantiles = [
        np.median(curve.errors, axis=1) if fraction == 0.5 else laws.quantile(curve.errors, fraction) for curve in every
    ]
    with np.errstate(divide="ignore"):
        return np.array(
            [1 / largest_step(curve.share, of, error, power)[0] for curve, of in zip(every, quantiles, strict=True)]
        )


def steps_in_contact(of_method: Sequence[Curve], error: float, contacts: float = CONTACTS) -> laws.Spread:
    """Steps in a contact time for an error of the energy: the one answer for bodies that collide.

    The error is the mean over the run of |dE/E0|, what contacts leave behind; within a contact the energy oscillates by more,
    which it gives back. By a random walk the largest error of a run is :data:`LARGEST_OVER_MEAN` times the mean: where that is
    to stay below an error, ask for as much less. The contact time is that of a head-on collision with a wall. Below the finest
    step that was run the error is the power of :func:`common_exponent` of the step.

    Parameters
    ----------
    of_method : the curves of a method on some scenes
    error : the mean relative error of the energy
    contacts : the time that each of :data:`BODIES` bodies is in contact, in contact times

    Returns
    -------
    The steps sufficient for half of the states, the geometric mean over the scenes; a tenth of them in the scene that asks
    least; and nine tenths in the one that asks most. Infinite where that is not reached, NaN without scenes.

    Raises
    ------
    ValueError
        If the error is no positive number.
    """
    if not of_method:
        return laws.Spread(*(np.asarray(nan),) * 3)
    fractions = (0.5, 1 - SHARE_OF_CASES, SHARE_OF_CASES)
    middle, low, high = (steps_of_scenes(of_method, error, contacts, fraction) for fraction in fractions)
    return laws.Spread(np.exp(np.mean(np.log(middle))), np.min(low), np.max(high))


def frame(scenes: Mapping[str, xr.Dataset]) -> pd.DataFrame:
    """A row for each method and scene: time in contact, exponent, coefficient, error at the shown step, with intervals.

    The columns are ``method``, its ``label``, ``scene``, ``contact_time_s``, ``source`` ("released" or "this run"), ``states``
    (how many), ``coverage`` of the intervals, ``contacts`` (contact times) and, each with ``_low`` and ``_high``, ``exponent``,
    ``coefficient`` and ``error_at_shown_step``, the results of :func:`exponent`, :func:`coefficient` and :func:`at_step`.
    """
    rows = []
    for name, data in scenes.items():
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
