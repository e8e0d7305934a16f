"""The cost of a step: operations, and times measured on this machine."""

from polhode.study.chapters.chapter import Chapter

CHAPTER = Chapter(
    title="What a step costs (measured on this machine)",
    readers="people who ask what a step costs, and reviewers of the published times",
    place=80,
    job="times",
    needs=("single_body", "cost", "cost_claims"),
    figures=("relative_cost",),
    tables=("operations", "cost", "cost_claims"),
    numbers=("operations", "measured", "steps", "time_of_an_operation", "published", "codings"),
    timed=True,
)
