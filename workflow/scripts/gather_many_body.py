"""Rule gather_many_body: all many-body runs into many_body.nc."""

from polhode.interface.storage import write_groups
from polhode_study.gather.many_body import gather_scenes
from polhode_study.plan import Plan
from polhode_study.workflow.entry import HOME, study_of

with study_of(snakemake) as study:
    write_groups(gather_scenes(Plan(study, HOME)), snakemake.output[0])
