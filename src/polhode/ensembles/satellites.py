"""Random satellites: with momentum wheels, and under thrusters that fire, a controller that samples, or gravity alone.

They are dimensionless: the mean moment of inertia and the angular velocity at the start are 1. The momentum of the wheels is 0
to 300, most of it evenly in the logarithm, in a random direction, so that some satellites spin and others nutate 300 times as
fast. The fastest of spin and nutation (:attr:`polhode.algebra.body.Body.nutation`) is the rate in which everything is measured:
a run lasts :data:`RADIANS` of it. All satellites feel the gravity gradient of an orbit. Every third one has thrusters that
fire :data:`FIRINGS` times, and every third a controller, which takes its rates from the angular velocity and the orientation.

:func:`measure` finds with how many steps a radian methods meet errors of a radian; :func:`main` does so for many satellites and
writes the file from which ``polhode recommend --spacecraft`` answers.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from polhode.algebra.body import Body
from polhode.ensembles.draw import draw
from polhode.problems.orbit import gravity_gradient
from polhode.problems.pieces import Controller
from polhode.problems.problem import Problem
from polhode.problems.signals import edges, firings, signal

#: What acts beside gravity, of one satellite after the other.
KINDS = ("gravity", "firings", "controller")
#: The range of the momentum of wheels over the mean moment times the angular velocity; every eighth satellite has none.
SLOWEST, FASTEST, WITHOUT = 0.3, 300.0, 8
#: Radians of the faster of spin and nutation in a run, the firings in it, and the rows of their signal.
RADIANS, FIRINGS = 16.0, 3
ROWS = 2 * FIRINGS + 1
#: The ranges of the length of a firing and of the time between two samples, in radians, and of the number of samples in which
#: a controller slows the satellite down.
LENGTH, EVERY, SAMPLES = (0.01, 0.3), (0.05, 2.0), (10.0, 100.0)
#: The ranges of the rate of the orbit, of the change of the angular velocity by a firing, and of the rate of a controller.
ORBIT, CHANGE = (0.05, 1.0), (0.01, 1.0)
#: The errors, a radian, and the methods whose steps are measured.
ERRORS = (1e-2, 1e-4, 1e-6)
METHODS = ("rk4", "magnus_adams4", "exact_rotor", "touma1994", "no_squish")
#: More steps a radian are not tried.
MOST = 1000
#: Where the numbers of the torque stand among its parameters: gravity comes first, then direction and signal of the firings,
#: then the controller.
FIRING, CONTROL = 7, 10 + 3 * ROWS
#: The seed of all satellites.
SEED = 51


def torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque of gravity and of the thrusters at time t, three numbers in the body frame, dimensionless as all here.

    ``q`` (q0, qx, qy, qz), body to lab; ``omega`` is not read. The numbers ``parameters`` come from :func:`satellite`: orbit
    (4), the three principal moments, direction and signal of the firings, damping and stiffness of the controller.
    """
    x, y, z = gravity_gradient(t, q, parameters, 0)
    fires = signal(t, parameters, FIRING + 3, ROWS)
    return (
        x + fires * parameters[FIRING],
        y + fires * parameters[FIRING + 1],
        z + fires * parameters[FIRING + 2],
    )


