"""The command line: ``polhode COMMAND ...``.

A command is a module with ``add_arguments(parser)`` and ``run(arguments)``, which returns the exit status and raises
:class:`UsageError` for what the user should change. Only the module of the command that is run is imported: most need the
packages of the study. The library's stand in this package. Another package adds its commands by an entry point of the group
``polhode.commands``: it names a dictionary like :data:`COMMANDS`, in the package in which the modules are.
"""

import argparse
import importlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import entry_points
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from polhode.interface.extras import ExtraMissingError
from polhode.interface.files import destination
from polhode.interface.netcdf import UnreadableFile
from polhode.registry import nearest
from polhode.version import __version__

if TYPE_CHECKING:
    from polhode.methods.protocol import Method

#: What each command of the library does.
COMMANDS: dict[str, str] = {
    "code": "a method as one file of C, C#, Fortran, NumPy, JavaScript or Rust that needs nothing else",
    "recommend": "which method and which step size for a body, an error and a price of the torque",
}
#: The group of entry points by which other packages add commands, and the name of the study's.
GROUP, STUDY = "polhode.commands", "study"
#: The longest message about an option, in characters; what it quotes may have any length.
MOST_SAID = 700


class UsageError(Exception):
    """A request that cannot be carried out; the message says what to write instead."""


class Command(NamedTuple):
    """What a command does, in words, and the importable name of the module that does it."""

    summary: str
    module: str


def commands() -> dict[str, Command]:
    """The commands of all packages, by name; none of a package that lacks what it needs."""
    return dict(sorted(_added()[0].items()))


@cache
def _added() -> tuple[dict[str, Command], str]:
    """The commands of the library and of other packages, and why the study's are not among them; else empty."""
    known = _table(__name__, COMMANDS)
    why = "commands of the study work in a checkout of its repository, as ./reproduce COMMAND"
    for point in entry_points(group=GROUP):
        try:
            known |= _table(point.module, point.load())
            why = "" if point.name == STUDY else why
        except ExtraMissingError as error:
            why = str(error)
    return known, why


def _table(package: str, summaries: dict[str, str]) -> dict[str, Command]:
    return {name: Command(summary, f"{package}.{name}") for name, summary in summaries.items()}


class Parser(argparse.ArgumentParser):
    """A parser that accepts no abbreviations and, for an unknown word, suggests the nearest known one."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        # An abbreviation changes its meaning as soon as an option is added: --torque is not --torque-price.
        super().__init__(*arguments, **{**options, "allow_abbrev": False})
        # -1e-3 and -inf are numbers, not options: their own checks then say what is wrong.
        self._negative_number_matcher = re.compile(r"-\.?\d|-inf|-nan")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as the base class does, with another message about unknown options; returns the values of the options as a
        namespace.

        An unknown option ends the program with the exit status 2 (:meth:`error`).
        """
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
            is_command = isinstance(action, argparse._SubParsersAction)
            said = f"unknown {'command' if is_command else 'choice'} {value!r}; {nearest(str(value), list(action.choices))}"
            if is_command and (why := _added()[1]):
                said += f"{'' if said[-1] == '?' else ';'} {why.replace('COMMAND', str(value))}"
            raise argparse.ArgumentError(None if is_command else action, said)

    def _get_value(self, action: argparse.Action, word: str) -> Any:
        # Path("") is the current folder, which nobody means who writes nothing.
        if action.type is Path and not word:
            raise argparse.ArgumentError(action, "must name a file or a folder, got ''")
        return super()._get_value(action, word)

    def error(self, message: str) -> NoReturn:
        """Print one line that says what is wrong, and where all options are explained; then end the program with the exit
        status 2.
        """
        message = re.sub(
            r"^argument (\S+): (must )?", lambda match: f"{match[1]} must " if match[2] else f"{match[1]}: ", message
        )
        message = message if len(message) <= MOST_SAID else f"{message[: MOST_SAID - 3]}..."
        self.exit(2, f"{self.prog}: {message}\n{self.prog} --help explains all options\n")


