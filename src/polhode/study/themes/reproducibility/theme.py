"""The identity of this run: commit, versions, scope."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="Reproducibility",
    place=120,
    needs=("single_body", "references", "checkout"),
    numbers=("origin", "reduction", "scope", "long_run", "reference", "release"),
)
