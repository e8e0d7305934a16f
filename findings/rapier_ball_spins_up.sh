#!/usr/bin/env bash
# Rapier for the web: the spin of a free ball grows by itself, by 0.7 % in five minutes at 60 Hz, and faster with smaller steps.
# One would guess: a body with equal moments keeps its spin, the better the smaller the step. The gyroscopic correction of each substep
# (on by default since 0.20.0, without a switch in this interface) rounds upwards. Needs node 18 or newer with npm.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --save-exact @dimforge/rapier3d-compat@0.21.0 old@npm:@dimforge/rapier3d-compat@0.19.3
cat >seen.mjs <<'JS'
import young from "@dimforge/rapier3d-compat";
import old from "old";
const growth = async (rapier, rate, iterations) => {
    await rapier.init();
    const world = new rapier.World({ x: 0, y: 0, z: 0 });
    world.timestep = 1 / rate;
    if (iterations) world.integrationParameters.numSolverIterations = iterations;
    const wanted = rapier.RigidBodyDesc.dynamic().setCanSleep(false).setAngvel({ x: 0.3, y: 0.4, z: 1 });
    wanted.setAdditionalMassProperties(1, { x: 0, y: 0, z: 0 }, { x: 1, y: 1, z: 1 }, { x: 0, y: 0, z: 0, w: 1 });
    const ball = world.createRigidBody(wanted);
    for (let n = 0; n < 300 * rate; n++) world.step();
    const w = ball.angvel();
    return 100 * (Math.hypot(w.x, w.y, w.z) / Math.hypot(0.3, 0.4, 1) - 1);
};
const [usual, small, many, before] = [await growth(young, 60), await growth(young, 240), await growth(young, 60, 8), await growth(old, 60)];
console.log(`0.21.0, spin after 300 s: ${usual.toFixed(3)} % at 60 Hz, ${small.toFixed(3)} % at 240 Hz, ${many.toFixed(3)} % with 8 iterations`);
console.log(`0.19.3: ${before.toFixed(4)} %`);
process.exit(usual > 0.5 && small > 2 && many > 1 && Math.abs(before) < 0.01 ? 0 : 1);
JS
echo "node $(node --version), @dimforge/rapier3d-compat 0.21.0 and 0.19.3"
node seen.mjs 2>&1 | grep -v "deprecated parameters"
