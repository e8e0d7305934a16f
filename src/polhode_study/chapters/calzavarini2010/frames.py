"""Effect of each misprint in the note of Calzavarini (2010), as a frame."""

from typing import Any

import pandas as pd

from polhode_study.inputs import Inputs

#: The step at which errors are compared, s; the nearest one of the run is used.
COMPARED_DT = 1e-2


def note_corrections(inputs: Inputs) -> pd.DataFrame:
    """A frame with one row for each misprint of the note, restored alone.

    Columns: variant, description, equation; for each problem P and quantity Q of the check: P_Q_order, P_Q_order_low,
    P_Q_order_high, P_Q_finest_error.

    Raises
    ------
    NotInRun
        If the run does not have this check.
    """
    check = inputs.check("note_corrections")
    records: list[dict[str, Any]] = []
    for variant in map(str, check["variant"].values):
        chosen = check.sel({"variant": variant})
        record: dict[str, Any] = {
            "variant": variant,
            "description": str(chosen["description"].values),
            "equation": str(chosen["equation"].values),
        }
        for problem in map(str, check["problem"].values):
            for quantity in map(str, check["quantity"].values):
                for name in ("order", "order_low", "order_high", "finest_error"):
                    value = chosen[name].sel({"problem": problem, "quantity": quantity}).values
                    record[f"{problem}_{quantity}_{name}"] = float(value)
        records.append(record)
    return pd.DataFrame(records)
