"""What the kernels of a law of force answer, checked before the loop over steps is compiled with them.

The compiler's own message would be about the engine: a number too few is not seen at all, or far from the file of the law.
"""

from typing import Any

import numba
from numba import types
from numba.extending import is_jitted

from polhode.compiling.signatures import float_type, vector_type
from polhode.manybody.law import ForceLaw, Response, Touch

#: What comes before the compiler's own words.
_PREAMBLE = "Failed in nopython mode pipeline"
_touch = types.NamedTuple([vector_type if kind is Any else float_type for kind in Touch.__annotations__.values()], Touch)


def check_answers(law: ForceLaw) -> None:
    """Refuse a law whose kernels cannot be compiled, or return anything else than the floats that it declares.

    Where compilation is switched off nothing is checked.

    Raises
    ------
    TypeError
        Naming the law and the kernel.
    """
    if numba.config.DISABLE_JIT:
        return
    constants, history = _floats(law.width), _floats(law.history)
    if law.normal is not None:
        answer = _answer(law, "normal", law.normal, (float_type, float_type, constants))
        if not _is_floats(answer, 2):
            raise TypeError(f"law {law.key}: normal must return two floats, force and energy, got {answer}")
    for name, function in (("lennard_jones", law.lennard_jones), ("coulomb", law.coulomb)):
        if function is not None:
            answer = _answer(law, name, function, (float_type, constants))
            if not _is_floats(answer, 2):
                raise TypeError(f"law {law.key}: {name} must return two floats, slope and energy, got {answer}")
    if law.contact is not None:
        answer = _answer(law, "contact", law.contact, (_touch, history, constants))
        if not (isinstance(answer, types.BaseNamedTuple) and answer.instance_class is Response):
            raise TypeError(f"law {law.key}: contact must return a Response, got {answer}")
        sizes = {"force": 3, "couple": 3, "history": law.history, "stored": 2, "work": 4}
        for (name, size), kind in zip(sizes.items(), answer, strict=True):
            _require(law, f"{name} in the Response of contact must be", size, kind)
    if law.end is not None:
        _require(law, "end must return the four parts of work,", 4, _answer(law, "end", law.end, (history,)))


def _floats(size: int) -> types.Type:
    return types.UniTuple(float_type, size) if size else types.Tuple(())


def _is_floats(kind: Any, size: int) -> bool:
    return isinstance(kind, types.BaseTuple) and len(kind) == size and all(item == float_type for item in kind)


def _require(law: ForceLaw, what: str, size: int, kind: Any) -> None:
    if not _is_floats(kind, size):
        declared = f", as history={size} declares" if "history" in what else ""
        hint = "; write 0.0 instead of 0" if "int64" in str(kind) else ""
        raise TypeError(f"law {law.key}: {what} a tuple of {size} floats{declared}, got {kind}{hint}")


def _answer(law: ForceLaw, name: str, function: Any, arguments: tuple[Any, ...]) -> Any:
    """The type of what a kernel returns."""
    dispatcher = getattr(function, "dispatcher", function)
    if not is_jitted(dispatcher):
        raise TypeError(f"law {law.key}: {name} is not a kernel; put @kernel above its definition")
    try:
        dispatcher.compile(arguments)
    except numba.NumbaError as error:
        lines = [line for line in str(error).splitlines() if line.strip() and not line.startswith(_PREAMBLE)]
        sizes = f"of {law.width} constants and a history of {law.history}"
        raise TypeError(f"law {law.key}: the kernel {name}, {sizes}, cannot be compiled: " + "\n".join(lines)) from error
    return dispatcher.overloads[arguments].signature.return_type
