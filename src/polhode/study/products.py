"""The files that a study makes for its readers, for use in the workflow's rules: figures, tables, numbers, notebooks, pages.

This module is separate from :mod:`polhode.study.plan`, which is imported by the scripts that run and gather: editing a theme
does not affect those.
"""

import hashlib
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from polhode.study import provenance, themes
from polhode.study.artefacts import ARTEFACTS, CHECKOUT, Names, Role, needs, places
from polhode.study.fingerprint import fingerprint
from polhode.study.plan import Plan
from polhode.study.report import macros

#: Published-scale results, and those of other codes, which every run shows.
RELEASED = CHECKOUT["released"]
RELEASED_ENGINES = "peers.csv", "contacts.nc", "liquids_lammps.nc", "atlas.nc"
#: What of the package is no part of the library.
NO_LIBRARY = "study", "cli", "documentation", "__main__.py"


def library(home: Path) -> list[Path]:
    """All modules of the library. What else a notebook imports is found in its text."""
    package = home / "src" / "polhode"
    return [path for path in sorted(package.rglob("*.py")) if path.relative_to(package).parts[0] not in NO_LIBRARY]


class Products(Plan):
    """A plan, extended by the products made from its data files."""

    def units(self, rule: str) -> float:
        """The number of units of work in a job of this rule, for the progress display: runs, rounds or files."""
        kind, _, key = rule.partition("_")
        if kind == "chapter" and key in themes.chapters():
            return len(self.chapter_files(key))
        return super().units(rule)

    def names(self, kind: str) -> Iterable[Names]:
        """The names of the files of a kind; those of figures, tables and numbers are declared by the themes."""
        themed = ARTEFACTS[kind].themed
        return themes.names(themed) if themed else super().names(kind)

    def places(self, wildcards: Any) -> dict[str, Any]:
        """The data of this study, as arguments of ``Inputs``."""
        return self._places(needs())

    def published(self) -> list[str]:
        """Paths of the data taken from the papers: published numbers, errata and the index of the sources."""
        return self._below("data", ".csv", ".yaml", ".nc")

    def sources(self) -> list[str]:
        """Paths of the source files of the report's text."""
        return self._below("paper", ".tex", ".bib")

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
        return self._below("src/polhode/study/explorer", ".html", ".css", ".js")

    def needed(self, chapter: str) -> list[str]:
        """Paths of the files that the themes of a chapter are made from, according to their needs."""
        wanted = dict.fromkeys(need for theme in themes.chapters()[chapter].values() for need in theme.needs)
        return [path for need in wanted if need in ARTEFACTS for path in self.files(need)]

    def chapter_files(self, chapter: str) -> list[str]:
        """Paths of what the report takes from a chapter: its figures as PDF, its tables as LaTeX, and its numbers."""
        keys = themes.chapters()[chapter]
        kinds = ("figures", "tables", "numbers")
        return [path for kind in kinds for key in keys for path in self.files(kind, themes.names(kind, key))]

    def chapter_places(self, chapter: str) -> dict[str, dict[str, Any]]:
        """The data that each theme of a chapter needs (:meth:`theme_places`)."""
        return {theme: self.theme_places(theme) for theme in themes.chapters()[chapter]}

    def theme_places(self, theme: str) -> dict[str, Any]:
        """The data that a theme needs, and nothing else, as arguments of ``Inputs``."""
        wanted = themes.all_themes()[theme].needs
        return self._places(wanted) | ({"checkout": provenance.commit(self.home)} if "checkout" in wanted else {})

    def _places(self, wanted: Iterable[str]) -> dict[str, Any]:
        return places(self.results, [kind for kind in wanted if kind in ARTEFACTS and self.files(kind)])

    def chapter_code(self, chapter: str) -> str:
        """Hash of the script for figures, tables and numbers, and of a chapter's modules with what they import."""
        folder = self.home / "src" / "polhode" / "study" / "themes"
        modules = (
            folder / key / f"{name}.py" for key in themes.chapters()[chapter] for name in ("figures", "tables", "numbers")
        )
        code = fingerprint(self._script("chapter"), *(path for path in modules if path.is_file()))
        return code + self.released_engines()

    def released_engines(self) -> str:
        """Hash of the released comparisons of engines.

        They are inputs of all themes, but Snakemake overlooks a file replaced by another that is older than the figures.
        """
        shown = [file for name in RELEASED_ENGINES if (file := self.home / RELEASED / name).is_file()]
        return "".join(provenance.sha256(file)[:16] for file in shown)

    def used_macros(self) -> str:
        """A hash of the macros used in the text of the report: only these are written."""
        return self._used_macros

    @cached_property
    def _used_macros(self) -> str:
        return hashlib.sha256(
            " ".join(sorted(macros.used(self.home / path for path in self.sources() if path.endswith(".tex")))).encode()
        ).hexdigest()[:16]

    def captions(self) -> list[str]:
        """Paths of the captions of figures and tables, for Snakemake's report."""
        return [*self.files("figure_captions"), *self.files("table_captions")]

    def products(self) -> list[str]:
        """Paths of all files that a finished run leaves, in every format; provenance.json holds their checksums."""
        return self.files_of(Role.PRODUCT, Role.DATA)
