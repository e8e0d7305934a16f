"""Bodies with wheels, and torques in pieces: closed form, order, conservation, and another integrator."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode
from polhode import Body
from polhode.advice import from_runs
from polhode.advice.budget import Budget
from polhode.advice.cases import case_of_mapping
from polhode.advice.errors import AdviceError
from polhode.advice.files import released
from polhode.advice.motion import KnownMotion, motion_of
from polhode.algebra import metrics
from polhode.algebra.quaternion import multiply
from polhode.ensembles import satellites
from polhode.ensembles.satellites import satellite
from polhode.methods import METHODS
from polhode.methods.wheels import KERNELS
from polhode.problems import orbit, pieces, signals
from polhode.problems.pieces import Controller
from polhode.problems.problem import Problem
from polhode.problems.system import System
from polhode.references import symmetric_top, taylor
from polhode.references.dataset import reference_dataset
from polhode_study.gather import single_body

#: A satellite of three units: moments, a wheel about y, and two pulses of a thruster.
CUBESAT = {
    "inertia": [0.007, 0.035, 0.036],
    "wheels": [{"axis": [0, 1, 0], "momentum": 0.005}],
    "omega": [0.0, -0.0011, 0.0],
    "torque": ["0.001 * pulse(t, 40, width)", 0, "0.001 * pulse(t, 90, width)"],
    "parameters": {"width": 0.02},
    "time": 200.0,
}


def nothing(t, q, omega, parameters):
    return (0.0, 0.0, 0.0)


def of_time(t, q, omega, parameters):
    return (parameters[0] * t, 0.4, -0.3 * t)


def gyrostat(inertia, wheels, torque=nothing, **changes):
    given = {"parameters": {}, "torque_class": "free", "horizon": 2.0, "omega0": (0.7, -0.4, 0.9), **changes}
    return Problem(key="gyrostat", label="gyrostat", source="a test", body=Body(inertia, wheels=wheels), torque=torque, **given)


SYMMETRIC = gyrostat((1.0, 1.0, 1.6), [((0, 0, 2), 0.05, 40.0)], reference="symmetric_top")
ASYMMETRIC = gyrostat(
    (1.0, 1.3, 1.6),
    [((1, 2, 2), 1.5), ((0, -1, 0), 0.4)],
    of_time,
    parameters={"rate": 0.6},
    torque_class="time",
)


def test_momenta_of_wheels_add_up():
    body = Body((1.0, 1.3, 1.6), wheels=[((1, 2, 2), 1.5), ((0, -1, 0), 0.1, 4.0)])
    assert body.wheel_momentum == pytest.approx((0.5, 0.6, 1.0))
    assert Body((1.0, 1.3, 1.6)).wheel_momentum == (0.0, 0.0, 0.0)


def test_wheels_of_a_tensor_are_turned_to_its_principal_axes():
    tensor = [[2.0, -0.5, 0.0], [-0.5, 2.0, 0.0], [0.0, 0.0, 3.0]]
    body, _ = Body.from_tensor(tensor, wheels=[((1, 1, 0), 2.0)])
    assert body.inertia == (1.5, 2.5, 3.0)
    assert body.wheel_momentum == pytest.approx((2.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("wheels", "words"),
    [
        ([((0, 0, 0), 1.0)], r"wheels\[0\]: axis must not be zero"),
        ([((0, 0, 1), 1.0), ((0, 1, 0), float("nan"))], r"wheels\[1\]: momentum"),
        ([((0, 0, 1), -1.0, 3.0)], r"wheels\[0\]: inertia"),
        ([(0, 0, 1)], r"wheels\[0\]: axis"),
        ([5.0], r"wheels\[0\] must be \(axis, momentum in N m s\)"),
        (3.0, "wheels must be a list"),
    ],
)
def test_what_is_no_wheel_is_named(wheels, words):
    with pytest.raises((TypeError, ValueError), match=words):
        Body((1.0, 1.3, 1.6), wheels=wheels)


def test_the_closed_form_of_the_symmetric_gyrostat_is_the_series():
    """Two ways to one motion: rotations about the fixed momentum and the axis, and a torque h x omega in Euler's equations."""
    times = [0.5, 2.0]
    for closed, series in zip(symmetric_top.solve(SYMMETRIC, times, 50), taylor.solve(SYMMETRIC, times, 50), strict=True):
        assert max(abs(a - b) for a, b in zip(sum(closed, ()), sum(series, ()), strict=True)) < 1e-48


def test_closed_forms_without_wheels_refuse_them():
    problem = replace(ASYMMETRIC, torque=nothing, torque_class="free", reference="asymmetric_top")
    with pytest.raises(ValueError, match="holds for a body without wheels"):
        problem.exact([1.0], 20)
    with pytest.raises(ValueError, match="needs wheels along z"):
        replace(problem, body=replace(problem.body, inertia=(1.0, 1.0, 1.6)), reference="symmetric_top").exact([1.0], 20)


@pytest.mark.parametrize("key", ["spiral_cylinder", "exponential_sphere"])
def test_closed_forms_of_forced_bodies_refuse_wheels(key):
    """Their torques are not the only ones then: omega_x was 22.2 for 18.6 rad/s with a wheel about y."""
    problem = polhode.problems[key]
    with pytest.raises(ValueError, match="holds for a body without wheels"):
        replace(problem, body=replace(problem.body, wheels=[((0, 1, 0), 0.5)])).exact([0.5], 20)


@pytest.mark.parametrize("key", ["spiral_cylinder", "exponential_sphere", "free_symmetric_top", "heavy_top"])
def test_closed_forms_refuse_a_controller(key):
    problem = replace(polhode.problems[key], controller=Controller(0.5, nothing))
    with pytest.raises(ValueError, match="holds without a controller"):
        problem.exact([0.5], 20)


