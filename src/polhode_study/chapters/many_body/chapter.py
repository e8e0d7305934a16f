"""Energy in many-body runs: chess pieces and rods in a box."""

from polhode_study.chapters.chapter import Chapter

CHAPTER = Chapter(
    title="Many bodies",
    readers="people who simulate clumps, and reviewers of the published energies",
    place=100,
    needs=("many_body", "films"),
    released=("many_body.nc",),
    figures=("many_body_pieces", "many_body_scene", "many_body_energy", "rods_energy"),
    tables=("many_body", "many_body_methods"),
    numbers=(
        "released",
        "published",
        "rods_released",
        "rods_repeated",
        "rods_states",
        "few",
        "every_method",
    ),
)
