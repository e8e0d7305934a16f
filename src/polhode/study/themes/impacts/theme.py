"""Single impacts with friction: the bookkeeping of a contact decides, and the rotation method hardly matters."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="Single impacts with friction",
    place=102,
    chapter="laws",
    needs=("checks",),
    figures=("impacts", "waterfall"),
    tables=("impacts", "waterfall"),
    numbers=("impacts", "waterfall", "steps"),
)
