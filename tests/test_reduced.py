"""The article of a run that lacks data: it says so first, and no sentence speaks of what was not run."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polhode.study import themes
from polhode.study.report import macros, reduced, typeset

PAPER = Path(__file__).parents[1] / "paper"
ARTICLE = sorted((PAPER / "article").glob("*.tex"))
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in ARTICLE}
USED = sorted(macros.used(ARTICLE) - {"studyReduced"})
INCLUDED = sorted({one or other for text in TEXTS.values() for one, other in reduced._INCLUDED.findall(text)})
#: What a smaller study lacks -> its macros, and its figures and tables: the ten configurations that are tried.
LACKS = {
    "target errors of SPIRAL's test (spiral_cylinder: targets: null)": (r"study(Gain|Target|Ratio)", ["target_dt"]),
    "the problem of SPIRAL (spiral_cylinder: null)": (r"study(Gain|Target|MethodCount|StepCount|Long)", ["error_vs_dt"]),
    "random bodies (ensembles: null)": (r"study(Law|Draw|Answer)|costLaw", ["answer", "slowdown", "decision", "law_spread"]),
    "many bodies (many_body: null)": (r"study(Collision|Contact|States)", ["contact_law", "many_body_energy"]),
    "distributed results": (r"study(FullChess|Few|States)", ["many_body_energy"]),
    "times (cost: null)": (r"cost", ["price_of_torque"]),
    "checks of single methods (checks: [])": (r"study(Part|Kick|Place|Symplectic|Iterations)", ["parts", "parts_shares"]),
    "friction (damped_top: null)": (r"study(Friction|Keep|FirstCountVelocity)", ["new_methods"]),
    "long runs": (r"study(Bounded|Run|Norm|Iterations|Energy)", ["energy_over_time"]),
    "claims": (r"studyClaim", ["claims"]),
}


def lacking(pattern: str) -> set[str]:
    return {name for name in USED if re.match(pattern, name)}


def check(article: reduced.Reduced, lost: set[str], shown: set[str]) -> None:
    """Nothing without data, nothing broken, nothing new."""
    whole = "\n".join(article.texts.values())
    assert not lost.intersection(re.findall(r"\\(\w+)", whole))
    assert not shown.intersection(one or other for one, other in reduced._INCLUDED.findall(whole))
    assert not article.labels.intersection(reduced._LABEL.findall(whole)), "what went has no label"
    assert not article.labels.intersection(reduced._REFERENCE.findall(whole)), "nothing refers to what went"
    before = " ".join("\n".join(re.sub(r"(?m)^%.*\n", "", text) for text in TEXTS.values()).split())
    for name, text in article.texts.items():
        assert text.count("{") == text.count("}") and text.count("$") % 2 == 0, name
        begun, ended = (re.findall(rf"\\{what}\{{(\w+\*?)\}}", text) for what in ("begin", "end"))
        assert sorted(begun) == sorted(ended), name
        assert not re.search(r"\\begin\{itemize\}\s*\\end", text)
        for sentence in reduced.sentences_of(text):
            if not re.search(r"\\(begin|end|section)", sentence):
                for line in filter(None, re.split(r"\n\s*\n", sentence)):
                    assert " ".join(line.split()) in before, line


def test_the_article_of_a_whole_run_is_left_as_it_is():
    article = reduced.reduced(TEXTS, set(), set())
    assert not article.sentences and not article.labels
    for name, text in article.texts.items():
        assert text == re.sub(r"(?m)^%.*\n", "", TEXTS[name])


@pytest.mark.parametrize("what", LACKS)
def test_no_sentence_speaks_of_what_was_not_run(what):
    pattern, shown = LACKS[what]
    lost, gone = lacking(pattern), {name for name in shown if name in INCLUDED}
    assert lost or gone
    article = reduced.reduced(TEXTS, lost, gone)
    assert article.sentences
    check(article, lost, gone)


@pytest.mark.thorough
@settings(max_examples=12)
@given(st.sets(st.sampled_from(USED)), st.sets(st.sampled_from(INCLUDED)))
def test_whatever_a_run_lacks_what_remains_is_whole(lost, shown):
    check(reduced.reduced(TEXTS, lost, shown), lost, shown)


def test_without_any_number_nothing_is_claimed():
    """Of the abstract only what needs no run remains, and no section that had results."""
    article = reduced.reduced(TEXTS, set(USED), set(INCLUDED))
    assert "random bodies" not in article.texts["abstract.tex"] and "contact" not in article.texts["abstract.tex"]
    for name in ("contacts", "torque", "cost", "long"):
        assert not article.texts[f"{name}.tex"].strip(), name
    assert len(article.sections) >= 6


#: What the article says in words alone of something that was run: file, and the macro or label on which it rests.
GROUNDS = [(name, ground) for name, text in TEXTS.items() for ground in re.findall(r"\\restson\{(.*?\}?)\}", text)]


def test_what_is_said_in_words_goes_with_what_it_rests_on():
    """Each on one thing: it goes if this is lost, and stays if anything else is not there."""
    assert len(GROUNDS) >= 37, "what the article says in words must go where it was not run: \\restson"
    texts = reduced.reduced(TEXTS, {"studyNothing"}, set()).texts
    whole = {name: " ".join(text.split()) for name, text in texts.items()}
    for name, ground in GROUNDS:
        macro, label = ground.removeprefix("\\"), ground.partition("{")[2].removesuffix("}")
        assert macro in USED or any(rf"\label{{{label}}}" in text for text in TEXTS.values()), f"{ground} is nothing"
        (sentence, *_) = (s for s in reduced.sentences_of(TEXTS[name]) if rf"\restson{{{ground}}}" in s)
        words = " ".join(sentence.partition(r"\restson")[0].split())
        without = reduced.reduced({name: TEXTS[name]}, {macro}, set(), {label} if label else set()).texts[name]
        assert words not in " ".join(without.split()), f"{words} stays without {ground}"
        assert words in whole[name], words


def test_sentences_end_where_they_do():
    text = (
        "\\emph{A thesis.} One of $a. B$ has \\num{1.5}~s (Fig.~\\ref{fig:a}). By Mr.~X et al.~\\cite{x}: no end\n"
        "\\begin{equation}\n  x = 1. Y\n\\end{equation}\nwithin it. \\studyLast{} ends."
    )
    assert [" ".join(s.split()) for s in reduced.sentences_of(text)] == [
        r"\emph{A thesis.}",
        r"One of $a. B$ has \num{1.5}~s (Fig.~\ref{fig:a}).",
        r"By Mr.~X et al.~\cite{x}: no end \begin{equation} x = 1. Y \end{equation} within it.",
        r"\studyLast{} ends.",
    ]
    assert "".join(reduced.sentences_of(text)) == text


def test_what_introduces_or_continues_a_sentence_goes_with_it():
    text = "\\emph{It is so.} Plain words. A has \\studyAa{}. It grows. B has \\studyBb{}.\n\n\\emph{C.} \\studyAa{} only. D.\n"
    article = reduced.reduced({"a": text}, {"studyAa"}, set())
    assert article.texts["a"].split() == ["Plain", "words.", "B", "has", "\\studyBb{}."] and article.sentences == 6


@pytest.fixture
def results(tmp_path):
    """The files of a finished run that the article reads, as far as they tell that there are data."""
    for key, theme in themes.all_themes().items():
        if theme.numbers:
            path = tmp_path / "numbers" / f"{key}.tex"
            path.parent.mkdir(exist_ok=True)
            path.write_text("")
    names = [name for name in macros.used([*PAPER.rglob("*.tex")]) if name != "studyReduced"]
    lines = [rf"\newcommand{{\{name}}}{{\num{{4.2}}}}" for name in sorted(names)]
    (tmp_path / "numbers/torque_classes.tex").write_text("\n".join(lines) + "\n")
    (tmp_path / "numbers/reproducibility.tex").write_text("\\newcommand{\\studyReduced}{ \\emph{Reduced.}}\n")
    return tmp_path


def test_a_whole_run_is_typeset_from_the_sources(results):
    made = typeset.generated(PAPER, results, themes.all_themes())
    assert set(made) == {"numbers.tex", "released.tex", "themes.tex", "appendix.tex"} and "n/a" not in made["numbers.tex"]


@pytest.mark.parametrize("how", ["undefined", "n/a", "in part n/a"])
def test_a_run_without_collisions_says_so_before_anything_else(results, how):
    path = results / "numbers/torque_classes.tex"
    lines = []
    for line in path.read_text().splitlines():
        if re.search(r"\\study(Collision|Contact|FullChess|States)", line):
            if how == "undefined":
                continue
            line = line.replace(r"\num{4.2}", "n/a" if how == "n/a" else r"\num{4.2} to n/a")
        lines.append(line)
    path.write_text("\n".join(lines) + "\n")
    for name in ("many_body_energy", "contact_law", "chess_pairs"):
        (results / "figures").mkdir(exist_ok=True)
        (results / "figures" / f"{name}.pdf").write_text(macros.NOT_IN_RUN)
    made = typeset.generated(PAPER, results, themes.all_themes())
    whole = {path.name: made.get(f"article/{path.name}", TEXTS[path.name]) for path in ARTICLE}
    # What is said of friction rests on single impacts, and stays.
    for said in (
        "Most methods of second order err alike",
        "One law holds for all scenes",
        "The scale of a step is the contact",
    ):
        assert said in TEXTS["contacts.tex"] and said not in "".join(whole.values())
    assert not lacking(r"study(Collision|Contact|FullChess|States)").intersection(
        re.findall(r"\\(\w+)", "".join(whole.values()))
    )
    page = whole["answer.tex"]
    assert page.index(r"\studyReduced") < page.index(r"\input{article/abstract}")
    assert re.search(r"Left out for want of data: \d+ sentences and floats", made["numbers.tex"])
    assert "clumps" not in whole["abstract.tex"]


def test_figures_and_tables_that_a_run_lacks_are_known(results, tmp_path):
    from polhode.study.inputs import Inputs
    from polhode.study.themes import rendering

    name = "slowdown" if "slowdown" in INCLUDED else next(name for name in INCLUDED if name in themes.names("figures"))
    table = next(name for name in INCLUDED if name in themes.names("tables"))
    rendering.render_figure(name, Inputs(""), results / "figures")
    rendering.render_table(table, Inputs(""), results / "tables")
    made = typeset.generated(PAPER, results, themes.all_themes())
    whole = "".join(made.get(f"article/{path.name}", TEXTS[path.name]) for path in ARTICLE)
    assert not {name, table}.intersection(one or other for one, other in reduced._INCLUDED.findall(whole))


def test_the_note_does_not_depend_on_what_the_run_lacks():
    """It once was made with numbers of SPIRAL's test, and lost with them."""
    from polhode.study.inputs import Inputs
    from polhode.study.themes import rendering

    numbers = rendering.numbers("reproducibility", Inputs(""))
    assert "reduced run" in numbers["studyReduced"] and "studyMethodCount" not in numbers
