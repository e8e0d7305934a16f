"""A method as a module of Fortran 2008."""

import ast
import re
import textwrap
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import ClassVar

from polhode.export import values
from polhode.export.language import RESERVED, WIDTH, exploded
from polhode.export.program import DT, PASSES, STEPS, Program, end_of_run, head
from polhode.export.translator import Translator
from polhode.export.values import PARAMETERS, TORQUE, WHOLE, Argument, Scalar, Struct
from polhode.methods.one_body import SOME_BODY, SOME_OMEGA, SOME_Q
from polhode.methods.protocol import Method

_RESERVED = frozenset(
    re.findall(
        r"\w+",
        """call contains cycle data end endif exit function in int64 integer merge module none only out parameter procedure
        program pure real real64 result save select stop subroutine then type use where""",
    )
)
_FUNCTIONS = frozenset(
    re.findall(r"\w+", "abs dot_product exponent fraction index matmul product range scale shape sign size sum")
)
#: Vectors, quaternions and the nine numbers of a body are arrays.
_LENGTHS = {"quat": 4, "vec3": 3, "inertia": 9}
_INTERFACE = """abstract interface
    ! The torque in the body frame at the time t; parameters are handed on as they are.
    pure function torque_function(t, q, omega, parameters) result(torque)
        import :: real64
        real(real64), intent(in) :: t, q(4), omega(3), parameters(:)
        real(real64) :: torque(3)
    end function
end interface"""


