"""Commands that cannot be done as asked: said at once, with what to write instead, before any work."""

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polhode import cli
from polhode.interface import plugins
from polhode.interface.storage import write_text
from polhode.registry import MANY
from polhode_study.cli import animate as animation
from polhode_study.cli import bench
from polhode_study.run import timing

HOME = Path(__file__).parents[1]
RELEASED = HOME / "data" / "released"
ASKED = ["recommend", "spiral_cylinder", "--error", "1e-3"]


@pytest.fixture(autouse=True)
def _no_work(monkeypatch):
    """Whoever begins to work has not looked."""

    def work(*arguments, **options):
        raise AssertionError("the work began")

    monkeypatch.setattr(timing, "timing", work)
    monkeypatch.setattr(timing, "compile_forms", work)
    monkeypatch.setattr(animation, "animate", work)


def refused(capsys, *words):
    """What the command says, on standard error, in a line or two."""
    assert cli.main(list(map(str, words))) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith("polhode") and len(shown.err) < 1200 and shown.err.count("\n") <= 2
    return shown.err


def bad(words, option, values, wanted):
    return [([*words, option, value], f"{option} must be {wanted}, got") for value in values.split(" ")]


def asked(*rows):
    """Rows on ``polhode recommend``, from its words, in which an error is added to what needs one."""
    return [
        (["recommend", *words.split(), *([] if "--error" in words or "--liquid" in words else ["--error", "1e-3"])], said)
        for words, said in rows
    ]


