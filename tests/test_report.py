"""The report shows what the run made: styles, figures, tables, numbers, errata and the text itself."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest
import studies
import xarray as xr
from conftest import product
from data_files import inputs_in, invented, of_methods
from rendered import all_numbers, figure_twice, number_lines, root, whole_table

import polhode
from polhode.algebra import metrics
from polhode.algebra.body import Body
from polhode.fits.largest_step import largest_step
from polhode.interface.reading import ConfigurationError
from polhode.interface.storage import write_dataset, write_groups
from polhode.methods import buss2000_delvalle2024 as buss
from polhode_study import chapters, configuration, inputs
from polhode_study.chapters import rendering
from polhode_study.chapters.ledger import tables as ledger_tables
from polhode_study.chapters.reproducibility import numbers as run_numbers
from polhode_study.chapters.spiral2024 import figures as delvalle2024
from polhode_study.chapters.spiral2024 import measures as measures_spiral2024
from polhode_study.chapters.spiral2024 import run as checks
from polhode_study.chapters.spiral2024.frames import step_off_the_curve
from polhode_study.inputs import Inputs, NotInRun, load_errata
from polhode_study.macro_names import check_distinct
from polhode_study.products import Products
from polhode_study.report import drawing, formats, latex, macros, style, typeset
from polhode_study.report.claims import SOURCES
from polhode_study.report.selection import PUBLISHED_SET

HOME = Path(__file__).parents[1]
PAPER = HOME / "paper"
PUBLISHED = HOME / "data" / "published"
ERRATA = HOME / "data" / "errata.yaml"
PROBLEM = "spiral_cylinder"
CYLINDER = polhode.problems[PROBLEM]
#: Tables over several pages, whose captions and labels are not in the text.
LONG_TABLES = ("target", "errata", "problems", "engines", "methods")
#: The texts of both documents, the article and its supplement.
TEX = chapters.texts(HOME)
#: Those that are typeset; the others have the captions of what is a file only.
TYPESET = [path for path in TEX if path.name != chapters.NOT_TYPESET]


def made_up(folder: Path, methods: list[str], plugins: str = "", targets: tuple[float, ...] = (1e-3, 1e-2)) -> Inputs:
    """A run in the layout of single_body.nc with invented errors."""
    n = len(methods)
    dt = 10.0 ** np.linspace(-5, -1, 5)
    time = np.linspace(0, 20, 41)
    slope = np.arange(1, n + 1)[:, None] % 4 + 1
    names = ("q_error_l1", "omega_error_l1", "stored_omega_error_l1", "mean_error", "mean_error_as_published", "angle_error")
    names += ("energy_error", "norm_error")
    fit = {"": 2.0, "_low": 1.99, "_high": 2.02, "_dt_min": 1e-5, "_dt_max": 1e-2, "_points": 5}
    errors = invented(
        "single_body.nc/PROBLEM",
        {"integrator": methods, "dt": dt},
        **dict.fromkeys(names, np.minimum(dt**slope, 3.0)),
        **{f"{name}_order{suffix}": value for name in ("q", "omega", "stored_omega") for suffix, value in fit.items()},
        **of_methods(methods, "label"),
        steps=np.floor(1 / dt),
        dt_set=["published"] * 4 + ["fit"],
        end_time=1.0,
        claimed_q_order=2,
        claimed_omega_order=2,
    )
    spun = np.stack([np.cos(time), np.sin(time), 0 * time, 0 * time], axis=-1)
    long_run = invented(
        "single_body.nc/PROBLEM/long_run",
        {"integrator": methods, "time": time},
        {"dt": 1e-4},
        **dict.fromkeys(names, np.outer(np.arange(n) + 1, time) * 1e-6),
        q=np.stack([spun] * n),
        exact_q=spun,
    )
    # What is measured by its matrix is measured otherwise.
    by_matrix = np.array([m in polhode.methods and polhode.methods[m].published_error == "matrix" for m in methods])
    targets_met = invented(
        "single_body.nc/PROBLEM/targets",
        {"integrator": methods, "target_error": list(targets)},
        **dict.fromkeys(("step_size", "steps", "mean_error"), 3e-3),
        step_size_as_published=np.where(by_matrix, 1.5e-3, 3e-3)[:, None],
    )
    tree = {
        "/": root(plugins),
        f"/{PROBLEM}": errors,
        f"/{PROBLEM}/long_run": long_run,
        f"/{PROBLEM}/targets": targets_met,
    }
    write_groups(tree, folder / "single_body.nc")
    states = {"q": (("time", "quaternion"), spun), "omega": (("time", "axis"), spun[:, 1:])}
    digits = {f"{k}_digits": (v[0], v[1].astype(str)) for k, v in states.items()}
    attrs = {"formula": "made up", "digits": 50, "guard_digits": 15, "agreement": 48.25, "agreement_time": 20.0}
    write_dataset(xr.Dataset({**states, **digits}, {"time": time}, attrs), folder / f"{PROBLEM}.nc")
    write_dataset(made_up_variants(), folder / "checks" / "published_variants.nc")
    columns = ["id", "source", "location", "statement", "published", "measured", "tolerance", "verdict", "evidence"]
    rows = [["a", "s", "Sec. 1", "50 % of a_b & ω < 1", "1.0", "0.99871", "0.02", "holds", "e"], ["b", *[""] * 7, "e"]]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "claims.csv", index=False)
    return inputs_in(folder)


def made_up_variants() -> xr.Dataset:
    """The check of single choices of the published methods: a gain of 2 in q and 3 in omega with each."""
    variants = checks._variants()
    gain = np.array([[1.0, 1.0] if key == base else [2.0, 3.0] for key, (base, _, _) in variants.items()])
    division = np.array([measures_spiral2024.VARIANT_DIVISION // 2, measures_spiral2024.VARIANT_DIVISION])
    return invented(
        "checks/published_variants.nc",
        {"variant": list(variants), "quantity": ["q", "omega"], "division": division},
        error=6.0 / gain[:, :, None] / division,
        order=gain,
        dt=1.0 / division,
        base=[base for base, _, _ in variants.values()],
        description=[text for _, text, _ in variants.values()],
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """All methods and a plug-in."""
    return made_up(tmp_path_factory.mktemp("whole"), [*polhode.methods, "my_own"], plugins="my_own")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A configuration that leaves nearly everything out."""
    return made_up(tmp_path_factory.mktemp("small"), ["rk4"], targets=(1e-3,))


