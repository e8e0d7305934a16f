"""What a kernel computes with, as a language holds it: numbers, structures, and tuples that no variable holds yet.

Expressions are text. ``language`` is a :class:`polhode.export.language.Language`, which spells members and literals.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

#: How tightly an expression binds, from a conditional to a name, a literal or a call.
CONDITIONAL, AND, COMPARISON, SUM, PRODUCT, SIGN, ATOM = range(7)


@dataclass(frozen=True)
class Struct:
    """A structure for a tuple of numbers, one after the other, or for a tuple of several values (``nested``).

    ``constants`` are numbers behind its members that are fixed and that the structure therefore does not hold.
    """

    name: str
    members: tuple[tuple[str, "Struct | None"], ...]  #: name and structure of each; None is a double
    nested: bool = False
    constants: tuple[float, ...] = ()

    @property
    def width(self) -> int:
        """The number of numbers."""
        return sum(member.width if member else 1 for _, member in self.members) + len(self.constants)


@dataclass(frozen=True)
class Unknown(Struct):
    """A state whose members are not known yet, or a part of it: so many numbers from the number ``first`` on."""

    first: int = 0
    length: int = 0

    @property
    def width(self) -> int:
        """The number of numbers."""
        return self.length


VEC3 = Struct("vec3", (("x", None), ("y", None), ("z", None)))
QUAT = Struct("quat", (("w", None), ("x", None), ("y", None), ("z", None)))


@dataclass(frozen=True)
class Scalar:
    """A number: an expression and how tightly it binds, from :data:`CONDITIONAL` to :data:`ATOM`; ``integer``: a whole number.

    ``origin`` as in :class:`Stored`.
    """

    code: str
    binds: int = ATOM
    integer: bool = False
    origin: tuple[int, int] | None = None

    @property
    def width(self) -> int:
        """Its length in a tuple of numbers, 1."""
        return 1

    def within(self, binds: int) -> str:
        """The code as an operand of an operator of precedence ``binds``: in brackets where it binds less tightly."""
        return self.code if self.binds >= binds else f"({self.code})"


@dataclass(frozen=True)
class Stored:
    """A tuple in a structure: an expression. ``origin``: the part of an :class:`Unknown` state that it is, first number and
    end.
    """

    code: str
    struct: Struct
    origin: tuple[int, int] | None = None

    @property
    def width(self) -> int:
        """The number of numbers."""
        return self.struct.width

    @property
    def repeatable(self) -> bool:
        """Whether it is a variable or a member of one, which may be written twice."""
        return re.fullmatch(r"[\w.%]+(\(\d+:\d+\))?", self.code) is not None


@dataclass(frozen=True)
class Joined:
    """Numbers and tuples of numbers, one after the other, which no variable holds yet; ``struct`` is theirs if it is known."""

    items: "tuple[Scalar | Stored, ...]"
    struct: Struct | None = None

    @property
    def width(self) -> int:
        """The number of numbers."""
        return sum(item.width for item in self.items)


@dataclass(frozen=True)
class Group:
    """Several values, as a kernel returns them; ``struct`` is theirs if it is known."""

    items: "tuple[Value, ...]"
    struct: Struct | None = None


@dataclass(frozen=True)
class Handed:
    """What a kernel only hands on: the function of the torque and its parameters."""

    code: str
    kind: str


Flat: TypeAlias = Scalar | Stored | Joined
Value: TypeAlias = Flat | Group | Handed
#: The types of a whole number, and of what is only handed on: a torque and its parameters.
WHOLE, TORQUE, PARAMETERS = "whole", "torque", "parameters"
#: The type of an argument: a structure, a double (None), or one of those.
Argument: TypeAlias = Struct | str | None


def row(*items: Flat) -> Flat:
    """The numbers of all items one after the other, as a :class:`Joined`."""
    flat: list[Scalar | Stored] = []
    for item in items:
        flat += item.items if isinstance(item, Joined) else [item]
    return Joined(tuple(flat))


def cut(value: Flat, first: int, end: int, language: Any) -> Flat:
    """The numbers of a value from position ``first`` to before ``end``, counted from 0; of a single one a :class:`Scalar`."""
    if isinstance(value, Scalar) or ((first, end) == (0, value.width) and value.width > 1):
        return value
    if isinstance(value, Stored) and isinstance(value.struct, Unknown):
        return _unknown_part(value, first, end)
    overlapping = _overlapping(value, first, end, language)
    items = [cut(item, max(first - at, 0), min(end - at, item.width), language) for item, at in overlapping]
    return items[0] if len(items) == 1 else row(*items)


def _overlapping(value: Stored | Joined, first: int, end: int, language: Any) -> Iterator[tuple[Flat, int]]:
    """The items of a value that have numbers between these, each with the position of its first number."""
    at = 0
    for item in value.items if isinstance(value, Joined) else _members(value, language):
        if at < end and first < at + item.width:
            yield item, at
        at += item.width


def _members(value: Stored, language: Any) -> list[Scalar | Stored]:
    """The members of a structure, and its constants."""
    members: list[Scalar | Stored] = [member_of(value, i, language) for i in range(len(value.struct.members))]
    return [*members, *(literal(x, language) for x in value.struct.constants)]


def literal(number: float, language: Any) -> Scalar:
    """A number as the literal that the language writes for it."""
    return Scalar(language.literal(number), language.sign_binds if number < 0 else ATOM)


def member_of(value: Stored, i: int, language: Any) -> Any:
    """Member ``i``, from 0, of a value in a structure: a :class:`Scalar` for a number, else a :class:`Stored`."""
    struct = value.struct.members[i][1]
    code = language.member(value.code, value.struct, i)
    return Stored(code, struct) if struct else Scalar(code)


def _unknown_part(value: Stored, first: int, end: int) -> Flat:
    assert isinstance(value.struct, Unknown)
    origin = (value.struct.first + first, value.struct.first + end)
    code = f"{value.code}_{first}_{end}"
    if end - first == 1:
        return Scalar(code, origin=origin)
    struct = {3: VEC3, 4: QUAT}.get(end - first) or Unknown("", (), first=origin[0], length=end - first)
    return Stored(code, struct, origin)


def members_of_state(
    state: str,
    width: int,
    named: list[tuple[int, int, str]],
    pieces: list[tuple[int, int, str]],
    shapes: dict[tuple[str, ...], Struct],
) -> Struct:
    """The structure of a method's state, from the parts that its kernels take out of it and put into it.

    Parameters
    ----------
    state : the name of its structure
    width : of the state, in numbers
    named : the parts taken out: first number, end, and the name that it gets there or ""
    pieces : the parts of which states are put together, likewise; they count where nothing is taken out
    shapes : structures that exist, by the structures of their members; a part of a state of the same shape has the same. The
        structures of parts are added or renamed.
    """
    names: dict[tuple[int, int], list[str]] = {}
    for first, end, _ in sorted(named, key=lambda piece: piece[1] - piece[0]):
        if all(end <= a or b <= first or (a <= first and end <= b) or (first <= a and b <= end) for a, b in names):
            names.setdefault((first, end), [])
    for first, end, _ in pieces:
        if all(end <= a or b <= first for a, b in names) and end - first < width:
            names.setdefault((first, end), [])
    for first, end, name in [*named, *pieces]:
        if (first, end) in names and name:
            names[first, end].append(name)

    def struct(first: int, end: int, name: str) -> Struct | None:
        inner = [piece for piece in names if first <= piece[0] and piece[1] <= end and piece != (first, end)]
        inner = sorted(p for p in inner if not any(o != p and o[0] <= p[0] and p[1] <= o[1] for o in inner))
        if not inner and end - first in (1, 3, 4):
            return {1: None, 3: VEC3, 4: QUAT}[end - first]
        parts, at = [], first
        for piece in [*inner, (end, end)]:
            if piece[0] - at in (1, 3, 4):
                parts.append((at, piece[0]))
            else:
                parts += [(i, i + 1) for i in range(at, piece[0])]
            parts += [piece] if piece[1] > piece[0] else []
            at = piece[1]
        members: list[tuple[str, Struct | None]] = []
        for a, b in parts:
            default = {3: "v", 4: "q"}.get(b - a, "x")
            taken = {member for member, _ in members}
            candidates = names.get((a, b), [])
            label = next((candidate for candidate in candidates if candidate not in taken), None) or unused(
                (candidates or [default])[0], taken
            )
            members.append((label, struct(a, b, f"{state.removesuffix('state')}{label}")))
        part_of_state = Struct(name, tuple(members))
        if end - first == width:
            return part_of_state
        known = shapes.get(shape(members), part_of_state)
        # The names of parts say more than those that a returned tuple got without a name.
        named_better = _named(part_of_state) >= _named(known)
        shapes[shape(members)] = Struct(known.name, part_of_state.members) if named_better else known
        return shapes[shape(members)]

    made = struct(0, width, state)
    assert made is not None
    return made


def _named(struct: Struct) -> int:
    """How many members have a name that says something."""
    return sum(name.rstrip("0123456789") not in ("x", "v", "q") for name, _ in struct.members)


def shape(members: "Sequence[tuple[str, Struct | None]]") -> tuple[str, ...]:
    """The names of the types of members, "double" for a number; ``members`` are pairs of name and structure, None for a
    number.
    """
    return tuple(member.name if member else "double" for _, member in members)


def unused(name: str, taken: Iterable[str]) -> str:
    """The name, with a number from 2 on behind it if it is taken; capitals do not distinguish names in every language."""
    folded = {label.casefold() for label in taken}
    numbers = itertools.count(2)
    while (candidate := name if name.casefold() not in folded else f"{name}{next(numbers)}").casefold() in folded:
        pass
    return candidate
