"""YADE from Debian: one clump-like body under NewtonIntegrator; contacts by Law2_ScGeom_MindlinPhys_Mindlin.

Releases differ in what they carry from step to step. Those that have ``rotAlgorithm`` carry the angular velocity of the lab,
``angVel``, but in Fincham1992; it and releases without a choice carry the angular momentum of the lab, ``angMom``.
"""

import numpy as np
from polhode_rotations import matrix, quaternion, rotated, turned_back
from polhode_sampling import NotInRelease, stepped

#: The options that are a value of ``rotAlgorithm``, and the algorithm of releases that have no choice.
CHOICES, ONLY = ("delValle2023", "Omelyan1998", "Fincham1992"), "aspherical"


class Adapter:
    """YADE.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text."""
        from yade import config

        return config.version

    def run(self, option, case, dt, samples):
        """The state of a body is set, then steps are taken one by one.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        import yade

        choice = self._choice(option)
        carries_momentum = option in ("Fincham1992", ONLY)
        scene = yade.Omega()
        scene.reset()
        q0, omega0, inertia = np.array(case.q0), np.array(case.omega0), np.array(case.inertia)
        body = yade.Body()
        body.state = yade.State()
        body.shape = yade.Sphere(radius=0.1)
        body.material = yade.FrictMat()
        body.aspherical = True
        number = scene.bodies.append(body)
        state = scene.bodies[number].state
        state.mass = 1.0
        state.inertia = yade.Vector3(*inertia)
        state.ori = yade.Quaternion(*map(float, q0))
        state.angVel = yade.Vector3(*rotated(q0, omega0))
        state.angMom = yade.Vector3(*rotated(q0, inertia * omega0))
        newton = yade.NewtonIntegrator(gravity=(0, 0, 0), exactAsphericalRot=option != "spherical", **choice)
        if not case.is_shipped:
            newton.damping = 0
        scene.engines = [yade.ForceResetter(), newton]
        scene.dt = dt
        held = case.load
        if held != "free":
            value = np.array(case.value)

            def torque():
                q = pose()[0]
                if held == "lab":
                    return value
                return rotated(q, value) if held == "constant" else -value[0] * np.array(list(state.angVel))

        def pose():
            turned = state.ori
            q = np.array([turned[3], turned[0], turned[1], turned[2]])
            # The other one of the two is a by-product: of the old orientation, or of one that is not normalised.
            if carries_momentum:
                return q, turned_back(q, np.array(list(state.angMom))) / inertia
            return q, turned_back(q, np.array(list(state.angVel)))

        def step():
            if held != "free":
                scene.forces.reset()
                scene.forces.setPermT(number, yade.Vector3(*torque()))
            scene.step()

        return stepped(samples, step, pose)

    def _choice(self, option):
        """The argument of NewtonIntegrator that chooses an option, by name.

        Raises NotInRelease for an option that the installed release lacks.
        """
        has_choice = bool(self._fincham())
        if option in CHOICES and not has_choice:
            raise NotInRelease(f"release {self.version()} has no rotAlgorithm: its option is {ONLY}")
        if option == ONLY and has_choice:
            raise NotInRelease(f"release {self.version()} has rotAlgorithm: its option with this step is Fincham1992")
        return {"rotAlgorithm": option} if option in CHOICES else {}

    def _fincham(self):
        """The argument that chooses Fincham's algorithm, with which impacts are run; nothing where there is no choice."""
        import yade

        return {"rotAlgorithm": "Fincham1992"} if hasattr(yade.NewtonIntegrator, "rotAlgorithm") else {}

    def collide(self, option, case, dt, samples):
        """Bodies of one sphere in the middle are spheres; others are clumps of spheres without mass, and of six masses.

        ``case`` has the fields of :class:`polhode_engines.contacts.Collision`. It returns r (n, bodies, 3), m, and v, m/s, in
        the lab, q (n, bodies, 4), body to lab, scalar first, and omega (n, bodies, 3), rad/s, body frame, at the samples.
        """
        import yade
        from yade import utils

        scene = yade.Omega()
        scene.reset()
        r, v, q, omega = (np.array(getattr(case, name), float) for name in ("r", "v", "q", "omega"))
        friction = np.arctan(case.friction)
        massless = yade.FrictMat(young=case.young, poisson=case.poisson, frictionAngle=friction, density=0)
        # YADE takes a wall as a sphere of the same radius, R* = R/2. With this modulus E* sqrt(R*) and G* sqrt(R*) are those of
        # a wall of the same material; those of a rigid one need a negative modulus.
        young = case.young / ((1 / np.sqrt(2) if case.rigid_walls else np.sqrt(2)) - 1)
        of_walls = yade.FrictMat(young=young, poisson=case.poisson, frictionAngle=friction, density=1)
        for axis in range(3):
            for place in (-case.half, case.half):
                scene.bodies.append(utils.wall(place, axis, 0, material=of_walls))
        numbers, frames = [], []
        for i, spheres in enumerate(case.spheres):
            mass, turn, inertia = case.masses[i], matrix(q[i]), np.array(case.inertias[i])
            members = [self._sphere(scene, r[i] + turn @ sphere[:3], sphere[3], massless) for sphere in spheres]
            is_ball = len(spheres) == 1 and not any(spheres[0][:3])
            number = members[0] if is_ball else self._clump(scene, r[i], turn, mass, inertia, members, 1e-6 * spheres[0][3])
            state = scene.bodies[number].state
            if is_ball:
                state.mass, state.inertia = mass, yade.Vector3(*inertia)
            else:
                scene.bodies[number].aspherical = True
                for member in members:  # the damping of a contact takes the mass of the member
                    scene.bodies[member].state.mass = mass
            state.vel = yade.Vector3(*v[i])
            state.angVel = yade.Vector3(*(turn @ omega[i]))
            state.angMom = yade.Vector3(*(turn @ (inertia * omega[i])))
            numbers.append(number)
            frames.append(axes_of(state).T @ turn)
        # The normal dashpot has the part betan of critical damping, at the stiffness 3/2 F/overlap; that of shear has betas at
        # the stiffness of shear, and with this betas the coefficient of the normal one.
        betan = case.alpha / np.sqrt(6)
        betas = betan * np.sqrt((2 - case.poisson) / (2 - 2 * case.poisson))
        damped = {"betan": float(betan), "betas": float(betas)} if case.alpha > 0 else {}
        scene.engines = [
            yade.ForceResetter(),
            yade.InsertionSortCollider([yade.Bo1_Sphere_Aabb(), yade.Bo1_Wall_Aabb()]),
            yade.InteractionLoop(
                [yade.Ig2_Sphere_Sphere_ScGeom(), yade.Ig2_Wall_Sphere_ScGeom()],
                [yade.Ip2_FrictMat_FrictMat_MindlinPhys(**damped)],
                [yade.Law2_ScGeom_MindlinPhys_Mindlin()],
            ),
            yade.NewtonIntegrator(damping=0, gravity=tuple(case.gravity), **self._fincham()),
        ]
        scene.dt = dt
        rows, n = [], 0
        for wanted in map(int, samples):
            if wanted > n:
                scene.run(wanted - n, True)
            n = wanted
            rows.append([pose_of(scene.bodies[k], frame) for k, frame in zip(numbers, frames, strict=True)])
        return tuple(np.array([[body[k] for body in row] for row in rows]) for k in range(4))

    def _sphere(self, scene, place, radius, material):
        from yade import utils

        return scene.bodies.append(utils.sphere(tuple(map(float, place)), float(radius), material=material))

    def _clump(self, scene, r, turn, mass, inertia, members, radius):
        """A clump with this mass and these moments: a sixth of it in pairs on each axis, I_x = m (d_y^2 + d_z^2)/3."""
        import yade

        reach = np.sqrt(3 * (inertia.sum() / 2 - inertia) / mass)
        heavy = yade.FrictMat(density=mass / 6 / (4 / 3 * np.pi * radius**3))
        places = [r + sign * d * axis for d, axis in zip(reach, turn.T, strict=True) for sign in (1, -1)]
        points = [self._sphere(scene, place, radius, heavy) for place in places]
        for point in points:
            scene.bodies[point].bounded = False
        return scene.bodies.clump(members + points, discretization=0)


def axes_of(state):
    """The frame in which YADE turns a body, as a rotation matrix (3, 3) to the lab, from the ``state`` of the body."""
    w = state.ori
    return matrix(np.array([w[3], w[0], w[1], w[2]]))


def pose_of(body, frame):
    """r (3,), m, and v (3,), m/s, in the lab, q (4,), scalar first, body to lab, and omega (3,), rad/s, in its frame.

    ``body`` is a body of YADE, and ``frame`` (3, 3) takes our body axes to YADE's. What turns a clump is its momentum, half a
    step old like v.
    """
    state = body.state
    axes, inertia = axes_of(state), np.array(list(state.inertia))
    spin = axes @ (axes.T @ np.array(list(state.angMom)) / inertia) if body.isClump else np.array(list(state.angVel))
    turn = axes @ frame
    return np.array(list(state.pos)), np.array(list(state.vel)), quaternion(turn), turn.T @ spin