# Styles


def test_every_method_has_a_look_of_its_own():
    looks = style.styles([*polhode.methods, "my_own", "her_own", "ours"])
    assert len({(s["color"], s["marker"], str(s["linestyle"]), s["markerfacecolor"]) for s in looks.values()}) == len(looks)
    groups: dict[str, list] = {}
    for key, method in polhode.methods.items():
        if key in style.FAMILIES:  # another gets a spare look
            groups.setdefault(method.group, []).append(looks[key]["marker"])
    for group, markers in groups.items():
        assert len(set(markers)) == len(markers), f"methods of one group must differ by more than colour: {group}"


def test_variant_shares_colour_and_marker_with_its_method():
    for key in polhode.methods:
        parent = polhode.methods[key].variant_of
        # The readings of PCDM have looks of their own.
        if parent and key not in style.FAMILIES:
            variant, original = style.style(key), style.style(parent)
            assert (variant["color"], variant["marker"]) == (original["color"], original["marker"])
            assert variant["markerfacecolor"] == "white" != original["markerfacecolor"]


def test_look_does_not_depend_on_company_or_order():
    keys = ["zeta", "euler", "alpha"]
    assert style.styles(keys) == style.styles(reversed(keys))
    assert style.styles(["euler", "pfc4"])["euler"] == style.style("euler")
    assert (
        style.styles([f"plugin_{i}" for i in range(20)], {"plugin_3": "euler"})["plugin_3"]["color"]
        == style.style("euler")["color"]
    )


def test_too_many_plugins_are_named():
    with pytest.raises(ValueError, match="no distinct style"):
        style.styles([f"plugin_{i}" for i in range(len(style.SPARE) + 1)])


def test_the_workflow_makes_every_figure_and_table():
    plan = Products(studies.study(), HOME)
    for kind in ("figures", "tables"):
        names = [name for chapter in chapters.all_chapters().values() for name in getattr(chapter, kind)]
        assert sorted(Path(path).stem for path in plan.files(kind)) == sorted(names) == sorted(set(names)), (
            "each in one chapter"
        )


# Figures


@pytest.mark.thorough
@pytest.mark.parametrize("name", chapters.names("figures"))
def test_figure_is_the_same_file_twice_and_whole(name, whole, tmp_path, monkeypatch):
    before, save, cut = dict(matplotlib.rcParams), style.save, []

    def saved(figure, path, subject):
        save(figure, path, subject)
        drawn, edge = figure.get_tightbbox(), figure.bbox_inches
        cut.append(max(-drawn.x0, -drawn.y0, drawn.x1 - edge.x1, drawn.y1 - edge.y1))

    monkeypatch.setattr(style, "save", saved)
    png = figure_twice(name, whole, tmp_path)
    for path in (png, png.with_suffix(".pdf")):
        assert b"CreationDate" not in path.read_bytes() and b"Matplotlib" not in path.read_bytes()
    assert dict(matplotlib.rcParams) == before, "global settings must stay as they were"
    assert sorted(p.name for p in (tmp_path / "one").iterdir()) == [f"{name}.pdf", f"{name}.png"]
    assert cut[0] <= 0.02, "inches of something that lies beyond the edge"


