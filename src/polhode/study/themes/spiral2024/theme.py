"""Comparison of SPIRAL with other methods: repetition of del Valle et al. (2024)."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="SPIRAL compared: del Valle et al. (2024)",
    place=20,
    needs=("single_body", "references", "checks"),
    figures=(
        "error_vs_dt",
        "error_vs_time",
        "spiral_variants_vs_dt",
        "spiral_variants_vs_time",
        "originators_vs_published",
        "norm_drift",
    ),
    tables=("orders", "target_dt", "published_variants"),
    numbers=("each_method", "comparisons", "variants"),
)
