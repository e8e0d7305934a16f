"""One question, one answer: the largest step for an error is the same number wherever a reader meets it.

On the released laws and scenes, of a few methods and bodies: what the tables of the article print, the law sheet of the
supplement, ``polhode.recommend``, its command, and what the explorer holds.
"""

import base64
import json
import math
import re
import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import thorough

import polhode
from polhode import cli
from polhode.advice import from_satellites
from polhode.advice.prices import USUAL
from polhode.ensembles import CLASSES
from polhode.fits import contact_law, impact_errors, largest_step, ranking
from polhode.interface.netcdf import group_names, read_dataset
from polhode.interface.storage import write_dataset, write_groups
from polhode.methods import METHODS as METHODS_OF_ALL
from polhode_study.chapters import rendering
from polhode_study.chapters.communities import rows as page_rows
from polhode_study.chapters.communities import web
from polhode_study.chapters.contacts import numbers
from polhode_study.chapters.impacts import frames as impacts
from polhode_study.chapters.impacts import numbers as impact_numbers
from polhode_study.chapters.laws import advice as law_analysis
from polhode_study.chapters.laws import frames as law_frames
from polhode_study.chapters.ledger import numbers as ledger_numbers
from polhode_study.documentation import pages
from polhode_study.documentation.readers import BEHIND, inputs_of
from polhode_study.explorer import content, page
from polhode_study.explorer import fields as explorer_fields
from polhode_study.explorer.satellites import satellites as explorer_satellites
from polhode_study.inputs import Inputs

HOME = Path(__file__).parents[1]
ERRORS = (1e-2, 1e-4, 1e-6)
METHODS = ["spiral_leapfrog", "spiral_predicted", "magnus_adams4", "exact_rotor"]
IN_CONTACT = ["spiral_leapfrog", "pcdm2016", "verlet", "fincham1992"]


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A folder whose data/released holds four methods, and 24 of the random bodies."""
    folder = tmp_path_factory.mktemp("one_step")
    place = folder / "data/released"
    place.mkdir(parents=True)
    data = read_dataset(HOME / "data/released/laws.nc")
    write_dataset(data.sel(integrator=METHODS).isel(body=slice(0, 24)), place / "laws.nc")
    source = HOME / "data/released/many_body.nc"
    scenes = {name: read_dataset(source, name) for name in group_names(source)}
    needed = ["energy_error", "energy_error_mean", "contacts", "diverged", "label"]
    few = {
        name: s[[v for v in needed if v in s]].sel(integrator=[m for m in IN_CONTACT if m in s["integrator"]])
        for name, s in scenes.items()
        if s.sizes.get("dt", 1) > 1
    }
    write_groups(
        {"/": read_dataset(source), **{name: s for name, s in few.items() if s.sizes["integrator"]}}, place / "many_body.nc"
    )
    return folder


def asked_for(capsys, options: list[str]) -> dict:
    """What the command answers."""
    assert cli.main(["recommend", "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


@cache
def of_random_bodies(folder: Path) -> tuple:
    """The ensembles as the study has them, the law sheet, and the explorer's numbers over class, method, error and quantile."""
    ens = law_frames.EnsembleLaws(read_dataset(folder / "data/released/laws.nc"))
    page = content._laws("published scale", ens)
    shape = (len(ens.classes), len(ens.methods), len(page["targets"]), 3)
    return (
        ens,
        law_frames.sheet(ens).set_index(["torque_class", "method"]),
        page["targets"],
        unpacked(page["steps"]).reshape(shape),
    )


@cache
def of_contacts(folder: Path) -> list[dict]:
    """What the explorer says of contacts."""
    return content._contacts(Inputs(released=folder / "data/released", checks=HOME / "data/released/checks"))


def unpacked(packed: dict) -> np.ndarray:
    """An array of the page."""
    return np.frombuffer(base64.b64decode(packed["f4"]), "<f4")


