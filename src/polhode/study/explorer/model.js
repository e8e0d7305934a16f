// Numbers of the run and what follows from them, without anything that is drawn. What ranks methods here is a copy of
// fits.largest_step and ranking.ranked of polhode; a test holds both to the same answers in a browser.
"use strict";

const RUN = JSON.parse(document.getElementById("content").textContent);
const METHODS = RUN.methods;
const EPSILON = Number.EPSILON;

const decoded = new WeakMap();

// A packed array: its shape and its values in one row, unpacked when they are first asked for.
function unpack(packed) {
  if (!decoded.has(packed)) {
    const single = packed.f4 !== undefined;
    const text = atob(single ? packed.f4 : packed.f8);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    // Little-endian, as is every machine that browsers run on.
    decoded.set(packed, single ? new Float32Array(bytes.buffer) : new Float64Array(bytes.buffer));
  }
  return decoded.get(packed);
}

// Row `index` of a packed array, an array of plain numbers; further indices go further in.
function row(packed, ...index) {
  const values = unpack(packed);
  let size = values.length, start = 0;
  index.forEach((i, level) => {
    size /= packed.shape[level];
    start += i * size;
  });
  return Array.from(values.subarray(start, start + size));
}

const keysOf = (object) => Object.keys(object);
const problemsWith = (part) => keysOf(RUN.problems).filter((key) => RUN.problems[key][part] !== undefined);
// Those that the report compares; variants that reproduce published curves are for nothing else.
const ORIGINAL = RUN.groups.flatMap((group) => group.methods).filter((key) => !METHODS[key].published);

// ---- which method reaches an error soonest ----

function ladderOf(problem, method) {
  const work = RUN.problems[problem].work;
  const i = work.methods.indexOf(method);
  const pairs = row(work.dt).map((dt, k) => [dt, unpack(work.error)[i * work.error.shape[1] + k]]);
  const run = pairs.filter(([, error]) => !Number.isNaN(error)).sort((a, b) => a[0] - b[0]);
  return {
    dt: run.map((pair) => pair[0]),
    error: run.map((pair) => pair[1]),
    horizon: work.horizon,
    order: unpack(work.order)[i],
    orderFrom: unpack(work.order_from)[i],
    stepTime: unpack(work.step_time)[i],
    torquesPerStep: unpack(work.torques)[i],
    starting: unpack(work.starting)[i],
    unit: work.unit,
  };
}

const roundOff = (ladder, dt) => (RUN.floor * EPSILON * ladder.horizon) / dt;
const wholeSteps = (horizon, dt) => Math.ceil((horizon / dt) * (1 - 1e-12));

// The largest step size with which, as with all finer ones, the error stays below the target.
function find(ladder, target) {
  const { dt, error } = ladder;
  if (dt.length === 0) return { dt: NaN, how: "not run" };
  const order = ladder.orderFrom <= dt[0] * (1 + 1e-9) ? ladder.order : NaN;
  let stop = error.findIndex((e, i) => !(e <= target) && !(e <= roundOff(ladder, dt[i])));
  if (stop < 0) stop = dt.length;
  let i = stop - 1;
  while (i >= 0 && !(error[i] <= target)) i--;
  if (i === dt.length - 1) return { dt: dt[i], how: "coarsest", finer: dt[i], finerError: error[i] };
  const unreached = { dt: NaN, how: "unreached" };
  if (i < 0) {
    // Where the line of the fitted order meets the target below the finest step that was run.
    const beyond = dt[0] * Math.pow(target / error[0], 1 / order);
    if (stop > 0 || !(order > 0.5) || roundOff(ladder, beyond) > target) return unreached;
    return { dt: beyond, how: "extrapolated", coarser: dt[0], coarserError: error[0] };
  }
  const known = { how: "between", finer: dt[i], coarser: dt[i + 1], finerError: error[i], coarserError: error[i + 1] };
  if (!Number.isFinite(error[i + 1])) return { dt: dt[i], ...known };
  const low = Math.log(Math.max(error[i], EPSILON)), high = Math.log(error[i + 1]);
  const width = Math.log(dt[i + 1] / dt[i]);
  if (error[i + 1] <= roundOff(ladder, dt[i + 1]) && high - low < 0.5 * (Number.isFinite(order) ? order : 1) * width) return unreached;
  const share = high > low ? (Math.log(target) - low) / (high - low) : 0;
  return { dt: dt[i] * Math.exp(width * Math.min(Math.max(share, 0), 1)), ...known };
}

