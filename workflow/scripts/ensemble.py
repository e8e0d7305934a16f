"""Rules ensemble_NUMBER: the errors of some methods on random bodies."""

from functools import partial

from polhode.study.plan import Plan
from polhode.study.run.ensemble import run_methods
from polhode.study.storage import read_cell, read_values, write_cell
from polhode.study.workflow.entry import HOME, meter, study_of

with study_of(snakemake) as study:
    plan = Plan(study, HOME)
    read_cell(snakemake.input[0], plan.ensemble_states_job())
    exact = read_values(snakemake.input[0])
    paths = dict(zip(snakemake.params.methods, snakemake.output, strict=True))
    run_methods(
        exact,
        snakemake.params.methods,
        study.ensembles.steps,
        lambda key, found: write_cell(found, paths[key], plan.ensemble_job(key)),
        study.plugin_methods,
        partial(print, flush=True),
        meter(snakemake, plan.units(snakemake.rule)).advance,
    )
