"""Symplectic correctors: what a change of variables gains, by the strength of the torque and in a liquid."""

from polhode.study.chapters.chapter import Chapter

CHAPTER = Chapter(
    title="Symplectic correctors",
    readers="authors of methods",
    place=67,
    job="torques",
    needs=("checks", "single_body", "many_body"),
    released=("liquids.nc", "many_body.nc"),
    figures=("correctors", "order_and_drift"),
    tables=("correctors", "corrector_positions"),
    numbers=("correctors", "correctors_liquid", "correctors_contacts"),
)
