"""References of single impacts: numbers of a trial outside the project, closed forms, and runs that check one another."""

import functools
import math
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import gmpy2
import mpmath
import numpy as np
import pytest
from mpmath import mpf
from plain_impact import PlainImpact, exact

from polhode.manybody.restitution import tsuji_restitution
from polhode.references.impact import HertzMindlin, Impact, ImpactBody, LinearSpring, ViscoelasticHertz, self_agreement, solve

#: Digits of a quick test.
QUICK = 12
PAGE = Path(__file__).parents[1] / "docs" / "impacts.md"


@pytest.fixture(autouse=True)
def precision():
    with mpmath.workdps(60):
        yield


def on_plane(angle, friction, law=None, **options):
    """The sphere of Chung and Ooi (2011), test 4, on a rigid plane at 3.9 m/s; the angle is counted from the normal."""
    speed, tilt = mpf("3.9"), mpmath.radians(angle)
    velocity = (speed * mpmath.sin(tilt), 0, -speed * mpmath.cos(tilt))
    body = ImpactBody.sphere("0.0025", 4000, velocity, young="3.8e11", poisson="0.23")
    return Impact(body, law or HertzMindlin(), friction, arm="radius", **options)


def two_spheres(friction=math.inf, law=None, **options):
    """Two equal spheres that rub and twirl."""
    material = {"young": "1e7", "poisson": "0.3"}
    first = ImpactBody.sphere("0.005", 2500, (-1, "0.6", "0.2"), omega=(0, 0, 30), **material)
    second = ImpactBody.sphere("0.005", 2500, (0, 0, 0), omega=(20, -10, 0), **material)
    return Impact(first, law or HertzMindlin(), friction, partner=second, normal=(1, 0, 0), **options)


def of_two_sizes():
    """Spheres of 3 and 5 mm that twirl, with the arms of many codes."""
    material = {"young": "1e7", "poisson": "0.3"}
    first = ImpactBody.sphere("0.003", 2500, ("-0.8", "0.3", "-0.4"), omega=(50, 20, 10), **material)
    second = ImpactBody.sphere("0.005", 1800, ("0.1", "0.2", "0.3"), omega=(-60, 10, 30), **material)
    return Impact(first, HertzMindlin("0.2"), "0.2", second, arm="radius", normal=(2, "0.5", "0.3"))


def clump(friction, alpha=0, **options):
    """Three spheres in a row; the last one touches."""
    radius = mpf("0.0025")
    mass = 4 * mpmath.pi / 3 * radius**3 * 2700
    inertia = [6 * mass * radius**2 / 5]
    inertia += [inertia[0] + 2 * mass * radius**2, (inertia[0] + 2 * mass * radius**2) * mpf("1.1")]
    motion = {"velocity": (1, "0.3", -1), "omega": (200, 300, -150), "q": (1, "0.2", "0.35", "0.1")}
    body = ImpactBody(3 * mass, inertia, radius, offset=(radius, 0, 0), young="7e10", poisson="0.33", **motion)
    return Impact(body, HertzMindlin(alpha), friction, **options)


def kinetic_share(solution):
    return solution.end.energies.kinetic / solution.start.energies.kinetic


def same(value, printed):
    """Whether a value is a printed number, to one unit of its last digit."""
    digits = len(printed.split("e")[0].replace(".", "").lstrip("-0"))
    error = abs(mpf(value) - mpf(printed))
    return error <= mpf(10) ** (mpmath.floor(mpmath.log10(abs(mpf(printed)))) - digits + 1)


#: A trial outside the project, with code of its own, to 18 digits: T, velocity, omega in the lab, share of the kinetic energy.
TRIAL = {
    "45 degrees, sticks": (
        lambda: on_plane(45, math.inf),
        "6.54265171958642553e-6",
        {0: "2.76836324249089009", 2: "2.75771644662753535"},
        {1: "-10.646795863354743"},
        "1.00388681315122055",
    ),
    "3 degrees, sticks, then slips": (
        lambda: on_plane(3, "0.092"),
        "6.10618448746739331e-6",
        {0: "0.20490171902485345", 2: "3.89465518554283811"},
        {1: "-0.791489677372502262"},
        "1.00002138690827299",
    ),
    "60 degrees, slips": (lambda: on_plane(60, "0.092"), None, {2: "1.95"}, {1: "358.8"}, "0.870275325703663289"),
    "two spheres without twirl": (
        lambda: two_spheres(twirl=False),
        "0.0010175272987250033",
        {0: "-0.016943602435050668", 1: "0.61427799511073532", 2: "0.20542845242834514"},
        {0: "-0.0029993504672176983", 1: "-1.2511487648864049", 2: "34.695369021915143"},
        "0.99292580545750316",
    ),
}


