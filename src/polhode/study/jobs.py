"""The jobs of a study as the workflow's rules need them: names of files, parameters, hashes of the code behind each.

One place, so that what the rules write and what the gathering reads cannot disagree.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from polhode.registry import catalogue
from polhode.study import provenance
from polhode.study.configuration import ProblemStudy, SceneStudy, StepSize, Study
from polhode.study.fingerprint import fingerprint

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
        self.many_body_method_code = cache(self._many_body_method_code)

    # What there is to make.

    def references(self) -> list[str]:
        """One reference file per problem."""
        return [f"{self.results}/references/{problem}.nc" for problem in self.study.problems]

    def cells(self) -> list[str]:
        """One file per problem, method and step size."""
        return [
            f"{self.results}/cells/{key}/{method}/{step.name}.nc"
            for key, part in self.study.problems.items()
            for method in part.methods
            for step in part.steps
        ]

    def long_runs(self) -> list[str]:
        """One file per method and problem with a long run, and one more where it is repeated with normalisation switched."""
        return [
            f"{self.results}/{kind}/{key}/{method}/{part.long_run.name}.nc"
            for key, part in self.study.problems.items()
            if part.long_run is not None
            for kind, methods in long_run_kinds(part).items()
            for method in methods
        ]

    def checks(self) -> list[str]:
        """One file per experiment on single methods."""
        return [f"{self.results}/checks/{name}.nc" for name in self.study.checks]

    def targets(self) -> list[str]:
        """One file per method and problem with target errors."""
        return [
            f"{self.results}/targets/{key}/{method}.nc"
            for key, part in self.study.problems.items()
            if part.targets is not None
            for method in part.methods
        ]

    def figures(self) -> list[str]:
        """All figures, as PDF; each comes with a PNG."""
        return [f"{self.results}/figures/{name}.pdf" for name in FIGURES]

    def tables(self) -> list[str]:
        """All tables, as LaTeX; each comes with a CSV."""
        return [f"{self.results}/tables/{name}.tex" for name in TABLES]

    def data(self) -> list[str]:
        """The data files a reader opens, named so that a deleted one is made again, with the cells it then lacks.

        Not the cells themselves: looking at thousands of them would slow down every run that has nothing to do.
        """
        return [
            f"{self.results}/single_body.nc",
            f"{self.results}/claims.csv",
            *self.references(),
            *self.checks(),
            *self.many_body(),
            *self.films(),
            *self.cost_data(),
        ]

    def captions(self) -> list[str]:
        """What stands under each figure and table, for Snakemake's report."""
        shown = {"figures": FIGURES, "tables": TABLES}
        return [f"{self.results}/captions/{kind}/{name}.rst" for kind, names in shown.items() for name in names]

    def products(self) -> list[str]:
        """All that a finished run leaves for others, in every format: what provenance.json has checksums of."""
        shown = [(path, ".png") for path in self.figures()] + [(path, ".csv") for path in self.tables()]
        numbers = [f"{self.results}/{name}" for name in ("numbers.tex", "cost_numbers.tex", "cost_claims.csv")]
        both = [name for path, other in shown for name in (path, str(Path(path).with_suffix(other)))]
        return [f"{self.results}/report.pdf", *self.data(), *self.animations(), *numbers, *both]

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

    def sources(self) -> list[str]:
        """The files of the report's text."""
        paper = self.home / "paper"
        return [str(p.relative_to(self.home)) for p in sorted(paper.rglob("*")) if p.suffix in (".tex", ".bib")]

    # Parameters of a job.

    def part(self, wildcards: Any) -> ProblemStudy:
        """What is run on the problem of a job."""
        return self.study.problems[wildcards.problem]

    def step(self, wildcards: Any) -> StepSize:
        """The step size of a cell."""
        return self.part(wildcards).step(wildcards.dt)

    def cell_settings(self, wildcards: Any) -> dict[str, Any]:
        """Time to simulate, samples, and whether the last step may be left out, of one cell."""
        part = self.part(wildcards)
        truncate = self.step(wildcards).truncate
        return {"horizon": part.problem.horizon, "samples": part.samples, "truncate": truncate, "switched": False}

    def long_run_settings(self, wildcards: Any) -> dict[str, Any]:
        """The same for a long run."""
        run = self.part(wildcards).long_run
        assert run is not None
        switched = wildcards.kind != "long_runs"
        return {"horizon": run.horizon, "samples": run.samples, "truncate": False, "switched": switched}

    def target_settings(self, wildcards: Any) -> dict[str, Any]:
        """What the search for step sizes depends on."""
        return dict(self.study.resolved["problems"][wildcards.problem]["targets"])

    def reference_settings(self, wildcards: Any) -> dict[str, Any]:
        """What a reference file depends on."""
        part = self.part(wildcards)
        times = hashlib.sha256(part.reference_times().tobytes()).hexdigest()[:16]
        return {"digits": self.study.digits, "check_until": part.check_until, "times": times}

    def scene(self, key: str) -> SceneStudy:
        """What is run on a many-body scene."""
        return self.study.scenes[key]

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

    @staticmethod
    def _origin(kind: str, key: str) -> Path:
        return catalogue(f"polhode.{kind}").origin(key)

    def cell_code(self, wildcards: Any) -> str:
        """Of one run of one method."""
        return self.simulation_code(wildcards.problem, wildcards.method)

    def target_code(self, wildcards: Any) -> str:
        """Of the search for step sizes of one method."""
        return fingerprint("polhode.study.targets", *self._reference(wildcards)) + self.cell_code(wildcards)

    def reference_code(self, wildcards: Any) -> str:
        """Of the exact solution of one problem."""
        origin = self._origin("problems", wildcards.problem)
        return fingerprint(self._script("reference"), origin, *self._reference(wildcards))

    def _reference(self, wildcards: Any) -> list[str]:
        name = self.part(wildcards).problem.reference
        return [f"polhode.references.{name}"] if isinstance(name, str) else []

    def methods_code(self, wildcards: Any) -> str:
        """Of all methods, for what prints their declarations."""
        return fingerprint(*(self._origin("methods", m) for m in self.study.methods))

    def script_code(self, name: str) -> str:
        """Of one script of the workflow and all that it imports."""
        return fingerprint(self._script(name))

    def _script(self, name: str) -> Path:
        return self.home / "workflow" / "scripts" / f"{name}.py"

    def commit(self, wildcards: Any) -> str:
        """The commit that the report names."""
        found = provenance.commit(self.home)
        return f"{found['commit']}{' with changes' if found['dirty'] else ''}"
