"""Advice: the exact motion, the search for a step, the cases, the contacts, the command and the Python front."""

import json
import math
import re
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from textwrap import wrap
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from conftest import UPRIGHT, make
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from test_advice_scenes import BED, CLUMP, MATERIAL

import polhode
from polhode import cli
from polhode.advice import AdviceError, cases, files, from_contacts, from_runs, problem_in_file
from polhode.advice import motion as motion_module
from polhode.advice.answer import Choice, Recommendation
from polhode.advice.budget import Budget
from polhode.advice.cases import (
    case_of_class,
    case_of_mapping,
    case_of_problem,
    case_of_words,
    parameters_of,
    torque_of_formulas,
)
from polhode.advice.cautions import at_outputs, restarts
from polhode.advice.contenders import Contenders
from polhode.advice.errors import Angle, in_radians
from polhode.advice.motion import KnownMotion, largest_error, motion_of
from polhode.algebra import quaternion
from polhode.algebra.body import Body
from polhode.ensembles.classes import CLASSES
from polhode.fits.laws import quantile
from polhode.interface.storage import write_groups
from polhode.methods.runs import in_pieces
from polhode.references import taylor

HOME = Path(__file__).parents[1]
sys.path.insert(0, str(HOME / "benchmarks"))
import advice as benchmark  # noqa: E402

#: Enough methods for a test: of two orders, with one torque and with several, and a variant as published.
FEW = ("spiral_leapfrog", "magnus_adams4", "euler", "rk4", "cf4", "verlet_delvalle2024")


@pytest.fixture
def few(monkeypatch):
    """Only some methods are asked, so that a test does not load them all; of these none is left out."""
    ask_only(monkeypatch, FEW)


@pytest.fixture
def glances(monkeypatch):
    """For torques without pulses: a motion is known as well from fewer looks at its torque."""
    monkeypatch.setattr(motion_module, "LOOKS", 2**14)
    monkeypatch.setattr(motion_module, "LOOKS_ELSEWHERE", 2**12)


def ask_only(monkeypatch, keys):
    all_of_them = from_runs.candidates

    def candidates(one_torque=False, everything=False):
        return [method for method in all_of_them(one_torque, everything) if method.key in keys]

    monkeypatch.setattr(from_runs, "candidates", candidates)
    monkeypatch.setattr(from_runs, "contenders", lambda *arguments: None)


# --- the exact motion ------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["lab_torque", "damped_top"])
@pytest.mark.usefixtures("glances")
def test_the_motion_is_that_of_the_taylor_series(key):
    problem = polhode.problems[key]
    motion = motion_of(problem, 1e-6, Budget(60.0))
    assert motion.uncertainty < 1e-8
    times = np.array([0.1234, 0.5, 1.7777, 2.0])
    exact = taylor.solve(problem, list(times), 20)
    q, omega = (np.array([[float(x) for x in state[i]] for state in exact]) for i in (0, 1))
    assert largest_error(*motion.at(times), q, omega, motion.scale) < motion.uncertainty


def test_a_motion_with_branches_in_its_torque_is_known_too():
    def torque(t, q, omega, parameters):
        push = parameters[0] if t < 0.5 else 0.0
        return (push, 0.0, 0.0)

    of_start = {"body": Body((2.0, 2.0, 2.0)), "omega0": (1.0, 0.0, 0.0), "q0": UPRIGHT}
    problem = make("kick", torque, "time", {"push": 4.0}, **of_start)
    motion = motion_of(problem, 1e-3, Budget(60.0))
    # omega = 1 + 2 t until 0.5, then 2: the angle is 0.75 + 1.
    q, omega = motion.at(np.array([1.0]))
    assert omega[0, 0] == pytest.approx(2.0, abs=1e-5)
    assert 2 * math.atan2(q[0, 1], q[0, 0]) == pytest.approx(1.75, abs=1e-5)
    assert motion.jumps == pytest.approx([0.5]) and motion.parts == 2


def driven(torque, horizon, breakpoints=(), **parameters):
    """A satellite that turns slowly, under a torque that depends on time."""
    of_start = {"body": Body((8.0, 11.0, 14.0)), "omega0": (0.02, 0.001, 0.03), "q0": UPRIGHT}
    return make("driven", torque, "time", parameters, **of_start, horizon=horizon, breakpoints=breakpoints)


def one_firing(t, q, omega, p):
    push = p[0] if p[1] <= t < p[1] + p[2] else 0.0
    return (0.0, push, 0.3 * push)


def one_pulse(t, q, omega, p):
    x = (t - p[1]) / p[2]
    push = p[0] * math.exp(-(x * x))
    return (0.0 * push, push, 0.3 * push)


def shaking(t, q, omega, p):
    return (p[0] * math.cos(p[1] * t), p[0] * math.sin(p[1] * t), 0.01)


def by_scipy(problem, edges):
    """q and omega at the horizon by DOP853, in pieces that end at the edges."""
    from scipy.integrate import solve_ivp

    moments = np.array(problem.body.inertia)

    def rates(t, y):
        a, b, c, d = y[:4]
        x, y_, z = omega = y[4:]
        torque = np.array(problem.torque(t, tuple(y[:4]), tuple(omega), problem.parameter_array))
        turning = (
            np.array([-b * x - c * y_ - d * z, a * x + c * z - d * y_, a * y_ + d * x - b * z, a * z + b * y_ - c * x]) / 2
        )
        return np.concatenate([turning, (torque - np.cross(omega, moments * omega)) / moments])

    state = np.array([*problem.q0, *problem.omega0])
    ends = [0.0, *(t for t in edges if 0 < t < problem.horizon), problem.horizon]
    for start, end in pairwise(ends):
        # An edge belongs to the piece that begins there.
        piece = solve_ivp(rates, (start, np.nextafter(end, 0)), state, "DOP853", rtol=1e-12, atol=1e-14)
        state = piece.y[:, -1]
    return state[None, :4], state[None, 4:]


def check_against_scipy(problem, edges, error=1e-4):
    motion = motion_of(problem, error, Budget(60.0))
    difference = largest_error(*motion.at(np.array([problem.horizon])), *by_scipy(problem, edges), motion.scale)
    assert difference < max(motion.uncertainty, 1e-9) and motion.uncertainty <= 0.1 * error
    return motion


@pytest.mark.thorough
@pytest.mark.parametrize("width", [1e-5, 1e-3, 0.1, 0.9])
@pytest.mark.parametrize("shape", [one_firing, one_pulse])
def test_a_pulse_is_seen_wherever_it_is(shape, width):
    for seed in range(2):
        start = float(np.random.default_rng(seed).uniform(0.01, 0.95 - 0.9 * width)) * 100
        problem = driven(shape, 100.0, M=0.01 / width, at=start, width=100 * width)
        edges = [start, start + 100 * width] if shape is one_firing else [start + k * 100 * width for k in (-6, -1, 0, 1, 6)]
        motion = check_against_scipy(problem, edges)
        if shape is one_firing:
            assert motion.jumps == pytest.approx([edge for edge in edges if edge < 100], rel=1e-6)
            assert motion.shortest <= 100 * width * 1.01


