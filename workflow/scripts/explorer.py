"""Rule explorer: the results as one page to play with."""

from polhode.study.entry import study_of
from polhode.study.explorer.page import write
from polhode.study.inputs import Inputs

with study_of(snakemake):
    write(Inputs(**snakemake.params.places), ["data/claims.yaml", "data/cost_claims.yaml"], snakemake.output[0])
