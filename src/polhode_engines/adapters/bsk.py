"""Basilisk: the hub of a spacecraft, whose attitude has modified Rodrigues parameters."""

import numpy as np
from polhode_rotations import turned_back
from polhode_sampling import stepped


def _wheel(simulation, craft, value):
    """A balanced reaction wheel without friction, and the function that sets the torque of its motor, N m.

    ``value`` is its axis, its moment (kg m^2; the hub's moments hold it, too) and its speed in the body (rad/s), then what
    decides the torque: a constant (N m), a factor of the body's rate about the axis (N m s), and the time between two samples
    of it (s; 0: each step).
    """
    from Basilisk.architecture import messaging
    from Basilisk.simulation import reactionWheelStateEffector
    from Basilisk.utilities import simIncludeRW

    factory = simIncludeRW.rwFactory()
    made = factory.create("custom", list(value[:3]), Js=value[3], useMaxTorque=False)
    made.Omega = value[4]
    effector = reactionWheelStateEffector.ReactionWheelStateEffector()
    factory.addToSpacecraft("wheels", effector, craft)
    message = messaging.ArrayMotorTorqueMsg()
    effector.rwMotorCmdInMsg.subscribeTo(message)
    # Before the spacecraft, so that a torque acts in the step that follows.
    simulation.AddModelToTask("task", effector)

    def command(torque):
        message.write(messaging.ArrayMotorTorqueMsgPayload(motorTorque=[float(torque)]), simulation.TotalSim.CurrentNanos)

    return (factory, effector, message), command


class Adapter:
    """Basilisk.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text."""
        from importlib.metadata import version

        return version("bsk")

    def run(self, option, case, dt, samples):
        """The task runs once at the time 0, before the first step. Times are whole nanoseconds. It returns q (n, 4), body to
        lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples. The load ``wheel`` is no torque but a reaction
        wheel, whose numbers :func:`polhode_engines.wheels.run_of` lists.
        """
        from Basilisk.simulation import extForceTorque, spacecraft, svIntegrators
        from Basilisk.utilities import SimulationBaseClass

        simulation = SimulationBaseClass.SimBaseClass()
        process = simulation.CreateNewProcess("process")
        step = round(dt * 1e9)
        process.addTask(simulation.CreateNewTask("task", step))
        craft = spacecraft.Spacecraft()
        craft.hub.mHub = 1.0
        craft.hub.IHubPntBc_B = np.diag(case.inertia).tolist()
        q0 = np.array(case.q0) if case.q0[0] >= 0 else -np.array(case.q0)
        craft.hub.sigma_BNInit = [[x] for x in q0[1:] / (1 + q0[0])]
        craft.hub.omega_BN_BInit = [[x] for x in case.omega0]
        wheel, command = _wheel(simulation, craft, case.value) if case.load == "wheel" else (None, None)
        simulation.AddModelToTask("task", craft)
        if case.load not in ("free", "wheel"):
            torque = extForceTorque.ExtForceTorque()
            torque.extTorquePntB_B = [[x] for x in (case.value if case.load == "constant" else (0.0, 0.0, 0.0))]
            craft.addDynamicEffector(torque)
            simulation.AddModelToTask("task", torque)
        integrator = getattr(svIntegrators, f"svIntegrator{option}")(craft)
        craft.setIntegrator(integrator)
        simulation.InitializeSimulation()
        simulation.TotalSim.SingleStepProcesses()

        def state():
            message = craft.scStateOutMsg.read()
            sigma = np.array(message.sigma_BN)
            square = sigma @ sigma
            return np.array([1 - square, *(2 * sigma)]) / (1 + square), np.array(message.omega_BN_B)

        steps = 0

        def step():
            nonlocal steps
            if wheel:
                *axis, _, _, constant, gain, every = case.value
                if steps % max(1, round(every / dt)) == 0:
                    command(constant + gain * np.dot(axis, state()[1]))
                steps += 1
            if case.load in ("lab", "velocity"):
                held, spin = state()
                value = turned_back(held, np.array(case.value)) if case.load == "lab" else -case.value[0] * spin
                torque.extTorquePntB_B = [[float(x)] for x in value]
            simulation.TotalSim.SingleStepProcesses()

        return stepped(samples, step, state)
