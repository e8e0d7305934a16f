"""The chapter of heat baths: what is read of runs, how readings are corrected, and figures and tables from made-up runs."""

import re
from itertools import pairwise
from math import exp
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd
import pytest
from rendered import figure_twice

import polhode
from polhode import manybody
from polhode.fits import bath_runs
from polhode.fits import baths as analysis
from polhode.fits.liquid_drifts import outcomes
from polhode.interface.netcdf import read_dataset, read_groups
from polhode.interface.storage import write_dataset
from polhode.manybody import State
from polhode.manybody.simulation import run as run_fluid
from polhode.methods import METHODS
from polhode_study import chapters
from polhode_study.chapters import rendering
from polhode_study.chapters.baths import run as study
from polhode_study.chapters.baths.frames import SCHEMES
from polhode_study.documentation.baths import OF_PLACES, with_excess
from polhode_study.inputs import Inputs

HOME = Path(__file__).parents[1]
WATER = manybody.scenes["water64"]
#: Made-up runs: by how much rotation is hotter between the kicks and potential energy higher, per fs^2, and their drift.
HOTTER, HIGHER, DRIFT = 0.1, 0.002, 0.2


def made_up(case, seed, blocks):
    """Readings whose scatter has one cause, the energy of the whole, which moves all of them."""
    random = np.random.default_rng(crc32(f"{case.key} {seed}".encode()))
    common, small = random.normal(0, 3, blocks), lambda size: random.normal(0, size, blocks)
    time, bias = (np.arange(blocks) + 0.5) * case.duration / study.BLOCKS, HOTTER * case.dt**2
    balance = 300 * DRIFT * 1e-3 / case.friction
    rotation, translation = (300 + balance + sign * bias + common + small(0.3) for sign in (1, -1))
    middle = (translation, rotation) if case.divides else (np.full(blocks, np.nan),) * 2
    drift = DRIFT * 1e-6 * time + small(1e-5)
    higher = HIGHER * case.dt**2 * (case.scheme != "BAOAB")
    energy = -17.7 + higher + 0.01 * (common + balance) + small(0.01)
    liquid = 3 + small(0.05), 0.3 + small(0.01), 3 + small(1)
    return np.array([translation, rotation, *middle, energy, drift, 180 + small(5), 180 + small(5), *liquid])


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("baths") / "checks"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "case_of", made_up)
        write_dataset(study.baths({}), folder / "baths.nc")
    made = Inputs("", checks=folder, released=HOME / "data" / "released")
    made.plugins = []
    return made


@pytest.fixture(scope="module")
def runs(inputs):
    return bath_runs.BathRuns(inputs.check("baths"))


def test_readings_lose_the_scatter_of_the_whole_but_no_bias(runs):
    for dt, case in runs.ladder("water64", "BAOAB", 1.0).items():
        expected = 300 * (1 + DRIFT * 1e-3) + HOTTER * dt**2
        reading = case.reading("middle_rotation")
        assert reading.high - reading.low < 0.4 < 1.2 < case.excess.high - case.excess.low
        assert abs(reading.value - expected) < 2 * (reading.high - reading.low)
        assert case.drift.value == pytest.approx(DRIFT, rel=0.02)


def test_the_heat_of_a_bath_says_the_temperature(inputs):
    """Exchange and drift of the mean kinetic energy, one after the other until nothing changes: c^2 K + (1 - c^2)/2, + d t."""
    data = inputs.check("baths").isel(case=0)
    for scheme, friction, exchange in (("BAOAB", 10.0, 8.0), ("OBABO", 10.0, 8.0), ("spiral_leapfrog", 10.0, 100.0)):
        case = bath_runs.BathRun(data.assign_coords(scheme=scheme, friction=friction, exchange=exchange), 300.0)
        drift = 2000.0  # kT per ns and degree of freedom
        case.__dict__["drift"] = bath_runs.Estimate(drift)
        kinetic, turn = 0.5, friction * 1e-3 * exchange
        for _ in range(400):
            if scheme == "BAOAB":
                kinetic = kinetic + drift * 1e-6 * exchange
                reading = kinetic = exp(-2 * turn) * kinetic + (1 - exp(-2 * turn)) / 2
            else:
                kinetic = exp(-turn) * kinetic + (1 - exp(-turn)) / 2 + drift * 1e-6 * exchange
                reading = kinetic = exp(-turn) * kinetic + (1 - exp(-turn)) / 2
        assert case.balance == pytest.approx(600 * reading, rel=1e-9)


