"""Advice for contacts with friction and damping: from made-up impacts and a made-up bed, and from the released ones."""

import json
import re
from math import comb
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import polhode
from polhode.advice import AdviceError, files, from_friction
from polhode.cli.release import CHECKS, released_check
from polhode.fits import impact_errors
from polhode.fits.impact_errors import CURED, LIKE_CODES
from polhode.study.storage import write_dataset, write_groups

HOME = Path(__file__).parents[1]
DIVISIONS = (10, 100, 1000)
TIME = 1e-4


def impacts(count=100, hard=50):
    """Errors of the spin of (5 dt/T)^2 with the cures and 5 dt/T without; 100 times those in hard ones, of little friction."""
    step = 5 / np.array(DIVISIONS)
    friction = np.repeat((0.1, 0.8), (hard, count - hard))
    spin = np.where(friction < 0.5, 100.0, 1.0)[:, None, None] * np.array([step, step**2])
    return xr.Dataset(
        {
            "error_spin": (("draw", "bookkeeping", "division"), spin),
            "error_velocity": (("draw", "bookkeeping", "division"), spin / 2),
            "friction": ("draw", friction),
            "restitution": ("draw", np.linspace(0.5, 0.51, count)),
        },
        {"draw": np.arange(count), "bookkeeping": [LIKE_CODES, CURED], "division": list(DIVISIONS)},
        {"law": "my_law", "friction_range": (0.05, 1.0), "restitution_range": (0.3, 1.0), "fine": 10240, "phases": 8},
    )


def methods():
    """Two methods alike, one that is not."""
    keys = ["spiral_leapfrog", "no_squish", "spiral_synchronous"]
    error = np.ones((2, 1, 3, 2)) * np.array([1, 1.01, 30])[:, None]
    dims = ("case", "stage", "integrator", "division")
    return xr.Dataset(
        {"error_spin": (dims, error), "label": ("integrator", ["SPIRAL", "NO_SQUISH", "SPIRAL, synchronous"])},
        {"case": ["a", "b"], "stage": [CURED], "integrator": keys, "division": [20, 40]},
    )


def bed(height=(1.04, 1.004, 1.0), sliding=(0.5, 0.45, 0.4), noise=1e-6):
    """Two methods at three steps from six states, whose scatter is the same at all steps but for the noise; another law."""
    state = np.linspace(-0.01, 0.01, 6) + noise * np.array([[1, -1, 1, 1, -1, 1], [0, 2, 0, -1, 0, 0], [0] * 6])
    dims, shape = ("variant", "division", "seed"), np.ones((4, 3, 6))
    shape[2] = 7.0
    shape[3] = [[np.nan], [1.02], [np.nan]]
    values = {"height": height, "contacts": (4.0,) * 3, "normal": (0.3,) * 3, "tangential": (0.2,) * 3, "sliding": sliding}
    laws, compared = ["my_law"] * 2 + ["other", "my_law"], ["method"] * 2 + ["law"] * 2
    return xr.Dataset(
        {name: (dims, shape * (np.array(of_step)[:, None] + state)) for name, of_step in values.items()},
        {
            "variant": ["spiral_leapfrog", "no_squish", "other", "as_in_LAMMPS"],
            "law": ("variant", laws),
            "compared": ("variant", compared),
            "division": [5, 20, 80],
            "seed": np.arange(6),
        },
        {"clumps": 64, "friction": 0.5, "restitution": 0.6, "speed": 1.0},
    )


@pytest.fixture
def run(tmp_path):
    for name, data in {"random_impacts": impacts(), "impacts": methods(), "bed": bed()}.items():
        (tmp_path / "checks").mkdir(exist_ok=True)
        write_dataset(data, tmp_path / "checks" / f"{name}.nc")
    return tmp_path


def ask(run, error, **question):
    return polhode.recommend(contact_time=TIME, error=error, results=run, **question)


