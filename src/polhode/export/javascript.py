"""A method as an ES module of JavaScript, for browsers and Node, with its types in JSDoc."""

import ast
import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from polhode.export import values
from polhode.export.flat import FlatLanguage, FlatTranslator
from polhode.export.language import RESERVED, capitalised, exploded
from polhode.export.program import DT, EXPORTED, STEPS, Braces, end_of_run, head, numbers_of_end
from polhode.export.translator import Translator
from polhode.export.values import PARAMETERS, QUAT, TORQUE, VEC3, WHOLE, Argument, Scalar, Struct
from polhode.methods.one_body import SOME_BODY, SOME_OMEGA, SOME_Q
from polhode.methods.protocol import Method

_RESERVED = frozenset(
    re.findall(
        r"\w+",
        """arguments await debugger eval extends finally fround function implements import in infinity instanceof interface let
        math nan null object out package super test typeof undefined var with yield""",
    )
)
_TYPES = {
    **{QUAT.name: "Hamilton's, scalar first, from body to lab", VEC3.name: ""},
    "inertia": "Ix, Iy, Iz; 1/Ix, 1/Iy, 1/Iz; (Iy - Iz)/Ix, (Iz - Ix)/Iy, (Ix - Iy)/Iz: see inertia_of",
}
_TORQUE = """/**
 * The torque in the body frame at the time t; parameters are passed on as they are.
 * @callback Torque
 * @param {number} t
 * @param {Quat} q
 * @param {Vec3} omega
 * @param {any} parameters
 * @returns {Vec3}
 */"""

#: Functions on numbers return through an array: an object for each result would take longer than most of them.
_LEFT = """// What functions on numbers leave for their callers, who take it at once.
const out = new Float%sArray(%d);"""


