"""Does the step that `polhode recommend` gives meet the error? 100 random cases of a question that are in no data behind it.

    python benchmarks/advice.py motion              # or class, contacts, impacts, liquid; beyond: motions of unusual kinds
    python benchmarks/advice.py class --cases 20 --seed 3 --csv advice.csv

**motion** and **beyond**: a random body, start, torque class, strength, duration and error (1e-2 to 1e-6). The method is run
with the step from the start of the case, and compared at 300 times with a Taylor solution of 20 digits, which shares nothing
with the search for the step; and from five other starts, for which this step is meant too. Of the cases beyond, a quarter each
starts at rest, has a torque of strength 3 to 100, turns 40 to 1,000 rad, and has a drag of 3 to 30 Omega.

**class**: a random torque class, time and error. The method is run on 20 bodies of another draw than that behind the answer,
and compared with a run of fourth order with fine steps. A case is its first body, with the step named for 98 % of bodies;
the share of all 20 that the step for 90 % serves is printed too.

**contacts**: a scene of polhode with another spin and an initial state that was not run before; the mean error of the
energy, with the step named for 98 % of states; the share that the step for 90 % serves is printed too. **impacts**: drawn as
those of the check ``random_impacts``. Each is run from eight starts shifted by parts of a step, all of which must meet the
error (0.1 to 1e-3), against very short steps, or with ``--exact`` against solutions to six digits.
These take minutes, and one in fifty is not found: it then counts for nothing.

**liquid**: water whose hydrogen has 0.6 to 4 times its mass, so that its librations have another period, which is measured
first. A drift counts as missed where it exceeds what is allowed by more than two of its own errors.

An answer that is refused is counted apart.
"""

import argparse
import csv
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import exp, isfinite, log
from pathlib import Path
from time import process_time

import numpy as np

from polhode.advice import AdviceError, recommend
from polhode.advice.answer import Recommendation
from polhode.advice.cases import BodyCase, case_of_problem, parameters_of, unit_vector
from polhode.advice.from_runs import LIMIT, from_runs
from polhode.advice.motion import Budget, motion_of
from polhode.algebra import metrics
from polhode.algebra.body import Body
from polhode.ensembles.classes import CLASSES
from polhode.ensembles.draw import draw as draw_bodies
from polhode.ensembles.many import march
from polhode.fits.impact_errors import CURED, LIKE_CODES
from polhode.fits.liquid_drifts import fastest
from polhode.interface.progress import Stage, watched
from polhode.manybody import scenes, simulate
from polhode.manybody.molecule import Molecule
from polhode.methods import METHODS
from polhode.problems.problem import Problem
from polhode.references import taylor
from polhode.references.impact import Impact, solve
from polhode_study.chapters.impacts import run_random as random_impacts
from polhode_study.chapters.impacts.run import ExactImpact, laws, one_torque, scene_of
from polhode_study.chapters.liquids import run as liquids

#: The seed of the ensembles is 0, that of the starts drawn for an answer 1702.
SEED = 20261126
#: Ranges of the draw: strength, radians turned at the initial speed, angular velocity (rad/s), price of a torque, error.
STRENGTH, RADIANS, OMEGA, PRICE, ERROR = (0.03, 3.0), (3.0, 40.0), (0.1, 1e3), (0.1, 1e4), (1e-6, 1e-2)
#: Strengths of the cases beyond, by kind, and radians turned by those that are long.
BEYOND = {"at rest": (0.1, 3.0), "strong": (3.0, 100.0), "long": (0.01, 1.0), "drag": (3.0, 30.0)}
LONG = (40.0, 1000.0)
#: Of impacts: range of the error, and digits of the exact ones.
IMPACT_ERROR, IMPACT_DIGITS = (1e-3, 1e-1), 6
#: Smallest over largest moment of inertia.
THINNEST = 0.02
#: Times at which a run is compared, digits of the Taylor solution, and other starts of each case.
TIMES, DIGITS, STARTS = 300, 20, 5
#: Of a class: number of bodies, radians turned, and steps per radian of the run that others are compared with.
BODIES, CLASS_RADIANS, FINE = 20, (2.0, 16.0), 128
#: Of contacts: the scenes, the range of the error, and that of the spin over the usual one.
SCENES, CONTACT_ERROR, SPINS = ("chess", "rods", "mixed_sizes", "eccentric_spheres"), (1e-4, 1e-2), (0.3, 2.0)
#: Of each scene, how long 32 bodies are in contact for as large an error: its contact times, times 32 over its bodies.
CONTACTS = {"chess": 9.2, "rods": 18.4, "mixed_sizes": 19.1, "eccentric_spheres": 9.4}
#: The part of a contact scene's horizon that is run; that of rods is 60 times as long as the one behind the answer.
PARTS = {"rods": 1 / 60}
#: Of a liquid: range of the mass of hydrogen, of the drift (kT per degree of freedom and ns), and durations in fs.
HYDROGEN, DRIFT, SPECTRUM_TIME, DRIFT_TIME = (0.6, 4.0), (0.02, 2.0), 6_000.0, 50_000.0

