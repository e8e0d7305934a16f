"""Functions of many processes in one give what each gives alone, wherever their compiled code comes from.

Code is linked by name. Entries of the cache that were made by different processes must not share the name of anything they
bring along, or one method runs the code of another: a wrong result without a word.
"""

import os
from pathlib import Path

import pytest
from conftest import said_by

from polhode.compiling import cache

HOME = Path(__file__).parents[1]

#: Compiles a function for each factor on the command line and prints its value. Each closes over one that LLVM does not
#: inline, as drivers close over kernels, so that both are in its entry. After the word ``alike`` functions are numbered from 1
#: on, as Numba does it.
SCRIPT = """
import itertools
import sys
import numba
import numpy as np
from polhode.compiling import cache

if sys.argv[1] == "alike":
    cache.bytecode.FunctionIdentity._unique_ids = itertools.count(1)

def driver_of(factor):
    @numba.njit
    def kernel(x, n):
        total = 0.0
        for i in range(n):
            total += factor * x / (i + 1.0)
            if total > 1e3:
                total -= np.sin(total)
            for j in range(i):
                total += j * factor / 1e6
                if total > 1e2:
                    total = total * 0.5 + np.cos(j * 1.0)
        return total

    @numba.njit
    def step(x, n):
        return kernel(x, n) + 2 * kernel(2 * x, n + 1) + kernel(3 * x, n)

    def driver(x, n):
        total = 0.0
        for a in (x / 2, x, 2 * x):
            total += step(a, n) + step(a + 1, n)
        return total

    return driver

for word in sys.argv[2:]:
    print(word, cache.compiled(driver_of(float(word)), numba.float64(numba.float64, numba.int64))(1.5, 20).hex())
"""


def values(folder: Path, *words: str) -> dict[str, str]:
    """What a new process with this folder for compiled code gives, by factor."""
    return dict(line.split() for line in said_by(SCRIPT, *words, POLHODE_CACHE_DIR=str(folder)).splitlines())


@pytest.mark.thorough
@pytest.mark.parametrize("numbers", ["apart", "alike"])
def test_functions_from_many_processes_stay_apart_in_one(tmp_path, numbers):
    """Those numbered alike get mixed up: were it not so, this test would see nothing, and no numbers would be needed."""
    alone = values(tmp_path, numbers, "1.0") | values(tmp_path, numbers, "0.5")
    entries = set(tmp_path.iterdir())
    together = values(tmp_path, numbers, "0.5", "1.0")
    assert len(entries) == 2 and set(tmp_path.iterdir()) == entries, "all of it came from the disk"
    assert len(set(alone.values())) == 2 and (together == alone) is (numbers == "apart")


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
