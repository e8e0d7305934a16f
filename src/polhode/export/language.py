"""How the translator writes a language: what the languages have in common."""

import ast
import itertools
import math
import re
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from polhode.algebra.quaternion import PI_HIGH, PI_LOW, ROUND
from polhode.export import values
from polhode.export.values import Argument, Scalar, Struct

#: The longest line.
WIDTH = 120
#: Words that a variable cannot have as its name in C or C++, nor so in the other languages, which have it easier.
RESERVED = frozenset(
    re.findall(
        r"\w+",
        """alignas alignof and asm auto bool break case catch char class compl concept const constexpr continue decltype default
        delete do double else enum explicit export extern false final float for friend goto if inline int long mutable namespace
        new noexcept not nullptr operator or private protected public register requires restrict return short signed sizeof
        static struct switch template this throw true try typedef typeid typename union unsigned using virtual void volatile
        while xor vec3 quat inertia main sqrt""",
    )
)

#: Constants that are made for the digits of double precision, and what takes their place in single precision.
_SINGLE = {ROUND: 1.5 * 2.0**23, PI_HIGH: 3.140625, PI_LOW: math.pi - 3.140625}


def in_single(number: float) -> float:
    """A constant of a kernel in single precision, as a float that has the value of one.

    One beyond the range of single precision, whose exponents reach an eighth as far, becomes its eighth root, with its sign.
    Those that are made for the digits of double precision have others in their place.
    """
    number = _SINGLE.get(number, number)
    if number and not float(np.finfo(np.float32).tiny) <= abs(number) <= float(np.finfo(np.float32).max):
        number = math.copysign(abs(number) ** 0.125, number)
    return float(np.float32(number))


def capitalised(name: str) -> str:
    """A name of words with underscores as one of words with capitals: ``HalfStep`` of ``half_step``."""
    return "".join(word.capitalize() for word in name.split("_"))


class Language(ABC):
    """How the expressions and statements of kernels are spelled.

    Expressions of the languages are alike: names, calls, brackets and the four operations are the translator's own.

    All code is text: ``code``, ``codes``, ``test``, ``yes`` and ``no`` are expressions, ``name`` is the name and ``typed`` the
    type of a variable. Methods return a single statement without indentation, and lists of lines with it, of ``depth`` levels
    of four spaces. Arguments and variables of a function are pairs of type and name. A language does not read what it does not
    write, such as types where it has none.
    """

    #: Whether a condition chooses among numbers that have both been computed, for arrays over bodies, and does not branch.
    masks: ClassVar[bool] = False
    #: Whether a structure can be an expression, and not only the first value of a variable.
    constructs: ClassVar[bool] = True
    #: Whether a function may assign to its arguments.
    arguments_change: ClassVar[bool] = True
    #: Whether the result of a function has a name.
    names_results: ClassVar[bool] = False
    #: Whether a torque gets the parameters that a run was called with.
    hands_parameters: ClassVar[bool] = True
    #: Whether numbers are of single precision.
    single: bool = False
    reserved: ClassVar[frozenset[str]] = RESERVED
    #: Functions that it has itself.
    functions: ClassVar[frozenset[str]] = frozenset()
    #: Comparisons that are not written as in Python.
    comparisons: ClassVar[Mapping[type[ast.cmpop], str]] = {}
    #: The square root; how tightly a sign and a choice bind.
    root: str = "sqrt"
    sign_binds: ClassVar[int] = values.SIGN
    choice_binds: ClassVar[int] = values.ATOM
    #: What opens a comment, begins its other lines and closes it.
    comment_marks: ClassVar[tuple[str, str, str]]
    #: Lines of branches and loops, with places for what is in them: a condition; the name and the end of a counter.
    branch: ClassVar[str]
    further_branch: ClassVar[str]
    loop: ClassVar[str]
    count: ClassVar[str]
    otherwise: ClassVar[str]
    end_if: ClassVar[str]
    end_loop: ClassVar[str]

    @abstractmethod
    def type_of(self, argument: Argument) -> str:
        """The type of an argument or a variable as the language writes it."""

    @abstractmethod
    def constant(self, name: str, value: float | int) -> str:
        """The statement that declares a constant of the file."""

    @abstractmethod
    def literal(self, number: float | int) -> str:
        """The literal for a number."""

    def number(self, number: float | int) -> float | int:
        """A constant in the precision of the language, as a number of Python."""
        return in_single(number) if self.single and isinstance(number, float) else number

    def rounded(self, number: Scalar) -> Scalar:
        """The expression for the result of an operation in the precision of the language, where that must be said."""
        return number

    def real(self, number: Scalar) -> Scalar:
        """The expression for a number as one of double precision: some languages divide integers as integers."""
        if not number.integer:
            return number
        if number.code.lstrip("-").isdigit():
            return Scalar(self.literal(float(number.code)), number.binds)
        return self.converted(number)

    @abstractmethod
    def converted(self, number: Scalar) -> Scalar:
        """The expression that converts a whole number into one of double precision."""

    @abstractmethod
    def member(self, code: str, struct: Struct, i: int) -> str:
        """The expression for member ``i``, from 0, of the structure ``struct`` that the expression ``code`` stands for."""

    @abstractmethod
    def constructed(self, struct: Struct, codes: Sequence[str]) -> str:
        """The expression that makes a structure, such as a vector or a quaternion, of its members, each given as code."""

    def initialiser(self, struct: Struct, codes: Sequence[str]) -> str:
        """The code for a structure of these members, where a variable gets its first value."""
        return self.constructed(struct, codes)

    @abstractmethod
    def choice(self, test: str, yes: str, no: str, of: Struct | None) -> str:
        """The expression for ``yes`` where the condition ``test`` holds and ``no`` elsewhere.

        ``of``: the structure of both, None for numbers.
        """

    @abstractmethod
    def both(self, tests: Sequence[str]) -> str:
        """The condition that all of these hold."""

    def assigned(self, name: str, code: str) -> str:
        """The statement that assigns an expression to a variable that is there."""
        return f"{name} = {code}"

    def initialised(self, typed: str, name: str, code: str, constant: bool) -> str:
        """The statement that assigns the first value to a variable; ``constant``: it is the only one."""
        return self.assigned(name, code)

    def declaration(self, typed: str, name: str) -> list[str]:
        """The statements that declare a variable before the branches that assign to it, without indentation; there may be
        none.
        """
        return []

    @abstractmethod
    def returned(self, code: str, name: str, depth: int) -> list[str]:
        """The lines that end a function with this result, whose name is ``name`` where it has one."""

    def heading(self, text: str, arguments: Sequence[tuple[str, str]], result: str) -> list[str]:
        """The lines of the comment above a function: its text.

        In some languages also ``arguments``, pairs of type and name, and the type of the ``result``.
        """
        return self.comment(text)

    @abstractmethod
    def function(
        self,
        name: str,
        result: str,
        arguments: Sequence[tuple[str, str]],
        idle: Sequence[str],
        variables: Sequence[tuple[str, str]],
        lines: Sequence[str],
        result_name: str,
    ) -> list[str]:
        """The lines of a function.

        Parameters
        ----------
        name, result : of the function, and the type of its result
        arguments : type and name of each
        idle : names of the arguments that are not read
        variables : type and name of each variable of its body
        lines : of its body, indented
        result_name : the variable of the result, in a language that has one
        """

    @abstractmethod
    def structure(self, struct: Struct) -> str:
        """The text that declares a structure."""

    def broken(self, line: str, depth: int) -> list[str]:
        """The lines, at most :data:`WIDTH` wide where possible, of one statement."""
        return exploded(line, depth)

    def comment(self, text: str, depth: int = 0) -> list[str]:
        """The lines of a comment from a text in the markup of docstrings; formulas stay as they are written for LaTeX."""
        opening, following, closing = self.comment_marks
        text = re.sub(r":\w+:`~?([^`]*)`", r"\1", text.strip().replace("``", "").replace("*/", "* /").replace("/*", "/ *"))
        text = re.sub(r"\n{3,}", "\n\n", text.replace(".. math::", ""))
        paragraphs = re.split(r"\n\n", text)
        lines = [line for paragraph in paragraphs for line in [*_filled(paragraph.splitlines(), depth), ""]][:-1]
        indent = "    " * depth
        lines = [f"{indent}{following if n else opening}{line}".rstrip() for n, line in enumerate(lines)]
        return [*lines[:-1], f"{lines[-1]}{closing}"]


