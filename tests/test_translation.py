"""Several bodies and their centres of mass: the driver, and the schemes that go with the methods."""

import os
from math import cos, sin

import numpy as np
import pytest
from conftest import thorough
from scipy.spatial.transform import Rotation
from test_manybody_engine import in_plain_python

import polhode
from polhode.methods import translation
from polhode.methods.translation import BY_TORQUE_TIME, Translation
from polhode.problems.problem import Problem
from polhode.problems.system import System
from polhode_study.run.check import exact_end

ONE_TORQUE = [key for key in polhode.methods if polhode.methods[key].runs(polhode.problems["coupled_cylinders"])]
SCHEMES = {name: scheme for name, scheme in vars(translation).items() if isinstance(scheme, Translation)}
#: Those whose velocity, handed to the loads, belongs to the time of the loads to second order.
PREDICTING = {"PCDM", "MIDPOINT_PREDICTED", "LEAPFROG_EXTRAPOLATED", "LEAPFROG_PREDICTED", "LEAPFROG_SECANT", "VERLET_SECANT"}
PREDICTING |= {"ADAMS", "MIDPOINT_SECANT", "VERLET_PREDICTED"}


def advance(scheme: Translation, acceleration, r, v, dt, steps):
    """Position and velocity after so many steps of a scheme, in plain Python; acceleration(t, r, v)."""
    mass = 2.0
    offset = next(
        (t for t, s in BY_TORQUE_TIME.items() if s is scheme),
        {"PCDM": 1.0, "VERLET_SECANT": 1.0, "VERLET_PREDICTED": 1.0, "MIDPOINT_PREDICTED": 0.5, "MIDPOINT_SECANT": 0.5}.get(
            name_of(scheme), 0.0
        ),
    )

    def force(t, r, v):
        return tuple(mass * a for a in acceleration(t, np.array(r), np.array(v)))

    state = scheme.start(tuple(r), tuple(v), force(0.0, r, v), mass, dt)
    for n in range(steps):
        state, r_seen, v_seen = scheme.before_force(state, mass, dt)
        state = scheme.after_force(state, force((n + offset) * dt, r_seen, v_seen), mass, dt)
    reading = (0.0, 0.0, 0.0)
    if offset == 0.0:
        _, r_seen, v_seen = scheme.before_force(state, mass, dt)
        reading = force(steps * dt, r_seen, v_seen)
    return scheme.read(state, reading, mass, dt)


def name_of(scheme: Translation) -> str:
    return next(name for name, known in SCHEMES.items() if known is scheme)


def slope(errors):
    return np.log2(errors[0] / errors[1])


@pytest.mark.thorough
@pytest.mark.parametrize("name", SCHEMES)
def test_every_scheme_is_second_order_without_friction(name):
    """A spring driven in time: x'' = -x + sin 2t, with x = cos t + (5/3) sin t - (1/3) sin 2t for x(0) = v(0) = 1."""
    exact = cos(1) + 5 / 3 * sin(1) - sin(2) / 3
    rate = -sin(1) + 5 / 3 * cos(1) - 2 / 3 * cos(2)
    errors = []
    for steps in (64, 128):
        r, v = advance(SCHEMES[name], lambda t, r, v: -r + np.sin(2 * t), (1.0,) * 3, (1.0,) * 3, 1 / steps, steps)
        errors.append((abs(r[1] - exact), abs(v[1] - rate)))
    for first, second in zip(*errors, strict=True):
        assert slope((first, second)) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("name", [*list(SCHEMES)[:4], *thorough(*list(SCHEMES)[4:])])
def test_friction_costs_an_order_without_prediction(name):
    expected = 2 if name in PREDICTING else 1
    errors = []
    for steps in (256, 512):
        _, v = advance(SCHEMES[name], lambda t, r, v: -v, (0.0,) * 3, (1.0, 2.0, -1.0), 1 / steps, steps)
        errors.append(abs(v[1] - 2 * np.exp(-1)))
    assert slope(errors) == pytest.approx(expected, abs=0.1)


