"""The command line: ``polhode COMMAND ...``.

A command is a module with ``SUMMARY`` (one line), ``add_arguments(parser)`` and ``run(arguments)``, which returns the exit
status and raises :class:`UsageError` for what the user should change.
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

from polhode.registry import nearest

#: Every command and its module.
COMMANDS: dict[str, str] = {
    "animate": "polhode.study.animation",
    "archive": "polhode.study.archive",
    "bench": "polhode.study.bench",
    "docs": "polhode.documentation.command",
    "html": "polhode.study.html",
    "recommend": "polhode.study.recommend",
    "release": "polhode.study.release",
    "verify": "polhode.study.verify",
}


class UsageError(Exception):
    """What was asked cannot be done; the message says what to write instead."""


class Parser(argparse.ArgumentParser):
    """A parser that takes no abbreviations, and that says of an unknown word which known one is near."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        # What is cut short is another option as soon as there is one more: --torque is not --torque-price.
        super().__init__(*arguments, **{**options, "allow_abbrev": False})
        # -1e-3 and -inf are numbers, too, and no options: their own checks then say what is wrong.
        self._negative_number_matcher = re.compile(r"-\.?\d|-inf|-nan")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As always, but for what is said of options that nobody knows."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            parser = getattr(found, "parser", self)
            word = unknown[0].partition("=")[0]
            known = [option for action in parser._actions for option in action.option_strings if option.startswith("--")]
            # What was cut short is meant before what looks alike.
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
        """One line that says what is wrong, and where all options are explained."""
        message = re.sub(
            r"^argument (\S+): (must )?", lambda found: f"{found[1]} must " if found[2] else f"{found[1]}: ", message
        )
        self.exit(2, f"{self.prog}: {message}\n{self.prog} --help explains all options\n")


def positive(text: str) -> float:
    """An option that is a positive and finite number."""
    return _number(text, "positive and finite", lambda value: value > 0)


def not_negative(text: str) -> float:
    """An option that is a finite number and not negative."""
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
    """An option that is a whole number within these limits."""

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
    """Refuse a file that cannot be written, before the work that it is to hold.

    Raises
    ------
    UsageError
        Naming the option, the file and the reason.
    """
    try:
        if path.is_dir():
            raise UsageError(f"{option}: {path} is a folder; name a file")
        place = path.parent
        while not place.exists():
            place = place.parent
        if place == path.parent:
            # As it will be written: under a temporary name beside it.
            handle, name = tempfile.mkstemp(dir=place, prefix=f".{path.name}.", suffix=path.suffix)
            os.close(handle)
            os.unlink(name)
        else:
            os.rmdir(tempfile.mkdtemp(dir=place))
    except (OSError, ValueError) as error:
        raise UsageError(f"{option}: {path} cannot be written: {getattr(error, 'strerror', None) or error}") from None


def parser() -> argparse.ArgumentParser:
    """The parser of all commands; the module of a command is its default ``module``."""
    made = Parser(prog="polhode", description="Integrators for rigid-body rotation: times and advice.")
    commands = made.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    for name, path in COMMANDS.items():
        module: Any = importlib.import_module(path)
        command = commands.add_parser(name, help=module.SUMMARY, description=module.__doc__)
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        module.add_arguments(command)
        command.set_defaults(module=module, parser=command)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that ``arguments`` (of the command line by default) name; its exit status."""
    try:
        asked = parser().parse_args(arguments)
    except SystemExit as end:
        if end.code == 2:
            return 2
        raise
    try:
        return int(asked.module.run(asked))
    except UsageError as error:
        print(f"polhode {asked.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Somebody has read enough, as `polhode bench | head` does.
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        return 130
