"""The exact solution of one problem, as a file with its digits and the agreement with its check."""

from collections.abc import Sequence
from pathlib import Path

from polhode.problems.problem import Case
from polhode.references.dataset import reference_dataset
from polhode.study.storage import write_dataset


def make_reference(problem: Case, times: Sequence[float], digits: int, check_until: float, output: str | Path, job: str) -> str:
    """Solve a problem at ``times`` (s), check that until ``check_until`` (s) and write it; returns a message for the log.

    ``digits`` is the number of decimal digits, ``job`` the provenance recorded in the file.
    """
    found = reference_dataset(problem, times, digits, check_until)
    write_dataset(found, output, job)
    return f"{len(times)} times, {found.attrs['agreement']:g} digits agree with the check ({found.attrs['check']})"
