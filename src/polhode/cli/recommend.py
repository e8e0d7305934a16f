"""Recommend a method and a step size: for a body and a torque of your own, for colliding bodies, or for a test problem.

Four kinds of questions::

  polhode recommend --inertia 1 2 2.5 --omega 10 --torque lab --strength 0.5 --time 2 --error 1e-4 --torque-price 100
  polhode recommend my_case.yaml --error 1e-4
      All methods are run on this very problem. my_case.yaml, or my_case.py, holds body and torque; see docs/recommend.md.
  polhode recommend --torque-class friction --omega 10 --error 1e-4
      For bodies that are not known exactly, from the errors of random ones.
  polhode recommend --contact-time 1e-4 --error 1e-4
  polhode recommend --young 5e6 --poisson 0.3 --density 2500 --radius 1e-3 --speed 1 --error 1e-4
      For many bodies that collide, from the energy errors of the scenes; --error is that of the energy.
  polhode recommend --problem heavy_top --error 1e-5
      From the measurements of the study on the test problem most like yours.

--torque-price is the time of one evaluation of your torque over that of a step of direct Euler, which `polhode bench` measures.
"""

import argparse
import json
import re
import sys
import warnings
from math import isfinite
from pathlib import Path
from textwrap import wrap
from typing import Any

import pandas as pd
import xarray as xr

from polhode import advice as advising
from polhode.advice import AdviceError, files
from polhode.advice.answer import listed
from polhode.cli import UsageError, not_negative, positive
from polhode.fits.ranking import candidates, ladder, ranked
from polhode.interface.netcdf import group_names, read_dataset
from polhode.interface.progress import Stage, watched
from polhode.registry import nearest

#: Groups of cost.nc that are not problems.
OTHER_GROUPS = ("step", "operations", "published", "many_body", "many_body_times")
#: How many methods the table shows.
SHOWN = 5
#: A method slower by less than this fraction counts as equally good.
CLOSE = 0.1
#: Width of the text, columns.
WIDTH = 100


