"""A method in NumPy: on one body or, number by number, on arrays over many bodies."""

from collections.abc import Sequence

from polhode.export import values
from polhode.export.language import RESERVED, capitalised, exploded
from polhode.export.program import DT, PASSES, STEPS, Program, end_of_run, head
from polhode.export.translator import Translator
from polhode.export.values import Argument, Scalar, Struct
from polhode.methods.one_body import SOME_BODY, SOME_OMEGA, SOME_Q
from polhode.methods.protocol import Method

_ARRAYS = '''def quat_of(array):
    """The quaternion of an array (4,), or those of an array (bodies, 4)."""
    return Quat(*np.asarray(array, float).T)


def vec3_of(array):
    """The vector of an array (3,), or those of an array (bodies, 3)."""
    return Vec3(*np.asarray(array, float).T)


def array_of(numbers):
    """An array (4,) or (3,), or (bodies, 4) or (bodies, 3): the inverse of these."""
    return np.stack(np.broadcast_arrays(*numbers), axis=-1)


def chosen(test, yes, no):
    """The numbers of yes where the test holds, those of no elsewhere."""
    if isinstance(no, tuple):
        return type(no)(*(chosen(test, a, b) for a, b in zip(yes, no)))
    return np.where(test, yes, no)'''


class NumPy(Program):
    """Named tuples whose members are numbers of one body or arrays over bodies; what a condition chooses from is computed.

    Code, types and lines are text, as in :class:`~polhode.export.language.Language`. Arguments and variables of a function are
    pairs of type and name; ``structs`` are the structures of a file, ``file`` the translator that holds its functions and
    constants.
    """

    name, suffix = "numpy", ".py"
    qualified = public = False
    masks = True
    reserved = RESERVED | frozenset(("chosen", "np", "range"))
    root = "np.sqrt"
    comment_marks = "# ", "# ", ""
    branch, further_branch, loop = "if %s:", "elif %s:", "while np.any(%s):"
    count = "for %(name)s in range(%(rounds)s):"
    otherwise, end_if, end_loop = "else:", "", ""

    def type_of(self, argument: Argument) -> str:
        """The name of the class of a structure; other variables have no type, an empty text."""
        return capitalised(argument.name) if isinstance(argument, Struct) else ""

    def inertia_of(self, key: str) -> str:
        """The name of the function that makes a body from its moments, the same for all methods (``key``)."""
        return "inertia_of"

    def constant(self, name: str, value: float | int) -> str:
        """The statement that declares a constant as a variable of the module."""
        return f"{name} = {value!r}"

    def literal(self, number: float | int) -> str:
        """The literal for a number, as in kernels."""
        return repr(number)

    def converted(self, number: Scalar) -> Scalar:
        """The expression for a whole number where one of double precision is wanted: its own, as Python divides both alike."""
        return Scalar(number.code, number.binds)

    def member(self, code: str, struct: Struct, i: int) -> str:
        """The expression for member ``i``, from 0, of the named tuple that ``code`` stands for."""
        return f"{code}.{struct.members[i][0]}"

    def constructed(self, struct: Struct, codes: Sequence[str]) -> str:
        """The expression that makes a named tuple of these members."""
        return f"{self.type_of(struct)}({', '.join(codes)})"

    def choice(self, test: str, yes: str, no: str, of: Struct | None) -> str:
        """The expression that has for each body the value ``yes`` where the condition ``test`` holds, else ``no``.

        ``of``: the structure of both, None for numbers.
        """
        return f"{'chosen' if of else 'np.where'}({test}, {yes}, {no})"

    def both(self, tests: Sequence[str]) -> str:
        """The condition that all of these hold, for each body."""
        return " & ".join(f"({test})" for test in tests)

    def returned(self, code: str, name: str, depth: int) -> list[str]:
        """The lines that end the function with this result."""
        return self.broken(f"return {code}", depth)

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
        """The lines of a function; where both sides of a condition are computed, the one that is not chosen may divide by
        zero.

        ``lines`` are its body; types, ``idle``, ``variables`` and ``result_name`` are not needed.
        """
        both = any("np.where(" in line or "chosen(" in line for line in lines)
        head = ['@np.errstate(divide="ignore", invalid="ignore", over="ignore")'] if both else []
        return [*head, f"def {name}({', '.join(code for _, code in arguments)}):", *lines]

    def structure(self, struct: Struct) -> str:
        """The statement that declares a structure as a named tuple."""
        return (
            f'{self.type_of(struct)} = namedtuple("{self.type_of(struct)}", "{" ".join(name for name, _ in struct.members)}")'
        )

    def broken(self, line: str, depth: int) -> list[str]:
        """The lines of a statement, at most so wide as lines may be; a sum that needs several stands in brackets."""
        rows, level = exploded(line, depth), 0
        for row in rows[:-1]:
            level += sum((letter in "([") - (letter in ")]") for letter in row)
            if level == 0:
                word = "return " if line.startswith("return ") else f"{line.partition(' = ')[0]} = "
                return exploded(f"{word}({line.removeprefix(word)})", depth)
        return rows

    def file(self, method: Method, file: Translator, structs: Sequence[Struct], test: str) -> str:
        """The text of the module of a method; ``test`` is the text of its test."""
        use = (
            "Members of all named tuples are numbers of NumPy or arrays over bodies: a step serves one body or many. quat_of\n"
            "and vec3_of make them of arrays (bodies, 4) and (bodies, 3), array_of leads back. run shows a run, with\n"
            "body = inertia_of(moments): moments, reciprocals and (Iy - Iz)/Ix, (Iz - Ix)/Iy, (Ix - Iy)/Iz. Quaternions are\n"
            f"Hamilton's, scalar first. It gives the bits of polhode. A test, which prints ok: python {method.key}.py"
        )
        shared = [self.structure(struct) for struct in (values.QUAT, values.VEC3, file.structs["inertia"])]
        opening = ["from collections import namedtuple\n\nimport numpy as np", "\n".join(shared)]
        parts = [
            "\n".join(self.comment(head(method, "NumPy", use))),
            *opening,
            "\n".join(text for text in self.structures(method, structs)),
            "\n".join(file.lines_of_constants()),
        ]
        functions = [_ARRAYS, *file.texts, test]
        return "\n\n".join(text for text in parts if text) + "".join(f"\n\n\n{text}" for text in functions) + "\n"

    def test(self, method: Method, torque: str, torque_text: str, reading: Struct) -> str:
        """The text of what is done if the file is run: a run is repeated.

        ``torque`` is the name and ``torque_text`` the text of the function of its torque, ``reading`` the structure of q and
        omega.
        """
        q, omega = (name for name, _ in reading.members)
        expected = "".join(f"        {x!r},\n" for x in end_of_run(method))
        return f"""{torque_text}


if __name__ == "__main__":
    expected = [
{expected}    ]
    body = inertia_of(vec3_of({list(SOME_BODY.inertia)}))
    end = run(quat_of({list(SOME_Q)}), vec3_of({list(SOME_OMEGA)}), body, {torque}, None, {DT}, {STEPS})
    numbers = np.concatenate([array_of(end.{q}), array_of(end.{omega})])
    print(numbers)
    if not np.abs(numbers - expected).max() <= {PASSES}:
        raise SystemExit("differs")
    print("ok")"""
