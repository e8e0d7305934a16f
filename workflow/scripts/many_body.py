"""Rules many_body_SCENE_NUMBER: one method on one scene, with some step sizes and all initial states."""

from functools import partial
from pathlib import Path

from polhode.study.plan import many_body_job
from polhode.study.run.scene import run_all
from polhode.study.workflow.entry import library_of, meter

with library_of(snakemake):
    say = partial(print, flush=True)
    method, asked = snakemake.wildcards.method, snakemake.params
    places = [(path.parent.name, int(path.stem)) for path in map(Path, snakemake.output)]
    jobs = [many_body_job(asked.scene, method, step, seed, asked.settings, asked.code) for step, seed in places]
    done = meter(snakemake, len(jobs)).advance
    run_all(method, asked.settings, snakemake.output, snakemake.threads, say, jobs, done)
