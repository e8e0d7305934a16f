"""The page with the T-handle: its step is the generated one, its engine is cannon-es, and a real browser counts right."""

import json
import math
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from chromium import DESKTOP, PHONE, chromium, screen
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import polhode
from polhode.export import LANGUAGES
from polhode_engines import all_engines, is_installed
from polhode_engines.environments import packages_of
from polhode_study.documentation import handle
from polhode_study.documentation.engines import handle_page

PAGE = Path(__file__).parents[1] / "examples" / "t-handle" / "index.html"
SCRIPTS = dict(re.findall(r'<script type="module" id="([\w-]+)">\n(.*?)</script>', PAGE.read_text(encoding="utf-8"), re.DOTALL))
MOMENTS, OMEGA, SECONDS = (1.0, 2.0, 3.0), (0.05, 5.0, 0.05), 120.0


def exact_turns() -> int:
    """By Jacobi's functions: omega_y is a multiple of sn, which passes zero every 2 K/p from a quarter of its period on."""
    (a, b, c), (x, y, z) = MOMENTS, OMEGA
    energy, square = a * x * x + b * y * y + c * z * z, (a * x) ** 2 + (b * y) ** 2 + (c * z) ** 2
    axis, rest = (c, a) if square > energy * b else (a, c)
    m = (b - rest) * (energy * axis - square) / ((axis - b) * (square - energy * rest))
    rate = math.sqrt((axis - b) * (square - energy * rest) / (a * b * c))
    # The start is near a maximum of omega_y, and nearer to it than a quarter of a period to the end of the run.
    return int(SECONDS * rate / (2 * ellipk(m)) + 0.5)


