r"""PFC4 as used in the comparison of del Valle et al. (2024): App. B.7, Eqs. B.16-B.18.

Everything is kept in the lab frame: the angular velocity at half steps, advanced by a fixed-point iteration (three sweeps,
which leave an error of :math:`O(\Delta t^4)`, two orders beyond that of a step), and a rotation matrix, advanced by explicit
Euler with the angular velocity of the half step. The publication does not say how the matrix is kept a rotation: the published
time steps are obtained with Gram-Schmidt on the rows of the matrix from body to lab, in the order x, y, z. On its columns, the
axes of the body, the errors are different.

.. math::

   \omega_{n+1/2} &= \omega_{n-1/2} + \Delta t\, J_n^{-1} (M_n - \omega_{n+1/2} \times J_n\, \omega_{n+1/2}),
   \qquad J_n = A_n I A_n^T \\
   A_{n+1} &= \mathrm{GS}(A_n + \Delta t\, [\omega_{n+1/2}]_\times A_n)

The state is the matrix A from body to lab by columns x, y, z (nine floats without a unit), then the omega of half a step before
in the lab frame (rad/s); shapes, frames and units of the other arguments are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import angular_momentum, angular_velocity
from polhode.algebra.quaternion import normalise, to_lab
from polhode.algebra.vector import add, axpy, cross, dot, scale, unit
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque


@kernel
def from_body(x: Any, y: Any, z: Any, v: Any) -> Any:
    """The product A v (3,) for the matrix A with the columns x, y, z (3,): a vector v (3,) from body to lab, in its unit."""
    return add(scale(v[0], x), axpy(v[1], y, scale(v[2], z)))


@kernel
def into_body(x: Any, y: Any, z: Any, v: Any) -> Any:
    """The product A^T v (3,) for the matrix A with the columns x, y, z (3,): a vector v (3,) from lab to body, in its unit."""
    return (dot(x, v), dot(y, v), dot(z, v))


@kernel
def acceleration(x: Any, y: Any, z: Any, omega: Any, torque_lab: Any, body: Any) -> Any:
    """The angular acceleration J^-1 (M - omega x J omega) (3,), J = A I A^T (Eq. B.16), rad/s^2 in the lab frame.

    x, y, z (3,) are the columns of A; ``omega`` (3,) in rad/s and ``torque_lab`` (3,) in N m, lab frame.
    """
    momentum = from_body(x, y, z, angular_momentum(into_body(x, y, z, omega), body))
    rest = axpy(-1.0, cross(omega, momentum), torque_lab)
    return from_body(x, y, z, angular_velocity(into_body(x, y, z, rest), body))


@kernel
def kick(x: Any, y: Any, z: Any, omega: Any, torque_lab: Any, body: Any, dt: Any) -> Any:
    """The angular velocity (3,) after ``dt`` (s), by three fixed-point sweeps from the old value (Eq. B.16), rad/s in the lab
    frame.

    x, y, z (3,) are the columns of A; ``omega`` (3,) in rad/s and ``torque_lab`` (3,) in N m, lab frame.
    """
    new = axpy(dt, acceleration(x, y, z, omega, torque_lab, body), omega)
    new = axpy(dt, acceleration(x, y, z, new, torque_lab, body), omega)
    return axpy(dt, acceleration(x, y, z, new, torque_lab, body), omega)


@kernel
def to_quaternion(x: Any, y: Any, z: Any) -> Any:
    """The unit quaternion (4,), body to lab, of the matrix with the columns x, y, z (3,), from its largest component."""
    trace = x[0] + y[1] + z[2]
    if trace >= x[0] and trace >= y[1] and trace >= z[2]:
        q = (1.0 + trace, y[2] - z[1], z[0] - x[2], x[1] - y[0])
    elif x[0] >= y[1] and x[0] >= z[2]:
        q = (y[2] - z[1], 1.0 + 2.0 * x[0] - trace, x[1] + y[0], z[0] + x[2])
    elif y[1] >= z[2]:
        q = (z[0] - x[2], x[1] + y[0], 1.0 + 2.0 * y[1] - trace, y[2] + z[1])
    else:
        q = (x[1] - y[0], z[0] + x[2], y[2] + z[1], 1.0 + 2.0 * z[2] - trace)
    return normalise(q)


@kernel
def orthonormal(a: Any, b: Any, c: Any) -> Any:
    """Three orthonormal vectors (3,) without a unit: a, b and c (3,) by Gram-Schmidt in this order."""
    a = unit(a)
    b = unit(axpy(-dot(a, b), a, b))
    return a, b, unit(axpy(-dot(b, c), b, axpy(-dot(a, c), a, c)))


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    x = to_lab(q, (1.0, 0.0, 0.0))
    y = to_lab(q, (0.0, 1.0, 0.0))
    z = to_lab(q, (0.0, 0.0, 1.0))
    torque_lab = from_body(x, y, z, torque)
    return x + y + z + kick(x, y, z, from_body(x, y, z, omega), torque_lab, body, -0.5 * dt)


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    x, y, z = state[:3], state[3:6], state[6:9]
    return state, to_quaternion(x, y, z), into_body(x, y, z, state[9:12])


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    x, y, z, omega = state[:3], state[3:6], state[6:9], state[9:12]
    omega = kick(x, y, z, omega, from_body(x, y, z, torque), body, dt)
    x = axpy(dt, cross(omega, x), x)
    y = axpy(dt, cross(omega, y), y)
    z = axpy(dt, cross(omega, z), z)
    first, second, third = orthonormal((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]))
    x = (first[0], second[0], third[0])
    y = (first[1], second[1], third[1])
    z = (first[2], second[2], third[2])
    return x + y + z + omega


@kernel
def read(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The q (body to lab) and omega (rad/s, body frame) at the whole time, from the state and the torque (N m) there."""
    x, y, z, omega = state[:3], state[3:6], state[6:9], state[9:12]
    omega = kick(x, y, z, omega, from_body(x, y, z, torque), body, 0.5 * dt)
    return to_quaternion(x, y, z), into_body(x, y, z, omega)


@kernel
def stored(state: Any, body: Any, dt: Any) -> Any:
    """The angular velocity (3,) that the method holds, half a step before q, in rad/s, body frame."""
    x, y, z = state[:3], state[3:6], state[6:9]
    return into_body(x, y, z, state[9:12])


METHOD = OneTorque(
    key="pfc4_delvalle2024",
    label="PFC4 (as published)",
    group="as published in 2024",
    rank=5,
    omega_handed="half a step old",
    source="del Valle et al. (2024), Eqs. B.16-B.18, with Gram-Schmidt on the rows of the matrix",
    citation="delvalle2024",
    order_q=1,
    order_omega=1,
    published_order="second order",
    starts="half a step back: the fixed point with -dt/2",
    reads="half a kick with the torque at the whole time",
    normalises=True,
    normalisable=False,
    momentum_frame="lab",
    engines=("single body",),
    variant_of="pfc4",
    published_error="matrix",
    note="The rotation matrix is made orthonormal every step; the quaternion is formed from it for the torque and for reading.",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read,
    stored=stored,
    stored_offset=-0.5,
)
