"""Newton: Warp kernels on the CPU, in single precision."""

import numpy as np
from polhode_rotations import lab_torque, rotated, turned_back


class Adapter:
    """Newton.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text."""
        import newton

        return newton.__version__

    def run(self, option, case, dt, samples):
        """One free body; two states take turns.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        import newton
        import warp as wp

        wp.config.quiet = True
        wp.set_device("cpu")
        builder = newton.ModelBuilder(gravity=(0.0, 0.0, 0.0))
        w, x, y, z = map(float, case.q0)
        inertia = wp.mat33(*np.diag(case.inertia).ravel().tolist())
        builder.add_body(xform=wp.transform((0, 0, 0), wp.quat(x, y, z, w)), mass=1.0, inertia=inertia)
        model = builder.finalize(device="cpu")
        if option == "SemiImplicit as shipped":
            solver = newton.solvers.SolverSemiImplicit(model)
        else:
            solver = getattr(newton.solvers, f"Solver{option}")(model, angular_damping=0.0)
        now, then = model.state(), model.state()
        spin = rotated(np.array(case.q0), np.array(case.omega0))
        now.body_qd.assign(np.array([[0, 0, 0, *spin]], dtype=np.float32))
        now.body_q.assign(np.array([[0, 0, 0, x, y, z, w]], dtype=np.float32))
        control = model.control()
        q, omega, n = np.empty((len(samples), 4)), np.empty((len(samples), 3)), 0

        def state(now):
            x, y, z, w = now.body_q.numpy()[0][3:7].astype(float)
            held = np.array([w, x, y, z])
            held /= np.linalg.norm(held)
            return held, turned_back(held, now.body_qd.numpy()[0][3:6].astype(float))

        for i, wanted in enumerate(samples):
            while n < wanted:
                now.clear_forces()
                if case.load != "free":
                    torque = lab_torque(case, *state(now))
                    now.body_f.assign(np.array([[0, 0, 0, *torque]], dtype=np.float32))
                solver.step(now, then, control, None, dt)
                now, then = then, now
                n += 1
            q[i], omega[i] = state(now)
        return q, omega
