"""The draw of an ensemble of random bodies with its exact states, in one file."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from polhode.ensembles.classes import CLASSES
from polhode.ensembles.draw import Ensemble, draw
from polhode.ensembles.reference import reference
from polhode.interface.arrays import about

#: The components of a state, in the order of the reference.
COMPONENTS = ("q0", "qx", "qy", "qz", "omega_x", "omega_y", "omega_z")


def make_states(wildcards: Mapping[str, str], settings: Mapping[str, Any]) -> tuple[xr.Dataset, str]:
    """The draw with its exact states, and a message for the log; ``settings`` are the arguments of :func:`states_dataset`."""
    return states_dataset(**settings), f"{settings['bodies']} bodies"


def states_dataset(bodies: int, seed: int, classes: Sequence[str], radians: Sequence[float]) -> xr.Dataset:
    """:func:`exact_states` of an ensemble that is drawn, see :func:`polhode.ensembles.draw.draw`."""
    return exact_states(draw(bodies, seed), classes, radians)


def exact_states(ensemble: Ensemble, classes: Sequence[str], radians: Sequence[float]) -> xr.Dataset:
    """The bodies of an ensemble and their exact states, over torque_class, body and radians.

    ``high + low`` is the state in double-double arithmetic; ``reference_digits`` are those that two runs share.

    Parameters
    ----------
    classes : keys of torque classes
    radians : ascending times; the initial angular velocity is 1
    """
    times = np.array(radians, dtype=float)
    solutions = [reference(ensemble, key, times) for key in classes]
    high, low, digits = (np.array([solution[i] for solution in solutions]) for i in range(3))
    over = ("torque_class", "body", "radians", "component")
    variables: dict[str, Any] = {
        "high": (over, high, about("exact state, rounded to double precision")),
        "low": (over, low, about("exact state minus its double, itself rounded")),
        "reference_digits": (
            ("torque_class", "body"),
            digits,
            about("digits of the exact state that a second run of another order confirms"),
        ),
        **draw_variables(ensemble, classes),
    }
    return xr.Dataset(
        variables,
        {
            "torque_class": ("torque_class", list(classes), {"long_name": "class of torque"}),
            "radians": ("radians", times, about("time in radians turned at the initial angular velocity")),
            "component": ("component", list(COMPONENTS), {"long_name": "component of the state"}),
        },
        {"seed": ensemble.seed},
    )


def draw_variables(ensemble: Ensemble, classes: Sequence[str]) -> dict[str, Any]:
    """What defines the bodies: moments, start, strength, and the parameters of each class, filled up with NaN."""
    most = max((len(CLASSES[key].parameters) for key in classes), default=0)
    numbers = np.full((len(classes), len(ensemble), max(most, 1)), np.nan)
    for i, key in enumerate(classes):
        values = ensemble.parameters[key]
        numbers[i, :, : values.shape[1]] = values
    return {
        "moments": (("body", "axis3"), ensemble.moments, about("principal moments of inertia, with mean 1")),
        "q0": (("body", "quaternion4"), ensemble.q0, about("initial orientation, body to lab")),
        "omega0": (("body", "axis3"), ensemble.omega0, about("initial angular velocity in the body frame, of length 1")),
        "strength": (
            "body",
            ensemble.strength,
            about("root-mean-square angular acceleration by the torque, in squares of the initial angular velocity"),
        ),
        "parameters": (("torque_class", "body", "parameter"), numbers, about("numbers of the torque; NaN beyond the last")),
    }
