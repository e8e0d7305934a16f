"""One page on a method, a file of your own or a built-in one, within a minute and without a study.

  polhode sheet my_method.py
      Writes my_method.html: orders by class of torque against what the method declares, cost, errors on random bodies, long
      runs, reversal, canonical form, friction, contacts, a liquid; and which known method it equals. Beside the best of three
      classes of torque.
  polhode sheet my_method.py --beside spiral_leapfrog exact_rotor other_method.py
      Beside methods of your choice.
  polhode sheet my_method.py --json my_method.json
      The numbers for programs as well.
  polhode sheet my_method.py --tables .
      And methods.csv and methods.nc: the numbers of all methods, this one included; without METHOD those released.

The page is one file that needs nothing else, for a browser or a printer.
"""

import argparse
import json
import re
from html import unescape
from pathlib import Path
from textwrap import wrap
from typing import Any

from polhode.cli import UsageError, check_writable, method_named, whole
from polhode.interface.progress import Stage, watched
from polhode.interface.storage import write_dataset, write_text
from polhode_study.report.method_page import in_short, page
from polhode_study.report.method_tables import RELEASED, as_csv, released_sheets, table, with_sheet
from polhode_study.run.method_sheet import BODIES, sheet, stages

#: Columns of the text.
WIDTH = 100
#: The most methods beside: more do not fit the page.
MOST = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``polhode sheet``."""
    parser.add_argument("method", metavar="METHOD", nargs="?", help="its key, or a Python file that defines one")
    parser.add_argument("--beside", nargs="+", default=[], metavar="METHOD", help="methods beside it, keys or files")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="page to write (KEY.html)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers as well")
    parser.add_argument("--tables", type=Path, metavar="FOLDER", help="write methods.csv and methods.nc, of all methods, there")
    parser.add_argument("--bodies", type=whole(2, 4096), default=BODIES, help="random bodies (%(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Measure, write the page, and print what it says in short.

    Raises
    ------
    UsageError
        If there is no such method, if it cannot be used, or if a file cannot be written.
    """
    if len(arguments.beside) > MOST:
        raise UsageError(f"--beside: {len(arguments.beside)} methods do not fit a page; name at most {MOST}")
    inputs = _files(arguments)
    for named, option, other in ((arguments.output, "--output", None), (arguments.json, "--json", arguments.output)):
        if named is not None:
            check_writable(named, option, [*inputs, other])
    paths = [arguments.tables / name for name in ("methods.csv", "methods.nc")] if arguments.tables else []
    for path in paths:
        check_writable(path, "--tables", [*inputs, arguments.output, arguments.json])
    sheets = released_sheets()
    if arguments.method is None:
        if not paths or not sheets["entries"]:
            raise UsageError("name a METHOD" if not paths else f"there are no released sheets, {RELEASED}; name a METHOD")
    else:
        if paths and sheets.get("bodies", arguments.bodies) != arguments.bodies:
            raise UsageError(f"--bodies: the released sheets in --tables have {sheets['bodies']} bodies; leave one of them out")
        sheets = with_sheet(sheets, _measured(arguments))
    if paths:
        data = table(sheets)
        write_text(paths[0], as_csv(data))
        write_dataset(data, paths[1])
        print(f"The numbers of all methods are in {paths[0]} and {paths[1]}.")
    return 0


def _files(arguments: argparse.Namespace) -> list[str]:
    """The methods that are files of the user's own."""
    return [name for name in (arguments.method or "", *arguments.beside) if name.endswith(".py")]


def _measured(arguments: argparse.Namespace) -> dict[str, Any]:
    """The sheet of the method; its page, and its numbers if asked for, are written, and what they say is printed in short."""
    method = method_named(arguments.method)
    beside = [method_named(name).key for name in arguments.beside]
    output = arguments.output or Path(f"{method.key}.html")
    if arguments.output is None:
        check_writable(output, "--output", [*_files(arguments), arguments.json])
    names = stages(bool(beside))
    stage = Stage(names[0], len(names), "parts")

    def begins(name: str) -> None:
        stage.reach(names.index(name))
        stage.name = name

    with watched(stage):
        numbers = sheet(method, beside, arguments.bodies, say=begins)
    write_text(output, page(numbers))
    print(f"Open {output} in a browser, which also shows how each number was measured. In short:")
    print("\n".join(line for text in in_short(numbers) for line in wrap(unescape(re.sub("<[^>]*>", "", text)), WIDTH)))
    if arguments.json is not None:
        write_text(arguments.json, json.dumps(numbers, indent=1, allow_nan=False) + "\n")
        print(f"The numbers are in {arguments.json}.")
    return numbers
