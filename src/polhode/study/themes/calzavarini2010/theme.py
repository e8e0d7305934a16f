"""The leapfrog of Calzavarini (2010): its misprints, and friction."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="The leapfrog of Calzavarini (2010)",
    place=40,
    chapter="sources",
    needs=("single_body", "references", "checks"),
    figures=("note_misprints", "velocity_torque"),
    tables=("note_corrections", "velocity_torque"),
    numbers=("note", "friction", "bearing"),
)
