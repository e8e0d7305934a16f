"""One page on a method, a file of your own or a built-in one, within a minute and without a study.

  polhode sheet my_method.py
      Writes my_method.html: orders by class of torque against what the method declares, cost, errors on random bodies, long
      runs, reversal, canonical form, friction, contacts, a liquid; and which known method it equals. Beside the best of three
      classes of torque.
  polhode sheet my_method.py --beside spiral_leapfrog exact_rotor other_method.py
      Beside methods of your choice.
  polhode sheet my_method.py --json my_method.json
      The numbers for programs as well.

The page is one file that needs nothing else, for a browser or a printer.
"""

import argparse
import json
from pathlib import Path

from polhode.cli import UsageError, check_writable, method_named, whole
from polhode.interface.progress import Stage, watched
from polhode.study.report.method_page import page
from polhode.study.run.method_sheet import BODIES, sheet, stages
from polhode.study.storage import write_text

#: The most methods beside: more do not fit the page.
MOST = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``polhode sheet``."""
    parser.add_argument("method", metavar="METHOD", help="its key, or a Python file that defines one")
    parser.add_argument("--beside", nargs="+", default=[], metavar="METHOD", help="methods beside it, keys or files")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="page to write (KEY.html)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers as well")
    parser.add_argument("--bodies", type=whole(2, 4096), default=BODIES, help="random bodies (%(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Measure, write the page, and print its path.

    Raises
    ------
    UsageError
        If there is no such method, if it cannot be used, or if a file cannot be written.
    """
    if len(arguments.beside) > MOST:
        raise UsageError(f"--beside: {len(arguments.beside)} methods do not fit a page; name at most {MOST}")
    method = method_named(arguments.method)
    beside = [method_named(name).key for name in arguments.beside]
    output = arguments.output or Path(f"{method.key}.html")
    for path, option in ((output, "--output"), (arguments.json, "--json")):
        if path is not None:
            check_writable(path, option)
    names = stages(bool(beside))
    stage = Stage(names[0], len(names), "parts")

    def begins(name: str) -> None:
        stage.reach(names.index(name))
        stage.name = name

    with watched(stage):
        numbers = sheet(method, beside, arguments.bodies, say=begins)
    write_text(output, page(numbers))
    print(output)
    if arguments.json is not None:
        write_text(arguments.json, json.dumps(numbers, indent=1, allow_nan=False) + "\n")
        print(arguments.json)
    return 0
