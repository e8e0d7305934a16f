"""Gather the runs of a study into one file: errors against the exact solution, orders, targets, long runs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from tqdm import tqdm

from polhode.algebra import metrics
from polhode.fits.orders import fit_order
from polhode.interface.arrays import about
from polhode.interface.netcdf import read_dataset
from polhode.methods import METHODS
from polhode.problems.problem import Case, Problem
from polhode.problems.system import System
from polhode.simulate import count_steps
from polhode_study.configuration import ProblemStudy, SceneStudy, Study, method
from polhode_study.declarations import method_declarations, problem_declarations
from polhode_study.gather.arithmetic import arithmetic
from polhode_study.plan import Plan, run_settings
from polhode_study.released import SINGLE_BODY, completed, held, this_machine
from polhode_study.run.single_body import make_runs

#: Error measures of a run, with descriptions; all are zero for an exact method. For several bodies the worst counts.
ERRORS = {
    "q_error_l1": ("relative L1 error of the orientation", "1"),
    "omega_error_l1": ("relative L1 error of the angular velocity at the time of the orientation", "1"),
    "stored_omega_error_l1": ("relative L1 error of the angular velocity as the method holds it, at its own time", "1"),
    "mean_error": ("mean of q_error_l1 and stored_omega_error_l1", "1"),
    "mean_error_as_published": (
        "mean_error with the orientation measured as in the method's publication: for PFC4 as published by its matrix",
        "1",
    ),
    "angle_error": ("angle between computed and exact orientation", "rad"),
    "energy_error": ("relative error of the kinetic energy", "1"),
    "momentum_error": ("relative error of the angular momentum of body and wheels in the lab frame", "1"),
    "norm_error": ("distance of the norm of q from 1", "1"),
}
#: Further error measures where centres of mass move.
MOVING_ERRORS = {
    "r_error_l1": ("relative L1 error of the position", "1"),
    "v_error_l1": ("relative L1 error of the velocity", "1"),
}
#: Means over the samples of a run.
MEANS = {
    "inclination_error_mean": (
        "mean over time of the error of the angle between the body's x axis and its direction at the start; "
        "Seelen et al. (2016), Eqs. 6 and 7",
        "rad",
    ),
    "angle_error_mean": ("mean over time of the angle between computed and exact orientation", "rad"),
}
#: Changes along a run of quantities that the exact motion conserves; these need no exact solution.
DRIFTS = {
    "energy_drift": ("change of the energy since the start, relative to the kinetic energy there", "1"),
    "momentum_drift": ("change of the conserved part of the lab angular momentum, relative to the momentum at the start", "1"),
}
FITTED = {"q": "q_error_l1", "omega": "omega_error_l1", "stored_omega": "stored_omega_error_l1"}
MOVING_FITTED = {"r": "r_error_l1", "v": "v_error_l1"}


class Exact:
    """The exact solution at the times of a reference file, which must have been made by ``job``."""

    def __init__(self, path: str | Path, job: str = "") -> None:
        data = read_dataset(path, job=job)
        self.path = path
        self.time = data.time.values
        self.q = data.q.values
        self.omega = data.omega.values
        self.r, self.v = (data[name].values if name in data else None for name in ("r", "v"))

    def at(self, times: np.ndarray) -> np.ndarray:
        """Row numbers of exactly these times; nothing is interpolated."""
        rows = np.searchsorted(self.time, times)
        rows = np.minimum(rows, len(self.time) - 1)
        if not np.array_equal(self.time[rows], times):
            missing = np.asarray(times)[self.time[rows] != times][0]
            raise ValueError(f"{self.path} lacks the time {missing!r} s; delete it and run again")
        return np.asarray(rows)


def methods_shown(study: Study) -> list[str]:
    """All methods that a run may show: those of the package, since released data hold them all, and the user's own."""
    studied = {*study.methods, *(key for scene in study.scenes.values() for key in scene.methods)}
    return [key for key in METHODS if key in studied or key not in METHODS.plugins()]


def inertia_of(problem: Case) -> np.ndarray:
    """Principal moments (3) of one body or (bodies, 3) of several, kg m^2."""
    if isinstance(problem, System):
        return np.array([body.inertia for body in problem.bodies])
    assert isinstance(problem, Problem)
    return np.array(problem.body.inertia)


