"""Rule timing: the time of a step of every method in every form, on this machine."""

from polhode.study import provenance
from polhode.study.configuration import METHODS
from polhode.study.entry import study_of
from polhode.study.storage import write_groups
from polhode.study.timing import timing

with study_of(snakemake) as study:
    methods = [METHODS[key] for key in study.methods]
    found = timing(methods, study.cost.rounds, study.cost.block, host=provenance.host())
    write_groups(found, snakemake.output[0])
