"""Seelen et al. (2016): predictions in closed form against runs, and what the report shows of their four cases."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from data_files import inputs_in, invented, of_methods
from rendered import figure_twice, root, whole_table
from test_sources import start_at_once

import polhode
from polhode.algebra import metrics
from polhode.interface.storage import write_dataset, write_groups
from polhode.methods import pcdm2016
from polhode.methods.states import read_synchronous
from polhode.references import taylor
from polhode_study import chapters, inputs
from polhode_study.chapters import rendering
from polhode_study.chapters.judging import judge_chapters
from polhode_study.chapters.seelen2016 import frames as seelen2016
from polhode_study.chapters.seelen2016 import numbers as seelen_numbers
from polhode_study.chapters.seelen2016 import theory as drift
from polhode_study.declarations import setup_of

HOME = Path(__file__).parents[1]
PUBLISHED = HOME / "data" / "published"
FREE_TOP = polhode.problems[seelen2016.FREE_TOP]
TOP = drift.FreeTop(FREE_TOP.body.inertia, FREE_TOP.omega0)
SAMPLES = 100
LADDER = (1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5)
END = {seelen2016.FREE_TOP: 1000.0, seelen2016.SPHERE: 1.0, seelen2016.CYLINDER: 0.1, seelen2016.PAIR: 5.0}
STEP = {seelen2016.FREE_TOP: 0.01, seelen2016.SPHERE: 1e-4, seelen2016.CYLINDER: 1e-5, seelen2016.PAIR: 0.01}


def long_run(key, methods):
    """A group long_run from real runs."""
    problem = polhode.problems[key]
    runs = [polhode.simulate(key, m, STEP[key], END[key], samples=SAMPLES) for m in methods]
    time = runs[0].time.values
    q, omega = problem.exact(list(time), 20) if problem.closed_form else taylor_states(problem, time)
    data = {"q": np.stack([r.q.values for r in runs]), "omega": np.stack([r.omega.values for r in runs])}
    if omega.ndim == 2:
        energy = np.stack([r.energy.values for r in runs])
        with np.errstate(invalid="ignore", divide="ignore"):
            data["energy_drift"] = np.abs(energy / energy[:, :1] - 1)
        data["norm_error"] = np.stack([metrics.norm_error(r.q.values) for r in runs])
        data["angle_error"] = np.stack([metrics.geodesic_angle(r.q.values, q) for r in runs])
    return invented(
        "single_body.nc/PROBLEM/long_run",
        {"integrator": list(methods), "time": time},
        {"dt": STEP[key], "problem": key},
        **of_methods(methods, "label", "variant_of"),
        **data,
        exact_q=q,
        exact_omega=omega,
    )


def taylor_states(problem, time):
    states = taylor.solve(problem, list(time), 20)
    return np.array([[float(x) for x in q] for q, _ in states]), np.array([[float(x) for x in w] for _, w in states])


def errors(key, methods):
    """The group of a problem; means over time are measured, orders made up."""
    dt, fit = np.array(LADDER), {"": 2.0, "_low": 1.99, "_high": 2.02, "_dt_min": 1e-5, "_dt_max": 1e-2, "_points": 7.0}
    data = {f"{quantity}_order{suffix}": value for quantity in ("q", "omega") for suffix, value in fit.items()}
    if key == seelen2016.CYLINDER:
        problem = polhode.problems[key]
        q, _ = taylor_states(problem, np.arange(101) * 1e-3)
        means = {"inclination_error_mean": np.empty((len(methods), len(dt)))}
        means["angle_error_mean"] = means["inclination_error_mean"].copy()
        for i, m in enumerate(methods):
            for j, step in enumerate(LADDER):
                run = polhode.simulate(key, m, step, samples=100).q.values
                inclination = metrics.inclination(run, q[0]) - metrics.inclination(q, q[0])
                means["inclination_error_mean"][i, j] = np.abs(inclination)[1:].mean()
                means["angle_error_mean"][i, j] = metrics.geodesic_angle(run, q)[1:].mean()
        data |= means
    return invented(
        "single_body.nc/PROBLEM",
        {"integrator": list(methods), "dt": dt},
        {"problem": key},
        **of_methods(methods, "label", "variant_of"),
        **data,
        steps=np.rint(END[key] / dt),
        torque_evaluations=np.rint(END[key] / dt) + 1,
        q_error_l1=dt**2,
        energy_error=dt**2,
        claimed_q_order=2,
        claimed_omega_order=2,
        dt_set="published",
        end_time=END[key],
    )


def make_run(folder, methods):
    """A run of the four cases in the layout of single_body.nc and of the check ``stability``."""
    groups = {"/": root()}
    for key in END:
        groups[f"/{key}"] = errors(key, methods)
        groups[f"/{key}/long_run"] = long_run(key, methods)
    write_groups(groups, folder / "single_body.nc")
    stability = invented("checks/stability.nc", {"integrator": list(methods)}, limit=[drift.STABLE_UP_TO[m] for m in methods])
    write_dataset(stability, folder / "checks" / "stability.nc")
    return inputs_in(folder)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The four cases, really run, with the methods of the section."""
    return make_run(tmp_path_factory.mktemp("run"), seelen2016.METHODS)


