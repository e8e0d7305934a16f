"""Clumps and scenes: mass of the union, principal frames, clump files, chess pieces, placement."""

import json
import re
from contextlib import redirect_stdout
from io import StringIO
from itertools import product

import numpy as np
import pytest
from conftest import UPRIGHT, make, no_torque, said_by
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import polhode
from polhode import manybody
from polhode.manybody import mass_properties, shapes, simulation, symmetry
from polhode.manybody.contact import matrix
from polhode.manybody.placement import directions

# ---- mass properties ----


def test_one_sphere():
    clump = manybody.Clump.sphere(0.3)
    assert clump.volume == pytest.approx(4 / 3 * np.pi * 0.027)
    assert clump.inertia == pytest.approx((0.4 * clump.volume * 0.09,) * 3)
    body = clump.body(100.0)
    assert body.mass == pytest.approx(100 * clump.volume)
    assert body.inertia == pytest.approx(tuple(100 * i for i in clump.inertia))


def lens(r, d):
    """Volume common to two spheres of radius r at a distance d."""
    return np.pi * (4 * r + d) * (2 * r - d) ** 2 / 12


def test_two_overlapping_spheres_count_their_overlap_once():
    r, d = 1.0, 0.8
    union = mass_properties.union(np.array([[0.0, 0, 0], [d, 0, 0]]), np.array([r, r]))
    assert union.volume == pytest.approx(2 * 4 / 3 * np.pi * r**3 - lens(r, d), rel=2e-5)
    np.testing.assert_allclose(union.centre, [d / 2, 0, 0], atol=1e-6)
    # About the common axis: two spheres less a lens, whose sections are circles of radius sqrt(r^2 - x^2).
    x = np.linspace(d / 2, r, 20001)
    lens_moment = 2 * np.trapezoid(np.pi / 2 * (r**2 - x**2) ** 2, x)
    assert union.inertia[0, 0] == pytest.approx(2 * 0.4 * 4 / 3 * np.pi * r**5 - lens_moment, rel=5e-5)


def test_a_sphere_inside_another_weighs_nothing():
    united = mass_properties.union(np.array([[0.0, 0, 0], [0.1, 0.2, 0.0]]), np.array([1.0, 0.5]))
    alone = manybody.Clump.sphere(1.0)
    assert united.volume == pytest.approx(alone.volume, rel=1e-5)
    np.testing.assert_allclose(united.inertia, np.diag(alone.inertia), rtol=2e-5, atol=1e-6)


def test_spheres_apart_are_added_up_exactly():
    centres, radii = np.array([[0.0, 0, 0], [2.0, 0, 0], [0, 3.0, 0]]), np.array([1.0, 1.0, 0.5])
    union = mass_properties.union(centres, radii)
    volumes = 4 / 3 * np.pi * radii**3
    centre = (volumes[:, None] * centres).sum(0) / volumes.sum()
    inertia = np.zeros((3, 3))
    for v, c, r in zip(volumes, centres - centre, radii, strict=True):
        inertia += v * (0.4 * r**2 * np.eye(3) + c @ c * np.eye(3) - np.outer(c, c))
    assert union.volume == pytest.approx(volumes.sum(), rel=1e-14)
    np.testing.assert_allclose(union.inertia, inertia, rtol=1e-13, atol=1e-15)


def test_columns_converge():
    rng = np.random.default_rng(2)
    centres, radii = rng.uniform(-1, 1, (12, 3)), rng.uniform(0.3, 0.8, 12)
    coarse, fine = (mass_properties.union(centres, radii, columns=n) for n in (150, 600))
    assert coarse.volume == pytest.approx(fine.volume, rel=3e-4)
    np.testing.assert_allclose(coarse.inertia, fine.inertia, rtol=1e-3, atol=1e-3)


@pytest.mark.thorough
def test_the_shapes_of_clumps_do_not_depend_on_the_processor():
    """A last digit of a chess piece gives other collisions; OpenBLAS can be told to compute as an old processor does."""
    program = (
        "import hashlib, sys; from polhode.manybody import scenes\n"
        "for key in ('chess', 'mixed_sizes'):\n"
        "    for clump, _ in scenes.get(key).clumps:\n"
        "        print(hashlib.sha256(clump.centres.tobytes()).hexdigest(), *map(float.hex, clump.inertia))"
    )
    old = said_by(program, OPENBLAS_CORETYPE="Prescott")
    with redirect_stdout(StringIO()) as new:
        exec(program, {})
    assert new.getvalue() == old and len(old.splitlines()) == 10


def test_rods_lie_on_their_axis_exactly():
    rod = manybody.Clump.rod(3, 0.02 * np.sqrt(3), 0.04 * np.sqrt(3))
    assert rod.linear
    assert (rod.centres[:, 1:] == 0).all()
    r = 0.02 * np.sqrt(3)
    volume = 4 * np.pi * r**3
    axial, across = 0.4 * volume * r**2, 0.4 * volume * r**2 + 2 / 3 * volume * (2 * r) ** 2
    assert rod.volume == pytest.approx(volume)
    assert rod.inertia == pytest.approx((axial, across, across))
    assert not manybody.Clump.of_spheres("bent", [[0, 0, 0], [1, 0, 0], [2, 0.5, 0]], [0.4, 0.4, 0.4]).linear


