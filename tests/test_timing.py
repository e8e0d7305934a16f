"""The measurement of a step, on clocks that the tests wind themselves; what is shown of it; the command line."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import HEAVY, heavy_torque, make
from data_files import inputs_in, invented
from rendered import number_lines
from test_manybody_engine import in_plain_python

import polhode
from polhode import cli
from polhode.algebra.quaternion import to_lab
from polhode.compiling.operations import count, operations
from polhode.fits import step_times
from polhode.interface.storage import write_groups
from polhode.methods.lab_frame import carried, in_lab
from polhode.methods.protocol import OneTorque
from polhode_study import chapters
from polhode_study.chapters import rendering
from polhode_study.chapters.judging import judge_chapters
from polhode_study.chapters.times import measures as cost_claims
from polhode_study.chapters.times import numbers as timing_numbers
from polhode_study.cli import bench
from polhode_study.gather import cost
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import macros, style
from polhode_study.run import timing
from polhode_study.run.timing import Form

HOME = Path(__file__).parents[1]
TOP = make("heavy", heavy_torque, "state", HEAVY)


# The interface in the lab frame


#: One of each kind: what it carries, whether it rotates first, whether it normalises, how many torques it takes.
KINDS = (
    "euler",
    "spiral_leapfrog",
    "verlet",
    "fincham1992",
    "calzavarini2010",
    "pcdm2016",
    "no_squish",
    "pfc4_delvalle2024",
    "rk4",
)
OTHERS = tuple(key for key in polhode.methods if key not in KINDS)


def check_the_interface(key, t_end=None):
    direct, through = (polhode.simulate(TOP, method, 0.005, t_end, samples=4) for method in (key, in_lab(polhode.methods[key])))
    for name in ("q", "omega", "stored_omega"):
        np.testing.assert_allclose(through[name], direct[name], rtol=0, atol=3e-12, err_msg=key)


@pytest.mark.thorough
@pytest.mark.parametrize("key", KINDS)
def test_the_interface_leaves_the_trajectory_alone(key):
    check_the_interface(key)


@pytest.mark.thorough
def test_the_interface_changes_no_other_trajectory():
    """Of all other methods, without the drivers that would have to be compiled for it."""
    in_plain_python(f"import test_timing\nfor key in {OTHERS}:\n    test_timing.check_the_interface(key, 0.1)")


def test_what_methods_carry():
    carried_by_method = {key: carried(method) for key, method in polhode.methods.items()}
    assert carried_by_method.pop("no_squish") == "conjugate" and carried_by_method.pop("pfc4_delvalle2024") == "lab"
    for key, what in carried_by_method.items():
        assert what in {"body": ("omega", "body momentum"), "lab": ("momentum",)}[polhode.methods[key].momentum_frame], key
    assert {key for key, what in carried_by_method.items() if what == "body momentum"} == {
        "dlm1997",
        "dlm1997_fasso",
        "touma1994",
        *(key for key in carried_by_method if key.startswith(("exact_rotor", "rotor_"))),
    }


def test_the_interface_costs_what_it_must():
    """Into the lab and back, and for a momentum both ways once more with the moments of inertia."""
    turn = count(to_lab, (1.0, 0.0, 0.0, 0.0), (0.1, 0.2, 0.3)).total
    for key, method in polhode.methods.items():
        added = operations(in_lab(method)).total - operations(method).total
        expected = {"omega": 2 * turn, "momentum": 4 * turn + 6, "body momentum": 2 * turn + 6, "lab": 0}.get(carried(method))
        assert added == expected or carried(method) == "conjugate", key
        assert in_lab(method).key == f"{key}_in_lab" and in_lab(method).key not in polhode.methods


def test_a_state_without_angular_velocity_is_named():
    def start(q, omega, torque, body, dt):
        return (*q, 2.0 * omega[0], omega[1], omega[2])

    with pytest.raises(ValueError, match="method mine: its state holds no angular velocity"):
        in_lab(replace(polhode.methods["euler"], key="mine", start=start))


# The measurement


class Workshop:
    """Runs that take their time from a clock of their own: so many ns a step, and a start that costs the same for all."""

    START = 3e-6

    def __init__(self, nanoseconds: dict[Form, float]) -> None:
        self.now = 100.0
        self.calls: list[tuple[Form, int]] = []
        self.runs = {form: self._run(form, ns * 1e-9) for form, ns in nanoseconds.items()}

    def _run(self, form, seconds):
        def run(steps):
            self.calls.append((form, steps))
            self.now += self.START + steps * seconds

        return run

    def clock(self):
        return self.now


FORMS = {Form("a", "body", True): 20.0, Form("b", "body", False): 50.0, Form("c", "lab", True): 700.0}


@pytest.mark.thorough
def test_the_start_of_a_run_is_no_part_of_its_steps():
    shop = Workshop(FORMS)
    samples = timing.measure(shop.runs, 4, 1e-4, shop.clock)
    for form, nanoseconds in FORMS.items():
        assert samples[form].shape == (4,)
        np.testing.assert_allclose(samples[form], nanoseconds, rtol=1e-6)


def test_a_block_is_as_long_as_asked():
    shop = Workshop(FORMS)
    timing.measure(shop.runs, 1, 1e-4, shop.clock)
    for form, nanoseconds in FORMS.items():
        last = [steps for key, steps in shop.calls if key == form][-1]
        assert last * nanoseconds * 1e-9 + shop.START >= 1e-4 > (last / 2 if last > timing.FEWEST else 0) * nanoseconds * 1e-9


def test_methods_take_turns_in_changing_order():
    shop = Workshop(FORMS)
    seen = []
    timing.measure(shop.runs, 6, 1e-5, shop.clock, progress=lambda: seen.append(1))
    assert len(seen) == 6 * len(FORMS)
    timed = [form for form, steps in shop.calls if steps == 0]
    rounds = [timed[i : i + len(FORMS)] for i in range(0, len(timed), len(FORMS))]
    assert all(set(order) == set(FORMS) for order in rounds) and len(rounds) == 6
    assert {order[0] for order in rounds} == set(FORMS), "each goes first at some time"
    assert len({tuple(order) for order in rounds}) > len(FORMS), "not only shifted"


def test_a_disturbance_spoils_its_sample_alone():
    shop = Workshop(FORMS)
    form = Form("b", "body", False)
    quiet = shop.runs[form]

    def disturbed(steps):
        quiet(steps)
        if steps and sum(1 for key, n in shop.calls if key == form and n == 0) == 3:
            shop.now += 1.0

    samples = timing.measure(shop.runs | {form: disturbed}, 5, 1e-4, shop.clock)
    assert samples[form][2] > 1e4
    np.testing.assert_allclose(np.delete(samples[form], 2), 50.0, rtol=1e-6)
    np.testing.assert_allclose(samples[Form("a", "body", True)], 20.0, rtol=1e-6)


def test_a_disturbance_does_not_shorten_blocks():
    shop = Workshop(FORMS)
    form, calls = Form("b", "body", False), []
    quiet = shop.runs[form]

    def disturbed(steps):
        quiet(steps)
        calls.append(steps)
        # All but one of the first trials last long.
        shop.now += 1.0 if len(calls) < timing.TRIALS else 0.0

    timing.measure(shop.runs | {form: disturbed}, 1, 1e-4, shop.clock)
    assert calls[-1] * FORMS[form] * 1e-9 + shop.START >= 1e-4


def test_a_clock_that_stands_still_is_refused():
    with pytest.raises(RuntimeError, match="cannot be used"):
        timing.measure({Form("a", "body", True): lambda steps: None}, 1, 1e-3, lambda: 0.0)


def test_every_form_there_is():
    chosen = [polhode.methods[key] for key in ("euler", "pfc4_delvalle2024", "rk4")]
    forms = set(timing.runs_of(chosen))
    both = {Form(key, frame, on) for key in ("euler", "rk4") for frame in timing.FRAMES for on in (False, True)}
    assert forms == both | {Form("pfc4_delvalle2024", frame, True) for frame in timing.FRAMES}
    assert {form.frame for form in timing.runs_of(chosen, ("lab",))} == {"lab"}


def test_the_core_is_given_back():
    import os

    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("this system does not let a process choose its core")
    before = os.sched_getaffinity(0)
    with timing.one_core() as core:
        assert core is None or os.sched_getaffinity(0) == {core}
    assert os.sched_getaffinity(0) == before


# What is kept


def made_up(keys=tuple(polhode.methods), rounds=3) -> xr.Dataset:
    """Invented times: method n takes 20 + 5 n ns, 10 more if normalised, twice that in the lab; later rounds are slower."""
    chosen = [polhode.methods[key] for key in keys]
    samples = {}
    for n, method in enumerate(chosen):
        for frame, factor in (("body", 1.0), ("lab", 2.0)):
            for on in (False, True) if method.normalisable else (method.normalises,):
                samples[Form(method.key, frame, on)] = factor * (20 + 5 * n + 10 * on) * (1 + 0.1 * np.arange(rounds))
    host = {"cpu": "Invented & Co 5_000", "numba": "0.0", "system": "Linux", "date": "2020-02-03T04:05:06Z"}
    return timing.dataset(chosen, samples, host | {"clock": "CPU time", "rounds": rounds, "block": 1e-3, "dt": 1e-6})


def test_forms_that_do_not_exist_are_not_numbers():
    step = made_up()
    assert step.samples.dims == ("integrator", "frame", "normalised", "sample")
    missing = {str(m) for m in step.integrator.values if np.isnan(step.fastest.sel(integrator=m)).any()}
    assert missing == {key for key, method in polhode.methods.items() if not method.normalisable} >= {"pfc4_delvalle2024"}
    assert np.isnan(step.fastest.sel(integrator="pfc4_delvalle2024", normalised=0)).all()
    for name, variable in step.data_vars.items():
        assert {"long_name", "units"} <= set(variable.attrs), name
    for key, method in polhode.methods.items():
        assert int(step.declared.sel(integrator=key)) == method.normalises


def test_times_are_relative_to_euler_in_the_same_frame():
    step = made_up(("rk4", "euler", "spiral_leapfrog"))
    assert float(step.fastest.sel(integrator="euler", frame="lab", normalised=1)) == 70
    np.testing.assert_allclose(step.relative.sel(integrator="euler", normalised=1), 1)
    np.testing.assert_allclose(step.relative.sel(integrator="euler", normalised=0), 25 / 35)
    np.testing.assert_allclose(step.relative.sel(integrator="spiral_leapfrog").values, [[30 / 35, 40 / 35]] * 2)
    row = step.sel(integrator="rk4", frame="body", normalised=0)
    assert [float(row[name]) for name in ("fastest", "lower_quartile", "median", "upper_quartile")] == pytest.approx(
        [20, 21, 22, 23]
    )


def test_the_unit_is_timed_in_any_case():
    assert [m.key for m in timing.with_unit([polhode.methods["rk4"]])] == ["rk4", "euler"]
    assert [m.key for m in timing.with_unit([polhode.methods["euler"]])] == ["euler"]


def test_a_measurement_has_the_shape_of_the_file():
    """With real kernels; nothing is asked of the times but that they are there."""
    calls = []
    chosen = [polhode.methods["spiral_leapfrog"]]
    groups = timing.timing(chosen, 2, 1e-5, {"cpu": "x"}, frames=("body",), progress=lambda: calls.append(1))
    step = groups["step"]
    assert len(calls) == 2 * 4
    assert list(step.integrator.values) == ["spiral_leapfrog", "euler"]
    assert np.isfinite(step.samples.sel(frame="body")).all() and np.isnan(step.samples.sel(frame="lab")).all()
    assert {"cpu", "date", "rounds", "block", "clock", "core", "problem", "dt"} <= set(groups["/"].attrs)


def test_untimed_methods_have_released_relative_times():
    """Direct Euler takes 20 ns here and 50 ns in the release, Runge-Kutta 4 there 100 ns and, in the lab frame, twice that."""
    methods = [polhode.methods[key] for key in ("rk4", "euler", "verlet")]

    def step(nanoseconds):
        forms = {Form(*form, normalised): ns * np.ones(2) for form, ns in nanoseconds.items() for normalised in (False, True)}
        return timing.dataset(methods, forms, {})

    here = step({("euler", "body"): 20.0, ("euler", "lab"): 40.0, ("verlet", "body"): 30.0})
    there = step({("euler", "body"): 50.0, ("euler", "lab"): 50.0, ("rk4", "body"): 100.0, ("rk4", "lab"): 200.0})
    whole = timing.with_released(here, there)
    assert whole["fastest"].sel(integrator="rk4", normalised=1).values.tolist() == [40.0, 160.0]
    assert whole["relative"].sel(integrator="rk4", normalised=1).values.tolist() == [2.0, 4.0]
    assert whole["fastest"].sel(integrator="verlet", frame="body").values.tolist() == [30.0, 30.0]
    assert np.isnan(whole["fastest"].sel(integrator="verlet", frame="lab")).all()
    assert whole["timed"].values.tolist() == [[0, 0], [1, 1], [1, 0]] and whole.attrs["released"] == "rk4"
    assert np.isnan(whole["samples"].sel(integrator="rk4")).all(), "no sample of this run"
    rows = step_times.in_frame(whole, "lab").set_index("method")
    assert rows.loc["rk4", "to_euler"] == 4.0 and rows["timed"].to_dict() == {"rk4": "no", "euler": "yes", "verlet": "no"}


def test_only_the_forms_named_are_run():
    chosen = [polhode.methods[key] for key in ("rk4", "verlet")]
    forms = timing.runs_of(timing.with_unit(chosen), timed={"body": ["rk4"], "lab": []})
    assert {(form.method, form.frame) for form in forms} == {("rk4", "body"), ("euler", "body"), ("euler", "lab")}


# What is shown


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Inputs:
    """A run with invented times and nothing else."""
    folder = tmp_path_factory.mktemp("run")
    step = made_up()
    counts = cost.operation_counts(polhode.methods)
    write_groups({"/": xr.Dataset(attrs=step.attrs), "step": step, "operations": counts}, folder / "cost.nc")
    write_groups({"/": xr.Dataset(attrs={"plugins": ""})}, folder / "single_body.nc")
    inputs = inputs_in(folder, cost=folder / "cost.nc", cost_claims=folder / "cost_claims.csv")
    judge_chapters(inputs, HOME, True, folder / "cost_claims.csv")
    return inputs


def test_a_run_without_times_says_so(tmp_path):
    with pytest.raises(NotInRun, match="cost: null"):
        Inputs(tmp_path / "single_body.nc").cost("step")
    with pytest.raises(NotInRun, match="cost: null"):
        Inputs(tmp_path / "single_body.nc", cost=tmp_path / "cost.nc").cost("step")


def test_a_group_that_is_not_there_is_named(run):
    with pytest.raises(NotInRun, match="does not contain heavy_top"):
        run.cost("heavy_top")


def test_the_figure_has_every_method_in_every_form(run):
    with style.settings():
        drawn = rendering.figure("relative_cost", run)
    left, right = drawn.axes
    assert len(left.get_yticklabels()) == len(polhode.methods)
    for axes in (left, right):
        symbols = [line for line in axes.lines if line.get_markersize() == 4.8]
        assert len(symbols) == len(polhode.methods)
        bars = [bar.get_paths()[0].get_extents() for bar in axes.collections]
        assert len(bars) == len(symbols), "from the fastest sample to the median"
        for bar, symbol in zip(bars, symbols, strict=True):
            assert bar.x0 == symbol.get_xdata()[0] < bar.x1 <= axes.get_xlim()[1]
        switched = [line for line in axes.lines if line.get_markersize() == 5]
        assert len(switched) == sum(polhode.methods[key].normalisable for key in polhode.methods)
        assert min(line.get_xdata()[0] for line in symbols) >= axes.get_xlim()[0]
    red = [line for axes in (left, right) for line in axes.lines if line.get_color() == "#C00000"]
    assert [list(line.get_xdata()) for line in red] == [[1.3, 1.3]] and red[0] in right.lines


def test_the_table_says_what_was_measured(run):
    data, _ = rendering.table("cost", run)
    assert len(data) == 2 * len(polhode.methods)
    euler = data[(data.method == "euler") & (data.frame == "lab")].iloc[0]
    place = list(polhode.methods).index("euler")
    assert euler.normalised == euler.step == 2 * (30 + 5 * place) and euler.left_alone == 2 * (20 + 5 * place)
    assert euler.to_euler == 1 and euler.operations == operations("euler").total
    assert data[data.method == "pfc4_delvalle2024"].left_alone.isna().all(), "its normalisation cannot be switched"


def test_every_time_of_the_text_is_made(run, tmp_path):
    section = HOME / chapters.FOLDER / "times" / "text.tex"
    text = section.read_text().partition(r"\subsection{Time to a given error}")[0]
    # Operations are counted, not timed, and lack in this run.
    used = {name for name in re.findall(r"\\(cost[A-Za-z]+)", text) if not name.startswith("costOperations")}
    made = rendering.numbers("times", run)
    assert used and used <= set(made)
    assert not [name for name, value in made.items() if "nan" in value.lower()]
    assert made["costCpu"] == r"Invented \& Co 5\_000" and made["costDay"] == "2020-02-03"
    assert made["costPublishedExtra"] == r"\num{30}\,\%"
    assert not re.findall(r"\d", re.sub(r"\\(val(\s*\{[^{}]*\}){4}|setlength\{.*?\}\{.*?\}|cite\{.*?\})|Fig\.~4", "", text)), (
        "no number stands in it"
    )
    rendering.render_numbers("times", run, tmp_path / "cost.tex", macros.used([section]))
    lines = (tmp_path / "cost.tex").read_text().splitlines()[1:]
    assert all(re.fullmatch(r"\\newcommand\{\\cost[A-Za-z]+\}\{.*\}", line) for line in lines)
    names = [line.split("}")[0] for line in lines]
    assert names == sorted(names)


def test_without_times_every_macro_is_not_available(tmp_path):
    empty = Inputs(tmp_path / "single_body.nc", published=HOME / "data" / "published")
    texts = chapters.texts(HOME)
    lines = [line for line in number_lines(empty, tmp_path, texts, timed=True) if r"{\cost" in line]
    # Those of the two codings are a file of the repository, and not of a run.
    lines = [line for line in lines if r"{\costCoding" not in line]
    assert lines and all(line.endswith("{n/a}") for line in lines)


def test_the_numbers_compare_within_a_frame(run):
    made, step = timing_numbers.steps(run), run.cost("step").fastest.sel(frame="lab")
    extra = float(step.sel(integrator="spiral_leapfrog", normalised=0) / step.sel(integrator="euler", normalised=1)) - 1
    assert made["costExtraLabSpiralLeapfrog"] == rf"\num{{{100 * extra:.0f}}}\,\%"


def test_claims_of_time_are_measured_and_not_judged(run):
    rows = pd.read_csv(run.paths["cost_claims"]).set_index("id")
    step = run.cost("step")
    spiral, euler = (
        float(step.relative.sel(integrator=key, frame="lab")[on]) for key, on in (("spiral_leapfrog", 0), ("euler", 1))
    )
    assert rows.measured["delvalle2024_step_spiral"] == pytest.approx(100 * (spiral / euler - 1), rel=1e-4)
    assert rows.verdict["delvalle2024_speed_up_omelyan"] == "not measured"
    # Whatever was measured: other people's times are not judged by those of this machine.
    assert set(rows.verdict) <= {"undecided", "ours: undecided", "not measured"}
    judged = rows[rows.verdict == "undecided"]
    assert len(judged) >= 3 and judged.note.str.contains("measured here").all() and judged.note.str.contains("not judged").all()
    assert len(rendering.table("cost_claims", run)[0]) == len(rows)
    normalised = step.fastest.sel(integrator="euler", frame="lab").values
    assert rows.measured["delvalle2024_normalisation_euler"] == pytest.approx(normalised[1] / normalised[0], rel=1e-5)


def test_times_to_a_target_are_compared(run, tmp_path):
    axes = {"frame": ["body"], "integrator": ["spiral_leapfrog", "euler", "omelyan1998"], "target_error": [1e-2, 1e-5]}
    solved = invented("cost.nc/published", axes, time_to_solution=[[[1.0, 2.0], [30.0, np.nan], [12.0, 5.0]]])
    step = made_up(rounds=12)
    tree = {"/": xr.Dataset(), "step": step, "published": solved}
    write_groups(tree, tmp_path / "cost.nc")
    inputs = Inputs(**run.paths | {"cost": tmp_path / "cost.nc"})
    measured = cost_claims.time_ratio(inputs, "spiral_leapfrog", "omelyan1998", 1e-5)
    # Both methods grow slower alike from round to round, so that nothing scatters.
    assert (measured.value, measured.low, measured.high) == pytest.approx((2.5, 2.5, 2.5))
    least, most = (
        which(inputs, "spiral_leapfrog", ["euler", "omelyan1998"], 1e-2)[0]
        for which in (cost_claims.smallest_time_decades, cost_claims.largest_time_decades)
    )
    assert (least, most) == pytest.approx((np.log10(12), np.log10(30)))
    for other, target, message in (("euler", 1e-5, "does not reach"), ("euler", 1e-3, "not in this run"), ("rk4", 1e-2, "rk4")):
        with pytest.raises(NotInRun, match=message):
            cost_claims.time_ratio(inputs, "spiral_leapfrog", other, target)


def test_a_ratio_of_times_has_the_range_of_its_parts(run, tmp_path):
    rng = np.random.default_rng(3)
    step = made_up(("euler", "spiral_leapfrog", "omelyan1998"), rounds=60)
    step["samples"] *= 1 + rng.exponential(0.1, step.samples.shape)
    write_groups({"/": xr.Dataset(), "step": step}, tmp_path / "cost.nc")
    inputs = Inputs(**run.paths | {"cost": tmp_path / "cost.nc"})
    first, second = ("spiral_leapfrog", "lab", None), ("euler", "lab", None)
    measured = cost_claims._step_ratio(inputs, first, second)
    spiral, euler = step.samples.sel(frame="lab").values[1, 0], step.samples.sel(frame="lab").values[0, 1]
    assert measured.value == pytest.approx(spiral.min() / euler.min())
    parts = [spiral[n : n + 10].min() / euler[n : n + 10].min() for n in range(0, 60, 10)]
    assert (measured.low, measured.high) == pytest.approx((min(parts), max(parts)))
    assert measured.low <= measured.value <= measured.high
    extra = cost_claims.extra_step_time(inputs, "spiral_leapfrog", "lab")
    assert (extra.value, extra.low, extra.high) == pytest.approx([100 * (x - 1) for x in (measured.value, *measured[2:])])
    others = ["euler", "omelyan1998"]
    ratios = [cost_claims._step_ratio(inputs, first, (other, "lab", None)).value for other in others]
    assert cost_claims.largest_step_time(inputs, "spiral_leapfrog", others, "lab").value == pytest.approx(max(ratios))


def test_what_is_timed_stands_apart():
    assert {"relative_cost"} <= set(chapters.names("figures", timed=True)) <= set(chapters.names("figures"))
    assert {"cost", "cost_claims"} <= set(chapters.names("tables", timed=True)) <= set(chapters.names("tables"))


# The command line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "eulr"], "unknown method 'eulr'; did you mean 'euler'?"),
        (["--rounds", "0"], "--rounds must be between 1 and 1000000, got 0"),
        (["--block", "nan"], "--block must be positive"),
        (["--plugin", "nowhere.py"], "nowhere.py does not exist"),
    ],
)
def test_bench_says_what_to_write_instead(arguments, message, capsys):
    assert cli.main(["bench", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_bench_prints_what_it_measured(monkeypatch, tmp_path, capsys):
    def invented(methods, rounds, block, host, *, frames, warmed, progress):
        forms = len(timing.runs_of(methods, frames))
        for _ in range(forms):
            warmed()
        for _ in range(forms * rounds):
            progress()
        return {"step": made_up(tuple(method.key for method in methods), rounds)}

    monkeypatch.setattr(timing, "timing", invented)
    table = tmp_path / "table.csv"
    assert cli.main(["bench", "--methods", "rk4", "pfc4_delvalle2024", "--frame", "both", "--csv", str(table)]) == 0
    shown = capsys.readouterr().out
    assert "Nothing else should run" in shown and shown.count("pfc4_delvalle2024") == 2
    lines = [
        line.split() for line in shown.splitlines() if line.startswith(("rk4", "pfc4_delvalle2024", "euler", "spiral_leapfrog"))
    ]
    # As declared: rk4 30, PFC4 35, euler 40, SPIRAL 35, all but SPIRAL normalised; the cheapest first, each against both.
    assert [line[0] for line in lines[:4]] == ["rk4", "pfc4_delvalle2024", "spiral_leapfrog", "euler"]
    assert lines[0][1:6] == ["30.0", "0.75", "0.86", "30.0*", "20.0"]
    assert lines[1][4:6] == ["35.0*", "--"] and lines[2][4:6] == ["45.0", "35.0*"]
    rows = pd.read_csv(table)
    assert list(rows.method[:4]) == ["rk4", "pfc4_delvalle2024", "spiral_leapfrog", "euler"] and list(rows.frame.unique()) == [
        "body",
        "lab",
    ]


def test_a_chosen_method_keeps_the_company_it_is_set_against():
    assert [m.key for m in bench.chosen(["rk4"], [])] == ["rk4", "euler", "spiral_leapfrog"]
    assert [m.key for m in bench.chosen(None, [])] == list(polhode.methods)


def test_rows_of_a_run_without_spiral():
    rows = step_times.in_frame(made_up(("rk4", "euler")), "body")
    assert rows.to_spiral.isna().all() and list(rows.to_euler) == pytest.approx([30 / 35, 1])


def test_a_plugin_in_one_torque_form_is_timed():
    """A state of the user's own making in which nothing is found is timed in the body frame alone."""
    euler = polhode.methods["euler"]
    assert isinstance(euler, OneTorque)

    def start(q, omega, torque, body, dt):
        return (*q, 2.0 * omega[0], omega[1], omega[2])

    forms = timing.runs_of([replace(euler, key="mine", start=start)])
    assert {(form.frame, form.normalised) for form in forms} == {("body", False), ("body", True)}