@pytest.mark.thorough
@pytest.mark.parametrize("name", chapters.names("figures"))
def test_figure_of_a_nearly_empty_run(name, small, tmp_path, monkeypatch):
    monkeypatch.delitem(style.METADATA, "png")
    rendering.render_figure(name, small, tmp_path)


@pytest.mark.parametrize(
    "name", ["error_vs_dt", "error_vs_time", "spiral_variants_vs_dt", "spiral_variants_vs_time", "originators_vs_published"]
)
def test_plugins_are_drawn(name, whole):
    with style.settings():
        drawn = rendering.figure(name, whole)
    labels = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert drawing.printable("my_own & co") in labels
    assert len(labels) == len(set(labels))


@pytest.mark.parametrize(("length", "columns"), [(6, 4), (28, 2), (80, 1)])
def test_a_legend_has_as_many_columns_as_fit(length, columns):
    labels = {f"key{i}": "x" * length for i in range(7)}
    with style.settings():
        figure = drawing.new_figure((style.TEXT_WIDTH, 2.0))
        drawing.legend_below_styles(figure, labels, {key: {"color": "k"} for key in labels}, 4)
    (legend,) = figure.legends
    assert legend._ncols == columns and len(legend.get_texts()) == 7
    assert legend.get_window_extent().width <= figure.bbox.width or columns == 1


def test_unknown_names_are_errors(whole, tmp_path):
    with pytest.raises(KeyError, match="error_vs_dt"):
        rendering.render_figure("nonsense", whole, tmp_path)
    with pytest.raises(KeyError, match="orders"):
        rendering.render_table("nonsense", whole, tmp_path)


def test_published_sets_name_methods():
    assert set(PUBLISHED_SET + delvalle2024.SPIRAL_VARIANTS + delvalle2024.ORIGINATORS) <= set(polhode.methods)


# Tables and numbers


def test_escape_covers_all_special_characters():
    assert latex.escape(r"a_b & 5% $x$ #1 {y} ~ ^ \z") == (
        r"a\_b \& 5\% \$x\$ \#1 \{y\} \textasciitilde{} \textasciicircum{} \textbackslash{}z"
    )
    assert latex.escape("ω ≈ 2°\n\U0001f600") == r"\ensuremath{\omega} \ensuremath{\approx} 2\ensuremath{^\circ} ?"


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((2.011, 1.942, 2.013), r"\num{2.01}~[\num{1.94}, \num{2.01}]"),
        ((2.011, 2.0101, 2.0132), r"\num{2.01}"),
        ((2.011, 2.0101, 2.0132, 3), r"\num{2.011}~[\num{2.010}, \num{2.013}]"),
        ((2.0, np.nan, np.nan), r"\num{2.00}"),
        ((np.nan, np.nan, np.nan), "n/a"),
    ],
)
def test_range_in_brackets_where_it_shows(numbers, text):
    assert latex.in_range(*numbers) == text


@pytest.mark.thorough
@pytest.mark.parametrize("name", chapters.names("tables"))
def test_table_is_deterministic_and_balanced(name, whole, small, tmp_path):
    for run, folder in ((whole, "whole"), (small, "small")):
        whole_table(name, run, tmp_path / folder)


def test_csv_has_full_precision(whole, tmp_path):
    rendering.render_table("orders", whole, tmp_path)
    data = pd.read_csv(tmp_path / "orders.csv").set_index("method")
    assert set(data.index) == {*polhode.methods, "my_own"}
    assert tuple(data.loc["euler", ["q_order_low", "q_order_high"]]) == (1.99, 2.02)


def test_table_2_compares_in_one_measure(whole):
    data, text = rendering.table("target_dt", whole)
    row = data[(data.method == "pfc4_delvalle2024") & (data.target_error == 1e-2)].iloc[0]
    assert row["dt"] == 3e-3 and row["dt_as_published"] == 1.5e-3
    assert row.ratio_as_published == 1.5e-3 / row.dt_published
    block = text[text.index("PFC4 (as published)") :].partition("ratio (runs)")[2].splitlines()[0]
    assert latex.decimal(1.5e-3 / row.dt_published, 4) in block
    assert text.count("ours (matrix)") == 1 and text.count("ratio (runs)") == text.count("ratio (interp.)") == 8
    numbers = all_numbers(whole)
    assert numbers["studyMatrixGainLow"] == numbers["studyMatrixGainHigh"] == r"\num{2.00}"
    assert "studyTableMissed" not in numbers and "studyApartLow" not in numbers


