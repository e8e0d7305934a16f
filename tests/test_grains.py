"""Grains in motion: the scenes, the checks that read them off, and the verdicts of the report."""

import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from same_bits import CONTACTS, as_plain_steps, both_ways
from scipy import stats

from polhode import cli, manybody
from polhode.interface.netcdf import read_dataset
from polhode.interface.storage import write_dataset
from polhode_study import chapters
from polhode_study.chapters import rendering
from polhode_study.chapters.grains import frames as analysis
from polhode_study.chapters.grains import numbers
from polhode_study.chapters.grains import run as grains
from polhode_study.chapters.grains.frames import Verdict
from polhode_study.chapters.grains.run import Variant
from polhode_study.cli import release
from polhode_study.inputs import NotInRun

SCENE = manybody.scenes["bed"]
STEP = SCENE.contact_time() / 20


@pytest.mark.thorough
def test_lists_and_the_plain_step_change_no_bit_of_the_bed():
    begin = SCENE.initial_state(1)
    both_ways(SCENE, "no_squish", STEP, begin, np.array([0, 150]))
    assert as_plain_steps(SCENE, "no_squish", STEP, begin, 150)[CONTACTS] > 1000


@pytest.fixture(scope="module")
def small():
    """An experiment on the bed with two methods, a law, two steps and two initial states, over the first collisions."""
    bed = grains.EXPERIMENTS["bed"]
    keys = ("spiral_leapfrog", "no_squish", "linear_spring_dashpot")
    few = {key: bed.variants[key] for key in keys} | {"euler": Variant("euler", SCENE.force_law, "Euler")}
    experiment = replace(bed, variants=few, divisions=(5, 20), seeds=2, end=0.15, samples=30)
    return grains.grains(experiment, ["no_squish", "spiral_leapfrog"])


@pytest.mark.thorough
def test_a_check_reads_off_a_bed_whose_ledger_closes(small):
    assert small["variant"].values.tolist() == ["spiral_leapfrog", "no_squish", "linear_spring_dashpot"]
    assert small["compared"].values.tolist() == ["method", "method", "law"]
    # The other law runs with one of the steps alone.
    assert (small["lost"].values == [[[0, 0], [0, 0]], [[0, 0], [0, 0]], [[-1, -1], [0, 0]]]).all()
    for name in grains.EXPERIMENTS["bed"].observables:
        assert (small[name].notnull() == (small["lost"] == 0)).all()
    closure = abs(small["closure"]).isel(variant=[0, 1])
    assert closure.sel(division=20).max() < 0.01 and (closure.sel(division=5) > 4 * closure.sel(division=20)).all()
    shares = small[["normal", "tangential", "sliding"]].isel(division=1)
    assert (shares.to_array() > 0).all()
    np.testing.assert_allclose(shares.to_array().sum("variable"), 1.0, rtol=1e-12)
    for form in ("dissipated_normal", "dissipated_tangential", "dissipated_sliding"):
        assert (np.diff(small["ledger"].sel(form=form)) > -1e-9).all()
    # The ledger is that of the first method with the shortest step from the first state: its sum is what closes.
    total = small["ledger"].sum("form").values
    assert total[-1] / total[0] - 1 == pytest.approx(float(small["closure"][0, -1, 0]), abs=1e-12)
    np.testing.assert_allclose(small["kinetic"][0, -1, 0], small["ledger"].sel(form="kinetic"), rtol=1e-6)
    # All start from the same states, and part. A linear spring makes no energy.
    assert (small["kinetic"][:, 1, :, 0] == small["kinetic"][0, 1, :, 0]).all()
    assert len(np.unique(small["height"].isel(variant=[0, 1]))) == 8
    assert (abs(small["made"]).isel(division=1).sel(variant="linear_spring_dashpot") < 1e-6).all()
    assert (small["made"].isel(division=1, variant=0) > 1e-3).all()


@pytest.mark.thorough
def test_a_lost_run_has_no_values():
    bed = grains.EXPERIMENTS["bed"]
    few = {"spiral_leapfrog": bed.variants["spiral_leapfrog"]}
    experiment = replace(bed, variants=few, divisions=(1,), seeds=1, end=0.1, samples=2)
    data = grains.grains(experiment, ["spiral_leapfrog"])
    assert (data["lost"] == 1).all() and all(data[name].isnull().all() for name in experiment.observables)


