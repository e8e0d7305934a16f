"""Rule reference: the exact solution of one problem at all times compared in the study."""

from polhode.references.dataset import reference_dataset
from polhode.study.storage import job_text, write_dataset
from polhode.study.workflow.entry import study_of

with study_of(snakemake) as study:
    part = study.problems[snakemake.wildcards.problem]
    dataset = reference_dataset(part.problem, part.reference_times(), study.digits, part.check_until)
    asked = snakemake.params
    write_dataset(dataset, snakemake.output[0], job_text("reference", snakemake.wildcards, asked.settings, asked.code))
