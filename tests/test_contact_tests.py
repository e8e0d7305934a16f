"""Benchmarks of contacts, the exact impacts that are kept, and the table of docs/impacts.md made from both."""

import re
from pathlib import Path

import contact_benchmarks
import mpmath
import numpy as np
import pytest
from conftest import thorough

from polhode.manybody import Clump, Material, Scene, State
from polhode.manybody.restitution import tsuji_restitution
from polhode.manybody.simulation import run
from polhode.references.impact import solve
from polhode.references.known_impacts import ALPHA, DIGITS, LEDGER, VECTORS, known_impacts, stored


@pytest.fixture(scope="module")
def check():
    return contact_benchmarks.measurements()


@pytest.mark.parametrize("key", ["sphere_45", *thorough("test_4_85", "test_5_80", "test_6_80")])
def test_impacts_are_kept_as_they_are_solved(key):
    """To all digits that are solved for here; the numbers of the file end where its own digits end."""
    agrees_with_file(key, 10)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["two_spheres", "test_5_25"])
@pytest.mark.thorough
def test_impacts_are_kept_with_all_digits(key):
    """As are the others, which take some seconds each."""
    agrees_with_file(key, DIGITS + 3)


def test_the_file_has_all_known_impacts():
    assert list(stored()) == list(known_impacts())


def agrees_with_file(key, digits):
    solution, of_key = solve(known_impacts()[key], digits), stored()[key]
    with mpmath.workdps(60):
        pairs = [(mpmath.mpf(1), mpmath.mpf(of_key.duration) / solution.duration)]
        for body, of_file in zip(solution.end.bodies, of_key.bodies, strict=True):
            for name in VECTORS:
                size = max(map(abs, getattr(body, name)))
                pairs += [
                    (x / size, mpmath.mpf(y) / size) for x, y in zip(getattr(body, name), of_file[name], strict=True) if size
                ]
        energy = sum(solution.end.energies)
        pairs += [(getattr(solution.end.energies, name) / energy, mpmath.mpf(of_key.ledger[name]) / energy) for name in LEDGER]
        bound = mpmath.mpf(10) ** (1 - min(digits, DIGITS))
        assert all(abs(x - y) < bound for x, y in pairs)
    digits_of = [len(text.replace(".", "").lstrip("-0").split("e")[0]) for body in of_key.bodies for text in body["velocity"]]
    assert max(digits_of) == DIGITS and of_key.changes.startswith(str(solution.changes[0][1]).replace(",", ""))


def test_the_damping_of_known_impacts_gives_their_restitution():
    for e, alpha in ALPHA.items():
        assert tsuji_restitution(float(alpha)) == pytest.approx(float(e), rel=1e-14)


def test_a_divided_step_is_many_short_ones():
    """Radial returns along a straight increment, of which the first part sticks, go to the divided step."""
    before, way = np.array([0.3, 0.4, 0.0]), np.array([1.0, -0.2, 0.0])
    stretch, once = tuple(before), contact_benchmarks.divided(tuple(before + way), 0.6, tuple(before))
    for _ in range(4000):
        stretch = contact_benchmarks.RETURNS["radial"](tuple(np.array(stretch) + way / 4000), 0.6, stretch)
    np.testing.assert_allclose(once, stretch, atol=2e-4)
    assert np.linalg.norm(once) == pytest.approx(0.6) and not np.allclose(once, 0.6 * (before + way) / 1.21, atol=0.02)
    assert contact_benchmarks.divided((0.5, 0.0, 0.0), 0.6, (0.3, 0.4, 0.0)) == (0.5, 0.0, 0.0)


@pytest.mark.thorough
def test_returns_that_turn_with_the_spring_are_of_second_order(check):
    orders = {
        str(name): contact_benchmarks.order(check["return_error"].sel({"return": name})) for name in check["return"].values
    }
    assert orders == pytest.approx({"trapezoidal": 2, "radial": 1, "divided": 2}, abs=0.05)


def test_a_row_of_springs_is_maw_barber_and_fawcett_s_sphere(monkeypatch):
    """It slides throughout from 4 chi - 1 on, with their chi = 7/4 kappa, and nowhere gains energy."""
    kappa = 2 * 0.7 / 1.7
    psi = np.array([0.2, 1.0, 3.0, 7 * kappa - 1.1, 7 * kappa - 0.9, 7 * kappa + 1])
    after = contact_benchmarks.maw(psi, 0.3)
    assert after[4:] == pytest.approx(psi[4:] - 7 * kappa, abs=2e-3)
    assert after[3] - (psi[3] - 7 * kappa) > 1e-4
    assert (abs(after) < psi).all()
    monkeypatch.setattr(contact_benchmarks, "ROW", 100)
    monkeypatch.setattr(contact_benchmarks, "ROW_STEPS", 200)
    assert contact_benchmarks.maw(psi, 0.3) == pytest.approx(after, abs=2e-3)


@pytest.mark.thorough
def test_tests_of_contacts_give_what_they_should(check):
    frame = contact_benchmarks.deviations(check)
    coarse, fine = frame["T/20"].values, frame["T/160"].values
    assert (coarse < 0.01).all() and ((fine < coarse / 20) | (fine < 1e-12)).all()
    assert frame[frame["test"].str.startswith("7") & (frame["quantity"] == "spin")]["T/20"].max() < 1e-12
    slide, off = contact_benchmarks.rigid(check)
    assert slide == 11 and off < contact_benchmarks.SLIDES
    assert contact_benchmarks.start_of_sliding(check, "psi_maw") == pytest.approx(7 * 2 * 0.7 / 1.7 - 1, abs=0.3)
    assert float(check["turns"]) == pytest.approx(contact_benchmarks.TURNS, rel=0.01)
    assert abs(float(check["acceleration"])) < 1e-3 and float(check["slip"]) < 1e-4 and float(check["angular_momentum"]) < 1e-6
    assert float(check["creep"]) < 1e-12


