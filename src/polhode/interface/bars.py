"""Bars of progress at the bottom of a terminal, drawn by Rich."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from polhode.interface.progress import Board, Display, Stage, count, duration, pace

#: Interval at which bars are redrawn, s.
REFRESH = 0.5
#: Number of terminal columns from which there is room for the rate, for the bar, and for the time left.
ROOM_FOR_RATE, ROOM_FOR_BAR, ROOM_FOR_TIME = 80, 70, 48


@dataclass
class Drawing:
    """A board as Rich draws it, in the current width of the terminal."""

    board: Board

    def __rich_console__(self, console: Console, options: Any) -> Iterator[Any]:
        board = self.board
        if board.clock() < board.shown_from:
            return
        foot = board.foot()
        # On a terminal with few rows, finished stages are dropped first.
        room = max(1, options.size.height - 2)
        shown = board.stages
        if len(shown) > room:
            shown = [stage for stage in shown if not stage.complete][:room]
        yield Group(_table(shown, options.max_width, board.clock()), *([_line(foot)] if foot else []))


def _table(stages: Sequence[Stage], width: int, now: float) -> Table:
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
            # Without a total: a moving bar. Not begun: an empty one at rest.
            total = None if stage.total is None and stage.ended is None else (stage.total or 1.0)
            cells.append(ProgressBar(total, stage.done, pulse=total is None, animation_time=now))
        number, _, unit = count(stage).rpartition(" ") if stage.unit else (count(stage), "", "")
        cells += [Text(number), *([Text(unit)] if with_bar else [])]
        if with_rate:
            cells.append(Text("" if stage.complete or stage.begun is None else pace(stage.rate()), style="dim"))
        if with_time:
            cells.append(_state(stage))
        table.add_row(*cells)
    return table


def _state(stage: Stage) -> Text:
    """The last column: time left or taken, or the reason why there is neither."""
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


class _Console(Console):
    """A console that never hides the cursor, which a killed process could not restore."""

    def show_cursor(self, show: bool = True) -> bool:
        return False


class Bars(Display):
    """Bars at the bottom of a terminal; messages are printed above them.

    ``plain``: without colours; ``redirect``: also print above them what this process writes to ``sys.stderr``.
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
        self.live = Live(
            Drawing(board), console=self.console, auto_refresh=False, redirect_stdout=False, redirect_stderr=redirect
        )

    def start(self) -> None:
        """Draw them, and redraw them twice a second."""
        self.live.start(refresh=True)
        super().start()

    def show(self) -> None:
        """Redraw them."""
        self.live.refresh()

    def say(self, text: Text | str) -> None:
        """Print a line above the bars."""
        self.console.print(text, markup=False, soft_wrap=True)

    def stop(self, leave: bool = False) -> None:
        """Remove them, or leave them as they are."""
        super().stop()
        self.live.transient = not leave
        self.live.stop()
