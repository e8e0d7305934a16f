r"""NO_SQUISH: Miller et al. (2002), from the extended phase space of Tuckerman (2010), Sec. 3.12, Eqs. 3.12.1-3.12.4.

The quaternion has a conjugate momentum p with four components, p = 2 q (0, I omega). With P_k q = q (0, e_k), e_k the body
axes, the kinetic energy is the sum of (p . P_k q)^2/(8 I_k); the flow of each term rotates q and p in the plane of q and P_k q
by the same angle, which preserves their lengths. The flows follow each other as 3, 2, 1, 2, 3 between two half kicks by the
torque. This order is that of LAMMPS (``MathExtra::no_squish_rotate``), whose ``fix rigid/nve`` numbers the moments upwards, so
that 3 is the largest; runs of a liquid have the same energies. The fourth term of Eq. 3.12.4, with the arbitrary moment I_11,
vanishes with p . q, which every part of the step keeps at zero. The page that prints p (Eq. 3.12.4) has D^-1 where its own
Hamiltonian requires D.

.. math::

   p_{n+1/2} &= p_n + \Delta t\, q_n (0, M_n) \\
   (q_{n+1}, p') &= e^{\frac{\Delta t}{2} \mathcal{L}_3} e^{\frac{\Delta t}{2} \mathcal{L}_2} e^{\Delta t \mathcal{L}_1}
   e^{\frac{\Delta t}{2} \mathcal{L}_2} e^{\frac{\Delta t}{2} \mathcal{L}_3} (q_n, p_{n+1/2}) \\
   p_{n+1} &= p' + \Delta t\, q_{n+1} (0, M_{n+1}) \\
   e^{\delta \mathcal{L}_k} (q, p) &= (\cos(\zeta_k \delta)\, q + \sin(\zeta_k \delta)\, P_k q,\;
   \cos(\zeta_k \delta)\, p + \sin(\zeta_k \delta)\, P_k p),
   \qquad \zeta_k = \frac{p \cdot P_k q}{4 I_k}

The state is q, p (4, N m s) and the last torque (N m, body frame); shapes, frames and units are as in
:mod:`polhode.methods.protocol`.
"""

from functools import cache
from math import exp
from typing import Any

from polhode.algebra.body import angular_momentum
from polhode.algebra.quaternion import cos_sinc, derivative, increment, scaled
from polhode.compiling.kernel import kernel
from polhode.methods.numbered import NumberedOneTorque, numbered
from polhode.methods.protocol import OneTorque


@kernel
def product(p: Any, q: Any) -> Any:
    """The scalar product p . q of two quaternions (4,), a float in the product of their units."""
    return (p[0] * q[0] + p[1] * q[1]) + (p[2] * q[2] + p[3] * q[3])


@kernel
def p1(q: Any) -> Any:
    """The product P_1 q = q (0, 1, 0, 0), a quaternion (4,) in the unit of q."""
    return (-q[1], q[0], q[3], -q[2])


@kernel
def p2(q: Any) -> Any:
    """The product P_2 q = q (0, 0, 1, 0), a quaternion (4,) in the unit of q."""
    return (-q[2], -q[3], q[0], q[1])


@kernel
def p3(q: Any) -> Any:
    """The product P_3 q = q (0, 0, 0, 1), a quaternion (4,) in the unit of q."""
    return (-q[3], q[2], -q[1], q[0])


@kernel
def angle(p: Any, turned: Any, inverse: Any, dt: Any) -> Any:
    """The cosine and sine of zeta dt, zeta = p . P_k q/(4 I_k): half the angle by which the body turns about its axis k.

    ``p`` (4,) in N m s, ``turned`` is P_k q (4,), ``inverse`` is 1/I_k in 1/(kg m^2), ``dt`` in s.
    """
    a = 0.25 * inverse * dt * product(p, turned)
    c, s = cos_sinc(a * a)
    return c, a * s


@kernel
def rotor1(q: Any, p: Any, body: Any, dt: Any) -> Any:
    """The values of q and p (4, N m s) to which the flow of (p . P_1 q)^2/(8 I_1) takes them in ``dt`` (s)."""
    c, s = angle(p, p1(q), body[3], dt)
    return increment(s, p1(q), scaled(c, q)), increment(s, p1(p), scaled(c, p))


@kernel
def rotor2(q: Any, p: Any, body: Any, dt: Any) -> Any:
    """The values of q and p (4, N m s) to which the flow of (p . P_2 q)^2/(8 I_2) takes them in ``dt`` (s)."""
    c, s = angle(p, p2(q), body[4], dt)
    return increment(s, p2(q), scaled(c, q)), increment(s, p2(p), scaled(c, p))


@kernel
def rotor3(q: Any, p: Any, body: Any, dt: Any) -> Any:
    """The values of q and p (4, N m s) to which the flow of (p . P_3 q)^2/(8 I_3) takes them in ``dt`` (s)."""
    c, s = angle(p, p3(q), body[5], dt)
    return increment(s, p3(q), scaled(c, q)), increment(s, p3(p), scaled(c, p))


