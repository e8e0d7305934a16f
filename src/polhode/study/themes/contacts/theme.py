"""The energy of bodies that collide, over the time step in units of the contact time."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="Time steps and contact times",
    place=104,
    chapter="laws",
    needs=("single_body", "many_body"),
    figures=("contact_law",),
    tables=("contact_law",),
    numbers=("contact_law",),
)
