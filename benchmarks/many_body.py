"""Time a step of the many-body engine: in total, by its parts, and against the number of clumps; see the README here."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
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
from polhode.compiling import lanes  # noqa: E402
from polhode.compiling.marching import Laps  # noqa: E402
from polhode.manybody import engine, neighbours  # noqa: E402
from polhode.manybody.simulation import WORK, run, setup_of  # noqa: E402

#: Clump-steps of a timed stretch, its minimum number of steps, and the number of laps into which it is divided.
CLUMP_STEPS, FEWEST, LAPS = 4_000_000, 1600, 16
#: Steps in a contact of a scene that settles under gravity, and while it settles.
DIVISION, DIVISION_SETTLING = 20, 10
#: Steps before it, in which margins settle; with few clumps at least this many clump-steps, so that there are contacts.
SETTLING, SETTLING_CLUMP_STEPS = 2000, 1_000_000


# The worker: a process that times what it is asked to, so that two checkouts can take turns.


@cache
def scene_of(key: str, number: int, apart: bool) -> tuple[manybody.Scene, manybody.State]:
    """A scene of ``number`` clumps (0: unchanged) and its initial state; ``apart``: clumps far from each other and slow.

    With gravity the initial state is that at the end of the scene.
    """
    scene = manybody.scenes[key].scaled(number) if number else manybody.scenes[key]
    if any(scene.gravity):
        scene = replace(scene, dt=scene.contact_time() / DIVISION)
        state = settled(scene)
    else:
        state = scene.initial_state(0)
    if apart:
        state = manybody.State(100 * state.r, 1e-9 * state.v, state.q, 1e-3 * state.omega)
        scene = replace(scene, box=200 * scene.box)
    return scene, state


def settled(scene: manybody.Scene) -> manybody.State:
    """The state of a scene after its time; for 10,000 clumps that takes a minute, so it is kept in a temporary file."""
    path = Path(tempfile.gettempdir()) / f"polhode-settled-{scene.key}-{len(scene)}.npy"
    if not path.is_file():
        dt = scene.contact_time() / DIVISION_SETTLING
        end = np.array([int(scene.horizon / dt)])
        outcome = run(scene, polhode.methods["spiral_leapfrog"], dt, scene.initial_state(0), end, record=True)
        np.save(path, outcome["motion"][-1])
    return manybody.State(*np.split(np.load(path), (3, 6, 10), axis=1))


def time_steps(scene: str, method: str, number: int = 0, apart: bool = False) -> dict[str, Any]:
    """Seconds per step in each lap of a run, without set-up and the settling of margins, and the work done in it."""
    made, state = scene_of(scene, number, apart)
    count = len(made)
    settled = max(SETTLING, SETTLING_CLUMP_STEPS // count)
    lap = max(FEWEST, CLUMP_STEPS // count) // LAPS
    ends = settled + lap * np.arange(LAPS + 1)
    laps = Laps(list(ends), time.thread_time)
    outcome = run(made, polhode.methods[method], made.usual_step, state, ends[-1:], pauses=laps)
    if len(laps.clocked) != len(ends):
        raise RuntimeError(f"{scene} with {method} blew up after {outcome['diverged']} steps; there is nothing to time")
    work = dict(zip(WORK, (int(n) for n in outcome["work"]), strict=True))
    return {"laps": list(np.diff(laps.clocked) / lap), "clumps": count, "steps": int(ends[-1]), "work": work}


def time_single_body(method: str) -> dict[str, Any]:
    """As :func:`time_steps` for the single-body driver under a constant torque: how fast the machine is at the moment."""
    problem, end = polhode.problems["spiral_cylinder"], np.array([200_000])
    inertia, torque = problem.body.coefficients(), problem.compiled_torque
    arguments = problem.q0, problem.omega0, inertia, torque, problem.parameter_array, 1e-6, end
    # The overhead of a call is that of a thousand steps.
    return {"laps": list(_taken(lambda: polhode.methods[method].integrate(*arguments)) / end[0])}


def _taken(job: Callable[[], object]) -> np.ndarray:
    """Seconds of each of :data:`LAPS` calls, after one that is not counted."""
    job()
    ends = [time.thread_time()]
    for _ in range(LAPS):
        job()
        ends.append(time.thread_time())
    return np.diff(ends)


@njit
def _make_lists(times, fields, width, count, setup, rates, skin, listed, scratch):  # type: ignore[no-untyped-def]
    for _ in range(times):
        made = neighbours.make_list(fields, width, count, setup, rates, skin, listed, scratch)
    return made


@cache
def list_maker(key: str, number: int, skin: float) -> Callable[[int], Any]:
    """A function that makes the neighbour list of a state a given number of times."""
    scene, state = scene_of(key, number, False)
    count, width = len(scene), np.int64(lanes.STATE)
    blocks = lanes.blocks_of(count)
    fields = np.zeros(blocks * lanes.LANES * lanes.STATE)
    setup = setup_of(scene)
    engine.prepare(fields, width, blocks, engine.Start(state.r, state.v, state.q, state.omega), setup, False)
    rates = np.tile([scene.speed, *(scene.spin * setup.extents[k].mean() for k in (1, 2))], (count, 1))
    lists = neighbours.empty_lists(100 * count, 2000 * count, 5000 * count, 100 * count, count, int(setup.many.max()))
    rest = (fields, width, count, setup, rates, skin, *lists)
    return lambda times: _make_lists(times, *rest)


def time_lists(scene: str, number: int, skin: float) -> dict[str, Any]:
    """Seconds per list, in laps."""
    make = list_maker(scene, number, skin)
    times = max(1, 6400 // len(scene_of(scene, number, False)[0]))
    return {"laps": list(_taken(lambda: make(times)) / times)}


PARTS = """\
Time of a step on one core, us: in total (each lap at its fastest, then the middle half of the rounds); motion and the check of
margins; making lists; and, by difference, the rest: traversing the lists, contacts. Then us for one list, steps that a list
lasts, contacts at a time, ns of the rest for each of them, and ns per step of one body in the single-body driver.
scene  method               side       all  rounds            motion   lists    rest one list   steps contacts     ns  single"""
SCALING = """
scene  method               side   clumps  us a step  ns a step and clump, and of rounds  to the first number"""
TASKS = {"steps": time_steps, "single": time_single_body, "lists": time_lists}


def serve() -> None:
    """Answer tasks, one line of JSON each, until there are no more."""
    for line in sys.stdin:
        task = json.loads(line)
        print(json.dumps(TASKS[task.pop("task")](**task)), flush=True)


# The caller: turns and tables.


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
    """The result of several rounds of the same laps."""

    def __init__(self, answers: list[dict[str, Any]]) -> None:
        laps = np.array([answer["laps"] for answer in answers])
        if not (laps > 0).all():
            raise SystemExit("the clock of the thread's CPU time stands still or goes back; nothing can be timed with it")
        #: Each lap at its fastest: other work on the machine can only add time.
        self.best = float(laps.min(0).mean())
        #: The mean of each round.
        self.rounds = laps.mean(1)
        self.low, self.high = (float(q) for q in np.quantile(self.rounds, [0.25, 0.75]))
        self.first = answers[0]


def turns(sides: list[Side], rounds: int, **task: Any) -> list[Timed]:
    """The task on all sides in turns, with every second round reversed. An initial round is not counted."""
    answers: list[list[dict[str, Any]]] = [[] for _ in sides]
    for turn in range(rounds + 1):
        order = list(enumerate(sides))
        for i, side in order if turn % 2 else reversed(order):
            answers[i].append(side.ask(**task))
    return [Timed(of_side[1:]) for of_side in answers]


def ratio(times: list[Timed]) -> str:
    """The time of this checkout over that of the other: from the fastest laps, and the range over single rounds."""
    if len(times) == 1:
        return ""
    each = times[0].rounds / times[1].rounds
    return f"{times[0].best / times[1].best:8.2f}  {each.min():.2f} to {each.max():.2f}"


def show(times: list[Timed], indent: int, line: Callable[[int, str, Timed], str]) -> None:
    """Print a line for each side, and below them the ratio of the two, indented."""
    for i, timed in enumerate(times):
        print(line(i, "this" if i == 0 else "other", timed), flush=True)
    if len(times) > 1:
        print(f"{'':{indent}s} ratio {ratio(times)}", flush=True)


def parts(sides: list[Side], key: str, method: str, number: int, rounds: int) -> None:
    """Print a step of ``number`` clumps (0: those of the scene) and its parts for each side."""
    run = {"task": "steps", "scene": key, "method": method, "number": number}
    whole, motion = turns(sides, rounds, **run), turns(sides, rounds, **run, apart=True)
    single = turns(sides, rounds, task="single", method=method)
    skins = [timed.first["work"]["margin"] * 1e-9 for timed in whole]
    making = {"task": "lists", "scene": key, "number": number}
    one = [turns([side], rounds, skin=skin, **making)[0] for side, skin in zip(sides, skins, strict=True)]

    def line(i: int, side: str, timed: Timed) -> str:
        per_step = {name: number / timed.first["steps"] for name, number in timed.first["work"].items()}
        lists = per_step["lists"] * one[i].best
        rest = timed.best - motion[i].best - lists
        spread = f"{timed.low * 1e6:.3f} to {timed.high * 1e6:.3f}"
        micro = "".join(f"{value * 1e6:8.3f}" for value in (motion[i].best, lists, rest))
        return (
            f"{key:6s} {method:20s} {side:6s}{timed.best * 1e6:8.3f}  {spread:16s}{micro}{one[i].best * 1e6:9.1f}"
            f"{1 / per_step['lists']:8.0f}{per_step['contacts']:9.3f}{rest / per_step['contacts'] * 1e9:7.1f}"
            f"{single[i].best * 1e9:8.1f}"
        )

    show(whole, 27, line)


def scaling(sides: list[Side], key: str, method: str, numbers: list[int], rounds: int) -> None:
    """Print a step for each number of clumps, at constant density, and each side."""
    first: dict[int, float] = {}

    def line(i: int, side: str, timed: Timed) -> str:
        count = timed.first["clumps"]
        best, low, high = (value / count * 1e9 for value in (timed.best, timed.low, timed.high))
        grown = best / first.setdefault(i, best)
        return (
            f"{key:6s} {method:20s} {side:6s}{count:7d} {timed.best * 1e6:10.2f}{best:9.2f}  "
            f"{low:.2f} to {high:.2f}  {grown:8.2f}"
        )

    for number in numbers:
        show(turns(sides, rounds, task="steps", scene=key, method=method, number=number), 35, line)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default="spiral_leapfrog,omelyan1998,fincham1992", help="keys, separated by commas")
    parser.add_argument("--scenes", default="chess,rods", help="keys, separated by commas")
    parser.add_argument("--clumps", type=int, default=0, help="number of clumps in the first table; by default the scene's")
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
            parts(sides, key, method, arguments.clumps, arguments.rounds)
    numbers = [int(number) for number in arguments.numbers.split(",") if number]
    if numbers:
        print(SCALING)
        for key in keys:
            scaling(sides, key, methods[0], numbers, arguments.rounds)


if __name__ == "__main__":
    main()