def finite(text: str) -> float:
    """The finite number in the text of an option; raises argparse.ArgumentTypeError for any other text."""
    return _number(text, "finite", lambda value: True)


def positive(text: str) -> float:
    """The positive and finite number in the text of an option; raises argparse.ArgumentTypeError for any other text."""
    return _number(text, "positive and finite", lambda value: value > 0)


def not_negative(text: str) -> float:
    """The finite number, 0 or larger, in the text of an option; raises argparse.ArgumentTypeError for any other text."""
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
    """The reader of an option that is an integer from ``least`` to ``most``, to be given as the ``type`` of an argument.

    For any other text it raises argparse.ArgumentTypeError.
    """

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
    """The method with this key, or the one in a file, ``.py``, which is tried in another process first; remarks go to stderr.

    Raises
    ------
    UsageError
        If there is no such method or file, or if the file defines none that can be used; the message has its line, if known.
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


def check_writable(
    path: Path, option: str, inputs: Iterable[str | Path | None] = (), of_run: Callable[[str], bool] = lambda name: False
) -> None:
    """Refuse a file that cannot be written, or should not be, before doing the work whose result it will hold.

    Parameters
    ----------
    path : the file
    option : the option that names it, for the message
    inputs : files that the command reads or writes besides, and folders of results: none of them is replaced, under whatever
        name, and no method, problem, scene or law of the user's own is
    of_run : called with the path of a file relative to such a folder; returns whether it must not be replaced

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
        if reason := _precious(path, [Path(source) for source in inputs if source is not None], of_run):
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


def _precious(path: Path, inputs: Sequence[Path], of_run: Callable[[str], bool]) -> str:
    """Why a file should not be replaced; empty if it may be, or does not exist."""
    for source in inputs:
        if source.is_dir():
            inside = path.relative_to(source.resolve()).as_posix() if path.is_relative_to(source.resolve()) else ""
            if path.is_file() and inside and of_run(inside):
                return "is a file of the run"
        elif path == source.resolve() or (path.exists() and source.exists() and path.samefile(source)):
            return "is a file that this command works with"
    if path.is_file() and path.suffix == ".py":
        with path.open("rb") as opened:
            if match := _PLUGIN.search(opened.read(_LONGEST_PLUGIN)):
                return f"defines a {match[1].decode()} of your own"
    return ""


def parser(known: dict[str, Command] | None = None, named: Iterable[str] | None = None) -> argparse.ArgumentParser:
    """The parser of the ``known`` commands, with the arguments of those ``named``; by default these are all commands.

    Of what it parses ``command`` is the name of the command and, of a named one, ``module`` its module and ``parser`` its
    parser.

    Raises
    ------
    ExtraMissingError
        If the module of a named command needs packages that are not installed.
    """
    known = commands() if known is None else known
    top = Parser(prog="polhode", description="Integrators for rigid-body rotation: times and advice.")
    top.add_argument("--version", action="version", version=f"polhode {__version__}")
    subparsers = top.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    for name, (summary, place) in known.items():
        if named is not None and name not in named:
            subparsers.add_parser(name, help=summary)
            continue
        module: Any = importlib.import_module(place)
        command = subparsers.add_parser(name, help=summary, description=module.__doc__)
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        module.add_arguments(command)
        command.set_defaults(module=module, parser=command)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command named by ``arguments`` (by default the words of the command line) and return its exit status.

    The status is 2 for a request that cannot be carried out, which is explained on stderr, 1 if the reader of the output has
    gone, and 130 after an interrupt. For ``--help`` and ``--version`` it raises SystemExit, as argparse does.
    """
    words = sys.argv[1:] if arguments is None else arguments
    # To look for the commands of other packages takes as long as many an answer.
    known = _table(__name__, COMMANDS) if words and words[0] in COMMANDS else commands()
    named = [word for word in words if word in known][:1]
    try:
        request = parser(known, named).parse_args(words)
    except ExtraMissingError as error:
        print(f"polhode {named[0]}: {error}", file=sys.stderr)
        return 2
    except SystemExit as end:
        if end.code == 2:
            return 2
        raise
    try:
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
