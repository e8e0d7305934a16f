"""Many methods in one process give what each gives alone, wherever their compiled code comes from.

Code is linked by name. Entries of the cache that were made by different processes must not share the name of anything they
bring along, or one method runs the code of another: a wrong result without a word.
"""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import polhode
from polhode.compiling import cache

HOME = Path(__file__).parents[1]

#: Runs the tasks named on the command line, ENGINE:METHOD:NORMALISE, and prints a hash of the bits of each result. The method
#: ``cell:X`` is one under one key that a notebook's cell defines again and again, with the factor X in its formula.
SCRIPT = '''
import hashlib
import sys
import numpy as np
import polhode
from polhode import manybody
from polhode.manybody import simulation
from polhode.methods.lab_frame import in_lab

CELL = """
from dataclasses import replace
from polhode.compiling.kernel import kernel
from polhode.algebra.quaternion import rotate

@kernel
def turn(q, omega, dt):
    return rotate(q, omega, FACTOR * dt)

@kernel
def after_torque(state, torque, body, dt):
    omega = state[4:7]
    return turn(state[:4], omega, dt) + omega

METHOD = replace(polhode.methods["spiral_leapfrog"], key="cell", after_torque=after_torque)
"""


def method_of(word):
    if not word.startswith("cell"):
        return polhode.methods[word]
    exec(CELL.replace("FACTOR", word.removeprefix("cell")), globals())
    return METHOD


def one(method, normalise):
    problem = polhode.problems["heavy_top"]
    body, torque = problem.body.coefficients(), problem.compiled_torque
    found = method.integrate(
        problem.q0, problem.omega0, body, torque, problem.parameter_array, 1 / 64, np.arange(9), normalise
    )
    return found[:3]


def lab(method, normalise):
    return one(in_lab(method), normalise)


def systems(method, normalise):
    found = []
    for key in ("coupled_cylinders", "sinking_propeller"):
        found += method.integrate_system(polhode.problems[key], 1 / 64, np.arange(9), normalise)[:5]
    return found


def many(method, normalise):
    scene = manybody.scenes["rods"]
    at = np.arange(1, 6) * 1000
    found = simulation.run(scene, method, 2e-5, scene.initial_state(0), at, record=True, normalise=normalise)
    return found["motion"], found["energies"]


for word in sys.argv[1:]:
    engine, key, normalise = word.split(":")
    switch = {"": None, "on": True, "off": False}[normalise]
    bits = b"".join(np.ascontiguousarray(x).tobytes() for x in globals()[engine](method_of(key), switch))
    print(word, hashlib.sha256(bits).hexdigest(), flush=True)
'''


#: Copies the compiled code that a process loads from the disk or leaves there.
COPYING = """
import os
import shutil
from polhode.compiling import cache

def copying(method):
    def copy(entry, *arguments):
        result = method(entry, *arguments)
        if entry.path.is_file():
            shutil.copy(entry.path, os.environ["COPIES"])
        return result
    return copy

cache._Entry.load_overload, cache._Entry.save_overload = map(copying, (cache._Entry.load_overload, cache._Entry.save_overload))
"""


def hashes(folder: Path, tasks: Iterable[str], before: str = "", **more: str) -> dict[str, str]:
    """What a new process with this folder for compiled code gives, by task."""
    surroundings = os.environ | {"PYTHONPATH": str(HOME / "src"), "POLHODE_CACHE_DIR": str(folder)} | more
    run = subprocess.run([sys.executable, "-c", before + SCRIPT, *tasks], env=surroundings, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return dict(line.split() for line in run.stdout.splitlines())


def tasks_of(key: str, engines: Iterable[str]) -> list[str]:
    """What one method runs: every engine that takes it, with its normalisation as declared and switched."""
    method = polhode.methods[key]
    takes = {
        "one": True,
        "lab": True,
        "systems": method.runs(polhode.problems["coupled_cylinders"]),
        "many": "many body" in method.engines,
    }
    switched = ["", "off" if method.normalises else "on"] if method.normalisable else [""]
    return [f"{engine}:{key}:{normalise}" for engine in engines if takes[engine] for normalise in switched]


def tasks() -> list[list[str]]:
    """The tasks of each process that fills the cache.

    The engine of many bodies comes first: functions compiled before it would shift the numbers of its own, by as many as
    the method has. Compiling everything takes a quarter of an hour of CPU time; with ``POLHODE_TEST_ALL=1`` in the
    environment it is done, otherwise this engine runs two methods whose code a process numbers alike.
    """
    every = bool(os.environ.get("POLHODE_TEST_ALL"))
    cells = [[f"{engine}:cell{x}:" for engine in (("many", "one") if every else ("one",))] for x in ("1.0", "0.5")]
    if every:
        return [tasks_of(key, ("many", "one", "lab", "systems")) for key in polhode.methods] + cells
    alike = ["fincham1992", "fincham1992_delvalle2024"]
    lots = [tasks_of(key, ("one", "lab", "systems")) for key in alike]
    lots += [tasks_of(key, ("one",)) for key in ("buss2000", "rk4")]
    for lot, key in zip(lots, alike, strict=False):
        lot.insert(0, f"many:{key}:")
    return lots + cells


@pytest.mark.slow
def test_methods_from_many_processes_stay_apart_in_one(tmp_path):
    """Whatever has been compiled by whom, and in whichever order methods run: the bits of a process that compiles them all."""
    lots = tasks()
    everything = [task for lot in lots for task in lot]
    # What all many-body drivers share is there first, so that the processes behind number theirs alike; other tests have it.
    shared, alone = tmp_path / "shared", tmp_path / "alone"
    shared.mkdir(mode=0o700)
    hashes(cache.folder(), ["many:spiral_leapfrog:"], COPYING, COPIES=str(shared))
    shutil.copytree(shared, alone)
    with ThreadPoolExecutor(3) as pool:
        expected = pool.submit(hashes, alone, everything)
        filled = list(pool.map(lambda lot: hashes(shared, lot), lots))
    right = expected.result()
    assert {task: bits for bits_of_tasks in filled for task, bits in bits_of_tasks.items()} == right
    assert len(set(right.values())) > len(right) / 2, "methods must differ, or nothing is tested"
    entries = set(shared.iterdir())
    shuffled_hashes = hashes(shared, random.Random(0).sample(everything, len(everything)))
    assert {task for task in everything if shuffled_hashes[task] != right[task]} == set()
    assert set(shared.iterdir()) == entries, "all of it came from the disk"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork processes")
def test_a_forked_process_numbers_functions_elsewhere():
    """A pool of workers forked from one process compiles under the same numbers, unless told otherwise."""
    numbers = cache.bytecode.FunctionIdentity._unique_ids
    number_of_parent = next(numbers)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, str(next(cache.bytecode.FunctionIdentity._unique_ids)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    number_of_child = int(os.read(read, 100))
    assert abs(number_of_child - number_of_parent) > 2**31
    assert next(numbers) == number_of_parent + 1


def test_nothing_is_kept_where_functions_are_numbered_otherwise(tmp_path, monkeypatch):
    """Another version of Numba may name functions in a way that is not known here; then every process compiles for itself."""
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path))
    assert cache.folder() == tmp_path
    monkeypatch.setattr(cache, "_NUMBERED", False)
    assert cache.folder() is None
