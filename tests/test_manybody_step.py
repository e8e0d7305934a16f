"""The plain statement of a step is the oracle of the fast engine: same bits, in collisions of all kinds."""

from dataclasses import replace

import numpy as np
import pytest

import polhode
from polhode import manybody
from polhode.manybody.simulation import run
from polhode.manybody.step import read, start, step

#: Scene, edge of a box so small that there are contacts, step and number of steps.
CROWDED = {"rods": (0.9, 3.83e-5, 300), "chess": (0.3, 2e-5, 80)}
#: One for each time of the torque, those that normalise before and after it, and one that hands out predictions.
METHODS = ["spiral_leapfrog", "verlet", "spiral_dkd", "no_squish", "spiral_predicted"]


#: One method on each scene is quick, plain Python is not.
QUICK = {("chess", "spiral_leapfrog"), ("rods", "spiral_predicted")}
PAIRS = [
    pytest.param(key, method, marks=() if (key, method) in QUICK else pytest.mark.thorough)
    for key in CROWDED
    for method in METHODS
]


@pytest.mark.parametrize(("key", "method"), PAIRS)
def test_the_engine_takes_the_plain_step_bit_by_bit(key, method):
    box, dt, steps = CROWDED[key]
    scene, method = replace(manybody.scenes[key], box=box), polhode.methods[method]
    state = scene.initial_state(2)
    bodies = start(scene, state, method, dt)
    for _ in range(steps):
        step(bodies, scene, method, dt)
    engine = run(scene, method, dt, state, np.array([0, steps]), record=True)
    assert engine["work"][4] > 10, "steps in contact"
    np.testing.assert_array_equal(read(bodies, scene, method, dt), engine["motion"][-1])


def test_a_method_with_other_first_steps_is_refused():
    rods = manybody.scenes["rods"]
    with pytest.raises(ValueError, match="magnus_adams4"):
        start(rods, rods.initial_state(0), polhode.methods["magnus_adams4"], 1e-5)
