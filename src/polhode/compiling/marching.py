"""Pauses in a long compiled loop, during which Python checks for signals: without them Ctrl-C would wait for the last step.

A driver is compiled and releases the interpreter lock; a signal handler written in Python runs only when the main thread is
back in Python. A driver therefore runs to the step that :class:`Pauses` names, calls it, and continues to the next one. The
pauses divide the loop over the steps and not the steps: a step costs the same, and no bit of a result depends on them.
"""

import ctypes
from collections.abc import Callable, Generator, Sequence
from time import perf_counter

from numba import types

from polhode.compiling.signatures import pause_signature

#: Approximate time between two pauses, s.
SECONDS = 0.3
#: Number of steps in the first part, and the largest ratio of the lengths of successive parts. A step of one body takes
#: nanoseconds or microseconds, one of many bodies up to a second.
FIRST, LONGER = 4096, 16
#: Larger than the number of steps in any run.
NEVER = 2**62

_Function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


class Pauses(types.WrapperAddressProtocol):  # type: ignore[misc]
    """The pauses of one run; the first comes after ``first`` steps.

    Compiled code calls them by their address, plain Python as a function.
    """

    def __init__(self, first: int | None = None) -> None:
        self._raised: list[BaseException] = []
        self._pause(_looks(self._raised, FIRST if first is None else first))

    def _pause(self, looks: Generator[int, int]) -> None:
        next(looks)
        # The method of a generator, not a Python function, which could be interrupted before its first line, where nothing
        # can catch what the handler raises. A generator resumes inside its try.
        self._look = looks.send
        self._function = _Function(self._look)

    def __call__(self, n: int) -> int:
        """After ``n`` steps, return the step of the next pause, or ``n`` if the run is to end."""
        return self._look(n)

    def __wrapper_address__(self) -> int | None:
        return ctypes.cast(self._function, ctypes.c_void_p).value

    def signature(self) -> types.Type:
        """The type of a pause for Numba, which asks for it: a function from the number of steps done to the step of the next
        pause.
        """
        return pause_signature

    def end(self) -> None:
        """Raise the exception caught in a pause, usually KeyboardInterrupt, now that the driver has ended; nothing if there
        was none.
        """
        if self._raised:
            raise self._raised[0]


class Laps(Pauses):
    """Pauses after given numbers of steps that record the time: the duration of parts of one run, without set-up.

    Parameters
    ----------
    ends : numbers of steps, ascending
    clock : a function that returns the time in s
    """

    def __init__(self, ends: Sequence[int], clock: Callable[[], float]) -> None:
        self._raised: list[BaseException] = []
        #: The time at each of ``ends`` that the run has reached; a run that ends early leaves fewer.
        self.clocked: list[float] = []
        self._pause(_laps(self._raised, [int(end) for end in ends], clock, self.clocked))


def _looks(raised: list[BaseException], length: int) -> Generator[int, int]:
    """Receives the number of steps done and yields the step of the next pause; exceptions of a handler go into the list."""
    following = 0
    while True:
        began = perf_counter()
        try:
            n = yield following
        except GeneratorExit:
            return
        except BaseException as error:
            raised.append(error)
            n = following
        if raised:
            following = n
            continue
        if n > 0:
            length = next_length(length, perf_counter() - began)
        following = n + length


def _laps(raised: list[BaseException], ends: list[int], clock: Callable[[], float], times: list[float]) -> Generator[int, int]:
    """Like :func:`_looks`, with pauses at the given ends."""
    following = 0
    while True:
        try:
            n = yield following
            if n in ends:
                times.append(clock())
        except GeneratorExit:
            return
        except BaseException as error:
            raised.append(error)
            n = following
        following = n if raised else min((end for end in ends if end > n), default=NEVER)


def next_length(length: int, seconds: float) -> int:
    """The number of steps to run next for about :data:`SECONDS`, after ``length`` of them took ``seconds`` s.

    At least 1, and at most :data:`LONGER` times ``length``.
    """
    return max(1, min(length * LONGER, int(length * SECONDS / max(seconds, 1e-9))))
