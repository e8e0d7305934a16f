"""Comparison of SPIRAL with other methods: repetition of del Valle et al. (2024)."""

from polhode_study.chapters.chapter import Chapter, Check

CHAPTER = Chapter(
    title="SPIRAL compared: del Valle et al. (2024)",
    readers="readers of del Valle et al. (2024), and people who implement SPIRAL",
    place=20,
    needs=("single_body", "references", "checks/published_variants"),
    checks={
        "published_variants": Check(
            "run:published_variants", 4.0, witness={"divisions": [64, 128]}, of_all=("order",), plain=True
        ),
        "sweeps": Check("run:sweeps", 5.0, witness={"divisions": [128, 256]}, of_all=("energy_change",), plain=True),
        "simplified": Check("run:simplified", 8.0, witness={"samples": 1}, of_all=("steps_per_radian",), plain=True),
    },
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
