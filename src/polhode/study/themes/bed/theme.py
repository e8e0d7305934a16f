"""A bed of grains that settles: what the method and the step change beyond the scatter of initial states."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="A bed that settles",
    place=107,
    chapter="torques",
    needs=("checks",),
    figures=("bed",),
    tables=("bed",),
    numbers=("bed",),
)
