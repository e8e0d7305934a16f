"""Rule animation: a film as an animation that any browser can display."""

from polhode.interface.netcdf import plain, read_dataset
from polhode_study.cli.animate import write_gif
from polhode_study.workflow.entry import job_of

with job_of(snakemake):
    film = plain(read_dataset(snakemake.input[0]))
    write_gif(film, snakemake.output[0])
