// What was chosen, kept in the address of the page, and the controls by which it is chosen.
"use strict";

const DEFAULTS = {
  section: "compare",
  problem: ["asymmetric_heavy_top", "heavy_top", "spiral_cylinder"].find((key) => RUN.problems[key]) || keysOf(RUN.problems)[0] || "",
  methods: ORIGINAL,
  error: 1e-5,
  price: RUN.price,
  x: "time",
  one: true,
  draw: "",
  torque: "state",
  target: "0.0001",
  count: "torques",
  quantity: "q",
  long: "energy_drift",
  run: "long",
  axis: "linear",
  top: RUN.problems.free_asymmetric_top ? "free_asymmetric_top" : "",
  follow: METHODS.omelyan1998 ? "omelyan1998" : "",
  magnify: -1, // as much as lets the drift be seen
  moment: 200,
  scene: "",
  measure: "",
  beside: "alone",
  contact: "0.0001",
  engine: "",
  find: "",
  search: "",
  source: "",
  verdict: "",
  kind: "",
};
const NUMBERS = ["error", "price", "magnify", "moment"];
const LIMITS = { error: (v) => v > 0 && v < 1, price: (v) => v >= 0, magnify: (v) => (v >= 0 && v <= 12) || v === -1, moment: (v) => v >= 0 };
const choice = { ...DEFAULTS };

// ---- the address ----

function address(section = choice.section) {
  const query = [];
  for (const key of keysOf(DEFAULTS)) {
    if (key === "section") continue;
    const value = key === "methods" ? choice.methods.join(",") : String(choice[key]);
    const usual = key === "methods" ? DEFAULTS.methods.join(",") : String(DEFAULTS[key]);
    if (value !== usual) query.push(`${key}=${encodeURIComponent(value).replaceAll("%2C", ",")}`);
  }
  return `#${section}${query.length ? `?${query.join("&")}` : ""}`;
}

// Take over what an address says; what it does not name is as usual, and what it has wrong is left out.
function readAddress() {
  const [section, query] = window.location.hash.slice(1).split("?");
  Object.assign(choice, DEFAULTS, { section: SECTIONS[section] ? section : DEFAULTS.section });
  for (const [key, value] of new URLSearchParams(query || "")) {
    if (key === "methods") choice.methods = value.split(",").filter((method) => METHODS[method]);
    else if (NUMBERS.includes(key)) {
      if (value !== "" && LIMITS[key](Number(value))) choice[key] = Number(value);
    } else if (key === "one") choice.one = value === "true";
    else if (key === "problem") choice.problem = RUN.problems[value] ? value : choice.problem;
    else if (key in DEFAULTS && key !== "section") choice[key] = value;
  }
}

// The entry of the history is changed; a tab is a link, which makes a new one.
let waiting = 0;
function set(changes) {
  Object.assign(choice, changes);
  window.history.replaceState(null, "", address());
  if (!waiting) {
    waiting = window.requestAnimationFrame(() => {
      waiting = 0;
      show();
    });
  }
}

// ---- controls ----

// Fill a list of choices, with the chosen one.
function offer(key, options, value) {
  for (const select of document.querySelectorAll(`select[data-key="${key}"]`)) {
    const html = options.map(([option, name]) => `<option value="${escaped(option)}">${escaped(name)}</option>`).join("");
    if (select.dataset.options !== html) {
      select.innerHTML = html;
      select.dataset.options = html;
    }
    select.value = value;
  }
}

function offerProblems(select) {
  const there = problemsWith(select.dataset.problems);
  const classes = [...new Set([...keysOf(RUN.classes), ...there.map((key) => RUN.problems[key].class)])];
  select.innerHTML = classes
    .map((name) => [name, there.filter((key) => RUN.problems[key].class === name)])
    .filter(([, keys]) => keys.length)
    .map(([name, keys]) => `<optgroup label="torque: ${escaped(RUN.classes[name] || name)}">${keys.map((key) => `<option value="${key}">${escaped(RUN.problems[key].label)}</option>`).join("")}</optgroup>`)
    .join("");
}

// From the position of a slider to the number and back.
const SCALES = {
  log: [(at) => Number((10 ** at).toPrecision(3)), (value) => Math.log10(value)],
  price: [(at) => (at <= -1.25 ? 0 : Number((10 ** at).toPrecision(2))), (value) => (value > 0 ? Math.max(-1, Math.log10(value)) : -1.25)],
};

