"""A method as a static class of C#, for Unity, Godot, Stride and .NET."""

import re
from collections.abc import Sequence
from typing import Self

from polhode.export import values
from polhode.export.language import RESERVED, capitalised, exploded
from polhode.export.program import DT, EXPORTED, MEANINGS, STEPS, Braces, end_of_run, head, numbers_of_end
from polhode.export.translator import Translator
from polhode.export.values import PARAMETERS, QUAT, TORQUE, VEC3, WHOLE, Argument, Scalar, Struct
from polhode.methods.one_body import SOME_BODY, SOME_OMEGA, SOME_Q
from polhode.methods.protocol import Method

_RESERVED = frozenset(
    re.findall(
        r"\w+",
        """abstract as base byte checked decimal delegate event fixed foreach implicit in interface internal is lock null object
        out override params readonly ref sbyte sealed stackalloc string uint ulong unchecked unsafe ushort Math""",
    )
)


class CSharp(Braces):
    """Static functions on structures that are copied; nothing is allocated.

    Code, types and lines are text, as in :class:`~polhode.export.language.Language`. Arguments and variables of a function are
    pairs of type and name; ``structs`` are the structures of a file, ``file`` the translator that holds its functions and
    constants.
    """

    name, suffix = "csharp", ".cs"
    qualified = public = False
    has_single = True
    hands_parameters = False
    reserved = RESERVED | _RESERVED
    root = "Math.Sqrt"
    comment_marks = "// ", "// ", ""
    count = "for (long %(name)s = 0; %(name)s < %(rounds)s; %(name)s++) {"

    @property
    def number_type(self) -> str:
        """The type of a number: ``double``, or ``float`` in single precision."""
        return "float" if self.single else "double"

    def in_single(self) -> Self:
        """A copy of the language with ``float`` for every number."""
        made = super().in_single()
        made.root = "(float)Math.Sqrt"
        return made

    def rounded(self, number: Scalar) -> Scalar:
        """The expression for a result, rounded to single precision if that is meant: C# allows more digits in an expression."""
        return Scalar(f"(float)({number.code})", values.SIGN) if self.single else number

    def type_of(self, argument: Argument) -> str:
        """The type in C# of an argument or a variable."""
        if isinstance(argument, Struct):
            return capitalised(argument.name)
        return {None: self.number_type, WHOLE: "long", TORQUE: "Torque", PARAMETERS: "object"}[argument]

    def inertia_of(self, key: str) -> str:
        """The name of the function that makes a body from its moments, the same for all methods (``key``)."""
        return "inertia_of"

    def literal(self, number: float | int) -> str:
        """The text of a number as in Python, with the suffix of its type."""
        return f"{super().literal(number)}{'f' if self.single and isinstance(number, float) else ''}"

    def constant(self, name: str, value: float | int) -> str:
        """The statement that declares a constant of the class."""
        return f"const {self.type_of(WHOLE if isinstance(value, int) else None)} {name} = {self.literal(value)};"

    def converted(self, number: Scalar) -> Scalar:
        """The expression that casts a whole number to the type of numbers."""
        return Scalar(f"({self.number_type}){number.within(values.ATOM)}", values.SIGN)

    def constructed(self, struct: Struct, codes: Sequence[str]) -> str:
        """The expression that makes a structure of these members by its constructor."""
        return f"new {self.type_of(struct)}({', '.join(codes)})"

    def initialised(self, typed: str, name: str, code: str, constant: bool) -> str:
        """The statement that declares a variable with its first value; ``constant`` is not needed."""
        return f"{typed} {name} = {code};"

    def declaration(self, typed: str, name: str) -> list[str]:
        """The statement that declares a variable without a value."""
        return [f"{typed} {name};"]

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
        """The lines of a static function, public if users call it; ``lines`` are its body.

        ``idle``, ``variables`` and ``result_name`` are not needed.
        """
        typed = ", ".join(f"{of} {code}" for of, code in arguments)
        public = "public " if name in EXPORTED else ""
        return [*exploded(f"{public}static {result} {name}({typed})", 0), "{", *lines, "}"]

    def structure(self, struct: Struct) -> str:
        """The text that declares a structure with the constructor that takes all its members."""
        typed = [(self.type_of(member), name) for name, member in struct.members]
        made = self.type_of(struct)
        rows = [
            *(f"// {text}" for text in [MEANINGS.get(struct.name)] if text),
            f"public struct {made}",
            "{",
            *(f"    public {of} {name};" for of, name in typed),
            "",
            *exploded(f"public {made}({', '.join(f'{of} {name}' for of, name in typed)})", 1),
            "    {",
            *(f"        this.{name} = {name};" for _, name in typed),
            "    }",
            "}",
        ]
        return "\n".join(rows)

    def file(self, method: Method, file: Translator, structs: Sequence[Struct], test: str) -> str:
        """The text of the class of a method; ``test`` is the text of its test."""
        key = self.key(method)
        made = capitalised(key)
        precision = (
            "rounded after every operation; polhode computes with double" if self.single else "they have the bits of polhode"
        )
        use = (
            f"run shows a run, with body = inertia_of(moments). All numbers are {self.number_type}; {precision}.\n"
            "A torque is a lambda (t, q, omega) => ..., which has its parameters in itself.\n"
            f"A test, which prints ok: {made}.test(), or alone, with Mono: mcs -define:POLHODE_MAIN {key}.cs && mono {key}.exe"
        )
        torque = f"public delegate Vec3 Torque({self.number_type} t, Quat q, Vec3 omega);"
        shared = [self.structure(struct) for struct in (QUAT, VEC3, file.structs["inertia"])]
        parts = [
            *shared,
            f"// The torque in the body frame at the time t.\n{torque}",
            *self.structures(method, structs),
            "\n".join(file.lines_of_constants()),
            *file.texts,
            test,
        ]
        inside = "\n\n".join(text for text in parts if text)
        rows = [f"    {line}".rstrip() if not line.startswith("#") else line for line in inside.splitlines()]
        opening = "\n".join(self.comment(head(method, "C#", use)))
        usings = ["using System;", "using System.Globalization;"]
        return "\n".join([opening, "", *usings, "", f"public static class {made}", "{", *rows, "}"]) + "\n"

    def test(self, method: Method, torque: str, torque_text: str, reading: Struct) -> str:
        """The text of the function ``test``, which repeats a run, and of a program that calls it.

        ``torque`` is the name and ``torque_text`` the text of the function of its torque, ``reading`` the structure of q and
        omega.
        """
        expected = "".join(f"        {x!r},\n" for x in end_of_run(method))
        q0, omega0, moments = (
            self.constructed(of, list(map(self.literal, given)))
            for of, given in ((QUAT, SOME_Q), (VEC3, SOME_OMEGA), (VEC3, SOME_BODY.inertia))
        )
        result = self.type_of(reading)
        run = "\n".join(self.broken(f"{result} end = run({q0}, {omega0}, body, {torque}, {self.literal(DT)}, {STEPS});", 1))
        return f"""{torque_text}

// Repeat a run of polhode: print the numbers of its end and ok, or throw an exception.
public static void test()
{{
    double[] expected = {{
{expected}    }};
    Inertia body = inertia_of({moments});
{run}
    double[] numbers = {{{numbers_of_end(reading)}}};
    double largest = 0.0;
    for (int i = 0; i < 7; i++) {{
        Console.WriteLine(numbers[i].ToString("R", CultureInfo.InvariantCulture));
        largest = Math.Max(largest, Math.Abs(numbers[i] - expected[i]));
    }}
    if (!(largest <= {self.passes})) {{
        throw new Exception("differs by " + largest.ToString("R", CultureInfo.InvariantCulture));
    }}
    Console.WriteLine("ok");
}}

#if POLHODE_MAIN
static void Main()
{{
    test();
}}
#endif"""