@pytest.fixture(scope="module")
def one_case(tmp_path_factory):
    """A run that holds one of the four cases, and one method."""
    folder = tmp_path_factory.mktemp("one_case")
    key, methods = seelen2016.PAIR, ["pcdm2016"]
    groups = {
        "/": root(),
        f"/{key}": errors(key, methods),
        f"/{key}/long_run": long_run(key, methods),
    }
    write_groups(groups, folder / "single_body.nc")
    return inputs.Inputs(folder / "single_body.nc", checks=folder, published=PUBLISHED)


MINE = [name for name in chapters.names("figures") if name.startswith("seelen2016")]
MY_TABLES = [name for name in chapters.names("tables") if name.startswith("seelen2016")]

# Predictions


@pytest.mark.parametrize("method", [*drift.ORIGINAL, drift.IMPROVED])
@pytest.mark.parametrize("dt", [0.01, 0.1])
def test_the_energy_of_the_free_top_is_as_predicted(method, dt):
    run = polhode.simulate(FREE_TOP, method, dt, t_end=200.0, samples=50)
    time, omega = run.time.values, run.omega.values
    np.testing.assert_array_equal(omega[:, 2], FREE_TOP.omega0[2])
    error = run.energy.values / run.energy.values[0] - 1
    np.testing.assert_allclose(error, drift.energy_error(TOP, method, dt, time), rtol=1e-7, atol=1e-13)


def test_the_exact_transverse_spin_turns_at_the_predicted_rate():
    time = [0.0, 1.3, 7.0]
    _, omega = FREE_TOP.exact(time, 20)
    w = omega[:, 0] + 1j * omega[:, 1]
    np.testing.assert_allclose(w, w[0] * np.exp(1j * drift.precession_rate(TOP) * np.array(time)), atol=1e-14)
    np.testing.assert_allclose(drift.exact_omega(TOP, time), omega, rtol=0, atol=1e-14)
    with pytest.raises(ValueError, match="about x and y differ"):
        drift.FreeTop((1.0, 2.0, 3.0), (1.0, 0.0, 0.0))


def test_the_arrow_on_the_sphere_is_the_exact_one():
    """The formula of the figure, on the stored numbers of the problem, against 20 digits of the reference."""
    run = SimpleNamespace(setup=setup_of(polhode.problems[seelen2016.SPHERE]))
    run.of = {seelen2016.SPHERE: run}.__getitem__
    time = np.linspace(0, 1, 9)
    q, _ = polhode.problems[seelen2016.SPHERE].exact(list(time), 20)
    np.testing.assert_allclose(seelen2016.exact_arrow(run, time), seelen2016.arrow(q), rtol=0, atol=2e-14)
    run.setup["omega0"][0][1] = 0.1
    with pytest.raises(ValueError, match="at rest"):
        seelen2016.exact_arrow(run, time)


