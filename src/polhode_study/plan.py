"""The jobs of a study in the form that the workflow's rules need: file names, parameters, and hashes of the code behind files.

They are defined in one place, so that the names written by the rules and those read by the gathering cannot disagree.

A file holds what a person edits and asks for: the runs of one method on one problem with one named set of step sizes, or on one
scene with one step size from all initial states. Files of single step sizes would be 90 % of all files, and each would
take longer to keep account of than to compute. A job makes the files of as many methods as take about twenty seconds together
(:data:`PART_SECONDS`), so that the default study has fewer than 100 jobs.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property, partial
from itertools import accumulate, chain, count
from pathlib import Path
from typing import Any, TypeVar

from polhode.interface.storage import job_text
from polhode.manybody.scenes import SCENES
from polhode.methods import METHODS
from polhode.problems import PROBLEMS
from polhode.problems.system import System
from polhode.simulate import count_steps
from polhode_study.artefacts import ARTEFACTS, Names, Role, kind_of
from polhode_study.checks import CHECKS, WITNESS
from polhode_study.configuration import ProblemStudy, SceneStudy, StepSize, Study
from polhode_study.estimate import (
    CHECKED_AGAIN,
    DIGITS,
    FILE,
    LOADING_ENSEMBLE,
    LOADING_MANY,
    POWER,
    REFERENCE_TIME,
    RUN,
    STEP,
    STEP_OF_MANY,
    TAYLOR,
    step_seconds,
)
from polhode_study.fingerprint import fingerprint, named_methods
from polhode_study.released import COMPUTED, FOLDER, INDEX, TIMED, check_file, witness_settings
from polhode_study.workflow.starting import Noted

#: Target for the duration of a job that runs several methods, s, as far as it can be estimated in advance. Starting a job costs
#: two or three seconds; a cluster favours few jobs, a machine with many cores more than one.
PART_SECONDS = 20.0
#: Cost of a search for target errors, in runs with the finest step allowed: few methods need such a step.
SEARCH_RUNS = 1

#: The kinds of files with runs of one method on one problem; the method comes last among their names.
SINGLE_BODY = ("runs", "long_runs", "long_runs_switched", "targets")
#: A method and the name of one of its step sizes: what it runs on a scene from all seeds.
MethodStep = tuple[str, str]
#: The settings on which a file depends apart from the names in its path, and the hash of the code behind it.
Dependencies = tuple[dict[str, Any], str]


def deferred(function: Callable[..., Any], *arguments: Any) -> Callable[[Any], Any]:
    """A parameter of a rule that is worked out when Snakemake asks for it, which it does for the jobs that it plans.

    Every job reads all rules again; otherwise each would hash the code and settings of all others.
    """
    return lambda wildcards: function(*arguments)


class Plan:
    """Everything that the rules need from a study. Methods that take ``wildcards`` serve as input and parameter functions."""

    def __init__(self, study: Study, home: Path) -> None:
        self.study = study
        self.home = home
        self.results = str(study.results)
        self.simulation_code = cache(self._simulation_code)
        self.search_code = cache(self._search_code)
        self.many_body_run_code = cache(self._many_body_run_code)
        self._names: dict[str, tuple[Names, ...]] = {}

    # Files to be made.

    def names(self, kind: str) -> Iterable[Names]:
        """The names of the files of a kind in this study, as :meth:`Artefact.filled` takes them."""
        if kind not in self._names:
            artefact = ARTEFACTS[kind]
            self._names[kind] = tuple(artefact.names_in(self.study.computed if artefact.role is Role.RUN else self.study))
        return self._names[kind]

    def files(self, kind: str, names: Iterable[Names] | None = None) -> list[str]:
        """Paths of the files of a kind, a key of :data:`ARTEFACTS`: those of these names, by default all of this study."""
        return [f"{self.results}/{ARTEFACTS[kind].filled(name)}" for name in (self.names(kind) if names is None else names)]

    def path(self, kind: str, *names: str) -> str:
        """The path of one file of a kind, from the names in it."""
        return f"{self.results}/{ARTEFACTS[kind].filled(names)}"

    def files_of(self, *roles: Role) -> list[str]:
        """Paths of all files with these roles in this study."""
        return [path for kind, artefact in ARTEFACTS.items() if artefact.role in roles for path in self.files(kind)]

    def origin(self, path: str) -> str:
        """What a file that a job computes must record about its origin, see :func:`~polhode.interface.storage.job_text`."""
        name = path.removeprefix(f"{self.results}/")
        artefact = kind_of(name)
        assert artefact is not None, path
        names = artefact.match(name) or {}
        settings, code = self._dependencies[artefact.key](**names)
        return job_text(artefact.key, names, settings, code)

    def origins(self, paths: Iterable[str]) -> dict[str, str]:
        """For each file of a job, its path -> what it must record about its origin."""
        return Noted({path: self.origin(path) for path in paths})

    def origin_by_wildcards(self, kind: str) -> Callable[[Any], dict[str, str]]:
        """The same for the one file of a rule with wildcards: a parameter of the rule."""
        return lambda wildcards: self.origins([self.path(kind, *wildcards)])

    @cached_property
    def _dependencies(self) -> dict[str, Callable[..., Dependencies]]:
        """Kind of file -> a function of the names in its path: the settings and the code on which it depends."""
        return {
            "references": self._reference,
            "runs": self._runs,
            "long_runs": partial(self._long_run, switched=False),
            "long_runs_switched": partial(self._long_run, switched=True),
            "targets": self._targets,
            "checks": self._check,
            "many_body_runs": self._many_body,
            "films": self._film,
            "ensemble_states": self._ensemble_states,
            "ensemble_runs": self._ensemble,
        }

    # References.

    @cached_property
    def reference_parts(self) -> tuple[tuple[str, ...], ...]:
        """The problems of each job on references: as many as take about :data:`PART_SECONDS`."""
        seconds = [reference_seconds(problem, self.study.digits) for problem in self.study.problems.values()]
        return _in_parts(list(self.study.problems), seconds)

    def reference_times(self, problems: Sequence[str]) -> dict[str, list[float]]:
        """The times of each reference of a job, s."""
        return Noted({key: self.study.problems[key].reference_times().tolist() for key in problems})

    def _reference(self, problem: str) -> Dependencies:
        study = self.study.problems[problem]
        times = hashlib.sha256(study.reference_times().tobytes()).hexdigest()[:16]
        settings = {"digits": self.study.digits, "check_until": study.check_until, "times": times}
        return settings, fingerprint("polhode_study.run.reference", PROBLEMS.origin(problem), *self._solution(problem))

    # Single bodies.

    def _runs(self, problem: str, steps: str, method: str) -> Dependencies:
        study = self.study.problems[problem]
        settings = run_settings(study, [step for step in study.steps if step.set_name == steps and step.runs(method)])
        return settings, self.simulation_code(problem, method)

    def _long_run(self, problem: str, method: str, switched: bool) -> Dependencies:
        run = self.study.problems[problem].long_run
        assert run is not None
        settings = {"horizon": run.horizon, "samples": run.samples, "switched": switched, "dt": {run.name: False}}
        return settings, self.simulation_code(problem, method)

    def _targets(self, problem: str, method: str) -> Dependencies:
        targets = self.study.problems[problem].targets
        assert targets is not None
        settings = vars(targets) | {"errors": list(targets.errors)}
        return settings, self.search_code(problem) + self.simulation_code(problem, method)

    @cached_property
    def parts(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """The methods of each job, grouped by problem.

        Every job is a process that starts with imports, so it covers enough methods for about :data:`PART_SECONDS` of runs.
        Each problem begins with a different method, and every second one of those that share compiled code goes through them
        backwards: code compiled by one job is found on disk by the next, also where two start at the same time.
        """
        methods_of_jobs = {}
        numbers = {several: count() for several in (False, True)}
        for key, study in self.study.computed.problems.items():
            if key in self.witnessed_problems:
                continue
            number = next(numbers[isinstance(study.problem, System)])
            way = -1 if number % 2 else 1
            parts = _in_parts(study.methods, [method_seconds(study, method) for method in study.methods])
            turns = (5 * number % len(methods) for methods in parts)
            methods_of_jobs[key] = tuple((methods[i:] + methods[:i])[::way] for i, methods in zip(turns, parts, strict=True))
        return methods_of_jobs

    @cached_property
    def witnessed_problems(self) -> tuple[str, ...]:
        """The problems of which only witnesses are run, by one job for all of them."""
        problems = self.study.problems.items()
        return tuple(key for key, problem in problems if problem.computed is not None and ("problems", key) not in COMPUTED)

    @cached_property
    def witnessed_scenes(self) -> tuple[str, ...]:
        """The scenes of which only witnesses are run."""
        scenes = self.study.scenes.items()
        return tuple(key for key, scene in scenes if scene.computed is not None and ("many_body", key) not in COMPUTED)

    def witness_paths(self, *kinds: str) -> list[str]:
        """Paths of the runs of these kinds that are witnesses."""
        alone = {*self.witnessed_problems, *self.witnessed_scenes}
        return [self.path(kind, *names) for kind in kinds for names in self.names(kind) if names[0] in alone]

    def part_paths(self, problem: str, methods: Sequence[str]) -> list[str]:
        """Paths of the files made by a job on single bodies, method by method.

        There is a file for each set of step sizes, for the long run and for its repetition with the normalisation switched, and
        for the search for the step sizes that meet target errors.
        """
        files = [(kind, n) for kind in SINGLE_BODY for n in self.names(kind) if n[0] == problem and n[-1] in methods]
        return [self.path(kind, *names) for kind, names in sorted(files, key=lambda file: methods.index(file[1][-1]))]

    def single_body_runs(self) -> list[str]:
        """Paths of all runs on single bodies."""
        return [path for kind in SINGLE_BODY for path in self.files(kind)]

    def data(self) -> list[str]:
        """The data files opened by later stages, listed so that a deleted file is made again."""
        return self.files_of(Role.DATA)

    def every_run(self) -> list[str]:
        """The runs behind the data files, listed so that deleted files are made again."""
        return self.files_of(Role.RUN)

    # Many bodies.

    @cached_property
    def scene_parts(self) -> dict[str, tuple[tuple[MethodStep, ...], ...]]:
        """What each job runs, grouped by scene: methods with their step sizes, for about :data:`PART_SECONDS`.

        A method that takes longer is divided between its step sizes.
        """
        scenes = self.study.computed.scenes.items()
        return {key: _divided_scene(scene) for key, scene in scenes if key not in self.witnessed_scenes}

    def scene_paths(self, scene: str, method_steps: Sequence[MethodStep]) -> list[str]:
        """Paths of the files made by a job on many bodies."""
        return self.files("many_body_runs", [(scene, dt, method) for method, dt in method_steps])

    def _many_body(self, scene: str, dt: str, method: str) -> Dependencies:
        settings = self._scene_settings(scene) | {"seeds": self.study.scenes[scene].seeds}
        return settings, self.many_body_run_code(scene, method)

    def _film(self, scene: str) -> Dependencies:
        film = self.study.scenes[scene].film
        assert film is not None
        return self._scene_settings(scene) | {"film": vars(film)}, self.many_body_run_code(scene, film.method)

    def _scene_settings(self, scene: str) -> dict[str, Any]:
        """The settings on which the runs of a scene depend, apart from method, step size, seeds and code."""
        study = self.study.scenes[scene]
        return {"scene": study.scene, "spin": study.spin, "horizon": study.horizon, "samples": study.samples}

    def _many_body_run_code(self, scene: str, method: str) -> str:
        origins = SCENES.origin(self.study.scenes[scene].scene), METHODS.origin(method)
        return fingerprint("polhode_study.run.scene", *origins) + self._shapes()

    def _shapes(self) -> str:
        """Hash of the data that define the chess pieces, and of the states in which liquids start."""
        return self._hash_of_shapes

    @cached_property
    def _hash_of_shapes(self) -> str:
        shapes = hashlib.sha256()
        folder = self.home / "src" / "polhode" / "manybody"
        for path in sorted((*folder.glob("pieces/*.csv"), *folder.glob("scenes/states/*.npz"))):
            shapes.update(path.name.encode() + path.read_bytes())
        return shapes.hexdigest()[:16]

    # Ensembles of random bodies.

    @cached_property
    def ensemble_parts(self) -> tuple[tuple[str, ...], ...]:
        """The methods of each job on random bodies: as many as take about :data:`PART_SECONDS`."""
        study = self.study.computed.ensembles
        if study is None:
            return ()
        seconds = study.total_steps * STEP + LOADING_ENSEMBLE
        return _in_parts(study.methods, [seconds] * len(study.methods))

    def _ensemble_states(self) -> Dependencies:
        assert self.study.ensembles is not None
        return self.study.ensembles.drawn, fingerprint("polhode_study.run.ensemble_states")

    def _ensemble(self, method: str) -> Dependencies:
        assert self.study.ensembles is not None
        settings = self.study.ensembles.drawn | {"steps": list(self.study.ensembles.steps)}
        modules = "polhode_study.run.ensemble", "polhode_study.run.ensemble_states"
        return settings, fingerprint(*modules, METHODS.origin(method))

    def units(self, rule: str) -> float:
        """The number of units of work in a job of this rule, for the progress display: runs, rounds or files."""
        return self._units.get(rule, 1)

    @cached_property
    def _units(self) -> dict[str, int]:
        units = {"ensemble_states": 0}  # the draw is no method
        for problem, parts in self.parts.items():
            for number, methods in enumerate(parts, 1):
                units[f"single_body_{problem}_{number}"] = len(self.part_paths(problem, methods))
        for scene, shares in self.scene_parts.items():
            for number, share in enumerate(shares, 1):
                units[f"many_body_{scene}_{number}"] = len(share)
        units["single_body_witnesses"] = len(self.witness_paths(*SINGLE_BODY))
        units["many_body_witnesses"] = len(self.witness_paths("many_body_runs"))
        for number, methods in enumerate(self.ensemble_parts, 1):
            units[f"ensemble_{number}"] = len(methods)
        for number, checks in enumerate(self.check_parts, 1):
            units[f"checks_{number}"] = len(checks)
        for number, problems in enumerate(self.reference_parts, 1):
            units[f"references_{number}"] = len(problems)
        if self.study.cost is not None:
            units["timing"] = self.study.cost.rounds
        return units

    # Times and experiments.

    def timing_settings(self, wildcards: Any) -> dict[str, Any]:
        """The settings on which the timing of a step depends, apart from the code."""
        cost = self.study.cost
        assert cost is not None
        scenes = self.study.scenes.items()
        many = {key: [scene.scene, *scene.timed] for key, scene in scenes if scene.timed}
        settings = {"methods": list(self.study.methods), "rounds": cost.rounds, "block": cost.block, "many_body": many}
        if (release := self.study.release) is not None:
            new = set(self.study.methods) - set(release.methods(""))
            settings["timed"] = {
                frame: [key for key in self.study.methods if key in keys or key in new] for frame, keys in TIMED.items()
            }
            # What is not computed of any scene has released times.
            run = {method for _, scene in self.study.computed.scenes.items() for method in scene.methods}
            settings["timed_in_scenes"] = sorted(run)
        return settings

    def of_systems(self, wildcards: Any) -> list[str]:
        """The methods that run systems of bodies, whose code is compiled before the timing."""
        systems = [problem for problem in self.study.computed.problems.values() if isinstance(problem.problem, System)]
        return sorted({method for problem in systems for method in problem.methods})

    def released_times(self) -> list[str]:
        """The released times of a step, if the study times only some methods."""
        return [f"{Path(FOLDER).parent}/cost.nc"] if self.study.release is not None else []

    def timing_code(self, wildcards: Any) -> str:
        """Hash of the code behind the timing: its procedure and all methods, but not the analysis of its results.

        The rule has no input, because errors do not change the cost of a step. Behind an ``ancient`` input its own reasons to
        run would not be seen as long as something before that input has to run.
        """
        scenes = [SCENES.origin(scene.scene) for scene in self.study.scenes.values() if scene.timed]
        engine: list[str | Path] = ["polhode_study.run.scene_timing", *scenes] if scenes else []
        return (
            fingerprint("polhode_study.run.timing", *engine) + self.methods_code(wildcards) + (self._shapes() if engine else "")
        )

    def _check(self, check: str) -> Dependencies:
        """Its code is that of the experiment and of the methods, problems, scenes and laws that it names, or of all methods."""
        experiment = CHECKS[check]
        code = fingerprint(experiment.code, members=True) + self._shapes()
        methods = list(self.study.methods)
        if experiment.all_methods:
            code += self.methods_code(None)
        else:
            named = named_methods(experiment.code)
            methods = [method for method in methods if method in named]
        seed = self.study.ensembles.seed if self.study.ensembles else 0
        settings = {"methods": methods, "seed": seed, **experiment.settings}
        if (release := self.study.release) is not None and check in self.study.witnessed:
            settings |= {"release": release.digest(check_file(check)), "shown": methods}
            settings |= witness_settings(check, methods, release.methods(check_file(check)), release.methods(""))
        return settings, code

    @cached_property
    def check_parts(self) -> tuple[tuple[str, ...], ...]:
        """The checks of each job: as many as take about :data:`PART_SECONDS`; next to witnesses, families are not divided.

        The witnesses that run without compilation are a job of their own.
        """
        seconds = {check: WITNESS if check in self.study.witnessed else CHECKS[check].seconds for check in self.study.checks}
        plain = tuple(check for check in self.study.checks if self.is_plain([check]))
        others = [check for check in self.study.checks if check not in plain]
        families: dict[str, list[str]] = {}
        for check in others:
            families.setdefault(CHECKS[check].family if self.study.witnessed else check, []).append(check)
        together = list(families.values())
        parts = _in_parts(together, [sum(seconds[check] for check in members) for members in together]) if together else ()
        return (*((plain,) if plain else ()), *(tuple(chain.from_iterable(part)) for part in parts))

    def is_plain(self, checks: Iterable[str]) -> bool:
        """Whether the checks of a job run without compilation."""
        return all(CHECKS[check].plain and check in self.study.witnessed for check in checks)

    @property
    def release_commit(self) -> str:
        """The commit of the release that further experiments are taken from; empty if everything is computed."""
        release = self.study.release
        return str(release.index["run"]["commit"]) if release is not None else ""

    def released(self, *files: str) -> list[str]:
        """The files of the release that the study takes these files of results from, and its index; none without a release."""
        release = self.study.release
        if release is None:
            return []
        taken = [file for file in files if file in release.index["files"]]
        return [f"{FOLDER}/{file}" for file in (*taken, INDEX)] if taken else []

    # Hashes of code: Snakemake sees only its own files; these hashes follow the imports.

    def _simulation_code(self, problem: str, method: str) -> str:
        return fingerprint("polhode_study.run.single_body", PROBLEMS.origin(problem), METHODS.origin(method))

    def _search_code(self, problem: str) -> str:
        return fingerprint("polhode_study.run.target_steps", *self._solution(problem))

    def _solution(self, problem: str) -> list[str]:
        """The module of the exact solution of a problem."""
        name = self.study.problems[problem].problem.reference
        return [f"polhode.references.{name}"] if isinstance(name, str) else []

    def methods_code(self, wildcards: Any) -> str:
        """Hash of the code of all methods, for files that print their declarations."""
        return fingerprint(*(METHODS.origin(m) for m in self.study.methods))

    def script_code(self, name: str) -> str:
        """Hash of one script of the workflow and of everything that it imports."""
        return fingerprint(self._script(name))

    def _script(self, name: str) -> Path:
        return self.home / "workflow" / "scripts" / f"{name}.py"


def run_settings(study: ProblemStudy, steps: Iterable[StepSize]) -> dict[str, Any]:
    """The settings of the runs of a method on a problem with some step sizes."""
    dt = {step.name: step.truncate for step in steps}
    return {"horizon": study.problem.horizon, "samples": study.samples, "switched": False, "dt": dt}


def method_seconds(study: ProblemStudy, method: str) -> float:
    """Estimated time of all runs of a method on a problem, s."""
    rungs = [step for step in study.steps if step.runs(method)]
    runs, steps, files = len(rungs), sum(step.steps for step in rungs), len({step.set_name for step in rungs})
    if study.long_run is not None:
        steps += (1 + study.long_run.switched) * count_steps(study.long_run.dt, study.long_run.horizon)
        runs += 1 + study.long_run.switched
        files += 1 + study.long_run.switched
    if study.targets is not None:
        files += 1
        steps += SEARCH_RUNS * round(study.problem.horizon / study.targets.dt_min)
    return steps * step_seconds(study.problem, METHODS[method]) + runs * RUN + files * FILE


def reference_seconds(study: ProblemStudy, digits: int) -> float:
    """Estimated time of the exact solution of a problem with its check, s: power series, and the numbers at each time."""
    times = study.reference_times()
    last = float(times[-1])
    checked = min(study.check_until, last)
    solved = checked if study.problem.has_closed_form else last + CHECKED_AGAIN * checked
    precise = float((digits / DIGITS) ** POWER)
    return TAYLOR * precise * solved / study.problem.horizon + len(times) * REFERENCE_TIME


def _divided_scene(study: SceneStudy) -> tuple[tuple[MethodStep, ...], ...]:
    """The methods of a scene with their step sizes, likewise."""
    items: list[tuple[MethodStep, ...]] = []
    seconds: list[float] = []
    for method in study.methods:
        steps = [step for step in study.steps if step.runs(method)]
        each = [step.steps * study.seeds * STEP_OF_MANY for step in steps]
        shares = [(method, step.name) for step in steps]
        if sum(each) > PART_SECONDS:
            items += [(share,) for share in shares]
            seconds += [LOADING_MANY + duration for duration in each]
        else:
            items.append(tuple(shares))
            seconds.append(LOADING_MANY + sum(each))
    return tuple(tuple(chain.from_iterable(group)) for group in _in_parts(items, seconds))


Item = TypeVar("Item")


def _in_parts(items: Sequence[Item], seconds: Sequence[float]) -> tuple[tuple[Item, ...], ...]:
    """Items that take so many seconds each, divided in their order and evenly into parts of about :data:`PART_SECONDS`."""
    total = sum(seconds)
    count = max(1, round(total / PART_SECONDS))
    # An item belongs to the part in which the middle of its time lies. Two that take longer than a part are never together.
    middles = [before + duration / 2 for before, duration in zip(accumulate(seconds, initial=0.0), seconds, strict=False)]
    items_of_parts: dict[int, list[Item]] = {}
    for item, middle in zip(items, middles, strict=True):
        items_of_parts.setdefault(min(int(count * middle / total), count - 1), []).append(item)
    return tuple(map(tuple, items_of_parts.values()))
