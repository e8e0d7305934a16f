"""Bars of progress at the bottom of a terminal, drawn by Rich."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:  # of the module that imports this one
    from polhode.interface.progress import Display

#: Number of terminal columns from which there is room for the bar.
ROOM_FOR_BAR = 70


@dataclass
class Drawing:
    """The stages of a display as Rich draws them, in the current width of the terminal."""

    display: "Display"

    def __rich_console__(self, console: Console, options: Any) -> Iterator[Any]:
        with_bar = options.max_width >= ROOM_FOR_BAR
        table = Table.grid(padding=(0, 1), expand=with_bar)
        table.add_column(no_wrap=True)
        if with_bar:
            table.add_column(ratio=1, min_width=8)
        table.add_column(no_wrap=True, justify="right")
        table.add_column(no_wrap=True, justify="right")
        for stage in self.display.stages:
            # Without a total: a moving bar. Not begun: an empty one at rest.
            total = None if stage.total is None and stage.ended is None else (stage.total or 1.0)
            bar = ProgressBar(total, stage.done, pulse=total is None, animation_time=stage.clock())
            style = "red" if stage.failed else "green" if stage.complete else "dim" if stage.begun is None else ""
            name = Text(stage.name, style="red" if stage.failed else "")
            table.add_row(name, *([bar] if with_bar else []), Text(stage.count), Text(stage.state, style=style))
        yield table
        if foot := self.display.foot():
            yield Text(foot, style="dim", no_wrap=True, overflow="ellipsis")


class _Console(Console):
    """A console that never hides the cursor, which a killed process could not restore."""

    def show_cursor(self, show: bool = True) -> bool:
        return False


def live(display: "Display", plain: bool, redirect: bool) -> Live:
    """The bars of a display as Rich draws them: ``start`` and ``refresh`` draw them, ``stop`` removes them.

    Parameters
    ----------
    display : whose stages and whose stream
    plain : without colours
    redirect : whether what this process writes to ``sys.stderr`` is printed above the bars
    """
    console = _Console(file=display.stream, force_terminal=True, no_color=True if plain else None, highlight=False)
    return Live(Drawing(display), console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=redirect)
