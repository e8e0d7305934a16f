"""Bullet through PyBullet: a rigid body of btRigidBody or btMultiBody, in double precision."""

import numpy as np
from polhode_rotations import rotated, turned_back
from polhode_sampling import stepped

#: Above any limit that Bullet puts on the speed of a joint.
FAST = 1e6


class Adapter:
    """PyBullet.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text."""
        from importlib.metadata import version

        return version("pybullet")

    def run(self, option, case, dt, samples):
        """A box; without a shape a btRigidBody has no gyroscopic term.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        import pybullet as p

        client = p.connect(p.DIRECT)
        try:
            p.setPhysicsEngineParameter(fixedTimeStep=dt, numSubSteps=1, enableFileCaching=0)
            p.setTimeStep(dt)
            p.setGravity(0, 0, 0)
            w, x, y, z = case.q0
            shape = p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.5, 0.5, 0.5])
            body = p.createMultiBody(
                1.0, shape, -1, [0, 0, 0], [x, y, z, w], useMaximalCoordinates=1 if option == "rigidbody" else 0
            )
            p.changeDynamics(body, -1, localInertiaDiagonal=list(case.inertia))
            if option == "multibody":
                p.changeDynamics(body, -1, linearDamping=0, angularDamping=0)
            if not case.is_shipped:
                p.changeDynamics(body, -1, maxJointVelocity=FAST, activationState=p.ACTIVATION_STATE_DISABLE_SLEEPING)
            # Until a btRigidBody has taken a step, its inverse inertia in the lab is that of the shape.
            p.stepSimulation()
            p.resetBasePositionAndOrientation(body, [0, 0, 0], [x, y, z, w])
            p.resetBaseVelocity(body, [0, 0, 0], rotated(np.array(case.q0), np.array(case.omega0)).tolist())

            def state():
                _, (x, y, z, w) = p.getBasePositionAndOrientation(body)
                held = np.array([w, x, y, z])
                return held, turned_back(held, np.array(p.getBaseVelocity(body)[1]))

            def step():
                if case.load == "lab":
                    p.applyExternalTorque(body, -1, list(case.value), p.WORLD_FRAME)
                elif case.load == "constant":
                    torque = rotated(state()[0], np.array(case.value))
                    p.applyExternalTorque(body, -1, torque.tolist(), p.WORLD_FRAME)
                elif case.load == "velocity":
                    torque = -case.value[0] * np.array(p.getBaseVelocity(body)[1])
                    p.applyExternalTorque(body, -1, torque.tolist(), p.WORLD_FRAME)
                p.stepSimulation()

            return stepped(samples, step, state)
        finally:
            p.disconnect(client)
