r"""The discrete Moser-Veselov algorithm: Moser and Veselov (1991), with quaternions as in Hairer and Vilmart (2006).

The variational integrator of the free body, and what SHAKE, RATTLE and SETTLE do to a molecule whose sites they hold at fixed
distances: Stoermer's rule for such sites is the leapfrog for their centre and this map for their orientation (McLachlan and
Zanna 2005; the supplement has a proof, and LAMMPS' ``fix shake`` has the same energies). The rotation of a step is
that of the unit quaternion :math:`\rho = (1, c)/\sqrt{1 + |c|^2}`. With the angular momentum y in the body frame and the
components :math:`\rho_0, \ldots, \rho_3` it solves

.. math::

   \tfrac{\Delta t}{2}\, y_{1,n} &= I_1 \rho_0 \rho_1 + (I_3 - I_2)\, \rho_2 \rho_3 \quad\text{and cyclically}, \\
   \text{that is}\quad c_1 &= (1 + |c|^2)\, \tfrac{\Delta t}{2}\, \frac{y_{1,n}}{I_1}
   + \frac{I_2 - I_3}{I_1}\, c_2 c_3 , \\
   q_{n+1} &= q_n\, \rho, \qquad y_{n+1} = \rho^* y_n\, \rho .

By the last equation the angular momentum in the lab is constant; it is what the method carries. The step is symplectic and
time-symmetric. It also keeps the kinetic energy: the discrete system keeps the sum of :math:`d_i^2 y_i^2` with
:math:`d_i = \tfrac12(I_1 + I_2 + I_3) - I_i`, and :math:`d_i^2 - I_1 I_2 I_3/I_i` is the same number for all three axes, as the
cubic with the roots :math:`I_i` shows.

The torque enters by Strang splitting, as in the program of Hairer and Vilmart: half a kick at either end. Their program
normalises the quaternion, and iterates the equation of c to the last digit. Here three Newton iterations solve it, beginning at
:math:`(1 + |a|^2)\, a` plus the gyroscopic products of a, with :math:`a_i = \tfrac{\Delta t}{2} y_i/I_i`. What is left is
round-off, below 3e-15, up to :math:`|\omega| \Delta t = 0.5` for any body. At 0.9 it may be 1e-7. From about 1 on the equation
may have no solution, of which nothing warns: the step of a sphere turns by an angle whose sine is :math:`|\omega| \Delta t`.

The state is q, the angular momentum L in the lab frame and the last torque (N m, body frame); shapes, frames and units are as
in :mod:`polhode.methods.protocol`.

In the functions a (3,) is dt/2 omega, c (3,) the axis times the tangent of half the angle of the step, and f (3,) holds the
gyroscopic coefficients (I_2 - I_3)/I_1 and cyclically; none has a unit.
"""

from typing import Any

from polhode.algebra.body import angular_velocity
from polhode.algebra.quaternion import to_body, to_lab
from polhode.algebra.vector import add, axpy, dot, scale
from polhode.compiling.kernel import kernel
from polhode.methods.buss2000 import after_torque, start
from polhode.methods.implicit_midpoint import turned
from polhode.methods.linear_system import solve_or_huge
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_momentum, stored_momentum


@kernel
def products(f: Any, c: Any) -> Any:
    """The gyroscopic products (3,): f1 c2 c3 and cyclically, from f and c (3,), all without a unit."""
    return (f[0] * c[1] * c[2], f[1] * c[2] * c[0], f[2] * c[0] * c[1])


@kernel
def newton(c: Any, a: Any, f: Any) -> Any:
    """The vector c (3,) after a Newton iteration of c = (1 + |c|^2) a + (f1 c2 c3, f2 c3 c1, f3 c1 c2), from the last one."""
    gap = add(axpy(1.0 + dot(c, c), a, products(f, c)), scale(-1.0, c))
    x, y, z = scale(-2.0 * a[0], c), scale(-2.0 * a[1], c), scale(-2.0 * a[2], c)
    x = (1.0 + x[0], x[1] - f[0] * c[2], x[2] - f[0] * c[1])
    y = (y[0] - f[1] * c[2], 1.0 + y[1], y[2] - f[1] * c[0])
    z = (z[0] - f[2] * c[1], z[1] - f[2] * c[0], 1.0 + z[2])
    return add(c, solve_or_huge(x, y, z, gap))


@kernel
def rotation(a: Any, f: Any) -> Any:
    """The vector c (3,), the axis times the tangent of half the angle of a step: three Newton iterations for these a and f."""
    c = axpy(1.0 + dot(a, a), a, products(f, a))
    return newton(newton(newton(c, a, f), a, f), a, f)


# The state: q, the angular momentum in the lab, the last torque.


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    q, torque = state[:4], state[7:10]
    momentum = axpy(0.5 * dt, to_lab(q, torque), state[4:7])
    a = scale(0.5 * dt, angular_velocity(to_body(q, momentum), body))
    q = turned(q, rotation(a, body[6:9]))
    return q + momentum + torque, q, angular_velocity(to_body(q, momentum), body)


METHOD = OneTorque(
    key="moser_veselov",
    label="Moser-Veselov",
    short_label="DMV",
    other_names=("SHAKE", "RATTLE", "SETTLE"),
    group="splittings and variational",
    rank=5,
    omega_handed="without the last half kick",
    source="Moser and Veselov (1991); Hairer and Vilmart (2006), their program DMV10, order 2",
    citation="moser1991,hairer2006,mclachlan2005",
    order_q=2,
    order_omega=2,
    published_order="second order",
    order_exceptions={"velocity": (1, 1)},
    normalises=True,
    rotates_before_torque=True,
    momentum_frame="lab",
    note="Symplectic and reversible: what SHAKE, RATTLE and SETTLE do to a rigid molecule; |omega| dt must stay below 1.",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read_momentum,
    stored=stored_momentum,
    torque_time=1.0,
)
