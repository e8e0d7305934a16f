"""A method as one file that needs nothing else: what the files of all languages have in common.

The kernels here are written as all kernels are: q is a unit quaternion (w, x, y, z), from body to lab; omega (3 numbers, rad/s)
and torques (3 numbers, N m) are in the body frame; t and dt are in s, or all in other units that fit together. A state is a
tuple of numbers, which begins with q and omega where a method remembers torques behind them.
"""

import copy
import linecache
import sys
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np

from polhode.algebra.body import Body, angular_momentum, angular_velocity, coefficients_of
from polhode.compiling.plain import in_plain_python
from polhode.export import values
from polhode.export.language import Language, exploded
from polhode.export.translator import Translator
from polhode.export.values import PARAMETERS, QUAT, TORQUE, VEC3, WHOLE, Argument, Struct, Unknown, members_of_state
from polhode.methods.fourth_order_start import fourth_order_step
from polhode.methods.one_body import SOME_BODY, SOME_OMEGA, SOME_Q, normalised
from polhode.methods.plain_driver import plain_driver
from polhode.methods.processor import Processor, move_of
from polhode.methods.protocol import Method, OneTorque, SeveralTorques
from polhode.version import __version__

#: A body: the numbers that the kernels read (:meth:`polhode.algebra.body.Body.coefficients`).
INERTIA = Struct("inertia", (("moments", VEC3), ("reciprocals", VEC3), ("gyroscopic", VEC3)))
SHARED = (QUAT, VEC3, INERTIA)
#: What a kernel of a method does, if it does not say itself.
ROLES = {
    "start": "The state from which the first step begins.",
    "before_torque": "The first part of a step, and the q and omega at which the torque is needed.",
    "after_torque": "The rest of a step, given the torque in the body frame.",
    "step": "One step from the time t.",
    "read": "q and omega (body frame) at the whole time.",
    "stored": "The angular velocity (body frame) that the method carries.",
    "prepare": "The change of variables before the first step, from q and omega at the time t.",
    "output": "The change back, of what is read at the time t.",
    "normalised": "The state with its quaternion divided by its norm.",
}
#: What a user calls of a file whose names have no prefix.
EXPORTED = frozenset(ROLES) | {"inertia_of", "run", "remembered", "fourth_order_step"}
#: What stands above the structures that all files share.
MEANINGS = {
    QUAT.name: "Hamilton's, scalar first, from body to lab.",
    VEC3.name: "Components along x, y, z.",
    INERTIA.name: "Ix, Iy, Iz; 1/Ix, 1/Iy, 1/Iz; (Iy - Iz)/Ix, (Iz - Ix)/Iy, (Ix - Iy)/Iz: see inertia_of.",
}
#: The run whose end a file knows, to test itself: the step and the number of steps.
DT, STEPS = 0.0625, 20
#: The largest difference that passes: a compiler may contract a product and a sum, which changes the last digits.
PASSES, PASSES_SINGLE = 1e-12, 1e-4


def remembered(state: Any, q: Any, omega: Any) -> Any:
    """The state after a step of the warm-up: q and omega of its end, and what the method remembers of torques."""
    return q + omega + state[7:]


def test_torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """A torque (3,) N m that grows with time, turns with the body and resists its rotation."""
    q0, qx, qy, qz = q
    x, y, z = omega
    return (
        0.5 - 0.25 * t + 0.75 * (qy * qz + q0 * qx) - 0.125 * x,
        0.25 * t - 0.75 * (qx * qz - q0 * qy) - 0.125 * y,
        0.5 * (q0 * q0 + qz * qz) - 0.25 - 0.125 * z,
    )


def end_of_run(
    method: Method,
    moments: tuple[float, float, float] = SOME_BODY.inertia,
    omega: tuple[float, float, float] = SOME_OMEGA,
    dt: float = DT,
    steps: int = STEPS,
) -> tuple[float, ...]:
    """q and omega at the end of a run under :func:`test_torque`, by the kernels in plain Python; files repeat the usual one.

    Seven numbers: q, body to lab, then omega in the body frame.

    Parameters
    ----------
    method : one of the registered or one's own
    moments : principal moments, kg m^2
    omega : initial angular velocity in the body frame, rad/s; q begins at ``SOME_Q``
    dt : time step, s
    steps : number of steps
    """
    driver = plain_driver(method, in_plain_python, test_torque, method.numbers_of(Body(moments)), dt)
    state = driver.start(SOME_Q, omega)
    for n in range(steps):
        state = driver.step(state, n)
    q, omega = driver.read(state, steps)
    return (*q, *omega)


