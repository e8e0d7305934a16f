// How things look: colours of the page in the plots, numbers in words, the marker of each method.
"use strict";

const byId = (id) => document.getElementById(id);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const narrow = window.matchMedia("(max-width: 900px)");
const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const config = () => ({ displaylogo: false, displayModeBar: narrow.matches ? false : "hover", plotlyServerURL: "", modeBarButtonsToRemove: ["lasso2d", "select2d", "sendDataToCloud", "sendChartToCloud"] });
const tint = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// ---- numbers ----

const SUPERSCRIPT = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

// A number in three digits: plain where that is short, with a power of ten elsewhere.
function text(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "n/a";
  if (!Number.isFinite(value)) return "blew up";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e5) {
    const short = Number(value.toPrecision(digits));
    return Math.abs(short) >= 10000 ? grouped(short) : String(short);
  }
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const power = `10${[...String(Number(exponent))].map((c) => SUPERSCRIPT[c]).join("")}`;
  return Number(mantissa) === 1 ? power : `${Number(mantissa)}·${power}`;
}

// The same as it may be typed: in a field, in a command.
const typed = (value) => (value !== 0 && (value < 1e-3 || value >= 1e6) ? value.toExponential().replace("e+", "e") : String(value));

// Thousands are set apart, here and on the axes, by a space at which no line is broken.
const THIN = "\u202f";
const grouped = (value) => value.toLocaleString("en").replaceAll(",", THIN);
const whole = (value) => grouped(Math.round(value));

function seconds(value) {
  for (const [limit, factor, unit] of [[1e-6, 1e9, "ns"], [1e-3, 1e6, "µs"], [1, 1e3, "ms"]]) {
    if (value < limit) return `${text(value * factor)} ${unit}`;
  }
  return `${text(value)} s`;
}

const HTML = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (value) => String(value).replace(/[&<>"']/g, (c) => HTML[c]);

// ---- methods ----

const labelOf = (key) => METHODS[key].label;

// On a dark ground dark colours are mixed with white until they can be told from it.
function colourOf(key) {
  const colour = METHODS[key].colour;
  if (!dark.matches) return colour;
  let parts = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
  // Black and greys would all become one grey.
  if (parts.every((part) => part === parts[0])) return parts[0] < 64 ? "rgb(245,245,245)" : colour;
  const light = (rgb) => rgb.reduce((sum, part, i) => sum + [0.2126, 0.7152, 0.0722][i] * (part / 255) ** 2.2, 0);
  for (let i = 0; i < 20 && light(parts) < 0.2; i++) parts = parts.map((part) => part + (255 - part) * 0.12);
  return `rgb(${parts.map(Math.round).join(",")})`;
}

const isStroke = (symbol) => symbol.endsWith("-thin");

function markerOf(key, size = 7) {
  const { symbol } = METHODS[key];
  const colour = colourOf(key);
  const thin = isStroke(symbol) || symbol.endsWith("-open");
  return { symbol, size, color: colour, line: { color: colour, width: thin ? 1.7 : 0 } };
}

const lineOf = (key, width = 1.6) => ({ color: colourOf(key), width, dash: METHODS[key].dash });

// The outline of a marker about the origin, for the list of methods; as near to Plotly's as tells them apart.
function outline(symbol) {
  const ring = (points, turn, inner = 0, size = 5) => {
    const corners = [];
    const count = inner ? 2 * points : points;
    for (let i = 0; i < count; i++) {
      const angle = (2 * Math.PI * i) / count + turn, r = inner && i % 2 ? size * inner : size;
      corners.push(`${(r * Math.sin(angle)).toFixed(2)},${(-r * Math.cos(angle)).toFixed(2)}`);
    }
    return `M${corners.join("L")}Z`;
  };
  const circle = "M-4,0A4,4 0 1 1 4,0A4,4 0 1 1 -4,0Z";
  const quarter = Math.PI / 4;
  const shapes = {
    square: ring(4, quarter), diamond: ring(4, 0), "triangle-up": ring(3, 0), "triangle-down": ring(3, Math.PI),
    "triangle-left": ring(3, -Math.PI / 2), "triangle-right": ring(3, Math.PI / 2), hexagon: ring(6, Math.PI / 6), hexagon2: ring(6, 0),
    pentagon: ring(5, 0), octagon: ring(8, Math.PI / 8), star: ring(5, 0, 0.4), "star-diamond": ring(4, 0, 0.42, 5.6),
    "star-triangle-up": ring(3, 0, 0.35, 5.6), hexagram: ring(6, 0, 0.58), "diamond-tall": "M0,-5.8L3,0L0,5.8L-3,0Z",
    x: "M-4,-2L-2,-4L0,-2L2,-4L4,-2L2,0L4,2L2,4L0,2L-2,4L-4,2L-2,0Z", cross: "M-1.6,-4.5H1.6V-1.6H4.5V1.6H1.6V4.5H-1.6V1.6H-4.5V-1.6H-1.6Z",
    "x-thin": "M-3.6,-3.6L3.6,3.6M-3.6,3.6L3.6,-3.6", "cross-thin": "M-4.6,0H4.6M0,-4.6V4.6",
    "triangle-sw": "M-4,-4L-4,4L4,4Z", "triangle-ne": "M-4,-4L4,-4L4,4Z",
    "circle-cross": `${circle}M-4,0H4M0,-4V4`, "circle-x": `${circle}M-2.8,-2.8L2.8,2.8M-2.8,2.8L2.8,-2.8`,
  };
  return shapes[symbol.replace("-open", "")] || circle;
}

function swatch(key) {
  const { symbol, dash } = METHODS[key];
  const colour = colourOf(key);
  const hollow = symbol.endsWith("-open") || symbol.startsWith("circle-");
  const fill = hollow ? "var(--paper)" : isStroke(symbol) ? "none" : colour;
  const dashes = dash === "solid" ? "" : ` stroke-dasharray="${dash.replaceAll("px", "")}"`;
  return `<svg width="34" height="13" viewBox="-17 -6.5 34 13" aria-hidden="true"><path d="M-17,0H17" stroke="${colour}" stroke-width="1.6"${dashes}/><path d="${outline(symbol)}" fill="${fill}" stroke="${colour}" stroke-width="${hollow || isStroke(symbol) ? 1.6 : 0.5}"/></svg>`;
}

// ---- plots ----

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif';

function axis(title, more = {}) {
  const log = more.type === "log";
  return {
    title: { text: title, standoff: 8, font: { size: narrow.matches ? 12 : 14 } },
    automargin: true,
    gridcolor: tint("grid"),
    linecolor: tint("soft"),
    zeroline: false,
    showline: true,
    mirror: true,
    ticks: "outside",
    tickcolor: tint("soft"),
    exponentformat: log ? "power" : "none",
    separatethousands: true,
    tickfont: { size: 12 },
    ...(log ? { dtick: 1, minor: { ticks: "outside", ticklen: 2, tickcolor: tint("line"), showgrid: false } } : {}),
    ...more,
  };
}

// Decades on a logarithmic axis, few enough that their numbers have room.
function decades(values, most = 9) {
  const there = values.filter((v) => Number.isFinite(v) && v > 0).map(Math.log10);
  if (!there.length) return {};
  const low = there.reduce((a, b) => Math.min(a, b)), high = there.reduce((a, b) => Math.max(a, b));
  return { dtick: high - low < 2 ? "D2" : Math.max(1, Math.ceil((high - low) / most)) };
}

function layout(more) {
  return {
    font: { family: FONT, size: 13, color: tint("ink") },
    separators: `.${THIN}`,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 60, r: 26, t: 30, b: 48 },
    hovermode: "closest",
    hoverlabel: { bgcolor: tint("paper"), bordercolor: tint("line"), font: { family: FONT, size: 13, color: tint("ink") }, align: "left" },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: tint("soft"), activecolor: tint("accent") },
    showlegend: false,
    ...more,
  };
}

