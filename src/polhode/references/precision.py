"""The working precision of mpmath, which belongs to the whole process: threads take turns."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import mpmath

#: Decimal digits carried beyond those asked for; round-off over some thousand steps or terms stays below them.
GUARD_DIGITS = 15
_turn = threading.RLock()


@contextmanager
def digits_and_guard(digits: int) -> Iterator[None]:
    """A context in which mpmath computes with ``digits`` plus :data:`GUARD_DIGITS` decimal digits.

    Another thread that enters such a context waits until this one is left.
    """
    with _turn, mpmath.workdps(digits + GUARD_DIGITS):
        yield
