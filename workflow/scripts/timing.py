"""Rule timing: the time of a step of every method in every form, on this machine."""

from polhode.study import provenance
from polhode.study.configuration import METHODS
from polhode.study.entry import HOME, study_of
from polhode.study.storage import write_groups
from polhode.study.timing import timing

with study_of(snakemake) as study:
    methods = [METHODS[key] for key in study.methods]
    host = provenance.host() | {"commit": provenance.commit(HOME)["commit"]}
    write_groups(timing(methods, study.cost.rounds, study.cost.block, host), snakemake.output[0])
