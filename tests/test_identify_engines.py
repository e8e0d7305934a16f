"""`polhode identify` for engines as they are: their limits, damping, steps and moments, with rows by NumPy and SciPy."""

import json
import math
import re
import shutil
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import polhode
from polhode.cli import main
from polhode.methods import METHODS
from polhode_engines import cases, identify, meaning, own_code, recipe, run_files
from polhode_engines.advice import measured_advice
from polhode_engines.candidates import candidate, candidates, damped
from polhode_engines.conventions import Convention, units_of
from polhode_engines.protocol import FOLDER

INERTIA = np.array(cases.INERTIA)
Q, W = np.array([0.7, 0.1, 0.5, 0.5]), np.array([0.48, 0.36, 0.8])


def product(p, r):
    return np.array([p[0] * r[0] - p[1:] @ r[1:], *(p[0] * r[1:] + r[0] * p[1:] + np.cross(p[1:], r[1:]))])


def exponential(q, turn):
    angle = np.linalg.norm(turn)
    return product(q, np.array([math.cos(angle / 2), *(math.sin(angle / 2) / angle * turn)]))


def linear(q, turn):
    p = q + product(q, np.array([0.0, *turn])) / 2
    return p / np.linalg.norm(p)


def turned(q, v):
    return v + 2 * np.cross(q[1:], np.cross(q[1:], v) + q[0] * v)


def back(q, v):
    return turned(q * (1, -1, -1, -1), v)


def rate(w, torque=0.0, inertia=INERTIA):
    return (torque - np.cross(w, inertia * w)) / inertia


def catto(q, w, h, inertia=INERTIA):
    """Newton's first step of the implicit Euler method in the body, by its Jacobian, then an exact rotation."""
    cross = lambda v: np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])  # noqa: E731
    jacobian = np.diag(inertia) + h * (cross(w) @ np.diag(inertia) - cross(inertia * w))
    w = w - np.linalg.solve(jacobian, h * np.cross(w, inertia * w))
    return exponential(q, h * w), w


def lab_spin(q, w, h, turn=exponential, torque=0.0, inertia=INERTIA, factor=1.0):
    """No gyroscopic term: omega is constant in the lab but for a torque there, and a factor after the rotation."""
    w = w + h * back(q, torque + np.zeros(3)) / inertia
    p = turn(q, h * w)
    return p, factor * back(p, turned(q, w))


def rows_of(step, count=60, q=Q, w=W, dtype=float):
    """q and omega of a step, each row that from the row before, as it is rounded."""
    rows = [(q.astype(dtype).astype(float), np.array(w, dtype).astype(float))]
    for _ in range(count):
        a, b = step(*rows[-1])
        rows.append((a.astype(dtype).astype(float), b.astype(dtype).astype(float)))
    return np.array([a for a, _ in rows]), np.array([b for _, b in rows])


def answer_to(rows, dt, **others):
    return polhode.identify(dt, *rows, inertia=INERTIA, **others)


def text_of(answer):
    return " ".join(answer.why().split())


#: A torque in the lab.
TORQUE = np.array([0.01, -0.005, 0.0075])


@pytest.fixture(autouse=True)
def short_spins(monkeypatch):
    monkeypatch.setattr(own_code, "SPIN_STEPS", 300)


# candidates


def stopped_midpoint(q, w, h=0.2):
    """The implicit midpoint rule for omega, iterated until it changes by less than 3e-12 rad/s; the exponential of the mean."""
    middle = w
    while True:
        new = w + h / 2 * rate(middle)
        change, middle = np.abs(new - middle).max(), new
        if change < 3e-12:
            return exponential(q, h * middle), 2 * middle - w


def test_a_step_not_to_rounding_counts_if_others_are_far():
    """Genesis' Newton iteration stops at 1e-13: 1,200 round-offs in double precision."""
    eps = 2.0**-52
    assert own_code._bound([1200.0, 1300.0, 1.6e11], eps) > 1300
    assert own_code._bound([1200.0, 5e5], eps) == own_code._bound([1200.0, 1.6e11], 2.0**-23) == identify.WITHIN
    assert own_code._bound([3.0, 1e12], eps) == identify.WITHIN and own_code._bound([], eps) == identify.WITHIN
    run = replace(recipe.recipe(omega=1.0).runs[0], samples=tuple(range(13)))
    spun = identify.Spun(*rows_of(stopped_midpoint, 12))
    assert 100 < identify.deviation(candidate("implicit_midpoint_exp"), "", run, spun, eps, range(12)) < 1e4


