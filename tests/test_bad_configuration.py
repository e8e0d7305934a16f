"""Configurations that cannot be run: each is refused at once, with file, line, key, what was expected and what to do."""

import copy
import json
import os
import re
import time
from pathlib import Path

import numpy as np
import pytest
import yaml
from conftest import checkout_said
from numba import types
from studies import default, merged, reduced

from polhode.advice.cases import case_of_file
from polhode.advice.errors import AdviceError
from polhode.interface import reading
from polhode.interface.arrays import Arrays
from polhode.interface.netcdf import read_dataset
from polhode.interface.storage import write_dataset
from polhode.methods import one_body, several_bodies
from polhode.simulate import MOST_STEPS, count_steps, sampled_steps
from polhode_study import configuration, estimate
from polhode_study.configuration import ConfigurationError, models
from polhode_study.plan import Plan
from polhode_study.run import scene as many_body

HOME = Path(__file__).parents[1]
CONFIGURATIONS = [HOME / "config.yaml", *sorted((HOME / "workflow" / "config").glob("*.yaml"))]
DEFAULT = default()
#: Two problems and two scenes; what tests change stands in a file of its own.
SMALL = DEFAULT | {
    "methods": ["spiral_leapfrog", "euler", "rk4"],
    "checks": ["stability"],
    "notebooks": [],
    "problems": {key: DEFAULT["problems"][key] for key in ("spiral_cylinder", "heavy_top")},
}


@pytest.fixture
def resolve(tmp_path, monkeypatch):
    """The study of a configuration file with this text, merged into the small one."""
    monkeypatch.chdir(tmp_path)

    def of(text: str) -> configuration.Study:
        path = tmp_path / "mine.yaml"
        path.write_text(f"# Mine\n{text}\n")
        config = merged(copy.deepcopy(SMALL), yaml.safe_load(text))
        return configuration.resolve(config, HOME, [HOME / "config.yaml", path])

    return of


def refused(resolve, text: str) -> str:
    with pytest.raises(ConfigurationError) as error:
        resolve(text)
    return str(error.value)


# --- what the schema and the keys themselves forbid ---------------------------------------------------------------------

