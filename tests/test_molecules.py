"""Molecules: principal frames, moments, massless sites, linear ones, units, and files of other programs."""

import json
import re
import warnings
from dataclasses import replace
from math import cos, prod, radians, sin, sqrt

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.constants import physical_constants
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode
from polhode import manybody
from polhode.algebra.quaternion import multiply, to_body, to_lab
from polhode.compiling.plain import in_plain_python
from polhode.manybody import Molecule
from polhode.manybody.molecules.spce import HALF
from polhode.manybody.units import LJ, REAL
from polhode.methods.plain_driver import plain_driver
from polhode.methods.protocol import OneTorque

WATER = manybody.molecules["spce"]


def as_given(molecule):
    """The sites in the frame in which they were given."""
    return np.array([to_lab(molecule.rotation, tuple(site)) for site in molecule.sites]) + molecule.centre_of_mass


def moments_of(molecule, about=(0.0, 0.0, 0.0)):
    """The inertia tensor by a plain sum over the sites."""
    away = molecule.sites - about
    return sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(molecule.masses, away, strict=True))


def test_water_has_the_moments_and_the_frame_of_its_geometry():
    # x from one hydrogen to the other, y along the bisector towards them, z normal to the plane
    with mpmath.workdps(30):
        half, oxygen, hydrogen = mpmath.radians(mpmath.mpf("109.47")) / 2, mpmath.mpf("15.9994"), mpmath.mpf("1.008")
        mass = oxygen + 2 * hydrogen
        across, along = 2 * hydrogen * mpmath.sin(half) ** 2, 2 * hydrogen * oxygen / mass * mpmath.cos(half) ** 2
        low = -2 * hydrogen / mass * mpmath.cos(half)
        assert pytest.approx((float(along), float(across), float(across + along)), rel=1e-15) == WATER.inertia
        assert pytest.approx([0.0, float(low), 0.0], abs=1e-16) == WATER.sites[0]
        assert pytest.approx([float(mpmath.sin(half)), float(mpmath.cos(half) + low), 0.0], abs=2e-16) == WATER.sites[1]
    assert WATER.rotation == (1.0, 0.0, 0.0, 0.0)
    assert WATER.inertia[2] == pytest.approx(WATER.inertia[0] + WATER.inertia[1], rel=1e-15)  # planar
    assert WATER.mass == pytest.approx(18.0154, rel=1e-15)
    assert WATER.degrees_of_freedom == 6 and not WATER.linear
    assert WATER.reach == np.linalg.norm(WATER.sites[1])
    assert WATER.body().inertia == WATER.inertia


def test_a_massless_site_moves_no_centre_and_no_moment():
    water = manybody.molecules["tip4p2005"]
    without = Molecule.of_sites("bare", as_given(water)[:3], water.masses[:3])
    assert without.inertia == water.inertia and without.centre_of_mass == water.centre_of_mass
    assert np.array_equal(without.sites, water.sites[:3])
    assert np.linalg.norm(water.sites[3] - water.sites[0]) == pytest.approx(0.1546, rel=1e-14)
    assert water.charges.sum() == 0
    assert without.reach == 0  # nothing acts on it


@pytest.mark.parametrize("key", list(manybody.molecules))
def test_every_molecule_is_in_its_principal_frame(key):
    molecule = manybody.molecules[key]
    assert moments_of(molecule) == pytest.approx(np.diag(molecule.inertia), abs=1e-14 * molecule.inertia[2])
    assert (molecule.masses[:, None] * molecule.sites).sum(0) == pytest.approx(0, abs=1e-14 * molecule.mass)
    assert abs(molecule.charges.sum()) < 1e-15
    assert molecule.source and molecule.label
    assert molecule.body().mass == molecule.mass


