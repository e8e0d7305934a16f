#!/usr/bin/env bash
# crashcat exports applyGyroscopicForce ("realistic behavior", the effect of Dzhanibekov), and its own step never calls it.
# One would guess: the step has the term that the package ships, or a switch for it. Needs node 18 or newer with npm.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --save-exact crashcat@0.0.5 mathcat@0.0.13
cat >seen.mjs <<'JS'
import * as crashcat from "crashcat";
crashcat.registerAll();
const turns = (byHand) => {
    const settings = crashcat.createWorldSettings();
    settings.gravity = [0, 0, 0];
    const objectLayer = crashcat.addObjectLayer(settings, crashcat.addBroadphaseLayer(settings));
    const world = crashcat.createWorld(settings);
    const body = crashcat.rigidBody.create(world, {
        shape: crashcat.box.create({ halfExtents: [0.5, 0.5, 0.5] }), objectLayer, motionType: crashcat.MotionType.DYNAMIC,
        massPropertiesOverride: { mass: 1, inertia: [1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 1] }, angularDamping: 0,
    });
    crashcat.rigidBody.setAngularVelocity(world, body, [0.05, 5, 0.05]);
    let up = true, count = 0;
    for (let n = 0; n < 7200; n++) {
        if (byHand) crashcat.motionProperties.applyGyroscopicForce(body.motionProperties, body.quaternion, 1 / 60);
        crashcat.updateWorld(world, undefined, 1 / 60);
        const [x, yy, z, w0] = body.quaternion, w = body.motionProperties.angularVelocity;
        const axis = [2 * (x * yy - z * w0), 1 - 2 * (x * x + z * z), 2 * (yy * z + x * w0)];
        const along = axis[0] * w[0] + axis[1] * w[1] + axis[2] * w[2] > 0;
        if (along !== up) { up = along; count++; }
    }
    return count;
};
const [shipped, called] = [turns(false), turns(true)];
console.log(`T-handle, 5 rad/s about the middle axis, 120 s: ${shipped} turns as shipped, ${called} with the function called by hand, 31 exactly`);
process.exit(shipped === 0 && called > 10 ? 0 : 1);
JS
echo "node $(node --version), crashcat 0.0.5"
node seen.mjs