def control(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque of the controller, three numbers in the body frame, dimensionless as all here.

    It is -I (damping omega + stiffness q0 (qx, qy, qz)), with the principal moments I, one for each component; ``q`` (q0, qx,
    qy, qz), body to lab, ``omega`` (three numbers) in the body frame, ``parameters`` as for :func:`torque`. ``t`` is not read.
    """
    damping, stiffness = parameters[CONTROL], parameters[CONTROL + 1]
    return (
        -parameters[4] * (damping * omega[0] + stiffness * q[0] * q[1]),
        -parameters[5] * (damping * omega[1] + stiffness * q[0] * q[2]),
        -parameters[6] * (damping * omega[2] + stiffness * q[0] * q[3]),
    )


@dataclass(frozen=True)
class Satellite:
    """A satellite, and what acts on it.

    Parameters
    ----------
    problem : the satellite with its torque and start
    ratio : the momentum of its wheels over its mean moment of inertia times its angular velocity
    kind : one of :data:`KINDS`
    """

    problem: Problem
    ratio: float
    kind: str

    @property
    def rate(self) -> float:
        """The faster of spin, which is 1, and nutation at the start."""
        return max(1.0, self.problem.body.nutation)


def satellite(i: int, seed: int = SEED, radians: float = RADIANS) -> Satellite:
    """The random satellite number i of a seed, whose run lasts so many ``radians`` of its fastest rate."""
    bodies = draw(i + 1, seed)
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(i,)))

    def between(limits: tuple[float, float]) -> float:
        return float(limits[0] * (limits[1] / limits[0]) ** random.uniform())

    ratio, axis = between((SLOWEST, FASTEST)), random.standard_normal(3)
    ratio = 0.0 if i % WITHOUT == WITHOUT - 1 else ratio
    moments: Any = tuple(map(float, bodies.moments[i]))
    wheels: Any = [(tuple(map(float, axis)), ratio)] if ratio else []
    body = Body(moments, wheels=wheels)
    rate, kind = max(1.0, body.nutation), KINDS[i % len(KINDS)]
    inclination, phase = random.uniform(0, np.pi), random.uniform(0, 2 * np.pi)
    gravity = [between(ORBIT), np.cos(inclination), np.sin(inclination), phase, *moments]
    # Firings one after the other, each in its part of the time.
    length, change, push = between(LENGTH), between(CHANGE), random.standard_normal(3)
    starts = (np.arange(FIRINGS) + random.uniform(0.1, 0.7, FIRINGS)) * (radians / FIRINGS)
    jet = firings([(start / rate, length / rate) for start in starts])
    push *= np.array(moments) * change / (length / rate) / np.linalg.norm(push)
    every, samples, stiffness = between(EVERY) / rate, between(SAMPLES), between(CHANGE)
    controls = [1 / (samples * every), min(stiffness, 1 / (samples * every)) ** 2]
    numbers = [*gravity, *(push if kind == "firings" else np.zeros(3)), *jet.parameters("jet").values(), *controls]
    omega0: Any = tuple(map(float, bodies.omega0[i]))
    q0: Any = tuple(map(float, bodies.q0[i]))
    problem = Problem(
        key=f"satellite_{i}",
        label=f"satellite {i}",
        source="random",
        body=body,
        omega0=omega0,
        q0=q0,
        torque=torque,
        parameters={f"p{k}": float(x) for k, x in enumerate(numbers)},
        torque_class="state",
        horizon=radians / rate,
        breakpoints=edges(jet) if kind == "firings" else (),
        controller=Controller(every, control) if kind == "controller" else None,
    )
    return Satellite(problem, ratio, kind)


def measure(each: Satellite, seconds: float = 20.0) -> dict[str, list[float]]:
    """Of each method the steps a radian of the fastest rate that it needs for each of :data:`ERRORS`.

    Infinite where :data:`MOST` are not sufficient, or the time is over before that is known. By the keys of :data:`METHODS`, in
    the order of the errors, and counted as if all steps were as long as the longest.
    ``seconds``: processor time for the exact motion, and again for each error.

    Raises
    ------
    AdviceError
        If the exact motion cannot be known in that time.
    """
    from polhode.advice.budget import Budget
    from polhode.advice.errors import TimeOver
    from polhode.advice.from_runs import Search
    from polhode.advice.motion import motion_of
    from polhode.methods import METHODS as REGISTERED

    radians = each.rate * each.problem.horizon
    motion = motion_of(each.problem, min(ERRORS) * radians, Budget(seconds))
    steps: dict[str, list[float]] = {key: [] for key in METHODS}
    for error in ERRORS:
        search = Search([motion], error * radians, Budget(seconds))
        for key in METHODS:
            try:
                number = search.fewest(REGISTERED[key], MOST * radians).steps
            except TimeOver:
                number = 0
            steps[key].append(number / radians if number else inf)
    return steps


def exact_motion() -> float:
    """The time in which a satellite with wheels is moved exactly for a radian of its rate, in steps of direct Euler."""
    from polhode.advice.prices import USUAL, prices
    from polhode.methods import METHODS as REGISTERED

    priced, each = prices(USUAL), satellite(0)
    priced.measure_wheels(each.problem, REGISTERED["exact_rotor"], REGISTERED["rk4"])
    return float(f"{priced.fixed['exact_rotor'] / priced.unit / RADIANS:.3g}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure satellites and add them to a file of JSON, after each one; ``arguments`` are the words of the command line by
    default.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="the file; satellites that it has are kept")
    parser.add_argument("--first", type=int, default=0, help="number of the first satellite")
    parser.add_argument("--satellites", type=int, default=64, help="how many")
    given = parser.parse_args(arguments)
    from polhode.version import __version__

    rows: dict[str, Any] = {}
    priced = {"exact_motion": exact_motion()}
    if given.file.is_file():
        rows = json.loads(given.file.read_text(encoding="utf-8"))["satellites"]
    for i in range(given.first, given.first + given.satellites):
        if str(i) in rows:
            continue
        each = satellite(i)
        steps = {key: [float(f"{x:.4g}") for x in row] for key, row in measure(each).items()}
        every = each.problem.controller.every * each.rate if each.problem.controller else None
        rows[str(i)] = {"ratio": each.ratio, "rate": each.rate, "kind": each.kind, "every": every, "steps": steps}
        content = {"version": __version__, "seed": SEED, "radians": RADIANS, "errors": ERRORS, **priced, "satellites": rows}
        given.file.write_text(json.dumps(content, separators=(",", ":")).replace('},"', '},\n"') + "\n", encoding="utf-8")
        print(i, each.kind, f"h {each.ratio:.3g}", {key: row for key, row in steps.items()}, file=sys.stderr)


if __name__ == "__main__":
    main()
