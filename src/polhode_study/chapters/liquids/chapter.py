"""Liquids of rigid molecules at constant energy: what drifts, by how much, and what does not."""

from polhode_study.chapters.chapter import Chapter, Check

#: The method of witnesses, which experiments with one method use too.
ROTOR = {"methods": ("exact_rotor",)}

CHAPTER = Chapter(
    title="A liquid at constant energy",
    readers="people who simulate rigid molecules at constant energy",
    place=101,
    job="torques",
    needs=(
        "checks/librations",
        "checks/liquid_1fs",
        "checks/liquid_2fs",
        "checks/liquid_4fs",
        "checks/liquid_6fs",
        "checks/liquid_cutoffs",
        "checks/liquid_shadow",
        "checks/liquid_spectrum",
        "single_body",
    ),
    checks={
        "liquid_1fs": Check(
            "run:steps_check", 85.0, all_methods=True, settings={"dt": 1.0}, witness=ROTOR, smaller={"starts": 1}
        ),
        "liquid_2fs": Check(
            "run:steps_check", 45.0, all_methods=True, settings={"dt": 2.0}, witness=ROTOR, smaller={"starts": 1}
        ),
        "liquid_4fs": Check(
            "run:steps_check", 25.0, all_methods=True, settings={"dt": 4.0}, witness=ROTOR, smaller={"starts": 1}
        ),
        "liquid_6fs": Check(
            "run:steps_check", 20.0, all_methods=True, settings={"dt": 6.0}, witness=ROTOR, smaller={"starts": 1}
        ),
        "liquid_cutoffs": Check(
            "run:cutoffs_check", 35.0, witness={**ROTOR, "laws": ["shifted_power"], "starts": 1, "steps": [4.0]}
        ),
        "liquid_shadow": Check("run:shadow_check", 2.0, witness={**ROTOR, "steps": [4.0]}),
        "liquid_spectrum": Check("run:spectrum_check", 4.0),
    },
    released=("liquids.nc",),
    figures=("liquids", "liquids_more"),
    tables=("liquids",),
    numbers=("liquids", "shadow", "recommended", "temperatures", "cutoffs", "larger"),
)