function fromControl(control) {
  const { key, scale } = control.dataset;
  if (control.type === "checkbox") return set({ [key]: control.checked });
  if (!NUMBERS.includes(key)) return set({ [key]: control.value });
  const value = scale ? SCALES[scale][0](Number(control.value)) : Number(control.value.trim().replace(",", ".") || NaN);
  const good = Number.isFinite(value) && LIMITS[key](value);
  control.setAttribute("aria-invalid", good ? "false" : "true");
  if (good) set({ [key]: value });
}

function toControls() {
  for (const control of document.querySelectorAll("[data-key]")) {
    const { key, scale, problems } = control.dataset;
    if (problems) control.value = problemFor(problems) || "";
    else if (control.type === "checkbox") control.checked = choice[key];
    else if (scale) {
      control.value = SCALES[scale][1](choice[key]);
      control.setAttribute("aria-valuetext", text(choice[key]));
    } else if (control !== document.activeElement || control.type === "range") {
      control.value = NUMBERS.includes(key) && control.type !== "range" ? typed(choice[key]) : choice[key];
      control.setAttribute("aria-invalid", "false");
    }
  }
  const keys = methodsHere();
  for (const box of document.querySelectorAll("#methods input")) {
    box.checked = choice.methods.includes(box.value);
    box.closest(".chip").hidden = !keys.includes(box.value);
  }
  for (const group of document.querySelectorAll("#methods fieldset")) group.hidden = !group.querySelector(".chip:not([hidden])");
  byId("chosen").textContent = `${there(keys).length} of ${keys.length}`;
  const boxes = boxesSeen();
  if (boxes.length) stopAt(boxes.find((box) => box.tabIndex === 0) || boxes[0]);
}

// The methods that the section could show as it stands.
function methodsHere() {
  const { section } = choice;
  const part = { compare: "work", orders: "orders", long: "long" }[section];
  if (part) {
    const problem = problemFor(part);
    return problem ? (part === "work" ? RUN.problems[problem].work.methods : RUN.problems[problem].methods) : [];
  }
  if (section === "random" && RUN.random.length) return drawNow().methods;
  return section === "bodies" && RUN.scenes.length ? sceneNow().methods : [];
}

// The list of methods is one stop of the Tab key; arrow keys move in it.
const boxesSeen = () => [...document.querySelectorAll("#methods .chip:not([hidden]) input")];
const stopAt = (stop) => document.querySelectorAll("#methods input").forEach((box) => (box.tabIndex = box === stop ? 0 : -1));

function moveInList(event) {
  const boxes = boxesSeen(), at = boxes.indexOf(event.target);
  const to = boxes[{ ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: boxes.length - 1 }[event.key]];
  if (!to) return;
  event.preventDefault();
  to.focus();
}

function offerMethods() {
  byId("methods").innerHTML = RUN.groups
    .map(
      (group) =>
        `<fieldset><legend>${escaped(group.name)}</legend>${group.methods
          .map((key) => `<label class="chip" data-method="${key}" title="${escaped(key)}"><input type="checkbox" value="${key}"><span class="swatch">${swatch(key)}</span><span>${escaped(labelOf(key))}</span></label>`)
          .join("")}</fieldset>`
    )
    .join("");
  byId("methods").addEventListener("keydown", moveInList);
  byId("methods").addEventListener("focusin", (event) => stopAt(event.target));
  byId("methods").addEventListener("change", () => {
    const boxes = [...document.querySelectorAll("#methods input")];
    set({ methods: boxes.filter((box) => box.checked).map((box) => box.value) });
  });
  const some = {
    original: ORIGINAL,
    all: RUN.groups.flatMap((group) => group.methods),
    one: ORIGINAL.filter((key) => keysOf(RUN.problems).every((p) => { const n = torquesOf(p, key); return n === undefined || n === 1; })),
    none: [],
  };
  document.querySelectorAll("[data-choose]").forEach((button) => button.addEventListener("click", () => set({ methods: some[button.dataset.choose] })));
  for (const chip of document.querySelectorAll(".chip")) {
    chip.addEventListener("mouseenter", () => alone(chip.dataset.method));
    chip.addEventListener("mouseleave", () => alone(""));
    chip.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && alone(chip.dataset.method));
    chip.addEventListener("focusout", () => alone(""));
  }
}

