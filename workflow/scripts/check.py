"""Rule check: one experiment on single methods."""

from polhode.study.run.check import make_check
from polhode.study.run.making import make_files
from polhode.study.workflow.entry import library_of

with library_of(snakemake):
    make_files(snakemake.params.files, make_check)
