r"""The angular velocity predicted for the time of a torque, from the torques before it. No method of its own.

Half a step before the torque is needed a method holds an angular velocity :math:`\omega` and the last torque, which was
evaluated with :math:`\omega^*_{n-1}`. A half kick with the last torque gives a prediction :math:`e_n` that is wrong by
:math:`O(\Delta t^2)`: enough for second order. Under friction alone, at the rate k, it is the scheme of Adams and Bashforth,
stable for :math:`k\,\Delta t < 1`.

The change of the torque since the step before, per change of the angular velocity with which it was evaluated, measures that
rate (the secant of Barzilai and Borwein 1988, in the metric of the kinetic energy):

.. math::

   \kappa_{n-1} = \max\Bigl(0, -\frac{(M_{n-1} - M_{n-2}) \cdot \Delta\omega^*}{\Delta\omega^* \cdot I \Delta\omega^*}\Bigr),
   \qquad \Delta\omega^* = \omega^*_{n-1} - \omega^*_{n-2}

With the torque of this rate, :math:`M \approx M_{n-1} - \kappa_{n-1} I (\omega^*_n - \omega^*_{n-1})`, the half kick becomes
implicit and is solved by

.. math::

   \omega^*_n = \omega^*_{n-1} + \frac{e_n - \omega^*_{n-1}}{1 + \tfrac{\Delta t}{2} \kappa_{n-1}}

which lies between :math:`\omega^*_{n-1}` and :math:`e_n` whatever the secant is. Under friction at a single rate the secant is
that rate, and the scheme is the implicit midpoint rule, stable at every step. Only the omega handed to the torque changes.

For a centre of mass, force, mass and velocity take the places of torque, inertia and angular velocity.

All this is for friction that is a smooth function of the velocity, such as drag on the body, and only such friction was run
here. A contact with friction is another matter. Its tangential spring adds up displacements, for which the velocity in the
middle of the step is wanted, as a leapfrog holds it; only a dashpot is a function of the velocity of now. To hand a prediction
to both gains nothing, or loses: in a trial outside this study, a damped clump on a rough wall, up to a factor of 2.3.
"""

from math import sqrt
from typing import Any

from polhode.algebra.vector import axpy, dot
from polhode.compiling.kernel import kernel

#: A rate at which the prediction remains the last one to the last bit.
HOLD = 1e300


@kernel
def damped(explicit: Any, last: Any, rate: Any, dt: Any) -> Any:
    """The prediction (3,), rad/s in the body frame, between the explicit prediction and the last one, as friction at a rate
    demands.

    ``explicit`` and ``last`` (3,) are these two, ``rate`` is kappa in 1/s and ``dt`` the time step in s. Of a centre of mass
    all three are velocities (m/s, lab frame).
    """
    return axpy(1.0 / (1.0 + 0.5 * dt * rate), axpy(-1.0, last, explicit), last)


@kernel
def secant_rate(torque: Any, last_torque: Any, omega: Any, last_omega: Any, inertia: Any) -> Any:
    """The rate kappa, a float in 1/s, by which the torque opposes a change of the angular velocity; next to 0 if it does not.

    ``torque`` and ``last_torque`` (3,) in N m are those at ``omega`` and ``last_omega`` (3,), rad/s, all in the body frame;
    ``inertia`` begins with the three moments (kg m^2). Of a centre of mass these are forces (N), velocities (m/s) and three
    times the mass (kg), or accelerations, velocities and ones. Without a branch, since the many-body engine has faster steps
    for kernels without: two small numbers make 0/0 a rate of 5e-21/s, which has no effect. In SI units they are far below the
    squares of any changes that matter.
    """
    change = axpy(-1.0, last_omega, omega)
    work = dot(axpy(-1.0, torque, last_torque), change)
    energy = inertia[0] * change[0] * change[0] + inertia[1] * change[1] * change[1] + inertia[2] * change[2] * change[2]
    return 0.5 * (work + sqrt(work * work + 1e-300)) / (energy + 1e-130)
