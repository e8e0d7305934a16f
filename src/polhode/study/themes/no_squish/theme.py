"""Symplectic integration of quaternions: NO_SQUISH, its arbitrary moment, the order of rotors."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="Symplectic quaternions",
    place=50,
    chapter="sources",
    needs=("single_body", "checks"),
    figures=("extended_inertia",),
    tables=("rotor_order",),
    numbers=("extended_inertia", "rotor_order"),
)
