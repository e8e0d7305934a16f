/* Rapier for the web, in single precision: two releases, one with the gyroscopic term and one without. */

const PACKAGES = { "0.21.0": "@dimforge/rapier3d-compat", "0.19.3": "rapier3d-compat-0.19.3" };

export const version = (packages, option) => packages.version(PACKAGES[option]);
export async function load(packages, option) {
    const name = PACKAGES[option];
    const { module } = JSON.parse(packages.bytes(`${name}/package.json`));
    const { default: rapier } = await packages.module(`${name}/${module}`);
    await rapier.init();
    return rapier;
}

export function start(rapier, option, { inertia, q, omega, dt, isShipped }) {
    const vector = ([x, y, z]) => ({ x, y, z });
    const world = new rapier.World(vector([0, 0, 0]));
    world.timestep = dt;
    const description = rapier.RigidBodyDesc.dynamic()
        .setAdditionalMassProperties(1, vector([0, 0, 0]), vector(inertia), { x: 0, y: 0, z: 0, w: 1 })
        .setRotation({ x: q[1], y: q[2], z: q[3], w: q[0] })
        .setAngvel(vector(omega));
    if (!isShipped) description.setCanSleep(false);
    const body = world.createRigidBody(description);
    /* Until the first step the mass is 0, and an impulse is lost. */
    body.recomputeMassPropertiesFromColliders();
    return {
        step(torque) {
            if (torque) {
                body.resetTorques(true);
                body.addTorque(vector(torque), true);
            }
            world.step();
        },
        state() {
            const p = body.rotation();
            const w = body.angvel();
            return [[p.w, p.x, p.y, p.z], [w.x, w.y, w.z]];
        },
        end: () => world.free(),
    };
}
