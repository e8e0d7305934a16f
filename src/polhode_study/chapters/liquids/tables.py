"""Table of liquids at constant energy: what each method does."""

from collections.abc import Callable
from functools import partial
from math import inf, isfinite
from typing import Any

import pandas as pd

from polhode.fits import liquid_drifts
from polhode.interface.table import Column, Table
from polhode_study.chapters.liquids import frames
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report.latex import NOT_AVAILABLE, decimal
from polhode_study.report.tables import of_methods

#: The step in fs at which drifts are compared.
STATED = 2.0


def liquids(inputs: Inputs) -> Table:
    """A table of the drift at one step, the largest steps, scatter, limit and losses; the file has all methods and steps."""
    every = liquid_drifts.outcomes(frames.runs(inputs))

    def of_stated(head: str, over: str, form: Callable[[Any], str], align: str = "c") -> Column:
        """A column on the runs with one step."""
        known: Callable[[Any], str] = lambda run: NOT_AVAILABLE if run is None else form(run)  # noqa: E731
        return Column(head, lambda key: every[key].get(STATED), known, align, over=over)

    def largest(allowed: float) -> Column:
        form: Callable[[Any], str] = lambda runs: _steps(liquid_drifts.largest_steps(runs, allowed))  # noqa: E731
        return Column(rf"\num{{{allowed:g}}}", every.get, form, "c", over="largest step (fs) by drift")

    columns = [
        of_stated(f"at {STATED:g}\\,fs", "drift", frames.signed, "r"),
        *map(largest, frames.ALLOWED),
        of_stated(r"($10^{-4}/$fs$^2$)", "rms", lambda run: decimal(1e4 * run.rms / STATED**2, 2)),
        Column("(fs)", None, partial(_limit, inputs), over="limit"),
        Column("(fs; ps)", every.get, frames.lost, over="lost"),
    ]
    return of_methods(inputs, frame(inputs), every, inputs.label, columns, tight=True)


def frame(inputs: Inputs) -> pd.DataFrame:
    """All methods and steps, a row each."""
    rows: list[dict[str, Any]] = []
    for key, of_method in liquid_drifts.outcomes(frames.runs(inputs)).items():
        for dt, of_step in of_method.items():
            rows.append(
                {
                    "method": key,
                    "dt_fs": dt,
                    "drift_kT_per_ns": of_step.drift,
                    "low": of_step.low,
                    "high": of_step.high,
                    "block_error": of_step.block_error,
                    "rms_kT": of_step.rms,
                    "starts": of_step.starts,
                    "lost": of_step.lost,
                    "lost_at_fs": of_step.lost_at,
                    "lost_by": {1: "heating", -1: "cooling", 0: ""}[of_step.lost_by],
                }
            )
    return pd.DataFrame(rows)


def _steps(ends: tuple[float, float]) -> str:
    """The largest step that is shown to be short enough, and after a dash the largest that may be."""
    shown, possible = (f"{end:g}" if end else "--" for end in ends)
    return shown if shown == possible else f"{shown}\\,({possible})"


def _limit(inputs: Inputs, key: str) -> str:
    try:
        limit = frames.limit(inputs, key)
    except NotInRun:
        return NOT_AVAILABLE
    return "none" if limit == 0 else r"$\infty$" if limit == inf else decimal(limit, 1) if isfinite(limit) else NOT_AVAILABLE