#: The options of each kind of question; the others serve all kinds.
KINDS: dict[str, tuple[str, ...]] = {
    "problem": ("problem",),
    "case": ("case", "inertia", "triangle", "omega", "orientation", "torque", "strength", "time", "laws", "limit"),
    "contacts": ("contact_time", "contacts", *advising.MATERIAL),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``polhode recommend``."""
    parser.add_argument("--error", type=positive, help="error to stay below, between 0 and 1")
    parser.add_argument(
        "--torque-price", type=not_negative, metavar="P", help="cost of one torque in steps of direct Euler (0)"
    )
    torques = parser.add_mutually_exclusive_group()
    torques.add_argument(
        "--one-torque", action="store_const", const=True, help="only methods with one torque per step: the default"
    )
    torques.add_argument(
        "--several-torques",
        dest="one_torque",
        action="store_const",
        const=False,
        help="also methods with several torques per step",
    )
    parser.add_argument("--all", action="store_true", help="list all methods, including the variants as published")
    parser.add_argument("--json", action="store_true", help="print the answer for machines")
    parser.add_argument(
        "--results",
        type=Path,
        metavar="FOLDER",
        help="folder of a run (results, or the released data if they have more states or bodies or there is no run)",
    )
    body = parser.add_argument_group("a body and a torque of your own")
    body.add_argument("case", nargs="?", type=Path, metavar="FILE", help="a .yaml or .py file with body and torque")
    body.add_argument(
        "--inertia",
        nargs="+",
        type=_finite,
        metavar="I",
        help="kg m^2: three principal moments, or a tensor: Ixx Iyy Izz Ixy Ixz Iyz as in LAMMPS, or its nine elements by rows",
    )
    body.add_argument(
        "--no-triangle", dest="triangle", action="store_const", const=False, help="allow moments that no rigid body has"
    )
    body.add_argument(
        "--omega", nargs="+", type=_finite, metavar="W", help="initial angular velocity, rad/s: its size, or three components"
    )
    body.add_argument(
        "--orientation", nargs=4, type=_finite, metavar=("Q0", "QX", "QY", "QZ"), help="initial quaternion, body to lab"
    )
    body.add_argument("--torque", metavar="CLASS", help="free, constant, time, lab, state, friction ...")
    body.add_argument("--strength", type=not_negative, metavar="S", help="angular acceleration by the torque over omega^2 (1)")
    body.add_argument("--time", type=positive, metavar="T", help="time to simulate, s")
    body.add_argument("--laws", action="store_true", help="answer for random bodies instead of one that is known")
    body.add_argument("--torque-class", metavar="CLASS", help="the same as --laws --torque CLASS")
    body.add_argument("--limit", type=positive, metavar="T", help="time limit of the answer, s of processor time (60)")
    contacts = parser.add_argument_group("many bodies that collide")
    contacts.add_argument("--contact-time", type=positive, metavar="T", help="duration of a contact, s; or else:")
    contacts.add_argument(
        "--contacts",
        type=positive,
        metavar="N",
        help="time in contact of each body, in contact times (longest of the scenes)",
    )
    contacts.add_argument("--young", type=positive, metavar="E", help="Young's modulus, Pa")
    contacts.add_argument("--poisson", type=_finite, metavar="NU", help="Poisson's ratio")
    contacts.add_argument("--density", type=positive, metavar="RHO", help="kg/m^3")
    contacts.add_argument("--radius", type=positive, metavar="R", help="of a sphere, m")
    contacts.add_argument("--speed", type=positive, metavar="V", help="at which it hits a wall, m/s")
    measured = parser.add_argument_group("a test problem of the study")
    measured.add_argument("--problem", metavar="KEY", help="test problem with a torque like yours, as in config.yaml")


def _finite(text: str) -> float:
    """An option that is a finite number."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from None
    if not isfinite(value):
        raise argparse.ArgumentTypeError(f"must be finite, got {text}")
    return value


def run(arguments: argparse.Namespace) -> int:
    """Find the answer and print it.

    Raises
    ------
    UsageError
        For a question that is incomplete, contradictory, or has no answer; the message says what to ask.
    """
    if arguments.torque_class is not None:
        if arguments.torque is not None and arguments.torque != arguments.torque_class:
            raise UsageError("--torque and --torque-class name two torques; name one")
        arguments.laws, arguments.torque, arguments.torque_class = True, arguments.torque_class, None
    kind = _kind(arguments)
    try:
        if kind == "problem":
            _of_problem(arguments)
            return 0
        options = {name: getattr(arguments, name) for name in (*KINDS["case"], *KINDS["contacts"])}
        with warnings.catch_warnings(record=True) as remarks:
            warnings.simplefilter("always", UserWarning)
            answer = advising.recommend(
                **options,
                error=arguments.error,
                torque_price=arguments.torque_price,
                one_torque=arguments.one_torque,
                everything=arguments.all,
                results=arguments.results,
                progress=True,
            )
    except AdviceError as error:
        raise _usage_error(error) from error
    for said in sorted({str(remark.message) for remark in remarks if remark.category is UserWarning}):
        print(f"polhode recommend: {said}", file=sys.stderr)
    print(_in_options(answer.to_json() if arguments.json else str(answer)))
    return 0


def _kind(arguments: argparse.Namespace) -> str:
    """What is asked: a kind of :data:`KINDS`."""
    given = {kind: [name for name in names if getattr(arguments, name) not in (None, False)] for kind, names in KINDS.items()}
    kinds = [kind for kind, names in given.items() if names]
    if len(kinds) > 1:
        first, second = (_option(given[kind][0]) for kind in kinds[:2])
        raise UsageError(f"{first} and {second} belong to different questions; ask one (--help shows the four kinds)")
    if not kinds:
        raise UsageError(
            "what for? A body of your own: --inertia, --omega, --torque, --time, or a FILE; colliding bodies: --contact-time; "
            "a test problem: --problem"
        )
    if arguments.error is None and not (kinds == ["case"] and arguments.case is not None):
        raise UsageError("--error is missing: the error to stay below, between 0 and 1")
    if arguments.case is not None and len(given["case"]) > 1:
        others = [name for name in given["case"] if name not in ("case", "time", "limit")]
        if others:
            raise UsageError(f"{_option(others[0])} is part of the case, which is in {arguments.case}")
    return kinds[0]


def _option(name: str) -> str:
    return "FILE" if name == "case" else f"--{name.replace('_', '-')}"


def _in_options(text: str, argument: str = r"`(\w+)`") -> str:
    """What :func:`polhode.recommend` says, with the arguments that it names as options."""
    names = {"error", "torque_price", "results", *KINDS["case"][1:], *KINDS["contacts"]}
    text = re.sub(argument, lambda match: _option(match[1]) if match[1] in names else match[0], text)
    return text.replace("triangle=False", "--no-triangle")


def _usage_error(error: AdviceError) -> UsageError:
    """An error of :func:`polhode.recommend` for the command line; its first word may be an argument."""
    return UsageError(_in_options(_in_options(str(error)), r"^(\w+)(?=[: ])"))


def _of_problem(arguments: argparse.Namespace) -> None:
    """The answer for a test problem, from the measurements of the study."""
    path = find_file(arguments.results)
    price = 0.0 if arguments.torque_price is None else arguments.torque_price
    alone = arguments.one_torque is not False
    question = (path, arguments.problem, arguments.error, price, alone, arguments.all)
    try:
        with watched(Stage("looking up")):
            text = as_json(*question) if arguments.json else advice(*question)
    except (OSError, RuntimeError, ValueError, LookupError, AttributeError) as error:
        # Any part of the file may be damaged: nothing else is read here.
        why = " ".join(str(error).split())
        raise UsageError(
            f"{path} is damaged or not a cost.nc of this version ({type(error).__name__}: {why[:200]}); {_again(path)}"
        ) from error
    print(text)


def _again(path: Path) -> str:
    """Advice on obtaining a replacement for the file ``path``."""
    if files.is_released(path):
        return "take it from the repository again"
    return f"delete it and make it again: ./reproduce {path}"


def find_file(results: Path | None = None, home: Path = files.HOME) -> Path:
    """The cost.nc of a run, see :func:`polhode.advice.files.find`.

    Raises
    ------
    UsageError
        If there is none.
    """
    try:
        return files.find("cost.nc", results, home)
    except AdviceError as error:
        raise _usage_error(error) from error


def as_json(path: Path, problem: str, error: float, price: float, one_torque: bool = True, everything: bool = False) -> str:
    """The answer of :func:`advice` for machines, with the same arguments."""
    data, rows, shown = _answer(path, problem, error, price, one_torque, everything)
    horizon = float(data.attrs["horizon"])

    def row(one: pd.Series) -> dict[str, Any]:
        values = {str(key): value.item() if hasattr(value, "item") else value for key, value in one.items()}
        values["dt"] = horizon / values["steps"]
        return {key: None if isinstance(value, float) and not isfinite(value) else value for key, value in values.items()}

    first = row(rows.iloc[0])
    content = {
        "method": first["method"],
        "label": first["label"],
        "dt": first["dt"],
        "steps": first["steps"],
        "error": error,
        "known_from": "measurements",
        "question": {"problem": problem, "error": error, "torque_price": price, "one_torque": one_torque},
        "best": first,
        "alternatives": [row(one) for _, one in shown.iterrows()],
        "remarks": _drift(first["method"], shown),
        "evidence": [_reason(rows.iloc[0], error), f"Error: {data.attrs['metric']}.", f"From {path}."],
    }
    return json.dumps(content, indent=2, allow_nan=False)


def advice(path: Path, problem: str, error: float, price: float, one_torque: bool = True, everything: bool = False) -> str:
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
    data, rows, shown = _answer(path, problem, error, price, one_torque, everything)
    root = read_dataset(path)
    first = rows.iloc[0]
    unit = float(data.attrs["price_unit"])
    cost = "a torque that costs next to nothing" if price == 0 else f"a torque that costs {price:g} steps of direct Euler"
    horizon = float(data.attrs["horizon"])
    measured = f"{root.attrs.get('cpu', 'an unknown processor')}, {str(root.attrs.get('date', 'no date'))[:10]}"
    released = files.is_released(path)
    paragraphs = [
        f"{data.attrs['label']} ({problem}; torque: {data.attrs['torque_class']}), {horizon:g} s, error below {error:g}, {cost}"
        + (f" ({_time(price * unit)})" if price > 0 else ""),
        f"Take {first['label']} ({first['method']}) with dt = {horizon:g} s / {first['steps']:.0f} = {_step(first, data)} s: "
        f"{first['torque_evaluations']:.0f} torques, {_time(first['seconds'])}.",
        *_drift(first["method"], shown),
    ]
    reasons = [
        _reason(first, error),
        f"Error: {data.attrs['metric']}.",
        f"Times: steps measured on {measured}, for {data.attrs['timed']}. On another machine `polhode bench` shows how "
        "steps compare.",
        f"From {path}" + (", which comes with polhode." if released else "."),
    ]
    close = [row["label"] for _, row in rows.iloc[1:].iterrows() if row["seconds"] < (1 + CLOSE) * first["seconds"]]
    if close:
        paragraphs.append(f"Within {CLOSE:.0%} of it, an order that another processor may reverse: {listed(close)}.")
    return "\n".join(
        [
            *("\n".join(wrap(text, WIDTH)) + "\n" for text in paragraphs),
            _table(shown, data, float(first["seconds"])),
            "\nHow this is known:",
            *("\n".join(wrap(text, WIDTH, initial_indent="* ", subsequent_indent="  ")) for text in reasons),
        ]
    )


def _drift(best: str, shown: pd.DataFrame) -> list[str]:
    """What the answers to the other questions say of the energy in long runs."""
    from polhode.advice.from_runs import drift  # imported here because nothing else in this answer needs the methods

    return drift(best, shown["method"])


def _answer(
    path: Path, problem: str, error: float, price: float, one_torque: bool, everything: bool
) -> tuple[xr.Dataset, pd.DataFrame, pd.DataFrame]:
    """The data of the problem, the methods that may be recommended, and those to show, soonest first."""
    known = [name for name in group_names(path) if name not in OTHER_GROUPS]
    if problem not in known:
        raise UsageError(f"--problem: {path} does not contain {problem!r}; {nearest(problem, known)}")
    if not 0 < error < 1:
        raise UsageError(f"--error must lie between 0 and 1, got {error:g}")
    if not (isfinite(price) and price >= 0):
        raise UsageError(f"--torque-price must not be negative, got {price:g}")
    data = read_dataset(path, problem)
    if price > 0 and not isfinite(float(data.attrs["price_unit"])):
        raise UsageError(f"--torque-price needs the time of a step of direct Euler, which {path} does not contain")
    eligible = candidates(data, one_torque)
    rows = ranked(data, error, price, eligible)
    if rows.empty:
        raise UsageError(f"--error: {_unreached(data, eligible, problem, error)}")
    shown = ranked(data, error, price, candidates(data, one_torque, as_published=True)) if everything else rows.head(SHOWN)
    return data, rows, shown


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
