"""The configuration of a study: validated, with defaults filled in, and expanded into the literal jobs it stands for."""

import importlib
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from polhode.methods.protocol import Method, OneTorque
from polhode.problems.problem import Case, Problem
from polhode.registry import catalogue, nearest
from polhode.simulate import MOST_STEPS, count_steps, sampled_steps
from polhode.study.estimate import LADDERS, Estimate, estimate
from polhode.study.reading import ConfigurationError, Place, dotted

__all__ = ["ConfigurationError", "Study", "resolve"]

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
#: The notebooks, in the order in which they are to be read; each is a file of the folder of that name.
NOTEBOOKS = ("tour", "choose-a-method", "many-bodies", "add-a-method", "the-reference")
#: What of a checkout is no place for results. A run writes there, and removes what is out of date.
OURS = (
    ".ci",
    ".git",
    ".github",
    ".snakemake",
    ".venv",
    "benchmarks",
    "data",
    "docs",
    "notebooks",
    "paper",
    "profiles",
    "src",
    "tests",
    "workflow",
)
#: Keys that say where results lie, what they may take and which pages show them, and nothing about the results.
ASIDE = ("results", "limits", "notebooks")


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
    notebooks: tuple[str, ...]
    plugins: tuple[Path, ...]
    estimate: Estimate
    resolved: dict[str, Any]

    @property
    def json(self) -> str:
        """The resolved configuration as one line, for the files of a run; without paths, so that it does not matter where."""
        chosen = {key: value for key, value in self.resolved.items() if key not in ASIDE}
        chosen |= {"plugins": [Path(path).name for path in chosen["plugins"]]}
        return json.dumps(_shortest(chosen), sort_keys=True)

    @property
    def plugin_methods(self) -> tuple[str, ...]:
        """Keys of the methods that came from plug-ins."""
        return tuple(k for k in self.methods if METHODS.origin(k) in self.plugins)


def resolve(config: Mapping[str, Any], home: Path, files: Iterable[str | Path] = (), *, checked: bool = False) -> Study:
    """Validate ``config`` against the schema, try and load its plug-ins and expand its ladders.

    What the user should know of a plug-in goes to standard error (:func:`polhode.study.plugins.try_out`).

    Parameters
    ----------
    config : mapping as read from YAML
    home : folder of the Snakefile; the schema and relative plug-in paths are looked up from there
    files : the files the configuration came from, of which later ones count more; those that exist are read again, strictly,
        and give messages their lines
    checked : whether it has been held against the schema, and its plug-ins tried, before: as in the jobs of a run

    Raises
    ------
    ConfigurationError
        Naming the key and what to write instead.
    """
    top = Place.of(files, config)
    config = _plain(config, top)
    if not checked:
        _check(config, yaml.safe_load((home / SCHEMA).read_text(encoding="utf-8")), top)
    plugins = [(home / path).resolve() for path in config["plugins"]]
    for i, path in enumerate(plugins):
        if not path.is_file():
            raise (top / "plugins" / i).error(f": plug-in {path} does not exist")
    try:
        if plugins and not checked:
            from polhode.study.plugins import try_out  # here, because jobs do not need it

            for remark in try_out(plugins):
                print(remark, file=sys.stderr)
        for path in plugins:
            METHODS.load(path)
    except (ValueError, FileNotFoundError) as error:
        raise (top / "plugins").error(f": {error}") from error
    known = list(METHODS)
    # Who names a plug-in wants to see it, also beside a list of methods that does not repeat its key.
    added = [key for key in known if METHODS.origin(key) in plugins]
    methods = known if config["methods"] == "all" else list(dict.fromkeys([*config["methods"], *added]))
    for key in methods:
        if key not in known:
            raise (top / "methods").error(f": unknown method {key!r}; {nearest(key, known)}")
    asked = {key: settings for key, settings in config["problems"].items() if settings is not None}
    for key, settings in asked.items():
        here = top / "problems" / key
        if key not in PROBLEMS:
            raise here.error(f": unknown problem {key!r}; {nearest(key, list(PROBLEMS))}")
        _check_ladders(settings["dt"], here / "dt")
    if not asked:
        raise (top / "problems").error(": every one is null; leave at least one in")
    checks = list(CHECKS) if config["checks"] == "all" else list(dict.fromkeys(config["checks"]))
    for key in checks:
        if key not in CHECKS:
            raise (top / "checks").error(f": unknown check {key!r}; {nearest(key, list(CHECKS))}")
    notebooks = list(NOTEBOOKS) if config["notebooks"] == "all" else list(dict.fromkeys(config["notebooks"]))
    for key in notebooks:
        if key not in NOTEBOOKS:
            raise (top / "notebooks").error(f": unknown notebook {key!r}; {nearest(key, list(NOTEBOOKS))}")
    of_problems = {key: tuple(m for m in methods if METHODS[m].runs(PROBLEMS[key])) for key in asked}
    of_scenes = _methods_of_scenes(config["many_body"] or {}, methods, added, top / "many_body")
    expected = estimate(
        config,
        {key: (PROBLEMS[key], [METHODS[m] for m in part]) for key, part in of_problems.items()},
        {key: [METHODS[m] for m in part] for key, part in of_scenes.items()},
        checks,
        notebooks,
    )
    if not checked:
        expected.check(config["limits"], top)
    problems = {key: _problem(key, asked[key], part, top / "problems" / key) for key, part in of_problems.items()}
    return Study(
        results=Path(config["results"]) if checked else results_folder(config["results"], home, top / "results"),
        digits=int(config["digits"]),
        methods=tuple(methods),
        problems=problems,
        checks=tuple(checks),
        cost=_cost(config["cost"]),
        scenes={key: _scene(key, config["many_body"][key], part, top / "many_body" / key) for key, part in of_scenes.items()},
        notebooks=tuple(notebooks),
        plugins=tuple(plugins),
        estimate=expected,
        resolved=json.loads(json.dumps(config)),
    )