@pytest.mark.thorough
@pytest.mark.parametrize("ratio", [0.01, 0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("radians", [1.0, 10.0])
def test_a_torque_of_any_frequency_is_followed(ratio, radians):
    speed = math.hypot(0.02, 0.001, 0.03)
    check_against_scipy(driven(shaking, radians / speed, A=0.01, f=ratio * speed), [])


def test_a_pulse_between_all_looks_is_seen_where_it_is_named():
    at, width = 61.3456, 1e-7
    blind, named = (driven(one_firing, 100.0, b, M=1e6, at=at, width=width) for b in ((), (at, at + width)))
    motion = motion_of(blind, 1e-3, Budget(60.0))
    assert motion.looked > width and not len(motion.jumps), "or the pulse is too long for this test"
    assert motion_of(named, 1e-3, Budget(60.0)).scale == pytest.approx(by_scipy_scale(named, (at, at + width)), rel=1e-4)


def by_scipy_scale(problem, edges):
    """The largest angular velocity, which the pulse decides."""
    return float(np.linalg.norm(by_scipy(replace(problem, horizon=edges[1] + 1e-6), edges)[1]))


@pytest.mark.thorough
def test_the_step_for_a_torque_with_jumps_ends_at_them(monkeypatch):
    methods = [polhode.methods[key] for key in ("spiral_leapfrog", "spiral_dkd")]
    monkeypatch.setattr(from_runs, "candidates", lambda one_torque, everything: methods)
    burn = driven(one_firing, 60.0, M=2.0, at=10.1, width=0.5)
    answer = polhode.recommend(burn, error=1e-3)
    assert answer.method == "spiral_dkd" and answer.dt > 0.05 and 10.1 / answer.dt == pytest.approx(round(10.1 / answer.dt))
    assert any("The torque jumps at t = 10.1, 10.6 s. The step divides these times" in remark for remark in answer.remarks)
    run = polhode.simulate(burn, answer.method, dt=answer.dt, samples=1)
    assert largest_error(run.q.values[-1:], run.omega.values[-1:], *by_scipy(burn, (10.1, 10.6)), 0.1) < 1e-3
    said = " ".join(answer.why().split())
    assert (
        "The torque was looked at every 0.00011 s: a shorter pulse would not have been seen; name it under breakpoints." in said
    )


@pytest.mark.thorough
@pytest.mark.usefixtures("glances")
def test_methods_that_agree_against_the_motion_are_no_answer(few, monkeypatch):
    """The motion of a torque that is stronger by a tenth."""
    problem = polhode.problems["lab_torque"]
    true = from_runs.motion_of

    def wrong(problem, error, budget, like=None):
        other = replace(problem, parameters={key: 1.1 * value for key, value in problem.parameters.items()}, reference=None)
        motion = true(other, error, budget)
        assert isinstance(motion, KnownMotion)
        return replace(motion, problem=problem)

    monkeypatch.setattr(from_runs, "motion_of", wrong)
    with pytest.raises(AdviceError, match="agree with each other and differ from the exact motion by 0"):
        from_runs.from_runs(case_of_problem(problem), 1e-3, one_torque=False)


@pytest.mark.thorough
def test_what_cannot_be_known_is_said():
    problem = polhode.problems["asymmetric_heavy_top"]
    with pytest.raises(AdviceError, match=r"in double precision .* ask for an error of .* or more, or for a shorter time"):
        motion_of(problem, 1e-15, Budget(60.0))

    def restless(t, q, omega, parameters):  # jumps with the state wherever the motion is
        return (-1.0 if omega[0] > 0 else 1.0, 0.0, 0.0)

    with pytest.raises(AdviceError, match="jumps") as error:
        motion_of(replace(driven(restless, 20.0), omega0=(0.5, 0.0, 0.1)), 1e-6, Budget(60.0))
    assert "double precision" not in str(error.value)


def test_a_bound_is_not_rounded_down():
    from polhode.advice.motion import _up

    for value in (0.0104, 0.01, 0.0099, 1.04e-13, 9.99e-5, 0.123):
        assert value <= float(_up(value)) <= 1.11 * value


def test_a_torque_without_a_value_is_named_when_the_time_is_over():
    """sqrt(1 - t) has none beyond t = 1, the end of the second cell: the states after it are lost."""
    from polhode.advice.motion import _blown_up, _too_long

    problem = SimpleNamespace(
        horizon=2.0, parameter_array=(), compiled_torque=lambda t, q, w, p: (np.emath.sqrt(1 - t).real,) * 3
    )
    nowhere = SimpleNamespace(
        horizon=2.0, parameter_array=(), compiled_torque=lambda t, q, w, p: (math.nan if t > 1 else 1.0, 0, 0)
    )
    nodes, states = np.linspace(0, 2, 5), np.ones((5, 7))
    states[3:] = np.nan
    assert _blown_up(problem, states, nodes) == "the motion has no finite value at t = 1.5 s"
    said = _too_long(problem, 1e-3, math.inf, 9.0, _blown_up(nowhere, states, nodes))
    assert "the motion has no finite value at t = 1.5 s, nor has the torque: see its formula" in said
    assert "no finite value" not in _too_long(problem, 1e-3, math.inf, 9.0, "")


@pytest.mark.thorough
def test_what_cannot_be_known_says_how_it_was_stopped():
    problem = polhode.problems["asymmetric_heavy_top"]
    with pytest.raises(AdviceError, match=r"within the time limit.*`limit`"):
        motion_of(replace(problem, horizon=1e9), 1e-6, Budget(5.0))
    still = replace(polhode.problems["free_asymmetric_top"], omega0=(0.0, 0.0, 0.0), reference=None)
    with pytest.raises(AdviceError, match="does not turn"):
        motion_of(still, 1e-3, Budget(60.0))
    # Not "where the torque jumps": gravity does not.
    with pytest.raises(AdviceError, match=r"the motion is chaotic: over 100 s .* ask for a shorter time"):
        motion_of(replace(problem, horizon=100.0), 1e-2, Budget(60.0))


class Limited:
    """A rate damper whose torque is limited, and one that is switched: continuous with corners, and with jumps."""

    @staticmethod
    def clipped(t, q, w, p):
        return (
            -max(-p[1], min(p[1], p[0] * w[0])),
            -max(-p[1], min(p[1], p[0] * w[1])),
            -max(-p[1], min(p[1], p[0] * w[2])),
        )

    @staticmethod
    def ramp(t, q, w, p):
        return (p[0] * max(0.0, min(1.0, (t - 1.0) / 2.0)), 0.0 * t, p[1] * abs(t - 2.5))


@pytest.mark.thorough
def test_a_corner_of_the_torque_is_no_jump():
    """A limited torque has corners wherever the limit is reached: at 300 s the motion is that of DOP853, with no jump in it."""
    of_start = {"body": Body((0.037, 0.051, 0.02)), "omega0": (0.3, -0.25, 0.2), "q0": UPRIGHT}
    problem = make("limited", Limited.clipped, "velocity", {"k": 2e-5, "most": 2e-6}, **of_start, horizon=300.0)
    motion = motion_of(problem, 1e-2, Budget(60.0))
    assert motion.uncertainty < 1e-4 and not len(motion.jumps) and len(motion.corners) > 10
    assert largest_error(*motion.at(np.array([300.0])), *by_scipy(problem, []), motion.scale) < 1e-4


def test_corners_in_time_are_no_jumps():
    problem = driven(Limited.ramp, 5.0, a=0.4, b=0.3)
    motion = motion_of(problem, 1e-4, Budget(60.0))
    assert not len(motion.jumps)
    assert largest_error(*motion.at(np.array([5.0])), *by_scipy(problem, [1.0, 2.5, 3.0]), motion.scale) < 1e-6


# --- the search ------------------------------------------------------------------------------------------------------


class Curve(from_runs.Search):
    """A search on a curve of errors instead of runs."""

    def __init__(self, curve, allowed=1e-3, radians=20.0):
        self.curve, self.allowed, self.radians, self.tried = curve, allowed, radians, []
        self.resolved, self.unit, self.pieces = 0.0, 1, 1

    def error(self, method, steps):
        self.tried.append(steps)
        return self.curve(steps)


def test_the_fewest_steps_of_a_smooth_curve():
    fewest = Curve(lambda n: (10 / n) ** 2).fewest(None)
    assert 10 / math.sqrt(1e-3) <= fewest.steps <= 1.012 * 10 / math.sqrt(1e-3) + 1 and not fewest.coarsest


def test_a_lucky_step_does_not_count():
    # Among errors that are too large, one run that happens to cross zero; and later a bump.
    def curve(n):
        return 0.0 if 78 <= n <= 82 else 2e-3 if 500 <= n <= 650 else (10 / n) ** 2

    fewest = Curve(curve).fewest(None)
    assert fewest.steps > 650


def test_the_coarsest_step_and_what_never_gets_there():
    assert Curve(lambda n: 0.0).fewest(None) == from_runs.FewestSteps(10, 0.0, coarsest=True)
    assert Curve(lambda n: 0.01 + 1 / n).fewest(None).why == "does not meet it"
    assert Curve(lambda n: 1 / n).fewest(None, 900).why == "gave up"
    assert 1000 <= Curve(lambda n: 1 / n).fewest(None, 1100).steps <= 1010


@pytest.mark.thorough
@pytest.mark.usefixtures("glances")
def test_the_step_meets_the_error_and_a_longer_one_does_not(few):
    problem = polhode.problems["asymmetric_heavy_top"]
    # Of one start, so that the step is not that of another one.
    answer = from_runs.from_runs(replace(case_of_problem(problem), open_questions=("nothing",)), 1e-4, one_torque=False)
    assert {row.method for row in answer.alternatives} == {"magnus_adams4", "rk4", "cf4", "spiral_leapfrog"}
    for row in answer.alternatives:
        assert benchmark.error_of(problem, row.method, row.steps) < 1e-4
        assert benchmark.error_of(problem, row.method, round(0.85 * row.steps)) > from_runs.MARGIN * 1e-4 * 0.95
    assert answer.best.error <= from_runs.MARGIN * 1e-4
    seconds = [row.seconds for row in answer.alternatives]
    assert seconds == sorted(seconds) and answer.dt == 2.0 / answer.best.steps
    assert answer.serves == "It is sufficient for one random start, and for another one with probability 1/2."
    said = " ".join(answer.why().split())
    (damped,) = (remark for remark in answer.remarks if remark.startswith("Damps librations, not for long conservative runs: "))
    assert "Magnus-Adams 4" in damped and "SPIRAL" not in damped
    assert "Where the energy must not drift, as in a liquid, take the exact rotor (exact_rotor)." in said


@pytest.mark.thorough
@pytest.mark.usefixtures("glances")
def test_one_torque_is_the_default(few):
    case = {"inertia": (1, 2, 2.5), "omega": (0, 6, 8), "torque": "free", "time": 0.3, "error": 1e-3}
    assert {polhode.methods[row.method].torques_per_step for row in polhode.recommend(**case).alternatives} == {1}
    several = polhode.recommend(**case, one_torque=False)
    assert {polhode.methods[row.method].torques_per_step for row in several.alternatives} > {1}


@pytest.mark.thorough
@pytest.mark.usefixtures("glances")
def test_the_price_of_a_torque_decides(few):
    case = case_of_problem(polhode.problems["asymmetric_heavy_top"])
    free, dear = (from_runs.from_runs(case, 1e-3, price, one_torque=False) for price in (0.0, 1e5))
    torques = {row.method: row.torques for row in dear.alternatives}
    assert torques[dear.method] == min(torques.values())
    fewest = min(row.seconds for row in free.alternatives)
    assert free.alternatives[0].seconds == fewest and free.method == free.alternatives[0].method
    alone = from_runs.from_runs(case, 1e-3, 0.0, one_torque=True)
    assert "rk4" not in {row.method for row in alone.alternatives}
    everything = from_runs.from_runs(case, 1e-1, everything=True)
    assert "verlet_delvalle2024" in {row.method for row in everything.alternatives}
    assert everything.method != "verlet_delvalle2024"


@pytest.mark.thorough
@pytest.mark.usefixtures("glances")
def test_an_open_question_is_answered_for_all_starts(few):
    case = case_of_words((1, 2, 2.5), 10.0, "lab", 0.5, 0.5)
    assert len(case.starts) == cases.STARTS and case.open_questions == (
        "the direction of omega",
        "the directions of the torque",
    )
    answer = from_runs.from_runs(case, 1e-3)
    method = polhode.methods[answer.method]
    errors = [motion_of(start, 1e-5, Budget(60.0)).error(method, answer.best.steps, 500) for start in case.starts]
    assert max(errors) < 1e-3 and max(errors) > 0.5e-3
    assert "another one with probability 19/20" in " ".join(answer.why().split())
    assert answer.interval[0] <= answer.dt * 1.03  # the start that asks most decides


def spun_up(omega=(0.0, 0.0, 0.0), torque=(0, 0, 5.0), moments=(77.238, 388.402, 344.516), time=60.0):
    """A body under constant torques in its own frame."""
    return case_of_mapping({"inertia": moments, "omega": omega, "time": time, "torque": list(torque)})[0]


def starts_of(case, error=1e-4):
    return from_runs._starts(case, error, Budget(60.0), lambda stage, done: None)


@pytest.mark.thorough
def test_starts_of_one_motion_get_residual_rates():
    """From rest under a torque of the body every orientation is the same motion: rates beside it, about the middle axis."""
    starts = starts_of(spun_up())
    assert starts.alike and starts.beside == 19 and len(starts.motions) == 20
    rates = sorted(float(np.linalg.norm(motion.problem.omega0)) / starts.motions[0].scale for motion in starts.motions[1:])
    assert 1e-7 < rates[0] < 1e-6 and 5e-3 < rates[-1] < 1e-2
    # The body is spun up to M t / I, and leaves the middle axis from the largest of these rates.
    assert starts.motions[0].scale == pytest.approx(5.0 * 60 / 344.516)
    ends = [motion.states[-1, 4:] / motion.scale for motion in starts.motions]
    assert abs(ends[0][2]) == pytest.approx(1) and min(abs(end[2]) for end in ends) < 0.8
    said = from_runs.serves(spun_up(), starts)
    assert "19 with residual rates of 1e-07 to 0.01 of the largest angular velocity" in said
    assert "another such start with probability 19/20. Turned starts were not counted" in said


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("change", "alike", "beside"),
    [
        ({"omega": (0.0, 0.0, 0.3)}, False, 5),
        ({"omega": (0.0, 0.0, 0.3), "torque": (0, 0, 0)}, False, 5),
        ({"omega": (0.2, 0.1, 0.3)}, False, 0),
        ({"torque": (1.0, 2.0, 5.0)}, True, 19),
        ({"torque": (0, 0, "5*cos(t)")}, True, 19),
        ({"torque": (0, 0, "5 - 0.3*wz")}, True, 19),
        ({"torque": (0, "3*q0", 0)}, False, 5),
        ({"torque": ("5*q0", "3*q0", "2*qz")}, False, 0),
    ],
    ids=str,
)
@pytest.mark.usefixtures("glances")
def test_from_the_motions_it_is_decided_which_starts_are_alike(change, alike, beside):
    starts = starts_of(spun_up(**{"moments": (2.0, 3.0, 2.5), "time": 4.0, **change}), 1e-3)
    assert (starts.alike, starts.beside) == (alike, beside) and len(starts.motions) == 20 + (beside if not alike else 0)


@pytest.mark.thorough
@pytest.mark.usefixtures("glances")
def test_the_step_for_a_body_at_rest_serves_residual_rates(few):
    """The step that was named from rest alone, 60 s / 14, was off by 2.8 rad at 1e-6 rad/s and blew up at 1e-3."""
    case = spun_up()
    answer = from_runs.from_runs(case, 1e-4)
    method = polhode.methods[answer.method]
    for rate in (1e-6, 1e-3):
        start = replace(case.starts[0], omega0=(rate, rate, 0.0), reference=None)
        _, q, omega = from_runs.run(start, method, answer.best.steps, np.array([answer.best.steps]))
        assert largest_error(q, omega, *by_scipy(start, []), 1.0) < 1e-4


@pytest.mark.thorough
def test_when_the_time_is_over_the_best_step_tested_is_shown(few, capsys):
    """The clock runs out after the first method has been run once: its error is that of the run, and nothing is confirmed."""
    case = case_of_words((1, 2, 2.5), (0, 6, 8), "friction", 0.5)
    known = from_runs.Search.error

    class Over(from_runs.Search):
        def error(self, method, steps):
            if len(self.tested) == 4:
                raise from_runs.TimeOver("over")
            return known(self, method, steps)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(from_runs, "Search", Over)
        answer = from_runs.from_runs(case, 1e-4)
    assert not answer.confirmed and json.loads(answer.to_json())["confirmed"] is False
    assert answer.why().startswith("NOT CONFIRMED: ") and "from 1 start of 20" in answer.serves
    error = motion_of(case.starts[0], 1e-6, Budget(60.0)).error(polhode.methods[answer.method], answer.best.steps, 64)
    assert answer.best.error == pytest.approx(error, rel=0.5)
    assert from_runs.from_runs(case, 1e-2).confirmed


class Clock:
    """A clock that goes on only when a test says so."""

    def __init__(self):
        self.time = 0.0

    def __call__(self):
        return self.time


def test_a_motion_that_takes_too_long_is_refused_with_its_time(monkeypatch):
    """By a clock that counts 1 ms for each step, the time in the message is about that which the motion then takes."""
    from polhode.advice import motion as module

    clock, steps_of = Clock(), module._run

    def counted(problem, key, nodes, substeps, start=None):
        clock.time += 1e-3 * substeps * (len(nodes) - 1)
        return steps_of(problem, key, nodes, substeps, start)

    monkeypatch.setattr(module, "_run", counted)
    monkeypatch.setattr(module, "LOOKS", 256)
    problem = replace(polhode.problems["asymmetric_heavy_top"], horizon=2.0)
    for limit in (0.5, 1.5):
        clock.time = 0.0
        with pytest.raises(AdviceError, match=r"it alone needs about \S+ s") as error:
            motion_of(problem, 1e-6, Budget(limit, clock))
        assert clock.time < limit
        named = float(re.search(r"about (\S+) s", str(error.value))[1])
    clock.time = 0.0
    motion_of(problem, 1e-6, Budget(1e9, clock))
    assert clock.time / 2 < named < 2 * clock.time


def test_a_method_with_slow_steps_does_not_overrun_the_limit(monkeypatch):
    """Steps that take 30 times as long as those of the motion: once that is seen, longer runs are not begun."""
    clock = Clock()

    def slow(motion, method, steps, checks):
        clock.time += 30 * 2e-7 * steps
        return 1.0

    monkeypatch.setattr(KnownMotion, "error", slow)
    states = np.array([[1, 0, 0, 0, 1, 0, 0]] * 2, float)
    motion = KnownMotion(
        driven(one_firing, 1e6), np.array([0.0, 1e6]), states, 1, 0, 0, np.empty(0), np.empty(0), 1e6, np.zeros(1)
    )
    with pytest.raises(from_runs.TimeOver):
        from_runs.Search([motion], 1e-3, Budget(60.0, clock)).fewest(polhode.methods["euler"])
    assert 15 < clock.time < 60


@pytest.mark.thorough
def test_methods_without_time_to_be_compiled_are_named(few, monkeypatch):
    case = case_of_words((1, 2, 2.5), (0, 6, 8), "friction", 0.5)
    monkeypatch.setattr(from_runs, "compile_all", lambda keys, problems, seconds: [key for key in keys if seconds < 6])
    with pytest.raises(AdviceError, match=r"time limit of 10 s is over before the methods are compiled.*`limit`"):
        from_runs.from_runs(case, 1e-2, budget=Budget(10.0, Clock()))
    monkeypatch.setattr(from_runs, "compile_all", lambda keys, problems, seconds: ["euler"] if seconds == 30 else [])
    answer = from_runs.from_runs(case, 1e-2, budget=Budget(60.0, Clock()))
    assert answer.confirmed and "euler" not in {row.method for row in answer.alternatives}
    assert any("ask again): direct Euler." in remark for remark in answer.remarks)


@pytest.mark.thorough
def test_candidates_without_time_are_named(few, monkeypatch):
    """Compilation may take half of a given limit; without one it is not counted. Nothing else is compiled."""
    chosen = Contenders(("magnus_adams4", "euler"), ("spiral_leapfrog",), 512, "friction", {"magnus_adams4": 1e9})
    calls = []

    def compile_all(keys, problems, seconds):
        calls.append((keys, seconds))
        return ["euler"] if seconds and "euler" in keys else []

    monkeypatch.setattr(from_runs, "contenders", lambda *arguments: chosen)
    monkeypatch.setattr(from_runs, "compile_all", compile_all)
    case = case_of_words((1, 2, 2.5), (0, 6, 8), "friction", 0.5)
    answer = from_runs.from_runs(case, 1e-2, budget=Budget(60.0, Clock()))
    assert answer.confirmed and {row.method for row in answer.alternatives} == {"magnus_adams4"}
    assert any("ask again): direct Euler." in remark for remark in answer.remarks)
    answer = from_runs.from_runs(case, 1e-2)
    assert answer.confirmed and not any("compiled" in remark for remark in answer.remarks)
    one_by_one = [["magnus_adams4"], ["euler"]]
    assert calls == [(keys, seconds) for seconds in (30.0, None) for keys in one_by_one]


def test_nothing_is_compiled_for_the_runs_that_come_first(monkeypatch):
    """Of the methods of high order one is on disk; without it the most promising of those in memory is run."""
    runs = []
    monkeypatch.setattr(KnownMotion, "error", lambda motion, method, steps, checks: runs.append(method.key) or 1.0)
    missing, on_disk, ready = (
        SimpleNamespace(key=key, is_kept=lambda key=key: key == "cf4") for key in ("magnus_adams4", "cf4", "euler")
    )
    states = np.array([[1, 0, 0, 0, 1, 0, 0]] * 2, float)
    motion = KnownMotion(
        driven(one_firing, 1.0), np.array([0.0, 1.0]), states, 1, 0, 0, np.empty(0), np.empty(0), 1.0, np.zeros(1)
    )
    search = from_runs.Search([motion], 1e-3, Budget(60.0, Clock()))
    search.try_first([missing, on_disk, ready], [ready])
    search.try_first([missing, ready], [ready])
    assert runs == ["cf4", "euler"]


def test_compilation_ends_with_the_time(monkeypatch):
    from polhode.compiling import in_advance

    clock, compiled = Clock(), []

    def compile_one(item):
        compiled.append(item.key)
        clock.time += 10

    monkeypatch.setattr(in_advance, "monotonic", clock)
    monkeypatch.setattr(in_advance.cache, "folder", lambda: None)
    monkeypatch.setattr(in_advance._Item, "is_kept", lambda item: False)
    monkeypatch.setattr(in_advance._Item, "compile", compile_one)
    assert in_advance.compile_all(["rk4", "cf4", "euler"], problems=False, seconds=15.0) == ["euler"]
    assert compiled == ["rk4", "cf4"]


@pytest.mark.thorough
def test_when_motions_took_the_time_there_is_a_step_to_name(few, monkeypatch):
    """The clock stands at 59 of 60 s once the motions are known, and at 60 s after the first run: that one is the answer."""
    clock, starts_of_case = Clock(), from_runs._starts
    case = case_of_mapping({"inertia": (7, 35, 36), "omega": (0.1, 1, 0.1), "time": 4, "torque": ["5*wz", "0", "-5*wx"]})[0]

    def late(*arguments):
        starts = starts_of_case(*arguments)
        clock.time = 59.0
        return starts

    def over(search, method, steps):
        raise from_runs.TimeOver("over")

    polhode.compile_all(FEW, problems=False)
    monkeypatch.setattr(from_runs, "_starts", late)
    monkeypatch.setattr(from_runs.Search, "error", over)
    answer = from_runs.from_runs(case, 1e-4, one_torque=False, budget=Budget(60.0, clock))
    assert answer.why().startswith("NOT CONFIRMED: ") and "the time limit of 60 s is over after 1 runs" in answer.serves
    assert "not finished within the time limit; they may be faster, among them" in answer.notes[0]
    (names,) = (text for text in answer.remarks if text.startswith("Not finished within the time limit: "))
    assert "SPIRAL" in names
    assert answer.best.label not in names
    run = polhode.simulate(case.starts[0], answer.method, dt=answer.dt, samples=1)
    assert largest_error(run.q.values[-1:], run.omega.values[-1:], *by_scipy(case.starts[0], []), 1.0) < 1e-4


def test_a_hopeless_method_does_not_take_the_time_of_others(monkeypatch):
    """Of two methods the first needs more steps than the round allows; the second one is found in the same round."""
    search = Curve(lambda n: 1 / n if search.slow else (10 / n) ** 4)
    search.slow = True
    assert search.fewest(None, longest=500).why == "no time" and max(search.tried) <= 500
    search.slow = False
    assert search.fewest(None, longest=500).steps < 100


def test_jumps_at_many_multiples_of_a_short_step_are_divided():
    """A pulse of 20 ms in an orbit of 5,550 s: 277,500 parts."""
    motion = KnownMotion(
        driven(one_firing, 5550.0),
        np.linspace(0, 5550, 3),
        np.zeros((3, 7)),
        1,
        0,
        0,
        np.array([100, 100.02]),
        np.empty(0),
        1,
        np.zeros(1),
    )
    motion = replace(
        motion, nodes=np.sort(np.concatenate([[0, 5550], *(np.array([t - 1e-12, t + 1e-12]) for t in motion.jumps)]))
    )
    assert motion.parts == 277_500


def test_steps_per_radian_are_of_the_initial_angular_velocity():
    assert from_runs.density(600, 3.0, 2.0, 5.0) == "100 steps a radian at the initial angular velocity"
    assert from_runs.density(3, 3.0, 2.0, 5.0) == "2 radians a step at the initial angular velocity"
    # A body that stops turns fewer radians, which count no more than those it would have turned.
    assert from_runs.density(600, 3.0, 2.0, 0.01) == "100 steps a radian at the initial angular velocity"
    assert from_runs.density(600, 1e-4, 2.0, 5.0) == "600 steps for 5 rad turned"


@pytest.mark.thorough
@pytest.mark.usefixtures("glances")
def test_bodies_that_stop_or_start_at_rest_have_the_same_words(few):
    stops = case_of_mapping({**FORMULAS, "torque": ["-9*k*wx", "-18*k*wy", "-22*k*wz"], "time": 4})[0]
    answer = from_runs.from_runs(stops, 1e-3)
    per_radian = answer.best.steps / (4 * math.sqrt(14))
    said = f"{per_radian:.3g} steps a radian" if per_radian >= 1 else f"{1 / per_radian:.3g} radians a step"
    assert f"{said} at the initial angular velocity, for 4 s." in answer.sentence
    rest = case_of_mapping({**FORMULAS, "omega": [0, 0, 1e-3], "torque": [0, 0, 2.5], "time": 4})[0]
    # The angle is t^2/2: eight radians in four seconds.
    assert "steps for 8 rad turned" in from_runs.from_runs(rest, 1e-3).sentence


@pytest.mark.thorough
@pytest.mark.usefixtures("glances")
def test_the_step_holds_for_the_other_starts_it_names(few):
    """Recomputed: from each of the other starts, with the step of the answer."""
    case = case_of_problem(polhode.problems["asymmetric_heavy_top"], 1.0)
    answer = from_runs.from_runs(case, 1e-3)
    assert (
        answer.serves == "It is sufficient for the given start and 19 other starts, and for another one with probability 19/20."
    )
    method = polhode.methods[answer.method]
    for i in range(from_runs.OTHERS):
        motion = motion_of(case.again(i), 1e-3, Budget(60.0))
        assert motion.error(method, answer.best.steps, from_runs.CHECKS) <= from_runs.MARGIN * 1e-3 - motion.uncertainty
    assert answer.interval[0] == answer.dt < answer.interval[1] and answer.best == answer.alternatives[0]


@pytest.mark.thorough
def test_starts_whose_motion_cannot_be_known_are_counted(few, monkeypatch):
    case = case_of_words((1, 2, 2.5), 5.0, "free", 0.2, starts=5)
    known = from_runs.motion_of

    def motion(start, *arguments):
        if start.key == "case_3":
            raise AdviceError("neighbouring motions part")
        return known(start, *arguments)

    monkeypatch.setattr(from_runs, "motion_of", motion)
    said = from_runs.from_runs(replace(case, starts=case.starts * 2), 1e-2).why()
    assert "It is sufficient for 8 random starts; of 2 more the motion cannot be known so well" in said
    with pytest.raises(AdviceError, match="of 2 starts 1 cannot be known: neighbouring motions part"):
        from_runs.from_runs(replace(case, starts=case.starts[2:4]), 1e-2)


@pytest.mark.thorough
def test_random_bodies_are_run_beyond_the_laws(few):
    strong = polhode.recommend(torque="friction", omega=2.0, strength=20.0, time=0.1, error=1e-2)
    assert strong.kind == "runs" and "Any body turning at 2 rad/s for 0.1 s" in strong.question
    assert "random bodies, and for another one with probability" in strong.serves
    case = case_of_class("friction", 2.0, 0.1, 20.0)
    assert {start.torque_class for start in case.starts} == {"velocity"} and len({start.body for start in case.starts}) == 19
    first, second = (np.array(case_of_class("lab", 2.0, 0.1, size).starts[0].parameter_array) for size in (1.0, 20.0))
    np.testing.assert_allclose(second[:9], 20 * first[:9])


# --- cases -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [key for key in CLASSES if key != "free"])
def test_the_strength_of_a_torque_is_an_angular_acceleration(key):
    moments, omega, strength = (1.0, 2.0, 2.5), 3.0, 0.7
    squares = []
    for i in range(400):
        random = np.random.default_rng(i)
        values = np.array([*parameters_of(key, moments, omega, strength, random).values(), 0.0])
        q, w = cases.unit_vector(random, 4), omega * cases.unit_vector(random, 3)
        torque = CLASSES[key].torque(random.uniform(0, 200 / omega), tuple(q), tuple(w), values)
        squares.append(sum((m / i) ** 2 for m, i in zip(torque, moments, strict=True)))
    if key == "friction_smooth_coulomb":
        squares = np.array(squares) * (1 + cases.LINEAR_BELOW**2)
    assert math.sqrt(np.mean(squares)) == pytest.approx(strength * omega**2, rel=0.06)


def test_the_torque_of_each_start_has_the_given_strength():
    """Of a sphere all directions are alike."""
    case = case_of_words((2, 2, 2), 3.0, "constant", 1.0, 0.7)
    for start in [*case.starts, case.again(0)]:
        torque = start.compiled_torque(0.0, start.q0, start.omega0, start.parameter_array)
        assert np.linalg.norm(torque) / 2 == pytest.approx(0.7 * 3.0**2)
    assert len({start.parameter_array.tobytes() for start in case.starts}) == cases.STARTS


def test_nothing_is_open_where_all_is_given():
    assert case_of_words((1, 2, 2.5), (0, 3, 4), "friction", 1.0).open_questions == ()
    assert len(case_of_words((1, 2, 2.5), (0, 3, 4), "free", 1.0).starts) == 1
    assert case_of_words((1, 2, 2.5), (0, 3, 4), "friction_anisotropic", 1.0).open_questions == ("the friction coefficients",)
    first, second = (case_of_words((1, 2, 2.5), 5.0, "lab", 1.0).again(i) for i in (0, 1))
    assert np.linalg.norm(first.omega0) == pytest.approx(5.0) and first.omega0 != second.omega0


QUESTION = {"inertia": (1, 2, 2.5), "omega": 10.0, "torque": "free", "time": 1.0, "error": 1e-3}
#: What is asked, and what is said of it; of questions about contacts too.
REFUSED = [
    (QUESTION | {"inertia": (-1, 2, 2.5)}, "inertia Ix must be positive"),
    (QUESTION | {"inertia": (1, 2, 4)}, "violates the triangle inequality"),
    (QUESTION | {"inertia": (1, 2)}, "inertia must be three principal moments"),
    (QUESTION | {"torque": "gravitiy"}, "unknown torque 'gravitiy'; did you mean 'gravity'?"),
    (QUESTION | {"torque": "wind"}, "unknown torque 'wind'; known are: "),
    (QUESTION | {"omega": (1, 2)}, "omega must be one number, its size, or three components"),
    (QUESTION | {"omega": 0.0}, "omega must not be zero"),
    (QUESTION | {"omega": math.nan}, "omega must be"),
    (QUESTION | {"time": 0.0}, "time must be positive"),
    (QUESTION | {"strength": -1.0}, "strength must be finite and not negative"),
    (QUESTION | {"strength": 3.0}, "strength belongs to a torque, and 'free' is none; leave it out"),
    (QUESTION | {"strength": 1e300, "torque": "lab"}, r"strength must be at most 1e\+12"),
    (QUESTION | {"time": 1e-320}, r"time must lie between 1e-100 and 1e\+100 s, got 9.99989e-321"),
    (QUESTION | {"inertia": (1e200, 1e200, 1e200)}, "inertia must lie between 1e-100 and"),
    (QUESTION | {"error": 1e-300}, "error must be at least 1e-15"),
    (QUESTION | {"torque_price": 1e300}, r"torque_price must be at most 1e\+12"),
    (QUESTION | {"one_torque": "no"}, "one_torque must be True or False"),
    (QUESTION | {"everything": "yes"}, "everything must be True or False"),
    (QUESTION | {"orientation": (0, 0, 0, 0)}, "orientation must not be zero"),
    (QUESTION | {"error": 2.0}, "error must lie between 0 and 1, got 2"),
    (QUESTION | {"error": 0.0}, "error must be positive"),
    (QUESTION | {"error": None}, "error is missing"),
    (QUESTION | {"torque": None}, "torque is missing"),
    (QUESTION | {"torque_price": -1.0}, "torque_price must be finite and not negative"),
    (QUESTION | {"limit": 0.0}, "limit must be positive"),
    (QUESTION | {"contact_time": 1.0}, "two questions"),
    ({"contacts": 3.0, "error": 1e-4}, "contacts belongs to a question about contacts, which needs"),
    ({"contact_time": 1.0, "contacts": 0.0, "error": 1e-4}, "contacts must be positive"),
    ({"young": 5e6, "poisson": 0.3, "error": 1e-4}, "density is missing"),
    ({"young": 5e6, "poisson": 0.9, "density": 1, "radius": 1, "speed": 1, "error": 1e-4}, "poisson must lie above -1"),
    ({"contact_time": -1.0, "error": 1e-4}, "contact_time must be positive"),
    ({"contact_time": 5e-324, "error": 1e-4}, "too short to be divided into steps"),
    ({"contact_time": 1.0, "omega": 3.0, "error": 1e-4}, "omega belongs to a question about a motion or a class"),
    ({"contact_time": 1.0, "young": 3.0, "error": 1e-4}, "two questions"),
    # About liquids.
    ({"liquid": "watter64"}, "did you mean 'water64'"),
    ({"liquid": "water64", "drift": 1e-9}, "not shown of any method"),
    ({"liquid": "water64", "friction": 0.5}, "friction belongs to a question about contacts; this is one about a liquid"),
    ({"drift": 0.1}, "drift belongs to a question about a liquid"),
    *(({"liquid": number}, "liquid must be positive and finite") for number in (-1.0, 0, float("inf"), float("nan"))),
    *(({"liquid": text}, "liquid must be positive and finite") for text in ("-33fs", "nan", "inf", "1e400")),
    *(({"liquid": period}, "if 33 fs is meant, write 33fs") for period in (33, "33", "33 s", np.float32(33))),
    ({"liquid": 0.033}, "if 0.033 ps is meant, write 0.033ps"),
    *(({"liquid": far}, "write it with its unit, as in 33fs") for far in (1e300, 1e-17, "5e9fs")),
    ({"liquid": True}, "liquid must be"),
    ({"liquid": "water64", "contact_time": 1.0}, "two questions"),
    # About a scene or a clump.
    ({"case": "chess"}, "error is missing"),
    ({"case": "chess", "error": 0.1, "young": 1e8}, "young is part of the scene"),
    ({"case": "chess", "error": 0.1, "contact_time": 1.0}, "`case` and `contact_time` are two questions"),
    ({"case": "chess", "error": 0.1, "drift": 1.0}, "drift belongs to a question about a liquid"),
    ({"case": "chess", "error": 0.1, "scale": 1.0}, "scale belongs to the file of a clump"),
    ({"case": "water64", "error": 0.1}, "error belongs to .* this is one about a liquid"),
    ({"case": "water64", "speed": 1.0}, "speed belongs to .* this is one about a liquid"),
    ({"case": replace(BED, speed=0.0), "error": 0.1}, "speed is missing: the bodies of the scene 'bed' start at rest"),
    ({"case": CLUMP, "error": 0.1}, "young is missing; the contact time of a clump follows from young, poisson"),
    ({"case": CLUMP, "error": 0.1, **MATERIAL}, "speed is missing"),
    ({"case": CLUMP, "error": 0.1, **MATERIAL, "speed": -1.0}, "speed must be positive"),
    ({"case": CLUMP, "error": 0.1, **MATERIAL, "speed": 1.0, "radius": 1.0}, "radius is part of the clump"),
    ({"case": CLUMP, "error": 0.1, **MATERIAL, "speed": 1.0, "scale": 2.0}, "scale belongs to the file of a clump"),
    ({"case": "nothing.csv", "error": 0.1, **MATERIAL, "speed": 1.0}, "clump path nothing.csv does not exist"),
    ({"case": "heavy_top", "error": 0.1, **MATERIAL}, "`case` and `young` are two questions"),
    ({"error": 0.1, "scale": 2.0}, "scale belongs to the file of a clump"),
]


@pytest.mark.parametrize(("question", "message"), REFUSED, ids=str)
def test_what_cannot_be_is_refused(question, message):
    with pytest.raises(AdviceError, match=message):
        polhode.recommend(**question)


FORMULAS = {
    "inertia": [1, 2, 2.5],
    "omega": [1, 2, 3],
    "time": 1,
    "parameters": {"k": 0.3},
    "torque": ["-k*wx", "-k*wy + 0.1*sin(2*pi*t)", 0],
}


TENSOR = np.array([[2.7122, -0.31383, 0.51068], [-0.31383, 2.9220, 0.35093], [0.51068, 0.35093, 1.0012]])


@pytest.mark.thorough
@pytest.mark.parametrize("frame", ["body", "lab"])
@pytest.mark.parametrize("how", [TENSOR, TENSOR.ravel()[[0, 4, 8, 1, 2, 5]].tolist()], ids=["matrix", "six"])
def test_a_case_with_a_tensor_moves_as_its_axes_do(frame, how):
    """omega, orientation and formulas are in the axes of the tensor: Euler's equations with the full tensor, by DOP853."""
    start = np.array([0.5, -0.1, 0.7, 0.5])
    start /= np.linalg.norm(start)
    case, _ = case_of_mapping(
        {
            "inertia": how,
            "omega": [3, -1, 2],
            "orientation": start.tolist(),
            "time": 2,
            "frame": frame,
            "torque": ["0.4*wy + 2*qx", "sin(5*t) - 0.2*wx", "3*q0*qz"],
        }
    )
    run = polhode.simulate(case.starts[0], "rk4", dt=1e-3, samples=8)

    def rate(t, y):
        q, omega = y[:4], y[4:]
        torque = np.array([0.4 * omega[1] + 2 * q[1], np.sin(5 * t) - 0.2 * omega[0], 3 * q[0] * q[3]])
        if frame == "lab":
            torque = Rotation.from_quat(q, scalar_first=True).inv().apply(torque)
        turning = 0.5 * np.array(quaternion.multiply(tuple(q), (0.0, *omega)))
        return [*turning, *np.linalg.solve(TENSOR, torque - np.cross(omega, TENSOR @ omega))]

    exact = solve_ivp(rate, (0, 2), [*start, 3, -1, 2], "DOP853", run.time.values, rtol=1e-12, atol=1e-12).y.T
    rotation = tuple(Body.from_tensor(TENSOR)[1])
    for q, omega, wanted in zip(run.q.values, run.omega.values, exact, strict=True):
        axes = np.array(quaternion.multiply(tuple(q), quaternion.conjugate(rotation)))
        np.testing.assert_allclose(axes * np.sign(axes @ wanted[:4]), wanted[:4], atol=1e-9)
        np.testing.assert_allclose(quaternion.to_lab(rotation, tuple(omega)), wanted[4:], atol=1e-9)


def test_a_torque_named_by_its_class_acts_on_principal_axes():
    case = case_of_words(TENSOR, (3, -1, 2), "free", 1.0, orientation=(1, 0, 0, 0))
    start = case.starts[0]
    rotation = Body.from_tensor(TENSOR)[1]
    assert start.body == Body.from_tensor(TENSOR)[0]
    assert quaternion.to_lab(rotation, start.omega0) == pytest.approx((3, -1, 2))
    assert start.q0 == pytest.approx(rotation)
    assert case.question["rotation"] == list(rotation)
    assert "rotation" not in case_of_words((1, 2, 2.5), (3, -1, 2), "free", 1.0).question


@pytest.mark.thorough
@pytest.mark.usefixtures("glances")
def test_moments_that_no_body_has_are_allowed_on_request(few):
    values = FORMULAS | {"inertia": [1, 2, 4]}
    with pytest.raises(AdviceError, match="triangle: false"):
        case_of_mapping(values)
    assert case_of_mapping(values | {"triangle": False})[0].starts[0].body.inertia == (1, 2, 4)
    named = {key: value for key, value in values.items() if key != "parameters"} | {"triangle": False, "torque": "free"}
    assert case_of_mapping(named)[0].starts[0].body.inertia == (1, 2, 4)
    with pytest.raises(AdviceError, match="triangle must be True or False"):
        case_of_mapping(values | {"triangle": "no"})
    question = {"inertia": (1, 2, 4), "omega": 10.0, "torque": "free", "time": 1.0, "error": 1e-3}
    with pytest.raises(AdviceError, match="triangle=False"):
        polhode.recommend(**question)
    assert polhode.recommend(**question, triangle=False).dt > 0
    with pytest.raises(AdviceError, match="triangle is part of the case"):
        polhode.recommend(values, error=1e-3, triangle=False)


def test_a_torque_of_formulas():
    case, question = case_of_mapping({**FORMULAS, "error": 1e-3})
    problem = case.starts[0]
    assert question == {"error": 1e-3} and problem.torque_class == "velocity"
    torque = problem.compiled_torque(0.25, problem.q0, (1.0, 2.0, 3.0), problem.parameter_array)
    assert torque == pytest.approx((-0.3, -0.6 + 0.1, 0.0))
    function, kind = torque_of_formulas([1, "2*t", "qx"], frame="lab")
    half = math.sqrt(0.5)  # a quarter turn about z takes the body's x to the lab's y
    assert function(3.0, (half, 0.0, 0.0, half), (0.0,) * 3, ()) == pytest.approx((6.0, -1.0, 0.0))
    assert kind == "state" and torque_of_formulas([1, 2, 3])[1] == "constant"
    assert torque_of_formulas([1, "t", 3])[1] == "time" and torque_of_formulas([1, "t", 3], frame="lab")[1] == "lab"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"torque": ["-k*wx", "wxx", 0]}, "unknown name 'wxx' in 'wxx'; did you mean 'wx'?"),
        ({"torque": ["__import__('os')", 0, 0]}, "unknown name '__import__'|numbers only"),
        ({"torque": ["t.real", 0, 0]}, "may use"),
        ({"torque": ["1 if t else 2", 0, 0]}, "may use"),
        ({"torque": ["'a'", 0, 0]}, "may hold numbers only"),
        ({"torque": ["2 +", 0, 0]}, "is not a formula"),
        ({"torque": [1, 2]}, "three formulas"),
        ({"breakpoints": 3}, "breakpoints must be ascending times"),
        ({"breakpoints": [0.5, 0.25]}, "breakpoints must ascend"),
        ({"frame": "room"}, "frame must be body or lab"),
        ({"parameters": {"wx": 1}}, "'wx' cannot be the name"),
        ({"parameters": {"k": "big"}}, "parameters: k must be a number"),
        ({"omega": 3}, "omega must have three components"),
        ({"strength": 2}, "strength belongs to a torque named by its class"),
        ({"one_torque": "no"}, "one_torque must be True or False, got 'no'"),
        ({"parameters": {"__debug__": 1}}, "'__debug__' cannot be the name"),
        ({"parameters": {"to_body": 1}}, "'to_body' cannot be the name"),
        ({"parameters": {True: 1}}, "True cannot be the name of a parameter.*to YAML on, off, yes and no"),
        ({"torque": ["max(wx)", 0, 0]}, "max takes two arguments"),
        ({"torque": ["clip(wx, 1)", 0, 0]}, "unknown name 'clip'"),
        ({"inertai": 2}, "unknown key 'inertai'; did you mean 'inertia'?"),
        ({False: 2}, "unknown key False; YAML reads on, off, yes and no as true or false: write a name in quotes"),
        ({"torque": True}, "got True; YAML reads on, off, yes and no as true or false"),
        ({"frame": True}, "frame must be body or lab, got True; YAML reads on, off"),
        ({"dt": 1e-3}, "the key dt does not belong to a case: the step is what is computed"),
    ],
    ids=str,
)
def test_files_that_say_what_cannot_be(tmp_path, change, message):
    import yaml

    (tmp_path / "case.yaml").write_text(yaml.safe_dump({**FORMULAS, **change}))
    with pytest.raises(AdviceError, match=message) as error:
        polhode.recommend(tmp_path / "case.yaml", error=1e-3)
    assert str(tmp_path / "case.yaml") in str(error.value)


