"""The jobs of a study in the form that the workflow's rules need: file names, parameters, and hashes of the code behind files.

They are defined in one place, so that the names written by the rules and those read by the gathering cannot disagree.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, chain, count
from pathlib import Path
from typing import Any, TypeVar

from polhode.manybody.scenes import SCENES
from polhode.methods import METHODS
from polhode.problems import PROBLEMS
from polhode.problems.system import System
from polhode.simulate import count_steps
from polhode.study.configuration import ProblemStudy, SceneStudy, StepSize, Study
from polhode.study.estimate import DIGITS, JUDGE, POWER, REFERENCE_TIME, TAYLOR
from polhode.study.fingerprint import fingerprint
from polhode.study.storage import job_text

#: Target for the duration of a job that runs several methods, s, as far as it can be estimated in advance. Starting a job costs
#: two or three seconds; a cluster favours few jobs, a machine with many cores more than one.
PART_SECONDS = 20.0
#: Rough times of a step and of a file; they affect only the division of work into jobs.
STEP_SECONDS, FILE_SECONDS = 8e-8, 6e-3
#: Cost of a search for target errors, in runs with the finest step allowed: few methods need such a step.
SEARCH_RUNS = 1
#: Time of a method's runs on an ensemble apart from its steps: mostly compilation.
ENSEMBLE_SECONDS = 0.7
#: Time of a step of some thirty clumps, and of a method's runs on a scene apart from its steps: mostly loading compiled code.
CLUMPS_STEP_SECONDS, SCENE_SECONDS = 7e-7, 1.0

#: A method and the name of one of its step sizes: what it runs on a scene from all seeds, listed in one manifest.
Share = tuple[str, str]


@dataclass(frozen=True)
class Run:
    """One file of the single-body study: a run of one method on one problem, or a search for step sizes.

    ``kind`` is the folder (``cells``, ``long_runs``, ``long_runs_switched``, ``targets``); ``dt`` is the name of the step size
    in paths, empty for a search; ``settings`` holds everything else that the file depends on, apart from the code; ``path`` is
    relative to the folder of results.
    """

    kind: str
    problem: str
    method: str
    dt: str
    settings: dict[str, Any]

    @property
    def path(self) -> str:
        """The path of the file, relative to the folder of results."""
        return f"{self.kind}/{self.problem}/{self.method}{f'/{self.dt}' if self.dt else ''}.nc"

    def job(self, code: str) -> str:
        """The provenance recorded in the file, see :func:`polhode.study.storage.job_text`."""
        dt = {"dt": self.dt} if self.dt else {}
        return job_text(self.kind, {"problem": self.problem, "method": self.method, **dt}, self.settings, code)


def long_run_kinds(part: ProblemStudy) -> dict[str, list[str]]:
    """A mapping from each folder of long runs to the methods in it."""
    kinds = {"long_runs": list(part.methods)}
    if part.long_run is not None and part.long_run.switched:
        kinds["long_runs_switched"] = [m for m in part.methods if METHODS[m].normalisable]
    return kinds


def later(function: Callable[..., Any], *arguments: Any) -> Callable[[Any], Any]:
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
        self.ensemble_code = cache(self._ensemble_code)
        self.engine_code = cache(self._engine_code)

    # Files to be made.

    def references(self, problems: Sequence[str] | None = None) -> list[str]:
        """Paths of the reference files, one for each problem; of all problems by default."""
        keys = self.study.problems if problems is None else problems
        return [f"{self.results}/references/{problem}.nc" for problem in keys]

    @cached_property
    def reference_parts(self) -> tuple[tuple[str, ...], ...]:
        """The problems of each job on references: as many as take about :data:`PART_SECONDS`."""
        seconds = [reference_seconds(part, self.study.digits) for part in self.study.problems.values()]
        return _in_parts(list(self.study.problems), seconds)

    def reference_jobs(self, problems: Sequence[str]) -> dict[str, str]:
        """For each problem of a job, a hash of everything its reference depends on: settings and code."""
        return {key: hashlib.sha256(self.reference_job(key).encode()).hexdigest()[:16] for key in problems}

    # Single bodies: individual files, made in batches.

    def cells(self, problem: str, method: str) -> Iterator[Run]:
        """The runs of a method on a problem, one for each step size that it runs with."""
        part = self.study.problems[problem]
        common = {"horizon": part.problem.horizon, "samples": part.samples, "switched": False}
        for step in filter(lambda step: step.runs(method), part.steps):
            yield Run("cells", problem, method, step.name, common | {"truncate": step.truncate})

    def long_runs(self, problem: str, method: str) -> Iterator[Run]:
        """The long run of a method on a problem, if there is one, and its repetition with the normalisation switched."""
        part = self.study.problems[problem]
        if part.long_run is not None:
            common = {"horizon": part.long_run.horizon, "samples": part.long_run.samples, "truncate": False}
            for kind, methods in long_run_kinds(part).items():
                if method in methods:
                    yield Run(kind, problem, method, part.long_run.name, common | {"switched": kind != "long_runs"})

    def searches(self, problem: str, method: str) -> Iterator[Run]:
        """The search of a method for the step sizes that meet target errors, if there is one."""
        targets = self.study.problems[problem].targets
        if targets is not None:
            yield Run("targets", problem, method, "", dict(vars(targets) | {"errors": list(targets.errors)}))

    def batch(self, problem: str, method: str) -> list[Run]:
        """All files of a method on a problem, as listed in one manifest."""
        return [*self.cells(problem, method), *self.long_runs(problem, method), *self.searches(problem, method)]

    def run_code(self, run: Run) -> str:
        """The hash of the code that a run depends on."""
        code = self.simulation_code(run.problem, run.method)
        return self.search_code(run.problem) + code if run.kind == "targets" else code

    def job(self, run: Run) -> str:
        """The provenance that the file of a run must record."""
        return run.job(self.run_code(run))

    def manifest(self, problem: str, method: str) -> str:
        """Path of the list of a method's files on a problem, with checksums; Snakemake tracks only this list."""
        return f"{self.results}/batches/{problem}/{method}.json"

    def manifests(self) -> list[str]:
        """Paths of all manifests, one for each problem and method."""
        return [self.manifest(key, method) for key, part in self.study.problems.items() for method in part.methods]

    @cached_property
    def parts(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """The methods of each job, grouped by problem.

        Every job is a process that starts with imports, so it covers enough methods for about :data:`PART_SECONDS` of runs.
        Each problem begins with a different method, and every second one of those that share compiled code goes through them
        backwards: code compiled by one job is found on disk by the next, also where two start at the same time.
        """
        found = {}
        numbers = {several: count() for several in (False, True)}
        for key, part in self.study.problems.items():
            number = next(numbers[isinstance(part.problem, System)])
            way = -1 if number % 2 else 1
            parts = _divided(part)
            turns = (5 * number % len(methods) for methods in parts)
            found[key] = tuple((methods[i:] + methods[:i])[::way] for i, methods in zip(turns, parts, strict=True))
        return found

    def part_outputs(self, problem: str, methods: Sequence[str]) -> list[str]:
        """Paths of the manifests made by a job."""
        return [self.manifest(problem, method) for method in methods]

    def part_jobs(self, problem: str, methods: Sequence[str]) -> dict[str, str]:
        """For each method of a job, a hash of everything its files depend on: settings and code."""
        texts = {method: "\n".join(map(self.job, self.batch(problem, method))) for method in methods}
        return {method: hashlib.sha256(text.encode()).hexdigest()[:16] for method, text in texts.items()}

    def checks(self) -> list[str]:
        """Paths of the files of the experiments on single methods, one for each."""
        return [f"{self.results}/checks/{name}.nc" for name in self.study.checks]

    def data(self) -> list[str]:
        """The data files opened by later stages, listed so that a deleted file is made again."""
        return [
            f"{self.results}/single_body.nc",
            f"{self.results}/claims.csv",
            *self.references(),
            *self.checks(),
            *self.many_body(),
            *self.films(),
            *self.ensembles(),
            *([self.ensemble_states()] if self.ensembles() else []),
            *self.atlas(),
            *self.cost_data(),
        ]

    def runs(self) -> list[str]:
        """The runs behind the data files, most of them by their manifests; listed so that deleted files are made again."""
        return [*self.manifests(), *self.scene_manifests(), *self.ensemble_runs(), *self.engine_files()]

    # Many bodies: individual files, made in batches.

    def many_body_runs(self, scene: str, share: Share) -> dict[str, str]:
        """What a method runs on a scene with one step size: for each seed, the path of its file -> what it must record.

        Paths are relative to the folder of results.
        """
        seeds = range(self.study.scenes[scene].seeds)
        return {f"many_body/{scene}/{'/'.join(share)}/{seed}.nc": self.many_body_job(scene, *share, seed) for seed in seeds}

    def scene_manifest(self, scene: str, share: Share) -> str:
        """Path of the list of the files of a method with one step size on a scene; Snakemake tracks only this list."""
        return f"{self.results}/batches/{scene}/{'/'.join(share)}.json"

    def scene_manifests(self) -> list[str]:
        """Paths of the manifests of all scenes."""
        return [path for scene, parts in self.scene_parts.items() for part in parts for path in self.scene_outputs(scene, part)]

    @cached_property
    def scene_parts(self) -> dict[str, tuple[tuple[Share, ...], ...]]:
        """What each job runs, grouped by scene: methods with their step sizes, for about :data:`PART_SECONDS`.

        A method that takes longer is divided between its step sizes.
        """
        return {key: _divided_scene(part) for key, part in self.study.scenes.items()}

    def scene_outputs(self, scene: str, part: Sequence[Share]) -> list[str]:
        """Paths of the manifests made by a job."""
        return [self.scene_manifest(scene, share) for share in part]

    def scene_jobs(self, scene: str, part: Sequence[Share]) -> dict[str, str]:
        """For each method and step size of a job, a hash of everything its files depend on: settings and code."""
        texts = {"/".join(share): "\n".join(self.many_body_runs(scene, share).values()) for share in part}
        return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}

    def many_body(self) -> list[str]:
        """Path of the many-body results; empty if the configuration leaves them out."""
        return [f"{self.results}/many_body.nc"] if self.study.scenes else []

    def films(self) -> list[str]:
        """Paths of the films, one for each scene that has one."""
        return [f"{self.results}/films/{key}.nc" for key, part in self.study.scenes.items() if part.film is not None]

    def cost(self) -> list[str]:
        """Path of the results of the cost study; empty if the configuration leaves it out."""
        return [f"{self.results}/cost.nc"] if self.study.cost is not None else []

    def cost_data(self) -> list[str]:
        """Paths of all data files of the cost study. They contain measured times, which differ from run to run."""
        return [f"{self.results}/timing.nc", *self.cost()] if self.study.cost is not None else []

    # Ensembles of random bodies.

    def ensembles(self) -> list[str]:
        """Path of the results on random bodies; empty if the configuration leaves them out."""
        return [f"{self.results}/ensembles.nc"] if self.study.ensembles is not None else []

    def ensemble_states(self) -> str:
        """Path of the draw of the random bodies with their exact states."""
        return f"{self.results}/ensemble_states.nc"

    def ensemble_runs(self, methods: Sequence[str] | None = None) -> list[str]:
        """Paths of the errors on random bodies, one file for each method; of all methods by default."""
        if methods is None:
            methods = self.study.ensembles.methods if self.study.ensembles is not None else ()
        return [f"{self.results}/ensembles/{method}.nc" for method in methods]

    @cached_property
    def ensemble_parts(self) -> tuple[tuple[str, ...], ...]:
        """The methods of each job on random bodies: as many as take about :data:`PART_SECONDS`."""
        part = self.study.ensembles
        if part is None:
            return ()
        seconds = part.total_steps * STEP_SECONDS + ENSEMBLE_SECONDS
        return _in_parts(part.methods, [seconds] * len(part.methods))

    def ensemble_states_job(self) -> str:
        """The provenance that the file of the draw must record."""
        return job_text("ensemble_states", {}, self.ensemble_states_settings(None), self.ensemble_states_code(None))

    def ensemble_states_settings(self, wildcards: Any) -> dict[str, Any]:
        """The settings on which the draw and its exact states depend."""
        assert self.study.ensembles is not None
        return self.study.ensembles.drawn

    def ensemble_states_code(self, wildcards: Any) -> str:
        """Hash of the code behind the draw and its exact states."""
        return fingerprint("polhode.study.run.ensemble_states")

    def ensemble_job(self, method: str) -> str:
        """The provenance that a method's file of errors on random bodies must record."""
        assert self.study.ensembles is not None
        settings = self.study.ensembles.drawn | {"steps": list(self.study.ensembles.steps)}
        return job_text("ensemble", {"method": method}, settings, self.ensemble_code(method))

    def ensemble_jobs(self, methods: Sequence[str]) -> dict[str, str]:
        """For each method of a job, a hash of everything its file depends on: settings and code."""
        return {method: hashlib.sha256(self.ensemble_job(method).encode()).hexdigest()[:16] for method in methods}

    def _ensemble_code(self, method: str) -> str:
        return fingerprint("polhode.study.run.ensemble", METHODS.origin(method))

    # The engine atlas.

    @property
    def engines(self) -> tuple[str, ...]:
        """Keys of the engines that are run; none unless the configuration asks for an atlas."""
        return self.study.atlas.engines if self.study.atlas is not None else ()

    def atlas(self) -> list[str]:
        """Path of the engine atlas of this run; empty if the configuration does not ask for one."""
        return [f"{self.results}/atlas.nc"] if self.engines else []

    def engine_files(self) -> list[str]:
        """Paths of the rows of the atlas, one file for each engine."""
        return [f"{self.results}/atlas/{key}.nc" for key in self.engines]

    def engine_settings(self) -> dict[str, Any]:
        """The settings on which the rows of an engine depend."""
        assert self.study.atlas is not None
        return {"limit": self.study.atlas.limit}

    def engine_job(self, key: str) -> str:
        """The provenance that the file of an engine must record."""
        return job_text("engine", {"engine": key}, self.engine_settings(), self.engine_code(key))

    def _engine_code(self, key: str) -> str:
        # The worker and the adapter are executed by the Python of the engine; the candidates are all methods of the library.
        folder = self.home / "src" / "polhode" / "engines"
        methods = (METHODS.origin(method) for method in METHODS)
        return fingerprint("polhode.study.run.engine", folder / "worker.py", folder / "adapters" / f"{key}.py", *methods)

    def units(self, rule: str) -> float:
        """The number of units of work in a job of this rule, for the progress display: runs, rounds or files."""
        return self._units.get(rule, 1)

    @cached_property
    def _units(self) -> dict[str, int]:
        found = {"ensemble_states": 0}  # the draw is no method
        for problem, parts in self.parts.items():
            for number, methods in enumerate(parts, 1):
                found[f"single_body_{problem}_{number}"] = sum(len(self.batch(problem, method)) for method in methods)
        for scene, shares in self.scene_parts.items():
            for number, part in enumerate(shares, 1):
                found[f"many_body_{scene}_{number}"] = len(part) * self.study.scenes[scene].seeds
        for number, methods in enumerate(self.ensemble_parts, 1):
            found[f"ensemble_{number}"] = len(methods)
        for number, problems in enumerate(self.reference_parts, 1):
            found[f"references_{number}"] = len(problems)
        if self.study.cost is not None:
            found["timing"] = self.study.cost.rounds
        return found

    # Parameters of a job.

    def reference_job(self, problem: str) -> str:
        """The provenance that a reference file must record."""
        return job_text("reference", {"problem": problem}, self._reference_settings(problem), self._reference_code(problem))

    def _reference_settings(self, problem: str) -> dict[str, Any]:
        """The settings on which a reference file depends."""
        part = self.study.problems[problem]
        times = hashlib.sha256(part.reference_times().tobytes()).hexdigest()[:16]
        return {"digits": self.study.digits, "check_until": part.check_until, "times": times}

    def scene(self, key: str) -> SceneStudy:
        """The many-body study of the scene with this key."""
        return self.study.scenes[key]

    def many_body_job(self, scene: str, method: str, step: str, seed: int) -> str:
        """The provenance that the file of a many-body run must record; ``scene`` is its name in the configuration."""
        wildcards = {"scene": scene, "method": method, "dt": step, "seed": seed}
        return job_text("many_body", wildcards, self.many_body_settings(scene), self.many_body_run_code(scene, method))

    def many_body_settings(self, scene: str) -> dict[str, Any]:
        """The settings on which the runs of a scene depend, apart from method, step size, seed and code."""
        part = self.scene(scene)
        return {"scene": part.scene, "spin": part.spin, "horizon": part.horizon, "samples": part.samples}

    def film_settings(self, wildcards: Any) -> dict[str, Any]:
        """The settings on which a film depends, apart from the code."""
        part = self.scene(wildcards.scene)
        assert part.film is not None
        return self.many_body_settings(wildcards.scene) | {"film": vars(part.film)}

    def film_code(self, wildcards: Any) -> str:
        """Hash of the code behind a film."""
        film = self.scene(wildcards.scene).film
        assert film is not None
        return self.many_body_run_code(wildcards.scene, film.method)

    def _many_body_run_code(self, scene: str, method: str) -> str:
        origins = SCENES.origin(self.scene(scene).scene), METHODS.origin(method)
        return fingerprint("polhode.study.run.scene", *origins) + self._shapes()

    def _shapes(self) -> str:
        """Hash of the data that define the chess pieces."""
        shapes = hashlib.sha256()
        for path in sorted((self.home / "src" / "polhode" / "manybody" / "pieces").glob("*.csv")):
            shapes.update(path.name.encode() + path.read_bytes())
        return shapes.hexdigest()[:16]

    def timing_settings(self, wildcards: Any) -> dict[str, Any]:
        """The settings on which the timing of a step depends, apart from the code."""
        cost = self.study.cost
        assert cost is not None
        many = {key: [scene.scene, *scene.timed] for key, scene in self.study.scenes.items() if scene.timed}
        return {"methods": list(self.study.methods), "rounds": cost.rounds, "block": cost.block, "many_body": many}

    def timing_code(self, wildcards: Any) -> str:
        """Hash of the code behind the timing: its procedure and all methods, but not the analysis of its results."""
        scenes = [SCENES.origin(part.scene) for part in self.study.scenes.values() if part.timed]
        engine: list[str | Path] = ["polhode.study.run.scene_timing", *scenes] if scenes else []
        return (
            fingerprint("polhode.study.run.timing", *engine) + self.methods_code(wildcards) + (self._shapes() if engine else "")
        )

    def check_code(self, wildcards: Any) -> str:
        """Hash of the code behind one experiment on single methods; it covers all methods and the problems of the library.

        With the seed of the random bodies, the only setting on which an experiment depends.
        """
        problems = (PROBLEMS.origin(p) for p in PROBLEMS if p not in PROBLEMS.plugins())
        seed = "" if self.study.ensembles is None else str(self.study.ensembles.seed)
        return fingerprint("polhode.study.run.checks", *problems) + self.methods_code(wildcards) + seed

    # Hashes of code: Snakemake sees only its own files; these hashes follow the imports.

    def _simulation_code(self, problem: str, method: str) -> str:
        return fingerprint("polhode.study.run.cell", PROBLEMS.origin(problem), METHODS.origin(method))

    def _search_code(self, problem: str) -> str:
        return fingerprint("polhode.study.run.target_steps", *self._reference(problem))

    def _reference_code(self, problem: str) -> str:
        """Hash of the code behind the exact solution of one problem."""
        return fingerprint("polhode.study.run.reference", PROBLEMS.origin(problem), *self._reference(problem))

    def _reference(self, problem: str) -> list[str]:
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


