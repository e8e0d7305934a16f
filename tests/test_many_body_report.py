"""What the report shows of many bodies: statistics over initial states, figures, pictures, numbers, the released result."""

import gc
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from data_files import inputs_in, invented, of_methods
from PIL import Image
from studies import study as default_study

import polhode
from polhode import cli, manybody
from polhode.fits import seed_statistics
from polhode.fits.many_body_times import TARGET, many_body_times
from polhode.interface.netcdf import read_dataset
from polhode.interface.storage import write_groups
from polhode.manybody import pictures
from polhode.manybody.simulation import run
from polhode.methods.lab_frame import in_lab
from polhode_study import chapters
from polhode_study.chapters import rendering
from polhode_study.chapters.many_body import figures as drawn
from polhode_study.chapters.many_body import frames as many_body
from polhode_study.chapters.many_body import measures as many_body_claims
from polhode_study.chapters.many_body import numbers
from polhode_study.chapters.times import measures as cost_claims
from polhode_study.chapters.times import numbers as time_numbers
from polhode_study.cli import animate as animation
from polhode_study.cli import release
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.judge import verdicts as claims
from polhode_study.products import Products
from polhode_study.report import drawing, latex
from polhode_study.run import scene_timing
from polhode_study.run.scene_timing import many_body_timing

HOME = Path(__file__).parents[1]
METHODS = [
    "spiral_leapfrog",
    "omelyan1998",
    "fincham1992",
    "fincham1992_delvalle2024",
    "no_squish",
    "spiral_synchronous",
    "pcdm2016",
    "verlet",
    "buss2000",
]
DT = np.array([3.1e-7, 1.22e-6, 4.85e-6, 1.93e-5])
SEEDS = 8
#: How many times the error of SPIRAL each method has from the same state.
FACTORS = np.array([1.0, 1.1, 1.2, 20.0, 0.5, 3.0, 6.0, 1.3, 1.4])


def scene(spin: float, blown: bool = False) -> xr.Dataset:
    """Invented errors: SPIRAL's mean is the published level at 4.85e-6 s, and grows with the square of the step."""
    states = np.exp(np.linspace(-1, 1, SEEDS))
    states /= states.mean()
    errors = TARGET * FACTORS[:, None, None] * (DT / 4.85e-6)[None, :, None] ** 2 * states
    if blown:
        errors[3, -1, 2] = np.nan
    attrs = {name: getattr(manybody.scenes["rods"], name) for name in ("box", "speed", "rayleigh_step", "solid_fraction")}
    return invented(
        "many_body.nc/SCENE",
        {"integrator": METHODS, "dt": DT, "seed": np.arange(SEEDS)},
        {**attrs, "scene": "chess", "spin": spin, "horizon": 1.5, "samples": 150, "clumps": 32, "spheres": 3300}
        | {"contact_time": 1.2e-4, "rayleigh_step": 3e-6},
        **of_methods(METHODS, "label", "variant_of"),
        energy_error=errors,
        energy_error_mean=errors / 80,
        energy_drift=errors / 100,
        diverged=np.isnan(errors).astype("int8"),
        diverged_at=np.where(np.isnan(errors), 0.7, np.nan),
    )


def rods() -> xr.Dataset:
    """Invented runs along time: the variant as published loses the spin after 5 s, synchronous SPIRAL blows up after 6 s."""
    time = np.linspace(0, 10, 101)
    data = scene(4.0).isel(dt=[2], seed=[0]).assign_coords(time=time)
    growth = np.array([0.0, 0.0, 1e-9, 0.8, 0.0, 0.0, 0.0, 0.0, 0.0])
    data["energy_change"] = (("integrator", "seed", "time"), 1e-5 * FACTORS[:, None, None] * np.sin(7 * time) ** 2)
    data["axial_spin_change"] = (("integrator", "seed", "time"), growth[:, None, None] * time)
    unstable = data["integrator"] == "spiral_synchronous"
    for name in ("energy_change", "axial_spin_change"):
        data[name] = data[name].where(~unstable | (data["time"] < 6.0))
    data["diverged_at"] = data["diverged_at"].where(~unstable, 6.0)
    data.attrs["scene"] = "rods"
    return data


def boxes(half: bool = False) -> xr.Dataset:
    """Eight boxes of rods: of the variant as published the energy doubles after 4 s, with half the step after 8 s."""
    many = xr.concat([rods().assign_coords(seed=[seed]) for seed in range(SEEDS)], "seed")
    lately = 1 + 0.05 * np.arange(SEEDS)[:, None]
    growth = (many["time"].values[None, :] / lately / (8 if half else 4)) ** 2
    many["energy_change"].loc[{"integrator": METHODS[3]}] = growth
    many["energy_change"].loc[{"integrator": "omelyan1998"}] *= lately
    many.attrs["horizon"] = 10.0
    if half:
        return many.sel(integrator=METHODS[3:4]).assign_coords(dt=many["dt"].values / 2)
    return many


def timing() -> xr.Dataset:
    values = np.linspace(0.3, 0.78, len(METHODS))
    fastest = np.stack([values, values / 2])
    samples = fastest[..., None] * np.linspace(1, 2, 7)
    axes, label = {"scene": ["chess", "rods"], "integrator": METHODS}, of_methods(METHODS, "label")
    return invented("cost.nc/many_body", axes, **label, fastest=fastest, samples=samples)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run's many_body.nc, cost.nc and films, and a released result."""
    folder = tmp_path_factory.mktemp("run")
    groups = {"chess": scene(np.pi, blown=True), "chess_no_spin": scene(0.0), "rods": rods()}
    configuration = {"many_body": {"chess": {"seeds": SEEDS}}}
    write_groups({"/": xr.Dataset(attrs={"configuration": json.dumps(configuration)}), **groups}, folder / "many_body.nc")
    (folder / "provenance.json").write_text(
        json.dumps(
            {
                "configuration": configuration,
                "commit": "a" * 40,
                "dirty": False,
                "processor": "a processor",
                "cores": 2,
                "versions": {"numba": "1.2"},
            }
        )
    )
    logs = folder / "logs" / "many_body" / "chess"
    for method in METHODS:
        (logs / method).mkdir(parents=True)
        for dt in DT:
            seconds = 900.0 if (method, dt) == ("omelyan1998", 4.85e-6) else 0.0
            lines = [f"seed {seed}: 9 steps, 1.000 us a step, {seconds:.3f} s" for seed in range(SEEDS)]
            lines += ["wall_seconds 12.000000", f"cpu_seconds {SEEDS * seconds:.6f}"]
            (logs / method / f"{dt}.log").write_text("\n".join(lines) + "\n")
    more = {"/rods_states": boxes(), "/rods_half_step": boxes(half=True)}
    write_groups({**release.released(folder, "2030-01-02"), **more}, folder / "released" / "many_body.nc")
    # The run at hand finds three times the errors, from three states.
    few = {name: data.isel(seed=slice(3)) for name, data in groups.items()}
    for name in ("chess", "chess_no_spin"):
        few[name] = few[name].assign({v: 3 * few[name][v] for v in ("energy_error", "energy_error_mean")})
        few[name]["energy_error_mean"][1:] *= 2
    write_groups({"/": xr.Dataset(), **few}, folder / "run.nc")
    times = many_body_times(timing(), few)
    write_groups({"/": xr.Dataset(), "many_body": timing(), "many_body_times": times}, folder / "cost.nc")
    return folder


@pytest.fixture(scope="module")
def inputs(folder):
    places = {"many_body": "run.nc", "cost": "cost.nc", "released": "released", "films": "films"}
    return inputs_in(folder, **{kind: folder / name for kind, name in places.items()})


# Statistics


def test_the_interval_of_a_mean_is_that_of_student():
    values = np.random.default_rng(1).lognormal(size=40)
    mean = seed_statistics.mean(values)
    half = 2.0226909 * values.std(ddof=1) / np.sqrt(40)  # the quantile for 39 degrees of freedom, from a table
    assert (mean.value, mean.low, mean.high) == pytest.approx((values.mean(), values.mean() - half, values.mean() + half))
    assert np.isnan(mean.coverage), "nothing is known of it without the distribution"


