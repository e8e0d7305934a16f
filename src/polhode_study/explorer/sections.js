// The sections of the page: what each draws for the choices made. Only the one in view is drawn.

const NO_METHODS = "No method is chosen: select some in the list of methods.";
const MOST = 8; // methods that are drawn unless others are chosen
const isOpen = () => choice.methods === "auto";
const isAllowed = (key) => (isOpen() ? !METHODS[key].published : choice.methods.includes(key));
let pool = [], drawn = []; // methods that the view could draw, and those that it draws

// Of the methods that a view has, those to draw: the chosen ones, or the first of `order`.
function pick(methods, order = RUN.familiar) {
  const some = order.filter((key) => methods.includes(key) && isAllowed(key)).slice(0, isOpen() ? MOST : undefined);
  [pool, drawn] = [methods, keysOf(METHODS).filter((key) => some.includes(key))];
  return drawn;
}

// The rows to draw, from the lowest value, with its ratio to the first; and the best of all, drawn or not.
function ordered(methods, rows) {
  const finite = rows.filter((r) => Number.isFinite(r.value)).sort((a, b) => a.value - b.value);
  pick(methods, [...new Set([...finite, ...rows].map((r) => r.method))]);
  const some = finite.filter((r) => drawn.includes(r.method));
  const visible = some.map((r) => ({ ...r, words: `${r.words} (×${text(r.value / some[0].value)})` }));
  return { visible, best: finite.filter((r) => !METHODS[r.method].published) };
}

const among = (keys, key) => (keys.includes(key) ? key : keys[0]);
const oneOf = (rows, name, value) => rows.find((r) => r[name] === value) || rows[0];
const problemFor = (name) => among(problemsWith(name), choice.problem);

// What to know of methods that a sentence names.
function warningsOf(keys) {
  const cautions = [...new Set(keys.map((key) => METHODS[key].caution).filter(Boolean))];
  const those = (caution) => names(keys.filter((key) => METHODS[key].caution === caution));
  return cautions.length ? [...cautions.map((caution) => `${caution}: ${those(caution)}.`), RUN.instead].join(" ") : "";
}

const fieldNow = () => oneOf(RUN.fields, "key", choice.field);
const priceNow = () => (choice.price < 0 ? fieldNow()?.price ?? RUN.price : choice.price);

function drawField() {
  const field = fieldNow();
  if (!field) return missing("This run has nothing of what page 1 of the report says.", "plot-field");
  const link = (f) => `<a href="#field?field=${f.key}"${f === field ? ' aria-current="true"' : ""}>${f.head}</a>`;
  byId("fields").innerHTML = RUN.fields.map(link).join("");
  byId("answer-field").innerHTML = field.answer;
  byId("caption-field").innerHTML = field.caption;
  const keys = field.rows.map((r) => r.method).filter(Boolean);
  pick(keys, [...new Set([field.take, ...keys])]);
  list("plot-field", field.rows.filter((r) => !r.method || drawn.includes(r.method)), field.unit, []);
  document.querySelector(`#plot-field [data-method="${field.take}"]`)?.classList.add("take");
}

const X_AXES = { time: ["time to the end (s)", "seconds"], torques: ["torque evaluations", "torques"], dt: ["step size (s)", "dt"] };
const SIGN = { coarsest: " †", extrapolated: " *" };