@functools.cache
def tried(name):
    return solve(TRIAL[name][0](), 20)


@pytest.mark.thorough
@pytest.mark.parametrize("name", TRIAL)
def test_impacts_have_all_digits_of_a_trial_outside_the_project(name):
    _, duration, velocity, omega, share = TRIAL[name]
    solution = tried(name)
    body = solution.end.bodies[0]
    assert duration is None or same(solution.duration, duration)
    assert all(same(body.velocity[i], value) for i, value in velocity.items())
    assert all(same(body.omega_lab[i], value) for i, value in omega.items())
    assert same(kinetic_share(solution), share)


def test_the_contact_slips_when_it_did_in_the_trial():
    solution = solve(on_plane(3, "0.092"), QUICK)
    (_, first), (time, second) = solution.changes
    assert (first, second) == ("stick", "slip")
    assert same(time / solution.duration, "0.995839")


@pytest.mark.thorough
def test_slip_throughout_is_exact():
    """The momentum along the plane is mu times that along the normal, whatever the law."""
    solution = tried("60 degrees, slips")
    body = solution.end.bodies[0]
    expected = mpf("3.9") * mpmath.sin(mpmath.pi / 3) - 2 * mpf("0.092") * mpf("1.95")
    assert abs(body.velocity[0] - expected) < mpf(10) ** -20
    assert abs(body.omega_lab[1] - 5 * mpf("0.092") * mpf("1.95") / mpf("0.0025")) < mpf(10) ** -17


@pytest.mark.thorough
@pytest.mark.parametrize(("alpha", "restitution"), [("0.1", "0.872291466690707846"), ("0.2", "0.766410413045874779")])
def test_restitution_of_tsuji(alpha, restitution):
    impact = on_plane(0, 0, HertzMindlin(alpha))
    assert same(solve(impact, 20).end.bodies[0].velocity[2] / mpf("3.9"), restitution)
    pulled = mpmath.log(solve(replace(impact, attraction=True), 20).end.bodies[0].velocity[2] / mpf("3.9"))
    assert abs(-mpmath.sqrt(5) * pulled / mpmath.sqrt(mpmath.pi**2 + pulled**2) - mpf(alpha)) < mpf(10) ** -20


def test_linear_spring_and_dashpot_have_closed_forms():
    """With attraction the half period of an oscillator; without, Schwager and Poeschel (2007)."""
    gamma, k = mpf("0.2"), mpf(1000)
    body = ImpactBody("0.01", ("1e-6",) * 3, "0.005", (0, 0, -1))
    impact = Impact(body, LinearSpring(k, 0, gamma), friction=0)
    b = gamma / (2 * mpf("0.01"))
    w = mpmath.sqrt(k / mpf("0.01") - b * b)
    pulled, free = solve(replace(impact, attraction=True), 20), solve(impact, 20)
    assert abs(pulled.end.bodies[0].velocity[2] - mpmath.exp(-mpmath.pi * b / w)) < mpf(10) ** -20
    assert abs(pulled.duration - mpmath.pi / w) < mpf(10) ** -22
    end = mpmath.pi - mpmath.atan2(2 * b * w, w * w - b * b)
    assert abs(free.end.bodies[0].velocity[2] - mpmath.exp(-b / w * end)) < mpf(10) ** -20
    assert abs(free.duration - end / w) < mpf(10) ** -22


