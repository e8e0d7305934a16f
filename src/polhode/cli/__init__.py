"""The command line: ``polhode COMMAND ...``.

A command is a module with ``add_arguments(parser)`` and ``run(arguments)``, which returns the exit status and raises
:class:`UsageError` for what the user should change. A command that works on files of the repository, which are not part of a
wheel, declares ``NEEDS_REPOSITORY = True``. Only the module of the command that is run is imported: most need the packages of
the study.
"""

import argparse
import importlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from polhode.interface.extras import ExtraMissingError
from polhode.interface.files import destination
from polhode.interface.netcdf import UnreadableFile
from polhode.registry import nearest
from polhode.version import __version__

if TYPE_CHECKING:
    from polhode.methods.protocol import Method

#: What each command does; a command is a module of this package.
COMMANDS: dict[str, str] = {
    "animate": "animate many bodies in a box (GIF)",
    "archive": "a finished run as one zip for a data repository: data, report, source, checksums, metadata",
    "atlas": "find out which integrators physics engines run",
    "bench": "measure the time of a step of each method on this machine",
    "code": "a method as one file of C, Fortran, NumPy, JavaScript or Rust that needs nothing else",
    "docs": "the documentation as HTML pages",
    "html": "figures, tables and rules of a finished run as one page for a browser",
    "identify": "which method your own code runs, from the rows that it writes",
    "init": "a commented configuration of a small study, to change",
    "recommend": "which method and which step size for a body, an error and a price of the torque",
    "release": "the many-body results of a full run as a small file distributed with the code",
    "run": "run a study of your own from any folder, with its results beside its configuration",
    "sheet": "one page on a method, your own or a built-in one: orders, cost, errors, drift, beside three others",
    "verify": "compare a folder of results or an archive with a released run, value by value",
}


#: The commands that work without the packages of the study.
OF_THE_LIBRARY = ("atlas", "code", "identify", "recommend")
#: The longest message about an option, in characters; what it quotes may have any length.
MOST_SAID = 700


class UsageError(Exception):
    """A request that cannot be carried out; the message says what to write instead."""


class Parser(argparse.ArgumentParser):
    """A parser that accepts no abbreviations and, for an unknown word, suggests the nearest known one."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        # An abbreviation changes its meaning as soon as an option is added: --torque is not --torque-price.
        super().__init__(*arguments, **{**options, "allow_abbrev": False})
        # -1e-3 and -inf are numbers, not options: their own checks then say what is wrong.
        self._negative_number_matcher = re.compile(r"-\.?\d|-inf|-nan")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as the base class does, with another message about unknown options."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            parser = getattr(options, "parser", self)
            word = unknown[0].partition("=")[0]
            known = [option for action in parser._actions for option in action.option_strings if option.startswith("--")]
            # An abbreviation is a better guess than a similar word.
            longer = [option for option in known if option.startswith(word)] if len(word) > 2 else []
            advice = nearest(word, longer or known, 0.7) if word.startswith("-") else "it takes no such word"
            parser.error(f"unknown argument {unknown[0]}; {advice}")
        return options

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            what = "command" if isinstance(action, argparse._SubParsersAction) else "choice"
            raise argparse.ArgumentError(
                None if what == "command" else action, f"unknown {what} {value!r}; {nearest(str(value), list(action.choices))}"
            )

    def _get_value(self, action: argparse.Action, word: str) -> Any:
        # Path("") is the current folder, which nobody means who writes nothing.
        if action.type is Path and not word:
            raise argparse.ArgumentError(action, "must name a file or a folder, got ''")
        return super()._get_value(action, word)

    def error(self, message: str) -> NoReturn:
        """Print one line that says what is wrong, and where all options are explained."""
        message = re.sub(
            r"^argument (\S+): (must )?", lambda match: f"{match[1]} must " if match[2] else f"{match[1]}: ", message
        )
        message = message if len(message) <= MOST_SAID else f"{message[: MOST_SAID - 3]}..."
        self.exit(2, f"{self.prog}: {message}\n{self.prog} --help explains all options\n")


def finite(text: str) -> float:
    """An option that is a finite number."""
    return _number(text, "finite", lambda value: True)


def positive(text: str) -> float:
    """An option that is a positive and finite number."""
    return _number(text, "positive and finite", lambda value: value > 0)


def not_negative(text: str) -> float:
    """An option that is a finite, non-negative number."""
    return _number(text, "finite and not negative", lambda value: value >= 0)


def _number(text: str, wanted: str, meets: Callable[[float], bool]) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from None
    if not (isfinite(value) and meets(value)):
        raise argparse.ArgumentTypeError(f"must be {wanted}, got {text}")
    return value


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """An option that is an integer within these limits."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}") from None
        if value < least or (most is not None and value > most):
            limits = f"at least {least}" if most is None else f"between {least} and {most}"
            raise argparse.ArgumentTypeError(f"must be {limits}, got {text}")
        return value

    return read


