"""Rules checks_NUMBER: experiments on single methods."""

import os
from functools import partial

if snakemake.params.plain:  # what they run is shorter than its compilation, and has the same bits
    os.environ["NUMBA_DISABLE_JIT"] = "1"

from polhode_study.run.check import make_check
from polhode_study.run.making import make_files
from polhode_study.workflow.entry import library_of

with library_of(snakemake):
    files = snakemake.params.files
    make_files(files, make_check, partial(print, flush=True))
