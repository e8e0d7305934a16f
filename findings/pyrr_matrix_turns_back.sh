#!/usr/bin/env bash
# pyrr: quaternions and matrices for graphics.
# Guess: quaternion.apply_to_vector(q, v) and matrix33.apply_to_vector(matrix33.create_from_quaternion(q), v) are the same vector.
# What happens: they turn in opposite directions, by the full angle. The matrix is for row vectors, v M; apply_to_vector of the same
# module multiplies M v. The way back, quaternion.create_from_matrix, undoes it, so a test of the round trip shows nothing.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q pyrr==0.10.3 "numpy<3" scipy
"$folder/env/bin/python" - <<'PYTHON'
from importlib.metadata import version

import numpy as np
from pyrr import matrix33, quaternion
from scipy.spatial.transform import Rotation

turn = Rotation.from_rotvec([0.3, -0.5, 0.7])
q, v = turn.as_quat(), np.array([1.0, 2.0, 3.0])
by_quaternion = quaternion.apply_to_vector(q, v)
matrix = matrix33.create_from_quaternion(q)
by_matrix = matrix33.apply_to_vector(matrix, v)
print("pyrr", version("pyrr"))
print("SciPy:", turn.apply(v), "and back:", turn.inv().apply(v))
print("pyrr, quaternion:", by_quaternion, "matrix of this quaternion:", by_matrix)
print("quaternion of the matrix:", quaternion.create_from_matrix(matrix), "the quaternion:", q)
assert np.allclose(by_quaternion, turn.apply(v)), "quaternions have changed"
assert np.allclose(by_matrix, turn.inv().apply(v)), "matrices have changed"
assert np.allclose(quaternion.create_from_matrix(matrix), q), "the way back has changed"
PYTHON