@pytest.mark.thorough
def test_an_iteration_that_is_stopped_early_is_still_its_method():
    answer = answer_to(rows_of(stopped_midpoint), 0.2)
    assert answer.identified and answer.methods == ("implicit_midpoint_exp",)
    assert 100 < answer.deviation < 1e4 and answer.runner_up_deviation > 1e9
    assert "All others are far away" in text_of(answer)


def test_rk_for_omega_with_linear_quaternion_is_a_candidate():
    """GeoTaichi 0.2.6: weights 1, 1 and 4 over 6, the third stage from a quarter of both."""

    def step(q, w, h=0.2):
        a = h * rate(w)
        b = h * rate(w + a)
        c = h * rate(w + (a + b) / 4)
        w = w + (a + b + 4 * c) / 6
        return linear(q, h * w), w

    answer = answer_to(rows_of(step, 30), 0.2)
    assert answer.identified and answer.methods == ("shu_osher3_omega_linear",) and answer.deviation < 10
    assert candidate("shu_osher3_omega_linear").order_omega == 3


def accurate(q, w, h=0.2):
    def slope(t, y):
        return np.concatenate([product(y[:4], np.array([0.0, *y[4:]])) / 2, rate(y[4:])])

    y = solve_ivp(slope, (0, h), np.concatenate([q, w]), "DOP853", rtol=3e-14, atol=1e-16).y[:, -1]
    return y[:4] / np.linalg.norm(y[:4]), y[4:]


@pytest.mark.thorough
def test_the_exact_motion_to_more_than_rounding_is_called_that():
    """Elliptic functions to 3e-13, as in Orekit."""
    q, omega = rows_of(accurate, 20)
    q = q + 3e-13 * np.random.default_rng(3).uniform(-1, 1, q.shape)
    answer = answer_to((q, omega), 0.2)
    assert answer.identified and answer.is_exact and "exact_rotor" in answer.methods and answer.deviation > 100
    assert text_of(answer).startswith("Identified: the exact motion, to")


@pytest.mark.thorough
def test_a_step_rounded_to_single_precision_is_named():
    """jax-md with 64 bits: everything else is in double precision."""
    h = float(np.float32(0.2))

    def step(q, w):
        w = w + h * rate(w)
        return exponential(q, h * w), w

    answer = answer_to(rows_of(step, 30), 0.2)
    assert answer.identified and "explicit_exp_new" in answer.methods and answer.deviation < 10
    assert "dt = 0.20000000298 s, which is 0.2 s in single precision" in answer.fitted[0]


# limits and steps of engines


def limited(q, w, h, cut):
    """An explicit step of the momentum at its old length, cut where the body would turn by more than pi/4, or bent there."""
    momentum = INERTIA * w
    new = momentum - h * np.cross(w, momentum)
    new = new * np.linalg.norm(momentum) / np.linalg.norm(new) / INERTIA
    length = np.linalg.norm(new)
    turn = length * h
    if turn > math.pi / 4 and cut:
        new = new * math.pi / 4 / turn
        turn = math.pi / 4
    elif turn > math.pi / 4:
        turn = 2 * math.atan(turn * math.tan(math.pi / 8) / (math.pi / 4))
    return exponential(q, new / length * turn), new


def judged(rows, dt, key, dtype=float):
    """The rows that are kept, wrong ones and limits, where this candidate is known to be the closest."""
    with np.errstate(all="ignore"):
        made = own_code.own_run(run_files.of_arrays(dt, *rows), INERTIA)
        whole, bad = own_code._whole(own_code._checked(made), Convention(), [])
        closest = identify.Deviation(key, "", 1.0)
        return own_code._without_wrong_rows([(made, whole, bad)], Convention(), float(np.finfo(dtype).eps), closest)


@pytest.mark.parametrize("cut", [True, False])
def test_a_limit_is_seen_in_the_steps_that_turn_furthest(cut):
    h = 0.72 if cut else 0.64
    _, faults, limits = judged(rows_of(lambda q, w: limited(q, w, h, cut), 60), h, "rescaled_momentum")
    assert not faults and "the code limits the angular velocity or the turn in a step" in limits[0]
    assert "a quarter of pi, as in Bullet and Rapier" in limits[0]
    q, omega = rows_of(lambda q, w: limited(q, w, 0.5, cut), 60)
    omega[30] *= 1.01
    _, faults, limits = judged((q, omega), 0.5, "rescaled_momentum")
    assert len(faults) == 1 and not limits  # a wrong row is no limit


