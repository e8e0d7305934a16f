"""What damped and heated librations do to the energy of a liquid, from the growth of a libration a step."""

import numpy as np
from numpy.typing import ArrayLike


def energy_drift(
    turns: ArrayLike, growth: ArrayLike, power: int, dt: float, frequencies: ArrayLike, weights: ArrayLike | None = None
) -> float:
    """The energy that a method adds to a librational mode, in kT per unit of time: the mean of 2 ln|lambda(Omega dt)|/dt.

    Each mode holds kT, of which a step adds 2 ln|lambda| and the other motions take it away; a negative value is what a liquid
    loses. A rigid body has three such modes among its six degrees of freedom: per degree of freedom the drift is half of this.

    Parameters
    ----------
    turns, growth : (n,)
        ln|lambda| of a method over x = Omega dt, from ``checks/librations.nc`` or :func:`polhode.methods.libration.growth`.
    power : int
        The power of x with which the growth begins, 0 if there is none: growth/x^power is what is interpolated, and constant
        below the first turn.
    dt : time step, in the unit of time of the frequencies
    frequencies : (m,)
        Angular frequencies of librations in radians per unit of time, such as those of a spectrum of angular velocities.
    weights : (m,), optional
        Their weights; equal by default.

    Raises
    ------
    ValueError
        If a turn is beyond the last of ``turns``.
    """
    turns, x = np.asarray(turns, float), np.asarray(frequencies, float) * dt
    shares = np.ones_like(x) if weights is None else np.asarray(weights, float)
    if x.max() > turns[-1]:
        raise ValueError(f"frequencies: {x.max() / dt:g} is a turn of {x.max():g} in a step of {dt:g}, beyond {turns[-1]:g}")
    of_turns = np.interp(x, turns, np.asarray(growth, float) / turns**power) * x**power
    return float(2 / dt * np.average(of_turns, weights=shares))