// Let the lines of one method stand out in the section that is seen; of all for an empty key.
function alone(method) {
  for (const id of ["plot-work", "plot-laws", "plot-error", "plot-long", "plot-bodies", "plot-along"]) {
    const plot = byId(id);
    if (plot.closest("section").hidden || !plot.data || !choice.methods.includes(method || choice.methods[0])) continue;
    for (const trace of plot.querySelectorAll(".scatterlayer .trace")) trace.style.opacity = "";
    if (!method) continue;
    // In the order in which they are drawn, which is that of the data.
    const drawn = plot.data.filter((trace) => trace.x && trace.x.length);
    plot.querySelectorAll(".scatterlayer .trace").forEach((trace, i) => {
      if (!drawn[i] || (drawn[i].name || "").split(" ")[0] !== method) trace.style.opacity = 0.13;
    });
  }
}

// ---- the page ----

let opened = "";
function show() {
  for (const section of document.querySelectorAll("main > section")) section.hidden = section.dataset.section !== choice.section;
  for (const tab of document.querySelectorAll("[data-tab]")) {
    tab.href = address(tab.dataset.tab);
    if (tab.dataset.tab === choice.section) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  if (choice.section !== opened) {
    document.querySelector("[aria-current]").scrollIntoView({ block: "nearest", inline: "center" });
    if (opened) window.scrollTo(0, 0);
    opened = choice.section;
  }
  document.body.classList.toggle("no-methods", ["claims", "engines", "polhode"].includes(choice.section));
  if (choice.section !== "polhode" && playing) stop();
  if (choice.section !== "claims" && !keysOf(RUN.problems).length) return;
  toControls();
  SECTIONS[choice.section]();
  document.body.dataset.drawn = address();
}

function tellOfRun() {
  for (const place of document.querySelectorAll(".see")) {
    const links = (place.dataset.figures || "").split(" ").filter(Boolean).map((name) => `<a href="figures/${name}.png">${name.replaceAll("_", " ")}</a> `);
    links.push(...(place.dataset.tables || "").split(" ").filter(Boolean).map((name) => `<a href="tables/${name}.csv">${name.replaceAll("_", " ")} (table)</a> `));
    place.innerHTML = `In the report: ${links.join("")}`;
  }
  const files = [RUN.scenes.some((scene) => scene.whose === "this run") ? "many_body.nc" : "", RUN.machine ? "cost.nc" : "", "claims.csv"].filter(Boolean);
  byId("other-files").innerHTML = files.map((name) => `<a href="${name}">${name}</a>, `).join("");
  byId("about-run").textContent =
    `Made by polhode ${RUN.version} from the files of one run: ${keysOf(METHODS).length} methods on ${keysOf(RUN.problems).length} problems, ${RUN.claims.length} claims. ` +
    (RUN.machine ? `Steps timed on ${RUN.machine.cpu}, ${RUN.machine.date}.` : "No times were measured in this run.");
}

function begin() {
  document.querySelectorAll("select[data-problems]").forEach(offerProblems);
  offerMethods();
  tellOfRun();
  if (narrow.matches) byId("drawer").open = false;
  for (const control of document.querySelectorAll("[data-key]")) control.addEventListener("input", () => fromControl(control));
  document.querySelectorAll("form").forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));
  byId("play").addEventListener("click", play);
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
  // By a tab, another link, an address that is typed, or the history.
  window.addEventListener("popstate", () => {
    readAddress();
    show();
  });
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    // On a phone the height changes whenever the bar of the address comes or goes.
    if (window.innerWidth !== width) set({});
    width = window.innerWidth;
  });
  dark.addEventListener("change", () => {
    document.querySelectorAll(".chip").forEach((chip) => (chip.querySelector(".swatch").innerHTML = swatch(chip.dataset.method)));
    show();
  });
  readAddress();
  show();
  // Browsers cannot return to a place in a page that is not yet unpacked.
  if (window.history.state) window.scrollTo(0, window.history.state.scroll);
  window.addEventListener("beforeunload", () => window.history.replaceState({ scroll: window.scrollY }, ""));
}

begin();