def test_a_study_without_these_methods_has_an_empty_check():
    data = grains.bed({"methods": ["euler"], "seed": 0})
    assert not data.variables
    with pytest.raises(NotInRun, match="none of the methods"):
        analysis.data_of(Report(bed=data), "bed")


def test_other_laws_have_the_same_contact_time_and_restitution():
    """One grain that hits the floor head on, with its axis upright."""
    grain, _ = SCENE.clumps[0]
    place, upright = [0.0, 0.0, 8e-3 - SCENE.box / 2], np.sqrt([[0.5, 0.0, 0.5, 0.0]])
    state = manybody.State(np.array([place]), np.array([[0.0, 0.0, -1.0]]), upright, np.zeros((1, 3)))
    alone = replace(SCENE, kinds=((grain, 1),), gravity=(0.0, 0.0, 0.0))
    for key, variant in grains.laws_of(SCENE, "spiral_leapfrog").items():
        run = manybody.simulate(alone, variant.method, 1e-6, t_end=2e-3, samples=1, state=state, law=variant.law, record=True)
        assert float(run["v"][-1, 0, 2]) == pytest.approx(0.67, abs=2e-3), key
        elastic = {"restitution": 1.0} if "restitution" in variant.law.parameters else {"damping_time": 0.0}
        law = variant.law.with_parameters(**elastic)
        run = manybody.simulate(alone, variant.method, 1e-6, t_end=2e-3, samples=1, state=state, law=law)
        assert float(run["contact_steps"]) * 1e-6 == pytest.approx(SCENE.contact_time(), rel=0.01), key


def test_a_column_is_a_bed_without_its_walls():
    column = manybody.scenes["column"]
    few = ((column.clumps[0][0], 8),)
    narrow = replace(column.settles_in, kinds=few)
    column = replace(column, kinds=few, settles_in=narrow)
    settled = manybody.simulate(narrow, "spiral_leapfrog", narrow.contact_time() / 20, 3, samples=1, record=True).isel(time=-1)
    state = column.initial_state(3)
    np.testing.assert_array_equal(state.q, settled["q"])
    np.testing.assert_allclose(state.r[:, :2], settled["r"][:, :2], rtol=0, atol=0)
    np.testing.assert_allclose(state.r[:, 2] + column.box / 2, settled["r"][:, 2] + narrow.box / 2, rtol=0, atol=1e-15)
    assert (np.abs(state.r[:, :2]) < narrow.box / 2).all()
    with pytest.raises(ValueError, match="smaller box"):
        replace(column, box=narrow.box)


def test_the_angle_of_a_cone_is_exact():
    """Points on a grid in a cone of 30 degrees."""
    x, y, z = np.mgrid[-1:1:121j, -1:1:121j, 0:0.6:121j]
    inside = z < np.tan(np.pi / 6) * (1 - np.hypot(x, y))
    r = np.stack([x, y, z - 1.0], -1)[inside]
    run = xr.Dataset({"r": (("time", "clump", "axis"), r[None])})
    assert grains.heap_angle(SimpleNamespace(box=2.0), run) == pytest.approx(30.0, abs=0.5)
    assert grains.runout(SimpleNamespace(box=2.0), run) == pytest.approx(0.865, abs=0.01)  # 3 x^2 - 2 x^3 = 0.95


def test_touching_spheres_count_for_both_and_walls_once():
    grain, _ = SCENE.clumps[0]
    two = replace(SCENE, kinds=((grain, 2),))
    q = np.array([[1.0, 0.0, 0.0, 0.0]] * 2)
    # Both along x: spheres at +-2.5 mm of the centre, R 5 mm. Side by side, four pairs could touch: two are next to each other.
    beside = np.array([[0.0, 0.0, 0.0], [0.0, 9.9e-3, 0.0]])
    assert grains.touching(two, beside, q) == 4
    assert grains.touching(two, beside * 1.02, q) == 0
    low = beside * 2 - [0.0, 0.0, 25.1e-3]  # the floor is at -30 mm
    assert grains.touching(two, low, q) == 4
    # A quarter turn about y sets the second upright: its lower sphere is below the floor by 2.5 mm more.
    q[1] = np.sqrt(0.5) * np.array([1.0, 0.0, 1.0, 0.0])
    assert grains.touching(two, beside * 2 - [0.0, 0.0, 22.6e-3], q) == 1


