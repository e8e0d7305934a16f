"""Rule figure: one figure of the report, in both formats."""

from pathlib import Path

from polhode.study import figures
from polhode.study.entry import study_of
from polhode.study.inputs import Inputs

with study_of(snakemake):
    figures.render(snakemake.wildcards.figure, Inputs(**snakemake.params.places), Path(snakemake.output[0]).parent)
