// The data of the page, and the little that follows from them here: work at a price, and the polhode of a free body.
"use strict";

const RUN = JSON.parse(document.getElementById("content").textContent);
const METHODS = RUN.methods;
const keysOf = Object.keys;
const unpacked = new WeakMap();

// A packed array: its values in one row, unpacked at the first use. Little-endian, as is every machine that browsers run on.
function unpack(packed) {
  if (unpacked.has(packed)) return unpacked.get(packed);
  const bytes = Uint8Array.from(atob(packed.f4 ?? packed.f8), (c) => c.charCodeAt(0)).buffer;
  unpacked.set(packed, packed.f4 === undefined ? new Float64Array(bytes) : new Float32Array(bytes));
  return unpacked.get(packed);
}

// Row `index` of a packed array as an array of numbers; further indices go further in.
function row(packed, ...index) {
  let size = unpack(packed).length, start = 0;
  index.forEach((i, level) => {
    size /= packed.shape[level];
    start += i * size;
  });
  return Array.from(unpack(packed).subarray(start, start + size));
}

const about = (problem) => RUN.problems[problem];
const problemsWith = (name) => keysOf(RUN.problems).filter((key) => about(key)[name] !== undefined);
const torquesOf = (problem, key) => unpack(about(problem).work.torques)[about(problem).work.methods.indexOf(key)];

// Work of method `i` of a problem with a number of steps; seconds are NaN where nothing was timed.
function workOf(work, i, steps, price) {
  const torques = steps * unpack(work.torques)[i] + unpack(work.starting)[i];
  const seconds = steps * unpack(work.step_time)[i] + torques * price * (work.unit ?? NaN);
  return { dt: work.horizon / steps, steps, torques, seconds };
}

const sum = (values) => values.reduce((a, b) => a + b, 0);
const norm = (vector) => Math.hypot(...vector);
const scaled = (vector, factors) => vector.map((value, i) => value * factors[i]);

// The polhode of energy T (J) and angular momentum L (J s) on the side of `near`: points in rad/s; empty if there is none.
function polhode(inertia, T, L, near, count = 241) {
  const order = [0, 1, 2].sort((a, b) => inertia[a] - inertia[b]);
  const [low, middle, high] = order.map((axis) => 2 * T * inertia[axis]);
  if (!(L * L >= low * (1 - 1e-12) && L * L <= high * (1 + 1e-12))) return [];
  // It runs about this axis, of the largest or of the smallest moment.
  const c = L * L > middle || low === middle ? order[2] : order[0], [a, b] = order.filter((axis) => axis !== c);
  const left = Math.abs(2 * T * inertia[c] - L * L);
  const radius = (m) => (m === inertia[c] ? 0 : Math.sqrt(left / (m * Math.abs(inertia[c] - m))));
  return Array.from({ length: count }, (_, k) => {
    const point = [0, 0, 0], angle = (2 * Math.PI * k) / (count - 1);
    point[a] = radius(inertia[a]) * Math.cos(angle);
    point[b] = radius(inertia[b]) * Math.sin(angle);
    const rest = (2 * T - inertia[a] * point[a] ** 2 - inertia[b] * point[b] ** 2) / inertia[c];
    return point.with(c, (near[c] < 0 ? -1 : 1) * Math.sqrt(Math.max(0, rest)));
  });
}

// The point of a polhode nearest to a sample; null where there is no such polhode.
function nearest(inertia, omega, T, L) {
  const far = (point) => norm(point.map((value, i) => value - omega[i]));
  return polhode(inertia, T, L, omega).reduce((best, point) => (best && far(best) <= far(point) ? best : point), null);
}
