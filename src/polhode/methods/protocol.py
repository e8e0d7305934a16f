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
``after_torque(state, torque, body, dt) -> state``
    The rest of the step, given the torque in the body frame of the q just handed out.
``read(state, torque, body, dt) -> (q, omega)``
    Orientation and body angular velocity at the whole time ``n dt``. Where ``torque_time`` is 0 the driver calls it between
    the two parts of the next step, with the torque at ``n dt``, so that a leapfrog can complete its half step
    without touching the trajectory; otherwise it is called on the state as the step left it, with zero torque.
``stored(state, body, dt) -> omega``
    The angular velocity that the method itself carries, at the time ``(n + stored_offset) dt``. Publications often
    compare this one; for synchronous methods it is the same as ``read``.

A :class:`SeveralTorques` method has ``start(q, omega, body) -> state``,
``step(state, t, dt, body, torque, parameters) -> state`` with the torque function itself, ``read`` and ``stored``;
it runs on the single-body driver alone.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numba import types

from polhode.kernel import (
    compile_driver,
    float_type,
    inertia_type,
    kernel,
    parameters_type,
    quaternion_type,
    samples_type,
    steps_type,
    torque_type,
    vector_type,
)

_DRIVER = types.int64(
    quaternion_type,
    vector_type,
    inertia_type,
    torque_type,
    parameters_type,
    float_type,
    steps_type,
    samples_type,
    samples_type,
    samples_type,
)
_compiling = threading.Lock()


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
        Global order of orientation and angular velocity on a smooth problem with a constant body torque.
    published_order : str
        What the source says about its order, in our words; empty where it says nothing.
    starts, reads : str
        How the hidden half step is taken, and how q and omega are brought to the same whole time.
    normalises : bool
        Whether the quaternion is normalised every step.
    momentum_frame : "body" or "lab"
        The frame in which the method carries its angular velocity or momentum.
    engines : tuple of str
        ``single body``, ``many body``.
    variant_of : str
        For a variant that mimics a publication's own code: the key of the method as its originators meant it.
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
    published_order: str = ""
    starts: str = "at once"
    reads: str = "synchronous"
    normalises: bool
    momentum_frame: str = "body"
    engines: tuple[str, ...] = ("single body", "many body")
    variant_of: str = ""
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
        if not -1 <= self.stored_offset <= 1:
            raise ValueError(f"method {self.key}: stored_offset is in steps, between -1 and 1, got {self.stored_offset!r}")
        if self.order_q < 1 or self.order_omega < 1:
            raise ValueError(f"method {self.key}: orders must be at least 1, got {self.order_q}, {self.order_omega}")

    @abstractmethod
    def _driver(self) -> Callable[..., Any]:
        """The loop over steps and samples, as plain Python around this method's kernels."""

    @cached_property
    def _compiled(self) -> Callable[..., Any]:
        return compile_driver(self._driver(), _DRIVER)

    def compile(self) -> None:
        """Compile the driver, once; threads that ask for it at the same time wait for the first."""
        if not hasattr(self, "_ready"):
            with _compiling:
                object.__setattr__(self, "_ready", self._compiled is not None)

    def integrate(
        self,
        q0: tuple[float, ...],
        omega0: tuple[float, ...],
        body: tuple[float, ...],
        torque: Callable[..., Any],
        parameters: np.ndarray,
        dt: float,
        sample_steps: np.ndarray,
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

        Returns
        -------
        q (samples, 4), omega (samples, 3), stored omega (samples, 3), number of torque evaluations the method used.
        Samples behind a blow-up (a value that is not finite) are NaN.
        """
        self.compile()
        q = np.full((len(sample_steps), 4), np.nan)
        omega = np.full((len(sample_steps), 3), np.nan)
        stored = np.full((len(sample_steps), 3), np.nan)
        evaluations = self._compiled(
            tuple(float(x) for x in q0),
            tuple(float(x) for x in omega0),
            body,
            torque,
            parameters,
            float(dt),
            np.ascontiguousarray(sample_steps, dtype=np.int64),
            q,
            omega,
            stored,
        )
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


@dataclass(frozen=True, kw_only=True)
class OneTorque(Method):
    """A method with one torque evaluation per step; see the module's text for its kernels.

    Parameters
    ----------
    before_torque, after_torque : kernels
        The two parts of a step.
    torque_time : float
        When the torque is wanted, in steps from the whole time at which the step begins: 0, 0.5 or 1.
    """

    before_torque: Callable[..., Any] = field(repr=False)
    after_torque: Callable[..., Any] = field(repr=False)
    torque_time: float = 0.0

    torques_per_step: ClassVar[int] = 1

    def _driver(self) -> Callable[..., Any]:
        start, before_torque, after_torque = self.start, self.before_torque, self.after_torque
        read, stored = self.read, self.stored
        torque_time = float(self.torque_time)
        torque_completes_reading = torque_time == 0.0

        def drive(q0, omega0, body, torque, parameters, dt, sample_steps, q_out, omega_out, stored_out):  # type: ignore[no-untyped-def]
            state = start(q0, omega0, torque(0.0, q0, omega0, parameters), body, dt)
            evaluations = 1
            n = 0
            for i in range(sample_steps.size):
                while n < sample_steps[i]:
                    state, q, omega = before_torque(state, body, dt)
                    moment = torque((n + torque_time) * dt, q, omega, parameters)
                    state = after_torque(state, moment, body, dt)
                    n += 1
                    evaluations += 1
                if torque_completes_reading:
                    half, q, omega = before_torque(state, body, dt)
                    q, omega = read(half, torque(n * dt, q, omega, parameters), body, dt)
                else:
                    q, omega = read(state, (0.0, 0.0, 0.0), body, dt)
                if not _write(q_out, omega_out, stored_out, i, q, omega, stored(state, body, dt)):
                    break
            return evaluations

        return drive


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

        def drive(q0, omega0, body, torque, parameters, dt, sample_steps, q_out, omega_out, stored_out):  # type: ignore[no-untyped-def]
            state = start(q0, omega0, body)
            n = 0
            for i in range(sample_steps.size):
                while n < sample_steps[i]:
                    state = step(state, n * dt, dt, body, torque, parameters)
                    n += 1
                q, omega = read(state, (0.0, 0.0, 0.0), body, dt)
                if not _write(q_out, omega_out, stored_out, i, q, omega, stored(state, body, dt)):
                    break
            return n * per_step

        return drive
