"""The comparison over torque classes, the long runs, the note, NO_SQUISH and the index of sources, on made-up data."""

import importlib
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from data_files import inputs_in, invented, of_methods
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from rendered import all_numbers, number_lines, root, whole_table
from test_report import LONG_TABLES
from test_report import made_up as one_problem

import polhode
from polhode.fits import drift
from polhode.interface.netcdf import read_groups
from polhode.interface.storage import write_dataset, write_groups
from polhode.methods import grouped, in_order
from polhode.methods.checks import GROUPS, OTHERS
from polhode.problems import representative
from polhode.problems.problem import TORQUE_CLASSES
from polhode.problems.system import System
from polhode.registry import LAST
from polhode_study import chapters
from polhode_study.chapters import rendering
from polhode_study.chapters.calzavarini2010 import figures as calzavarini2010
from polhode_study.chapters.calzavarini2010 import tables as note_tables
from polhode_study.chapters.judging import measures_of
from polhode_study.chapters.long_runs import frames_of_drift
from polhode_study.chapters.long_runs import run_symplecticity as symplecticity
from polhode_study.chapters.methods import figures as torque_classes
from polhode_study.chapters.methods import frames as order_frames
from polhode_study.chapters.no_squish import run as rotor_order
from polhode_study.chapters.spiral2024 import measures as measures_spiral2024
from polhode_study.inputs import Inputs, NotInRun, load_sources
from polhode_study.judge import measures
from polhode_study.judge import verdicts as claims
from polhode_study.report import drawing, formats, selection, style
from polhode_study.report.frames import keyed

HOME = Path(__file__).parents[1]
PAPER = HOME / "paper"
SOURCES = HOME / "data" / "sources.yaml"
TEX = chapters.texts(HOME)
OUR_CHAPTERS = ("methods", "long_runs", "calzavarini2010", "no_squish", "ledger", "new_methods")
OURS = [n for key in OUR_CHAPTERS for n in chapters.all_chapters()[key].figures if n != "reference_solution"]
OUR_TABLES = (
    "torque_classes",
    "orders_by_torque",
    "long_runs",
    "reversibility",
    "symplecticity",
    "librations",
    "thermal_librations",
    "note_corrections",
    "velocity_torque",
    "source_index",
)
DT = 10.0 ** np.linspace(-4, -1, 7)
#: An order that is made up: lower by one than what is declared for a class.
FALLEN = ("verlet", "heavy_top")


def measured(key: str, problem: str) -> tuple[float, float]:
    declared = polhode.methods[key].orders(polhode.problems[problem].torque_class) if key in polhode.methods else (2, 2)
    shift = 1 if (key, problem) == FALLEN else 0
    return declared[0] - shift + 0.01, declared[1] - shift - 0.02


def runs(key: str, methods: list[str]) -> xr.Dataset:
    problem = polhode.problems[key]
    orders = np.array([measured(m, key) for m in methods])
    data = {
        name: np.minimum(DT ** orders[:, [i]], 1.0)
        for i, names in enumerate((("q_error_l1", "angle_error"), ("omega_error_l1", "stored_omega_error_l1")))
        for name in names
    }
    for i, names in enumerate(("qr", ("omega", "v"))):
        values = {"": orders[:, i], "_low": orders[:, i] - 0.01, "_high": orders[:, i] + 0.02}
        values |= {"_dt_min": 1e-4, "_dt_max": 1e-2, "_points": 7.0}
        of_them = names if isinstance(problem, System) else names[:1]
        data |= {f"{name}_order{suffix}": value for name in of_them for suffix, value in values.items()}
    declared = [polhode.methods[m].orders(problem.torque_class) if m in polhode.methods else (2, 2) for m in methods]
    return invented(
        "single_body.nc/PROBLEM",
        {"integrator": methods, "dt": DT},
        {name: getattr(problem, name) for name in ("label", "source", "torque_class", "formula")} | {"problem": key},
        **of_methods(methods, "label", "variant_of", "torques_per_step"),
        **data,
        dt_set=["published"] * 2 + ["fit"] * 5,
        end_time=problem.horizon,
        steps=10.0,
        claimed_q_order=[q for q, _ in declared],
        claimed_omega_order=[w for _, w in declared],
    )


