"""The front door: step counting, errors with advice, time without summing, the shape of what comes back."""

import re

import numpy as np
import pytest
from conftest import make

import polhode
from polhode.simulate import count_steps, sampled_steps

LADDER = 10 ** np.linspace(-7, -1, 20)


# --- counting steps --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dt", LADDER)
def test_truncated_counts_are_those_of_the_publication(dt):
    assert count_steps(float(dt), 1.0, truncate=True) == int(1 / dt)


@pytest.mark.parametrize(
    ("dt", "t_end", "steps"),
    [(0.1, 0.3, 3), (0.1, 1.0, 10), (1e-5, 20.0, 2_000_000), (1e-7, 1.0, 10_000_000), (0.1, 0.7, 7), (2.0, 2.0, 1)],
)
def test_decimal_steps_divide(dt, t_end, steps):
    assert count_steps(dt, t_end) == steps
    assert count_steps(dt, t_end, truncate=True) == steps


@pytest.mark.parametrize("n", [1, 2, 3, 7, 49, 1000, 99_999, 3_000_001])
@pytest.mark.parametrize("t_end", [1.0, 20.0, 0.1, 1e4 / 3])
def test_every_whole_fraction_divides(n, t_end):
    assert count_steps(t_end / n, t_end) == n


@pytest.mark.parametrize(("dt", "t_end"), [(0.3, 1.0), (0.7, 1.0), (3e-4, 1.0), (1.3e-5, 20.0), (0.99999, 1.0)])
def test_steps_that_do_not_divide_are_refused_with_those_that_do(dt, t_end):
    with pytest.raises(ValueError, match=re.escape(f"dt = {dt!r} does not divide t_end = {t_end!r}")) as caught:
        count_steps(dt, t_end)
    message = str(caught.value)
    longer, shorter = (float(x) for x in re.search(r"use dt = (\S+) or (\S+), or truncate=True", message).groups())
    whole = int(t_end / dt)
    assert count_steps(longer, t_end) == whole
    assert count_steps(shorter, t_end) == whole + 1
    assert shorter < dt < longer
    assert float(message.rsplit(" ", 1)[1]) == pytest.approx(whole * dt, rel=1e-5)
    assert count_steps(dt, t_end, truncate=True) == whole


# --- sampling --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("steps", "samples"), [(10, 200), (200, 10), (7, 3), (1, 1), (10_000_000, 200), (201, 200)])
def test_sampled_steps(steps, samples):
    at = sampled_steps(steps, samples)
    assert at.dtype == np.int64
    assert at[0] == 0 and at[-1] == steps
    assert at.size == min(steps, samples) + 1
    assert np.ptp(np.diff(at)) <= 1


def test_a_key_like_no_other_names_some():
    with pytest.raises(KeyError, match=r"unknown method 'xxxxxxxx'; known are: adams_bashforth2_barker, .* and [0-9]+ more"):
        polhode.simulate("spiral_cylinder", "xxxxxxxx", 0.1)


@pytest.mark.thorough
def test_objects_serve_as_well_as_keys():
    by_key = polhode.simulate("spiral_cylinder", "spiral_leapfrog", 0.01)
    by_object = polhode.simulate(polhode.problems["spiral_cylinder"], polhode.methods["spiral_leapfrog"], 0.01)
    assert by_key.identical(by_object)


def test_parameters_can_be_changed_by_name():
    problem = polhode.problems["spiral_cylinder"].with_parameters(Mx=-0.25)
    run = polhode.simulate(problem, "euler", 0.1)
    assert run.omega.values[-1, 0] == pytest.approx(0.3 - 0.25 / problem.body.inertia[0], rel=1e-12)
    with pytest.raises(ValueError, match=r"problem 'spiral_cylinder' has no parameter \['My'\]; it has \['Mx'\]"):
        polhode.problems["spiral_cylinder"].with_parameters(My=1.0)


# --- what comes back -------------------------------------------------------------------------------------------------