def test_the_heat_of_forces_says_the_temperature(inputs):
    """The mean square p of the momentum of half steps, with a force that feeds it, until nothing changes."""
    data = inputs.check("baths").isel(case=0).assign_coords(scheme="LAMMPS", friction=10.0, exchange=8.0)
    turn, feeding, p = 0.08, 0.01, 1.0
    for _ in range(1000):
        p = (1 - turn + feeding) ** 2 * p + 2 * turn
    end = (1 - (turn - feeding) / 2) ** 2 * p + turn / 2
    heat = turn * (1 - (1 - (turn - feeding) / 2) * p)  # of the force -turn times the momentum and noise, and the mean velocity
    case = bath_runs.BathRun(data, 300.0)
    case.__dict__["drift"] = bath_runs.Estimate(-heat / 8e-6)
    assert case.balance == pytest.approx(300 * end, rel=1e-9) and end > 1.1


def test_the_longest_steps_are_shown_or_possible(runs):
    longest = runs.longest_steps("water64", "BAOAB", 10.0, 2.0)
    assert (longest["rotation"].certain, longest["rotation"].possible) == (
        4.0,
        4.0,
    )  # 0.006 K by the balance, and 0.4, 1.6 and 3.6 K
    of_energy = runs.longest_steps("water64", "OBABO", 1.0, 1e3)["potential"]
    assert of_energy.possible <= 4.0
    assert of_energy.fitted.value == pytest.approx((0.01 / HIGHER) ** 0.5, rel=0.1)
    assert of_energy.fitted.low < of_energy.fitted.value < of_energy.fitted.high < 1.2 * of_energy.fitted.low
    assert runs.truth("water64").value == pytest.approx(-17.7, abs=0.02)
    with pytest.raises(bath_runs.NotInRun, match="no BAOAB with a friction of 7/ps in water64"):
        runs.ladder("water64", "BAOAB", 7.0)


def test_a_short_run_does_not_hide_what_a_long_one_shows():
    """An interval too wide for the limit at a shorter step leaves it open, one beyond the limit excludes it."""
    wide, narrow, beyond = bath_runs.Bias(0.1, -2.0, 2.2), bath_runs.Bias(0.2, 0.1, 0.3), bath_runs.Bias(2.0, 1.5, 2.5)
    longest = bath_runs.longest_step({1.0: wide, 2.0: narrow, 4.0: beyond}, 0.5)
    assert (longest.certain, longest.possible) == (2.0, 2.0)
    assert bath_runs.longest_step({1.0: beyond, 2.0: narrow}, 0.5).certain == 0
    fitted = bath_runs.longest_step({2.0: bath_runs.Bias(0.4, 0.3, 0.5), 8.0: beyond}, 0.9).fitted
    assert (fitted.value, fitted.low, fitted.high) == pytest.approx((3.0, 1.8**0.5 * 2, 3.0**0.5 * 2))
    assert bath_runs.longest_step({2.0: wide}, 0.5).range_of_fit == "0.95 or more"


