"""Time a step of the generated JavaScript in Node beside the generated C: ``python benchmarks/javascript.py``.

Both run a free asymmetric top, with the torque as a function that returns zero. Node and C take turns; in each turn a side runs
once without being timed and then several times, and the fastest run of all turns counts. Where cannon-es is installed
(``polhode atlas cannon_es --install``), what it does to the rotation of one body in a step is timed as well. Run it on an idle
machine: the load at the beginning is printed.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from math import isfinite
from pathlib import Path
from time import perf_counter

import compare

import polhode
from polhode.export import LANGUAGES
from polhode_engines import all_engines, is_installed
from polhode_engines.environments import packages_of

#: The largest ratio of times, JavaScript to C, that is acceptable.
LIMIT = 1.3
DT = 0.01
PROBLEM = polhode.problems["free_asymmetric_top"]
#: The program that Node runs: method, initial values and moments, number of steps, number of timed runs.
PROGRAM = """import {{ inertia_of, run }} from "./{key}.mjs";
const [q, omega, moments] = {given};
const body = inertia_of(moments);
const zero = () => ({{ x: 0.0, y: 0.0, z: 0.0 }});
let least = Infinity;
for (let k = 0; k <= {repeats}; k++) {{
    const begin = performance.now();
    run(q, omega, body, zero, null, {dt}, {steps});
    least = k === 0 ? least : Math.min(least, performance.now() - begin);
}}
console.log(1e6 * least / {steps});
"""

#: The same for the update of one body in cannon-es, whose place is an address.
CANNON = """const cannon = await import({address!r});
const body = new cannon.Body({{ mass: 1 }});
body.inertia.set(1, 2, 3);
body.invInertia.set(1, 1 / 2, 1 / 3);
body.angularVelocity.set(0.3, 0.4, 1.0);
let least = Infinity;
for (let k = 0; k <= {repeats}; k++) {{
    const begin = performance.now();
    for (let n = 0; n < {steps}; n++) {{
        body.integrate({dt}, true, false);
    }}
    least = k === 0 ? least : Math.min(least, performance.now() - begin);
}}
console.log(1e6 * least / {steps});
"""


def cannon_in_node(folder: Path, steps: int, repeats: int) -> float:
    """Nanoseconds in which cannon-es updates one body, in the fastest run; infinite if it is not installed."""
    engine = all_engines()["cannon_es"]
    if not is_installed(engine):
        return float("inf")
    address = (packages_of(engine) / "node_modules/cannon-es/dist/cannon-es.js").as_uri()
    program = CANNON.format(address=address, repeats=repeats, dt=DT, steps=steps)
    (folder / "cannon.mjs").write_text(program, encoding="utf-8")
    return float(subprocess.run(["node", "cannon.mjs"], cwd=folder, capture_output=True, text=True, check=True).stdout)


def in_node(folder: Path, key: str, steps: int, repeats: int) -> float:
    """Nanoseconds of a step of the fastest run."""
    vectors = zip(("wxyz", "xyz", "xyz"), (PROBLEM.q0, PROBLEM.omega0, PROBLEM.body.inertia), strict=True)
    given = json.dumps([dict(zip(names, map(float, numbers), strict=True)) for names, numbers in vectors])
    (folder / f"{key}.mjs").write_text(LANGUAGES["javascript"].source(polhode.methods[key]), encoding="utf-8")
    program = PROGRAM.format(key=key, given=given, repeats=repeats, dt=DT, steps=steps)
    (folder / "time.mjs").write_text(program, encoding="utf-8")
    return float(subprocess.run(["node", "time.mjs"], cwd=folder, capture_output=True, text=True, check=True).stdout)


def main() -> int:
    """Print both times and their ratio; 1 if it is above the limit, 2 without Node or a C compiler."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", choices=polhode.methods, default="exact_rotor", metavar="METHOD", help="(%(default)s)")
    parser.add_argument("--steps", type=int, default=4_000, help="of a run (%(default)s)")
    parser.add_argument("--repeats", type=int, default=80, help="timed runs in a turn (%(default)s)")
    parser.add_argument("--turns", type=int, default=4, help="of both sides (%(default)s)")
    arguments = parser.parse_args()
    key, steps, repeats = arguments.method, arguments.steps, arguments.repeats
    if shutil.which("node") is None:
        print("no node found; install Node.js 18 or newer", file=sys.stderr)
        return 2
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the beginning")
    javascript = c = cannon = float("inf")
    with tempfile.TemporaryDirectory() as name:
        try:
            loaded = compare.library(name, methods=[polhode.methods[key]])
        except compare.NoCompiler as error:
            print(error, file=sys.stderr)
            return 2
        for _ in range(arguments.turns):
            javascript = min(javascript, in_node(Path(name), key, steps, repeats))
            cannon = min(cannon, cannon_in_node(Path(name), steps, repeats))
            for k in range(repeats + 1):
                begin = perf_counter()
                compare.in_c(loaded, key, PROBLEM, DT, steps)
                c = c if k == 0 else min(c, 1e9 * (perf_counter() - begin) / steps)
    print(f"{key}: JavaScript {javascript:.0f} ns a step, C {c:.0f} ns, ratio {javascript / c:.2f} (limit {LIMIT})")
    if isfinite(cannon):
        print(f"cannon-es: {cannon:.0f} ns for its own update of one body")
    return int(javascript > LIMIT * c)


if __name__ == "__main__":
    raise SystemExit(main())
