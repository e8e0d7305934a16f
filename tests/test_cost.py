"""Time to a target error: step sizes from measured errors, work from step sizes, advice from work. Nothing here is timed."""

from contextlib import suppress
from functools import partial
from math import isfinite, isnan, nan
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from data_files import invented, of_methods
from rendered import figure_twice

import polhode
from polhode.advice import AdviceError, files
from polhode.compiling.operations import operations
from polhode.fits import ranking
from polhode.fits.ladders import Ladder, is_published_ladder
from polhode.fits.largest_step import round_off
from polhode.interface.netcdf import read_dataset
from polhode.interface.storage import write_groups
from polhode.problems.problem import TORQUE_CLASSES
from polhode_study.chapters import rendering
from polhode_study.chapters.times import numbers as time_numbers
from polhode_study.declarations import problem_declarations
from polhode_study.gather import cost
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import style

FIGURES = ("speed_up",)
EPS = np.finfo(float).eps
STEPS = np.geomspace(1e-5, 0.1, 21)


def power_law(order: float, factor: float = 1.0, steps=STEPS) -> Ladder:
    return Ladder(steps, factor * steps**order, 1.0)


def made_up_timing(methods, nanoseconds) -> dict[str, xr.Dataset]:
    """A timing in which the lab frame costs 10 ns and normalisation 4 ns; no method's declared form is another's."""
    declared = np.array([int(m in polhode.methods and polhode.methods[m].normalises) for m in methods], "int8")
    base = np.asarray(nanoseconds, float)
    fastest = base[:, None, None] + np.array([0.0, 10.0])[:, None] + np.array([0.0, 4.0])
    axes = {"integrator": list(methods), "frame": ["body", "lab"], "normalised": np.array([0, 1], "int8")}
    step = invented("cost.nc/step", axes, fastest=fastest, median=1.05 * fastest, declared=declared)
    return {"/": xr.Dataset(attrs={"cpu": "a made-up processor", "date": "2000-01-01"}), "step": step}


def made_up_problem(orders: dict[str, float], problem="heavy_top", steps=STEPS, horizon=2.0) -> xr.Dataset:
    """Errors dt^p in q and 3 dt^p in omega; the metric of the publication is twice their mean."""
    methods = list(orders)
    error = np.array([steps ** orders[m] for m in methods])
    count = horizon / steps * np.ones((len(methods), 1))
    described = of_methods(methods, "label", "variant_of", "torques_per_step")
    per_step = np.array(described["torques_per_step"])[:, None]
    return invented(
        "single_body.nc/PROBLEM",
        {"integrator": methods, "dt": steps},
        problem_declarations(polhode.problems[problem]) | {"label": "a top"},
        **described,
        q_error_l1=error,
        omega_error_l1=3 * error,
        mean_error_as_published=4 * error,
        steps=count,
        torque_evaluations=count * per_step + (per_step == 1),
        diverged=np.int8(0),
        dt_set="fit",
        end_time=horizon,
    )


ORDERS = {"euler": 1.0, "spiral_leapfrog": 2.0, "rk4": 4.0, "verlet": 2.0, "verlet_delvalle2024": 1.0}
#: A problem with a wheel and one without.
WITH_AND_WITHOUT = ("cubesat", "damped_top")
NANOSECONDS = (20.0, 26.0, 80.0, 24.0, 22.0)


# The step size at a target error


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("target", [3e-3, 1e-4, 2e-6])
def test_a_power_law_is_met_where_it_says(order, target):
    crossing = power_law(order, factor=10.0**order).find(target)
    if target >= (10 * STEPS[0]) ** order:
        assert crossing.how == "between" and crossing.finer <= crossing.dt <= crossing.coarser
    else:
        assert crossing.how == "extrapolated" and crossing.dt < STEPS[0]
    assert crossing.dt == pytest.approx(0.1 * target ** (1 / order), rel=1e-6)


def test_a_dip_at_a_coarse_step_is_not_believed():
    error = STEPS**2
    dip = error.copy()
    dip[15] = 1e-9  # the error changes its sign there
    assert Ladder(STEPS, dip, 1.0).find(1e-6).dt == pytest.approx(1e-3)
    # A dip among points that meet the target anyway changes nothing.
    dip[15], dip[3] = error[15], 1e-13
    assert Ladder(STEPS, dip, 1.0).find(1e-6).dt == pytest.approx(1e-3)


