"""Impacts with friction and beds of grains in other codes, and in ours with their bookkeeping: what each does in a contact."""

import datetime
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import xarray as xr

from polhode.interface.arrays import about
from polhode.interface.table import simple
from polhode.manybody.forces import FORCES
from polhode.manybody.law import BOOKKEEPING, ForceLaw
from polhode.manybody.placement import State
from polhode.manybody.restitution import tsuji_restitution
from polhode.manybody.scene import Scene
from polhode.manybody.scenes import SCENES
from polhode.manybody.simulation import run
from polhode.methods.protocol import OneTorque
from polhode.references.impact import HertzMindlin, solve
from polhode.references.known_impacts import known_impacts
from polhode.version import __version__
from polhode_engines.contacts import Collided, collide, collision
from polhode_engines.environments import RUN_LIMIT
from polhode_engines.protocol import Contacts, Engine
from polhode_study.chapters.grains.run import settling_time, touching
from polhode_study.chapters.impacts.run import LABELS, ExactImpact, one_torque, scene_of

#: Steps in the time of contact; those of the run whose ends stand for the limit of short steps.
DIVISIONS = (10, 20, 40, 80, 160, 320, 640)
FINEST = 20480
#: Digits of the references that are not kept.
DIGITS = 12
#: The step at which the report shows errors, and from which on orders are fitted.
SHOWN = 40
#: Where the energy goes in an impact: columns of the ledger of a run.
FORMS = ("dissipated_normal", "dissipated_tangential", "dissipated_sliding", "taken_by_law")
#: The bed of grains: its scene, the time simulated (s), steps in a contact, initial states, and samples.
BED, END, BED_DIVISION, SEEDS, SAMPLES = "bed", 0.4, 20, 8, 80
#: What is read off a bed, its meaning and unit.
READ_OFF = {
    "height": ("mean height of the centres of mass above the floor at the end", "m"),
    "contacts": ("contacts of a grain with spheres of others and with walls at the end", "1"),
    "settling_time": ("time at which the kinetic energy falls below 0.01 of that at the start", "s"),
}
#: Parameters of laws that say what is done in a contact.
CHOICES = (*BOOKKEEPING, "slip", "increment")
#: Our engine with all cures, which is run beside.
OURS = Contacts(chosen_by="defaults", law="hertz_mindlin_tsuji", bookkeeping="", method="spiral_leapfrog")


def imitation(declared: Contacts, friction: float = 0.5, restitution: float = 0.8) -> ForceLaw:
    """Our law with the bookkeeping of a code."""
    law = FORCES[declared.law].with_parameters(friction=friction, restitution=restitution)
    return law.as_in(declared.bookkeeping) if declared.bookkeeping else law


@cache
def exact_impact(key: str, incremental: bool) -> ExactImpact:
    """An impact with its reference, for a law that keeps the force of its spring or its stretch."""
    if not incremental:
        return ExactImpact.known(key)
    impact = replace(known_impacts()[key], incremental=True)
    solution = solve(impact, DIGITS)
    after = [[getattr(body, name) for body in solution.end.bodies] for name in ("velocity", "q", "omega")]
    return ExactImpact(impact, float(solution.duration), *after)


def jobs() -> int:
    """The number of runs of a code, for a bar."""
    return len(LABELS) * (len(DIVISIONS) + 1) + SEEDS


def contacts_in(engine: Engine | None, progress: Callable[[], object] = lambda: None, limit: float = RUN_LIMIT) -> xr.Dataset:
    """Impacts and beds in an engine that declares contacts, without one in ours: :func:`impacts_in`, :func:`beds_in`.

    Parameters
    ----------
    progress : called after each of :func:`jobs` runs
    limit : seconds that one run may take
    """
    return impacts_in(engine, progress, limit).merge(beds_in(engine, progress, limit))


