"""The factorial experiment on the parts of a method: known methods among its combinations, its parts, and its analysis."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.integrate
import xarray as xr

import polhode
from polhode.compiling.kernel import compile_driver
from polhode.ensembles.classes import CLASSES
from polhode.ensembles.draw import draw
from polhode.problems.problem import TORQUE_CLASSES
from polhode.study.run import parts
from polhode.study.run.ensemble import method_dataset
from polhode.study.run.ensemble_states import exact_states
from polhode.study.themes.parts import analysis, figures, numbers, tables


@pytest.fixture(scope="module")
def drive():
    return compile_driver(parts.run, parts._SIGNATURE)


def end(drive, problem, steps, kick, rotation, place):
    """q and omega at the horizon of the method made of these parts."""
    numbers = parts.KICKS.index(kick), parts.ROTATIONS.index(rotation), parts.PLACES.index(place)
    given = problem.q0, problem.omega0, problem.body.coefficients(), problem.compiled_torque, problem.parameter_array
    return np.concatenate([*map(np.array, drive(*numbers, *given, problem.horizon / steps, steps))])


@pytest.mark.parametrize(
    "method, chosen, tolerance",
    [
        ("spiral_leapfrog", ("ssprk3", "exponential", "leapfrog"), 1e-13),
        # Its three iterations are not converged to rounding.
        ("omelyan1998", ("implicit", "cayley", "leapfrog"), 1e-4),
    ],
)
@pytest.mark.parametrize("problem", ["asymmetric_heavy_top", "lab_torque"])
def test_known_methods_are_among_the_combinations(drive, method, chosen, tolerance, problem):
    problem = polhode.problems[problem]
    run = polhode.simulate(problem, method, problem.horizon / 512, samples=1)
    known = np.concatenate([run.q.values[-1], run.omega.values[-1]])
    assert end(drive, problem, 512, *chosen) == pytest.approx(known, rel=tolerance, abs=tolerance)


@pytest.mark.parametrize("problem", ["forced_cylinder", "lab_torque"])
@pytest.mark.parametrize("method, place", [("spiral_dkd", "middle"), ("spiral_kdk", "both ends")])
def test_methods_of_this_work_are_among_the_combinations(drive, method, place, problem):
    """Where the torque does not depend on the angular velocity, whatever they predict. It does depend on its time here."""
    problem = polhode.problems[problem]
    run = polhode.simulate(problem, method, problem.horizon / 512, samples=1)
    known = np.concatenate([run.q.values[-1], run.omega.values[-1]])
    for predicted in ("", " predicted"):
        reached = end(drive, problem, 512, "ssprk3", "exponential", place + predicted)
        assert reached == pytest.approx(known, rel=1e-13, abs=1e-13)
    other = end(drive, problem, 512, "ssprk3", "exponential", "both ends" if place == "middle" else "middle")
    assert np.abs(other - known).max() > 1e-6


def test_the_prediction_of_the_experiment_is_that_by_the_last_torque(drive):
    problem = polhode.problems["damped_top"]
    ends = []
    for method in ("spiral_predicted_last", "spiral_predicted"):
        run = polhode.simulate(problem, method, problem.horizon / 512, samples=1)
        ends.append(np.concatenate([run.q.values[-1], run.omega.values[-1]]))
    reached = end(drive, problem, 512, "ssprk3", "exponential", "leapfrog predicted")
    assert reached == pytest.approx(ends[0], rel=1e-13, abs=1e-13)
    assert np.abs(ends[1] - ends[0]).max() > 1e-7


def test_a_wrong_combination_is_not_a_known_method(drive):
    problem = polhode.problems["asymmetric_heavy_top"]
    run = polhode.simulate(problem, "spiral_leapfrog", problem.horizon / 512, samples=1)
    other = end(drive, problem, 512, "ssprk3", "cayley", "leapfrog")[:4]
    assert np.abs(other - run.q.values[-1]).max() > 1e-7


@pytest.mark.parametrize("place", parts.PLACES)
def test_compiled_is_plain_python(drive, place):
    problem = polhode.problems["damped_top"]
    given = problem.q0, problem.omega0, problem.body.coefficients(), problem.torque, problem.parameter_array
    k = parts.PLACES.index(place)
    for i, j in ((0, 0), (2, 3), (4, 1)):
        chosen = parts.KICKS[i], parts.ROTATIONS[j], place
        plain = parts.run(i, j, k, *given, problem.horizon / 16, 16)
        assert end(drive, problem, 16, *chosen) == pytest.approx(np.concatenate(plain), rel=1e-13, abs=1e-14)


#: What the experiment reads of a study.
SETTINGS = {"seed": 2026}
ORDERS = {"euler": 1, "midpoint": 2, "ssprk3": 3, "implicit": 2}


@pytest.mark.parametrize("name", parts.KICKS)
def test_kicks_have_their_orders(name):
    """Against scipy on Euler's equations under a constant torque."""
    body, torque, omega = polhode.Body((1.0, 1.7, 2.3)).coefficients(), (0.5, -0.7, 0.4), (0.9, -0.7, 1.1)

    def rate(t, w):
        x, y, z = 1.0, 1.7, 2.3
        return [
            (0.5 - (z - y) * w[1] * w[2]) / x,
            (-0.7 - (x - z) * w[2] * w[0]) / y,
            (0.4 - (y - x) * w[0] * w[1]) / z,
        ]

    errors = []
    for dt in (0.1, 0.05):
        exact = scipy.integrate.solve_ivp(rate, (0, dt), omega, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
        errors.append(np.abs(np.array(parts.kicked(parts.KICKS.index(name), omega, torque, body, dt)) - exact).max())
    if name == "exact":
        assert max(errors) < 1e-10
    else:
        assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[name] + 1, abs=0.25)


