"""What a step of the many-body engine costs: in all, by its parts, and with the number of clumps; see the README here."""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "src"))

import polhode  # noqa: E402
from polhode import manybody  # noqa: E402
from polhode.manybody import engine, lanes, neighbours  # noqa: E402
from polhode.manybody.simulation import EXTENTS, WORK, run  # noqa: E402
from polhode.marching import Laps  # noqa: E402

STEPS = {"chess": 4.85e-6, "rods": 38.3e-6}
#: Clump-steps of a timed stretch, and the fewest steps of one; it is cut into so many laps.
CLUMP_STEPS, FEWEST, LAPS = 4_000_000, 1600, 16
#: Steps before it, in which margins settle; of few clumps also so many clump-steps, for some contacts.
SETTLING, SETTLING_CLUMP_STEPS = 2000, 1_000_000


# One side: a process that times what it is asked, so that two checkouts can take turns.


@cache
def scene_of(key: str, number: int, apart: bool) -> tuple[manybody.Scene, manybody.State]:
    """A scene of so many clumps (0: as it is) and where it starts; ``apart``: far from each other, and slow."""
    scene = manybody.scenes[key].scaled(number) if number else manybody.scenes[key]
    state = scene.initial_state(0)
    if apart:
        state = manybody.State(100 * state.r, 1e-9 * state.v, state.q, 1e-3 * state.omega)
        scene = replace(scene, box=200 * scene.box)
    return scene, state


