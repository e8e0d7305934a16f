"""Evidence for each claim: figures and tables that show it, the data by which it was judged, and a section of the page.

Entries are keyed by the measure that judges the claim (``measure:`` in data/claims.yaml); a test requires an entry for every
measure, and that every name is a figure, table or file of the study.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from polhode.study.report.claims import SOURCES

#: The names of the sources as readers know them.
SOURCE_NAMES = {key: name.replace("\\ ", " ") for key, name in SOURCES.items()}

#: The problem of a claim that names none.
DEFAULT_PROBLEM = "spiral_cylinder"


@dataclass(frozen=True)
class Evidence:
    """Evidence for a claim.

    Parameters
    ----------
    data : str
        File of the results and, after a colon, the group in it; ``{problem}`` is replaced. Empty if nothing is stored: some
        claims are judged by counting operations or by a formula.
    figures, tables : tuple of str
        Names of figures and tables.
    section : str
        Section of the page that shows it; empty if there is none.
    """

    data: str
    figures: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    section: str = ""

    @property
    def about_problem(self) -> bool:
        """Whether the evidence belongs to one single-body problem."""
        return "{problem}" in self.data

    def place(self, problem: str) -> str:
        """File and group for a claim about this problem."""
        return self.data.replace("{problem}", problem)


SINGLE, LONG = "single_body.nc:{problem}", "single_body.nc:{problem}/long_run"
MANY = "data/released/many_body.nc"

EVIDENCE: Mapping[str, Evidence] = {
    "worst_interpolated_ratio": Evidence(SINGLE, ("target_ratio", "error_vs_dt"), ("target_dt",), "compare"),
    "order_per_step": Evidence(SINGLE, ("error_vs_dt",), ("orders",), "orders"),
    "order_gap": Evidence(SINGLE, ("error_vs_dt",), ("orders",), "orders"),
    "highest_order_per_step": Evidence(SINGLE, ("error_vs_dt",), ("orders",), "orders"),
    "kick_operations_ratio": Evidence("", tables=("operations",)),
    "plain_kick_on_sphere": Evidence("checks/simplified.nc"),
    "interpolation_gain": Evidence("checks/simplified.nc"),
    "share_won": Evidence(SINGLE, ("error_vs_dt",), (), "compare"),
    "margin_decades": Evidence(SINGLE, ("error_vs_dt",), (), "compare"),
    "ranked_as_stated": Evidence(SINGLE, ("error_vs_dt",), (), "compare"),
    "step_advantage": Evidence("single_body.nc:{problem}/targets", ("error_vs_dt",), ("target_dt",), "compare"),
    "step_decades": Evidence(SINGLE, ("error_vs_dt",), ("target_dt",), "compare"),
    "accuracy_decades": Evidence(SINGLE, ("error_vs_dt",), (), "compare"),
    "error_ratio": Evidence(SINGLE, ("spiral_variants_vs_dt",), (), "compare"),
    "problems_won": Evidence("single_body.nc", ("error_by_torque", "work_precision"), (), "compare"),
    "energies_won": Evidence("single_body.nc", ("long_drift",), ("long_runs",), "long"),
    "long_run_maximum": Evidence(LONG, ("long_drift",), ("long_runs",), "long"),
    "long_run_maximum/spiral_cylinder": Evidence(LONG, ("norm_drift",), ("long_runs",), "long"),
    "long_run_maximum/free_symmetric_top": Evidence(LONG, ("seelen2016_free_top",), ("long_runs",), "long"),
    "long_run_ratio": Evidence(LONG, ("spiral_variants_vs_time",), (), "long"),
    "long_run_ratio/free_symmetric_top": Evidence(LONG, ("seelen2016_free_top",), (), "long"),
    "share_of_time_won": Evidence(LONG, ("error_vs_time",), (), "long"),
    "drift_growth": Evidence(LONG, ("long_drift", "energy_over_time"), ("long_runs",), "long"),
    "norm_as_stated": Evidence("checks/normalisation.nc", ("norm_drift",), (), "long"),
    "least_gain_by_normalising": Evidence("checks/normalisation.nc", ("normalisation",), (), "long"),
    "normalising_ever_helps": Evidence("checks/normalisation.nc", ("normalisation",), (), "long"),
    "switched_ratio": Evidence("single_body.nc:{problem}/long_run_switched", ("normalisation",), ("long_runs",), "long"),
    "least_rival": Evidence(SINGLE, ("error_by_torque",), (), "compare"),
    "sweeps_enough": Evidence("checks/sweeps.nc"),
    "published_variant_gain": Evidence("checks/published_variants.nc", (), ("published_variants",)),
    "published_variant_order": Evidence("checks/published_variants.nc", (), ("published_variants",)),
    "lowest_order": Evidence("single_body.nc", ("order_map",), ("orders_by_torque",), "orders"),
    "order": Evidence(SINGLE, ("order_map",), ("orders_by_torque",), "orders"),
    "order/damped_top": Evidence(SINGLE, ("velocity_torque",), ("velocity_torque",), "orders"),
    "order/sinking_propeller": Evidence(SINGLE, ("velocity_torque",), ("velocity_torque",), "orders"),
    "lowest_translation_order": Evidence(SINGLE, (), ("velocity_torque",)),
    "evaluations_per_step": Evidence(SINGLE, (), ("methods",)),
    "rotation_cost": Evidence(""),
    "rotation_rounding": Evidence(""),
    "larger_step": Evidence(SINGLE, ("seelen2016_forced_cylinder",), (), "compare"),
    "mean_order": Evidence(SINGLE, ("seelen2016_forced_cylinder",), ("seelen2016_orders",)),
    "share_converging": Evidence(SINGLE, ("seelen2016_forced_cylinder",), ("seelen2016_orders",)),
    "largest_of": Evidence(LONG, ("seelen2016_free_top",), (), "long"),
    "energy_of_halved_step": Evidence(LONG, ("seelen2016_free_top",), (), "long"),
    "spin_change": Evidence(LONG, ("seelen2016_free_top",), (), "polhode"),
    "growth_at_end": Evidence(LONG, ("seelen2016_free_top",), (), "long"),
    "arrow_component": Evidence("references/{problem}.nc", (), ("seelen2016_table1",)),
    "arrow_error": Evidence(SINGLE, ("seelen2016_sphere",), ("seelen2016_table1",)),
    "arrow_error_decades": Evidence(SINGLE, ("seelen2016_sphere",), ("seelen2016_table1",)),
    "sphere_error": Evidence(LONG, ("seelen2016_sphere",), (), "long"),
    "pair_ratio": Evidence(LONG, ("seelen2016_coupled_cylinders",), (), "long"),
    "end_of_pair": Evidence(LONG, ("seelen2016_coupled_cylinders",)),
    "symplectic_defect": Evidence("checks/symplecticity.nc", (), ("symplecticity",)),
    "constrained_defect": Evidence("checks/symplecticity.nc", (), ("symplecticity",)),
    "return_angle": Evidence("checks/reversibility.nc", ("reversibility",), ("reversibility",)),
    "page_formula": Evidence("", ("extended_inertia",)),
    "moment_influence": Evidence("checks/extended_inertia.nc", ("extended_inertia",)),
    "energy_of_many": Evidence(f"{MANY}:chess", ("many_body_energy",), ("many_body",), "bodies"),
    "step_ratio_of_many": Evidence(f"{MANY}:chess", ("many_body_energy",), ("many_body",), "bodies"),
    "energy_across_steps": Evidence(f"{MANY}:chess", ("many_body_energy",), ("many_body",), "bodies"),
    "energy_apart": Evidence(f"{MANY}:chess", ("many_body_pairs",), ("many_body",), "bodies"),
    "paired_energy": Evidence(f"{MANY}:chess", ("many_body_pairs",), ("many_body",), "bodies"),
    "axial_spin_of_rods": Evidence(f"{MANY}:rods", ("rods_energy",), (), "bodies"),
    "energy_of_rods": Evidence(f"{MANY}:rods", ("rods_energy",), (), "bodies"),
    "delay_of_rods": Evidence(f"{MANY}:rods_states", ("rods_states",), (), "bodies"),
    "rise_of_rods": Evidence(f"{MANY}:rods_states", ("rods_states",), (), "bodies"),
    "extra_step_time": Evidence("cost.nc:step", ("relative_cost",), ("cost",)),
    "normalisation_time": Evidence("cost.nc:step", ("relative_cost",), ("cost",)),
    "largest_step_time": Evidence("cost.nc:step", ("relative_cost",), ("cost",)),
    "time_ratio": Evidence("cost.nc:spiral_cylinder/published", ("speed_up",), ("speed_up",), "compare"),
    "largest_time_decades": Evidence("cost.nc:spiral_cylinder/published", ("speed_up",), ("speed_up",), "compare"),
    "smallest_time_decades": Evidence("cost.nc:spiral_cylinder/published", ("speed_up",), ("speed_up",), "compare"),
    "many_body_time_ratio": Evidence("cost.nc:many_body_times", (), ("many_body_cost",)),
}


def evidence(measure: str, problem: str) -> Evidence | None:
    """The evidence for a claim judged by this measure on this problem; None if the measure has no entry."""
    return EVIDENCE.get(f"{measure}/{problem}") or EVIDENCE.get(measure)
