"""What physics engines run: the released engine atlas."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="What engines run",
    place=105,
    needs=("checks",),
    figures=("engine_errors", "engine_spins"),
    tables=("engines", "engines_in_short", "contact_choices", "contact_errors", "contact_beds", "liquid_codes", "peers"),
    numbers=("engines", "contact_codes", "liquid_codes", "peers"),
)
