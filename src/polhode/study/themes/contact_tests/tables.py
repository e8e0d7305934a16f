"""Table of the tests of contacts: the largest deviations by step."""

from collections.abc import Sequence

import pandas as pd

from polhode.study.inputs import Inputs
from polhode.study.report.latex import escape, step, tabular
from polhode.study.themes.contact_tests import analysis


def contact_tests(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the largest deviation of each quantity of each test, for all steps."""
    data = analysis.check(inputs)
    frame = analysis.deviations(data)
    steps = [name for name in frame.columns if name.startswith("T/")]
    rows: list[Sequence[str] | str] = []
    for test, of_test in frame.groupby("test", sort=False):
        for i, row in enumerate(of_test.to_dict("records")):
            numbers = ["0" if row[name] == 0 else step(row[name], 1) for name in steps]
            rows.append([escape(str(test)) if i == 0 else "", row["quantity"], row["theory"], *numbers])
    head = ["test", "quantity", "compared with", *(f"${name}$" for name in steps)]
    return frame, tabular("@{}lllccc@{}", head, rows)
