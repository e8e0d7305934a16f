"""The data shown on the page, taken from the files of a run as plain numbers; nothing that is in a file is computed again.

Numbers used in the page's own calculations are passed in double precision, so that they agree with the tables; long
series that are only drawn are thinned and passed in as many digits as can be seen.
"""

import base64
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike, NDArray

import polhode
from polhode.advice.from_contacts import FARTHEST
from polhode.advice.prices import USUAL
from polhode.engines.advice import advice_of
from polhode.engines.protocol import known_engines
from polhode.fits import laws, ranking
from polhode.fits.ladders import METRIC
from polhode.fits.largest_step import FLOOR_FACTOR
from polhode.interface.reading import load_yaml
from polhode.study import chapters
from polhode.study.chapters.impacts import frames as impacts
from polhode.study.chapters.laws import frames as law_frames
from polhode.study.chapters.laws.advice import all_advice
from polhode.study.explorer.evidence import DEFAULT_PROBLEM, SOURCE_NAMES, evidence
from polhode.study.gather.cost import problem_cost
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.judge.verdicts import COUNTED
from polhode.study.report import selection, style
from polhode.study.report.formats import labels_of

Floats = NDArray[np.float64]

#: Bits kept of the mantissa of what is only drawn: a relative error below 2.5e-4. The page shows three digits of it.
DRAWN = 12
#: Number of samples kept of a time series.
SAMPLES = 201
#: Number of initial states whose energy is drawn along the run.
SHOWN_SEEDS = 5
#: Quantities shown for a long run, and their names.
LONG = {
    "energy_drift": "change of the energy",
    "momentum_drift": "change of the angular momentum",
    "angle_error": "error of the orientation",
    "norm_error": "departure of |q| from 1",
}
#: Variables of a scene, over method, step size and initial state.
OF_SCENE = ("energy_error", "energy_error_mean", "energy_error_largest", "energy_drift")
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
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
#: Columns of claims.csv used in calculations; all others are shown as written.
NUMBERS = ("tolerance", "measured", "low", "high")
#: Dash lengths of matplotlib, in units of the line width, in pixels of the page.
DASH = 1.6


def numbers(values: ArrayLike, kind: str = "f8") -> dict[str, Any]:
    """An array for the page: its shape and its bytes, little-endian, in base 64; ``kind`` is ``f8``, or ``f4`` if only drawn.

    JSON has neither infinity nor NaN, and decimal digits would take twice the space. What is only drawn is rounded to
    :data:`DRAWN` bits: the zeros after them are compressed best.
    """
    array = np.asarray(values, float)
    if kind == "f4":
        mantissa, exponent = np.frexp(array)
        array = np.ldexp(np.round(np.ldexp(mantissa, DRAWN)), exponent - DRAWN)
    with np.errstate(over="ignore"):  # values beyond single precision become infinite and are not drawn
        content = np.ascontiguousarray(array, f"<{kind}").tobytes()
    return {"shape": list(array.shape), kind: base64.b64encode(content).decode()}


def content(inputs: Inputs) -> dict[str, Any]:
    """All data shown on the page, from the files of a run."""
    single, cost = (_groups(inputs, kind) for kind in ("single_body", "cost"))
    keys = [name for name in single if name and "/" not in name]
    scenes = _scenes(inputs)
    random = _random_bodies(inputs)
    groups = [*(single[key] for key in keys), *(data for _, _, data in scenes), *(ens.data for _, ens in random)]
    labels = labels_of(*groups)
    return {
        "version": polhode.__version__,
        "machine": _machine(cost),
        "metric": METRIC,
        "floor": FLOOR_FACTOR,
        "classes": inputs.torque_classes,
        "methods": _methods(labels, groups),
        "groups": [{"name": name, "methods": keys} for name, keys in inputs.grouped(labels)],
        "problems": {key: _problem(inputs.of(key), single, cost.get(key)) for key in keys},
        "price": USUAL,
        "answers": _answers(inputs),
        "contacts": _contacts(inputs),
        "scenes": [{"key": name, "whose": whose, **_scene(data)} for name, whose, data in scenes],
        "random": [{"whose": whose, **_laws(ens)} for whose, ens in random],
        "engines": _engines(inputs),
        "claims": _claims(inputs),
        "sources": SOURCE_NAMES,
        "long": LONG,
        "cautions": {key: caution for key in labels if (caution := str(inputs.declared(key, "caution")))},
        "not_for": ranking.NOT_FOR,
        "instead": ranking.INSTEAD,
    }


