"""Liquids of rigid molecules at constant energy: what drifts, by how much, and what does not."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="A liquid at constant energy",
    place=101,
    chapter="torques",
    needs=("checks", "single_body"),
    figures=("liquids", "liquids_more"),
    tables=("liquids",),
    numbers=("liquids",),
)
