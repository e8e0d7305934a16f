#!/usr/bin/env bash
# Havok for the web: setting the orientation of a body turns its angular velocity with it, because the engine keeps the angular
# velocity in the frame of the body. One would guess: HP_Body_SetOrientation changes the orientation, the angular velocity read stays,
# and it does not matter which of the two is set first. Needs node 18 or newer with npm.
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
const world = havok.HP_World_Create()[1], ball = havok.HP_Body_Create()[1];
havok.HP_World_SetGravity(world, [0, 0, 0]);
havok.HP_Body_SetShape(ball, havok.HP_Shape_CreateSphere([0, 0, 0], 1)[1]);
havok.HP_Body_SetMotionType(ball, havok.MotionType.DYNAMIC);
havok.HP_Body_SetAngularDamping(ball, 0);
havok.HP_World_AddBody(world, ball, false);
const spin = () => havok.HP_Body_GetAngularVelocity(ball)[1].map((x) => Math.round(x * 1e5) / 1e5 + 0);
havok.HP_Body_SetAngularVelocity(ball, [0, 5, 0]);
const set = spin();
const answer = havok.HP_Body_SetOrientation(ball, [Math.SQRT1_2, 0, 0, Math.SQRT1_2]); // a quarter about x
const turned = spin(), ok = answer === havok.Result.RESULT_OK;
havok.HP_World_Step(world, 1 / 60);
const after = spin();
console.log(`a ball spins with ${set} rad/s; its orientation is set to a quarter turn about x, answer ok: ${ok}`);
console.log(`angular velocity read then: ${turned} rad/s, after a step: ${after} rad/s`);
process.exit(`${set}` === "0,5,0" && `${turned}` === "0,0,5" && `${after}` === "0,0,5" ? 0 : 1);
JS
echo "node $(node --version), @babylonjs/havok 1.3.14"
node seen.mjs
