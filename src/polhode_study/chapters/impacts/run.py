"""Single impacts with friction: what the bookkeeping of a contact and the rotation method add to the error."""

from functools import cached_property
from typing import Any

import mpmath
import numpy as np
import xarray as xr

from polhode.algebra.body import Body, euler_equations
from polhode.algebra.quaternion import derivative, to_lab
from polhode.compiling.plain import in_plain_python
from polhode.interface.arrays import about
from polhode.manybody.clump import Clump
from polhode.manybody.forces import hertz_mindlin_tsuji
from polhode.manybody.law import ForceLaw
from polhode.manybody.material import Material
from polhode.manybody.placement import State
from polhode.manybody.restitution import tsuji_restitution
from polhode.manybody.scene import Scene
from polhode.manybody.simulation import run
from polhode.methods import METHODS
from polhode.methods.protocol import OneTorque
from polhode.references.impact import HertzMindlin, Impact, ImpactBody
from polhode.references.known_impacts import DIGITS, known_impacts, stored
from polhode_study.run.making import Settings

#: One-torque methods of all kinds: leapfrogs, splittings, predictors, and one of several steps.
COMPARED = (
    "spiral_leapfrog",
    "spiral_predicted",
    "spiral_synchronous",
    "fincham1992",
    "omelyan1998",
    "verlet",
    "spiral_dkd",
    "no_squish",
    "exact_rotor",
    "pcdm2016",
    "magnus_adams4",
)
#: What codes do; then each cure added to those before it, by the options of :data:`polhode.manybody.law.BOOKKEEPING`.
STAGES: dict[str, tuple[str, dict[str, float | str]]] = {
    "usual": ("as in codes", {"start": "whole", "slip": "radial", "plane": "end", "dashpot": "handed"}),
    "start": ("increment since the touch", {"start": "touch"}),
    "return": ("trapezoidal return", {"slip": "trapezoidal"}),
    "plane": ("plane of the middle", {"plane": "middle"}),
    "dashpot": ("predicted velocity in dashpots", {"dashpot": "predicted"}),
}
#: All cures, and a mistake: the spring takes the predicted velocity as well.
SPRING = "spring"
#: Steps in the time of contact; starts shifted by parts of a step, over which the median is taken; steps before the touch.
DIVISIONS = (10, 14, 20, 28, 40, 80, 160, 320, 640)
PHASES = tuple((i + 0.5) / 8 for i in range(8))
LEAD = 6
#: The impacts, keys of :func:`polhode.references.known_impacts.known_impacts`, and their labels.
LABELS = {
    "sphere_3": "sphere at 3 degrees",
    "sphere_45": "sphere at 45 degrees, holds",
    "sphere_60": "sphere at 60 degrees",
    "clump": "clump",
    "clump_damped": "clump, damped",
    "two_spheres": "two spheres, hold",
}
#: Least distance between the copies of an impact, m. The bottom of the box is the plane.
APART = 0.05


def impacts(settings: Settings) -> xr.Dataset:
    """The errors of impacts over case, stage of cure, integrator and steps in the time of contact, against references."""
    keys = [key for key in COMPARED if key in settings["methods"]]
    if not keys:
        return xr.Dataset()
    methods = [one_torque(key) for key in keys]
    names = {key: label for key, (label, _) in STAGES.items()} | {SPRING: "all, predicted velocity in the spring"}
    stages = settings.get("stages", list(names))
    exact = {key: ExactImpact.known(key) for key in LABELS}
    errors = np.full((3, len(exact), len(stages), len(keys), len(DIVISIONS)), np.nan)
    for i, case in enumerate(exact.values()):
        for m, division in enumerate(DIVISIONS):
            dt = case.duration / division
            start = case.start(dt)
            by_stage = laws(case.impact)
            for j, stage in enumerate(stages):
                scene = scene_of(case.impact, by_stage[stage])
                for k, method in enumerate(methods):
                    errors[:, i, j, k, m] = case.errors(scene, method, start, division)
    over = "case", "stage", "integrator", "division"
    return xr.Dataset(
        {
            "error_spin": (over, errors[0], about("error of the angular momentum, in units of its largest change")),
            "error_velocity": (over, errors[1], about("error of the velocity, in units of its change")),
            "closure": (over, errors[2], about("error of the sum of all energies, relative")),
            "duration": ("case", [case.duration for case in exact.values()], about("time of contact", "s")),
            "velocity": (
                ("case", "axis"),
                [case.velocities[1][0] for case in exact.values()],
                about("exact velocity of the first body after the impact", "m s-1"),
            ),
            "spin": (
                ("case", "axis"),
                [to_lab(tuple(case.q[1][0]), tuple(case.omega[1][0])) for case in exact.values()],
                about("exact angular velocity of the first body after the impact, lab frame", "rad s-1"),
            ),
            "case_label": ("case", list(LABELS.values()), {"long_name": "name of the case"}),
            "stage_label": ("stage", [names[key] for key in stages], {"long_name": "name of the stage"}),
            "label": ("integrator", [METHODS[key].label for key in keys], {"long_name": "name of the method"}),
        },
        {
            "case": ("case", list(LABELS), {"long_name": "impact"}),
            "stage": ("stage", stages, {"long_name": "bookkeeping of the contact: each stage adds a cure to those before it"}),
            "integrator": ("integrator", keys, {"long_name": "key of the method"}),
            "division": ("division", list(DIVISIONS), about("steps in the time of contact")),
            "axis": ("axis", ["x", "y", "z"], {"long_name": "axis"}),
        },
        {"phases": len(PHASES), "digits": DIGITS},
    )


