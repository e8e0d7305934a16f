"""Rule timing: the time of a step of every method in every form, on this machine."""

from polhode.interface.netcdf import read_groups
from polhode.interface.storage import job_text, write_groups
from polhode.methods import METHODS
from polhode.problems import PROBLEMS
from polhode_study import provenance
from polhode_study.run.scene_timing import compile_beforehand, many_body_timing, with_released_steps
from polhode_study.run.timing import FRAMES, timing, with_released, with_unit
from polhode_study.workflow.entry import HOME, library_of

with library_of(snakemake):
    asked = snakemake.params
    settings = asked.settings
    methods, rounds = [METHODS[key] for key in settings["methods"]], settings["rounds"]
    many = settings["many_body"].values()
    in_scenes = list(dict.fromkeys(key for _, *keys in many for key in keys))
    scenes = list(dict.fromkeys(scene for scene, *_ in many))
    host = provenance.host() | {"commit": provenance.commit(HOME)["commit"]}
    (released,) = [read_groups(path) for path in snakemake.input] or (None,)
    forms, run_in_scenes = None, in_scenes
    if released is not None:
        lacking = set(settings["methods"]) - {*map(str, released["/step"]["integrator"].values)}
        forms = {frame: lacking | {*settings["timed"][frame]} for frame in FRAMES}
        run_in_scenes = [key for key in in_scenes if key in settings["timed_in_scenes"]]
    timed = [METHODS[key] for key in run_in_scenes]
    compile_beforehand(with_unit(methods), [PROBLEMS[key] for key in asked.problems], timed, forms, asked.of_systems)
    groups = timing(methods, rounds, settings["block"], host, timed=forms)
    if released is not None:
        groups["step"] = with_released(groups["step"], released["/step"])
    if scenes:
        # Its samples take some twenty times as long as those of a single body.
        groups["many_body"] = many_body_timing(timed, scenes, max(2, rounds // 5))
        if released is not None and "/many_body" in released:
            groups["many_body"] = with_released_steps(groups["many_body"], released["/many_body"], in_scenes)
    groups["/"].attrs["job"] = job_text("timing", {}, settings, asked.code)
    write_groups(groups, snakemake.output[0])
