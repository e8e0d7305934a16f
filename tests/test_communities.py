"""The first page: what five kinds of readers are told, from the released data."""

import re
from math import pi
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from polhode.advice.from_contacts import contact_time
from polhode.interface.netcdf import read_dataset
from polhode.methods import METHODS
from polhode_study.chapters.communities import figures, numbers, tables
from polhode_study.chapters.communities import frames as analysis
from polhode_study.chapters.communities import rows as page_rows
from polhode_study.chapters.laws import advice as law_advice
from polhode_study.chapters.laws import frames as law_frames
from polhode_study.chapters.laws import numbers as law_numbers
from polhode_study.chapters.laws.frames import EnsembleLaws
from polhode_study.documentation import readers
from polhode_study.inputs import Inputs, NotInRun

HOME = Path(__file__).parents[1]
RELEASED = HOME / "data" / "released"
ARTICLE = HOME / "paper" / "article"
#: What the first page may have without its picture, and the words of its abstract.
MOST_WORDS, MOST_NUMBERS, MOST_OF_ABSTRACT = 450, 60, 110
#: What is typeset without being read, and what stands for text in the sources of the first page.
UNREAD = (
    r"(?<!\\)%.*",
    r"\\(begin|end|label|includegraphics|input|fontsize|multicolumn)(\[[^]]*\])?\{[^{}]*\}(\{[\d.]+\})?(\[[^]]*\])?",
    r"\\(mathbf|textbf|emph|num|code|small|sqrt|text)\b",
)


@pytest.fixture(scope="module")
def inputs():
    return Inputs("", released=RELEASED, many_body=RELEASED / "many_body.nc")


@pytest.fixture(scope="module")
def ens():
    return EnsembleLaws(read_dataset(RELEASED / "laws.nc"))


def test_codes_are_rows_of_the_atlas(inputs):
    yade, before, lammps, kratos = analysis.codes(inputs, analysis.DEM)
    assert (yade.release, yade.method) == ("YADE 2025", "spiral_leapfrog")
    assert (before.release, before.method) == ("YADE 2023", "fincham1992_yade")
    assert lammps.method == "richardson" and kratos.method == "scalar_factor"
    (basilisk,) = analysis.codes(inputs, analysis.SPACECRAFT)
    assert round(basilisk.constant) == 4 and round(basilisk.lab) == 1
    assert len(analysis.codes(inputs, analysis.GAMES)) == len(analysis.GAMES), "each has the option that is named"
    web = {"Havok", "Jolt", "PhysX 4", "cannon-es", "crashcat"}
    assert set(analysis.damped(inputs)) == {"Bullet", "Newton", "PhysX 5", *web}
    without = set(analysis.without_gyroscopic_term(inputs))
    assert without >= {"oimo", *web} and without.isdisjoint({"Bullet", "ammo.js"})


def test_nine_in_ten_get_the_fewest_torques_allowed(ens):
    allowed = np.isin(ens.methods, ["rk4", "rkmk4", "spiral_leapfrog", "euler"])
    rows = [ens.classes.index(name) for name in ("constant", "time", "lab", "state")]
    torques = {
        key: np.quantile(ens.steps_of(rows, 1e-6)[ens.methods.index(key)], 0.9, method="higher") * price
        for key, price in (("rk4", 4), ("rkmk4", 4), ("spiral_leapfrog", 1))
    }
    assert analysis.serving(ens, allowed, 1e-6) == min(torques, key=torques.__getitem__) == "rkmk4"
    needed = analysis.steps(ens, "rkmk4", 1e-6)
    assert needed.most * 4 == pytest.approx(torques["rkmk4"], rel=0.02) and needed.half < needed.most
    assert needed.rate == 2 * pi * needed.most
    with pytest.raises(NotInRun):
        analysis.serving(ens, np.zeros(len(ens.methods), bool), 1e-6)


def test_methods_with_torques_at_outputs_or_damping_are_left_out(ens):
    declared = {("exact_rotor_corrected", "torques_per_output"): 4, ("rkmk4", "caution"): "damps"}
    run = SimpleNamespace(declared=lambda key, name, default: declared.get((key, name), default))
    at = ens.methods.index
    without = analysis.without_outputs(run, ens)
    assert without[at("exact_rotor")] and not without[at("exact_rotor_corrected")] and not without[at("rk4")]
    assert analysis.several(run, ens)[at("rk4")] and not analysis.several(run, ens)[at("rkmk4")]


def test_elastic_contacts(inputs):
    row = page_rows._elastic(inputs)
    best = law_frames.recommended_in_contacts(law_frames.collisions(inputs))
    assert row.numbers["steps"] == best.steps[2] > row.numbers["steps_half"] == best.steps[0]
    assert f"{best.steps[2]:.0f}}}$" in row.step and "velocity Verlet" in row.numbers["equal"]
    assert row.numbers["energy_YADE 2023"] > 5 and row.numbers["energy_LAMMPS 2025"] == pytest.approx(1, rel=0.05)
    assert row.runs == "YADE 2025, LAMMPS 2025 and Kratos DEM 10", "of each code the newest release"
    assert "energy_YADE 2025" not in row.numbers and row.more.startswith("YADE 2025 runs SPIRAL by default. ")
    time = contact_time(*page_rows.GRAVEL)
    assert row.numbers["contact_time"] == pytest.approx(time, rel=1e-6)
    assert f"{float(f'{1e6 * time / best.steps[2]:.2g}'):g}\\,$\\mu$s" in row.example


