"""Advice for a scene, or for a clump and its material: the answer for its contacts."""

import json
from dataclasses import replace
from math import pi, sqrt
from pathlib import Path

import pytest

import polhode
from polhode import cli, manybody
from polhode.advice import AdviceError
from polhode.manybody.contact import collision_time

HOME = Path(__file__).parents[1]
MATERIAL = {"young": 1e8, "poisson": 0.3, "density": 2500.0}
STEEL = {"young": 2e11, "poisson": 0.3, "density": 7800.0, "speed": 2.0}
OF_STEEL = [word for name, value in STEEL.items() for word in (f"--{name}", str(value))]
BED = manybody.scenes["bed"]


def same(answer, other):
    """Whether two answers recommend the same, from the same data."""
    words = [json.loads(one.to_json()) for one in (answer, other)]
    return all(words[0][name] == words[1][name] for name in ("method", "dt", "interval", "known_from", "alternatives"))


@pytest.fixture
def bent(tmp_path):
    """A clump of two spheres in cm, the second half as large."""
    path = tmp_path / "bent.csv"
    path.write_text("x,y,z,r\n0,0,0,0.6\n2,0,0,0.3\n")
    return path


def test_a_scene_without_friction():
    chess = manybody.scenes["chess"]
    answer = polhode.recommend("chess", error=1e-4, contacts=5.0)
    assert same(answer, polhode.recommend(contact_time=chess.contact_time(), error=1e-4, contacts=5.0))
    assert "chess pieces" in answer.question
    faster = polhode.recommend(chess, error=1e-4, contacts=5.0, speed=32.0)
    assert faster.dt / answer.dt == pytest.approx(1 / 2)  # the fifth root of 32


def test_a_scene_that_rubs():
    time = BED.contact_time()
    answer = polhode.recommend("bed", error=1e-2)
    assert same(answer, polhode.recommend(contact_time=time, friction=0.5, restitution=0.67, error=1e-2))
    assert same(
        polhode.recommend(BED, error=1e-2, friction=0.2),
        polhode.recommend(contact_time=time, friction=0.2, restitution=0.67, error=1e-2),
    )
    assert same(
        polhode.recommend("bed", error=5e-2, purpose="bulk"), polhode.recommend(contact_time=time, error=5e-2, purpose="bulk")
    )


def test_springs_of_their_own_stiffness():
    """Half a period of the mass on the spring; the lightest clump decides."""
    law = manybody.forces["linear_spring_dashpot"].with_parameters(stiffness=2e4, friction=0.3, restitution=0.8)
    heavy, light = manybody.Clump.sphere(0.02), manybody.Clump.sphere(0.01, key="light")
    time = pi * sqrt(2500.0 * 4 / 3 * pi * 0.01**3 / 2e4)
    answer = polhode.recommend(replace(BED, kinds=((heavy, 1), (light, 1)), law=law), error=1e-2)
    assert answer.dt == pytest.approx(
        polhode.recommend(contact_time=time, friction=0.3, restitution=0.8, error=1e-2).dt, rel=1e-9
    )


def test_a_liquid():
    assert same(polhode.recommend("water64"), polhode.recommend(liquid="water64"))


def test_a_clump(bent):
    clump = manybody.Clump.from_file(bent, scale=0.01)
    answer = polhode.recommend(bent, **MATERIAL, speed=2.0, scale=0.01, error=1e-3)
    # Two spheres that do not touch: their volumes add up.
    mass = 2500.0 * 4 / 3 * pi * (0.006**3 + 0.003**3)
    time = collision_time(mass, 0.006, 1e8 / (2 * (1 - 0.3**2)), 2.0)
    assert answer.dt == pytest.approx(polhode.recommend(contact_time=time, error=1e-3).dt, rel=1e-9)
    assert same(answer, polhode.recommend(clump, **MATERIAL, speed=2.0, error=1e-3))
    rubbing = polhode.recommend(clump, **MATERIAL, speed=2.0, error=1e-2, friction=0.5, restitution=0.7)
    assert rubbing.kind == "impacts"