def results_folder(text: str, home: Path, place: Place) -> Path:
    """The folder for what a run makes, checked: nothing that Snakemake would misread, nothing that holds what is not a result.

    Parameters
    ----------
    text : as the configuration has it; relative to ``home``, the folder of the Snakefile

    Raises
    ------
    ConfigurationError
        Saying what is wrong with it.
    """

    def refusal(reason: str) -> ConfigurationError:
        return place.error(f": {text!r} {reason}; name a folder of its own, such as results")

    if text != text.strip() or not text:
        raise refusal("is blank" if not text.strip() else "begins or ends with a blank")
    if strange := sorted({c for c in text if c in '{}*?[]"' or not c.isprintable()}):
        raise refusal(f"holds {' '.join(map(repr, strange))}, which Snakemake takes for a pattern or cannot write")
    if text.startswith("~"):
        raise refusal(f"begins with ~, which only a shell knows; write the path out, {os.path.expanduser(text)!r}, or another")
    if text.startswith("-"):
        raise refusal("begins with -, as options do")
    if any(len(part.encode()) > 255 for part in Path(text).parts):
        raise refusal("is longer than a file system allows")
    home, folder = Path(os.path.realpath(home)), Path(os.path.realpath(home / text))
    if folder == home:
        raise refusal("is the folder of the code itself")
    if folder in home.parents:
        raise refusal("holds the folder of the code")
    if folder == Path(os.path.expanduser("~")):
        raise refusal("is your home folder")
    if folder.is_relative_to(home) and (first := folder.relative_to(home).parts[0]).casefold() in OURS:
        raise refusal(f"lies in {first}, which is part of the code")
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir():
        raise refusal("is a file" if there == folder else f"cannot be made: {there} is a file")
    if not os.access(there, os.W_OK | os.X_OK):
        raise refusal(f"cannot be written: you may not write to {there}")
    return Path(text)


def many_bodies(study: Study) -> tuple[list[OneTorque], list[str]]:
    """The methods and the scenes of the library that the many-body study runs."""
    keys = dict.fromkeys(key for part in study.scenes.values() for key in part.methods)
    found = [METHODS[key] for key in keys]
    return [m for m in found if isinstance(m, OneTorque)], list(dict.fromkeys(part.scene for part in study.scenes.values()))


