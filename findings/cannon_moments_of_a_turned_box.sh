#!/usr/bin/env bash
# cannon-es: the moments of a body are the moments of the axis-aligned box around it in the world when a shape is added.
# One would guess: a ball has 2/5 m r^2, and a box the same moments however it is turned. Needs node 18 or newer with npm.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --save-exact cannon-es@0.20.0
cat >seen.mjs <<'JS'
import { Body, Box, Quaternion, Sphere, Vec3 } from "cannon-es";
const moments = (shape, quaternion) => new Body({ mass: 1, shape, quaternion }).inertia;
const ball = moments(new Sphere(1)), box = moments(new Box(new Vec3(1, 2, 3)));
const turned = moments(new Box(new Vec3(1, 2, 3)), new Quaternion().setFromAxisAngle(new Vec3(0, 0, 1), Math.PI / 6));
console.log(`ball of radius 1 and mass 1: ${ball.x.toFixed(4)} (2/5 = 0.4)`);
console.log(`box 2 x 4 x 6: ${box}; turned by 30 degrees: ${turned}`);
process.exit(Math.abs(ball.x - 2 / 3) < 1e-9 && Math.abs(turned.z - box.z) > 1 ? 0 : 1);
JS
echo "node $(node --version), cannon-es 0.20.0"
node seen.mjs
