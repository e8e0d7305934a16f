"""A user's own methods that cannot serve, or that declare what is not so: each is one message that names file and line."""

import shutil
import subprocess
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from data_files import invented
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from studies import default

import polhode
from polhode import manybody
from polhode.fits import departures as declared
from polhode.fits.orders import fit_order
from polhode.interface import plugins
from polhode.interface.table import simple
from polhode.methods.protocol import Method
from polhode_study.configuration import ConfigurationError, resolve
from polhode_study.gather import cost
from polhode_study.plan import Plan
from polhode_study.report import style
from polhode_study.report.drawing import printable
from polhode_study.report.tables import latex

HOME = Path(__file__).parents[1]
EXAMPLE = (HOME / "docs" / "example_plugin.py").read_text(encoding="utf-8")
#: The first line of a kernel of the example, before which others are put.
STEP = "    q, omega = state[:4], state[4:7]\n    omega = kick"
#: What it says of its orders on single classes of torque.
EXCEPTIONS = next(line.strip(" ,") for line in EXAMPLE.splitlines() if "order_exceptions" in line)
#: Labels that are LaTeX, that have characters of their own, that are too long, that are no line.
LABELS = (
    r"$\frac{$",
    r"\input{secret} & 100 % #1 ~ ^ {}",
    "$",
    r"\$",
    "[1] *a*",
    "* star",
    "a_b^c <d> | \\",
    "Möglich_2 é²",
    "日本語 😀 Ħ ſ",
    "ω × Δ ± 3° − ½",
    "x" * 3000,
    "two\nlines\tand\0more",
    "\N{RIGHT-TO-LEFT OVERRIDE}abc",
)


CONFIGURATION = default()


def configured(*problems: str, **more: Any) -> dict[str, Any]:
    """The configuration without many bodies, ensembles and times, of these problems alone if any is named."""
    few = {key: CONFIGURATION["problems"][key] for key in problems} or CONFIGURATION["problems"]
    return CONFIGURATION | {"problems": few, "many_body": None, "ensembles": None, "cost": None} | more


pytestmark = pytest.mark.usefixtures("forget_plugins")


@pytest.fixture
def write(tmp_path):
    """A changed copy of the example, in a file of its own."""

    def written(old, new, name="mine.py"):
        assert old in EXAMPLE
        path = tmp_path / name
        path.write_text(EXAMPLE.replace(old, new), encoding="utf-8")
        return path

    return written


# --- at import -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import sys\nsys.exit(3)", r"bad\.py, line 2, cannot be loaded: it ends the program \(SystemExit: 3\)"),
        ("raise SystemExit", r"bad\.py, line 1, cannot be loaded: it ends the program"),
        ("x = 1\nraise KeyboardInterrupt", r"bad\.py, line 2, cannot be loaded: KeyboardInterrupt"),
        ("raise GeneratorExit", r"bad\.py, line 1, cannot be loaded: GeneratorExit"),
        ("def f():\n    f()\nf()", r"bad\.py, line 2, cannot be loaded: RecursionError"),
        ("x = (", r"bad\.py cannot be loaded: SyntaxError: '\(' was never closed \(bad\.py, line 1\)"),
        ("x = '\0'", r"bad\.py cannot be loaded: (Syntax|Value)Error: .*null bytes"),
        ("1 / 0", r"bad\.py, line 1, cannot be loaded: ZeroDivisionError"),
        ("import nowhere", r"bad\.py.* cannot be loaded: ModuleNotFoundError: No module named 'nowhere'"),
        ("METHOD = (", r"bad\.py.* cannot be loaded: SyntaxError"),
        ("METHOD = 3", r"bad\.py.*METHOD must be a Method .* not a int"),
        (
            "from polhode.problems.spiral_cylinder import PROBLEM as METHOD",
            r"bad\.py.*METHOD must be a Method .* not a Problem",
        ),
        ("OTHER = 1", r"bad\.py.* defines no METHOD: end the file with METHOD = .*how to rewrite a step from NumPy"),
    ],
)
def test_a_file_that_is_no_plugin_is_named(tmp_path, text, message):
    path = tmp_path / "bad.py"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        polhode.methods.load(path)


