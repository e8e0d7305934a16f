"""Rule timing: the time of a step of every method in every form, on this machine."""

from polhode.methods import METHODS
from polhode.study import provenance
from polhode.study.configuration import many_bodies
from polhode.study.run.scene_timing import compile_beforehand, many_body_timing
from polhode.study.run.timing import runs_of, timing, with_unit
from polhode.study.storage import job_text, write_groups
from polhode.study.workflow.entry import HOME, meter, study_of

with study_of(snakemake) as study:
    methods = [METHODS[key] for key in study.methods]
    host = provenance.host() | {"commit": provenance.commit(HOME)["commit"]}
    able, scenes = many_bodies(study)
    problems = [part.problem for part in study.problems.values()]
    compile_beforehand(with_unit(methods), problems, able if scenes else [])
    # The many-body timing at the end takes about a tenth of the time again.
    done = meter(snakemake, round(1.1 * len(runs_of(with_unit(methods))) * study.cost.rounds)).advance
    found = timing(methods, study.cost.rounds, study.cost.block, host, progress=done)
    if scenes:
        # Its samples take some twenty times as long as those of a single body.
        found["many_body"] = many_body_timing(able, scenes, max(2, study.cost.rounds // 5))
    asked = snakemake.params
    found["/"].attrs["job"] = job_text("timing", snakemake.wildcards, asked.settings, asked.code)
    write_groups(found, snakemake.output[0])