def error_of(problem, method, steps, exact):
    run = polhode.simulate(problem, method, dt=problem.horizon / steps, samples=1)
    q, omega = exact
    return max(metrics.geodesic_angle(run["q"].values[-1], q), np.linalg.norm(run["omega"].values[-1] - omega))


@pytest.fixture(scope="module")
def end():
    ((q, omega),) = taylor.solve(ASYMMETRIC, [ASYMMETRIC.horizon], 20)
    return np.array(q, float), np.array(omega, float)


def test_a_method_with_wheels_is_found_where_it_was_compiled(tmp_path):
    """In a process of its own: another test may have compiled it in this one."""
    lines = "from polhode.methods import METHODS; from polhode.methods.wheels import with_wheels\n"
    lines += "gyrostat = with_wheels(METHODS['exact_rotor'], (0.1, 0.2, 0.3)); before = gyrostat.is_kept()\n"
    lines += "gyrostat.compile(); print(before, gyrostat.is_kept())"
    environment = {**os.environ, "POLHODE_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", lines], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


@pytest.mark.parametrize(("method", "order"), [*((key, 2) for key in KERNELS), ("rk4", 4)])
def test_methods_keep_their_order_with_wheels(method, order, end):
    """Under a torque of time, for which the splittings need no h x omega; against the Taylor series of another formula."""
    errors = [error_of(ASYMMETRIC, method, steps, end) for steps in (200, 400)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, rel=0.1)


def test_a_splitting_is_exact_where_wheels_turns_commute():
    q, omega = SYMMETRIC.exact([2.0], 20)
    assert error_of(SYMMETRIC, "touma1994", 5, (q[0], omega[0])) < 1e-13


@pytest.mark.parametrize("steps", [1, 7])
def test_the_exact_rotor_is_exact_whatever_the_wheels(steps):
    """Against the Taylor series of Euler's equations with h x omega as a torque."""
    problem = replace(ASYMMETRIC, torque=nothing, torque_class="free", parameters={}, horizon=20.0)
    ((q, omega),) = taylor.solve(problem, [20.0], 20)
    assert error_of(problem, "exact_rotor", steps, (np.array(q, float), np.array(omega, float))) < 1e-11


@pytest.mark.thorough
@pytest.mark.parametrize("method", list(KERNELS))
def test_splittings_keep_momentum_and_bound_the_energy(method):
    """Over 10^7 steps, of 0.06 radians of nutation and more."""
    problem = replace(ASYMMETRIC, torque=nothing, torque_class="free", parameters={})
    run = polhode.simulate(problem, method, dt=0.05, t_end=0.05 * 10**7, samples=1000)
    momentum = metrics.lab_angular_momentum(
        run["q"].values, run["omega"].values, problem.body.inertia, problem.body.wheel_momentum
    )
    sizes = np.linalg.norm(momentum, axis=1)
    assert np.abs(sizes / sizes[0] - 1).max() < 1e-9
    energy = run["energy"].values / run["energy"].values[0] - 1
    halves = [np.abs(half).max() for half in np.array_split(energy, 2)]
    assert max(halves) < 0.02
    assert halves[1] < 1.1 * halves[0]


def another_integrator(problem, end, rtol=1e-12):
    """q and omega at the end by SciPy's DOP853, piece by piece, from the formulas of a gyrostat."""
    inertia, h = np.array(problem.body.inertia), np.array(problem.body.wheel_momentum)
    control, parameters = problem.controller, tuple(problem.parameters.values())
    every = control.every if control else np.inf
    samples = [k * every for k in range(1, int(end / every) + 1)]
    held = np.zeros(3)

    def rates(t, y):
        (a, b, c, d), omega = y[:4], y[4:]
        x, y_, z = omega
        turning = 0.5 * np.array(
            [-b * x - c * y_ - d * z, a * x + c * z - d * y_, a * y_ + d * x - b * z, a * z + b * y_ - c * x]
        )
        load = np.array(problem.torque(t, tuple(y[:4]), tuple(omega), parameters)) + held
        return np.concatenate([turning, (load - np.cross(omega, inertia * omega + h)) / inertia])

    state = np.concatenate([problem.q0, problem.omega0])
    edges = (t for t in (*problem.breakpoints, *samples) if t < end)
    for a, b in pairwise(sorted({0.0, *edges, end})):
        if control and a in (0.0, *samples):
            held = np.array(control.torque(a, tuple(state[:4]), tuple(state[4:]), parameters))
        inner = 1e-12
        state = solve_ivp(rates, (a + inner, b - inner), state, method="DOP853", rtol=rtol, atol=1e-15).y[:, -1]
    return state[:4] / np.linalg.norm(state[:4]), state[4:]


@pytest.mark.parametrize(("method", "error"), [("rk4", 1e-8), ("exact_rotor", 2e-5)])
def test_a_cubesat_s_pulses_agree_with_another_integrator(method, error):
    problem = case_of_mapping(CUBESAT)[0].starts[0]
    assert problem.breakpoints == pytest.approx((40.0, 40.02, 90.0, 90.02))
    q, omega = another_integrator(problem, problem.horizon)
    run = polhode.simulate(problem, method, dt=0.1)
    assert metrics.geodesic_angle(run["q"].values[-1], q) < error
    assert np.linalg.norm(run["omega"].values[-1] - omega) < error
    assert int(run["steps"]) == 400 + 1 + 500 + 1 + 1100  # of pieces of 40, 0.02, 49.98, 0.02 and 109.98 s
    assert run["time"].values[0] == 0.0
    assert run["time"].values[-1] == problem.horizon


