"""Single impacts with friction: the bookkeeping of a contact decides, and the rotation method hardly matters."""

from polhode_study.chapters.chapter import WITNESSES, Chapter, Check

#: The method and the update of the contact force of witnesses: with all corrections.
CORRECTED = {"methods": WITNESSES[:1], "stages": ["dashpot"]}

CHAPTER = Chapter(
    title="Single impacts with friction",
    readers="people who write or check a contact law with friction",
    place=103,
    job="laws",
    needs=(
        "checks/impacts",
        "checks/random_impacts",
    ),
    checks={
        "impacts": Check("run:impacts", 12.0, witness=CORRECTED),
        "random_impacts": Check("run_random:random_impacts", 12.0, witness={**CORRECTED, "draws": 1}),
    },
    tables=("impacts",),
    numbers=("impacts", "steps"),
)
