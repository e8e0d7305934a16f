"""The check of single impacts with friction, and the chapter made from it."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from polhode.advice import from_contacts
from polhode.methods import METHODS
from polhode.methods.protocol import OneTorque
from polhode.references.impact import solve
from polhode_study import chapters
from polhode_study.chapters import rendering
from polhode_study.chapters.impacts import frames as analysis
from polhode_study.chapters.impacts import numbers
from polhode_study.chapters.impacts import run as impacts
from polhode_study.chapters.impacts import run_random as random_impacts
from polhode_study.inputs import NotInRun

KEYS = ["spiral_leapfrog", "spiral_synchronous", "omelyan1998"]


@pytest.fixture(scope="module")
def check():
    """All impacts with three methods and a few steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(impacts, "DIVISIONS", (10, 20, 40, 160))
        return impacts.impacts({"methods": ["rkmk4", *reversed(KEYS)], "seed": 0})


@pytest.fixture(scope="module")
def drawn():
    """Three random impacts with two methods."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(random_impacts, "DRAWS", 3)
        return random_impacts.random_impacts({"methods": ["fincham1992", "spiral_leapfrog"], "seed": 0})


@pytest.fixture(scope="module")
def inputs(check, drawn):
    return SimpleNamespace(check={"impacts": check, "random_impacts": drawn}.__getitem__, from_release=set())


def order(check, **where):
    return analysis.order(check["error_spin"].sel(integrator="spiral_leapfrog", **where))


@pytest.mark.thorough
def test_the_references_are_those_of_a_trial_outside_the_project(check):
    """Arms that end at the surface leave the normal motion as it is; 60 degrees, which slides throughout, has a closed form."""
    assert float(check["duration"].sel(case="sphere_45")) == pytest.approx(6.54265171958642553e-6, rel=1e-11)
    assert float(check["duration"].sel(case="sphere_3")) == pytest.approx(6.10618448746739331e-6, rel=1e-11)
    assert float(check["velocity"].sel(case="sphere_45", axis="z")) == pytest.approx(2.75771644662753535, rel=1e-11)
    closed = [3.9 * np.sin(np.pi / 3) - 2 * 0.092 * 1.95, 0.0, 1.95]
    assert check["velocity"].sel(case="sphere_60").values == pytest.approx(closed, rel=1e-11)


@pytest.mark.thorough
def test_contacts_are_first_order_and_second_when_mended(check):
    assert check["integrator"].values.tolist() == KEYS, "in the order of the experiment, without those that it does not have"
    for case in ("sphere_3", "sphere_45", "clump"):
        assert order(check, case=case, stage="usual") == pytest.approx(1.0, abs=0.1)
        assert order(check, case=case, stage="dashpot") == pytest.approx(2.0, abs=0.15)
        assert order(check, case=case, stage="spring") == pytest.approx(1.0, abs=0.15)
    # The return decides for the clump, which begins by sliding, the first increment for a contact that begins by sticking.
    assert order(check, case="clump", stage="start") < 1.1 < 1.9 < order(check, case="clump", stage="return")
    # A dashpot that begins as the root of fourth order.
    assert order(check, case="clump_damped", stage="plane") < 1.15 < order(check, case="clump_damped", stage="dashpot") < 1.5
    assert order(check, case="sphere_60", stage="usual") == pytest.approx(2.5, abs=0.1)


@pytest.mark.thorough
def test_the_chapter_is_made_from_the_check(check, inputs):
    assert analysis.alike(check) == ["spiral_leapfrog", "omelyan1998"]
    macros = {**numbers.impacts(inputs), **numbers.steps(inputs)}
    section = (Path(__file__).parents[1] / chapters.FOLDER / "impacts" / "text.tex").read_text()
    assert set(re.findall(r"\\(studyImpact[A-Za-z]+)", section)) <= set(macros)
    assert (macros["studyImpactAlike"], macros["studyImpactMethods"]) == ("2", "3")
    assert macros["studyImpactPcdmMost"] == "n/a", "a method that the run does not have"
    frame, text = rendering.table("impacts", inputs)
    assert len(frame) == 6 * 6 * 3 and text.count(r"\\") == 6 * (6 + 1) + 1


@pytest.mark.thorough
def test_random_impacts_are_compared_with_their_exact_end(drawn):
    impact = random_impacts.draw(0)
    fine, end = random_impacts.FineImpact(impact), solve(impact, 5).end
    for i, body in enumerate(end.bodies):
        assert fine.velocities[1][i] == pytest.approx([float(x) for x in body.velocity], rel=1e-4, abs=1e-4)
        off = fine.momenta[1][i] - fine.momentum(i, body.q, body.omega)
        assert np.linalg.norm(off) < 1e-4 * fine.largest_change
    assert fine.kinetic[1] == pytest.approx(float(end.energies.kinetic), rel=1e-4)
    assert fine.made == pytest.approx(float(drawn["made"][0]) * fine.kinetic[0])
    made = float(end.energies.kinetic + sum(end.energies.lost[:3])) - fine.kinetic[0]
    assert fine.made == pytest.approx(made, abs=1e-4 * fine.kinetic[0])


def test_random_impacts_begin_as_they_are_drawn():
    for number in range(6):
        impact, again = random_impacts.draw(number), random_impacts.draw(number)
        assert impact == again and impact != random_impacts.draw(number, seed=1)
        assert random_impacts.approach(impact) > random_impacts.SLOWEST * random_impacts.SPEED
        assert 0.05 <= float(impact.friction) <= 1 and 0.3 <= random_impacts.restitution_of(impact) <= 1 + 1e-12
    # A central impact on a rigid plane lasts 4^(-1/5) times as long as one on a plane of its own material.
    head_on = replace(impact.body, velocity=(0, 0, -2.0), omega=(0, 0, 0), offset=(0, 0, 0))
    central = replace(impact, body=head_on, partner=None)
    mass, young, poisson = (float(x) for x in (head_on.mass, head_on.young, head_on.poisson))
    density = mass / (4 / 3 * np.pi * 0.0025**3)
    expected = from_contacts.contact_time(young, poisson, density, 0.0025, 2.0) / 4**0.2
    assert random_impacts.approach(central) == 2.0 and random_impacts.contact_time(central) == pytest.approx(expected)


def test_a_run_without_the_methods_has_no_chapter():
    inputs = SimpleNamespace(check=lambda name: impacts.impacts({"methods": ["rkmk4"], "seed": 0}))
    with pytest.raises(NotInRun, match="impacts"):
        analysis.check(inputs)
    assert isinstance(inputs.check("impacts"), xr.Dataset)
    inputs = SimpleNamespace(check=lambda name: random_impacts.random_impacts({"methods": ["rkmk4"], "seed": 0}))
    with pytest.raises(NotInRun, match="random_impacts"):
        numbers.steps(inputs)


def test_a_body_without_torque_is_turned_back_as_it_came():
    """The copies of a clump before the touch: the angular momentum in the lab is that of the touch."""
    impact = impacts.known_impacts()["clump"]
    body = impact.body
    q = np.array(body.q, dtype=float) / np.linalg.norm(np.array(body.q, dtype=float))
    inertia, omega = np.array(body.inertia, dtype=float), np.array(body.omega, dtype=float)
    earlier = impacts.turned_back(q, omega, inertia, 1e-5)
    lab = [np.array(impacts.to_lab(tuple(q), tuple(w * inertia))) for q, w in ((q, omega), earlier)]
    assert lab[1] == pytest.approx(lab[0], rel=1e-12)
    assert np.abs(earlier[1] - omega).max() > 0.1, "an asymmetric body does not spin evenly"


def test_the_methods_compared_take_one_torque():
    assert all(isinstance(METHODS[key], OneTorque) for key in impacts.COMPARED)
