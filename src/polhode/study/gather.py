"""Gather the cells of a study into one file: errors against the exact solution, orders, targets, long runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from tqdm import tqdm

from polhode import metrics
from polhode.study.configuration import ProblemStudy, Study, method
from polhode.study.orders import fit_order
from polhode.study.storage import read_cell, read_dataset

#: Quantities of a run, with what they are; every one is zero for an exact method.
ERRORS = {
    "q_error_l1": ("relative L1 error of the orientation", "1"),
    "omega_error_l1": ("relative L1 error of the angular velocity at the time of the orientation", "1"),
    "stored_omega_error_l1": ("relative L1 error of the angular velocity as the method holds it, at its own time", "1"),
    "mean_error": ("mean of q_error_l1 and stored_omega_error_l1", "1"),
    "angle_error": ("angle between computed and exact orientation", "rad"),
    "energy_error": ("relative error of the kinetic energy", "1"),
    "momentum_error": ("relative error of the angular momentum in the lab frame", "1"),
    "norm_error": ("distance of the norm of q from 1", "1"),
}
FITTED = {"q": "q_error_l1", "omega": "omega_error_l1", "stored_omega": "stored_omega_error_l1"}


class Exact:
    """The exact solution at the times of a reference file."""

    def __init__(self, path: str | Path) -> None:
        data = read_dataset(path)
        self.path = path
        self.time = data.time.values
        self.q = data.q.values
        self.omega = data.omega.values

    def at(self, times: np.ndarray) -> np.ndarray:
        """Row numbers of these times; exactly these, nothing is interpolated."""
        rows = np.searchsorted(self.time, times)
        rows = np.minimum(rows, len(self.time) - 1)
        if not np.array_equal(self.time[rows], times):
            missing = np.asarray(times)[self.time[rows] != times][0]
            raise ValueError(f"{self.path} lacks the time {missing!r} s; delete it and run again")
        return np.asarray(rows)


def run_errors(
    cell: Mapping[str, Any], exact: Exact, inertia: tuple[float, float, float], rows: slice
) -> dict[str, np.ndarray]:
    """All :data:`ERRORS` of the samples ``rows`` of one run."""
    time, q, omega, stored = (cell[name][rows] for name in ("time", "q", "omega", "stored_omega"))
    here = exact.at(time)
    own_time = time + float(cell["stored_offset"]) * float(cell["@dt"])
    own = exact.at(np.where(own_time < 0, time, own_time))
    energy, exact_energy = metrics.kinetic_energy(omega, inertia), metrics.kinetic_energy(exact.omega[here], inertia)
    momentum = metrics.lab_angular_momentum(q, omega, inertia)
    exact_momentum = metrics.lab_angular_momentum(exact.q[here], exact.omega[here], inertia)
    values = {
        "q_error_l1": metrics.orientation_l1(q, exact.q[here]),
        "omega_error_l1": metrics.relative_l1(omega, exact.omega[here]),
        "stored_omega_error_l1": np.where(own_time < 0, np.nan, metrics.relative_l1(stored, exact.omega[own])),
        "angle_error": metrics.geodesic_angle(q, exact.q[here]),
        "energy_error": np.abs(energy / exact_energy - 1),
        "momentum_error": np.linalg.norm(momentum - exact_momentum, axis=-1) / np.linalg.norm(exact_momentum, axis=-1),
        "norm_error": metrics.norm_error(q),
    }
    values["mean_error"] = (values["q_error_l1"] + values["stored_omega_error_l1"]) / 2
    return values


def gather(study: Study, folder: str | Path) -> dict[str, xr.Dataset]:
    """Everything that a run left in ``folder`` (references, cells, long_runs, targets), as groups of one file."""
    folder = Path(folder)
    groups = {"/": xr.Dataset(attrs={"configuration": study.json, "plugins": ",".join(study.plugin_methods)})}
    for key, part in study.problems.items():
        exact = Exact(folder / "references" / f"{key}.nc")
        groups[f"/{key}"] = _runs(part, exact, folder / "cells" / key)
        if part.long_run is not None:
            groups[f"/{key}/long_run"] = _long_runs(part, exact, folder / "long_runs" / key)
        if part.targets is not None:
            groups[f"/{key}/targets"] = _targets(part, folder / "targets" / key)
    return groups


def _method_coordinates(part: ProblemStudy) -> dict[str, Any]:
    methods = [method(key) for key in part.methods]
    columns: dict[str, list[Any]] = {
        "label": [m.label for m in methods],
        "variant_of": [m.variant_of for m in methods],
        "torques_per_step": [m.torques_per_step for m in methods],
        "claimed_q_order": [m.order_q for m in methods],
        "claimed_omega_order": [m.order_omega for m in methods],
        "stored_offset": [m.stored_offset for m in methods],
    }
    return {"method": list(part.methods), **{name: ("method", values) for name, values in columns.items()}}


def _runs(part: ProblemStudy, exact: Exact, folder: Path) -> xr.Dataset:
    shape = (len(part.methods), len(part.steps))
    errors = {name: np.full(shape, np.nan) for name in ERRORS}
    counts = {name: np.full(shape, np.nan) for name in ("steps", "torque_evaluations", "diverged")}
    for i, key in enumerate(tqdm(part.methods, desc=f"gather {part.problem.key}", unit="method")):
        for j, step in enumerate(part.steps):
            cell = read_cell(folder / key / f"{step.name}.nc")
            counts["steps"][i, j] = cell["steps"]
            counts["torque_evaluations"][i, j] = cell["torque_evaluations"]
            counts["diverged"][i, j] = "@diverged" in cell
            if "@diverged" not in cell:
                for name, value in run_errors(cell, exact, part.problem.body.inertia, slice(-1, None)).items():
                    errors[name][i, j] = value[0]
    dims = ("method", "dt")
    data: dict[str, Any] = {name: (dims, errors[name], _attrs(*ERRORS[name])) for name in ERRORS}
    data["steps"] = (dims, counts["steps"], _attrs("steps", "1"))
    data["torque_evaluations"] = (dims, counts["torque_evaluations"], _attrs("torque evaluations", "1"))
    data["diverged"] = (dims, counts["diverged"].astype("int8"), _attrs("1 where the run blew up", "1"))
    dt = np.array([s.dt for s in part.steps])
    end = np.array([s.end_time for s in part.steps])
    sets = np.array([s.set_name for s in part.steps])
    fit_set = "fit" if "fit" in sets else None
    chosen = sets == fit_set if fit_set else np.ones(len(sets), bool)
    for short, name in FITTED.items():
        orders = [fit_order(dt[chosen], errors[name][i][chosen], part.problem.horizon) for i in range(shape[0])]
        for field, text, units in (
            ("order", "fitted order of convergence", "1"),
            ("stderr", "standard error of the fitted order", "1"),
            ("dt_min", "finest step size of the fit", "s"),
            ("dt_max", "coarsest step size of the fit", "s"),
            ("points", "step sizes of the fit", "1"),
        ):
            label = f"{short}_order" if field == "order" else f"{short}_order_{field}"
            data[label] = ("method", [getattr(o, field) for o in orders], _attrs(f"{text}, {name}", units))
    coordinates = {
        **_method_coordinates(part),
        "dt": ("dt", dt, _attrs("step size", "s")),
        "dt_set": ("dt", sets),
        "end_time": ("dt", end, _attrs("end of the run", "s")),
    }
    problem = part.problem
    return xr.Dataset(
        data,
        coordinates,
        {"problem": problem.key, "label": problem.label, "source": problem.source, "torque_class": problem.torque_class},
    )


def _long_runs(part: ProblemStudy, exact: Exact, folder: Path) -> xr.Dataset:
    assert part.long_run is not None
    times = part.long_run.times
    errors = {name: np.full((len(part.methods), len(times)), np.nan) for name in ERRORS}
    q = np.full((len(part.methods), len(times), 4), np.nan)
    diverged = np.zeros(len(part.methods), "int8")
    for i, key in enumerate(part.methods):
        cell = read_cell(folder / key / f"{part.long_run.name}.nc")
        diverged[i] = "@diverged" in cell
        q[i] = cell["q"]
        for name, value in run_errors(cell, exact, part.problem.body.inertia, slice(None)).items():
            errors[name][i] = value
    dims = ("method", "time")
    rows = exact.at(times)
    data: dict[str, Any] = {name: (dims, errors[name], _attrs(*ERRORS[name])) for name in ERRORS}
    data["q"] = ((*dims, "quaternion"), q, _attrs("orientation, body to lab", "1"))
    data["exact_q"] = (("time", "quaternion"), exact.q[rows], _attrs("exact orientation, body to lab", "1"))
    data["diverged"] = ("method", diverged, _attrs("1 where the run blew up", "1"))
    coordinates = {
        **_method_coordinates(part),
        "time": ("time", times, _attrs("time", "s")),
        "quaternion": ["0", "x", "y", "z"],
    }
    return xr.Dataset(data, coordinates, {"problem": part.problem.key, "dt": part.long_run.dt, "dt_units": "s"})


def _targets(part: ProblemStudy, folder: Path) -> xr.Dataset:
    found = [read_cell(folder / f"{key}.nc") for key in part.methods]
    assert part.targets is not None
    data = {
        "step_size": ("largest step size that meets the target", "s"),
        "steps": ("steps", "1"),
        "mean_error": ("mean of q and omega error reached", "1"),
    }
    return xr.Dataset(
        {name: (("method", "target_error"), [cell[name] for cell in found], _attrs(*text)) for name, text in data.items()},
        {
            **_method_coordinates(part),
            "target_error": ("target_error", list(part.targets.errors), _attrs("target error", "1")),
        },
        {"problem": part.problem.key},
    )


def _attrs(long_name: str, units: str) -> dict[str, str]:
    return {"long_name": long_name, "units": units}