def test_roots_of_the_improved_scheme():
    for z in (0.01, -0.2, 0.5):
        for gain in drift.improved_gains(z):
            assert gain**2 - (1 + 1.5j * z) * gain + 0.5j * z == pytest.approx(0, abs=1e-15)
        assert drift.growth("pcdm2013_lag", z) == pytest.approx(abs(drift.original_gain(z)) ** 2, rel=1e-15)
    z = 0.01
    assert (drift.growth("pcdm2016", z) - 1) / z**4 == pytest.approx(0.5, rel=1e-3)
    assert (drift.growth("pcdm2013_mid", z) - 1) / z**4 == pytest.approx(0.25, rel=1e-6)
    with pytest.raises(KeyError, match="euler"):
        drift.growth("euler", z)


@pytest.mark.thorough
def test_half_steps_as_whole_ones_let_both_energies_drift():
    """The variant that also gives the printed row of Table 1 bears out what the text says of the energy."""
    variant = replace(pcdm2016.METHOD, start=start_at_once, read=read_synchronous)
    changes = {}
    for name, method in (("variant", variant), ("improved", "pcdm2016"), ("original", "pcdm2013_lag")):
        energy = polhode.simulate(FREE_TOP, method, 0.05, t_end=1000.0, samples=2).energy.values
        changes[name] = energy[2] - energy[1]
    assert changes["variant"] / changes["improved"] == pytest.approx(1, rel=0.005)
    assert changes["variant"] / changes["original"] == pytest.approx(2, rel=0.02)


@pytest.mark.parametrize("method", drift.FRICTION)
def test_friction_is_stable_up_to_the_predicted_limit(method):
    limit = drift.STABLE_UP_TO[method]

    def largest(k):
        return max(abs(np.roots(drift.FRICTION[method](k))))

    assert largest(limit) == pytest.approx(1, abs=1e-12)
    assert min(np.roots(drift.FRICTION[method](limit)).real) == pytest.approx(-1, abs=1e-12)
    system = polhode.problems[seelen2016.PAIR]
    p = system.parameters
    rate = p["eta"] * sum(p[f"R{i + 1}"] ** 2 / system.bodies[i].inertia[0] for i in range(2))
    sliding = {}
    for k in (0.97 * limit, 1.03 * limit):
        omega = polhode.simulate(system, method, k / rate, 400 * k / rate, samples=400).omega.values[:, :, 0]
        sliding[k] = np.abs(p["R1"] * omega[:, 0] + p["R2"] * omega[:, 1])
        # The ratio of two steps is the root; the limit as seen on a run.
        assert sliding[k][-1] / sliding[k][-2] == pytest.approx(largest(k), rel=1e-6) or sliding[k][-1] < 1e-12
    below, above = sliding.values()
    assert below[-1] < below[0] and above[-1] > above[0]


# The four cases


def test_the_arrow_is_the_rotated_axis():
    q = np.array([[0.5, -0.1, 0.7, 0.5], [1.0, 0, 0, 0]])
    along = [metrics.lab_angular_momentum(x, [1.0, 0, 0], [1.0, 1, 1]) for x in q]
    np.testing.assert_allclose(seelen2016.arrow(q), along, atol=1e-15)


def test_printed_errors_follow_from_the_printed_theory():
    """What Table 1 calls error, found from its own numbers."""
    printed = seelen2016.printed_rows(inputs.Inputs("", published=PUBLISHED))
    for row in ("Scalar factor", "PCDM", "This work"):
        digits = 4 if row == "This work" else 2
        error = seelen2016.error_percent(printed.x[row], printed.x["Theory"])
        assert round(error, digits) == pytest.approx(printed.error_percent[row], abs=0.01 if digits == 2 else 1e-4)
    np.testing.assert_allclose(np.hypot(printed.x, printed.z), 1, atol=5e-7)


