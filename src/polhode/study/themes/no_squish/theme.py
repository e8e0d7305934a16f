"""Symplectic integration of quaternions: NO_SQUISH and its arbitrary moment."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="Symplectic quaternions",
    place=50,
    needs=("single_body", "checks"),
    figures=("extended_inertia",),
    numbers=("extended_inertia",),
)
