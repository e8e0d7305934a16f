"""Random impacts with friction: which step an error takes, with and without the cures, and what is wrong with a step.

Impacts differ in angle, spin, shape, stiffness, Poisson's ratio, friction and restitution. None is solved exactly: what runs
are compared with is the mean of runs with :data:`FINE` steps in a contact and all cures.
"""

from collections.abc import Sequence
from math import log10, pi
from typing import Any

import numpy as np
import xarray as xr

from polhode.algebra.quaternion import to_lab
from polhode.fits.impact_errors import CURED, LEADING, LIKE_CODES
from polhode.interface.arrays import about
from polhode.manybody.contact import collision_time
from polhode.manybody.forces import hertz_mindlin_tsuji
from polhode.manybody.material import Material, MaterialPair
from polhode.manybody.restitution import tsuji_damping, tsuji_restitution
from polhode.methods import METHODS
from polhode.references.impact import HertzMindlin, Impact, ImpactBody
from polhode_study.chapters.impacts.run import PHASES, STAGES, ExactImpact, bodies_of, laws, one_torque, scene_of
from polhode_study.run.making import Settings

#: How many are drawn, and the seed of the draw.
DRAWS, SEED = 118, 20261125
#: Ranges: coefficients of friction (in its logarithm) and of restitution, the part without dashpots; angle from the normal
#: (rad); speed of the surface by spin over that of the body; log10 of E/(density speed^2); Poisson's ratio.
FRICTION, RESTITUTION, UNDAMPED = (0.05, 1.0), (0.3, 1.0), 0.25
ANGLE, SPIN, STIFFNESS, POISSON = (0.0, 5 * pi / 12), (0.0, 1.0), (4.0, 8.0), (0.1, 0.45)
#: Radius (m), density (kg/m^3) and speed (m/s) of all, and the slowest approach that counts as an impact.
RADIUS, DENSITY, SPEED, SLOWEST = 0.0025, 2500.0, 1.0, 0.2
#: Bodies are this many equal spheres in a row at most, a radius apart; the last one touches.
MOST = 3
#: Steps in a contact: of the runs that others are compared with, of all runs, and those at which the causes are taken apart.
FINE, DIVISIONS, APART_AT = 10240, (5, 7, 10, 14, 20, 28, 40, 80, 160, 320, 640), 20

#: How long runs go on after the touch, in contact times.
LASTS = 2.5
#: Methods of rotation that are compared.
COMPARED = ("spiral_leapfrog", "fincham1992", "no_squish", "pcdm2016", "exact_rotor")
#: Those with and without cures, whose errors are kept at all steps.
BOOKKEEPINGS = (LIKE_CODES, CURED)


def draw(number: int, seed: int = SEED) -> Impact:
    """Impact number ``number``: a row of spheres that meets a rigid plane, or another one of the same kind."""
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
    count = int(random.integers(1, MOST + 1))
    mass = 4 / 3 * pi * RADIUS**3 * DENSITY
    x = RADIUS * (np.arange(count) - (count - 1) / 2)
    along = 0.4 * count * mass * RADIUS**2
    inertia = (along, across := along + mass * float((x**2).sum()), across)
    friction = 10 ** random.uniform(log10(FRICTION[0]), log10(FRICTION[1]))
    restitution = 1.0 if random.random() < UNDAMPED else random.uniform(*RESTITUTION)
    young, poisson = DENSITY * SPEED**2 * 10 ** random.uniform(*STIFFNESS), random.uniform(*POISSON)
    with_partner = bool(random.random() < 0.5)
    angle = random.uniform(*ANGLE)
    moving = SPEED * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    while True:
        bodies = []
        for sign in (1, -1) if with_partner else (1,):
            q, axis = (v / np.linalg.norm(v) for v in (random.normal(size=4), random.normal(size=3)))
            q = q if sign * to_lab(tuple(q), (1.0, 0.0, 0.0))[2] < 0 else np.array([-q[1], q[0], q[3], -q[2]])
            omega = random.uniform(*SPIN) * SPEED / RADIUS * axis
            velocity = sign * moving / (2 if with_partner else 1)
            bodies.append(
                ImpactBody(
                    count * mass,
                    inertia,
                    RADIUS,
                    tuple(map(float, velocity)),
                    tuple(map(float, omega)),
                    tuple(map(float, q)),
                    (float(x[-1]), 0.0, 0.0),
                    float(young),
                    float(poisson),
                )
            )
        law = HertzMindlin(tsuji_damping(restitution))
        impact = Impact(bodies[0], law, float(friction), bodies[1] if with_partner else None)
        if approach(impact) > SLOWEST * SPEED:
            return impact