@pytest.mark.parametrize("seed", range(4))
def test_a_rod_is_a_rod_however_it_is_turned(seed):
    """Spheres on one line lie on the long axis to the last bit, so that nothing can turn the rod about it."""
    rng = np.random.default_rng(seed)
    along, radii = rng.uniform(-1, 1, 5), rng.uniform(0.2, 0.5, 5)
    plain = manybody.Clump.of_spheres("a", np.outer(along, [1, 0, 0]), radii)
    directions = [[0, 0, 1], [0, -1, 0], *Rotation.random(2, rng=rng).apply([1, 0, 0])]
    for direction in directions:
        turned = manybody.Clump.of_spheres("b", np.outer(along, direction) + rng.uniform(-1, 1, 3), radii)
        assert turned.linear and plain.linear
        assert turned.inertia == pytest.approx(plain.inertia, rel=1e-9)
        assert turned.volume == pytest.approx(plain.volume, rel=1e-9)


@pytest.mark.thorough
def test_what_is_long_and_thin_is_weighed_in_any_direction():
    """A bent chain of two hundred overlapping spheres, along each axis: to its cross-section the columns are fine enough."""
    centres = np.zeros((200, 3))
    centres[:, 0] = np.arange(200)
    centres[150:, 1] = 0.1 * np.arange(50)
    radii = np.ones(200)
    volumes, moments = [], []
    for axis in range(3):
        clump = manybody.Clump.of_spheres("chain", np.roll(centres, axis, axis=1), radii)
        assert not clump.linear
        volumes.append(clump.volume)
        moments.append(clump.inertia)
    # A straight chain is spheres less the lenses between neighbours; this one is a little longer.
    straight = 200 * 4 / 3 * np.pi - 199 * lens(1.0, 1.0)
    assert straight < min(volumes) and max(volumes) < straight * 1.005
    np.testing.assert_allclose(volumes, volumes[0], rtol=2e-4)
    np.testing.assert_allclose(moments, np.tile(moments[0], (3, 1)), rtol=1e-3)


# ---- symmetry ----


def ring(spheres, radius=0.45, height=0.0, turn=0.0):
    angle = turn + np.arange(spheres) * 2 * np.pi / spheres
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full(spheres, height)])


CORNERS = np.array(list(product([-0.4, 0.4], repeat=3)))
GOLDEN = (1 + 5**0.5) / 2
#: Centres, radius, and how many moments are equal; all but the last three overlap.
SYMMETRIC = {
    "ring": (ring(20), 0.1, 2),
    "triangle": (ring(3), 0.45, 2),
    "cylinder": (np.vstack([ring(12, height=0.1 * k) for k in range(5)]), 0.14, 2),
    "prism": (np.vstack([ring(5), ring(5, height=0.8)]), 0.4, 2),
    "propeller": (np.vstack([ring(3), ring(3, 0.6, height=0.3, turn=0.4)]), 0.4, 2),
    "bisphenoid": (np.array([[1, 0, 0.5], [-1, 0, 0.5], [0, 1, -0.5], [0, -1, -0.5]]), 0.8, 2),
    "dimer": (np.array([[0.0, 0, 0], [0.6, 0, 0]]), 0.5, 2),
    "tetrahedron": (CORNERS[[0, 3, 5, 6]], 0.6, 3),
    "cube": (CORNERS, 0.5, 3),
    "octahedron": (np.vstack([np.eye(3), -np.eye(3)]), 0.8, 3),
    "icosahedron": (np.vstack([np.roll([0, x, y * GOLDEN], k) for k in range(3) for x in (-1, 1) for y in (-1, 1)]), 1.1, 3),
    "box": (CORNERS * [1, 1.4, 1.9], 0.7, 0),
    "bent": (np.array([[0, 0, 0], [0.5, 0, 0], [1.0, 0, 0], [0, 0.5, 0]]), 0.4, 0),
    "skew": (np.random.default_rng(0).uniform(-1, 1, (7, 3)), 0.6, 0),
    "six apart": (np.vstack([ring(6, 2.0)]), 0.5, 2),
    "four apart": (10 * CORNERS[[0, 3, 5, 6]], 0.5, 3),
    "ten apart": (np.vstack([ring(5, 3.0), ring(5, 5.0)]), 0.5, 2),
}
PLAIN = {key: manybody.Clump.of_spheres(key, centres, np.full(len(centres), r)) for key, (centres, r, _) in SYMMETRIC.items()}
angles = st.floats(-3.0, 3.0)


@pytest.mark.thorough
@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(SYMMETRIC)),
    st.tuples(angles, angles, angles),
    st.tuples(angles, angles, angles),
    st.floats(1e-3, 1e3),
    st.sampled_from([4, 6, 17]),
    st.randoms(use_true_random=False),
)
def test_symmetric_clumps_keep_their_symmetry(key, turn, shift, size, digits, random):
    centres, radius, equal = SYMMETRIC[key]
    order = random.sample(range(len(centres)), len(centres))
    moved = np.round(Rotation.from_rotvec(turn).apply(centres[order]) + shift, digits)
    clump = manybody.Clump.of_spheres(key, size * moved, np.full(len(centres), size * radius))
    x, y, z = clump.inertia
    assert {2: x == y or y == z, 3: x == y == z, 0: x < y < z}[equal]
    assert clump.inertia == pytest.approx([size**5 * moment for moment in PLAIN[key].inertia], rel=5e-4)
    distances, plain = (np.linalg.norm(c.centres, axis=1) for c in (clump, PLAIN[key]))
    np.testing.assert_allclose(distances, size * plain[order], atol=1e-3 * size)
    if equal == 0:  # the frame turns with the spheres; otherwise a part of it is free
        np.testing.assert_allclose(np.abs(clump.centres), size * np.abs(PLAIN[key].centres[order]), atol=2e-3 * size)


