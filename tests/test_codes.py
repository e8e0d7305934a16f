"""Impacts in other codes: what is released of them, and our engine with their bookkeeping beside those installed."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polhode import manybody
from polhode.cli import main
from polhode.compiling.plain import in_plain_python
from polhode.interface.netcdf import read_dataset
from polhode.manybody.law import Touch
from polhode_engines import all_engines, contacts, how_to_install, is_installed, protocol
from polhode_study import chapters
from polhode_study.chapters import rendering
from polhode_study.chapters.engines import run_contacts as codes
from polhode_study.chapters.impacts.run import ExactImpact, one_torque, scene_of
from polhode_study.inputs import Inputs

HOME = Path(__file__).parents[1]
RELEASED = HOME / "data" / "released"
#: Distances of the imitations, in units of the changes in an impact: round-off, but where springs turn by other formulas.
LARGEST = {"lammps": 1e-6, "yade": 1e-4}
TURNS = "two_spheres"


@pytest.fixture(scope="module")
def data():
    return read_dataset(RELEASED / "contacts.nc")


def test_our_engine_does_what_codes_do_with_their_bookkeeping(data):
    assert data["code"].values.tolist() == ["lammps", "polhode", "yade"] and not any(data["failures"].values)
    for code, largest in LARGEST.items():
        deviation = data["deviation"].sel(code=code)
        assert deviation.max() < largest
        assert deviation.drop_sel(case=TURNS).max() < 1e-8
        engine = all_engines()[code]
        assert str(data["law"].sel(code=code).item()) == engine.contacts.law
        assert str(data["method"].sel(code=code).item()) == engine.contacts.method
        law = codes.imitation(engine.contacts)
        for name in codes.CHOICES:
            word = law.value(name) if name in law.all_parameters else ""
            assert str(data[f"choice_{name}"].sel(code=code).item()) == word, "the file is of another bookkeeping"


def test_codes_are_of_first_order_where_contacts_stick(data):
    order = data["order"].sel(quantity="spin", case=["sphere_3", "sphere_45", "clump"])
    assert (order.sel(code="polhode") > 1.8).all()
    assert (order.sel(code=["lammps", "yade"]) < 1.3).all()
    assert (
        data["step_error"].sel(code="polhode", division=40) < data["step_error"].sel(code=["lammps", "yade"], division=40)
    ).all("code").sum() >= 8
    # Arms that do not end at the contact point, and no twirl, are other laws.
    assert data["off"].sel(code="polhode").max() < 1e-4 < data["off"].sel(code="lammps", case=TURNS).min()


def test_beds_of_codes_are_ours_within_the_scatter_of_seeds(data):
    assert data.sizes["seed"] >= 4 and not any(data["bed_failures"].values)
    for name in codes.READ_OFF:
        values, ours = data[f"bed_{name}"], data[f"bed_{name}"].sel(code="polhode")
        scatter = float(ours.std("seed", ddof=1))
        assert (abs((values - ours).mean("seed")) < 2 * scatter).all(), name
    assert len(np.unique(data["bed_height"])) == data["bed_height"].size, "chaotic runs part"
    first = data["bed_kinetic"].isel(bed_time=0)
    assert (abs(first / first.sel(code="polhode") - 1) < 1e-6).all(), "they start from the same states"
    shares = data["bed_share"].sel(form=list(codes.FORMS[:3]))
    np.testing.assert_allclose(shares.sum("form"), 1.0, rtol=1e-9)


def test_the_report_names_what_codes_do():
    inputs = Inputs("", released=RELEASED)
    section = (HOME / chapters.FOLDER / "engines" / "contact_codes.tex").read_text()
    used = set(re.findall(r"\\(studyCodes[A-Za-z]*)", section))
    assert used and used <= set(rendering.numbers("engines", inputs))


def touching(law, velocity, moved):
    """The response of a law to a sphere on a plane, in plain Python."""
    up = (0.0, 0.0, 1.0)
    touch = Touch(1e-5, 2.5e-3, 1e-4, up, up, up, velocity, (0.0,) * 3, moved, (0.0,) * 3, 0.0, 0.0, 1.0)
    material = manybody.Material(2500.0, 1e9, 0.3)
    pair = manybody.material.MaterialPair(material, None)
    return in_plain_python(law.contact)(touch, (0.0,) * law.history, tuple(law.constants_of(pair)))


def test_lammps_shortens_spring_and_dashpot_yade_the_spring():
    law = manybody.forces["hertz_mindlin_tsuji"].with_parameters(friction=0.3, restitution=0.5)
    small, large = (1e-9, -2e-9, 0.0), (1e-5, -2e-5, 0.0)
    sliding = (0.3, 0.5, 0.0)
    for slip in ("radial of the sum", "radial without dashpot"):
        of_slip = law.with_parameters(slip=slip)
        free = touching(of_slip.with_parameters(friction=np.inf), sliding, large)
        held = touching(of_slip, sliding, large)
        limit = 0.3 * held.force[2]
        assert np.hypot(*held.force[:2]) == pytest.approx(limit, rel=1e-12)
        k, stretch = held.history[3], np.array(held.history[:2])
        if slip == "radial of the sum":
            both = np.array(free.force[:2])
            assert held.force[:2] == pytest.approx(both * limit / np.hypot(*both), rel=1e-12)
            assert -k * stretch + held.history[5:7] == pytest.approx(held.force[:2], rel=1e-9)
            assert held.history[5:7] == free.history[5:7], "the dashpot is that without a cone"
        else:
            assert held.force[:2] == pytest.approx(-limit * np.array(large[:2]) / np.hypot(*large[:2]), rel=1e-12)
            assert held.history[5:8] == (0.0, 0.0, 0.0)
            # Where the spring holds, the dashpot may leave the cone.
            beyond = touching(of_slip, sliding, small)
            assert np.hypot(*beyond.force[:2]) > limit and np.any(beyond.history[5:8])
    first = touching(law, sliding, small)
    assert np.hypot(*first.force[:2]) <= 0.3 * first.force[2] * (1 + 1e-12), (
        "by default spring first, the dashpot in what is left"
    )


#: An engine whose bodies fly freely.
FAKE = """
import numpy as np


