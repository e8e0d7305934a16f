"""Any method behind an interface that keeps the angular velocity in the lab frame, as simulation codes often do.

This is how del Valle et al. (2024) time their methods: every step takes q and omega in the lab and returns them. A method that
works in the body frame then transforms omega into and out of it at every step. A method that carries the angular momentum forms
it from omega and converts it back. The exchange follows the normalisation of the previous step, because a rotation needs a unit
quaternion. Its arithmetic, and the chain of operations that it lengthens, are those of such an interface.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.algebra.body import angular_momentum, angular_velocity
from polhode.algebra.quaternion import derivative, scaled, to_body, to_lab
from polhode.compiling.kernel import kernel
from polhode.compiling.plain import in_plain_python
from polhode.methods.no_squish import omega_of
from polhode.methods.one_body import SOME_BODY, SOME_OMEGA, SOME_Q, SOME_TORQUE
from polhode.methods.protocol import Method, OneTorque, SeveralTorques

# Quantities that a method may carry, with their conversion from omega in the body frame, and back.


@kernel
def _omega(q: Any, omega: Any, body: Any) -> Any:
    return omega


@kernel
def _momentum(q: Any, omega: Any, body: Any) -> Any:
    return to_lab(q, angular_momentum(omega, body))


@kernel
def _of_momentum(q: Any, momentum: Any, body: Any) -> Any:
    return angular_velocity(to_body(q, momentum), body)


@kernel
def _body_momentum(q: Any, omega: Any, body: Any) -> Any:
    return angular_momentum(omega, body)


@kernel
def _of_body_momentum(q: Any, momentum: Any, body: Any) -> Any:
    return angular_velocity(momentum, body)


@kernel
def _conjugate(q: Any, omega: Any, body: Any) -> Any:
    """The momentum of the quaternion, p = 2 q (0, I omega) (Miller et al. 2002)."""
    return scaled(4.0, derivative(q, angular_momentum(omega, body)))


CARRIED: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "omega": (_omega, _omega),
    "momentum": (_momentum, _of_momentum),
    "body momentum": (_body_momentum, _of_body_momentum),
    "conjugate": (_conjugate, omega_of),
}
_BODY = SOME_BODY.coefficients()


def carried(method: Method) -> str:
    """The quantity that a method's state holds after the quaternion.

    It is found by inspecting the initial state of a run with time step zero.

    Returns
    -------
    ``omega`` (body frame), ``momentum`` (lab frame), ``body momentum``, ``conjugate`` (to the quaternion), or ``lab``: omega in
    the lab frame, anywhere in the state.

    Raises
    ------
    ValueError
        If the state contains none of these.
    """
    start = in_plain_python(method.start)
    several = isinstance(method, SeveralTorques)
    state = np.array(start(SOME_Q, SOME_OMEGA, _BODY) if several else start(SOME_Q, SOME_OMEGA, SOME_TORQUE, _BODY, 0.0))

    def holds(values: Sequence[float], at: int) -> bool:
        stored = state[at : at + len(values)]
        return len(stored) == len(values) and bool(np.allclose(stored, values, rtol=0, atol=1e-12))

    if holds(SOME_Q, 0):
        for name, (given, _) in CARRIED.items():
            if holds(in_plain_python(given)(SOME_Q, SOME_OMEGA, _BODY), 4):
                return name
    in_lab_frame = in_plain_python(to_lab)(SOME_Q, SOME_OMEGA)
    if any(holds(in_lab_frame, at) for at in range(len(state))):
        return "lab"
    raise ValueError(f"method {method.key}: its state holds no angular velocity or momentum that could be kept in the lab")


def in_lab(method: Method) -> Method:
    """The method behind an interface that keeps the angular velocity in the lab frame; not registered.

    Every step begins with the conversion: the state left by the last step gives omega in the lab and is rebuilt from it. The
    conversion is at this place, after the normalisation of the last step, because a rotation needs a unit quaternion. Other
    parts of the state (an acceleration, the last torque) remain unchanged. A run agrees with that of the method to round-off,
    as long as the quaternion is a unit quaternion.

    Parameters
    ----------
    method : OneTorque or SeveralTorques

    Returns
    -------
    A method with the key ``KEY_in_lab``. A method that carries omega in the lab frame is only renamed.

    Raises
    ------
    ValueError
        If its state contains no angular velocity or momentum, see :func:`carried`.
    """
    key, what = f"{method.key}_in_lab", carried(method)
    if what == "lab":
        return replace(method, key=key)
    given, taken = CARRIED[what]
    end = 8 if what == "conjugate" else 7

    @kernel
    def exchange(state: Any, body: Any) -> Any:
        q = state[:4]
        omega_lab = to_lab(q, taken(q, state[4:end], body))
        return q + given(q, to_body(q, omega_lab), body) + state[end:]

    if isinstance(method, OneTorque):
        original = method.before_torque

        @kernel
        def before_torque(state: Any, body: Any, dt: Any) -> Any:
            """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
            return original(exchange(state, body), body, dt)

        return replace(method, key=key, before_torque=before_torque)
    assert isinstance(method, SeveralTorques)
    whole = method.step

    @kernel
    def step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
        """The state after a step of ``dt`` (s) from ``t`` (s) under ``torque(t, q, omega, parameters)`` (N m, body frame)."""
        return whole(exchange(state, body), t, dt, body, torque, parameters)

    return replace(method, key=key, step=step)