# ---- methods ----


def _methods(labels: Mapping[str, str], groups: Iterable[xr.Dataset]) -> dict[str, Any]:
    variants: dict[str, str] = {}
    for data in groups:
        variants |= dict(zip(map(str, data["integrator"].values), map(str, data["variant_of"].values), strict=True))
    looks = style.styles(labels, variants)
    return {key: {"label": labels[key], "published": key.endswith(ranking.AS_PUBLISHED), **look(looks[key])} for key in labels}


def look(of: Mapping[str, Any]) -> dict[str, Any]:
    """Colour, symbol and dashes of a method for Plotly, from its line style in matplotlib."""
    marker = of["marker"]
    symbol = next((name for half, name in HALF_DISCS if marker is half), None) or SYMBOLS[marker]
    dashes = of["linestyle"]
    hollow = of["markerfacecolor"] == "white"
    return {
        "colour": of["color"],
        "symbol": symbol + ("-open" if hollow else ""),
        "dash": "solid" if dashes == "-" else ",".join(f"{DASH * length:g}px" for length in dashes[1]),
    }


def _groups(inputs: Inputs, kind: str) -> dict[str, xr.Dataset]:
    """The groups of a file by path, the root under the empty string; an empty mapping if the run has no such file."""
    return {name.strip("/"): data for name, data in inputs.groups(kind).items()}


def _machine(cost: Mapping[str, xr.Dataset]) -> dict[str, str] | None:
    """The machine and date of the timing; None if nothing was timed."""
    if not cost:
        return None
    attributes = cost[""].attrs
    return {"cpu": str(attributes.get("cpu", "an unknown processor")), "date": str(attributes.get("date", "no date"))[:10]}


# ---- single bodies ----


def _problem(inputs: Inputs, single: Mapping[str, xr.Dataset], cost: xr.Dataset | None) -> dict[str, Any]:
    data = single[inputs.problem]
    entry: dict[str, Any] = {
        "label": str(data.attrs.get("label", inputs.problem)),
        "short": selection.short_name(inputs, inputs.problem),
        "class": str(data.attrs["torque_class"]),
        "methods": list(map(str, data["integrator"].values)),
        "work": _work(cost if cost is not None else problem_cost(data, _no_times(), [], [])),
        "orders": _orders(data),
    }
    if (long := single.get(f"{inputs.problem}/long_run")) is not None:
        entry["long"] = _long(long)
        if (top := _top(inputs, long)) is not None:
            entry["top"] = top
    if f"{inputs.problem}/long_run_switched" in single:
        entry["switched"] = _long(inputs.long_run_switched)
    return entry


def _no_times() -> xr.Dataset:
    """An empty group ``step`` for runs in which no method was timed."""
    over = ("integrator", "frame", "normalised")
    return xr.Dataset(
        {"fastest": (over, np.zeros((0, 2, 2))), "declared": ("integrator", np.zeros(0, "int8"))},
        {"integrator": np.zeros(0, "U1"), "frame": ["body", "lab"], "normalised": np.array([0, 1], "int8")},
    )


def _work(cost: xr.Dataset) -> dict[str, Any]:
    """Errors over the step size, with the data needed for a ranking, those of cost.nc.

    ``cost`` is a problem's group of cost.nc, or its equivalent without times; methods are then ranked by torque evaluations.
    """
    keys = list(map(str, cost["integrator"].values))
    orders = [ranking.ladder(cost, key).order for key in keys]
    unit = float(cost.attrs["price_unit"])
    return {
        "methods": keys,
        "horizon": float(cost.attrs["horizon"]),
        "timed": str(cost.attrs["timed"]) if isfinite(unit) else "",
        "unit": unit if isfinite(unit) else None,
        "dt": numbers(cost["ladder_dt"]),
        "error": numbers(cost["ladder_error"].transpose("integrator", "ladder_dt")),
        "step_time": numbers(cost["step_time"]),
        "torques": numbers(cost["torques_per_step"]),
        "starting": numbers(cost["starting_torques"]),
        "order": numbers([order.order for order in orders]),
        "order_from": numbers([order.dt_min for order in orders]),
    }