def method_seconds(part: ProblemStudy, method: str) -> float:
    """Estimated time of all runs of a method on a problem, s, as if all methods took the same time for a step."""
    of_runs = [step.steps for step in part.steps if step.runs(method)]
    runs, steps = len(of_runs), sum(of_runs)
    if part.long_run is not None:
        steps += (1 + part.long_run.switched) * count_steps(part.long_run.dt, part.long_run.horizon)
        runs += 1 + part.long_run.switched
    if part.targets is not None:
        steps += SEARCH_RUNS * round(part.problem.horizon / part.targets.dt_min)
    return steps * STEP_SECONDS + runs * FILE_SECONDS


def reference_seconds(part: ProblemStudy, digits: int) -> float:
    """Estimated time of the exact solution of a problem with its check, s: power series, and the numbers at each time."""
    times = part.reference_times()
    last = float(times[-1])
    checked = min(part.check_until, last)
    solved = checked if part.problem.has_closed_form else last + JUDGE * checked
    precise = float((digits / DIGITS) ** POWER)
    return TAYLOR * precise * solved / part.problem.horizon + len(times) * REFERENCE_TIME


def share_seconds(part: SceneStudy, step: StepSize) -> float:
    """Estimated time of all runs of a method with one step size on a scene, s, apart from loading its code."""
    return step.steps * part.seeds * CLUMPS_STEP_SECONDS