def _cost(settings: Mapping[str, Any] | None) -> Cost | None:
    if settings is None:
        return None
    return Cost(
        rounds=int(settings["rounds"]),
        block=float(settings["block"]),
        target_errors=tuple(sorted(map(float, settings["target_errors"]), reverse=True)),
        torque_prices=tuple(sorted(map(float, settings["torque_prices"]))),
    )


def _check_ladders(sets: Mapping[str, Any], place: Place) -> None:
    """Every ladder is of one kind."""
    for name, ladder in sets.items():
        if ladder is None:
            continue
        kinds = [kind for kind in LADDERS if ladder.get(kind) is not None]
        if not kinds:
            raise (place / name).error(f" needs {', '.join(LADDERS[:-1])} or {LADDERS[-1]}")
        if len(kinds) > 1:
            stand = " and ".join(f"{kind} ({(place / name / kind).source})" for kind in kinds)
            raise (place / name).error(
                f" has both {stand}; keep one. Files are merged: to put one kind in the place of another, write "
                f"{kinds[0]}: null beside it, or give the ladder another name"
            )
    if all(ladder is None for ladder in sets.values()):
        raise place.error(": every set of step sizes is null; leave at least one in")


def _rungs(sets: Mapping[str, Any], horizon: float, place: Place, truncate_all: bool = False) -> tuple[StepSize, ...]:
    """The step sizes of named sets, ascending; of a size that stands in several the first set counts."""
    rungs: dict[float, StepSize] = {}
    for name, ladder in sets.items():
        if ladder is None:
            continue
        truncate = ladder.get("truncate", truncate_all)
        if ladder.get("geometric") is not None:
            first, last, count = ladder["geometric"]
            values = geometric_ladder(first, last, int(count))
        elif ladder.get("divisions") is not None:
            low, high, count = ladder["divisions"]
            values = dividing_ladder(horizon, int(low), int(high), int(count))
        else:
            values = [float(v) for v in ladder["values"]]
        for dt in values:
            try:
                steps = count_steps(dt, horizon, truncate)
            except ValueError as error:
                advice = str(error).replace("truncate=True", "truncate: true in this ladder")
                raise (place / "dt" / name).error(f": {advice}") from error
            rungs.setdefault(dt, StepSize(dt, name, truncate, steps))
    return tuple(sorted(rungs.values(), key=lambda s: s.dt))


def _methods_of_scenes(
    settings: Mapping[str, Any], methods: list[str], plugins: list[str], place: Place
) -> dict[str, tuple[str, ...]]:
    """The many-body scenes of the study, each with those of its methods that the study has; scenes without any are left out."""
    found = {}
    able = [k for k in methods if _runs_many_bodies(k)]
    for key, part in settings.items():
        if part is None:
            continue
        here = place / key
        scene = part.get("scene", key)
        if scene not in SCENES:
            raise here.error(f": unknown scene {scene!r}; {nearest(scene, list(SCENES))}")
        wanted = part.get("methods", "all")
        for name in wanted if wanted != "all" else ():
            if name not in METHODS:
                raise (here / "methods").error(f": unknown method {name!r}; {nearest(name, list(METHODS))}")
            if name in methods and name not in able:
                raise (here / "methods").error(f": {name!r} cannot run many bodies; leave it out")
        _check_ladders(part["dt"], here / "dt")
        chosen = able if wanted == "all" else [k for k in (*wanted, *plugins) if k in able]
        if chosen:
            found[key] = tuple(dict.fromkeys(chosen))
    return found


