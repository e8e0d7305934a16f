r"""Tests of contacts: the benchmarks of Chung and Ooi, closed forms, rolling and rest on a slope, and each cure by itself.

The eight tests of Chung and Ooi (2011) are impacts of spheres. Their numbers are those with which YADE (tests 1 to 4), Kratos
and PySPH (5 to 8) verify themselves. Tests 1 to 3 and 7 have closed forms, the others exact references.

Maw, Barber and Fawcett (1976) let annuli of a contact slip one after the other, which no law here does. Their angle of
reflection follows from a row of springs that slip one by one (the method of dimensionality reduction, Popov and Hess 2014),
which for spheres is exact. In units of the largest overlap and the speed of an elastic impact the overlap obeys
:math:`\ddot\delta = -\frac54 \delta^{3/2}`. A spring at y has the stretch :math:`|\sigma| \le \delta - y^2`, and

.. math::

   \dot\sigma = \psi, \qquad \dot\psi = -\frac{105}{16} \kappa \int_0^1 \sigma\, dy, \qquad
   \psi = \frac{\kappa v_s}{\mu v_n}, \qquad \kappa = \frac{2 (1 - \nu)}{2 - \nu}.
"""

from collections.abc import Callable
from itertools import pairwise
from math import asin, atan, atan2, cos, exp, inf, pi, radians, sin, sqrt
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from polhode.algebra.quaternion import to_lab
from polhode.compiling.plain import in_plain_python
from polhode.manybody.clump import Clump
from polhode.manybody.contact import HALF_COLLISION, ZERO, Side, collision_time, largest_overlap, meeting
from polhode.manybody.forces import FORCES
from polhode.manybody.friction import returned
from polhode.manybody.law import ForceLaw
from polhode.manybody.material import Material, MaterialPair
from polhode.manybody.placement import State
from polhode.manybody.restitution import linear_damping, tsuji_damping
from polhode.manybody.scene import Scene
from polhode.manybody.simulation import run
from polhode.methods import METHODS
from polhode.references.impact import HertzMindlin, Impact, ImpactBody
from polhode.references.known_impacts import ANGLES, chung_ooi
from polhode_study.chapters.impacts.run import LEAD, PHASES, ExactImpact, bodies_of, half_box, laws, scene_of

METHOD: Any = METHODS["spiral_leapfrog"]
#: Steps in the time of contact.
DIVISIONS = (20, 40, 160)
TOTAL, LINEAR = FORCES["hertz_mindlin_tsuji"], FORCES["linear_spring_dashpot"]


#: Materials of the benchmarks: kg/m^3, Pa, Poisson's ratio, as decimal numbers.
SUBSTANCES = {
    "glass": ("2800", "4.8e10", "0.20"),
    "limestone": ("2500", "2.0e10", "0.25"),
    "aluminium": ("2699", "7.0e10", "0.30"),
    "magnesium": ("1800", "4.0e10", "0.35"),
    "oxide": ("4000", "3.8e11", "0.23"),
    "iron": ("7000", "1.0e11", "0.25"),
    "alloy": ("2700", "7.0e10", "0.33"),
}
#: Tests 1 and 2: materials, whether the partner is a sphere, radius (m) and speed of each sphere (m/s).
ELASTIC = (
    (1, "glass", True, "0.010", "10"),
    (1, "limestone", True, "0.010", "10"),
    (2, "aluminium", False, "0.1", "0.2"),
    (2, "magnesium", False, "0.1", "0.2"),
)
#: Test 3: materials and coefficients of restitution.
DAMPED, RESTITUTIONS = ("oxide", "iron"), (0.2, 0.4, 0.6, 0.8, 1.0)
#: Coefficient of restitution and friction of tests 4 to 8.
OBLIQUE = {"4": (0.98, 0.092), "5": (1.0, 0.3)} | dict.fromkeys(("6", "7", "8a", "8b"), (0.5, 0.4))
#: Test 7: spins of the first sphere, rad/s; the second has the opposite one.
SPINS = (1.0, 5.0, 20.0)
#: Linear springs: tangential over normal stiffness of contacts that stick.
RATIOS = (0.1, 2 / 7, 0.5, 1.0)
#: The springs in a row, steps in half a contact, and angles of the curves of Maw et al.
ROW, ROW_STEPS, PSI = 400, 400, np.linspace(0.1, 8.0, 80)
#: Steps in the unit of time of each experiment on a single cure.
CURE_STEPS = (20, 40, 80, 160)


