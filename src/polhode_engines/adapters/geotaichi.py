"""GeoTaichi: its kernels that move clumps, on a clump of one sphere, in double precision.

``import geotaichi`` fails in the package as it is; its kernels are below the name ``src``.
"""

import numpy as np
from polhode_rotations import lab_torque, rotated, turned_back
from polhode_sampling import stepped

KERNELS = {"SymplecticEuler": "move_clumps_euler_", "VelocityVerlet": "move_clumps_verlet_"}


class Adapter:
    """GeoTaichi.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def __init__(self):
        self._fields = None

    def version(self):
        """The version of the package, as text."""
        from importlib.metadata import version

        return version("geotaichi")

    def _made(self):
        """Taichi with the fields of one clump, made once in a process."""
        if self._fields is None:
            import taichi as ti

            ti.init(arch=ti.cpu, cpu_max_num_threads=1, default_fp=ti.f64, offline_cache=False, log_level=ti.ERROR)
            from src.dem import BaseStruct
            from src.dem.engines import EngineKernel

            names = ("ClumpFamily", "ParticleFamily", "Material")
            clump, particle, material = (getattr(BaseStruct, name).field(shape=1) for name in names)
            self._fields = EngineKernel, ti.field(float, ()), clump, particle, material, ti.Vector([0.0, 0.0, 0.0])
        return self._fields

    def run(self, option, case, dt, samples):
        """The clump is held in fields of the package, which has its scalar last and its angular velocity in the lab.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        kernels, step_length, clump, particle, material, gravity = self._made()
        move = getattr(kernels, KERNELS[option])
        for field in (clump, particle, material):
            field.fill(0)
        q0 = np.array(case.q0)
        step_length[None] = dt
        clump.m.fill(1.0)
        clump.q.from_numpy(np.roll(q0, -1)[None])
        clump.w.from_numpy(rotated(q0, np.array(case.omega0))[None])
        clump.inv_I.from_numpy(1 / np.array(case.inertia)[None])

        def state():
            q = np.roll(clump.q.to_numpy()[0], 1)
            return q, turned_back(q, clump.w.to_numpy()[0])

        def step():
            if case.load != "free":
                particle.contact_torque.from_numpy(lab_torque(case, *state())[None])
            move(1, step_length, clump, particle, material, gravity)

        return stepped(samples, step, state)
