"""Rule many_body: one method with one step size on one scene, from every initial state."""

from functools import partial

from polhode.study.entry import study_of
from polhode.study.many_body import run_seeds

with study_of(snakemake):
    names, say = snakemake.wildcards, partial(print, flush=True)
    run_seeds(names.method, float(names.dt), snakemake.params.settings, snakemake.output, snakemake.threads, say)