TURNING = "--omega 0 6 8 --torque friction --time 0.5"
BODY = "--inertia 1 2 2.5 --omega 0 6 8 --time 1"
SPHERES = "--poisson 0.3 --density 2500 --radius 0.005"
ANIMATE = ["animate", "rods"]
#: The words of a command, and what is said of them.
REFUSED = [
    (["relase"], "unknown command 'relase'; did you mean 'release'?"),
    (["recomend"], "unknown command 'recomend'; did you mean 'recommend'?"),
    (["xyz"], f"unknown command 'xyz'; known are: {', '.join(list(cli.commands())[:MANY])}"),
    (["code", "eulr"], "unknown method 'eulr'; did you mean 'euler'?"),
    (["code", "nowhere.py"], "nowhere.py does not exist"),
    (["code"], "name one METHOD, or a folder"),
    (["code", "euler", "--all", "x"], "name one METHOD, or a folder"),
    (["code", "euler", "-o", "/"], "is a folder; name a file"),
    ([], "the following arguments are required: COMMAND"),
    (["bench", "--round", "3"], "unknown argument --round; did you mean '--rounds'?"),
    (["bench", "extra"], "unknown argument extra; it takes no such word"),
    (["bench", "--frame", "lap"], "--frame: unknown choice 'lap'; did you mean 'lab'?"),
    (["bench", "--methods"], "--methods: expected at least one argument"),
    (["bench", "--methods", ""], "unknown method ''"),
    (["bench", "--plugin", "nowhere.py"], "nowhere.py does not exist"),
    *bad(["bench"], "--rounds", "0 -3 1000001 1" + "0" * 30, "between 1 and 1000000"),
    *bad(["bench"], "--rounds", "nan 2.5 1e3 many ", "a whole number"),
    *bad(["bench"], "--block", "0 -1 nan inf -1e-3 -inf", "positive and finite"),
    *bad(["bench"], "--block", "long", "a number"),
    (["release", "--forc"], "unknown argument --forc; did you mean '--force'?"),
    *bad(ANIMATE, "--spin", "nan inf -1 -.5", "finite and not negative"),
    *bad(ANIMATE, "--spin", "fast", "a number"),
    *bad(ANIMATE, "--dt", "0 nan inf -1e-5", "positive and finite"),
    *bad(ANIMATE, "--time", "0 nan inf -1", "positive and finite"),
    *bad(ANIMATE, "--frames", "0 -1 100000000", "between 1 and 2000"),
    *bad(ANIMATE, "--size", "0 1 100000000", "between 32 and 2000"),
    *bad(ANIMATE, "--seed", "-1", "at least 0"),
    *bad(ANIMATE, "--seed", "1.5 nan", "a whole number"),
    (["animate", "ches"], "unknown scene 'ches'; did you mean 'chess'"),
    ([*ANIMATE, "--method", "omelyan"], "unknown method 'omelyan'; did you mean 'omelyan1998'"),
    ([*ANIMATE, "--output", "rods.mp4"], "only GIF, XYZ and VTK are written, got 'rods.mp4'"),
    ([*ASKED, "--torq", "free"], "unknown argument --torq; did you mean '--torque'?"),
    ([*ASKED, "--torque-pric=3"], "unknown argument --torque-pric=3; did you mean '--torque-price'?"),
    ([*ASKED, "--torque", "free"], "--torque is part of the case"),
    ([*ASKED, "--laws"], "FILE and --laws are two questions"),
    ([*ASKED, "--al"], "unknown argument --al; did you mean '--all'?"),
    ([*ASKED, "--workers", "0"], "unknown argument --workers; known are: --all, "),
    (["recommend", "--error", "1e-3"], "there are four questions: about a motion"),
    (["recommend", "heavy_top"], "--error is missing"),
    *bad(ASKED, "--torque-price", "inf nan -1 -1e-3", "finite and not negative"),
    *bad(ASKED, "--torque-price", "free", "a number"),
    *bad(ASKED, "--error", "nan inf 0 -1e-3", "positive and finite"),
    ([*ASKED, "--error", "2"], "--error must lie between 0 and 1, got 2"),
    ([*ASKED, "--error", "1.00000001"], "--error must lie between 0 and 1, got 1.00000001"),
    ([*ASKED, "--error", "1e-300"], "--error must be at least 1e-15, which"),
    # About a motion and about a class of torques.
    *asked(
        (f"{BODY} --torque free --contact-time 1", "--inertia and --contact-time are two questions; ask one"),
        (f"{BODY} --torque free --problem x", "--problem: a test problem is named without an option: polhode recommend x"),
        (f"{BODY} --torque", "--torque: expected one argument"),
        (f"{BODY} --torque wind", "unknown torque 'wind'; known are: body, constant, free, friction, friction_anisotropic, "),
        (f"{BODY} --torque frction", "unknown torque 'frction'; did you mean 'friction'?"),
        (f"{TURNING} --inertia -1 2 2", "--inertia Ix must be positive and finite, got -1"),
        (f"{TURNING} --inertia 0 2 2", "--inertia Ix must be positive and finite, got 0.0. A linear rotor: "),
        (f"{TURNING} --inertia 2 2", "--inertia must be three principal moments"),
        (f"{TURNING} --inertia x", "--inertia must be a number, got 'x'; write it in kg m^2, without the unit"),
        (f"{TURNING} --inertia 1 2 4", "such moments. To compute with them all the same: --no-triangle (in a file"),
        ("nowhere.yaml", "file nowhere.yaml does not exist"),
        ("nowhere.yaml --torque free", "--torque is part of the case"),
        ("ches", "file ches does not exist, nor a scene or problem; did you mean 'chess'?"),
        ("--torque-class free --inertia 1 2 2.5", "--inertia and --torque-class are two questions"),
        ("--torque-class friction", "--omega is missing"),
        ("--torque-class free --omega 3 --strength 3 --time 2", "--strength belongs to a torque"),
        ("--torque-class langevin --omega 3", "known are: body, constant, free, friction, friction_anisotropic, "),
    ),
    # About contacts and about a liquid.
    *asked(
        ("--young 1e6", "--poisson is missing"),
        (f"{SPHERES} --young 1e7 --speed 1e-300", "--speed: no contact time can be computed with 1e-300 m/s; use SI units"),
        (f"{SPHERES} --young 5e-324 --speed 1", "--young: no contact time can be computed with 5e-324 Pa"),
        (f"{SPHERES} --young 0.07 --speed 1", "--young: with 0.07 Pa a sphere would sink into a wall"),
        (f"{SPHERES} --young 5MPa --speed 1", "--young must be a number, got '5MPa'; write it in Pa, without the unit"),
        (f"{SPHERES} --young 5 MPa --speed 1", "FILE: MPa is a unit; write numbers in SI units"),
        (f"{SPHERES} --young 1e7 --speed 1 --poisson 0.6", "--poisson must lie above -1 and not above 0.5"),
        ("--contact-time 1e-4 --friction 0.5 --restitution 1.0000001", "--restitution must lie between 0.3 and 1, where "
         "impacts were run, got 1.0000001"),
        ("--contact-time 1e-4 --friction 0.5 --error 1e-300", "--error must be at least 1e-15, which"),
        ("--contact-time 1e-4 --torque-class free", "--contact-time and --torque-class are two questions"),
        ("--contact-time 1e-4 --radius 0.1", "--contact-time and --radius are two questions"),
        ("--contact-time 1e-4 --wall-young 1e9", "--wall-young goes with --young"),
        ("--liquid water64 --several-torques", "--several-torques belongs to a question about"),
        ("--liquid 33 fs", "FILE: fs is a unit; write numbers in SI units"),
        ("--liquid 33", "--liquid: no libration of molecules has a period of 33 s"),
        ("--liquid 1e300", "--liquid: no libration of molecules has a period of 1e+300 s"),
    ),
    *bad(["recommend"], "--liquid", "-1 nan inf", "positive and finite"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "message"), REFUSED, ids=[" ".join(words) for words, _ in REFUSED])
