"""One page about a method, measured within a minute and without a study, beside a few others: the numbers of ``polhode sheet``.

Everything is measured by what the study itself runs: the errors on random bodies and their laws, the checks of reversibility,
of the canonical form and of friction, the roots of librations, and short runs of contacts and of a liquid. All methods run
from the same bodies and states. What a method cannot run is a sentence, :data:`NOT_APPLICABLE`; what blows up is ``diverged``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from math import inf, isfinite, log2, nan
from typing import Any

import numpy as np
import xarray as xr

from polhode.advice.from_laws import from_laws
from polhode.compiling.operations import operations
from polhode.ensembles.classes import CLASSES
from polhode.fits import laws
from polhode.fits.canonical_form import READINGS, ROUNDING
from polhode.fits.drift import drift
from polhode.fits.largest_step import round_off
from polhode.fits.orders import TOLERANCE
from polhode.manybody.fluid import Fluid
from polhode.manybody.scenes import SCENES
from polhode.manybody.simulation import simulate_arrays
from polhode.methods import METHODS
from polhode.methods.libration import fault, libration
from polhode.methods.protocol import Method, OneTorque
from polhode.problems import single_body
from polhode.problems.problem import Problem
from polhode.simulate import simulate
from polhode.version import __version__
from polhode_engines.candidates import candidates
from polhode_engines.cases import GENERAL, INERTIA, NEAR_MIDDLE, Q0, SHARE, STEP, VALUES
from polhode_engines.environments import Run, Spun
from polhode_engines.identify import WITHIN, apart, deviations, driver_of
from polhode_study.chapters.liquids import run as liquids
from polhode_study.chapters.long_runs.run import reversibility
from polhode_study.chapters.long_runs.run_symplecticity import symplecticity
from polhode_study.chapters.seelen2016.run import LARGEST, stability
from polhode_study.run import timing
from polhode_study.run.ensemble import method_dataset
from polhode_study.run.ensemble_states import states_dataset

#: Random bodies, their seed, the time in radians turned, and the steps in radians.
BODIES, SEED, RADIANS = 64, 2026, 8.0
STEPS = tuple(2.0**-k for k in range(10))
#: Errors per radian for which steps are stated.
TARGETS = (1e-2, 1e-3, 1e-4, 1e-6)
#: The classes whose best methods by the released laws are shown beside, the error per radian, and the price of a torque.
BEST_FOR, BEST_AT, PRICE = ("free", "state", "friction_anisotropic"), 1e-4, 10.0
#: Long runs: problems, radians in a step, steps, and samples of the energy.
LONG = ("free_asymmetric_top", "heavy_top")
LONG_STEP, LONG_STEPS, LONG_SAMPLES = 0.1, 50_000, 500
#: A free body whose angular momentum has changed in length by less keeps the bounds that it sets to the energy.
LENGTH_CHANGE = 0.01
#: The omega that a method holds: the problem on which it is compared, radians turned, numbers of steps, and offsets in steps.
HELD_ON, HELD_RADIANS, HELD_STEPS, OFFSETS = "heavy_top", 8.0, (80, 160), (-0.5, 0.0, 0.5)
#: A scene of contacts and the share of its horizon; a liquid and a number of its usual steps.
CONTACTS, CONTACT_SHARE = "chess", 0.05
LIQUID, LIQUID_STEPS = "water64", 4000
#: Steps of a comparison with the known methods, from each start, and the round-off of their arithmetic.
COMPARED, EPS = 16, 2.0**-52
#: Round-offs at which a method is clearly another one.
CLEARLY = 1e6
#: What an entry of a sheet has instead of numbers.
NOT_APPLICABLE, DIVERGED = "not applicable", "diverged"

Say = Callable[[str], object]


def stages(known: bool) -> tuple[str, ...]:
    """What is done, in order; ``known`` says that the methods beside are chosen."""
    return (*(() if known else ("choosing methods",)), "exact states", *PARTS, "comparing with known methods")


def sheet(
    method: Method, beside: Sequence[str] = (), bodies: int = BODIES, classes: Sequence[str] = (), say: Say = lambda stage: None
) -> dict[str, Any]:
    """All that a page says of a method, as plain data for JSON: numbers that are not finite are None.

    Parameters
    ----------
    method : registered, a file's own included
    beside : keys of methods shown beside; the best of three classes by the released laws if empty
    bodies : random bodies for errors and orders
    classes : classes of torque, all by default
    say : called with each of :func:`stages` when it begins
    """
    if not beside:
        say("choosing methods")
        beside = best_by_laws(method.key)
    methods = [method, *(METHODS[key] for key in dict.fromkeys(beside) if key != method.key)]
    keys = list(classes or CLASSES)
    say("exact states")
    exact = states_dataset(bodies, SEED, keys, (RADIANS,))
    rows = measured(methods, exact, say)
    say("comparing with known methods")
    numbers: dict[str, Any] = finite(
        settings_of(exact)
        | {"method": method.key, "beside": [other.key for other in methods[1:]], "methods": rows, "identity": identity(method)}
    )
    return numbers


def measured(methods: Sequence[Method], exact: xr.Dataset, say: Say = lambda stage: None) -> dict[str, dict[str, Any]]:
    """What a sheet says of each method, by key: what it declares, and all of :data:`PARTS`; ``exact``: states of the bodies."""
    rows: dict[str, dict[str, Any]] = {each.key: declared(each) for each in methods}
    for name, measure in PARTS.items():
        say(name)
        for key, entries in measure(methods, exact).items():
            rows[key] |= entries
    return rows


def settings_of(exact: xr.Dataset) -> dict[str, Any]:
    """What the numbers of all methods rest on: bodies, classes of torque, steps, long runs."""
    return {
        "format": "polhode sheet 1",
        "polhode": __version__,
        "bodies": exact.sizes["body"],
        "seed": SEED,
        "radians": RADIANS,
        "classes": {str(key): CLASSES[str(key)].label for key in exact["torque_class"].values},
        "steps": sorted(STEPS),
        "long_runs": {"problems": list(LONG), "step": LONG_STEP, "steps": LONG_STEPS},
    }


def best_by_laws(key: str) -> list[str]:
    """The methods that take the least time for :data:`BEST_FOR` by the released laws, each the best not named before it."""
    best: list[str] = []
    for torque_class in BEST_FOR:
        choices = from_laws(torque_class, BEST_AT, 1.0, torque_price=PRICE).alternatives
        best += [choice.method for choice in choices if choice.method not in (key, *best) and choice.method in METHODS][:1]
    return best


def declared(method: Method) -> dict[str, Any]:
    """What a method says of itself."""
    return {
        "label": method.label,
        "source": method.source,
        "note": method.note,
        "starts": method.starts,
        "reads": method.reads,
        "omega_handed": method.omega_handed,
        "normalises": method.normalises,
        "processed": method.processor is not None,
    }


Entries = dict[str, dict[str, Any]]


def cost(methods: Sequence[Method], exact: xr.Dataset) -> Entries:
    """Torques, operations and the CPU time of a step on this machine (ns, the median of a few samples)."""
    runs = {
        form: run
        for form, run in timing.runs_of(timing.with_unit(methods), ("body",)).items()
        if form.normalised == METHODS[form.method].normalises
    }
    for run in runs.values():
        run(timing.FEWEST)
    with timing.one_core():
        samples = timing.measure(runs, 5, 0.01, timing.clock()[1])
    times = {form.method: float(np.median(values)) for form, values in samples.items()}
    entries = {}
    for method in methods:
        counted: Any
        try:
            counts = operations(method)
            counted = asdict(counts) | {"total": counts.total}
        except (ValueError, ArithmeticError) as error:
            counted = {NOT_APPLICABLE: f"a kernel cannot be counted: {error}"}
        entries[method.key] = {
            "cost": {
                "torques_per_step": method.torques_per_step,
                "torques_per_output": method.torques_per_output,
                "torques_at_start": method.starting_torques(1000),
                "operations": counted,
                "nanoseconds": times[method.key],
                "in_steps_of_euler": times[method.key] / times[timing.UNIT],
            }
        }
    return entries


def errors_on_bodies(methods: Sequence[Method], exact: xr.Dataset) -> Entries:
    """Orders by class of torque against the declaration, error laws, and steps per radian, over the random bodies."""
    entries: Entries = {}
    for method in methods:
        runs = method_dataset(method, exact, STEPS, plugin=True, say=lambda line: None)
        data = runs.expand_dims({"integrator": [method.key]}, 1)
        fitted = laws.laws(data)
        needed = laws.steps_per_radian(data, TARGETS, fitted)["steps"].isel(integrator=0)
        error = laws.errors(data).isel(integrator=0, radians=-1)
        orders, of_class = {}, {}
        for i, key in enumerate(map(str, exact["torque_class"].values)):
            failed = str(runs["failed"].values[i])
            law = fitted.isel(torque_class=i, integrator=0)
            curves = error.isel(torque_class=i)
            claims = method.orders(CLASSES[key].declared)
            orders[key] = {
                name: {"failed": failed} if failed else _order(law.sel(quantity=name), curves.sel(quantity=name), claim)
                for name, claim in zip(("q", "omega"), claims, strict=True)
            }
            both = law.sel(quantity="both")
            growing = laws.spread(both["coefficient"].values)
            curve = laws.spread(curves.sel(quantity="both").values / RADIANS, axis=0)
            of_class[key] = {
                "order": laws.spread(both["order"].values).median,
                "coefficient": {"median": growing.median, "low": growing.low, "high": growing.high},
                "error_per_radian": {"median": curve.median, "low": curve.low, "high": curve.high},
                "steps_per_radian": {f"{target:g}": _spread(needed.values[i, :, k]) for k, target in enumerate(TARGETS)},
                "largest_stable_step": laws.spread(np.nan_to_num(both["stable"].values)).low,
                "stable_at_least": bool(both["stable_at_least"].all()),
                "diverged": int(runs["diverged"].values[i].any(axis=-1).sum()),
            }
        entries[method.key] = {"orders": orders, "laws": of_class}
    return entries


def _order(law: xr.Dataset, error: xr.DataArray, claim: int) -> dict[str, Any]:
    """The measured order, the median over bodies, beside the declared one, with a verdict."""
    values = law["order"].values
    known, measured = np.isfinite(values), laws.spread(values)
    lost = ~np.isfinite(error.values)
    row: dict[str, Any] = {"declared": claim, "measured": measured.median, "low": measured.low, "high": measured.high}
    if lost.all(axis=-1).mean() > 0.5:
        verdict = DIVERGED
    elif np.median(error.values[..., np.argmax(error["step"].values)]) < round_off(error["step"].values.min(), RADIANS):
        verdict, row["measured"] = "exact to rounding", None
    elif known.mean() < 0.5:
        verdict = "follows no power law"
    elif measured.median < claim - TOLERANCE:
        verdict = "lower than declared"
    elif measured.median > claim + TOLERANCE:
        verdict = "higher than declared"
    else:
        verdict = "as declared"
    return row | {"verdict": verdict}


def _spread(values: np.ndarray) -> dict[str, Any]:
    """The median over the bodies and what is sufficient for 90 % of them; None where an error is not reached."""
    ends = laws.spread(values)
    return {"median": ends.median, "ninety_percent": ends.high}


def long_runs(methods: Sequence[Method], exact: xr.Dataset) -> Entries:
    """The energy in long runs, in units of the kinetic energy at the start, and what small librations do."""
    entries: Entries = {}
    for method in methods:
        runs: dict[str, Any] = {}
        for key in LONG:
            problem = single_body(key)
            dt = LONG_STEP / float(np.linalg.norm(problem.omega0))
            kinetic = 0.5 * float(np.array(problem.body.inertia) @ np.square(problem.omega0))
            with np.errstate(over="ignore", invalid="ignore"):
                run = simulate(problem, method, dt, dt * LONG_STEPS, LONG_SAMPLES)
                change = (run["energy"].values - run["energy"].values[0]) / kinetic
            ended = drift(run["time"].values, change)
            runs[key] = {
                "label": problem.label,
                "last": ended.last,
                "largest": ended.largest,
                "growth": ended.growth,
                "share": energy_share(problem, run["omega"].values[-1], change[-1]),
                "radians": run["time"].values / dt * LONG_STEP,
                "change": change,
                DIVERGED: not isfinite(change[-1]),
            }
        roots: dict[str, Any]
        try:
            if unfit := fault(method):
                roots = {"power": 0, "coefficient": None, "limit": 0.0, "caution": unfit}
            else:
                of_method = libration(method)
                roots = {
                    "power": of_method.growth.power,
                    "coefficient": of_method.growth.coefficient,
                    "limit": of_method.limit,
                    "caution": method.caution or "keeps the energy of small librations",
                }
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            roots = {NOT_APPLICABLE: f"its step cannot be linearised about rest: {error}"}
        entries[method.key] = {"long_runs": runs, "librations": roots}
    return entries


def energy_share(problem: Problem, omega: np.ndarray, change: float) -> float:
    """The share that a free body has gained of the energy that it can gain at its angular momentum; below 0: lost.

    The energy of a body of the angular momentum L is at least L^2 / (2 I_max), about the axis of the largest moment, and at
    most L^2 / (2 I_min). NaN under a torque, and where the method has changed the length of L.

    Parameters
    ----------
    omega : (3,), at the end, rad/s in the body frame
    change : of the energy at the end, over the kinetic energy at the start
    """
    inertia, first = np.array(problem.body.inertia), np.array(problem.omega0)
    square = float(np.square(inertia * first).sum())
    with np.errstate(over="ignore", invalid="ignore"):
        length = float(np.linalg.norm(inertia * omega)) / square**0.5
    if problem.torque_class != "free" or not abs(length - 1) < LENGTH_CHANGE:
        return nan
    bound = square / float(inertia @ np.square(first)) / float(inertia.min() if change > 0 else inertia.max()) - 1
    return change / abs(bound) if bound else nan


def held_omega(method: Method) -> dict[str, Any]:
    """The order of the omega that ``stored`` returns, at its declared offset and at others: a wrong one has the first order."""
    problem = single_body(HELD_ON)
    end = HELD_RADIANS / float(np.linalg.norm(problem.omega0))
    offsets = sorted({*OFFSETS, method.stored_offset})
    errors = np.empty((len(HELD_STEPS), len(offsets)))
    for row, steps in zip(errors, HELD_STEPS, strict=True):
        exact = np.array(problem.exact([end + offset * end / steps for offset in offsets], 20)[1], float)
        with np.errstate(over="ignore", invalid="ignore"):
            held = simulate(problem, method, end / steps, end, 1)["stored_omega"].values[-1]
        row[:] = np.abs(exact - held).max(axis=1) / np.linalg.norm(problem.omega0)
    orders = {
        f"{offset:g}": log2(coarse / fine) if isfinite(coarse) and fine > round_off(1 / HELD_STEPS[-1], HELD_RADIANS) else nan
        for offset, coarse, fine in zip(offsets, *errors, strict=True)
    }
    return {"offset": method.stored_offset, "declared": method.orders(problem.torque_class)[1], "orders": orders}


def structure(methods: Sequence[Method], exact: xr.Dataset) -> Entries:
    """Whether a run comes back, whether a step is symplectic, and the largest step that friction allows."""
    settings = {"methods": [method.key for method in methods], "seed": SEED}
    with np.errstate(all="ignore"):  # a method may blow up within a step
        back, form, drag = reversibility(settings), symplecticity(settings), stability(settings)
    entries: Entries = {}
    for i, method in enumerate(methods):
        returned = {
            str(key): {
                "dt": back["dt"].values[j],
                "angle": back["return_angle"].values[i, j],
                "omega": back["return_omega"].values[i, j],
            }
            for j, key in enumerate(back["problem"].values)
        }
        of_method = form.isel(integrator=i)
        defects, memory = of_method["defect"].values, of_method["memory"].values
        largest = defects.max(axis=(0, 2))
        if np.isnan(memory).any():
            verdict = "not found: a step blows up, or has operations without a derivative here"
        elif (memory >= ROUNDING).any():
            verdict = "no map of orientation and momentum alone: it remembers earlier steps"
        elif (largest < ROUNDING).any():
            reading = READINGS[int(np.argmin(largest))]
            verdict = f"symplectic in what it {'carries' if reading == 'carried' else 'outputs'}"
        else:
            verdict = "not symplectic"
        limits = dict(zip(map(str, drag["integrator"].values), drag["limit"].values.tolist(), strict=True))
        entries[method.key] = {
            "held_omega": held_omega(method),
            "reversibility": returned,
            "symplecticity": {
                "verdict": verdict,
                "problems": [str(key) for key in form["problem"].values],
                "defects": {reading: defects[:, k, -1] for k, reading in enumerate(READINGS)},
                "powers": {reading: of_method["power"].values[:, k] for k, reading in enumerate(READINGS)},
            },
            "drag": {"limit": limits[method.key], "tried_to": LARGEST, "limited": isfinite(limits[method.key])}
            if method.key in limits
            else {NOT_APPLICABLE: "several torques in a step: it runs no systems of bodies"},
        }
    return entries


def many_bodies(methods: Sequence[Method], exact: xr.Dataset) -> Entries:
    """The energy in a short run of contacts, and in one of a liquid, with the usual step of each scene."""
    scene, fluid = SCENES[CONTACTS], SCENES[LIQUID]
    assert isinstance(fluid, Fluid)
    duration = LIQUID_STEPS * fluid.usual_step
    entries: Entries = {}
    for method in methods:
        if not isinstance(method, OneTorque):
            no = {NOT_APPLICABLE: "several torques in a step: many bodies need one evaluation of all loads"}
            entries[method.key] = {"contacts": no, "liquid": no}
            continue
        run = simulate_arrays(scene, method, scene.usual_step, 0, CONTACT_SHARE * scene.horizon).dataset()
        lines = liquids.liquids(fluid, [method.key], [fluid.usual_step], duration, [0])
        of_run = {name: float(lines[name].item()) for name in ("drift", "block_error", "lost_at", "lost_by")}
        entries[method.key] = {
            "contacts": {
                "scene": CONTACTS,
                "label": scene.label,
                "dt": scene.usual_step,
                "time": CONTACT_SHARE * scene.horizon,
                "largest_energy_error": float(abs(run["energy_error"]).max()),
                DIVERGED: "diverged" in run.attrs,
            },
            "liquid": {
                "scene": LIQUID,
                "label": fluid.label,
                "dt": fluid.usual_step,
                "time": duration,
                "unit": f"kT/{liquids.long_time(fluid)[1]}",
                **of_run,
                DIVERGED: bool(of_run["lost_by"]),
            },
        }
    return entries


#: What is measured, by what the display of progress calls it.
PARTS: Mapping[str, Callable[[Sequence[Method], xr.Dataset], Entries]] = {
    "cost": cost,
    "random bodies": errors_on_bodies,
    "long runs": long_runs,
    "reversal, canonical form, friction": structure,
    "many bodies": many_bodies,
}


def identity(method: Method) -> dict[str, Any]:
    """Which known methods give the same numbers from the same starts; else, which take the same step from what it holds.

    The candidates are those of the atlas of engines. A method is the same where q and omega agree within rounding at every step
    of every run; the start and the output count. Without such a method, steps are taken from each state that it holds
    (:mod:`polhode_engines.identify`), so that the start and the output do not count. Methods of other files, which stand beside
    it, are not known ones: ``files`` are those that give the same numbers.
    """
    runs = [
        Run(load, tuple(SHARE * x for x in VALUES[load]), INERTIA, Q0, omega0, STEP, tuple(range(COMPARED + 1)))
        for load in ("lab", "velocity", "free")
        for omega0 in (GENERAL, NEAR_MIDDLE)
    ]
    try:
        spun = [motion(method, run) for run in runs]
        held = [motion(method, run, stored=True) for run in runs]
    except (ArithmeticError, ValueError, TypeError) as error:
        return {NOT_APPLICABLE: f"it cannot be stepped in plain Python: {error}"}
    if not all(np.isfinite(motion.omega).all() and np.isfinite(motion.q).all() for motion in spun):
        return {NOT_APPLICABLE: "it diverges"}
    files = {key for key in METHODS.plugins() if key != method.key}
    distances = {
        candidate.key: _distance(candidate, runs, spun)
        for candidate in candidates()
        if candidate.key != method.key and candidate.key not in files
    }
    nearest = min(distances, key=distances.__getitem__)
    same = sorted(key for key, value in distances.items() if value < WITHIN)
    same_step = []
    if not same:
        same_step = [
            deviation.key
            for deviation in deviations(runs, held, EPS)
            if deviation.value < WITHIN and deviation.key != method.key and deviation.key not in files
        ]
    agreeing = sorted(key for key in files if _distance(METHODS[key], runs, spun) < WITHIN)
    return {
        "files": {key: METHODS[key].label for key in agreeing},
        "same": {key: METHODS[key].label if key in METHODS else key for key in same},
        "same_step": {key: METHODS[key].label if key in METHODS else key for key in same_step},
        "nearest": {"key": nearest, "round_offs": distances[nearest]},
        "compared": len(distances),
    }


def motion(method: Method, run: Run, stored: bool = False) -> Spun:
    """q and omega at every step of a run, with ``stored`` the omega that the method holds."""
    driver = driver_of(method, run)
    state = driver.start(run.q0, run.omega0)
    rows = []
    for n in run.samples:
        rows.append((tuple(state[:4]), driver.stored(state)) if stored else driver.read(state, n))
        state = driver.step(state, n)
    return Spun(np.array([q for q, _ in rows], float), np.array([omega for _, omega in rows], float))


def _distance(candidate: Method, runs: Sequence[Run], spun: Sequence[Spun]) -> float:
    """The largest difference over the runs, in round-offs, up to :data:`CLEARLY`; infinite if it fails."""
    worst = 0.0
    for run, spin in zip(runs, spun, strict=True):
        try:
            other = motion(candidate, run)
        except (ArithmeticError, ValueError, TypeError):
            return inf
        rows = zip(other.q, other.omega, spin.q, spin.omega, strict=True)
        worst = max(worst, *(apart(*row) / EPS for row in rows))
        if worst > CLEARLY:
            break
    return worst


def finite(value: Any, digits: int = 17) -> Any:
    """Plain data: arrays as lists, numbers in so many digits, and None for those that are not finite."""
    if isinstance(value, Mapping):
        return {str(key): finite(item, digits) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [finite(item, digits) for item in value]
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if isfinite(value) else None
    return value