#: What is written, and how the message goes on behind "mine.yaml:2: ".
BAD = [
    # Numbers that are none, wherever one may stand.
    ("problems: {heavy_top: {check_until: .nan}}", "problems.heavy_top.check_until must be a finite number, got nan"),
    ("problems: {heavy_top: {check_until: 1e400}}", "problems.heavy_top.check_until must be a finite number, got inf"),
    ("problems: {heavy_top: {dt: {a: {geometric: [0.001, .nan, 3]}}}}", "problems.heavy_top.dt.a.geometric.1 must be a finite"),
    ("problems: {heavy_top: {dt: {a: {values: [0.001, .inf]}}}}", "problems.heavy_top.dt.a.values.1 must be a finite number"),
    ("problems: {spiral_cylinder: {targets: {errors: [.nan]}}}", "problems.spiral_cylinder.targets.errors.0 must be a finite"),
    ("cost: {torque_prices: [0, .inf]}", "cost.torque_prices.1 must be a finite number, got inf"),
    ("many_body: {chess: {spin: .nan}}", "many_body.chess.spin must be a finite number"),
    ("limits: {cpu_hours: .inf}", "limits.cpu_hours must be a finite number"),
    ("digits: 1" + 40 * "0", "digits must be a number of at most 2^53"),
    # Whole numbers that are not whole.
    ("digits: 50.5", "digits must be a whole number, got 50.5"),
    ("problems: {heavy_top: {samples: true}}", "problems.heavy_top.samples must be a whole number, got true"),
    ("problems: {heavy_top: {dt: {fit: {divisions: [4.5, 8, 3]}}}}", "problems.heavy_top.dt.fit.divisions.0 must be a whole"),
    ("problems: {heavy_top: {dt: {a: {geometric: [0.01, 0.1, 4.5]}}}}", "problems.heavy_top.dt.a.geometric.2 must be a whole"),
    ("many_body: {chess: {seeds: 2.5}}", "many_body.chess.seeds must be a whole number, got 2.5"),
    # Out of bounds.
    ("digits: 5", "digits must be at least 20, got 5"),
    ("problems: {heavy_top: {samples: 0}}", "problems.heavy_top.samples must be at least 1, got 0"),
    ("problems: {heavy_top: {dt: {a: {geometric: [0.01, 0.1, 0]}}}}", "problems.heavy_top.dt.a.geometric.2 must be at least 1"),
    ("problems: {heavy_top: {check_until: 0}}", "problems.heavy_top.check_until must be greater than 0, got 0"),
    ("problems: {spiral_cylinder: {targets: {errors: [2.0]}}}", "problems.spiral_cylinder.targets.errors.0 must be at most 1"),
    ("many_body: {chess: {spin: -1}}", "many_body.chess.spin must be at least 0, got -1"),
    ("limits: {files: -1}", "limits.files must be greater than 0, got -1"),
    ("ensembles: {seed: -1}", "ensembles.seed must be at least 0, got -1"),
    ("ensembles: {steps: {halvings: 41}}", "ensembles.steps.halvings must be at most 40, got 41"),
    ("ensembles: {radians: []}", "ensembles.radians"),
    ("ensembles: {radians: [2, 2]}", "ensembles.radians holds 2 twice; keep one"),
    ("ensembles: {radians: [2, 3.5]}", "ensembles: radians: 3.5 is not a whole number of the coarsest steps of 1"),
    ("ensembles: {classes: [labs]}", "ensembles.classes: unknown torque class 'labs'; did you mean 'lab'?"),
    ("ensembles: {methods: [spiral_leapfrgo]}", "ensembles.methods: unknown method 'spiral_leapfrgo'; did you mean"),
    ("ensembles: {body: 3}", "unknown key 'body' in ensembles: did you mean 'bodies'?"),
    ("problems: {heavy_top: {dt: {fit: {divisions: [0, 8, 3]}}}}", "problems.heavy_top.dt.fit.divisions.0 must be at least 1"),
    ("problems: {heavy_top: {dt: {a: {values: [0.0]}}}}", "problems.heavy_top.dt.a.values.0 must be greater than 0"),
    ("problems: {spiral_cylinder: {dt: {a: {values: [0.3]}}}}", "problems.spiral_cylinder.dt.a: dt = 0.3 does not divide"),
    ("problems: {spiral_cylinder: {dt: {a: {values: [3.0]}}}}", "problems.spiral_cylinder.dt.a: dt = 3.0 is longer than"),
    ("problems: {spiral_cylinder: {long_run: {dt: 0.3}}}", "problems.spiral_cylinder.long_run: dt = 0.3 does not divide"),
    ("cost: {rounds: 0}", "cost.rounds must be at least 1, got 0"),
    ("cost: {block: 0.0}", "cost.block must be greater than 0"),
    ("cost: {target_errors: [1e-3, -1.0]}", "cost.target_errors.1 must be greater than 0"),
    ("cost: {torque_prices: [-1]}", "cost.torque_prices.0 must be at least 0"),
    # Of the wrong kind.
    ("problems: {heavy_top: 3}", "problems.heavy_top must be keys with values of their own or null, got 3"),
    ("problems: {heavy_top: {dt: {a: [1]}}}", "problems.heavy_top.dt.a must be keys with values of their own or null, got [1]"),
    ("problems: {heavy_top: {dt: null}}", "problems.heavy_top.dt must be keys with values of their own, got null"),
    ("problems: [heavy_top]", "problems must be keys with values of their own, got ['heavy_top']"),
    ("problems: {heavy_top: {dt: {a: {values: 0.1}}}}", "problems.heavy_top.dt.a.values must be a list or null, got 0.1"),
    ("problems: {heavy_top: {dt: {a: {values: [0.1], truncate: 1}}}}", "problems.heavy_top.dt.a.truncate must be true or"),
    (
        "problems: {heavy_top: {dt: {a: {values: [0.1], methods: [eular]}}}}",
        "problems.heavy_top.dt.a.methods: unknown method 'eular'; did you mean 'euler'",
    ),
    (
        "problems: {heavy_top: {dt: {fit: {methods: [rk4]}}}, lab_torque: null}\nmethods: [euler]",
        "problems.heavy_top.dt: every set of step sizes has a list of methods, and none of the study is in them; add one",
    ),
    ("limits: null", "limits must be keys with values of their own, got null"),
    ("limits: {files: lots}", "limits.files must be a number or null, got 'lots'"),
    ("methods: [1]", "methods.0 must be a string, got 1"),
    ("methods: [on]", "methods.0 must be a string, got true; YAML reads on, off, yes and no as true or false: write a name in"),
    ("problems: {no: null}", "problems: the key False must be a string, but YAML reads on, off, yes and no as true or false"),
    ("methods: spiral", 'methods: the word "all" or a list of method keys; got \'spiral\''),
    ("many_body: {chess: {methods: spiral}}", 'many_body.chess.methods: the word "all"'),
    ("checks: 3", "checks: experiments on single methods: the word"),
    ("plugins: nowhere.py", "plugins must be a list, got 'nowhere.py'"),
    ("plugins: [nowhere.py]", "plugins.0: plug-in"),
    ("problems: {1: null}", "problems: the key 1 must be a string"),
    # Lists of the wrong length.
    ("problems: {heavy_top: {dt: {a: {values: []}}}}", "problems.heavy_top.dt.a.values must not be empty"),
    ("problems: {heavy_top: {dt: {fit: {divisions: [4, 8]}}}}", "problems.heavy_top.dt.fit.divisions must be [fewest,"),
    ("problems: {heavy_top: {dt: {a: {geometric: [0.1]}}}}", "problems.heavy_top.dt.a.geometric must be [first, last, count]"),
    ("methods: []", "methods must not be empty"),
    ("cost: {torque_prices: [1, 5, 1]}", "cost.torque_prices holds 1 twice; keep one"),
    ("problems: {spiral_cylinder: {targets: {errors: [0.1, 0.1]}}}", "problems.spiral_cylinder.targets.errors holds"),
    # Targets that no run can meet.
    ("problems: {spiral_cylinder: {targets: {dt_max: 10}}}", "problems.spiral_cylinder.targets.dt_max = 10 is longer"),
    ("problems: {spiral_cylinder: {targets: {truncate: false}}}", "problems.spiral_cylinder.targets: the step sizes tried do"),
    ("problems: {spiral_cylinder: {targets: {dt_min: 1}}}", "problems.spiral_cylinder.targets: dt_min = 1 is not below dt_max"),
    (
        "problems: {coupled_cylinders: {samples: 4, dt: {fit: {divisions: [8, 64, 4]}}, "
        "targets: {errors: [1e-2], dt_min: 1e-4, dt_max: 0.1, truncate: true}}}",
        "problems.coupled_cylinders.targets: needs one body",
    ),
    ("problems: {heavy_top: null, spiral_cylinder: null}", "problems: every one is null"),
    # Ladders of two kinds, or of none.
    ("problems: {heavy_top: {dt: {a: {values: [0.1], divisions: [1, 2, 2]}}}}", "problems.heavy_top.dt.a has both divisions ("),
    ("problems: {heavy_top: {dt: {fit: {values: [0.1]}}}}", "problems.heavy_top.dt.fit has both divisions ("),
    ("problems: {heavy_top: {dt: {fit: {geometric: [0.1, 1, 2]}}}}", "problems.heavy_top.dt.fit has both geometric (mine"),
    ("many_body: {chess: {dt: {shown: {divisions: [1, 2, 3]}}}}", "many_body.chess.dt.shown has both divisions (mine.yaml:2)"),
    ("problems: {heavy_top: {dt: {fit: {divisions: null}}}}", "problems.heavy_top.dt.fit needs geometric, divisions or values"),
    ("problems: {heavy_top: {dt: {fit: null}}}", "problems.heavy_top.dt: every set of step sizes is null"),
    # Unknown names.
    ("digts: 3", "unknown key 'digts' in top level: did you mean 'digits'?"),
    ("limits: {hours: 1}", "unknown key 'hours' in limits: did you mean 'cpu_hours'?"),
    ("problems: {heavy_top: {long_run: {horizn: 3}}}", "unknown key 'horizn' in problems.heavy_top.long_run: did you mean"),
    ("problems: {heavy_topp: null, heavy_tip: {samples: 1, dt: {a: {values: [1]}}}}", "problems.heavy_tip: unknown problem"),
    ("checks: [stabilty]", "checks: unknown check 'stabilty'; did you mean 'stability'"),
    ("methods: [eulr]", "methods: unknown method 'eulr'; did you mean 'euler'?"),
    ("many_body: {chess: {methods: [rk4]}}", "many_body.chess.methods: 'rk4' cannot run many bodies"),
    ("many_body: {rods: {scene: rod}}", "many_body.rods: unknown scene 'rod'; did you mean 'rods'"),
    ("many_body: {rods: {methods: [omelyan]}}", "many_body.rods.methods: unknown method 'omelyan'; did you mean 'omelyan1998'"),
    ("many_body: {rods: {film: {method: rk4}}}", "many_body.rods.film: 'rk4' cannot run"),
    ("many_body: {rods: {dt: {more: {values: [1e-4]}}, over_time: true}}", "many_body.rods.over_time: needs exactly one"),
    ("many_body: {rods: {dt: {more: {values: [1e4]}}}}", "many_body.rods.dt.more: dt = 10000.0 is longer than the time to"),
    ("many_body: {rods: {dt: {published: null}}}", "many_body.rods.dt: every set of step sizes is null"),
    ("many_body: {rods: {seed: 3}}", "unknown key 'seed' in many_body.rods: did you mean 'seeds'"),
    ("many_body: {rods: {seeds: 0}}", "many_body.rods.seeds must be at least 1, got 0"),
    ("many_body: {Chess: null}", "many_body: the name of a scene is made of lower-case letters"),
    ("many_body: {none: null}", "many_body: the name of a scene is made of lower-case letters"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD, ids=[text for text, _ in BAD])
def test_what_cannot_be_is_named(resolve, text, message):
    message_shown = refused(resolve, text)
    assert "\n" not in message_shown
    assert message_shown.startswith("mine.yaml:2: " + message)


@pytest.mark.parametrize("key", ["digits", "cost"])
def test_a_key_that_is_missing_is_named(key):
    with pytest.raises(ConfigurationError, match=rf"config\.yaml: top level lacks '{key}'"):
        configuration.resolve({name: value for name, value in SMALL.items() if name != key}, HOME, [HOME / "config.yaml"])


def test_whole_numbers_may_be_written_as_powers_of_ten(resolve):
    study = resolve("digits: 5e1\nproblems: {heavy_top: {samples: 4.0, dt: {fit: {divisions: [4, 1e3, 3]}}}}")
    heavy_top = study.problems["heavy_top"]
    assert (study.digits, heavy_top.samples) == (50, 4) and type(heavy_top.samples) is type(study.digits) is int
    assert [step.steps for step in heavy_top.steps] == [1000, 63, 4]


def test_numbers_in_quotes_are_numbers(resolve):
    # As all of them are that `--config 'limits={files: 300000}'` hands over.
    study = resolve("limits: {files: '300000'}\nproblems: {heavy_top: {samples: '3', check_until: '.5'}}\nresults: '2024'")
    heavy_top = study.problems["heavy_top"]
    assert (heavy_top.samples, heavy_top.check_until, study.results) == (3, 0.5, Path("2024"))


def test_a_ladder_takes_the_place_of_one_of_another_kind(resolve):
    heavy_top = resolve("problems: {heavy_top: {dt: {fit: {divisions: null, values: [0.1, 0.5]}}}}").problems["heavy_top"]
    assert [step.dt for step in heavy_top.steps] == [0.1, 0.5]


def test_a_message_names_the_file_that_says_it(resolve):
    message = refused(resolve, "problems:\n  heavy_top:\n    samples: 3\n    check_until: -1")
    assert message.startswith("mine.yaml:5: problems.heavy_top.check_until")
    config = merged(SMALL, {"problems": {"heavy_top": {"samples": "many"}}})  # as from the command line
    with pytest.raises(
        ConfigurationError, match=r"config\.yaml:\d+ \(changed on the command line\): problems\.heavy_top\.samples"
    ):
        configuration.resolve(config, HOME, [HOME / "config.yaml"])
    with pytest.raises(ConfigurationError, match=r"^configuration: problems\.heavy_top\.samples"):
        configuration.resolve(config, HOME)


# --- the folder of the results --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("/", "holds the folder of the code"),
        ("..", "holds the folder of the code"),
        (".", "is the folder of the code itself"),
        ("src", "lies in src, which is part of the code"),
        ("results/../data", "lies in data"),
        ("Workflow/x", "lies in Workflow"),
        (str(HOME / "profiles" / "x"), "lies in profiles"),
        ("   ", "is blank"),
        ("results ", "begins or ends with a blank"),
        ("a{b}", "holds '{' '}'"),
        ("res*", "holds '*'"),
        ("a[0]", "holds '[' ']'"),
        ("a\nb", "holds '\\n'"),
        ("~/results", "begins with ~, which only a shell knows"),
        ("-n", "begins with -"),
        ("config.yaml", "is a file"),
        ("config.yaml/x", "config.yaml is a file"),
        ("x" * 300, "is longer than a file system allows"),
        (str(Path.home()), "folder"),
    ],
)
def test_results_stay_out_of_the_way(folder, reason):
    with pytest.raises(ConfigurationError, match=r"results: ") as error:
        configuration.resolve(SMALL | {"results": folder}, HOME)
    assert reason in str(error.value) and "name a folder of its own, such as results" in str(error.value)


