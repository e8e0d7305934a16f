/* Jolt for the web, in single precision. */

export const version = (packages) => packages.version("jolt-physics");
export async function load(packages) {
    const { default: make } = await packages.module("jolt-physics/dist/jolt-physics.wasm-compat.js");
    return make();
}

const FAST = 1e6;

export function start(jolt, option, { inertia, q, omega, dt, isShipped }) {
    const settings = new jolt.JoltSettings();
    settings.mMaxWorkerThreads = 0;
    const layers = new jolt.ObjectLayerPairFilterTable(1);
    const broad = new jolt.BroadPhaseLayerInterfaceTable(1, 1);
    broad.MapObjectToBroadPhaseLayer(0, new jolt.BroadPhaseLayer(0));
    settings.mObjectLayerPairFilter = layers;
    settings.mBroadPhaseLayerInterface = broad;
    settings.mObjectVsBroadPhaseLayerFilter = new jolt.ObjectVsBroadPhaseLayerFilterTable(broad, 1, layers, 1);
    const engine = new jolt.JoltInterface(settings);
    jolt.destroy(settings);
    const system = engine.GetPhysicsSystem();
    const bodies = system.GetBodyInterface();
    const vector = (v) => new jolt.Vec3(...v);
    system.SetGravity(vector([0, 0, 0]));
    const shape = new jolt.BoxShape(vector([0.5, 0.5, 0.5]));
    const turn = new jolt.Quat(q[1], q[2], q[3], q[0]);
    const creation = new jolt.BodyCreationSettings(shape, new jolt.RVec3(0, 0, 0), turn, jolt.EMotionType_Dynamic, 0);
    creation.mOverrideMassProperties = jolt.EOverrideMassProperties_MassAndInertiaProvided;
    creation.mMassPropertiesOverride.mMass = 1;
    const tensor = jolt.Mat44.prototype.sIdentity();
    inertia.forEach((x, k) => tensor.SetColumn4(k, new jolt.Vec4(...[0, 0, 0, 0].map((_, i) => (i === k ? x : 0)))));
    creation.mMassPropertiesOverride.mInertia = tensor;
    if (option !== "as shipped") creation.mLinearDamping = creation.mAngularDamping = 0;
    if (option === "mApplyGyroscopicForce") creation.mApplyGyroscopicForce = true;
    if (!isShipped) {
        creation.mMaxAngularVelocity = FAST;
        creation.mAllowSleeping = false;
    }
    const body = bodies.CreateBody(creation);
    jolt.destroy(creation);
    bodies.AddBody(body.GetID(), jolt.EActivation_Activate);
    bodies.SetAngularVelocity(body.GetID(), vector(omega));
    const push = vector([0, 0, 0]);
    return {
        step(torque) {
            if (torque) {
                push.Set(...torque);
                body.AddTorque(push);
            }
            engine.Step(dt, 1);
        },
        state() {
            const p = body.GetRotation();
            const at = [p.GetW(), p.GetX(), p.GetY(), p.GetZ()];
            const w = body.GetAngularVelocity();
            return [at, [w.GetX(), w.GetY(), w.GetZ()]];
        },
        end() {
            bodies.RemoveBody(body.GetID());
            bodies.DestroyBody(body.GetID());
            jolt.destroy(push);
            jolt.destroy(engine);
        },
    };
}