@pytest.fixture(scope="module")
def reference():
    """The problem of the study with a wheel, and its reference at the end, checked by a run of higher precision."""
    problem = polhode.problems["cubesat"]
    return problem, reference_dataset(problem, [problem.horizon], 50)


def test_the_reference_of_the_cubesat_agrees_with_dop853(reference):
    problem, exact = reference
    assert exact.attrs["agreement"] >= 50
    q, omega = another_integrator(problem, problem.horizon, rtol=1e-13)
    assert metrics.geodesic_angle(exact["q"].values[-1], q) < 2e-12
    assert np.linalg.norm(exact["omega"].values[-1] - omega) < 2e-13


def test_a_symmetric_cubesat_has_the_closed_form_s_reference():
    """Its start and its time, with the wheel along the axis of symmetry."""
    body = Body((0.035, 0.035, 0.007), wheels=[((0, 0, 1), 0.005)])
    problem = replace(polhode.problems["cubesat"], body=body, torque_class="free", reference="symmetric_top", conserves=())
    assert reference_dataset(problem, [20.0, problem.horizon], 50).attrs["agreement"] >= 50


@pytest.mark.parametrize(("method", "error"), [("exact_rotor", 1e-10), ("rk4", 1e-8), *((key, 1e-4) for key in KERNELS)])
def test_methods_follow_the_reference_of_the_cubesat(method, error, reference):
    problem, exact = reference
    assert error_of(problem, method, 8192, (exact["q"].values[-1], exact["omega"].values[-1])) < error


def test_errors_and_drifts_are_of_body_and_wheel(reference):
    """Of the exact state, turned by an angle, the momentum is wrong by the angle; of the body alone it changes."""
    problem, exact = reference
    first, end = ((np.array(problem.q0), np.array(problem.omega0)), (exact["q"].values[-1], exact["omega"].values[-1]))
    run = {"time": np.array([0.0, problem.horizon]), "q": np.array([first[0], end[0]]), "omega": np.array([first[1], end[1]])}
    drifts = single_body.run_drifts(run, problem)
    assert drifts["momentum_drift"][1] < 1e-14 and drifts["energy_drift"][1] < 1e-14
    alone = single_body.run_drifts(run, replace(problem, body=Body(problem.body.inertia)))
    assert alone["momentum_drift"][1] > 0.1
    body, h = problem.body, np.array(problem.body.wheel_momentum)
    turn = (np.cos(0.005), 0.0, np.sin(0.005), 0.0)
    true = metrics.lab_angular_momentum(end[0], end[1], body.inertia, h)
    off = metrics.lab_angular_momentum(multiply(turn, tuple(end[0])), end[1], body.inertia, h)
    exactly = type("States", (), {"q": exact["q"].values, "omega": exact["omega"].values, "at": lambda self, t: [0] * len(t)})()
    turned = {name: np.array([value]) for name, value in (("time", 200.0), ("q", multiply(turn, tuple(end[0]))))}
    turned |= {"omega": end[1][None], "stored_omega": end[1][None], "stored_offset": 0.0, "dt": 1.0}
    error = single_body.run_errors(turned, exactly, problem, slice(None))["momentum_error"][0]
    assert error == pytest.approx(np.linalg.norm(off - true) / np.linalg.norm(true), rel=1e-9)


def test_wheels_of_several_bodies_are_refused():
    given = dict.fromkeys(("key", "label", "source"), "pair") | {"loads": None, "torque_class": "free", "horizon": 1.0}
    with pytest.raises(ValueError, match=r"problem 'pair': bodies\[1\] has wheels"):
        System(bodies=(Body((1.0, 1.3, 1.6)), Body((1.0, 1.3, 1.6), wheels=[((0, 1, 0), 0.1)])), omega0=(), **given)


def test_steps_that_end_at_jumps_keep_the_order():
    torque = ["1e-5 * pulse(t, 40, 33)", "-1e-5 * pulse(t, 60, 57)", 0]
    changes = {"wheels": [], "torque": torque, "parameters": {}, "omega": [0.01, 0.02, 0.03]}
    problem = case_of_mapping({**CUBESAT, **changes})[0].starts[0]
    q, _ = another_integrator(problem, problem.horizon)

    def error(steps, **options):
        run = polhode.simulate(problem, "rk4", dt=problem.horizon / steps, samples=1, **options)
        return metrics.geodesic_angle(run["q"].values[-1], q)

    assert np.log2(error(100) / error(200)) == pytest.approx(4, rel=0.1)
    across = replace(problem, breakpoints=())
    passed = polhode.simulate(across, "rk4", dt=problem.horizon / 200, samples=1)["q"].values[-1]
    assert metrics.geodesic_angle(passed, q) > 100 * error(200)


def test_a_run_in_pieces_that_blows_up_is_nan_from_there_on():
    problem = replace(ASYMMETRIC, breakpoints=(0.5, 1.0, 1.5), parameters={"rate": 1e300})
    run = polhode.simulate(problem, "rk4", dt=0.1, samples=8)
    assert np.isnan(run["q"].values[-1]).all()
    assert "diverged" in run.attrs


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"wheels": [{"axis": [0, 1, 0]}]}, r"wheels\[0\] needs axis and momentum"),
        ({"wheels": "one"}, "wheels must be a list such as"),
        ({"torque": ["pulse(t, 1)", 0, 0]}, "pulse takes three: t, start and width"),
        ({"torque": ["pulse(t, wx, 1)", 0, 0]}, "start and width of a pulse are numbers or parameters, not wx"),
        ({"torque": "lab", "parameters": {}}, "belongs to a torque written as three formulas"),
    ],
)
def test_what_a_file_says_of_wheels_and_pulses_is_checked(changes, words):
    with pytest.raises(AdviceError, match=words):
        case_of_mapping({**CUBESAT, **changes})