def _divided(part: ProblemStudy) -> tuple[tuple[str, ...], ...]:
    """The methods of a problem, divided into parts that each take about :data:`PART_SECONDS`."""
    return _in_parts(part.methods, [method_seconds(part, method) for method in part.methods])


def _divided_scene(part: SceneStudy) -> tuple[tuple[Share, ...], ...]:
    """The methods of a scene with their step sizes, likewise."""
    items: list[tuple[Share, ...]] = []
    seconds: list[float] = []
    for method in part.methods:
        steps = [step for step in part.steps if step.runs(method)]
        each = [share_seconds(part, step) for step in steps]
        shares = [(method, step.name) for step in steps]
        if sum(each) > PART_SECONDS:
            items += [(share,) for share in shares]
            seconds += [SCENE_SECONDS + own for own in each]
        else:
            items.append(tuple(shares))
            seconds.append(SCENE_SECONDS + sum(each))
    return tuple(tuple(chain.from_iterable(found)) for found in _in_parts(items, seconds))


Item = TypeVar("Item")


def _in_parts(items: Sequence[Item], seconds: Sequence[float]) -> tuple[tuple[Item, ...], ...]:
    """Items that take so many seconds each, divided in their order and evenly into parts of about :data:`PART_SECONDS`."""
    total = sum(seconds)
    count = max(1, round(total / PART_SECONDS))
    # An item belongs to the part in which the middle of its time lies. Two that take longer than a part are never together.
    middles = [before + own / 2 for before, own in zip(accumulate(seconds, initial=0.0), seconds, strict=False)]
    found: dict[int, list[Item]] = {}
    for item, middle in zip(items, middles, strict=True):
        found.setdefault(min(int(count * middle / total), count - 1), []).append(item)
    return tuple(map(tuple, found.values()))
