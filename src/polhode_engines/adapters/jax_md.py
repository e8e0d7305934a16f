"""JAX MD: one rigid body at constant energy, with jax in double precision; its step in s is of single precision always."""

import numpy as np
from polhode_sampling import in_one_call, sampled


class Adapter:
    """JAX MD.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def __init__(self):
        self._compiled = {}
        self._momentum = None

    def version(self):
        """The version of the package, as text."""
        from importlib.metadata import version

        return version("jax-md")

    def run(self, option, case, dt, samples):
        """The torque is the force on the quaternion; any number of steps in one call, compiled once for each load.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        import jax

        jax.config.update("jax_enable_x64", True)
        import jax.numpy as jnp
        from jax_md import rigid_body, simulate, space

        def product(p, q):
            return (rigid_body.Quaternion(p) * rigid_body.Quaternion(q)).vec

        def force(body, torque, **_):
            q, pure = body.orientation.vec, jnp.concatenate((jnp.zeros((1, 1)), torque), axis=1)
            covector = product(pure, q) if case.load == "lab" else product(q, pure)
            return rigid_body.RigidBody(jnp.zeros((1, 3)), rigid_body.Quaternion(2 * covector))

        start, step = simulate.nve(force, space.free()[1])
        q = rigid_body.Quaternion(jnp.array([case.q0]))
        body = rigid_body.RigidBody(jnp.zeros((1, 3)), q)
        mass = rigid_body.RigidBody(jnp.ones((1, 1)), jnp.array([case.inertia]))
        torque = jnp.array([case.value if case.load != "free" else (0.0, 0.0, 0.0)])
        momentum = jnp.array([case.inertia]) * jnp.array([case.omega0])
        state = start(jax.random.PRNGKey(0), body, 1.0, mass=mass, torque=torque)
        turned = rigid_body.angular_momentum_to_conjugate_momentum(q, momentum)
        state = state.set(momentum=rigid_body.RigidBody(jnp.zeros((1, 3)), turned))
        if case.load not in self._compiled:
            self._compiled[case.load] = in_one_call(jax, lambda now, torque, dt: step(now, torque=torque, dt=dt))
        compiled = self._compiled[case.load]
        self._momentum = self._momentum or jax.jit(rigid_body.conjugate_momentum_to_angular_momentum)

        def read(now):
            q, p = now.position.orientation, now.momentum.orientation
            return np.asarray(q.vec)[0], np.asarray(self._momentum(q, p))[0] / np.array(case.inertia)

        return sampled(samples, state, lambda now, count: compiled(count, now, torque, dt), read)
