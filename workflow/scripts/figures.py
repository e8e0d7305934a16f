"""Rules figures_THEME: the figures of one theme, each in both formats."""

from pathlib import Path

from polhode.study.inputs import Inputs
from polhode.study.themes.rendering import render_figure
from polhode.study.workflow.entry import job_of, meter

with job_of(snakemake):
    inputs = Inputs(**snakemake.params.places)
    done = meter(snakemake, len(snakemake.params.names)).advance
    for name in snakemake.params.names:
        print(name, flush=True)
        render_figure(name, inputs, Path(snakemake.output[0]).parent)
        done()
