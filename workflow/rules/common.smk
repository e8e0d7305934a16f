"""What several rules use: how figures and tables stand in Snakemake's report."""

from pathlib import Path

#: What a theme is called by readers.
THEMES = {
    "delvalle2024": "SPIRAL compared: del Valle et al. (2024)",
    "seelen2016": "Four cases: Seelen et al. (2016)",
    "torque_classes": "All classes of torque",
    "single_body": "Single bodies",
    "many_body": "Many bodies",
    "cost": "Time (measured on this machine)",
}


def shown(kind, theme, name):
    """A figure or table as an output that Snakemake's report shows under its theme, with its caption."""
    stem = Path(name).stem
    return report(
        f"{RESULTS}/{kind}/{name}",
        caption=Path(f"{RESULTS}/captions/{kind}/{stem}.rst").absolute(),
        category=kind.capitalize(),
        subcategory=THEMES[theme],
        labels={kind.removesuffix("s"): stem.replace("_", " ")},
    )
