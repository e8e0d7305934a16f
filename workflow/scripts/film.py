"""Rule film: a short run of one scene, stored for animations and pictures."""

from polhode.study.run.scene import run_film
from polhode.study.storage import job_text
from polhode.study.workflow.entry import library_of

with library_of(snakemake):
    asked = snakemake.params
    run_film(asked.settings, snakemake.output[0], job_text("film", snakemake.wildcards, asked.settings, asked.code))
