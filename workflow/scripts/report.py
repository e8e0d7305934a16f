"""Rule report: paper/report.tex to report.pdf, the same bytes for the same input."""

from polhode.study import provenance, typeset
from polhode.study.entry import HOME, study_of

with study_of(snakemake) as study:
    typeset.report(HOME, study.results, snakemake.output[0], provenance.commit(HOME)["commit_time"])
