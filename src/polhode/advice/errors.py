"""The error of a question that cannot be answered as it was asked."""

import re
from collections.abc import Callable
from math import radians
from typing import Any

#: An angle in degrees.
DEGREES = re.compile(r"\s*((?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(?:deg|degrees?|°)\s*", re.IGNORECASE)


class AdviceError(ValueError):
    """A question without an answer; the message says what to ask instead, with names of arguments in backticks."""


class TimeOver(AdviceError):
    """The time limit is over."""


class BeyondLaws(AdviceError):
    """The random bodies were not run for so long."""


def checked(check: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What a check of arguments returns; its errors are those of a question."""
    try:
        return check(*arguments, **options)
    except (TypeError, ValueError) as error:
        raise AdviceError(str(error)) from None


def in_radians(value: Any) -> Any:
    """An angle written in degrees, as in ``0.01 deg``, in rad; anything else unchanged."""
    match = DEGREES.fullmatch(value) if isinstance(value, str) else None
    return radians(float(match[1])) if match else value
