"""The documents of a run that lacks data: no text of the article that speaks of them, all floats that were made."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polhode_study import chapters
from polhode_study.report import macros, shortened, typeset

HOME = Path(__file__).parents[1]
ARTICLE = sorted((HOME / "paper" / "article").glob("*.tex"))
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in ARTICLE if path.stem != "answer"}
USED = sorted(macros.used(ARTICLE))
FLOATS = [match[0] for text in TEXTS.values() for match in shortened.FLOAT.finditer(text)]
INCLUDED = sorted(set().union(*map(shortened.included, FLOATS)))


@settings(max_examples=12)
@given(st.sets(st.sampled_from(USED)), st.sets(st.sampled_from(INCLUDED)), st.booleans())
def test_whatever_a_run_lacks_what_remains_is_whole(lost, missing, everywhere):
    for name, text in TEXTS.items():
        made = shortened.without_text(text, lost, missing, everywhere)
        assert not lost & set(macros.MACRO.findall(made)) and not missing & shortened.included(made), name
        assert made.count("{") == made.count("}") and made.count("$") % 2 == 0, name
        # All floats that were made are there, and nothing is new but the names of some.
        floats = [match[0] for match in shortened.FLOAT.finditer(text)]
        assert shortened.included(made) == set().union(*map(shortened.included, floats)) - missing - {
            name for section in floats if shortened.included(section) & missing for name in shortened.included(section)
        }
        if not (everywhere or lost & set(macros.MACRO.findall(text)) or missing & shortened.included(text)):
            assert made == text


def test_sections_without_data_keep_their_floats_or_go():
    figure = "\\begin{figure}\n\\includegraphics{a_b}\n\\caption{Of \\studyAa{} {x}.}\n\\label{fig:a}\n\\end{figure}\n"
    first, second = f"\\section{{One}}\\label{{sec:one}}\n{figure}Text \\studyAa.\n", "\\section{Two}\nText \\studyBb.\n"
    three = "\\section{Three}\nText.\n"
    text = first + second + three
    of_one = "\\section{One}\\label{sec:one}\n" + figure
    assert shortened.without_text(text, {"studyBb"}, set()) == first + three
    named = of_one.replace("Of \\studyAa{} {x}.", "\\code{a\\_b}")
    assert shortened.without_text(text, {"studyAa", "studyBb"}, set()) == named + three
    assert shortened.without_text(text, set(), {"a_b"}) == second + three
    assert shortened.without_text(text, set(), set(), everywhere=True) == of_one


def test_paragraphs_without_numbers_go_and_floats_stay():
    figure = "\\begin{figure}\n\\includegraphics{a_b}\n\\caption{Of \\studyAa.}\n\\label{fig:a}\n\\end{figure}\n"
    head, first, second = "\\section{One}\\label{sec:one}\n", "Text \\studyAa.", "Text \\studyBb."
    text = f"{head}{figure}{first}\n\n{second}"
    assert shortened.without_paragraphs(text, set()) == text
    assert shortened.without_paragraphs(text, {"studyBb"}) == f"{head}{figure}{first}\n\n"
    named = figure.replace("Of \\studyAa.", "\\code{a\\_b}")
    assert shortened.without_paragraphs(text, {"studyAa"}) == f"{head}{named}\n\n{second}"


def test_numbers_that_a_run_could_not_compute_count_as_lacking(tmp_path):
    (tmp_path / "a.tex").write_text("\\newcommand{\\studyAa}{n/a}\n\\newcommand{\\studyBb}{\\num{2}; n/a: none}\n")
    assert macros.not_available([tmp_path / "a.tex"]) == {"studyAa"}


@pytest.fixture
def results(tmp_path):
    """The files of a finished run that the documents read, as far as they tell that there are data."""
    for key, chapter in chapters.all_chapters().items():
        if chapter.numbers:
            path = tmp_path / "numbers" / f"{key}.tex"
            path.parent.mkdir(exist_ok=True)
            path.write_text("")
    for kind, suffix in (("figures", "pdf"), ("tables", "tex")):
        (tmp_path / kind).mkdir()
        for name in chapters.names(kind):
            (tmp_path / kind / f"{name}.{suffix}").write_text("made")
    names = [name for name in macros.used(chapters.texts(HOME)) if name != "studyReduced"]
    of_chapter = {
        name: key
        for key, chapter in chapters.all_chapters().items()
        if chapter.numbers
        for name in macros.used((HOME / chapters.FOLDER / key).glob("text.tex"))
    }
    for name in sorted(names):
        with open(tmp_path / "numbers" / f"{of_chapter.get(name, 'methods')}.tex", "a") as file:
            file.write(rf"\newcommand{{\{name}}}{{\num{{4.2}}}}" + "\n")
    with open(tmp_path / "numbers/reproducibility.tex", "a") as file:
        file.write("\\newcommand{\\studyReduced}{}\n")
    return tmp_path


def generated(results):
    typeset.copy_sources(HOME, results / "build")
    for path in (results / "build").rglob("*.tex"):
        path.write_text(re.sub(r"\\val(\s*\{[^{}]*\}){4}", r"\\num{4.2}", path.read_text()))
    return typeset.generated(results / "build", results, chapters.all_chapters())


def test_a_whole_run_is_typeset_from_the_sources(results):
    made = generated(results)
    assert set(made) == {"numbers.tex", "released.tex", "chapters.tex", "appendix.tex"}
    assert "n/a" not in made["numbers.tex"] and "left out" not in made["numbers.tex"]


def test_a_reduced_article_has_figures_and_tables_alone(results):
    path = results / "numbers/reproducibility.tex"
    path.write_text(path.read_text().replace("{\\studyReduced}{}", "{\\studyReduced}{ \\emph{Reduced.}}"))
    made = generated(results)
    assert set(TEXTS) - {Path(name).name for name in made} == {
        name for name, text in TEXTS.items() if text == shortened.without_text(text, set(), set(), True)
    }
    left = {Path(name).name: text for name, text in made.items() if name.startswith("article/")}
    assert left["abstract.tex"] == "" and left["discussion.tex"] == "" and "fig:order-and-drift" in left["theory.tex"]
    assert re.search(r"addto@macro\\studyReduced\{.*left out", made["numbers.tex"])
    # What remains refers to nothing that is not there.
    text = "".join(left.get(path.name, path.read_text()) for path in ARTICLE)
    known = shortened.labels(text) | set(re.findall(r"r@([^}]*)\}", made["numbers.tex"]))
    known |= set().union(
        *(shortened.labels(path.read_text()) for path in chapters.texts(HOME) if path.parent.name != "article")
    )
    made_by_chapters = ("tab:",)  # long tables set their labels themselves
    assert not [
        name for name in re.findall(r"\\ref\{([^}]*)\}", text) if name not in known and not name.startswith(made_by_chapters)
    ]


def test_a_supplement_section_without_content_goes(results):
    (results / "numbers/grains.tex").write_text("")
    chapter = chapters.all_chapters()["grains"]
    for kind, suffix, names in (("figures", "pdf", chapter.figures), ("tables", "tex", chapter.tables)):
        for name in names:
            (results / kind / f"{name}.{suffix}").write_text(macros.NOT_IN_RUN)
    made = generated(results)
    assert made["chapters/grains/text.tex"] == "" and r"r@sec:grains}" in made["numbers.tex"]


def test_the_note_does_not_depend_on_what_the_run_lacks():
    """It once was made with numbers of SPIRAL's test, and lost with them."""
    from polhode_study.chapters import rendering
    from polhode_study.inputs import Inputs

    numbers = rendering.numbers("reproducibility", Inputs(""))
    assert "reduced run" in numbers["studyReduced"] and "studyMethodCount" not in numbers
