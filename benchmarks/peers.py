"""Many clumps in other codes: YADE and LAMMPS beside this one, the same scenes from the same states, in one sitting.

For each scene and code: CPU time of a step on one core, and the relative error of the energy at the same step. See the README.
"""

import argparse
import datetime
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "src"))

import many_body  # noqa: E402

import polhode  # noqa: E402
from polhode import manybody  # noqa: E402
from polhode.compiling.marching import Laps  # noqa: E402
from polhode.interface.storage import write_text  # noqa: E402
from polhode.manybody.placement import State  # noqa: E402
from polhode.manybody.simulation import run, setup_of  # noqa: E402
from polhode_engines import all_engines, how_to_install, is_installed  # noqa: E402
from polhode_engines.environments import environment_of, python_of  # noqa: E402
from polhode_engines.rotations import matrix  # noqa: E402
from polhode_study import provenance  # noqa: E402

#: Steps of a run, so that its clumps collide a few dozen times (of a bed, that it is timed), and times at which the energy is
#: read.
STEPS, SAMPLES = {"chess": 40_000, "rods": 200_000, "bed": 2_000}, 100


class Reading(NamedTuple):
    """One run of one code.

    ``energy`` (samples + 1): total energy where nothing touches, J; ``free`` (samples + 1): whether nothing touches;
    ``seconds`` (samples): CPU time from sample to sample; ``version``.
    """

    energy: np.ndarray
    free: np.ndarray
    seconds: np.ndarray
    version: str


def ours(method: str) -> Callable[[manybody.Scene, State, np.ndarray], Reading]:
    """A run of our engine."""

    def taken(scene: manybody.Scene, state: State, at: np.ndarray) -> Reading:
        # The first steps, with the making of the first list and perhaps of the code, are outside of the laps.
        run(scene, polhode.methods[method], scene.usual_step, state, at[:1])
        laps = Laps([1, *at], time.thread_time)
        outcome = run(scene, polhode.methods[method], scene.usual_step, state, np.array([0, *at]), pauses=laps)
        kinetic, potential = outcome["energies"].T
        return Reading(kinetic + potential, potential == 0, np.diff(laps.clocked), polhode.__version__)

    return taken


def another(key: str, *arguments: str) -> Callable[[manybody.Scene, State, np.ndarray], Reading]:
    """A run of YADE or LAMMPS in a process of its own, with the files ``request.npz`` and ``answer.npz``."""
    engine = all_engines()[key]

    def taken(scene: manybody.Scene, state: State, at: np.ndarray) -> Reading:
        with tempfile.TemporaryDirectory(prefix="polhode-peers-") as folder:
            write_request(Path(folder) / "request.npz", scene, state, at)
            program = [shutil.which("yade") or "yade", "-n", "-x", "-j1"] if key == "yade" else [str(python_of(engine)), "-B"]
            command = [*program, str(HERE / f"peers_{key}.py"), folder, *arguments]
            environment = {name: value for name, value in environment_of(engine).items() if name != "DISPLAY"}
            done = subprocess.run(
                command, env=environment, cwd=folder, capture_output=True, text=True, timeout=3600, check=False
            )
            answer = Path(folder) / "answer.npz"
            if not answer.is_file():
                raise SystemExit(f"{engine.label} gave no answer: {(done.stdout + done.stderr)[-800:]}")
            with np.load(answer) as data:
                return Reading(data["energy"], data["free"].astype(bool), data["seconds"], str(data["version"]))

    return taken


def write_request(path: Path, scene: manybody.Scene, state: State, at: np.ndarray) -> None:
    """The scene and its initial state as plain arrays, SI units.

    Matrices (``turns``) take the principal frame to the lab; omega and spheres are given in the principal frame.
    """
    setup, material, law = setup_of(scene), scene.material, scene.force_law
    parameters = {name: law.value(name) for name in ("friction", "restitution") if name in law.parameters}
    np.savez(
        path,
        r=state.r,
        v=state.v,
        turns=np.array([matrix(q) for q in state.q]),
        omega=state.omega,
        masses=setup.masses,
        inertias=np.array([np.array(clump.inertia) * material.density for clump in scene.every_clump]),
        first=setup.first,
        many=setup.many,
        spheres=setup.spheres,
        young=material.young,
        poisson=material.poisson,
        half=setup.half,
        dt=scene.usual_step,
        at=at,
        gravity=scene.gravity,
        **parameters,
    )