@pytest.mark.parametrize("key, length, mass", [("nitrogen", 1.10, 14.0067), ("carbon_dioxide", 2.32, 15.9994)])
def test_linear_molecules_lie_on_x_without_gyroscopic_term(key, length, mass):
    molecule = manybody.molecules[key]
    assert molecule.linear and molecule.degrees_of_freedom == 5
    assert not molecule.sites[:, 1:].any()
    moment = mass * length**2 / 2
    assert pytest.approx((0.0, moment, moment), rel=1e-15) == molecule.inertia
    body = molecule.body()
    assert len(set(body.inertia)) == 1 and body.coefficients()[6:] == (0.0, 0.0, 0.0)


def pull(t, q, omega, parameters):
    """The torque of a force along the lab's z on a point at (1, 0, 0)."""
    return (
        0.0,
        -parameters[0] * (1 - 2 * (q[1] * q[1] + q[2] * q[2])),
        parameters[0] * 2 * (q[2] * q[3] + q[0] * q[1]),
    )


#: Methods that let a spin about the axis of a linear molecule creep in, as its docstring says.
SPINNING = ("buss2000", "calzavarini2010", "dlm1997", "fincham1992", "munjiza2003", "no_squish", "pfc4_delvalle2024")


def test_every_method_moves_a_linear_molecule_as_a_line():
    # The motion of the axis n alone: I n'' = F - (F.n) n - I n'^2 n.
    body, start, omega, force = manybody.molecules["nitrogen"].body(), (6 / 9, -2 / 9, 5 / 9, 4 / 9), (0.0, 1.1, -0.6), 30.0
    axis, velocity = np.array(to_lab(start, (1.0, 0.0, 0.0))), np.array(to_lab(start, (0.0, omega[2], -omega[1])))

    def line(t, state):
        n, v = state[:3], state[3:]
        return np.concatenate([v, force / body.inertia[1] * (np.array([0.0, 0.0, 1.0]) - n[2] * n) - v @ v * n])

    exact = solve_ivp(line, (0.0, 2.0), np.concatenate([axis, velocity]), rtol=1e-10, atol=1e-10).y[:3, -1]
    spinning = set()
    for key, method in polhode.methods.items():
        if not isinstance(method, OneTorque):
            continue
        driver = plain_driver(method, in_plain_python, pull, body.coefficients(), 0.02, (force,))
        state = driver.start(start, omega)
        for n in range(100):
            state = driver.step(state, n)
        q, (spin, _, _) = driver.read(state, 100)
        assert np.linalg.norm(to_lab(tuple(np.array(q) / np.linalg.norm(q)), (1.0, 0.0, 0.0)) - exact) < 0.2, key
        if abs(spin) > 1e-13:
            spinning.add(key)
    assert spinning == {key for key in polhode.methods if key.startswith(SPINNING)}


def test_rounded_linear_molecules_are_put_on_their_line():
    direction = np.array([1.0, -2.0, 4.0]) / sqrt(21)
    places = np.array([3.0004, 1.0001, -2.0002]) + np.outer([0.0, 1.16, -1.16], direction)
    places = np.round(places, 3)  # as in a file
    assert np.abs(places[1] + places[2] - 2 * places[0]).max() > 5e-4  # not on a line
    molecule = Molecule.of_sites("co2", places, [12.011, 15.999, 15.999])
    assert molecule.linear and not molecule.sites[:, 1:].any()
    assert as_given(molecule) == pytest.approx(places, abs=2e-3)


def test_an_atom_has_three_degrees_of_freedom():
    argon = Molecule.of_sites("argon", [[1.0, 2.0, 3.0]], [39.95], epsilon=[0.238], sigma=[3.4])
    assert argon.degrees_of_freedom == 3 and not argon.linear
    assert argon.inertia == (0.0, 0.0, 0.0) and argon.centre_of_mass == (1.0, 2.0, 3.0)
    assert argon.body().inertia == (39.95,) * 3


