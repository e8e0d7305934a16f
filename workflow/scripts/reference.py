"""Rule reference: the exact solution of one problem at all times that the study compares."""

from polhode.references.dataset import reference_dataset
from polhode.study.entry import study_of
from polhode.study.storage import write_dataset

with study_of(snakemake) as study:
    part = study.problems[snakemake.wildcards.problem]
    dataset = reference_dataset(part.problem, part.reference_times(), study.digits, part.check_until)
    dataset.attrs["configuration"] = study.json
    write_dataset(dataset, snakemake.output[0])
