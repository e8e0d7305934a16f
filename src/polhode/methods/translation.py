"""Motion of a centre of mass alongside a rotation, split in the same way at the single evaluation of forces and torques.

A scheme is four kernels on tuples of floats, like those of a rotation (:mod:`polhode.methods.protocol`), all in the lab frame:

``start(r, v, force, mass, dt) -> state``
    The state from which the first step begins, given position (m), velocity (m/s) and force (N) at the same time.
``before_force(state, mass, dt) -> (state, r, v)``
    The first part of a step, and the position and velocity at which the loads are needed.
``after_force(state, force, mass, dt) -> state``
    The rest of the step.
``read(state, force, mass, dt) -> (r, v)``
    Position and velocity at the whole time, with the force there if the loads are needed at the beginning of a step.

The scheme for a method follows from the time at which it needs the torque, unless its source specifies its own.

Vectors are (3,) in the lab frame: r in m, v in m/s, forces in N and accelerations in m/s^2; ``mass`` is in kg and the
time step ``dt`` in s. A state is a flat tuple of floats. It begins with r and v; what is behind them depends on the scheme, by
the first words of the names of its kernels:

* ``leapfrog``: nothing; v belongs to half a step before;
* ``two_velocities``, ``mean``, ``extrapolated``: a second v, a step older than the first, which is half a step old;
* ``last_force``: the last force; v belongs to half a step before;
* ``secant``: the last force, the v with which it was evaluated, the rate of the secant (1/s), and the v for the force of now;
  the first v belongs to half a step before;
* ``midpoint``: nothing;
* ``predicted``: the last acceleration, and the v predicted for the force of now;
* ``verlet``, ``verlet_predicted``: the last acceleration;
* ``verlet_secant``, ``midpoint_secant``: the last acceleration, the v with which it was evaluated, the rate of the secant
  (1/s), and the v for the force of now;
* ``pcdm``: the last acceleration, and the v predicted for the whole time; the first v is half a step ahead;
* ``adams``: the memory of the forces, 14 floats (:mod:`polhode.methods.backward_differences`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from polhode.algebra.vector import axpy, scale
from polhode.compiling.kernel import kernel
from polhode.methods.backward_differences import NOTHING, continued
from polhode.methods.predictor import HOLD, damped, secant_rate


@dataclass(frozen=True)
class Translation:
    """A scheme for the centre of mass: its name, its source, and four kernels, see the module's docstring."""

    name: str
    source: str
    start: Callable[..., Any] = field(repr=False)
    before_force: Callable[..., Any] = field(repr=False)
    after_force: Callable[..., Any] = field(repr=False)
    read: Callable[..., Any] = field(repr=False)


# Leapfrog: r at whole, v at half steps; loads at the beginning of a step.


