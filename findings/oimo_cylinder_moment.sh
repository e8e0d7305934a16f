#!/usr/bin/env bash
# oimo: the moment of a cylinder about its axis lacks the mass: it is r^2/2 however heavy the cylinder is.
# One would guess: m r^2/2, as the other two moments have the mass. A wheel of 6283 kg spins up under a torque as one of 1 kg would, and
# a light one resists as if it were heavy. Needs node 18 or newer with npm.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --save-exact oimo@1.0.9
cat >seen.mjs <<'JS'
import { Vec3, World } from "oimo/build/oimo.module.js";
const made = (density) => {
    const world = new World({ timestep: 1 / 60, gravity: [0, 0, 0], random: false });
    return world.add({ type: "cylinder", size: [1, 2, 1], density, move: true });
};
const rows = [0.001, 1, 1000].map((density) => {
    const body = made(density), { mass, localInertia: { elements } } = body;
    // Two opposite impulses of 1/2 N s at the rim, along its tangent: 1 N m s about the axis.
    body.applyImpulse(new Vec3(1, 0, 0), new Vec3(0, 0, -0.5));
    body.applyImpulse(new Vec3(-1, 0, 0), new Vec3(0, 0, 0.5));
    const acts = 1 / body.angularVelocity.y;
    console.log(`cylinder of radius 1 and height 2, ${mass.toPrecision(4)} kg: moment about its axis ${elements[4]}, as it acts ` +
        `${acts.toPrecision(4)}, m r^2/2 = ${(mass / 2).toPrecision(4)}; across it ${elements[0].toPrecision(4)}`);
    return [mass, acts];
});
process.exit(rows.every(([mass, acts]) => Math.abs(acts - 0.5) < 1e-6 && mass !== 1) && rows[2][0] > 6000 ? 0 : 1);
JS
echo "node $(node --version), oimo 1.0.9"
node seen.mjs
