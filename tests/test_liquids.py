"""Liquids in the study: what is read off energies and motions, runs of trimers, and the theme."""

import numpy as np
import pytest

from polhode import manybody
from polhode.algebra.quaternion import exponential
from polhode.compiling.plain import in_plain_python
from polhode.methods import METHODS
from polhode.study.run import liquids

TRIMERS, WATER = manybody.scenes["trimers"], manybody.scenes["water64"]


def test_the_slope_of_an_energy_has_its_sign_and_its_error_holds_it():
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

    def parts(fluid, method, dt, state, duration):
        for begin in (0.0, 100.0, 200.0):
            time = begin + np.arange(0.0, 100.0, 10.0)
            made.append(begin)
            zero = np.zeros((len(time), 2))
            yield liquids.History(time, -2000 + sign * len(fluid) * time / 100, zero, zero)

    monkeypatch.setattr(liquids, "parts_of_run", parts)
    _, lost_at, lost_by = liquids.followed(WATER, None, 1.0, 0, 300.0)
    assert (lost_at, lost_by) == (160.0, sign) and made == [0.0, 100.0]
    runs = liquids.liquids(WATER, ["no_squish"], [1.0], 300.0, [0, 1])
    assert runs["drift"].values == pytest.approx(sign * 0.25 / 160e-6)  # 1.5 kT a molecule in 160 fs, in 1/ns
    assert np.isnan(runs["rms"].values).all() and (runs["lost_by"] == sign).all()


def test_energies_of_half_steps_follow_from_poses_across_the_walls_of_the_box():
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


def test_a_splitting_holds_the_energy_of_trimers_and_others_lose_it_in_their_direction(trimers):
    drift = trimers["drift"].mean("seed")
    assert abs(drift.sel(integrator="exact_rotor")).max() < 2e-3
    assert float(drift.sel(integrator="euler", dt=0.024)) > 2e-3
    assert float(drift.sel(integrator="magnus_adams4", dt=0.024)) < -0.01
    rms = trimers["rms"].sel(integrator="exact_rotor").mean("seed").values
    assert rms[1] / rms[0] == pytest.approx(4, rel=0.3)


def test_temperatures_lie_on_the_parabolas_of_the_mean_squares_of_loads(trimers):
    """The loads come from other runs, and say by how much whole and half steps are off."""
    exact = trimers["temperature"].sel(integrator="exact_rotor", dt=0.024).mean("seed")
    corrected = exact.sel(estimator="corrected")
    motions = manybody.simulate(TRIMERS, "exact_rotor", 0.006, t_end=3.0, samples=10, record=True)
    rows = np.concatenate([motions[name].values for name in ("r", "v", "q", "omega")], -1)
    kt = TRIMERS.thermal * float(corrected.mean())
    expected = liquids.mean_square_rates(TRIMERS, rows, kt) * 0.024**2
    assert (exact.sel(estimator="whole") / corrected - 1).values == pytest.approx(-expected / 6, rel=0.12)
    assert (exact.sel(estimator="half") / corrected - 1).values == pytest.approx(expected / 12, rel=0.12)


def test_cutoffs_are_compared_from_the_smoothest(monkeypatch):
    monkeypatch.setattr(liquids, "CUTOFF_METHODS", ("exact_rotor",))
    runs = liquids.LiquidRuns(scene="water64", steps=(1.0,), duration=150.0, starts=1)
    data = liquids.cutoffs(runs, list(METHODS))
    assert data["onset"].values.tolist() == [2, 1, 1, 0] and data["law"].values.tolist() == list(liquids.LAWS)
    rms = data["rms"].isel(integrator=0, dt=0, seed=0)
    assert float(rms.sel(law="shifted_energy")) > 5 * float(rms.sel(law="shifted_power"))
    assert not liquids.cutoffs(runs, ["euler"])


def test_the_checks_are_those_of_the_study():
    from polhode.study.run.checks import CHECKS

    assert set(liquids.LIQUID_CHECKS) <= set(CHECKS)
    assert not liquids.LIQUID_CHECKS["liquid_2fs"]({"methods": ["rk4"]})
