#!/usr/bin/env bash
# OpenMM: the temperature that LangevinMiddleIntegrator reports for rigid water.
# Guess: 64 rigid waters without any force have 300 K in a bath of 300 K, at every friction and step.
# What happens: 320.7 K at 100/ps and 4 fs, 303.0 K at 10/ps. Noise along the bonds that are held enters the velocities, and only half
# of it is taken off: with c = 1 - exp(-2 friction dt), the kinetic energy is too large by c/4 of kT/2 for each constraint. The
# centres of mass have 300 K.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q openmm==8.6.1 numpy
"$folder/env/bin/python" - <<'PYTHON'
import numpy as np
import openmm as mm
from openmm import unit

MASSES, NUMBER, DT = np.array([15.9994, 1.008, 1.008]), 64, 0.004
ARMS = np.array([[0, 0, 0], [0.0816495, 0.0577358, 0], [-0.0816495, 0.0577358, 0]])
BOLTZMANN = unit.MOLAR_GAS_CONSTANT_R.value_in_unit(unit.kilojoule_per_mole / unit.kelvin)


def temperatures(friction):
    """As State and app.StateDataReporter have it, and of the motion of the centres of mass, K; friction in 1/ps."""
    system = mm.System()
    for first in range(0, 3 * NUMBER, 3):
        for mass in MASSES:
            system.addParticle(mass)
        for a, b in ((0, 1), (0, 2), (1, 2)):
            system.addConstraint(first + a, first + b, float(np.linalg.norm(ARMS[a] - ARMS[b])))
    integrator = mm.LangevinMiddleIntegrator(300, friction, DT)
    integrator.setRandomNumberSeed(17)
    context = mm.Context(system, integrator, mm.Platform.getPlatformByName("Reference"))
    context.setPositions(np.concatenate([ARMS + [k, 0, 0] for k in range(NUMBER)]))
    context.setVelocitiesToTemperature(300, 5)
    integrator.step(1000)
    rows = []
    for _ in range(3000):
        integrator.step(max(1, round(0.5 / friction / DT)))
        state = context.getState(getEnergy=True, getVelocities=True)
        v = state.getVelocities(asNumpy=True)._value.reshape(NUMBER, 3, 3)
        centres = (MASSES[:, None] * v).sum(1) / MASSES.sum()
        rows.append([state.getKineticEnergy()._value / (6 * NUMBER), 0.5 * MASSES.sum() * (centres**2).sum() / (3 * NUMBER)])
    return 2 * np.mean(rows, axis=0) / BOLTZMANN


print("openmm", mm.version.short_version)
for friction in (10, 100):
    reported, centres = temperatures(friction)
    predicted = 300 * (1 + 0.5 * -np.expm1(-2 * friction * DT) / 4)
    print(f"friction {friction}/ps: reported {reported:.1f} K, predicted {predicted:.1f}; centres of mass {centres:.1f} K")
    assert abs(reported - predicted) < 2 and abs(centres - 300) < 2.5
assert reported > 315, "the temperature is right now"
PYTHON
