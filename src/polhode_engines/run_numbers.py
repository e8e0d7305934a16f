"""Words of a file as numbers, times and units: what C, Fortran, Python, spreadsheets and loggers write.

Times are subtracted from the first one exactly, before they become floats: a float holds a time since 1970 to a quarter of a
microsecond only.
"""

import decimal
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from itertools import pairwise

import numpy as np

#: A number of C, Fortran (1.0D-3, 1.0-103) and Python.
NUMBER = re.compile(r"(?P<mantissa>[+-]?(?:\d+\.?\d*|\.\d+))(?:[eEdDqQ](?P<power>[+-]?\d+)|(?P<bare>[+-]\d{3}))?", re.ASCII)
HEXADECIMAL = re.compile(r"[+-]?0x[0-9a-f]*\.?[0-9a-f]*(?:p[+-]?\d{1,4})?", re.I | re.ASCII)
#: What programs write in the place of a number that they do not have, or that does not fit.
MISSING = re.compile(r"[+-]?(?:nan(?:\(\w*\))?|inf(?:inity)?|\d?\.?#\w+)|\*+|n/?a|null|none|-+|", re.I)
#: ISO 8601 with the day of the month or of the year, or a time of day.
STAMP = re.compile(
    r"(?:(?P<year>\d{4})[-/](?:(?P<month>\d\d)[-/](?P<day>\d\d)|(?P<ordinal>\d{3}))[T ])?"
    r"(?P<hours>\d{1,2}):(?P<minutes>\d\d)(?::(?P<seconds>\d\d(?:[.,]\d+)?))?"
    r" ?(?:Z|UTC|(?P<zone>[+-]\d\d):?(?P<zone_minutes>\d\d))?",
    re.I | re.ASCII,
)
#: Units of time in s, and of angles in rad.
SECONDS = {
    Decimal(factor): names.split()
    for factor, names in {
        "1": "s sec secs second seconds",
        "1e-3": "ms msec msecs millisec millisecond milliseconds",
        "1e-6": "us usec usecs microsec microsecond microseconds",
        "1e-9": "ns nsec nsecs nanosec nanosecs nanosecond nanoseconds",
        "1e-12": "ps picosecond picoseconds",
        "1e-15": "fs femtosecond femtoseconds",
        "60": "min mins minute minutes",
        "3600": "h hr hrs hour hours",
        "86400": "d day days",
    }.items()
}
TIME_UNITS = {name: factor for factor, names in SECONDS.items() for name in names}
ANGLE_UNITS = {
    **dict.fromkeys(("rad", "rads", "radian", "radians", "1"), 1.0),
    **dict.fromkeys(("deg", "degs", "degree", "degrees"), math.pi / 180),
    **dict.fromkeys(("rev", "revs", "revolution", "revolutions", "turn", "turns", "cycles"), 2 * math.pi),
    "mrad": 1e-3,
    "urad": 1e-6,
    "mdeg": math.pi / 180e3,
    "arcsec": math.pi / 648e3,
}
#: Short names of units of angular velocity.
SHORT_RATES = {
    "dps": "deg/s",
    "degps": "deg/s",
    "degs": "deg/s",
    "mdps": "mdeg/s",
    "radps": "rad/s",
    "rads": "rad/s",
    "rpm": "rev/min",
    "hz": "rev/s",
}
#: Significant digits of numbers in double and in single precision.
DIGITS_OF_DOUBLES, DIGITS_OF_SINGLES = 17, 9
#: Larger numbers are no angular velocities and no quaternions; their squares overflow.
LARGEST = 1e100


def number(word: str) -> float:
    """A number as C, Fortran and Python write it; NaN if it is none, not finite, or larger than :data:`LARGEST`."""
    if match := NUMBER.fullmatch(word):
        value = float(f"{match['mantissa']}e{match['power'] or match['bare'] or 0}")
    elif HEXADECIMAL.fullmatch(word):
        try:
            value = float.fromhex(word)
        except (OverflowError, ValueError):
            return math.nan
    else:
        return math.nan
    return value if abs(value) <= LARGEST else math.nan


def is_number(word: str) -> bool:
    """Whether a word is a number, or stands in the place of a missing one, as "nan", "n/a" and the empty word do."""
    return bool(NUMBER.fullmatch(word) or MISSING.fullmatch(word) or HEXADECIMAL.fullmatch(word))


def is_value(word: str) -> bool:
    """Whether a word is a number, or a time stamp."""
    return is_number(word) or bool(STAMP.fullmatch(word))


def unit_of(words: Iterable[str]) -> float:
    """The unit of the last printed place of the largest of these numbers; 0 if they have all digits of double precision.

    Whole numbers and words that are no numbers do not count; 0 if nothing else is left, or zeros alone.
    """
    digits, power = 0, -400
    for word in words:
        match = NUMBER.fullmatch(word)
        if not match or ("." not in word and not match["power"]):
            continue  # a whole number is exact
        figures = match["mantissa"].lstrip("+-").replace(".", "").lstrip("0")
        value = abs(number(word))
        digits = max(digits, len(figures))
        if value and math.isfinite(value):
            power = max(power, math.floor(math.log10(value)))
    if digits >= DIGITS_OF_DOUBLES - 1 or power == -400:
        return 0.0
    return float(10.0 ** (power - digits + 1))


