"""Rules single_body_PROBLEM_NUMBER: all runs of some methods on one problem."""

from functools import partial

from polhode_study.run.making import make_files, make_single_body
from polhode_study.workflow.entry import library_of

with library_of(snakemake):
    files = snakemake.params.files
    make_files(files, make_single_body, partial(print, flush=True))
