"""The released laws of many random bodies, and the steps that ``polhode recommend`` takes from them, on bodies it never saw."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from studies import default

from polhode.advice import AdviceError, from_laws
from polhode.ensembles import draw
from polhode.ensembles.classes import CLASSES
from polhode.fits import law_file
from polhode.interface.netcdf import read_dataset
from polhode.methods import METHODS
from polhode_study import chapters
from polhode_study.chapters.laws import frames as law_frames
from polhode_study.gather.ensembles import gathered
from polhode_study.run.ensemble import method_dataset
from polhode_study.run.ensemble_states import states_dataset

HOME = Path(__file__).parents[1]
LAWS = HOME / "data/released/laws.nc"
#: Not the seed of the released draw.
FRESH = 4711


@pytest.fixture(scope="module")
def released():
    return read_dataset(LAWS)


def test_the_default_study_s_bodies_are_the_first_of_512(released):
    """What law_frames.ensemble asks of a run (tests/test_laws.py), of the bodies that config.yaml draws."""
    chosen = default()["ensembles"]
    drawn = xr.Dataset({"moments": (("body", "axis3"), draw(chosen["bodies"], chosen["seed"]).moments)})
    assert chosen["seed"] == released.attrs["seed"] and chosen["bodies"] < 512
    assert law_frames.begins_with(released, SimpleNamespace(data=drawn))
    assert chosen["classes"] == chosen["methods"] == "all" and max(chosen["radians"]) == released.attrs["radians"]
    assert set(METHODS) <= set(released["integrator"].values) and set(CLASSES) <= set(released["torque_class"].values)


#: What is made of the laws of all bodies: figures and tables of the chapters on laws; others say of which bodies.
OF_ALL_BODIES = {"answer", "slowdown"}


def test_table_1_figures_and_abstract_name_the_number_of_bodies():
    named = set()
    for path in chapters.texts(HOME):
        text = path.read_text(encoding="utf-8")
        for piece in re.findall(r"\\begin\{(?:figure|table)\*?\}.*?\\end\{(?:figure|table)\*?\}", text, re.DOTALL):
            of_laws_shown = OF_ALL_BODIES.intersection(re.findall(r"(?:\]|tables/|\})\{?(\w+)\}", piece))
            assert not of_laws_shown or r"\studyLawBodies" in piece, (path.name, of_laws_shown)
            named |= of_laws_shown
    assert named == OF_ALL_BODIES
    caption = (HOME / chapters.FOLDER / "laws/files.tex").read_text().partition(r"\newcommand{\lawsheetcaption}")[2]
    assert r"\studyLawBodies" in caption.partition("\n")[0]
    assert r"methods on \studyLawBodies{} random bodies" in (HOME / "paper/article/abstract.tex").read_text()


def steps(data, errors, radians=None):
    return law_file.steps_per_radian(data, errors, radians)["steps"].values


def test_the_file_says_of_what_it_is(released):
    assert released.sizes["body"] == int(released.attrs["bodies"]) == 512
    assert int(released.attrs["seed"]) != FRESH
    assert {"version", "commit", "date"} <= set(released.attrs)


@pytest.mark.thorough
def test_the_file_is_what_the_draw_and_the_methods_give_now(released):
    """Tables and figures rest on it: its bodies are those that are drawn, and the first need the steps that it names."""
    seed, classes = int(released.attrs["seed"]), [str(name) for name in released["torque_class"].values]
    np.testing.assert_allclose(released["moments"].values, draw(released.sizes["body"], seed).moments, rtol=1e-5)
    methods = [key for key in METHODS if key in released["integrator"].values]
    assert methods == list(METHODS)
    exact = states_dataset(1, seed, classes, [4.0, 16.0])
    step = released["step"].values.tolist()
    runs = {key: method_dataset(METHODS[key], exact, step[::-1]) for key in methods}
    again = law_file.condensed(gathered(exact, runs, seed))
    ours, theirs = steps(again, [1e-4]), steps(released.isel(body=slice(0, 1)).sel({"integrator": methods}), [1e-4])
    both = np.isfinite(ours) & np.isfinite(theirs)
    assert (np.isfinite(ours) == np.isfinite(theirs)).all()
    np.testing.assert_allclose(theirs[both], ours[both], rtol=0.01)


def test_a_smaller_error_takes_more_steps(released):
    some = released.isel(body=slice(0, 64))
    coarse, fine = np.moveaxis(steps(some, [1e-3, 1e-5], 16.0), -1, 0)
    both = np.isfinite(coarse) & np.isfinite(fine)
    assert both.any() and (fine[both] >= coarse[both]).all()


def test_long_times_take_more_steps_than_those_of_the_laws(released):
    some = released.isel(body=slice(0, 64))
    total = float(some.attrs["radians"])
    short, same, long = (steps(some, [1e-4], radians) for radians in (total / 8, total, 8 * total))
    np.testing.assert_array_equal(short, same)
    both = np.isfinite(same) & np.isfinite(long)
    assert both.any() and (long[both] >= same[both]).all() and (long[both] > 1.1 * same[both]).mean() > 0.5


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("torque_class", "method", "radians"),
    [
        ("friction_isotropic", "spiral_predicted", 4.0),
        ("friction_isotropic", "spiral_predicted", 16.0),
        ("friction_isotropic", "spiral_predicted", 64.0),
        ("lab", "spiral_leapfrog", 4.0),
        # Not 64: some motions under a lab torque are chaotic, and only two thirds of the bodies are served there.
        ("lab", "spiral_leapfrog", 16.0),
    ],
)
def test_the_step_for_nine_in_ten_holds_for_new_bodies(released, torque_class, method, radians):
    error = 1e-3
    steps_of_bodies = steps(released.sel({"torque_class": [torque_class], "integrator": [method]}), [error], radians).ravel()
    served = np.quantile(steps_of_bodies, 0.9)
    # The next finer step that divides the time.
    dt = radians / np.ceil(served * radians)
    exact = states_dataset(100, FRESH, [torque_class], [radians])
    errors = method_dataset(METHODS[method], exact, [dt])
    worst = np.fmax(errors["error_q"].values, errors["error_omega"].values).ravel()
    # Of 100 bodies, at most 17 fail in 99 of 100 draws if a tenth does.
    assert (worst <= error).sum() >= 83, np.sort(worst)[-20:]
    if radians != released.attrs["radians"]:
        return
    # And the step is no waste: one three times as long serves fewer.
    longer = radians / np.ceil(served * radians / 3)
    coarse = method_dataset(METHODS[method], exact, [longer])
    assert (np.fmax(coarse["error_q"].values, coarse["error_omega"].values).ravel() > error).sum() > 17


def test_without_any_file_what_a_run_makes_is_named(monkeypatch):
    monkeypatch.setattr(from_laws.files, "of_run", lambda name: None)
    monkeypatch.setattr(from_laws.files, "released", lambda name, home=None: None)
    with pytest.raises(AdviceError, match=r"reproduce results/ensembles\.nc"):
        from_laws._file(None)
