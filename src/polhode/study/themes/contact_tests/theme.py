"""Tests of contacts with friction: benchmarks, closed forms, and each cure of the bookkeeping by itself."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="Tests of contacts with friction",
    place=103,
    chapter="laws",
    needs=("checks",),
    figures=("contact_tests",),
    tables=("contact_tests",),
    numbers=("contact_tests",),
)