def test_rounding_at_fine_steps_is_forgiven():
    steps = np.geomspace(1e-7, 1e-1, 25)
    # Fourth order above round-off that grows as the number of steps does.
    noise = 0.5 * EPS / steps
    ladder = Ladder(steps, steps**4 + noise, 1.0)
    assert ladder.error[0] > 1e-10, "the finest step misses the target by round-off"
    crossing = ladder.find(1e-10)
    assert crossing.how == "between" and crossing.dt == pytest.approx(10**-2.5, rel=1e-3)
    # 1e-13 lies at the bottom, where the errors no longer follow the step size.
    below = ladder.find(1.0e-14)
    assert below.how == "unreached" and isnan(below.dt)


def test_no_step_is_read_where_the_errors_only_scatter():
    steps = np.array([1e-6, 1e-5, 1e-4, 1e-3, 1e-2])
    scattered = Ladder(steps, np.array([1.1e-12, 0.9e-12, 1.2e-12, 1e-9, 1e-6]), 1.0)
    assert scattered.find(1e-12).how == "unreached" and isnan(scattered.find(1e-12).dt)
    assert scattered.find(1e-11).how == "between"


def test_an_error_that_does_not_fall_is_not_round_off():
    stuck = Ladder(STEPS, np.full(len(STEPS), 1e-3), 1.0)
    assert isnan(stuck.find(1e-4).dt) and stuck.find(1e-4).how == "unreached"


def test_nothing_coarser_than_measured_is_promised():
    crossing = power_law(2).find(0.5)
    assert crossing.how == "coarsest" and crossing.dt == STEPS[-1]


def test_a_run_that_blew_up_is_not_met():
    error = STEPS**2
    blown, absent = error.copy(), error.copy()
    blown[11:], absent[11] = np.inf, nan
    crossing = Ladder(STEPS, blown, 1.0).find(1e-3)
    assert crossing.dt == STEPS[10] and crossing.coarser == STEPS[11]
    assert Ladder(STEPS, absent, 1.0).find(STEPS[11] ** 2).dt == pytest.approx(STEPS[11])
    # Blown up at a fine step: whatever comes after, the coarser ones cannot be trusted.
    blown = error.copy()
    blown[5] = np.inf
    assert Ladder(STEPS, blown, 1.0).find(1e-3).dt == STEPS[4]


def test_extrapolation_ends_where_round_off_takes_over():
    ladder = power_law(1)
    near = ladder.find(1e-6)
    assert near.how == "extrapolated" and near.dt == pytest.approx(1e-6)
    assert round_off(1e-6, 1.0) == pytest.approx(10 * EPS * 1e6)
    assert ladder.find(1e-8).how == "unreached", "1e8 steps round off by more than that"


def test_the_order_of_the_points_does_not_matter():
    shuffled = np.random.default_rng(1).permutation(len(STEPS))
    assert Ladder(STEPS[shuffled], STEPS[shuffled] ** 2, 1.0).find(1e-5) == power_law(2).find(1e-5)


@pytest.mark.parametrize("target", [0.0, -1e-3, nan, np.inf])
def test_targets_are_positive_numbers(target):
    with pytest.raises(ValueError, match="target error"):
        power_law(2).find(target)


def test_whole_steps():
    assert cost.whole_steps(0.1, 1.0) == 10
    assert cost.whole_steps(0.0999, 1.0) == 11
    assert isnan(cost.whole_steps(nan, 1.0))


# From steps to time


