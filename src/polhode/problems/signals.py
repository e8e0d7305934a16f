"""Functions of time in pieces, for torques: lists of firings, and tables that are linear or held between their times.

A torque reads them from its parameters, so that one compiled torque can read any list. A signal of n rows has the 3 n numbers
(time, value, slope) of each row, and from the time of a row on it is value + slope (t - time), until the next::

    jet = firings([(40, 0.02), (90, 0.02)])
    motor = table([0, 10, 20], [0, 1e-4, 0])

    def torque(t, q, omega, parameters):
        return (1e-3 * signal(t, parameters, 0, 5), signal(t, parameters, 15, 3), 0.0)

    problem = Problem(torque=torque, parameters=jet.parameters("jet") | motor.parameters("motor"),
                      breakpoints=edges(jet, motor), ...)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from polhode.compiling.kernel import kernel
from polhode.interface.arguments import is_ordered, number, positive, shown, vector

#: How a table goes from one of its times to the next.
BETWEEN = ("linear", "held")


@kernel
def signal(t: Any, parameters: Any, first: Any, rows: Any) -> Any:
    """The value at t (s) of the signal whose rows begin at ``parameters[first]``, ``rows`` in number; in its own unit."""
    low, high = 0, rows
    while high - low > 1:
        middle = (low + high) // 2
        if t < parameters[first + 3 * middle]:
            high = middle
        else:
            low = middle
    at = first + 3 * low
    return parameters[at + 1] + parameters[at + 2] * (t - parameters[at])


@dataclass(frozen=True)
class Signal:
    """A function of time in pieces.

    Parameters
    ----------
    rows : tuple of (time, value, slope)
        From each time (s) on, until the next; the first row holds before its time, too. Values are in any unit, slopes in this
        unit per s.
    """

    rows: tuple[tuple[float, float, float], ...]

    def parameters(self, name: str) -> dict[str, float]:
        """The numbers that :func:`signal` reads, as parameters of a problem.

        ``name[0]`` -> time, ``name[1]`` -> value, ``name[2]`` -> slope of the first row, and so on.
        """
        return {f"{name}[{i}]": x for i, x in enumerate(x for row in self.rows for x in row)}

    @property
    def edges(self) -> tuple[float, ...]:
        """The times after the start, s, at which the signal jumps or has a corner."""
        return tuple(time for time, *_ in self.rows[1:] if time > 0)


def edges(*signals: Signal) -> tuple[float, ...]:
    """The times after the start, s, at which one of the signals jumps or has a corner, ascending: breakpoints of a problem."""
    return tuple(sorted({time for each in signals for time in each.edges}))


def firings(given: Sequence[Sequence[float]]) -> Signal:
    """The signal that is 1 while something fires, 0 else, without a unit.

    Parameters
    ----------
    given : (start, length) of each firing, s, one after the other

    Raises
    ------
    TypeError, ValueError
        If there is no firing, one is not a pair of numbers, a length is not positive, or a firing begins before the last one
        has ended.
    """
    if not is_ordered(given) or not len(given):
        raise TypeError(f"firings must be a list of [start, length] in s, got {shown(given)}")
    pairs = [vector(f"firings[{i}]", pair, 2) for i, pair in enumerate(given)]
    rows = [(min(0.0, pairs[0][0]) - 1.0, 0.0, 0.0)]
    for i, (start, length) in enumerate(pairs):
        positive(f"firings[{i}]: length", length, "s")
        if start < rows[-1][0]:
            raise ValueError(f"firings[{i}] begins at {start:g} s, before the last one ends at {rows[-1][0]:g} s")
        rows = rows[:-1] if start == rows[-1][0] else rows
        rows += [(start, 1.0, 0.0), (start + length, 0.0, 0.0)]
    return Signal(tuple(rows))


def table(times: Sequence[float], values: Sequence[float], between: str = "linear") -> Signal:
    """A table: linear between its times, or held until the next; before the first and after the last time it is constant.

    Parameters
    ----------
    times : s, ascending
    values : as many, in any unit
    between : one of :data:`BETWEEN`

    Raises
    ------
    TypeError, ValueError
        If there are no times, a time or a value is no finite number, the times do not ascend, values and times are not as many,
        or ``between`` is another word.
    """
    if between not in BETWEEN:
        raise ValueError(f"between must be linear or held, got {shown(between)}")
    for name, row in (("times", times), ("values", values)):
        if not is_ordered(row) or not len(row):
            raise TypeError(f"{name} must be a list of numbers, got {shown(row)}")
    if len(times) != len(values):
        raise ValueError(f"times and values must be as many, got {len(times)} and {len(values)}")
    at = [number(f"times[{i}]", t) for i, t in enumerate(times)]
    value = [number(f"values[{i}]", x) for i, x in enumerate(values)]
    for i, (a, b) in enumerate(pairwise(at)):
        if not a < b:
            raise ValueError(f"times must ascend, but times[{i + 1}] = {b:g} follows {a:g}")
    if between == "held":
        return Signal(tuple((t, x, 0.0) for t, x in zip(at, value, strict=True)))
    slopes = [(y - x) / (b - a) for (a, b), (x, y) in zip(pairwise(at), pairwise(value), strict=True)]
    before = (at[0] - 1.0, value[0], 0.0)
    return Signal((before, *zip(at, value, [*slopes, 0.0], strict=True)))


def signal_of(name: str, given: Any) -> Signal:
    """The signal of a YAML file: ``{firings: [[start, length], ...]}`` or ``{times: [...], values: [...], between: linear}``.

    Raises
    ------
    TypeError, ValueError
        That names the signal and what to write.
    """
    keys = set(given) if isinstance(given, dict) else set()
    try:
        if keys == {"firings"}:
            return firings(given["firings"])
        if {"times", "values"} <= keys <= {"times", "values", "between"}:
            return table(given["times"], given["values"], given.get("between", "linear"))
    except (TypeError, ValueError) as error:
        raise type(error)(f"signals: {name}: {error}") from None
    raise ValueError(
        f"signals: {name} needs firings: [[start, length], ...], or times and values, and between: linear or held; "
        f"got {shown(given)}"
    )
