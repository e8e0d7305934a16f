"""MuJoCo: a body on a free joint, whose velocity has its angular part in the body frame."""

from polhode_sampling import stepped

MODEL = """<mujoco><option gravity="0 0 0" timestep="{dt!r}" integrator="{integrator}">
<flag contact="disable" gravity="disable" autoreset="{reset}"/></option><worldbody><body><freejoint/>
<inertial pos="0 0 0" mass="1" diaginertia="{0!r} {1!r} {2!r}"/></body></worldbody></mujoco>"""


class Adapter:
    """MuJoCo.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text."""
        import mujoco

        return mujoco.__version__

    def run(self, option, case, dt, samples):
        """One body on a free joint.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        import mujoco

        reset = "enable" if case.is_shipped else "disable"
        text = MODEL.format(*map(float, case.inertia), dt=float(dt), integrator=option, reset=reset)
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)
        data.qpos[3:7], data.qvel[3:6] = case.q0, case.omega0
        if case.load == "constant":
            data.qfrc_applied[3:6] = case.value
        elif case.load == "lab":
            data.xfrc_applied[1, 3:6] = case.value
        elif case.load == "velocity":

            def friction(model, data):
                data.qfrc_passive[3:6] -= case.value[0] * data.qvel[3:6]

            mujoco.set_mjcb_passive(friction)
        try:
            return stepped(samples, lambda: mujoco.mj_step(model, data), lambda: (data.qpos[3:7], data.qvel[3:6]))
        finally:
            mujoco.set_mjcb_passive(None)