def beds_in(engine: Engine | None, progress: Callable[[], object] = lambda: None, limit: float = RUN_LIMIT) -> xr.Dataset:
    """The scene ``bed`` in an engine that declares contacts, without one in ours, from the same initial states.

    Arguments as for :func:`contacts_in`.

    Returns
    -------
    xarray.Dataset
        Over code (one) and seed: :data:`READ_OFF` with the prefix ``bed_``; ``bed_kinetic`` (J) also over bed_time; and
        ``bed_share``, the parts of the energy that dashpots and sliding dissipate in our engine with the bookkeeping of the
        code, over form. A run that failed has NaN, and a line in ``bed_failures``.
    """
    declared = engine.contacts if engine else OURS
    assert declared is not None
    bed, method = SCENES[BED], one_torque(declared.method)
    values = (float(bed.force_law.value(name)) for name in ("friction", "restitution"))
    scene = replace(bed, law=imitation(declared, *values))
    dt = scene.contact_time() / BED_DIVISION
    steps = [round(x) for x in np.linspace(0, END / dt, SAMPLES + 1)]
    plans = [(scene, scene.initial_state(seed), dt, steps) for seed in range(SEEDS)]
    imitations = [_run(method, *plan) for plan in plans]
    done = [Collided(ours["motion"]) for ours in imitations]
    if engine:
        _, done = collide(engine, [collision(*plan) for plan in plans], progress, limit)
    bodies = [clump.body(scene.material.density) for clump in scene.every_clump]
    mass, inertia = np.array([body.mass for body in bodies]), np.array([body.inertia for body in bodies])
    kinetic = np.array([_kinetic(outcome.motion, mass, inertia) for outcome in done])
    read = np.full((len(READ_OFF), SEEDS), np.nan)
    for seed, outcome in enumerate(done):
        if not outcome.error:
            r, q = outcome.motion[-1, :, :3], outcome.motion[-1, :, 6:10]
            settled = settling_time(np.array(steps) * dt, kinetic[seed], 0.01 * float(kinetic[seed, 0]))
            read[:, seed] = r[:, 2].mean() + scene.box / 2, touching(scene, r, q) / len(scene), settled
    energy = np.array([ours["ledger"][-1, 3:7] for ours in imitations]).T
    shares = energy / energy[:3].sum(0)
    errors = "; ".join(sorted({outcome.error for outcome in done if outcome.error}))
    data: dict[str, Any] = {
        **{f"bed_{name}": (("code", "seed"), read[[k]], about(*READ_OFF[name])) for k, name in enumerate(READ_OFF)},
        "bed_kinetic": (("code", "seed", "bed_time"), kinetic[None].astype("float32"), about("kinetic energy", "J")),
        "bed_share": (
            ("code", "form", "seed"),
            shares[None],
            about("energy by the imitation at the end, over all that dashpots and sliding dissipate"),
        ),
        "bed_failures": ("code", [errors], {"long_name": "what went wrong with beds, if anything"}),
    }
    coords: dict[str, Any] = {
        "code": ("code", [engine.key if engine else "polhode"]),
        "seed": ("seed", np.arange(SEEDS), {"long_name": "seed of the initial state"}),
        "bed_time": ("bed_time", np.array(steps) * dt, about("time", "s")),
        "form": ("form", list(FORMS)),
    }
    return xr.Dataset(data, coords)


def impacts_in(engine: Engine | None, progress: Callable[[], object] = lambda: None, limit: float = RUN_LIMIT) -> xr.Dataset:
    """The impacts of :mod:`polhode_study.chapters.impacts.run` in an engine that declares contacts; without one, in ours.

    Errors of spin and velocity are medians over starts shifted by parts of a step, in the units of these impacts: ``error``
    against the reference of the law, with arms to the contact point; ``step_error`` against the code's own limit of short
    steps, of which ``off`` is the distance to the reference. ``deviation`` is the largest distance from ours with the
    bookkeeping of the code. A run that failed has NaN, and a line in ``failures``.

    Arguments as for :func:`contacts_in`.

    Returns
    -------
    xarray.Dataset
        Over code (one), quantity, case and division.
    """
    declared = engine.contacts if engine else OURS
    assert declared is not None
    method = one_torque(declared.method)
    exact = [exact_impact(key, "incremental" in declared.law) for key in LABELS]
    plans = []
    for case in exact:
        assert isinstance(case.impact.law, HertzMindlin)
        law = imitation(declared, float(case.impact.friction), tsuji_restitution(float(case.impact.law.alpha)))
        for division in (*DIVISIONS, FINEST):
            dt = case.duration / division
            plans.append((scene_of(case.impact, law), case.start(dt), dt, case.steps(division)))
    if engine:
        version, done = collide(engine, [collision(*plan) for plan in plans], progress, limit)
    else:
        version, done = __version__, [Collided(_run(method, *plan)["motion"]) for plan in plans]
    error, step_error, deviation = np.full((3, 2, len(exact), len(DIVISIONS)), np.nan)
    off, order = np.full((2, 2, len(exact)), np.nan)
    energy = np.full((len(exact), len(FORMS)), np.nan)
    for c, case in enumerate(exact):
        first = c * (len(DIVISIONS) + 1)
        ends = [case.after(answer.motion) for answer in done[first : first + len(DIVISIONS) + 1]]
        off[:, c] = np.median(case.distances(ends[-1]), axis=1)
        for d, plan in enumerate(plans[first : first + len(DIVISIONS)]):
            error[:, c, d] = np.median(case.distances(ends[d]), axis=1)
            step_error[:, c, d] = np.median(case.distances(ends[d], ends[-1]), axis=1)
            ours = _run(method, *plan)
            deviation[:, c, d] = np.max(case.distances(ends[d], case.after(ours["motion"])), axis=1)
            if DIVISIONS[d] == SHOWN:
                energy[c] = ours["ledger"][1, 3:7] / ours["energies"][0, 0]
        fine = DIVISIONS.index(SHOWN)
        if np.isfinite(step_error[:, c, fine:]).all():
            order[:, c] = -np.polyfit(np.log(DIVISIONS[fine:]), np.log(step_error[:, c, fine:].T), 1)[0]
    name = (engine.key, engine.label) if engine else ("polhode", "polhode")
    return _named(*name, declared, version, error, step_error, deviation, off, order, energy, done)


