"""Rules single_body_PROBLEM_NUMBER: all runs of some methods on one problem."""

from functools import partial

from polhode.study.batches import run_batches
from polhode.study.entry import HOME, meter, study_of
from polhode.study.jobs import Plan

with study_of(snakemake) as study:
    asked = snakemake.params
    plan = Plan(study, HOME)
    done = meter(snakemake, plan.units(snakemake.rule)).advance
    run_batches(plan, asked.problem, asked.methods, partial(print, flush=True), done)
