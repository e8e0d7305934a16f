"""Arguments of a wrong type or value that would otherwise be taken: refused before anything is computed, and named.

The generated doors (test_doors.py) see errors that are no sentence; they cannot see a wrong value that is taken without a word.
"""

import os
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import xarray as xr

import polhode
from polhode import Body, manybody
from polhode.interface import arguments
from polhode.manybody import Clump, Drum, Material, Molecule, Shaking, State, shapes
from polhode.methods.no_squish import extended
from polhode.methods.translation import LEAPFROG
from polhode.problems import several_bodies, single_body
from polhode.references import taylor
from polhode.simulate import MOST_STEPS, count_steps, sampled_steps

NAN, INF = float("nan"), float("inf")
#: What is no number at all, and what is none that can be a length of time.
NO_NUMBERS = ("abc", None, True, [0.1], np.array([0.1, 0.2]), 1j, b"1", {})
NO_TIMES = (*NO_NUMBERS, NAN, INF, -INF, -1.0, 0, 10**400)
NO_COUNTS = ("abc", None, True, NAN, 2.0, 2.5, -1, [1], 1j)
NO_SWITCHES = ("yes", "False", 1, 0.0, [], np.array([True, False]))
NO_AMOUNTS = (*NO_NUMBERS, NAN, INF, -1)
NO_LENGTHS = (*NO_AMOUNTS, 0)
NO_STEPS = (1e-300, 5e-324, 1e-16)
NO_SIZES = ("1", None, True, NAN, INF, -1, 0)
NO_LONG = (*NO_SIZES, 1e200)
#: Arrays that are no state of 30 clumps.
NO_STATES = (
    *("x", None, np.zeros((2, 4)), np.zeros((30, 5)), np.zeros(90), [[1, 2], [3]], np.zeros((30, 3), complex)),
    [["1"] * 3] * 30,
)
#: Centres and radii of no spheres.
NO_SPHERES = (
    ("a", [1]), (None, None), ([], []), ([[0, 0, 0]], "a"), ([[0, 0, 0]], [1, 2]), ([0, 0, 0], [1]), ([[0, 0]], [1]),
    ([[0, 0, 0], [1]], [1, 1]), ([[0, 0, 0]], [True]), ([[0, 0, 0]], [-1]), ([[0, 0, 0]], [0]), ([[NAN, 0, 0]], [1]),
    ([[0, 0, 0]], [1j]), ([["0", "0", "0"]], ["1"]), ([[0, 0, 0]], [1e300]), ([[0, 0, 0]], [1e-300]),
    ([[1e200, 0, 0], [0, 0, 0]], [1, 1]),
)  # fmt: skip
NO_MASSES = ("ab", 3, [1.0], [0, 1], [-1, 1], [NAN, 1], [1e300, 1], [[1, 2]], [None, 1])
#: What is said of bodies whose coefficients are no numbers.
EXTREME = "too small, too large or too unlike each other"
RODS = manybody.scenes["rods"]
AT_REST = State(np.zeros((30, 3)), np.zeros((30, 3)), np.eye(4)[[0] * 30], np.zeros((30, 3)))


def without(values, value):
    return [x for x in values if x is not value]


def short(value):
    return f"{value!r:.24}".replace("\n", " ")


def refused(call, *named):
    """The message of the error, which has all of ``named`` in it."""
    with pytest.raises((KeyError, TypeError, ValueError)) as caught:
        call()
    for name in named:
        assert name in str(caught.value)
    assert len(str(caught.value)) < 400
    return str(caught.value)


# --- the checks themselves -------------------------------------------------------------------------------------------


def test_numbers_as_libraries_hand_them_out_are_numbers():
    for value in (2, 2.0, np.float32(2), np.int8(2), np.array(2.0), xr.DataArray(2.0)):
        assert arguments.number("x", value) == 2.0 and type(arguments.number("x", value)) is float
    for value in (2, np.uint16(2), np.array(2), xr.DataArray(2)):
        assert arguments.whole("n", value) == 2 and type(arguments.whole("n", value)) is int
    assert arguments.flag("f", np.True_) is True and arguments.switch("f", None) is None
    run = polhode.simulate("spiral_cylinder", "euler", np.float32(0.125), xr.DataArray(0.5), np.int32(2))
    assert run.attrs["dt"] == 0.125 and run.sizes["time"] == 3