Row = dict[str, float | str]


def _random(i: int, seed: int) -> tuple[np.random.Generator, Callable[[tuple[float, float]], float]]:
    """The random numbers of case i, and a draw that is uniform in the logarithm."""
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(i,)))
    return random, lambda ends: exp(random.uniform(*map(log, ends)))


@dataclass(frozen=True)
class Asked:
    """A case with the error and the price of a torque asked for."""

    problem: Problem
    torque_class: str
    error: float
    price: float
    one_torque: bool
    kind: str


def draw(i: int, seed: int = SEED, beyond: bool = False) -> Asked:
    """Case number i, of an unusual kind with ``beyond``."""
    random, between = _random(i, seed)
    kind = list(BEYOND)[i % len(BEYOND)] if beyond else ""
    while True:
        # Twice the second moments of a random distribution of mass: every possible body.
        moments = (1 - random.dirichlet((1.0, 1.0, 1.0))) * between((1e-6, 1.0))
        if moments.min() > THINNEST * moments.max():
            break
    classes = (
        [key for key in CLASSES if key.startswith("friction") == (kind == "drag") and key != "free"] if kind else [*CLASSES]
    )
    key = str(random.choice(classes))
    omega, strength = between(OMEGA), between(BEYOND.get(kind, STRENGTH))
    radians = between(LONG if kind == "long" else RADIANS)
    problem = Problem(
        key=f"random_{i}",
        label=f"random case {i}",
        source="benchmarks/advice.py",
        body=Body(tuple(float(x) for x in moments)),
        omega0=tuple(float(x) for x in (kind != "at rest") * omega * unit_vector(random, 3)),
        q0=tuple(float(x) for x in unit_vector(random, 4)),
        torque=CLASSES[key].torque,
        parameters=parameters_of(key, moments, omega, strength, random),
        torque_class=CLASSES[key].declared,
        horizon=radians / omega,
    )
    return Asked(problem, key, between(ERROR), between(PRICE), bool(random.random() < 0.5), kind)


def other_start(problem: Problem, i: int, seed: int = SEED) -> Problem:
    """Another start of the same body under the same torque."""
    random = np.random.default_rng(np.random.SeedSequence(seed + 1, spawn_key=(i,)))
    size = float(np.linalg.norm(problem.omega0))
    other = replace(
        problem,
        omega0=tuple(float(x) for x in size * unit_vector(random, 3)),
        q0=tuple(float(x) for x in unit_vector(random, 4)),
    )
    other.__dict__["compiled_torque"] = problem.compiled_torque
    return other


def error_of(problem: Problem, method: str, steps: int) -> float:
    """The largest error of a run against the Taylor solution: of the angle (rad), and of omega over the largest |omega|."""
    at = np.unique(np.rint(np.linspace(0, steps, min(steps, TIMES) + 1)).astype(np.int64))[1:]
    dt = problem.horizon / steps
    q, omega, _, _ = METHODS[method].integrate(
        problem.q0, problem.omega0, problem.body.coefficients(), problem.compiled_torque, problem.parameter_array, dt, at
    )
    if not (np.isfinite(q).all() and np.isfinite(omega).all()):
        return float("inf")
    states = taylor.solve(problem, [float(t) for t in at * dt], DIGITS)
    exact_q = np.array([[float(x) for x in q] for q, _ in states])
    exact_omega = np.array([[float(x) for x in w] for _, w in states])
    scale = max(np.linalg.norm(exact_omega, axis=1).max(), np.linalg.norm(problem.omega0))
    return float(max(metrics.geodesic_angle(q, exact_q).max(), np.linalg.norm(omega - exact_omega, axis=1).max() / scale))


@dataclass(frozen=True)
class Checked:
    """What became of a case: errors over the error asked for, from the own start and from others."""

    question: Asked
    answer: Recommendation
    of_given_start: float
    others: list[float]


def check(question: Asked, starts: int = STARTS, seed: int = SEED) -> Checked:
    """Ask for the step of a case, and run it."""
    case: BodyCase = case_of_problem(question.problem)
    answer = from_runs(case, question.error, question.price, question.one_torque)
    assert answer.best.steps is not None
    of_given_start = error_of(question.problem, answer.method, answer.best.steps) / question.error
    budget = Budget(LIMIT)
    other_motions = [motion_of(other_start(question.problem, i, seed), 0.1 * question.error, budget) for i in range(starts)]
    method = METHODS[answer.method]
    return Checked(
        question,
        answer,
        of_given_start,
        [one.error(method, answer.best.steps, TIMES) / question.error for one in other_motions],
    )


