"""The measure for the statements of Calzavarini (2010), Sec. I, on the centre of mass."""

import numpy as np

from polhode_study.inputs import Inputs, NotInRun
from polhode_study.judge.measured import of


def lowest_translation_order(results: Inputs, method: str) -> tuple[float, str]:
    """The lower of the orders of position and velocity at a fixed time."""
    row = of(results.errors, method)
    orders = {name: float(row[f"{name}_order"]) for name in ("r", "v") if f"{name}_order" in row}
    if not orders or not np.isfinite(list(orders.values())).all():
        raise NotInRun(f"no order of the centre of mass could be fitted for {method}")
    return min(orders.values()), ", ".join(f"{name} {value:.4g}" for name, value in orders.items())