def test_torques_are_derivatives_of_the_potential_energy():
    """By turns of single molecules about their own axes; the divergence by all second derivatives."""
    state, turn = WATER.initial_state(0), 1e-4
    torques = study.torques(WATER, state.r, state.q)
    still, method = np.zeros((64, 3)), METHODS["no_squish"]

    def energy(turns):
        turned = State(state.r, still, study.turned(state.q, turns), still)
        return run_fluid(WATER, method, 1.0, turned, np.array([0]))["energies"][0, 1] / (WATER.thermal / WATER.units.energy)

    def change(molecule, axis, side):
        turns = np.zeros((64, 3))
        turns[molecule, axis] = side * turn
        return energy(turns)

    middle, pairs = energy(still), [(0, 0), (0, 1), (0, 2), (31, 2), (63, 1)]
    for molecule, axis in pairs:
        ends = [change(molecule, axis, side) for side in (1, -1)]
        assert torques[molecule, axis] == pytest.approx((ends[1] - ends[0]) / (2 * turn), rel=1e-4, abs=1e-3)
        # The diagonal of the divergence by torques, against the second difference of the energy.
        turns = np.zeros((64, 3))
        turns[molecule, axis] = turn
        diagonal = [study.torques(WATER, state.r, study.turned(state.q, side * turns))[molecule, axis] for side in (1, -1)]
        second = (ends[0] + ends[1] - 2 * middle) / turn**2
        assert (diagonal[1] - diagonal[0]) / (2 * turn) == pytest.approx(second, rel=1e-2, abs=0.5)


@pytest.mark.thorough
def test_the_divergence_is_the_mean_over_signs():
    """Of a snapshot, by many draws of signs, against the sum over single molecules of the diagonal."""
    state, random = WATER.initial_state(1), np.random.default_rng(2)
    motion = np.hstack([state.r, state.v, state.q, state.omega])
    squares, drawn = np.transpose([study.curvature(WATER, motion, random) for _ in range(40)])
    diagonal = 0.0
    for molecule in range(0, 64):
        for axis in range(3):
            turns = np.zeros((64, 3))
            turns[molecule, axis] = study.TURN
            ends = [study.torques(WATER, state.r, study.turned(state.q, side * turns))[molecule, axis] for side in (1, -1)]
            diagonal += (ends[1] - ends[0]) / (2 * study.TURN)
    assert np.ptp(squares) == 0
    assert drawn.mean() == pytest.approx(diagonal / 64, abs=4 * drawn.std() / len(drawn) ** 0.5)


def test_the_shells_are_those_of_water():
    """Of a run the distribution of the oxygens is highest in the shell, and the neighbours end near its minimum."""
    case = study.BathCase("water64", "BAOAB", 1.0, 4.0, 60_000.0)
    motions = np.concatenate([next(study.blocks_of_bath(WATER, case, seed, seed)).motions for seed in range(2)])
    edges = np.arange(2.3, 4.05, 0.1)
    heights = []
    with pytest.MonkeyPatch.context() as patch:
        for low, high in pairwise(edges):
            patch.setattr(study, "PEAK", (low, high))
            heights.append(study.structure(WATER, motions)[0])
    assert edges[np.argmax(heights)] == pytest.approx(study.PEAK[0])
    assert max(heights) == pytest.approx(3.0, abs=0.3)
    assert study.NEIGHBOURS - 0.15 < 3 + 0.1 * np.argmin(heights[7:14]) < study.NEIGHBOURS + 0.35


def test_the_structure_of_a_made_up_liquid():
    """Molecules on lines with parallel or opposite dipoles; two pairs of 64 times 63 halves are in the shell."""
    r, q = np.zeros((64, 3)), np.tile([1.0, 0, 0, 0], (64, 1))
    box, site = WATER.box, np.array(WATER.clumps[0][0].sites[0])
    r[:] = np.stack(np.meshgrid(*[np.arange(4)] * 3), -1).reshape(-1, 3) * box / 4 + 0.1  # 3.11 Angstrom apart
    motion = np.hstack([r, 0 * r, q, 0 * r])[None]
    peak, cosine, kirkwood = study.structure(WATER, motion)
    assert (peak, cosine, kirkwood) == pytest.approx((0, 1, 64))
    motion[0, :32, 6:10] = [0, 0, 0, 1.0]  # half of the molecules point the other way; the site moves by twice its arm
    motion[0, :32, :3] += site * (1, 1, 1) - np.array([-site[0], -site[1], site[2]])
    peak, cosine, kirkwood = study.structure(WATER, motion)
    assert kirkwood == pytest.approx(0, abs=1e-20) and -1 < cosine < 1
    motion[0, 0, :3] += motion[0, 1, :3] - motion[0, 0, :3] + [0, 0, 2.75]
    assert study.structure(WATER, motion)[0] == pytest.approx(
        box**3 / (64 * 63 / 2) / (4 / 3 * np.pi * (2.8**3 - 2.7**3)) * sum_in_shell(motion, site, box)
    )


