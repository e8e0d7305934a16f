"""Rule gather: all cells, long runs and targets into single_body.nc; says which orders are not what methods declare."""

import sys

from polhode.study.declared import remarks
from polhode.study.entry import HOME, study_of
from polhode.study.gather import gather
from polhode.study.jobs import Plan
from polhode.study.storage import write_groups

with study_of(snakemake) as study:
    groups = gather(Plan(study, HOME), study.results)
    write_groups(groups, snakemake.output[0])
    for line in remarks(groups, study.plugin_methods):
        print(line)
        print(f"gather: {line}", file=sys.__stderr__)