def test_messages_say_what_is_wanted_and_what_was_given():
    assert refused(lambda: arguments.positive("dt", "abc", "s")) == "dt must be a number (s), got 'abc'"
    assert refused(lambda: arguments.positive("dt", -1.0)) == "dt must be positive and finite, got -1.0"
    assert refused(lambda: arguments.number("x", NAN)) == "x must be finite, got nan"
    assert refused(lambda: arguments.number("x", 1, least=2)) == "x must be finite and at least 2, got 1"
    assert refused(lambda: arguments.whole("n", 2.0)) == "n must be a whole number, got 2.0"
    assert refused(lambda: arguments.vector("v", (1, "a", 3), 3)) == "v must be 3 finite numbers, got (1, 'a', 3)"
    assert "row 1 is not" in refused(lambda: arguments.array("a", [[1, 2], [3, NAN]], 2))
    assert len(refused(lambda: arguments.text("t", [0] * 1000))) < 120


# --- the table -------------------------------------------------------------------------------------------------------

BALLS = ((Clump.sphere(1.0), 2), (Clump.sphere(2.0), 2))
STEEL = Material(7800.0, 2e11, 0.3)
TOP = polhode.problems["spiral_cylinder"]
of_top = partial(replace, TOP)
of_pair = partial(replace, polhode.problems["coupled_cylinders"])
SPIRAL = polhode.methods["spiral_leapfrog"]
of_euler, of_magnus = (partial(replace, polhode.methods[key]) for key in ("euler", "magnus_adams4"))
of_scene = partial(replace, RODS)
of_water = partial(replace, manybody.scenes["water64"])
SPCE, TRIMER = (manybody.scenes[key].clumps[0][0] for key in ("water64", "trimers"))
of_sites = partial(
    Molecule.of_sites, "w", positions=[[0, 0, 0], [0.8, 0.6, 0], [-0.8, 0.6, 0]], masses=[16.0, 1.0, 1.0],
    charges=np.zeros(3), names=("O", "H", "H"),
)  # fmt: skip
DUMBBELL = Clump.dimer(0.5, 0.5, 2.0)
OF_DUMBBELL = {name: getattr(DUMBBELL, name) for name in ("centres", "radii", "volume", "inertia")}
by_hand = partial(Clump, **OF_DUMBBELL | {"key": "own", "label": "own"})
SITES = ("shifted_power", manybody.forces["shifted_power"])
of_steel = partial(replace, STEEL)
of_bodies = partial(polhode.Bodies, moments=np.ones((2, 3)), q0=np.eye(4)[:2], omega0=np.ones((2, 3)))


def cylinder(**given):
    return polhode.simulate("spiral_cylinder", "euler", **{"dt": 0.1} | given)


def rods(**given):
    return manybody.simulate("rods", "euler", **{"dt": 1e-5, "t_end": 1e-4} | given)


def many(**given):
    question = {"bodies": polhode.ensembles.draw(1).bodies("free"), "method": "euler", "torque": "free", "dt": 0.1, "steps": 3}
    return polhode.simulate_many(**question | given)


def named(call, *words, **wrong):
    """Rows on arguments of a call, from wrong values of each; ``{}`` among the words is the argument."""
    return [
        (lambda x, name=name: call(**{name: x}), values, *(word.format(name) for word in words))
        for name, values in wrong.items()
    ]


def kinds(clumps=BALLS[:1], **given):
    return replace(RODS, law="hertz_mindlin_tsuji", kinds=clumps, **given)


def between(other="wall", **parameters):
    return kinds(between={("sphere", other): parameters or {"friction": 0.1}})


def of_material(values):
    return replace(RODS, material=Material(*values)).contact_time()


def of_start(**state):
    return rods(state=replace(AT_REST, **state))


def two_spheres(**given):
    return Clump.of_spheres("mine", [[0, 0, 0], [1, 0, 0]], [1, 1], **given)


