"""Measures of single statements: on data where the answer is known, and formulas against their own."""

from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from data_files import invented
from scipy.spatial.transform import Rotation

from polhode.interface.storage import write_dataset, write_groups
from polhode_study.chapters.engines import measures as engine_claims
from polhode_study.chapters.grains import measures as contact_claims
from polhode_study.chapters.liquids import measures as liquid_claims
from polhode_study.chapters.no_squish import measures as book_claims
from polhode_study.chapters.seelen2016 import frames as seelen2016
from polhode_study.chapters.seelen2016 import measures as source_claims
from polhode_study.gather import arithmetic
from polhode_study.inputs import Inputs, NotInRun

DT = np.array([1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2])


def made_up(folder, problem, errors=None, long_run=None, switched=None, check=None):
    """A run with one problem; arrays are over method and dt, or method and time."""
    methods = ["pcdm2016", "verlet"]
    groups = {"/": xr.Dataset(attrs={"plugins": ""})}
    axes = {"integrator": methods, "dt": DT}
    groups[f"/{problem}"] = invented("single_body.nc/PROBLEM", axes, end_time=1.0, dt_set="published", **(errors or {}))
    for name, data in (("long_run", long_run), ("long_run_switched", switched)):
        if data is not None:
            groups[f"/{problem}/{name}"] = data
    write_groups(groups, folder / "single_body.nc")
    if check is not None:
        (folder / "checks").mkdir()
        write_dataset(check, folder / "checks" / "symplecticity.nc")
    return Inputs(folder / "single_body.nc", checks=folder / "checks", problem=problem)


def over_time(**values):
    time = np.linspace(0, 10, 6)
    rows = {k: (("integrator", "time", "axis")[: np.ndim(v)], v) for k, v in values.items()}
    return xr.Dataset(rows, {"integrator": ["pcdm2016", "verlet"], "time": time}, {"dt": 0.01})


def test_a_defect_counts_in_the_better_reading(tmp_path):
    defect = np.full((2, 2, 2, 3), 1e-15)
    defect[0, :, 0] = 1e-3  # what pcdm2016 carries
    defect[0, 1, 1, 2] = 1e-4  # one step of what it reads, on the second problem
    defect[1, 1] = np.nan
    axes = {"integrator": ["pcdm2016", "verlet"], "problem": ["a", "b"], "reading": ["carried", "read"], "division": [1, 2, 3]}
    check = invented("checks/symplecticity.nc", axes, defect=defect)
    run = made_up(tmp_path, "heavy_top", check=check)
    assert book_claims.symplectic_defect(run, "pcdm2016", ["a"])[0] == 1e-15
    value, words = book_claims.symplectic_defect(run, "pcdm2016", ["a", "b"])
    assert value == 1e-4 and "as read" in words
    for method, problems in (("verlet", ["a", "b"]), ("rk4", ["a"]), ("pcdm2016", ["c"])):
        with pytest.raises(NotInRun):
            book_claims.symplectic_defect(run, method, problems)


def with_moments(*moments):
    """A run of a body with these moments."""
    run = SimpleNamespace(setup={"moments": [list(moments)]})
    run.of = {"free_asymmetric_top": run}.__getitem__
    return run


def test_the_hamiltonian_is_for_unit_quaternions_alone():
    run = with_moments(1.0, 2.0, 3.0)
    assert book_claims.page_formula(run, "hamiltonian", 1.0)[0] < 1e-14
    # H lacks 1/|q|^4.
    assert book_claims.page_formula(run, "hamiltonian", 1.1)[0] == pytest.approx(1.1**4 - 1)
    assert book_claims.page_formula(run, "momentum", 1.0)[0] > 0.1


def test_the_page_would_give_the_momentum_without_the_inverse(monkeypatch):
    """Moments of one are their own inverse: nothing but the misprint separates p from the derivative of L."""
    unit = with_moments(1.0, 1.0, 1.0)
    monkeypatch.setattr(book_claims, "PAGE_MOMENT", 1.0)
    assert book_claims.page_formula(unit, "momentum", 1.0)[0] < 1e-14
    assert book_claims.page_formula(unit, "momentum", 1.1)[0] == pytest.approx(1 - 1.1**-4)


def test_both_ways_to_turn_a_vector_are_the_rotation():
    q, v = (Fraction(1, 2), Fraction(-1, 2), Fraction(1, 2), Fraction(1, 2)), (Fraction(3), Fraction(-1), Fraction(2))
    (first,), (second,) = arithmetic.by_matrix(q, (v,)), arithmetic.by_quaternion(q, (v,))
    turned = Rotation.from_quat([-0.5, 0.5, 0.5, 0.5]).apply([3.0, -1.0, 2.0])
    assert first == second
    assert [float(x) for x in first] == pytest.approx(turned)


