"""What a step costs, the time of a method to a given error, and what the laws of the ensembles mean in time."""

from polhode_study.chapters.chapter import Chapter

CHAPTER = Chapter(
    title="What a step and a solution cost (measured on this machine)",
    readers="people who ask which method is fastest for their error and torque, and reviewers of the published times",
    place=80,
    needs=("single_body", "cost", "cost_claims", "many_body", "ensembles"),
    released=("laws.nc", "many_body.nc"),
    figures=("relative_cost", "speed_up", "work_precision", "work_in_torques", "price_of_torque", "slowdown_map"),
    tables=("operations", "cost", "cost_claims", "speed_up", "many_body_cost", "slowdown_in_time"),
    numbers=(
        *("measured", "steps", "time_of_an_operation", "intervals", "codings"),
        *("gains", "first", "scope", "times", "in_time"),
    ),
    timed=True,
)
