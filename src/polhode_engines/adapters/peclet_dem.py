"""Peclet-DEM: one box without gravity, in single precision.

Its angular velocity is in the lab, whatever the docstrings of its functions say.
"""

import numpy as np
from polhode_rotations import lab_torque, rotated, turned_back
from polhode_sampling import stepped


class Adapter:
    """Peclet-DEM.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text."""
        from importlib.metadata import version

        return version("peclet-dem")

    def run(self, option, case, dt, samples):
        """One box in the middle of its domain.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        import peclet.dem

        def row(*values):
            return np.array([values], dtype=np.float32)

        engine = peclet.dem.Simulation(1)
        engine.set_domain((-5, -5, -5), (5, 5, 5))
        engine.set_periodic(False, False, False)
        engine.initialize_shape("box", 0.5)
        engine.set_gravity((0, 0, 0))
        engine.set_dt(float(dt))
        engine.set_positions(row(0, 0, 0))
        engine.set_inv_inertia(row(*(1 / x for x in case.inertia)))
        engine.set_quaternions(row(*case.q0[1:], case.q0[0]))
        engine.set_angular_velocities(row(*rotated(np.array(case.q0), np.array(case.omega0))))
        if not case.is_shipped:
            engine.set_sleeping(False)
        advance = engine.step_hertz if option == "step_hertz" else engine.step

        def state():
            x, y, z, w = engine.get_quaternions()[0].astype(float)
            q = np.array([w, x, y, z])
            q /= np.linalg.norm(q)
            return q, turned_back(q, engine.get_angular_velocities()[0].astype(float))

        def step():
            if case.load != "free":
                engine.set_external_torques(row(*lab_torque(case, *state())))
            advance(1)

        return stepped(samples, step, state)
