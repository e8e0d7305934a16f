/* crashcat, in double precision. */

export const version = (packages) => packages.version("crashcat");
export async function load(packages) {
    const crashcat = await packages.module("crashcat/dist/index.js");
    crashcat.registerAll();
    return crashcat;
}

export function start(crashcat, option, { inertia, q, omega, dt, isShipped }) {
    const settings = crashcat.createWorldSettings();
    settings.gravity = [0, 0, 0];
    const layer = crashcat.addObjectLayer(settings, crashcat.addBroadphaseLayer(settings));
    const world = crashcat.createWorld(settings);
    const [x, y, z] = inertia;
    const body = crashcat.rigidBody.create(world, {
        shape: crashcat.box.create({ halfExtents: [0.5, 0.5, 0.5] }),
        objectLayer: layer,
        motionType: crashcat.MotionType.DYNAMIC,
        quaternion: [q[1], q[2], q[3], q[0]],
        massPropertiesOverride: { mass: 1, inertia: [x, 0, 0, 0, 0, y, 0, 0, 0, 0, z, 0, 0, 0, 0, 1] },
        ...(option === "as shipped" ? {} : { linearDamping: 0, angularDamping: 0 }),
        ...(isShipped ? {} : { maxAngularVelocity: 1e6, allowSleeping: false }),
    });
    crashcat.rigidBody.setAngularVelocity(world, body, omega);
    return {
        step(torque) {
            if (torque) crashcat.rigidBody.addTorque(world, body, torque, true);
            if (option === "applyGyroscopicForce") {
                crashcat.motionProperties.applyGyroscopicForce(body.motionProperties, body.quaternion, dt);
            }
            crashcat.updateWorld(world, undefined, dt);
        },
        state() {
            const p = body.quaternion;
            return [[p[3], p[0], p[1], p[2]], [...body.motionProperties.angularVelocity]];
        },
    };
}
