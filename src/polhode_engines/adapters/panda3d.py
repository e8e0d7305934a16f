"""Bullet as Panda3D ships it, through its own module, in single precision."""

import numpy as np
from polhode_rotations import lab_torque, rotated, turned_back
from polhode_sampling import stepped


class Adapter:
    """Panda3D.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text."""
        import panda3d

        return panda3d.__version__

    def run(self, option, case, dt, samples):
        """A box of 1 m; a step of the world is one of Bullet, without substeps.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        from panda3d.bullet import BulletBoxShape, BulletRigidBodyNode, BulletWorld
        from panda3d.core import LQuaternion, LVector3, NodePath

        world = BulletWorld()
        world.set_gravity(0, 0, 0)
        body = BulletRigidBodyNode("body")
        body.add_shape(BulletBoxShape(LVector3(0.5, 0.5, 0.5)))
        body.set_mass(1.0)
        body.set_inertia(LVector3(*map(float, case.inertia)))
        node = NodePath(body)
        node.set_quat(LQuaternion(*map(float, case.q0)))
        world.attach(body)
        if not case.is_shipped:
            body.set_deactivation_enabled(False)
        body.set_angular_velocity(LVector3(*rotated(np.array(case.q0), np.array(case.omega0)).tolist()))

        def state():
            q = np.array(tuple(node.get_quat()))
            q = q / np.linalg.norm(q)
            return q, turned_back(q, np.array(tuple(body.get_angular_velocity())))

        def step():
            if case.load != "free":
                body.apply_torque(LVector3(*lab_torque(case, *state()).tolist()))
            world.do_physics(dt, 0)

        return stepped(samples, step, state)
