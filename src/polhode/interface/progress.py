"""Display of progress: bars on a terminal (:mod:`polhode.interface.bars`), elsewhere a line every half minute.

A :class:`Stage` counts, a :class:`Board` collects stages, a display shows the board. Commands use :func:`watched`, the workflow
a display of its own. Everything goes to stderr, so that the output of a command can be piped.
"""

import os
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, TextIO

#: Interval at which a line is written where there are no bars, s.
HALF_MINUTE = 30.0
#: A rate is that of the last minute, or of a longer time if fewer units than this were done in it.
WINDOW, FEWEST = 60.0, 3
#: The time left is shown once this many are done, or this fraction of all.
MANY, FRACTION = 20, 0.05
#: Work that takes less time than this shows no bar, s.
PATIENCE = 0.5
Clock = Callable[[], float]


class Stage:
    """A number of units of work: how many are done, how fast, and how long the others will take. Times in s, of ``clock``.

    Parameters
    ----------
    name : the name of the work
    total : number of units; None if unknown
    unit : what is counted, in the plural
    """

    def __init__(self, name: str, total: float | None = None, unit: str = "", clock: Clock = time.monotonic) -> None:
        self.name, self.total, self.unit, self.clock = name, total, unit, clock
        self.done = 0.0
        self.failed = 0
        self.begun: float | None = None
        self.ended: float | None = None
        self._rests_since: float | None = None
        self._rested = 0.0
        self._history: deque[tuple[float, float]] = deque(maxlen=1000)

    def begin(self) -> None:
        """Work on it starts now, or resumes after a pause."""
        if self._rests_since is not None:
            self._rested += self.clock() - self._rests_since
            self._rests_since = None
        if self.begun is None:
            self.begun = self.clock()
            self._history.append((self._worked(), self.done))

    def rest(self) -> None:
        """Work pauses until it begins again; the pause does not count towards the rate."""
        if self.begun is not None and self._rests_since is None:
            self._rests_since = self.clock()

    def _worked(self) -> float:
        """A clock that stops during pauses."""
        return (self.clock() if self._rests_since is None else self._rests_since) - self._rested

    def advance(self, units: float = 1.0) -> None:
        """Record that this many more are done."""
        self.reach(self.done + units)

    def reach(self, done: float) -> None:
        """Record the total done so far. It never decreases: failed work restarts, and counts again once it has caught up."""
        if self.begun is None:
            self.begin()
        if done <= self.done:
            return
        self.done = done
        now = self._worked()
        # With fast counting there is no need to remember every time.
        if now - self._history[-1][0] >= 0.2:
            self._history.append((now, done))
        if self.total is not None and done >= self.total:
            self.ended = self.clock()

    @property
    def complete(self) -> bool:
        """Whether all of it is done."""
        return self.total is not None and self.done >= self.total

    @property
    def seconds(self) -> float:
        """The time it took, or has taken so far."""
        return 0.0 if self.begun is None else (self.clock() if self.ended is None else self.ended) - self.begun

    def rate(self) -> float:
        """Recent units per second; zero if there is nothing to compute it from."""
        if self.begun is None:
            return 0.0
        now = self._worked()
        since, before = self._history[0]
        for time_then, done_then in reversed(self._history):
            if now - time_then >= WINDOW and self.done - done_then >= FEWEST:
                since, before = time_then, done_then
                break
        return (self.done - before) / (now - since) if now > since else 0.0

    def left(self) -> float | None:
        """Seconds until it is done at this rate; None if unknown, since the first few units say little."""
        rate = self.rate()
        if self.total is None or rate == 0 or self.done < min(MANY, FRACTION * self.total):
            return None
        return max(0.0, self.total - self.done) / rate


