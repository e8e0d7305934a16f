r"""Coulomb friction with a spring and dashpots, for laws that differ in stiffness and damping: kernels for their files.

A law gives an elastic normal force with its energy, the stiffness k of the tangential spring and the coefficient c of the
dashpots. A contact keeps the stretch :math:`\xi` of its spring, in the tangential plane, and what it needs for the ledger.

.. math::

   F_n = \max(0, F_e + c u), \qquad F_t = -k \xi - \theta c v_t, \qquad |F_t| \le \mu F_n, \quad 0 \le \theta \le 1

with the velocity of approach u and the tangential velocity :math:`v_t` of the contact point.

1. The spring turns with the contact: by half of the smallest rotation from the old normal to the new one, and of the twirl
   of both bodies about it (:func:`turn_to_middle`), before the increment d of the step is added in the plane of the middle,
   and by the other half after it (:func:`turn_to_end`). A total law (:math:`F = -k \xi`) keeps the stretch when k changes, an
   incremental one (:math:`dF = -k\,d\xi`) the force, with the mean of k over the step.
2. If the trial value :math:`B = \xi + d` is longer than :math:`L = \mu F_n/k`, the contact slides. The return to the cone is
   trapezoidal in the direction of sliding, with the direction e of the last step:
   :math:`\xi = B - \lambda (e + \xi/|\xi|)/2` with :math:`|\xi| = L`, whose solution is
   :math:`\lambda = (B^2 - L^2)/(L + B \cdot e)`, :math:`\xi = L (B - \lambda e/2)/|B - \lambda e/2|`. The usual radial
   return, :math:`\xi = L B/|B|`, is of first order where that direction turns.
3. The spring comes first. The dashpot has what the cone leaves, the largest :math:`\theta`: if the sum were limited instead,
   the energies of sliding and damping could not be distinguished.

The energy balance: dashpots dissipate by the work of their kicks. A kick acts from the middle of one step to that of the next,
so half of its work is done with the displacement of each; after the last loads of a contact, with that of the step before.
Sliding dissipates :math:`-(F_{n-1} + F_n)/2 \cdot (B - \xi)` with the forces F of the spring. A stiffness that depends on the
overlap is not conservative: the law takes what the energy :math:`k \xi^2/2` loses by a change of k, and what is left of it when
the contact ends.
"""

from collections.abc import Callable, Mapping
from math import inf, sqrt
from types import MappingProxyType
from typing import Any

from polhode.algebra.vector import add, axpy, cross, dot, scale
from polhode.compiling.kernel import kernel
from polhode.manybody.law import ForceLaw, Parameter, Response, Touch

#: Stretch, stiffness, normal and tangential force of the dashpots, and the work of the second halves of their kicks.
HISTORY = 10
#: Stands for a friction that always holds: infinity times a force of zero would not be a number.
HOLDS = 1e100
#: The parameters of every law with friction.
PARAMETERS = MappingProxyType(
    {
        "friction": Parameter(0.5, "coefficient of friction; inf: contacts never slide"),
        "slip": Parameter(
            "trapezoidal",
            "how a spring that is too long returns to the cone; the last two: both it and the dashpot are made shorter, or it "
            "alone, and a contact that slides has no dashpot",
            choices=("trapezoidal", "radial", "radial of the sum", "radial without dashpot"),
        ),
    }
)
#: The choices of ``slip`` as numbers.
TRAPEZOIDAL, RADIAL, SUM, ALONE = 1.0, 0.0, -1.0, -2.0
SLIPS = dict(zip(PARAMETERS["slip"].choices, (TRAPEZOIDAL, RADIAL, SUM, ALONE), strict=True))
#: That of an incremental law.
INCREMENT = Parameter(
    "mean", "the stiffness in an increment: its mean over the step, or that at the end", choices=("mean", "end")
)


@kernel
def in_plane(v: Any, normal: Any) -> Any:
    """The part of a vector ``v`` in the plane across a unit vector ``normal``: (3,), in the unit of ``v``."""
    return axpy(-dot(v, normal), normal, v)


@kernel
def swing(v: Any, a: Any, b: Any) -> Any:
    """The vector ``v`` across the unit vector a, turned by the smallest rotation that takes a to the unit vector b.

    (3,), in the unit of ``v``.
    """
    return axpy(-dot(v, b) / (1.0 + dot(a, b)), add(a, b), v)