def _scene(key: str, part: Mapping[str, Any], methods: tuple[str, ...], here: Place) -> SceneStudy:
    steps = _rungs(part["dt"], part["horizon"], here, truncate_all=True)
    over_time = part.get("over_time", False)
    if over_time and len(steps) > 1:
        raise (here / "over_time").error(f": needs exactly one step size, got {len(steps)}")
    film = None
    if part.get("film"):
        made = part["film"]
        film = Film(made["method"], float(made["dt"]), float(made["horizon"]), int(made["frames"]))
        if film.method not in METHODS:
            raise (here / "film").error(f": unknown method {film.method!r}; {nearest(film.method, list(METHODS))}")
        if not _runs_many_bodies(film.method):
            raise (here / "film").error(f": {film.method!r} cannot run many bodies; name another method")
        if film.dt >= film.horizon:
            raise (here / "film").error(f": dt = {film.dt} is not below horizon = {film.horizon}")
    return SceneStudy(
        key=key,
        scene=part.get("scene", key),
        spin=None if part.get("spin") is None else float(part["spin"]),
        horizon=float(part["horizon"]),
        methods=methods,
        steps=steps,
        seeds=int(part["seeds"]),
        samples=int(part["samples"]),
        over_time=over_time,
        film=film,
    )


def _runs_many_bodies(key: str) -> bool:
    return isinstance(METHODS[key], OneTorque) and "many body" in METHODS[key].engines


def _problem(key: str, settings: Mapping[str, Any], methods: tuple[str, ...], here: Place) -> ProblemStudy:
    problem: Case = PROBLEMS[key]
    steps = _rungs(settings["dt"], problem.horizon, here)
    long_run = None
    if settings.get("long_run"):
        run = settings["long_run"]
        # Without a closed form the exact solution is dear beyond the horizon.
        exact = run.get("exact", problem.closed_form is not None or run["horizon"] <= problem.horizon)
        long_run = LongRun(run["horizon"], run["dt"], int(run["samples"]), exact, run.get("switched", False))
        try:
            count_steps(long_run.dt, long_run.horizon)
        except ValueError as error:
            raise (here / "long_run").error(f": {str(error).split(', or truncate')[0]}") from error
    targets = None
    if settings.get("targets"):
        t = settings["targets"]
        if problem.closed_form is None or not isinstance(problem, Problem):
            needs = "a closed form" if problem.closed_form is None else "one body"
            raise (here / "targets").error(f": needs {needs}, which {key!r} has not; write targets: null")
        if t["dt_min"] >= t["dt_max"]:
            raise (here / "targets").error(f": dt_min = {t['dt_min']} is not below dt_max = {t['dt_max']}")
        if t["dt_max"] > problem.horizon:
            raise (here / "targets" / "dt_max").error(f" = {t['dt_max']} is longer than the run of {problem.horizon} s")
        if not t.get("truncate", False):
            raise (here / "targets").error(": the step sizes tried do not divide the time simulated; write truncate: true")
        targets = Targets(tuple(sorted(t["errors"])), t["dt_min"], t["dt_max"], t.get("truncate", False))
    return ProblemStudy(
        problem=problem,
        methods=methods,
        steps=steps,
        samples=int(settings["samples"]),
        means=settings.get("means", False),
        check_until=settings.get("check_until", problem.horizon),
        long_run=long_run,
        targets=targets,
    )


NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def _plain(value: Any, place: Place) -> Any:
    """The configuration with finite numbers and texts as keys.

    Texts that look like numbers are numbers: to YAML 1e-4 is a text for want of a point, and so is to Snakemake every number
    within braces on its command line.
    """
    if isinstance(value, Mapping):
        if strange := [key for key in value if not isinstance(key, str)]:
            said = "true or false" if isinstance(strange[0], bool) else "a number"
            raise place.error(f": the key {strange[0]!r} must be a text, to YAML it is {said}; write it in quotes")
        return {key: _plain(item, place / key) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, place / i) for i, item in enumerate(value)]
    if isinstance(value, str) and place.path != ("results",) and NUMBER.fullmatch(value):
        value = int(value) if re.fullmatch(r"[+-]?\d{1,18}", value) else float(value)
    if isinstance(value, float) and not isfinite(value):
        raise place.error(f" must be a finite number, got {value!r}")
    if isinstance(value, int) and abs(value) > MOST_STEPS:
        raise place.error(
            f" must be a number of at most 2^53, which is as far as whole numbers are exact, got {number_of(value)}"
        )
    return value


def number_of(value: int) -> str:
    """A whole number that may be too long to print."""
    return str(value) if abs(value) < 10**30 else f"one of {value.bit_length()} bits"