def sphere(substance: str, radius: str, velocity: Any, spin: float = 0.0) -> ImpactBody:
    """A sphere that spins about y."""
    density, young, poisson = SUBSTANCES[substance]
    return ImpactBody.sphere(radius, density, velocity, omega=(0, spin, 0), young=young, poisson=poisson)


def normal_impact(substance: str, radius: str, speed: str, pair: bool, restitution: float) -> ExactImpact:
    """Tests 1 to 3: a sphere on a rigid plane or, each with this speed, two identical ones."""
    law = HertzMindlin(tsuji_damping(restitution))
    if not pair:
        return turns_back(Impact(sphere(substance, radius, (0, 0, f"-{speed}")), law, friction=0), restitution)
    first, second = (sphere(substance, radius, (f"{sign}{speed}", 0, 0)) for sign in ("-", ""))
    return turns_back(Impact(first, law, friction="0.35", partner=second, normal=(1, 0, 0)), restitution)


def rolling_impact(spin: float) -> ExactImpact:
    """Test 7: two identical spheres with opposite spins, whose surfaces roll on each other."""
    restitution, friction = OBLIQUE["7"]
    first, second = (sphere("alloy", "0.1", (f"{sign}0.2", 0, 0), way * spin) for sign, way in (("-", 1), ("", -1)))
    impact = Impact(first, HertzMindlin(tsuji_damping(restitution)), friction, partner=second, normal=(1, 0, 0))
    return turns_back(impact, restitution)


def turns_back(impact: Impact, restitution: float) -> ExactImpact:
    """What is known of an impact of equal spheres, or of one on the plane, without a force along the surfaces.

    The duration, in which steps are counted, is that without damping.
    """
    bodies = bodies_of(impact)
    velocity = -restitution * np.array([body.velocity for body in bodies], dtype=float)
    return ExactImpact(impact, hertz(impact)[0], velocity, [body.q for body in bodies], [body.omega for body in bodies])


def measurements() -> xr.Dataset:
    """What the tests of contacts give, beside what they should.

    Returns
    -------
    xarray.Dataset
        ``elastic_*`` over elastic, division: tests 1 and 2. ``restitution`` over material, asked, division: test 3. Over sample
        and division: what is at the contact after tests 4 to 8 (:data:`OBSERVED`), and before and after exactly. ``psi_*`` over
        psi: reflection in an elastic impact. ``error`` over cure, choice and step: experiments on single cures. And numbers
        of linear contacts, of rolling and of rest.
    """
    variables: dict[str, Any] = {}
    normal = [normal_impact(substance, radius, speed, pair, 1.0) for _, substance, pair, radius, speed in ELASTIC]
    theory = np.array([hertz(case.impact) for case in normal])
    measured = np.array([[elastic(case, division) for division in DIVISIONS] for case in normal])
    for i, name in enumerate(("duration", "force")):
        variables[f"elastic_{name}"] = ("elastic", "division"), measured[..., i]
        variables[f"elastic_{name}_exact"] = "elastic", theory[:, i]
    obtained = np.empty((len(DAMPED), len(RESTITUTIONS), len(DIVISIONS)))
    for i, j, k in np.ndindex(obtained.shape):
        case = normal_impact(DAMPED[i], "0.0025", "3.9", False, RESTITUTIONS[j])
        obtained[i, j, k] = -ends(case, cured(case.impact), DIVISIONS[k], 3.0)[0] / 3.9
    variables["restitution"] = ("material", "asked", "division"), obtained
    variables |= oblique() | linear_contacts()
    poisson = float(chung_ooi("5", 45).body.poisson)
    variables["psi_maw"] = "psi", maw(PSI, poisson)
    variables["psi_law"] = "psi", reflected(poisson)
    errors = [[[ERRORS[cure](choice, steps) for steps in CURE_STEPS] for choice in CURES[cure]] for cure in CURES]
    variables["error"] = ("cure", "choice", "steps"), errors
    by_return = [[error_of_return(name, steps) for steps in CURE_STEPS] for name in RETURNS]
    variables["return_error"] = ("return", "steps"), by_return
    return xr.Dataset(
        variables | rolling() | rest(),
        {
            "division": ("division", list(DIVISIONS)),
            "elastic": ("elastic", [f"test {test}, {substance}" for test, substance, *_ in ELASTIC]),
            "material": ("material", list(DAMPED)),
            "asked": ("asked", list(RESTITUTIONS)),
            "ratio": ("ratio", list(RATIOS)),
            "psi": ("psi", PSI),
            "cure": ("cure", list(CURES)),
            "choice": ("choice", ["cured", "usual"]),
            "steps": ("steps", list(CURE_STEPS)),
            "return": ("return", list(RETURNS)),
            "observed": ("observed", list(OBSERVED)),
        },
        {"poisson": poisson},
    )


