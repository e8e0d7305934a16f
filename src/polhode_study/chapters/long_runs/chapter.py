"""Long runs: drift, normalisation, reversibility, symplecticity, librations."""

from polhode_study.chapters.chapter import FEW, Chapter, Check

CHAPTER = Chapter(
    title="Long runs",
    readers="people whose runs are long, and authors of methods",
    place=70,
    needs=("single_body", "checks/librations", "checks/reversibility", "checks/symplecticity"),
    checks={
        "reversibility": Check(
            "run:reversibility", 1.0, all_methods=True, witness=FEW, smaller={"divisions": [32, 64, 128, 256]}
        ),
        "symplecticity": Check(
            "run_symplecticity:symplecticity", 3.0, all_methods=True, witness=FEW, smaller={"problems": ["heavy_top"]}
        ),
        "librations": Check("run_librations:librations", 12.0, all_methods=True, witness=FEW),
        "normalisation": Check("run:normalisation", 6.0, all_methods=True, witness=FEW),
    },
    tables=("long_runs", "symplecticity", "reversibility", "librations", "thermal_librations"),
    numbers=("largest_norm", "long_runs", "return_trips", "canonical_form", "librations"),
)