def _check(config: Mapping[str, Any], schema: Mapping[str, Any], top: Place) -> None:
    jsonschema = _jsonschema()
    errors = sorted(jsonschema.Draft202012Validator(schema).iter_errors(config), key=lambda e: list(map(str, e.absolute_path)))
    if errors:
        raise ConfigurationError("\n".join(dict.fromkeys(line for error in _telling(errors) for line in _explain(error, top))))


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


def _telling(errors: Iterable[Any]) -> list[Any]:
    """Without what else is wrong with a value that is of the wrong kind already."""
    errors = list(errors)
    of_wrong_kind = {tuple(error.absolute_path) for error in errors if error.validator == "type"}
    return [error for error in errors if error.validator == "type" or tuple(error.absolute_path) not in of_wrong_kind]


def _shortest(value: Any) -> Any:
    """The same with whole numbers as such: 1e3 and 1000 are one choice and not two."""
    if isinstance(value, dict):
        return {key: _shortest(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shortest(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < MOST_STEPS else value


#: What a value must be, by the words of the schema.
KINDS = {
    "number": "a number",
    "integer": "a whole number",
    "string": "a text",
    "array": "a list",
    "object": "keys with values of their own",
    "boolean": "true or false",
    "null": "null",
}


def _kinds(types: Any) -> str:
    return " or ".join(KINDS[name] for name in ([types] if isinstance(types, str) else types))


def _brief(value: Any) -> str:
    """A value as YAML has it, cut where it is long."""
    text = {None: "null", True: "true", False: "false"}[value] if value is None or isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _explain(error: Any, top: Place) -> list[str]:
    """A schema error in words, a line each: file and line, the full key, what is wrong, what is allowed."""
    path = list(error.absolute_path)
    here = top.at(path)
    value, wanted = error.instance, error.validator_value
    about = error.schema.get("description", "") if isinstance(error.schema, Mapping) else ""
    match error.validator:
        case "additionalProperties":
            allowed = list(error.schema.get("properties", {}))
            unknown = sorted(set(value) - set(allowed))
            in_ = dotted(tuple(path))
            return [f"{(here / name).source}: unknown key {name!r} in {in_}: {nearest(name, allowed)}" for name in unknown]
        case "required":
            missing = [key for key in wanted if key not in value]
            return [f"{here} lacks {', '.join(map(repr, missing))}"]
        case "anyOf":
            # What is meant is the branch of the value's own kind; what is wrong inside of it says more than that none fits.
            branches: dict[int, list[Any]] = {}
            for inner in error.context:
                branches.setdefault(inner.schema_path[0], []).append(inner)
            for inners in branches.values():
                if not any(len(inner.path) == 0 and inner.validator in ("type", "const") for inner in inners):
                    return [line for inner in _telling(inners) for line in _explain(inner, top)]
            kinds = [inner.validator_value for inners in branches.values() for inner in inners if inner.validator == "type"]
            if any(inner.validator == "const" for inner in error.context):  # a word that the description names
                return [f"{here}: {about}; got {_brief(value)}"]
            return [f"{here} must be {' or '.join(_kinds(kind) for kind in reversed(kinds))}, got {_brief(value)}"]
        case "type":
            return [f"{here} must be {_kinds(wanted)}, got {_brief(value)}"]
        case "exclusiveMinimum":
            return [f"{here} must be greater than {wanted}, got {_brief(value)}"]
        case "minimum":
            return [f"{here} must be at least {wanted}, got {_brief(value)}"]
        case "maximum":
            return [f"{here} must be at most {wanted}, got {_brief(value)}"]
        case "minItems" | "maxItems" | "minProperties" | "minLength":
            return [f"{here} must be {about}; got {_brief(value)}" if value else f"{here} must not be empty"]
        case "uniqueItems":
            again = [item for i, item in enumerate(value) if item in value[:i]]
            return [f"{here} holds {_brief(again[0])} twice; keep one"]
        case "pattern":
            return [f"{here}: {about or error.message}; got {_brief(value)}"]
    return [f"{here}: {error.message}"]


def method(key: str) -> Method:
    """The registered method of this key."""
    found: Method = METHODS[key]
    return found
