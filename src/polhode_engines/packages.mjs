/* The packages that npm has installed in a folder, as adapters of engines of the web take from them. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

export function packagesIn(folder) {
    const file = (path) => join(resolve(folder), "node_modules", path);
    const bytes = (path) => readFileSync(file(path));
    return {
        file,
        bytes,
        require: createRequire(join(resolve(folder), "package.json")),
        module: async (path) => import(pathToFileURL(file(path)).href),
        version: (name) => JSON.parse(bytes(`${name}/package.json`)).version,
    };
}
