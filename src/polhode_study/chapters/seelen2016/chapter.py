"""Improved PCDM in four cases: repetition of Seelen et al. (2016)."""

from polhode_study.chapters.chapter import FEW, Chapter, Check

CHAPTER = Chapter(
    title="Four cases: Seelen et al. (2016)",
    readers="readers of Seelen et al. (2016), and people who implement PCDM",
    place=30,
    job="sources",
    needs=("single_body", "references", "checks/stability"),
    checks={"stability": Check("run:stability", 2.0, all_methods=True, witness=FEW)},
    figures=(
        "seelen2016_free_top",
        "seelen2016_sphere",
        "seelen2016_forced_cylinder",
        "seelen2016_coupled_cylinders",
    ),
    tables=("seelen2016_table1", "seelen2016_orders", "seelen2016_stability"),
    numbers=("free_top", "sphere", "cylinder", "pair", "statements"),
)
