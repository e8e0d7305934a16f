"""The example of a step in C++ for readers to follow: it is built, and conserves what it should."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import polhode
from polhode.export import LANGUAGES

EXAMPLE = Path(__file__).parents[1] / "examples" / "dem_step"


def changes(program, steps):
    """The velocity of the first clump, and the relative changes of energy and angular momentum."""
    printed = subprocess.run([program, str(steps)], capture_output=True, text=True, check=True).stdout
    return [[float(x) for x in re.findall(r"-?\d[\d.e+-]*", line.partition(":")[2])] for line in printed.splitlines()]


def test_the_header_is_what_the_command_writes():
    text = (EXAMPLE / "spiral_leapfrog.h").read_text(encoding="utf-8")
    assert text == LANGUAGES["c"].source(polhode.methods["spiral_leapfrog"]), "run polhode code spiral_leapfrog again"


def test_two_clumps_collide(tmp_path):
    if not shutil.which("g++"):
        pytest.skip("g++ is not there")
    command = ["g++", "-std=c++11", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", "-ffp-contract=off"]
    subprocess.run([*command, str(EXAMPLE / "main.cpp"), "-o", "dem_step"], cwd=tmp_path, check=True)
    (velocity, (energy,), (momentum,)), (fine, _, (less,)) = (changes(tmp_path / "dem_step", n) for n in (10_000, 20_000))
    assert abs(velocity[0] - 0.5) > 0.1, "they have not met"
    assert max(abs(a - b) for a, b in zip(velocity, fine, strict=True)) < 1e-5
    assert 0 < abs(energy) < 1e-6
    assert momentum / less == pytest.approx(4, rel=0.01), "the rotation is of second order"


@pytest.mark.thorough
def test_cmake_builds_it(tmp_path):
    if not (shutil.which("cmake") and shutil.which("c++")):
        pytest.skip("cmake or a compiler is not there")
    for words in (["-S", str(EXAMPLE), "-B", str(tmp_path)], ["--build", str(tmp_path)]):
        subprocess.run(["cmake", *words], check=True, capture_output=True)
    assert changes(tmp_path / "dem_step", 300)
