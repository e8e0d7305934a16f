"""Liquids in the study: what is read off energies and motions, runs of trimers, and the chapter."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rendered import figure_twice

from polhode import manybody
from polhode.algebra.quaternion import exponential
from polhode.compiling.plain import in_plain_python
from polhode.fits import liquid_drifts
from polhode.fits.liquid_drifts import STUDY_STEPS, check_of_step
from polhode.interface.storage import write_dataset
from polhode.manybody import simulation
from polhode.methods import METHODS
from polhode_study import chapters
from polhode_study.chapters import rendering
from polhode_study.chapters.liquids import figures
from polhode_study.chapters.liquids import frames as analysis
from polhode_study.chapters.liquids import run as liquids
from polhode_study.chapters.long_runs.run_librations import librations
from polhode_study.checks import CHECKS
from polhode_study.inputs import Inputs, NotInRun

TRIMERS, WATER = manybody.scenes["trimers"], manybody.scenes["water64"]


def test_the_slope_of_an_energy_has_its_sign_and_error():
    time = np.arange(4000) / 1000
    generator = np.random.default_rng(5)
    for slope in (0.3, -0.3):
        energy = 7 + slope * time + 0.02 * generator.standard_normal(len(time))
        energy[:200] += 5  # in the first tenth, which is dropped
        line = liquids.drift_of(time, energy)
        assert abs(line.slope - slope) < 4 * line.block_error < 0.01
        assert line.rms == pytest.approx(0.02, rel=0.05)
    # Noise that lasts hides more of a drift than blocks know.
    slow = liquids.drift_of(time, np.sin(2 * np.pi * time / 6))
    assert abs(slow.slope) > 5 * slow.block_error / 10 and slow.rms > 0.1


@pytest.mark.parametrize("sign", [1, -1])
def test_a_lost_run_ends_and_says_when_and_in_which_direction(monkeypatch, sign):
    made = []

    def pieces(fluid, method, dt, state, duration):
        for begin in (0.0, 100.0, 200.0):
            time = begin + np.arange(0.0, 100.0, 10.0)
            made.append(begin)
            zero = np.zeros((len(time), 2))
            yield liquids.History(time, -2000 + sign * len(fluid) * time / 100, zero, zero)

    monkeypatch.setattr(liquids, "pieces_of_run", pieces)
    _, lost_at, lost_by = liquids.followed(WATER, None, 1.0, 0, 300.0)
    assert (lost_at, lost_by) == (160.0, sign) and made == [0.0, 100.0]
    runs = liquids.liquids(WATER, ["no_squish"], [1.0], 300.0, [0, 1])
    assert runs["drift"].values == pytest.approx(sign * 0.25 / 160e-6)  # 1.5 kT a molecule in 160 fs, in 1/ns
    assert np.isnan(runs["rms"].values).all() and (runs["lost_by"] == sign).all()


def test_energies_of_half_steps_follow_from_poses():
    dt, omega, v = 2.0, np.array([0.0, 0.03, 0.0]), np.array([0.004, -0.001, 0.002])
    before = np.zeros((1, len(WATER), 13))
    before[..., 6] = 1.0
    before[..., :3] = WATER.box / 2 - 1e-3
    after = before.copy()
    after[..., :3] += dt * v - WATER.box * (dt * v > 1e-3)  # what leaves the box comes in on the other side
    after[..., 6:10] = in_plain_python(exponential)(tuple(dt * omega))
    molecule = WATER.clumps[0][0].body()
    expected = 64 * molecule.mass * (v @ v) / 2, 64 * (np.array(molecule.inertia) @ omega**2) / 2
    assert liquids.half_step_energies(WATER, before, after, dt)[0] == pytest.approx(expected, rel=1e-9)


def test_the_virial_of_two_molecules_is_force_times_distance():
    pair = replace(WATER, molecules=((WATER.clumps[0][0], 2),), states=())
    motion = np.zeros((2, 13))
    motion[:, 0] = WATER.box / 2 - 1.5, 1.3 - WATER.box / 2
    motion[:, 6:10] = np.array([[0.5, 0.5, -0.1, 0.7], [0.1, -0.7, 0.5, 0.5]])
    state = manybody.placement.State(motion[:, :3], motion[:, 3:6], motion[:, 6:10], motion[:, 10:])
    outcome = simulation.run(pair, METHODS["no_squish"], 1e-4, state, np.array([0, 1]), record=True)
    kt, force = pair.thermal / pair.units.energy, pair.clumps[0][0].body().mass * outcome["motion"][1, 0, 3:6] / 1e-4
    stretched = [replace(pair, box=pair.box * (1 + i * liquids.STRETCH)) for i in range(3)]
    energy, virial, shells = liquids.position_readings(pair, motion, stretched)
    assert virial == pytest.approx(-2.8 * force[0] / kt, rel=1e-4) and abs(virial) > 1
    assert energy == pytest.approx(outcome["energies"][0, 1] / kt)
    assert shells.sum() == 1 and abs((shells.argmax() + 0.5) * liquids.SHELL - 2.8) < 0.2


@pytest.mark.parametrize("dt", [2.0, 4.0, 6.0])
def test_released_water_s_potential_energy_is_as_theory_says(dt):
    """The prediction rests on loads in other runs, with another step."""
    inputs = Inputs(released=Path(__file__).parents[1] / "data/released")
    plain, corrected = (analysis.read_wrongly(inputs, "potential", key, dt) for key in liquids.POSITION_METHODS)
    assert plain.low < analysis.potential_read_above(inputs, dt) < plain.high
    assert corrected.low < 0 < corrected.high
    assert dt == 2.0 or not plain.low < 1.5 * analysis.potential_read_above(inputs, dt) < plain.high


def test_a_spectrum_is_that_of_a_swing_about_one_axis():
    time = np.arange(4000) * 0.5
    omega = np.zeros((len(time), 3, 3))
    omega[..., 1] = np.sin(0.4 * time)[:, None]
    omega[..., 2] = 0.5 * np.sin(0.9 * time)[:, None]
    share, frequency = liquids.power_spectrum(omega, np.array([[1.0, 1.0, 2.0]] * 3), 0.5, 1000)
    assert share.sum() == pytest.approx(1) and share[0].sum() < 1e-12
    assert share.sum(1)[1:] == pytest.approx([2 / 3, 1 / 3], rel=1e-3)
    assert frequency[share.argmax(1)[1:]] == pytest.approx([0.4, 0.9], abs=0.01)


@pytest.fixture(scope="module")
def trimers():
    return liquids.liquids(TRIMERS, ["exact_rotor", "euler", "magnus_adams4"], [0.012, 0.024], 3.6, [0, 1])


@pytest.mark.thorough
def test_trimers_conserve_or_lose_energy_as_their_methods_do(trimers):
    drift = trimers["drift"].mean("seed")
    assert abs(drift.sel(integrator="exact_rotor")).max() < 2e-3
    assert float(drift.sel(integrator="euler", dt=0.024)) > 2e-3
    assert float(drift.sel(integrator="magnus_adams4", dt=0.024)) < -0.01
    rms = trimers["rms"].sel(integrator="exact_rotor").mean("seed").values
    assert rms[1] / rms[0] == pytest.approx(4, rel=0.3)


@pytest.mark.thorough
def test_temperatures_lie_on_parabolas_of_mean_square_loads(trimers):
    """The loads come from other runs, and say by how much whole and half steps are off."""
    exact = trimers["temperature"].sel(integrator="exact_rotor", dt=0.024).mean("seed")
    corrected = exact.sel(estimator="corrected")
    motions = manybody.simulate(TRIMERS, "exact_rotor", 0.006, t_end=3.0, samples=10, record=True)
    rows = np.concatenate([motions[name].values for name in ("r", "v", "q", "omega")], -1)
    kt = TRIMERS.thermal * float(corrected.mean())
    expected = liquids.mean_square_rates(TRIMERS, rows, kt) * 0.024**2
    assert (exact.sel(estimator="whole") / corrected - 1).values == pytest.approx(-expected / 6, rel=0.12)
    assert (exact.sel(estimator="half") / corrected - 1).values == pytest.approx(expected / 12, rel=0.12)


@pytest.mark.thorough
def test_cutoffs_are_compared_from_the_smoothest(monkeypatch):
    monkeypatch.setattr(liquids, "CUTOFF_METHODS", ("exact_rotor",))
    runs = liquids.LiquidRuns(scene="water64", steps=(1.0,), duration=150.0, starts=1)
    data = liquids.cutoffs(runs, list(METHODS))
    assert data["onset"].values.tolist() == [2, 1, 1, 0] and data["law"].values.tolist() == list(liquids.LAWS)
    rms = data["rms"].isel(integrator=0, dt=0, seed=0)
    assert float(rms.sel(law="shifted_energy")) > 5 * float(rms.sel(law="shifted_power"))
    assert not liquids.cutoffs(runs, ["euler"])


def test_the_checks_are_those_of_the_study():
    steps = {name: check.settings["dt"] for name, check in CHECKS.items() if check.function == "liquids.run:steps_check"}
    assert steps == {check_of_step(dt): dt for dt in STUDY_STEPS} and liquids.STUDY.steps == STUDY_STEPS
    assert not liquids.steps_check({"methods": ["rk4"], "dt": 2.0})


#: Drifts in kT per ns at 1 fs and the power of the step; the start adds a scatter that grows with the step.
SYNTHETIC = {"exact_rotor": (0.0, 0), "omelyan1998": (-0.004, 3), "spiral_leapfrog": (0.05, 3), "magnus_adams4": (-1.6, 5)}


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory):
    """A run whose liquids have known drifts, with a spectrum and the check of librations."""
    folder = tmp_path_factory.mktemp("liquids") / "checks"

    def pieces(fluid, method, dt, state, duration):
        coefficient, power = SYNTHETIC[method.key]
        time = np.arange(0.0, duration, 25.0)
        drift = (coefficient * dt**power + (state - 1) * 2e-4 * dt * dt) / 1e6
        energy = 6 * 64 * (-3 + drift * time + 1e-6 * dt * dt * np.sin(time))
        kinetic = np.ones((len(time), 2)) * fluid.degrees_of_freedom / 2
        yield liquids.History(time, energy, kinetic * (1 - [1e-4, 1e-3] * np.array(dt * dt)), kinetic)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(liquids, "pieces_of_run", pieces)
        patch.setattr(type(WATER), "initial_state", lambda self, seed: seed)
        methods = {"methods": list(SYNTHETIC)}
        for dt in STUDY_STEPS:
            write_dataset(liquids.steps_check(methods | {"dt": dt}), folder / f"{check_of_step(dt)}.nc")
        write_dataset(liquids.cutoffs_check(methods), folder / "liquid_cutoffs.nc")
    write_dataset(librations({"methods": ["magnus_adams4", "spiral_leapfrog"], "seed": 0}), folder / "librations.nc")
    write_dataset(liquids.liquid_spectrum(WATER, [0], 1.0, 600.0, 128), folder / "liquid_spectrum.nc")
    write_dataset(liquids.shadow_scatter(WATER, (1.0, 2.0), 40.0, 10), folder / "liquid_shadow.nc")
    inputs = Inputs("", checks=folder)
    inputs.plugins = []
    return inputs


@pytest.mark.thorough
def test_drifts_come_back_with_signs_powers_and_losses(synthetic):
    every = liquid_drifts.outcomes(analysis.runs(synthetic))
    assert analysis.exponent(every["spiral_leapfrog"], (1.0, 2.0)) == pytest.approx(3, abs=0.02)
    assert every["omelyan1998"][4.0].drift == pytest.approx(-0.256, rel=0.06) and every["omelyan1998"][4.0].is_shown
    assert not every["exact_rotor"][4.0].is_shown
    assert liquid_drifts.largest_steps(every["omelyan1998"], 0.1) == (2.0, 2.0)
    assert liquid_drifts.largest_steps(every["exact_rotor"], 0.001) == (1.0, 6.0)
    assert analysis.recommended(synthetic).method == "exact_rotor" and analysis.recommended(synthetic).dt == 4.0
    dt, outcome = analysis.lost_first(every["magnus_adams4"])
    assert (dt, outcome.lost_by) == (2.0, -1) and outcome.lost_at == pytest.approx(0.25 / 51.2e-6, rel=0.03)
    assert analysis.signed(every["magnus_adams4"][2.0]).startswith("$-$") and analysis.lost(every["magnus_adams4"]).endswith(
        "cold"
    )


def test_gaps_of_temperatures_are_those_put_in(synthetic):
    gaps = analysis.gaps(synthetic, "whole")
    assert gaps[4.0].value == pytest.approx((1 - 0.016) / (1 - 0.0016) - 1) and gaps[4.0].predicted < -0.01
    of_half, of_corrected = (analysis.gaps(synthetic, estimator)[4.0].predicted for estimator in ("half", "corrected"))
    assert gaps[4.0].predicted + 2 * of_half == pytest.approx(3 * of_corrected, abs=1e-15), "the corrected one is made of both"


@pytest.mark.thorough
def test_the_chapter_is_made_from_checks(synthetic, tmp_path):
    macros = rendering.numbers("liquids", synthetic)
    section = (Path(__file__).parents[1] / chapters.FOLDER / "liquids" / "text.tex").read_text()
    lacking = set(re.findall(r"\\(studyLiquid[A-Za-z]+)", section)) - set(macros)
    assert all(name.startswith("studyLiquidLarge") for name in lacking), "only the larger box lacks here"
    frame, text = rendering.table("liquids", synthetic)
    assert len(frame) == 16 and text.count(r"\num") > 10
    assert len(figures.liquids(synthetic).axes) == 1
    figure_twice("liquids_more", synthetic, tmp_path)
    with pytest.raises(NotInRun, match="liquid_1fs"):
        analysis.runs(Inputs(""))