def test_equal_moments_are_equal_and_leave_the_axes():
    benzene = manybody.molecules["benzene"]
    assert benzene.inertia[0] == benzene.inertia[1]
    assert benzene.rotation == (1.0, 0.0, 0.0, 0.0)
    corners = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
    methane = Molecule.of_sites("methane", np.vstack([[0, 0, 0], corners]) + 0.3, [12.011, *[1.008] * 4])
    assert len(set(methane.inertia)) == 1 and methane.rotation == (1.0, 0.0, 0.0, 0.0)
    # A tilted hexagon: the moments agree to round-off only.
    turned = as_given(benzene) @ Rotation.from_rotvec([0.3, -0.5, 0.2]).as_matrix().T
    tilted = Molecule.of_sites("tilted", turned, benzene.masses)
    assert tilted.inertia[0] == tilted.inertia[1] == pytest.approx(benzene.inertia[0], rel=1e-14)
    # A prolate one: the axis of the small moment is x.
    fluoromethane = np.vstack([[0, 0, 1.38], [0, 0, 0], *[[cos(a), sin(a), -0.4] for a in radians(120) * np.arange(3)]])
    prolate = Molecule.of_sites("prolate", fluoromethane, [18.998, 12.011, *[1.008] * 3])
    assert prolate.inertia[0] < prolate.inertia[1] == prolate.inertia[2]
    assert np.abs(prolate.sites[:2, 1:]).max() < 1e-15


coordinate = st.floats(-5.0, 5.0).map(lambda x: round(x, 6))
site = st.tuples(st.tuples(coordinate, coordinate, coordinate), st.sampled_from([0.0, 1.008, 12.011, 15.9994]))


@given(st.lists(site, min_size=4, max_size=8, unique_by=lambda s: s[0]))
@settings(max_examples=60, deadline=None)
def test_a_molecule_stands_in_its_file_as_its_rotation_says(sites):
    places, masses = (np.array(values) for values in zip(*sites, strict=True))
    heavy = places[masses > 0]
    if len(heavy) < 3 or np.linalg.svd(heavy - heavy.mean(0))[1][1] < 0.1:  # a line
        return
    molecule = Molecule.of_sites("any", places, masses)
    assert as_given(molecule) == pytest.approx(places, abs=1e-12)
    x, y, z = molecule.inertia
    assert 0 < x <= y <= z <= (x + y) * (1 + 1e-12)
    centred = places - np.average(places, axis=0, weights=masses)
    tensor = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, centred, strict=True))
    assert [x, y, z] == pytest.approx(np.linalg.eigvalsh(tensor), rel=1e-11)
    # The signs: x and y point along their largest components in the frame given.
    axes = np.array([to_lab(molecule.rotation, tuple(axis)) for axis in np.eye(3)])
    if min(y - x, z - y) > 1e-3 * z:
        for axis in axes[:2]:
            assert axis[np.abs(axis).argmax()] > 0


def test_a_file_s_frame_becomes_the_body_s_orientation():
    turn = Rotation.from_rotvec([0.4, 1.1, -0.7])
    tilted = Molecule.of_sites("tilted", turn.apply(as_given(WATER)), WATER.masses)
    q = tuple(np.array([1.0, 2.0, -3.0, 4.0]) / sqrt(30))
    body_q = multiply(q, tilted.rotation)
    for site, place in zip(tilted.sites, turn.apply(as_given(WATER)), strict=True):
        wanted = to_lab(q, tuple(place - tilted.centre_of_mass))
        assert to_lab(body_q, tuple(site)) == pytest.approx(wanted, abs=1e-14)
    v = (0.3, -0.2, 0.9)
    assert to_lab(tilted.rotation, to_body(tilted.rotation, v)) == pytest.approx(v, abs=1e-15)


def test_molecules_outside_their_principal_frame_are_refused():
    with pytest.raises(ValueError, match="the centre of mass of its sites must be the origin"):
        replace(WATER, sites=WATER.sites + 0.1)
    with pytest.raises(ValueError, match="inertia must be the principal moments of its sites"):
        replace(WATER, sites=WATER.sites[:, [1, 0, 2]])
    with pytest.raises(ValueError, match="read-only"):
        WATER.sites[0, 0] = 1.0


# ---- units ----


