"""Rule explorer: the results as one interactive page."""

from polhode.study.explorer.page import write
from polhode.study.inputs import Inputs
from polhode.study.workflow.entry import job_of

with job_of(snakemake):
    write(Inputs(**snakemake.params.places), snakemake.output[0])
