"""The table of the errors of impacts and their orders, correction by correction."""

from polhode.fits.impact_errors import LEADING, STATED
from polhode.interface.table import Column, RowGroup, Table
from polhode_study.chapters.impacts import frames
from polhode_study.inputs import Inputs
from polhode_study.report.frames import records
from polhode_study.report.latex import escape


def impacts(inputs: Inputs) -> Table:
    """A table of the error of the spin at two steps, the orders of spin and velocity, and the closure, by impact and stage."""
    frame = frames.frame(frames.check(inputs))
    columns = [Column("", "stage_label", lambda label: rf"\quad {escape(label)}")]
    columns += [Column(f"error, $T/{steps}$", f"error_spin_{steps}", ".1e", "c") for steps in STATED]
    columns += [Column(f"order, {name}", f"order_{name}", ".2f", "c") for name in ("spin", "velocity")]
    columns += [Column("closure", f"closure_{STATED[-1]}", ".0e", "c")]
    impact = RowGroup("case_label", title=lambda label: rf"\emph{{{escape(label)}}}")
    return Table(frame, columns, rows=records(frame[frame["method"] == LEADING]), groups=[impact], tight=True)
