"""Rule cost: times to target errors, from the time of a step and the measured errors."""

from polhode.study.cost import run_cost
from polhode.study.entry import study_of

with study_of(snakemake) as study:
    run_cost(snakemake.input.timing, snakemake.input.single_body, study, snakemake.output[0])