@kernel
def twirled(v: Any, axis: Any, angle: float) -> Any:
    """The vector ``v`` across a unit vector ``axis``, turned about it by a small angle (rad; to third order).

    (3,), of the length of ``v`` and in its unit.
    """
    return scale(1.0 / sqrt(1.0 + angle * angle), axpy(angle, cross(axis, v), v))


@kernel
def turn_to_middle(v: Any, touch: Touch) -> Any:
    """A tangential vector (3,) of the last step, carried along with the contact to the middle of this one; its unit stays."""
    return twirled(swing(v, touch.before, touch.middle), touch.middle, touch.twirl)


@kernel
def turn_to_end(v: Any, touch: Touch) -> Any:
    """A tangential vector (3,) of the middle of the step, carried along to its end; its unit stays."""
    return swing(twirled(v, touch.middle, touch.twirl_after), touch.middle, touch.normal)


@kernel
def returned(trial: Any, longest: float, before: Any, trapezoidal: bool) -> Any:
    """The stretch of the spring after sliding, (3,) in m: step 2 of the module's docstring.

    ``trial`` (3,) is the stretch with the increment, ``before`` (3,) without, both in m, and ``longest`` (m) the length L at
    which the contact slides; a shorter trial value stays. The return is radial unless it is to be ``trapezoidal`` and L + B . e
    is positive.
    """
    size = sqrt(dot(trial, trial))
    stretch = trial
    if size > longest:
        old = sqrt(dot(before, before))
        e = scale(1.0 / old, before) if old > 0.0 else scale(1.0 / size, trial)
        along = longest + dot(trial, e)
        if trapezoidal and along > 0.0:
            stretch = axpy(-0.5 * (size * size - longest * longest) / along, e, trial)
        size = sqrt(dot(stretch, stretch))
        stretch = scale(longest / size if size > 0.0 else 0.0, stretch)
    return stretch


@kernel
def share_left(elastic: Any, dashpot: Any, limit: float) -> float:
    """The largest part of the dashpot's force, from 0 to 1, with which the force of spring and dashpot stays within the limit.

    It is 0 if none does.

    ``elastic`` (3,) is the tangential force of the spring, ``dashpot`` (3,) the force of the whole dashpot, and ``limit`` the
    largest force that friction allows, in N.
    """
    both = add(elastic, dashpot)
    theta = 1.0
    if dot(both, both) > limit * limit:
        a, b, c = dot(dashpot, dashpot), dot(elastic, dashpot), dot(elastic, elastic) - limit * limit
        discriminant = b * b - a * c
        theta = (sqrt(discriminant if discriminant > 0.0 else 0.0) - b) / a if a > 0.0 else 0.0
        theta = theta if theta > 0.0 else 0.0
        theta = theta if theta < 1.0 else 1.0
    return theta


@kernel
def end(history: Any) -> Any:
    """What is dissipated after the last loads of a contact, and the energy of its spring, which the law takes: four numbers, J.

    They are ``work`` of :class:`polhode.manybody.law.Response`: of the normal and the tangential dashpot, of sliding (0), and
    of the law. ``history`` (10,) is what the contact keeps, see :data:`HISTORY`.
    """
    return (history[8], history[9], 0.0, 0.5 * history[3] * dot(history[:3], history[:3]))


