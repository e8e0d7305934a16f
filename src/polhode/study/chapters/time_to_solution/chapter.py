"""The time a method takes to a given error, for one body and for many."""

from polhode.study.chapters.chapter import Chapter

CHAPTER = Chapter(
    title="Time to a solution (measured on this machine)",
    readers="people who ask which method is fastest for a given error",
    place=90,
    job="times",
    needs=("single_body", "cost", "many_body"),
    figures=("speed_up", "work_precision", "work_in_torques", "price_of_torque"),
    tables=("speed_up", "many_body_cost"),
    numbers=("published", "first", "scope", "times"),
    timed=True,
)