def test_contacts_with_a_drum_are_its_ends_and_round_wall():
    grain, _ = SCENE.clumps[0]
    drum = replace(manybody.scenes["drum"], kinds=((grain, 1),))
    # Along x at the bottom: spheres at +-2.5 mm, whose centres are off the axis by more than the middle is.
    low = drum.drum.radius - grain.radii[0]
    x, edge = grain.centres[0][0], drum.box / 2 - grain.radii[0]
    deep = np.sqrt(low**2 - x**2)
    q = np.array([[1.0, 0.0, 0.0, 0.0]])
    assert grains.touching(drum, np.array([[0.0, 0.0, -1.001 * deep]]), q) == 2
    assert grains.touching(drum, np.array([[0.0, 0.0, -0.999 * deep]]), q) == 0
    assert grains.touching(drum, np.array([[0.0, 1.001 * edge, 0.0]]), q) == 2


def test_a_drum_is_read_in_the_second_half_of_its_run():
    """The centre of mass stands still first, then at 30 degrees; energy is dissipated at 2 W and then at 5."""
    time = np.linspace(0.0, 2.0, 21)
    angle = np.where(time < 0.95, 0.0, np.pi / 6)
    r = 0.02 * np.stack([-np.sin(angle), 0 * time, -np.cos(angle)], -1)[:, None]
    later = np.maximum(time - 1.0, 0.0)
    data = {"dissipated_normal": time, "dissipated_tangential": time, "dissipated_sliding": 3 * later, "taken_by_law": -later}
    run = xr.Dataset({"r": (("time", "clump", "axis"), r)} | {name: ("time", values) for name, values in data.items()})
    run = run.assign_coords(time=time)
    observables = grains.EXPERIMENTS["drum"].observables
    values = {name: observables[name].value(None, run) for name in ("angle", "power", "sliding", "made")}
    assert values == pytest.approx({"angle": 30.0, "power": 5.0, "sliding": 0.6, "made": 0.2})


def test_the_settling_time_of_an_exponential_is_exact():
    time = np.linspace(0.0, 1.0, 8)
    assert grains.settling_time(time, np.exp(-7 * time), 0.01) == pytest.approx(np.log(100) / 7)
    assert np.isnan(grains.settling_time(time, np.exp(-time), 0.01))


@pytest.mark.thorough
def test_the_release_takes_what_a_folder_has_and_runs_the_rest(monkeypatch, tmp_path):
    bed = grains.EXPERIMENTS["bed"]
    few = {"spiral_leapfrog": bed.variants["spiral_leapfrog"]}
    experiment = replace(bed, variants=few, divisions=(10, 20), seeds=3, end=0.01, samples=2)
    folder = tmp_path / "grains"
    monkeypatch.setattr(grains, "RELEASED", {"bed": experiment, "column": replace(experiment, seeds=0)})
    write_dataset(grains.grains(experiment, ["spiral_leapfrog"], [1]).assign_attrs(cpu_seconds=1000.0), folder / "bed" / "1.nc")
    groups = release.released_grains(folder, "abc", 2)
    assert list(groups) == ["/", "/bed"] and groups["/bed"]["seed"].values.tolist() == [0, 1]
    direct = grains.grains(replace(experiment, seeds=2), ["spiral_leapfrog"])
    for name in experiment.observables:
        np.testing.assert_array_equal(groups["/bed"][name], direct[name])
    np.testing.assert_array_equal(groups["/bed"]["ledger"], direct["ledger"])
    np.testing.assert_array_equal(groups["/bed"]["kinetic"], direct["kinetic"])
    assert groups["/bed"].attrs["commit"] == "abc" and groups["/bed"].attrs["cpu_seconds"] > 1000
    output = tmp_path / "grains.nc"
    assert (
        cli.main(
            ["release", "--grains", "--results", str(tmp_path), "--seeds", "0", "--output", str(output), "--commit", "abc"]
        )
        == 0
    )
    assert read_dataset(output).attrs["commit"] == "abc"
    # A file keeps its initial states, and gets what it lacks.
    shutil.rmtree(folder)
    more = release.released_grains(folder, "def", 3, release._held(output))["/bed"]
    direct = grains.grains(experiment, ["spiral_leapfrog"])
    assert [path.stem for path in (folder / "bed").glob("*.nc")] == ["2"]
    assert set(more.variables) == set(groups["/bed"].variables) and more["lost"].dtype == groups["/bed"]["lost"].dtype
    for name in (*experiment.observables, "lost", "seed"):
        np.testing.assert_array_equal(more[name], direct[name])
    np.testing.assert_array_equal(more["kinetic"], direct["kinetic"])
    assert more.attrs["commit"] == "def" and more.attrs["cpu_seconds"] > groups["/bed"].attrs["cpu_seconds"]


