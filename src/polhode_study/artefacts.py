"""What a run leaves behind: one declaration for each kind of file in the folder of results.

Whatever goes through the files of a run asks this table: the plan (which files a study has), the chapters (which data they may
need), ``polhode.open_results``, archives (what a file means), ``polhode verify`` (what is compared), the list of variables, and
the progress display (the stage of a rule). CONTRIBUTING.md, "A new kind of run", says what else a new kind needs. Jobs import
it, so it imports the standard library alone. What a file calls itself (:data:`polhode.interface.cf_attributes.TITLES`) is part
of its bytes and stands with the code that writes files, whose hash should not change with a word in this table.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a type only
    from polhode_study.configuration import Study

#: The names that fill the path of one file: one, or several in the order of the path.
Names = str | tuple[str, ...]


class Role(StrEnum):
    """What the files of a kind are for, and with it whether they are archived."""

    DATA = "opened by later stages and by readers; archived"
    PRODUCT = "made from the data for people; archived"
    RUN = "a single run, whose values are in the data; archived with --runs"
    RECORD = "about the run itself, or only for Snakemake; not archived, except provenance.json"
    ON_DEMAND = "made by another command; archived if it is there"


class Verify(StrEnum):
    """What ``polhode verify`` does with the values of a kind of file; the bytes of all files are checked in any case."""

    COMPARED = "compared with another run"
    TIMED = "not compared: measured times, or made from them"
    DERIVED = "not compared: pictures and texts made from the data"
    GATHERED = "not compared: single runs, whose values the data hold"
    ABOUT = "not compared: about the run itself"


DATA, PRODUCT, RUN, RECORD, ON_DEMAND = Role
COMPARED, TIMED, DERIVED, GATHERED, ABOUT = Verify

#: The stages of a study in the order in which they begin, and what is counted in each.
STAGES = {
    "references": "problems",
    "single bodies": "files",
    "checks": "experiments",
    "many bodies": "files",
    "random bodies": "methods",
    "timing": "rounds",
    "figures and tables": "files",
    "notebooks": "notebooks",
    "explorer": "pages",
    "report": "files",
}
#: Data of the checkout as arguments of :class:`polhode_study.inputs.Inputs`; every chapter may show them.
CHECKOUT = {
    "published": "data/published",
    "errata": "data/errata.yaml",
    "sources": "data/sources.yaml",
    "released": "data/released",
}


@dataclass(frozen=True)
class Artefact:
    """The declaration of a kind of file.

    Parameters
    ----------
    key : str
        Its name in the plan, and among the needs of a chapter.
    path : str
        Path in the folder of results, with the names of objects in braces; ``{any}`` also matches folders.
    role, verify : Role, Verify
        What it is for, and whether its values are compared with those of another run.
    rule, stage : str
        The rules that make it, as a pattern, and the stage of the progress to which they belong, a key of :data:`STAGES`; both
        empty for what no rule has as output.
    meaning : str
        What a file holds, in words that an archive repeats; with the names of the path.
    names : callable
        The names that fill the path in a study, an entry for each file. By default there is one file if the path has no names,
        and none that Snakemake sees if it has.
    of_chapters : str
        ``figures``, ``tables`` or ``numbers`` if the chapters declare the names instead. Those of a chapter that shows times
        are not compared, whatever ``verify`` says.
    is_reported : bool
        Whether the report reads it, through :class:`polhode_study.inputs.Inputs`.
    released : str
        The file in data/released that has the same at the published scale.
    checksums_only : bool
        Whether a manifest keeps no values: the checksums suffice for pictures.
    """

    key: str
    path: str
    role: Role
    verify: Verify
    rule: str
    stage: str
    meaning: str
    names: Callable[["Study"], Iterable[Names]] | None = None
    of_chapters: str = ""
    is_reported: bool = False
    released: str = ""
    checksums_only: bool = False

    @cached_property
    def fields(self) -> list[str]:
        """The names in the path."""
        return re.findall(r"\{(\w+)\}", self.path)

    @cached_property
    def root(self) -> str:
        """The file, or the folder of several."""
        return self.path.partition("{")[0].rstrip("/")

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        texts = map(re.escape, re.split(r"\{\w+\}", self.path))
        groups = [f"(?P<{name}>{'.+' if name == 'any' else '[^/]+'})" for name in self.fields]
        return re.compile("".join(chain.from_iterable(zip(texts, [*groups, ""], strict=True))))

    def match(self, name: str) -> dict[str, str] | None:
        """The names in the path of a file of this kind, relative to the results; None if it is of another kind."""
        match = self._expression.fullmatch(name)
        return None if match is None else match.groupdict()

    def filled(self, names: Names) -> str:
        """The path of one file."""
        values = (names,) if isinstance(names, str) else names
        return self.path.format(**dict(zip(self.fields, values, strict=True)))

    def names_in(self, study: "Study") -> Iterable[Names]:
        """The names that fill the path in a study."""
        return self.names(study) if self.names else () if self.fields else ((),)

    def present(self, results: Path) -> list[Path]:
        """The files of this kind in a folder of results, sorted."""
        return sorted(path for path in results.glob(re.sub(r"\{\w+\}", "*", self.path)) if path.is_file())


def _one_if(section: str) -> Callable[["Study"], tuple[Names, ...]]:
    return lambda study: ((),) if getattr(study, section) else ()


def _filmed(study: "Study") -> list[str]:
    return [key for key, scene in study.scenes.items() if scene.film is not None]


def _animated(study: "Study") -> list[str]:
    """The scenes of which a moving picture is made without being asked for: drawing one takes longer than most jobs."""
    return _filmed(study) if study.release is None else []


def _ensemble_methods(study: "Study") -> tuple[str, ...]:
    return study.ensembles.methods if study.ensembles is not None else ()


def _runs(study: "Study") -> list[Names]:
    return [(key, name, m) for key, problem in study.problems.items() for m in problem.methods for name in problem.sets(m)]


def _long_runs(switched: bool) -> Callable[["Study"], list[Names]]:
    return lambda study: [(key, m) for key, problem in study.problems.items() for m in problem.long_run_methods(switched)]


def _targets(study: "Study") -> list[Names]:
    return [(key, m) for key, problem in study.problems.items() if problem.targets is not None for m in problem.methods]


def _many_body_runs(study: "Study") -> list[Names]:
    scenes = study.scenes.items()
    return [(key, step.name, m) for key, scene in scenes for m in scene.methods for step in scene.steps if step.runs(m)]


_SHOWN = "figures and tables"
# fmt: off
#: All kinds of files by their keys, two lines each: a table is read by its columns.
ARTEFACTS = {artefact.key: artefact for artefact in (
    # Data, in the order in which readers are shown them.
    Artefact("single_body", "single_body.nc", DATA, COMPARED, "gather", _SHOWN,
             "errors, orders, steps and torque evaluations of all methods on single bodies", is_reported=True),
    Artefact("many_body", "many_body.nc", DATA, COMPARED, "gather_many_body", _SHOWN,
             "energy errors of many bodies", _one_if("scenes"), is_reported=True, released="many_body.nc"),
    Artefact("ensembles", "ensembles.nc", DATA, COMPARED, "gather_ensembles", _SHOWN,
             "errors of all methods on random bodies, and the laws that they follow", _one_if("ensembles"),
             is_reported=True, released="laws.nc"),
    Artefact("ensemble_states", "ensemble_states.nc", DATA, COMPARED, "ensemble_states", "random bodies",
             "the random bodies, and their exact states", _one_if("ensembles")),
    Artefact("cost", "cost.nc", DATA, TIMED, "cost", _SHOWN,
             "times to target errors, made from measured times", _one_if("cost"), is_reported=True, released="cost.nc"),
    Artefact("timing", "timing.nc", DATA, TIMED, "timing", "timing",
             "the time of a step of each method, measured on one machine", _one_if("cost")),
    Artefact("references", "references/{problem}.nc", DATA, COMPARED, "references_*", "references",
             "the reference solution of {problem}, to arbitrary precision", lambda study: study.problems,
             is_reported=True),
    Artefact("checks", "checks/{check}.nc", DATA, COMPARED, "checks_*", "checks",
             "an experiment on single methods: {check}", lambda study: study.checks, is_reported=True, released="grains.nc"),
    Artefact("films", "films/{scene}.nc", DATA, COMPARED, "film", "many bodies",
             "a short run of the scene {scene}, for pictures", _filmed, is_reported=True, checksums_only=True),
    Artefact("claims", "claims.csv", DATA, COMPARED, "claims", _SHOWN,
             "statements of the publications, what this run measured, and the verdict", is_reported=True),
    # Products.
    Artefact("cost_claims", "cost_claims.csv", PRODUCT, TIMED, "cost_claims", _SHOWN,
             "the same for statements about time", is_reported=True),
    Artefact("figures", "figures/{figure}.pdf", PRODUCT, DERIVED, "chapter_*", _SHOWN,
             "figure {figure} of the report", of_chapters="figures"),
    Artefact("figures_png", "figures/{figure}.png", PRODUCT, DERIVED, "chapter_*", _SHOWN,
             "figure {figure} of the report", of_chapters="figures"),
    Artefact("tables", "tables/{table}.tex", PRODUCT, DERIVED, "chapter_*", _SHOWN,
             "table {table} of the report", of_chapters="tables"),
    Artefact("tables_csv", "tables/{table}.csv", PRODUCT, COMPARED, "chapter_*", _SHOWN,
             "table {table} of the report", of_chapters="tables"),
    Artefact("numbers", "numbers/{chapter}.tex", PRODUCT, DERIVED, "chapter_*", _SHOWN,
             "the numbers of the report's text", of_chapters="numbers"),
    Artefact("animation", "animation/{scene}.gif", PRODUCT, DERIVED, "animation", _SHOWN,
             "a moving picture of the scene {scene}", _animated),
    Artefact("report", "report.pdf", PRODUCT, DERIVED, "report", "report",
             "the report"),
    Artefact("supplement", "supplement.pdf", PRODUCT, DERIVED, "report", "report",
             "the supplement of the report: sources, methods, tables and verdicts one by one"),
    Artefact("explorer", "explorer.html", PRODUCT, TIMED, "explorer", "explorer",
             "the results as one interactive page for a browser"),
    Artefact("notebooks", "notebooks/{notebook}.html", PRODUCT, DERIVED, "notebook_*", "notebooks",
             "the notebook {notebook}, executed over the results of this run", lambda study: study.notebooks),
    Artefact("notebooks_ipynb", "notebooks/{notebook}.ipynb", PRODUCT, DERIVED, "notebook_*", "notebooks",
             "the same as a notebook: {notebook}", lambda study: study.notebooks),
    # Single runs: an archive describes each kind as a whole.
    Artefact("runs", "runs/{problem}/{steps}/{method}.nc", RUN, GATHERED, "single_body_*", "single bodies",
             "runs of one method on one problem with a set of step sizes", _runs),
    Artefact("ensemble_runs", "ensembles/{method}.nc", RUN, GATHERED, "ensemble_*", "random bodies",
             "errors of one method each on random bodies", _ensemble_methods),
    Artefact("long_runs", "long_runs/{problem}/{method}.nc", RUN, GATHERED, "single_body_*", "single bodies",
             "long runs of one method on one problem", _long_runs(switched=False)),
    Artefact("long_runs_switched", "long_runs_switched/{problem}/{method}.nc", RUN, GATHERED, "single_body_*",
             "single bodies", "the same with the normalisation switched", _long_runs(switched=True)),
    Artefact("many_body_runs", "many_body/{scene}/{dt}/{method}.nc", RUN, GATHERED, "many_body_*", "many bodies",
             "runs of many bodies with one method and step size, from all initial states", _many_body_runs),
    Artefact("targets", "targets/{problem}/{method}.nc", RUN, GATHERED, "single_body_*", "single bodies",
             "the step sizes with which one method meets target errors on one problem", _targets),
    # About the run.
    Artefact("provenance", "provenance.json", RECORD, ABOUT, "provenance", "report",
             "code, configuration, versions, machine and cost of the run"),
    Artefact("figure_captions", "captions/figures/{figure}.rst", RECORD, DERIVED, "captions", _SHOWN,
             "the caption of figure {figure}, for Snakemake's page", of_chapters="figures"),
    Artefact("table_captions", "captions/tables/{table}.rst", RECORD, DERIVED, "captions", _SHOWN,
             "the caption of table {table}, for Snakemake's page", of_chapters="tables"),
    Artefact("page", "report.html", ON_DEMAND, DERIVED, "", "",
             "the pictures, tables and rules of the run in one page"),
    Artefact("written", "written/{any}.json", RECORD, ABOUT, "", "",
             "the outputs of a job, with checksums"),
    Artefact("logs", "logs/{any}", RECORD, ABOUT, "", "",
             "what a job printed"),
    Artefact("benchmarks", "benchmarks/{any}.tsv", RECORD, ABOUT, "", "",
             "time and memory of a job"),
    Artefact("lock", ".lock", RECORD, ABOUT, "", "",
             "which run uses the folder"),
)}
# fmt: on


def with_role(role: Role) -> list[Artefact]:
    """The kinds with this role, in their order."""
    return [artefact for artefact in ARTEFACTS.values() if artefact.role is role]


def kind_of(name: str) -> Artefact | None:
    """The kind of a file of a run, by its path in the results; None for a file of another version or of the user."""
    return next((artefact for artefact in ARTEFACTS.values() if artefact.match(name) is not None), None)


def is_of_run(name: str) -> bool:
    """Whether a file is one of a run, by its path in the results."""
    return kind_of(name) is not None


def meaning(name: str) -> str:
    """What a file of a run holds, by its path in the results; empty if it is of no kind."""
    artefact = kind_of(name)
    return artefact.meaning.format(**(artefact.match(name) or {})) if artefact is not None else ""


def stages() -> dict[str, tuple[str, tuple[str, ...]]]:
    """The stages of a study: what is counted in each, and the patterns of its rules."""
    return {
        stage: (unit, tuple(dict.fromkeys(each.rule for each in ARTEFACTS.values() if each.stage == stage)))
        for stage, unit in STAGES.items()
    }


def needs() -> dict[str, str]:
    """The data that a chapter may need, and their meaning: what the report reads, and the commit that is checked out."""
    return {key: each.meaning for key, each in ARTEFACTS.items() if each.is_reported} | {"checkout": "the commit checked out"}


def places(results: str | Path, kinds: Iterable[str]) -> dict[str, Any]:
    """The arguments of :class:`polhode_study.inputs.Inputs` for files of these kinds, and for the data of the checkout."""
    return CHECKOUT | {kind: f"{results}/{ARTEFACTS[kind].root}" for kind in kinds}
