"""The C version of all steps, which timings are compared with, does what the kernels do. Nothing here is timed."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import polhode

HOME = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("benchmark_compare", HOME / "benchmarks" / "compare.py")
compare = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(compare)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    try:
        return compare.library(tmp_path_factory.mktemp("c"))
    except compare.NoCompiler as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("problem", compare.PROBLEMS)
@pytest.mark.parametrize("key", compare.METHODS)
def test_c_agrees_to_round_off(key, problem, loaded):
    # The long step turns the body by more than a quarter turn, where cos_sinc reduces its argument.
    for dt, steps in ((1e-3, 500), (1.3, 1)):
        ours, theirs = compare.in_python(key, problem, dt, steps), compare.in_c(loaded, key, problem, dt, steps)
        for a, b in zip(ours, theirs, strict=True):
            assert np.isfinite(a).all()
            assert np.abs(a - b).max() <= 1e-13 * np.abs(a).max()
        start = compare.in_c(loaded, key, problem, dt, 0)
        assert np.abs(start[0] - ours[0]).max() > 1e-4, "what agrees is not the start"


def test_without_a_compiler_it_says_so(monkeypatch, capsys):
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setattr("sys.argv", ["compare.py"])
    compare.main()
    assert "no-such-compiler" in capsys.readouterr().out
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(compare.NoCompiler, match="install one"):
        compare.compiler()


def test_the_c_version_is_of_methods_and_torques_that_there_are():
    """A method without one is no fault; those that had one in 2026 keep it."""
    assert set(compare.METHODS) <= set(polhode.methods) and len(set(compare.METHODS)) >= 24
    assert set(compare.PROBLEMS) <= set(polhode.problems)
