"""Rule targets: the step size at which one method meets each target error."""

from polhode.study.configuration import method
from polhode.study.entry import study_of
from polhode.study.storage import write_dataset
from polhode.study.targets import find_steps

with study_of(snakemake) as study:
    part = study.problems[snakemake.wildcards.problem]
    write_dataset(find_steps(part.problem, method(snakemake.wildcards.method), part.targets), snakemake.output[0])
