"""Symplectic correctors: what a change of variables gains, by the strength of the torque and in a liquid."""

from polhode_study.chapters.chapter import Chapter

CHAPTER = Chapter(
    title="Symplectic correctors",
    readers="authors of methods",
    place=67,
    job="torques",
    needs=(
        "checks/librations",
        "checks/liquid_1fs",
        "checks/liquid_2fs",
        "checks/liquid_4fs",
        "checks/liquid_6fs",
        "checks/strengths",
        "checks/symplecticity",
        "single_body",
        "many_body",
    ),
    released=("liquids.nc", "many_body.nc"),
    figures=("correctors", "order_and_drift"),
    tables=("correctors", "corrector_positions"),
    numbers=("correctors", "correctors_liquid", "correctors_contacts"),
)
