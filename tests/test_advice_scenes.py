"""Advice for a scene, or for a clump and its material: the answer for its contacts."""

import json
from dataclasses import replace
from math import inf, pi, sqrt
from pathlib import Path

import pytest
from scipy.integrate import quad

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
    words = [json.loads(choice.to_json()) for choice in (answer, other)]
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
    pair = 2**-0.2 * time  # two equal grains, whose impacts ask for a shorter step than those with the wall
    answer = polhode.recommend("bed", error=1e-2)
    assert same(answer, polhode.recommend(contact_time=pair, friction=0.5, restitution=0.67, error=1e-2))
    assert same(
        polhode.recommend(BED, error=1e-2, friction=0.2),
        polhode.recommend(contact_time=pair, friction=0.2, restitution=0.67, error=1e-2),
    )
    assert same(
        polhode.recommend("bed", error=5e-2, purpose="bulk"), polhode.recommend(contact_time=time, error=5e-2, purpose="bulk")
    )


def test_springs_of_their_own_stiffness():
    """Half a period of the mass on the spring; two of the lightest clump decide, whose reduced mass is half of its."""
    law = manybody.forces["linear_spring_dashpot"].with_parameters(stiffness=2e4, friction=0.3, restitution=0.8)
    heavy, light = manybody.Clump.sphere(0.02), manybody.Clump.sphere(0.01, key="light")
    time = pi * sqrt(2500.0 * 4 / 3 * pi * 0.01**3 / 2 / 2e4)
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
    assert cli.main(["recommend", str(HOME / "docs/example_scene.py"), "--error", "1e-3", "--why"]) == 0
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
        ({"case": "nothing.csv", "error": 0.1, **MATERIAL, "speed": 1.0}, "clump path nothing.csv does not exist"),
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


SOFT = manybody.Material(density=2600.0, young=1e8, poisson=0.3)
HARD = manybody.Material(density=7800.0, young=2e11, poisson=0.3)
RUBBER = manybody.Material(density=1000.0, young=1e6, poisson=0.48)
NUMBERS = {"young": 1e8, "poisson": 0.3, "density": 2600, "radius": 1e-3, "speed": 0.61, "friction": 0.35, "restitution": 0.5}
GRAINS = manybody.Scene(
    key="grains",
    label="grains",
    kinds=((manybody.Clump.sphere(1e-3), 20),),
    material=SOFT,
    law=manybody.forces["hertz_mindlin_tsuji"].with_parameters(friction=0.35, restitution=0.5),
    box=0.05,
    speed=0.61,
    spin=0.0,
    horizon=1.0,
)


def hertz(mass, radius, softness, speed):
    """The time of a contact by quadrature of the speed over the overlap; the softness is 1/E*."""
    deepest = (15 * mass * speed**2 * softness / (16 * sqrt(radius))) ** 0.4
    # With overlap = deepest (1 - s^2) the integrand is smooth at the turning point.
    return 2 * deepest / speed * quad(lambda s: 2 * s / sqrt(1 - (1 - s * s) ** 2.5), 0, 1)[0]


def softness(*materials):
    return sum((1 - nu**2) / young for young, nu in materials)


MASS = 4 / 3 * pi * 1e-3**3 * 2600.0
GRAIN, STEEL_WALL = (1e8, 0.3), (2e11, 0.3)
ALIKE, ON_STEEL, ON_RIGID = (hertz(MASS, 1e-3, softness(GRAIN, *other), 0.61) for other in ([GRAIN], [STEEL_WALL], []))


@pytest.mark.parametrize(
    ("walls", "numbers", "time"),
    [
        (None, {}, ALIKE),
        (HARD, {"wall_young": 2e11, "wall_poisson": 0.3}, ON_STEEL),
        (HARD, {"wall_young": 2e11}, ON_STEEL),
        ("rigid", {"wall_young": inf}, ON_RIGID),
        (RUBBER, {"wall_young": 1e6, "wall_poisson": 0.48}, ALIKE),
    ],
    ids=["alike", "steel", "of the same Poisson's ratio", "rigid", "softer"],
)
def test_walls_of_another_material_set_the_contact_time(walls, numbers, time):
    """Against a quadrature; with softer walls the grains still touch each other."""
    assert abs(ALIKE / 1.0457e-4 - 1) < 1e-4 and abs(ON_STEEL / 7.9265e-5 - 1) < 1e-4
    answer = polhode.recommend(**NUMBERS | numbers, error=1e-2)
    assert answer.asked["contact_time"] == pytest.approx(time, rel=1e-9)
    shortest = min(time, 2**-0.2 * ALIKE)  # two grains touch for as long, whatever the walls
    assert answer.dt == pytest.approx(polhode.recommend(contact_time=shortest, friction=0.5, error=1e-2).dt, rel=1e-9)
    assert answer.dt == pytest.approx(polhode.recommend(replace(GRAINS, walls=walls), error=1e-2).dt, rel=1e-9)
    said = " ".join(answer.why().split())
    assert ("Walls are taken as of the grains' own material; name theirs with `wall_young`" in said) == (not numbers)
    assert ("They are softer than the grains" in said) == (walls is RUBBER)