def test_methods_without_wheels_get_them_as_a_torque():
    """Splittings have kernels for wheels; to other methods h x omega is a torque."""
    assert set(KERNELS) <= set(METHODS)
    plain = np.array(ASYMMETRIC.whole_torque(0.5, (1.0, 0.0, 0.0, 0.0), (1.0, 2.0, 3.0), ASYMMETRIC.numbers))
    expected = np.array([0.3, 0.4, -0.15]) + np.cross(ASYMMETRIC.body.wheel_momentum, (1.0, 2.0, 3.0))
    assert plain == pytest.approx(expected)


#: The cubesat with firings, a table that is linear and one that is held, and a controller at 2 Hz.
CONTROLLED = {
    **CUBESAT,
    "torque": ["1e-4 * jet", "motor", "gain * wz * step"],
    "parameters": {"gain": -1e-4},
    "signals": {
        "jet": {"firings": [[3, 0.5], [7.1, 0.2], [7.3, 0.1]]},
        "motor": {"times": [2, 6, 9.5], "values": [0, 1e-5, -2e-5]},
        "step": {"times": [1, 4], "values": [0.5, 2], "between": "held"},
    },
    "controller": {"every": "5e-1", "torque": ["-2e-3*wx - 1e-3*qx", "-1e-3*qy", "-2e-3*wz - gain*step*t"]},
    "time": 12.0,
}


def test_signals_are_those_that_are_written():
    jet = signals.firings([(3, 0.5), (7.1, 0.2), (7.3, 0.1)])
    assert jet.edges == pytest.approx((3, 3.5, 7.1, 7.3, 7.4))
    linear, held = signals.table([2, 6, 9], [0, 4, 1]), signals.table([2, 6, 9], [0, 4, 1], "held")
    times = [0.0, 2.5, 3.2, 7.2, 7.35, 8.0, 11.0]
    expected = [  # no dictionary: equal signals would be one key
        (jet, [0, 0, 1, 1, 1, 0, 0]),
        (linear, np.interp(times, [2, 6, 9], [0, 4, 1])),
        (held, [0, 0, 0, 4, 4, 4, 1]),
    ]
    for each, values in expected:
        numbers = np.array([9.0, *each.parameters("s").values()])
        assert [signals.signal(t, numbers, 1, len(each.rows)) for t in times] == pytest.approx(list(values))


@pytest.mark.parametrize(("method", "error"), [("rk4", 1e-9), ("exact_rotor", 1e-5), ("magnus_adams4", 1e-8)])
def test_signals_and_a_controller_agree_with_dop853(method, error):
    problem = case_of_mapping(CONTROLLED)[0].starts[0]
    q, omega = another_integrator(problem, 12.0)
    run = polhode.simulate(problem, method, dt=0.02)
    assert metrics.geodesic_angle(run["q"].values[-1], q) < error
    assert np.linalg.norm(run["omega"].values[-1] - omega) < error
    assert np.linalg.norm(another_integrator(replace(problem, controller=None), 12.0)[1] - omega) > 1e-3, "it acts"


def test_a_controller_in_python_is_that_of_a_file():
    given = case_of_mapping(CONTROLLED)[0].starts[0]

    def control(t, q, omega, parameters):
        step = 0.5 if t < 4 else 2.0
        return (-2e-3 * omega[0] - 1e-3 * q[1], -1e-3 * q[2], -2e-3 * omega[2] + 1e-4 * step * t)

    problem = replace(given, controller=Controller(0.5, control))
    runs = [polhode.simulate(case, "rk4", dt=0.1, samples=1)["omega"].values[-1] for case in (given, problem)]
    assert runs[0] == pytest.approx(runs[1], rel=1e-12)


def test_the_series_samples_a_controller_where_the_steps_end():
    problem = replace(case_of_mapping({**CONTROLLED, "time": 4.2})[0].starts[0])
    ((q, omega),) = taylor.solve(problem, [4.2], 15)
    expected_q, expected_omega = another_integrator(problem, 4.2)
    assert np.array(q, float) == pytest.approx(expected_q, abs=1e-10)
    assert np.array(omega, float) == pytest.approx(expected_omega, abs=1e-11)


