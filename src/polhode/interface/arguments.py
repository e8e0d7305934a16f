"""Checks of user input: a wrong type or value gives a message that names the argument, with uniform wording.

A wrong type raises :class:`TypeError`, a wrong value :class:`ValueError`; both say ``NAME must be ..., got VALUE``. A bool does
not count as a number, nor a float as an integer: these are more often slips than intended. NumPy scalars and arrays without
dimensions, as returned by xarray, count as numbers.
"""

import warnings
from collections.abc import Mapping, Set
from math import hypot, isfinite
from numbers import Integral, Real
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

#: Longer values are truncated in a message.
SHOWN = 80
#: How much the norm of a unit quaternion may differ from 1: stored in single precision, and in double.
SINGLE, DOUBLE = 1e-6, 1e-12
#: Longer keys are not allowed, since keys become file names.
KEY_LENGTH = 60


def shown(value: object) -> str:
    """A value as it appears in an error message: its ``repr`` on one line, cut to :data:`SHOWN` characters.

    Of an array, a longer collection and a huge number type and size are named instead, and of what has no ``repr`` its type.
    """
    try:
        if isinstance(value, np.ndarray) and value.ndim != 0:
            text = f"an array of shape {value.shape} and type {value.dtype}"
        elif isinstance(value, list | tuple | Set | Mapping) and len(value) > SHOWN:
            text = f"a {type(value).__name__} of {len(value)}"
        elif isinstance(value, int) and value.bit_length() > 4 * SHOWN:
            text = f"a whole number of {value.bit_length()} bits"
        else:
            text = " ".join(repr(value).split(" ")).replace("\n", " ")
    except Exception:  # whatever an object of the user's raises when it is printed
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def _scalar(value: Any) -> Any:
    """The content of an array without dimensions; anything else, and what a mask hides, unchanged."""
    bare = getattr(value, "ndim", None) == 0 and hasattr(value, "item") and not _is_masked(value)
    return value.item() if bare else value


def _is_masked(value: Any) -> bool:
    """Whether a masked array hides a value: below its mask stands a number, which is not to be used."""
    return isinstance(value, np.ma.MaskedArray) and bool(np.ma.getmaskarray(value).any())


def is_ordered(values: Any) -> bool:
    """Whether something is a sequence, which can be read more than once: no set, mapping, generator or text."""
    try:
        len(values)
    except Exception:  # none, or whatever an object of the user's raises
        return False
    return (
        getattr(values, "ndim", 1) > 0
        and hasattr(values, "__getitem__")
        and not isinstance(values, str | bytes | bytearray | memoryview | Mapping)
    )


def number(name: str, value: Any, *, above: float | None = None, least: float | None = None, unit: str = "") -> float:
    """The argument ``value`` as a float, if it is a finite number.

    Parameters
    ----------
    name : its name in the message
    above, least : exclusive and inclusive lower bounds
    unit : mentioned in the message if ``value`` is not a number

    Raises
    ------
    TypeError, ValueError
        Naming the argument.
    """
    bare = _scalar(value)
    if isinstance(bare, bool | np.bool_) or not isinstance(bare, Real):
        raise TypeError(f"{name} must be a number{f' ({unit})' if unit else ''}, got {shown(value)}")
    try:
        result = float(bare)
    except (OverflowError, ValueError):
        result = float("inf")
    if not isfinite(result) or (above is not None and not result > above) or (least is not None and not result >= least):
        raise ValueError(f"{name} must be {_range(above, least)}, got {shown(bare)}")
    return result


def _range(above: float | None, least: float | None) -> str:
    if above == 0:
        return "positive and finite"
    if least == 0:
        return "finite and not negative"
    limits = [f"{word} {limit:g}" for word, limit in (("greater than", above), ("at least", least)) if limit is not None]
    return " and ".join(["finite", *limits])


def positive(name: str, value: Any, unit: str = "") -> float:
    """The argument ``value`` as a float, if it is a positive and finite number; raises errors as :func:`number` does.

    ``unit`` is mentioned in the message if ``value`` is not a number.
    """
    return number(name, value, above=0.0, unit=unit)


