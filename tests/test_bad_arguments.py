"""Arguments of a wrong type or value that would otherwise be taken: refused before anything is computed, and named.

The generated doors (test_doors.py) see errors that are no sentence; they cannot see a wrong value that is taken without a word.
"""

import os
import re
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import polhode
from polhode import Body, manybody
from polhode.interface import arguments
from polhode.manybody import Clump, Material, State
from polhode.problems.system import System

NAN, INF = float("nan"), float("inf")
#: What is no number at all, and what is none that can be a length of time.
NO_NUMBERS = ("abc", None, True, [0.1], np.array([0.1, 0.2]), 1j, b"1", {})
NO_TIMES = (*NO_NUMBERS, NAN, INF, -1.0, 0, 10**400)
NO_COUNTS = ("abc", None, True, NAN, 2.0, 2.5, -1, [1], 1j)
NO_SWITCHES = ("yes", "False", 1, 0.0, [], np.array([True, False]))
RODS = manybody.scenes["rods"]
AT_REST = State(np.zeros((30, 3)), np.zeros((30, 3)), np.eye(4)[[0] * 30], np.zeros((30, 3)))


def short(value):
    return f"{value!r:.24}".replace("\n", " ")


def refused(call, *named):
    """The message of the error, which has all of ``named`` in it."""
    with pytest.raises((TypeError, ValueError)) as caught:
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


# --- one body --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", NO_TIMES, ids=short)
@pytest.mark.parametrize("name", ["dt", "t_end"])
def test_times(name, value):
    if name == "dt" or value is not None:
        given = {"dt": 0.1, name: value}
        refused(lambda: polhode.simulate("spiral_cylinder", "euler", **given), f"{name} must be")
        refused(lambda: manybody.simulate("rods", "euler", **{"t_end": 1.0, **given}), f"{name} must be")


@pytest.mark.parametrize("value", NO_COUNTS, ids=short)
def test_counts(value):
    refused(lambda: polhode.simulate("spiral_cylinder", "euler", 0.1, samples=value), "samples must be")
    refused(lambda: manybody.simulate("rods", "euler", 1e-5, t_end=1e-4, samples=value), "samples must be")
    refused(lambda: manybody.simulate("rods", "euler", 1e-5, t_end=1e-4, seed=value), "seed must be")
    refused(lambda: RODS.initial_state(value), "scene 'rods': seed must be")
    refused(lambda: RODS.scaled(value), "scene 'rods': count must be")
    refused(lambda: Clump.rod(value, 1.0, 1.0), "rod 'rod': spheres must be")


@pytest.mark.parametrize("value", NO_SWITCHES, ids=short)
def test_switches(value):
    for name in ("truncate", "normalise"):
        refused(lambda name=name: polhode.simulate("spiral_cylinder", "euler", 0.1, **{name: value}), f"{name} must be True")
    for name in ("record", "brute_force", "normalise"):
        refused(lambda name=name: manybody.simulate("rods", "euler", 1e-5, t_end=1e-4, **{name: value}), f"{name} must be True")
    refused(lambda: Body((1, 1, 1), triangle=value), "triangle must be True")


@pytest.mark.parametrize(
    "inertia",
    [
        "abc",
        3,
        None,
        (1, True, 1),
        ("1", "1", "1"),
        (1, 1),
        (1, 1, 1, 1),
        [[1, 1, 1]],
        (1, 1, 1j),
        (1, 1, 10**400),
        (0, 1, 10**400),
        np.ones((3, 3)),
    ],
    ids=short,
)
def test_moments_that_are_none(inertia):
    refused(lambda: Body(inertia), "inertia")


@pytest.mark.parametrize(
    "body",
    [
        {"inertia": (1e-320, 1e-320, 1e-320)},
        {"inertia": (1e-310, 1.0, 1.0)},
        {"inertia": (1e308, 1e308, 1e308)},
        {"inertia": (1e-200, 1e200, 3e200), "triangle": False},
        {"inertia": (1.0, 1.0, 1.0), "mass": 1e-320},
    ],
    ids=short,
)
def test_bodies_whose_coefficients_are_no_numbers(body):
    refused(lambda: Body(**body), "too small, too large or too unlike each other")


