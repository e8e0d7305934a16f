"""How far work is, for who watches it: bars on a terminal, elsewhere a line every half minute.

A :class:`Stage` counts, a :class:`Board` puts stages together, a display shows the board. Commands use :func:`watched`, the
workflow :mod:`polhode.study.watching`. All goes to stderr, so that what a command prints can be piped on.
"""

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

#: How often bars are drawn anew, and how often a line comes where there are none, s.
REFRESH, HALF_MINUTE = 0.5, 30.0
#: A rate is that of the last minute, or of a longer time where fewer units than these were done in it.
WINDOW, FEWEST = 60.0, 3
#: The time left is told when so many are done, or this part of all.
MANY, PART = 20, 0.05
#: Work that is done sooner shows no bar, s.
PATIENCE = 0.5
#: Columns of the terminal from which on there is room for the rate, for the bar, and for the time left.
ROOM_FOR_RATE, ROOM_FOR_BAR, ROOM_FOR_TIME = 80, 70, 48

Clock = Callable[[], float]


class Stage:
    """A number of units of work: how many are done, how fast, how long the others take. Times in s, of ``clock``.

    Parameters
    ----------
    name : what the work is called
    total : units; None if nobody knows
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
        """Work on it starts now, or goes on after a rest."""
        if self._rests_since is not None:
            self._rested += self.clock() - self._rests_since
            self._rests_since = None
        if self.begun is None:
            self.begun = self.clock()
            self._history.append((self._worked(), self.done))

    def rest(self) -> None:
        """Nobody works on it until it begins again; that time is no part of its rate."""
        if self.begun is not None and self._rests_since is None:
            self._rests_since = self.clock()

    def _worked(self) -> float:
        """A clock that stands still meanwhile."""
        return (self.clock() if self._rests_since is None else self._rests_since) - self._rested

    def advance(self, units: float = 1.0) -> None:
        """So many more are done."""
        self.reach(self.done + units)

    def reach(self, done: float) -> None:
        """So many are done in all. It never goes back: what fails is begun anew, and counts again when it has come as far."""
        if self.begun is None:
            self.begin()
        if done <= self.done:
            return
        self.done = done
        now = self._worked()
        # Whoever counts quickly need not remember each.
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
        """How long it took, or has taken so far."""
        return 0.0 if self.begun is None else (self.clock() if self.ended is None else self.ended) - self.begun

    def rate(self) -> float:
        """Units a second of late; zero if there is nothing to tell it from."""
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
        """Seconds until it is done at this rate; None if that cannot be told: the first few say little."""
        rate = self.rate()
        if self.total is None or rate == 0 or self.done < min(MANY, PART * self.total):
            return None
        return max(0.0, self.total - self.done) / rate


def duration(seconds: float) -> str:
    """A time as people read it: 0:07, 12:30, 1:02:03."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"


def pace(rate: float) -> str:
    """Units a second, a minute or an hour, whichever gives a number above one."""
    for factor, unit in ((1, "s"), (60, "min"), (3600, "h")):
        if rate * factor >= 1 or unit == "h":
            return f"{rate * factor:.{0 if rate * factor >= 10 else 1}f}/{unit}" if rate else ""
    raise AssertionError


def amount(number: float, unit: str) -> str:
    """A number with what is counted, as in ``1,234 runs`` and ``1 run``; ``unit`` in the plural."""
    return f"{number:,.0f} {unit.removesuffix('s') if number == 1 else unit}".rstrip()


def count(stage: Stage) -> str:
    """How much of a stage is done, as in ``1,234 of 8,742 runs``."""
    done = int(stage.done + 1e-9)
    if stage.total is None and not stage.unit:
        return ""
    return amount(done, stage.unit) if stage.total is None else f"{done:,} of {amount(stage.total, stage.unit)}"


class Board:
    """Stages, one below the other, and a line of text below them all.

    Parameters
    ----------
    stages : more may be added while it is shown
    patience : s for which nothing is shown
    """

    def __init__(self, stages: Iterable[Stage] = (), patience: float = 0.0, clock: Clock = time.monotonic) -> None:
        self.stages = list(stages)
        self.foot: Callable[[], str] = lambda: ""
        self.clock, self.shown_from = clock, clock() + patience

    def __rich_console__(self, console: Console, options: Any) -> Iterator[Any]:
        """The bars, as wide as the terminal is now."""
        if self.clock() < self.shown_from:
            return
        foot = self.foot()
        # What is finished gives way first where the terminal is low.
        room = max(1, options.size.height - 2)
        shown = self.stages
        if len(shown) > room:
            shown = [stage for stage in shown if not stage.complete][:room]
        yield Group(self._bars(shown, options.max_width), *([_line(foot)] if foot else []))

    def _bars(self, stages: Sequence[Stage], width: int) -> Table:
        with_rate, with_bar, with_time = width >= ROOM_FOR_RATE, width >= ROOM_FOR_BAR, width >= ROOM_FOR_TIME
        table = Table.grid(padding=(0, 1), expand=with_bar)
        table.add_column(no_wrap=True, overflow="ellipsis")
        if with_bar:
            table.add_column(ratio=1, min_width=8)
        table.add_column(no_wrap=True, justify="right")
        if with_bar:
            table.add_column(no_wrap=True)
        if with_rate:
            table.add_column(no_wrap=True, justify="right", min_width=8)
        if with_time:
            table.add_column(no_wrap=True, justify="right", min_width=14)
        for stage in stages:
            cells: list[Any] = [Text(stage.name, style="red" if stage.failed else "")]
            if with_bar:
                # Without a total: a bar that moves. Not begun: an empty one, which stands still.
                total = None if stage.total is None and stage.ended is None else (stage.total or 1.0)
                cells.append(ProgressBar(total, stage.done, pulse=total is None, animation_time=self.clock()))
            number, _, unit = count(stage).rpartition(" ") if stage.unit else (count(stage), "", "")
            cells += [Text(number), *([Text(unit)] if with_bar else [])]
            if with_rate:
                cells.append(Text("" if stage.complete or stage.begun is None else pace(stage.rate()), style="dim"))
            if with_time:
                cells.append(_state(stage))
            table.add_row(*cells)
        return table

    def line(self) -> str:
        """The same in one line, without what has not begun."""
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


