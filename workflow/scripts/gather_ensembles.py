"""Rule gather_ensembles: the errors of all methods on random bodies into ensembles.nc; reports plug-ins that failed there."""

import sys

from polhode.interface.storage import write_dataset
from polhode_study.gather.ensembles import failures, gather
from polhode_study.plan import Plan
from polhode_study.workflow.entry import HOME, study_of

with study_of(snakemake) as study:
    found = gather(Plan(study, HOME))
    write_dataset(found, snakemake.output[0])
    for line in failures(found):
        print(line)
        print(f"gather_ensembles: {line}", file=sys.__stderr__)
