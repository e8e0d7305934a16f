"""Rules references_NUMBER: the exact solutions of some problems at all times compared in the study."""

from functools import partial

from polhode.study.run.making import make_files
from polhode.study.run.reference import make_reference
from polhode.study.workflow.entry import library_of, meter

with library_of(snakemake):
    files, times = snakemake.params.files, snakemake.params.times
    make_files(files, partial(make_reference, times), partial(print, flush=True), meter(snakemake, len(files)).advance)
