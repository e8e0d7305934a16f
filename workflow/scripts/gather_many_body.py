"""Rule gather_many_body: all many-body runs into many_body.nc."""

from polhode.study.entry import HOME, study_of
from polhode.study.jobs import Plan
from polhode.study.many_body_gather import gather_scenes
from polhode.study.storage import write_groups

with study_of(snakemake) as study:
    write_groups(gather_scenes(Plan(study, HOME), study.results), snakemake.output[0])