def test_ctrl_c_in_an_import_is_the_users(tmp_path):
    path = tmp_path / "slow.py"
    path.write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(5)")
    with pytest.raises(KeyboardInterrupt):
        polhode.methods.load(path)


def test_a_path_that_is_none():
    with pytest.raises(TypeError, match="path must be that of a Python file, got None"):
        polhode.methods.load(None)


# --- wrong declarations ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('label="My SPIRAL"', "label=3", "label must be a string, got 3"),
        ('label="My SPIRAL"', 'label=" "', "label must not be empty"),
        ('    label="My SPIRAL",\n', "", "missing 1 required keyword-only argument: 'label'"),
        ('label="My SPIRAL"', 'label="a", colour="red"', "unexpected keyword argument 'colour'"),
        ("order_q=2", 'order_q="2"', "order_q must be a whole number, got '2'"),
        ("order_q=2", "order_q=2.5", "order_q must be a whole number, got 2.5"),
        ("order_omega=3", "order_omega=0", "order_omega must be at least 1, got 0"),
        ("order_omega=3", "order_omega=True", "order_omega must be a whole number, got True"),
        ("normalises=False", 'normalises="no"', "normalises must be True or False, got 'no'"),
        (EXCEPTIONS, "order_exceptions=3", "order_exceptions must be a dict"),
        (EXCEPTIONS, 'order_exceptions={"lap": (1, 1)}', "unknown torque class 'lap'"),
        (EXCEPTIONS, 'order_exceptions={"lab": 1}', "orders must be two numbers"),
        (EXCEPTIONS, 'order_exceptions={"lab": (1, "1")}', "the order for 'lab' must be a whole number"),
        ("normalises=False", 'normalises=False, engines="single body"', "engines must be a tuple of some of 'single body'"),
        ("normalises=False", 'normalises=False, engines=("gpu",)', "engines must be a tuple of some of 'single body'"),
        ("normalises=False", 'normalises=False, torque_time="0"', "torque_time must be a number, got '0'"),
        ("normalises=False", "normalises=False, torque_time=0.3", "torque_time is 0, 0.5 or 1"),
        ("normalises=False", "normalises=False, translation=3", "translation must be a Translation or None"),
        ("normalises=False", "normalises=False, note=None", "note must be a string, got None"),
        ("stored_offset=-0.5", 'stored_offset="-0.5"', "stored_offset must be a number, got '-0.5'"),
        ("stored_offset=-0.5", "stored_offset=float('nan')", "stored_offset must be finite, got nan"),
        ("    read=read,", '    read="read",', "read must be a function, got 'read'"),
        ("    stored=stored_in_body_frame,", "    stored=read,", "stored gets 3 arguments (state, body, dt), but takes 4"),
        ('key="my_spiral"', "key=3", "key must be a string, got 3"),
        ('key="my_spiral"', 'key="mein_löffel"', "is not a plain name"),
        ('key="my_spiral"', 'key="' + "x" * 300 + '"', "is not a plain name"),
        ('key="my_spiral"', 'key="../up"', "is not a plain name"),
    ],
    ids=lambda text: text.strip()[:40],
)
def test_a_wrong_declaration_names_file_line_and_field(write, old, new, message):
    path = write(old, new)
    with pytest.raises(ValueError) as caught:
        polhode.methods.load(path)
    said = str(caught.value)
    assert message in said and f"{path}, line {1 + EXAMPLE[: EXAMPLE.index('METHOD =')].count(chr(10))}, cannot" in said
    assert len(said) < 500


def test_a_key_that_differs_in_capitals_alone_is_taken(write):
    with pytest.raises(ValueError, match=r"mine\.py: method key 'Euler' is taken by .*euler\.py"):
        polhode.methods.load(write('key="my_spiral"', 'key="Euler"'))


