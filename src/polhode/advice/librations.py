"""The fastest libration of a molecule in a file, measured in a small liquid of such molecules as it was measured in water."""

from math import pi
from pathlib import Path

import numpy as np

from polhode.advice.errors import AdviceError, checked
from polhode.fits.baths import TEMPERATURE
from polhode.fits.liquid_drifts import fastest_of, power_spectrum
from polhode.interface.arguments import positive
from polhode.manybody.fluid import Fluid
from polhode.manybody.forces import FORCES
from polhode.manybody.molecule import Molecule
from polhode.manybody.simulation import simulate_arrays

#: Molecules of the liquid, its density unless another is given (g/cm^3), and g/mol in a cubic angstrom of it.
COUNT, DENSITY, PER_VOLUME = 64, 1.0, 0.602214076
#: The cut-off over the box and the onset of the end of the forces over the cut-off, as of water64.
CUTOFF, ONSET = 0.498, 4.5 / 6.2
#: How the liquid is made: durations and steps of its runs in fs, the first from a lattice; then the runs that are looked at:
#: starts, duration and step, steps between two samples, and samples of a segment of the spectrum.
MADE = ((50.0, 0.05), (1000.0, 0.25), (10_000.0, 1.0))
STARTS, DURATION, STEP, BETWEEN, SEGMENT, METHOD = 2, 5000.0, 0.5, 4, 1024, "exact_rotor"


def liquid_of(molecule: Molecule, density: float = DENSITY) -> Fluid:
    """A liquid of :data:`COUNT` of these molecules, with the density in g/cm^3."""
    box = (COUNT * molecule.mass / PER_VOLUME / density) ** (1 / 3)
    law = FORCES["shifted_power"].with_parameters(inner=CUTOFF * ONSET * box, cutoff=CUTOFF * box)
    return Fluid(
        key=molecule.key,
        label=molecule.label,
        molecules=((molecule, COUNT),),
        box=box,
        temperature=TEMPERATURE,
        horizon=DURATION,
        law=law,
    )


def fastest_period(molecule: Molecule, density: float = DENSITY) -> float:
    """The period of the fastest libration of a molecule in fs: 99 % of the spectrum lie below its frequency.

    The spectrum of the kinetic energy of rotation is the one of :func:`liquid_of` with this ``density`` (g/cm^3).
    """
    fluid = liquid_of(molecule, density)
    state = fluid.initial_state(0)
    for duration, dt in MADE:
        state = fluid.equilibrated(duration, dt, state=state)
    moments, spectra, frequency = np.tile(molecule.inertia, (COUNT, 1)), [], np.empty(0)
    for start in range(STARTS):
        begin, samples = fluid.with_velocities(state, start), int(DURATION / STEP / BETWEEN)
        run = simulate_arrays(fluid, METHOD, STEP, state=begin, t_end=DURATION, samples=samples, record=True)
        share, frequency = power_spectrum(run.variables["omega"][1], moments, BETWEEN * STEP, SEGMENT)
        spectra.append(share.sum(0))
    return 2 * pi / fastest_of(np.mean(spectra, 0), frequency)


def period_in_file(path: str | Path, density: float | None = None) -> tuple[float, str]:
    """The period of the fastest libration of the molecule in a file in fs, and in words how it was measured.

    ``density`` in g/cm^3.

    Raises
    ------
    AdviceError
        If the file has no molecule that turns, the density is not positive, or no liquid can be made at it.
    """
    of_liquid = DENSITY if density is None else checked(positive, "liquid_density", density, "g/cm^3")
    try:
        molecule = Molecule.from_file(path)
        if molecule.degrees_of_freedom == 3:
            raise ValueError(f"{path}: an atom has no librations; give the file of a molecule")
        period = fastest_period(molecule, of_liquid)
    except (OSError, ValueError) as error:
        raise AdviceError(f"molecule: {error}") from error
    return period, (
        f"Measured for {path}: the fastest libration has a period of {period:.3g} fs, in {COUNT} such molecules at "
        f"{TEMPERATURE:g} K and {of_liquid:g} g/cm^3 ({STARTS} runs of {DURATION / 1e3:g} ps)."
    )
