"""Experiments on some methods with random bodies beyond the ensembles: friction that is stiff, and times that are long."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from polhode.ensembles.classes import CLASSES
from polhode.ensembles.draw import Ensemble, draw
from polhode.ensembles.many import march
from polhode.ensembles.reference import errors
from polhode.interface.arrays import about
from polhode.methods import METHODS, dlm1997
from polhode.methods.correctors import corrected
from polhode.methods.free_top import moved
from polhode.methods.protocol import Method, OneTorque
from polhode_study.run.ensemble import method_dataset
from polhode_study.run.ensemble_states import draw_variables, exact_states
from polhode_study.run.making import Settings

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
#: Steps in radians, close enough to show a limit of stability, and the time of Table 1, in radians turned at the initial
#: angular velocity.
FRICTION_STEPS = tuple(1.0 / n for n in (1, *(m * 2**k for k in range(10) for m in (2, 3)), 1024))
TIME = 16.0


def stiff_friction(settings: Settings) -> xr.Dataset:
    """The errors of some methods on random bodies under linear friction of several rates, over rate, integrator, body and step.

    The torque of each body is that of the ensembles, scaled so that the root mean square over all directions of the angular
    acceleration at the start is the rate.
    """
    ensemble = drawn(settings, BODIES)
    runs = []
    for rate in RATES:
        scaled = {key: ensemble.parameters[key] * (rate / ensemble.strength)[:, None] for key in FRICTIONS}
        stiff = replace(ensemble, strength=np.full(len(ensemble), rate), parameters={**ensemble.parameters, **scaled})
        runs.append(_runs(settings, exact_states(stiff, FRICTIONS, (TIME,)), UNDER_FRICTION, FRICTION_STEPS))
    rates: Any = xr.DataArray(
        list(RATES),
        dims="rate",
        name="rate",
        attrs=about("rate of the friction over the initial angular velocity"),
    )
    # What has no rate is the same in all runs.
    return xr.concat(runs, rates).assign({name: runs[0][name] for name in runs[0] if "body" not in runs[0][name].dims})


#: Torques under which errors grow faster than in proportion to time, the methods, the steps and the times in radians.
GROWING = ("lab", "state")
OVER_TIME = ("magnus_adams4", "exact_rotor", "exact_rotor_corrected", "spiral_leapfrog", "no_squish", "verlet")
LONG_STEPS = tuple(2.0**-k for k in range(9))
TIMES = (TIME, 4 * TIME, 16 * TIME)
#: The reference, of fourth order, with its step in radians; a run with twice that step says how far it can be trusted.
REFERENCE, FINEST = "rkmk4", 2.0**-9


def long_times(settings: Settings) -> xr.Dataset:
    """The errors of some methods on random bodies after 16, 64 and 256 radians, over torque_class, integrator, body and step.

    The reference is a run of fourth order with a fine step. ``agreement`` is its distance from one with twice the step, over
    torque_class, body and radians: large where neighbouring motions part so fast that no run follows them.
    """
    ensemble = drawn(settings, BODIES)
    at = np.array(TIMES)
    states, apart = [], []
    for key in GROWING:
        fine, coarse = (
            march(ensemble.bodies(key), METHODS[REFERENCE], CLASSES[key].compiled_torque, dt, np.rint(at / dt).astype(np.int64))
            for dt in (FINEST, 2 * FINEST)
        )
        high = np.concatenate(fine[:2], axis=-1)
        states.append(high)
        apart.append(np.maximum(*errors(coarse[0], coarse[1], high, np.zeros_like(high))))
    over = ("torque_class", "body", "radians")
    high, attributes = np.array(states), about("state by a run of fourth order with a fine step")
    variables: dict[str, Any] = {
        "high": ((*over, "component"), high, attributes),
        "low": ((*over, "component"), np.zeros_like(high), attributes),
        **draw_variables(ensemble, GROWING),
    }
    coords = {
        "torque_class": list(GROWING),
        "radians": ("radians", at, about("radians turned at the initial angular velocity")),
    }
    exact = xr.Dataset(variables, coords, {"seed": ensemble.seed})
    dataset = _runs(settings, exact, OVER_TIME, LONG_STEPS)
    dataset["agreement"] = (over, np.array(apart), about("distance of the reference from that with twice the step"))
    return dataset


#: Strengths of the torque, the angular acceleration in units of the square of the initial angular velocity, and the steps.
STRENGTHS = (0.001, 0.01, 0.1, 1.0, 10.0)
BY_STRENGTH = (
    "exact_rotor",
    "exact_rotor_corrected",
    "rotor_modified_kick",
    "rotor_flat_kick",
    "rotor_gradient4",
    "magnus_adams4",
    "cf4",
    "spiral_leapfrog",
    "no_squish",
    "moser_veselov",
    "dlm1997",
)
#: Splittings that are corrected besides: orders of the corrector, with exact free motion and the method's own.
CORRECTED: tuple[tuple[str, int, Callable[..., Any]], ...] = (
    ("exact_rotor", 3, moved),
    ("exact_rotor", 7, moved),
    ("no_squish", 5, moved),
    ("moser_veselov", 5, moved),
    ("dlm1997", 5, moved),
    ("dlm1997", 5, dlm1997.drift),
)
STRENGTH_STEPS = tuple(2.0**-k for k in range(-1, 11))


def strengths(settings: Settings) -> xr.Dataset:
    """The errors of some methods on random bodies under torques of several strengths, over strength besides.

    The torque of each body is that of the ensembles, scaled. Splittings with a corrector that are not registered
    (:data:`CORRECTED`) run where their splitting is in the study.
    """
    methods = [METHODS[key] for key in BY_STRENGTH if key in settings["methods"]]
    for key, order, drift in CORRECTED:
        splitting = METHODS[key]
        if key in settings["methods"] and isinstance(splitting, OneTorque):
            processed = corrected(splitting, order, drift)
            exact = drift is moved
            methods.append(
                processed
                if exact
                else replace(processed, key=f"{processed.key}_own", label=f"{processed.label}, own free motion")
            )
    ensemble = drawn(settings, BODIES // 2)
    runs = []
    for strength in STRENGTHS:
        parameters = {}
        for key in GROWING:
            # All numbers of these torques are proportional to it but the frequency of a wave, the last.
            factors = np.ones_like(ensemble.parameters[key]) * (strength / ensemble.strength)[:, None]
            if CLASSES[key].parameters[-1] == "nu":
                factors[:, -1] = 1.0
            parameters[key] = ensemble.parameters[key] * factors
        scaled = replace(ensemble, strength=np.full(len(ensemble), strength), parameters={**ensemble.parameters, **parameters})
        runs.append(_runs_of(methods, exact_states(scaled, GROWING, (TIME,)), STRENGTH_STEPS))
    if not methods:
        return xr.Dataset()
    along: Any = xr.DataArray(
        list(STRENGTHS),
        dims="strength",
        name="strength",
        attrs=about("strength of the torque over the squared angular velocity"),
    )
    dataset = xr.concat(runs, along).assign({name: runs[0][name] for name in runs[0] if "body" not in runs[0][name].dims})
    torques = np.array([method.torques_per_step for method in methods], "int32")
    dataset["torques_per_step"] = ("integrator", torques, about("torque evaluations of a step"))
    return dataset


def drawn(settings: Settings, bodies: int) -> Ensemble:
    """The first bodies of the ensembles, drawn as the study draws them; fewer if the settings say so."""
    return draw(min(bodies, settings.get("bodies", bodies)), settings["seed"])


def _runs(settings: Settings, exact: xr.Dataset, methods: Sequence[str], steps: Sequence[float]) -> xr.Dataset:
    """The errors of those of some methods that the study has, over torque_class, integrator, body, step and radians."""
    return _runs_of([METHODS[key] for key in methods if key in settings["methods"]], exact, steps)


def _runs_of(methods: Sequence[Method], exact: xr.Dataset, steps: Sequence[float]) -> xr.Dataset:
    """The same for methods that need not be registered."""
    if not methods:
        return xr.Dataset()
    runs = [method_dataset(method, exact, steps).drop_vars("failed") for method in methods]
    names = [method.key for method in methods]
    keys: Any = xr.DataArray(names, dims="integrator", name="integrator", attrs={"long_name": "key of the method"})
    dataset = xr.concat(runs, keys, combine_attrs="drop_conflicts").transpose("torque_class", "integrator", "body", "step", ...)
    dataset["label"] = ("integrator", [method.label for method in methods], {"long_name": "name of the method"})
    for name in ("error_q", "error_omega"):
        dataset[name] = dataset[name].astype("float32")
    return dataset
