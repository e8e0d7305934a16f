"""Changes of variables around the steps: the maps undo each other, and leave what the theory says, in every driver."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import plain

import polhode
from polhode import manybody
from polhode.methods.correctors import corrected
from polhode.methods.processor import Processor, change_of

PROCESSED = [key for key, method in polhode.methods.items() if method.processor]
ROTOR, CORRECTED = polhode.methods["exact_rotor"], polhode.methods["exact_rotor_corrected"]
TOP = polhode.problems["asymmetric_heavy_top"]


def weaker(strength):
    """The heavy top with a weight that is so many times smaller."""
    return replace(TOP, parameters={**TOP.parameters, "weight": strength * TOP.parameters["weight"]})


def error(problem, method, steps, exact):
    return np.abs(polhode.simulate(problem, method, problem.horizon / steps, samples=1).omega.values[-1] - exact).max()


def exact(problem):
    return polhode.simulate(problem, "cf4", problem.horizon / 8000, samples=1).omega.values[-1]


@pytest.mark.parametrize("key", PROCESSED)
def test_the_maps_undo_each_other(key):
    method = polhode.methods[key]
    change, moves, half = plain(change_of(method.processor)), method.moves.astype(object), len(method.moves) // 2
    arguments = 0.3, 0.2, TOP.body.coefficients(), plain(TOP.torque), TOP.parameter_array, moves
    changed = change(TOP.q0, TOP.omega0, *arguments, 0, half)
    back = change(*changed, *arguments, half, 2 * half)
    assert np.abs(np.subtract(changed[1], TOP.omega0)).max() > 1e-3
    np.testing.assert_allclose(np.concatenate(back), (*TOP.q0, *TOP.omega0), rtol=0, atol=1e-14)


def test_the_error_falls_with_the_square_of_the_torque():
    """That of the plain rotor falls with the torque itself."""
    errors = []
    for strength in (0.1, 0.01):
        problem = weaker(strength)
        end = exact(problem)
        errors.append([error(problem, method, 200, end) for method in (ROTOR, CORRECTED)])
    (plain_strong, strong), (plain_weak, weak) = errors
    assert plain_strong / plain_weak == pytest.approx(10, rel=0.1) and strong / weak == pytest.approx(100, rel=0.1)
    assert plain_weak > 500 * weak


@pytest.mark.parametrize("order", [3, 5, 7])
def test_what_is_left_of_the_linear_error(order):
    """It is of the order of the corrector and one more, as long as the square of the torque is nothing."""
    problem = weaker(1e-6)
    end = exact(problem)
    coarse, fine = (error(problem, corrected(ROTOR, order), steps, end) for steps in (8, 12))
    assert np.log(coarse / fine) / np.log(1.5) == pytest.approx(order + 1, abs=0.7)


def test_a_sign_doubles_the_error():
    shares_of_wrong_sign = tuple((drift, -kick) for drift, kick in CORRECTED.processor.shares)
    wrong = replace(CORRECTED, processor=Processor(CORRECTED.processor.drift, shares_of_wrong_sign))
    problem = weaker(0.01)
    end = exact(problem)
    assert error(problem, wrong, 100, end) == pytest.approx(2 * error(problem, ROTOR, 100, end), rel=0.05)


def test_many_bodies_are_read_with_less_noise_of_the_energy():
    scene = manybody.scenes["trimers"]
    state = scene.initial_state(0)
    noise = []
    for method in (ROTOR, CORRECTED):
        run = manybody.simulate(scene, method, 0.008, t_end=0.8, samples=100, state=state, record=True)
        for name in ("r", "v", "omega"):
            np.testing.assert_allclose(run[name][0], getattr(state, name), rtol=0, atol=1e-13)
        noise.append(float((run["energy"] - run["energy"][0]).std()))
    assert noise[0] > 2 * noise[1]


def test_a_run_goes_on_in_the_variables_of_its_steps():
    scene = manybody.scenes["trimers"]
    whole = manybody.simulate(scene, CORRECTED, 0.008, t_end=0.16, samples=2, record=True)
    first = manybody.simulate(scene, CORRECTED, 0.008, t_end=0.08, samples=1, record=True, checkpoint=True)
    second = manybody.simulate(scene, CORRECTED, 0.008, t_end=0.16, samples=1, record=True, state=first)
    np.testing.assert_array_equal(second["q"][-1], whole["q"][-1])


def test_a_processor_ends_with_a_free_motion():
    with pytest.raises(ValueError, match="last of the shares"):
        Processor(CORRECTED.processor.drift, ((0.5, 0.1),))
