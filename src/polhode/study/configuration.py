"""The configuration of a study: validated, with defaults filled in, and expanded into the literal jobs it stands for."""

import importlib
import json
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from polhode.methods.protocol import Method, OneTorque
from polhode.problems.problem import Case, Problem
from polhode.registry import catalogue, nearest
from polhode.simulate import count_steps, sampled_steps

METHODS = catalogue("polhode.methods")
PROBLEMS = catalogue("polhode.problems")
SCHEMA = Path("workflow/schemas/config.schema.yaml")
#: Experiments on single methods, see :mod:`polhode.study.checks`; named here so that a configuration is read without them.
CHECKS = (
    "reversibility",
    "stability",
    "note_corrections",
    "published_variants",
    "extended_inertia",
    "symplecticity",
    "normalisation",
    "sweeps",
    "simplified",
)
#: Steps that one many-body job takes where it can choose; a minute or so.
BATCH = 100_000_000
#: Many-body scenes, see :mod:`polhode.manybody`; named here for the same reason.
SCENES = ("chess", "rods")


class ConfigurationError(ValueError):
    """The configuration asks for something that does not exist or cannot be run; the message names the key."""


def step_name(dt: float) -> str:
    """The name of a step size in paths: the shortest decimal that is exactly this number, e.g. ``1e-05``."""
    return repr(float(dt))


def geometric_ladder(first: float, last: float, count: int) -> list[float]:
    """``count`` step sizes from ``first`` to ``last``, evenly spread in the logarithm, rounded to six significant digits.

    The rounding keeps file names short; it moves an error curve by less than the width of its line.
    """
    return [float(f"{x:.6g}") for x in np.geomspace(first, last, count)]


def dividing_ladder(horizon: float, first: int, last: int, count: int) -> list[float]:
    """``count`` step sizes that divide the horizon into ``first`` to ``last`` steps, evenly spread in the logarithm."""
    return [horizon / int(n) for n in np.unique(np.rint(np.geomspace(first, last, count)))]


@dataclass(frozen=True)
class StepSize:
    """One rung of a ladder: the step in s, the set it belongs to, and whether the run may end before the horizon."""

    dt: float
    set_name: str
    truncate: bool
    steps: int

    @property
    def name(self) -> str:
        """The name in paths."""
        return step_name(self.dt)

    @property
    def end_time(self) -> float:
        """Where the run ends, s: the number of steps times dt."""
        return self.steps * self.dt


@dataclass(frozen=True)
class LongRun:
    """One run per method, sampled on the way; usually far beyond the horizon.

    ``exact``: compared with the exact solution, not only with what the motion conserves. ``switched``: run once more with
    the normalisation switched, on where the method has none and off where it has.
    """

    horizon: float
    dt: float
    samples: int
    exact: bool
    switched: bool

    @property
    def name(self) -> str:
        """The name of its step size in paths."""
        return step_name(self.dt)

    @property
    def times(self) -> np.ndarray:
        """Times of the samples, s."""
        return sampled_steps(count_steps(self.dt, self.horizon), self.samples) * self.dt


@dataclass(frozen=True)
class Targets:
    """Target errors for which the step size is sought between two bounds."""

    errors: tuple[float, ...]
    dt_min: float
    dt_max: float
    truncate: bool


@dataclass(frozen=True)
class Cost:
    """How a step is timed, and for which target errors and prices of the torque the time to a solution is asked.

    ``block``: CPU time of one timed block of steps, at least, s. ``target_errors``: coarse ones first. ``torque_prices``: of
    one evaluation, in steps of direct Euler, low ones first.
    """

    rounds: int
    block: float
    target_errors: tuple[float, ...]
    torque_prices: tuple[float, ...]


@dataclass(frozen=True)
class Film:
    """One short run of a scene whose motion is kept, for pictures: the method, its step and how many pictures (s)."""

    method: str
    dt: float
    horizon: float
    frames: int


@dataclass(frozen=True)
class SceneStudy:
    """What is run on one many-body scene: every method with every step from every seed.

    ``key`` names it in files, ``scene`` is the key of the scene; ``spin`` in rad/s, None for that of the scene. ``over_time``:
    the energy along each run is kept, not only what it comes to.
    """

    key: str
    scene: str
    spin: float | None
    horizon: float
    methods: tuple[str, ...]
    steps: tuple[StepSize, ...]
    seeds: int
    samples: int
    over_time: bool
    film: Film | None

    @property
    def batches(self) -> list[list[StepSize]]:
        """The step sizes that one job runs: all that take up to :data:`BATCH` steps together, each of the others alone.

        A job is a process that imports and compiles before it begins, so that a few seconds' work is not worth its own.
        """
        found: list[list[StepSize]] = []
        room = 0
        for step in sorted(self.steps, key=lambda step: step.steps):
            work = step.steps * self.seeds
            if not found or work > room:
                found.append([])
                room = BATCH
            found[-1].append(step)
            room -= work
        return found

    def step(self, name: str) -> StepSize:
        """The rung with this name in paths."""
        return next(s for s in self.steps if s.name == name)


