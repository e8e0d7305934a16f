"""The documentation: it builds without a warning and a network, nothing of the library is missing, its recipes run."""

import ast
import html
import importlib
import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest
import xarray as xr
import yaml
from conftest import FEW
from data_files import invented
from studies import default, merged

import polhode
import polhode_engines
from polhode import cli, manybody
from polhode.advice import from_runs
from polhode.export.program import Program
from polhode.fits.largest_step import rounded_down
from polhode.interface.netcdf import read_dataset
from polhode_engines.cases import LOADS, identification_runs
from polhode_study import chapters, configuration
from polhode_study.chapters.communities import rows as page_rows
from polhode_study.chapters.impacts import frames as impacts
from polhode_study.cli import docs as command
from polhode_study.documentation import committed, markdown, names, pages, pictures, readers, reference, texts, variables
from polhode_study.documentation import configuration as key_tables
from polhode_study.documentation.mathml import mathml
from polhode_study.documentation.measured import Measurements
from polhode_study.report import method_tables
from polhode_study.run import method_sheet

HOME = Path(__file__).parents[1]
DOCS = HOME / "docs"


# ---- the pages as they are built, once ----


#: Pictures that are drawn for what they show.
SHOWN = {
    pictures.method_picture: FEW[1:],
    pictures.problem_picture: ("coupled_cylinders", "heavy_top"),
    pictures.scene_picture: ("rods", "water64"),
}
#: Pages of a method that is no more, and of a module of a package without pages.
FORGOTTEN = ("_generated/methods/forgotten.md", "_generated/api/polhode_study.plan.rst")


@pytest.fixture(scope="module")
def built():
    """The pages, built strictly from the released data; what has not changed since the last time is not built again.

    Of the pictures and the generated code only some are made, and stand for the others: all of them take three minutes.
    """
    output = DOCS / "_build" / "test" / "html"
    for name in FORGOTTEN:
        (DOCS / name).parent.mkdir(parents=True, exist_ok=True)
        (DOCS / name).write_text("# Forgotten\n")
    drawn: dict[Callable, bytes] = {}
    draw, source = pictures._png, Program.source

    def of_few(drawer):
        few = SHOWN.get(drawer.func)
        if few is None or drawer.args[0] in few:
            return draw(drawer)
        if drawer.func not in drawn:
            drawn[drawer.func] = draw(drawer)
        return drawn[drawer.func]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pictures, "_png", of_few)
        patch.setattr(Program, "source", lambda language, method: source(language, method) if method.key in FEW else "")
        command.build(output, HOME / "there is no run here")
    for path in DOCS.glob("_generated/*/*.png"):
        if path.read_bytes() in drawn.values():
            path.unlink()  # or ./reproduce docs would take it
    return output