def long(key: str, methods: list[str], conserves: tuple[str, ...]) -> xr.Dataset:
    """The first method blows up, the second stays, the others drift with time."""
    time = np.linspace(0, 1000.0, 201)
    distance = 1e-6 * np.ones((len(methods), 1)) * time
    distance[0, 100:] = np.nan
    distance[1] = 1e-5 * np.abs(np.sin(time))
    return invented(
        "single_body.nc/PROBLEM/long_run",
        {"integrator": methods, "time": time},
        {"dt": 1e-3, "horizon": 1000.0},
        energy_drift=distance if "energy" in conserves else np.nan,
        momentum_drift=distance if conserves else np.nan,
        norm_error=distance * 1e-6,
        angle_error=distance if key == "free_asymmetric_top" else np.nan,
        diverged=np.array([1] + [0] * (len(methods) - 1)),
    )


def write_checks(folder: Path, methods: list[str]) -> None:
    divisions = np.array([32, 64, 128])
    dt = np.stack([10.0 / divisions, 2.0 / divisions])
    angle = np.broadcast_to(dt**3, (len(methods), 2, 3)).copy()
    angle[methods.index("no_squish")] = 1e-13
    axes = {"integrator": methods, "problem": ["free_asymmetric_top", "heavy_top"], "division": divisions}
    reversibility = invented("checks/reversibility.nc", axes, return_angle=angle, return_omega=angle, dt=dt)
    module = importlib.import_module("polhode.methods.calzavarini2010")
    variants = list(module.VARIANTS)
    problems = ["asymmetric_heavy_top", "damped_top", "sinking_propeller"]
    error = np.full((len(variants), 3, 4, 3), 0.3)
    error[0] = dt[1] ** 2
    order = np.full((len(variants), 3, 4), np.nan)
    order[0], order[1] = 2.0, 0.01
    corrections = invented(
        "checks/note_corrections.nc",
        {"variant": variants, "problem": problems, "quantity": ["q", "omega", "r", "v"], "division": divisions},
        {"fincham_problem": "asymmetric_heavy_top", "fincham_dt": 1e-3, "fincham_steps": 2000},
        error=error,
        order=order,
        order_low=order * 0.99,
        order_high=order * 1.01,
        finest_error=error[..., -1],
        dt=dt[1],
        fincham_distance=0.0,
        description=[v[0] for v in module.VARIANTS.values()],
        equation=[v[1] for v in module.VARIANTS.values()],
    )
    moments, time = 10.0 ** np.arange(-6, 7), np.linspace(0, 10, 21)
    spread = np.outer(1e-13 / np.minimum(moments, 1.0), time)
    inertia = invented(
        "checks/extended_inertia.nc",
        {"i11": moments, "time": time},
        {"problem": "heavy_top", "dt": 1e-3, "steps": 10000},
        angle_to_plain=spread,
        norm_error=spread / 10,
        plain_norm_error=time * 1e-15,
    )
    problems, halves = list(symplecticity.PROBLEMS), np.array([128, 256, 512])
    step = np.stack([polhode.problems[p].horizon / halves for p in problems])
    defect = np.broadcast_to(step[:, None, :] ** 3, (len(methods), len(problems), 2, 3)).copy()
    memory = np.full((len(methods), len(problems)), 1e-16)
    defect[methods.index("no_squish")] = 1e-16
    defect[methods.index("spiral_leapfrog"), :, 0] *= 100
    for key, history in (("pcdm2016", slice(None)), ("pcdm2013_mid", slice(1, None))):
        defect[methods.index(key), history], memory[methods.index(key), history] = np.nan, 0.1
    power = np.where(defect[..., -1] > 1e-12, 3.0, np.nan)
    canonical = invented(
        "checks/symplecticity.nc",
        {"integrator": methods, "problem": problems, "reading": list(symplecticity.READINGS), "division": halves}
        | {"iterations": [2, 4, 48]},
        {"constraint_problem": symplecticity.CONSTRAINED, "constraint_division": 64},
        defect=defect,
        power=power,
        memory=memory,
        dt=step,
        **{f"constraint_{name}": [1e-3, 1e-4, 1e-16] for name in ("defect", "return", "error")},
    )
    turn, dt = np.array([0.05, 0.5, 3.0]), np.array([1.0, 2.0, 4.0])
    known = np.array([np.nan if key == "my_own" else 1.0 for key in methods])
    coefficient = known * [{"magnus_adams4": -0.3, "rk4": -0.01, "pcdm2016": 0.2}.get(key, 0.0) for key in methods]
    drift = np.where(coefficient[:, None] == 0, 0.1 * dt**3, np.nan)
    drift[methods.index("euler")] = np.inf
    drift[methods.index("no_squish")] = 1e-4
    librating = invented(
        "checks/librations.nc",
        {"integrator": methods, "turn": turn, "dt": dt},
        {"temperature": 300.0, "fastest_libration": 900.0, "starts": 64},
        growth=coefficient[:, None] * turn**6,
        power=np.where(coefficient == 0, 0.0, 6 * known),
        coefficient=coefficient,
        shift_power=2 * known,
        shift_coefficient=known / 24,
        limit=np.where(coefficient > 0, 0.0, 2 * known),
        thermal_drift=drift,
        thermal_error=np.where(np.isfinite(drift), 0.01, np.nan),
    )
    limits = invented("checks/stability.nc", {"integrator": methods}, {"largest": 20.0}, limit=2.0)
    for name, data in (
        ("stability", limits),
        ("rotor_order", rotor_order.energy_errors(3, 0)),
        ("reversibility", reversibility),
        ("note_corrections", corrections),
        ("extended_inertia", inertia),
        ("symplecticity", canonical),
        ("librations", librating),
    ):
        write_dataset(data, folder / "checks" / f"{name}.nc")