@dataclass(frozen=True)
class ProblemStudy:
    """What is run on one problem."""

    problem: Case
    methods: tuple[str, ...]
    steps: tuple[StepSize, ...]
    samples: int
    means: bool
    check_until: float
    long_run: LongRun | None
    targets: Targets | None

    def step(self, name: str) -> StepSize:
        """The rung with this name in paths."""
        return next(s for s in self.steps if s.name == name)

    def reference_times(self) -> np.ndarray:
        """Every time, in s, at which something is compared with the exact solution; ascending, without repetition.

        These are a grid for pictures, the end of every run, the times at which the methods hold their own angular velocity, the
        samples of the long run if it is compared, and those of every run where errors are averaged over time.
        """
        offsets = {0.0} | {METHODS[m].stored_offset for m in self.methods}
        times = [np.linspace(0, self.problem.horizon, 201)]
        for offset in offsets:
            times.append(np.array([s.end_time + offset * s.dt for s in self.steps]))
            if self.long_run is not None and self.long_run.exact:
                times.append(self.long_run.times + offset * self.long_run.dt)
        if self.means:
            times += [sampled_steps(s.steps, self.samples) * s.dt for s in self.steps]
        everything = np.unique(np.concatenate(times))
        return np.asarray(everything[everything >= 0])


@dataclass(frozen=True)
class Study:
    """A validated configuration."""

    results: Path
    digits: int
    methods: tuple[str, ...]
    problems: dict[str, ProblemStudy]
    checks: tuple[str, ...]
    cost: Cost | None
    scenes: dict[str, SceneStudy]
    plugins: tuple[Path, ...]
    resolved: dict[str, Any]

    @property
    def json(self) -> str:
        """The resolved configuration as one line, for the files of a run; without paths, so that it does not matter where."""
        chosen = {key: value for key, value in self.resolved.items() if key != "results"}
        return json.dumps(chosen | {"plugins": [Path(path).name for path in chosen["plugins"]]}, sort_keys=True)

    @property
    def plugin_methods(self) -> tuple[str, ...]:
        """Keys of the methods that came from plug-ins."""
        return tuple(k for k in self.methods if METHODS.origin(k) in self.plugins)


def resolve(config: Mapping[str, Any], home: Path, files: Iterable[str | Path] = (), *, checked: bool = False) -> Study:
    """Validate ``config`` against the schema, load its plug-ins and expand its ladders.

    Parameters
    ----------
    config : mapping as read from YAML
    home : folder of the Snakefile; the schema and relative plug-in paths are looked up from there
    files : names of the files the configuration came from, for messages
    checked : whether it has been held against the schema before, as in the jobs of a run

    Raises
    ------
    ConfigurationError
        Naming the key and what to write instead.
    """
    where = ", ".join(map(str, files)) or "configuration"
    config = _with_numbers(config)
    if not checked:
        _check(config, yaml.safe_load((home / SCHEMA).read_text()), where)
    plugins = []
    for path in config["plugins"]:
        try:
            METHODS.load(home / path)
        except (ValueError, FileNotFoundError, SyntaxError) as error:
            raise ConfigurationError(f"{where}: plugins: {error}") from error
        plugins.append((home / path).resolve())
    known = list(METHODS)
    # Who names a plug-in wants to see it, also beside a list of methods that does not repeat its key.
    added = [key for key in known if METHODS.origin(key) in plugins]
    methods = known if config["methods"] == "all" else list(dict.fromkeys([*config["methods"], *added]))
    for key in methods:
        if key not in known:
            raise ConfigurationError(f"{where}: methods: unknown method {key!r}; {nearest(key, known)}")
    problems = {}
    for key, settings in config["problems"].items():
        if settings is None:
            continue
        if key not in PROBLEMS:
            raise ConfigurationError(f"{where}: problems: unknown problem {key!r}; {nearest(key, list(PROBLEMS))}")
        problems[key] = _problem(key, settings, tuple(methods), f"{where}: problems.{key}")
    if not problems:
        raise ConfigurationError(f"{where}: problems: every one is null; leave at least one in")
    checks = CHECKS if config["checks"] == "all" else config["checks"]
    for key in checks:
        if key not in CHECKS:
            raise ConfigurationError(f"{where}: checks: unknown check {key!r}; {nearest(key, list(CHECKS))}")
    return Study(
        results=Path(config["results"]),
        digits=config["digits"],
        methods=tuple(methods),
        problems=problems,
        checks=tuple(checks),
        cost=_cost(config["cost"]),
        scenes=_scenes(config["many_body"], methods, added, f"{where}: many_body"),
        plugins=tuple(plugins),
        resolved=json.loads(json.dumps(config)),
    )


