r"""Calzavarini's leapfrog: Calzavarini (2010), Sec. II and III, with the misprints of the note corrected.

The angular momentum advances in the lab frame by a leapfrog; a quaternion predicted at the half step and normalised turns it
into the body frame. Apart from the normalisation this is Fincham's explicit leapfrog (``fincham1992``). The new element of the
note is Sec. III: the torque is evaluated with omega extrapolated in the lab frame to the time of the torque, which keeps the
second order under friction.

As printed, the scheme does not converge. :data:`VARIANTS` lists the misprints, and :func:`scheme` restores them.

.. math::

   \omega^{\mathrm{lab}}_n &= \tfrac12 (3\, \omega^{\mathrm{lab}}_{n-1/2} - \omega^{\mathrm{lab}}_{n-3/2})
   \quad \text{for the torque} \\
   L_{n+1/2} &= L_{n-1/2} + \Delta t\, R(q_n) M_n \\
   \omega_n &= I^{-1} R(q_n)^T (L_{n-1/2} + \tfrac{\Delta t}{2} R(q_n) M_n) \\
   q_{n+1/2} &= \frac{q_n + \tfrac{\Delta t}{2}\, \dot q(q_n, \omega_n)}
   {|q_n + \tfrac{\Delta t}{2}\, \dot q(q_n, \omega_n)|} \\
   \omega_{n+1/2} &= I^{-1} R(q_{n+1/2})^T L_{n+1/2} \\
   q_{n+1} &= q_n + \Delta t\, \dot q(q_{n+1/2}, \omega_{n+1/2})
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from polhode.algebra.body import angular_momentum, angular_velocity
from polhode.algebra.quaternion import derivative, increment, normalise, to_body, to_lab
from polhode.algebra.vector import axpy, scale
from polhode.compiling.kernel import kernel
from polhode.methods.numbered import NumberedOneTorque, numbered
from polhode.methods.protocol import OneTorque
from polhode.methods.translation import LEAPFROG_EXTRAPOLATED, LEAPFROG_MEAN, Translation


class _Choices(NamedTuple):
    """What differs between the scheme as meant and as printed: kernels, which take the numbers of the body last."""

    #: (q, v, body) -> v in the body frame, and in the lab, in the scheme itself.
    into_body: Callable[..., Any]
    into_lab: Callable[..., Any]
    #: body -> the weights, in the omega passed on, of omega half a step before and of that one step earlier.
    weights: Callable[..., Any]
    #: (omega, omega_half, body) -> the body angular velocity that is turned into the lab.
    turned: Callable[..., Any]
    #: (half, body) -> the half-step quaternion as it is used.
    used: Callable[..., Any]


@kernel
def _into_body(q: Any, v: Any, body: Any) -> Any:
    return to_body(q, v)


@kernel
def _into_lab(q: Any, v: Any, body: Any) -> Any:
    return to_lab(q, v)


@kernel
def _extrapolated(body: Any) -> Any:
    return 1.5, -0.5


@kernel
def _averaged(body: Any) -> Any:
    return 0.5, 0.5


@kernel
def _omega_half(omega: Any, omega_half: Any, body: Any) -> Any:
    return omega_half


@kernel
def _unit(half: Any, body: Any) -> Any:
    return normalise(half)


_MEANT = _Choices(_into_body, _into_lab, _extrapolated, _omega_half, _unit)

# As printed, by the numbers of the method: the signs in A(1,3), A(2,1) and A(3,2) (Eq. 4), all of which are -1 in a rotation;
# whether any of them is not; the weights of both omegas; whether the old omega is turned; whether the half-step quaternion is
# normalised.
_S13, _S21, _S32, _NO_ROTATION, _LATE, _EARLY, _OLD, _UNIT = range(9, 17)


@kernel
def _matrix(q: Any, body: Any) -> Any:
    """The matrix A(q), row by row."""
    return (
        (q[0] * q[0] + q[1] * q[1] - q[2] * q[2] - q[3] * q[3]),
        2.0 * (q[1] * q[2] + q[0] * q[3]),
        2.0 * (q[1] * q[3] + body[_S13] * q[0] * q[2]),
        2.0 * (q[1] * q[2] + body[_S21] * q[0] * q[3]),
        (q[0] * q[0] - q[1] * q[1] + q[2] * q[2] - q[3] * q[3]),
        2.0 * (q[2] * q[3] + q[0] * q[1]),
        2.0 * (q[1] * q[3] + q[0] * q[2]),
        2.0 * (q[2] * q[3] + body[_S32] * q[0] * q[1]),
        (q[0] * q[0] - q[1] * q[1] - q[2] * q[2] + q[3] * q[3]),
    )


@kernel
def _into_body_printed(q: Any, v: Any, body: Any) -> Any:
    if body[_NO_ROTATION] == 0.0:
        turned = to_body(q, v)
    else:
        a = _matrix(q, body)
        turned = (
            a[0] * v[0] + a[1] * v[1] + a[2] * v[2],
            a[3] * v[0] + a[4] * v[1] + a[5] * v[2],
            a[6] * v[0] + a[7] * v[1] + a[8] * v[2],
        )
    return turned


@kernel
def _into_lab_printed(q: Any, v: Any, body: Any) -> Any:
    if body[_NO_ROTATION] == 0.0:
        turned = to_lab(q, v)
    else:
        a = _matrix(q, body)
        turned = (
            a[0] * v[0] + a[3] * v[1] + a[6] * v[2],
            a[1] * v[0] + a[4] * v[1] + a[7] * v[2],
            a[2] * v[0] + a[5] * v[1] + a[8] * v[2],
        )
    return turned


@kernel
def _weights_printed(body: Any) -> Any:
    return body[_LATE], body[_EARLY]


@kernel
def _turned_printed(omega: Any, omega_half: Any, body: Any) -> Any:
    return omega_half if body[_OLD] == 0.0 else omega


@kernel
def _used_printed(half: Any, body: Any) -> Any:
    return half if body[_UNIT] == 0.0 else normalise(half)


_PRINTED = _Choices(_into_body_printed, _into_lab_printed, _weights_printed, _turned_printed, _used_printed)


def _translation(divided_twice: bool, added: bool) -> Translation:
    """The leapfrog of the centre of mass with the misprints of Eq. 1 (a/m) and Eq. 9 (3a + b)."""
    corrected = LEAPFROG_EXTRAPOLATED
    after, sign = corrected.after_force, 0.5 if added else -0.5

    @kernel
    def before_force(state: Any, mass: Any, dt: Any) -> Any:
        return state, state[:3], axpy(1.5, state[3:6], scale(sign, state[6:9]))

    @kernel
    def after_force(state: Any, force: Any, mass: Any, dt: Any) -> Any:
        return after(state, force, mass * mass, dt)

    return replace(
        corrected,
        name="leapfrog as printed",
        source="Calzavarini (2010), Eqs. 1, 2, 9",
        before_force=before_force if added else corrected.before_force,
        after_force=after_force if divided_twice else after,
    )


#: The misprints of the note: name -> (printed and intended form, place, arguments of :func:`scheme`).
VARIANTS: dict[str, tuple[str, str, dict[str, bool]]] = {
    "corrected": ("all misprints corrected", "Eqs. 1-10", {}),
    "a13": ("A(1,3) = 2(q1 q3 + q0 q2), meant 2(q1 q3 - q0 q2)", "Eq. 4", {"a13": True}),
    "a21": ("A(2,1) = 2(q1 q2 + q0 q3), meant 2(q1 q2 - q0 q3)", "Eq. 4", {"a21": True}),
    "a32": ("A(3,2) = 2(q2 q3 + q0 q1), meant 2(q2 q3 - q0 q1)", "Eq. 4", {"a32": True}),
    "matrix": ("A symmetric, no rotation: all three signs", "Eq. 4", {"a13": True, "a21": True, "a32": True}),
    "old_omega": (
        "omega(t + dt/2) = A^T(t + dt/2) omega^b(t), meant omega^b(t + dt/2)",
        "Sec. II, second part",
        {"old_omega": True},
    ),
    "omega_sum": ("omega(t + dt) = (3a + b)/2, meant (3a - b)/2", "Eq. 10", {"omega_sum": True}),
    "velocity_sum": ("v(t + dt) = (3a + b)/2, meant (3a - b)/2", "Eq. 9", {"velocity_sum": True}),
    "divided_twice": ("v(t + dt/2) = v(t - dt/2) + a dt/m with a called an acceleration", "Eq. 1", {"divided_twice": True}),
    "as_printed": (
        "all of them",
        "Eqs. 1-10",
        dict.fromkeys(("a13", "a21", "a32", "old_omega", "omega_sum", "velocity_sum", "divided_twice"), True),
    ),
}


def scheme(
    *,
    a13: bool = False,
    a21: bool = False,
    a32: bool = False,
    old_omega: bool = False,
    omega_sum: bool = False,
    velocity_sum: bool = False,
    divided_twice: bool = False,
    mean: bool = False,
    normalise_half: bool = True,
) -> OneTorque:
    """The scheme of the note, corrected or with misprints restored; not registered.

    The misprints are those of the scheme itself. Everything outside it is always correct: the start of the first step, and the
    change of frame of torque and omega between the scheme and the problem.

    Parameters
    ----------
    a13, a21, a32, old_omega, omega_sum, velocity_sum, divided_twice : bool
        Restore this misprint; see :data:`VARIANTS`.
    mean : bool
        Pass on the means of Eqs. 7 and 8, which lag by one step, instead of the extrapolations of Eqs. 9 and 10.
    normalise_half : bool
        Normalise the half-step quaternion too, as in the note.

    Returns
    -------
    The method, with the key and the declarations of the corrected scheme.
    """
    translation = LEAPFROG_MEAN if mean else LEAPFROG_EXTRAPOLATED
    if normalise_half and not any((a13, a21, a32, old_omega, omega_sum, velocity_sum, divided_twice)):
        return _scheme(_MEANT._replace(weights=_averaged) if mean else _MEANT, translation)
    if velocity_sum or divided_twice:
        translation = _translation(divided_twice, velocity_sum)
    signs = [1.0 if printed else -1.0 for printed in (a13, a21, a32)]
    late, early = (0.5, 0.5) if mean else (1.5, 0.5 if omega_sum else -0.5)
    return _printed().with_numbers(*signs, a13 or a21 or a32, late, early, old_omega, normalise_half, translation=translation)


@cache
def _printed() -> NumberedOneTorque:
    """The scheme with its misprints as numbers, to be set: one compilation serves all of them."""
    return numbered(_scheme(_PRINTED, LEAPFROG_EXTRAPOLATED), -1.0, -1.0, -1.0, 0.0, 1.5, -0.5, 0.0, 1.0)


def _scheme(choices: _Choices, translation: Translation) -> OneTorque:
    """The scheme with these choices."""
    into_body, into_lab, weights, turned, used = choices

    # The state: q(t); in the lab L(t - dt/2), omega(t - dt/2) and omega(t - 3dt/2); in the body frame omega(t - dt/2).

    @kernel
    def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
        """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
        momentum = to_lab(q, axpy(-0.5 * dt, torque, angular_momentum(omega, body)))
        half = normalise(increment(-0.5 * dt, derivative(q, omega), q))
        omega_half = angular_velocity(to_body(half, momentum), body)
        late_lab = to_lab(half, omega_half)
        # Chosen so that the extrapolation gives omega(0).
        early_lab = axpy(3.0, late_lab, scale(-2.0, to_lab(q, omega)))
        return q + momentum + late_lab + early_lab + omega_half

    @kernel
    def before_torque(state: Any, body: Any, dt: Any) -> Any:
        """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
        q = state[:4]
        late, early = weights(body)
        omega = axpy(late, state[7:10], scale(early, state[10:13]))  # Eq. 10, or 8
        return state, q, to_body(q, omega)

    @kernel
    def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
        q, momentum, late_lab = state[:4], state[4:7], state[7:10]
        torque_lab = to_lab(q, torque)
        omega = angular_velocity(into_body(q, axpy(0.5 * dt, torque_lab, momentum), body), body)  # Eq. 5
        half = used(increment(0.5 * dt, derivative(q, omega), q), body)  # Eq. 6
        momentum = axpy(dt, torque_lab, momentum)
        omega_half = angular_velocity(into_body(half, momentum, body), body)
        new_lab = into_lab(half, turned(omega, omega_half, body), body)
        return increment(dt, derivative(half, omega_half), q) + momentum + new_lab + late_lab + omega_half

    @kernel
    def read(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        """The q (body to lab) and omega (rad/s, body frame) at the whole time, from the state and the torque (N m) there."""
        q, momentum = state[:4], state[4:7]
        return q, angular_velocity(into_body(q, axpy(0.5 * dt, to_lab(q, torque), momentum), body), body)

    @kernel
    def stored(state: Any, body: Any, dt: Any) -> Any:
        """The angular velocity (3,) that the method holds, half a step before q, in rad/s, body frame."""
        return state[13:16]

    return OneTorque(
        key="calzavarini2010",
        label="Calzavarini",
        group="leapfrogs of the angular momentum",
        rank=2,
        omega_handed="extrapolated (Eq. 10)",
        source="Calzavarini (2010), Eqs. 3-6 and 10, corrected",
        citation="calzavarini2010",
        order_q=2,
        order_omega=2,
        starts="half a kick back: L(-dt/2) = L(0) - dt/2 M(0); omega extrapolates to omega(0)",
        reads="half a kick of L with the torque at the whole time",
        reconstruction="The start, which the note leaves open.",
        normalises=True,
        momentum_frame="lab",
        start=start,
        before_torque=before_torque,
        after_torque=after_torque,
        read=read,
        stored=stored,
        stored_offset=-0.5,
        translation=translation,
    )


METHOD = scheme()
