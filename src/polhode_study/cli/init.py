"""Write a configuration to start from: a small study, and every other key as a comment with its meaning, unit and default.

In any folder::

  polhode init
      writes mine.yaml
  polhode run mine.yaml
      runs it, up to the report: about a minute of processor time
"""

import argparse
from pathlib import Path

from polhode.cli import UsageError, check_writable
from polhode.interface.storage import write_text
from polhode_study.documentation.configuration import start_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``polhode init``."""
    parser.add_argument("file", nargs="?", type=Path, default=Path("mine.yaml"), help="file to write (%(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Write the file, which must not exist."""
    path: Path = arguments.file
    check_writable(path, "FILE")
    if path.exists():
        raise UsageError(f"there is a file {path} already; name another one")
    write_text(path, start_text(path.name))
    print(f"{path}: a small study, and all keys. Start it with: polhode run {path}")
    return 0
