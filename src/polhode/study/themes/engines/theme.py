"""What physics engines run: the released engine atlas."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="What engines run",
    place=105,
    needs=("single_body",),  # so that it is made with the others, in one group on a cluster
    figures=("engine_errors", "engine_spins"),
    tables=("engines",),
    numbers=("engines",),
)
