"""Rule gather: all runs, long runs and targets into single_body.nc; reports orders that differ from the declared ones."""

import os
import sys

# What it runs is shorter than its compilation, and has the same bits.
os.environ["NUMBA_DISABLE_JIT"] = "1"

from polhode.fits.departures import remarks
from polhode.interface.storage import write_groups
from polhode_study.gather.single_body import gather
from polhode_study.plan import Plan
from polhode_study.workflow.entry import HOME, study_of

with study_of(snakemake) as study:
    groups = gather(Plan(study, HOME))
    write_groups(groups, snakemake.output[0])
    for line in remarks(groups, study.plugin_methods):
        print(line)
        print(f"gather: {line}", file=sys.__stderr__)
