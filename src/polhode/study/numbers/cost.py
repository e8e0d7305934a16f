"""The numbers of what a step costs."""

from collections.abc import Callable

from pandas import isna

from polhode import quaternion
from polhode.operations import count
from polhode.study import comparison
from polhode.study.inputs import Inputs
from polhode.study.numbers.comparison import listed
from polhode.study.numbers.formats import macro_name
from polhode.study.tables.cost import UNIT, counts
from polhode.study.tables.latex import decimal, escape


def operations(inputs: Inputs) -> dict[str, str]:
    """Operations of a step of each method, and of what steps are made of."""
    rows = comparison.keyed(counts(inputs), "method")
    unit = (1.0, 0.0, 0.0, 0.0)
    result = {
        "costOperationsNormalise": str(count(quaternion.normalise, unit).total),
        "costOperationsRotate": str(count(quaternion.rotate, unit, (0.1, 0.2, 0.3), 0.1).total),
        "costOperationsLinear": str(
            count(quaternion.derivative, unit, (0.1, 0.2, 0.3)).total + count(quaternion.increment, 0.1, unit, unit).total
        ),
        "costOperationsFrame": str(count(quaternion.to_lab, unit, (0.1, 0.2, 0.3)).total),
    }
    for key, row in rows.items():
        if not isna(row["total"]):
            result[f"costOperations{macro_name(key)}"] = str(row["total"])
            result[f"costOperationsRelative{macro_name(key)}"] = decimal(row["relative"], 1)
    # The variants as published are left out of what the text compares.
    one = [row for key, row in rows.items() if row["torques"] == 1 and not key.endswith("_delvalle2024")]
    one.sort(key=lambda row: int(row["total"]))
    names = [row["method"] for row in one]
    if not {UNIT, "spiral_leapfrog"} <= set(names):
        return result
    cheaper = one[names.index(UNIT) + 1 : names.index("spiral_leapfrog")]
    result["costOperationsCheaper"] = listed(escape(row["label"]) for row in cheaper)
    result["costOperationsMost"] = escape(one[-1]["label"])
    result["costOperationsMostRelative"] = decimal(one[-1]["relative"], 1)
    return result


GROUPS: tuple[Callable[[Inputs], dict[str, str]], ...] = (operations,)
