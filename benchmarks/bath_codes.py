"""Water in the heat baths of LAMMPS, OpenMM and GROMACS: what is sampled, what the log reports, and the CPU time of a step.

``python benchmarks/bath_codes.py --python PYTHON --csv data/released/bath_codes.csv "LAMMPS,rigid/small langevin,2,200"`` adds
a row for each CODE,BATH,STEP,DURATION (fs, ps); ``--times FILE`` writes the CPU time of a step of all sides, in rounds in which
they take turns, and of GROMACS and polhode for larger boxes. PYTHON has lammps, mpich, openmm and numpy; ``gmx`` must be on
the path. All runs begin with one state of 64
molecules of SPC/E water, the bath has 300 K, and Langevin's friction is 1/ps. The first 20th of a run is left out; errors are
standard errors from 20 blocks.

LAMMPS and OpenMM have the forces of ``water64`` (``shifted_power``). GROMACS has its Lennard-Jones forces and a reaction field,
which is the law ``reaction_field``: ``--law reaction_field`` makes a row of polhode to compare with.
"""

import argparse
import datetime
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

HOME = Path(__file__).resolve().parent
sys.path[:0] = [str(HOME.parent / "src"), str(HOME)]

from bath_sides import KJ, kinetic_energies  # noqa: E402

import polhode  # noqa: E402
from polhode import manybody  # noqa: E402
from polhode.algebra.metrics import rotation_matrix  # noqa: E402
from polhode.compiling.marching import Laps  # noqa: E402
from polhode.manybody import Fluid  # noqa: E402
from polhode.manybody.forces.shifted_power import smooth_end  # noqa: E402
from polhode.manybody.simulation import run, simulate_arrays  # noqa: E402
from polhode_engines.liquids import flow  # noqa: E402
from polhode_study import provenance  # noqa: E402

#: Temperature of the bath, K; friction, 1/ps; times of Nose-Hoover chains and of velocity rescaling, fs and ps, as usual.
TEMPERATURE, FRICTION, CHAIN, RESCALING = 300.0, 1.0, 100.0, 0.1
#: Time between samples, fs; blocks of a run, method of polhode, and number of the noise.
BETWEEN, BLOCKS, METHOD, SEED = 40.0, 20, "no_squish", 17
#: The words of LAMMPS' baths, after the name of the fix.
WORDS = {
    "langevin": f"langevin {TEMPERATURE:g} {TEMPERATURE:g} {1000 / FRICTION:g} {SEED}",
    **dict.fromkeys(("", "nvt"), f"temp {TEMPERATURE:g} {TEMPERATURE:g} {CHAIN:g}"),
}
#: Code and bath of the sides that are timed; polhode runs at constant energy or in a bath.
TIMED = (
    ("polhode", "none"),
    ("polhode", "BAOAB"),
    ("polhode", "v-rescale"),
    ("LAMMPS", "rigid/small langevin"),
    ("LAMMPS", "rigid/nvt/small"),
    ("OpenMM", "LangevinMiddleIntegrator"),
    ("GROMACS", "none"),
    ("GROMACS", "sd"),
    ("GROMACS", "v-rescale"),
)
#: Molecules in the boxes, and the sides that are timed in those after the first.
#: Their first steps from a lattice and then to equilibrium: for how long and with which step, fs.
BOXES, TIMED_IN_LARGE = (64, 216, 512), (("polhode", "none"), ("GROMACS", "none"))
LOOSENED, EQUILIBRATED = (50.0, 0.05), (3000.0, 1.0)
#: Steps of a lap that is timed, laps of a side in a round, step in fs, and rounds.
LAP, LAPS, TIMED_STEP, ROUNDS = 500, 10, 2.0, 3


class Readings(NamedTuple):
    """One run of one code.

    ``readings`` (samples + 1, 5): potential energy, kcal/mol; temperature that the code reports, K; kinetic energies of
    translation, of rotation and left over (:func:`bath_sides.kinetic_energies`), kcal/mol. ``seconds``: CPU time from sample to
    sample.
    """

    readings: np.ndarray
    seconds: np.ndarray
    version: str


