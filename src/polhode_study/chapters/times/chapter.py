"""What a step costs, and the time of a method to a given error."""

from polhode_study.chapters.chapter import Chapter

CHAPTER = Chapter(
    title="What a step and a solution cost (measured on this machine)",
    readers="people who ask which method is fastest for their error and torque, and reviewers of the published times",
    place=80,
    needs=("single_body", "cost", "cost_claims", "many_body"),
    released=("many_body.nc",),
    figures=("relative_cost", "speed_up"),
    tables=("operations", "cost", "cost_claims", "speed_up", "many_body_cost"),
    numbers=("measured", "steps", "intervals", "codings", "gains", "first", "scope", "times"),
    timed=True,
)
