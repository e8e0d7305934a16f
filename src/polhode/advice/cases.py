"""The case of a question: a body, its start and its torque, as given on the command line, in a YAML file or in a Python file.

What a question leaves open, such as the direction of an angular velocity of which only the size is given, is drawn at random:
a case then has several starts, and a step has to serve them all.
"""

import ast
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from keyword import iskeyword
from math import cos, exp, hypot, isfinite, log, pi, sin, sqrt
from pathlib import Path
from typing import Any, cast

import numpy as np

from polhode.advice.errors import AdviceError, checked, in_radians, in_seconds
from polhode.algebra.body import Body
from polhode.algebra.quaternion import conjugate, multiply, to_body, to_lab
from polhode.algebra.vector import add
from polhode.compiling.kernel import Quaternion, Vector, kernel
from polhode.ensembles.classes import CLASSES
from polhode.fits.laws import TOGETHER
from polhode.interface.arguments import flag, is_ordered, number, positive, regular_file, shown, vector
from polhode.interface.reading import WORDS_THAT_ARE_TRUTHS, ConfigurationError, read
from polhode.problems import orbit
from polhode.problems import signals as of_signals
from polhode.problems.pieces import Controller
from polhode.problems.problem import Problem
from polhode.registry import nearest, place_in

#: Other names of torque classes.
ALIASES = {"friction": "friction_isotropic", "heavy_top": "state", "gravity": "state", "none": "free", "body": "constant"}
#: Torque classes that leave nothing open once body and angular velocity are known.
CLOSED = ("free", "friction_isotropic")
#: The number of starts drawn for a case that leaves something open. A step that is sufficient for 19 random starts is so for
#: another one with probability 19/20, whatever their distribution.
STARTS = 19
#: The seed of all that is drawn here; the ensembles and the benchmark have others.
SEED = 1702
#: The frequency of a torque that varies with time and the speed below which smooth Coulomb friction is linear, both in units of
#: the initial angular velocity; the ratio of the largest and smallest coefficient of anisotropic friction.
FREQUENCY, LINEAR_BELOW, ANISOTROPY = 1.0, 0.3, 4.0
#: The strength of a torque whose size is not given, and the largest one.
STRENGTH, STRONGEST = 1.0, 1e12
#: Times, moments and angular velocities lie between these: their squares and inverses are numbers.
SMALLEST, LARGEST = 1e-100, 1e100
#: The keys of a YAML file: those of the case, and those of the question.
CASE_KEYS = (
    *("inertia", "wheels", "omega", "orientation", "torque", "frame", "parameters", "signals", "controller", "breakpoints"),
    *("orbit", "loads", "strength", "time", "triangle"),
)
#: The keys that belong to a torque written as formulas.
OF_FORMULAS = ("frame", "parameters", "signals", "controller", "breakpoints", "wheels", "orbit", "loads")
#: The rotation from principal axes to the axes of the question, if these are the same.
NOT_TURNED = (1.0, 0.0, 0.0, 0.0)
QUESTION_KEYS = ("error", "torque_price", "one_torque")
#: Keys of a step, which a case does not have.
STEP_KEYS = ("dt", "step", "steps", "time_step", "timestep")


@dataclass(frozen=True)
class BodyCase:
    """A body under a torque, from one or several starts.

    Parameters
    ----------
    words : str
        Body, motion and torque in words.
    starts : list of Problem
        The motions that a step has to serve.
    open_questions : tuple of str
        What was drawn, because the question leaves it open; empty if it leaves nothing open.
    again : function (i) -> Problem
        Start number i of other ones, of the same body, torque and angular speed; of random bodies body number i.
    question : dict
        What the case is made of, as far as it can be written to JSON.
    starts_are : str
        What the starts are: of one body, or of another body each.
    """

    words: str
    starts: list[Problem]
    open_questions: tuple[str, ...]
    again: Callable[[int], Problem] = field(repr=False)
    question: dict[str, Any] = field(default_factory=dict)
    starts_are: str = "starts"

    @property
    def horizon(self) -> float:
        """The time to simulate, s."""
        return self.starts[0].horizon

    @property
    def speed(self) -> float:
        """The size of the angular velocity at the start, rad/s; the same in all starts."""
        return float(np.linalg.norm(self.starts[0].omega0))

    def beside(self, i: int, rate: float) -> Problem:
        """The given start with a residual angular velocity of size ``rate`` (rad/s) about random axis number ``i``."""
        given = self.starts[0]
        axis = unit_vector(np.random.default_rng(np.random.SeedSequence(SEED + 2, spawn_key=(i,))), 3)
        return _elsewhere(given, _floats(np.array(given.omega0) + rate * axis), given.q0)


def _elsewhere(problem: Problem, omega: Vector, q: Quaternion) -> Problem:
    """The problem from another start; it shares what is compiled."""
    other = replace(problem, omega0=omega, q0=q, reference=None)
    compiled = ("compiled_torque", "compiled_control", "compiled_motors")
    other.__dict__.update({name: getattr(problem, name) for name in compiled})
    return other


def unknown_torque(name: str, known: Sequence[str]) -> str:
    """The message for a torque class that is not known: the nearest name, or all."""
    hint = nearest(name, known)
    if not hint.startswith("did you mean"):
        hint = f"known are: {', '.join(sorted({*known}))}"
    return f"unknown torque {shown(name)}; {hint}"


