r"""A cylinder initially at rest, driven by three different torques: Seelen et al. (2016), Sec. 3.3.

Radius 5 mm, height 3 cm, density 1100 kg/m^3, axis along x. The torque of Eq. 5 oscillates about x and grows about y and z; its
components are in the body frame, since Eq. 8 inserts them into Euler's equations. The publication does not print its final
time; 0.1 s is our choice. By then the cylinder spins at some 2,300 rad/s.

.. math::

   I \dot\omega + \omega \times I \omega = \bigl(5 \cdot 10^{-4} \sin(200 \pi t),\; 10^{-5} e^{3 + 24 t},\;
   10^{-5} \cdot 5^{52 t}\bigr)
"""

from math import exp, log, pi, sin
from typing import Any

from polhode.algebra.body import Body
from polhode.problems.problem import Problem


def torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque of Eq. 5 in the body frame, (3,), N m; 5^(52 t) = exp(52 t ln 5). t in s; q and omega are not read.

    ``parameters`` are amplitude (N m) and angular frequency (rad/s) about x, amplitude (N m) and growth (1/s) about y, and
    about z.
    """
    return (
        parameters[0] * sin(parameters[1] * t),
        parameters[2] * exp(3.0 + parameters[3] * t),
        parameters[4] * exp(parameters[5] * t),
    )


PROBLEM = Problem(
    key="forced_cylinder",
    label="cylinder under a torque about three axes",
    short_label="cylinder",
    rank=2,
    represents_class=True,
    source="Seelen et al. (2016), Sec. 3.3",
    body=Body.cylinder(radius=0.005, height=0.03, density=1100.0),
    omega0=(0.0, 0.0, 0.0),
    torque=torque,
    parameters={
        "x_amplitude": 5e-4,
        "x_frequency": 200 * pi,
        "y_amplitude": 1e-5,
        "y_growth": 24.0,
        "z_amplitude": 1e-5,
        "z_growth": 52 * log(5.0),
    },
    load_formula=r"$M_x=a_x\sin\nu_xt$, $M_y=a_y\mathrm e^{3+g_yt}$, $M_z=a_z\mathrm e^{g_zt}$",
    symbols={
        "x_amplitude": "a_x",
        "x_frequency": r"\nu_x",
        "y_amplitude": "a_y",
        "y_growth": "g_y",
        "z_amplitude": "a_z",
        "z_growth": "g_z",
    },
    torque_class="time",
    horizon=0.1,
)