def solved(impact: Impact) -> ExactImpact:
    """The impact with its exact end."""
    solution = solve(impact, IMPACT_DIGITS)
    after = [[getattr(body, name) for body in solution.end.bodies] for name in ("velocity", "q", "omega")]
    return ExactImpact(impact, float(solution.duration), *after)


def check_impact(i: int, seed: int = SEED, exact: bool = False) -> Row:
    """The largest error of a held-back impact over the error asked for, with all cures and as codes have it."""
    random = np.random.default_rng(np.random.SeedSequence(seed + 1, spawn_key=(i,)))
    error = exp(random.uniform(*map(log, IMPACT_ERROR)))
    impact = random_impacts.draw(i, seed)
    friction, restitution = float(impact.friction), random_impacts.restitution_of(impact)
    answer = recommend(
        contact_time=random_impacts.contact_time(impact), friction=friction, restitution=restitution, error=error
    )
    known, every_law = solved(impact) if exact else random_impacts.FineImpact(impact), laws(impact)
    row: Row = {"case": i, "friction": friction, "restitution": restitution, "error": error}
    for kind, choice in zip((CURED, LIKE_CODES), answer.alternatives, strict=True):
        scene, method = scene_of(impact, every_law[kind]), one_torque(answer.method)
        ends, _ = known.run(scene, method, known.start(choice.dt), known.duration / choice.dt, random_impacts.LASTS)
        name = "ratio" if kind == CURED else "as_codes"
        row |= {f"dt_{kind}": choice.dt, name: float(max(far.max() for far in known.distances(ends)) / error)}
    return row


def check_class(i: int, seed: int) -> Row:
    """The error of a held-back body over the error asked for, and the share of all that are served."""
    random, between = _random(i, seed)
    key = str(random.choice(list(CLASSES)))
    error, radians = between(ERROR), None if random.random() < 0.3 else between(CLASS_RADIANS)
    row: Row = {"case": i, "class": key, "error": error, "radians": radians or np.nan}
    answer = recommend(torque=key, omega=1.0, time=radians, error=error, torque_price=between(PRICE), laws=True)
    ensemble = draw_bodies(BODIES, seed + i)
    bodies, torque = ensemble.bodies(key), CLASSES[key].compiled_torque
    time = radians or 16.0
    fine = int(np.ceil(time * FINE))
    exact, coarse = (march(bodies, METHODS["rkmk4"], torque, time / n, np.array([n])) for n in (2 * fine, fine))

    def ratio(q: np.ndarray, omega: np.ndarray) -> np.ndarray:
        apart = np.linalg.norm(omega - exact[1], axis=-1)
        size = np.maximum(metrics.geodesic_angle(q, exact[0]), apart).ravel()
        return np.where(np.isfinite(size), size, np.inf) / (error * (time if radians is None else 1.0))

    known = ratio(*coarse[:2]) < 0.1
    row |= {"method": answer.method, "dt": answer.dt, "known_from": answer.kind, "known": int(known.sum())}
    for name, dt in (("promised", answer.dt), ("safe", answer.interval[0])):
        steps = int(np.ceil(time / dt))
        ratios = ratio(*march(bodies, METHODS[answer.method], torque, time / steps, np.array([steps]))[:2])
        row |= {f"{name}_serves": float(np.mean(ratios[known] <= 1)), f"{name}_over_2": float(np.mean(ratios[known] > 2))}
        row["ratio"] = float(ratios[0]) if known[0] else np.nan
    return row


def check_contacts(i: int, seed: int) -> Row:
    """The mean energy error of a held-back state over the error asked for, with the steps for 90 and 98 % of states."""
    random, between = _random(i, seed)
    key = str(random.choice(SCENES))
    scene, error = scenes[key], between(CONTACT_ERROR)
    scene = scene.with_spin(scene.spin * between(SPINS))
    # As many bodies in contact for as long as those of the scene.
    answer = recommend(contact_time=scene.contact_time(scene.speed), error=error, contacts=CONTACTS[key])
    row: Row = {"case": i, "scene": key, "spin": scene.spin, "error": error, "method": answer.method, "dt": answer.dt}
    for name, dt in (("promised", answer.dt), ("safe", answer.interval[0])):
        run = simulate(scene, answer.method, dt, seed=seed + i, t_end=scene.horizon * PARTS.get(key, 1.0), samples=100)
        energy = (run["kinetic"] + run["potential"]).values
        mean = float(np.abs(energy / energy[0] - 1)[1:].mean())
        row["ratio"] = mean / error if isfinite(mean) else np.inf
        row |= {f"{name}_serves": float(row["ratio"] <= 1), f"{name}_over_2": float(row["ratio"] > 2)}
    return row