def whole(name: str, value: Any, *, least: int | None = None, most: int | None = None) -> int:
    """The argument ``value`` as an int, if it is an integer from ``least`` to ``most``; a float does not count as one.

    Raises
    ------
    TypeError, ValueError
        Naming the argument.
    """
    bare = _scalar(value)
    if isinstance(bare, bool | np.bool_) or not isinstance(bare, Integral):
        raise TypeError(f"{name} must be a whole number, got {shown(value)}")
    if least is not None and bare < least:
        raise ValueError(f"{name} must be at least {least}, got {shown(bare)}")
    if most is not None and int(bare) > most:
        raise ValueError(f"{name} must be at most {most}, got {shown(bare)}")
    return int(bare)


def flag(name: str, value: Any) -> bool:
    """The argument ``value``, if it is True or False.

    Raises
    ------
    TypeError
        Naming the argument.
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def switch(name: str, value: Any) -> bool | None:
    """The argument ``value``, if it is True, False or None; None means a default declared elsewhere.

    Raises
    ------
    TypeError
        Naming the argument.
    """
    if value is not None and not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True, False or None, got {shown(value)}")
    return None if value is None else bool(value)


def text(name: str, value: Any, *, empty: bool = True) -> str:
    """The argument ``value``, if it is a string, and not blank unless ``empty`` allows it.

    Raises
    ------
    TypeError, ValueError
        Naming the argument.
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, got {shown(value)}")
    if not empty and not value.strip():
        raise ValueError(f"{name} must not be empty, got {shown(value)}")
    return value


def plain_name(name: str, value: str) -> str:
    """The argument ``value``, if it can be a file name on every system.

    That is an identifier of ASCII characters, at most :data:`KEY_LENGTH` of them.

    Raises
    ------
    ValueError
        Naming the argument.
    """
    if not (value.isidentifier() and value.isascii() and len(value) <= KEY_LENGTH):
        raise ValueError(
            f"{name} {shown(value)} is not a plain name: use letters, digits and underscores, {KEY_LENGTH} at most"
        )
    return value


def regular_file(name: str, path: Any) -> Path:
    """The argument ``path``, if it is a file that ends: of a pipe or a device, reading might never return.

    Raises
    ------
    TypeError, FileNotFoundError, ValueError
        If it is no path, if there is nothing at it, or if it is no regular file; naming it.
    """
    if not isinstance(path, str | PathLike) or not isinstance(fspath(path), str):
        raise TypeError(f"{name} must be the path of a file, got {shown(path)}")
    file = Path(path)
    name_of_file = fspath(path)
    said = name_of_file if name_of_file.isprintable() and name_of_file.strip() else shown(name_of_file)
    try:
        if file.is_file():
            return file
        exists, folder = file.exists(), file.is_dir()
    except (OSError, ValueError) as error:  # too long for any file, or with a null character
        raise FileNotFoundError(f"{name} {said[:SHOWN]} does not exist ({getattr(error, 'strerror', None) or error})") from None
    if not exists:
        raise FileNotFoundError(f"{name} {said} does not exist")
    raise ValueError(f"{name} {said} is {'a folder' if folder else 'no regular file'}; name a file by its path")


def function(name: str, value: Any, *, optional: bool = False) -> Any:
    """The argument ``value``, if it is callable, or None where it is ``optional``.

    Raises
    ------
    TypeError
        Naming the argument.
    """
    if not callable(value) and not (optional and value is None):
        raise TypeError(f"{name} must be a function{' or None' if optional else ''}, got {shown(value)}")
    return value


def vector(name: str, values: Any, size: int) -> tuple[float, ...]:
    """The argument ``values`` as a tuple of ``size`` finite numbers, in the unit in which they are given.

    Raises
    ------
    TypeError, ValueError
        Naming the argument.
    """
    if not is_ordered(values) or getattr(values, "ndim", 1) != 1 or _is_masked(values):
        raise TypeError(f"{name} must be {size} numbers in a list, tuple or array, got {shown(values)}")
    try:
        row = tuple(values)
    except Exception:  # whatever an object of the user's raises when it is read
        raise TypeError(f"{name} must be {size} numbers, got {shown(values)}") from None
    if len(row) != size:
        raise ValueError(f"{name} must be {size} finite numbers, got {shown(values)}")
    try:
        return tuple(number(name, value) for value in row)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} must be {size} finite numbers, got {shown(values)}") from None