# --- kernels that do not compile -------------------------------------------------------------------------------------

#: What is wrong, what of the example is changed for it, and what is said.
SLIPS = {
    "unknown name": ("return axpy(2 *", "return axpyy(2 *", "line 19, 'return axpyy(2", "name 'axpyy' is not defined"),
    "wrong index": (STEP, STEP.replace("state[4:7]", "state[9]"), "line 31, 'q, omega = state[:4], state[9]'", "range"),
    "import": (STEP, f"    import os\n{STEP}", "line 31, 'import os'", "cannot be compiled"),
    "plain helper": ("@kernel\ndef kick", "def kick", "line 24, 'return q + kick(", "kick is a plain function; write @kernel"),
    "plain kernel": ("@kernel\ndef after_torque", "def after_torque", "line 28: after_torque is a plain function", "@kernel"),
    "in our kernel": ("euler_equations(omega, torque, body)", "euler_equations(omega, torque, dt)", "line 16, 'k1", "getitem"),
    "longer state": (
        "dt) + omega\n", "dt) + omega + (1, 2)\n", "line 28: after_torque returns 9 numbers", "7 floats are expected"
    ),
    "short reading": ("return state[:4]", "return state[:3]", "line 36: read returns (3 floats, 3 floats)", "omega"),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("slip", SLIPS)
def test_the_line_to_blame_is_quoted(write, slip):
    old, new, *said = SLIPS[slip]
    path = write(old, new)
    with pytest.raises(plugins.PluginError) as caught:
        plugins.compile_plugin(polhode.methods.load(path), path)
    message = str(caught.value)
    assert message.startswith(f"plug-in {path} does not compile: line ") and len(message) < 500
    assert all(words in message for words in said), message
    assert "protocol.py" not in message and "drive" not in message


# --- kernels that fail when they run ---------------------------------------------------------------------------------


def test_a_kernel_that_raises(write):
    path = write(STEP, f"    if dt > 0.0:\n        raise ValueError('no')\n{STEP}")
    with pytest.raises(plugins.PluginError, match=r"mine\.py, line 32, fails in its first steps: ValueError: no; a kernel"):
        plugins.run_plugin(polhode.methods.load(path), path)


def test_a_kernel_that_gives_no_numbers_is_a_remark_and_a_result(write):
    path = write("return rotate(q, omega, dt) + omega", "return rotate(q, omega, dt * (0.0 / (dt - dt))) + omega")
    method = polhode.methods.load(path)
    (remark,) = plugins.run_plugin(method, path)
    assert "gives no finite numbers at step 1" in remark and "recorded as diverged" in remark and str(path) in remark
    assert polhode.simulate("spiral_cylinder", method, 0.1).attrs["diverged"] > 0
    # Its operations cannot be counted either: plain Python divides by zero with an error.
    assert int(cost.operation_counts(["euler", method.key])["total"].isnull().sum()) == 1


def test_a_label_that_another_method_has_is_said(write):
    path = write('label="My SPIRAL"', f'label="{polhode.methods["euler"].label}"')
    (remark,) = plugins.run_plugin(polhode.methods.load(path), path)
    assert "has the label of 'euler'" in remark


# --- in a process apart ----------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_good_plugins_are_tried_together_and_may_print(write, tmp_path, capfd):
    first = write('label="My SPIRAL"', 'label="One"')
    second = tmp_path / "two.py"
    second.write_text(EXAMPLE.replace('key="my_spiral"', 'key="my_other"') + '\nprint("{hello")\n', encoding="utf-8")
    assert plugins.try_out([first, second]) == []
    assert "my_other" not in polhode.methods and capfd.readouterr().out == ""


def test_a_plugin_is_looked_for_beside_the_file_that_names_it(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "mine.py").write_text(EXAMPLE, encoding="utf-8")

    def plugins_of(text):
        (tmp_path / "mine.yaml").write_text(f"plugins: [{text}]\n", encoding="utf-8")
        files = [HOME / "config.yaml", tmp_path / "mine.yaml"]
        return resolve(CONFIGURATION | {"plugins": [text]}, HOME, files, checked=True).plugins

    with polhode.methods.restored():
        assert plugins_of("sub/mine.py") == ((tmp_path / "sub" / "mine.py").resolve(),)
    with polhode.methods.restored():
        assert plugins_of("docs/example_plugin.py") == (HOME / "docs" / "example_plugin.py",)  # beside the Snakefile
    with pytest.raises(ValueError, match=r"mine\.yaml:1: plugins\.0: plug-in .*sub/none\.py or .*sub/none\.py does not exist"):
        plugins_of("sub/none.py")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("while True:\n    pass\n", r"mine\.py does not end its import within 2 s; look for an endless loop"),
        ("import os\nos._exit(0)\n", r"mine\.py ends the process \(import, with status 0\)"),
        ("import os\nos.abort()\n", r"mine\.py ends the process \(import, by signal 6\)"),
    ],
)
def test_an_import_that_never_ends_or_ends_python(tmp_path, monkeypatch, text, message):
    path = tmp_path / "mine.py"
    path.write_text(text)
    started = []
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: started.append(popen(*a, **k)) or started[-1])
    with pytest.raises(plugins.PluginError, match=message):
        plugins.try_out([path], patience=2.0)
    assert [process.poll() is not None for process in started] == [True], "the process is to be gone"


