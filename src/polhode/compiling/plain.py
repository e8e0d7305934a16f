"""Copies of compiled functions that run as plain Python on numbers other than floats: power series, counting floats."""

import math
from collections.abc import Callable, Mapping
from functools import cache
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any


def plain_copy(function: Callable[..., Any], mathematics: Mapping[Callable[..., Any], Callable[..., Any]], lack: str) -> Any:
    """A copy of a plain-Python or compiled function in which nothing is compiled, down the whole tree of functions it calls.

    Parameters
    ----------
    function : callable
        The function to copy; it remains unchanged, and so do all functions that it calls.
    mathematics : mapping
        Functions of ``math`` -> their replacements in the copy.
    lack : str
        Error message for any other function of ``math``; ``{name}`` is its name, ``{known}`` lists the available ones.

    Raises
    ------
    ValueError
        If the function, or one that it calls, uses a function of ``math`` without a replacement.
    """

    class Module:
        """A module whose members are converted on access."""

        def __init__(self, module: ModuleType) -> None:
            self.module = module

        def __getattr__(self, name: str) -> Any:
            return convert(getattr(self.module, name))

    done: dict[FunctionType, FunctionType] = {}

    def convert(value: Any) -> Any:
        value = getattr(value, "py_func", value)
        if isinstance(value, ModuleType):
            return Module(value)
        if isinstance(value, BuiltinFunctionType) and value.__module__ == math.__name__:
            if value not in mathematics:
                raise ValueError(lack.format(name=value.__name__, known=", ".join(f.__name__ for f in mathematics)))
            return mathematics[value]
        if not isinstance(value, FunctionType):
            return value
        if value not in done:
            cells = tuple(CellType(convert(cell.cell_contents)) for cell in value.__closure__ or ())
            names = dict(value.__globals__)
            done[value] = FunctionType(value.__code__, names, value.__name__, value.__defaults__, cells)
            for name in names_of(value.__code__) & set(names):
                names[name] = convert(names[name])
        return done[value]

    return convert(function)


#: The functions of ``math`` on floats.
MATHEMATICS: dict[Callable[..., Any], Callable[..., Any]] = {
    f: f for f in vars(math).values() if isinstance(f, BuiltinFunctionType)
}


@cache
def in_plain_python(function: Callable[..., Any]) -> Any:
    """The kernel, and all that it calls, as plain Python on floats: the bits of the compiled one, without its compilation."""
    return plain_copy(function, MATHEMATICS, "no function {name}")


def names_of(code: CodeType) -> set[str]:
    """All names that a function looks up, including those in its comprehensions and inner functions."""
    return set(code.co_names).union(*(names_of(inner) for inner in code.co_consts if isinstance(inner, CodeType)))
