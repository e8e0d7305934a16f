"""Advice from random satellites: what decides, in words; intervals; and no question about wheels that ends with nothing."""

import json
import re
import sys
from pathlib import Path
from textwrap import wrap

import numpy as np
import pytest
from scipy.stats import binomtest

import polhode
from polhode import Body, cli
from polhode.advice import AdviceError, files, from_runs, from_satellites
from polhode.ensembles.satellites import KINDS, satellite
from polhode.fits import satellite_steps

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import satellites as benchmark

CUBESAT = {"inertia": [0.007, 0.035, 0.036], "wheels": [0, 0.005, 0], "omega": 0.0011}
NUTATION = 0.005 / np.sqrt(0.007 * 0.036)


def ask(error=1e-6, **changes):
    return polhode.recommend(spacecraft=True, **{**CUBESAT, "error": error, **changes})


def test_nutation_decides_for_the_cubesat():
    answer = ask(one_torque=False, torque_price=1e6)
    rows = {row.method: row for row in answer.alternatives}
    steps = float(rows["rk4"].mark.split()[0])
    assert rows["rk4"].dt == pytest.approx(1 / (steps * NUTATION), rel=0.01)
    assert 5 < steps < 27
    assert (
        "The faster of spin 0.0011 rad/s and nutation (h/sqrt(Ix Iz) for a wheel h along y) 0.315 rad/s decides: the nutation"
        in answer.sentence
    )
    assert f"steps of at most {answer.dt:.4g} s" in answer.sentence


def test_the_example_is_the_cubesat():
    assert polhode.recommend(spacecraft=True, error=1e-6).dt == ask().dt
    assert polhode.recommend(torque="wheels", error=1e-6).dt == ask().dt


def test_the_page_says_what_exact_nutation_gains():
    """Medians of the torques for a radian, where the wheels have more than three times the momentum of the spin."""
    home = Path(__file__).parents[1]
    data = json.loads((home / "data/released/satellites.json").read_text())
    rows = [row for row in data["satellites"].values() if row["ratio"] > 3]

    def torques(method, kind, error):
        at, per_step = data["errors"].index(error), polhode.methods[method].torques_per_step
        return f"{np.median([per_step * row['steps'][method][at] for row in rows if row['kind'] == kind]):.2g}"

    coarse, fine, rk4_coarse, rk4_fine = (
        torques(method, "gravity", error) for method in ("exact_rotor", "rk4") for error in (1e-4, 1e-6)
    )
    held, rk4_held = (torques(method, "controller", 1e-6) for method in ("exact_rotor", "rk4"))
    assert (
        f"({sum(row['kind'] == 'gravity' for row in rows)} in `data/released/satellites.json`), half need at most {coarse} "
        f"torques for a radian of nutation at an error of 1e-4 a radian, and {fine} at 1e-6, where Runge-Kutta 4 needs "
        f"{rk4_coarse} and {rk4_fine}. With a controller and an error of 1e-6 it needs more ({held}, and Runge-Kutta 4 needs "
        f"{rk4_held})"
    ) in " ".join((home / "docs/recommend-motion.md").read_text(encoding="utf-8").split())


def test_a_run_gives_the_times_of_steps_and_no_satellites(tmp_path):
    assert ask(results=tmp_path).dt == ask().dt
    with pytest.raises(ValueError, match=r"results: .*nowhere is not a folder"):
        ask(results=tmp_path / "nowhere")


def test_spin_or_the_controller_decides_where_it_is_faster():
    fast = ask(omega=3.0)
    assert "decides: the spin" in fast.sentence
    assert fast.dt == pytest.approx(ask().dt * NUTATION / 3.0, rel=1e-9)
    held = ask(1e-4, every=0.01)
    assert "Steps end at the samples of the controller, every 0.01 s: one step a sample." in held.sentence
    assert "decides" not in held.sentence
    several = ask(1e-7, every=0.25)
    (number, length) = re.search(r"every 0.25 s: (\d+) steps of (\S+) s a sample", several.sentence).groups()
    assert float(length) == pytest.approx(0.25 / int(number), rel=1e-3) == several.dt
    assert "radian" not in held.sentence
    assert held.dt == 0.01


