"""Rules many_body_SCENE_NUMBER: some methods on one scene, with their step sizes and all initial states."""

from functools import partial
from pathlib import Path

from polhode.study.run.making import make_files
from polhode.study.run.scene import make_seeds
from polhode.study.workflow.entry import library_of, meter

with library_of(snakemake):
    files = snakemake.params.files
    make = partial(make_seeds, workers=snakemake.threads, costs=Path(snakemake.config["results"], "logs", "many_body"))
    make_files(files, make, partial(print, flush=True), meter(snakemake, len(files)).advance)
