"""Run a study of your own from any folder: paths in its configuration, that of the results too, are relative to that file.

The words after the file go to Snakemake, as those of ./reproduce do::

  polhode run mine.yaml
      the whole study, up to the report, into results/ beside mine.yaml
  polhode run mine.yaml -n
      what would run
  polhode run mine.yaml data
      the data without the report

polhode init writes such a file. The study is that of the checkout from which polhode runs or was installed (pip install -e):
Snakefile, default configuration and report are not part of a wheel. It runs there with ./reproduce, in its locked environment.
"""

import argparse
import os
from pathlib import Path

from polhode.cli import UsageError
from polhode.interface.reading import ConfigurationError, read
from polhode_study.workflow.entry import HOME


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``polhode run``."""
    parser.add_argument("file", type=Path, help="configuration, YAML or JSON")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="...", help="arguments of Snakemake")


def run(arguments: argparse.Namespace) -> int:
    """Become ./reproduce with this configuration."""
    os.execv(HOME / "reproduce", command(arguments.file, arguments.words))


def command(path: Path, words: list[str]) -> list[str]:
    """The command that runs the configuration at ``path``; ``words`` are further arguments of Snakemake.

    Raises
    ------
    UsageError
        If the file cannot be read, or a word would set a configuration of its own.
    """
    if second := [word for word in words if word.startswith("--config")]:
        raise UsageError(f"{second[0]}: the configuration is {path}; write keys there")
    try:
        named = read(path).values.get("results", "results")
    except ConfigurationError as error:
        raise UsageError(str(error)) from None
    path = path.absolute()
    # What is no text is refused as it stands.
    results = path.parent / named if isinstance(named, str) and named else named
    # Snakemake works in the checkout, and knows files of the results by their whole paths.
    within = [
        str(Path(word).absolute()) if "/" in word and not word.startswith("-") and not (HOME / word).exists() else word
        for word in words
    ]
    # With =, or the options would take the words that follow.
    return [str(HOME / "reproduce"), f"--configfile={path}", f"--config=results={results}", *within]
