r"""The check ``librations``: what every method does to a librating body, by the roots of its step and at thermal amplitudes.

The roots (:mod:`polhode.methods.libration`) are those of small librations; :mod:`polhode.fits.librations` says what they do to
a liquid. Where they leave the energy alone, terms of higher order decide: those of the gyroscopic term and of the turn. They
are seen in a single molecule of water that librates at 300 K in a field with the potential

.. math::

   U = 2 K (q_x^2 + q_y^2 + q_z^2), \qquad M = -2 K q_0 (q_x, q_y, q_z), \qquad \Omega_k^2 = K / I_k .

A torsional spring as stiff about all axes is set by the fastest libration and gives the others: 900, 600 and 500 /cm are about
what water has. The starts are drawn from small librations in equilibrium. Energy is counted per degree of freedom of a molecule
in a liquid, which has six.
"""

from contextlib import suppress
from math import nan, pi

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from polhode.algebra.body import Body
from polhode.compiling.kernel import compile_torque
from polhode.interface.arrays import about
from polhode.manybody.molecules import MOLECULES
from polhode.manybody.units import REAL
from polhode.methods import METHODS
from polhode.methods.libration import TURNS, growth, libration
from polhode.methods.protocol import Method
from polhode_study.run.making import Settings

Array = NDArray[np.float64]

#: The numbers of each method: name -> what it is.
NUMBERS = {
    "power": "power of Omega dt with which ln|lambda| begins; 0 if it is rounding",
    "coefficient": "coefficient of this power in ln|lambda|; positive if librations grow",
    "shift_power": "power of Omega dt with which the relative shift of the frequency begins",
    "shift_coefficient": "coefficient of this power in the shift",
    "limit": "Omega dt above which librations grow; 0 if they always do, infinite if they never did",
}
#: The molecule, its temperature, K, its fastest libration, cm^-1, and 2 pi c, radians per fs of a wave number of 1/cm.
MOLECULE, TEMPERATURE, FASTEST, WAVE_NUMBER = "spce", 300.0, 900.0, 2 * pi * 2.99792458e-5
#: Time steps, fs; starts; duration, fs; samples of the energy, whose first and last fifths are compared.
STEPS, STARTS, DURATION, SAMPLES = (1.0, 2.0, 4.0), 64, 10_000.0, 1000
#: A run is lost when its energy has changed by so many times the mean one.
LOST_ENERGY = 1.0


def field(t: object, q: tuple[float, ...], omega: object, parameters: tuple[float, ...]) -> tuple[float, ...]:
    """The torque of the spring in the body frame; ``parameters[0]`` is its stiffness K."""
    pull = -2 * parameters[0] * q[0]
    return (pull * q[1], pull * q[2], pull * q[3])


def thermal_drift(method: Method, dt: float, seed: int) -> tuple[float, float]:
    """Drift of the energy of a librating molecule in kT per ns and degree of freedom, and its standard error over starts.

    Infinite if the energy of a start has changed by :data:`LOST_ENERGY` times the mean one, 3 kT, or is not a number.
    """
    moments = np.array(MOLECULES[MOLECULE].inertia)
    stiffness = moments[0] * (FASTEST * WAVE_NUMBER) ** 2
    kt = REAL.boltzmann * TEMPERATURE / REAL.energy
    random = np.random.default_rng(seed)
    steps = np.unique(np.linspace(0, round(DURATION / dt), SAMPLES).astype(np.int64))
    torque, body = compile_torque(field), Body(tuple(moments)).coefficients()
    slopes = []
    for _ in range(STARTS):
        turn, omega = random.normal(size=3) * np.sqrt(kt / stiffness), random.normal(size=3) * np.sqrt(kt / moments)
        start = np.array([1.0, *turn / 2]) / np.hypot(1.0, np.linalg.norm(turn / 2))
        q, w, *_ = method.integrate(tuple(start), tuple(omega), body, torque, np.array([stiffness]), dt, steps)
        with np.errstate(over="ignore"):
            energy = (0.5 * w**2 @ moments + 2 * stiffness * (q[:, 1:] ** 2).sum(axis=1)) / kt
        if not np.abs(energy - energy[0]).max() < 3 * LOST_ENERGY:
            return np.inf, nan
        fifth = len(steps) // 5
        between = dt * (steps[-fifth:].mean() - steps[:fifth].mean())
        slopes.append((energy[-fifth:].mean() - energy[:fifth].mean()) / between * 1e6 / 6)
    return float(np.mean(slopes)), float(np.std(slopes, ddof=1) / STARTS**0.5)


def librations(settings: Settings) -> xr.Dataset:
    """The roots of every method's step about rest, linearised, and the drift at thermal amplitudes where they leave it open.

    NaN where a user's own kernels cannot be run in plain Python; for the drift, where the roots are not those of a steady
    libration.
    """
    keys = settings["methods"]
    curves, numbers = np.full((len(keys), len(TURNS)), nan), np.full((len(keys), len(NUMBERS)), nan)
    drifts = np.full((2, len(keys), len(STEPS)), nan)
    for i, key in enumerate(keys):
        with suppress(ValueError, ArithmeticError, np.linalg.LinAlgError):
            of_method = libration(METHODS[key])
            numbers[i] = *of_method.growth, *of_method.shift, of_method.limit
            curves[i] = [growth(METHODS[key], float(turn)) for turn in TURNS]
            if not of_method.growth.power:
                drifts[:, i] = np.transpose([thermal_drift(METHODS[key], dt, settings["seed"]) for dt in STEPS])
    thermal = ("integrator", "dt")
    return xr.Dataset(
        {
            "growth": (("integrator", "turn"), curves, about("ln|lambda| of the largest root: growth of a libration a step")),
            **{name: ("integrator", numbers[:, k], about(text)) for k, (name, text) in enumerate(NUMBERS.items())},
            "thermal_drift": (thermal, drifts[0], about("drift of a librating molecule per degree of freedom, kT", "ns-1")),
            "thermal_error": (thermal, drifts[1], about("standard error over starts of the same", "ns-1")),
        },
        {
            "integrator": list(keys),
            "turn": ("turn", TURNS, about("Omega dt, radians of the libration in a step")),
            "dt": ("dt", list(STEPS), about("time step", "fs")),
        },
        {
            "molecule": MOLECULES[MOLECULE].label,
            "temperature": TEMPERATURE,
            "fastest_libration": FASTEST,
            "starts": STARTS,
            "seed": settings["seed"],
        },
    )
