"""The operations of a step, as a frame."""

import pandas as pd

from polhode.fits.step_times import UNIT
from polhode_study.inputs import Inputs

#: The kinds of operations included in the total, with column heads.
OPERATIONS = {
    "additions": "$+$",
    "multiplications": r"$\times$",
    "divisions": r"$\div$",
    "square_roots": r"$\sqrt{\phantom{x}}$",
}

COUNTS = ("torques", *OPERATIONS, "total", "constants", "negations", "comparisons", "total_normalised", "total_left_alone")


def counts(inputs: Inputs) -> pd.DataFrame:
    """The operations of a step, one row for each method of the cost study.

    Columns: method, label, normalises; :data:`COUNTS`, the first with normalisation as declared by the method, the last two
    with it switched on and off; relative, the total over that of :data:`UNIT`. Entries are empty if normalisation cannot be
    switched or, for a plug-in, operations were not counted.

    Raises
    ------
    NotInRun
        If the run has no cost study.
    """
    data = inputs.cost("operations")
    frame = data.rename(integrator="method").to_dataframe().reset_index().set_index("method", drop=False)
    frame = frame.loc[inputs.in_order(frame["method"])]
    frame["normalises"] = frame["normalises"].map({1: "yes", 0: "no"})
    frame["relative"] = frame["total"] / frame["total"].get(UNIT, float("nan"))
    frame = frame[["method", "label", "normalises", *COUNTS, "relative"]].reset_index(drop=True)
    return frame.astype(dict.fromkeys(COUNTS, "Int64"))