def made_up(folder: Path, problems: list[str], methods: list[str], checks: bool = True, plugins: str = "") -> Inputs:
    groups = {"/": root(plugins)}
    for key in problems:
        problem = polhode.problems[key]
        able = [
            m
            for m in methods
            if not isinstance(problem, System) or m not in polhode.methods or polhode.methods[m].runs(problem)
        ]
        groups[f"/{key}"] = runs(key, able)
        if problem.conserves:
            groups[f"/{key}/long_run"] = long(key, able, problem.conserves)
            if key in ("free_asymmetric_top", "heavy_top"):
                groups[f"/{key}/long_run_switched"] = long(key, able, problem.conserves)
    write_groups(groups, folder / "single_body.nc")
    if checks:
        write_checks(folder, methods)
    columns = ["id", "source", "location", "statement", "published", "measured", "tolerance", "verdict", "evidence"]
    pd.DataFrame([["a", "tuckerman2010", *[""] * 7]], columns=columns).to_csv(folder / "claims.csv", index=False)
    return inputs_in(folder)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """All problems, all methods and a plug-in."""
    methods = [*polhode.methods, "my_own"]
    return made_up(tmp_path_factory.mktemp("whole"), list(polhode.problems), methods, plugins="my_own")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """One problem, two methods, no checks."""
    return made_up(tmp_path_factory.mktemp("small"), ["spiral_cylinder"], ["rk4", "verlet"], checks=False)


# Methods, problems and looks


def test_every_method_and_problem_has_its_place():
    groups = grouped(polhode.methods)
    assert [name for name, _ in groups if name != OTHERS] == [name for name in GROUPS if name != OTHERS]
    assert sorted(key for _, keys in groups for key in keys) == sorted(polhode.methods)
    assert dict(groups)["SPIRAL and Omelyan"] == ["spiral_leapfrog", "spiral_synchronous", "spiral_omelyan", "omelyan1998"]
    places = [(m.group, m.rank) for m in polhode.methods.values() if m.rank != LAST]
    assert len(set(places)) == len(places), "two methods have one place"
    assert all(method.omega_handed for method in polhode.methods.values()), "say which angular velocity the torque is handed"
    for torque_class in TORQUE_CLASSES:
        members = [problem for problem in polhode.problems.values() if problem.torque_class == torque_class]
        (shown,) = (problem for problem in members if problem.represents_class)
        assert representative(torque_class) == shown.key
        ranks = [problem.rank for problem in members if problem.rank != LAST]
        assert len(set(ranks)) == len(ranks)
    names = [problem.short_label or problem.label for problem in polhode.problems.values()]
    assert len(set(names)) == len(names) and max(map(len, names)) < 20


