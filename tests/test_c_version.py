"""The C of all steps, generated and for some by hand, with which times are compared, does what the kernels do; untimed."""

import ctypes
import importlib.util
import math
import re
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import polhode
from polhode.compiling.plain import plain_copy
from polhode.methods import calzavarini2010
from polhode_study.chapters import rendering
from polhode_study.inputs import Inputs

HOME = Path(__file__).parents[1]


def executed(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


compare = executed(HOME / "benchmarks" / "compare.py")

#: Step and number of steps: a fine run; one step of more than a quarter turn, where cos_sinc reduces its argument; a coarse
#: run, in which the extrapolation of Magnus-Adams 4 misses and tangents of half the angle are far from the angle.
RUNS = ((1e-3, 500), (1.3, 1), (0.4, 40))


def compiled(make, tmp_path_factory, *flags, **options):
    try:
        return make(tmp_path_factory.mktemp("c"), flags, **options)
    except compare.NoCompiler as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def same_bits(tmp_path_factory):
    """All methods; without optimisation, which changes no bit and takes a fifth of the time."""
    return compiled(compare.library, tmp_path_factory, *compare.SAME_BITS, "-O0")


@pytest.fixture(scope="module")
def as_timed(tmp_path_factory):
    """With the flags of the faster version: a method of each group, as they concern the compiler alone."""
    return compiled(compare.library, tmp_path_factory, methods=[polhode.methods[key] for key in compare.WITNESSES])


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory):
    return compiled(compare.witnesses, tmp_path_factory, *compare.SAME_BITS)


@pytest.fixture(scope="module")
def bodies():
    """Problems whose bodies and motions take every branch: moments in any order, symmetric bodies, a sphere, a body at rest."""
    free, damped = polhode.problems["free_asymmetric_top"], polhode.problems["damped_top"]
    moments = [*permutations((0.8, 1.3, 1.9)), (1.0, 1.0, 1.6), (1.6, 1.0, 1.0), (1.0, 1.6, 1.0), (1.2, 1.2, 1.2)]
    made = [replace(free, body=polhode.Body(values)) for values in moments]
    made += [replace(free, omega0=values) for values in ((0.2, -0.3, 2.0), (2.0, 0.3, -0.2), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0))]
    turned = replace(damped, q0=(0.5, -0.5, 0.5, 0.5))
    return [*made, turned, damped.with_parameters(cx=2.5, cy=2.5, cz=2.5)]


def differences(loaded, key, case, dt, steps):
    """The largest differences of q and omega, relative to the largest component; None if the motion is not finite."""
    ours, theirs = compare.in_python(key, case, dt, steps), compare.in_c(loaded, key, case, dt, steps)
    if not all(np.isfinite(a).all() for a in ours):
        return None
    return [np.abs(a - b).max() / (np.abs(a).max() or 1.0) for a, b in zip(ours, theirs, strict=True)]


def has_the_bits_of_the_kernels(loaded, key, bodies):
    for problem in compare.PROBLEMS:
        case = polhode.problems[problem]
        for dt, steps in RUNS[:2]:
            assert differences(loaded, key, case, dt, steps) == [0.0, 0.0], (problem, dt)
        start, end = (compare.in_c(loaded, key, case, 1e-3, steps) for steps in (0, 500))
        assert np.abs(start[0] - end[0]).max() > 1e-4, "what agrees is not the start"
    compared = 0
    for case in bodies:
        for dt, steps in RUNS:
            deviations = differences(loaded, key, case, dt, steps)
            assert deviations in ([0.0, 0.0], None), (case.body.inertia, case.omega0, dt)
            compared += deviations is not None
    assert compared >= 2 * len(bodies)


@pytest.mark.thorough
@pytest.mark.parametrize("key", compare.METHODS)
def test_generated_c_has_the_bits_of_the_kernels(key, same_bits, bodies):
    has_the_bits_of_the_kernels(same_bits, key, bodies)


@pytest.mark.thorough
@pytest.mark.parametrize("key", compare.METHODS)
def test_the_omega_that_a_method_stores(key, same_bits):
    method, body, dt = polhode.methods[key], polhode.Body((0.8, 1.3, 1.9)), 0.1
    start, stored = (plain_copy(kernel, {math.sqrt: math.sqrt}, "{name}") for kernel in (method.start, method.stored))
    numbers = body.coefficients()
    others = ((0.4, -0.5, 0.2), numbers, dt) if method.torques_per_step == 1 else (numbers,)
    state = start((0.5, -0.1, 0.7, 0.5), (0.9, -0.7, 1.1), *others)
    given, omega = [np.array(values) for values in (state, numbers)], np.empty(3)
    pointers = [a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in (*given, omega)]
    getattr(same_bits, f"{key}_stored_by")(*pointers[:2], ctypes.c_double(dt), pointers[2])
    assert tuple(omega) == stored(state, numbers, dt)


