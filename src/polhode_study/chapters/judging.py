"""The statements of the publications, chapter by chapter, judged by the measures of the chapter and those that all share."""

import importlib
from collections.abc import Mapping
from inspect import getmembers, isfunction
from pathlib import Path

from polhode_study.chapters import files
from polhode_study.inputs import Inputs
from polhode_study.judge import measures as shared
from polhode_study.judge.measured import Measure, not_judged
from polhode_study.judge.verdicts import judged, write_verdicts


def measures_of(chapter: str, timed: bool) -> Mapping[str, Measure]:
    """What claims of a chapter may name: the functions of its module ``measures``, and the shared ones; of times unjudged."""
    module = importlib.import_module(f"polhode_study.chapters.{chapter}.measures")
    functions = {
        name: function
        for place in (shared, module)
        for name, function in getmembers(place, isfunction)
        if function.__module__ == place.__name__
    }
    return {name: not_judged(function) for name, function in functions.items()} if timed else functions


def judge_chapters(inputs: Inputs, home: str | Path, timed: bool, output: str | Path) -> None:
    """Judge the claims of all chapters that show times, or of all others, and write the table."""
    rows = []
    for path in files(home, "claims.yaml", timed):
        rows += judged(inputs, path, measures_of(path.parent.name, timed))
    write_verdicts(rows, output)
