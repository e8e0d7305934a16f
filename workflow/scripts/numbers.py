"""Rule numbers: every number that the text of the report uses, as LaTeX macros."""

from polhode.study import numbers, provenance
from polhode.study.entry import HOME, study_of
from polhode.study.inputs import Inputs

with study_of(snakemake):
    numbers.render(Inputs(**snakemake.params.places), snakemake.output[0], provenance.commit(HOME), snakemake.input.tex)
