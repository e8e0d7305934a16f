"""Rule animation: a film as a moving picture that any browser opens."""

from tqdm import tqdm

from polhode.study.animation import write_gif
from polhode.study.entry import study_of
from polhode.study.storage import read_cell

with study_of(snakemake):
    film = read_cell(snakemake.input[0])
    with tqdm(total=len(film["time"]), desc=snakemake.wildcards.scene, unit="picture") as bar:
        write_gif(film, snakemake.output[0], progress=bar.update)
