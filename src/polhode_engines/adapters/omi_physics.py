"""OMI physics: a body without a shape in numpy, in double precision."""

import numpy as np
from polhode_rotations import lab_torque, rotated, turned_back
from polhode_sampling import stepped


class Adapter:
    """OMI physics.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text."""
        from importlib.metadata import version

        return version("omi-physics")

    def run(self, option, case, dt, samples):
        """One free body.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        from omi_physics import PhysicsWorld, model

        world = PhysicsWorld(gravity=model.Gravity(gravity=0.0), sleep_enabled=case.is_shipped)
        spin = rotated(np.array(case.q0), np.array(case.omega0))
        motion = model.Motion(mass=1.0, inertiaDiagonal=tuple(case.inertia), angularVelocity=tuple(spin.tolist()))
        w, x, y, z = map(float, case.q0)
        body = world.add_body(motion, orientation=(x, y, z, w))
        world.set_exact_rotation(body, option == "set_exact_rotation")

        def state():
            x, y, z, w = world.orientation[body]
            q = np.array([w, x, y, z])
            return q, turned_back(q, world.angular_velocity[body])

        def step():
            if case.load != "free":
                world.set_torque(body, lab_torque(case, *state()))
            world.step(dt)

        return stepped(samples, step, state)