def test_time_is_steps_and_torques_at_their_prices():
    timing = made_up_timing(ORDERS, NANOSECONDS)
    data = cost.problem_cost(made_up_problem(ORDERS), timing["step"], [2e-2, 2e-4], [0, 10, 1000])
    # The mean of dt^p and 3 dt^p is 2 dt^p; euler normalises, which costs 4 ns here; so does rk4.
    at = data.sel(integrator="euler", target_error=2e-4)
    assert float(at.dt) == pytest.approx(1e-4) and float(at.steps) == 20000 and float(at.torque_evaluations) == 20001
    assert float(at.time_to_solution) == pytest.approx(20000 * 24e-9)
    np.testing.assert_allclose(at.priced_time, 20000 * 24e-9 + 20001 * np.array([0, 10, 1000]) * 24e-9)
    fourth = data.sel(integrator="rk4", target_error=2e-4)
    assert float(fourth.dt) == pytest.approx(0.1) and float(fourth.torque_evaluations) == 80
    np.testing.assert_allclose(fourth.priced_time, 20 * 84e-9 + 80 * np.array([0, 10, 1000]) * 24e-9)
    assert float(fourth.speed_up_euler) == pytest.approx(20000 * 24 / (20 * 84))
    spiral = data.sel(integrator="spiral_leapfrog", target_error=2e-4)
    assert float(spiral.speed_up_spiral) == 1
    assert float(fourth.speed_up_spiral) == pytest.approx(float(spiral.time_to_solution) / (20 * 84e-9))
    np.testing.assert_allclose(fourth.priced_speed_up_euler, at.priced_time / fourth.priced_time)
    assert data.attrs["torque_class"] == "state" and data.attrs["horizon"] == 2.0 and data.attrs["bodies"] == 1


def test_a_system_costs_a_step_for_each_body():
    timing = made_up_timing(ORDERS, NANOSECONDS)
    single = cost.problem_cost(made_up_problem(ORDERS), timing["step"], [2e-2], [0, 10])
    two = cost.problem_cost(made_up_problem(ORDERS, "coupled_cylinders"), timing["step"], [2e-2], [0, 10])
    np.testing.assert_allclose(two.priced_time, 2 * single.priced_time)
    assert "2 bodies" in two.attrs["timed"]
    moving = cost.problem_cost(made_up_problem(ORDERS, "sinking_propeller"), timing["step"], [2e-2], [0])
    assert "centre of mass is not timed" in moving.attrs["timed"]


def test_what_was_timed_without_wheels_has_no_time_with_them():
    orders = ORDERS | {"dlm1997": 2.0}
    timing = made_up_timing(orders, (*NANOSECONDS, 30.0))
    with_wheels, without = (
        cost.problem_cost(made_up_problem(orders, key), timing["step"], [2e-2], [0]) for key in WITH_AND_WITHOUT
    )
    assert isfinite(float(without.time_to_solution.sel(integrator="dlm1997")[0]))
    assert isnan(float(with_wheels.time_to_solution.sel(integrator="dlm1997")[0]))
    assert isfinite(float(with_wheels.steps.sel(integrator="dlm1997")[0])) and "without wheels" in with_wheels.attrs["timed"]
    others = [key for key in ORDERS if key != "dlm1997"]
    np.testing.assert_array_equal(*(data.priced_time.sel(integrator=others) for data in (with_wheels, without)))


def test_without_euler_there_is_no_price_but_there_is_a_time():
    few = {"spiral_leapfrog": 2.0, "rk4": 4.0}
    timing = made_up_timing(few, (26.0, 80.0))
    data = cost.problem_cost(made_up_problem(few), timing["step"], [1e-3], [0, 10])
    assert np.isfinite(data.time_to_solution).all() and np.isnan(data.speed_up_euler).all()
    assert np.isfinite(data.priced_time.isel(torque_price=0)).all() and np.isnan(data.priced_time.isel(torque_price=1)).all()


def test_a_method_that_was_not_timed_has_steps_but_no_time():
    timing = made_up_timing(["euler"], (20.0,))
    data = cost.problem_cost(made_up_problem(ORDERS), timing["step"], [1e-3], [0])
    assert isfinite(float(data.steps.sel(integrator="rk4")[0])) and isnan(float(data.time_to_solution.sel(integrator="rk4")[0]))


def test_a_run_that_blew_up_ends_the_ladder():
    data = made_up_problem(ORDERS)
    for name in ("q_error_l1", "omega_error_l1"):
        data[name][:, 15:] = nan
    step = made_up_timing(ORDERS, NANOSECONDS)["step"]
    assert cost.problem_cost(data, step, [0.9], [0]).coarsest.all()
    data["diverged"][:, 15:] = 1
    assert not cost.problem_cost(data, step, [0.9], [0]).coarsest.any()


def test_runs_that_stop_short_of_the_horizon_are_left_out():
    data = made_up_problem(ORDERS)
    data["end_time"][-1] = 1.9
    dt, errors, horizon = cost.ladder_of(data)
    assert horizon == 2.0 and dt[-1] == STEPS[-2] and errors.shape == (len(ORDERS), len(STEPS) - 1)


