"""Basilisk: the hub of a spacecraft, whose attitude has modified Rodrigues parameters."""

import numpy as np
from polhode_rotations import turned_back
from polhode_sampling import stepped


class Adapter:
    """Basilisk."""

    def version(self):
        """The version of the package."""
        from importlib.metadata import version

        return version("bsk")

    def run(self, option, case, dt, samples):
        """The task runs once at the time 0, before the first step. Times are whole nanoseconds."""
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
        simulation.AddModelToTask("task", craft)
        if case.load != "free":
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

        def step():
            if case.load in ("lab", "velocity"):
                held, spin = state()
                value = turned_back(held, np.array(case.value)) if case.load == "lab" else -case.value[0] * spin
                torque.extTorquePntB_B = [[float(x)] for x in value]
            simulation.TotalSim.SingleStepProcesses()

        return stepped(samples, step, state)