def test_the_step_of_a_drum_does_not_change_its_slope(inputs):
    row = page_rows._rubbing(readers.inputs_of(RELEASED))
    data = read_dataset(RELEASED / "grains.nc", "drum")
    methods = [key for key in data["variant"].values if key in METHODS]
    angle = data["angle"].sel(variant=methods).isel(division=-1).mean("variant")
    change = data["angle"].sel(variant="as_in_LAMMPS", division=row.numbers["steps_bulk"]) - angle
    assert row.numbers["slope"] == pytest.approx(float(change.mean("seed")), abs=1e-6)
    assert "LAMMPS" in row.example and f"{{{float(change.mean('seed')):.1f}}}" in row.example
    assert row.numbers["slope_low"] < float(change.mean("seed")) < row.numbers["slope_high"] < row.numbers["slope_scatter"]


def test_spacecraft_step_at_the_rate_of_the_nutation(inputs):
    row = page_rows._spacecraft(readers.inputs_of(RELEASED))
    steps = [row.numbers[key] for key in ("steps_rk4", "steps", "steps_one_torque")]
    assert row.numbers["method_one_torque"] in METHODS and steps[1] < steps[0] < steps[2]
    ix, iz, h = 7e-3, 36e-3, 5e-3
    assert row.numbers["nutation"] == pytest.approx((h * h / ix / iz) ** 0.5)


def test_errors_of_impacts_are_95_percent_quantiles():
    data = readers.inputs_of(RELEASED).check("random_impacts").sel(quantity="spin")
    errors = analysis.of_impacts(readers.inputs_of(RELEASED))
    for name, stage in (("codes", "usual"), ("cured", "dashpot")):
        assert sorted(100 * data["by_stage"].sel(stage=stage).values)[-2] == errors[name], "as of the 118 for the steps"
    assert errors["method"] < 0.01 * errors["cured"] < errors["codes"]


def test_contacts_of_codes_are_of_first_order(inputs):
    assert analysis.contact_orders(inputs) == pytest.approx({"LAMMPS": 1.0, "YADE": 1.0}, abs=0.05)


def test_the_contact_time_of_the_article_is_that_of_the_library():
    macros = numbers.communities(Inputs(""))
    factor = float(macros["studyPageHertz"].removeprefix(r"\num{").rstrip("}"))
    young, poisson, density, radius, speed = 5e6, 0.3, 2500.0, 1e-3, 2.0
    mass, reduced = 4 / 3 * pi * radius**3 * density, young / (2 * (1 - poisson**2))
    by_hand = factor * (mass**2 / (radius * reduced**2 * speed)) ** 0.2
    assert by_hand == pytest.approx(contact_time(young, poisson, density, radius, speed), rel=0.003)


def test_a_run_without_data_says_so():
    for make in (tables.communities, figures.free_body):
        with pytest.raises(NotInRun):
            make(Inputs(""))


def test_the_picture_says_where_each_spin_ends(inputs):
    figure = Figure(figsize=(10, 3))
    figures.draw(figure, inputs.atlas)
    texts = [text.get_text() for text in figure.texts]
    assert len(figure.axes) == len(figures.SHOWN) == 5 and "never leaves its axis: the\ngyroscopic term is off" in texts
    changed = inputs.atlas.copy()
    changed["end"] = changed["end"].copy(data=["tumbles"] * changed.sizes["engine"])
    with pytest.raises(ValueError, match="MuJoCo implicit now ends with tumbles"):
        figures.draw(Figure(), changed)


def typeset(name: str, macros: dict[str, str]) -> str:
    """The text of a source of the article, as it is read; a macro that is not given is a number."""
    text = (ARTICLE / f"{name}.tex").read_text(encoding="utf-8")
    text = re.sub(r"\\(study[A-Za-z]+)(\{\})?", lambda match: macros.get(match[1], "1"), text)
    return readable(text)


def readable(text: str) -> str:
    """LaTeX as it is read: without commands, with spaces where they are seen."""
    for pattern in UNREAD:
        text = re.sub(pattern, "", text)
    text = re.sub(r"\\(,|q?quad|enspace)|~", " ", text)
    return re.sub(r"\\(mu|circ|[a-z]+)|[{}$]", lambda match: {"mu": "µ"}.get(match[1], ""), text.replace("\\_", "_"))


def words_and_numbers(text: str) -> tuple[int, int]:
    """How many words have a letter, and how many numbers there are; 10 to the power of -4 are two."""
    numbers = re.findall(r"\d+(?:\.\d+)?", text)
    return sum(bool(re.search("[^\\W\\d_]", word)) for word in text.split()), len(numbers)


def test_the_first_page_is_short():
    """Counted in what is typeset: title, abstract, captions, and the rows from the released data."""
    inputs = readers.inputs_of(RELEASED)
    # The release has no long runs, in which the energy of the method with the fewest torques does not drift.
    single = law_advice.all_advice(inputs, law_frames.ensemble(inputs))["smooth"].single
    macros = law_numbers._smooth(inputs, SimpleNamespace(single=single, steady=single))
    macros |= {"studyReduced": "", "studydate": "1 January 2026"}
    abstract = typeset("abstract", macros)
    rows = [
        readable(" ".join((row.who, row.what, row.runs, row.take, row.step, row.example))) for row in page_rows.rows(inputs)
    ]
    texts = {
        "title and authors": typeset("answer", macros),
        "abstract": abstract,
        "captions": "Table 1: Figure 1: " + typeset("communities", macros) + typeset("free_body_figure", macros),
        "head": " ".join(tables.HEAD),
        **{f"row {i}": row for i, row in enumerate(rows, 1)},
    }
    counts = {name: words_and_numbers(text) for name, text in texts.items()}
    assert len(rows) == 5 and counts["abstract"][0] <= MOST_OF_ABSTRACT, counts
    assert sum(words for words, _ in counts.values()) <= MOST_WORDS, counts
    assert sum(numbers for _, numbers in counts.values()) <= MOST_NUMBERS, counts