@pytest.mark.parametrize(
    ("n", "k", "coverage"),
    [
        (2, 1, 0.5),
        (5, 1, 0.9375),
        (6, 1, 0.96875),
        (8, 1, 0.9921875),
        (9, 2, 0.9609375),
        (30, 10, 0.957226),
        (50, 18, 0.967161),
    ],
)
def test_ranks_of_the_interval_of_a_median(n, k, coverage):
    """Those of the sign test, as tables of nonparametric intervals have them; from five values none covers 95 %."""
    assert seed_statistics.ranks(n) == (k, pytest.approx(coverage, abs=1e-6))


def test_the_interval_of_a_median_covers_what_it_says():
    rng = np.random.default_rng(2)
    for n, draw, true in ((5, rng.lognormal, 1.0), (50, rng.standard_exponential, np.log(2))):
        medians = [seed_statistics.median(draw(size=n)) for _ in range(4000)]
        held = np.mean([f.low <= true <= f.high for f in medians])
        assert held == pytest.approx(medians[0].coverage, abs=4 * np.sqrt(0.06 * 0.94 / 4000))


def test_a_median_lies_in_its_interval_even_where_runs_blew_up():
    median = seed_statistics.median(np.array([3.0, np.inf, 1.0, np.inf, 2.0]))
    assert (median.value, median.low, median.high) == (3.0, 1.0, np.inf)


def test_the_coverage_of_a_mean_is_counted():
    """Of a normal distribution it is what Student says, of a skewed one less, the fewer values the less; always the same."""
    rng = np.random.default_rng(3)
    normal, skewed = rng.normal(size=4000), rng.lognormal(sigma=1.5, size=4000)
    assert seed_statistics.coverage_of_mean(normal, 5) == pytest.approx(0.95, abs=0.02)
    few, many = (seed_statistics.coverage_of_mean(skewed, n) for n in (5, 50))
    assert few < many - 0.02 < 0.93 and few == seed_statistics.coverage_of_mean(skewed, 5)
    assert np.isnan(seed_statistics.coverage_of_mean(normal, 1)) and np.isnan(
        seed_statistics.coverage_of_mean(np.array([1, np.inf]), 5)
    )


def test_a_jackknife_of_a_mean_is_the_interval_of_the_mean():
    values = np.random.default_rng(4).uniform(9, 11, size=30)
    jackknife, known = seed_statistics.jackknife(lambda states: float(values[states].mean()), 30), seed_statistics.mean(values)
    assert (jackknife.value, jackknife.low, jackknife.high) == pytest.approx((known.value, known.low, known.high), rel=1e-3)


@pytest.mark.parametrize("statistic", [seed_statistics.mean, seed_statistics.median])
def test_one_initial_state_has_no_interval(statistic):
    estimate = statistic(np.array([2.0]))
    assert estimate.value == 2.0 and np.isnan([estimate.low, estimate.high, estimate.coverage]).all()
    assert np.isnan(seed_statistics.jackknife(lambda states: 2.0, 1).low)


def test_a_run_that_blew_up_spoils_the_mean_and_not_the_median():
    data = scene(0.0, blown=True)
    assert seed_statistics.mean_error(data, METHODS[3], 3).value == np.inf
    assert np.isfinite(seed_statistics.median_error(data, METHODS[3], 3).value)


def test_pairs_take_out_the_scatter_of_the_states():
    data = scene(0.0)
    ratio = seed_statistics.ratio_of_means(data, "omelyan1998", 1, "spiral_leapfrog")
    assert [ratio.value, ratio.low, ratio.high] == pytest.approx([1.1] * 3)
    apart = seed_statistics.mean_error(data, "omelyan1998", 1)
    assert apart.high / apart.low > 1.5


def test_ratios_are_of_means_not_means_of_ratios():
    data = scene(0.0)
    ours, theirs = (data["energy_error_mean"].sel(integrator=key).isel(dt=1).values for key in METHODS[:2])
    data["energy_error_mean"].loc[{"integrator": METHODS[1]}] = ours[::-1] ** 1.5 / ours.mean() ** 0.5
    theirs = data["energy_error_mean"].sel(integrator=METHODS[1]).isel(dt=1).values
    ratio = seed_statistics.ratio_of_means(data, METHODS[1], 1, METHODS[0])
    assert ratio.value == pytest.approx(theirs.mean() / ours.mean()) and ratio.low < ratio.value < ratio.high
    assert abs(np.median(theirs / ours) / ratio.value - 1) > 0.05 < abs(np.mean(theirs / ours) / ratio.value - 1)
    # Two tables that print the means give their ratio.
    means = [data["energy_error_mean"].sel(integrator=key).isel(dt=1).mean() for key in METHODS[:2]]
    assert float(means[1] / means[0]) == pytest.approx(ratio.value)


def test_pairs_over_all_steps_are_geometric_means_over_the_steps():
    data = scene(0.0)
    data["energy_error_mean"][1, :2] *= 4.0
    ratio = seed_statistics.ratio_over_steps(data, "omelyan1998", "spiral_leapfrog")
    assert [ratio.value, ratio.low, ratio.high] == pytest.approx([2.2] * 3)
    data["energy_error_mean"][1, 0, 0], data["diverged"][1, 0, 0] = np.nan, 1
    ratio = seed_statistics.ratio_over_steps(data, "omelyan1998", "spiral_leapfrog")
    assert ratio.value == pytest.approx(1.1 * 4 ** (1 / 3)), "without the step at which a run blew up"


def test_intervals_of_ratios_cover_as_often_as_is_said():
    rng = np.random.default_rng(5)
    common = rng.lognormal(sigma=0.6, size=30)
    ours, theirs = (common * rng.lognormal(sigma=0.8, size=30) for _ in range(2))
    said = seed_statistics.coverage_of_ratio(ours, theirs)
    whole, covered = ours.mean() / theirs.mean(), 0
    for _ in range(400):
        drawn = rng.integers(30, size=30)
        ratio = seed_statistics.ratio(ours[drawn], theirs[drawn])
        covered += ratio.low <= whole <= ratio.high
    assert 0.85 < said < 0.97 and covered / 400 == pytest.approx(said, abs=0.04)
    assert np.isnan(seed_statistics.coverage_of_ratio(np.where(common > 1, np.inf, 1.0), theirs))


def test_ratios_take_out_the_scatter_of_the_states():
    data = scene(0.0)
    ratio = seed_statistics.ratio_of_steps(data, METHODS[0], METHODS[4], TARGET)
    assert [ratio.value, ratio.low, ratio.high] == pytest.approx([np.sqrt(0.5)] * 3)
    ratio = seed_statistics.ratio_of_means(data, METHODS[3], 0, METHODS[0], 1)
    assert [ratio.value, ratio.low, ratio.high] == pytest.approx([20.0 * (DT[0] / DT[1]) ** 2] * 3), "at two steps"
    data["energy_error_mean"][3, 0] = data["energy_error_mean"][3, 0].values[::-1]
    apart = seed_statistics.ratio_of_means(data, METHODS[3], 0, METHODS[0])
    assert apart.value == pytest.approx(20.0) and apart.high > 1.5 * apart.value > apart.value > 1.5 * apart.low


def test_pairs_do_not_compare_what_is_small_by_accident():
    data = scene(0.0)
    data["energy_error"][1] *= 1e-6
    assert seed_statistics.ratio_of_means(data, "omelyan1998", 1, "spiral_leapfrog").value == pytest.approx(1.1)


def test_pairs_without_an_end_are_counted_against_who_blew_up():
    data = scene(0.0)
    data["energy_error_mean"][3, 0, 2] = np.nan
    ratio = seed_statistics.ratio_of_means(data, METHODS[3], 0, METHODS[0])
    assert ratio.value == np.inf and np.isnan(ratio.low)
    data["energy_error_mean"][0, 1, :] = np.nan
    data["diverged"][0, 1, :] = 1
    assert seed_statistics.ratio_of_means(data, METHODS[3], 1, METHODS[0]).value == 0.0