#: What is seen at a contact.
OBSERVED = ("normal", "tangential", "spin")


def oblique() -> dict[str, Any]:
    """Tests 4 to 8 over sample: velocities at the contact point, m/s, and the spin of the first sphere, rad/s."""
    names = [(test, float(angle)) for test, angles in ANGLES.items() for angle in angles]
    cases = {(test, angle): ExactImpact.known(f"test_{test}_{angle:g}") for test, angle in names}
    cases |= {("7", spin): rolling_impact(spin) for spin in SPINS}
    exact = np.array([exact_ends(case) for case in cases.values()])
    runs = np.array([[ends(case, cured(case.impact), n, 3.0) for n in DIVISIONS] for case in cases.values()])
    rigid = [sliding(before, *OBLIQUE[test]) for (test, _), (before, _) in zip(cases, exact, strict=True)]
    return {
        "test": ("sample", [test for test, _ in cases]),
        "incidence": ("sample", [value for _, value in cases]),
        "before": (("sample", "observed"), exact[:, 0]),
        "after_exact": (("sample", "observed"), exact[:, 1]),
        "after": (("sample", "division", "observed"), runs),
        "rigid": ("sample", rigid),
    }


def at_contact(impact: Impact, velocity: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Normal velocity of approach and tangential velocity at the contact point (m/s) and the spin of the first body (rad/s).

    Parameters
    ----------
    velocity, omega : arrays (bodies, ..., 3), lab frame

    Returns
    -------
    array (3, ...)
    """
    n = np.array(impact.normal, dtype=float)
    u = sum(
        sign * (v - sign * float(body.radius) * np.cross(w, n))
        for sign, body, v, w in zip((1, -1), bodies_of(impact), velocity, omega, strict=False)
    )
    along = np.array([0.0, 0.0, 1.0]) if impact.partner else np.array([1.0, 0.0, 0.0])
    return np.array([-u @ n, u @ along, omega[0] @ np.array([0.0, 1.0, 0.0])])


def hertz(impact: Impact) -> tuple[float, float]:
    """Duration (s) and largest force (N) of an elastic impact of equal spheres, or of one on the plane: its normal part."""
    body, half = impact.body, 2.0 if impact.partner else 1.0
    mass, radius = float(body.mass) / half, float(body.radius) / half
    speed = -half * float(np.array(body.velocity, dtype=float) @ np.array(impact.normal, dtype=float))
    modulus = float(body.young) / (1 - float(body.poisson) ** 2) / half
    overlap = largest_overlap(mass, radius, modulus, speed)
    return collision_time(mass, radius, modulus, speed), 4 / 3 * modulus * sqrt(radius * overlap) * overlap


def cured(impact: Impact) -> ForceLaw:
    """The law of an impact with all cures."""
    return laws(impact)["dashpot"]


def elastic(case: ExactImpact, division: int) -> tuple[float, float]:
    """Duration (s) and largest force (N) of a run of an elastic normal impact: medians over the copies.

    The former follows from the free flights before and after, the latter from a parabola through the three largest overlaps.
    """
    impact, dt = case.impact, case.duration / division
    scene = scene_of(impact, cured(impact))
    steps = np.arange(LEAD + 2 + int(1.5 * division))
    motion = run(scene, METHOD, dt, case.start(dt), steps, record=True)["motion"]
    place = motion[:, :, :3].reshape(len(steps), len(bodies_of(impact)), len(PHASES), 3)
    radius = float(impact.body.radius)
    if impact.partner is None:
        overlap, rate = radius - half_box(impact) - place[:, 0, :, 2], -motion[:, :, 5]
    else:
        overlap = 2 * radius - (place[:, 0, :, 0] - place[:, 1, :, 0])
        rate = motion[:, len(PHASES) :, 3] - motion[:, : len(PHASES), 3]
    lasted = steps[-1] * dt - overlap[-1] / rate[-1] + overlap[0] / rate[0]
    modulus = scene.constants()[1][0 if impact.partner else 1, 3]
    reduced = radius / (2 if impact.partner else 1)
    forces = []
    for of_contact in overlap.T:
        k = int(of_contact.argmax())
        left, top, right = of_contact[k - 1 : k + 2]
        forces.append(modulus * sqrt(reduced) * (top + (left - right) ** 2 / (8 * (2 * top - left - right))) ** 1.5)
    return float(np.median(lasted)), float(np.median(forces))


def ends(case: ExactImpact, law: ForceLaw, division: int, lasts: float = 1.5) -> np.ndarray:
    """:func:`at_contact` after a run: medians over the copies."""
    motion, _ = case.run(scene_of(case.impact, law), METHOD, case.start(case.duration / division), division, lasts)
    omega = np.array([np.array(to_lab(tuple(rows[:, 6:10].T), tuple(rows[:, 10:].T))).T for rows in motion])
    median: np.ndarray = np.median(at_contact(case.impact, motion[:, :, 3:6], omega), axis=-1)
    return median


def exact_ends(case: ExactImpact) -> np.ndarray:
    """:func:`at_contact` before and after an impact, exactly: (2, 3)."""
    omega = [np.array([to_lab(tuple(q), tuple(w)) for q, w in zip(case.q[k], case.omega[k], strict=True)]) for k in (0, 1)]
    return np.array([at_contact(case.impact, case.velocities[k], omega[k]) for k in (0, 1)])


def sliding(before: np.ndarray, restitution: float, friction: float) -> float:
    """The tangential velocity at the contact point after an impact of spheres as rigid bodies that slide throughout, m/s."""
    return float(before[1] - 3.5 * friction * (1 + restitution) * before[0])


def maw(psi: np.ndarray, poisson: float) -> np.ndarray:
    """psi after an elastic impact on a rigid plane as Maw et al. (1976) have it: see the module's docstring."""
    kappa = 2 * (1 - poisson) / (2 - poisson)
    y = (np.arange(ROW) + 0.5) / ROW
    dt = HALF_COLLISION / ROW_STEPS
    now, stretch = psi.astype(float), np.zeros((len(psi), ROW))
    overlap, rate = 0.0, 1.0
    for _ in range(2 * ROW_STEPS):
        overlap += dt / 2 * rate
        room = np.maximum(overlap - y * y, 0.0)
        stretch = np.clip(stretch + dt / 2 * now[:, None], -room, room)
        now = now - dt * 105 / 16 * kappa * stretch.mean(1)
        rate -= dt * 1.25 * max(overlap, 0.0) ** 1.5
        overlap += dt / 2 * rate
        stretch = stretch + dt / 2 * now[:, None]
    return now


def reflected(poisson: float) -> np.ndarray:
    """psi after an elastic impact for all :data:`PSI`, by the law of Hertz and Mindlin at the shortest step.

    Arms are radii, as Maw et al. have them.
    """
    friction = OBLIQUE["5"][1]
    kappa = 2 * (1 - poisson) / (2 - poisson)
    results = []
    for value in PSI:
        angle = float(np.degrees(np.arctan(friction * value / kappa)))
        case = turns_back(chung_ooi("5", angle), 1.0)
        normal, tangential, _ = ends(case, cured(case.impact).with_parameters(arms="radius"), DIVISIONS[-1])
        results.append(kappa * tangential / (-friction * normal))
    return np.array(results)


def linear_contacts() -> dict[str, Any]:
    """Linear springs: restitution asked for and obtained, and tangential velocities after contacts that stick."""
    restitutions, ratios = np.array(RESTITUTIONS), np.array(RATIOS)
    obtained, stuck = np.empty((len(restitutions), len(DIVISIONS))), np.empty((len(ratios), len(DIVISIONS)))
    stiff = 1e5
    body = sphere("glass", "0.005", ("0.5", 0, -1))
    lasts = pi * sqrt(float(body.mass) / stiff)
    case = ExactImpact(Impact(body, HertzMindlin()), lasts, [(0, 0, 1)], [body.q], [body.omega])
    law = LINEAR.with_parameters(stiffness=stiff, arms="radius", friction=inf)
    for k, division in enumerate(DIVISIONS):
        for i, e in enumerate(restitutions):
            obtained[i, k] = -ends(case, law.with_parameters(restitution=float(e), friction=0.0), division, 3.0)[0]
        for i, ratio in enumerate(ratios):
            stuck[i, k] = ends(case, law.with_parameters(restitution=1.0, ratio=float(ratio)), division)[1] / 0.5
    exact = np.cos(pi * np.sqrt(3.5 * ratios))
    return {
        "linear_restitution": (("asked", "division"), obtained),
        "stuck": (
            ("ratio", "division"),
            stuck,
        ),
        "stuck_exact": ("ratio", exact),
    }


#: Rolling down a slope: angle (degrees), radius (m), turns, time step (s), samples.
SLOPE, RADIUS, TURNS, ROLLING_STEP, ROLLING_SAMPLES = 20.0, 0.005, 50, 1e-4, 2000
SOFT = Material(density=2500.0, young=1e7, poisson=0.3)
G = 9.81


def on_floor(
    clump: Clump,
    law: ForceLaw,
    gravity: tuple[float, float, float],
    box: float,
    material: Material = SOFT,
    walls: str | None = None,
) -> Scene:
    """A clump alone in a box, with gravity."""
    return Scene(
        key="floor",
        label="floor",
        kinds=((clump, 1),),
        material=material,
        box=box,
        speed=0.0,
        spin=0.0,
        horizon=1.0,
        law=law,
        gravity=gravity,
        walls=walls,
    )


def rolling() -> dict[str, Any]:
    """A ball that rolls down a slope, released with the overlap that its weight gives it.

    The angular momentum about the contact line grows with the time: with beta = I/(m b^2) and b the radius less the overlap,
    x + beta b phi = g sin(slope) t^2/2 at any time. The ball rolls where x - b phi, the stretch of the spring, stays the same.
    """
    ball = Clump.sphere(RADIUS)
    law = TOTAL.with_parameters(friction=0.5, restitution=0.5)
    along, down = G * sin(radians(SLOPE)), G * cos(radians(SLOPE))
    mass = SOFT.density * ball.volume
    depth = (mass * down / (4 / 3 * 2 * SOFT.reduced * sqrt(RADIUS))) ** (2 / 3)
    half = TURNS * pi * RADIUS * 1.1
    scene = on_floor(ball, law, (along, 0.0, -down), box=2 * half, walls="rigid")
    start = np.array([[RADIUS - half, 0.0, RADIUS - depth - half]])
    begin = State(start, np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]]), np.zeros((1, 3)))
    arm = RADIUS - depth
    beta = 0.4 * (RADIUS / arm) ** 2
    end = sqrt(2 * TURNS * 2 * pi * RADIUS * (1 + beta) / along)
    at = np.unique(np.linspace(0, end / ROLLING_STEP, ROLLING_SAMPLES).astype(int))
    motion = run(scene, METHOD, ROLLING_STEP, begin, at, record=True)["motion"][:, 0]
    time, x = at * ROLLING_STEP, motion[:, 0] - start[0, 0]
    phi = np.unwrap(2 * np.arctan2(motion[:, 8], motion[:, 6]), period=2 * pi)
    slip = x - arm * phi
    rolled = time > 0.1 * time[-1]
    return {
        "turns": ((), phi[-1] / (2 * pi)),
        "acceleration": (
            (),
            motion[-1, 3] / time[-1] / (along / (1 + beta)) - 1,
        ),
        "angular_momentum": (
            (),
            float(np.abs(x + beta * arm * phi - along * time**2 / 2).max() / x[-1]),
        ),
        "slip": (
            (),
            float(np.ptp(slip[rolled]) / x[-1]),
        ),
    }


