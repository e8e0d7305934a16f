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
    torques = {
        "constant": "generalized: actuators on the three rotational degrees of freedom of the free joint, body frame",
        "lab": "generalized: the same actuators, set before every step from the orientation of the body",
        "velocity": "generalized: the bias of the same actuators, at every evaluation",
    }
    excluded = {
        option: dict.fromkeys(("constant", "lab", "velocity"), "a free joint of this pipeline ignores its actuators")
        for option in ("spring", "positional")
    }
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

    def _with_actuators(self, system):
        """The system with an actuator on each rotational degree of freedom of its free joint."""
        from brax.base import Actuator

        ranges, ones, nothing = np.tile([-np.inf, np.inf], (3, 1)), np.ones(3), np.zeros(3)
        which = np.arange(3, 6)
        added = Actuator(
            q_id=which, qd_id=which, ctrl_range=ranges, force_range=ranges, gain=ones, gear=ones, bias_q=nothing, bias_qd=nothing
        )
        return system.replace(actuator=added, nu=3)

    def run(self, option, case, dt, samples):
        """Steps between two samples are one call, compiled once."""
        import importlib

        import jax

        jax.config.update("jax_enable_x64", True)
        from brax import math
        from brax.io import mjcf

        pipeline = importlib.import_module(f"brax.{option}.pipeline")
        if not self._compiled:
            first = self._with_actuators(mjcf.loads(MODEL.format(*map(float, case.inertia), dt=float(dt))))
            self._compiled["init"] = jax.jit(lambda q, qd: pipeline.init(first, q, qd))

            def advance(step, state, count, torque, friction, in_lab):
                used = first.tree_replace({"opt.timestep": step, "actuator.bias_qd": -friction * np.ones(3)})

                def one(_, now):
                    turned = math.rotate(torque, math.quat_inv(now.q[3:7]))
                    return pipeline.step(used, now, jax.numpy.where(in_lab, turned, torque))

                return jax.lax.fori_loop(0, count, one, state)

            self._compiled["advance"] = jax.jit(advance)
        constant = case.load in ("constant", "lab")
        torque = np.array(case.value if constant else (0.0, 0.0, 0.0), float)
        friction = float(case.value[0]) if case.load == "velocity" else 0.0
        load = torque, friction, case.load == "lab"
        state = self._compiled["init"](np.array([0, 0, 0, *case.q0]), np.array([0, 0, 0, *case.omega0]))
        q, omega, n = np.empty((len(samples), 4)), np.empty((len(samples), 3)), 0
        for i, wanted in enumerate(samples):
            if wanted > n:
                state = self._compiled["advance"](float(dt), state, int(wanted) - n, *load)
                n = int(wanted)
            q[i] = np.asarray(state.x.rot)[0]
            omega[i] = turned_back(q[i], np.asarray(state.xd.ang)[0])
        return q, omega
