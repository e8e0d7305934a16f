"""The patches that docs/patches offers to other codes: their own lines, compiled, have the order that they promise."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import polhode
from polhode.compiling.plain import in_plain_python
from polhode.methods.plain_driver import plain_driver

PATCHES = sorted((Path(__file__).parents[1] / "docs" / "patches").glob("*.patch"))
#: A body, its start, a torque that is fixed in the lab, and how long it acts.
MOMENTS, OMEGA, TORQUE, END = np.array([0.8, 1.3, 1.9]), np.array([0.9, -0.7, 1.1]), np.array([0.3, -0.4, 0.5]), 1.6
STEPS = (40, 80, 160)


def hunks(name, sign):
    """The pieces of code that a patch touches, as they are (-) or as patched (+), in its order."""
    text = next(path for path in PATCHES if path.stem == name).read_text(encoding="utf-8")
    pieces = re.split(r"^@@ .*$", text, flags=re.MULTILINE)[1:]
    rows = [re.split(r"^--- a/", piece, flags=re.MULTILINE)[0].splitlines() for piece in pieces]
    return ["\n".join(row[1:] for row in piece if row[:1] in (" ", sign)) + "\n" for piece in rows]


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """What the compiled lines of the patches give: (code, old or new, steps) -> numbers at the end."""
    if not shutil.which("g++"):
        pytest.skip("g++ is not there")
    folder = tmp_path_factory.mktemp("patched")
    for code, patch in (("yade", "yade_fincham"), ("basilisk", "basilisk_torque")):
        for age, sign in (("old", "-"), ("new", "+")):
            for i, piece in enumerate(hunks(patch, sign)):
                (folder / f"{code}_{age}_{i}.inc").write_text(piece)
    # The headers that the patch includes: what they have is in the file itself.
    includes = folder / "basilisk_new_1.inc"
    for name in re.findall(r'#include "(.*)"', includes.read_text()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    source, program = Path(__file__).parent / "patched_steps.cpp", folder / "patched_steps"
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f'-DBASILISK_INCLUDES="{includes.name}"', f"-I{folder}"]
    done = subprocess.run([*command, str(source), "-o", str(program)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = subprocess.run([program, *map(str, STEPS)], capture_output=True, text=True, check=True).stdout.splitlines()
    cells = [row.split() for row in rows]
    return {(*name.split("_"), int(steps)): np.array(values, float) for name, steps, *values in cells}


def order(errors):
    return np.log2(errors[0] / errors[-1]) / (len(errors) - 1)


def by_kernels(key, steps):
    """q and omega in the lab at END, by a method of ours."""
    body, dt = polhode.Body(tuple(MOMENTS)).coefficients(), END / steps

    def torque(t, q, omega, parameters):
        return tuple(rotation(q).T @ TORQUE)

    driver = plain_driver(polhode.methods[key], in_plain_python, torque, body, dt)
    state = driver.start((1.0, 0.0, 0.0, 0.0), tuple(OMEGA))
    for n in range(steps):
        state = driver.step(state, n)
    q, omega = (np.array(values) for values in driver.read(state, steps))
    return q, rotation(q) @ omega


@pytest.fixture(scope="module")
def exact():
    """By a method of fourth order in short steps."""
    return by_kernels("rkmk4", 1600)


def rotation(q):
    """The matrix that takes body to lab."""
    w, v = q[0], np.array(q[1:])
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def test_yade_as_it_is_is_the_method_that_was_identified(numbers):
    assert np.abs(numbers["yade", "old", 40][:4] - by_kernels("fincham1992_yade", 40)[0]).max() < 1e-13


@pytest.mark.parametrize(
    ("code", "age", "least", "most"),
    [("yade", "old", 0.8, 1.2), ("yade", "new", 1.9, 2.2), ("basilisk", "old", 0.8, 1.2), ("basilisk", "new", 3.8, 4.3)],
)
def test_a_code_gains_orders(exact, numbers, code, age, least, most):
    errors = [np.abs(numbers[code, age, steps][:4] - exact[0]).max() for steps in STEPS]
    assert least < order(errors) < most, errors


def test_the_velocity_of_yade_is_that_of_the_half_step(exact, numbers):
    """Read half a step before the end: what is left after half a step of it is of second order, and was of first."""
    q, omega = exact
    spin = rotation(q).T @ omega
    rate = rotation(q) @ ((rotation(q).T @ TORQUE - np.cross(spin, MOMENTS * spin)) / MOMENTS)
    for age, least, most in (("old", 0.8, 1.2), ("new", 1.9, 2.3)):
        off = [np.abs(numbers["yade", age, steps][4:] + END / steps / 2 * rate - omega).max() for steps in STEPS]
        assert least < order(off) < most, (age, off)


@pytest.mark.parametrize("path", PATCHES, ids=lambda path: path.stem)
def test_a_patch_is_short_and_counts_its_lines(path):
    rows = path.read_text(encoding="utf-8").splitlines()
    heads = [i for i, row in enumerate(rows) if row.startswith("@@")]
    for i in heads:
        old, new = (int(n) for n in re.match(r"@@ -\d+,(\d+) \+\d+,(\d+) @@", rows[i]).groups())
        end = next((k for k in range(i + 1, len(rows)) if rows[k].startswith(("@@", "---"))), len(rows))
        signs = [row[:1] or " " for row in rows[i + 1 : end]]
        assert (signs.count(" ") + signs.count("-"), signs.count(" ") + signs.count("+")) == (old, new), rows[i]
    changed = [row for row in rows if row[:1] in ("-", "+") and row[:3] not in ("---", "+++")]
    assert 2 <= len(changed) <= 10
