r"""The first steps of a multistep method: Runge-Kutta-Munthe-Kaas steps whose first torque is already known.

A multistep method needs torques of earlier steps, and has none at the start. A one-step method takes the first steps. It has to
be of the order of the method or one less, since its local errors are added up over a fixed number of steps only. The classical
Runge-Kutta scheme runs on :math:`(u, \omega)`, with the rotation vector u of :math:`q = q_n \exp(u/2)` and
:math:`\dot u = \mathrm{dexp}^{-1}_{-u}\,\omega` (Munthe-Kaas 1999); the quaternion keeps its norm, and a body that turns
steadily is turned exactly, which the multistep methods do too.

.. math::

   \mathrm{dexp}^{-1}_{-u}\,\omega &\approx \omega + \tfrac12\, u \times \omega + \tfrac1{12}\, u \times (u \times \omega) \\
   k_i &= \mathrm{dexp}^{-1}_{-u_i}\,\omega_i, \qquad a_i = a(\omega_i, M(t_i, q_n \exp(u_i/2), \omega_i)), \\
   u_1 &= 0, \quad u_2 = \tfrac{\Delta t}{2} k_1, \quad u_3 = \tfrac{\Delta t}{2} k_2, \quad u_4 = \Delta t\, k_3

and likewise for omega with :math:`a_i` in place of :math:`k_i`; each step ends with the weights 1/6, 1/3, 1/3, 1/6.

:func:`fourth_order_step` does this for one body. Bodies that act on each other go through the stages together, with one
evaluation of all loads for each: :func:`next_stage`, whose centres of mass move by the classical scheme. A body alone moves
with the same bits in both.

Arguments are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import exponential, multiply
from polhode.algebra.vector import add, axpy, cross, scale
from polhode.compiling.kernel import kernel, subroutine
from polhode.methods.one_body import put3, put4, row3, state_rows

#: The torques that a step evaluates besides the one at its beginning.
FURTHER_TORQUES = 3
#: The stages of a step, and the times of their loads, in steps from its beginning.
STAGES, TIMES = 4, (0.0, 0.5, 0.5, 1.0)
#: What a step of several bodies keeps of each: r, v, q and omega at its beginning, and four rates at each stage.
HELD = 13 + STAGES * 12
_body_of, _ = state_rows(9)


@kernel
def weighted(a: Any, b: Any, c: Any, d: Any) -> Any:
    """The sum a + 2 b + 2 c + d (3,) of vectors (3,) at the stages of the classical Runge-Kutta scheme, in their unit."""
    return axpy(2.0, b, axpy(2.0, c, add(a, d)))


@kernel
def rate(u: Any, omega: Any) -> Any:
    """The rate du/dt (3,), rad/s, of the rotation vector u (3,), rad, at the angular velocity ``omega`` (3,), rad/s, body
    frame: dexp^-1 up to two brackets. The next term has four, and is O(dt^5) in a step.
    """
    bracket = cross(u, omega)
    return axpy(1 / 12, cross(u, bracket), axpy(0.5, bracket, omega))


@kernel
def stage(q: Any, omega: Any, turn: Any, a: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
    """The rates of the rotation vector (3,), rad/s, and of omega (3,), rad/s^2, at the time t + dt of a stage, body frame.

    Parameters
    ----------
    q, omega : the state at ``t`` (s): orientation (4,), body to lab, and angular velocity (3,), rad/s in the body frame
    turn : the rotation vector (3,) at t + dt, rad
    a : the rate of omega (3,), rad/s^2, with which omega at t + dt is omega + dt a
    dt : the time from ``t`` to the stage, s
    body : nine floats, :meth:`polhode.algebra.body.Body.coefficients`
    torque : function (t, q, omega, parameters) -> torque (3,), N m in the body frame; it is called once

    Notes
    -----
    The rotation vector is formed once, for the quaternion and for its rate: a step that forms it twice, by ``rotate``, keeps
    more values across the call of the torque, and took up to 1.7 times as long in some processes.
    """
    omega = axpy(dt, a, omega)
    a = euler_equations(omega, torque(t + dt, multiply(q, exponential(turn)), omega, parameters), body)
    return rate(turn, omega), a


@kernel
def fourth_order_step(
    q: Any, omega: Any, moment: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any
) -> tuple[Any, Any]:
    """q (4,) and omega (3,) at t + dt, by the step of the module's docstring.

    Parameters
    ----------
    q, omega : the state at ``t`` (s): orientation (4,), body to lab, and angular velocity (3,), rad/s in the body frame
    moment : the torque (3,) there, N m in the body frame
    dt : the time step, s
    body : nine floats, :meth:`polhode.algebra.body.Body.coefficients`
    torque : function (t, q, omega, parameters) -> torque (3,), N m in the body frame; it is called three times
    """
    half = 0.5 * dt
    a1 = euler_equations(omega, moment, body)
    k2, a2 = stage(q, omega, scale(half, omega), a1, t, half, body, torque, parameters)
    k3, a3 = stage(q, omega, scale(half, k2), a2, t, half, body, torque, parameters)
    k4, a4 = stage(q, omega, scale(dt, k3), a3, t, dt, body, torque, parameters)
    turn = scale(dt / 6, weighted(omega, k2, k3, k4))
    return multiply(q, exponential(turn)), axpy(dt / 6, weighted(a1, a2, a3, a4), omega)


@kernel
def _held(held: Any, b: int, first: int) -> Any:
    """Three numbers of a row, from ``first`` on."""
    return (held[b, first], held[b, first + 1], held[b, first + 2])


@kernel
def _hold(held: Any, b: int, first: int, values: Any) -> None:
    """Write three numbers of a row, from ``first`` on."""
    held[b, first], held[b, first + 1], held[b, first + 2] = values[0], values[1], values[2]


@kernel
def _sum_of_stages(held: Any, b: int, rate: int) -> Any:
    """The weighted sum of one of the four rates of a body over the stages of a step."""
    first = 13 + 3 * rate
    return weighted(_held(held, b, first), _held(held, b, first + 12), _held(held, b, first + 24), _held(held, b, first + 36))


@subroutine
def next_stage(
    stage: int,
    held: Any,
    r: Any,
    v: Any,
    q: Any,
    omega: Any,
    force: Any,
    torque: Any,
    bodies: Any,
    masses: Any,
    fixed: bool,
    dt: float,
    moves: Any,
) -> None:
    """Given the loads of a stage of all bodies, move them to the next one, and after the last stage to the end of the step.

    Parameters
    ----------
    stage : 0 to 3; its loads belong to the time ``TIMES[stage]``, in steps from the beginning of the step
    held : float array (bodies, HELD), from one stage to the next: r, v, q, omega at the beginning, and the rates at each stage
    r, v, q, omega : float arrays (bodies, 3), q (bodies, 4)
        Positions (m) and velocities (m/s) in the lab frame, orientations, body to lab, and angular velocities (rad/s) in the
        frames of the bodies, of this stage; those for the next overwrite them.
    force, torque : float arrays (bodies, 3), N in the lab frame and N m in the frames of the bodies
    bodies, masses : float arrays (bodies, 9 or more) and (bodies,): coefficients of the inertia, and masses (kg)
    fixed : whether the centres are held in place
    dt : the time step in s
    moves : float array (rows, 3), not read: the shares of a Runge-Kutta step are fixed (:mod:`polhode.methods.processor`)
    """
    half = 0.5 * dt
    reached, following = dt if stage == 3 else half, half if stage < 2 else dt
    now = 13 + 12 * stage
    for b in range(q.shape[0]):
        spin = row3(omega, b)
        if stage == 0:
            _hold(held, b, 0, row3(r, b))
            _hold(held, b, 3, row3(v, b))
            held[b, 6] = q[b, 0]
            _hold(held, b, 7, (q[b, 1], q[b, 2], q[b, 3]))
            _hold(held, b, 10, spin)
            turning = spin
        else:
            turning = rate(scale(reached, _held(held, b, now - 6)), spin)
        a = euler_equations(spin, row3(torque, b), _body_of(bodies, b))
        q0, omega0 = (held[b, 6], held[b, 7], held[b, 8], held[b, 9]), _held(held, b, 10)
        _hold(held, b, now + 6, turning)
        _hold(held, b, now + 9, a)
        if stage < 3:
            turn, spin = scale(following, turning), axpy(following, a, omega0)
        else:
            turn, spin = scale(dt / 6, _sum_of_stages(held, b, 2)), axpy(dt / 6, _sum_of_stages(held, b, 3), omega0)
        put4(q, b, multiply(q0, exponential(turn)))
        put3(omega, b, spin)
        if fixed:
            continue
        velocity, acceleration = row3(v, b), scale(1.0 / masses[b], row3(force, b))
        _hold(held, b, now, velocity)
        _hold(held, b, now + 3, acceleration)
        if stage < 3:
            put3(r, b, axpy(following, velocity, _held(held, b, 0)))
            put3(v, b, axpy(following, acceleration, _held(held, b, 3)))
        else:
            put3(r, b, axpy(dt / 6, _sum_of_stages(held, b, 0), _held(held, b, 0)))
            put3(v, b, axpy(dt / 6, _sum_of_stages(held, b, 1), _held(held, b, 3)))
