#!/usr/bin/env bash
# trimesh and ASE: principal axes of inertia, of a mesh and of a molecule. MDAnalysis for comparison.
# Guess: the three axes are right-handed, so that the matrix of axes is a rotation and gives the body's quaternion.
# What happens: for some orientations of one and the same body the axes of trimesh (principal_inertia_vectors) and of ASE
# (get_moments_of_inertia(vectors=True)) are left-handed, with a determinant of -1. Whoever makes a quaternion from them gets a wrong
# orientation, or an error, for a part of all bodies. MDAnalysis (principal_axes) always gives a rotation.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q trimesh==5.2.0 ase==3.29.0 MDAnalysis==2.11.0 scipy
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import ase
import MDAnalysis
import numpy as np
import trimesh
from scipy.spatial.transform import Rotation

WATER = np.array([(0.0, 0.0, 0.0), (0.81649, 0.57736, 0.0), (-0.81649, 0.57736, 0.0)])
universe = MDAnalysis.Universe.empty(3, trajectory=True)
universe.add_TopologyAttr("masses", [15.999, 1.008, 1.008])
mirrored = {"trimesh": 0, "ASE": 0, "MDAnalysis": 0}
for seed in range(200):
    turn = Rotation.random(random_state=seed).as_matrix()
    box = trimesh.creation.box((1, 2, 3))
    box.apply_transform(np.block([[turn, np.zeros((3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]]))
    universe.atoms.positions = WATER @ turn.T
    axes = {
        "trimesh": box.principal_inertia_vectors,
        "ASE": ase.Atoms("OH2", positions=WATER @ turn.T).get_moments_of_inertia(vectors=True)[1],
        "MDAnalysis": universe.atoms.principal_axes(),
    }
    for name, matrix in axes.items():
        mirrored[name] += np.linalg.det(matrix) < 0
print("trimesh", trimesh.__version__, "ASE", ase.__version__, "MDAnalysis", MDAnalysis.__version__)
print("left-handed axes in 200 random orientations of one body:", {name: int(count) for name, count in mirrored.items()})
assert 20 < mirrored["trimesh"] < 180, "trimesh has changed"
assert 20 < mirrored["ASE"] < 180, "ASE has changed"
assert mirrored["MDAnalysis"] == 0, "MDAnalysis has changed"
PYTHON
