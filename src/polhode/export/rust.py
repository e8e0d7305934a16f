"""A method as a module of Rust, with the standard library or without."""

import re
from collections.abc import Sequence

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
        """abstract as async await become box core crate dyn f32 f64 fn i64 impl in let loop macro match mod move mut override
        priv pub real ref self std super trait type typeof unsafe unsized use where yield""",
    )
)
_ALLOWED = """#![allow(unknown_lints, unexpected_cfgs, unused_assignments, unused_mut, unused_parens, unused_variables)]
#![allow(clippy::all)]"""
_SHARED = """/// The type of all numbers.
pub type Real = %s;

/// The torque in the body frame at the time t.
pub type Torque<'a> = &'a dyn Fn(Real, Quat, Vec3) -> Vec3;

#[cfg(not(feature = "no_std"))]
#[allow(dead_code)]
fn sqrt(x: Real) -> Real {
    x.sqrt()
}

/// The square root by whole numbers, with the same bits: `core` has none.
#[cfg(feature = "no_std")]
#[allow(dead_code)]
fn sqrt(number: Real) -> Real {
    let x = number as f64;
    if x == 0.0 || !(x > 0.0 && x < f64::INFINITY) {
        return if x < 0.0 { Real::NAN } else { number };
    }
    // Numbers below the normal ones, times 2^108.
    let small = x < f64::MIN_POSITIVE;
    let bits = (if small { x * 324518553658426726783156020576256.0 } else { x }).to_bits();
    let mut exponent = (bits >> 52) as i64 - 1075;
    let mut square = ((bits & 0xf_ffff_ffff_ffff) | 0x10_0000_0000_0000) as u128;
    if exponent %% 2 != 0 {
        square *= 2;
        exponent -= 1;
    }
    // The root of square * 2^54 has 54 bits, of which the last one decides how the others are rounded.
    square <<= 54;
    let mut root: u128 = 0;
    for i in (0..54).rev() {
        let larger = root | (1 << i);
        if larger * larger <= square {
            root = larger;
        }
    }
    let power = exponent / 2 - 26 - (if small { 54 } else { 0 });
    (((root + 1) / 2) as f64 * f64::from_bits(((power + 1023) as u64) << 52)) as Real
}"""