@pytest.mark.thorough
def test_a_kernel_that_never_returns(write):
    path = write(STEP, f"    while dt > 0.0:\n        dt = dt + 1.0\n{STEP}")
    # Time to compile on a machine with much else to do; then the loop, which no signal but one ends.
    with pytest.raises(plugins.PluginError, match=r"mine\.py does not return from its first 16 steps within 4 s"):
        plugins.try_out([path], patience=4.0)


def test_a_study_tries_its_plugins_once(monkeypatch, write, capsys):
    full = configured("spiral_cylinder")
    path = write('label="My SPIRAL"', 'label="One"')
    tried = []
    monkeypatch.setattr(plugins, "try_out", lambda files: tried.append(files) or ["a remark"])
    resolve(full | {"plugins": [str(path)]}, HOME)
    assert tried == [[path]] and "a remark" in capsys.readouterr().err
    resolve(full | {"plugins": [str(path)]}, HOME, checked=True)
    resolve(full | {"plugins": []}, HOME)
    assert len(tried) == 1

    def refuse(files):
        raise plugins.PluginError("plug-in mine.py does not compile: line 19")

    monkeypatch.setattr(plugins, "try_out", refuse)
    with pytest.raises(ConfigurationError, match=r"plugins: plug-in mine\.py does not compile: line 19"):
        resolve(full | {"plugins": [str(path)]}, HOME)


# --- problems and scenes ---------------------------------------------------------------------------------------------

PROBLEM = (HOME / "docs" / "example_problem.py").read_text(encoding="utf-8")
SCENE = (HOME / "docs" / "example_scene.py").read_text(encoding="utf-8")
TORQUE = "    return cross((0.0, 0.0, parameters[0]), to_body(q, (0.0, 0.0, parameters[1])))"


def tried(path: Path) -> list[str]:
    """What is said of a file: all stages, in this process."""
    remarks = []
    for item in plugins.load(path):
        plugins.compile_plugin(item, path)
        remarks += plugins.run_plugin(item, path)
        if not isinstance(item, manybody.Scene | Method):
            plugins.expand_plugin(item, path)
    return remarks


def of_torque(body, message):
    """What a torque is made, and what is said of the first line of it that is not that of the example."""
    return PROBLEM, TORQUE, "\n".join(f"    {line}" for line in body.split("\n")), rf" cannot serve: line 17, {message}"


