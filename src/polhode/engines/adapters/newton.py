"""Newton: Warp kernels on the CPU, in single precision."""

import numpy as np
from polhode_rotations import rotated, turned_back


class Adapter:
    """Newton."""

    key = "newton"
    label = "Newton"
    requirements = ("newton==1.8.0", "warp-lang==1.19.0")
    module = "newton"
    repository = "newton-physics/newton"
    options = {
        "SemiImplicit": "SolverSemiImplicit with angular_damping=0",
        "XPBD": "SolverXPBD with angular_damping=0",
        "SemiImplicit as shipped": "SolverSemiImplicit with its angular_damping of 0.05",
    }
    default = "SemiImplicit as shipped"
    damping = {"SemiImplicit as shipped": 0.05}
    precision = "float32"
    switched_off = "gravity, damping (but in the option that says so); no shape"
    torques = {
        "constant": "State.body_f before every step; body frame, turned into the lab by us",
        "lab": "State.body_f before every step, lab frame",
        "velocity": "State.body_f before every step, from the angular velocity of the state",
    }
    most_steps = 20_000
    advice = {
        "SemiImplicit": "First order, and a free spin gains energy until it diverges: take smaller steps, or patch lines "
        "103 and 105 of solver.py (1.8.0) to take the gyroscopic term implicitly.",
        "XPBD": "First order, and a free spin gains energy until it diverges, as with SemiImplicit, whose step it shares: "
        "take smaller steps, or patch lines 103 and 105 of solver.py (1.8.0).",
        "SemiImplicit as shipped": "Its angular damping stops a free spin: pass angular_damping=0 to the solver, and read "
        "what is said of it then.",
    }

    def version(self):
        """The version of the package."""
        import newton

        return newton.__version__

    def run(self, option, case, dt, samples):
        """One free body; two states take turns."""
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

        def state(one):
            x, y, z, w = one.body_q.numpy()[0][3:7].astype(float)
            held = np.array([w, x, y, z])
            held /= np.linalg.norm(held)
            return held, turned_back(held, one.body_qd.numpy()[0][3:6].astype(float))

        for i, wanted in enumerate(samples):
            while n < wanted:
                now.clear_forces()
                if case.load != "free":
                    torque, (held, spin) = np.array(case.value), state(now)
                    if case.load != "lab":
                        torque = rotated(held, torque if case.load == "constant" else -torque[0] * spin)
                    now.body_f.assign(np.array([[0, 0, 0, *torque]], dtype=np.float32))
                solver.step(now, then, control, None, dt)
                now, then = then, now
                n += 1
            q[i], omega[i] = state(now)
        return q, omega