class Program(Language):
    """A language in which a method is written as a file.

    Code, types and lines are text, as in :class:`~polhode.export.language.Language`. ``structs`` are the structures of a file,
    and ``file``, as an argument, is the translator that holds its functions and constants.

    * ``suffix``: of its files
    * ``qualified``: whether all names of a file begin with the key of the method, as nothing else keeps two files apart
    * ``public``: whether the names that a user calls do
    """

    name: ClassVar[str]
    suffix: ClassVar[str]
    qualified: ClassVar[bool]
    public: ClassVar[bool]
    #: Whether it is written in single precision, too.
    has_single: ClassVar[bool] = False

    def in_single(self) -> Self:
        """A copy of the program that writes in single precision."""
        made = copy.copy(self)
        made.single = True
        return made

    @property
    def passes(self) -> float:
        """The largest difference, of any number, from the end of the run of polhode that passes the test of a file."""
        return PASSES_SINGLE if self.single else PASSES

    def key(self, method: Method) -> str:
        """The name of a method in a file, and of the file."""
        return f"{method.key}_single" if self.single else method.key

    def source(self, method: Method) -> str:
        """The text of the file of a method: its kernels, everything that they call, the types, a run and a test.

        The functions are those of :mod:`polhode.methods.protocol`. They take and return values, allocate nothing and have no
        state of their own. Compiled without contraction and without fast-math they give the bits of the kernels.

        Parameters
        ----------
        method : Method
            A registered one or one's own; its source must be at hand.

        Raises
        ------
        Untranslatable
            If a kernel is more than arithmetic, conditions and loops of fixed length; the message names it and the line.
        """
        public = f"{self.key(method)}_" if self.public else ""
        prefix = f"{self.key(method)}_" if self.qualified else ""
        trial = Translator(self, prefix)
        self._translate(trial, method, Unknown("", (), length=method.state_width), public)
        named = [*trial.parts, *trial.uses]
        state = members_of_state(f"{public}state", method.state_width, named, trial.pieces, trial.shapes)
        file = self.translator(prefix, trial.shapes)
        file.structs = {struct.name: struct for struct in SHARED}
        file.defined = {struct.name: struct for struct in file.shapes.values()}
        self._translate(file, method, state, public)
        run = _run(method)
        arguments: list[Argument] = [QUAT, VEC3, _body(method), TORQUE, PARAMETERS, None, WHOLE]
        about = "q and omega after so many steps from those at t = 0. A program with a loop of its own calls the parts of a\n"
        about += "step in this order."
        _, reading = file.function(run, arguments, None, f"{public}run", about)
        assert isinstance(reading, Struct)
        torque = file.function(
            test_torque, [None, QUAT, VEC3, PARAMETERS], VEC3, f"{prefix}test_torque", test_torque.__doc__ or ""
        )
        test = self.test(method, torque[0], file.texts.pop(), reading)
        structs = [struct for struct in file.structs.values() if struct not in SHARED]
        return self.file(method, file, structs, test)

    def translator(self, prefix: str = "", shapes: dict[tuple[str, ...], Struct] | None = None) -> Translator:
        """The translator that writes kernels in this language.

        ``prefix`` stands before its names; ``shapes``: structures that exist, by the types of their members.
        """
        return Translator(self, prefix, shapes=shapes or {})

    def _translate(self, file: Translator, method: Method, state: Struct, public: str) -> None:
        """All kernels of a method, for states of this structure; ``public`` stands before their names."""
        body = _body(method)
        of: dict[str, Argument] = {
            **{"q": QUAT, "omega": VEC3, "state": state, "body": body, "dt": None, "t": None},
            **{"torque": VEC3, "parameters": PARAMETERS},
        }
        wanted = Struct(f"{public}wanted", (("state", state), ("q", QUAT), ("omega", VEC3)), nested=True)
        reading = Struct(f"{public}reading", (("q", QUAT), ("omega", VEC3)), nested=True)
        results = {"before_torque": wanted, "read": reading, "stored": VEC3}

        def add(role: str, kernel: Callable[..., Any], arguments: list[Argument]) -> None:
            file.function(kernel, arguments, results.get(role, state), f"{public}{role}", ROLES.get(role, ""))

        file.function(coefficients_of, [VEC3], INERTIA, self.inertia_of(self.key(method)))
        roles = method.kernels()
        for role in sorted(roles, key=list(ROLES).index):
            handed = {**of, "torque": TORQUE} if role == "step" else of
            add(role, getattr(method, role), [handed[name] for name in roles[role]])
        if method.normalisation(None):
            add("normalised", normalised, [state])
        for role, change in _changes(method.processor).items():
            arguments = [QUAT, VEC3, None, None, body, TORQUE, PARAMETERS]
            file.function(change, arguments, reading, f"{public}{role}", ROLES[role])
        if isinstance(method, OneTorque) and method.warm_up_steps:
            add("remembered", remembered, [state, QUAT, VEC3])
            file.function(fourth_order_step, [QUAT, VEC3, VEC3, None, None, body, TORQUE, PARAMETERS], reading)

    @abstractmethod
    def inertia_of(self, key: str) -> str:
        """The name of the function that makes a body from its moments, in the file of the method ``key``."""

    @abstractmethod
    def file(self, method: Method, file: Translator, structs: Sequence[Struct], test: str) -> str:
        """The text of the whole file of a method; ``test`` is the text of its test."""

    @abstractmethod
    def test(self, method: Method, torque: str, torque_text: str, reading: Struct) -> str:
        """The text of the program that repeats a run and compares its end with :func:`end_of_run`.

        ``torque`` is the name and ``torque_text`` the text of the function of its torque, ``reading`` the structure of q and
        omega.
        """

    def library(self, names: Sequence[str]) -> dict[str, str]:
        """Further files, name -> text, of a folder that has the files of these names; none unless a language has some."""
        return {}

    def structures(self, method: Method, structs: Sequence[Struct]) -> list[str]:
        """The text that declares each structure of a file, of the state with a comment."""
        state = f"{self.key(method)}_state" if self.public else "state"
        return [
            "\n".join(
                [
                    *(self.comment(f"What {method.label} carries from step to step.") if struct.name == state else []),
                    self.structure(struct),
                ]
            )
            for struct in structs
        ]


