"""Runs on an ensemble of random bodies: one file with the errors of each method."""

import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from polhode.ensembles.classes import CLASSES
from polhode.ensembles.draw import Ensemble
from polhode.ensembles.many import march
from polhode.ensembles.reference import errors
from polhode.interface.arrays import about
from polhode.methods import METHODS
from polhode.methods.protocol import Method

Say = Callable[[str], object]
#: A run is counted as diverged where its angular velocity is further from the exact one, in units of the initial one.
BLOWN_UP = 1e6


def make_errors(
    exact: xr.Dataset, wildcards: Mapping[str, str], settings: Mapping[str, Any], say: Say = print
) -> tuple[xr.Dataset, str]:
    """The errors of a method on random bodies as :func:`method_dataset` has them, and a message for the log.

    ``wildcards`` have the ``method``, ``settings`` the ``steps``.
    """
    method = wildcards["method"]
    dataset = method_dataset(METHODS[method], exact, settings["steps"], method in METHODS.plugins(), say)
    return dataset, f"{int(dataset['diverged'].sum())} runs diverged"


def method_dataset(
    method: Method, exact: xr.Dataset, steps: Sequence[float], plugin: bool = False, say: Say = print
) -> xr.Dataset:
    """The errors of a method over torque_class, body, step and radians, against the exact states.

    A run that blows up is NaN from there on, and ``diverged``. If a plug-in fails in a class, that class is NaN and ``failed``
    says why; a method of the library must not fail.

    Parameters
    ----------
    exact : the draw with its exact states, from :func:`polhode_study.run.ensemble_states.states_dataset`
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
        bodies = ensemble.bodies(key)
        try:
            for j, dt in enumerate(steps):
                at = np.rint(radians / dt).astype(np.int64)
                q, omega, _stored = march(bodies, method, CLASSES[key].compiled_torque, dt, at)
                with np.errstate(over="ignore", invalid="ignore"):
                    of_q, of_omega = errors(q, omega, high, low)
                    # A run that has blown up at one time stays so.
                    lost = np.logical_or.accumulate(~(of_q + of_omega < BLOWN_UP), axis=1)
                error_q[i, :, j], error_omega[i, :, j] = np.where(lost, np.nan, of_q), np.where(lost, np.nan, of_omega)
                diverged[i, :, j] = lost[:, -1]
        except Exception as error:
            if not plugin:
                raise
            failed[i] = f"{type(error).__name__}: {error}"
            error_q[i], error_omega[i], diverged[i] = np.nan, np.nan, 0
            say(f"{method.key}, {key} failed\n{traceback.format_exc()}")
    over = ("torque_class", "body", "step", "radians")
    return xr.Dataset(
        {
            "error_q": (over, error_q, about("angle between computed and exact orientation", "rad")),
            "error_omega": (over, error_omega, about("|omega - exact|, in units of the initial angular velocity")),
            "diverged": (over[:3], diverged, about("whether the run blew up (1) or not (0)")),
            "failed": (
                "torque_class",
                failed,
                {"long_name": "error that ended the runs of this class; empty if there was none"},
            ),
        },
        {
            "torque_class": ("torque_class", classes, {"long_name": "class of torque"}),
            "step": ("step", list(steps), about("step size in radians: initial angular velocity times dt")),
            "radians": ("radians", radians, about("time in radians turned at the initial angular velocity")),
        },
        {"method": method.key},
    )


def _ensemble(exact: xr.Dataset) -> Ensemble:
    """The ensemble in a file of exact states, as it was drawn, whatever machine reads it."""
    parameters = {
        str(key): np.ascontiguousarray(exact["parameters"].values[i][:, : len(CLASSES[str(key)].parameters)])
        for i, key in enumerate(exact["torque_class"].values)
    }
    moments, q0, omega0, strength = (
        np.ascontiguousarray(exact[name].values, dtype=float) for name in ("moments", "q0", "omega0", "strength")
    )
    return Ensemble(int(exact.attrs["seed"]), moments, q0, omega0, strength, parameters)
