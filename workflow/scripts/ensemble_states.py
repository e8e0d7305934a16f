"""Rule ensemble_states: the draw of the random bodies and their exact states under every class of torque."""

from polhode.study.run.ensemble_states import states_dataset
from polhode.study.storage import job_text, write_dataset
from polhode.study.workflow.entry import job_of

with job_of(snakemake):
    asked = snakemake.params
    found = states_dataset(**asked.settings)
    write_dataset(found, snakemake.output[0], job_text("ensemble_states", {}, asked.settings, asked.code))
