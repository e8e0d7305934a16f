#!/usr/bin/env bash
# ammo.js: a T-handle turns over as often as the exact one and loses most of its spin in a minute, with a damping of 0 and alone.
# One would guess: without damping a free body keeps its angular momentum. The term that lets it turn over is on, its step loses
# momentum, and no switch reaches the browser. Needs node 18 or newer with npm.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --save-exact ammo.js@0.0.10
cat >seen.cjs <<'JS'
const made = require("ammo.js"), ammo = typeof made === "function" ? made() : made;
const moments = [1, 2, 3], vector = (x, y, z) => new ammo.btVector3(x, y, z);
const configuration = new ammo.btDefaultCollisionConfiguration();
const world = new ammo.btDiscreteDynamicsWorld(new ammo.btCollisionDispatcher(configuration), new ammo.btDbvtBroadphase(),
    new ammo.btSequentialImpulseConstraintSolver(), configuration);
world.setGravity(vector(0, 0, 0));
const pose = new ammo.btTransform();
pose.setIdentity();
const shape = new ammo.btBoxShape(vector(0.5, 0.5, 0.5)), motion = new ammo.btDefaultMotionState(pose);
const body = new ammo.btRigidBody(new ammo.btRigidBodyConstructionInfo(1, motion, shape, vector(...moments)));
body.setDamping(0, 0);
body.setActivationState(4); // never asleep
body.setAngularVelocity(vector(0.1, 10, 0.1));
world.addRigidBody(body);
const spin = () => {
    const p = body.getWorldTransform().getRotation(), w = body.getAngularVelocity();
    const u = [-p.x(), -p.y(), -p.z()], v = [w.x(), w.y(), w.z()];
    const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    const d = cross(u, cross(u, v).map((x, i) => x + p.w() * v[i]));
    return v.map((x, i) => x + 2 * d[i]);
};
const momentum = () => Math.hypot(...spin().map((x, i) => moments[i] * x)), first = momentum();
let turns = 0, up = true;
for (let n = 0; n < 3600; n++) {
    world.stepSimulation(1 / 60, 0);
    const now = spin()[1] > 0;
    turns += now !== up;
    up = now;
}
const left = momentum() / first, bound = typeof body.setFlags === "function" || typeof body.setGyroscopicForce === "function";
console.log(`T-handle, 10 rad/s, 60 s at 60 Hz, damping 0: ${turns} turns, ${(100 * left).toFixed(1)} % of its momentum is left`);
console.log(`a switch for the gyroscopic term is bound: ${bound}`);
process.exit(left < 0.5 && turns > 20 && !bound ? 0 : 1);
JS
echo "node $(node --version), ammo.js 0.0.10"
node seen.cjs