def test_files_that_are_none(tmp_path):
    for name, text, message in (
        ("case.yaml", None, "does not exist"),
        ("case.txt", "", "a case is a .yaml or a .py file"),
        ("list.yaml", "- 1", "write keys with values"),
        ("bad.yaml", "a: [", "bad.yaml:1:5: not valid YAML"),
        ("twice.yaml", "inertia: [1, 2, 3]\ninertia: [1, 2, 2.5]", "twice.yaml:2: the key 'inertia' occurs twice"),
        ("lacks.yaml", "inertia: [1, 1, 1]\nomega: 3\ntime: 1", "torque is missing; a case needs"),
    ):
        if text is not None:
            (tmp_path / name).write_text(text)
        with pytest.raises(AdviceError, match=message):
            polhode.recommend(tmp_path / name, error=1e-3)


@pytest.mark.thorough
@pytest.mark.usefixtures("glances")
def test_a_yaml_file_is_answered(few, tmp_path):
    (tmp_path / "case.yaml").write_text(
        "inertia: [1, 2, 2.5]\nomega: [1, 2, 3]\ntime: 1\nerror: 1e-3\ntorque_price: 10\nparameters: {k: 0.3}\n"
        'torque: ["-k*wx", "-k*wy", "-k*wz"]\n'
    )
    answer = polhode.recommend(tmp_path / "case.yaml")
    assert answer.error == 1e-3 and answer.asked["torque_price"] == 10
    problem = case_of_mapping({**FORMULAS, "torque": ["-k*wx", "-k*wy", "-k*wz"]})[0].starts[0]
    assert benchmark.error_of(problem, answer.method, answer.best.steps) < 1e-3


