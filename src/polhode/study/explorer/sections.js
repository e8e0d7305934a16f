// The sections of the page: what each draws for the choices made. Only the one that is seen is drawn.
"use strict";

const chosen = () => choice.methods;
const about = (problem) => RUN.problems[problem];
const titleOf = (problem) => `${about(problem).label} (torque: ${RUN.classes[about(problem).class] || about(problem).class})`;
// The problem that was chosen, or the first that has what the section shows.
function problemFor(part) {
  const there = problemsWith(part);
  return there.includes(choice.problem) ? choice.problem : there[0];
}
const there = (keys) => chosen().filter((key) => keys.includes(key));
const NO_METHODS = "No method is chosen: select some in the list of methods.";

// ---- which method ----

const X_AXES = {
  time: { title: "time to the end (s)", of: (work) => work.seconds, said: "time" },
  torques: { title: "torque evaluations", of: (work) => work.torques, said: "torque evaluations" },
  dt: { title: "step size (s)", of: (work) => work.dt, said: "step size" },
};
const HOW = { between: "", coarsest: "coarsest step run", extrapolated: "extrapolated" };
const SIGN = { between: "", coarsest: " †", extrapolated: " *" };

function candidates(problem) {
  const keys = there(about(problem).work.methods);
  return choice.one ? keys.filter((key) => torquesOf(problem, key) === 1) : keys;
}

function drawCompare() {
  const problem = problemFor("work");
  const timed = isTimed(problem);
  const price = timed ? choice.price : 0;
  const x = X_AXES[timed ? choice.x : choice.x === "time" ? "torques" : choice.x];
  const keys = candidates(problem);
  const rows = ranked(problem, choice.error, price, keys);
  const best = rows.filter((found) => !METHODS[found.method].published);
  document.querySelectorAll(".timed").forEach((element) => (element.hidden = !timed));
  byId("answer").innerHTML = answer(problem, keys, best, price, timed);
  drawRank(problem, rows, keys, timed);
  drawWork(problem, keys, rows, best, price, x, timed);
}

// What to know of methods that a sentence names.
const warningsOf = (keys) => {
  const cautions = [...new Set(keys.map((key) => RUN.cautions[key]).filter(Boolean))];
  const said = (caution) => {
    const named = keys.filter((key) => RUN.cautions[key] === caution).map(labelOf);
    return ` ${caution[0].toUpperCase()}${caution.slice(1)}, ${RUN.not_for}: ${escaped(named.join(", "))}.`;
  };
  return cautions.length ? `${cautions.map(said).join("")} ${escaped(RUN.instead)}` : "";
};

// What the article's second page says of the kind of torque that a problem has.
function ofManyBodies(problem) {
  const answer = RUN.answers[about(problem).class];
  if (!answer || !METHODS[answer[0]]) return "";
  const [method, half, most] = answer;
  const steps = about(problem).class === "free" ? "any step" : `${text(half)} steps a radian for half of the bodies, ${text(most)} for nine in ten, for ${text(1e-4)} per radian`;
  return ` One problem is not a kind of torque: on random bodies the fewest torques of such a kind are those of ${escaped(labelOf(method))} (${steps}; page 2 of report.pdf, and Random bodies here).`;
}

function stepText(found, horizon) {
  return Number((horizon / found.steps).toPrecision(4)).toString();
}

function answer(problem, keys, rows, price, timed) {
  const { horizon } = about(problem).work;
  const which = chosen().length === ORIGINAL.length && ORIGINAL.every((key) => chosen().includes(key)) ? "" : "Of the methods chosen, ";
  const error = text(choice.error);
  if (!keys.length) return NO_METHODS;
  if (!rows.length) {
    const least = keys.map((key) => ({ key, error: Math.min(...ladderOf(problem, key).error) })).sort((a, b) => a.error - b.error)[0];
    return `No method chosen reaches ${error} within the steps that were run and the allowed extrapolation; the smallest error measured is ${text(least.error)} (${escaped(labelOf(least.key))}). Ask for a larger one.`;
  }
  const [first, ...others] = rows;
  const cost = timed ? "seconds" : "torques";
  const close = others.filter((found) => found[cost] < 1.1 * first[cost]).map((found) => found.method);
  const next = others[close.length];
  const torque = price === 0 ? "a torque that costs next to nothing" : `a torque that costs ${text(price)} steps of direct Euler (${seconds(price * about(problem).work.unit)})`;
  const measure = timed
    ? `${whole(first.torques)} torques, <strong>${seconds(first.seconds)}</strong>`
    : `<strong>${whole(first.torques)} torques</strong>`;
  const why = {
    between: "",
    coarsest: " It meets the error with every step that was run; a longer one may do as well.",
    extrapolated: ` The finest step run was ${text(first.coarser)} s (error ${text(first.coarserError)}): extrapolated by its fitted order.`,
  }[first.how];
  return (
    `${which ? `${which}take` : "For this body and torque take"} <strong>${escaped(labelOf(first.method))}</strong> with dt = <strong>${stepText(first, horizon)} s</strong> ` +
    `(${text(horizon)} s in ${whole(first.steps)} steps): ${measure}.${why}` +
    (close.length ? ` Within 10 % of it${timed ? ", an order that another processor may reverse" : ""}: ${close.map((key) => escaped(labelOf(key))).join(", ")}.` : "") +
    (next ? ` Next is ${escaped(labelOf(next.method))}, ${text(next[cost] / first[cost])} times as ${timed ? "long" : "many"}.` : "") +
    warningsOf([first.method, ...close, ...(next ? [next.method] : [])]) +
    ofManyBodies(problem) +
    `<span class="more">${escaped(titleOf(problem))}; error below ${error}${timed ? `, ${torque}` : ". This run measured no times, so methods are ranked by torque evaluations"}.` +
    `${timed ? ` Timed is ${escaped(about(problem).work.timed)}, on ${escaped(RUN.machine.cpu)}, ${escaped(RUN.machine.date)}.` : ""} ` +
    `Error: ${RUN.metric}. For the largest error of the run, which takes shorter steps, from a terminal: <code>polhode recommend ${problem} --error ${typed(choice.error)} --torque-price ${typed(price)}${choice.one ? "" : " --several-torques"}</code></span>`
  );
}

function drawWork(problem, keys, rows, best, price, x, timed) {
  byId("caption-work").textContent = `Error: ${RUN.metric}. Lower left is better; circles are where a method meets your error.`;
  if (!keys.length) return missing("plot-work", NO_METHODS);
  const winner = best.length ? best[0].method : "";
  const all = rows.map(x.of), traces = [];
  for (const key of keys) {
    const ladder = ladderOf(problem, key);
    const points = ladder.dt
      .map((dt, i) => ({ ...workOf(ladder, dt, price), error: ladder.error[i] }))
      .filter((p) => Number.isFinite(p.error) && p.error > 0 && Number.isFinite(x.of(p)));
    all.push(...points.map((p) => x.of(p)));
    traces.push({
      name: key,
      x: points.map(x.of),
      y: points.map((p) => p.error),
      mode: "lines+markers",
      line: lineOf(key, key === winner ? 3.2 : 1.4),
      marker: markerOf(key, key === winner ? 9 : 6.5),
      hovertemplate: points.map(
        (p) =>
          `<b>${escaped(labelOf(key))}</b><br>error ${text(p.error)}<br>dt ${text(p.dt)} s, ${whole(p.steps)} steps<br>${whole(p.torques)} torques${timed ? `<br>${seconds(p.seconds)}` : ""}<extra></extra>`
      ),
    });
  }
  for (const found of rows.filter((r) => r.how === "extrapolated")) {
    const ladder = ladderOf(problem, found.method);
    const finest = workOf(ladder, ladder.dt[0], price);
    traces.push({ x: [x.of(finest), x.of(found)], y: [ladder.error[0], choice.error], mode: "lines", line: { color: colourOf(found.method), width: 1, dash: "dot" }, opacity: 0.6, hoverinfo: "skip" });
  }
  traces.push({
    name: "met",
    x: rows.map((found) => x.of(found)),
    y: rows.map(() => choice.error),
    mode: "markers",
    marker: { symbol: "circle-open", size: 15, color: tint("accent"), line: { width: 1.5, color: tint("accent") } },
    hoverinfo: "skip",
  });
  const errors = traces.flatMap((trace) => trace.y).filter((y) => y > 0);
  const low = Math.max(-17, Math.floor(Math.log10(Math.min(...errors)))), high = Math.min(1, Math.ceil(Math.log10(Math.max(...errors))));
  draw("plot-work", traces, {
    xaxis: axis(x.title, { type: "log", ...decades(all, narrow.matches ? 4 : 8) }),
    yaxis: axis("relative error at the end", { type: "log", range: [low, high + 0.2], ...decades([10 ** low, 10 ** high], 9) }),
    shapes: [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: choice.error, y1: choice.error, line: { color: tint("accent"), width: 1.5, dash: "dot" } }],
    annotations: [{ xref: "paper", x: 0.01, y: Math.log10(choice.error), text: "your error", showarrow: false, xanchor: "left", yanchor: "bottom", font: { color: tint("accent"), size: 12 } }],
  });
}

