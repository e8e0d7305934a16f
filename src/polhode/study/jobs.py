"""The jobs of a study as the workflow's rules need them: names of files, parameters, hashes of the code behind each.

One place, so that what the rules write and what the gathering reads cannot disagree.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from polhode.registry import catalogue
from polhode.simulate import count_steps
from polhode.study import provenance
from polhode.study.configuration import ProblemStudy, SceneStudy, StepSize, Study
from polhode.study.fingerprint import fingerprint
from polhode.study.storage import job_text

#: The figures by theme. One job draws those of a theme: starting it takes longer than drawing most of them.
FIGURES_BY_THEME = {
    "delvalle2024": (
        "reference_solution",
        "error_vs_dt",
        "error_vs_time",
        "spiral_variants_vs_dt",
        "spiral_variants_vs_time",
        "originators_vs_published",
        "norm_drift",
        "target_ratio",
    ),
    "seelen2016": (
        "seelen2016_free_top",
        "seelen2016_sphere",
        "seelen2016_forced_cylinder",
        "seelen2016_coupled_cylinders",
    ),
    "torque_classes": (
        "order_map",
        "error_by_torque",
        "long_drift",
        "energy_over_time",
        "normalisation",
        "reversibility",
        "note_misprints",
        "velocity_torque",
        "extended_inertia",
    ),
    "many_body": (
        "many_body_pieces",
        "many_body_scene",
        "many_body_energy",
        "many_body_pairs",
        "rods_energy",
        "rods_states",
    ),
    # Made from what the timing measured; no two machines give the same.
    "cost": ("relative_cost", "speed_up", "work_precision", "work_in_torques", "price_of_torque", "best_methods"),
}
#: The tables likewise.
TABLES_BY_THEME = {
    "single_body": (
        "methods",
        "reconstructions",
        "target_dt",
        "published_variants",
        "orders",
        "reference",
        "seelen2016_table1",
        "seelen2016_orders",
        "seelen2016_stability",
        "torque_classes",
        "orders_by_torque",
        "long_runs",
        "symplecticity",
        "reversibility",
        "note_corrections",
        "velocity_torque",
        "claims",
        "errata",
        "readings",
        "source_index",
        "problems",
    ),
    "many_body": ("many_body",),
    "cost": ("operations", "cost", "cost_claims", "speed_up", "time_to_solution", "many_body_cost"),
}
FIGURES = tuple(name for names in FIGURES_BY_THEME.values() for name in names)
TABLES = tuple(name for names in TABLES_BY_THEME.values() for name in names)


#: What one job of single bodies should take at most, s, as far as it can be told beforehand. Starting a job costs two or three
#: seconds; a cluster wants few jobs, and a machine with many cores more than one.
PART_SECONDS = 20.0
#: What a step and a file take, roughly; only the division of work into jobs rests on it.
STEP_SECONDS, FILE_SECONDS = 8e-8, 6e-3
#: A search for target errors as so many runs with the finest step allowed.
SEARCH_RUNS = 5


@dataclass(frozen=True)
class Run:
    """One file of the single-body study: a run of one method on one problem, or a search for step sizes.

    ``kind`` is the folder (``cells``, ``long_runs``, ``long_runs_switched``, ``targets``); ``dt`` the step size by its name in
    paths, empty for a search; ``settings`` what the file depends on besides these and the code; ``path`` is relative to the
    folder of results.
    """

    kind: str
    problem: str
    method: str
    dt: str
    settings: dict[str, Any]

    @property
    def path(self) -> str:
        """Where it lies in the folder of results."""
        return f"{self.kind}/{self.problem}/{self.method}{f'/{self.dt}' if self.dt else ''}.nc"

    def job(self, code: str) -> str:
        """What the file says about where it comes from."""
        dt = {"dt": self.dt} if self.dt else {}
        return job_text(self.kind, {"problem": self.problem, "method": self.method, **dt}, self.settings, code)


def long_run_kinds(part: ProblemStudy) -> dict[str, list[str]]:
    """Folder of long runs -> the methods in it."""
    kinds = {"long_runs": list(part.methods)}
    if part.long_run is not None and part.long_run.switched:
        kinds["long_runs_switched"] = [m for m in part.methods if catalogue("polhode.methods")[m].normalisable]
    return kinds


class Plan:
    """Everything that the rules ask of a study. Methods that take ``wildcards`` serve as input and parameter functions."""

    def __init__(self, study: Study, home: Path) -> None:
        self.study = study
        self.home = home
        self.results = str(study.results)
        self.simulation_code = cache(self._simulation_code)
        self.search_code = cache(self._search_code)
        self.many_body_method_code = cache(self._many_body_method_code)

    # What there is to make.

    def references(self) -> list[str]:
        """One reference file per problem."""
        return [f"{self.results}/references/{problem}.nc" for problem in self.study.problems]

    # Single bodies: literal files, made in batches.

    def cells(self, problem: str, method: str) -> Iterator[Run]:
        """The runs of a method over the step sizes of a problem."""
        part = self.study.problems[problem]
        common = {"horizon": part.problem.horizon, "samples": part.samples, "switched": False}
        for step in part.steps:
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
        """All files of a method on a problem: what one manifest lists."""
        return [*self.cells(problem, method), *self.long_runs(problem, method), *self.searches(problem, method)]

    def run_code(self, run: Run) -> str:
        """The hash of the code that a run depends on."""
        code = self.simulation_code(run.problem, run.method)
        return self.search_code(run.problem) + code if run.kind == "targets" else code

    def job(self, run: Run) -> str:
        """What the file of a run must say."""
        return run.job(self.run_code(run))

    def manifest(self, problem: str, method: str) -> str:
        """The list of the files of a method on a problem, with their checksums: what Snakemake sees of them."""
        return f"{self.results}/batches/{problem}/{method}.json"

    def manifests(self) -> list[str]:
        """One for each problem and method."""
        return [self.manifest(key, method) for key, part in self.study.problems.items() for method in part.methods]

    @cached_property
    def parts(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """Problem -> the methods of each of its jobs.

        A job is a process that imports first, so it does the runs of as many methods as make about :data:`PART_SECONDS`. Each
        begins with another method: what one has compiled the next one finds on the disk.
        """
        found = {}
        for number, (key, part) in enumerate(self.study.problems.items()):
            parts = _divided(part)
            turns = (5 * number % len(methods) for methods in parts)
            found[key] = tuple(methods[i:] + methods[:i] for i, methods in zip(turns, parts, strict=True))
        return found

    def part_outputs(self, problem: str, methods: Sequence[str]) -> list[str]:
        """The manifests of a job."""
        return [self.manifest(problem, method) for method in methods]

    def part_jobs(self, problem: str, methods: Sequence[str]) -> dict[str, str]:
        """For each method of a job a hash of all that its files depend on: settings and code."""
        texts = {method: "\n".join(map(self.job, self.batch(problem, method))) for method in methods}
        return {method: hashlib.sha256(text.encode()).hexdigest()[:16] for method, text in texts.items()}

    def checks(self) -> list[str]:
        """One file per experiment on single methods."""
        return [f"{self.results}/checks/{name}.nc" for name in self.study.checks]

    def notebooks(self, *endings: str) -> list[str]:
        """The notebooks executed over the results: a page each, and with its outputs the notebook itself."""
        kinds = endings or ("html", "ipynb")
        return [f"{self.results}/notebooks/{name}.{kind}" for name in self.study.notebooks for kind in kinds]

    def notebook_inputs(self, name: str) -> list[str]:
        """What a notebook reads. Most need not wait for the timing."""
        single, reference = f"{self.results}/single_body.nc", f"{self.results}/references/spiral_cylinder.nc"
        return {
            "tour": self.data(),
            "choose-a-method": [single, *self.cost()],
            "many-bodies": [*self.many_body(), "data/released/many_body.nc"],
            "add-a-method": [single],
            "the-reference": [single, *(path for path in self.references() if path == reference)],
        }[name]

    def figures(self) -> list[str]:
        """All figures, as PDF; each comes with a PNG."""
        return [f"{self.results}/figures/{name}.pdf" for name in FIGURES]

    def tables(self) -> list[str]:
        """All tables, as LaTeX; each comes with a CSV."""
        return [f"{self.results}/tables/{name}.tex" for name in TABLES]

    def data(self) -> list[str]:
        """The data files a reader opens, named so that a deleted one is made again."""
        return [
            f"{self.results}/single_body.nc",
            f"{self.results}/claims.csv",
            *self.references(),
            *self.checks(),
            *self.many_body(),
            *self.films(),
            *self.cost_data(),
        ]

    def runs(self) -> list[str]:
        """The runs behind them, those of single bodies by their manifests; named for the same reason."""
        return [*self.manifests(), *self.all_many_body_runs()]

    def captions(self) -> list[str]:
        """What stands under each figure and table, for Snakemake's report."""
        shown = {"figures": FIGURES, "tables": TABLES}
        return [f"{self.results}/captions/{kind}/{name}.rst" for kind, names in shown.items() for name in names]

    def products(self) -> list[str]:
        """All that a finished run leaves for others, in every format: what provenance.json has checksums of."""
        shown = [(path, ".png") for path in self.figures()] + [(path, ".csv") for path in self.tables()]
        numbers = [f"{self.results}/{name}" for name in ("numbers.tex", "cost_numbers.tex", "cost_claims.csv")]
        both = [name for path, other in shown for name in (path, str(Path(path).with_suffix(other)))]
        pages = [f"{self.results}/report.pdf", self.explorer(), *self.notebooks()]
        return [*pages, *self.data(), *self.animations(), *numbers, *both]

    def many_body_runs(self, scene: str) -> list[str]:
        """One file per method, step size and seed of a scene."""
        part = self.study.scenes[scene]
        outputs = self.many_body_outputs(scene, part.steps)
        return [path.format(method=method) for method in part.methods for path in outputs]

    def many_body_outputs(self, scene: str, steps: Sequence[StepSize]) -> list[str]:
        """What a job of a scene makes with these steps: a file for each of them and each seed, with the method left open."""
        seeds = range(self.study.scenes[scene].seeds)
        return [f"{self.results}/many_body/{scene}/{{method}}/{step.name}/{seed}.nc" for step in steps for seed in seeds]

    def all_many_body_runs(self) -> list[str]:
        """The runs of all scenes."""
        return [path for scene in self.study.scenes for path in self.many_body_runs(scene)]

    def many_body(self) -> list[str]:
        """The results of the many-body study; none where the configuration leaves it out."""
        return [f"{self.results}/many_body.nc"] if self.study.scenes else []

    def films(self) -> list[str]:
        """One file per scene with a film."""
        return [f"{self.results}/films/{key}.nc" for key, part in self.study.scenes.items() if part.film is not None]

    def animations(self) -> list[str]:
        """A moving picture per film."""
        return [path.replace("/films/", "/animation/").replace(".nc", ".gif") for path in self.films()]

    def single_body_of(self, theme: str) -> list[str]:
        """What the figures of a theme need of the study of single bodies: nothing, for those of many."""
        alone = theme == "many_body"
        return [] if alone else [f"{self.results}/single_body.nc", *self.references(), *self.checks()]

    def many_body_of(self, theme: str, films: bool = False) -> list[str]:
        """What the figures or tables of a theme need of the many-body study: nothing, for most."""
        return [*self.many_body(), *(self.films() if films else [])] if theme == "many_body" else []

    def cost(self) -> list[str]:
        """The results of the cost study; none where the configuration leaves it out."""
        return [f"{self.results}/cost.nc"] if self.study.cost is not None else []

    def cost_data(self) -> list[str]:
        """All data files of the cost study. They hold times: a second run gives other ones."""
        return [f"{self.results}/timing.nc", *self.cost()] if self.study.cost is not None else []

    def cost_of(self, theme: str, claims: bool = False) -> list[str]:
        """What figures or tables of a theme need of the cost study: nothing, for most; these need not wait for the timing."""
        return [*self.cost(), *([f"{self.results}/cost_claims.csv"] if claims else [])] if theme == "cost" else []

    def places(self, wildcards: Any) -> dict[str, str]:
        """Where the figures, tables and numbers find what they are made from: the arguments of ``Inputs``."""
        return {
            "single_body": f"{self.results}/single_body.nc",
            "references": f"{self.results}/references",
            "checks": f"{self.results}/checks",
            "claims": f"{self.results}/claims.csv",
            "many_body_file": next(iter(self.many_body()), ""),
            "films": f"{self.results}/films",
            "released": "data/released",
            "cost_file": next(iter(self.cost()), ""),
            "cost_claims": f"{self.results}/cost_claims.csv",
            "published": "data/published",
            "errata": "data/errata.yaml",
            "sources": "data/sources.yaml",
        }

    def published(self) -> list[str]:
        """What we take from the papers: published numbers, errata, the index of the sources."""
        return [
            str(p.relative_to(self.home))
            for p in sorted((self.home / "data").rglob("*"))
            if p.suffix in (".csv", ".yaml", ".nc")
        ]

    def explorer(self) -> str:
        """The page to play with. It shows times, which differ from run to run; all else in it is the same."""
        return f"{self.results}/explorer.html"

    def page_sources(self) -> list[str]:
        """What that page is made of beside Python: its template, its style and its scripts."""
        folder = self.home / "src" / "polhode" / "study" / "explorer"
        return [str(p.relative_to(self.home)) for p in sorted(folder.iterdir()) if p.suffix in (".html", ".css", ".js")]

    def sources(self) -> list[str]:
        """The files of the report's text."""
        paper = self.home / "paper"
        return [str(p.relative_to(self.home)) for p in sorted(paper.rglob("*")) if p.suffix in (".tex", ".bib")]

    def units(self, rule: str) -> float:
        """How many things a job of a rule makes, for who watches: runs, rounds, files."""
        return self._units.get(rule, 1)

    @cached_property
    def _units(self) -> dict[str, int]:
        found = {f"figures_{theme}": len(names) for theme, names in FIGURES_BY_THEME.items()}
        found |= {f"tables_{theme}": len(names) for theme, names in TABLES_BY_THEME.items()}
        for problem, parts in self.parts.items():
            for number, methods in enumerate(parts, 1):
                found[f"single_body_{problem}_{number}"] = sum(len(self.batch(problem, method)) for method in methods)
        for scene, part in self.study.scenes.items():
            for number, batch in enumerate(part.batches, 1):
                found[f"many_body_{scene}_{number}"] = len(batch) * part.seeds
        if self.study.cost is not None:
            found["timing"] = self.study.cost.rounds
        return found

    # Parameters of a job.

    def reference_settings(self, wildcards: Any) -> dict[str, Any]:
        """What a reference file depends on."""
        return self._reference_settings(wildcards.problem)

    def reference_job(self, problem: str) -> str:
        """What a reference file must say."""
        return job_text("reference", {"problem": problem}, self._reference_settings(problem), self._reference_code(problem))

    def _reference_settings(self, problem: str) -> dict[str, Any]:
        part = self.study.problems[problem]
        times = hashlib.sha256(part.reference_times().tobytes()).hexdigest()[:16]
        return {"digits": self.study.digits, "check_until": part.check_until, "times": times}

    def scene(self, key: str) -> SceneStudy:
        """What is run on a many-body scene."""
        return self.study.scenes[key]

    def many_body_job(self, scene: str, method: str, step: str, seed: int) -> str:
        """What the file of a run of many bodies must say."""
        return many_body_job(scene, method, step, seed, self.many_body_settings(scene), self.many_body_method_code(method))

    def many_body_settings(self, scene: str) -> dict[str, Any]:
        """What the runs of a scene depend on, besides method, step size, seed and code."""
        part = self.scene(scene)
        return {"scene": part.scene, "spin": part.spin, "horizon": part.horizon, "samples": part.samples}

    def film_settings(self, wildcards: Any) -> dict[str, Any]:
        """The same for a film."""
        part = self.scene(wildcards.scene)
        assert part.film is not None
        return self.many_body_settings(wildcards.scene) | {"film": vars(part.film)}

    def many_body_code(self, wildcards: Any) -> str:
        """Of the runs of one method on many bodies: the engine, the method, the shapes."""
        return self.many_body_method_code(wildcards.method)

    def film_code(self, wildcards: Any) -> str:
        """Of a film."""
        film = self.scene(wildcards.scene).film
        assert film is not None
        return self.many_body_method_code(film.method)

    def _many_body_method_code(self, method: str) -> str:
        return fingerprint("polhode.study.many_body", self._origin("methods", method)) + self._shapes()

    def _shapes(self) -> str:
        """A hash of the pieces."""
        shapes = hashlib.sha256()
        for path in sorted((self.home / "data" / "shapes").glob("*.csv")):
            shapes.update(path.name.encode() + path.read_bytes())
        return shapes.hexdigest()[:16]

    def timing_settings(self, wildcards: Any) -> dict[str, Any]:
        """What the timing of a step depends on, besides the code."""
        cost = self.study.cost
        assert cost is not None
        many = {key: [part.scene, *part.methods] for key, part in self.study.scenes.items()}
        return {"methods": list(self.study.methods), "rounds": cost.rounds, "block": cost.block, "many_body": many}

    def timing_code(self, wildcards: Any) -> str:
        """Of the timing: how it is done, and all methods; not what is made of it."""
        engine = ["polhode.study.many_body_timing"] if self.study.scenes else []
        return fingerprint("polhode.study.timing", *engine) + self.methods_code(wildcards) + (self._shapes() if engine else "")

    def check_code(self, wildcards: Any) -> str:
        """Of one experiment: all methods and problems take part."""
        problems = (self._origin("problems", p) for p in catalogue("polhode.problems"))
        return fingerprint("polhode.study.checks", *problems) + self.methods_code(wildcards)

    # Hashes of code: Snakemake sees only its own files, these see what they import.

    def _simulation_code(self, problem: str, method: str) -> str:
        return fingerprint("polhode.study.cells", self._origin("problems", problem), self._origin("methods", method))

    def _search_code(self, problem: str) -> str:
        return fingerprint("polhode.study.targets", *self._reference(problem))

    @staticmethod
    def _origin(kind: str, key: str) -> Path:
        return catalogue(f"polhode.{kind}").origin(key)

    def reference_code(self, wildcards: Any) -> str:
        """Of the exact solution of one problem."""
        return self._reference_code(wildcards.problem)

    def _reference_code(self, problem: str) -> str:
        return fingerprint(self._script("reference"), self._origin("problems", problem), *self._reference(problem))

    def _reference(self, problem: str) -> list[str]:
        name = self.study.problems[problem].problem.reference
        return [f"polhode.references.{name}"] if isinstance(name, str) else []

    def methods_code(self, wildcards: Any) -> str:
        """Of all methods, for what prints their declarations."""
        return fingerprint(*(self._origin("methods", m) for m in self.study.methods))

    def script_code(self, name: str) -> str:
        """Of one script of the workflow and all that it imports."""
        return fingerprint(self._script(name))

    def notebook_code(self, name: str) -> str:
        """Of a notebook: itself to the letter, since all of it is shown, and the library, of which it may use anything."""
        package = self.home / "src" / "polhode"
        library = (path for path in sorted(package.rglob("*.py")) if "study" not in path.relative_to(package).parts)
        notebook = self.home / "notebooks" / f"{name}.ipynb"
        return fingerprint(self._script("execute_notebook"), notebook, *library) + self._shapes()

    def _script(self, name: str) -> Path:
        return self.home / "workflow" / "scripts" / f"{name}.py"

    def commit(self, wildcards: Any) -> str:
        """The commit that the report names."""
        found = provenance.commit(self.home)
        return f"{found['commit']}{' with changes' if found['dirty'] else ''}"