@pytest.mark.parametrize("name, order", [("matrix", 1), ("linear", 2), ("cayley", 2)])
def test_rotations_have_their_orders(name, order):
    """Against the exponential, which is exact for a constant angular velocity."""
    q, omega = (0.5, -0.1, 0.7, 0.5), (0.9, -0.7, 1.1)
    kind = parts.ROTATIONS.index(name)
    distances = []
    for dt in (0.02, 0.01):
        exact = np.array(parts.exponential(q, omega, dt))
        turned = np.array(parts.turned(kind, q, omega, dt))
        distances.append(np.abs(turned * np.sign(turned @ exact) - exact).max())
    assert np.log2(distances[0] / distances[1]) == pytest.approx(order + 1, abs=0.1)


@pytest.fixture(scope="module")
def study():
    """The experiment itself, as the files of a run have it."""
    data = parts.parts(SETTINGS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "BODIES", 16)
        bodies = parts.parts_over_bodies(SETTINGS)
    return data, SimpleNamespace(check=lambda name: {"parts": data, "parts_over_bodies": bodies}[name], from_release=set())


@pytest.mark.thorough
def test_prediction_gives_back_the_order_under_friction(study):
    data, inputs = study
    assert list(data["torque_class"].values) == list(TORQUE_CLASSES)
    order = analysis.orders(inputs).sel(kick="ssprk3", rotation="exponential")
    for place in ("leapfrog", "middle", "both ends"):
        assert float(order.sel(place=place, problem="damped_top")) == pytest.approx(1, abs=0.03)
        assert float(order.sel(place=f"{place} predicted", problem="damped_top")) == pytest.approx(2, abs=0.05)
        # Without friction a prediction changes no bit.
        rest = data.sel(problem=[p for p in parts.PROBLEM_KEYS if p != "damped_top"])
        assert rest.sel(place=place, drop=True).equals(rest.sel(place=f"{place} predicted", drop=True))


@pytest.mark.thorough
def test_shares_and_exchanges_are_made_from_the_errors(study):
    data, inputs = study
    error = analysis.errors(inputs)
    shares = analysis.shares(error).to_array()
    assert shares.sum("variable").values == pytest.approx(np.ones(6)) and (shares > -1e-12).all()
    # A part alone decides an error made from it alone.
    alone = xr.ones_like(error) * xr.DataArray(10.0 ** np.arange(5), dims="kick", coords={"kick": error["kick"]})
    assert analysis.shares(alone)["kick"].values == pytest.approx(np.ones(6))
    # Explicit Euler and the linear step of the matrix are of first order; without them the place decides on these problems.
    second = analysis.of_second_order(error)
    assert second.sizes["kick"] == 4 and second.sizes["rotation"] == 3 and second.sizes["place"] == 7
    order = analysis.orders(inputs).sel(place="both ends predicted", problem="asymmetric_heavy_top")
    assert (order.sel(kick="euler") < 1.5).all() and (analysis.of_second_order(order) > 1.8).all()
    varied = {"problem": ["lab_torque", "asymmetric_heavy_top", "damped_top"]}
    assert (analysis.shares(second).place.sel(varied) > 0.96).all() and (analysis.shares(error).place.sel(varied) < 0.9).any()
    frame = analysis.exchanges(error).set_index(["part", "level"])
    for part, level in analysis.BASE.items():
        assert (frame.loc[part, level] == 1).all()
    mean = 0.5 * (data["q_error_l1"] + data["omega_error_l1"]).sel(problem="lab_torque", division=1024)
    by_hand = [float(mean.sel({**analysis.BASE, "rotation": rotation})) for rotation in ("cayley", "exponential")]
    assert frame.loc["rotation", "cayley"]["lab_torque"] == pytest.approx(by_hand[0] / by_hand[1])