// Steps, torques and seconds of a run with this step size; seconds are NaN where nothing was timed.
function workOf(ladder, dt, price) {
  const steps = wholeSteps(ladder.horizon, dt);
  const torques = steps * ladder.torquesPerStep + ladder.starting;
  const each = price === 0 ? 0 : price * (ladder.unit === null ? NaN : ladder.unit);
  return { dt, steps, torques, seconds: steps * ladder.stepTime + torques * each };
}

const isTimed = (problem) => RUN.problems[problem].work.unit !== null;

// The methods `keys` that reach an error, soonest first; by torques where nothing was timed.
function ranked(problem, target, price, keys) {
  const cost = isTimed(problem) ? "seconds" : "torques";
  const there = new Set(keys);
  return RUN.problems[problem].work.methods
    .filter((key) => there.has(key))
    .map((key) => {
      const ladder = ladderOf(problem, key);
      const found = find(ladder, target);
      return { method: key, ...found, ...workOf(ladder, found.dt, price) };
    })
    .filter((found) => Number.isFinite(found[cost]))
    .sort((a, b) => a[cost] - b[cost]);
}

const torquesOf = (problem, key) => {
  const work = RUN.problems[problem].work;
  return unpack(work.torques)[work.methods.indexOf(key)];
};

// ---- polhodes ----

// The curve on which the angular velocity of a free body stays: kinetic energy T (J) and angular momentum L (J s) given, on the
// side of `near`; an array of [x, y, z] in rad/s, null where no motion has this energy and momentum.
function polhode(inertia, T, L, near, count = 241) {
  const axes = [0, 1, 2].sort((a, b) => inertia[a] - inertia[b]);
  const [A, B, C] = axes.map((axis) => inertia[axis]);
  const low = 2 * T * A, middle = 2 * T * B, high = 2 * T * C, square = L * L;
  if (!(square >= low * (1 - 1e-12) && square <= high * (1 + 1e-12))) return null;
  // About the axis of the largest moment, or about that of the smallest.
  const about = square > middle || A === B ? 2 : 0;
  const [first, second] = about === 2 ? [0, 1] : [1, 2];
  const moments = [A, B, C];
  const axial = moments[about];
  const left = Math.max(0, Math.abs(2 * T * axial - square));
  const radius = (moment) => (moment === axial ? 0 : Math.sqrt(left / (moment * Math.abs(axial - moment))));
  const radii = [radius(moments[first]), radius(moments[second])];
  const side = near[axes[about]] < 0 ? -1 : 1;
  const curve = [];
  for (let k = 0; k < count; k++) {
    const angle = (2 * Math.PI * k) / (count - 1);
    const point = [0, 0, 0];
    const x = radii[0] * Math.cos(angle), y = radii[1] * Math.sin(angle);
    point[axes[first]] = x;
    point[axes[second]] = y;
    point[axes[about]] = side * Math.sqrt(Math.max(0, (2 * T - moments[first] * x * x - moments[second] * y * y) / axial));
    curve.push(point);
  }
  return curve;
}

const energyOf = (inertia, omega) => inertia.reduce((sum, moment, i) => sum + moment * omega[i] ** 2, 0) / 2;
const momentumOf = (inertia, omega) => Math.hypot(...inertia.map((moment, i) => moment * omega[i]));