@pytest.mark.parametrize("torque", [*list(CLASSES)[:3], *thorough(*list(CLASSES)[3:])])
def test_the_steps_of_a_torque_class_are_the_same_everywhere(torque, released, monkeypatch, capsys):
    monkeypatch.chdir(released)
    ens, sheet, targets, page = of_random_bodies(released)
    situation = law_frames.Situation(torque, torque, (torque,))
    for error in ERRORS:
        answer = polhode.recommend(torque=torque, omega=1.0, error=error, everything=True)
        command = asked_for(capsys, ["--torque-class", torque, "--omega", "1", "--error", f"{error:g}", "--all"])
        of_library = {row.method: 1 / row.dt for row in answer.alternatives}
        of_command = {row["method"]: 1 / row["dt"] for row in command["alternatives"]}
        assert of_library.keys() == of_command.keys() and len(of_library) >= 3
        for method, steps in of_library.items():
            half, _, nine_of_ten = law_frames.of_method(ens, situation, method, error).steps
            row, name = sheet.loc[torque, method], f"steps_{error:.0e}"
            place = (ens.classes.index(torque), ens.methods.index(method), targets.index(error))
            # The page holds twelve bits of a number.
            assert row[name] == half and page[place][1:] == pytest.approx([half, nine_of_ten], rel=2.0**-12)
            for other in (steps, of_command[method], row[f"{name}_high"]):
                assert other == pytest.approx(nine_of_ten, rel=1e-6), (torque, error, method)
            if method == answer.method:
                (said,) = (re.search(r"Median: (\S+) steps? per radian", text) for text in answer.remarks if "Median" in text)
                assert said[1] == f"{half:.3g}"


@pytest.mark.thorough
@pytest.mark.parametrize("error", ERRORS)
def test_the_steps_of_elastic_contacts_are_the_same_everywhere(error, released, monkeypatch, capsys):
    monkeypatch.chdir(released)
    inputs = Inputs(released=released / "data/released")
    (of_page,) = (row["elastic"] for row in of_contacts(released) if row["error"] == error)
    of_article = {entry.method: entry.steps for entry in law_frames.contacts(inputs, error)}
    answer = polhode.recommend(contact_time=1.0, error=error, everything=True)
    command = asked_for(capsys, ["--contact-time", "1", "--error", f"{error:g}", "--all"])
    of_command = {row["method"]: 1 / row["dt"] for row in command["alternatives"]}
    for row in answer.alternatives:
        half, _, nine_of_ten = of_article[row.method]
        assert 1 / row.dt == pytest.approx(nine_of_ten) == of_command[row.method]
        if row.method == answer.method:
            assert of_page == [row.method, nine_of_ten, half]
            assert f"Median: T/{half:.0f} (the mean over the scenes" in " ".join([*answer.remarks, answer.serves])
    if error == 1e-4:
        made = numbers.contact_law(inputs)
        half, _, nine_of_ten = of_article[contact_law.LEADING]
        assert made["studyCollisionStepsUsual"] == rf"\num{{{half:.0f}}}"
        assert made["studyCollisionStepsUsualWorst"] == rf"\num{{{nine_of_ten:.0f}}}"


@pytest.mark.parametrize("error", [1e-2, 1e-3, 1e-4])
def test_steps_of_frictional_contacts_are_equal_everywhere(error, released, monkeypatch, capsys):
    monkeypatch.chdir(released)
    inputs = Inputs(checks=HOME / "data/released/checks")
    codes, cured, _ = impacts.steps(inputs, error)
    answer = polhode.recommend(contact_time=1.0, friction=0.5, restitution=0.7, error=error)
    command = asked_for(capsys, ["--contact-time", "1", "--for", "impacts", "--error", f"{error:g}"])
    (of_page,) = (row["rubbing"] for row in of_contacts(released) if row["error"] == error)
    assert of_page == [cured.take, cured.half, codes.take]
    for steps in (1 / answer.dt, 1 / command["dt"]):
        assert steps == pytest.approx(cured.take)
    assert 1 / answer.interval[1] == pytest.approx(cured.half) and 1 / answer.alternatives[1].dt == pytest.approx(codes.take)
    suffix = {1e-3: "", 1e-2: "Loose"}.get(error)
    if suffix is not None:
        made, row = impact_numbers.steps(inputs), page_rows._rubbing(inputs_of(HOME / "data/released"))
        assert made[f"studyImpactStepsCured{suffix}Take"] == f"{cured.take:.0f}"
        if suffix:  # the error that the first page states
            assert f"T/{cured.take:.0f}" in row.step and row.numbers["steps"] == cured.take


