"""Names and functions for several rules: display of figures and tables in Snakemake's report."""

from pathlib import Path

from polhode_study.plan import deferred
from polhode_study.workflow import resources


def shown(kind, title, name):
    """A figure or table as an output that Snakemake's report shows under the title of its chapter, with its caption."""
    stem = Path(name).stem
    return report(
        f"{RESULTS}/{kind}/{name}",
        caption=Path(f"{RESULTS}/captions/{kind}/{stem}.rst").absolute(),
        category=kind.capitalize(),
        subcategory=title,
        labels={kind.removesuffix("s"): stem.replace("_", " ")},
    )
