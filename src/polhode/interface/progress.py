"""Display of progress: bars on a terminal (:mod:`polhode.interface.bars`), elsewhere a line every half minute.

A :class:`Stage` counts, a :class:`Display` shows some stages. Commands use :func:`watched`, the workflow a display with stages
from Snakemake's events. Everything goes to stderr, so that the output of a command can be piped.
"""

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

#: Interval between lines, and between pictures of the bars, s. Work that takes less shows nothing.
HALF_MINUTE, REFRESH = 30.0, 0.5
#: A rate is that of the last minute, or of a longer time if fewer units than this were done in it.
WINDOW, FEWEST = 60.0, 3
#: The time left is shown once this many are done, or this fraction of all.
MANY, FRACTION = 20, 0.05
Clock = Callable[[], float]


class Stage:
    """A number of units of work: how many are done, and how long the others will take. Times in s, of ``clock``.

    Parameters
    ----------
    name : the name of the work
    total : number of units; None if unknown
    unit : what is counted, in the plural
    clock : function that returns the time in s
    """

    def __init__(self, name: str, total: float | None = None, unit: str = "", clock: Clock = time.monotonic) -> None:
        self.name, self.total, self.unit, self.clock = name, total, unit, clock
        self.done = 0.0
        self.failed = 0
        self.begun: float | None = None
        self.ended: float | None = None
        self._history: deque[tuple[float, float]] = deque(maxlen=1000)

    def begin(self) -> None:
        """Work on it starts now, unless it has begun before."""
        if self.begun is None:
            self.begun = self.clock()
            self._history.append((self.begun, self.done))

    def advance(self, units: float = 1.0) -> None:
        """Record that this many more are done."""
        self.reach(self.done + units)

    def reach(self, done: float) -> None:
        """Record that ``done`` units are done in all.

        The number never decreases: failed work restarts, and counts again once it has caught up.
        """
        self.begin()
        if done <= self.done:
            return
        self.done, now = done, self.clock()
        # With fast counting there is no need to remember every time.
        if now - self._history[-1][0] >= 0.2:
            self._history.append((now, done))
        if self.complete:
            self.ended = now

    @property
    def complete(self) -> bool:
        """Whether all of it is done; False if the total is unknown."""
        return self.total is not None and self.done >= self.total

    @property
    def seconds(self) -> float:
        """The time in s that it took, or has taken so far; 0 before it begins."""
        return 0.0 if self.begun is None else (self.clock() if self.ended is None else self.ended) - self.begun

    def left(self) -> float | None:
        """Seconds until it is done, at the rate of the last minute or longer.

        None without a total, and before :data:`MANY` units or :data:`FRACTION` of all are done, which say little.
        """
        if self.total is None or self.done == 0 or self.done < min(MANY, FRACTION * self.total):
            return None
        now = self.clock()
        of_late = (at for at in reversed(self._history) if now - at[0] >= WINDOW and self.done - at[1] >= FEWEST)
        since, before = next(of_late, self._history[0])
        return max(0.0, self.total - self.done) * (now - since) / (self.done - before) if self.done > before else None

    @property
    def state(self) -> str:
        """In words: how many failed or, if none did, the time taken or left, or ``waiting`` if it has not begun."""
        if self.failed:
            return f"{self.failed} failed"
        if self.complete:
            return f"took {duration(self.seconds)}"
        left = self.left()
        return "waiting" if self.begun is None else duration(self.seconds) if left is None else f"{duration(left)} left"

    @property
    def count(self) -> str:
        """The progress, as in ``1,234 of 8,742 runs``; without a total ``1,234 runs``, or nothing without a unit either."""
        done = int(self.done + 1e-9)
        if self.total is None:
            return amount(done, self.unit) if self.unit else ""
        return f"{done:,} of {amount(self.total, self.unit)}"


def duration(seconds: float) -> str:
    """A time given in s as text, in hours, minutes and seconds: 0:07, 12:30, 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes}:{rest:02d}"


def amount(number: float, unit: str) -> str:
    """A number with what is counted, as in ``1,234 runs`` and ``1 run``; ``unit`` in the plural."""
    return f"{number:,.0f} {unit.removesuffix('s') if number == 1 else unit}".rstrip()


def can_redraw(stream: TextIO) -> bool:
    """Whether bars can be drawn on a stream: a terminal that is not dumb, of a process in the foreground."""
    try:
        number = stream.fileno()
        if not os.isatty(number) or os.environ.get("TERM", "dumb").lower() in ("dumb", "unknown"):
            return False
        return not hasattr(os, "tcgetpgrp") or os.tcgetpgrp(number) == os.getpgrp()
    except (OSError, ValueError, AttributeError):
        return False


class Display:
    """Something that shows stages from :meth:`start` to :meth:`stop`, with a thread of its own.

    Parameters
    ----------
    stages : more can be added while they are shown
    stream : where they are shown
    foot : function that returns a line of text below all stages
    plain : without colours
    redirect : whether what this process writes to ``sys.stderr`` is printed above the bars
    period : time between two lines, s; bars are drawn every :data:`REFRESH` s
    """

    def __init__(
        self,
        stages: list[Stage],
        stream: TextIO,
        foot: Callable[[], str] = lambda: "",
        plain: bool = False,
        redirect: bool = False,
        period: float = HALF_MINUTE,
    ) -> None:
        self.stages, self.stream, self.foot, self.period = stages, stream, foot, period
        self.bars: Any = None
        if can_redraw(stream):
            with suppress(ModuleNotFoundError):  # lines, where Rich is not installed
                from polhode.interface.bars import live

                self.bars, self.period = live(self, plain, redirect), REFRESH
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go_on, daemon=True, name="progress")

    @property
    def is_started(self) -> bool:
        """Whether it has been started."""
        return self._thread.ident is not None

    def start(self) -> None:
        """Start the thread that shows the stages every :attr:`period` s until :meth:`stop`."""
        self._thread.start()

    def _go_on(self) -> None:
        while not self._over.wait(self.period):
            self.show()

    def show(self) -> None:
        """Draw the bars or, where there are none, write a line."""
        if self.bars is None:
            self.say(f"polhode: {self.line()}")
        else:
            self.bars.start()
            self.bars.refresh()

    def line(self) -> str:
        """The foot and all stages in one line, except those that have not begun."""
        begun = (stage for stage in self.stages if stage.begun is not None)
        return "; ".join(filter(None, [self.foot(), *(f"{stage.name} {stage.count} ({stage.state})" for stage in begun)]))

    def say(self, text: Any) -> None:
        """Write a line that stays, above the bars if there are any."""
        if self.bars is None:
            print(text, file=self.stream, flush=True)
        else:
            self.bars.console.print(text, markup=False, soft_wrap=True)

    def stop(self, leave: bool = False) -> None:
        """End the thread and take the bars away; with ``leave`` the last state stays, as bars or as a line."""
        self._over.set()
        if self.is_started and self._thread is not threading.current_thread():
            self._thread.join(5.0)
        if self.bars is not None:
            self.bars.transient = not leave
            self.bars.stop()
        elif leave:
            self.show()


@contextmanager
def watched(*stages: Stage) -> Iterator[None]:
    """Context that shows the progress of work while it lasts, with a bar for each of its stages; the first begins now.

    The bars are removed at the end, and work of less than half a second shows nothing; where there are no bars a line is
    written every half minute. Meanwhile warnings may be written to stderr, but nothing to stdout.
    """
    stages[0].begin()
    display = Display(list(stages), sys.stderr, redirect=True)
    display.start()
    try:
        yield
    finally:
        display.stop()
