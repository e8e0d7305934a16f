"""Liquids of rigid molecules in engines that run them: the same molecules, law and state as in a fluid of ours."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from polhode.manybody.fluid import Fluid
from polhode.manybody.placement import State
from polhode_engines.environments import RUN_LIMIT, answers
from polhode_engines.protocol import Engine


@dataclass(frozen=True)
class Flow:
    """One run of equal molecules in a periodic box at constant energy, as an adapter gets it: in lists.

    The law is Lennard-Jones and Coulomb with the smooth cut-off ``shifted_power``; sites of one molecule do not see each other.

    Parameters
    ----------
    units : "real" (Angstrom, fs, g/mol, kcal/mol) or "lj" (reduced), of all other numbers
    sites : x, y, z of the sites of a molecule, body frame
    masses, charges, epsilon, sigma : of each site
    lennard_jones, coulomb : radii at which the cut-off begins and ends
    box : the edge; the centre is the origin
    r, v, q, omega : the start, see :class:`polhode.manybody.placement.State`; lengths and times in the units of the run
    dt, samples : step, and the steps after which energies are read
    """

    units: str
    sites: list[list[float]]
    masses: list[float]
    charges: list[float]
    epsilon: list[float]
    sigma: list[float]
    lennard_jones: list[float]
    coulomb: list[float]
    box: float
    r: list[list[float]]
    v: list[list[float]]
    q: list[list[float]]
    omega: list[list[float]]
    dt: float
    samples: list[int]


def flow(fluid: Fluid, state: State, dt: float, samples: Sequence[int]) -> Flow:
    """A run of a fluid of one kind of molecule with the law ``shifted_power`` in a finite box, in the units of this molecule.

    It begins at ``state``, its steps have the length ``dt``, and energies are read after the numbers of steps ``samples``.
    """
    ((molecule, _),), law = fluid.clumps, fluid.force_law
    assert law.key == "shifted_power" and np.isfinite(fluid.box)
    cutoff = float(law.value("cutoff"))
    return Flow(
        molecule.units,
        molecule.sites.tolist(),
        molecule.masses.tolist(),
        molecule.charges.tolist(),
        molecule.epsilon.tolist(),
        molecule.sigma.tolist(),
        [float(law.value("inner")), cutoff],
        [float(law.value("inner_charges")), cutoff],
        fluid.box,
        state.r.tolist(),
        state.v.tolist(),
        state.q.tolist(),
        state.omega.tolist(),
        dt,
        [int(n) for n in samples],
    )


@dataclass(frozen=True)
class Flowed:
    """What an engine returned, arrays (samples,); NaN if there is an ``error``.

    Parameters
    ----------
    potential, kinetic : energies in the units of the run
    seconds : CPU time since the start of the run, s
    """

    potential: np.ndarray
    kinetic: np.ndarray
    seconds: np.ndarray
    error: str = ""


def flow_through(
    engine: Engine,
    option: str,
    runs: Sequence[Flow],
    progress: Callable[[], object] = lambda: None,
    limit: float = RUN_LIMIT,
    python: Path | None = None,
) -> tuple[str, list[Flowed]]:
    """The version of an engine, and one :class:`Flowed` for each run.

    The engine runs in a process of its own; what fails is recorded (:func:`polhode_engines.environments.spin`).

    Parameters
    ----------
    option : a key of the options of the engine's liquids
    progress : called after each run
    limit : seconds that one run may take
    python : the Python to use, by default the Python of the engine's environment
    """
    version, outcomes = answers(engine, "flow", option, [asdict(run) for run in runs], progress, limit, python)
    done = []
    for run, outcome in zip(runs, outcomes, strict=True):
        nothing = np.full(len(run.samples), np.nan)
        if isinstance(outcome, str):
            done.append(Flowed(nothing, nothing, nothing, outcome))
        else:
            done.append(Flowed(outcome["potential"], outcome["kinetic"], outcome["seconds"]))
    return version, done