def duration(value: Any) -> float:
    """The time to simulate in s, from a number of s or a text with its unit, if its square and its inverse are numbers.

    Raises
    ------
    AdviceError
        If it is no positive time, or lies beyond :data:`SMALLEST` and :data:`LARGEST`.
    """
    time: float = checked(positive, "time", in_seconds(value), "s")
    if not SMALLEST < time < LARGEST:
        raise AdviceError(f"time must lie between {SMALLEST:g} and {LARGEST:g} s, got {time:g}")
    return time


def strength_of(value: Any, torque: str) -> float:
    """The strength of a torque named by its class, :data:`STRENGTH` if it is None.

    It is the angular acceleration by the torque over omega^2, a pure number.

    Raises
    ------
    AdviceError
        If it is no number in range, or given where there is no torque or the torque is not known.
    """
    if value is None:
        return STRENGTH
    strength: float = checked(number, "strength", value, least=0.0)
    if torque_class(torque) == "free":
        raise AdviceError(f"strength belongs to a torque, and {torque!r} is none; leave it out or name another torque")
    if strength > STRONGEST:
        raise AdviceError(f"strength must be at most {STRONGEST:g}, got {strength:g}")
    return strength


def torque_class(name: str) -> str:
    """The key of a torque class, by its key or another name.

    Raises
    ------
    AdviceError
        If there is none; the message suggests the nearest.
    """
    key = ALIASES.get(name, name)
    if key not in CLASSES:
        raise AdviceError(unknown_torque(name, [*CLASSES, *ALIASES]))
    return key


def case_of_words(
    inertia: Sequence[float],
    omega: float | Sequence[float],
    torque: str,
    time: float,
    strength: float | None = None,
    orientation: Sequence[float] | None = None,
    starts: int = STARTS,
    triangle: bool = True,
) -> BodyCase:
    """The case of a body with a torque named by its class.

    Parameters
    ----------
    inertia : principal moments, or a tensor as in :meth:`polhode.algebra.body.Body.from_tensor`, kg m^2; omega and orientation
        are then in the axes of the tensor
    omega : initial angular velocity in the body frame, rad/s: three components, or the size, whose direction is drawn
    torque : key of :data:`polhode.ensembles.classes.CLASSES`, or one of :data:`ALIASES`
    time : time to simulate, s
    strength : angular acceleration by the torque over omega^2: the root mean square over all directions of the torque; 1 by
        default
    orientation : initial quaternion (q0, qx, qy, qz), body to lab, of any length; drawn if it is not given
    starts : number of starts drawn, if anything is open
    triangle : whether the moments must be those of a body that can exist

    Raises
    ------
    AdviceError
        Naming what cannot be; also for an omega of zero, against whose square the strength is measured.
    """
    body, rotation = body_of(inertia, triangle)
    key = torque_class(torque)
    strength = strength_of(strength, torque)
    time = duration(time)
    given, size = angular_velocity(omega, rotation)
    if size == 0:
        raise AdviceError("omega must not be zero here: the strength of a torque is measured against its square")
    q0 = _orientation(orientation, rotation)
    left = [] if given is not None else ["the direction of omega"]
    if key not in CLOSED and strength > 0:
        left.append("the friction coefficients" if key.startswith("friction") else "the directions of the torque")
        if key == "friction_smooth_coulomb":
            left.pop()
    of_class = CLASSES[key]

    def start(i: int, seed: int, direction: bool) -> Problem:
        random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(i,)))
        drawn, turned = unit_vector(random, 3), unit_vector(random, 4)
        initial = given if given is not None and not direction else size * drawn
        made = Problem(
            key=f"case_{i}",
            label="your case",
            source="the question",
            body=body,
            omega0=_floats(initial),
            q0=_floats(turned if q0 is None or direction else q0),
            torque=of_class.torque,
            parameters=parameters_of(key, body.inertia, size, strength, random),
            torque_class=of_class.declared,
            horizon=time,
        )
        # Compiled once for all starts.
        made.__dict__["compiled_torque"] = of_class.compiled_torque
        return made

    number_of_starts = starts if left else 1
    name = (
        "no torque" if key == "free" else f"{of_class.label} torque" if key in ("constant", "time", "lab") else of_class.label
    )
    how = "" if key == "free" else f" of strength {strength:g}"
    return BodyCase(
        f"Body {_list(body.inertia)} kg m^2 turning at {size:g} rad/s for {time:g} s, {name}{how}",
        [start(i, SEED, False) for i in range(number_of_starts)],
        tuple(left),
        lambda i: start(i, SEED + 1, True),
        {
            "inertia": list(body.inertia),
            "omega": omega_as_json(omega if given is None else given),
            "torque": key,
            "strength": strength,
            "time": time,
        }
        | ({} if rotation == NOT_TURNED else {"rotation": list(rotation)}),
    )


