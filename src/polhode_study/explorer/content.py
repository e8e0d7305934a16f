"""The data shown on the page, taken from the files of a run as plain numbers; nothing that is in a file is computed again.

Numbers used in the page's own calculations are passed in double precision, so that they agree with the tables; long
series that are only drawn are thinned and passed in as many digits as can be seen.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from html import escape
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.colors import to_hex, to_rgb
from numpy.typing import NDArray

import polhode
from polhode.advice.from_contacts import FARTHEST
from polhode.advice.prices import USUAL
from polhode.fits import laws, ranking
from polhode.fits.ladders import METRIC, largest_of_each, whole_steps
from polhode.interface.reading import load_yaml
from polhode_engines import wheels
from polhode_engines.advice import advice_of
from polhode_engines.protocol import known_engines
from polhode_study import chapters
from polhode_study.chapters.impacts import frames as impacts
from polhode_study.chapters.laws import frames as law_frames
from polhode_study.chapters.laws.advice import all_advice
from polhode_study.explorer import rows
from polhode_study.explorer.evidence import DEFAULT_PROBLEM, SOURCE_NAMES, evidence
from polhode_study.explorer.fields import fields
from polhode_study.explorer.packing import numbers
from polhode_study.explorer.rows import number
from polhode_study.explorer.satellites import satellites
from polhode_study.gather.cost import problem_cost
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.judge.verdicts import COUNTED
from polhode_study.report import selection, style
from polhode_study.report.formats import labels_of

Floats = NDArray[np.float64]

#: Number of samples kept of a time series.
SAMPLES = 201
#: Number of initial states whose energy is drawn along the run.
SHOWN_SEEDS = 5
#: The errors of single bodies for which the page has steps.
ERRORS = tuple(float(f"{digit}e{power}") for power in range(-12, 0) for digit in (1, 2, 5))
#: How a step is known, by the numbers of :mod:`polhode.fits.largest_step`.
HOW = ("not run", "between", "coarsest", "extrapolated", "unreached")
#: The methods that are drawn first where none is better than another: those of the first page, and what many codes run.
FAMILIAR = ("spiral_leapfrog", "exact_rotor", "no_squish", "rk4", "omelyan1998", "fincham1992", "verlet", "euler")
#: Quantities shown for a long run: their names and units.
LONG = {
    "energy_drift": ("change of the energy", ", relative"),
    "momentum_drift": ("change of the angular momentum", ", relative"),
    "angle_error": ("error of the orientation", " (rad)"),
    "norm_error": ("departure of |q| from 1", ""),
}
NORMALISED = {"long": "as each method declares", "switched": "switched: off for methods that have it, on for others"}
#: Variables of a scene, over method, step size and initial state, and their names.
OF_SCENE = {
    "energy_error": "energy error as published (%)",
    "energy_error_mean": "mean |change of energy| (relative)",
    "energy_error_largest": "largest |change of energy| (relative)",
    "energy_drift": "change of energy at the end (relative)",
}
BESIDE = {"alone": "as it is", "paired": "over SPIRAL's from the same initial state"}
#: Plotly's names for the markers of matplotlib. Half discs do not exist there; triangles pointing back and ahead replace them.
SYMBOLS: dict[Any, str] = {
    "o": "circle",
    "s": "square",
    "D": "diamond",
    "^": "triangle-up",
    "v": "triangle-down",
    "<": "triangle-left",
    ">": "triangle-right",
    "h": "hexagon",
    "p": "pentagon",
    "X": "x",
    "*": "star",
    "P": "cross",
    "d": "diamond-tall",
    "x": "x-thin",
    "+": "cross-thin",
    "H": "hexagon2",
    "8": "octagon",
    (4, 1, 0): "star-diamond",
    (3, 1, 0): "star-triangle-up",
    (6, 1, 0): "hexagram",
    "$\\oplus$": "circle-cross",
    "$\\otimes$": "circle-x",
}
HALF_DISCS = ((style.BACK, "triangle-sw"), (style.AHEAD, "triangle-ne"))
#: Errors of contacts for which the page has steps.
CONTACT_ERRORS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
#: What the page says of a row of the atlas, in words.
OF_ENGINE = ("engine", "label", "version", "precision", "option", "is_default", "chosen_by", "method_label", "is_identified",
             "switched_off", "end")  # fmt: skip
#: Columns of claims.csv used in calculations; all others are shown as written.
NUMBERS = ("tolerance", "measured", "low", "high")
#: The kinds of claims, and those that are counted apart: statements that the article counts, those about time, which no other
#: machine repeats, and our own questions.
KINDS = {
    "number": "a number",
    "statement": "a statement",
    "construction": "holds by construction",
    "extension": "a question of ours",
    "timed": "about time",
}
GROUPS = {
    "stated": "statements of the publications",
    "timed": "about time, on other machines",
    "ours": "of our own, or true by construction",
}
#: A space at which no line is broken, between thousands.
THIN = "\u202f"
#: Dash lengths of matplotlib, in units of the line width, in pixels of the page.
DASH = 1.6


def content(inputs: Inputs) -> dict[str, Any]:
    """All data shown on the page, from the files of a run."""
    single, cost = ({name.strip("/"): data for name, data in inputs.groups(kind).items()} for kind in ("single_body", "cost"))
    scenes = _scenes(inputs)
    random = _random_bodies(inputs)
    keys = [name for name in single if name and "/" not in name]
    groups = [*(single[key] for key in keys), *(data for _, _, data in scenes), *(ens.data for _, ens in random)]
    labels = labels_of(*groups)
    looks = _looks(labels, groups)
    methods = {key: _method(inputs, key, labels[key], looks[key]) for _, of_group in inputs.grouped(labels) for key in of_group}
    problems = {key: _problem(inputs.of(key), single, cost) for key in keys}
    original = [key for key, entry in methods.items() if not entry["published"]]
    one_torque = [key for key in original if inputs.declared(key, "torques_per_step", 1) == 1]
    claims = _claims(inputs, problems, methods)
    signs = {key: rows.swatch(looks[key], entry["colours"], entry["dash"]) for key, entry in methods.items()}
    machine = f"Steps timed on {_machine(cost)}." if cost else "No times were measured in this run."
    return {
        "plots": load_yaml(Path(__file__).with_name("plots.yaml")),
        "about": f"Made by polhode {polhode.__version__} from the files of one run: {len(methods)} methods on {len(problems)} "
        f"problems, {_stated(claims)} statements of the publications judged. {machine}",
        "methods": methods,
        "familiar": list(dict.fromkeys([*(key for key in FAMILIAR if key in methods), *original, *methods])),
        "sets": {"auto": "auto", "original": original, "one": one_torque, "all": list(methods), "none": []},
        "chooser": rows.chooser(inputs.grouped(labels), methods, signs),
        "problems": problems,
        "options": {name: rows.options(problems, inputs.torque_classes, name) for name in ("work", "orders", "long")},
        "maps": {quantity: rows.order_map(problems, methods, quantity) for quantity in ("q", "omega")},
        "quantities": {"q": "the orientation", "omega": "the angular velocity"},
        "errors": ERRORS,
        "how": HOW,
        "price": USUAL,
        "fields": fields(inputs),
        "answers": {name: _in_words(inputs, *answer) for name, answer in _answers(inputs).items()},
        "contacts": [{"error": row["error"], "answer": _contact(inputs, row)} for row in _contacts(inputs)],
        "scenes": [_scene(name, whose, data) for name, whose, data in scenes],
        "random": [_laws(whose, ens) for whose, ens in random],
        "satellites": satellites(inputs, methods),
        "engines": _engines(inputs),
        "claims": claims,
        "choices": _choices(claims),
        "counted": GROUPS,
        "long": LONG,
        "normalised": NORMALISED,
        "measures": OF_SCENE,
        "beside": BESIDE,
        "instead": ranking.INSTEAD,
    }


# ---- methods ----


def _looks(labels: Mapping[str, str], groups: Iterable[xr.Dataset]) -> dict[str, dict[str, Any]]:
    """The line style of each method in matplotlib."""
    variants: dict[str, str] = {}
    for data in groups:
        variants |= dict(zip(map(str, data["integrator"].values), map(str, data["variant_of"].values), strict=True))
    return style.styles(labels, variants)


def _method(inputs: Inputs, key: str, label: str, of: Mapping[str, Any]) -> dict[str, Any]:
    caution = str(inputs.declared(key, "caution"))
    entry = {"label": label, "published": key.endswith(ranking.AS_PUBLISHED), **look(of)}
    return entry | ({"caution": f"{caution[0].upper()}{caution[1:]}, {ranking.NOT_FOR}"} if caution else {})


def look(of: Mapping[str, Any]) -> dict[str, Any]:
    """Colours, symbol and dashes of a method for Plotly, from its line style in matplotlib."""
    marker = of["marker"]
    symbol = next((name for half, name in HALF_DISCS if marker is half), None) or SYMBOLS[marker]
    dashes = of["linestyle"]
    hollow = of["markerfacecolor"] == "white"
    return {
        "colours": [of["color"], on_dark(of["color"])],
        "symbol": symbol + ("-open" if hollow else ""),
        "dash": "solid" if dashes == "-" else ",".join(f"{DASH * length:g}px" for length in dashes[1]),
    }


def on_dark(colour: str) -> str:
    """The colour mixed with white until it is distinguished from a dark ground; black becomes nearly white."""
    rgb = np.array(to_rgb(colour))
    light = float(rgb @ (0.3, 0.6, 0.1))
    white = 0.95 if light < 0.1 and np.ptp(rgb) == 0 else max(0.0, (0.5 - light) / (1 - light))
    return str(to_hex(tuple((rgb + white * (1 - rgb)).tolist())))


def _machine(cost: Mapping[str, xr.Dataset]) -> str:
    """The machine and date of the timing."""
    attributes = cost[""].attrs
    return f"{attributes.get('cpu', 'an unknown processor')}, {str(attributes.get('date', 'no date'))[:10]}"


# ---- single bodies ----


def _problem(inputs: Inputs, single: Mapping[str, xr.Dataset], cost: Mapping[str, xr.Dataset]) -> dict[str, Any]:
    data, label = single[inputs.problem], str(single[inputs.problem].attrs.get("label", inputs.problem))
    kind = str(data.attrs["torque_class"])
    title = f"{label} (torque: {inputs.torque_classes.get(kind, kind)})"
    timed = cost.get(inputs.problem)
    machine = f" on {_machine(cost)}" if cost else ""
    entry: dict[str, Any] = {
        "label": label,
        "short": selection.short_name(inputs, inputs.problem),
        "class": kind,
        "methods": list(map(str, data["integrator"].values)),
        "work": _work(timed if timed is not None else problem_cost(data, _no_times(), [], []), title, machine),
        "orders": _orders(data, label),
    }
    if (long := single.get(f"{inputs.problem}/long_run")) is not None:
        entry["long"] = _long(long, title)
        if (top := _top(inputs, long)) is not None:
            entry["top"] = top
    if f"{inputs.problem}/long_run_switched" in single:
        entry["switched"] = _long(inputs.long_run_switched, title)
    return entry


def _no_times() -> xr.Dataset:
    """An empty group ``step`` for runs in which no method was timed."""
    over = ("integrator", "frame", "normalised")
    return xr.Dataset(
        {"fastest": (over, np.zeros((0, 2, 2))), "declared": ("integrator", np.zeros(0, "int8"))},
        {"integrator": np.zeros(0, "U1"), "frame": ["body", "lab"], "normalised": np.array([0, 1], "int8")},
    )


def _work(cost: xr.Dataset, title: str, machine: str) -> dict[str, Any]:
    """Errors over the step size, and the steps for each of :data:`ERRORS`, with what a ranking at any price needs.

    ``cost`` is a problem's group of cost.nc, or its equivalent without times; methods are then ranked by torque evaluations.
    """
    keys, horizon, unit = (
        list(map(str, cost["integrator"].values)),
        float(cost.attrs["horizon"]),
        float(cost.attrs["price_unit"]),
    )
    ladders = [ranking.ladder(cost, key) for key in keys]
    dt, how = (np.array(values).T for values in zip(*(largest_of_each(ladders, error) for error in ERRORS), strict=True))
    timed = isfinite(unit)
    return {
        "methods": keys,
        "horizon": horizon,
        "about": f"{title}. Error: {METRIC}."
        + (f" Timed: {cost.attrs['timed']},{machine}." if timed else " No times were measured."),
        "unit": unit if timed else None,
        "ladder": numbers([whole_steps(float(dt), horizon) for dt in cost["ladder_dt"].values]),
        "error": numbers(cost["ladder_error"].transpose("integrator", "ladder_dt")),
        "step_time": numbers(cost["step_time"]),
        "torques": numbers(cost["torques_per_step"]),
        "starting": numbers(cost["starting_torques"]),
        "steps": numbers(np.vectorize(whole_steps, otypes=[float])(dt, horizon), "f4", 24),
        "how": numbers(how, "f4"),
    }


def _orders(data: xr.Dataset, label: str) -> dict[str, Any]:
    """Declared and measured orders by method, and the errors from which they were fitted."""
    orders: dict[str, Any] = {"dt": numbers(data["dt"])}
    for short, name in (("q", "orientation"), ("omega", "angular velocity")):
        names = [f"{short}_order{end}" for end in ("", "_low", "_high", "_dt_min", "_dt_max")]
        columns = [data[variable].values.tolist() for variable in (*names, f"claimed_{short}_order")]
        fits = {}
        for key, order, low, high, first, last, declared in zip(map(str, data["integrator"].values), *columns, strict=True):
            measured = f"{order:.3f} [{low:.2f}, {high:.2f}], fitted over dt = {number(first)} to {number(last)} s"
            fits[key] = {
                **{name: _number(value) for name, value in (("value", order), ("low", low), ("high", high))},
                **{name: _number(value) for name, value in (("from", first), ("to", last), ("declared", declared))},
                "words": f"{order:.2f}",
                "more": f"{label}, {name}: {measured if isfinite(order) else 'no order is fitted'}; declared {declared:g}",
            }
        orders[short] = {"fits": fits, "error": numbers(data[f"{short}_error_l1"].transpose("integrator", "dt"), "f4")}
    return orders


def _thin(data: xr.Dataset) -> xr.Dataset:
    """The dataset with at most :data:`SAMPLES` of its times, including the first and the last."""
    count = data.sizes["time"]
    return data.isel(time=np.unique(np.linspace(0, count - 1, min(count, SAMPLES)).round().astype(int)))


def _long(data: xr.Dataset, title: str) -> dict[str, Any]:
    """Errors of a long run over time; quantities missing in the run are omitted."""
    data, dt = _thin(data), float(data.attrs["dt"])
    end = float(data["time"].values[-1])
    run: dict[str, Any] = {
        "about": f"{title}: {end:g} s with dt = {number(dt)} s, {f'{end / dt:,.0f}'.replace(',', THIN)} steps.",
        "dt": dt,
        "methods": list(map(str, data["integrator"].values)),
        "time": numbers(data["time"]),
        "values": {},
    }
    for name in LONG:
        if name in data and np.isfinite(values := data[name].transpose("integrator", "time").values).any():
            run["values"][name] = numbers(np.abs(values), "f4")
    return run


def _top(inputs: Inputs, data: xr.Dataset) -> dict[str, Any] | None:
    """The angular velocity along the long run of a torque-free top: its position, and the polhode on which it lies."""
    declared = inputs.problem_declarations
    if "setup" not in declared or declared["torque_class"] != "free" or len((setup := inputs.setup)["moments"]) > 1:
        return None
    inertia = np.asarray(setup["moments"][0], float)
    exact = _reference(inputs)
    data = _thin(data)
    omega = data["omega"].transpose("integrator", "time", "axis").values.astype(float)
    start = exact[0] if exact is not None else np.asarray(setup["omega0"][0], float)
    with np.errstate(over="ignore", invalid="ignore"):
        energy, momentum = polhode_of(inertia, omega)
    energy_then, momentum_then = polhode_of(inertia, start)
    top = {
        "inertia": inertia.tolist(),
        "start": start.tolist(),
        "omega": numbers(omega, "f4"),
        # From the angular velocity in double precision: single precision would round away what is shown.
        "energy": numbers(energy / energy_then - 1, "f4"),
        "momentum": numbers(momentum / momentum_then - 1, "f4"),
        "family": _family(inertia),
        "magnify": numbers(_visible(inertia, start, energy / energy_then - 1, momentum / momentum_then - 1), "f4"),
    }
    if "exact_omega" in data:
        top["exact"] = numbers(data["exact_omega"].transpose("time", "axis"), "f4")
    return top


def _visible(inertia: Floats, start: Floats, energy: Floats, momentum: Floats) -> list[float]:
    """The power of ten by which the drifts of each method may be magnified and still be possible at all times."""
    kinetic, size = polhode_of(inertia, start)
    powers = []
    for drift, turn in zip(energy, momentum, strict=True):
        powers.append(0.0)
        for power in np.arange(12, 0, -0.5):
            factor = float(f"{10**power:.0e}")
            scale, square = 1 + factor * drift, (size * (1 + factor * turn)) ** 2 / (2 * kinetic)
            possible = (
                (scale > 0.3) & (scale < 2) & (square > 1.01 * inertia.min() * scale) & (square < 0.99 * inertia.max() * scale)
            )
            if possible[np.isfinite(drift) & np.isfinite(turn)].all():
                powers[-1] = float(power)
                break
    return powers


def _family(inertia: Floats) -> list[float]:
    """L^2 / 2T of some polhodes, evenly in the distance from the axes about which they run, and of the separatrix."""
    low, middle, high = np.sort(inertia)
    lines = [end + (k / 6) ** 2 * (middle - end) for end in {low, high} - {middle} for k in range(1, 6)]
    return sorted(map(float, lines + ([middle * (1 + 1e-9), middle * (1 - 1e-9)] if low < middle < high else [])))


def polhode_of(inertia: Floats, omega: Floats) -> tuple[Floats, Floats]:
    """Kinetic energy (J) and magnitude of the angular momentum (J s), which identify the polhode through ``omega`` (..., 3)."""
    return (inertia * omega**2).sum(-1) / 2, np.sqrt(((inertia * omega) ** 2).sum(-1))


def _reference(inputs: Inputs) -> Floats | None:
    try:
        return np.asarray(inputs.reference_states["omega"].values, float)
    except NotInRun:
        return None


# ---- many bodies ----


def _scenes(inputs: Inputs) -> list[tuple[str, str, xr.Dataset]]:
    """Every scene of the published-scale results shipped in data/released, on which the report rests, and of this run."""
    released = [(name, "published scale", inputs.released_many_body(name)) for name in inputs.released_scenes]
    return released + [(name, "this run", inputs.many_body(name)) for name in inputs.scenes]


def _scene(key: str, whose: str, data: xr.Dataset) -> dict[str, Any]:
    over, methods, dt = ("integrator", "dt", "seed"), list(map(str, data["integrator"].values)), data["dt"].values
    count, text = (
        data.sizes["seed"],
        {name: data.attrs.get(name, "") for name in ("label", "clumps", "horizon", "spin", "contact_time")},
    )
    states = f"{count} initial state{'s' * (count > 1)}"
    origin = (
        "this run"
        if whose == "this run"
        else "the published-scale results shipped with polhode, on which the report's verdicts rest"
    )
    lost = (data["diverged"].transpose(*over).values == 1).sum(-1)
    gone = {
        method: ", ".join(
            f"{n} of {count}" + (f" at {number(float(h))} s" if len(dt) > 1 else "") for n, h in zip(row, dt, strict=True) if n
        )
        for method, row in zip(methods, lost, strict=True)
        if row.any()
    }
    scene: dict[str, Any] = {
        "name": f"{whose}: {key}",
        "title": f"{key.replace('_', ' ')} ({whose}, {states})",
        "about": f"{text['label']}: {text['clumps']} clumps, {number(float(text['horizon']))} s, spin at the start "
        f"{float(text['spin']):.3g} rad/s, contacts of {number(float(text['contact_time']))} s. {states}, from {origin}.",
        "methods": methods,
        "dt": numbers(dt),
        "seeds": count,
        "lost": gone,
        "values": {name: _beside(data[name].transpose(*over).values, methods) for name in OF_SCENE if name in data},
    }
    if "energy_change" in data:
        along = _thin(data["energy_change"].isel(seed=slice(SHOWN_SEEDS)).to_dataset())
        scene["along"] = {
            "time": numbers(along["time"]),
            "energy_change": numbers(along["energy_change"].transpose("integrator", "seed", "time"), "f4"),
        }
    return scene


def _beside(values: Floats, methods: list[str]) -> dict[str, Any]:
    """Absolute values over (method, step, state), their means, and the medians of ratios to SPIRAL from the same state."""
    states = np.abs(values)
    with np.errstate(all="ignore"):
        sizes = {"alone": states}
        if law_frames.SPIRAL in methods:
            sizes["paired"] = states / states[methods.index(law_frames.SPIRAL)]
    middle = {}
    for name, size in sizes.items():
        usual = pd.DataFrame(np.where(np.isfinite(size) & (size > 0), size, np.nan).reshape(-1, size.shape[-1])).T
        middle[name] = numbers((usual.median() if name == "paired" else usual.mean()).to_numpy().reshape(size.shape[:-1]), "f4")
    return {"states": numbers(states, "f4"), "middle": middle}


def _contacts(inputs: Inputs) -> list[dict[str, Any]]:
    """For each of some errors the steps in a contact, those to take and those of half: elastic, and with friction and damping.

    ``elastic`` has the method first; ``rubbing`` has the steps to take with the contact update of codes last. None where it is
    not reached, or far below the finest step.
    """
    entries: list[dict[str, Any]] = []
    for error in CONTACT_ERRORS:
        row: dict[str, Any] = {"error": error, "elastic": None, "rubbing": None}
        if best := law_frames.recommended_in_contacts(law_frames.collisions(inputs, error)):
            row["elastic"] = [best.method, best.steps[2], best.steps[0]]
        with suppress(NotInRun):
            codes, better, _ = impacts.steps(inputs, error)
            if better.take <= FARTHEST * float(impacts.random(inputs)["division"].max()):
                row["rubbing"] = [better.take, better.half, codes.take if isfinite(codes.take) else None]
        entries.append(row)
    return [row for row in entries if row["elastic"] or row["rubbing"]]


def _contact(inputs: Inputs, row: Mapping[str, Any]) -> str:
    """A row of :func:`_contacts` as sentences."""
    sentences = []
    if row["elastic"]:
        method, steps, half = row["elastic"]
        sentences.append(
            f"<strong>Elastic</strong>, mean relative error of the energy: {escape(inputs.label(method))} with "
            f"<strong>T/{steps:.0f}</strong> is sufficient for 90 % of the states (median: T/{half:.0f})."
        )
    if row["rubbing"]:
        steps, half, codes = row["rubbing"]
        usual = f"T/{codes:.0f} with that of codes" if codes else "not reached with that of codes"
        sentences.append(
            "<strong>With friction and damping</strong>, spin and velocity after an impact, relative to their change: "
            f"<strong>T/{steps:.0f}</strong> with the better contact update is sufficient for 95 % of impacts "
            f"(median: T/{half:.0f}), {usual}; with nearly any method."
        )
    command = f"<code>polhode recommend --contact-time 1e-4 --error {row['error']:g}</code>"
    more = f"T: the time of a head-on contact. From a terminal: {command}, with friction and <code>--for impacts</code>."
    return f'{" ".join(sentences)}<span class="more">{more}</span>'


# ---- random bodies ----


def _answers(inputs: Inputs) -> dict[str, list[Any]]:
    """Class of torque of a problem -> method, steps per radian for half of the bodies and 90 % of them, as in the article."""
    try:
        answers = all_advice(inputs, law_frames.ensemble(inputs))
    except NotInRun:
        return {}
    kinds = {"free": law_frames.FREE, "velocity": law_frames.FRICTION}
    best = {name: answers.get(kinds.get(name, law_frames.SMOOTH).key) for name in inputs.torque_classes}
    return {
        name: [row.single.method, row.single.steps[0], row.single.steps[2]]
        for name, row in best.items()
        if row and row.single.method
    }


def _in_words(inputs: Inputs, method: str, half: float, most: float) -> str:
    """An answer of :func:`_answers` as a sentence."""
    if method == ranking.WITHOUT_TORQUE:
        return f"Without a torque {escape(inputs.label(method))} is exact with any step."
    steps = f"{number(most)} steps a radian for 90 % of the bodies, median {number(half)}"
    return (
        f"On random bodies under such torques {escape(inputs.label(method))} needs the fewest torques ({steps}, for an error "
        f"of {law_frames.TARGET:g} per radian; page 2 of report.pdf, and Random bodies here)."
    )


def _random_bodies(inputs: Inputs) -> list[tuple[str, law_frames.EnsembleLaws]]:
    """The laws of random bodies shipped in data/released, and those of this run."""
    released = inputs.groups("ensembles", released=True)
    bodies = [("published scale", law_frames.EnsembleLaws(data)) for data in released.values()]
    with suppress(NotInRun):
        bodies.append(("this run", law_frames.of_run(inputs)))
    return bodies


def _laws(whose: str, ens: law_frames.EnsembleLaws) -> dict[str, Any]:
    """Steps per radian by class, method and error: sufficient for 10, 50 and 90 % of the bodies; infinite if not reached."""
    steps = laws.spread(ens.steps["steps"].transpose("torque_class", "integrator", "target", "body").values)
    levels, targets = np.stack([steps.low, steps.median, steps.high], axis=-1), ens.steps["target"].values.tolist()
    origin = "from this run" if whose == "this run" else "the results shipped with polhode"
    return {
        "whose": whose,
        "name": f"{ens.bodies}, {whose}",
        "about": f"{ens.bodies} bodies with all possible ratios of the moments, torques of random strength; {origin}. "
        "The error is the larger of those of orientation (rad) and angular velocity (of the initial one), "
        f"over {ens.radians:g} rad.",
        "classes": [[key, ens.class_label(key)] for key in ens.classes],
        "methods": ens.methods,
        "torques": numbers(ens.torques_per_step),
        "targets": targets,
        "steps": numbers(levels, "f4"),
        "answers": [
            [
                [_for_bodies(ens, key, target, levels[i, :, k], single) for single in (False, True)]
                for k, target in enumerate(targets)
            ]
            for i, key in enumerate(ens.classes)
        ],
    }


def _for_bodies(ens: law_frames.EnsembleLaws, torque: str, target: float, levels: Floats, single: bool) -> str:
    """The method with the fewest torques on 90 % of the bodies, or the exact rotor without one, and the next, in sentences."""
    free = torque == law_frames.FREE.key
    work = levels[:, 2] * (1.0 if free else ens.torques_per_step)
    allowed = ens.recommendable & np.isfinite(work) & ((ens.torques_per_step == 1) | (not single))
    order = [i for i in np.argsort(work, kind="stable") if allowed[i]]
    if free and ranking.WITHOUT_TORQUE in ens.methods:
        order.sort(key=lambda i: ens.methods[i] != ranking.WITHOUT_TORQUE)
    if not order:
        return f"No method keeps 90 % of the bodies below {number(target)} per radian."
    best, following = order[0], order[1:4]
    names, unit = {i: escape(ens.label(ens.methods[i])) for i in (best, *following)}, "steps" if free else "torques"
    _, half, most = levels[best]
    amount = f"<strong>{number(most)} steps a radian</strong>, dt = 1/({number(most)} ω)"
    amount = "<strong>one step a radian</strong>, dt = 1/ω, or larger steps than were run" if most <= 1 else amount
    ratios = ", ".join(f"{names[i]} ({number(work[i] / work[best])} times the {unit})" for i in following)
    cautions = ens.declared("caution", "")
    warned = ranking.drift(ens.methods[best], {names[i]: str(cautions[i]) for i in (best, *following)})
    command = f"polhode recommend --torque-class {torque} --omega 1 --error {target:g}{'' if single else ' --several-torques'}"
    return (
        f"Take <strong>{names[best]}</strong> with {amount}: sufficient for 90 % of the bodies to stay below an error of "
        f"{number(target)} per radian{'' if most <= 1 else f' (median: {number(half)} steps)'}. "
        f"{f'Next: {ratios}.' if ratios else ''} "
        f"{' '.join(warned) if len(warned) > 1 else ''}"
        f'<span class="more">Torque: {escape(ens.class_label(torque))}. By {unit}; by time, from a terminal: '
        f"<code>{command}</code></span>"
    )


# ---- engines ----


def _engines(inputs: Inputs) -> dict[str, Any] | None:
    """The atlas of engines; None if there is none."""
    try:
        data = inputs.atlas
    except NotInRun:
        return None
    free = data.sel(load="free").sortby("step")
    chosen = np.unique(np.linspace(0, data.sizes["sample"] - 1, SAMPLES).round().astype(int))
    texts = {name: list(map(str, data[name].values)) for name in OF_ENGINE}
    keys, order, loads = (
        list(map(str, data["key"].values)),
        data["q_order"].transpose("engine", "load").values,
        map(str, data["load"].values),
    )
    names, declared, radius = list(loads), known_engines(), free["q_error"].transpose("engine", "step").values
    entries = []
    for i, key in enumerate(keys):
        of = {name: values[i] for name, values in texts.items()}
        star = " ★" if of["is_default"] == "1" else ""
        kind, free_order = str(data["gyroscopic"].values[i]), float(order[i][names.index("free")])
        of["advice"] = advice_of(key, of["option"], free_order, of["end"], kind)
        of["method_label"] = unicode_of(of["method_label"])
        of["name"] = f"{of['label']} {of['version']}" + (" (single precision)" if of["precision"] == "float32" else "")
        of |= {"option": of["option"] + star, "address": quote(of["engine"])}
        text = {name: escape(words) for name, words in of.items()}
        end = of["end"] if of["end"] in ("diverges", "stops", "tumbles") else f"ends about the axis of the {of['end']}"
        energy = float(data["energy_drift"].values[i])
        releases = (
            declared[key].releases if key in declared and declared[key].releases else f"Measured with release {of['version']}."
        )
        entries.append(
            {
                "engine": of["engine"],
                "label": of["label"],
                "option": f"{of['label']}: {of['option']}",
                "answer": f"<strong>{text['name']}, {text['option']}</strong>: {text['method_label']}. {text['advice']}"
                f'<span class="more">Chosen by: {text["chosen_by"]}. Switched off here: {text["switched_off"] or "nothing"}. '
                f"{escape(releases)}{_with_wheel(inputs, key, texts['option'][i])}</span>",
                "spin": f"It {end}; the energy changes by {number(energy) if isfinite(energy) else 'more than numbers hold'}. "
                f"{int(data['long_steps'].values[i]):,} steps of {float(data.attrs['long_step']):g} rad, from near the y axis.",
                "row": rows.engine(text, dict(zip(names, map(float, order[i]), strict=True)), float(radius[i][-1])),
            }
        )
    return {
        "about": f"{len(keys)} options of {len(set(texts['label']))} engines, run on the same free and driven bodies on "
        f"{data.attrs['date']}; the integrator of {texts['is_identified'].count('1')} is identified to the last digits. "
        "★: what a user gets who chooses nothing.",
        "inertia": (inertia := np.asarray(data.attrs["inertia"], float)).tolist(),
        "family": _family(inertia),
        "rows": entries,
        "step": numbers(free["step"]),
        "q_error": numbers(radius, "f4"),
        "method_error": numbers(free["method_q_error"].transpose("engine", "step"), "f4"),
        "path": numbers(data["path"].isel(sample=chosen).transpose("engine", "sample", "axis"), "f4"),
    }


def _with_wheel(inputs: Inputs, key: str, option: str) -> str:
    """What was measured of an option of an engine with a reaction wheel, in a sentence; empty if nothing was."""
    if (key, option) != (wheels.ENGINE, wheels.OPTION):
        return ""
    with suppress(NotInRun):
        measured = wheels.read(inputs.released_path(wheels.RELEASED.name))
        orders, date = escape(wheels.orders_in_words(measured)), measured[0]["date"]
        return f" With a reaction wheel the order depends on the torque of its motor: {orders}; measured on {date}."
    return ""


def unicode_of(label: str) -> str:
    """A name with LaTeX in it, as characters."""
    for written, character in ((r"\omega", "ω"), (r" \times ", " × "), ("$", "")):
        label = label.replace(written, character)
    return re.sub(r"\^\{(-?\d+)\}", lambda power: power[1].translate(rows.SUPERSCRIPT), label)


# ---- claims ----


def _claims(inputs: Inputs, problems: Collection[str], methods: Collection[str]) -> list[dict[str, Any]]:
    """Every judged claim as a row of the table, with the evidence for it, and what it is filtered and counted by."""
    entries = {entry["id"]: entry for path in Path(chapters.__file__).parent.glob("*/claims.yaml") for entry in load_yaml(path)}
    claims, known = [], set(inputs.known)
    for timed, table in _judged(inputs):
        for row in table.to_dict("records"):
            of = {str(name): _number(value) if name in NUMBERS else str(value) for name, value in row.items()}
            entry = entries.get(str(of["id"]), {})
            problem, named = str(entry.get("problem", DEFAULT_PROBLEM)), _named(entry.get("arguments", {}), known)
            see, links = evidence(str(entry.get("measure", "")), problem), ""
            if see:
                place, drawn = see.place(problem), [key for key in named if key in methods]
                query = {"problem": problem if see.about_problem and problem in problems else ""}
                if see.section == "bodies":
                    query["scene"] = f"published scale: {place.partition(':')[2]}"
                if see.section == "polhode" and query["problem"]:
                    query |= {"top": problem, "follow": drawn[0] if drawn else ""}
                query["methods"] = ",".join(drawn)
                address = "&".join(f"{name}={quote(value, safe=',')}" for name, value in query.items() if value)
                links = rows.evidence_links(of, see.figures, see.tables, see.section, place, address)
            claims.append(
                {
                    "source": [of["source"]],
                    "verdict": [of["verdict"]],
                    "kind": [of["kind"], *(["timed"] if timed else [])],
                    "group": "timed" if timed else "stated" if of["kind"] in COUNTED else "ours",
                    "sign": rows.SIGNS.get(str(of["verdict"]), "open"),
                    "row": rows.claim(of, links),
                }
            )
    return claims


def _stated(claims: list[dict[str, Any]]) -> int:
    """How many claims the article counts: statements of the publications, without those about time."""
    return sum(claim["group"] == "stated" for claim in claims)


def _choices(claims: list[dict[str, Any]]) -> dict[str, list[tuple[str, str]]]:
    """By what the claims are filtered: each value with its name and how many there are."""
    names = {"source": SOURCE_NAMES, "verdict": {}, "kind": KINDS}
    every = {name: [value for claim in claims for value in claim[name]] for name in names}
    return {
        name: [(value, f"{names[name].get(value, value)} ({values.count(value)})") for value in dict.fromkeys(values)]
        for name, values in every.items()
    }


def _judged(inputs: Inputs) -> Iterator[tuple[bool, pd.DataFrame]]:
    """The tables of claims, each with a flag that tells whether it concerns time."""
    yield False, inputs.claim_rows
    with suppress(NotInRun):
        yield True, inputs.cost_claim_rows


def _named(arguments: Mapping[str, Any], known: Collection[str]) -> list[str]:
    """The methods among the arguments of a measure."""
    items = chain.from_iterable(value if isinstance(value, list) else [value] for value in arguments.values())
    return list(dict.fromkeys(item for item in items if isinstance(item, str) and item in known))


def _number(value: Any) -> float | str | None:
    """An entry of claims.csv as a number; as text if it is not a number; None if it is missing or not finite."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value) or None
    return number if isfinite(number) else None
