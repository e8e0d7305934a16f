"""Pauses of long compiled loops: no bit depends on them, and Ctrl-C ends a run at the next one."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import polhode
from polhode import manybody
from polhode.compiling import cache, marching
from polhode.manybody.simulation import run

HOME = Path(__file__).parents[1]
HUGE = 10**15
METHODS = ["spiral_leapfrog", "pcdm2013_mid", "rk4"]
PAUSES = marching.Pauses


@pytest.fixture
def parts(monkeypatch):
    """Divide runs into parts of so many steps; returns the numbers of steps at which was paused."""

    def divide(length: int) -> list[int]:
        paused = []

        class Counting(PAUSES):
            def __init__(self, first=None):
                super().__init__(length)
                look = self._look

                def counting(n):
                    paused.append(n)
                    return look(n)

                self._look = counting
                self._function = marching._Function(counting)

        monkeypatch.setattr(marching, "next_length", lambda length, seconds: length)
        for module in ("polhode.compiling.marching", "polhode.manybody.simulation"):
            monkeypatch.setattr(sys.modules[module], "Pauses", Counting)
        return paused

    return divide


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("key", METHODS)
def test_no_bit_of_one_body_depends_on_the_pauses(key, normalise, parts):
    problem, method, at = polhode.problems["heavy_top"], polhode.methods[key], np.array([0, 1, 10, 14, 77, 77, 100])

    def outcome():
        body = problem.body.coefficients()
        start = problem.q0, problem.omega0, body, problem.compiled_torque, problem.parameter_array
        *arrays, evaluations = method.integrate(*start, 1e-3, at, normalise)
        return [array.tobytes() for array in arrays], evaluations

    expected = outcome()
    for length in (1, 7, 13, HUGE):
        paused = parts(length)
        assert outcome() == expected
        assert paused == list(range(0, 101, length))


def test_no_bit_of_a_system_depends_on_the_pauses(parts):
    system, method, at = polhode.problems["coupled_cylinders"], polhode.methods["spiral_leapfrog"], np.array([0, 3, 14, 50])
    *arrays, evaluations = method.integrate_system(system, 1e-3, at)
    expected = [array.tobytes() for array in arrays], evaluations
    for length in (1, 7, HUGE):
        paused = parts(length)
        *arrays, evaluations = method.integrate_system(system, 1e-3, at)
        assert ([array.tobytes() for array in arrays], evaluations) == expected
        assert paused == list(range(0, 51, length))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("key", "brute_force"), [("spiral_leapfrog", False), ("spiral_leapfrog", True), ("pcdm2013_mid", False)]
)
def test_no_bit_of_many_bodies_depends_on_the_pauses(key, brute_force, parts):
    scene, at = manybody.scenes["rods"], np.array([0, 5, 300])
    start = scene.initial_state(0)

    def outcome():
        done = run(scene, polhode.methods[key], 1e-4, start, at, record=True, brute_force=brute_force)
        memory = done.pop("checkpoint").memory._asdict()
        return {name: np.asarray(values).tobytes() for name, values in (done | memory).items()}

    expected = outcome()
    assert np.frombuffer(expected["diverged"], np.int64) == -1
    for length in (1, 7, HUGE):
        paused = parts(length)
        assert outcome() == expected
        assert len(paused) > 300 // length and all(b - a in (length, length + 1) for a, b in pairwise(paused))


LONG = {
    "one body": lambda: polhode.simulate("spiral_cylinder", "spiral_leapfrog", 1e-9, t_end=1e3, samples=2),
    "several torques": lambda: polhode.simulate("spiral_cylinder", "rk4", 1e-9, t_end=1e3, samples=2),
    "system": lambda: polhode.simulate("coupled_cylinders", "spiral_leapfrog", 1e-9, t_end=1e3, samples=2),
    "many bodies": lambda: manybody.simulate("rods", "spiral_leapfrog", 1e-9, t_end=10.0, samples=2),
}


class Stopped(Exception):
    """What a handler of the user's raises."""


@pytest.mark.thorough
@pytest.mark.parametrize("name", LONG)
def test_a_signal_ends_a_run_of_a_million_million_steps(name):
    """Whatever the handler raises comes out, with nothing printed on the way."""

    def stop(number, frame):
        raise Stopped

    before = signal.signal(signal.SIGUSR1, stop)
    unraised = []
    hook, sys.unraisablehook = sys.unraisablehook, unraised.append
    try:
        threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        with pytest.raises(Stopped):
            LONG[name]()
    finally:
        signal.signal(signal.SIGUSR1, before)
        sys.unraisablehook = hook
    assert unraised == []


@pytest.mark.thorough
def test_ctrl_c_ends_a_script():
    script = "import polhode; print(1, flush=True); polhode.simulate('spiral_cylinder', 'spiral_leapfrog', 1e-9, t_end=1e3)"
    environment = os.environ | {"PYTHONPATH": str(HOME / "src")}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        process.stdout.readline()
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        try:
            assert process.communicate(timeout=600)[1].endswith("KeyboardInterrupt\n")
        finally:
            process.kill()


def test_ctrl_c_is_not_lost_where_llvm_calls_python():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), cache._compilation():
        ctypes.CFUNCTYPE(None)(interrupted)()
    before = sys.unraisablehook
    with cache._compilation():
        pass
    assert sys.unraisablehook is before


def test_parts_take_a_fraction_of_a_second():
    assert marching.next_length(1000, 1e-6) == 1000 * marching.LONGER
    assert marching.next_length(10**6, 0.6) == pytest.approx(10**6 * marching.SECONDS / 0.6)
    assert marching.next_length(3, 100.0) == 1
    assert marching.next_length(10, 0.0) == 10 * marching.LONGER


def test_a_thread_runs_beside_the_main_one():
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(polhode.simulate("spiral_cylinder", "euler", 1e-6, samples=2)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 2 and results[0].identical(results[1])


def test_laps_note_the_time_at_their_ends_and_change_no_bit():
    rods, spiral = manybody.scenes["rods"], polhode.methods["spiral_leapfrog"]
    begin, at = rods.initial_state(0), np.array([0, 100, 300])
    ticks = iter(range(100))
    laps = marching.Laps([50, 100, 250, 300], lambda: float(next(ticks)))
    timed, plain = run(rods, spiral, 3.83e-5, begin, at, pauses=laps), run(rods, spiral, 3.83e-5, begin, at)
    np.testing.assert_array_equal(timed["energies"], plain["energies"])
    assert laps.clocked == [0.0, 1.0, 2.0, 3.0]
    early = marching.Laps([50, 400], lambda: 1.0)
    run(rods, spiral, 3.83e-5, begin, at, pauses=early)
    assert early.clocked == [1.0], "the run has 300 steps"


def test_a_clock_that_raises_ends_the_laps():
    def clock():
        raise KeyboardInterrupt

    rods = manybody.scenes["rods"]
    with pytest.raises(KeyboardInterrupt):
        run(
            rods,
            polhode.methods["spiral_leapfrog"],
            3.83e-5,
            rods.initial_state(0),
            np.array([HUGE]),
            pauses=marching.Laps([5], clock),
        )