def wheels_of(problem: Case) -> np.ndarray:
    """The angular momentum (3) of the wheels of a body, N m s; NaN if motors change it. Several bodies have no wheels."""
    if not isinstance(problem, Problem):
        return np.zeros(3)
    return np.full(3, np.nan) if problem.has_motors else np.array(problem.body.wheel_momentum)


def run_errors(
    run: Mapping[str, Any], exact: Exact, problem: Case, rows: slice, measure: str = "quaternion"
) -> dict[str, np.ndarray]:
    """All :data:`ERRORS`, and :data:`MOVING_ERRORS` where there is motion, of the samples ``rows`` of one run.

    ``measure`` is how the method's publication compares orientations, a key of
    :data:`polhode.algebra.metrics.PUBLISHED_ERRORS`. The step size and the offset of the stored angular velocity may differ
    between samples.
    """
    inertia, wheels = inertia_of(problem), wheels_of(problem)
    time, q, omega, stored = (run[name][rows] for name in ("time", "q", "omega", "stored_omega"))
    at_samples = exact.at(time)
    stored_time = time + np.multiply(run["stored_offset"], run["dt"])
    at_stored = exact.at(np.where(stored_time < 0, time, stored_time))
    with np.errstate(divide="ignore", invalid="ignore"):  # a body at rest has no relative error
        energy, exact_energy = metrics.kinetic_energy(omega, inertia), metrics.kinetic_energy(exact.omega[at_samples], inertia)
        momentum = metrics.lab_angular_momentum(q, omega, inertia, wheels)
        exact_momentum = metrics.lab_angular_momentum(exact.q[at_samples], exact.omega[at_samples], inertia, wheels)
        values = {
            "q_error_l1": metrics.orientation_l1(q, exact.q[at_samples]),
            "omega_error_l1": metrics.relative_l1(omega, exact.omega[at_samples]),
            "stored_omega_error_l1": metrics.relative_l1(stored, exact.omega[at_stored]),
            "mean_error": metrics.mean_error(q, exact.q[at_samples], stored, exact.omega[at_stored]),
            "mean_error_as_published": metrics.mean_error(q, exact.q[at_samples], stored, exact.omega[at_stored], measure),
            "angle_error": metrics.geodesic_angle(q, exact.q[at_samples]),
            "energy_error": np.abs(energy / exact_energy - 1),
            "momentum_error": np.linalg.norm(momentum - exact_momentum, axis=-1) / np.linalg.norm(exact_momentum, axis=-1),
            "norm_error": metrics.norm_error(q),
        }
        if _moves(problem):
            assert exact.r is not None and exact.v is not None
            values["r_error_l1"] = metrics.relative_l1(run["r"][rows], exact.r[at_samples])
            values["v_error_l1"] = metrics.relative_l1(run["v"][rows], exact.v[at_samples])
    if isinstance(problem, System):
        values = {name: value.max(axis=-1) for name, value in values.items()}
    for name in ("stored_omega_error_l1", "mean_error", "mean_error_as_published"):
        values[name] = np.where(stored_time < 0, np.nan, values[name])
    return values


def run_means(run: Mapping[str, Any], exact: Exact) -> dict[str, float]:
    """All :data:`MEANS` of one run of one body, over its samples except the start."""
    q, true = run["q"], exact.q[exact.at(run["time"])]
    inclination, true_inclination = (metrics.inclination(x, true[0])[1:] for x in (q, true))
    return {
        "inclination_error_mean": float(np.abs(inclination - true_inclination).mean()),
        "angle_error_mean": float(metrics.geodesic_angle(q, true)[1:].mean()),
    }


def run_drifts(run: Mapping[str, Any], problem: Case) -> dict[str, np.ndarray]:
    """All :data:`DRIFTS` along one run, NaN for quantities that the exact motion does not conserve."""
    time, q, omega = run["time"], run["q"], run["omega"]
    nothing = np.full(len(time), np.nan)
    values = dict.fromkeys(DRIFTS, nothing)
    if not isinstance(problem, Problem):
        return values
    parameters = problem.parameter_array
    kinetic = metrics.kinetic_energy(omega, problem.body.inertia)
    momentum = metrics.lab_angular_momentum(q, omega, problem.body.inertia, wheels_of(problem))
    size = np.linalg.norm(momentum[0])
    if "energy" in problem.conserves:
        potential = problem.potential(tuple(q.T), parameters) if problem.potential is not None else 0.0
        energy = kinetic + potential
        values["energy_drift"] = np.abs(energy - energy[0]) / kinetic[0]
    if "momentum" in problem.conserves:
        if problem.impulse is not None:
            given = [np.broadcast_to(x, time.shape) for x in problem.impulse(time, parameters)]
            momentum = momentum - np.stack(given, axis=-1)
        values["momentum_drift"] = np.linalg.norm(momentum - momentum[0], axis=-1) / size
    elif "vertical momentum" in problem.conserves:
        values["momentum_drift"] = np.abs(momentum[:, 2] - momentum[0, 2]) / size
    return values