def in_node(folder, code: str) -> list:
    if not shutil.which("node"):
        pytest.skip("node is not there")
    (folder / "test.mjs").write_text(code, encoding="utf-8")
    run = subprocess.run(["node", "test.mjs"], cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def modules(folder, *names: str) -> str:
    """Scripts of the page as modules, imported in this order."""
    for name in names:
        (folder / f"{name}.mjs").write_text(SCRIPTS[name], encoding="utf-8")
    return "".join(f'await import("./{name}.mjs");\n' for name in names)


#: Numbers of all handles after every second.
ROWS = """
const all = handles(), rows = [];
for (let n = 1; n <= STEPS; n++) {
    all.forEach((handle) => handle.advance());
    if (n % 60 === 0) {
        rows.push(all.map(({ q, omega, turns, energy }) => [..."wxyz"].map((x) => q[x])
            .concat([..."xyz"].map((x) => omega[x]), turns, energy)));
    }
}
console.log(JSON.stringify(rows));
"""


def test_the_step_of_the_page_is_what_the_command_writes():
    block = SCRIPTS["exact-rotor"].partition("// BEGIN exact_rotor.mjs\n")[2].partition("// END exact_rotor.mjs")[0]
    assert block == LANGUAGES["javascript"].source(polhode.methods["exact_rotor"]), "run python examples/t-handle/make.py"
    assert PAGE.with_name("exact_rotor.mjs").read_text(encoding="utf-8") == block
    assert not re.search(r"^\s*import |src=|href=|url\(|https?:", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    lines = re.search(r"function attach\(.*?\n\}", SCRIPTS["attached"], re.DOTALL)[0].splitlines()
    assert len(lines) <= 17


def test_the_attached_step_turns_the_handle_as_often(tmp_path):
    rows = in_node(tmp_path, modules(tmp_path, "exact-rotor", "cannon", "attached") + ROWS)
    shipped, ours, exact = rows[-1]
    assert exact_turns() == exact[7] == 31
    assert abs(ours[7] - exact[7]) <= 0.02 * exact[7] and shipped[7] == 0
    assert abs(ours[8] - 1) < 1e-10 and abs(exact[8] - 1) < 1e-10
    assert shipped[8] == pytest.approx(0.99 ** (2 * SECONDS), rel=1e-6), "it is damped by 1 % a second"
    assert max(abs(a - b) for a, b in zip(ours[:7], exact[:7], strict=True)) < 1e-6, "the motion is unstable"

    def rates(_, y):
        q, (u, v, w) = y[:4], y[4:]
        matrix = np.array([[0, -u, -v, -w], [u, 0, w, -v], [v, -w, 0, u], [w, v, -u, 0]])
        return [*(0.5 * matrix @ q), (2 - 3) / 1 * v * w, (3 - 1) / 2 * w * u, (1 - 2) / 3 * u * v]

    reference = solve_ivp(rates, (0, 10), [1, 0, 0, 0, *OMEGA], method="DOP853", rtol=1e-11, atol=1e-11).y[:, -1]
    for of_page in rows[9][1:]:
        assert np.abs(of_page[:7] - reference).max() < 1e-6
    # The picture of the documentation is of the same motions.
    assert np.abs(handle.as_shipped(1200)[60::60] - [row[0][:4] for row in rows[:20]]).max() < 1e-10
    q, omega = handle.with_the_step(600)
    assert np.abs(q[-1] - reference[:4]).max() < 1e-6
    assert np.abs(omega[:, 1] - handle.exact_spin(np.arange(601) / 60)).max() < 1e-8


def test_the_engine_of_the_page_is_cannon_es(tmp_path):
    cannon = all_engines()["cannon_es"]
    if not is_installed(cannon):
        pytest.skip("cannon-es is not installed: polhode atlas cannon_es --install")
    rows = []
    package = (packages_of(cannon) / "node_modules" / "cannon-es" / "dist" / "cannon-es.js").as_uri()
    for number, engine in enumerate(("", f"globalThis.CANNON = await import({package!r});\n")):
        folder = tmp_path / str(number)
        folder.mkdir()
        load = modules(folder, "exact-rotor") + (engine or modules(folder, "cannon")) + modules(folder, "attached")
        rows.append(in_node(folder, load + ROWS))
    assert rows[0] == rows[1]
    # Contacts are felt: their impulses are there when the step of the page begins.
    height, spin = in_node(folder, load + FALL)
    assert height == pytest.approx(0.2, abs=0.01) and spin < 0.1


#: A handle with the lines of the documentation: the energy after two minutes over the first, and the turns, for each spin.
SPUN = """
const energy = (w) => w.toArray().reduce((sum, x, i) => sum + (i + 1) * x * x, 0), rows = [];
for (const spin of [5, 20, 30, 40]) {
    const world = new CANNON.World(), body = new CANNON.Body({ mass: 8 });
    world.addBody(body);
    for (const [, low, high] of BOXES) {
        const [half, middle] = [-1, 1].map((s) => new CANNON.Vec3(...low.map((x, i) => (high[i] + s * x) / 2)));
        body.addShape(new CANNON.Box(half), middle);
    }
    const ofBox = body.inertia.toArray();
    MOMENTS_LINES
    body.angularVelocity.set(0.01 * spin, spin, 0.01 * spin);
    STEP_LINES
    const read = () => body.quaternion.inverse().vmult(body.angularVelocity), first = energy(read());
    const momentum = () => body.quaternion.vmult(new CANNON.Vec3(...read().toArray().map((x, i) => (i + 1) * x))).unit();
    const start = momentum();
    let turns = 0, before = spin;
    for (let n = 0; n < 7200; n++) {
        world.step(1 / 60);
        turns += before * read().y < 0;
        before = read().y;
    }
    rows.push([energy(read()) / first - 1, turns, ofBox, Math.acos(momentum().dot(start)) * 180 / Math.PI]);
}
console.log(JSON.stringify(rows));
"""


def lines_of_page() -> list[str]:
    """The section of the documentation, and its blocks of code."""
    page = (PAGE.parents[2] / "docs" / "engines.md").read_text(encoding="utf-8")
    text = page.partition("\n### Why does my T-handle not flip?")[2].partition("\n## ")[0]
    return [text, *re.findall(r"```js\n(.*?)```", text, re.DOTALL)]


#: A handle in Havok, alone and in Babylon.js, and in oimo with the lines of the documentation: turns, energy over the first.
OTHERS = {
    "havok": (
        "@babylonjs/havok/lib/esm/HavokPhysics_es.js",
        """
const { readFileSync } = await import("node:fs");
const havok = await MODULE.default({ wasmBinary: readFileSync(new URL("HavokPhysics.wasm", PACKAGE)) });
const get = ([, value]) => value;
const world = get(havok.HP_World_Create()), body = get(havok.HP_Body_Create());
const shape = get(havok.HP_Shape_CreateBox([0, 0, 0], [0, 0, 0, 1], [1, 1, 1]));
havok.HP_World_SetGravity(world, [0, 0, 0]);
havok.HP_Body_SetShape(body, shape);
havok.HP_Body_SetMotionType(body, havok.MotionType.DYNAMIC);
havok.HP_Body_SetMassProperties(body, [[0, 0, 0], 1, [1, 2, 3], [0, 0, 0, 1]]);
havok.HP_Body_SetAngularDamping(body, 0);
havok.HP_World_AddBody(world, body, false);
havok.HP_Body_SetAngularVelocity(body, [0.05, 5, 0.05]);
const advance = () => step(havok, world, body, inertia, 1 / 60);
const orientation = () => { const [x, y, z, w] = get(havok.HP_Body_GetOrientation(body)); return { w, x, y, z }; };
const spin = () => { const [x, y, z] = get(havok.HP_Body_GetAngularVelocity(body)); return { x, y, z }; };
""",
    ),
    "babylon": (
        "@babylonjs/havok/lib/esm/HavokPhysics_es.js",
        """
const { readFileSync } = await import("node:fs");
const havok = await MODULE.default({ wasmBinary: readFileSync(new URL("HavokPhysics.wasm", PACKAGE)) });
const core = (name) => import(new URL(`../../../core/${name}.js`, PACKAGE));
await core("Physics/joinedPhysicsEngineComponent");
const { NullEngine } = await core("Engines/nullEngine"), { Scene } = await core("scene");
const { Vector3, Quaternion } = await core("Maths/math.vector"), { TransformNode } = await core("Meshes/transformNode");
const { HavokPlugin } = await core("Physics/v2/Plugins/havokPlugin"), { PhysicsBody } = await core("Physics/v2/physicsBody");
const { PhysicsShapeBox } = await core("Physics/v2/physicsShape"), { FreeCamera } = await core("Cameras/freeCamera");
const { PhysicsMotionType } = await core("Physics/v2/IPhysicsEnginePlugin");
(await core("Misc/logger")).Logger.LogLevels = 0;
const engine = new NullEngine(), scene = new Scene(engine), plugin = new HavokPlugin(true, havok), zero = Vector3.Zero();
engine.getDeltaTime = () => 1000 / 60 + 1e-6;
new FreeCamera("camera", zero, scene);
scene.enablePhysics(zero, plugin);
const node = new TransformNode("handle", scene), body = new PhysicsBody(node, PhysicsMotionType.DYNAMIC, false, scene);
body.shape = new PhysicsShapeBox(zero, Quaternion.Identity(), new Vector3(1, 1, 1), scene);
const moments = new Vector3(1, 2, 3);
body.setMassProperties({ mass: 1, centerOfMass: zero, inertia: moments, inertiaOrientation: Quaternion.Identity() });
body.setAngularDamping(0);
body.setAngularVelocity(new Vector3(0.05, 5, 0.05));
attach(scene, plugin, body, inertia_of({ x: 1, y: 2, z: 3 }), 1 / 60);
const advance = () => scene.render();
const orientation = () => node.rotationQuaternion, spin = () => body.getAngularVelocity();
""",
    ),
    "oimo": (
        "oimo/build/oimo.module.js",
        """
const world = new MODULE.World({ timestep: 1 / 60, gravity: [0, 0, 0], random: false, info: false });
const size = [1, 2, 3].map((moment) => Math.sqrt(12 * Math.max(3 - moment, 1e-8)));
const density = 1 / (size[0] * size[1] * size[2]);
const body = world.add({ type: "box", size, density, move: true, neverSleep: true });
body.angularVelocity.set(0.05, 5, 0.05);
const orientation = () => { const { w, x, y, z } = body.orientation; return { w, x, y, z }; };
const spin = () => { const { x, y, z } = body.angularVelocity; return { x, y, z }; };
const advance = () => {
    const before = orientation();
    world.step();
    const { q, omega } = turned(before, spin(), inertia, 1 / 60);
    body.orientation.set(q.x, q.y, q.z, q.w);
    body.angularVelocity.set(omega.x, omega.y, omega.z);
};
""",
    ),
}
COUNTED = """
const inertia = inertia_of({ x: 1, y: 2, z: 3 });
const inBody = () => { const { w, x, y, z } = orientation(); return rotated({ w, x: -x, y: -y, z: -z }, spin()); };
const energy = ({ x, y, z }) => x * x + 2 * y * y + 3 * z * z, first = energy(inBody());
let turns = 0, before = 5;
for (let n = 0; n < 7200; n++) {
    advance();
    const { y } = inBody();
    turns += before * y < 0;
    before = y;
}
console.log(JSON.stringify([turns, energy(inBody()) / first - 1]));
"""


@pytest.mark.parametrize("name", OTHERS)
def test_the_lines_turn_the_handle_in_other_engines(name, tmp_path):
    engine = all_engines()["havok" if name == "babylon" else name]
    if not is_installed(engine):
        pytest.skip(f"{name} is not installed: polhode atlas {name} --install")
    if name == "babylon" and not (packages_of(engine) / "node_modules/@babylonjs/core").exists():
        pytest.skip(f"Babylon.js is not installed: npm install @babylonjs/core@9.35.0 in {packages_of(engine)}")
    file, start = OTHERS[name]
    _, _, *lines, _, _ = lines_of_page()
    (tmp_path / "exact_rotor.mjs").write_bytes(PAGE.with_name("exact_rotor.mjs").read_bytes())
    package = (packages_of(engine) / "node_modules" / file).as_uri()
    turns, change = in_node(
        tmp_path, "".join(lines) + f"const PACKAGE = {package!r}, MODULE = await import(PACKAGE);\n{start}{COUNTED}"
    )
    assert turns == exact_turns()
    assert abs(change) < (1e-10 if name == "oimo" else 1e-4)


#: Angular velocities that are written in Havok and read again: the mean of their lengths over those before, less one.
LENGTHENED = """
let seed = 12345, mean = 0;
const random = () => { seed = (seed * 1103515245 + 12345) % 2 ** 31; return seed / 2 ** 30 - 1; };
for (let n = 0; n < 2000; n++) {
    const spin = [1, 2, 3].map(() => Math.fround(4 * random()));
    havok.HP_Body_SetOrientation(body, [1, 2, 3, 4].map(random).map((x, _, q) => x / Math.hypot(...q)));
    havok.HP_Body_SetAngularVelocity(body, spin);
    mean += (Math.hypot(...get(havok.HP_Body_GetAngularVelocity(body))) / Math.hypot(...spin) - 1) / 2000;
}
console.log(JSON.stringify([mean]));
"""


def test_havok_lengthens_the_angular_velocity_by_rounding(tmp_path):
    havok = all_engines()["havok"]
    if not is_installed(havok):
        pytest.skip("havok is not installed: polhode atlas havok --install")
    file, start = OTHERS["havok"]
    text, _, *lines, _, _ = lines_of_page()
    (tmp_path / "exact_rotor.mjs").write_bytes(PAGE.with_name("exact_rotor.mjs").read_bytes())
    package = (packages_of(havok) / "node_modules" / file).as_uri()
    load = "".join(lines) + f"const PACKAGE = {package!r}, MODULE = await import(PACKAGE);\n{start}"
    (mean,) = in_node(tmp_path, load + LENGTHENED)
    words = " ".join(text.split())
    assert f"lengthens it by {mean * 1e8:.0f} parts in 10⁸ a step" in words
    for rate, form in ((50, ".2%"), (200, ".1%")):
        code = (load + COUNTED).replace("1 / 60", f"1 / {rate}").replace("7200", str(120 * rate))
        turns, change = in_node(tmp_path, code)
        assert turns == exact_turns() and f"{change:{form}}".replace("%", " %") in words


#: What the component for Unity needs of it, and an engine that rotates, wakes and sleeps as PhysX 4 does, in single precision.
#: The principal axes lie askew in the object, and the centre of mass beside its origin.
UNITY = """
using System;
using System.Collections;
using System.Collections.Generic;
namespace UnityEngine {
    public struct Vector3 {
        public float x, y, z;
        public Vector3(float a, float b, float c) { x = a; y = b; z = c; }
        public static Vector3 operator -(Vector3 a) { return -1f * a; }
        public static Vector3 operator -(Vector3 a, Vector3 b) { return a + -b; }
        public static Vector3 operator +(Vector3 a, Vector3 b) { return new Vector3(a.x + b.x, a.y + b.y, a.z + b.z); }
        public static Vector3 operator *(float s, Vector3 a) { return new Vector3(s * a.x, s * a.y, s * a.z); }
    }
    public struct Quaternion {
        public float x, y, z, w;
        public Quaternion(float a, float b, float c, float d) { x = a; y = b; z = c; w = d; }
        public static Quaternion Inverse(Quaternion q) { return new Quaternion(-q.x, -q.y, -q.z, q.w); }
        public static Vector3 operator *(Quaternion a, Vector3 b) {
            var turned = a * new Quaternion(b.x, b.y, b.z, 0f) * Inverse(a);
            return new Vector3(turned.x, turned.y, turned.z);
        }
        public static Quaternion operator *(Quaternion a, Quaternion b) {
            return new Quaternion(
                a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z);
        }
    }
    public class DefaultExecutionOrder : Attribute { public DefaultExecutionOrder(int order) { } }
    public class WaitForFixedUpdate { }
    public static class Time { public static float fixedDeltaTime = 0.02f; }
    public static class Physics { public static void SyncTransforms() { MonoBehaviour.only.Synchronise(); } }
    public class Rigidbody {
        public float angularDamping = 0.05f, maxAngularVelocity = 7f, mass = 8f, sleepThreshold = 0.005f;
        public bool isKinematic, asleep;
        public Vector3 inertiaTensor = new Vector3(1f, 2f, 3f), centerOfMass = new Vector3(0.3f, 0f, 0.1f);
        public Vector3 position, torque, impulse;
        public Quaternion inertiaTensorRotation = new Quaternion(0.6f, 0f, 0f, 0.8f), rotation;
        public Quaternion? ofTransform;
        Vector3 spin, sum;
        float awake = 0.4f;
        public int writes;
        public Vector3 worldCenterOfMass { get { return position + rotation * centerOfMass; } }
        public Quaternion Axes { get { return rotation * inertiaTensorRotation; } }
        public Vector3 angularVelocity { get { return spin; } set { spin = value; awake = 0.4f; asleep = false; writes++; } }
        public void Synchronise() { rotation = ofTransform ?? rotation; ofTransform = null; }
        public void Step(float friction) {
            float dt = Time.fixedDeltaTime;
            Synchronise();
            if (isKinematic || asleep) return;
            Vector3 I = inertiaTensor, kick = Quaternion.Inverse(Axes) * (impulse + dt * torque);
            impulse = new Vector3(0f, 0f, 0f);
            spin += Axes * new Vector3(kick.x / I.x, kick.y / I.y, kick.z / I.z);
            spin = (1f - angularDamping * dt) * (1f - friction) * spin;
            Vector3 w = spin;
            double rate = Math.Sqrt(w.x * w.x + w.y * w.y + w.z * w.z), half = rate * dt / 2;
            float sine = rate > 0 ? (float)(Math.Sin(half) / rate) : 0f, cosine = (float)Math.Cos(half);
            Vector3 centre = worldCenterOfMass;
            rotation = new Quaternion(sine * w.x, sine * w.y, sine * w.z, cosine) * rotation;
            float norm = (float)Math.Sqrt(rotation.x * rotation.x + rotation.y * rotation.y + rotation.z * rotation.z
                + rotation.w * rotation.w);
            rotation = new Quaternion(rotation.x / norm, rotation.y / norm, rotation.z / norm, rotation.w / norm);
            position = centre - rotation * centerOfMass;
            if (awake < 0.2f) {
                sum += Quaternion.Inverse(Axes) * spin;
                float energy = (I.x * sum.x * sum.x + I.y * sum.y * sum.y + I.z * sum.z * sum.z) / (2f * mass);
                if (energy >= sleepThreshold) {
                    awake = 0.2f * Math.Min(energy / sleepThreshold, 2f) + dt;
                    sum = new Vector3(0f, 0f, 0f);
                }
            }
            awake = Math.Max(awake - dt, 0f);
            asleep = awake == 0f;
            if (asleep) spin = new Vector3(0f, 0f, 0f);
        }
    }
    public class MonoBehaviour {
        public static Rigidbody only;
        public List<IEnumerator> routines = new List<IEnumerator>();
        public T GetComponent<T>() { return (T)(object)only; }
        public void StartCoroutine(IEnumerator routine) { routines.Add(routine); routine.MoveNext(); }
        public void StopAllCoroutines() { routines.Clear(); }
    }
}
class Counted : ExactTumbling {
    static UnityEngine.Rigidbody body;
    static ExactTumbling component;
    static List<string> entries = new List<string>();

    static void Call(string name) {
        var hidden = System.Reflection.BindingFlags.NonPublic | System.Reflection.BindingFlags.Instance;
        var method = typeof(ExactTumbling).GetMethod(name, hidden);
        var routine = method == null ? null : method.Invoke(component, null) as IEnumerator;
        if (routine != null) component.StartCoroutine(routine);
    }
    static UnityEngine.Vector3 V(double x, double y, double z) {
        return new UnityEngine.Vector3((float)x, (float)y, (float)z);
    }
    static void Begin(UnityEngine.Vector3 spin) {
        UnityEngine.MonoBehaviour.only = body = new UnityEngine.Rigidbody();
        body.rotation = UnityEngine.Quaternion.Inverse(body.inertiaTensorRotation);
        body.angularVelocity = spin;
        component = new ExactTumbling();
        Call("OnEnable");
    }
    // Unity's order: FixedUpdate of other scripts and of the component, the step, contacts, coroutines.
    static void Advance(Action script = null, bool touches = false, bool enabled = true, float friction = 0f) {
        if (script != null) script();
        if (enabled) Call("FixedUpdate");
        body.Step(friction);
        if (touches && !body.asleep) Call("OnCollisionStay");
        foreach (var routine in component.routines.ToArray()) routine.MoveNext();
    }
    static UnityEngine.Vector3 InBody() { return UnityEngine.Quaternion.Inverse(body.Axes) * body.angularVelocity; }
    static void Write(string name, params double[] numbers) {
        var digits = System.Globalization.CultureInfo.InvariantCulture;
        var texts = Array.ConvertAll(numbers, x => double.IsNaN(x) ? "NaN" : x.ToString("R", digits));
        entries.Add((char)34 + name + (char)34 + ": [" + string.Join(", ", texts) + "]");
    }
    static void WriteState(string name) {
        var q = body.Axes;
        var w = InBody();
        Write(name, q.w, q.x, q.y, q.z, w.x, w.y, w.z);
    }
    static void Main() {
        Begin(V(0.05, 5, 0.05));
        double first = 0, last = 0, before = 5;
        int turns = 0;
        var centre = body.worldCenterOfMass;
        for (int n = 0; n < 6000; n++) {
            Advance();
            var w = InBody();
            last = w.x * w.x + 2 * w.y * w.y + 3 * w.z * w.z;
            if (n == 0) first = last;
            if (w.y * before < 0) turns++;
            before = w.y;
        }
        var moved = body.worldCenterOfMass - centre;
        Write("handle", turns, last / first - 1, Math.Abs(moved.x) + Math.Abs(moved.y) + Math.Abs(moved.z));

        Begin(V(1, 2, -1.5));
        var turn = new UnityEngine.Quaternion(0f, 0.6f, 0f, 0.8f);
        for (int n = 0; n < 100; n++) {
            Action script = null;
            if (n == 10) script = () => body.rotation = turn * body.rotation;
            if (n == 25) script = () => body.ofTransform = turn * body.rotation;
            if (n == 40) script = () => body.angularVelocity = V(-1, 3, 0.5);
            if (n == 55) script = () => body.position = V(1, 2, 3) - body.rotation * body.centerOfMass;
            if (n == 70) script = () => body.impulse = V(2, -1, 3);
            if (n == 40 || n == 70) WriteState("before " + n);
            Advance(script);
        }
        WriteState("scripts");
        moved = body.worldCenterOfMass - V(1, 2, 3);
        Write("set centre", Math.Abs(moved.x) + Math.Abs(moved.y) + Math.Abs(moved.z));

        Begin(V(0.46, 0.01, 0.2));
        body.mass = 80f; // less than the sleep threshold
        for (int n = 0; n < 5; n++) Advance(null, true);
        Advance();
        WriteState("slow");
        for (int n = 0; n < 15000; n++) Advance();
        WriteState("slow after 300 s");

        foreach (int rate in new[] { 50, 100, 200 }) {
            UnityEngine.Time.fixedDeltaTime = 1f / rate;
            Begin(V(0.3, 2, -0.5));
            body.torque = V(0.5, -1, 1.5);
            for (int n = 0; n < 4 * rate; n++) Advance();
            WriteState("torque " + rate);
        }
        UnityEngine.Time.fixedDeltaTime = 0.02f;

        foreach (bool touches in new[] { true, false }) {
            Begin(V(0.5, -0.5, 0.5));
            for (int n = 0; n < 500; n++) Advance(null, touches, true, touches || n < 40 ? 0.05f : 0f);
            Write(touches ? "at rest" : "slow and free", body.asleep ? 1 : 0);
        }
        Begin(V(0.05, 5, 0.05));
        for (int n = 0; n < 50; n++) Advance(null, true);
        WriteState("touching");

        Begin(V(1, 2, -1.5));
        for (int n = 0; n < 10; n++) Advance();
        Call("OnDisable");
        for (int n = 0; n < 10; n++) Advance(null, false, false);
        body.inertiaTensor = V(3, 1, 2.5);
        int writes = body.writes;
        Call("OnEnable");
        foreach (var routine in component.routines) routine.MoveNext(); // enabled by a collision callback
        Write("enabled in a step", body.writes - writes);
        WriteState("enabled");
        for (int n = 0; n < 50; n++) Advance();
        WriteState("enabled after 1 s");
        Write("routines", component.routines.Count);
        body.isKinematic = true;
        writes = body.writes;
        Advance();
        Write("kinematic", body.writes - writes);

        Begin(V(0, 0, 0));
        for (int n = 0; n < 100; n++) Advance();
        Write("asleep", body.asleep ? 1 : 0);
        Advance(() => { body.asleep = false; body.impulse = V(8, 2, -6); });
        for (int n = 0; n < 10; n++) Advance();
        WriteState("from rest");

        Begin(V(0, 1, 2));
        body.inertiaTensor = V(0, 2, 3);
        writes = body.writes;
        Advance();
        Write("frozen", body.writes - writes);
        Begin(V(0, 1e-40, 0));
        Advance();
        WriteState("slowest");
        Console.WriteLine("{" + string.Join(", ", entries) + "}");
    }
}
"""


@pytest.fixture(scope="module")
def unity(tmp_path_factory) -> dict[str, list[float]]:
    """What the component of the documentation does in Mono: numbers of each case."""
    if not (shutil.which("mcs") and shutil.which("mono")):
        pytest.skip("mcs and mono are not there")
    folder = tmp_path_factory.mktemp("unity")
    (component,) = re.findall(r"```csharp\n(.*?)```", unity_section(), re.DOTALL)
    texts = {"Tumbling": component, "Unity": UNITY, "ExactRotor": LANGUAGES["csharp"].source(polhode.methods["exact_rotor"])}
    for name, text in texts.items():
        (folder / f"{name}.cs").write_text(text, encoding="utf-8")
    subprocess.run(["mcs", "-out:handle.exe", *(f"{name}.cs" for name in texts)], cwd=folder, check=True)
    text = subprocess.run(["mono", "handle.exe"], cwd=folder, capture_output=True, text=True, check=True).stdout
    return json.loads(text)


def unity_section() -> str:
    page = (PAGE.parents[2] / "docs" / "engines.md").read_text(encoding="utf-8")
    return page.partition("\n#### Unity\n")[2].partition("\n#### ")[0]


def moved(state, seconds: float, moments=MOMENTS, torque=(0.0, 0.0, 0.0)) -> np.ndarray:
    """q and omega (body frame) after a time, under a torque constant in the lab, by a Runge-Kutta method of order 8."""
    a, b, c = moments

    def rates(_, y):
        u, v, w = y[4:]
        matrix = np.array([[0, -u, -v, -w], [u, 0, w, -v], [v, -w, 0, u], [w, v, -u, 0]])
        change = rotation(y[:4]).T @ torque + np.array([(b - c) * v * w, (c - a) * w * u, (a - b) * u * v])
        return [*(0.5 * matrix @ y[:4]), *(change / moments)]

    y = solve_ivp(rates, (0, seconds), np.asarray(state, float), method="DOP853", rtol=1e-11, atol=1e-11).y[:, -1]
    return np.r_[y[:4] / np.linalg.norm(y[:4]), y[4:]]


def rotation(q) -> np.ndarray:
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def angle_between(a, b) -> float:
    """The angle of the rotation between two orientations, rad."""
    matrix = rotation(np.asarray(a[:4])).T @ rotation(np.asarray(b[:4]))
    twice_sines = [matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]]
    return float(np.arctan2(np.linalg.norm(twice_sines), np.trace(matrix) - 1))


def momentum(state, moments=MOMENTS) -> np.ndarray:
    """In the lab."""
    return rotation(np.asarray(state[:4])) @ (np.asarray(moments) * state[4:])


def test_the_component_for_unity_turns_the_handle(unity):
    """On an engine that keeps the angular velocity in single precision, with axes that lie askew in the object."""
    turns, change, away = unity["handle"]
    assert turns == exact_turns() and abs(change) < 1e-5
    assert away < 1e-5, "the centre of mass stays where it is"
    examples = PAGE.parents[1] / "unity"
    step, component = ((examples / name).read_text(encoding="utf-8") for name in ("exact_rotor.cs", "ExactTumbling.cs"))
    assert f"```csharp\n{component}```" in unity_section()
    generated = LANGUAGES["csharp"].source(polhode.methods["exact_rotor"])
    assert step == generated, "run polhode code exact_rotor --language csharp -o examples/unity/exact_rotor.cs"


def test_the_component_keeps_what_scripts_set(unity):
    """A rotation (by the Rigidbody or the transform), an angular velocity, a position and an impulse between two steps."""

    def turned(state) -> np.ndarray:
        """By 2 atan(0.6/0.8) about the vertical of the lab, with the angular velocity kept in the lab."""
        w, x, y, z = state[:4]
        q = np.array([0.8 * w - 0.6 * y, 0.8 * x + 0.6 * z, 0.8 * y + 0.6 * w, 0.8 * z - 0.6 * x])
        return np.r_[q, rotation(q).T @ rotation(state[:4]) @ state[4:]]

    state = moved([1, 0, 0, 0, 1, 2, -1.5], 0.2)
    state = moved(turned(state), 0.3)
    state = moved(turned(state), 0.3)
    assert np.abs(state[4:] - unity["before 40"][4:]).max() < 1e-5 and angle_between(state, unity["before 40"]) < 1e-5
    state[4:] = rotation(state[:4]).T @ (-1, 3, 0.5)
    state = moved(state, 0.6)
    assert np.abs(state[4:] - unity["before 70"][4:]).max() < 1e-5 and angle_between(state, unity["before 70"]) < 1e-5
    assert unity["set centre"][0] < 1e-5
    impulse, before = np.array([2, -1, 3]), momentum(state)
    state[4:] += rotation(state[:4]).T @ impulse / MOMENTS
    assert momentum(unity["scripts"]) == pytest.approx(before + impulse, abs=1e-5)
    assert unity["asleep"] == [1] and momentum(unity["from rest"]) == pytest.approx(np.array([8, 2, -6]), abs=1e-5)
    # An impulse enters within the step: half the change of omega in a step, times its length, and what becomes of it.
    assert angle_between(moved(state, 0.6), unity["scripts"]) < 0.003


def test_the_component_turns_slow_bodies_and_lets_them_rest(unity):
    state, end = np.array(unity["slow"]), np.array(unity["slow after 300 s"])
    assert momentum(end) == pytest.approx(momentum(state), rel=1e-5, abs=1e-5)
    assert angle_between(moved(state, 300), end) < 0.002
    assert unity["at rest"] == [1] and unity["slow and free"] == [0]
    assert angle_between(moved([1, 0, 0, 0, 0.05, 5, 0.05], 1), unity["touching"]) < 1e-5
    assert unity["slowest"][:4] == [1, 0, 0, 0]


def test_the_component_may_be_switched_off_and_on(unity):
    """The moments have changed in the mean time, as by another collider."""
    moments = (3.0, 1.0, 2.5)
    end = moved(unity["enabled"], 1, moments)
    assert angle_between(end, unity["enabled after 1 s"]) < 1e-5
    assert unity["routines"] == [1] and unity["enabled in a step"] == unity["kinematic"] == unity["frozen"] == [0]


def test_numbers_of_the_component_under_a_torque(unity):
    torque, state = np.array([0.5, -1, 1.5]), np.array([1, 0, 0, 0, 0.3, 2, -0.5])
    exact = moved(state, 4, torque=torque)
    errors = [angle_between(exact, unity[f"torque {rate}"]) for rate in (50, 100, 200)]
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.05) and errors[1] / errors[2] == pytest.approx(2, rel=0.05)
    for rate in (50, 100, 200):
        assert momentum(unity[f"torque {rate}"]) == pytest.approx(momentum(state) + 4 * torque, rel=1e-5, abs=1e-5)
    words = " ".join(unity_section().split())
    assert f"torque of {np.linalg.norm(torque):.1f} N m" in words and f"first {np.linalg.norm(state[4:]):.1f} rad/s" in words
    assert f"off by {errors[0]:.2f} rad after 4 s with 50 physics steps a second" in words
    # A cube of side a has the moment m a^2/6, and half of it times omega^2 is the threshold.
    for side in (1, 0.1):
        assert f"of {side} m below {math.sqrt(12 * 0.005) / side:.2g} rad/s" in words


