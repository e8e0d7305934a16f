"""A law of one's own, as a pattern to change: Hertz's spring and dashpot, and a torque that resists rolling.

A spring between the two bodies is wound up as they roll over each other. Its torque is at most the rolling friction times the
radius times the normal force. All numbers are examples.
"""

from collections.abc import Mapping
from math import sqrt
from typing import Any

from polhode.algebra.vector import add, axpy, dot, scale
from polhode.compiling.kernel import kernel
from polhode.manybody import ForceLaw, Parameter, Response, Touch
from polhode.manybody.material import MaterialPair


@kernel
def contact(touch: Touch, history: Any, constants: Any) -> Response:
    """The force and the torque on the first body, and what the contact keeps: the wound angle, a vector."""
    hertz, alpha, spring, rolling_friction = constants
    elastic = hertz * sqrt(touch.radius * touch.overlap) * touch.overlap
    c = alpha * sqrt(touch.mass * hertz * sqrt(touch.radius * touch.overlap))
    push = elastic - c * dot(touch.velocity, touch.normal)
    push = push if push > 0.0 else 0.0
    dissipated = (elastic - push) * dot(touch.normal, touch.moved)

    # Rolling is the part across the normal; the rest is twisting.
    rolled = axpy(-dot(touch.rolled, touch.normal), touch.normal, touch.rolled)
    trial = add(history, scale(touch.share, rolled))
    stiffness = spring * touch.radius * touch.radius
    angle, limit = sqrt(dot(trial, trial)), rolling_friction * touch.radius * push / stiffness
    wound = scale(limit / angle, trial) if angle > limit else trial
    slipped = axpy(-1.0, wound, trial)
    couple = scale(-stiffness, wound)
    return Response(
        scale(push, touch.normal),
        couple,
        wound,
        (0.4 * elastic * touch.overlap, 0.5 * stiffness * dot(wound, wound)),
        (dissipated, 0.0, -dot(couple, slipped), 0.0),
    )


def constants(pair: MaterialPair, values: Mapping[str, Any]) -> tuple[float, ...]:
    """4/3 E* (Pa), alpha, the stiffness of the rolling spring (N/m), and the rolling friction."""
    return 4 / 3 * pair.reduced, values["damping"], values["rolling_stiffness"], values["rolling_friction"]


LAW = ForceLaw(
    key="hertz_rolling",
    label="Hertz with rolling resistance",
    source="docs/adding-a-force-law.md; the rolling spring as model C of Ai, Chen, Rotter and Ooi (2011)",
    parameters={
        "damping": Parameter(0.2, "alpha of Tsuji's dashpot"),
        "rolling_stiffness": Parameter(1e3, "stiffness of the rolling spring over the square of the radius", "N/m", least=1e-9),
        "rolling_friction": Parameter(0.1, "largest rolling torque over radius and normal force"),
    },
    conserves_energy=False,
    onset=0.25,
    constants=constants,
    contact=contact,
    history=3,
)