function drawRank(problem, rows, keys, timed) {
  const cost = timed ? "seconds" : "torques";
  const unreached = keys.filter((key) => !rows.some((found) => found.method === key));
  byId("caption-rank").textContent =
    `${timed ? "Time" : "Torque evaluations"} to that error, soonest first, with the ratio to the first.` +
    ["extrapolated", "coarsest"].map((how) => (rows.some((found) => found.how === how) ? `${SIGN[how]}: ${HOW[how]}.` : "")).join("") +
    (unreached.length ? ` Never: ${unreached.map(labelOf).join(", ")}.` : "");
  if (!rows.length) return missing("plot-rank", keys.length ? "No method chosen reaches this error." : NO_METHODS);
  const { horizon } = about(problem).work;
  const first = rows[0][cost];
  stems(
    "plot-rank",
    rows.map((found) => ({
      method: found.method,
      value: found[cost],
      words: `×${text(found[cost] / first)}${SIGN[found.how]}`,
      hover:
        `<b>${escaped(labelOf(found.method))}</b><br>dt ${stepText(found, horizon)} s, ${whole(found.steps)} steps<br>${whole(found.torques)} torques` +
        `${timed ? `<br>${seconds(found.seconds)}` : ""}${HOW[found.how] ? `<br>${HOW[found.how]}` : ""}`,
    })),
    timed ? "time (s)" : "torque evaluations"
  );
}

// ---- random bodies ----

const drawNow = () => RUN.random.find((draw) => draw.whose === choice.draw) || RUN.random[0];
const QUANTILE = { low: 0, median: 1, high: 2 };

function drawRandom() {
  const ids = ["plot-laws", "plot-served"];
  byId("about-random").textContent = byId("answer-random").textContent = "";
  if (!RUN.random.length) return ids.forEach((id) => missing(id, "This run has no random bodies."));
  const draw = drawNow(), { classes, targets, methods } = draw;
  const torque = Math.max(0, classes.findIndex(([key]) => key === choice.torque));
  const target = Math.max(0, targets.indexOf(Number(choice.target)));
  offer("draw", RUN.random.map((one) => [one.whose, `${one.bodies}, ${one.whose}`]), draw.whose);
  offer("torque", classes, classes[torque][0]);
  offer("target", targets.map((value) => [String(value), text(value)]), String(targets[target]));
  byId("about-random").textContent =
    `${draw.bodies} bodies with all possible ratios of the moments, torques of random strength; ${draw.whose === "this run" ? "from this run" : "the results shipped with polhode"}. ` +
    `The error is the larger of those of orientation (rad) and angular velocity (of the initial one), over ${text(draw.radians)} rad.`;
  const evaluations = unpack(draw.torques);
  const keys = there(methods).filter((key) => !choice.one || evaluations[methods.indexOf(key)] === 1);
  if (!keys.length) return ids.forEach((id) => missing(id, NO_METHODS));
  // Without a torque the steps are what counts.
  const [key, label] = classes[torque];
  const counted = choice.count === "torques" && key !== "free" ? "torques" : "steps";
  const worth = (method) => (counted === "torques" ? evaluations[methods.indexOf(method)] : 1);
  const steps = (method, k) => row(draw.steps, torque, methods.indexOf(method), k);
  const spread = ([low, median, high], factor) => `9 in 10 bodies: ${text(high * factor)}<br>half: ${text(median * factor)}, 1 in 10: ${text(low * factor)}`;
  const rows = keys
    .map((method) => ({ method, steps: steps(method, target), factor: worth(method) }))
    .map((r) => ({ ...r, value: r.steps[QUANTILE.high] * r.factor }))
    .filter((r) => Number.isFinite(r.value))
    .sort((a, b) => a.value - b.value);
  const traces = keys.map((method) => {
    const points = targets.map((error, k) => [error, steps(method, k)]).filter(([, s]) => Number.isFinite(s[QUANTILE.high]));
    return {
      name: method,
      x: points.map(([error]) => error),
      y: points.map(([, s]) => s[QUANTILE.high] * worth(method)),
      mode: "lines+markers",
      line: lineOf(method, rows.length && rows[0].method === method ? 3.2 : 1.4),
      marker: markerOf(method, 6.5),
      hovertemplate: points.map(([error, s]) => `<b>${escaped(labelOf(method))}</b><br>error ${text(error)} per radian<br>${counted} per radian<br>${spread(s, worth(method))}<extra></extra>`),
    };
  });
  const drawn = traces.flatMap((trace) => trace.y);
  const best = rows.find((r) => !METHODS[r.method].published);
  const unreached = keys.filter((method) => !rows.some((r) => r.method === method));
  const enough = best && best.steps[QUANTILE.high];
  const others = rows.filter((r) => r !== best && !METHODS[r.method].published).slice(0, 3);
  const beside = ({ method, value }) => `${escaped(labelOf(method))} (${value < 1.005 * best.value ? `as few ${counted}` : `${text(value / best.value)} times the ${counted}`})`;
  byId("answer-random").innerHTML = best
    ? `Take <strong>${escaped(labelOf(best.method))}</strong> with ${enough <= 1 ? "<strong>one step a radian</strong>, dt = 1/ω, or larger steps than were run" : `<strong>${text(enough)} steps a radian</strong>, dt = 1/(${text(enough)} ω)`}: ` +
      `nine in ten bodies stay below an error of ${text(targets[target])} per radian${enough <= 1 ? "" : `; half of them with ${text(best.steps[QUANTILE.median])}`}.` +
      (others.length ? ` Next: ${others.map(beside).join(", ")}.` : "") +
      warningsOf([best.method, ...others.map((r) => r.method)]) +
      `<span class="more">Torque: ${escaped(label)}. By ${counted}, not by time; by time, from a terminal: <code>polhode recommend --torque-class ${key} --omega 1 --error ${typed(targets[target])}${choice.one ? "" : " --several-torques"}</code></span>`
    : `No method chosen keeps nine in ten bodies below ${text(targets[target])} per radian. Ask for a larger error.`;
  byId("caption-laws").textContent = "What serves nine in ten of the bodies. Radians are those of the initial angular velocity; one step a radian is the largest step run. For bodies without wheels, under torques up to IΩ² that are smooth over a step: a nutation (h/√(IxIz) with a wheel of momentum h along y) or a controller that is faster than the spin sets the step.";
  byId("caption-served").textContent = `The same at the error chosen, fewest first, with the ratio to the first.${unreached.length ? ` Not reached: ${unreached.map(labelOf).join(", ")}.` : ""}`;
  if (rows.length) stems("plot-served", rows.map((r) => ({ ...r, words: `×${text(r.value / rows[0].value)}`, hover: `<b>${escaped(labelOf(r.method))}</b><br>${spread(r.steps, r.factor)}` })), `${counted} per radian`);
  else missing("plot-served", "No method chosen reaches this error.");
  drawLaws(traces, drawn, targets, targets[target], counted);
}

