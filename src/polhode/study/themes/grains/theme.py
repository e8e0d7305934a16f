"""Grains in motion: what the method, the step and the law of force change beyond the scatter of initial states."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="Grains in motion",
    place=107,
    chapter="torques",
    needs=("checks",),
    figures=("grains", "grains_ledger"),
    tables=("grains", "grains_laws"),
    numbers=("grains", "stiffness"),
)
