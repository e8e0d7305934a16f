"""The measurements of one engine under one option, and the table of all: ``atlas.nc``.

A row is an engine with an option. For each load that the engine takes: the orders of q and omega, the errors at three steps,
and the identity. For the free body also a long spin: what became of energy and momentum, and about which axis it turns in
the end. Of engines of the web, and of others whose adapters leave on what is on by default, also what they do as they are
shipped (:mod:`polhode_engines.shipped`).
"""

import datetime
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from polhode.interface.table import Column, Table
from polhode.methods import METHODS
from polhode.version import __version__
from polhode_engines import cases, identify, shipped
from polhode_engines.advice import advice_of
from polhode_engines.candidates import DAMPED, candidate, label
from polhode_engines.environments import RUN_LIMIT, Run, Spun, spin
from polhode_engines.protocol import LOADS, Engine, known_engines, option_of
from polhode_engines.read_rows import READ
from polhode_engines.run_numbers import all_single

#: How much of the squared momentum must lie along one axis for a spin to have ended there.
SETTLED = 0.99
#: Below this share of its angular velocity a body counts as stopped.
STOPPED = 1e-3
#: A free body with so many times its angular momentum counts as diverged.
DIVERGED = 100.0
#: An error of omega at the finest step beyond which the engine does not solve Euler's equations.
WRONG = 0.3
AXES = ("smallest", "middle", "largest")
#: The angle in a step, rad, at which an adapter of one's own is identified: below what engines cut or bend.
OWN_TURN = 0.6
#: The unit of the last place of a quaternion that is printed with nine digits.
NINE_DIGITS = 1e-9


@dataclass(frozen=True)
class EngineRow:
    """One engine with one option.

    Parameters
    ----------
    identities : load -> verdict
    q_order, omega_order : load -> order
    q_error, omega_error : load -> errors (steps,) at ``polhode_engines.cases.STEPS``, rad and relative
    energy_drift, momentum_drift : relative changes over the long spin
    turned : angle between the lab momentum at the end and at the start, rad
    steps : number of steps of the long spin that were taken
    end : what a free spin does in the end: "tumbles", "stops", "diverges", "failed", or "smallest moment", "middle moment" or
        "largest moment", the axis about which it turns
    path : the unit vector along the momentum in the body frame during the long spin (samples, 3)
    gyroscopic : whether the engine solves Euler's equations (``yes``), keeps omega in the lab (``no``), or neither (``other``)
    failures : what went wrong, if anything
    as_shipped : what else was measured of the engine as it is shipped; None: nothing
    """

    engine: Engine
    option: str
    version: str
    identities: Mapping[str, identify.Identity]
    q_order: Mapping[str, float]
    omega_order: Mapping[str, float]
    q_error: Mapping[str, np.ndarray]
    omega_error: Mapping[str, np.ndarray]
    energy_drift: float
    momentum_drift: float
    turned: float
    steps: int
    end: str
    path: np.ndarray
    gyroscopic: str
    failures: str
    as_shipped: shipped.Shipped | None = None

    @property
    def methods(self) -> tuple[str, ...]:
        """The keys of what was identified: of the candidates that fit the free body those that fit under all loads.

        A torque may distinguish candidates that fit the free body alike; a load under which nothing was identified does not
        count. If none is left, all that fit the free body, if they were identified. Empty if nothing was identified under any
        load, or nothing fits the free body.
        """
        free = self.identities["free"]
        fitting = [set(identity.methods) for identity in self.identities.values() if identity.identified]
        if not fitting or free.deviation >= identify.WITHIN:
            return ()
        common = set.intersection(*fitting)
        return tuple(key for key in free.methods if key in common) or (free.methods if free.identified else ())

    @property
    def method(self) -> str:
        """The keys of :attr:`methods` in one text, or that nothing was identified and which candidate is the closest."""
        if self.methods:
            return " = ".join(preferred(self.methods))
        closest = self.identities["free"].methods
        return f"not identified (closest: {closest[0]})" if closest else "not identified"


def preferred(methods: Sequence[str]) -> list[str]:
    """The keys among these of methods of the registry, if there are any, otherwise the shortest, of the simplest candidate."""
    known = set(METHODS)
    named = [key for key in methods if key.partition(" ")[0] in known]
    return named or sorted(methods, key=lambda key: (len(key), key))[:1]


