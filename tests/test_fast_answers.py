"""Answers that rest on released data compile and time nothing; a motion is asked of few methods, and others are left out."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from conftest import said_by
from scipy import special

import polhode
from polhode import cli
from polhode.advice import contenders, files, from_runs, prices
from polhode.advice.cases import case_of_problem, case_of_words
from polhode.fits import impact_errors, law_file, seed_statistics
from polhode.interface.netcdf import group_names, read_dataset, read_table
from polhode.interface.storage import write_groups
from polhode.methods import METHODS

#: One question of each kind that released data answer.
QUESTIONS = (
    "--torque-class lab --omega 10 --error 1e-4",
    "--torque-class friction --omega 10 --time 1 --error 1e-3 --several-torques",
    "--contact-time 1e-4 --error 1e-4",
    "--young 5e6 --poisson 0.3 --density 2500 --radius 1e-3 --speed 1 --error 1e-3",
    "--contact-time 1e-4 --friction 0.5 --restitution 0.7 --error 1e-2",
    "--contact-time 1e-4 --for bulk --error 5e-2",
    "--liquid water64 --drift 0.01",
    "--liquid 33fs --code amber",
    "--contact-time 1e-4 --for bulk --restitution 0.4 --code lammps --error 5e-2",
    "--contact-time 1e-4 --friction 0.5 --restitution 0.4 --code lammps --error 1e-2",
    "--contact-time 1e-4 --for bulk --friction 0.3 --code yade --error 5e-2",
    "--liquid spce",
    "--liquid 33fs --code openmm --length 10ns",
    "--liquid water64 --bath nose-hoover",
    "--liquid 33fs --bath v-rescale --bias 2",
    "--liquid tip4p2005 --bath v-rescale --code gromacs",
    "--liquid spce --bath langevin --gamma 1/ps",
    "--liquid spce --bath langevin --gamma 1/ps --code gromacs",
    *(
        f"--liquid {liquid} --code lammps{bath}"
        for liquid in ("water64", "spce", "tip4p2005")
        for bath in ("", " --bath nose-hoover", " --bath langevin --gamma 1/ps")
    ),
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
    first, second = (json.loads(said_by(ASK, json.dumps(QUESTIONS), cwd=tmp_path / "elsewhere")) for _ in range(2))
    assert not (tmp_path / "cache").exists()
    assert first["texts"] == second["texts"] and len(first["texts"]) == len(QUESTIONS)
    for text in first["texts"]:
        assert text.startswith(("Take ", "In ")) and text.count("\n") <= 12 and text.endswith("other methods: --why.\n")
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


def test_an_answer_for_a_class_imports_no_xarray(tmp_path):
    """In a folder with a run of fewer bodies, too, of which it needs the number alone."""
    (tmp_path / "results").mkdir()
    xr.Dataset({"moments": (("body", "axis"), np.ones((3, 3)))}).to_netcdf(tmp_path / "results" / "ensembles.nc")
    answer = json.loads(said_by(ASK, json.dumps([QUESTIONS[0] + " --why"]), cwd=tmp_path))
    assert "512 bodies, against 3;" in " ".join(answer["texts"][0].split())
    assert not {"xarray", "pandas", "numba", "scipy"} & set(answer["modules"])


@pytest.mark.parametrize(("name", "group"), [("laws.nc", None), ("cost.nc", "step")])
def test_a_table_has_the_bits_that_xarray_reads(name, group):
    table, data = read_table(files.released(name), group), read_dataset(files.released(name), group)
    assert set(table.variables) == set(data.variables) and table.sizes == dict(data.sizes)
    for key, variable in data.variables.items():
        column = table[key]
        assert (column.dims, column.values.dtype, column.attrs) == (variable.dims, variable.dtype, variable.attrs)
        same = (
            column.values == variable.values
            if variable.dtype == object
            else [column.values.tobytes() == variable.values.tobytes()]
        )
        assert np.all(same), key
    if name == "laws.nc":
        few = {"torque_class": ["lab", "free"]}
        assert (table.sel(**few)["departure"].values == data.sel(**few)["departure"].values).all()
        with pytest.raises(KeyError):
            table.sel(torque_class=["none"])


def test_released_step_times_are_those_of_the_released_costs(tmp_path):
    released = files.released(prices.COST)
    times, cpu = prices.times_in(released)
    data = read_dataset(released, "step")
    at = data["fastest"].sel(frame="body", integrator="rk4").values
    assert times["rk4"] == 1e-9 * float(at[int(data["declared"].sel(integrator="rk4"))])
    recorded = json.loads(released.with_name(prices.STEPS_ALONE).read_text(encoding="utf-8"))
    assert (recorded["seconds"], recorded["cpu"]) == (times, cpu)
    # Beside another cost.nc they do not count.
    folder = tmp_path / files.RELEASED
    folder.mkdir(parents=True)
    write_groups({"/": xr.Dataset(), "/step": data.assign(fastest=2 * data["fastest"])}, folder / prices.COST)
    (folder / prices.STEPS_ALONE).write_text(json.dumps(recorded), encoding="utf-8")
    assert prices._times(folder / prices.COST)[0]["rk4"] == 2 * times["rk4"]


def test_the_quantile_of_three_values_is_that_of_scipy():
    """To the last bit, for any number of comparisons: results rest on either."""
    levels = [(1 + (1 - (1 - seed_statistics.LEVEL) / comparisons)) / 2 for comparisons in range(1, 500)]
    assert [seed_statistics.student(3, k) for k in range(1, 500)] == [float(special.stdtrit(2, level)) for level in levels]


@pytest.mark.parametrize("size", [1, 20, 59, 118, 5000])
def test_the_decisive_impact_is_a_binomial_quantile(size):
    """As scipy.stats has it."""
    from scipy.stats import binom

    errors = np.random.default_rng(size).permutation(size).astype(float)
    at = max(int(binom.ppf(1 - impact_errors.SHARE_OF_IMPACTS, size, 1 - impact_errors.SHARE_OF_IMPACTS)), 1)
    assert impact_errors.served(errors) == size - at


def test_the_release_has_the_prices_of_all_methods():
    known = prices.prices(100.0).step
    assert set(METHODS) - set(METHODS.plugins()) <= set(known)


def test_released_prices_are_of_all_methods(tmp_path, capsys):
    step = read_dataset(files.released(prices.COST), "step")
    release = ["release", "--cost", "--results", str(tmp_path), "--output", str(tmp_path / "out.nc")]
    groups = {"/": xr.Dataset(), "/step": step, "/many_body": xr.Dataset(), "/many_body_times": xr.Dataset()}
    write_groups(groups, tmp_path / "cost.nc")
    assert cli.main(release) == 0 and group_names(tmp_path / "out.nc") == ["step", "many_body"]
    assert read_dataset(tmp_path / "out.nc", "step").identical(read_dataset(tmp_path / "cost.nc", "step"))
    assert json.loads((tmp_path / prices.STEPS_ALONE).read_text())["seconds"] == prices.times_in(tmp_path / "cost.nc")[0]
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


def test_a_run_leaves_out_what_cannot_win():
    """With 65 steps of the first method under gravity, as for the cubesat of the documentation; by hand."""
    few, _ = chosen(case_of_words((1, 2, 2.5), 10.0, "state", 6.0, 0.05), radians=60.0, error=8e-4)
    first = "exact_rotor_corrected"
    like = abs(np.log(few.steps[first] / 65)) <= np.log(1.5)
    best = np.min([few.seconds[key][like] for key in few.kinds], axis=0)
    wins = {key: np.mean(few.seconds[key][like] <= best) for key in few.run}
    narrow = few.narrowed({first: 65}, [first], ["one torque"])
    of_one = [key for key in narrow.run if few.kinds[key] == "one torque"]
    assert len(of_one) == 1, "far slower than the first, so that only the best of its kind is wanted"
    assert set(narrow.run) - {*of_one} == {key for key in few.run if wins[key] >= 0.02 or key == first}
    assert set(narrow.dropped) == set(few.run) - set(narrow.run)
    assert len(narrow.dropped) > 1
    assert narrow.alike == like.sum() and f"{len(narrow.dropped)} further methods were not run" in narrow.on_left_out()
    # Of steps that no body takes nothing follows.
    assert few.narrowed({first: 10**7}, [first], []) is few


def test_methods_are_left_out_before_they_are_compiled(monkeypatch):
    """One after the other: what the steps of the first rule out is neither compiled nor run."""
    compiled = []
    monkeypatch.setattr(from_runs, "compile_all", lambda keys, **how: compiled.extend(keys) or [])
    monkeypatch.setattr(from_runs, "compile_drivers", lambda: None)
    case = case_of_words((1, 2, 2.5), 10.0, "lab", 2.0, 0.5)
    monkeypatch.setattr(from_runs, "_starts", lambda *others: from_runs.Starts(motions_of(case, 20.0), 0))
    few = contenders.Contenders(("rk4", "euler", "cf4"), (), 512, "lab", {"rk4": 1e6})
    monkeypatch.setattr(from_runs, "contenders", lambda *others: few)
    narrow = contenders.Contenders(("rk4",), (), 512, "lab", {"rk4": 1e6}, dropped=("euler", "cf4"), alike=20)
    monkeypatch.setattr(contenders.Contenders, "narrowed", lambda *others: narrow)
    enough_steps = from_runs.FewestSteps(10, 1e-5)
    monkeypatch.setattr(from_runs.Search, "__init__", lambda self, motions, error, budget: setattr(self, "allowed", error))

    def search(self, methods, priced, exact, everything, progress, fewest):
        fewest |= {method.key: enough_steps for method in methods}

    class Enough(Exception):
        pass

    def enough(*others):
        raise Enough

    monkeypatch.setattr(from_runs.Search, "search", search)
    monkeypatch.setattr(from_runs, "_refuse_a_wrong_motion", enough)
    with pytest.raises(Enough):
        from_runs.from_runs(case, 1e-4)
    assert compiled == ["rk4"]


def test_a_motion_that_friction_ends_counts_its_first_radians():
    """It turns by a radian in a time in which it would have turned by 20; the laws count these."""
    case = case_of_words((1, 2, 2.5), 10.0, "friction", 2.0)
    (few, _), (steady, _) = chosen(case, radians=1.0), chosen(case, radians=20.0)
    assert few.most == steady.most and few.run == steady.run
    assert few.is_like_the_bodies({"magnus_adams4": 200})  # what it takes by the search of from_runs


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
