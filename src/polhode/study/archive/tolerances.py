"""Allowed differences from the released values with another processor or other libraries, and why: for ``polhode verify``.

On the same processor family with the same libraries none of this applies: every bit must be the same. The growth of a rounding
error was measured: each problem was run again from a state one unit in the last place away, over its ladder and its long run.
"""

import re
from dataclasses import dataclass

import numpy as np

from polhode.study.archive.manifest import Variable

EPSILON = float(np.finfo(float).eps)
#: An orientation error above which a long run no longer follows the motion; beyond it, runs differ entirely.
LOST = 0.1


@dataclass(frozen=True)
class Tolerance:
    """The allowed difference of a value from the released one on another processor.

    It is ``relative`` * value + ``absolute`` + ``per_step`` * steps, or ``decades`` in the logarithm; values above ``lost`` in
    both runs are ignored. ``compared`` is False for quantities that cannot be compared between processors. With ``over``, a
    dimension, what is compared is the mean along it, and with ``decades`` the root mean square, in which values above ``lost``
    and NaN count as ``lost``.
    """

    what: str
    files: str
    groups: str
    names: str
    why: str
    relative: float = 0.0
    absolute: float = 0.0
    per_step: float = 0.0
    decades: float = 0.0
    lost: float = float("inf")
    over: str = ""
    compared: bool = True

    def holds_for(self, variable: Variable) -> bool:
        """Whether this tolerance applies to a variable."""
        pairs = ((self.files, variable.file), (self.groups, variable.group), (self.names, variable.name))
        return all(re.fullmatch(pattern, text) for pattern, text in pairs)

    def pooled(self, values: np.ndarray, axis: int) -> np.ndarray:
        """What is compared of values along the dimension ``over``, which is ``axis``; NaN where there is no value at all."""
        if self.decades:
            kept = np.minimum(np.where(np.isnan(values), np.inf, np.abs(values)), self.lost)
            return np.asarray(np.sqrt(np.mean(kept**2, axis)))
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
        parts += [f"{self.per_step / EPSILON:g} eps a step"] if self.per_step else []
        return (" + ".join(parts) or "equal") + pooled