class Report:
    """What the chapter reads of a run: its checks, and the released ones."""

    def __init__(self, released=None, **checks):
        self.checks, self.problem, self._analysed, self.from_release = checks, "", {}, set()
        self.released = {f"/{name}": data for name, data in (released or {}).items()}

    def groups(self, kind, released):
        return self.released

    def check(self, name):
        if name not in self.checks:
            raise NotInRun(f"no {name}")
        return self.checks[name]


def made_up(changes, seeds=6):
    """Two methods and a law, whose height has these changes in units of the scatter over seeds, by step."""
    scatter = np.linspace(-1, 1, seeds) / np.linspace(-1, 1, seeds).std(ddof=1)
    wobble = 0.01 * np.resize([1.0, -1.0], seeds)
    row = np.array([scatter + change + (wobble if change else 0) for change in (*changes, 0.0)])
    over, names = ("variant", "division", "seed"), ("height", "contacts", "normal")
    divisions = [4, 10, 20, 40, 80][-len(row) :]
    values = {name: np.array([row if name == "height" else 0 * row + scatter] * 3) for name in names}
    data = xr.Dataset(
        {name: (over, numbers, {"units": "1"}) for name, numbers in values.items()},
        {"variant": ["spiral_leapfrog", "no_squish", "viscoelastic"], "division": divisions, "seed": range(seeds)},
    )
    lost = (over, np.zeros(data["height"].shape, int))
    return data.assign(label=("variant", ["SPIRAL", "NO_SQUISH", "viscoelastic"]), lost=lost).assign_coords(
        compared=("variant", ["method", "method", "law"])
    )


def verdicts(rows, quantity="height"):
    return (
        dict(zip(rows["steps_in_contact"], rows["verdict"], strict=True))
        if quantity is None
        else verdicts(rows[rows["quantity"] == quantity], None)
    )


def test_verdicts_compare_whole_intervals_with_the_scatter():
    data = made_up([3.0, 1.005, 0.5])
    assert analysis.scatter(data, "height") == pytest.approx(1.0)
    steps = analysis.chosen(analysis.frame_of(data), "step", "all")
    assert steps[(steps["steps_in_contact"] == 10) & (steps["quantity"] == "height")]["change"].item() == pytest.approx(3.0)
    assert verdicts(steps) == {10: "leaves the scatter of seeds", 20: "undecided", 40: "within"}
    assert analysis.verdict(-2.5, -1.5, 1.0) is Verdict.LEAVES
    assert analysis.verdict(np.nan, np.nan, 1.0) is Verdict.UNDECIDED
    assert numbers.safe(steps, ["height"], {Verdict.WITHIN}) == "$T/40$"
    assert numbers.safe(steps, ["height"], {Verdict.WITHIN, Verdict.UNDECIDED}) == "$T/20$"
    assert numbers.leaving(steps) == "height" and numbers.leaving(steps[steps["quantity"] != "height"]) == "none"


def test_all_intervals_of_a_kind_hold_together():
    """They are as wide as Bonferroni's inequality wants for so many comparisons."""
    data = made_up([0.5])
    rows = analysis.frame_of(data)
    # Three quantities; by step: both methods, and the law; two methods with two steps; the law with two steps.
    assert len(rows) == 3 * (2 + 4 + 2)
    row = rows[rows["quantity"] == "height"].iloc[0]
    half = stats.t.ppf(1 - 0.05 / (2 * 6), 5) * 0.01 * np.std([1, -1] * 3, ddof=1) / 6**0.5
    assert row["high"] - row["change"] == pytest.approx(half, rel=1e-6)


def test_the_interval_of_a_changed_curve_covers():
    """Of curves whose times go together it is Student's of one time; of others it covers more."""
    rng = np.random.Generator(np.random.PCG64(1))
    wave = 1.0 + np.sin(np.arange(7.0))
    together = rng.normal(size=(500, 5, 1)) * wave
    apart = rng.normal(size=(500, 5, 7)) * wave
    caught = [[analysis.size(9.0 * wave + each, 1) for each in changes] for changes in (together, apart)]
    true = 9.0 * np.sqrt(np.mean(wave**2))
    share, more = (np.mean([of.low <= true <= of.high for of in estimates]) for estimates in caught)
    assert share == pytest.approx(0.95, abs=0.025) and more > 0.99
    mean = analysis.mean(together[0, :, 0] / wave[0])
    assert caught[0][0].high - caught[0][0].value == pytest.approx((mean.high - mean.value) * true / 9.0)


