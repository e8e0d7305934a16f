"""Trial of torques that users write: in plain Python first, then compiled, so that what is wrong with one is a sentence.

Compiled code checks no index, and its whole numbers overflow silently: a torque that reads a parameter too many gets whatever
stands in memory, and 10**40 is another number. Plain Python raises an exception for the first and is right about the second, so
each torque runs in both before it is relied upon. A compiler's message is long, and names types instead of what to write.

A torque is tried on states (t, q, omega): t in s, q (4,) a unit quaternion from body to lab, omega (3,) in the body frame,
rad/s; its result (3,) is in the body frame, N m. The loads on several bodies are tried on one state (t, r, v, q, omega) of
rows, one for each body: r and v in the lab (m, m/s), q and omega as above; they write forces (lab, N) and torques (body frames,
N m). ``where`` begins every message: it names the problem or argument that the function belongs to.
"""

import ast
import dis
import inspect
import linecache
import math
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from numbers import Real
from pathlib import Path
from types import FunctionType, TracebackType
from typing import Any

import numpy as np

from polhode.compiling.kernel import compile_loads, compile_torque
from polhode.compiling.plain import MATHEMATICS, plain_copy
from polhode.interface.arguments import SHOWN, shown

#: The arguments of a torque, and of the loads on several bodies.
TORQUE = ("t", "q", "omega", "parameters")
LOADS = ("t", "r", "v", "q", "omega", "parameters", "force", "torque")
#: Fractions of the horizon, factors of omega and rotations of the orientation at which a torque is tried.
STATES = (
    (0.0, (1.0, 1.0, 1.0), (1.0, 0.0, 0.0, 0.0)),
    (0.381966, (-0.7, 0.9, 0.8), (0.5, 0.5, -0.5, 0.5)),
    (0.618034, (0.6, -1.1, 1.2), (0.1, -0.7, 0.5, 0.5)),
    (1.0, (1.0, 0.8, -0.9), (0.8, 0.0, 0.6, 0.0)),
)
#: Allowed difference of plain and compiled numbers: relative, and in units of what a change of the arguments by the relative
#: amount ``CHANGE`` makes: both differ by the last bits of sines and exponentials.
SAME, AMPLIFIED, CHANGE = 1e-9, 1e3, 1e-13
#: What is said of parameters that are read by name.
IN_ORDER = "parameters are numbers in the order in which they are declared: read them as parameters[0], parameters[1]"
#: The value of a function where it has none, such as at a division by zero.
UNDEFINED = object()


class TrialError(ValueError):
    """Error for a function that cannot serve; ``reason`` says why, ``line`` is the line of its file, 0 if unknown."""

    def __init__(self, where: str, reason: str, function: FunctionType, line: int = 0) -> None:
        file = function.__code__.co_filename
        self.reason, self.line = reason, line
        place = f" ({Path(file).name}, line {line})" if line and not file.startswith("<") else ""
        super().__init__(f"{where}: {reason}{place}")


class _Beyond(IndexError):
    """A parameter was read that is not declared."""


