"""Runs of many clumps, in batches: one file for each scene, method, step size and initial state.

A batch is everything that one method runs on one scene with one step size. When it is complete, a manifest with the sizes and
checksums of its files is written; Snakemake knows only the manifests. Existing files made by the same job (settings and code,
see :func:`polhode.study.storage.job_text`) are kept, so that a job that was interrupted goes on where it was.
"""

import json
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TextIO

from polhode.study.plan import Plan, Share
from polhode.study.run.batches import FailedRuns
from polhode.study.run.scene import Say, run_all
from polhode.study.storage import checksums, is_current, write_text


def run_scene(
    plan: Plan,
    scene: str,
    part: Sequence[Share],
    workers: int = 1,
    say: Say = print,
    done: Callable[[], object] = lambda: None,
) -> None:
    """Make the missing or outdated files of some methods on a scene, and the manifest of each method and step size.

    If a run of one method fails, the other methods continue.

    Parameters
    ----------
    plan : Plan
        Of the study.
    scene : str
        Its name in the configuration.
    part : sequence of (method, step size)
        What to run; the step size is its name in paths.
    workers : int
        Number of processes for the runs of a method.
    say : function
        Called with a line about each run, and some about all of a method. What it costs is also kept in
        logs/many_body/SCENE/METHOD, where a job that goes on with the work of another adds to the lines.
    done : function
        Called after each run, also for files that are kept.

    Raises
    ------
    FailedRuns
        If a method failed, once all others are done.
    """
    failed = []
    for method, shares in groupby(part, key=lambda share: share[0]):
        batches = {share: plan.many_body_runs(scene, share) for share in shares}
        missing = {}
        for path, job in (item for runs in batches.values() for item in runs.items()):
            if is_current(Path(plan.results, path), job):
                say(f"{path}: kept")
                done()
            else:
                missing[path] = job
        outputs = [Path(plan.results, path) for path in missing]
        log = Path(plan.results, "logs", "many_body", scene, method, f"{next(iter(batches))[1]}.log")
        log.parent.mkdir(parents=True, exist_ok=True)
        try:
            if missing:
                with open(log, "a", encoding="utf-8", buffering=1) as costs:
                    both = partial(_say_twice, say, costs)
                    run_all(method, plan.many_body_settings(scene), outputs, workers, both, list(missing.values()), done)
        except Exception as error:
            say(f"{method} failed\n{traceback.format_exc()}")
            failed.append(f"scene {scene}, method {method}: {type(error).__name__}: {error}")
            continue
        for share, runs in batches.items():
            files = checksums(plan.results, runs)
            write_text(plan.scene_manifest(scene, share), json.dumps({"files": files}, indent=1, sort_keys=True) + "\n")
    if failed:
        raise FailedRuns("\n".join(failed))


def _say_twice(say: Say, log: TextIO, line: str) -> None:
    say(line)
    print(line, file=log)
