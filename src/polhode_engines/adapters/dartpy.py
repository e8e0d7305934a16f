"""DART: a skeleton of one body on a free joint."""

import numpy as np
from polhode_rotations import matrix, quaternion, turned_back
from polhode_sampling import stepped


class Adapter:
    """DART.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text."""
        import dartpy

        return dartpy.__version__

    def run(self, option, case, dt, samples):
        """The velocity of the body is set, and the pose through the joint.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        import dartpy as dart

        world = dart.simulation.World() if hasattr(dart, "simulation") else dart.World()
        dynamics = getattr(dart, "dynamics", dart)
        world.setGravity([0, 0, 0])
        world.setTimeStep(dt)
        skeleton = dynamics.Skeleton("body")
        _joint, node = skeleton.createFreeJointAndBodyNodePair()
        inertia = dynamics.Inertia(1.0, np.zeros(3), np.diag(case.inertia))
        node.setInertia(inertia)
        world.addSkeleton(skeleton)
        a = matrix(case.q0)
        half = np.linalg.norm(case.q0[1:])
        axis = np.zeros(3) if half == 0 else 2 * np.arctan2(half, case.q0[0]) * np.array(case.q0[1:]) / half
        skeleton.setPositions(np.concatenate([axis, np.zeros(3)]))
        assert np.allclose(node.getTransform().rotation(), a)
        skeleton.setVelocities(np.concatenate([case.omega0, np.zeros(3)]))

        def step():
            if case.load != "free":
                node.clearExternalForces()
                torque = np.array(case.value)
                if case.load == "velocity":
                    torque = -case.value[0] * np.array(node.getAngularVelocity())
                node.addExtTorque(torque.tolist(), case.load == "constant")
            world.step()

        def state():
            q = quaternion(np.array(node.getTransform().rotation()))
            return q, turned_back(q, np.array(node.getAngularVelocity()))

        return stepped(samples, step, state)
