"""Runs on ensembles of random bodies: the draw with its exact states in one file, and one file with the errors of each method."""

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from polhode.ensembles.classes import CLASSES
from polhode.ensembles.draw import Ensemble, draw
from polhode.ensembles.many import march
from polhode.ensembles.reference import errors, reference
from polhode.methods.protocol import Method

Say = Callable[[str], object]
#: The components of a state, in the order of the reference.
COMPONENTS = ("q0", "qx", "qy", "qz", "omega_x", "omega_y", "omega_z")


def reference_dataset(bodies: int, seed: int, classes: Sequence[str], radians: Sequence[float]) -> xr.Dataset:
    """The draw of an ensemble and its exact states, over torque_class, body and radians.

    ``high + low`` is the state in double-double arithmetic; ``reference_digits`` are those that two runs of different order share.

    Parameters
    ----------
    bodies, seed : see :func:`polhode.ensembles.draw.draw`
    classes : keys of torque classes
    radians : ascending times; the initial angular velocity is 1
    """
    ensemble = draw(bodies, seed)
    times = np.array(radians, dtype=float)
    found = [reference(ensemble, key, times) for key in classes]
    high, low, digits = (np.array([one[i] for one in found]) for i in range(3))
    over = ("torque_class", "body", "radians", "component")
    variables: dict[str, Any] = {
        "high": (over, high, _attrs("exact state, rounded to double precision")),
        "low": (over, low, _attrs("exact state minus its double, itself rounded")),
        "reference_digits": (
            ("torque_class", "body"),
            digits,
            _attrs("digits of the exact state that a second run of another order confirms"),
        ),
        **draw_variables(ensemble, classes),
    }
    return xr.Dataset(
        variables,
        {
            "torque_class": ("torque_class", list(classes), {"long_name": "class of torque"}),
            "radians": ("radians", times, _attrs("time in radians turned at the initial angular velocity")),
            "component": ("component", list(COMPONENTS), {"long_name": "component of the state"}),
        },
    )


def draw_variables(ensemble: Ensemble, classes: Sequence[str]) -> dict[str, Any]:
    """What defines the bodies: moments, start, strength, and the parameters of each class, filled up with NaN."""
    most = max((len(CLASSES[key].parameters) for key in classes), default=0)
    numbers = np.full((len(classes), len(ensemble), max(most, 1)), np.nan)
    for i, key in enumerate(classes):
        values = ensemble.parameters[key]
        numbers[i, :, : values.shape[1]] = values
    return {
        "moments": (("body", "axis3"), ensemble.moments, _attrs("principal moments of inertia, with mean 1")),
        "q0": (("body", "quaternion4"), ensemble.q0, _attrs("initial orientation, body to lab")),
        "omega0": (("body", "axis3"), ensemble.omega0, _attrs("initial angular velocity in the body frame, of length 1")),
        "strength": (
            "body",
            ensemble.strength,
            _attrs("root-mean-square angular acceleration by the torque, in squares of the initial angular velocity"),
        ),
        "parameters": (("torque_class", "body", "parameter"), numbers, _attrs("numbers of the torque; NaN beyond the last")),
    }


def method_dataset(method: Method, exact: xr.Dataset, steps: Sequence[float], plugin: bool = False, say: Say = print) -> xr.Dataset:
    """The errors of a method over torque_class, body, step and radians, against the states of :func:`reference_dataset`.

    A run that blows up is NaN from there on, and ``diverged``. If a plug-in fails in a class, that class is NaN and ``failed``
    says why; a method of the library must not fail.

    Parameters
    ----------
    steps : step sizes in radians that divide all times of ``exact``
    plugin : whether the method is a user's own
    say : called with a line about each class
    """
    classes = [str(key) for key in exact["torque_class"].values]
    radians = exact["radians"].values
    shape = len(classes), exact.sizes["body"], len(steps), len(radians)
    error_q, error_omega = np.full(shape, np.nan), np.full(shape, np.nan)
    diverged = np.zeros(shape[:3], dtype="int8")
    failed = [""] * len(classes)
    ensemble = _ensemble(exact)
    for i, key in enumerate(classes):
        high, low = exact["high"].values[i], exact["low"].values[i]
        try:
            for j, dt in enumerate(steps):
                at = np.rint(radians / dt).astype(np.int64)
                q, omega, _stored = march(ensemble.bodies(key), method, CLASSES[key].compiled_torque, dt, at)
                with np.errstate(over="ignore", invalid="ignore"):
                    error_q[i, :, j], error_omega[i, :, j] = errors(q, omega, high, low)
                diverged[i, :, j] = ~np.isfinite(error_q[i, :, j] + error_omega[i, :, j]).all(axis=1)
        except Exception as error:
            if not plugin:
                raise
            failed[i] = f"{type(error).__name__}: {error}"
            error_q[i], error_omega[i], diverged[i] = np.nan, np.nan, 0
            say(f"{method.key}, {key} failed\n{traceback.format_exc()}")
    over = ("torque_class", "body", "step", "radians")
    return xr.Dataset(
        {
            "error_q": (over, error_q, {"long_name": "angle between computed and exact orientation", "units": "rad"}),
            "error_omega": (over, error_omega, _attrs("|omega - exact|, in units of the initial angular velocity")),
            "diverged": (over[:3], diverged, _attrs("whether the run blew up (1) or not (0)")),
            "failed": ("torque_class", failed, {"long_name": "error that ended the runs of this class; empty if there was none"}),
        },
        {
            "torque_class": ("torque_class", classes, {"long_name": "class of torque"}),
            "step": ("step", list(steps), _attrs("step size in radians: initial angular velocity times dt")),
            "radians": ("radians", radians, _attrs("time in radians turned at the initial angular velocity")),
        },
        {"method": method.key},
    )


def _ensemble(exact: xr.Dataset) -> Ensemble:
    """The ensemble in a file of :func:`reference_dataset`, as it was drawn, whatever machine reads it."""
    parameters = {
        str(key): np.ascontiguousarray(exact["parameters"].values[i][:, : len(CLASSES[str(key)].parameters)])
        for i, key in enumerate(exact["torque_class"].values)
    }
    values = (np.ascontiguousarray(exact[name].values, dtype=float) for name in ("moments", "q0", "omega0", "strength"))
    return Ensemble(0, *values, parameters=parameters)


def _attrs(long_name: str, units: str = "1") -> dict[str, str]:
    return {"long_name": long_name, "units": units}