def test_methods_of_few_steps_have_no_curve():
    data = scene(0.0)
    data["energy_error_mean"][5, :2], data["energy_error_mean"][6, 0] = np.nan, np.nan
    assert seed_statistics.followed(data) == [key for key in METHODS if key != METHODS[5]]
    assert many_body.common_rows(data) == [2, 3]


def test_the_step_at_a_level_is_where_the_mean_curve_meets_it():
    data = scene(0.0)
    for key, factor in zip(METHODS, FACTORS, strict=True):
        expected = 4.85e-6 / np.sqrt(factor)
        assert seed_statistics.step_for(data, key, TARGET) == pytest.approx(expected, rel=1e-6)
    assert np.isnan(seed_statistics.step_for(data, METHODS[0], 1e-9))
    # Above the level at first, below it, above again: no step is known up to which the error stays below.
    dips = scene(0.0)
    dips["energy_error"][0, 0] = 1.0
    assert np.isnan(seed_statistics.step_for(dips, METHODS[0], TARGET))
    # Where a run blew up the curve ends: a line across the gap would be a guess.
    data["energy_error"][0, 2, 1] = np.nan
    assert seed_statistics.step_for(data, METHODS[0], TARGET) == data["dt"].values[1]


def test_time_to_the_level_is_steps_times_time_of_a_step():
    times = many_body_times(timing(), {"chess": scene(np.pi), "other": scene(0.0).assign_attrs(scene="unknown")})
    time = times.sel(case="chess", integrator="omelyan1998")
    assert float(time["steps"]) == np.floor(1.5 / float(time["dt"]))
    assert float(time["cpu"]) == pytest.approx(float(time["steps"]) * 0.36e-6)
    assert np.isnan(times["cpu"].sel({"case": "other"})).all()


@pytest.mark.thorough
def test_what_is_compiled_beforehand_is_found(tmp_path, monkeypatch):
    """In two processes: the forms of a method, what it needs for systems, the loads. An error there is an error here."""
    monkeypatch.setattr(scene_timing, "processors_here", lambda: 2)
    # The folder of the other tests has all this already, and so may this process.
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path))
    euler, top, system = polhode.methods["euler"], polhode.problems["heavy_top"], polhode.problems["coupled_cylinders"]
    for held in (euler, top, system):
        for name in ("drivers", "compiled_torque", "compiled_loads"):
            vars(held).pop(name, None)
    assert not euler.is_kept()
    scene_timing.compile_beforehand([euler], [top, system], [])
    assert euler.is_kept(systems=True) and in_lab(euler).is_kept()
    assert top.is_kept() and system.is_kept()
    with pytest.raises(KeyError, match="nobody"):
        scene_timing.compile_beforehand([replace(euler, key="nobody")], [], [])


def test_one_processor_compiles_everything_itself(monkeypatch):
    done = []
    monkeypatch.setattr(scene_timing, "processors_here", lambda: 1)
    monkeypatch.setattr(scene_timing, "_compile_forms", lambda *task: done.append(task))
    monkeypatch.setattr(scene_timing, "_compile_load", lambda *task: done.append(task))
    monkeypatch.setattr(scene_timing, "_first_steps", lambda *task: done.append(task))
    monkeypatch.setattr(scene_timing, "_compile_parts", lambda *task: done.append(task))
    euler, rk4, verlet = (polhode.methods[key] for key in ("euler", "rk4", "verlet"))
    scene_timing.compile_beforehand([euler, rk4], [polhode.problems["heavy_top"]], [euler, verlet])
    forms = [("euler", False, ["body", "lab"]), ("rk4", False, ["body", "lab"])]
    assert done == [*forms, ("heavy_top",), (["euler"],), ("verlet",)]
    done.clear()
    scene_timing.compile_beforehand([euler, rk4], [], [], {"body": ["rk4"], "lab": []})
    assert done == [("euler", False, ["body", "lab"]), ("rk4", False, ["body"]), ([],)], "the unit is timed in any case"
    done.clear()
    system = polhode.problems["coupled_cylinders"]
    scene_timing.compile_beforehand([euler, rk4], [system], [], {"body": ["rk4"], "lab": []}, of_systems=["euler"])
    assert [task[:2] for task in done[:2]] == [("euler", True), ("rk4", False)], "only what runs systems"


def test_times_of_a_step_that_are_released_are_in_proportion():
    """Times of the run are twice the times of the release, in the median over what both have timed."""

    def steps(times: dict[str, list[float]], scenes: list[str]) -> xr.Dataset:
        values, axes = np.array(list(times.values())).T, {"scene": scenes, "integrator": list(times)}
        of_step = {"fastest": values, "median": 1.5 * values, "samples": np.repeat(values[..., None], 2, axis=-1)}
        return invented(
            "cost.nc/many_body", axes, {"rounds": 2}, **of_step, label=[f"the method {key}" for key in times], dt=1.0
        )

    here = steps({"a": [2.0], "b": [4.0], "c": [9.0]}, ["chess"])
    there = steps({"a": [3.0, 1.0], "b": [7.0, 2.0], "d": [11.0, 5.0], "c": [13.0, 3.0]}, ["rods", "chess"])
    whole = scene_timing.with_released_steps(here, there, ["a", "d", "b", "c", "nobody"])
    assert whole["integrator"].values.tolist() == ["a", "d", "b", "c"] and whole.attrs == {"rounds": 2, "released": "d"}
    assert whole["fastest"].values.tolist() == [[2.0, 10.0, 4.0, 9.0]]
    assert whole["median"].values.tolist() == [[3.0, 15.0, 6.0, 13.5]]
    assert np.isnan(whole["samples"].sel(integrator="d")).all(), "no sample of this run"
    assert whole["label"].values.tolist() == [f"the method {key}" for key in "adbc"]
    assert scene_timing.with_released_steps(here, there, ["a", "b", "c"]) is here


@pytest.mark.thorough
def test_the_engine_is_timed_inside_its_runs():
    """Two looks at the clock a sample, behind the set-up: 6, 2 and 4 s for four steps."""
    ticks = iter(np.cumsum([0.0, 6.0, 50.0, 2.0, 50.0, 4.0]))
    timed = many_body_timing([polhode.methods["spiral_leapfrog"]], ["rods"], 3, used=lambda: next(ticks), steps=4)
    assert timed["samples"].values.ravel() == pytest.approx([1.5e6, 0.5e6, 1e6])
    assert timed["fastest"].values == pytest.approx(0.5e6) and timed["median"].values == pytest.approx(1e6)


@pytest.mark.thorough
def test_no_garbage_is_collected_while_the_engine_is_timed():
    ticks, collects = iter(range(100)), []

    def clock() -> float:
        collects.append(gc.isenabled())
        return float(next(ticks))

    many_body_timing([polhode.methods["spiral_leapfrog"]], ["rods"], 2, used=clock, steps=4)
    assert len(collects) == 4 and not any(collects) and gc.isenabled()


@pytest.mark.thorough
def test_a_clock_that_fails_gives_no_time():
    """One that stands still or goes back. The table then has a dash."""
    for second in (0.0, -1.0):
        ticks = iter(np.cumsum([0.0, 5.0, 0.0, second]))
        timed = many_body_timing([polhode.methods["spiral_leapfrog"]], ["rods"], 2, used=lambda t=ticks: next(t), steps=4)
        assert np.isnan(timed["samples"]).all() and np.isnan(timed["fastest"]).all()
        assert latex.decimal(float(timed["fastest"][0, 0]), 2) == latex.NOT_AVAILABLE