def test_the_problem_of_a_file_is_run(tmp_path):
    (path := tmp_path / "case.yaml").write_text(
        "inertia: [1, 1, 1]\nomega: [0, 0, 3]\ntime: 2\ntorque: [0, 0, -0.5]\nerror: 1e-3\n"
    )
    run = polhode.simulate(problem_in_file(path), "exact_rotor", dt=0.1)
    assert run.time[-1] == 2 and run.omega.values[-1] == pytest.approx([0, 0, 2])
    with pytest.raises(ValueError, match=r"is a file; polhode\.advice\."):
        polhode.simulate(str(path), "exact_rotor", dt=0.1)
    with pytest.raises(TypeError, match="path must be the path of a file, got 3"):
        problem_in_file(3)


@pytest.mark.thorough
@pytest.mark.usefixtures("glances")
def test_a_python_file_is_tried_and_answered(few, tmp_path):
    with polhode.problems.restored():
        answer = polhode.recommend(HOME / "docs" / "example_problem.py", error=1e-3)
        assert answer.asked["problem"] == "magnetic_needle"
        problem = polhode.problems["magnetic_needle"]
        assert benchmark.error_of(problem, answer.method, answer.best.steps) < 1e-3
    (tmp_path / "slip.py").write_text("PROBLEM = 3\n")
    with pytest.raises(AdviceError, match="PROBLEM must be"):
        polhode.recommend(tmp_path / "slip.py", error=1e-3)