def all_single(values: np.ndarray, unit: float) -> bool:
    """Whether all of these, an array of any shape, are numbers of single precision, as far as their last places show it.

    ``unit`` is the unit of the last place, as of :func:`unit_of`. False if that has too few digits to show it, if all are whole
    numbers, or if there is none.
    """
    fine = values[np.isfinite(values)]
    if not fine.size or unit > 10.0 ** (1 - DIGITS_OF_SINGLES) * 10 * np.abs(fine).max():
        return False
    with np.errstate(all="ignore"):
        return bool((np.abs(fine - fine.astype(np.float32)) <= 0.51 * unit).all()) and not bool((fine == np.round(fine)).all())


def exact(word: str) -> Decimal | None:
    """A time exactly as it is written, in its unit; of a time stamp the seconds since the year 1. None if it is none.

    Of a time stamp without a date they are the seconds since midnight. None also of decimal numbers whose size is 1e100 or
    more, or below 1e-99.
    """
    if match := NUMBER.fullmatch(word):
        try:
            value = Decimal(f"{match['mantissa']}e{match['power'] or match['bare'] or 0}")
        except ArithmeticError:
            return None
        return value if abs(value.adjusted()) < 100 or not value else None
    if HEXADECIMAL.fullmatch(word) and math.isfinite(number(word)):
        return Decimal(number(word))
    if not (match := STAMP.fullmatch(word)):
        return None
    days = 0
    try:
        if match["ordinal"]:
            days = date(int(match["year"]), 1, 1).toordinal() + int(match["ordinal"])
        elif match["year"]:
            days = date(int(match["year"]), int(match["month"]), int(match["day"])).toordinal()
    except ValueError:
        return None
    minutes = (days * 24 + int(match["hours"])) * 60 + int(match["minutes"])
    if match["zone"]:
        ahead = abs(int(match["zone"])) * 60 + int(match["zone_minutes"])
        minutes += ahead if match["zone"].startswith("-") else -ahead
    return Decimal(minutes * 60) + Decimal((match["seconds"] or "0").replace(",", "."))


def times_of(words: Sequence[str], seconds: Decimal | None) -> tuple[np.ndarray, float]:
    """Times (n,) in s, or in the unit of the file where it is not known, and the unit of their last place in the same.

    Times that are far from zero, compared with their span, are counted from the first.

    Parameters
    ----------
    words : the times as they are written; what is none becomes NaN
    seconds : the unit in s, or None where the file does not say it
    """
    with decimal.localcontext(prec=120):
        values = [exact(word) for word in words]
        known = [value for value in values if value is not None]
        if not known:
            return np.full(len(words), math.nan), 0.0
        is_far = abs(known[0]) > abs(known[-1] - known[0])
        start, factor = (known[0] if is_far else Decimal(0)), seconds or Decimal(1)
        t = np.array([math.nan if value is None else float((value - start) * factor) for value in values])
        if all(value == value.to_integral_value() for value in known):
            unit = 0.0 if _is_regular(known) else 1.0
        elif not is_far:
            unit = unit_of(words)
        else:
            unit = _unit_of_far(known)
        return t, unit * float(factor)


def _is_regular(values: Sequence[Decimal]) -> bool:
    """Whether all differences are multiples of the smallest one: no rounding shows."""
    steps = [b - a for a, b in pairwise(values) if b != a]
    smallest = min(map(abs, steps), default=Decimal(1))
    return all(step % smallest == 0 for step in steps)


def _unit_of_far(values: Sequence[Decimal]) -> float:
    """The unit of the last place of times far from zero: of what is printed, or that of a float, if floats were printed."""
    places = max(-int(value.as_tuple().exponent) for value in values)
    quantum = Decimal(1).scaleb(-places)
    if all(Decimal(float(value)).quantize(quantum) == value for value in values):
        return max(float(quantum), 2.0**-52 * float(abs(values[0])))
    return float(quantum)


def plain_unit(text: str) -> str:
    """A unit in plain letters: deg/s for °/s, degrees per second and deg s^-1."""
    text = text.strip().lower()
    for sign, letters in (("°", "deg"), ("º", "deg"), ("µ", "u"), ("μ", "u"), ("\u2212", "-")):
        text = text.replace(sign, letters)
    text = re.sub(r"[\s_]+per[\s_]+", "/", text).replace("⁻¹", "^-1")
    text = re.sub(r"^(\w+)[\s*.·_]+(\w+?)\^?-1$", r"\1/\2", text)
    return re.sub(r"^(\w+)_(\w+)$", r"\1/\2", re.sub(r"\s", "", text))


def seconds_of(unit: str) -> Decimal | None:
    """The unit of time with this name, in s; None if it is none."""
    return TIME_UNITS.get(plain_unit(unit))


def radians_of(unit: str) -> float | None:
    """The unit of angles with this name, in rad; None if it is none."""
    return ANGLE_UNITS.get(plain_unit(unit)) if unit != "1" else None


def rate_of(unit: str) -> float | None:
    """The unit of angular velocities with this name, such as deg/s or rpm, in rad/s; None if it is none."""
    text = plain_unit(unit)
    angle, _, time = SHORT_RATES.get(text, text).partition("/")
    if angle in ANGLE_UNITS and time in TIME_UNITS:
        return ANGLE_UNITS[angle] / float(TIME_UNITS[time])
    return None


def settings_of(text: str) -> Iterator[float]:
    """The numbers in a setting such as "(1, 2, 3)"; NaN for each word that is none."""
    for word in re.split(r"[,;\s]+", text.strip("()[]{} ")):
        yield number(word.strip("()[]"))