@pytest.mark.thorough
def test_a_run_that_blows_up_gives_no_time(monkeypatch):
    """It ends after a few steps: less time than its set-up, and a negative time for a step once."""
    spiral = polhode.methods["spiral_leapfrog"]
    ends = []

    def spun(scene, method, dt, state, *arguments, **options):
        """The run, of one of the two from a spin without bounds."""
        omega = state.omega * (1e300 if method.key == "broken" else 1.0)
        outcome = run(scene, method, dt, manybody.State(state.r, state.v, state.q, omega), *arguments, **options)
        ends.append((method.key, outcome["diverged"] >= 0))
        return outcome

    monkeypatch.setattr(scene_timing, "run", spun)
    timed = many_body_timing([spiral, replace(spiral, key="broken")], ["rods"], 2, steps=40)
    assert set(ends) == {("spiral_leapfrog", False), ("broken", True)}
    for name in ("samples", "fastest"):
        assert (
            timed[name].isel(scene=0, integrator=0).notnull().all() and timed[name].isel(scene=0, integrator=1).isnull().all()
        )


# Figures, tables, numbers


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["many_body_energy", "rods_energy"])
def test_figures_are_drawn(name, inputs, tmp_path):
    rendering.render_figure(name, inputs, tmp_path)
    assert (tmp_path / f"{name}.png").stat().st_size > 20000


@pytest.mark.parametrize("name", chapters.all_chapters()["many_body"].figures)
def test_a_run_without_many_bodies_says_so(name, tmp_path):
    with pytest.raises(NotInRun):
        rendering.figure(name, Inputs("", published=HOME / "data" / "published"))
    rendering.render_figure(name, Inputs(""), tmp_path)
    assert (tmp_path / f"{name}.pdf").is_file()


def test_the_energy_figure_shows_the_points_of_the_publication(inputs):
    """Scaled as the errors are: at 4.85e-6 s they are the error itself."""
    figure = drawn.many_body_energy(inputs)
    squares = [line for line in figure.axes[0].lines if line.get_marker() == "s" and line.get_color() == "none"]
    points = {(float(x), float(y)) for line in squares for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)}
    assert {x for x, _ in points} == {4.85e-6, 3.1e-7}
    assert sorted(y for _, y in points) == pytest.approx([0.0068, 0.0068 * (4.85e-6 / 3.1e-7) ** 2.5])
    labels = {text.get_text() for text in figure.axes[0].texts}
    assert {"Rayleigh step", "contact time"} <= labels


def curves(axes, value):
    """The lines through this value, to six digits."""
    return [line for line in axes.lines if np.isclose(np.asarray(line.get_ydata(), float), value, rtol=1e-6).any()]


def at_the_steps(axes):
    """All curves of methods: none is shifted along the axis of the step."""
    shown = [line for line in axes.lines if len(line.get_xdata()) == len(DT)]
    assert shown and all(np.array_equal(line.get_xdata(), DT) for line in shown)
    bars = np.concatenate([c.get_segments() for c in axes.collections if hasattr(c, "get_segments") and len(c.get_segments())])
    assert np.isin(bars[:, :, 0], DT).all()
    return bars


def test_the_energy_figure_has_means_of_study_and_run(inputs):
    for axes, case in zip(drawn.many_body_energy(inputs).axes, ("chess", "chess_no_spin"), strict=True):
        level = TARGET * FACTORS[4]  # of NO_SQUISH at 4.85e-6 s, which the level of the publication does not cover
        (full,) = curves(axes, level)
        assert full.get_ydata() == pytest.approx(level * (DT / 4.85e-6) ** -0.5)
        run = inputs.many_body(case)["energy_error"].sel(integrator="no_squish").isel(dt=2).values
        (check,) = curves(axes, run.mean())
        assert check.get_marker() == "x" and check.get_linestyle() == "None" and full.get_linestyle() == "-"
        mean = seed_statistics.mean_error(inputs.released_many_body(case), "no_squish", 2)
        assert (np.isclose(at_the_steps(axes)[:, :, 1], [mean.low, mean.high], rtol=1e-9).all(axis=1)).any()


def test_figures_of_the_full_study_are_made_from_released_data(folder):
    """A run without many bodies shows them, too; and a run whose code brought none shows what it has."""
    published = HOME / "data" / "published"
    for alone in (
        Inputs("", released=folder / "released", published=published),
        Inputs("", many_body=folder / "run.nc", published=published),
    ):
        for name in ("many_body_energy", "rods_energy"):
            assert len(rendering.figure(name, alone).axes) >= 2


def test_each_piece_is_shown_with_its_own_spheres(monkeypatch):
    film = {"labels": "one,two", "sphere_kind": np.array([0, 1, 1]), "centre": np.eye(3), "radius": np.array([1.0, 2.0, 3.0])}
    shown = []
    monkeypatch.setattr(pictures, "draw_row", lambda axes, clumps: shown.extend(clumps))
    drawn.many_body_pieces(SimpleNamespace(film=lambda scene: film))
    assert [(name, len(centres), radii.tolist()) for name, centres, radii in shown] == [
        ("one", 1, [1.0]),
        ("two", 2, [2.0, 3.0]),
    ]


def test_an_oscillation_is_drawn_as_its_height():
    values = np.array([1.0, 3.0, 2.0, 4.0, 5.0, 4.0, 7.0, 1.0, np.nan])
    heights = drawn.peaks(values, np.array([0, 2, 5, 7, 8]))
    np.testing.assert_array_equal(heights, [1.0, 3.0, 5.0, 7.0, np.nan])


def test_what_stays_zero_lies_on_a_line_that_says_zero(inputs):
    axes = drawn.rods_energy(inputs).axes[1]
    assert axes.get_yticklabels()[0].get_text() == "0"
    assert len(curves(axes, axes.get_ylim()[0])) >= 5


def test_tables_of_many_bodies(inputs):
    frame, text = rendering.table("many_body", inputs)
    runs = 2 * len(METHODS) * len(DT) + len(METHODS)
    assert frame.groupby("study").size().to_dict() == {"released": runs + len(METHODS) + 1, "this run": runs}
    full = frame[frame.study == "released"]
    row = full[(full.scene == "chess") & (full.method == METHODS[3]) & (full.dt == DT[-1])].iloc[0]
    assert row["diverged"] == 1 and row["mean"] == np.inf and row["coverage_of_medians"] == seed_statistics.ranks(SEEDS)[1]
    assert text.count("\\\\\n") == 2 + len(METHODS)
    assert r"spin $\pi$ rad/s" in text and "no spin" in text and "& 3 states &" in text
    (printed,) = [line for line in text.splitlines() if line.startswith("NO\\_SQUISH")]
    states = inputs.released_many_body("chess")["energy_error"].sel(integrator="no_squish").isel(dt=2).values
    run = inputs.many_body("chess")["energy_error"].sel(integrator="no_squish").isel(dt=2).values
    estimate = seed_statistics.mean(states)
    cells = [[float(x) for x in re.findall(r"[\d.]+(?:e-\d+)?", cell)] for cell in printed.split("&")[1:]]
    mean = [states.mean(), estimate.low, estimate.high]
    expected = [mean, [run.mean()], [0.5] * 3, [4.85e-6 * np.sqrt(2)], mean, [0.5] * 3]
    for cell, values in zip(cells, expected, strict=True):
        assert cell == pytest.approx(values, rel=0.03)
    frame, _ = rendering.table("many_body_cost", inputs)
    row = frame[(frame.scene == "chess") & (frame.method == "omelyan1998")].iloc[0]
    # The step at the level is that of the full study: this run, with three times the errors, would have a smaller one.
    assert row["dt"] == pytest.approx(4.85e-6 / np.sqrt(1.1), rel=1e-6)
    assert [row["step_time_us"], row["published_dt"], row["published_cpu_s"]] == pytest.approx([0.36, 4.85e-6, 23], rel=0.05)
    row = frame[(frame.scene == "chess") & (frame.method == "spiral_leapfrog")].iloc[0]
    assert row["published_cpu_s"] == 19 and row["dt"] == pytest.approx(4.85e-6, rel=1e-6)


