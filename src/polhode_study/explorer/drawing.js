// How things look: numbers in words, the marker of a method, and the plots that sections share; plots.yaml has their style.

const byId = (id) => document.getElementById(id);
const media = (query) => window.matchMedia(`(${query})`);
const [dark, narrow] = ["prefers-color-scheme: dark", "max-width: 900px"].map(media), still = media("prefers-reduced-motion: reduce");
const tint = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// Thousands are set apart by a space at which no line is broken.
const whole = (value) => Math.round(value).toLocaleString("en").replaceAll(",", "\u202f");

// A number in three digits: plain where that is short, with a power of ten elsewhere.
function text(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "n/a";
  if (!Number.isFinite(value)) return "blew up";
  const size = Math.abs(value), short = Number(value.toPrecision(digits));
  if (value === 0 || (size >= 1e-3 && size < 1e5)) return size < 1e4 ? String(short) : whole(short);
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const raised = [...String(Number(exponent))].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("");
  return `${Number(mantissa) === 1 ? "" : `${Number(mantissa)}·`}10${raised}`;
}

// The same as it may be typed: in a field, in a command.
const typed = (v) => (v !== 0 && (v < 1e-3 || v >= 1e6) ? v.toExponential().replace("e+", "e") : String(v));

function seconds(value) {
  const [factor, unit] = [[1e9, "ns"], [1e6, "µs"], [1e3, "ms"]].find(([each]) => value * each < 1000) || [1, "s"];
  return `${text(value * factor)} ${unit}`;
}