def _moves(problem: Case) -> bool:
    return isinstance(problem, System) and not problem.fixed


def gather(plan: Plan) -> dict[str, xr.Dataset]:
    """The output of a run (references, runs, long_runs, targets), as groups of one file.

    Raises
    ------
    DamagedFile
        If a file is not what the plan expects under its name; the message names it.
    """
    source = _CheckedFiles(plan)
    root = method_declarations(methods_shown(plan.study)).assign(arithmetic().data_vars)
    title = "Errors, orders and long runs of integrators of rigid-body rotation; one group for each problem"
    plugins = ",".join(plan.study.plugin_methods)
    groups = {"/": root.assign_attrs(title=title, configuration=plan.study.json, plugins=plugins)}
    tried = {}
    for key, problem in plan.study.computed.problems.items():
        reference = plan.path("references", key)
        exact = Exact(reference, plan.origin(reference))
        every = plan.study.problems[key]
        tried[key] = trial(every, [method for method in every.methods if method not in problem.methods], exact)
        groups[f"/{key}"] = _runs(problem, exact, source.runs)
        if problem.long_run is not None:
            groups[f"/{key}/long_run"] = _long_runs(problem, False, exact, source)
            if problem.long_run.switched:
                groups[f"/{key}/long_run_switched"] = _long_runs(problem, True, exact, source)
        if problem.targets is not None:
            groups[f"/{key}/targets"] = _targets(problem, source)
    groups = with_released(plan, SINGLE_BODY, groups, lambda name: plan.study.problems[name.split("/")[1]])
    for key, data in tried.items():
        if data is not None and (release := plan.study.release) is not None:
            outcome = held(release, SINGLE_BODY, key, release.group(SINGLE_BODY, key), data, this_machine())
            groups[f"/{key}"].attrs["tried"] = f"{data.sizes['integrator']} methods: {outcome}"
    return groups


def with_released(
    plan: Plan, file: str, groups: dict[str, xr.Dataset], study_of: Callable[[str], ProblemStudy | SceneStudy]
) -> dict[str, xr.Dataset]:
    """The groups of a file, each held against the release where that has it, with the methods that were taken from there.

    Raises
    ------
    ReleaseDiffers
        If a group differs from the release.
    """
    release = plan.study.release
    if release is None:
        return groups
    machine = this_machine()
    return {
        name: data
        if name == "/" or study_of(name).computed is None
        else completed(release, file, name[1:], data, study_of(name).methods, machine)
        for name, data in groups.items()
    }