@pytest.mark.thorough
def test_a_scene_of_ones_own_is_in_the_figures_and_tables(folder, tmp_path, monkeypatch):
    """Beside those of the publications, without their points; and alone, where no others came with the code."""
    dumb_bells, name = scene(2.0), drawing.printable("dumb_bells")
    dumb_bells.attrs["scene"] = "dumb_bells"
    groups = {"/": xr.Dataset(), "dumb_bells": dumb_bells}
    write_groups({**groups, "chess": scene(np.pi), "rods": rods()}, tmp_path / "run.nc")
    write_groups(groups, tmp_path / "alone.nc")
    times = timing().assign_coords(scene=["dumb_bells", "chess"])
    write_groups({"/": xr.Dataset(), "many_body": times}, tmp_path / "cost.nc")
    published = HOME / "data" / "published"
    places = {"many_body": tmp_path / "run.nc", "cost": tmp_path / "cost.nc", "released": folder / "released"}
    run = inputs_in(tmp_path, **places, films=tmp_path)
    figure = drawn.many_body_energy(run)
    titles = {axes.get_title(loc="left"): axes for axes in figure.axes if axes.axison}
    assert [title[:3] for title in titles] == ["(a)", "(b)", "(c)"]
    last = titles[f"(c) {name}"]
    assert curves(last, TARGET * FACTORS[4]), "the means of NO_SQUISH"
    assert not [line for line in last.lines if line.get_marker() == "s" and line.get_color() == "none"]
    alone = drawn.many_body_energy(Inputs("", many_body=tmp_path / "alone.nc", published=published))
    assert [axes.get_title(loc="left") for axes in alone.axes] == [f"(a) {name}"]
    rendering.render_figure("many_body_energy", run, tmp_path)
    frame, _ = rendering.table("many_body", run)
    assert set(frame[frame.study == "this run"].scene) == {"chess", "rods", "dumb_bells"}

    def films(self, key):
        if key == "rods":
            raise NotInRun(key)
        return {"time": np.array([0.0, 0.5, 1.0]), "box": 0.5}

    monkeypatch.setattr(Inputs, "film", films)
    monkeypatch.setattr(drawn.pictures, "draw", lambda *arguments: None)
    monkeypatch.setattr(drawn.pictures, "view_of", lambda *arguments: None)
    titles = [axes.get_title(loc="left") for axes in drawn.many_body_scene(run).axes]
    assert titles == ["(a) chess, 0.5 s after the start", f"(b) {name}, 0.5 s after the start"]


def test_the_table_shows_the_published_step_or_none():
    """And what blew up as infinite; the spin is that of the data; what a run lacks is a dash."""
    data = {"chess": scene(10.0), "chess_no_spin": scene(0.0, blown=True)}
    data["chess"] = data["chess"].assign_coords(dt=DT * 1.1)
    data["chess_no_spin"] = data["chess_no_spin"].assign_coords(dt=DT * 4.85e-6 / DT[-1])

    def released(case: str) -> xr.Dataset:
        if case not in data:
            raise NotInRun(case)
        return data[case]

    def none(case: str) -> xr.Dataset:
        raise NotInRun(case)

    _, text = rendering.table(
        "many_body",
        SimpleNamespace(
            released_many_body=released,
            many_body=none,
            scenes=[],
            in_order=list,
            grouped=lambda keys: [("", list(keys))],
        ),
    )
    assert "spin 10 rad/s" in text and "this run" in text
    (row,) = [line for line in text.splitlines() if line.startswith(r"Fincham (as published)")]
    cells = row.replace(" ", "").split("&")
    assert cells[1:3] == ["--", "--"] and cells[5] == r"$\infty$"


def test_every_number_of_the_section_is_made(inputs, tmp_path):
    write_groups({"/": xr.Dataset(), "chess": scene(np.pi).isel(dt=[2, 3])}, tmp_path / "run.nc")
    text = (HOME / chapters.FOLDER / "many_body" / "text.tex").read_text()
    made = {*rendering.numbers("many_body", inputs), *time_numbers.times(inputs)}
    made |= {*numbers.every_method(Inputs("", many_body=tmp_path / "run.nc"))}
    used = set(re.findall(r"\\((?:study|cost)[A-Za-z]+)", text))
    assert used - made == set()


def written(made, name):
    (text,) = re.findall(r"[\d.]+(?:e-?\d+)?", made[name])
    return float(text)


def test_numbers_of_the_pieces_are_what_they_say(inputs):
    made = numbers.released(inputs) | time_numbers.times(inputs) | numbers.few(inputs)
    made |= numbers.published(inputs)
    data = inputs.released_many_body("chess")
    expected = {
        "studyFullChessContactSteps": 1.2e-4 / DT[-1],
        "studyFullChessDtOverRayleigh": DT[-1] / 3e-6,
        "studyFullChessRatioLeastOmelyan": 1.1,
        "studyFullChessOverallNoSquish": 0.5,
        "studyFullChessStepRatioFinchamPublished": np.sqrt(20),
        "studyFullChessOrderOmelyan": 2.0,
        "studyPublishedStepRatio": 15.645,
        # Steps to the level go with the root of the error, and its step takes 0.42 us, and SPIRAL's 0.3.
        "costCpuRatioChessFincham": 1.4 * np.sqrt(FACTORS[2]),
    }
    for name, value in expected.items():
        assert written(made, name) == pytest.approx(value, rel=0.06), name
    assert 80 < written(made, "studyFewMeanCoverage") <= written(made, "studyFullChessMeanCoverage") + 2 < 98
    # Where ratios scatter, the interval stands in its order.
    scattered = data.copy(deep=True)
    scattered["energy_error_mean"][1] *= np.exp(np.linspace(-1, 1, SEEDS))
    made = numbers._errors(scattered)
    assert written(made, "studyFullChessOverallLowOmelyan") < written(made, "studyFullChessOverallHighOmelyan")


def test_numbers_of_the_rods(inputs):
    macros = numbers.rods_released(inputs)
    assert macros["studyFullRodsBlown"] == "SPIRAL, synchronous"
    assert "SPIRAL" in macros["studyFullRodsExactSpin"] and "synchronous" not in macros["studyFullRodsExactSpin"]


def test_numbers_of_many_boxes_of_rods(inputs):
    made = numbers.rods_states(inputs)
    expected = {
        "studyStatesDelay": 2.0,
        "studyStatesDoubled": 4.7,
        "studyStatesDoubledHalf": 9.4,
        "studyStatesRise": 8.0,  # the spin of the invented runs grows evenly
        "studyStatesLostFinchamPublished": SEEDS,
        "studyStatesRatioOmelyan": 1.1 * 1.175,
    }
    for name, value in expected.items():
        assert written(made, name) == pytest.approx(value, rel=0.03), name


def test_a_run_says_whether_it_repeats_the_released_rods(folder, inputs):
    assert numbers.rods_repeated(inputs)["studyRodsRepeated"].startswith("repeats")
    other = rods()
    other["energy_change"][0, 0, -1] += 1e-9
    write_groups({"/": xr.Dataset(), "rods": other}, folder / "other.nc")
    made = numbers.rods_repeated(Inputs("", many_body=folder / "other.nc", released=folder / "released"))
    assert made["studyRodsRepeated"].startswith("differs")


def test_of_several_initial_states_of_rods_the_worst_counts():
    first = rods()
    other = first.copy(deep=True)
    other["energy_change"][1] = -3.0
    other["axial_spin_change"][0] += 0.5
    both = xr.concat([first, other.assign_coords(seed=[1])], "seed")
    macros = numbers.rods_released(SimpleNamespace(released_many_body=lambda scene: both))
    assert "SPIRAL," not in macros["studyFullRodsExactSpin"] and "Omelyan" in macros["studyFullRodsExactSpin"]
    (line,) = [
        line
        for line in drawn.rods_energy(SimpleNamespace(released_many_body=lambda scene: both)).axes[0].lines
        if line.get_ydata()[0] == pytest.approx(3.0)
    ]
    assert len(line.get_xdata()) > 50


