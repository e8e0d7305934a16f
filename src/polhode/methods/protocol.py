"""What a method is: its kernels, cut at the torque evaluation, and what it declares about itself.

A step of a one-torque method is two kernels, with the one evaluation of the torque between them. The driver owns the
torque, so such a method cannot evaluate it twice even by mistake, and the many-body engine, which computes the torques
of all bodies together, can use the same kernels.

The kernels of a :class:`OneTorque` method, all on tuples of floats (see :mod:`polhode.kernel`):

``start(q, omega, torque, body, dt) -> state``
    The state from which the first step begins, given the synchronous initial condition and the torque there.
    A leapfrog takes its hidden half step here.
``before_torque(state, body, dt) -> (state, q, omega)``
    The first part of a step and the q and omega at which the torque is wanted. It is wanted at the time
    ``(n + torque_time) dt``, where n counts the steps done before this one.
    The quaternion that a step ends with is not normalised here: a method declares that it wants that, and the driver does it,
    so that each method runs with and without.
``after_torque(state, torque, body, dt) -> state``
    The rest of the step, given the torque in the body frame of the q just handed out.
``read(state, torque, body, dt) -> (q, omega)``
    Orientation and body angular velocity at the whole time ``n dt``. Where ``torque_time`` is 0 the driver calls it between
    the two parts of the next step, with the torque at ``n dt``, so that a leapfrog can complete its half step
    without touching the trajectory; otherwise it is called on the state as the step left it, with zero torque.
``stored(state, body, dt) -> omega``
    The angular velocity that the method itself carries, at the time ``(n + stored_offset) dt``. Publications often
    compare this one; for synchronous methods it is the same as ``read``.

A problem of several bodies (:class:`polhode.problems.system.System`) runs the same kernels, one state for each body, with the
method's scheme for the centres of mass beside them (:mod:`polhode.methods.translation`).

A :class:`SeveralTorques` method has ``start(q, omega, body) -> state``,
``step(state, t, dt, body, torque, parameters) -> state`` with the torque function itself, ``read`` and ``stored``;
it runs on the single-body driver alone.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numba import types

from polhode import quaternion
from polhode.kernel import (
    compile_driver,
    float_type,
    inertia_type,
    is_kept,
    kernel,
    loads_type,
    parameters_type,
    quaternion_type,
    samples_type,
    steps_type,
    torque_type,
    vector_type,
)
from polhode.marching import Pauses, pause_type
from polhode.methods.translation import BY_TORQUE_TIME, Translation
from polhode.metrics import PUBLISHED_ERRORS
from polhode.problems.problem import TORQUE_CLASSES, Case, Problem

_rows = types.Array(types.float64, 2, "C")
_tables = types.Array(types.float64, 3, "C")
_SYSTEM_DRIVER = types.int64(
    *(_rows,) * 5,
    types.Array(types.float64, 1, "C"),
    types.boolean,
    loads_type,
    parameters_type,
    float_type,
    types.boolean,
    steps_type,
    pause_type,
    *(_tables,) * 5,
)
_DRIVER = types.int64(
    quaternion_type,
    vector_type,
    inertia_type,
    torque_type,
    parameters_type,
    float_type,
    types.boolean,
    steps_type,
    pause_type,
    samples_type,
    samples_type,
    samples_type,
)
_compiling = threading.RLock()


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """What every method declares. The registry, the figures, the tables and the documentation read nothing else.

    Parameters
    ----------
    key : str
        The name used in the configuration and in file names.
    label : str
        The name in figures and tables.
    source : str
        Publication and equation numbers.
    citation : str
        Keys in paper/refs.bib, comma-separated.
    order_q, order_omega : int
        Global order of orientation and angular velocity on smooth problems.
    order_exceptions : mapping
        The orders (q, omega) where they differ: class of torque (:data:`polhode.problems.problem.TORQUE_CLASSES`) -> pair.
    published_order : str
        What the source says about its order, in our words; empty where it says nothing.
    starts, reads : str
        How the hidden half step is taken, and how q and omega are brought to the same whole time.
    normalises : bool
        Whether the quaternion is normalised every step.
    normalisable : bool
        Whether that is the driver's work and can be switched; False for a method whose state does not begin with a quaternion.
    rotates_before_torque : bool
        Whether the quaternion advances in the part of the step before the torque.
    momentum_frame : "body" or "lab"
        The frame in which the method carries its angular velocity or momentum.
    engines : tuple of str
        ``single body``, ``many body``.
    variant_of : str
        For a variant that mimics a publication's own code: the key of the method as its originators meant it.
    published_error : "quaternion" or "matrix"
        How the publication that such a variant mimics measures its orientation: :data:`polhode.metrics.PUBLISHED_ERRORS`.
    reconstruction : str
        What of the method is ours, because the original was not at hand or leaves it open; one sentence, or empty.
    note : str
        What a user should know; one sentence.
    start, read, stored : kernels
        See the text of this module.
    stored_offset : float
        Time of the stored angular velocity, in steps from the whole time: 0, or -0.5 for a leapfrog.

    Raises
    ------
    ValueError
        If a declaration cannot be; the message names the method and what to write.
    """

    key: str
    label: str
    source: str
    citation: str
    order_q: int
    order_omega: int
    order_exceptions: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    published_order: str = ""
    starts: str = "at once"
    reads: str = "synchronous"
    normalises: bool
    normalisable: bool = True
    rotates_before_torque: bool = False
    momentum_frame: str = "body"
    engines: tuple[str, ...] = ("single body", "many body")
    variant_of: str = ""
    published_error: str = "quaternion"
    reconstruction: str = ""
    note: str = ""
    start: Callable[..., Any] = field(repr=False)
    read: Callable[..., Any] = field(repr=False)
    stored: Callable[..., Any] = field(repr=False)
    stored_offset: float = 0.0

    torques_per_step: ClassVar[int]

    def __post_init__(self) -> None:
        if not self.key.isidentifier():
            raise ValueError(f"method key {self.key!r} is not a plain name: use letters, digits and underscores")
        if self.momentum_frame not in ("body", "lab"):
            raise ValueError(f"method {self.key}: momentum_frame must be 'body' or 'lab', got {self.momentum_frame!r}")
        if self.published_error not in PUBLISHED_ERRORS:
            known = ", ".join(PUBLISHED_ERRORS)
            raise ValueError(f"method {self.key}: published_error must be one of {known}, got {self.published_error!r}")
        if not -1 <= self.stored_offset <= 1:
            raise ValueError(f"method {self.key}: stored_offset is in steps, between -1 and 1, got {self.stored_offset!r}")
        for where, orders in {"": (self.order_q, self.order_omega), **self.order_exceptions}.items():
            if where and where not in TORQUE_CLASSES:
                known = ", ".join(TORQUE_CLASSES)
                raise ValueError(f"method {self.key}: order_exceptions: unknown torque class {where!r}; known are: {known}")
            if len(orders) != 2 or min(orders) < 1:
                raise ValueError(f"method {self.key}: orders must be two numbers of at least 1, got {orders}")

    def orders(self, torque_class: str) -> tuple[int, int]:
        """The declared global orders (q, omega) on smooth problems with a torque of this class."""
        return self.order_exceptions.get(torque_class, (self.order_q, self.order_omega))

    def runs(self, problem: Case) -> bool:
        """Whether the method can run this problem: systems of bodies take one evaluation of all loads per step."""
        return isinstance(problem, Problem)

    @abstractmethod
    def _driver(self) -> Callable[..., Any]:
        """The loop over steps and samples, as plain Python around this method's kernels; it is told whether to normalise."""

    @cached_property
    def _drivers(self) -> dict[str, Callable[..., Any]]:
        return {}

    def _compiled(self, driver: Callable[[], Callable[..., Any]], signature: Any) -> Callable[..., Any]:
        """A driver, compiled once; threads that ask for it at the same time wait for the first."""
        name = driver.__name__
        if name not in self._drivers:
            with _compiling:
                if name not in self._drivers:
                    self._drivers[name] = compile_driver(driver(), signature)
        return self._drivers[name]

    def _normalise(self, wanted: bool | None) -> bool:
        """Whether the driver normalises, given what the user asks for (None: what the method declares)."""
        if wanted is not None and not self.normalisable:
            raise ValueError(f"method {self.key}: its normalisation cannot be switched; leave out normalise")
        return self.normalisable and (self.normalises if wanted is None else wanted)

    def _loops(self, systems: bool) -> list[tuple[Callable[[], Callable[..., Any]], Any]]:
        """The drivers that there are, with their signatures; those of systems of bodies only if asked for."""
        return [(self._driver, _DRIVER)]

    def compile(self, systems: bool = False) -> None:
        """Compile the driver for one body, with ``systems`` that for several too; the first run then does not wait for it."""
        for driver, signature in self._loops(systems):
            self._compiled(driver, signature)

    def is_kept(self, systems: bool = False) -> bool:
        """Whether :meth:`compile` finds everything on the disk (:mod:`polhode.cache`)."""
        return all(is_kept(driver(), signature) for driver, signature in self._loops(systems))

    def integrate(
        self,
        q0: tuple[float, ...],
        omega0: tuple[float, ...],
        body: tuple[float, ...],
        torque: Callable[..., Any],
        parameters: np.ndarray,
        dt: float,
        sample_steps: np.ndarray,
        normalise: bool | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """Run to the last of ``sample_steps`` and read the body at each of them.

        Parameters
        ----------
        q0, omega0 : initial orientation and body angular velocity (rad/s)
        body : coefficients of the inertia, see :meth:`polhode.body.Body.coefficients`
        torque : compiled torque, see :func:`polhode.kernel.compile_torque`
        parameters : float array handed to the torque
        dt : time step in s
        sample_steps : ascending whole numbers of steps, int64
        normalise : whether the quaternion is normalised every step; None: as the method declares

        Returns
        -------
        q (samples, 4), omega (samples, 3), stored omega (samples, 3), number of torque evaluations the method used.
        Samples behind a blow-up (a value that is not finite) are NaN.

        Raises
        ------
        KeyboardInterrupt
            Or whatever a handler of signals raises: within a second, however many steps there are (:mod:`polhode.marching`).
        """
        normalise = self._normalise(normalise)
        run = self._compiled(self._driver, _DRIVER)
        pauses = Pauses()
        q = np.full((len(sample_steps), 4), np.nan)
        omega = np.full((len(sample_steps), 3), np.nan)
        stored = np.full((len(sample_steps), 3), np.nan)
        evaluations = run(
            tuple(float(x) for x in q0),
            tuple(float(x) for x in omega0),
            body,
            torque,
            parameters,
            float(dt),
            normalise,
            np.ascontiguousarray(sample_steps, dtype=np.int64),
            pauses,
            q,
            omega,
            stored,
        )
        pauses.end()
        return q, omega, stored, int(evaluations)


@kernel
def _write(q_out: Any, omega_out: Any, stored_out: Any, i: int, q: Any, omega: Any, stored: Any) -> bool:
    """Store one sample; False where it is not finite (the row is left as NaN)."""
    total = q[0] + q[1] + q[2] + q[3] + omega[0] + omega[1] + omega[2] + stored[0] + stored[1] + stored[2]
    finite: bool = total - total == 0.0
    if finite:
        q_out[i, 0] = q[0]
        q_out[i, 1] = q[1]
        q_out[i, 2] = q[2]
        q_out[i, 3] = q[3]
        for k in range(3):
            omega_out[i, k] = omega[k]
            stored_out[i, k] = stored[k]
    return finite


@kernel
def _normalised(state: Any) -> Any:
    """The state with its quaternion, which it begins with, divided by its norm."""
    return quaternion.normalise(state[:4]) + state[4:]


@kernel
def _row4(rows: Any, i: int) -> Any:
    return (rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3])


