"""One question, one answer: the largest step for an error is the same number wherever a reader meets it.

On the released laws and scenes, of a few methods and bodies: what the tables of the article print, the law sheet of the
supplement, ``polhode.recommend``, its command, and what the explorer holds.
"""

import base64
import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import polhode
from polhode import cli
from polhode.documentation import measured, pages
from polhode.documentation.readers import inputs_of
from polhode.ensembles import CLASSES
from polhode.fits import contact_law, ranking
from polhode.interface.netcdf import group_names, read_dataset
from polhode.study.analysis import impacts, law_frames
from polhode.study.explorer import content
from polhode.study.inputs import Inputs
from polhode.study.storage import write_dataset, write_groups
from polhode.study.themes.communities import tables
from polhode.study.themes.contacts import numbers
from polhode.study.themes.impacts import numbers as impact_numbers
from polhode.study.themes.laws import analysis as law_analysis

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
    page = content._laws(ens)
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


@pytest.mark.parametrize("torque", CLASSES)
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
                (said,) = (
                    re.search(r"Half of the bodies need (\S+) steps", text) for text in answer.remarks if "Half of" in text
                )
                assert said[1] == f"{half:.3g}"


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
            assert f"Half of the states need T/{half:.0f}," in " ".join([*answer.remarks, answer.serves])
    if error == 1e-4:
        made = numbers.contact_law(inputs)
        half, _, nine_of_ten = of_article[contact_law.LEADING]
        assert made["studyCollisionStepsUsual"] == rf"\num{{{half:.0f}}}"
        assert made["studyCollisionStepsUsualWorst"] == rf"\num{{{nine_of_ten:.0f}}}"


@pytest.mark.parametrize("error", [1e-2, 1e-3, 1e-4])
def test_the_steps_of_contacts_with_friction_are_the_same_everywhere(error, released, monkeypatch, capsys):
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
        made, row = impact_numbers.steps(inputs), tables._rubbing(inputs_of(HOME / "data/released"))
        assert made[f"studyImpactStepsCured{suffix}Take"] == f"{cured.take:.0f}" and f"T/{cured.take:.0f}" in row.step
        assert row.numbers["steps_loose" if suffix else "steps"] == cured.take


def test_the_page_about_advice_names_these_numbers(released, monkeypatch):
    monkeypatch.chdir(released)
    text = " ".join((HOME / "docs/recommend.md").read_text(encoding="utf-8").split())
    half, _, nine_of_ten = next(
        entry.steps
        for entry in law_frames.contacts(Inputs(released=released / "data/released"), 1e-3)
        if entry.method == contact_law.LEADING
    )
    assert f"SPIRAL with 1/{nine_of_ten:.0f} of it" in text and f"half of the states, 1/{half:.0f}," in text
    assert f"for {contact_law.BODIES} bodies in contact for {contact_law.CONTACTS:g} contact times each" in text


@pytest.mark.parametrize("price", [0.0, 100.0])
@pytest.mark.parametrize("error", [1e-1, 1e-2, 1e-4])
def test_without_a_torque_the_answer_is_the_exact_rotor_everywhere(error, price, released, monkeypatch):
    """Table 2, recommend, and the table of the documentation's first page."""
    monkeypatch.chdir(released)
    answer = polhode.recommend(torque="free", omega=1.0, error=error, torque_price=price)
    assert answer.method == ranking.WITHOUT_TORQUE == answer.alternatives[0].method and "any other one" in answer.sentence
    ens, *_ = of_random_bodies(released)
    inputs = inputs_of(HOME / "data/released")
    assert law_analysis.advice(inputs, ens, law_frames.FREE).one.method == ranking.WITHOUT_TORQUE
    row = next(line for line in pages.landing_table(measured.Measurements.released()).splitlines() if "free" in line)
    assert row.count("exact_rotor") == row.count("any") == 3 and "Magnus" not in row
