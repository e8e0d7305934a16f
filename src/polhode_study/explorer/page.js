// What was chosen, which the address of the page holds, and the controls by which it is chosen.

const DEFAULTS = {
  section: "field", field: "", methods: "auto", error: 1e-5, price: -1, x: "time", one: true, // a price of -1: the field's
  problem: ["asymmetric_heavy_top", "heavy_top", "spiral_cylinder", ...keysOf(RUN.problems)].find((key) => RUN.problems[key]) || "",
  draw: "", torque: "state", target: "0.0001", count: "torques", quantity: "q", long: "energy_drift", run: "long", axis: "linear",
  ...asTyped(RUN.satellites?.example ?? {}), single: false,
  top: "free_asymmetric_top", follow: "omelyan1998", magnify: -1, moment: 200, // as much as lets the drift be seen, at the end
  scene: "", measure: "", beside: "alone", contact: "0.0001", engine: "", find: "", search: "", source: "", verdict: "", kind: "",
};
// Numbers, or none, as a reader would type them.
function asTyped(values) {
  return Object.fromEntries(keysOf(QUESTION).map((key) => [key, [values[key] ?? []].flat().map(typed).join(" ")]));
}
const LIMITS = { price: [0, 1e12], magnify: [0, 12], moment: [0, 1e9] };
const choice = { ...DEFAULTS };

function address(section = choice.section) {
  const query = keysOf(DEFAULTS)
    .filter((key) => key !== "section" && String(choice[key]) !== String(DEFAULTS[key]))
    .map((key) => `${key}=${encodeURIComponent(choice[key]).replaceAll("%2C", ",")}`);
  return `#${section}${query.length ? `?${query.join("&")}` : ""}`;
}

// What an address, or a control, says of a key; undefined if it is wrong.
function parsed(key, value) {
  if (key === "methods") return value === "auto" ? value : value.split(",").filter((method) => METHODS[method]);
  if (key === "error") return RUN.errors.find((error) => Math.abs(error / Number(value) - 1) < 1e-6);
  if (LIMITS[key]) return [Number(value.replace(",", ".") || NaN)].find((v) => v >= LIMITS[key][0] && v <= LIMITS[key][1]);
  if (key === "problem") return RUN.problems[value] ? value : undefined;
  if (QUESTION[key]) return RUN.satellites && QUESTION[key](value) === undefined ? undefined : value;
  return ["one", "single"].includes(key) ? value === "true" : key === "section" || !(key in DEFAULTS) ? undefined : value;
}

// Take over what an address says; what it does not name is as usual, and what it has wrong is left out.
function readAddress() {
  const [section, query] = window.location.hash.slice(1).split("?");
  Object.assign(choice, DEFAULTS, { section: SECTIONS[section] ? section : DEFAULTS.section });
  for (const [key, value] of new URLSearchParams(query || "")) choice[key] = parsed(key, value) ?? choice[key];
}

// The entry of the history is changed; a tab is a link, which makes a new one.
let waiting = 0;
function set(changes) {
  Object.assign(choice, changes);
  window.history.replaceState(null, "", address());
  waiting ||= window.requestAnimationFrame(() => {
    waiting = 0;
    show();
  });
}

// Fill a list of choices, with the chosen one.
function offer(key, options, value) {
  for (const select of document.querySelectorAll(`select[data-key="${key}"]`)) {
    const html = options.map(([option, name]) => `<option value="${escaped(option)}">${escaped(name)}</option>`).join("");
    if (select.dataset.options !== html) select.innerHTML = select.dataset.options = html;
    select.value = value;
  }
}

function fromControl({ target: control }) {
  const { key } = control.dataset, value = parsed(key, control.type === "checkbox" ? String(control.checked) : control.value);
  if (key) control.ariaInvalid = String(value === undefined);
  if (key && value !== undefined) set({ [key]: value });
}

function toControls() {
  offer("error", RUN.errors.map((error) => [error, text(error)]), choice.error);
  for (const control of document.querySelectorAll("[data-key]")) {
    const { key, problems } = control.dataset, value = problems ? problemFor(problems) : key === "price" ? priceNow() : choice[key];
    if (control.type === "checkbox") control.checked = value;
    else if (control !== document.activeElement || control.type !== "text") control.value = value;
    if (control !== document.activeElement) control.ariaInvalid = "false";
  }
}

// The list of methods is one stop of the Tab key; arrow keys move in it.
const boxes = () => [...document.querySelectorAll("#methods input")];
const boxesSeen = () => boxes().filter((box) => !box.closest(".chip").hidden);
const stopAt = (stop) => boxes().forEach((box) => (box.tabIndex = box === stop ? 0 : -1));