function drawLaws(traces, values, targets, target, counted) {
  if (!values.length) return missing("plot-laws", "No method chosen reaches these errors.");
  draw("plot-laws", traces, {
    xaxis: axis("error per radian", { type: "log", autorange: "reversed", ...decades(targets, narrow.matches ? 4 : 8) }),
    yaxis: axis(`${counted} per radian`, { type: "log", ...decades(values, 8) }),
    shapes: [{ type: "line", yref: "paper", y0: 0, y1: 1, x0: target, x1: target, line: { color: tint("accent"), width: 1.5, dash: "dot" } }],
  });
}

// ---- orders ----

const QUANTITIES = { q: "orientation", omega: "angular velocity" };

function byClass(keys) {
  const order = keysOf(RUN.classes);
  return [...keys].sort((a, b) => order.indexOf(about(a).class) - order.indexOf(about(b).class));
}

function orderOf(problem, key, quantity) {
  const { methods, orders } = about(problem);
  const i = methods.indexOf(key);
  if (i < 0) return null;
  const found = {};
  for (const name of ["order", "low", "high", "from", "to", "declared"]) found[name] = unpack(orders[quantity][name])[i];
  return found;
}

function drawOrders() {
  const { quantity } = choice;
  const problem = problemFor("orders");
  const problems = byClass(problemsWith("orders"));
  const keys = there(problems.flatMap((p) => about(p).methods));
  if (!keys.length) return ["plot-map", "plot-order", "plot-error"].forEach((id) => missing(id, chosen().length ? "No method chosen runs these problems." : NO_METHODS));
  drawMap(problems, keys, quantity, problem);
  drawOrder(problem, there(about(problem).methods), quantity);
  drawErrors(problem, there(about(problem).methods), quantity);
}

function orderHover(problem, key, quantity) {
  const found = orderOf(problem, key, quantity);
  const head = `<b>${escaped(labelOf(key))}</b><br>${escaped(about(problem).label)}`;
  if (found === null) return `${head}<br>does not run this problem`;
  if (Number.isNaN(found.order)) return `${head}<br>no order could be fitted<br>declared ${found.declared}`;
  return `${head}<br>${QUANTITIES[quantity]}: ${found.order.toFixed(3)} [${found.low.toFixed(2)}, ${found.high.toFixed(2)}]<br>declared ${found.declared}<br>fitted over dt = ${text(found.from)} to ${text(found.to)} s`;
}

function drawMap(problems, keys, quantity, problem) {
  const cells = keys.map((key) => problems.map((p) => orderOf(p, key, quantity)));
  const names = problems.map((p) => about(p).short);
  const place = byId("plot-map");
  place.style.height = `${150 + 23 * keys.length}px`;
  place.style.minWidth = `${230 + 50 * problems.length}px`;
  const column = problems.indexOf(problem);
  const classes = [];
  problems.forEach((p, i) => {
    const last = classes.at(-1);
    if (last && last.name === about(p).class) last.to = i;
    else classes.push({ name: about(p).class, from: i, to: i });
  });
  draw(
    "plot-map",
    [
      {
        type: "heatmap",
        x: names,
        y: keys.map(labelOf),
        z: cells.map((r) => r.map((f) => (f === null || Number.isNaN(f.order) ? null : Math.max(-1.5, Math.min(1.5, f.order - f.declared))))),
        text: cells.map((r) => r.map((f) => (f === null ? "" : Number.isNaN(f.order) ? "–" : f.order.toFixed(1)))),
        texttemplate: "%{text}",
        textfont: { size: 12 },
        hovertext: keys.map((key) => problems.map((p) => orderHover(p, key, quantity))),
        hovertemplate: "%{hovertext}<extra></extra>",
        hoverongaps: true,
        zmin: -1.5,
        zmax: 1.5,
        xgap: 2,
        ygap: 2,
        colorscale: [[0, "#D55E00"], [0.36, "#F3C9A4"], [0.47, tint("ground")], [0.53, tint("ground")], [0.64, "#A9CBE6"], [1, "#0072B2"]],
        colorbar: { title: { text: "measured less declared", side: "right", font: { size: 12 } }, thickness: 11, len: 0.9, tickvals: [-1, 0, 1], ticktext: ["−1", "0", "+1"] },
      },
    ],
    {
      xaxis: axis("", { side: "top", tickangle: -35, ticks: "", showgrid: false, showline: false, mirror: false }),
      yaxis: axis("", { autorange: "reversed", ticks: "", showgrid: false, showline: false, mirror: false, tickfont: { size: 12 } }),
      margin: { l: 10, r: 10, t: 90, b: 34 },
      shapes: [{ type: "rect", yref: "paper", x0: column - 0.5, x1: column + 0.5, y0: 0, y1: 1, line: { color: tint("accent"), width: 2 } }],
      annotations: classes.map((group) => ({
        x: (group.from + group.to) / 2, yref: "paper", y: 0, yanchor: "top", yshift: -4, showarrow: false, text: group.name, font: { size: 12, color: tint("soft") },
      })),
    }
  );
  if (!place.dataset.listens) {
    place.dataset.listens = "yes";
    place.on("plotly_click", (event) => {
      const at = byClass(problemsWith("orders")).find((p) => about(p).short === event.points[0].x);
      if (at) set({ problem: at });
    });
  }
}

function drawOrder(problem, keys, quantity) {
  if (!keys.length) return missing("plot-order", "No method chosen runs this problem.");
  const rows = keys.map((key) => ({ key, ...orderOf(problem, key, quantity) }));
  giveRoom("plot-order", rows.length);
  const run = rows.filter((r) => Number.isFinite(r.order));
  const none = rows.filter((r) => !Number.isFinite(r.order));
  const marks = run.map((r) => markerOf(r.key, 10));
  draw(
    "plot-order",
    [
      {
        x: rows.map((r) => r.declared), y: rows.map((r) => labelOf(r.key)), mode: "markers", hoverinfo: "skip",
        marker: { symbol: "line-ns", size: 15, line: { width: 7, color: tint("line") } },
      },
      {
        name: "measured",
        x: run.map((r) => r.order), y: run.map((r) => labelOf(r.key)), mode: "markers",
        marker: { symbol: marks.map((m) => m.symbol), color: marks.map((m) => m.color), size: 9, line: { color: marks.map((m) => m.color), width: marks.map((m) => m.line.width) } },
        error_x: { type: "data", symmetric: false, array: run.map((r) => r.high - r.order), arrayminus: run.map((r) => r.order - r.low), thickness: 1.3, width: 3, color: tint("soft") },
        hovertext: run.map((r) => orderHover(problem, r.key, quantity)), hovertemplate: "%{hovertext}<extra></extra>",
      },
    ],
    {
      title: { text: about(problem).label, font: { size: 13 }, x: 0.01, xanchor: "left" },
      xaxis: axis(`order of ${quantity === "q" ? "q" : "ω"}`, { dtick: 1, range: [-0.2, Math.max(4.4, ...run.map((r) => Math.min(r.order, 6) + 0.4))] }),
      yaxis: axis("", { type: "category", autorange: "reversed", ticks: "", showgrid: false, categoryorder: "array", categoryarray: keys.map(labelOf), tickfont: { size: narrow.matches ? 10.5 : 12 } }),
      annotations: none.map((r) => ({ x: 0, y: labelOf(r.key), text: "no order", showarrow: false, xanchor: "left", font: { size: 11, color: tint("soft") } })),
      margin: { l: 10, r: 26, t: 34, b: 48 },
    }
  );
}

