"""Statements of the publications, corrections to their texts, and the place of each of their items in this work."""

from polhode_study.chapters.chapter import Chapter

CHAPTER = Chapter(
    title="Verdicts, errata and sources",
    readers="reviewers, and authors of the sources",
    place=110,
    job="overview",
    needs=("single_body", "claims"),
    tables=("claims", "errata", "readings", "source_index", "ledger_by_source"),
    numbers=("counts", "tolerances", "index"),
)