function drawCompare() {
  const problem = problemFor("work"), { work } = about(problem), timed = work.unit !== null, price = timed ? priceNow() : 0;
  const usable = (key) => isAllowed(key) && work.methods.includes(key) && !(choice.one && torquesOf(problem, key) !== 1);
  const keys = work.methods.filter(usable), error = RUN.errors.indexOf(choice.error);
  const said = (r) => `dt ${text(r.dt, 4)} s, ${whole(r.steps)} steps, ${whole(r.torques)} torques${timed ? `, ${seconds(r.seconds)}` : ""}`;
  const every = keys.map((method) => {
    const i = work.methods.indexOf(method), how = RUN.how[row(work.how, i)[error]];
    const run = workOf(work, i, row(work.steps, i)[error], price), value = timed ? run.seconds : run.torques;
    return { method, how, ...run, value, words: (timed ? seconds(value) : whole(value)) + (SIGN[how] || ""), more: said(run) };
  });
  const { visible, best } = ordered(work.methods, every);
  document.querySelectorAll(".timed").forEach((element) => (element.hidden = !timed));
  byId("answer").innerHTML = keys.length ? answer(problem, best, price, timed) : NO_METHODS;
  list("plot-rank", visible, timed ? "time to that error" : "torque evaluations to that error", drawn);
  if (!drawn.length) return missing(NO_METHODS, "plot-work");
  const [title, name] = X_AXES[timed || choice.x !== "time" ? choice.x : "torques"];
  const traces = drawn.map((key) => {
    const i = work.methods.indexOf(key), runs = row(work.ladder).map((steps) => workOf(work, i, steps, price));
    const look = key === best[0]?.method ? { width: 3.2, size: 9 } : {};
    return line(key, runs.map((run) => run[name]), row(work.error, i), { ...look, hovertext: runs.map(said) });
  });
  const axes = { xaxis: titled(title, logs(allOf(traces, "x"))), yaxis: errors(allOf(traces, "y")) };
  traces.push(withStyle("met", { x: visible.map((r) => r[name]), y: visible.map(() => choice.error) }));
  const note = withStyle("note", { yref: "y", x: 0.01, y: Math.log10(choice.error), text: "your error" });
  draw("plot-work", traces, { ...axes, shapes: [rule("y", choice.error)], annotations: [note] });
}

function answer(problem, best, price, timed) {
  const { work } = about(problem), error = text(choice.error), several = choice.one ? "" : " --several-torques";
  if (!best.length) return `No method chosen reaches ${error} within the steps that were run. Ask for a larger error.`;
  const [first, ...others] = best, close = others.filter((r) => r.value < 1.1 * first.value).map((r) => r.method);
  const next = others[close.length], named = [first.method, ...close, ...(next ? [next.method] : [])];
  const torque = price ? `A torque costs ${text(price)} steps of direct Euler (${seconds(price * work.unit)}).` : "A torque costs nothing.";
  return [
    `${isOpen() ? "For this body and torque take" : "Of the methods chosen, take"} <strong>${names([first.method])}</strong>`,
    `with dt = <strong>${text(first.dt, 4)} s</strong> (${text(work.horizon)} s in ${whole(first.steps)} steps):`,
    `${whole(first.torques)} torques${timed ? `, <strong>${seconds(first.seconds)}</strong>` : ""}${SIGN[first.how] || ""}.`,
    close.length ? `Within 10 %, an order that another processor may reverse: ${names(close)}.` : "",
    next ? `Next: ${names([next.method])}, ${text(next.value / first.value)} times the ${timed ? "time" : "torques"}.` : "",
    `${warningsOf(named)} ${RUN.answers[about(problem).class] || ""}`,
    `<span class="more">${escaped(work.about)} Error below ${error}. ${timed ? torque : "Methods are ranked by torque evaluations."}`,
    "The largest error along the run needs shorter steps:",
    `<code>polhode recommend ${problem} --error ${typed(choice.error)} --torque-price ${typed(price)}${several}</code></span>`,
  ].join(" ");
}