#: The steps of the component in PhysX 4: of the handle turns and the change of energy, of a falling box its height and sleep.
PHYSX = """
const physx = await MODULE.default(), release = physx.PX_PHYSICS_VERSION;
const foundation = physx.PxCreateFoundation(release, new physx.PxDefaultAllocator(), new physx.PxDefaultErrorCallback());
const physics = physx.PxCreatePhysics(release, foundation, new physx.PxTolerancesScale(), false, null);
physx.PxInitExtensions(physics, null);
const ignored = ["onContactBegin", "onContactEnd", "onContactPersist", "onTriggerBegin", "onTriggerEnd", "onTriggerPersist"];
const events = physx.PxSimulationEventCallback.implement(Object.fromEntries(ignored.map((name) => [name, () => {}])));
const V = (x, y, z) => ({ x, y, z }), times = (a, b) => V(a.x * b.x, a.y * b.y, a.z * b.z);
const plus = (a, s, b) => V(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
const dot = (a, b) => a.x * b.x + a.y * b.y + a.z * b.z, inverse = ({ w, x, y, z }) => ({ w, x: -x, y: -y, z: -z });
const dt = 0.02, level = { w: 1, x: 0, y: 0, z: 0 };

function begin(gravity, translation, spin, moments) {
    const description = physx.getDefaultSceneDesc(physics.getTolerancesScale(), 0, events);
    description.gravity = gravity;
    const scene = physics.createScene(description), body = physics.createRigidDynamic({ translation, rotation: level });
    body.setMass(1);
    body.setMassSpaceInertiaTensor(moments);
    body.setLinearDamping(0);
    body.setAngularDamping(0);
    scene.addActor(body, null);
    body.setAngularVelocity(spin, true);
    return [scene, body];
}
const axes = (body) => {
    const q = body.getGlobalPose().rotation, norm = Math.hypot(q.w, q.x, q.y, q.z);
    return { w: q.w / norm, x: q.x / norm, y: q.y / norm, z: q.z / norm };
};
const inBody = (body) => rotated(inverse(axes(body)), body.getAngularVelocity());
function advance(scene, body, moments, touching) {
    const tumbles = (w) => 0.5 * dot(times(moments, w), w) > (touching() ? body.getSleepThreshold() : 0);
    const before = axes(body), spin = body.getAngularVelocity(), omega = inBody(body);
    if (tumbles(omega)) {
        const { q } = run(level, omega, inertia_of(moments), () => V(0, 0, 0), null, dt, 1), sine = Math.sqrt(dot(q, q));
        body.setAngularVelocity(plus(V(0, 0, 0), 2 * Math.atan(sine / q.w) / (sine * dt), rotated(before, q)), true);
    }
    const rest = plus(spin, -1, body.getAngularVelocity());
    scene.simulate(dt, true);
    scene.fetchResults(true);
    const kicked = rotated(inverse(before), plus(body.getAngularVelocity(), 1, rest)), after = axes(body);
    if (!tumbles(kicked)) return;
    const momentum = rotated(inverse(after), rotated(before, times(moments, kicked)));
    const { x, y, z } = moments;
    body.setAngularVelocity(rotated(after, times(momentum, V(1 / x, 1 / y, 1 / z))), true);
}

const handle = V(1, 2, 3), [space, thing] = begin(V(0, 0, 0), V(0, 0, 0), V(0.05, 5, 0.05), handle);
const energy = () => dot(times(handle, inBody(thing)), inBody(thing)), first = energy(), numbers = [];
let turns = 0, last = 5;
for (let n = 0; n < 6000; n++) {
    advance(space, thing, handle, () => false);
    const { y } = inBody(thing);
    turns += last * y < 0;
    last = y;
}
numbers.push(turns, energy() / first - 1);

const half = V(0.5, 0.2, 0.1), squares = times(half, half), { x, y, z } = squares;
const moments = V((y + z) / 3, (x + z) / 3, (x + y) / 3), material = physics.createMaterial(0.6, 0.6, 0.1);
const flags = new physx.PxShapeFlags(physx.PxShapeFlag.eSIMULATION_SHAPE.value);
const box = (size) => {
    const shape = physics.createShape(new physx.PxBoxGeometry(size), material, true, flags);
    shape.setSimulationFilterData({ word0: 1, word1: 1, word2: 0, word3: 0 });
    return shape;
};
for (const leaves of [true, false]) {
    const [scene, body] = begin(V(0, -9.8, 0), V(0, 1.5, 0), V(3, 5, 4), moments);
    const floor = physics.createRigidStatic({ translation: V(0, -5, 0), rotation: level });
    body.attachShape(box(half));
    floor.attachShape(box(V(50, 5, 50)));
    scene.addActor(floor, null);
    for (let n = 0; n < 1000; n++) advance(scene, body, moments, () => leaves && body.getGlobalPose().translation.y < 0.6);
    numbers.push(body.getGlobalPose().translation.y, body.isSleeping());
}
console.log(JSON.stringify(numbers));
"""


