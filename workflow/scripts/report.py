"""Rule report: report.pdf and supplement.pdf from paper/ and the chapters, with equal bytes for equal input."""

from pathlib import Path

from polhode_study import provenance
from polhode_study.chapters import all_chapters
from polhode_study.report import typeset
from polhode_study.workflow.entry import HOME, job_of

with job_of(snakemake):
    results = Path(snakemake.config["results"])
    typeset.report(HOME, results, list(snakemake.output), provenance.commit(HOME)["commit_time"], all_chapters())
