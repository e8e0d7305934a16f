"""The tables of the repeated comparison of del Valle et al. (2024)."""

from typing import Any

import numpy as np

from polhode.interface.table import Column, RowGroup, Table, placed
from polhode_study.chapters.spiral2024.frames import step_off_the_curve
from polhode_study.chapters.spiral2024.measures import VARIANT_DIVISION
from polhode_study.inputs import Inputs
from polhode_study.report.formats import factor
from polhode_study.report.latex import decimal, step
from polhode_study.report.selection import method_order
from polhode_study.report.tables import RULE


def published_variants(inputs: Inputs) -> Table:
    """A table of published methods with one choice changed each: errors at one step over the published ones, and orders."""
    check = inputs.check("published_variants")
    chosen = check.sel({"division": VARIANT_DIVISION})
    quantities = list(map(str, check["quantity"].values))
    records: list[dict[str, Any]] = []
    for key in map(str, check["variant"].values):
        row = chosen.sel({"variant": key})
        base = str(row["base"].values)
        record: dict[str, Any] = {"variant": key, "base": base, "description": str(row["description"].values)}
        for quantity in quantities:
            error, published = (float(chosen["error"].sel({"variant": v, "quantity": quantity})) for v in (key, base))
            record |= {
                f"{quantity}_error": error,
                f"{quantity}_gain": published / error,
                f"{quantity}_order": float(row["order"].sel({"quantity": quantity})),
            }
        records.append(record)
    columns = [
        Column("method", lambda row: inputs.label(row["base"]).partition(" (")[0], once=True),
        Column("change", "description", align="54mm"),
    ]
    for quantity, (error_head, order_head) in zip(
        quantities, ((r"$\errorq$", r"$p_q$"), (r"$\errorw$", r"$p_\omega$")), strict=True
    ):
        columns += [
            Column(error_head, f"{quantity}_error", ".1e", "r"),
            Column("gain", f"{quantity}_gain", factor, "r"),
            Column(order_head, f"{quantity}_order", ".2f", "c"),
        ]
    return Table(records, columns, groups=[RowGroup("base")])


def target_dt(inputs: Inputs) -> Table:
    """A table of the time step that meets each target error, with the published one (del Valle et al. 2024, Table 2).

    Ours are found on runs, by one measure for all methods. The ratios to the published steps use the measure of the
    publication: for steps interpolated between the points of the ladder, as there, and for steps found on runs.
    """
    targets = [float(t) for t in inputs.targets["target_error"].values]
    present = set(map(str, inputs.targets["integrator"].values))
    records: list[dict[str, Any]] = []
    rows: list[list[Any]] = []
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
        lines = [["ours", *map(step, ours)]]
        if inputs.declared(key, "published_error", "quaternion") != "quaternion":
            lines.append(["ours (matrix)", *map(step, as_published)])
        if np.isfinite(theirs).any():
            lines.append(["published", *map(step, theirs)])
            lines.append(["ratio (interp.)", *(decimal(v, 4) for v in drawn / theirs)])
            lines.append(["ratio (runs)", *(decimal(v, 4) for v in as_published / theirs)])
        rows += [[inputs.label(key), *line, len(lines) == 1] for line in lines]
    columns = [Column("method", 0, once=True), Column("", 1)]
    number_of = len(targets)
    columns += placed([step(t, 1) for t in targets], "r" * number_of, first=2, overs=["target error"] * number_of)
    # Methods with a published step have several lines, which stand together on a page.
    groups = [RowGroup(-1, RULE), RowGroup(lambda row: row[-1] or row[0]), RowGroup(0, "", whole=True)]
    return Table(records, columns, rows=sorted(rows, key=lambda row: row[-1]), groups=groups, long="target")


def orders(inputs: Inputs) -> Table:
    """Declared and fitted orders of q and omega, with the range over shifted fits and the range of dt fitted; a file only."""
    suffixes = ("", "_low", "_high", "_dt_min", "_dt_max", "_points")
    fits = [[f"{name}_order{end}" for end in suffixes[: 3 if name == "stored_omega" else 6]] for name in FITTED]
    columns = ["claimed_q_order", *fits[0], "claimed_omega_order", *fits[1], *fits[2]]
    frame = inputs.errors.reset_coords()[columns].sel(integrator=method_order(inputs)).to_dataframe()[columns]
    frame = frame.astype(dict.fromkeys([name for of_quantity in fits for name in of_quantity], float))
    return Table(frame.rename_axis("method").reset_index())


#: Quantities whose orders are fitted.
FITTED = ("q", "omega", "stored_omega")
