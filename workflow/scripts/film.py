"""Rule film: a short run of one scene, kept for pictures."""

from polhode.study.entry import study_of
from polhode.study.many_body import run_film
from polhode.study.storage import job_text

with study_of(snakemake):
    asked = snakemake.params
    run_film(asked.settings, snakemake.output[0], job_text("film", snakemake.wildcards, asked.settings, asked.code))
