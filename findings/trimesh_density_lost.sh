#!/usr/bin/env bash
# trimesh: mass properties of a body from its surface.
# Guess: a density that was set stays with the body when its mesh is subdivided or joined to another mesh, as it does in a copy.
# What happens: the copy keeps it, the others have density 1 again, without a word: a body of density 7 that is subdivided loses six
# sevenths of its mass and of its moments, and two of them, added, weigh a seventh of what the two weigh.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q trimesh==5.2.0 scipy
"$folder/env/bin/python" - <<'PYTHON'
import trimesh

box = trimesh.creation.box((1, 2, 3))
box.density = 7.0
two = box + box.copy().apply_translation((5, 0, 0))
finer = box.subdivide()
print("trimesh", trimesh.__version__)
print("box of density 7: mass", box.mass, "copy", box.copy().mass, "subdivided", finer.mass, "two of them added", two.mass)
print("moments before and after subdivision:", box.moment_inertia.diagonal(), finer.moment_inertia.diagonal())
assert abs(box.mass - 42) < 1e-9 and abs(box.copy().mass - 42) < 1e-9
assert abs(finer.mass - 6) < 1e-9, "a subdivided mesh keeps its density now"
assert abs(two.mass - 12) < 1e-9, "added meshes keep their density now"
PYTHON
