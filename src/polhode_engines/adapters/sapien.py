"""SAPIEN: PhysX 5 on the CPU, in single precision."""

import warnings

import numpy as np
from polhode_rotations import lab_torque, rotated, turned_back
from polhode_sampling import stepped


class Adapter:
    """SAPIEN.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text."""
        from importlib.metadata import version

        return version("sapien")

    def run(self, option, case, dt, samples):
        """A dynamic component without a shape.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        warnings.simplefilter("ignore")
        import sapien
        from sapien import physx

        config = physx.get_scene_config()
        config.gravity = np.zeros(3)
        physx.set_scene_config(config)
        if not case.is_shipped:
            body_config = physx.get_body_config()
            body_config.sleep_threshold = 0.0
            physx.set_body_config(body_config)
        scene = sapien.Scene([physx.PhysxCpuSystem()])
        scene.timestep = dt
        entity, body = sapien.Entity(), physx.PhysxRigidDynamicComponent()
        body.mass = 1.0
        body.inertia = np.array(case.inertia)
        if option == "CPU":
            body.linear_damping = body.angular_damping = 0.0
        if not case.is_shipped:
            body.max_angular_velocity = 1e6
        body.disable_gravity = True
        entity.add_component(body)
        entity.set_pose(sapien.Pose([0, 0, 0], list(case.q0)))
        scene.add_entity(entity)
        body.set_angular_velocity(rotated(np.array(case.q0), np.array(case.omega0)))

        def state():
            held = np.array(entity.pose.q, dtype=float)
            held /= np.linalg.norm(held)
            return held, turned_back(held, np.array(body.angular_velocity, dtype=float))

        def step():
            if case.load != "free":
                body.add_force_torque(np.zeros(3), lab_torque(case, *state()))
            scene.step()

        return stepped(samples, step, state)
