"""The files that a study makes for its readers, for use in the workflow's rules: figures, tables, numbers, notebooks, pages.

This module is separate from :mod:`polhode_study.plan`, which is imported by the scripts that run and gather: editing a chapter
does not affect those.
"""

import hashlib
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from polhode_study import chapters, provenance
from polhode_study.artefacts import ARTEFACTS, CHECKOUT, Names, Role, needs, places
from polhode_study.fingerprint import fingerprint
from polhode_study.plan import Plan
from polhode_study.report import macros

#: Published-scale results, and those of other codes, which every run shows.
RELEASED = CHECKOUT["released"]
#: What of the packages below the study is no part of the library.
NO_LIBRARY = "cli", "__main__.py"


def library(home: Path) -> list[Path]:
    """All modules of the library and of the engines. What else a notebook imports is found in its text."""
    packages = [home / "src" / name for name in ("polhode", "polhode_engines")]
    files = [(path, path.relative_to(package).parts[0]) for package in packages for path in sorted(package.rglob("*.py"))]
    return [path for path, top in files if top not in NO_LIBRARY]


class Products(Plan):
    """A plan, extended by the products made from its data files."""

    def units(self, rule: str) -> float:
        """The number of units of work in a job of this rule, for the progress display: runs, rounds or files."""
        kind, _, key = rule.partition("_")
        if kind == "chapter" and key in chapters.jobs():
            return len(self.job_files(key))
        return super().units(rule)

    def names(self, kind: str) -> Iterable[Names]:
        """The names of the files of a kind; chapters declare the names of figures, tables and numbers."""
        of_chapters = ARTEFACTS[kind].of_chapters
        return chapters.names(of_chapters) if of_chapters else super().names(kind)

    def places(self, wildcards: Any) -> dict[str, Any]:
        """The data of this study, as arguments of ``Inputs``."""
        return self._places(needs())

    def published(self) -> list[str]:
        """Paths of the data taken from the papers: published numbers, errata and the index of the sources."""
        return self._below("data", ".csv", ".json", ".yaml", ".nc")

    def claims(self, timed: bool) -> list[str]:
        """Paths of what the publications state about time, or about everything else."""
        return [str(path.relative_to(self.home)) for path in chapters.files(self.home, "claims.yaml", timed)]

    def statements(self) -> list[str]:
        """Paths of all that the publications state, and of where each statement is shown."""
        return self._below(str(chapters.FOLDER), ".yaml")

    def sources(self) -> list[str]:
        """Paths of the source files of the report's text."""
        return [*self._below("paper", ".tex", ".bib"), *self._below(str(chapters.FOLDER), ".tex")]

    def _below(self, folder: str, *suffixes: str) -> list[str]:
        if folder not in self._files_below:
            paths = sorted((self.home / folder).rglob("*"))
            self._files_below[folder] = [(str(p.relative_to(self.home)), p.suffix) for p in paths]
        return [path for path, suffix in self._files_below[folder] if suffix in suffixes]

    @cached_property
    def _files_below(self) -> dict[str, list[tuple[str, str]]]:
        """Folder of the checkout -> the paths below it and their suffixes, once looked for: a start asks forty times."""
        return {}

    def commit(self, wildcards: Any) -> str:
        """The commit named in the report."""
        state = provenance.commit(self.home)
        return f"{state['commit']}{' with changes' if state['dirty'] else ''}"

    def notebook_inputs(self, name: str) -> list[str]:
        """Paths of the files that a notebook reads. Most notebooks need not wait for the timing."""
        single, reference = f"{self.results}/single_body.nc", f"{self.results}/references/spiral_cylinder.nc"
        return {
            "tour": self.data(),
            "choose-a-method": [single, *self.files("cost")],
            "many-bodies": [*self.files("many_body"), f"{RELEASED}/{ARTEFACTS['many_body'].released}"],
            "liquids": [f"{RELEASED}/liquids.nc"],
            "heat-baths": [f"{RELEASED}/liquids.nc"],
            "add-a-method": [single],
            "the-reference": [single, *(path for path in self.files("references") if path == reference)],
        }[name]

    def notebook_code(self, name: str) -> str:
        """Hash of a notebook, every character of which is shown, and of the library, any part of which it may use."""
        notebook = self.home / "notebooks" / f"{name}.ipynb"
        return fingerprint(self._script("execute_notebook"), notebook) + self._library_code + self._shapes()

    @cached_property
    def _library_code(self) -> str:
        return fingerprint(*library(self.home))

    def page_sources(self) -> list[str]:
        """Paths of the sources of the interactive page other than Python: template, style and scripts."""
        return self._below("src/polhode_study/explorer", ".html", ".css", ".js", ".yaml")

    def needed(self, job: str) -> list[str]:
        """Paths of the files that the chapters of a job are made from, according to their needs."""
        members = chapters.jobs()[job].values()
        kinds = dict.fromkeys(kind for chapter in members for kind in chapter.kinds if kind in ARTEFACTS and kind != "checks")
        checks = dict.fromkeys(check for chapter in members for check in chapter.checks_needed if check in self.study.checks)
        return [*(path for kind in kinds for path in self.files(kind)), *self.files("checks", checks)]

    def job_files(self, job: str) -> list[str]:
        """Paths of what the report takes from these chapters: figures as PDF, tables as LaTeX, and numbers."""
        return self.chapter_files(*chapters.jobs()[job])

    def chapter_files(self, *keys: str) -> list[str]:
        """Paths of the same of single chapters."""
        return [path for kind in ("figures", "tables", "numbers") for path in self.files(kind, chapters.names(kind, *keys))]

    def job_places(self, job: str) -> dict[str, dict[str, Any]]:
        """The data that each chapter of a job needs (:meth:`places_of`)."""
        return {chapter: self.places_of(chapter) for chapter in chapters.jobs()[job]}

    def places_of(self, chapter: str) -> dict[str, Any]:
        """The data that a chapter needs, and nothing else, as arguments of ``Inputs``."""
        declared = chapters.all_chapters()[chapter]
        checkout = {"checkout": provenance.commit(self.home)} if "checkout" in declared.kinds else {}
        return self._places(declared.kinds) | {"checks_needed": list(declared.checks_needed)} | checkout

    def _places(self, wanted: Iterable[str]) -> dict[str, Any]:
        return places(self.results, [kind for kind in wanted if kind in ARTEFACTS and self.files(kind)])

    def job_code(self, job: str) -> str:
        """Hash of the script for figures, tables and numbers, and of its chapters' modules with what they import."""
        folders = [self.home / chapters.FOLDER / key for key in chapters.jobs()[job]]
        modules = (folder / f"{name}.py" for folder in folders for name in ("figures", "tables", "numbers"))
        code = fingerprint(self._script("chapter"), "polhode.interface.table", *(path for path in modules if path.is_file()))
        return code + self.released_files(job)

    def claims_code(self, timed: bool) -> str:
        """Hash of the script that judges, and of the measures of the chapters."""
        return fingerprint(self._script("claims"), "polhode.interface.table", *chapters.files(self.home, "measures.py", timed))

    def released_files(self, job: str) -> str:
        """Hash of the released files that chapters name: Snakemake overlooks one replaced by another older than the figures."""
        names = dict.fromkeys(name for chapter in chapters.jobs()[job].values() for name in chapter.released)
        shown = [file for name in names if (file := self.home / RELEASED / name).is_file()]
        return "".join(provenance.sha256(file)[:16] for file in shown)

    def used_macros(self) -> str:
        """A hash of the macros used in the text of the report: only these are written."""
        return self._used_macros

    @cached_property
    def _used_macros(self) -> str:
        return hashlib.sha256(" ".join(sorted(macros.used(chapters.texts(self.home)))).encode()).hexdigest()[:16]

    def captions(self) -> list[str]:
        """Paths of the captions of figures and tables, for Snakemake's report."""
        return [*self.files("figure_captions"), *self.files("table_captions")]

    def products(self) -> list[str]:
        """Paths of all files that a finished run leaves, in every format; provenance.json holds their checksums."""
        return self.files_of(Role.PRODUCT, Role.DATA)