def sum_in_shell(motion, site, box):
    """Pairs of first sites in the shell, one by one."""
    count = 0
    places = [row[:3] + (1 if row[6] else -1) * site * (1, 1, 0) for row in motion[0]]
    for i in range(64):
        for j in range(i):
            apart = places[i] - places[j]
            count += 2.7 <= np.linalg.norm(apart - box * np.round(apart / box)) < 2.8
    assert count
    return count


def test_a_run_that_is_lost_has_no_readings(monkeypatch):
    """A method that a bath cannot divide, with a step at which it breaks down."""
    case = study.BathCase("water64", "spiral_leapfrog", 0.1, 40.0, 200_000.0)
    values = study.case_of(case, 0, 3)
    assert np.isnan(values[:, -1]).all()
    data = study.in_baths([case], 1, 4)
    assert bath_runs.BathRun(data.isel(case=0), 300.0).is_lost


def test_the_chapter_is_made_from_its_check(inputs, tmp_path):
    macros = rendering.numbers("baths", inputs)
    section = (HOME / chapters.FOLDER / "baths" / "text.tex").read_text()
    assert set(re.findall(r"\\(studyBath[A-Za-z]+)", section)) <= set(macros)
    frame, text = rendering.table("baths", inputs)
    assert len(frame) == len(study.CASES) and text.count("BAOAB") == 3 and text.count(r"\num") > 200
    frame, text = rendering.table("bath_steps", inputs)
    assert len(frame) == 14
    figure_twice("baths", inputs, tmp_path)


def with_half(estimate, decimals):
    """As the page on baths writes a value with half of its interval."""
    return f"{estimate.value:.{decimals}f} ± {(estimate.high - estimate.low) / 2:.{decimals}f}"


@pytest.fixture(scope="module")
def page():
    return re.sub(r"\s+", " ", (HOME / "docs" / "baths.md").read_text(encoding="utf-8")).replace("−", "-")


@pytest.fixture(scope="module")
def released():
    return bath_runs.BathRuns(read_dataset(HOME / "data" / "released" / bath_runs.RELEASED))


@pytest.fixture(scope="module")
def rates():
    return read_groups(HOME / "data" / "released" / "liquids.nc")["/spectrum_water64"]["rate_squared"].values


def test_the_page_has_the_numbers_of_the_formulas(page, rates):
    gap = {dt: 300 * analysis.apart(rates, dt) for dt in (2.0, 4.0, 6.0)}
    angle = {dt: 300 * rates[1] * dt**2 / 4 for dt in (1.0, 2.0, 4.0)}
    for text in (
        f"which is {gap[2]:.1f} K for water at 2 fs and {gap[4]:.0f} K at 4 fs",
        f"{2 * gap[4]:.1f} K for water at 4 fs and {2 * gap[6]:.1f} K at 6 fs",
        f"({angle[4]:.0f} K at 4 fs, {angle[2]:.1f} K at 2 fs, {angle[1]:.1f} K at 1 fs)",
        f"where the formula above says at most {2 * gap[6]:.1f} K between them",
    ):
        assert text in page