def many_body_job(scene: str, method: str, step: str, seed: int, settings: Mapping[str, Any], code: str) -> str:
    """What the file of a run of many bodies says about where it comes from; ``scene`` as the configuration names it."""
    return job_text("many_body", {"scene": scene, "method": method, "dt": step, "seed": seed}, settings, code)


def method_seconds(part: ProblemStudy) -> float:
    """What all runs of a cheap method on a problem take, s, as far as it can be told beforehand."""
    runs = len(part.steps)
    steps = sum(step.steps for step in part.steps)
    if part.long_run is not None:
        steps += (1 + part.long_run.switched) * count_steps(part.long_run.dt, part.long_run.horizon)
        runs += 1 + part.long_run.switched
    if part.targets is not None:
        steps += SEARCH_RUNS * round(part.problem.horizon / part.targets.dt_min)
    return steps * STEP_SECONDS + runs * FILE_SECONDS


def _divided(part: ProblemStudy) -> tuple[tuple[str, ...], ...]:
    """The methods of a problem, divided evenly into so many parts that each takes about :data:`PART_SECONDS`."""
    count = min(len(part.methods), max(1, round(len(part.methods) * method_seconds(part) / PART_SECONDS)))
    ends = [round(i * len(part.methods) / count) for i in range(count + 1)]
    return tuple(part.methods[a:b] for a, b in pairwise(ends))
