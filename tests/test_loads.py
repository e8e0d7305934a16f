"""Torques of an orbit against exact solutions: pendulums in the plane of the orbit, tumbling satellites to 50 digits."""

import mpmath
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode
from polhode.advice.cases import case_of_mapping
from polhode.algebra import metrics
from polhode.references import taylor
from polhode.references.dataset import reference_dataset

#: Digits of the references, and of the closed forms.
DIGITS, WORKING = 50, 60
#: A satellite whose loads act about one axis: in the equatorial orbit of an Earth whose field is not tilted.
PLANAR = {
    "inertia": [0.007, 0.035, 0.036],
    "torque": [0, 0, 0],
    "orbit": {"altitude": 5e5, "inclination": 0},
}
LOADS = {
    "gravity_gradient": {},
    "dipole": {"moment": [0, 0, 0.01], "tilt": 0},
    "drag": {"centre": [0, -0.01, 0], "density": 1e-9, "area": 0.03},
}
#: The axis of each pendulum; which of them swing about a direction that turns with the orbit; and the rate at the lowest place
#: over the rate that takes a pendulum to its top.
AXES, TURNS, SWING = {"gravity_gradient": 2, "dipole": 0, "drag": 2}, {"gravity_gradient", "drag"}, 0.8
#: The same satellite tumbling in an inclined orbit under all loads, some of them stronger than they are.
TUMBLING = {
    **PLANAR,
    "inertia": [0.012, 0.035, 0.041],
    "omega": [0.02, -0.015, 0.03],
    "orientation": [0.5, -0.5, 0.1, 0.7],
    "orbit": {"altitude": 5e5, "inclination": 1.7, "phase": 0.4},
    "loads": {
        "gravity_gradient": {},
        "dipole": {"moment": [0.5, 0.2, -0.3], "longitude": 0.5},
        "drag": {"centre": [0.01, 0, 0.02], "density": 1e-9, "area": 0.03},
    },
    "time": 300.0,
}
#: The problems of the registry as a file would ask for them, and the shares of their time at which they are compared.
ALONE = {
    "gravity_gradient": {"gravity_gradient": {}},
    "residual_dipole": {"dipole": {"moment": [0.004, -0.003, 0.006], "longitude": 0.5}},
    "orbital_drag": {"drag": {"centre": [0.02, 0.005, -0.008], "density": 4e-12, "area": 0.03}},
}
REGISTERED = {
    key: {
        **PLANAR,
        "omega": [0.0021, -0.0015, 0.0027],
        "orientation": [6 / 9, -2 / 9, 5 / 9, 4 / 9],
        "orbit": {"altitude": 4e5, "inclination": 0.9, "phase": 0.4},
        "loads": loads,
    }
    for key, loads in ALONE.items()
}
SHARES = (0.11, 0.37)


def planar(load, **changes):
    """The problem of one load, whose number of swings a second follows from its own numbers; and that rate, in mpmath."""
    given = {**PLANAR, "omega": [0.0, 0.0, 0.0], "loads": {load: LOADS[load]}, "time": 1.0, **changes}
    problem = case_of_mapping(given)[0].starts[0]
    numbers = [mpmath.mpf(x) for x in problem.parameters.values()]
    x, y, z = map(mpmath.mpf, problem.body.inertia)
    squares = {
        "gravity_gradient": lambda: 3 * numbers[0] ** 2 * (y - x) / z,
        "dipole": lambda: numbers[6] * numbers[7] / x,
        "drag": lambda: -numbers[5] * numbers[7] / z,
    }
    return problem, mpmath.sqrt(squares[load]()), numbers[0] if load in TURNS else mpmath.mpf(0)


def pendulum(load, problem, rate, turning, t):
    """q and omega of the pendulum from its lowest place: sin(angle/2) = k sn(rate t, k) for the angle of a load that goes with
    the sine of the angle, and the angle is twice that of the body where the load goes with the sine of the double angle."""
    axis, t = AXES[load], mpmath.mpf(t)
    double = 1 if load == "gravity_gradient" else 2
    k = (mpmath.mpf(problem.omega0[axis]) - turning) / (double * rate)
    sn, cn = (mpmath.ellipfun(name, rate * t, k=k) for name in ("sn", "cn"))
    half = (turning * t + double * mpmath.asin(k * sn)) / 2
    omega, q = [mpmath.mpf(0)] * 3, [mpmath.cos(half), *[mpmath.mpf(0)] * 3]
    omega[axis], q[1 + axis] = turning + double * rate * k * cn, mpmath.sin(half)
    return q, omega