def check_liquid(i: int, seed: int) -> Row:
    """The drift of a held-back liquid over the drift asked for, less two of its errors; and the errors."""
    _, between = _random(i, seed)
    hydrogen, drift = 1.008 * between(HYDROGEN), between(DRIFT)
    water = scenes["water64"]
    (molecule, count), *_ = water.clumps
    masses = [15.9994, hydrogen, hydrogen]
    sites = {name: getattr(molecule, name) for name in ("charges", "epsilon", "sigma", "names")}
    heavier = Molecule.of_sites("water", positions=molecule.sites, masses=masses, **sites)
    liquid = replace(water, key="water", molecules=((heavier, count),))
    spectrum = liquids.liquid_spectrum(liquid, [seed + i], 1.0, SPECTRUM_TIME, segment=1024)
    period = 2 * np.pi / fastest(spectrum)
    answer = recommend(liquid=period * 1e-15, drift=drift)
    history, lost_at, _ = liquids.followed(liquid, METHODS[answer.method], answer.dt * 1e15, seed + i, DRIFT_TIME)
    line = liquids.drift_of(history.time / 1e6, history.energy / (6 * len(liquid)))
    row: Row = {"case": i, "hydrogen": hydrogen, "period": period, "allowed": drift, "method": answer.method, "dt": answer.dt}
    row |= {"drift": line.slope, "block_error": line.block_error, "lost_at": lost_at}
    ratio = np.inf if isfinite(lost_at) else max(0.0, abs(line.slope) - 2 * line.block_error) / drift
    return row | {"ratio": ratio}


def check_motion(i: int, seed: int, beyond: bool = False) -> Row:
    """The error of a motion over the error asked for, and from other starts."""
    question = draw(i, seed, beyond)
    row: Row = {
        "case": i,
        "class": question.torque_class,
        "error": question.error,
        "price": question.price,
        "kind": question.kind,
    }
    checked = check(question, seed=seed)
    row |= {"method": checked.answer.method, "dt": checked.answer.dt, "ratio": checked.of_given_start}
    return row | {"others": float(np.mean(np.array(checked.others) <= 1)), "worst_other": max(checked.others)}


def main() -> int:
    """Check the cases and print how many meet the error."""
    questions: dict[str, Callable[[int, int], Row]] = {
        "motion": check_motion,
        "beyond": lambda i, seed: check_motion(i, seed, beyond=True),
        "class": check_class,
        "contacts": check_contacts,
        "impacts": lambda i, seed: check_impact(i, seed, arguments.exact),
        "liquid": check_liquid,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question", choices=questions)
    parser.add_argument("--cases", type=int, default=100, help="number of cases (%(default)s)")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of the draw (%(default)s)")
    parser.add_argument("--exact", action="store_true", help="compare impacts with exact solutions")
    parser.add_argument("--csv", type=Path, help="also write one line per case to this file")
    arguments = parser.parse_args()
    rows: list[Row] = []
    stage, begun = Stage(arguments.question, arguments.cases, "cases"), process_time()
    with watched(stage):
        for i in range(arguments.cases):
            try:
                rows.append(questions[arguments.question](i, arguments.seed))
            except (AdviceError, ArithmeticError) as error:
                rows.append({"case": i, "refused": str(error)})
            stage.advance()
    answered = [row for row in rows if "refused" not in row]
    ratios = np.array([float(row["ratio"]) for row in answered])
    known = np.isfinite(ratios) | np.isposinf(ratios)
    print(
        f"{arguments.question}: {(ratios <= 1).sum()} of {known.sum()} meet the error, {(ratios > 2).sum()} miss it by more "
        f"than a factor of 2; median {np.nanmedian(ratios):.2f} of it, most {np.nanmax(ratios):.2f}; "
        f"{len(rows) - len(answered)} refused, {(~known).sum()} not known; {process_time() - begun:.0f} s"
    )
    for name in ("promised_serves", "promised_over_2", "safe_serves", "safe_over_2", "others", "as_codes"):
        values = np.array([float(row[name]) for row in answered if name in row])
        if values.size:
            print(f"{name}: mean {values.mean():.3g}, from {values.min():.3g} to {values.max():.3g}")
    for row in rows:
        if "refused" in row or not float(row["ratio"]) <= 1:
            print(
                ", ".join(
                    f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}" for name, value in row.items()
                )
            )
    if arguments.csv is not None:
        with arguments.csv.open("w", newline="") as file:
            table = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
            table.writeheader()
            table.writerows(rows)
    return 0 if (ratios <= 1).sum() >= 0.95 * known.sum() else 1


if __name__ == "__main__":
    sys.exit(main())
