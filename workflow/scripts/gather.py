"""Rule gather: all cells, long runs and targets into single_body.nc."""

from polhode.study.entry import HOME, study_of
from polhode.study.gather import gather
from polhode.study.jobs import Plan
from polhode.study.storage import write_groups

with study_of(snakemake) as study:
    write_groups(gather(Plan(study, HOME), study.results), snakemake.output[0])