#: Points that Kratos read off the figures of Chung and Ooi (2011), the first material, nearest to the angles of the check
#: (paper_data of its DEM benchmarks 4 to 6): by angle, and for test 5 by the tangential over the normal velocity and friction.
CURVES = {
    "4": {20: (0.616, 510.6, -7.54), 30: (0.684, 616.5, -3.55), 60: (0.893, 357.5, 47.8), 85: (0.983, 63.1, 84.5)},
    "6": {10: 0.062, 25: 0.089, 40: -0.031, 55: -0.351, 70: 1.272, 80: 7.127},
}
FINITE_ELEMENTS = {10: -0.027, 25: -0.373, 40: -1.253, 55: -1.707, 70: 2.147}
DISCRETE_ELEMENTS = {10: -0.44, 25: -1.18, 40: -2.25, 55: -2.19, 70: 2.18}  # between points


@pytest.mark.thorough
def test_curves_of_chung_and_ooi_are_as_near_as_documented(check):
    def exactly(test):
        rows = check.isel(sample=np.flatnonzero(check["test"] == test))
        return {int(angle): after for angle, after in zip(rows["incidence"].values, rows["after_exact"].values, strict=True)}

    fourth = exactly("4")
    for angle, (restitution, spin, rebound) in CURVES["4"].items():
        normal, tangential, omega = fourth[angle]
        assert (tangential + 0.0025 * omega) / (3.9 * np.sin(np.radians(angle))) == pytest.approx(restitution, abs=0.006)
        assert omega == pytest.approx(spin, abs=7.0)
        assert np.degrees(np.arctan(tangential / -normal)) == pytest.approx(rebound, abs=0.8)
    for angle, slope in CURVES["6"].items():
        assert exactly("6")[angle][1] / -exactly("6")[angle][0] == pytest.approx(slope, abs=0.13 if angle < 55 else 0.03)
    far = [
        {angle: abs(exactly("5")[angle][1] / 1.5 - curve[angle]) for angle in curve}
        for curve in (DISCRETE_ELEMENTS, FINITE_ELEMENTS)
    ]
    assert max(far[0].values()) < 1.4 and max(far[1].values()) < 0.6 and far[0][70] < 0.04 > far[1][70]
    assert all(far[1][angle] < far[0][angle] for angle in (10, 25, 40, 55))


@pytest.mark.thorough
def test_each_cure_by_itself_is_of_second_order(check):
    for cured, usual in contact_benchmarks.orders(check).values():
        assert cured == pytest.approx(2.0, abs=0.05) and usual == pytest.approx(1.0, abs=0.1)


@pytest.mark.thorough
def test_the_table_of_the_documentation_has_the_deviations(check):
    frame = contact_benchmarks.deviations(check)
    page = (Path(__file__).parents[1] / "docs" / "impacts.md").read_text()
    printed = re.findall(
        r"^\| .* \| (?:Hertz|exact|asked for|reference|closed form) \| (\S+) \| (\S+) \| (\S+) \|$", page, re.M
    )
    measured = frame[["T/20", "T/40", "T/160"]].values
    np.testing.assert_allclose(np.array(printed, dtype=float), np.where(measured < 1e-12, 0.0, measured), rtol=0.05)


@pytest.mark.thorough
@pytest.mark.parametrize("dt", [5e-5, 1e-4])
def test_a_row_that_points_down_a_slope_rolls_aside_as_a_cone(dt):
    """The lower sphere sinks in deeper: rolling by x turns the row by k x, and the slope answers with g k x/(1 + I/(m R^2))."""
    radius, apart, soft = 0.005, 0.006, Material(density=2500.0, young=1e6, poisson=0.3)
    row = Clump.dimer(radius, radius, apart)
    along, down = 3.0, 9.0
    made = Scene(
        key="row",
        label="row",
        kinds=((row, 1),),
        material=soft,
        box=0.05,
        speed=0.0,
        spin=0.0,
        horizon=1.0,
        law=contact_benchmarks.TOTAL.with_parameters(restitution=0.3),
        gravity=(0.0, along, -down),
    )
    nudge = np.array([[1e-9, 0.0, 0.0]])
    q = np.array([[np.sqrt(0.5), 0, 0, np.sqrt(0.5)]])
    begin = State(np.array([[0, 0, 1.00002 * radius - 0.025]]), nudge, q, np.zeros((1, 3)))
    at = np.array([0, round(1 / dt), round(3 / dt)])
    v = run(made, contact_benchmarks.METHOD, dt, begin, at, record=True)["motion"][:, 0, 3]
    mass = soft.density * row.volume
    loads = mass * (down / 2 + np.array([1, -1]) * along * radius / apart)
    depths = (loads / (4 / 3 * soft.reduced * np.sqrt(radius))) ** (2 / 3)
    turn = (depths[0] - depths[1]) / (radius * apart)
    rate = np.sqrt(along * turn / (1 + row.inertia[0] / (row.volume * radius**2)))
    assert np.log(v[2] / v[1]) / 2 == pytest.approx(rate, rel=0.15)
