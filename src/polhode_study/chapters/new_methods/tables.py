"""Table of the new methods: gain over SPIRAL by class of torque, stability, drift."""

from math import isfinite, isnan

from polhode.interface.table import Column, RowGroup, Table
from polhode_study.chapters.new_methods import frames
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report.latex import decimal


def new_methods(inputs: Inputs) -> Table:
    """A table of the gain in accuracy over SPIRAL at equal steps, the stability limit under friction and the energy drift."""
    frame = frames.compared(inputs)
    new = frames.new(inputs)
    if not new:
        raise NotInRun("this run holds no method of this work")
    classes = [name for name, _ in frames.representatives(inputs)]
    columns = [Column("method", "label")]
    columns += [Column(name, f"gain_{name}", _gain, "r", over="error of SPIRAL over own") for name in classes]
    columns += [Column(r"$k\dt$", "stability", _limit, "c", over="friction")]
    columns += [
        Column(head, f"energy_{problem}", ".1e", "c", over="energy", none="lost")
        for head, problem in zip(("free", "heavy"), frames.LONG_RUNS, strict=True)
    ]
    return Table(frame, columns, groups=[RowGroup(lambda row: row["method"] in new)])


def _limit(value: float) -> str:
    """A stability limit; infinite where none was found."""
    return "--" if isnan(value) else decimal(value, 2) if isfinite(value) else r"none"


def _gain(value: float) -> str:
    return rf"\num{{{float(f'{value:.2g}'):g}}}" if isfinite(value) else "--"
