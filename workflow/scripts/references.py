"""Rules references_NUMBER: the exact solutions of some problems at all times compared in the study."""

from functools import partial

from polhode.study.plan import Plan
from polhode.study.run.reference_batches import run_references
from polhode.study.workflow.entry import HOME, meter, study_of

with study_of(snakemake) as study:
    plan = Plan(study, HOME)
    done = meter(snakemake, plan.units(snakemake.rule)).advance
    run_references(plan, snakemake.params.problems, partial(print, flush=True), done)
