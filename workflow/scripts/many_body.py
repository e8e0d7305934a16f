"""Rules many_body_SCENE_NUMBER: some methods on one scene, with their step sizes and all initial states."""

from functools import partial
from pathlib import Path

from polhode_study.run.making import make_files
from polhode_study.run.scene import make_seeds
from polhode_study.workflow.entry import library_of

with library_of(snakemake):
    files = snakemake.params.files
    make = partial(make_seeds, workers=snakemake.threads, costs=Path(snakemake.config["results"], "logs", "many_body"))
    make_files(files, make, partial(print, flush=True))
