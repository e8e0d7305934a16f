"""Rules engine_KEY: the rows of one physics engine in the engine atlas, or the reason why there are none."""

from functools import partial

from polhode.study.run.engine import make_engine, runs
from polhode.study.run.making import make_files
from polhode.study.workflow.entry import library_of, meter

with library_of(snakemake):
    asked = snakemake.params
    done = meter(snakemake, runs(asked.engine)).advance
    make_files(asked.files, partial(make_engine, may_install=asked.install, progress=done))
