"""Answers that rest on released data compile and time nothing; a motion is asked of few methods, and others are left out."""

import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from scipy import special

import polhode
from polhode import cli
from polhode.advice import contenders, files, from_runs, prices
from polhode.advice.cases import case_of_problem, case_of_words
from polhode.fits import impact_errors, law_file, seed_statistics
from polhode.interface.netcdf import group_names, read_dataset
from polhode.methods import METHODS
from polhode.study.storage import write_groups

#: One question of each kind that released data answer.
QUESTIONS = (
    "--torque-class lab --omega 10 --error 1e-4",
    "--torque-class friction --omega 10 --time 1 --error 1e-3 --several-torques",
    "--contact-time 1e-4 --error 1e-4",
    "--young 5e6 --poisson 0.3 --density 2500 --radius 1e-3 --speed 1 --error 1e-3",
    "--contact-time 1e-4 --friction 0.5 --restitution 0.7 --error 1e-2",
    "--contact-time 1e-4 --for bulk --error 5e-2",
    "--liquid water64 --drift 0.01",
)
#: Asks them in a fresh process, and says what was imported meanwhile.
ASK = """
import contextlib, io, json, sys
from polhode import cli
texts = []
for question in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        assert cli.main(["recommend", *question.split()]) == 0
    texts.append(text.getvalue())
print(json.dumps({"texts": texts, "modules": sorted(sys.modules)}))
"""


def test_answers_from_released_data_compile_nothing(tmp_path, monkeypatch):
    """Twice with an empty folder for compiled code: it stays empty, and the texts are the same, times and all."""
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "elsewhere").mkdir()
    command = [sys.executable, "-c", ASK, json.dumps(QUESTIONS)]
    first, second = (
        json.loads(subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path / "elsewhere").stdout)
        for _ in range(2)
    )
    assert not (tmp_path / "cache").exists()
    assert first["texts"] == second["texts"] and len(first["texts"]) == len(QUESTIONS)
    slow = (
        "llvmlite",
        "numba",
        "matplotlib",
        "scipy.stats",
        "scipy.optimize",
        "seaborn",
        "snakemake",
        "polhode.manybody.engine",
    )
    assert not set(slow) & set(first["modules"])


def test_the_quantile_of_three_values_is_that_of_scipy():
    """To the last bit, for any number of comparisons: results rest on either."""
    levels = [(1 + (1 - (1 - seed_statistics.LEVEL) / comparisons)) / 2 for comparisons in range(1, 500)]
    assert [seed_statistics.student(3, k) for k in range(1, 500)] == [float(special.stdtrit(2, one)) for one in levels]


@pytest.mark.parametrize("size", [1, 20, 59, 118, 5000])
def test_the_impact_that_decides_is_that_of_the_binomial_distribution(size):
    """As scipy.stats has it."""
    from scipy.stats import binom

    errors = np.random.default_rng(size).permutation(size).astype(float)
    at = max(int(binom.ppf(1 - impact_errors.SHARE_OF_IMPACTS, size, 1 - impact_errors.SHARE_OF_IMPACTS)), 1)
    assert impact_errors.served(errors) == size - at


def test_the_release_has_the_prices_of_all_methods():
    known = prices.prices(100.0).step
    assert set(METHODS) - set(METHODS.plugins()) <= set(known)


def test_released_prices_are_those_of_all_methods_without_the_times_of_runs(tmp_path, capsys):
    step = read_dataset(files.released(prices.COST), "step")
    release = ["release", "--cost", "--results", str(tmp_path), "--output", str(tmp_path / "out.nc")]
    groups = {"/": xr.Dataset(), "/step": step, "/many_body": xr.Dataset(), "/many_body_times": xr.Dataset()}
    write_groups(groups, tmp_path / "cost.nc")
    assert cli.main(release) == 0 and group_names(tmp_path / "out.nc") == ["step", "many_body"]
    assert read_dataset(tmp_path / "out.nc", "step").identical(read_dataset(tmp_path / "cost.nc", "step"))
    write_groups({"/": xr.Dataset(), "/step": step.drop_sel(integrator="rk4")}, tmp_path / "cost.nc")
    assert cli.main(release) == 2 and "has no times of rk4;" in capsys.readouterr().err
    write_groups({"/": xr.Dataset(), "/step": step.assign_attrs(released="rk4")}, tmp_path / "cost.nc")
    assert cli.main(release) == 2 and "has times from a release; run workflow/config/full.yaml" in capsys.readouterr().err


def test_a_run_without_a_method_has_its_released_price(tmp_path, monkeypatch):
    """In proportion to direct Euler: 3 there, 5 in the release."""
    times = {"run": {"euler": 2.0}, "release": {"euler": 3.0, "rk4": 5.0}}
    monkeypatch.setattr(prices, "_times", lambda path: (dict(times[path.parent.name]), f"that of a {path.parent.name}"))
    monkeypatch.setattr(prices.files, "find", lambda name, results: results / name)
    monkeypatch.setattr(prices.files, "released", lambda name: tmp_path / "release" / name)
    known = prices.prices(100.0, tmp_path / "run")
    assert known.step == {"euler": 2.0, "rk4": pytest.approx(10 / 3)} and known.source == "that of a run"


