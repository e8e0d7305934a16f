"""Two runs side by side: by how much each variable differs, in bits or in units of the tolerance that holds for it.

``polhode verify`` compares whole runs with it, a study its witnesses with the release (:mod:`polhode_study.released`).
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from polhode_study.tolerances import Tolerance, tolerance_of

#: Packages whose versions may affect the last bit of a result.
NUMERICAL = ("numba", "llvmlite", "numpy", "scipy", "mpmath", "gmpy2")


@dataclass(frozen=True)
class Variable:
    """One variable of a data file.

    ``rows`` are the indices kept along each dimension, None for all; ``values`` is None if only the checksum is kept.
    """

    file: str
    group: str
    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    sha256: str
    text: bool = False
    rows: tuple[tuple[int, ...] | None, ...] = ()
    values: np.ndarray | None = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> tuple[str, str, str]:
        """The identifiers of the variable within a run."""
        return self.file, self.group, self.name


def variable_of(file: str, group: str, name: str, dims: Iterable[Any], values: np.ndarray) -> Variable:
    """A variable with all its values; its checksum is of numbers in little-endian order, their type and shape, or of text."""
    text = values.dtype.kind not in "fiu"
    if text:
        content = "\0".join(map(str, values.ravel())).encode()
    else:
        # Byte order does not matter for the comparison of numbers.
        values = values.astype(values.dtype.newbyteorder("<"))
        content = values.tobytes()
    digest = hashlib.sha256(f"{values.dtype.kind}{values.dtype.itemsize}{values.shape}".encode() * (not text) + content)
    return Variable(
        file,
        group,
        name,
        tuple(map(str, dims)),
        tuple(map(int, values.shape)),
        digest.hexdigest(),
        text,
        (None,) * values.ndim,
        values.astype(str) if text else values,
    )


@dataclass(frozen=True)
class Manifest:
    """Checksums of a run's data files, their variables, the verdicts on the claims, and the origin of the run (``run``)."""

    run: Mapping[str, Any]
    files: Mapping[str, str]
    variables: Mapping[tuple[str, str, str], Variable]
    verdicts: Mapping[str, str]
    where: str = ""

    def origin(self, file: str) -> Mapping[str, Any]:
        """The origin of a file: that of the run, or its own under ``added`` of the run."""
        origin: Mapping[str, Any] = self.run.get("added", {}).get(file, self.run)
        return origin

    def beside(self, variable: Variable, name: str) -> Variable | None:
        """The variable of this name in the same group as another variable; None if there is none."""
        return self.variables.get((variable.file, variable.group, name))


@dataclass(frozen=True)
class Difference:
    """A difference from the released run: it is off by ``times`` its tolerance, infinite where there is no tolerance."""

    file: str
    variable: str
    where: str
    released: str
    here: str
    difference: str
    allowed: str
    times: float
    values: str


@dataclass
class Outcome:
    """The result of a comparison: ``differences``, worst first, and how many variables are the same or within tolerance.

    Of those within tolerance ``partly`` were compared only at the values that the manifest keeps. ``uncompared`` is what was
    not compared, with the reason as ``allowed``. ``notes`` are for everybody, ``reasons`` say what was left out, and why.
    """

    differences: list[Difference] = field(default_factory=list)
    uncompared: list[Difference] = field(default_factory=list)
    same: int = 0
    within: int = 0
    partly: int = 0
    compared: bool = False
    notes: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def sort(self) -> None:
        """The worst first; anything broken or missing comes before deviations."""
        self.differences.sort(key=lambda d: (-d.times, d.file, d.variable))


# ---- one run against another ----


def same_machine(released: Mapping[str, Any], checked: Mapping[str, Any]) -> list[str]:
    """Differences in processor family and numerical libraries between two runs; empty if their bits must be the same."""
    known = {"processor family": "family", "Python": "python"}
    different = [
        f"{name} {released.get(key) or 'unknown'} there, {checked.get(key) or 'unknown'} here"
        for name, key in known.items()
        if not checked.get(key) or released.get(key) != checked.get(key)
    ]
    of_released, of_checked = released.get("versions") or {}, checked.get("versions") or {}
    return different + [
        f"{name} {of_released.get(name, 'unknown')} there, {of_checked.get(name, 'unknown')} here"
        for name in NUMERICAL
        if of_released.get(name) != of_checked.get(name)
    ]