function drawErrors(problem, keys, quantity) {
  const { methods, orders } = about(problem);
  const dt = row(orders.dt);
  if (!keys.length) return missing("plot-error", "No method chosen runs this problem.");
  const traces = [];
  for (const key of keys) {
    const i = methods.indexOf(key);
    const points = dt.map((h, k) => [h, unpack(orders[quantity].error)[i * dt.length + k]]).filter(([, e]) => Number.isFinite(e) && e > 0);
    points.sort((a, b) => a[0] - b[0]);
    const found = orderOf(problem, key, quantity);
    const fitted = points.filter(([h]) => h >= found.from * (1 - 1e-9) && h <= found.to * (1 + 1e-9));
    traces.push({
      x: fitted.map((p) => p[0]), y: fitted.map((p) => p[1]), mode: "lines", line: { color: colourOf(key), width: 6 }, opacity: 0.28, hoverinfo: "skip",
    });
    traces.push({
      name: key,
      x: points.map((p) => p[0]), y: points.map((p) => p[1]), mode: "lines+markers", line: lineOf(key, 1.3), marker: markerOf(key, 5.5),
      hovertemplate: points.map(([h, e]) => `<b>${escaped(labelOf(key))}</b><br>dt ${text(h)} s<br>error ${text(e)}<extra></extra>`),
    });
  }
  const errors = traces.flatMap((trace) => trace.y);
  const low = Math.max(-17, Math.floor(Math.log10(Math.min(...errors))));
  const high = Math.min(1, Math.log10(Math.max(...errors)) + 0.3);
  draw("plot-error", traces, {
    title: { text: about(problem).label, font: { size: 13 }, x: 0.01, xanchor: "left" },
    xaxis: axis("step size (s)", { type: "log", ...decades(dt, 6) }),
    yaxis: axis(`relative error of the ${QUANTITIES[quantity]}`, { type: "log", range: [low, high], ...decades([10 ** low, 10 ** high], 8) }),
    margin: { l: 60, r: 26, t: 34, b: 48 },
  });
}

// ---- long runs ----

// What is said at the points of a line over time.
const hoverOf = (time, values, name, more = "") => ({
  hovertext: time.map((t, k) => `<b>${escaped(name)}</b>${more}<br>at ${text(t, 4)} s: ${text(values[k])}`),
  hovertemplate: "%{hovertext}<extra></extra>",
});

function drawLong() {
  const problem = problemFor("long");
  if (!problem) return ["plot-long", "plot-worst"].forEach((id) => missing(id, "This run has no long runs."));
  const which = choice.run === "switched" && about(problem).switched ? "switched" : "long";
  const found = about(problem)[which];
  offer("run", [["long", "as each method declares"], ...(about(problem).switched ? [["switched", "switched: off for methods that have it, on for others"]] : [])], which);
  const names = keysOf(found.values);
  const name = names.includes(choice.long) ? choice.long : names[0];
  offer("long", names.map((key) => [key, RUN.long[key]]), name);
  const time = row(found.time);
  const steps = Math.round(time.at(-1) / found.dt);
  byId("about-long").textContent = `${titleOf(problem)}: ${text(time.at(-1))} s with dt = ${text(found.dt)} s, ${whole(steps)} steps.`;
  const keys = there(found.methods);
  if (!keys.length) return ["plot-long", "plot-worst"].forEach((id) => missing(id, chosen().length ? "No method chosen ran this." : NO_METHODS));
  const unit = name === "angle_error" ? " (rad)" : name.endsWith("drift") ? ", relative" : "";
  const least = 1e-17;
  const rows = [], traces = [], gone = [], zero = [];
  for (const key of keys) {
    const values = row(found.values[name], found.methods.indexOf(key));
    const largest = values.reduce((a, b) => (Number.isFinite(b) && b > a ? b : a), 0);
    if (largest > 0) rows.push({ method: key, value: Math.max(largest, least), words: text(largest), hover: `<b>${escaped(labelOf(key))}</b><br>largest ${text(largest)}<br>at the end ${text(values.at(-1))}` });
    else if (values.some(Number.isFinite)) zero.push(key);
    if (!Number.isFinite(values.at(-1))) gone.push(key);
    traces.push({
      name: key,
      x: time.slice(1),
      y: values.slice(1).map((v) => (v > 0 ? v : null)),
      mode: "lines+markers",
      line: lineOf(key, 1.3),
      marker: { ...markerOf(key, 6), maxdisplayed: 12 },
      ...hoverOf(time.slice(1), values.slice(1), labelOf(key)),
    });
  }
  const drawn = traces.flatMap((trace) => trace.y).filter((y) => y > 0);
  if (!drawn.length) return ["plot-long", "plot-worst"].forEach((id) => missing(id, "It stays exactly zero in all runs chosen."));
  const high = Math.min(2, Math.ceil(Math.log10(Math.max(...drawn)))), low = Math.max(-17, Math.floor(Math.log10(Math.min(...drawn))));
  byId("caption-long").textContent =
    (name === "momentum_drift" ? "The part of the angular momentum in the lab frame that the exact motion conserves. " : "") +
    (name === "energy_drift" ? "Relative to the kinetic energy at the start. " : "") +
    (gone.length ? `No longer finite: ${gone.map(labelOf).join(", ")}.` : "A line that leaves the plot at the top belongs to a method that has lost the motion.");
  byId("caption-worst").textContent = `The largest value along the run.${zero.length ? ` Exactly zero: ${zero.map(labelOf).join(", ")}.` : ""}`;
  rows.sort((a, b) => a.value - b.value);
  stems("plot-worst", rows.map((r) => ({ ...r, value: Math.min(r.value, 1e3) })), `largest${unit}`);
  draw("plot-long", traces, {
    xaxis: axis("time (s)", choice.axis === "log" ? { type: "log", ...decades(time.slice(1), 5) } : {}),
    yaxis: axis(`${RUN.long[name]}${unit}`, { type: "log", range: [low, high + 0.1], ...decades([10 ** low, 10 ** high], 9) }),
  });
}

// ---- many bodies ----

const MEASURES = {
  energy_error: "energy error as published (%)",
  energy_error_mean: "mean |change of energy| (relative)",
  energy_error_largest: "largest |change of energy| (relative)",
  energy_drift: "change of energy at the end (relative)",
};

// The published-scale results first: the report shows them.
const SCENES = [...RUN.scenes.filter((s) => s.whose !== "this run"), ...RUN.scenes.filter((s) => s.whose === "this run")];
const nameOf = (scene) => `${scene.whose}: ${scene.key}`;
const sceneNow = () => SCENES.find((s) => nameOf(s) === choice.scene) || SCENES[0];

function sayContacts() {
  const rows = RUN.contacts;
  const now = rows.find((r) => r.error === Number(choice.contact)) || rows[0];
  offer("contact", rows.map((r) => [String(r.error), text(r.error)]), now ? String(now.error) : "");
  const T = (steps) => (steps === null ? "not reached" : `T/${whole(steps)}`);
  const said = [];
  if (now && now.elastic) {
    const [method, take, half] = now.elastic;
    said.push(`<strong>Elastic</strong>, mean relative error of the energy: ${escaped(labelOf(method))} with <strong>${T(take)}</strong> serves nine in ten states (half: ${T(half)}).`);
  }
  if (now && now.rubbing) {
    const [take, half, codes] = now.rubbing;
    said.push(`<strong>With friction and damping</strong>, spin and velocity after an impact, over their change: <strong>${T(take)}</strong> with all cures serves 95 % of impacts (half: ${T(half)}), ${T(codes)} with the bookkeeping of codes; nearly any method.`);
  }
  byId("answer-contacts").innerHTML = said.length
    ? `${said.join(" ")}<span class="more">T: the time of a head-on contact. From a terminal: <code>polhode recommend --contact-time 1e-4 --error ${typed(now.error)}</code>, with friction and <code>--for impacts</code>.</span>`
    : "This run has no contacts.";
}

