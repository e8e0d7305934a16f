/* ammo.js: Bullet, which stores in single precision and computes in double. */

export const version = (packages) => packages.version("ammo.js");
export async function load(packages) {
    const made = packages.require("ammo.js");
    return typeof made === "function" ? made() : made;
}

export function start(ammo, option, { inertia, q, omega, dt, isShipped }) {
    const vector = (v) => new ammo.btVector3(...v);
    const configuration = new ammo.btDefaultCollisionConfiguration();
    const dispatcher = new ammo.btCollisionDispatcher(configuration);
    const pairs = new ammo.btDbvtBroadphase();
    const solver = new ammo.btSequentialImpulseConstraintSolver();
    const world = new ammo.btDiscreteDynamicsWorld(dispatcher, pairs, solver, configuration);
    world.setGravity(vector([0, 0, 0]));
    const pose = new ammo.btTransform();
    pose.setIdentity();
    pose.setRotation(new ammo.btQuaternion(q[1], q[2], q[3], q[0]));
    const shape = new ammo.btBoxShape(vector([0.5, 0.5, 0.5]));
    const motion = new ammo.btDefaultMotionState(pose);
    const body = new ammo.btRigidBody(new ammo.btRigidBodyConstructionInfo(1, motion, shape, vector(inertia)));
    body.setAngularVelocity(vector(omega));
    const ALWAYS_ACTIVE = 4;
    if (!isShipped) body.setActivationState(ALWAYS_ACTIVE);
    world.addRigidBody(body);
    const push = vector([0, 0, 0]);
    return {
        step(torque) {
            if (torque) {
                push.setValue(...torque);
                body.applyTorque(push);
            }
            world.stepSimulation(dt, 0);
        },
        state() {
            const p = body.getWorldTransform().getRotation();
            const w = body.getAngularVelocity();
            return [[p.w(), p.x(), p.y(), p.z()], [w.x(), w.y(), w.z()]];
        },
        end() {
            world.removeRigidBody(body);
            for (const object of [body, motion, shape, world, solver, pairs, dispatcher, configuration, pose, push]) ammo.destroy(object);
        },
    };
}