def test_the_command_takes_a_wall(capsys):
    words = [word for name in NUMBERS for word in (f"--{name}", str(NUMBERS[name]))]
    for more, time in (
        ([], ALIKE),
        (["--wall-young", "2e11", "--wall-poisson", "0.3"], ON_STEEL),
        (["--wall-young", "rigid"], ON_RIGID),
    ):
        assert cli.main(["recommend", *words, "--error", "1e-2", *more, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["question"]["contact_time"] == pytest.approx(time, rel=1e-9)


def test_a_clump_from_a_file_hits_the_wall_that_is_named(bent):
    question = {**MATERIAL, "speed": 2.0, "scale": 0.01, "error": 1e-3}
    mass = 2500.0 * 4 / 3 * pi * (0.006**3 + 0.003**3)
    for wall, others in ((2e11, [(2e11, 0.3)]), (inf, []), (1e6, [(1e8, 0.3)])):
        expected = hertz(mass, 0.006, softness((1e8, 0.3), *others), 2.0)
        assert polhode.recommend(bent, **question, wall_young=wall).asked["contact_time"] == pytest.approx(expected, rel=1e-9)


def test_grains_touch_more_briefly_than_on_a_wall():
    pair = hertz(MASS / 2, 5e-4, softness(GRAIN, GRAIN), 0.61)
    assert pair / ALIKE == pytest.approx(2**-0.2)
    answer = polhode.recommend(**NUMBERS, error=1e-2)
    step = answer.dt * ALIKE / pair
    said = " ".join(answer.why().split())
    assert f"touch for {pair:.4g} s, 0.87 times as long as on the wall." in said
    assert "T the contact time of two grains" in said and f"(on walls alone {step:.3g} s)" in said
    on_steel = polhode.recommend(**NUMBERS, error=1e-2, wall_young=2e11)
    assert f"touch for {pair:.4g} s, 1.15 times as long as on the wall." in " ".join(on_steel.why().split())
    for question in ({"purpose": "bulk"}, {"friction": 0, "restitution": 1}):
        said = " ".join(polhode.recommend(**NUMBERS | {"error": 5e-2} | question).why().split())
        assert "two equal" in said and "touch for 0.87 T at the same relative speed: the step allows for it" in said


def test_grains_of_two_materials_touch_for_less():
    """Light soft spheres between heavy hard ones: they meet these as they would a wall."""
    light, heavy = manybody.Clump.sphere(1e-3, key="light"), manybody.Clump.sphere(2e-2, key="heavy")
    scene = replace(GRAINS, kinds=((light, 5), (heavy, 5)), materials={"heavy": HARD}, box=0.5)
    mass = 4 / 3 * pi * 2e-2**3 * 7800.0
    pair = hertz(1 / (1 / MASS + 1 / mass), 1 / (1e3 + 50), softness(GRAIN, STEEL_WALL), 0.61)
    assert pair < 2**-0.2 * ALIKE < 2**-0.2 * hertz(mass, 2e-2, softness(STEEL_WALL, STEEL_WALL), 0.61)
    answer = polhode.recommend(scene, error=1e-2)
    assert answer.asked["contact_time"] == pytest.approx(2**0.2 * pair, rel=1e-9)


def test_a_scene_without_walls_has_its_material_s_contact_time():
    for scene in (replace(GRAINS, walls=HARD, periodic=("x", "y", "z")), replace(GRAINS, box=inf)):
        answer = polhode.recommend(scene, error=1e-2)
        assert answer.asked["contact_time"] == pytest.approx(ALIKE, rel=1e-9) and "The scene has no walls" in answer.why()


def test_springs_of_a_wall_of_its_own_stiffness():
    law = manybody.forces["linear_spring_dashpot"].with_parameters(stiffness=1e5)
    grains = ((manybody.Clump.sphere(1e-3, key="grain"), 20),)
    stiff = replace(GRAINS, kinds=grains, law=law, between={("wall", "grain"): {"stiffness": 4e5}})
    answer = polhode.recommend(stiff, error=1e-2)
    assert answer.asked["contact_time"] == pytest.approx(pi * sqrt(MASS / 4e5), rel=1e-9)
    assert "The scene has the law linear_spring_dashpot; the step rests on runs with hertz_mindlin_tsuji." in " ".join(
        answer.why().split()
    )


def test_the_friction_of_a_scene_may_be_zero():
    law = GRAINS.force_law.with_parameters(friction=0.0, restitution=0.7)
    answer = polhode.recommend(replace(GRAINS, law=law), error=1e-2)
    assert same(answer, polhode.recommend(contact_time=2**-0.2 * GRAINS.contact_time(), restitution=0.7, error=1e-2))
    assert same(polhode.recommend(GRAINS, friction=0, restitution=0.7, error=1e-2), answer)
    elastic = polhode.recommend(replace(GRAINS, law=law.with_parameters(restitution=1.0)), error=1e-2)
    assert elastic.kind == "contacts" and same(elastic, polhode.recommend(replace(GRAINS, law="hertz"), error=1e-2))
    damped = manybody.forces["viscoelastic"].with_parameters(friction=0.0)
    assert polhode.recommend(replace(GRAINS, law=damped), error=1e-2).kind == "impacts", "it has dashpots"


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"wall_young": -1.0}, "^wall_young must be positive"),
        ({"wall_young": "steel"}, "^wall_young must be a number"),
        ({"wall_young": 1e9, "wall_poisson": 0.6}, r"^wall_poisson must lie above -1 and not above 0\.5, got 0\.6"),
        ({"wall_poisson": 0.3}, "^wall_poisson needs `wall_young`"),
        ({"wall_young": inf, "wall_poisson": 0.3}, "^wall_poisson says nothing of a rigid wall"),
    ],
    ids=str,
)
def test_walls_that_cannot_be_are_named(question, message):
    with pytest.raises(AdviceError, match=message):
        polhode.recommend(**NUMBERS, error=1e-2, **question)
    with pytest.raises(AdviceError, match=r"^wall_\w+ is part of the scene"):
        polhode.recommend(GRAINS, error=1e-2, **question)
