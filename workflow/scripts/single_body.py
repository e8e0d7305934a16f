"""Rules single_body_PROBLEM_NUMBER: all runs of some methods on one problem."""

from functools import partial

from polhode.study.plan import Plan
from polhode.study.run.batches import run_batches
from polhode.study.workflow.entry import HOME, meter, study_of

with study_of(snakemake) as study:
    asked = snakemake.params
    plan = Plan(study, HOME)
    done = meter(snakemake, plan.units(snakemake.rule)).advance
    run_batches(plan, asked.problem, asked.methods, partial(print, flush=True), done)