def test_operations_of_turning_vectors():
    # The matrix: 10 products, 15 sums and 6 doublings; then 9 products and 6 sums a vector. The product: 24 and 17.
    assert [arithmetic.turning(arithmetic.by_matrix, n).total for n in (1, 3)] == [31 + 15, 31 + 45]
    assert arithmetic.turning(arithmetic.by_quaternion, 2).total == 2 * 41


def test_rounding_of_a_coarser_matrix_is_seen(monkeypatch):
    exact = arithmetic.by_matrix
    monkeypatch.setattr(arithmetic, "ROTATIONS", 200)

    def coarser(q, vectors):
        return tuple(tuple(x * (1 + 1e-15) for x in v) for v in exact(q, vectors))

    monkeypatch.setattr(arithmetic, "by_matrix", coarser)
    rounding = arithmetic.rotation_rounding()
    assert 3 < rounding["ratio_low"] < rounding["ratio"] < rounding["ratio_high"]


def test_counts_and_rounding_are_read_from_the_file(tmp_path, monkeypatch):
    """Edited numbers in single_body.nc are what claims show; a file without them is one of a run that lacks them."""
    monkeypatch.setattr(arithmetic, "ROTATIONS", 50)
    data = arithmetic.arithmetic()
    blocks = list(data["building_block"].values)
    data["building_block_operations"].values[blocks.index("matrix_2")] = 164
    data["rotation_rounding_ratio"] = data["rotation_rounding_ratio"].copy(data=4.5)
    write_groups({"/": data}, tmp_path / "single_body.nc")
    run = Inputs(tmp_path / "single_body.nc")
    assert source_claims.rotation_cost(run, 2) == (2.0, "164 against 82 operations")
    measured = source_claims.rotation_rounding(run)
    assert measured.value == 4.5 and "50 random rotations" in measured.evidence
    with pytest.raises(NotInRun, match="handstand"):
        run.block_operations("handstand")
    write_groups({"/": xr.Dataset()}, tmp_path / "older.nc")
    with pytest.raises(NotInRun, match="no counts of the parts"):
        source_claims.rotation_cost(Inputs(tmp_path / "older.nc"), 1)


def test_a_spin_that_changes(tmp_path):
    omega = np.ones((2, 6, 3))
    omega[1, 3, 2] = 1.02
    run = made_up(tmp_path, seelen2016.FREE_TOP, long_run=over_time(omega=omega))
    assert source_claims.spin_change(run, ["pcdm2016"])[0] == 0
    assert source_claims.spin_change(run, ["pcdm2016", "verlet"])[0] == pytest.approx(0.02)


def test_energy_over_steps_counts_the_worst_pair(tmp_path):
    energy = np.stack([DT**2, DT**3])
    energy[1, 0] = 1e-15  # rounding: below 10 eps times the steps
    energy[0, 4] = 1e-9  # a step larger than that of the long run
    steps = np.ones((2, 1)) / DT
    run = made_up(tmp_path, seelen2016.FREE_TOP, {"energy_error": energy, "steps": steps}, over_time())
    assert source_claims.energy_of_halved_step(run, ["pcdm2016", "verlet"])[0] == pytest.approx(0.25)
    with pytest.raises(NotInRun):
        source_claims.energy_of_halved_step(run, ["rk4"])


def test_a_larger_step_for_the_same_error(tmp_path):
    mean = np.stack([DT**2, 4 * DT**2])
    run = made_up(tmp_path, seelen2016.CYLINDER, {"angle_error_mean": mean, "inclination_error_mean": 1 / mean})
    # 4 dt^2 at 2 ms is met at 4 ms.
    assert source_claims.larger_step(run, "pcdm2016", "verlet", 2e-3)[0] == pytest.approx(2)
    assert source_claims.larger_step(run, "verlet", "pcdm2016", 4e-3)[0] == pytest.approx(0.5)
    with pytest.raises(NotInRun, match="does not meet"):
        source_claims.larger_step(run, "pcdm2016", "verlet", 1.6e-2)
    with pytest.raises(NotInRun, match="not among the steps"):
        source_claims.larger_step(run, "pcdm2016", "verlet", 3e-3)