def time_steps(scene: str, method: str, number: int = 0, apart: bool = False) -> dict[str, Any]:
    """Seconds of a step in each lap of a run, the set-up and the settling of margins outside, and what was done in it."""
    made, state = scene_of(scene, number, apart)
    count = len(made)
    settled = max(SETTLING, SETTLING_CLUMP_STEPS // count)
    lap = max(FEWEST, CLUMP_STEPS // count) // LAPS
    ends = settled + lap * np.arange(LAPS + 1)
    laps = Laps(list(ends), time.thread_time)
    outcome = run(made, polhode.methods[method], STEPS[scene], state, ends[-1:], pauses=laps)
    if len(laps.clocked) != len(ends):
        raise RuntimeError(f"{scene} with {method} blew up after {outcome['diverged']} steps; there is nothing to time")
    work = dict(zip(WORK, (int(n) for n in outcome["work"]), strict=True))
    return {"laps": list(np.diff(laps.clocked) / lap), "clumps": count, "steps": int(ends[-1]), "work": work}


def time_single_body(method: str) -> dict[str, Any]:
    """The same of the single-body driver under a constant torque: how fast the machine is just now."""
    problem, end = polhode.problems["spiral_cylinder"], np.array([200_000])
    inertia, torque = problem.body.coefficients(), problem.compiled_torque
    arguments = problem.q0, problem.omega0, inertia, torque, problem.parameter_array, 1e-6, end
    # A call takes as long as a thousand steps.
    return {"laps": list(_taken(lambda: polhode.methods[method].integrate(*arguments)) / end[0])}


def _taken(job: Callable[[], object]) -> np.ndarray:
    """Seconds of each of so many calls, behind one that is not counted."""
    job()
    ends = [time.thread_time()]
    for _ in range(LAPS):
        job()
        ends.append(time.thread_time())
    return np.diff(ends)


@njit
def _make_lists(times, fields, width, count, first, many, spheres, extents, half, rates, skin, lists):  # type: ignore[no-untyped-def]
    for _ in range(times):
        made = neighbours.make_list(fields, width, count, first, many, spheres, extents, half, rates, skin, lists)
    return made


@cache
def list_maker(key: str, number: int, skin: float) -> Callable[[int], Any]:
    """A function that makes the neighbour list of a state so many times."""
    scene, state = scene_of(key, number, False)
    clumps, count, width = scene.every_clump, len(scene), np.int64(lanes.STATE)
    blocks = lanes.blocks_of(count)
    fields = np.zeros(blocks * lanes.LANES * lanes.STATE)
    kinds = [clump for clump, _ in scene.clumps]
    begins = dict(zip(map(id, kinds), np.cumsum([0, *(len(kind.radii) for kind in kinds)])[:-1], strict=True))
    first = np.array([begins[id(clump)] for clump in clumps])
    many = np.array([len(clump.radii) for clump in clumps])
    spheres = np.ascontiguousarray(np.hstack([np.vstack([kind.centres.T, kind.radii]) for kind in kinds]))
    extents = np.array([[getattr(clump, name) for clump in clumps] for name in EXTENTS])
    engine.prepare(fields, width, blocks, state.r, state.q, np.ones(count), np.ones((count, 9)))
    rates = np.tile([scene.speed, scene.spin * extents[1].mean(), scene.spin * extents[2].mean()], (count, 1))
    lists = neighbours.empty_lists(100 * count, 2000 * count, 5000 * count, 100 * count, count, int(many.max()))
    rest = (fields, width, count, first, many, spheres, extents, scene.box / 2, rates, skin, lists)
    return lambda times: _make_lists(times, *rest)


def time_lists(scene: str, number: int, skin: float) -> dict[str, Any]:
    """Seconds for one list, in laps."""
    make = list_maker(scene, number, skin)
    times = max(1, 6400 // len(scene_of(scene, number, False)[0]))
    return {"laps": list(_taken(lambda: make(times)) / times)}


PARTS = """\
us of a step on one core: in all, every lap at its fastest, and the middle half of the rounds; motion and the check of margins;
making lists; the rest, by difference: walking along the lists, contacts. Then us for one list, steps that a list lasts,
contacts at a time, ns of a step of one body in the single-body driver.
scene  method                   side       all  rounds            motion   lists    rest one list   steps contacts  single"""
SCALING = """
scene  method               side   clumps  us a step  ns a step and clump, and of rounds  to the first number"""
TASKS = {"steps": time_steps, "single": time_single_body, "lists": time_lists}


def serve() -> None:
    """Answer tasks, each a line of JSON, until there are no more."""
    for line in sys.stdin:
        task = json.loads(line)
        print(json.dumps(TASKS[task.pop("task")](**task)), flush=True)


# The other: turns, tables.


class Side:
    """A checkout and the process that runs its engine."""

    def __init__(self, folder: Path) -> None:
        environment = os.environ | {"PYTHONPATH": str(folder / "src")}
        command = [sys.executable, str(folder / "benchmarks" / "many_body.py"), "--serve"]
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **task: Any) -> dict[str, Any]:
        """The answer to one task."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("the process that runs the engine has ended; what it said stands above")
        answer: dict[str, Any] = json.loads(line)
        return answer


class Timed:
    """What several rounds of the same laps say."""

    def __init__(self, answers: list[dict[str, Any]]) -> None:
        laps = np.array([answer["laps"] for answer in answers])
        if not (laps > 0).all():
            raise SystemExit("the clock of the thread's CPU time stands still or goes back; nothing can be timed with it")
        #: Every lap at its fastest: other work on the machine can only add.
        self.best = float(laps.min(0).mean())
        #: Of whole rounds.
        self.rounds = laps.mean(1)
        self.low, self.high = (float(q) for q in np.quantile(self.rounds, [0.25, 0.75]))
        self.first = answers[0]


def turns(sides: list[Side], rounds: int, **task: Any) -> list[Timed]:
    """The task on all sides, in turns; every second round runs backwards. A round before them is not counted."""
    answers: list[list[dict[str, Any]]] = [[] for _ in sides]
    for turn in range(rounds + 1):
        order = list(enumerate(sides))
        for i, side in order if turn % 2 else reversed(order):
            answers[i].append(side.ask(**task))
    return [Timed(of_side[1:]) for of_side in answers]


def ratio(times: list[Timed]) -> str:
    """This checkout against the other: of the fastest, and the least and the largest of one round."""
    if len(times) == 1:
        return ""
    each = times[0].rounds / times[1].rounds
    return f"{times[0].best / times[1].best:8.2f}  {each.min():.2f} to {each.max():.2f}"


def parts(sides: list[Side], key: str, method: str, rounds: int) -> None:
    """A line for each side: a step, and what its parts take of it."""
    whole = turns(sides, rounds, task="steps", scene=key, method=method)
    motion = turns(sides, rounds, task="steps", scene=key, method=method, apart=True)
    single = turns(sides, rounds, task="single", method=method)
    skins = [all_.first["work"]["margin"] * 1e-9 for all_ in whole]
    making = {"task": "lists", "scene": key, "number": 0}
    one = [turns([side], rounds, skin=skin, **making)[0] for side, skin in zip(sides, skins, strict=True)]
    for i, all_ in enumerate(whole):
        side = "this" if i == 0 else "other"
        per_step = {name: number / all_.first["steps"] for name, number in all_.first["work"].items()}
        lists = per_step["lists"] * one[i].best
        rest = all_.best - motion[i].best - lists
        spread = f"{all_.low * 1e6:.3f} to {all_.high * 1e6:.3f}"
        micro = "".join(f"{value * 1e6:8.3f}" for value in (motion[i].best, lists, rest))
        print(
            f"{key:6s} {method:24s} {side:6s}{all_.best * 1e6:8.3f}  {spread:16s}{micro}{one[i].best * 1e6:9.1f}"
            f"{1 / per_step['lists']:8.0f}{per_step['contacts']:9.3f}{single[i].best * 1e9:8.1f}",
            flush=True,
        )
    if len(sides) > 1:
        print(f"{'':31s} ratio {ratio(whole)}", flush=True)


def scaling(sides: list[Side], key: str, method: str, numbers: list[int], rounds: int) -> None:
    """A line for each number of clumps at constant density and each side."""
    first: list[float] = []
    for number in numbers:
        times = turns(sides, rounds, task="steps", scene=key, method=method, number=number)
        for i, timed in enumerate(times):
            side, count = "this" if i == 0 else "other", timed.first["clumps"]
            per_clump = [value / count * 1e9 for value in (timed.best, timed.low, timed.high)]
            if len(first) <= i:
                first.append(per_clump[0])
            print(
                f"{key:6s} {method:20s} {side:6s}{count:7d} {timed.best * 1e6:10.2f}{per_clump[0]:9.2f}  "
                f"{per_clump[1]:.2f} to {per_clump[2]:.2f}  {per_clump[0] / first[i]:8.2f}",
                flush=True,
            )
        if len(sides) > 1:
            print(f"{'':27s} ratio {'':8s}{ratio(times)}", flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default="spiral_leapfrog,omelyan1998,fincham1992", help="keys, separated by commas")
    parser.add_argument("--scenes", default="chess,rods", help="keys, separated by commas")
    parser.add_argument(
        "--numbers", default="32,100,320,1000,3200,10000", help="numbers of clumps for the scaling; none: empty"
    )
    parser.add_argument("--rounds", type=int, default=7, help="how often each run is timed")
    parser.add_argument("--against", type=Path, metavar="FOLDER", help="another checkout, timed in turns with this one")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        return serve()
    sides = [Side(folder) for folder in (HERE.parent, *([arguments.against.resolve()] if arguments.against else []))]
    methods, keys = arguments.methods.split(","), arguments.scenes.split(",")
    print(PARTS)
    for key in keys:
        for method in methods:
            parts(sides, key, method, arguments.rounds)
    numbers = [int(number) for number in arguments.numbers.split(",") if number]
    if numbers:
        print(SCALING)
        for key in keys:
            scaling(sides, key, methods[0], numbers, arguments.rounds)


if __name__ == "__main__":
    main()
