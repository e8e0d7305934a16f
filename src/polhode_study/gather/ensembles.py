"""All files of the ensembles, and the laws that their errors follow, into one dataset: ensembles.nc.

Errors are stored in single precision. The laws are fitted here, in half a second; the report fits them again, in double
precision, and a test requires the same numbers from both.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from polhode.ensembles.classes import CLASSES
from polhode.fits import laws
from polhode.interface.arrays import about
from polhode.interface.netcdf import read_dataset
from polhode.methods import METHODS
from polhode_study.declarations import FLAGS, TEXTS, method_declarations
from polhode_study.plan import Plan
from polhode_study.released import ENSEMBLES, completed, this_machine

#: Coordinates and variables of the draw that the file keeps.
DRAWN = ("moments", "q0", "omega0", "strength", "parameters", "reference_digits")


def gather(plan: Plan) -> xr.Dataset:
    """The dataset of ensembles.nc from the files of a study.

    Raises
    ------
    DamagedFile
        If a file is damaged or was made by another job.
    """
    whole, study, release = plan.study.ensembles, plan.study.computed.ensembles, plan.study.release
    assert whole is not None and study is not None
    (exact,) = (read_dataset(path, job=plan.origin(path)) for path in plan.files("ensemble_states"))
    paths = zip(study.methods, plan.files("ensemble_runs", study.methods), strict=True)
    runs = {key: read_dataset(path, job=plan.origin(path)) for key, path in paths}
    data = gathered(exact, runs, study.seed, plan.study.plugin_methods, plan.study.json)
    if release is None or whole.computed is None:
        return data
    return completed(release, ENSEMBLES, "", data, whole.methods, this_machine())


def failures(data: xr.Dataset) -> Iterator[str]:
    """A line for each error of a method under a class of torque."""
    failed = data["failed"].values
    for j, key in enumerate(data["integrator"].values):
        classes: dict[str, list[str]] = {}
        for i, name in enumerate(data["torque_class"].values):
            if failed[i, j]:
                classes.setdefault(str(failed[i, j]), []).append(str(name))
        for text, names in classes.items():
            yield f"method {key} failed on random bodies ({', '.join(names)}) and is left out there: {text}"


def gathered(
    exact: xr.Dataset, runs: Mapping[str, xr.Dataset], seed: int, plugins: Sequence[str] = (), configuration: str = ""
) -> xr.Dataset:
    """The errors of all methods over torque_class, method, body, step and radians, with the draw and what the methods declare.

    The laws of the errors are added to them (:func:`polhode.fits.laws.in_file`).

    Parameters
    ----------
    exact : the draw and its exact states, from :func:`polhode_study.run.ensemble_states.states_dataset`
    runs : key of a method -> its errors, from :func:`polhode_study.run.ensemble.method_dataset`
    seed : that of the draw
    plugins : keys of the user's own methods
    configuration : that of the study, as JSON
    """
    methods = list(runs)
    classes = [str(key) for key in exact["torque_class"].values]
    first = runs[methods[0]]
    variables: dict[str, Any] = {}
    for name in ("error_q", "error_omega", "diverged"):
        values = np.stack([runs[key][name].values for key in methods], axis=1)
        # Seven digits of an error are more than enough.
        values = values if name == "diverged" else values.astype("float32")
        dims = ("torque_class", "integrator", *first[name].dims[1:])
        variables[name] = (dims, values, dict(first[name].attrs))
    failed = [[str(runs[key]["failed"].values[i]) for key in methods] for i in range(len(classes))]
    variables["failed"] = (("torque_class", "integrator"), failed, dict(first["failed"].attrs))
    for name in DRAWN:
        variables[name] = exact[name].variable
    variables |= _declared(methods, classes)
    variables["plugin"] = (
        "integrator",
        np.array([key in plugins for key in methods], "int8"),
        about("whether it is a plug-in"),
    )
    torque_classes = [CLASSES[key] for key in classes]
    variables["class_label"] = (
        "torque_class",
        [torque_class.label for torque_class in torque_classes],
        {"long_name": "name of the class of torque"},
    )
    variables["class_formula"] = (
        "torque_class",
        [torque_class.formula for torque_class in torque_classes],
        {"long_name": "torque in the body frame, LaTeX"},
    )
    data = xr.Dataset(
        variables,
        {
            "torque_class": ("torque_class", classes, {"long_name": "class of torque"}),
            "integrator": ("integrator", methods, {"long_name": "key of the method"}),
            "body": ("body", np.arange(exact.sizes["body"], dtype="int32"), about("number of the body")),
            "step": ("step", first["step"].values, dict(first["step"].attrs)),
            "radians": ("radians", first["radians"].values, dict(first["radians"].attrs)),
        },
        {
            "title": "Errors of all methods on random bodies under torques of every class; everything is dimensionless",
            "seed": seed,
            **({"plugins": ",".join(plugins), "configuration": configuration} if configuration else {}),
        },
    )
    return data.assign(laws.in_file(data))


def _declared(methods: Sequence[str], classes: Sequence[str]) -> dict[str, Any]:
    """What the methods declare, over method, and their orders over torque_class and method."""
    table = method_declarations(methods)
    names = ("torques_per_step", "torques_per_output", "place", "stored_offset", *TEXTS, *FLAGS)
    variables: dict[str, Any] = {name: ("integrator", table[name].values, dict(table[name].attrs)) for name in names}
    variant = np.array([bool(METHODS[key].variant_of) for key in methods], "int8")
    variables["variant"] = ("integrator", variant, about("whether it mimics the code of a publication"))
    orders = np.array([[METHODS[m].orders(CLASSES[c].declared) for m in methods] for c in classes], "int32")
    for i, (name, text) in enumerate((("q", "orientation"), ("omega", "angular velocity"))):
        long_name = f"order of the {text} that the method declares for this class"
        variables[f"order_{name}_declared"] = (("torque_class", "integrator"), orders[:, :, i], about(long_name))
    return variables