class Rust(Braces):
    """Functions on structures that are copied; nothing is allocated.

    Code, types and lines are text, as in :class:`~polhode.export.language.Language`. Arguments and variables of a function are
    pairs of type and name; ``structs`` are the structures of a file, ``file`` the translator that holds its functions and
    constants.
    """

    name, suffix = "rust", ".rs"
    qualified = public = False
    has_single = True
    hands_parameters = False
    arguments_change = False
    reserved = RESERVED | _RESERVED
    comment_marks = "// ", "// ", ""
    count = "for %(name)s in 0..%(rounds)s {"

    @property
    def number_type(self) -> str:
        """The type of a number: ``f64``, or ``f32`` in single precision."""
        return "f32" if self.single else "f64"

    def type_of(self, argument: Argument) -> str:
        """The type in Rust of an argument or a variable."""
        if isinstance(argument, Struct):
            return capitalised(argument.name)
        return {None: "Real", WHOLE: "i64", TORQUE: "Torque", PARAMETERS: "()"}[argument]

    def inertia_of(self, key: str) -> str:
        """The name of the function that makes a body from its moments, the same for all methods (``key``)."""
        return "inertia_of"

    def constant(self, name: str, value: float | int) -> str:
        """The statement that declares a constant of the module."""
        return f"const {name}: {self.type_of(WHOLE if isinstance(value, int) else None)} = {self.literal(value)};"

    def converted(self, number: Scalar) -> Scalar:
        """The expression that converts a whole number to the type of numbers."""
        return Scalar(f"({number.within(values.ATOM)} as Real)")

    def constructed(self, struct: Struct, codes: Sequence[str]) -> str:
        """The expression that makes a structure of these members, by the name of its type."""
        members = [name if name == code else f"{name}: {code}" for (name, _), code in zip(struct.members, codes, strict=True)]
        return f"{self.type_of(struct)} {{ {', '.join(members)} }}"

    def choice(self, test: str, yes: str, no: str, of: Struct | None) -> str:
        """The expression for ``yes`` where the condition ``test`` holds, else ``no``: a condition that has a value."""
        return f"if {test} {{ {yes} }} else {{ {no} }}"

    def initialised(self, typed: str, name: str, code: str, constant: bool) -> str:
        """The statement that declares a variable with its first value; ``constant``: it gets no other."""
        return f"let {'' if constant else 'mut '}{name}: {typed} = {code};"

    def declaration(self, typed: str, name: str) -> list[str]:
        """The statement that declares a variable without a value."""
        return [f"let mut {name}: {typed};"]

    def heading(self, text: str, arguments: Sequence[tuple[str, str]], result: str) -> list[str]:
        """The lines of the comment above a function: what it does (``text``); arguments and result have their types in the
        code.
        """
        return [line.replace("//", "///", 1) for line in self.comment(text)]

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
        """The lines of a function, public if users call it; ``lines`` are its body.

        ``idle``, ``variables`` and ``result_name`` are not needed.
        """
        typed = ", ".join(f"{code}: {of}" for of, code in arguments)
        public = "pub " if name in EXPORTED else ""
        return [*exploded(f"{public}fn {name}({typed}) -> {result} {{", 0), *lines, "}"]

    def structure(self, struct: Struct) -> str:
        """The text that declares a structure that is copied."""
        members = "".join(f"    pub {name}: {self.type_of(member)},\n" for name, member in struct.members)
        text = "".join(f"/// {text}\n" for text in [MEANINGS.get(struct.name)] if text)
        return f"{text}#[derive(Clone, Copy, Debug, PartialEq)]\npub struct {self.type_of(struct)} {{\n{members}}}"

    def file(self, method: Method, file: Translator, structs: Sequence[Struct], test: str) -> str:
        """The text of the module of a method; ``test`` is the text of its test."""
        key = self.key(method)
        precision = "polhode computes with f64" if self.single else "they have the bits of polhode"
        use = (
            f"run shows a run, with body = inertia_of(moments). All numbers are {self.number_type}; {precision}.\n"
            "With the feature no_std of your crate, or rustc --cfg 'feature=\"no_std\"', it needs core alone.\n"
            f"A test, which prints ok: rustc --test {key}.rs && ./{key}"
        )
        shared = [self.structure(struct) for struct in (QUAT, VEC3, file.structs["inertia"])]
        parts = [
            "\n".join(self.comment(head(method, "Rust", use))),
            _ALLOWED,
            _SHARED % self.number_type,
            *shared,
            *self.structures(method, structs),
            "\n".join(file.lines_of_constants()),
            *file.texts,
            test,
        ]
        return "\n\n".join(text for text in parts if text) + "\n"

    def test(self, method: Method, torque: str, torque_text: str, reading: Struct) -> str:
        """The text of the module ``tests``, which repeats a run.

        ``torque`` is the name and ``torque_text`` the text of the function of its torque, ``reading`` the structure of q and
        omega.
        """
        expected = "".join(f"            {x!r},\n" for x in end_of_run(method))
        q0, omega0, moments = (
            self.constructed(of, list(map(self.literal, given)))
            for of, given in ((QUAT, SOME_Q), (VEC3, SOME_OMEGA), (VEC3, SOME_BODY.inertia))
        )
        run = "\n".join(self.broken(f"let end = run({q0}, {omega0}, body, &{torque}, {self.literal(DT)}, {STEPS});", 2))
        inner = "\n".join(f"    {line}".rstrip() for line in torque_text.splitlines())
        return f"""#[cfg(test)]
mod tests {{
    extern crate std;
    use super::*;

{inner}

    /// Repeat a run of polhode.
    #[test]
    fn repeats_a_run() {{
        let expected: [f64; 7] = [
{expected}        ];
        let body = inertia_of({moments});
{run}
        let numbers = [{numbers_of_end(reading)}];
        let mut largest: f64 = 0.0;
        for i in 0..7 {{
            std::println!("{{:?}}", numbers[i]);
            largest = largest.max((numbers[i] as f64 - expected[i]).abs());
        }}
        assert!(largest <= {self.passes}, "differs by {{}}", largest);
    }}
}}"""