@pytest.mark.parametrize("key", ["ring", "cube", "prism", "box"])
def test_a_symmetric_clump_s_centre_is_its_middle(key):
    centres, radius, _ = SYMMETRIC[key]
    turned = Rotation.from_rotvec([0.3, -1.1, 0.7]).apply(centres)
    clump = manybody.Clump.of_spheres(key, turned, np.full(len(centres), radius))
    np.testing.assert_allclose(clump.centres.mean(0), 0, atol=1e-15)


def test_a_mirror_plane_stays_a_plane():
    """The normal of the plane of four spheres is a principal axis, however they are turned; so is that of the chess pieces."""
    centres, radius, _ = SYMMETRIC["bent"]
    for seed in range(3):
        turned = Rotation.random(rng=np.random.default_rng(seed)).apply(centres)
        clump = manybody.Clump.of_spheres("bent", turned, np.full(4, radius))
        assert np.abs(clump.centres[:, 2]).max() < 1e-15
    for key in shapes.PIECES:
        group = symmetry.of_spheres(shapes.piece(key).centres, shapes.piece(key).radii, 5e-4)
        assert group.axes.shape == (3, 1) and group.equal == 0


@pytest.mark.parametrize("change", [0.01, 0.1])
def test_a_clump_that_is_not_quite_symmetric_is_not_made_so(change):
    for key in ("ring", "tetrahedron", "cube", "prism"):
        centres, radius, _ = SYMMETRIC[key]
        radii = np.full(len(centres), radius)
        radii[0] *= 1 + change
        assert len(set(manybody.Clump.of_spheres(key, centres, radii).inertia)) == 3 - (key in ("tetrahedron", "cube"))
        moved = centres + np.eye(len(centres), 1) * change * np.ptp(centres) * [1, 0.3, 0.5]
        x, y, z = manybody.Clump.of_spheres(key, moved, np.full(len(centres), radius)).inertia
        assert x < y < z
    near = ring(20) * [1, 1 + 1e-4, 1]
    assert len(set(manybody.Clump.of_spheres("near", near, np.full(20, 0.1)).inertia)) == 2
    assert len(set(manybody.Clump.of_spheres("near", near, np.full(20, 0.1), tolerance=1e-6).inertia)) == 3


def test_spheres_inside_others_do_not_break_a_symmetry():
    within = np.vstack([SYMMETRIC["cube"][0], [[0.41, 0.4, 0.4]], [[0.4, 0.4, 0.4]]])
    clump = manybody.Clump.of_spheres("cube", within, [0.5] * 8 + [0.4, 0.5])
    assert clump.inertia == PLAIN["cube"].inertia