def restitution_of(impact: Impact) -> float:
    """The coefficient of restitution of a central impact with this law."""
    assert isinstance(impact.law, HertzMindlin)
    return tsuji_restitution(float(impact.law.alpha))


def approach(impact: Impact) -> float:
    """The speed along the normal, z, with which the surfaces meet, m/s."""
    speed = 0.0
    for sign, body in zip((1, -1), bodies_of(impact), strict=False):
        offset, spin = (in_lab(body, vector) for vector in (body.offset, body.omega))
        velocity = np.array(body.velocity, dtype=float)
        speed -= sign * float((velocity + np.cross(spin, offset - [0.0, 0.0, sign * float(body.radius)]))[2])
    return speed


def in_lab(body: ImpactBody, vector: Sequence[Any]) -> np.ndarray:
    """A vector of the body frame, in the lab frame."""
    q, v = map(float, body.q), map(float, vector)
    return np.array(to_lab(tuple(q), tuple(v)))  # type: ignore[arg-type]


def contact_time(impact: Impact) -> float:
    """The time of a contact as fast along the normal, but central and without damping, s: 2.87 (m*^2/(R* E*^2 v))^(1/5)."""
    body, material = impact.body, Material(1.0, float(impact.body.young), float(impact.body.poisson))
    both = len(bodies_of(impact))
    modulus = MaterialPair(material, material if both == 2 else None).reduced
    return collision_time(float(body.mass) / both, float(body.radius) / both, modulus, approach(impact))


class FineImpact(ExactImpact):
    """An impact as runs with very short steps have it; ``duration`` is :func:`contact_time`.

    Attributes
    ----------
    laws : mapping
        The law with the bookkeeping of each stage.
    kinetic : energy before and after the impact, J
    made : energy that the law has made, J
    """

    def __init__(self, impact: Impact) -> None:
        touching = [[getattr(body, name) for body in bodies_of(impact)] for name in ("velocity", "q", "omega")]
        super().__init__(impact, contact_time(impact), *touching)
        self.laws = laws(impact)
        start, scene = self.start(self.duration / FINE), scene_of(impact, self.laws[CURED])
        ends, outcome = self.run(scene, one_torque(LEADING), start, FINE, LASTS)
        if outcome["ledger"][1, 1:3].any():
            raise ArithmeticError(f"impact has not ended after {LASTS:g} contact times")
        self.velocities[1] = ends[:, :, 3:6].mean(1)
        self.momenta[1] = self.lab_momenta(ends).mean(1)
        self.kinetic = outcome["energies"][:, 0] / len(PHASES)
        self.made = float(-outcome["ledger"][1, 6] / len(PHASES))

    def mean_errors(self, ends: np.ndarray) -> tuple[float, float]:
        """Means over the copies: the errors of the spin, and of the kinetic energy relative to that before the impact."""
        spin, mass = self.distances(ends)[0], float(self.impact.body.mass)
        twice = mass * (ends[..., 3:6] ** 2).sum(-1) + (self.inertia[:, None] * ends[..., 10:] ** 2).sum(-1)
        return float(spin.mean()), float(abs(0.5 * twice.sum(0) - self.kinetic[1]).mean() / self.kinetic[0])


