// A satellite's method and step from random ones, as `polhode recommend --spacecraft` finds them, and in its words.

// What a reader types, decimals behind a point or a comma: the words of it, and the numbers; undefined where they are wrong.
const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
const ANGLES = { "": 1, rad: 1, deg: Math.PI / 180, degree: Math.PI / 180, degrees: Math.PI / 180, "°": Math.PI / 180 };
const RATES = { "": 1, "rad/s": 1, "deg/s": Math.PI / 180 }, TIMES = { "": 1, s: 1 };
function wordsOf(typing) {
  const pointed = typing.includes(".") ? typing.replaceAll(",", " ") : typing.replace(/,(?=\s|$)/g, " ").replaceAll(",", ".");
  return pointed.trim().split(/\s+/).filter(Boolean);
}
function vectorOf(typing) {
  const values = wordsOf(typing).map((word) => (NUMBER.test(word) ? Number(word) : NaN));
  return values.length === 3 && values.every(Number.isFinite) ? values : undefined;
}
const within = ([low, high], value) => (value >= low && value < high ? value : undefined);
function quantityOf(typing, units, limits) {
  const [, number, unit] = /^(.*?)\s*([a-z°/]*)$/i.exec(wordsOf(typing).join(" "));
  return NUMBER.test(number) ? within(limits, Number(number) * units[unit.toLowerCase()]) : undefined;
}
// Moments that a body can have, to rounding.
function momentsOf(typing) {
  const moments = vectorOf(typing), { limits: { rates }, constants: { flat } } = RUN.satellites;
  const possible = moments?.every((moment) => within(rates, moment) && moment <= flat * (sum(moments) - moment));
  return possible ? moments : undefined;
}

// What each control of a question holds; no number is null.
const QUESTION = {
  inertia: momentsOf,
  wheels: (typing) => (typing.trim() ? vectorOf(typing) : [0, 0, 0]),
  omega: (typing) => quantityOf(typing, RATES, [0, RUN.satellites.limits.rates[1]]),
  every: (typing) => (typing.trim() ? quantityOf(typing, TIMES, RUN.satellites.limits.rates) : null),
  time: (typing) => (typing.trim() ? quantityOf(typing, TIMES, RUN.satellites.limits.rates) : null),
  below: (typing) => quantityOf(typing, ANGLES, RUN.satellites.limits.error),
};

// A number as Python writes it in so many digits: halves are rounded to the even digit.
function general(value, digits = 3) {
  const exact = value.toExponential(99), [, tail] = exact.slice(digits + 1).match(/^(\d*)e/), even = exact[digits] % 2 === 0;
  const [mantissa, exponent] = (even && /^50*$/.test(tail) ? exact.replace(`${tail}e`, "e") : value.toExponential(digits - 1)).split("e");
  const power = Number(exponent), size = String(Math.abs(power)).padStart(2, "0");
  return power >= -4 && power < digits ? String(Number(`${mantissa}e${power}`)) : `${Number(mantissa)}e${power < 0 ? "-" : "+"}${size}`;
}
const filled = (name, fields = {}) => RUN.satellites.words[name].replace(/\{(\w+)\}/g, (_, field) => fields[field]);

// The steps a radian of each method that are sufficient for a share of the satellites; `error` is for a radian.
function sufficient(error, share) {
  const { errors, methods, constants } = RUN.satellites, steps = unpack(RUN.satellites.steps), every = unpack(RUN.satellites.every);
  const fine = Math.min(Math.max(errors.filter((each) => each > error).length, 1), errors.length - 1);
  const way = Math.log(error / errors[fine - 1]) / Math.log(errors[fine] / errors[fine - 1]);
  const place = Math.max(0, Math.ceil(share * every.length - 1e-9) - 1);
  return methods.map((_, i) => {
    const needed = Float64Array.from(every, (interval, k) => {
      const [a, b] = [fine - 1, fine].map((at) => steps[(k * methods.length + i) * errors.length + at]);
      const between = Math.exp(Math.log(a) + way * (Math.log(b) - Math.log(a)));
      const most = Number.isFinite(a) && Number.isFinite(b) ? (way > 1 ? Math.max(between, b) : between) : Infinity;
      return most <= constants.as_samples / interval ? 0 : most;
    });
    return needed.sort()[place];
  });
}

// A method with the longest step that it takes; torques and time are of a second of the motion.
function satelliteRow(i, perRadian, { fastest, every, price }) {
  const { methods, labels, torques, starting, step_time, moving_time, unit, constants } = RUN.satellites;
  let step = 1 / (perRadian * fastest), steps = 1 / step, evaluations = torques[i] / step, count = 0;
  if (every !== null) {
    count = Math.max(1, Math.ceil((every / step) * (1 - constants.tolerance)));
    evaluations = (torques[i] * count + starting[i][Math.min(count, starting[i].length) - 1]) / every;
    [step, steps] = [every / count, count / every];
  }
  const seconds = step_time[i] * steps + moving_time[i] * fastest + evaluations * price * unit;
  const said = count === 1 ? filled("once") : filled("often", { number: general(1 / (step * fastest)) });
  return { method: methods[i], label: labels[i], single: torques[i] === 1, starts: starting[i].at(-1), step, count, evaluations, seconds, often: said };
}

// The answer to a question: the rows of all methods, the fastest first, the best and what is said of it, and the error a radian.
function satelliteAnswer({ inertia, wheels, omega, every, time, below, price, single }) {
  const { constants, shares, errors } = RUN.satellites, [x, y, z] = inertia;
  const nutation = Math.sqrt(sum(inertia.map((moment, i) => moment * wheels[i] ** 2)) / x / y / z), fastest = Math.max(omega, nutation);
  if (!fastest) return { rows: [], said: [filled("without_rate")] };
  const error = Math.min(errors[0], time === null ? below : below / Math.max(1, fastest * time));
  const [most, half] = [constants.share, 0.5].map((share) => sufficient(error, share).map((n) => Math.max(n, constants.fewest)));
  const choices = most.map((steps, i) => ({ ...satelliteRow(i, steps, { fastest, every, price }), half: 1 / (half[i] * fastest) }));
  const rows = choices.filter((r) => r.step > 0).sort((a, b) => a.seconds - b.seconds), best = rows.find((r) => r.single || !single);
  if (!best) return { rows, error, said: [filled("without_step", { ...shares, error: general(below, 6) })] };
  const { method, label, step, count } = best, other = rows.find((r) => r.single !== best.single);
  const rates = { spin: general(omega), nutation: general(nutation), faster: omega > nutation ? "spin" : "nutation", often: best.often };
  const steps = count === 1 ? filled("step") : filled("steps", { count, length: general(step, 4) });
  const why = [...(count === 1 ? [] : [filled("decides", rates)]), ...(count ? [filled("ends", { every: general(every), steps })] : [])];
  const costs = [filled("costs", { torques: general(best.evaluations) })];
  if (count) costs.push(filled("at_samples"));
  else if (best.starts > 1) costs.push(filled("at_firings", { torques: best.starts }));
  if (other && !single) costs.push(filled("other", { ...other, torques: general(other.evaluations), step: general(other.step, 4)}));
  const said = [[filled("take", { label, method, step: general(step, 4) }), ...why].join(" ")];
  said.push(filled("serves", { ...shares, error: general(error, 2) }), `${costs.join("")}.`);
  return { rows, best, error, said, half: filled("half", { step: general(best.half) }) };
}