# --- contacts --------------------------------------------------------------------------------------------------------


def test_the_contact_time_is_that_of_hertz():
    """Against the collision itself: m x'' = -(4/3) E* sqrt(R) x^(3/2), by small steps."""
    young, poisson, density, radius, speed = 5e6, 0.3, 2500.0, 1e-3, 1.0
    mass = 4 / 3 * math.pi * radius**3 * density
    stiffness = 4 / 3 * young / (2 * (1 - poisson**2)) * math.sqrt(radius)
    expected = from_contacts.contact_time(young, poisson, density, radius, speed)
    x, v, t, dt = 0.0, speed, 0.0, expected / 20_000
    while x >= 0:
        v -= dt / 2 * stiffness / mass * max(x, 0.0) ** 1.5
        x += dt * v
        v -= dt / 2 * stiffness / mass * max(x, 0.0) ** 1.5
        t += dt
    assert t == pytest.approx(expected, rel=1e-3)


LAWFUL = ("spiral_leapfrog", "pcdm2016", "verlet_delvalle2024")


def scene(
    label="scene one",
    times=1.0,
    share=(1e-3, 1e-2, 1e-1),
    states=20,
    contacts=None,
    methods=LAWFUL,
    exponent=2.5,
    horizon=1.0,
    **attrs,
):
    """A scene whose mean energy error is ``times`` (dt/T)^p, times 0.5 to 1.5 in its states."""
    time = 1e-4
    share = np.array(share)
    errors = times * share[None, :, None] ** exponent * np.linspace(0.5, 1.5, states) * np.ones((len(methods), 1, 1))
    dims = ("integrator", "dt", "seed")
    data = xr.Dataset(
        {"energy_error_mean": (dims, errors), "diverged": (dims, np.zeros(errors.shape, "int8"))},
        {"integrator": list(methods), "dt": share * time, "seed": np.arange(states)},
        {"contact_time": time, "horizon": horizon, "label": label, "clumps": 30, "spin": 4.0, **attrs},
    )
    return data if contacts is None else data.assign(contacts=(dims, np.full(errors.shape, float(contacts))))


