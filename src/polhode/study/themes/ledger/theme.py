"""Statements of the publications, corrections to their texts, and the place of each of their items in this work."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="Verdicts, errata and sources",
    place=110,
    chapter="overview",
    needs=("single_body", "claims"),
    tables=("claims", "errata", "readings", "source_index", "ledger_by_source"),
    numbers=("counts", "tolerances", "index"),
)