def duration(seconds: float) -> str:
    """A readable time: 0:07, 12:30, 1:02:03."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"


def pace(rate: float) -> str:
    """Units per second, minute or hour, whichever gives a number above one."""
    for factor, unit in ((1, "s"), (60, "min"), (3600, "h")):
        if rate * factor >= 1 or unit == "h":
            return f"{rate * factor:.{0 if rate * factor >= 10 else 1}f}/{unit}" if rate else ""
    raise AssertionError


def amount(number: float, unit: str) -> str:
    """A number with what is counted, as in ``1,234 runs`` and ``1 run``; ``unit`` in the plural."""
    return f"{number:,.0f} {unit.removesuffix('s') if number == 1 else unit}".rstrip()


def count(stage: Stage) -> str:
    """The progress of a stage, as in ``1,234 of 8,742 runs``."""
    done = int(stage.done + 1e-9)
    if stage.total is None and not stage.unit:
        return ""
    return amount(done, stage.unit) if stage.total is None else f"{done:,} of {amount(stage.total, stage.unit)}"


class Board:
    """Stages, one below the other, and a line of text below them all.

    Parameters
    ----------
    stages : more can be added while it is shown
    patience : time in s during which nothing is shown
    """

    def __init__(self, stages: Iterable[Stage] = (), patience: float = 0.0, clock: Clock = time.monotonic) -> None:
        self.stages = list(stages)
        self.foot: Callable[[], str] = lambda: ""
        self.clock, self.shown_from = clock, clock() + patience

    def line(self) -> str:
        """All stages in one line, except those that have not begun."""
        parts = []
        for stage in self.stages:
            if stage.begun is None:
                continue
            left, rate = stage.left(), pace(stage.rate())
            about = [f"took {duration(stage.seconds)}"] if stage.complete else [rate] if rate else []
            if not stage.complete and left is not None:
                about.append(f"{duration(left)} left")
            if stage.failed:
                about.append(f"{stage.failed} failed")
            said = f"{stage.name} {count(stage)}"
            parts.append(f"{said} ({', '.join(about)})" if about else said)
        foot = self.foot()
        return "; ".join(([foot] if foot else []) + parts)


# ---- showing it ----


def can_redraw(stream: TextIO) -> bool:
    """Whether bars can be drawn on a stream: a terminal that is not dumb, of a process in the foreground."""
    try:
        number = stream.fileno()
        if not os.isatty(number) or os.environ.get("TERM", "dumb").lower() in ("dumb", "unknown"):
            return False
        return not hasattr(os, "tcgetpgrp") or os.tcgetpgrp(number) == os.getpgrp()
    except (OSError, ValueError, AttributeError):
        return False


class Display(ABC):
    """Something that shows a board from :meth:`start` to :meth:`stop`, with a thread that looks now and then.

    Parameters
    ----------
    board : what is shown
    look : called from the thread before each update, to bring the board up to date
    """

    def __init__(self, board: Board, period: float, look: Callable[[], object] = lambda: None) -> None:
        self.board, self.period, self.look = board, period, look
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def is_started(self) -> bool:
        """Whether it has been started."""
        return self._thread is not None

    def start(self) -> None:
        """Start showing it."""
        self._thread = threading.Thread(target=self._go_on, daemon=True, name="progress")
        self._thread.start()

    def _go_on(self) -> None:
        while not self._over.wait(self.period):
            self.look()
            self.show()

    @abstractmethod
    def show(self) -> None:
        """Called by the thread after each look."""

    @abstractmethod
    def say(self, text: Any) -> None:
        """A line that stays."""

    def stop(self, leave: bool = False) -> None:
        """Stop showing it; with ``leave`` its last state stays."""
        self._over.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(5.0)


class Lines(Display):
    """One line every half minute, where nothing can be redrawn."""

    def __init__(
        self, board: Board, stream: TextIO, look: Callable[[], object] = lambda: None, period: float = HALF_MINUTE
    ) -> None:
        super().__init__(board, period, look)
        self.stream = stream

    def show(self) -> None:
        """Write the line."""
        self.say(f"polhode: {self.board.line()}")

    def say(self, text: Any) -> None:
        """Print another line."""
        print(text, file=self.stream, flush=True)

    def stop(self, leave: bool = False) -> None:
        """Stop writing; with ``leave`` write one last line."""
        super().stop()
        if leave:
            self.show()