def test_what_is_unknown_comes_last(whole):
    assert whole.in_order(["mine", "rk4", "spiral_leapfrog", "mine"]) == ["spiral_leapfrog", "rk4", "mine"]
    assert whole.grouped(["mine"]) == [("others", ["mine"])]


def test_readings_of_pcdm_have_looks_of_their_own():
    keys = ["pcdm2016", "pcdm2013_mid", "pcdm2013_lag", "pcdm2013_lead"]
    looks = [style.style(key) for key in keys]
    assert len({str(look["marker"]) for look in looks}) == len({look["color"] for look in looks}) == len(keys)


# Orders


def test_orders_are_held_against_declarations(whole):
    frame = keyed(order_frames.orders(whole), "problem", "method")
    fallen = frame[FALLEN[1], FALLEN[0]]
    assert fallen["reduced_q"] and fallen["missed_q"] and fallen["missed_omega"]
    lower = frame["heavy_top", "spiral_leapfrog"]
    assert lower["highest_omega"] == 3 and lower["reduced_omega"] and not lower["missed_omega"] and not lower["reduced_q"]
    assert not frame["spiral_cylinder", "spiral_leapfrog"]["reduced_omega"]
    assert frame["heavy_top", "my_own"]["highest_q"] == 2
    assert ("coupled_cylinders", "rk4") not in frame


def test_the_lowest_of_a_class_counts(whole):
    lowest = keyed(order_frames.lowest_orders(order_frames.orders(whole)), "method", "torque_class")
    assert lowest["verlet", "state"]["q_order"] == pytest.approx(1.01)
    assert lowest["verlet", "state"]["missed_q"] and not lowest["verlet", "lab"]["missed_q"]


@pytest.mark.thorough
def test_the_map_marks_what_fell(whole):
    with style.settings():
        figure = rendering.figure("order_map", whole)
    panel = figure.axes[0]
    labels = [text.get_text() for text in panel.get_yticklabels()]
    assert len(labels) == len(polhode.methods) + 1 and "my_own & co".replace("_", r"$\_$") in labels
    frames = [p for p in panel.patches if not p.get_fill()]
    assert len(frames) == 1, "one cell is below what is declared"
    assert not [text.get_text() for text in panel.texts if any(sign.isdigit() for sign in text.get_text())], (
        "tables have numbers"
    )
    rows = keyed(order_frames.orders(whole), "problem", "method")
    columns = [text.get_text() for text in panel.get_xticklabels()]
    for method, problem, order in (("spiral_leapfrog", "heavy_top", 2), ("rk4", "heavy_top", 4), (*FALLEN, 1)):
        assert round(rows[problem, method]["q_order"]) == order
        x = panel.get_xticks()[columns.index(selection.short_name(whole, problem))] - 0.48
        y = panel.get_yticks()[labels.index(drawing.printable(selection.label(whole, method)))] - 0.48
        (cell,) = [p for p in panel.patches if p.get_fill() and p.get_xy() == pytest.approx((x, y))]
        assert to_hex(cell.get_facecolor()).upper() == torque_classes.ORDER_COLOURS[order]


def test_bars_of_groups_stand_between_names_and_cells(small, whole):
    for run in (small, whole):
        with style.settings():
            figure = rendering.figure("order_map", run)
            FigureCanvasAgg(figure).draw()
            panel = figure.axes[0]
            right = max(text.get_window_extent().x1 for text in panel.get_yticklabels())
            bars = [line for line in panel.lines if line.get_xdata()[0] == line.get_xdata()[1]]
            assert bars and all(right < line.get_window_extent().x0 < panel.bbox.x0 for line in bars)


# Drift


