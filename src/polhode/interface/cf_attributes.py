"""Self-description of files: the attributes of the CF conventions, for every netCDF file of a run.

Code that writes a variable supplies its ``long_name`` and, for a number, its ``units``. Everything common to all files is
defined here: the coordinates, and the attributes of a whole file.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from polhode.version import __version__

if TYPE_CHECKING:
    import xarray as xr

CONVENTIONS = "CF-1.11"
#: The citation given in every file; CITATION.cff has the same one and lists the sources.
CITATION = f"the polhode developers: polhode {__version__}, a reproducible comparison of integrators for rigid-body rotation"

#: The dimensions of the table of methods at the root of gathered files, ``polhode_study.declarations``.
ROWS, CLASSES = "method_number", "class_number"
#: Coordinates shared by several files: long_name, and units for numbers.
SHARED: dict[str, tuple[str, str]] = {
    "axis": ("axis", ""),
    "body": ("number of the body", "1"),
    "case": ("scene of the study", ""),
    "claimed_omega_order": ("order of the angular velocity that the method declares for this class of torque", "1"),
    "claimed_q_order": ("order of the orientation that the method declares for this class of torque", "1"),
    "division": ("steps into which the horizon is divided", "1"),
    "dt": ("step size", "s"),
    "dt_set": ("ladder of step sizes in the configuration", ""),
    "end_time": ("end of the run", "s"),
    "frame": ("where the angular velocity is kept between steps", ""),
    "integrator": ("key of the method", ""),
    "kind": ("kind of clump", ""),
    "label": ("name of the method", ""),
    "normalised": ("whether the quaternion is normalised every step", "1"),
    "problem": ("key of the problem", ""),
    "quantity": ("quantity whose error is given", ""),
    "quaternion": ("quaternion component, the scalar first", ""),
    "reading": ("how the state of the body is taken from what the method carries", ""),
    "sample": ("number of the sample", "1"),
    "scene": ("key of the scene", ""),
    "seed": ("seed of the initial state", "1"),
    "stored_offset": ("time of the angular velocity that the method carries, after that of q, in steps", "1"),
    "sweeps": ("iterations for the angular velocity", "1"),
    "target_error": ("target error", "1"),
    "time": ("time", "s"),
    "torques_per_step": ("torque evaluations of a step", "1"),
    "variant": ("name of the change", ""),
    "variant_of": ("method of which this is a variant; empty for an original method", ""),
}

#: Contents of a file made by one job, by its kind; the names in its path fill the placeholders.
TITLES = {
    "references": "Exact motion of {problem}",
    "runs": "Runs with the step sizes {steps}: {problem} with {method}",
    "long_runs": "Long run: {problem} with {method}",
    "long_runs_switched": "Long run: {problem} with {method}, normalisation switched",
    "targets": "Step sizes that meet target errors: {problem} with {method}",
    "checks": "Experiment on single methods: {check}",
    "many_body_runs": "Runs of many bodies: {scene} with {method}",
    "films": "Film of {scene}",
    "ensemble_states": "Random bodies, and their exact states under torques of every class",
    "ensemble_runs": "Errors on random bodies: {method}",
}


def described(dataset: "xr.Dataset", *, root: bool = True) -> "xr.Dataset":
    """A copy of the dataset with the descriptions of :data:`SHARED` and, for the ``root`` of a file, the attributes of a whole
    file.

    Existing descriptions of a variable are kept. The title comes from :func:`title_of`.
    """
    complete = dataset.copy()
    for name, variable in complete.variables.items():
        add_description(str(name), variable.dtype.kind, variable.attrs)
    return complete.drop_attrs(deep=False).assign_attrs(of_file(dataset.attrs)) if root else complete


def add_description(name: str, kind: str, attributes: dict[Any, Any]) -> None:
    """Add the description of :data:`SHARED` to the attributes of the variable ``name``, in place; what they say already stays.

    ``kind`` is the ``dtype.kind`` of its values: only numbers and truth values get a unit.
    """
    long_name, units = SHARED.get(name, ("", ""))
    if long_name:
        attributes.setdefault("long_name", long_name)
    if units and kind in "iufb":
        attributes.setdefault("units", units)


def of_file(attributes: Mapping[Any, Any]) -> dict[Any, Any]:
    """The attributes of a whole file by name: the common ones, and its own ``attributes``.

    Its own take precedence: the source of a reference is a publication, for example.
    """
    return {
        "Conventions": CONVENTIONS,
        "title": title_of(attributes),
        "source": f"polhode {__version__}",
        "version": __version__,
        "citation": CITATION,
        **attributes,
    }


def title_of(attributes: Mapping[Any, Any]) -> str:
    """The title of a file from its attributes: its own, or one made from the job that wrote it, or ``Results of polhode``."""
    if "title" in attributes:
        return str(attributes["title"])
    job = json.loads(attributes.get("job") or "{}")
    wildcards = job.get("wildcards", {})
    return TITLES.get(job.get("kind", ""), "Results of polhode").format_map({"problem": "", "method": "", **wildcards})
