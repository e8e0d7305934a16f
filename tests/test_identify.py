"""`polhode identify`: the method of a code of one's own, from rows in any convention; recipes, own programs, wrong rows."""

import json
import math
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import thorough
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode
from polhode.cli import main
from polhode_engines import cases, causes, identify, meaning, own_code, recipe, run_files
from polhode_engines.advice import measured_advice
from polhode_engines.candidates import candidate, damped
from polhode_engines.conventions import ANGLES, TIMES, Convention, fits

INERTIA = np.array(cases.INERTIA)
#: In units of a code for grains: moments of a grain, 100 rad/s.
SIZE, SPEED = 1e-9, 100.0


def rows_of(key, angle=0.2, count=60, load="free", start=0, stored=False, dtype=float):
    """t, q, omega (body frame, rad/s) of a method in these units, each row the step from the row before, as it is rounded."""
    run = recipe.recipe(omega=SPEED, inertia=INERTIA * SIZE).runs[{"free": 0, "lab": 2, "velocity": 3}[load]]
    run = replace(run, dt=angle / SPEED)
    driver = identify.driver_of(candidate(key), run)
    q, omega = (tuple(map(float, np.array(x, dtype))) for x in (run.q0, run.omega0))
    rows, begin = [(q, omega)], identify.stored if stored else identify.synchronous
    for _ in range(count):
        state = driver.step(begin(driver, None, q, omega), 0)
        q, omega = (state[:4], driver.stored(state)) if stored else driver.read(state, 1)
        q, omega = (tuple(map(float, np.array(x, dtype))) for x in (q, omega))
        rows.append((q, omega))
    return np.arange(count + 1) * run.dt, np.array([q for q, _ in rows]), np.array([w for _, w in rows]), run


def turned(q, v):
    return Rotation.from_quat(np.roll(q, -1, axis=1)).apply(v)


def written(
    path, t, q, spin, digits=17, scalar="first", direction="body to lab", time="s", angle="rad", separator=",", head=""
):
    """A file in a convention, without names of columns."""
    q = q * (1, -1, -1, -1) if direction == "lab to body" else q
    q = np.roll(q, -1, axis=1) if scalar == "last" else q
    table = np.column_stack([t / TIMES[time], q, spin / ANGLES[angle]])
    lines = [separator.join(f"{x:.{digits - 1}e}" for x in row) for row in table]
    path.write_text("\n".join([*filter(None, [head]), *lines]) + "\n")
    return path


#: Method, load, and how its rows are written: twelve methods over all conventions, precisions and numbers of digits.
WRITTEN = {
    "richardson": {"quantity": "angular momentum", "frame": "lab"},
    "euler": {"scalar": "last", "separator": " "},
    "fincham1992_yade": {"load": "lab", "direction": "lab to body", "frame": "lab"},
    "no_squish": {"time": "ms", "angle": "degrees"},
    "spiral_leapfrog": {"load": "lab", "stored": True, "scalar": "last"},
    "omelyan1998": {"quantity": "angular momentum", "time": "us"},
    "moser_veselov": {"dtype": np.float32, "digits": 9, "step": 0.8},
    "johnson2008": {"digits": 12, "scalar": "last", "frame": "lab"},
    "rk4": {"digits": 7, "step": 0.8, "direction": "lab to body"},
    "touma1994": {"digits": 16, "separator": "\t", "angle": "revolutions per minute"},
    "buss2000": {"dtype": np.float32, "digits": 17, "step": 0.8, "frame": "lab", "scalar": "last"},
    "torque_implicit_exp_new": {"load": "velocity", "quantity": "angular momentum", "frame": "lab", "direction": "lab to body"},
}


@pytest.mark.parametrize("key", [*list(WRITTEN)[:5], *thorough(*list(WRITTEN)[5:])])
def test_a_method_and_its_conventions_are_found(key, tmp_path):
    how = dict(WRITTEN[key])
    load, quantity, frame = how.pop("load", "free"), how.pop("quantity", "angular velocity"), how.pop("frame", "body")
    stored, dtype, step = how.pop("stored", False), how.pop("dtype", float), how.pop("step", 0.2)
    t, q, omega, run = rows_of(key, step, load=load, stored=stored, dtype=dtype)
    spin = omega * INERTIA * SIZE if quantity == "angular momentum" else omega
    spin = turned(q, spin) if frame == "lab" else spin
    spin = np.array(spin, dtype).astype(float)
    path = written(tmp_path / "run.csv", t, q, spin, **how)
    answer = own_code.identify_files([path], INERTIA * SIZE, recipe.torque_text(run))
    assert answer.identified and key in answer.methods, answer
    assert answer.deviation < 100 and answer.runner_up_deviation > 1000
    assert f"{quantity} in the {frame} frame" in answer.convention
    assert f"scalar {how.get('scalar', 'first')}; {how.get('direction', 'body to lab')}" in answer.convention
    assert answer.convention.endswith(f"time in {how.get('time', 's')}") and how.get("angle", "") in answer.convention
    assert answer.half_steps == (-0.5 if stored else 0) and not answer.faults and not answer.ambiguous
    assert answer.precision == (
        "single" if dtype is not float else {7: "7 digits printed", 12: "12 digits printed"}.get(how.get("digits"), "double")
    )
    assert answer.dt == pytest.approx(run.dt, rel=1e-12) and answer.angle == pytest.approx(step, rel=0.6)


@pytest.mark.parametrize("key", ["fincham1992_yade", "momentum_leapfrog_exp_new"])
def test_a_momentum_half_a_step_before_the_orientation_is_found(key):
    """As YADE writes it, under a torque, where the momentum is not that of the whole time."""
    run = recipe.recipe(omega=SPEED).runs[2]
    driver = identify.driver_of(candidate(key), run)
    state, rows = driver.start(run.q0, run.omega0), []
    for n in range(40):
        rows.append(state[:7])
        state = driver.step(state, n)
    q, momentum = np.array(rows)[:, :4], np.array(rows)[:, 4:]
    answer = polhode.identify(run.dt, q, momentum, inertia=INERTIA, torque=("lab", run.value))
    assert answer.methods == (key,) and answer.half_steps == -0.5 and "angular momentum in the lab" in answer.convention


