"""Rules tables_THEME: the tables of one theme, each in both formats."""

from pathlib import Path

from polhode.study import tables
from polhode.study.entry import meter, study_of
from polhode.study.inputs import Inputs

with study_of(snakemake):
    inputs = Inputs(**snakemake.params.places)
    done = meter(snakemake, len(snakemake.params.names)).advance
    for name in snakemake.params.names:
        print(name, flush=True)
        tables.render(name, inputs, Path(snakemake.output[0]).parent)
        done()
