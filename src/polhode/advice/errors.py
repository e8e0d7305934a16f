"""The error of a question that cannot be answered as it was asked."""


class AdviceError(ValueError):
    """A question without an answer; the message says what to ask instead."""


class TimeOver(AdviceError):
    """The time limit is over."""