#: A call with an argument x, what x is refused, and the words that the message must have; {x!r} is the value.
REFUSED = [
    # Times, counts and switches of a run.
    *named(cylinder, "{} must be", dt=NO_TIMES, t_end=without(NO_TIMES, None), samples=NO_COUNTS),
    *named(rods, "{} must be", dt=NO_TIMES, t_end=without(NO_TIMES, None), samples=NO_COUNTS, seed=NO_COUNTS),
    *named(cylinder, "{} must be True", truncate=NO_SWITCHES, normalise=NO_SWITCHES),
    *named(rods, "{} must be True", record=NO_SWITCHES, brute_force=NO_SWITCHES, normalise=NO_SWITCHES),
    (lambda x: count_steps(x, 1.0), (0.0, -0.1, NAN, INF, -INF), "dt must be positive and finite, got {x!r}"),
    (lambda x: count_steps(x, 1.0, True), (0.0, -0.1, NAN, INF, -INF), "dt must be positive and finite, got {x!r}"),
    (lambda x: count_steps(x, 1.0, True), NO_STEPS, "steps in t_end = 1.0, more than 2^53; use a larger dt"),
    (lambda x: polhode.simulate("heavy_top", "euler", x, 1.0), NO_STEPS, "more than 2^53"),
    (lambda x: sampled_steps(x, 3), (MOST_STEPS + 1,), "at most 2^53"),
    (lambda x: count_steps(x, 1.0), (2.0,), "dt = 2.0 is longer than the time to simulate, t_end = 1.0"),
    (lambda x: count_steps(x, 1.0, True), (2.0,), "dt = 2.0 is longer than the time to simulate, t_end = 1.0"),
    (lambda x: count_steps(0.1, x), (0.0, -1.0, NAN, INF), "t_end must be positive and finite, got {x!r}"),
    (lambda x: cylinder(samples=x), (0, -3), "samples must be at least 1, got {x!r}"),
    (lambda x: RODS.initial_state(x), NO_COUNTS, "scene 'rods': seed must be"),
    (lambda x: RODS.scaled(x), NO_COUNTS, "scene 'rods': count must be"),
    (lambda x: Clump.rod(x, 1.0, 1.0), NO_COUNTS, "rod 'rod': spheres must be"),
    (lambda x: Body((1, 1, 1), triangle=x), NO_SWITCHES, "triangle must be True"),
    # Bodies. Of a rod 1e200 m long the mass is a number and the moments are not; a box may be as thin as 1e-200 m.
    (Body, ("abc", 3, None, (1, True, 1), ("1", "1", "1"), (1, 1), (1, 1, 1, 1), [[1, 1, 1]], np.ones((3, 3))), "inertia"),
    (Body, ((1, 1, 1j), (1, 1, 10**400), (0, 1, 10**400)), "inertia"),
    (Body, ((1e-320,) * 3, (1e-310, 1.0, 1.0), (1e308,) * 3), EXTREME),
    (lambda x: Body(x, triangle=False), ((1e-200, 1e200, 3e200),), EXTREME),
    (lambda x: Body((1.0, 1.0, 1.0), mass=x), (1e-320,), EXTREME),
    (lambda x: Body((1, 1, 1), mass=x), NO_SIZES, "mass must be"),
    (lambda x: Body.sphere(1.0, x), NO_SIZES, "density must be"),
    *named(partial(Body.sphere, density=1.0), "{}", radius=(*NO_SIZES, 1e200, 1e-200)),
    *named(partial(Body.cylinder, radius=1.0, height=1.0, density=1.0), "{}", radius=NO_LONG, height=NO_LONG, density=NO_SIZES),
    *named(partial(Body.box, a=1.0, b=1.0, c=1.0, density=1.0), "{}", a=NO_LONG, b=NO_LONG, c=NO_LONG, density=NO_SIZES),
    (lambda x: Body((x, 1.0, 1.0)), (0.0, INF), "inertia Ix must be positive and finite, got {x!r}"),
    (lambda x: Body((1.0, x, 1.0)), (-1.0, NAN), "inertia Iy must be positive and finite, got {x!r}"),
    (lambda x: Body((1.0, 1.0, x)), (-1.0, NAN), "inertia Iz must be positive and finite, got {x!r}"),
    (Body, ((1.0, 1.0),), "three principal moments (Ix, Iy, Iz)"),
    (Body, ((1.0, 1.0, 2.1), (2.1, 1.0, 1.0)), "triangle inequality: 2.1 exceeds the sum of the other two moments, 2"),
    (Body, ((1.0, 2.003, 1.0),), "To compute with them all the same: triangle=False", "triangle: false"),
    (Body, ([[2.0, -0.5, 0.0], [-0.5, 2.0, 0.0], [0.0, 0.0, 3.0]],), "principal moments are 1.5, 2.5, 3. Body.from_tensor"),
    *[
        (make, (moments,), *words)
        for make in (Body, lambda moments: Body.from_tensor(np.diag(moments)))
        for moments, *words in (
            ((0, 2.0, 2.0), "got 0", "A linear rotor: write a small moment, such as 2e-12, ", "(omega_x = 0)"),
            ((2e-46, 0.0, 2e-46), "such as 2e-58, ", "(omega_y = 0)"),
            ((0, 0, 2.0), "moments of a disc, (1, 1, 2), ", "omega_x = omega_y = 0"),
            ((3.0, 0, 0), "moments of a disc, (3, 1.5, 1.5), ", "omega_y = omega_z = 0"),
            ((0, 1.0, 2.0), "all mass is on that axis"),
            ((0, 0, 0), "A point has no orientation"),
        )
    ],
    (Body.from_tensor, ([[1, 0, 0], [0, 1]],), "tensor of 3 x 3"),
    (Body.from_tensor, ([1, 1, 1, 0, 0], "abc", None), "three principal moments (Ix, Iy, Iz)"),
    (Body.from_tensor, ([[1, 2, 0], [0, 1, 0], [0, 0, 1]],), "symmetric tensor"),
    (Body.from_tensor, ([[1, 2, 0], [2, 1, 0], [0, 0, 1]],), "inertia Ix must be positive and finite, got -1"),
    (Body.from_tensor, ([[1, "a", 0], [0, 1, 0], [0, 0, 1]],), "inertia must be a number"),
    (Body.from_tensor, ([1, 1, NAN, 0, 0, 0],), "inertia must be finite"),
    (Body.from_tensor, ([[2, -2, 0], [-2, 2, 0], [0, 0, 4]],), "A linear rotor: write a small moment, such as 4e-12"),
    (Body.from_tensor, ([[5, -2, 0], [-2, 5, 0], [0, 0, 1]],), "violates the triangle inequality"),
    # Many random bodies at once.
    (polhode.ensembles.draw, (0, 2.5, "3"), "bodies"),
    (lambda x: polhode.ensembles.draw(3, x), (-1,), "seed"),
    *named(many, "{} must be", bodies=[3], method=[3], torque=[3], dt=[-1], steps=[[3, 2], []]),
    *named(many, "steps", steps=[1.5]),
    *named(many, "unknown method", method=["spiral"]),
    *named(many, "unknown torque class 'gravity'", torque=["gravity"]),
    *named(of_bodies, "moments must be an array (n, 3)", moments=[np.ones((2, 2))]),
    *named(of_bodies, "moments[1]: ", " triangle=False", moments=[np.array([[1, 1, 1], [1, 2, 4]])]),
    *named(of_bodies, "moments[1]: ", " linear rotor", moments=[np.array([[1, 1, 1], [0, 2, 2]])]),
    *named(of_bodies, "q0[0] is not a unit quaternion", q0=[np.ones((2, 4))]),
    *named(of_bodies, "omega0 has 3 rows for 2 bodies", omega0=[np.ones((3, 3))]),
    *named(of_bodies, "omega0 must be finite", omega0=[np.full((2, 3), NAN)]),
    *named(of_bodies, "parameters must be numbers, an array", parameters=["c"]),
    *named(of_bodies, "triangle must be True or False", triangle=["no"]),
    # Names.
    (polhode.methods.__getitem__, ("spiral_leap",), "unknown method 'spiral_leap'; did you mean 'spiral_leapfrog'"),
    (polhode.methods.__getitem__, ("settle",), "unknown method 'settle'; did you mean 'moser_veselov'"),
    (polhode.methods.origin, ("eulr",), "unknown method 'eulr'; did you mean 'euler'"),
    (lambda x: polhode.simulate("heavy_top", x, 0.1), ("eulr",), "unknown method 'eulr'; did you mean 'euler'"),
    (lambda x: polhode.simulate(x, "euler", 0.1), ("heavytop",), "unknown problem 'heavytop'; did you mean 'heavy_top'"),
    (lambda x: manybody.simulate(x, "euler", 1e-5), ("rod",), "did you mean 'rods'"),
    (lambda x: manybody.simulate(x, "euler", 1e-5), (3,), "Scene"),
    (lambda x: manybody.simulate("rods", x, 1e-5), ("rk4",), "'rk4' needs several torques"),
    (manybody.scenes.__getitem__, ("ches",), "did you mean 'chess'"),
    (shapes.piece, ("bishpo",), "known are: king, queen, rook, bishop, "),
    (single_body, ("heavytop",), "unknown problem 'heavytop'; did you mean 'heavy_top'"),
    (single_body, ("coupled_cylinders",), "problem 'coupled_cylinders' must be one of a single body, got a System"),
    (several_bodies, ("heavy_top",), "problem 'heavy_top' must be one of several bodies, got a Problem"),
    # Methods.
    *named(of_euler, "'my method' is not a plain name", key=["my method"]),
    *named(of_euler, "method euler: group must be one of 'new in this work', ", "got 'simpel'", group=["simpel"]),
    *named(of_euler, "method euler: rank must be", rank=[1000, -1]),
    *named(of_euler, "method euler: {} must be one of 'body', 'lab', got 'space'", momentum_frame=["space"]),
    *named(of_euler, "method euler: {} must be one of 'quaternion', 'matrix', got 'angle'", published_error=["angle"]),
    *named(of_magnus, "magnus_adams4: warm_up_steps ", " needs torque_time=0.0", torque_time=[1.0]),
    *named(of_magnus, "magnus_adams4: warm_up_steps ", " needs rotates_before_torque=False", rotates_before_torque=[True]),
    *named(of_magnus, "magnus_adams4: warm_up_steps ", " needs read=polhode.methods.states.", read=[SPIRAL.read]),
    *named(of_magnus, "magnus_adams4: warm_up_steps ", " needs translation=None", translation=[LEAPFROG]),
    *named(of_magnus, "warm_up_steps must be at least 0", warm_up_steps=[-1]),
    (extended, (0.0,), "i11 must be positive, got 0"),
    # Problems.
    *named(
        of_top, "problem", "{}",
        body=[(1, 1, 1), None],
        omega0=["abc", 3, (1, 2), ("a", 1, 1), np.zeros((3, 1))],
        q0=[None, (1, 0, 0), (2, 0, 0, 0), (True, 0, 0, 0)],
        torque=[None, 3], potential=["x"], impulse=[1], torque_series=[1],
        conserves=["energy", 3, ("energie",)],
        key=[3, " "], label=[None], short_label=[3], parameters=[[1]], reference=[3], dependence=[3],
        rank=[-1, 1.5], represents_class=["yes"], load_formula=[None],
        symbols=[["M_x"], {"Mx": 3}], derived=[{"k": 1.0}], horizon=NO_TIMES,
    ),
    *named(of_top, "problem", "torque", torque_class=[3, ["lab"]]),
    *named(of_top, "unknown torque class 'magnetic'", torque_class=["magnetic"]),
    *named(of_top, "problem 'spiral_cylinder': {} must be 3 finite numbers", omega0=[(1.0, NAN, 0.0), (1.0, 0.0)]),
    *named(of_top, "q0 must be 4 finite numbers", q0=[(1.0, 0.0, 0.0)]),
    *named(of_top, "q0 = ", " is not a unit quaternion; divide it by its norm", q0=[(1.0, 1.0, 0.0, 0.0)]),
    *named(of_top, "horizon must be positive and finite, got 0.0", horizon=[0.0]),
    (lambda x: replace(TOP, parameters={"Mx": x}), (*NO_NUMBERS, NAN, INF), "'spiral_cylinder': parameter Mx must be"),
    (lambda x: TOP.with_parameters(Mx=x), (*NO_NUMBERS, NAN, INF), "parameter Mx must be"),
    *named(
        of_pair, "problem 'coupled_cylinders'", "{}",
        bodies=[(), 3, ("a", "b")], omega0=["ab", 3, ((1, 2, 3),)], q0=[((1, 0, 0, 0), (1, 0, 0))],
        loads=[None], fixed=["yes"], r0=[3], v0=[((1, 2, 3), (1, 2, "x"))],
    ),
    *named(of_pair, "problem 'coupled_cylinders': omega0 has 1 rows for 2 bodies", omega0=[((0.0, 0.0, 1.0),)]),
    *named(of_pair, "problem 'coupled_cylinders': q0[1] = ", " is not a unit", q0=[((1, 0, 0, 0), (1.0, 1.0, 0, 0))]),
    *named(of_pair, "problem 'coupled_cylinders': omega0[0] must be 3 finite numbers", omega0=[((0, 0, INF), (0, 0, 1))]),
    *named(of_top, "'spiral_cylinder': breakpoints", breakpoints=[(0.0,), (2.0, 1.0), (NAN,), "1", 3.0]),
    (lambda x: taylor.solve(TOP, [0.5, x], 20), (-0.5, NAN, INF), "finite and not negative"),
    (lambda x: TOP.exact([1.0], x), ("30", None, 30.0, True, 0), "digits must be"),
    (lambda x: TOP.exact(x, 20), ("1", None, [NAN], [[1.0]], 1.0, ["1"]), "times must be"),
    (lambda x: polhode.compile_all([], processes=x), ("2", 2.0, True, 0, -1), "processes must be"),
    (polhode.compile_all, ("euler",), "methods must be a list of keys, got 'euler'"),
    # Scenes and what they are made of.
    *named(of_scene, "scene 'rods': {} must be", speed=NO_AMOUNTS, spin=NO_AMOUNTS, horizon=NO_LENGTHS),
    *named(of_scene, "scene 'rods': {} must be", box=(*NO_NUMBERS, NAN, -1)),
    *named(of_scene, "{}", material=["steel"], key=[3], label=[None], source=[1]),
    *named(of_scene, "scene 'rods'", kinds=["x", 3, ((1, 2),), [], ((BALLS[0][0], 2.5),), ((BALLS[0][0], "2"),)]),
    (RODS.with_spin, NO_AMOUNTS, "scene 'rods': spin must be"),
    (RODS.contact_time, without(NO_AMOUNTS, None), "scene 'rods': speed must be"),
    (lambda x: replace(RODS, speed=x).contact_time(), (1e308,), "scene 'rods': the time of a contact at"),
    (of_material, ((1e-300, 1e308, 0.3), (1e308, 1e-300, 0.3)), "scene 'rods': the time of a contact at"),
    *named(of_steel, "material: {} must be", density=NO_AMOUNTS, young=NO_AMOUNTS, poisson=(*NO_NUMBERS, NAN, INF)),
    (kinds, (BALLS,), "scene 'rods'", "two kinds of clumps have the key 'sphere'"),
    (kinds, (((BALLS[0][0], -2),), ((BALLS[0][0], 0),)), "scene 'rods': ", "the number of clumps 'sphere' must be at least 1"),
    (lambda x: replace(RODS, box=x).initial_state(0), (INF,), "has no box"),
    (lambda x: Material(1.0, 1.0, x), (0.6,), "poisson"),
    (lambda x: replace(RODS, law=x), SITES, "scene 'rods': law must be one between spheres, got 'shifted_power'", "Fluid"),
    (lambda x: rods(law=x), SITES, "law must be one between spheres"),
    *named(partial(Drum, radius=1.0, rate=1.0), "drum: {}", radius=[0.0, -1.0], rate=[INF], axis=["r"]),
    *named(partial(Shaking, 1.0, 1.0), "shaking: {}", direction=[(0, 0, 0)]),
    (lambda x: Shaking(*x), ((0.0, 1.0),), "shaking: amplitude"),
    (lambda x: Shaking(*x), ((1.0, -1.0),), "shaking: frequency"),
    *named(of_scene, "scene 'rods': {} must be a polhode.manybody", drum=[1.0], shaking=[1.0]),
    *named(of_scene, "scene 'rods': periodic must be some of", periodic=[("r",), "x", ("x", "x")]),
    (lambda x: replace(RODS, periodic=x, drum=Drum(0.1, 1.0)), (("x",),), "a drum can be periodic along its axis alone, 'y'"),
    (lambda x: replace(RODS, periodic=("x",), box=x), (INF,), "box of finite length"),
    # Liquids.
    *named(of_water, "pairs of a Molecule", molecules=[()]),
    *named(of_water, "same units", molecules=[((SPCE, 1), (TRIMER, 1))]),
    *named(of_water, "the number of molecules 'spce' must be at most 2147483648", molecules=[((SPCE, 10**30),)]),
    *named(of_water, "nothing acts", molecules=[((Molecule.of_sites("dark", [[0, 0, 0], [1, 0, 0]], [1.0, 1.0]), 2),)]),
    *named(of_water, "at most half the box", box=[10.0]),
    *named(of_water, "one between sites", law=["hertz"]),
    *named(of_water, "arithmetic", mixing=["harmonic"]),
    *named(of_water, "temperature", temperature=[0.0]),
    *named(of_water, "{} must be at most 1e+50, got 1e+300", temperature=[1e300], box=[1e300]),
    *named(of_water, "dt must be positive and finite, got {{x!r}}", dt=[-1.0, NAN]),
    *named(of_water, "dt must be a number, got 'a'", dt=["a"]),
    *named(of_water, "states must be a tuple of paths of files, got {{x!r}}", states=[(3,), "abc"]),
    (lambda x: kinds(materials=x), ({"cube": STEEL},), "scene 'rods'", "materials: there is no kind of clump 'cube'"),
    (between, ("floor",), "scene 'rods'", "between: there is no kind of clump 'floor'"),
    (lambda x: between(frictoin=x), (0.1,), "scene 'rods'", "did you mean 'friction'"),
    (lambda x: between(friction=x), (-0.1,), "scene 'rods'", "friction must be finite and not negative"),
    *named(of_start, "the initial {} must be", r=NO_STATES, v=NO_STATES, q=NO_STATES, omega=NO_STATES),
    # Clumps.
    (Clump.sphere, NO_LENGTHS, "sphere 'sphere': radius must be"),
    (lambda x: Clump.rod(2, x, 1.0), NO_LENGTHS, "rod 'rod': radius must be"),
    (lambda x: Clump.rod(2, 1.0, x), NO_LENGTHS, "rod 'rod': spacing must be"),
    (lambda x: Clump.dimer(x, 1.0, 1.0), NO_LENGTHS, "dimer 'dimer': first must be"),
    (lambda x: Clump.dimer(1.0, x, 1.0), NO_LENGTHS, "dimer 'dimer': second must be"),
    (lambda x: Clump.dimer(1.0, 1.0, x), NO_AMOUNTS, "dimer 'dimer': distance must be"),
    (lambda x: Clump.loaded_sphere(1.0, 0.5, x, 5.0), (0.6,), "reaches out"),
    (lambda x: Clump.loaded_sphere(1.0, 0.5, 0.5, x), (1.0,), "ratio must be above 1"),
    (lambda x: Clump.loaded_sphere(1.0, x, 0.5, 5.0), (0.0,), "core must be"),
    (lambda x: Clump.loaded_sphere(x, 0.5, 0.5, 5.0), (-1.0,), "radius must be"),
    (lambda x: Clump.sphere(1.0).body(x), NO_LENGTHS, "clump 'sphere': density must be"),
    (lambda x: Clump.of_spheres("mine", *x), NO_SPHERES, "clump 'mine'"),
    (lambda x: Clump.of_spheres(x, [[0, 0, 0]], [1]), (3,), "key must be a string"),
    (lambda x: two_spheres(tolerance=x), (10, 1.0, 0.06, -1, NAN, INF, "5e-4"), "clump 'mine'", "tolerance"),
    (lambda x: two_spheres(masses=x), NO_MASSES, "clump 'mine'", "mass"),
    *named(by_hand, "clump 'own': volume must be positive", volume=[-1.0]),
    *named(by_hand, "clump 'own': inertia Ix must be positive", inertia=[(0, 0, 0)]),
    *named(by_hand, "inertia must be in ascending order", inertia=[(1.1, 1.1, 0.1)]),
    *named(by_hand, "triangle inequality", inertia=[(0.1, 0.2, 1.1)]),
    *named(by_hand, "inertia must be 3 finite numbers", inertia=[(0.1, 0.2)]),
    *named(by_hand, "positive radius for each centre", radii=[[0.5, -0.5], [0.5]]),
    *named(by_hand, "centres must be an array (n, 3)", centres=[[[0, 0], [1, 0]]]),
    *named(by_hand, "centres must be finite", centres=[[[0, 0, NAN], [1, 0, 0]]]),
    *named(by_hand, "rotation must be a unit quaternion", rotation=[(1, 1, 0, 0)]),
    *named(by_hand, "centre_of_mass must be 3 numbers", centre_of_mass=["here"]),
    *named(by_hand, "key must be a string", key=[3]),
    # Molecules.
    *named(of_sites, "molecule 'w': masses must have an entry for each of 3 sites, got 2", masses=[[16.0, 1.0]]),
    *named(of_sites, "masses must have an entry for each of 2 sites, got 3", positions=[np.zeros((2, 3))]),
    *named(of_sites, "at least one site must have a mass", masses=[[0.0, 0.0, 0.0]]),
    *named(of_sites, "masses must not be negative, got -1.0", masses=[[16.0, -1.0, 1.0]]),
    *named(of_sites, "charges must be finite", charges=[[0.0, NAN, 0.0]]),
    *named(of_sites, "site 1 (O) has an epsilon, but its sigma is zero", epsilon=[[0.1, 0.0, 0.0]]),
    *named(of_sites, "units must be one of real, lj, got 'metal'", units=["metal"]),
    *named(of_sites, "names must be a sequence of strings, got 'OHH'", names=["OHH"]),
    *named(of_sites, "names[2] must be a string, got 1", names=[["O", "H", 1]]),
    *named(of_sites, "positions up to 1e+200 cannot be computed with", positions=[1e200 * np.eye(3)]),
    *named(of_sites, "its masses lie on a line, or nearly so, but site 3 (H) does not", masses=[[16.0, 1.0, 0.0]]),
    *named(of_sites, "its masses lie in one place, or nearly so, but site 3 (H) does not", masses=[[16.0, 1e-9, 0.0]]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "value", "words"),
    [pytest.param(call, x, words, id=f"{words[-1]}: {short(x)}") for call, values, *words in REFUSED for x in values],
)
def test_a_wrong_value_is_refused_and_named(call, value, words):
    refused(lambda: call(value), *(word.replace("{x!r}", repr(value)) for word in words))


