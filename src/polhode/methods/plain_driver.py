"""The single-body driver in plain Python, one step at a time: a method's kernels on numbers other than floats.

It takes the steps of :meth:`polhode.methods.protocol.Method.integrate` and of its counterpart; a test compares them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from polhode.algebra import quaternion
from polhode.methods.fourth_order_start import fourth_order_step
from polhode.methods.processor import change_of
from polhode.methods.protocol import Method, OneTorque, SeveralTorques
from polhode.methods.states import omega_of_momentum, start_with_momentum

#: (t, q, omega, parameters) -> torque in the body frame.
Torque = Callable[[Any, Any, Any, Any], Any]


@dataclass(frozen=True)
class PlainDriver:
    """A method, a body, a torque and a time step, ready to run.

    Parameters
    ----------
    start : (q, omega) -> state, from the orientation (4,), body to lab, and the angular velocity (3,), rad/s in the body frame
    step : (state, n) -> state, n the number of steps done before
    read : (state, n) -> (q, omega) after n steps, as for ``start``
    stored : state -> the angular velocity (3,) that the method carries, rad/s in the body frame
    hold : (q, omega) -> what the method advances (3,), the angular velocity (body frame) or the momentum (N m s, lab frame)
    held : state -> the same as an angular velocity (3,), rad/s in the body frame; like ``hold`` it is for a method that has one
        of the two behind q in its state
    """

    start: Callable[..., Any]
    step: Callable[..., Any]
    read: Callable[..., Any]
    stored: Callable[..., Any]
    hold: Callable[..., Any]
    held: Callable[..., Any]


def plain_driver(
    method: Method,
    convert: Callable[[Callable[..., Any]], Callable[..., Any]],
    torque: Torque,
    body: Any,
    dt: Any,
    parameters: Any = (),
    normalise: bool | None = None,
    clock: Callable[[float], Any] = float,
) -> PlainDriver:
    """The kernels of a method with a driver around them, all in plain Python.

    Parameters
    ----------
    method : Method
    convert : converts a compiled kernel into one that runs on the numbers wanted (:func:`polhode.compiling.plain.plain_copy`)
    torque : function (t, q, omega, parameters) -> (3,)
        N m in the body frame; a function that already runs on these numbers.
    body : the numbers of the body, :meth:`polhode.methods.protocol.Method.numbers_of`
    dt, parameters : time step in s, parameters of the torque
    normalise : whether the quaternion is normalised every step; None: as declared by the method
    clock : converts a time in s, a float, into the number passed to the torque

    Raises
    ------
    ValueError
        If ``normalise`` is given and the method's normalisation cannot be switched.
    """
    normalise, length = method.normalisation(normalise), float(dt)
    normalised, begin, look, store = (convert(f) for f in (quaternion.normalise, method.start, method.read, method.stored))
    in_lab = method.momentum_frame == "lab"
    momentum_of, omega_of = convert(start_with_momentum), convert(omega_of_momentum)

    change, moves, half = convert(change_of(method.processor)), method.moves.astype(object), len(method.moves) // 2

    def before(q: Any, omega: Any) -> Any:
        return change(q, omega, clock(0.0), dt, body, torque, parameters, moves, 0, half)

    def after(reading: Any, n: int) -> Any:
        return change(*reading, clock(n * length), dt, body, torque, parameters, moves, half, 2 * half)

    def with_unit(state: Any) -> Any:
        return normalised(state[:4]) + state[4:]

    def stored(state: Any) -> Any:
        return store(state, body, dt)

    def hold(q: Any, omega: Any) -> Any:
        return momentum_of(q, omega, None, body, dt)[4:7] if in_lab else omega

    def held(state: Any) -> Any:
        return omega_of(state, body) if in_lab else state[4:7]

    if isinstance(method, OneTorque):
        before_torque, after_torque = convert(method.before_torque), convert(method.after_torque)
        first = normalise and method.rotates_before_torque
        last = normalise and not first
        torque_time = method.torque_time
        warm_up = convert(fourth_order_step)
        warm_up_steps = method.warm_up_steps

        def start(q: Any, omega: Any) -> Any:
            q, omega = before(q, omega)
            return begin(q, omega, torque(clock(0.0), q, omega, parameters), body, dt)

        def step(state: Any, n: int) -> Any:
            state, q, omega = before_torque(state, body, dt)
            if first:
                state = with_unit(state)
                q = state[:4]
            moment = torque(clock((n + torque_time) * length), q, omega, parameters)
            state = after_torque(state, moment, body, dt)
            if n < warm_up_steps:
                q, omega = warm_up(q, omega, moment, clock(n * length), dt, body, torque, parameters)
                state = q + omega + state[7:]
            return with_unit(state) if last else state

        def read(state: Any, n: int) -> Any:
            if torque_time:
                return after(look(state, (0.0, 0.0, 0.0), body, dt), n)
            state, q, omega = before_torque(state, body, dt)
            return after(look(state, torque(clock(n * length), q, omega, parameters), body, dt), n)

    else:
        assert isinstance(method, SeveralTorques)
        whole = convert(method.step)

        def start(q: Any, omega: Any) -> Any:
            return begin(*before(q, omega), body)

        def step(state: Any, n: int) -> Any:
            state = whole(state, clock(n * length), dt, body, torque, parameters)
            return with_unit(state) if normalise else state

        def read(state: Any, n: int) -> Any:
            return after(look(state, (0.0, 0.0, 0.0), body, dt), n)

    return PlainDriver(start, step, read, stored, hold, held)