class Braces(Program):
    """A language whose branches, loops and statements are as in C.

    Code, types and lines are text, as in :class:`~polhode.export.language.Language`.
    """

    choice_binds = values.CONDITIONAL
    branch, further_branch, loop = "if (%s) {", "} else if (%s) {", "while (%s) {"
    otherwise, end_if, end_loop = "} else {", "}", "}"

    def literal(self, number: float | int) -> str:
        """The literal for a number, as Python writes it, in the precision of the language."""
        return repr(self.number(number))

    def member(self, code: str, struct: Struct, i: int) -> str:
        """The expression for member ``i``, from 0, of the structure that ``code`` stands for: its name behind a point."""
        return f"{code}.{struct.members[i][0]}"

    def choice(self, test: str, yes: str, no: str, of: Struct | None) -> str:
        """The expression for ``yes`` where the condition ``test`` holds, else ``no``, with the conditional operator."""
        return f"{test} ? {yes} : {no}"

    def both(self, tests: Sequence[str]) -> str:
        """The condition that all of these hold, joined by ``&&``."""
        return " && ".join(tests)

    def assigned(self, name: str, code: str) -> str:
        """The statement that assigns an expression to a variable."""
        return f"{name} = {code};"

    def returned(self, code: str, name: str, depth: int) -> list[str]:
        """The lines that end a function with this result."""
        return exploded(f"return {code};", depth)


def numbers_of_end(reading: Struct) -> str:
    """The code of the seven numbers of ``end``, a structure of q and omega."""
    q, omega = (name for name, _ in reading.members)
    return ", ".join([f"end.{q}.{x}" for x in "wxyz"] + [f"end.{omega}.{x}" for x in "xyz"])


def head(method: Method, language: str, use: str) -> str:
    """The text at the beginning of a file: name of the method, sources, equations, and how to use it.

    ``language``: its name; ``use``: what to do with this file.
    """
    kernel: Any = getattr(method, "step" if isinstance(method, SeveralTorques) else "after_torque")
    text = getattr(kernel, "py_func", kernel).__globals__.get("__doc__") or ""
    # Methods with kernels from another file: the equations are in their own.
    declared_in = sys.modules.get(f"polhode.methods.{method.key}")
    if declared_in is not None and declared_in.METHOD is method:
        text = declared_in.__doc__ or text
    return "\n".join(
        [
            f"{method.label}: a step of the rotation of a rigid body, in {language}.",
            "",
            f"Source: {method.source}.",
            *([f"Ours: {method.reconstruction}"] if method.reconstruction else []),
            *([method.note] if method.note else []),
            "",
            text.strip(),
            "",
            use,
            "",
            "q takes body to lab; omega, torque and moments are in the body frame along the principal axes; units are SI or",
            "any others that fit together.",
            f"Generated from the kernels of {method.key} by polhode {__version__}. SPDX-License-Identifier: BSD-3-Clause",
        ]
    )