def test_methods_have_the_scheme_of_their_torque_or_source():
    scheme_of_source = {"pcdm2016": "PCDM", "pcdm2013_mid": "MIDPOINT_PREDICTED", "implicit_midpoint": "MIDPOINT_PREDICTED"}
    scheme_of_source |= {
        "spiral_predicted": "LEAPFROG_SECANT",
        "spiral_predicted_last": "LEAPFROG_PREDICTED",
        "spiral_kdk": "VERLET_SECANT",
    }
    scheme_of_source |= {"spiral_dkd": "MIDPOINT_SECANT", "exact_rotor_dkd_corrected": "MIDPOINT_SECANT"}
    scheme_of_source |= {"magnus_adams4": "ADAMS", "adams_bashforth3": "ADAMS", "adams_bashforth4": "ADAMS"}
    scheme_of_source |= dict.fromkeys(("exact_rotor", "exact_rotor_corrected"), "VERLET_PREDICTED")
    scheme_of_source |= {"calzavarini2010": "LEAPFROG_EXTRAPOLATED", "calzavarini2010_mean": "LEAPFROG_MEAN"}
    scheme_of_source |= dict.fromkeys(("adams_bashforth2_barker", "adams_bashforth2_buss"), "LEAPFROG_EXTRAPOLATED")
    for key in ONE_TORQUE:
        method = polhode.methods[key]
        expected = SCHEMES[scheme_of_source[key]] if key in scheme_of_source else BY_TORQUE_TIME[method.torque_time]
        assert method.translation is expected, key


#: Methods whose compiled drivers of several bodies are tried; other tests need them too. A driver takes two to three seconds to
#: compile, so the other methods run in plain Python. All are compiled with POLHODE_TEST_ALL in the environment.
COMPILED = ["spiral_leapfrog", "verlet", "no_squish", "pcdm2016", "fincham1992"]
SAMPLE = ONE_TORQUE if os.environ.get("POLHODE_TEST_ALL") else [*COMPILED, "adams_bashforth4", "spiral_kdk"]


def check_the_order(key, steps, exact):
    """Loads that depend on everything: the order of all four quantities is that declared for systems of bodies."""
    problem, method = polhode.problems["sinking_propeller"], polhode.methods[key]
    errors = []
    for number in (steps, 2 * steps):
        run = polhode.simulate(problem, key, problem.horizon / number, samples=1)
        errors.append([np.abs(run[name].values[-1] - exact[name]).max() for name in ("r", "v", "q", "omega")])
    declared = method.orders(problem.torque_class)[0]
    for name, first, second in zip(("r", "v", "q", "omega"), *errors, strict=True):
        assert slope((first, second)) == pytest.approx(declared, abs=0.12), f"{key}: {name}"


@pytest.mark.thorough
@pytest.mark.parametrize("key", SAMPLE)
def test_the_order_holds_for_a_body_that_also_moves(key):
    check_the_order(key, 256 if polhode.methods[key].warm_up_steps else 2048, exact_end(polhode.problems["sinking_propeller"]))


@pytest.mark.thorough
def test_the_order_holds_in_plain_python():
    others = [key for key in ONE_TORQUE if key not in SAMPLE]
    exact = {name: np.asarray(value).tolist() for name, value in exact_end(polhode.problems["sinking_propeller"]).items()}
    in_plain_python(f"import test_translation\nfor key in {others}:\n    test_translation.check_the_order(key, 256, {exact})")


def alone(problem: Problem) -> System:
    """A problem of one body as a system of two equal ones that ignore each other."""
    torque = problem.compiled_torque

    def loads(t, r, v, q, omega, parameters, force, moment):
        for i in range(2):
            x = torque(t, (q[i][0], q[i][1], q[i][2], q[i][3]), (omega[i][0], omega[i][1], omega[i][2]), parameters)
            for k in range(3):
                force[i][k] = 0.0
                moment[i][k] = x[k]

    return System(
        key="alone",
        label="alone",
        source="tests",
        bodies=(problem.body,) * 2,
        omega0=(problem.omega0,) * 2,
        q0=(problem.q0,) * 2,
        v0=((0.0, 0.0, 0.0), (1.0, 0.0, -2.0)),
        loads=loads,
        parameters=problem.parameters,
        torque_class=problem.torque_class,
        horizon=problem.horizon,
    )


@pytest.mark.thorough
@pytest.mark.parametrize("normalise", [None, True, False])
@pytest.mark.parametrize("key", [*COMPILED, "adams_bashforth4"])
def test_a_body_alone_moves_as_in_the_driver_of_one_body(key, normalise):
    problem = polhode.problems["asymmetric_heavy_top"]
    system = polhode.simulate(problem, key, 1e-2, samples=7, normalise=normalise)
    two = polhode.simulate(alone(problem), key, 1e-2, samples=7, normalise=normalise)
    for name in ("q", "omega", "stored_omega"):
        for body in range(2):
            assert system[name].values.tobytes() == np.ascontiguousarray(two[name].values[:, body]).tobytes(), name
    np.testing.assert_allclose(two.r.values[-1, 1], [2.0, 0.0, -4.0], rtol=1e-14)
    assert int(system.torque_evaluations) == int(two.torque_evaluations)