def case_of_class(torque: str, omega: float, time: float, strength: float | None = None, starts: int = STARTS) -> BodyCase:
    """The case of random bodies under random torques of a class, drawn as those of the ensembles.

    Parameters
    ----------
    torque : key of a class, or one of :data:`~polhode.fits.laws.TOGETHER` or :data:`ALIASES`
    omega : size of the initial angular velocities, rad/s
    time : time to simulate, s
    strength : of all torques, angular acceleration over omega^2; by default drawn, as in the ensembles
    starts : number of bodies

    Raises
    ------
    AdviceError
        For an unknown class, or a strength that cannot be.
    """
    ensembles = import_module("polhode.ensembles.draw")  # the package has a function of this name
    keys = TOGETHER.get(torque) or (torque_class(torque),)
    if strength is not None and torque not in TOGETHER:
        strength = strength_of(strength, torque)
    drawn = ensembles.draw(starts, SEED)

    def start(i: int) -> Problem:
        random = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(i,)))
        of_class = CLASSES[keys[i % len(keys)]]
        frequency = exp(random.uniform(log(ensembles.SLOWEST), log(ensembles.FASTEST)))
        linear = exp(random.uniform(log(ensembles.ROUGHEST), log(ensembles.SMOOTHEST)))
        size = drawn.strength[i] if strength is None else strength
        made = Problem(
            key=f"body_{i}",
            label="a random body",
            source="the question",
            body=Body(_floats(drawn.moments[i])),
            omega0=_floats(omega * drawn.omega0[i]),
            q0=_floats(drawn.q0[i]),
            torque=of_class.torque,
            parameters=parameters_of(of_class.key, drawn.moments[i], omega, size, random, frequency, linear),
            torque_class=of_class.declared,
            horizon=time,
        )
        made.__dict__["compiled_torque"] = of_class.compiled_torque
        return made

    strengths = f"{ensembles.WEAKEST:g} to {ensembles.STRONGEST:g}" if strength is None else f"{strength:g}"
    named = " or ".join(CLASSES[key].label for key in keys)
    return BodyCase(
        f"Any body turning at {omega:g} rad/s for {time:g} s ({omega * time:.3g} rad), torque: {named}"
        + ("" if keys == ("free",) else f" of strength {strengths}"),
        [start(i) for i in range(starts)],
        ("body, start and torque",),
        start,
        {"torque": torque, "omega": omega, "strength": strength, "time": time},
        "bodies",
    )


def case_of_problem(problem: Problem, time: float | None = None, words: str = "") -> BodyCase:
    """The case of a problem, which leaves nothing open; its other starts have random orientations and directions of omega.

    Parameters
    ----------
    time : time to simulate, s; by default the horizon of the problem
    words : the problem in words; by default its label and key

    Raises
    ------
    AdviceError
        If the time or the angular velocity is out of range.
    """
    horizon = duration(problem.horizon if time is None else time)
    if horizon != problem.horizon:
        problem = replace(problem, horizon=horizon)
    size = _size(hypot(*problem.omega0))

    def again(i: int) -> Problem:
        random = np.random.default_rng(np.random.SeedSequence(SEED + 1, spawn_key=(i,)))
        return _elsewhere(problem, _floats(size * unit_vector(random, 3)), _floats(unit_vector(random, 4)))

    words_of_case = words or f"{problem.label[:1].upper()}{problem.label[1:]} ({problem.key})"
    words_of_case += f", body {_list(problem.body.inertia)} kg m^2, for {problem.horizon:g} s"
    question = {
        "problem": problem.key,
        "inertia": list(problem.body.inertia),
        "omega": list(problem.omega0),
        "torque": problem.torque_class,
        "parameters": dict(problem.parameters),
        "time": problem.horizon,
    }
    return BodyCase(words_of_case, [problem], (), again, question)


def case_of_file(path: str | Path, time: float | None = None) -> tuple[BodyCase, dict[str, Any]]:
    """The case in a file, ``.yaml`` or ``.py``, and what a YAML file says of the question: :data:`QUESTION_KEYS` -> value.

    Parameters
    ----------
    time : time to simulate, s; by default the file's

    Raises
    ------
    AdviceError
        If there is no such file, or it does not hold a case; the message names the file.
    """
    from polhode.manybody.scenes import SCENES
    from polhode.problems import PROBLEMS

    path = Path(path)
    try:
        path = regular_file("file", path)
    except FileNotFoundError as error:
        known = [*PROBLEMS, *SCENES]
        raise AdviceError(
            f"{error}" + ("" if path.suffix else f", nor a scene or problem; {nearest(str(path), known)}")
        ) from None
    except ValueError as error:
        raise AdviceError(str(error)) from None
    if path.suffix == ".py":
        return case_of_problem(_problem_in(path), time), {}
    if path.suffix not in (".yaml", ".yml"):
        raise AdviceError(
            f"{path}: a case is a .yaml or a .py file; that of a clump needs `young`, `poisson`, `density`, `speed`"
        )
    try:
        values = read(path, "case file", "write keys with values, such as inertia: [1, 2, 3]").values
    except ConfigurationError as error:
        raise AdviceError(str(error)) from None
    try:
        return case_of_mapping(values, time)
    except AdviceError as error:
        truths = [key for key in ("torque", "frame") if isinstance(values.get(key), bool)]
        hint = f"; {WORDS_THAT_ARE_TRUTHS}" * any(str(error).startswith(key) for key in truths)
        raise AdviceError(f"{path}: {error}{hint}") from None


