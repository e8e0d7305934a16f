"""Rule explorer: the results as one interactive page."""

from polhode_study.explorer.page import write
from polhode_study.inputs import Inputs
from polhode_study.workflow.entry import job_of

with job_of(snakemake):
    write(Inputs(**snakemake.params.places), snakemake.output[0])
