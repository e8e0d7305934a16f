"""Drake: a MultibodyPlant with one floating body, discrete or continuous."""

import numpy as np
from polhode_rotations import rotated, turned_back


class Adapter:
    """Drake.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text."""
        from importlib.metadata import version

        return version("drake")

    def run(self, option, case, dt, samples):
        """A leaf system computes the torque from the state of the plant.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        from pydrake.common.eigen_geometry import Quaternion
        from pydrake.common.value import Value
        from pydrake.math import RigidTransform
        from pydrake.multibody.math import SpatialForce, SpatialVelocity
        from pydrake.multibody.plant import ExternallyAppliedSpatialForce, MultibodyPlant
        from pydrake.multibody.tree import SpatialInertia, UnitInertia
        from pydrake.systems.analysis import Simulator
        from pydrake.systems.framework import DiagramBuilder, LeafSystem

        builder = DiagramBuilder()
        plant = builder.AddSystem(MultibodyPlant(time_step=dt if option == "discrete" else 0.0))
        plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))
        body = plant.AddRigidBody("body", SpatialInertia(1.0, np.zeros(3), UnitInertia(*map(float, case.inertia))))
        plant.Finalize()

        class Torque(LeafSystem):
            def __init__(self):
                super().__init__()
                self.DeclareVectorInputPort("state", 13)
                self.DeclareAbstractOutputPort("out", lambda: Value([ExternallyAppliedSpatialForce()]), self.compute)

            def compute(self, context, output):
                state = self.get_input_port(0).Eval(context)
                q = state[:4] / np.linalg.norm(state[:4])
                if case.load == "lab":
                    torque = np.array(case.value)
                elif case.load == "constant":
                    torque = rotated(q, np.array(case.value))
                else:
                    torque = -case.value[0] * state[7:10]
                force = ExternallyAppliedSpatialForce()
                force.body_index = body.index()
                force.p_BoBq_B = np.zeros(3)
                force.F_Bq_W = SpatialForce(tau=torque, f=np.zeros(3))
                output.set_value([force])

        if case.load != "free":
            torque = builder.AddSystem(Torque())
            builder.Connect(plant.get_state_output_port(), torque.get_input_port(0))
            builder.Connect(torque.get_output_port(0), plant.get_applied_spatial_force_input_port())
        diagram = builder.Build()
        simulator = Simulator(diagram)
        context = simulator.get_mutable_context()
        plant_context = plant.GetMyMutableContextFromRoot(context)
        q0 = np.array(case.q0) / np.linalg.norm(case.q0)
        plant.SetFreeBodyPose(plant_context, body, RigidTransform(Quaternion(q0), np.zeros(3)))
        spin = rotated(q0, np.array(case.omega0))
        plant.SetFreeBodySpatialVelocity(plant_context, body, SpatialVelocity(w=spin, v=np.zeros(3)))
        if option != "discrete":
            from pydrake.systems.analysis import ResetIntegratorFromFlags

            ResetIntegratorFromFlags(simulator, option, dt)
            integrator = simulator.get_mutable_integrator()
            if option != "semi_explicit_euler" and not case.is_shipped:
                integrator.set_fixed_step_mode(True)
            integrator.set_maximum_step_size(dt)
        simulator.set_publish_every_time_step(False)
        simulator.Initialize()
        q, omega, n = np.empty((len(samples), 4)), np.empty((len(samples), 3)), 0
        for i, wanted in enumerate(samples):
            while n < wanted:
                n += 1
                simulator.AdvanceTo(n * dt)
            state = plant.GetPositionsAndVelocities(plant_context)
            # Not normalised by Drake; the angular velocity is in the lab.
            q[i] = state[:4] / np.linalg.norm(state[:4])
            omega[i] = turned_back(q[i], state[7:10])
        return q, omega
