"""LaTeX to PDF, reproducibly, in a folder of its own, with a clear word where LaTeX is missing or fails."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from polhode.study.locks import BUILD
from polhode.study.storage import write_atomically


def report(home: Path, results: Path, output: str | Path, commit_time: int) -> None:
    """Typeset paper/report.tex with the figures, tables and numbers in ``results`` and put the PDF at ``output``.

    Raises
    ------
    RuntimeError
        If LaTeX is incomplete (the message is that of ``./reproduce tex`` and holds the command to run) or fails (the message
        holds LaTeX's own error and the place).
    """
    check = subprocess.run([home / "reproduce", "tex"], capture_output=True, text=True)
    if check.returncode:
        raise RuntimeError(check.stderr.strip())
    results = Path(results).absolute()
    # A copy keeps LaTeX's helper files out of the sources, and lets it run where every name is short. The folder is new, so
    # that nothing in the results is in its way; what a killed run leaves of it goes with other leftovers (locks.sweep).
    with tempfile.TemporaryDirectory(prefix=BUILD, dir=results) as folder:
        build = Path(folder)
        shutil.copytree(home / "paper", build, dirs_exist_ok=True)
        _run_latex(build, commit_time)
        write_atomically(output, lambda p: shutil.copyfile(build / "report.pdf", p))


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
