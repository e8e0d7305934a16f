"""Grains in motion: what the method, the step and the law of force change beyond the scatter of initial states."""

from polhode_study.chapters.chapter import WITNESSES, Chapter, Check

#: Their witness is one initial state, with the method of impacts and two steps.
FIRST = {"methods": WITNESSES[:1], "seeds": [0], "divisions": [4, 10]}

CHAPTER = Chapter(
    title="Grains in motion",
    readers="people who simulate grains and ask what method, step and law change there",
    place=107,
    job="torques",
    needs=(
        "checks/bed",
        "checks/column",
        "checks/drum",
    ),
    checks={
        "bed": Check("run:bed", 90.0, witness=FIRST),
        "column": Check("run:column", 60.0, witness=FIRST),
        "drum": Check("run:drum", 100.0, witness=FIRST),
    },
    released=("grains.nc",),
    tables=("grains",),
    numbers=("grains", "stiffness"),
)
