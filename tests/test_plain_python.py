"""The kernels compiled and as plain Python give the same bits.

Run as a program, this file prints the states of every method; the test runs it with compilation switched off and compares.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve()


def states() -> dict[str, list[str]]:
    """Hexadecimal states of every method after 20 and 40 steps: method and problem -> q, omega, stored omega."""
    import conftest

    import polhode

    problems = [
        polhode.problems["spiral_cylinder"],
        conftest.make("heavy", conftest.heavy_torque, "state", conftest.HEAVY),
        # A sphere spinning so fast that cos_sinc reduces its argument: 42 rad per step.
        conftest.make(
            "fast", conftest.constant_torque, "constant", body=polhode.Body((1.0, 1.0, 1.0)), omega0=(4000.0, 1000.0, -900.0)
        ),
    ]
    result = {}
    for method in polhode.methods.values():
        for problem in problems:
            run = polhode.simulate(problem, method, 0.01, 0.4, samples=2)
            assert int(run.steps) == 40
            values = np.concatenate([run.q.values, run.omega.values, run.stored_omega.values], axis=1)
            result[f"{method.key} {problem.key}"] = [float(x).hex() for x in values.ravel()]
    return result


@pytest.fixture(scope="module")
def plain() -> dict[str, list[str]]:
    """The same from a Python that does not compile."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join([p for p in sys.path if p])}
    run = subprocess.run([sys.executable, str(HERE)], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return {line.partition(":")[0]: line.partition(":")[2].split() for line in run.stdout.splitlines()}


@pytest.mark.thorough
def test_compiled_equals_plain_python_to_the_last_bit(plain):
    compiled = states()
    assert list(plain) == list(compiled)
    different = [name for name in compiled if compiled[name] != plain[name]]
    assert not different


if __name__ == "__main__":
    import numba

    assert numba.config.DISABLE_JIT
    for name, values in states().items():
        print(f"{name}:{' '.join(values)}")