def atoms(fluid: Fluid, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Places and velocities of all sites at the start, (molecules, sites, 3), Angstrom and Angstrom/fs."""
    state, sites = fluid.initial_state(seed), fluid.clumps[0][0].sites
    turns = rotation_matrix(state.q)
    arms = np.einsum("nij,kj->nki", turns, sites)
    spins = np.einsum("nij,nj->ni", turns, state.omega)
    return state.r[:, None] + arms, state.v[:, None] + np.cross(spins[:, None], arms)


def energy_of_pairs(fluid: Fluid) -> str:
    """The law ``shifted_power`` of a fluid as an expression of OpenMM in nm and kJ/mol, with charge, sigma and epsilon."""
    law, coulomb = fluid.force_law, fluid.units.coulomb * KJ / 10
    cutoff, inner, inner_charges = (float(law.value(name)) / 10 for name in ("cutoff", "inner", "inner_charges"))

    def end(power: int, begin: float) -> str:
        (a, b, c), x = smooth_end(power, begin, cutoff), f"max(r-{begin!r},0)" if begin else "r"
        return f"(r^-{power} + {a / 3!r}*{x}^3 + {b / 4!r}*{x}^4 + {c!r})"

    return (
        f"4*epsilon*(sigma^12*{end(12, inner)} - sigma^6*{end(6, inner)})"
        f" + {coulomb!r}*charge1*charge2*{end(1, inner_charges)};"
        "epsilon=sqrt(epsilon1*epsilon2); sigma=0.5*(sigma1+sigma2)"
    )


def of_side(fluid: Fluid, code: str, bath: str, dt: float, samples: int, every: int, python: Path, own_law=False) -> Readings:
    """A run of LAMMPS or OpenMM; of OpenMM with ``own_law`` with its own reaction field."""
    x, v = atoms(fluid)
    option, _, word = bath.partition(" ")
    request = {
        "code": code,
        "option": option,
        "bath": WORDS[word] if code == "LAMMPS" else "",
        "energy": "" if own_law else energy_of_pairs(fluid),
        "temperature": TEMPERATURE,
        "friction": FRICTION,
        "seed": SEED,
        "samples": samples,
        "every": every,
        "engines": str(HOME.parent / "src" / "polhode_engines"),
        "flow": asdict(flow(fluid, fluid.initial_state(0), dt, [])),
        "x": x.tolist(),
        "v": v.tolist(),
    }
    libraries = {"LD_LIBRARY_PATH": str(python.parent.parent / "lib"), "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory(prefix="polhode-baths-") as folder:
        (Path(folder) / "request.json").write_text(json.dumps(request))
        command = [str(python), "-B", str(HOME / "bath_sides.py"), folder]
        subprocess.run(command, env={**os.environ, **libraries, "PYTHONPATH": ""}, check=True)
        with np.load(Path(folder) / "answer.npz") as data:
            return Readings(data["readings"], data["seconds"], str(data["version"]))


def gromacs_files(fluid: Fluid, bath: str, dt: float, steps: int, every: int, lists: int = 1) -> dict[str, str]:
    """What ``gmx grompp`` reads for a fluid of three sites that SETTLE holds: ``run.mdp``, ``start.gro`` and ``topol.top``.

    Lennard-Jones forces end as in the law ``shifted_power``, charges have the reaction field of a conductor. A list of
    pairs is made every ``lists`` steps: with 1, it needs no margin, for which half of a small box would leave no room; larger
    boxes have GROMACS' usual margin.
    """
    ((molecule, number),), law = fluid.clumps, fluid.force_law
    cutoff, inner = (float(law.value(name)) / 10 for name in ("cutoff", "inner"))
    lines = {
        "integrator": "sd" if bath == "sd" else "md",
        "dt": f"{dt / 1000!r}",
        "nsteps": steps,
        **dict.fromkeys(("nstxout", "nstvout", "nstenergy"), every),
        "nstlog": 0,
        "cutoff-scheme": "Verlet",
        "nstlist": lists,
        "verlet-buffer-tolerance": 0.005 if 2.4 * cutoff < fluid.box / 10 else -1,
        **dict.fromkeys(("rlist", "rcoulomb", "rvdw"), repr(cutoff)),
        "coulombtype": "reaction-field",
        "epsilon-rf": 0,
        "vdwtype": "cut-off",
        "vdw-modifier": "force-switch",
        "rvdw-switch": repr(inner),
        "DispCorr": "no",
        "tcoupl": "no" if bath in ("sd", "none") else bath,
        "nsttcouple": 10,
        "tc-grps": "System",
        "tau-t": 1 / FRICTION if bath == "sd" else RESCALING,
        "ref-t": TEMPERATURE,
        "ld-seed": SEED,
        # Friction and noise do not keep the momentum of the whole.
        "comm-mode": "None" if bath == "sd" else "Linear",
    }
    x, v = (y.reshape(-1, 3) * factor for y, factor in zip(atoms(fluid), (0.1, 100.0), strict=True))
    names = [f"{name}{k}" for k, name in enumerate(molecule.names)]
    rows = [
        f"{k // 3 + 1:5d}{'SOL':5s}{names[k % 3]:>5s}{k + 1:5d}"
        + "".join(f"{a:15.10f}" for a in x[k])
        + "".join(f"{a:15.11f}" for a in v[k])
        for k in range(len(x))
    ]
    rows.append(" ".join([f"{fluid.box / 10:.10f}"] * 3))
    columns = (np.asarray(column).tolist() for column in (molecule.masses, molecule.sigma, molecule.epsilon, molecule.charges))
    types = list(zip(names, *columns, strict=True))
    arms = [float(np.linalg.norm(molecule.sites[a] - molecule.sites[b])) / 10 for a, b in ((0, 1), (1, 2))]
    topology = [
        "[ defaults ]",
        "1 2 no",
        "[ atomtypes ]",
        *(f"{name} 0 {mass!r} 0.0 A {sigma / 10!r} {epsilon * KJ!r}" for name, mass, sigma, epsilon, _ in types),
        "[ moleculetype ]",
        "SOL 2",
        "[ atoms ]",
        *(f"{k + 1} {name} 1 SOL {name} 1 {charge!r}" for k, (name, *_, charge) in enumerate(types)),
        "[ settles ]",
        f"1 1 {arms[0]!r} {arms[1]!r}",
        "[ exclusions ]",
        *("1 2 3", "2 1 3", "3 1 2"),
        "[ system ]",
        fluid.label,
        "[ molecules ]",
        f"SOL {number}",
    ]
    return {
        "run.mdp": "".join(f"{name} = {value}\n" for name, value in lines.items()),
        "start.gro": "\n".join([fluid.label, str(len(x)), *rows]) + "\n",
        "topol.top": "\n".join(topology) + "\n",
    }


def of_gromacs(fluid: Fluid, bath: str, dt: float, samples: int, every: int, lists: int = 1) -> Readings:
    """A run of GROMACS on one thread; ``seconds`` is the CPU time of all of ``mdrun``."""
    with tempfile.TemporaryDirectory(prefix="polhode-baths-") as name:
        folder, sites = Path(name), 3 * len(fluid)
        for file, text in gromacs_files(fluid, bath, dt, samples * every, every, lists).items():
            (folder / file).write_text(text)

        def gmx(*words: str, answer: str = "") -> str:
            done = subprocess.run(["gmx", *words], cwd=folder, input=answer, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"gmx {words[0]} failed: {done.stderr[-2000:]}")
            return done.stdout + done.stderr

        gmx("grompp", "-f", "run.mdp", "-c", "start.gro", "-p", "topol.top", "-o", "run.tpr", "-maxwarn", "9")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        gmx("mdrun", "-s", "run.tpr", "-deffnm", "run", "-ntmpi", "1", "-ntomp", "1", "-pin", "off")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        gmx("energy", "-f", "run.edr", "-o", "log.xvg", "-dp", "-xvg", "none", answer="Potential\nTemperature\n\n")
        _, potential, temperature = np.loadtxt(folder / "log.xvg").T
        frame = [("head", ">i4", 3), ("name", "S12"), ("sizes", ">i4", 13), ("time", ">f4", 2), ("box", ">f4", 9)]
        frames = np.fromfile(folder / "run.trr", np.dtype([*frame, ("x", ">f4", (sites, 3)), ("v", ">f4", (sites, 3))]))
        assert (frames["name"] == b"GMX_trn_file").all() and len(frames) == len(potential)
        x, v = (frames[key].reshape(len(frames), -1, 3, 3) * factor for key, factor in (("x", 10), ("v", 0.01)))
        version = next(line.split()[-1] for line in gmx("--version").splitlines() if line.startswith("GROMACS version"))
        kinetic = kinetic_energies(x, v, fluid.clumps[0][0].masses, fluid.box)
        return Readings(np.column_stack([potential / KJ, temperature, kinetic]), np.array([seconds]), version)


def of_polhode(fluid: Fluid, bath: str, dt: float, samples: int, every: int) -> Readings:
    """A run of polhode: reported is the temperature between the kicks, and velocities are those at the end of a step."""
    outcome = simulate_arrays(
        fluid, METHOD, dt, t_end=dt * every * (samples + 0.5 / every), samples=samples, bath=langevin(bath)
    ).variables
    kinetic = [outcome[f"kinetic_{name}"][1] for name in ("translation", "rotation")]
    middle = np.mean([outcome[f"temperature_middle_{name}"][1] for name in ("translation", "rotation")], axis=0)
    rest = np.zeros(samples + 1)
    return Readings(np.column_stack([outcome["potential"][1], middle, *kinetic, rest]), rest[1:], polhode.__version__)


def langevin(scheme: str) -> manybody.Langevin:
    """Langevin's equation of polhode by a scheme."""
    return manybody.Langevin(FRICTION * 1e-3, temperature=TEMPERATURE, seed=SEED, scheme=scheme)


def rescaling() -> manybody.VelocityRescaling:
    """Velocity rescaling of polhode."""
    return manybody.VelocityRescaling(RESCALING * 1e3, temperature=TEMPERATURE, seed=SEED)


def readings_of(fluid: Fluid, code: str, bath: str, dt: float, duration: float, python: Path) -> Readings:
    """A run of any code, of so many ps."""
    every = round(BETWEEN / dt)
    samples = round(duration * 1e3 / (dt * every))
    if code == "polhode":
        return of_polhode(fluid, bath, dt, samples, every)
    if code == "GROMACS":
        return of_gromacs(fluid, bath, dt, samples, every)
    return of_side(fluid, code, bath, dt, samples, every, python)


def row_of(fluid: Fluid, code: str, bath: str, dt: float, duration: float, readings: Readings) -> dict[str, object]:
    """A row of the table from a run: temperatures in K, potential energies in kcal/mol of a molecule."""
    count, k = len(fluid), fluid.units.boltzmann
    keeps_momentum = bath in ("rigid/nvt/small", "v-rescale", "shake nvt", "rattle nvt")
    freedoms = {"translation": 3 * count - 3 * keeps_momentum, "rotation": 3 * count, "rest": 6 * count}
    first = len(readings.readings) // BLOCKS
    potential, reported, *kinetic = readings.readings[first:].T
    values = {"reported": reported}
    for energy, (name, number) in zip(kinetic, freedoms.items(), strict=True):
        values[f"temperature_{name}"] = 2 * energy / (number * k)
    values["potential"] = potential / count
    law = "reaction_field" if code == "GROMACS" else fluid.force_law.key
    row: dict[str, object] = {
        "code": code,
        "version": readings.version,
        "bath": bath,
        "law": law,
        "dt": dt,
        "duration": duration,
    }
    for name, numbers in values.items():
        blocks = np.array([block.mean() for block in np.array_split(numbers, BLOCKS)])
        row |= {name: round(float(numbers.mean()), 4), f"{name}_error": round(float(blocks.std(ddof=1) / BLOCKS**0.5), 4)}
    return row | {"potential_at_start": round(readings.readings[0, 0] / count, 5)}


def us_per_step(fluid: Fluid, code: str, bath: str, python: Path) -> tuple[float, str]:
    """CPU time of a step in the fastest lap after the first, us (of GROMACS in all of them), and the version."""
    if code == "polhode":
        at = np.arange(LAPS + 2) * LAP
        laps = Laps(at[1:], time.thread_time)
        more: dict[str, Any] = {} if bath == "none" else {"bath": rescaling() if bath == "v-rescale" else langevin(bath)}
        run(fluid, polhode.methods[METHOD], TIMED_STEP, fluid.initial_state(0), at, pauses=laps, **more)
        return float(np.diff(laps.clocked).min()) / LAP * 1e6, polhode.__version__
    if code == "GROMACS":
        short, long = (of_gromacs(fluid, bath, TIMED_STEP, laps, LAP, lists=10) for laps in (1, LAPS + 1))
        return float(long.seconds[0] - short.seconds[0]) / (LAPS * LAP) * 1e6, short.version
    timed = of_side(fluid, code, bath, TIMED_STEP, LAPS + 1, LAP, python, own_law=True)
    return float(timed.seconds[1:].min()) / LAP * 1e6, timed.version


def box_of(fluid: Fluid, number: int, folder: Path) -> Fluid:
    """So many molecules at the same density, brought to equilibrium by the bath from a lattice."""
    ((molecule, count),) = fluid.clumps
    if number == count:
        return fluid
    larger = replace(
        fluid, key=f"water{number}", molecules=((molecule, number),), box=fluid.box * (number / count) ** (1 / 3), states=()
    )
    path = folder / f"{number}.npz"
    loose = larger.equilibrated(*LOOSENED)
    larger.save_state(path, larger.equilibrated(*EQUILIBRATED, state=loose))
    return replace(larger, states=(path,))


def times(fluid: Fluid, python: Path) -> pd.DataFrame:
    """The CPU time of a step of all sides that are timed, in rounds: the least and the most."""
    laps: dict[tuple[int, str, str], list[float]] = {}
    versions = {}
    with tempfile.TemporaryDirectory(prefix="polhode-boxes-") as folder:
        boxes = {number: box_of(fluid, number, Path(folder)) for number in BOXES}
        for _ in range(ROUNDS):
            for number, box in boxes.items():
                for side in TIMED if number == len(fluid) else TIMED_IN_LARGE:
                    microseconds, versions[side] = us_per_step(box, *side, python)
                    laps.setdefault((number, *side), []).append(microseconds)
                    print(number, *side, round(microseconds, 1), flush=True)
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    rows = [
        {
            "molecules": number,
            "code": code,
            "version": versions[code, bath],
            "bath": bath,
            "us_per_step": min(values),
            "us_per_step_most": max(values),
        }
        for (number, code, bath), values in laps.items()
    ]
    return pd.DataFrame(rows).assign(rounds=ROUNDS, date=date, processor=provenance.processor()).round(1)


def main() -> None:
    """Run what is named and add it to the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", metavar="CODE,BATH,STEP,DURATION")
    parser.add_argument("--python", type=Path, required=True, help="the Python with lammps and openmm")
    parser.add_argument("--csv", type=Path, help="the file that gets the rows")
    parser.add_argument("--times", type=Path, help="the file that gets the times")
    parser.add_argument("--law", default="shifted_power", help="the law of the runs of polhode")
    arguments = parser.parse_args()
    water = manybody.scenes["water64"]
    if arguments.times:
        times(water, arguments.python).to_csv(arguments.times, index=False)
    for text in arguments.runs:
        code, bath, dt, duration = text.split(",")
        fluid = water.with_law(arguments.law) if code == "polhode" else water
        readings = readings_of(fluid, code, bath, float(dt), float(duration), arguments.python)
        row = pd.DataFrame([row_of(fluid, code, bath, float(dt), float(duration), readings)])
        print(row.T.to_string(header=False), flush=True)
        row.to_csv(arguments.csv, mode="a", header=not arguments.csv.exists(), index=False)


if __name__ == "__main__":
    main()
