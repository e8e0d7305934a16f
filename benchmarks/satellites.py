"""Do the answers of `polhode recommend` for satellites meet 0.01 degrees? Random ones, each written as a YAML file and asked.

    python benchmarks/satellites.py                             # 20 satellites, each for an orbit
    python benchmarks/satellites.py --cases 7 --folder trial    # keep the files, to ask the command the same: trial/7.yaml

A satellite has moments or a tensor of inertia, a wheel (every eighth has none) with 0.3 to 300 times the momentum of the spin,
and in turns firings of a thruster, a controller that samples every 0.25 s, both, or gravity alone; half of the others feel the
gravity gradient, too. The method and the step of the answer are run over the orbit. Orientations are compared at 17 times with
SciPy's DOP853. It integrates equations that are written here, and begins again at each edge of a firing and at each sample:
nothing of it is polhode's.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import cos, degrees, exp, log, pi, sin, sqrt
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import numpy as np
from scipy.integrate import ode

import polhode
from polhode.advice import AdviceError, problem_in_file, recommend
from polhode.advice.answer import Recommendation

#: The satellites that `polhode recommend --spacecraft` rests on have the seed 51.
SEED = 20261129
#: The error, rad: 0.01 degrees.
ERROR = pi / 180 / 100
#: What acts on the satellites in turns.
KINDS = ("firings", "controller", "firings and controller", "gravity")
#: Ranges of the draw: mean moment (kg m^2), spin (rad/s), momentum of the wheel over the momentum of the spin, altitude (m),
#: length of a firing (s), change of the angular velocity by it over the spin, samples in which a controller slows the
#: satellite down.
MOMENT, SPIN, RATIO, ALTITUDE = (0.01, 100.0), (5e-4, 1e-2), (0.3, 300.0), (4e5, 1.2e6)
LENGTH, CHANGE, SAMPLES = (0.02, 2.0), (0.01, 1.0), (10.0, 100.0)
#: Smallest over largest moment; every so many satellites one has no wheel; every so many one has a tensor.
THINNEST, WITHOUT, TENSOR = 0.1, 8, 5
#: The time between two samples, s; the largest number of firings.
EVERY, FIRINGS = 0.25, 4
#: The Earth: gravitational parameter (m^3/s^2) and mean radius (m), as `orbit:` of a file has them.
GRAVITY, RADIUS = 3.986004418e14, 6.3712e6
#: Times at which a run is compared, besides its start; tolerances of DOP853.
TIMES, RELATIVE, ABSOLUTE = 16, 1e-11, 1e-13

Array = np.ndarray


@dataclass(frozen=True)
class Satellite:
    """A satellite: the numbers of its file.

    Parameters
    ----------
    kind : of :data:`KINDS`
    inertia : (3, 3) with the wheel, kg m^2
    momentum : (3,) of the wheel, N m s; zero if there is none
    omega : (3,) rad/s
    altitude, inclination : of the orbit, m and rad
    time : s
    gravity : whether the gravity gradient acts
    push, firings : (3,) torque of the thruster, N m, and its firings (start and length, s)
    damping, stiffness : (3,) gains of the controller, N m s and N m; zero if there is none
    """

    kind: str
    inertia: Array
    momentum: Array
    omega: Array
    altitude: float
    inclination: float
    time: float
    gravity: bool
    push: Array
    firings: list[tuple[float, float]]
    damping: Array
    stiffness: Array

    @property
    def rate(self) -> float:
        """The rate of the orbit, rad/s."""
        return sqrt(GRAVITY / (RADIUS + self.altitude) ** 3)

    def text(self, named: bool) -> str:
        """The file as an engineer writes it: firings as a signal with a name, or as pulses in the formulas."""
        tensor = self.inertia.tolist()
        moments: Any = tensor if np.count_nonzero(self.inertia) > 3 else [tensor[k][k] for k in range(3)]
        lines = [f"inertia: {moments}   # kg m^2"]
        if size := float(np.linalg.norm(self.momentum)):
            lines.append(f"wheels: [{{axis: {(self.momentum / size).tolist()}, momentum: {size!r}}}]   # N m s")
        lines += [f"omega: {self.omega.tolist()}   # rad/s", f"time: {self.time:g} s"]
        jet = "jet" if named else " + ".join(f"pulse(t, {start}, {length})" for start, length in self.firings)
        torque = [f"{x!r} * ({jet})" if self.firings else "0" for x in self.push.tolist()]
        if self.firings and named:
            lines.append(f"signals: {{jet: {{firings: {[list(firing) for firing in self.firings]}}}}}")
        lines.append(f"torque: {torque}")
        if self.damping.any():
            gains = zip("xyz", self.damping.tolist(), self.stiffness.tolist(), strict=True)
            formulas = [f"-{damping!r}*w{k} - {stiffness!r}*q0*q{k}" for k, damping, stiffness in gains]
            lines.append(f"controller: {{every: {EVERY} s, torque: {formulas}}}")
        if self.gravity:
            lines.append(f"orbit: {{altitude: {self.altitude}, inclination: {self.inclination}}}")
            lines.append("loads: {gravity_gradient: {}}")
        return "\n".join([*lines, "error: 0.01 deg", ""])


def neat(values: Any) -> Any:
    """Numbers of three digits, as they are written."""
    return np.vectorize(lambda x: float(f"{x:.3g}"))(values) if np.ndim(values) else float(f"{values:.3g}")


def draw(i: int, seed: int = SEED) -> Satellite:
    """Satellite number i."""
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(i,)))

    def between(ends: tuple[float, float]) -> float:
        return exp(random.uniform(*map(log, ends)))

    def direction() -> Array:
        axis = random.standard_normal(3)
        return np.asarray(axis / np.linalg.norm(axis))

    kind = KINDS[i % len(KINDS)]
    while True:
        # Twice the second moments of a random distribution of mass: every possible body.
        moments = (1 - random.dirichlet((1.0, 1.0, 1.0))) * 1.5
        if moments.min() > THINNEST * moments.max():
            break
    inertia = np.diag(moments * between(MOMENT))
    axes, _ = np.linalg.qr(np.eye(3) + 0.1 * random.standard_normal((3, 3)))
    inertia = neat(axes @ inertia @ axes.T if i % TENSOR == TENSOR - 1 else inertia)
    inertia = np.triu(inertia) + np.triu(inertia, 1).T
    mean, spin = float(np.trace(inertia)) / 3, between(SPIN)
    along = neat(direction()) if random.random() < 0.5 else np.eye(3)[random.integers(3)]
    size = neat(between(RATIO) * mean * spin) if i % WITHOUT != WITHOUT - 1 else 0.0
    altitude, inclination = neat(between(ALTITUDE)), neat(random.uniform(0, pi))
    time = float(round(2 * pi / sqrt(GRAVITY / (RADIUS + altitude) ** 3), -1))
    starts = np.sort(random.uniform(0.05, 0.9, random.integers(1, FIRINGS + 1))) * time
    length = neat(between(LENGTH))
    damping = 1 / (between(SAMPLES) * EVERY)
    stiffness = min(between(CHANGE) * damping, damping / 2) ** 2
    push = inertia @ direction() * between(CHANGE) * spin / length
    fires, controls = "firings" in kind, "controller" in kind
    return Satellite(
        kind,
        inertia,
        size * along / np.linalg.norm(along),
        neat(spin * direction()),
        altitude,
        inclination,
        time,
        kind == "gravity" or bool(random.random() < 0.5),
        neat(push) if fires else np.zeros(3),
        [(round(float(t), 1), length) for t in starts if t] if fires else [],
        neat(damping * np.diag(inertia)) if controls else np.zeros(3),
        neat(stiffness * np.diag(inertia)) if controls else np.zeros(3),
    )


def equations(each: Satellite) -> Callable[..., list[float]]:
    """The rates of q (body to lab) and omega, from the time, both, and a torque in the body frame that is held."""
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = each.inertia.tolist()
    (jxx, jxy, jxz), (_, jyy, jyz), (_, _, jzz) = np.linalg.inv(each.inertia).tolist()
    hx, hy, hz = each.momentum.tolist()
    n, ci, si = each.rate, cos(each.inclination), sin(each.inclination)

    def rates(t: float, state: Sequence[float], held: Sequence[float]) -> list[float]:
        a, b, c, d, x, y, z = state
        lx, ly, lz = ixx * x + ixy * y + ixz * z + hx, ixy * x + iyy * y + iyz * z + hy, ixz * x + iyz * y + izz * z + hz
        tx, ty, tz = held[0] + ly * z - lz * y, held[1] + lz * x - lx * z, held[2] + lx * y - ly * x
        if each.gravity:
            u, v, w = cos(n * t), sin(n * t) * ci, sin(n * t) * si
            norm = a * a + b * b + c * c + d * d
            # The transpose of the matrix of q times the direction from the Earth.
            e = ((a * a + b * b - c * c - d * d) * u + 2 * (b * c + a * d) * v + 2 * (b * d - a * c) * w) / norm
            f = (2 * (b * c - a * d) * u + (a * a - b * b + c * c - d * d) * v + 2 * (c * d + a * b) * w) / norm
            g = (2 * (b * d + a * c) * u + 2 * (c * d - a * b) * v + (a * a - b * b - c * c + d * d) * w) / norm
            p, q, r = ixx * e + ixy * f + ixz * g, ixy * e + iyy * f + iyz * g, ixz * e + iyz * f + izz * g
            strength = 3 * n * n
            tx, ty, tz = tx + strength * (f * r - g * q), ty + strength * (g * p - e * r), tz + strength * (e * q - f * p)
        return [
            0.5 * (-b * x - c * y - d * z),
            0.5 * (a * x + c * z - d * y),
            0.5 * (a * y + d * x - b * z),
            0.5 * (a * z + b * y - c * x),
            jxx * tx + jxy * ty + jxz * tz,
            jxy * tx + jyy * ty + jyz * tz,
            jxz * tx + jyz * ty + jzz * tz,
        ]

    return rates


def exact(each: Satellite, times: Sequence[float]) -> Iterator[Array]:
    """q (4,) at ``times``, s, ascending, by DOP853 from one edge of the torque to the next."""
    samples = EVERY * np.arange(int(each.time / EVERY) + 1) if each.damping.any() else np.zeros(1)
    switches = [edge for start, length in each.firings for edge in (start, start + length)]
    edges = np.unique(np.concatenate([samples, switches, [each.time]]))
    edges = edges[np.append(True, np.diff(edges) > 1e-9)]
    solver = ode(equations(each)).set_integrator("dop853", rtol=RELATIVE, atol=ABSOLUTE, nsteps=10**6)
    state, held, stops = np.array([1.0, 0, 0, 0, *each.omega]), np.zeros(3), [float(t) for t in times]
    for a, b in pairwise(edges):
        if each.damping.any() and abs(samples - a).min() < 1e-9:
            held = -each.damping * state[4:] - each.stiffness * state[0] * state[1:4]
        number = sum(start <= (a + b) / 2 < start + length for start, length in each.firings)
        solver.set_initial_value(state, a).set_f_params((held + number * each.push).tolist())
        while stops and stops[0] <= b + 1e-9:
            q = solver.integrate(t)[:4] if (t := stops.pop(0)) > solver.t else solver.y[:4]
            yield q / np.linalg.norm(q)
        state = solver.integrate(b) if b > solver.t else solver.y
        if not solver.successful():
            raise ArithmeticError(f"DOP853 ends at {solver.t:g} s")


def angle(p: Array, q: Array) -> float:
    """The angle, rad, between two orientations (4,)."""
    scalar, vector = p @ q, p[0] * q[1:] - q[0] * p[1:] - np.cross(p[1:], q[1:])
    return float(2 * np.arctan2(np.linalg.norm(vector), abs(scalar)))


def turned_back(q: Array, first: Array) -> Array:
    """Orientations (n, 4) of the axes of the file, from those of principal axes, whose first is (4,)."""
    w, v = first[0], -first[1:]
    return np.column_stack([q[:, 0] * w - q[:, 1:] @ v, q[:, :1] * v + w * q[:, 1:] + np.cross(q[:, 1:], v)])


@dataclass(frozen=True)
class Checked:
    """An answer to the file of a satellite: its errors, rad, at the end and the largest; the time of the answer, s."""

    satellite: Satellite
    answer: Recommendation
    at_the_end: float
    largest: float
    seconds: float
    processor: float


def check(i: int, folder: Path, seed: int = SEED, limit: float | None = None) -> Checked:
    """Write the file of satellite number i, ask for its step, and run the answer.

    Raises
    ------
    AdviceError
        If there is no answer.
    """
    each, path = draw(i, seed), folder / f"{i}.yaml"
    path.write_text(each.text(named=i % 2 == 0), encoding="utf-8")
    begun, worked = monotonic(), process_time()
    answer = recommend(path, limit=limit)
    seconds, processor = monotonic() - begun, process_time() - worked
    run = polhode.simulate(problem_in_file(path), answer.method, dt=answer.dt, samples=TIMES)
    q = turned_back(run["q"].values, run["q"].values[0])
    errors = [angle(*pair) for pair in zip(q, exact(each, run["time"].values), strict=True)]
    return Checked(each, answer, errors[-1], max(errors), seconds, processor)


def main() -> int:
    """Check satellites and print how many answers meet the error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=20, help="number of satellites (%(default)s)")
    parser.add_argument("--first", type=int, default=0, help="number of the first one (%(default)s)")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of the draw (%(default)s)")
    parser.add_argument("--limit", type=float, help="time limit of an answer, s; by default the command's")
    parser.add_argument("--folder", type=Path, help="keep the files here")
    given = parser.parse_args()
    met, answered, slowest = 0, 0, 0.0
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for i in range(given.first, given.first + given.cases):
            each = draw(i, given.seed)
            mean, spin = float(np.trace(each.inertia)) / 3, float(np.linalg.norm(each.omega))
            ratio = float(np.linalg.norm(each.momentum)) / mean / spin
            said = f"{i:3}  {each.kind}{', gravity' * (each.gravity and each.kind != 'gravity')}, h/(I omega) {ratio:.3g}"
            try:
                result = check(i, folder, given.seed, given.limit)
            except (AdviceError, ArithmeticError) as error:
                print(f"{said}: no answer: {error}", flush=True)
                continue
            answered, met, slowest = answered + 1, met + (result.largest <= ERROR), max(slowest, result.processor)
            print(
                f"{said}: {'' if result.answer.confirmed else 'NOT CONFIRMED '}{result.answer.method}, "
                f"dt {result.answer.dt:.4g} s, in {result.seconds:.1f} s ({result.processor:.1f} s of processor time); "
                f"{degrees(result.at_the_end):.2g} degrees at the end, at most {degrees(result.largest):.2g}",
                flush=True,
            )
    print(
        f"{met} of {given.cases} meet 0.01 degrees; {given.cases - answered} have no answer; the slowest took {slowest:.0f} s "
        "of processor time"
    )
    return 0 if met >= 0.9 * given.cases else 1


if __name__ == "__main__":
    sys.exit(main())