def _orders(data: xr.Dataset) -> dict[str, Any]:
    """Declared and measured orders, and the errors from which they were fitted."""
    orders: dict[str, Any] = {"dt": numbers(data["dt"])}
    for short in ("q", "omega"):
        names = {
            "order": f"{short}_order",
            "low": f"{short}_order_low",
            "high": f"{short}_order_high",
            "from": f"{short}_order_dt_min",
            "to": f"{short}_order_dt_max",
            "declared": f"claimed_{short}_order",
        }
        orders[short] = {name: numbers(data[variable]) for name, variable in names.items()}
        orders[short]["error"] = numbers(data[f"{short}_error_l1"].transpose("integrator", "dt"), "f4")
    return orders


def _thin(data: xr.Dataset) -> xr.Dataset:
    """The dataset with at most :data:`SAMPLES` of its times, including the first and the last."""
    count = data.sizes["time"]
    return data.isel(time=np.unique(np.linspace(0, count - 1, min(count, SAMPLES)).round().astype(int)))


def _long(data: xr.Dataset) -> dict[str, Any]:
    """Errors of a long run over time; quantities missing in the run are omitted."""
    data = _thin(data)
    run: dict[str, Any] = {
        "dt": float(data.attrs["dt"]),
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
    }
    if "exact_omega" in data:
        top["exact"] = numbers(data["exact_omega"].transpose("time", "axis"), "f4")
    return top


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
    """Every scene of this run and of the published-scale results shipped in data/released, and of which of them it is."""
    run = [(name, "this run", inputs.many_body(name)) for name in inputs.scenes]
    return run + [(name, "published scale", inputs.released_many_body(name)) for name in inputs.released_scenes]


def _scene(data: xr.Dataset) -> dict[str, Any]:
    over = ("integrator", "dt", "seed")
    scene: dict[str, Any] = {
        "label": str(data.attrs.get("label", "")),
        "methods": list(map(str, data["integrator"].values)),
        "dt": numbers(data["dt"]),
        "seeds": data.sizes["seed"],
        "horizon": float(data.attrs["horizon"]),
        "clumps": int(data.attrs["clumps"]),
        "spin": float(data.attrs["spin"]),
        "contact_time": float(data.attrs["contact_time"]),
        "diverged": numbers(data["diverged"].transpose(*over), "f4"),
        "values": {name: numbers(data[name].transpose(*over), "f4") for name in OF_SCENE if name in data},
    }
    if "energy_change" in data:
        along = _thin(data["energy_change"].isel(seed=slice(SHOWN_SEEDS)).to_dataset())
        scene["along"] = {
            "time": numbers(along["time"]),
            "energy_change": numbers(along["energy_change"].transpose("integrator", "seed", "time"), "f4"),
        }
    return scene


def _contacts(inputs: Inputs) -> list[dict[str, Any]]:
    """For each of some errors the steps in a contact, those to take and those of half: elastic, and with friction and damping.

    ``elastic`` has the method first; ``rubbing`` has the steps to take with the bookkeeping of codes last. None where it is not
    reached, or far below the finest step.
    """
    rows: list[dict[str, Any]] = []
    for error in CONTACT_ERRORS:
        row: dict[str, Any] = {"error": error, "elastic": None, "rubbing": None}
        if best := law_frames.recommended_in_contacts(law_frames.collisions(inputs, error)):
            row["elastic"] = [best.method, best.steps[2], best.steps[0]]
        with suppress(NotInRun):
            codes, cured, _ = impacts.steps(inputs, error)
            if cured.take <= FARTHEST * float(impacts.random(inputs)["division"].max()):
                row["rubbing"] = [cured.take, cured.half, codes.take if isfinite(codes.take) else None]
        rows.append(row)
    return [row for row in rows if row["elastic"] or row["rubbing"]]


# ---- random bodies ----


def _answers(inputs: Inputs) -> dict[str, list[Any]]:
    """Class of torque of a problem -> method, steps per radian for half of the bodies and nine in ten, as in the article."""
    try:
        answers = all_advice(inputs, law_frames.ensemble(inputs))
    except NotInRun:
        return {}
    kinds = {"free": law_frames.FREE, "velocity": law_frames.FRICTION}
    rows = {name: answers.get(kinds.get(name, law_frames.SMOOTH).key) for name in inputs.torque_classes}
    return {name: [row.one.method, row.one.steps[0], row.one.steps[2]] for name, row in rows.items() if row and row.one.method}


def _random_bodies(inputs: Inputs) -> list[tuple[str, law_frames.EnsembleLaws]]:
    """The laws of random bodies shipped in data/released, and those of this run."""
    released = inputs.groups("ensembles", released=True)
    bodies = [("published scale", law_frames.EnsembleLaws(data)) for data in released.values()]
    with suppress(NotInRun):
        bodies.append(("this run", law_frames.of_run(inputs)))
    return bodies