def test_the_page_has_the_energies_and_temperatures_of_runs(page, released):
    truth = released.truth("water64")
    middle, forces, ends = (released.ladder("water64", scheme, 1.0) for scheme in ("BAOAB", "LAMMPS", "OBABO"))
    strong, weak = (released.ladder("water64", "BAOAB", friction) for friction in (10.0, 0.1))

    def energy(case, decimals=2):
        return with_half(case.above("potential", truth), decimals)

    def both(case):
        return (with_half(case.reading(f"middle_{kind}"), 1) for kind in ("rotation", "translation"))

    left, weakest = weak[8].balance - 300, energy(weak[8])
    low = {dt: 300 - middle[dt].reading("rotation").value for dt in (4.0, 8.0)}
    for text in (
        f"with 1/ps ({energy(middle[4], 3)} kT at 4 fs, {energy(middle[8], 3)} kT at 8 fs), while",
        f"rotation at the end of the step reads {low[4]:.0f} K too little at 4 fs and {low[8]:.0f} K at 8 fs",
        f"rotation at the end of the step reads {with_half(forces[4].reading('rotation'), 1)} K at 4 fs",
        f"{with_half(forces[6].configurational, 0)} K by torques at 6 fs and {with_half(forces[8].configurational, 0)} K at 8",
        f"is too high by {energy(forces[4])} kT at 4 fs and {energy(forces[8])} kT at 8 fs",
        f"OBABO does the same ({energy(ends[4])} kT at 4 fs)",
        "with 1/ps and 4 fs {} and {} K".format(*both(middle[4])),
        "with 6 fs {} and {} K".format(*both(middle[6])),
        "With 10/ps it is {} and {} K".format(*both(strong[6])),
        f"gains {weak[8].drift.value:.0f} kT per degree of freedom and ns",
        f"the mean of both temperatures is {left:.0f} K too high, and the potential energy by {weakest} kT",
        f"With 1/ps {middle[8].balance - 300:.1f} K are left",
        f"at 6 fs with 10/ps ({energy(strong[6])} kT)",
    ):
        assert text in page
    excluding = [
        (case.friction, case.dt)
        for case in released.of("water64")
        if case.scheme == "BAOAB" and case.biases(truth)["potential"].smallest > 0
    ]
    assert "Of the fifteen intervals of the potential energy with BAOAB five exclude zero: with 1/ps from 4 fs on" in page
    assert excluding == [(0.1, 8.0), (1.0, 4.0), (1.0, 6.0), (1.0, 8.0), (10.0, 6.0)]


def test_the_bias_of_baoab_follows_from_the_gap(page, released):
    """The same heat capacity at three steps: of what the mean temperature does not explain, over half of the gap."""
    truth, capacities = released.truth("water64"), []
    for dt in (4.0, 6.0, 8.0):
        case = released.ladder("water64", "BAOAB", 1.0)[dt]
        gap = case.reading("middle_rotation").value - case.reading("middle_translation").value
        of_mean = OF_PLACES * (case.balance / 300 - 1)
        capacities.append((case.above("potential", truth).value - of_mean) / (gap / 600))
    assert "the bias is {:.1f} k at 4 fs, {:.1f} k at 6 fs and {:.1f} k at 8 fs times half".format(*capacities) in page
    assert np.std(capacities) < 0.5
    codes = with_excess(pd.read_csv(HOME / "data/released/bath_codes.csv")).set_index(["bath", "dt"]).loc["v-rescale"]
    gap = codes["temperature_rotation"] + 2 * codes["temperature_rest"] - codes["temperature_translation"]
    expected = {dt: capacity * gap[dt] / 600 for dt, capacity in ((4.0, capacities[0]), (6.0, capacities[1]))}
    assert all(abs(codes["excess"][dt] - expected[dt]) < 1.5 * codes["excess_error"][dt] for dt in expected)
    measured = f"{codes['excess'][6.0]:.2f} ± {codes['excess_error'][6.0]:.2f} kT were measured"
    assert (
        f"{capacities[1]:.1f} k times half of the gap of {gap[6.0]:.0f} K at 6 fs are {expected[6.0]:.2f} kT, and {measured}"
        in page
    )