class _CheckedFiles:
    """The files of a run, each checked against the plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def read(self, kind: str, *names: str) -> xr.Dataset:
        """A file of a kind by its names."""
        path = self.plan.path(kind, *names)
        return read_dataset(path, job=self.plan.origin(path))

    def runs(self, problem: str, method: str) -> Iterator[xr.Dataset]:
        """The runs of a method, by sets of step sizes."""
        for name in self.plan.study.problems[problem].sets(method):
            yield self.read("runs", problem, name, method)


#: A run with at most this many steps is cheap enough to be tried without compilation.
FEW_STEPS = 8


def trial(study: ProblemStudy, methods: Sequence[str], exact: Exact) -> xr.Dataset | None:
    """Errors of methods with one of the longest steps of the ladder, from runs made on the spot; None if none is short enough.

    Where Numba is switched off (``NUMBA_DISABLE_JIT=1``) nothing is compiled: a run then has the same bits, and the methods of
    the release can all be held against it. Left out is a method that blows up in such a way that plain Python refuses to go
    on, where compiled code goes on with infinite numbers.
    """
    few = [step for step in study.steps if step.steps <= FEW_STEPS and not step.methods]
    steps = tuple(sorted(few, key=lambda step: step.steps)[-1:])
    if not steps or not methods:
        return None

    runs = {}
    for key in methods:
        with suppress(ZeroDivisionError, OverflowError):
            runs[key] = make_runs({"problem": study.problem.key, "method": key}, run_settings(study, steps))[0]
    if not runs:
        return None
    data = _runs(replace(study, methods=tuple(runs), steps=steps, computed=None), exact, lambda problem, key: [runs[key]])
    return data.drop_vars([name for name, variable in data.data_vars.items() if "dt" not in variable.dims])


def _arrays_of(dataset: xr.Dataset, i: int) -> dict[str, Any]:
    """One run of a file as arrays, by its place along ``dt``, which comes first in what has it, before ``sample``."""
    count = int(np.isfinite(dataset["time"].values[i]).sum())
    run = {}
    for name, variable in dataset.variables.items():
        values = variable.values[i] if "dt" in variable.dims else variable.values
        run[str(name)] = values[:count] if "sample" in variable.dims else values
    return run


def _method_coordinates(problem: Case, keys: Sequence[str]) -> dict[str, Any]:
    methods = [method(key) for key in keys]
    orders = [m.orders(problem.torque_class) for m in methods]
    columns: dict[str, list[Any]] = {
        "label": [m.label for m in methods],
        "variant_of": [m.variant_of for m in methods],
        "torques_per_step": [m.torques_per_step for m in methods],
        "claimed_q_order": [q for q, _ in orders],
        "claimed_omega_order": [omega for _, omega in orders],
        "stored_offset": [m.stored_offset for m in methods],
    }
    return {"integrator": list(keys), **{name: ("integrator", values) for name, values in columns.items()}}


def _runs(study: ProblemStudy, exact: Exact, runs: Callable[[str, str], Iterable[xr.Dataset]]) -> xr.Dataset:
    """The errors of all runs of a problem; ``runs`` gives the runs of a problem and a method."""
    shape = (len(study.methods), len(study.steps))
    texts = {**ERRORS, **(MOVING_ERRORS if _moves(study.problem) else {}), **(MEANS if study.means else {})}
    errors = {name: np.full(shape, np.nan) for name in texts}
    counts = {name: np.full(shape, np.nan) for name in ("steps", "torque_evaluations")}
    counts["diverged"] = np.zeros(shape)
    places = {step.dt: j for j, step in enumerate(study.steps)}
    for i, key in enumerate(tqdm(study.methods, desc=f"gather {study.problem.key}", unit="method")):
        finite: dict[int, dict[str, Any]] = {}
        of_method = (_arrays_of(data, i) for data in runs(study.problem.key, key) for i in range(data.sizes["dt"]))
        for run in of_method:
            j = places[float(run["dt"])]
            counts["steps"][i, j] = run["steps"]
            counts["torque_evaluations"][i, j] = run["torque_evaluations"]
            counts["diverged"][i, j] = np.isfinite(run["diverged_at"])
            if not counts["diverged"][i, j]:
                finite[j] = run
                if study.means:
                    for name, mean in run_means(run, exact).items():
                        errors[name][i, j] = mean
        if finite:
            ends = _ends(list(finite.values()))
            for name, value in run_errors(ends, exact, study.problem, slice(None), method(key).published_error).items():
                errors[name][i, list(finite)] = value
    dims = ("integrator", "dt")
    data: dict[str, Any] = {name: (dims, errors[name], about(*texts[name])) for name in texts}
    data["steps"] = (dims, counts["steps"], about("steps; NaN where the method does not run with this step size"))
    data["torque_evaluations"] = (dims, counts["torque_evaluations"], about("torque evaluations"))
    data["diverged"] = (dims, counts["diverged"].astype("int8"), about("1 where the run blew up"))
    dt = np.array([s.dt for s in study.steps])
    end = np.array([s.end_time for s in study.steps])
    sets = np.array([s.set_name for s in study.steps])
    fit_set = "fit" if "fit" in sets else None
    chosen = sets == fit_set if fit_set else np.ones(len(sets), bool)
    fitted = {**FITTED, **(MOVING_FITTED if _moves(study.problem) else {})}
    for short, name in fitted.items():
        orders = [fit_order(dt[chosen], errors[name][i][chosen], study.problem.horizon) for i in range(shape[0])]
        for field, text, units in (
            ("order", "fitted order of convergence", "1"),
            ("low", "lowest order over shifted windows of the fit", "1"),
            ("high", "highest order over shifted windows of the fit", "1"),
            ("dt_min", "finest step size of the fit", "s"),
            ("dt_max", "coarsest step size of the fit", "s"),
            ("points", "step sizes of the fit", "1"),
        ):
            label = f"{short}_order" if field == "order" else f"{short}_order_{field}"
            data[label] = ("integrator", [getattr(o, field) for o in orders], about(f"{text}, {name}", units))
    coordinates = {
        **_method_coordinates(study.problem, study.methods),
        "dt": ("dt", dt, about("step size", "s")),
        "dt_set": ("dt", sets),
        "end_time": ("dt", end, about("end of the run", "s")),
    }
    return xr.Dataset(data, coordinates, problem_declarations(study.problem))


def _ends(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The last samples of several runs of one method as those of one run, whose errors are computed at once."""
    names = [name for name in ("time", "q", "omega", "stored_omega", "r", "v") if name in runs[0]]
    ends: dict[str, Any] = {name: np.concatenate([run[name][-1:] for run in runs]) for name in names}
    return ends | {name: np.array([float(run[name]) for run in runs]) for name in ("stored_offset", "dt")}


