"""The bed of grains: the scene, the check that reads it off, and the verdicts of the report."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from rendered import figure_twice

from polhode import manybody
from polhode.fits.seed_statistics import Estimate
from polhode.manybody.simulation import run
from polhode.manybody.step import PlainRun
from polhode.methods import METHODS
from polhode.study.inputs import NotInRun
from polhode.study.run import bed
from polhode.study.themes.bed import analysis, numbers, tables
from polhode.study.themes.bed.analysis import Verdict

SCENE = manybody.scenes["bed"]
STEP = SCENE.contact_time() / 20


def test_lists_and_the_plain_step_change_no_bit_of_the_bed():
    begin, at = SCENE.initial_state(1), np.array([0, 150])
    engine, every = (run(SCENE, METHODS["no_squish"], STEP, begin, at, record=True, brute_force=slow) for slow in (False, True))
    plain = PlainRun(SCENE, begin, METHODS["no_squish"], STEP)
    for _ in range(150):
        plain.step()
    assert engine["work"][4] > 1000
    np.testing.assert_array_equal(engine["motion"], every["motion"])
    np.testing.assert_array_equal(engine["ledger"], every["ledger"])
    np.testing.assert_array_equal(engine["motion"][-1], plain.read())


@pytest.fixture(scope="module")
def small():
    """A check of two methods, steps and initial states over the first collisions."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"DIVISIONS": (5, 20), "SEEDS": 2, "END": 0.15, "SAMPLES": 30}.items():
            patch.setattr(bed, name, value)
        return bed.bed({"methods": ["euler", "no_squish", "spiral_leapfrog"], "seed": 0})


def test_the_check_reads_off_a_bed_whose_ledger_closes(small):
    assert small["integrator"].values.tolist() == ["spiral_leapfrog", "no_squish"]
    assert not small["lost"].any() and all(small[name].notnull().all() for name in bed.OBSERVABLES)
    closure = abs(small["closure"])
    assert closure.sel(division=20).max() < 0.01 and (closure.sel(division=5) > 4 * closure.sel(division=20)).all()
    for name in ("normal", "tangential", "sliding"):
        assert (small[name] > 0).all()
    np.testing.assert_allclose(small["normal"] + small["tangential"] + small["sliding"], 1.0, rtol=1e-12)
    for form in ("dissipated_normal", "dissipated_tangential", "dissipated_sliding"):
        assert (np.diff(small["ledger"].sel(form=form)) > -1e-9).all()
    # The ledger is that of the first method with the shortest step from the first state: its sum is what closes.
    total = small["ledger"].sum("form").values
    assert total[-1] / total[0] - 1 == pytest.approx(float(small["closure"][0, -1, 0]), abs=1e-12)
    np.testing.assert_allclose(small["kinetic"][0, -1, 0], small["ledger"].sel(form="kinetic"), rtol=1e-6)
    # All start from the same states, and part.
    assert (small["kinetic"][:, :, :, 0] == small["kinetic"][0, 0, :, 0]).all()
    assert len(np.unique(small["height"])) == small["height"].size


def test_a_lost_run_has_no_values(monkeypatch):
    for name, value in {"DIVISIONS": (1,), "SEEDS": 1, "END": 0.1, "SAMPLES": 2}.items():
        monkeypatch.setattr(bed, name, value)
    data = bed.bed({"methods": ["spiral_leapfrog"], "seed": 0})
    assert data["lost"].all() and all(data[name].isnull().all() for name in bed.OBSERVABLES)


def test_a_study_without_these_methods_has_an_empty_check():
    data = bed.bed({"methods": ["euler"], "seed": 0})
    assert not data.variables
    with pytest.raises(NotInRun, match="none of the methods"):
        analysis.data_of(SimpleNamespace(check=lambda name: data))


def test_touching_spheres_are_counted_for_both_grains_and_walls_once():
    grain, _ = SCENE.clumps[0]
    two = replace(SCENE, kinds=((grain, 2),))
    q = np.array([[1.0, 0.0, 0.0, 0.0]] * 2)
    # Both along x: spheres at +-2.5 mm of the centre, R 5 mm. Side by side, four pairs could touch: two are next to each other.
    beside = np.array([[0.0, 0.0, 0.0], [0.0, 9.9e-3, 0.0]])
    assert bed.touching(two, beside, q) == 4
    assert bed.touching(two, beside * 1.02, q) == 0
    low = beside * 2 - [0.0, 0.0, 25.1e-3]  # the floor is at -30 mm
    assert bed.touching(two, low, q) == 4
    # A quarter turn about y sets the second upright: its lower sphere is below the floor by 2.5 mm more.
    q[1] = np.sqrt(0.5) * np.array([1.0, 0.0, 1.0, 0.0])
    assert bed.touching(two, beside * 2 - [0.0, 0.0, 22.6e-3], q) == 1


