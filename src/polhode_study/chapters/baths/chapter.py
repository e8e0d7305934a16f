"""Liquids of rigid molecules in a heat bath: what is sampled, and what a log shows."""

from polhode_study.chapters.chapter import Chapter, Check

CHAPTER = Chapter(
    title="A liquid in a heat bath",
    readers="people who run rigid molecules with a thermostat and ask for scheme, step and where to read the temperature",
    place=102,
    job="torques",
    needs=("checks/baths", "checks/liquid_spectrum"),
    checks={
        "baths": Check(
            "run:baths",
            1900.0,
            witness={"cases": ["water64 BAOAB 10 8"], "starts": 1, "blocks": 1},
            compiled_with="liquids",
        ),
    },
    figures=("baths",),
    tables=("baths", "bath_steps"),
    numbers=("baths",),
)