def test_words_that_cannot_serve_are_named(capsys, words, message):
    assert message in refused(capsys, *words)


def test_more_steps_than_anyone_waits_for(capsys, tmp_path):
    said = refused(capsys, "animate", "rods", "--time", "1e6", "--dt", "1e-9", "--output", tmp_path / "rods.gif")
    assert "--time 1e+06 with steps of 1e-09 s is more than 1e+09 steps" in said


def test_good_numbers_are_taken():
    options = cli.parser().parse_args(["animate", "rods", "--spin", "0", "--dt", "1e-5", "--seed", "0", "--frames", "2000"])
    assert (options.spin, options.dt, options.seed, options.frames) == (0.0, 1e-5, 0, 2000)


COMMANDS = next(action for action in cli.parser()._actions if action.dest == "command").choices
words = st.one_of(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8),
    st.sampled_from(
        ["", "nan", "inf", "-1", "1e400", "9" * 5000, "1_0", "0x10", "\u0661", "a b", "-", "--", "../..", "x" * 5000]
    ),
    st.integers(-(10**30), 10**30).map(str),
    st.floats().map(str),
)


@pytest.mark.thorough
@pytest.mark.parametrize("command", COMMANDS)
@given(data=st.data())
def test_any_word_behind_any_option_is_parsed_or_named(command, data):
    """What the parser takes goes to the command, which is replaced here."""
    actions = [action for action in COMMANDS[command]._actions if action.dest != "help"]
    option = data.draw(st.sampled_from([*(o for action in actions for o in action.option_strings), ""]))
    given_words = [word for word in [option, *data.draw(st.lists(words, max_size=3))] if word not in ("-h", "--help")]
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(said):
        patch.setattr(sys.modules[cli.commands()[command].module], "run", lambda arguments: 0)
        status = cli.main([command, *filter(None, given_words)])
    assert status in (0, 2) and "Traceback" not in said.getvalue()
    assert (status == 0) == (not said.getvalue()) and len(said.getvalue()) < 900


# --- files that cannot be written, found before the work -------------------------------------------------------------

#: Where nobody can write: a folder, below a file, and a name too long for any file system.
NOWHERE = [
    (Path("{folder}"), "is a folder; name a file"),
    (Path("{folder}/file.txt/x"), "cannot be written: Not a directory"),
    (Path("{folder}") / ("x" * 300), "cannot be written: File name too long"),
]


@pytest.mark.parametrize(("path", "message"), NOWHERE, ids=["folder", "below a file", "long name"])
def test_files_are_tried_before_the_work(capsys, tmp_path, path, message):
    (tmp_path / "taken").mkdir()
    (tmp_path / "file.txt").write_text("")
    (tmp_path / "file.txt.gif").mkdir()
    place = Path(str(path).format(folder=tmp_path))
    assert message in refused(capsys, "bench", "--csv", place)
    assert message in refused(capsys, "release", "--output", place, "--results", tmp_path)
    gif = tmp_path / "file.txt.gif" if place == tmp_path else Path(f"{place}.gif")
    assert message in refused(capsys, "animate", "rods", "--output", gif)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file.txt", "file.txt.gif", "taken"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(capsys, tmp_path):
    tmp_path.chmod(0o500)
    assert "cannot be written: Permission denied" in refused(capsys, "bench", "--csv", tmp_path / "a" / "table.csv")


def test_a_file_that_can_be_written_is_left_alone(tmp_path):
    existing = tmp_path / "there.csv"
    existing.write_text("kept")
    cli.check_writable(existing, "--csv")
    cli.check_writable(tmp_path / "new" / "deep" / "table.csv", "--csv")
    assert existing.read_text() == "kept" and list(tmp_path.iterdir()) == [existing]


# --- plug-ins of bench -----------------------------------------------------------------------------------------------


def test_a_plugin_of_bench_is_tried_first(capsys, monkeypatch, tmp_path):
    tried = []

    def try_out(paths):
        tried.extend(paths)
        raise plugins.PluginError("plug-in slip.py does not compile: line 19")

    monkeypatch.setattr(bench, "try_out", try_out)
    path = tmp_path / "slip.py"
    path.write_text("METHOD = 3")
    assert "--plugin: plug-in slip.py does not compile: line 19" in refused(capsys, "bench", "--plugin", path)
    assert tried == [str(path)]


# --- what recommend reads --------------------------------------------------------------------------------------------


def test_a_folder_that_is_named_must_hold_the_run(capsys, tmp_path):
    assert "is not a folder" in refused(capsys, *ASKED, "--results", tmp_path / "nothere")
    assert "holds no cost.nc; make one with ./reproduce" in refused(capsys, *ASKED, "--results", tmp_path)