class _Declared(tuple[float, ...]):
    """The parameters of a torque; compiled code would read beyond them, and wraps no negative index round."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _Beyond(f"reads parameters.{name}; {IN_ORDER}")

    def __getitem__(self, index: Any) -> Any:
        size = len(self)
        if isinstance(index, str):
            raise _Beyond(f"reads parameters[{index!r}]; {IN_ORDER}")
        if isinstance(index, slice):
            if index.stop is None or not 0 <= (index.start or 0) <= index.stop <= size:
                raise _Beyond("takes a slice of its parameters; read them one by one, as parameters[0]")
        elif not 0 <= index < size:
            raise _Beyond(f"reads parameters[{index}], but has {size} parameter{'s' * (size != 1)}")
        return super().__getitem__(index)


def checked_function(where: str, name: str, function: Any, arguments: Sequence[str]) -> FunctionType:
    """The plain function behind ``function``, if it can be compiled and takes these arguments.

    ``name`` is what messages call it, and ``arguments`` are the names of what it is called with, in order.

    Raises
    ------
    TypeError
        If it is no function written in Python, or takes others; the message names ``where`` and ``name``.
    """
    plain = getattr(function, "py_func", function)
    signature = f"({', '.join(arguments)})"
    if not isinstance(plain, FunctionType):
        got = f"an object of type {type(plain).__name__}" if callable(plain) else shown(plain)
        raise TypeError(
            f"{where}: {name} must be a function of its own, def {name}{signature}, with its numbers in parameters, got {got}"
        )
    try:
        inspect.signature(plain).bind(*arguments)
    except TypeError:
        raise TypeError(f"{where}: {name} must take {signature}, but takes {inspect.signature(plain)}") from None
    return plain


def parameter_array(parameters: Iterable[float]) -> np.ndarray:
    """The parameters as compiled code reads them: an array (n,) of all that are declared, or of one zero if there are none."""
    return np.array([*parameters] or [0.0], float)


def states_of(q0: Sequence[float], omega0: Sequence[float], horizon: float) -> list[tuple[Any, ...]]:
    """A list of states (t, q, omega): the initial one, and others that a motion over the horizon may reach.

    ``q0`` (4,), body to lab, and ``omega0`` (3,), body frame, rad/s, are the state at 0 s; ``horizon`` is in s.
    """
    speed = math.hypot(*omega0) or 1.0 / horizon
    spread = [w or 0.3 * speed for w in omega0]
    return [
        (
            fraction * horizon,
            tuple(map(float, q0)) if fraction == 0 else turned,
            tuple(map(float, omega0)) if fraction == 0 else tuple(a * w for a, w in zip(factors, spread, strict=True)),
        )
        for fraction, factors, turned in STATES
    ]


def compiled_torque(
    where: str, torque: Any, parameters: Iterable[float], states: Sequence[tuple[Any, ...]]
) -> Callable[..., Any]:
    """The torque as a compiled kernel (t, q, omega, parameters) -> (tx, ty, tz) that was tried; see :func:`try_torque`.

    Parameters are then an array, such as :func:`parameter_array` makes.

    Raises
    ------
    TypeError, TrialError
        If the torque cannot serve: as :func:`try_torque`, or if it does not compile or computes other numbers when compiled.
    """
    function, values = checked_function(where, "torque", torque, TORQUE), _Declared(map(float, parameters))
    plain = try_torque(where, torque, values, states)
    compiled = _compiled(where, "torque", compile_torque, function)
    array = parameter_array(values)
    for state in states:
        _compare(where, "torque", function, state, lambda *s: plain(*s, values), lambda *s: compiled(*s, array))
    return compiled


def try_torque(
    where: str, torque: Any, parameters: Iterable[float], states: Sequence[tuple[Any, ...]], lenient: bool = False
) -> Callable[..., Any]:
    """The torque as plain Python, tried on (t, q, omega) of each of ``states`` without compiling anything.

    Only at the first state, where the motion begins, must it be finite, unless ``lenient``. The result is called as the torque
    is, with (t, q, omega, parameters), and returns (tx, ty, tz).

    Raises
    ------
    TypeError
        If it is not a function of four arguments.
    TrialError
        If it raises anything but an error of arithmetic where it need not be finite, reads a parameter that is not declared, or
        does not return three floats, which are finite where they must be.
    """
    function, values = checked_function(where, "torque", torque, TORQUE), _Declared(map(float, parameters))
    plain: Callable[..., Any] = plain_copy(torque, MATHEMATICS, "math.{name}")
    for i, state in enumerate(states):
        row = _run(where, "torque", function, partial(plain, *state, values), state[0], i > 0 or lenient)
        if row is not UNDEFINED:
            _check_vector(where, function, row, state[0], i > 0 or lenient)
    return plain


def compiled_loads(where: str, loads: Any, parameters: Iterable[float], state: tuple[Any, ...]) -> Callable[..., Any]:
    """The loads on several bodies, compiled and tried on one state (t, r, v, q, omega), rows of floats.

    The result is called as :func:`polhode.compiling.kernel.compile_loads` says.

    Raises
    ------
    TypeError, TrialError
        As :func:`compiled_torque`.
    """
    function, values = checked_function(where, "loads", loads, LOADS), _Declared(map(float, parameters))
    plain = try_loads(where, loads, values, state)
    compiled = _compiled(where, "loads", compile_loads, function)
    array = parameter_array(values)

    def of_compiled(t: float, *rows: Any) -> Any:
        force, torque = np.zeros((len(rows[0]), 3)), np.zeros((len(rows[0]), 3))
        compiled(t, *(np.array(row, float) for row in rows), array, force, torque)
        return np.concatenate([force.ravel(), torque.ravel()])

    _compare(where, "loads", function, state, plain, of_compiled)
    return compiled


def try_loads(where: str, loads: Any, parameters: Iterable[float], state: tuple[Any, ...]) -> Callable[..., Any]:
    """The loads as a plain function (t, r, v, q, omega), tried on one state without compiling anything.

    It returns a list of the 6 n components for n bodies: the forces of all (lab), then the torques of all (body frames).

    Raises
    ------
    TypeError, TrialError
        As :func:`try_torque`.
    """
    function, values = checked_function(where, "loads", loads, LOADS), _Declared(map(float, parameters))
    copy: Callable[..., Any] = plain_copy(loads, MATHEMATICS, "math.{name}")

    def plain(t: float, *rows: Any) -> list[Any]:
        force, torque = ([[0.0] * 3 for _ in rows[0]] for _ in range(2))
        copy(t, *([list(vector) for vector in row] for row in rows), values, force, torque)
        return [x for vectors in (force, torque) for vector in vectors for x in vector]

    row = _run(where, "loads", function, lambda: plain(*state), state[0], False)
    if not all(_is_float(x) and math.isfinite(x) for x in row):
        bad = next(x for x in row if not (_is_float(x) and math.isfinite(x)))
        raise TrialError(where, f"loads gives {shown(bad)} at t = {state[0]:g}, where a finite float is expected", function)
    return plain


def _run(where: str, name: str, function: FunctionType, call: Callable[[], Any], t: float, lenient: bool) -> Any:
    """The result of the call; :data:`UNDEFINED` where numbers have none, if this is allowed."""
    try:
        return call()
    except _Beyond as error:
        raise TrialError(where, f"{name} {error}", function, _line(function, error.__traceback__)) from None
    except Exception as error:
        line = _line(function, error.__traceback__)
        ended_by = _operation(error.__traceback__)
        if ended_by.startswith("UNPACK") and isinstance(error, ValueError):
            reason = f"{name} {_unpacked(str(error))}; write as many names as there are numbers, or read them one by one"
            raise TrialError(where, reason, function, line) from None
        numbers = isinstance(error, ArithmeticError | ValueError) and ended_by != "RAISE_VARARGS"
        if numbers and lenient:
            return UNDEFINED
        said = f"{type(error).__name__}: {str(error)[:SHOWN]}".rstrip(": ")
        advice = "; it must be finite where the motion begins" if numbers else "; it must be plain arithmetic that never raises"
        raise TrialError(where, f"{name} raises {said}, at t = {t:g}{advice}", function, line) from None


def _line(function: FunctionType, trace: TracebackType | None) -> int:
    """The innermost line in the file of the function."""
    line = 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == function.__code__.co_filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _operation(trace: TracebackType | None) -> str:
    """The operation that ended the innermost function: ``RAISE_VARARGS`` is a statement ``raise`` or ``assert``."""
    if trace is None:
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    return dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]]


def _unpacked(said: str) -> str:
    """What is wrong with an assignment to several names, from the message of Python."""
    numbers = re.findall(r"\d+", said)
    if said.startswith("too many"):
        return f"assigns to {numbers[0]} names, and there are more numbers ({said})"
    more = " or more" * ("at least" in said)
    return f"assigns to {numbers[0]} names{more}, and there are only {numbers[-1]} numbers ({said})"


def _is_float(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _check_vector(where: str, function: FunctionType, row: Any, t: float, lenient: bool) -> None:
    line = function.__code__.co_firstlineno
    if isinstance(row, tuple) and any(isinstance(x, complex) for x in row):
        raise TrialError(where, "torque returns a complex number: a power or root of a negative one", function, line)
    if not isinstance(row, tuple) or len(row) != 3 or not all(map(_is_float, row)):
        raise TrialError(
            where,
            f"torque returns {_in_words(row)}, where 3 floats are expected: (tx, ty, tz), the torque in the body frame",
            function,
            line,
        )
    if not lenient and not all(math.isfinite(x) for x in row):
        raise TrialError(
            where, f"torque returns {shown(tuple(map(float, row)))} at t = {t:g}: it must be finite", function, line
        )


def _in_words(value: Any) -> str:
    """What a function has returned, as its kind."""
    if isinstance(value, np.ndarray):
        import numba

        return str(numba.typeof(value)) if value.dtype.kind in "fiucb" else f"an array of {value.dtype}"
    if isinstance(value, tuple | list):
        kinds = list(dict.fromkeys("float" if _is_float(x) else type(x).__name__ for x in value))
        what = f"{len(value)} {kinds[0]}s" if len(kinds) == 1 else f"{len(value)} values ({', '.join(kinds[:4])})"
        return f"a list of {what}" if isinstance(value, list) else what
    return "None" if value is None else f"a value of type {type(value).__name__}"


def _compiled(where: str, name: str, compiler: Callable[[Any], Any], function: FunctionType) -> Callable[..., Any]:
    try:
        compiled: Callable[..., Any] = compiler(function)
        return compiled
    except Exception as error:
        file = Path(function.__code__.co_filename)
        line = line_of(file, error) or function.__code__.co_firstlineno
        raise TrialError(where, f"{name} does not compile: {reason_of(error)}", function, line) from error


def _compare(
    where: str,
    name: str,
    function: FunctionType,
    state: tuple[Any, ...],
    plain: Callable[..., Any],
    compiled: Callable[..., Any],
) -> None:
    """Refuse a function whose compiled numbers are others than those of plain Python."""
    try:
        expected = np.array(plain(*state), float)
        beside = np.array(plain(*_changed(state)), float)
    except (ArithmeticError, ValueError):
        return
    try:
        given = np.array(compiled(*state), float)
    except Exception as error:
        said = f"{type(error).__name__}: {str(error)[:SHOWN]}".rstrip(": ")
        reason = f"{name} raises {said} compiled and not in plain Python, at t = {state[0]:g}; write it as plain arithmetic"
        raise TrialError(where, reason, function, function.__code__.co_firstlineno) from None
    with np.errstate(all="ignore"):  # a torque may be infinite where the motion never gets
        allowed = SAME * np.abs(expected).max() + AMPLIFIED * np.abs(beside - expected).max() + 1e-300
    if np.isfinite(expected).all() and np.isfinite(allowed) and not (np.abs(given - expected) <= allowed).all():
        worst = int(np.argmax(~(np.abs(given - expected) <= allowed)))
        raise TrialError(
            where,
            f"{name} gives {given[worst]:g} compiled and {expected[worst]:g} in plain Python, at t = {state[0]:g}; compiled "
            "whole numbers overflow at 2^63: write them as floats, 1e20 for 10**20",
            function,
            function.__code__.co_firstlineno,
        )


def _changed(value: Any) -> Any:
    """Numbers in nested tuples, each changed by the relative amount :data:`CHANGE`."""
    return value * (1 + CHANGE) if isinstance(value, float) else tuple(map(_changed, value))


# ---- messages of the compiler ----


def reason_of(error: Exception) -> str:
    """The first reason in a message of the compiler, cut to 200 letters; for common mistakes, what to write instead."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reasons = [line for line in lines if not line.startswith(("Failed in", "During"))]
    first = (reasons or lines or [type(error).__name__])[0]
    if "Int value is too large" in first:
        return f"a whole number is beyond 2^63 ({first.rpartition(' ')[2][:30]}); write it as a float, such as 1e20 for 10**20"
    if statement := re.search(r"unsupported opcode \((\w+)\)", first):
        return f"this statement cannot be compiled ({statement[1]}); write plain arithmetic and assignments to single names"
    plain = re.match(r"Untyped \w+ name '(\w+)'.*<class 'function'>", first)
    if plain:
        return f"{plain[1]} is a plain function; write @kernel before it"
    if "_ol_array_allocate" in str(error) or "NRT required" in str(error):
        return "a kernel is given an array; kernels take and return floats and tuples of floats"
    call = next((line for line in reasons if line.startswith(">>> ")), "")
    return (f"{first.partition(' Raised from ')[0].rstrip(':. ')}" + (f": {call[4:]}" if call else ""))[:200]


def line_of(file: Path, error: Exception) -> int:
    """The number of the innermost line of ``file`` that the message of the compiler or the traceback names; 0 if there is
    none.
    """
    number = 0
    for name, line in re.findall(r'(?:File "|at |Raised from )([^"\n]+?)"?(?:, line | \()(\d+)', str(error)):
        with suppress(OSError):
            if (Path.cwd() / name).resolve() == file:
                number = int(line)
                break
    unknown = re.search(r"name '(\w+)' is not defined", reason_of(error))
    # For an unknown name the compiler gives the line of the call, or no line.
    return (_first_use(file, unknown[1]) or number) if unknown else number


def _first_use(file: Path, name: str) -> int:
    """The first line of a function in the file that uses this name; 0 if there is none."""
    if not file.is_file():
        return 0
    functions = [node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)]
    inside = (node for function in functions for part in function.body for node in ast.walk(part))
    return min((node.lineno for node in inside if isinstance(node, ast.Name) and node.id == name), default=0)


def source_line(file: Path, number: int) -> str:
    """The text of line ``number``, from 1, of a file, without the spaces around it; empty if there is none."""
    return linecache.getline(str(file), number).strip()
