"""The command line: ``polhode COMMAND ...``.

A command is a module with ``SUMMARY`` (one line), ``add_arguments(parser)`` and ``run(arguments)``, which returns the exit
status and raises :class:`UsageError` for what the user should change.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Any

#: Every command and its module.
COMMANDS: dict[str, str] = {
    "animate": "polhode.study.animation",
    "archive": "polhode.study.archive",
    "bench": "polhode.study.bench",
    "html": "polhode.study.html",
    "recommend": "polhode.study.recommend",
    "release": "polhode.study.release",
    "verify": "polhode.study.verify",
}


class UsageError(Exception):
    """What was asked cannot be done; the message says what to write instead."""


def parser() -> argparse.ArgumentParser:
    """The parser of all commands; the module of a command is its default ``module``."""
    made = argparse.ArgumentParser(prog="polhode", description="Integrators for rigid-body rotation: times and advice.")
    commands = made.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    for name, path in COMMANDS.items():
        module: Any = importlib.import_module(path)
        command = commands.add_parser(name, help=module.SUMMARY, description=module.__doc__)
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        module.add_arguments(command)
        command.set_defaults(module=module)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that ``arguments`` (of the command line by default) name; its exit status."""
    asked = parser().parse_args(arguments)
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