@pytest.mark.thorough
@pytest.mark.parametrize("cut", [True, False])
def test_rows_beyond_a_limit_name_the_limit(cut):
    """Jolt's step, which takes a body towards its middle axis, so that it turns faster and faster."""

    h = 0.72 if cut else 0.64
    rows = rows_of(lambda q, w: limited(q, w, h, cut), 60, dtype=np.float32)
    answer = answer_to(rows, h)
    assert answer.identified and "rescaled_momentum" in answer.methods and not answer.faults, answer
    assert "the code limits the angular velocity or the turn in a step" in answer.fitted[0]
    assert "a quarter of pi" in answer.fitted[0] and "Wrong rows" not in answer.why()


@pytest.mark.thorough
def test_steps_that_are_all_beyond_a_limit_ask_for_smaller_ones():
    rows = rows_of(lambda q, w: limited(q, w, 1.0, False), 30, dtype=np.float32)
    assert (np.linalg.norm(rows[1], axis=1) > 0.8).all()
    answer = answer_to(rows, 1.0)
    assert not answer.identified and not answer.faults
    assert any("as Bullet bends turns above a quarter of pi" in limit and "0.6 rad" in limit for limit in answer.limits), answer


def test_an_angular_velocity_that_is_cut_in_every_step_is_named():
    """Rapier at 0.72 s: most rows end at a quarter of pi in a step; the first is the start."""
    speed = np.array([1.2, *[math.pi / 4] * 8, *np.linspace(0.7, 0.78, 10)])
    run = replace(recipe.recipe(omega=1.0).runs[0], dt=1.0, samples=tuple(range(len(speed))))
    piece = own_code._Piece(run, identify.Spun(np.tile(Q, (len(speed), 1)), speed[:, None] * W / np.linalg.norm(W)), 0, 1.0)
    said = own_code._beyond_words([piece], 0.74)
    assert said == (
        "the code cuts the angular velocity at 0.7854 rad/s, 0.7854 rad in a step (a quarter of pi, as in Bullet and Rapier)"
    )


def test_steps_and_moments_are_fitted_to_rows():
    """For the candidate that comes closest: a shortened step, and moments in eight bits under a torque."""
    from polhode_engines import fitted

    closest = [identify.Deviation("no_gyroscopic_exp_new", "", 1e5)]
    run = replace(recipe.recipe(omega=1.0).runs[0], dt=0.05, samples=tuple(range(31)))
    spun = identify.Spun(*rows_of(lambda q, w: lab_spin(q, w, 0.043033), 30))
    factor, miss, method = fitted.step_factor(run, spun, closest, 0.0, 1)
    assert factor == pytest.approx(0.043033 / 0.05, rel=1e-12) and miss < 1e-14 and method.key == closest[0].key
    rows = rows_of(lambda q, w: lab_spin(q, w, float(np.float32(0.2))), 30)
    factor, _, _ = fitted.step_factor(replace(run, dt=0.2), identify.Spun(*rows), closest, 0.0, 1)
    assert factor * 0.2 == pytest.approx(float(np.float32(0.2)), rel=fitted.SINGLE_WITHIN)
    acting = np.array([0.5981308, 1.0, 1.3989071])
    rows = rows_of(lambda q, w: lab_spin(q, w, 0.6, torque=TORQUE, inertia=acting), 30)
    run = replace(run, load="lab", value=tuple(TORQUE), dt=0.6)
    moments, miss, _ = fitted.moments(run, identify.Spun(*rows), closest, 0.0, 1)
    assert moments == pytest.approx(acting, rel=1e-10) and miss < 1e-13


def test_small_turns_are_not_those_of_other_units():
    """Havok's step of 0.5 s, cut to 0.043 s, is not one of revolutions per minute."""
    assert units_of(0.086, "angular velocity", 0.05) == ("rad", "s")
    assert units_of(math.pi / 180, "angular velocity", 0.05) == ("degrees", "s")
    assert units_of(1.1 * math.pi / 180, "angular velocity", 0.6) == ("degrees", "s")


