"""The files that a study makes for its readers, for use in the workflow's rules: figures, tables, numbers, notebooks, pages.

This module is separate from :mod:`polhode.study.plan`, which is imported by the scripts that run and gather: editing a theme
does not affect those.
"""

import hashlib
from pathlib import Path
from typing import Any

from polhode.study import provenance, themes
from polhode.study.fingerprint import fingerprint
from polhode.study.plan import Plan
from polhode.study.report import macros
from polhode.study.report.typeset import DOCUMENTS
from polhode.study.storage import DamagedFile, read_dataset

#: Shown if the run makes no atlas of its own.
RELEASED_ATLAS = "data/released/atlas.nc"
#: Always shown.
RELEASED_PEERS = "data/released/peers.csv"


class Products(Plan):
    """A plan, extended by the products made from its data files."""

    def units(self, rule: str) -> float:
        """The number of units of work in a job of this rule, for the progress display: runs, rounds or files."""
        kind, _, key = rule.partition("_")
        found = themes.chapters().get(key)
        if found is None or kind != "chapter":
            return super().units(rule)
        return sum(len(theme.figures) + len(theme.tables) + bool(theme.numbers) for theme in found.values())

    def places(self, wildcards: Any) -> dict[str, str]:
        """The data available to figures, tables and numbers, as arguments of ``Inputs``."""
        return {
            "single_body": f"{self.results}/single_body.nc",
            "references": f"{self.results}/references",
            "checks": f"{self.results}/checks",
            "claims": f"{self.results}/claims.csv",
            "many_body_file": next(iter(self.many_body()), ""),
            "films": f"{self.results}/films",
            "released": "data/released",
            "ensembles_file": next(iter(self.ensembles()), ""),
            "atlas_file": next(iter(self.atlas()), ""),
            "cost_file": next(iter(self.cost()), ""),
            "cost_claims": f"{self.results}/cost_claims.csv",
            "published": "data/published",
            "errata": "data/errata.yaml",
            "sources": "data/sources.yaml",
        }

    def published(self) -> list[str]:
        """Paths of the data taken from the papers: published numbers, errata and the index of the sources."""
        return [
            str(p.relative_to(self.home))
            for p in sorted((self.home / "data").rglob("*"))
            if p.suffix in (".csv", ".yaml", ".nc")
        ]

    def sources(self) -> list[str]:
        """Paths of the source files of the report's text."""
        paper = self.home / "paper"
        return [str(p.relative_to(self.home)) for p in sorted(paper.rglob("*")) if p.suffix in (".tex", ".bib")]

    def commit(self, wildcards: Any) -> str:
        """The commit named in the report."""
        found = provenance.commit(self.home)
        return f"{found['commit']}{' with changes' if found['dirty'] else ''}"

    def figures(self) -> list[str]:
        """Paths of all figures as PDF; each has a PNG as well."""
        return [f"{self.results}/figures/{name}.pdf" for name in themes.names("figures")]

    def tables(self) -> list[str]:
        """Paths of all tables as LaTeX; each has a CSV as well."""
        return [f"{self.results}/tables/{name}.tex" for name in themes.names("tables")]

    def numbers(self) -> list[str]:
        """Paths of the numbers used in the text, one file for each theme that has any."""
        return [self.numbers_of(key) for key, theme in themes.all_themes().items() if theme.numbers]

    def numbers_of(self, theme: str) -> str:
        """Path of the file with the numbers of a theme."""
        return f"{self.results}/numbers/{theme}.tex"

    def claims(self) -> list[str]:
        """Paths of the published statements compared with the measurements of this run."""
        return [f"{self.results}/claims.csv"]

    def cost_claims(self) -> list[str]:
        """Paths of the published statements about time, compared with measurements."""
        return [f"{self.results}/cost_claims.csv"]

    def animations(self) -> list[str]:
        """Paths of the animations, one for each film."""
        return [path.replace("/films/", "/animation/").replace(".nc", ".gif") for path in self.films()]

    def notebooks(self, *endings: str) -> list[str]:
        """Paths of the notebooks executed over the results: a page each, and the notebook itself with its outputs."""
        kinds = endings or ("html", "ipynb")
        return [f"{self.results}/notebooks/{name}.{kind}" for name in self.study.notebooks for kind in kinds]

    def notebook_inputs(self, name: str) -> list[str]:
        """Paths of the files that a notebook reads. Most notebooks need not wait for the timing."""
        single, reference = f"{self.results}/single_body.nc", f"{self.results}/references/spiral_cylinder.nc"
        return {
            "tour": self.data(),
            "choose-a-method": [single, *self.cost()],
            "many-bodies": [*self.many_body(), "data/released/many_body.nc"],
            "add-a-method": [single],
            "the-reference": [single, *(path for path in self.references() if path == reference)],
        }[name]

    def notebook_code(self, name: str) -> str:
        """Hash of a notebook, every character of which is shown, and of the library, any part of which it may use."""
        package = self.home / "src" / "polhode"
        library = (path for path in sorted(package.rglob("*.py")) if "study" not in path.relative_to(package).parts)
        notebook = self.home / "notebooks" / f"{name}.ipynb"
        return fingerprint(self._script("execute_notebook"), notebook, *library) + self._shapes()

    def explorer(self) -> str:
        """Path of the interactive page. It shows times, which differ from run to run; everything else in it is reproducible."""
        return f"{self.results}/explorer.html"

    def page_sources(self) -> list[str]:
        """Paths of the sources of that page other than Python: template, style and scripts."""
        folder = self.home / "src" / "polhode" / "study" / "explorer"
        return [str(p.relative_to(self.home)) for p in sorted(folder.iterdir()) if p.suffix in (".html", ".css", ".js")]

    def needed(self, chapter: str) -> list[str]:
        """Paths of the files that the themes of a chapter are made from, according to their needs."""
        kinds = {
            "single_body": [f"{self.results}/single_body.nc"],
            "references": self.references(),
            "checks": self.checks(),
            "many_body": self.many_body(),
            "films": self.films(),
            "ensembles": self.ensembles(),
            "atlas": self.atlas(),
            "cost": self.cost(),
            "claims": self.claims(),
            "cost_claims": self.cost_claims(),
            "checkout": [],
        }
        needs = dict.fromkeys(need for theme in themes.chapters()[chapter].values() for need in theme.needs)
        return [path for need in needs for path in kinds[need]]

    def chapter_files(self, chapter: str) -> list[str]:
        """Paths of what the report takes from a chapter: its figures as PDF, its tables as LaTeX, and its numbers."""
        found = themes.chapters()[chapter]
        figures = [f"{self.results}/figures/{name}.pdf" for theme in found.values() for name in theme.figures]
        tables = [f"{self.results}/tables/{name}.tex" for theme in found.values() for name in theme.tables]
        return [*figures, *tables, *(self.numbers_of(key) for key, theme in found.items() if theme.numbers)]

    def chapter_places(self, chapter: str) -> dict[str, dict[str, Any]]:
        """The data that each theme of a chapter needs (:meth:`theme_places`)."""
        return {theme: self.theme_places(theme) for theme in themes.chapters()[chapter]}

    def theme_places(self, theme: str) -> dict[str, Any]:
        """The data that a theme needs, and nothing else, as arguments of ``Inputs``."""
        needs = set(themes.all_themes()[theme].needs)
        own = {
            "single_body": "single_body",
            "references": "references",
            "checks": "checks",
            "many_body": "many_body_file",
            "films": "films",
            "ensembles": "ensembles_file",
            "atlas": "atlas_file",
            "cost": "cost_file",
            "claims": "claims",
            "cost_claims": "cost_claims",
        }
        places = self.places(None)
        found = {name: places[name] for name in ("published", "errata", "sources", "released")}
        found |= {name: places[name] for need, name in own.items() if need in needs}
        found.setdefault("single_body", "")
        return found | ({"checkout": provenance.commit(self.home)} if "checkout" in needs else {})

    def chapter_code(self, chapter: str) -> str:
        """Hash of the script for figures, tables and numbers, and of a chapter's modules with what they import."""
        folder = self.home / "src" / "polhode" / "study" / "themes"
        found = themes.chapters()[chapter]
        modules = (folder / key / f"{part}.py" for key in found for part in ("figures", "tables", "numbers"))
        code = fingerprint(self._script("chapter"), *(path for path in modules if path.is_file()))
        return code + (self.released_engines() if any("atlas" in theme.needs for theme in found.values()) else "")

    def released_engines(self) -> str:
        """Hash of the released comparison of engines, and of the released atlas where it stands in for one of the run.

        They are inputs of all themes, but Snakemake overlooks a file replaced by another that is older than the figures.
        """
        path = self.home / RELEASED_ATLAS
        peers = self.home / RELEASED_PEERS
        shown = [file for file in (peers, *([] if self.atlas() else [path])) if file.is_file()]
        return "".join(provenance.sha256(file)[:16] for file in shown)

    def engine_present(self, key: str) -> bool:
        """Whether the rows of an engine exist or can be made: an engine that is installed later is a reason to run again.

        Worked out where jobs are planned; the job looks for itself whether its machine has the engine.
        """
        from polhode.engines import all_engines, is_installed

        engine, path = all_engines()[key], Path(f"{self.results}/atlas/{key}.nc")
        assert self.study.atlas is not None
        return (self.study.atlas.install and not engine.debian) or _has_rows(path) or is_installed(engine)

    def used_macros(self) -> str:
        """A hash of the macros used in the text of the report: only these are written."""
        return hashlib.sha256(
            " ".join(sorted(macros.used(self.home / path for path in self.sources() if path.endswith(".tex")))).encode()
        ).hexdigest()[:16]

    def documents(self) -> list[str]:
        """Paths of the documents for readers: the article and its supplement."""
        return [f"{self.results}/{name}.pdf" for name in DOCUMENTS]

    def captions(self) -> list[str]:
        """Paths of the captions of figures and tables, for Snakemake's report."""
        shown = {kind: themes.names(kind) for kind in ("figures", "tables")}
        return [f"{self.results}/captions/{kind}/{name}.rst" for kind, names in shown.items() for name in names]

    def products(self) -> list[str]:
        """Paths of all files that a finished run leaves, in every format; provenance.json holds their checksums."""
        shown = [(path, ".png") for path in self.figures()] + [(path, ".csv") for path in self.tables()]
        numbers = [*self.numbers(), *self.cost_claims()]
        both = [name for path, other in shown for name in (path, str(Path(path).with_suffix(other)))]
        pages = [*self.documents(), self.explorer(), *self.notebooks()]
        return [*pages, *self.data(), *self.animations(), *numbers, *both]


def _has_rows(path: Path) -> bool:
    """Whether a file of an engine has measurements; it has none if the engine was left out."""
    try:
        return path.is_file() and "engine" in read_dataset(path).sizes
    except DamagedFile:
        return False