class Page(HTMLParser):
    """What a page links to, loads, and can be linked to at."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.formulas = 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if "id" in attributes:
            self.anchors.add(attributes["id"])
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag != "a":
            self.loads += [attributes[name] for name in ("src", "href", "data", "poster") if attributes.get(name)]
            self.loads += re.findall(r"url\(([^)]+)\)", attributes.get("style") or "")
        self.formulas += tag == "math"


@pytest.fixture(scope="module")
def html_pages(built):
    return {path: Page(path) for path in sorted(built.rglob("*.html"))}


@pytest.mark.thorough
def test_nothing_is_loaded_from_elsewhere(built, html_pages):
    assert len(html_pages) > 100
    for path, page in html_pages.items():
        for address in page.loads:
            assert not urlsplit(address).netloc and not address.startswith("//"), f"{path} loads {address}"
    for path in [*built.rglob("*.css"), *built.rglob("*.js")]:
        text = path.read_text(encoding="utf-8", errors="replace")
        assert not re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", text), path
        assert not re.findall(r"import\s*\(?[\"'](?:https?:)?//", text), path


@pytest.mark.thorough
def test_all_internal_links_lead_somewhere(built, html_pages):
    for path, page in html_pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), f"{path.relative_to(built)} links to {link}"
            if parts.fragment and target in html_pages and not parts.fragment.startswith(":~:"):
                assert unquote(parts.fragment) in html_pages[target].anchors, f"{path.relative_to(built)} links to {link}"


@pytest.mark.thorough
@pytest.mark.parametrize("kind, keys", [
    ("methods", list(polhode.methods)),
    ("problems", list(polhode.problems)),
    ("scenes", list(manybody.scenes)),
])  # fmt: skip
def test_everything_registered_has_a_page_that_is_linked(built, html_pages, kind, keys):
    listing = html_pages[built / ("methods.html" if kind == "methods" else "problems.html")]
    for key in keys:
        page = built / f"_generated/{kind}/{key}.html"
        assert page in html_pages and html_pages[page].formulas, f"{key} has no page, or one without a formula"
        assert f"_generated/{kind}/{key}.html" in listing.links
        assert f"{key}.png" in page.read_text(), f"the page of {key} has no picture"
    pages = {path.stem for path in (built / f"_generated/{kind}").glob("*.html")}
    assert pages == set(keys)


@pytest.mark.thorough
def test_a_method_s_page_has_its_declarations_and_results(built):
    text = plain_text(built / "_generated/methods/spiral_leapfrog.html")
    method = polhode.methods["spiral_leapfrog"]
    for said in (method.source, method.starts, method.reads, method.note, "def after_torque", "direct Euler"):
        assert " ".join(said.split()) in text, said
    assert re.search(r"constant in the body q [12]\.\d\d \(2\) ω [23]\.\d\d \(3\)", text)


@pytest.mark.thorough
def test_the_landing_page_has_its_table_and_its_picture(built, html_pages):
    text = plain_text(built / "index.html")
    for method in ("exact_rotor", "exact_rotor_dkd_corrected", "magnus_adams4"):
        assert polhode.methods[method].label in text
    pictures = [address for address in html_pages[built / "index.html"].loads if address.endswith(".png")]
    assert len(pictures) == 1 and re.fullmatch(r"_images/spins\d*\.png", pictures[0])


@pytest.mark.thorough
def test_every_module_is_in_the_reference(built):
    elsewhere = {f"polhode.{kind}.{key}" for kind, keys in (("methods", polhode.methods), ("problems", polhode.problems))
                 for key in keys}  # fmt: skip
    for package in (polhode, polhode_engines):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name not in elsewhere and not module.name.endswith(".__main__"):
                assert (built / f"_generated/api/{module.name}.html").is_file(), module.name
    text = plain_text(built / "_generated/api/polhode.simulate.html")
    assert "count_steps" in text and "Time step in s." in text
    # Kernels are compiled, and documented as functions all the same.
    assert re.search(r"multiply ?\( ?p, q ?\)", plain_text(built / "_generated/api/polhode.algebra.quaternion.html"))
    assert (built / "_modules/polhode/algebra/quaternion.html").is_file()


@pytest.mark.thorough
def test_every_command_is_in_the_reference(built):
    text = plain_text(built / "commands.html")
    for name in cli.commands():
        assert re.search(rf"\b{name}\b", text), name
    assert "--torque-price" in text


def plain_text(path):
    text = re.sub(r"<script.*?</script>|<[^>]*>", " ", path.read_text(encoding="utf-8"), flags=re.S)
    return re.sub(r" (?=[.,)])", "", " ".join(html.unescape(text).split()))


@pytest.mark.thorough
def test_two_builds_of_the_generated_pages_are_the_same(built, tmp_path):
    measured, sheets = Measurements.released(), method_tables.released_sheets()
    for key in ("rk4", "pcdm2016"):
        page = DOCS / f"_generated/methods/{key}.md"
        assert page.read_text() == pages.method_page(polhode.methods[key], measured, sheets)
    for page in DOCS.glob("_generated/**/*.md"):
        assert str(HOME) not in page.read_text(), f"{page} names a folder of this machine"


@pytest.mark.thorough
def test_a_drift_that_may_be_zero_is_a_bound(tmp_path):
    from polhode.interface.storage import write_groups

    drift = np.multiply.outer([[-100.0] * 5, [1.0, -2.0, 3.0, 4.0, 0.5], [1e-3] * 5], [0.99, 1.0, 1.01])
    drift[2, :, 0] *= -1
    lost = np.zeros(drift.shape)
    lost[0, 1:, 2] = -1
    methods = ["magnus_adams4", "omelyan1998", "no_squish"]
    runs = invented(
        "checks/liquid_4fs.nc",
        {"integrator": methods, "dt": list(pages.LIQUID_STEPS), "seed": [0, 1, 2]},
        {"molecules": 64, "duration": 1e5},
        drift=drift,
        **dict.fromkeys(("lost_by", "lost_at", "rms", "block_error"), lost),
    )
    axes, flat = {"frequency": np.linspace(0, 1, 1001)}, np.full((3, 1001), 1 / 3003)
    spectrum = invented("checks/liquid_spectrum.nc", axes, spectrum=flat)
    write_groups({"/": xr.Dataset(), "/followed": runs, "/spectrum_water64": spectrum}, tmp_path / "liquids.nc")
    said, _, *lines = pages.liquids_table(tmp_path / "liquids.nc").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert "3 starts of 100 ps" in said and cells[0][1] == "1 fs, 6.3 steps a period"
    assert [re.findall(r"(\w+)\.md", row[0])[0] for row in cells[2:]] == ["no_squish", "omelyan1998", "magnus_adams4"]
    assert cells[2][1] == "below 0.0032" and cells[3][1:] == ["+1", "−2", "+3", "+4", "+0.5"]
    assert cells[4][1:] == ["−100", *["lost, cools"] * 4]


@pytest.mark.thorough
def test_what_is_no_more_leaves_no_page(built):
    for name in FORGOTTEN:
        assert not (DOCS / name).exists() and (DOCS / name).parent.is_dir()


# ---- pieces ----


def test_formulas_are_mathml_and_what_cannot_be_is_an_error():
    formula = mathml(r"\tfrac12 (a)")
    assert re.sub(r"\s", "", formula).count("<mn>1</mn><mn>2</mn>") == 1
    assert "<mtable" in mathml(r"a &= b \\ c &= d", block=True)
    with pytest.raises(ValueError, match=r"nosuchcommand.*cannot be written in MathML"):
        mathml(r"\nosuchcommand{x}")
    with pytest.raises(ValueError, match="cannot be written in MathML"):
        mathml("a &= b", block=True)  # no lines to align


def test_every_formula_of_the_pages_is_one():
    fence = re.compile(r"^```.*?^```|`[^`\n]*`", re.S | re.M)
    texts = [fence.sub("", path.read_text(encoding="utf-8")) for path in DOCS.glob("*.md")]
    formulas = [text for page in texts for text in re.findall(r"\$\$(.+?)\$\$|\$([^$]+)\$", page, re.S)]
    assert len(formulas) > 20
    for block, inline in formulas:
        assert "merror" not in mathml(block or inline, block=bool(block))


@pytest.mark.parametrize("package", ["methods", "problems"])
def test_every_formula_of_the_registry_is_one(package):
    for key in getattr(polhode, package):
        text = importlib.import_module(f"polhode.{package}.{key}").__doc__
        formulas = re.findall(r"\.\. math::\n\n((?:   .*\n?)+)", text)
        assert formulas, f"the docstring of {package}/{key}.py has no formula"
        for formula in formulas:
            mathml(formula, block=True)


def test_bars_of_norms_are_no_substitutions():
    lines = ["The norm |q| of q.", "``|x|`` stays.", "", ".. math::", "", "   |v|", "", "And |w|."]
    assert texts.plain_bars(lines) == [r"The norm \|q\| of q.", *lines[1:7], r"And \|w\|."]


def test_public_names_lead_to_where_things_are_defined():
    assert names.defined_at("polhode.manybody.Scene.with_spin") == "polhode.manybody.scene.Scene.with_spin"
    assert names.defined_at("polhode.simulate") == "polhode.simulate.simulate"
    assert names.defined_at("polhode.nothing.here") == "polhode.nothing.here"


@pytest.mark.parametrize("value, text", [
    (0.0, "0"), (0.0123456, "0.0123"), (1e-5, "$10^{-5}$"), (5.4e-4, r"$5.4\times 10^{-4}$"), (1e4, "10000"), (np.nan, "–"),
    (6e10, r"$6\times 10^{10}$"), (-2.5, "-2.5"),
])  # fmt: skip
def test_numbers_are_for_people(value, text):
    assert markdown.number(value) == text


def test_a_table_keeps_to_its_columns():
    assert markdown.table(["a"], [["x|y\nz"]]) == "| a |\n| :--- |\n| x\\|y z |\n"


# ---- measured ----


@pytest.mark.thorough
def test_the_released_measurements_name_the_fastest_method():
    released = Measurements.released()
    best = released.first("heavy_top", 1e-4, 100.0)
    assert polhode.methods[best["method"]].torques_per_step == 1
    assert released.first("heavy_top", 1e-4, 100.0, one_torque=False)["seconds"] <= best["seconds"]
    assert released.first("heavy_top", 1e-30, 100.0) is None


def test_without_a_sheet_declared_orders_stand():
    page = pages.method_page(polhode.methods["rk4"], Measurements.released(), {"entries": {}})
    assert "free 4, 4; constant 4, 4" in page and "measures it on one page" in page


# ---- the reference of the configuration and of the files ----


def test_every_key_of_the_configuration_is_documented():
    rows = {path: meaning for path, _, _, _, meaning in key_tables.every_key()}
    assert len(rows) > 45
    assert [path for path, meaning in rows.items() if not meaning] == [], "give these keys a description in the models"
    known = set(rows)

    def below(node, path):
        for key, value in node.items():
            name = f"{path}.{key}".lstrip(".")
            for section, stands_for in (("problems", "PROBLEM"), ("many_body", "SCENE")):
                if path == section:
                    name = f"{path}.{stands_for}"
            if path.endswith(".dt"):
                name = f"{path}.SET"
            assert name in known, f"{name} of config.yaml is not in the reference"
            if isinstance(value, dict):
                below(value, name)

    below(default(), "")


def test_the_reference_shows_the_defaults_and_the_limits():
    rows = {path: rest for path, *rest in key_tables.every_key()}
    assert rows["digits"][:3] == ["whole number, ≥ 20, ≤ 1000", "yes", "`50`"]
    assert rows["methods"][0] == "`all` or list, entries ≥ 1" and rows["methods"][2] == '`"all"`'
    assert rows["problems.PROBLEM.long_run.switched"][0] == "true, false"
    assert rows["many_body"][0].endswith("or null")
    assert rows["many_body.SCENE.methods"][1:3] == ["no", '`"all"`'], "a default of the models, where config.yaml has none"


def test_the_schema_is_that_of_the_models(tmp_path):
    key_tables.write(tmp_path)
    said = f"{key_tables.SCHEMA} is out of date; run python -m polhode_study.documentation.configuration"
    assert (tmp_path / key_tables.SCHEMA).read_text() == (HOME / key_tables.SCHEMA).read_text(), said
    assert "| `many_body` |" in (DOCS / "configuration.md").read_text()


@pytest.mark.thorough
def test_released_files_have_no_variable_that_the_list_lacks():
    known = {(row["file"], row["group"], row["variable"]) for row in reference.variables(variables.LIST)}
    assert len(known) > 300
    for row in reference.variables(variables.LIST):
        assert row["long_name"], f"{row} says not what it is"
    paths = [HOME / f"data/released/{name}.nc" for name in ("cost", "many_body")]
    for row in variables.found_in(HOME / "data/released", paths):
        # CPU seconds stand in the released file alone.
        assert (row["file"], row["group"], row["variable"]) in known or row["variable"] == "cpu_seconds", row


def test_the_list_of_variables_says_what_a_file_holds(tmp_path):
    from polhode.interface import storage

    data = xr.Dataset({"q": ("time", [1.0], {"long_name": "orientation", "units": "1"})}, {"time": [0.0]})
    storage.write_groups({"/": xr.Dataset(), "/heavy_top": data, "/heavy_top/long_run": data}, tmp_path / "single_body.nc")
    job = storage.job_text("runs", {"problem": "heavy_top", "steps": "fit", "method": "rk4"}, {}, "0")
    storage.write_dataset(data, tmp_path / "runs/heavy_top/fit/rk4.nc", job)
    variables.write([tmp_path], tmp_path / "list.csv")
    rows = reference.variables(tmp_path / "list.csv")
    described = {(row["file"], row["group"], row["variable"]) for row in rows}
    assert ("single_body.nc", "PROBLEM/long_run", "q") in described and ("runs/PROBLEM/STEPS/METHOD.nc", "", "q") in described
    assert {row["long_name"] for row in rows if row["variable"] == "q"} == {"orientation"}


# ---- recipes ----

#: Pages whose blocks of Python and YAML are run; what a block wants is noted above it.
RECIPES = [
    "results",
    "recommend-motion",
    "identify",
    "own-study",
    "adding-a-method",
    "adding-a-problem",
    "adding-a-force-law",
    "many-bodies",
    "molecules",
    "liquids",
    "impacts",
    "correctors",
    "ensembles",
    "compare",
]
BLOCK = re.compile(r"(?:<!-- (?P<note>.*?) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.S | re.M)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder in which a reader of the documentation may work: the checkout's docs, and results of two runs."""
    from polhode.interface import storage

    shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns("_*"))
    axes = {"integrator": ["spiral_leapfrog", "rk4"], "dt": [1e-4, 1.1e-3, 1e-2]}
    for folder, factor in (("results", 1.0), ("elsewhere", 2.0)):
        values = factor * np.geomspace(1e-9, 1e-3, 6).reshape(2, 3)
        rows = invented("single_body.nc/PROBLEM", axes, q_error_l1=values, omega_error_l1=values)
        groups = {"/": xr.Dataset(), "/spiral_cylinder": rows, "/heavy_top": rows}
        storage.write_groups(groups, tmp_path / folder / "single_body.nc")
    axes = {"torque_class": ["lab"], "integrator": ["spiral_leapfrog"], "radians": [16.0]}
    laws = {"law_order": 2.0, "law_coefficient": 1.0, "law_coarsest": 0.1}
    errors = invented("ensembles.nc", axes, error_q=np.geomspace(1e-6, 1e-3, 6).reshape(1, 1, 3, 2, 1), **laws)
    storage.write_dataset(errors, tmp_path / "results" / "ensembles.nc")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    with polhode.methods.restored(), polhode.problems.restored(), manybody.forces.restored():
        yield tmp_path