function drawRandom() {
  if (!RUN.random.length) return missing("This run has no random bodies.", "plot-laws", "plot-needed");
  const { whose, classes, targets, methods, ...draws } = oneOf(RUN.random, "whose", choice.draw);
  const torque = Math.max(0, classes.findIndex(([key]) => key === choice.torque));
  const target = Math.max(0, targets.indexOf(Number(choice.target)));
  offer("draw", RUN.random.map((each) => [each.whose, each.name]), whose);
  offer("torque", classes, classes[torque][0]);
  offer("target", targets.map((value) => [String(value), text(value)]), String(targets[target]));
  byId("about-random").textContent = draws.about;
  byId("answer-random").innerHTML = draws.answers[torque][target][Number(choice.one)];
  // Without a torque the steps are what counts.
  const unit = classes[torque][0] === "free" ? "steps" : choice.count, evaluations = unpack(draws.torques);
  const worth = (key) => (unit === "steps" ? 1 : evaluations[methods.indexOf(key)]);
  const needed = (key, k) => row(draws.steps, torque, methods.indexOf(key), k).map((steps) => steps * worth(key));
  const said = ([low, median]) => `half of the bodies: ${text(median)}, 10 %: ${text(low)}`;
  const usable = (key) => methods.includes(key) && isAllowed(key) && !(choice.one && evaluations[methods.indexOf(key)] !== 1);
  const rows = RUN.familiar.filter(usable).map((method) => {
    const all = needed(method, target);
    return { method, value: all[2], words: text(all[2]), more: said(all) };
  });
  const { visible } = ordered(methods, rows);
  list("plot-needed", visible, `${unit} per radian for 90 % of the bodies`, drawn);
  const traces = drawn.map((key) => {
    const all = targets.map((_, k) => needed(key, k));
    return line(key, targets, all.map((each) => each[2]), { hovertext: all.map(said) });
  });
  if (!drawn.length) return missing(NO_METHODS, "plot-laws");
  const yaxis = titled(`${unit} per radian for 90 % of the bodies`, logs(allOf(traces, "y")));
  draw("plot-laws", traces, { xaxis: logs(targets), yaxis, shapes: [rule("x", targets[target])] });
}

function drawSatellites() {
  if (!RUN.satellites) return missing("This run has no satellites.", "plot-satellites", "plot-taken");
  const { methods, errors, about } = RUN.satellites, { single } = choice, price = priceNow();
  const question = Object.fromEntries(keysOf(QUESTION).map((key) => [key, QUESTION[key](choice[key])]));
  const { rows, best, error, said, half } = satelliteAnswer({ ...question, price, single });
  byId("about-satellites").textContent = about;
  const strong = (html, words) => html.replace(words, "<strong>$&</strong>"), [first, ...others] = said.map(escaped);
  const take = best ? [`${escaped(best.label)} (${best.method})`, `${general(best.step, 4)} s`].reduce(strong, first) : first;
  const allowed = rows.filter((r) => r.single || !single);
  const more = best && [warningsOf(allowed.map((r) => r.method)), half, `From a terminal: <code>${escaped(command(price, single))}</code>`];
  byId("answer-satellites").innerHTML = [take, ...others].join("<br>") + (best ? `<span class="more">${more.join(" ")}</span>` : "");
  const run = ({ method, step, often, evaluations, seconds: value }) => {
    const length = `${general(step, 4)} s`, said = `${often}, ${text(evaluations)} torques and ${seconds(value)} for one second of the motion`;
    return { method, value, words: length, more: `steps of ${length}: ${said}` };
  };
  const { visible } = ordered(methods, allowed.map(run));
  list("plot-taken", visible, "longest step (time, relative to the first)", drawn);
  document.querySelector(`#plot-taken [data-method="${best?.method}"]`)?.classList.add("take");
  if (!drawn.length) return missing(NO_METHODS, "plot-satellites");
  const least = Math.min(errors.at(-1) / 100, error ?? 1), count = 1 + Math.round(4 * Math.log10(errors[0] / least));
  const targets = Array.from({ length: count }, (_, k) => errors[0] * (least / errors[0]) ** (k / (count - 1)));
  const needed = targets.map((target) => sufficient(target, RUN.satellites.constants.share));
  const traces = drawn.map((key) => line(key, targets, needed.map((steps) => steps[methods.indexOf(key)]), { every: 6 }));
  const yaxis = titled("steps per radian for 90 % of the satellites", logs(allOf(traces, "y")));
  draw("plot-satellites", traces, { xaxis: logs(targets), yaxis, shapes: error ? [rule("x", error)] : [] });
}

// The question as it is asked in a terminal.
function command(price, single) {
  const options = keysOf(QUESTION).filter((key) => choice[key].trim()).map((key) => {
    return `--${key === "below" ? "error" : key} ${wordsOf(choice[key]).join(vectorOf(choice[key]) ? " " : "")}`;
  });
  if (price !== RUN.price) options.push(`--torque-price ${typed(price)}`);
  return ["polhode recommend --spacecraft", ...options, ...(single ? ["--one-torque"] : [])].join(" ");
}