def test_results_may_lie_elsewhere(tmp_path):
    for folder in ("results", "results-published", "deep/er", "a b", str(tmp_path / "new" / "er"), "../elsewhere", "sources"):
        assert configuration.resolve(SMALL | {"results": folder}, HOME).results == Path(folder)
    (tmp_path / "link").symlink_to(HOME / "src")
    with pytest.raises(ConfigurationError, match="lies in src"):
        configuration.resolve(SMALL | {"results": str(tmp_path / "link")}, HOME)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_results_must_be_writable(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(ConfigurationError, match="cannot be written"):
        configuration.resolve(SMALL | {"results": str(tmp_path / "new")}, HOME)


# --- what a study would take ------------------------------------------------------------------------------------------------

#: What is written, which limit it breaks, and which section is blamed.
TOO_MUCH = [
    ("problems: {heavy_top: {dt: {fit: {divisions: [4, 1000000000000000, 3]}}}}", "cpu_hours", "problems.heavy_top"),
    ("problems: {heavy_top: {dt: {a: {values: [1e-300], truncate: true}}}}", "cpu_hours", "problems.heavy_top"),
    ("problems: {heavy_top: {dt: {fit: {divisions: [4, 16, 1000000000]}}}}", "files", "problems.heavy_top"),
    ("problems: {heavy_top: {long_run: {dt: 1e-8}}}", "cpu_hours", "problems.heavy_top"),
    ("problems: {heavy_top: {samples: 1e11, dt: {a: {values: [1e-10]}}}}", "memory_gib", "problems.heavy_top"),
    ("problems: {heavy_top: {check_until: 1e9}}", "cpu_hours", "problems.heavy_top"),
    ("problems: {spiral_cylinder: {targets: {dt_min: 1e-300}}}", "cpu_hours", "problems.spiral_cylinder"),
    ("cost: {block: 1000.0}", "cpu_hours", "cost"),
    ("cost: {rounds: 1e11}", "memory_gib", "cost"),
    ("many_body: {chess: {seeds: 1000000}}", "files", "many_body.chess"),
    ("many_body: {chess: {horizon: 1e9}}", "cpu_hours", "many_body.chess"),
    ("many_body: {chess: {samples: 1e11, horizon: 100}}", "memory_gib", "many_body.chess"),
    ("many_body: {rods: {film: {dt: 1e-12}}}", "cpu_hours", "many_body.rods"),
    ("limits: {files: 100}", "files", "problems.spiral_cylinder"),
    ("limits: {cpu_hours: 0.001}", "cpu_hours", "many_body.chess"),
    ("limits: {memory_gib: 0.1}", "memory_gib", "methods"),
    ("limits: {disk_gib: 0.001}", "disk_gib", ""),
]


@pytest.mark.parametrize(("text", "limit", "key"), TOO_MUCH, ids=[text for text, *_ in TOO_MUCH])
def test_too_large_a_study_is_refused_before_it_is_expanded(resolve, monkeypatch, text, limit, key):
    monkeypatch.setattr(configuration.study, "_rungs", lambda *_: pytest.fail("a ladder was expanded"))
    began = time.process_time()
    message = refused(resolve, text)
    assert time.process_time() - began < 2
    assert re.search(rf"\.yaml:\d+: {re.escape(key)}\S*: the study would take about ", message)
    assert re.search(rf"; limits\.{limit} is [\d.,]+ \(\S+\.yaml:\d+\)\. Take .*, or raise this limit$", message)


def test_without_limits_only_what_cannot_be_counted_is_refused(resolve):
    none = "limits: {cpu_hours: null, memory_gib: null, disk_gib: null, files: null}"
    study = resolve(none + "\nproblems: {heavy_top: {dt: {fit: {divisions: [4, 1000000000000, 3]}}}}")
    assert study.problems["heavy_top"].steps[0].steps == 10**12
    message = refused(resolve, none + "\nproblems: {heavy_top: {dt: {a: {values: [1e-300]}}}}")
    assert message.startswith("mine.yaml:3: problems.heavy_top.dt.a: dt = 1e-300 makes 2e+300 steps")


@pytest.mark.thorough
def test_our_configurations_are_within_the_limits():
    sizes = {}
    for path in CONFIGURATIONS:
        study = configuration.resolve(merged(DEFAULT, reading.read(path).values), HOME, [CONFIGURATIONS[0], path])
        plan = Plan(study, HOME)
        expected = study.estimate
        jobs = [
            json.loads(job)
            for key, problem in study.problems.items()
            for job in plan.origins(plan.part_paths(key, problem.methods)).values()
        ]
        single = sum(len(job["settings"].get("dt", [""])) for job in jobs)
        # Divisions that round to the same number of steps are one.
        assert single <= expected.single_runs <= 1.02 * single
        assert expected.many_runs == sum(study.scenes[scene].seeds for scene, *_ in plan.names("many_body_runs"))
        sizes[path.stem] = {limit: expected.total(limit) for limit in estimate.LIMITED}
    # What the quick one took with nothing compiled: 405 s of CPU time, 42 MB, 795 MiB in a job.
    quick = sizes["quick"]
    assert (
        200 < 3600 * quick["cpu_hours"] < 1000 and 21e6 < 2**30 * quick["disk_gib"] < 84e6 and 0.4 < quick["memory_gib"] < 1.5
    )
    # Its own heading says two hours; it took four with ten steps for every method. An estimate is good to a factor of two.
    assert "# About two hours of CPU time." in (HOME / "workflow/config/published.yaml").read_text()
    assert 2 / 2 < sizes["published"]["cpu_hours"] < 2 * 2


@pytest.mark.parametrize("key", ["spiral_cylinder", "forced_cylinder", "heavy_top"])
def test_steps_are_counted_without_expanding_the_ladder(key):
    problem_study = configuration.resolve(DEFAULT, HOME).problems[key]
    for name, ladder in DEFAULT["problems"][key]["dt"].items():
        ladder = models.LadderSection.model_validate(ladder)
        extent = estimate.extent(ladder, problem_study.problem.horizon)
        rungs = configuration.study._rungs(
            {name: ladder}, problem_study.problem.horizon, problem_study.methods, reading.Place()
        )
        assert extent.rungs == pytest.approx(len(rungs), abs=2)
        assert extent.steps == pytest.approx(sum(step.steps for step in rungs), rel=0.02)
        assert extent.longest == pytest.approx(max(step.steps for step in rungs), rel=1e-5)


def test_a_summary_names_time_files_and_memory(resolve):
    summary = resolve("many_body: null").estimate.summary()
    assert "\n" not in summary
    assert re.search(
        r"about [\d.]+ CPU minutes \(.*\), with \d+ runs of one body or a few, \d+ MB on the disk.* \d+ MB of memory", summary
    )


def test_limits_change_no_result(resolve):
    assert resolve("limits: {cpu_hours: 100}").json == resolve("limits: {cpu_hours: 200}").json
    assert resolve("digits: 60").json != resolve("digits: 50").json == resolve("digits: 5e1").json


# --- numbers of steps ---------------------------------------------------------------------------------------------------------


def test_numbers_of_steps_are_exact_far_beyond_32_bits():
    for steps in (2**31 + 1, 2**33 + 7, 10**12, MOST_STEPS):
        assert count_steps(1 / steps, 1.0) == pytest.approx(steps, rel=1e-9)
        at = sampled_steps(steps, 4)
        assert at.dtype == np.int64 and at[-1] == steps and at[0] == 0 and (np.diff(at) > 0).all() and len(at) == 5
        assert abs(int(at[2]) - steps // 2) <= 1


def test_more_samples_than_steps_are_every_step():
    for steps, samples in ((7, 7), (7, 8), (7, 1000), (1, 3), (1000, 1001)):
        grid = np.unique(np.rint(np.linspace(0, steps, samples + 1)).astype(np.int64))
        assert np.array_equal(sampled_steps(steps, samples), grid)
    assert len(sampled_steps(10, 10**11)) == 11


def test_drivers_count_steps_in_64_bits():
    for signature in (one_body.drive_type(), several_bodies.drive_type()):
        assert signature.return_type == types.int64
        assert types.Array(types.int64, 1, "C") in signature.args


def test_files_hold_numbers_of_steps_beyond_32_bits(tmp_path, monkeypatch):
    counts = {"steps": ((), 2**33 + 1, {}), "contact_steps": ((), 0, {})}
    run = Arrays({"energy": ("time", [1.0]), "energy_error": ("time", [0.0]), **counts}, {}, {})
    monkeypatch.setattr(many_body, "simulate_arrays", lambda *_, **__: run)
    settings = {"scene": "rods", "spin": None, "horizon": 1.0, "samples": 1, "seeds": 1}
    dataset, _ = many_body.make_seeds({"scene": "rods", "method": "euler", "dt": "1e-09"}, settings)
    write_dataset(dataset, tmp_path / "0.nc")
    assert read_dataset(tmp_path / "0.nc")["steps"].values.tolist() == [2**33 + 1]


# --- files that are no configuration ------------------------------------------------------------------------------------

#: Bytes of the file, and what is said behind its name.
BROKEN = {
    "empty": (b"", ": is empty; write at least one key"),
    "comments": (b"# nothing\n", ": is empty; write at least one key"),
    "no keys": (b"{}\n", ": has no keys"),
    "list": (b"- a\n- b\n", ":1: must have keys at its top level, got a list"),
    "text": (b"hello\n", ":1: must have keys at its top level, got 'hello'"),
    "broken": (b"digits: 50\n  methods: [a\n", ":2:10: not valid YAML: mapping values are not allowed here"),
    "open bracket": (b"digits: 50\nmethods: [a\n", ":3:1: not valid YAML: "),
    "open quote": (b"digits: 50\nresults: 'a\nchecks: all\n", ":4:1: not valid YAML: "),
    "tab": (b"cost:\n\trounds: 3\n", ":2:1: not valid YAML: found character '\\t' that cannot start any token; indent"),
    "two documents": (b"digits: 50\n---\nchecks: all\n", ":2:1: not valid YAML: "),
    "alias": (b"digits: 50\nmethods: *all\n", ":2:10: not valid YAML: found undefined alias"),
    "tag": (b"digits: !!python/object:os.system x\n", ":1:9: not valid YAML: could not determine a constructor"),
    "date": (b"results: 2024-13-45\n", ": holds a value that cannot be read"),
    "latin-1": ("digits: 50\n# caf\xe9\n".encode("latin-1"), ":2: not text in UTF-8 (byte 0xe9)"),
    "utf-16": ("digits: 50\n".encode("utf-16"), ":1: not text in UTF-8 (byte 0xff)"),
    "binary": (b"\x89PNG\r\n\x1a\n\x00\x00", ":1: not text in UTF-8 (byte 0x89)"),
    "zeros": (b"digits: 50\n\x00\x00\n", ":2: not text: holds the character #x0000"),
    "twice": (b"digits: 50\nchecks: all\ndigits: 60\n", ":3: the key 'digits' occurs twice, first on line 1; keep one"),
    "twice inside": (b"cost:\n  rounds: 3\n  rounds: 4\n", ":3: the key 'rounds' occurs twice in cost, first on line 2"),
    "twice in a line": (b"cost: {rounds: 3, rounds: 4}\n", ":1: the key 'rounds' occurs twice in cost, first on line 1"),
    "twice in a list": (b"a: [{b: 1, b: 2}]\n", ":1: the key 'b' occurs twice in a.0"),
    "aliases of aliases": (
        b"a: &a [1,1,1,1,1,1,1,1]\n"
        + b"".join(b"%c: &%c [%s]\n" % (i, i, b",".join([b"*%c" % (i - 1)] * 8)) for i in b"bcdefghij"),
        ": holds more than",
    ),
    "itself": (b"a: &a [*a]\n", ": holds more than"),
    "key": (b"? [a, b]\n: 1\n", ":1: a key must be text"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_named_with_its_line(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    content, message = BROKEN[name]
    (tmp_path / "mine.yaml").write_bytes(content)
    with pytest.raises(ConfigurationError) as error:
        reading.read("mine.yaml")
    assert str(error.value).startswith("mine.yaml" + message) and "\n" not in str(error.value)


#: Where a key that runs code may stand, {} being the key.
CODE = (
    "{}: true\ndigits: 50\n",
    "{{{}: [1]}}\n",
    "'{}': 1\n",
    "a: &a {}\n*a : 1\n",
    "<<: {{{}: 1}}\nb: 2\n",
    "a: [{{b: {{{}: 1}}}}]\n",
)


@pytest.mark.parametrize("place", CODE)
@pytest.mark.parametrize("key", reading.CODE)
def test_a_key_that_runs_code_is_refused_before_snakemake(tmp_path, monkeypatch, capsys, key, place):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text("digits: 50\n")
    (tmp_path / "mine.yaml").write_text(place.format(key))
    assert reading.main(["-n", "--configfile", "mine.yaml"]) == 1
    assert re.match(rf"reproduce: mine\.yaml:[12]: the key '{key}'.* lets Snakemake run code", capsys.readouterr().err)


@pytest.mark.thorough
def test_what_never_ends_or_is_too_large_is_not_read(tmp_path, monkeypatch):
    """A pipe, a device, five gigabytes, brackets without end: for every file that people write."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.yaml")
    os.symlink("/dev/zero", "device.yaml")
    with open("large.yaml", "wb") as file:
        file.truncate(5_000_000_000)
    Path("deep.yaml").write_text("a: " + "[" * 100_000)
    for name, message in (
        ("pipe", "is not a regular file"),
        ("device", "is not a regular file"),
        ("large", "has 5000 MB"),
        ("deep", "too deeply"),
    ):
        with pytest.raises(ConfigurationError, match=rf"^{name}\.yaml: .*{message}"):
            reading.read(f"{name}.yaml")
        with pytest.raises(AdviceError, match=rf"{name}\.yaml"):
            case_of_file(f"{name}.yaml")


def test_json_with_a_key_twice_is_refused(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text('{\n\t"digits": 60,\n\t"a": {"b": 1, "b": 2}\n}\n')
    with pytest.raises(ConfigurationError, match=r"mine\.json:3: the key 'b' occurs twice in a, first on line 3"):
        reading.read(path)


def test_a_missing_file_is_named_with_one_that_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(HOME)
    with pytest.raises(
        ConfigurationError, match=r"^quik\.yaml: there is no such .*; did you mean workflow/config/quick\.yaml\?$"
    ):
        reading.read("quik.yaml")
    with pytest.raises(ConfigurationError, match=r"there is no such configuration file$"):
        reading.read(tmp_path / "zzz.yaml")
    with pytest.raises(ConfigurationError, match=r"^workflow: cannot be read: Is a directory"):
        reading.read("workflow")


def test_json_is_read_too(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text('{\n\t"digits": 60\n}\n')
    assert reading.read(path).values == {"digits": 60} and reading.read(path).lines == {("digits",): 2}


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=lambda path: path.stem)
def test_our_configurations_are_read_with_their_lines(path):
    file = reading.read(path)
    text = path.read_text().splitlines()
    assert file.values == yaml.safe_load(path.read_text())
    for keys, line in file.lines.items():
        if isinstance(keys[-1], str):
            assert f"{keys[-1]}:" in text[line - 1]


# --- the whole way, by the commands ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-n", "--configfile", "nowhere.yaml", "--cores", "1"], "nowhere.yaml: there is no such configuration file"),
        (["--configfile", "workflow/config/quick.yaml", "README.md"], "README.md:"),
        (["--configfile=config.yam"], "config.yam: there is no such configuration file"),
        (["-n", "--config", "results=x", "--configfile", "workflow/config/quick.yaml"], ""),
        (["all"], ""),
    ],
)
def test_reproduce_looks_at_configuration_files_first(arguments, said):
    output = checkout_said("-P", HOME / "src" / "polhode" / "interface" / "reading.py", *arguments, status=bool(said))
    assert output.startswith(f"reproduce: {said}") and "Traceback" not in output if said else not output
    assert 'python -P src/polhode/interface/reading.py "$@"' in (HOME / "reproduce").read_text()


@pytest.mark.thorough
def test_snakemake_says_what_a_study_takes(tmp_path):
    mine = tmp_path / "mine.yaml"
    problems = {"heavy_top": {"dt": {"fit": {"divisions": [8, 64, 4]}}, "long_run": None}}
    mine.write_text(yaml.safe_dump(reduced(problems, methods=["euler"], results=str(tmp_path / "results"))))
    output = checkout_said("-m", "snakemake", "-n", "--configfile", mine)
    assert output.count("The whole study takes about") == 1 and "4 runs of one body" in output


@pytest.mark.thorough
def test_snakemake_refuses_in_a_line(tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text("problems:\n  heavy_top: {samples: 3}\n  heavy_top: {samples: 4}\n")
    output = checkout_said("-m", "snakemake", "-n", "--configfile", mine, "--config", "results=src", status=1)
    assert "Traceback" not in output
    assert "mine.yaml:3: the key 'heavy_top' occurs twice in problems, first on line 2" in output
