r"""Runge-Kutta-Munthe-Kaas 4: Munthe-Kaas (1998, 1999), with the classical Runge-Kutta scheme and the series of dexp^-1.

The orientation of a step is written as :math:`q = q_n \exp(u/2)` with a rotation vector u, which starts at zero and obeys
:math:`\dot u = \mathrm{dexp}^{-1}_{-u}\,\omega`; the classical Runge-Kutta scheme runs on :math:`(u, \omega)`. The bracket of
rotation vectors in the body frame is the cross product. The series of dexp^-1 ends after two brackets, as fourth order allows:
the next term has four and changes a step by :math:`\Delta t^5`. Exudyn has the same scheme with dexp^-1 in closed form
(``ComputeStepWithRK4`` of its Python module for Lie group integration).

.. math::

   \mathrm{dexp}^{-1}_{-u}\,\omega &\approx \omega + \tfrac12\, u \times \omega + \tfrac1{12}\, u \times (u \times \omega) \\
   k_i &= \mathrm{dexp}^{-1}_{-u_i}\,\omega_i, \qquad a_i = a(\omega_i, M(t_i, q_n \exp(u_i/2), \omega_i)) \\
   u_1 &= 0, \quad u_2 = \tfrac{\Delta t}{2} k_1, \quad u_3 = \tfrac{\Delta t}{2} k_2, \quad u_4 = \Delta t\, k_3 \\
   \omega_1 &= \omega_n, \quad \omega_2 = \omega_n + \tfrac{\Delta t}{2} a_1, \quad
   \omega_3 = \omega_n + \tfrac{\Delta t}{2} a_2, \quad \omega_4 = \omega_n + \Delta t\, a_3 \\
   q_{n+1} &= q_n \exp\bigl(\tfrac{\Delta t}{12}(k_1 + 2 k_2 + 2 k_3 + k_4)\bigr), \quad
   \omega_{n+1} = \omega_n + \tfrac{\Delta t}{6}(a_1 + 2 a_2 + 2 a_3 + a_4)

The state is q and omega; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.compiling.kernel import kernel
from polhode.methods.fourth_order_start import fourth_order_step
from polhode.methods.protocol import SeveralTorques
from polhode.methods.rk4 import start
from polhode.methods.states import read_synchronous, stored_in_body_frame


@kernel
def step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
    """The state after a step of ``dt`` (s) from ``t`` (s) under ``torque(t, q, omega, parameters)`` (N m, body frame)."""
    q, omega = state[:4], state[4:7]
    moment = torque(t, q, omega, parameters)
    q, omega = fourth_order_step(q, omega, moment, t, dt, body, torque, parameters)
    return q + omega


METHOD = SeveralTorques(
    key="rkmk4",
    label="Runge-Kutta-Munthe-Kaas 4",
    short_label="RKMK4",
    group="several torques per step",
    rank=3,
    omega_handed="four stages",
    source="Munthe-Kaas (1998); Munthe-Kaas (1999)",
    citation="munthekaas1998,munthekaas1999",
    order_q=4,
    order_omega=4,
    published_order="fourth order",
    normalises=False,
    start=start,
    step=step,
    evaluations_per_step=4,
    read=read_synchronous,
    stored=stored_in_body_frame,
)
