"""Runs on single bodies, in batches: one file for each method, problem and step size.

A batch is everything that one method does on one problem: its runs over the step sizes, its long runs, its search for the
step sizes that meet target errors. When a batch is complete, a manifest with the sizes and checksums of its files is written;
Snakemake knows only the manifests, which is why a study of ten thousand files starts in a few seconds. Existing files made by
the same job (settings and code, see :func:`polhode.study.storage.job_text`) are kept.
"""

import json
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from polhode.methods import METHODS
from polhode.problems.problem import Problem
from polhode.study.plan import Plan, Run
from polhode.study.run.cell import run_cell
from polhode.study.storage import checksums, is_current, write_cell, write_text

Say = Callable[[str], object]


class FailedRuns(Exception):
    """Runs of a batch failed; the message names each with problem, method, step size and error."""


def run_batches(
    plan: Plan, problem: str, methods: Sequence[str], say: Say = print, done: Callable[[], object] = lambda: None
) -> None:
    """Make the missing or outdated files of some methods on a problem, and the manifest of each method.

    If one run fails, the others continue.

    Parameters
    ----------
    plan : Plan
        Of the study.
    problem : str
        Key.
    methods : sequence of str
        Keys.
    say : function
        Called with a line about each run, including its times, which are recorded nowhere else.
    done : function
        Called after each run, even if it failed.

    Raises
    ------
    FailedRuns
        If a run failed, once all others are done.
    """
    failed = []
    for method in methods:
        # A mistake in a kernel fails at every step size: identical failures are reported once.
        errors: dict[str, list[Run]] = {}
        runs = plan.batch(problem, method)
        for run in runs:
            try:
                _make(plan, run, say)
            except Exception as error:
                say(f"{run.path} failed\n{traceback.format_exc()}")
                errors.setdefault(f"{type(error).__name__}: {error}", []).append(run)
            done()
        if not errors:
            files = checksums(plan.results, (run.path for run in runs))
            write_text(plan.manifest(problem, method), json.dumps({"files": files}, indent=1, sort_keys=True) + "\n")
        for text, those in errors.items():
            first = those[0]
            step = f", dt {first.dt} s" if first.dt else ", search for step sizes"
            others = f" (and {len(those) - 1} other runs)" if len(those) > 1 else ""
            failed.append(f"problem {problem}, method {method}{step}{others}: {text}")
    if failed:
        raise FailedRuns("\n".join(failed))


def _make(plan: Plan, run: Run, say: Say) -> None:
    path, job = Path(plan.results) / run.path, plan.job(run)
    if is_current(path, job):
        say(f"{run.path}: kept")
        return
    wall, cpu = time.perf_counter(), time.process_time()
    told = (
        _search(plan, run, path, job)
        if run.kind == "targets"
        else run_cell(run.problem, run.method, float(run.dt), run.settings, path, job)
    )
    say(f"{run.path}: {told}, wall {time.perf_counter() - wall:.6f} s, CPU {time.process_time() - cpu:.6f} s")


def _search(plan: Plan, run: Run, output: str | Path, job: str) -> str:
    """Search for the step sizes that meet target errors and write them; returns a message for the log."""
    from polhode.study.run.target_steps import find_steps  # it imports scipy.optimize, which few jobs need

    part = plan.study.problems[run.problem]
    assert part.targets is not None and isinstance(part.problem, Problem)
    found = find_steps(part.problem, METHODS[run.method], part.targets)
    write_cell(found, output, job)
    pairs = zip(found.target_error.values, found.step_size.values, strict=True)
    return ", ".join(f"error {target:g} with dt {dt!r} s" for target, dt in pairs)
