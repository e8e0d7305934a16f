"""LaTeX to PDF, reproducibly, in a separate folder, with a clear message if LaTeX is missing or fails.

``report.tex`` is the article (its texts are in paper/article), ``supplement.tex`` the supplement, which includes the texts of
all chapters. Each refers to the labels of the other: labels are therefore unique over both, and no reference is to a page.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from polhode.interface.storage import write_atomically
from polhode_study.chapters import FOLDER, NOT_TYPESET
from polhode_study.chapters.chapter import Chapter
from polhode_study.report import origins, shortened
from polhode_study.report.addresses import ABSENT, Tables
from polhode_study.report.braces import groups
from polhode_study.report.macros import NOT_IN_RUN, defined, missing, not_available, used
from polhode_study.workflow.locks import BUILD

#: The documents, by the names of their files in paper/ and in the results: the article, and its supplement.
DOCUMENTS = ("report", "supplement")


def report(home: Path, results: Path, outputs: Sequence[str | Path], commit_time: int, chapters: Mapping[str, Chapter]) -> None:
    """Typeset paper/NAME.tex with the figures, tables and numbers in ``results``, and write NAME.pdf, for each of ``outputs``.

    The documents refer to each other's sections, figures, tables and equations. A first pass over each numbers them; each is
    then typeset with the labels of all others (:func:`labels`).

    Parameters
    ----------
    home : the checkout, which contains the folder paper
    results : folder of the results
    outputs : paths of the documents to be written, each named after its source
    commit_time : the time written into the documents, in seconds since 1970
    chapters : the chapters of the study, in their order

    Raises
    ------
    RuntimeError
        If LaTeX is incomplete (the message is that of ``./reproduce tex`` and contains the command to run) or fails (the
        message contains LaTeX's own error and its location).
    """
    check = subprocess.run([home / "reproduce", "tex"], capture_output=True, text=True)
    if check.returncode:
        raise RuntimeError(check.stderr.strip())
    results = Path(results).absolute()
    names = [Path(output).stem for output in outputs]
    # A copy keeps LaTeX's auxiliary files out of the sources, and lets it run with short paths. The folder is new, so that
    # nothing in the results interferes; anything left by a killed run is removed with other leftovers (locks.sweep).
    with tempfile.TemporaryDirectory(prefix=BUILD, dir=results) as folder:
        build = Path(folder)
        copy_sources(home, build)
        for name, text in generated(build, results, chapters).items():
            (build / name).write_text(text, encoding="utf-8")
        # The documents at the same time: LaTeX itself uses one core.
        with ThreadPoolExecutor() as pool:

            def each(command: Callable[[str], list[str]]) -> None:
                list(pool.map(lambda name: _run(command(name), build, commit_time, name), names))

            each(lambda name: ["pdflatex", "-draftmode", *OPTIONS, rf"\def\resultsdir{{..}}\input{{{name}.tex}}"])
            # Only now: the numbers of no document may depend on whether another has been numbered.
            for name in names:
                (build / f"{name}.labels").write_text(labels(build / f"{name}.aux"), encoding="utf-8")
            each(lambda name: ["latexmk", "-pdf", "-bibtex", *OPTIONS, r"-usepretex=\def\resultsdir{..}", f"{name}.tex"])
        for name, output in zip(names, outputs, strict=True):
            write_atomically(output, partial(shutil.copyfile, build / f"{name}.pdf"))


def copy_sources(home: Path, build: Path) -> None:
    """Copy the folder paper of a checkout, and beside it the LaTeX files of all chapters as chapters/NAME/FILE.tex.

    A chapter's ``files.tex`` is not copied: it has the captions of figures and tables that are made and not typeset.
    """
    shutil.copytree(home / "paper", build, dirs_exist_ok=True)
    for path in (path for path in (home / FOLDER).glob("*/*.tex") if path.name != NOT_TYPESET):
        (build / "chapters" / path.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, build / "chapters" / path.parent.name / path.name)


def labels(auxiliary: Path) -> str:
    r"""The labels of a document for use in others, from its auxiliary file: their numbers, and links to its PDF."""
    lines = []
    for line in auxiliary.read_text(encoding="utf-8", errors="replace").splitlines():
        match = re.match(r"\\newlabel\{([a-z]+:[\w-]+)\}(?=\{)", line)
        if match:
            fields = groups(line[match.end() + 1 : -1])
            anchor = fields[3] if len(fields) > 3 else ""
            lines.append(rf"\newlabel{{{match[1]}}}{{{{{fields[0]}}}{{}}{{}}{{{anchor}}}{{{auxiliary.stem}.pdf}}}}" + "\n")
    return "".join(lines)


def generated(paper: Path, results: Path, chapters: Mapping[str, Chapter]) -> dict[str, str]:
    """The other inputs of the documents: the macros of all chapters, and texts with cells of tables in place of addresses.

    ``paper`` has what :func:`copy_sources` copied, ``results`` the figures, tables and numbers.

    If the run lacks data, also the texts without what rests on them, see :mod:`polhode_study.report.shortened`.
    """
    files = {key: results / "numbers" / f"{key}.tex" for key, chapter in chapters.items() if chapter.numbers}
    sources, definitions = _contents(paper.rglob("*.tex")), "".join(_contents(files.values()).values())
    made = {key: defined([path]) for key, path in files.items()}
    everything = set().union(defined(sources), *made.values())
    undefined = used(sources) - everything | not_available(files.values())
    # Of a run that lacks numbers tables may lack rows, too.
    tables = Tables(results / "tables", is_whole=r"\newcommand{\studyReduced}{}" in definitions and not undefined)
    texts = {name: tables.filled(text, Path(name).relative_to(paper)) for name, text in sources.items()}
    lacking = [ABSENT] if any(ABSENT in text for text in texts.values()) else []
    files_shown = [path for folder, kind in SHOWN for path in (results / folder).glob(kind)]
    absent = {path.stem for path in files_shown if NOT_IN_RUN.encode() in path.read_bytes()}
    absent |= set().union(*map(shortened.included, texts.values())) - {path.stem for path in files_shown}
    undefined.add(ABSENT)
    reduced = r"\newcommand{\studyReduced}{ " in definitions
    changed = dict(texts)
    for name, text in texts.items():
        place = Path(name).relative_to(paper)
        if place.parent.name == "article" and place.stem != "answer":
            changed[name] = shortened.without_text(text, undefined, absent, reduced)
        elif place.parent.name in chapters or place.parent.name == "supplement":
            numbers = made.get(place.parent.name, set()) if place.stem == "text" else everything
            empty = shortened.is_empty(text, numbers, absent)
            changed[name] = "" if empty else shortened.without_paragraphs(text, undefined)

    def inputs(kind: str) -> str:
        keys = [key for key in chapters if str(paper / "chapters" / key / f"{kind}.tex") in texts]
        return "".join(rf"\input{{chapters/{key}/{kind}}}" + "\n" for key in keys)

    macros = "".join(rf"\input{{\resultsdir/numbers/{path.name}}}" + "\n" for path in files.values())
    return {
        **{str(Path(name).relative_to(paper)): text for name, text in changed.items() if text != sources[name]},
        "released.tex": origins.rows_of_release(files_shown, texts),
        "numbers.tex": macros + missing(texts, files.values(), lacking) + shortened.note(texts, changed),
        "chapters.tex": inputs("text"),
        "appendix.tex": inputs("appendix"),
    }


#: The folders of figures and tables, and the files that LaTeX reads.
SHOWN = (("figures", "*.pdf"), ("tables", "*.tex"))


def _contents(paths: Iterable[Path]) -> dict[str, str]:
    return {str(path): path.read_text(encoding="utf-8") for path in sorted(paths)}


#: Options of every run of LaTeX.
OPTIONS = ("-interaction=nonstopmode", "-halt-on-error")


def _run(command: Sequence[str], build: Path, commit_time: int, name: str) -> None:
    environment = os.environ | {
        "SOURCE_DATE_EPOCH": str(commit_time),
        "FORCE_SOURCE_DATE": "1",
        "max_print_line": "1000",
    }
    done = subprocess.run(command, cwd=build, env=environment, capture_output=True, text=True, errors="replace")
    print(done.stdout, done.stderr)
    if done.returncode:
        raise RuntimeError(f"LaTeX failed on {name}.tex: {_first_error(done.stdout)}; all of its output is in the log")


def _first_error(text: str) -> str:
    """The first error line of LaTeX with the line of the source it names."""
    match = re.search(r"^! .*?(?:^l\.\d+.*?$|\Z)", text, re.MULTILINE | re.DOTALL)
    return " ".join(match.group(0).split()) if match else "no error line found"
