"""Does a power series see all of the torque? The equations of motion, evaluated elsewhere than the series was expanded.

A series knows the torque at the time about which it was expanded. A pulse later in the step, however strong, is outside of what
its coefficients show, and two series of different orders may step over it alike. So the torque itself, in double precision, is
evaluated along every step, at instants that have nothing to do with the steps, and compared with the torque that the series
implies: I d(omega)/dt + omega x I omega. A step in which they differ is too long.
"""

from collections.abc import Callable, Sequence
from functools import cache
from math import ceil, floor, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import config, types

from polhode.compiling.kernel import compile_driver, loads_type, parameters_type, samples_type, torque_type
from polhode.compiling.trials import TrialError
from polhode.problems.pieces import edges_of
from polhode.problems.system import System

if TYPE_CHECKING:
    from polhode.problems.problem import Case

Array = np.ndarray

#: The number of instants from the start to the last time at which the torque is looked at; one lies in each of as many equal
#: intervals, so that nothing longer than two of them is missed. They are fewer where nothing is compiled.
LOOKS = 2**10 if config.DISABLE_JIT else 2**18
#: Their places in the intervals: the fractional parts of multiples of the golden section, which repeat nowhere.
GOLDEN = (sqrt(5) - 1) / 2
#: The largest difference that passes, relative to the torque in the step: torques lose digits in double precision, such as
#: sines of many radians. And the rounding of the other terms of Euler's equations, relative to what they are made of.
DIFFERENCE, ROUNDING = 1e-8, 1e-12
#: The change of a state that shows how its rounding changes the torque, relative to its size.
NUDGE = 1e-13
#: Numbers below this lose digits in double precision, N m.
TINY = 1e-290
#: Terms of a series below this part of its largest do not count in double precision.
NEGLIGIBLE = 1e-18
#: Instants nearer to a breakpoint than this part of the last time are left out: on which side they lie is a matter of rounding.
NEAR = 1e-13


def _torques(torque: Any, parameters: Any, t: Any, q: Any, omega: Any, values: Any) -> None:
    for i in range(t.shape[1]):
        at = (q[i, 0], q[i, 1], q[i, 2], q[i, 3])
        x, y, z = torque(t[0, i], at, (omega[i, 0], omega[i, 1], omega[i, 2]), parameters)
        values[i, 0], values[i, 1], values[i, 2] = x, y, z


@cache
def _compiled_torques() -> Callable[..., Any]:
    rows = samples_type
    return compile_driver(_torques, types.void(torque_type, parameters_type, rows, rows, rows, rows))


def _all_loads(loads: Any, parameters: Any, t: Any, r: Any, v: Any, q: Any, omega: Any, force: Any, torque: Any) -> None:
    for i in range(t.shape[1]):
        loads(t[0, i], r[i], v[i], q[i], omega[i], parameters, force[i], torque[i])


@cache
def _compiled_loads() -> Callable[..., Any]:
    rows = (types.Array(types.float64, 3, "C"),) * 6
    return compile_driver(_all_loads, types.void(loads_type, parameters_type, samples_type, *rows))


