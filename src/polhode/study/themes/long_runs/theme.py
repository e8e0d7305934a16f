"""Long runs: drift, normalisation, reversibility, symplecticity, librations."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="Long runs",
    place=70,
    needs=("single_body", "checks"),
    figures=("long_drift", "energy_over_time", "normalisation", "librations"),
    tables=("long_runs", "symplecticity", "reversibility", "librations", "thermal_librations"),
    numbers=("largest_norm", "long_runs", "normalisation", "return_trips", "canonical_form", "iterations", "librations"),
)
