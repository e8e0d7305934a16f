"""Answers when the time is over: from runs with half the step, from random satellites or bodies, and never confirmed."""

import re

import numpy as np
import pytest
from test_wheels import another_integrator

import polhode
from polhode.advice import AdviceError, from_runs, halving, unfinished
from polhode.advice.budget import Budget
from polhode.advice.cases import case_of_mapping, case_of_words
from polhode.advice.errors import Angle, TimeOver
from polhode.advice.halving import Halved, halved
from polhode.algebra import metrics

#: A satellite without wheels and without a controller: a thruster fires twice.
FIRED = {
    "inertia": [0.007, 0.035, 0.036],
    "omega": [0.001, -0.0011, 0.002],
    "signals": {"jet": {"firings": [[100, 0.02], [300, 0.5]]}},
    "torque": ["1e-3 * jet", "-2e-4 * jet", 0],
    "time": 600,
}
SMOOTH = {"inertia": [1, 2, 2.5], "omega": [1, 0.1, 0.3], "torque": ["0.1 * sin(t)", "-0.2 * qx", 0], "time": 20}
AT_REST = {**FIRED, "omega": [0, 0, 0]}


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Runs without a time need methods that are compiled."""
    polhode.compile_all((halving.SEVERAL, halving.ALONE), problems=False)


def angle_at_the_end(given, answer):
    problem = case_of_mapping(given)[0].starts[0]
    run = polhode.simulate(problem, answer.method, dt=answer.dt, samples=1)
    return metrics.geodesic_angle(run["q"].values[-1], another_integrator(problem, problem.horizon)[0])


@pytest.mark.parametrize("given", [FIRED, AT_REST, SMOOTH])
def test_a_body_without_wheels_has_a_step_when_no_time_is_left(given):
    """The step of two runs that agree, which meets the error; no word says that it is confirmed."""
    answer = polhode.recommend({**given, "error": "0.01 deg"}, limit=0.001)
    assert not answer.confirmed and str(answer).startswith("NOT CONFIRMED: take Magnus-Adams 4")
    assert "within the time limit" in answer.serves and "differs by" in answer.serves
    assert f"It rests on {int(answer.evidence[0].split()[0])} runs from the given start" in answer.serves
    assert 0 < answer.best.error < 0.8 * np.radians(0.01)
    assert angle_at_the_end(given, answer) < np.radians(0.01)
    assert len(str(answer).splitlines()) <= 12


def test_several_torques_are_run_where_they_are_allowed():
    answer = polhode.recommend({**FIRED, "error": 1e-4}, limit=0.001, one_torque=False)
    assert answer.method == "rk4" and answer.asked["one_torque"] is False


@pytest.mark.parametrize("method", ["rk4", "magnus_adams4"])
def test_two_runs_differ_by_the_error_of_the_longer_step(method):
    case = case_of_mapping(SMOOTH)[0]
    runs = halved(case, Angle(1e-6), method == "magnus_adams4", Budget(60.0))
    assert runs.method == method and runs.meets(1e-6) and runs.runs > 3
    run = polhode.simulate(case.starts[0], method, dt=20 / runs.steps, samples=64)
    error = metrics.geodesic_angle(run["q"].values[-1], another_integrator(case.starts[0], 20.0)[0])
    assert 0.3 * runs.difference < error < 1.2 * runs.difference
    speed = np.linalg.norm(run["omega"].values, axis=1)
    assert runs.radians == pytest.approx(np.trapezoid(speed, run["time"].values), rel=0.01)


def test_runs_end_with_the_time():
    """Beyond the runs that are made in any case none is begun; the two that agree best are named."""
    case = case_of_words((1, 2, 2.5), (0, 6, 8), "lab", 1e4, 1.0, (1, 0, 0, 0))
    runs = halved(case, 1e-9, False, Budget(1e-9))
    assert runs is None or (runs.steps < halving.AT_LEAST and not runs.meets(1e-9))


def over(runs=None):
    error = TimeOver(
        "the time is over: the motion over 200000 s cannot be computed to well below 0.001 within the time limit; it alone "
        "needs about 110 s or more; allow more time with `limit`"
    )
    error.halved = runs
    return error


@pytest.mark.parametrize(
    ("given", "runs", "said"),
    [
        (FIRED, None, "it rests on no run of this problem but on random satellites"),
        (AT_REST, Halved("rk4", 9, 0.5, 2, 1.3), "it rests on no run of this problem but on random satellites"),
        (SMOOTH, None, "it rests on no run of this problem but on random bodies"),
        ({**SMOOTH, "torque": ["-0.1 * wx", 0, 0]}, Halved("rk4", 9, 0.5, 2, 9.0), "random bodies"),
    ],
)
def test_random_ones_answer_where_runs_do_not_agree(given, runs, said):
    case = case_of_mapping(given)[0]
    answer = unfinished.not_confirmed(case, over(runs), 1e-3, 100.0, False)
    assert said in answer.serves and "the time is over" in answer.serves
    assert answer.why().startswith("NOT CONFIRMED: ") and not answer.confirmed
    assert len(str(answer).splitlines()) <= 12 and re.search(r"sufficient for 90% of 512 random", answer.serves)
    assert answer.error == 1e-3 and 0 < answer.dt < 600 and answer.changes[0] == "more time with `limit`"


def test_runs_that_miss_the_error_are_named_where_alone():
    """No random bodies were run for an error of 1e-15 in 2e6 radians."""
    case = case_of_mapping({**SMOOTH, "time": 2e6})[0]
    answer = unfinished.not_confirmed(case, over(Halved("rk4", 9, 0.5, 2, 2e6)), 1e-15, 100.0, False)
    assert "the best step tested is Runge-Kutta 4" in answer.sentence and "which misses the error" in answer.serves
    assert "It rests on 2 runs from the given start" in answer.serves and answer.best.mark == "misses the error"


@pytest.mark.parametrize("given", [{**SMOOTH, "omega": [0, 0, 0]}, {**SMOOTH, "omega": [0, 0, 0], "torque": [0, 0, 0]}])
def test_what_nothing_answers_is_refused_with_its_reason(given):
    case = case_of_mapping(given)[0]
    with pytest.raises(AdviceError, match="the time is over: the motion"):
        unfinished.not_confirmed(case, over(), 1e-3, 100.0, False)
    assert given["torque"][0] or halved(case, Angle(1e-3), False, Budget(60.0)) is None


def test_methods_that_are_not_compiled_in_time_leave_a_step(monkeypatch):
    monkeypatch.setattr(from_runs, "compile_all", lambda keys, problems, seconds: list(keys))
    answer = polhode.recommend({**FIRED, "error": "0.01 deg"}, limit=60)
    assert "is over before the methods are compiled" in answer.serves and "runs from the given start" in answer.serves
    assert angle_at_the_end(FIRED, answer) < np.radians(0.01)
