"""Recommend a method and a step size, from the measurements of the study.

Names the method that reaches an error soonest on the test problem most like yours, for a torque as expensive as yours. The
errors are those of the study's runs; the answer says how far it rests on them. --torque-price is the time of one evaluation
of your torque over that of a step of direct Euler, which `polhode bench` measures.
"""

import argparse
from importlib.resources import files
from math import isfinite
from pathlib import Path
from textwrap import wrap

import pandas as pd
import xarray as xr

from polhode.cli import UsageError, not_negative, positive
from polhode.progress import Stage, watched
from polhode.registry import nearest
from polhode.study.analysis.ranking import candidates, ladder, ranked
from polhode.study.storage import group_names, read_dataset

SUMMARY = "which method and which step size for an error and a price of the torque"
#: Groups of cost.nc that are not problems.
OTHER_GROUPS = ("step", "operations", "published", "many_body", "many_body_times")
#: The project's own measurements, distributed with its source, for users without a run of their own.
RELEASED = Path("data/released/cost.nc")
#: How many methods the table shows.
SHOWN = 5
#: A method slower by less than this fraction counts as equally good.
CLOSE = 0.1
#: Width of the text, columns.
WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``polhode recommend``."""
    parser.add_argument(
        "--problem", required=True, metavar="KEY", help="test problem with a torque like yours, as in config.yaml"
    )
    parser.add_argument("--error", required=True, type=positive, help="relative error to stay below, between 0 and 1")
    parser.add_argument(
        "--torque-price", type=not_negative, default=0.0, help="cost of one torque in steps of direct Euler (%(default)s)"
    )
    parser.add_argument("--one-torque", action="store_true", help="only methods with one torque per step")
    parser.add_argument(
        "--results", type=Path, metavar="FOLDER", help="folder of a run (results if it exists, else the released data)"
    )
    parser.add_argument("--all", action="store_true", help="list all methods, including the variants as published")


def run(arguments: argparse.Namespace) -> int:
    """Look up the answer and print it.

    Raises
    ------
    UsageError
        For an unknown problem, an error or a price out of range, an error that no method reaches, or if there is no cost.nc
        to read.
    """
    path = find_file(arguments.results)
    try:
        with watched(Stage("looking up")):
            text = advice(path, arguments.problem, arguments.error, arguments.torque_price, arguments.one_torque, arguments.all)
    except (OSError, RuntimeError, ValueError, LookupError, AttributeError) as error:
        # Any part of the file may be damaged: nothing else is read here.
        why = " ".join(str(error).split())
        raise UsageError(
            f"{path} is damaged or not a cost.nc of this version ({type(error).__name__}: {why[:200]}); {_again(path)}"
        ) from error
    print(text)
    return 0


def _again(path: Path) -> str:
    """Advice on obtaining a replacement for the file ``path``."""
    if path.parts[-len(RELEASED.parts) :] == RELEASED.parts:
        return "take it from the repository again"
    return f"delete it and make it again: ./reproduce {path}"


def find_file(results: Path | None = None, home: Path = Path(__file__).parents[3]) -> Path:
    """The cost.nc of a run. If no run is named: that of ``results``, or else the released one; both are looked for in the
    working directory, in ``home`` and in the installed package.

    Raises
    ------
    UsageError
        If there is none; also if the named run has none, since another run would answer another question.
    """
    if results is not None:
        if not (results / "cost.nc").is_file():
            what = "holds no cost.nc" if results.is_dir() else "is not a folder"
            raise UsageError(
                f"--results: {results} {what}; make one with ./reproduce {results / 'cost.nc'}, or leave --results out for the "
                "times released with polhode"
            )
        return results / "cost.nc"
    installed = Path(str(files("polhode").joinpath(*RELEASED.parts)))
    places = [Path("results/cost.nc"), RELEASED, home / RELEASED, installed]
    for path in places:
        if path.is_file():
            return path
    raise UsageError(
        f"there is no {places[0]} and no {RELEASED}; make one: ./reproduce {places[0]}, or name the folder of a run: --results"
    )


def advice(path: Path, problem: str, error: float, price: float, one_torque: bool = False, everything: bool = False) -> str:
    """The answer in words, with the table it rests on.

    Parameters
    ----------
    path : path of cost.nc
    problem : key
    error : target error
    price : cost of one torque in steps of direct Euler
    one_torque : only methods with one torque in a step
    everything : all methods in the table, including the variants as published, which are never recommended
    """
    known = [name for name in group_names(path) if name not in OTHER_GROUPS]
    if problem not in known:
        raise UsageError(f"--problem: {path} does not contain {problem!r}; {nearest(problem, known)}")
    if not 0 < error < 1:
        raise UsageError(f"--error must lie between 0 and 1, got {error:g}")
    if not (isfinite(price) and price >= 0):
        raise UsageError(f"--torque-price must not be negative, got {price:g}")
    root, data = read_dataset(path), read_dataset(path, problem)
    if price > 0 and not isfinite(float(data.attrs["price_unit"])):
        raise UsageError(f"--torque-price needs the time of a step of direct Euler, which {path} does not contain")
    eligible = candidates(data, one_torque)
    rows = ranked(data, error, price, eligible)
    if rows.empty:
        raise UsageError(f"--error: {_unreached(data, eligible, problem, error)}")
    shown = ranked(data, error, price, candidates(data, one_torque, as_published=True)) if everything else rows.head(SHOWN)
    first = rows.iloc[0]
    unit = float(data.attrs["price_unit"])
    cost = "a torque that costs next to nothing" if price == 0 else f"a torque that costs {price:g} steps of direct Euler"
    horizon = float(data.attrs["horizon"])
    measured = f"{root.attrs.get('cpu', 'an unknown processor')}, {str(root.attrs.get('date', 'no date'))[:10]}"
    ours = path.parts[-len(RELEASED.parts) :] == RELEASED.parts
    paragraphs = [
        f"{data.attrs['label']} ({problem}; torque: {data.attrs['torque_class']}), {horizon:g} s, error below {error:g}, {cost}"
        + (f" ({_time(price * unit)})" if price > 0 else ""),
        f"Take {first['label']} ({first['method']}) with dt = {horizon:g} s / {first['steps']:.0f} = {_step(first, data)} s: "
        f"{first['torque_evaluations']:.0f} torques, {_time(first['seconds'])}.",
    ]
    reasons = [
        _reason(first, error),
        f"Error: {data.attrs['metric']}.",
        f"Times: steps measured on {measured}, for {data.attrs['timed']}. On another machine `polhode bench` shows how "
        "steps compare.",
        f"From {path}" + (", which comes with polhode." if ours else "."),
    ]
    close = [row["label"] for _, row in rows.iloc[1:].iterrows() if row["seconds"] < (1 + CLOSE) * first["seconds"]]
    if close:
        paragraphs.append(f"Within {CLOSE:.0%} of it, an order that another processor may reverse: {', '.join(close)}.")
    return "\n".join(
        [
            *("\n".join(wrap(text, WIDTH)) + "\n" for text in paragraphs),
            _table(shown, data, float(first["seconds"])),
            "\nHow this is known:",
            *("\n".join(wrap(text, WIDTH, initial_indent="* ", subsequent_indent="  ")) for text in reasons),
        ]
    )


def _reason(row: pd.Series, error: float) -> str:
    """The part of the measured ladder on which the step size rests."""
    if row["how"] == "between":
        beyond = (
            f"{row['coarser']:.4g} s (error {row['coarser_error']:.2g})"
            if isfinite(row["coarser_error"])
            else f"{row['coarser']:.4g} s, which blew up"
        )
        return (
            f"{row['label']} was run with dt = {row['finer']:.4g} s (error {row['finer_error']:.2g}) and {beyond}; all finer "
            "steps meet the error, and between the two it is taken as a power of dt."
        )
    if row["how"] == "coarsest":
        return (
            f"{row['label']} meets the error with every step that was run, up to dt = {row['finer']:.4g} s "
            f"(error {row['finer_error']:.2g}). A longer step may do as well."
        )
    return (
        f"EXTRAPOLATED: the finest step run was dt = {row['coarser']:.4g} s (error {row['coarser_error']:.2g}); the fitted "
        f"order leads on from there to {error:g}."
    )


def _step(row: pd.Series, data: xr.Dataset) -> str:
    """The step size as one would type it: the horizon divided into whole steps, never longer than the error allows."""
    return f"{float(data.attrs['horizon']) / row['steps']:.4g}"


def _table(rows: pd.DataFrame, data: xr.Dataset, fastest: float) -> str:
    head = ("method", "dt (s)", "steps", "torques", "time", "relative", "")
    marks = {"between": "", "coarsest": "coarsest step run", "extrapolated": "extrapolated"}
    body = [
        (
            f"{row['label']} ({row['method']})",
            _step(row, data),
            f"{row['steps']:.0f}",
            f"{row['torque_evaluations']:.0f}",
            _time(row["seconds"]),
            f"{row['seconds'] / fastest:.2f}",
            marks[row["how"]],
        )
        for _, row in rows.iterrows()
    ]
    widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]
    lines = []
    for name, *numbers, mark in (head, *body):
        aligned = [text.rjust(width) for text, width in zip(numbers, widths[1:-1], strict=True)]
        lines.append("  ".join(["", name.ljust(widths[0]), *aligned, mark]).rstrip())
    return "\n".join(lines)


def _time(seconds: float) -> str:
    """A time with its unit, three digits."""
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def _unreached(data: xr.Dataset, keys: list[str], problem: str, error: float) -> str:
    """The reason why there is no answer, with the smallest error that was measured."""
    measured = [(float(x.error.min()), key) for key in keys if (x := ladder(data, key)).error.size]
    best, key = min(measured, default=(float("inf"), "none"))
    return (
        f"no method reaches {error:g} on {problem} within the step sizes that were run and what may be extrapolated; "
        f"the smallest error measured is {best:.2g} ({key}). Ask for a larger one"
    )
