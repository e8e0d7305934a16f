"""Where the source of each engine has the step that was identified: file, function and lines, cited and not copied.

A citation is *read* if the arithmetic of the cited lines was read; where a method was identified it is that method's. Lines are
those of the release or commit that the citation names, which need not be the version that was run: only PyBullet, the Open
Dynamics Engine, JSBSim, Basilisk, Newton, MJX, Brax and Siconos were read in the very release. Lines of Drake, PhysX, Simbody,
Kratos, Rapier, Exudyn and JaxDEM were counted by hand; where a file was seen in pieces they are those of the function, whose
first line is the one with its name. Where the source at hand does something else than was measured, or was not at hand, the
citation is not read, and the identification rests on the measurement alone.
"""

from dataclasses import dataclass

from polhode.engines.protocol import all_engines


@dataclass(frozen=True)
class Source:
    """One place in the source of an engine.

    Parameters
    ----------
    file, function : str
        Path in the repository of the engine; the function, or the functions.
    lines : str
        Ranges of lines (``297-334``), empty if they were not counted.
    inside : bool
        Whether the lines are counted from the one with the name of the function, which is the first, and not from the file's.
    of : str
        The release, or the beginning of the commit, that was looked at; empty if none was.
    read : bool
        Whether the arithmetic was read; if a method was identified, it is that.
    note : str
        What else is worth knowing.
    """

    file: str
    function: str
    lines: str = ""
    of: str = ""
    read: bool = True
    note: str = ""
    inside: bool = False

    @property
    def text(self) -> str:
        """The citation in one line."""
        where = f"{self.file}: {self.function}"
        if self.lines:
            where += f", line{'s' if set(self.lines) & set('-,') else ''} {self.lines}"
            where += " of the function" if self.inside else ""
        status = "" if self.lines else "lines not counted" if self.read else "not read"
        return f"{where} ({', '.join(filter(None, [self.of, status]))})"


