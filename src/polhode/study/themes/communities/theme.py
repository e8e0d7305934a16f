"""The first page: what four kinds of readers run, what that costs, what to take instead, and what limits them."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="Which method for whom",
    place=61,
    needs=("ensembles", "single_body", "many_body", "checks"),
    figures=("limits",),
    tables=("communities",),
    numbers=("communities",),
)
