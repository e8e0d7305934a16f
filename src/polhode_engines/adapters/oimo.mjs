/* oimo, in double precision. It has no setter for moments: a box has them. */

export const version = (packages) => packages.version("oimo");
export const load = (packages) => packages.module("oimo/build/oimo.module.js");

export function start(oimo, option, { inertia, q, omega, dt, isShipped }) {
    const world = new oimo.World({ timestep: dt, gravity: [0, 0, 0], random: false, info: false });
    const half = inertia.reduce((sum, x) => sum + x, 0) / 2;
    const size = inertia.map((x) => Math.sqrt(12 * Math.max(half - x, 1e-8)));
    const density = 1 / (size[0] * size[1] * size[2]);
    const body = world.add({ type: "box", size, density, move: true, neverSleep: !isShipped });
    body.orientation.set(q[1], q[2], q[3], q[0]);
    body.angularVelocity.set(...omega);
    body.syncShapes();
    return {
        step(torque) {
            if (torque) {
                /* Two opposite impulses make up the torque: p x f = torque dt/2 at each end, p across the torque. */
                const t = new oimo.Vec3(...torque);
                const axis = Math.abs(t.x) < Math.hypot(t.y, t.z) ? new oimo.Vec3(1, 0, 0) : new oimo.Vec3(0, 1, 0);
                const p = new oimo.Vec3().crossVectors(axis, t).normalize();
                const f = new oimo.Vec3().crossVectors(t, p).multiplyScalar(dt / 2);
                const { x, y, z } = body.position;
                body.applyImpulse(new oimo.Vec3(x + p.x, y + p.y, z + p.z), f);
                body.applyImpulse(new oimo.Vec3(x - p.x, y - p.y, z - p.z), f.clone().negate());
            }
            world.step();
        },
        state() {
            const { orientation: p, angularVelocity: w } = body;
            return [[p.w, p.x, p.y, p.z], [w.x, w.y, w.z]];
        },
    };
}