@pytest.mark.parametrize("error", [1e-4, 1e-6, 1e-7])
def test_the_step_is_an_interval_of_samples_over_a_whole_number(error):
    answer = ask(error, every=0.25, everything=True)
    for row in answer.alternatives:
        parts = round(0.25 / row.dt)
        assert row.dt == pytest.approx(0.25 / parts, rel=1e-12)
        assert row.mark == ("1 step a sample" if parts == 1 else f"{1 / row.dt / NUTATION:.3g} steps a radian")
    assert f"steps of at most {answer.dt:.4g} s" in answer.sentence
    assert answer.interval[0] == answer.dt


def test_restarts_at_samples_count():
    """By hand: 4 torques a step of RK4; of Magnus-Adams 4 one a step, one at the start and 3 more in 3 steps, each sample."""
    question = {"error": 1.7e-4, "time": 5400, "every": 0.25}
    answer = ask(**question)
    torques = {}
    for row in answer.alternatives:
        steps = round(0.25 / row.dt)
        torques[row.method] = {"rk4": 4 * steps, "magnus_adams4": steps + 10}.get(row.method, steps + 1)
    assert torques["rk4"] < torques["magnus_adams4"]
    assert answer.method == min(torques, key=torques.get) == "rk4"
    assert f"It takes {torques['rk4'] / 0.25:g} torques a second of the motion" in answer.costs
    assert f"(magnus_adams4) takes {torques['magnus_adams4'] / 0.25:g}" in answer.costs
    alone = ask(**question, one_torque=True)
    assert alone.method == "magnus_adams4" and "rk4" not in alone.costs
    assert "The times of the table are of one second of the motion." in answer.why()


def test_restarts_at_firings_of_a_file_count():
    """A thruster that fires for 20 ms every 2 s: restarts at each edge make RK4 the cheaper one, which it is not without."""
    given = {**CUBESAT, "wheels": [{"axis": [0, 1, 0], "momentum": 0.005}], "omega": [0, -0.0011, 0], "time": 600}
    given |= {"signals": {"jet": {"firings": [[t, 0.02] for t in range(1, 600, 2)]}}, "torque": ["1e-3 * jet", 0, 0]}
    fired = polhode.recommend(given, spacecraft=True, error=1e-3)
    assert fired.method == "rk4"
    assert ask(1e-3, time=600).method == "magnus_adams4"
    dear = polhode.recommend({**given, "torque_price": 1e5, "error": 1e-3}, spacecraft=True)
    assert dear.asked["torque_price"] == 1e5, "the price is the file's"
    assert "and at most 10 more at each edge of a thruster" in ask(1e-3, time=600).costs


def test_a_file_says_the_rates():
    given = {**CUBESAT, "wheels": [{"axis": [0, 2, 0], "momentum": 0.005}], "omega": [0, -0.0011, 0], "torque": [0, 0, 0]}
    given |= {"controller": {"every": 0.25, "torque": ["-1e-3*wx", 0, 0]}, "time": 600}
    answer, same = polhode.recommend(given, spacecraft=True, error=1e-3), ask(1e-3, every=0.25, time=600)
    assert answer.sentence == same.sentence


def test_an_error_after_a_time_adds_up_over_the_radians():
    steps = [
        float(ask(error, **time).alternatives[0].mark.split()[0])
        for error, time in ((1e-4, {"time": 1e3}), (1e-4 / 1e3 / NUTATION, {}))
    ]
    assert steps[0] == pytest.approx(steps[1], rel=1e-3)