def test_velocity_rescaling_holds_what_is_carried(page, released):
    """Leapfrogs have the potential energy of B A O A B, methods that carry whole steps the one of O B A B O."""
    rows = pd.read_csv(HOME / "data/released/bath_rescaling.csv").set_index(["method", "dt"])
    truth = released.truth("water64")
    for dt in (2.0, 4.0, 6.0):
        for methods, scheme in ((("omelyan1998", "spiral_leapfrog"), "BAOAB"), (("exact_rotor", "no_squish"), "OBABO")):
            bias = released.ladder("water64", scheme, 1.0)[dt].above("potential", truth)
            for method in methods:
                row = rows.loc[method, dt]
                scatter = np.hypot(2 * row["potential_error"], bias.high - bias.value)
                assert abs(row["potential"] - truth.value - bias.value) < 1.5 * scatter, (method, dt)
    carried = (189 * rows["carried_translation"] + 192 * rows["carried_rotation"]) / 381
    holds = abs(rows["left"]) < 20
    assert (abs(carried[holds] - 300) < 1.2).all() and holds.sum() >= 12
    lost = rows.loc["magnus_adams4", 4.0]
    assert f"a step of 4 fs rotation has {lost['rotation']:.1f} K and translation {lost['translation']:.0f} K" in page
    assert abs(carried["magnus_adams4", 4.0] - 300) < 1
    times = pd.read_csv(HOME / "data/released/bath_times.csv").set_index(["code", "bath", "molecules"])["us_per_step"]
    share = times["polhode", "v-rescale", 64] / times["polhode", "none", 64] - 1
    assert f"costs {100 * share:.0f} % of a step of 64 waters" in page


def test_velocity_rescaling_is_bound_by_the_gap(page, rates):
    """Of two leapfrogs and of GROMACS the mean is the bath, and up to 4 fs the gap is twice the bound."""
    rows = pd.read_csv(HOME / "data/released/bath_rescaling.csv").set_index(["method", "dt"])
    codes = pd.read_csv(HOME / "data/released/bath_codes.csv").set_index(["bath", "dt"]).loc["v-rescale"]
    gaps = {}
    for method in ("omelyan1998", "spiral_leapfrog"):
        for dt, row in rows.loc[method].iterrows():
            values = row["carried_rotation"], row["carried_translation"]
            errors = row["carried_rotation_error"], row["carried_translation_error"]
            gaps[method, dt] = values, np.hypot(*errors), 2 * row["left"] * 1e-4 * 300
    for dt, row in codes.iterrows():
        # Velocities that GROMACS writes are half a step older: what is left over belongs to the rotation, twice.
        values = row["temperature_rotation"] + 2 * row["temperature_rest"], row["temperature_translation"]
        gaps["GROMACS", dt] = values, np.hypot(row["temperature_rotation_error"], row["temperature_translation_error"]), 0.0
    for (side, dt), ((rotation, translation), error, heated) in gaps.items():
        expected = 600 * analysis.apart(rates, dt)
        assert abs((192 * rotation + 189 * translation) / 381 - 300 - heated) < 2 * error, (side, dt)
        if dt < 6:
            assert abs(rotation - translation - expected) < 2 * error, (side, dt)
        else:
            assert 1 < (rotation - translation) / expected < 1.45, (side, dt)
    ratios = [
        (gaps[side, 6.0][0][0] - gaps[side, 6.0][0][1]) / (600 * analysis.apart(rates, 6.0)) for side, dt in gaps if dt == 6
    ]
    said = polhode.recommend(liquid="spce", bath="v-rescale", bias=5).serves
    assert f"by a factor of {min(ratios):.1f} to {max(ratios):.1f} at 6 fs" in said and "places" not in said
    half = {side: (gaps[side, 6.0][0][0] - gaps[side, 6.0][0][1]) / 2 for side in ("omelyan1998", "GROMACS")}
    bound = {dt: f"{300 * analysis.apart(rates, dt):.1f}" for dt in (2.0, 4.0, 6.0)}
    for text in (
        f"This is {bound[2.0]} K in water at 2 fs and {bound[4.0]} K at 4 fs, as measured within the errors",
        f"At 6 fs it is {bound[6.0]} K, and half of the measured gap is {half['omelyan1998']:.1f} K with `omelyan1998` and "
        f"{half['GROMACS']:.1f} K in GROMACS",
    ):
        assert text in page
    answer = polhode.recommend(liquid="spce", bath="v-rescale", code="gromacs")
    ratio = half["GROMACS"] / (300 * analysis.apart(rates, 6.0))
    assert f"and had {ratio:.1f} times as much at 6 fs" in " ".join(answer.why().split())
    how_to_ask = re.sub(r"\s+", " ", (HOME / "docs/recommend-liquid.md").read_text(encoding="utf-8"))
    assert "had three quarters of the gap of GROMACS at 6 fs" in how_to_ask and 0.7 < 1 / ratio < 0.8
    assert rates[0] == pytest.approx(0.0014, rel=0.01) and answer.dt == pytest.approx(1.9e-15)


