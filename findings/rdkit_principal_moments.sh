#!/usr/bin/env bash
# RDKit, rdMolTransforms.ComputePrincipalAxesAndMoments: axes and moments of a conformer.
# Guess: the principal moments of inertia, in amu A^2.
# What happens: by default hydrogen atoms are left out, and all atoms have the same mass, 1. Water has the moments 0, 0, 0; with its
# hydrogen atoms 0.222, 1.333, 1.556 instead of 0.597, 1.344, 1.941 amu A^2. Descriptors3D.PMI1 to PMI3 of the same package use masses.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q rdkit==2026.9.1
"$folder/env/bin/python" - <<'PYTHON'
import numpy as np
from rdkit import Chem, rdBase
from rdkit.Chem import Descriptors3D, rdMolTransforms

molecule = Chem.RWMol()
for symbol in ("O", "H", "H"):
    molecule.AddAtom(Chem.Atom(symbol))
molecule.AddBond(0, 1, Chem.BondType.SINGLE)
molecule.AddBond(0, 2, Chem.BondType.SINGLE)
positions = np.array([(0.0, 0.0, 0.0), (0.81649, 0.57736, 0.0), (-0.81649, 0.57736, 0.0)])
conformer = Chem.Conformer(3)
for i, x in enumerate(positions):
    conformer.SetAtomPosition(i, x.tolist())
molecule.AddConformer(conformer)
molecule = molecule.GetMol()
Chem.SanitizeMol(molecule)
conformer = molecule.GetConformer()

masses = np.array([15.999, 1.008, 1.008])
r = positions - masses @ positions / masses.sum()
right = np.linalg.eigvalsh(sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, r)))
default = rdMolTransforms.ComputePrincipalAxesAndMoments(conformer)[1]
all_atoms = rdMolTransforms.ComputePrincipalAxesAndMoments(conformer, ignoreHs=False)[1]
descriptors = [getattr(Descriptors3D, f"PMI{k}")(molecule) for k in (1, 2, 3)]
print("rdkit", rdBase.rdkitVersion)
print("moments of water by hand:", right.round(5), "amu A^2")
print("ComputePrincipalAxesAndMoments:", np.round(default, 5))
print("the same with ignoreHs=False:", np.round(all_atoms, 5))
print("Descriptors3D.PMI1 to PMI3:", np.round(descriptors, 5))
assert np.allclose(default, 0), "hydrogen atoms count by default now"
assert np.allclose(all_atoms, [0.22223, 1.33331, 1.55554], atol=1e-4), "masses count by default now"
assert np.allclose(descriptors, right, atol=1e-3), "the descriptors have changed"
PYTHON
