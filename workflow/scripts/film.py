"""Rule film: a short run of one scene, stored for animations and pictures."""

from polhode_study.run.making import make_files
from polhode_study.run.scene import make_film
from polhode_study.workflow.entry import library_of

with library_of(snakemake):
    make_files(snakemake.params.files, make_film)
