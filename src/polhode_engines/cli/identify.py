"""Which method your own code runs: from rows of time, orientation and angular velocity that it writes.

What to run, and who made a run::

  polhode identify --recipe
  polhode identify --recipe --omega 100 --language c++
  polhode identify --recipe --language javascript
      What to run, scaled to your units; as a table, or as a program to paste your step into.
  polhode identify run1.csv run2.csv run3.csv
      The method, or those that the runs cannot distinguish and what would; what to do; what to use instead. With --why
      also what was excluded, how the rows were read, and where the energy goes.
  polhode identify run.csv --inertia 1e-9 2e-9 2.5e-9 --torque lab 0 0 1e-12 --dt 1e-6
      The same for a file that does not say these itself ('# inertia: ...').
  polhode identify run*.csv --method my_method.py
      With a method of yours among the candidates: does your code make the steps that your file makes?

The recipe without --language is a table for every language; the program for JavaScript runs in node.

It reads comma-separated values, columns between blanks, NPZ, JSON, dumps of LAMMPS, logs of YADE, tables of ROS, PX4 and
Basilisk, and attitude messages of CCSDS, in any convention: scalar first or last, body to lab or back, angular velocity or
momentum in the body or the lab frame, whole or half steps, degrees, milliseconds, single precision. docs/identify.md has more.
"""

import argparse
import sys
import warnings
from pathlib import Path

from polhode.cli import UsageError, finite, method_named, not_negative, positive, whole
from polhode_engines import cases
from polhode_engines.recipe import LANGUAGES, recipe


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``polhode identify`` to a parser."""
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="runs of one code, one row a step")
    parser.add_argument(
        "--inertia",
        nargs="+",
        type=finite,
        metavar="I",
        help="principal moments, by the axes of the body; or a tensor: Ixx Iyy Izz Ixy Ixz Iyz as in LAMMPS, or its nine "
        "elements by rows",
    )
    parser.add_argument(
        "--torque", nargs="+", metavar="T", help="free, constant Mx My Mz (body frame), lab Mx My Mz, or velocity c: -c omega"
    )
    parser.add_argument("--dt", type=positive, metavar="DT", help="step, if the file has no times, s")
    parser.add_argument("--every", type=whole(1), metavar="N", help="steps from row to row (1)")
    parser.add_argument("--damping", type=not_negative, metavar="C", help="rate with which the code damps omega, 1/s (0)")
    parser.add_argument("--body", type=whole(0), metavar="ID", help="the body, in a dump or table with several")
    parser.add_argument(
        "--columns",
        metavar="NAMES",
        help="names of all columns, such as t,qw,qx,qy,qz,wx,wy,wz; - for one that is not to be read",
    )
    parser.add_argument(
        "--method",
        action="append",
        metavar="FILE",
        help="a Python file that defines a method of yours (docs/adding-a-method.md): a further candidate; may be repeated",
    )
    parser.add_argument("--recipe", action="store_true", help="print what to run")
    parser.add_argument("--omega", type=positive, metavar="W", help="angular velocity of the recipe, rad/s")
    parser.add_argument("--single", action="store_true", help="recipe for a code in single precision, or for six digits")
    parser.add_argument("--language", metavar="LANGUAGE", help=f"print the recipe as a program: {', '.join(LANGUAGES)}")
    parser.add_argument("--csv", action="store_true", help="print the recipe as comma-separated values")
    parser.add_argument("--why", action="store_true", help="also how it is known, what was excluded, and how rows were read")
    parser.add_argument("--json", action="store_true", help="print recipe or answer as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the recipe, with the status 0, or the answer, with the status 0 if the method is identified, and 1 if not.

    Raises
    ------
    UsageError
        For files that hold no run, for what is missing, and for options that do not go together or have impossible values.
    """
    if arguments.recipe:
        return _print_recipe(arguments)
    for option in ("omega", "language", "csv", "single"):
        if getattr(arguments, option) not in (None, False):
            raise UsageError(f"--{option} belongs to --recipe")
    if not arguments.files:
        raise UsageError("name the files of your runs, or ask what to run with --recipe")
    from polhode_engines.own_code import IdentifyError, identify_files
    from polhode_engines.run_files import RunFileError

    for name in arguments.method or ():
        if not name.endswith(".py"):
            raise UsageError(f"--method: {name} is no Python file; every method that polhode has is a candidate without it")
        method_named(name)
    torque = " ".join(arguments.torque) if arguments.torque else None
    try:
        with warnings.catch_warnings(record=True) as remarks:
            warnings.simplefilter("always", UserWarning)
            answer = identify_files(
                arguments.files,
                arguments.inertia,
                torque,
                arguments.dt,
                arguments.damping,
                arguments.every,
                arguments.body,
                arguments.columns,
            )
    except (IdentifyError, RunFileError) as error:
        raise UsageError(str(error)) from error
    for said in sorted({str(remark.message) for remark in remarks if remark.category is UserWarning}):
        print(f"polhode identify: {said}", file=sys.stderr)
    print(answer.to_json() if arguments.json else answer.why() if arguments.why else str(answer).replace("`why`", "--why"))
    return 0 if answer.identified else 1


def _print_recipe(arguments: argparse.Namespace) -> int:
    """Print what to run.

    Raises
    ------
    UsageError
        For options that a recipe does not have, and runs that cannot be made.
    """
    if arguments.files:
        raise UsageError("--recipe prints what to run and reads no files; leave one of both out")
    for option in ("torque", "every", "damping", "body", "columns", "method", "why"):
        if getattr(arguments, option) not in (None, False):
            raise UsageError(f"--{option} is about files of runs; --recipe has no use for it")
    if arguments.language not in (None, *LANGUAGES):
        raise UsageError(
            f"--language: there is no program for {arguments.language!r}, only for {', '.join(LANGUAGES)}; without --language "
            "the recipe is a table to follow in any language"
        )
    formats = [f"--{option}" for option in ("language", "csv", "json") if getattr(arguments, option)]
    if len(formats) > 1:
        raise UsageError(f"{' and '.join(formats)} print the recipe in different ways; choose one")
    try:
        made = recipe(arguments.omega, arguments.dt, arguments.inertia or cases.INERTIA, arguments.single, arguments.language)
    except ValueError as error:
        raise UsageError(str(error)) from error
    chosen = made.program(arguments.language) if arguments.language else None
    print(chosen or (made.to_json() if arguments.json else made.to_csv() if arguments.csv else made))
    return 0
