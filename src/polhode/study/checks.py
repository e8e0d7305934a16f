"""The experiments on single methods, ``checks/NAME.nc``: what makes each, and how long it takes.

A check depends on its own code, and on the methods, problems, scenes, laws and molecules that this code names
(:mod:`polhode.study.fingerprint`). An edited experiment is therefore repeated alone; a new method repeats those that
run all methods.

The long ones are released. A study that takes them from the release (``further: released``) runs a small part of each, its
witness, and holds it against the release (:mod:`polhode.study.released`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Check:
    """An experiment.

    Parameters
    ----------
    function : the module in ``study/run`` and the function in it, which takes the settings and gives a dataset
    seconds : the time that it takes on one core, s
    all_methods : whether it runs all methods of a study, not only those that it names
    settings : what the function is told besides the methods and the seed
    witness : the settings with which it is a small part of itself; None for one that is always computed
    smaller : settings with which the witness is smaller still, unless it runs methods that the release lacks
    of_all : the variables that a small part cannot have, such as fits over all steps
    plain : whether its witness takes so few steps that compiling its code would take longer (the bits are the same)
    """

    function: str
    seconds: float
    all_methods: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    witness: Mapping[str, Any] | None = None
    smaller: Mapping[str, Any] = field(default_factory=dict)
    of_all: tuple[str, ...] = ()
    plain: bool = False

    @property
    def family(self) -> str:
        """Experiments of a family compile the same code: a job that runs several compiles it once."""
        module = self.function.split(":")[0]
        return FAMILIES.get(module, module)

    @property
    def code(self) -> str:
        """The function with its module, ``polhode.study.run.module:function``."""
        return f"polhode.study.run.{self.function}"


#: Modules that compile the same code as others.
FAMILIES: Mapping[str, str] = {"random_impacts": "impacts", "liquid_codes": "liquids"}
#: Methods of a witness, of those that every study compiles: compiling one takes longer than most witnesses.
WITNESSES = ("spiral_leapfrog", "verlet")
FEW: Mapping[str, Any] = {"methods": WITNESSES}
#: The method of a liquid, which experiments with one method use too.
LIQUID: Mapping[str, Any] = {"methods": ("exact_rotor",)}
#: The method and the update of the contact force of impacts: with all corrections.
IMPACTS: Mapping[str, Any] = {"methods": WITNESSES[:1], "stages": ["dashpot"]}
#: The first of random bodies besides.
BODIES: Mapping[str, Any] = {**FEW, "bodies": 2}
#: One initial state of grains in motion, with the method of impacts and two steps.
GRAINS: Mapping[str, Any] = {"methods": WITNESSES[:1], "seeds": [0], "divisions": [4, 10]}
#: Time of a witness on one core, s.
WITNESS = 3.0

CHECKS: Mapping[str, Check] = {
    "reversibility": Check(
        "checks:reversibility", 1.0, all_methods=True, witness=FEW, smaller={"divisions": [32, 64, 128, 256]}
    ),
    "stability": Check("checks:stability", 2.0, all_methods=True, witness=FEW),
    "note_corrections": Check(
        "checks:note_corrections",
        8.0,
        witness={"divisions": [16, 32]},
        of_all=("order", "order_low", "order_high", "finest_error"),
        plain=True,
    ),
    "published_variants": Check(
        "checks:published_variants", 4.0, witness={"divisions": [64, 128]}, of_all=("order",), plain=True
    ),
    "extended_inertia": Check("checks:extended_inertia", 3.0, witness={"samples": 1}, plain=True),
    "symplecticity": Check(
        "symplecticity:symplecticity", 3.0, all_methods=True, witness=FEW, smaller={"problems": ["heavy_top"]}
    ),
    "librations": Check("librations:librations", 12.0, all_methods=True, witness=FEW),
    "normalisation": Check("checks:normalisation", 6.0, all_methods=True, witness=FEW),
    "sweeps": Check("checks:sweeps", 5.0, witness={"divisions": [128, 256]}, of_all=("energy_change",), plain=True),
    "simplified": Check("checks:simplified", 8.0, witness={"samples": 1}, of_all=("steps_per_radian",), plain=True),
    "rotor_order": Check("rotor_order:rotor_order", 3.0, witness={"orders": ["sml"]}, plain=True),
    "stiff_friction": Check("body_checks:stiff_friction", 17.0, witness=BODIES),
    "long_times": Check("body_checks:long_times", 7.0, witness=BODIES),
    "strengths": Check("body_checks:strengths", 30.0, witness=BODIES),
    "impacts": Check("impacts:impacts", 12.0, witness=IMPACTS),
    "random_impacts": Check("random_impacts:random_impacts", 12.0, witness={**IMPACTS, "draws": 1}),
    "bed": Check("grains:bed", 90.0, witness=GRAINS),
    "column": Check("grains:column", 60.0, witness=GRAINS),
    "drum": Check("grains:drum", 100.0, witness=GRAINS),
    # Its methods are those that LAMMPS is said to have.
    "liquid_codes": Check(
        "liquid_codes:liquid_codes", 4.0, all_methods=True, witness={"options": ["no_squish"], "fluids": ["water64"]}
    ),
    "liquid_1fs": Check(
        "liquids:steps_check", 85.0, all_methods=True, settings={"dt": 1.0}, witness=LIQUID, smaller={"starts": 1}
    ),
    "liquid_2fs": Check(
        "liquids:steps_check", 45.0, all_methods=True, settings={"dt": 2.0}, witness=LIQUID, smaller={"starts": 1}
    ),
    "liquid_4fs": Check(
        "liquids:steps_check", 25.0, all_methods=True, settings={"dt": 4.0}, witness=LIQUID, smaller={"starts": 1}
    ),
    "liquid_6fs": Check(
        "liquids:steps_check", 20.0, all_methods=True, settings={"dt": 6.0}, witness=LIQUID, smaller={"starts": 1}
    ),
    "liquid_cutoffs": Check(
        "liquids:cutoffs_check", 35.0, witness={**LIQUID, "laws": ["shifted_power"], "starts": 1, "steps": [4.0]}
    ),
    "liquid_shadow": Check("liquids:shadow_check", 2.0, witness={**LIQUID, "steps": [4.0]}),
    "liquid_spectrum": Check("liquids:spectrum_check", 4.0),
}
