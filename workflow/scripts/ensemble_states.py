"""Rule ensemble_states: the draw of the random bodies and their exact states under every class of torque."""

from polhode_study.run.ensemble_states import make_states
from polhode_study.run.making import make_files
from polhode_study.workflow.entry import job_of

with job_of(snakemake):
    make_files(snakemake.params.files, make_states)