BULLET, ODE, JSBSIM, BASILISK, NEWTON = "3.2.7", "0.16.2", "1.3.3", "2.12.1", "1.8.0"
SICONOS, SIMBODY_RELEASE = "4.4.0", "Simbody 3.7"
UNDATED = "undated copy"
LAMMPS, YADE, DART, MUJOCO = "4 Feb 2025", "2025.2.0", "6.12.1", "2.2.2"
FEATHERSTONE = "src/BulletDynamics/Featherstone/btMultiBody.cpp"
GAIN = Source(
    FEATHERSTONE,
    "computeAccelerationsArticulatedBodyAlgorithmMultiDof",
    "838-848, 1108-1109",
    BULLET,
    note="Euler's equations at the old state, with a damping of 0.04 (1 + |omega|) unless it is set to 0.",
)
STEPPED = Source(FEATHERSTONE, "stepPositionsMultiDof", "1813-1851", BULLET, note="Turns by at most a quarter of pi in a step.")
RICHARDSON = Source("src/math_extra.cpp", "MathExtra::richardson", "100-144", LAMMPS)
PHYSX = "physx/source/lowleveldynamics/src/DyTGSDynamics.cpp"
GYROSCOPIC_PHYSX = Source(
    PHYSX,
    "copyToSolverBodyDataStep",
    "180-196",
    "176bc52",
    note="SAPIEN runs this solver (enable_tgs); the other one has the same lines in DyRigidBodyToSolverBody.cpp.",
)
ENGINE_FORWARD = "src/engine/engine_forward.c"
ADVANCE = Source(ENGINE_FORWARD, "mj_EulerSkip, mj_advance", "460-484, 487-529", MUJOCO, note="Version 4.0.0 was not at hand.")
INTEGRATE = Source("src/engine/engine_util_spatial.c", "mju_quatIntegrate", "236-246", MUJOCO)
FREE_BODIES = Source(
    "src/engine/engine_derivative.c",
    "mjd_freeMhat",
    "11-47",
    UNDATED,
    inside=True,
    note="mj_implicitSkip of 0041fdc leaves the gyroscopic derivative out; later releases solve free bodies apart "
    "(mujoco #3553, pull request #3554), as the undated copy does. Version 4.0.0 was not at hand.",
)
GYROSCOPIC_DERIVATIVE = Source(FREE_BODIES.file, "freeBias_vel_blocks", "5-21, 48-66", UNDATED, inside=True)
FREE_BODY_SOLVED = Source(ENGINE_FORWARD, "mj_implicitSkip", "99-118", UNDATED, inside=True)
SUBSTEPS = Source(
    "src/dynamics/solver/staged_island_solver/worker.rs",
    "run_worker",
    "76, 261-285, 655-665",
    "257579f",
    note="In each substep: the increment by the torque, which is formed once; the gyroscopic correction with the orientation "
    "of the last substep; a linear rotation.",
)
CORRECTED = Source(
    "src/dynamics/rigid_body.rs",
    "gyroscopic_corrected_angvel",
    "11-20",
    "0016f2f",
    inside=True,
    note="The method angvel_with_gyroscopic_forces only predicts.",
)
LINEARISED = Source(
    "src/dynamics/rigid_body_components.rs",
    "RigidBodyVelocity::integrate_linearized",
    "9-13",
    UNDATED,
    inside=True,
    note="Of the two functions of this name, that for three dimensions.",
)
LACOURSIERE = Source("ode/src/step.cpp", "dxStepIsland_Stage0_Bodies, dxStepIsland_Stage4", "656-703, 1571-1578", ODE)
EXPLICIT_EXUDYN = "main/src/Solver/CSolverExplicit.cpp"
LIE_GROUP = (
    Source(EXPLICIT_EXUDYN, "Newton", "49-68, 85-94, 115-131", "00f5cfd", inside=True),
    Source(EXPLICIT_EXUDYN, "UpdateODE2StageCoordinatesLieGroup", "28-51", "00f5cfd", inside=True),
    Source(
        EXPLICIT_EXUDYN,
        "LieGroupComputeKstage",
        "19-37",
        "00f5cfd",
        inside=True,
        note="The inverse of the tangent of the exponential at every stage: Munthe-Kaas.",
    ),
    Source(EXPLICIT_EXUDYN, "LieGroupODE2StepEvaluation", "28-48", "00f5cfd", inside=True),
)


def _tableau(lines: str) -> Source:
    """The coefficients of one explicit method of Exudyn."""
    return Source(EXPLICIT_EXUDYN, "ComputeButcherTableau", lines, "00f5cfd", inside=True)


PROPAGATE = "src/models/FGPropagate.cpp"
EULER_RATES = Source(
    "src/models/FGAccelerations.cpp", "FGAccelerations::CalculatePQRdot", "161", JSBSIM, note="Euler's equations in the body."
)
EXCHANGED = "The cross product of Barker's formula has its factors exchanged."
FILLED = "The rates before the start are those of the start, which leaves the method of second order for the whole run."
GENERALISED_ALPHA = Source("main/src/Solver/CSolverImplicitSecondOrder.cpp", "CSolverImplicitSecondOrderTimeInt", read=False)
MRP = Source(
    "src/simulation/dynamics/_GeneralModuleFiles/hubEffector.cpp",
    "HubEffector::computeHubOnlyDerivatives, computeDerivatives",
    "271-278, 221-236",
    BASILISK,
    note="Rates of modified Rodrigues parameters and of omega in the body; the shadow set beyond half a turn (lines 318-319).",
)
RUNGE_KUTTA = Source(
    "src/simulation/dynamics/_GeneralModuleFiles/svIntegratorRungeKutta.h",
    "svIntegratorRungeKutta::integrate, propagateStateWithKVectors",
    "153-163, 205-238",
    BASILISK,
)
RATE_OF_Q = Source(
    "multibody/tree/quaternion_floating_mobilizer.cc",
    "QuaternionFloatingMobilizer::CalcLMatrix, AngularVelocityToQuaternionRateMatrix, MapVelocityToQDot",
    "274-283, 292-293, 342-345",
    "0311ddd",
    note="omega in the lab; the quaternion is not normalised.",
)
RIGID_BODY = Source(
    "newton/_src/solvers/solver.py",
    "integrate_rigid_body",
    "101-109",
    NEWTON,
    note="Euler's equations at the old state, a linear rotation with the new omega, then damping.",
)

