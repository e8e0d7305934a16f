"""Table of liquids at constant energy: what each method does."""

from math import inf, isfinite, nan
from typing import Any

import pandas as pd

from polhode.fits import liquid_drifts
from polhode.study.chapters.liquids import frames
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report.latex import NOT_AVAILABLE, decimal, escape, grouped_rows, spanning, tabular

#: The step in fs at which drifts are compared.
STATED = 2.0


def liquids(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the drift at one step, the largest steps, scatter, limit and losses; the file has all methods and steps."""
    every = liquid_drifts.outcomes(frames.runs(inputs))

    def row(key: str) -> list[str]:
        of_method = every[key]
        stated = of_method.get(STATED)
        drift = NOT_AVAILABLE if stated is None else frames.signed(stated)
        rms = NOT_AVAILABLE if stated is None or not isfinite(stated.rms) else decimal(1e4 * stated.rms / STATED**2, 2)
        steps = [_steps(liquid_drifts.largest_steps(of_method, allowed)) for allowed in frames.ALLOWED]
        return [escape(inputs.label(key)), drift, *steps, rms, _limit(inputs, key), frames.lost(of_method)]

    head = ["method", f"at {STATED:g}\\,fs", *(rf"\num{{{allowed:g}}}" for allowed in frames.ALLOWED)]
    above = spanning("drift", ("largest step (fs) by drift", 3), "rms", "limit", "lost")
    head += [r"($10^{-4}/$fs$^2$)", "(fs)", "(fs; ps)"]
    return frame(inputs), tabular("@{}lrccccll@{}", head, grouped_rows(inputs, list(every), row)).replace(
        "\\toprule\n", "\\toprule\n" + above, 1
    )


def frame(inputs: Inputs) -> pd.DataFrame:
    """All methods and steps, a row each."""
    try:
        predicted = frames.predicted(inputs)
    except NotInRun:
        predicted = {}
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
                    "predicted": predicted.get(key, {}).get(dt, nan),
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
