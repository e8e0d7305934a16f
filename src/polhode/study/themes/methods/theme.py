"""The methods, and the accuracy of the references."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="Methods and references",
    place=10,
    chapter="overview",
    needs=("single_body", "references"),
    figures=("reference_solution",),
    tables=("methods", "reconstructions", "reference"),
)