def other_settings(released: Any, checked: Any, place: str = "") -> list[str]:
    """Keys of two configurations that differ."""
    if isinstance(released, Mapping) and isinstance(checked, Mapping):
        keys = [*released, *(key for key in checked if key not in released)]
        return [k for key in keys for k in other_settings(released.get(key), checked.get(key), f"{place}.{key}".lstrip("."))]
    return [] if released == checked else [place or "everything"]


def compare(released: Manifest, checked: Manifest) -> Outcome:
    """Everything in which a run differs from a released one."""
    outcome = Outcome(compared=True)
    keys = "commit", "dirty", "lock_sha256"
    has_bits = {name: not same_machine(released.origin(name), checked.origin(name)) for name in released.files}
    has_same_code = {
        name: bits and all(released.origin(name).get(key) == checked.origin(name).get(key) for key in keys)
        for name, bits in has_bits.items()
    }
    gone = [name for name in released.files if name not in checked.files]
    outcome.differences += [whole(name, "missing", "present", "missing") for name in gone]
    new = [name for name in checked.files if name not in released.files]
    outcome.uncompared += [uncompared(name, "", "not in the released run") for name in new]
    outcome.uncompared += [
        uncompared(file, "/".join(filter(None, place)), "not in the released run")
        for file, *place in checked.variables
        if file not in new and (file, *place) not in released.variables
    ]
    off: set[str] = set(gone)
    for key, variable in released.variables.items():
        if variable.file in gone:
            continue
        bits = has_bits.get(variable.file, not same_machine(released.run, checked.run))
        difference = _compared(variable, checked.variables.get(key), checked, bits)
        if difference is None:
            outcome.same += 1
        elif np.isnan(difference.times):
            outcome.uncompared.append(difference)
        elif difference.times <= 1 and not bits:
            outcome.within += 1
            outcome.partly += any(rows is not None for rows in variable.rows)
        else:
            outcome.differences.append(difference)
            off.add(variable.file)
    outcome.differences += _verdicts(released, checked)
    derived = []
    for name, digest in released.files.items():
        if name in off or checked.files[name] == digest:
            continue
        same_code = has_same_code[name]
        if name.endswith(".nc") and same_code:
            outcome.differences.append(whole(name, "bytes", digest[:12], checked.files[name][:12], "the values are the same"))
        elif name.endswith(".csv") and name != "claims.csv" and same_code:
            outcome.differences.append(whole(name, "text", digest[:12], checked.files[name][:12]))
        elif name.endswith(".nc"):
            derived.append(name)
        else:
            outcome.uncompared.append(uncompared(name, "text", "text made from values, with other bytes"))
    if derived:
        outcome.notes.append(f"other bytes around the values: {', '.join(derived)}")
    outcome.sort()
    return outcome


def whole(name: str, variable: str, released: str, checked: str, difference: str = "") -> Difference:
    """The difference of something that must be equal and is not."""
    return Difference(name, variable, "", released, checked, difference, "equal", float("inf"), "")


def uncompared(name: str, variable: str, why: str) -> Difference:
    """An entry for what is not compared, and why."""
    return Difference(name, variable, "", "", "", "not compared", why, float("nan"), "")


def _verdicts(released: Manifest, checked: Manifest) -> list[Difference]:
    if "claims.csv" not in checked.files:
        return []
    return [
        Difference("claims.csv", "verdict", key, verdict, checked.verdicts.get(key, "missing"), "", "equal", float("inf"), "")
        for key, verdict in released.verdicts.items()
        if checked.verdicts.get(key) != verdict
    ]


