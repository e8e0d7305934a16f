"""What a step costs in time, and what the publications say about it."""

from collections.abc import Callable

import pandas as pd

from polhode.study.inputs import Inputs, NotInRun


def cost(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """The time of a step of every method in every form."""
    raise NotInRun("to be made")


def cost_claims(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """The published statements about time."""
    raise NotInRun("to be made")


TABLES: dict[str, Callable[[Inputs], tuple[pd.DataFrame, str]]] = {"cost": cost, "cost_claims": cost_claims}