@pytest.mark.thorough
@pytest.mark.parametrize("name", RECIPES)
def test_recipes_run(desk, name, capsys):
    import matplotlib

    matplotlib.use("agg", force=True)
    blocks = list(BLOCK.finditer((DOCS / f"{name}.md").read_text(encoding="utf-8")))
    assert blocks, f"{name}.md has no block; take it off the list"
    scope: dict = {"__name__": "recipe"}
    for block in blocks:
        text, note = block["text"], block["note"] or ""
        if note.startswith("file: "):
            (desk / note.removeprefix("file: ")).write_text(text)
        elif block["language"] == "python":
            exec(compile(text, f"{name}.md", "exec"), scope)
        elif block["language"] == "yaml":
            if "example_problem" in note:
                polhode.problems.load(desk / "docs/example_problem.py")
            check_configuration(text, desk)
    printed = capsys.readouterr().out
    if name == "recommend-motion":
        check_motion(blocks, printed)
    if name == "adding-a-method":
        assert printed == "0.0\n"
    if name == "correctors":
        rows = [[abs(float(x)) for x in line.split()[-2:]] for line in printed.splitlines()[:3]]
        assert all(leapfrog > 15 * corrected for leapfrog, corrected in rows)
    if name == "ensembles":
        assert "order 2.0\n" in printed
        # Second order with C = 1: a step of 0.001 rad for 1e-6 per radian.
        assert "array([0.001, 0.001])" in printed
    if name == "compare":
        assert [float(line.split()[-1]) for line in printed.splitlines() if re.search(r"\d\.\d", line)] == [2.0, 2.0]