def test_rounding_at_fine_steps_does_not_decide(tmp_path):
    mean = np.stack([np.concatenate([[1e-9, 1.0], DT[2:] ** 2]), 4 * DT**2])
    mean[0, 1] = 1e-4  # far above the curve
    run = made_up(tmp_path, seelen2016.CYLINDER, {"angle_error_mean": mean, "inclination_error_mean": mean})
    assert source_claims.larger_step(run, "pcdm2016", "verlet", 4e-3)[0] == pytest.approx(2)


def test_normalising_is_judged_while_the_motion_is_followed(tmp_path):
    declared = np.array([[0, 1e-3, 2e-3, 3e-3, 0.2, 3.0]] * 2)
    switched = declared * np.array([1, 1.1, 1.1, 1.1, 5, 5])
    data = over_time(angle_error=declared), over_time(angle_error=switched)
    run = made_up(tmp_path, "free_asymmetric_top", long_run=data[0], switched=data[1])
    value, words = source_claims.switched_ratio(run, "pcdm2016")
    assert value == pytest.approx(1.1) and words == "3 samples up to t = 6 s"


def test_a_rival_that_is_ahead_once(tmp_path):
    run = made_up(tmp_path, "heavy_top", {"angle_error": np.stack([DT**2, DT**2 * np.array([0.5, 2, 2, 2, 2])])})
    assert source_claims.least_rival(run, "pcdm2016", ["verlet"], ["heavy_top"], 1000)[0] == pytest.approx(0.5)
    assert source_claims.least_rival(run, "pcdm2016", ["verlet"], ["heavy_top"], 250)[0] == pytest.approx(2)


# Liquids, on a made-up file of released runs


@pytest.fixture
def liquids(tmp_path):
    """Drifts at 1, 2, 4 fs from three starts, and temperatures: rotation is colder by 1 % of T times dt^2 on whole steps."""
    dt, scatter = np.array([1.0, 2.0, 4.0]), np.array([-0.001, 0.0, 0.001])
    drift = np.stack([np.outer([0.0, 0.002, -0.05], np.ones(3)) + scatter, -np.outer(dt**3, np.ones(3)) + scatter])
    lost = np.zeros(drift.shape)
    lost[1, 2, 0] = -1
    temperature = np.ones((2, 3, 3, 2, 2)) + 0.001 * np.arange(3)[:, None, None]
    temperature[..., 1, 0] -= 0.01 * dt[:, None] ** 2
    data = invented(
        "checks/liquid_4fs.nc",
        {"integrator": ["no_squish", "rk4"], "dt": dt, "seed": [0, 1, 2], "kind": ["translation", "rotation"]}
        | {"estimator": ["whole", "corrected"]},
        {"molecules": 64, "duration": 1e5},
        **dict.fromkeys(("lost_at", "rms", "block_error"), 0 * lost),
        drift=drift,
        lost_by=lost,
        temperature=temperature,
    )
    write_groups(
        {"/": xr.Dataset(), "/followed": data, "/cutoffs": xr.concat([data, 10 * data], "law").assign_coords(law=["a", "b"])},
        tmp_path / "liquids.nc",
    )
    return Inputs("", released=tmp_path)


def test_a_drift_counts_by_its_size_at_the_worst_step(liquids):
    two, all_steps = (liquid_claims.liquid_drift(liquids, "no_squish", up_to) for up_to in (2.0, 4.0))
    reach = 4.302653 * 0.001 / 3**0.5  # Student's, two degrees of freedom
    assert two.value == pytest.approx(0.002) and (two.low, two.high) == pytest.approx((0.0, 0.002 + reach), abs=1e-6)
    assert all_steps[:1] + all_steps[2:] == pytest.approx((0.05, 0.05 - reach, 0.05 + reach), abs=1e-6)
    assert "at 4 fs" in all_steps.evidence and "3 starts of 100 ps" in all_steps.evidence
    assert liquid_claims.liquid_drift(liquids, "no_squish", 4.0, law="b").value == pytest.approx(0.5)
    lost = liquid_claims.liquid_drift(liquids, "rk4", 4.0)
    assert lost.high == np.inf and lost.low > 63 and "runs at 4 fs were lost" in lost.evidence


def test_drifts_are_compared_by_the_ends_of_their_intervals(liquids):
    at_four = liquid_claims.liquid_drift_ratio(liquids, "rk4", "no_squish", 4.0)
    assert at_four.value == pytest.approx(64 / 0.05) and at_four.low < 64 / 0.05 < at_four.high == np.inf
    # A drift that may be zero bounds a ratio on one side alone.
    at_one = liquid_claims.liquid_drift_ratio(liquids, "rk4", "no_squish", 2.0)
    assert at_one.high == np.inf and 0 < at_one.low < at_one.value