const HTML = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (value) => String(value).replace(/[&<>"']/g, (c) => HTML[c]);
const positive = (values) => values.filter((v) => v > 0 && Number.isFinite(v));
const drawable = (values) => values.map((v) => (v > 0 && Number.isFinite(v) ? v : null));

const labelOf = (key) => METHODS[key].label;
const names = (keys) => escaped(keys.map(labelOf).join(", "));
const colourOf = (key) => METHODS[key].colours[Number(dark.matches)];

// A declared style with the colours of the page.
function styled(value) {
  if (typeof value === "string") return value[0] === "@" ? tint(value.slice(1)) : value;
  if (typeof value !== "object") return value;
  const inner = Object.entries(value).map(([key, each]) => [key, styled(each)]);
  return Array.isArray(value) ? inner.map(([, each]) => each) : Object.fromEntries(inner);
}

// The style with changes; lists are replaced as a whole.
function merged(base, changes) {
  if (!base || !changes || typeof base !== "object" || typeof changes !== "object" || Array.isArray(changes)) return changes;
  return { ...base, ...Object.fromEntries(keysOf(changes).map((key) => [key, merged(base[key], changes[key])])) };
}
const withStyle = (name, changes) => merged(styled(RUN.plots[name]), changes);
const titled = (title, more = {}) => ({ title: { text: title }, ...more });

// A logarithmic axis with so few decades marked that their numbers have room.
function logs(values, most = 8) {
  const sizes = positive(values).map(Math.log10), decades = Math.max(...sizes) - Math.min(...sizes);
  const dtick = decades < 2 ? "D2" : Math.max(1, Math.ceil(decades / (narrow.matches ? most / 2 : most)));
  return { type: "log", exponentformat: "power", dtick };
}

// The same for errors, between round-off and `most`.
function errors(values, most = 10) {
  const sizes = positive(values).map(Math.log10), low = Math.max(-17, Math.floor(Math.min(...sizes)));
  const high = Math.min(Math.log10(most), Math.ceil(Math.max(...sizes)));
  return { ...logs([10 ** low, 10 ** high], 9), range: [low, high + 0.2] };
}

// A line across a plot at a value on one of its axes.
function rule(axis, value, look = {}) {
  const other = axis === "x" ? "y" : "x", at = { [`${axis}0`]: value, [`${axis}1`]: value };
  return withStyle("rule", { ...at, [`${other}ref`]: "paper", [`${other}0`]: 0, [`${other}1`]: 1, line: look });
}

function draw(id, traces, changes = {}) {
  const place = byId(id), layout = merged(styled(RUN.plots.plots[id] || {}), changes);
  if (place.querySelector(".missing")) place.replaceChildren();
  const titles = ["yaxis", "xaxis"].map((name) => layout[name]?.title?.text).filter(Boolean);
  Object.assign(place, { role: "group", ariaLabel: `plot: ${titles.join(" against ")}` });
  // The size, or it would keep the last one.
  Object.assign(layout, { template: styled(RUN.plots.template), width: place.clientWidth, height: place.clientHeight });
  return Plotly.react(place, traces, layout, { ...RUN.plots.config, displayModeBar: narrow.matches ? false : "hover" });
}

// Say in the place of plots why there is nothing to draw.
function missing(words, ...ids) {
  for (const place of ids.map(byId)) {
    if (place.data) Plotly.purge(place);
    place.innerHTML = `<p class="missing">${escaped(words)}</p>`;
  }
}

// The line of a method. What cannot be on a logarithmic axis is a gap.
function line(method, x, y, { width = 1.4, size = 6.5, every = 0, ...more } = {}) {
  const { symbol, dash } = METHODS[method], color = colourOf(method), edge = /-(thin|open)$/.test(symbol) ? 1.7 : 0;
  const marker = { symbol, size, color, line: { color, width: edge }, maxdisplayed: every };
  return { name: method, meta: labelOf(method), x, y: drawable(y), hovertext: "", line: { color, width, dash }, marker, ...more };
}
const allOf = (traces, name) => traces.flatMap((trace) => trace[name] || []);

// Names one below the other, each with its place on a logarithmic scale, or on a linear one with a `range`: `rows` of {method
// or label, value, words, more}; {low, high} draw a bar, `declared` a mark. Of `keys`, those without a row are named.
function list(id, rows, unit, keys, range = null) {
  const scale = range ? (v) => v : Math.log10, all = rows.flatMap((r) => [r.value, r.low ?? r.value]).map(scale), place = byId(id);
  const [low, high] = range || [Math.min(...all), Math.max(...all)], share = (v) => (100 * (scale(v) - low)) / (high - low || 1);
  const at = (value) => `${Math.min(100, Math.max(0, share(value))).toFixed(1)}%`;
  const bar = (r) => (r.high === undefined ? "" : `<u style="left:${at(r.low)};right:calc(100% - ${at(r.high)})"></u>`);
  const mark = (r) => (r.declared === undefined ? "" : `<b style="left:${at(r.declared)}"></b>`);
  const sign = (key) => (key ? document.querySelector(`.chip[data-method="${key}"] .swatch`).outerHTML : "<span></span>");
  const item = ({ method = "", label = labelOf(method), ...r }) =>
    `<li data-method="${method}" title="${escaped(r.more || "")}">${sign(method)}<span>${escaped(label)}</span><span class="track">` +
    `${mark(r)}${bar(r)}<i style="left:${at(r.value)};background:${method ? colourOf(method) : "var(--accent)"}"></i></span>` +
    `<span class="words">${escaped(r.words)}</span></li>`;
  const rest = keys.filter((key) => !rows.some((r) => r.method === key));
  const foot = rest.length ? `<p class="hint">${place.dataset.without}: ${names(rest)}.</p>` : "";
  place.innerHTML = `<p class="unit">${escaped(unit)}</p><ol class="rows">${rows.map(item).join("")}</ol>${foot}`;
}

const xyz = (points) => Object.fromEntries(["x", "y", "z"].map((name, i) => [name, points.map((p) => p[i])]));
const inSpace = (mode, points, name, hovertext, look) => ({ type: "scatter3d", mode, name, hovertext, ...xyz(points), ...look });
const curve = (points, color, name) => inSpace("lines", points, name, name, { line: { color, width: 5 } });
const spots = (points, marker, name, hovertext) => inSpace("markers", points, name, hovertext, { marker });

// A surface with these half axes, and on it the polhodes of a family; `pair` makes energy and momentum of L^2 / 2T.
function globe(half, { inertia, family }, pair, factors = [1, 1, 1]) {
  const turn = (count, end) => Array.from({ length: count }, (_, k) => (end * k) / (count - 1));
  const shape = [(a, b) => Math.sin(a) * Math.cos(b), (a, b) => Math.sin(a) * Math.sin(b), (a) => Math.cos(a)];
  const surface = (f, i) => turn(41, Math.PI).map((a) => turn(61, 2 * Math.PI).map((b) => half[i] * f(a, b)));
  const [x, y, z] = shape.map(surface);
  const motion = (m, side) => polhode(inertia, ...pair(m), [side, side, side], 121).map((point) => scaled(point, factors));
  const thin = family.flatMap((m) => [1, -1].flatMap((side) => [...motion(m, side), [null, null, null]]));
  return [{ type: "surface", x, y, z }, withStyle("thin", xyz(thin))];
}
