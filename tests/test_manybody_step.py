"""The plain statement of a step is the oracle of the fast engine: same bits, in collisions of all kinds, for every law."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import thorough
from same_bits import CONTACTS, as_plain_steps

import polhode
from polhode import manybody
from polhode.manybody.law import AS_IN
from polhode.manybody.step import PlainRun

#: Scene, edge of a box so small that there are contacts, step and number of steps.
CROWDED = {"rods": (0.9, 3.83e-5, 100), "chess": (0.3, 2e-5, 80)}
#: One for each time of the torque, those that normalise before and after it, and one that hands out predictions.
METHODS = [(key, "rods") for key in ("spiral_leapfrog", "verlet", "spiral_dkd")] + [
    pytest.param(key, "chess", marks=pytest.mark.thorough) for key in ("no_squish", "spiral_predicted", "spiral_leapfrog")
]


@pytest.mark.parametrize(("method", "key"), METHODS)
def test_the_engine_takes_the_plain_step_bit_by_bit(method, key):
    box, dt, steps = CROWDED[key]
    made = replace(manybody.scenes[key], box=box)
    assert as_plain_steps(made, method, dt, made.initial_state(2), steps)[CONTACTS] > 10


def test_a_method_with_other_first_steps_is_refused():
    rods = manybody.scenes["rods"]
    with pytest.raises(ValueError, match="magnus_adams4"):
        PlainRun(rods, rods.initial_state(0), polhode.methods["magnus_adams4"], 1e-5)


#: One method for each time of the torque, and one that hands out predictions.
LAWS = {
    "linear_spring_dashpot": ("spiral_leapfrog", {"friction": 0.3, "stiffness": 3e6}),
    "hertz_mindlin_tsuji": ("verlet", {"friction": 0.1, "restitution": 0.5, **AS_IN["LAMMPS"]}),
    "hertz_mindlin_incremental": ("spiral_dkd", {"friction": 0.4, **AS_IN["YADE"]}),
    "viscoelastic": ("spiral_predicted", {"friction": np.inf, "damping_time": 1e-4, "start": "whole", "arms": "radius"}),
}


@pytest.mark.parametrize(
    "key", ["hertz_mindlin_incremental", *thorough("linear_spring_dashpot", "hertz_mindlin_tsuji", "viscoelastic")]
)
def test_the_engine_takes_the_plain_step_of_every_law(key):
    method, values = LAWS[key]
    law = manybody.forces[key].with_parameters(**values)
    rods = replace(manybody.scenes["rods"], box=0.9, gravity=(1.0, 0.0, -9.81), walls="rigid", law=law)
    assert as_plain_steps(rods, method, 3.83e-5, rods.initial_state(2), 120)[CONTACTS] > 10
    assert set(LAWS) == {key for key, law in manybody.forces.items() if law.contact} - set(manybody.forces.plugins())
