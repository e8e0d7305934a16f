"""Rule cost_claims: statements of the publications about time compared with the measurements of this run."""

from polhode.study.inputs import Inputs
from polhode.study.judge.measures_cost import MEASURES
from polhode.study.judge.verdicts import judge
from polhode.study.workflow.entry import job_of

with job_of(snakemake):
    judge(Inputs(**snakemake.params.places), "data/cost_claims.yaml", snakemake.output[0], MEASURES)