@kernel
def _row3(rows: Any, i: int) -> Any:
    return (rows[i, 0], rows[i, 1], rows[i, 2])


@kernel
def _row9(rows: Any, i: int) -> Any:
    return (*_row4(rows, i), rows[i, 4], rows[i, 5], rows[i, 6], rows[i, 7], rows[i, 8])


@kernel
def _put(rows: Any, i: int, values: Any) -> None:
    for k in range(len(values)):
        rows[i, k] = values[k]


@dataclass(frozen=True, kw_only=True)
class OneTorque(Method):
    """A method with one torque evaluation per step; see the module's text for its kernels.

    Parameters
    ----------
    before_torque, after_torque : kernels
        The two parts of a step.
    torque_time : float
        When the torque is wanted, in steps from the whole time at which the step begins: 0, 0.5 or 1.
    translation : Translation, optional
        How centres of mass move beside the rotation; by default the scheme that wants the force at the same time.
    """

    before_torque: Callable[..., Any] = field(repr=False)
    after_torque: Callable[..., Any] = field(repr=False)
    torque_time: float = 0.0
    translation: Translation | None = None

    torques_per_step: ClassVar[int] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.torque_time not in BY_TORQUE_TIME:
            raise ValueError(f"method {self.key}: torque_time is 0, 0.5 or 1, got {self.torque_time!r}")
        if self.translation is None:
            object.__setattr__(self, "translation", BY_TORQUE_TIME[self.torque_time])

    def runs(self, problem: Case) -> bool:
        """Every problem."""
        return True

    def _loops(self, systems: bool) -> list[tuple[Callable[[], Callable[..., Any]], Any]]:
        return [*super()._loops(systems), *([(self._system_driver, _SYSTEM_DRIVER)] if systems else [])]

    def _driver(self) -> Callable[..., Any]:
        start, before_torque, after_torque = self.start, self.before_torque, self.after_torque
        read, stored = self.read, self.stored
        torque_time = float(self.torque_time)
        torque_completes_reading = torque_time == 0.0
        rotates_before_torque = self.rotates_before_torque

        def drive(q0, omega0, body, torque, parameters, dt, normalise, sample_steps, pause, q_out, omega_out, stored_out):  # type: ignore[no-untyped-def]
            state = start(q0, omega0, torque(0.0, q0, omega0, parameters), body, dt)
            n = 0
            stop = pause(n)
            for i in range(sample_steps.size):
                while n < sample_steps[i]:
                    end = min(sample_steps[i], stop)
                    # Two loops: within one, the question whether to normalise would cost some methods a tenth of a step.
                    if normalise:
                        while n < end:
                            state, q, omega = before_torque(state, body, dt)
                            if rotates_before_torque:
                                state = _normalised(state)
                                q = state[:4]
                            moment = torque((n + torque_time) * dt, q, omega, parameters)
                            state = after_torque(state, moment, body, dt)
                            if not rotates_before_torque:
                                state = _normalised(state)
                            n += 1
                    else:
                        while n < end:
                            state, q, omega = before_torque(state, body, dt)
                            moment = torque((n + torque_time) * dt, q, omega, parameters)
                            state = after_torque(state, moment, body, dt)
                            n += 1
                    if n == stop:
                        stop = pause(n)
                        if stop == n:
                            return 1 + n
                if torque_completes_reading:
                    half, q, omega = before_torque(state, body, dt)
                    q, omega = read(half, torque(n * dt, q, omega, parameters), body, dt)
                else:
                    q, omega = read(state, (0.0, 0.0, 0.0), body, dt)
                if not _write(q_out, omega_out, stored_out, i, q, omega, stored(state, body, dt)):
                    break
            return 1 + n

        return drive

    def _system_driver(self) -> Callable[..., Any]:
        """The same for several bodies that act on each other, with their centres of mass."""
        assert self.translation is not None
        start, before_torque, after_torque = self.start, self.before_torque, self.after_torque
        read, stored = self.read, self.stored
        set_off, before_force, after_force = self.translation.start, self.translation.before_force, self.translation.after_force
        place = self.translation.read
        torque_time = float(self.torque_time)
        torque_completes_reading = torque_time == 0.0
        rotates_before_torque = self.rotates_before_torque

        def drive(  # type: ignore[no-untyped-def]
            r,
            v,
            q,
            omega,
            bodies,
            masses,
            fixed,
            loads,
            parameters,
            dt,
            normalise,
            sample_steps,
            pause,
            q_out,
            omega_out,
            stored_out,
            r_out,
            v_out,
        ):
            normalise_first = normalise and rotates_before_torque
            normalise_last = normalise and not rotates_before_torque
            count = q.shape[0]
            force, torque = np.zeros((count, 3)), np.zeros((count, 3))
            loads(0.0, r, v, q, omega, parameters, force, torque)
            turning = [start(_row4(q, b), _row3(omega, b), _row3(torque, b), _row9(bodies, b), dt) for b in range(count)]
            moving = [set_off(_row3(r, b), _row3(v, b), _row3(force, b), masses[b], dt) for b in range(count)]
            evaluations = 1
            n = 0
            stop = pause(n)
            for i in range(sample_steps.size):
                while n < sample_steps[i]:
                    for b in range(count):
                        state, q_b, omega_b = before_torque(turning[b], _row9(bodies, b), dt)
                        if normalise_first:
                            state = _normalised(state)
                            q_b = state[:4]
                        turning[b] = state
                        _put(q, b, q_b)
                        _put(omega, b, omega_b)
                        if not fixed:
                            moving[b], r_b, v_b = before_force(moving[b], masses[b], dt)
                            _put(r, b, r_b)
                            _put(v, b, v_b)
                    loads((n + torque_time) * dt, r, v, q, omega, parameters, force, torque)
                    for b in range(count):
                        state = after_torque(turning[b], _row3(torque, b), _row9(bodies, b), dt)
                        if normalise_last:
                            state = _normalised(state)
                        turning[b] = state
                        if not fixed:
                            moving[b] = after_force(moving[b], _row3(force, b), masses[b], dt)
                    n += 1
                    evaluations += 1
                    # Beside the loads this question costs nothing.
                    if n == stop:
                        stop = pause(n)
                        if stop == n:
                            return evaluations
                if torque_completes_reading:
                    for b in range(count):
                        state, q_b, omega_b = before_torque(turning[b], _row9(bodies, b), dt)
                        _put(q, b, q_b)
                        _put(omega, b, omega_b)
                        if not fixed:
                            _gone, r_b, v_b = before_force(moving[b], masses[b], dt)
                            _put(r, b, r_b)
                            _put(v, b, v_b)
                    loads(n * dt, r, v, q, omega, parameters, force, torque)
                finite = True
                for b in range(count):
                    # Where the torque completes nothing, the state is read as the step left it, and does not look at it.
                    q_b, omega_b = read(turning[b], _row3(torque, b), _row9(bodies, b), dt)
                    finite &= _write(
                        q_out[i], omega_out[i], stored_out[i], b, q_b, omega_b, stored(turning[b], _row9(bodies, b), dt)
                    )
                    r_b, v_b = _row3(r, b), _row3(v, b)
                    if not fixed:
                        r_b, v_b = place(moving[b], _row3(force, b), masses[b], dt)
                    _put(r_out[i], b, r_b)
                    _put(v_out[i], b, v_b)
                if not finite:
                    break
            return evaluations

        return drive

    def integrate_system(
        self,
        system: Any,
        dt: float,
        sample_steps: np.ndarray,
        normalise: bool | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
        """Run a :class:`polhode.problems.system.System` to the last of ``sample_steps`` and read all bodies at each of them.

        Returns
        -------
        q (samples, bodies, 4), omega, stored omega, r, v (samples, bodies, 3), number of evaluations of the loads.
        Samples behind a blow-up (a value that is not finite) are NaN.
        """
        normalise = self._normalise(normalise)
        run = self._compiled(self._system_driver, _SYSTEM_DRIVER)
        pauses = Pauses()
        shape = len(sample_steps), len(system.bodies)
        q = np.full((*shape, 4), np.nan)
        omega, stored, r, v = (np.full((*shape, 3), np.nan) for _ in range(4))
        evaluations = run(
            *(np.array(rows, dtype=float) for rows in (system.r0, system.v0, system.q0, system.omega0)),
            np.array([body.coefficients() for body in system.bodies]),
            np.array([body.mass for body in system.bodies], dtype=float),
            system.fixed,
            system.compiled_loads,
            system.parameter_array,
            float(dt),
            normalise,
            np.ascontiguousarray(sample_steps, dtype=np.int64),
            pauses,
            q,
            omega,
            stored,
            r,
            v,
        )
        pauses.end()
        bad = ~np.isfinite(q + 0).all(axis=(1, 2)) | ~np.isfinite(r).all(axis=(1, 2)) | ~np.isfinite(v).all(axis=(1, 2))
        first = int(np.argmax(bad)) if bad.any() else len(bad)
        for values in (q, omega, stored, r, v):
            values[first:] = np.nan
        return q, omega, stored, r, v, int(evaluations)


@dataclass(frozen=True, kw_only=True)
class SeveralTorques(Method):
    """A method with several torque evaluations per step; see the module's text for its kernels.

    Parameters
    ----------
    step : kernel
        One step; it calls the torque itself.
    evaluations_per_step : int
        How often it does.
    """

    step: Callable[..., Any] = field(repr=False)
    evaluations_per_step: int
    engines: tuple[str, ...] = ("single body",)

    @property
    def torques_per_step(self) -> int:  # type: ignore[override]
        """Torque evaluations per step."""
        return self.evaluations_per_step

    def _driver(self) -> Callable[..., Any]:
        start, step, read, stored = self.start, self.step, self.read, self.stored
        per_step = int(self.evaluations_per_step)

        def drive(q0, omega0, body, torque, parameters, dt, normalise, sample_steps, pause, q_out, omega_out, stored_out):  # type: ignore[no-untyped-def]
            state = start(q0, omega0, body)
            n = 0
            stop = pause(n)
            for i in range(sample_steps.size):
                while n < sample_steps[i]:
                    end = min(sample_steps[i], stop)
                    if normalise:  # two loops, as above
                        while n < end:
                            state = _normalised(step(state, n * dt, dt, body, torque, parameters))
                            n += 1
                    else:
                        while n < end:
                            state = step(state, n * dt, dt, body, torque, parameters)
                            n += 1
                    if n == stop:
                        stop = pause(n)
                        if stop == n:
                            return n * per_step
                q, omega = read(state, (0.0, 0.0, 0.0), body, dt)
                if not _write(q_out, omega_out, stored_out, i, q, omega, stored(state, body, dt)):
                    break
            return n * per_step

        return drive
