"""The methods, and the accuracy of the references."""

from polhode.study.chapters.chapter import Chapter

CHAPTER = Chapter(
    title="Methods and references",
    readers="authors of methods, and reviewers",
    place=10,
    job="overview",
    needs=("single_body", "references"),
    figures=("reference_solution",),
    tables=("methods", "reconstructions", "reference"),
)
