"""Make report.html: the figures and tables of a finished run as one page for a browser.

It is the report of Snakemake (``snakemake --report``), with captions, the graph of the rules and their times. The page
contains everything that it shows and needs no network, neither to be made nor to be read.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from polhode.cli import UsageError, check_writable
from polhode.interface.files import inside
from polhode.interface.progress import Stage, watched
from polhode.interface.reading import ConfigurationError, read
from polhode_study.workflow.entry import HOME


def results_of(configfiles: list[Path], settings: list[str]) -> Path:
    """The results folder that Snakemake would use with these files and settings ``results=...``."""
    folder = "results"
    for path in (HOME / "config.yaml", *configfiles):
        try:
            folder = read(path).values.get("results", folder)
        except ConfigurationError as error:
            raise UsageError(f"--configfile {error}") from None
    for setting in settings:
        key, _, value = setting.partition("=")
        folder = value if key == "results" else folder
    return Path(folder)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``polhode html``."""
    parser.add_argument("--configfile", type=Path, nargs="+", default=[], help="as given to ./reproduce for the run")
    parser.add_argument("--config", nargs="+", default=[], metavar="KEY=VALUE", help="likewise, such as results=elsewhere")
    parser.add_argument("--output", type=Path, help="file to write, .html or .zip; by default report.html of the results")


def run(arguments: argparse.Namespace) -> int:
    """Let Snakemake write the page, and print its path."""
    results = results_of(arguments.configfile, arguments.config)
    output = (arguments.output or HOME / results / "report.html").absolute()
    if output.suffix not in (".html", ".zip"):
        raise UsageError(f"--output: Snakemake writes .html or .zip, got {output.name!r}")
    if not output.parent.is_dir():
        raise UsageError(f"there is no folder {output.parent}; run the study first, or name another file")
    if arguments.output is None:
        inside(HOME / results, output)
    check_writable(output, "--output", arguments.configfile)
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--report", str(output)]
    for option, values in (("--configfile", arguments.configfile), ("--config", arguments.config)):
        command += [option, *(str(Path(v).absolute() if option == "--configfile" else v) for v in values)] if values else []
    with watched(Stage("Snakemake makes the page")):
        # What a site sets for all of its users is for the jobs of a cluster.
        environment = {name: value for name, value in os.environ.items() if name != "SNAKEMAKE_PROFILE"}
        done = subprocess.run(command, cwd=HOME, capture_output=True, text=True, env=environment)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        reason = next((line for line in lines if "does not exist" in line or "issing" in line), lines[-1] if lines else "")
        raise UsageError(f"Snakemake could not make it: {reason.strip()}; finish the run with ./reproduce first")
    print(f"{output}: {output.stat().st_size / 1e6:.1f} MB")
    return 0
