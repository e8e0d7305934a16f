"""Rules checks_NUMBER: experiments on single methods."""

from functools import partial

from polhode.study.run.check import make_check
from polhode.study.run.making import make_files
from polhode.study.workflow.entry import library_of, meter

with library_of(snakemake):
    files = snakemake.params.files
    make_files(files, make_check, partial(print, flush=True), meter(snakemake, len(files)).advance)
