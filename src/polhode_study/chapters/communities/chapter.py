"""The first page: what each kind of reader runs, what to take instead, and one free body in five programs."""

from polhode_study.chapters.chapter import Chapter

CHAPTER = Chapter(
    title="Which method for whom",
    readers="people who run DEM, MD, a game or a spacecraft and ask what to take",
    place=61,
    needs=(
        "ensembles",
        "single_body",
        "many_body",
        "checks/drum",
        "checks/liquid_cutoffs",
        "checks/liquid_1fs",
        "checks/liquid_2fs",
        "checks/liquid_4fs",
        "checks/liquid_6fs",
        "checks/random_impacts",
    ),
    released=("atlas.nc", "contacts.nc", "grains.nc", "laws.nc", "liquids.nc", "many_body.nc", "satellites.json"),
    figures=("free_body",),
    tables=("communities",),
    numbers=("communities",),
)
