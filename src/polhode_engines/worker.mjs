/* Run bodies in an engine of the web: node worker.mjs ADAPTER.mjs FOLDER PACKAGES.

It speaks as worker.py does: FOLDER/request.json has the function, the option and the runs; run number i is written to
FOLDER/i.json, or its error to FOLDER/i.txt; lines "started i" and "done i" go to standard output, what the engine prints to
standard error. PACKAGES is the folder in which npm has installed the engine.

An adapter exports
  version(packages, option)      the version of the engine, a text;
  load(packages, option)         once in a process: what start needs of the engine;
  start(engine, option, body)    a world with one body in it, as an object with
      step(torque)               one step of body.dt, under a torque in the lab, [x, y, z], or null;
      state()                    [q, omega] as the engine has them: scalar first, omega in the lab;
      end()                      optional: gives back what the world holds.
packages is that folder (packages.mjs): its module(PATH) imports a file, bytes(PATH) reads one, version(NAME) reads a version.
body has inertia [3], q [4] (body to lab, scalar first), omega [3] in the lab, dt in s, and isShipped: whether sleeping, limits
and whatever else the option leaves alone stay as the engine has them. Without it they are switched off where that is possible. */

import { readFileSync, renameSync, writeFileSync, existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { packagesIn } from "./packages.mjs";

const [, , adapterPath, folder, packageFolder] = process.argv;
const packages = packagesIn(packageFolder);

const turned = ([w, x, y, z], v) => {
    const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    const u = [x, y, z];
    const once = cross(u, v).map((value, k) => value + w * v[k]);
    return cross(u, once).map((value, k) => v[k] + 2 * value);
};
const unit = (q) => q.map((value) => value / Math.hypot(...q));

/* The torque of a load in the lab, from the state of the engine before the step; null if there is none. */
const torqueOf = (run, [q, omega]) =>
    run.load === "lab" ? run.value : run.load === "constant" ? turned(unit(q), run.value) : omega.map((x) => -run.value[0] * x);

const answer = (adapter, engine, request, run) => {
    const body = { inertia: run.inertia, q: run.q0, omega: turned(run.q0, run.omega0), dt: run.dt };
    const world = adapter.start(engine, request.option, { ...body, isShipped: request.function === "shipped" });
    const out = { q: [], omega: [], isSingle: true };
    let count = 0;
    try {
        for (const sample of run.samples) {
            for (; count < sample; count++) world.step(run.load === "free" ? null : torqueOf(run, world.state()));
            const [q, omega] = world.state();
            out.isSingle &&= count === 0 || [...q, ...omega].every((x) => Number.isNaN(x) || Math.fround(x) === x);
            const held = unit(q);
            out.q.push(held);
            out.omega.push(turned([held[0], -held[1], -held[2], -held[3]], omega));
        }
    } finally {
        world.end?.();
    }
    return out;
};

const write = (name, text) => {
    writeFileSync(join(folder, `${name}.part`), text);
    renameSync(join(folder, `${name}.part`), join(folder, name));
};
const say = (text) => process.stdout.write(`${text}\n`);
console.log = console.info = console.debug = console.error;

const request = JSON.parse(readFileSync(join(folder, "request.json"), "utf8"));
const adapter = await import(pathToFileURL(resolve(adapterPath)).href);
write("version.txt", String(adapter.version(packages, request.option)));
const engine = await adapter.load(packages, request.option);
for (const [number, run] of request.runs.entries()) {
    if (existsSync(join(folder, `${number}.json`)) || existsSync(join(folder, `${number}.txt`))) continue;
    say(`started ${number}`);
    try {
        /* What is not finite has no place in JSON: it becomes null. */
        write(`${number}.json`, JSON.stringify(answer(adapter, engine, request, run)));
    } catch (error) {
        write(`${number}.txt`, `${error?.name ?? "Error"}: ${error?.message ?? error}`);
    }
    say(`done ${number}`);
}
process.exit(0);