def page_text(name):
    """A page as one line."""
    return " ".join((DOCS / f"{name}.md").read_text(encoding="utf-8").split())


def first_answer(text):
    """Method, steps, steps a radian, and for which starts, of the first lines of an answer about a motion."""
    best = re.search(r"Take .*? \((\w+)\) with dt = \S+ s / (\d+) = \S+ s, (\S+) steps a radian at the initial", text)
    return best[1], int(best[2]), float(best[3]), re.search(r"It is sufficient for .*?\.(?= )", text)[0]


def check_motion(blocks, printed):
    """The answer that the page shows is the answer of the Python block below it."""
    assert "Take " in printed and "evaluations of the torque" in printed
    on_page = next(block["text"] for block in blocks if block["language"] == "text")
    method, steps, density, starts = first_answer(" ".join(on_page.split()))
    again = first_answer(" ".join(printed.split()))
    assert (method, starts) == (again[0], again[3])
    assert steps == pytest.approx(again[1], rel=2 * from_runs.PRECISION)
    assert density == pytest.approx(again[2], rel=2 * from_runs.PRECISION)


def write_files_of(path, folder):
    """The files that a page shows below a note with their name."""
    for block in BLOCK.finditer(path.read_text(encoding="utf-8")):
        if (block["note"] or "").startswith("file: "):
            (folder / block["note"].removeprefix("file: ")).write_text(block["text"])


def answers_of(path):
    """The questions to recommend in a text, each with the answer that stands below it."""
    question = None
    for block in BLOCK.finditer(path.read_text(encoding="utf-8")):
        command = re.search(r"^polhode (recommend .*)$", block["text"].replace("\\\n", " "), re.M)
        if block["language"] == "text" and question:
            yield question, block["text"]
        question = command and command[1].split()