def test_table_2_is_read_off_in_the_published_measure(tmp_path):
    ladder = np.geomspace(1e-7, 1e-1, 20)
    axes, means = (
        {"integrator": ["pfc4_delvalle2024"], "dt": ladder},
        {"mean_error": ladder, "mean_error_as_published": 2 * ladder},
    )
    data = invented("single_body.nc/PROBLEM", axes, **means, end_time=1.0, dt_set="published")
    write_groups({"/": xr.Dataset(), f"/{PROBLEM}": data}, tmp_path / "single_body.nc")
    run = Inputs(tmp_path / "single_body.nc", published=PUBLISHED)
    assert step_off_the_curve(run, "pfc4_delvalle2024", 1e-3) == pytest.approx(5e-4)
    ratio, _ = measures_spiral2024.worst_interpolated_ratio(run, "pfc4_delvalle2024", [1e-3])
    assert ratio == pytest.approx(5e-4 / 1.663e-5)


def test_what_is_ours_is_marked_and_said(whole):
    data, text = rendering.table("methods", whole)
    ours, said = rendering.table("reconstructions", whole)
    assert set(ours.method) == set(data.method[data.reconstruction != ""])
    marked = [line.partition(r"\textsuperscript{$\dagger$}")[0] for line in text.splitlines() if r"\dagger" in line]
    assert marked == [latex.escape(label) for label in ours.label]
    assert latex.escape(polhode.methods["johnson2008"].reconstruction) in said


def test_single_choices_are_set_against_the_published_method(whole):
    data, text = rendering.table("published_variants", whole)
    changed = data[data.variant != data.base]
    assert (changed.q_gain == 2).all() and (changed.omega_gain == 3).all() and text.count("as published &") == 3
    numbers = all_numbers(whole)
    assert numbers["studyVariantPercentQHalfStepAsItIs"] == r"\num{50.0}" and numbers["studyVariantSteps"] == r"\num{8192}"
    gain, evidence = measures_spiral2024.published_variant_gain(whole, "linear", "omega")
    assert gain == pytest.approx(3) and evidence.endswith("at dt = 0.000122 s")
    assert measures_spiral2024.published_variant_order(whole, "both", "q")[0] == 2
    for key in ("nonsense", "spiral_leapfrog"):
        with pytest.raises(NotInRun):
            measures_spiral2024.published_variant_gain(whole, key, "q")


def test_macro_names_are_letters_and_distinct():
    names = [formats.macro_name(key) for key in polhode.methods]
    assert len(set(names)) == len(names)
    assert all(name.isalpha() and name.isascii() for name in names)
    assert formats.macro_name("buss2000_delvalle2024") == "BussPublished"
    assert formats.macro_name("rk4") == "RkFour"


def test_numbers_have_their_digits_and_no_more():
    assert latex.number(2987, 2) == r"\num{3000}" and latex.number(948.3, 2) == r"\num{950}"
    assert latex.number(2987, 4) == r"\num{2987}" and latex.number(0.01234, 2) == r"\num{0.012}"
    assert latex.number(0, 2) == r"\num{0.0}" and latex.number(12.3, 3) == r"\num{12.3}"


def test_hues_greys_and_font_sizes_stand_in_style():
    """The library, which the study imports, has its own greys."""
    hue_or_size, grey = r"""#[0-9A-Fa-f]{6}\b|(?:font|label)size=[\d"']""", r'colors?(?:=|": )"[\d.]+"'
    for path in sorted((HOME / "src").rglob("*.py")):
        if path != Path(style.__file__):
            is_study = "polhode_study" in path.parts
            literals = re.findall(f"{hue_or_size}|{grey}" if is_study else hue_or_size, path.read_text())
            assert not literals, path


def test_a_line_of_a_cell_may_begin_with_a_bracket():
    assert latex.stacked("1", "[2, 3]") == r"\begin{tabular}[t]{@{}c@{}}1\\{}[2, 3]\end{tabular}"
    assert latex.broken("rods") == "rods" and "pieces,\\\\{}no spin" in latex.broken("chess pieces, no spin")


@pytest.mark.parametrize("other", ["euler_1768", "euler1999", "_euler"])
def test_two_keys_with_the_same_macro_are_refused(other):
    """Their numbers would replace each other's in the report without a word."""
    if formats.macro_name(other) != "Euler":
        check_distinct(["euler", other])
        return
    with pytest.raises(ValueError, match=f"'euler' and '{other}' would share .*Euler"):
        check_distinct(["euler", "rk4", other])


def test_plugins_with_another_method_s_macro_are_refused(tmp_path):
    with polhode.methods.restored():
        source = (Path(polhode.__file__).parent / "methods" / "euler.py").read_text().replace('key="euler"', 'key="euler_2026"')
        (tmp_path / "mine.py").write_text(source)
        raw = studies.default(plugins=[str(tmp_path / "mine.py")])
        with pytest.raises(ConfigurationError, match="plugins: the methods 'euler' and 'euler_2026' would share"):
            configuration.resolve(raw, HOME, ["config.yaml"], checked=True)