@pytest.mark.thorough
def test_figure_table_and_numbers_are_made(study):
    _, inputs = study
    (above,), (below,) = figures.parts(inputs).axes, figures.parts_exchanged(inputs).axes
    assert len(below.texts) == 16 * 6
    assert [tick.get_text() for tick in above.get_yticklabels()] == [one.label for one in CLASSES.values()]
    frame, text = tables.parts(inputs)
    assert len(frame) == 140 * 6 and text.count(r"\\") == 7
    assert numbers.parts(inputs)["studyPartsCount"] == "140"


@pytest.mark.thorough
def test_random_bodies_run_the_same_combinations(study):
    """Against whole methods, which run them by another driver; the reference is checked in test_ensembles.py."""
    _, inputs = study
    data = inputs.check("parts_over_bodies").isel(body=slice(3))
    steps, exact = data.attrs["steps"], exact_states(draw(3, 2026), list(CLASSES), (data.attrs["radians"],))
    for method, combination in (
        ("spiral_leapfrog", {"kick": "ssprk3", "rotation": "exponential", "place": "leapfrog"}),
        ("spiral_predicted_last", {"kick": "ssprk3", "rotation": "exponential", "place": "leapfrog predicted"}),
    ):
        known = method_dataset(polhode.methods[method], exact, [data.attrs["radians"] / steps]).isel(step=0, radians=0)
        for name in ("error_q", "error_omega"):
            assert data[name].sel(combination).values == pytest.approx(known[name].values, rel=1e-5, abs=1e-9)


@pytest.mark.thorough
def test_shares_over_bodies_are_what_figure_and_text_say(study):
    """Recomputed by a fit of the main effects to the logarithms, body by body; not those of the problems, nor of one body."""
    _, inputs = study
    data = inputs.check("parts_over_bodies")
    error = (0.5 * (data["error_q"] + data["error_omega"])).clip(max=analysis.LOST)
    error = error.drop_sel(kick="euler", rotation="matrix").transpose("torque_class", "body", *analysis.FACTORS)
    chosen = np.indices(error.shape[2:]).reshape(3, -1)
    effects = [np.eye(n)[levels] - 1 / n for n, levels in zip(error.shape[2:], chosen, strict=True)]
    place = np.empty(error.shape[:2])
    for i in np.ndindex(place.shape):
        values = np.log10(error.values[i].ravel().astype(float))
        coefficients = np.linalg.lstsq(effects[2], values - values.mean(), rcond=None)[0]
        place[i] = (effects[2] @ coefficients).var() / values.var()
    means = place.mean(axis=1)
    (above,), made = figures.parts(inputs).axes, numbers.parts(inputs)
    bars = np.array([bar.get_width() for bar in above.patches]).reshape(4, len(CLASSES))
    assert bars[list(figures.NAMES).index("place")] == pytest.approx(means) and bars.sum(axis=0) == pytest.approx(1)
    varied = [i for i, one in enumerate(CLASSES.values()) if one.declared in ("lab", "state", "velocity")]
    for end, value in (("Least", means[varied].min()), ("Most", means[varied].max())):
        assert made[f"studyPartsPlaceVaried{end}"] == rf"\num{{{100 * value:.0f}}}"
    assert (
        made["studyPartsPlaceVariedNineOfTen"]
        == rf"\num{{{np.floor(100 * np.quantile(place[varied], 0.1, axis=1).min()):.0f}}}"
    )
    assert made["studyPartsBodies"] == "16" and made["studyPartsStepsPerRadian"] == r"\num{64}"
    # Under each of these the place has more than any other part, on average: what the text says.
    assert (bars.argmax(axis=0)[varied] == list(figures.NAMES).index("place")).all()
    assert (bars.argmax(axis=0)[:2] == list(figures.NAMES).index("rotation")).all()


def test_lost_runs_count_as_large_errors():
    error = xr.DataArray([np.nan, 1e5, 1e-3], dims="kick", coords={"kick": list("abc")})
    data = xr.Dataset({"q_error_l1": error, "omega_error_l1": error}).expand_dims(division=[analysis.STEPS], problem=["p"])
    data["torque_class"] = ("problem", ["free"])
    errors = analysis.errors(SimpleNamespace(check=lambda name: data))
    assert errors.values.ravel().tolist() == [analysis.LOST, analysis.LOST, 1e-3]
