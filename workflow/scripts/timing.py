"""Rule timing: the time of a step of every method in every form, on this machine."""

from polhode.interface.netcdf import read_dataset
from polhode.methods import METHODS
from polhode.problems import PROBLEMS
from polhode.study import provenance
from polhode.study.run.scene_timing import compile_beforehand, many_body_timing
from polhode.study.run.timing import FRAMES, runs_of, timing, with_released, with_unit
from polhode.study.storage import job_text, write_groups
from polhode.study.workflow.entry import HOME, library_of, meter

with library_of(snakemake):
    asked = snakemake.params
    methods, rounds = [METHODS[key] for key in asked.settings["methods"]], asked.settings["rounds"]
    many = asked.settings["many_body"].values()
    timed = [METHODS[key] for key in dict.fromkeys(key for _, *keys in many for key in keys)]
    scenes = list(dict.fromkeys(scene for scene, *_ in many))
    host = provenance.host() | {"commit": provenance.commit(HOME)["commit"]}
    (released,) = [read_dataset(path, "step") for path in snakemake.input] or (None,)
    forms = None
    if released is not None:
        lacking = set(asked.settings["methods"]) - {*map(str, released["integrator"].values)}
        forms = {frame: lacking | {*asked.settings["timed"][frame]} for frame in FRAMES}
    compile_beforehand(with_unit(methods), [PROBLEMS[key] for key in asked.problems], timed, forms)
    # The many-body timing at the end takes about a tenth of the time again.
    done = meter(snakemake, round(1.1 * len(runs_of(with_unit(methods), timed=forms)) * rounds)).advance
    groups = timing(methods, rounds, asked.settings["block"], host, timed=forms, progress=done)
    if released is not None:
        groups["step"] = with_released(groups["step"], released)
    if scenes:
        # Its samples take some twenty times as long as those of a single body.
        groups["many_body"] = many_body_timing(timed, scenes, max(2, rounds // 5))
    groups["/"].attrs["job"] = job_text("timing", {}, asked.settings, asked.code)
    write_groups(groups, snakemake.output[0])
