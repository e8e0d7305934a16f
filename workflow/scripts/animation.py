"""Rule animation: a film as a moving picture that any browser opens."""

from polhode.study.animation import write_gif
from polhode.study.entry import meter, study_of
from polhode.study.storage import read_cell

with study_of(snakemake):
    film = read_cell(snakemake.input[0])
    write_gif(film, snakemake.output[0], progress=meter(snakemake, len(film["time"])).advance)