function drawOrders() {
  const { quantity } = choice, problem = problemFor("orders"), { label, methods, orders } = about(problem), { fits, error } = orders[quantity];
  pick([...new Set(problemsWith("orders").flatMap((key) => about(key).methods))]);
  byId("plot-map").innerHTML = drawn.length ? RUN.maps[quantity] : `<p class="missing">${NO_METHODS}</p>`;
  document.querySelectorAll("#plot-map tr[data-method]").forEach((tr) => (tr.hidden = !drawn.includes(tr.dataset.method)));
  document.querySelectorAll(`#plot-map [data-problem="${problem}"]`).forEach((cell) => cell.classList.add("chosen"));
  document.querySelectorAll(".problem").forEach((place) => (place.textContent = label));
  const keys = drawn.filter((key) => methods.includes(key)), fitted = keys.filter((key) => fits[key].value !== null), dt = row(orders.dt);
  const end = Math.max(4.4, ...fitted.map((key) => Math.min(fits[key].value, 6) + 0.4));
  list("plot-order", fitted.map((method) => ({ method, ...fits[method] })), `order of ${RUN.quantities[quantity]}`, keys, [0, end]);
  if (!keys.length) return missing("No method chosen runs this problem.", "plot-error");
  const traces = keys.flatMap((key) => {
    const values = row(error, methods.indexOf(key)), { from, to } = fits[key];
    const inside = drawable(values).map((value, k) => (dt[k] >= from / (1 + 1e-9) && dt[k] <= to * (1 + 1e-9) ? value : null));
    const band = withStyle("band", { x: dt, y: inside, line: { color: colourOf(key) } });
    return [band, line(key, dt, values, { width: 1.3, size: 5.5 })];
  });
  const yaxis = titled(`relative error of ${RUN.quantities[quantity]}`, errors(allOf(traces, "y")));
  draw("plot-error", traces, { xaxis: logs(dt, 6), yaxis });
}

function drawLong() {
  const problem = problemFor("long");
  if (!problem) return missing("This run has no long runs.", "plot-long", "plot-worst");
  const which = about(problem).switched ? choice.run : "long", run = about(problem)[which], name = among(keysOf(run.values), choice.long);
  const kinds = keysOf(RUN.normalised).filter((key) => about(problem)[key]), [words, unit] = RUN.long[name];
  offer("run", kinds.map((key) => [key, RUN.normalised[key]]), which);
  offer("long", keysOf(run.values).map((key) => [key, RUN.long[key][0]]), name);
  byId("about-long").textContent = run.about;
  const [, ...time] = row(run.time), series = (key) => row(run.values[name], run.methods.indexOf(key)).slice(1);
  const rows = pick(run.methods).map((method) => {
    const values = series(method), value = Math.max(...values.filter(Number.isFinite)), end = values.at(-1);
    return { method, value, words: `${text(value)}${Number.isFinite(end) ? "" : ", then blew up"}`, more: `at the end ${text(end)}` };
  });
  const moving = rows.filter((r) => r.value > 0).sort((a, b) => a.value - b.value);
  list("plot-worst", moving, `largest ${words}${unit}`, drawn);
  if (!moving.length) return missing(drawn.length ? "It stays exactly zero in all runs chosen." : NO_METHODS, "plot-long");
  const traces = drawn.map((key) => line(key, time, series(key), { width: 1.3, size: 6, every: 12 }));
  const axes = { xaxis: choice.axis === "log" ? logs(time, 5) : {}, yaxis: titled(words + unit, errors(allOf(traces, "y"), 100)) };
  draw("plot-long", traces, axes);
}

const signed = (v) => (Number.isFinite(v) ? `${v < 0 ? "−" : v > 0 ? "+" : ""}${text(Math.abs(v))}` : "lost");