def many_bodies(study: Study) -> tuple[list[OneTorque], list[str]]:
    """The methods and the scenes of the library that the many-body study runs."""
    keys = dict.fromkeys(key for part in study.scenes.values() for key in part.methods)
    found = [METHODS[key] for key in keys]
    return [m for m in found if isinstance(m, OneTorque)], list(dict.fromkeys(part.scene for part in study.scenes.values()))


def compile_plugins(study: Study) -> None:
    """Compile the user's own methods, so that a slip in a kernel is one message now and not one a cell later.

    Raises
    ------
    ConfigurationError
        Naming the file and what the compiler says first.
    """
    for key in study.plugin_methods:
        try:
            METHODS[key].compile()
        except Exception as error:
            said = [line.strip() for line in str(error).splitlines() if line.strip()]
            reason = next((line for line in said if "rror: " in line or "not defined" in line or "ntyped" in line), said[0])
            raise ConfigurationError(f"plug-in {METHODS.origin(key)} does not compile: {reason}") from error


def _cost(settings: Mapping[str, Any] | None) -> Cost | None:
    if settings is None:
        return None
    return Cost(
        rounds=settings["rounds"],
        block=float(settings["block"]),
        target_errors=tuple(sorted(map(float, settings["target_errors"]), reverse=True)),
        torque_prices=tuple(sorted(map(float, settings["torque_prices"]))),
    )


def _rungs(sets: Mapping[str, Any], horizon: float, where: str, truncate_all: bool = False) -> tuple[StepSize, ...]:
    """The step sizes of named sets, ascending; of a size that stands in several the first set counts."""
    rungs: dict[float, StepSize] = {}
    for name, ladder in sets.items():
        if ladder is None:
            continue
        truncate = ladder.get("truncate", truncate_all)
        if "geometric" in ladder:
            first, last, count = ladder["geometric"]
            values = geometric_ladder(first, last, int(count))
        elif "divisions" in ladder:
            low, high, count = ladder["divisions"]
            values = dividing_ladder(horizon, int(low), int(high), int(count))
        else:
            values = [float(v) for v in ladder["values"]]
        for dt in values:
            try:
                steps = count_steps(dt, horizon, truncate)
            except ValueError as error:
                advice = str(error).replace("truncate=True", "truncate: true in this ladder")
                raise ConfigurationError(f"{where}.dt.{name}: {advice}") from error
            rungs.setdefault(dt, StepSize(dt, name, truncate, steps))
    if not rungs:
        raise ConfigurationError(f"{where}.dt: every set of step sizes is null; leave at least one in")
    return tuple(sorted(rungs.values(), key=lambda s: s.dt))


def _scenes(settings: Mapping[str, Any] | None, methods: list[str], plugins: list[str], where: str) -> dict[str, SceneStudy]:
    """The many-body scenes of the study, each with those of its methods that the study has."""
    found = {}
    for key, part in (settings or {}).items():
        if part is None:
            continue
        here = f"{where}.{key}"
        scene = part.get("scene", key)
        if scene not in SCENES:
            raise ConfigurationError(f"{here}: unknown scene {scene!r}; {nearest(scene, list(SCENES))}")
        wanted = part.get("methods", "all")
        able = [k for k in methods if _runs_many_bodies(k)]
        for name in wanted if wanted != "all" else ():
            if name not in METHODS:
                raise ConfigurationError(f"{here}.methods: unknown method {name!r}; {nearest(name, list(METHODS))}")
            if name in methods and name not in able:
                raise ConfigurationError(f"{here}.methods: {name!r} cannot run many bodies; leave it out")
        chosen = able if wanted == "all" else [k for k in (*wanted, *plugins) if k in able]
        if not chosen:
            continue
        steps = _rungs(part["dt"], part["horizon"], here, truncate_all=True)
        over_time = part.get("over_time", False)
        if over_time and len(steps) > 1:
            raise ConfigurationError(f"{here}.over_time: needs exactly one step size, got {len(steps)}")
        film = None
        if part.get("film"):
            film = Film(**part["film"])
            if film.method not in METHODS:
                raise ConfigurationError(f"{here}.film: unknown method {film.method!r}; {nearest(film.method, list(METHODS))}")
            if not _runs_many_bodies(film.method):
                raise ConfigurationError(f"{here}.film: {film.method!r} cannot run many bodies; name another method")
            if film.dt >= film.horizon:
                raise ConfigurationError(f"{here}.film: dt = {film.dt} is not below horizon = {film.horizon}")
        found[key] = SceneStudy(
            key=key,
            scene=scene,
            spin=None if part.get("spin") is None else float(part["spin"]),
            horizon=float(part["horizon"]),
            methods=tuple(dict.fromkeys(chosen)),
            steps=steps,
            seeds=part["seeds"],
            samples=part["samples"],
            over_time=over_time,
            film=film,
        )
    return found