def test_the_units_agree_with_the_constants_of_physics():
    avogadro, kilocalorie = physical_constants["Avogadro constant"][0], 4184.0
    assert REAL.energy == pytest.approx(1e-3 * 1e10 / kilocalorie, rel=2e-9)  # g/mol (Angstrom/fs)^2 in kcal/mol
    assert REAL.boltzmann == pytest.approx(physical_constants["molar gas constant"][0] / kilocalorie, rel=4e-6)
    e, permittivity = physical_constants["elementary charge"][0], physical_constants["vacuum electric permittivity"][0]
    assert REAL.coulomb == pytest.approx(e**2 / (4 * np.pi * permittivity) * 1e10 * avogadro / kilocalorie, rel=1e-5)
    assert (LJ.energy, LJ.boltzmann, LJ.coulomb) == (1.0, 1.0, 1.0)


# ---- against the dimers of shared trials ----


def smoothed(r, power, start, end):
    """r^-power with energy, force and its slope continuous at the cut-off, and minus its derivative (GROMACS' shift)."""
    if r >= end:
        return 0.0, 0.0
    x, width = max(r - start, 0.0), end - start
    e, de, dde = end**-power, -power * end ** (-power - 1), power * (power + 1) * end ** (-power - 2)
    a, b = (width * dde - 3 * de) / width**2, (2 * de - width * dde) / width**3
    constant = -e + width * de / 2 - width**2 * dde / 12
    return r**-power + a * x**3 / 3 + b * x**4 / 4 + constant, power * r ** (-power - 1) - a * x**2 - b * x**3


@pytest.mark.parametrize("key, place, start, end, energy, force, torque", [
    ("spce", (2.6, 1.1, -0.7), 4.5, 6.2, 11.4092023222436252, (22.7682903349173029, 4.28067631857516823, -15.5431947300274109),
     (3.62061950246256079, -9.93865631288495083, 4.94374416450598088)),
    ("trimer", (1.1, 0.5, 0.9), 1.8, 2.5, 37.3838422837504962, (616.607372330368147, 194.816406525281701, 233.91004252326778),
     None),
])  # fmt: skip
def test_two_molecules_agree_with_another_code(key, place, start, end, energy, force, torque):
    molecule, q = manybody.molecules[key], tuple(np.array([1.0, 2.0, -3.0, 4.0]) / sqrt(30))
    coulomb = {"real": REAL, "lj": LJ}[molecule.units].coulomb
    arms = np.array([to_lab(q, tuple(site)) for site in molecule.sites])
    total, forces = 0.0, np.zeros((len(arms), 3))
    for i, first in enumerate(molecule.sites):
        for j, arm in enumerate(arms):
            r = arm + place - first
            distance = np.linalg.norm(r)
            epsilon, sigma = sqrt(prod(molecule.epsilon[[i, j]])), molecule.sigma[[i, j]].mean()
            terms = (
                (4 * epsilon * sigma**12, 12, start),
                (-4 * epsilon * sigma**6, 6, start),
                (coulomb * prod(molecule.charges[[i, j]]), 1, 0.0),
            )
            for factor, power, begin in terms:
                value, slope = smoothed(distance, power, begin, end)
                total += factor * value
                forces[j] += factor * slope / distance * r
    assert total == pytest.approx(energy, rel=1e-14)
    assert forces.sum(0) == pytest.approx(force, rel=1e-13)
    if torque is not None:
        assert np.cross(arms, forces).sum(0) == pytest.approx(torque, rel=1e-13)


# ---- files ----

PLACES = [[0.0, 0.0, 0.0], [sin(HALF), cos(HALF), 0.0], [-sin(HALF), cos(HALF), 0.0]]
XYZ = "\n".join(f"{name} {x!r} {y!r} {z!r}" for name, (x, y, z) in zip("OHH", PLACES, strict=True))
LENNARD_JONES = {"O": (0.1553, 3.166)}


