"""Rule gather_atlas: the rows of all engines into atlas.nc; names the engines that were left out, and how to install them."""

import sys

from polhode.study.gather.atlas import gather
from polhode.study.plan import Plan
from polhode.study.storage import write_dataset
from polhode.study.workflow.entry import HOME, study_of

with study_of(snakemake) as study:
    found, left_out = gather(Plan(study, HOME))
    write_dataset(found, snakemake.output[0])
    for line in left_out:
        print(line)
        print(f"gather_atlas: {line}", file=sys.__stderr__)