#: Code, option or method, key of the engine (none: ours), how it is run.
SIDES = (
    ("polhode", "SPIRAL", "", ours("spiral_leapfrog")),
    ("polhode", "Omelyan (1998)", "", ours("omelyan1998")),
    ("polhode", "Fincham", "", ours("fincham1992")),
    ("polhode", "NO_SQUISH", "", ours("no_squish")),
    ("YADE", "NewtonIntegrator", "yade", another("yade")),
    ("LAMMPS", "fix rigid", "lammps", another("lammps", "rigid")),
    ("LAMMPS", "fix rigid/nve", "lammps", another("lammps", "rigid/nve")),
)
#: Those for the bed.
SIDES_OF_BED = (*SIDES[:1], ("LAMMPS", "fix rigid/small", "lammps", another("lammps", "rigid/small")))


def error(reading: Reading) -> float:
    """The root mean square of the relative change of the energy, over the samples at which nothing touches."""
    change = reading.energy / reading.energy[0] - 1
    found = change[1:][reading.free[1:]]
    return float(np.sqrt((found**2).mean())) if len(found) else float("nan")


def rows_of(key: str, states: int, share: float, number: int) -> list[dict[str, object]]:
    """The rows of a scene: all codes in turns, state by state."""
    scene, settled = many_body.scene_of(key, number, False)
    steps = max(SAMPLES, int(STEPS[key] * share))
    at = np.linspace(0, steps, SAMPLES + 1).round().astype(np.int64)[1:]
    of_scene = SIDES_OF_BED if any(scene.gravity) else SIDES
    here = [side for side in of_scene if not side[2] or is_installed(all_engines()[side[2]])]
    readings: dict[tuple[str, str], list[Reading]] = {side[:2]: [] for side in here}
    for seed in range(states):
        for code, option, _key, taken in here:
            state = settled if any(scene.gravity) else scene.initial_state(seed)
            readings[code, option].append(taken(scene, state, at))
    rows = []
    for (code, option), found in readings.items():
        times = np.array([1e6 * reading.seconds.sum() / steps for reading in found])
        errors = [error(reading) for reading in found]
        rows.append(
            {
                "scene": key,
                "code": code,
                "version": found[0].version,
                "option": option,
                "clumps": len(scene),
                "spheres": int(setup_of(scene).many.sum()),
                "dt": scene.usual_step,
                "steps": steps,
                "states": states,
                "us_per_step": times.min(),
                "us_per_step_most": times.max(),
                "energy_error": float(np.median(errors)),
                "energy_error_most": float(np.max(errors)),
            }
        )
        print(
            f"{key:6s} {code:8s} {option:17s} {found[0].version:15s} {times.min():9.3f} to {times.max():9.3f} us a step"
            f"   energy {np.median(errors):.2e}, at most {np.max(errors):.2e}",
            flush=True,
        )
    return rows


def main() -> None:
    """Print the table, and keep it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", default="chess,rods", help="keys, separated by commas")
    parser.add_argument("--states", type=int, default=3, help="number of initial states")
    parser.add_argument("--share", type=float, default=1.0, help="part of the usual number of steps")
    parser.add_argument("--clumps", type=int, default=0, help="number of clumps, at constant density")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="where the table is kept, e.g. data/released/peers.csv")
    arguments = parser.parse_args()
    for key in dict.fromkeys(side[2] for side in SIDES if side[2]):
        engine = all_engines()[key]
        if not is_installed(engine):
            print(f"{engine.label} is not installed and is left out; {how_to_install(engine)}", file=sys.stderr)
    os.environ["OMP_NUM_THREADS"] = "1"
    rows = [
        row for key in arguments.scenes.split(",") for row in rows_of(key, arguments.states, arguments.share, arguments.clumps)
    ]
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    table = pd.DataFrame(rows).assign(date=date, processor=provenance.processor())
    if arguments.csv:
        write_text(arguments.csv, table.to_csv(index=False, float_format="%.6g"))


if __name__ == "__main__":
    main()
