"""What the laws of the ensembles mean in time, for a torque of any price."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="Laws of the error in time (measured on this machine)",
    place=92,
    chapter="times",
    needs=("ensembles", "cost"),
    figures=("slowdown_map",),
    tables=("slowdown_in_time",),
    numbers=("in_time",),
    timed=True,
)