def test_the_steps_of_the_component_hold_in_physx_4(tmp_path):
    engine = all_engines()["physx_web"]
    if not is_installed(engine):
        pytest.skip("PhysX 4 is not installed: polhode atlas physx_web --install")
    _, _, lines, *_ = lines_of_page()
    (tmp_path / "exact_rotor.mjs").write_bytes(PAGE.with_name("exact_rotor.mjs").read_bytes())
    package = (packages_of(engine) / "node_modules/@cocos/physx/builds/physx.release.asm.js").as_uri()
    turns, change, height, sleeps, _, sleeps_without = in_node(
        tmp_path, f"{lines}const MODULE = await import({package!r});\n{PHYSX}"
    )
    assert turns == exact_turns() and abs(change) < 1e-5
    assert height == pytest.approx(0.1, abs=0.01) and sleeps
    assert not sleeps_without, "the component would keep a body awake if it left none to the engine"


def test_the_lines_of_the_page_hold_up_to_the_spin_it_names(tmp_path):
    cannon = all_engines()["cannon_es"]
    if not is_installed(cannon):
        pytest.skip("cannon-es is not installed: polhode atlas cannon_es --install")
    package = (packages_of(cannon) / "node_modules" / "cannon-es" / "dist" / "cannon-es.js").as_uri()
    text, *_, moments, step = lines_of_page()
    boxes = re.search(r"const BOXES = .*?\n\];", SCRIPTS["page"], re.DOTALL)[0]
    code = SPUN.replace("MOMENTS_LINES", moments).replace("STEP_LINES", step)
    slow, limit, more, fast = in_node(tmp_path, f"const CANNON = await import({package!r});\n{boxes}\n{code}")
    assert slow[1] == exact_turns() and abs(slow[0]) < 1e-5
    words = " ".join(text.split())
    assert f"{limit[0]:.1%} at 20 rad/s".replace("%", " %") in words and limit[0] == pytest.approx(-0.001, rel=0.1)
    assert f"{fast[0]:.1%} at 40 rad/s".replace("%", " %") in words
    assert f"by {slow[3]:.1f} degrees at 5 rad/s and {fast[3]:.1f} degrees at 40 rad/s" in words
    # The sides of the box around all shapes: 2, 1.47 and 0.22 m.
    x, y, z = 2.0, 1.47, 0.22
    assert slow[2] == pytest.approx([8 / 12 * squares for squares in (y * y + z * z, x * x + z * z, x * x + y * y)])
    assert "{:.2f}, {:.2f} and {:.2f} kg m²".format(*slow[2]) in words
    assert f"{more[0]:.1%} at 30 rad/s".replace("%", " %") in words