def random_impacts(settings: Settings) -> xr.Dataset:
    """The errors of random impacts over the steps in a contact, as codes have it and cured, and what each cause has of them.

    Returns
    -------
    xarray.Dataset
        Over draw: ``error_spin`` and ``error_velocity``, the largest of copies that touch at other parts of a step, also over
        bookkeeping and division. At :data:`APART_AT` steps in a contact ``by_stage`` and ``by_method``, the errors of spin and
        kinetic energy as means over the copies, and ``closure``. ``made`` is what the law makes.
    """
    methods = [key for key in COMPARED if key in settings["methods"]]
    if LEADING not in methods:
        return xr.Dataset()
    count, stages = min(DRAWS, settings.get("draws", DRAWS)), settings.get("stages", list(STAGES))
    bookkeepings = [kind for kind in BOOKKEEPINGS if kind in stages]
    errors = np.full((2, count, len(bookkeepings), len(DIVISIONS)), np.nan)
    by_stage, by_method = (np.full((count, size, 2), np.nan) for size in (len(stages), len(methods)))
    closure, made = np.full(count, np.nan), np.full(count, np.nan)
    drawn = [draw(number) for number in range(count)]
    for i, impact in enumerate(drawn):
        case = FineImpact(impact)
        scenes = {stage: scene_of(impact, case.laws[stage]) for stage in stages}
        made[i] = case.made / case.kinetic[0]
        for k, division in enumerate(DIVISIONS):
            start = case.start(case.duration / division)
            for j, stage in enumerate(stages):
                if division == APART_AT or stage in bookkeepings:
                    ends, outcome = case.run(scenes[stage], one_torque(LEADING), start, division, LASTS)
                    if stage in bookkeepings:
                        errors[:, i, bookkeepings.index(stage), k] = [far.max() for far in case.distances(ends)]
                    if division == APART_AT:
                        by_stage[i, j] = case.mean_errors(ends)
            if division == APART_AT:
                total = outcome["energies"][:, 0] + outcome["ledger"].sum(1)
                closure[i] = abs(total[1] / total[0] - 1)
                for j, key in enumerate(methods):
                    ends, _ = case.run(scenes[CURED], one_torque(key), start, division, LASTS)
                    by_method[i, j] = case.mean_errors(ends)
    over = "draw", "bookkeeping", "division"
    step = f"with {APART_AT} steps in a contact"
    largest = f"the largest of {len(PHASES)} starts"
    return xr.Dataset(
        {
            "error_spin": (over, errors[0], about(f"error of the angular momentum, in units of its largest change, {largest}")),
            "error_velocity": (over, errors[1], about(f"error of the velocity, in units of its change, {largest}")),
            "by_stage": (("draw", "stage", "quantity"), by_stage, about(f"mean error {step}")),
            "by_method": (("draw", "integrator", "quantity"), by_method, about(f"mean error with all cures, {step}")),
            "closure": ("draw", closure, about(f"error of the sum of all energies, relative, all cures, {step}")),
            "made": ("draw", made, about("energy made by the law over the kinetic energy before")),
            "friction": ("draw", [float(impact.friction) for impact in drawn], about("coefficient of friction")),
            "restitution": (
                "draw",
                [restitution_of(impact) for impact in drawn],
                about("normal coefficient of restitution"),
            ),
            "label": ("integrator", [METHODS[key].label for key in methods], {"long_name": "name of the method"}),
            "stage_label": ("stage", [STAGES[stage][0] for stage in stages], {"long_name": "name of the stage"}),
        },
        {
            "draw": ("draw", np.arange(count), {"long_name": "number of the impact"}),
            "bookkeeping": ("bookkeeping", bookkeepings, {"long_name": "bookkeeping of the contact: a stage"}),
            "stage": (
                "stage",
                list(stages),
                {"long_name": "bookkeeping of the contact: each stage adds a cure to those before it"},
            ),
            "quantity": (
                "quantity",
                ["spin", "energy"],
                {"long_name": "spin, in units of its largest change, or energy before"},
            ),
            "integrator": ("integrator", methods, {"long_name": "key of the method"}),
            "division": ("division", list(DIVISIONS), about("steps in the contact time")),
        },
        {
            "law": hertz_mindlin_tsuji.LAW.key,
            "friction_range": FRICTION,
            "restitution_range": RESTITUTION,
            "fine": FINE,
            "apart_at": APART_AT,
            "phases": len(PHASES),
            "seed": SEED,
        },
    )