def method_named(name: str) -> "Method":
    """The method with this key, or that of a file, ``.py``, which is tried in another process first.

    Raises
    ------
    UsageError
        If there is no such method or file, or if the file defines none that can be used; the message has its line.
    """
    from polhode.interface.plugins import try_out
    from polhode.methods import METHODS

    if not name.endswith(".py"):
        try:
            return METHODS[name]
        except KeyError as error:
            raise UsageError(str(error.args[0])) from None
    try:
        for remark in try_out([name], references=False):
            print(remark, file=sys.stderr)
        return METHODS.load(name)
    except (FileNotFoundError, ValueError) as error:
        raise UsageError(str(error)) from error


def check_writable(path: Path, option: str, inputs: Iterable[str | Path | None] = ()) -> None:
    """Refuse a file that cannot be written, or should not be, before doing the work whose result it will hold.

    ``inputs`` are files that the command reads or writes besides, and folders of results: none of them is replaced, under
    whatever name, and no method, problem, scene or law of the user's own is.

    Raises
    ------
    UsageError
        Naming the option, the file and the reason.
    """
    named = path
    try:
        path = destination(path)
        if path.exists() and not path.is_file():
            return
        if reason := _precious(path, [Path(source) for source in inputs if source is not None]):
            raise UsageError(f"{option}: {named} {reason}; name another file")
        place = path.parent
        while not place.exists():
            place = place.parent
        if place == path.parent:
            # As it will be written: under a temporary name in the same folder.
            handle, name = tempfile.mkstemp(dir=place, prefix=f".{path.name}.", suffix=path.suffix)
            os.close(handle)
            os.unlink(name)
        else:
            os.rmdir(tempfile.mkdtemp(dir=place))
    except IsADirectoryError:
        raise UsageError(f"{option}: {named} is a folder; name a file") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{option}: {named} cannot be written: {getattr(error, 'strerror', None) or error}") from None


#: A plug-in by its text, which is not executed: names of what it may define (:mod:`polhode.registry`), and bytes read.
_PLUGIN, _LONGEST_PLUGIN = re.compile(rb"^(METHOD|PROBLEM|SCENE|LAW)\b[^=\n]*=", re.MULTILINE), 1_000_000


def _precious(path: Path, inputs: Sequence[Path]) -> str:
    """Why a file should not be replaced; empty if it may be, or does not exist."""
    for source in inputs:
        if source.is_dir():
            from polhode.study.artefacts import kind_of

            inside = path.relative_to(source.resolve()).as_posix() if path.is_relative_to(source.resolve()) else ""
            if path.is_file() and inside and kind_of(inside) is not None:
                return "is a file of the run"
        elif path == source.resolve() or (path.exists() and source.exists() and path.samefile(source)):
            return "is a file that this command works with"
    if path.is_file() and path.suffix == ".py":
        with path.open("rb") as opened:
            if match := _PLUGIN.search(opened.read(_LONGEST_PLUGIN)):
                return f"defines a {match[1].decode()} of your own"
    return ""


def check_repository(command: str) -> None:
    """Refuse a command that works on the repository where polhode is installed without it.

    Raises
    ------
    UsageError
        Saying where the command works.
    """
    from polhode.study.workflow.entry import HOME

    if not (HOME / "Snakefile").is_file():
        raise UsageError(
            "works on the repository of the study, and polhode is installed here without it; clone the repository and run "
            f"./reproduce {command} there"
        )


def parser(commands: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser of all commands, with the arguments of these ``commands``, whose modules become the default ``module``."""
    top = Parser(prog="polhode", description="Integrators for rigid-body rotation: times and advice.")
    top.add_argument("--version", action="version", version=f"polhode {__version__}")
    subparsers = top.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        if name not in commands:
            subparsers.add_parser(name, help=summary)
            continue
        if name not in OF_THE_LIBRARY:
            importlib.import_module("polhode.study")  # says which packages are missing
        module: Any = importlib.import_module(f"polhode.cli.{name}")
        command = subparsers.add_parser(name, help=summary, description=module.__doc__)
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        module.add_arguments(command)
        command.set_defaults(module=module, parser=command)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command named by ``arguments`` (by default those of the command line) and return its exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    named = [word for word in words if word in COMMANDS][:1]
    try:
        request = parser(named).parse_args(words)
    except ExtraMissingError as error:
        print(f"polhode {named[0]}: {error}", file=sys.stderr)
        return 2
    except SystemExit as end:
        if end.code == 2:
            return 2
        raise
    try:
        if getattr(request.module, "NEEDS_REPOSITORY", False):
            check_repository(request.command)
        status = int(request.module.run(request))
        if sys.stdout is not None:  # as it is where the shell has closed it
            sys.stdout.flush()
        return status
    except (UsageError, UnreadableFile, ExtraMissingError) as error:
        print(f"polhode {request.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader has closed the pipe, as in `polhode bench | head`.
        _drop_output()
        return 1
    except OSError as error:
        _drop_output()
        place = f"{error.filename}: " if error.filename else "" if error.errno is None else "output: "
        print(f"polhode {request.command}: {place}{error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _drop_output() -> None:
    """Let what standard output still holds go nowhere: Python would try to write it at its end."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
