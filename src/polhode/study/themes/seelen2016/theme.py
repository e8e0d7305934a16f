"""Improved PCDM in four cases: repetition of Seelen et al. (2016)."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="Four cases: Seelen et al. (2016)",
    place=30,
    chapter="sources",
    needs=("single_body", "references", "checks"),
    figures=(
        "seelen2016_free_top",
        "seelen2016_sphere",
        "seelen2016_forced_cylinder",
        "seelen2016_coupled_cylinders",
    ),
    tables=("seelen2016_table1", "seelen2016_orders", "seelen2016_stability"),
    numbers=("free_top", "sphere", "cylinder", "pair", "stability", "statements"),
)
