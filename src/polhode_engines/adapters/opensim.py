"""OpenSim: Simbody's integrators on a free joint, whose coordinates are three angles; the angular velocity is in the lab."""

import numpy as np
from polhode_rotations import rotated, turned_back


def angles_of(q):
    """The angles (3,), rad, of rotations about the body's x, y and z axes, one after the other, that end at q (4,).

    q is a unit quaternion, scalar first, body to lab.
    """
    x, y, z = (rotated(np.asarray(q), e) for e in np.eye(3))
    return np.arctan2(-z[1], z[2]), np.arctan2(z[0], np.hypot(x[0], y[0])), np.arctan2(-y[0], x[0])


def quaternion(angles):
    """The unit quaternion (4,), scalar first, body to lab, of the rotations by the three angles of :func:`angles_of`, rad."""
    q = np.array([1.0, 0.0, 0.0, 0.0])
    for k, angle in enumerate(angles):
        s, u = np.cos(angle / 2), np.sin(angle / 2) * np.eye(3)[k]
        q = np.array([q[0] * s - q[1:] @ u, *(q[0] * u + s * q[1:] + np.cross(q[1:], u))])
    return q


class Adapter:
    """OpenSim.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text."""
        from importlib.metadata import version

        return version("opensim")

    def run(self, option, case, dt, samples):
        """The coordinates of a FreeJoint are angles; their speeds are the components of omega in the lab.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        import opensim

        opensim.Logger.setLevelString("Off")
        model = opensim.Model()
        model.setGravity(opensim.Vec3(0))
        body = opensim.Body("body", 1.0, opensim.Vec3(0), opensim.Inertia(*map(float, case.inertia)))
        model.addBody(body)
        joint = opensim.FreeJoint("joint", model.getGround(), body)
        model.addJoint(joint)
        if case.load == "velocity":
            for k in range(3):
                force = opensim.SpringGeneralizedForce(joint.get_coordinates(k).getName())
                force.setName(f"friction{k}")
                force.setStiffness(0)
                force.setRestLength(0)
                force.setViscosity(float(case.value[0]))
                model.addForce(force)
        elif case.load != "free":
            for k in range(3):
                torque = opensim.TorqueActuator()
                torque.setName(f"torque{k}")
                torque.setBodyA(body)
                torque.setBodyB(model.getGround())
                torque.setAxis(opensim.Vec3(*map(float, np.eye(3)[k])))
                torque.setTorqueIsGlobal(case.load == "lab")
                torque.setOptimalForce(1.0)
                model.addForce(torque)
        model.finalizeConnections()
        state = model.initSystem()
        spin = rotated(np.array(case.q0), np.array(case.omega0))
        for k, (angle, speed) in enumerate(zip(angles_of(case.q0), spin, strict=True)):
            joint.get_coordinates(k).setValue(state, float(angle), False)
            joint.get_coordinates(k).setSpeedValue(state, float(speed))
        if case.load in ("constant", "lab"):
            for k, value in enumerate(case.value):
                actuator = opensim.TorqueActuator.safeDownCast(model.getForceSet().get(k))
                actuator.overrideActuation(state, True)
                actuator.setOverrideActuation(state, float(value))
        manager = opensim.Manager(model)
        manager.setIntegratorMethod(getattr(opensim.Manager, f"IntegratorMethod_{option}"))
        if not case.is_shipped:
            manager.setIntegratorFixedStepSize(dt)
        manager.setWriteToStorage(False)
        manager.setPerformAnalyses(False)
        manager.setRecordStatesTrajectory(False)
        manager.initialize(state)
        state = manager.getState()
        q, omega, n = np.empty((len(samples), 4)), np.empty((len(samples), 3)), 0
        for i, wanted in enumerate(samples):
            while n < wanted:
                # The end of a step as the integrator itself computes it, so that no step is cut short by rounding.
                state = manager.integrate(state.getTime() + dt)
                n += 1
            angles, speeds = state.getQ(), state.getU()
            q[i] = quaternion([angles.get(k) for k in range(3)])
            omega[i] = turned_back(q[i], np.array([speeds.get(k) for k in range(3)]))
        return q, omega
