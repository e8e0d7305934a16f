"""Long runs: drift, normalisation, reversibility, symplecticity."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="Long runs",
    place=70,
    needs=("single_body", "checks"),
    figures=("long_drift", "energy_over_time", "normalisation", "reversibility"),
    tables=("long_runs", "symplecticity", "reversibility"),
    numbers=("largest_norm", "long_runs", "normalisation", "return_trips", "canonical_form", "iterations"),
)
