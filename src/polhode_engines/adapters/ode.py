"""The Open Dynamics Engine through Debian's PyODE."""

import numpy as np
from polhode_rotations import rotated, turned_back
from polhode_sampling import stepped


class Adapter:
    """Open Dynamics Engine.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text; ``unknown`` if dpkg does not know it."""
        import subprocess

        command = ["dpkg-query", "-W", "-f=${Version}", "libode8"]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout or "unknown"

    def run(self, option, case, dt, samples):
        """One body in a world without gravity.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        import ode

        world = ode.World()
        world.setGravity((0, 0, 0))
        if not case.is_shipped:
            world.setAutoDisableFlag(False)
        body = ode.Body(world)
        mass = ode.Mass()
        mass.setParameters(1.0, 0, 0, 0, *map(float, case.inertia), 0, 0, 0)
        body.setMass(mass)
        body.setQuaternion(tuple(map(float, case.q0)))
        body.setAngularVel(tuple(map(float, rotated(np.array(case.q0), np.array(case.omega0)))))
        body.setFiniteRotationMode(1 if "finite" in option else 0)
        if "finite" in option:
            body.setFiniteRotationAxis((0, 0, 0))
        advance = world.quickStep if option == "quickStep" else world.step

        def step():
            if case.load == "constant":
                body.addRelTorque(tuple(case.value))
            elif case.load == "lab":
                body.addTorque(tuple(case.value))
            elif case.load == "velocity":
                body.addTorque(tuple(-case.value[0] * x for x in body.getAngularVel()))
            advance(dt)

        def state():
            q = np.array(body.getQuaternion())
            return q, turned_back(q, np.array(body.getAngularVel()))

        return stepped(samples, step, state)