def test_a_run_in_pieces_that_ends_between_two_samples():
    problem = case_of_mapping(CONTROLLED)[0].starts[0]
    edges = [*(0.5 * np.arange(25)), 7.1, 7.3, 7.4]  # firings and tables that change at a sample have no edge of their own
    assert pieces.edges_of(problem, 12.0) == pytest.approx(sorted(edges), rel=1e-14)
    run = polhode.simulate(problem, "rk4", dt=1.75, samples=1, t_end=1.75)
    assert int(run["steps"]) == 4
    assert int(run["torque_evaluations"]) == 16
    short = polhode.simulate(problem, "rk4", dt=0.1, t_end=0.3, samples=1)["omega"].values[-1]
    assert short == pytest.approx(another_integrator(problem, 0.3)[1], abs=1e-7)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"signals": {"jet": {"firings": [[3, 0.5], [3.2, 1]]}}}, r"signals: jet: firings\[1\] begins at 3.2 s, before"),
        ({"signals": {"jet": {"firings": [[3, 0]]}}}, r"signals: jet: firings\[0\]: length"),
        ({"signals": {"jet": {"times": [1, 1], "values": [0, 1]}}}, r"signals: jet: times must ascend, but times\[1\] = 1"),
        ({"signals": {"jet": {"times": [1, 2], "values": [0]}}}, "times and values must be as many, got 2 and 1"),
        ({"signals": {"jet": {"times": [1], "values": [0], "between": "cubic"}}}, "between must be linear or held"),
        ({"signals": {"jet": 3}}, "signals: jet needs firings"),
        ({"signals": {"width": {"firings": [[3, 1]]}}}, "signals: 'width' is a parameter, too"),
        ({"signals": {"wx": {"firings": [[3, 1]]}}}, "'wx' cannot be the name"),
        ({"controller": {"every": 0.25}}, "controller needs every"),
        ({"controller": {"every": 0, "torque": [0, 0, 0]}}, "controller: every"),
        ({"controller": {"every": 1, "torque": ["vx", 0, 0]}}, "controller: torque: unknown name 'vx'"),
        ({"controller": {"every": 1, "motors": [0, 0]}}, "motors must be a formula .N m. for each of the 1 wheels"),
        ({"controller": {"every": 1, "motors": ["vx"]}}, r"controller: motors\[0\]: torque: unknown name 'vx'"),
        ({"wheels": [], "controller": {"every": 1, "motors": []}}, "for each of the 0 wheels"),
    ],
)
def test_what_a_file_says_of_signals_and_controllers_is_checked(changes, words):
    with pytest.raises(AdviceError, match=words):
        case_of_mapping({**CUBESAT, **changes})


ORBIT = {
    **CUBESAT,
    "inertia": [[0.01, 0.001, 0.0], [0.001, 0.03, -0.002], [0.0, -0.002, 0.036]],
    "omega": [0.01, -0.02, 0.03],
    "torque": [0, 0, 0],
    "parameters": {},
    "orbit": {"altitude": 5e5, "inclination": 1.7, "phase": 0.4},
    "loads": {
        "gravity_gradient": {},
        "dipole": {"moment": [0.01, 0.02, -0.03], "longitude": 0.5},
        "drag": {"centre": [0.01, 0, 0.02], "density": 1e-9, "area": 0.03},
    },
    "time": 900.0,
}


def test_loads_in_an_orbit_are_those_of_matrices_and_vectors():
    """In the axes of the tensor and with matrices of NumPy and SciPy, from the formulas of a text-book."""
    problem = case_of_mapping(ORBIT)[0].starts[0]
    _, rotation = Body.from_tensor(ORBIT["inertia"])
    tensor, moment, centre = (np.array(x) for x in (ORBIT["inertia"], [0.01, 0.02, -0.03], [0.01, 0, 0.02]))
    t, (w, *xyz) = 321.0, np.array([0.3, -0.5, 0.7, 0.4]) / np.linalg.norm([0.3, -0.5, 0.7, 0.4])
    to_lab = Rotation.from_quat([*xyz, w])
    radius = 6.3712e6 + 5e5
    rate = np.sqrt(3.986004418e14 / radius**3)
    plane = Rotation.from_euler("x", 1.7)
    r, v = (plane.apply(a) for a in Rotation.from_euler("z", 0.4 + rate * t).apply(np.eye(3)[:2]))
    axis = Rotation.from_euler("z", 0.5 + 7.292115e-5 * t).apply([np.sin(np.radians(9.4)), 0, np.cos(np.radians(9.4))])
    field = -2.98e-5 * (6.3712e6 / radius) ** 3 * (3 * (axis @ r) * r - axis)
    r_body, field, v_body = (to_lab.inv().apply(a) for a in (r, field, v))
    expected = 3 * rate**2 * np.cross(r_body, tensor @ r_body) + np.cross(moment, field)
    expected += np.cross(centre, -0.5 * 1e-9 * 2.2 * 0.03 * (rate * radius) ** 2 * v_body)
    turned = multiply((w, *xyz), rotation)
    load = problem.compiled_torque(t, turned, (0.0, 0.0, 0.0), problem.parameter_array)
    assert Rotation.from_quat([*rotation[1:], rotation[0]]).apply(load) == pytest.approx(expected, rel=1e-9)


def test_a_satellite_in_an_orbit_agrees_with_dop853():
    problem = case_of_mapping(ORBIT)[0].starts[0]
    q, omega = another_integrator(problem, problem.horizon)
    run = polhode.simulate(problem, "rk4", dt=0.02, samples=1)
    assert metrics.geodesic_angle(run["q"].values[-1], q) < 1e-8
    assert run["omega"].values[-1] == pytest.approx(omega, abs=1e-9)


def test_pitch_under_gravity_gradient_librates_at_its_rate():
    """The linear libration in the plane of a circular orbit: n sqrt(3 (Ir - Iv)/In), with the moments of a long body."""
    given = {**ORBIT, "inertia": [0.007, 0.035, 0.036], "wheels": [], "loads": {"gravity_gradient": {}}}
    given["orbit"] = {"altitude": 5e5}
    around = orbit.Orbit(5e5)
    frequency = around.rate * np.sqrt(3 * (0.035 - 0.007) / 0.036)
    quarter = np.pi / 2 / frequency
    start = {"omega": [0, 0, around.rate], "orientation": [np.cos(5e-5), 0, 0, np.sin(5e-5)], "time": quarter}
    run = polhode.simulate(case_of_mapping({**given, **start})[0].starts[0], "rk4", dt=quarter / 200, samples=1)
    w, _, _, z = run["q"].values[-1]
    assert 2 * np.arctan2(z, w) - around.rate * quarter == pytest.approx(0.0, abs=1e-9)
    assert run["omega"].values[-1][2] - around.rate == pytest.approx(-1e-4 * frequency, rel=1e-4)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"orbit": {"height": 5e5}}, "loads need orbit: {altitude"),
        ({"loads": {}}, "orbit belongs to loads"),
        ({"loads": {"gravity": {}}}, "loads: 'gravity' is not known; known are: gravity_gradient, dipole, drag"),
        ({"loads": {"dipole": {}}}, "loads: dipole: missing 1 required positional argument: 'moment'"),
        ({"loads": {"dipole": {"moment": [1, 2]}}}, "loads: dipole: moment"),
        ({"loads": {"drag": {"centre": [0, 0, 1], "density": 1e-9, "aria": 3}}}, "loads: drag: .*'aria'"),
    ],
)
def test_what_a_file_says_of_loads_is_checked(changes, words):
    with pytest.raises(AdviceError, match=words):
        case_of_mapping({**ORBIT, **changes})


