"""Rule film: a short run of one scene, kept for pictures."""

from polhode.study.entry import study_of
from polhode.study.many_body import run_film

with study_of(snakemake):
    run_film(snakemake.params.settings, snakemake.output[0])
