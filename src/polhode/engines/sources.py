"""Where the source of each engine has the step that was identified: file and function, cited and not copied.

Files and function names were looked up in public copies of the sources, which need not be of the version that was run. The
step itself was read in the source of JSBSim, and the choice between steps in that of MuJoCo; elsewhere the citation is a
pointer that was not followed to its end, and the identification rests on the measurement alone. For Exudyn and ODE's solvers
only the file is named.
"""

#: (engine, start of the option) -> file and function.
SOURCES: dict[tuple[str, str], str] = {
    ("mujoco", "Euler"): "src/engine/engine_forward.c: mj_Euler",
    ("mujoco", "implicit"): "src/engine/engine_forward.c: mj_implicitSkip",
    ("mujoco", "RK4"): "src/engine/engine_forward.c: mj_RungeKutta",
    ("pybullet", "multibody"): "src/BulletDynamics/Featherstone/btMultiBody.cpp: btMultiBody::stepPositionsMultiDof",
    (
        "pybullet",
        "rigidbody",
    ): "src/BulletDynamics/Dynamics/btRigidBody.cpp: btRigidBody::computeGyroscopicImpulseImplicit_Body",
    ("rapier3d", ""): "src/dynamics/rigid_body.rs: RigidBody::angvel_with_gyroscopic_forces",
    ("rapier3d", "1 substep, gyroscopic off"): "src/dynamics/rigid_body_components.rs: RigidBodyVelocity::integrate",
    ("lammps", "rigid"): "src/math_extra.cpp: MathExtra::richardson, called by FixRigid::initial_integrate",
    ("lammps", "rigid/nve"): "src/math_extra.cpp: MathExtra::no_squish_rotate, called by FixRigidNH::initial_integrate",
    ("lammps", "rigid/small"): "src/math_extra.cpp: MathExtra::richardson, called by FixRigidSmall::initial_integrate",
    ("lammps", "nve/asphere"): "src/math_extra.cpp: MathExtra::richardson, called by FixNVEAsphere::initial_integrate",
    ("ode", ""): "ode/src/step.cpp, ode/src/quickstep.cpp; ode/src/util.cpp: dxStepBody",
    ("jsbsim", ""): "src/models/FGPropagate.cpp: FGPropagate::Integrate",
    ("yade", "aspherical"): "pkg/dem/NewtonIntegrator.cpp: NewtonIntegrator::leapfrogAsphericalRotate",
    ("yade", "spherical"): "pkg/dem/NewtonIntegrator.cpp: NewtonIntegrator::leapfrogSphericalRotate",
    ("dartpy", ""): "dart/dynamics/FreeJoint.cpp: FreeJoint::integratePositions",
    ("drake", "discrete"): "multibody/tree/quaternion_floating_mobilizer.cc: QuaternionFloatingMobilizer::DoMapVelocityToQDot",
    ("drake", "semi_explicit_euler"): "systems/analysis/semi_explicit_euler_integrator.h: SemiExplicitEulerIntegrator::DoStep",
    ("drake", "runge_kutta2"): "systems/analysis/runge_kutta2_integrator.h: RungeKutta2Integrator::DoStep",
    ("drake", "runge_kutta3"): "systems/analysis/runge_kutta3_integrator.h: RungeKutta3Integrator::DoStep",
    ("exudyn", ""): "main/src/Solver/CSolverExplicit.cpp",
    ("bsk", ""): "src/simulation/dynamics/_GeneralModuleFiles/svIntegratorRungeKutta.h; hubEffector.cpp: computeDerivatives",
    ("sapien", ""): "physx/source/lowleveldynamics/src/DyBodyCoreIntegrator.h: bodyCoreComputeUnconstrainedVelocity",
    ("newton", ""): "newton/_src/solvers/solver.py: integrate_rigid_body",
}


def source_of(key: str, option: str) -> str:
    """File and function, empty if not known: the longest entry that the option begins with."""
    fitting = [start for engine, start in SOURCES if engine == key and option.startswith(start)]
    return SOURCES[key, max(fitting, key=len)] if fitting else ""
