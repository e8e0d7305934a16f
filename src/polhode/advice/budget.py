"""The time that an answer from runs may take."""

import time as clocks
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Budget:
    """The time that an answer may take.

    Parameters
    ----------
    seconds : time limit, s
    clock : function that returns the time in s; by default processor time, so that other programs do not count
    begun : when it began by this clock; now by default
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = clocks.process_time, begun: float | None = None) -> None:
        self.seconds, self._clock, self._begun = seconds, clock, clock() if begun is None else begun
        self._reserved = 0.0
        #: The time of one step of the motion and of the torque in it, s, once known: measured with the same clock.
        self.per_step = 2e-7

    def now(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._begun

    def left(self) -> float:
        """Seconds until the limit, less those that are reserved."""
        return self.seconds - self.now() - self._reserved

    def allows(self, steps: float, per_step: float | None = None) -> bool:
        """Whether so many steps take less than :meth:`left`, with ``per_step`` s for each (:attr:`per_step` by default)."""
        return steps * (self.per_step if per_step is None else per_step) < self.left()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Context in which no time is counted, as for compilation."""
        begun = self._clock()
        try:
            yield
        finally:
            self._begun += self._clock() - begun

    @contextmanager
    def reserving(self, seconds: float) -> Iterator[None]:
        """Context in which so many seconds are kept for what comes after it: :meth:`left` is less by them."""
        self._reserved = seconds
        try:
            yield
        finally:
            self._reserved = 0.0
