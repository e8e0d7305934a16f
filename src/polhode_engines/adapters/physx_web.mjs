/* PhysX 4 for the web, in single precision. It has no setter for the limit on the angular velocity, and no getter of moments. */

export const version = (packages) => packages.version("@cocos/physx");
export async function load(packages) {
    const physx = await packages.require("@cocos/physx")();
    const release = physx.PX_PHYSICS_VERSION;
    const errors = new physx.PxDefaultErrorCallback();
    const foundation = physx.PxCreateFoundation(release, new physx.PxDefaultAllocator(), errors);
    const physics = physx.PxCreatePhysics(release, foundation, new physx.PxTolerancesScale(), false, null);
    physx.PxInitExtensions(physics, null);
    const ignored = ["onContactBegin", "onContactEnd", "onContactPersist", "onTriggerBegin", "onTriggerEnd", "onTriggerPersist"];
    const events = physx.PxSimulationEventCallback.implement(Object.fromEntries(ignored.map((name) => [name, () => {}])));
    return { physx, physics, events };
}

export function start({ physx, physics, events }, option, { inertia, q, omega, dt, isShipped }) {
    const vector = ([x, y, z]) => ({ x, y, z });
    const description = physx.getDefaultSceneDesc(physics.getTolerancesScale(), 0, events);
    description.gravity = vector([0, 0, 0]);
    const scene = physics.createScene(description);
    const pose = { translation: vector([0, 0, 0]), rotation: { w: q[0], x: q[1], y: q[2], z: q[3] } };
    const body = physics.createRigidDynamic(pose);
    body.setMass(1);
    body.setMassSpaceInertiaTensor(vector(inertia));
    if (option === "damping 0") {
        body.setLinearDamping(0);
        body.setAngularDamping(0);
    }
    if (!isShipped) body.setSleepThreshold(0);
    scene.addActor(body, null);
    body.setAngularVelocity(vector(omega), true);
    return {
        step(torque) {
            if (torque) body.addTorque(vector(torque));
            scene.simulate(dt, true);
            scene.fetchResults(true);
        },
        state() {
            const { rotation: p } = body.getGlobalPose();
            const w = body.getAngularVelocity();
            return [[p.w, p.x, p.y, p.z], [w.x, w.y, w.z]];
        },
        end() {
            scene.removeActor(body, false);
            body.release();
            scene.release();
        },
    };
}
