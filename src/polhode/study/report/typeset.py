"""LaTeX to PDF, reproducibly, in a separate folder, with a clear message if LaTeX is missing or fails."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from polhode.study.report.macros import missing
from polhode.study.storage import write_atomically
from polhode.study.workflow.locks import BUILD


class Section(Protocol):
    """The properties of a theme that typesetting needs."""

    @property
    def numbers(self) -> tuple[str, ...]:
        """The groups of numbers; empty if it has no file of macros."""

    @property
    def appendix(self) -> bool:
        """Whether its section belongs after the bibliography."""


def report(home: Path, results: Path, output: str | Path, commit_time: int, themes: Mapping[str, Section]) -> None:
    """Typeset paper/report.tex with the figures, tables and numbers in ``results``, and write the PDF to ``output``.

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
    # A copy keeps LaTeX's auxiliary files out of the sources, and lets it run with short paths. The folder is new, so that
    # nothing in the results interferes; anything left by a killed run is removed with other leftovers (locks.sweep).
    with tempfile.TemporaryDirectory(prefix=BUILD, dir=results) as folder:
        build = Path(folder)
        shutil.copytree(home / "paper", build, dirs_exist_ok=True)
        for name, text in generated(build, results, themes).items():
            (build / name).write_text(text, encoding="utf-8")
        _run_latex(build, commit_time)
        write_atomically(output, lambda p: shutil.copyfile(build / "report.pdf", p))


def generated(paper: Path, results: Path, themes: Mapping[str, Section]) -> dict[str, str]:
    """The other inputs of report.tex: the macros of all themes, and the sections of the themes that have one."""
    files = [results / "numbers" / f"{key}.tex" for key, theme in themes.items() if theme.numbers]
    texts = sorted(paper.rglob("*.tex"))

    def sections(appendix: bool) -> str:
        keys = [key for key, theme in themes.items() if theme.appendix == appendix]
        return "".join(rf"\input{{sections/{key}}}" + "\n" for key in keys if (paper / "sections" / f"{key}.tex").is_file())

    macros = "".join(rf"\input{{\resultsdir/numbers/{path.name}}}" + "\n" for path in files)
    return {
        "numbers.tex": macros + missing(texts, files),
        "themes.tex": sections(appendix=False),
        "appendix.tex": sections(appendix=True),
    }


def _run_latex(build: Path, commit_time: int) -> None:
    environment = os.environ | {
        "SOURCE_DATE_EPOCH": str(commit_time),
        "FORCE_SOURCE_DATE": "1",
        "max_print_line": "1000",
    }
    command = ["latexmk", "-pdf", "-bibtex", "-interaction=nonstopmode", "-halt-on-error", r"-usepretex=\def\resultsdir{..}"]
    done = subprocess.run(
        [*command, "report.tex"], cwd=build, env=environment, capture_output=True, text=True, errors="replace"
    )
    print(done.stdout, done.stderr)
    if done.returncode:
        raise RuntimeError(f"LaTeX failed: {_first_error(done.stdout)}; all of its output is in the log")


def _first_error(text: str) -> str:
    """The first error line of LaTeX with the line of the source it names."""
    found = re.search(r"^! .*?(?:^l\.\d+.*?$|\Z)", text, re.MULTILINE | re.DOTALL)
    return " ".join(found.group(0).split()) if found else "no error line found"
