#!/usr/bin/env bash
# Jolt for the web: a cube of 10 cm that floats freely and turns by 57 degrees a second is put to sleep after half a second.
# One would guess: a body sleeps if it hardly turns, whatever its size. Jolt compares velocities of points (0.03 m/s as shipped), so
# that a small body may turn fast: the limit is 0.12 rad/s for a cube of 1 m, ten times as much for one of 10 cm. Needs node 18.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --save-exact jolt-physics@1.1.0
cat >seen.mjs <<'JS'
import make from "jolt-physics/wasm-compat";
const jolt = await make();
const left = (size, spin) => {
    const settings = new jolt.JoltSettings();
    settings.mMaxWorkerThreads = 0;
    const layers = new jolt.ObjectLayerPairFilterTable(1), broad = new jolt.BroadPhaseLayerInterfaceTable(1, 1);
    broad.MapObjectToBroadPhaseLayer(0, new jolt.BroadPhaseLayer(0));
    settings.mObjectLayerPairFilter = layers;
    settings.mBroadPhaseLayerInterface = broad;
    settings.mObjectVsBroadPhaseLayerFilter = new jolt.ObjectVsBroadPhaseLayerFilterTable(broad, 1, layers, 1);
    const engine = new jolt.JoltInterface(settings), system = engine.GetPhysicsSystem(), bodies = system.GetBodyInterface();
    system.SetGravity(new jolt.Vec3(0, 0, 0));
    const half = size / 2, shape = new jolt.BoxShape(new jolt.Vec3(half, half, half), 0.01 * size);
    const creation = new jolt.BodyCreationSettings(shape, new jolt.RVec3(0, 0, 0), new jolt.Quat(0, 0, 0, 1), jolt.EMotionType_Dynamic, 0);
    creation.mLinearDamping = creation.mAngularDamping = 0;
    const body = bodies.CreateBody(creation);
    bodies.AddBody(body.GetID(), jolt.EActivation_Activate);
    bodies.SetAngularVelocity(body.GetID(), new jolt.Vec3(0, 0, spin));
    for (let n = 0; n < 180; n++) engine.Step(1 / 60, 1);
    const speed = body.GetAngularVelocity().Length();
    jolt.destroy(engine);
    return speed;
};
const [small, large, slow] = [left(0.1, 1), left(1, 1), left(1, 0.1)];
console.log(`a cube of 0.1 m at 1 rad/s (57 degrees a second), free, damping 0: ${small.toFixed(3)} rad/s after 3 s`);
console.log(`a cube of 1 m at 1 rad/s: ${large.toFixed(3)} rad/s; at 0.1 rad/s: ${slow.toFixed(3)} rad/s`);
process.exit(small === 0 && Math.abs(large - 1) < 1e-3 && slow === 0 ? 0 : 1);
JS
echo "node $(node --version), jolt-physics 1.1.0"
node seen.mjs