function drawPolhode() {
  const tops = problemsWith("top"), key = among(tops, choice.top);
  if (!key) return missing("This run has no long run of a top without torque.", "plot-polhode", "plot-departure");
  const { top, long: { methods, dt, ...run } } = about(key), { inertia, start } = top;
  const method = among(methods, choice.follow), i = methods.indexOf(method), colour = colourOf(method);
  offer("top", tops.map((each) => [each, about(each).label]), key);
  offer("follow", keysOf(METHODS).filter((each) => methods.includes(each)).map((each) => [each, labelOf(each)]), method);
  const time = row(run.time), last = time.length - 1, moment = Math.min(choice.moment, last), when = `${text(time[moment], 4)} s`;
  const energy = row(top.energy, i), momentum = row(top.momentum, i), omega = time.map((_, k) => row(top.omega, i, k));
  const T = sum(inertia.map((m, k) => m * start[k] ** 2)) / 2, L = norm(scaled(inertia, start));
  // Magnified by 1, 3, 10, 30, ..., by default as much as lets the drift be seen.
  const power = choice.magnify < 0 ? unpack(top.magnify)[i] : choice.magnify, factor = Number((10 ** power).toPrecision(1));
  document.querySelector('[data-key="moment"]').max = last;
  document.querySelector('[data-key="magnify"]').value = power;
  byId("out-magnify").textContent = factor === 1 ? "as it is" : `× ${text(factor)}`;
  byId("out-moment").textContent = when;
  const slipped = (k) => [T * (1 + factor * energy[k]), L * (1 + factor * momentum[k])], alive = (k) => Number.isFinite(energy[k]);
  const now = alive(moment) ? polhode(inertia, ...slipped(moment), start) : [];
  const placed = (k) => (factor === 1 ? omega[k] : nearest(inertia, omega[k], ...slipped(k)));
  const samples = [...Array(moment + 1).keys()].filter(alive).map((k) => [k, placed(k)]);
  const past = samples.filter(([, point]) => point && norm(point) < 4 * norm(start));
  const said = (k, name, w) => `<b>${escaped(name)}</b> at ${text(time[k])} s<br>ω = (${w.map((each) => text(each)).join(", ")}) rad/s`;
  const drift = (k) => `energy ${signed(energy[k])}, momentum ${signed(momentum[k])}`;
  const traces = globe(inertia.map((m) => Math.sqrt((2 * T) / m)), top, (m) => [T, Math.sqrt(2 * T * m)]);
  traces.push(curve(polhode(inertia, T, L, start), tint("ink"), "exact polhode"));
  if (now.length) traces.push(curve(now, colour, `polhode of ${labelOf(method)} at ${when}`));
  const look = { size: past.map(([k]) => (k === moment ? 8 : 3)), color: colour, opacity: 0.75 };
  const hover = past.map(([k]) => `${said(k, labelOf(method), omega[k])}<br>${drift(k)}`);
  traces.push(spots(past.map(([, point]) => point), look, "samples", hover));
  const exact = top.exact ? [row(top.exact, moment)] : [], diamond = { size: 6, symbol: "diamond", color: tint("ink") };
  traces.push(spots(exact, diamond, "exact", exact.map((w) => said(moment, "exact", w))));
  // From the side on which the motion is, and a little from above the other axes.
  const unit = start.map((w, k) => w * Math.sqrt(inertia[k]));
  const aside = unit.map((d, k) => d / norm(unit) + (d < 0 ? -1 : 1) * [0.5, 0.5, 0.35][k]);
  const [x, y, z] = aside.map((d) => (1.65 * d) / norm(aside));
  draw("plot-polhode", traces, { uirevision: key, scene: { camera: { eye: { x, y, z } }, uirevision: key } });
  const none = "With this magnification no motion has this energy and momentum: magnify less.";
  const magnified = now.length ? `The drift is magnified ${text(factor)} times, and samples are drawn with it.` : none;
  byId("drift").innerHTML =
    `<strong>${names([method])}</strong>, dt = ${text(dt)} s, after ${when} (${whole(time[moment] / dt)} steps), relative to the exact ` +
    `motion: ${alive(moment) ? drift(moment) : "it has blown up"}. ${warningsOf([method])}` +
    `<span class="more">${factor > 1 ? magnified : now.length ? "" : "The motion is lost."}</span>`;
  const largest = Math.max(...[...energy, ...momentum].filter(Number.isFinite).map(Math.abs)), log = largest > 3;
  const series = ([meta, values, dash]) => {
    const y = log ? values.map((v) => Math.abs(v) || null) : values;
    return { name: meta, meta, hovertext: "", mode: "lines", x: time, y, line: { color: colour, width: 2, dash } };
  };
  const yaxis = log ? titled("|relative deviation|", logs([1e-6, Math.min(largest, 1e30)])) : {};
  const shapes = [rule("x", time[moment], { color: tint("ink"), dash: "solid" })];
  draw("plot-departure", [["energy", energy, "solid"], ["angular momentum", momentum, "6px,4px"]].map(series), { yaxis, shapes });
}