def many_body(path, **groups):
    path.mkdir(exist_ok=True, parents=True)
    write_groups({"/": xr.Dataset(), **groups}, path / "many_body.nc")
    return path


def scenes(path):
    """A many_body.nc with two scenes whose energy error is known: (dt/T)^2.5, and three times that, in 20 states."""
    return many_body(path, one=scene(), two=scene("scene two", 3.0, contact_time=1e-4))


def test_the_share_of_the_contact_time(tmp_path):
    answer = from_contacts.from_contacts(1e-5, 1e-4, scenes(tmp_path))
    # The second scene decides: 3 x 1.5 share^2.5 at the 18th of 20 states (1.5 - 2/19) is 1e-4.
    share = (1e-4 / (3 * (1.5 - 2 / 19))) ** 0.4
    assert answer.method == "spiral_leapfrog" and answer.dt == pytest.approx(1e-5 * share, rel=1e-6)
    # 98 % of 20 states are all of them.
    assert answer.interval[0] == pytest.approx(1e-5 * (1e-4 / (3 * 1.5)) ** 0.4, rel=1e-6)
    assert answer.interval[1] > 1.5 * answer.dt and "for 98%" in answer.serves
    assert {row.method for row in answer.alternatives} == {"spiral_leapfrog", "pcdm2016"}
    finer = from_contacts.from_contacts(1e-5, 4e-8, tmp_path)
    assert finer.dt == pytest.approx(1e-5 * (4e-8 / (3 * (1.5 - 2 / 19))) ** 0.4, rel=1e-6)
    assert "extrapolated" in finer.why()
    with pytest.raises(AdviceError, match="far below the finest that was run"):
        from_contacts.from_contacts(1e-5, 1e-12, tmp_path)
    assert "coarsest step that was run" in from_contacts.from_contacts(1e-5, 0.5, tmp_path).why()


def test_the_released_scenes_answer():
    answer = polhode.recommend(contact_time=1e-4, error=1e-4, results=HOME / files.RELEASED)
    assert 1e-4 / 200 < answer.dt < 1e-4 / 25 and answer.best.mark.startswith("T/")
    said = " ".join(answer.why().split())
    assert "Would change the answer: friction and damping (`friction` and `restitution`" in said and "--torque" not in said
    assert said.startswith("Take SPIRAL (spiral_leapfrog) with dt = T/") and "It is sufficient for 90% of the states of" in said
    sphere = polhode.recommend(
        young=5e6, poisson=0.3, density=2500, radius=1e-3, speed=1, error=1e-4, results=HOME / files.RELEASED
    )
    ratio = from_contacts.contact_time(5e6, 0.3, 2500, 1e-3, 1) / 1e-4
    assert sphere.dt == pytest.approx(ratio * answer.dt)


