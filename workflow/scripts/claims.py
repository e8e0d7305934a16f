"""Rule claims: what the publications state, beside what this run measured."""

from polhode.study.claims import judge
from polhode.study.entry import study_of
from polhode.study.inputs import Inputs

with study_of(snakemake):
    judge(Inputs(**snakemake.params.places), "data/claims.yaml", snakemake.output[0])
