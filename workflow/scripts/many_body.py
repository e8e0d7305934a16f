"""Rule many_body: one method on one scene, with some step sizes and from every initial state."""

from functools import partial

from polhode.study.entry import study_of
from polhode.study.many_body import run_all

with study_of(snakemake):
    say = partial(print, flush=True)
    run_all(snakemake.wildcards.method, snakemake.params.settings, snakemake.output, snakemake.threads, say)
