"""What a step of the many-body engine costs: in all, by its parts, and with the number of clumps; see the README here."""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numba import njit

import polhode
from polhode import manybody
from polhode.manybody import engine, lanes, neighbours
from polhode.manybody.simulation import EXTENTS, WORK, compiled_driver, run

STEPS = {"chess": 4.85e-6, "rods": 38.3e-6}


@njit
def _make_lists(times, fields, width, count, first, many, spheres, extents, half, rates, skin, lists):  # type: ignore[no-untyped-def]
    for _ in range(times):
        made = neighbours.make_list(fields, width, count, first, many, spheres, extents, half, rates, skin, lists)
    return made


def list_maker(scene: manybody.Scene, state: manybody.State, skin: float, times: int) -> Callable[[], None]:
    """A function that makes the neighbour list of a state so many times."""
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
    lists = neighbours.empty_lists(100 * count, 2000 * count, 5000 * count, count, int(many.max()))
    rest = (fields, width, count, first, many, spheres, extents, scene.box / 2, rates, skin, lists)
    return lambda: _make_lists(times, *rest)


def fastest(jobs: dict[Any, Callable[[], object]], rounds: int) -> dict[Any, float]:
    """The least CPU seconds of each job; the jobs take turns."""
    best = dict.fromkeys(jobs, np.inf)
    for job in jobs.values():
        job()
    for _ in range(rounds):
        for name, job in jobs.items():
            begin = time.thread_time()
            job()
            best[name] = min(best[name], time.thread_time() - begin)
    return best


def parts(key: str, method_key: str, steps: int, rounds: int) -> None:
    """One line: a step, and what its parts take of it."""
    scene, method, dt = manybody.scenes[key], polhode.methods[method_key], STEPS[key]
    state = scene.initial_state(0)
    # The same clumps far apart and slow: what is left is their motion and the check of their margins.
    apart = manybody.State(100 * state.r, 1e-9 * state.v, state.q, 1e-3 * state.omega)
    empty = replace(scene, box=200 * scene.box)
    ends = np.array([0, steps])
    work = run(scene, method, dt, state, ends)["work"]
    count = dict(zip(WORK, work / steps, strict=True))
    problem = polhode.problems["spiral_cylinder"]
    times = 200
    best = fastest(
        {
            "all": lambda: run(scene, method, dt, state, ends),
            "motion": lambda: run(empty, method, dt, apart, ends),
            "lists": list_maker(scene, state, work[WORK.index("margin")] * 1e-9, times),
            "single": lambda: polhode.simulate(problem, method, 1 / steps, samples=1),
        },
        rounds,
    )
    whole, motion = best["all"] / steps, best["motion"] / steps
    lists = count["lists"] * best["lists"] / times
    single = best["single"] / steps
    one = best["lists"] / times
    micro = "".join(f"{value * 1e6:9.3f}" for value in (whole, motion, lists, whole - motion - lists))
    print(
        f"{key:6s} {method_key:24s}{micro}{one * 1e6:9.1f}{1 / count['lists']:9.0f}{count['contacts']:9.3f}{single * 1e9:9.1f}",
        flush=True,
    )


def scaling(key: str, method_key: str, numbers: list[int], rounds: int) -> None:
    """A line for each number of clumps at constant density."""
    for number in numbers:
        scene, method = manybody.scenes[key].scaled(number), polhode.methods[method_key]
        state = scene.initial_state(0)
        # The margins need some lists to settle; a run and one twice as long tell what a step costs after that.
        steps = max(1000, 3_000_000 // len(scene))
        jobs = {n: partial(run, scene, method, STEPS[key], state, np.array([0, n])) for n in (steps, 2 * steps)}
        best = fastest(jobs, rounds)
        step = (best[2 * steps] - best[steps]) / steps
        print(f"{key:6s} {method_key:20s} {len(scene):7d} {step * 1e6:10.2f} {step / len(scene) * 1e9:10.1f}", flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default="spiral_leapfrog,omelyan1998,fincham1992", help="keys, separated by commas")
    parser.add_argument("--scenes", default="chess,rods", help="keys, separated by commas")
    parser.add_argument(
        "--numbers", default="32,100,320,1000,3200,10000", help="numbers of clumps for the scaling; none: empty"
    )
    parser.add_argument("--steps", type=int, default=100_000, help="steps of a timed run")
    parser.add_argument("--rounds", type=int, default=5, help="turns; the fastest counts")
    arguments = parser.parse_args()
    methods, keys = arguments.methods.split(","), arguments.scenes.split(",")
    for method in methods:
        compiled_driver(polhode.methods[method])
    print("us of a step on one core: in all; motion and the check of margins; making lists; the rest, by difference: walking")
    print("along the lists and contacts (below 0: less than the noise).")
    print(
        "Then us for one list, steps that a list lasts, contacts at a time, ns of a step of one body in the single-body driver."
    )
    print("scene  method                        all   motion    lists     rest one list    steps contacts   single")
    for key in keys:
        for method in methods:
            parts(key, method, arguments.steps, arguments.rounds)
    numbers = [int(number) for number in arguments.numbers.split(",") if number]
    if numbers:
        print("\nscene  method                clumps  us a step  ns a step and clump")
        for key in keys:
            scaling(key, methods[0], numbers, min(arguments.rounds, 3))


if __name__ == "__main__":
    main()
