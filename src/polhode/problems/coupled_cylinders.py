r"""Two cylinders in touching contact, coupled by friction: Seelen et al. (2016), Sec. 3.4.

Their axes are parallel, along the lab's x axis, and fixed; the centre of the second lies along y from that of the first. At the
contact the surfaces slide with v = R1 omega1 + R2 omega2 along z, and the friction force on the first is -eta v (Eq. 9). Both
spins are in the same sense, and the final state, of no sliding, has opposite ones.

The publication prints the radii, eta and the spins, but no lengths, densities, masses or time step. What it describes, a
first cylinder slowed down and a second one reversed, needs I1/I2 > 1/12: equal masses (I1/I2 = 0.17) satisfy that, equal
densities and lengths (0.03) do not. Equal masses of 10 kg and a height of 1 m are our choice, as are the 5 s.

.. math::

   v &= R_1 \omega_1 + R_2 \omega_2 \\
   I_1 \dot\omega_1 &= -\eta R_1 v, \qquad I_2 \dot\omega_2 = -\eta R_2 v
"""

from typing import Any

from polhode.body import Body
from polhode.problems.system import System

RADII = (1.0, 2.4)
MASS = 10.0
HEIGHT = 1.0


def cylinder(radius: float) -> Body:
    """A homogeneous cylinder along x of the mass and height chosen."""
    transverse = MASS * (3 * radius**2 + HEIGHT**2) / 12
    return Body((MASS * radius**2 / 2, transverse, transverse), MASS)


def loads(t: Any, r: Any, v: Any, q: Any, omega: Any, parameters: Any, force: Any, torque: Any) -> None:
    """Friction at the contact, equal and opposite; its torque is along the axis, the same in the lab and in the bodies."""
    friction = parameters[0] * (parameters[1] * omega[0][0] + parameters[2] * omega[1][0])
    for i in range(2):
        for k in range(3):
            force[i][k] = 0.0
            torque[i][k] = 0.0
    force[0][2] = -friction
    force[1][2] = friction
    torque[0][0] = -parameters[1] * friction
    torque[1][0] = -parameters[2] * friction


PROBLEM = System(
    key="coupled_cylinders",
    label="two cylinders coupled by friction",
    source="Seelen et al. (2016), Sec. 3.4",
    bodies=(cylinder(RADII[0]), cylinder(RADII[1])),
    r0=((0.0, 0.0, 0.0), (0.0, RADII[0] + RADII[1], 0.0)),
    omega0=((2.0, 0.0, 0.0), (0.4, 0.0, 0.0)),
    fixed=True,
    loads=loads,
    parameters={"eta": 5.4, "R1": RADII[0], "R2": RADII[1]},
    torque_class="velocity",
    horizon=5.0,
    reference="coupled_cylinders",
    formula="exponential decay of the sliding velocity",
)
