"""Rule report: report.pdf and supplement.pdf from paper/, with equal bytes for equal input."""

from polhode.study import provenance
from polhode.study.report import typeset
from polhode.study.themes import all_themes
from polhode.study.workflow.entry import HOME, study_of

with study_of(snakemake) as study:
    typeset.report(HOME, study.results, list(snakemake.output), provenance.commit(HOME)["commit_time"], all_themes())
