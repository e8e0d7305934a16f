"""A run that goes on from the end of another has the bits of a single run."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from conftest import thorough

from polhode import manybody
from polhode.manybody import Drum, Shaking

BED = replace(manybody.scenes["bed"], kinds=((manybody.Clump.rod(2, 5e-3, 5e-3, key="grain"), 12),), box=0.04)
DRUM = replace(BED, key="drum", drum=Drum(0.03, 8.0), box=0.03, shaking=Shaking(5e-5, 60.0))
DT = 4e-5


def simulate(scene, method, last, samples, **others):
    return manybody.simulate(scene, method, DT, t_end=last * DT * (1 + 1e-9), samples=samples, record=True, **others)


#: One method for each time of the torque, one that normalises, one that predicts, one that remembers.
METHODS = ("spiral_leapfrog", "spiral_predicted", "magnus_adams4", *thorough("verlet", "spiral_dkd", "no_squish"))


@pytest.mark.parametrize("law", [None, "hertz"])
@pytest.mark.parametrize("method", METHODS)
def test_two_parts_have_the_bits_of_one_run(method, law, tmp_path):
    contacts = 0
    for scene, steps in ((BED, 4000), (DRUM, 3000)):
        whole = simulate(scene, method, 2 * steps, 20, law=law)
        first = simulate(scene, method, steps, 10, law=law, checkpoint=True)
        contacts += len(first.restart_contact)
        first.to_netcdf(tmp_path / "first.nc")
        with xr.open_dataset(tmp_path / "first.nc") as stored:
            second = simulate(scene, method, 2 * steps, 10, law=law, state=stored)
        assert "diverged" not in whole.attrs and whole.contact_steps == first.contact_steps + second.contact_steps
        for name, part in whole.data_vars.items():
            if "time" in part.dims and name not in ("energy_error", "closure"):
                np.testing.assert_array_equal(part[:11], first[name], err_msg=name)
                np.testing.assert_array_equal(part[10:], second[name], err_msg=name)
        np.testing.assert_array_equal(whole.time[10:], second.time)
    assert law or contacts > 10, "with histories"


def test_walls_may_change_between_two_parts():
    """Grains settle in a drum at rest, which then begins to turn."""
    still = replace(DRUM, drum=Drum(0.03, 0.0), shaking=None)
    settled = simulate(still, "spiral_leapfrog", 10_000, 1, checkpoint=True)
    turns = simulate(replace(still, drum=Drum(0.03, 5.0)), "spiral_leapfrog", 11_000, 2, state=settled)
    assert float(settled.kinetic[-1]) == float(turns.kinetic[0]) < float(turns.kinetic[-1])
    assert turns.work_of_walls[0] == 0 < turns.work_of_walls[-1] and abs(turns.closure).max() < 0.01


def test_what_cannot_go_on_says_why():
    run = simulate(BED, "spiral_leapfrog", 40, 1, checkpoint=True)
    for others, message in (
        ({"method": "verlet"}, "made with method 'spiral_leapfrog', this one has 'verlet'"),
        ({"law": "hertz"}, "made with law 'hertz_mindlin_tsuji', this one has 'hertz'"),
        ({"normalise": True}, "made with normalises 0"),
        ({"scene": replace(BED, material=replace(BED.material, density=1.0))}, "not those of scene 'bed'"),
        ({"state": run.drop_vars("restart_history")}, "no restart_history; make it with checkpoint=True"),
        ({"state": run.isel(field=slice(50), drop=True)}, "another version"),
        ({"last": 40}, "t_end must be after 0.0016 s"),
    ):
        arguments = {"scene": BED, "method": "spiral_leapfrog", "last": 80, "samples": 1, "state": run} | others
        with pytest.raises(ValueError, match=message):
            simulate(**arguments)
    with pytest.raises(ValueError, match="made with dt 4e-05, this one has 1e-05"):
        manybody.simulate(BED, "spiral_leapfrog", 1e-5, t_end=1.0, state=run)
    with pytest.raises(TypeError, match=r"an earlier run or None, got 'first\.nc'"):
        manybody.simulate(BED, "spiral_leapfrog", 1e-5, state="first.nc")
    with pytest.raises(ValueError, match="can go on after its first 3 steps, got 2"):
        simulate(BED, "magnus_adams4", 2, 1, checkpoint=True)