def test_the_smallest_and_the_flattest_body_that_can_be():
    for inertia in ((1e-300, 1e-300, 1e-300), (1.0, 1.0, 2.0), (1e-12, 1.0, 1.0)):
        assert np.isfinite(Body(inertia).coefficients()).all()


@pytest.mark.parametrize("value", ["1", None, True, NAN, INF, -1, 0, 1e200, 1e-200], ids=short)
def test_sizes_of_bodies(value):
    for make, names in ((Body.sphere, ("radius",)), (Body.cylinder, ("radius", "height")), (Body.box, ("a", "b", "c"))):
        for name in names:
            sizes = {**dict.fromkeys(names, 1.0), "density": 1.0, name: value}
            # Of a rod 1e200 m long the mass is a number and the moments are not; a box may be as thin.
            if isinstance(value, float) and 0 < value < 1 and make is not Body.sphere:
                continue
            refused(lambda make=make, sizes=sizes: make(**sizes), name)
    if value not in (1e200, 1e-200):
        refused(lambda: Body.sphere(1.0, value), "density must be")
        refused(lambda: Body((1, 1, 1), mass=value), "mass must be")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("body", (1, 1, 1)),
        ("body", None),
        ("omega0", "abc"),
        ("omega0", 3),
        ("omega0", (1, 2)),
        ("omega0", ("a", 1, 1)),
        ("omega0", np.zeros((3, 1))),
        ("q0", None),
        ("q0", (1, 0, 0)),
        ("q0", (2, 0, 0, 0)),
        ("q0", (True, 0, 0, 0)),
        ("torque", None),
        ("torque", 3),
        ("potential", "x"),
        ("impulse", 1),
        ("torque_series", 1),
        ("torque_class", 3),
        ("torque_class", ["lab"]),
        ("conserves", "energy"),
        ("conserves", 3),
        ("conserves", ("energie",)),
        ("key", 3),
        ("key", " "),
        ("label", None),
        ("parameters", [1]),
        ("reference", 3),
        ("short_label", 3),
        ("rank", -1),
        ("rank", 1.5),
        ("represents_class", "yes"),
        ("load_formula", None),
        ("symbols", ["M_x"]),
        ("symbols", {"Mx": 3}),
        ("derived", {"k": 1.0}),
        ("dependence", 3),
        *(("horizon", value) for value in NO_TIMES),
    ],
    ids=short,
)
def test_problems(name, value):
    said = {"torque_class": "torque"}.get(name, name)
    refused(lambda: replace(polhode.problems["spiral_cylinder"], **{name: value}), "problem", said)


@pytest.mark.parametrize("value", [*NO_NUMBERS, NAN, INF], ids=short)
def test_parameters_of_problems(value):
    problem = polhode.problems["spiral_cylinder"]
    refused(lambda: replace(problem, parameters={"Mx": value}), "'spiral_cylinder': parameter Mx must be")
    refused(lambda: problem.with_parameters(Mx=value), "parameter Mx must be")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bodies", ()),
        ("bodies", 3),
        ("bodies", ("a", "b")),
        ("omega0", "ab"),
        ("omega0", 3),
        ("omega0", ((1, 2, 3),)),
        ("q0", ((1, 0, 0, 0), (1, 0, 0))),
        ("loads", None),
        ("fixed", "yes"),
        ("r0", 3),
        ("v0", ((1, 2, 3), (1, 2, "x"))),
    ],
    ids=short,
)
def test_systems(name, value):
    system = polhode.problems["coupled_cylinders"]
    assert isinstance(system, System)
    refused(lambda: replace(system, **{name: value}), "problem 'coupled_cylinders'", name)


# --- many bodies -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [*NO_NUMBERS, NAN, INF, -1], ids=short)
def test_scenes(value):
    for name in ("speed", "spin", "horizon", "box"):
        if not (name == "box" and value is INF):
            refused(lambda name=name: replace(RODS, **{name: value}), f"scene 'rods': {name} must be")
    refused(lambda: RODS.with_spin(value), "scene 'rods': spin must be")
    if value is not None:
        refused(lambda: RODS.contact_time(value), "scene 'rods': speed must be")
    for name in ("density", "young", "poisson"):
        if not (name == "poisson" and isinstance(value, int) and value == -1):
            sound = {"density": 1.0, "young": 1.0, "poisson": 0.1}
            refused(lambda name=name, sound=sound: Material(**{**sound, name: value}), f"material: {name} must be")


