"""The methods of this work beside the best of the others."""

from polhode_study.chapters.chapter import Chapter

CHAPTER = Chapter(
    title="New methods",
    readers="authors of methods",
    place=66,
    job="torques",
    needs=("single_body", "checks/simplified", "checks/stability"),
    figures=("new_methods",),
    tables=("new_methods",),
    numbers=("new_methods", "start"),
)