def test_the_pitch_comes_near_the_singularity_of_euler_angles():
    problem = polhode.problems[seelen2016.CYLINDER]
    q, _ = taylor_states(problem, np.linspace(0.06, 0.08, 401))
    pitch = np.degrees(np.arcsin(-seelen2016.arrow(q)[:, 2]))
    assert 89.5 < np.abs(pitch).max() < 90


def test_orders_do_not_depend_on_the_end_of_case_3():
    problem = polhode.problems[seelen2016.CYLINDER]
    q, _ = taylor_states(problem, np.linspace(0, 0.05, 51))
    for method, order in (("pcdm2016", 2), ("pcdm2013_lag", 1), ("pcdm2013_lead", 1), ("pcdm2013_mid", 2)):
        coarse, fine = (
            metrics.geodesic_angle(polhode.simulate(problem, method, dt, 0.05, samples=50).q.values, q).mean()
            for dt in (2e-5, 1e-5)
        )
        assert np.log2(coarse / fine) == pytest.approx(order, abs=0.02)


def test_the_end_of_case_4_needs_more_than_a_twelfth():
    """The closed end state of two cylinders with moments in this ratio: sliding has stopped, and the impulses were R1 : R2."""

    def end(ratio):
        r1, r2, w1, w2 = 1.0, 2.4, 2.0, 0.4
        impulse = (r1 * w1 + r2 * w2) / (r1**2 / ratio + r2**2)
        return w1 - r1 * impulse / ratio, w2 - r2 * impulse

    system = polhode.problems[seelen2016.PAIR]
    moments = [body.inertia[0] for body in system.bodies]
    _, omega = system.exact([40.0], 20)
    np.testing.assert_allclose(omega[0, :, 0], end(moments[0] / moments[1]), atol=1e-12)
    assert end(1 / 12) == pytest.approx((0, 0), abs=1e-12)
    assert end(1 / 12 + 0.01)[0] > 0 > end(1 / 12 + 0.01)[1]
    assert end((1 / 2.4) ** 4)[0] < 0


# What the report shows


@pytest.mark.thorough
@pytest.mark.parametrize("name", MINE)
def test_figures_are_drawn_and_equal(name, run, tmp_path):
    assert figure_twice(name, run, tmp_path).stat().st_size > 40_000


@pytest.mark.parametrize("name", MINE)
def test_a_missing_case_gives_a_note(name, one_case, tmp_path):
    rendering.render_figure(name, one_case, tmp_path)
    note = name != "seelen2016_coupled_cylinders"
    assert ((tmp_path / f"{name}.png").stat().st_size < 40_000) is note


@pytest.mark.parametrize("name", MY_TABLES)
def test_tables_are_whole(name, run, one_case, tmp_path):
    whole_table(name, run, tmp_path)
    text = whole_table(name, one_case, tmp_path / "one_case")
    assert "does not contain" in text or name == "seelen2016_orders" or "no check" in text


def test_table_1_pairs_printed_rows_with_ours(run):
    data, _ = rendering.table("seelen2016_table1", run)
    rows = data.set_index("row")
    assert rows.compared_with["pcdm2013_lead"] == rows.compared_with["pcdm2013_lag"] == "PCDM"
    apart = rows.relative_difference.abs()
    assert apart["pcdm2016"] < 2e-6 < 6e-5 < apart["exact"] and apart["pcdm2013_lead"] < 2e-5 < 5e-3 < apart["pcdm2013_lag"]
    assert set(data.row) == {*seelen2016.ROWS, "exact", *seelen2016.METHODS}


