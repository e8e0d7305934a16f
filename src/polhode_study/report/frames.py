"""Rows of frames as plain dictionaries, from which tables are built."""

from collections.abc import Iterable
from math import isfinite
from typing import Any

import pandas as pd


def keyed(frame: pd.DataFrame, *names: str) -> dict[Any, dict[str, Any]]:
    """The rows of a frame by the values of some columns: the value of one, the tuple of several."""
    rows: list[dict[str, Any]] = frame.to_dict("records")  # type: ignore[assignment]
    return {row[names[0]] if len(names) == 1 else tuple(row[name] for name in names): row for row in rows}


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame."""
    rows: list[dict[str, Any]] = frame.to_dict("records")  # type: ignore[assignment]
    return rows


def only_finite(values: Iterable[float]) -> list[float]:
    """The finite numbers among ``values``."""
    return [float(v) for v in values if isfinite(float(v))]
