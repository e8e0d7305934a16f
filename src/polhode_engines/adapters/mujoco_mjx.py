"""MuJoCo MJX: MuJoCo's equations anew in jax; a body on a free joint, whose velocity has its angular part in the body frame."""

import numpy as np
from polhode_sampling import in_one_call, sampled

MODEL = """<mujoco><option gravity="0 0 0" timestep="{dt!r}" integrator="{integrator}">
<flag contact="disable" gravity="disable" eulerdamp="disable"/></option>
<worldbody><body><joint type="free" damping="{damping!r}"/>
<inertial pos="0 0 0" mass="1" diaginertia="{0!r} {1!r} {2!r}"/></body></worldbody></mujoco>"""


class Adapter:
    """MuJoCo MJX.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def __init__(self):
        self._compiled = None

    def version(self):
        """The version of the package, as text."""
        from importlib.metadata import version

        return version("mujoco-mjx")

    def run(self, option, case, dt, samples):
        """One body on a free joint; any number of steps in one call, compiled once for each integrator and kind of load.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        import jax

        jax.config.update("jax_enable_x64", True)
        import mujoco
        from mujoco import mjx

        damping = float(case.value[0]) if case.load == "velocity" else 0.0
        text = MODEL.format(*map(float, case.inertia), dt=float(dt), integrator=option, damping=damping)
        model = mujoco.MjModel.from_xml_string(text)
        model.dof_damping[:3] = 0
        on_device = mjx.put_model(model)
        data = mjx.make_data(on_device)
        data = data.replace(qpos=data.qpos.at[3:7].set(np.array(case.q0)), qvel=data.qvel.at[3:6].set(np.array(case.omega0)))
        if case.load == "constant":
            data = data.replace(qfrc_applied=data.qfrc_applied.at[3:6].set(np.array(case.value)))
        elif case.load == "lab":
            data = data.replace(xfrc_applied=data.xfrc_applied.at[1, 3:6].set(np.array(case.value)))
        if self._compiled is None:
            self._compiled = in_one_call(jax, lambda now, model: mjx.step(model, now))
        return sampled(
            samples,
            data,
            lambda now, count: self._compiled(count, now, on_device),
            lambda now: (np.asarray(now.qpos)[3:7], np.asarray(now.qvel)[3:6]),
        )
