"""Rule table: one table of the report, in both formats."""

from pathlib import Path

from polhode.study import tables
from polhode.study.entry import study_of
from polhode.study.inputs import Inputs

with study_of(snakemake):
    tables.render(snakemake.wildcards.table, Inputs(**snakemake.params.places), Path(snakemake.output[0]).parent)