class Fortran(Program):
    """Pure functions on arrays and derived types of ``real64``.

    Code, types and lines are text, as in :class:`~polhode.export.language.Language`. Arguments and variables of a function are
    pairs of type and name; ``structs`` are the structures of a file, ``file`` the translator that holds its functions and
    constants.
    """

    name, suffix = "fortran", ".F90"
    qualified, public = False, True
    arguments_change = False
    names_results = True
    reserved = RESERVED | _RESERVED
    functions = _FUNCTIONS
    comparisons: ClassVar = {ast.NotEq: "/="}
    sign_binds = values.SUM
    comment_marks = "! ", "! ", ""
    branch, further_branch, loop = "if (%s) then", "else if (%s) then", "do while (%s)"
    count = "do %(name)s = 0, %(rounds)s - 1"
    otherwise, end_if, end_loop = "else", "end if", "end do"

    def type_of(self, argument: Argument) -> str:
        """The type in Fortran of an argument or a variable, with the dimension of an array."""
        if isinstance(argument, Struct):
            length = _LENGTHS.get(argument.name)
            return f"real(real64), dimension({length})" if length else f"type({argument.name})"
        return {
            None: "real(real64)",
            WHOLE: "integer(int64)",
            TORQUE: "procedure(torque_function)",
            PARAMETERS: "real(real64), dimension(:)",
        }[argument]

    def inertia_of(self, key: str) -> str:
        """The name of the function that makes a body from its moments, in the module of the method ``key``."""
        return f"{key}_inertia_of"

    def constant(self, name: str, value: float | int) -> str:
        """The line that declares a constant as a parameter."""
        return f"{self.type_of(WHOLE if isinstance(value, int) else None)}, parameter :: {name} = {self.literal(value)}"

    def literal(self, number: float | int) -> str:
        """The literal for a number, as Python writes it, with the kind behind a real number."""
        return repr(number) if isinstance(number, int) else f"{number!r}_real64"

    def converted(self, number: Scalar) -> Scalar:
        """The expression that converts a whole number to the kind of all others."""
        return Scalar(f"real({number.code}, real64)")

    def member(self, code: str, struct: Struct, i: int) -> str:
        """The expression for member ``i``, from 0, of the structure that ``code`` stands for.

        It is an element of an array, a section of the numbers of a body, or a component.
        """
        if struct.name == "inertia":
            return f"{code}({3 * i + 1}:{3 * i + 3})"
        if struct.name in _LENGTHS:
            section = re.fullmatch(r"(.+)\((\d+):\d+\)", code)
            return f"{section[1]}({int(section[2]) + i})" if section else f"{code}({i + 1})"
        return f"{code}%{struct.members[i][0]}"

    def constructed(self, struct: Struct, codes: Sequence[str]) -> str:
        """The expression that makes an array of these members, or a structure by the name of its type."""
        return f"[{', '.join(codes)}]" if struct.name in _LENGTHS else f"{struct.name}({', '.join(codes)})"

    def choice(self, test: str, yes: str, no: str, of: Struct | None) -> str:
        """The expression for ``yes`` where the condition ``test`` holds, else ``no``, with the intrinsic function ``merge``."""
        return f"merge({yes}, {no}, {test})"

    def both(self, tests: Sequence[str]) -> str:
        """The condition that all of these hold, joined by ``.and.``."""
        return " .and. ".join(tests)

    def returned(self, code: str, name: str, depth: int) -> list[str]:
        """The lines that set the result, whose name is ``name``, and end the function."""
        return [*self.broken(f"{name} = {code}", depth), f"{'    ' * depth}return"]

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
        """The lines of a pure function with the result ``result_name``; a return at its end is not written.

        ``variables`` are the variables of its body, ``lines``; ``idle``, the arguments that are not read, is not
        needed.
        """
        intents = [(of if of.startswith("procedure") else f"{of}, intent(in)", code) for of, code in arguments]
        declared = [
            *_declarations(intents),
            *_declarations([(result, result_name)]),
            *_declarations(sorted(variables, key=itemgetter(0))),
        ]
        body = lines[:-1] if lines[-1] == "    return" else lines
        first = self.broken(f"pure function {name}({', '.join(code for _, code in arguments)}) result({result_name})", 0)
        return [*first, *(f"    {line}" for line in declared), "", *body, "end function"]

    def structure(self, struct: Struct) -> str:
        """The text that declares a structure as a derived type."""
        members = [(self.type_of(member), name) for name, member in struct.members]
        return "\n".join([f"type :: {struct.name}", *(f"    {line}" for line in _declarations(members)), "end type"])

    def broken(self, line: str, depth: int) -> list[str]:
        """The lines of a statement, all but the last with the sign that it goes on."""
        rows = exploded(line, depth)
        return [*(f"{row} &" for row in rows[:-1]), rows[-1]]

    def file(self, method: Method, file: Translator, structs: Sequence[Struct], test: str) -> str:
        """The text of the module of a method, and of the program that tests it, ``test``."""
        key = method.key
        use = (
            f"The module polhode_{key} has {key}_run, which shows a run, with body = {key}_inertia_of(moments): Ix, Iy,\n"
            "Iz; 1/Ix, 1/Iy, 1/Iz; (Iy - Iz)/Ix, (Iz - Ix)/Iy, (Ix - Iy)/Iz. Quaternions are Hamilton's, scalar first.\n"
            "Compiled with -ffp-contract=off and without -ffast-math it gives the bits of polhode. A test, which prints ok:\n"
            f"gfortran -D{key.upper()}_MAIN {key}.F90"
        )
        public = [name for name in (*(s.name for s in structs), *sorted(file.names)) if name.startswith(f"{key}_")]
        parts = [
            "\n".join(self.comment(head(method, "Fortran 2008", use))),
            "\n".join(
                [
                    f"module polhode_{key}",
                    "use, intrinsic :: iso_fortran_env, only: int64, real64",
                    "implicit none",
                    "private",
                    *_declarations([("public", name) for name in public]),
                ]
            ),
            *self.structures(method, structs),
            "\n".join(file.lines_of_constants()),
            _INTERFACE,
            "contains",
            *file.texts,
            "end module",
            test,
        ]
        return "\n\n".join(text for text in parts if text) + "\n"

    def test(self, method: Method, torque: str, torque_text: str, reading: Struct) -> str:
        """The text of a program that repeats a run, which is compiled if the macro ``KEY_MAIN`` is defined.

        ``torque`` is the name and ``torque_text`` the text of the function of its torque, ``reading`` the structure of q and
        omega.
        """
        key = method.key
        q, omega = (name for name, _ in reading.members)
        expected = ", &\n    ".join(self.literal(x) for x in end_of_run(method))
        q0, omega0, moments = (
            f"[{', '.join(map(self.literal, numbers))}]" for numbers in (SOME_Q, SOME_OMEGA, SOME_BODY.inertia)
        )
        arguments = f"{q0}, {omega0}, {key}_inertia_of({moments}), {torque}, [0.0_real64], {self.literal(DT)}, {STEPS}_int64"
        run = "\n".join(self.broken(f"last = {key}_run({arguments})", 0))
        return f"""#ifdef {key.upper()}_MAIN
program {key}_main
use, intrinsic :: iso_fortran_env, only: int64, real64
use polhode_{key}
implicit none
real(real64), parameter :: expected(7) = [ &
    {expected}]
real(real64) :: numbers(7)
type({reading.name}) :: last
{run}
numbers = [last%{q}, last%{omega}]
print '(es24.16)', numbers
if (.not. maxval(abs(numbers - expected)) <= {self.literal(PASSES)}) error stop 'differs'
print '(a)', 'ok'

contains

{torque_text}

end program
#endif"""


def _declarations(variables: Sequence[tuple[str, str]]) -> list[str]:
    """Lines that declare these, by type and name, in this order; neighbours of one type on as few lines as hold them."""
    return [
        f"{of} :: {line.rstrip(',')}"
        for of, pairs in groupby(variables, key=itemgetter(0))
        for line in textwrap.wrap(", ".join(name for _, name in pairs), WIDTH - len(of) - 8, break_long_words=False)
    ]
