r"""The energy that a splitting with exact free motion really conserves: its shadow Hamiltonian to the fourth order.

Half a kick, free motion, half a kick (:mod:`polhode.methods.exact_rotor` with the leapfrog of the centres) is, to within terms
of the fourth order of the step h, the exact motion with

.. math::

   \tilde H = H + h^2 \left( \tfrac{1}{12} \ddot V_\mathrm{free}
              - \tfrac{1}{24} \sum \left( \frac{F^2}{m} + M \cdot I^{-1} M \right) \right)

by the formula of Baker, Campbell and Hausdorff: the double brackets {T, {T, V}} and {V, {V, T}} are the second derivative of
the potential along the free motion of all molecules, and the squares of forces and torques. For a harmonic oscillator these
are the known factors 1 + h^2 Omega^2/6 of the kinetic and 1 - h^2 Omega^2/12 of the potential energy.
"""

from dataclasses import replace

import numpy as np

from polhode.manybody.fluid import Fluid
from polhode.manybody.placement import State
from polhode.manybody.simulation import run
from polhode.methods import METHODS
from polhode.methods.protocol import OneTorque

#: The method whose shadow this is.
METHOD = "exact_rotor"
#: Flights over which the second derivative is taken, and the step from rest that gives loads, in steps.
FLIGHT, BRIEF = 0.05, 1e-4


def shadow_terms(fluid: Fluid, motion: np.ndarray, dt: float) -> float:
    """What the shadow Hamiltonian has more than the energy, in the unit of energy of the fluid.

    Parameters
    ----------
    motion : array (molecules, 13)
        r, v, q and omega on a whole step.
    dt : float
        The step of the run.
    """
    state = State(motion[:, :3], motion[:, 3:6], motion[:, 6:10], motion[:, 10:])
    flight = FLIGHT * dt
    ends = [_free_flight(fluid, state, flight), _free_flight(fluid, replace(state, v=-state.v, omega=-state.omega), flight)]
    middle, (before, after) = _potential(fluid, state), (_potential(fluid, end) for end in ends)
    curvature = (before + after - 2 * middle) / flight**2
    return float(dt**2 * (curvature / 12 - _squares(fluid, state, BRIEF * dt) / 24) * fluid.units.energy)


def _method() -> OneTorque:
    method = METHODS[METHOD]
    assert isinstance(method, OneTorque)
    return method


def _free_flight(fluid: Fluid, state: State, duration: float) -> State:
    """Where all molecules are after a time without forces."""
    free = replace(fluid, law=fluid.force_law.with_parameters(cutoff=1e-9 * fluid.cutoff, inner=0.0))
    motion = run(free, _method(), duration, state, np.array([0, 1]), record=True)["motion"][1]
    return State(motion[:, :3], motion[:, 3:6], motion[:, 6:10], motion[:, 10:])


def _potential(fluid: Fluid, state: State) -> float:
    """In the unit of energy of the engine."""
    return float(run(fluid, _method(), fluid.usual_step, state, np.array([0]))["energies"][0, 1])


def _squares(fluid: Fluid, state: State, dt: float) -> float:
    """The sum of F^2/m and of M I^-1 M, from the velocities that a short step gives molecules at rest."""
    still = np.zeros_like(state.v)
    after = run(fluid, _method(), dt, replace(state, v=still, omega=still.copy()), np.array([0, 1]), record=True)["motion"][1]
    moments = np.array([molecule.body().inertia for molecule in fluid.every_molecule])
    forces = fluid.setup.masses[:, None] * after[:, 3:6] ** 2
    return float((forces.sum() + (moments * after[:, 10:] ** 2).sum()) / dt**2)
