"""A study as described by a configuration: plug-ins loaded, names looked up and ladders expanded."""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from polhode.ensembles.classes import CLASSES
from polhode.interface.reading import WORDS_THAT_ARE_TRUTHS, ConfigurationError, Place
from polhode.manybody.fluid import Fluid
from polhode.manybody.forces import FORCES
from polhode.manybody.scenes import SCENES
from polhode.methods import METHODS
from polhode.methods.protocol import Method, OneTorque
from polhode.problems import PROBLEMS
from polhode.problems.problem import Case, Problem
from polhode.registry import Registry, load_file, nearest
from polhode.simulate import MOST_STEPS, count_steps, sampled_steps
from polhode_study.checks import CHECKS
from polhode_study.estimate import CLUMPS, Requirements, estimate
from polhode_study.macro_names import check_distinct
from polhode_study.released import ENSEMBLES, FOLDER, INDEX, MANY_BODY, SINGLE_BODY, Release, check_file, computed

# Only a process that resolves a configuration needs the models and pydantic, not one that names the files of a job.
if TYPE_CHECKING:
    from polhode_study.configuration import models
    from polhode_study.configuration.models import Configuration, Cost, Film, LadderSection, Targets

#: The notebooks in reading order; each is a file of the folder of that name.
NOTEBOOKS = ("tour", "choose-a-method", "many-bodies", "liquids", "heat-baths", "add-a-method", "the-reference")
#: Parts of a checkout that cannot hold results: a run writes to its folder and removes outdated files there.
CHECKOUT_FOLDERS = (
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
#: Keys on which no result depends: where results are, limits of resources, pages, and what is taken from the release.
WITHOUT_EFFECT = ("results", "limits", "notebooks", "further")


def step_name(dt: float) -> str:
    """The name of a step size in paths: the shortest decimal equal to this number, e.g. ``1e-05``."""
    return repr(float(dt))


@dataclass(frozen=True)
class StepSize:
    """One rung of a ladder: the step in s, its set, and whether the run may end before the horizon.

    ``methods`` are the only ones that run with it; None: all of the problem or scene.
    """

    dt: float
    set_name: str
    truncate: bool
    steps: int
    methods: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """The name of the step size in paths."""
        return step_name(self.dt)

    @property
    def end_time(self) -> float:
        """The end of the run, s: the number of steps times dt."""
        return self.steps * self.dt

    def runs(self, method: str) -> bool:
        """Whether a method of the problem or scene runs with it."""
        return self.methods is None or method in self.methods


@dataclass(frozen=True)
class LongRun:
    """One run per method, sampled along the way; usually far beyond the horizon.

    ``exact``: compared with the exact solution, not only by conserved quantities. ``switched``: repeated with normalisation
    switched, on for methods without it and off for methods with it.
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
class SceneStudy:
    """The runs on one many-body scene: every method with every step from every seed.

    ``key`` names it in files, ``scene`` is the key of the scene; ``spin`` is in rad/s, None for that of the scene.
    ``over_time``: the energy along each run is stored, not only its summary. ``timed``: the methods of which a step is timed
    for the cost study. ``computed``: the methods that are run, the others are taken from the release; None: all.
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
    timed: tuple[str, ...]
    film: "Film | None"
    computed: tuple[str, ...] | None = None

    def step(self, name: str) -> StepSize:
        """The rung with this name in paths."""
        return next(s for s in self.steps if s.name == name)


@dataclass(frozen=True)
class ProblemStudy:
    """The runs on one problem. ``computed``: the methods that are run, the others are taken from the release; None: all."""

    problem: Case
    methods: tuple[str, ...]
    steps: tuple[StepSize, ...]
    samples: int
    means: bool
    check_until: float
    long_run: LongRun | None
    targets: "Targets | None"
    computed: tuple[str, ...] | None = None

    def step(self, name: str) -> StepSize:
        """The rung with this name in paths."""
        return next(s for s in self.steps if s.name == name)

    def sets(self, method: str) -> list[str]:
        """The sets of step sizes that a method runs."""
        return list(dict.fromkeys(step.set_name for step in self.steps if step.runs(method)))

    def long_run_methods(self, switched: bool) -> list[str]:
        """The methods with a long run, or with one with the normalisation switched; none if there is no such run."""
        if self.long_run is None or (switched and not self.long_run.switched):
            return []
        return [key for key in self.methods if not switched or METHODS[key].normalisable]

    def reference_times(self) -> np.ndarray:
        """All times, in s, at which a quantity is compared with the exact solution; ascending, without repetition.

        They comprise a grid for pictures, the end of every run, the times at which methods store their own angular velocity,
        the samples of the long run if it is compared, and those of every run whose errors are averaged over time.
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
class EnsembleStudy:
    """The runs on random bodies: every method under every class of torque with every step.

    ``classes`` are keys of :data:`polhode.ensembles.classes.CLASSES`; ``steps`` (descending) and ``radians`` (ascending) are in
    radians turned at the initial angular velocity. ``computed``: the methods that are run, the others are taken from the
    release; None: all.
    """

    bodies: int
    seed: int
    classes: tuple[str, ...]
    methods: tuple[str, ...]
    steps: tuple[float, ...]
    radians: tuple[float, ...]
    computed: tuple[str, ...] | None = None

    @property
    def drawn(self) -> dict[str, Any]:
        """The settings on which the draw and its exact states depend."""
        return {"bodies": self.bodies, "seed": self.seed, "classes": list(self.classes), "radians": list(self.radians)}

    @property
    def total_steps(self) -> int:
        """The number of steps of one method on all bodies."""
        return len(self.classes) * self.bodies * sum(round(self.radians[-1] / step) for step in self.steps)


Studied = TypeVar("Studied", ProblemStudy, SceneStudy, EnsembleStudy)


def _alone(study: Studied) -> Studied:
    """The part of a study that is run: without the methods that are taken from the release."""
    return study if study.computed is None else replace(study, methods=study.computed, computed=None)


@dataclass(frozen=True)
class Study:
    """A validated configuration.

    ``release``: what is not computed is taken from it; None if everything is computed. ``witnessed``: the checks that are.
    """

    results: Path
    digits: int
    methods: tuple[str, ...]
    problems: dict[str, ProblemStudy]
    checks: tuple[str, ...]
    cost: "Cost | None"
    scenes: dict[str, SceneStudy]
    ensembles: EnsembleStudy | None
    notebooks: tuple[str, ...]
    plugins: tuple[Path, ...]
    estimate: Requirements
    resolved: dict[str, Any]
    release: Release | None = None
    witnessed: tuple[str, ...] = ()

    @cached_property
    def computed(self) -> "Study":
        """The part of the study that is run: without the methods that are taken from the release."""
        return replace(
            self,
            problems={key: _alone(problem) for key, problem in self.problems.items()},
            scenes={key: _alone(scene) for key, scene in self.scenes.items()},
            ensembles=None if self.ensembles is None else _alone(self.ensembles),
        )

    @property
    def json(self) -> str:
        """The resolved configuration as one line, for the files of a run; without paths, as the location does not matter."""
        chosen = {key: value for key, value in self.resolved.items() if key not in WITHOUT_EFFECT}
        chosen |= {"plugins": [Path(path).name for path in chosen["plugins"]]}
        return json.dumps(_shortest(chosen), sort_keys=True)

    @property
    def plugin_methods(self) -> tuple[str, ...]:
        """Keys of the methods loaded from plug-ins."""
        return tuple(k for k in self.methods if METHODS.origin(k) in self.plugins)


def resolve(config: Mapping[str, Any], home: Path, files: Iterable[str | Path] = (), *, checked: bool = False) -> Study:
    """The study described by ``config``: validated, with its plug-ins tested and loaded and its ladders expanded.

    Remarks about plug-ins are printed to standard error (:func:`polhode.interface.plugins.try_out`).

    Parameters
    ----------
    config : mapping as read from YAML
    home : folder of the Snakefile
    files : the files of the configuration, later ones taking precedence; existing ones are read again, strictly, so that
        messages include line numbers
    checked : whether plug-ins, limits and results have been checked before, as in the jobs of a run

    Raises
    ------
    ConfigurationError
        Naming the key and what to write instead.
    """
    from pydantic import ValidationError

    from polhode_study.configuration.models import Configuration

    top = Place.of(files, config)
    config = _plain(config, top)
    try:
        settings = Configuration.model_validate(config)
    except ValidationError as error:
        from polhode_study.configuration.words import refusal  # imported here because only an error needs it

        raise refusal(error, top) from None
    plugins = [_plugin(path, home, top / "plugins", i) for i, path in enumerate(settings.plugins)]
    try:
        if plugins and not checked:
            from polhode.interface.plugins import try_out  # imported here because jobs do not need it

            for remark in try_out(plugins):
                print(remark, file=sys.stderr)
        for path in plugins:
            load_file(path, (METHODS, PROBLEMS, SCENES, FORCES))
    except (ValueError, FileNotFoundError) as error:
        raise (top / "plugins").error(f": {error}") from error
    if not checked:
        for line in _left_alone(plugins, settings):
            print(line, file=sys.stderr)
    # Naming a plug-in is a request to include it, even next to a list of methods that does not repeat its key.
    added = [key for key in METHODS if METHODS.origin(key) in plugins]
    methods = list(dict.fromkeys([*_chosen("method", settings.methods, METHODS, top / "methods"), *added]))
    try:
        check_distinct(list(METHODS))
    except ValueError as error:
        raise (top / "plugins").error(f": {error}") from error
    problems = {key: section for key, section in settings.problems.items() if section is not None}
    for key in problems:
        _known("problem", key, PROBLEMS, top / "problems" / key)
    checks = _chosen("check", settings.checks, CHECKS, top / "checks")
    notebooks = _chosen("notebook", settings.notebooks, NOTEBOOKS, top / "notebooks")
    of_problems = {key: tuple(m for m in methods if METHODS[m].runs(PROBLEMS[key])) for key in problems}
    scenes = {key: section for key, section in (settings.many_body or {}).items() if section is not None}
    of_scenes = _methods_of_scenes(scenes, methods, added, top / "many_body")
    ensembles = _ensembles(settings.ensembles, methods, added, top / "ensembles")
    resolved = json.loads(json.dumps(config))
    release = _release(settings, home, top / "further")
    shares = _Shares(release, _shortest(resolved), methods)
    computed_of = {key: shares.of("problems", SINGLE_BODY, key, keys) for key, keys in of_problems.items()}
    computed_in = {key: shares.of("many_body", MANY_BODY, key, keys) for key, keys in of_scenes.items()}
    ensembles = shares.of_ensembles(ensembles)
    witnessed = shares.of_checks(checks)

    def run(keys: Sequence[str]) -> list[Method]:
        return [METHODS[key] for key in keys]

    def clumps(scene: str) -> int:
        """The number of clumps, for the estimate; of the library's scenes about so many: to make their shapes takes seconds."""
        return len(SCENES[scene]) if scene in SCENES.plugins() and not checked else CLUMPS

    expected = estimate(
        settings,
        {key: (PROBLEMS[key], run(computed_of[key] or keys)) for key, keys in of_problems.items()},
        {key: (clumps(scenes[key].scene or key), run(computed_in[key] or keys)) for key, keys in of_scenes.items()},
        checks,
        notebooks,
        None if ensembles is None else (run(ensembles.computed or ensembles.methods), len(ensembles.classes)),
        witnessed,
    )
    if not checked:
        expected.check(settings.limits, top)
    return Study(
        results=Path(settings.results) if checked else results_folder(settings.results, home, top / "results"),
        digits=settings.digits,
        methods=tuple(methods),
        problems={
            key: _problem(key, problems[key], keys, computed_of[key], top / "problems" / key)
            for key, keys in of_problems.items()
        },
        checks=checks,
        cost=settings.cost,
        scenes={
            key: _scene(key, scenes[key], keys, computed_in[key], top / "many_body" / key) for key, keys in of_scenes.items()
        },
        ensembles=ensembles,
        notebooks=notebooks,
        plugins=tuple(plugins),
        estimate=expected,
        resolved=resolved,
        release=release,
        witnessed=witnessed,
    )


def _release(settings: "Configuration", home: Path, place: Place) -> Release | None:
    """The release that a study takes further experiments from; None if it computes everything."""
    if settings.further == "computed":
        return None
    release = Release(home / FOLDER)
    try:
        if release.index["methods"] and release.index["run"]["configuration"]:
            return release
    except (OSError, ValueError, LookupError, TypeError):
        pass
    raise place.error(
        f": {release.folder / INDEX} is missing or damaged; take it from the repository again, or write further: computed"
    )


@dataclass(frozen=True)
class _Shares:
    """What a study computes of each experiment, and what it takes from the release; ``resolved`` is its configuration."""

    release: Release | None
    resolved: Mapping[str, Any]
    methods: Sequence[str]

    def of(self, section: str, file: str, key: str, methods: Sequence[str]) -> tuple[str, ...] | None:
        """The methods that a problem or scene computes; None: all, because the release has no such runs."""
        settings = (self.resolved[section] or {}).get(key)
        if self.release is None or not self.release.has(section, key, settings, self.resolved["digits"]):
            return None
        return computed(section, key, methods, self.release.methods(file, key))

    def of_ensembles(self, study: EnsembleStudy | None) -> EnsembleStudy | None:
        """The runs on random bodies, with the methods that are computed."""
        if self.release is None or study is None:
            return study
        if not self.release.has("ensembles", "", self.resolved["ensembles"], self.resolved["digits"]):
            return study
        return replace(study, computed=computed("ensembles", "", study.methods, self.release.methods(ENSEMBLES)))

    def of_checks(self, checks: Sequence[str]) -> tuple[str, ...]:
        """The checks that are taken from the release: those that name their methods only if the study has all methods."""
        if self.release is None:
            return ()
        made = self.release.index["run"]["configuration"]
        if (self.resolved["ensembles"] or {}).get("seed") != (made["ensembles"] or {}).get("seed"):
            return ()
        every = set(self.release.methods("")) <= set(self.methods)
        return tuple(
            check
            for check in checks
            if CHECKS[check].witness is not None
            and check_file(check) in self.release.index["files"]
            and (every or CHECKS[check].all_methods)
        )


def _plugin(path: str, home: Path, place: Place, position: int) -> Path:
    """The file of a plug-in: relative to the configuration file that names it, or to the folder of the Snakefile."""
    folders = [folder for folder in (place.folder, home) if folder is not None]
    candidates = list(dict.fromkeys((folder / path).resolve() for folder in folders))
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise (place / position).error(f": plug-in {' or '.join(map(str, candidates))} does not exist")


def _left_alone(plugins: Sequence[Path], settings: "Configuration") -> Iterator[str]:
    """Remarks on problems and scenes of plug-ins that the configuration does not run; methods are run automatically."""
    run = {key for key, problem in settings.problems.items() if problem is not None}
    staged = {scene.scene or key for key, scene in (settings.many_body or {}).items() if scene is not None}
    for registry, used, section in ((PROBLEMS, run, "problems"), (SCENES, staged, "many_body")):
        for key, path in registry.plugins().items():
            if path in plugins and key not in used:
                yield f"plug-in {path}: the {registry.kind} {key!r} is not run; name it under {section}: to run it"


def _chosen(kind: str, names: Literal["all"] | Sequence[str], known: Iterable[str], place: Place) -> tuple[str, ...]:
    """The names listed by a key, each once; all names where it says so."""
    chosen = tuple(known if names == "all" else dict.fromkeys(names))
    for name in chosen:
        _known(kind, name, known, place)
    return chosen


def _known(kind: str, name: str, known: Iterable[str], place: Place) -> None:
    """Refuse a name that does not exist."""
    if name not in known:
        near = known.nearest(name) if isinstance(known, Registry) else nearest(name, list(known))
        raise place.error(f": unknown {kind} {name!r}; {near}")


def results_folder(text: str, home: Path, place: Place) -> Path:
    """The results folder, checked: a path that Snakemake reads correctly, and no folder that holds other things than results.

    Parameters
    ----------
    text : the entry in the configuration; relative to ``home``, the folder of the Snakefile

    Raises
    ------
    ConfigurationError
        If the folder cannot be used; the message says why.
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
    if any(len(name.encode()) > 255 for name in Path(text).parts):
        raise refusal("is longer than a file system allows")
    home, folder = Path(os.path.realpath(home)), Path(os.path.realpath(home / text))
    if folder == home:
        raise refusal("is the folder of the code itself")
    if folder in home.parents:
        raise refusal("holds the folder of the code")
    if folder == Path(os.path.expanduser("~")):
        raise refusal("is your home folder")
    if folder.is_relative_to(home) and (first := folder.relative_to(home).parts[0]).casefold() in CHECKOUT_FOLDERS:
        raise refusal(f"lies in {first}, which is part of the code")
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir():
        raise refusal("is a file" if existing == folder else f"cannot be made: {existing} is a file")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise refusal(f"cannot be written: you may not write to {existing}")
    return Path(text)


def _rungs(
    sets: "Mapping[str, LadderSection | None]", horizon: float, methods: Sequence[str], place: Place, truncate_all: bool = False
) -> tuple[StepSize, ...]:
    """The step sizes of named sets, ascending, that at least one of ``methods`` runs.

    A size in several sets belongs to the first of them and is run by the methods of all.
    """
    rungs: dict[float, StepSize] = {}
    for name, ladder in sets.items():
        if ladder is None:
            continue
        truncate = truncate_all if ladder.truncate is None else ladder.truncate
        only = _only(ladder.methods, methods, place / "dt" / name / "methods")
        if only == ():
            continue
        for dt in _values(ladder, horizon):
            try:
                steps = count_steps(dt, horizon, truncate)
            except ValueError as error:
                advice = str(error).replace("truncate=True", "truncate: true in this ladder")
                raise (place / "dt" / name).error(f": {advice}") from error
            first = rungs.setdefault(dt, StepSize(dt, name, truncate, steps, only))
            if first.methods is not None:
                both = None if only is None else tuple(m for m in methods if m in first.methods or m in only)
                rungs[dt] = replace(first, methods=None if both is None or len(both) == len(methods) else both)
    if not rungs:
        raise (place / "dt").error(": every set of step sizes has a list of methods, and none of the study is in them; add one")
    return tuple(sorted(rungs.values(), key=lambda s: s.dt))


def _only(names: Literal["all"] | tuple[str, ...], methods: Sequence[str], place: Place) -> tuple[str, ...] | None:
    """The methods that a key at ``place`` names as the only ones, the user's own among them; None: all."""
    if names == "all":
        return None
    _chosen("method", names, METHODS, place)
    plugins = METHODS.plugins()
    chosen = tuple(m for m in methods if m in names or m in plugins)
    return chosen if len(chosen) < len(methods) else None


def _values(ladder: "LadderSection", horizon: float) -> Sequence[float]:
    """The step sizes of a ladder, s."""
    if ladder.geometric is not None:
        # Six digits keep file names short, and move an error curve by less than its line width.
        return [float(f"{x:.6g}") for x in np.geomspace(*ladder.geometric)]
    if ladder.divisions is not None:
        return [horizon / int(n) for n in np.unique(np.rint(np.geomspace(*ladder.divisions)))]
    return ladder.values or ()


def _methods_of_scenes(
    scenes: "Mapping[str, models.SceneSection]", methods: list[str], plugins: list[str], place: Place
) -> dict[str, tuple[str, ...]]:
    """The many-body scenes, each with its methods that belong to the study; scenes without methods are omitted."""
    methods_by_scene = {}
    able = [k for k in methods if _runs_many_bodies(k)]
    for key, section in scenes.items():
        scene_place = place / key
        scene = section.scene or key
        _known("scene", scene, SCENES, scene_place)
        if isinstance(SCENES[scene], Fluid):
            raise scene_place.error(f": {scene!r} is a liquid; many_body studies clumps in a box")
        chosen = able
        if section.methods != "all":
            for name in _chosen("method", section.methods, METHODS, scene_place / "methods"):
                if name in methods and name not in able:
                    raise (scene_place / "methods").error(f": {name!r} cannot run many bodies; leave it out")
            chosen = [k for k in dict.fromkeys([*section.methods, *plugins]) if k in able]
        if chosen:
            methods_by_scene[key] = tuple(chosen)
    return methods_by_scene


def _scene(
    key: str, section: "models.SceneSection", methods: tuple[str, ...], computed: tuple[str, ...] | None, place: Place
) -> SceneStudy:
    steps = _rungs(section.dt, section.horizon, methods, place, truncate_all=True)
    if section.over_time and len(steps) > 1:
        raise (place / "over_time").error(f": needs exactly one step size, got {len(steps)}")
    if section.film is not None:
        name = section.film.method
        _known("method", name, METHODS, place / "film")
        if not _runs_many_bodies(name):
            raise (place / "film").error(f": {name!r} cannot run many bodies; name another method")
    timed = () if section.timed == () else _only(section.timed, methods, place / "timed")
    return SceneStudy(
        key=key,
        scene=section.scene or key,
        spin=section.spin,
        horizon=section.horizon,
        methods=methods,
        steps=steps,
        seeds=section.seeds,
        samples=section.samples,
        over_time=section.over_time,
        timed=methods if timed is None else timed,
        film=section.film,
        computed=computed,
    )


def _ensembles(
    section: "models.Ensembles | None", methods: list[str], plugins: list[str], place: Place
) -> EnsembleStudy | None:
    """The runs on random bodies by the methods of the study; None if there are none."""
    if section is None:
        return None
    classes = _chosen("torque class", section.classes, CLASSES, place / "classes")
    names = methods if section.methods == "all" else [*section.methods, *plugins]
    chosen = tuple(key for key in _chosen("method", names, METHODS, place / "methods") if key in methods)
    steps = tuple(section.steps.coarse / 2**i for i in range(section.steps.halvings + 1))
    # In the order of the library, so that the order in the list does not matter.
    classes = tuple(key for key in CLASSES if key in classes)
    return EnsembleStudy(section.bodies, section.seed, classes, chosen, steps, section.radians) if chosen else None


def _runs_many_bodies(key: str) -> bool:
    return isinstance(METHODS[key], OneTorque) and "many body" in METHODS[key].engines


def _problem(
    key: str, section: "models.ProblemSection", methods: tuple[str, ...], computed: tuple[str, ...] | None, place: Place
) -> ProblemStudy:
    problem = PROBLEMS[key]
    steps = _rungs(section.dt, problem.horizon, methods, place)
    long_run = None
    if section.long_run is not None:
        run = section.long_run
        exact = run.exact
        if exact is None:
            # Without a closed form the exact solution is expensive beyond the horizon.
            exact = problem.has_closed_form or run.horizon <= problem.horizon
        long_run = LongRun(run.horizon, run.dt, run.samples, exact, run.switched)
        try:
            count_steps(long_run.dt, long_run.horizon)
        except ValueError as error:
            raise (place / "long_run").error(f": {str(error).split(', or truncate')[0]}") from error
    if section.targets is not None:
        if not problem.has_closed_form or not isinstance(problem, Problem):
            needs = "one body" if problem.has_closed_form else "a closed form"
            raise (place / "targets").error(f": needs {needs}, which {key!r} does not have; write targets: null")
        if section.targets.dt_max > problem.horizon:
            from polhode_study.configuration.models import shown

            longest = shown(section.targets.dt_max)
            raise (place / "targets" / "dt_max").error(f" = {longest} is longer than the run of {problem.horizon} s")
    return ProblemStudy(
        problem=problem,
        methods=methods,
        steps=steps,
        samples=section.samples,
        means=section.means,
        check_until=problem.horizon if section.check_until is None else section.check_until,
        long_run=long_run,
        targets=section.targets,
        computed=computed,
    )


NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def _plain(value: Any, place: Place) -> Any:
    """The configuration with finite numbers, and with texts as keys.

    Texts that look like numbers are converted: YAML reads 1e-4 as text because it has no decimal point, and Snakemake does so
    with every number within braces on its command line.
    """
    if isinstance(value, Mapping):
        if strange := [key for key in value if not isinstance(key, str)]:
            said = WORDS_THAT_ARE_TRUTHS if isinstance(strange[0], bool) else "YAML reads it as a number; write it in quotes"
            raise place.error(f": the key {strange[0]!r} must be a string, but {said}")
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
    """A whole number as text, shortened if it is too long to print."""
    return str(value) if abs(value) < 10**30 else f"one of {value.bit_length()} bits"


def _shortest(value: Any) -> Any:
    """The value with whole floats as integers: 1e3 and 1000 are the same choice."""
    if isinstance(value, dict):
        return {key: _shortest(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shortest(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < MOST_STEPS else value


def method(key: str) -> Method:
    """The registered method with this key."""
    return METHODS[key]
