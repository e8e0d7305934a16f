/* cannon-es, in double precision. */

export const version = (packages) => packages.version("cannon-es");
export const load = (packages) => packages.module("cannon-es/dist/cannon-es.js");

export function start(cannon, option, { inertia, q, omega, dt, isShipped }) {
    const world = new cannon.World({ gravity: new cannon.Vec3(0, 0, 0) });
    const body = new cannon.Body({ mass: 1, shape: new cannon.Box(new cannon.Vec3(0.5, 0.5, 0.5)) });
    if (option === "damping 0") body.linearDamping = body.angularDamping = 0;
    if (!isShipped) body.allowSleep = false;
    world.addBody(body);
    /* The moments are the moments of the box in the world until they are set, and again whenever updateMassProperties is called. */
    body.inertia.set(...inertia);
    body.invInertia.set(...inertia.map((x) => 1 / x));
    body.quaternion.set(q[1], q[2], q[3], q[0]);
    body.angularVelocity.set(...omega);
    body.updateInertiaWorld(true);
    return {
        step(torque) {
            if (torque) body.applyTorque(new cannon.Vec3(...torque));
            world.step(dt);
        },
        state() {
            const { quaternion: p, angularVelocity: w } = body;
            return [[p.w, p.x, p.y, p.z], [w.x, w.y, w.z]];
        },
    };
}
