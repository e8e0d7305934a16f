"""What physics engines run: the released engine atlas."""

from polhode_study.chapters.chapter import Chapter, Check

CHAPTER = Chapter(
    title="What engines run",
    readers="users of a physics engine who ask what it runs",
    place=105,
    needs=("checks/liquid_codes",),
    checks={
        # Its methods are those that LAMMPS is said to have.
        "liquid_codes": Check(
            "run_liquids:liquid_codes",
            4.0,
            all_methods=True,
            witness={"options": ["no_squish"], "fluids": ["water64"]},
            compiled_with="liquids",
        ),
    },
    released=("contacts.nc", "liquids_lammps.nc", "atlas.nc"),
    figures=("engine_errors", "engine_spins"),
    tables=("engines", "engines_in_short"),
    numbers=("engines", "contact_codes", "liquid_codes"),
)