def case_of_mapping(values: Mapping[Any, Any], time: float | None = None) -> tuple[BodyCase, dict[str, Any]]:
    """The case that the keys of a YAML file describe, and what they say of the question: :data:`QUESTION_KEYS` -> value.

    Parameters
    ----------
    values : :data:`CASE_KEYS` and :data:`QUESTION_KEYS` -> value, as for :func:`polhode.advice.for_motion`
    time : time to simulate, s; by default the one in ``values``

    Raises
    ------
    AdviceError
        If a key is missing or not known, or a value cannot be; the message names it.
    """
    known = [*CASE_KEYS, *QUESTION_KEYS]
    for key in values:
        if key in STEP_KEYS:
            raise AdviceError(f"the key {key} does not belong to a case: the step is what is computed")
        if key not in known:
            hint = f"{WORDS_THAT_ARE_TRUTHS}; " * isinstance(key, bool)
            raise AdviceError(f"unknown key {key!r}; {hint}{nearest(str(key), known)}")
    missing = [key for key in ("inertia", "omega", "torque") if key not in values]
    if "time" not in values and time is None:
        missing.append("time")
    if missing:
        raise AdviceError(f"{missing[0]} is missing; a case needs inertia, omega, torque and time")
    values = {key: _numbers(value) if key != "torque" else value for key, value in values.items()}
    question = {key: values[key] for key in QUESTION_KEYS if key in values}
    if "error" in question:
        question["error"] = in_radians(question["error"])
    for key, value in question.items():
        checked(flag if key == "one_torque" else number, key, value)
    time = duration(values.get("time") if time is None else time)
    torque = values["torque"]
    if isinstance(torque, str):
        for key in OF_FORMULAS:
            if key in values:
                raise AdviceError(f"{key} belongs to a torque written as three formulas, not to {torque!r}")
        return (
            case_of_words(
                values["inertia"],
                values["omega"],
                torque,
                time,
                values.get("strength"),
                values.get("orientation"),
                triangle=checked(flag, "triangle", values.get("triangle", True)),
            ),
            question,
        )
    if "strength" in values:
        raise AdviceError("strength belongs to a torque named by its class; formulas have parameters")
    parameters = values.get("parameters", {})
    if not isinstance(parameters, Mapping):
        raise AdviceError(f"parameters must be names with numbers, got {shown(parameters)}")
    if no_names := [name for name in parameters if not isinstance(name, str)]:
        raise AdviceError(
            f"parameters: {no_names[0]!r} cannot be the name of a parameter; choose another (to YAML on, off, yes and no are "
            "True and False)"
        )
    given_names = [unicodedata.normalize("NFKC", str(name)) for name in parameters]
    if twice := [name for name in given_names if given_names.count(name) > 1]:
        raise AdviceError(f"parameters: {twice[0]!r} occurs twice: characters that look alike are one to Python")
    parameters = {
        name: checked(number, f"parameters: {name}", value)
        for name, value in zip(given_names, parameters.values(), strict=True)
    }
    triangle = checked(flag, "triangle", values.get("triangle", True))
    wheels, control = _wheels(values.get("wheels", ())), values.get("controller")
    body, rotation = body_of(values["inertia"], triangle, wheels)
    given, _ = angular_velocity(values["omega"], rotation)
    if given is None:
        raise AdviceError("omega must have three components where the torque is written as formulas")
    omega0 = _floats(given)
    if isinstance(control, Mapping) and "motors" in control:
        body, turned = checked(body.with_free_wheels, omega0)
        omega0, rotation = to_body(turned, omega0), multiply(rotation, turned)
    signals = _signals(values.get("signals", {}), parameters)
    loads = _loads(values, body, rotation)
    function, kind = torque_of_formulas(torque, tuple(parameters), values.get("frame", "body"), rotation, signals, loads)
    names = tuple(parameters)
    for name, signal in signals.items():
        parameters |= signal.parameters(name)
    for name, numbers in loads.items():
        parameters |= {f"{name}.{key}": x for key, x in numbers.items()}
    controller = _controller(control, names, rotation, signals, [axis for axis, *_ in wheels], len(parameters))
    q0 = _orientation(values.get("orientation", NOT_TURNED), rotation)
    breakpoints = values.get("breakpoints", ())
    if not isinstance(breakpoints, Sequence) or isinstance(breakpoints, str):
        raise AdviceError(f"breakpoints must be ascending times (s) at which the torque jumps, got {shown(breakpoints)}")
    problem = checked(
        Problem,
        key="your_case",
        label="your case",
        source="a YAML file",
        body=body,
        omega0=omega0,
        q0=_floats(q0),
        torque=function,
        parameters=parameters,
        torque_class=kind,
        horizon=time,
        breakpoints=_with_pulses(breakpoints, [*edges_of_pulses(torque, parameters), *of_signals.edges(*signals.values())]),
        controller=controller,
    )
    checked(problem.try_out)
    return case_of_problem(problem), question


def _wheels(given: Any) -> list[Any]:
    """The wheels of a YAML file as a body takes them: axis and momentum, or axis, inertia and speed."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise AdviceError(f"wheels must be a list such as [{{axis: [0, 1, 0], momentum: 0.005}}], got {shown(given)}")
    wheels: list[Any] = []
    for i, wheel in enumerate(given):
        keys = tuple(wheel) if isinstance(wheel, Mapping) else ()
        if sorted(map(str, keys)) not in (["axis", "momentum"], ["axis", "inertia", "speed"]):
            raise AdviceError(
                f"wheels[{i}] needs axis and momentum (N m s), or axis, inertia (kg m^2) and speed (rad/s), got {shown(wheel)}"
            )
        wheels.append([wheel[key] for key in ("axis", "momentum", "inertia", "speed") if key in wheel])
    return wheels


def _signals(given: Any, parameters: Mapping[str, float]) -> dict[str, of_signals.Signal]:
    """The signals of a YAML file by their names."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise AdviceError(f"signals must be names with firings, or with times and values, got {shown(given)}")
    if twice := sorted(set(given) & set(parameters)):
        raise AdviceError(f"signals: {twice[0]!r} is a parameter, too; choose another name")
    return {name: checked(of_signals.signal_of, name, signal) for name, signal in given.items()}


