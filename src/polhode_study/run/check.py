"""An experiment on single methods, by its name, and what the experiments of several chapters share."""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.algebra.quaternion import normalise
from polhode.compiling.kernel import kernel
from polhode.methods import METHODS, fincham1992
from polhode.methods.protocol import Method
from polhode.problems import PROBLEMS
from polhode.problems.system import System
from polhode.references import taylor
from polhode_study.checks import CHECKS
from polhode_study.released import FOLDER, Release, check_file, this_machine, whole
from polhode_study.run.making import Settings

if TYPE_CHECKING:
    import xarray as xr


def make_check(wildcards: Mapping[str, str], settings: Settings) -> "tuple[xr.Dataset, str]":
    """The experiment ``check``, and a message for the log; with a ``release`` from there, if its witness does not differ.

    Parameters
    ----------
    wildcards : the name of the ``check``
    settings : the keys of the ``methods``, the ``seed``, and what the check declares
    """
    check = wildcards["check"]
    module, function = CHECKS[check].code.split(":")
    data = getattr(import_module(module), function)(settings)
    if "release" not in settings:
        return data, "made"
    data = data.drop_vars(CHECKS[check].of_all, errors="ignore")
    data = whole(Release(FOLDER), check_file(check), data, settings["shown"], this_machine(), CHECKS[check].all_methods)
    return data, f"from the release; witness: {data.attrs['witness']}"


#: Digits of the exact solutions, well beyond double precision.
DIGITS = 20


def problem_of(key: str) -> Any:
    """The registered problem with this key."""
    return PROBLEMS[key]


def chosen_methods(settings: Settings) -> dict[str, Method]:
    """The methods of the study by key."""
    return {key: METHODS[key] for key in settings["methods"]}


def exact_end(problem: Any) -> dict[str, np.ndarray]:
    """The exact state at the horizon, in double precision: q, omega of one body; for several also r, v (bodies, 3)."""
    if isinstance(problem, System):
        (bodies,) = taylor.solve_system(problem, [problem.horizon], DIGITS)
        return {name: np.array([[float(x) for x in b[i]] for b in bodies]) for i, name in enumerate(("r", "v", "q", "omega"))}
    ((q, omega),) = taylor.solve(problem, [problem.horizon], DIGITS)
    return {"q": np.array([float(x) for x in q]), "omega": np.array([float(x) for x in omega])}


def fincham_normalised() -> Method:
    """Fincham's leapfrog with the half-step quaternion also normalised."""

    @kernel
    def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        momentum, half = fincham1992.half_step(state, torque, body, dt)
        half = normalise(half)
        return fincham1992.full_step(state[:4], momentum, half, half, body, dt)

    return replace(fincham1992.METHOD, key="fincham_normalised", after_torque=after_torque)