def test_numbers_of_the_section_are_made(run, one_case, tmp_path):
    texts = "".join(path.read_text() for path in chapters.texts(HOME))
    used = set(re.findall(r"\\(studySeelen[A-Za-z]+)", texts))
    made = rendering.numbers("seelen2016", run)
    assert used <= set(made)
    assert not [name for name, text in made.items() if "nan" in text.lower() or "inf" in text.lower()]
    assert made["studySeelenEnergyRatio"] != "n/a"
    numbers = seelen_numbers.pair(one_case)
    assert numbers["studySeelenPairErrorPcdmLag"] == "n/a" != numbers["studySeelenPairErrorPcdm"]
    for group in (seelen_numbers.free_top, seelen_numbers.sphere):
        with pytest.raises(inputs.NotInRun):
            group(one_case)


def verdicts(run, folder):
    judge_chapters(run, HOME, False, folder / "claims.csv")
    table = pd.read_csv(folder / "claims.csv").set_index("id")
    return table[table.source == "seelen2016"]


def test_claims_are_judged(run, tmp_path):
    table = verdicts(run, tmp_path)
    # Schemes that are not printed there are read, and what is measured of them decides nothing.
    assert table.verdict["seelen2016_energy_equal"] == "undecided" and table.measured["seelen2016_energy_equal"] > 2
    assert table.verdict["seelen2016_energy_grows"] == "holds"
    for key in ("this_work", "this_work_error", "scalar_factor_error"):
        assert table.verdict[f"seelen2016_table1_{key}"] == "reproduced"
    assert table.verdict["seelen2016_table1_theory"] == "not reproduced"
    printed = {key: float(table.published[f"seelen2016_table1_{key}"]) for key in ("pcdm", "pcdm_error_lead", "scalar_factor")}
    for key, value in printed.items():
        assert (
            table.verdict[f"seelen2016_table1_{key}"] == "undecided"
            and "is not printed" in table.note[f"seelen2016_table1_{key}"]
        )
        assert table.measured[f"seelen2016_table1_{key}"] == pytest.approx(value, rel=1e-2)
    assert table.verdict["seelen2016_two_orders"] == table.verdict["seelen2016_pair"] == "holds"
    assert table.verdict["seelen2016_two_orders_mid"] == "ours: does not hold"
    for key in ("larger_step", "energy_small", "energy_step", "spin_error", "cosine_error", "matrices_cost"):
        assert table.verdict[f"seelen2016_{key}"] == "holds", key
    for key in ("larger_step_mid", "matrices_cost_two"):
        assert table.verdict[f"seelen2016_{key}"] == "ours: does not hold", key
    assert table.verdict["seelen2016_spin_constant"] == table.verdict["seelen2016_pair_end"] == "by construction"
    assert table.verdict["seelen2016_matrices_rounding"] == "does not hold"
    # The run has none of the problems with other torques.
    assert table.verdict["seelen2016_order_improved_general"] == "not measured"


def test_claims_on_problems_left_out_are_not_measured(one_case, tmp_path):
    table = verdicts(one_case, tmp_path)
    # Two statements need no run, and the end of the two cylinders only the improved scheme.
    measured = {"matrices_cost", "matrices_cost_two", "matrices_rounding", "pair_end"}
    assert set(table.index[table.measured.notna()]) == {f"seelen2016_{key}" for key in measured}
    assert set(table.verdict[table.measured.isna()]) == {"not measured"}
    assert table.verdict["seelen2016_pair"] == "not measured", "the original is left out"
    assert "does not hold" not in table.evidence["seelen2016_energy_equal"].replace("does not contain the problem", "")


def test_every_claim_names_a_known_problem_and_source():
    for claim in (claim for path in chapters.files(HOME, "claims.yaml") for claim in yaml.safe_load(path.read_text())):
        assert claim.get("problem", "spiral_cylinder") in polhode.problems
        assert claim["source"] in (HOME / "paper" / "refs.bib").read_text()