# --- what the table cannot say ---------------------------------------------------------------------------------------


def test_the_smallest_and_the_flattest_body_that_can_be():
    for inertia in ((1e-300, 1e-300, 1e-300), (1.0, 1.0, 2.0), (1e-12, 1.0, 1.0)):
        assert np.isfinite(Body(inertia).coefficients()).all()


def test_a_kind_may_occur_twice():
    assert len(replace(RODS, kinds=(BALLS[0], BALLS[0]))) == 4


def test_a_state_with_a_row_that_is_not_finite_names_it():
    bad = AT_REST.r.copy()
    bad[7, 1] = NAN
    refused(lambda: manybody.simulate("rods", "euler", 1e-5, state=replace(AT_REST, r=bad)), "r must be finite; row 7")


def test_a_unit_in_the_names_of_columns_is_the_one_passed(tmp_path):
    path = tmp_path / "spheres.csv"
    path.write_text("x [mm],y [mm],z [mm],r [mm],mass [g]\n0,0,0,2,3\n")
    clump = Clump.from_file(path, scale=1e-3, mass_scale=1e-3)
    assert clump.inertia == pytest.approx([0.4 * 3e-3 * 2e-3**2] * 3, rel=1e-12)
    for changes, words in (({"scale": 1e-2}, "pass scale=0.001"), ({"mass_scale": 1e-6}, "pass mass_scale=0.001")):
        usual = {"scale": 1e-3, "mass_scale": 1e-3}
        refused(lambda given=usual | changes: Clump.from_file(path, **given), "line 1: column", "contradicts", words)