def lammps(molecule, types=None):
    """A molecule file of LAMMPS."""
    types = types or molecule.names
    sections = {
        "Coords": [" ".join(map(repr, map(float, place))) for place in as_given(molecule)],
        "Types": types,
        "Charges": [repr(float(charge)) for charge in molecule.charges],
        "Masses": [repr(float(mass)) for mass in molecule.masses],
    }
    lines = ["# a title", "", f"{len(types)} atoms", "2 bonds"]
    for name, values in sections.items():
        lines += ["", f"{name}  # a remark", "", *(f"{k} {value}" for k, value in enumerate(values, 1))]
    return "\n".join([*lines, "", "Bonds", "", "1 1 1 2", "2 1 1 3", ""])


def with_columns(*columns):
    """The XYZ lines with further columns."""
    return "\n".join(" ".join([line, *map(str, more)]) for line, more in zip(XYZ.splitlines(), columns, strict=True))


EXTENDED = "3\nProperties=species:S:1:pos:R:3:move_mask:L:1:initial_charges:R:1:masses:R:1 pbc=F\n"
FILES = {
    "water.xyz": "3\nwater: name x y z charge mass\n"
    + with_columns((-0.8476, 15.9994), (0.4238, 1.008), (0.4238, 1.008))
    + "\n",
    "all.xyz": "3\nname x y z q mass epsilon sigma\n"
    + with_columns((-0.8476, 15.9994, 0.1553, 3.166), (0.4238, 1.008, 0, 0), (0.4238, 1.008, 0, 0)),
    "ase.xyz": EXTENDED + with_columns(("T", -0.8476, 15.9994), ("T", 0.4238, 1.008), ("F", 0.4238, 1.008)),
    "lammps.txt": lammps(WATER),
    "numbered.txt": lammps(WATER, ["1", "2", "2"]),
}


@pytest.mark.parametrize("name", FILES)
def test_water_is_the_same_from_every_file(tmp_path, name):
    path = tmp_path / name
    path.write_text(FILES[name])
    tables = {"all.xyz": None, "numbered.txt": {1: LENNARD_JONES["O"]}}
    water = Molecule.from_file(path, label="water", lennard_jones=tables.get(name, LENNARD_JONES))
    assert (water.key, water.label) == (path.stem, "water")
    assert water.inertia == pytest.approx(WATER.inertia, rel=1e-15)
    assert water.sites == pytest.approx(WATER.sites, abs=1e-16)
    for array in ("masses", "charges", "epsilon", "sigma"):
        assert np.array_equal(getattr(water, array), getattr(WATER, array)), array
    assert water.names == (("1", "2", "2") if name == "numbered.txt" else WATER.names)


def test_masses_are_the_argument_s_the_file_s_or_the_element_s(tmp_path):
    path = tmp_path / "m.xyz"
    path.write_text(f"3\n\n{XYZ}\n".replace("O 0", "O1 0"))
    assert Molecule.from_file(path, lennard_jones={}).masses.tolist() == [15.999, 1.008, 1.008]
    heavy = Molecule.from_file(path, lennard_jones={}, masses={"H": 2.014})
    assert heavy.masses.tolist() == [15.999, 2.014, 2.014]
    path.write_text(FILES["water.xyz"])
    assert Molecule.from_file(path, lennard_jones={}, masses={"H": 2.014}).masses.tolist() == [15.9994, 2.014, 2.014]
    path.write_text(lammps(WATER).split("Masses")[0])
    assert Molecule.from_file(path, lennard_jones={}).masses.tolist() == [15.999, 1.008, 1.008]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"lennard_jones": {1: (0.1, 3.0)}}, "lennard_jones"),
        ({"lennard_jones": {}, "masses": {1: 16.0}}, "masses"),
        ({}, "lennard_jones"),
    ],
)
def test_types_are_needed_by_what_goes_by_type(tmp_path, given, named):
    path = tmp_path / "a"
    path.write_text(re.sub("(?s)Types.*?Charges", "Charges", lammps(WATER)))
    assert Molecule.from_file(path, lennard_jones={}).masses.sum() == pytest.approx(WATER.mass)
    with pytest.raises(ValueError, match=f"has no section Types, by which {named}= names the sites"):
        Molecule.from_file(path, **given)


