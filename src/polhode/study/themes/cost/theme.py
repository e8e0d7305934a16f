"""The cost of a step: operations, and times measured on this machine."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="What a step costs (measured on this machine)",
    place=80,
    chapter="times",
    needs=("single_body", "cost", "cost_claims"),
    figures=("relative_cost",),
    tables=("operations", "cost", "cost_claims"),
    numbers=("operations", "measured", "steps", "time_of_an_operation", "published", "codings"),
    timed=True,
)
