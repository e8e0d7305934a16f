"""The parts of a method: kick, rotation and place of the torque, each exchanged alone."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="The parts of a method",
    place=64,
    chapter="torques",
    needs=("single_body", "checks"),
    figures=("parts", "parts_exchanged"),
    tables=("parts",),
    numbers=("parts",),
)
