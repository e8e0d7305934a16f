"""Brax: its three pipelines on one body with a free joint; the angular velocity of a link is in the lab."""

import numpy as np
from polhode_rotations import turned_back

#: The geometry has no mass and touches nothing; without one Brax does not load the model.
MODEL = """<mujoco><option gravity="0 0 0" timestep="{dt!r}"/><worldbody><body><freejoint/>
<inertial pos="0 0 0" mass="1" diaginertia="{0!r} {1!r} {2!r}"/>
<geom size="0.1" mass="0" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""


class Adapter:
    """Brax."""

    key = "brax"
    label = "Brax"
    requirements = ("brax==0.14.2", "jax==0.10.2", "mujoco==4.0.0")
    module = "brax"
    repository = "google/brax"
    options = {
        "generalized": "brax.generalized.pipeline",
        "spring": "brax.spring.pipeline",
        "positional": "brax.positional.pipeline",
    }
    default = "generalized"
    precision = "float64"
    switched_off = "gravity, contacts, single precision (the default of jax: jax_enable_x64 is set)"
    torques = {}
    advice = {
        "generalized": "First order, and a free spin gains energy until it diverges: use MuJoCo with RK4 for free flight.",
        "spring": "Leaves the gyroscopic term out: use the generalized pipeline unless all moments are equal.",
        "positional": "Has no gyroscopic torque, and the angular velocity decays at every step without any damping: use the "
        "generalized pipeline.",
    }

    def __init__(self):
        self._compiled = {}

    def version(self):
        """The version of the package."""
        from importlib.metadata import version

        return version("brax")

    def run(self, option, case, dt, samples):
        """Steps between two samples are one call, compiled once."""
        import importlib

        import jax

        jax.config.update("jax_enable_x64", True)
        from brax.io import mjcf

        pipeline = importlib.import_module(f"brax.{option}.pipeline")
        system = mjcf.loads(MODEL.format(*map(float, case.inertia), dt=float(dt)))
        act = np.zeros(0)
        if not self._compiled:
            first = mjcf.loads(MODEL.format(*map(float, case.inertia), dt=float(dt)))
            self._compiled["init"] = jax.jit(lambda q, qd: pipeline.init(first, q, qd))

            def advance(step, state, count):
                used = first.tree_replace({"opt.timestep": step})
                return jax.lax.fori_loop(0, count, lambda _, now: pipeline.step(used, now, act), state)

            self._compiled["advance"] = jax.jit(advance)
        state = self._compiled["init"](np.array([0, 0, 0, *case.q0]), np.array([0, 0, 0, *case.omega0]))
        q, omega, n = np.empty((len(samples), 4)), np.empty((len(samples), 3)), 0
        for i, wanted in enumerate(samples):
            if wanted > n:
                state = self._compiled["advance"](float(system.opt.timestep), state, int(wanted) - n)
                n = int(wanted)
            q[i] = np.asarray(state.x.rot)[0]
            omega[i] = turned_back(q[i], np.asarray(state.xd.ang)[0])
        return q, omega
