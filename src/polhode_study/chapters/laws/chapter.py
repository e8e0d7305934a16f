"""What follows from the ensembles: which method for which torque, with which step."""

from polhode_study.chapters.chapter import FEW, Chapter, Check

#: The first of random bodies are their witness.
BODIES = {**FEW, "bodies": 2}

CHAPTER = Chapter(
    title="Laws of the error over random bodies",
    readers="people who choose a method and a step for their torque, and authors of methods",
    place=62,
    needs=(
        "ensembles",
        "single_body",
        "many_body",
        "checks/long_times",
        "checks/stiff_friction",
    ),
    checks={
        "stiff_friction": Check("run:stiff_friction", 17.0, witness=BODIES),
        "long_times": Check("run:long_times", 7.0, witness=BODIES),
        "strengths": Check("run:strengths", 30.0, witness=BODIES),
    },
    released=("laws.nc", "many_body.nc"),
    figures=("slowdown",),
    tables=("answer", "law_sheet", "stiff_friction"),
    numbers=("scope", "worst", "gains", "contacts", "answers", "stiff_friction", "long_times"),
)