def _filled(paragraph: Sequence[str], depth: int) -> list[str]:
    """A paragraph in lines that fit: set anew if it is too wide, unless it is a list or a formula."""
    width = WIDTH - 4 * depth - len("/*  */")
    if max(map(len, paragraph), default=0) <= width:
        return list(paragraph)
    if any(line.startswith((" ", "---")) for line in paragraph):
        indents = ["    " + line[: len(line) - len(line.lstrip())] for line in paragraph]
        pairs = zip(paragraph, indents, strict=True)
        return [row for line, indent in pairs for row in textwrap.wrap(line, width, subsequent_indent=indent)]
    return textwrap.wrap(" ".join(paragraph), width)


def exploded(line: str, depth: int) -> list[str]:
    """The lines of one line of code, indented by ``depth`` levels of four spaces.

    Of a line that is too long the items between its outermost brackets stand on lines of their own.
    """
    indent, inner = "    " * depth, "    " * (depth + 1)
    if len(indent) + len(line) <= WIDTH:
        return [indent + line]
    levels = list(itertools.accumulate((letter in "({[") - (letter in ")}]") for letter in line))
    commas = [i for i, letter in enumerate(line) if letter == "," and levels[i] == 1]
    # Before the last operator that fits, of those least deep in brackets.
    breaks = [i for i in range(len(line)) if line[i : i + 3] in (" + ", " - ", " * ", " / ") and len(indent) + i <= WIDTH]
    bracket = next((i for i in range(len(line)) if levels[i] == 1), len(line))
    if len(indent) + bracket >= WIDTH and " = " in line[:bracket]:
        name, _, code = line.partition(" = ")
        return [f"{indent}{name} =", *exploded(code, depth + 1)]
    if commas or (not breaks and 1 in levels):
        first = (commas or [levels.index(0, bracket)])[0]
        opening = max(i for i in range(first) if levels[i] == 1 and line[i] in "({[" and levels[i - 1] == 0)
        closing = next(i for i in range(first, len(line)) if levels[i] == 0)
        ends = [opening, *(i for i in commas if i < closing), closing]
        items = [line[a + 1 : b].strip() for a, b in itertools.pairwise(ends)]
        packed = inner + ", ".join(items)
        rows = (
            [packed]
            if len(packed) <= WIDTH
            else [row for i, item in enumerate(items) for row in exploded(item + "," * (i < len(items) - 1), depth + 1)]
        )
        return [indent + line[: opening + 1], *rows, *exploded(line[closing:], depth)]
    if not breaks:
        return [indent + line]
    at = max(breaks, key=lambda i: (-levels[i], line[i + 1] in "+-", i))
    return [indent + line[:at], *exploded(line[at + 1 :], depth + 1)]
