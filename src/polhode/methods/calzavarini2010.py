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

from dataclasses import replace
from typing import Any

from polhode.body import angular_momentum, angular_velocity
from polhode.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.translation import LEAPFROG_EXTRAPOLATED, LEAPFROG_MEAN, Translation
from polhode.quaternion import derivative, increment, normalise, to_body, to_lab
from polhode.vector import axpy, scale


def _matrix(s13: float, s21: float, s32: float) -> tuple[Any, Any]:
    """The functions A(q) v and A(q)^T v, with these signs in A(1,3), A(2,1) and A(3,2) (Eq. 4); all are -1 in a rotation."""

    @kernel
    def entries(q: Any) -> Any:
        return (
            (q[0] * q[0] + q[1] * q[1] - q[2] * q[2] - q[3] * q[3]),
            2.0 * (q[1] * q[2] + q[0] * q[3]),
            2.0 * (q[1] * q[3] + s13 * q[0] * q[2]),
            2.0 * (q[1] * q[2] + s21 * q[0] * q[3]),
            (q[0] * q[0] - q[1] * q[1] + q[2] * q[2] - q[3] * q[3]),
            2.0 * (q[2] * q[3] + q[0] * q[1]),
            2.0 * (q[1] * q[3] + q[0] * q[2]),
            2.0 * (q[2] * q[3] + s32 * q[0] * q[1]),
            (q[0] * q[0] - q[1] * q[1] - q[2] * q[2] + q[3] * q[3]),
        )

    @kernel
    def product(q: Any, v: Any) -> Any:
        a = entries(q)
        return (
            a[0] * v[0] + a[1] * v[1] + a[2] * v[2],
            a[3] * v[0] + a[4] * v[1] + a[5] * v[2],
            a[6] * v[0] + a[7] * v[1] + a[8] * v[2],
        )

    @kernel
    def transposed(q: Any, v: Any) -> Any:
        a = entries(q)
        return (
            a[0] * v[0] + a[3] * v[1] + a[6] * v[2],
            a[1] * v[0] + a[4] * v[1] + a[7] * v[2],
            a[2] * v[0] + a[5] * v[1] + a[8] * v[2],
        )

    return product, transposed


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
    """
    into_body, into_lab = to_body, to_lab
    if a13 or a21 or a32:
        into_body, into_lab = _matrix(*(1.0 if printed else -1.0 for printed in (a13, a21, a32)))
    # Weights in the omega passed on: of omega half a step before, and of that one step earlier.
    late, early = (0.5, 0.5) if mean else (1.5, 0.5 if omega_sum else -0.5)
    translation = LEAPFROG_MEAN if mean else LEAPFROG_EXTRAPOLATED
    if velocity_sum or divided_twice:
        translation = _translation(divided_twice, velocity_sum)

    # The state: q(t); in the lab L(t - dt/2), omega(t - dt/2) and omega(t - 3dt/2); in the body frame omega(t - dt/2).

    @kernel
    def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
        momentum = to_lab(q, axpy(-0.5 * dt, torque, angular_momentum(omega, body)))
        half = normalise(increment(-0.5 * dt, derivative(q, omega), q))
        omega_half = angular_velocity(to_body(half, momentum), body)
        late_lab = to_lab(half, omega_half)
        # Chosen so that the extrapolation gives omega(0).
        early_lab = axpy(3.0, late_lab, scale(-2.0, to_lab(q, omega)))
        return q + momentum + late_lab + early_lab + omega_half

    @kernel
    def before_torque(state: Any, body: Any, dt: Any) -> Any:
        q = state[:4]
        omega = axpy(late, state[7:10], scale(early, state[10:13]))  # Eq. 10, or 8
        return state, q, to_body(q, omega)

    @kernel
    def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        q, momentum, late_lab = state[:4], state[4:7], state[7:10]
        torque_lab = to_lab(q, torque)
        omega = angular_velocity(into_body(q, axpy(0.5 * dt, torque_lab, momentum)), body)  # Eq. 5
        half = increment(0.5 * dt, derivative(q, omega), q)  # Eq. 6
        half = normalise(half) if normalise_half else half
        momentum = axpy(dt, torque_lab, momentum)
        omega_half = angular_velocity(into_body(half, momentum), body)
        new_lab = into_lab(half, omega if old_omega else omega_half)
        return increment(dt, derivative(half, omega_half), q) + momentum + new_lab + late_lab + omega_half

    @kernel
    def read(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        q, momentum = state[:4], state[4:7]
        return q, angular_velocity(into_body(q, axpy(0.5 * dt, to_lab(q, torque), momentum)), body)

    @kernel
    def stored(state: Any, body: Any, dt: Any) -> Any:
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
