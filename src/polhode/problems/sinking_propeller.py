r"""A propeller sinking through a viscous, stratified fluid: our own test of methods that also move the centre of mass.

Drag is proportional to the velocities, with different coefficients along and across the axis of the screw, so that the force
depends on the orientation; the screw couples spin and translation: turning pushes it along its axis, sinking turns it. The
fluid is denser further down, so that buoyancy depends on the position. Force and torque thus depend on position, orientation
and both velocities, the general form of Eq. 3 of Seelen et al. (2016), which their test cases never use.

With u = R(q)^T v the velocity in the body frame:

.. math::

   m \dot v &= R(q) (-c_\perp u_x,\; -c_\perp u_y,\; -c_\parallel u_z + s\, \omega_z) - (w + b\, r_z)\, e_z \\
   I \dot\omega + \omega \times I \omega &=
   \bigl(-c\, \omega_x,\; -\tfrac32 c\, \omega_y,\; -\tfrac12 c\, \omega_z + s\, u_z\bigr)
"""

from typing import Any

from polhode.algebra.body import Body
from polhode.algebra.quaternion import to_body, to_lab
from polhode.problems.system import System


def loads(t: Any, r: Any, v: Any, q: Any, omega: Any, parameters: Any, force: Any, torque: Any) -> None:
    """Write weight minus buoyancy, drag in the body frame, and the coupling by the screw about the body's z axis.

    ``force`` (1, 3), N, lab frame, and ``torque`` (1, 3), N m, body frame, are written. They follow from r (1, 3), m, and
    v (1, 3), m/s, of the centre of mass in the lab, q (1, 4), scalar first, body to lab, and omega (1, 3), rad/s, body frame; t
    is not read. ``parameters`` are the drag along and across the axis (kg/s), the drag of turning (N m s), the coupling s of
    the screw (N s), the weight w (N) and the buoyancy b (N/m).
    """
    orientation = (q[0][0], q[0][1], q[0][2], q[0][3])
    through = to_body(orientation, (v[0][0], v[0][1], v[0][2]))
    along, across, turning, screw, weight = parameters[0], parameters[1], parameters[2], parameters[3], parameters[4]
    drag = (-across * through[0], -across * through[1], -along * through[2] + screw * omega[0][2])
    lab = to_lab(orientation, drag)
    force[0][0] = lab[0]
    force[0][1] = lab[1]
    force[0][2] = lab[2] - weight - parameters[5] * r[0][2]
    torque[0][0] = -turning * omega[0][0]
    torque[0][1] = -1.5 * turning * omega[0][1]
    torque[0][2] = -0.5 * turning * omega[0][2] + screw * through[2]


PROBLEM = System(
    key="sinking_propeller",
    label="sinking propeller",
    short_label="propeller",
    rank=3,
    source="polhode; loads as in Seelen et al. (2016), Eq. 3",
    bodies=(Body((1.1, 1.6, 2.2), mass=2.0),),
    r0=((0.4, -0.3, 2.0),),
    v0=((0.7, 0.4, -0.5),),
    q0=((0.5, -0.1, 0.7, 0.5),),
    omega0=((0.9, -0.7, 1.1),),
    loads=loads,
    parameters={"along": 0.6, "across": 1.1, "turning": 0.5, "screw": 0.3, "weight": 4.0, "buoyancy": 1.3},
    load_formula=(
        r"$F=A^T(q)(-c\,u_x,-c\,u_y,-a\,u_z+s\,\omega_z)-(0,0,G+b\,z)$, "
        r"$M=-d\,(\omega_x,\tfrac32\omega_y,\tfrac12\omega_z)+(0,0,s\,u_z)$, $u=A(q)v$"
    ),
    symbols={"along": "a", "across": "c", "turning": "d", "screw": "s", "weight": "G", "buoyancy": "b"},
    dependence=r"$M(q,v,\omega)$, $F(r,q,v,\omega)$",
    torque_class="velocity",
    horizon=2.0,
)