def test_an_impact_takes_the_step_of_nineteen_in_twenty(run):
    write_dataset(impacts(hard=1), run / "checks" / "random_impacts.nc")
    answer = ask(run, 1e-2, friction=0.9, restitution=0.5)
    assert answer.dt == pytest.approx(TIME / 50) and answer.kind == "impacts" and answer.method == "spiral_leapfrog"
    assert [row.dt for row in answer.alternatives] == pytest.approx([TIME / 50, TIME / 500])
    assert answer.interval == pytest.approx((TIME / 500, TIME / 50)) and "T/500 for all of the impacts" in answer.interval_means
    assert "at least 95% of random impacts meet the error (95% confidence)" in answer.serves
    assert json.loads(answer.to_json())["question"]["friction"] == 0.9
    # Friction and restitution do not choose among the impacts.
    for question in ({"friction": 0.1, "restitution": 0.5, "law": "my_law"}, {"friction": 0.9}, {"purpose": "impacts"}):
        assert ask(run, 1e-2, **question).dt == answer.dt
    said = " ".join(str(answer).split())
    assert "the corrections allow steps 10 times as long" in said and "Single impacts with friction 0.9 and restitution 0.5," in said
    assert "Equally good within 2%, on 2 impacts solved exactly: NO_SQUISH." in said
    assert "SPIRAL, synchronous (30 times)" in said and "slip = trapezoidal" in said
    write_dataset(impacts(hard=2), run / "checks" / "random_impacts.nc")
    assert ask(run, 1e-2, purpose="impacts").dt == pytest.approx(TIME / 500)


def test_steps_of_single_impacts_are_those_of_their_errors():
    codes, cured, saved = impact_errors.steps_in_a_contact(impacts(), 1e-2)
    assert codes == pytest.approx((50000, 25250, 500, 50000, 50000)) and cured == pytest.approx((500, 275, 50, 500, 500))
    assert (saved.low, saved.high) == pytest.approx((10, 100))


@pytest.mark.parametrize(("count", "place"), [(20, 1), (59, 1), (92, 1), (93, 2), (118, 2), (124, 3)])
def test_the_step_to_take_serves_so_many_with_so_much_confidence(count, place):
    """By hand: that 95 % of all need more than the k that ask most of n has the probability of k - 1 or fewer among 5 %."""
    steps = np.random.default_rng(1).permutation(count)
    assert impact_errors._steps(steps).take == count - place
    doubts = [sum(comb(count, i) * 0.05**i * 0.95 ** (count - i) for i in range(k)) for k in (place, place + 1)]
    assert doubts[1] > 0.05 and (doubts[0] <= 0.05 or count < 59)


def test_a_bed_takes_the_longest_step_that_is_shown_to_change_nothing(run):
    loose, strict = ask(run, 0.05, purpose="bulk"), ask(run, 0.02, purpose="bulk")
    assert (loose.dt, strict.dt) == pytest.approx((TIME / 5, TIME / 20)) and loose.kind == "bulk"
    assert "no step that was run is shown to keep the shares" in strict.remarks[0]
    assert "take T/20, which keeps the shares" in ask(run, 0.06, purpose="bulk").remarks[0]
    # Means of 1.04 and 1.004 where that of the finest step is 1; LAMMPS has 1.02 times the second.
    measured = r"height 4\.00 % \[4\.00, 4\.00\] at T/5, 0\.40 % \[.*\] at T/20 and 2\.01 % \[.*\] by the contact update of LAMMPS at T/20"
    assert re.search(f"bed, change from T/80 .*: {measured}", " ".join(loose.evidence))
    assert "Standard deviations over initial states: bed height 0.7%" in " ".join(loose.remarks)
    assert "from what asks most to what asks least: height of bed T/5, contacts of bed T/5" in loose.interval_means
    write_dataset(bed(noise=0.02), run / "checks" / "bed.nc")
    with pytest.raises(AdviceError, match=r"^error: the initial states of bed cannot show that a change is below 0\.02"):
        ask(run, 0.02, purpose="bulk")
    lost = bed()
    lost["height"][0, 0, 3] = np.nan
    write_dataset(lost, run / "checks" / "bed.nc")
    assert ask(run, 0.05, purpose="bulk").dt == pytest.approx(TIME / 20), "a step with which a run was lost does not serve"


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (
            {"friction": 2.0, "restitution": 0.5},
            r"^friction must lie between 0\.05 and 1, where impacts were run, or be 0 for none, got 2\.0$",
        ),
        ({"friction": 0.5, "restitution": 0.1}, r"restitution must lie between 0\.3 and 1"),
        (
            {"friction": 0.5, "restitution": 0.5, "law": "hertz"},
            r"law: .*random_impacts\.nc were run at several steps with my_law only",
        ),
        ({"purpose": "bulk", "law": "other"}, "law: grains were run at several steps with my_law only, not with other"),
        ({"purpose": "film"}, "purpose must be impacts or bulk"),
        ({"purpose": "bulk", "contacts": 3}, "contacts belongs to contacts without friction"),
        ({"friction": "rough", "restitution": 0.5}, "friction must be a number"),
        ({"purpose": 3}, "purpose must be a word"),
    ],
)
def test_what_was_not_run_is_refused(run, question, message):
    with pytest.raises(AdviceError, match=message):
        ask(run, 1e-2, **question)


