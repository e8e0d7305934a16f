"""Experiments on some methods with random bodies beyond the ensembles: friction that is stiff, and times that are long."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from polhode.ensembles.draw import Ensemble, draw
from polhode.methods import METHODS
from polhode.study.configuration import Study
from polhode.study.run.ensemble import method_dataset
from polhode.study.run.ensemble_states import exact_states

#: The number of bodies: the first of those of the ensembles.
BODIES = 32
#: The rates of friction, in units of the initial angular velocity.
RATES = (0.3, 1.0, 3.0, 10.0, 30.0)
#: Methods with one torque that predict or extrapolate the angular velocity, and what is usual.
UNDER_FRICTION = (
    "spiral_leapfrog",
    "spiral_predicted",
    "spiral_predicted_last",
    "exact_rotor",
    "pcdm2016",
    "magnus_adams4",
    "verlet",
    "omelyan1998",
)
FRICTIONS = ("friction_isotropic", "friction_anisotropic")
#: Steps in radians, and the time of Table 1, in radians turned at the initial angular velocity.
FRICTION_STEPS = tuple(2.0**-k for k in range(11))
TIME = 16.0


def stiff_friction(study: Study) -> xr.Dataset:
    """The errors of some methods on random bodies under linear friction of several rates, over rate, method, body and step.

    The torque of each body is that of the ensembles, scaled so that the root mean square over all directions of the angular
    acceleration at the start is the rate.
    """
    ensemble = _drawn(study)
    runs = []
    for rate in RATES:
        scaled = {key: ensemble.parameters[key] * (rate / ensemble.strength)[:, None] for key in FRICTIONS}
        stiff = replace(ensemble, strength=np.full(len(ensemble), rate), parameters={**ensemble.parameters, **scaled})
        runs.append(_runs(study, stiff, FRICTIONS, UNDER_FRICTION, FRICTION_STEPS, (TIME,)))
    rates: Any = xr.DataArray(
        list(RATES),
        dims="rate",
        name="rate",
        attrs={"long_name": "rate of the friction over the initial angular velocity", "units": "1"},
    )
    return xr.concat(runs, rates)


#: Torques under which errors grow faster than in proportion to time, the methods, the steps and the times in radians.
GROWING = ("lab", "state")
OVER_TIME = ("magnus_adams4", "exact_rotor", "spiral_leapfrog", "no_squish", "verlet")
LONG_STEPS = tuple(2.0**-k for k in range(9))
TIMES = (TIME, 4 * TIME, 16 * TIME)


def long_times(study: Study) -> xr.Dataset:
    """The errors of some methods on random bodies after 16, 64 and 256 radians, over torque_class, method, body and step."""
    return _runs(study, _drawn(study), GROWING, OVER_TIME, LONG_STEPS, TIMES)


def _drawn(study: Study) -> Ensemble:
    return draw(BODIES, study.ensembles.seed if study.ensembles is not None else 0)


def _runs(
    study: Study,
    ensemble: Ensemble,
    classes: Sequence[str],
    methods: Sequence[str],
    steps: Sequence[float],
    radians: Sequence[float],
) -> xr.Dataset:
    """The errors of those of some methods that the study has, over torque_class, method, body, step and radians."""
    exact = exact_states(ensemble, classes, radians)
    chosen = [key for key in methods if key in study.methods]
    labels = [METHODS[key].label for key in chosen]
    runs = [method_dataset(METHODS[key], exact, steps).drop_vars("failed") for key in chosen]
    if not runs:
        return xr.Dataset()
    keys: Any = xr.DataArray(chosen, dims="method", name="method", attrs={"long_name": "key of the method"})
    found = xr.concat(runs, keys, combine_attrs="drop").transpose("torque_class", "method", "body", "step", ...)
    found["label"] = ("method", labels, {"long_name": "name of the method"})
    for name in ("error_q", "error_omega"):
        found[name] = found[name].astype("float32")
    found["reference_digits"] = exact["reference_digits"]
    return found