def _body(method: Method) -> Struct:
    """A body; the numbers that a method finds behind its own are fixed."""
    numbers = method.numbers_of(SOME_BODY)[INERTIA.width :]
    return Struct(INERTIA.name, INERTIA.members, constants=tuple(numbers))


def _run(method: Method) -> Callable[..., Any]:
    """The loop over the steps of a run as a kernel: how the parts of a step go together."""
    unit = ["state = normalised(state)"] if method.normalisation(None) else []
    opening, closing = ["state = start(q, omega, body)"], ["return read(state, (0.0, 0.0, 0.0), body, dt)"]
    if isinstance(method, OneTorque):
        time = f"(n + {float(method.torque_time)!r}) * dt" if method.torque_time else "n * dt"
        before = "state, q, omega = before_torque(state, body, dt)"
        first = [*unit, "q = state[:4]"] if unit and method.rotates_before_torque else []
        opening = ["state = start(q, omega, torque(0.0, q, omega, parameters), body, dt)"]
        step = [
            before,
            *first,
            f"moment = torque({time}, q, omega, parameters)",
            "state = after_torque(state, moment, body, dt)",
        ]
        if method.warm_up_steps:
            warm_up = "fourth_order_step(q, omega, moment, n * dt, dt, body, torque, parameters)"
            step += [f"if n < {method.warm_up_steps}:", f"    q, omega = {warm_up}", "    state = remembered(state, q, omega)"]
        step += [] if first else unit
        if not method.torque_time:
            closing = [before, "return read(state, torque(steps * dt, q, omega, parameters), body, dt)"]
    else:
        step = ["state = step(state, n * dt, dt, body, torque, parameters)", *unit]
    changes = _changes(method.processor)
    if changes:
        arguments = "dt, body, torque, parameters"
        opening.insert(0, f"q, omega = prepare(q, omega, 0.0, {arguments})")
        reading = closing.pop().replace("return", "q, omega =")
        closing += [reading, f"return output(q, omega, steps * dt, {arguments})"]
    lines = [*opening, "for n in range(steps):", *(f"    {line}" for line in step), *closing]
    kernels = {role: getattr(method, role) for role in method.kernels()} | changes
    others = {"normalised": normalised, "fourth_order_step": fourth_order_step, "remembered": remembered}
    return _kernel(f"run of {method.key}", "run(q, omega, body, torque, parameters, dt, steps)", lines, kernels | others)


@cache
def _changes(processor: Processor | None) -> dict[str, Callable[..., Any]]:
    """The two maps of a processor as kernels."""
    if processor is None:
        return {}
    known: dict[str, Any] = {
        "move": move_of(processor.drift),
        "angular_momentum": angular_momentum,
        "angular_velocity": angular_velocity,
    }
    made = {}
    for name, rows in zip(("prepare", "output"), np.split(processor.moves(), 2), strict=True):
        moves = [
            f"q, momentum = move(q, momentum, t, dt, body, torque, parameters, {a!r}, {b!r}, {c!r})"
            for a, b, c in rows.tolist()
        ]
        lines = ["momentum = angular_momentum(omega, body)", *moves, "return q, angular_velocity(momentum, body)"]
        made[name] = _kernel(
            f"{name} of {processor.shares}", f"{name}(q, omega, t, dt, body, torque, parameters)", lines, known
        )
    return made


def _kernel(name: str, call: str, lines: Sequence[str], known: Mapping[str, Any]) -> Callable[..., Any]:
    """A kernel of these lines, which call those that are known."""
    text = f"def {call}:\n" + "".join(f"    {line}\n" for line in lines)
    # As a file, from which the translator reads the source of a kernel.
    linecache.cache[f"<{name}>"] = len(text), None, text.splitlines(keepends=True), f"<{name}>"
    made: dict[str, Any] = {**known, "__name__": __name__}
    exec(compile(text, f"<{name}>", "exec"), made)
    kernel: Callable[..., Any] = made[call.partition("(")[0]]
    return kernel
