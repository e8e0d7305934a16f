"""The laws of the ensembles, recovered from errors that were made from known ones; their tables, figures and numbers."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from data_files import invented

from polhode.fits import law_file, laws
from polhode.fits.largest_step import BETWEEN, COARSEST, EXTRAPOLATED, UNREACHED, round_off
from polhode.interface.storage import write_dataset
from polhode_study import chapters
from polhode_study.chapters import all_chapters, rendering
from polhode_study.chapters.laws import frames as law_frames
from polhode_study.chapters.laws import numbers as law_numbers
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import macros, style

HOME = Path(__file__).parents[1]
CLASSES = (
    "free",
    "constant",
    "time",
    "lab",
    "state",
    "friction_isotropic",
    "friction_anisotropic",
    "friction_smooth_coulomb",
)
STEPS = 0.5 / 2.0 ** np.arange(12)
RADIANS = np.array([2.0, 4.0, 8.0, 16.0])


@dataclass(frozen=True)
class Law:
    """What a method of the tests does: error per radian C h^p, for each class of torque if they differ."""

    order: float
    coefficient: float
    torques: int = 1
    group: str = "simple"
    #: Under friction.
    friction_order: float | None = None
    friction_coefficient: float | None = None
    growth: float = 1.0
    #: It diverges at steps above this.
    limit: float = np.inf
    not_run: tuple[str, ...] = ()

    def of(self, torque_class: str) -> tuple[float, float]:
        if not torque_class.startswith("friction"):
            return self.order, self.coefficient
        order = self.order if self.friction_order is None else self.friction_order
        return order, self.coefficient if self.friction_coefficient is None else self.friction_coefficient


#: The methods of most tests.
METHODS = {
    "spiral_leapfrog": Law(2, 0.02, group="SPIRAL and Omelyan", friction_order=1, friction_coefficient=0.2),
    "spiral_predicted": Law(2, 0.022, group="new in this work"),
    "verlet": Law(2, 0.4, group="kicks at both ends", friction_order=1, friction_coefficient=0.5),
    "euler": Law(1, 0.5, limit=0.2),
    "rkmk4": Law(4, 0.05, torques=4, group="several torques per step"),
    "exact_rotor": Law(2, 0.03, group="splittings and variational", friction_order=1, friction_coefficient=0.3),
    "no_friction": Law(2, 0.05, not_run=CLASSES[5:]),
}


def ensemble(methods=METHODS, bodies=32, classes=CLASSES, seed=1, scatter=0.5, bend=0.3, rounding=1e-16):
    """A dataset as ensembles.nc: a body multiplies the C of all methods by one factor, and each by one of its own."""
    draw = np.random.Generator(np.random.PCG64(seed))
    shape = (len(classes), len(methods), bodies, len(STEPS), len(RADIANS))
    body = np.exp(draw.normal(0, scatter, bodies))
    factors = np.exp(draw.normal(0, 0.2 * scatter, (len(classes), len(methods), bodies)))
    q, lost = np.full(shape, np.nan), np.zeros(shape[:-1], "int8")
    h, r = STEPS[:, None], RADIANS[None, :]
    for i, torque_class in enumerate(classes):
        for j, law in enumerate(methods.values()):
            if torque_class in law.not_run:
                continue
            order, coefficient = law.of(torque_class)
            scale = RADIANS[-1] * (r / RADIANS[-1]) ** law.growth * h**order * (1 + bend * h)
            q[i, j] = coefficient * (body * factors[i, j])[:, None, None] * scale
            lost[i, j] = law.limit < STEPS
    q += rounding * np.sqrt(r / h) * np.abs(draw.normal(1, 0.3, q.shape))
    q[lost.astype(bool)] = np.nan
    keys = list(methods)
    own_orders = [[law.of(name)[0] for law in methods.values()] for name in classes]
    return invented(
        "ensembles.nc",
        {"torque_class": list(classes), "integrator": keys, "body": np.arange(bodies), "step": STEPS, "radians": RADIANS},
        {"seed": seed, "factors": body},
        error_q=q,
        error_omega=0.5 * q,
        diverged=lost,
        label=[key.replace("_", " ") for key in keys],
        group=[law.group for law in methods.values()],
        variant_of="",
        torques_per_step=[law.torques for law in methods.values()],
        place=list(range(len(keys))),
        order_q_declared=own_orders,
        order_omega_declared=own_orders,
    )


@pytest.fixture(scope="module")
def data():
    return ensemble()


@pytest.fixture(scope="module")
def fitted(data):
    return laws.laws(data)


@pytest.fixture(scope="module")
def steps(data, fitted):
    return laws.steps_per_radian(data, known_laws=fitted)


def median(fitted, name, method, torque_class="state", quantity="both"):
    return float(fitted[name].sel({"quantity": quantity, "integrator": method, "torque_class": torque_class}).median("body"))


# Fits


@pytest.mark.parametrize("torque_class", ["state", "friction_isotropic"])
@pytest.mark.parametrize("key", METHODS)
def test_known_laws_are_recovered(fitted, key, torque_class):
    law = METHODS[key]
    if torque_class in law.not_run:
        assert fitted["order"].sel({"integrator": key, "torque_class": torque_class}).isnull().all()
        return
    order, coefficient = law.of(torque_class)
    assert median(fitted, "order", key, torque_class) == pytest.approx(order, rel=0.01)
    assert median(fitted, "leading", key, torque_class) == pytest.approx(coefficient, rel=0.25)
    assert median(fitted, "growth", key, torque_class) == pytest.approx(1, abs=0.02)


def test_the_coefficient_of_every_body_is_its_own(data, fitted):
    """The common factor of a body multiplies the error of all its methods."""
    coefficients = (
        fitted["leading"].sel({"quantity": "q", "torque_class": "lab", "integrator": "verlet"}).values
        / METHODS["verlet"].coefficient
    )
    factors = data.attrs["factors"]
    assert np.corrcoef(np.log(coefficients), np.log(factors))[0, 1] > 0.95
    assert np.median(coefficients / factors) == pytest.approx(1, rel=0.1)


def test_orders_agree_with_a_fit_of_another_kind(data, fitted):
    """numpy.polyfit over the window that is stated gives the order and the coefficient."""
    error = data["error_q"].sel({"torque_class": "time", "integrator": "rkmk4"}).isel(radians=-1).values
    law = fitted.sel({"quantity": "q", "torque_class": "time", "integrator": "rkmk4"})
    for body in range(5):
        low, high = float(law["finest"][body]), float(law["coarsest"][body])
        inside = (low <= STEPS) & (high >= STEPS)
        slope, at_one = np.polyfit(np.log(STEPS[inside]), np.log(error[body][inside]), 1)
        assert slope == pytest.approx(float(law["order"][body]), abs=1e-9)
        assert np.exp(at_one) / RADIANS[-1] == pytest.approx(float(law["coefficient"][body]), rel=1e-9)


def test_the_window_stays_clear_of_round_off_and_of_saturation(data, fitted):
    error = np.maximum(data["error_q"], data["error_omega"]).isel(radians=-1)
    both = fitted.sel(quantity="both")
    inside = (both["finest"] <= error["step"]) & (both["coarsest"] >= error["step"])
    in_window = error.where(inside)
    assert float(in_window.max()) < 0.1
    assert float((in_window / round_off(error["step"], 16.0)).min()) > 1
    assert float(inside.sum("step").where(both["order"].notnull()).min()) >= laws.FEWEST


def test_growth_is_the_exponent_of_time():
    data = ensemble({"slow": Law(2, 0.02, growth=0.5), "fast": Law(2, 0.02, growth=2.0)}, bodies=4, classes=("free",))
    fitted = laws.laws(data)
    assert median(fitted, "growth", "slow", "free") == pytest.approx(0.5, abs=0.02)
    assert median(fitted, "growth", "fast", "free") == pytest.approx(2.0, abs=0.02)


def test_growth_is_that_up_to_the_last_time():
    """An error doubled at 16 radians alone: over 2, 4, 8 and 16 radians the slope of a straight line is larger by 0.3."""
    data = ensemble({"one": Law(2, 0.02)}, bodies=4, classes=("free",))
    for name in ("error_q", "error_omega"):
        data[name][{"radians": -1}] *= 2
    assert median(laws.laws(data), "growth", "one", "free") == pytest.approx(1 + 1.5 / 5, abs=0.02)


def test_a_window_ends_where_the_curve_leaves_a_line():
    """Against polyfit over each window, for curves that bend more and more."""
    x = np.log10(STEPS[::-1])
    for bend in (0.02, 0.04, 0.08):
        y = 2 * x + bend * (x - x[0]) ** 2
        rest = [np.sqrt(np.mean((y[:n] - np.polyval(np.polyfit(x[:n], y[:n], 1), x[:n])) ** 2)) for n in range(3, 13)]
        ends = [2 + int(np.argmax(np.array([*rest, np.inf]) > limit)) - 1 for limit in (0.01, 0.03)]
        window = laws.fit(STEPS[::-1], 10.0**y, np.ones(12, bool), laws.FEWEST, laws.RESIDUAL)
        assert (int(window.first), int(window.last)) == (0, ends[0])
        assert 3 <= ends[0] < ends[1], "a looser line would go further"


def test_rounding_begins_where_the_law_is_left():
    """Rounding of 1e-14 sqrt(n), against the law of the fourth order: they meet where both are known."""
    data = ensemble({"one": Law(4, 0.05)}, bodies=8, classes=("free",), scatter=0.0, bend=0.0, rounding=1e-14)
    fitted = laws.laws(data)
    step = fitted["rounding"].sel({"quantity": "q", "integrator": "one", "torque_class": "free"}).values
    meet = (1e-14 * np.sqrt(16) / (0.05 * 16)) ** (1 / 4.5)
    assert ((meet / 4 < step) & (step < 1.5 * meet)).all()


def test_a_law_that_bends_below_its_fit_is_no_rounding():
    """Terms of second and first order that cancel near the finest steps, whose errors are far above round-off."""
    data = ensemble({"bent": Law(2, 0.2)}, bodies=2, classes=("free",), scatter=0.0, bend=0.0)
    data["error_q"][:] *= abs(1 - 5 * STEPS[-1] / xr.DataArray(STEPS, dims="step"))
    fitted = laws.laws(data).sel(quantity="q", torque_class="free")
    law = fitted["coefficient"] * 16 * STEPS[-1] ** fitted["order"]
    assert (data["error_q"].isel(step=-1, radians=-1, torque_class=0) > 2 * law).all() and (fitted["finest"] > STEPS[-1]).all()
    assert fitted["rounding"].isnull().all()


def test_the_file_holds_the_laws(data, fitted):
    """What ensembles.nc says agrees with the law sheet of the report, and solves for the error that was put in."""
    stored = laws.in_file(data)
    both = fitted.sel(quantity="both")
    for name, (of, _, _) in laws.IN_FILE.items():
        np.testing.assert_allclose(stored[name].values, both[of].values, rtol=1e-6)
    assert (stored["law_stable_at_least"].values == both["stable_at_least"].values).all()
    for quantity in ("q", "omega"):
        np.testing.assert_allclose(stored[f"law_order_{quantity}"], fitted["order"].sel(quantity=quantity), rtol=1e-6)
    # 80 % of the bodies, and the same numbers as in the table of the report.
    assert stored["quantile"].values.tolist() == [0.1, 0.5, 0.9]
    frame = law_frames.sheet(law_frames.EnsembleLaws(data)).set_index(["torque_class", "method"])
    for i, torque_class in enumerate(CLASSES):
        for j, key in enumerate(METHODS):
            row = frame.loc[torque_class, key]
            np.testing.assert_allclose(
                stored["law_leading_quantile"][i, j], row[["C_low", "C", "C_high"]].astype(float), rtol=1e-6
            )
            np.testing.assert_allclose(stored["law_growth_quantile"][i, j, 1], row["growth"], rtol=1e-6)
    # The law at a step is the error per radian there.
    where = {"torque_class": "lab", "integrator": "rkmk4"}
    law = stored["law_coefficient"].sel(where) * 0.0625 ** stored["law_order"].sel(where)
    error_per_radian = np.maximum(data["error_q"], data["error_omega"]).sel({**where, "step": 0.0625, "radians": 16.0}) / 16
    np.testing.assert_allclose(law, error_per_radian, rtol=0.05)


def test_the_floor_is_the_law_where_rounding_begins():
    data = ensemble({"one": Law(4, 0.05)}, bodies=8, classes=("free",), scatter=0.0, bend=0.0, rounding=1e-14)
    stored = laws.in_file(data).isel(torque_class=0, integrator=0)
    floor = stored["law_coefficient"] * stored["law_rounding"] ** stored["law_order"]
    np.testing.assert_allclose(stored["law_floor"], floor, rtol=1e-5)
    # Rounding of 1e-14 sqrt(n) in 16 radians.
    expected = 1e-14 * np.sqrt(16 / stored["law_rounding"]) / 16
    assert ((stored["law_floor"] < 2 * expected) & (expected < 40 * stored["law_floor"])).all()
    clean = laws.in_file(ensemble({"one": Law(1, 0.05)}, bodies=2, classes=("free",)))
    assert clean["law_rounding"].isnull().all() and clean["law_floor"].isnull().all()


def test_the_largest_stable_step():
    methods = {"stable": Law(2, 0.02), "breaks": Law(2, 0.001, limit=0.1), "large": Law(1, 1.0)}
    fitted = laws.laws(ensemble(methods, bodies=8, classes=("free",), scatter=0.0, bend=0.0)).sel(
        quantity="q", torque_class="free"
    )
    assert (fitted["stable"].sel({"integrator": "stable"}) == STEPS[0]).all()
    assert fitted["stable_at_least"].sel({"integrator": "stable"}).all()
    assert (fitted["stable"].sel({"integrator": "breaks"}) == 0.0625).all()
    # 16 h < 1/2
    assert (fitted["stable"].sel({"integrator": "large"}) == 0.015625).all()
    assert not fitted["stable_at_least"].sel({"integrator": "large"}).any()


def test_what_is_exact_has_no_law_and_takes_any_step():
    data = ensemble({"exact": Law(2, 0.0), "other": Law(2, 0.05)}, bodies=8, classes=("free",))
    fitted = laws.laws(data)
    assert fitted["order"].sel({"integrator": "exact"}).isnull().all()
    steps = laws.steps_per_radian(data, known_laws=fitted).sel({"integrator": "exact"})
    assert (steps["how"] == COARSEST).all()
    assert (steps["steps"] == 1 / STEPS[0]).all()
    # A constant error above the bound of round-off is none either.
    data["error_q"] = data["error_q"] + 1e-11
    assert laws.laws(data)["order"].sel({"integrator": "exact", "quantity": "q"}).isnull().all()


# Steps


@pytest.mark.parametrize("target", [1e-3, 1e-4, 1e-6])
@pytest.mark.parametrize("key", ["spiral_leapfrog", "verlet", "rkmk4"])
def test_steps_keep_the_error(steps, key, target):
    """The formula from which the errors were made, solved for the step; without the scatter of bodies in the median."""
    order, coefficient = METHODS[key].of("state")
    h = (target / coefficient) ** (1 / order)
    for _ in range(20):
        h = (target / (coefficient * (1 + 0.3 * h))) ** (1 / order)
    per_radian = float(steps["steps"].sel({"integrator": key, "torque_class": "state", "target": target}).median("body"))
    assert per_radian == pytest.approx(1 / h, rel=0.15 if order == 2 else 0.1)


def test_only_steps_below_the_finest_come_from_the_law(steps):
    how = steps["how"]
    beyond = how == EXTRAPOLATED
    assert (steps["steps"].where(beyond) > 1 / STEPS[-1]).where(beyond, True).all()
    within = (how == BETWEEN) | (how == COARSEST)
    assert (steps["steps"].where(within) <= 1 / STEPS[-1] * (1 + 1e-12)).where(within, True).all()
    assert beyond.any() and within.any()


def test_a_step_is_not_read_off_a_dip():
    """An error that meets a target by accident at a coarse step, and misses it at a finer one, does not count."""
    data = ensemble({"one": Law(2, 0.05)}, bodies=1, classes=("free",), scatter=0.0, bend=0.0)
    smooth = float(laws.steps_per_radian(data)["steps"].sel(target=1e-4).squeeze())
    data["error_q"][..., 1, :] = 1e-9
    data["error_omega"][..., 1, :] = 1e-9
    assert float(laws.steps_per_radian(data)["steps"].sel(target=1e-4).squeeze()) == pytest.approx(smooth)


def test_a_miss_that_round_off_explains_is_tolerated():
    data = ensemble({"one": Law(4, 0.05)}, bodies=1, classes=("free",), scatter=0.0, bend=0.0)
    target = 5e-12
    clean = laws.steps_per_radian(data, targets=[target])["steps"].item()
    # Above the target of 8e-11 after 16 radians, below the bound of round-off at that step.
    data["error_q"][..., -1, -1] = 1.2e-10
    steps = laws.steps_per_radian(data, targets=[target])
    assert steps["how"].item() == BETWEEN and steps["steps"].item() == pytest.approx(clean)
    # Above that bound, be it by a factor of two only, round-off explains nothing.
    data["error_q"][..., -1, -1] = 3e-10
    assert laws.steps_per_radian(data, targets=[target])["how"].item() == UNREACHED
    data["error_q"][..., -1, -1] = 1e-8
    assert laws.steps_per_radian(data, targets=[target])["how"].item() == UNREACHED


def test_a_target_below_round_off_is_not_reached():
    data = ensemble({"one": Law(2, 0.05)}, bodies=2, classes=("free",), rounding=1e-9)
    steps = laws.steps_per_radian(data, targets=[1e-12])
    assert (steps["how"] == UNREACHED).all()
    assert np.isinf(steps["steps"]).all()


def test_divergence_is_beyond_every_error(data):
    """Runs that diverged are infinite, those that were not made are missing."""
    errors = laws.errors(data)
    assert np.isinf(errors.sel({"integrator": "euler", "quantity": "q"}).isel(step=-1)).all()
    assert errors.sel({"integrator": "no_friction", "torque_class": "friction_isotropic"}).isnull().all()
    assert (errors["step"].diff("step") > 0).all()


# Comparisons


def test_spreads_count_infinite_values():
    spread = laws.spread([[1.0, 2.0, 3.0, np.inf], [np.inf, np.inf, 1.0, np.nan], [np.nan] * 4])
    assert spread.median.tolist()[:2] == [2.5, np.inf]
    assert np.isnan(spread.median[2])
    many = laws.spread(np.arange(1.0, 101))
    assert (float(many.low), float(many.median), float(many.high)) == (10.0, 50.5, 90.0)


def test_intervals_cover_the_true_ratio():
    """Of 400 ensembles whose true median ratio is 2, the interval contains it as often as it says, and never less than 95 %."""
    draw = np.random.Generator(np.random.PCG64(5))
    inside = 0
    for _ in range(400):
        body = np.exp(draw.normal(0, 2, 32))
        work = np.array([body, 2 * body * np.exp(draw.normal(0, 0.5, 32))])
        comparison = laws.compare(work, [True, True])
        ratio = comparison.low[1], comparison.high[1]
        inside += ratio[0] <= 2 <= ratio[1]
    _, coverage = laws.seed_statistics.ranks(32)
    assert coverage >= 0.95
    assert abs(inside / 400 - coverage) < 4 * np.sqrt(coverage * (1 - coverage) / 400)


def test_the_interval_is_what_resampling_approaches():
    """Against a bootstrap of the same ratios: its ends differ by at most two places in the order of the ratios."""
    draw = np.random.Generator(np.random.PCG64(7))
    ratios = np.sort(np.exp(draw.normal(0.2, 0.4, 32)))
    estimate = laws.paired(ratios, np.ones(32))
    resampled = np.median(ratios[draw.integers(32, size=(4000, 32))], axis=1)
    for end, share in ((estimate.low, 2.5), (estimate.high, 97.5)):
        place = np.searchsorted(ratios, end)
        assert abs(place - np.searchsorted(ratios, np.percentile(resampled, share))) <= 2
    assert estimate.value == pytest.approx(float(np.exp(np.median(np.log(ratios)))))


def test_pairs_see_what_bodies_hide():
    """A method that is better by 10 % on each body is told apart, although bodies differ a hundred times more."""
    draw = np.random.Generator(np.random.PCG64(3))
    body = np.exp(draw.normal(0, 2, 32))
    comparison = laws.compare([body, 1.1 * body * np.exp(draw.normal(0, 0.02, 32))], [True, True])
    assert comparison.best == 0
    assert comparison.told_apart.tolist() == [False, True]
    noisy = laws.compare([body, 1.1 * draw.permutation(body)], [True, True])
    assert not noisy.told_apart.any()


def test_the_best_is_among_those_allowed(steps, data):
    work = steps["steps"].sel({"torque_class": "friction_isotropic", "target": 1e-4}).values
    torques = data["torques_per_step"].values
    keys = list(METHODS)
    comparison = laws.compare(work * torques[:, None], torques == 1)
    assert keys[comparison.best] == "spiral_predicted"
    assert comparison.value[comparison.best] == 1
    assert comparison.told_apart[keys.index("spiral_leapfrog")]
    assert np.isnan(comparison.value[keys.index("no_friction")])
    every = laws.compare(work, np.ones(len(keys), bool))
    assert keys[every.best] == "rkmk4"
    assert laws.compare(work, np.zeros(len(keys), bool)).best == -1


def test_the_best_is_beaten_least_not_smallest_in_the_median():
    """The first is better on two bodies of three, although its median is five times that of the second."""
    comparison = laws.compare([[1.0, 10.0, 10.0], [2.0, 2.0, 20.0]], [True, True])
    assert comparison.best == 0
    assert comparison.value == pytest.approx([1, 2])


def test_several_classes_count_by_their_geometric_mean():
    first, other = np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([[2.0, 8.0], [8.0, 2.0]])
    comparison = laws.compare(np.stack([first, other]), [True, True])
    assert comparison.value[1] == pytest.approx(4)
    # Of every class, not the first alone.
    other = np.array([[2.0, 2.0], [8.0, 8.0]])
    assert laws.compare(np.stack([first, other]), [True, True]).value[1] == pytest.approx(4)
    assert laws.paired(other, first).value == pytest.approx(4)


# What the report shows


def inputs_of(data, folder, **more):
    """A run that has these ensembles."""
    write_dataset(data, folder / "ensembles.nc")
    return Inputs("", ensembles=folder / "ensembles.nc", released=HOME / "data" / "released", **more)


@pytest.fixture(scope="module")
def run(data, tmp_path_factory):
    return inputs_of(data, tmp_path_factory.mktemp("run"))


@pytest.fixture
def long_runs_without_drift(monkeypatch):
    """Long runs after which the two splittings have kept energy and momentum."""
    followed = (("exact_rotor", 0.0), ("no_squish", 0.1), ("verlet", 0.1), ("spiral_leapfrog", 1.0), ("spiral_predicted", 0.1))
    rows = [
        {"problem": problem, "method": key, "quantity": quantity, "growth": growth, "last": 1e-3}
        for problem in ("free_asymmetric_top", "heavy_top", "asymmetric_heavy_top")
        for quantity in ("energy_drift", "momentum_drift")
        for key, growth in followed
        # One was not followed everywhere.
        if (problem, key) != ("asymmetric_heavy_top", "spiral_predicted")
    ]
    # Without a conserved energy, a problem says nothing.
    rows.append({"problem": "lab_torque", "method": "exact_rotor", "quantity": "momentum_drift", "growth": 1.0, "last": 1e-3})
    # Only the momentum of this one grows.
    rows.append({"problem": "heavy_top", "method": "verlet", "quantity": "momentum_drift", "growth": 1.0, "last": 1e-3})
    monkeypatch.setattr(law_frames.frames_of_drift, "long_runs", lambda inputs, problems: pd.DataFrame(rows))


def test_methods_that_keep_energy_and_momentum_keep_both(run, data, long_runs_without_drift):
    ens = law_frames.ensemble(run)
    assert [key for key, keeps in zip(METHODS, law_frames.keepers(run, ens), strict=True) if keeps] == ["exact_rotor"]
    # The section on long runs asks for the energy alone.
    assert law_frames.frames_of_drift.bounded_methods(run) == (
        ["exact_rotor", "no_squish", "verlet"],
        ["free_asymmetric_top", "heavy_top", "asymmetric_heavy_top"],
    )


@pytest.mark.parametrize(
    ("count", "at_least", "low_at_most"), [(2, False, False), (10, False, True), (16, False, True), (17, True, True)]
)
def test_bounds_are_named_where_the_coarsest_step_sufficed(count, at_least, low_at_most, tmp_path):
    """For most of 32 bodies the number of steps is a bound, for a tenth of them its lower end."""
    data = ensemble({"spiral_leapfrog": Law(2, 0.02)}, bend=0.0, scatter=0.0, classes=("free",))
    for name in ("error_q", "error_omega"):
        data[name][{"body": slice(0, count)}] *= 1e-3
    choice = law_frames.of_method(law_frames.ensemble(inputs_of(data, tmp_path)), law_frames.FREE, "spiral_leapfrog", 1e-4)
    assert (choice.at_least, choice.low_at_most) == (at_least, low_at_most)
    # Two steps a radian are the coarsest, and (0.02 / 1e-4)^(1/2) what the other bodies need.
    assert choice.steps[1] == pytest.approx(2 if low_at_most else 200**0.5, rel=0.01)


def test_methods_are_equal_if_states_do_not_separate_them():
    """By the interval of the ratio of steps, not by its value."""
    ratios = {"first": (1.0, 1.0, 1.0), "open": (1.2, 0.9, 1.5), "close": (1.02, 1.01, 1.03), "far": (3.0, 2.0, 4.0)}
    methods = [law_frames.ContactSteps(k, k, (10, 5, 20), law_frames.Estimate(*r), np.ones(3)) for k, r in ratios.items()]
    assert [method.method for method in law_frames.as_good(methods)] == ["first", "open"]


@pytest.mark.parametrize(
    ("coefficient", "group", "outputs", "named"),
    [(0.0206, "simple", [0, 0], "first"), (0.0206, "implicit", [0, 0], "second"), (0.0194, "simple", [4, 0], "second")],
)
def test_of_two_as_good_the_one_with_fewer_torques_is_named(coefficient, group, outputs, named):
    methods = {"first": Law(2, coefficient), "second": Law(2, 0.02, group=group), "euler": Law(1, 0.5)}
    data = ensemble(methods, seed=5).assign(torques_per_output=("integrator", [*outputs, 0]))
    choice = law_frames.choose(law_frames.EnsembleLaws(data), law_frames.SMOOTH, np.ones(3, bool))
    assert (choice.method, choice.equal) == (named, ("first" if named == "second" else "second",))


def test_the_sentence_on_smooth_torques_names_its_methods(run):
    def said(single, steady):
        advice = [SimpleNamespace(method=key, label=key) for key in (single, steady)]
        return law_numbers._smooth(run, SimpleNamespace(single=advice[0], steady=advice[1]))["studySmoothAnswer"]

    assert "its energy does not drift" in said("euler", "euler") and "among" not in said("euler", "euler")
    assert r"and \emph{verlet} the fewest among methods whose energy does not drift" in said("euler", "verlet")


def test_the_answer_states_what_was_put_in(run, long_runs_without_drift):
    table, text = rendering.table("answer", run)
    rows = {(row["situation"], row["kept"]): row for row in table.to_dict("records")}
    smooth, friction = rows["smooth", 0], rows["friction", 0]
    assert (smooth["method"], rows["smooth", 1]["method"]) == ("spiral_leapfrog", "exact_rotor")
    assert friction["method"] == "spiral_predicted" and friction["several"] == "rkmk4"
    # Second order both: the square root of the coefficients.
    assert smooth["gain_verlet"] == pytest.approx(20**0.5, rel=0.05)
    assert smooth["gain_verlet_low"] < smooth["gain_verlet"] < smooth["gain_verlet_high"]
    assert smooth["steps_low"] < smooth["steps"] < smooth["steps_high"]
    # First order against second.
    assert friction["gain_verlet"] == pytest.approx(0.5 / 1e-4 / (0.022 / 1e-4) ** 0.5, rel=0.2)
    # It is the first without a torque, too.
    assert text.count(r"\textbf{spiral leapfrog}") == 2


def test_the_law_sheet_holds_every_method_of_every_class(run):
    table, _ = rendering.table("law_sheet", run)
    assert len(table) == len(CLASSES) * len(METHODS)
    row = table[(table["method"] == "verlet") & (table["torque_class"] == "lab")].iloc[0]
    assert row["C"] == pytest.approx(0.4, rel=0.2) and row["C_low"] < row["C"] < row["C_high"]
    assert row["slowdown"] == pytest.approx(20**0.5, rel=0.05) and row["told_apart"]


def test_the_numbers_of_the_text_are_all_made(run, long_runs_without_drift):
    """The macros of its section, except those on methods that these ensembles lack, and those of checks."""
    made = rendering.numbers("laws", run)
    used = macros.used([HOME / chapters.FOLDER / "laws" / "text.tex"])
    lacking = {name for name in used - set(made) if "Over" not in name and not name.startswith("studyLong")}
    assert not lacking
    assert made["studyLawBodies"] == "32"
    assert not [name for name, text in made.items() if "nan" in text or text == "inf"]


NEW = [(kind, name) for kind in ("figures", "tables") for name in getattr(all_chapters()["laws"], kind)]


@pytest.mark.parametrize(
    "methods",
    [
        pytest.param({}, id="no ensembles"),
        pytest.param(
            {"rk4": Law(4, 0.05, torques=4, group="several torques per step")}, id="no one torque", marks=pytest.mark.thorough
        ),
        pytest.param(
            {"my_own": Law(2, 0.05, group=""), "euler": Law(1, 0.5, limit=1e-5)}, id="a plug-in", marks=pytest.mark.thorough
        ),
    ],
)
def test_a_run_that_has_little_is_shown_as_far_as_it_goes(methods, tmp_path):
    small = Inputs("")
    if methods:
        data = ensemble(methods, bodies=1, classes=("free", "her_class"))
        small = inputs_of(data, tmp_path)
    for kind, name in NEW:
        (rendering.render_figure if kind == "figures" else rendering.render_table)(name, small, tmp_path / kind)
    assert "nan" not in "".join(rendering.numbers("laws", small).values())
    for path in (tmp_path / "tables").glob("*.tex"):
        assert "nan" not in path.read_text()


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "name"), NEW)
def test_the_same_data_give_the_same_files(kind, name, data, tmp_path, monkeypatch):
    monkeypatch.delitem(style.METADATA, "png")  # without pixels, which nobody compares
    whole = inputs_of(data, tmp_path)
    for folder in ("one", "two"):
        (rendering.render_figure if kind == "figures" else rendering.render_table)(name, whole, tmp_path / folder)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
        assert path.suffix != ".tex" or path.read_text().count("{") == path.read_text().count("}")
    assert len(list((tmp_path / "one").iterdir())) == {"figures": 1, "tables": 2}[kind]


# The laws of the run against those of more bodies


@pytest.fixture(scope="module")
def draws(tmp_path_factory):
    """A run of 16 bodies, those of more, of which they are the first, in full, and a folder with the laws of these."""
    more = ensemble(bodies=96, seed=3, scatter=0.4)
    more["moments"] = (("body", "axis3"), np.random.Generator(np.random.PCG64(5)).uniform(0.5, 1, (96, 3)))
    folder = tmp_path_factory.mktemp("draws")
    write_dataset(law_file.packed(law_file.condensed(more)), folder / "laws.nc")
    few = more.isel(body=slice(0, 16))
    write_dataset(few, folder / "ensembles.nc")
    return few, more, Inputs("", ensembles=folder / "ensembles.nc", released=folder)


def test_the_run_has_the_first_of_the_bodies_that_were_stored(draws):
    run = draws[2]
    ens = law_frames.of_run(run)
    released = law_frames.released(run, ens)
    assert law_frames.begins_with(released, ens)
    assert not law_frames.begins_with(released.isel(body=slice(1, None)), ens)


def test_page_one_rests_on_the_released_bodies(draws):
    _, more, run = draws
    condensed, every = law_frames.ensemble(run), law_frames.EnsembleLaws(more)
    assert condensed.bodies == 96 and law_frames.of_run(run).bodies == 16 and condensed.radians == every.radians
    # From the errors of all bodies, without the file; it keeps steps to half a percent.
    for situation in (law_frames.SMOOTH, law_frames.FRICTION):
        rows = every.rows(situation)
        for method in every.methods:
            ours, theirs = (law_frames.of_method(dataset, situation, method) for dataset in (condensed, every))
            expected = np.quantile(
                every.steps_of(rows)[every.methods.index(method)], [0.1, 0.5, 0.9, 0.95], method="inverted_cdf"
            )
            made = [ours.steps[1], ours.steps[0], ours.steps[2], ours.nearly_all]
            np.testing.assert_allclose(made, expected, rtol=0.03, err_msg=method)
            np.testing.assert_allclose(ours.steps, theirs.steps, rtol=0.01, err_msg=method)
    for name in ("order", "leading", "growth", "finest", "stable"):
        np.testing.assert_allclose(condensed.laws[name].values, every.laws[name].values, rtol=0.02, atol=0.02, err_msg=name)
    np.testing.assert_allclose(condensed.orders("q"), every.orders("q"), rtol=1e-6)
    assert (condensed.laws["stable_at_least"].values == every.laws["stable_at_least"].values).all()


@pytest.mark.parametrize("other", ["bodies", "integrator", "torque_class"])
def test_a_run_with_something_of_its_own_is_shown_itself(draws, tmp_path, other):
    """Other bodies, a method or a class of torque that the released laws have not: never a mixture of both."""
    few, _, run = draws
    if other == "bodies":
        changed = few.assign(moments=few["moments"] * 1.01)
    else:
        changed = few.assign_coords({other: ["mine", *few[other].values[1:].tolist()]})
    write_dataset(changed, tmp_path / "ensembles.nc")
    ens = law_frames.ensemble(Inputs("", ensembles=tmp_path / "ensembles.nc", released=run.paths["released"]))
    assert ens.bodies == 16 and not ens.condensed


def test_a_run_that_cannot_be_compared_says_why(draws, tmp_path):
    few, more, run = draws
    with pytest.raises(NotInRun, match="no more bodies"):
        law_frames.released(run, law_frames.EnsembleLaws(more))
    with pytest.raises(NotInRun, match="16 radians, those of this run to 8"):
        law_frames.released(run, law_frames.EnsembleLaws(few.isel(radians=slice(0, 3))))
    with pytest.raises(NotInRun, match="no laws"):
        law_frames.released(Inputs("", released=tmp_path), law_frames.EnsembleLaws(few))
