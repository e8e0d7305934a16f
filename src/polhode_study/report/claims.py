"""The sources, and their order and headings in the tables of the report."""

#: Sources in the order of the tables, with their headings; others follow under their key.
SOURCES: dict[str, str] = {
    "delvalle2024": "del Valle et al.\\ (2024)",
    "delvalle2025": "del Valle et al.\\ (2025)",
    "seelen2016": "Seelen et al.\\ (2016)",
    "calzavarini2010": "Calzavarini (2010)",
    "tuckerman2010": "Tuckerman (2010)",
    "silveira2018": "Silveira and Abreu (2018)",
    "asthagiri2024": "Asthagiri and Beck (2024)",
    "omelyan1999": "Omelyan (1999)",
    "lammpsrigid": "LAMMPS, manual",
    "lammpsgranular": "LAMMPS, manual (contacts)",
    "xue2023": "Xue et al.\\ (2023)",
    "li2025": "Li et al.\\ (2025)",
}