@pytest.mark.thorough
def test_a_shortened_step_is_named_and_no_other_unit():
    """Havok: a step of 0.5 s is one of 0.043033 s."""
    answer = answer_to(rows_of(lambda q, w: lab_spin(q, w, 0.043033), dtype=np.float32), 0.5)
    assert "a step of 0.5 s is carried out as one of 0.043 s: the code shortens steps" in answer.fitted[0]
    assert "revolutions" not in answer.convention and answer.lacks_gyroscopic_term


@pytest.mark.parametrize(("reads", "count"), [(0.0, 15), (1.0, 60)])
def test_a_body_that_is_put_to_sleep_is_said(reads, count):
    """With the old angular velocity, as Havok reads it, or with none."""
    q, omega = rows_of(lambda q, w: catto(q, w, 0.3), 20)
    q, omega = np.vstack([q, np.tile(q[-1], (count, 1))]), np.vstack([omega, np.tile(reads * omega[-1], (count, 1))])
    answer = answer_to((q, omega), 0.3)
    assert answer.faults == (
        "from row 21 on the body stands still: the code puts it to sleep; switch sleeping off, or let it turn faster",
    )
    assert answer.identified and "catto2015" in answer.methods


def test_rows_that_are_not_finite_are_said():
    """Explicit Euler at 0.8 rad, whose rows are NaN from line 16 on."""

    def step(q, w, h=0.8):
        w = w + h * rate(w)
        return linear(q, h * w), w

    with np.errstate(all="ignore"):
        q, omega = (np.vstack([rows, np.full((40, rows.shape[1]), np.nan)]) for rows in rows_of(step, 15))
    answer = answer_to((q, omega), 0.8)
    assert any("rows 16 to 55: values that are no finite numbers" in fault for fault in answer.faults)
    with pytest.raises(own_code.IdentifyError, match="40 rows are no finite numbers, from row 16 on"):
        answer_to((q, np.where(np.isfinite(omega), -omega[:, ::-1] * 7, np.nan)), 0.8)


def test_single_precision_quaternions_whatever_omega_is():
    """The momentum in single precision, divided by the moments in double."""
    q, omega = rows_of(lambda q, w: catto(q, w, 0.6), 30, dtype=np.float32)
    momentum = (omega * INERTIA).astype(np.float32).astype(float)
    answer = answer_to((q, momentum / INERTIA), 0.6)
    assert answer.precision == "single" and answer.identified and "catto2015" in answer.methods


# damping


@pytest.mark.parametrize("rate_", [0.1, *(pytest.param(rate_, marks=pytest.mark.thorough) for rate_ in (None, 0.103))])
def test_the_damping_of_a_code_is_fitted_by_its_law(rate_):
    """Havok: omega times 1 - 0.1 dt after the rotation; 0.103/s is the rate of the logarithm."""
    rows = rows_of(lambda q, w: lab_spin(q, w, 0.6, factor=1 - 0.1 * 0.6), 30, dtype=np.float32)
    answer = answer_to(rows, 0.6, **({"damping": rate_} if rate_ else {}))
    assert answer.identified and answer.method == "no_gyroscopic_exp_damped_linear_after_0p1"
    said = text_of(answer)
    assert "by 1 - c dt" in said and ("rate c = 0.1/s" in said) == (rate_ != 0.1)
    assert not any("damping" in limit for limit in answer.limits)


@pytest.mark.parametrize(
    ("law", "factor"),
    [("linear", 1 - 0.05 / 32), ("power", 0.95 ** (1 / 32)), ("exp", math.exp(-0.05 / 32)), ("implicit", 1 / (1 + 0.05 / 32))],
)
def test_a_rate_has_the_fewest_digits_under_its_own_law(law, factor):
    from polhode_engines.fitted import damping_factor, rates
    from polhode_engines.identify import Spun

    assert rates(factor, 1 / 32, 2.0**-52)[0] == (law, 0.05)
    omega = np.outer(factor ** np.arange(30), W)
    assert damping_factor(Spun(np.ones((30, 4)), omega), (0.6, 1.0, 1.4)) == pytest.approx(factor, rel=1e-12)
    assert math.isnan(damping_factor(Spun(np.ones((30, 4)), omega[::-1]), (0.6, 1.0, 1.4)))


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_laws_that_round_to_one_are_one_method(dtype):
    """Jolt as shipped: omega times 1 - 0.05 dt before the rotation; in single precision other laws are the same."""

    def step(q, w, h=1 / 32):
        w = w * (1 - 0.05 * h)
        p = exponential(q, h * w)
        return p, back(p, turned(q, w))

    answer = answer_to(rows_of(step, 40, w=19.2 * W, dtype=dtype), 1 / 32)
    assert answer.identified and "no_gyroscopic_exp_damped_linear_before_0p05" in answer.methods
    said = text_of(answer)
    assert said.startswith("Identified: no gyroscopic term, exact rotation, ") and "rate c = 0.05/s" in said
    assert "The law of the damping and its place before the rotation make no difference in these rows" in said