@pytest.mark.thorough
@pytest.mark.parametrize("key", compare.WITNESSES)
def test_c_by_hand_has_the_bits_of_the_kernels(key, by_hand, bodies):
    has_the_bits_of_the_kernels(by_hand, key, bodies)


@pytest.mark.thorough
def test_methods_outside_the_registry_have_the_same_bits(tmp_path_factory):
    """A plug-in, and methods whose kernels find numbers behind those of the body."""
    plugin = executed(HOME / "docs" / "example_plugin.py").METHOD
    printed = calzavarini2010.scheme(a13=True, a32=True, omega_sum=True, normalise_half=False)
    for method in (plugin, printed):
        loaded = compiled(compare.library, tmp_path_factory, *compare.SAME_BITS, methods=[method])
        for problem in compare.PROBLEMS:
            case = polhode.problems[problem]
            result = compare.in_c(loaded, method.key, case, 1e-3, 500)
            body, torque = case.body.coefficients(), case.compiled_torque
            at = np.array([500])
            q, omega, *_ = method.integrate(case.q0, case.omega0, body, torque, case.parameter_array, 1e-3, at)
            assert np.isfinite(q).all() and (result[0] == q[0]).all() and (result[1] == omega[0]).all()


@pytest.mark.thorough
@pytest.mark.parametrize("key", compare.WITNESSES)
def test_c_as_it_is_timed_agrees_to_round_off(key, as_timed):
    for problem in compare.PROBLEMS:
        for dt, steps in RUNS[:2]:
            assert max(differences(as_timed, key, polhode.problems[problem], dt, steps)) <= 1e-13


def test_every_method_is_compared_and_one_of_each_group_by_hand():
    assert sorted(compare.METHODS) == sorted(polhode.methods)
    groups = [polhode.methods[key].group for key in compare.WITNESSES]
    assert sorted(groups) == sorted({method.group for method in polhode.methods.values()})
    assert set(compare.TIMED) <= set(compare.PROBLEMS) <= set(polhode.problems)


def test_the_table_says_which_ratios_are_too_large():
    times = {
        "damped_top": {"euler": (10.0, 20.0), "rk4": (28.0, 20.0)},
        "lab_torque": {"euler": (26.0, 20.0), "rk4": (9.0, 10.0)},
    }
    made = compare.table(times, "measured somewhere")
    assert (
        "| method | friction: kernels | C | ratio | `lab_torque`: kernels | C | ratio |\n|---|---|---|---|---|---|---|\n"
        in made
    )
    assert "| `rk4` | 28.0 | 20.0 | 1.40 | 9.0 | 10.0 | 0.90 |\n" in made
    assert made.startswith("measured somewhere\n")
    assert made.endswith("Ratios above 1.3: `rk4`. The largest is 1.40 (`rk4`, friction), the median 1.10.")
    del times["damped_top"]["rk4"], times["lab_torque"]["rk4"]
    assert "No ratio is above 1.3. The largest is 1.30 (`euler`, `lab_torque`)" in compare.table(times, "")


def test_the_table_stands_in_the_readme_once():
    text = compare.README.read_text(encoding="utf-8")
    once = compare.with_table(text, "| a table |")
    assert compare.with_table(once, "| a table |") == once
    before, _, after = text.partition(compare.MARKS[0])
    assert once.startswith(before) and once.endswith(after.partition(compare.MARKS[1])[2])
    assert once.count("| a table |") == 1


@pytest.mark.thorough
def test_without_a_compiler_it_says_so(monkeypatch, capsys):
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setattr("sys.argv", ["compare.py"])
    compare.main()
    assert "no-such-compiler" in capsys.readouterr().out
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(compare.NoCompiler, match="install one"):
        compare.compiler()


def test_the_readme_has_the_table_of_all_methods_only(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["compare.py", "--readme", "--methods", "euler"])
    with pytest.raises(SystemExit):
        compare.main()
    assert "leave out --methods" in capsys.readouterr().err


def test_the_report_states_the_times_of_the_readme():
    readme = compare.README.read_text(encoding="utf-8")
    cells = {key: row.split(" | ") for key, row in re.findall(r"^\| `(\w+)` \| (.+) \|$", readme, re.MULTILINE)}
    times = {
        problem: {key: (float(cells[key][3 * n]), float(cells[key][3 * n + 1])) for key in ("euler", "spiral_leapfrog")}
        for n, problem in enumerate(compare.TIMED)
    }
    assert compare.STATED.read_text(encoding="utf-8") == compare.stated(times)
    made = rendering.numbers("times", Inputs("none.nc", published=compare.STATED.parent))
    for side, coding in enumerate(("Kernels", "C")):
        extra = [100 * (of["spiral_leapfrog"][side] / of["euler"][side] - 1) for of in times.values()]
        stated = [int(made[f"costCoding{coding}{end}"].strip(r"\num{}")) for end in ("Least", "Most")]
        assert stated == [round(min(extra)), round(max(extra))]