def _runs_many_bodies(key: str) -> bool:
    return isinstance(METHODS[key], OneTorque) and "many body" in METHODS[key].engines


def _problem(key: str, settings: Mapping[str, Any], methods: tuple[str, ...], where: str) -> ProblemStudy:
    problem: Case = PROBLEMS[key]
    methods = tuple(m for m in methods if METHODS[m].runs(problem))
    steps = _rungs(settings["dt"], problem.horizon, where)
    long_run = None
    if settings.get("long_run"):
        run = settings["long_run"]
        # Without a closed form the exact solution is dear beyond the horizon.
        exact = run.get("exact", problem.closed_form is not None or run["horizon"] <= problem.horizon)
        long_run = LongRun(run["horizon"], run["dt"], run["samples"], exact, run.get("switched", False))
        try:
            count_steps(long_run.dt, long_run.horizon)
        except ValueError as error:
            raise ConfigurationError(f"{where}.long_run: {str(error).split(', or truncate')[0]}") from error
    targets = None
    if settings.get("targets"):
        t = settings["targets"]
        if problem.closed_form is None or not isinstance(problem, Problem):
            needs = "a closed form" if problem.closed_form is None else "one body"
            raise ConfigurationError(f"{where}.targets: needs {needs}, which {key!r} has not; write targets: null")
        if t["dt_min"] >= t["dt_max"]:
            raise ConfigurationError(f"{where}.targets: dt_min = {t['dt_min']} is not below dt_max = {t['dt_max']}")
        targets = Targets(tuple(sorted(t["errors"])), t["dt_min"], t["dt_max"], t.get("truncate", False))
    return ProblemStudy(
        problem=problem,
        methods=methods,
        steps=steps,
        samples=settings["samples"],
        means=settings.get("means", False),
        check_until=settings.get("check_until", problem.horizon),
        long_run=long_run,
        targets=targets,
    )


def _with_numbers(value: Any) -> Any:
    """The configuration with 1e-4 as the number it looks like; to YAML it is a text, for want of a decimal point."""
    if isinstance(value, Mapping):
        return {key: _with_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_numbers(item) for item in value]
    if isinstance(value, str) and re.fullmatch(r"[+-]?\d+\.?\d*[eE][+-]?\d+", value):
        return float(value)
    return value


def _check(config: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> None:
    jsonschema = _jsonschema()
    errors = sorted(jsonschema.Draft202012Validator(schema).iter_errors(config), key=lambda e: list(map(str, e.absolute_path)))
    if errors:
        raise ConfigurationError("\n".join(f"{where}: {_explain(error)}" for error in errors))


def _jsonschema() -> Any:
    """The library, imported when needed: jobs do not need it.

    Where the environment has rfc3987_syntax, jsonschema imports it for a format that no schema here uses; that takes two
    seconds, twice as long as all else at the start. It is hidden meanwhile.
    """
    name = "rfc3987_syntax"
    hidden = name not in sys.modules
    if hidden:
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        return importlib.import_module("jsonschema")
    finally:
        if hidden:
            del sys.modules[name]


def _explain(error: Any) -> str:
    """A schema error in words: the full key, what is wrong, what is allowed."""
    key = ".".join(str(p) for p in error.absolute_path) or "top level"
    if error.validator == "additionalProperties":
        allowed = list(error.schema.get("properties", {}))
        unknown = sorted(set(error.instance) - set(allowed))
        return "; ".join(f"unknown key {name!r} in {key}: {nearest(name, allowed)}" for name in unknown)
    if error.validator == "required":
        missing = sorted(set(error.schema["required"]) - set(error.instance))
        return f"{key} lacks {', '.join(map(repr, missing))}"
    if error.validator == "anyOf" and isinstance(error.instance, Mapping):
        return "; ".join(
            _explain(inner) for inner in error.context if inner.instance is not error.instance or inner.validator != "type"
        )
    if error.validator == "anyOf":
        return f"{key}: {error.schema.get('description', 'not a valid value')}; got {error.instance!r}"
    if error.validator == "exclusiveMinimum":
        return f"{key} must be greater than {error.validator_value}, got {error.instance!r}"
    return f"{key}: {error.message}"


def method(key: str) -> Method:
    """The registered method of this key."""
    found: Method = METHODS[key]
    return found
