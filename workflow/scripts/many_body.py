"""Rules many_body_SCENE_NUMBER: some methods on one scene, with their step sizes and all initial states."""

from functools import partial

from polhode.study.plan import Plan
from polhode.study.run.scene_batches import run_scene
from polhode.study.workflow.entry import HOME, meter, study_of

with study_of(snakemake) as study:
    asked = snakemake.params
    plan = Plan(study, HOME)
    done = meter(snakemake, plan.units(snakemake.rule)).advance
    run_scene(plan, asked.scene, asked.part, snakemake.threads, partial(print, flush=True), done)