class Looks:
    """The instants of one solution, at which its torque is compared with the problem's.

    Parameters
    ----------
    case : problem or system
    last : the last time, s
    offset : from 0 to 1; solutions that check one another look at different instants
    """

    def __init__(self, case: "Case", last: float, offset: float = 0.0) -> None:
        self.case, self.last, self.offset = case, last, offset
        self.interval = last / LOOKS
        self.bodies = case.bodies if isinstance(case, System) else (case.body,)  # type: ignore[attr-defined]
        self.edges: Sequence[float] = case.breakpoints
        #: What the torque reads; a reference writes into it what a controller has sampled.
        self.parameters: Array = case.parameter_array
        if not isinstance(case, System) and case.controller:  # type: ignore[attr-defined]
            self.edges = edges_of(case, last)[1:-1].tolist()  # type: ignore[arg-type]
            self.parameters = case.numbers_of_pieces(last)  # type: ignore[attr-defined]

    def between(self, start: float, end: float) -> Array:
        """The instants (n,), s, ascending, between ``start`` and ``end``, s, but not next to breakpoints; perhaps none."""
        if not self.interval:
            return np.empty(0)
        number = np.arange(floor(start / self.interval) - 1, ceil(min(end, self.last) / self.interval) + 1)
        instants = (number + (number * GOLDEN + self.offset) % 1) * self.interval
        inside = (instants > start) & (instants < end)
        for t in self.edges:
            inside &= abs(instants - t) > NEAR * self.last
        return np.asarray(instants[inside])

    def misses(self, start: float, step: float, coefficients: Sequence[Array]) -> bool:
        """Whether the problem's torque, or a force, differs from the one that the series imply at an instant of a step.

        By more than rounding may; False for a step without an instant.

        Parameters
        ----------
        start, step : the time at which the step begins and its length, s
        coefficients : for each vector of the state an array (terms, components), the coefficients of its series in
            (t - start)/step; the vectors are q and omega (rad/s), for a system r (m), v (m/s), q and omega of each body
        """
        instants = self.between(start, start + step)
        if not len(instants):
            return False
        x = (instants - start) / step
        values = [_polynomial(c, x) for c in coefficients]
        rates = [_polynomial(c[1:] * np.arange(1, len(c))[:, None], x) / step for c in coefficients]
        with np.errstate(all="ignore"):
            loads = self._loads(instants, values)
            # What a rounding of the state changes: of the torque on a top that stands upright, all of it.
            nudged = self._loads(instants, [v + NUDGE * np.abs(v).max(initial=0.0) for v in values])
        # Of one body the vectors are (q, omega), of several (r, v, q, omega) for each.
        width = len(values) // len(self.bodies)
        for i, body in enumerate(self.bodies):
            omega, rate = values[width * (i + 1) - 1], rates[width * (i + 1) - 1]
            moments = np.array(body.inertia)
            (torque, force), (other_torque, other_force) = loads[i], nudged[i]
            gyroscopic = np.cross(omega, moments * omega)
            # The terms of the gyroscopic torque may cancel each other, but their rounding does not.
            rounding = ROUNDING * np.abs(omega).max() * np.abs(moments * omega).max() + np.abs(other_torque - torque).max()
            if _differ(torque, moments * rate + gyroscopic, rounding):
                return True
            if force is not None and _differ(force, body.mass * rates[width * i + 1], np.abs(other_force - force).max()):
                return True
        return False

    def _loads(self, instants: Array, values: Sequence[Array]) -> list[tuple[Array, Array | None]]:
        """(torque, force) on each body at the instants; no force of which nothing depends."""
        case: Any = self.case
        if not isinstance(case, System):
            torques = np.empty((len(instants), 3))
            t, q, omega = (np.ascontiguousarray(v) for v in (instants[None], *values))
            try:
                _compiled_torques()(case.compiled_torque, self.parameters, t, q, omega, torques)
            except TrialError:  # a reference asks for no more than that the torque runs
                _torques(case.torque, self.parameters, t, q, omega, torques)
            return [(torques, None)]
        count = len(self.bodies)
        state = [np.stack(values[k::4], axis=1) for k in range(4)]
        force, torque = np.zeros((2, len(instants), count, 3))
        arguments = case.parameter_array, instants[None], *state, force, torque
        try:
            _compiled_loads()(case.compiled_loads, *arguments)
        except TrialError:
            _all_loads(case.loads, *arguments)
        return [(torque[:, i], None if case.fixed else force[:, i]) for i in range(count)]


def _differ(loads: Array, implied: Array, rounding: float) -> bool:
    """Whether two rows of loads (n, 3) differ by more than rounding; also if the first is not finite."""
    size = max(np.abs(implied).max(), np.abs(loads).max())
    return not np.abs(loads - implied).max() <= DIFFERENCE * size + rounding + TINY


def _polynomial(coefficients: Array, x: Array) -> Array:
    """The values (n, components) at x (n,), up to the last term that counts in double precision; x lies between 0 and 1."""
    size = np.abs(coefficients).max(axis=1)
    counts = np.flatnonzero(size > NEGLIGIBLE * size.max(initial=0.0))
    top = int(counts[-1]) if len(counts) else 0
    # By component and in place: the rows of a few numbers that come out would take three times as long.
    values = np.empty((coefficients.shape[1], len(x)))
    for value, column in zip(values, coefficients.T, strict=True):
        value[:] = column[top]
        for coefficient in column[top - 1 :: -1] if top else ():
            value *= x
            value += coefficient
    return np.ascontiguousarray(values.T)
