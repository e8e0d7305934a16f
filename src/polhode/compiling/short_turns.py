"""Kernels for steps in which no clump turns far: cosine and sine without range reduction, which saves a fifth of a step.

For a single body the range reduction of :func:`polhode.algebra.quaternion.cos_sinc` costs nothing when it is not needed. Lanes
have no branches: they compute both sides and select, so a root and a division would be spent on angles that hardly ever occur.
The engine therefore tries each stretch of a run with the polynomials alone. They give the same bits up to a half-angle of pi/2
and NaN beyond. A NaN persists, is found at the end of the stretch, and the stretch is then repeated with the complete kernels.
"""

import dis
import math
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

from polhode.algebra.quaternion import HALF_PI_SQUARED, cos_sinc, cos_sinc_series
from polhode.compiling.kernel import kernel


@kernel
def short_cos_sinc(x: float) -> tuple[float, float]:
    """cos(a) and sin(a)/a of the angle a = sqrt(x), given its square ``x`` in rad^2; two numbers without a unit.

    Bit for bit as :func:`polhode.algebra.quaternion.cos_sinc` for an angle a of at most pi/2 rad, and NaN for a larger one.
    """
    c, s = cos_sinc_series(x)
    within = x <= HALF_PI_SQUARED
    return (c if within else math.nan), (s if within else math.nan)


def shortened(*functions: Callable[..., Any]) -> tuple[Callable[..., Any], ...] | None:
    """Copies of kernels, in the same order, that call :func:`short_cos_sinc`, or None if that is impossible or unnecessary.

    A NaN must come out as NaN: a kernel that compares, or calls something that might (``min``), could hide it, unless it is
    marked (:func:`polhode.compiling.kernel.hides_nothing`). A kernel is followed only to functions that it names, not into
    modules.
    """
    long = _plain(cos_sinc)
    reached = [inner for function in functions for inner in _tree(_plain(function), long)]
    if long not in reached or not all(_is_straight(function) for function in reached if function is not long):
        return None
    done: dict[FunctionType, Any] = {long: short_cos_sinc}
    return tuple(_copy(function, done) for function in functions)


def _plain(value: Any) -> Any:
    return getattr(value, "py_func", value)


def _members(function: FunctionType) -> dict[str, Any]:
    """Everything a function looks up by name: globals and closure variables."""
    names = {name: function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return names | {name: cell.cell_contents for name, cell in cells}


def _tree(function: Any, leaf: Any) -> Iterator[Any]:
    """A function and everything it calls, directly or not, without looking inside ``leaf``."""
    yield function
    if function is not leaf:
        for value in map(_plain, _members(function).values()):
            if isinstance(value, FunctionType):
                yield from _tree(value, leaf)


def _is_straight(function: FunctionType) -> bool:
    """Whether a kernel is arithmetic that hides no NaN: no conditional jump, no function but kernels and the square root."""
    if any(isinstance(constant, CodeType) for constant in function.__code__.co_consts):
        return False
    if not hasattr(function, "hides_nothing") and any(
        _chooses(instruction.opname) for instruction in dis.get_instructions(function)
    ):
        return False
    known = _members(function)
    return all(
        _is_number(known.get(name)) or known.get(name) is math.sqrt or isinstance(_plain(known.get(name)), FunctionType)
        for name in function.__code__.co_names
    )


def _is_number(value: Any) -> bool:
    """Whether a constant of a kernel is a number, or a tuple of numbers."""
    return all(isinstance(item, int | float) for item in value) if isinstance(value, tuple) else isinstance(value, int | float)


def _chooses(operation: str) -> bool:
    """Whether a bytecode instruction compares or jumps conditionally."""
    return "_IF_" in operation or operation in ("COMPARE_OP", "IS_OP", "CONTAINS_OP", "UNARY_NOT")


def _copy(function: Any, done: dict[FunctionType, Any]) -> Any:
    """The kernel with functions replaced as ``done`` says; the kernel itself if it calls none of them."""
    plain = _plain(function)
    if plain not in done:
        others = {name: value for name, value in _members(plain).items() if isinstance(_plain(value), FunctionType)}
        changed = {name: copy for name, value in others.items() if (copy := _copy(value, done)) is not value}
        if changed:
            names = plain.__globals__ | changed
            cells = tuple(
                CellType(changed.get(name, cell.cell_contents))
                for name, cell in zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=True)
            )
            done[plain] = kernel(FunctionType(plain.__code__, names, plain.__name__, plain.__defaults__, cells))
        else:
            done[plain] = function
    return done[plain]