def test_two_groups_of_a_chapter_do_not_overwrite_each_other(whole, monkeypatch):
    module = rendering.module("spiral2024", "numbers")
    first, second = chapters.all_chapters()["spiral2024"].numbers[:2]
    monkeypatch.setattr(module, first, lambda inputs: {"studyTwice": "1", "studySame": "2"})
    monkeypatch.setattr(module, second, lambda inputs: {"studyTwice": "3", "studySame": "2"})
    with pytest.raises(ValueError, match=f"{second} gives studyTwice another value"):
        rendering.numbers("spiral2024", whole)


def test_no_number_of_the_text_is_nan_or_infinite(whole, small):
    for result in (all_numbers(whole), all_numbers(small)):
        assert not [name for name, text in result.items() if "nan" in text.lower() or "inf" in text.lower()]
    assert "studyOrderQSpiralLeapfrog" not in all_numbers(small)


def test_macros_are_sorted_and_missing_ones_not_available(whole, tmp_path):
    text = tmp_path / "text.tex"
    text.write_text(r"\studyMadeByNobody{} and \studyMethodCount{}")
    lines = number_lines(whole, tmp_path, [*TEX, text])
    assert all(re.fullmatch(r"\\newcommand\{\\(?:study|cost)[A-Za-z]+\}\{.*\}", line) for line in lines)
    names = [re.findall(r"\\((?:study|cost)\w+)", line)[0] for line in lines]
    assert len(set(names)) == len(names) and set(names) <= macros.used([*TEX, text]), "each once, and only what is used"
    assert r"\newcommand{\studyMadeByNobody}{n/a}" in lines


def test_commit_and_date():
    origin = run_numbers.origin(Inputs("", checkout={"commit": "0123456789abcdef", "commit_time": 1, "dirty": True}))
    assert origin["studydate"] == "1 January 1970"
    assert "0123456789ab" in origin["studycommit"] and origin["studydirty"]


def test_the_first_page_says_what_a_smaller_run_leaves_out(small, monkeypatch):
    """The number of problems in the full study, which no file of a run has, is that of the default configuration."""
    study = studies.default()["problems"]
    assert len([key for key, section in study.items() if section is not None]) == run_numbers.PROBLEMS
    assert f" 1 of its {run_numbers.PROBLEMS} problems" in run_numbers.reduction(small)["studyReduced"]
    monkeypatch.setattr(run_numbers, "PROBLEMS", len(small.problems))
    assert "problems" not in run_numbers.reduction(small)["studyReduced"]


TEXTS = sorted([*(PAPER / "article").glob("*.tex"), *(PAPER / "supplement").glob("*.tex")])
for KEY in ("spiral2024", "ledger", "seelen2016", "long_runs", "calzavarini2010", "no_squish"):
    TEXTS.append(HOME / chapters.FOLDER / KEY / "text.tex")


def test_a_number_is_one_line_of_text(monkeypatch, tmp_path):
    """An array in its place would be printed as Python prints it."""
    monkeypatch.setattr(rendering, "numbers", lambda chapter, run: {"studyA": "1", "studyB": str(xr.DataArray(np.zeros(2)))})
    with pytest.raises(ValueError, match="chapter toy: a number is one line of text, and studyB is not"):
        rendering.render_numbers("toy", Inputs(""), tmp_path / "toy.tex", {"studyA"})


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_measured_number_stands_in_the_text(path):
    text = re.sub(r"\\val(\s*\{[^{}]*\}){4}", "", path.read_text()).replace(r"\num{4.85e-6}", "")  # a step of the publication
    settings = r"includegraphics\[.*?\]|(?:setlength|renewcommand)\{.*?\}\{.*?\}|sisetup\{.*?\}|cite\[.*?\]"
    text = re.sub(rf"\\(num\{{1e-6\}}|{settings})|Sec\.~3\.12", "", text)
    assert not re.findall(r"(?<![A-Z.\d])\d+\.\d+|\d[eE]-?\d|\d\\%|10\^", text)


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")
def test_numbers_look_the_same_with_and_without_siunitx(tmp_path):
    numbers = ["0", "7", "-3", "42", "9999", "10000", "-12345", "0.5", "-0.25", "1.2345", "12.34567", "1234.5678"]
    numbers += ["1e-5", "1.0e-5", "2.5e-03", "-3e+04", "5e0"]
    words = " ".join(rf"\num{{{n}}} $a=\num{{{n}}}\,b$ \textbf{{\num{{{n}}}}} \emph{{x\num{{{n}}}}}," for n in numbers)
    table = r"\\ ".join(rf"\num{{{n}}} & {{\footnotesize\num{{{n}}}}}" for n in numbers)
    made = []
    for name, siunitx in (("ours", ""), ("siunitx", r"\let\num\anynumber")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "numbers.tex").write_text("")
        (folder / "preamble.tex").write_text((PAPER / "preamble.tex").read_text())
        lines = [r"\input{preamble}", siunitx, r"\begin{document}", words]
        lines += [r"\begin{tabular}{lr}", table, r"\end{tabular}", r"\end{document}"]
        (folder / "page.tex").write_text("\n".join(lines))
        typeset._run(["pdflatex", *typeset.OPTIONS, "page.tex"], folder, 0, "page")
        made.append((folder / "page.pdf").read_bytes())
    assert made[0] == made[1]


