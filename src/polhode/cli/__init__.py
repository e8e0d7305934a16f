"""The command line: ``polhode COMMAND ...``.

A command is a module with ``SUMMARY`` (one line), ``add_arguments(parser)`` and ``run(arguments)``, which returns the exit
status and raises :class:`UsageError` for what the user should change. A command that works on files of the repository, which
are not part of a wheel, declares ``NEEDS_REPOSITORY = True``.
"""

import argparse
import importlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

from polhode.interface.netcdf import UnreadableFile
from polhode.registry import nearest
from polhode.version import __version__

#: Every command and its module.
COMMANDS: dict[str, str] = {
    "animate": "polhode.cli.animate",
    "archive": "polhode.cli.archive",
    "atlas": "polhode.cli.atlas",
    "bench": "polhode.cli.bench",
    "docs": "polhode.cli.docs",
    "html": "polhode.cli.html",
    "recommend": "polhode.cli.recommend",
    "release": "polhode.cli.release",
    "verify": "polhode.cli.verify",
}


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
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            parser = getattr(found, "parser", self)
            word = unknown[0].partition("=")[0]
            known = [option for action in parser._actions for option in action.option_strings if option.startswith("--")]
            # An abbreviation is a better guess than a similar word.
            longer = [option for option in known if option.startswith(word)] if len(word) > 2 else []
            advice = nearest(word, longer or known, 0.7) if word.startswith("-") else "it takes no such word"
            parser.error(f"unknown argument {unknown[0]}; {advice}")
        return found

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            what = "command" if isinstance(action, argparse._SubParsersAction) else "choice"
            raise argparse.ArgumentError(
                None if what == "command" else action, f"unknown {what} {value!r}; {nearest(str(value), list(action.choices))}"
            )

    def error(self, message: str) -> NoReturn:
        """Print one line that says what is wrong, and where all options are explained."""
        message = re.sub(
            r"^argument (\S+): (must )?", lambda found: f"{found[1]} must " if found[2] else f"{found[1]}: ", message
        )
        message = message if len(message) <= MOST_SAID else f"{message[: MOST_SAID - 3]}..."
        self.exit(2, f"{self.prog}: {message}\n{self.prog} --help explains all options\n")


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


def check_writable(path: Path, option: str) -> None:
    """Refuse a file that cannot be written, before doing the work whose result it will hold.

    Raises
    ------
    UsageError
        Naming the option, the file and the reason.
    """
    from polhode.study.storage import destination

    named = path
    try:
        path = destination(path)
        if path.exists() and not path.is_file():
            return
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


def parser() -> argparse.ArgumentParser:
    """The parser of all commands; the module of a command is its default ``module``."""
    made = Parser(prog="polhode", description="Integrators for rigid-body rotation: times and advice.")
    made.add_argument("--version", action="version", version=f"polhode {__version__}")
    commands = made.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    for name, path in COMMANDS.items():
        module: Any = importlib.import_module(path)
        command = commands.add_parser(name, help=module.SUMMARY, description=module.__doc__)
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        module.add_arguments(command)
        command.set_defaults(module=module, parser=command)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command named by ``arguments`` (by default those of the command line) and return its exit status."""
    try:
        asked = parser().parse_args(arguments)
    except SystemExit as end:
        if end.code == 2:
            return 2
        raise
    try:
        if getattr(asked.module, "NEEDS_REPOSITORY", False):
            check_repository(asked.command)
        return int(asked.module.run(asked))
    except (UsageError, UnreadableFile) as error:
        print(f"polhode {asked.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader has closed the pipe, as in `polhode bench | head`.
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        return 130