#: What is changed in an example, and what is said of the file.
MISTAKES = [
    of_torque(TORQUE.strip().replace("[1])))", "[7:])))"), ".*: torque takes a slice of its parameters; read them one by one"),
    of_torque(TORQUE.strip().replace("to_body", "to_lab"), "'return cross.*name 'to_lab' is not defined"),
    of_torque("return q + 1", "'return q "),
    of_torque("h, M, c = parameters\nreturn (h, M, c)",
              "'h, M, c = parameters': torque assigns to 3 names, and there are only 2 numbers"),
    of_torque("a, b = omega if t > 0 else parameters\nreturn (a, b, 0.0)",
              ".*: torque assigns to 2 names, and there are more numbers .*write as many names"),
    of_torque("return (parameters['m'], 0.0, 0.0)", r".*reads parameters\['m'\]; .*order"),
    of_torque("return (parameters.m, 0.0, 0.0)", r".*reads parameters\.m; .*parameters\[0\]"),
    of_torque("a, *b = omega\nreturn (a, a, a)", r".*cannot be compiled \(UNPACK_EX\)"),
    of_torque("return (1 / t, 0.0, 0.0)", ".*ZeroDivisionError.*finite where the motion begins"),
    (PROBLEM, TORQUE, "    return (1.0, 2.0)",
     " cannot serve: line 15, .*: torque returns 2 floats, where 3 floats are expected"),
    (PROBLEM, TORQUE, f"    if t > 0:\n        raise ValueError('no')\n{TORQUE}",
     " cannot serve: line 18, .*: torque raises ValueError: no, at t = "),
    (PROBLEM, TORQUE, "    return (math.erf(q[0]), 0.0, 0.0)", ", line 17, has no reference: .*math.erf has no series"),
    (PROBLEM, '"m": 2.0', '"m": 1e308', ": the motion of 'magnetic_needle' has no finite numbers at t = "),
    (PROBLEM, "return -parameters[0]", "return nothing", ", line 22, fails in the first steps: NameError: name 'nothing'"),
    (PROBLEM, "return -parameters[0]", "return math.nan", ": potential gives numbers that are not finite"),
    (PROBLEM, 'torque_class="state"', 'torque_class="lap"', ", line 25, cannot be loaded: .*unknown torque class 'lap'"),
    (PROBLEM, 'key="magnetic_needle"', 'key="a needle"', ": problem key 'a needle' is not a plain name"),
    (PROBLEM, 'key="magnetic_needle"', 'key="Heavy_top"', r": problem key 'Heavy_top' is taken by .*heavy_top\.py"),
    (PROBLEM, "PROBLEM =", "METHOD =", r": METHOD must be a Method \(or a subclass\), not a Problem"),
    (PROBLEM, "PROBLEM =", "needle =", " defines no METHOD, PROBLEM, SCENE or LAW"),
    (SCENE, "box=0.2", "box=0.03", ": scene 'dumbbells': all 18 clumps would take 500.2 % .*use a larger box"),
    (SCENE, "box=0.2", 'box=float("inf")', " has no initial state: ValueError: scene 'dumbbells' has no box"),
    (SCENE, "0.012, 0.008", "-0.012, 0.008", ", line 11, makes no clumps: ValueError"),
    (SCENE, "(dumbbell, 12)", '(dumbbell, "12")', " makes no clumps: TypeError: scene 'dumbbells': the number of"),
]  # fmt: skip


@pytest.mark.parametrize(("example", "old", "new", "message"), MISTAKES, ids=[message for *_, message in MISTAKES])
def test_what_cannot_serve_as_a_problem_or_a_scene(tmp_path, example, old, new, message):
    assert old in example
    path = tmp_path / "mine.py"
    path.write_text(example.replace(old, new).replace("from typing", "import math\nfrom typing"), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"mine\.py{message}") as caught:
        tried(path)
    assert len(str(caught.value)) < 500 and "\n" not in str(caught.value)


