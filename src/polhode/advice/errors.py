"""The error of a question that cannot be answered as it was asked."""

from collections.abc import Callable
from typing import Any


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