@pytest.mark.parametrize(("name", "value"), [("material", "steel"), ("key", 3), ("label", None), ("source", 1)], ids=short)
def test_words_of_scenes(name, value):
    refused(lambda: replace(RODS, **{name: value}), name)


@pytest.mark.parametrize("kinds", ["x", 3, ((1, 2),), [], ((Clump.sphere(1.0), 2.5),), ((Clump.sphere(1.0), "2"),)], ids=short)
def test_kinds_of_scenes(kinds):
    refused(lambda: replace(RODS, kinds=kinds), "scene 'rods'")


BALLS = ((Clump.sphere(1.0), 2), (Clump.sphere(2.0), 2))
STEEL = Material(7800.0, 2e11, 0.3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kinds": BALLS}, "two kinds of clumps have the key 'sphere'"),
        ({"kinds": ((Clump.sphere(1.0), -2),)}, "the number of clumps 'sphere' must be at least 1, got -2"),
        ({"kinds": BALLS[:1], "materials": {"cube": STEEL}}, "materials: there is no kind of clump 'cube'"),
        (
            {"kinds": BALLS[:1], "between": {("sphere", "floor"): {"friction": 0.1}}},
            "between: there is no kind of clump 'floor'",
        ),
        ({"kinds": BALLS[:1], "between": {("sphere", "wall"): {"frictoin": 0.1}}}, "did you mean 'friction'"),
        ({"kinds": BALLS[:1], "between": {("sphere", "wall"): {"friction": -0.1}}}, "friction must be finite and not negative"),
    ],
    ids=short,
)
def test_what_a_scene_says_of_its_kinds_is_checked_when_it_is_made(changes, message):
    refused(lambda: replace(RODS, law="hertz_mindlin_tsuji", **changes), "scene 'rods'", message)


def test_a_kind_may_occur_twice():
    assert len(replace(RODS, kinds=(BALLS[0], BALLS[0]))) == 4


@pytest.mark.parametrize("name", ["r", "v", "q", "omega"])
@pytest.mark.parametrize(
    "values",
    ["x", None, np.zeros((2, 4)), np.zeros((30, 5)), np.zeros(90), [[1, 2], [3]], np.zeros((30, 3), complex), [["1"] * 3] * 30],
    ids=short,
)
def test_initial_states(name, values):
    given = replace(AT_REST, **{name: values})
    refused(lambda: manybody.simulate("rods", "euler", 1e-5, t_end=1e-4, state=given), f"the initial {name} must be")


def test_a_state_with_a_row_that_is_not_finite_names_it():
    bad = AT_REST.r.copy()
    bad[7, 1] = NAN
    refused(lambda: manybody.simulate("rods", "euler", 1e-5, state=replace(AT_REST, r=bad)), "r must be finite; row 7")


@pytest.mark.parametrize("value", [*NO_NUMBERS, NAN, INF, -1, 0], ids=short)
def test_sizes_of_clumps(value, tmp_path):
    path = tmp_path / "one.txt"
    path.write_text("0 0 0 1\n")
    refused(lambda: Clump.sphere(value), "sphere 'sphere': radius must be")
    refused(lambda: Clump.rod(2, value, 1.0), "rod 'rod': radius must be")
    refused(lambda: Clump.rod(2, 1.0, value), "rod 'rod': spacing must be")
    refused(lambda: Clump.dimer(value, 1.0, 1.0), "dimer 'dimer': first must be")
    refused(lambda: Clump.dimer(1.0, value, 1.0), "dimer 'dimer': second must be")
    if not (isinstance(value, int) and value == 0):
        refused(lambda: Clump.dimer(1.0, 1.0, value), "dimer 'dimer': distance must be")
    refused(lambda: Clump.from_file(path, scale=value), "one.txt: scale must be")
    refused(lambda: Clump.from_file(path, mass_scale=value), "one.txt: mass_scale must be")
    refused(lambda: Clump.sphere(1.0).body(value), "clump 'sphere': density must be")


