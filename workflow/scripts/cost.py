"""Rule cost: times to target errors, from the time of a step and the measured errors."""

from polhode_study.gather.cost import run_cost
from polhode_study.workflow.entry import study_of

with study_of(snakemake) as study:
    found = snakemake.input
    run_cost(found.timing, found.single_body, study, snakemake.output[0], next(iter(found.many_body), ""))