def test_published_comparison_takes_the_steps_of_runs():
    timing = made_up_timing(ORDERS, NANOSECONDS)
    data = made_up_problem(ORDERS, "spiral_cylinder", horizon=1.0)
    axes = {"integrator": ["spiral_leapfrog"], "target_error": [1e-3]}
    searched = invented("single_body.nc/PROBLEM/targets", axes, step_size_as_published=0.02)
    published = cost.published_cost(data, searched, timing["step"])
    spiral = published.sel(integrator="spiral_leapfrog")
    assert float(spiral.dt.sel(target_error=1e-3)) == 0.02
    assert float(spiral.dt.sel(target_error=1e-2)) == pytest.approx(0.05), "from the ladder, the mean being 4 dt^2"
    # 50 steps of 26 ns in the body frame, of 36 ns in the lab frame; euler needs 4000 steps of 24 and of 34 ns.
    gain = spiral.speed_up_euler.sel(target_error=1e-3)
    assert float(gain.sel(frame="body")) == pytest.approx(4000 * 24 / (50 * 26))
    assert float(gain.sel(frame="lab")) == pytest.approx(4000 * 34 / (50 * 36))


def test_operations_are_those_of_the_kernels():
    data = cost.operation_counts(["rk4", "euler", "a plug-in"])
    assert int(data.total.sel(integrator="rk4")) == operations("rk4").total
    assert list(data.torques.values[:2]) == [4, 1] and np.isnan(data.total.values[2])


@pytest.fixture
def cost_file(tmp_path) -> Path:
    """A cost.nc of two invented problems."""
    data = {"/": xr.Dataset(attrs={"plugins": ""})}
    for problem, horizon in (("heavy_top", 2.0), ("spiral_cylinder", 1.0)):
        data[problem] = made_up_problem(ORDERS, problem, horizon=horizon)
    write_groups(data, tmp_path / "single_body.nc")
    groups = cost.cost_groups(
        made_up_timing(ORDERS, NANOSECONDS), tmp_path / "single_body.nc", [1e-5, 1e-2, 1e-3], [100, 0, 10000]
    )
    write_groups(groups, tmp_path / "cost.nc")
    return tmp_path / "cost.nc"


def test_the_file_holds_all_groups(cost_file):
    data = read_dataset(cost_file, "heavy_top")
    assert list(data.target_error.values) == [1e-2, 1e-3, 1e-5] and list(data.torque_price.values) == [0, 100, 10000]
    for group in ("step", "operations", "spiral_cylinder", "published"):
        assert read_dataset(cost_file, group).sizes["integrator"] == len(ORDERS)
    assert read_dataset(cost_file).attrs["cpu"] == "a made-up processor"
    assert all("long_name" in data[name].attrs and "units" in data[name].attrs for name in data)


# Rankings


def test_ranking_follows_the_price_of_the_torque(cost_file):
    data = read_dataset(cost_file, "spiral_cylinder")
    keys = ranking.candidates(data)
    assert set(keys) == set(ORDERS) - {"verlet_delvalle2024"}
    # 2 dt^2 = 1e-2 allows dt = 0.0707, 15 steps of 26 or 28 ns; rk4 takes 10 of 84 ns, with 40 torques.
    cheap, dear = (ranking.ranked(data, 1e-2, price, keys) for price in (0, 1000))
    assert list(cheap.method[:2]) == ["spiral_leapfrog", "verlet"] == list(dear.method[:2])
    # At 1e-5 rk4 still takes 22 steps, the others 448.
    assert ranking.ranked(data, 1e-5, 1000, keys).method[0] == "rk4"
    assert "rk4" not in list(ranking.ranked(data, 1e-5, 1000, ranking.candidates(data, one_torque=True)).method)


def test_ranking_of_any_error_is_what_the_file_tabulates(cost_file):
    data = read_dataset(cost_file, "heavy_top")
    keys = ranking.candidates(data)
    for (target, price), tabulated in ranking.winners(data, keys).items():
        rows = ranking.ranked(data, target, price, keys)
        assert list(rows.method) == [key for key, _ in tabulated]
        np.testing.assert_allclose(rows.seconds, [seconds for _, seconds in tabulated])


