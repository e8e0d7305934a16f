"""How the numbers of the text are picked from the results, rounded and named."""

import re
from math import ceil, floor, isfinite, log10, nan

import numpy as np
import xarray as xr

from polhode.study.tables.latex import NOT_AVAILABLE, in_range, number

_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


def macro_name(key: str) -> str:
    """A method key as part of a macro name, letters only: ``buss2000_delvalle2024`` -> ``BussPublished``.

    The year of the publication is left out, other digits are spelt.
    """
    parts = [part for part in key.replace("_delvalle2024", "_published").split("_") if part]
    words = [re.sub(r"(19|20)\d\d$", "", part) for part in parts]
    return "".join(re.sub(r"\d", lambda m: _DIGITS[int(m[0])], word[:1].upper() + word[1:]) for word in words)


def at(data: xr.Dataset, name: str, key: str, **where: int) -> float:
    """One value of a method, NaN where the run has none."""
    if name not in data or key not in data["integrator"].values:
        return nan
    return float(data[name].sel(integrator=key).isel(where).values)


def order_text(data: xr.Dataset, quantity: str, key: str) -> str:
    """The fitted order of q or omega of a method, and in brackets the range over shifted fits where two decimals show it."""
    order, low, high = (at(data, f"{quantity}_order{suffix}", key) for suffix in ("", "_low", "_high"))
    return in_range(order, low, high)


def peak(data: xr.Dataset, name: str, key: str) -> float:
    """The largest value of a method, NaN where the run has none."""
    if name not in data or key not in data["integrator"].values:
        return nan
    values = data[name].sel(integrator=key).values
    return float(np.nanmax(values)) if np.isfinite(values).any() else nan


def quotient(a: float, b: float) -> float:
    """a / b, NaN where that says nothing."""
    return a / b if isfinite(a) and isfinite(b) and b != 0 else nan


def factor(value: float) -> str:
    """A ratio as one says it: two digits, whole above ten."""
    if not isfinite(value):
        return NOT_AVAILABLE
    if value <= 0:
        return number(value, 2)
    rounded = round(value, 1 - floor(log10(value)))
    return rf"\num{{{rounded:.0f}}}" if rounded >= 10 else rf"\num{{{rounded:.{max(0, 1 - floor(log10(rounded)))}f}}}"


def upper(value: float, digits: int) -> float:
    """``value`` rounded up to so many significant digits, for a number that the text states as a bound."""
    if not isfinite(value) or value == 0:
        return value
    unit = 10.0 ** (floor(log10(abs(value))) + 1 - digits)
    return ceil(value / unit - 1e-9) * unit


def plain(value: float) -> str:
    """A number without trailing zeros, for step sizes and times."""
    if not isfinite(value):
        return NOT_AVAILABLE
    text = f"{value:.3g}" if value == 0 or 1e-2 <= abs(value) < 1e4 else f"{value:.2e}"
    return rf"\num{{{re.sub(r'[.]?0+e', 'e', text) if 'e' in text else text}}}"
