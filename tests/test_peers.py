"""Many bodies in YADE and LAMMPS beside ours: benchmarks/peers.py and its files."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

from polhode import manybody
from polhode_engines import all_engines, is_installed

HOME = Path(__file__).parents[1]
RELEASED = HOME / "data" / "released"
sys.path.insert(0, str(HOME / "benchmarks"))
import peers  # noqa: E402


def test_the_released_table_has_both_scenes_and_all_codes():
    table = pd.read_csv(RELEASED / "peers.csv")
    assert set(zip(table["scene"], table["code"], strict=True)) == {
        (scene, code) for scene in ("chess", "rods") for code in ("polhode", "YADE", "LAMMPS")
    }
    assert len(table) == 2 * len(peers.SIDES) and table.notna().all(axis=None)
    for scene, rows in table.groupby("scene"):
        np.testing.assert_allclose(rows["dt"], manybody.scenes[scene].usual_step, rtol=1e-5)
        assert set(rows["clumps"]) == {len(manybody.scenes[scene])}
    assert (table["us_per_step"] <= table["us_per_step_most"]).all()
    assert (table["energy_error"] <= table["energy_error_most"]).all()


def test_the_error_is_read_where_nothing_touches():
    reading = peers.Reading(np.array([2.0, 2.2, 50.0, 1.8]), np.array([True, True, False, True]), np.ones(3), "1")
    assert peers.error(reading) == pytest.approx(0.1)


def test_the_request_holds_what_the_state_holds(tmp_path):
    scene = manybody.scenes["rods"]
    state = scene.initial_state(3)
    peers.write_request(tmp_path / "request.npz", scene, state, np.array([7]))
    with np.load(tmp_path / "request.npz") as data:
        spin = (data["inertias"] * data["omega"] ** 2).sum()
        energy = 0.5 * ((data["masses"][:, None] * data["v"] ** 2).sum() + spin)
        reading = peers.ours("spiral_leapfrog")(scene, state, np.array([7]))
        assert energy == pytest.approx(reading.energy[0], rel=1e-12)
        lab = np.einsum("cij,cj->ci", data["turns"], data["omega"])
        expected = [Rotation.from_quat(np.roll(q, -1)).apply(w) for q, w in zip(state.q, state.omega, strict=True)]
        np.testing.assert_allclose(lab, expected, rtol=0, atol=1e-12 * np.abs(lab).max())
        assert data["young"] / (2 * (1 - data["poisson"] ** 2)) == pytest.approx(scene.material.reduced)


@pytest.mark.thorough
@pytest.mark.parametrize(("key", "arguments", "same"), [("lammps", ("rigid/nve",), 1e-11), ("yade", (), 2e-6)])
def test_another_code_has_the_same_collisions(key, arguments, same, monkeypatch):
    """After rods have hit walls and each other, energy and places are those of our engine."""
    if not is_installed(all_engines()[key]):
        pytest.skip(f"{key} is not installed")
    scene = manybody.scenes["rods"]
    state = scene.initial_state(0)
    at = np.array([2000, 4000, 6000])
    mine, other = peers.ours("no_squish")(scene, state, at), peers.another(key, *arguments)(scene, state, at)
    both = mine.free & other.free
    assert both.sum() >= 3
    change = np.abs(mine.energy / mine.energy[0] - 1)[both]
    assert change.max() > 5e-6, "nothing has collided"
    np.testing.assert_allclose(other.energy[both] / mine.energy[both], 1, atol=same)
    assert len(other.seconds) == len(at) and (other.seconds > 0).all() and other.version