# The text


def bibliography() -> set[str]:
    return set(re.findall(r"^@\w+\{([^,]+),", (PAPER / "refs.bib").read_text(), re.MULTILINE))


def test_every_citation_has_its_entry():
    cited = {
        key.strip()
        for path in TEX
        for keys in re.findall(r"\\cite(?:\[[^]]*\])?\{([^}]*)\}", path.read_text())
        for key in keys.split(",")
    }
    for key in polhode.methods:
        cited |= {k.strip() for k in polhode.methods[key].citation.split(",")}
    assert cited and cited <= bibliography()


def test_figures_and_tables_are_shown_and_references_have_labels():
    text = "".join(path.read_text() for path in TEX)
    # In one of the two documents, and in one only.
    assert sorted(re.findall(r"\\includegraphics\[[^]]*\]\{(\w+)\}", text)) == sorted(chapters.names("figures"))
    assert sorted(re.findall(r"\\input\{\\resultsdir/tables/(\w+)\}", text)) == sorted(chapters.names("tables"))
    typeset_text = "".join(path.read_text() for path in TYPESET)
    every_label = [*re.findall(r"\\label\{([^}]*)\}", typeset_text), *(f"tab:{name}" for name in LONG_TABLES)]
    labels = set(every_label)
    assert len(labels) == len(every_label), "each label once in both documents together"
    assert set(re.findall(r"\\(?:eq)?ref\{([^}]*)\}", typeset_text)) <= labels
    errata = [entry for entry in load_errata(ERRATA) if entry["id"] in ledger_tables.MATTERING]
    assert len(errata) == len(ledger_tables.MATTERING)
    assert not any("ref{" in entry["printed"] + entry["reading"] for entry in errata)
    assert {f"\\{name}caption" for name in LONG_TABLES} <= set(re.findall(r"\\newcommand\{(\\\w+)\}", typeset_text))


def test_every_section_of_the_supplement_names_its_reader():
    for path in TYPESET:
        for section in re.findall(r"\\section\{.*\n(?:%.*\n)*", path.read_text()) if path.name == "text.tex" else ():
            after = path.read_text().split(section)[1]
            assert re.search(r"This section is for ", after[:5000].partition(r"\subsection")[0]), (path.parent.name, section)


def test_texts_are_all_included(tmp_path):
    typeset.copy_sources(HOME, tmp_path)
    kinds = {key: SimpleNamespace(numbers=()) for key in chapters.all_chapters()}
    made = typeset.generated(tmp_path, HOME, kinds)
    texts = [path for path in tmp_path.rglob("*.tex") if path.parent != tmp_path]
    documents = [tmp_path / f"{name}.tex" for name in typeset.DOCUMENTS]
    every = "".join([path.read_text() for path in (*documents, *texts)] + [made["chapters.tex"], made["appendix.tex"]])
    included = re.findall(r"\\input\{((?:article|supplement|chapters)/[\w/]+)\}", every)
    assert sorted(included) == sorted(str(path.relative_to(tmp_path).with_suffix("")) for path in texts)


def test_labels_are_handed_to_the_other_document(tmp_path):
    lines = (
        r"\relax",
        r"\newlabel{sec:a}{{S1}{3}{A {bold} title with \(x_{1}\)}{section.1}{}}",
        r"\newlabel{eq:b-c}{{S2.1}{4}{}{equation.2.1}{}}",
        r"\newlabel{tocindent-1}{0pt}",
        r"\newlabel{section*.1@cref}{{[x][1][]1}{1}}",
    )
    (tmp_path / "supplement.aux").write_text("\n".join(lines) + "\n")
    assert typeset.labels(tmp_path / "supplement.aux").splitlines() == [
        r"\newlabel{sec:a}{{S1}{}{}{section.1}{supplement.pdf}}",
        r"\newlabel{eq:b-c}{{S2.1}{}{}{equation.2.1}{supplement.pdf}}",
    ]


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("latexmk") is None, reason="no LaTeX here")
def test_two_documents_refer_to_each_other(tmp_path):
    home, results = tmp_path / "home", tmp_path / "results"
    (home / "paper").mkdir(parents=True)
    results.mkdir()
    (home / "reproduce").write_text("#!/bin/sh\n")
    (home / "reproduce").chmod(0o755)
    head = r"\documentclass{article}\pdftrailerid{}\usepackage{hyperref}\begin{document}"
    for document, other, number in (("report", "supplement", "7"), ("supplement", "report", "9")):
        text = (
            rf"\setcounter{{section}}{{{int(number) - 1}}}\section{{One}}\label{{sec:{document}}} See Sec.~\ref{{sec:{other}}}."
        )
        source = head.replace(r"\begin", rf"\InputIfFileExists{{{other}.labels}}{{}}{{}}\begin") + text + r"\end{document}"
        (home / "paper" / f"{document}.tex").write_text(source)
    outputs = [results / f"{name}.pdf" for name in typeset.DOCUMENTS]
    first: list[bytes] = []
    for _ in range(2):
        typeset.report(home, results, outputs, 0, {})
        first = first or [path.read_bytes() for path in outputs]
    assert [path.read_bytes() for path in outputs] == first, "equal input, equal bytes"
    if shutil.which("pdftotext"):
        for path, number in zip(outputs, ("9", "7"), strict=True):
            said = subprocess.run(["pdftotext", path, "-"], capture_output=True, text=True, check=True).stdout
            assert f"Sec. {number}" in said and "??" not in said