function drawBodies() {
  const contact = oneOf(RUN.contacts, "error", Number(choice.contact)), scene = oneOf(RUN.scenes, "name", choice.scene);
  offer("contact", RUN.contacts.map((r) => [String(r.error), text(r.error)]), String(contact?.error));
  byId("answer-contacts").innerHTML = contact ? contact.answer : "This run has no contacts.";
  if (!scene) return missing("This run has no many-body scenes.", "plot-bodies", "plot-along");
  const { methods } = scene, measure = among(keysOf(scene.values), choice.measure), dt = row(scene.dt), single = dt.length === 1;
  const { states, middle } = scene.values[measure], kind = among(keysOf(middle), choice.beside), paired = kind === "paired";
  const beside = paired ? row(states, methods.indexOf("spiral_leapfrog")) : null;
  offer("scene", RUN.scenes.map((each) => [each.name, each.title]), scene.name);
  offer("measure", keysOf(scene.values).map((key) => [key, RUN.measures[key]]), measure);
  offer("beside", keysOf(middle).map((key) => [key, RUN.beside[key]]), kind);
  byId("about-scene").textContent = scene.about;
  byId("figure-along").hidden = !scene.along;
  byId("grid-bodies").classList.toggle("two", Boolean(scene.along));
  if (!pick(methods).length) return missing(NO_METHODS, "plot-bodies", "plot-along");
  const clouds = drawn.map((key, j) => {
    const apart = 1 + 0.015 * (j - (drawn.length - 1) / 2), points = row(states, methods.indexOf(key)).map((v, k) => v / (beside?.[k] ?? 1));
    const x = points.map((_, k) => (single ? labelOf(key) : dt[Math.floor(k / scene.seeds)] * apart));
    const marker = { color: colourOf(key), size: 4, opacity: scene.seeds > 10 ? 0.25 : 0.5 };
    const hovertext = points.map((_, k) => `initial state ${(k % scene.seeds) + 1}`);
    return line(key, x, points, { name: `${key} states`, mode: "markers", hovertext, marker });
  });
  const size = single ? 12 : 9, place = (key) => (single ? [labelOf(key)] : dt);
  const means = drawn.map((key) => line(key, place(key), row(middle[kind], methods.indexOf(key)), { width: 1.8, size, hovertext: "middle" }));
  const blown = drawn.filter((key) => scene.lost[key]).map((key) => `${names([key])} ${scene.lost[key]}`);
  byId("blown").innerHTML = blown.length ? `Blew up: ${blown.join(", ")}.` : "";
  if (scene.along) {
    const [, ...time] = row(scene.along.time), runs = [...Array(scene.along.energy_change.shape[1]).keys()];
    const change = (key, run) => row(scene.along.energy_change, methods.indexOf(key), run).slice(1).map(Math.abs);
    const look = (run) => ({ width: 1.2, size: 6, every: 8, opacity: runs.length > 1 ? 0.7 : 1, hovertext: `initial state ${run + 1}` });
    const traces = drawn.flatMap((key) => runs.map((run) => line(key, time, change(key, run), look(run))));
    draw("plot-along", traces, { yaxis: logs(allOf(traces, "y")) });
  }
  const gone = means.filter((mean) => single && mean.y[0] === null);
  const note = (mean) => withStyle("note", { xref: "x", x: mean.meta, y: 0.02, text: "blew up", textangle: -90 });
  const labels = { type: "category", tickangle: -35, categoryorder: "array", categoryarray: drawn.map(labelOf) };
  draw("plot-bodies", [...clouds, ...means], {
    xaxis: titled(single ? "" : "step size (s)", single ? { ...labels, range: [-0.5, drawn.length - 0.5] } : logs(dt)),
    yaxis: titled(paired ? "ratio to SPIRAL" : RUN.measures[measure], logs(allOf([...clouds, ...means], "y"))),
    shapes: paired ? [rule("y", 1, { color: tint("soft") })] : [],
    annotations: gone.map(note),
  });
}

