"""pybox3d, a library of its own (not Box3D): bodies have the moments of their box, and a torque is a pair of forces."""

import numpy as np
from polhode_rotations import lab_torque, rotated, turned_back
from polhode_sampling import stepped

#: Half of an edge that should have no length, m.
THIN = 1e-3


class Adapter:
    """pybox3d.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text."""
        from importlib.metadata import version

        return version("pybox3d")

    def run(self, option, case, dt, samples):
        """A box of mass 1 with these moments.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        import pybox3d

        moments = np.array(case.inertia)
        half = np.sqrt(np.maximum(1.5 * (moments.sum() - 2 * moments), THIN**2))
        world = pybox3d.World(gravity=(0, 0, 0))
        world.sleeping_enabled = case.is_shipped
        body = world.add_body(pybox3d.RigidBody((0, 0, 0), tuple(half.tolist()), mass=1.0))
        w, x, y, z = map(float, case.q0)
        body.orientation = pybox3d.Quat(x, y, z, w)
        body.angular_velocity = tuple(rotated(np.array(case.q0), np.array(case.omega0)).tolist())

        def state():
            turned, spin = body.orientation, body.angular_velocity
            q = np.array([turned.w, turned.x, turned.y, turned.z])
            q = q / np.linalg.norm(q)
            return q, turned_back(q, np.array([spin.x, spin.y, spin.z]))

        def step():
            if case.load != "free":
                torque = lab_torque(case, *state())
                arm = np.cross(torque, np.eye(3)[np.argmin(abs(torque))])
                arm, force = arm / np.linalg.norm(arm), np.cross(torque, arm / np.linalg.norm(arm)) / 2
                for sign in (1, -1):
                    body.apply_force(tuple((sign * force).tolist()), tuple((sign * arm).tolist()))
            world.step(dt)

        return stepped(samples, step, state)