@pytest.mark.parametrize(
    ("shape", "growth"),
    [(lambda t: 1e-6 * np.sin(40 * t), 0.0), (lambda t: -1e-6 * t, 1.0), (lambda t: 1e-9 * t**2, 2.0)],
)
def test_growth_is_the_power_of_time(shape, growth):
    time = np.linspace(0, 1e4, 401)
    fit = drift.drift(time, shape(time))
    assert fit.growth == pytest.approx(growth, abs=0.08)
    assert fit.largest >= fit.last > 0


def test_growth_of_noise_does_not_depend_on_samples():
    rng = np.random.default_rng(1)
    time = np.linspace(0, 1e4, 2001)
    assert drift.drift(time, rng.normal(size=time.size)).growth == pytest.approx(0, abs=0.06)


def test_drift_of_what_is_lost_or_nothing():
    time = np.linspace(0, 10, 101)
    gone = drift.drift(time, np.where(time < 5, 1.0, np.nan))
    assert np.isnan(gone.last) and np.isnan(gone.growth)
    still = drift.drift(time, 0 * time)
    assert still.last == 0 and np.isnan(still.growth)
    huge = drift.drift(time, 10.0 ** (30 * time))
    assert np.isfinite(huge.growth) and huge.growth > 50


def test_long_runs_leave_out_what_is_not_conserved(whole, small):
    frame = frames_of_drift.long_runs(whole, frames_of_drift.LONG_PROBLEMS)
    lab = frame[frame["problem"] == "lab_torque"]
    assert "energy_drift" not in set(lab["quantity"]) and "momentum_drift" in set(lab["quantity"])
    with pytest.raises(NotInRun, match="long run"):
        frames_of_drift.long_runs(small, frames_of_drift.LONG_PROBLEMS)


@pytest.mark.thorough
def test_a_problem_of_ones_own_is_among_the_long_runs(tmp_path):
    """Of it the file says no rank. One that conserves nothing has no column; a method that it lacks has no line."""
    methods, needle = list(polhode.methods), "toy_needle"
    able = [method for method in methods if method != "rk4"]
    made_up(tmp_path, ["free_asymmetric_top", "heavy_top", "free_asymmetric_top_unstable"], methods, checks=False)
    groups = dict(read_groups(tmp_path / "single_body.nc"))
    for key, conserves in ((needle, ("energy",)), ("toy_still", ())):
        attributes = {"problem": key, "label": key, "short_label": key.removeprefix("toy_"), "rank": LAST, "setup": "{}"}
        groups[f"/{key}"] = runs("heavy_top", able).assign_attrs(attributes)
        groups[f"/{key}/long_run"] = long(key, able, conserves)
    write_groups(groups, tmp_path / "single_body.nc")
    inputs = Inputs(tmp_path / "single_body.nc")
    assert frames_of_drift.long_problems(inputs) == ["free_asymmetric_top", "heavy_top", needle, "toy_still"]
    frame, text = rendering.table("long_runs", inputs)
    assert "{needle}" in text and "{still}" not in text and needle in set(frame["problem"])


# Figures, tables and numbers


@pytest.mark.thorough
@pytest.mark.parametrize("name", OURS)
def test_figure_of_all_methods_and_problems_is_drawn(name, whole, tmp_path, monkeypatch):
    """That a figure is the same file twice is in test_report.py."""
    monkeypatch.delitem(style.METADATA, "png")
    rendering.render_figure(name, whole, tmp_path)
    assert (tmp_path / f"{name}.pdf").stat().st_size > 10_000


@pytest.mark.thorough
@pytest.mark.parametrize("name", OURS)
def test_figure_of_a_run_without_the_problems(name, small, tmp_path):
    rendering.render_figure(name, small, tmp_path)
    assert (tmp_path / f"{name}.png").stat().st_size > 0
    if name != "order_map":
        with pytest.raises(NotInRun):
            rendering.figure(name, small)


@pytest.mark.thorough
@pytest.mark.parametrize("name", OUR_TABLES)
def test_table_is_balanced(name, whole, small, tmp_path):
    for run, folder in ((whole, "whole"), (small, "small")):
        whole_table(name, run, tmp_path / folder)