def test_arrays_are_identified_and_the_answer_says_what_it_means(monkeypatch):
    monkeypatch.setattr(own_code, "SPIN_STEPS", 6000)
    t, q, omega, _ = rows_of("fincham1992_yade", count=40)
    answer = polhode.identify(t, q, omega, inertia=INERTIA * SIZE)
    assert answer.methods[0] == "fincham1992_yade" and answer.identified
    short, text = str(answer), " ".join(answer.why().split())
    assert short.startswith("Identified: Fincham (YADE) (fincham1992_yade). First order, and a free spin ends about")
    assert short.splitlines()[-1].endswith("`why`.") and len(short.splitlines()) <= own_code.MOST_LINES
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8").split("```text\n")[2].split("...")[0]
    numbers = re.compile(r"within \S+ round-offs|by 0\.\d+ rad")
    assert numbers.sub("", short).startswith(numbers.sub("", readme))
    page = (Path(__file__).parents[1] / "docs/identify.md").read_text(encoding="utf-8")
    on_page = page.split("```text\n")[1].split("```")[0]
    assert on_page.startswith(readme), "the whole of what the README begins, one run with one set of numbers"
    assert numbers.sub("", short.replace("`why`", "--why")) + "\n" == numbers.sub("", on_page)
    assert "It is not" not in short and "Read as" not in short and "round-offs (double precision)" in short
    for words in (
        "Identified: Fincham (YADE)",
        "It is not:",
        "Read as: scalar first; body to lab",
        "First order",
        "take exact rotor, corrected",
        "YADE (",
    ):
        assert words in text
    content = json.loads(answer.to_json())
    assert content["identified"] is True and content["spin"]["end"] == "smallest moment" and content["engines"]


def test_a_changed_step_is_not_identified():
    """A mutant: the angular velocity of every row is off by a part in a million, as no round-off is."""
    t, q, omega, _ = rows_of("richardson", count=40)
    omega = omega * (1 + 1e-6 * np.arange(len(t))[:, None])
    answer = polhode.identify(t, q, omega, inertia=INERTIA * SIZE)
    assert not answer.identified and answer.deviation > 1e6 and any("no candidate" in limit for limit in answer.limits)


def test_units_change_no_bit_of_a_deviation():
    """Times in a unit 2^20 times smaller, and moments 2^40 times larger."""
    t, q, omega, _ = rows_of("omelyan1998", count=30)
    first = polhode.identify(t, q, omega, inertia=INERTIA)
    other = polhode.identify(t * 2.0**-20, q, omega * 2.0**20, inertia=INERTIA * 2.0**40)
    assert first.deviations == other.deviations


@pytest.mark.thorough
def test_ambiguous_runs_are_a_class_that_a_further_run_splits():
    t, q, omega, _ = rows_of("spiral_predicted")
    answer = polhode.identify(t, q, omega, inertia=INERTIA * SIZE)
    assert {"spiral_leapfrog", "spiral_predicted"} <= set(answer.methods) and "under the friction" in answer.further
    runs = [own_code.own_run(run_files.of_arrays(t, q, omega), INERTIA * SIZE)]
    t, q, omega, run = rows_of("spiral_predicted", load="velocity")
    runs.append(own_code.own_run(run_files.of_arrays(t, q, omega), INERTIA * SIZE, recipe.torque_text(run)))
    assert own_code.identify_runs(runs).methods == ("spiral_predicted",)


@pytest.mark.thorough
def test_a_method_of_the_free_body_alone_is_called_that():
    t, q, omega, run = rows_of("rk4")
    answer = polhode.identify(inertia=run.inertia, t=t, q=q, omega=omega)
    assert str(answer).startswith("Identified: ")
    limited = replace(answer, limits=(f"under the torque (lab) {own_code.NOT_UNDER_TORQUE}.",))
    assert str(limited).startswith("Identified for the free body alone: ")


def test_small_steps_and_few_digits_are_limits_with_a_cure(tmp_path):
    t, q, omega, _ = rows_of("richardson", angle=1e-4)
    answer = polhode.identify(t, q, omega, inertia=INERTIA * SIZE)
    assert not answer.identified and answer.methods[0] == "richardson" and len(answer.methods) > 10
    assert any("dt = 0.002 s turns the body by 0.2 rad" in limit for limit in answer.limits)
    t, q, omega, _ = rows_of("richardson", angle=0.2)
    answer = own_code.identify_files([written(tmp_path / "run.csv", t, q, omega, digits=4)], INERTIA * SIZE)
    assert not answer.identified and any("%.17g" in limit for limit in answer.limits)
    # About a principal axis all gyroscopic terms vanish, and many conventions are the same.
    omega = np.tile([0.0, 0.0, SPEED], (40, 1))
    angle = 0.2 * np.arange(40)
    q = np.column_stack([np.cos(angle / 2), 0 * angle, 0 * angle, np.sin(angle / 2)])
    answer = polhode.identify(0.002, q, omega, inertia=INERTIA * SIZE)
    assert any("gyroscopic term is not seen" in limit for limit in answer.limits) and answer.ambiguous


@pytest.mark.thorough
def test_damping_is_a_limit_with_its_rate():
    t, q, omega, _ = rows_of("no_gyroscopic_exp_new", count=40)
    omega = omega * np.exp(-0.5 * t)[:, None]
    answer = polhode.identify(t, q, omega, inertia=INERTIA * SIZE)
    assert not answer.identified and any("damping of 0.5" in limit for limit in answer.limits)
    # Half of the momentum goes in a second; with the rate named, the damped step is found.
    run = replace(recipe.recipe(omega=1.0).runs[0], samples=tuple(range(41)))
    key = "explicit_exp_damped_linear_after_0p5"
    assert key in {method.key for method in damped(0.5)}
    spun = meaning.states_of(key, run)
    answer = polhode.identify(run.dt, spun.q, spun.omega, inertia=INERTIA, damping=0.5)
    assert answer.identified and key in answer.methods and "damped after it" in own_code.label_of(key)


# what an answer may conclude, from rows by NumPy and SciPy

#: Orientation and angular velocity, rad/s, at the start of these rows.
BEGIN = np.array([0.7, 0.1, 0.5, 0.5, 0.48, 0.36, 0.8])
PRINCIPAL = np.diag(INERTIA)
#: A tensor with products of inertia: Ixx, Iyy, Izz, Ixy, Ixz, Iyz.
SIX = np.array([0.9, 1.1, 1.3, -0.12, 0.08, 0.15])
TENSOR = np.array([[SIX[0], SIX[3], SIX[4]], [SIX[3], SIX[1], SIX[5]], [SIX[4], SIX[5], SIX[2]]])


def rate(y, tensor):
    q, w = y[:4], y[4:]
    turning = [-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))]
    return np.array([*(0.5 * np.array(turning)), *np.linalg.solve(tensor, -np.cross(w, tensor @ w))])


def unit(y):
    return np.array([*(y[:4] / np.linalg.norm(y[:4])), *y[4:]])


def runge_kutta(y, h, tensor=PRINCIPAL):
    a = rate(y, tensor)
    b = rate(y + h / 2 * a, tensor)
    c = rate(y + h / 2 * b, tensor)
    d = rate(y + h * c, tensor)
    return unit(y + h / 6 * (a + 2 * b + 2 * c + d))


def accurate(y, h, tensor=PRINCIPAL, method="DOP853", tolerance=3e-14):
    solution = solve_ivp(lambda t, y: rate(y, tensor), (0, h), y, method, rtol=tolerance, atol=1e-16)
    return unit(solution.y[:, -1])


def twice_as_fast(y, h):
    """An explicit kick, then a rotation by twice the angle."""
    w = y[4:] - h * np.cross(y[4:], INERTIA * y[4:]) / INERTIA
    q = (Rotation.from_quat(np.roll(y[:4], -1)) * Rotation.from_rotvec(2 * h * w)).as_quat()
    return np.array([*np.roll(q, 1), *w])


def rows_by(step, steps, **others):
    """t, q, omega of a step of one's own; ``steps`` are the times from row to row."""
    rows = [BEGIN]
    for h in steps:
        rows.append(step(rows[-1], h, **others))
    table = np.array(rows)
    return np.concatenate([[0.0], np.cumsum(steps)]), table[:, :4], table[:, 4:]


@pytest.mark.thorough
def test_rows_of_three_digits_identify_nothing(tmp_path):
    t, q, omega = rows_by(runge_kutta, [0.2] * 60)
    answer = own_code.identify_files([written(tmp_path / "run.csv", t, q, omega, digits=3)], INERTIA)
    text = answer.why()
    assert not answer.identified and "rk4" in answer.methods and f"{len(answer.deviations)} candidates fit" in text
    assert not (answer.engines or answer.advice or answer.spin.end or answer.further) and "order" not in text
    assert any("print more" in limit and "%.17g" in limit for limit in answer.limits)
    content = json.loads(answer.to_json())
    assert content["identified"] is False and "spin" not in content and not content["engines"] and not content["advice"]


def test_each_row_has_its_own_step_where_steps_differ():
    steps = 0.2 * (1 + 0.1 * np.random.default_rng(1).uniform(-1, 1, 40))
    answer = polhode.identify(*rows_by(runge_kutta, steps), inertia=INERTIA)
    assert answer.methods == ("rk4",) and answer.identified and "the steps are not equal" in answer.limits[0]
    assert not answer.faults and not any(key.startswith("adams_bashforth") for key in answer.deviations)


def test_times_with_few_digits_are_not_steps_that_differ():
    steps = np.full(40, 1 / 6)
    t, q, omega = rows_by(runge_kutta, steps)
    for times in (np.round(t, 4), t + 1e3, t.astype(np.float32).astype(float)):
        run = own_code.own_run(run_files.of_arrays(times, q, omega), INERTIA)
        assert own_code._own_intervals(run)[2] == 0
    t[1:] += 1e-3 * np.random.default_rng(2).uniform(-1, 1, 40)
    assert own_code._own_intervals(own_code.own_run(run_files.of_arrays(t, q, omega), INERTIA))[2] > 0.9


def test_products_of_inertia_are_brought_into_principal_axes():
    t, q, omega = rows_by(runge_kutta, [0.2] * 40, tensor=TENSOR)
    moments, axes = np.linalg.eigh(TENSOR)
    axes = axes * np.linalg.det(axes)
    run = replace(own_code.own_run(run_files.of_arrays(t, q, omega), moments), axes=axes)
    answer = own_code.identify_runs([run])
    assert answer.methods == ("rk4",) and answer.identified and answer.momentum < 1e-3
    lab = turned(q, omega @ TENSOR)
    q, omega = Convention(quantity="angular momentum", frame="lab").states(run_files.of_arrays(t, q, lab), moments, axes)
    assert turned(q, omega * moments) == pytest.approx(lab, abs=1e-12)


def test_the_momentum_shows_another_frame_and_another_order():
    _, q, omega = rows_by(runge_kutta, [0.2] * 60, tensor=TENSOR)
    said = causes.tensor_words(q, omega, SIX[:3], np.eye(3))
    assert "0.9 1.1 1.3 -0.12 0.08 0.15" in said and "not the principal one" in said
    _, q, omega = rows_by(runge_kutta, [0.2] * 60)
    assert "in the order 0.6 1 1.4" in causes.tensor_words(q, omega, INERTIA[::-1], np.eye(3))
    assert causes.orders(omega, INERTIA[::-1], 0.2)[0] == (0.6, 1.0, 1.4)
    assert not causes.tensor_words(q, omega, INERTIA, np.eye(3)) and not causes.orders(omega, INERTIA, 0.2)


@pytest.mark.parametrize("key", ["lie_rk4_naive", "theta_0p5_exp", "generalised_alpha_0p9"])
def test_the_momentum_of_a_method_is_no_other_tensor(key):
    """These conserve a momentum of other moments: by 2 % at 1.2 rad."""
    for angle in (0.2, 0.7, 1.2):
        run = replace(recipe.recipe(omega=1.0).runs[0], dt=angle, samples=tuple(range(61)))
        spun = meaning.states_of(key, run)
        assert not causes.tensor_words(spun.q, spun.omega, INERTIA, np.eye(3))


def test_a_body_that_turns_twice_as_fast_as_omega_is_seen():
    t, q, omega = rows_by(twice_as_fast, [0.2] * 60)
    fit = min(fits(run_files.of_arrays(t, q, omega), INERTIA, 0.2), key=lambda fit: fit.miss)
    assert fit.factor == pytest.approx(2, rel=0.01) and not fit.is_explained
    said = causes.factor_words(fit.ratio, *causes.change_factor(omega, INERTIA, 0.2), 0.2)
    assert "turns by 2 times omega dt, while omega changes as Euler's equations say" in said and "half angle" in said
    # A step that is twice as long turns the body and changes omega twice as much.
    t, q, omega = rows_by(runge_kutta, [0.2] * 60)
    said = causes.factor_words(2.0, *causes.change_factor(omega, INERTIA, 0.1), 0.1)
    assert "about 0.2 instead of 0.1 (--dt), rows are written every 2 steps" in said
    assert not causes.factor_words(1.01, *causes.change_factor(omega, INERTIA, 0.2), 0.2)


@pytest.mark.thorough
def test_an_answer_says_that_a_body_turns_twice_as_fast():
    answer = polhode.identify(*rows_by(twice_as_fast, [0.2] * 60), inertia=INERTIA)
    assert not answer.identified and answer.limits[0].startswith("the body turns by 2 times omega dt")
    assert answer.angle == pytest.approx(0.45, rel=0.1) and not answer.half_steps


@pytest.mark.thorough
def test_the_exact_motion_is_called_that():
    answer = polhode.identify(*rows_by(accurate, [0.2] * 20), inertia=INERTIA)
    assert answer.identified and answer.is_exact and "exact_rotor" in answer.methods and not answer.engines + answer.advice
    assert str(answer).startswith("Identified: the exact motion") and "solver with error control" in " ".join(
        str(answer).split()
    )


def test_rows_nearer_to_the_exact_motion_than_to_candidates():
    """By their differences alone: a solver of fifth order with a tolerance of 1e-7, which no candidate makes."""
    t, q, omega = rows_by(accurate, [0.2] * 20, method="RK45", tolerance=1e-7)
    run = identify_run_of(t, q, omega)
    exact = causes.exact_deviation(*run)
    values = [
        identify.deviation(candidate(key), "", *run, 1.0, range(10), 1)
        for key in ("rk4", "merson4_body", "richardson", "exact_rotor")
    ]
    assert 1e-13 < exact < 1e-7 and causes.is_nearest(exact, values)
    assert not causes.is_nearest(exact, [*values, exact / 3]) and not causes.is_nearest(exact, [*values, exact * 5])


def identify_run_of(t, q, omega):
    whole, bad = own_code._whole(own_code.own_run(run_files.of_arrays(t, q, omega), INERTIA), Convention(), [])
    assert not bad.any()
    return whole.run, whole.spun


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda q, w: (q, 0 * w), "angular velocity or momentum is zero in all rows"),
        (lambda q, w: (q * np.nan, w), "0 rows of finite numbers, and 31 that are not finite"),
        (lambda q, w: (q, w * np.inf), "0 rows of finite numbers, and 31 that are not finite"),
        (lambda q, w: (0 * q, w), "no quaternion has unit length"),
        (lambda q, w: (q, w * 1e200), "0 rows of finite numbers"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_rows_that_show_no_motion_are_refused(change, words):
    t, q, omega = rows_by(runge_kutta, [0.2] * 30)
    with np.errstate(all="ignore"):
        q, omega = change(q, omega)
    with pytest.raises(own_code.IdentifyError, match=words):
        polhode.identify(t, q, omega, inertia=INERTIA)


def test_a_damping_that_stops_a_body_in_a_step_is_refused():
    assert all(method.key.isidentifier() for rate_ in (1e5, 2.5e-7) for method in damped(rate_)[:40])
    t, q, omega = rows_by(runge_kutta, [0.2] * 30)
    rows = run_files.of_arrays(t, q, omega)
    with pytest.raises(own_code.IdentifyError, match=r"damping of 100000/s leaves nothing of omega after a step of 0.2 s"):
        own_code.own_run(rows, INERTIA, damping=1e5)
    run = replace(own_code.own_run(rows, INERTIA, damping=1.0), damping=1e5)
    reading = own_code._Reading(Convention())
    with pytest.raises(own_code.IdentifyError, match=r"damping 100000/s takes all of omega in a step of 0.2 s.*below 5"):
        own_code._refuse_strong_damping([run], [reading])


def test_a_body_losing_momentum_tumbles_wrongly():
    losing = meaning.LongSpin(-0.3, -0.6, 0.0, "tumbles", turns=30, exact_turns=30)
    assert own_code._end_words(losing) == "it still tumbles, and has lost 0.6 of its momentum"
    assert measured_advice(2, "tumbles", "yes", (1e-6, 0.0)) == "Second order: keep it."
    assert "loses 0.6 of its energy or momentum" in measured_advice(2, "tumbles", "yes", (-0.3, -0.6))


#: A method in a file, of second order, which loses energy, and no method of polhode.
KDK = Path(__file__).parents[1] / "docs" / "example_kdk.py"


@pytest.fixture(scope="module")
def runs_of_a_file(tmp_path_factory):
    """The runs of the recipe by the method of a file, as files."""
    folder = tmp_path_factory.mktemp("mine")
    with polhode.methods.restored():
        method = polhode.methods.load(KDK)
        for number, run in enumerate(recipe.recipe(omega=SPEED).runs, 1):
            driver = identify.driver_of(method, run)
            state, rows = driver.start(run.q0, run.omega0), []
            for n in range(41):
                rows.append((n * run.dt, *state[:7]))
                state = driver.step(state, n)
            lines = [f"# inertia: {' '.join(map(repr, run.inertia))}", f"# torque: {recipe.torque_text(run)}"]
            text = [",".join(f"{x:.17g}" for x in row) for row in rows]
            (folder / f"run{number}.csv").write_text("\n".join([*lines, "t,qw,qx,qy,qz,wx,wy,wz", *text]) + "\n")
    return sorted(folder.iterdir())


def test_an_unknown_method_is_said_to_be_unknown(runs_of_a_file):
    answer = own_code.identify_files(runs_of_a_file)
    said, why = (" ".join(text.split()) for text in (str(answer), answer.why()))
    assert not answer.identified and 1.5 < answer.order < 3.5
    assert said.startswith(f"{own_code.UNKNOWN}. Order measured: {answer.order:.2f} at this step. Closest: ")
    assert own_code.IF_YOURS in said and "Check inertia" not in said and "of higher order" not in said
    assert f"Next: {own_code.label_of(answer.runner_up)}, " in why
    assert f"Excluded: all {len(answer.deviations)} candidates; of the methods these are nearest: " in why
    near = replace(answer, exact=answer.deviation * answer.round_off / 100)
    said, why = (" ".join(text.split()) for text in (str(near), near.why()))
    assert near.is_near_exact and said.startswith(f"{own_code.UNKNOWN}. Order measured: {answer.order:.2f} at this step. They")
    assert f"Closest: {own_code.label_of(answer.method)}, " in why and "Next: " in why and "Excluded: all" in why
    assert "Order measured" not in str(replace(near, order=math.nan)) and "second run with half" in str(
        replace(near, order=math.nan)
    ).replace("\n  ", " ")


def test_a_first_run_alone_asks_for_inertia_and_file(runs_of_a_file):
    said = " ".join(str(own_code.identify_files(runs_of_a_file[:1])).split())
    assert said.startswith("Not identified. Closest: ") and "Check inertia" in said and own_code.IF_YOURS in said


@pytest.mark.thorough
def test_a_method_in_a_file_is_a_candidate(runs_of_a_file, capsys):
    files = list(map(str, runs_of_a_file))
    with polhode.methods.restored():
        assert main(["identify", *files, "--method", str(KDK), "--why"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("Identified: My kick-drift-kick (my_mean_rotor). Order ") and "keep it" not in said
    assert "turns over" in said and "as it should" not in said
    assert main(["identify", *files]) == 1 and own_code.IF_YOURS in " ".join(capsys.readouterr().out.split())
    for word, message in (("spiral_kdk", "is no Python file; every method"), ("nothing.py", "nothing.py does not exist")):
        assert main(["identify", *files, "--method", word]) == 2 and message in capsys.readouterr().err
    assert main(["identify", "--recipe", "--method", str(KDK)]) == 2 and "--recipe has no use" in capsys.readouterr().err


def test_a_loss_with_the_step_of_the_rows_is_said():
    """SPIRAL's kick loses energy by its third-order error, 256 times as much in a step of 0.2 rad as in one of 0.05."""
    answer = polhode.identify(*rows_of("spiral_synchronous", 0.2, 30)[:3], inertia=INERTIA * SIZE)
    fine = replace(answer, methods=("spiral_leapfrog",), order=2.0)
    assert fine.spin.is_as_exact and fine.spin_at_step.energy < -0.05
    said, why = " ".join(fine.advice), " ".join(fine.why().split())
    lost = f"a free spin loses {-fine.spin_at_step.energy:.1%} of its energy"
    assert f"Second order, and with the step of these rows, {fine.angle:.2g} rad, {lost} in 30000 steps: take" in said
    assert "keep it" not in said and f"With the step of these rows, {fine.angle:.2g} rad, {lost}" in why
    gained = replace(fine.spin_at_step, energy=0.02, momentum=0.0)
    assert own_code._drift_words(gained) == "a free spin gains 2.0% of its energy"
    small = replace(fine, angle=0.01)
    assert not small.spin_at_step.end and small.advice[0] == "Second order: keep it."
    steady = replace(fine, methods=("no_squish",), deviations={"no_squish": 1.0})
    assert steady.advice[0] == "Second order: keep it." and "keeps energy and momentum within 1%" in steady.why()


def test_falling_momentum_is_damping_only_at_a_constant_rate():
    t = np.arange(50) * 0.2
    assert "damping of 0.05/s" in causes.damping_words(np.exp(-0.05 * t), 0.2, 10.0, 1e-4)
    varying = np.exp(-0.05 * t - 0.04 * np.sin(t))
    assert "a loss of the method itself" in causes.damping_words(varying, 0.2, 10.0, 1e-4)
    assert not causes.damping_words(np.full(50, 1.0), 0.2, 10.0, 1e-4)


#: Methods of first order, all kinds of kicks, rotations and frames; the rest is as these.
FIRST_ORDER = (
    "catto2015",
    "euler",
    "fincham1992_yade",
    "implicit_linear_old_lab",
    "rescaled_linear_mean_lab",
    "torque_explicit_exp_old",
    "no_gyroscopic_exp_mean",
    "explicit_linear_new_4x_once",
    "mean_of_two_barker",
)


@pytest.mark.parametrize("key", FIRST_ORDER)
@pytest.mark.parametrize("angle", [0.7, 1.2])
def test_correct_rows_at_large_steps_are_not_called_wrong(key, angle):
    run = replace(recipe.recipe(omega=1.0).runs[0], dt=angle, samples=tuple(range(101)))
    with np.errstate(all="ignore"):
        spun = meaning.states_of(key, run)
    made = own_code._checked(own_code.own_run(run_files.of_arrays(angle, spun.q, spun.omega), INERTIA))
    conventions = [fit.convention for fit in own_code._conventions(made, 0)[:3]]
    assert not conventions or Convention() in conventions
    whole, bad = own_code._whole(made, Convention(), [])
    mode = next(identify.modes(candidate(key), True))
    piece = own_code._cut(whole, bad)[0]
    steps = range(identify.usable(piece.run, piece.spun))
    value = identify.deviation(candidate(key), mode, piece.run, piece.spun, 2**-52, steps, identify.judged_from(mode))
    assert value < identify.WITHIN
    closest = identify.Deviation(key, mode, value)
    assert not own_code._without_wrong_rows([(made, whole, bad)], Convention(), 2**-52, closest)[1]


@pytest.mark.thorough
@pytest.mark.parametrize("key", FIRST_ORDER)
@pytest.mark.parametrize("angle", [0.2, 0.7])
def test_a_method_is_among_those_named(key, angle):
    """The thinned table of confusion."""
    run = replace(recipe.recipe(omega=1.0).runs[0], dt=angle, samples=tuple(range(101)))
    with np.errstate(all="ignore"):
        spun = meaning.states_of(key, run)
    answer = polhode.identify(angle, spun.q, spun.omega, inertia=INERTIA)
    assert answer.identified and key in answer.methods
    lost = ("no finite numbers", "a quaternion of zeros")  # what a body that has blown up leaves
    assert not [fault for fault in answer.faults if not any(words in fault for words in lost)]
    assert not any("falls steadily" in limit for limit in answer.limits)


# wrong rows


def spoilt(change):
    t, q, omega, _ = rows_of("richardson")
    return change(t.copy(), q.copy(), omega.copy())


def set_rows(values, rows, factor):
    values[rows] *= factor
    return values


FAULTS = {
    "a jump": (lambda t, q, w: (t, q, set_rows(w, 30, 1.3)), "line 31 does not fit the rows around it"),
    "a small jump": (lambda t, q, w: (t, q, set_rows(w, 30, 1 + 1e-9)), "line 31 is "),
    "a lost line": (lambda t, q, w: [np.delete(x, 30, axis=0) for x in (t, q, w)], "1 row(s) lost between line 30 and line 31"),
    "two lost lines": (lambda t, q, w: [np.delete(x, (30, 31), axis=0) for x in (t, q, w)], "2 row(s) lost between line 30"),
    "a line twice": (
        lambda t, q, w: [np.insert(x, 30, x[30], axis=0) for x in (t, q, w)],
        "line 32 repeats the time of line 31",
    ),
    "mixed units": (
        lambda t, q, w: (t, q, set_rows(w, slice(40, None), 180 / np.pi)),
        "at line 41 the angular velocity changes by",
    ),
    "mixed units of most rows": (
        lambda t, q, w: (t, q, set_rows(w, slice(30, None), 180 / np.pi)),
        "at line 31 the angular velocity changes by",
    ),
    "mixed times": (lambda t, q, w: (set_rows(t, slice(40, None), 1e3), q, w), "from line 41 on time advances by 1000 steps"),
    "no numbers": (lambda t, q, w: (t, q, set_rows(w, 30, np.nan)), "line 31: values that are no finite numbers"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_rows_are_named_and_left_out(fault, tmp_path):
    change, words = FAULTS[fault]
    path = written(tmp_path / "run.csv", *spoilt(change))
    answer = own_code.identify_files([path], INERTIA * SIZE, dt=0.002 if "times" in fault else None)
    assert [found for found in answer.faults if words in found] and len(answer.faults) == 1, answer.faults
    assert answer.identified and answer.methods == ("richardson",)


@pytest.mark.parametrize("kind", ["numbers of rows", "milliseconds", "one time", "the same"])
def test_times_are_those_of_the_step_that_is_given(kind, tmp_path):
    t, q, omega, run = rows_of("richardson", count=20)
    times = {"numbers of rows": np.arange(len(t)), "milliseconds": t * 1e3, "one time": 0 * t + 5, "the same": t}[kind]
    answer = own_code.identify_files(written(tmp_path / "run.csv", times, q, omega), INERTIA * SIZE, dt=run.dt)
    assert answer.identified and answer.methods == ("richardson",) and answer.round_off == 2.0**-52
    assert not answer.faults and not any("not equal" in limit for limit in answer.limits)


def test_a_step_that_contradicts_the_times_is_refused(tmp_path):
    t, q, omega, run = rows_of("richardson", count=20)
    path = written(tmp_path / "run.csv", t, q, omega)
    with pytest.raises(
        own_code.IdentifyError, match=r"run.csv: from row to row its times advance by 0.002, which is not a step"
    ):
        own_code.identify_files([path], INERTIA * SIZE, dt=run.dt * 1.5)


def test_paths_that_are_none_are_named():
    with pytest.raises(ValueError, match=r"file nowhere\.csv does not exist"):
        own_code.identify_files("nowhere.csv")
    for paths in ([], None, 3):
        with pytest.raises(own_code.IdentifyError, match="paths must be the path of a file"):
            own_code.identify_files(paths)
    with pytest.raises(ValueError, match="t must be the times of the rows, or a step, got None"):
        polhode.identify(None, np.ones((20, 4)), np.ones((20, 3)), inertia=INERTIA)


def test_constant_momentum_of_few_digits_is_not_few_printed(tmp_path):
    _, q, _, _ = rows_of("richardson", count=20)
    path = tmp_path / "run.txt"
    path.write_text("\n".join(" ".join(map(repr, [*map(float, row), 120000.0, -0.25, 0.5])) for row in q))
    assert run_files.read_run(path).spin_unit == 0 and run_files.read_run(path).q_unit == 0


@pytest.mark.thorough
def test_a_lost_line_shows_without_times(tmp_path):
    _, q, omega, _ = rows_of("richardson")
    path = tmp_path / "run.txt"
    np.savetxt(path, np.delete(np.column_stack([q, omega]), 30, axis=0), fmt="%.17g")
    answer = own_code.identify_files([path], INERTIA * SIZE, dt=0.002)
    assert answer.faults == ("1 row(s) lost between line 30 and line 31, by the angle turned",) and answer.identified


def test_rows_of_every_tenth_step(tmp_path):
    t, q, omega, _ = rows_of("richardson", angle=0.02, count=300)
    answer = polhode.identify(t[::10], q[::10], omega[::10], inertia=INERTIA * SIZE, every=10)
    assert answer.methods == ("richardson",) and answer.angle == pytest.approx(0.02, rel=0.3)


# files


def test_files_of_all_kinds_are_one_run(tmp_path):
    """Names of columns in any order, NPZ, a dump of LAMMPS, a compressed log as YADE writes it."""
    import bz2

    t, q, omega, _ = rows_of("richardson", count=20)
    moments = "6e-10 1e-9 1.4e-9"
    momentum = turned(q, omega * INERTIA * SIZE)
    rows = np.column_stack([t, omega[:, [2, 0, 1]], q[:, [1, 2, 3, 0]]])
    lines = [f"# inertia = {moments}", "time;wz;wx;wy;qx;qy;qz;qw", *(";".join(f"{x:.17g}" for x in row) for row in rows)]
    (tmp_path / "named.csv").write_text("\n".join(lines))
    np.savez(tmp_path / "run.npz", t=t, q=np.roll(q, -1, axis=1), L=momentum, inertia=INERTIA * SIZE)
    dump = []
    for n, (a, b) in enumerate(zip(q, momentum, strict=True)):
        dump += [
            "ITEM: TIMESTEP",
            str(n),
            "ITEM: NUMBER OF ATOMS",
            "2",
            "ITEM: ATOMS id quatw quati quatj quatk angmomx angmomy angmomz",
        ]
        dump += [f"7 {' '.join(f'{x:.17g}' for x in (*a, *b))}", "3 1 0 0 0 1 0 0"]
    (tmp_path / "run.dump").write_text("\n".join(dump))
    log = [f"# inertia=\t{moments}", "# Lx\t\tLy\t\tLz\t\tqw\t\tqx\t\tqy\t\tqz\t\tt"]
    log += ["\t".join(map(repr, map(float, (*b, *a, x)))) for a, b, x in zip(q, momentum, t, strict=True)]
    (tmp_path / "log.txt.bz2").write_bytes(bz2.compress("\n".join(log).encode()))
    answers = [
        own_code.identify_files([tmp_path / "named.csv"]),
        own_code.identify_files([tmp_path / "run.npz"]),
        own_code.identify_files([tmp_path / "run.dump"], INERTIA * SIZE, dt=0.002, body=7),
        own_code.identify_files([tmp_path / "log.txt.bz2"]),
    ]
    assert {answer.methods for answer in answers} == {("richardson",)} and {answer.dt for answer in answers} == {0.002}
    with pytest.raises(run_files.RunFileError, match="several bodies"):
        own_code.identify_files([tmp_path / "run.dump"], INERTIA * SIZE, dt=0.002)


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("", [], "has no rows of numbers"),
        ("a,b,c\n1,2,3\n", [], "line 1: the columns a, b, c are not understood"),
        ("t,qw,qx,wx,wy,wz\n1,2,3,4,5,6\n", [], "needed are four of a quaternion"),
        (None, [], "does not exist"),
        ("ROWS", [], "inertia is missing"),
        ("ROWS", ["--inertia", "1", "2", "3", "--torque", "lab", "1"], "torque must be free"),
        ("NO TIMES", ["--inertia", "1", "2", "3"], "give the step as dt"),
        ("AT REST", ["--inertia", "1", "2", "3"], "the orientation is the same in all rows"),
        ("ROWS", ["--inertia", "1", "2", "3", "--omega", "3"], "--omega belongs to --recipe"),
        ("ROWS", ["--recipe"], "reads no files"),
    ],
)
def test_what_is_no_run_is_a_sentence(text, options, words, tmp_path, capsys):
    path = tmp_path / "run.csv"
    if text is not None:
        row = {"ROWS": "{n},1,{n},0,0,1,2,3", "NO TIMES": "1,{n},0,0,1,2,3", "AT REST": "{n},1,0,0,0,1,2,3"}
        path.write_text("\n".join(row[text].format(n=n / 10) for n in range(30)) if text in row else text)
    assert main(["identify", *([str(path)]), *options]) == 2
    assert words in capsys.readouterr().err


def test_rows_that_no_convention_explains_are_refused():
    t, q, omega, _ = rows_of("richardson", count=30)
    with pytest.raises(own_code.IdentifyError, match="no convention explains"):
        polhode.identify(t, q, -omega[:, ::-1] * 7, inertia=INERTIA)


# recipes, and programs of one's own

#: How the program of a language is compiled and run.
BUILT = {
    "c++": (["g++", "-O2", "-Wall", "-Wextra", "-Werror", "spin.cpp", "-o", "spin"], ["./spin"]),
    "fortran": (["gfortran", "-O2", "-std=f2008", "-Wall", "spin.f90", "-o", "spin"], ["./spin"]),
    "python": (None, ["python3", "spin.py"]),
}
#: Another step for these programs, by hand: an explicit kick, then the exact rotation with the new angular velocity.
LEAPFROG = {
    "c++": """
void step(double q[4], double w[3], const double m[3], double dt) {
  const double old[3] = {w[0], w[1], w[2]};
  double length = 0;
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    w[i] += dt * (m[i] - old[j] * I[k] * old[k] + old[k] * I[j] * old[j]) / I[i];
  }
  for (int i = 0; i < 3; i++) length += w[i] * w[i];
  length = std::sqrt(length);
  const double c = std::cos(length * dt / 2), s = std::sin(length * dt / 2) / length;
  const double p[4] = {q[0], q[1], q[2], q[3]}, u[3] = {s * w[0], s * w[1], s * w[2]};
  q[0] = p[0] * c - p[1] * u[0] - p[2] * u[1] - p[3] * u[2];
  q[1] = p[0] * u[0] + p[1] * c + p[2] * u[2] - p[3] * u[1];
  q[2] = p[0] * u[1] + p[2] * c + p[3] * u[0] - p[1] * u[2];
  q[3] = p[0] * u[2] + p[3] * c + p[1] * u[1] - p[2] * u[0];
}
""",
    "fortran": """
  subroutine step(q, w, m, dt)
    real(d), intent(inout) :: q(4), w(3)
    real(d), intent(in) :: m(3), dt
    real(d) :: length, c, u(3)
    w = w + dt*(m - cross(w, inertia*w))/inertia
    length = norm2(w)
    c = cos(length*dt/2)
    u = sin(length*dt/2)/length*w
    q = [q(1)*c - dot_product(q(2:4), u), q(1)*u + c*q(2:4) + cross(q(2:4), u)]
  end subroutine
""",
}


def built(language, code, folder):
    """The runs of a program."""
    compile_command, start = BUILT[language]
    (folder / recipe.LANGUAGES[language]).write_text(code)
    if not shutil.which((compile_command or start)[0]):
        pytest.skip(f"{(compile_command or start)[0]} is missing; on Debian: apt-get install g++ gfortran")
    for command in filter(None, (compile_command, start)):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return sorted(folder.glob("run*.csv"))


@pytest.mark.thorough
@pytest.mark.parametrize("language", BUILT)
def test_the_program_of_a_recipe_is_identified_at_the_first_try(language, tmp_path):
    """In units of a code for grains; the step in the program is direct Euler."""
    made = recipe.recipe(dt=1e-6, inertia=INERTIA * SIZE)
    paths = built(language, made.program(language), tmp_path)
    answer = own_code.identify_files(paths)
    assert (
        len(paths) == 4 and answer.methods == ("euler",) and answer.deviation < 10 and not answer.limits and not answer.faults
    )
    assert answer.dt == 1e-6 and answer.speed == pytest.approx(2e5, rel=0.3) and answer.order == pytest.approx(1, abs=0.4)


@pytest.mark.thorough
@pytest.mark.parametrize("language", LEAPFROG)
def test_a_step_pasted_into_the_program_is_identified(language, tmp_path):
    """At 100 rad/s."""
    code = recipe.recipe(omega=100, dt=1e-6).program(language)
    begin, end = {"c++": ("void step(", "\n}\n"), "fortran": ("  subroutine step(", "  end subroutine\n")}[language]
    before, _, rest = code.partition(begin)
    code = before + LEAPFROG[language].strip("\n") + "\n" + rest.partition(end)[2]
    answer = own_code.identify_files(built(language, code, tmp_path))
    assert (
        set(answer.methods) == {"scalar_factor", "explicit_exp_new"}
        and answer.identified
        and answer.speed == pytest.approx(100, rel=0.5)
        and answer.dt == 0.002
    )


def test_a_recipe_is_scaled_and_says_what_it_changed(capsys):
    both = recipe.recipe(omega=100, dt=1e-6)
    assert (both.omega, both.dt) == (100, 0.002) and "1e-06 s turns the body by 0.0001 rad" in both.remark
    assert recipe.recipe(dt=1e-6).omega == pytest.approx(2e5) and not recipe.recipe(dt=1e-6).remark
    assert recipe.recipe(omega=10, is_single=True).dt == pytest.approx(0.06)
    for run in both.runs:
        assert np.linalg.norm(run.q0) == pytest.approx(1, abs=1e-15) and np.linalg.norm(run.omega0) == pytest.approx(100)
    assert main(["identify", "--recipe", "--json"]) == 0
    assert [run["torque"] for run in json.loads(capsys.readouterr().out)["runs"]][2] == "lab 0.04 -0.02 0.03"
    assert main(["identify", "--recipe", "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[3].startswith("3,lab,0.04,-0.02,0.03,0.6,1,1.4")
    assert main(["identify", "--recipe", "--omega", "100", "--language", "lammps"]) == 0
    assert "fix move all nve/asphere" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("algorithm", "names"),
    [
        ("RotAlgorithm.delValle2023", "wx wy wz"),
        ("RotAlgorithm.Omelyan1998", "wx wy wz"),
        ("RotAlgorithm.Fincham1992", "Lx Ly Lz"),
        (None, "Lx Ly Lz"),
    ],
)
def test_the_recipe_for_yade_writes_what_its_release_carries(algorithm, names, monkeypatch):
    """The program runs with stand-ins for YADE, whose bodies keep what they are set; without a choice there is no attribute."""
    made = recipe.recipe(omega=100)
    rows, body = [], SimpleNamespace(id=0, state=SimpleNamespace())
    plot = SimpleNamespace(data={}, addData=lambda **row: rows.append(row), saveDataTxt=lambda name, headers: None)
    bodies = type("Bodies", (list,), {"append": lambda self, one_body: 0})([body])
    scene = SimpleNamespace(bodies=bodies, forces=SimpleNamespace(setPermT=lambda number, torque: None))
    scene.reset = scene.step = lambda: None
    turn = type("Quaternion", (tuple,), {"__mul__": lambda self, vector: vector})
    monkeypatch.setitem(sys.modules, "yade", SimpleNamespace(plot=plot))
    stand_ins = {
        "O": scene,
        "Body": lambda: body,
        "Vector3": lambda *vector: vector,
        "Quaternion": lambda w, x, y, z: turn((x, y, z, w)),
        "NewtonIntegrator": lambda **given: SimpleNamespace(**({"rotAlgorithm": algorithm} if algorithm else {})),
    }
    exec(made.program("yade"), dict.fromkeys(("Sphere", "FrictMat", "ForceResetter"), lambda **given: None) | stand_ins)
    run = made.runs[0]
    carried = run.omega0 if names.startswith("w") else np.multiply(INERTIA, run.omega0)
    assert [rows[0][name] for name in ("qw", "qx", "qy", "qz", *names.split())] == pytest.approx([*run.q0, *carried], rel=1e-12)
    assert len(rows) == sum(len(run.samples) for run in made.runs if run.load in ("free", "lab"))


def test_the_command_answers_and_has_a_status(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(own_code, "SPIN_STEPS", 500)
    t, q, omega, _ = rows_of("richardson", count=30)
    path = written(tmp_path / "run.csv", t, q, omega, head="# inertia: 6e-10 1e-9 1.4e-9")
    assert main(["identify", str(path)]) == 0 and "Identified: Richardson (LAMMPS)" in capsys.readouterr().out
    assert main(["identify", str(path), "--inertia", "1e-9", "2e-9", "3e-9", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["identified"] is False


@pytest.mark.thorough
def test_the_order_is_measured_from_two_steps():
    runs = []
    for angle, count in ((0.1, 60), (0.05, 120)):
        run = replace(recipe.recipe(omega=SPEED).runs[0], dt=angle / SPEED, samples=tuple(range(count + 1)))
        spun = meaning.states_of("omelyan1998", run)
        runs.append(own_code.own_run(run_files.of_arrays(run.dt, spun.q, spun.omega), INERTIA))
    assert own_code.identify_runs(runs).order == pytest.approx(2, abs=0.1)


def piece_of(key, dt, count, start=(0.48, 0.36, 0.8)):
    """A run of a free body with its piece, as they are compared."""
    run = replace(cases.long_run(count), dt=dt, omega0=start, samples=tuple(range(count + 1)))
    spun = meaning.states_of(key, run)
    own = own_code.own_run(run_files.of_arrays(dt, spun.q, spun.omega), INERTIA)
    return own, own_code._whole(own, Convention(), [])[0]


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["mean_of_two_components", "euler", "richardson", "rk4"])
def test_the_order_is_measured_before_runs_go_far_off(key):
    for dt in (0.2, 0.1):
        runs, pieces = zip(*(piece_of(key, step, round(10 / step)) for step in (dt, dt / 2)), strict=True)
        order = own_code._order(runs, own_code._Reading(Convention(), pieces=[[piece] for piece in pieces]))
        assert order == pytest.approx(candidate(key).order_q, abs=0.3)


def test_no_advice_contradicts_a_measured_order():
    spin = meaning.LongSpin(0.0, 0.0, 0.0, "tumbles", "beside the middle axis")
    fields = {"spin": spin, "spin_at_step": meaning.LongSpin(), "angle": 0.2}
    answer = SimpleNamespace(methods=("theta_1_exp",), is_settled=False, order=2.07, **fields)
    assert own_code.Answer.advice.func(answer) == ()
    answer.order = 1.2
    assert "First order" in own_code.Answer.advice.func(answer)[0]
    answer.order, answer.spin_at_step = 2.07, replace(spin, energy=-0.3)
    (said,) = own_code.Answer.advice.func(answer)
    assert said.startswith("Order 2.1 at these steps, and with the step of these rows, 0.2 rad, a free spin loses 30.0% of its")


@pytest.mark.parametrize("key", ["ab2_components", "ab2_exchanged", "ab3_barker", "ab4_buss", "mean_of_two_buss", "ab2_exp"])
def test_adams_pairs_have_the_order_that_they_declare(key):
    """Errors at two steps against SciPy's DOP853."""

    def rate(t, y):
        q, w = y[:4], y[4:]
        turning = np.array([-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))]) / 2
        return np.concatenate([turning, -np.cross(w, INERTIA * w) / INERTIA])

    start = np.concatenate([cases.Q0, cases.GENERAL])
    exact = solve_ivp(rate, (0, 3), start, "DOP853", rtol=1e-12, atol=1e-13).y[:4, -1]
    errors = []
    for dt in (0.05, 0.025):
        run = replace(cases.long_run(1), dt=dt, omega0=cases.GENERAL, samples=(round(3 / dt),))
        errors.append(float(cases.angle(meaning.states_of(key, run).q[-1], exact)))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(candidate(key).order_q, abs=0.35)


def test_a_drift_to_the_middle_axis_is_seen():
    """Jolt's step takes every body to the energy L^2/(2 I2); beside the middle axis, nothing moves."""
    spin = meaning.long_spin("rescaled_momentum", 30_000)
    w = np.array(cases.GENERAL)
    ratio = ((INERTIA * w) ** 2).sum() / (INERTIA[1] * (INERTIA * w * w).sum())
    assert spin.energy == pytest.approx(ratio - 1, rel=1e-3) and spin.end == "middle moment" and "between" in spin.start
    assert "middle moment" in measured_advice(1, spin.end, "yes", (spin.energy, spin.momentum), spin.turned)


def test_the_momentum_of_a_free_run_is_a_vector_in_the_lab():
    """Without the gyroscopic term its length stays, while it turns about omega."""
    _, piece = piece_of("no_gyroscopic_exp_new", 0.2, 60)
    energy, length, vector = own_code._conserved([piece])
    lab = turned(piece.spun.q, piece.spun.omega * INERTIA)
    assert max(energy, length) < 1e-14
    assert vector == pytest.approx(np.linalg.norm(lab - lab[0], axis=1).max() / np.linalg.norm(lab[0]), rel=1e-9)
    assert vector > 0.5
    assert "turns in the lab" in measured_advice(1, "middle moment", "no", (0, 0), 0.1)


@pytest.mark.thorough
def test_a_class_of_opposite_methods_is_no_identification():
    """A spin about an axis with the tangent step, which many methods make there and nowhere else."""
    q = [np.array([1.0, 0.0, 0.0, 0.0])]
    for _ in range(20):
        new = np.array([q[-1][0] - 0.1 * q[-1][1], q[-1][1] + 0.1 * q[-1][0], 0, 0])
        q.append(new / np.linalg.norm(new))
    answer = polhode.identify(0.2, q, np.tile([1.0, 0, 0], (21, 1)), inertia=(0.02, 0.5, 0.5))
    assert not answer.identified and len(answer.methods) > 10 and not answer.spin.end and not answer.advice
    assert any("gyroscopic term is not seen" in limit for limit in answer.limits)


def test_a_run_that_diverges_at_once_is_refused_as_such():
    run = replace(cases.long_run(1), dt=1.2, omega0=cases.GENERAL, samples=tuple(range(31)))
    spun = meaning.states_of("explicit_exp_new", run)
    with np.errstate(all="ignore"), pytest.raises(own_code.IdentifyError, match=r"row 1\d .*diverges .*smaller dt"):
        own_code.identify_runs([own_code.own_run(run_files.of_arrays(1.2, spun.q, spun.omega), INERTIA)])


@pytest.mark.parametrize("unit, seconds", [("hours", 3600), ("days", 86400), ("ms", 1e-3)])
def test_a_unit_of_time_without_a_name_is_found(unit, seconds):
    run = replace(cases.long_run(1), dt=0.2, omega0=cases.GENERAL, samples=tuple(range(31)))
    spun = meaning.states_of("rk4", run)
    rows = run_files.of_arrays(0.2 / seconds, spun.q, spun.omega)
    (best,) = {choice.convention.time for choice in own_code._conventions(own_code.own_run(rows, INERTIA), 0)[:1]}
    assert best == unit


def test_units_in_names_are_answered_or_contradicted():
    rows = SimpleNamespace(rate_unit="deg/s", time_unit="ms", scalar="")
    said = own_code._convention_words(Convention(), rows)
    assert "deg/s" in said and said.endswith("time in ms") and not own_code._contradicted_units(rows, Convention())
    (limit,) = own_code._contradicted_units(SimpleNamespace(rate_unit="rad/s", time_unit=""), Convention(angle="degrees"))
    assert "names of the columns say rad/s" in limit and "read as degrees" in limit


def test_steps_of_times_are_the_shortest_numbers():
    """Sums of floats, few digits, single precision, a step that is one over a whole number."""
    q, omega = np.zeros((101, 4)), np.zeros((101, 3))
    for dt in (1e-6, 1 / 60, 0.0123456789):
        for t in (dt * np.arange(101), np.cumsum(np.full(101, dt)), 7 + dt * np.arange(101)):
            assert own_code.spacing(run_files.of_arrays(t, q, omega)) == pytest.approx(
                dt, rel=1e-15 if dt != 0.0123456789 else 1e-12
            )
    rows = run_files.of_arrays(np.cumsum(np.full(101, 1e-6, np.float32)).astype(float), q, omega)
    assert own_code.spacing(rows) == 1e-6


def test_a_further_run_is_none_where_methods_are_one_step():
    assert "the same step" in meaning.telling_run(["euler", "euler"])
    assert math.isnan(own_code._order([], own_code._Reading(own_code.Convention())))
    assert Path(recipe.FOLDER).is_dir()


# an adapter of one's own

ADAPTER = """
import numpy as np

import beside


class Adapter:
    def version(self):
        return open("version.txt").read()

    def run(self, option, case, dt, samples):
        if case.load != "free" or samples[-1] > 5000:
            raise ValueError("short runs of free bodies only")
        inertia, q, w = np.array(case.inertia), np.array(case.q0), np.array(case.omega0)
        rows = [(q, w)]
        for n in range(samples[-1]):
            q, w = beside.step(q, w, inertia, dt)
            rows.append((q, w))
        return tuple(np.array([rows[n][k] for n in samples]) for k in (0, 1))
"""
BESIDE = """
import numpy as np


def step(q, w, inertia, dt):
    w = w - dt * np.cross(w, inertia * w) / inertia
    q = q + dt / 2 * np.array([-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))])
    return q / np.linalg.norm(q), w
"""


@pytest.mark.thorough
def test_an_outside_adapter_needs_nothing_but_its_file(tmp_path, capsys, monkeypatch):
    """It finds modules beside itself, and files from where the command is given; it may not have the name of an engine."""
    (tmp_path / "adapters").mkdir()
    (tmp_path / "adapters" / "mine.py").write_text(ADAPTER)
    (tmp_path / "adapters" / "beside.py").write_text(BESIDE)
    (tmp_path / "version.txt").write_text("7.1")
    monkeypatch.chdir(tmp_path)
    assert main(["atlas", "adapters/mine.py"]) == 0
    table = capsys.readouterr().out
    assert [
        line for line in table.splitlines() if line.split()[:4] == ["mine", "usual", "7.1", "euler"]
    ] and "not written" in table
    assert not (tmp_path / "results").exists()
    assert main(["atlas", "adapters/mine.py", "--list"]) == 0 and "your own" in capsys.readouterr().out
    (tmp_path / "adapters" / "mine.yaml").write_text("label: Mine\npython: missing/python\noptions: {usual: {chosen_by: it}}\n")
    assert main(["atlas", "adapters/mine.py"]) == 2 and "missing/python cannot import numpy:" in capsys.readouterr().err
    (tmp_path / "lammps.py").write_text(ADAPTER)
    assert main(["atlas", "lammps.py"]) == 2 and "choose another name" in capsys.readouterr().err
    assert main(["atlas", "nowhere.py"]) == 2 and "nowhere.py does not exist" in capsys.readouterr().err
