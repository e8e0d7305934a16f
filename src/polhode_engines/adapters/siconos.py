"""Siconos from Debian: a body in Newton-Euler form, whose twist has its angular part in the body frame."""

import numpy as np
from polhode_sampling import stepped


class Adapter:
    """Siconos.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text; ``unknown`` if dpkg does not know it."""
        import subprocess

        command = ["dpkg-query", "-W", "-f=${Version}", "python3-siconos"]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout or "unknown"

    def run(self, option, case, dt, samples):
        """One body without interactions under time stepping.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        import siconos.kernel as siconos

        start = [0.0, 0.0, 0.0, *map(float, case.q0)]
        body = siconos.NewtonEulerDS(
            start, [0.0, 0.0, 0.0, *map(float, case.omega0)], 1.0, np.diag(np.array(case.inertia, float))
        )
        torque = np.array(case.value, float) if case.load != "free" else np.zeros(3)
        if case.load != "free":
            body.setMExtPtr(torque)
            body.setIsMextExpressedInInertialFrame(case.load == "lab")
        model = siconos.NonSmoothDynamicalSystem(0, 1e9)
        model.insertDynamicalSystem(body)
        scheme = siconos.MoreauJeanOSI(float(option.partition(" ")[2]))
        problem, times = siconos.LCP(), siconos.TimeDiscretisation(0, float(dt))
        stepping = siconos.TimeStepping(model, times, scheme, problem)
        if not case.is_shipped:
            stepping.setNewtonTolerance(1e-14)
            stepping.setNewtonMaxIteration(100)

        def step():
            stepping.computeOneStep()
            stepping.nextStep()

        return stepped(samples, step, lambda: (body.q()[3:7], body.twist()[3:6]))
