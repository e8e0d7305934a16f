"""Selection, rounding and naming of the numbers in the text."""

import re
from collections.abc import Callable, Iterable, Sequence
from math import ceil, floor, inf, isfinite, log10, nan

import xarray as xr

from polhode.fits.seed_statistics import Estimate
from polhode_study.inputs import Inputs
from polhode_study.macro_names import macro_name as macro_name
from polhode_study.report import selection
from polhode_study.report.latex import NOT_AVAILABLE, decimal, escape, number

#: Representation of infinity.
INFINITE = r"$\infty$"


def factor(value: float) -> str:
    """A ratio as written in text: two digits, an integer above ten."""
    if not isfinite(value):
        return NOT_AVAILABLE
    if value <= 0:
        return number(value, 2)
    rounded = round(value, 1 - floor(log10(value)))
    return rf"\num{{{rounded:.0f}}}" if rounded >= 10 else rf"\num{{{rounded:.{max(0, 1 - floor(log10(rounded)))}f}}}"


def factor_or_infinite(value: float) -> str:
    """A ratio like :func:`factor`, which may be infinite."""
    return INFINITE if value == inf else factor(value)


def upper(value: float, digits: int) -> float:
    """``value`` rounded up to a number of significant digits, for a bound stated in the text."""
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


#: How what follows the comma in a label stands in a sentence, where another comma would end the name; others stand before it.
SPOKEN = {
    "predicted": "{} with a prediction",
    "last torque": "{} with the last torque",
    "kick-drift-kick": "{} as kick-drift-kick",
    "drift-kick-drift": "{} as drift-kick-drift",
    "best order": "{} with the best order",
    "4th order": "{} of 4th order",
    "Buss rotation": "{} with the Buss rotation",
    "Barker rotation": "{} with the Barker rotation",
    "mid-step torque": "{} with the mid-step torque",
    "old torque": "{} with the old torque",
    "new torque": "{} with the new torque",
}


def labels_of(*groups: xr.Dataset) -> dict[str, str]:
    """The labels of all methods of some data, by key."""
    return {
        str(key): str(label)
        for data in groups
        for key, label in zip(data["integrator"].values, data["label"].values, strict=True)
    }


def without_comma(label: str) -> str:
    """The name of a method as written in a sentence: in the words of its label, without a comma."""
    first, comma, second = label.partition(", ")
    return SPOKEN.get(second, second + " {}").format(first) if comma else label


def spoken(inputs: Inputs, method: str) -> str:
    """The name of a method inside a sentence, without a comma of its own."""
    return escape(without_comma(selection.label(inputs, method)))


def spoken_list(inputs: Inputs, methods: Iterable[str], none: str = "none") -> str:
    """The names of methods as a list in a sentence, in the order of tables."""
    return enumerated((spoken(inputs, method) for method in inputs.in_order(methods)), none)


def signed(value: float, low: float = nan, high: float = nan) -> str:
    """A number of two digits with its sign; if its interval includes zero, in brackets how large it may be."""
    if low <= 0 <= high:
        return rf"(${{<}}\,${signed(max(-low, high)).rpartition(',')[2]})"
    return rf"${'+' if value > 0 else '-'}$\,\num{{{float(f'{abs(value):.2g}'):g}}}" if isfinite(value) else NOT_AVAILABLE


def power(value: float) -> str:
    """A power of ten."""
    return rf"\num{{{value:.0e}}}" if isfinite(value) else NOT_AVAILABLE


def with_interval(name: str, estimate: Estimate, form: Callable[[float], str], end: str = "") -> dict[str, str]:
    """Macros NAME, NAMELow and NAMEHigh, each followed by ``end``, for an estimate."""
    parts = {"": estimate.value, "Low": estimate.low, "High": estimate.high}
    return {f"{name}{bound}{end}": form(value) for bound, value in parts.items()}


def enumerated(items: Iterable[str], none: str = "none") -> str:
    """A list of names as written in a sentence, with semicolons if a name has a comma of its own."""
    names = list(items)
    if not names:
        return none
    comma, last = ("; ", "; and ") if any(", " in name for name in names) else (", ", " and ")
    return names[0] if len(names) == 1 else comma.join(names[:-1]) + last + names[-1]


def as_many(names: Sequence[str], most: int, others: str = "more") -> str:
    """A list of as many names as ``most`` characters hold, and the number of the rest; of ``others`` if none is named."""
    for count in range(len(names), -1, -1):
        rest = len(names) - count
        text = enumerated([*names[:count], *([f"{rest} {'more' if count else others}"] if rest else [])], "")
        if len(text) <= most:
            break
    return text


def ratio(value: float) -> str:
    """Two decimals near 1, two digits beyond."""
    return INFINITE if value == inf else decimal(value, 2) if value < 9.95 else number(value, 2)
