"""Measure the time of a step of each method on this machine.

Times all methods in turn, in one process, as the study does, and prints a table sorted by cost. Nothing else should be running.
Kept in the body frame means that a method carries its own variables; kept in the lab, that at every step it takes the angular
velocity in the lab frame and returns it, as simulation codes often do.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from polhode.cli import UsageError, check_writable, positive, whole
from polhode.fits.step_times import OTHER, in_frame
from polhode.interface.plugins import try_out
from polhode.interface.progress import Stage, watched
from polhode.interface.storage import write_text
from polhode.interface.table import Column, Table, csv
from polhode.methods import METHODS
from polhode_study import provenance
from polhode_study.run import timing

#: The most samples of a form, all of which are held in memory, and the longest time of a table, s: more than a week.
MOST_ROUNDS, LONGEST = 1_000_000, 1e6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``polhode bench``."""
    parser.add_argument("--methods", nargs="+", metavar="KEY", help="only these methods, with the two used for comparison")
    parser.add_argument(
        "--rounds", type=whole(1, MOST_ROUNDS), default=200, help="how often each method is timed in each form (%(default)s)"
    )
    parser.add_argument("--block", type=positive, default=5e-4, help="minimum time of one sample, s (%(default)s)")
    parser.add_argument("--frame", choices=[*timing.FRAMES, "both"], default="body", help="where the angular velocity is kept")
    parser.add_argument("--plugin", action="append", default=[], metavar="FILE", help="a method of your own; may be repeated")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write the table to this file, in full precision")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print.

    Raises
    ------
    UsageError
        For an unknown method, an unusable plug-in, or a table that cannot be written.
    """
    if arguments.csv is not None:
        check_writable(arguments.csv, "--csv", arguments.plugin)
    methods = chosen(arguments.methods, arguments.plugin)
    frames = timing.FRAMES if arguments.frame == "both" else (arguments.frame,)
    forms = len(timing.runs_of(methods, frames))
    if arguments.rounds * arguments.block * forms > LONGEST:
        raise UsageError(
            f"--rounds {arguments.rounds} of --block {arguments.block:g} s in {forms} forms take more than {LONGEST:g} s; "
            "ask for less"
        )
    host = provenance.host()
    print(f"{host['cpu']}, {host['cores']} cores; numba {host['numba']}. Nothing else should run meanwhile.", flush=True)
    compiling, timed = Stage("compiling", forms, "forms"), Stage("timing", forms * arguments.rounds, "samples")
    with watched(compiling, timed):
        timing.compile_forms(methods, frames)
        groups = timing.timing(
            methods, arguments.rounds, arguments.block, host, frames=frames, warmed=compiling.advance, progress=timed.advance
        )
    step = groups["step"]
    for frame in frames:
        print(f"\nAngular velocity kept in the {frame} frame; {step.attrs['clock']}, fastest of {arguments.rounds}:\n")
        print(as_text(cheapest_first(step, frame)))
    if arguments.csv is not None:
        rows = pd.concat([cheapest_first(step, frame) for frame in frames], ignore_index=True)
        write_text(arguments.csv, csv(rows))
        print(f"\nwritten to {arguments.csv}")
    return 0


def chosen(keys: list[str] | None, plugins: list[str]) -> list[Any]:
    """The methods with these keys, or all, with those of the plug-ins, tried first, and the two used for comparison.

    Raises
    ------
    UsageError
        If there is no such method, or a plug-in is unusable.
    """
    try:
        for remark in try_out(plugins) if plugins else ():
            print(remark, file=sys.stderr)
        added = [METHODS.load(path).key for path in plugins]
    except (FileNotFoundError, ValueError) as error:
        raise UsageError(f"--plugin: {error}") from error
    known = list(METHODS)
    for key in keys or []:
        if key not in known:
            raise UsageError(f"--methods: unknown method {key!r}; {METHODS.nearest(key)}")
    return [METHODS[key] for key in dict.fromkeys([*keys, *added, timing.UNIT, OTHER] if keys else known)]


def cheapest_first(step: xr.Dataset, frame: str) -> pd.DataFrame:
    """The rows of :func:`polhode.fits.step_times.in_frame`, sorted by the time of a step."""
    return in_frame(step, frame).sort_values("step", ignore_index=True)


def as_text(rows: pd.DataFrame) -> str:
    """The table for a terminal."""

    def marked(name: str, declared: str) -> Callable[[Any], str]:
        """A star marks the declared form."""
        return lambda row: f"{row[name]:.1f}{'*' if row['normalises'] == declared else ' '}".replace("nan", "--")

    columns = [
        Column("method", "method"),
        Column("ns/step", "step", ".1f", "r", none="--"),
        Column("to euler", "to_euler", ".2f", "r", none="--"),
        Column("to SPIRAL", "to_spiral", ".2f", "r", none="--"),
        Column("normalised", None, marked("normalised", "yes"), "r"),
        Column("not", None, marked("left_alone", "no"), "r"),
        Column("upper quartile", "upper_quartile", ".1f", "r", none="--"),
    ]
    return Table(rows, columns, notes=["* as declared by the method; the other columns refer to it"]).text()