def test_the_table_of_orders_says_what_fell(whole):
    lowest = order_frames.lowest_orders(rendering.table("orders_by_torque", whole)[0]).set_index("method")
    verlet, spiral = lowest.loc["verlet"], lowest.loc["spiral_leapfrog"]
    assert verlet["missed_q"].sum() + verlet["missed_omega"].sum() == 2
    fell = verlet[verlet["missed_q"] & verlet["reduced_q"]]
    assert list(fell["q_order"]) == pytest.approx([1.0], abs=0.05) and list(fell["declared_q"]) == [2]
    assert spiral["reduced_omega"].any() and not spiral[["missed_q", "missed_omega"]].any(axis=None)


def test_the_table_of_defects_has_both_readings(whole):
    data, _ = rendering.table("symplecticity", whole)
    assert len(data) == len([*polhode.methods, "my_own"]) * 2 * len(symplecticity.PROBLEMS)
    heavy = data[data.problem == "heavy_top"].set_index(["method", "reading"])
    coarse = polhode.problems["heavy_top"].horizon / 256
    defects = heavy.loc["spiral_leapfrog", "defect"]
    assert sorted(defects) == pytest.approx([coarse**3, 100 * coarse**3])
    assert list(heavy.loc["spiral_leapfrog", "power"]) == pytest.approx([3, 3])


def test_a_misprint_without_convergence_shows_what_stays(whole):
    data, text = rendering.table("note_corrections", whole)
    assert len(data) == 10 and text.count(r"none (\num{0.30})") == 27
    assert set(note_tables.PRINTED) == set(data["variant"]) == set(calzavarini2010.MISPRINTS)


def ours(inputs: Inputs) -> dict[str, str]:
    return {name: text for key in OUR_CHAPTERS for name, text in rendering.numbers(key, inputs).items()}


@pytest.fixture(scope="module")
def made(whole):
    """The numbers of the whole run, made once."""
    return ours(whole)


@pytest.mark.thorough
def test_numbers_are_whole_macros(made, small):
    for macros in (made, ours(small)):
        for name, text in macros.items():
            assert re.fullmatch("study[A-Za-z]+", name), name
            assert "nan" not in text.lower() and "inf" not in text.lower(), (name, text)


@pytest.mark.thorough
def test_every_number_of_the_whole_text_is_made(made, tmp_path):
    """By some run: one problem with everything, all problems, or the released many bodies.

    Those of Seelen et al. (2016), of the laws and their draw, of iterations, collisions, impacts, tests of contacts, grains,
    engines, liquids, heat baths, correctors, other codes, the first page and the release are held in their own tests.
    """
    single = one_problem(tmp_path, [*polhode.methods])
    released = HOME / "data" / "released"
    scenes = Inputs("", published=released.parent / "published", many_body=released / "many_body.nc", released=released)
    made_macros = {*made, *all_numbers(single), *rendering.numbers("many_body", scenes)}
    names = "Seelen Stiff Long Start Law Answer Contact Collision Engine Codes Draw Iterations Impact Tests Grains Liquid "
    names += "Bath Strength Corrector Output Smooth Page Release"
    elsewhere = tuple(f"study{name}" for name in names.split())
    used = {name for path in TEX for name in re.findall(r"\\(study[A-Za-z]+)", path.read_text())}
    assert {name for name in used - made_macros if not name.startswith(elsewhere)} == set()


def test_orders_are_judged_with_their_range(whole):
    top = whole.of("heavy_top")
    order = measures.order_per_step(top, "spiral_leapfrog", "q")
    assert tuple(order[:1] + order[2:]) == pytest.approx((3.01, 3.0, 3.03))
    fixed = measures.order(top, "spiral_leapfrog", "q")
    assert tuple(fixed[:1] + fixed[2:]) == pytest.approx((2.01, 2.0, 2.03))
    # Verlet's is made up one lower here than on the free top.
    lowest = measures.lowest_order(whole, "verlet", ["free_asymmetric_top", "heavy_top"])
    assert tuple(lowest[:1] + lowest[2:]) == pytest.approx((0.98, 0.97, 1.0))
    highest = measures_spiral2024.highest_order_per_step(top, ["verlet", "spiral_leapfrog"], "q")
    assert tuple(highest[:1] + highest[2:]) == pytest.approx((3.01, 3.0, 3.03))
    # A bound within the range is neither met nor missed.
    assert claims.verdict("at least", 3.02, order, 0.0) is None