@pytest.mark.parametrize(("every", "time"), [("0.25 s", "1min"), ("250ms", "60 s"), (0.25, "6e1 s")])
def test_times_of_a_file_may_have_their_units(every, time):
    given = {**CONTROLLED, "time": time, "controller": CONTROLLED["controller"] | {"every": every}}
    problem = case_of_mapping(given)[0].starts[0]
    assert (problem.controller.every, problem.horizon) == (0.25, 60.0)


def test_a_time_in_another_unit_is_refused():
    with pytest.raises(AdviceError, match=r"every must be a number \(s\), got '4 Hz'"):
        case_of_mapping({**CONTROLLED, "controller": CONTROLLED["controller"] | {"every": "4 Hz"}})


@pytest.mark.thorough
def test_an_answer_counts_the_steps_and_torques_of_all_pieces():
    given = {**CONTROLLED, "time": 60.0, "controller": {"every": 0.25, "torque": ["-1e-3*wx", "-1e-4*qy", "-1e-3*wz"]}}
    answer = polhode.recommend({**given, "error": 1e-3})
    case = case_of_mapping(given)[0].starts[0]
    run = polhode.simulate(case, answer.method, dt=answer.dt, samples=60)
    assert (answer.best.steps, answer.best.torques) == (int(run["steps"]), int(run["torque_evaluations"]))
    assert answer.best.steps >= 240 + 3 and answer.dt <= 0.25, "three edges are no samples"
    assert f"{len(pieces.edges_of(case, 60.0)) - 2} edges of the torque, {answer.best.steps}" in answer.sentence
    assert "rk4" in {row.method for row in answer.alternatives}, "a torque that is held between samples keeps its order"
    alone = polhode.recommend({**given, "error": 1e-3}, one_torque=True)
    assert {polhode.methods[row.method].torques_per_step for row in alone.alternatives} == {1}
    q, _ = another_integrator(case, 60.0)
    assert metrics.geodesic_angle(run["q"].values[-1], q) < 1e-3


def test_the_motion_of_a_body_that_nutates_fast_is_known():
    """Of 5,300 radians in an orbit, where the body itself turns 50: the first cells follow the nutation. Against fine steps."""
    given = {"inertia": [8.8, 8.91, 1.62], "wheels": [{"axis": [0, 1, 0], "momentum": 3.32}], "time": 6090}
    given |= {"omega": [0.00252, -0.00141, 0.00752], "signals": {"jet": {"firings": [[2097.5, 0.0259]]}}}
    given |= {"orbit": {"altitude": 835e3, "inclination": 2.97}, "loads": {"gravity_gradient": {}}}
    problem = case_of_mapping({**given, "torque": ["0.432 * jet", "-1.41 * jet", "-0.119 * jet"]})[0].starts[0]
    known = motion_of(problem, 1e-4, Budget(60.0))
    run = polhode.simulate(problem, "rk4", dt=0.005, samples=1)
    assert metrics.geodesic_angle(run["q"].values[-1], known.states[-1, :4]) < 1e-6
    assert known.uncertainty < 1e-6


