"""Advice for contacts with friction and damping: from made-up impacts and a made-up bed, and from the released ones."""

import json
import re
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from data_files import invented
from scipy.integrate import solve_ivp
from scipy.stats import ttest_1samp

import polhode
from polhode.advice import AdviceError, files, from_friction
from polhode.fits import grain_changes, impact_errors
from polhode.fits.impact_errors import CURED, LIKE_CODES
from polhode.interface.netcdf import read_dataset
from polhode.interface.storage import write_dataset, write_groups
from polhode.manybody import restitution as dampings
from polhode_study.chapters.grains.frames import chosen, frame_of
from polhode_study.cli.release import CHECKS, released_check

HOME = Path(__file__).parents[1]
DIVISIONS = (10, 100, 1000)
TIME = 1e-4


def impacts(count=100, hard=50):
    """Errors of the spin of (5 dt/T)^2 with the cures and 5 dt/T without; 100 times those in hard ones, of little friction."""
    step = 5 / np.array(DIVISIONS)
    friction = np.repeat((0.1, 0.8), (hard, count - hard))
    spin = np.where(friction < 0.5, 100.0, 1.0)[:, None, None] * np.array([step, step**2])
    return invented(
        "checks/random_impacts.nc",
        {"draw": np.arange(count), "bookkeeping": [LIKE_CODES, CURED], "division": list(DIVISIONS)},
        {"law": "my_law", "friction_range": (0.05, 1.0), "restitution_range": (0.3, 1.0), "fine": 10240, "phases": 8},
        error_spin=spin,
        error_velocity=spin / 2,
        friction=friction,
        restitution=np.linspace(0.5, 0.51, count),
    )


def methods():
    """Two methods alike, one that is not."""
    keys = ["spiral_leapfrog", "no_squish", "spiral_synchronous"]
    error = np.ones((2, 1, 3, 2)) * np.array([1, 1.01, 30])[:, None]
    axes = {"case": ["a", "b"], "stage": [CURED], "integrator": keys, "division": [20, 40]}
    return invented("checks/impacts.nc", axes, error_spin=error, label=["SPIRAL", "NO_SQUISH", "SPIRAL, synchronous"])