// Draw, or say in the place of the plot why there is nothing to draw.
function draw(id, traces, shape) {
  const place = byId(id);
  if (place.querySelector(".missing")) place.replaceChildren();
  const titles = ["yaxis", "xaxis"].map((name) => shape[name] && shape[name].title && shape[name].title.text).filter(Boolean);
  place.setAttribute("role", "group");
  place.setAttribute("aria-label", `plot: ${titles.join(" against ")}`);
  // Told the size, since it would keep that of the last time.
  return Plotly.react(place, traces, layout({ ...shape, width: place.clientWidth, height: place.clientHeight }), config());
}

function missing(id, words) {
  const place = byId(id);
  Plotly.purge(place);
  place.style.flexBasis = "";
  place.innerHTML = `<p class="missing">${escaped(words)}</p>`;
}

// Room for one line of text a row: with less, Plotly leaves out every other name and the words overlap. A plot beside it is
// drawn after it, since it becomes as tall.
function giveRoom(id, rows) {
  byId(id).style.flexBasis = `${Math.max(narrow.matches ? 430 : 480, 110 + 17 * rows)}px`;
}

// Methods one below the other, the first on top, each with a stem from the left: `rows` of {method, value, words, hover}.
function stems(id, rows, title, more = {}) {
  giveRoom(id, rows.length);
  const values = rows.map((r) => r.value).filter((v) => v > 0 && Number.isFinite(v));
  const least = Math.log10(Math.min(...values)), most = Math.log10(Math.max(...values));
  const span = Math.max(most - least, 0.3);
  const names = rows.map((r) => labelOf(r.method));
  const from = Math.pow(10, least - 0.06 * span);
  const right = Math.pow(10, most + (narrow.matches ? 1.1 : 0.6) * span);
  const lines = { x: [], y: [], mode: "lines", line: { color: tint("line"), width: 2 }, hoverinfo: "skip" };
  rows.forEach((r, i) => {
    lines.x.push(from, r.value, null);
    lines.y.push(names[i], names[i], null);
  });
  const marks = rows.map((r) => markerOf(r.method, 10));
  const dots = {
    x: rows.map((r) => r.value),
    y: names,
    mode: "markers+text",
    text: rows.map((r) => `  ${r.words}`),
    textposition: "middle right",
    textfont: { size: 12, color: tint("ink") },
    cliponaxis: false,
    marker: {
      symbol: marks.map((m) => m.symbol),
      color: marks.map((m) => m.color),
      size: 10,
      line: { color: marks.map((m) => m.color), width: marks.map((m) => m.line.width) },
    },
    hovertext: rows.map((r) => r.hover),
    hovertemplate: "%{hovertext}<extra></extra>",
    customdata: rows.map((r) => r.method),
  };
  return draw(id, [lines, dots], {
    xaxis: axis(title, { type: "log", range: [Math.log10(from), Math.log10(right)], ...decades([from, right], narrow.matches ? 3 : 5), showgrid: true }),
    yaxis: axis("", { type: "category", autorange: "reversed", ticks: "", showgrid: false, categoryorder: "array", categoryarray: names, tickfont: { size: narrow.matches ? 10.5 : rows.length > 16 ? 11 : 12.5 }, range: undefined }),
    margin: { l: 10, r: 26, t: 16, b: 48 },
    ...more,
  });
}