class JavaScript(Braces, FlatLanguage):
    """Functions on plain objects, which they do not change; results are new objects. Inside they compute with numbers alone.

    Code, types and lines are text, as in :class:`~polhode.export.language.Language`. Arguments and variables of a function are
    pairs of type and name; ``structs`` are the structures of a file, ``file`` the translator that holds its functions and
    constants.
    """

    name, suffix = "javascript", ".mjs"
    qualified = public = False
    has_single = True
    reserved = RESERVED | _RESERVED
    comparisons: ClassVar[Mapping[type[ast.cmpop], str]] = {ast.Eq: "===", ast.NotEq: "!=="}
    root = "Math.sqrt"
    comment_marks = "// ", "// ", ""
    count = "for (let %(name)s = 0; %(name)s < %(rounds)s; %(name)s++) {"

    def type_of(self, argument: Argument) -> str:
        """The type of an argument or a variable, for a comment of JSDoc."""
        if isinstance(argument, Struct):
            return capitalised(argument.name)
        return {None: "number", WHOLE: "number", TORQUE: "Torque", PARAMETERS: "any"}[argument]

    def in_single(self) -> Self:
        """A copy of the language in which every result is rounded to single precision."""
        made = super().in_single()
        made.root = "sqrt"
        return made

    def rounded(self, number: Scalar) -> Scalar:
        """The expression for a result, rounded to single precision if that is meant; operations on doubles are exact enough
        for that.
        """
        return Scalar(f"fround({number.code})") if self.single else number

    def inertia_of(self, key: str) -> str:
        """The name of the function that makes a body from its moments, the same for all methods (``key``)."""
        return "inertia_of"

    def constant(self, name: str, value: float | int) -> str:
        """The statement that declares a constant of the module."""
        return f"const {name} = {self.literal(value)};"

    def converted(self, number: Scalar) -> Scalar:
        """The expression for a whole number as a double: all are, but the opposite of a whole 0 must not become -0."""
        return Scalar(f"0 {number.code}", values.SUM) if number.code.startswith("-") else number

    def member(self, code: str, struct: Struct, i: int) -> str:
        """The expression for member ``i``, from 0, of the object that ``code`` stands for, or the variable that holds this
        number.
        """
        name, inner = struct.members[i]
        return f"{code}{name}{'_' if inner else ''}" if code.endswith("_") else f"{code}.{name}"

    def left(self, place: int) -> str:
        """The expression for number ``place``, from 0, that a function leaves for its caller in the array of the module."""
        return f"out[{place}]"

    def constructed(self, struct: Struct, codes: Sequence[str]) -> str:
        """The expression that makes an object, always with its members in the same order."""
        members = [name if name == code else f"{name}: {code}" for (name, _), code in zip(struct.members, codes, strict=True)]
        return f"{{ {', '.join(members)} }}"

    def initialised(self, typed: str, name: str, code: str, constant: bool) -> str:
        """The statement that declares a variable with its first value; ``constant``: it gets no other."""
        return f"{'const' if constant else 'let'} {name} = {code};"

    def initialised_together(self, firsts: Sequence[tuple[str, str]], constant: bool) -> str:
        """The statement that declares several variables, given as pairs of name and first value; ``constant``: they get no
        others.
        """
        return f"{'const' if constant else 'let'} {', '.join(f'{name} = {code}' for name, code in firsts)};"

    def declaration(self, typed: str, name: str) -> list[str]:
        """The statement that declares a variable without a value."""
        return [f"let {name};"]

    def heading(self, text: str, arguments: Sequence[tuple[str, str]], result: str) -> list[str]:
        """The lines of the comment above a function that users call: the text, and the types in JSDoc."""
        return self._documented(text, *(f"@param {{{of}}} {code}" for of, code in arguments), f"@returns {{{result}}}")

    def heading_on_numbers(self, text: str) -> list[str]:
        """The lines of the comment above a function on numbers: the text alone."""
        return self._documented(text)

    def _documented(self, text: str, *tags: str) -> list[str]:
        lines = [line.removeprefix("//").strip() for line in self.comment(text)] if text else []
        rows = (*lines, *tags)
        return [f"/** {rows[0]} */"] if len(rows) == 1 else ["/**", *(f" * {row}".rstrip() for row in rows), " */"]

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
        """The lines of a function, exported if users call it; ``lines`` are its body.

        Types of arguments stand in the comment above; ``idle``, ``variables`` and ``result_name`` are not needed.
        """
        exported = "export " if name in EXPORTED else ""
        return [*exploded(f"{exported}function {name}({', '.join(code for _, code in arguments)}) {{", 0), *lines, "}"]

    def structure(self, struct: Struct) -> str:
        """The comment of JSDoc that declares the type of an object."""
        members = [f"{name}: {self.type_of(member)}" for name, member in struct.members]
        text = _TYPES.get(struct.name, "")
        return "\n".join(self._documented(text, f"@typedef {{{{ {', '.join(members)} }}}} {self.type_of(struct)}"))

    def translator(self, prefix: str = "", shapes: dict[tuple[str, ...], Struct] | None = None) -> FlatTranslator:
        """The translator that writes kernels as functions on numbers.

        ``prefix`` stands before its names; ``shapes``: structures that exist, by the types of their members.
        """
        return FlatTranslator(self, prefix, shapes=shapes or {})

    def file(self, method: Method, file: Translator, structs: Sequence[Struct], test: str) -> str:
        """The text of the module of a method; ``test`` is the text of its test."""
        path = f"./{self.key(method)}{self.suffix}"
        precision = (
            "The result of every operation is rounded to\nsingle precision."
            if self.single
            else "All numbers are doubles, with the bits of\npolhode."
        )
        use = (
            "run shows a run, with body = inertia_of(moments). Vectors are objects {x, y, z}, quaternions {w, x, y, z};\n"
            f"functions return new ones and change none. {precision} A test, which prints ok:\n"
            f"node -e 'import(\"{path}\").then((method) => method.test())'"
        )
        shared = [self.structure(struct) for struct in (QUAT, VEC3, file.structs["inertia"])]
        left = [_LEFT % (32 if self.single else 64, file.widest)] if isinstance(file, FlatTranslator) and file.widest else []
        parts = [
            "\n".join(self.comment(head(method, "JavaScript", use))),
            *shared,
            _TORQUE,
            *self.structures(method, structs),
            "const { fround, sqrt } = Math;" if self.single else "",
            "\n".join(file.lines_of_constants()),
            *left,
            *file.texts,
            test,
        ]
        return "\n\n".join(text for text in parts if text) + "\n"

    def test(self, method: Method, torque: str, torque_text: str, reading: Struct) -> str:
        """The text of the function ``test``, which repeats a run.

        ``torque`` is the name and ``torque_text`` the text of the function of its torque, ``reading`` the structure of q and
        omega.
        """
        expected = "".join(f"        {x!r},\n" for x in end_of_run(method))
        q0, omega0 = self.constructed(QUAT, list(map(repr, SOME_Q))), self.constructed(VEC3, list(map(repr, SOME_OMEGA)))
        moments = self.constructed(VEC3, list(map(repr, SOME_BODY.inertia)))
        run = "\n".join(self.broken(f"const end = run({q0}, {omega0}, body, {torque}, null, {DT}, {STEPS});", 1))
        return f"""{torque_text}

/** Repeat a run of polhode: print the numbers of its end and ok, or throw an error. */
export function test() {{
    const expected = [
{expected}    ];
    const body = inertia_of({moments});
{run}
    const numbers = [{numbers_of_end(reading)}];
    numbers.forEach((x) => console.log(x));
    const largest = Math.max(...numbers.map((x, i) => Math.abs(x - expected[i])));
    if (!(largest <= {self.passes})) {{
        throw new Error(`differs by ${{largest}}`);
    }}
    console.log("ok");
}}"""