@pytest.mark.parametrize(
    ("page", "number"),
    [("README", 1), ("docs/recommend-class", 2), ("docs/recommend-contacts", 2), ("docs/recommend-liquid", 2)],
)
def test_the_page_shows_the_answers_of_its_commands(page, number, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    write_files_of(HOME / f"{page}.md", tmp_path)
    pairs = list(answers_of(HOME / f"{page}.md"))
    assert len(pairs) == number, "every answer stands below its command"
    for question, answer_on_page in pairs:
        assert cli.main(question) == 0
        answer = capsys.readouterr().out
        first = answer_on_page.removesuffix("...\n")
        assert answer.startswith(first) if first != answer_on_page else answer == answer_on_page, question


@pytest.mark.thorough
def test_numbers_of_the_page_on_contacts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = page_text("recommend-contacts")
    collide = {"young": 5e6, "poisson": 0.3, "density": 2500, "radius": 1e-3, "speed": 1, "error": 1e-3}
    answer = polhode.recommend(**collide)
    share = answer.asked["contact_time"] / answer.dt
    assert f"{answer.asked['contact_time'] * 1e3:.3f} ms here, and recommends SPIRAL with 1/{share:.0f} of it" in page
    half = re.search(r"Median: T/(\d+) \(the mean", " ".join(answer.why().split()))
    assert half and f"the step for half of the states, 1/{half[1]}, which an answer names as well" in page
    assert f"{answer.dt * 1e6:.1f} us. The thirty rods decide." in page and "rods (50 states" in answer.evidence[0]
    assert "32 bodies in contact for 16 of these each" in " ".join(answer.why().split())
    assert "for 32 bodies in contact for 16 contact times each" in page
    rubs = polhode.recommend(contact_time=1e-4, friction=0.5, restitution=0.7, error=1e-2)
    cured, codes = (row.mark.split(",")[0] for row in rubs.alternatives)
    assert f"dt = {cured} and all corrections, or {codes} with the contact update of LAMMPS and YADE" in page
    in_bulk = polhode.recommend(contact_time=1e-4, purpose="bulk", error=5e-2)
    assert f"the change lies below the error, {in_bulk.best.mark.split(',')[0]} here." in page
    words = r"drum, change.* (\S+) degrees (\[\S+, \S+\]) with the contact update of LAMMPS at T/20"
    measured = re.search(words, " ".join(in_bulk.evidence))
    assert measured and f"(angle of repose) by {measured[1]} degrees {measured[2]}, from the slope" in page
    write_files_of(DOCS / "recommend-contacts.md", tmp_path)
    gravel = {"young": 7e7, "poisson": 0.3, "density": 2500, "speed": 0.5, "purpose": "bulk", "error": 5e-2, "code": "LAMMPS"}
    answers = (
        polhode.recommend("gravel.txt", scale=1e-3, **gravel),
        *(polhode.recommend(radius=radius, **gravel) for radius in (2.5e-3, 1.5e-3)),
    )
    clump, whole, single = (rounded_down(1e6 * answer.dt, 3) for answer in answers)
    assert f"length, {clump:.3g} µs in place of {whole:.3g} µs" in page and single < clump < whole
    assert f"one of its spheres alone, for which T/20 is {single:.3g} µs" in page


def test_the_page_says_of_what_the_row_of_the_readme_speaks():
    """How much another method changes spins: the number of the row, its impacts, its step and its methods."""
    inputs = readers.inputs_of()
    spin = inputs.check("random_impacts").sel(quantity="spin")
    page = page_text("recommend-contacts")
    number = f"{page_rows._rubbing(inputs).numbers['spin_method']:.4f} %"
    assert number in page and f"on {spin.sizes['draw']} random impacts at T/{spin.attrs['apart_at']}" in page
    others = [key for key in map(str, spin["integrator"].values) if key not in (*impacts.APART, "spiral_leapfrog")]
    first, second, last = (str(spin["label"].sel(integrator=key).item()) for key in others)
    assert f"with {first}, {second} or the {last} in place of SPIRAL" in page
    readme = (HOME / "README.md").read_text(encoding="utf-8")
    (row,) = [line for line in readme.splitlines() if number in line]
    assert "(docs/recommend-contacts.md), friction and damping" in row


def check_configuration(text, desk):
    """What is written there is a configuration, merged into config.yaml as Snakemake does."""
    (desk / "mine.yaml").write_text(text)
    config = merged(default(), yaml.safe_load(text))
    for path in config["plugins"]:
        assert (desk / path).is_file()
    configuration.resolve(config | {"plugins": []}, HOME)


def test_the_pages_show_the_example_files_as_they_are():
    for page, name in (
        ("adding-a-method", "example_plugin"),
        ("adding-a-problem", "example_problem"),
        ("adding-a-scene", "example_scene"),
        ("adding-a-force-law", "example_force"),
    ):
        assert f"```python\n{(DOCS / f'{name}.py').read_text()}```" in (DOCS / f"{page}.md").read_text()


@pytest.mark.thorough
def test_the_step_in_numpy_is_that_of_the_kernels():
    """Under a torque in the lab, which is evaluated where each of them has it evaluated."""
    scope: dict = {}
    block = re.search(r"```python\n(import numpy.*?)```", (DOCS / "challenge.md").read_text(encoding="utf-8"), re.S)[1]
    exec(compile(block, "challenge.md", "exec"), scope)
    run = identification_runs("lab")[0]
    with polhode.methods.restored():
        motion = method_sheet.motion(polhode.methods.load(DOCS / "example_kdk.py"), run)

    def torque_at(q, omega):
        return np.array(LOADS["lab"](0.0, tuple(q), tuple(omega), run.value))

    assert tuple(scope["INERTIA"]) == run.inertia
    q, omega = run.q0, np.array(run.omega0)
    torque = torque_at(q, omega)
    for n in run.samples:
        np.testing.assert_allclose([*q, *omega], [*motion.q[n], *motion.omega[n]], rtol=0, atol=1e-12)
        q, omega, torque = scope["step"](q, omega, torque, run.dt, torque_at)


def test_every_kernel_of_the_algebra_is_in_the_table():
    rows = [row for row in pages.kernels_table().splitlines() if row.startswith("| `")]
    named = {row.split("`")[3].partition("(")[0]: row for row in rows}
    assert {"exponential", "multiply", "to_body", "axpy", "cross", "angular_velocity", "euler_equations"} <= set(named)
    assert "`to_body(q, v)`" in named["to_body"] and "components in the body frame" in named["to_body"]
    assert all(row.count(" | ") == 2 and len(row.split(" | ")[2]) > 10 for row in rows) and "of_axes" not in named


@pytest.mark.thorough
def test_the_python_of_the_readme_runs(desk):
    import matplotlib

    matplotlib.use("agg", force=True)
    (block,) = re.findall(r"```python\n(.*?)```", (HOME / "README.md").read_text(), flags=re.S)
    assert len([line for line in block.splitlines() if line and not line.startswith("import")]) <= 5
    exec(compile(block, "README.md", "exec"), {"__name__": "recipe"})


#: Sentences of the left column of WORDS that are ours alone, anywhere, also in docstrings.
LEFT_COLUMN = (
    r"torques? of the lab\b|\bworst of\b|none is seen|published gap|variants under one name|\bserves? (?:\d|nine|half|it\b)"
    r"|nine (?:cases )?in ten|What limits each|times turns|one set in its middle|one that is not takes|the secant gains"
    r"|What lasts\b|per radian are the time|read in other variables|No first line|variables belong to one step"
    r"|Half of the bodies need|last digit makes|takes of a method|what they say is not known|(?:takes|costs?) an order"
    r"|\bgives? it back|surprised us|an earlier (?:trial|version)|fresh readers|\btold apart|\btells? apart|is booked"
)
#: Words of the code and of its history that no reader knows; the glossary defines those that are names in data or parameters.
PRIVATE_WORDS = re.compile(
    r"bookkeeping|\bcur(?:e[sd]?|ing)\b|\bbooked\b|\bledgers?\b|\btwirl\w*|(?<!-)\bhanded\b(?! on)|\banew\b|" + LEFT_COLUMN,
    re.I,
)
#: Texts that are values or attributes in released files, which a run must equal; where a person would see one, it is replaced.
IN_DATA = {
    "bookkeeping as in LAMMPS": "label of a law of checks/bed.nc, column.nc, drum.nc; tables print the labels of methods only",
    "bookkeeping of the contact: a stage": "attribute of checks/random_impacts.nc; reference.in_plain_words",
    "bookkeeping of the contact: each stage adds a cure to those before it": "attribute of checks/impacts.nc and"
    " random_impacts.nc; reference.in_plain_words",
    "mean error with all cures,": "attribute of checks/random_impacts.nc; reference.in_plain_words",
    "error of the sum of all energies, relative, all cures,": "attribute of checks/random_impacts.nc; reference.in_plain_words",
}
IN_CODE = re.compile(r"^```.*?^```|\{term\}`[^`]*`|`[^`]*`", re.S | re.M)
IN_LATEX = re.compile(
    r"\\val(?:\{[^}]*\})+|\\(?:code|label|ref|cite|input|includegraphics|study\w*)(?:\[[^\]]*\])?(?:\{[^}]*\})?"
    r"|(?<!\\)%.*"
)
ARTICLE = [*HOME.glob("paper/**/*.tex"), *HOME.glob("src/polhode_study/**/*.tex")]
READ_AS_TEXT = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "benchmarks/README.md",
    "data/README.md",
    "data/released/README.md",
    "findings/README.md",
]
#: Folders with texts that persons see.
SPOKEN = ("src", "benchmarks", "data", "examples", "findings", "notebooks", "workflow")


