"""The check ``librations``: growth and frequency of a librating body a step, and limit of stability, of every method.

See :mod:`polhode.methods.libration` for what is computed, and :mod:`polhode.fits.librations` for what it does to a liquid.
"""

from contextlib import suppress
from math import nan

import numpy as np
import xarray as xr

from polhode.interface.arrays import about
from polhode.methods import METHODS
from polhode.methods.libration import TURNS, growth, libration
from polhode.study.run.making import Settings

#: The numbers of each method: name -> what it is.
NUMBERS = {
    "power": "power of Omega dt with which ln|lambda| begins; 0 if it is rounding",
    "coefficient": "its coefficient; positive if librations grow",
    "shift_power": "power of Omega dt with which the relative shift of the frequency begins",
    "shift_coefficient": "its coefficient",
    "limit": "Omega dt above which librations grow; 0 if they always do, infinite if they never did",
}


def librations(settings: Settings) -> xr.Dataset:
    """The roots of the linearised step of every method about rest; NaN where a user's own kernels cannot be run so."""
    keys = settings["methods"]
    curves, numbers = np.full((len(keys), len(TURNS)), nan), np.full((len(keys), len(NUMBERS)), nan)
    for i, key in enumerate(keys):
        with suppress(ValueError, ArithmeticError, np.linalg.LinAlgError):
            of_method = libration(METHODS[key])
            numbers[i] = *of_method.growth, *of_method.shift, of_method.limit
            curves[i] = [growth(METHODS[key], float(turn)) for turn in TURNS]
    return xr.Dataset(
        {
            "growth": (("integrator", "turn"), curves, about("ln|lambda| of the largest root: growth of a libration a step")),
            **{name: ("integrator", numbers[:, k], about(text)) for k, (name, text) in enumerate(NUMBERS.items())},
        },
        {"integrator": list(keys), "turn": ("turn", TURNS, about("Omega dt, radians of the libration in a step"))},
    )
