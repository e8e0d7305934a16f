"""Rules claims and cost_claims: statements of the publications compared with the measurements of this run."""

from polhode_study.chapters.judging import judge_chapters
from polhode_study.inputs import Inputs
from polhode_study.workflow.entry import HOME, job_of

with job_of(snakemake):
    judge_chapters(Inputs(**snakemake.params.places), HOME, snakemake.params.timed, snakemake.output[0])