def test_the_advice_on_engines_of_the_web_rests_on_its_table():
    head, _, *rows = handle_page().strip().splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert head.count("exact: 31") == 1 and len({row[0] for row in cells}) == len(cells) == 8
    off = [abs(int(row[2]) - 31) for row in cells]
    assert off == sorted(off) and [row[0].split()[0] for row in cells[:2]] == ["ammo.js", "Rapier"]
    least = min(cells, key=lambda row: float(row[3].removesuffix(" %")))
    assert least[0].startswith("Rapier") and least[1] == "★" and least[2:4] == ["29", "2.5 %"]
    assert cells[0][4].startswith("-0.93 ")


def test_numbers_of_the_handle_page_follow_from_its_tables():
    text = (PAGE.parents[2] / "docs" / "engines.md").read_text(encoding="utf-8")
    words = " ".join(text.partition("\n### Why does my T-handle not flip?")[2].partition("\n## ")[0].split())
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in handle_page().strip().splitlines()[2:]]
    ammo, rapier = rows[:2]
    assert f"turns over {rapier[2]} times of {exact_turns()}" in words and f"changes least, by {rapier[3]} in 1000 s" in words
    gained, lost = (float(row[4].partition(" /")[0]) for row in (rapier, ammo))
    assert f"the energy grows by {100 * gained:.0f} %" in words and f"loses {-100 * lost:.0f} % of the energy" in words
    assert int(ammo[2]) == exact_turns() and f"counts all {exact_turns()} turns" in words
    assert (
        f"has turned over {exact_turns()} times" in words
        and f"{100 * 0.99 ** (2 * SECONDS):.0f} % of its energy is left" in words
    )
    # The step of the exact rotor that keeps the error of a turn below 3.6 degrees, of random bodies under smooth torques.
    answer = polhode.recommend(
        torque="smooth", omega=2 * math.pi, error=math.radians(3.6) / (2 * math.pi), laws=True, everything=True
    )
    (step,) = [choice.dt for choice in (answer.best, *answer.alternatives) if choice.method == "exact_rotor"]
    assert f"{1 / step:.0f} steps a turn" in words and f"at 60 Hz that is {60 * step:.1f} turns a second" in words


