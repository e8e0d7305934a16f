"""Random bodies under stiff friction and over long times: the checks, and what the text derives from them."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from data_files import invented

from polhode.ensembles import draw, reference
from polhode_study import configuration
from polhode_study.chapters.laws import frames_of_checks as law_checks
from polhode_study.chapters.laws import run as body_checks
from polhode_study.inputs import NotInRun

SETTINGS = {"methods": ["spiral_leapfrog", "spiral_predicted", "spiral_predicted_last", "rkmk4"], "seed": 0}


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(body_checks, "BODIES", 4)


@pytest.mark.thorough
def test_the_secant_alone_survives_a_long_step(few, monkeypatch):
    monkeypatch.setattr(body_checks, "RATES", (0.5, 30.0))
    monkeypatch.setattr(body_checks, "FRICTION_STEPS", (0.0625, 2.0**-9))
    data = body_checks.stiff_friction(SETTINGS)
    # In the order of the experiment, without methods that the study has not, and without those that it does not ask for.
    assert data["integrator"].values.tolist() == ["spiral_leapfrog", "spiral_predicted", "spiral_predicted_last"]
    assert data["label"].dims == ("integrator",)
    error = data["error_omega"].sel({"torque_class": "friction_isotropic", "radians": 16.0}, drop=True)
    # k dt = 1.9 in the mean over directions, more about the axis of the smallest moment: beyond the limits of SPIRAL, 2, and of
    # the last torque, 1.
    long = error.sel(rate=30.0, step=0.0625, drop=True)
    lost = long.isnull() | (long > 1)
    assert lost.sel({"integrator": "spiral_predicted_last"}).all() and lost.sel({"integrator": "spiral_leapfrog"}).any()
    assert not lost.sel({"integrator": "spiral_predicted"}).any()
    # |omega| of a body without friction is not what is left of it: the exact torque has the rate, whatever the draw.
    ensemble = draw(4, 0)
    for rate in (0.5, 30.0):
        scale = rate / ensemble.strength
        c = ensemble.parameters["friction_isotropic"][:, 0] * scale
        assert np.sqrt((c[:, None] ** 2 / ensemble.moments**2).mean(axis=1)) == pytest.approx(rate)
    fine = data["error_q"].sel({"step": 2.0**-9, "radians": 16.0, "torque_class": "friction_isotropic"}, drop=True)
    # First order for SPIRAL: the angle lost in half a step, |omega| dt / 2, whatever the rate.
    assert fine.sel({"integrator": "spiral_leapfrog"}).values == pytest.approx(2.0**-10, rel=0.6)
    assert (fine.sel({"integrator": "spiral_predicted"}) < 0.05 * fine.sel({"integrator": "spiral_leapfrog"})).all()


@pytest.mark.thorough
def test_the_reference_of_long_times_is_the_taylor_series(few, monkeypatch):
    monkeypatch.setattr(body_checks, "OVER_TIME", ("rkmk4", "spiral_leapfrog"))
    monkeypatch.setattr(body_checks, "LONG_STEPS", (2.0**-4, 2.0**-8))
    monkeypatch.setattr(body_checks, "TIMES", (16.0, 64.0))
    data = body_checks.long_times(SETTINGS)
    assert data["agreement"].dims == ("torque_class", "body", "radians") and (data["agreement"][..., 0] < 1e-6).all()
    ensemble = draw(4, 0)
    # The run with twice the step of the reference, against states with 25 digits: what agreement says.
    for i, key in enumerate(body_checks.GROWING):
        high, low, _ = reference.reference(ensemble, key, np.array([16.0]))
        errors = data.sel({"torque_class": key, "integrator": "rkmk4", "step": 2.0**-8, "radians": 16.0})
        again = body_checks.march(
            ensemble.bodies(key),
            body_checks.METHODS["rkmk4"],
            body_checks.CLASSES[key].compiled_torque,
            2.0**-8,
            np.array([4096]),
        )
        exact = np.maximum(*reference.errors(again[0], again[1], high, low))[:, 0]
        assert data["agreement"].values[i, :, 0] == pytest.approx(exact, rel=0.15, abs=1e-12)
        assert np.maximum(errors["error_q"], errors["error_omega"]).values == pytest.approx(
            data["agreement"].values[i, :, 0], rel=1e-5
        )


@pytest.mark.thorough
def test_the_gain_of_a_corrector_falls_with_the_strength(few, monkeypatch):
    monkeypatch.setattr(body_checks, "STRENGTHS", (0.01, 1.0))
    monkeypatch.setattr(body_checks, "STRENGTH_STEPS", tuple(2.0**-k for k in range(8)))
    monkeypatch.setattr(body_checks, "GROWING", ("state",))
    monkeypatch.setattr(body_checks, "CORRECTED", body_checks.CORRECTED[:1] + body_checks.CORRECTED[-1:])
    data = body_checks.strengths({"methods": ["exact_rotor", "exact_rotor_corrected", "dlm1997"], "seed": 0})
    keys = ["exact_rotor", "exact_rotor_corrected", "dlm1997", "exact_rotor_corrected3", "dlm1997_corrected5_own"]
    assert data["integrator"].values.tolist() == keys and (data["torques_per_step"] == 1).all()
    frame = law_checks.strengths(_inputs("strengths", data))
    steps = frame[frame["error"] == 1e-6].set_index(["method", "strength"])["steps"]
    assert steps["exact_rotor", 0.01] > 5 * steps["exact_rotor_corrected", 0.01]
    assert steps["exact_rotor", 1.0] < 3 * steps["exact_rotor_corrected", 1.0]
    assert steps["dlm1997_corrected5_own", 0.01] == pytest.approx(steps["dlm1997", 0.01], rel=0.1)
    # The torque has the strength: twenty times the plain error at a hundredfold torque, and more where it moves the body.
    plain = data["error_q"].sel({"integrator": "exact_rotor", "step": 2.0**-7}, drop=True).median("body").squeeze()
    assert plain[1] > 20 * plain[0]


def curves(errors):
    """A check ``long_times`` of 10 bodies, whose errors at a step h are ``errors`` (body, radians) times h^2."""
    step = 2.0 ** -np.arange(9)
    values = np.asarray(errors, float)[None, None, :, None, :] * step[:, None] ** 2
    axes = {"torque_class": ["lab"], "integrator": ["a"], "step": step, "radians": [16.0, 256.0]}
    of_bodies = {"error_q": values, "error_omega": 0.5 * values, "agreement": np.zeros((1, 10, 2))}
    return invented("checks/long_times.nc", axes, **of_bodies, diverged=np.int8(0), label=["A"])


def test_bodies_that_need_a_finer_step_later_are_counted():
    """Errors of 1.6 (1, 2, ... 10) h^2 after 16 radians; after 256 those of three bodies have grown as the square of time."""
    first = 1.6 * np.arange(1, 11)
    later = first * np.where(np.arange(10) < 3, 256.0, 16.0)
    data = curves(np.stack([first, later], axis=-1))
    frame = law_checks.long_times(_inputs("long_times", data)).set_index("radians")
    # The ninth of ten needs h^2 = 1e-3 / 9; what has grown 16 times more than in proportion to time exceeds that.
    assert frame.loc[16.0, "nine_of_ten"] == pytest.approx(np.sqrt(9e3), rel=1e-3) == frame.loc[256.0, "nine_of_ten"]
    assert frame.loc[16.0, "exceeding"] == pytest.approx(0.1) and frame.loc[256.0, "exceeding"] == pytest.approx(0.4)
    assert law_checks.exceeding(frame.reset_index(), "lab") == (pytest.approx(0.4), pytest.approx(0.4), 0.0)
    # And a body that no run can follow.
    data["agreement"][0, 4, 1] = 1.0
    frame = law_checks.long_times(_inputs("long_times", data)).set_index("radians")
    assert (frame.loc[256.0, "exceeding"], frame.loc[256.0, "unknown"]) == (pytest.approx(0.4), pytest.approx(0.1))


def test_without_its_methods_a_check_is_not_in_the_run():
    with pytest.raises(NotInRun, match="stiff_friction"):
        law_checks.stiff_friction(_inputs("stiff_friction", xr.Dataset()))


def _inputs(name, data):
    return SimpleNamespace(check=lambda check: {name: data}[check], _analysed={}, from_release=set(), problem="")


def test_every_experiment_of_the_configuration_exists():
    for check in configuration.CHECKS.values():
        module, name = check.code.split(":")
        assert callable(getattr(import_module(module), name))