def coulomb(normal: Any, stiffness: Any, damping: Any, incremental: bool) -> Callable[..., Any]:
    """The kernel ``contact(touch, history, constants) -> Response`` of a law with friction.

    :func:`with_friction` has the arguments. The first three of ``constants`` are the coefficient of friction, the number of the
    choice ``slip`` (:data:`SLIPS`), and 1 for the mean stiffness in an increment; those behind go to the three formulas.
    """

    @kernel
    def contact(touch: Touch, history: Any, constants: Any) -> Response:
        friction, slip, of_law = constants[0], constants[1], constants[3:]
        n, moved = touch.normal, touch.moved
        elastic, energy = normal(touch.overlap, touch.radius, of_law)
        c = damping(touch.overlap, touch.radius, touch.mass, of_law)
        pushing = elastic - c * dot(touch.velocity, n)
        pushing = pushing if pushing > 0.0 else 0.0
        limit = friction * pushing

        k = stiffness(touch.overlap, touch.radius, of_law)
        before_k = history[3] if history[3] > 0.0 else k
        before = turn_to_middle(history[:3], touch)
        before_force = scale(-before_k, turn_to_end(before, touch))
        share = touch.share
        if incremental:
            before = scale(before_k / k if k > 0.0 else 0.0, before)
            if constants[2] > 0.0 and k > 0.0:  # of a new contact k has risen as the root of the time
                share = share * (0.5 * (k + history[3]) / k if history[3] > 0.0 else 2 / 3)
        increment = scale(share, in_plane(moved, touch.middle))
        trial = turn_to_end(add(before, increment), touch)
        stretch = trial
        dashpot = scale(-c, in_plane(touch.velocity, n))
        if slip == SUM:
            both = axpy(-k, trial, dashpot)
            size = sqrt(dot(both, both))
            if size > limit:
                stretch = scale(-1.0 / k if k > 0.0 else 0.0, axpy(-1.0, dashpot, scale(limit / size, both)))
        else:
            stretch = returned(trial, limit / k if k > 0.0 else 0.0, turn_to_end(before, touch), slip == TRAPEZOIDAL)
        spring = scale(-k, stretch)
        if slip == ALONE:
            dashpot = scale(1.0 if k * k * dot(trial, trial) <= limit * limit else 0.0, dashpot)
        elif slip != SUM:
            dashpot = scale(share_left(spring, dashpot, limit), dashpot)
        force = axpy(pushing, n, add(spring, dashpot))

        before_dashpot = (history[5], history[6], history[7])
        half_normal, half_tangential = -0.5 * (pushing - elastic) * dot(n, moved), -0.5 * dot(dashpot, moved)
        by_normal = half_normal - 0.5 * history[4] * dot(touch.before, moved)
        by_tangential = half_tangential - 0.5 * dot(before_dashpot, moved)
        by_sliding = -0.5 * dot(add(before_force, spring), axpy(-1.0, stretch, trial))
        if incremental:
            squares = dot(before_force, before_force) + dot(spring, spring)
            by_law = 0.25 * squares * (1.0 / before_k - 1.0 / k) if k > 0.0 else 0.0
        else:
            by_law = -0.25 * (dot(history[:3], history[:3]) + dot(stretch, stretch)) * (k - before_k)
        return Response(
            force,
            (0.0, 0.0, 0.0),
            (*stretch, k, pushing - elastic, *dashpot, half_normal, half_tangential),
            (energy, 0.5 * k * dot(stretch, stretch)),
            (by_normal, by_tangential, by_sliding, by_law),
        )

    return contact


def with_friction(
    *,
    normal: Callable[..., Any],
    stiffness: Callable[..., Any],
    damping: Callable[..., Any],
    constants: Callable[..., tuple[float, ...]],
    parameters: Mapping[str, Parameter],
    incremental: bool = False,
    **declarations: Any,
) -> ForceLaw:
    """A law with Coulomb friction, made of three formulas.

    Parameters
    ----------
    normal : kernel (overlap, radius, constants) -> (force, energy): the elastic normal force, N, and its energy, J
    stiffness : kernel (overlap, radius, constants) -> stiffness of the tangential spring, N/m
    damping : kernel (overlap, radius, mass, constants) -> coefficient of both dashpots, kg/s
        Overlap and reduced radius R* are in m, the reduced mass m* in kg.
    constants, parameters : as for :class:`polhode.manybody.law.ForceLaw`; the parameters of friction are added. The kernels
        get what ``constants`` returns.
    incremental : whether the force of the spring, instead of its stretch, is kept when its stiffness changes
    declarations : ``key``, ``label``, ``source`` and ``onset``, as for :class:`polhode.manybody.law.ForceLaw`

    Raises
    ------
    TypeError, ValueError
        If a declaration is missing, has the wrong type or an impossible value.

    Notes
    -----
    The kernel ``contact`` of the law that is returned can be called by that of a law which adds to it, such as a couple:
    docs/example_force.py.
    """

    def all_constants(pair: Any, values: Mapping[str, Any]) -> tuple[float, ...]:
        friction = HOLDS if values["friction"] == inf else values["friction"]
        mean = float(values.get("increment") == "mean")
        return (friction, SLIPS[values["slip"]], mean, *constants(pair, values))

    return ForceLaw(
        conserves_energy=False,
        constants=all_constants,
        parameters={**PARAMETERS, **({"increment": INCREMENT} if incremental else {}), **parameters},
        contact=coulomb(normal, stiffness, damping, incremental),
        history=HISTORY,
        end=end,
        **declarations,
    )
