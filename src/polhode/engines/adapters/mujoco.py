"""MuJoCo: a body on a free joint, whose velocity has its angular part in the body frame."""

import numpy as np

MODEL = """<mujoco><option gravity="0 0 0" timestep="{dt!r}" integrator="{integrator}">
<flag contact="disable" gravity="disable" autoreset="disable"/></option><worldbody><body><freejoint/>
<inertial pos="0 0 0" mass="1" diaginertia="{0!r} {1!r} {2!r}"/></body></worldbody></mujoco>"""


class Adapter:
    """MuJoCo."""

    key = "mujoco"
    label = "MuJoCo"
    requirements = ("mujoco==4.0.0",)
    module = "mujoco"
    repository = "google-deepmind/mujoco"
    options = {
        "Euler": "integrator=Euler",
        "implicit": "integrator=implicit",
        "implicitfast": "integrator=implicitfast",
        "RK4": "integrator=RK4",
        "discrete": "integrator=discrete",
    }
    default = "Euler"
    precision = "float64"
    switched_off = "gravity, contacts, the reset of a state that has blown up (autoreset)"
    torques = {
        "constant": "qfrc_applied: angular part of the free joint, body frame",
        "lab": "xfrc_applied, lab frame",
        "velocity": "mjcb_passive, called at every evaluation",
    }
    advice = {
        "Euler": "First order, and a free spin gains energy until it diverges: set integrator RK4 for free flight, "
        "implicitfast for contacts.",
        "implicit": "First order; a free spin is stable but loses energy until it turns about the axis of the largest "
        "moment: set RK4 for free flight, or halve the step to halve the loss.",
        "implicitfast": "First order, and for a free body the same step as implicit: set RK4 for free flight, or halve the "
        "step to halve the loss of energy.",
        "RK4": "Fourth order under every load that was run: keep it for free flight, and give a torque that depends on the "
        "velocity in mjcb_passive, not once a step.",
        "discrete": "First order, and for a free body the same step as implicit: set RK4 for free flight, or halve the step "
        "to halve the loss of energy.",
    }

    def version(self):
        """The version of the package."""
        import mujoco

        return mujoco.__version__

    def run(self, option, case, dt, samples):
        """One body on a free joint."""
        import mujoco

        model = mujoco.MjModel.from_xml_string(MODEL.format(*map(float, case.inertia), dt=float(dt), integrator=option))
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
        q, omega, n = np.empty((len(samples), 4)), np.empty((len(samples), 3)), 0
        try:
            for i, wanted in enumerate(samples):
                while n < wanted:
                    mujoco.mj_step(model, data)
                    n += 1
                q[i], omega[i] = data.qpos[3:7], data.qvel[3:6]
        finally:
            mujoco.set_mjcb_passive(None)
        return q, omega
