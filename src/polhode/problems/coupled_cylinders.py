r"""Two cylinders in touching contact, coupled by friction: Seelen et al. (2016), Sec. 3.4.

Their axes are parallel to the lab's x axis and fixed; the centre of the second lies in the y direction from that of the first.
At the contact the surfaces slide with v = R1 omega1 + R2 omega2 along z, and the friction force on the first is -eta v (Eq. 9).
Both initial spins have the same sense; in the final state, without sliding, the senses are opposite.

The publication prints the radii, eta and the spins, but no lengths, densities, masses or time step. Its description, a first
cylinder that slows down and a second one that reverses, requires I1/I2 > 1/12: equal masses (I1/I2 = 0.17) satisfy this,
equal densities and lengths (0.03) do not. Equal masses of 10 kg, a height of 1 m and the time of 5 s are our choice.

.. math::

   v &= R_1 \omega_1 + R_2 \omega_2 \\
   I_1 \dot\omega_1 &= -\eta R_1 v, \qquad I_2 \dot\omega_2 = -\eta R_2 v
"""

from typing import Any

from polhode.algebra.body import Body
from polhode.problems.system import System

RADII = (1.0, 2.4)
MASS = 10.0
HEIGHT = 1.0


def cylinder(radius: float) -> Body:
    """A homogeneous cylinder along x with the mass :data:`MASS`, kg, and the height :data:`HEIGHT`, m. ``radius`` in m."""
    transverse = MASS * (3 * radius**2 + HEIGHT**2) / 12
    return Body((MASS * radius**2 / 2, transverse, transverse), MASS)


def loads(t: Any, r: Any, v: Any, q: Any, omega: Any, parameters: Any, force: Any, torque: Any) -> None:
    """Write the contact friction, equal and opposite; its torque is along the common axis, equal in lab and body frames.

    ``force`` (2, 3), N, lab frame, and ``torque`` (2, 3), N m, body frames, are written, from omega (2, 3), rad/s, in the body
    frames; t, r, v and q are not read. ``parameters`` are eta (kg/s) and the radii R1 and R2 (m).
    """
    friction = parameters[0] * (parameters[1] * omega[0][0] + parameters[2] * omega[1][0])
    for i in range(2):
        for k in range(3):
            force[i][k] = 0.0
            torque[i][k] = 0.0
    force[0][2] = -friction
    force[1][2] = friction
    torque[0][0] = -parameters[1] * friction
    torque[1][0] = -parameters[2] * friction


def decay_rate(system: System) -> dict[str, float]:
    """The decay rate k of the sliding velocity, 1/s, under the name ``decay_rate``: Seelen et al. (2016), Sec. 3.4."""
    p = system.parameters
    return {"decay_rate": float(p["eta"] * sum(p[f"R{i + 1}"] ** 2 / system.bodies[i].inertia[0] for i in range(2)))}


PROBLEM = System(
    key="coupled_cylinders",
    label="two cylinders coupled by friction",
    short_label="two cylinders",
    rank=2,
    source="Seelen et al. (2016), Sec. 3.4",
    bodies=(cylinder(RADII[0]), cylinder(RADII[1])),
    r0=((0.0, 0.0, 0.0), (0.0, RADII[0] + RADII[1], 0.0)),
    omega0=((2.0, 0.0, 0.0), (0.4, 0.0, 0.0)),
    fixed=True,
    loads=loads,
    parameters={"eta": 5.4, "R1": RADII[0], "R2": RADII[1]},
    load_formula=r"$M_i=-R_i\,\eta\,(R_1\omega_1+R_2\omega_2)$ about $x$; centres fixed; $k=\eta(R_1^2/I_1+R_2^2/I_2)$",
    symbols={"eta": r"\eta", "R1": "R_1", "R2": "R_2", "decay_rate": "k"},
    derived=decay_rate,
    torque_class="velocity",
    horizon=5.0,
    reference="coupled_cylinders",
    formula="exponential decay of the sliding velocity",
)