def test_steps_between_measured_errors_follow_a_power():
    steps = np.array([[[2.0, 6.0, 24.0]], [[1.0, np.inf, np.inf]], [[4.0, 4.0, 8.0]]])
    every, errors = np.array([np.inf, np.inf, 0.25]), np.array([1e-2, 1e-4, 1e-6])
    data = satellite_steps.SatelliteSteps(["rk4"], errors, steps, every, every, 16.0, 1.0)
    for error, expected in ((1e-4, [6.0, np.inf, 0.0]), (1e-5, [12.0, np.inf, np.sqrt(32)]), (1e-8, [96.0, np.inf, 16.0])):
        assert data.needed(error)[:, 0] == pytest.approx(expected)


def test_the_step_serves_nine_in_ten_of_the_released_satellites():
    """Counted one by one: those that need as many steps a radian or fewer, or whose controller samples as often."""
    rows = list(json.loads(files.released("satellites.json").read_text(encoding="utf-8"))["satellites"].values())
    answer = ask(1e-4, torque_price=1e6)

    def share(method, dt):
        steps = 1 / (dt * NUTATION)
        return np.mean([row["steps"][method][1] <= max(steps, 1.05 / (row["every"] or np.inf)) for row in rows])

    assert len(answer.alternatives) >= 3
    for row in answer.alternatives:
        assert share(row.method, row.dt * (1 + 1e-6)) < 0.9 <= share(row.method, row.dt * (1 - 1e-6))
    half = answer.interval[1]
    assert share(answer.method, half * (1 + 1e-6)) < 0.5 <= share(answer.method, half * (1 - 1e-6))


@pytest.mark.parametrize("number", [20, 64, 128])
def test_the_interval_of_the_share_is_that_of_scipy(number):
    enough = int(np.ceil(0.9 * number))
    expected = binomtest(enough, number).proportion_ci(0.95, "exact")
    assert from_satellites._interval(number) == pytest.approx((expected.low, expected.high))


def test_the_released_satellites_are_those_that_are_drawn():
    data = json.loads(files.released("satellites.json").read_text(encoding="utf-8"))
    assert len(data["satellites"]) >= 64
    for i in (0, 1, 2, 7):
        each, row = satellite(i), data["satellites"][str(i)]
        assert (row["ratio"], row["rate"], row["kind"]) == (each.ratio, each.rate, KINDS[i % 3])
        assert each.rate == max(1.0, each.problem.body.nutation)


def test_the_rate_of_nutation_is_that_of_the_linear_equations():
    body = Body((1.0, 1.3, 1.6), wheels=[((1, 2, 2), 1.5), ((0, -1, 0), 0.4)])
    x, y, z = body.wheel_momentum
    matrix = np.diag(1 / np.array(body.inertia)) @ np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    assert body.nutation == pytest.approx(abs(np.linalg.eigvals(matrix).imag).max())


def test_a_question_about_wheels_does_not_end_with_nothing():
    """There is no time for a run, nor for the exact motion."""
    given = {
        "inertia": [0.007, 0.035, 0.036],
        "wheels": [{"axis": [0, 1, 0], "momentum": 0.005}],
        "time": 5600,
        "error": 1.75e-4,
    }
    answer = polhode.recommend({**given, "omega": [0, -0.0011, 0], "torque": ["1e-3 * pulse(t, 1000, 0.02)", 0, 0]}, limit=0.01)
    assert not answer.confirmed
    assert answer.sentence.startswith("NOT CONFIRMED: Take ")
    assert "it rests on no run of this problem" in answer.serves
    assert "time limit" in answer.serves
    assert 0 < answer.dt < 5


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"strength": 1.0}, "strength does not belong to a question about a spacecraft"),
        ({"inertia": None}, "inertia is missing"),
        ({"wheels": [1, 2]}, "wheels must be 3"),
        ({"error": "0.01 grad"}, "error must be a number"),
        ({"every": -1.0}, "every must be positive"),
        ({"omega": 0.0, "wheels": None}, "omega must not be zero"),
        ({"case": {"inertia": [1, 2, 2.5], "omega": [1, 0, 0], "torque": [0, 0, 0], "time": 1}}, "is part of the case"),
    ],
)
def test_what_is_no_spacecraft_is_named(changes, words):
    with pytest.raises(AdviceError, match=words):
        ask(**changes)