function toMethods() {
  document.body.classList.toggle("no-methods", !pool.length);
  for (const box of boxes()) {
    box.checked = drawn.includes(box.value);
    box.closest(".chip").hidden = !pool.includes(box.value);
  }
  for (const group of document.querySelectorAll("#methods fieldset")) group.hidden = !group.querySelector(".chip:not([hidden])");
  byId("chosen").textContent = `${drawn.length} of ${pool.length}`;
  stopAt(boxesSeen().find((box) => box.tabIndex === 0) || boxesSeen()[0]);
}

function moveInList(event) {
  const all = boxesSeen(), at = all.indexOf(event.target), last = all.length - 1;
  const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
  if (!all[to]) return;
  event.preventDefault();
  all[to].focus();
}

// Let the lines of one method stand out in the section in view; of all for an empty key.
function alone(method) {
  for (const plot of document.querySelectorAll("main > section:not([hidden]) .plot")) {
    const traces = (plot.data || []).filter((trace) => trace.x?.length);
    const fades = method && traces.some((trace) => trace.name === method);
    plot.querySelectorAll(".scatterlayer .trace").forEach((trace, i) => {
      trace.style.opacity = fades && (traces[i]?.name || "").split(" ")[0] !== method ? 0.13 : "";
    });
  }
}

let playing = 0;
function play(start) {
  window.clearInterval(playing);
  const last = Number(document.querySelector('[data-key="moment"]').max), [pace, wait] = still.matches ? [10, 600] : [2, 90];
  const go = () => (choice.moment >= last ? play(false) : set({ moment: Math.min(last, choice.moment + pace) }));
  playing = start && problemsWith("top").length ? window.setInterval(go, wait) : 0;
  if (playing && choice.moment >= last) set({ moment: 0 });
  byId("play").textContent = playing ? "❚❚ Pause" : "▶ Play";
  byId("play").setAttribute("aria-pressed", String(Boolean(playing)));
}

let opened = "";
function show() {
  for (const section of document.querySelectorAll("main > section")) section.hidden = section.dataset.section !== choice.section;
  for (const tab of document.querySelectorAll("[data-tab]")) {
    tab.href = address(tab.dataset.tab);
    tab.ariaCurrent = tab.dataset.tab === choice.section ? "page" : null;
  }
  if (choice.section !== opened) {
    document.querySelector("nav [aria-current]").scrollIntoView({ block: "nearest", inline: "center" });
    if (opened) window.scrollTo(0, 0);
    opened = choice.section;
  }
  if (choice.section !== "polhode" && playing) play(false);
  [pool, drawn] = [[], []];
  // Plots take their width from the page, which is wider without the list of methods.
  document.body.classList.toggle("no-methods", ["polhode", "engines", "claims"].includes(choice.section));
  toControls();
  SECTIONS[choice.section]();
  toMethods();
  document.body.dataset.drawn = address();
}

function begin() {
  byId("methods").innerHTML = RUN.chooser;
  document.querySelectorAll("select[data-problems]").forEach((select) => (select.innerHTML = RUN.options[select.dataset.problems]));
  if (narrow.matches) byId("drawer").open = false;
  const choose = { play: () => play(!playing), skip: () => byId("main").focus() };
  document.addEventListener("input", fromControl);
  document.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("click", (event) => {
    const { choose: methods, problem } = event.target.closest("[data-choose], [data-problem]")?.dataset || {};
    if (event.target.id === "skip") event.preventDefault();
    choose[event.target.id]?.();
    if (methods || problem) set(methods ? { methods: RUN.sets[methods] } : { problem });
  });
  const list = byId("methods"), methodOf = (event) => event.target.closest?.(".chip")?.dataset.method || "";
  list.addEventListener("keydown", moveInList);
  list.addEventListener("change", () => set({ methods: boxes().filter((box) => box.checked).map((box) => box.value) }));
  list.addEventListener("mouseover", (event) => alone(methodOf(event)));
  list.addEventListener("focusin", (event) => {
    stopAt(event.target);
    if (event.target.matches(":focus-visible")) alone(methodOf(event));
  });
  for (const name of ["mouseleave", "focusout"]) list.addEventListener(name, () => alone(""));
  // By a tab, another link, an address that is typed, or the history.
  window.addEventListener("popstate", () => show(readAddress()));
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth !== width) set({}); // on a phone the height changes whenever the bar of the address comes or goes
    width = window.innerWidth;
  });
  dark.addEventListener("change", () => show());
  show(readAddress());
  // Browsers cannot return to a place in a page that is not yet unpacked.
  if (window.history.state) window.scrollTo(0, window.history.state.scroll);
  window.addEventListener("beforeunload", () => window.history.replaceState({ scroll: window.scrollY }, ""));
}

begin();
