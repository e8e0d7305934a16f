"""The leapfrog of Calzavarini (2010): its misprints, and friction."""

from polhode_study.chapters.chapter import Chapter, Check

CHAPTER = Chapter(
    title="The leapfrog of Calzavarini (2010)",
    readers="readers of Calzavarini (2010), and people who implement that leapfrog",
    place=40,
    job="sources",
    needs=("single_body", "references", "checks/note_corrections", "checks/stability"),
    checks={
        "note_corrections": Check(
            "run:note_corrections",
            8.0,
            witness={"divisions": [16, 32]},
            of_all=("order", "order_low", "order_high", "finest_error"),
            plain=True,
        ),
    },
    figures=("note_misprints", "velocity_torque"),
    tables=("note_corrections", "velocity_torque"),
    numbers=("note", "friction"),
)