def catto_damped(q, w, h):
    return catto(q, w * 0.95**h, h)


def bullet_damped(q, w, h):
    w = w + h * rate(w, -0.04 * (1 + np.linalg.norm(w)) * INERTIA * w)
    return exponential(q, h * w), w


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("step", "key"),
    [
        (catto_damped, "implicit_exp_damped_power_first_0p05"),
        (bullet_damped, "explicit_exp_damped_quadratic_torque_0p04"),
    ],
)
def test_a_damping_is_fitted_where_the_step_loses_momentum_too(step, key):
    answer = answer_to(rows_of(lambda q, w: step(q, w, 0.2), 40), 0.2)
    assert answer.identified and key in answer.methods and answer.deviation < 10 and len(answer.fitted) == 1


@pytest.mark.parametrize("dt", [pytest.param(1 / 60, marks=pytest.mark.thorough), 0.6])
def test_the_loss_of_a_method_is_no_damping(dt):
    """Catto's step loses angular momentum by itself."""
    answer = answer_to(rows_of(lambda q, w: catto(q, w, dt), 40, dtype=np.float32, w=np.array([0.3, 0.4, 1.0])), dt)
    assert "catto2015" in answer.methods and "falls steadily" not in answer.why() and not answer.fitted


@pytest.mark.thorough
def test_loss_of_a_near_candidate_is_no_damping():
    rows = rows_of(lambda q, w: catto(q, w, 0.6, INERTIA * (1, 1, 1 + 1e-5)), 40)
    assert not any("damping" in limit for limit in answer_to(rows, 0.6).limits)


# moments


@pytest.mark.thorough
def test_effective_moments_are_fitted_and_named():
    """Under a torque, as Havok acts with eight bits; and of a free body with the gyroscopic term."""
    acting = np.array([0.5981308, 1.0, 1.3989071])
    rows = rows_of(lambda q, w: lab_spin(q, w, 0.6, torque=TORQUE, inertia=acting), 40, dtype=np.float32)
    answer = answer_to(rows, 0.6, torque=("lab", TORQUE))
    assert answer.identified and answer.methods == ("no_gyroscopic_exp_new",)
    numbers = re.search(r"moments that act under the torque \(lab\) are ([\d. ]+), where 0.6 1 1.4 are given", answer.fitted[0])
    assert np.array(numbers[1].split(), float) == pytest.approx(acting, rel=5e-4)
    acting = INERTIA * (1, 1.004, 1)
    answer = answer_to(rows_of(lambda q, w: catto(q, w, 0.3, acting), 30), 0.3)
    assert answer.identified and "catto2015" in answer.methods and "moments that act of the free body" in answer.fitted[0]


# words


def test_candidates_without_gyroscopic_term_share_one_advice():
    """Single precision at 0.019 rad in a step."""
    answer = answer_to(rows_of(lambda q, w: lab_spin(q, w, 0.019), 40, dtype=np.float32), 0.019)
    said = text_of(answer)
    assert not answer.identified and "None of them has the gyroscopic term" in said
    assert len(re.findall(r"dt = [\d.]+ s", said)) == 1 and "turns the body by 0.6 rad" in said
    values = [answer.deviations[key] for key in answer.methods]
    assert values == sorted(values) and max(values) < 1000


def test_candidates_are_named_in_the_order_of_their_deviations():
    answer = answer_to(rows_of(lambda q, w: catto(q, w, 1 / 60), 40, dtype=np.float32, w=np.array([0.3, 0.4, 1.0])), 1 / 60)
    values = [answer.deviations[key] for key in answer.methods]
    assert not answer.identified and values == sorted(values)
    assert re.match(
        r"Not identified: \d of \d+ candidates fit these rows: Catto \(catto2015\), 0.\d round-offs", text_of(answer)
    )