@pytest.mark.parametrize(
    ("words", "question"),
    [
        (["chess", "--error", "1e-4"], {"case": "chess", "error": 1e-4}),
        (["bed", "--for", "bulk", "--error", "0.05"], {"case": "bed", "purpose": "bulk", "error": 0.05}),
        (["water64", "--drift", "0.1"], {"case": "water64", "drift": 0.1}),
        (
            ["{bent}", "--scale", "0.01", *OF_STEEL, "--error", "1e-3"],
            {"case": "{bent}", "scale": 0.01, **STEEL, "error": 1e-3},
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_the_command_gives_the_same_answer(bent, capsys, words, question):
    assert cli.main(["recommend", "--json", *(word.format(bent=bent) for word in words)]) == 0
    question = {name: value.format(bent=bent) if name == "case" else value for name, value in question.items()}
    printed = json.loads(capsys.readouterr().out.replace("--contacts", "`contacts`"))
    expected = json.loads(polhode.recommend(**question).to_json())
    assert printed["dt"] == expected["dt"] and printed["alternatives"] == expected["alternatives"]


@pytest.mark.thorough
@pytest.mark.usefixtures("forget_plugins")
def test_a_scene_in_a_file_of_ones_own(capsys):
    assert cli.main(["recommend", str(HOME / "docs/example_scene.py"), "--error", "1e-3"]) == 0
    assert "dumbbells and balls in a box" in capsys.readouterr().out


CLUMP = manybody.Clump.sphere(0.01)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"case": "chess"}, "error is missing"),
        ({"case": "chess", "error": 0.1, "young": 1e8}, "young is part of the scene"),
        ({"case": "chess", "error": 0.1, "contact_time": 1.0}, "`case` and `contact_time` are two questions"),
        ({"case": "chess", "error": 0.1, "drift": 1.0}, "drift belongs to a question about a liquid"),
        ({"case": "chess", "error": 0.1, "scale": 1.0}, "scale belongs to the file of a clump"),
        ({"case": "water64", "error": 0.1}, "error belongs to .* this is one about a liquid"),
        ({"case": "water64", "speed": 1.0}, "speed belongs to .* this is one about a liquid"),
        ({"case": replace(BED, speed=0.0), "error": 0.1}, "speed is missing: the bodies of the scene 'bed' start at rest"),
        ({"case": CLUMP, "error": 0.1}, "young is missing; the contact time of a clump follows from young, poisson"),
        ({"case": CLUMP, "error": 0.1, **MATERIAL}, "speed is missing"),
        ({"case": CLUMP, "error": 0.1, **MATERIAL, "speed": -1.0}, "speed must be positive"),
        ({"case": CLUMP, "error": 0.1, **MATERIAL, "speed": 1.0, "radius": 1.0}, "radius is part of the clump"),
        ({"case": CLUMP, "error": 0.1, **MATERIAL, "speed": 1.0, "scale": 2.0}, "scale belongs to the file of a clump"),
        ({"case": "nothing.csv", "error": 0.1, **MATERIAL, "speed": 1.0}, "clump file nothing.csv does not exist"),
        ({"case": "heavy_top", "error": 0.1, **MATERIAL}, "`case` and `young` are two questions"),
        ({"error": 0.1, "scale": 2.0}, "scale belongs to the file of a clump"),
    ],
    ids=str,
)
def test_what_cannot_be_answered_is_named(question, message):
    with pytest.raises(AdviceError, match=message):
        polhode.recommend(**question)


def test_a_law_whose_contact_time_is_not_known():
    hertz = manybody.forces["hertz"]
    stiff = replace(hertz, key="stiff")
    with pytest.raises(AdviceError, match="the contact time of the law stiff is not known; ask with contact_time"):
        polhode.recommend(replace(BED, law=stiff), error=1e-2)