@pytest.mark.thorough
@pytest.mark.parametrize("incremental", [False, True])
def test_a_sphere_that_sticks_to_linear_springs_oscillates(incremental):
    body = ImpactBody.sphere("0.005", 2500, ("0.5", 0, -1))
    k_n, k_t = mpf(10000), mpf(3000)
    impact = Impact(body, LinearSpring(k_n, k_t), arm="radius", incremental=incremental)
    solution = solve(impact, 20)
    end = solution.end
    surface = end.bodies[0].velocity[0] - mpf("0.005") * end.bodies[0].omega_lab[1]
    assert abs(surface - mpf("0.5") * mpmath.cos(mpmath.pi * mpmath.sqrt(7 * k_t / (2 * k_n)))) < mpf(10) ** -20
    assert abs(end.energies.made_by_law - (solution.start.energies.kinetic - end.energies.kinetic)) < mpf(10) ** -20


CASES = {
    "clump, sticks": lambda: clump(math.inf),
    "clump, slips and sticks": lambda: clump("0.3"),
    "clump, damped, incremental": lambda: clump("0.3", "0.3", incremental=True),
    "viscoelastic": lambda: on_plane(30, "0.2", ViscoelasticHertz("1e-6", 1), twirl=False),
    "45 degrees, damped, incremental": lambda: on_plane(45, "0.3", HertzMindlin("0.3"), incremental=True),
    "linear, damped": lambda: on_plane(30, "0.2", LinearSpring(10000, 7000, "0.5", "0.3")),
    "two spheres of two sizes, damped": lambda: of_two_sizes(),
}
#: 2 and 98 % of the duration of a contact, s, of the cases that another method solves as well.
INSIDE = {
    "clump, sticks": ("3.8e-7", "1.87e-5"),
    "clump, slips and sticks": ("3.2e-7", "1.59e-5"),
    "clump, damped, incremental": ("3e-7", "1.49e-5"),
    "viscoelastic": ("1.1e-7", "5.43e-6"),
    "linear, damped": ("9e-6", "4.54e-4"),
    "two spheres of two sizes, damped": ("1.3e-5", "6.46e-4"),
}


@functools.cache
def solved(name):
    """A case to ten digits and ten guard digits, with its states at two times."""
    return solve(CASES[name](), 10, times=INSIDE[name])


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize(("name", "digits"), [("viscoelastic", 8), ("45 degrees, damped, incremental", 16)])
def test_another_order_and_precision_agree_to_all_digits(name, digits):
    impact = CASES[name]()
    solution = solve(impact, digits)
    assert self_agreement(impact, digits, solution) >= digits
    assert closure(solution) < mpf(10) ** -digits


def closure(solution):
    """The largest error of the balance of energy, over the start, in parts of the energy."""
    energy = sum(solution.start.energies)
    return max(abs(sum(state.energies) - energy) for state in [*solution.states, solution.end]) / energy


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["clump, slips and sticks", "clump, damped, incremental"])
def test_energy_is_kept_and_dissipation_is_positive(name):
    solution = solved(name)
    assert closure(solution) < mpf(10) ** -15
    losses = [state.energies[3:6] for state in [solution.start, *solution.states, solution.end]]
    for before, after in pairwise(losses):
        assert all(x <= y * (1 + mpf(10) ** -15) for x, y in zip(before, after, strict=True))
    assert solution.end.energies.sliding > 0


@pytest.mark.thorough
def test_a_linear_law_makes_no_energy_however_it_slips():
    """What slides is integrated from the growth of the spring, so this checks the split of the ledger."""
    lost = solved("linear, damped").end.energies
    assert min(lost.dissipated_normal, lost.dissipated_tangential, lost.sliding) > 0
    assert abs(lost.made_by_law) < mpf(10) ** -15 * lost.sliding


def differs_from_plain(name, tolerance):
    """The largest relative difference from a solution by another method, between 2 and 98 % of the contact, and its changes."""
    solution, (first, last) = solved(name), map(mpf, INSIDE[name])
    inside = [time for time, _ in solution.changes if first < time < last]
    worst = 0.0
    with gmpy2.context(gmpy2.get_context(), precision=110):
        state, changes = PlainImpact(CASES[name]()).follow(*solution.states, tolerance)
        for i, body in enumerate(solution.states[1].bodies):
            for vector, start in ((body.velocity, 3), (body.q, 6), (body.omega, 10)):
                other = state[13 * i + start : 13 * i + start + len(vector)]
                size = max(abs(exact(x)) for x in vector)
                if size:
                    worst = max(worst, float(max(abs(exact(x) - y) for x, y in zip(vector, other, strict=True)) / size))
    return worst, changes, len(inside)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", [name if name == "clump, sticks" else pytest.param(name, marks=pytest.mark.slow) for name in INSIDE]
)
def test_extrapolation_in_plain_time_agrees_to_sixteen_digits(name):
    worst, changes, expected = differs_from_plain(name, 1e-17)
    assert worst < 1e-16
    assert changes == expected