@pytest.mark.parametrize(
    ("centres", "radii"),
    [
        ("a", [1]),
        (None, None),
        ([], []),
        ([[0, 0, 0]], "a"),
        ([[0, 0, 0]], [1, 2]),
        ([0, 0, 0], [1]),
        ([[0, 0]], [1]),
        ([[0, 0, 0], [1]], [1, 1]),
        ([[0, 0, 0]], [True]),
        ([[0, 0, 0]], [-1]),
        ([[0, 0, 0]], [0]),
        ([[NAN, 0, 0]], [1]),
        ([[0, 0, 0]], [1j]),
        ([["0", "0", "0"]], ["1"]),
        ([[0, 0, 0]], [1e300]),
        ([[0, 0, 0]], [1e-300]),
        ([[1e200, 0, 0], [0, 0, 0]], [1, 1]),
    ],
    ids=short,
)
def test_spheres(centres, radii):
    refused(lambda: Clump.of_spheres("mine", centres, radii), "clump 'mine'")


@pytest.mark.parametrize("tolerance", [10, 1.0, 0.06, -1, NAN, INF, "5e-4"], ids=short)
def test_tolerance_of_symmetry(tolerance):
    refused(lambda: Clump.of_spheres("mine", [[0, 0, 0], [1, 0, 0]], [1, 1], tolerance=tolerance), "clump 'mine'", "tolerance")


@pytest.mark.parametrize("masses", ["ab", 3, [1.0], [0, 1], [-1, 1], [NAN, 1], [1e300, 1], [[1, 2]], [None, 1]], ids=short)
def test_masses_of_spheres(masses):
    refused(lambda: Clump.of_spheres("mine", [[0, 0, 0], [1, 0, 0]], [1, 1], masses=masses), "clump 'mine'", "mass")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("0 0 0 1".encode("utf-16"), "is not UTF-8 text (byte 0 is 0xff)"),
        (b"# r\xe9sum\xe9\n0 0 0 1\n", "is not UTF-8 text (byte 3 is 0xe9)"),
        (b"\x1f\x8b\x08\x00", "is not UTF-8 text"),
        (b"\0\0\0\0", "holds no sphere"),
        (b"", "holds no sphere"),
        (b"x y z r\n", "holds no sphere"),
        (b"0 0 0 1e300\n", "lengths must lie between"),
        (b"0 0 0 1e-300\n", "lengths must lie between"),
        (b"1e200 0 0 1\n0 0 0 1\n", "lengths must lie between"),
        (b"0 0 0 1e400\n", "line 1: x, y, z, r must be finite"),
        (b"inf 0 0 1\n", "line 1: x, y, z, r must be finite"),
        (b"1_0 0 0 1\n", "line 1: expected four numbers"),
        (b"0x1 0 0 1\n", "line 1: expected four numbers"),
        (b"0,5 0,5 0,5\n", "line 1: expected four numbers"),
        (b"0 0 0 1\n0 0 0 1 1\n", "line 2: expected four numbers"),
        (b"0 0 0 1 3\n0 0 0 1 3\n", "line 1: expected four numbers x, y, z, r, got '0 0 0 1 3'; name the columns"),
        (b"r,x,y\n1,0,0\n", "line 1: there is no column z among r, x, y"),
        (b"x,y,z\n1,0,0\n", "line 1: there is no column of radii"),
        (b"x,y,z,r,density\n0,0,0,1,1\n", "line 1: unknown column 'density'"),
        (b"x,y,z,r,X\n0,0,0,1,1\n", "line 1: two columns are x"),
        (b"x [mm],y [mm],z [mm],r [mm]\n0,0,0,1\n", "line 1: column 'x [mm]' is not in m; pass the unit"),
        (b"x [mm],y [mm],z [mm],r [m]\n0,0,0,1\n", "line 1: columns are in different units: x [mm], r [m]"),
        (
            b"3\n0 0 0 1\n1 0 0 1\n2 0 0 1\n",
            "has 2 lines for 3 spheres; a clump file has one frame, whose line 1 is the number",
        ),
        (b"# r,x,y,z\n1,0,0\n", "line 2: expected four numbers r, x, y, z, got '1,0,0'"),
        (b"#format x_y_z_r_clumpId\n0 0 0 1 2\n3 3 3 1 4\n", "holds 2 clumps, numbers 2, 4; choose one with clump="),
        (b"2\n\nC 0 0 0\nC 1 0 0\n", "line 2: an XYZ file without radii"),
        (b"2\nProperties=pos:R:3\n0 0 0\n1 0 0\n", "line 2: 'Properties=pos:R:3' has no radius:R:1"),
        (b"2\nProperties=pos:R:3:radius:R:1\n0 0 0 1\n", "has 1 lines for 2 spheres"),
        (b"t\n2 atoms\n\nCoords\n\n1 0 0 0\n2 1 0 0\n", "without the section Diameters"),
        (b"t\n2 atoms\n\nCoords\n\n1 0 0 0\n\nDiameters\n\n1 1\n2 1\n", "section Coords has 1 lines for 2 atoms"),
        (b"Begin centers_and_radii\n0 0 0 1\n", "the block centers_and_radii has no end"),
        (b"Begin centers_and_radii\n0 0 0\nEnd centers_and_radii\n", "line 2: expected four numbers"),
        (b"clump template create name 'bent'\n", "read are x y z r in this order"),
        (b"0 0 0 0\n", "line 1: the radius r must be positive"),
        (b"0 0 0 " + b"y" * 5000, "line 1: expected four numbers"),
    ],
    ids=short,
)
def test_clump_files(tmp_path, content, message):
    path = tmp_path / "broken.txt"
    path.write_bytes(content)
    said = refused(lambda: Clump.from_file(path), message)
    assert "broken" in said


