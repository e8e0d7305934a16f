"""What a method may declare, and the checks of its declarations: each message names the method, the field and what to write."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from polhode.algebra.metrics import PUBLISHED_ERRORS
from polhode.interface.arguments import flag, function, number, plain_name, shown, text, whole
from polhode.methods.states import read_synchronous
from polhode.methods.translation import ADAMS, BY_TORQUE_TIME, Translation
from polhode.problems.problem import TORQUE_CLASSES
from polhode.registry import LAST

if TYPE_CHECKING:
    from polhode.methods.protocol import Method, OneTorque

#: The engines that can run a method.
ENGINES = ("single body", "many body")
OTHERS = "others"
#: The groups in which figures and tables list the methods, in this order. Methods without a group, and a user's own, come last.
GROUPS = (
    "new in this work",
    "SPIRAL and Omelyan",
    "leapfrogs of the angular momentum",
    "kicks at both ends",
    "splittings and variational",
    "PCDM and scalar factor",
    "implicit",
    "multistep",
    "simple",
    "engines and codes",
    "as published in 2024",
    "several torques per step",
    OTHERS,
)
#: Longer labels are truncated, since they appear in legends and in narrow columns.
LABEL_LENGTH = 48
#: The fields with one of a few words.
_WORDS = {"group": GROUPS, "momentum_frame": ("body", "lab"), "published_error": tuple(PUBLISHED_ERRORS)}
#: The fields with any words.
_TEXTS = (
    "source",
    "citation",
    "published_order",
    "starts",
    "reads",
    "variant_of",
    "reconstruction",
    "note",
    "drifts",
    "omega_handed",
)


def one_line(label: str) -> str:
    """The label on one line, without unprintable characters; if it is longer than ``LABEL_LENGTH`` it is truncated and ends in
    three dots.
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in label).split())
    return line if len(line) <= LABEL_LENGTH else f"{line[: LABEL_LENGTH - 3].rstrip()}..."


def check_method(method: "Method") -> None:
    """Refuse declarations of the wrong type or with impossible values.

    Raises
    ------
    TypeError, ValueError
        Naming the method and the field.
    """
    text("method: key", method.key, empty=False)
    plain_name("method key", method.key)
    where = f"method {method.key}:"
    text(f"{where} label", method.label, empty=False)
    text(f"{where} short_label", method.short_label)
    if not isinstance(method.other_names, tuple | list):
        raise TypeError(f'{where} other_names must be a tuple of texts such as ("SHAKE",), got {shown(method.other_names)}')
    for name in method.other_names:
        text(f"{where} other_names", name, empty=False)
    for name, known in _WORDS.items():
        value = text(f"{where} {name}", getattr(method, name))
        if value not in known:
            raise ValueError(f"{where} {name} must be one of {', '.join(map(repr, known))}, got {shown(value)}")
    whole(f"{where} rank", method.rank, least=0, most=LAST)
    for name in _TEXTS:
        text(f"{where} {name}", getattr(method, name))
    for name in ("normalises", "normalisable", "rotates_before_torque"):
        flag(f"{where} {name}", getattr(method, name))
    if not isinstance(method.engines, tuple | list) or not method.engines or not set(method.engines) <= set(ENGINES):
        raise ValueError(
            f"{where} engines must be a tuple of some of {', '.join(map(repr, ENGINES))}, got {shown(method.engines)}"
        )
    for name, arguments in method.kernels().items():
        _check_kernel(f"{where} {name}", getattr(method, name), arguments)
    if not -1 <= number(f"{where} stored_offset", method.stored_offset) <= 1:
        raise ValueError(f"{where} stored_offset is in steps, between -1 and 1, got {method.stored_offset!r}")
    for name in ("order_q", "order_omega"):
        whole(f"{where} {name}", getattr(method, name), least=1)
    _check_order_exceptions(f"{where} order_exceptions", method.order_exceptions)


def _check_order_exceptions(where: str, exceptions: Any) -> None:
    if not isinstance(exceptions, Mapping):
        raise TypeError(f'{where} must be a dict such as {{"velocity": (1, 1)}}, got {shown(exceptions)}')
    for torque_class, orders in exceptions.items():
        if torque_class not in TORQUE_CLASSES:
            known = ", ".join(TORQUE_CLASSES)
            raise ValueError(f"{where}: unknown torque class {torque_class!r}; known are: {known}")
        if not isinstance(orders, tuple | list) or len(orders) != 2:
            raise ValueError(f"{where}: orders must be two numbers of at least 1, got {shown(orders)}")
        for order in orders:
            whole(f"{where}: the order for {torque_class!r}", order, least=1)


def _check_kernel(name: str, kernel: Any, arguments: tuple[str, ...]) -> None:
    """Refuse a kernel that is not a function or cannot take its arguments."""
    plain = getattr(function(name, kernel), "py_func", kernel)
    code = getattr(plain, "__code__", None)
    if code is None or code.co_flags & 0x04:  # not a Python function, or one that takes any number of arguments
        return
    optional = len(getattr(plain, "__defaults__", None) or ())
    if not code.co_argcount - optional <= len(arguments) <= code.co_argcount:
        takes = ", ".join(code.co_varnames[: code.co_argcount])
        raise TypeError(
            f"{name} gets {len(arguments)} arguments ({', '.join(arguments)}), but takes {code.co_argcount}: {takes}"
        )


def check_one_torque(method: "OneTorque") -> None:
    """Refuse what a one-torque method cannot declare besides; its ``translation`` may still be None.

    Raises
    ------
    TypeError, ValueError
        Naming the method and the field.
    """
    where = f"method {method.key}:"
    if number(f"{where} torque_time", method.torque_time) not in BY_TORQUE_TIME:
        raise ValueError(f"{where} torque_time is 0, 0.5 or 1, got {method.torque_time!r}")
    if method.translation is not None and not isinstance(method.translation, Translation):
        raise TypeError(f"{where} translation must be a Translation or None, got {shown(method.translation)}")
    if whole(f"{where} warm_up_steps", method.warm_up_steps, least=0) == 0:
        return
    needs = {
        "torque_time=0.0": method.torque_time == 0.0,
        "rotates_before_torque=False": not method.rotates_before_torque,
        "read=polhode.methods.states.read_synchronous": method.read == read_synchronous,
        "translation=None": method.translation in (None, ADAMS),
    }
    for need, is_met in needs.items():
        if not is_met:
            raise ValueError(f"{where} warm_up_steps write q and omega of whole times; it needs {need}")