def test_a_ranking_says_what_is_extrapolated(cost_file):
    data = read_dataset(cost_file, "heavy_top")
    data = data.isel(ladder_dt=data.ladder_dt.values > 1e-3)
    row = ranking.ranked(data, 1e-8, 0, ["verlet"]).iloc[0]
    assert row["how"] == "extrapolated" and row["dt"] == pytest.approx((1e-8 / 2) ** 0.5)


def test_without_a_run_the_released_measurement_serves(cost_file, tmp_path, monkeypatch):
    empty = tmp_path / "elsewhere"
    (empty / "data" / "released").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AdviceError, match="`results`"):
        files.find("cost.nc", None, empty)
    (empty / "data" / "released" / "cost.nc").write_bytes(cost_file.read_bytes())
    released = files.find("cost.nc", None, empty)
    assert released == empty / "data" / "released" / "cost.nc"
    assert files.find("cost.nc", cost_file.parent, empty) == cost_file


# Figures, tables, numbers

PUBLISHED = Path(__file__).parents[1] / "data" / "published"


@pytest.fixture
def inputs(cost_file) -> Inputs:
    return Inputs(cost_file.with_name("single_body.nc"), cost=cost_file, published=PUBLISHED)


@pytest.mark.thorough
@pytest.mark.parametrize("name", FIGURES)
def test_figure_is_the_same_file_twice(name, inputs, tmp_path):
    figure_twice(name, inputs, tmp_path)
    with style.settings():
        assert len(rendering.figure(name, inputs).axes) >= 2, "a figure, not a note that says what is missing"


def test_the_table_holds_every_method_frame_and_target(inputs):
    data, _ = rendering.table("speed_up", inputs)
    assert len(data) == len(ORDERS) * 2 * 4
    spiral = data[data.method == "spiral_leapfrog"]
    assert (spiral.speed_up_of_spiral == 1).all() and not data.speed_up_over_euler.isna().any()


def numbers_of_solutions(inputs):
    made = {}
    for group in (time_numbers.gains, time_numbers.first, time_numbers.scope, time_numbers.times):
        with suppress(NotInRun):
            made |= group(inputs)
    return made


def test_numbers_of_the_text(inputs):
    made = numbers_of_solutions(inputs)
    assert not [name for name, text in made.items() if "nan" in text or "inf" in text]
    assert "a function of the orientation" in made["costSeveralSentence"]


def test_the_sentence_on_several_torques_names_their_classes(inputs):
    sentence = partial(time_numbers._several_sentence, meanings=TORQUE_CLASSES)
    assert sentence({}, [], ["free"]) == "at no target error"
    text = sentence({"time": 1e-4}, ["lab"], ["free", "state"])
    assert text == (
        r"from a target error of \num{1e-04} downward where the torque is a given function of time in the body frame, "
        "at some errors where the torque is a given function of time in the lab frame "
        "and at none under other torques"
    )
    assert sentence({}, ["lab"], []) == "at some errors where the torque is a given function of time in the lab frame"
    # First somewhere, but not at the smallest error.
    data = xr.Dataset({"torques_per_step": ("integrator", [1, 4])}, {"integrator": ["one", "four"]})
    fastest = {(1e-2, 0.0): [("four", 1.0)], (1e-3, 0.0): [("one", 1.0)], (1e-2, 9.0): [("one", 1.0)], (1e-3, 9.0): []}
    assert time_numbers._several_somewhere(data, fastest, 0.0) and not time_numbers._several_somewhere(data, fastest, 9.0)


def test_without_times_every_figure_and_table_says_so(inputs, tmp_path):
    empty = Inputs(inputs.paths["single_body"], published=PUBLISHED)
    for name in FIGURES:
        rendering.render_figure(name, empty, tmp_path)
    for name in ("speed_up", "many_body_cost"):
        rendering.render_table(name, empty, tmp_path)
        assert "no times" in (tmp_path / f"{name}.csv").read_text()


def test_the_published_ladder_is_met_to_a_share_of_each_step():
    steps = np.geomspace(1e-7, 0.1, 20)
    assert is_published_ladder(steps * (1 + 5e-6)) and not is_published_ladder(steps[1:])
    for i in (0, 19):
        changed = steps.copy()
        changed[i] *= 1.05
        assert not is_published_ladder(changed)