def template(**changes):
    """The JSON molecule of LAMMPS that ``lammps`` writes as a text: SPC/E water."""
    columns = {
        "coords": ("x y z", as_given(WATER).tolist()),
        "types": ("type", [[name] for name in WATER.names]),
        "charges": ("charge", WATER.charges[:, None].tolist()),
        "masses": ("mass", WATER.masses[:, None].tolist()),
    }
    values = {"application": "LAMMPS", "format": "molecule", "revision": 1, "title": "water", "units": "real"}
    for key, (names, rows) in columns.items():
        values[key] = {"format": ["atom-id", *names.split()], "data": [[i, *row] for i, row in enumerate(rows, 1)]}
    values |= {"bonds": {"format": ["bond-type", "atom1", "atom2"], "data": [["OH", 1, 2], ["OH", 1, 3]]}}
    return json.dumps({key: value for key, value in (values | changes).items() if value is not None})


NUMBERED = {"format": ["atom-id", "type"], "data": [[1, 1], [2, 2], [3, 2]]}


@pytest.mark.parametrize("changes", [{}, {"types": NUMBERED, "units": "metal"}, {"masstotal": 18.0154}], ids=str)
def test_water_is_the_same_from_json(tmp_path, changes):
    path = tmp_path / "water.json"
    path.write_text(template(**changes))
    water = Molecule.from_file(path, lennard_jones={1 if "types" in changes else "O": LENNARD_JONES["O"]})
    assert water.inertia == pytest.approx(WATER.inertia, rel=1e-15)
    for array in ("sites", "masses", "charges", "epsilon", "sigma"):
        assert np.array_equal(getattr(water, array), getattr(WATER, array)), array
    # By hand, of the rounded geometry of the manual: 0.59682, 1.34398, 1.94080.
    rounded = {
        "format": ["x", "y", "z", "atom-id"],
        "data": [[0, 0, 0, 1], [0.81649, 0.57736, 0, 2], [-0.81649, 0.57736, 0, 3]],
    }
    path.write_text(template(coords=rounded))
    assert Molecule.from_file(path, lennard_jones={}).inertia == pytest.approx((0.59682, 1.34398, 1.94080), abs=5e-6)


QUESTION = "without a name after x y z"
THREE = with_columns(*3 * [[0.1, -0.2, 0.3]])


def test_columns_without_names_are_asked_for_and_not_guessed(tmp_path):
    path = tmp_path / "water.xyz"
    for further in ((-0.8476,), (0.1, 0.2), (0.1, -0.2, 0.3), (0.1, 0.2, 0.3, 0.4), range(9)):
        path.write_text(f"3\nwater\n{with_columns(*3 * [further])}\n")
        hyphens = " ".join("-" * len(further))
        with pytest.raises(
            ValueError, match=rf"line 3: has {len(further)} columns? {QUESTION}.*columns='name x y z {hyphens}'"
        ):
            Molecule.from_file(path, lennard_jones={})
    path.write_text(f"3\nwater\n{THREE}\n")
    assert not Molecule.from_file(path, lennard_jones={}, columns="name x y z - - -").charges.any()
    path.write_text(f"3\nProperties=species:S:1:pos:R:3:forces:R:3\n{THREE}\n")
    assert not Molecule.from_file(path, lennard_jones={}).charges.any()
    charges = [[charge] for charge in WATER.charges]
    for comment, columns in (
        ("water", "name x y z charge"),
        ("water", ["name", "x", "y", "z", "q"]),
        ("SPC/E water: name, x, y, z, charge", None),
        ("Properties=species:S:1:pos:R:3:charge:R:1", None),
    ):
        path.write_text(f"3\n{comment}\n{with_columns(*charges)}\n")
        water = Molecule.from_file(path, lennard_jones=LENNARD_JONES, columns=columns)
        assert np.array_equal(water.charges, WATER.charges) and water.sigma.tolist() == [3.166, 0, 0]