def test_errors_of_scenes_are_of_the_same_time_in_contact(tmp_path):
    served = (1.5 - 2 / 19) * (30 / 32) ** 0.5  # of 20 states the 18th, of 30 bodies instead of 32
    two_scenes = {"one": scene(contacts=9), "two": scene("scene two", contacts=36)}
    many_body(tmp_path, **two_scenes)
    answer = from_contacts.from_contacts(1e-5, 1e-4, tmp_path)
    # Scene one, whose errors belong to 9 contacts, has 4/3 as much with 16.
    assert answer.dt == pytest.approx(1e-5 * (1e-4 / (4 / 3 * served)) ** 0.4)
    assert answer.sentence.endswith("for bodies in contact for 16 T each.")
    assert "32 bodies in contact for 16 of these each" in " ".join(answer.why().split()) and "n^(1/5)" in answer.why()
    few, many = (from_contacts.from_contacts(1e-5, 1e-4, tmp_path, contacts=n) for n in (4.0, 128.0))
    assert few.dt == pytest.approx(1e-5 * (1e-4 / (2 / 3 * served)) ** 0.4)
    assert few.dt / many.dt == pytest.approx(32**0.2), "32 times as long in contact, twice as many steps"
    assert many.asked["contacts"] == 128.0
    # A scene that nobody counted counts as it was run, unless a number is asked for.
    many_body(tmp_path, old=scene(times=9.0), two=scene("scene two", contacts=36))
    assert from_contacts.from_contacts(1e-5, 1e-4, tmp_path).dt == pytest.approx(1e-5 * (1e-4 / (9 * (1.5 - 2 / 19))) ** 0.4)
    only_two = from_contacts.from_contacts(1e-5, 1e-4, tmp_path, contacts=36.0)
    assert only_two.dt == pytest.approx(1e-5 * (1e-4 / served) ** 0.4)
    # The same bodies in another run of twice the time have twice as many.
    more = scene(contacts=5, share=(1e-2,), horizon=2.0)
    many_body(tmp_path, old=scene(), more=more, two=scene("scene two", 1e-3, contacts=36))
    assert from_contacts.from_contacts(1e-5, 1e-4, tmp_path, contacts=10.0).dt == pytest.approx(
        1e-5 * (1e-4 / (2 * served)) ** 0.4
    )
    # Without spin they have as many, unless that was counted too.
    still = {"old": scene(spin=0.0), "more": scene(contacts=5, share=(1e-2,), horizon=2.0)}
    many_body(tmp_path, **still)
    assert from_contacts.from_contacts(1e-5, 1e-4, tmp_path, contacts=10.0).dt == pytest.approx(
        1e-5 * (1e-4 / (2 * served)) ** 0.4
    )
    many_body(tmp_path, **still, counted=scene(contacts=40, share=(1e-2,), spin=0.0, states=9))
    assert from_contacts.from_contacts(1e-5, 1e-4, tmp_path, contacts=10.0).dt == pytest.approx(
        1e-5 * (1e-4 / (0.5 * served)) ** 0.4
    )
    many_body(tmp_path, old=scene())
    with pytest.raises(AdviceError, match=r"^contacts: .* does not hold how long its bodies were in contact"):
        from_contacts.from_contacts(1e-5, 1e-4, tmp_path, contacts=36.0)


def test_a_run_that_blew_up_ends_the_steps_that_serve(tmp_path):
    lost = scene(states=5, share=(1e-4, 1e-3, 1e-2, 1e-1))
    assert from_contacts.from_contacts(1e-5, 0.9, many_body(tmp_path, one=lost)).dt == pytest.approx(1e-5 * 0.1)
    lost["diverged"].loc[{"dt": lost["dt"].max()}] = 1
    answer = from_contacts.from_contacts(1e-5, 0.9, many_body(tmp_path, one=lost))
    assert answer.dt == pytest.approx(1e-5 * 0.01), "the coarsest of those at which all runs lasted"
    with pytest.raises(AdviceError, match="no scene with three step sizes"):
        from_contacts.from_contacts(1e-5, 0.9, many_body(tmp_path, one=scene(share=(1e-3, 1e-2))))


def test_a_scene_of_one_step_decides_only_where_alone(tmp_path):
    several, single = scene(contacts=9), scene(times=100.0, share=(3e-2,), contacts=9)
    served = (1.5 - 2 / 19) * (16 / 9 * 30 / 32) ** 0.5
    expected = 1e-5 * (1e-4 / served) ** 0.4
    assert from_contacts.from_contacts(1e-5, 1e-4, many_body(tmp_path, one=several, long=single)).dt == pytest.approx(expected)
    still = many_body(tmp_path, one=several, long=single.assign_attrs(spin=0.0))
    assert from_contacts.from_contacts(1e-5, 1e-4, still).dt == pytest.approx(expected)
    alone = many_body(tmp_path, one=several, long=single.assign_attrs(label="others"))
    assert from_contacts.from_contacts(1e-5, 1e-4, alone).dt == pytest.approx(expected / 100**0.4)


def test_scenes_with_one_method_leave_the_choice(tmp_path):
    """As a scene with every method would, and one of a user with a single method."""
    every = scene(share=(3e-2, 1e-1), methods=(*LAWFUL, "verlet", "omelyan1998", "buss2000", "no_squish", "fincham1992"))
    folder = many_body(tmp_path, one=scene(), every=every, two=scene("two"), mine=scene("mine", methods=("omelyan1998",)))
    assert {row.method for row in from_contacts.from_contacts(1e-5, 1e-4, folder).alternatives} == {
        "spiral_leapfrog",
        "pcdm2016",
    }


def test_no_two_scenes_have_the_same_name(tmp_path):
    label = "pieces in a box"
    groups = {"a": scene(label), "b": scene(label, spin=0.0), "c": scene("rods"), "d": scene("rods", clumps=60)}
    said = " ".join(from_contacts.from_contacts(1e-5, 1e-4, many_body(tmp_path, **groups)).why().split())
    for name in ("pieces (20", "pieces without spin (20", "rods, c (20", "rods, d (20"):
        assert said.count(name) == 1, name


def test_the_file_with_more_states_answers_unless_a_run_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    few, many = scene(states=5, contacts=9), scene(states=50, contacts=9, times=2.0)
    many_body(tmp_path / "results", one=few)
    many_body(tmp_path / "data/released", one=many)
    answer = polhode.recommend(contact_time=1e-5, error=1e-4)
    said = " ".join(answer.why().split())
    assert "From data/released/many_body.nc, which comes with polhode." in said
    assert "50 states of a scene, against 5; `results` results asks that run" in said
    answer_of_run = polhode.recommend(contact_time=1e-5, error=1e-4, results="results")
    assert answer_of_run.dt > answer.dt and "From results/many_body.nc." in answer_of_run.why()
    many_body(tmp_path / "results", one=many, two=scene("two", states=50, contacts=9))
    assert "From results/many_body.nc. " in " ".join(polhode.recommend(contact_time=1e-5, error=1e-4).why().split())


def test_the_released_rods_grow_as_the_root_of_their_contacts():
    """100 s at one step against a few seconds at several: the median state, by the law, within the scatter of so many."""
    curves = from_contacts.curves(HOME / files.RELEASED / "many_body.nc")
    scenes = {curve.scene: curve for curve in curves if curve.method == "spiral_leapfrog"}
    short, long = scenes["rods_steps"], scenes["rods_states"]
    assert long.horizon >= 10 * short.horizon
    assert long.contacts == pytest.approx(short.contacts * long.horizon / short.horizon)
    scaled = short.of_contacts(long.contacts, 2.5)
    long = long.of_contacts(long.contacts, 2.5)
    expected = np.exp(np.interp(np.log(long.share[0]), np.log(scaled.share), np.log(quantile(scaled.errors, 0.5))))
    assert quantile(long.errors, 0.5)[0] == pytest.approx(expected, rel=0.35)


# --- the command -----------------------------------------------------------------------------------------------------

WORDS = ["recommend", "--inertia", "1", "2", "2.5", "--omega", "0", "6", "8", "--torque", "friction", "--time", "0.5"]


def test_the_command_answers_on_one_screen(few, capsys):
    assert cli.main([*WORDS, "--strength", "0.5", "--error", "1e-4", "--torque-price", "100", "--why"]) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert len(lines) <= 32 and max(map(len, lines)) <= 101, "a slow method and the name of the processor may take two lines"
    assert "Body (1, 2, 2.5) kg m^2 turning at 10 rad/s for 0.5 s, isotropic friction of strength 0.5" in " ".join(lines)
    assert said.out.startswith("Take ") and "How this is known:" in said.out and "Interval:" in said.out


