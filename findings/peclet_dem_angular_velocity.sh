#!/usr/bin/env bash
# Peclet-DEM: the frame of the angular velocity, and spheres that do not turn.
# Guess: angular velocities are components in the body, as the docstrings of set_angular_velocities and get_angular_velocities say,
# and both engines, step and step_hertz, turn a spinning grain.
# What happens: they are components in the lab. A box turned by a quarter about z and set to spin about x, its own y then, turns about
# the x axis of the lab. And step_hertz leaves the orientation of a sphere as it is, and turns a box.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q peclet-dem==1.1.0 numpy
OMP_NUM_THREADS=1 OMP_PROC_BIND=false "$folder/env/bin/python" - <<'PYTHON'
from importlib.metadata import version

import numpy as np
import peclet.dem


def spun(shape, engine, start, spin, steps=100):
    """The unit quaternion (x, y, z, w) after so many steps of 0.01 s."""
    simulation = peclet.dem.Simulation(1)
    simulation.set_domain((-5, -5, -5), (5, 5, 5))
    simulation.set_periodic(False, False, False)
    simulation.initialize_shape(shape, 0.5)
    simulation.set_gravity((0, 0, 0))
    simulation.set_dt(0.01)
    simulation.set_positions(np.zeros((1, 3), np.float32))
    simulation.set_inv_inertia(np.ones((1, 3), np.float32))
    simulation.set_quaternions(np.array([start], np.float32))
    simulation.set_angular_velocities(np.array([spin], np.float32))
    getattr(simulation, engine)(steps)
    return simulation.get_quaternions()[0]


half = np.sqrt(0.5)
quarter, axis = (0, 0, half, half), (1, 0, 0)
seen = spun("box", "step", quarter, axis)
c, s = np.cos(0.5), np.sin(0.5)
# The turn about x by one radian after the quarter (lab), and before it (body).
in_lab, in_body = np.array([s * half, -s * half, c * half, c * half]), np.array([s * half, s * half, c * half, c * half])
print("peclet-dem", version("peclet-dem"))
print("docstring:", peclet.dem.Simulation.get_angular_velocities.__doc__.split("\n\n")[-1])
print("box after 1 s: from the turn in the lab", abs(seen - in_lab).max(), "from that in the body", abs(seen - in_body).max())
still = spun("sphere", "step_hertz", (0, 0, 0, 1), axis)
print("after 1 s at 1 rad/s: sphere in step", spun("sphere", "step", (0, 0, 0, 1), axis), "in step_hertz", still)
print("box in step_hertz", spun("box", "step_hertz", (0, 0, 0, 1), axis))
assert "body frame" in peclet.dem.Simulation.get_angular_velocities.__doc__
assert abs(seen - in_lab).max() < 1e-3 < abs(seen - in_body).max(), "angular velocities are in the body now"
assert np.array_equal(still, [0, 0, 0, 1]), "step_hertz turns spheres now"
PYTHON
