"""Symplectic integration of quaternions: NO_SQUISH, its arbitrary moment, the order of rotors."""

from polhode_study.chapters.chapter import Chapter, Check

CHAPTER = Chapter(
    title="Symplectic quaternions",
    readers="readers of Tuckerman (2010), and people who implement NO_SQUISH",
    place=50,
    job="sources",
    needs=("single_body", "checks/extended_inertia", "checks/rotor_order"),
    checks={
        "extended_inertia": Check("run:extended_inertia", 3.0, witness={"samples": 1}, plain=True),
        "rotor_order": Check("run:rotor_order", 3.0, witness={"orders": ["sml"]}, plain=True),
    },
    figures=("extended_inertia",),
    tables=("rotor_order",),
    numbers=("extended_inertia", "rotor_order"),
)
