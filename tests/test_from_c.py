"""A method whose step is in C: it is the kernel that it repeats, in every driver, and says what cannot be done with it."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import polhode
from polhode.compiling.from_c import from_c
from polhode.compiling.operations import operations
from polhode.methods import METHODS
from polhode_study.run.method_sheet import identity

DOCS = Path(__file__).parents[1] / "docs"
pytestmark = [
    pytest.mark.thorough,  # nothing that calls C is kept compiled
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler"),
]


@pytest.fixture(scope="module")
def method():
    with METHODS.restored():
        yield METHODS.load(DOCS / "example_c.py")


def test_a_step_in_c_is_the_method_that_it_repeats(method):
    runs = [polhode.simulate("asymmetric_heavy_top", key, 1e-3, 1.0) for key in (method.key, "euler")]
    assert np.abs(runs[0].omega.values).max() > 1
    for name in ("q", "omega"):
        np.testing.assert_allclose(runs[0][name].values, runs[1][name].values, rtol=0, atol=1e-12)


def test_it_is_recognised(method):
    assert list(identity(method)["same"]) == ["euler"]


def test_what_needs_its_arithmetic_says_so(method):
    with pytest.raises(ValueError, match="step is compiled C: it takes floats, got Counting"):
        operations(method)


def test_missing_functions_and_wrong_c_are_refused(tmp_path):
    with pytest.raises(ValueError, match="has no function 'stepp'"):
        from_c(DOCS / "example_step.c", "stepp", 7)
    (tmp_path / "wrong.c").write_text("void step(")
    with pytest.raises(ValueError, match=r"wrong\.c does not compile: .*error"):
        from_c(tmp_path / "wrong.c", "step", 7)


#: In C++, with a name of its library that is only in a header.
CPP = """#include <array>
%s void step(const double *state, double dt, double *next)
{
    std::array<double, 3> v = {1.0, 2.0, 3.0};
    for (int i = 0; i < 3; i++) next[i] = state[i] + dt * v[i];
}
"""


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")
def test_a_step_in_cpp_is_declared_as_one_of_c(tmp_path, monkeypatch):
    (tmp_path / "mine.cpp").write_text(CPP % 'extern "C"')
    (tmp_path / "named.cpp").write_text(CPP % "")
    with pytest.raises(ValueError, match=r'named\.cpp has no function .step.; in C\+\+ declare it extern "C"'):
        from_c(tmp_path / "named.cpp", "step", 3)
    assert from_c(tmp_path / "mine.cpp", "step", 3)((1.0, 1.0, 1.0), 0.5) == (1.5, 2.0, 2.5)
    monkeypatch.chdir(tmp_path)
    subprocess.run(["c++", "-shared", "-fPIC", "mine.cpp", "-o", "mine.so"], check=True)
    assert from_c("mine.so", "step", 3)((1.0, 1.0, 1.0), 0.5) == (1.5, 2.0, 2.5)