def _long_runs(study: ProblemStudy, switched: bool, exact: Exact, source: _CheckedFiles) -> xr.Dataset:
    assert study.long_run is not None
    problem, times = study.problem, study.long_run.times
    keys = study.methods  # all methods, even those not run: a group with fewer would not open below its parent
    texts = {**ERRORS, **DRIFTS, **(MOVING_ERRORS if _moves(problem) else {})}
    errors = {name: np.full((len(keys), len(times)), np.nan) for name in texts}
    bodies = (len(problem.bodies),) if isinstance(problem, System) else ()
    body_dims = ("body",) * len(bodies)
    q = np.full((len(keys), len(times), *bodies, 4), np.nan)
    omega = np.full((len(keys), len(times), *bodies, 3), np.nan)
    diverged = np.full(len(keys), np.nan)
    for key in study.long_run_methods(switched):
        i = keys.index(key)
        run = _arrays_of(source.read("long_runs_switched" if switched else "long_runs", problem.key, key), 0)
        diverged[i] = np.isfinite(run["diverged_at"])
        q[i], omega[i] = run["q"], run["omega"]
        measured = run_drifts(run, problem)
        norms = metrics.norm_error(run["q"])
        measured["norm_error"] = norms.max(axis=-1) if bodies else norms
        if study.long_run.exact:
            measured |= run_errors(run, exact, problem, slice(None), method(key).published_error)
        for name, value in measured.items():
            errors[name][i] = value
    dims = ("integrator", "time")
    data: dict[str, Any] = {name: (dims, errors[name], about(*texts[name])) for name in texts}
    data["q"] = ((*dims, *body_dims, "quaternion"), q, about("orientation, body to lab"))
    data["omega"] = ((*dims, *body_dims, "axis"), omega, about("angular velocity in the body frame", "rad s-1"))
    if study.long_run.exact:
        rows = exact.at(times)
        data["exact_q"] = (("time", *body_dims, "quaternion"), exact.q[rows], about("exact orientation, body to lab"))
        data["exact_omega"] = (("time", *body_dims, "axis"), exact.omega[rows], about("exact angular velocity", "rad s-1"))
    data["diverged"] = ("integrator", diverged, about("1 where the run blew up, NaN where there is none"))
    coordinates = {
        **_method_coordinates(problem, keys),
        "time": ("time", times, about("time", "s")),
        "quaternion": ["0", "x", "y", "z"],
        "axis": ["x", "y", "z"],
    }
    steps = count_steps(study.long_run.dt, study.long_run.horizon)
    attributes = {"problem": problem.key, "dt": study.long_run.dt, "dt_units": "s", "steps": steps}
    return xr.Dataset(data, coordinates, attributes)


def _targets(study: ProblemStudy, source: _CheckedFiles) -> xr.Dataset:
    searches = [source.read("targets", study.problem.key, key) for key in study.methods]
    assert study.targets is not None
    data = {
        "step_size": ("largest step size that meets the target", "s"),
        "steps": ("steps", "1"),
        "mean_error": ("mean of q and omega error reached", "1"),
        "step_size_as_published": ("the same, the orientation measured as the publication measures the method", "s"),
    }
    return xr.Dataset(
        {
            name: (("integrator", "target_error"), [search[name].values for search in searches], about(*text))
            for name, text in data.items()
        },
        {
            **_method_coordinates(study.problem, study.methods),
            "target_error": ("target_error", list(study.targets.errors), about("target error")),
        },
        {"problem": study.problem.key},
    )