def _compared(released: Variable, checked: Variable | None, run: Manifest, bits: bool) -> Difference | None:
    """The worst difference of one variable; None where it has the same bits. ``times`` is at most 1 within the tolerance."""

    def row(where: str, old: str, new: str, difference: str, allowed: str, times: float, values: str = "") -> Difference:
        name = "/".join(filter(None, (released.group, released.name)))
        return Difference(released.file, name, where, old, new, difference, allowed, times, values)

    if checked is None:
        return row("", "present", "missing", "", "equal", float("inf"))
    if checked.sha256.startswith(released.sha256):
        return None
    if checked.shape != released.shape or checked.text != released.text:
        return row("", f"shape {released.shape}", f"shape {checked.shape}", "", "equal", float("inf"))
    tolerance = tolerance_of(released)
    if not bits and not tolerance.compared:
        return uncompared(released.file, "/".join(filter(None, (released.group, released.name))), tolerance.why)
    allowed = "same bits" if bits else tolerance.said
    if released.values is None or checked.values is None or released.text:
        difference = "other text" if released.text else "other bits"
        return row("", released.sha256[:12], checked.sha256[:12], difference, allowed, float("inf"))
    old, new = _as_kept(released, checked)
    if not bits and tolerance.over in released.dims:
        released, old, new = _pooled(tolerance, released, old, new)
    over = _times(tolerance, released, old, new, run)
    differs = ~((old == new) | (np.isnan(old) & np.isnan(new)))
    if not differs.any():
        size = "below 1e-7, or between the values kept"
        return row("", released.sha256[:12], checked.sha256[:12], size, allowed, 1.0 if bits else 0.0, "")
    worst = np.unravel_index(int(np.argmax(np.where(differs, np.nan_to_num(over, nan=np.inf), -1.0))), over.shape)
    with np.errstate(invalid="ignore", over="ignore"):
        share = float(abs(new[worst] - old[worst]) / max(abs(old[worst]), abs(new[worst])))
    return row(
        _place(released, worst, run),
        f"{old[worst]:.7g}",
        f"{new[worst]:.7g}",
        f"{100 * share:.2g} %" if np.isfinite(share) else "",
        allowed,
        float(over[worst]),
        f"{int(differs.sum())} of {differs.size}",
    )


def _as_kept(released: Variable, checked: Variable) -> tuple[np.ndarray, np.ndarray]:
    """The values of both in comparable form: the rows that the released one kept, in its precision."""
    assert released.values is not None and checked.values is not None
    values = checked.values
    for axis, rows in enumerate(released.rows):
        if rows is not None:
            values = values.take(rows, axis)
    with np.errstate(over="ignore"):
        return released.values.astype(float), values.astype(released.values.dtype).astype(float)


def _pooled(
    tolerance: Tolerance, released: Variable, old: np.ndarray, new: np.ndarray
) -> tuple[Variable, np.ndarray, np.ndarray]:
    """What is compared where a tolerance is for a mean: the values of both, and the variable without that dimension."""
    axis = released.dims.index(tolerance.over)
    dims, shape, rows = ((*x[:axis], *x[axis + 1 :]) for x in (released.dims, released.shape, released.rows))
    return replace(released, dims=dims, shape=shape, rows=rows), tolerance.pooled(old, axis), tolerance.pooled(new, axis)


def _times(tolerance: Tolerance, released: Variable, old: np.ndarray, new: np.ndarray, run: Manifest) -> np.ndarray:
    """The deviation of each value in units of its tolerance; integers must be equal."""
    exact = np.where((old == new) | (np.isnan(old) & np.isnan(new)), 0.0, np.inf)
    if released.values is not None and released.dims and run.variables[released.key].values is not None:
        kind = np.asarray(run.variables[released.key].values).dtype.kind
        if kind in "iu":
            return exact
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        if tolerance.decades:
            times = np.abs(np.log10(np.abs(new)) - np.log10(np.abs(old))) / tolerance.decades
            return np.where(exact == 0, 0.0, np.where(np.isnan(times), np.inf, times))
        room = tolerance.relative * np.maximum(np.abs(old), np.abs(new)) + tolerance.absolute
        if tolerance.per_step:
            room = room + tolerance.per_step * _steps(released, old.shape, run)
        times = np.abs(new - old) / room
    times = np.where(exact == 0, 0.0, np.where(np.isnan(times), np.inf, times))
    lost = (np.abs(old) > tolerance.lost) & (np.abs(new) > tolerance.lost)
    return np.asarray(np.where(lost, 0.0, times))


def _steps(released: Variable, shape: tuple[int, ...], run: Manifest) -> np.ndarray:
    """The number of steps behind each value, zero where the group does not contain it."""
    steps = run.beside(released, "steps")
    if steps is None or steps.values is None or steps.dims != released.dims or steps.shape != shape:
        return np.zeros(shape)
    return np.asarray(np.nan_to_num(steps.values.astype(float)))


def _place(variable: Variable, index: tuple[Any, ...], run: Manifest) -> str:
    """The position of a value in a variable, by its coordinates."""
    parts = []
    for dim, rows, i in zip(variable.dims, variable.rows, index, strict=True):
        row = int(i) if rows is None else rows[int(i)]
        known = run.beside(variable, dim)
        value = (
            known.values[row] if known is not None and known.values is not None and known.shape == (known.values.size,) else row
        )
        parts.append(f"{dim}={value if isinstance(value, str | int) else f'{value:.6g}'}")
    return " ".join(parts)
