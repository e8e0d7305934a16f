#!/usr/bin/env bash
# Havok for the web: a step above 0.043 s is shortened, a moment of 0.6 acts as 0.598, and a body asleep still has an angular velocity.
# One would guess: HP_World_Step(world, 0.1) moves the world by 0.1 s, or answers with an error; moments act as they are read back; what
# stands still reads 0. Needs node 18 or newer with npm.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --save-exact @babylonjs/havok@1.3.14
cat >seen.mjs <<'JS'
import { readFileSync } from "node:fs";
import make from "@babylonjs/havok";
const havok = await make({ wasmBinary: readFileSync("node_modules/@babylonjs/havok/lib/esm/HavokPhysics.wasm") });
const body = (moments, spin) => {
    const world = havok.HP_World_Create()[1], one = havok.HP_Body_Create()[1];
    havok.HP_World_SetGravity(world, [0, 0, 0]);
    havok.HP_Body_SetShape(one, havok.HP_Shape_CreateBox([0, 0, 0], [0, 0, 0, 1], [1, 1, 1])[1]);
    havok.HP_Body_SetMotionType(one, havok.MotionType.DYNAMIC);
    havok.HP_Body_SetMassProperties(one, [[0, 0, 0], 1, moments, [0, 0, 0, 1]]);
    havok.HP_Body_SetAngularDamping(one, 0);
    havok.HP_World_AddBody(world, one, false);
    havok.HP_Body_SetAngularVelocity(one, spin);
    return [world, one];
};
const angle = (one) => { const [, q] = havok.HP_Body_GetOrientation(one); return 2 * Math.atan2(q[2], q[3]); };
const rate = (one) => havok.HP_Body_GetAngularVelocity(one)[1][2];
const [fast, spinning] = body([1, 1, 1], [0, 0, 3]);
const answer = havok.HP_World_Step(fast, 0.1);
const turned = angle(spinning), ok = answer === havok.Result.RESULT_OK;
console.log(`3 rad/s, one step of 0.1 s: turned by ${turned.toFixed(5)} rad, as in ${(turned / 3).toFixed(5)} s; answer ok: ${ok}`);
const [pushed, still] = body([1, 1, 0.6], [0, 0, 0]);
havok.HP_Body_ApplyAngularImpulse(still, [0, 0, 0.6]);
const read = havok.HP_Body_GetMassProperties(still)[1][2][2];
console.log(`impulse 0.6 on a moment of 0.6, read back as ${read}: ${rate(still)} rad/s`);
const [slow, sleeper] = body([1, 1, 1], [0, 0, 0.3]);
for (let n = 0; n < 60; n++) havok.HP_World_Step(slow, 1 / 60);
const before = angle(sleeper);
havok.HP_World_Step(slow, 1 / 60);
const stands = angle(sleeper) === before;
console.log(`0.3 rad/s, after a second: stands still: ${stands}, angular velocity read: ${rate(sleeper).toFixed(3)} rad/s`);
process.exit(Math.abs(turned - 0.129) < 1e-3 && rate(still) > 1.002 && stands && rate(sleeper) > 0.29 ? 0 : 1);
JS
echo "node $(node --version), @babylonjs/havok 1.3.14"
node seen.mjs
