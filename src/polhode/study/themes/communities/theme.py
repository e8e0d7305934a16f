"""The first page: what each kind of reader runs, what to take instead, and one free body in five programs."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="Which method for whom",
    place=61,
    needs=("ensembles", "single_body", "many_body", "checks"),
    figures=("free_body",),
    tables=("communities",),
    numbers=("communities",),
)
