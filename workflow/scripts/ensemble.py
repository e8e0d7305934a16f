"""Rules ensemble_NUMBER: the errors of some methods on random bodies."""

from functools import partial

from polhode.interface.netcdf import read_dataset
from polhode.study.run.ensemble import make_errors
from polhode.study.run.making import make_files
from polhode.study.workflow.entry import library_of, meter

with library_of(snakemake):
    files, say = snakemake.params.files, partial(print, flush=True)
    exact = read_dataset(snakemake.input[0], job=snakemake.params.exact)
    make_files(files, partial(make_errors, exact, say=say), say, meter(snakemake, len(files)).advance)
