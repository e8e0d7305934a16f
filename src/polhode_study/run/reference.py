"""The exact solution of one problem, with its digits and the agreement with its check."""

from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from polhode.problems import PROBLEMS
from polhode.references.dataset import reference_dataset


def make_reference(
    times: Mapping[str, Sequence[float]], wildcards: Mapping[str, str], settings: Mapping[str, Any]
) -> tuple[xr.Dataset, str]:
    """The exact solution of a problem, checked until some time, and a message for the log.

    Parameters
    ----------
    times : mapping
        Key of a problem -> the times of its solution, s, ascending.
    wildcards : mapping
        ``problem``, a key.
    settings : mapping
        ``digits``, the number of decimal digits; ``check_until``, s.
    """
    problem = wildcards["problem"]
    dataset = reference_dataset(PROBLEMS[problem], times[problem], settings["digits"], settings["check_until"])
    about = dataset.attrs
    return dataset, f"{len(times[problem])} times, {about['agreement']:g} digits agree with the check ({about['check']})"