def test_names_of_candidates_differ_and_have_no_tex():
    keys = [method.key for method in (*candidates(), *damped(0.1))]
    names = [own_code.label_of(key).rpartition(" (")[0] or key for key in keys]
    assert len(set(names)) == len(names)
    assert not [name for name in names if re.search(r"[$\\{}]", name)]
    assert own_code.label_of("no_gyroscopic_exp_damped_power_first_0p1").startswith("no gyroscopic term, exact rotation, omega")


def test_further_runs_in_the_recipe_are_new():
    members = ["spiral_leapfrog", "spiral_predicted"]
    assert "0.6 rad" in meaning.telling_run(members, is_single=True) and "0.2 rad" in meaning.telling_run(members)
    damped_twins = [f"no_gyroscopic_exp_damped_{law}_after_0p1" for law in ("linear", "exp")]
    assert damped(0.1) and "without a torque" in meaning.telling_run(damped_twins)
    assert "without a torque" not in meaning.telling_run(damped_twins, [("free", 0.6)], True)
    said = meaning.telling_run(["explicit_exp_new", "torque_explicit_exp_new"])
    assert "fixed in the lab" in said and "--recipe" in said


def test_length_and_vector_of_the_momentum_are_two_statements():
    answer = answer_to(rows_of(lambda q, w: lab_spin(q, w, 0.6), 30), 0.6)
    said = text_of(answer)
    assert answer.momentum < 1e-13 and answer.momentum_vector > 0.3
    assert "the length of the angular momentum by" in said and "its vector in the lab by" in said
    assert "it turns about the same axis from the start, while the exact body tumbles" in said and "as it should" not in said
    assert "where there is a switch, else set the angular velocity before every step" in said
    # Another method is for those who can take one.
    (instead,) = meaning.instead("no_gyroscopic_exp_new", 1.0, own_code.ERROR)
    assert instead.startswith("If you can change the code: for an error of")
    assert "switch" in measured_advice(1, "tumbles", "no")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "it tumbles as it should"),
        ({"turns": 78}, "it tumbles as it should"),
        ({"energy": -0.02}, "it still tumbles, and has lost 0.02 of its energy"),
        ({"momentum": 0.03}, "it still tumbles, and has gained 0.03 of its momentum"),
        ({"turned": 0.02}, "it still tumbles"),
        ({"turns": 40}, "it still tumbles, and turns over 40 times where the exact body does 77 times"),
        ({"turns": 79}, "it still tumbles, and turns over 79 times where the exact body does 77 times"),
    ],
)
def test_as_it_should_needs_turns_energy_and_vector(change, said):
    spin = replace(meaning.LongSpin(1e-3, -1e-3, 1e-3, "tumbles", "", 77, 77), **change)
    assert own_code._end_words(spin) == said and spin.is_as_exact == ("should" in said)


def test_a_long_spin_counts_turns_against_the_exact_body():
    """By Jacobi's functions; a rescaled momentum, as in Jolt, keeps its energy there and turns over too seldom."""
    steps = 6000
    (a, b, c), (x, y, z) = INERTIA, cases.NEAR_MIDDLE
    energy, square = a * x * x + b * y * y + c * z * z, (a * x) ** 2 + (b * y) ** 2 + (c * z) ** 2
    axis, rest = (c, a) if square > energy * b else (a, c)
    m = (b - rest) * (energy * axis - square) / ((axis - b) * (square - energy * rest))
    half = 2 * ellipk(m) / math.sqrt((axis - b) * (square - energy * rest) / (a * b * c))
    exact = meaning._exact_turns(cases.NEAR_MIDDLE, steps)
    assert exact == pytest.approx(steps * cases.LONG_STEP / half, abs=1) and exact > 10
    for key, right in (
        ("exact_rotor", True),
        ("rk4", True),
        ("no_squish", True),
        ("rescaled_momentum", False),
        ("catto2015", False),
    ):
        spin = meaning.long_spin(key, steps)
        assert ("as it should" in own_code._end_words(spin)) == spin.is_as_exact == right, (key, spin)


def test_who_turns_over_too_seldom_is_told_to_step_smaller():
    advice = measured_advice(2, "tumbles", "yes", (1e-3, 0.0), 0.0, (49, 31))
    assert advice == "Second order, and a free body turns over 49 times where the exact one does 31 times: take smaller steps."
    assert "turns by 0.02 rad in the lab" in measured_advice(2, "tumbles", "yes", (0.0, 0.0), 0.02, (31, 31))
    assert measured_advice(2, "tumbles", "yes", (0.0, 0.0), 0.0, (31, 31)) == "Second order: keep it."


