"""The definition of a problem: a body, a torque, an initial state, a horizon and a reference solution."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import import_module
from itertools import pairwise
from typing import Any, Self
from unicodedata import normalize

import numpy as np

from polhode.algebra.body import Body
from polhode.algebra.vector import add, cross
from polhode.compiling.kernel import is_kept, kernel
from polhode.compiling.trials import TORQUE, checked_function, compiled_torque, parameter_array, states_of, try_torque
from polhode.interface.arguments import (
    array,
    flag,
    function,
    is_ordered,
    number,
    positive,
    shown,
    text,
    unit_quaternion,
    vector,
    whole,
)
from polhode.problems import pieces
from polhode.registry import LAST

#: reference(problem, times, digits) -> one state for each time, as mpmath numbers: (q, omega) for the single body of a
#: :class:`Problem`, or (r, v, q, omega) for each body of a :class:`polhode.problems.system.System`.
Reference = Callable[[Any, Sequence[float], int], list[Any]]

#: What a torque depends on; methods may have a different order for each. A torque of a later class may depend on more.
TORQUE_CLASSES: dict[str, str] = {
    "free": "none",
    "constant": "constant in the body frame",
    "time": "a given function of time in the body frame",
    "lab": "a given function of time in the lab frame",
    "state": "a function of the orientation",
    "velocity": "a function of the angular velocity",
}
#: More digits than any motion can be known to; arbitrary precision ends the process where it runs out of memory.
MOST_DIGITS = 100_000
#: Quantities that may be constant along a motion; see :attr:`Problem.conserves`.
CONSERVED: tuple[str, ...] = ("energy", "momentum", "vertical momentum")


@dataclass(frozen=True, kw_only=True)
class Case:
    """The declarations common to all test problems, of one body or several.

    Parameters
    ----------
    key, label, source : str
        Name in the configuration and in file names; name in figures; publication and place.
    short_label : str
        The name where space is limited; :attr:`label` if empty.
    rank : int
        Its position among the problems of its torque class, from 0; problems of equal rank are ordered by their keys.
    represents_class : bool
        Whether it is shown where there is space for one problem of its torque class.
    load_formula : str
        The torque in the body frame, or the loads, in LaTeX, for the table of problems; constants have the names in
        :attr:`symbols`. By default the formula of the torque class.
    symbols : dict
        The LaTeX names of parameters and derived numbers in that formula, where they differ from their own.
    derived : function (problem) -> dict, optional
        Named numbers that follow from the parameters, listed with them.
    dependence : str
        What the loads depend on, in LaTeX, if it is more than the torque class implies.
    parameters : dict
        Named numbers in the torque, SI units, in the order in which the torque reads them.
    torque_class : str
        One of :data:`TORQUE_CLASSES`.
    horizon : float
        Default simulated time, s.
    breakpoints : tuple of float
        Times in s, ascending, at which the loads jump or have a kink, or short pulses that begin and end there. References and
        the exact motion of :func:`polhode.recommend` are integrated in pieces that end there, and only then may the torque of
        a Taylor reference have branches. They count as the binary numbers they are.
        :func:`polhode.simulate` ends a step at each; the study, whose steps are equal, passes over them.
    reference : str or function, optional
        The closed form: the module of :mod:`polhode.references` whose ``solve`` computes it, or a user's function with the
        arguments (problem, times, digits). Without it only the Taylor integrator is available. It is a name instead of an
        import, so that work on a reference does not invalidate simulations.
    formula : str
        The formula of the closed form, for the reference file.
    conserves : tuple of str
        Quantities conserved by the exact motion, from :data:`CONSERVED`: the energy (kinetic, plus potential if there is one),
        the angular momentum in the lab minus the impulse of the torque, or only its vertical component.

    Raises
    ------
    TypeError, ValueError
        If an argument has a wrong type, a number is not finite, the horizon is not positive, or a word is not one of those
        allowed; the message names the problem and the argument.
    """

    key: str
    label: str
    short_label: str = ""
    rank: int = LAST
    represents_class: bool = False
    source: str
    parameters: dict[str, float] = field(default_factory=dict)
    torque_class: str
    horizon: float
    breakpoints: tuple[float, ...] = ()
    reference: str | Reference | None = field(default=None, repr=False)
    formula: str = ""
    load_formula: str = ""
    symbols: dict[str, str] = field(default_factory=dict)
    derived: Callable[[Any], dict[str, float]] | None = field(default=None, repr=False)
    dependence: str = ""
    conserves: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("key", "label", "short_label", "source", "formula", "load_formula", "dependence", "torque_class"):
            text(f"problem: {name}", getattr(self, name), empty=name != "key")
        where = f"problem {self.key!r}"
        if not isinstance(self.parameters, dict):
            raise TypeError(f"{where}: parameters must be a dict of names and numbers, got {shown(self.parameters)}")
        for name, value in self.parameters.items():
            number(f"{where}: parameter {name}", value)
        if not isinstance(self.symbols, dict) or not all(
            isinstance(word, str) for word in (*self.symbols, *self.symbols.values())
        ):
            raise TypeError(
                f'{where}: symbols must be a dict of names and LaTeX, such as {{"nu": r"\\nu"}}, got {shown(self.symbols)}'
            )
        function(f"{where}: derived", self.derived, optional=True)
        whole(f"{where}: rank", self.rank, least=0)
        flag(f"{where}: represents_class", self.represents_class)
        positive(f"{where}: horizon", self.horizon, "s")
        if not is_ordered(self.breakpoints):
            raise TypeError(f"{where}: breakpoints must be ascending times (s), got {shown(self.breakpoints)}")
        given = tuple(positive(f"{where}: breakpoints[{i}]", t, "s") for i, t in enumerate(self.breakpoints))
        object.__setattr__(self, "breakpoints", given)
        if any(a >= b for a, b in pairwise(given)):
            raise ValueError(f"{where}: breakpoints must ascend, got {shown(given)}")
        if not isinstance(self.reference, str):
            function(f"{where}: reference", self.reference, optional=True)
        if not isinstance(self.conserves, tuple | list):
            raise TypeError(f'{where}: conserves must be a tuple of words, such as ("energy",), got {shown(self.conserves)}')
        if self.torque_class not in TORQUE_CLASSES:
            known = ", ".join(TORQUE_CLASSES)
            raise ValueError(f"{where}: unknown torque class {shown(self.torque_class)}; known are: {known}")
        for name in self.conserves:
            if name not in CONSERVED:
                raise ValueError(f"{where}: conserves {shown(name)} is not known; known are: {', '.join(CONSERVED)}")

    @property
    def parameter_array(self) -> np.ndarray:
        """The parameters as read by the compiled torque; never empty.

        A float array (n,), in the units that the problem declares.
        """
        return parameter_array(self.parameters.values())

    @property
    def has_closed_form(self) -> bool:
        """Whether there is a :attr:`closed_form`, without importing it."""
        return self.reference is not None

    @property
    def closed_form(self) -> Reference | None:
        """The function (problem, times in s, digits) -> states that computes the exact solution, or None.

        A state is (q, omega) for one body, (r, v, q, omega) for each body of a system, of mpmath numbers: lengths in m,
        velocities in m/s in the lab, q (4,) body to lab, scalar first, omega (3,) in rad/s, body frame.
        """
        if not isinstance(self.reference, str):
            return self.reference
        solve: Reference = import_module(f"polhode.references.{self.reference}").solve
        return solve

    def _exact_states(self, times: Sequence[float], digits: int) -> list[Any]:
        if self.closed_form is None:
            raise ValueError(f"problem {self.key!r} has no closed form; use polhode.references.taylor")
        array("times", times)
        return self.closed_form(self, times, whole("digits", digits, least=1, most=MOST_DIGITS))

    def with_parameters(self, **changes: float) -> Self:
        """The problem with other values of named torque parameters, in SI units.

        Raises
        ------
        TypeError, ValueError
            If there is no parameter of this name, or a value is not a finite number; the message names both.
        """
        # Python reads the micro sign of keyboards in a keyword as the Greek letter.
        names = {normalize("NFKC", name): name for name in self.parameters}
        changes = {names.get(normalize("NFKC", name), name): value for name, value in changes.items()}
        unknown = set(changes) - set(self.parameters)
        if unknown:
            raise ValueError(f"problem {self.key!r} has no parameter {sorted(unknown)}; it has {sorted(self.parameters)}")
        return replace(self, parameters={**self.parameters, **changes})


@cache
def plus_wheels(torque: Callable[..., Any], parameters: int) -> Callable[..., Any]:
    """A function of the arguments of ``torque`` (t, q, omega, parameters): this torque plus h x omega of wheels.

    (3,) N m in the body frame; the momentum h (3,) of the wheels, N m s, body frame, stands in the parameters, behind the first
    ``parameters`` numbers.
    """
    load = torque if hasattr(torque, "py_func") else kernel(torque)

    def whole(t: Any, q: Any, omega: Any, numbers: Any) -> Any:
        h = (numbers[parameters], numbers[parameters + 1], numbers[parameters + 2])
        return add(load(t, q, omega, numbers), cross(h, omega))

    return whole


@dataclass(frozen=True, kw_only=True)
class Problem(Case):
    """A rigid body under a torque; for the declarations common to all problems see :class:`Case`.

    Parameters
    ----------
    body : Body
    omega0 : (wx, wy, wz)
        Initial angular velocity in the body frame, rad/s.
    q0 : (q0, qx, qy, qz)
        Initial orientation, unit, body to lab. One that is unit to single precision only is divided by its norm.
    torque : function (t, q, omega, parameters) -> (tx, ty, tz)
        Torque in the body frame, N m, in plain arithmetic, so that it compiles and so that the Taylor integrator can run it on
        power series. ``parameters[i]`` are the numbers in ``parameters``. It may have branches if ``breakpoints`` names the
        times at which they change.
    torque_series : function, optional
        A version of the torque for the Taylor integrator, on :class:`polhode.references.taylor.Series`, if ``torque`` itself
        cannot run on these. Rarely needed: ``+ - * /``, powers, ``math.exp``, ``sin``, ``cos``, ``sqrt`` and kernels can.
    potential : function (q, parameters) -> float, optional
        Potential energy in J, in plain arithmetic that also runs on arrays.
    impulse : function (t, parameters) -> (x, y, z), optional
        The torque in the lab frame, integrated from 0 to t, N m s, if known.
    controller : Controller, optional
        A torque that is sampled and held, beside the other one; steps end at the samples. With motors the momentum of the
        wheels of the body is the one at the start.

    Raises
    ------
    TypeError, ValueError
        If an argument has a wrong type, a number is not finite, the orientation is not a unit quaternion, the horizon is not
        positive, or a controller drives wheels that the body does not have.

    Notes
    -----
    The attributes ``compiled_...`` are kernels (t, q, omega, parameters) -> (3,), the torque in N m, body frame, at the time t
    (s), the orientation q (4,), scalar first, body to lab, and omega (3,), rad/s, body frame; ``parameters`` is a float array
    (n,). They raise TypeError or ValueError if a torque does not run (:meth:`try_out`) or cannot be compiled.
    """

    body: Body
    omega0: tuple[float, float, float]
    torque: Callable[..., Any] = field(repr=False)
    q0: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    torque_series: Callable[..., Any] | None = field(default=None, repr=False)
    potential: Callable[..., Any] | None = field(default=None, repr=False)
    impulse: Callable[..., Any] | None = field(default=None, repr=False)
    controller: pieces.Controller | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        where = f"problem {self.key!r}"
        if not isinstance(self.body, Body):
            raise TypeError(f"{where}: body must be a polhode.Body, got {shown(self.body)}")
        object.__setattr__(self, "omega0", vector(f"{where}: omega0", self.omega0, 3))
        object.__setattr__(self, "q0", unit_quaternion(f"{where}: q0", self.q0))
        checked_function(where, "torque", self.torque, TORQUE)
        for name in ("torque_series", "potential", "impulse"):
            function(f"{where}: {name}", getattr(self, name), optional=True)
        if not isinstance(self.controller, pieces.Controller | None):
            raise TypeError(f"{where}: controller must be a polhode.problems.pieces.Controller, got {shown(self.controller)}")
        if self.has_motors and not self.body.wheels:
            raise ValueError(f"{where}: the controller drives wheels, but the body has none; give it wheels=[(axis, momentum)]")

    @property
    def has_motors(self) -> bool:
        """Whether a controller drives the wheels of the body."""
        return self.controller is not None and self.controller.motors is not None

    @property
    def _width(self) -> int:
        """The numbers of an interval of the controller; 0 without one."""
        return self.controller.width if self.controller else 0

    @property
    def numbers(self) -> tuple[float, ...]:
        """The numbers that :attr:`whole_torque` reads: the parameters, then the momentum of the wheels if there are any.

        In SI units.
        """
        return (*self.parameters.values(), *(self.body.wheel_momentum if self.body.wheels else ()))

    @property
    def parameter_array(self) -> np.ndarray:
        """:attr:`numbers` as read by the compiled torque, a float array (n,), in SI units; never empty.

        With a controller it is what :meth:`numbers_of_pieces` returns, or raises, up to the horizon.
        """
        return parameter_array(self.numbers) if self.controller is None else self.numbers_of_pieces(self.horizon)

    def numbers_of_pieces(self, end: float) -> np.ndarray:
        """What the torque within a piece reads in a run to ``end`` (s), a float array (n,), in SI units.

        :mod:`polhode.problems.pieces` says in which order. The numbers of the piece, and what a controller samples, are zero.

        Raises
        ------
        ValueError
            If the controller takes more than :data:`polhode.problems.pieces.MOST_SAMPLES` samples.
        """
        held = () if self.controller is None else self.controller.table(end, self.body.wheel_momentum)
        return np.concatenate([self.numbers, np.zeros(pieces.OF_PIECE), held])

    @cached_property
    def whole_torque(self) -> Callable[..., Any]:
        """The torque plus h x omega of the wheels, minus their motors' torque: what turns a body without wheels in this way.

        (3,) N m in the body frame.
        """
        if self.has_motors:
            return pieces.plus_driven(self.torque, len(self.numbers))
        return plus_wheels(self.torque, len(self.parameters)) if self.body.wheels else self.torque

    @cached_property
    def compiled_torque(self) -> Callable[..., Any]:
        """:attr:`whole_torque`, a compiled kernel, (3,) N m in the body frame; tried once (:mod:`polhode.compiling.trials`).

        With a controller the torque that it holds is added (:func:`polhode.problems.pieces.plus_held`). Errors come from
        :meth:`compile`.
        """
        if self.body.wheels or self.controller:
            self.try_out()
        if self.controller:
            return pieces.compiled_with_held(self.whole_torque, len(self.numbers), self._width)
        return compiled_torque(f"problem {self.key!r}", self.whole_torque, self.numbers, self._states)

    @cached_property
    def compiled_load(self) -> Callable[..., Any]:
        """The torque without the torque of the wheels, a compiled kernel, for methods to which wheels are part of the body.

        (3,) N m in the body frame; errors as of :meth:`compile`.
        """
        return compiled_torque(f"problem {self.key!r}", self.torque, self.parameters.values(), self._states)

    @cached_property
    def compiled_piece(self) -> Callable[..., Any]:
        """:attr:`whole_torque` within a piece (:mod:`polhode.problems.pieces`), a compiled kernel; (3,) N m, body frame.

        With a controller the torque that it holds is added. Errors come from :meth:`try_out`.
        """
        self.try_out()
        return pieces.compiled(self.whole_torque, len(self.numbers), self._width)

    @cached_property
    def compiled_piece_of_load(self) -> Callable[..., Any]:
        """The torque without h x omega of the wheels, within a piece, a compiled kernel; (3,) N m in the body frame.

        With a controller the torque that it holds is added. Errors come from :meth:`try_out`.
        """
        self.try_out()
        return pieces.compiled(self.torque, len(self.numbers), self._width)

    @cached_property
    def compiled_control(self) -> Callable[..., Any]:
        """The torque of the controller, a compiled kernel; without a controller any torque, which nothing calls.

        (3,) N m in the body frame; its ``parameters`` begin with :attr:`numbers`, and it is called with the state at a sample.
        Errors are as of :meth:`compile`.
        """
        if self.controller is None:
            return self.compiled_torque
        where = f"problem {self.key!r}: controller"
        return compiled_torque(where, self.controller.torque, self.numbers, self._states)

    @cached_property
    def compiled_motors(self) -> Callable[..., Any]:
        """The torque of the controller's motors on the wheels, a compiled kernel, (3,) N m in the body frame.

        Its arguments (t, q, omega, parameters) are explained by the class: ``parameters`` begin with :attr:`numbers`, and it is
        called with the state at a sample. Without motors it is some torque, which nothing calls.

        Raises
        ------
        TypeError, ValueError
            If the torque of the motors, or the one in its place, does not run (:meth:`try_out`) or cannot be compiled.
        """
        if self.controller is None or self.controller.motors is None:
            return self.compiled_control
        where = f"problem {self.key!r}: controller: motors"
        return compiled_torque(where, self.controller.motors, self.numbers, self._states)

    @property
    def _states(self) -> list[tuple[Any, ...]]:
        return states_of(self.q0, self.omega0, self.horizon)

    def try_out(self) -> None:
        """Run the torque in plain Python where the motion begins, and at a few other states; also the torques of a controller.

        A controller has a torque and may have motors: all are tried at the same states.

        Raises
        ------
        ValueError
            If one of them raises (an error of arithmetic counts only where the motion begins), reads parameters that are not
            declared, or does not return three floats, finite where the motion begins.
        """
        try_torque(f"problem {self.key!r}", self.torque, self.parameters.values(), self._states)
        for torque in (self.controller.torque, self.controller.motors) if self.controller else ():
            if torque is not None:
                try_torque(f"problem {self.key!r}: controller", torque, self.numbers, self._states)

    def compile(self) -> None:
        """Compile :attr:`compiled_torque`, so that the first run does not have to wait for it.

        Runs in pieces or with a controller need other kernels, as do methods to which wheels are part of the body.

        Raises
        ------
        TypeError, ValueError
            If it does not run (:meth:`try_out`) or cannot be compiled.
        """
        _ = self.compiled_torque

    def is_kept(self) -> bool:
        """Whether :meth:`compile` finds :attr:`whole_torque` on disk (:mod:`polhode.compiling.cache`).

        With a controller it would need another kernel, which is not looked for.
        """
        from polhode.compiling.signatures import torque_signature

        return is_kept(getattr(self.whole_torque, "py_func", self.whole_torque), torque_signature)

    def exact(self, times: Sequence[float], digits: int) -> tuple[np.ndarray, np.ndarray]:
        """The exact q (times, 4) and omega (times, 3) in double precision, from the closed form with ``digits`` digits.

        q is body to lab, scalar first, omega in rad/s in the body frame; ``times`` in s.

        Raises
        ------
        TypeError, ValueError
            If the problem has no closed form, or it does not hold for the problem, or ``times`` are no finite numbers.
        """
        states = self._exact_states(times, digits)
        return np.array([[float(x) for x in q] for q, _ in states]), np.array([[float(x) for x in w] for _, w in states])
