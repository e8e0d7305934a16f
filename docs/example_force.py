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
from polhode.manybody.friction import in_plane, turn_to_end, turn_to_middle
from polhode.manybody.material import MaterialPair


@kernel
def contact(touch: Touch, history: Any, constants: Any) -> Response:
    """Force and torque on the first body. Kept are the wound angle, the dashpot's force, and two energies for the end."""
    hertz, alpha, spring, rolling_friction = constants
    elastic = hertz * sqrt(touch.radius * touch.overlap) * touch.overlap
    c = alpha * sqrt(touch.mass * hertz * sqrt(touch.radius * touch.overlap))
    push = elastic - c * dot(touch.velocity, touch.normal)
    push = push if push > 0.0 else 0.0
    dashpot = push - elastic
    # The work of a step: the mean of the forces at its two ends, times the displacement.
    half = -0.5 * dashpot * dot(touch.normal, touch.moved)
    dissipated = half - 0.5 * history[3] * dot(touch.before, touch.moved)

    # Rolling is the part across the normal; the rest is twisting. The spring turns along with the contact.
    middle = turn_to_middle(history[:3], touch)
    rolled = in_plane(touch.rolled, touch.middle)
    before = turn_to_end(middle, touch)
    trial = turn_to_end(axpy(touch.share, rolled, middle), touch)
    stiffness = spring * touch.radius * touch.radius
    angle, limit = sqrt(dot(trial, trial)), rolling_friction * touch.radius * push / stiffness
    wound = scale(limit / angle, trial) if angle > limit else trial
    slipped = axpy(-1.0, wound, trial)
    energy = 0.5 * stiffness * dot(wound, wound)
    return Response(
        scale(push, touch.normal),
        scale(-stiffness, wound),
        (*wound, dashpot, half, energy),
        (0.4 * elastic * touch.overlap, energy),
        (dissipated, 0.0, 0.5 * stiffness * dot(add(before, wound), slipped), 0.0),
    )


@kernel
def end(history: Any) -> Any:
    """The second half of the dashpot's last work, and the energy of a spring that is still wound, which counts as slip."""
    return (history[4], 0.0, history[5], 0.0)


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
    history=6,
    end=end,
)
