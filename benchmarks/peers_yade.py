"""The scenes of :mod:`peers` in YADE: clumps of spheres with Hertz contact. Executed by ``yade -n -x peers_yade.py FOLDER``."""

import sys
import time

import numpy as np
import yade
from yade import config, utils

REQUEST, ANSWER = (f"{sys.argv[-1]}/{name}.npz" for name in ("request", "answer"))


def densities(centres, radii, mass, inertia):
    """Densities of the spheres whose sum has the clump's mass, its centre at 0 and its principal moments.

    YADE adds up its clumps from their spheres, which overlap; so the mass properties of the union are divided among them, as
    evenly as possible (some densities may be negative).
    """
    x, y, z = centres.T
    own = 0.4 * radii**2
    sums = np.array(
        [np.ones(len(x)), x, y, z, own + y * y + z * z, own + x * x + z * z, own + x * x + y * y, x * y, x * z, y * z]
    )
    size = np.array([1.0, *3 * [radii.max()], *6 * [inertia[2] / mass]])
    volumes = 4 / 3 * np.pi * radii**3
    even = mass / volumes.sum()
    wanted = np.array([mass, 0, 0, 0, *inertia, 0, 0, 0]) - sums @ (even * volumes)
    more = np.linalg.lstsq(sums * volumes / size[:, None], wanted / size, rcond=1e-12)[0]
    return even + more


def build(scene, request):
    """Clumps at their places with their velocities, and six walls; returns the clumps' numbers."""
    spheres, first, many = (request[name] for name in ("spheres", "first", "many"))
    young, poisson, half = (float(request[name]) for name in ("young", "poisson", "half"))
    # YADE takes a wall as a sphere of the same radius, R* = R/2. With this modulus E*_wall sqrt(R/2) = E* sqrt(R).
    of_walls = scene.materials.append(
        yade.FrictMat(young=young / (np.sqrt(2) - 1), poisson=poisson, frictionAngle=0, density=1)
    )
    for axis in range(3):
        for place in (-half, half):
            scene.bodies.append(utils.wall(place, axis, 0, material=of_walls))
    clumps = []
    for c in range(len(first)):
        centres, radii = spheres[:3, first[c] : first[c] + many[c]].T, spheres[3, first[c] : first[c] + many[c]]
        turn, mass, inertia = request["turns"][c], float(request["masses"][c]), request["inertias"][c]
        members = []
        parts = zip(request["r"][c] + centres @ turn.T, radii, densities(centres, radii, mass, inertia), strict=True)
        for place, radius, density in parts:
            made = yade.FrictMat(young=young, poisson=poisson, frictionAngle=0, density=float(density))
            members.append(scene.bodies.append(utils.sphere(tuple(map(float, place)), float(radius), material=made)))
        number = scene.bodies.clump(members, discretization=0)
        state = scene.bodies[number].state
        scene.bodies[number].aspherical = True
        # What YADE has added up.
        own = np.array(state.ori.toRotationMatrix()).reshape(3, 3)
        np.testing.assert_allclose(
            own @ np.diag(list(state.inertia)) @ own.T, turn @ np.diag(inertia) @ turn.T, atol=1e-9 * inertia[2]
        )
        np.testing.assert_allclose(list(state.pos), request["r"][c], atol=1e-9)
        np.testing.assert_allclose(state.mass, mass, rtol=1e-9)
        state.vel = yade.Vector3(*map(float, request["v"][c]))
        state.angVel = yade.Vector3(*map(float, turn @ request["omega"][c]))
        state.angMom = yade.Vector3(*map(float, turn @ (inertia * request["omega"][c])))
        clumps.append(number)
    return clumps


def kinetic(scene, clumps):
    """The kinetic energy: half steps of velocity and momentum, with the orientation of now."""
    total = 0.0
    for number in clumps:
        state = scene.bodies[number].state
        own = np.array(state.ori.toRotationMatrix()).reshape(3, 3)
        v, momentum = np.array(list(state.vel)), own.T @ np.array(list(state.angMom))
        total += 0.5 * (state.mass * (v @ v) + (momentum**2 / np.array(list(state.inertia))).sum())
    return total


def main():
    """Run to each sample."""
    request = np.load(REQUEST)
    scene = yade.Omega()
    clumps = build(scene, request)
    collider = yade.InsertionSortCollider([yade.Bo1_Sphere_Aabb(), yade.Bo1_Wall_Aabb()])
    scene.engines = [
        yade.ForceResetter(),
        collider,
        yade.InteractionLoop(
            [yade.Ig2_Sphere_Sphere_ScGeom(), yade.Ig2_Wall_Sphere_ScGeom()],
            [yade.Ip2_FrictMat_FrictMat_MindlinPhys()],
            [yade.Law2_ScGeom_MindlinPhys_HertzWithLinearShear()],
        ),
        yade.NewtonIntegrator(damping=0, gravity=(0, 0, 0), exactAsphericalRot=True),
    ]
    scene.dt = float(request["dt"])
    energy, free, seconds, r = [kinetic(scene, clumps)], [True], [], []
    done = 0
    for wanted in request["at"]:
        before = time.process_time()
        scene.run(int(wanted) - done, True)
        seconds.append(time.process_time() - before)
        done = int(wanted)
        energy.append(kinetic(scene, clumps))
        free.append(not any(contact.isReal for contact in scene.interactions))
        r.append([list(scene.bodies[number].state.pos) for number in clumps])
    np.savez(ANSWER, energy=energy, free=free, seconds=seconds, r=r, version=config.version)


main()
