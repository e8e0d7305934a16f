"""Exudyn: a rigid body whose node has Euler parameters, a rotation vector or Lie group coordinates."""

import numpy as np
from polhode_rotations import matrix


def quaternion(a):
    """The unit quaternion (4,), scalar first, of a rotation matrix (3, 3), both body to lab, by its largest component."""
    squares = np.array([1 + a[0, 0] + a[1, 1] + a[2, 2], 1 + a[0, 0] - a[1, 1] - a[2, 2], 0, 0])
    squares[2] = 1 - a[0, 0] + a[1, 1] - a[2, 2]
    squares[3] = 1 - a[0, 0] - a[1, 1] + a[2, 2]
    k = int(np.argmax(squares))
    s = 2 * np.sqrt(squares[k])
    if k == 0:
        q = np.array([s * s / 4, a[2, 1] - a[1, 2], a[0, 2] - a[2, 0], a[1, 0] - a[0, 1]])
    elif k == 1:
        q = np.array([a[2, 1] - a[1, 2], s * s / 4, a[0, 1] + a[1, 0], a[0, 2] + a[2, 0]])
    elif k == 2:
        q = np.array([a[0, 2] - a[2, 0], a[0, 1] + a[1, 0], s * s / 4, a[1, 2] + a[2, 1]])
    else:
        q = np.array([a[1, 0] - a[0, 1], a[0, 2] + a[2, 0], a[1, 2] + a[2, 1], s * s / 4])
    q = q / s
    return q / np.linalg.norm(q)


#: Option -> type of the node, type of the solver; None: the implicit default.
CHOICES = {
    "RotationVector ExplicitEuler": ("RotationRotationVector", "ExplicitEuler"),
    "RotationVector ExplicitMidpoint": ("RotationRotationVector", "ExplicitMidpoint"),
    "RotationVector RK44": ("RotationRotationVector", "RK44"),
    "EulerParameters generalized-alpha": ("RotationEulerParameters", None),
    "RotationVector generalized-alpha": ("RotationRotationVector", None),
    "RotationVector generalized-alpha, simplified": ("RotationRotationVector", None),
}


class Adapter:
    """Exudyn.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text."""
        import exudyn

        return exudyn.__version__

    def run(self, option, case, dt, samples):
        """One rigid body, solved in one call; a function that Exudyn calls before each step reads the state at the samples.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        import exudyn as exu
        import exudyn.itemInterface as item
        import exudyn.rigidBodyUtilities as rigid

        node, solver = CHOICES[option]
        container = exu.SystemContainer()
        system = container.AddSystem()
        a, omega0 = matrix(case.q0), np.array(case.omega0)
        inertia = rigid.RigidBodyInertia(mass=1, inertiaTensor=np.diag(case.inertia))
        made = system.CreateRigidBody(
            inertia=inertia,
            nodeType=getattr(exu.NodeType, node),
            referenceRotationMatrix=a,
            initialAngularVelocity=(a @ omega0).tolist(),
            returnDict=True,
        )
        body, held = made["bodyNumber"], made["nodeNumber"]
        if case.load == "velocity":

            def friction(system, t, load):
                return (
                    -case.value[0] * np.array(system.GetNodeOutput(held, exu.OutputVariableType.AngularVelocityLocal))
                ).tolist()

            marker = system.AddMarker(item.MarkerBodyRigid(bodyNumber=body))
            system.AddLoad(
                item.Torque(markerNumber=marker, loadVector=[0, 0, 0], bodyFixed=True, loadVectorUserFunction=friction)
            )
        elif case.load != "free":
            marker = system.AddMarker(item.MarkerBodyRigid(bodyNumber=body))
            system.AddLoad(item.Torque(markerNumber=marker, loadVector=list(case.value), bodyFixed=case.load == "constant"))
        system.Assemble()
        settings = exu.SimulationSettings()
        settings.solutionSettings.writeSolutionToFile = False
        settings.solutionSettings.sensorsWritePeriod = 1e9
        settings.timeIntegration.verboseMode = 0
        settings.displayStatistics = False
        if not case.is_shipped:
            settings.timeIntegration.newton.useModifiedNewton = False
            settings.timeIntegration.newton.relativeTolerance = 1e-12
            settings.timeIntegration.newton.absoluteTolerance = 1e-14
        q, omega = np.empty((len(samples), 4)), np.empty((len(samples), 3))
        readings = {}

        def look():
            turned = np.array(system.GetNodeOutput(held, exu.OutputVariableType.RotationMatrix)).reshape(3, 3)
            return quaternion(turned), np.array(system.GetNodeOutput(held, exu.OutputVariableType.AngularVelocityLocal))

        wanted, count = {int(n) for n in samples}, [0]

        def before_step(system, t):
            if count[0] in wanted:
                readings[count[0]] = look()
            count[0] += 1
            return True

        total = int(samples[-1])
        if total:
            system.SetPreStepUserFunction(before_step)
            settings.timeIntegration.numberOfSteps = total
            settings.timeIntegration.endTime = total * dt
            settings.timeIntegration.automaticStepSize = False
            alpha = settings.timeIntegration.generalizedAlpha
            alpha.computeInitialAccelerations = True
            alpha.lieGroupSimplifiedKinematicRelations = option.endswith("simplified")
            if solver is None:
                system.SolveDynamic(settings)
            else:
                system.SolveDynamic(settings, solverType=getattr(exu.DynamicSolverType, solver))
        readings[total] = look()
        for i, n in enumerate(samples):
            q[i], omega[i] = readings[int(n)]
        return q, omega