def unit_quaternion(name: str, values: Any) -> tuple[float, ...]:
    """The argument ``values`` as a unit quaternion, a tuple of 4 floats in the order given.

    One that is unit to single precision only, as most files store it, is divided by its norm; one that is unit to double
    precision is left as it is.

    Raises
    ------
    TypeError, ValueError
        Naming the argument; also if its norm differs from 1 by more than :data:`SINGLE`.
    """
    q = vector(name, values, 4)
    norm = hypot(*q)
    if abs(norm - 1) > SINGLE:
        raise ValueError(f"{name} = {shown(values)} is not a unit quaternion; divide it by its norm")
    return q if abs(norm - 1) <= DOUBLE else tuple(x / norm for x in q)


def unit_quaternions(name: str, values: Any) -> np.ndarray:
    """The argument ``values`` as an array (n, 4) of unit quaternions, each as by :func:`unit_quaternion`; always a copy.

    Raises
    ------
    TypeError, ValueError
        Naming the argument, and the first row that is no unit quaternion.
    """
    rows = array(name, values, 4)
    with np.errstate(over="ignore"):
        norms = np.sqrt((rows * rows).sum(axis=1))
    if (bad := np.flatnonzero(~(np.abs(norms - 1) <= SINGLE))).size:
        raise ValueError(f"{name}[{bad[0]}] is not a unit quaternion; divide it by its norm")
    rounded = np.abs(norms - 1) > DOUBLE
    rows[rounded] /= norms[rounded, None]
    return rows


def array(name: str, values: Any, columns: int | None = 0) -> np.ndarray:
    """The argument ``values`` as a float array of finite numbers, in their unit; always a copy.

    Its shape must be (n, ``columns``); (n,) for 0 columns, the default; for None (n, k) with any k.

    Raises
    ------
    TypeError, ValueError
        Naming the argument, the expected shape and the value.
    """
    wanted = "(n, k)" if columns is None else f"(n, {columns})" if columns else "(n,)"
    numbers = _numbers(name, values, wanted)
    if numbers.ndim != (1 if columns == 0 else 2) or (columns and numbers.shape[1] != columns):
        raise ValueError(f"{name} must be an array {wanted}, got the shape {numbers.shape}")
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be finite; row {int(np.argwhere(~np.isfinite(numbers))[0][0])} is not")
    return np.array(numbers, order="C")


def vectors(name: str, values: Any, size: int | None = None) -> np.ndarray:
    """The argument ``values`` as a float array (..., ``size``), of any number of axes; for None their last may have any length.

    NaN passes: it is the state of a run that blew up. An array of floats is returned itself, without a copy.

    Raises
    ------
    TypeError, ValueError
        Naming the argument, the expected shape and the value.
    """
    wanted = f"(..., {'n' if size is None else size})"
    numbers = _numbers(name, values, wanted)
    if numbers.ndim == 0 or (numbers.shape[-1] == 0 if size is None else numbers.shape[-1] != size):
        raise ValueError(f"{name} must be an array {wanted}, got the shape {numbers.shape}")
    return numbers


def _numbers(name: str, values: Any, wanted: str) -> np.ndarray:
    """The argument ``values`` as a float array, itself if it is one."""
    try:
        if not is_ordered(values) or _is_masked(values):
            raise TypeError
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a masked number in a list becomes NaN with a warning
            raw = np.asarray(values)
        if raw.dtype.kind not in "iuf":
            raise TypeError
        return np.asarray(raw, dtype=float)
    except Exception:  # whatever an object of the user's raises when it is read
        raise TypeError(f"{name} must be numbers, an array {wanted}, got {shown(values)}") from None