def test_paths_of_clump_files(tmp_path):
    refused(lambda: Clump.from_file(None), "path must be")
    refused(lambda: Clump.from_file(tmp_path), "is a folder")
    os.mkfifo(tmp_path / "pipe")
    refused(lambda: Clump.from_file(tmp_path / "pipe"), "is no regular file")
    for path, name in (("a\0b", "a"), ("a" * 300, "aaa"), ("a\nb", "a"), (tmp_path / "nowhere.txt", "nowhere.txt")):
        with pytest.raises(FileNotFoundError, match=rf"clump path .*{name}.* does not exist") as caught:
            Clump.from_file(path)
        assert str(caught.value).isprintable()
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(10**12)
    refused(lambda: Clump.from_file(tmp_path / "sparse"), "has 1,000,000,000,000 bytes, more than 200,000,000")
    path = tmp_path / "one.txt"
    path.write_text("0 0 0 1\n")
    refused(lambda: Clump.from_file(path, label=3), "label must be a string")
    for value in NO_LENGTHS:
        refused(lambda value=value: Clump.from_file(path, scale=value), "one.txt: scale must be")
        refused(lambda value=value: Clump.from_file(path, mass_scale=value), "one.txt: mass_scale must be")


def test_a_clump_far_from_the_origin_keeps_its_moments():
    near = Clump.of_spheres("near", [[0.0, 0, 0], [1.0, 0, 0]], [1.0, 1.0])
    far = Clump.of_spheres("far", [[1e8, 0, 0], [1e8 + 1, 0, 0]], [1.0, 1.0])
    assert far.volume == pytest.approx(near.volume, rel=1e-12)
    assert far.inertia == pytest.approx(near.inertia, rel=1e-12)


def test_the_shape_of_the_message_is_the_same_everywhere():
    for call in (
        lambda: polhode.simulate("spiral_cylinder", "euler", "abc"),
        lambda: RODS.with_spin("abc"),
        lambda: Clump.sphere("abc"),
        lambda: Body((1, 1, 1), "abc"),
    ):
        assert re.search(r"\w+ must be a number \([\w/]+\), got 'abc'$", refused(call))