def bed(height=(1.04, 1.004, 1.0), sliding=(0.5, 0.45, 0.4), noise=1e-6):
    """Two methods at three steps from six states, whose scatter is the same at all steps but for the noise; another law."""
    state = np.linspace(-0.01, 0.01, 6) + noise * np.array([[1, -1, 1, 1, -1, 1], [0, 2, 0, -1, 0, 0], [0] * 6])
    shape = np.ones((4, 3, 6))
    shape[2] = 7.0
    shape[3] = [[np.nan], [1.02], [np.nan]]
    values = {"height": height, "contacts": (4.0,) * 3, "normal": (0.3,) * 3, "tangential": (0.2,) * 3, "sliding": sliding}
    return invented(
        "checks/bed.nc",
        {"variant": ["spiral_leapfrog", "no_squish", "other", "as_in_LAMMPS"], "division": [5, 20, 80], "seed": np.arange(6)},
        {"clumps": 64, "friction": 0.5, "restitution": 0.6, "speed": 1.0},
        **{name: shape * (np.array(of_step)[:, None] + state) for name, of_step in values.items()},
        law=["my_law", "my_law", "other", "my_law"],
        compared=["method", "method", "law", "law"],
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
    said = " ".join(answer.why().split())
    assert "method dt (s) cost SPIRAL (spiral_leapfrog)" in said
    assert (
        "the corrections allow steps 10 times as long" in said
        and "Single impacts with friction 0.9 and restitution 0.5," in said
    )
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


def test_a_bed_takes_the_longest_step_that_changes_nothing(run):
    loose, strict = ask(run, 0.05, purpose="bulk"), ask(run, 0.02, purpose="bulk")
    assert (loose.dt, strict.dt) == pytest.approx((TIME / 5, TIME / 20)) and loose.kind == "bulk"
    assert "no step that was run is shown to keep the shares" in strict.remarks[0]
    assert "take T/20, which keeps the shares" in ask(run, 0.06, purpose="bulk").remarks[0]
    # Means of 1.04 and 1.004 where that of the finest step is 1; LAMMPS has 1.02 times the second.
    update = r"2\.41 % \[.*\] with the contact update of LAMMPS at T/20"
    measured = rf"height 4\.00 % \[4\.00, 4\.00\] at T/5, 0\.40 % \[.*\] at T/20 and {update}"
    assert re.search(f"bed, change from T/80 with all corrections .*: {measured}", " ".join(loose.evidence))
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
    assert "which comes with polhode" in answers[1e-2].why()
    assert files.is_released(released / "checks" / "impacts.nc") and not files.is_released(Path("results/checks/bed.nc"))


def test_what_is_released_answers_as_the_run_does(run, tmp_path):
    copy = tmp_path / "copy"
    for name in CHECKS:
        write_dataset(released_check(run, name, "abc"), copy / "checks" / f"{name}.nc")
    ours, theirs = (ask(folder, 0.05, friction=0.2, restitution=0.5) for folder in (run, copy))
    assert theirs.dt == pytest.approx(ours.dt, rel=1e-5) and theirs.remarks == ours.remarks
    with pytest.raises(FileNotFoundError, match=r"impacts\.nc is missing"):
        released_check(tmp_path / "nothing", "impacts")


def test_grains_with_more_initial_states_answer(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    released = tmp_path / files.RELEASED / from_friction.RELEASED
    many = xr.concat([bed(), bed().assign_coords(seed=np.arange(6, 12))], "seed", data_vars="minimal")
    write_groups({"/": xr.Dataset(), "/bed": many, "/column": many.rename(height="runout")}, released)
    (tmp_path / "results").symlink_to(run)
    answer = polhode.recommend(contact_time=TIME, error=0.05, purpose="bulk")
    assert "12 initial states" in answer.why() and "which comes with polhode" in answer.why()
    assert "runout of column T/5" in answer.interval_means
    assert "6 initial states" in ask(run, 0.05, purpose="bulk").why()
    monkeypatch.setattr(files, "released", lambda name: None)
    assert "6 initial states" in polhode.recommend(contact_time=TIME, error=0.05, purpose="bulk").why()
    (run / "checks" / "bed.nc").unlink()
    with pytest.raises(AdviceError, match=r"there is no results/checks/bed\.nc and no data/released/grains\.nc; make one"):
        polhode.recommend(contact_time=TIME, error=0.05, purpose="bulk")


def test_friction_zero_is_the_question_without_friction():
    damped = ask(HOME / files.RELEASED, 1e-2, restitution=0.7)
    smooth = ask(HOME / files.RELEASED, 1e-2, friction=0, restitution=0.7)
    assert smooth.why() == damped.why() and smooth.kind == "impacts"
    elastic = ask(HOME / files.RELEASED, 1e-2)
    for question in ({"friction": 0.0}, {"friction": 0, "restitution": 1.0}, {"restitution": 1}):
        assert ask(HOME / files.RELEASED, 1e-2, **question).why() == elastic.why() and elastic.kind == "contacts"


@pytest.mark.parametrize("scene", from_friction.SCENES)
def test_bulk_states_the_measured_changes_of_the_report(scene):
    """The means of the report, and for each by itself the interval of scipy, also with the contact update of LAMMPS."""
    data = read_dataset(HOME / files.RELEASED / from_friction.RELEASED, scene)
    rows = frame_of(data)
    methods = data["variant"].values[(data["compared"] == "method").values]
    for name in (name for name in from_friction.READ_OFF if name in data):
        finest = data[name].sel(variant=methods).isel(division=-1).mean("variant")
        steps, updates = (grain_changes.changes(data, name, code) for code in (None, "LAMMPS"))
        for division in (10, 20):
            (row,) = chosen(rows[rows["quantity"] == name], "step", "all", division).itertuples()
            assert steps[division].value == pytest.approx(row.change)
            of_step = data[name].sel(variant=methods, division=division).mean("variant") - finest
            interval = ttest_1samp(of_step.values, 0).confidence_interval(0.95)
            assert (steps[division].low, steps[division].high) == pytest.approx(tuple(interval))
        of_code = data[name].sel(variant="as_in_LAMMPS", division=20) - finest
        interval = ttest_1samp(of_code.values, 0).confidence_interval(0.95)
        assert list(updates) == [20] and updates[20].value == pytest.approx(float(of_code.mean()))
        assert (updates[20].low, updates[20].high) == pytest.approx(tuple(interval))


@pytest.mark.parametrize(("code", "words"), [(None, "at T/10"), ("lammps", "with the contact update of LAMMPS at T/20")])
def test_the_intervals_of_why_lie_below_the_error(code, words):
    """The claim is about the numbers that stand behind it: each end of each interval, relative to the value."""
    said = " ".join(polhode.recommend(contact_time=TIME, error=5e-2, purpose="bulk", code=code).why().split())
    number = r"(-?[\d.]+)"
    shares = re.findall(rf"{number} % \[{number}, {number}\] {words}[,;. ]", said)
    angles = re.findall(rf"of {number} degrees (?:(?!;).)*?{number} degrees \[{number}, {number}\] {words}[,;. ]", said)
    assert len(shares) == 7 and len(angles) == 2
    ends = [abs(float(x)) for _, *pair in shares for x in pair]
    ends += [100 * abs(float(x)) / float(value) for value, _, *pair in angles for x in pair]
    assert 4 < max(ends) < 5
    with_drum, without = (
        polhode.recommend(contact_time=TIME, error=(max(ends) + more) / 100, purpose="bulk", code=code)
        for more in (0.01, -0.01)
    )
    assert "drum changes" in with_drum.serves
    assert "drum" not in without.serves or without.dt < with_drum.dt


def test_a_code_never_has_a_longer_step_than_corrections():
    for error in (0.0228, *np.geomspace(0.02, 0.3, 14)):
        corrected = polhode.recommend(contact_time=TIME, error=error, purpose="bulk")
        try:
            of_code = polhode.recommend(contact_time=TIME, error=error, purpose="bulk", code="yade")
        except AdviceError as refused:
            assert "only below 0.024" in str(refused) and error < 0.024
            continue
        assert of_code.dt <= corrected.dt * (1 + 1e-12)
        for answer in (corrected, of_code):
            missing = [scene for scene in from_friction.SCENES if scene not in answer.serves]
            (note,) = [text for text in answer.notes if text.startswith("Left out")] or [""]
            assert re.findall(r"(\w+) \(only below", note) == missing


def test_a_code_is_refused_where_corrections_need_more(run, monkeypatch):
    """The bed is fine with T/20, but the column needs T/40 with all corrections, with which no code was run."""
    write_dataset(bed().rename(height="runout"), run / "checks" / "column.nc")
    corrected = {"runout": {20: 0.05, 40: 0.01}}

    def bounds(data, name, code=None):
        return {20: 0.01} if code else corrected.get(name, {20: 0.01, 40: 0.01})

    monkeypatch.setattr(from_friction, "_bounds", bounds)
    assert ask(run, 0.02, purpose="bulk").dt == pytest.approx(TIME / 40)
    with pytest.raises(AdviceError, match=r"0\.02 needs T/40 even with all corrections, and .* only T/20"):
        ask(run, 0.02, purpose="bulk", code="lammps")
    assert ask(run, 0.06, purpose="bulk", code="lammps").dt == pytest.approx(TIME / 20)


def test_bulk_names_the_drum_and_its_slope():
    answer = polhode.recommend(contact_time=TIME, error=5e-2, purpose="bulk")
    said = " ".join(answer.why().split())
    assert "read off bed, column and drum changes by less than 0.05" in said and "50 initial states of each" in said
    assert "of 39.6 degrees -0.28 degrees" in said and "-0.10 degrees [" in said
    assert "-0.07 degrees [-0.66, 0.52] with the contact update of LAMMPS at T/20" in said
    few = polhode.recommend(contact_time=TIME, error=0.025, purpose="bulk")
    assert "Not shown to change by less than 0.025, for want of initial states: dissipated power of drum" in few.why().replace(
        "\n", " "
    )
    with pytest.raises(
        AdviceError, match=r"states of bed, column and drum cannot show that a change is below 0\.015, only below"
    ):
        polhode.recommend(contact_time=TIME, error=0.015, purpose="bulk")


@pytest.mark.parametrize(
    ("code", "name", "line"),
    [("lammps", "LAMMPS", "`timestep {}` (s, `units si`)"), ("YADE", "YADE", "`O.dt = {}` (s)")],
)
def test_the_first_line_for_a_code_is_what_it_can_do(code, name, line):
    both = polhode.recommend(contact_time=TIME, error=1e-2, friction=0.5, restitution=0.4)
    answer = polhode.recommend(contact_time=TIME, error=1e-2, friction=0.5, restitution=0.4, code=code)
    assert str(answer).startswith(f"In {name} write {line.format('1.04e-06')}: T/96") and "start =" not in str(answer)
    assert answer.dt == both.alternatives[1].dt and "as they are take dt = T/96" in both.sentence
    assert any(f"{name} 20" in text and "two spheres" in text for text in answer.notes), "what the code itself is off"
    bulk = polhode.recommend(contact_time=TIME, error=5e-2, purpose="bulk", code=code)
    written = f"In {name} write {line.format('5e-06')}: T/20, T the contact time. Keep your contact law and integrator"
    assert bulk.sentence.startswith(written) and bulk.dt == TIME / 20
    assert bulk.asked["code"] == name
    with pytest.raises(AdviceError, match=r"^code must be LAMMPS or YADE, got 'MercuryDPM'"):
        polhode.recommend(contact_time=TIME, error=1e-2, code="MercuryDPM")


GRAINS = {"young": 5e7, "poisson": 0.3, "density": 2650, "radius": 2.5e-3, "speed": 1.0, "error": 1e-2}


def short(**more: Any) -> str:
    """The short answer to gravel at 1 m/s, which has at most 11 lines besides the one on ``--why``."""
    answer = str(polhode.recommend(**GRAINS, **more))
    assert answer.count("\n") < 12
    return " ".join(answer.split())


@pytest.mark.parametrize(("code", "number"), [("lammps", "1.9%"), ("yade", "1.8%")])
def test_the_short_answer_says_what_no_step_gives(code, number):
    said = short(friction=0.5, restitution=0.4, code=code)
    assert f"two spheres, hold ({number})" in said and "No step is short enough for all: of 6 impacts" in said
    assert "How bodies turn between contacts is not in this error" in said
    assert "No step is" not in short(friction=0.5, restitution=0.4)


def test_the_short_answer_has_the_step_of_two_grains_first():
    reduced = 5e7 / (1 - 0.3**2) / 2
    mass = 4 / 3 * np.pi * 2.5e-3**3 * 2650
    wall, pair = (2.87 * (m**2 / (r * reduced**2)) ** 0.2 / 96 for m, r in ((mass, 2.5e-3), (mass / 2, 1.25e-3)))
    said = short(friction=0.5, code="yade")
    step, alone = re.match(r"In YADE write `O.dt = (\S+)` .*\(on walls alone (\S+) s\)", said).groups()
    assert (float(step), float(alone)) == pytest.approx((pair, wall), rel=5e-3)
    on_steel = short(friction=0.5, code="yade", wall_young=np.inf)
    assert "T the contact time on the wall" in on_steel and "on walls alone" not in on_steel


def test_yade_is_asked_without_its_numerical_damping():
    for purpose, error in (("impacts", 1e-2), ("bulk", 5e-2)):
        said = str(polhode.recommend(contact_time=TIME, error=error, friction=0.5, purpose=purpose, code="yade"))
        assert "`NewtonIntegrator(damping=0)`" in said and "`exactAsphericalRot=True`" in said
    with pytest.raises(AdviceError, match=r"got 'LIGGGHTS'; its contact update was not run\. Ask for LAMMPS.* half the step"):
        polhode.recommend(contact_time=TIME, error=1e-2, friction=0.5, code="LIGGGHTS")
    with pytest.raises(AdviceError, match=r"got 'liggghts'; leave it out"):
        polhode.recommend(liquid="water64", code="liggghts")


def test_the_step_with_corrections_says_that_it_needs_them():
    """T/10 is for codes with the corrections; the codes themselves were run at T/20."""
    said, of_code = (
        " ".join(str(polhode.recommend(contact_time=TIME, error=5e-2, friction=0.5, purpose="bulk", code=code)).split())
        for code in (None, "yade")
    )
    steps = [float(re.search(r"T/(\d+)", text)[1]) for text in (said, of_code)]
    assert steps[0] < steps[1]
    assert "and with all corrections of the contact update. The step of LAMMPS or YADE as they are is" in said


def test_an_elastic_answer_names_no_step_twice():
    assert "90% of the states of the most demanding scene. All" in short()
    finer = " ".join(str(polhode.recommend(contact_time=TIME, error=1e-4)).split())
    first, second = re.search(r"dt = (T/\d+) .*demanding scene, (T/\d+) for 98%", finer).groups()
    assert first != second


def test_a_code_whose_update_was_not_run_has_no_step(run):
    data = bed()
    write_dataset(data.sel(variant=["spiral_leapfrog", "no_squish", "other"]), run / "checks" / "bed.nc")
    with pytest.raises(AdviceError, match=r"^error: the initial states of bed cannot show"):
        ask(run, 0.9, purpose="bulk", code="lammps")


def after_impact(alpha: float, pulls: bool) -> float:
    """The restitution of x'' = -x^1.5 - alpha x^0.25 x' by DOP853: to zero overlap, or until the force vanishes."""

    def force(x, v):
        x = max(x, 0.0)
        return -(x**1.5) - alpha * x**0.25 * v

    def ended(t, y):
        return y[0] if pulls else -force(*y) / max(y[0], 1e-12) ** 0.25

    ended.terminal, ended.direction = True, -1
    start = (1e-10, 1.0)  # beyond the touch, where the dashpot is of no account
    run = solve_ivp(lambda t, y: (y[1], force(*y)), (0, 50), start, "DOP853", rtol=1e-11, atol=1e-13, events=ended)
    return -run.y_events[0][0][1]


@pytest.mark.parametrize("restitution", [0.7, 0.4])
def test_restitution_of_lammps_and_limit_damping(restitution):
    alpha, write = dampings.tsuji_polynomial(restitution), dampings.lammps_damping(restitution)
    assert dampings.pulling_restitution(alpha) == pytest.approx(after_impact(alpha, pulls=True), abs=1e-5)
    assert dampings.tsuji_restitution(alpha) == pytest.approx(after_impact(alpha, pulls=False), abs=1e-5)
    assert after_impact(dampings.tsuji_polynomial(write), pulls=False) == pytest.approx(restitution, abs=1e-5)
    other = dampings.coefficient_damping(restitution)
    assert after_impact(other, pulls=True) == pytest.approx(restitution, abs=1e-5)


@pytest.mark.parametrize("restitution", [0.7, 0.4])
def test_yade_damps_clumps_with_the_mass_of_a_sphere(restitution):
    """A body of mass M on a spring k x^1.5 with the dashpot alpha sqrt(m k) x^0.25 of a sphere of mass m; M = 2.03 m."""
    ratio = 2.03
    of_sphere = dampings.tsuji_damping(restitution)
    obtained = dampings.yade_restitution(restitution, ratio)
    assert obtained > restitution + 0.05 and after_impact(of_sphere / np.sqrt(ratio), pulls=False) == pytest.approx(
        obtained, abs=1e-5
    )
    write = dampings.yade_en(restitution, ratio)
    written = dampings.tsuji_damping(write)
    assert after_impact(written / np.sqrt(ratio), pulls=False) == pytest.approx(restitution, abs=1e-5)
    if restitution == 0.4:
        page = " ".join((HOME / "docs/impacts.md").read_text(encoding="utf-8").split())
        assert f"with M = {ratio} m, 0.40 gives {obtained:.3f}, and {write:.3f} gives 0.40." in page


DIMER = "0 0 0 1.0\n1.5 0 0 1.0\n"
OF_CLUMP = {name: value for name, value in {"young": 5e7, "poisson": 0.3, "density": 2650, "speed": 1.0}.items()}


def test_an_answer_says_what_yade_gives_a_clump(tmp_path):
    (tmp_path / "dimer.txt").write_text(DIMER)
    question = OF_CLUMP | {"case": tmp_path / "dimer.txt", "scale": 2e-3, "friction": 0.5, "restitution": 0.4}
    for more in ({"error": 1e-2}, {"error": 5e-2, "purpose": "bulk"}):
        said = " ".join(str(polhode.recommend(**question | more, code="yade")).split())
        # Two unit spheres at a distance of 1.5, less the lens that both have (pi (4 + d) (2 - d)^2 / 12).
        ratio = 2 - np.pi * 5.5 * 0.5**2 / 12 / (4 / 3 * np.pi)
        gives, write = dampings.yade_restitution(0.4, ratio), dampings.yade_en(0.4, ratio)
        assert f"a clump of {ratio:.3g} times that mass has a restitution of {gives:.3f} for `en` 0.4" in said
        assert f"Write {write:.3f}, or give its spheres the mass of the clump" in said
        assert "YADE damps" not in str(polhode.recommend(**question | more, code="lammps"))
    assert "YADE gives spheres the restitution asked by `en`, and clumps a larger one" in short(
        friction=0.5, restitution=0.4, code="yade"
    )


@pytest.mark.parametrize("code", ["lammps", "yade", None])
@pytest.mark.parametrize("error", [1e-3, 2.34e-2])
def test_the_longest_answers_have_twelve_lines(code, error, tmp_path):
    """A clump with another restitution, a step that is extrapolated, and assemblies that are left out."""
    (tmp_path / "dimer.txt").write_text(DIMER)
    question = OF_CLUMP | {"case": tmp_path / "dimer.txt", "scale": 2e-3, "error": error, "code": code}
    for more in ({"friction": 0.5, "restitution": 0.4}, {"restitution": 1.0}):
        assert str(polhode.recommend(**question | more)).count("\n") < 12
    if error > 0.02:
        answer = polhode.recommend(**question, friction=0.5, restitution=0.4, purpose="bulk")
        assert str(answer).count("\n") < 12 and "Left out" in str(answer)


def test_bulk_says_that_other_contacts_were_not_run():
    """In the first lines, where friction or restitution are not those of the assemblies."""
    data = read_dataset(HOME / files.RELEASED / from_friction.RELEASED, "bed")
    mu, e = (float(data.attrs[name]) for name in ("friction", "restitution"))
    for code in (None, "lammps"):
        asked_for = {"contact_time": TIME, "error": 5e-2, "purpose": "bulk", "code": code}
        for other in ({"restitution": 0.4}, {"friction": 0.3, "restitution": e}):
            said = str(polhode.recommend(**asked_for, **other))
            assert f"These assemblies have friction {mu:g} and restitution {e:g}, whatever is asked for" in said
        assert "These assemblies have" not in str(polhode.recommend(**asked_for, friction=mu, restitution=e))


# ---- a code, and contacts without friction ----


@pytest.mark.parametrize("code", ["LAMMPS", "YADE"])
def test_a_code_alone_asks_the_elastic_question(code):
    elastic = polhode.recommend(contact_time=TIME, error=1e-4)
    answer = polhode.recommend(contact_time=TIME, error=1e-4, code=code)
    assert (answer.dt, answer.kind, answer.serves) == (elastic.dt, "contacts", elastic.serves)
    assert answer.asked["code"] == code and "code" not in elastic.asked
    said = " ".join(str(answer).split())
    assert said.startswith(f"In {code} write ") and "elastic bodies" in said and "single impacts" not in said
    for more in ({"friction": 0}, {"restitution": 1}):
        assert polhode.recommend(contact_time=TIME, error=1e-4, code=code, **more).why() == answer.why()
    # The rotation that the atlas found in it, on the scene on which it was run, at the finest step.
    codes = read_dataset(HOME / files.RELEASED / "contacts.nc")
    method = str(codes["method"].sel(code=code.lower()).item())
    chess = read_dataset(HOME / files.RELEASED / "many_body.nc", "chess")
    errors = chess["energy_error_mean"].sel(integrator=[method, "spiral_leapfrog"]).mean("seed").dropna("dt")
    theirs, ours = errors.isel(dt=int(errors["dt"].argmin("dt"))).values
    finest = float(chess.attrs["contact_time"]) / float(errors["dt"].min())
    assert f"clumps have {theirs / ours:.2g} times the energy error of SPIRAL (chess pieces, T/{finest:.0f}" in said
    assert ("their step is shorter" in said) == (theirs / ours > 2)


@pytest.mark.parametrize("more", [{"friction": 0.5}, {}])
def test_steps_beyond_the_runs_are_said_to_be_extrapolated(more):
    """Up to three times as fine as the finest step that was run; none that is finer."""
    answers = {}
    for error in np.geomspace(1e-8, 1e-2, 25):
        try:
            answers[error] = polhode.recommend(contact_time=TIME, error=error, code="lammps", **more)
        except AdviceError as refused:
            steps, finest = map(
                float, re.search(r"steps of T/([\d.e+]+), .* run, T/(\d+), and .* 3 times", str(refused)).groups()
            )
            assert steps > 3 * finest
    beyond = [TIME / answer.dt for answer in answers.values() if "(extrapolated: the finest" in str(answer)]
    within = [TIME / answer.dt for answer in answers.values() if "extrapolated: the finest" not in str(answer)]
    assert max(within) < finest + 1 and finest < min(beyond) and 1.5 * finest < max(beyond) <= 3 * finest


def test_an_answer_says_which_restitution_lammps_gives():
    question = {"contact_time": TIME, "error": 1e-2, "friction": 0.5, "restitution": 0.4}
    for more in ({}, {"code": "lammps"}):
        said = " ".join(polhode.recommend(**question | more).why().split())
        assert "`damping tsuji` and 0.4 gives a restitution of 0.3993, but with `limit_damping` 0.4715 (alpha 0.6272)" in said
        assert "to obtain 0.4 with it, write 0.3040 (alpha 0.7927)" in said and "docs/impacts.md" in said
    assert "limit_damping" not in polhode.recommend(**question, code="yade").why()
    assert "limit_damping" not in polhode.recommend(**question | {"restitution": 1.0}).why()
    assert np.isnan(dampings.lammps_damping(0.1)) and dampings.lammps_damping(1.0) == 1.0
    few = polhode.recommend(**question | {"restitution": 0.1, "purpose": "bulk", "error": 5e-2, "code": "lammps"})
    assert "no number gives 0.1 with it" in " ".join(few.why().split())