# Errata


def test_errata_are_complete():
    entries = load_errata(ERRATA)
    assert len(entries) >= 15
    assert {entry["check"] for entry in entries} == {"", "pdf"}
    for entry in entries:
        for field in ("printed", "problem", "reading", "shown"):
            assert entry[field].count("$") % 2 == 0, (entry["id"], field)
            assert entry[field].count("{") == entry[field].count("}"), (entry["id"], field)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "joke"}, "kind 'joke'"),
        ({"extra": "x"}, "fields must be"),
        ({"problem": " "}, "not empty"),
        ({"check": "some day"}, "check 'some day' must be pdf"),
    ],
)
def test_bad_erratum_is_named(tmp_path, change, message):
    entry = dict.fromkeys(inputs.ERRATA_FIELDS, "x") | {"kind": "misprint"} | change
    path = tmp_path / "errata.yaml"
    path.write_text("errata:\n- " + "\n  ".join(f"{k}: '{v}'" for k, v in entry.items()))
    with pytest.raises(ValueError, match=message):
        load_errata(path)


def test_errata_and_readings_share_no_entry(whole):
    (errata, text), (readings, _) = (rendering.table(name, whole) for name in ("errata", "readings"))
    assert len(errata) + len(readings) == len(load_errata(ERRATA)) and not set(errata["id"]) & set(readings["id"])
    assert set(errata["kind"]) == {"misprint", "discrepancy"} and not {"misprint", "discrepancy"} & set(readings["kind"])
    typeset_rows = errata[errata["id"].isin(ledger_tables.MATTERING)]
    headings = re.findall(r"\\textbf\{.*~\\cite\{(\w+)\}\}", text)
    assert headings == [source for source in SOURCES if source in set(typeset_rows["source"])], "a heading for each source"
    assert text.count("check against the PDF") == (typeset_rows["check"] == "pdf").sum() > 0
    made = all_numbers(whole)
    assert made["studyErrataCount"] == str(len(errata)) and made["studyReadingCount"] == str(len(readings))
    assert made["studyErrataToCheck"] == str((errata["check"] == "pdf").sum())


def test_erratum_eq1_order_of_the_product():
    h = 1e-5
    (before, middle, after), (_, omega, _) = CYLINDER.exact([0.4 - h, 0.4, 0.4 + h], 25)
    rate = (after - before) / (2 * h)
    pure = np.array([0.0, *omega])
    assert np.allclose(rate, 0.5 * product(middle, pure), atol=1e-6)
    assert not np.allclose(rate, 0.5 * product(pure, middle), atol=1e-1)


def test_erratum_rounded_inertia_moves_the_body():
    q, _ = CYLINDER.exact([1.0], 25)
    rounded = replace(CYLINDER, body=Body((0.0114, 0.0228, 0.0228)))
    other, _ = rounded.exact([1.0], 25)
    assert metrics.orientation_l1(other, q)[0] > 1e-2


def test_erratum_c18_middle_expression():
    ix, iy, iz = CYLINDER.body.inertia
    mx, h = CYLINDER.parameters["Mx"], 1e-5
    _, (before, middle, after) = CYLINDER.exact([0.4 - h, 0.4, 0.4 + h], 25)
    slope = (after[1] - before[1]) / (after[0] - before[0])
    right = iy / (iz - ix) / middle[0] * mx / ix * slope
    printed = iy / (iz - ix) / middle[0] * mx / iy * slope
    assert np.isclose(right, middle[2], rtol=1e-6)
    assert not np.isclose(printed, middle[2], rtol=0.1)