def _state(stage: Stage) -> Text:
    """The last column: time left or taken, or what keeps a stage from either."""
    if stage.failed:
        return Text(f"{stage.failed} failed", style="red")
    if stage.complete:
        return Text(f"took {duration(stage.seconds)}", style="green")
    if stage.begun is None:
        return Text("waiting", style="dim")
    left = stage.left()
    return Text(duration(stage.seconds) if left is None else f"{duration(left)} left")


def _line(text: str) -> Text:
    return Text(text, style="dim", no_wrap=True, overflow="ellipsis")


# ---- showing it ----


class _Console(Console):
    """A console that never hides the cursor: a process that is killed could not bring it back."""

    def show_cursor(self, show: bool = True) -> bool:
        return False


def can_redraw(stream: TextIO) -> bool:
    """Whether a stream is a terminal that bars can be drawn on: no dumb one, and not that of a process in the background."""
    try:
        number = stream.fileno()
        if not os.isatty(number) or os.environ.get("TERM", "dumb").lower() in ("dumb", "unknown"):
            return False
        return not hasattr(os, "tcgetpgrp") or os.tcgetpgrp(number) == os.getpgrp()
    except (OSError, ValueError, AttributeError):
        return False


class Display:
    """Something that shows a board from :meth:`start` to :meth:`stop`, with a thread that looks now and then.

    Parameters
    ----------
    board : what is shown
    look : called before each look at it, from the thread: to bring the board up to date
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
        """Show it from now on."""
        self._thread = threading.Thread(target=self._go_on, daemon=True, name="progress")
        self._thread.start()

    def _go_on(self) -> None:
        while not self._over.wait(self.period):
            self.look()
            self.show()

    def show(self) -> None:
        """What the thread does after each look."""
        raise NotImplementedError

    def say(self, text: Text | str) -> None:
        """A line that stays."""
        raise NotImplementedError

    def stop(self, leave: bool = False) -> None:
        """Show it no longer; with ``leave`` its last state stays."""
        self._over.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(5.0)


class Bars(Display):
    """Bars at the bottom of a terminal; what is said meanwhile stands above them.

    ``plain``: without colours; ``redirect``: also what this process writes to ``sys.stderr`` stands above them.
    """

    def __init__(
        self,
        board: Board,
        stream: TextIO,
        look: Callable[[], object] = lambda: None,
        plain: bool = False,
        redirect: bool = False,
    ) -> None:
        super().__init__(board, REFRESH, look)
        self.console = _Console(file=stream, force_terminal=True, no_color=True if plain else None, highlight=False)
        self.live = Live(board, console=self.console, auto_refresh=False, redirect_stdout=False, redirect_stderr=redirect)

    def start(self) -> None:
        """Draw them, and anew twice a second."""
        self.live.start(refresh=True)
        super().start()

    def show(self) -> None:
        """Draw them anew."""
        self.live.refresh()

    def say(self, text: Text | str) -> None:
        """A line above the bars."""
        self.console.print(text, markup=False, soft_wrap=True)

    def stop(self, leave: bool = False) -> None:
        """Take them away, or leave them as they are."""
        super().stop()
        self.live.transient = not leave
        self.live.stop()


class Lines(Display):
    """A line every half minute, where nothing can be drawn anew."""

    def __init__(
        self, board: Board, stream: TextIO, look: Callable[[], object] = lambda: None, period: float = HALF_MINUTE
    ) -> None:
        super().__init__(board, period, look)
        self.stream = stream

    def show(self) -> None:
        """Write the line."""
        self.say(f"polhode: {self.board.line()}")

    def say(self, text: Text | str) -> None:
        """Another line."""
        print(text, file=self.stream, flush=True)

    def stop(self, leave: bool = False) -> None:
        """Write no more; with ``leave`` one last line."""
        super().stop()
        if leave:
            self.show()


@contextmanager
def watched(*stages: Stage) -> Iterator[None]:
    """Show how far work is while it lasts, a bar for each of its stages; the first begins now.

    Nothing of it stays, and what takes half a second shows nothing. Warnings may be written to stderr meanwhile, but nothing to
    stdout.
    """
    stages[0].begin()
    board = Board(stages, PATIENCE)
    shown = Bars(board, sys.stderr, redirect=True) if can_redraw(sys.stderr) else Lines(board, sys.stderr)
    shown.start()
    try:
        yield
    finally:
        shown.stop()
