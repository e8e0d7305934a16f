"""What the laws of the ensembles mean in time, for a torque of any price."""

from polhode.study.chapters.chapter import Chapter

CHAPTER = Chapter(
    title="Laws of the error in time (measured on this machine)",
    readers="people whose torque is expensive, or costs nothing",
    place=92,
    job="times",
    needs=("ensembles", "cost"),
    figures=("slowdown_map",),
    tables=("slowdown_in_time",),
    numbers=("in_time",),
    timed=True,
)
