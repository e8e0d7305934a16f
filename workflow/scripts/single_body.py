"""Rules single_body_PROBLEM_NUMBER: all runs of some methods on one problem."""

from functools import partial

from polhode.study.run.making import make_files
from polhode.study.run.single_body import make_runs
from polhode.study.workflow.entry import library_of, meter


def make(wildcards, settings):
    """The runs with a set of step sizes, or the search for the step sizes that meet target errors."""
    if "errors" not in settings:
        return make_runs(wildcards, settings)
    from polhode.study.run.target_steps import make_search  # it imports scipy.optimize, which few jobs need

    return make_search(wildcards, settings)


with library_of(snakemake):
    files = snakemake.params.files
    make_files(files, make, partial(print, flush=True), meter(snakemake, len(files)).advance)