#: A clump that lies on a slope: time step (s), steps until it has come to rest, and steps after that.
REST_STEP, TO_REST, AT_REST = 5e-5, 20_000, 100_000


def rest() -> dict[str, Any]:
    """How far a clump of three spheres creeps that friction holds on a slope, once it has come to rest."""
    angles = 0.3 + 2 * pi / 3 * np.arange(3)
    centres = RADIUS * np.array([np.cos(angles), np.sin(angles), np.zeros(3)]).T
    triangle = Clump.of_spheres("triangle", centres, np.full(3, RADIUS))
    material = Material(density=2500.0, young=1e6, poisson=0.3)
    scene = on_floor(triangle, TOTAL.with_parameters(restitution=0.3), (2.0, 1.5, -9.0), box=0.05, material=material)
    lies = np.array([triangle.rotation])
    begin = State(np.array([[0.0, 0.0, 1.00002 * RADIUS - 0.025]]), np.zeros((1, 3)), lies, np.zeros((1, 3)))
    at = np.concatenate([[0], TO_REST + np.arange(0, AT_REST + 1, AT_REST // 100)])
    outcome = run(scene, METHOD, REST_STEP, begin, at, record=True)
    place = outcome["motion"][1:, 0, :3]
    return {
        "creep": ((), float(np.abs(place - place[0]).max())),
        "creep_kinetic": ((), float(outcome["energies"][1:, 0].max())),
    }


#: Each cure, what codes usually have in its place, and the option of the law.
CURES = {
    "start": ("touch", "whole"),
    "slip": ("trapezoidal", "radial"),
    "plane": ("middle", "end"),
    "dashpot": ("predicted", "handed"),
}
_law_of_contact, _meeting, _returned = map(in_plain_python, (TOTAL.contact, meeting, returned))


def error_of_start(choice: str, steps: int) -> float:
    """The stretch of a spring after one unit of time since the touch, with motions that accelerate: mean over the phases.

    The overlap is t + t^2/4, the way along the plane t + t^2/2.
    """
    dt, errors, still = 1 / steps, [], Side(ZERO, 0.0, 0.0, ZERO, ZERO, ZERO, ZERO)
    bookkeeping = TOTAL.with_parameters(start=choice, friction=inf).bookkeeping()
    for phase in PHASES:
        time = (phase - 1 + np.arange(steps + 1)) * dt
        x, overlap = time + time**2 / 2, time + time**2 / 4
        stretch = 0.0
        for k in range(1, steps + 1):
            side = Side(ZERO, 10.0, 1.0, ZERO, ZERO, (x[k] - x[k - 1], 0.0, overlap[k - 1] - overlap[k]), ZERO)
            before = (0.0, 0.0, 1.0, overlap[k - 1])
            touch, _, _ = _meeting((0.0, 0.0, 1.0), overlap[k], 10.0, 1.0, side, still, before, k > 1, bookkeeping, dt)
            stretch += touch.share * touch.moved[0]
        errors.append(abs(stretch - x[-1]))
    return float(np.mean(errors))


def error_of_slip(choice: str, steps: int) -> float:
    """The angle of a spring that slides over a plane in a circle, from the direction of the way on.

    With the radius 1/2 of the way in lengths of the spring, the lag a behind the way obeys da/dt = 1 - 2 sin(a): tan(a/2) is
    the solution of a Riccati equation with the fixed points 2 - sqrt(3) and 2 + sqrt(3).
    """
    dt, stretch = 1 / steps, (1.0, 0.0, 0.0)
    for k in range(steps):
        angle = (k + 0.5) * dt
        way = 4 * sin(dt / 2)  # the chord of the circle, which is run through with speed 2
        trial = stretch[0] + way * cos(angle), stretch[1] + way * sin(angle), 0.0
        stretch = _returned(trial, 1.0, stretch, choice == "trapezoidal")
    low, high = 2 - sqrt(3), 2 + sqrt(3)
    ratio = high / low * exp(sqrt(3))
    lag = 2 * atan((high - ratio * low) / (1 - ratio))
    return abs(atan2(stretch[1], stretch[0]) - (1 - lag))


def divided(trial: Any, longest: float, before: Any) -> Any:
    """The spring after a step that is divided where sliding begins, and in which it turns from then on, exactly.

    This is what the abstract of Kuhn, Suzuki and Daouadji (2020) describes, with formulas of our own. For an increment that is
    straight and a cone of one size L, the spring first reaches length L. Its angle f from the increment then obeys
    df/ds = -sin(f)/L along the rest s of the increment, so tan(f/2) falls as exp(-s/L).
    """
    spring, end = np.array(before), np.array(trial)
    if np.linalg.norm(end) <= longest:
        return tuple(end)
    way = end - spring
    a, b, c = way @ way, spring @ way, spring @ spring - longest**2
    sticks = max((sqrt(max(b * b - a * c, 0.0)) - b) / a, 0.0)
    spring, way = spring + sticks * way, (1 - sticks) * way
    along = way / np.linalg.norm(way)
    across = spring - (spring @ along) * along
    size = np.linalg.norm(across)
    angle = 2 * atan(exp(-np.linalg.norm(way) / longest) * np.tan(0.5 * atan2(size, spring @ along)))
    return tuple(longest * (cos(angle) * along + (sin(angle) / size * across if size else 0.0)))


#: Returns to the cone: the choices of ``slip`` for springs alone, and a step that is divided.
RETURNS: dict[str, Callable[..., Any]] = {
    "trapezoidal": lambda trial, longest, before: _returned(trial, longest, before, True),
    "radial": lambda trial, longest, before: _returned(trial, longest, before, False),
    "divided": divided,
}


def error_of_return(name: str, steps: int) -> float:
    """The angle of a spring that is stretched from rest along a circle until it slides, as in :func:`error_of_slip`: the mean.

    The surfaces meet at parts of a step, so that sliding begins at others. The spring is the chord of the circle until this is
    1, at t = 2 asin(1/4), and lags by half the angle then.
    """
    begins, ends = 2 * asin(0.25), 1.5
    low, high = 2 - sqrt(3), 2 + sqrt(3)
    start = np.tan(begins / 4)
    ratio = (start - high) / (start - low) * exp(sqrt(3) * (ends - begins))
    exact = ends - 2 * atan((high - ratio * low) / (1 - ratio))
    errors = []
    for phase in PHASES:
        at = np.unique(np.clip([0.0, *(np.arange(2 * steps) + phase) / steps, ends], 0.0, ends))
        stretch = (0.0, 0.0, 0.0)
        for first, second in pairwise(at):
            way, angle = 4 * sin((second - first) / 2), (first + second) / 2
            stretch = RETURNS[name]((stretch[0] + way * cos(angle), stretch[1] + way * sin(angle), 0.0), 1.0, stretch)
        errors.append(abs(atan2(stretch[1], stretch[0]) - exact))
    return float(np.mean(errors))


def error_of_plane(choice: str, steps: int) -> float:
    """The stretch between two spheres that stick while one goes round the other in a cone and both spin about the normal.

    In the directions of the way and across it, the spring turns with the rate w = cos(cone) - spin, so that its stretch is
    s (sin(w t), cos(w t) - 1)/w with the speed s of the first sphere.
    """
    cone, spin, apart = radians(40), 0.7, 1.9
    law = TOTAL.with_parameters(plane=choice, friction=inf, restitution=1.0)
    constants = tuple(map(float, law.constants_of(MaterialPair(SOFT, SOFT))))
    times = np.arange(steps + 1) / steps
    normals = np.array([sin(cone) * np.cos(times), sin(cone) * np.sin(times), np.full(steps + 1, cos(cone))]).T
    history: tuple[float, ...] = (0.0,) * law.history
    overlap = 2.0 - apart
    for k in range(1, steps + 1):
        n = tuple(normals[k])
        middle = normals[k - 1] + normals[k]
        turned = tuple(spin / steps * middle / np.linalg.norm(middle))
        moved = tuple(apart * (normals[k] - normals[k - 1]))
        first, second = (Side(ZERO, 1.0, 0.5, ZERO, ZERO, way, turned) for way in (moved, ZERO))
        before = (*normals[k - 1], overlap)
        touch, _, _ = _meeting(n, overlap, 0.5, 0.5, first, second, before, k > 1, law.bookkeeping(), 1 / steps)
        history = _law_of_contact(touch, history, constants).history
    w, speed = cos(cone) - spin, apart * sin(cone)
    way = np.array([-np.sin(1.0), np.cos(1.0), 0.0])
    across = np.cross(normals[-1], way)
    exact = speed / w * (sin(w) * way + (cos(w) - 1) * across)
    return float(np.linalg.norm(np.array(history[:3]) - exact))


def error_of_dashpot(choice: str, steps: int) -> float:
    """The height of a ball that swings on a linear spring and dashpot under gravity and never leaves it, after one period."""
    law = LINEAR.with_parameters(stiffness=1e3, restitution=0.7, friction=0.0, dashpot=choice)
    ball = Clump.sphere(RADIUS)
    mass = SOFT.density * ball.volume
    depth, swing = mass * G / 1e3, 0.5
    damping = linear_damping(0.7) * sqrt(1e3 / mass)
    w = sqrt(1e3 / mass - damping**2)
    half = 0.05
    scene = on_floor(ball, law, (0.0, 0.0, -G), box=2 * half, walls="rigid")
    level = RADIUS - half - depth
    begin = State(np.array([[0.0, 0.0, level + swing * depth]]), np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3)))
    motion = run(scene, METHOD, 2 * pi / w / steps, begin, np.array([0, steps]), record=True)["motion"]
    return float(abs((motion[-1, 0, 2] - level) / depth - swing * exp(-damping * 2 * pi / w)))


ERRORS = {"start": error_of_start, "slip": error_of_slip, "plane": error_of_plane, "dashpot": error_of_dashpot}


# ---- what they say ----

#: Tests of Chung and Ooi with oblique impacts, and what they are.
OBLIQUE_TESTS = {
    "4": "sphere on a plane, at angles",
    "5": "sphere on a plane, one normal speed",
    "6": "spinning sphere on a plane",
    "7": "two spheres with opposite spins",
    "8a": "two sizes, the larger stiffer",
    "8b": "two sizes, one stiffness",
}
#: A contact slides throughout where its tangential velocity agrees with rigid bodies to this part of the normal velocity.
SLIDES = 0.01


def deviations(data: xr.Dataset) -> pd.DataFrame:
    """The largest deviation of each quantity of each test, by division: relative, or in units of what the test has at most."""
    rows = []

    def add(test: str, what: str, theory: str, values: xr.DataArray) -> None:
        over = [dim for dim in values.dims if dim != "division"]
        largest = abs(values).max(over)
        by_step = {f"T/{int(n)}": float(largest.sel(division=n)) for n in data["division"].values}
        rows.append({"test": test, "quantity": what, "theory": theory, **by_step})

    for number, kind in (("1", "two spheres, normal, elastic"), ("2", "sphere on a plane, normal, elastic")):
        of_test = data.sel(elastic=[name for name in data["elastic"].values if str(name).startswith(f"test {number}")])
        for name, what in (("duration", "time of contact"), ("force", "largest force")):
            exact = of_test[f"elastic_{name}_exact"]
            add(f"{number}. {kind}", what, "Hertz", of_test[f"elastic_{name}"] / exact - 1)
    add("3. sphere on a plane, normal, damped", "restitution", "asked for", data["restitution"] - data["asked"])
    for test, kind in OBLIQUE_TESTS.items():
        of_test = data.isel(sample=data["test"].values == test)
        off = of_test["after"] - of_test["after_exact"]
        speed = (of_test["before"].sel(observed=["normal", "tangential"]) ** 2).sum("observed") ** 0.5
        theory = "exact" if test == "7" else "reference"
        size = (off.sel(observed="normal") ** 2 + off.sel(observed="tangential") ** 2) ** 0.5
        add(f"{test}. {kind}", "contact velocity", theory, size / speed)
        spin = abs(of_test["after_exact"].sel(observed="spin")).max()
        add(f"{test}. {kind}", "spin", theory, off.sel(observed="spin") / spin)
    add("linear spring and dashpot", "restitution", "asked for", data["linear_restitution"] - data["asked"])
    add("linear springs that stick", "contact velocity", "closed form", data["stuck"] - data["stuck_exact"])
    return pd.DataFrame(rows)


def rigid(data: xr.Dataset) -> tuple[int, float]:
    """How many oblique impacts slide throughout, and how far they are from rigid bodies, in parts of the normal velocity."""
    off = abs(data["after_exact"].sel(observed="tangential") - data["rigid"]) / data["before"].sel(observed="normal")
    slide = (off < SLIDES) & (data["test"] != "7")
    return int(slide.sum()), float(off.where(slide).max())


def order(errors: xr.DataArray) -> float:
    """The order of an experiment with these errors over ``steps``, from the two shortest steps."""
    coarse, fine = errors.values[-2:]
    steps = errors["steps"].values
    return float(np.log(coarse / fine) / np.log(steps[-1] / steps[-2]))


def orders(data: xr.Dataset) -> dict[str, tuple[float, float]]:
    """The order of the experiment on each cure, with it and without."""
    by_cure = {cure: data["error"].sel(cure=cure) for cure in data["cure"].values}
    return {str(cure): (order(errors[0]), order(errors[1])) for cure, errors in by_cure.items()}


def compliance(data: xr.Dataset) -> float:
    """2 (1 - nu)/(2 - nu), the kappa of the module's docstring."""
    return float(2 * (1 - data.attrs["poisson"]) / (2 - data.attrs["poisson"]))


def start_of_sliding(data: xr.Dataset, psi: str) -> float:
    """The psi from which on a contact slides throughout: where the curve ``psi`` reaches the value of rigid bodies."""
    off = abs(data[psi].values - (data["psi"].values - 7 * compliance(data)))
    return float(data["psi"].values[np.flatnonzero(off > SLIDES)[-1] + 1])
