r"""PFC4 as used in the comparison of del Valle et al. (2024): App. B.7, Eqs. B.16-B.18.

Everything is kept in the lab frame: the angular velocity at half steps, advanced by a fixed-point iteration (three sweeps,
which leave an error of :math:`O(\Delta t^4)`, two orders beyond that of a step), and a rotation matrix, advanced by explicit
Euler with the angular velocity of the half step. The publication does not say how the matrix is kept a rotation: the published
time steps are obtained with Gram-Schmidt on the rows of the matrix from body to lab, in the order x, y, z. On its columns, the
axes of the body, the errors are different. The state is the matrix by columns, then omega.

.. math::

   \omega_{n+1/2} &= \omega_{n-1/2} + \Delta t\, J_n^{-1} (M_n - \omega_{n+1/2} \times J_n\, \omega_{n+1/2}),
   \qquad J_n = A_n I A_n^T \\
   A_{n+1} &= \mathrm{GS}(A_n + \Delta t\, [\omega_{n+1/2}]_\times A_n)
"""

from typing import Any

from polhode.algebra.body import angular_momentum, angular_velocity
from polhode.algebra.quaternion import normalise, to_lab
from polhode.algebra.vector import add, axpy, cross, dot, scale, unit
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque


@kernel
def from_body(x: Any, y: Any, z: Any, v: Any) -> Any:
    """The product A v (3,) for the matrix with columns x, y, z: body to lab; the unit of v stays."""
    return add(scale(v[0], x), axpy(v[1], y, scale(v[2], z)))


@kernel
def into_body(x: Any, y: Any, z: Any, v: Any) -> Any:
    """The product A^T v (3,): lab to body; the unit of v stays."""
    return (dot(x, v), dot(y, v), dot(z, v))


@kernel
def acceleration(x: Any, y: Any, z: Any, omega: Any, torque_lab: Any, body: Any) -> Any:
    """The angular acceleration J^-1 (M - omega x J omega) in the lab frame, J = A I A^T (Eq. B.16). (3,) in rad/s^2."""
    momentum = from_body(x, y, z, angular_momentum(into_body(x, y, z, omega), body))
    rest = axpy(-1.0, cross(omega, momentum), torque_lab)
    return from_body(x, y, z, angular_velocity(into_body(x, y, z, rest), body))


@kernel
def kick(x: Any, y: Any, z: Any, omega: Any, torque_lab: Any, body: Any, dt: Any) -> Any:
    """The angular velocity (rad/s, body frame) after dt, by three fixed-point sweeps from the old value (Eq. B.16)."""
    new = axpy(dt, acceleration(x, y, z, omega, torque_lab, body), omega)
    new = axpy(dt, acceleration(x, y, z, new, torque_lab, body), omega)
    return axpy(dt, acceleration(x, y, z, new, torque_lab, body), omega)


@kernel
def to_quaternion(x: Any, y: Any, z: Any) -> Any:
    """The quaternion of the matrix with columns x, y, z, from its largest component. (4,), without a unit."""
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
    """The three vectors (3,), without a unit, orthonormalised by Gram-Schmidt in the order a, b, c."""
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
    """The part of a step before its torque: the state, and the q and omega (rad/s) at which the torque is evaluated."""
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
    """The unit quaternion and omega (rad/s, body frame) at the whole time, from the state."""
    x, y, z, omega = state[:3], state[3:6], state[6:9], state[9:12]
    omega = kick(x, y, z, omega, from_body(x, y, z, torque), body, 0.5 * dt)
    return to_quaternion(x, y, z), into_body(x, y, z, omega)


@kernel
def stored(state: Any, body: Any, dt: Any) -> Any:
    """Omega (rad/s, body frame) as the method stores it."""
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
