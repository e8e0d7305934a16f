"""Build the documentation as HTML pages: docs/_build/html/index.html.

Pages of methods, problems and scenes, of the configuration and of the data files are written from the code. Measured values
come from the run in ``results``, if it has all methods and problems, otherwise from the data distributed with polhode. No
network is needed to build the pages or to read them.
"""

import argparse
import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from polhode.cli import UsageError
from polhode.interface.netcdf import DamagedFile, UnreadableFile, contents, read_groups
from polhode_study.workflow.entry import HOME

#: The folder of everything generated, below docs; not committed.
GENERATED, BUILT = "_generated", "_build"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``polhode docs``."""
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="folder of a run with notebooks (results if it exists)")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="where the pages go (docs/_build/html)")


def run(arguments: argparse.Namespace) -> int:
    """Write the pages, let Sphinx build them without a warning, and print their location."""
    if find_spec("sphinx") is None:
        raise UsageError("Sphinx is not installed; use ./reproduce docs, or pip install -r requirements.txt")
    if arguments.results is not None:
        check_run(arguments.results)
    if arguments.output is not None and arguments.output.exists() and not arguments.output.is_dir():
        raise UsageError(f"--output: {arguments.output} is no folder; name one, for all pages")
    output = (arguments.output or HOME / "docs" / BUILT / "html").absolute()
    build(output, arguments.results)
    print(output / "index.html")
    return 0


def check_run(results: Path) -> None:
    """Look at the data and the notebooks of a run before pages are written.

    Raises
    ------
    UsageError
        If a file is missing or damaged; the message names it.
    """
    data = results / "single_body.nc"
    if not data.is_file():
        raise UsageError(f"--results: {results} holds no single_body.nc; leave --results out for the released data")
    try:
        groups = read_groups(data)
        for name in groups:
            _ = groups[name]
        for path in sorted((results / "notebooks").glob("*.ipynb")):
            check_notebook(path)
    except (DamagedFile, UnreadableFile) as error:
        raise UsageError(f"--results: {error}, or leave --results out for the released data") from error


def check_notebook(path: Path) -> None:
    """Raise :class:`~polhode.interface.netcdf.DamagedFile` if a notebook cannot be read as one."""
    try:
        cells = json.loads(contents(path))["cells"]
    except (ValueError, LookupError, TypeError) as error:
        raise DamagedFile(path, f"is no complete notebook ({error})") from error
    if not isinstance(cells, list):
        raise DamagedFile(path, "is no complete notebook (its cells are no list)")


def build(output: Path, results: Path | None = None, docs: Path = HOME / "docs") -> None:
    """Write the generated pages, then the HTML.

    Parameters
    ----------
    output : folder of the HTML; what Sphinx keeps between builds is next to it
    results : folder of a run, for its notebooks; by default ``results``
    docs : folder of the sources

    Raises
    ------
    UsageError
        If Sphinx gives any warning; its warnings are on the terminal.
    """
    from polhode_study.documentation.pages import write

    write(docs / GENERATED, results)
    # In one process: several spend twice the time, most of it on handing pages to each other.
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "--builder",
        "html",
        "--fail-on-warning",
        "--nitpicky",
        "--quiet",
    ]
    command += ["--doctree-dir", str(output.parent / "doctrees"), str(docs), str(output)]
    # Kernels are then plain functions, whose arguments and docstrings Sphinx can read.
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join([str(HOME / "src"), *sys.path])}
    if subprocess.run(command, env=environment).returncode:
        raise UsageError("Sphinx gave the warnings above; fix the pages or docstrings, and build again")