def test_an_order_that_is_not_the_methods_is_explained():
    answer = answer_to(rows_of(lambda q, w: catto(q, w, 0.6), 30), 0.6)
    assert not replace(answer, order=1.1)._order_words and not math.isfinite(answer.order)
    assert "the method is of order 1" in replace(answer, order=1.43)._order_words
    free = answer_to(rows_of(lambda q, w: lab_spin(q, w, 0.6), 30), 0.6)
    assert "without the gyroscopic term" in replace(free, order=0.6)._order_words


def test_a_body_brought_to_an_axis_has_shown_its_term():
    """Catto's step at 0.7 rad: most rows are about the axis of the largest moment, the first ones between the axes."""
    answer = answer_to(rows_of(lambda q, w: catto(q, w, 0.7), 200), 0.7)
    assert answer.identified and not answer.faults and not any("principal axis" in limit for limit in answer.limits)
    assert answer.energy > 0.05


# rows of every method


def all_rows_remain(key, angle, dtype, count):
    """Whether every row of a method, as it is rounded, is kept."""
    method, eps = candidate(key), float(np.finfo(dtype).eps)
    run = replace(recipe.recipe(omega=1.0).runs[0], dt=angle, samples=tuple(range(count + 1)))
    mode = next(identify.modes(method, True))
    driver, state = identify.driver_of(method, run), None
    q, omega = (tuple(map(float, np.array(x, dtype))) for x in (run.q0, run.omega0))
    rows = [(q, omega)]
    for n in range(count):
        state = identify.MODES[mode](driver, state, q, omega)
        state = driver.step(state, n)
        with np.errstate(all="ignore"):
            q, omega = (tuple(map(float, np.array(x, dtype))) for x in driver.read(state, n + 1))
        rows.append((q, omega))
    made = own_code.own_run(run_files.of_arrays(angle, np.array([q for q, _ in rows]), np.array([w for _, w in rows])), INERTIA)
    whole, bad = own_code._whole(own_code._checked(made), Convention(), [])
    closest = identify.Deviation(key, mode, 1.0)
    return own_code._without_wrong_rows([(made, whole, bad)], Convention(), eps, closest)[1:] == ([], [])


@pytest.mark.parametrize("key", list(METHODS))
def test_every_row_of_a_method_is_kept(key):
    assert all_rows_remain(key, 0.7, float, 24) and all_rows_remain(key, 0.75, np.float32, 24)


@pytest.mark.thorough
@pytest.mark.parametrize("angle", [0.1, 0.4, 0.75])
@pytest.mark.parametrize("key", list(METHODS))
def test_every_row_of_a_method_is_kept_at_every_angle(key, angle):
    assert all_rows_remain(key, angle, float, 100) and all_rows_remain(key, angle, np.float32, 100)


# the recipe


def test_the_single_precision_recipe_respects_engines():
    """Below pi/4 in a step, 47 rad/s and 0.043 s, above 1 rad/s; exact runs by SciPy."""
    made = recipe.recipe(language="javascript")
    assert made.angle == recipe.recipe(is_single=True).angle == 0.6
    for run in made.runs[:3]:
        inertia, torque = np.array(run.inertia), np.array(run.value) if run.load == "lab" else np.zeros(3)

        def slope(t, y, inertia=inertia, torque=torque):
            spin = rate(y[4:], back(y[:4] / np.linalg.norm(y[:4]), torque), inertia)
            return np.concatenate([product(y[:4], np.array([0.0, *y[4:]])) / 2, spin])

        times = np.array(run.samples) * run.dt
        start = np.concatenate([run.q0, run.omega0])
        y = solve_ivp(slope, (0, times[-1]), start, "DOP853", times, rtol=1e-9, atol=1e-9).y
        speed = np.linalg.norm(y[4:], axis=0)
        assert speed.max() * run.dt < 0.65 and speed.max() < 40 and speed.min() > 5 and run.dt < 0.043


