"""Liquids in other codes: the same energies as ours, step by step, and what a mistake would look like."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polhode import manybody
from polhode.algebra.metrics import rotation_matrix
from polhode.cli import main
from polhode.compiling.plain import in_plain_python
from polhode.interface.netcdf import read_dataset
from polhode.manybody.simulation import run
from polhode.methods import METHODS
from polhode_engines import all_engines, how_to_install, is_installed, protocol
from polhode_engines.liquids import flow, flow_through
from polhode_study import chapters
from polhode_study.chapters import rendering
from polhode_study.chapters.engines import run_liquids as liquid_codes
from polhode_study.inputs import Inputs

HOME = Path(__file__).parents[1]
RELEASED = HOME / "data" / "released"
#: Energies of LAMMPS and ours may differ by this, in kcal/mol or reduced units: rounding, which a hundred steps multiply.
WITHIN = 1e-9
#: An engine whose molecules stand still; it has no law for charges.
FAKE = """
import numpy as np


class Adapter:
    def version(self):
        return "1.0"

    def flow(self, option, case, dt, samples):
        if option == "broken":
            raise ValueError("no such thing")
        return np.full(len(samples), sum(case.masses) * len(case.r)), dt * samples, 0.0 * samples
"""
DECLARED = f"""
label: fake
requirements: [numpy=={np.__version__}]
module: numpy
options: {{usual: {{chosen_by: as it is}}}}
switched_off: nothing
liquids: {{chosen_by: nothing, options: {{usual: no_squish, broken: no_squish}}}}
"""


@pytest.fixture(scope="module")
def lammps():
    return read_dataset(RELEASED / "liquids_lammps.nc")


@pytest.fixture(scope="module")
def ours():
    return liquid_codes.liquid_codes({"methods": [], "seed": 0})


def test_lammps_has_our_energies(lammps, ours):
    """No number is fitted: molecules, law, units and three methods are the same in both, or wrong in both."""
    assert not lammps.attrs["failures"] and lammps["option"].values.tolist() == list(liquid_codes._declared().options)
    apart = abs(lammps["potential"] - ours["potential"].sel(integrator=lammps["integrator"]))
    assert float(apart.max()) < WITHIN
    moved = abs(lammps["potential"].isel(step=-1) - lammps["potential"].isel(step=0))
    assert float(moved.min()) > 1e-2, "nothing has moved"
    # Of the methods with one angular velocity at whole steps also the kinetic energies; SHAKE has it from two half steps.
    kinetic = abs(lammps["kinetic"] - ours["kinetic"].sel(integrator=lammps["integrator"]))
    assert float(kinetic.sel(option=["rigid/nve/small", "rigid/small"]).max()) < WITHIN
    more = (
        (lammps["kinetic"] - ours["kinetic"].sel(integrator="moser_veselov")).sel(option="shake", scene="water64").mean("step")
    )
    assert float(more.sel(size="long") / more.sel(size="middle")) == pytest.approx(16.0, rel=0.3), "of fourth order"


def test_the_methods_are_told_apart(lammps, ours):
    """Each of our methods differs from the others of LAMMPS by ten thousand times what is allowed."""
    for option, method in zip(lammps["option"].values, lammps["integrator"].values, strict=True):
        for other in map(str, ours["integrator"].values):
            if other != method:
                apart = abs(lammps["potential"].sel(option=option) - ours["potential"].sel(integrator=other)).max("step")
                assert float(apart.min()) > 1e4 * WITHIN, f"{option} and {other}"


@pytest.mark.thorough
def test_a_cutoff_that_is_only_once_smooth_shows(lammps):
    water = manybody.scenes["water64"].with_law("shifted_force")
    once_smooth = manybody.simulate(water, "no_squish", 4.0, t_end=4.0, samples=1)["potential"].values
    smooth = lammps["potential"].sel(option="rigid/nve/small", scene="water64", size="long").values[:2]
    assert abs(once_smooth - smooth).min() > 1.0 and abs(np.diff(once_smooth) - np.diff(smooth)) > 1e-2


def loads(fluid, state):
    """Potential energy, forces (lab) and torques (body), from a step so short that velocities are loads times it."""
    dt, still = 1e-6, np.zeros((len(fluid), 3))
    done = run(fluid, METHODS["no_squish"], dt, replace(state, v=still, omega=still), np.array([0, 1]), record=True)
    change = done["motion"][1] / dt
    masses, moments = fluid.setup.masses, np.array([molecule.body().inertia for molecule in fluid.every_molecule])
    return done["energies"][0, 1] * fluid.units.energy, change[:, 3:6] * masses[:, None], change[:, 10:13] * moments


@pytest.mark.parametrize("frame", ["body", "lab"])
def test_a_torque_in_the_wrong_frame_shows(frame, lammps):
    """A plain loop around the kernels of NO_SQUISH meets LAMMPS as far as its differences of velocities go, or not at all."""
    fluid, dt, method = manybody.scenes["water64"], 4.0, METHODS["no_squish"]
    begin, before, after = map(in_plain_python, (method.start, method.before_torque, method.after_torque))
    state, body = fluid.initial_state(0), fluid.clumps[0][0].body().coefficients()
    records, v = [], state.v
    for n in range(4):
        potential, force, torque = loads(fluid, state)
        if frame == "lab":
            torque = np.einsum("nij,nj->ni", rotation_matrix(state.q), torque)
        if n == 0:
            records = [begin(*map(tuple, row), body, dt) for row in zip(state.q, state.omega, torque, strict=True)]
        else:
            records = [after(record, tuple(moment), body, dt) for record, moment in zip(records, torque, strict=True)]
            v = v + dt / 2 * force / fluid.setup.masses[:, None]
        apart = abs(potential - float(lammps["potential"].sel(option="rigid/nve/small", scene="water64", size="long")[n]))
        assert n == 0 or (apart < 1e-5 if frame == "body" else apart > 1e-2)
        v = v + dt / 2 * force / fluid.setup.masses[:, None]
        records = [before(record, body, dt) for record in records]
        q, records = np.array([q for _, q, _ in records]), [record for record, _, _ in records]
        state = replace(state, r=state.r + dt * v, q=q)


def test_an_adapter_gets_the_molecules_of_a_fluid(tmp_path):
    (tmp_path / "fake.py").write_text(FAKE)
    (tmp_path / "fake.yaml").write_text(DECLARED)
    fake = protocol.read(tmp_path / "fake.py")
    water = manybody.scenes["water64"]
    start = water.initial_state(0)
    plan = flow(water, start, 2.0, [0, 3])
    assert plan.units == "real" and plan.lennard_jones == [4.5, 6.2] and plan.coulomb == [0.0, 6.2]
    np.testing.assert_array_equal(plan.q, start.q)
    version, (stood,) = flow_through(fake, "usual", [plan], python=Path(sys.executable))
    assert version == "1.0" and not stood.error
    np.testing.assert_allclose([stood.potential, stood.kinetic], [[64 * 18.0154] * 2, [0.0, 6.0]], rtol=1e-12)
    _, (failed,) = flow_through(fake, "broken", [plan], python=Path(sys.executable))
    assert "no such thing" in failed.error and np.isnan(failed.potential).all()


def test_the_report_names_what_lammps_does(monkeypatch, ours):
    inputs = Inputs("", released=RELEASED)
    monkeypatch.setattr(Inputs, "check", lambda self, name: ours)
    section = (HOME / chapters.FOLDER / "engines" / "liquid_codes.tex").read_text()
    used = set(re.findall(r"\\(studyLiquidCodes[A-Za-z]*)", section))
    assert used and used <= set(rendering.numbers("engines", inputs))


def test_the_command_says_if_no_engine_runs_liquids(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("polhode_engines.is_installed", lambda engine: True)
    assert main(["atlas", "ode", "--liquids", "--results", str(tmp_path)]) == 2
    assert "none of these engines is installed and runs liquids" in capsys.readouterr().err


@pytest.mark.thorough
def test_an_installed_lammps_has_the_released_energies(lammps):
    engine = all_engines()["lammps"]
    if not is_installed(engine):
        pytest.skip(f"lammps is not installed; {how_to_install(engine)}")
    water = manybody.scenes["water64"]
    plan = flow(water, water.initial_state(0), 4.0, range(11))
    for option in engine.liquids.options:
        _, (run,) = flow_through(engine, option, [plan], limit=120.0)
        assert not run.error
        expected = lammps["potential"].sel(option=option, scene="water64", size="long").values[:11]
        np.testing.assert_allclose(run.potential, expected, rtol=0, atol=WITHIN)
