"""A method as source code to take home: one file that needs nothing else, with a test in it that prints ok.

  polhode code spiral_leapfrog -o spiral_leapfrog.h
      A header of C99 that is C++ and CUDA as well. Two of them can be included in one program.
  polhode code spiral_leapfrog --language fortran -o spiral_leapfrog.F90
      A module of Fortran 2008.
  polhode code spiral_leapfrog --language numpy -o spiral_leapfrog.py
      NumPy, for one body or arrays of bodies.
  polhode code spiral_leapfrog --language javascript -o spiral_leapfrog.mjs
      An ES module for browsers and Node.
  polhode code spiral_leapfrog --language rust -o spiral_leapfrog.rs
      A module of Rust, with the standard library or without.
  polhode code spiral_leapfrog --language csharp -o spiral_leapfrog.cs
      A static class of C#, for Unity, Godot and .NET.
  polhode code spiral_leapfrog --precision single -o spiral_leapfrog_single.h
      In single precision: in C, C#, JavaScript and Rust.
  polhode code my_method.py
      The same for a method of your own.
  polhode code --all polhode/
      All methods, and polhode.h, which includes them.

The code is generated from the kernels that the package itself runs, and has their bits; comments have the equations and their
sources. A program with a loop of its own calls start, before_torque, after_torque and read as the function run does.
"""

import argparse
import sys
from pathlib import Path

from polhode.cli import UsageError, check_writable, method_named
from polhode.export import LANGUAGES
from polhode.export.translator import Untranslatable
from polhode.interface.files import write_text
from polhode.methods import METHODS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``polhode code`` to its parser."""
    parser.add_argument("method", nargs="?", metavar="METHOD", help="its key, or a Python file that defines one")
    parser.add_argument("--language", choices=sorted(LANGUAGES), default="c", help="language of the file (%(default)s)")
    parser.add_argument("--precision", choices=("double", "single"), default="double", help="of all numbers (%(default)s)")
    files = parser.add_mutually_exclusive_group()
    files.add_argument("-o", "--output", type=Path, metavar="FILE", help="file to write; without it the code is printed")
    files.add_argument("--all", type=Path, metavar="FOLDER", help="write a file for every method into this folder")


def run(arguments: argparse.Namespace) -> int:
    """Print the code or write it to files; returns the exit status, 0.

    Raises
    ------
    UsageError
        If there is no such method, it cannot be written in this language and precision, or there, or if a method and ``--all``
        are both named, or none of them.
    """
    language = LANGUAGES[arguments.language]
    if arguments.precision == "single":
        if not language.has_single:
            others = ", ".join(name for name, language in LANGUAGES.items() if language.has_single)
            raise UsageError(f"{language.name} is written in double precision only; --precision single: {others}")
        language = language.in_single()
    if (arguments.method is None) == (arguments.all is None):
        raise UsageError("name one METHOD, or a folder for all of them with --all FOLDER")
    if arguments.all is not None:
        names = [f"{language.key(method)}{language.suffix}" for method in METHODS.values()]
        library = language.library(names)
        for name in (*names, *library):
            check_writable(arguments.all / name, "--all")
        for name, method in zip(names, METHODS.values(), strict=True):
            write_text(arguments.all / name, language.source(method))
        for name, text in library.items():
            write_text(arguments.all / name, text)
        print(f"{len(names)} methods written to {arguments.all}", file=sys.stderr)
        return 0
    if arguments.output is not None:
        check_writable(arguments.output, "--output", [arguments.method] if arguments.method.endswith(".py") else [])
    try:
        text = language.source(method_named(arguments.method))
    except Untranslatable as error:
        raise UsageError(f"{arguments.method} cannot be written in {language.name}: {error}") from error
    if arguments.output is None:
        print(text, end="")
    else:
        write_text(arguments.output, text)
    return 0