def test_lists_name_who_falls_and_who_stays(made):
    assert "velocity Verlet" in made["studyFirstState"] and "synchronous SPIRAL" in made["studyFirstState"]
    ordered = [polhode.methods[key] for key in in_order(polhode.methods)]
    able = [method for method in ordered if method.torques_per_step == 1 and min(method.orders("velocity")) > 1]
    stay = [formats.without_comma(method.label) for method in able]
    assert not any("," in name for name in stay), "a comma in a name would end it in a list"
    assert "SPIRAL with the last torque" in stay and "AB2 with the Buss rotation" in stay
    assert {"Calzavarini", "improved PCDM", "PCDM with the mid-step torque"} < set(stay)
    assert made["studyKeepSecondOne"] == ", ".join(stay) + r" and my\_own \& co"
    assert made["studyReversible"] == r"NO\_SQUISH"
    assert made["studySymplectic"] == r"NO\_SQUISH" and made["studySymplecticTried"] == str(len(polhode.methods))
    assert made["studySymplecticHistory"] == "improved PCDM"
    assert made["studySymplecticHistoryTorque"] == "PCDM with the mid-step torque"
    assert made["studyConstraintEnough"] == "48" and made["studyConstraintFew"] == "4"
    assert made["studyFinchamApart"].startswith("differ by 0 with") and made["studyMisprintCount"] == "7"
    assert formats.enumerated(["a", "b", "c"]) == "a, b and c" and formats.enumerated(["a, b"]) == "a, b"
    assert formats.enumerated(["a, b", "c"]) == "a, b; and c" and formats.enumerated(["a", r"5\,s", "c"]) == r"a, 5\,s and c"


def test_a_run_without_the_problems_still_renders(small, tmp_path):
    assert r"\newcommand{\studyLeastAgreement}{n/a}" in number_lines(small, tmp_path, TEX)


# Claims


def judged(inputs: Inputs) -> pd.DataFrame:
    """The verdicts on the note and the book."""
    rows: list[dict] = []
    for key in ("calzavarini2010", "no_squish"):
        rows += claims.judged(inputs, HOME / chapters.FOLDER / key / "claims.yaml", measures_of(key, timed=False))
    assert len(rows) >= 10
    return pd.DataFrame(rows).set_index("id")


def test_claims_of_the_note_and_the_book(whole):
    rows = judged(whole)
    assert rows.verdict["calzavarini2010_mean"] == "ours: does not hold"
    assert rows.verdict["calzavarini2010_extrapolated"] == "ours: holds"
    assert rows.verdict["tuckerman2010_reversible"] == "holds"
    assert rows.verdict["tuckerman2010_symplectic_free"] == rows.verdict["tuckerman2010_symplectic_heavy"] == "holds"
    assert rows.verdict["tuckerman2010_iterations_symplectic"] == rows.verdict["tuckerman2010_iterations_reversible"] == "holds"
    assert rows.verdict["tuckerman2010_iterations_met"] == "ours: does not hold"
    assert (
        rows.verdict["tuckerman2010_moment"] == "holds" and rows.verdict["tuckerman2010_moment_tiny"] == "ours: does not hold"
    )


def test_claims_without_the_run_are_not_measured(small):
    rows = judged(small)
    assert rows.measured.isna().all() and set(rows.verdict) == {"not measured"}


def test_erratum_the_momentum_needs_the_inertia():
    """dq/dt of the Hamiltonian 3.12.4 is q omega/2 with p = 2 S D omega, and not with D^-1."""
    rng = np.random.default_rng(2)
    q = rng.normal(size=4)
    q /= np.linalg.norm(q)
    left = np.array(
        [[q[0], -q[1], -q[2], -q[3]], [q[1], q[0], -q[3], q[2]], [q[2], q[3], q[0], -q[1]], [q[3], -q[2], q[1], q[0]]]
    )
    inertia, omega = np.diag([0.7, 0.8, 1.3, 1.9]), np.array([0.0, 0.4, -1.1, 0.6])
    rates = [
        0.25 * left @ np.linalg.inv(inertia) @ left.T @ (2 * left @ factor @ omega)
        for factor in (inertia, np.linalg.inv(inertia))
    ]
    assert np.allclose(rates[0], 0.5 * left @ omega)
    assert not np.allclose(rates[1], 0.5 * left @ omega, rtol=0.1)