def test_claims_about_many_bodies(inputs):
    """They are judged by the full study; what the run finds stands in words beside it."""
    measured = many_body_claims.energy_of_many(inputs, "chess", "spiral_leapfrog", 4.85e-6)
    assert measured.value == pytest.approx(TARGET) and measured.low < TARGET < measured.high
    run = float(inputs.many_body("chess")["energy_error"].sel(integrator="spiral_leapfrog").isel(dt=2).mean())
    assert (
        "8 initial states of the published-scale results" in measured.evidence
        and f"this run (3): {run:.2g}" in measured.evidence
    )
    measured = many_body_claims.energy_across_steps(
        inputs, "chess", "spiral_leapfrog", 4.85e-6, "fincham1992_delvalle2024", 1.22e-6
    )
    assert [measured.value, measured.low, measured.high] == pytest.approx([(4.85 / 1.22) ** 2 / 20] * 3)
    measured = many_body_claims.paired_energy(inputs, "chess", "no_squish", "spiral_leapfrog", 4.85e-6)
    assert [measured.value, measured.low, measured.high] == pytest.approx([0.5] * 3)
    measured = many_body_claims.energy_apart(inputs, "chess", "no_squish", "spiral_leapfrog")
    assert [measured.value, measured.low, measured.high] == pytest.approx(
        [2.0] * 3
    ) and "4 steps 0.50 to 0.50" in measured.evidence
    measured = many_body_claims.step_ratio_of_many(inputs, "chess", "spiral_leapfrog", "pcdm2016")
    assert measured.value == pytest.approx(np.sqrt(6))
    assert many_body_claims.axial_spin_of_rods(inputs, "fincham1992_delvalle2024").value == pytest.approx(8.0)
    measured = many_body_claims.energy_of_rods(inputs, "omelyan1998", "spiral_leapfrog")
    assert measured.value == pytest.approx(1.1 * 1.175) and 1.1 < measured.low < measured.value < measured.high < 1.1 * 1.35
    measured = many_body_claims.delay_of_rods(inputs, "fincham1992_delvalle2024", 1.0)
    assert measured.value == pytest.approx(2.0, abs=0.05) and measured.low > 1.9
    assert many_body_claims.rise_of_rods(inputs, "fincham1992_delvalle2024").value == pytest.approx(8.0)
    with pytest.raises(NotInRun, match="dt = 1e-06 s is not among the steps"):
        many_body_claims.energy_of_many(inputs, "chess", "spiral_leapfrog", 1e-6)
    with pytest.raises(NotInRun):
        many_body_claims.energy_of_many(Inputs("", many_body=inputs.paths["many_body"]), "chess", "spiral_leapfrog", 4.85e-6)


def test_a_run_with_fewer_methods_and_steps_is_judged_the_same(folder, inputs):
    """What the run at hand does not hold is left out of the words; the verdict rests on the released study anyway."""
    less = inputs.many_body("chess").sel(integrator=["spiral_leapfrog"]).isel(dt=[0], seed=[0])
    write_groups({"/": xr.Dataset(), "chess": less}, folder / "less.nc")
    few = Inputs("", many_body=folder / "less.nc", released=folder / "released")
    for measure, arguments in (
        ("energy_of_many", ("chess", "no_squish", 4.85e-6)),
        ("paired_energy", ("chess", "no_squish", "spiral_leapfrog", 4.85e-6)),
        ("energy_apart", ("chess", "no_squish", "spiral_leapfrog")),
        ("energy_across_steps", ("chess", "spiral_leapfrog", 4.85e-6, "fincham1992_delvalle2024", 1.22e-6)),
        ("step_ratio_of_many", ("chess", "spiral_leapfrog", "pcdm2016")),
        ("axial_spin_of_rods", ("fincham1992_delvalle2024",)),
        ("energy_of_rods", ("omelyan1998", "spiral_leapfrog")),
        ("delay_of_rods", ("fincham1992_delvalle2024", 1.0)),
        ("rise_of_rods", ("fincham1992_delvalle2024",)),
    ):
        whole, reduced = (getattr(many_body_claims, measure)(each, *arguments) for each in (inputs, few))
        assert (reduced.value, reduced.low, reduced.high) == (whole.value, whole.low, whole.high), measure
        assert "this run" not in reduced.evidence, measure


def test_how_far_apart_two_methods_are_has_no_sign():
    for ends, expected in (
        ((0.8, 0.5, 0.9), (1.25, 1 / 0.9, 2.0)),
        ((1.25, 1.1, 2.0), (1.25, 1.1, 2.0)),
        ((0.9, 0.8, 1.1), (1 / 0.9, 1, 1.25)),
    ):
        estimate = many_body_claims._apart(seed_statistics.Estimate(*ends))
        assert (estimate.value, estimate.low, estimate.high) == pytest.approx(expected)


def test_one_box_of_rods_decides_nothing():
    inputs = SimpleNamespace(released_many_body=lambda scene: boxes().isel(seed=[0]), many_body=lambda scene: rods())
    measured = many_body_claims.axial_spin_of_rods(inputs, "fincham1992_delvalle2024")
    assert claims.verdict("at least", 4.0, measured, 0.0) is None and "no interval" in measured.evidence
    assert claims.verdict("at least", 4.0, measured._replace(low=np.nan, high=np.nan), 0.0) is True


def test_times_of_many_bodies_are_judged_round_by_round(inputs):
    measured = cost_claims.many_body_time_ratio(inputs, "chess", "spiral_leapfrog", 4.85e-6, "omelyan1998", 4.85e-6)
    assert [measured.value, measured.low, measured.high] == pytest.approx([1.2] * 3)
    measured = cost_claims.many_body_time_ratio(inputs, "chess", "spiral_leapfrog", 4.85e-6, "fincham1992_delvalle2024", 3.1e-7)
    assert measured.value == pytest.approx(0.48 / 0.3 * 4.85 / 0.31) and "7 rounds" in measured.evidence
    with pytest.raises(NotInRun):
        cost_claims.many_body_time_ratio(inputs, "pebbles", "spiral_leapfrog", 1e-6, "omelyan1998", 1e-6)


@pytest.fixture(scope="module")
def full():
    return Inputs("", released=HOME / "data" / "released")


def test_the_sentences_of_the_section_hold_of_the_released_study(full):
    """A new release that shows something else is not printed under the old words."""
    data = full.released_many_body("chess")
    for key in ("omelyan1998", "fincham1992", "no_squish", "verlet", "buss2000"):
        ratios = [seed_statistics.ratio_of_means(data, key, row, "spiral_leapfrog").value for row in range(data.sizes["dt"])]
        overall = seed_statistics.ratio_over_steps(data, key, "spiral_leapfrog")
        assert np.nanmin(ratios) < 1 < np.nanmax(ratios) and 0.8 < overall.low < overall.high < 1.25, key
        # "Nearly the same, close to 5/2", with and without the longest step, which raises it. An interval is 0.06 to 0.09 to
        # either side with so many states, so that it cannot be within the 0.1 in which its middle must be.
        for order in (numbers.exponent(data, key), numbers.exponent(data, key, longest=False)):
            assert abs(order.value - 2.5) < 0.1 and 2.3 < order.low < order.high < 2.7, key
    shorter = numbers.exponent(data, "spiral_leapfrog", longest=False)
    assert shorter.low < 2.5 < shorter.high and shorter.value < numbers.exponent(data, "spiral_leapfrog").value
    order = numbers.exponent(data, METHODS[3])
    assert 0.9 < order.low < order.high < 1.2
    boxes_of_rods = full.released_many_body(many_body_claims.RODS)
    turned = boxes_of_rods["axial_spin_change"].sel(integrator=METHODS[3]).max("time").values
    assert (turned > boxes_of_rods.attrs["spin"]).all()
    for key in ("omelyan1998", "fincham1992", "no_squish", "verlet", "buss2000"):
        measured = many_body_claims.energy_of_rods(full, key, "spiral_leapfrog")
        assert measured.low < 1 < measured.high and 0.7 < measured.value < 1.4, key