def test_the_page_about_advice_names_these_numbers(released, monkeypatch):
    monkeypatch.chdir(released)
    text = " ".join((HOME / "docs/recommend-contacts.md").read_text(encoding="utf-8").split())
    half, _, nine_of_ten = next(
        entry.steps
        for entry in law_frames.contacts(Inputs(released=released / "data/released"), 1e-3)
        if entry.method == contact_law.LEADING
    )
    assert f"SPIRAL with 1/{nine_of_ten:.0f} of it" in text and f"half of the states, 1/{half:.0f}," in text
    assert f"for {contact_law.BODIES} bodies in contact for {contact_law.CONTACTS:g} contact times each" in text


@pytest.fixture(scope="module")
def first_page():
    """The rows of the first page, by the maker."""
    inputs = inputs_of(HOME / "data/released")
    return {make.__name__: make(inputs) for make in page_rows.MAKERS}


@pytest.fixture
def without_run(tmp_path, monkeypatch):
    """A folder that has the released data and no results."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data/released").symlink_to(HOME / "data/released")
    monkeypatch.chdir(tmp_path)


def steps_listed(capsys, row: str) -> tuple[dict, dict[str, float]]:
    """What the command that the documentation gives for a row answers, and the step of each method in it, s."""
    # At this price torques alone decide, not the times of steps on this machine.
    answer = asked_for(capsys, [*shlex.split(BEHIND[row][-1]), "--torque-price", "1e6", "--all"])
    return answer, {each["method"]: each["dt"] for each in answer["alternatives"]}


def test_the_command_of_the_spacecraft_row_answers_as_the_row(first_page, without_run, capsys):
    answer, listed = steps_listed(capsys, "_spacecraft")
    numbers, rate = first_page["_spacecraft"].numbers, answer["question"]["omega"]
    assert answer["method"] == numbers["method"], "fewest torques"
    for method, steps in (
        (numbers["method"], numbers["steps"]),
        ("rk4", numbers["steps_rk4"]),
        (numbers["method_one_torque"], numbers["steps_one_torque"]),
    ):
        assert 1 / (listed[method] * rate) == pytest.approx(steps, rel=1e-6), method


def test_the_command_of_the_row_for_games_has_its_step(first_page, without_run, capsys):
    answer, listed = steps_listed(capsys, "_games")
    numbers, rate = first_page["_games"].numbers, answer["question"]["omega"]
    for method, steps in ((numbers["method"], numbers["steps"]), ("spiral_leapfrog", numbers["steps_simple"])):
        assert 1 / (listed[method] * rate) == pytest.approx(steps, rel=1e-6), method


@pytest.mark.parametrize("drift, fs, settle", [(0.01, "dt_fs", "shake_fs"), (0.001, "dt_fs_longer", "shake_fs_longer")])
def test_the_command_of_the_row_for_molecules_answers_as_the_row(first_page, without_run, capsys, drift, fs, settle):
    row = first_page["_water"]
    answer = asked_for(capsys, ["--liquid", "water64", "--drift", str(drift), "--all"])
    listed = {each["method"]: each["dt"] for each in answer["alternatives"]}
    assert answer["method"] == row.numbers["method"] and listed["moser_veselov"] == pytest.approx(row.numbers[settle] * 1e-15)
    assert answer["dt"] == pytest.approx(row.numbers[fs] * 1e-15)
    assert cli.main(["recommend", "--liquid", "water64", "--drift", str(drift)]) == 0
    (length,) = re.findall(r"libration, for runs of (\S+ ns)", " ".join(capsys.readouterr().out.split()))
    assert rf"for {length} \textbf{{{row.numbers[fs]:g}\,fs}} (SETTLE {row.numbers[settle]:g}\,fs)" in row.step
    assert rf"{row.numbers[settle]:g}\,fs for {length}" in row.more and "SETTLE allows" in row.more
    assert "keep SETTLE" in row.take and not re.search(r"\d", row.take.partition("Heat bath")[0]), "steps are in one cell"


def test_the_step_in_a_bath_has_the_same_digits_everywhere(first_page, without_run):
    """Page 1, README, documentation and command; never longer than linear analysis allows, by hand."""
    row, bias = first_page["_water"], 0.5 / 300
    centre, turning = read_dataset(HOME / "data/released/liquids.nc", "spectrum_water64")["rate_squared"].values
    exact = {"bath_fs": (24 * bias / (turning - centre)) ** 0.5, "bath_fs_lammps": (4 * bias / turning) ** 0.5}
    of_baths, of_question = ((HOME / f"docs/{name}.md").read_text(encoding="utf-8") for name in ("baths", "recommend-liquid"))
    for name, code in {"bath_fs": None, "bath_fs_lammps": "lammps"}.items():
        fs = row.numbers[name]
        answer = polhode.recommend(liquid="spce", bath="langevin", gamma="1/ps", code=code)
        assert answer.dt == pytest.approx(fs * 1e-15, rel=1e-12)
        assert re.search(rf"(dt = |`timestep ){fs:g}\b", answer.sentence)
        assert exact[name] - 10 ** np.floor(np.log10(exact[name]) - 1) < fs <= exact[name]
        assert rf"{fs:g}\,fs" in row.step + row.more and re.search(rf"\b{fs:g}\sfs", of_question)
    lammps = f"{row.numbers['bath_fs_lammps']:g}"
    assert f"timestep  {lammps}\n" in of_baths and f"0.5 K with {lammps} fs" in of_baths
    drifts = [row.numbers[f"lammps_{dt}fs"] for dt in (2, 4)]
    heats = (f"{300e-3 * drift:.1g}" for drift in drifts)
    words = "the drift of the first, {:.2g} and {:.2g} kT/ns at 2 and 4 fs, heats by {} and {} K".format(*drifts, *heats)
    assert words in " ".join(of_baths.split())


@pytest.mark.parametrize("step, digits, written", [(0.7457, 2, 0.74), (1.9999, 2, 1.9), (4.834, 3, 4.83), (2.0, 2, 2.0)])
def test_a_step_is_never_rounded_up(step, digits, written):
    for unit in (1.0, 1e-15, 1e3):
        assert largest_step.rounded_down(step * unit, digits) == pytest.approx(written * unit, rel=1e-12)


@pytest.mark.parametrize("torque", ["smooth", "friction"])
def test_tables_of_article_and_docs_are_the_command_s(torque, without_run, capsys):
    inputs = inputs_of(HOME / "data/released")
    frame, _ = rendering.table("answer", inputs)
    row = frame[(frame["situation"] == torque) & (frame["kept"] == 0)].iloc[0]
    answer = asked_for(capsys, ["--torque-class", torque, "--omega", "1", "--error", "1e-4", "--torque-price", "1e6", "--all"])
    listed = {each["method"]: 1 / each["dt"] for each in answer["alternatives"]}
    assert listed[row["method"]] == pytest.approx(row["steps_high"], rel=1e-6)
    assert listed[answer["method"]] == pytest.approx(row["steps_high"], rel=0.02), "as few torques"
    (half,) = (re.search(r"Median: (\S+) steps? per radian", said)[1] for said in answer["remarks"] if "Median" in said)
    assert float(half) == pytest.approx(row["steps"], rel=0.05)
    (line,) = (line for line in pages.landing_table(inputs).splitlines() if f"`{torque}`" in line)
    assert f"methods/{row['method']}.md" in line and f"{row['steps_high']:.2g} for 90 %" in line
    of_explorer = content._answers(inputs)[{"smooth": "lab", "friction": "velocity"}[torque]]
    assert of_explorer == [row["method"], row["steps"], row["steps_high"]]


def test_no_method_is_first_because_torques_are_free(released):
    """The explorer and the pages of problems open with the price that recommend takes."""
    assert {field["price"] for field in explorer_fields.fields(inputs_of(HOME / "data/released"))} == {USUAL} == {100}
    measured = pages.Measurements.released()
    assert "Adams-Bashforth" not in pages._first("asymmetric_heavy_top", measured)
    assert f"{USUAL:g} steps of direct Euler" in pages._first("asymmetric_heavy_top", measured)


def test_the_spacecraft_row_says_for_which_bodies_it_holds(first_page):
    row = first_page["_spacecraft"]
    section = (HOME / "paper/article/torque.tex").read_text(encoding="utf-8")
    assert "with wheels of up to 300 times" in section and "page~1" in section
    assert "nutation" in row.step and r"h/\sqrt{I_xI_z}" in row.step and "controller, which only caps the step" in row.take
    assert "fastest" not in row.step
    assert row.numbers["steps_wheels"] < row.numbers["steps_rk4"]
    for path, words in {
        "README.md": "with wheels of up to 300 times",
        "src/polhode_study/explorer/page.html": "without wheels",
    }.items():
        text = " ".join((HOME / path).read_text(encoding="utf-8").split())
        assert words in text and "nutation" in text and "controller" in text, path


def test_the_step_of_the_spacecraft_row_serves_with_wheels(first_page):
    """The steps of single satellites in the release, counted: nine in ten need no more than the row says."""
    rows = json.loads((HOME / "data/released/satellites.json").read_text(encoding="utf-8"))["satellites"].values()
    numbers = first_page["_spacecraft"].numbers
    needed = [row["steps"]["rk4"][2] for row in rows]
    assert np.mean(np.array(needed) <= numbers["steps_rk4"]) >= 0.9
    assert numbers["steps_wheels"] <= numbers["steps_rk4"]


def test_the_row_s_cubesat_has_the_step_of_its_own_question(first_page, without_run, capsys):
    """The same error, another sample: the row has the longer list of steps, and both texts say so."""
    row, values = first_page["_spacecraft"], from_satellites.CUBESAT
    answer = asked_for(capsys, ["--spacecraft", "--error", "1e-6", "--all"])
    assert answer["question"]["inertia"] == list(values["inertia"]) and answer["error"] == page_rows.SPACE
    assert (values["inertia"][0], values["inertia"][2]) == page_rows.CUBESAT and max(values["wheels"]) == page_rows.WHEEL
    listed = {each["method"]: each["dt"] for each in answer["alternatives"]}
    assert listed["rk4"] == pytest.approx(1 / (row.numbers["steps_wheels"] * row.numbers["nutation"]))
    assert answer["method"] == row.numbers["method_wheels"]
    assert f"with wheels {METHODS_OF_ALL[answer['method']].label}." in row.more
    in_digits = {name: f"{1 / (row.numbers[name] * row.numbers['nutation']):.2g}" for name in ("steps_rk4", "steps_wheels")}
    assert f"the step is {in_digits['steps_rk4']}\\,s." in row.example
    assert f"random satellites with wheels {in_digits['steps_wheels']}\\,s are sufficient" in row.more
    assert "The error is 1e-06 a radian; the step on the article's first page is for 1e-6 a radian" in answer["serves"]
    page = " ".join((HOME / "docs/recommend-class.md").read_text(encoding="utf-8").split())
    assert (
        f"These {row.numbers['steps_wheels']:.3g} steps of Runge-Kutta 4" in page
        and f"{in_digits['steps_wheels']} s for" in page
    )
    assert f"smooth torques need {row.numbers['steps_rk4']:.2g} for" in page and f"{in_digits['steps_rk4']} s here" in page


#: Runs the page's arithmetic on its data: texts typed in controls, and numbers to write in so many digits.
IN_NODE = """
const given = JSON.parse(require("fs").readFileSync(0));
const document = {{ getElementById: () => ({{ textContent: given.content }}) }};
{scripts}
const read = (typed) => Object.fromEntries(keysOf(QUESTION).map((key) => [key, QUESTION[key](typed[key])]));
const answers = given.questions.map(({{ price, single, ...typed }}) => satelliteAnswer({{ ...read(typed), price, single }}));
const wrong = given.wrong.map(([key, typing]) => QUESTION[key](typing) === undefined);
console.log(JSON.stringify({{ answers, wrong, numbers: given.numbers.map(([value, digits]) => general(value, digits)) }}));
"""
#: What is no number of a question, or no body that there is.
WRONG = [
    *[("inertia", typing) for typing in ("", "1 2", "1 2 x", "1 2 -1", "0 1 1", "1 2 4", "1 2 3 4", "1e200 1e200 1e200")],
    *[("omega", typing) for typing in ("", "-1", "3 deg", "fast", "0x10", "Infinity", "1 2")],
    *[("wheels", typing) for typing in ("0.005", "0 0 a")],
    *[(key, typing) for key in ("every", "time") for typing in ("0", "-1", "1 deg", "abc")],
    *[("below", typing) for typing in ("", "0", "1", "60 deg", "1e-16", "1e-3 s")],
]
#: Numbers in so many digits; some are halves, which are rounded to the even digit.
WRITTEN = [
    (0.015625, 4),
    (0.03125, 3),
    (0.09375, 3),
    (0.0, 3),
    (1e-5, 3),
    (9.9996e-5, 4),
    (99995.0, 4),
    (1e22, 2),
    (123456.0, 6),
]
#: Questions about satellites as they are typed, and as they are asked in Python.
EXAMPLE = {"inertia": "0.007 0.035 0.036", "wheels": "0 0.005 0", "omega": "0.0011", "every": "", "time": "", "below": "1e-6"}
AS_TYPED: list[tuple[dict, dict]] = [
    ({}, {}),
    ({"price": 1e4}, {"torque_price": 1e4}),
    ({"single": True, "every": "0,25"}, {"one_torque": True, "every": 0.25}),
    ({"omega": "3 deg/s", "wheels": ""}, {"omega": math.radians(3), "wheels": None}),
    ({"omega": "0"}, {"omega": 0.0}),
    ({"every": "0.25", "time": "5550", "below": "0.01 deg"}, {"every": 0.25, "time": 5550.0, "error": math.radians(0.01)}),
    ({"every": "0.01", "below": "1e-4"}, {"every": 0.01, "error": 1e-4}),
    ({"wheels": "0.001, -0.005, 2e-4"}, {"wheels": (0.001, -0.005, 2e-4)}),
    ({"wheels": "0,001 -0,005 2e-4"}, {"wheels": (0.001, -0.005, 2e-4)}),
    ({"below": "0.5"}, {"error": 0.5}),
]


def satellites_asked(number: int) -> list[tuple[dict, dict]]:
    """Random questions: as they are typed, and as they are asked in Python."""
    random, questions = np.random.default_rng(51), []
    for _ in range(number):
        a, b, c = random.uniform(0.2, 1, 3)
        numbers = {
            "inertia": [float(f"{x:.3g}") for x in (a + b, b + c, c + a)],
            "wheels": [float(f"{x:.3g}") for x in random.standard_normal(3) * 10 ** random.uniform(-2, 2)],
            "omega": float(f"{10 ** random.uniform(-3, 1):.3g}"),
            "every": float(f"{10 ** random.uniform(-3, 1):.2g}") if random.uniform() < 0.5 else None,
            "time": float(f"{10 ** random.uniform(0, 4):.2g}") if random.uniform() < 0.5 else None,
            "error": float(f"{10 ** random.uniform(-9, -1):.2g}"),
        }
        lists = {name: [] if x is None else x if isinstance(x, list) else [x] for name, x in numbers.items()}
        typed = {name: " ".join(map(repr, values)) for name, values in lists.items()}
        price, single = float(random.choice([0.0, 1.0, 1e3])), bool(random.uniform() < 0.3)
        settings = {"below": typed.pop("error"), "price": price, "single": single}
        questions.append((typed | settings, numbers | {"torque_price": price, "one_torque": single}))
    return questions


def test_the_explorer_answers_about_satellites_as_recommend(without_run):
    """The same sentences, and the same steps, costs and order of all methods, for what is typed on the page."""
    if shutil.which("node") is None:
        pytest.skip("node is missing; on Debian: apt-get install nodejs")
    questions = [*AS_TYPED, *satellites_asked(40)]
    data = explorer_satellites(Inputs(released=HOME / "data/released"), METHODS_OF_ALL)
    given = {"content": json.dumps({"satellites": data, "methods": {}}), "questions": [], "wrong": WRONG, "numbers": WRITTEN}
    given["questions"] = [{**EXAMPLE, "price": USUAL, "single": False} | typed for typed, _ in questions]
    scripts = "\n".join((page.FOLDER / name).read_text(encoding="utf-8") for name in ("model.js", "satellites.js"))
    command = ["node", "-e", IN_NODE.format(scripts=scripts)]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True, timeout=120)
    result, several = json.loads(done.stdout), set()
    for (typed, arguments), of_page in zip(questions, result["answers"], strict=True):
        example = {**from_satellites.CUBESAT, "error": 1e-6}
        answer = polhode.recommend(spacecraft=True, **(example | arguments))
        assert of_page["said"] == [answer.sentence, answer.serves, answer.costs], typed
        assert of_page["half"] == answer.interval_means
        rows = [row for row in of_page["rows"] if row["single"] or not arguments.get("one_torque")]
        assert [row["method"] for row in rows] == [row.method for row in answer.alternatives]
        for row, other in zip(rows, answer.alternatives, strict=True):
            assert row["step"] == pytest.approx(other.dt, rel=1e-12) and row["often"] == other.mark
            assert row["seconds"] == pytest.approx(other.seconds, rel=1e-12)
        several.add((answer.method, bool(of_page["best"]["count"]), "the spin" in answer.sentence))
    assert len({method for method, *_ in several}) > 2 and len(several) > 5, "questions of all kinds"
    assert result["wrong"] == [True] * len(WRONG)
    assert result["numbers"] == [f"{value:.{digits}g}" for value, digits in WRITTEN]


def test_an_angular_velocity_may_be_in_degrees(without_run, capsys):
    question = ["--spacecraft", "--inertia", "1", "2", "3", "--wheels", "0", "2", "0", "--error", "1e-6", "--omega"]
    assert asked_for(capsys, [*question, "3deg/s"]) == asked_for(capsys, [*question, f"{math.radians(3):.17g}"])
    assert cli.main(["recommend", *question, "3rpm"]) == 2
    assert "--omega must be a number, got '3rpm'; write it in rad/s" in capsys.readouterr().err


def test_each_table_of_answers_says_for_which_share_it_holds():
    share = f"({impact_errors.SHARE_OF_IMPACTS:.0%} of the impacts with friction)".replace("%", " %")
    for path in ("README.md", "docs/index.md"):
        text = " ".join((HOME / path).read_text(encoding="utf-8").split())
        assert f"sufficient for {largest_step.SHARE_OF_CASES:.0%}".replace("%", " %") + f" of the cases tested {share}" in text


def test_article_explorer_and_texts_count_claims_alike(tmp_path):
    """All claims of the study as rows: the statements of publications that are not about time, counted by hand."""
    rows = []
    for path in sorted((HOME / "src/polhode_study/chapters").glob("*/claims.yaml")):
        rows += [{**entry, "timed": path.parent.name == "times"} for entry in yaml.safe_load(path.read_text(encoding="utf-8"))]
    columns = ("id", "source", "location", "statement", "kind", "published", "comparison", "threshold")
    empty = dict.fromkeys(("rule", "tolerance", "measured", "low", "high", "note", "evidence"), "")
    for name, timed in (("claims", False), ("cost_claims", True)):
        of_file = [row for row in rows if row["timed"] == timed]
        table = [{key: str(row.get(key, "")) for key in columns} | {"verdict": "holds"} | empty for row in of_file]
        pd.DataFrame(table).assign(comparison="equal").to_csv(tmp_path / f"{name}.csv", index=False)
    places = {name: tmp_path / f"{name}.csv" for name in ("claims", "cost_claims")}
    inputs = Inputs(**places, errata=HOME / "data/errata.yaml")
    number = sum(row["kind"] in ("number", "statement") and not row["timed"] for row in rows)
    assert 0 < number < len(rows)
    assert ledger_numbers.counts(inputs)["studyClaimCount"] == str(number)
    assert content._stated(content._claims(inputs, [], [])) == number
    written = [HOME / "README.md", *(HOME / "docs").glob("*.md"), *(HOME / "paper").glob("**/*.tex")]
    for path in written:
        assert not re.search(r"\b\d+ (published )?(claims|statements)\b", path.read_text(encoding="utf-8")), (
            f"{path}: count them"
        )


def test_rk4_diverges_at_orbital_rate_with_wheels(first_page):
    """A cubesat (moments in kg m^2) with 5 mN m s along y, RK4 written out here: the steps that the row names and warns of."""
    inertia, wheel, orbit = (0.007, 0.035, 0.036), (0.0, 5e-3, 0.0), 1.13e-3

    def rate(w):
        (a, b, c), (x, y, z) = (i * u + h for i, u, h in zip(inertia, w, wheel, strict=True)), w
        return (b * z - c * y) / inertia[0], (c * x - a * z) / inertia[1], (a * y - b * x) / inertia[2]

    def moved(w, dt, a):
        return tuple(u + dt * v for u, v in zip(w, a, strict=True))

    def after(dt, seconds=5550.0):
        w = (1e-4, orbit, 2e-4)
        for _ in range(round(seconds / dt)):
            a = rate(w)
            b = rate(moved(w, dt / 2, a))
            c = rate(moved(w, dt / 2, b))
            d = rate(moved(w, dt, c))
            w = tuple(u + dt / 6 * (k + 2 * m + 2 * n + o) for u, k, m, n, o in zip(w, a, b, c, d, strict=True))
            if not all(abs(u) < 1e3 for u in w):
                return np.full(3, np.inf)
        return np.array(w)

    steps = first_page["_spacecraft"].numbers["steps_rk4"]
    nutation = wheel[1] / np.sqrt(inertia[0] * inertia[2])
    row = first_page["_spacecraft"]
    assert nutation == pytest.approx(row.numbers["nutation"], rel=1e-12) == pytest.approx(0.315, rel=0.01)
    assert f"{1 / (steps * nutation):.2f}" in row.example and f"{1 / (steps * orbit):.0f}" in row.more
    assert not np.isfinite(after(1 / (steps * orbit))).all(), "32 s at orbital rate"
    fine, coarse = after(0.2), after(1 / (steps * nutation))
    assert np.abs(coarse - fine).max() < 1e-6 * nutation * 5550 * nutation


def test_the_explorer_opens_with_the_answers_of_the_readme(first_page):
    """Each field has the cells of the README, the command of the documentation, and in its chart the step of its row."""
    readme = (HOME / "README.md").read_text(encoding="utf-8")
    fields = {field["key"]: field for field in explorer_fields.fields(inputs_of(HOME / "data/released"))}
    assert set(fields) == {name.strip("_") for name in first_page}
    for name, row in first_page.items():
        field = fields[name.strip("_")]
        for cell in (row.runs, row.take, row.step):
            assert web.markdown(cell) in readme and f"<dd>{web.html(cell)}</dd>" in field["answer"]
        assert f"polhode recommend {BEHIND[name][-1]}</code>" in field["answer"]
    values = {key: {row.get("method", row.get("label")): row for row in field["rows"]} for key, field in fields.items()}
    numbers = {name.strip("_"): row.numbers for name, row in first_page.items()}
    assert values["elastic"][numbers["elastic"]["method"]]["value"] == numbers["elastic"]["steps"]
    assert values["rubbing"]["one impact, better contact update"]["value"] == numbers["rubbing"]["steps"]
    assert values["rubbing"]["one impact, as codes"]["value"] == numbers["rubbing"]["steps_as_codes"]
    assert values["water"][numbers["water"]["method"]]["value"] == numbers["water"]["dt_fs"]
    assert values["games"][numbers["games"]["method"]]["value"] == pytest.approx(2 * np.pi * numbers["games"]["steps"])
    assert (
        next(iter(values["games"])) == numbers["games"]["method"]
        and next(iter(values["spacecraft"])) == numbers["spacecraft"]["method"]
    )
    assert f"{numbers['spacecraft']['steps_rk4']:.0f} steps" in values["spacecraft"]["rk4"]["words"]


@pytest.mark.parametrize("torque", ["smooth", "friction"])
def test_the_explorer_s_random_bodies_are_the_command_s(torque, without_run, capsys):
    ens = law_frames.EnsembleLaws(read_dataset(HOME / "data/released/laws.nc"))
    page = content._laws("published scale", ens)
    key = {"smooth": "lab", "friction": "friction_isotropic"}[torque]
    command = ["--torque-class", key, "--omega", "1", "--error", "1e-4", "--torque-price", "1e6", "--all"]
    answer = asked_for(capsys, command)
    sentence = page["answers"][ens.classes.index(key)][page["targets"].index(1e-4)][True]
    (best,) = re.findall(r"Take <strong>(.*?)</strong>", sentence)
    listed = {each["label"]: 1 / each["dt"] for each in answer["alternatives"]}
    assert float(re.search(r"<strong>([\d.]+) steps a radian", sentence)[1]) == pytest.approx(listed[best], rel=5e-3)
    assert listed[best] == pytest.approx(1 / answer["dt"], rel=0.02), "as few torques"


@pytest.mark.parametrize("price", [0.0, 100.0])
@pytest.mark.parametrize("error", [1e-2, *thorough(1e-1, 1e-4)])
def test_without_torque_the_exact_rotor_is_first_everywhere(error, price, released, monkeypatch):
    """Table 2, recommend, and the table of the documentation's first page."""
    monkeypatch.chdir(released)
    answer = polhode.recommend(torque="free", omega=1.0, error=error, torque_price=price)
    assert answer.method == ranking.WITHOUT_TORQUE == answer.alternatives[0].method and "any other one" in answer.sentence
    ens, *_ = of_random_bodies(released)
    inputs = inputs_of(HOME / "data/released")
    assert law_analysis.advice(inputs, ens, law_frames.FREE).single.method == ranking.WITHOUT_TORQUE
    row = next(line for line in pages.landing_table(inputs).splitlines() if ranking.WITHOUT_TORQUE in line)
    assert "any" in row and "Magnus" not in row