def test_a_unit_that_names_of_columns_say_is_that_which_is_passed(tmp_path):
    path = tmp_path / "spheres.csv"
    path.write_text("x [mm],y [mm],z [mm],r [mm],mass [g]\n0,0,0,2,3\n")
    clump = Clump.from_file(path, scale=1e-3, mass_scale=1e-3)
    assert clump.inertia == pytest.approx([0.4 * 3e-3 * 2e-3**2] * 3, rel=1e-12)
    for changes, words in (({"scale": 1e-2}, "pass scale=0.001"), ({"mass_scale": 1e-6}, "pass mass_scale=0.001")):
        usual = {"scale": 1e-3, "mass_scale": 1e-3}
        refused(lambda given=usual | changes: Clump.from_file(path, **given), "line 1: column", "contradicts", words)


def test_a_contact_time_that_is_no_number_is_refused():
    for changes in ({"speed": 1e308}, {"material": Material(1e-300, 1e308, 0.3)}, {"material": Material(1e308, 1e-300, 0.3)}):
        refused(lambda changes=changes: replace(RODS, **changes).contact_time(), "scene 'rods': the time of a contact at")


def test_what_is_asked_of_references_and_of_the_compiler():
    problem = polhode.problems["spiral_cylinder"]
    for digits in ("30", None, 30.0, True, 0):
        refused(lambda digits=digits: problem.exact([1.0], digits), "digits must be")
    for times in ("1", None, [NAN], [[1.0]], 1.0, ["1"]):
        refused(lambda times=times: problem.exact(times, 20), "times must be")
    for processes in ("2", 2.0, True, 0, -1):
        refused(lambda processes=processes: polhode.compile_all([], processes=processes), "processes must be")
    refused(lambda: polhode.compile_all("euler"), "methods must be a list of keys, got 'euler'")


def test_paths_of_clump_files(tmp_path):
    refused(lambda: Clump.from_file(None), "path must be")
    refused(lambda: Clump.from_file(tmp_path), "is a folder")
    os.mkfifo(tmp_path / "pipe")
    refused(lambda: Clump.from_file(tmp_path / "pipe"), "is no regular file")
    for path in ("a\0b", "a" * 300, "a\nb"):
        with pytest.raises(FileNotFoundError, match=r"clump path .* does not exist") as caught:
            Clump.from_file(path)
        assert str(caught.value).isprintable()
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(10**12)
    refused(lambda: Clump.from_file(tmp_path / "sparse"), "has 1,000,000,000,000 bytes, more than 200,000,000")
    path = tmp_path / "one.txt"
    path.write_text("0 0 0 1\n")
    refused(lambda: Clump.from_file(path, label=3), "label must be a string")
    refused(lambda: Clump.of_spheres(3, [[0, 0, 0]], [1]), "key must be a string")


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