def private_words(texts, words=PRIVATE_WORDS):
    """Texts by path -> the private words in them, of the files that have some; line breaks count as spaces."""
    hits = {path: words.findall(" ".join(text.split())) for path, text in texts.items()}
    return {str(path.relative_to(HOME)): sorted(set(found)) for path, found in hits.items() if found}


def files_of(*endings):
    """The files with texts for persons that have one of these endings, without what tools put beside them."""
    files = [path for folder in SPOKEN for path in (HOME / folder).rglob("*") if path.suffix in endings]
    return sorted(path for path in files if not any(part.startswith(".") for part in path.relative_to(HOME).parts))


def sentences(value):
    """The sentences among the values of what a YAML file holds; a name by itself is none."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for member in value for text in sentences(member)]
    return [value] if isinstance(value, str) and " " in value.strip() else []


def strings(source):
    """(the docstrings, the sentences among other strings) of Python text."""
    tree = ast.parse(source)
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    messages = [node.value for node in texts if id(node) not in bare and " " in node.value.strip()]
    return [node.value for node in texts if id(node) in bare], messages


def test_pages_have_no_private_words():
    pages = [path for path in [*DOCS.glob("*.md"), *(HOME / name for name in READ_AS_TEXT)] if path.stem != "glossary"]
    texts = {path: IN_CODE.sub("", path.read_text(encoding="utf-8")) for path in pages}
    texts |= {path: IN_LATEX.sub("", path.read_text(encoding="utf-8")) for path in ARTICLE}
    assert private_words(texts) == {}
    shown_as_code = {path: path.read_text(encoding="utf-8") for path in pages}
    assert private_words(shown_as_code, re.compile(LEFT_COLUMN)) == {}


def test_claims_questions_and_settings_have_no_private_words():
    loaded = {path: yaml.safe_load(path.read_text(encoding="utf-8")) for path in files_of(".yaml")}
    assert len(loaded) > 50
    assert private_words({path: " / ".join(sentences(value)) for path, value in loaded.items()}) == {}


def test_scripts_and_notebooks_have_no_private_words():
    texts = {path: path.read_text(encoding="utf-8") for path in files_of(".html", ".js", ".mjs", ".sh", ".c", ".h", ".txt")}
    for path in files_of(".ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        markdown_cells = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
        code = [re.sub(r"^[%!].*", "", "".join(cell["source"]), flags=re.M) for cell in cells if cell["cell_type"] == "code"]
        texts[path] = IN_CODE.sub("", "\n".join(markdown_cells)) + "\n".join(
            text for source in code for text in strings(source)[1]
        )
    assert private_words(texts) == {}


def test_messages_and_answers_have_no_private_words():
    """Of the library, the engines, the study with its chapters, and scripts; a name by itself is no sentence."""
    texts = {path: strings(path.read_text(encoding="utf-8"))[1] for path in files_of(".py")}
    assert set(IN_DATA) <= {text.strip() for said in texts.values() for text in said}, "an exception that is no longer needed"
    said = {path: " / ".join(text for text in said if text.strip() not in IN_DATA) for path, said in texts.items()}
    assert private_words(said) == {}


def test_docstrings_have_no_sentence_of_the_left_column():
    library = [path for path in files_of(".py") if "chapters" not in path.parts]
    docstrings = {path: "\n".join(strings(path.read_text(encoding="utf-8"))[0]) for path in library}
    assert private_words(docstrings, re.compile(LEFT_COLUMN)) == {}


def test_the_page_of_variables_has_no_private_words():
    """Names of variables stand in backquotes; the attributes of released files are replaced there."""
    page = reference.variables_tables(HOME / "docs/variables.csv")
    assert "update scheme of the contact: each stage adds a correction to those before it" in page
    meanings = "\n".join(line.rstrip(" |").rpartition("|")[2] for line in page.splitlines() if line.startswith("| `"))
    assert PRIVATE_WORDS.findall(meanings) == []


@pytest.mark.parametrize(
    "text",
    ["under torques\nof the lab", "it serves 90 % of them", "the worst of all", "with all Cures", "curing", "costs an order"],
)
def test_a_private_word_is_found_across_lines(text):
    assert private_words({HOME / "a": text})["a"] and not private_words({HOME / "a": "a secure lab-frame torque, obscured"})


#: Pages as a code-hosting page shows them.
WRITTEN = [*sorted(DOCS.glob("*.md")), *(HOME / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG"))]
LINK = re.compile(r"\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?!\w+:)(?P<place>[^()\s]+)\)")


def as_hosted(path):
    """A page without its comments and the blocks that are shown as code; code within a line is a word."""
    text = re.sub(r"<!--.*?-->|^( *)```.*?^\1```", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)
    return re.sub(r"`[^`\n]*`", "code", text)


def headings(path):
    """The anchors that a code-hosting page makes of the headings."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)
    titles = (re.sub(r"[`*]|\[|\]\([^)]*\)", "", title) for title in re.findall(r"^#+ (.*)$", text, re.M))
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", WRITTEN, ids=lambda path: path.stem)
def test_links_of_a_page_lead_somewhere_without_a_build(page):
    for link in LINK.finditer(as_hosted(page)):
        assert link["text"].strip(), f"{page.name}: the link to {link['place']} has no text"
        file, _, anchor = unquote(link["place"]).partition("#")
        assert not file.startswith("/"), f"{page.name}: {file} begins at the root, which differs where pages are hosted"
        place = (page.parent / file).resolve() if file else page
        assert place.exists() and HOME in place.parents, f"{page.name} links to {file}, which is not there"
        assert "_generated" not in place.parts and "_build" not in place.parts, f"{page.name}: {file} is not in a checkout"
        assert not anchor or anchor in headings(place), f"{page.name} links to {link['place']}: no such heading"


