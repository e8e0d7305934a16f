"""The tables of the repeated comparison of del Valle et al. (2024)."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd

from polhode.fits.values import at
from polhode.study.chapters.spiral2024.frames import step_off_the_curve
from polhode.study.chapters.spiral2024.measures import VARIANT_DIVISION
from polhode.study.inputs import Inputs
from polhode.study.report.formats import factor
from polhode.study.report.latex import (
    NOT_AVAILABLE,
    above_head,
    decimal,
    escape,
    in_range,
    long_table,
    spanning,
    step,
    tabular,
)
from polhode.study.report.selection import method_order


def published_variants(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of published methods with one choice changed each: errors at one step over the published ones, and orders."""
    check = inputs.check("published_variants")
    chosen = check.sel({"division": VARIANT_DIVISION})
    records: list[dict[str, Any]] = []
    rows: list[Sequence[str] | str] = []
    for key in map(str, check["variant"].values):
        row = chosen.sel({"variant": key})
        base = str(row["base"].values)
        record: dict[str, Any] = {"variant": key, "base": base, "description": str(row["description"].values)}
        if key == base and rows:
            rows.append(r"\addlinespace[3pt]")
        cells = [escape(inputs.label(base).partition(" (")[0]) if key == base else "", escape(record["description"])]
        for quantity in map(str, check["quantity"].values):
            error, published = (float(chosen["error"].sel({"variant": v, "quantity": quantity})) for v in (key, base))
            record |= {
                f"{quantity}_error": error,
                f"{quantity}_gain": published / error,
                f"{quantity}_order": float(row["order"].sel({"quantity": quantity})),
            }
            cells += [step(error, 2), factor(published / error), decimal(record[f"{quantity}_order"], 2)]
        records.append(record)
        rows.append(cells)
    head = ["method", "change", r"$\errorq$", "gain", r"$p_q$", r"$\errorw$", "gain", r"$p_\omega$"]
    return pd.DataFrame(records), tabular(r"l>{\raggedright\arraybackslash}p{54mm}rrcrrc", head, rows)


def target_dt(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the time step that meets each target error, with the published one (del Valle et al. 2024, Table 2).

    Ours are found on runs, by one measure for all methods. The ratios to the published steps use the measure of the
    publication: for steps interpolated between the points of the ladder, as there, and for steps found on runs.
    """
    targets = [float(t) for t in inputs.targets["target_error"].values]
    present = set(map(str, inputs.targets["integrator"].values))
    records: list[dict[str, Any]] = []
    groups: list[list[list[str]]] = []
    for key in method_order(inputs):
        if key not in present:
            continue
        ours, as_published, reached, steps = (
            inputs.targets[name].sel(integrator=key).values.astype(float)
            for name in ("step_size", "step_size_as_published", "mean_error", "steps")
        )
        drawn = np.array([step_off_the_curve(inputs, key, target) for target in targets])
        theirs = np.array([inputs.published_step(key, target) for target in targets])
        for i, target in enumerate(targets):
            records.append(
                {
                    "method": key,
                    "target_error": target,
                    "dt": ours[i],
                    "steps": steps[i],
                    "mean_error": reached[i],
                    "dt_published": theirs[i],
                    "dt_interpolated": drawn[i],
                    "ratio_interpolated": drawn[i] / theirs[i],
                    "dt_as_published": as_published[i],
                    "ratio_as_published": as_published[i] / theirs[i],
                }
            )
        lines = [[escape(inputs.label(key)), "ours", *(step(v) for v in ours)]]
        if inputs.declared(key, "published_error", "quaternion") != "quaternion":
            lines.append(["", "ours (matrix)", *(step(v) for v in as_published)])
        if np.isfinite(theirs).any():
            lines.append(["", "published", *(step(v) for v in theirs)])
            lines.append(["", "ratio (interp.)", *(decimal(v, 4) for v in drawn / theirs)])
            lines.append(["", "ratio (runs)", *(decimal(v, 4) for v in as_published / theirs)])
        groups.append(lines)
    rows: list[Sequence[str] | str] = []
    groups.sort(key=lambda lines: len(lines) == 1)
    for before, lines in zip([[], *groups], groups, strict=False):
        if before and len(lines) > 1:
            rows.append(r"\addlinespace[3pt]")
        elif len(before) > 1:
            rows.append(r"\midrule")
        # A page ends between methods.
        rows += [*(" & ".join(line) + r" \\*" for line in lines[:-1]), lines[-1]]
    head = ["method", "", *(step(t, 1) for t in targets)]
    above = spanning(("target error", len(targets)), before=" & & ")
    return pd.DataFrame(records), long_table("ll" + "r" * len(targets), head, rows, "target", above, gap="")


def orders(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of declared and fitted orders of q and omega, with the range over shifted fits and the range of dt fitted."""
    records: list[dict[str, Any]] = []
    rows = []
    for key in method_order(inputs):
        record: dict[str, Any] = {"method": key}
        cells = [escape(inputs.label(key))]
        for short, claim in (("q", "claimed_q_order"), ("omega", "claimed_omega_order")):
            record[claim] = int(inputs.errors[claim].sel(integrator=key).values) if claim in inputs.errors else None
            for suffix in ("", "_low", "_high", "_dt_min", "_dt_max", "_points"):
                record[f"{short}_order{suffix}"] = at(inputs.errors, f"{short}_order{suffix}", key)
            order, low, high, first, last = (
                record[f"{short}_order{suffix}"] for suffix in ("", "_low", "_high", "_dt_min", "_dt_max")
            )
            known = isfinite(first) and isfinite(last)
            cells += [
                str(record[claim]) if record[claim] is not None else NOT_AVAILABLE,
                in_range(order, low, high, 3),
                f"{step(first, 2)} to {step(last, 2)}" if known else NOT_AVAILABLE,
            ]
        for suffix in ("", "_low", "_high"):
            record[f"stored_omega_order{suffix}"] = at(inputs.errors, f"stored_omega_order{suffix}", key)
        records.append(record)
        rows.append(cells)
    head = ["method", *(["decl.", "measured", r"$\Delta t$ (s)"] * 2)]
    top = spanning(("orientation", 3), ("angular velocity", 3))
    return pd.DataFrame(records), above_head(tabular("lccrccr", head, rows), top)
