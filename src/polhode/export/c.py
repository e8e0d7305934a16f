"""A method as a header of C99 that is C++ and CUDA as well."""

import re
from collections.abc import Sequence
from typing import Self

from polhode.export import values
from polhode.export.language import exploded
from polhode.export.program import DT, STEPS, Braces, end_of_run, head, numbers_of_end
from polhode.export.translator import Translator
from polhode.export.values import PARAMETERS, TORQUE, WHOLE, Argument, Scalar, Struct
from polhode.methods.one_body import SOME_BODY, SOME_OMEGA, SOME_Q
from polhode.methods.protocol import Method

#: What all headers share: whichever comes first in a program defines it.
SHARED = """#ifndef POLHODE_TYPES
#define POLHODE_TYPES

#include <math.h>

#ifdef __CUDACC__
#define POLHODE_FUNCTION static inline __host__ __device__
#else
#define POLHODE_FUNCTION static inline
#endif

typedef struct { double w, x, y, z; } polhode_quat; /* Hamilton's, scalar first, from body to lab */
typedef struct { double x, y, z; } polhode_vec3;
/* Ix, Iy, Iz; 1/Ix, 1/Iy, 1/Iz; (Iy - Iz)/Ix, (Iz - Ix)/Iy, (Ix - Iy)/Iz: see polhode_inertia_of */
typedef struct { polhode_vec3 moments, reciprocals, gyroscopic; } polhode_inertia;
/* The torque in the body frame at the time t; parameters are handed on as they are. */
typedef polhode_vec3 (*polhode_torque)(double t, polhode_quat q, polhode_vec3 omega, const void *parameters);

POLHODE_FUNCTION polhode_vec3 polhode_vec3_of(double x, double y, double z)
{
    const polhode_vec3 v = {x, y, z};
    return v;
}

POLHODE_FUNCTION polhode_quat polhode_quat_of(double w, double x, double y, double z)
{
    const polhode_quat q = {w, x, y, z};
    return q;
}

%s

#endif"""