@pytest.mark.parametrize("damage", ["empty", "text", "cut", "another"])
def test_a_damaged_cost_file_is_named(capsys, tmp_path, damage):
    whole = (RELEASED / "cost.nc").read_bytes()
    content = {
        "empty": b"",
        "text": b"hello",
        "cut": whole[: len(whole) // 2],
        "another": (RELEASED / "many_body.nc").read_bytes(),
    }[damage]
    (tmp_path / "cost.nc").write_bytes(content)
    said = refused(capsys, *ASKED, "--results", tmp_path)
    assert f"{tmp_path / 'cost.nc'} is damaged or not a cost.nc of this version" in said


def test_a_cost_file_that_lacks_something_is_named(capsys, tmp_path):
    import xarray as xr

    from polhode.interface.netcdf import read_dataset
    from polhode.interface.storage import write_groups

    data = read_dataset(RELEASED / "cost.nc", "step")
    write_groups({"/": xr.Dataset(), "/step": data.drop_vars("declared")}, tmp_path / "cost.nc")
    said = refused(capsys, *ASKED, "--results", tmp_path)
    assert "not a cost.nc of this version" in said and "declared" in said
    write_groups({"/": xr.Dataset(), "/step": data.drop_sel(integrator="euler")}, tmp_path / "cost.nc")
    assert "does not contain the time of a step of direct Euler" in refused(capsys, *ASKED, "--results", tmp_path)


def test_release_names_what_is_damaged(capsys, tmp_path):
    words = ["release", "--results", tmp_path, "--output", tmp_path / "out.nc"]
    assert "many_body.nc is missing" in refused(capsys, *words)
    (tmp_path / "many_body.nc").write_bytes(b"hello")
    write_text(tmp_path / "provenance.json", "{}")
    assert "many_body.nc" in refused(capsys, *words)
    write_text(tmp_path / "provenance.json", "{")
    assert "is not the folder of a finished run" in refused(capsys, *words)


# --- ./reproduce and Snakemake ---------------------------------------------------------------------------------------


def test_reproduce_knows_a_slip_from_a_target():
    """The lines of ``reproduce`` that look at its first word, on their own: the environment is not made for it."""
    text = (HOME / "reproduce").read_text()
    begin, end = text.index("# A word that looks like a command"), text.index("builds=yes # or Snakemake")
    script = f'set -euo pipefail\ndie() {{ echo "$*"; exit 1; }}\n{text[begin:end]}\necho "target $1"\n'

    def first_word(word):
        environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        command = ["bash", "-c", script, "reproduce", word]
        done = subprocess.run(command, cwd=HOME, capture_output=True, text=True, env=environment)
        return done.stdout.strip()

    assert first_word("relase") == "there is no command relase; did you mean ./reproduce release?"
    assert first_word("tets") == "there is no command tets; did you mean ./reproduce test?"
    for target in ("all", "report", "timing", "results/report.pdf", "docs", "-n"):
        assert first_word(target) == f"target {target}"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("data -n", True),
        ("--workflow-profile profiles/slurm", True),
        ("--profile site", False),
        ("--profile=site -n", False),
    ],
)
def test_reproduce_ignores_the_profile_of_a_site(words, said):
    """The lines of ``reproduce`` about it, on their own."""
    text = (HOME / "reproduce").read_text()
    begin, end = text.index("# Many clusters set a profile"), text.index("# A cluster is not limited by the cores")
    script = f'set -euo pipefail\nsay() {{ echo "$*"; }}\n{text[begin:end]}\necho "profile: ${{SNAKEMAKE_PROFILE-none}}"\n'
    for variable, expected in (({"SNAKEMAKE_PROFILE": "/etc/site profile"}, said), ({}, False)):
        environment = {name: value for name, value in os.environ.items() if name != "SNAKEMAKE_PROFILE"} | variable
        command = ["bash", "-c", script, "reproduce", *words.split()]
        *lines, last = subprocess.run(command, capture_output=True, text=True, env=environment).stdout.splitlines()
        assert last == "profile: none"
        assert [line.split(",")[0] for line in lines] == ["SNAKEMAKE_PROFILE=/etc/site profile is ignored"] * expected
        assert all(line.endswith("to use that one, add --profile /etc/site profile") for line in lines)


@pytest.mark.thorough
def test_no_cores_are_refused():
    command = [sys.executable, "-m", "snakemake", "--cores", "0", "-n", "--configfile", "workflow/config/quick.yaml"]
    done = subprocess.run(command, cwd=HOME, capture_output=True, text=True, timeout=600)
    assert done.returncode != 0 and "--cores must be at least 1, got 0" in done.stdout + done.stderr