MJX_FORWARD, MJX = "mjx/mujoco/mjx/_src/forward.py", "3.17.0"
MJX_INTEGRATE = Source("mjx/mujoco/mjx/_src/math.py", "quat_integrate", "231-237", MJX)
MJX_EULER = Source(MJX_FORWARD, "euler, _advance", "402-419, 374-398", MJX)
BRAX = "0.14.2"
NO_GYROSCOPIC = "The acceleration is the inverse inertia times the torque, without the gyroscopic term."

SIMBODY = "SimTKmath/Integrators/src/"
KRATOS = "applications/DEMApplication/custom_strategies/schemes/"
TURNED = Source(
    "applications/DEMApplication/custom_utilities/GeometryFunctions.h",
    "UpdateOrientation",
    "3-21",
    "14b21ee",
    inside=True,
    note="The same lines in all functions of this name. The exact rotation; for half angles below 3e-4 the first terms of the "
    "series, with the sign of the cosine's second term wrong; the steps measured here are larger.",
)
MOREAU = Source(
    "kernel/src/simulationTools/MoreauJeanOSI.cpp",
    "MoreauJeanOSI::computeResidu",
    "923, 936-937, 950-952",
    SICONOS,
    note="The theta method for the twist, solved by Newton's iteration.",
)
COMPOSED = Source(
    "kernel/src/simulationTools/MoreauJeanOSI.cpp",
    "MoreauJeanOSI::updatePosition",
    "1646-1658",
    SICONOS,
    note="The exact rotation with the same mean of old and new; 5ea7722 adds rates of the quaternion instead.",
)