def test_what_is_one_run_in_pieces_is_run_once(monkeypatch):
    """Of 24 intervals all numbers of steps from 25 to 48 are two steps in each; another search knows the run, too."""
    given = {**CONTROLLED, "torque": [0, 0, 0], "parameters": {"gain": 0.0}, "signals": {}, "time": 12.0}
    problem = case_of_mapping({**given, "controller": {"every": 0.5, "torque": ["-2e-3*wx", 0, 0]}})[0].starts[0]
    states, empty = np.array([[1, 0, 0, 0, *problem.omega0]] * 2, float), np.empty(0)
    motion = KnownMotion(problem, np.array([0.0, 12.0]), states, 1, 0, 0, empty, empty, 0.5, problem.parameter_array)
    made = []
    monkeypatch.setattr(KnownMotion, "error", lambda motion, method, steps, checks: made.append(steps) or 1e-9)
    search = from_runs.Search([motion], 1e-3, Budget(60.0))
    assert search.fewest(METHODS["rk4"]).steps == 24
    assert sorted(-(-steps // 24) for steps in made) == [1, 2, 4] and search.runs == 3
    again = from_runs.Search([motion], 1e-3, Budget(60.0), search.errors)
    assert again.fewest(METHODS["rk4"]).steps == 24 and again.runs == 0 and len(made) == 3


@pytest.mark.thorough
def test_between_firings_the_exact_rotor_takes_the_fewest_steps(monkeypatch):
    """The cubesat with a wheel and two pulses of a thruster: it is run first, and its step is the time between two edges."""
    run_before, fewest = [], from_runs.Search.fewest
    monkeypatch.setattr(
        from_runs.Search, "fewest", lambda self, method, *more: run_before.append(method.key) or fewest(self, method, *more)
    )
    pulses = ["1e-3 * pulse(t, 200, 0.02)", 0, "1e-3 * pulse(t, 500, 0.02)"]
    given = {"inertia": [0.007, 0.035, 0.036], "wheels": [{"axis": [0, 1, 0], "momentum": 0.005}], "torque": pulses}
    given |= {"omega": [0, -0.0011, 0], "time": 800.0}
    answer = polhode.recommend({**given, "error": "0.01 deg"})
    assert run_before[0] == answer.method == "exact_rotor" and answer.best.steps <= 16
    case = case_of_mapping(given)[0].starts[0]
    run = polhode.simulate(case, answer.method, dt=answer.dt, samples=1)
    q, _ = another_integrator(case, 800.0)
    assert metrics.geodesic_angle(run["q"].values[-1], q) < np.radians(0.01)


@pytest.mark.parametrize("i", [1, 2])
def test_a_random_satellite_meets_its_error_as_released(i):
    """One with firings and one with a controller, by Runge-Kutta 4, for 1e-4 a radian at the end of 16."""
    row = json.loads(released("satellites.json").read_text(encoding="utf-8"))["satellites"][str(i)]
    each = satellite(i)
    q, omega = another_integrator(each.problem, each.problem.horizon)
    run = polhode.simulate(each.problem, "rk4", dt=1 / (row["steps"]["rk4"][1] * each.rate), samples=1)
    assert metrics.geodesic_angle(run["q"].values[-1], q) < 16e-4
    assert np.linalg.norm(run["omega"].values[-1] - omega) < 16e-4 * np.linalg.norm(run["omega"].values, axis=1).max()


def test_measured_steps_meet_the_error_of_each_radian(monkeypatch):
    """Over six radians, under gravity and with a wheel; with the fewest steps the error is not much smaller."""
    error = 1e-4
    monkeypatch.setattr(satellites, "METHODS", ("rk4",))
    monkeypatch.setattr(satellites, "ERRORS", (error,))
    each = satellites.satellite(0, radians=6.0)
    ((steps,),) = satellites.measure(each).values()
    q, omega = another_integrator(each.problem, each.problem.horizon)
    run = polhode.simulate(each.problem, "rk4", dt=1 / (steps * each.rate), samples=64)
    off = np.linalg.norm(run["omega"].values[-1] - omega) / np.linalg.norm(run["omega"].values, axis=1).max()
    assert 0.5 < max(metrics.geodesic_angle(run["q"].values[-1], q), off) / (6.0 * error) < 1


#: A satellite with a tensor and two wheels whose motors a controller commands, the first about no principal axis.
DRIVEN = {
    "inertia": [[0.010, 0.001, 0.0], [0.001, 0.030, -0.002], [0.0, -0.002, 0.036]],
    "wheels": [{"axis": [0, 2, 1], "inertia": 2e-3, "speed": 2.0}, {"axis": [1, 0, 0], "inertia": 1e-3, "speed": -3.0}],
    "omega": [0.2, -0.1, 0.15],
    "torque": [0, 0, 0],
    "controller": {
        "every": 0.5,
        "motors": ["2e-3*wy + 1e-3*qx", "3e-3*sin(t) + 1e-3*wx"],
        "torque": ["1e-4*qy", 0, "-2e-4*wz"],
    },
    "time": 10.3,
}
INERTIA_OF_WHEELS, SPEEDS = np.array([2e-3, 1e-3]), np.array([2.0, -3.0])
AXES = np.array([[0, 2, 1], [np.sqrt(5), 0, 0]]) / np.sqrt(5)


def with_speeds_of_wheels(end):
    """q, omega and the speeds of the wheels at the end by DOP853, with a wheel's speed in the body as a variable of its own."""
    inertia, control = np.array(DRIVEN["inertia"]), DRIVEN["controller"]
    names = "q0", "qx", "qy", "qz", "wx", "wy", "wz"

    def rates(t, y, torques, outer):
        q, omega, speeds = y[:4], y[4:7], y[7:]
        whole = inertia @ omega + (INERTIA_OF_WHEELS * speeds) @ AXES
        left = inertia - (AXES.T * INERTIA_OF_WHEELS) @ AXES
        change = np.linalg.solve(left, outer - torques @ AXES - np.cross(omega, whole))
        turning = 0.5 * np.array(multiply(tuple(q), (0.0, *omega)))
        return np.concatenate([turning, change, torques / INERTIA_OF_WHEELS - AXES @ change])

    state, t = np.concatenate([[1.0, 0.0, 0.0, 0.0], DRIVEN["omega"], SPEEDS]), 0.0
    while t < end - 1e-9:
        known = {**dict(zip(names, state[:7], strict=True)), "t": t, "sin": np.sin}
        torques, outer = (np.array([eval(str(f), {}, known) for f in control[key]], float) for key in ("motors", "torque"))
        last = min(t + 0.5, end)
        state = solve_ivp(rates, (t, last), state, method="DOP853", rtol=1e-12, atol=1e-14, args=(torques, outer)).y[:, -1]
        t = last
    return state[:4], state[4:7], state[7:]


def in_axes_of_the_tensor(problem, q, *vectors):
    """What is meant in principal axes, whose orientation at the start is q0 of the problem."""
    turn = Rotation.from_quat(problem.q0, scalar_first=True)
    return (multiply(tuple(q), tuple(np.array(problem.q0) * [1, -1, -1, -1])), *(turn.apply(v) for v in vectors))


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), *((key, 2) for key in KERNELS)])
def test_driven_wheels_agree_with_equations_of_their_speeds(method, order):
    problem = case_of_mapping(DRIVEN)[0].starts[0]
    q, omega, speeds = with_speeds_of_wheels(10.3)
    h = (INERTIA_OF_WHEELS * (speeds + AXES @ omega)) @ AXES
    errors = []
    for dt in (0.025, 0.0125):
        run = polhode.simulate(problem, method, dt=dt, samples=7)
        end = (run[name].values[-1] for name in ("q", "omega", "wheel_momentum"))
        turned_q, turned_omega, turned_h = in_axes_of_the_tensor(problem, *end)
        errors.append(max(metrics.geodesic_angle(turned_q, q), np.linalg.norm(turned_omega - omega)))
        assert turned_h == pytest.approx(h, abs=max(1e-10, 0.1 * errors[-1]))
    assert errors[1] < {4: 1e-9, 2: 1e-5}[order]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, rel=0.1)


