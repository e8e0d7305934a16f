#!/usr/bin/env bash
# JAX MD: the step in time of a simulation in double precision.
# Guess: with jax_enable_x64 a simulation computes in double precision, its step among it.
# What happens: the step is rounded to single precision: a free particle at 1 m/s is 2.98e-9 m beyond 0.2 m after a step of 0.2 s, and a
# million steps of 0.1 s are 1.5 ms more than 100,000 s. Comparisons with another code in double precision stop at 1.5e-8.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q jax-md==0.2.29 jax==0.10.2
"$folder/env/bin/python" - <<'PYTHON'
from importlib.metadata import version

import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
import numpy as np
from jax_md import simulate, space


def moved(dt):
    """How far a free particle at 1 m/s moves in a step."""
    start, step = simulate.nve(lambda r, **_: 0.0 * r.sum(), space.free()[1], dt)
    state = start(jax.random.PRNGKey(0), jnp.zeros((1, 3)), 0.0)
    return float(step(state.set(momentum=jnp.array([[1.0, 0.0, 0.0]]))).position[0, 0])


print("jax-md", version("jax-md"), "jax", version("jax"))
for dt in (0.2, 0.25):
    print(f"dt = {dt}: moved {moved(dt):.17g}, in single precision {float(np.float32(dt)):.17g}")
assert moved(0.25) == 0.25
assert moved(0.2) == float(np.float32(0.2)) != 0.2, "the step is of double precision now"
PYTHON
