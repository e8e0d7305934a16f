"""The definition of a problem of several bodies: they turn, move and act on each other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from polhode.algebra.body import Body
from polhode.compiling.kernel import is_kept
from polhode.compiling.trials import LOADS, checked_function, compiled_loads, try_loads
from polhode.interface.arguments import flag, is_ordered, shown, unit_quaternion, vector
from polhode.problems.problem import Case

Vectors = tuple[tuple[float, float, float], ...]


@dataclass(frozen=True, kw_only=True)
class System(Case):
    """Several rigid bodies with forces and torques between them; for the common declarations see
    :class:`~polhode.problems.problem.Case`.

    Parameters
    ----------
    bodies : tuple of Body
    omega0 : one (wx, wy, wz) for each body
        Initial angular velocities in the body frames, rad/s.
    q0 : one unit quaternion for each body, optional
        Initial orientations, body to lab; the identity by default.
    r0, v0 : one vector for each body, optional
        Initial positions (m) and velocities (m/s) of the centres of mass in the lab; zero by default.
    loads : function (t, r, v, q, omega, parameters, force, torque) -> None
        Writes the force on each body (lab frame, N) into ``force[i][k]`` and the torque (frame of that body, N m) into
        ``torque[i][k]``, from ``r[i][k]``, ``v[i][k]`` (lab), ``q[i][k]`` and ``omega[i][k]`` (frame of that body). Use plain
        arithmetic with two bracketed indices: it then runs compiled on arrays and, for the Taylor integrator, on nested lists
        of power series.
    fixed : bool
        Whether the centres are held in place; positions and velocities then remain constant.

    Raises
    ------
    TypeError, ValueError
        If an argument has a wrong type, a body has wheels, the numbers of bodies and initial values differ, a number is not
        finite, or an orientation is not a unit quaternion; and as for a :class:`~polhode.problems.problem.Case`.
    """

    bodies: tuple[Body, ...]
    omega0: Vectors
    loads: Callable[..., Any] = field(repr=False)
    q0: tuple[tuple[float, float, float, float], ...] = ()
    r0: Vectors = ()
    v0: Vectors = ()
    fixed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        where = f"problem {self.key!r}"
        bodies = self.bodies if isinstance(self.bodies, tuple | list) else ()
        if not bodies or not all(isinstance(body, Body) for body in bodies):
            raise TypeError(f"{where}: bodies must be a tuple of polhode.Body, got {shown(self.bodies)}")
        if with_wheels := [i for i, body in enumerate(bodies) if body.wheels]:
            raise ValueError(f"{where}: bodies[{with_wheels[0]}] has wheels, which only the body of a Problem may have")
        checked_function(where, "loads", self.loads, LOADS)
        flag(f"{where}: fixed", self.fixed)
        count = len(bodies)
        if isinstance(self.q0, tuple | list) and not self.q0:
            object.__setattr__(self, "q0", ((1.0, 0.0, 0.0, 0.0),) * count)
        for name in ("r0", "v0"):
            if isinstance(getattr(self, name), tuple | list) and not getattr(self, name):
                object.__setattr__(self, name, ((0.0, 0.0, 0.0),) * count)
        for name in ("omega0", "q0", "r0", "v0"):
            rows = getattr(self, name)
            if not is_ordered(rows):
                raise TypeError(f"{where}: {name} must be one row for each body, got {shown(rows)}")
            if len(rows) != count:
                raise ValueError(f"{where}: {name} has {len(rows)} rows for {count} bodies")
            each = (f"{where}: {name}[{i}]" for i in range(count))
            checked = (
                unit_quaternion(which, row) if name == "q0" else vector(which, row, 3)
                for which, row in zip(each, rows, strict=True)
            )
            object.__setattr__(self, name, tuple(checked))

    @cached_property
    def compiled_loads(self) -> Callable[..., Any]:
        """The loads as a compiled kernel with the arguments of :attr:`loads`, N and N m; tried and compiled once per object.

        :mod:`polhode.compiling.trials` says what is tried.

        Raises
        ------
        TypeError, ValueError
            If they do not run or cannot be compiled.
        """
        return compiled_loads(f"problem {self.key!r}", self.loads, self.parameters.values(), self._state)

    @property
    def _state(self) -> tuple[Any, ...]:
        rows = (self.r0, self.v0, self.q0, self.omega0)
        return 0.0, *(tuple(tuple(map(float, row)) for row in given) for given in rows)

    def try_out(self) -> None:
        """Run the loads in plain Python where the motion begins.

        Raises
        ------
        ValueError
            If they raise, read parameters that are not declared, or are not finite floats.
        """
        try_loads(f"problem {self.key!r}", self.loads, self.parameters.values(), self._state)

    def compile(self) -> None:
        """Compile the loads, so that the first run does not have to wait; errors: see :attr:`compiled_loads`."""
        _ = self.compiled_loads

    def is_kept(self) -> bool:
        """Whether :meth:`compile` finds the loads on disk (:mod:`polhode.compiling.cache`)."""
        from polhode.compiling.signatures import loads_signature

        return is_kept(self.loads, loads_signature)

    def exact(self, times: Sequence[float], digits: int) -> tuple[np.ndarray, np.ndarray]:
        """The exact q (times, bodies, 4) and omega (times, bodies, 3), from the closed form with ``digits`` decimal digits.

        In double precision; q is body to lab, scalar first, omega in rad/s in the frame of its body; ``times`` in s.

        Raises
        ------
        TypeError, ValueError
            If the problem has no closed form, or it does not hold for the problem, or ``times`` are no finite numbers.
        """
        states = self._exact_states(times, digits)
        q, omega = ([[[float(x) for x in body[i]] for body in state] for state in states] for i in (2, 3))
        return np.array(q), np.array(omega)