def test_the_recipe_in_javascript_is_run_by_node_and_identified(tmp_path, capsys):
    """Its step keeps the momentum in the lab, here in NumPy."""
    made = recipe.recipe(language="javascript")
    assert main(["identify", "--recipe", "--language", "javascript"]) == 0
    assert capsys.readouterr().out.rstrip() == made.program("javascript").rstrip()
    if not shutil.which("node"):
        pytest.skip("node is missing; on Debian: apt-get install nodejs")
    (tmp_path / "spin.mjs").write_text(made.program("javascript"))
    subprocess.run(["node", "spin.mjs"], cwd=tmp_path, check=True)
    for number, run in enumerate(made.runs[:3], 1):
        torque = np.array(run.value) if run.load == "lab" else np.zeros(3)

        def step(q, w, h=run.dt, torque=torque):
            momentum = turned(q, INERTIA * w) + h * torque
            p = linear(q, h * back(q, momentum) / INERTIA)
            return p, back(p, momentum) / INERTIA

        table = np.loadtxt(tmp_path / f"run{number}.csv", delimiter=",", skiprows=3)
        q, omega = rows_of(step, run.samples[-1], np.array(run.q0), np.array(run.omega0))
        assert table[:, 1:5] == pytest.approx(q, abs=1e-10) and table[:, 5:] == pytest.approx(omega, abs=1e-8)
    answer = own_code.identify_files([tmp_path / "run1.csv"])
    assert answer.identified and "lab_momentum_linear" in answer.methods and answer.deviation < 10


def test_a_language_without_a_program_is_told_of_the_table(capsys):
    assert main(["identify", "--recipe", "--language", "julia"]) == 2
    said = capsys.readouterr().err
    assert "no program for 'julia'" in said and "javascript" in said and "table" in said


def test_rows_as_javascript_writes_them(tmp_path):
    q, omega = rows_of(lambda q, w: catto(q, w, 0.2), 16)
    ms = 200.0 * np.arange(17)
    vector = [dict(zip("xyz", map(float, w), strict=True)) for w in omega]
    private = [dict(zip(("_w", "_x", "_y", "_z"), map(float, p), strict=True)) for p in q]
    numbers = [[float(t / 1e3), *map(float, p), *map(float, w)] for t, p, w in zip(ms, q, omega, strict=True)]
    objects = [
        {"ms": float(t), "quaternion": p, "angularVelocity": w, "asleep": False}
        for t, p, w in zip(ms, private, vector, strict=True)
    ]
    texts = {
        "objects.json": json.dumps(objects),
        "inside.json": json.dumps({"engine": "x", "rows": numbers}),
        "truths.csv": "\n".join(",".join([*map(repr, row), "false"]) for row in numbers),
        "ms.csv": "ms,qx,qy,qz,qw,wx,wy,wz,asleep\n"
        + "\n".join(
            ",".join(map(repr, [float(t), *map(float, [*p[1:], p[0], *w])])) + ",true"
            for t, p, w in zip(ms, q, omega, strict=True)
        ),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        run = own_code.own_run(run_files.read_run(tmp_path / name), INERTIA)
        assert run.dt == pytest.approx(0.2) and run.rows.q == pytest.approx(q, abs=1e-15), name
        assert run.rows.spin == pytest.approx(omega, abs=1e-15) and not run.rows.remarks
    assert "by the names of its components" in own_code._convention_words(Convention(), run.rows)


# engines


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.mjs")), ids=lambda path: path.stem)
def test_the_adapters_of_engines_of_the_web_are_modules(path):
    if not shutil.which("node"):
        pytest.skip("node is missing; on Debian: apt-get install nodejs")
    done = subprocess.run(["node", "--check", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_user_s_adapter_is_compared_in_its_rows_precision():
    from polhode_engines import atlas

    q, omega = rows_of(lambda q, w: catto(q, w, 0.6), 20, dtype=np.float32)
    engine = SimpleNamespace(is_own=True, precision="float64")
    assert atlas._precision(engine, [identify.Spun(q, omega)]) == "float32"
    assert atlas._precision(engine, [identify.Spun(q * (1 + 1e-8), omega)]) == "float64"
    assert atlas._precision(SimpleNamespace(is_own=False, precision="float64"), [identify.Spun(q, omega)]) == "float64"
    assert atlas._precision(engine, [identify.Spun(np.round(q, 9), omega)]) == "float32"
    assert atlas._precision(engine, [identify.Spun(q * (1 + 1e-12), omega, is_single=True)]) == "float32"
    assert atlas.OWN_TURN == recipe.ANGLE_SINGLE