def _loads(values: Mapping[str, Any], body: Body, rotation: Quaternion) -> dict[str, dict[str, float]]:
    """The numbers of the torques of an orbit that a YAML file names, in principal axes."""
    given = values.get("loads", {})
    if not isinstance(given, Mapping):
        raise AdviceError(f"loads must be names with numbers, such as {{gravity_gradient: {{}}}}, got {shown(given)}")
    if not given and "orbit" in values:
        raise AdviceError("orbit belongs to loads, such as {gravity_gradient: {}}, and there are none")
    if not given:
        return {}
    about = values.get("orbit")
    if not isinstance(about, Mapping) or not {"altitude"} <= set(about) <= {"altitude", "inclination", "phase"}:
        raise AdviceError(f"loads need orbit: {{altitude: m, inclination: rad, phase: rad}}, got {shown(about)}")
    around = checked(orbit.Orbit, **about)
    turned: dict[Any, Any] = {
        name: dict(numbers) if isinstance(numbers, Mapping) else numbers for name, numbers in given.items()
    }
    for name, (_, _, axis) in orbit.LOADS.items():
        if axis and isinstance(turned.get(name), dict) and axis in turned[name]:
            turned[name][axis] = to_body(rotation, checked(vector, f"loads: {name}: {axis}", turned[name][axis], 3))
    return {name: checked(orbit.numbers_of, name, around, body.inertia, numbers) for name, numbers in turned.items()}


def _controller(
    given: Any,
    parameters: Sequence[str],
    rotation: Quaternion,
    signals: Mapping[str, of_signals.Signal],
    axes: Sequence[Vector],
    momentum: int,
) -> Controller | None:
    """The controller of a YAML file, if there is one; its motors drive wheels about these ``axes``.

    The momentum of wheels stands behind so many numbers.
    """
    if given is None:
        return None
    keys = set(given) if isinstance(given, Mapping) else set()
    if not keys <= {"every", "torque", "frame", "motors"} or "every" not in keys or not keys & {"torque", "motors"}:
        raise AdviceError(
            "controller needs every (s), and torque, three formulas of the state at the sample (frame: lab is allowed), or "
            f"motors, a formula for each wheel; got {shown(given)}"
        )
    known: dict[str, Any] = {"signals": signals, "momentum": momentum if axes else None}
    try:
        torque, frame = given.get("torque", [0, 0, 0]), given.get("frame", "body")
        function, _ = torque_of_formulas(torque, parameters, frame, rotation, **known)
    except AdviceError as error:
        raise AdviceError(f"controller: {error}") from None
    motors = None
    if "motors" in given:
        formulas = given["motors"]
        if not is_ordered(formulas) or not axes or len(formulas) != len(axes):
            raise AdviceError(
                f"controller: motors must be a formula (N m) for each of the {len(axes)} wheels, got {shown(formulas)}"
            )
        for i, formula in enumerate(formulas):
            try:
                torque_of_formulas([formula, 0, 0], parameters, **known)
            except AdviceError as error:
                raise AdviceError(f"controller: motors[{i}]: {error}") from None
        motors, _ = torque_of_formulas(_along(formulas, axes), parameters, "body", rotation, **known)
    return cast(Controller, checked(Controller, in_seconds(given["every"]), function, motors))


def _along(formulas: Sequence[Any], axes: Sequence[Vector]) -> list[str]:
    """The components of the sum of torques about these axes: three formulas, from a formula for each axis."""
    sizes = [hypot(*axis) for axis in axes]
    return [
        " + ".join(f"{axis[k] / size!r} * ({formula})" for axis, size, formula in zip(axes, sizes, formulas, strict=True))
        for k in range(3)
    ]