def test_spheres_closer_than_the_tolerance_are_told_apart():
    """The identity is always among the operations; every sphere maps to itself and not to its neighbour."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        centres = rng.integers(-2, 3, (12, 3)).astype(float)
        centres[5] = centres[4] + 1e-4
        group = symmetry.of_spheres(centres, np.full(12, 0.8), 5e-4)
        assert np.isfinite(group.fixed).all()
    points = rng.normal(size=(1500, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    group = symmetry.of_spheres(points, np.full(1500, 0.02), 5e-4)
    np.testing.assert_allclose(group.fixed, np.eye(3), atol=1e-12)
    assert group.equal == 0


def test_a_ring_precesses_and_does_not_turn_over():
    """A symmetric top: omega turns about z at the rate (Iz/Ix - 1) omega_z."""
    of_start = {"body": PLAIN["ring"].body(1000.0), "omega0": (1e-4, 1.0, 1e-4), "q0": UPRIGHT}
    free = make("ring", no_torque, "free", **of_start, horizon=4000.0)
    run = polhode.simulate(free, "exact_rotor", dt=0.5, samples=100)
    x, _, z = free.body.inertia
    assert run.omega.values[-1, 1] == pytest.approx(np.cos((z / x - 1) * 1e-4 * 4000 - 1e-4), abs=1e-7)


# ---- clump files ----


def test_a_clump_file(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("# my clump\nx y z r\n0 0 0 1\n\n2.0, 0, 0, 1  # the second\n")
    clump = manybody.Clump.from_file(path, scale=0.01)
    assert clump.key == "mine"
    np.testing.assert_allclose(sorted(clump.centres[:, 0]), [-0.01, 0.01])
    np.testing.assert_allclose(clump.radii, 0.01)
    # What spreadsheets put in front of a text is no line of names.
    path.write_text("0 0 0 1\n2 0 0 1\n", encoding="utf-8-sig")
    assert len(manybody.Clump.from_file(path).radii) == 2


@st.composite
def tables(draw):
    """Three spheres as a table in any order of columns, under any of their names, with any separator."""
    names = {
        "x": draw(st.sampled_from(["x", "X", '"x"', "Position.X", "x [m]"])),
        "y": draw(st.sampled_from(["y", "Y", '"y"', "Position.Y", "y [m]"])),
        "z": draw(st.sampled_from(["z", "Z", '"z"', "Position.Z", "z (m)"])),
        "r": draw(st.sampled_from(["r", "R", "rad", "radius", "Radius", "d", "D", "diameter", "Diameter"])),
    }
    if draw(st.booleans()):
        names["id"] = draw(st.sampled_from(["id", "ID", "index", "type"]))
    if draw(st.booleans()):
        names["clump"] = draw(st.sampled_from(["clumpId", "clump", "clump_id", "Molecule Identifier"]))
    separator, comma = draw(st.sampled_from([*((mark, False) for mark in ",;\t "), (";", True), ("\t", True)]))
    if separator == " ":
        names = {key: name.replace(" ", "") for key, name in names.items()}
    order = draw(st.permutations(sorted(names)))
    remark = draw(st.sampled_from(["", "# "]))
    lines = ["# three spheres", remark + separator.join(names[name] for name in order)]
    for i, (centre, radius) in enumerate(zip(THREE, RADII, strict=True)):
        value = dict(zip("xyz", centre, strict=True)) | {"id": i, "clump": 7}
        value["r"] = 2 * radius if names["r"].lower().startswith("d") else radius
        row = separator.join(repr(value[name]) for name in order)
        lines.append(row.replace(".", ",") if comma else row)
    return "\n".join(lines) + "\n"


THREE = np.array([[1.0, 0.25, 0.5], [1.6, 0.25, 0.5], [2.2, 0.25, 0.5]]).tolist()
RADII = [0.5, 0.5, 0.3]


def caps(r, s, d):
    """Volume common to two spheres of radii r and s at a distance d."""
    return np.pi * (r + s - d) ** 2 * (d * d + 2 * d * (r + s) - 3 * (r - s) ** 2) / (12 * d)


#: By two lenses; the outer spheres do not touch.
VOLUME = 4 / 3 * np.pi * (2 * 0.5**3 + 0.3**3) - caps(0.5, 0.5, 0.6) - caps(0.5, 0.3, 0.6)


@pytest.mark.thorough
@settings(deadline=None, max_examples=60)
@given(tables())
def test_columns_are_read_by_their_names(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("named") / "spheres.csv"
    path.write_text(text)
    clump = manybody.Clump.from_file(path)
    assert clump.volume == pytest.approx(VOLUME, rel=1e-5)
    assert sorted(clump.radii) == sorted(RADII)


FORMATS = {
    "yade": "#format x_y_z_r_clumpId\n1 .25 .5 .5 7\n9 9 9 1 2\n1.6 .25 .5 .5 7\n2.2 .25 .5 .3 7\n",
    "lammps": "# a title\n\n3 atoms\n\nCoords # x y z\n\n1 1 .25 .5\n3 2.2 .25 .5\n2 1.6 .25 .5\n\nTypes\n\n1 1\n2 1\n3 1\n\n"
    "Diameters\n\n1 1\n2 1\n3 0.6\n",
    "kratos": '//\n//   Cluster Name: "three"\n//\nName\nthree\n\nBegin centers_and_radii\n'
    "1 .25 .5 .5\n1.6 .25 .5 .5\n2.2 .25 .5 .3\n"
    "End centers_and_radii\n\nParticle_center_and_diameter\n1.4 .25 .5 1.7\n\nSize\n1.0\n",
    "ovito": '3\nLattice="9 0 0 0 9 0 0 0 9" Properties=species:S:1:pos:R:3:radius:R:1:id:I:1\n'
    "A 1 .25 .5 .5 1\nA 1.6 .25 .5 .5 2\nB 2.2 .25 .5 .3 3\n",
    "liggghts": "1 .25 .5 .5\n1.6 .25 .5 .5\n2.2 .25 .5 .3\n",
    "excel": "x;y;z;r\n1;0,25;0,5;0,5\n1,6;0,25;0,5;0,5\n2,2;0,25;0,5;0,3\n",
    "pandas": ",x,y,z,r\n0,1,.25,.5,.5\n1,1.6,.25,.5,.5\n2,2.2,.25,.5,.3\n",
    "numpy": "# r x y z\n.5 1 .25 .5\n.5 1.6 .25 .5\n.3 2.2 .25 .5\n",
}


@pytest.mark.parametrize("key", FORMATS)
def test_files_of_other_programs(tmp_path, key):
    path = tmp_path / f"{key}.txt"
    path.write_text(FORMATS[key])
    clump = manybody.Clump.from_file(path, clump=7 if key == "yade" else None)
    assert clump.volume == pytest.approx(VOLUME, rel=1e-5)
    assert clump.centre_of_mass[1:] == (0.25, 0.5)
    if key == "yade":
        assert manybody.Clump.from_file(path, clump=2).volume == pytest.approx(4 / 3 * np.pi)
        with pytest.raises(ValueError, match=r"numbers 2, 7; .*; 3 is none of them"):
            manybody.Clump.from_file(path, clump=3)
    elif key == "excel":
        with pytest.raises(ValueError, match="has no clump numbers"):
            manybody.Clump.from_file(path, clump=7)


# ---- masses of spheres ----


def parallel_axes(centres, radii, masses):
    """Centre of mass and inertia tensor of solid spheres by the parallel-axis theorem, sphere by sphere."""
    centre = sum(m * c for m, c in zip(masses, centres, strict=True)) / sum(masses)
    tensor = np.zeros((3, 3))
    for m, c, r in zip(masses, centres - centre, radii, strict=True):
        tensor += m * ((0.4 * r**2 + c @ c) * np.eye(3) - np.outer(c, c))
    return centre, tensor


@pytest.mark.parametrize("spacing", [3.0, 0.5])
def test_spheres_with_masses_have_the_inertia_of_fix_rigid(spacing):
    """Also where they overlap, which is not corrected then, and where symmetric spheres have unlike masses."""
    rng = np.random.default_rng(3)
    cases = [(rng.uniform(-1, 1, (6, 3)) * spacing, rng.uniform(0.2, 0.6, 6), rng.uniform(1, 9, 6))]
    cases += [
        (ring(6, spacing), np.full(6, 0.3), np.array([5.0, 1, 1, 1, 1, 1])),
        (ring(6, spacing), np.full(6, 0.3), np.ones(6)),
    ]
    for centres, radii, masses in cases:
        clump = manybody.Clump.of_spheres("own", centres, radii, masses=masses)
        centre, tensor = parallel_axes(centres, radii, masses)
        rotation = Rotation.from_quat(clump.rotation, scalar_first=True)
        np.testing.assert_allclose(clump.centre_of_mass, centre, atol=1e-14)
        np.testing.assert_allclose(clump.inertia, np.linalg.eigvalsh(tensor), rtol=1e-13)
        turned_tensor = rotation.as_matrix() @ np.diag(clump.inertia) @ rotation.as_matrix().T
        np.testing.assert_allclose(turned_tensor, tensor, atol=1e-12 * clump.inertia[2])
        np.testing.assert_allclose(centre + rotation.apply(clump.centres.copy()), centres, atol=1e-13)
        assert clump.mass == pytest.approx(masses.sum()) == clump.body(7800.0).mass and clump.body(1.0).inertia == clump.inertia
        assert clump.volume == manybody.Clump.of_spheres("plain", centres, radii).volume
    assert clump.inertia[0] == clump.inertia[1]


HEAD = "two balls\n\n2 atoms\n{}\nCoords\n\n1 0 0 0\n2 1 0 0\n\nTypes\n\n1 1\n2 2\n\nDiameters\n\n1 1\n2 1\n\n"
MASSES = "Masses\n\n2 1.0D0\n1 4\n"


def template(**changes):
    """A JSON molecule of LAMMPS: two balls of diameter 1, the first of mass 4."""
    values = {"application": "LAMMPS", "format": "molecule", "revision": 1}
    values["coords"] = {"format": ["atom-id", "x", "y", "z"], "data": [[2, 1, 0, 0], [1, 0, 0, 0]]}
    values["diameters"] = {"format": ["diameter", "atom-id"], "data": [[1, 1], [1, 2]]}
    values["masses"] = {"format": ["atom-id", "mass"], "data": [[1, 4], [2, 1.0]]}
    return json.dumps({key: value for key, value in (values | changes).items() if value is not None})


@pytest.mark.parametrize(
    "text",
    [
        HEAD.format("") + MASSES,
        HEAD.format("5 mass\n1 bonds\n") + MASSES + "\nBonds\n\n1 1 1 2\n",
        HEAD.format("5 mass\n0.2 0 0 com\n0.5 1.3 1.3 0 0 0 inertia\n"),
        template(units="si"),
        template(masses=None, masstotal=5, com=[0.2, 0, 0], inertia=[0.5, 1.3, 1.3, 0, 0, 0]),
        "2\nProperties=pos:R:3:radius:R:1:mass:R:1:velo:R:3\n0 0 0 .5 4 1 2 3\n1 0 0 .5 1 1 2 3\n",
        "2\nProperties=species:S:1:pos:R:3:Z:I:1:radius:R:1:masses:R:1\nA 0 0 0 6 .5 4\nA 1 0 0 6 .5 1\n",
        "x y z r mass\n0 0 0 .5 4\n1 0 0 .5 1\n",
        "m;x;y;z;d\n4,0;0;0;0;1,0\n1,0;1;0;0;1,0\n",
        "# x y z r m id\n0 0 0 .5 4 1\n1 0 0 .5 1 2\n",
        "x,y,z,r,mass [kg],clumpId\n0,0,0,.5,4,1\n9,9,9,7,99,2\n1,0,0,.5,1,1\n",
    ],
    ids=lambda text: text[:20],
)
def test_masses_are_read_from_every_file_that_has_them(tmp_path, text):
    """By hand: 4 kg at 0 and 1 kg at 1, each with 2/5 m r^2, r = 1/2."""
    path = tmp_path / "two.txt"
    path.write_text(text)
    clump = manybody.Clump.from_file(path, clump=1 if "clumpId" in text else None)
    assert clump.centre_of_mass == pytest.approx((0.2, 0, 0), abs=1e-15)
    assert clump.inertia == pytest.approx((0.5, 1.3, 1.3), rel=1e-14) and clump.mass == 5.0


def test_units_of_length_and_mass_are_those_that_are_passed(tmp_path):
    path = tmp_path / "two.txt"
    path.write_text("x,y,z,r,mass [g]\n0,0,0,.5,4\n1,0,0,.5,1\n")
    clump = manybody.Clump.from_file(path, scale=0.01, mass_scale=1e-3)
    assert clump.inertia == pytest.approx((0.5e-7, 1.3e-7, 1.3e-7), rel=1e-13) and clump.mass == pytest.approx(5e-3)
    path.write_text(template(units="cgs"))
    assert manybody.Clump.from_file(path, scale=0.01, mass_scale=1e-3).inertia == clump.inertia


def test_a_declared_mass_is_spread_over_the_union(tmp_path):
    path = tmp_path / "heavy.mol"
    path.write_text(HEAD.format("10 mass\n"))
    clump, plain = manybody.Clump.from_file(path), manybody.Clump.dimer(0.5, 0.5, 1.0)
    assert clump.mass == 10.0 and clump.inertia == pytest.approx([10 / plain.volume * moment for moment in plain.inertia])


def test_a_mass_of_its_own_goes_before_that_of_the_material():
    own = manybody.Clump.of_spheres("own", [[0, 0, 0], [0.1, 0, 0]], [0.05, 0.05], masses=[0.4, 0.1])
    grains = scene(kinds=((own, 2),), speed=1.0)
    assert simulation.setup_of(grains).masses.tolist() == [0.5, 0.5]
    # A contact lasts 2.87 (m^2/(R E*^2 v))^(1/5).
    reduced = 1e6 / (2 * (1 - 0.2**2))
    with pytest.warns(UserWarning, match="clump 'own' has a mass of its own, 0.5 kg"):
        heavy = scene(kinds=((own, 2),), speed=1.0, material=manybody.Material(1e5, 1e6, 0.2))
        assert heavy.contact_time() == pytest.approx(2.87 * (0.25 / (0.05 * reduced**2)) ** 0.2, rel=1e-3)


NO_MASS = "x,y,z,r,mass\n0,0,0,1,{}\n"
COLUMNS = "1\nProperties=pos:R:3:{}\n0 0 0 1 7\n"


#: What a clump file holds, and what is said of it.
REFUSED = [
    ("0 0 0 1\n0 0 1\n", "line 2: expected four numbers x, y, z, r, got '0 0 1'"),
    ("0 0 0 O.6\n1 0 0 1\n", "line 1: expected four numbers x, y, z, r, got '0 0 0 O.6'"),
    ("0 0 0 1\n0 0 one 1\n", "line 2: expected four numbers x, y, z, r, got '0 0 one 1'"),
    ("0 0 0 1\n0 0 0 -1\n", "line 2: the radius r must be positive, got -1"),
    ("0 0 nan 1\n", "line 1: x, y, z, r must be finite"),
    ("# nothing\n", "holds no sphere"),
    ("x y z r\nx y z r\n", "line 2"),
    ("0 0 0 .5 0 0 1 .5\n", "line 1: expected four numbers x, y, z, r, got '0 0 0 .5 0 0 1 .5'; write one sphere per line"),
    ("# vtk DataFile Version 3.0\nx\nASCII\nDATASET POLYDATA\n", "is a VTK file, which is not read"),
    ("1 3\n0 0 0 1.2 0\n0 0 0 .5 .1\n", "is a .sph file of SphereTree"),
    ("solid x\nfacet normal 0 0 1\n", "is an STL file, which is not read"),
    ("3 balls\n\n3 atoms\n2 atom types\n\nAtoms\n\n1 1 1 0 0 0\n", "is a data file of LAMMPS"),
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
    (b"3\n0 0 0 1\n1 0 0 1\n2 0 0 1\n", "has 2 lines for 3 spheres; a clump file has one frame, whose line 1 is the number"),
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
    (NO_MASS.format(0), "line 2: the mass must be positive, got 0.0"),
    (NO_MASS.format("nan"), "line 2: x, y, z, r, m must be finite"),
    (NO_MASS.replace("mass", "mass [g]").format(1), "column 'mass [g]' is not in kg; pass the unit in kg as mass_scale="),
    (NO_MASS.replace("mass", "rho").format(1),
     "unknown column 'rho'; name the columns x, y, z, and r, radius or diameter, and "),
    ("x,y,z,r,d\n0,0,0,1,5\n", "line 2: the radius 1.0 and the diameter 5.0 contradict each other"),
    (COLUMNS.format("radius:R:1:density:R:1"), "line 2: the column 'density' of 1 is not read"),
    (COLUMNS.format("radius:R:2"), "line 2: the column 'radius' of 2 is not read"),
    (COLUMNS.format("radius:R:1:radius:R:1"), "line 2: two columns are the same, r"),
    (COLUMNS.format("foo:R:999999999:radius:R:1"), "has 1000000003 columns, but line 3 has 5 words"),
    (COLUMNS.format("radius"), "is not a list of name:type:columns"),
    ("9" * 5000 + "\nProperties=pos:R:3:radius:R:1\n0 0 0 1\n", "line 1: '9999"),
    ("t\n" + "9" * 5000 + " atoms\n", "line 2: '9999"),
    (HEAD.format("") + "Masses\n\n1 4\n", "the section Masses has 1 lines for 2 atoms"),
    (HEAD.format("") + MASSES.replace("2 1", "2 -1"), "atom 2: the mass must be positive"),
    (HEAD.format("") + MASSES + MASSES, "line 24: the section Masses stands twice"),
    (HEAD.format("") + "Coords\n\n1 5 5 5\n2 9 5 5\n", "line 20: the section Coords stands twice"),
    (HEAD.format("") + "Densities\n\n1 4\n2 4\n", "line 20: unknown section 'Densities'"),
    (HEAD.format("") + "Mass\n\n4\n", "unknown section 'Mass'; did you mean 'Masses'?"),
    (HEAD.format("1 6 body\n"), "(a body particle) is not read"),
    (HEAD.format("2.5 kg mass\n"), "line 4: is no header line of a molecule file, got '2.5 kg mass'"),
    (HEAD.format("7 mass\n") + MASSES, "declares a mass of 7 kg, its Masses add up to 5"),
    (HEAD.format("0.2 0 0 com\n") + MASSES, "com and inertia belong together"),
    (HEAD.format("0.2 0 0 com\n1 1 1 0 0 0 inertia\n"), "declares com and inertia, but no mass"),
    (HEAD.format("5 mass\n3 0 0 com\n1 1 1 0 0 0 inertia\n"), "com (3.0, 0.0, 0.0) lies outside the spheres"),
    (HEAD.format("5 mass\n0 0 0 com\n500 900 900 0 0 0 inertia\n"), "is more than any mass of 5 kg within the spheres has"),
    (HEAD.format("5 mass\n0 0 0 com\n1 1 3 0 0 0 inertia\n"), "is that of no body"),
    ("t\n2 atoms\n1 atom types\n\nAtoms # sphere\n\n1 1 1 1 0 0 0\n", "is a data file of LAMMPS"),
    (template(units="cgs"), "has the units cgs; pass scale=0.01, got 1"),
    (template(units="electron"), "has the units 'electron'; read are si"),
    (template(revision=2), "of JSON only molecule files of LAMMPS are read"),
    (template(density=2), "the key 'density' is not read"),
    (template(body={}), "body particles are not read"),
    (template(diameters=None), "without the section Diameters"),
    (template(masses={"format": ["atom-id", "weight"], "data": []}),
     "masses: expected a block with the format ['atom-id', 'mass']"),
    (template(com=[1, 2]), "com must be 3 finite numbers, got ['1', '2']"),
    (template().replace("4]", "4, null]"), "masses, row 1: expected atom-id mass"),
    (template()[:-1] + ', "masses": 1}', "the key 'masses' stands twice"),
    (template()[:-2], "line 1: is no JSON"),
    ("[" * 100_000, "is nested too deeply"),
    (2 * "Begin centers_and_radii\n0 0 0 1\nEnd centers_and_radii\n", "line 4: a second block centers_and_radii"),
    ("Begin centers_and_radii\nEnd centers_and_radii\n", "holds no sphere"),
    (20_001 * "0 0 0 1\n", "holds 20001 spheres, more than 20,000"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "words"), REFUSED, ids=lambda value: f"{value!r:.30}")
def test_a_clump_file_that_cannot_be_read_says_where(tmp_path, content, words):
    path = tmp_path / "broken.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=re.escape(words)) as raised:
        manybody.Clump.from_file(path)
    message = str(raised.value)
    assert "broken.txt" in message and "\n" not in message and len(message) < 400


def test_unread_volume_and_inertia_of_kratos_are_named(tmp_path):
    path = tmp_path / "one.clu"
    path.write_text("Begin centers_and_radii\n0 0 0 1.0D0\nEnd centers_and_radii\nVolume\n0.3\n")
    with pytest.warns(UserWarning, match=r"one\.clu: Volume of the file is not read"):
        assert manybody.Clump.from_file(path).volume == pytest.approx(4 / 3 * np.pi)


# ---- the frame of the file ----


@pytest.mark.thorough
@pytest.mark.parametrize("key", [*sorted(SYMMETRIC), "rod"])
@settings(deadline=None, max_examples=6)
@given(st.tuples(angles, angles, angles), st.tuples(angles, angles, angles), st.sampled_from([1.0, 1e6]))
def test_the_frame_of_the_file_is_given_back(key, turn, shift, far):
    centres, radius, _ = (np.outer([0, 0.5, 1.5], [1, 0, 0]), 0.4, 2) if key == "rod" else SYMMETRIC[key]
    given_in_file = Rotation.from_rotvec(turn).apply(centres) + far * np.array(shift)
    clump = manybody.Clump.of_spheres(key, given_in_file, np.full(len(centres), radius))
    rotation = Rotation.from_quat(clump.rotation, scalar_first=True)
    back = np.array(clump.centre_of_mass) + rotation.apply(clump.centres.copy())
    np.testing.assert_allclose(back, given_in_file, rtol=0, atol=1e-14 * (1 + far))
    if far == 1:
        mass = mass_properties.union(given_in_file, np.full(len(centres), radius))
        np.testing.assert_allclose(clump.centre_of_mass, mass.centre, atol=1e-4)
        tensor = rotation.as_matrix() @ np.diag(clump.inertia) @ rotation.as_matrix().T
        np.testing.assert_allclose(tensor, mass.inertia, atol=3e-4 * clump.inertia[2])


# ---- chess ----


@pytest.mark.parametrize("key", shapes.PIECES)
def test_chess_pieces_stay_inside_their_profiles(key):
    rows = shapes.table(shapes.SHAPES / f"{key}.csv")
    x, y, z, r = rows.T
    assert 85 <= len(rows) <= 130
    assert (z + r).max() == pytest.approx(shapes.HEIGHTS[key], abs=0.01)
    assert (z - r).min() == pytest.approx(0, abs=0.01)
    assert r.min() >= shapes.SMALLEST
    if key == "knight":
        return
    curve = shapes.profile(key)
    phi = np.linspace(0, np.pi, 60)
    for k in range(len(rows)):  # the outermost half circle of each sphere
        height = z[k] + r[k] * np.cos(phi)
        width = np.hypot(x[k], y[k]) + r[k] * np.sin(phi)
        assert (width <= curve(np.clip(height, 0, shapes.HEIGHTS[key])) + 0.01).all()
    filled = shapes.piece(key).volume * 1e6
    line = shapes.outline(key)
    assert 0.88 < filled / np.trapezoid(np.pi * line[:, 1] ** 2, line[:, 0]) < 1


@pytest.mark.parametrize("key", ["pawn", pytest.param("knight", marks=pytest.mark.slow)])
def test_the_stored_spheres_are_those_the_profile_gives(key):
    np.testing.assert_allclose(shapes.spheres_of(key), shapes.table(shapes.SHAPES / f"{key}.csv"), atol=2e-4)


def test_the_knight_has_three_moments_and_the_others_nearly_two():
    knight = shapes.piece("knight").inertia
    assert knight[2] / knight[1] > 1.02
    for key in set(shapes.PIECES) - {"knight"}:
        x, y, z = shapes.piece(key).inertia
        assert z / y < 1.005
        assert y / x > 3


# ---- scenes ----


def test_time_scales_of_the_scenes():
    rods, chess = manybody.scenes["rods"], manybody.scenes["chess"]
    assert 0.7 * rods.p_wave_step == pytest.approx(38.3e-6, rel=2e-3)
    assert (len(rods), len(chess)) == (30, 32)
    assert rods.linear and not chess.linear
    # del Valle et al. (2024): 4.85e-6 s is longer than the Rayleigh step; the collision of a whole piece lasts longer still.
    assert 2e-6 < chess.rayleigh_step < 4.85e-6 < 1.93e-5 < chess.contact_time()
    m = chess.material
    assert m.shear == pytest.approx(24e9)
    assert chess.rayleigh_step == pytest.approx(np.pi * 0.0025 * np.sqrt(3200 / 24e9) / (0.1631 * 0.25 + 0.8766), rel=1e-3)
    assert chess.contact_time(2.0) == pytest.approx(chess.contact_time(1.0) / 2**0.2)
    with pytest.raises(ValueError, match="positive speed"):
        chess.contact_time(0.0)


@pytest.mark.parametrize("key", ["rods", "chess"])
def test_initial_states(key):
    scene = manybody.scenes[key]
    state, again, other = (scene.initial_state(seed) for seed in (3, 3, 4))
    for name in ("r", "v", "q", "omega"):
        np.testing.assert_array_equal(getattr(state, name), getattr(again, name))
        assert not np.array_equal(getattr(state, name), getattr(other, name))
    np.testing.assert_allclose(np.linalg.norm(state.v, axis=1), scene.speed)
    np.testing.assert_allclose(np.linalg.norm(state.omega, axis=1), scene.spin)
    np.testing.assert_allclose(np.linalg.norm(state.q, axis=1), 1)
    still = scene.with_spin(0.0).initial_state(3)
    np.testing.assert_array_equal(still.r, state.r)
    np.testing.assert_array_equal(still.v, state.v)
    assert not still.omega.any()
    # Nothing touches: checked here sphere by sphere.
    placed = []
    for c, clump in enumerate(scene.every_clump):
        spheres = state.r[c] + clump.centres @ np.array(matrix(tuple(state.q[c]))).reshape(3, 3).T
        assert (np.abs(spheres) + clump.radii[:, None] < scene.box / 2).all()
        for others, radii in placed:
            assert (np.linalg.norm(spheres[:, None] - others, axis=2) > clump.radii[:, None] + radii).all()
        placed.append((spheres, clump.radii))


@pytest.mark.parametrize(("dimensions", "fourth"), [(3, 1 / 5), (4, 1 / 8)])
def test_directions_are_isotropic(dimensions, fourth):
    """Also in the fourth moment of a component, 3/(n (n + 2)), which tells the sphere from a cube."""
    v = directions(np.random.default_rng(0), 20_000, dimensions)
    np.testing.assert_allclose(v.mean(0), 0, atol=0.02)
    np.testing.assert_allclose((v[:, :, None] * v[:, None, :]).mean(0), np.eye(dimensions) / dimensions, atol=0.01)
    np.testing.assert_allclose((v**4).mean(0), fourth, atol=0.004)


def scene(**changes):
    values = {"box": 1.0, "speed": 1.0, "spin": 1.0, "horizon": 1.0, "kinds": ((manybody.Clump.sphere(0.1), 60),)}
    values |= {"material": manybody.Material(1000.0, 1e6, 0.2)}
    return manybody.Scene(key="full", label="full", **values | changes)


@pytest.mark.thorough
def test_a_box_too_full_says_how_full():
    with pytest.raises(manybody.BoxTooFull, match=r"clump \d+ of 220 .* is filled to \d+\.\d % of its volume.*92.2 %"):
        scene(kinds=((manybody.Clump.sphere(0.1), 220),)).initial_state(0)
    with pytest.raises(manybody.BoxTooFull, match=r"filled to 0\.0 %"):
        scene(kinds=((manybody.Clump.sphere(0.6), 1),)).initial_state(0)


def test_too_many_clumps_are_refused_before_they_are_listed():
    with pytest.raises(
        manybody.BoxTooFull, match=r"all 1000000000 clumps would take 4\.189e\+08 % of the volume of the box of 1 m"
    ):
        scene(kinds=((manybody.Clump.sphere(0.1), 10**9),)).initial_state(0)
    for small in (scene(kinds=((manybody.Clump.sphere(1e-6), 10**9),)), scene().scaled(10**9)):
        with pytest.raises(ValueError, match="at most 10,000,000 can be simulated"):
            small.initial_state(0)
    with pytest.raises(ValueError, match="at most 2147483648, got a whole number of 1329 bits"):
        scene(kinds=((manybody.Clump.sphere(1e-6), 10**400),)).initial_state(0)
    # The mass of a loaded sphere is that of a volume ten times its own.
    loaded = manybody.Clump.loaded_sphere(0.1, 0.05, 0.05, ratio=80.0)
    assert loaded.volume > 8 * loaded.solid_volume and loaded.solid_volume == pytest.approx(4 / 3 * np.pi * 1e-3)
    assert len(scene(kinds=((loaded, 40),)).initial_state(0).r) == 40


def test_scaled_scenes_keep_density_and_mixture():
    chess = manybody.scenes["chess"]
    big = chess.scaled(320)
    assert len(big) == 320
    assert big.solid_fraction == pytest.approx(chess.solid_fraction)
    assert [count for _, count in big.clumps] == [10 * count for _, count in chess.clumps]