def omelyan_rotation(dt, printed):
    """The body under its exact angular velocity at the half steps, turned by Eq. B.10."""
    steps = round(0.5 / dt)
    _, omega = CYLINDER.exact([(n + 0.5) * dt for n in range(steps)], 20)
    q = np.array([1.0, 0, 0, 0])
    for w in omega:
        rate, a = 0.5 * product(q, np.array([0.0, *w])), dt * dt * (w @ w) / 16
        q = (product(np.array([1 - a, 0, 0, 0]) + dt * rate, q) if printed else (1 - a) * q + dt * rate) / (1 + a)
    return metrics.orientation_l1(q, CYLINDER.exact([0.5], 20)[0][0])


def test_erratum_b10_has_one_q_too_many():
    assert omelyan_rotation(1e-2, False) / omelyan_rotation(5e-3, False) == pytest.approx(4, rel=0.1)
    assert min(omelyan_rotation(dt, True) for dt in (1e-2, 5e-3)) > 0.1


mean_errors = {}


def mean_error(method, dt):
    if (method.key, dt) not in mean_errors:
        mean_errors[method.key, dt] = one_mean_error(method, dt)
    return mean_errors[method.key, dt]


def one_mean_error(method, dt):
    run = polhode.simulate(CYLINDER, method, dt, samples=1, truncate=True)
    end = float(run.time[-1])
    q, omega = CYLINDER.exact([end, end + method.stored_offset * dt], 20)
    return float(metrics.mean_error(run.q[-1], q[0], run.stored_omega[-1], omega[1], method.published_error))


def table2_step(method, printed, target):
    """Our step for a target error, interpolated between the two published step sizes around the printed one."""
    ladder = 10 ** np.linspace(-7, -1, 20)
    upper = int(np.searchsorted(ladder, printed))
    around = [float(dt) for dt in ladder[upper - 1 : upper + 1]]
    return largest_step(around, [mean_error(method, dt) for dt in around], target)[0]


TABLE2 = [row for row in pd.read_csv(PUBLISHED / "delvalle2024_table2.csv", comment="#").itertuples() if row.dt > 2e-5]


@pytest.mark.thorough
def test_erratum_b8_coefficient():
    def after_torque(state, torque, body, dt):
        q, momentum = state[:4], state[4:7]
        omega = buss.omega_of_momentum(state, body)
        mean = buss.mean_rotation(omega, buss.euler_equations(omega, torque, body), dt, 1 / 12)
        return buss.rotate(q, mean, dt) + buss.axpy(dt, buss.to_lab(q, torque), momentum)

    twelfth = replace(buss.METHOD, key="buss_twelfth", after_torque=buss.kernel(after_torque))
    rows = [row for row in TABLE2 if row.method == "buss2000_delvalle2024" and row.target_error >= 1e-3]
    misses = [abs(table2_step(twelfth, row.dt, row.target_error) / row.dt - 1) for row in rows]
    assert max(misses) > 10 * delvalle2024.PRINTED_ROUNDING


def test_the_sources_are_counted_one_by_one(tmp_path):
    words = ["reproduced", "holds", "holds", "not reproduced", "does not hold", "undecided", "ours: holds", "by construction"]
    kinds = ["number", "statement", "statement", "number", "statement", "number", "extension", "construction"]
    rows = pd.DataFrame({"source": "seelen2016", "kind": kinds, "verdict": words})
    rows.loc[1, "source"] = "tuckerman2010"
    rows["threshold"] = ["source", "ours", "source", "source", "ours", "ours", "ours", "ours"]
    rows["rule"] = ["exception", "exact", "exact", "printed", "exact", "exact", "exact", "exact"]
    rows.to_csv(tmp_path / "claims.csv", index=False)
    data = HOME / "data"
    made = Inputs("", claims=tmp_path / "claims.csv", errata=ERRATA, sources=data / "sources.yaml")
    counts, text = rendering.table("ledger_by_source", made)
    counts = counts.set_index("source")
    whole = int((counts["items"] > 0).sum())
    assert list(counts.index) == list(SOURCES) and text.count(r"\cite{") == whole == 5 and "together" in text
    columns = ["statements", "borne_out", "not_borne_out", "undecided", "not_measured"]
    assert list(counts.loc["seelen2016", columns]) == [5, 2, 2, 1, 0]
    assert list(counts.loc["tuckerman2010", columns]) == [1, 1, 0, 0, 0] and counts["statements"].sum() == 6
    ours = [f"{name}_by_ours" for name in columns]
    assert list(counts.loc["seelen2016", ours]) == [3, 1, 1, 1, 0], "a tolerance set by hand is ours, too"
    assert list(counts.loc["tuckerman2010", ours]) == [1, 1, 0, 0, 0]
    assert " & ".join(["", "5 (3)", "2 (1)", "2 (1)", "1 (1)", ""]) in text and "6 (4)" in text
    assert counts["errata"].sum() + counts["choices"].sum() == len(load_errata(ERRATA))
    assert 0 < counts["items_in_full"].sum() < counts["items"].sum()