function drawBodies() {
  sayContacts();
  const ids = ["plot-bodies", "plot-along"];
  if (!SCENES.length) return ids.forEach((id) => missing(id, "This run has no many-body scenes."));
  const scene = sceneNow();
  offer("scene", SCENES.map((s) => [nameOf(s), `${s.key.replaceAll("_", " ")} (${s.whose}, ${s.seeds} initial state${s.seeds === 1 ? "" : "s"})`]), nameOf(scene));
  const names = keysOf(scene.values);
  const measure = names.includes(choice.measure) ? choice.measure : names[0];
  offer("measure", names.map((key) => [key, MEASURES[key] || key]), measure);
  const dt = row(scene.dt);
  byId("about-scene").textContent =
    `${scene.label}: ${scene.clumps} clumps, ${text(scene.horizon)} s, ${scene.spin ? `spin ${text(scene.spin)} rad/s` : "no spin"} at the start, ` +
    `contacts last about ${text(scene.contact_time)} s. ${scene.seeds} initial state${scene.seeds === 1 ? "" : "s"}, ` +
    (scene.whose === "this run" ? "from this run." : "from the published-scale results shipped with polhode, on which the report's verdicts rest.");
  const keys = there(scene.methods);
  byId("figure-along").hidden = !scene.along;
  byId("grid-bodies").classList.toggle("two", Boolean(scene.along));
  if (!keys.length) return ids.forEach((id) => missing(id, chosen().length ? "No method chosen ran this scene." : NO_METHODS));
  const single = dt.length === 1;
  const other = scene.methods.indexOf("spiral_leapfrog");
  const paired = choice.beside === "paired" && other >= 0;
  offer("beside", [["alone", "as it is"], ...(other >= 0 ? [["paired", "over that of SPIRAL from the same initial state"]] : [])], paired ? "paired" : "alone");
  const traces = [], blown = [], means = [];
  keys.forEach((key, place) => {
    const i = scene.methods.indexOf(key);
    const cloud = { x: [], y: [], hover: [] }, mean = { x: [], y: [], hover: [] };
    dt.forEach((h, k) => {
      const rival = row(scene.values[measure], Math.max(other, 0), k);
      const values = row(scene.values[measure], i, k).map((v, seed) => Math.abs(paired ? v / rival[seed] : v));
      const diverged = row(scene.diverged, i, k).filter((v) => v === 1).length;
      const run = values.filter((v) => Number.isFinite(v) && v > 0);
      if (diverged) blown.push(`${labelOf(key)} ${diverged} of ${scene.seeds}${single ? "" : ` at ${text(h)} s`}`);
      values.forEach((v, seed) => {
        if (!(v > 0 && Number.isFinite(v))) return;
        cloud.x.push(single ? labelOf(key) : h * (1 + 0.015 * (place - (keys.length - 1) / 2)));
        cloud.y.push(v);
        cloud.hover.push(`<b>${escaped(labelOf(key))}</b><br>dt ${text(h)} s, initial state ${seed + 1}<br>${text(v)}`);
      });
      if (!run.length) return;
      const sorted = [...run].sort((a, b) => a - b), half = sorted.length / 2;
      const average = paired ? (sorted[Math.floor(half)] + sorted[Math.ceil(half) - 1]) / 2 : run.reduce((a, b) => a + b) / run.length;
      mean.x.push(single ? labelOf(key) : h);
      mean.y.push(average);
      mean.hover.push(`<b>${escaped(labelOf(key))}</b><br>dt ${text(h)} s<br>${paired ? "median" : "mean"} of ${run.length}: ${text(average)}<br>from ${text(Math.min(...run))} to ${text(Math.max(...run))}${diverged ? `<br>${diverged} blew up` : ""}`);
    });
    traces.push({ name: `${key} states`, x: cloud.x, y: cloud.y, mode: "markers", marker: { color: colourOf(key), size: 4, opacity: scene.seeds > 10 ? 0.25 : 0.5 }, hovertext: cloud.hover, hovertemplate: "%{hovertext}<extra></extra>" });
    means.push({ name: key, x: mean.x, y: mean.y, mode: single ? "markers" : "lines+markers", line: lineOf(key, 1.8), marker: markerOf(key, single ? 12 : 9), hovertext: mean.hover, hovertemplate: "%{hovertext}<extra></extra>" });
  });
  const values = [...traces, ...means].flatMap((trace) => trace.y);
  byId("caption-bodies").textContent =
    `Small points: single initial states${single ? "" : ", set apart a little from method to method"}; large: their ${paired ? "median" : "mean"}${single ? `, all with dt = ${text(dt[0])} s` : ""}.${blown.length ? ` Blew up: ${blown.join(", ")}.` : ""}`;
  if (scene.along) drawAlong(scene, keys);
  draw("plot-bodies", [...traces, ...means], {
    xaxis: single ? axis("", { type: "category", tickangle: -35, categoryorder: "array", categoryarray: keys.map(labelOf), range: [-0.5, keys.length - 0.5] }) : axis("step size (s)", { type: "log" }),
    yaxis: axis(paired ? "ratio to SPIRAL, same initial states" : MEASURES[measure] || measure, { type: "log", ...decades(values, 8) }),
    shapes: paired ? [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: 1, y1: 1, line: { color: tint("soft"), width: 1.5, dash: "dot" } }] : [],
    annotations: single ? means.filter((mean) => !mean.x.length).map((mean) => ({ x: labelOf(mean.name), yref: "paper", y: 0.02, yanchor: "bottom", text: "blew up", textangle: -90, showarrow: false, font: { size: 12, color: tint("soft") } })) : [],
  });
}

function drawAlong(scene, keys) {
  const time = row(scene.along.time);
  const states = scene.along.energy_change.shape[1];
  const traces = [];
  for (const key of keys) {
    for (let state = 0; state < states; state++) {
      const values = row(scene.along.energy_change, scene.methods.indexOf(key), state).map(Math.abs);
      traces.push({
        name: key, x: time.slice(1), y: values.slice(1).map((v) => (v > 0 && Number.isFinite(v) ? v : null)), mode: "lines+markers", line: lineOf(key, 1.2), opacity: states > 1 ? 0.7 : 1,
        marker: { ...markerOf(key, 6), maxdisplayed: 8 },
        ...hoverOf(time.slice(1), values.slice(1), labelOf(key), states > 1 ? `, initial state ${state + 1}` : ""),
      });
    }
  }
  const drawn = traces.flatMap((trace) => trace.y).filter((y) => y > 0);
  byId("caption-along").textContent = `Along the run${states < scene.seeds ? `, the first ${states} of ${scene.seeds} initial states` : ""}.`;
  draw("plot-along", traces, {
    xaxis: axis("time (s)"),
    yaxis: axis("|change of energy|, relative", { type: "log", ...decades(drawn, 8) }),
  });
}

// ---- a polhode ----

function topNow() {
  const tops = problemsWith("top");
  const key = tops.includes(choice.top) ? choice.top : tops[0];
  if (!key) return null;
  const methods = about(key).long.methods;
  return { key, methods, method: methods.includes(choice.follow) ? choice.follow : methods[0], ...about(key).top, long: about(key).long };
}