def test_the_settling_time_of_an_exponential_is_exact():
    time = np.linspace(0.0, 1.0, 8)
    assert bed.settling_time(time, np.exp(-7 * time)) == pytest.approx(np.log(100) / 7)
    assert np.isnan(bed.settling_time(time, np.exp(-time)))


def made_up(changes, seeds=6):
    """A check with two methods, whose height has these changes in units of the scatter over seeds, by step."""
    scatter = np.linspace(-1, 1, seeds) / np.linspace(-1, 1, seeds).std(ddof=1)
    wobble = 0.01 * np.resize([1.0, -1.0], seeds)
    row = np.array([scatter + change + (wobble if change else 0) for change in (*changes, 0.0)])
    values = np.array([row, row])
    over = ("integrator", "division", "seed")
    divisions = [4, 10, 20, 40, 80][-len(row) :]
    data = xr.Dataset(
        {name: (over, values if name == "height" else np.array([0 * row + scatter] * 2)) for name in bed.OBSERVABLES},
        {"integrator": ["spiral_leapfrog", "no_squish"], "division": divisions, "seed": range(seeds)},
    )
    return data.assign(label=("integrator", ["SPIRAL", "NO_SQUISH"]), lost=(over, np.zeros(values.shape, int)))


def test_a_verdict_compares_the_whole_interval_with_the_scatter_of_seeds():
    data = made_up([3.0, 1.005, 0.5])
    assert analysis.scatter(data, "height") == pytest.approx(1.0)
    assert analysis.change_with_step(data, "height", 10).value == pytest.approx(3.0)
    assert [analysis.verdicts_of_step(data, n)["height"] for n in (10, 20, 40)] == list(
        map(Verdict, ("leaves the scatter of seeds", "undecided", "within"))
    )
    assert analysis.verdict(Estimate(-2.0, -2.5, -1.5), 1.0) is Verdict.LEAVES
    assert analysis.verdict(Estimate(0.0), 1.0) is Verdict.UNDECIDED
    steps = {n: analysis.verdicts_of_step(data, n) for n in analysis.coarser(data)}
    assert numbers.safe(steps, ["height"], {Verdict.WITHIN}) == "$T/40$"
    assert numbers.safe(steps, ["height"], {Verdict.WITHIN, Verdict.UNDECIDED}) == "$T/20$"
    assert numbers.leaving(steps[10]) == "height" and numbers.leaving(steps[20]) == "none"


def test_one_method_that_leaves_the_scatter_is_named():
    data = made_up([0.5, 0.5])
    data["contacts"] = data["contacts"].copy()
    data["contacts"][1, 0] += 9.0
    assert analysis.leaving_alone(data, 20) == [("no_squish", "contacts")] and not analysis.leaving_alone(data, 40)
    verdicts = analysis.verdicts_of_methods(data, 20)
    assert {pair for pair, verdict in verdicts.items() if verdict is Verdict.LEAVES} == {
        ("spiral_leapfrog", "contacts"),
        ("no_squish", "contacts"),
    }
    assert analysis.verdicts_of_methods(data.isel(integrator=[0]), 20) == {}


def test_a_lost_run_leaves_its_seed_out():
    data = made_up([0.5])
    data["height"][0, 0, 2] = np.nan
    assert analysis.change_with_step(data, "height", 40).value == pytest.approx(0.5, abs=0.01)


def test_the_figure_the_table_and_the_numbers_of_a_small_bed(small, tmp_path):
    inputs = SimpleNamespace(check=lambda name: {"bed": small}[name])
    figure_twice("bed", inputs, tmp_path)
    frame, text = tables.bed(inputs)
    # By step over all methods and for each, and each against the others: 7 things, 1 step, 2 methods, 2 steps.
    assert len(frame) == 7 * (1 + 2 + 4) and set(frame["verdict"]) <= set(map(str, Verdict))
    assert "T/5" in text and "closure" in text
    made = numbers.bed(inputs)
    section = (Path(__file__).parents[1] / "paper" / "sections" / "bed.tex").read_text()
    assert set(re.findall(r"\\(studyBed[A-Za-z]+)", section)) <= set(made)
    assert (made["studyBedRuns"], made["studyBedLost"], made["studyBedFinest"]) == ("8", "0", "20")
    assert made["studyBedContactTime"] == r"\num{0.575}"  # 2.87 (m^2/(R E*^2 v))^(1/5)
