r"""The DLM splitting with the order of the axes chosen for the body, as Fassò (2003) recommends.

.. math::

   (q_{n+1}, \Pi'') = R_a(\tfrac{\Delta t}{2})\, R_b(\tfrac{\Delta t}{2})\, R_c(\Delta t)\, R_b(\tfrac{\Delta t}{2})\,
   R_a(\tfrac{\Delta t}{2})\, (q_n, \Pi')

between the half kicks of :mod:`polhode.methods.dlm1997`, where (a, b, c) is the order of the three axes with the least energy
error by the leading term of the modified Hamiltonian (:mod:`polhode.methods.rotor_choice`).

The state is q, the angular momentum Pi in the body frame and the last torque (N m, body frame); shapes, frames and units are as
in :mod:`polhode.methods.protocol`.
"""

from dataclasses import replace
from typing import Any

from polhode.compiling.kernel import kernel
from polhode.methods import dlm1997, splitting
from polhode.methods.rotor_choice import best_order, named_back, ordered, renamed
from polhode.methods.splitting import rotors


@kernel
def drift(q: Any, momentum: Any, body: Any, dt: Any) -> Any:
    """q (4,) and Pi (3,) of a free body after ``dt`` (s), to second order, in the order of the axes that is best for the body;
    Pi in N m s, body frame.
    """
    return in_order(best_order(body), q, momentum, body, dt)


@kernel
def in_order(which: Any, q: Any, momentum: Any, body: Any, dt: Any) -> Any:
    """q (4,) and Pi (3,) of a free body after ``dt`` (s), to second order, with the rotors in a given order; Pi in N m s, body
    frame.

    ``which`` is the number of the order in :data:`polhode.methods.rotor_choice.ORDERS`, a float.
    """
    q, momentum = renamed(which, q, momentum)
    q, momentum = rotors(q, momentum, ordered(which, (body[3], body[4], body[5])), dt)
    return named_back(which, q, momentum)


METHOD = replace(
    dlm1997.METHOD,
    key="dlm1997_fasso",
    label="DLM, best order",
    short_label="DLM best",
    rank=1,
    source="Dullweber, Leimkuhler and McLachlan (1997); Fassò (2003)",
    citation="dullweber1997,fasso2003",
    reconstruction="Of Fassò (2003) only the abstract was at hand: the leading term and its mean are derived here.",
    note="Symplectic and reversible; the order of the axes is chosen from the moments of inertia.",
    before_torque=splitting.kicked(drift),
)
