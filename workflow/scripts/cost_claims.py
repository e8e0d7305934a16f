"""Rule cost_claims: what the publications state about time, beside what this run measured."""

from polhode.study.claims import judge
from polhode.study.cost_claims import MEASURES
from polhode.study.entry import study_of
from polhode.study.inputs import Inputs

with study_of(snakemake):
    judge(Inputs(**snakemake.params.places), "data/cost_claims.yaml", snakemake.output[0], MEASURES)