@kernel
def leapfrog_start(r: Any, v: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The state (six floats) before the first step, from position (m), velocity (m/s) and force (N), lab frame."""
    return r + axpy(-0.5 * dt / mass, force, v)


@kernel
def leapfrog_before(state: Any, mass: Any, dt: Any) -> Any:
    """The first part of a step: the state, and for the force the position (m) and the velocity (m/s) of the state."""
    return state, state[:3], state[3:6]


@kernel
def leapfrog_after(state: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state, from the force (N) and the mass (kg)."""
    v = axpy(dt / mass, force, state[3:6])
    return axpy(dt, v, state[:3]) + v


@kernel
def leapfrog_read(state: Any, force: Any, mass: Any, dt: Any) -> Any:
    """Position (m) and velocity (m/s) at the whole time, from the state and the force (N) then."""
    return state[:3], axpy(0.5 * dt / mass, force, state[3:6])


LEAPFROG = Translation(
    "leapfrog",
    "Hockney and Eastwood (1988); the v of loads is half a step old",
    leapfrog_start,
    leapfrog_before,
    leapfrog_after,
    leapfrog_read,
)

# This leapfrog, storing the previous step's velocity for velocity-dependent loads: Calzavarini (2010), Eqs. 1, 2, 7, 9.


@kernel
def two_velocities_start(r: Any, v: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The state (nine floats) before the first step, from position (m), velocity (m/s) and force (N), lab frame."""
    return r + axpy(-0.5 * dt / mass, force, v) + axpy(-1.5 * dt / mass, force, v)


@kernel
def mean_before(state: Any, mass: Any, dt: Any) -> Any:
    """The first part of a step: the state, and for the force the position (m) and the mean of the two velocities (m/s)."""
    return state, state[:3], scale(0.5, (state[3] + state[6], state[4] + state[7], state[5] + state[8]))


@kernel
def extrapolated_before(state: Any, mass: Any, dt: Any) -> Any:
    """The first part of a step: the state, and for the force the position (m) and an extrapolated velocity (m/s)."""
    return state, state[:3], axpy(1.5, state[3:6], scale(-0.5, state[6:9]))


@kernel
def two_velocities_after(state: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state, from the force (N) and the mass (kg)."""
    v = axpy(dt / mass, force, state[3:6])
    return axpy(dt, v, state[:3]) + v + state[3:6]


LEAPFROG_MEAN = Translation(
    "leapfrog, mean velocity",
    "Calzavarini (2010), Eqs. 1, 2, 7, with F/m for a/m",
    two_velocities_start,
    mean_before,
    two_velocities_after,
    leapfrog_read,
)
LEAPFROG_EXTRAPOLATED = Translation(
    "leapfrog, extrapolated velocity",
    "Calzavarini (2010), Eqs. 1, 2, 9, with F/m for a/m and (3a - b)/2",
    two_velocities_start,
    extrapolated_before,
    two_velocities_after,
    leapfrog_read,
)

# This leapfrog with a velocity predicted for the time of the loads, with the last force and with the last secant.


@kernel
def last_force_start(r: Any, v: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The state (nine floats) before the first step, from position (m), velocity (m/s) and force (N), lab frame."""
    return leapfrog_start(r, v, force, mass, dt) + force


@kernel
def last_force_before(state: Any, mass: Any, dt: Any) -> Any:
    """The first part of a step: the state, and for the force the position (m) and a velocity (m/s) by the last force."""
    return state, state[:3], axpy(0.5 * dt / mass, state[6:9], state[3:6])


@kernel
def last_force_after(state: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state, from the force (N) and the mass (kg)."""
    return leapfrog_after(state, force, mass, dt) + force


@kernel
def secant_start(r: Any, v: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The state (16 floats) before the first step, from position (m), velocity (m/s) and force (N), lab frame."""
    return leapfrog_start(r, v, force, mass, dt) + force + v + (HOLD,) + v


@kernel
def secant_before(state: Any, mass: Any, dt: Any) -> Any:
    """The first part of a step: the state, and for the force the position (m) and a velocity (m/s) predicted by the secant."""
    predicted = damped(axpy(0.5 * dt / mass, state[6:9], state[3:6]), state[9:12], state[12], dt)
    return state[:13] + predicted, state[:3], predicted


@kernel
def secant_after(state: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state, from the force (N) and the mass (kg)."""
    predicted = state[13:16]
    rate = secant_rate(force, state[6:9], predicted, state[9:12], (mass, mass, mass))
    return leapfrog_after(state, force, mass, dt) + force + predicted + (rate,) + predicted


LEAPFROG_PREDICTED = Translation(
    "leapfrog, velocity predicted by the last force",
    "this work, as for the orientation in spiral_predicted_last",
    last_force_start,
    last_force_before,
    last_force_after,
    leapfrog_read,
)
LEAPFROG_SECANT = Translation(
    "leapfrog, velocity predicted by a secant",
    "this work, as for the orientation in spiral_predicted",
    secant_start,
    secant_before,
    secant_after,
    leapfrog_read,
)

# Drift, kick, drift: loads in the middle of a step.


@kernel
def midpoint_start(r: Any, v: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The state (six floats) before the first step: position (m) and velocity (m/s), lab frame; the force is not read."""
    return r + v


@kernel
def midpoint_before(state: Any, mass: Any, dt: Any) -> Any:
    """The first part of a step: the state, and for the force the position (m) in mid-step and the velocity (m/s)."""
    r, v = axpy(0.5 * dt, state[3:6], state[:3]), state[3:6]
    return r + v, r, v


@kernel
def midpoint_after(state: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state, from the force (N) and the mass (kg)."""
    v = axpy(dt / mass, force, state[3:6])
    return axpy(0.5 * dt, v, state[:3]) + v


@kernel
def midpoint_read(state: Any, force: Any, mass: Any, dt: Any) -> Any:
    """Position (m) and velocity (m/s) at the whole time, from the state, which begins with them; the force is not used."""
    return state[:3], state[3:6]


MIDPOINT = Translation(
    "drift, kick, drift",
    "position Verlet: Tuckerman, Berne and Martyna (1992)",
    midpoint_start,
    midpoint_before,
    midpoint_after,
    midpoint_read,
)

# The explicit midpoint rule with the last acceleration in its predictor, as original PCDM treats the orientation.


@kernel
def predicted_start(r: Any, v: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The state (12 floats) before the first step, from position (m), velocity (m/s) and force (N), lab frame."""
    return r + v + scale(1.0 / mass, force) + v


@kernel
def predicted_before(state: Any, mass: Any, dt: Any) -> Any:
    """The first part of a step: the state, and for the force the position (m) and a velocity (m/s) by the last acceleration."""
    half = axpy(0.5 * dt, state[6:9], state[3:6])
    return state[:9] + half, axpy(0.5 * dt, state[3:6], state[:3]), half


@kernel
def predicted_after(state: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state, from the force (N) and the mass (kg)."""
    acceleration = scale(1.0 / mass, force)
    return axpy(dt, state[9:12], state[:3]) + axpy(dt, acceleration, state[3:6]) + acceleration + state[9:12]


MIDPOINT_PREDICTED = Translation(
    "midpoint with a predicted velocity",
    "as Zhao and van Wachem (2013) treat the orientation; our reading, they do not print it",
    predicted_start,
    predicted_before,
    predicted_after,
    midpoint_read,
)

# Kick, drift, kick: loads at the end of a step.


@kernel
def verlet_start(r: Any, v: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The state (nine floats) before the first step, from position (m), velocity (m/s) and force (N), lab frame."""
    return r + v + scale(1.0 / mass, force)


@kernel
def verlet_before(state: Any, mass: Any, dt: Any) -> Any:
    """The first part of a step: the state, and for the force the position (m) and the half-step velocity (m/s)."""
    v = axpy(0.5 * dt, state[6:9], state[3:6])
    r = axpy(dt, v, state[:3])
    return r + v + state[6:9], r, v


@kernel
def verlet_after(state: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state, from the force (N) and the mass (kg)."""
    acceleration = scale(1.0 / mass, force)
    return state[:3] + axpy(0.5 * dt, acceleration, state[3:6]) + acceleration


VERLET = Translation(
    "kick, drift, kick",
    "velocity Verlet: Swope et al. (1982)",
    verlet_start,
    verlet_before,
    verlet_after,
    midpoint_read,
)

# Velocity Verlet with a velocity predicted for the end of the step.


@kernel
def verlet_secant_start(r: Any, v: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The state (16 floats) before the first step, from position (m), velocity (m/s) and force (N), lab frame."""
    return verlet_start(r, v, force, mass, dt) + v + (0.0,) + v


@kernel
def verlet_secant_before(state: Any, mass: Any, dt: Any) -> Any:
    """The first part of a step: the state, and for the force the position (m) and a velocity (m/s) predicted by the secant."""
    moved, r, v = verlet_before(state, mass, dt)
    predicted = damped(axpy(0.5 * dt, state[6:9], v), state[9:12], state[12], dt)
    return moved + state[9:13] + predicted, r, predicted


@kernel
def verlet_secant_after(state: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state, from the force (N) and the mass (kg)."""
    predicted = state[13:16]
    moved = verlet_after(state, force, mass, dt)
    rate = secant_rate(moved[6:9], state[6:9], predicted, state[9:12], (1.0, 1.0, 1.0))
    return moved + predicted + (rate,) + predicted


VERLET_SECANT = Translation(
    "kick, drift, kick, velocity predicted by a secant",
    "this work, as for the orientation in spiral_kdk",
    verlet_secant_start,
    verlet_secant_before,
    verlet_secant_after,
    midpoint_read,
)

# Drift, kick, drift with a velocity predicted for the middle of the step; it starts as velocity Verlet does.


@kernel
def midpoint_secant_before(state: Any, mass: Any, dt: Any) -> Any:
    """The first part of a step: the state, and for the force the position (m) and a velocity (m/s) predicted by the secant."""
    v = state[3:6]
    r = axpy(0.5 * dt, v, state[:3])
    predicted = damped(axpy(0.5 * dt, state[6:9], v), state[9:12], state[12], dt)
    return r + state[3:13] + predicted, r, predicted


@kernel
def midpoint_secant_after(state: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state, from the force (N) and the mass (kg)."""
    acceleration, predicted = scale(1.0 / mass, force), state[13:16]
    v = axpy(dt, acceleration, state[3:6])
    rate = secant_rate(acceleration, state[6:9], predicted, state[9:12], (1.0, 1.0, 1.0))
    return axpy(0.5 * dt, v, state[:3]) + v + acceleration + predicted + (rate,) + predicted


MIDPOINT_SECANT = Translation(
    "drift, kick, drift, velocity predicted by a secant",
    "this work, as for the orientation in spiral_dkd",
    verlet_secant_start,
    midpoint_secant_before,
    midpoint_secant_after,
    midpoint_read,
)

# Improved PCDM: r at whole steps, v at half steps; loads at the end of a step, with a velocity predicted there.


@kernel
def pcdm_start(r: Any, v: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The state (12 floats) before the first step, from position (m), velocity (m/s) and force (N), lab frame."""
    acceleration = scale(1.0 / mass, force)
    return r + axpy(0.5 * dt, acceleration, v) + acceleration + v


@kernel
def pcdm_before(state: Any, mass: Any, dt: Any) -> Any:
    """The first part of a step: the state, and for the force the position (m) and a velocity (m/s) by the last acceleration."""
    half, acceleration = state[3:6], state[6:9]
    r = axpy(dt, half, state[:3])  # step 1
    v = axpy(0.5 * dt, acceleration, half)  # step 2a
    return r + half + acceleration + v, r, v


@kernel
def pcdm_after(state: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state, from the force (N) and the mass (kg)."""
    acceleration = scale(1.0 / mass, force)
    return state[:3] + axpy(dt, acceleration, state[3:6]) + acceleration + state[9:12]  # step 4


@kernel
def pcdm_read(state: Any, force: Any, mass: Any, dt: Any) -> Any:
    """Position (m) and velocity (m/s) at the whole time, from the state; the force is not used."""
    return state[:3], state[9:12]


PCDM = Translation(
    "improved PCDM",
    "Seelen et al. (2016), Sec. 2.2, steps 1, 2a and 4",
    pcdm_start,
    pcdm_before,
    pcdm_after,
    pcdm_read,
)

# Force extrapolated from those of earlier steps, as Magnus-Adams extrapolates the torque; r and v at whole times.


@kernel
def adams_start(r: Any, v: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The state (20 floats) before the first step: position (m), velocity (m/s), lab frame, and the memory, empty.

    The force is not read.
    """
    return r + v + NOTHING


@kernel
def adams_after(state: Any, force: Any, mass: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state, from the force (N) and the mass (kg)."""
    first, second, third, _end, memory = continued(state[6:20], force)
    # The cubic integrated once and twice over the step.
    v = axpy(3 / 8, third, axpy(5 / 12, second, axpy(1 / 2, first, force)))
    r = axpy(19 / 180, third, axpy(1 / 8, second, axpy(1 / 6, first, scale(1 / 2, force))))
    r = axpy(dt * dt / mass, r, axpy(dt, state[3:6], state[:3]))
    return r + axpy(dt / mass, v, state[3:6]) + memory


ADAMS = Translation(
    "Adams, cubic",
    "Adams-Bashforth 4; this work",
    adams_start,
    leapfrog_before,
    adams_after,
    midpoint_read,
)

# Velocity Verlet with the last force predicting the velocity at the end of the step.


@kernel
def verlet_predicted_before(state: Any, mass: Any, dt: Any) -> Any:
    """The first part of a step: the state, and for the force the position (m) and a velocity (m/s) by the last force."""
    state, r, v = verlet_before(state, mass, dt)
    return state, r, axpy(0.5 * dt, state[6:9], v)


VERLET_PREDICTED = Translation(
    "kick, drift, kick, velocity predicted by the last force",
    "this work, as for the orientation in exact_rotor",
    verlet_start,
    verlet_predicted_before,
    verlet_after,
    midpoint_read,
)

#: The default scheme of a method, by the time at which it needs the torque, in steps from the beginning of a step.
BY_TORQUE_TIME: dict[float, Translation] = {0.0: LEAPFROG, 0.5: MIDPOINT, 1.0: VERLET}
