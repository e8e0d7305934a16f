"""The energy of bodies that collide, over the time step in units of the contact time."""

from polhode_study.chapters.chapter import Chapter

CHAPTER = Chapter(
    title="Time steps and contact times",
    readers="people who choose the time step of a DEM simulation",
    place=104,
    job="laws",
    needs=("single_body", "many_body"),
    released=("many_body.nc",),
    figures=("contact_law",),
    tables=("contact_law",),
    numbers=("contact_law",),
)