def _laws(ens: law_frames.EnsembleLaws) -> dict[str, Any]:
    """Steps per radian by class, method and error: what serves 10, 50 and 90 % of the bodies; infinite if it is not reached."""
    steps = laws.spread(ens.steps["steps"].transpose("torque_class", "integrator", "target", "body").values)
    return {
        "bodies": ens.bodies,
        "radians": ens.radians,
        "classes": [[key, ens.class_label(key)] for key in ens.classes],
        "methods": ens.methods,
        "torques": numbers(ens.torques_per_step),
        "targets": ens.steps["target"].values.tolist(),
        "steps": numbers(np.stack([steps.low, steps.median, steps.high], axis=-1), "f4"),
    }


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
    keys, free_order = list(map(str, data["key"].values)), data["q_order"].sel(load="free").values
    rows = zip(keys, texts["option"], free_order, texts["end"], map(str, data["gyroscopic"].values), strict=True)
    texts["advice"] = [advice_of(key, option, float(order), end, kind) for key, option, order, end, kind in rows]
    declared = known_engines()
    texts["releases"] = [declared[key].releases if key in declared else "" for key in keys]
    texts["method_label"] = [unicode_of(text) for text in texts["method_label"]]
    return {
        "date": str(data.attrs["date"]),
        "loads": list(map(str, data["load"].values)),
        "inertia": np.asarray(data.attrs["inertia"], float).tolist(),
        "spin_step": float(data.attrs["long_step"]),
        "rows": [dict(zip(texts, values, strict=True)) for values in zip(*texts.values(), strict=True)],
        "step": numbers(free["step"]),
        "q_error": numbers(free["q_error"].transpose("engine", "step"), "f4"),
        "method_error": numbers(free["method_q_error"].transpose("engine", "step"), "f4"),
        "order": numbers(data["q_order"].transpose("engine", "load"), "f4"),
        "spin_steps": numbers(data["long_steps"]),
        "energy": numbers(data["energy_drift"], "f4"),
        "path": numbers(data["path"].isel(sample=chosen).transpose("engine", "sample", "axis"), "f4"),
    }


def unicode_of(label: str) -> str:
    """A name with LaTeX in it, as characters."""
    for written, character in ((r"\omega", "ω"), (r" \times ", " × "), ("$", "")):
        label = label.replace(written, character)
    return re.sub(r"\^\{(-?\d+)\}", lambda power: power[1].translate(SUPERSCRIPT), label)


# ---- claims ----


def _claims(inputs: Inputs) -> list[dict[str, Any]]:
    """Every judged claim, with the evidence for it."""
    entries = {entry["id"]: entry for path in Path(chapters.__file__).parent.glob("*/claims.yaml") for entry in load_yaml(path)}
    rows, known = [], set(inputs.known)
    for timed, table in _judged(inputs):
        for row in table.to_dict("records"):
            entry = entries.get(str(row["id"]), {})
            about = str(entry.get("problem", DEFAULT_PROBLEM))
            shown = evidence(str(entry.get("measure", "")), about)
            rows.append(
                {str(name): str(value) for name, value in row.items() if name not in (*NUMBERS, "rule")}
                | {name: _number(row[name]) for name in NUMBERS}
                | {
                    "timed": timed,
                    "stated": not timed and row["kind"] in COUNTED,
                    "problem": about if shown and shown.about_problem else "",
                    "methods": _named(entry.get("arguments", {}), known),
                    "figures": list(shown.figures) if shown else [],
                    "tables": list(shown.tables) if shown else [],
                    "section": shown.section if shown else "",
                    "data": shown.place(about) if shown else "",
                }
            )
    return rows


def _judged(inputs: Inputs) -> Iterator[tuple[bool, pd.DataFrame]]:
    """The tables of claims, each with a flag that tells whether it concerns time."""
    yield False, inputs.claim_rows
    with suppress(NotInRun):
        yield True, inputs.cost_claim_rows


def _named(arguments: Mapping[str, Any], known: Collection[str]) -> list[str]:
    """The methods among the arguments of a measure."""
    methods: list[str] = []
    for value in arguments.values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str) and item in known:
                methods.append(item)
    return list(dict.fromkeys(methods))


def _number(value: Any) -> float | str | None:
    """An entry of claims.csv as a number; as text if it is not a number; None if it is missing or not finite."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value) or None
    return number if isfinite(number) else None
