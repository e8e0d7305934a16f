"""What follows from the ensembles: which method for which torque, with which step."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="Laws of the error over random bodies",
    place=62,
    needs=("ensembles", "single_body", "many_body", "checks"),
    figures=("slowdown", "decision", "law_fits", "law_spread"),
    tables=("answer", "law_sheet", "stiff_friction"),
    numbers=("scope", "worst", "gains", "contacts", "answers", "stiff_friction", "long_times"),
)
