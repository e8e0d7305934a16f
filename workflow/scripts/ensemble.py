"""Rules ensemble_NUMBER: the errors of some methods on random bodies."""

from functools import partial

from polhode.interface.netcdf import read_dataset
from polhode_study.run.ensemble import make_errors
from polhode_study.run.making import make_files
from polhode_study.workflow.entry import library_of

with library_of(snakemake):
    files, say = snakemake.params.files, partial(print, flush=True)
    exact = read_dataset(snakemake.input[0], job=snakemake.params.exact)
    make_files(files, partial(make_errors, exact, say=say), say)