def test_a_total_charge_that_is_no_whole_number_is_named(tmp_path):
    path = tmp_path / "water.xyz"
    for charges, warned in (
        ((0.0121, 0.0045, 0.0023), "add up to 0.0189"),
        ((-0.8476, 0.4238, 0.4238), ""),
        ((0.3, 0.3, 0.4), ""),
    ):
        path.write_text("3\nname x y z charge\n" + with_columns(*([charge] for charge in charges)))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            Molecule.from_file(path, lennard_jones={})
        assert [warned in str(warning.message) for warning in caught] == [True] * bool(warned)


def test_qm9_files_have_mulliken_charges_and_exponents(tmp_path):
    rows = with_columns(["-8.476*^-1"], ["0.4238"], ["4.238D-1"]).replace(" ", "\t")
    path = tmp_path / "dsgdb9nsd_000003.xyz"
    path.write_text(
        f"3\ngdb 3\t799.58812\t437.90386\n{rows}\n1671.4222\t3803.6305\t3907.698\nO\tO\nInChI=1S/H2O/h1H2\tInChI=1S/H2O\n"
    )
    water = Molecule.from_file(path, lennard_jones=LENNARD_JONES, masses={"O": 15.9994})
    assert np.array_equal(water.charges, WATER.charges) and water.inertia == pytest.approx(WATER.inertia, rel=1e-15)
    path.write_text(path.read_text().replace("gdb 3", "water"))
    with pytest.raises(ValueError, match="has 6 lines for 3 sites"):
        Molecule.from_file(path, lennard_jones={})


#: What the file of a molecule holds, what is said of it, and the names of its columns where some are passed.
REFUSED = [
    ("x y z\n", "is no file of a molecule"),
    (f"4\n\n{XYZ}\n", "has 3 lines for 4 sites; a molecule file has one frame"),
    (f"3\n\n{XYZ}\n".replace("O 0", "O zero"), "line 3: expected name x y z, got 'O zero"),
    (f"3\n\n{XYZ}\n".replace("O 0", "O zero"), "; x is 'zero.0'"),
    (f"three\n\n{XYZ}\n", "line 1: begins with 'three', so it is no file of a molecule"),
    (f"-3\n\n{XYZ}\n", "line 1: begins with '-3', so it is no file of a molecule"),
    ("", "line 1: is empty, so it is no file of a molecule"),
    ("ATOM      1  O   HOH A   1       0.000   0.000   0.000\n", "is a PDB file, which is not read"),
    ("Water\n    3\n    1SOL     OW    1   0.000   0.000   0.000\n", "is a GRO file, which is not read"),
    ("LAMMPS\n\n3 atoms\n2 atom types\n\nAtoms\n\n1 1 1 0 0 0 0\n", "is a data file of LAMMPS (read_data)"),
    (f"3\nname x y z q\n{XYZ} nan\n".replace("0.0\n", "0.0 0.1\n"), "line 5: numbers must be finite"),
    (f"3\nProperties=pos:R:3\n{XYZ}\n", "line 2: the columns have no name of the site (species:S:1)"),
    (f"3\nProperties=species:S:1\n{XYZ}\n", "line 2: 'Properties=species:S:1' has no pos:R:3"),
    (f"3\nProperties=species:S:1:pos:R:3:q:R:1:charge:R:1\n{XYZ}\n", "line 2: two columns are the same"),
    (f"3\n\n{XYZ}\n".replace("O", "Q"), "line 3: has no mass, and 'Q' is no element of the table; pass masses={'Q'"),
    (lammps(WATER).replace("Coords", "Places"), "line 6: unknown section 'Places'"),
    (re.sub("(?s)Coords.*Types", "Types", lammps(WATER)), "a LAMMPS molecule without the section Coords"),
    (lammps(WATER).replace("3 H", "2 H"), "section Types: the atoms are numbered from 1 to 3, each once, got 2"),
    (lammps(WATER).replace("3 H\n", ""), "the section Types has 2 lines for 3 atoms"),
    (lammps(WATER).replace("1 -0.8476", "1 much"), "section Charges: expected number of the atom charge, got '1 much'"),
    (lammps(WATER).replace("3 1.008", "3 -1"), "masses must not be negative, got -1.0"),
    (f"3\nProperties=species:S:1:pos:R:3:mulliken_charges:R:1\n{THREE}\n", "the column 'mulliken_charges' of 1 is"),
    (f"3\nProperties=species:S:1:pos:R:3:foo:R:99999999\n{XYZ}\n", "has 100000003 columns, but line 3 has 4 words"),
    ("9" * 5000 + f"\n\n{XYZ}\n", "line 1: '9999"),
    (f"3\n\n{XYZ.replace(' ', ',')}\n", "line 3: expected name x y z between blanks, got 'O,", "name x y z"),
    (f"3\n\n{THREE}\n", "columns must name the 7 columns", "name x y z"),
    (f"3\n\n{THREE}\n", "columns has 'f', which is not read; write - for it", "name x y z - - f"),
    (f"3\n\n{THREE}\n", "columns must be a string, got 3", 3),
    (f"3\nProperties=species:S:1:pos:R:3\n{XYZ}\n", "names the columns itself", "name x y z"),
    (lammps(WATER), "take columns= away", "name x y z"),
    (lammps(WATER) + "\nDiameters\n\n1 1\n2 1\n3 1\n", "Clump.from_file reads them"),
    (lammps(WATER) + "\nDipoles\n\n1 1 0 0\n2 1 0 0\n3 1 0 0\n", "the section Dipoles is not read"),
    (lammps(WATER) + "\nMasses\n\n1 1\n2 1\n3 1\n", "the section Masses stands twice"),
    (lammps(WATER).replace("2 bonds", "20 mass"), "declares mass 20, its sites have 18.0154"),
    (lammps(WATER).replace("2 bonds", "1 0 0 com"), "declares com 1 0 0, its sites have"),
    (lammps(WATER).replace("2 bonds", "9 9 9 0 0 0 inertia"), "declares inertia 9 9 9 0 0 0, its sites have"),
    (template(units="si"), "has the units 'si', which are not units='real'"),
    (template(molecules={"format": ["atom-id", "molecule-id"], "data": [[1, 1], [2, 1], [3, 2]]}), "several molecules"),
    (template(application="mine"), "of JSON only molecule files of LAMMPS are read"),
    (template(coords=None), "a LAMMPS molecule without coords"),
    ('{"a":' * 50_000, "is nested too deeply"),
]  # fmt: skip