def _numbers(value: Any) -> Any:
    """The value with strings that are numbers as numbers: to YAML 1e-3 is a string, 1.0e-3 is not."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    if isinstance(value, Mapping):
        return {key: _numbers(item) for key, item in value.items()}
    return [_numbers(item) for item in value] if isinstance(value, list) else value


#: What a formula may use: the state, and these functions.
NAMES = ("t", "q0", "qx", "qy", "qz", "wx", "wy", "wz")
MOMENTUM = ("hx", "hy", "hz")
RESERVED = ("pi", "q", "omega", "parameters", "torque", "to_body", "to_lab", "multiply", "ROTATION", "BACK")


@kernel
def pulse(t: Any, start: Any, width: Any) -> Any:
    """1 for t (s) from ``start`` on and before ``start + width`` (s), else 0."""
    value = 0.0
    if t >= start and t < start + width:
        value = 1.0
    return value


FUNCTIONS: dict[str, Any] = {
    "pulse": pulse,
    "sin": sin,
    "cos": cos,
    "exp": exp,
    "sqrt": sqrt,
    "abs": abs,
    "min": min,
    "max": max,
}
#: The number of arguments of those with more than one.
ARGUMENTS = {"min": 2, "max": 2, "pulse": 3}
_NODES = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.Call,
    ast.Name,
    ast.Load,
    ast.Constant,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.Pow,
    ast.USub,
    ast.UAdd,
)


#: Most operations within each other in a formula, such as terms of a sum; Python's own limit is near a thousand.
DEEPEST = 200
#: Whole numbers up to this one remain whole as exponents: a power is then a product, also of a negative number.
LARGEST_EXPONENT = 1000


class _Floats(ast.NodeTransformer):
    """The numbers of a formula as floats: whole numbers beyond 2^63 overflow when compiled."""

    def __init__(self, formula: str) -> None:
        self.formula = formula

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        exponent = node.right.operand if isinstance(node.right, ast.UnaryOp) else node.right
        whole = isinstance(exponent, ast.Constant) and isinstance(exponent.value, int) and exponent.value <= LARGEST_EXPONENT
        node.left = self.visit(node.left)
        if not (whole and isinstance(node.op, ast.Pow)):
            node.right = self.visit(node.right)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        value = float("inf")
        with suppress(OverflowError):
            value = float(node.value)  # type: ignore[arg-type]
        if not isfinite(value):
            raise AdviceError(f"torque: {self.formula} holds a number beyond 1.8e308")
        return ast.copy_location(ast.Constant(value), node)


def _depth(tree: ast.AST) -> int:
    """How deeply the operations of a formula stand within each other."""
    level, depth = [tree], 0
    while level:
        level, depth = [child for node in level for child in ast.iter_child_nodes(node)], depth + 1
    return depth


def torque_of_formulas(
    formulas: Any,
    parameters: Sequence[str] = (),
    frame: str = "body",
    rotation: Quaternion = NOT_TURNED,
    signals: Mapping[str, of_signals.Signal] | None = None,
    loads: Mapping[str, Mapping[str, float]] | None = None,
    momentum: int | None = None,
) -> tuple[Callable[..., Any], str]:
    """The torque whose components are three formulas, and its torque class.

    Parameters
    ----------
    formulas : three strings or numbers, N m, in :data:`NAMES`, ``pi``, the parameters and :data:`FUNCTIONS`
    parameters : names of further numbers
    frame : "body" or "lab", of the components
    rotation : from principal axes to those of the body in which the formulas are meant, which a tensor may have
    signals : functions of time by their names, whose numbers stand behind the parameters
    loads : keys of :data:`polhode.problems.orbit.LOADS` -> numbers of torques that are added; these stand behind the signals
    momentum : the number of numbers before the momentum of wheels, ``hx hy hz`` unless parameters have these names

    Returns
    -------
    A function (t, q, omega, parameters) -> (tx, ty, tz), in principal axes and N m, as a
    :class:`polhode.problems.problem.Problem` takes it, and a key of :data:`polhode.problems.problem.TORQUE_CLASSES`.

    Raises
    ------
    AdviceError
        If there are not three formulas, the frame or the name of a parameter cannot be, or a formula holds anything else; the
        message names it.
    """
    if isinstance(formulas, str | bytes) or not isinstance(formulas, Sequence) or len(formulas) != 3:
        raise AdviceError(f"torque must be the name of a class or three formulas, got {shown(formulas)}")
    if frame not in ("body", "lab"):
        raise AdviceError(f"frame must be body or lab, got {shown(frame)}")
    signals = signals or {}
    for name in (*parameters, *signals):
        if not name.isidentifier() or iskeyword(name) or name.startswith("__") or name in (*NAMES, *FUNCTIONS, *RESERVED):
            raise AdviceError(f"parameters: {name!r} cannot be the name of a parameter; choose another")
    of_wheels = [name for name in MOMENTUM if momentum is not None and name not in (*parameters, *signals)]
    used: set[str] = set()
    texts = []
    for formula in formulas:
        text = str(formula).strip()
        said = shown(text)
        try:
            tree = ast.parse(text, mode="eval")
            depth = _depth(tree)
        except (SyntaxError, ValueError):
            raise AdviceError(f"torque: {said} is not a formula") from None
        except (RecursionError, MemoryError):
            depth = DEEPEST + 1
        if depth > DEEPEST:
            raise AdviceError(f"torque: {said} has more than {DEEPEST} operations in a row; write the torque in a .py file")
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in ast.walk(tree):
            if not isinstance(node, _NODES) or (isinstance(node, ast.Call) and not isinstance(node.func, ast.Name)):
                raise AdviceError(f"torque: {said} may use + - * / ** and {', '.join(FUNCTIONS)} only")
            if isinstance(node, ast.Call) and (name := ast.unparse(node.func)) in FUNCTIONS:
                count = ARGUMENTS.get(name, 1)
                if len(node.args) != count or node.keywords:
                    number_of = ("one argument", "two arguments", "three: t, start and width (s)")[count - 1]
                    raise AdviceError(f"torque: {said}: {name} takes {number_of}")
            if isinstance(node, ast.Constant) and (isinstance(node.value, bool) or not isinstance(node.value, int | float)):
                raise AdviceError(f"torque: {said} may hold numbers only")
            if isinstance(node, ast.Name):
                known = list(FUNCTIONS) if id(node) in called else [*NAMES, *parameters, *signals, *of_wheels, "pi"]
                if node.id not in known:
                    raise AdviceError(f"torque: unknown name {shown(node.id)} in {said}; {nearest(node.id, known)}")
                used.add(node.id)
        texts.append(f"0.0 + ({ast.unparse(_Floats(said).visit(tree))})")
    reads = "".join(f"    {name} = parameters[{i}]\n" for i, name in enumerate(parameters))
    first = len(parameters)
    for name, each in signals.items():
        reads += f"    {name} = __signal(t, parameters, {first}, {len(each.rows)})\n"
        first += 3 * len(each.rows)
    if momentum is not None and used & {*of_wheels}:
        reads += f"    __h = to_lab(ROTATION, ({', '.join(f'parameters[{momentum + i}]' for i in range(3))}))\n"
        reads += "".join(f"    {name} = __h[{MOMENTUM.index(name)}]\n" for name in of_wheels)
    value = f"({', '.join(texts)})"
    value = f"to_body(q, {value})" if frame == "lab" else value
    turn = "" if rotation == NOT_TURNED else "    q, omega = multiply(q, BACK), to_lab(ROTATION, omega)\n"
    adds = ""
    for name, numbers in (loads or {}).items():
        adds += f"    __load = __add(__load, __{name}(t, __q, parameters, {first}))\n"
        first += len(numbers)
    source = (
        "def torque(t, q, omega, parameters):\n"
        "    __q = q\n"
        f"{turn}"
        "    q0, qx, qy, qz = q\n"
        "    wx, wy, wz = omega\n"
        f"{reads}    __load = {f'to_body(ROTATION, {value})' if turn else value}\n{adds}    return __load\n"
    )
    scope: dict[str, Any] = {**FUNCTIONS, "pi": pi, "to_body": to_body, "to_lab": to_lab, "multiply": multiply}
    scope |= {"__signal": of_signals.signal, "__add": add, **{f"__{name}": load for name, (load, *_) in orbit.LOADS.items()}}
    scope |= {"ROTATION": rotation, "BACK": conjugate(rotation)}
    exec(compile(source, "<torque>", "exec"), scope)
    function: Callable[..., Any] = scope["torque"]
    if used & {"wx", "wy", "wz"}:
        return function, "velocity"
    if loads or used & {"q0", "qx", "qy", "qz"}:
        return function, "state"
    return function, "lab" if frame == "lab" else "time" if used & {"t", *signals} else "constant"


def _with_pulses(breakpoints: Sequence[Any], edges: Sequence[float]) -> tuple[Any, ...]:
    """The breakpoints with the edges of pulses, ascending; alone where they do not ascend, which the problem refuses."""
    later = [t for t in edges if t > 0]
    if not later or not all(isinstance(t, int | float) for t in breakpoints) or list(breakpoints) != sorted(breakpoints):
        return tuple(breakpoints)
    return tuple(sorted({*breakpoints, *later}))


def edges_of_pulses(formulas: Sequence[Any], parameters: Mapping[str, float]) -> list[float]:
    """The times, s, at which pulses of the formulas begin and end, in pairs; ``parameters``: name -> number.

    Raises
    ------
    AdviceError
        If start or width of a pulse depends on more than numbers and parameters.
    """
    edges: list[float] = []
    for formula in map(str, formulas):
        for node in ast.walk(ast.parse(formula.strip(), mode="eval")):
            if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "pulse"):
                continue
            times = []
            for argument in node.args[1:]:
                names = {name.id for name in ast.walk(argument) if isinstance(name, ast.Name)}
                if unknown := names - {*parameters, "pi", *FUNCTIONS}:
                    raise AdviceError(
                        f"torque: {shown(formula)}: start and width of a pulse are numbers or parameters, not {min(unknown)}"
                    )
                code = compile(ast.Expression(argument), "<pulse>", "eval")
                times.append(float(eval(code, {"__builtins__": {}, **FUNCTIONS, "pi": pi, **parameters})))
            edges += [times[0], times[0] + times[1]]
    return edges


def _problem_in(path: Path) -> Problem:
    """The problem of a plug-in file, tried in a separate process before it is loaded."""
    from polhode.interface import plugins
    from polhode.problems import PROBLEMS
    from polhode.registry import load_file

    try:
        plugins.try_out([path], references=False)
        problem = load_file(path, [PROBLEMS])["problem"]
    except (FileNotFoundError, TypeError, ValueError) as error:
        raise AdviceError(str(error)) from error
    if not isinstance(problem, Problem):
        raise AdviceError(f"{path}: PROBLEM must be a Problem of one body, got a {type(problem).__name__}")
    try:
        problem.compile()
    except Exception as error:
        raise AdviceError(f"{place_in(path, error)} does not compile: {error}") from error
    return problem


def body_of(inertia: Any, triangle: bool = True, wheels: Sequence[Any] = ()) -> tuple[Body, Quaternion]:
    """The body with these moments or this tensor and wheels, and the rotation from its principal axes to the given axes.

    The rotation is a unit quaternion, (1, 0, 0, 0) for moments. ``inertia`` (kg m^2) is as in
    :meth:`polhode.algebra.body.Body.from_tensor`, ``wheels`` and ``triangle`` as in :class:`polhode.algebra.body.Body`.

    Raises
    ------
    AdviceError
        That says why there is none.
    """
    ordered = tuple(inertia) if is_ordered(inertia) else inertia
    body, rotation = checked(Body.from_tensor, ordered, triangle=triangle, wheels=wheels)
    if not all(SMALLEST < moment < LARGEST for moment in body.inertia):
        raise AdviceError(
            f"inertia must lie between {SMALLEST:g} and {LARGEST:g} kg m^2, got {_list(body.inertia)}; take another unit"
        )
    return body, rotation


def parameters_of(
    key: str,
    moments: Sequence[float],
    omega: float,
    strength: float,
    random: np.random.Generator,
    frequency: float = FREQUENCY,
    linear_below: float = LINEAR_BELOW,
) -> dict[str, float]:
    """Name -> value of the parameters of a torque class for a body, with directions drawn from ``random``; in SI units.

    Scaled so that the angular acceleration, root mean square over all directions of the torque, is ``strength`` omega^2; for
    friction at the initial speed. This is how the ensembles measure strength (:mod:`polhode.ensembles.draw`).

    Parameters
    ----------
    key : of a class in :data:`polhode.ensembles.classes.CLASSES`
    moments : three principal moments, kg m^2
    omega : the angular velocity at which the body turns, rad/s
    frequency : of a torque that varies with time, in units of omega
    linear_below : speed below which smooth Coulomb friction is linear, in units of omega
    """
    inverse = np.diag(1 / np.array(moments))
    per_torque = sqrt((inverse**2).sum() / 3)
    torque = strength * omega**2 / per_torque
    wave = random.standard_normal((3, 3))
    wave *= torque / sqrt((wave[0] ** 2).sum() + ((wave[1:] ** 2).sum()) / 2)
    direction = unit_vector(random, 3)
    axes, _ = np.linalg.qr(random.standard_normal((3, 3)))
    drag = axes @ np.diag(np.exp(random.uniform(0, np.log(ANISOTROPY), 3))) @ axes.T
    drag *= strength * omega / sqrt(((inverse @ drag) ** 2).sum() / 3)
    x, y, z = direction
    arm = direction * strength * omega**2 / sqrt(((inverse @ np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])) ** 2).sum() / 3)
    values: dict[str, Sequence[float] | np.ndarray] = {
        "free": [],
        "constant": torque * direction,
        "time": [*wave.ravel(), frequency * omega],
        "lab": [*wave.ravel(), frequency * omega],
        "state": arm,
        "friction_isotropic": [torque / omega],
        "friction_anisotropic": [*np.diag(drag), drag[1, 2], drag[2, 0], drag[0, 1]],
        "friction_smooth_coulomb": [torque, linear_below * omega],
    }
    return dict(zip(CLASSES[key].parameters, map(float, values[key]), strict=True))


def unit_vector(random: np.random.Generator, size: int) -> np.ndarray:
    """A random unit vector (size,), uniform over all directions; of four components, a uniform rotation."""
    direction = random.standard_normal(size)
    for _ in range(2):
        direction = direction / sqrt(float(direction @ direction))
    return np.asarray(direction)


def omega_as_json(omega: Any) -> Any:
    """An angular velocity, in its unit, as JSON can write it: a float for its size, a list of floats for its components."""
    return [float(x) for x in np.ravel(omega)] if np.size(omega) > 1 else float(np.ravel(omega)[0])


def angular_velocity(omega: Any, rotation: Quaternion = NOT_TURNED) -> tuple[np.ndarray | None, float]:
    """The initial angular velocity (3,) in principal axes, rad/s, or None if only its size is given; and its size, rad/s.

    Parameters
    ----------
    omega : its size, or three components in the axes of the question, rad/s
    rotation : unit quaternion, from principal axes to the axes of the question

    Raises
    ------
    AdviceError
        If it is neither, or out of range.
    """
    if is_ordered(omega):
        if len(omega) == 1:
            return angular_velocity(omega[0], rotation)
        if len(omega) != 3:
            raise AdviceError(f"omega must be one number, its size, or three components (rad/s), got {shown(omega)}")
        given = np.array(to_body(rotation, checked(vector, "omega", omega, 3)))
        return given, _size(hypot(*given))
    return None, _size(checked(number, "omega", omega, least=0.0))


def _size(omega: float) -> float:
    """The size of an angular velocity, if its square and its inverse are numbers."""
    if omega and not SMALLEST < omega < LARGEST:
        raise AdviceError(
            f"omega must lie between {SMALLEST:g} and {LARGEST:g} rad/s or be zero, got {omega:g}; take another unit of time"
        )
    return omega


def _orientation(q: Sequence[float] | None, rotation: Quaternion) -> np.ndarray | None:
    """The unit quaternion of principal axes from four numbers in proportion, which are that of the axes of the question."""
    if q is None:
        return None
    proportions = np.array(checked(vector, "orientation", q, 4))
    largest = abs(proportions).max()
    if largest == 0:
        raise AdviceError("orientation must not be zero")
    if largest < 1e-300:  # its inverse is no number
        proportions, largest = proportions * 1e300, largest * 1e300
    given = np.array(multiply(tuple(proportions / largest), rotation))
    for _ in range(2):
        given = given / np.linalg.norm(given)
    return given


def _floats(values: Any) -> Any:
    return tuple(float(x) for x in values)


def _list(values: Sequence[float]) -> str:
    return f"({', '.join(f'{x:.4g}' for x in values)})"
