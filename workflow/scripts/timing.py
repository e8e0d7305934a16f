"""Rule timing: the time of a step of every method in every form, on this machine."""

from polhode.study import provenance
from polhode.study.configuration import METHODS, many_bodies
from polhode.study.entry import HOME, meter, study_of
from polhode.study.many_body_timing import many_body_timing
from polhode.study.storage import job_text, write_groups
from polhode.study.timing import compile_forms, runs_of, timing, with_unit

with study_of(snakemake) as study:
    methods = [METHODS[key] for key in study.methods]
    host = provenance.host() | {"commit": provenance.commit(HOME)["commit"]}
    compile_forms(methods)
    # The many bodies, at the end, take about as long again as a tenth of it.
    done = meter(snakemake, round(1.1 * len(runs_of(with_unit(methods))) * study.cost.rounds)).advance
    found = timing(methods, study.cost.rounds, study.cost.block, host, progress=done)
    if study.scenes:
        able, scenes = many_bodies(study)
        # Its samples are some twenty times as long as those of a single body.
        found["many_body"] = many_body_timing(able, scenes, max(2, study.cost.rounds // 5))
    asked = snakemake.params
    found["/"].attrs["job"] = job_text("timing", snakemake.wildcards, asked.settings, asked.code)
    write_groups(found, snakemake.output[0])