@pytest.mark.parametrize("text, words, columns", [(*row, None)[:3] for row in REFUSED], ids=lambda value: f"{value!r:.30}")
def test_a_molecule_file_that_cannot_be_read_says_where(tmp_path, text, words, columns):
    path = tmp_path / "broken"
    path.write_text(text)
    with pytest.raises((TypeError, ValueError), match=re.escape(words)) as raised:
        Molecule.from_file(path, lennard_jones={}, columns=columns)
    assert "\n" not in str(raised.value) and (columns is not None or str(path) in str(raised.value))


def test_missing_or_unused_lennard_jones_parameters_are_said(tmp_path):
    path = tmp_path / "water.txt"
    path.write_text(lammps(WATER))
    with pytest.raises(ValueError, match=r"no Lennard-Jones parameters; pass lennard_jones=\{'O': \(epsilon, sigma\)\}"):
        Molecule.from_file(path)
    with pytest.raises(ValueError, match="lennard_jones has 'OW', but no site is called so; did you mean 'O'"):
        Molecule.from_file(path, lennard_jones={"OW": (0.1, 3.0)})
    with pytest.raises(ValueError, match=r"lennard_jones\['O'\] must be 2 finite numbers"):
        Molecule.from_file(path, lennard_jones={"O": (0.1,)})
    with pytest.raises(TypeError, match="masses must be a mapping from the names of sites"):
        Molecule.from_file(path, lennard_jones={}, masses=[1.0])
    with pytest.raises(FileNotFoundError, match=r"molecule path .* does not exist"):
        Molecule.from_file(tmp_path / "none.xyz")
