"""Allowed differences from the released values with another processor or other libraries, and why: for ``polhode verify``.

On the same processor family with the same libraries none of this applies: every bit must be the same. The growth of a rounding
error was measured: each problem was run again from a state one unit in the last place away, over its ladder and its long run.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic.dataclasses import dataclass

from polhode.interface.declared import STRICT, declared

if TYPE_CHECKING:  # a type only
    from polhode_study.comparing import Variable

EPSILON = float(np.finfo(float).eps)


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Tolerance:
    """The allowed difference of a value from the released one on another processor.

    It holds for variables whose file, group and name match the patterns, and is ``relative`` * value + ``absolute`` +
    ``per_step`` * steps, or ``decades`` in the logarithm; values above ``lost`` in both runs are ignored. ``compared`` is False
    for quantities that cannot be compared between processors. With ``over``, a dimension, what is compared is the mean along
    it, and with ``decades`` the root mean square, in which values above ``lost`` and NaN count as ``lost``.
    """

    what: str
    why: str
    files: str = ".*"
    groups: str = ".*"
    names: str = ".*"
    relative: float = 0.0
    absolute: float = 0.0
    roundings: float = 0.0
    decades: float = 0.0
    lost: float = float("inf")
    over: str = ""
    compared: bool = True

    @property
    def per_step(self) -> float:
        """``roundings`` of a number of size 1."""
        return self.roundings * EPSILON

    def holds_for(self, variable: "Variable") -> bool:
        """Whether this tolerance applies to a variable."""
        pairs = ((self.files, variable.file), (self.groups, variable.group), (self.names, variable.name))
        return all(re.fullmatch(pattern, text) for pattern, text in pairs)

    def pooled(self, values: np.ndarray, axis: int) -> np.ndarray:
        """What is compared of values along the dimension ``over``, which is ``axis``; NaN where there is no value at all."""
        if self.decades:
            bounded = np.minimum(np.where(np.isnan(values), np.inf, np.abs(values)), self.lost)
            return np.asarray(np.sqrt(np.mean(bounded**2, axis)))
        known = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(known, values, 0.0).sum(axis) / known.sum(axis))

    @property
    def said(self) -> str:
        """The tolerance in words."""
        if not self.compared:
            return "not compared"
        pooled = f" in the {'root mean square' if self.decades else 'mean'} over {self.over}s" if self.over else ""
        if self.decades:
            return f"a factor of {10**self.decades:g}{pooled}"
        parts = [f"{100 * self.relative:g} %"] if self.relative else []
        parts += [f"{self.absolute:g}"] if self.absolute else []
        parts += [f"{self.roundings:g} eps a step"] if self.roundings else []
        return (" + ".join(parts) or "equal") + pooled


#: The first that holds for a variable applies.
TOLERANCES = declared(tuple[Tolerance, ...], Path(__file__).with_suffix(".yaml"))
#: For all other variables.
EQUAL = Tolerance(what="others", why="made from code and configuration alone")


def tolerance_of(variable: "Variable") -> Tolerance:
    """The tolerance that applies to a variable on another processor."""
    return next((t for t in TOLERANCES if t.holds_for(variable)), EQUAL)