// The rows of a table, made in Python, that have all words of a search.
function matching(rows, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean), plain = (r) => r.row.replace(/<[^>]*>/g, " ").toLowerCase();
  return rows.filter((r) => words.every((word) => plain(r).includes(word)));
}
const fill = (id, rows) => (document.querySelector(`#${id} tbody`).innerHTML = rows.map((r) => r.row).join(""));

function drawEngines() {
  const atlas = RUN.engines;
  if (!atlas) return missing("This run has no atlas of engines.", "plot-engines", "plot-spin");
  const { rows } = atlas, now = oneOf(rows, "engine", choice.engine), i = rows.indexOf(now), step = row(atlas.step);
  offer("engine", rows.map((r) => [r.engine, r.option]), now.engine);
  byId("about-engines").textContent = atlas.about;
  byId("answer-engine").innerHTML = now.answer;
  byId("caption-spin").textContent = now.spin;
  fill("table-engines", matching(rows, choice.find));
  document.querySelector(`#table-engines [data-engine="${CSS.escape(now.engine)}"]`)?.setAttribute("aria-current", "true");
  const trace = (name, values, color, width, size, more) =>
    ({ name, meta: name, x: step, y: drawable(values), line: { color, width }, marker: { color, size }, hovertext: "", ...more });
  const others = rows.map((r, k) => {
    const mine = r.label === now.label, [width, size] = r === now ? [3, 9] : mine ? [1.4, 5] : [0.8, 3];
    const more = { meta: r.option, opacity: mine ? 1 : 0.55, customdata: step.map(() => r.engine) };
    return trace(r.engine, row(atlas.q_error, k), tint(mine ? "accent" : "line"), width, size, more);
  });
  const identified = trace("identified", row(atlas.method_error, i), tint("ink"), 0, 0, { mode: "lines", hoverinfo: "skip" });
  identified.line = { color: tint("ink"), width: 1.6, dash: "4px,4px" };
  const traces = [...others.filter((_, k) => k !== i), identified, others[i]];
  draw("plot-engines", traces, { xaxis: logs(step), yaxis: logs(allOf(others, "y")) });
  const place = byId("plot-engines");
  place.removeAllListeners("plotly_click");
  place.on("plotly_click", ({ points: [point] }) => point.customdata && set({ engine: point.customdata }));
  const path = [...Array(atlas.path.shape[1]).keys()].map((k) => row(atlas.path, i, k)).filter((p) => Math.abs(norm(p) - 1) < 1e-2);
  if (!path.length) return missing("The free spin of this option left no path.", "plot-spin");
  const spin = spots(path, { size: 3.2, color: path.map((_, k) => k), colorscale: "Viridis" }, "free spin", "free spin");
  const end = spots(path.slice(-1), { size: 7, color: tint("accent") }, "end", "the end");
  draw("plot-spin", [...globe([1, 1, 1], atlas, (m) => [0.5 / m, 1], atlas.inertia), spin, end]);
}

function drawClaims() {
  const filters = keysOf(RUN.choices), fits = (claim, name) => !choice[name] || claim[name].includes(choice[name]);
  filters.forEach((name) => offer(name, [["", "all"], ...RUN.choices[name]], choice[name]));
  const fitting = matching(RUN.claims, choice.search).filter((claim) => filters.every((name) => fits(claim, name)));
  const sentence = ([group, words]) => {
    const [rows, all] = [fitting, RUN.claims].map((claims) => claims.filter((claim) => claim.group === group));
    const [good, bad, open] = ["good", "bad", "open"].map((sign) => rows.filter((claim) => claim.sign === sign).length);
    const counts = `${good} confirmed, ${bad} not, ${open} undecided or not measured. `;
    return all.length ? `<strong>${rows.length} of ${all.length}</strong> ${words}: ${counts}` : "";
  };
  byId("count").innerHTML = Object.entries(RUN.counted).map(sentence).join("");
  fill("table", fitting);
}

const SECTIONS = { field: drawField, compare: drawCompare, random: drawRandom, satellites: drawSatellites, orders: drawOrders, long: drawLong };
Object.assign(SECTIONS, { polhode: drawPolhode, bodies: drawBodies, engines: drawEngines, claims: drawClaims });
