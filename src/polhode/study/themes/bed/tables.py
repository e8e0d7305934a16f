"""Table of what a step changes in a bed."""

import pandas as pd

from polhode.fits.seed_statistics import Estimate
from polhode.study.inputs import Inputs
from polhode.study.report.latex import decimal, escape, stacked, tabular
from polhode.study.themes.bed import analysis
from polhode.study.themes.bed.analysis import COMPARED, Observable, Verdict

#: What stands after a change: nothing where it is within the scatter; what leaves it is in bold type.
UNDECIDED_MARK = r"\,?"


def bed(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the change with each step, over all methods; the file has those of each method, and against the others."""
    data = analysis.data_of(inputs)
    divisions, records = analysis.coarser(data), []
    keys = [str(key) for key in data["integrator"].values]
    rows: list[list[str] | str] = []
    for name, shown in COMPARED.items():
        spread = analysis.scatter(data, name)

        def record(
            compared: str, method: str, division: int, change: Estimate, name: str = name, spread: float = spread
        ) -> Verdict:
            verdict = analysis.verdict(change, spread)
            values = {"change": change.value, "low": change.low, "high": change.high, "scatter": spread}
            records.append({"observable": name, "compared": compared, "method": method, "steps_in_contact": division, **values})
            records[-1] |= {"units": data[name].attrs["units"], "verdict": str(verdict)}
            return verdict

        cells = []
        for division in divisions:
            change = analysis.change_with_step(data, name, division)
            cells.append(_cell(change, record("step", "all", division, change), shown))
            for key in keys:
                record("step", key, division, analysis.change_with_step(data, name, division, [key]))
        for division in (*divisions, int(data["division"].values[-1])) if len(keys) > 1 else ():
            for key in keys:
                record("method", key, division, analysis.change_with_method(data, name, key, division))
        if name == analysis.SPLIT[0]:
            rows.append(r"\addlinespace[3pt]")
        finest = float(data[name].isel(division=-1).mean()) * shown.factor
        unit = f" ({shown.unit})" if shown.unit else ""
        rows.append([escape(shown.name + unit), decimal(finest, shown.decimals), _spread(spread, shown), *cells])
    closure = (100 * data["closure"].mean(("integrator", "seed"))).values
    rows += [
        r"\addlinespace[3pt]",
        [r"closure (\%)", decimal(closure[-1], 2), "", *(decimal(value, 2) for value in closure[:-1])],
    ]
    finest_step = rf"$T/{int(data['division'].values[-1])}$"
    head = ["", finest_step, "scatter", *(rf"$T/{division}$" for division in divisions)]
    return pd.DataFrame(records), tabular("lrr" + "c" * len(divisions), head, rows)


def _spread(spread: float, shown: Observable) -> str:
    return decimal(spread * shown.factor, shown.decimals)


def _cell(change: Estimate, verdict: Verdict, shown: Observable) -> str:
    ends = (round(x * shown.factor, shown.decimals) + 0.0 for x in (change.value, change.low, change.high))  # no -0.0
    value, low, high = (decimal(x, shown.decimals) for x in ends)
    first = rf"{{\boldmath{value}}}" if verdict is Verdict.LEAVES else value
    return stacked(first + (UNDECIDED_MARK if verdict is Verdict.UNDECIDED else ""), f"[{low}, {high}]")
