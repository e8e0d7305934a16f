"""The error of a question that cannot be answered as it was asked."""

import re
from collections.abc import Callable
from math import radians
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polhode.advice.halving import Halved

_NUMBER = r"\s*((?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*"
#: Units of a time, s.
TIMES = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
#: An angle and a time with its unit.
WITH_UNIT = re.compile(_NUMBER + r"(?:(deg|degrees?|°)|rad)\s*", re.IGNORECASE)
TIME_WITH_UNIT = re.compile(_NUMBER + rf"({'|'.join(TIMES)})\s*")


class Angle(float):
    """An error of the orientation alone, rad. A number without a unit bounds the error of the angular velocity, too."""


class AdviceError(ValueError):
    """A question without an answer; the message says what to ask instead, with names of arguments in backticks."""


class TimeOver(AdviceError):
    """The time limit is over; ``halved`` is what runs with half the step say, if any (:mod:`polhode.advice.halving`)."""

    halved: "Halved | None" = None


class BeyondLaws(AdviceError):
    """The random bodies were not run for so long."""


def checked(check: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What the function ``check`` returns for these arguments; raises its TypeError and ValueError as :class:`AdviceError`."""
    try:
        return check(*arguments, **options)
    except (TypeError, ValueError) as error:
        raise AdviceError(str(error)) from None


def in_seconds(value: Any) -> Any:
    """A time written with its unit, as in ``0.25 s``, ``250 ms`` or ``2 h``, in s; anything else unchanged."""
    match = TIME_WITH_UNIT.fullmatch(value) if isinstance(value, str) else None
    return float(match[1]) * TIMES[match[2]] if match else value


def in_radians(value: Any) -> Any:
    """An :class:`Angle` written with its unit, as in ``0.01 deg`` or ``1e-4 rad``; anything else unchanged."""
    match = WITH_UNIT.fullmatch(value) if isinstance(value, str) else None
    if not match:
        return value
    return Angle(radians(float(match[1])) if match[2] else match[1])