def test_velocity_rescaling_takes_heat_out_at_a_temperature(page):
    """A method that brings in d kT a degree of freedom and ns: after the factor K - nkT/2 is d tau (1 - dt/(2 tau)) n kT.

    Of Magnus-Adams 4 only at 2 and 6 fs: at 4 fs its energy goes in the first picoseconds, when rotation stops.
    """
    rows = pd.read_csv(HOME / "data/released/bath_rescaling.csv").set_index(["method", "dt"])
    tau = 1e-4  # ns
    assert analysis.equal_friction(tau) == pytest.approx(5e3)
    cases = [("fincham1992", dt) for dt in (2.0, 4.0, 6.0)] + [("magnus_adams4", dt) for dt in (2.0, 6.0)]
    hotter = {}
    for case in cases:
        row = rows.loc[case]
        hotter[case] = (192 * row["carried_rotation"] + 189 * row["carried_translation"]) / 381 - 300
        expected = 300 * row["left"] / analysis.equal_friction(tau) * (1 - case[1] * 1e-6 / (2 * tau))
        error = np.hypot(192 * row["carried_rotation_error"], 189 * row["carried_translation_error"]) / 381
        # The bath sees velocities of half steps, whose energy a factor changes by a little more than the one of whole steps.
        assert abs(hotter[case] - expected) < 2.5 * error + 0.05 * abs(expected), case
    assert hotter["magnus_adams4", 6.0] > 300 and hotter["magnus_adams4", 2.0] < -2
    by_formula, measured = 600 * rows.loc[("fincham1992", 6.0), "left"] * tau, hotter["fincham1992", 6.0]
    assert f"{by_formula:.1f} K for `fincham1992` at 6 fs, where {measured:.1f} K were measured" in page
    assert f"it is {600 * tau:.2f} K for 1 kT per degree of freedom and ns" in page


def test_what_a_bath_does_not_give_is_the_drift_without_one():
    """Of leapfrogs, whose heat is counted where their energy is read."""
    rows = pd.read_csv(HOME / "data/released/bath_rescaling.csv").set_index(["method", "dt"])
    for method in ("omelyan1998", "spiral_leapfrog", "fincham1992"):
        for dt, drift in outcomes(read_groups(HOME / "data/released/liquids.nc")["/followed"])[method].items():
            if dt in (2.0, 4.0):
                row = rows.loc[method, dt]
                error = np.hypot(row["left_error"], (drift.high - drift.low) / 4)
                assert abs(row["left"] - drift.drift) < 2 * error < 0.35 * abs(drift.drift), (method, dt)


def test_the_page_has_the_longest_steps(page, released):
    longest = {scheme: released.longest_steps("water64", scheme, 1.0, analysis.BIAS) for scheme in ("BAOAB", "OBABO", "LAMMPS")}
    ranges = {scheme: steps["potential"].range_of_fit for scheme, steps in longest.items()}
    truth, ladder = released.truth("water64"), released.ladder("water64", "BAOAB", 1.0)
    off = [ladder[dt].biases(truth) for dt in (2.0, 1.0)]
    words = [(with_half(bias["rotation"], 2), with_half(bias["potential"], 3)) for bias in off]
    for text in (
        "At 2 fs rotation is off by {} K and the potential energy by {} kT, which is not".format(*words[0]),
        "1/ps: rotation is off by {} K and the potential energy by {} kT. At 2".format(*words[1]),
        f"has rotation 0.5 K too hot at {longest['BAOAB']['rotation'].range_of_fit} fs",
        f"is off by 0.01 kT at {ranges['BAOAB']} fs with BAOAB, at",
        f"{ranges['OBABO']} fs with OBABO and at {ranges['LAMMPS']} fs with LAMMPS",
        f"within its interval of ± {truth.high - truth.value:.3f} kT",
    ):
        assert text in page, text
    certain = {scheme: {name: step.certain for name, step in steps.items()} for scheme, steps in longest.items()}
    assert "1 fs is shown directly" in page and certain == {
        "BAOAB": dict.fromkeys(certain["BAOAB"], 1.0),
        **{scheme: dict.fromkeys(certain[scheme], 0.0) for scheme in ("OBABO", "LAMMPS")},
    }
    # The step of recommend: the limit of weak friction is not longer than what the runs say.
    assert longest["BAOAB"]["rotation"].fitted.low > 1.9 and "says 1.9 fs" in page
    at_two = 4 * 0.01 / longest["BAOAB"]["potential"].fitted.value ** 2
    assert f"some -{at_two:.3f} kT by the square" in page