def motions_of(case, radians, **others):
    """Stand-ins of exact motions, as far as the choice of methods needs them."""
    smooth = {"jumps": np.empty(0), "corners": np.empty(0), "radians": radians} | others
    return [SimpleNamespace(problem=start, **smooth) for start in case.starts]


def chosen(case, radians=20.0, error=1e-4, one_torque=True, **others):
    """The methods that are run, and all that may be."""
    methods = from_runs.candidates(one_torque)
    motions = motions_of(case, radians, **others)
    return contenders.contenders(case, motions, methods, error, prices.prices(100.0), from_runs.kind), methods


@pytest.mark.parametrize("torque", ["lab", "friction_isotropic"])
@pytest.mark.parametrize("error", [1e-2, 1e-4, 1e-7])
def test_the_fastest_for_each_body_is_among_those_run(torque, error):
    """The time of each method for each body by hand, from the laws and the prices."""
    few, methods = chosen(case_of_words((1, 2, 2.5), 10.0, torque, 2.0, 0.5), error=error)
    data = read_dataset(files.released(files.LAWS)).sel(torque_class=torque, integrator=[method.key for method in methods])
    steps = 20.0 * law_file.steps_per_radian(data.expand_dims("torque_class"), [error], 20.0)["steps"].values[0, :, :, 0]
    step = prices.prices(100.0).step
    seconds = [
        n * step[method.key] + (n + method.starting_torques(1 << 30)) * 100 * step["euler"]
        for method, n in zip(methods, steps, strict=True)
    ]
    fastest = {methods[i].key for i in np.nanargmin(np.where(np.isnan(seconds), np.inf, seconds), axis=0)}
    assert fastest <= set(few.run) and 2 <= len(few.run) <= len(methods) / 2
    assert set(few.run) | set(few.left_out) == {method.key for method in methods} and not set(few.run) & set(few.left_out)
    assert from_runs.kind(METHODS[few.run[-1]]) == "one torque"


@pytest.mark.parametrize(
    ("strength", "others"), [(50.0, {}), (0.001, {}), (0.5, {"jumps": np.array([0.3])}), (0.5, {"corners": np.array([0.3])})]
)
def test_motions_unlike_the_bodies_are_asked_of_all_methods(strength, others):
    case = case_of_words((1, 2, 2.5), 10.0, "lab", 2.0, strength)
    assert chosen(case, **others)[0] is None


def test_a_torque_of_formulas_may_be_of_any_lesser_class():
    """Of a heavy top's class, of those that depend on time alone, too; and of no torque of nothing at all."""
    problem = polhode.problems["asymmetric_heavy_top"]
    case = case_of_problem(problem)
    classes = list(map(str, read_dataset(files.released(files.LAWS))["torque_class"].values))
    assert {"state", "lab", "time", "constant"} == {*contenders.related(case, classes)}
    free = case_of_problem(polhode.problems["free_asymmetric_top"])
    assert contenders.related(free, classes) == ["free"]


def test_more_steps_than_any_body_takes_are_unlike_the_bodies():
    few = contenders.Contenders(("a", "b"), ("c",), 512, "lab", {"a": 100.0, "b": 50.0})
    assert few.is_like_the_bodies({"a": 149}) and few.is_like_the_bodies({"a": 20, "plugin": 10_000})
    assert (
        not few.is_like_the_bodies({"a": 151}) and not few.is_like_the_bodies({"plugin": 3}) and not few.is_like_the_bodies({})
    )


def test_a_method_of_ones_own_without_a_price_is_run_and_timed(monkeypatch):
    """It has no laws: it is among those run. Its step is timed beside one whose price is known, once it meets the error."""
    methods = [*from_runs.candidates(True), SimpleNamespace(key="my_method", label="mine", torques_per_step=1)]
    case = case_of_words((1, 2, 2.5), 10.0, "lab", 2.0, 0.5)
    known = prices.prices(100.0)
    few = contenders.contenders(case, motions_of(case, 20.0), methods, 1e-4, known, lambda method: "one torque")
    assert "my_method" in few.run
    monkeypatch.setattr(prices, "_timed", lambda method: {"my_method": 3e-7, "rk4": 1e-7}[method.key])
    assert known.seconds(SimpleNamespace(key="my_method", torques_in=lambda n: n), 10) == pytest.approx(1000 * known.unit)
    known.measure(methods[-1], METHODS["rk4"])
    assert known.step["my_method"] == pytest.approx(3 * known.step["rk4"]) and known.known_from().endswith(", of mine here")
