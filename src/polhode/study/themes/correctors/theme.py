"""Symplectic correctors: what a change of variables gains, by the strength of the torque and in a liquid."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="Symplectic correctors",
    place=67,
    chapter="torques",
    needs=("checks", "single_body", "many_body"),
    figures=("correctors", "order_and_drift"),
    tables=("correctors", "corrector_positions"),
    numbers=("correctors", "correctors_liquid", "correctors_contacts"),
)
