"""Runs as files for OVITO and ParaView, read back."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from polhode import cli, manybody
from polhode.interface.arrays import Arrays
from polhode.manybody import Clump, Drum, Material, Scene, clump_files
from polhode.manybody.motion_files import write_motion
from polhode.manybody.placement import motion_variables

DUMBBELL = Clump.dimer(0.012, 0.008, distance=0.016, key="dumb bell")
SCENE = Scene(
    key="mine",
    label="mine",
    kinds=((Clump.sphere(0.01, key="ball"), 2), (DUMBBELL, 3)),
    material=Material(density=7800.0, young=1e9, poisson=0.3),
    box=0.2,
    speed=0.5,
    spin=20.0,
    horizon=0.01,
)
#: Of the spheres of the scene, one after the other.
CLUMPS = np.array([1, 2, 3, 3, 4, 4, 5, 5])


def recorded(scene, samples=5):
    """A run with random motion, as the engine would name it."""
    draw, count = np.random.default_rng(1), len(scene)
    motion = draw.normal(size=(samples, count, 13)) * ([0.05] * 3 + [1.0] * 7 + [20.0] * 3)
    motion[..., 6:10] /= np.linalg.norm(motion[..., 6:10], axis=-1, keepdims=True)
    variables = Arrays(
        motion_variables(motion, "clump"), {"time": ("time", 1e-3 * np.arange(samples), {})}, {"scene": scene.key}
    )
    return variables.dataset()


@pytest.fixture(scope="module")
def run():
    return recorded(SCENE)


def turned(q, v):
    """R(q) v, written out from Rodrigues' formula."""
    axis = q[1:]
    return v + 2 * np.cross(axis, np.cross(axis, v) + q[0] * v)


def spheres(run, sample):
    """Place and velocity of each sphere, straight from the state; the velocity as the difference of two poses."""
    clumps, h = SCENE.every_clump, 1e-6
    places, velocities = [], []
    for i, clump in enumerate(clumps):
        r, v, q, omega = (run[name].values[sample, i] for name in ("r", "v", "q", "omega"))
        half = np.array([1.0, *(h / 2 * omega)])
        for centre in clump.centres:
            place = r + turned(q, centre)
            # The body turns about the axis omega by the angle h |omega|, first.
            later, earlier = (
                turned(q, turned(np.array([1.0, *(sign * half[1:])]) / np.linalg.norm(half), centre)) for sign in (1, -1)
            )
            places.append(place)
            velocities.append(v + (later - earlier) / (2 * h))
    return np.array(places), np.array(velocities)


def samples_of(path):
    """The frames of an extended XYZ file: the words of the second line, and the rows of each."""
    lines = path.read_text().splitlines()
    while lines:
        count = int(lines[0])
        yield lines[1], [line.split() for line in lines[2 : 2 + count]]
        lines = lines[2 + count :]


def test_xyz(run, tmp_path):
    path = tmp_path / "mine.xyz"
    assert write_motion(run, path, SCENE) == [path]
    frames = list(samples_of(path))
    assert len(frames) == run.sizes["time"] == 5
    for sample, (head, rows) in enumerate(frames):
        assert 'Lattice="0.2 0 0 0 0.2 0 0 0 0.2" Origin="-0.1 -0.1 -0.1" pbc="F F F"' in head
        assert float(re.search(r"Time=(\S+)", head)[1]) == pytest.approx(float(run["time"][sample]))
        assert [row[0] for row in rows] == list("12345678")
        assert [row[1] for row in rows] == ["ball"] * 2 + ["dumb_bell"] * 6
        values = np.array([row[2:] for row in rows], float)
        places, velocities = spheres(run, sample)
        assert np.abs(values[:, :3] - places).max() < 1e-9
        assert np.abs(values[:, 8:11] - velocities).max() < 1e-7
        assert np.abs(np.roll(values[:, 4:8], 1, axis=1) - run["q"].values[sample][CLUMPS - 1]).max() < 1e-8
        spin = [turned(q, omega) for q, omega in zip(run["q"].values[sample], run["omega"].values[sample], strict=True)]
        assert np.abs(values[:, 11:14] - np.array(spin)[CLUMPS - 1]).max() < 1e-6
        assert list(values[:, 14]) == list(CLUMPS)


def test_a_clump_can_be_read_again_from_a_frame(run, tmp_path):
    """By the reader of clump files, which knows OVITO's columns: the spheres of each clump are at their distance."""
    (path,) = write_motion(run.isel(time=[3]), tmp_path / "one.xyz", SCENE)
    for number in (3, 5):
        centres, radii, masses, _ = clump_files.read(path, clump=number)
        assert np.linalg.norm(centres[0] - centres[1]) == pytest.approx(0.016, rel=1e-7)
        assert sorted(radii) == [0.008, 0.012] and masses is None


