"""Rules engine_KEY: the rows of one physics engine in the engine atlas, or the reason why there are none."""

from polhode.study.plan import Plan
from polhode.study.run.engine import LEFT_OUT, engine_dataset, runs
from polhode.study.storage import write_dataset
from polhode.study.workflow.entry import HOME, meter, study_of

with study_of(snakemake) as study:
    key = snakemake.params.engine
    done = meter(snakemake, runs(key)).advance
    found = engine_dataset(key, study.atlas.install, study.atlas.limit, done)
    write_dataset(found, snakemake.output[0], Plan(study, HOME).engine_job(key))
    if LEFT_OUT in found.attrs:
        print(found.attrs[LEFT_OUT])
