"""Rule check: one experiment on single methods."""

from polhode.study.run.checks import run_check
from polhode.study.storage import job_text
from polhode.study.workflow.entry import study_of

with study_of(snakemake) as study:
    made_by = job_text("check", snakemake.wildcards, {}, snakemake.params.code)
    run_check(study, snakemake.wildcards.check, snakemake.output[0], made_by)
