"""Rule animation: a film as a moving picture that any browser opens."""

from polhode.study.animation import write_gif
from polhode.study.entry import study_of
from polhode.study.storage import read_cell

with study_of(snakemake):
    write_gif(read_cell(snakemake.input[0]), snakemake.output[0])
