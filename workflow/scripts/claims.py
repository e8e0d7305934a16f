"""Rule claims: statements of the publications compared with the measurements of this run."""

from polhode.study.inputs import Inputs
from polhode.study.judge.measures import MEASURES
from polhode.study.judge.verdicts import judge
from polhode.study.workflow.entry import job_of

with job_of(snakemake):
    judge(Inputs(**snakemake.params.places), "data/claims.yaml", snakemake.output[0], MEASURES)