def test_what_is_shown_as_code_names_no_file_of_a_build():
    texts = {page.name: re.sub(r"<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.S) for page in WRITTEN}
    assert [
        name for name, text in texts.items() if re.search(r"^```{(include|figure)} .*_generated|^_generated", text, re.M)
    ] == []


@pytest.mark.thorough
def test_generated_texts_of_pages_are_up_to_date():
    texts = [(page, name, text) for page in committed.pages_with_marks() for name, text in committed.marked(page)]
    assert {name for _, name, _ in texts} == set(committed.makers())
    for page, name, text in texts:
        assert text == committed.text_in(page, name), (
            f"{page.name}, {name}: run python -m polhode_study.documentation.committed"
        )


def test_built_pages_have_what_stands_in_comments(tmp_path, monkeypatch):
    monkeypatch.setattr(committed, "HOME", tmp_path)
    damaged(tmp_path / "docs/_generated/methods/rk4.md", b"# RK4")
    source = (
        "a\n<!-- built pages:\n```{include} b\n```\n-->\n[RK4](../src/polhode/methods/rk4.py) [p](../src/polhode/methods/x.py)"
    )
    assert committed.as_built(source) == (
        "a\n\n```{include} b\n```\n\n[RK4](/_generated/methods/rk4.md) [p](../src/polhode/methods/x.py)"
    )


def test_the_article_is_in_the_checkout():
    """It is the report of a run, copied there when the released data change (CONTRIBUTING.md, Releasing)."""
    data = (DOCS / "article.pdf").read_bytes()
    assert data.startswith(b"%PDF-") and data.rstrip().endswith(b"%%EOF") and len(data) <= 1_000_000
    (title,) = re.findall(rb"/Title ?\(([^)]*)\)", data)
    title = re.sub(rb"\\(\d{3})", lambda octal: bytes([int(octal[1], 8)]), title).decode("utf-16")
    assert title == re.search(r"pdftitle=\{(.*?)\}", (HOME / "paper/report.tex").read_text())[1]


def test_commands_that_the_pages_name_exist():
    known = {*cli.commands(), "test", "tex", "install", "lab", "data", "notebooks"}
    for page in [*DOCS.glob("*.md"), HOME / "README.md"]:
        for word in re.findall(r"\./reproduce ([a-z]+)\b(?!/)", page.read_text(encoding="utf-8")):
            assert word in known, f"{page.name} names ./reproduce {word}"


# ---- the command ----


def test_docs_without_sphinx_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert cli.main(["docs"]) == 2
    assert "./reproduce docs" in capsys.readouterr().err


def test_docs_of_a_folder_that_is_no_run_is_refused(tmp_path, capsys):
    assert cli.main(["docs", "--results", str(tmp_path)]) == 2
    assert "holds no single_body.nc" in capsys.readouterr().err


def damaged(path, data):
    """A file with these bytes, in folders that are made for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


@pytest.mark.parametrize("what", ["cut", "changed", "text", "notebook", "cells"])
def test_damaged_results_are_refused_before_pages_are_written(tmp_path, capsys, monkeypatch, what):
    from polhode.interface import storage

    monkeypatch.setattr(command, "build", lambda output, results: pytest.fail("pages are written"))
    data, notebook = tmp_path / "single_body.nc", tmp_path / "notebooks" / "tour.ipynb"
    storage.write_dataset(xr.Dataset({"error": ("dt", np.arange(1000.0))}), data)
    whole = data.read_bytes()
    damaged(notebook, b'{"cells": 1}' if what == "cells" else b'{"cells": [' if what == "notebook" else b'{"cells": []}')
    place = whole.index(np.arange(500.0, 510.0).tobytes()) if what == "changed" else 0
    damaged(
        data, {"cut": whole[:5000], "changed": whole[:place] + b"1" + whole[place + 1 :], "text": b"no data"}.get(what, whole)
    )
    assert cli.main(["docs", "--results", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert (
        said.startswith(f"polhode docs: --results: {notebook if what in ('notebook', 'cells') else data} ")
        and said.count("\n") == 1
    )
    assert "delete it and run again, or leave --results out" in said


@pytest.mark.thorough
def test_a_warning_of_sphinx_fails_the_build(tmp_path, monkeypatch, capfd):
    docs = tmp_path / "docs"
    docs.mkdir()
    extensions = "['myst_parser', 'polhode_study.documentation.mathml']"
    settings = f"extensions = {extensions}\nmyst_enable_extensions = ['dollarmath']\nhtml_math_renderer = 'mathml'\n"
    (docs / "conf.py").write_text(settings)
    (docs / "index.md").write_text("# Title\n\n$\\nosuchcommand$\n")
    monkeypatch.setattr(pages, "write", lambda folder, results: None)
    with pytest.raises(cli.UsageError, match="warnings above"):
        command.build(tmp_path / "html", None, docs)
    assert "nosuchcommand" in capfd.readouterr().err
    (docs / "index.md").write_text("# Title\n\n$x$\n")
    command.build(tmp_path / "html", None, docs)
    assert "<math" in (tmp_path / "html/index.html").read_text()


@pytest.mark.thorough
def test_plain_sphinx_says_that_the_pages_must_be_written_first(tmp_path):
    shutil.copy(DOCS / "conf.py", tmp_path)
    run = [sys.executable, "-m", "sphinx", "-q", str(tmp_path), str(tmp_path / "html")]
    environment = os.environ | {"PYTHONPATH": str(HOME / "src")}
    done = subprocess.run(run, capture_output=True, text=True, env=environment, timeout=600)
    assert done.returncode and "./reproduce docs" in done.stderr


@pytest.mark.thorough
def test_the_landing_page_answers_each_kind_of_reader(capsys):
    assert set(readers.BEHIND) == {make.__name__ for make in page_rows.MAKERS}
    lines = readers.behind().splitlines()
    inputs = readers.inputs_of()
    assert len(lines) == len(page_rows.MAKERS) == 5
    for make, line, row in zip(page_rows.MAKERS, lines, readers.table().splitlines()[2:], strict=True):
        name, file, *_, question = readers.BEHIND[make.__name__]
        numbers = make(inputs).numbers
        assert name in line and file in line and f"methods/{numbers['method']}.md" in line and question in line
        in_digits = (f"{numbers['steps']:.0f}", f"{numbers['steps']:.1f}", f"{2 * np.pi * numbers['steps']:.0f}")
        assert any(number in row for number in in_digits), (name, in_digits)
        assert cli.main(["recommend", *question.split()]) == 0
        assert "Take" in capsys.readouterr().out
    for key, (bodies, question, place) in readers.BESIDE.items():
        (line,) = (line for line in lines if f"**{readers.BEHIND[key][0]}.**" in line)
        assert f"{bodies} `polhode recommend {question}` ([how to ask](/{place}))" in line
        assert cli.main(["recommend", *question.split()]) == 0
        assert "Take" in capsys.readouterr().out


def test_every_published_figure_has_its_file_on_the_page():
    text = (HOME / "docs/results.md").read_text(encoding="utf-8")
    section = text.partition("(published-figures)=")[2].partition("\n## Reading the data")[0]
    files = set(re.findall(r"`(figures/\w+\.pdf|tables/\w+\.csv)`", section))
    drawn = {f"figures/{name}.pdf" for name in chapters.names("figures")}
    drawn |= {f"tables/{name}.csv" for name in chapters.names("tables")}
    assert len(files) > 20 and files <= drawn, files - drawn
    for chapter in ("spiral2024", "seelen2016", "times", "methods"):
        for kind, ending in (("figures", "pdf"), ("tables", "csv")):
            tree = ast.parse((HOME / chapters.FOLDER / chapter / f"{kind}.py").read_text(encoding="utf-8"))
            for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
                said = (ast.get_docstring(function) or "").partition("\n")[0]
                if function.name in chapters.names(kind, chapter) and (of := re.search(r"(Fig|Table)s?\.? (A\.\d|\d)", said)):
                    line = next((line for line in section.splitlines() if f"{kind}/{function.name}.{ending}" in line), "")
                    assert f"{of[1]}" in line and of[2] in line, (function.name, said)


def test_the_table_of_the_readme_is_the_released_data_s():
    text = (HOME / "README.md").read_text(encoding="utf-8")
    ((name, table),) = committed.marked(HOME / "README.md")
    assert table == committed.text_in(HOME / "README.md", name), "python -m polhode_study.documentation.committed"
    assert len(text) - len(table) <= 4000


def test_latex_that_the_landing_page_does_not_know_is_named():
    assert readers.markdown(r"\textbf{\num{13}\,Hz}, 33\,fs${}/6.6$ {\scriptsize (half: $\leq$\num{1e-04})} Sec.~\ref{a}") == (
        "**13 Hz**, 33 fs/6.6 (half: ≤ 10<sup>−4</sup>)"
    )
    with pytest.raises(ValueError, match=r"LaTeX that the landing page cannot show: .*textit"):
        readers.markdown(r"\textit{word}")


@pytest.mark.thorough
def test_sheets_and_their_tables_are_part_of_the_site(built):
    released = method_tables.released_sheets()["entries"]
    assert released
    for key in released:
        assert (built / f"_generated/methods/{key}.html").read_text().count("<svg") > 5, key
    assert (built / "methods.csv").read_text().startswith("integrator,variable,")
    assert set(read_dataset(built / "methods.nc")["integrator"].values) == set(released)