class Adapter:
    def version(self):
        return "1.0"

    def collide(self, option, case, dt, samples):
        t = dt * samples[:, None, None]
        q, omega = (np.broadcast_to(np.array(x), (len(samples), *np.shape(x))) for x in (case.q, case.omega))
        if case.friction > 1:
            q = q[..., :3]
        return np.array(case.r) + t * np.array(case.v), 0 * t + np.array(case.v), q, omega
"""
DECLARED = f"""
label: fake
requirements: [numpy=={np.__version__}]
module: numpy
options: {{usual: {{chosen_by: as it is}}}}
switched_off: nothing
contacts: {{chosen_by: none, law: hertz_mindlin_tsuji, bookkeeping: LAMMPS, method: richardson}}
"""


@pytest.mark.thorough
def test_an_adapter_moves_the_bodies_of_a_scene(tmp_path):
    (tmp_path / "fake.py").write_text(FAKE)
    (tmp_path / "fake.yaml").write_text(DECLARED)
    fake = protocol.read(tmp_path / "fake.py")
    bed = manybody.scenes["bed"]
    start = bed.initial_state(0)
    plan = contacts.collision(bed, start, 1e-3, [0, 2])
    assert plan.alpha == pytest.approx(manybody.restitution.tsuji_damping(0.67)) and plan.gravity == [0.0, 0.0, -9.81]
    slippery = replace(plan, friction=2.0)
    version, (flown, failed) = contacts.collide(fake, [plan, slippery], python=Path(sys.executable))
    assert version == "1.0" and not flown.error and "arrays of shapes" in failed.error and np.isnan(failed.motion).all()
    np.testing.assert_array_equal(flown.motion[:, :, :3], [start.r, start.r + 2e-3 * start.v])
    np.testing.assert_array_equal(flown.motion[1, :, 6:], np.hstack([start.q, start.omega]))


def test_the_command_says_if_no_engine_has_contacts(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("polhode_engines.is_installed", lambda engine: True)
    assert main(["atlas", "ode", "--contacts", "--results", str(tmp_path)]) == 2
    assert "none of these engines is installed and has contacts" in capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.parametrize("key", LARGEST)
def test_an_installed_code_is_what_our_engine_imitates(key, data):
    engine = all_engines()[key]
    if not is_installed(engine):
        pytest.skip(f"{key} is not installed; {how_to_install(engine)}")
    declared, method = engine.contacts, one_torque(engine.contacts.method)
    case = ExactImpact.known("clump_damped")
    law = codes.imitation(declared, 0.3, manybody.restitution.tsuji_restitution(0.3))
    dt = case.duration / 20
    plan = scene_of(case.impact, law), case.start(dt), dt, case.steps(20)
    version, (hit,) = contacts.collide(engine, [contacts.collision(*plan)], limit=120.0)
    assert not hit.error and (version == str(data["version"].sel(code=key).item()) or version)
    ours = codes._run(method, *plan)["motion"]
    assert np.abs(hit.motion[1, :, 3:6] - hit.motion[0, :, 3:6]).max() > 0.5, "nothing has collided"
    assert np.max(case.distances(case.after(hit.motion), case.after(ours))) < LARGEST[key]