# The released result


def test_a_new_release_is_judged_anew():
    """The file is an input of all rules that judge, draw, tabulate or count what it holds."""
    study = default_study()
    plan = Products(study, HOME)
    assert {f"data/released/{name}" for name in ("many_body.nc", "satellites.json")} <= set(plan.published())
    rules = "".join(path.read_text() for path in (HOME / "workflow" / "rules").glob("*.smk"))
    blocks = dict(re.findall(r"^ *rule(?: (\w+))?:\n(.*?)(?=^ *rule|\Z)", rules, re.DOTALL | re.MULTILINE)) | {
        name: block for block in rules.split("rule:") for name in re.findall(r'name:\s+f"(\w+)_\{KEY\}"', block)
    }
    for name in ("claims", "cost_claims", "chapter"):
        assert "PLAN.published()" in blocks[name], name


def test_a_released_result_says_where_it_comes_from(folder, inputs):
    data = inputs.released_many_body("chess")
    expected = {"commit": "a" * 40, "date": "2030-01-02", "processor": "a processor", "version": polhode.__version__}
    assert {name: data.attrs[name] for name in expected} == expected
    assert float(data["cpu_seconds"].sel(integrator="omelyan1998", dt=4.85e-6)) == 7200.0
    assert data.attrs["cpu_hours"] == "2" and data.attrs["changed"] == "as committed"
    made = numbers.released(inputs)
    assert (made["studyFullDate"], made["studyFullCommit"]) == ("2030-01-02", rf"\texttt{{{'a' * 12}}}")
    assert made["studyFullHoursChess"] == "2" and made["studyFullProcessor"] == "a processor"
    assert np.array_equal(data["energy_error"], scene(np.pi, blown=True)["energy_error"], equal_nan=True)
    assert inputs.released_many_body("rods")["energy_change"].dtype == np.float32


def test_the_command_writes_it(folder, tmp_path, capsys):
    assert cli.main(["release", "--results", str(folder), "--output", str(tmp_path / "out.nc")]) == 0
    assert "chess: 9 methods, 288 runs, 2 CPU hours" in capsys.readouterr().out
    assert set(read_dataset(tmp_path / "out.nc", "chess").variables) >= {"energy_error", "cpu_seconds", "diverged_at"}
    assert cli.main(["release", "--results", str(tmp_path)]) == 2
    assert "many_body.nc is missing; run the study first" in capsys.readouterr().err


def test_a_release_may_keep_what_another_run_made(folder, tmp_path):
    """A scene that this run does not have stays as it was, with where it came from."""
    output, run = tmp_path / "out.nc", tmp_path / "run"
    assert cli.main(["release", "--results", str(folder), "--output", str(output)]) == 0
    configuration = {"many_body": {"rods": {}}}
    root = xr.Dataset(attrs={"configuration": json.dumps(configuration)})
    write_groups({"/": root, "rods": rods().isel(integrator=[0])}, run / "many_body.nc")
    noted = json.loads((folder / "provenance.json").read_text()) | {"configuration": configuration, "commit": "b" * 40}
    (run / "provenance.json").write_text(json.dumps(noted))
    before = read_dataset(output, "chess")
    assert cli.main(["release", "--results", str(run), "--output", str(output), "--keep", "--force"]) == 0
    assert read_dataset(output, "chess").identical(before)
    rods_now = read_dataset(output, "rods")
    assert list(rods_now["integrator"].values) == METHODS
    assert [str(text)[0] for text in rods_now["origin"].values] == ["a"] * len(METHODS), "what came out the same stays"


@pytest.mark.thorough
def test_methods_join_a_released_scene(folder, tmp_path, capsys):
    """A run of some methods adds these to the file, if a method of both shows that the states are the same."""
    output, results = tmp_path / "out.nc", tmp_path / "run"
    assert cli.main(["release", "--results", str(folder), "--output", str(output)]) == 0
    before = read_dataset(output, "chess")
    whole = scene(np.pi, blown=True)

    def again(data, *more):
        write_groups({"/": xr.Dataset(attrs={"configuration": "{}"}), "chess": data}, results / "many_body.nc")
        words = ["release", "--results", str(results), "--output", str(output), "--keep", *more]
        capsys.readouterr()
        return cli.main(words), capsys.readouterr().err

    commit = ("--commit", "c" * 40)
    some = whole.sel(integrator=["spiral_leapfrog", "buss2000"]).isel(dt=[1, 2]).copy(deep=True)
    some["energy_error_mean"].loc[{"integrator": "buss2000"}] *= 7
    some = some.assign_coords(integrator=["spiral_leapfrog", "newest"], label=("integrator", ["SPIRAL", "newest"]))
    status, said = again(some)
    assert status == 2 and "provenance.json is missing" in said and "--commit" in said
    assert again(some, *commit)[0] == 0
    after = read_dataset(output, "chess")
    assert list(after["integrator"].values) == [*METHODS, "newest"] and after.sizes["seed"] == SEEDS
    np.testing.assert_array_equal(after["dt"].values, DT)
    for name in ("energy_error", "energy_error_mean", "diverged", "diverged_at", "cpu_seconds"):
        np.testing.assert_array_equal(*(data[name].sel(integrator=METHODS).values for data in (after, before)))
    assert after["diverged"].dtype == before["diverged"].dtype and int(after["diverged"].sum()) == 1
    newest = after["energy_error_mean"].sel(integrator="newest")
    assert bool(newest.isel(dt=[0, 3]).isnull().all())
    np.testing.assert_array_equal(newest.isel(dt=[1, 2]), some["energy_error_mean"].sel(integrator="newest"))
    assert after.attrs["commit"] == before.attrs["commit"] == "a" * 40
    origins = [str(text)[0] for text in after["origin"].values]
    assert origins == [*("a" for _ in METHODS), "c"], "by method; what came out the same stays, with all of its steps"
    # Other states, another number of them, other steps, no method in common.
    for data, reason in (
        (some.assign(energy_error_mean=1.01 * some["energy_error_mean"]), "came out otherwise"),
        (some.isel(seed=slice(3)), "the run has 3 states, the file 8"),
        (some.assign_coords(dt=some["dt"] * 1.5), "no steps of"),
        (some.sel(integrator=["newest"]).assign_coords(integrator=["another"]), "no method of the file in the run"),
    ):
        status, said = again(data, *commit)
        assert status == 2 and reason in said and "--keep" in said, said
    assert read_dataset(output, "chess").identical(after)


def test_a_release_neither_loses_runs_nor_mixes_them(folder, tmp_path, capsys):
    small = tmp_path / "small"
    write_groups({"/": read_dataset(folder / "many_body.nc"), "chess": scene(np.pi).isel(seed=[0])}, small / "many_body.nc")
    shutil.copy(folder / "provenance.json", small)
    output = tmp_path / "out.nc"
    words = ["release", "--output", str(output), "--results"]
    assert cli.main([*words, str(folder)]) == 0
    assert cli.main([*words, str(small)]) == 2
    assert "out.nc has 585 runs and would be left with 36; --force" in capsys.readouterr().err
    assert cli.main([*words, str(small), "--force"]) == 0
    assert "unknown CPU hours" in capsys.readouterr().out, "there are no logs"
    run = json.loads((small / "provenance.json").read_text())
    (small / "provenance.json").write_text(json.dumps(run | {"configuration": {"many_body": {"chess": None}}}))
    assert cli.main([*words, str(small), "--force"]) == 2
    assert "provenance.json belongs to another configuration" in capsys.readouterr().err


# Pictures


CAMERA = pictures.Camera((0.0, -10.0, 0.0), (0.0, 0.0, 0.0), 200, 100, angle=0.2)


