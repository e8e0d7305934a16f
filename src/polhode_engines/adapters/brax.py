"""Brax: its three pipelines on one body with a free joint; the angular velocity of a link is in the lab."""

import numpy as np
from polhode_rotations import turned_back
from polhode_sampling import in_one_call, sampled

#: The geometry has no mass and touches nothing; without one Brax does not load the model.
MODEL = """<mujoco><option gravity="0 0 0" timestep="{dt!r}"/><worldbody><body><freejoint/>
<inertial pos="0 0 0" mass="1" diaginertia="{0!r} {1!r} {2!r}"/>
<geom size="0.1" mass="0" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""


class Adapter:
    """Brax.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def __init__(self):
        self._compiled = {}

    def version(self):
        """The version of the package, as text."""
        from importlib.metadata import version

        return version("brax")

    def _with_actuators(self, system):
        """The system with an actuator on each rotational degree of freedom of its free joint."""
        from brax.base import Actuator

        which, ranges, ones, nothing = np.arange(3, 6), np.tile([-np.inf, np.inf], (3, 1)), np.ones(3), np.zeros(3)
        return system.replace(actuator=Actuator(which, which, ranges, ranges, ones, ones, nothing, nothing), nu=3)

    def run(self, option, case, dt, samples):
        """One body on a free joint; steps between two samples are one call, compiled once for each inertia.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        import importlib

        import jax

        jax.config.update("jax_enable_x64", True)
        from brax import math
        from brax.io import mjcf

        pipeline = importlib.import_module(f"brax.{option}.pipeline")
        inertia = tuple(map(float, case.inertia))
        if inertia not in self._compiled:
            first = self._with_actuators(mjcf.loads(MODEL.format(*inertia, dt=float(dt))))

            def step(now, dt, torque, friction, in_lab):
                used = first.tree_replace({"opt.timestep": dt, "actuator.bias_qd": -friction * np.ones(3)})
                turned = math.rotate(torque, math.quat_inv(now.q[3:7]))
                return pipeline.step(used, now, jax.numpy.where(in_lab, turned, torque))

            self._compiled[inertia] = jax.jit(lambda q, qd: pipeline.init(first, q, qd)), in_one_call(jax, step)
        init, advance = self._compiled[inertia]
        constant = case.load in ("constant", "lab")
        torque = np.array(case.value if constant else (0.0, 0.0, 0.0), float)
        friction = float(case.value[0]) if case.load == "velocity" else 0.0
        loads = float(dt), torque, friction, case.load == "lab"

        def read(state):
            q = np.asarray(state.x.rot)[0]
            return q, turned_back(q, np.asarray(state.xd.ang)[0])

        state = init(np.array([0, 0, 0, *case.q0]), np.array([0, 0, 0, *case.omega0]))
        return sampled(samples, state, lambda now, count: advance(count, now, *loads), read)