@pytest.mark.parametrize("load", LOADS)
def test_a_load_of_the_orbit_makes_its_exact_pendulum(load):
    with mpmath.workdps(WORKING):
        _, rate, turning = planar(load)
        omega, quarter = [0.0] * 3, float(mpmath.ellipk(SWING**2) / rate)
        omega[AXES[load]] = float(turning + (1 if load == "gravity_gradient" else 2) * SWING * rate)
        problem, rate, turning = planar(load, omega=omega, time=3 * quarter)
        times = [0.7 * quarter, 1.9 * quarter, 3 * quarter]
        scale = abs(omega[AXES[load]])
        for t, (q, spin) in zip(times, taylor.solve(problem, times, DIGITS), strict=True):
            exact_q, exact_omega = pendulum(load, problem, rate, turning, t)
            assert max(abs(mpmath.mpf(str(a)) - b) for a, b in zip(q, exact_q, strict=True)) < 1e-49
            assert max(abs(mpmath.mpf(str(a)) - b) for a, b in zip(spin, exact_omega, strict=True)) < 1e-49 * scale
        run = polhode.simulate(problem, "rk4", dt=quarter / 400, samples=1)
        exact_q, exact_omega = (np.array(v, float) for v in pendulum(load, problem, rate, turning, run["time"].values[-1]))
    assert metrics.geodesic_angle(run["q"].values[-1], exact_q) < 1e-7
    assert run["omega"].values[-1] == pytest.approx(exact_omega, abs=1e-7 * scale)


@pytest.fixture(scope="module")
def tumbling():
    """A satellite under all loads, and its reference at two times, checked by a run of higher precision."""
    problem = case_of_mapping(TUMBLING)[0].starts[0]
    return problem, reference_dataset(problem, [100.0, problem.horizon], DIGITS)


def by_vectors(given, times):
    """q and omega at times by DOP853, from the formulas of a text-book with the matrices and vectors of NumPy and SciPy."""
    inertia, orbit, loads = np.array(given["inertia"]), given["orbit"], given["loads"]
    radius = 6.3712e6 + orbit["altitude"]
    rate, plane = np.sqrt(3.986004418e14 / radius**3), Rotation.from_euler("x", orbit["inclination"])

    def torque(t, to_lab):
        r, v = (plane.apply(a) for a in Rotation.from_euler("z", orbit["phase"] + rate * t).apply(np.eye(3)[:2]))
        pole = [np.sin(np.radians(9.4)), 0, np.cos(np.radians(9.4))]
        axis = Rotation.from_euler("z", loads.get("dipole", {}).get("longitude", 0) + 7.292115e-5 * t).apply(pole)
        field = -2.98e-5 * (6.3712e6 / radius) ** 3 * (3 * (axis @ r) * r - axis)
        r, v, field = (to_lab.inv().apply(a) for a in (r, v, field))
        load = np.zeros(3)
        if "gravity_gradient" in loads:
            load += 3 * rate**2 * np.cross(r, inertia * r)
        if "dipole" in loads:
            load += np.cross(loads["dipole"]["moment"], field)
        if "drag" in loads:
            air = loads["drag"]
            load += np.cross(air["centre"], -0.5 * air["density"] * 2.2 * air["area"] * (rate * radius) ** 2 * v)
        return load

    def rates(t, y):
        to_lab, omega = Rotation.from_quat(y[:4], scalar_first=True), y[4:]
        a, b = y[0], y[1:4]
        turning = 0.5 * np.concatenate([[-b @ omega], a * omega + np.cross(b, omega)])
        return np.concatenate([turning, (torque(t, to_lab) - np.cross(omega, inertia * omega)) / inertia])

    q0 = np.array(given["orientation"])
    start = np.concatenate([q0 / np.linalg.norm(q0), given["omega"]])
    states = solve_ivp(rates, (0, times[-1]), start, method="DOP853", t_eval=times, rtol=1e-12, atol=1e-15).y.T
    return states[:, :4] / np.linalg.norm(states[:, :4], axis=1)[:, None], states[:, 4:]


def test_a_satellite_under_all_loads_has_its_50_digits(tumbling):
    problem, exact = tumbling
    assert exact.attrs["agreement"] >= DIGITS
    q, omega = by_vectors(TUMBLING, [problem.horizon])
    assert metrics.geodesic_angle(exact["q"].values[-1], q[0]) < 1e-9
    assert exact["omega"].values[-1] == pytest.approx(omega[0], abs=1e-11)


@pytest.mark.parametrize("key", REGISTERED)
def test_a_registered_load_has_its_50_digits(key):
    problem = polhode.problems[key]
    times = [share * problem.horizon for share in SHARES]
    exact = reference_dataset(problem, times, DIGITS)
    assert exact.attrs["agreement"] >= DIGITS
    for i, (q, omega) in enumerate(zip(*by_vectors(REGISTERED[key], times), strict=True)):
        assert metrics.geodesic_angle(exact["q"].values[i], q) < 1e-9
        assert exact["omega"].values[i] == pytest.approx(omega, abs=1e-11)


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("cf4", 4), ("exact_rotor", 2), ("spiral_leapfrog", 2)])
def test_methods_keep_their_order_under_all_loads(method, order, tumbling):
    problem, exact = tumbling
    errors = []
    for steps in (300, 600):
        run = polhode.simulate(problem, method, dt=problem.horizon / steps, samples=1)
        errors.append(metrics.geodesic_angle(run["q"].values[-1], exact["q"].values[-1]))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, rel=0.1)
