"""The law for the energy of colliding bodies: recovered from made-up errors, and obeyed by runs of the engine."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
import xarray as xr
from data_files import invented

from polhode import manybody
from polhode.fits import contact_law as law
from polhode.manybody import Clump
from polhode_study import chapters
from polhode_study.chapters import rendering
from polhode_study.chapters.contacts import figures, numbers
from polhode_study.chapters.contacts import frames as contact_scenes
from polhode_study.inputs import NotInRun

HOME = Path(__file__).parents[1]
T = 1e-4


def scene(
    coefficient=0.1, exponent=2.5, contacts=9.0, steps=5, seeds=9, scatter=0.3, methods=("spiral_leapfrog",)
) -> xr.Dataset:
    """Runs whose errors are C sqrt(N/n) (dt/T)^p, with a single body, with a scatter over the states."""
    dt = T / (8 * 2.0 ** np.arange(steps))[::-1]
    spread = np.exp(scatter * np.linspace(-1, 1, seeds))
    error = coefficient * np.sqrt(contacts) * (dt / T)[:, None] ** exponent * spread
    return invented(
        "many_body.nc/SCENE",
        {"integrator": list(methods), "dt": dt, "seed": np.arange(seeds)},
        {"contact_time": T, "clumps": 1},
        label=list(methods),
        energy_error_mean=error,
        contacts=contacts,
        diverged=np.int8(0),
    )


def inputs_of(scenes: dict[str, xr.Dataset], released: dict[str, xr.Dataset] | None = None):
    released = released or {}
    return SimpleNamespace(
        scenes=list(scenes),
        many_body=scenes.__getitem__,
        released_scenes=list(released),
        released_many_body=released.__getitem__,
    )


def test_the_law_is_recovered():
    data = scene(coefficient=0.07, exponent=2.5, contacts=25.0)
    assert law.time_in_contact(data) == 25.0
    estimate = law.exponent(data, "spiral_leapfrog")
    assert estimate.value == pytest.approx(2.5, abs=1e-9)
    estimate = law.coefficient(data, "spiral_leapfrog")
    assert estimate.value == pytest.approx(0.07) and estimate.low < 0.07 < estimate.high
    assert law.at_step(data, "spiral_leapfrog", 1 / 30).value == pytest.approx(0.07 / 30**2.5)
    assert np.isnan(law.at_step(data, "spiral_leapfrog", 1e-4).value), "not run so finely"


def test_another_exponent_is_seen():
    assert law.exponent(scene(exponent=3.0), "spiral_leapfrog").value == pytest.approx(3.0)


def test_the_law_of_several_scenes_is_their_geometric_mean():
    scenes = {"a": scene(0.05), "b": scene(0.2, contacts=400.0)}
    assert law.law(scenes) == pytest.approx((0.1, 0.05, 0.2))
    assert np.isnan(law.law(scenes, "verlet")).all()


def of_scenes(**scenes):
    return [curve for name, data in scenes.items() for curve in law.curves(name, data)]


def test_steps_in_a_contact_are_those_of_the_law():
    """Two scenes that obey it, with errors that are spread over a factor of exp(0.6): solved by hand."""
    curves = of_scenes(a=scene(0.1), b=scene(0.4, contacts=36.0).assign_attrs(clumps=4).sortby("dt", ascending=False))
    curves[1] = replace(curves[1], errors=curves[1].errors / 2)  # of four bodies: the root of N/n
    steps = law.steps_in_contact(curves, 1e-4, contacts=8.0)
    expected = [(c * np.sqrt(8.0 / 32) / 1e-4) ** 0.4 for c in (0.1, 0.4)]
    assert steps.median == pytest.approx(np.sqrt(expected[0] * expected[1]), rel=1e-6)
    assert steps.low == pytest.approx(expected[0] * np.exp(-0.3 * 0.4), rel=1e-6)
    assert steps.high == pytest.approx(expected[1] * np.exp(0.3 * 0.4), rel=1e-6)
    assert law.steps_in_contact(curves, 1e-4).median / steps.median == pytest.approx(2**0.2)
    # Met by the coarsest step, below the finest, and out of reach of a method of no order; with no scene there is no number.
    assert law.steps_in_contact(curves, 10.0).median == pytest.approx(8.0)
    finest = law.steps_in_contact(of_scenes(a=scene(0.1)), 1e-9)
    assert finest.median == pytest.approx((0.1 * np.sqrt(0.5) / 1e-9) ** 0.4) and finest.median > 128
    assert np.isinf(law.steps_in_contact(of_scenes(a=scene(exponent=0.2)), 1e-9).median)
    assert np.isnan(law.steps_in_contact([], 1e-4).median)


def test_a_run_that_blew_up_counts_as_lost():
    data = scene(0.1, scatter=0.0, seeds=10)
    data["energy_error_mean"][0, -2:, 0] = np.nan
    data["diverged"][0, -2:, 0] = 1
    lost = law.steps_in_contact(of_scenes(a=data), 10.0)
    assert lost.high == 8.0, "nine of ten lasted"
    data["diverged"][0, -2:, 1] = 1
    assert law.steps_in_contact(of_scenes(a=data), 10.0).high == 32.0
    few, many = (law.steps_in_contact(of_scenes(a=scene(exponent=3.0)), 1e-4, n).median for n in (9.0, 72.0))
    assert many / few == pytest.approx(2.0), "in proportion to the time, and by the third power of the step"


def test_the_largest_error_of_a_random_walk():
    walks = np.abs(np.cumsum(np.random.default_rng(1).standard_normal((4000, 2000)), axis=1))
    assert walks.max(axis=1).mean() / walks.mean() == pytest.approx(law.LARGEST_OVER_MEAN, rel=0.03)


def test_the_error_of_one_bounce_is_that_of_its_two_edges():
    """A ball with F = x^(3/2) on a wall, by the leapfrog, at random phases; and the edge by the zeta function of mpmath."""
    random = np.random.default_rng(0)
    depth = 1.25**0.4  # of m = v = 1
    dt = law.contact_time_over_depth() * depth / (20 * random.uniform(1, 1.3, 20_000))
    x, v = -dt * random.uniform(size=dt.size), np.ones(dt.size)
    for _ in range(60):
        v = v - dt * np.maximum(x, 0) ** 1.5
        x = x + dt * v
    assert (x < 0).all() and (v < 0).all()
    error = (v**2 - 1) / (dt / (law.contact_time_over_depth() * depth)) ** 2.5
    assert np.sqrt((error**2).mean()) == pytest.approx(law.bounce(), rel=0.02)
    assert abs(error.mean()) < 0.03
    edges = [float(mpmath.zeta(-1.5, phase)) for phase in (np.arange(200) + 0.5) / 200]
    expected = 2.5 * law.contact_time_over_depth() ** 2.5 * np.sqrt(2 * np.mean(np.square(edges)))
    assert law.bounce() == pytest.approx(expected, rel=1e-4)
    time = mpmath.quad(lambda u: 2 / mpmath.sqrt(1 - u**2.5), [0, 1])
    assert law.contact_time_over_depth() == pytest.approx(float(time), rel=1e-6)
    walk = np.abs(np.cumsum(random.standard_normal((4000, 400)), axis=1)).mean() / 20
    assert law.head_on() == pytest.approx(law.bounce() * walk, rel=0.03)


def test_runs_that_blow_up_and_unresolved_steps_are_left_out():
    data = scene(coefficient=0.1)
    data["energy_error_mean"][0, -1, 2] = np.nan
    data["diverged"][0, -1, 2] = 1
    data["contacts"][0, -1, 2] = 1e9
    assert law.time_in_contact(data) == 9.0
    assert law.coefficient(data, "spiral_leapfrog").value == pytest.approx(0.1)
    coarse = scene(steps=3).assign_attrs(contact_time=T / 4)
    with pytest.raises(NotInRun, match="3 step sizes"):
        contact_scenes.scenes(inputs_of({"coarse": coarse}))
    assert np.isnan(law.exponent(coarse, "spiral_leapfrog").value)
    with pytest.raises(NotInRun, match="verlet"):
        law.reduced_errors(data, "verlet")


def test_older_files_without_contacts_are_no_scene():
    with pytest.raises(NotInRun):
        contact_scenes.scenes(inputs_of({"old": scene().drop_vars("contacts")}))


def test_each_scene_is_that_of_the_data_with_more_states():
    ours = {"a": scene(0.1, seeds=4), "b": scene(0.1, seeds=4), "c": scene(0.1, seeds=60), "d": scene(seeds=4)}
    theirs = {
        "a": scene(0.2, seeds=50),
        "b": scene(0.2, seeds=50, steps=2),
        "c": scene(0.2, seeds=50),
        "d": scene(seeds=50).assign_attrs(clumps=2),
        "e": scene(seeds=50),
        "f": scene(seeds=50).drop_vars("contacts").assign_attrs(label="nobody counted"),
    }
    chosen = contact_scenes.scenes(inputs_of(ours, theirs))
    assert {name: (data.attrs["released"], data.sizes["seed"]) for name, data in chosen.items()} == {
        "a": (1, 50),
        "b": (0, 4),
        "c": (0, 60),
        "d": (0, 4),
        "e": (1, 50),
    }
    assert law.coefficient(chosen["a"], "spiral_leapfrog").value == pytest.approx(0.2, rel=0.05)
    called = law.names_with_states(chosen)
    assert called["a"] == "a, 50 states" and called["b"] == "b, 4 states"
    frame = law.frame(chosen).set_index("scene")
    assert frame.loc["a", "source"] == "released" and frame.loc["b", "source"] == "this run"
    # Four values: from the smallest to the largest, 1 - 2/2^4.
    assert frame.loc["b", "coverage"] == 0.875 and 0.95 < frame.loc["a", "coverage"] < 0.98
    made = numbers.contact_law(inputs_of({"b": ours["b"]}))
    assert made["studyCollisionStates"] == "4" and made["studyCollisionCoverage"] == r"\num{87.5}"
    made = numbers.contact_law(inputs_of(ours, theirs))
    assert made["studyCollisionStates"] == "4 to 60" and made["studyCollisionCoverage"].startswith(r"\num{87.5} to ")
    assert made["studyCollisionReleased"] == "2" and made["studyCollisionScenes"] == "5"


def test_contacts_that_a_release_lacks_are_in_proportion():
    old = scene(seeds=50).drop_vars("contacts").assign_attrs(label="pieces", spin=3.0, horizon=2.0)
    ours = scene(seeds=4, contacts=9.0).assign_attrs(label="pieces", spin=3.0, horizon=1.0)
    other = scene(seeds=9, contacts=70.0).assign_attrs(label="pieces", spin=0.0, horizon=1.0)
    pieces = contact_scenes.scenes(inputs_of({"chess": ours, "still": other}, {"chess": old}))["chess"]
    assert pieces.attrs["released"] == 1 and pieces.attrs["contact_states"] == 4
    assert law.time_in_contact(pieces) == 18.0
    error = np.sqrt(9.0) * 0.1 / np.sqrt(18.0)  # the errors of the file belong to 9 contacts
    assert law.coefficient(pieces, "spiral_leapfrog").value == pytest.approx(error, rel=0.02)
    assert set(contact_scenes.scenes(inputs_of({"still": other}, {"chess": old}))) == {"still"}, "of another spin"


def test_the_time_in_contact_is_never_called_a_count():
    """N is a time in contact times, in which a collision may be shorter than one and have several pairs."""
    kinds = "src/**/*.py", "src/**/*.js", "src/**/*.tex", "docs/*.md", "paper/**/*.tex"
    files = [file for kind in kinds for file in HOME.glob(kind)]
    assert len(files) > 300
    for file in files:
        text = " ".join(file.read_text(encoding="utf-8").split())
        wrong = re.search(r"contacts of each (body|clump)|numbers? of contacts|how many contacts|(for \d+|\}) contacts\b", text)
        assert not wrong, f"{file}: {wrong and wrong[0]}"


def test_the_time_in_contact_is_divided_by_the_number_of_bodies():
    data = scene(contacts=25.0).assign_attrs(clumps=4)
    assert law.relative_contacts(data) == 6.25


def test_the_chapter_is_made_with_plug_ins_and_gaps():
    scenes = {"a": scene(methods=("spiral_leapfrog", "mine")), "b": scene(0.2), "short": scene(steps=2)}
    inputs = inputs_of(scenes)
    inputs.in_order = list
    inputs.declared = lambda key, name: "" if name == "variant_of" else "others"
    inputs.errors = xr.Dataset(coords={"integrator": ["spiral_leapfrog", "mine"]})
    inputs.grouped = lambda methods: [("", list(methods))]
    made = numbers.contact_law(inputs)
    assert made["studyCollisionScenes"] == "2"
    text = "".join(path.read_text() for path in chapters.texts(HOME))
    used = set(re.findall(r"\\(studyCollision[A-Za-z]*)", text))
    assert used and used <= set(made)
    assert made["studyCollisionCoefficient"] == r"\num{0.14}"
    drawn = figures.contact_law(inputs)
    lines = [line for line in drawn.axes[0].lines if line.get_label() == "a"]
    np.testing.assert_allclose(lines[0].get_ydata(), 0.1 * lines[0].get_xdata() ** 2.5, rtol=1e-9)
    frame, text = rendering.table("contact_law", inputs)
    assert set(frame["scene"]) == {"a", "b"} and len(frame) == 3
    assert r"method & a & b \\" in text


def test_scenes_are_called_as_they_declare_and_never_alike():
    def called(**labels: tuple[str, float]) -> dict[str, str]:
        return law.names({name: scene().assign_attrs(label=label, spin=spin) for name, (label, spin) in labels.items()})

    pieces = ("chess pieces in a box", 3.0)
    assert called(chess=pieces, rods=("rods in a box", 0.0)) == {"chess": "chess pieces", "rods": "rods"}
    assert called(chess=pieces, still=(pieces[0], 0.0)) == {"chess": "chess pieces", "still": "chess pieces, no spin"}
    assert called(chess=pieces, again=pieces) == {"chess": "chess pieces (chess)", "again": "chess pieces (again)"}
    assert law.names({"a": scene()}) == {"a": "a"}, "a scene without a label"


def test_the_figure_shows_methods_of_all_scenes():
    data = {"a": scene(methods=("spiral_leapfrog", "mine")), "b": scene(0.2)}
    inputs = inputs_of(data)
    inputs.declared = lambda key, name: "" if name == "variant_of" else "others"
    inputs.errors = xr.Dataset(coords={"integrator": ["spiral_leapfrog", "mine"]})
    right = figures.contact_law(inputs).axes[1]
    assert sum(len(line.get_xdata()) == 5 for line in right.lines) == 2, "one of SPIRAL in each scene, none of mine"


@pytest.mark.parametrize("stiffness", [1e4, 1e7])
def test_a_sphere_touches_for_3_to_6_rayleigh_times(stiffness):
    """As the text says, with the two times written out here and those of the scenes."""
    radius, density, speed, poisson = 2e-3, 2500.0, 1.0, 0.25
    young = stiffness * density * speed**2
    mass, reduced = 4 / 3 * np.pi * radius**3 * density, young / (2 * (1 - poisson**2))
    contact = 2.87 * (mass**2 / (radius * reduced**2 * speed)) ** 0.2
    rayleigh = np.pi * radius * np.sqrt(2 * (1 + poisson) * density / young) / (0.1631 * poisson + 0.8766)
    assert contact / rayleigh == pytest.approx(1.2 * stiffness**0.1, rel=0.01)
    assert contact / rayleigh == pytest.approx({1e4: 3, 1e7: 6}[stiffness], rel=0.02)
    made = manybody.scenes["eccentric_spheres"]
    stiff = made.material.young / (made.material.density * made.speed**2)
    clump = made.clumps[0][0]
    heavier = clump.volume / (4 / 3 * np.pi * clump.radii[0] ** 3)  # by the core
    assert made.contact_time() / made.rayleigh_step == pytest.approx(1.2 * heavier**0.4 * stiff**0.1, rel=0.03)


# ---- bodies and runs ----


def test_a_loaded_sphere_has_the_mass_properties_of_its_parts():
    """Against a sum over points."""
    made = Clump.loaded_sphere(1.0, core=0.5, distance=0.5, ratio=5.0)
    points = np.random.default_rng(3).uniform(-1, 1, (400_000, 3))
    points = points[(points**2).sum(1) <= 1]
    weight = np.where(((points - [0.5, 0, 0]) ** 2).sum(1) <= 0.25, 5.0, 1.0) * (4 / 3 * np.pi / len(points))
    centre = (weight[:, None] * points).sum(0) / weight.sum()
    x, y, z = (points - centre).T
    moments = [(weight * (y * y + z * z)).sum(), (weight * (x * x + z * z)).sum(), (weight * (x * x + y * y)).sum()]
    assert made.volume == pytest.approx(weight.sum(), rel=3e-3)
    assert -made.centres[0, 0] == pytest.approx(centre[0], abs=3e-3)
    np.testing.assert_allclose(made.inertia, moments, rtol=5e-3)
    assert made.linear and len(made.radii) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["eccentric_spheres", "mixed_sizes"])
def test_the_scenes_conserve_what_they_must(key):
    scene = manybody.scenes[key]
    run = manybody.simulate(key, "spiral_leapfrog", dt=scene.contact_time() / 40, t_end=0.02, samples=5)
    assert int(run.contact_steps) > 0
    assert abs(run.energy_error).max() < 1e-4
    again = manybody.simulate(key, "spiral_leapfrog", dt=scene.contact_time() / 40, t_end=0.02, samples=5, brute_force=True)
    assert int(again.contact_steps) == int(run.contact_steps)
    assert again.energy.values.tobytes() == run.energy.values.tobytes()


@pytest.mark.thorough
def test_the_engine_obeys_the_law():
    """Exponent and random walk, measured on states that the study does not run."""
    scene = manybody.scenes["eccentric_spheres"]
    contact = scene.contact_time()

    def error(steps_per_contact: int, horizon: float) -> tuple[float, float]:
        runs = [
            manybody.simulate(scene, "spiral_leapfrog", contact / steps_per_contact, seed, horizon, samples=50)
            for seed in range(100, 116)
        ]
        sizes = [float(abs(run.energy_error[1:]).mean()) for run in runs]
        contacts = [float(run.contact_steps) / steps_per_contact / len(scene) for run in runs]
        return float(np.median(sizes)), float(np.mean(contacts))

    coarse, fine = error(16, 0.4), error(64, 0.4)
    assert np.log(coarse[0] / fine[0]) / np.log(4) == pytest.approx(2.5, abs=0.25)
    long = error(16, 3.2)
    assert long[1] / coarse[1] == pytest.approx(8, rel=0.1)
    assert np.log(long[0] / coarse[0]) / np.log(long[1] / coarse[1]) == pytest.approx(0.5, abs=0.2)


@pytest.mark.thorough
def test_more_bodies_have_less_error_of_their_total_energy():
    """The errors of 8 times as many bodies add up to sqrt(8) times as much, of 8 times the energy."""
    few = manybody.scenes["eccentric_spheres"]
    many = few.scaled(320)
    contact = few.contact_time()

    def error(scene) -> float:
        runs = [manybody.simulate(scene, "spiral_leapfrog", contact / 16, seed, 0.2, samples=50) for seed in range(200, 216)]
        return float(np.median([float(abs(run.energy_error[1:]).mean()) for run in runs]))

    assert np.log(error(few) / error(many)) / np.log(8) == pytest.approx(0.5, abs=0.25)
