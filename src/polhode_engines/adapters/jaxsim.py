"""JaxSim: a model of one link, in double precision; its angular velocity in the lab (velocity representation Mixed)."""

import numpy as np
from polhode_rotations import rotated, turned_back
from polhode_sampling import in_one_call, sampled

MODEL = """<sdf version="1.7"><model name="body"><link name="link"><inertial><pose>0 0 0 0 0 0</pose><mass>1</mass>
<inertia><ixx>{!r}</ixx><ixy>0</ixy><ixz>0</ixz><iyy>{!r}</iyy><iyz>0</iyz><izz>{!r}</izz></inertia></inertial></link>
</model></sdf>"""


class Adapter:
    """JaxSim.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def __init__(self):
        self._compiled = {}

    def version(self):
        """The version of the package, as text."""
        from importlib.metadata import version

        return version("jaxsim")

    def run(self, option, case, dt, samples):
        """Any number of steps in one call, compiled once; the step in s is a part of the model.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        import jax
        import jax.numpy as jnp
        import jaxsim.api as js

        model = js.model.JaxSimModel.build_from_model_description(
            MODEL.format(*map(float, case.inertia)),
            is_urdf=False,
            gravity=0.0,
            time_step=float(dt),
            integrator=js.model.IntegratorType[option],
        )
        spin = rotated(np.array(case.q0), np.array(case.omega0))
        data = js.data.JaxSimModelData.build(model, base_quaternion=jnp.array(case.q0), base_angular_velocity=jnp.array(spin))

        def step(now, model, in_body, in_lab, friction):
            q, omega = now.base_quaternion, now.base_velocity[3:]
            turned = in_body + 2 * jnp.cross(q[1:], jnp.cross(q[1:], in_body) + q[0] * in_body)
            torque = turned + in_lab - friction * omega
            return js.model.step(model, now, link_forces=jnp.concatenate((jnp.zeros(3), torque))[None])

        if option not in self._compiled:
            self._compiled[option] = in_one_call(jax, step)
        compiled = self._compiled[option]
        values = [jnp.array(case.value if case.load == load else (0.0, 0.0, 0.0)) for load in ("constant", "lab")]
        values.append(float(case.value[0]) if case.load == "velocity" else 0.0)

        def read(now):
            q = np.asarray(now.base_quaternion)
            return q, turned_back(q / np.linalg.norm(q), np.asarray(now.base_velocity)[3:])

        return sampled(samples, data, lambda now, count: compiled(count, now, model, *values), read)