def jobs(engine: Engine, option: str) -> int:
    """The number of runs behind a row, for a bar."""
    return len(requests(engine, option)[0]) + (shipped.jobs() if engine.is_measured_as_shipped else 0)


def requests(engine: Engine, option: str) -> tuple[list[Run], list[tuple[str, str, float]]]:
    """The runs behind a row, and what each is for: (purpose, load, step in s); purposes are "identify", "ladder" and "long"."""
    runs: list[Run] = []
    what: list[tuple[str, str, float]] = []
    for load in engine.loads(option):
        for run in cases.identification_runs(load, engine.precision, turn=engine.turn or (OWN_TURN if engine.is_own else 0.0)):
            runs.append(run)
            what.append(("identify", load, run.dt))
        for dt in cases.STEPS:
            runs.append(cases.ladder_run(load, dt))
            what.append(("ladder", load, dt))
    runs.append(cases.long_run(engine.most_steps))
    what.append(("long", "free", cases.LONG_STEP))
    return runs, what


def measure(engine: Engine, option: str, progress: Callable[[], object] = lambda: None, limit: float = RUN_LIMIT) -> EngineRow:
    """Run an engine and measure everything in its row.

    What fails is in the row; nothing is raised for it.

    Parameters
    ----------
    option : a key of the engine's options
    progress : called after each of :func:`jobs` runs
    limit : seconds that one run may take

    Raises
    ------
    NotInReleaseError
        If the installed release lacks the option.
    """
    runs, what = requests(engine, option)
    version, spun = spin(engine, option, runs, progress, limit)
    row = judged(engine, option, version, runs, what, spun)
    if not engine.is_measured_as_shipped:
        return row
    return replace(row, as_shipped=shipped.measure(engine, option, progress, limit))


def judged(
    engine: Engine,
    option: str,
    version: str,
    runs: Sequence[Run],
    what: Sequence[tuple[str, str, float]],
    spun: Sequence[Spun],
) -> EngineRow:
    """The row of the atlas that follows from what an engine returned.

    Parameters
    ----------
    version : what the engine says of itself
    runs, what : as :func:`requests` returns them
    spun : what the engine returned for each run
    """
    eps = float(np.finfo(_precision(engine, spun)).eps)
    identities, orders, errors = {}, {}, {}
    for load in engine.loads(option):
        chosen = [i for i, item in enumerate(what) if item[:2] == ("identify", load)]
        damping = engine.options[option].damping
        below = [_below_limit(engine, runs[i], spun[i]) for i in chosen]
        deviations = identify.deviations([run for run, _ in below], [outcome for _, outcome in below], eps, damping)
        identities[load] = identify.judged(deviations)
        at = {what[i][2]: spun[i] for i in range(len(what)) if what[i][:2] == ("ladder", load)}
        with np.errstate(all="ignore"):
            pairs = np.array([cases.errors(load, at[dt].q, at[dt].omega) for dt in cases.STEPS])
        errors[load] = pairs
        fit = [k for k, dt in enumerate(cases.STEPS) if dt in cases.LADDER]
        orders[load] = tuple(cases.order([cases.STEPS[k] for k in fit], pairs[fit, j], eps) for j in (0, 1))
    long = spun[-1]
    failures = sorted({run.error for run in spun if run.error})
    return EngineRow(
        engine,
        option,
        version,
        identities,
        {load: pair[0] for load, pair in orders.items()},
        {load: pair[1] for load, pair in orders.items()},
        {load: pairs[:, 0] for load, pairs in errors.items()},
        {load: pairs[:, 1] for load, pairs in errors.items()},
        *long_spin_of(runs[-1], long),
        _gyroscopic(errors["free"], identities["free"]),
        "; ".join(failures),
    )


def _precision(engine: Engine, spun: Sequence[Spun]) -> str:
    """The precision of an engine; of an adapter of one's own, the precision of its quaternions, whatever it declares."""
    if not engine.is_own:
        return engine.precision
    # As a worker saw it, or as numbers of nine digits show it.
    seen = [bool(all_single(run.q, NINE_DIGITS) if run.is_single is None else run.is_single) for run in spun if not run.error]
    return "float32" if seen and all(seen) else engine.precision


