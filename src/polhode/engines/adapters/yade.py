"""YADE from Debian: one clump-like body under NewtonIntegrator."""

import numpy as np
from polhode_rotations import rotated, turned_back
from polhode_sampling import stepped


class Adapter:
    """YADE."""

    def version(self):
        """The version of the program."""
        from yade import config

        return config.version

    def run(self, option, case, dt, samples):
        """The state of a body is set, then steps are taken one by one."""
        import yade

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
        newton = yade.NewtonIntegrator(damping=0, gravity=(0, 0, 0), exactAsphericalRot=option == "aspherical")
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
            if option == "spherical":
                return q, turned_back(q, np.array(list(state.angVel)))
            # What the integrator carries is the momentum; the angular velocity of the state is a by-product.
            return q, turned_back(q, np.array(list(state.angMom))) / inertia

        def step():
            if held != "free":
                scene.forces.reset()
                scene.forces.setPermT(number, yade.Vector3(*torque()))
            scene.step()

        return stepped(samples, step, pose)
