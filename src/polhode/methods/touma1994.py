r"""The Touma-Wisdom splitting: Touma and Wisdom (1994); a symmetric top and what is left.

With L the length of Pi, the kinetic energy is that of a symmetric top, whose motion is known, and a rotor:

.. math::

   T = \Bigl[\frac{L^2}{2 I_b} + \Bigl(\frac{1}{I_c} - \frac{1}{I_b}\Bigr) \frac{\Pi_c^2}{2}\Bigr]
   + \Bigl(\frac{1}{I_a} - \frac{1}{I_b}\Bigr) \frac{\Pi_a^2}{2}

Under L^2/(2 I_b) the body turns about Pi, which stands still; this motion commutes with all others. The other terms turn
the body about the axes a and c at constant rates (:mod:`polhode.methods.splitting`). Between two half kicks by the torque,

.. math::

   (q_{n+1}, \Pi'') = R_a(\tfrac{\Delta t}{2})\, R_c(\Delta t)\, R_a(\tfrac{\Delta t}{2})\,
   \bigl(q_n \exp(\tfrac{\Delta t}{2 I_b} \Pi'),\, \Pi'\bigr)

The step is exact without a torque if two moments are equal. The axes are those of the least energy error
(:mod:`polhode.methods.rotor_choice`).

The state is q, the angular momentum Pi in the body frame and the last torque (N m, body frame); shapes, frames and units are as
in :mod:`polhode.methods.protocol`.
"""

from dataclasses import replace
from typing import Any

from polhode.algebra.quaternion import rotate
from polhode.compiling.kernel import kernel
from polhode.methods import dlm1997, splitting
from polhode.methods.rotor_choice import best_pair, named_back, ordered, renamed
from polhode.methods.splitting import rotor1, rotor3


@kernel
def drift(q: Any, momentum: Any, body: Any, dt: Any) -> Any:
    """q (4,) and Pi (3,), N m s in the body frame, of a free body after ``dt`` (s), to second order, with the best axes."""
    return with_axes(best_pair(body), q, momentum, body, dt)


@kernel
def with_axes(which: Any, q: Any, momentum: Any, body: Any, dt: Any) -> Any:
    """q (4,) and Pi (3,), N m s in the body frame, of a free body after ``dt`` (s), to second order, with given axes a, b, c.

    ``which`` is the number of the order a, b, c in :data:`polhode.methods.rotor_choice.ORDERS`, a float.
    """
    q, momentum = renamed(which, q, momentum)
    a, b, c = ordered(which, (body[3], body[4], body[5]))
    q = rotate(q, momentum, b * dt)
    q, momentum = rotor1(q, momentum, a - b, 0.5 * dt)
    q, momentum = rotor3(q, momentum, c - b, dt)
    q, momentum = rotor1(q, momentum, a - b, 0.5 * dt)
    return named_back(which, q, momentum)


METHOD = replace(
    dlm1997.METHOD,
    key="touma1994",
    label="Touma-Wisdom",
    short_label="Touma-Wis.",
    rank=2,
    source="Touma and Wisdom (1994); axes after Fassò (2003)",
    citation="touma1994,fasso2003",
    reconstruction="The originals were not at hand: the choice of the axes is ours.",
    note="Symplectic and reversible; exact without a torque if two moments are equal.",
    before_torque=splitting.kicked(drift),
)
