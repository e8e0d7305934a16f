"""Advice from the measurements of the study: a test problem, with the errors and the times in cost.nc."""

from math import isfinite
from pathlib import Path
from typing import Any

import xarray as xr

from polhode.advice import files
from polhode.advice.answer import SHOWN, Choice, Recommendation, duration, price_in_words
from polhode.advice.errors import AdviceError
from polhode.advice.from_runs import drift
from polhode.advice.prices import USUAL
from polhode.fits.ranking import candidates, ladder, ranked
from polhode.interface.netcdf import group_names, read_dataset
from polhode.registry import nearest

#: Groups of cost.nc that are not problems.
OTHER_GROUPS = ("step", "operations", "published", "many_body", "many_body_times")
#: What the table says of a step, by how it was found.
MARKS = {"between": "", "coarsest": "coarsest step run", "extrapolated": "extrapolated"}


def from_measurements(
    path: Path, problem: str, error: float, torque_price: float | None = None, one_torque: bool = True, everything: bool = False
) -> Recommendation:
    """The answer for a test problem of the study.

    Parameters
    ----------
    path : path of cost.nc
    problem : key
    error : target error, between 0 and 1
    torque_price : cost of one torque in steps of direct Euler; nothing if none is named and the run has not timed direct Euler
    one_torque : only methods with one torque in a step
    everything : also the variants as published, which are never recommended

    Raises
    ------
    AdviceError
        For an unknown problem, an error that no method reaches, or a price without a unit.
    """
    known = [name for name in group_names(path) if name not in OTHER_GROUPS]
    if problem not in known:
        raise AdviceError(f"problem: {path} does not contain {problem!r}; {nearest(problem, known)}")
    if not 0 < error < 1:
        raise AdviceError(f"error must lie between 0 and 1, got {error:g}")
    data, root = read_dataset(path, problem), read_dataset(path)
    unit, horizon = float(data.attrs["price_unit"]), float(data.attrs["horizon"])
    if torque_price is None:
        torque_price = USUAL if isfinite(unit) else 0.0
    if torque_price > 0 and not isfinite(unit):
        raise AdviceError(f"torque_price needs the time of a step of direct Euler, which {path} does not contain")
    eligible = candidates(data, one_torque)
    rows = ranked(data, error, torque_price, eligible)
    if rows.empty:
        raise AdviceError(f"error: {_unreached(data, eligible, problem, error)}")
    first = rows.iloc[0]
    if everything:
        rows = ranked(data, error, torque_price, candidates(data, one_torque, as_published=True))
    choices = [_choice(row, horizon, float(first["seconds"])) for _, row in rows.iterrows()]
    best = next(choice for choice in choices if choice.method == first["method"])
    measured = f"{root.attrs.get('cpu', 'an unknown processor')}, {str(root.attrs.get('date', 'no date'))[:10]}"
    return Recommendation(
        question=f"{data.attrs['label']} ({problem}; torque: {data.attrs['torque_class']}), {horizon:g} s, "
        f"error at the end below {error:g}, {price_in_words(torque_price, unit)}",
        best=best,
        sentence=f"Take {best.label} ({best.method}) with dt = {horizon:g} s / {best.steps} = {best.dt:.4g} s: "
        f"{best.torques} torques, {duration(first['seconds'])}.",
        interval=(float(first["finer"]), float(first["coarser"])),
        interval_means=_reason(first, error),
        alternatives=choices,
        evidence=[
            f"Error: {data.attrs['metric']}.",
            f"Times: steps measured on {measured}, for {data.attrs['timed']}. On another machine `polhode bench` shows how "
            "steps compare.",
            f"From {path}" + (", which comes with polhode." if files.is_released(path) else "."),
        ],
        error=error,
        kind="measurements",
        asked={"problem": problem, "error": error, "torque_price": torque_price, "one_torque": one_torque},
        remarks=drift(best.method, [choice.method for choice in choices[:SHOWN]]),
        shown=len(choices) if everything else SHOWN,
    )


def _choice(row: Any, horizon: float, fastest: float) -> Choice:
    """A row of a ranking; the horizon is divided into whole steps, never longer than the error allows."""
    numbers = {name: float(row[name]) for name in ("steps", "torque_evaluations", "seconds")}
    return Choice(
        str(row["method"]),
        str(row["label"]),
        horizon / numbers["steps"],
        round(numbers["steps"]),
        round(numbers["torque_evaluations"]),
        numbers["seconds"],
        numbers["seconds"] / fastest,
        mark=MARKS[str(row["how"])],
    )


def _reason(row: Any, error: float) -> str:
    """The measured steps on which the step size rests."""
    if row["how"] == "between":
        beyond = (
            f"{row['coarser']:.4g} s (error {row['coarser_error']:.2g})"
            if isfinite(float(row["coarser_error"]))
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


def _unreached(data: xr.Dataset, keys: list[str], problem: str, error: float) -> str:
    """The reason why there is no answer, with the smallest error that was measured."""
    measured = [(float(x.error.min()), key) for key in keys if (x := ladder(data, key)).error.size]
    best, key = min(measured, default=(float("inf"), "none"))
    return (
        f"no method reaches {error:g} on {problem} within the step sizes that were run and what may be extrapolated; "
        f"the smallest error measured is {best:.2g} ({key}). Ask for a larger one"
    )
