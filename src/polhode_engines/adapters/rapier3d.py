"""Rapier through its own Python package, in single precision."""

import numpy as np
from polhode_rotations import lab_torque, rotated, turned_back
from polhode_sampling import stepped


def scaled_axis(q):
    """The rotation vector (3,), rad, of a unit quaternion q (4,), scalar first; its length is at most pi."""
    q = np.asarray(q) if q[0] >= 0 else -np.asarray(q)
    size = np.linalg.norm(q[1:])
    return np.zeros(3) if size == 0 else 2 * np.arctan2(size, q[0]) / size * q[1:]


class Adapter:
    """Rapier.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text."""
        from importlib.metadata import version

        return version("rapier3d")

    def run(self, option, case, dt, samples):
        """One dynamic body with additional mass properties and no collider.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        import rapier3d as r

        world = r.PhysicsWorld()
        world.integration_parameters.dt = dt
        world.integration_parameters.num_solver_iterations = int(option[0])
        builder = r.RigidBody.dynamic()
        if not case.is_shipped:
            builder = builder.can_sleep(False).allow_fast_rotation(True)
        builder = builder.gyroscopic_forces("off" not in option)
        builder = builder.additional_mass_properties(r.MassProperties((0, 0, 0), 1.0, tuple(case.inertia)))
        builder = builder.rotation(tuple(map(float, scaled_axis(case.q0))))
        builder = builder.angvel(tuple(map(float, rotated(np.array(case.q0), np.array(case.omega0)))))
        handle = world.add_body(builder)
        bodies = world.rigid_bodies

        def state():
            body = bodies[handle]
            turned, spin = body.rotation, body.angvel
            held = np.array([turned.w, turned.i, turned.j, turned.k])
            held /= np.linalg.norm(held)
            return held, turned_back(held, np.array([spin.x, spin.y, spin.z]))

        def step():
            if case.load != "free":
                torque = lab_torque(case, *state())
                body = bodies[handle]
                body.reset_torques()
                body.add_torque(tuple(map(float, torque)))
            world.step()

        return stepped(samples, step, state)
