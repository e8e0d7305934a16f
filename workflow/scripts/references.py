"""Rules references_NUMBER: the exact solutions of some problems at all times compared in the study."""

from functools import partial

from polhode_study.run.making import make_files
from polhode_study.run.reference import make_reference
from polhode_study.workflow.entry import library_of

with library_of(snakemake):
    files, times = snakemake.params.files, snakemake.params.times
    make_files(files, partial(make_reference, times), partial(print, flush=True))
