"""What a problem is: a body, a torque, an initial state, a horizon and the reference that serves it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite, sqrt
from typing import Any

from polhode.body import Body
from polhode.kernel import compile_torque

#: reference(problem, times, digits) -> [(q, omega), ...] as mpmath numbers, one pair for each time.
Reference = Callable[["Problem", Sequence[float], int], list[tuple[tuple[Any, ...], tuple[Any, ...]]]]


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A rigid body under a torque.

    Parameters
    ----------
    key, label, source : str
        Name in the configuration and in file names; name in figures; publication and place.
    body : Body
    omega0 : (wx, wy, wz)
        Initial angular velocity in the body frame, rad/s.
    q0 : (q0, qx, qy, qz)
        Initial orientation, unit, body to lab.
    torque : function (t, q, omega, parameters) -> (tx, ty, tz)
        Torque in the body frame, N m, in plain arithmetic, so that it compiles and so that the Taylor integrator can
        run it on power series. ``parameters[i]`` are the numbers in ``parameters``.
    parameters : dict
        Named numbers of the torque, SI units, in the order in which the torque reads them.
    torque_class : str
        ``free``, ``body`` (prescribed in the body frame), ``lab``, ``state`` or ``velocity``.
    horizon : float
        Time simulated by default, s.
    reference : Reference or None
        Closed form; None where only the Taylor integrator serves.
    formula : str
        What the closed form is, for the reference file.

    Raises
    ------
    ValueError
        If a number is not finite, the orientation is not a unit quaternion or the horizon is not positive.
    """

    key: str
    label: str
    source: str
    body: Body
    omega0: tuple[float, float, float]
    torque: Callable[..., Any] = field(repr=False)
    q0: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    parameters: dict[str, float] = field(default_factory=dict)
    torque_class: str
    horizon: float
    reference: Reference | None = field(default=None, repr=False)
    formula: str = ""

    def __post_init__(self) -> None:
        where = f"problem {self.key!r}"
        for name, values, size in (("omega0", self.omega0, 3), ("q0", self.q0, 4)):
            if len(values) != size or not all(isfinite(v) for v in values):
                raise ValueError(f"{where}: {name} must be {size} finite numbers, got {values!r}")
        if abs(sqrt(sum(v * v for v in self.q0)) - 1) > 1e-12:
            raise ValueError(f"{where}: q0 = {self.q0} is not a unit quaternion; divide it by its norm")
        for name, value in self.parameters.items():
            if not isfinite(value):
                raise ValueError(f"{where}: parameter {name} must be finite, got {value!r}")
        if not (isfinite(self.horizon) and self.horizon > 0):
            raise ValueError(f"{where}: horizon must be positive, got {self.horizon!r}")
        if self.torque_class not in ("free", "body", "lab", "state", "velocity"):
            raise ValueError(f"{where}: unknown torque class {self.torque_class!r}")

    @cached_property
    def compiled_torque(self) -> Callable[..., Any]:
        """The torque, compiled; one compilation for each problem object."""
        return compile_torque(self.torque)

    def with_parameters(self, **changes: float) -> "Problem":
        """The same problem with other values of named torque parameters."""
        unknown = set(changes) - set(self.parameters)
        if unknown:
            raise ValueError(f"problem {self.key!r} has no parameter {sorted(unknown)}; it has {sorted(self.parameters)}")
        return replace(self, parameters={**self.parameters, **changes})