# The index of sources


def expanded(item: str) -> list[str]:
    """``Eqs. B.7-B.9`` -> Eq. B.7, Eq. B.8, Eq. B.9."""
    kind, _, rest = item.partition(" ")
    kind = {"Eqs.": "Eq.", "Steps": "Step"}.get(kind, kind)
    items = []
    for part in rest.split(", "):
        first, dash, last = part.partition("-")
        if dash:
            prefix, low = re.fullmatch(r"(.*?)(\d+)", first).groups()
            high = re.fullmatch(r"(.*?)(\d+)", last)[2]
            items += [f"{kind} {prefix}{n}" for n in range(int(low), int(high) + 1)]
        else:
            items.append(f"{kind} {part}")
    return items


def every(kind: str, *ranges: str) -> set[str]:
    return {name for text in ranges for name in expanded(f"{kind} {text}")}


#: Everything that the sources number.
NUMBERED = {
    "delvalle2024": every("Eq.", "1-13", "A.1-A.3", "B.1-B.18", "C.1-C.26")
    | every("Fig.", "1-7", "A.8-A.9")
    | every("Table", "1-2"),
    "delvalle2025": every("Eq.", "1-4") | every("Fig.", "1-2"),
    "seelen2016": every("Eq.", "1-9") | every("Fig.", "1-5") | {"Table 1"} | every("Step", "1-4"),
    "calzavarini2010": every("Eq.", "1-10"),
    "tuckerman2010": every("Eq.", "3.12.1-3.12.4"),
}


def test_every_item_of_every_source_is_listed_once():
    rows = load_sources(SOURCES)
    for source, wanted in NUMBERED.items():
        items = [
            name
            for row in rows
            if row["source"] == source and not row["item"].startswith("App.")
            for name in expanded(row["item"])
        ]
        assert sorted(items) == sorted(wanted), source
    assert {row["source"] for row in rows} == set(NUMBERED)


def test_every_place_of_the_index_exists():
    files = (Path(__file__).parents[1] / chapters.FOLDER).glob("*/files.tex")  # figures and tables that are files alone
    text = "".join(path.read_text() for path in (*TEX, *files))
    long_tables = (*LONG_TABLES, *re.findall(r"\\newcommand\{\\(\w+)caption\}", text))
    labels = set(re.findall(r"\\label\{([^}]*)\}", text)) | {f"tab:{name}" for name in long_tables}
    for row in load_sources(SOURCES):
        for name in row["here"]:
            kind, _, key = name.partition(":")
            if kind == "method":
                assert key in polhode.methods, (row, name)
            elif kind == "problem":
                assert key in polhode.problems, (row, name)
            elif kind in ("reference", "module"):
                place = "polhode.references." if kind == "reference" else "" if key.startswith("polhode_") else "polhode."
                importlib.import_module(f"{place}{key}")
            else:
                assert name in labels, (row["source"], row["item"], name)


def test_every_item_of_the_sources_is_here_at_least_in_part():
    assert [(row["source"], row["item"]) for row in load_sources(SOURCES) if not row["here"]] == []


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("{item: Fig. 1, about: x}", "say where it is"),
        ("{item: Fig. 1, about: x, here: [a], where: b}", "unknown field"),
        ("{item: Fig. 1, here: [a]}", "must not be empty"),
        ("{item: Fig. 1, about: x, here: [a]}\n      - {item: Fig. 1, about: y, here: [b]}", "twice"),
    ],
)
def test_bad_items_are_named(item, message, tmp_path):
    path = tmp_path / "sources.yaml"
    path.write_text(f"sources:\n  - key: a2020\n    items:\n      - {item}\n")
    with pytest.raises(ValueError, match=message) as caught:
        load_sources(path)
    assert "Fig. 1" in str(caught.value) and "sources.yaml" in str(caught.value)