@pytest.mark.thorough
def test_the_maps_of_a_processor_are_those_of_one_body(cases):
    """But for rounding, under a torque of the time, which the maps shift."""
    problem, key = cases["lab"].problem, "exact_rotor_corrected"
    system = polhode.simulate(problem, key, 0.05, samples=4)
    two = polhode.simulate(alone(problem), key, 0.05, samples=4)
    for name in ("q", "omega", "stored_omega"):
        np.testing.assert_allclose(two[name].values[:, 1], system[name].values, rtol=0, atol=1e-13)
    np.testing.assert_allclose(two.r.values[:, 1], two.time.values[:, None] * [1.0, 0.0, -2.0], rtol=0, atol=1e-14)
    assert int(system.torque_evaluations) == int(two.torque_evaluations)


def test_sampling_does_not_change_a_trajectory():
    fine = polhode.simulate("sinking_propeller", "pcdm2016", 1e-2, samples=200)
    coarse = polhode.simulate("sinking_propeller", "pcdm2016", 1e-2, samples=1)
    for name in ("q", "omega", "r", "v"):
        assert fine[name].values[-1].tobytes() == coarse[name].values[-1].tobytes()


def test_a_method_of_several_torques_is_refused():
    with pytest.raises(ValueError, match=r"'rk4' needs several torques in a step and cannot run .* 'coupled_cylinders'"):
        polhode.simulate("coupled_cylinders", "rk4", 1e-2)


def test_a_blow_up_of_several_bodies_is_recorded():
    run = polhode.simulate("coupled_cylinders", "euler", 2.5, 5000.0, samples=10)
    assert run.attrs["diverged"] > 0
    assert np.isnan(run.q.values[-1]).all() and np.isnan(run.omega.values[-1]).all() and np.isfinite(run.q.values[0]).all()


def test_improved_pcdm_is_the_scheme_as_printed():
    """Seelen et al. (2016), Sec. 2.2, steps 1 to 5 with scipy's rotations, on a body whose loads depend on everything."""
    system = polhode.problems["sinking_propeller"]
    body, dt, steps = system.bodies[0], 1e-2, 50
    inertia = np.array(body.inertia)

    def loads(t, r, v, turned, omega):
        q = turned.as_quat()[[3, 0, 1, 2]]
        force, torque = np.zeros((1, 3)), np.zeros((1, 3))
        system.loads(t, r[None], v[None], q[None], omega[None], system.parameter_array, force, torque)
        return force[0], (torque[0] - np.cross(omega, inertia * omega)) / inertia

    def turn(rotation, omega_lab, time):
        return Rotation.from_rotvec(omega_lab * time) * rotation

    q0 = np.array(system.q0[0])
    rotation = Rotation.from_quat(q0[[1, 2, 3, 0]])
    r, v, omega = (np.array(x[0]) for x in (system.r0, system.v0, system.omega0))
    force, acceleration = loads(0.0, r, v, rotation, omega)
    # Half a step ahead.
    rotation = turn(rotation, rotation.apply(omega + 0.25 * dt * acceleration), 0.5 * dt)
    v, omega = v + 0.5 * dt * force / body.mass, omega + 0.5 * dt * acceleration
    for n in range(steps):
        r = r + dt * v  # 1
        v_whole = v + 0.5 * dt * force / body.mass  # 2a
        three_quarters = rotation.apply(omega + 0.25 * dt * acceleration)  # 2b
        whole = turn(rotation, three_quarters, 0.5 * dt)
        omega_whole = omega + 0.5 * dt * acceleration  # 2c
        force, acceleration = loads((n + 1) * dt, r, v_whole, whole, omega_whole)  # 3
        omega = omega + dt * acceleration  # 4
        rotation = turn(rotation, whole.apply(omega_whole), dt)
        v = v + dt * force / body.mass
    run = polhode.simulate(system, "pcdm2016", dt, steps * dt, samples=1)
    np.testing.assert_allclose(run.r.values[-1, 0], r, rtol=1e-12)
    np.testing.assert_allclose(run.v.values[-1, 0], v_whole, rtol=1e-12)
    np.testing.assert_allclose(run.omega.values[-1, 0], omega_whole, rtol=1e-12)
    np.testing.assert_allclose(run.stored_omega.values[-1, 0], omega, rtol=1e-12)
    q = run.q.values[-1, 0]
    assert abs(abs(q[[1, 2, 3, 0]] @ whole.as_quat()) - 1) < 1e-13