def _run(method: OneTorque, scene: Scene, start: State, dt: float, steps: list[int]) -> dict[str, np.ndarray]:
    """A run of our engine."""
    return run(scene, method, dt, start, np.array(steps), record=True)


def _kinetic(motion: np.ndarray, mass: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """The kinetic energy at each sample, J."""
    straight, turning = mass * (motion[:, :, 3:6] ** 2).sum(2), (inertia * motion[:, :, 10:] ** 2).sum(2)
    energy: np.ndarray = 0.5 * (straight + turning).sum(1)
    return energy


def _named(key: str, label: str, declared: Contacts, version: str, *values: Any) -> xr.Dataset:
    """The results with names and units."""
    error, step_error, deviation, off, order, energy, done = values
    law = imitation(declared)

    def of_code(value: Any, long_name: str, *dimensions: str, units: str = "1") -> Any:
        return ("code", *dimensions), np.asarray(value)[None], about(long_name, units)

    over = "quantity", "case"
    texts = {
        "label": (label, "name of the code"),
        "version": (version, "version of the code"),
        "chosen_by": (declared.chosen_by, "how contacts and integrators were chosen"),
        "law": (law.key, "law of force that imitates the code"),
        "method": (declared.method, "method that imitates its integrator"),
        "left": (declared.left, "what the imitation leaves out"),
        "failures": ("; ".join(sorted({outcome.error for outcome in done if outcome.error})), "what went wrong, if anything"),
    }
    data = {name: (("code",), [text], {"long_name": long_name}) for name, (text, long_name) in texts.items()}
    for name in CHOICES:
        word = str(law.value(name)) if name in law.all_parameters else ""
        data[f"choice_{name}"] = (("code",), [word], {"long_name": f"value of the law's parameter {name}"})
    data |= {
        "error": of_code(error, "error against the reference of the law", *over, "division"),
        "step_error": of_code(step_error, "error against the code's own limit of short steps", *over, "division"),
        "deviation": of_code(deviation, "largest distance from the imitation", *over, "division"),
        "off": of_code(off, "distance of the code's own limit from the reference", *over),
        "order": of_code(order, "order of the error against the code's own limit", *over),
        "energy": of_code(energy, f"energy by the imitation at T/{SHOWN}, in units of the kinetic one before", "case", "form"),
    }
    return xr.Dataset(
        {**data, "case_label": ("case", list(LABELS.values()), {"long_name": "name of the case"})},
        {
            "code": ("code", [key], {"long_name": "key of the code"}),
            "quantity": ("quantity", ["spin", "velocity"], {"long_name": "angular momentum, and velocity"}),
            "case": ("case", list(LABELS), {"long_name": "impact"}),
            "division": ("division", list(DIVISIONS), about("steps in the time of contact")),
            "form": ("form", list(FORMS), {"long_name": "form of energy"}),
        },
        {
            "title": "Impacts with friction in other codes",
            "polhode": __version__,
            "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
            "finest": FINEST,
        },
    )


def merged(old: xr.Dataset, new: xr.Dataset) -> xr.Dataset:
    """The codes of ``new``, with those of ``old`` that it does not have, sorted."""
    others = old.sel(code=[code for code in old["code"].values if code not in new["code"].values])
    joined = xr.concat([others, new], "code", data_vars="minimal", coords="minimal", compat="override", join="override")
    return joined.sortby("code").assign_attrs(new.attrs)


def as_text(data: xr.Dataset) -> str:
    """For a terminal: errors of the spin at T/40, orders and distances, one line for each code and impact."""
    head = ["code", "impact", f"error T/{SHOWN}", "of the step", "order", "law", "imitation"]
    rows = []
    for code in data["code"].values:
        for case in data["case"].values:
            of_case = data.sel(code=code, case=case)
            spin = of_case.sel(quantity="spin")
            shown = [float(spin[name].sel(division=SHOWN)) for name in ("error", "step_error")]
            numbers = [*shown, float(spin["order"]), float(spin["off"]), float(of_case["deviation"].max())]
            rows.append([code, case, *(f"{x:.2g}" for x in numbers)])
    beds = [
        f"{code}: height of the bed {float(values.mean()) * 1e3:.3f} mm, over seeds +-{float(values.std(ddof=1)) * 1e3:.3f} mm"
        for code, values in zip(data["code"].values, data["bed_height"], strict=True)
    ]
    failures = [f"{code}: {text}" for code, text in zip(data["code"].values, data["failures"].values, strict=True) if text]
    return "\n".join([simple(head, rows).text(), *beds, *failures])