def test_a_sphere_is_a_disc_of_its_size():
    shown = pictures.picture(np.zeros((1, 3)), np.array([0.3]), np.ones((1, 3)), np.array([0]), CAMERA)
    assert shown.shape == (100, 200, 4)
    radius = np.sqrt(shown[..., 3].sum() / np.pi)
    # Its rim is where a ray from the camera touches it: at the tangent of asin(0.03).
    assert radius == pytest.approx(CAMERA.focus * np.tan(np.arcsin(0.03)), rel=0.01)
    row, column = (np.average(np.arange(n), weights=shown[..., 3].sum(axis)) for n, axis in ((100, 1), (200, 0)))
    assert (row, column) == (pytest.approx(49.5), pytest.approx(99.5))


def test_right_is_right_and_up_is_up():
    assert CAMERA.project(np.array([[0.1, 0.0, 0.0]]))[0] == pytest.approx([100 + CAMERA.focus * 0.01, 50])
    assert CAMERA.project(np.array([[0.0, 0.0, 0.1]]))[0][1] < 50


def test_the_nearer_sphere_hides_the_other():
    centres = np.array([[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])
    colours = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for order in ([0, 1], [1, 0]):
        shown = pictures.picture(centres[order], np.array([0.3, 0.3]), colours[order], np.array([0, 1]), CAMERA)
        red, _, blue, _ = shown[45, 95]
        assert blue > red


def test_a_point_of_a_body_is_turned_into_the_lab():
    q = np.array([np.cos(np.pi / 4), 0.0, 0.0, np.sin(np.pi / 4)])  # a quarter turn about z
    assert pictures.rotated(q, np.array([[1.0, 0.0, 0.0]]))[0] == pytest.approx([0, 1, 0])


def test_a_piece_stands_on_its_foot():
    centres, radii = np.array([[0.0, 0, 0], [1.0, 0, 0], [-3.0, 0, 0]]), np.array([1.0, 1.0, 0.2])
    upright = pictures.standing(centres, radii)
    assert (upright[:, 2] - radii).min() == pytest.approx(0)
    assert np.argmax(upright[:, 2]) == 2


@pytest.mark.thorough
def test_clumps_and_scenes_of_ones_own_have_pictures():
    ball, dimer = manybody.Clump.sphere(0.01, key="ball"), manybody.Clump.dimer(0.01, 0.008, 0.012)
    figure = pictures.picture_of_clumps(ball, dimer)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == ["ball\n2 cm\n1 sphere", "dimer\n3 cm\n2 spheres"]
    ink = figure.axes[0].images[0].get_array()[..., 3].sum(0) > 0
    assert np.count_nonzero(np.diff(ink.astype(int)) == 1) == 2, "two clumps, a gap between them"
    rods = manybody.scenes["rods"]
    figure = pictures.picture_of_scene(rods, rods.initial_state(0))
    assert 0.005 < (figure.axes[0].images[0].get_array()[..., 3] > 0).mean() < 0.5


@pytest.fixture(scope="module")
def film():
    return {
        "time": np.array([0.0, 0.1, 0.2]),
        "r": np.array([[[x, 0, 0], [0.3, 0.3, -0.2]] for x in (-0.3, 0.0, 0.3)]),
        "q": np.tile([1.0, 0, 0, 0], (3, 2, 1)),
        "kind": np.array([0, 0]),
        "sphere_kind": np.array([0, 0]),
        "centre": np.array([[0.1, 0, 0], [-0.1, 0, 0]]),
        "radius": np.array([0.12, 0.1]),
        "box": 1.0,
    }


def test_moving_pictures_have_all_frames_and_equal_bytes(film, tmp_path):
    for name in ("one.gif", "two.gif"):
        animation.write_gif(film, tmp_path / name, size=120)
    assert (tmp_path / "one.gif").read_bytes() == (tmp_path / "two.gif").read_bytes()
    with Image.open(tmp_path / "one.gif") as picture:
        assert picture.n_frames == 3 and picture.size == (120, 120)
        shots = []
        for frame in range(3):
            picture.seek(frame)
            shots.append(np.asarray(picture.convert("RGB"), float))
    assert np.abs(shots[0] - shots[2]).max() > 50


def test_no_film_is_made_of_a_run_that_cannot_be_or_blows_up(capsys):
    for words, said in (("rk4", "needs several torques in a step"), ("euler --dt 0.02 --time 40", "the run blew up at t = ")):
        assert cli.main(["animate", "rods", "--method", *words.split()]) == 2
        assert said in capsys.readouterr().err


def test_a_film_has_the_published_step_or_a_twentieth():
    """The Rayleigh step of the drum, a quarter of a contact, ends in a blow-up after a second."""
    drum, chess = manybody.scenes["drum"], manybody.scenes["chess"]
    assert animation.step_of(drum) == drum.contact_time() / 20 < 0.3 * drum.rayleigh_step
    assert animation.step_of(chess) == 4.85e-6
    assert animation.step_of(replace(drum, speed=0.0)) == drum.rayleigh_step
    assert animation.step_of(manybody.scenes["water64"]) == 2.0


def test_the_command_animates(tmp_path, capsys):
    words = ["animate", "rods", "--dt", "1e-4", "--time", "0.004", "--frames", "2", "--size", "80"]
    assert cli.main([*words, "--output", str(tmp_path / "rods.gif")]) == 0
    assert "rods.gif: 0.0 MB" in capsys.readouterr().out
    with Image.open(tmp_path / "rods.gif") as picture:
        assert picture.n_frames == 3 and picture.size == (80, 80)
    assert [animation._decimals(np.array(t)) for t in ([0.0, 0.01], [0.0, 0.002], [0.0, 2e-5])] == [0, 0, 2]


@pytest.mark.thorough
def test_the_page_about_clumps_of_your_own_runs(tmp_path, monkeypatch, capsys):
    page = (HOME / "docs" / "many-bodies.md").read_text()
    (clump,) = re.findall(r"^```\n(#.*?)^```", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "bent.csv").write_text(clump)
    monkeypatch.chdir(tmp_path)
    code = next(block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "from_file" in block)
    variables: dict = {}
    exec(code.replace("horizon=1.0", "horizon=0.01"), variables)
    assert isinstance(variables["run"], xr.Dataset) and float(abs(variables["run"].energy_error).max()) < 1e-3


def test_every_method_on_the_pieces(tmp_path):
    """The ratios that were put in, at each step; the released runs come first."""
    data = scene(np.pi, blown=True).isel(dt=[2, 3])
    write_groups({"/": xr.Dataset(), "chess": data}, tmp_path / "run.nc")
    run = Inputs("", many_body=tmp_path / "run.nc")
    frame, _ = rendering.table("many_body_methods", run)
    rows = frame[frame["dt"] == 4.85e-6].set_index("method")
    for key, factor in zip(METHODS, FACTORS, strict=True):
        assert rows.loc[key, "ratio"] == pytest.approx(factor) and rows.loc[key, "seeds"] == SEEDS
    assert frame["diverged"].sum() == 1
    assert frame.set_index("method").loc["fincham1992_delvalle2024", "diverged"].sum() == 1
    ratios = frame[frame["method"] == "omelyan1998"][["ratio", "ratio_low", "ratio_high"]]
    assert ratios.to_numpy() == pytest.approx(np.full((2, 3), 1.1), rel=1e-3)
    made = numbers.every_method(run)
    assert made["studyEveryMethodCount"] == str(len(METHODS)) and made["studyEveryMethodStates"] == str(SEEDS)
    assert made["studyEveryMethodLost"] == polhode.methods["fincham1992_delvalle2024"].label
    assert made["studyEveryMethodAlike"] == "none", "every ratio is exact"
    # From many states, the same scene with other errors.
    more = data.assign(energy_error_mean=data["energy_error_mean"] ** 2)
    write_groups({"/": xr.Dataset(), "chess": more}, tmp_path / "many_body.nc")
    both = Inputs("", many_body=tmp_path / "run.nc", released=tmp_path)
    frame, _ = rendering.table("many_body_methods", both)
    assert frame.set_index(["method", "dt"]).loc[("omelyan1998", 4.85e-6), "ratio"] > 1.2
    with pytest.raises(NotInRun):
        rendering.table("many_body_methods", Inputs(""))