function drawPolhode() {
  const top = topNow();
  if (!top) {
    stop();
    return ["plot-polhode", "plot-departure"].forEach((id) => missing(id, "This run has no long run of a top without torque."));
  }
  offer("top", problemsWith("top").map((key) => [key, about(key).label]), top.key);
  const order = RUN.groups.flatMap((group) => group.methods).filter((key) => top.methods.includes(key));
  offer("follow", order.map((key) => [key, labelOf(key)]), top.method);
  const time = row(top.long.time);
  const last = time.length - 1;
  document.querySelector('[data-key="moment"]').max = last;
  const moment = Math.min(choice.moment, last);
  const i = top.methods.indexOf(top.method);
  const energy = row(top.energy, i), momentum = row(top.momentum, i);
  const omega = time.map((_, k) => row(top.omega, i, k));
  const { inertia, start } = top;
  const T = energyOf(inertia, start), L = momentumOf(inertia, start);
  const power = choice.magnify < 0 ? visible(inertia, T, L, energy, momentum) : choice.magnify;
  const factor = factorOf(power);
  document.querySelector('[data-key="magnify"]').value = power;
  byId("out-magnify").textContent = factor === 1 ? "as it is" : `× ${text(factor)}`;
  byId("out-moment").textContent = `${text(time[moment], 4)} s`;
  const slipped = (k) => polhode(inertia, T * (1 + factor * energy[k]), L * (1 + factor * momentum[k]), start);
  // How far along a sample is and on which side, on the polhode that it has slipped to.
  const placed = (k) => (factor === 1 ? omega[k] : nearest(inertia, omega[k], T * (1 + factor * energy[k]), L * (1 + factor * momentum[k])));
  const traces = background(inertia, T, L, start);
  const exact = polhode(inertia, T, L, start);
  traces.push(curve(exact, { color: tint("ink"), width: 5 }, "exact polhode"));
  const now = Number.isFinite(energy[moment]) ? slipped(moment) : null;
  if (now) traces.push(curve(now, { color: colourOf(top.method), width: 5 }, `polhode of ${labelOf(top.method)} at ${text(time[moment])} s`));
  const past = [];
  for (let k = 0; k <= moment; k++) {
    const point = Number.isFinite(energy[k]) ? placed(k) : null;
    if (point && Math.hypot(...point) < 4 * Math.hypot(...start)) past.push({ k, point });
  }
  traces.push({
    type: "scatter3d", mode: "markers", name: "samples", ...xyz(past.map((p) => p.point)),
    marker: { size: past.map((p) => (p.k === moment ? 8 : 3)), color: colourOf(top.method), opacity: 0.75, line: { width: 0 } },
    hovertext: past.map((p) => `<b>${escaped(labelOf(top.method))}</b> at ${text(time[p.k])} s<br>ω = (${omega[p.k].map((w) => text(w)).join(", ")}) rad/s<br>energy ${signed(energy[p.k])}, momentum ${signed(momentum[p.k])}`),
    hovertemplate: "%{hovertext}<extra></extra>",
  });
  if (top.exact) {
    const point = row(top.exact, moment);
    traces.push({ type: "scatter3d", mode: "markers", name: "exact", ...xyz([point]), marker: { size: 6, symbol: "diamond", color: tint("ink") }, hovertemplate: `<b>exact</b> at ${text(time[moment])} s<br>ω = (${point.map((w) => text(w)).join(", ")}) rad/s<extra></extra>` });
  }
  const apart = time.length > 1 ? time[1] - time[0] : 0;
  byId("caption-polhode").textContent =
    `Axes: the components of ω (rad/s). Dark: the exact polhode. Coloured: the polhode on which the method is at the time chosen, and its samples so far, ${text(apart)} s apart. Diamond: the exact solution then. Thin: other polhodes of this energy. Drag to rotate, scroll to zoom.`;
  const place = byId("plot-polhode");
  const direction = start.map((w, k) => w / Math.sqrt((2 * T) / inertia[k]));
  // From the side on which the motion is, and a little from above the other axes.
  const aside = direction.map((d, k) => d / Math.hypot(...direction) + (d < 0 ? -1 : 1) * [0.5, 0.5, 0.35][k]);
  const eye = aside.map((d) => (1.65 * d) / Math.hypot(...aside));
  const scene = (name) => ({ title: { text: name, font: { size: 12 } }, color: tint("soft"), gridcolor: tint("grid"), zerolinecolor: tint("line"), showbackground: false, tickfont: { size: 10 }, nticks: 5 });
  draw("plot-polhode", traces, {
    margin: { l: 0, r: 0, t: 0, b: 0 },
    uirevision: top.key,
    scene: { xaxis: scene("ω₁"), yaxis: scene("ω₂"), zaxis: scene("ω₃"), aspectmode: "data", camera: { eye: { x: eye[0], y: eye[1], z: eye[2] } }, uirevision: top.key },
  });
  place.dataset.moment = moment;
  const lost = !now;
  byId("drift").innerHTML =
    `<strong>${escaped(labelOf(top.method))}</strong>, dt = ${text(top.long.dt)} s, after ${text(time[moment], 4)} s (${whole(time[moment] / top.long.dt)} steps): ` +
    (Number.isFinite(energy[moment])
      ? `energy off by ${signed(energy[moment])}, angular momentum by ${signed(momentum[moment])}, relative to the exact ones.`
      : "it has blown up.") +
    (lost
      ? factor > 1 ? " With this magnification no motion has this energy and momentum: magnify less." : " The motion is lost."
      : factor > 1 ? ` <span class="more">The drift is magnified ${text(factor)} times; samples are drawn on the magnified polhode.</span>` : "") +
    warningsOf([top.method]);
  const largest = Math.max(...[...energy, ...momentum].filter(Number.isFinite).map(Math.abs));
  const log = largest > 3;
  const line = (values, key, name, dash) => ({ name, x: time, y: log ? values.map((v) => Math.abs(v) || null) : values, mode: "lines", line: { color: colourOf(key), width: 2, dash }, ...hoverOf(time, values, name) });
  draw("plot-departure", [line(energy, top.method, "energy", "solid"), line(momentum, top.method, "angular momentum", "6px,4px")], {
    xaxis: axis("time (s)"),
    yaxis: axis(log ? "|relative departure|" : "relative departure", log ? { type: "log", ...decades([1e-6, Math.min(largest, 1e30)], 8) } : { zeroline: true, zerolinecolor: tint("line"), exponentformat: "power" }),
    shapes: [{ type: "line", x0: time[moment], x1: time[moment], yref: "paper", y0: 0, y1: 1, line: { color: tint("ink"), width: 1.5 } }],
    showlegend: true,
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
  });
}

const signed = (value) => (Number.isFinite(value) ? `${value < 0 ? "−" : value > 0 ? "+" : ""}${text(Math.abs(value))}` : "lost");
const xyz = (points) => ({ x: points.map((p) => p[0]), y: points.map((p) => p[1]), z: points.map((p) => p[2]) });
const curve = (points, line, name) => ({ type: "scatter3d", mode: "lines", name, ...xyz(points || []), line, hovertemplate: `${escaped(name)}<extra></extra>` });

// 1, 3, 10, 30, ... for whole and half powers of ten.
const factorOf = (power) => Number((10 ** power).toPrecision(1));

// By how much, as a power of ten, a drift may be magnified to be seen and still be that of a motion, at all times.
function visible(inertia, T, L, energy, momentum) {
  const low = 2 * T * Math.min(...inertia), high = 2 * T * Math.max(...inertia);
  const drift = energy.map((e, k) => [e, momentum[k]]).filter(([e, m]) => Number.isFinite(e) && Number.isFinite(m));
  const possible = (power) =>
    drift.every(([e, m]) => {
      const scale = 1 + factorOf(power) * e, square = (L * (1 + factorOf(power) * m)) ** 2;
      return scale > 0.3 && scale < 2 && square > 1.01 * low * scale && square < 0.99 * high * scale;
    });
  for (let power = 12; power > 0; power -= 0.5) if (possible(power)) return power;
  return 0;
}

// The point of a polhode nearest to a sample; null where there is no such polhode.
function nearest(inertia, omega, T, L) {
  const points = polhode(inertia, T, L, omega);
  if (!points) return null;
  let best = null, least = Infinity;
  for (const point of points) {
    const distance = Math.hypot(point[0] - omega[0], point[1] - omega[1], point[2] - omega[2]);
    if (distance < least) [best, least] = [point, distance];
  }
  return best;
}

// The ellipsoid of this energy with a family of its polhodes; it does not change while a method is followed.
const backgrounds = new Map();
function background(inertia, T, L, start) {
  const key = JSON.stringify([inertia, T, dark.matches]);
  if (!backgrounds.has(key)) {
    const half = inertia.map((moment) => Math.sqrt((2 * T) / moment));
    const across = [...Array(41).keys()].map((k) => (Math.PI * k) / 40), around = [...Array(61).keys()].map((k) => (2 * Math.PI * k) / 60);
    const surface = [0, 1, 2].map((dimension) =>
      across.map((a) => around.map((b) => half[dimension] * [Math.sin(a) * Math.cos(b), Math.sin(a) * Math.sin(b), Math.cos(a)][dimension]))
    );
    const colour = dark.matches ? "#4b5a6b" : "#b9c7d6";
    const traces = [{ type: "surface", x: surface[0], y: surface[1], z: surface[2], opacity: 0.42, showscale: false, colorscale: [[0, colour], [1, colour]], hoverinfo: "skip", contours: { x: { highlight: false }, y: { highlight: false }, z: { highlight: false } }, lighting: { ambient: 0.75, diffuse: 0.4, specular: 0.05 } }];
    const sorted = [...inertia].sort((a, b) => a - b);
    const lines = { x: [], y: [], z: [] };
    for (const [low, high] of [[sorted[0], sorted[1]], [sorted[1], sorted[2]]]) {
      if (low === high) continue;
      for (let k = 1; k <= 5; k++) {
        // Evenly in the distance from the axis, which goes with the root.
        const share = (k / 6) ** 2;
        const moment = low === sorted[0] ? low + share * (high - low) : high - share * (high - low);
        for (const side of [1, -1]) {
          const points = polhode(inertia, T, Math.sqrt(2 * T * moment), [side, side, side], 121);
          for (const p of [...(points || []), [null, null, null]]) ["x", "y", "z"].forEach((name, i) => lines[name].push(p[i]));
        }
      }
    }
    // The separatrix parts the motions about one axis from those about the other.
    if (sorted[0] < sorted[1] && sorted[1] < sorted[2]) {
      for (const side of [1, -1]) for (const about of [1e-9, -1e-9]) {
        const points = polhode(inertia, T, Math.sqrt(2 * T * sorted[1] * (1 + about)), [side, side, side], 241);
        for (const p of [...(points || []), [null, null, null]]) ["x", "y", "z"].forEach((name, i) => lines[name].push(p[i]));
      }
    }
    traces.push({ type: "scatter3d", mode: "lines", ...lines, line: { color: tint("soft"), width: 1.2 }, opacity: 0.55, hoverinfo: "skip", name: "other polhodes" });
    backgrounds.set(key, traces);
  }
  return [...backgrounds.get(key)];
}