def test_layout():
    run = polhode.simulate("spiral_cylinder", "spiral_leapfrog", 0.01, samples=50)
    assert dict(run.sizes) == {"time": 51, "quaternion": 4, "axis": 3}
    assert run.quaternion.values.tolist() == ["0", "x", "y", "z"] and run.axis.values.tolist() == ["x", "y", "z"]
    assert {name: run[name].dims for name in run.data_vars} == {
        "q": ("time", "quaternion"),
        "omega": ("time", "axis"),
        "energy": ("time",),
        "stored_omega": ("time", "axis"),
        "steps": (),
        "torque_evaluations": (),
        "stored_offset": (),
    }
    for name in [*run.data_vars, "time"]:
        assert {"long_name", "units", "symbol"} <= set(run[name].attrs), name
    assert run.time.attrs["units"] == "s" and run.omega.attrs["units"] == "rad s-1" and run.energy.attrs["units"] == "J"
    assert run.attrs == {"problem": "spiral_cylinder", "method": "spiral_leapfrog", "dt": 0.01, "dt_units": "s"}
    assert int(run.steps) == 100 and float(run.stored_offset) == -0.5
    inertia = polhode.problems["spiral_cylinder"].body.inertia
    np.testing.assert_allclose(run.energy, 0.5 * (run.omega.values**2 * inertia).sum(1), rtol=1e-15)


def test_the_energy_includes_a_declared_potential():
    """Of the heavy top: weight times height of the centre of mass; the exact motion keeps the sum with the kinetic energy."""
    problem = polhode.problems["heavy_top"]
    run = polhode.simulate(problem, "cf4", problem.horizon / 4096, samples=50)
    assert "potential" in run.energy.attrs["long_name"]
    kinetic = 0.5 * (run.omega.values**2 * problem.body.inertia).sum(1)
    w, x, y, z = run.q.values.T
    height = w**2 - x**2 - y**2 + z**2
    weight = np.ptp(run.potential.values) / np.ptp(height)
    np.testing.assert_allclose(run.kinetic, kinetic, rtol=1e-15)
    np.testing.assert_allclose(run.potential, weight * height, rtol=0, atol=1e-12 * weight)
    np.testing.assert_allclose(run.energy, run.kinetic + run.potential, rtol=1e-15)
    assert np.ptp(run.energy.values) < 1e-8 * np.ptp(kinetic)
    assert "kinetic" not in polhode.simulate("lab_torque", "cf4", 0.01)


def test_the_defaults():
    assert polhode.simulate("spiral_cylinder", "euler", 1e-3).sizes["time"] == 201
    with pytest.raises(ValueError, match=r"dt = 0\.3 does not divide"):
        polhode.simulate("spiral_cylinder", "euler", 0.3)
    with pytest.raises(TypeError):
        polhode.simulate("spiral_cylinder", "euler", 0.3, 1.0, 200, True)


def test_a_problem_is_a_value():
    with pytest.raises(AttributeError):
        polhode.problems["spiral_cylinder"].horizon = 2.0


def test_the_horizon_is_the_default_end():
    assert polhode.simulate("spiral_cylinder", "euler", 0.1).time.values[-1] == 1.0
    assert polhode.simulate("spiral_cylinder", "euler", 0.1, 2.0).time.values[-1] == 2.0


def test_truncated_runs_end_at_their_last_whole_step():
    run = polhode.simulate("spiral_cylinder", "euler", 0.3, truncate=True)
    assert int(run.steps) == 3
    assert run.time.values[-1] == 3 * 0.3


def test_time_is_the_step_number_times_the_step():
    """A sum of 2,000,000 steps of 1e-5 s would be off by 2e-10 s and more."""
    run = polhode.simulate("spiral_cylinder", "spiral_leapfrog", 1e-5, 20.0)
    assert int(run.steps) == 2_000_000
    assert run.time.values.tolist() == [n * 1e-5 for n in range(0, 2_000_001, 10_000)]
    assert run.time.values[-1] == 20.0


def test_results_do_not_depend_on_what_ran_before():
    first = polhode.simulate("spiral_cylinder", "rk4", 0.01)
    polhode.simulate(polhode.problems["spiral_cylinder"].with_parameters(Mx=0.1), "rk4", 0.02)
    assert polhode.simulate("spiral_cylinder", "rk4", 0.01).identical(first)


def test_the_torque_is_handed_the_time_of_the_step():
    """Given by n * dt and not by summing: the torque below is non-zero at t = 0.3 alone."""

    def kick_at(t, q, omega, parameters):
        return (1.0 if t == 3 * 0.1 else 0.0, 0.0, 0.0)

    problem = make("kick", kick_at, "time", omega0=(0.0, 0.0, 0.0))
    run = polhode.simulate(problem, "euler", 0.1, samples=10)
    assert run.omega.values[:, 0].tolist() == [0.0] * 4 + [0.1] * 7
