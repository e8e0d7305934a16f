"""Rule cost_numbers: every number of the text that is a time or made from one, as LaTeX macros."""

from polhode.study import numbers
from polhode.study.entry import study_of
from polhode.study.inputs import Inputs

with study_of(snakemake):
    numbers.render_cost(Inputs(**snakemake.params.places), snakemake.output[0], snakemake.input.tex)
