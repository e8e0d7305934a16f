"""Does the step that `polhode recommend` gives meet the error? 100 random cases that are in no ensemble.

    python benchmarks/advice.py                     # 100 cases
    python benchmarks/advice.py --cases 20 --seed 3 --csv advice.csv
    python benchmarks/advice.py --impacts           # 100 impacts with friction instead, --exact against exact solutions

Every case has a random body, start, torque class, strength, duration and error (1e-2 to 1e-6). The recommended method is run
with the recommended step from the start of the case, and compared at 300 times with a Taylor solution of 20 digits, which
shares nothing with the search for the step. From five other starts it is run with this step, which is meant for them too, and
with the one named for the start of the case alone; the motions there are those of two methods of fourth order, known to a
thousandth of the error.

The impacts are drawn as those of the check ``random_impacts``, but with another seed. Each is run with the recommended step
from eight starts shifted by parts of a step, all of which must meet the error (0.1 to 1e-3), against very short steps, or
with ``--exact`` against solutions to six digits. These take minutes, and one in fifty is not found: it then counts for nothing.
"""

import argparse
import csv
import sys
from dataclasses import dataclass, replace
from math import exp, isfinite, log
from pathlib import Path

import numpy as np

from polhode.advice import recommend
from polhode.advice.answer import Recommendation
from polhode.advice.cases import BodyCase, case_of_problem, parameters_of, unit_vector
from polhode.advice.from_runs import LIMIT, from_runs
from polhode.advice.motion import Budget, motion_of
from polhode.algebra import metrics
from polhode.algebra.body import Body
from polhode.ensembles.classes import CLASSES
from polhode.fits.impact_errors import CURED, LIKE_CODES
from polhode.interface.progress import Stage, watched
from polhode.methods import METHODS
from polhode.problems.problem import Problem
from polhode.references import taylor
from polhode.references.impact import Impact, solve
from polhode.study.run import random_impacts
from polhode.study.run.impacts import ExactImpact, laws, one_torque, scene_of

#: The seed of the ensembles is 0, that of the starts drawn for an answer 1702.
SEED = 20261123
#: Ranges of the draw: strength, radians turned at the initial speed, angular velocity (rad/s), price of a torque, error.
STRENGTH, RADIANS, OMEGA, PRICE, ERROR = (0.03, 3.0), (3.0, 40.0), (0.1, 1e3), (0.1, 1e4), (1e-6, 1e-2)
#: Of impacts: range of the error, and digits of the exact ones.
IMPACT_ERROR, IMPACT_DIGITS = (1e-3, 1e-1), 6
#: Smallest over largest moment of inertia.
THINNEST = 0.02
#: Times at which a run is compared, digits of the Taylor solution, and other starts of each case.
TIMES, DIGITS, STARTS = 300, 20, 5


@dataclass(frozen=True)
class Asked:
    """A case with the error and the price of a torque asked for."""

    problem: Problem
    torque_class: str
    error: float
    price: float
    one_torque: bool


def draw(i: int, seed: int = SEED) -> Asked:
    """Case number i."""
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(i,)))

    def between(least: float, most: float) -> float:
        return exp(random.uniform(log(least), log(most)))

    while True:
        # Twice the second moments of a random distribution of mass: every possible body.
        moments = (1 - random.dirichlet((1.0, 1.0, 1.0))) * between(1e-6, 1.0)
        if moments.min() > THINNEST * moments.max():
            break
    key = str(random.choice(list(CLASSES)))
    omega, strength = between(*OMEGA), between(*STRENGTH)
    problem = Problem(
        key=f"random_{i}",
        label=f"random case {i}",
        source="benchmarks/advice.py",
        body=Body(tuple(float(x) for x in moments)),
        omega0=tuple(float(x) for x in omega * unit_vector(random, 3)),
        q0=tuple(float(x) for x in unit_vector(random, 4)),
        torque=CLASSES[key].torque,
        parameters=parameters_of(key, moments, omega, strength, random),
        torque_class=CLASSES[key].declared,
        horizon=between(*RADIANS) / omega,
    )
    return Asked(problem, key, between(*ERROR), between(*PRICE), bool(random.random() < 0.5))


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
    """What became of a case: errors over the error asked for, from the own start, from others, and from these with the
    step for the own start alone."""

    asked: Asked
    found: Recommendation
    own: float
    others: list[float]
    alone: list[float]


def check(asked: Asked, starts: int = STARTS, seed: int = SEED) -> Checked:
    """Ask for the step of a case, and run it."""
    case: BodyCase = case_of_problem(asked.problem)
    found = from_runs(case, asked.error, asked.price, asked.one_torque)
    assert found.best.steps is not None
    alone = next(row.steps for row in found.alternatives if row.method == found.method)
    assert alone is not None
    own = error_of(asked.problem, found.method, found.best.steps) / asked.error
    budget = Budget(LIMIT)
    elsewhere = [motion_of(other_start(asked.problem, i, seed), 0.1 * asked.error, budget) for i in range(starts)]
    method = METHODS[found.method]
    return Checked(
        asked,
        found,
        own,
        [one.error(method, found.best.steps, TIMES) / asked.error for one in elsewhere],
        [one.error(method, alone, TIMES) / asked.error for one in elsewhere],
    )