def vtk(path):
    """The arrays of a legacy VTK file in text, by name."""
    lines = path.read_text().splitlines()
    assert lines[0] == "# vtk DataFile Version 3.0" and lines[2:4] == ["ASCII", "DATASET POLYDATA"]
    arrays, i, count = {}, 4, None
    while i < len(lines):
        words = lines[i].split()
        if words[0] == "POINT_DATA":
            assert int(words[1]) == count
            i += 1
            continue
        if words[0] in ("POINTS", "VERTICES"):
            count, name, after = int(words[1]), words[0], 1
        else:
            name, after = words[1], 1 if words[0] == "VECTORS" else 2
            assert words[0] == "VECTORS" or lines[i + 1] == "LOOKUP_TABLE default"
        arrays[name] = np.array([line.split() for line in lines[i + after : i + after + count]], float)
        i += after + count
    return arrays


def test_vtk(run, tmp_path):
    series, *files = write_motion(run, tmp_path / "mine.vtk", SCENE)
    named = json.loads(series.read_text())["files"]
    assert series.name == "mine.vtk.series" and [entry["name"] for entry in named] == [path.name for path in files]
    assert [entry["time"] for entry in named] == pytest.approx(list(run["time"].values)) and len(files) == 5
    for sample, path in enumerate(files):
        arrays = vtk(path)
        places, velocities = spheres(run, sample)
        assert np.abs(arrays["POINTS"] - places).max() < 1e-9 and np.abs(arrays["velocity"] - velocities).max() < 1e-7
        assert list(arrays["clump"][:, 0]) == list(CLUMPS) and list(arrays["kind"][:, 0]) == [0] * 2 + [1] * 6
        assert arrays["VERTICES"].tolist() == [[1, i] for i in range(8)]
        assert arrays["radius"][0] == 0.01 and sorted(arrays["radius"][2:4, 0]) == [0.008, 0.012]
        assert arrays["orientation"].shape == (8, 4) and arrays["angular_velocity"].shape == (8, 3)


def test_cells(run, tmp_path):
    """A drum is as wide as its radius says; periodic sides are marked; without walls there is no cell; a liquid is periodic."""
    drum = replace(SCENE, drum=Drum(radius=0.15, rate=1.0, axis="y"), periodic=("y",))
    for scene, cell in (
        (drum, 'Lattice="0.3 0 0 0 0.2 0 0 0 0.3" Origin="-0.15 -0.1 -0.15" pbc="F T F"'),
        (replace(SCENE, box=float("inf")), "Properties"),
    ):
        head, _ = next(samples_of(write_motion(run, tmp_path / "a.xyz", scene)[0]))
        assert head.startswith(cell)
    head, rows = next(samples_of(write_motion(recorded(manybody.scenes["water64"], 1), tmp_path / "w.xyz")[0]))
    assert 'pbc="T T T"' in head and len(rows) == 192


def test_samples_after_a_divergence_are_left_out(run, tmp_path):
    lost = run.copy(deep=True)
    lost["r"][2:] = np.nan
    assert len(list(samples_of(write_motion(lost, tmp_path / "a.xyz", SCENE)[0]))) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"path": "a.gif"}, "path must end in .xyz or .vtk, got 'a.gif'"),
        ({"run": "energies"}, "record=True"),
        ({"run": None}, "run must be a Dataset of polhode.manybody.simulate, got None"),
        ({"run": "one sample"}, "run: r must be (time, bodies, 3), got (5, 3)"),
        ({"path": "nowhere/a.xyz"}, "is in a folder that does not exist"),
        ({"path": "a\0.xyz"}, "can be no file (embedded null byte)"),
        ({"path": "a" * 300 + ".xyz"}, "can be no file (File name too long)"),
        ({"scene": "rods"}, "scene must be a polhode Scene or a Fluid, got 'rods'"),
        ({"scene": None}, "scene 'mine' is not one of the library; pass your own"),
        ({"scene": replace(SCENE, kinds=((DUMBBELL, 3),))}, "has 3 bodies, the run 5"),
    ],
    ids=str,
)
def test_what_cannot_be_written_is_named(run, tmp_path, change, message):
    arguments = {"run": run, "path": "a.xyz", "scene": SCENE} | change
    if "run" in change:
        made = {"energies": lambda: run.drop_vars(["r", "v", "q", "omega"]), "one sample": lambda: run.isel(time=0)}
        arguments["run"] = made[change["run"]]() if change["run"] else None
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        write_motion(arguments["run"], tmp_path / arguments["path"], arguments["scene"])
    assert not list(tmp_path.iterdir())


def test_the_command_writes_them(tmp_path, capsys):
    for name, said in (("rods.xyz", "rods.xyz\n"), ("rods.vtk", "rods.vtk.series, and 3 files that it names")):
        words = ["animate", "rods", "--dt", "1e-4", "--time", "0.004", "--frames", "2", "--output", str(tmp_path / name)]
        assert cli.main(words) == 0
        assert said in capsys.readouterr().out
    assert len(list(samples_of(tmp_path / "rods.xyz"))) == 3