def test_rotation_is_colder_by_what_whole_steps_show(liquids):
    whole = liquid_claims.temperature_gap(liquids, ["no_squish", "rk4"], 2.0, "whole")
    assert whole[:1] + whole[2:] == pytest.approx((4.0, 4.0, 4.0)) and "6 runs of 2 methods" in whole.evidence
    assert liquid_claims.temperature_gap(liquids, ["no_squish"], 2.0, "corrected").value == pytest.approx(0.0, abs=1e-12)
    assert liquid_claims.temperature_gap(liquids, ["rk4"], 1.0, "whole over corrected").value == pytest.approx(1.0)


def test_liquids_that_were_not_run_are_said_to_be_missing(liquids, tmp_path):
    for call in (
        lambda: liquid_claims.liquid_drift(liquids, "euler", 2.0),
        lambda: liquid_claims.liquid_drift_ratio(liquids, "rk4", "no_squish", 3.0),
        lambda: liquid_claims.liquid_drift(Inputs("", released=tmp_path / "elsewhere"), "rk4", 2.0),
        lambda: liquid_claims.liquid_drift(Inputs(""), "rk4", 2.0),
    ):
        with pytest.raises(NotInRun):
            call()


# Grains, on a made-up file of released runs


@pytest.fixture
def grains(tmp_path):
    """Heights of two methods and a law with a scatter of 1: the second method is higher by 0.5, by 2 with the longer step."""
    seeds = np.linspace(-1, 1, 6)
    seeds = seeds / seeds.std(ddof=1)
    wobble = 0.01 * np.resize([1.0, -1.0], 6)
    height = np.array([[seeds, seeds], [seeds + 2 + wobble, seeds + 0.5 + wobble], [seeds + 9, seeds + 9]])
    axes = {"variant": ["a", "b", "law"], "division": [20, 80], "seed": np.arange(6)}
    compared = ["method", "method", "law"]
    data = invented("checks/bed.nc", axes, {"clumps": 64}, height=height, made=0.03, compared=compared)
    write_groups({"/": xr.Dataset(), "/bed": data}, tmp_path / "grains.nc")
    return Inputs("", released=tmp_path)


def test_the_largest_change_is_in_units_of_the_scatter(grains):
    methods = contact_claims.method_change(grains, "bed", ["height"], 20)
    assert methods.value == pytest.approx(2.0, abs=0.01) and methods.low < 2 < methods.high < 2.03
    assert methods.evidence == "height, a; 64 grains, 6 initial states, T/20"
    assert contact_claims.method_change(grains, "bed", ["height"], 80).value == pytest.approx(0.5, abs=0.01)
    step = contact_claims.step_change(grains, "bed", ["height"], 20)
    assert step.value == pytest.approx(1.5, abs=0.01) and step.evidence.startswith("height, b;")
    assert contact_claims.energy_made(grains, "bed", "law").value == pytest.approx(3.0)
    with pytest.raises(NotInRun):
        contact_claims.energy_made(grains, "drum")


def test_options_of_engines_count_if_identified(tmp_path):
    """The release does not have SPIRAL in GeoTaichi; of invented rows only the identified one counts."""
    released = Inputs("", released=Path(__file__).parents[1] / "data" / "released")
    count, words = engine_claims.options_identified(released, "geotaichi", ["spiral_leapfrog"])
    assert count == 0 and words.startswith("GeoTaichi 0.2.6, ") and "VelocityVerlet: Runge-Kutta 3" in words
    rows = {"key": ["a", "a", "b"], "option": ["x", "y", "z"], "label": ["A", "A", "B"], "version": ["1", "1", "2"]}
    rows |= {"method": ["spiral_kdk", "euler = spiral_kdk", "spiral_kdk"], "method_label": ["KDK", "Euler", "KDK"]}
    data = xr.Dataset({name: ("engine", values) for name, values in rows.items()} | {"is_identified": ("engine", [0, 1, 1])})
    assert engine_claims.options_identified(SimpleNamespace(atlas=data), "a", ["spiral_kdk"]) == (
        1.0,
        "A 1, x: not identified; y: Euler",
    )
    count, words = engine_claims.options_identified(released, "yade", ["spiral_leapfrog"])
    assert count == 1 and words.startswith("YADE 2025.2.0, delValle2023: SPIRAL, ")
    assert words.endswith(". 2023.02a, aspherical: Fincham (YADE)")
    with pytest.raises(NotInRun, match="no row of c"):
        engine_claims.options_identified(SimpleNamespace(atlas=data), "c", ["spiral_kdk"])
