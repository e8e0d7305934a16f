"""Progress shown while work lasts: bars where the terminal can redraw them, else lines."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from polhode.interface.progress import PATIENCE, Board, Display, Lines, Stage, can_redraw


@contextmanager
def watched(*stages: Stage) -> Iterator[None]:
    """Show the progress of work while it lasts, with a bar for each of its stages; the first begins now.

    The bars are removed at the end, and work of less than half a second shows nothing. Meanwhile warnings may be written to
    stderr, but nothing to stdout.
    """
    stages[0].begin()
    board = Board(stages, PATIENCE)
    shown: Display = Lines(board, sys.stderr)
    if can_redraw(sys.stderr):
        with suppress(ModuleNotFoundError):  # lines, where Rich is not installed
            from polhode.interface.bars import Bars

            shown = Bars(board, sys.stderr, redirect=True)
    shown.start()
    try:
        yield
    finally:
        shown.stop()