def one_torque(key: str) -> OneTorque:
    """The method with this key, which must take one torque a step."""
    method = METHODS[key]
    assert isinstance(method, OneTorque)
    return method


def laws(impact: Impact) -> dict[str, ForceLaw]:
    """The law of an impact with the bookkeeping of each stage."""
    assert isinstance(impact.law, HertzMindlin)
    values = {"friction": float(impact.friction), "restitution": tsuji_restitution(float(impact.law.alpha))}
    law, stages = hertz_mindlin_tsuji.LAW.with_parameters(**values), {}
    for stage, (_, cure) in STAGES.items():
        stages[stage] = law = law.with_parameters(**cure)
    return stages | {SPRING: law.with_parameters(displacement="velocity")}


def bodies_of(impact: Impact) -> tuple[ImpactBody, ...]:
    """The one or two bodies of an impact."""
    return (impact.body,) if impact.partner is None else (impact.body, impact.partner)


def apart(impact: Impact) -> float:
    """The distance between the copies of an impact, m."""
    return max(APART, *(3 * float(body.radius) for body in bodies_of(impact)))


def half_box(impact: Impact) -> float:
    """Half the edge of the box, m."""
    return 10 * apart(impact)


def scene_of(impact: Impact, law: ForceLaw) -> Scene:
    """The copies of an impact, body by body: the sphere that touches alone, with density 1 and the mass as its volume."""
    kinds, materials = [], {}
    for key, body in zip(("body", "partner"), bodies_of(impact), strict=False):
        x, y, z = map(float, body.inertia)
        centre, radius = np.array([body.offset], dtype=float), np.array([float(body.radius)])
        kinds.append((Clump(key, key, centre, radius, float(body.mass), (x, y, z)), len(PHASES)))
        materials[key] = Material(1.0, float(body.young), float(body.poisson))
    return Scene(
        key="impact",
        label="impact",
        kinds=tuple(kinds),
        material=materials["body"],
        materials=materials,
        box=2 * half_box(impact),
        speed=0.0,
        spin=0.0,
        horizon=1.0,
        law=law,
        walls="rigid",
    )