def _below_limit(engine: Engine, run: Run, spun: Spun) -> tuple[Run, Spun]:
    """A run until the body turns further in a step than the engine lets it."""
    beyond = np.linalg.norm(spun.omega, axis=1) * run.dt > (engine.turn_limit or math.inf)
    count = int(np.argmax(beyond)) if beyond.any() else len(beyond)
    return replace(run, samples=run.samples[:count]), replace(spun, q=spun.q[:count], omega=spun.omega[:count])


def long_spin_of(run: Run, spun: Spun) -> tuple[float, float, float, int, str, np.ndarray]:
    """Energy drift, momentum drift, angle turned by the momentum, steps, end and path of a long free spin.

    Both drifts are relative, the angle is in rad; ends and path (samples, 3) are explained by :class:`EngineRow`. A run with an
    error gives NaN, no steps and "failed". If it diverges, the drifts are infinite, the angle is NaN, the steps are those to
    the last sample before, and the path is NaN from there on.
    """
    inertia = np.array(run.inertia)
    with np.errstate(all="ignore"):
        momentum = inertia * spun.omega
        length = np.linalg.norm(momentum, axis=1)
        path = momentum / length[:, None]
        energy = (momentum * spun.omega).sum(1) / 2
        q = spun.q / np.linalg.norm(spun.q, axis=1, keepdims=True)
        lab = _lab(q, path)
    fine = np.isfinite(length) & np.isfinite(q).all(1) & (length < DIVERGED * length[0])
    if spun.error:
        return math.nan, math.nan, math.nan, 0, "failed", path
    count = len(fine) if fine.all() else int(np.argmin(fine))
    if count < len(fine):
        path[count:] = np.nan
        return math.inf, math.inf, math.nan, run.samples[count - 1], "diverges", path
    drift = float(energy[-1] / energy[0] - 1), float(length[-1] / length[0] - 1)
    angle = float(2 * np.arcsin(np.clip(np.linalg.norm(lab[-1] - lab[0]) / 2, 0, 1)))
    tail = slice(-max(2, len(length) // 10), None)
    if length[-1] < STOPPED * length[0]:
        return *drift, angle, run.samples[-1], "stops", path
    share = (path[tail] ** 2).mean(axis=0)
    settled = np.flatnonzero(share > SETTLED)
    if settled.size == 0:
        return *drift, angle, run.samples[-1], "tumbles", path
    return *drift, angle, run.samples[-1], f"{AXES[int(settled[0])]} moment", path


def _lab(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Body vectors (n, 3) in the lab, for unit quaternions (n, 4)."""
    u, s = q[:, 1:], q[:, :1]
    turned: np.ndarray = v + 2 * np.cross(u, np.cross(u, v) + s * v)
    return turned


def _gyroscopic(free: np.ndarray, identity: identify.Identity) -> str:
    """Whether the free body follows Euler's equations."""
    if identity.deviation < identify.WITHIN and all("no_gyroscopic" in key for key in identity.methods):
        return "no"
    if any(DAMPED in key for key in identity.methods) and identity.identified:
        return "yes"
    finest = free[np.argmin(cases.STEPS), 1]
    return "yes" if finest < WRONG else "other" if np.isfinite(finest) else "failed"


def dataset(rows: Sequence[EngineRow]) -> xr.Dataset:
    """All rows as one dataset, over ``engine`` (a row), ``load``, ``step`` and the samples of the long spin.

    Most variables are fields of :class:`EngineRow`, of its engine and option, and of its identities: ``key``, ``label``,
    ``option``, ``version``, ``method``, ``fitting``, ``deviation``, ``q_order``, ``q_error``, ``energy_drift``, ``end``,
    ``path`` (engine, sample, axis) and so on. Those that begin with ``shipped_`` are fields of
    :class:`polhode_engines.shipped.Shipped`, and :func:`with_citations` adds more. Their attributes have a long name and a
    unit, where a number has one.
    """
    nothing = np.full(len(cases.STEPS), np.nan)

    def texts(get: Callable[[EngineRow], str]) -> tuple[str, list[str]]:
        return "engine", [get(row) for row in rows]

    def table(get: Callable[[EngineRow, str], Any]) -> tuple[tuple[str, str], np.ndarray]:
        values = [[get(row, load) if load in row.identities else np.nan for load in LOADS] for row in rows]
        return ("engine", "load"), np.array(values, dtype=float).reshape(len(rows), len(LOADS))

    def words(get: Callable[[identify.Identity], str]) -> tuple[tuple[str, str], np.ndarray]:
        values = [[get(row.identities[load]) if load in row.identities else "" for load in LOADS] for row in rows]
        return ("engine", "load"), np.array(values, dtype=object).reshape(len(rows), len(LOADS))

    def ladder(
        get: Callable[[EngineRow], Mapping[str, np.ndarray]], name: str, units: str
    ) -> tuple[Any, np.ndarray, dict[str, str]]:
        values = [[get(row).get(load, nothing) for load in LOADS] for row in rows]
        attributes = {"long_name": name, "units": units}
        return ("engine", "load", "step"), np.array(values).reshape(len(rows), len(LOADS), len(cases.STEPS)), attributes

    samples = cases.LONG_SAMPLES + 1
    paths = np.array([row.path if row.path.shape == (samples, 3) else np.full((samples, 3), np.nan) for row in rows])
    data: dict[str, Any] = {
        "key": texts(lambda row: row.engine.key),
        "label": texts(lambda row: row.engine.label),
        "option": texts(lambda row: row.option),
        "chosen_by": texts(lambda row: row.engine.options[row.option].chosen_by),
        "is_default": ("engine", [int(row.option == row.engine.default) for row in rows]),
        "version": texts(lambda row: row.version),
        "precision": texts(lambda row: row.engine.precision),
        "switched_off": texts(lambda row: row.engine.switched_off),
        "gyroscopic": texts(lambda row: row.gyroscopic),
        "method": texts(lambda row: row.method),
        "is_identified": ("engine", [int(bool(row.methods)) for row in rows]),
        "failures": texts(lambda row: row.failures),
        "identified": table(lambda row, load: float(row.identities[load].identified)),
        "fitting": words(lambda identity: ", ".join(identity.methods)),
        "runner_up": words(lambda identity: identity.runner_up),
        "deviation": table(lambda row, load: row.identities[load].deviation),
        "runner_up_deviation": table(lambda row, load: row.identities[load].runner_up_deviation),
        "q_order": table(lambda row, load: row.q_order[load]),
        "omega_order": table(lambda row, load: row.omega_order[load]),
        "q_error": ladder(lambda row: row.q_error, "mean angle to the exact orientation", "rad"),
        "omega_error": ladder(lambda row: row.omega_error, "mean relative error of omega", "1"),
        "energy_drift": ("engine", [row.energy_drift for row in rows]),
        "momentum_drift": ("engine", [row.momentum_drift for row in rows]),
        "momentum_turned": ("engine", [row.turned for row in rows], {"units": "rad"}),
        "long_steps": ("engine", [row.steps for row in rows]),
        "end": texts(lambda row: row.end),
        "path": (("engine", "sample", "axis"), paths.reshape(len(rows), samples, 3).astype(np.float32)),
    }
    for name in shipped.NAMES:
        nothing_said: Any = "" if name == "damping_law" else (math.nan,) * 3 if name == "moments" else math.nan
        values = [getattr(row.as_shipped, name) if row.as_shipped else nothing_said for row in rows]
        data[f"shipped_{name}"] = (("engine", "axis") if name == "moments" else "engine", values)
    for name, (long_name, units) in {**NAMES, **{f"shipped_{key}": said for key, said in shipped.NAMES.items()}}.items():
        value = data[name]
        data[name] = (*value[:2], {"long_name": long_name, "units": units})
    made = xr.Dataset(
        data,
        coords={
            "engine": [f"{row.engine.key} {row.option}" for row in rows],
            "load": list(LOADS),
            "step": (
                "step",
                list(cases.STEPS),
                {"long_name": "time step, equal to the angle turned by it at the start", "units": "s"},
            ),
            "axis": list("xyz"),
        },
    )
    made.attrs = {
        "title": "The engine atlas: which integrators engines run, by measurement",
        "polhode": __version__,
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "inertia": list(cases.INERTIA),
        "long_step": cases.LONG_STEP,
        "exact_turns": shipped.exact_turns(),
        "within": identify.WITHIN,
        "apart": identify.APART,
    }
    return compressed(with_citations(made))


#: Variable -> what it is, units.
NAMES = {
    "is_identified": ("whether one class of methods was identified for the free body", "1"),
    "identified": ("whether one class of methods was identified under this load", "1"),
    "deviation": ("largest one-step deviation of the methods that fit, or of the closest", "round-off"),
    "runner_up_deviation": ("largest one-step deviation of the next candidate (a lower bound)", "round-off"),
    "q_order": ("order of q", "1"),
    "omega_order": ("order of omega", "1"),
    "energy_drift": ("relative change of the kinetic energy over the long free spin", "1"),
    "momentum_drift": ("relative change of the length of the angular momentum over the long free spin", "1"),
    "long_steps": ("steps of the long free spin", "1"),
}


def merged(old: xr.Dataset, new: xr.Dataset) -> xr.Dataset:
    """The rows of ``new`` and those rows of ``old`` that it does not replace, sorted as by :func:`joined`.

    The rows of ``old`` are kept for engines that ``new`` does not have, and for other options of its engines, such as those
    another release has, as long as these are declared. All three are datasets of :func:`dataset`.
    """
    measured, engines = set(_rows_of(new)), {key for key, _ in _rows_of(new)}
    stays = [
        i
        for i, (key, option) in enumerate(_rows_of(old))
        if key not in engines or ((key, option) not in measured and option in _options(key))
    ]
    return joined([old.isel(engine=stays), new])


def _rows_of(data: xr.Dataset) -> list[tuple[str, str]]:
    """Key and option of each row."""
    keys, options = (map(str, data[name].values) for name in ("key", "option"))
    return list(zip(keys, options, strict=True))


def _options(key: str) -> list[str]:
    """The options that an engine declares, in their order; none of an engine that is not known."""
    return list(known_engines()[key].options) if key in known_engines() else []


def joined(parts: Sequence[xr.Dataset]) -> xr.Dataset:
    """The rows of several datasets of :func:`dataset`, sorted by the key of the engine and in the order of its options.

    The attributes come from the last. A variable that some of them lack is NaN or empty there.
    """
    parts = [_filled(part, parts) for part in parts]
    together = xr.concat(parts, "engine", data_vars="minimal", coords="minimal", compat="override", join="override")
    rows = _rows_of(together)
    place = [(key, _options(key).index(option) if option in _options(key) else 0) for key, option in rows]
    together = together.isel(engine=sorted(range(len(rows)), key=place.__getitem__))
    together.attrs = dict(parts[-1].attrs)
    return compressed(with_citations(together.drop_vars(["method_label", "method_q_error"], errors="ignore")))


def _filled(part: xr.Dataset, parts: Sequence[xr.Dataset]) -> xr.Dataset:
    """A dataset with the variables over ``engine`` that only others have, where nothing was measured."""
    missing = {}
    for name, values in ((name, values) for other in parts for name, values in other.data_vars.items()):
        if name not in part and "engine" in values.dims:
            shape = [part.sizes["engine"] if dim == "engine" else values.sizes[dim] for dim in values.dims]
            empty = np.full(shape, np.nan) if values.dtype.kind == "f" else np.full(shape, "", dtype=object)
            missing[name] = (values.dims, empty, values.attrs)
    return part.assign(missing)


def compressed(data: xr.Dataset) -> xr.Dataset:
    """A copy of a dataset whose variables will be written compressed, without loss."""
    data = data.copy()
    for variable in data.variables.values():
        variable.encoding = {"zlib": True, "complevel": 9, "shuffle": True} if variable.ndim else {}
    return data


def with_citations(data: xr.Dataset) -> xr.Dataset:
    """The same dataset with what is declared of engines as it is now, since it is not measured.

    The variables over ``engine`` are ``label``, ``is_default`` and ``chosen_by`` (of engines that are known), ``source`` and
    ``source_read`` (the citation, and 1 if its arithmetic was read), ``advice`` and ``method_label``; ``method_q_error``
    (engine, step), rad, is the error of the identified method itself.
    """
    rows = _rows_of(data)
    orders, ends, kinds = data["q_order"].sel(load="free").values, data["end"].values, data["gyroscopic"].values
    said = [
        advice_of(key, option, float(order), str(end), str(kind))
        for (key, option), order, end, kind in zip(rows, orders, ends, kinds, strict=True)
    ]
    shown = [
        label(method) if done else method
        for method, done in zip(
            (str(m).partition(" = ")[0] for m in data["method"].values), data["is_identified"].values, strict=True
        )
    ]
    identified = {method for method, done in zip(_first(data), data["is_identified"].values, strict=True) if done}
    lines = {method: _errors_of(method) for method in identified}
    known, chosen_by = known_engines(), data["chosen_by"].values
    default = [
        int(option == known[key].default) if key in known else int(before)
        for (key, option), before in zip(rows, data["is_default"].values, strict=True)
    ]
    labels = [known[key].label if key in known else str(data["label"].values[i]) for i, (key, _) in enumerate(rows)]
    nothing = np.full(len(cases.STEPS), np.nan)
    ours = np.array([lines.get(method, nothing) for method in _first(data)]).reshape(-1, len(cases.STEPS))
    return data.assign(
        label=("engine", labels, data["label"].attrs),
        is_default=("engine", default, data["is_default"].attrs),
        chosen_by=("engine", [option_of(*row).chosen_by or str(chosen_by[i]) for i, row in enumerate(rows)]),
        source=("engine", [option_of(key, option).citation for key, option in rows]),
        source_read=(
            "engine",
            [int(option_of(key, option).is_read) for key, option in rows],
            {"long_name": "whether the arithmetic of the cited source was read", "units": "1"},
        ),
        advice=("engine", said),
        method_label=("engine", shown),
        method_q_error=(
            ("engine", "step"),
            ours,
            {"long_name": "mean angle to the exact orientation of the method identified, free body", "units": "rad"},
        ),
    )


def _first(data: xr.Dataset) -> list[str]:
    """The method of each row, the first of those that are the same."""
    return [str(method).partition(" = ")[0] for method in data["method"].values]


def _errors_of(key: str) -> np.ndarray:
    """The error of q of one of our methods on the free body at the steps of the ladder, in plain Python.

    A multistep method starts as engines start it: with the rates of the start in the place of earlier ones.
    """
    name, _, mode = key.partition(" ")
    errors, first = [], getattr(candidate(name), "warm_up_steps", 0)
    for dt in cases.STEPS:
        run = cases.ladder_run("free", dt)
        driver = identify.driver_of(candidate(name), run)
        begin = identify.stored if mode else identify.synchronous
        state, rows = begin(driver, None, run.q0, run.omega0), []
        for n in range(run.samples[-1]):
            state = driver.step(state, first + n)
            if n + 1 in run.samples:
                rows.append(driver.read(state, n + 1))
        with np.errstate(all="ignore"):
            errors.append(cases.errors("free", np.array([q for q, _ in rows]), np.array([w for _, w in rows]))[0])
    return np.array(errors)


def as_text(data: xr.Dataset, others: bool = True) -> str:
    """The atlas, a dataset of :func:`dataset`, as a table for a terminal, one line for each row.

    With ``others`` notes below it name the engines that were read and not run.
    """

    def number(head: str, name: str, form: str, load: str = "") -> Column:
        of_row = (lambda row: row[name].sel(load=load)) if load else (lambda row: row[name])
        return Column(head, of_row, lambda value: "--" if np.isnan(value) else format(float(value), form))

    columns = [
        Column("engine", lambda row: row["key"].item() + ("*" if int(row["is_default"]) else "")),
        *(Column(name, lambda row, name=name: row[name].item()) for name in ("option", "version", "method")),
        number("dev.", "deviation", ".2g", "free"),
        number("next", "runner_up_deviation", ".1e", "free"),
        *(number(head, "q_order", ".1f", of) for head, of in zip(("q free", "const", "lab", "fric."), LOADS, strict=True)),
        number("dE/E", "energy_drift", ".1e"),
        number("dL/L", "momentum_drift", ".1e"),
        Column("ends", lambda row: row["end"].item()),
    ]
    notes = ["* what a user gets who chooses nothing; q free, const, lab, fric.: order of q under each load"]
    notes += [row.text for row in READ if others]
    notes += [f"{engine}: {text}" for engine, text in zip(data["engine"].values, data["failures"].values, strict=True) if text]
    return Table([data.isel(engine=i) for i in range(data.sizes["engine"])], columns, notes=notes).text()


def select(engines: Mapping[str, Engine], keys: Iterable[str]) -> list[Engine]:
    """The engines with these keys, or all if there is no key.

    Raises
    ------
    KeyError
        If a key is not among ``engines``.
    """
    wanted = list(keys)
    return [engines[key] for key in wanted] if wanted else list(engines.values())