#: (engine, start of the option) -> where its step is.
SOURCES: dict[tuple[str, str], tuple[Source, ...]] = {
    ("mujoco", "Euler"): (ADVANCE, INTEGRATE),
    ("mujoco", "implicit"): (Source(ENGINE_FORWARD, "mj_implicitSkip", "647-679", MUJOCO, note=ADVANCE.note), INTEGRATE),
    ("mujoco", "implicitfast"): (FREE_BODY_SOLVED, FREE_BODIES, GYROSCOPIC_DERIVATIVE, INTEGRATE),
    ("mujoco", "discrete"): (Source(ENGINE_FORWARD, "mj_discrete", read=False, note="Only its declaration was at hand."),),
    ("mujoco", "RK4"): (
        Source(
            ENGINE_FORWARD,
            "mj_RungeKutta",
            read=False,
            note="Up to 94803d7 (lines 554-642 of release 2.2.2) it turns the body once by the mean of the stages' angular "
            "velocities, which is of second order in q, and so it does in the later undated copy; 4.0.0, of fourth by "
            "measurement, was not at hand.",
        ),
    ),
    ("mujoco_mjx", "Euler"): (MJX_EULER, MJX_INTEGRATE),
    ("mujoco_mjx", "implicitfast"): (
        Source(
            MJX_FORWARD,
            "implicit, _advance",
            "468-484, 374-398",
            MJX,
            note="The derivative (deriv_smooth_vel) has damping and actuators, not the gyroscopic term: Euler for a free body.",
        ),
        MJX_INTEGRATE,
    ),
    ("mujoco_mjx", "RK4"): (
        Source(
            MJX_FORWARD,
            "rungekutta4, _advance",
            "423-464, 374-398",
            MJX,
            note="Turns the body once by the weighted mean of the stages' angular velocities, as MuJoCo did up to 94803d7.",
        ),
        MJX_INTEGRATE,
    ),
    ("brax", "generalized"): (
        Source(
            "brax/generalized/integrator.py",
            "integrate, _integrate_q_free",
            "46-84, 31-43",
            BRAX,
            note="An explicit kick and the exact rotation, but the length of omega is increased by 1e-8 where the axis and the "
            "angle are formed.",
        ),
    ),
    ("brax", "spring"): (
        Source("brax/spring/pipeline.py", "step", "78-131", BRAX, note=NO_GYROSCOPIC),
        Source("brax/spring/integrator.py", "integrate", "26-62", BRAX),
    ),
    ("brax", "positional"): (
        Source("brax/positional/pipeline.py", "step", "63-124", BRAX, note=NO_GYROSCOPIC),
        Source(
            "brax/positional/integrator.py",
            "integrate_xdd, project_xd",
            "46-78, 81-105",
            BRAX,
            note="omega is formed anew from the vector part of the relative quaternion, that is 2 sin(angle/2) in the place of "
            "the angle, after a linear rotation.",
        ),
    ),
    ("kratosdem", "Symplectic_Euler"): (
        Source(
            KRATOS + "symplectic_euler_scheme.cpp",
            "CalculateNewRotationalVariablesOfRigidBodyElements, UpdateRotationalVariables",
            "114-126, 139-143",
            "1880b26",
            note="Explicit kick in the body, turned into the lab and back with the old and the new orientation.",
        ),
        TURNED,
    ),
    ("kratosdem", "Forward_Euler"): (
        Source(
            KRATOS + "forward_euler_scheme.cpp",
            "CalculateNewRotationalVariablesOfRigidBodyElements, UpdateRotationalVariables",
            "80-92, 105-109",
            "2632ae2",
            note="omega is kept in the lab while the body turns with the old one.",
        ),
        TURNED,
    ),
    ("kratosdem", "Taylor_Scheme"): (
        Source(
            KRATOS + "taylor_scheme.cpp",
            "CalculateNewRotationalVariablesOfRigidBodyElements, UpdateRotationalVariables",
            "80-92, 105-109",
            "18aa6bf",
            note="omega is kept in the lab while the body turns with the mean of old and new.",
        ),
        TURNED,
    ),
    ("kratosdem", "Velocity_Verlet"): (
        Source(
            KRATOS + "velocity_verlet_scheme.cpp",
            "CalculateNewRotationalVariablesOfRigidBodyElements, UpdateRotationalVariables",
            "91-106, 119-137",
            "650ccb2",
            note="The half step of omega is kept in the lab while the body turns, which costs an order.",
        ),
        TURNED,
    ),
    ("kratosdem", "Runge_Kutta"): (
        Source(
            KRATOS + "runge_kutta_scheme.cpp",
            "CalculateNewRotationalVariablesOfRigidBodyElements, CalculateAngularVelocityRK",
            "104-117, 163-178, 252-267, 278-287",
            "2632ae2",
            note="Munjiza's method: the momentum in the lab is kicked, the body turns with the mean of four rates.",
        ),
        TURNED,
    ),
    ("kratosdem", "Quaternion_Integration"): (
        Source(
            KRATOS + "quaternion_integration_scheme.cpp",
            "CalculateNewRotationalVariablesOfRigidBodyElements",
            "145-164",
            "2632ae2",
            note="After the midpoint rule for omega the body turns from its old orientation by the omega of the step's end.",
        ),
        TURNED,
    ),
    ("opensim", "RungeKuttaMerson"): (
        Source(
            SIMBODY + "RungeKuttaMersonIntegrator.cpp",
            "RungeKuttaMersonIntegratorRep::attemptODEStep",
            "110-129",
            "20509ab",
            note="The weights of the fourth order; fixed steps are not repeated.",
        ),
    ),
    ("opensim", "RungeKuttaFeldberg"): (
        Source(
            SIMBODY + "RungeKuttaFeldbergIntegrator.cpp",
            "RungeKuttaFeldbergIntegratorRep::attemptODEStep",
            "62-95, 121-146",
            "40e7223",
            note="The weights of the fourth order are propagated, those of the fifth are not used.",
        ),
    ),
    ("opensim", "RungeKutta3"): (
        Source(SIMBODY + "RungeKutta3Integrator.cpp", "RungeKutta3IntegratorRep::attemptODEStep", "102-113", "44e4d2e"),
    ),
    ("opensim", "RungeKutta2"): (
        Source(SIMBODY + "RungeKutta2Integrator.cpp", "RungeKutta2IntegratorRep::attemptODEStep", "100-108", SIMBODY_RELEASE),
    ),
    ("opensim", "ExplicitEuler"): (
        Source(SIMBODY + "ExplicitEulerIntegrator.cpp", "ExplicitEulerIntegratorRep::attemptDAEStep", "191-195", "0e255c0"),
    ),
    ("opensim", "SemiExplicitEuler2"): (
        Source(
            SIMBODY + "SemiExplicitEuler2Integrator.cpp",
            "SemiExplicitEuler2IntegratorRep::attemptDAEStep",
            "190-221",
            SIMBODY_RELEASE,
            note="The two half steps are propagated, without the extrapolation of the name.",
        ),
    ),
    ("opensim", "Verlet"): (
        Source(
            SIMBODY + "VerletIntegrator.cpp",
            "VerletIntegratorRep::attemptDAEStep",
            "103-104, 145-189",
            SIMBODY_RELEASE,
            note="The trapezoidal rule for omega is iterated to 1e-4 of its change at most.",
        ),
    ),
    ("siconos", ""): (MOREAU, COMPOSED),
    ("pybullet", "multibody"): (GAIN, STEPPED),
    ("pybullet", "rigidbody"): (
        Source(
            "src/BulletDynamics/Dynamics/btRigidBody.cpp",
            "computeGyroscopicImpulseImplicit_Body",
            "297-334",
            BULLET,
            note="One Newton step of the free body from the old omega; the torque is added to it.",
        ),
        Source(
            "src/BulletDynamics/ConstraintSolver/btSequentialImpulseConstraintSolver.cpp",
            "initSolverBody, convertBodies",
            "478, 1394-1398",
            BULLET,
        ),
        Source("src/LinearMath/btTransformUtil.h", "btTransformUtil::integrateTransform", "32-82", BULLET),
    ),
    ("rapier3d", ""): (SUBSTEPS, CORRECTED, LINEARISED),
    ("rapier3d", "1 substep, gyroscopic off"): (SUBSTEPS, LINEARISED),
    ("lammps", "rigid"): (
        Source("src/RIGID/fix_rigid.cpp", "FixRigid::initial_integrate, final_integrate", "938-952, 1024-1029", LAMMPS),
        RICHARDSON,
    ),
    ("lammps", "rigid/nve"): (
        Source("src/RIGID/fix_rigid_nh.cpp", "FixRigidNH::initial_integrate, final_integrate", "491-513, 644-669", LAMMPS),
        Source("src/math_extra.cpp", "MathExtra::no_squish_rotate", "203-246", LAMMPS),
    ),
    ("lammps", "rigid/small"): (
        Source("src/RIGID/fix_rigid_small.cpp", "FixRigidSmall::initial_integrate", "753-765", LAMMPS),
        RICHARDSON,
    ),
    ("lammps", "nve/asphere"): (
        Source(
            "src/ASPHERE/fix_nve_asphere.cpp", "FixNVEAsphere::initial_integrate, final_integrate", "95-113, 139-141", LAMMPS
        ),
        RICHARDSON,
    ),
    ("ode", "step"): (LACOURSIERE, Source("ode/src/util.cpp", "dxStepBody", "651-659", ODE)),
    ("ode", "quickStep"): (
        Source(
            "ode/src/quickstep.cpp",
            "dxQuickStepIsland_Stage0_Bodies, dxQuickStepIsland_Stage6a",
            "1208-1254, 3129-3133",
            ODE,
        ),
        Source("ode/src/util.cpp", "dxStepBody", "651-659", ODE),
    ),
    ("ode", "step, finite rotation"): (
        LACOURSIERE,
        Source(
            "ode/src/util.cpp",
            "dxStepBody",
            "626-642, 659",
            ODE,
            note="The kick of the other options with an exact rotation.",
        ),
    ),
    ("jsbsim", "as shipped"): (
        Source(
            PROPAGATE,
            "FGPropagate::InitModel, Run, Integrate",
            "129-131, 226-227, 344, 383",
            JSBSIM,
            note="The orientation first, with the rates of the old state; both rules are Euler's.",
        ),
        EULER_RATES,
    ),
    ("jsbsim", "rate AB2, orientation Buss 2"): (
        Source(PROPAGATE, "FGPropagate::Integrate", "348, 404-414", JSBSIM),
        EULER_RATES,
    ),
    ("jsbsim", "rate AB4, orientation Buss 2"): (
        Source(PROPAGATE, "FGPropagate::Integrate", "352, 404-414", JSBSIM),
        EULER_RATES,
    ),
    ("jsbsim", "rate AB4, orientation local linearisation"): (
        Source(PROPAGATE, "FGPropagate::Integrate", "352, 415-438", JSBSIM, note=EXCHANGED),
        EULER_RATES,
    ),
    ("jsbsim", "rate AB2, orientation local linearisation"): (
        Source(PROPAGATE, "FGPropagate::Integrate", "348, 415-438", JSBSIM, note=EXCHANGED),
        EULER_RATES,
    ),
    ("jsbsim", "AB3"): (Source(PROPAGATE, "FGPropagate::Integrate", "350, 389", JSBSIM, note=FILLED), EULER_RATES),
    ("jsbsim", "AB4"): (Source(PROPAGATE, "FGPropagate::Integrate", "352, 391", JSBSIM, note=FILLED), EULER_RATES),
    ("jsbsim", "trapezoidal"): (
        Source(
            PROPAGATE,
            "FGPropagate::Integrate",
            "346, 385",
            JSBSIM,
            note="The mean of the rates of this step and the last, which is no trapezoidal rule and of first order.",
        ),
        EULER_RATES,
    ),
    ("jsbsim", "rate Euler, orientation Buss 1"): (
        Source(PROPAGATE, "FGPropagate::Integrate", "344, 395-403", JSBSIM),
        EULER_RATES,
    ),
    ("yade", "aspherical"): (
        Source(
            "pkg/dem/NewtonIntegrator.cpp",
            "NewtonIntegrator::leapfrogAsphericalRotate",
            "351-370",
            YADE,
            note="The momentum of the half step is turned with the matrix of the old orientation (lines 355 and 363), which "
            "costs an order. In this release it must be asked for (rotAlgorithm): the default is delValle2023, SPIRAL's "
            "leapfrog (lines 415-446). The release that was run has no such choice.",
        ),
    ),
    ("yade", "spherical"): (
        Source(
            "pkg/dem/NewtonIntegrator.cpp",
            "NewtonIntegrator::action, leapfrogSphericalRotate",
            "267-271, 339-349",
            YADE,
            note="The torque in the lab is divided by the moments of the body, component by component.",
        ),
    ),
    ("dartpy", ""): (
        Source("dart/simulation/World.cpp", "World::step", "170-195", DART),
        Source("dart/dynamics/BodyNode.cpp", "BodyNode::updateBiasForce", "1740", DART),
        Source(
            "dart/dynamics/FreeJoint.cpp",
            "FreeJoint::integratePositions",
            "590-596",
            DART,
            note="Written anew since (01a1f50, read), with the same arithmetic for a rotation.",
        ),
    ),
    ("drake", "discrete"): (
        Source("multibody/plant/compliant_contact_manager.cc", "DoCalcDiscreteValues", "14-23", "0094d4c", inside=True),
        RATE_OF_Q,
    ),
    ("drake", "semi_explicit_euler"): (
        Source("systems/analysis/semi_explicit_euler_integrator.h", "DoStep", "145, 151-158", "21a9bc0"),
        RATE_OF_Q,
    ),
    ("drake", "runge_kutta2"): (
        Source("systems/analysis/runge_kutta2_integrator.h", "DoStep", "76-99", "07623e9"),
        RATE_OF_Q,
    ),
    ("drake", "runge_kutta3"): (
        Source("systems/analysis/runge_kutta3_integrator.cc", "DoStep", "70-130", "1bfa5b1"),
        RATE_OF_Q,
    ),
    ("drake", "implicit_euler"): (
        Source(
            "systems/analysis/implicit_euler_integrator.cc",
            "StepImplicitEuler, DoImplicitIntegratorStep",
            of="1a2cfe7",
            note="Fully implicit in q and omega, solved by Newton's method to a tolerance: no candidate is that.",
        ),
        RATE_OF_Q,
    ),
    ("exudyn", "RotationVector ExplicitEuler"): (_tableau("10-12"), *LIE_GROUP),
    ("exudyn", "RotationVector ExplicitMidpoint"): (_tableau("19-22"), *LIE_GROUP),
    ("exudyn", "RotationVector RK44"): (_tableau("40-45"), *LIE_GROUP),
    ("exudyn", "EulerParameters generalized-alpha"): (GENERALISED_ALPHA,),
    ("exudyn", "RotationVector generalized-alpha"): (GENERALISED_ALPHA,),
    ("exudyn", "RotationVector generalized-alpha, simplified"): (
        Source(
            GENERALISED_ALPHA.file,
            "ComputeNewtonUpdate",
            "27-28, 42, 53-63, 86-88, 112-122",
            "ca7f848",
            inside=True,
            note="From before the option: the increment from the start of the step is composed with the orientation there.",
        ),
        Source(GENERALISED_ALPHA.file, "UpdateDataCoordinatesLieGroupIntegrator", "13-23", "ca7f848", inside=True),
    ),
    ("bsk", "RK4"): (
        Source("src/simulation/dynamics/_GeneralModuleFiles/svIntegratorRK4.cpp", "getCoefficients", "27-39", BASILISK),
        RUNGE_KUTTA,
        MRP,
    ),
    ("bsk", "RK2"): (
        Source("src/simulation/dynamics/Integrators/svIntegratorRK2.cpp", "getCoefficients", "27-38", BASILISK),
        RUNGE_KUTTA,
        MRP,
    ),
    ("bsk", "Euler"): (
        Source("src/simulation/dynamics/Integrators/svIntegratorEuler.cpp", "getCoefficients", "27-34", BASILISK),
        RUNGE_KUTTA,
        MRP,
    ),
    ("sapien", ""): (
        GYROSCOPIC_PHYSX,
        Source(PHYSX, "integrateCoreStep", "25-27, 47-58", "undated copy of PhysX 5", inside=True),
        Source(PHYSX, "copyBackBodies", "18, 24-27", "undated copy of PhysX 5", inside=True),
    ),
    ("sapien", "CPU as shipped"): (
        Source(
            "physx/source/lowleveldynamics/src/DyBodyCoreIntegrator.h",
            "bodyCoreComputeUnconstrainedVelocity",
            "50-65, 73-77",
            "3ca45ad",
            note="omega times 1 - c dt, after the torque and before the gyroscopic term; then the limit on its length.",
        ),
        GYROSCOPIC_PHYSX,
    ),
    ("newton", ""): (RIGID_BODY,),
}


def sources_of(key: str, option: str) -> tuple[Source, ...]:
    """The places of the longest entry that the option begins with; nothing if there is none."""
    fitting = [start for engine, start in SOURCES if engine == key and option.startswith(start)]
    return SOURCES[key, max(fitting, key=len)] if fitting else ()


def source_of(key: str, option: str) -> str:
    """The citations of an option in one text; what its adapter declares, not read, if there are none here; else empty."""
    places = sources_of(key, option)
    if places:
        return "; ".join(place.text for place in places)
    engine = all_engines().get(key)
    declared = engine.sources.get(option, "") if engine else ""
    return f"{declared} (not read)" if declared else ""


def is_read(key: str, option: str) -> bool:
    """Whether every place of an option was read."""
    places = sources_of(key, option)
    return bool(places) and all(place.read for place in places)


def notes_of(key: str, option: str) -> str:
    """The notes of an option."""
    return " ".join(dict.fromkeys(place.note for place in sources_of(key, option) if place.note))