@pytest.mark.parametrize("decorator", ["", "@kernel\n"])
def test_all_parameters_may_be_assigned_or_counted_at_once(tmp_path, decorator):
    """The compiled torque sees as many parameters as are declared, and the numbers are those of Python."""
    path = tmp_path / "mine.py"
    body = "    m, B = parameters\n    total = 0.0\n    for p in parameters:\n        total += p\n"
    body += "    return (m, B, total + len(parameters))"
    text = PROBLEM.replace(TORQUE, body).replace("def torque", f"{decorator}def torque")
    path.write_text(text.replace("from typing", "from polhode.compiling.kernel import kernel\nfrom typing"), encoding="utf-8")
    (problem,) = plugins.load(path)
    plugins.compile_plugin(problem, path)
    assert problem.compiled_torque(0.0, problem.q0, problem.omega0, problem.parameter_array) == (2.0, 1.5, 5.5)
    assert replace(problem, parameters={}, torque=nothing).parameter_array.tolist() == [0.0]


def nothing(t, q, omega, parameters):
    return (0.0, 0.0, 0.0)


@pytest.mark.thorough
def test_a_scene_that_blows_up_is_a_remark(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(SCENE.replace("dt=5e-6", "dt=5e-2"))
    (remark,) = tried(path)
    assert "'dumbbells' gives no finite numbers at t = " in remark and "recorded as diverged" in remark


def test_one_file_may_define_several_things(tmp_path):
    """It is executed once, and an object of ours that it imports is not one that it defines."""
    path = tmp_path / "mine.py"
    _, _, scene = SCENE.partition("kinds() ->")
    parts = [EXAMPLE, PROBLEM.partition("from typing import Any\n")[2], "from polhode.manybody import Clump, Material, Scene\n"]
    path.write_text("\n".join([*parts, f"def kinds() ->{scene}", f"open({str(tmp_path / 'runs')!r}, 'a').write('x')"]))
    assert tried(path) == []
    assert polhode.methods.origin("my_spiral") == polhode.problems.origin("magnetic_needle") == path
    assert manybody.scenes.origin("dumbbells") == path
    assert polhode.problems.load(path) is polhode.problems["magnetic_needle"]
    assert (tmp_path / "runs").read_text() == "x"
    path = tmp_path / "two.py"
    imports = "from polhode.methods.rk4 import METHOD\nfrom polhode.manybody.scenes.rods import SCENE\n"
    path.write_text(imports + PROBLEM.replace("magnetic_needle", "other_needle"))
    assert [item.key for item in plugins.load(path)] == ["other_needle"]


def test_the_first_registry_leaves_the_rest_to_the_others(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(EXAMPLE + PROBLEM.partition("from typing import Any\n")[2], encoding="utf-8")
    assert polhode.problems.load(path).key == "magnetic_needle" and "my_spiral" not in polhode.methods
    start = polhode.methods.load(path).start
    assert start.py_func.__globals__ is polhode.problems["magnetic_needle"].torque.__globals__, "executed once"
    with pytest.raises(ValueError, match=r"mine\.py defines no SCENE: end the file with SCENE = Scene"):
        manybody.scenes.load(path)


def test_a_problem_that_the_configuration_does_not_run_is_said(capsys, monkeypatch):
    full = configured("heavy_top", plugins=["docs/example_problem.py", "docs/example_scene.py"])
    monkeypatch.setattr(plugins, "try_out", lambda files: [])
    study = resolve(full, HOME)
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[2] for line in said] == [
        "the problem 'magnetic_needle' is not run; name it under problems: to run it",
        "the scene 'dumbbells' is not run; name it under many_body: to run it",
    ]
    scene = {"dt": {"a": {"values": [5e-6]}}, "horizon": 0.1, "seeds": 1, "samples": 1}
    section = {"dt": {"fit": {"divisions": [16, 64, 5]}}, "samples": 1, "long_run": {"horizon": 50.0, "dt": 0.01, "samples": 5}}
    both = resolve(full | {"problems": {"magnetic_needle": section}, "many_body": {"dumbbells": scene}}, HOME)
    assert capsys.readouterr().err == "" and study.plugin_methods == both.plugin_methods == ()
    assert not both.problems["magnetic_needle"].long_run.exact and both.scenes["dumbbells"].scene == "dumbbells"
    assert study.problems["heavy_top"].methods == both.problems["magnetic_needle"].methods


@pytest.mark.thorough
def test_a_problem_of_ones_own_makes_no_experiment_again():
    """They are on problems of ours; with one more file in their hash all of them would be out of date."""
    full = configured()
    before = Plan(resolve(full, HOME), HOME).origin("results/checks/stability.nc")
    polhode.problems.load(HOME / "docs" / "example_problem.py")
    assert Plan(resolve(full, HOME), HOME).origin("results/checks/stability.nc") == before


def test_another_draw_of_bodies_makes_the_experiments_again():
    sections = [CONFIGURATION["ensembles"] | {"seed": seed} for seed in (1, 2)]
    plans = [Plan(resolve(configured(ensembles=section), HOME), HOME) for section in sections]
    assert len({plan.origin("results/checks/strengths.nc") for plan in plans}) == 2


# --- labels ----------------------------------------------------------------------------------------------------------


def test_labels_are_one_line_of_a_bounded_length():
    for label in LABELS:
        shortened = replace(polhode.methods["euler"], label=label).label
        assert shortened.isprintable() and 0 < len(shortened) <= 48
        assert shortened == label or len(label) > 48 or not label.isprintable()
    assert replace(polhode.methods["euler"], label="x" * 3000).label == "x" * 45 + "..."
    assert replace(polhode.methods["euler"], label="two\n lines").label == "two lines"
    for method in polhode.methods.values():
        assert not method.label.endswith("...")


def draw(lines):
    """Draw them, one below the other; what matplotlib warns of is an error."""
    with style.settings(), warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = Figure(figsize=(6, 6))
        canvas = FigureCanvasAgg(figure)
        for number, line in enumerate(lines):
            figure.text(0.01, 0.98 - 0.02 * number, printable(line))
        canvas.draw()


def test_labels_are_drawn_as_they_are_written():
    assert printable(r"$\frac{$") == r"\$$\backslash$frac$\{$\$"
    assert printable("Möglich_2") == r"M$\mathrm{\ddot{o}}$glich$\_$2" and printable("Straße_2") == r"Stra?e$\_$2"
    assert printable("日本") == "??" and printable("SPIRAL, 2.5 (a-b)") == "SPIRAL, 2.5 (a-b)"
    draw(replace(polhode.methods["euler"], label=label).label for label in LABELS)


def test_every_printable_character_can_be_drawn():
    """No character alone is a formula that matplotlib cannot read, nor one that its fonts lack."""
    text = [chr(i) for i in (*range(0x20, 0x250), 0x3C9, 0x2212, 0x65E5, 0x1F600) if chr(i).isprintable()]
    draw("".join(text[start : start + 16]) for start in range(0, len(text), 16))


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")
def test_labels_are_typeset(tmp_path):
    characters = "".join(chr(i) for i in range(0x20, 0x180)) + "ω日😀\n\t\0"
    names = [*(replace(polhode.methods["euler"], label=label).label for label in LABELS), *LABELS, *characters]
    head = (HOME / "paper" / "preamble.tex").read_text()
    packages = [
        line
        for line in head.splitlines()
        if line.startswith((r"\documentclass", r"\usepackage", r"\providecommand{\textsize}"))
    ]
    rows = latex(simple(["label", "n"], [[name[:200], i] for i, name in enumerate(names)]))
    parts = [rows.splitlines()[:3], rows.splitlines()[3:-2], rows.splitlines()[-2:]]
    # One table a page: LaTeX stops at the first thing that it cannot set.
    pages = ["\n".join([*parts[0], *parts[1][i : i + 40], *parts[2]]) for i in range(0, len(parts[1]), 40)]
    text = "\n".join([*packages, r"\begin{document}", "\n\n\\clearpage\n".join(pages), r"\end{document}"])
    (tmp_path / "labels.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "labels.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


# --- declared and measured orders ------------------------------------------------------------------------------------


def measured(keys, orders, *, problem="spiral_cylinder"):
    """Real runs of methods, as a group of single_body.nc has them, each with the orders (q, omega) it is to declare."""
    steps = np.unique(np.rint(np.geomspace(16, 1024, 13)).astype(int))
    dt = np.sort(1.0 / steps)
    made = polhode.problems[problem]
    errors = {"q": np.full((len(keys), len(dt)), np.nan), "omega": np.full((len(keys), len(dt)), np.nan)}
    gone = np.zeros((len(keys), len(dt)), "int8")
    true_q, true_omega = (values[-1] for values in made.exact([0.0, 1.0], 20))
    for i, key in enumerate(keys):
        for j, step in enumerate(dt):
            run = polhode.simulate(made, key, step, 1.0, 1)
            gone[i, j] = "diverged" in run.attrs
            errors["q"][i, j] = np.abs(run.q.values[-1] - true_q).sum() / np.abs(true_q).sum()
            errors["omega"][i, j] = np.abs(run.omega.values[-1] - true_omega).sum() / np.abs(true_omega).sum()
    data = {f"{name}_error_l1": values for name, values in errors.items()}
    data |= {f"{name}_order": [fit_order(dt, row, 1.0).order for row in values] for name, values in errors.items()}
    methods = [polhode.methods[key] if isinstance(key, str) else key for key in keys]
    return invented(
        "single_body.nc/PROBLEM",
        {"integrator": [method.key for method in methods], "dt": dt},
        {"problem": problem, "torque_class": made.torque_class},
        **data,
        diverged=gone,
        label=[method.label for method in methods],
        claimed_q_order=[q for q, _ in orders],
        claimed_omega_order=[omega for _, omega in orders],
    )


def test_orders_that_are_not_what_is_declared_are_said(write):
    none = polhode.methods.load(write("rotate(q, omega, dt) + omega", "rotate(q, omega, dt * (0.0 / (dt - dt))) + omega"))
    keys = ["spiral_leapfrog", "rk4", "euler", none]
    honest = {"/": xr.Dataset(), "/spiral_cylinder": measured(keys, [(2, 3), (4, 4), (1, 1), (2, 3)])}
    assert declared.remarks(honest, ["spiral_leapfrog", "rk4"]) == []
    assert declared.remarks(honest, ["my_spiral"]) == [
        "my_spiral: every one of its 13 runs blew up and is recorded as diverged; see its kernels"
    ]
    boastful = honest["/spiral_cylinder"].assign_coords(claimed_q_order=("integrator", [3, 4, 1, 2]))
    groups = {"/spiral_cylinder": boastful}
    (said,) = declared.remarks(groups, ["spiral_leapfrog"])
    assert said.startswith("spiral_leapfrog: the order of the orientation is 2.0") and said.endswith("where it declares 3")
    (said,) = declared.remarks(groups, [])
    assert said.startswith("measured below their declaration on at least one problem: spiral_leapfrog;")
    modest = honest["/spiral_cylinder"].assign_coords(claimed_q_order=("integrator", [2, 3, 1, 2]))
    (said,) = declared.remarks({"/spiral_cylinder": modest}, ["rk4"])
    assert "rk4: the order of the orientation is " in said and said.endswith("where it declares 3; it may declare more")


def test_a_method_that_does_not_converge_is_said():
    data = measured(["euler"], [(1, 1)])
    lost = data.assign(q_error_l1=data.q_error_l1 * 0 + 1.5, q_order=data.q_order * np.nan)
    (said,) = declared.remarks({"/spiral_cylinder": lost}, ["euler"])
    assert "the order of the orientation cannot be fitted (the error stays large at the finest steps)" in said
    # At the floor of round-off there is no order either, and no fault.
    exact = data.assign(q_error_l1=data.q_error_l1 * 0 + 1e-16, q_order=data.q_order * np.nan)
    assert declared.remarks({"/spiral_cylinder": exact}, ["euler"]) == []