SINGLE = r"single_body\.nc"
#: The first matching entry applies. Integers and text must be equal everywhere.
TOLERANCES = (
    Tolerance("coordinates", r".*", r".*", r"dt|time|target_error|end_time|seed", "made from the configuration alone"),
    Tolerance("references", r"references/.*", r".*", r".*", "computed in whole numbers of arbitrary length, then rounded once"),
    Tolerance(
        "pictures",
        r"films/.*",
        r".*",
        r".*",
        "a gas of clumps is chaotic: one rounding leads to another motion",
        compared=False,
    ),
    Tolerance("orders", SINGLE, r".*", r"\w*_order", "a fit to errors, the last of them near round-off", absolute=0.05),
    Tolerance(
        "ranges of orders",
        SINGLE,
        r".*",
        r"\w*_order_(low|high)",
        "a window of the fit that may take in a step near round-off",
        absolute=0.3,
    ),
    Tolerance(
        "ends of fits", SINGLE, r".*", r"\w*_order_(dt_min|dt_max|points)", "where the fit stops above round-off", decades=0.5
    ),
    Tolerance(
        "steps to a target", SINGLE, r".*/targets", r"steps|step_size\w*", "the root finder stops at 1e-4", relative=1e-3
    ),
    Tolerance(
        "chaotic long runs",
        SINGLE,
        r"asymmetric_heavy_top/long_run\w*",
        r"\w*(error|drift)\w*|(exact_)?(q|omega)",
        "one rounding at the start leads to another motion before the end",
        compared=False,
    ),
    Tolerance(
        "long runs next to a separatrix",
        SINGLE,
        r"free_asymmetric_top_separatrix/long_run\w*",
        r"\w*(error|drift)\w*",
        "one rounding at the start grows to 2e-3 at the end",
        relative=0.05,
        absolute=0.01,
        lost=LOST,
    ),
    Tolerance(
        "long runs",
        SINGLE,
        r".*/long_run\w*",
        r"\w*(error|drift)\w*",
        "roundings of a million steps add to a phase, at worst with the power 3/2 of their number; "
        "a run that has lost the motion is lost",
        relative=0.05,
        absolute=2e-6,
        lost=LOST,
    ),
    Tolerance(
        "trajectories", SINGLE, r".*/long_run\w*", r"(exact_)?(q|omega)", "their errors are compared instead", compared=False
    ),
    Tolerance(
        "errors next to a separatrix",
        SINGLE,
        r"free_asymmetric_top_separatrix",
        r"\w*error\w*",
        "one rounding at the start grows to 3e-9 at the end",
        relative=0.01,
        absolute=1e-7,
        per_step=8 * EPSILON,
    ),
    Tolerance(
        "errors",
        SINGLE,
        r".*",
        r"\w*error\w*",
        "an error cannot change by more than the state does: by a few roundings in each step, the first of them grown",
        relative=0.01,
        absolute=1e-13,
        per_step=8 * EPSILON,
    ),
    # Two groups of four or five, drawn from the 30 or 50 released seeds of a scene, differ by a factor of 10 in up to one
    # comparison of a thousand (where a run has blown up), by 20 in about one of ten thousand; two single runs by 30 to 80 in
    # one of a hundred. The means of their contacts differ by up to 35 %, again with a run that has blown up.
    Tolerance(
        "energies of many bodies",
        r"many_body\.nc",
        r".*",
        r"energy_error\w*",
        "a gas of clumps is chaotic: a run is a draw, and a run that has lost its energy counts as an error of 1",
        decades=float(np.log10(20)),
        lost=1.0,
        over="seed",
    ),
    Tolerance(
        "contacts of many bodies",
        r"many_body\.nc",
        r".*",
        r"contacts",
        "a gas of clumps is chaotic: a run is a draw, and their means scatter by less than this",
        relative=0.3,
        over="seed",
    ),
    Tolerance(
        "histories of many bodies",
        r"many_body\.nc",
        r".*",
        r"energy_drift|energy_change|axial_spin\w*|diverged\w*",
        "a gas of clumps is chaotic; the final results are compared, and there a diverged run has an error of 1",
        compared=False,
    ),
    Tolerance(
        "errors on random bodies",
        r"ensembles\.nc",
        r".*",
        r"error_\w+",
        "as the errors above, grown along a motion that may be unstable",
        relative=0.01,
        absolute=1e-9,
        lost=LOST,
    ),
    Tolerance(
        "exact states of random bodies",
        r"ensemble_states\.nc",
        r".*",
        r"high",
        "the draw below, grown along a motion that may be unstable",
        absolute=1e-9,
    ),
    Tolerance("their further digits", r"ensemble_states\.nc", r".*", r"low", "the rest of a rounded number", compared=False),
    Tolerance(
        "draw of the bodies",
        r"ensemble(s|_states)\.nc",
        r".*",
        r"moments|q0|omega0|strength|parameters",
        "exp, log and sqrt",
        absolute=1e-14,
    ),
    Tolerance(
        "digits of the exact states", r"ensemble(s|_states)\.nc", r".*", r"reference_digits", "roundings of 1e-32", absolute=2.0
    ),
    Tolerance("engines", r"atlas\.nc", r".*", r".*", "round-off of other binaries", relative=0.05, absolute=1e-9),
    Tolerance("experiments", r"checks/.*", r".*", r".*", "round-off of up to a million steps", relative=0.05, absolute=1e-9),
)
#: For all other variables.
EQUAL = Tolerance("others", r".*", r".*", r".*", "made from code and configuration alone")


def tolerance_of(variable: Variable) -> Tolerance:
    """The tolerance that applies to a variable on another processor."""
    return next((t for t in TOLERANCES if t.holds_for(variable)), EQUAL)