@pytest.mark.thorough
@pytest.mark.usefixtures("glances")
def test_the_command_answers_machines(few, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # a run in the checkout, such as a quick one, would be asked first
    assert cli.main([*WORDS, "--error", "1e-4", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["best"]["method"] == answer["method"] and answer["dt"] == 0.5 / answer["steps"]
    assert answer["known_from"] == "runs" and answer["question"]["torque"] == "friction_isotropic"
    assert answer["interval"][0] <= answer["interval"][1] and answer["alternatives"][0]["method"] == answer["method"]
    assert cli.main(["recommend", "--contact-time", "1e-4", "--error", "1e-4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["known_from"] == "contacts"


def test_an_orientation_of_any_size_is_a_direction():
    for size in (1e300, 1e-310, 1.0):
        start = case_of_words((1, 2, 2.5), (0, 3, 4), "free", 1.0, orientation=(3 * size, 0, 4 * size, 0)).starts[0]
        assert start.q0 == pytest.approx((0.6, 0, 0.8, 0))


@pytest.mark.thorough
def test_a_time_limit_ends_with_a_message(few, capsys):
    words = [*WORDS[:-1], "1e9", "--error", "1e-6", "--limit", "2"]
    assert cli.main(words) == 2
    said = capsys.readouterr().err
    assert "within the time limit" in said and "allow more time with --limit" in said, "the argument as an option"


LIBRATION = {
    "inertia": [1, 2, 2.5],
    "omega": [0.02, 0, 0],
    "torque": ["-8*q0*qx", 0, 0],
    "time": 10,
}


@pytest.mark.thorough
@pytest.mark.usefixtures("glances")
def test_an_angle_is_an_error_of_the_orientation_alone(few):
    """A libration of 0.01 rad, with angle'' = -4 sin(angle): the relative error of omega is 100 times that of the angle."""
    # Of one start, so that no other amplitude decides.
    case = replace(case_of_mapping(LIBRATION)[0], open_questions=("nothing",))
    both, alone = (from_runs.from_runs(case, error) for error in (1e-4, Angle(1e-4)))
    assert (both.error, alone.error) == (1e-4, 1e-4)
    assert (both.asked["orientation_alone"], alone.asked["orientation_alone"]) == (False, True)
    assert "angle of the orientation below 0.0001 rad" in alone.question
    assert any(reason.startswith("Error: the angle in rad, at 64 times") for reason in alone.evidence)
    assert any(reason.startswith("Error: the larger of the angle in rad and |omega - exact|") for reason in both.evidence)
    steps = {row.method: row.steps for row in both.alternatives}
    (row,) = (row for row in alone.alternatives if row.method == "spiral_leapfrog")
    assert 5 < steps["spiral_leapfrog"] / row.steps < 20
    problem = case_of_mapping(LIBRATION)[0].starts[0]
    run = polhode.simulate(problem, row.method, dt=10 / row.steps)
    swing = solve_ivp(
        lambda t, y: (y[1], -4 * math.sin(y[0])), (0, 10), (0, 0.02), "DOP853", run.time, rtol=1e-11, atol=1e-14
    ).y
    angle = abs(2 * np.arctan2(run.q[:, 1], run.q[:, 0]) - swing[0]).max()
    assert angle < 1e-4
    assert abs(run.omega[:, 0] - swing[1]).max() / 0.02 > 10e-4


def test_an_error_with_a_unit_is_an_angle():
    from polhode.advice import for_contacts
    from polhode.cli.recommend import _error

    file = case_of_mapping(LIBRATION | {"error": "0.01 deg"})[1]["error"]
    assert isinstance(file, Angle)
    assert file == math.radians(0.01)
    for read in (in_radians, _error, polhode.advice._error):
        assert isinstance(read("18 deg"), Angle)
        assert (read("18deg"), read("1e-4 rad")) == (math.pi / 10, 1e-4)
    assert not isinstance(_error("1e-4"), Angle)
    with pytest.raises(AdviceError, match=r"error: of contacts it is no angle; write a number without a unit, got '1 deg'"):
        for_contacts(1e-4, "1 deg")


def test_the_step_between_edges_is_named():
    """Two firings of 20 ms end 0.23 s before a sample, every 0.25 s: all other steps are shorter than the longest."""
    given = LIBRATION | {"inertia": [1, 2, 2.5], "signals": {"jet": {"firings": [[2, 0.02], [6, 0.02]]}}}
    given |= {"torque": ["jet", 0, 0], "controller": {"every": 0.25, "torque": ["-wx", 0, 0]}}
    case = case_of_mapping(given)[0]
    problem = case.starts[0]
    priced = from_runs.prices(100.0)
    priced = replace(priced, pieces=tuple(np.diff(from_runs.edges_of(problem, 10.0))))
    rk4 = polhode.methods["rk4"]
    (row,) = from_runs._choices(case, [rk4], {"rk4": from_runs.FewestSteps(43, 1e-4)}, priced, 1.0)
    assert row.dt == pytest.approx(0.23)
    times = in_pieces(problem, rk4, row.dt, 10.0, np.arange(1, 2001) / 200).times
    lengths = np.diff(np.append(0, times))
    lengths = lengths[lengths > 1e-6]  # an edge is the end of one piece and the start of the next
    assert len(lengths) == row.steps
    assert np.median(lengths) == pytest.approx(row.usual) == 0.125
    assert lengths.max() == pytest.approx(row.dt)
    assert row.mark == "mostly 0.125 s"
    said = from_runs.take(case, row, 1.0)
    assert "steps of at most 0.23 s, most of them 0.125 s (between two of the 41 edges of the torque they are equal)" in said
    assert f"{len(lengths)} in all, {10 / 0.125 / 0.2:g} steps a radian at the initial" in said
    # With one step from edge to edge the longest ones take most of the time.
    (row,) = from_runs._choices(case, [rk4], {"rk4": from_runs.FewestSteps(40, 1e-4)}, priced, 1.0)
    assert (row.usual, row.mark, row.steps) == (None, "one step from edge to edge", 42)
    assert "steps of at most 0.25 s that end at the 41 edges" in from_runs.take(case, row, 1.0)


@pytest.mark.parametrize("number", [1, 5, 12, 40])
def test_names_fill_two_lines_and_the_rest_is_counted(number):
    from polhode.advice.answer import WIDTH, names_on_lines

    names = [f"a method of many words {i}" for i in range(number)]
    text = names_on_lines("Not finished: ", names)
    lines = wrap(text, WIDTH)
    assert len(lines) <= 2
    more = re.search(r" and (\d+) more\.$", text)
    assert text.count("words") + (int(more[1]) if more else 0) == number
    assert (more is None) == (number <= 5)
    if more:
        assert len(" ".join(lines)) > 1.5 * WIDTH


@pytest.mark.parametrize("confirmed", [True, False])
def test_the_first_block_has_twelve_lines_at_most(confirmed):
    """Of a body that turns about one axis under a torque with edges, with long names, and without time for 50 methods."""
    names = list(polhode.methods)
    case = case_of_mapping(LIBRATION | {"signals": {"jet": {"firings": [[2, 0.02], [6, 0.02]]}}, "torque": ["jet", 0, 0]})[0]
    starts = from_runs.Starts([SimpleNamespace(radians=1e6)] * 25, 2, 5)
    key, label = "exact_rotor_dkd_corrected", "exact rotor DKD, corrected"
    best = Choice(key, label, 0.012345, 123456789, 123456789, 123.4, 1.0, 1e-4, usual=0.0012345)
    plain = Choice("exact_rotor", "exact rotor", 0.0012345, 1, 1, 1.0)
    costs = f"It takes 123,456,789 evaluations of the torque, 123 s in all.{at_outputs(key, [best, plain])}"
    late = "Not confirmed, since the time limit of 600 s is over after 123,456 runs: its error was 0.00012 from 9 starts of 25"
    answer = Recommendation(
        "What",
        best,
        from_runs.take(case, best, 1e6) if confirmed else "NOT CONFIRMED: " + from_runs.take(case, best, 1e6, "take"),
        (0.1, 1.0),
        "",
        [],
        [],
        1e-3,
        "runs",
        {},
        serves=from_runs.serves(case, starts)
        if confirmed
        else f"{late}, and finer steps, which must meet the error too, were not run.",
        costs=costs if confirmed else "",
        notes=from_runs._unfinished(names[:25], names[25:50]),
    )
    assert "they may be faster, among them Runge-Kutta 4, NO_SQUISH" in answer.notes[0]
    assert "if the state is read at every step" in costs
    assert len(str(answer).splitlines()) <= 12


def test_a_single_method_without_time_is_named():
    assert from_runs._unfinished(["euler"], []) == [
        "Within the time limit direct Euler was not finished; it may be faster: allow more with `limit`."
    ]
    assert "direct Euler was not compiled" in from_runs._unfinished([], ["euler"])[0]
    assert from_runs._unfinished([], []) == from_runs._without([], []) == []


def test_torques_of_a_restart_are_at_most_those_of_a_long_run():
    """Fewer, if the run restarts again before the start is over: of 2 steps 1 + 3 a step, not 10."""
    (said,) = restarts(polhode.methods["magnus_adams4"])
    assert "with at most 10 more torque evaluations" in said
    assert [polhode.methods["magnus_adams4"].starting_torques(steps) for steps in (1, 2, 3, 99)] == [4, 7, 10, 10]


def test_an_answer_in_words_and_json():
    best = Choice("a", "A", 0.1, 10, 11, 1e-6, 1.0, 1e-4)
    other = Choice("b", "B", 0.2, 5, 6, 1.05e-6, 1.05, 1e-4)
    answer = Recommendation("What", best, "Take A.", (0.05, math.inf), "Interval.", [best, other], ["Runs."], 1e-3, "runs", {})
    assert json.loads(answer.to_json())["interval"] == [0.05, None]
    assert str(answer).splitlines() == ["Take A.", "How it is known, what would change it, and other methods: `why`."]
    assert "Within 10% of it, an order that another processor may reverse: B." in answer.why()
    assert answer._repr_html_().startswith("<pre>Take A.")


# --- does the step meet the error? -----------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.usefixtures("glances")
def test_random_cases_meet_their_error(monkeypatch):
    """Two cases of the benchmark: from their own starts, and from another one with the same step. The first is free: exact."""
    ask_only(monkeypatch, (*FEW, "exact_rotor"))
    monkeypatch.setattr(benchmark, "TIMES", 100)
    free, forced = (benchmark.check(benchmark.draw(i, seed=8), starts=1, seed=8) for i in (0, 4))
    assert free.question.torque_class == "free" and all(ratio < 1e-3 for ratio in (free.of_given_start, *free.others))
    assert all(0.1 < ratio <= 1 for ratio in (forced.of_given_start, *forced.others))


def test_a_code_named_for_a_class_is_led_to_the_page_on_engines():
    """With the answer without it, from released data; a motion, whose runs take time, is only led there."""
    question = {"torque": "smooth", "omega": 6.28, "error": 1e-2}
    with pytest.raises(AdviceError, match=r"in docs/engines.md; for its step leave `code` out: ") as refused:
        polhode.recommend(**question, code="rapier")
    assert str(refused.value).endswith(polhode.recommend(**question).sentence)
    motion = {"inertia": (1, 2, 2.5), "omega": 10, "torque": "lab", "time": 2, "error": 1e-4}
    with pytest.raises(AdviceError, match=r"docs/engines.md; for its step leave `code` out$"):
        polhode.recommend(**motion, code="rapier")