#: A box that falls on a plane, with the step attached: its height and angular velocity after ten seconds.
FALL = """
const world = new CANNON.World({ gravity: new CANNON.Vec3(0, -9.8, 0) });
const plane = new CANNON.Body({ mass: 0, shape: new CANNON.Plane() });
const shape = new CANNON.Box(new CANNON.Vec3(0.5, 0.2, 0.1)), position = new CANNON.Vec3(0, 1.5, 0);
const body = new CANNON.Body({ mass: 1, shape, position });
plane.quaternion.setFromEuler(-Math.PI / 2, 0, 0);
body.quaternion.setFromEuler(0.3, 0.2, 0.5);
world.addBody(plane);
world.addBody(body);
attach(world, body);
for (let n = 0; n < 600; n++) {
    world.step(1 / 60);
}
console.log(JSON.stringify([body.position.y, body.angularVelocity.length()]));
"""


@pytest.mark.thorough
def test_a_browser_counts_right_on_a_desktop_and_a_phone(tmp_path):
    with chromium(tmp_path / "profile", "--disable-gpu") as driver:
        driver.get(PAGE.as_uri())
        driver.execute_script("document.getElementById('end').click()")
        texts = [e.text for e in driver.find_elements("css selector", ".numbers")]
        turns, energies = zip(*(map(float, re.findall(r"[\d.]+", text)) for text in texts), strict=True)
        assert turns[0] == 0 and abs(turns[1] - turns[2]) <= 0.02 * turns[2] and turns[2] == exact_turns()
        assert abs(energies[1] - 100) <= 0.1 and abs(energies[2] - 100) <= 0.1 and 8.9 < energies[0] < 9.1
        assert driver.find_element("id", "time").text == "120.0 s"
        painted = """return [...document.querySelectorAll("canvas")].map((c) =>
            c.getContext("2d").getImageData(0, 0, c.width, c.height).data.reduce((n, x, i) => n + (i % 4 === 3 && x > 0), 0))"""
        for size in (DESKTOP, PHONE):
            with screen(driver, size):
                assert driver.execute_script("return document.documentElement.scrollWidth") <= size[0]
                driver.execute_script("window.dispatchEvent(new Event('resize'))")
                assert min(driver.execute_script(painted)) > 500, "nothing is drawn"
        again = "document.getElementById('again').click(); return document.getElementById('time').textContent"
        assert driver.execute_script(again) == "0.0 s"
        assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []
