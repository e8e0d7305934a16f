/* Havok for the web, in single precision. */

export const version = (packages) => packages.version("@babylonjs/havok");
export async function load(packages) {
    const { default: make } = await packages.module("@babylonjs/havok/lib/esm/HavokPhysics_es.js");
    return make({ wasmBinary: packages.bytes("@babylonjs/havok/lib/esm/HavokPhysics.wasm") });
}

/* The engine shortens steps above 0.043 s, so that a second of ours is a 64th of its: a power of two, which changes no digits. */
const OURS = 1 / 64;
const FAST = 1e6;

export function start(havok, option, { inertia, q, omega, dt, isShipped }) {
    const second = isShipped ? 1 : OURS;
    const unwrapped = ([result, value]) => {
        if (result !== havok.Result.RESULT_OK) throw new Error(`Havok answers ${result?.value ?? result}`);
        return value;
    };
    const world = unwrapped(havok.HP_World_Create());
    havok.HP_World_SetGravity(world, [0, 0, 0]);
    if (!isShipped) havok.HP_World_SetSpeedLimit(world, FAST, FAST);
    const body = unwrapped(havok.HP_Body_Create());
    const shape = unwrapped(havok.HP_Shape_CreateBox([0, 0, 0], [0, 0, 0, 1], [1, 1, 1]));
    havok.HP_Body_SetShape(body, shape);
    havok.HP_Body_SetMotionType(body, havok.MotionType.DYNAMIC);
    havok.HP_Body_SetMassProperties(body, [[0, 0, 0], 1, inertia, [0, 0, 0, 1]]);
    if (option === "damping 0") {
        havok.HP_Body_SetLinearDamping(body, 0);
        havok.HP_Body_SetAngularDamping(body, 0);
    } else if (!isShipped) {
        havok.HP_Body_SetAngularDamping(body, unwrapped(havok.HP_Body_GetAngularDamping(body)) / second);
    }
    havok.HP_Body_SetOrientation(body, [q[1], q[2], q[3], q[0]]);
    havok.HP_World_AddBody(world, body, false);
    if (!isShipped) havok.HP_Body_SetActivationControl(body, havok.ActivationControl.ALWAYS_ACTIVE);
    const spin = omega.map((x) => x / second);
    havok.HP_Body_SetAngularVelocity(body, spin);
    return {
        step(torque) {
            if (torque) havok.HP_Body_ApplyAngularImpulse(body, torque.map((x) => (x * dt) / second));
            havok.HP_World_Step(world, dt * second);
        },
        state() {
            const [x, y, z, w] = unwrapped(havok.HP_Body_GetOrientation(body));
            return [[w, x, y, z], unwrapped(havok.HP_Body_GetAngularVelocity(body)).map((rate) => rate * second)];
        },
        end() {
            havok.HP_World_RemoveBody(world, body);
            havok.HP_Body_Release(body);
            havok.HP_Shape_Release(shape);
            havok.HP_World_Release(world);
        },
    };
}