class C(Braces):
    """C99 and C++11, and functions of host and device in CUDA.

    Code, types and lines are text, as in :class:`~polhode.export.language.Language`. Arguments and variables of a function are
    pairs of type and name; ``structs`` are the structures of a file, ``file`` the translator that holds its functions and
    constants.
    """

    name, suffix = "c", ".h"
    qualified = public = has_single = True
    constructs = False
    comment_marks = "/* ", "   ", " */"
    count = "for (long %(name)s = 0; %(name)s < %(rounds)s; %(name)s++) {"

    @property
    def shared(self) -> str:
        """The prefix of the names that all headers share: ``polhode_``, or ``polhode_single_`` in single precision."""
        return "polhode_single_" if self.single else "polhode_"

    @property
    def number_type(self) -> str:
        """The type of a number: ``double``, or ``float`` in single precision."""
        return "float" if self.single else "double"

    def in_single(self) -> Self:
        """A copy of the language with ``float`` for every number."""
        made = super().in_single()
        made.root = "sqrtf"
        return made

    def type_of(self, argument: Argument) -> str:
        """The type in C of an argument or a variable."""
        if isinstance(argument, Struct):
            return f"{self.shared}{argument.name}" if argument.name in ("quat", "vec3", "inertia") else argument.name
        return {None: self.number_type, WHOLE: "long", TORQUE: f"{self.shared}torque", PARAMETERS: "const void *"}[argument]

    def inertia_of(self, key: str) -> str:
        """The name of the function that makes a body from its moments, the same for all methods (``key``)."""
        return f"{self.shared}inertia_of"

    def literal(self, number: float | int) -> str:
        """The literal for a number, as Python writes it, with the suffix ``f`` for a ``float`` in single precision."""
        return f"{super().literal(number)}{'f' if self.single and isinstance(number, float) else ''}"

    def constant(self, name: str, value: float | int) -> str:
        """The line that defines a constant as a macro, which two files may define alike."""
        return f"#define {name} ({self.literal(value)})" if value < 0 else f"#define {name} {self.literal(value)}"

    def converted(self, number: Scalar) -> Scalar:
        """The expression that casts a whole number to the type of numbers."""
        return Scalar(f"({self.number_type}){number.within(values.ATOM)}", values.SIGN)

    def constructed(self, struct: Struct, codes: Sequence[str]) -> str:
        """The call that makes a vector or a quaternion of these numbers."""
        return f"{self.shared}{struct.name}_of({', '.join(codes)})"

    def types(self, inertia: str) -> str:
        """The text that all headers share: the types, and the function that makes a body, whose text is ``inertia``."""
        text = SHARED % inertia
        if not self.single:
            return text
        text = text.replace("POLHODE_TYPES", "POLHODE_SINGLE_TYPES").replace("double", "float")
        return re.sub(r"polhode_(?!single)", self.shared, text)

    def initialiser(self, struct: Struct, codes: Sequence[str]) -> str:
        """The code for a structure where a variable gets its first value: its members in braces."""
        return f"{{{', '.join(codes)}}}"

    def initialised(self, typed: str, name: str, code: str, constant: bool) -> str:
        """The statement that declares a variable with its first value; ``constant``: it gets no other."""
        return f"{'const ' if constant else ''}{typed} {name} = {code};"

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
        """The lines of a function that is compiled in every file that includes it.

        ``idle`` are the names of arguments that are not read, ``lines`` the body; ``variables`` and ``result_name``
        are not needed.
        """
        typed = ", ".join(f"{of} {code}".replace("* ", "*") for of, code in arguments)
        unread = [f"    {' '.join(f'(void){code};' for code in idle)}"] if idle else []
        return [*exploded(f"POLHODE_FUNCTION {result} {name}({typed})", 0), "{", *unread, *lines, "}"]

    def structure(self, struct: Struct) -> str:
        """The text that declares a structure; members of one type stand on one line."""
        lines: list[tuple[str, list[str]]] = []
        for name, member in struct.members:
            of = self.type_of(member)
            if lines and lines[-1][0] == of:
                lines[-1][1].append(name)
            else:
                lines.append((of, [name]))
        return "typedef struct {\n" + "".join(f"    {of} {', '.join(names)};\n" for of, names in lines) + f"}} {struct.name};"

    def file(self, method: Method, file: Translator, structs: Sequence[Struct], test: str) -> str:
        """The text of the header of a method; ``test`` is the text of its test."""
        key = self.key(method)
        guard = f"POLHODE_{key.upper()}_H"
        said = (
            "Numbers are floats. Compile without\n-ffast-math."
            if self.single
            else "Compiled with -ffp-contract=off and without\n-ffast-math it gives the bits of polhode."
        )
        use = (
            f"{key}_run shows a run, with body = {self.shared}inertia_of(moments). {said} "
            f"A test, which prints ok: cc -x c -D{key.upper()}_MAIN {key}.h -lm"
        )
        inertia, *functions = file.texts
        parts = [
            "\n".join(self.comment(head(method, "C99, C++ and CUDA", use))),
            f"#ifndef {guard}\n#define {guard}",
            self.types(inertia),
            *self.structures(method, structs),
            "\n".join(file.lines_of_constants()),
            *functions,
            test,
            "#endif",
        ]
        return "\n\n".join(text for text in parts if text) + "\n"

    def library(self, names: Sequence[str]) -> dict[str, str]:
        """Name -> text of the one further file, ``polhode.h``, which includes the headers of these names."""
        guard = "#ifndef POLHODE_H\n#define POLHODE_H\n\n"
        return {"polhode.h": guard + "".join(f'#include "{name}"\n' for name in names) + "\n#endif\n"}

    def test(self, method: Method, torque: str, torque_text: str, reading: Struct) -> str:
        """The text of the function ``main``, which is compiled if the macro ``KEY_MAIN`` is defined.

        ``torque`` is the name and ``torque_text`` the text of the function of its torque, ``reading`` the structure of q and
        omega.
        """
        expected = ",\n        ".join(f"{x:.17g}" for x in end_of_run(method))
        given = SOME_Q, SOME_OMEGA, SOME_BODY.inertia
        q0, omega0, moments = (", ".join(map(self.literal, numbers)) for numbers in given)
        start = f"{self.shared}quat_of({q0}), {self.shared}vec3_of({omega0}), body, {torque}, 0, {self.literal(DT)}, {STEPS}"
        run = "\n".join(self.broken(f"const {reading.name} end = {self.key(method)}_run({start});", 1))
        return f"""#ifdef {self.key(method).upper()}_MAIN
#include <stdio.h>

{torque_text}

int main(void)
{{
    const double expected[7] = {{
        {expected}
    }};
    const {self.shared}inertia body = {self.shared}inertia_of({self.shared}vec3_of({moments}));
{run}
    const double numbers[7] = {{
        {numbers_of_end(reading)}
    }};
    double largest = 0.0;
    for (int i = 0; i < 7; i++) {{
        printf("%.17g\\n", numbers[i]);
        largest = fmax(largest, fabs(numbers[i] - expected[i]));
    }}
    if (largest <= {self.passes}) {{
        printf("ok\\n");
        return 0;
    }}
    printf("differs by %g\\n", largest);
    return 1;
}}
#endif"""
