r"""The DLM splitting: Dullweber, Leimkuhler and McLachlan (1997), after McLachlan (1993) and Reich (1994).

The kinetic energy is the sum of Pi_k^2/(2 I_k), Pi the angular momentum in the body frame. Each term alone turns the body about
its axis k at a constant rate; with R_k(delta) this motion for a time delta (:mod:`polhode.methods.splitting`),

.. math::

   \Pi' &= \Pi_n + \tfrac{\Delta t}{2} M_n \\
   (q_{n+1}, \Pi'') &= R_1(\tfrac{\Delta t}{2})\, R_2(\tfrac{\Delta t}{2})\, R_3(\Delta t)\, R_2(\tfrac{\Delta t}{2})\,
   R_1(\tfrac{\Delta t}{2})\, (q_n, \Pi') \\
   \Pi_{n+1} &= \Pi'' + \tfrac{\Delta t}{2} M_{n+1}

in the order of the axes x, y, z, y, x. NO_SQUISH is this composition in the order z, y, x, y, z, with the momentum of the
quaternion instead of Pi. Which order is good depends on the body, see :mod:`polhode.methods.dlm1997_fasso`.

The state is q, the angular momentum Pi in the body frame and the last torque (N m, body frame); shapes, frames and units are as
in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.compiling.kernel import kernel
from polhode.methods import splitting
from polhode.methods.protocol import OneTorque
from polhode.methods.splitting import rotors


@kernel
def drift(q: Any, momentum: Any, body: Any, dt: Any) -> Any:
    """q (4,) and Pi (3,), N m s in the body frame, of a free body after ``dt`` (s), to second order, in the order x, y, z, y,
    x.
    """
    return rotors(q, momentum, (body[3], body[4], body[5]), dt)


METHOD = OneTorque(
    key="dlm1997",
    label="DLM splitting",
    short_label="DLM",
    group="splittings and variational",
    rank=0,
    omega_handed="without the last half kick",
    source="Dullweber, Leimkuhler and McLachlan (1997); McLachlan (1993); Reich (1994)",
    citation="dullweber1997,mclachlan1993,reich1994",
    order_q=2,
    order_omega=2,
    published_order="second order",
    order_exceptions={"velocity": (1, 1)},
    reconstruction="The original was not at hand: the order x, y, z, y, x is that of codes which cite it.",
    normalises=False,
    rotates_before_torque=True,
    note="Symplectic and reversible; the energy error depends on the order of the axes.",
    start=splitting.start,
    before_torque=splitting.kicked(drift),
    after_torque=splitting.after_torque,
    read=splitting.read,
    stored=splitting.stored,
    torque_time=1.0,
)