class ExactImpact:
    """An impact and what is known of it, as doubles: at the touch and after it.

    Parameters
    ----------
    impact : Impact
    duration : float
        s
    velocity, q, omega : arrays (bodies, 3 or 4)
        After the impact: m/s, lab frame; body to lab; rad/s, body frame.
    """

    def __init__(self, impact: Impact, duration: float, velocity: Any, q: Any, omega: Any) -> None:
        self.impact, self.duration, self.bodies = impact, duration, bodies_of(impact)
        self.inertia = np.array([body.inertia for body in self.bodies], dtype=float)
        before = [[getattr(body, name) for body in self.bodies] for name in ("velocity", "q", "omega")]
        before[1] = [_normalised(values) for values in before[1]]
        self.velocities, self.q, self.omega = (
            np.array([first, second], dtype=float) for first, second in zip(before, (velocity, q, omega), strict=True)
        )
        self.momenta = [
            np.array([self.momentum(i, *motion) for i, motion in enumerate(zip(*poses, strict=True))])
            for poses in zip(self.q, self.omega, strict=True)
        ]

    @classmethod
    def known(cls, key: str) -> "ExactImpact":
        """One of the impacts whose solutions are kept."""
        solution = stored()[key]
        after = [[body[name] for body in solution.bodies] for name in ("velocity", "q", "omega")]
        return cls(known_impacts()[key], float(solution.duration), *after)

    def momentum(self, body: int, q: Any, omega: Any) -> np.ndarray:
        """Angular momentum about the centre of mass in the lab frame, (3,) or (3, copies)."""
        q, omega = np.array(q, dtype=float), np.array(omega, dtype=float)
        return np.array(to_lab(tuple(q), tuple((omega.T * self.inertia[body]).T)))

    @cached_property
    def largest_change(self) -> float:
        """The largest change of the angular momenta during the impact: the one that is left may be small by chance."""
        dt = self.duration / DIVISIONS[-1]
        scene = scene_of(self.impact, laws(self.impact)["dashpot"])
        steps = np.arange(LEAD + DIVISIONS[-1])
        motion = run(scene, one_torque("spiral_leapfrog"), dt, self.start(dt), steps, record=True)["motion"]
        change = [
            self.momentum(i, motion[:, i * len(PHASES), 6:10].T, motion[:, i * len(PHASES), 10:].T) - before[:, None]
            for i, before in enumerate(self.momenta[0])
        ]
        return float(np.linalg.norm(np.concatenate(change), axis=0).max())

    def start(self, dt: float) -> State:
        """The copies before the touch, each by another part of a step earlier."""
        rows = []
        normal = np.array(self.impact.normal, dtype=float)
        for i, body in enumerate(self.bodies):
            q, omega, radius = self.q[0, i], self.omega[0, i], float(body.radius)
            # The sphere that touches: on the bottom of the box, or next to the middle, where the two meet.
            centre = (-radius if i else radius) * normal
            centre = centre if self.impact.partner else centre - [0.0, 0.0, half_box(self.impact)]
            pose: Any = tuple(map(float, q))
            place: Any = tuple(map(float, body.offset))
            offset = np.array(to_lab(pose, place), dtype=float)
            for copy, phase in enumerate(PHASES):
                time = (LEAD + phase) * dt
                earlier = turned_back(q, omega, self.inertia[i], time)
                row = np.array([0.0, apart(self.impact) * (copy - len(PHASES) / 2), 0.0])
                rows.append((centre - offset - time * self.velocities[0][i] + row, self.velocities[0][i], *earlier))
        r, v, turned, spins = (np.array(column) for column in zip(*rows, strict=True))
        return State(r, v, turned, spins)

    def run(
        self, scene: Scene, method: OneTorque, start: State, division: float, lasts: float = 1.5
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """The motion of each copy of each body after the impact, (bodies, copies, 13), and the outcome of the whole run.

        The run ``lasts`` as many times of contact.
        """
        at = np.array(self.steps(division, lasts))
        outcome = run(scene, method, self.duration / division, start, at, record=True)
        return self.after(outcome["motion"]), outcome

    @staticmethod
    def steps(division: float, lasts: float = 1.5) -> list[int]:
        """The steps at which a run is read: its first one, and one after the impact."""
        return [0, LEAD + 2 + int(lasts * division)]

    def after(self, motion: np.ndarray) -> np.ndarray:
        """The motion at the last sample, (bodies, copies, 13)."""
        ends: np.ndarray = motion[-1].reshape(len(self.bodies), len(PHASES), 13)
        return ends

    def distances(self, ends: np.ndarray, to: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Distances of spin and velocity of all copies from those of other ends, or from the exact ones.

        In units of the largest change of the angular momentum during the impact, and of the change of the velocity.
        """
        before, after = self.velocities
        velocity, momenta = after[:, None], self.momenta[1][:, None]
        if to is not None:
            velocity, momenta = to[:, :, 3:6], self.lab_momenta(to)
        far = np.linalg.norm(ends[:, :, 3:6] - velocity, axis=(0, 2)) / np.linalg.norm(after - before)
        return np.linalg.norm(self.lab_momenta(ends) - momenta, axis=(0, 2)) / self.largest_change, far

    def lab_momenta(self, ends: np.ndarray) -> np.ndarray:
        """The angular momenta of all copies, (bodies, copies, 3)."""
        return np.array([self.momentum(i, end[:, 6:10].T, end[:, 10:].T).T for i, end in enumerate(ends)])

    def errors(self, scene: Scene, method: OneTorque, start: State, division: int) -> tuple[float, float, float]:
        """The errors of spin and velocity, medians over the copies, and the closure of the energies of all of them."""
        ends, outcome = self.run(scene, method, start, division)
        spin, velocity = self.distances(ends)
        total = outcome["energies"][:, 0] + outcome["ledger"].sum(1)
        return float(np.median(spin)), float(np.median(velocity)), float(abs(total[1] / total[0] - 1))


def _normalised(q: Any) -> Any:
    """A quaternion of unit length, rounded once."""
    with mpmath.workdps(DIGITS):
        numbers = [mpmath.mpf(x) for x in q]
        return [x / mpmath.norm(numbers) for x in numbers]


def turned_back(q: Any, omega: Any, inertia: np.ndarray, time: float) -> tuple[np.ndarray, np.ndarray]:
    """A body without torque at an earlier time, by four steps of the classical Runge-Kutta method: it turns by 1/100."""
    x, y, z = map(float, inertia)
    coefficients = Body((x, y, z), 1.0).coefficients()

    def rates(state: np.ndarray) -> np.ndarray:
        q, omega = tuple(state[:4]), tuple(state[4:])
        return np.array([*_derivative(q, omega), *_euler_equations(omega, (0.0, 0.0, 0.0), coefficients)])

    state, h = np.array([*map(float, q), *map(float, omega)]), -time / 4
    for _ in range(4):
        k1 = rates(state)
        k2 = rates(state + h / 2 * k1)
        k3 = rates(state + h / 2 * k2)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + rates(state + h * k3))
    return state[:4] / np.linalg.norm(state[:4]), state[4:]


_derivative, _euler_equations = in_plain_python(derivative), in_plain_python(euler_equations)