def test_the_page_names_the_differences_that_are_off(page, released, rates):
    """Of rotation and translation between the kicks, by three standard errors; with strong friction the formula is a limit."""
    off = {}
    for friction in (0.1, 1.0):
        for dt, case in released.ladder("water64", "BAOAB", friction).items():
            rotation, translation = (case.reading(f"middle_{kind}") for kind in ("rotation", "translation"))
            gap, half = (
                rotation.value - translation.value,
                rotation.high - rotation.value + translation.high - translation.value,
            )  # half is two standard errors
            if dt <= 6 and not -1.5 * half < gap < 600 * analysis.apart(rates, dt) + 1.5 * half:
                off[friction, dt] = gap
    assert set(off) == {(0.1, 1.0)} and f"{off[0.1, 1.0]:.0f} K with 0.1/ps and 1 fs" in page
    long = released.ladder("water64", "BAOAB", 1.0)[1.0]
    gap = long.reading("middle_rotation").value - long.reading("middle_translation").value
    assert f"with 1/ps has nothing like it ({gap:.1f} K)" in page


def test_the_page_has_the_structure_of_runs(page, released):
    truth = {"water64": released.truth("water64", "peak")}
    cosine = released.truth("water64", "cosine")
    ends = released.ladder("water64", "OBABO", 1.0)
    lower = [with_half(ends[dt].above("peak", truth["water64"]), 2).removeprefix("-") for dt in (4.0, 8.0)]
    keep = [case for case in released.of("water64") if case.scheme in ("BAOAB", "CHAINS")]
    kept_within = max(abs(case.above("peak", truth["water64"]).value) for case in keep)
    high = released.ladder("water64", "BAOAB", 1.0)[8.0].above("peak", truth["water64"])
    shown_cases = [case for case in released.of("water64") if case.scheme == "CHAINS" or case.friction == 1.0]
    cosines = [abs(case.above("cosine", cosine).value) for case in shown_cases if case.scheme in SCHEMES]
    long = released.ladder("water64", "CHAINS", 10.0)[8.0]
    chains = long.above("potential", released.truth("water64"))
    both = [with_half(long.reading(f"middle_{kind}"), 1) for kind in ("rotation", "translation")]
    for text in (
        "by {} at 4 fs and {} at 8 fs with OBABO".format(*lower),
        f"BAOAB and chains keep it within {np.ceil(kept_within * 100) / 100:.2f} up to 8 fs",
        f"At 8 fs with BAOAB and 1/ps it is slightly too high, by {with_half(high, 2)}",
        f"differs by at most {np.ceil(max(cosines) * 1000) / 1000:.3f}, without",
        f"too low, by {with_half(chains, 2).removeprefix('-')} kT. So",
        "with ten, rotation has {} and translation {} K at 8 fs".format(*both),
    ):
        assert text in page
    assert high.smallest > 0


def test_the_page_has_the_factor_of_kirkwood(page):
    data = read_dataset(HOME / "data" / "released" / bath_runs.RELEASED)
    chosen = ((data["scene"] == "water64") & data["scheme"].isin(list(SCHEMES))).values
    of_starts = data["kirkwood"].values[chosen][..., bath_runs.DROPPED :].mean(2)
    half = 2 * of_starts.std(ddof=1) / np.sqrt(of_starts.size)
    text = f"It is {of_starts.mean():.1f} ± {half:.1f} over all these runs, and single starts scatter by {of_starts.std():.1f}."
    assert text in page