def test_a_question_about_bodies_has_no_friction_of_contacts():
    with pytest.raises(AdviceError, match="restitution belongs to a question about contacts"):
        polhode.recommend(torque="friction", omega=10, error=1e-3, restitution=0.5)


def test_an_error_far_below_what_was_run_is_refused(run):
    with pytest.raises(AdviceError, match=r"1e-08 would need steps of T/500000, far below the finest that was run, T/1000"):
        ask(run, 1e-8, friction=0.9, restitution=0.5)
    write_dataset(xr.Dataset(), run / "checks" / "random_impacts.nc")
    with pytest.raises(AdviceError, match="is empty: the run has not the method spiral_leapfrog"):
        ask(run, 1e-2, friction=0.9, restitution=0.5)


def test_the_released_impacts_answer():
    released = HOME / files.RELEASED
    answers = {error: ask(released, error, friction=0.5, restitution=0.7) for error in (1e-1, 1e-2, 1e-3)}
    steps = [TIME / answer.dt for answer in answers.values()]
    assert steps == sorted(steps) and steps[0] >= 5 and steps[-1] < 300
    assert all(answer.alternatives[0].dt > answer.alternatives[1].dt for answer in list(answers.values())[1:])
    assert "which comes with polhode" in str(answers[1e-2])
    assert files.is_released(released / "checks" / "impacts.nc") and not files.is_released(Path("results/checks/bed.nc"))


def test_what_is_released_answers_as_the_run_does(run, tmp_path):
    copy = tmp_path / "copy"
    for name in CHECKS:
        write_dataset(released_check(run, name, "abc"), copy / "checks" / f"{name}.nc")
    ours, theirs = (ask(folder, 0.05, friction=0.2, restitution=0.5) for folder in (run, copy))
    assert theirs.dt == pytest.approx(ours.dt, rel=1e-5) and theirs.remarks == ours.remarks
    with pytest.raises(FileNotFoundError, match=r"impacts\.nc is missing"):
        released_check(tmp_path / "nothing", "impacts")


def test_grains_with_more_initial_states_answer_unless_a_run_is_named(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    released = tmp_path / files.RELEASED / from_friction.RELEASED
    many = xr.concat([bed(), bed().assign_coords(seed=np.arange(6, 12))], "seed", data_vars="minimal")
    write_groups({"/": xr.Dataset(), "/bed": many, "/column": many.rename(height="runout")}, released)
    (tmp_path / "results").symlink_to(run)
    answer = polhode.recommend(contact_time=TIME, error=0.05, purpose="bulk")
    assert "12 initial states" in str(answer) and "which comes with polhode" in str(answer)
    assert "runout of column T/5" in answer.interval_means
    assert "6 initial states" in str(ask(run, 0.05, purpose="bulk"))
    monkeypatch.setattr(files, "released", lambda name: None)
    assert "6 initial states" in str(polhode.recommend(contact_time=TIME, error=0.05, purpose="bulk"))
    (run / "checks" / "bed.nc").unlink()
    with pytest.raises(AdviceError, match=r"there is no results/checks/bed\.nc and no data/released/grains\.nc; make one"):
        polhode.recommend(contact_time=TIME, error=0.05, purpose="bulk")
