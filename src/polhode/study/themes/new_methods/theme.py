"""The methods of this work beside the best of the others."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="New methods",
    place=66,
    chapter="torques",
    needs=("single_body", "checks"),
    figures=("new_methods",),
    tables=("new_methods",),
    numbers=("new_methods", "start"),
)