@pytest.mark.parametrize("method", list(KERNELS))
def test_motors_leave_the_angular_momentum_of_body_and_wheels(method):
    control = {**DRIVEN["controller"], "torque": [0, 0, 0]}
    problem = case_of_mapping({**DRIVEN, "controller": control})[0].starts[0]
    run = polhode.simulate(problem, method, dt=0.1, samples=50)
    h = run["wheel_momentum"].values
    momentum = metrics.lab_angular_momentum(run["q"].values, run["omega"].values, problem.body.inertia, h)
    size = np.linalg.norm(momentum[0])
    assert np.abs(np.linalg.norm(h, axis=1) / np.linalg.norm(h[0]) - 1).max() > 0.3, "they drive"
    assert np.abs(momentum - momentum[0]).max() < 1e-13 * size


def dumped(t, q, omega, parameters):
    """A torque that takes the wheels' momentum out, which stands behind one parameter of the problem."""
    gain, hx, hy, hz = parameters[0], parameters[1], parameters[2], parameters[3]
    return (-gain * hx, -gain * hy, -gain * hz)


def test_a_controller_reads_the_momentum_that_the_wheels_have():
    """Motors that take up all of the torque leave a body at rest, and h(k + 1) = (1 - gain every) h(k)."""
    body = Body((1.0, 1.3, 1.6), wheels=[((1, 2, 2), 1.5)])
    control = Controller(0.5, dumped, motors=dumped)
    problem = Problem(
        key="dumping", label="dumping", source="a test", body=body, omega0=(0.0, 0.0, 0.0), torque=nothing, horizon=5.0,
        parameters={"gain": 0.2}, torque_class="free", controller=control,
    )  # fmt: skip
    run = polhode.simulate(problem, "rk4", dt=0.25, samples=10)
    assert run["omega"].values == pytest.approx(0.0, abs=1e-15)
    expected = 0.9 ** np.arange(11)[:, None] * np.array([0.5, 1.0, 1.0])
    assert run["wheel_momentum"].values == pytest.approx(expected, rel=1e-13)
    with pytest.raises(ValueError, match="the controller drives wheels, but the body has none"):
        replace(problem, body=Body((1.0, 1.3, 1.6)))


def test_wheels_larger_than_the_body_with_them_are_refused():
    with pytest.raises(ValueError, match="inertia must include the wheels"):
        Body((1.0, 1.3, 1.6), wheels=[((1, 0, 0), 1.2, 3.0)]).with_free_wheels((0, 0, 0))


def test_the_series_and_an_answer_s_motion_have_driven_wheels():
    """Both exact motions, which share no driver with a run in pieces, against a wheel's speed as a variable of its own."""
    problem = case_of_mapping({**DRIVEN, "time": 2.7})[0].starts[0]
    q, omega, _ = with_speeds_of_wheels(2.7)
    ((series_q, series_omega),) = taylor.solve(problem, [2.7], 15)
    known = motion_of(problem, 1e-6, Budget(60.0))
    for end_q, end_omega in ((series_q, series_omega), (known.states[-1, :4], known.states[-1, 4:])):
        turned_q, turned_omega = in_axes_of_the_tensor(problem, np.array(end_q, float), np.array(end_omega, float))
        assert metrics.geodesic_angle(turned_q, q) < 1e-8
        assert turned_omega == pytest.approx(omega, abs=1e-9)


def test_a_controller_of_a_file_reads_the_momentum_of_the_wheels():
    """As above, in the axes of a tensor; a signal stands between the parameters and the momentum."""
    gain = "-gain * held"
    control = {
        "every": 0.5,
        "motors": [f"{gain} * (2*hy + hz) / sqrt(5)"],
        "torque": [f"{gain} * hx", f"{gain} * hy", f"{gain} * hz"],
    }
    still = {"wheels": [DRIVEN["wheels"][0]], "omega": [0.0, 0.0, 0.0], "controller": control, "time": 5.0}
    held = {"times": [0, 1], "values": [1, 1], "between": "held"}
    problem = case_of_mapping({**DRIVEN, **still, "parameters": {"gain": 0.2}, "signals": {"held": held}})[0].starts[0]
    run = polhode.simulate(problem, "rk4", dt=0.25, samples=10)
    assert run["omega"].values == pytest.approx(0.0, abs=1e-15)
    _, h = in_axes_of_the_tensor(problem, problem.q0, run["wheel_momentum"].values)
    assert h == pytest.approx(0.9 ** np.arange(11)[:, None] * 2e-3 * 2.0 * AXES[0], abs=1e-16)
    with pytest.raises(AdviceError, match="unknown name 'hx'"):
        case_of_mapping({**DRIVEN, "torque": ["hx", 0, 0]})