let playing = 0;
function stop() {
  window.clearInterval(playing);
  playing = 0;
  byId("play").textContent = "▶ Play";
  byId("play").setAttribute("aria-pressed", "false");
}

function play() {
  if (playing) return stop();
  const top = topNow();
  if (!top) return;
  const last = top.long.time.shape[0] - 1;
  if (choice.moment >= last) set({ moment: 0 });
  byId("play").textContent = "❚❚ Pause";
  byId("play").setAttribute("aria-pressed", "true");
  playing = window.setInterval(() => {
    if (choice.section !== "polhode" || choice.moment >= last) return stop();
    set({ moment: Math.min(last, choice.moment + (still.matches ? 10 : 2)) });
  }, still.matches ? 600 : 90);
}

// ---- engines ----

const nameOfEngine = (one) => `${one.label} ${one.version}${one.precision === "float32" ? " (single precision)" : ""}`;

function drawEngines() {
  const atlas = RUN.engines, ids = ["plot-engines", "plot-spin"];
  if (!atlas) return ids.forEach((id) => missing(id, "This run has no atlas of engines."));
  const { rows } = atlas;
  const at = Math.max(0, rows.findIndex((one) => one.engine === choice.engine));
  const now = rows[at];
  offer("engine", rows.map((one) => [one.engine, `${one.label}: ${one.option}${one.is_default === "1" ? " ★" : ""}`]), now.engine);
  const identified = rows.filter((one) => one.is_identified === "1").length;
  byId("about-engines").textContent =
    `${rows.length} options of ${new Set(rows.map((one) => one.label)).size} engines, run on the same free and driven bodies on ${atlas.date}; the integrator of ${identified} is identified to the last digits. ★: what a user gets who chooses nothing.`;
  const steps = whole(unpack(atlas.spin_steps)[at]), energy = unpack(atlas.energy)[at];
  byId("answer-engine").innerHTML =
    `<strong>${escaped(nameOfEngine(now))}, ${escaped(now.option)}</strong>: ${escaped(now.method_label)}. ${escaped(now.advice)}` +
    `<span class="more">Chosen by: ${escaped(now.chosen_by)}. Switched off here: ${escaped(now.switched_off || "nothing")}. ${now.releases ? escaped(now.releases) : `Measured with release ${escaped(now.version)}.`}</span>`;
  byId("caption-engines").textContent =
    "Error of the orientation of a free body. Thick: the option chosen; blue: other options of this engine; dashed: our method that it is identified as. A point leads to its engine.";
  byId("caption-spin").textContent =
    `The angular momentum in the body during a free spin of ${steps} steps of ${atlas.spin_step} rad, from next to the middle axis (y); the sphere is its constant size, thin lines are exact motions. It ${now.end === "diverges" || now.end === "stops" || now.end === "tumbles" ? now.end : `ends about the axis of the ${now.end}`}; the energy changes by ${Number.isFinite(energy) ? signed(energy) : "more than numbers hold"}.`;
  drawEngineErrors(atlas, at);
  drawSpin(atlas, at);
  const words = choice.find.toLowerCase().split(/\s+/).filter(Boolean);
  document.querySelector("#table-engines tbody").innerHTML = rows
    .map((one, i) => [one, i])
    .filter(([one]) => words.every((word) => keysOf(one).map((key) => one[key]).join(" ").toLowerCase().includes(word)))
    .map(([one, i]) => {
      const orders = atlas.loads.map((load, k) => `<span title="${escaped(load)}">${Number.isFinite(row(atlas.order, i)[k]) ? row(atlas.order, i)[k].toFixed(1) : "–"}</span>`);
      return (
        `<tr><td><a href="${escaped(`#engines?engine=${encodeURIComponent(one.engine)}`)}"${i === at ? ' aria-current="true"' : ""}>${escaped(nameOfEngine(one))}</a></td>` +
        `<td>${escaped(one.option)}${one.is_default === "1" ? " ★" : ""}</td><td>${escaped(one.method_label)}</td>` +
        `<td class="number" data-head="order of q">${orders.join(" ")}</td><td class="number" data-head="error at 0.1 rad">${text(row(atlas.q_error, i).at(-1), 2)}</td>` +
        `<td>${escaped(one.end)}</td><td>${escaped(one.advice)}</td></tr>`
      );
    })
    .join("");
}

function drawEngineErrors(atlas, at) {
  const step = row(atlas.step), { rows } = atlas;
  const positive = (values) => values.map((v) => (v > 0 && Number.isFinite(v) ? v : null));
  const same = rows[at].label, marks = { color: tint("accent"), size: 9 };
  const traces = rows.map((one, i) => {
    const errors = row(atlas.q_error, i), mine = one.label === same;
    return {
      name: one.engine, x: step, y: positive(errors), mode: "lines+markers", customdata: step.map(() => one.engine),
      line: { color: mine ? tint("accent") : tint("line"), width: i === at ? 3 : mine ? 1.4 : 0.8 },
      marker: i === at ? marks : { color: mine ? tint("accent") : tint("soft"), size: mine ? 5 : 3 },
      opacity: i === at || mine ? 1 : 0.55,
      hovertemplate: step.map((h, k) => `<b>${escaped(one.label)}</b>, ${escaped(one.option)}<br>${escaped(one.method_label)}<br>error ${text(errors[k])} at ${text(h)} rad<extra></extra>`),
    };
  });
  traces.push({ name: "identified", x: step, y: positive(row(atlas.method_error, at)), mode: "lines", line: { color: tint("ink"), width: 1.6, dash: "4px,4px" }, hoverinfo: "skip" });
  // The chosen one on top.
  traces.sort((a, b) => (a.name === rows[at].engine) - (b.name === rows[at].engine));
  const values = traces.flatMap((trace) => trace.y);
  draw("plot-engines", traces, {
    xaxis: axis("angle turned in a step (rad)", { type: "log", ...decades(step) }),
    yaxis: axis("error of the orientation (rad)", { type: "log", ...decades(values, 8) }),
  });
  const place = byId("plot-engines");
  if (!place.dataset.listens) {
    place.dataset.listens = "yes";
    place.on("plotly_click", (event) => event.points[0].customdata && set({ engine: event.points[0].customdata }));
  }
}

// The sphere of a constant angular momentum (of size 1) with some exact motions on it.
function momentumSphere(inertia) {
  const [across, around] = [41, 61].map((count, k) => [...Array(count).keys()].map((i) => ((k + 1) * Math.PI * i) / (count - 1)));
  const on = [(a, b) => Math.sin(a) * Math.cos(b), (a, b) => Math.sin(a) * Math.sin(b), (a) => Math.cos(a)];
  const [x, y, z] = on.map((f) => across.map((a) => around.map((b) => f(a, b))));
  const colour = dark.matches ? "#4b5a6b" : "#b9c7d6";
  const exact = [];
  const [low, middle, high] = inertia.map((moment) => 0.5 / moment).sort((a, b) => a - b);
  for (const [from, to] of [[middle, low], [middle, high]]) {
    for (const share of [1e-6, 0.15, 0.4, 0.75]) {
      for (const side of [1, -1]) {
        const points = polhode(inertia, from + share * (to - from), 1, [side, side, side], 121) || [];
        exact.push(...points.map((omega) => omega.map((w, i) => w * inertia[i])), [null, null, null]);
      }
    }
  }
  return [
    { type: "surface", x, y, z, opacity: 0.42, showscale: false, colorscale: [[0, colour], [1, colour]], hoverinfo: "skip", contours: { x: { highlight: false }, y: { highlight: false }, z: { highlight: false } } },
    { ...curve(exact, { color: tint("soft"), width: 1.2 }, "exact motions"), opacity: 0.55, hoverinfo: "skip" },
  ];
}