def hertz(sphere):
    return 4 / 3 * float(sphere.young) / (1 - float(sphere.poisson) ** 2) * float(sphere.radius) ** 0.5


#: Laws of normal forces, the same as a function of overlap, its rate, Hertz's constant and mass, and how they begin.
ONSETS = {
    "Hertz": (HertzMindlin(), lambda d, u, k, m: k * d**1.5, 1.5),
    "linear spring": (LinearSpring(10000, 0), lambda d, u, k, m: 1e4 * d, 1),
    "viscoelastic": (ViscoelasticHertz("1e-4"), lambda d, u, k, m: k * (d**1.5 + 1.5e-4 * d**0.5 * u), 0.5),
    "Tsuji": (HertzMindlin("0.2"), lambda d, u, k, m: k * d**1.5 + 0.2 * (m * k) ** 0.5 * d**0.25 * u, 0.25),
    "linear dashpot": (LinearSpring(10000, 0, "0.5"), lambda d, u, k, m: 1e4 * d + 0.5 * u, 0),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", ONSETS)
def test_a_leapfrog_s_error_is_one_order_above_the_force_s(name):
    """The error depends on where within a step the touch comes; its scatter over such places has this order alone."""
    law, force, power = ONSETS[name]
    sphere = ImpactBody.sphere("0.005", 2500, (0, 0, -1), young="1e7", poisson="0.3")
    impact = Impact(sphere, law, friction=0)
    duration = float(solve(impact, 8).duration)
    touch, counts = (np.arange(8) + 0.5) / 8, (400, 800)
    times = sorted((0.3 * n - place) * duration / n for n in counts for place in touch)
    exact_overlap = {t: float(state.overlap) for t, state in zip(times, solve(impact, 12, times).states, strict=True)}
    scatter = []
    for n in counts:
        dt = duration / n
        x, v, a = -touch * dt, np.ones(8), np.zeros(8)
        for _ in range(round(0.3 * n)):
            v = v + dt * a
            x = x + dt * v
            predicted = v + dt / 2 * a
            a = -np.where(x > 0, force(np.maximum(x, 0), predicted, hertz(sphere), float(sphere.mass)), 0) / float(sphere.mass)
        scatter.append(np.std(x - [exact_overlap[(0.3 * n - place) * duration / n] for place in touch]))
    assert np.log2(scatter[0] / scatter[1]) == pytest.approx(1 + power, abs=0.03)


def test_what_the_polynomial_of_lammps_asks_for_and_obtains():
    """Rows of docs/impacts.md; the polynomial is Eq. 53 of Marshall (2009) times the root of 2."""
    rows = re.findall(r"^\| (0\.\d) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE.read_text(), re.MULTILINE)
    assert len(rows) == 8
    for row in rows:
        e, alpha, pulled, cut, needed = map(float, row)
        polynomial = np.polyval([4.8218, -18.022, 27.467, -22.348, 11.087, -4.2783, 1.2728], e)
        assert math.sqrt(2) * polynomial == pytest.approx(alpha, abs=5.1e-5)
        assert math.exp(-math.pi * alpha / math.sqrt(5 - alpha**2)) == pytest.approx(pulled, abs=2e-4)
        assert tsuji_restitution(math.sqrt(2) * polynomial) == pytest.approx(cut, abs=5.1e-5)
        assert tsuji_restitution(needed) == pytest.approx(e, abs=5e-5)
    impact = on_plane(0, 0, HertzMindlin(rows[4][1]))
    assert float(solve(impact, 8).end.bodies[0].velocity[2]) / 3.9 == pytest.approx(float(rows[4][3]), abs=1e-4)