def solved(impact: Impact) -> ExactImpact:
    """The impact with its exact end."""
    solution = solve(impact, IMPACT_DIGITS)
    after = [[getattr(body, name) for body in solution.end.bodies] for name in ("velocity", "q", "omega")]
    return ExactImpact(impact, float(solution.duration), *after)


def check_impact(i: int, seed: int = SEED, exact: bool = False) -> dict[str, float]:
    """The largest error of a held-back impact over the error asked for, with all cures and as codes have it."""
    random = np.random.default_rng(np.random.SeedSequence(seed + 1, spawn_key=(i,)))
    error = exp(random.uniform(*map(log, IMPACT_ERROR)))
    impact = random_impacts.draw(i, seed)
    friction, restitution = float(impact.friction), random_impacts.restitution_of(impact)
    answer = recommend(
        contact_time=random_impacts.contact_time(impact), friction=friction, restitution=restitution, error=error
    )
    known, every_law = solved(impact) if exact else random_impacts.FineImpact(impact), laws(impact)
    row = {"impact": i, "friction": friction, "restitution": restitution, "error": error}
    for kind, choice in zip((CURED, LIKE_CODES), answer.alternatives, strict=True):
        scene, method = scene_of(impact, every_law[kind]), one_torque(answer.method)
        ends, _ = known.run(scene, method, known.start(choice.dt), known.duration / choice.dt, random_impacts.LASTS)
        row |= {f"dt_{kind}": choice.dt, kind: max(far.max() for far in known.distances(ends)) / error}
    return row


def check_impacts(cases: int, seed: int, path: Path | None, exact: bool) -> int:
    """Check the impacts and print how many meet the error."""
    rows = []
    stage = Stage("impacts", cases, "impacts")
    with watched(stage):
        for i in range(cases):
            try:
                rows.append(check_impact(i, seed, exact))
            except ArithmeticError as error:
                print(f"impact {i} is not solved: {error}")
            stage.advance()
    for kind, name in ((CURED, "with all cures"), (LIKE_CODES, "as codes have it")):
        ratios = np.array([row[kind] for row in rows])
        print(
            f"{name}: {(ratios <= 1).sum()} of {len(rows)} meet the error; "
            f"median {np.median(ratios):.2f} of it, most {ratios.max():.2f}"
        )
    for row in rows:
        if not row[CURED] <= 1:
            print("missed: " + ", ".join(f"{name} {value:.3g}" for name, value in row.items()))
    if path is not None:
        with path.open("w", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
    return 0 if sum(row[CURED] <= 1 for row in rows) >= 0.95 * len(rows) else 1


def main() -> int:
    """Check the cases and print how many meet the error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100, help="number of cases (%(default)s)")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of the draw (%(default)s)")
    parser.add_argument("--impacts", action="store_true", help="impacts with friction instead of bodies")
    parser.add_argument("--exact", action="store_true", help="compare impacts with exact solutions")
    parser.add_argument("--csv", type=Path, help="also write one line per case to this file")
    arguments = parser.parse_args()
    if arguments.impacts:
        return check_impacts(arguments.cases, arguments.seed, arguments.csv, arguments.exact)
    rows = []
    stage = Stage("cases", arguments.cases, "cases")
    with watched(stage):
        for i in range(arguments.cases):
            rows.append(check(draw(i, arguments.seed), seed=arguments.seed))
            stage.advance()
    own = sum(row.own <= 1 for row in rows)
    others = [ratio for row in rows for ratio in row.others]
    alone = [ratio for row in rows for ratio in row.alone]
    print(f"own start: {own} of {len(rows)} meet the error; median {np.median([row.own for row in rows]):.2f} of it")
    print(f"other starts, same step: {np.mean(np.array(others) <= 1):.1%} of {len(others)}")
    print(f"other starts, step for the own start alone: {np.mean(np.array(alone) <= 1):.0%} of {len(alone)}")
    for row in rows:
        if row.own > 1 or not isfinite(row.own):
            print(f"missed: {row.asked.problem.key}, {row.asked.torque_class}, {row.found.method}, {row.own:.3g} of the error")
    if arguments.csv is not None:
        with arguments.csv.open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(("case", "torque_class", "error", "price", "method", "dt", "own", "others", "alone"))
            for row in rows:
                asked, found = row.asked, row.found
                worst = max(row.others), max(row.alone)
                table.writerow(
                    (asked.problem.key, asked.torque_class, asked.error, asked.price, found.method, found.dt, row.own, *worst)
                )
    return 0 if own >= 0.9 * len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