function drawSpin(atlas, at) {
  const count = atlas.path.shape[1];
  const path = [...Array(count).keys()].map((k) => row(atlas.path, at, k)).filter((p) => Math.abs(Math.hypot(...p) - 1) < 1e-2);
  const scene = (name) => ({ title: { text: name, font: { size: 12 } }, color: tint("soft"), showbackground: false, showgrid: false, zeroline: false, showticklabels: false });
  if (!path.length) return missing("plot-spin", "The free spin of this option left no path.");
  draw("plot-spin", [
    ...momentumSphere(atlas.inertia),
    { type: "scatter3d", mode: "markers", name: "free spin", ...xyz(path), marker: { size: 3.2, color: path.map((_, k) => k), colorscale: "Viridis", line: { width: 0 } }, hoverinfo: "skip" },
    { type: "scatter3d", mode: "markers", name: "end", ...xyz(path.slice(-1)), marker: { size: 7, color: tint("accent") }, hovertemplate: "the end<extra></extra>" },
  ], {
    margin: { l: 0, r: 0, t: 0, b: 0 },
    uirevision: "spin",
    scene: { xaxis: scene("x"), yaxis: scene("y"), zaxis: scene("z"), aspectmode: "data", camera: { eye: { x: 0.85, y: 1.1, z: 0.7 } }, uirevision: "spin" },
  });
}

// ---- claims ----

const GOOD = ["reproduced", "holds", "by construction", "ours: holds"];
const BAD = ["not reproduced", "does not hold", "ours: does not hold"];
const KINDS = { number: "a number", statement: "a statement", construction: "holds by construction", extension: "a question of ours" };
const SIGNS = { equal: "=", "at least": "≥", "at most": "≤" };

// The statements that the article counts, those about time, which no other machine repeats, and our own questions.
const COUNTS = [
  ["statements of the publications", (claim) => claim.stated],
  ["about time, on other machines", (claim) => claim.timed],
  ["of our own, or true by construction", (claim) => !claim.stated && !claim.timed],
];

function counted(words, found, all) {
  if (!all.length) return "";
  const good = found.filter((claim) => GOOD.includes(claim.verdict)).length, bad = found.filter((claim) => BAD.includes(claim.verdict)).length;
  return `<strong>${found.length} of ${all.length}</strong> ${words}: ${good} confirmed, ${bad} not, ${found.length - good - bad} undecided or not measured. `;
}

function claimsFound() {
  const words = choice.search.toLowerCase().split(/\s+/).filter(Boolean);
  return RUN.claims.filter((claim) => {
    if (choice.source && claim.source !== choice.source) return false;
    if (choice.verdict && claim.verdict !== choice.verdict) return false;
    if (choice.kind && (choice.kind === "timed" ? !claim.timed : claim.kind !== choice.kind)) return false;
    const all = [claim.id, claim.statement, claim.note, claim.location, claim.evidence, claim.verdict, sourceOf(claim)].join(" ").toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

const sourceOf = (claim) => RUN.sources[claim.source] || claim.source;

function asked(claim) {
  const printed = escaped(claim.published);
  const within = Number(claim.published);
  const body = claim.comparison === "within" ? `${text(1 / within, 2)} to ${text(within)}` : `${SIGNS[claim.comparison] || ""} ${printed}`;
  const tolerance = typeof claim.tolerance === "number" && claim.tolerance > 0 ? `<span class="note">± ${text(claim.tolerance, 2)}</span>` : "";
  return `${claim.threshold === "ours" ? `<em title="a threshold of ours">${body}</em>` : body}${tolerance}`;
}

function evidenceOf(claim) {
  const links = claim.figures.map((name) => `<a href="figures/${name}.png" title="figure">${name.replaceAll("_", " ")}</a>`);
  links.push(...claim.tables.map((name) => `<a href="tables/${name}.csv" title="table">${name.replaceAll("_", " ")} (table)</a>`));
  if (claim.section) {
    const problem = claim.problem && RUN.problems[claim.problem] ? `problem=${claim.problem}` : "";
    const methods = claim.methods.filter((key) => METHODS[key]);
    const scene = claim.section === "bodies" ? `scene=${encodeURIComponent(`published scale: ${claim.data.split(":")[1]}`)}` : "";
    const top = claim.section === "polhode" && problem ? `top=${claim.problem}${methods.length ? `&follow=${methods[0]}` : ""}` : "";
    const query = [problem, scene, top, methods.length ? `methods=${methods.join(",")}` : ""].filter(Boolean).join("&");
    links.push(`<a href="#${claim.section}${query ? `?${query}` : ""}">see it here</a>`);
  }
  const [file, group] = claim.data.split(":");
  const data = file ? `${file.startsWith("data/") ? escaped(file) : `<a href="${escaped(file)}">${escaped(file)}</a>`}${group ? `, group ${escaped(group)}` : ""}` : "";
  return links.join(" ") + `<span class="found">${escaped(claim.evidence)}${claim.evidence && data ? "; " : ""}${data}</span>`;
}

function drawClaims() {
  const options = (values, names = (v) => v) => values.map((value) => [value, `${names(value)} (${counts(value)})`]);
  let counts;
  const distinct = (name) => {
    const tally = {};
    RUN.claims.forEach((claim) => (tally[claim[name]] = (tally[claim[name]] || 0) + 1));
    counts = (value) => tally[value];
    return keysOf(tally);
  };
  offer("source", [["", "all"], ...options(distinct("source"), (s) => RUN.sources[s] || s)], choice.source);
  offer("verdict", [["", "all"], ...options(distinct("verdict"))], choice.verdict);
  offer("kind", [["", "all"], ...options(distinct("kind"), (k) => KINDS[k] || k), ["timed", `about time (${RUN.claims.filter((claim) => claim.timed).length})`]], choice.kind);
  const found = claimsFound();
  byId("count").innerHTML = COUNTS.map(([words, counts]) => counted(words, found.filter(counts), RUN.claims.filter(counts))).join("");
  const body = document.querySelector("#table tbody");
  body.innerHTML = found
    .map((claim) => {
      const kind = GOOD.includes(claim.verdict) ? "good" : BAD.includes(claim.verdict) ? "bad" : "open";
      const ends = typeof claim.low === "number" || typeof claim.high === "number" ? `<span class="note">[${text(claim.low)}, ${text(claim.high)}]</span>` : "";
      // As many digits as are printed there, so that a reader sees where the numbers part.
      const digits = Math.max(4, claim.published.split("/")[0].toLowerCase().split("e")[0].replace(/[^0-9]/g, "").replace(/^0+/, "").length);
      const measured = typeof claim.measured === "number" ? text(claim.measured, digits) : escaped(claim.measured || "n/a");
      return (
        `<tr id="claim-${escaped(claim.id)}"><td><span class="verdict ${kind}">${escaped(claim.verdict)}</span></td>` +
        `<td>${escaped(claim.location)}<span class="source">${escaped(sourceOf(claim))}</span></td>` +
        `<td>${escaped(claim.statement)}${claim.note && claim.note !== claim.evidence ? `<span class="note">${escaped(claim.note)}</span>` : ""}</td>` +
        `<td class="number" data-head="asked">${asked(claim)}</td><td class="number" data-head="measured">${measured}${ends}</td>` +
        `<td class="links">${evidenceOf(claim)}</td></tr>`
      );
    })
    .join("");
}

const SECTIONS = { compare: drawCompare, random: drawRandom, orders: drawOrders, long: drawLong, polhode: drawPolhode, bodies: drawBodies, engines: drawEngines, claims: drawClaims };
