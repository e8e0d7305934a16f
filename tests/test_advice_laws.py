"""Advice for random bodies: from made-up errors with known laws, whose steps are known in closed form."""

import re

import numpy as np
import pytest
from data_files import invented

import polhode
from polhode.advice import from_laws
from polhode.advice.errors import BeyondLaws
from polhode.advice.from_laws import from_laws as ask
from polhode.advice.prices import Prices
from polhode.fits import law_file
from polhode.interface.storage import write_dataset

STEPS = 2.0 ** -np.arange(12.0)
RADIANS = np.array([2.0, 4.0, 8.0, 16.0])
BODIES = 40
#: The coefficients of the bodies, in no order: error per radian = C h^2.
C = np.random.default_rng(5).permutation(np.geomspace(1e-3, 3e-2, BODIES))
ORDERED = np.sort(C)
ERROR, OMEGA = 1e-5, 7.0
ALL_CLASSES = ("lab", "friction_isotropic", "friction_anisotropic", "friction_smooth_coulomb")


def ensemble(methods, classes=("lab",), growth=1.0, bodies=None):
    """A dataset as ensembles.nc: ``methods`` has torques in a step, and C of each body, or that in each class."""
    at_16 = {
        key: np.broadcast_to(np.asarray(torques_and_errors[1], float), (len(classes), np.shape(torques_and_errors[1])[-1]))
        for key, torques_and_errors in methods.items()
    }
    h, r = STEPS[:, None], RADIANS[None, :]
    stacked = np.stack([c[..., None, None] * 16 * h**2 * (r / 16) ** growth for c in at_16.values()], axis=1)
    axes = {"torque_class": list(classes), "integrator": list(methods), "body": np.arange(stacked.shape[2]), "step": STEPS}
    return invented(
        "ensembles.nc",
        axes | {"radians": RADIANS},
        error_q=stacked,
        error_omega=0.1 * stacked,
        diverged=np.int8(0),
        label=[f"<{key}>" for key in methods],
        torques_per_step=[torques_and_errors[0] for torques_and_errors in methods.values()],
        variant=0,
        class_label=list(classes),
    )


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A function that writes errors as a run has them, where steps of all methods take the same time."""
    monkeypatch.chdir(tmp_path)

    def equal(price, results=None, anywhere=False):
        return Prices(dict.fromkeys(polhode.methods, 1e-8), price, "a made-up machine")

    monkeypatch.setattr(from_laws, "prices", equal)
    (tmp_path / "run").mkdir()

    def write(*arguments, **options):
        write_dataset(ensemble(*arguments, **options), tmp_path / "run" / "ensembles.nc")
        return tmp_path / "run"

    return write


def test_the_step_serves_36_of_40_bodies(run):
    answer = ask("lab", ERROR, OMEGA, results=run({"spiral_leapfrog": (1, C)}))
    assert 1 / (answer.dt * OMEGA) == pytest.approx(np.sqrt(ORDERED[35] / ERROR), rel=1e-3)
    low, high = (1 / (dt * OMEGA) for dt in answer.interval)
    assert low == pytest.approx(np.sqrt(ORDERED[39] / ERROR), rel=1e-3)
    assert high == pytest.approx(np.sqrt(ORDERED[0] / ERROR), rel=1e-3)
    worse = np.mean(2 * ORDERED[35] * (1 + 1e-9) < ORDERED)
    assert answer.serves.startswith(
        f"It is sufficient for 90% of 40 random bodies; for {worse:.0%} the error is more than twice"
    )
    assert "steps a radian at the initial angular velocity" in " ".join(answer.why().split())


def test_bodies_of_several_classes_count_together(run):
    """As in the tables of the article; the hardest class has a sentence of its own."""
    folder = run({"spiral_leapfrog": (1, np.stack([C, C, 4 * C, C]))}, ALL_CLASSES)
    single, all_three = (ask(torque, ERROR, OMEGA, results=folder) for torque in ("friction_isotropic", "friction"))
    together = np.sort(np.concatenate([C, 4 * C, C]))[107]
    assert 1 / (single.dt * OMEGA) == pytest.approx(np.sqrt(ORDERED[35] / ERROR), rel=1e-3)
    assert 1 / (all_three.dt * OMEGA) == pytest.approx(np.sqrt(together / ERROR), rel=1e-3)
    hardest = np.sqrt(4 * ORDERED[35] / ERROR)
    said = f"Under the hardest of these torques, friction_anisotropic, 90% of the bodies need {hardest:.3g} steps a radian"
    assert said in " ".join(all_three.remarks)
    assert "hardest" not in " ".join(single.remarks)


def test_a_rival_that_the_bodies_do_not_tell_apart_is_named(run):
    """The median ratio of times is 0.95; its interval, from the 14th to the 27th of 40, holds 1 or does not."""
    worse = np.full(BODIES, 0.95)
    worse[np.argsort(C)[:15]] = 1.1  # bodies that ask for few steps do not decide the step
    methods = {"spiral_leapfrog": (1, C), "verlet": (1, C / worse**2), "omelyan1998": (1, C / 0.95**2)}
    answer = ask("lab", ERROR, OMEGA, results=run(methods))
    assert answer.method == "spiral_leapfrog"
    remark = next(remark for remark in answer.remarks if remark.startswith("Not distinguished from it body by body"))
    assert remark.endswith(": <verlet>.")


def test_beyond_the_last_radians_nothing_is_extrapolated(run):
    folder = run({"spiral_leapfrog": (1, C)}, growth=2.0)
    short = ask("lab", 16 * ERROR, OMEGA, 16 / OMEGA, results=folder)
    assert 1 / (short.dt * OMEGA) == pytest.approx(np.sqrt(ORDERED[35] / ERROR), rel=1e-3)
    # Before, the errors at the checkpoint itself: after 8 rad a quarter of the error at 16 rad.
    assert ask("lab", 16 * ERROR, OMEGA, 8 / OMEGA, results=folder).dt / short.dt == pytest.approx(2.0, rel=1e-3)
    with pytest.raises(BeyondLaws, match="were run for 16 rad, not for 17"):
        ask("lab", 16 * ERROR, OMEGA, 17 / OMEGA, results=folder)


def test_the_released_laws_grow_with_time_as_the_errors_did():
    data = law_file.condensed(ensemble({"spiral_leapfrog": (1, C)}, growth=2.0))
    at = {r: law_file.steps_per_radian(data, [16 * ERROR], r)["steps"].values for r in (8.0, 16.0, 64.0)}
    np.testing.assert_allclose(at[64.0] / at[16.0], 4.0, rtol=0.03)  # a factor is stored to 2.3 %
    np.testing.assert_allclose(at[16.0], np.sqrt(C / ERROR)[None, None, :, None], rtol=0.05)
    np.testing.assert_array_equal(at[8.0], at[16.0])
    # The median growth counts: one body with another changes nothing.
    slow = np.full((BODIES, 1, 1), 2.0)
    slow[0] = 3.0
    mixed = ensemble({"spiral_leapfrog": (1, C)}, growth=slow)
    at = {r: law_file.steps_per_radian(law_file.condensed(mixed), [16 * ERROR], r)["steps"].values for r in (16.0, 64.0)}
    np.testing.assert_allclose(at[64.0] / at[16.0], 4.0, rtol=0.03)


def test_a_dear_torque_is_evaluated_less_often(run):
    folder = run({"spiral_leapfrog": (1, C), "rk4": (4, C / 9)})  # a third of the steps
    free, dear = (ask("lab", ERROR, OMEGA, None, price, one_torque=False, results=folder) for price in (0.0, 1000.0))
    assert (free.method, dear.method) == ("rk4", "spiral_leapfrog")
    assert ask("lab", ERROR, OMEGA, None, 0.0, results=folder).method == "spiral_leapfrog"
    assert "With one torque in a step: <spiral_leapfrog>" in " ".join(free.why().split())
    relative = {row.method: row.relative for row in free.alternatives}
    assert relative == pytest.approx({"rk4": 1.0, "spiral_leapfrog": 3.0}, rel=1e-3)
    relative = {row.method: row.relative for row in dear.alternatives}
    assert relative == pytest.approx({"spiral_leapfrog": 1.0, "rk4": 4001 / 1001 / 3}, rel=1e-3)


def test_the_file_with_more_bodies_answers_unless_a_run_is_named(run, tmp_path):
    """A run of 40 bodies, and released laws of 80 with four times the errors."""
    (tmp_path / "run").rename(tmp_path / "results")
    (tmp_path / "data/released").mkdir(parents=True)
    small, large = ensemble({"spiral_leapfrog": (1, C)}), ensemble({"spiral_leapfrog": (1, np.tile(4 * C, 2))})
    write_dataset(small, tmp_path / "results" / "ensembles.nc")
    write_dataset(law_file.packed(law_file.condensed(large)), tmp_path / "data/released/laws.nc")

    def asked(**more):
        answer = polhode.recommend(torque="lab", omega=OMEGA, error=ERROR, **more)
        return answer, " ".join(answer.why().split())

    answer, said = asked()
    assert "From data/released/laws.nc" in said and "80 bodies, against 40; `results` results asks that run" in said
    answer_of_run, said = asked(results="results")
    assert "From results/ensembles.nc." in said and answer_of_run.dt / answer.dt == pytest.approx(2.0, rel=0.05)
    write_dataset(large, tmp_path / "results" / "ensembles.nc")
    assert "From results/ensembles.nc. data/released/laws.nc has no more bodies: 80, against 80." in asked()[1]


def test_without_a_price_the_torque_is_what_costs():
    """As on page 1, where methods are compared by torques: one step with few of them is better than many short ones."""
    answer = polhode.recommend(torque="lab", omega=1.0, error=1e-4, laws=True)
    assert answer.method == "exact_rotor_corrected" and "100 steps of direct Euler" in " ".join(answer.why().split())


@pytest.mark.thorough
@pytest.mark.parametrize(("torque", "price"), [("lab", 1000.0), ("friction", 0.0)])
def test_where_magnus_adams_is_named_its_damping_is(torque, price):
    question = {"torque": torque, "omega": 1.0, "error": 1e-4, "torque_price": price, "laws": True}
    for one_torque in (True, False):
        said = polhode.recommend(**question, one_torque=one_torque).why()
        remark = re.search("Damps librations, not for long conservative runs: [^.]*Magnus-Adams 4", " ".join(said.split()))
        assert bool(remark) == ("Magnus-Adams 4" in " ".join(said.split()))