def test_the_command_answers(capsys):
    options = "--spacecraft --inertia 0.007 0.035 0.036 --wheels 0 0.005 0 --omega 0.0011 --every 0.25 --error 1e-6 --json"
    assert cli.main(["recommend", *options.split()]) == 0
    assert json.loads(capsys.readouterr().out)["dt"] == ask(every=0.25).dt


@pytest.mark.parametrize("text", ["0.01 deg", "0.01deg", "1e-2 degrees", ".01°"])
def test_an_error_in_degrees_is_in_radians(text):
    assert ask(text).error == pytest.approx(0.01 * np.pi / 180, rel=1e-15)


def test_an_error_in_degrees_of_a_file_and_an_option(capsys):
    case = {**CUBESAT, "omega": [0, -0.0011, 0], "torque": [0, 0, 0], "time": 600, "error": "0.01 deg"}
    case["wheels"] = [{"axis": [0, 1, 0], "momentum": 0.005}]
    assert polhode.recommend(case, spacecraft=True).error == np.radians(0.01)
    assert polhode.recommend(case | {"error": "1e-4 rad"}, spacecraft=True).error == 1e-4
    assert cli.main(["recommend", "--spacecraft", "--error", "0.01deg", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["error"] == np.radians(0.01)


@pytest.mark.parametrize(("name", "value", "key"), [("wheels", [0, 0.005, 0], "wheels:"), ("every", 0.25, "controller:")])
def test_what_only_a_spacecraft_takes_is_named(name, value, key):
    given = {"inertia": [1, 2, 2.5], "omega": 0.002, "torque": "free", "time": 10, "error": 1e-3, name: value}
    with pytest.raises(AdviceError, match=rf"{name} belongs to a question about a spacecraft \(`spacecraft`; .* `{key}`"):
        polhode.recommend(**given)


def test_methods_without_time_are_in_the_first_paragraph(monkeypatch):
    fewest = from_runs.Search.fewest

    def late(search, method, *limits):
        is_exact = method.key == "exact_rotor"
        return fewest(search, method, *limits) if is_exact else from_runs.FewestSteps(0, np.inf, why="no time")

    monkeypatch.setattr(from_runs.Search, "fewest", late)
    answer = polhode.recommend(inertia=(1, 2, 2.5), omega=(1, 0.1, 0), torque="free", time=1, error=1e-3)
    lines = str(answer).splitlines()
    assert len(lines) <= 12
    (said,) = re.findall(
        r"Of the other methods (\d+) were not finished within the time limit; (.*?): allow more", " ".join(lines)
    )
    assert int(said[0]) > 5
    assert said[1].startswith("they may be faster, among them velocity Verlet")
    assert re.search(r"NO_SQUISH, Moser-Veselov and \d more$", said[1])
    assert "exact rotor" not in said[1]
    (names,) = (text for text in answer.remarks if text.startswith("Not finished within the time limit: velocity Verlet"))
    assert "Moser-Veselov (SHAKE, RATTLE, SETTLE); " in names
    number = int(re.search(r" and (\d+) more\.$", names)[1])
    assert names.count(";") + 1 + number == int(said[0])
    assert len(wrap(names, 100)) <= 2


@pytest.mark.thorough
@pytest.mark.parametrize("i", [0, 1, 3])
def test_the_answer_to_a_file_of_a_satellite_meets_its_error(i, tmp_path):
    """Firings, a controller, and gravity alone: a file as an engineer writes it, against DOP853 and equations of its own."""
    result = benchmark.check(i, tmp_path)
    assert result.largest < benchmark.ERROR, result.answer
    assert result.answer.confirmed and result.answer.asked["orientation_alone"]