def test_curves_are_compared_in_units_of_their_scatter():
    """A kinetic energy that is larger by twice its scatter at all times leaves it; a state without a curve is left out."""
    data = made_up([2.5, 0.0])
    time = np.array([0.0, 1.0, 2.0])
    scatter = np.array([0.0, 0.1, 1.0])  # all states begin alike
    kinetic = np.exp(-time + data["height"].values[..., None] * scatter)
    data["kinetic"] = (("variant", "division", "seed", "time"), kinetic)
    data["kinetic"][:, :, 3] = np.nan
    rows = analysis.chosen(analysis.frame_of(data), "step", "all")
    rows = rows[rows["quantity"] == "kinetic"].set_index("steps_in_contact")
    ratio = np.delete(data["height"].values[0, -1], 3).std(ddof=1)
    assert rows["change"][20] == pytest.approx(2.5 / ratio, abs=0.01) and rows["change"][40] == 0
    assert rows["verdict"].to_dict() == {20: "leaves the scatter of seeds", 40: "within"}


def test_a_method_and_a_law_that_leave_the_scatter_are_named():
    data = made_up([0.5, 0.5])
    data["contacts"] = data["contacts"].copy()
    data["contacts"][1, 0] += 9.0
    data["contacts"][2, 1] -= 5.0
    rows = analysis.frame_of(data)
    rows = rows[rows["verdict"] == Verdict.LEAVES]
    assert set(zip(rows["compared"], rows["variant"], rows["steps_in_contact"], rows["quantity"], strict=True)) == {
        ("step", "all", 20, "contacts"),
        ("method", "spiral_leapfrog", 20, "contacts"),
        ("method", "no_squish", 20, "contacts"),
        ("law", "viscoelastic", 40, "contacts"),
        ("step", "viscoelastic", 40, "contacts"),
    }


def test_a_lost_run_leaves_its_seed_out():
    data = made_up([0.5])
    data["height"][0, 0, 2] = np.nan
    data["lost"][2, 0] = -1
    rows = analysis.frame_of(data)
    assert analysis.chosen(rows, "step", "all")["change"].iloc[0] == pytest.approx(0.5, abs=0.01)
    assert analysis.chosen(rows, "step", "viscoelastic").empty and len(analysis.chosen(rows, "law")) == 3


def test_more_initial_states_win():
    few, many = made_up([0.5], 4), made_up([0.5], 6)
    for data in (few, many):  # the whole curve is of few of the released states
        data["kinetic"] = data["height"].expand_dims(time=[0.0, 1.0]) + (0.0 if data is few else np.nan)
    inputs = Report({"bed": many}, bed=few)
    assert analysis.data_of(inputs, "bed").sizes["seed"] == 6


def test_stiffnesses_compare_at_equal_parts_of_the_contact():
    data = made_up([0.5, 0.25])
    data = data.assign_coords(compared=("variant", ["method", "stiffness", "stiffness"]))
    data["height"][1] *= 2
    rows = analysis.chosen(analysis.frame_of(data), "scaling")
    heights = rows[rows["quantity"] == "height"].set_index(["variant", "steps_in_contact"])["change"]
    assert heights["no_squish", 20] == pytest.approx(0.5, abs=0.01) and heights["viscoelastic", 20] == pytest.approx(0)


@pytest.mark.thorough
def test_the_table_and_the_numbers_of_a_small_bed(small):
    inputs = Report(bed=small)
    frame, text = rendering.table("grains", inputs)
    # By step over all methods; each method against the other; the law with one step: 8 things, 2 methods, 2 steps.
    assert len(frame) == 8 * (1 + 4 + 1) and set(frame["verdict"]) <= set(map(str, Verdict))
    assert "T/5" in text and "scatter" in text
    made = numbers.grains(inputs)
    section = (Path(__file__).parents[1] / chapters.FOLDER / "grains" / "text.tex").read_text()
    assert {name for name in re.findall(r"\\(studyGrainsBed[A-Za-z]+)", section)} <= set(made)
    values = [made[f"studyGrainsBed{name}"] for name in ("Runs", "LostWith", "Finest")]
    assert values == ["10", "none", "20"]
    assert made["studyGrainsBedContactTime"] == r"\num{0.575}"  # 2.87 (m^2/(R E*^2 v))^(1/5)
