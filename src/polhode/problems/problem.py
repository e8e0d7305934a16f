"""What a problem is: a body, a torque, an initial state, a horizon and the reference that serves it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from math import sqrt
from typing import Any, Self

import numpy as np

from polhode.arguments import array, function, number, positive, shown, text, vector, whole
from polhode.body import Body
from polhode.kernel import compile_torque, is_kept, torque_signature

#: reference(problem, times, digits) -> one state for each time, as mpmath numbers: (q, omega) of the one body of a
#: :class:`Problem`, or the (r, v, q, omega) of each body of a :class:`polhode.problems.system.System`.
Reference = Callable[[Any, Sequence[float], int], list[Any]]

#: What a torque depends on; methods may have another order for each. A torque of a later class may depend on more.
TORQUE_CLASSES: dict[str, str] = {
    "free": "none",
    "constant": "constant in the body frame",
    "time": "a given function of time in the body frame",
    "lab": "a given function of time in the lab frame",
    "state": "a function of the orientation",
    "velocity": "a function of the angular velocity",
}
#: What may stay constant along a motion; see :attr:`Problem.conserves`.
CONSERVED = ("energy", "momentum", "vertical momentum")


@dataclass(frozen=True, kw_only=True)
class Case:
    """What all test problems have in common, whether of one body or of several.

    Parameters
    ----------
    key, label, source : str
        Name in the configuration and in file names; name in figures; publication and place.
    parameters : dict
        Named numbers of the torque, SI units, in the order in which the torque reads them.
    torque_class : str
        One of :data:`TORQUE_CLASSES`.
    horizon : float
        Time simulated by default, s.
    reference : str or function, optional
        The closed form: the module of :mod:`polhode.references` whose ``solve`` gives it, or a function of one's own with the
        arguments (problem, times, digits). Without it only the Taylor integrator serves. A name and not an import, so that
        work on a reference makes no simulation out of date.
    formula : str
        What the closed form is, for the reference file.
    conserves : tuple of str
        What the exact motion keeps, of :data:`CONSERVED`: the energy (kinetic, and potential where there is one), the angular
        momentum in the lab less the impulse of the torque, or its vertical component alone.

    Raises
    ------
    TypeError, ValueError
        If an argument is of a wrong type, a number is not finite, the horizon is not positive, or a word is not one of those
        allowed; the message names problem and argument.
    """

    key: str
    label: str
    source: str
    parameters: dict[str, float] = field(default_factory=dict)
    torque_class: str
    horizon: float
    reference: str | Reference | None = field(default=None, repr=False)
    formula: str = ""
    conserves: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("key", "label", "source", "formula", "torque_class"):
            text(f"problem: {name}", getattr(self, name), empty=name != "key")
        where = f"problem {self.key!r}"
        if not isinstance(self.parameters, dict):
            raise TypeError(f"{where}: parameters must be a dict of names and numbers, got {shown(self.parameters)}")
        for name, value in self.parameters.items():
            number(f"{where}: parameter {name}", value)
        positive(f"{where}: horizon", self.horizon, "s")
        if not isinstance(self.reference, str):
            function(f"{where}: reference", self.reference, optional=True)
        if not isinstance(self.conserves, tuple | list):
            raise TypeError(f'{where}: conserves must be a tuple of words, such as ("energy",), got {shown(self.conserves)}')
        if self.torque_class not in TORQUE_CLASSES:
            known = ", ".join(TORQUE_CLASSES)
            raise ValueError(f"{where}: unknown torque class {self.torque_class!r}; known are: {known}")
        for name in self.conserves:
            if name not in CONSERVED:
                raise ValueError(f"{where}: conserves {name!r} is not known; known are: {', '.join(CONSERVED)}")

    def _check_vector(self, name: str, values: Sequence[float], size: int) -> None:
        vector(f"problem {self.key!r}: {name}", values, size)

    def _check_orientation(self, name: str, q: Sequence[float]) -> None:
        self._check_vector(name, q, 4)
        if abs(sqrt(sum(v * v for v in q)) - 1) > 1e-12:
            raise ValueError(f"problem {self.key!r}: {name} = {q} is not a unit quaternion; divide it by its norm")

    @property
    def parameter_array(self) -> np.ndarray:
        """The parameters as the compiled torque reads them; never empty."""
        return np.array([*self.parameters.values(), 0.0])

    @property
    def closed_form(self) -> Reference | None:
        """The function that gives the exact solution, or None."""
        if not isinstance(self.reference, str):
            return self.reference
        found: Reference = import_module(f"polhode.references.{self.reference}").solve
        return found

    def _exact_states(self, times: Sequence[float], digits: int) -> list[Any]:
        if self.closed_form is None:
            raise ValueError(f"problem {self.key!r} has no closed form; use polhode.references.taylor")
        array("times", times)
        return self.closed_form(self, times, whole("digits", digits, least=1))

    def with_parameters(self, **changes: float) -> Self:
        """The same problem with other values of named torque parameters."""
        unknown = set(changes) - set(self.parameters)
        if unknown:
            raise ValueError(f"problem {self.key!r} has no parameter {sorted(unknown)}; it has {sorted(self.parameters)}")
        return replace(self, parameters={**self.parameters, **changes})


@dataclass(frozen=True, kw_only=True)
class Problem(Case):
    """A rigid body under a torque; what it shares with other problems is said in :class:`Case`.

    Parameters
    ----------
    body : Body
    omega0 : (wx, wy, wz)
        Initial angular velocity in the body frame, rad/s.
    q0 : (q0, qx, qy, qz)
        Initial orientation, unit, body to lab.
    torque : function (t, q, omega, parameters) -> (tx, ty, tz)
        Torque in the body frame, N m, in plain arithmetic without branches, so that it compiles and so that the Taylor
        integrator can run it on power series. ``parameters[i]`` are the numbers in ``parameters``.
    torque_series : function, optional
        The torque for the Taylor integrator, on :class:`polhode.references.taylor.Series`, where ``torque`` itself cannot run
        on them. Rarely needed: ``+ - * /``, powers, ``math.exp``, ``sin``, ``cos``, ``sqrt`` and kernels can; branches cannot.
    potential : function (q, parameters) -> float, optional
        Potential energy in J, in plain arithmetic that also runs on arrays.
    impulse : function (t, parameters) -> (x, y, z), optional
        The torque in the lab frame, integrated from 0 to t, N m s; where it is known.

    Raises
    ------
    ValueError
        If a number is not finite, the orientation is not a unit quaternion or the horizon is not positive.
    """

    body: Body
    omega0: tuple[float, float, float]
    torque: Callable[..., Any] = field(repr=False)
    q0: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    torque_series: Callable[..., Any] | None = field(default=None, repr=False)
    potential: Callable[..., Any] | None = field(default=None, repr=False)
    impulse: Callable[..., Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        where = f"problem {self.key!r}"
        if not isinstance(self.body, Body):
            raise TypeError(f"{where}: body must be a polhode.Body, got {shown(self.body)}")
        self._check_vector("omega0", self.omega0, 3)
        self._check_orientation("q0", self.q0)
        function(f"{where}: torque", self.torque)
        for name in ("torque_series", "potential", "impulse"):
            function(f"{where}: {name}", getattr(self, name), optional=True)

    @cached_property
    def compiled_torque(self) -> Callable[..., Any]:
        """The torque, compiled; one compilation for each problem object."""
        return compile_torque(self.torque)

    def compile(self) -> None:
        """Compile the torque, so that the first run does not wait for it."""
        _ = self.compiled_torque

    def is_kept(self) -> bool:
        """Whether :meth:`compile` finds it on the disk (:mod:`polhode.cache`)."""
        return is_kept(self.torque, torque_signature)

    def exact(self, times: Sequence[float], digits: int) -> tuple[np.ndarray, np.ndarray]:
        """The exact q (times, 4) and omega (times, 3) in double precision, from the closed form at ``digits`` digits.

        Raises
        ------
        ValueError
            If the problem has no closed form.
        """
        states = self._exact_states(times, digits)
        return np.array([[float(x) for x in q] for q, _ in states]), np.array([[float(x) for x in w] for _, w in states])
