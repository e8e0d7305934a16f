#!/usr/bin/env bash
# multisphere: with max_spheres a symmetric body gets its spheres at one end, and the core installation cannot be imported.
# One would guess: 20 spheres for a block of 3 x 2 x 1 are spread over it, as its page says that the algorithm avoids violations of
# symmetry; and `pip install multisphere`, "core installation (no visualization)", is enough for `import multisphere`.
# What happens: the spheres stand in the order in which places were listed when their number is reached, all at one end, with no more
# said than that it was reached: centre of mass and moments are of another body. And the import fails without pyvista, which draws.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q multisphere==1.1.1
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version
from types import ModuleType

print("multisphere", version("multisphere"))
try:
    import multisphere
except ModuleNotFoundError as error:
    print("import multisphere:", error)
    missing = error.name
else:
    missing = ""
# A module of this name and nothing else lets it be imported.
sys.modules.setdefault("pyvista", ModuleType("pyvista"))
import multisphere
import trimesh

block = trimesh.creation.box((3, 2, 1))
for count in (20, 100):
    pack = multisphere.multisphere_from_mesh(block, div=60, max_spheres=count)
    x = pack.centers[:, 0]
    print(f"block from x = -1.5 to 1.5, {len(x)} of at most {count} spheres: centres from x = {x.min():.2f} to {x.max():.2f}")
    if count == 20:
        few = x
assert missing == "pyvista", "it can be imported now"
assert len(few) == 20 and few.max() < 0, "the spheres are spread over the block now"
PYTHON