@kernel
def rotors(q: Any, p: Any, body: Any, dt: Any) -> Any:
    """The values of q (4,) and p (4,), N m s, of a free body after ``dt`` (s), to second order: the flows 3, 2, 1, 2, 3."""
    q, p = rotor3(q, p, body, 0.5 * dt)
    q, p = rotor2(q, p, body, 0.5 * dt)
    q, p = rotor1(q, p, body, dt)
    q, p = rotor2(q, p, body, 0.5 * dt)
    return rotor3(q, p, body, 0.5 * dt)


@kernel
def kick(q: Any, p: Any, torque: Any, dt: Any) -> Any:
    """The value of p (4,), N m s, after ``dt`` (s) under a torque (3,), N m in the body frame: dp/dt = 2 q (0, torque), q
    constant.
    """
    return increment(4.0 * dt, derivative(q, torque), p)


@kernel
def omega_of(q: Any, p: Any, body: Any) -> Any:
    """The angular velocity (3,) with the components omega_k = p . P_k q/(2 I_k), rad/s in the body frame, from q (4,) and p
    (4,), N m s.
    """
    return (
        0.5 * body[3] * product(p, p1(q)),
        0.5 * body[4] * product(p, p2(q)),
        0.5 * body[5] * product(p, p3(q)),
    )


# The state: q, p and the last torque.


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    return q + scaled(4.0, derivative(q, angular_momentum(omega, body))) + torque


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    q, p, torque = state[:4], state[4:8], state[8:11]
    q, p = rotors(q, kick(q, p, torque, 0.5 * dt), body, dt)
    return q + p + torque, q, omega_of(q, p, body)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, p = state[:4], state[4:8]
    return q + kick(q, p, torque, 0.5 * dt) + torque


@kernel
def read(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The q (body to lab) and omega (rad/s, body frame) at the whole time, from the state; the torque is not used."""
    return state[:4], omega_of(state[:4], state[4:8], body)


@kernel
def stored(state: Any, body: Any, dt: Any) -> Any:
    """The angular velocity (3,) that the method holds, in rad/s, body frame."""
    return omega_of(state[:4], state[4:8], body)


METHOD = OneTorque(
    key="no_squish",
    label="NO_SQUISH",
    group="splittings and variational",
    rank=4,
    omega_handed="without the last half kick",
    source="Miller et al. (2002); Tuckerman (2010), Eqs. 3.12.1-3.12.4",
    citation="miller2002,tuckerman2010",
    order_q=2,
    order_omega=2,
    order_exceptions={"velocity": (1, 1)},
    normalises=False,
    rotates_before_torque=True,
    note="Symplectic and reversible; each rotation keeps the norm of the quaternion.",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read,
    stored=stored,
    torque_time=1.0,
)


def extended(i11: float) -> NumberedOneTorque:
    """NO_SQUISH with the flow of the fourth term too, for a study of its arbitrary moment I_11; not registered.

    The flow of (p . q)^2/(8 I_11) stretches q and shrinks p: q exp(zeta dt), p exp(-zeta dt), zeta = p . q/(4 I_11). Since P_0
    is the identity, it is not a rotation. Here it is in the middle of the step, which remains symmetric.

    Parameters
    ----------
    i11 : float
        The moment of inertia I_11 of Eq. 3.12.3 in kg m^2, positive.

    Returns
    -------
    The method with the key ``no_squish_extended``.

    Raises
    ------
    ValueError
        If i11 is not positive.
    """
    if not i11 > 0:
        raise ValueError(f"i11 must be positive, got {i11!r}")
    return _extended().with_numbers(1.0 / i11)


@cache
def _extended() -> NumberedOneTorque:
    """The method of :func:`extended`; its number is 1/I_11."""

    @kernel
    def rotor0(q: Any, p: Any, inverse: Any, dt: Any) -> Any:
        a = 0.25 * inverse * dt * product(p, q)
        return scaled(exp(a), q), scaled(exp(-a), p)

    @kernel
    def before_torque(state: Any, body: Any, dt: Any) -> Any:
        """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
        q, p, torque = state[:4], state[4:8], state[8:11]
        p = kick(q, p, torque, 0.5 * dt)
        q, p = rotor3(q, p, body, 0.5 * dt)
        q, p = rotor2(q, p, body, 0.5 * dt)
        q, p = rotor1(q, p, body, 0.5 * dt)
        q, p = rotor0(q, p, body[9], dt)
        q, p = rotor1(q, p, body, 0.5 * dt)
        q, p = rotor2(q, p, body, 0.5 * dt)
        q, p = rotor3(q, p, body, 0.5 * dt)
        return q + p + torque, q, omega_of(q, p, body)

    return numbered(METHOD, 1.0, key="no_squish_extended", label="NO_SQUISH with I_11", before_torque=before_torque)
