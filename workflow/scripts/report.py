"""Rule report: report.pdf from paper/report.tex, with equal bytes for equal input."""

from polhode.study import provenance
from polhode.study.report import typeset
from polhode.study.themes import all_themes
from polhode.study.workflow.entry import HOME, study_of

with study_of(snakemake) as study:
    typeset.report(HOME, study.results, snakemake.output[0], provenance.commit(HOME)["commit_time"], all_themes())
