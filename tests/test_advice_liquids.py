"""Advice for liquids, from made-up drifts."""

import json
import re
from math import pi
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from data_files import invented

import polhode
from polhode import cli
from polhode.advice import AdviceError, files, from_baths, librations
from polhode.fits import bath_runs
from polhode.fits.liquid_drifts import fastest, outcomes
from polhode.interface.netcdf import read_dataset, read_groups
from polhode.interface.storage import write_groups
from polhode.methods import METHODS

HOME = Path(__file__).parents[1]
STEPS = [1.0, 2.0, 4.0, 6.0]
#: Drifts by step, 1/ns: one that is good to 4 fs, one to 2, one that is lost.
DRIFTS = {
    "no_squish": [1e-4, 1e-4, 1e-3, 2.0],
    "exact_rotor": [1e-4, 1e-4, 1e-3, 1.0],
    "magnus_adams4": [0.1, -40.0, -300.0, np.nan],
}


@pytest.fixture
def release(tmp_path, monkeypatch):
    drift = np.array(list(DRIFTS.values()))[..., None] * (1 + 0.01 * np.array([-1, 0, 1]))
    lost = np.isnan(drift).astype(float)
    data = invented(
        "checks/liquid_4fs.nc",
        {"integrator": list(DRIFTS), "dt": STEPS, "seed": [0, 1, 2]},
        {"duration": 1e5, "molecules": 64, "temperature": 300.0},
        drift=np.nan_to_num(drift, nan=-500.0),
        lost_by=-lost,
        lost_at=np.where(lost > 0, 1000.0, np.nan),
        rms=1e-3,
        block_error=1e-3,
    )
    axes, flat = {"frequency": np.linspace(0, 1, 1001)}, np.full((3, 1001), 1 / 3003)
    spectrum = invented("checks/liquid_spectrum.nc", axes, {"scene": "water64"}, spectrum=flat)
    path = tmp_path / files.RELEASED / "liquids.nc"
    write_groups({"/": xr.Dataset(), "/followed": data, "/spectrum_water64": spectrum}, path)
    monkeypatch.chdir(tmp_path)


def test_the_longest_step_below_the_drift_is_recommended(release):
    answer = polhode.recommend(liquid="water64")
    assert (answer.method, answer.dt) == ("exact_rotor", pytest.approx(4e-15))
    assert "4 fs" in answer.why() and "2 pi" not in answer.why()
    assert f"{2 * pi / 0.99 / 4:.3g} steps in a period" in answer.sentence
    assert "Magnus-Adams 4 are not for long runs" in " ".join(answer.why().split())
    assert json.loads(answer.to_json())["known_from"] == "liquid"
    assert polhode.recommend(liquid="water64", drift=2e-4).dt == pytest.approx(2e-15)


def test_another_liquid_has_the_same_drift_in_a_period(release):
    period = 2 * pi / 0.99
    slower = polhode.recommend(liquid=3 * period * 1e-15, drift=2e-4)
    # Three times the period: a third of the drift per time.
    assert slower.dt == pytest.approx(3 * 2e-15, rel=1e-2)
    assert polhode.recommend(liquid=20 * period * 1e-15, drift=1e-4).dt == pytest.approx(80e-15, rel=1e-2)


def test_the_command_answers_in_femtoseconds(release, capsys):
    assert cli.main(["recommend", "--liquid", "water64"]) == 0
    assert "dt = 4 fs" in capsys.readouterr().out
    assert cli.main(["recommend", "--liquid", "1.2e-14", "--drift", "1e-2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["method"] == "exact_rotor"


@pytest.mark.parametrize("written", [12e-15, "12fs", "12 fs", "1.2e-2 ps", "1.2E-14", "1.2e-5ns"])
def test_a_period_is_read_with_and_without_unit(release, capsys, written):
    answer = polhode.recommend(liquid=written)
    assert answer.dt == pytest.approx(4e-15 * 12 / (2 * pi / 0.99), rel=1e-3)
    assert cli.main(["recommend", "--liquid", str(written), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["dt"] == pytest.approx(answer.dt)


def test_an_answer_says_for_which_length_of_run(release):
    # 6 degrees of freedom, and 81 +- 3 J/mol/K by a regression of E on T over six runs of water64 of 150 ps (275 to 332 K).
    kelvin_per_ns = 0.01 * 6 * 8.314 * 300 / 81
    text = " ".join(polhode.recommend(liquid="water64").why().split())
    assert "for runs of 1 ns" in text and "10 ns ask for drift 0.001" in text.replace("`", "")
    warmed = [float(x) for x in re.search(r"by (\S+) K in 1 ns and by (\S+) K in 10 ns", text).groups()]
    assert warmed == pytest.approx([kelvin_per_ns, 10 * kelvin_per_ns], rel=0.03)
    assert "for runs of 100 ps" in " ".join(polhode.recommend(liquid="water64", drift=0.1).why().split())


@pytest.mark.parametrize(
    ("code", "method", "line"),
    [
        ("gromacs", "moser_veselov", "In GROMACS write `dt = 0.004` (ps)"),
        ("OpenMM", "moser_veselov", "In OpenMM write `VerletIntegrator(0.004*picoseconds)` with `rigidWater=True`:"),
        ("AMBER", "moser_veselov", "In AMBER write `dt = 0.004` (ps) with `ntc = 2, ntf = 2`:"),
        ("lammps", "no_squish", "In LAMMPS write `timestep 5` (fs, `units real`) with `fix rigid/nve/small`:"),
    ],
)
def test_the_first_line_for_a_code_has_its_method_and_unit(code, method, line):
    answer = polhode.recommend(liquid="water64", code=code)
    (row,) = (row for row in polhode.recommend(liquid="water64", everything=True).alternatives if row.method == method)
    assert str(answer).startswith(line) and (answer.method, answer.dt) == (method, row.dt)
    with pytest.raises(AdviceError, match="code must be LAMMPS, GROMACS, OpenMM or AMBER, got 'yade'"):
        polhode.recommend(liquid="water64", code="yade")


def test_settle_has_its_own_step_and_its_own_name():
    # The released drifts: at 0.001 kT/ns 2 fs are shown for SETTLE and not 4.
    text = " ".join(polhode.recommend(liquid="water64", drift=1e-3, everything=True).why().split())
    assert "SHAKE, RATTLE or SETTLE (moser_veselov): dt = 2 fs" in text
    assert re.search(r"Moser-Veselov \(SHAKE, RATTLE, SETTLE\) \(moser_veselov\) +2 ", text)
    assert "Moser-Veselov (SHAKE, RATTLE, SETTLE) 2 fs" in " ".join(polhode.recommend(liquid="water64").why().split())


def test_without_a_length_an_answer_says_what_longer_runs_need():
    first = " ".join(str(polhode.recommend(liquid="water64")).split())
    assert "for runs of 1 ns at constant energy; runs of 10 ns need 4 fs." in first and "dt = 4 fs, for 10 ns 2 fs." in first
    assert "runs of 10 ns need" not in str(polhode.recommend(liquid="water64", length="2ns"))


def test_another_liquid_alone_is_taken_to_be_like_water():
    """SPC/E water was run; of other liquids the period is known."""
    for liquid, is_another in {"spce": False, "water125": False, "tip4p2005": True, "40fs": True}.items():
        serves = polhode.recommend(liquid=liquid).serves
        assert ("Not run for" in serves and "carried over from SPC/E by the ratio of periods" in serves) == is_another, liquid


# ---- in a heat bath ----


@pytest.fixture
def bathed_release(release, tmp_path):
    """The made-up drifts with mean squares of forces and torques: 0.0014 and 0.012 rad^2/fs^2."""
    path = tmp_path / files.RELEASED / "liquids.nc"
    groups = dict(read_groups(path))
    groups["/spectrum_water64"] = groups["/spectrum_water64"].assign(rate_squared=("kind", [0.0014, 0.012]))
    write_groups(groups, path)


def test_in_a_bath_the_answer_has_scheme_step_and_temperature(bathed_release):
    answer = polhode.recommend(liquid="spce", bath="langevin", gamma="1/ps")
    dt = 1.9  # the two first digits of
    assert dt <= (24 * 0.5 / 300 / (0.012 - 0.0014)) ** 0.5 < dt + 0.1
    assert (answer.method, answer.dt) == ("exact_rotor", pytest.approx(dt * 1e-15))
    assert answer.sentence.startswith(
        "Take Langevin dynamics in the order B A O A B (B: half a kick, A: half of the free motion, O: friction and noise) "
        "around exact rotor (exact_rotor) with dt = 1.9 fs"
    )
    said = " ".join(str(answer).split())
    assert "read the temperature between the two kicks" in answer.sentence
    assert f"shows rotation at {300 * (1 - 0.012 * dt**2 / 4):.4g} K" in said
    assert f"their angles correspond to {300 * (1 + 0.012 * dt**2 / 4):.4g} K" in said
    assert "though the places are right; the logs of GROMACS (`sd`) and OpenMM show the bath" in said
    assert "Not run for" not in said


def test_friction_allows_a_drift_that_it_takes_out(bathed_release):
    """Drifts of 1 kT/ns at 6 fs and 0.001 at 4 fs: gamma bias/T is 8.3 and 0.0083 kT/ns at 2.5 K."""
    longest = [polhode.recommend(liquid="water64", bath="langevin", gamma=g, bias=2.5).interval[1] for g in ("1/ps", "1/ns")]
    assert longest == pytest.approx([6e-15, 4e-15])
    assert polhode.recommend(liquid="water64", bath="langevin", gamma=1e12, bias=2.5).dt == pytest.approx(4.34e-15, rel=1e-2)
    assert polhode.recommend(liquid="water64", bath="langevin", gamma="1/ns", bias=2.5).dt == pytest.approx(4e-15)


@pytest.mark.parametrize(
    ("code", "method", "line"),
    [
        ("gromacs", "moser_veselov", "In GROMACS write `integrator = sd`, `dt = 0.0019`, `tau-t = 0.5`"),
        ("OpenMM", "moser_veselov", "In OpenMM write `LangevinMiddleIntegrator(300, 2/picosecond, 1.9*femtoseconds)`"),
    ],
)
def test_in_a_bath_the_first_line_is_what_the_code_has(code, method, line):
    answer = polhode.recommend(liquid="water64", bath="langevin", gamma="2/ps", code=code)
    assert answer.sentence.startswith(line) and answer.method == method == answer.alternatives[0].method


def test_in_a_bath_lammps_has_the_step_of_its_own_scheme(bathed_release):
    """Its angles have 1/(1 - w^2/4) of the variance, w^2 = 0.012 dt^2: half a kelvin of 300."""
    answer = polhode.recommend(liquid="spce", bath="langevin", gamma="2/ps", code="lammps")
    dt = 0.74  # fs: the step is rounded down
    assert dt <= (4 * (1 - 300 / 300.5) / 0.012) ** 0.5 < dt + 0.01
    assert (answer.method, answer.dt) == ("no_squish", pytest.approx(dt * 1e-15))
    assert answer.sentence.startswith(f"In LAMMPS write `timestep {dt}`, `fix water all rigid/nve/small molecule langevin ")
    assert "langevin 300 300 500 SEED` and `compute_modify thermo_temp extra/dof 0`" in answer.sentence
    said = " ".join(answer.remarks)
    assert "Do not judge the step by the log, which shows 300 K with any step" in " ".join(answer.notes)
    assert f"{300 * (1 + 0.003):.4g} K at 1 fs and {300 * (1 + 0.012):.4g} K at 2 fs" in said
    assert "(302.4 K with 64 molecules)" in said and f"{300 * 6 * 64 / (6 * 64 - 3):.1f}" == "302.4"
    assert "rigid/nvt/small" in said and "B A O A B" in said and "B A O A B" not in answer.sentence
    assert "has this bias with dt = 1.9 fs" in said and "mass 3" not in said


def test_chains_have_the_step_of_constant_energy(bathed_release):
    """Drifts of 0.001 kT/ns at 4 fs and of 1 at 6 fs; on whole steps a libration reads 1 - w^2/4 of what the chains hold."""
    answer = polhode.recommend(liquid="water64", bath="nose-hoover")
    assert answer.dt == pytest.approx(4e-15) == polhode.recommend(liquid="water64").dt
    assert answer.sentence.startswith("Take Nose-Hoover chains with a time of 100 fs around ")
    notes = " ".join(answer.notes)
    assert f"(rotation {300 * (1 - 0.012 * 16 / 4):.4g} K, translation " in notes
    assert "Do not use it for a few molecules" in notes
    assert "no linear analysis" in answer.why() and "LAMMPS" not in notes
    of_lammps = polhode.recommend(liquid="water64", bath="nose-hoover", code="lammps")
    line = "In LAMMPS write `timestep 4` and `fix water all rigid/nvt/small molecule temp 300 300 100`"
    assert of_lammps.sentence.startswith(line) and of_lammps.method == "no_squish"
    assert f"{300 / 63:.0f} K with 64 molecules" in " ".join(of_lammps.remarks)


@pytest.mark.parametrize("bias", [0.5, 2.0])
def test_velocity_rescaling_has_the_step_of_the_gap(bias):
    """Released drifts and mean squares: 0.0014 and 0.0120 rad^2/fs^2. A leapfrog, whose whole steps read 1 - w^2/4."""
    answer = polhode.recommend(liquid="spce", bath="v-rescale", bias=bias)
    fs = answer.dt * 1e15
    assert fs - 1e-6 <= (24 * bias / 300 / (0.01199 - 0.0014)) ** 0.5 < fs + 0.1
    assert answer.sentence.startswith(
        "Take stochastic velocity rescaling with a relaxation time of 0.1 ps around Omelyan (omelyan1998), a leapfrog, with"
    )
    notes = " ".join(answer.notes)
    assert f"rotation at {300 * (1 - 0.011989 * fs**2 / 4):.4g} K" in notes
    assert f"up to {300 * (1 + 0.011989 * fs**2 / 4):.4g} K at this step" in notes
    assert {METHODS[row.method].stored_offset for row in answer.alternatives} == {-0.5}


def test_leapfrogs_for_velocity_rescaling_are_reversible():
    """Of the leapfrogs that were run in a liquid those whose energy hardly drifts, which irreversible ones do."""
    drifts = outcomes(read_groups(HOME / files.RELEASED / "liquids.nc")["/followed"])
    drifts |= outcomes(read_groups(HOME / files.RELEASED / "liquids.nc")["/others"])
    leapfrogs = {key: abs(of[2.0].drift) for key, of in drifts.items() if METHODS[key].stored_offset == -0.5}
    assert {key for key, drift in leapfrogs.items() if drift < 0.1} == set(from_baths.LEAPFROGS) < set(leapfrogs)
    assert min(drift for key, drift in leapfrogs.items() if key not in from_baths.LEAPFROGS) > 0.3


def test_velocity_rescaling_takes_out_the_drift_of_a_step():
    """A leapfrog with 8.8 kT/ns would heat by 2 d tau T = 0.53 K, and one with 7.8 by 0.47 K."""
    drift_at = {7.0: 0.97, 8.0: 8.8}  # of omelyan1998, whose drift is not shown to be below 8.3 at 8 fs
    answer = polhode.recommend(liquid="spce", bath="v-rescale")
    assert answer.interval[1] == pytest.approx(max(dt for dt, d in drift_at.items() if 2 * d * 1e-4 * 300 < 0.5) * 1e-15)
    weak = polhode.recommend(liquid="spce", bath="langevin", gamma="5/ps")
    assert "0.06 K for d = 1" in " ".join(answer.why().split()) and weak.dt == answer.dt


@pytest.mark.parametrize(("liquid", "dt"), [("spce", "0.0019"), ("tip4p2005", "0.0018")])
def test_velocity_rescaling_in_gromacs_has_its_lines(liquid, dt):
    answer = polhode.recommend(liquid=liquid, bath="v-rescale", code="gromacs")
    line = f"`integrator = md`, `dt = {dt}`, `tcoupl = v-rescale`, `tc-grps = System`, `tau-t = 0.1` (ps) and `ref-t = 300`"
    assert answer.sentence.startswith(f"In GROMACS write {line}, with SETTLE") and answer.method == "moser_veselov"
    notes = " ".join(answer.notes)
    assert "Leave `comm-mode` at its default" in notes and "logs half steps, which this bath holds" in notes
    assert "rises by about 0.2 kT" in notes and f"heats by {2 * 0.19 * 1e-4 * 300:.1g} K" in notes


def test_grompp_must_find_velocities():
    said = " ".join(polhode.recommend(liquid="spce", code="gromacs").notes)
    assert "grompp drops it unless the file of `-c` has velocities: it must print `Verlet buffer for a tolerance`" in said


def test_a_code_is_asked_for_what_it_shows(bathed_release):
    """Whole steps of a leapfrog at constant energy read 1 - w^2/6 of the temperature."""
    answer = polhode.recommend(liquid="water64", code="lammps")
    rotation, translation = (300 * (1 - rate * answer.dt**2 * 1e30 / 6) for rate in (0.012, 0.0014))
    said = " ".join(answer.notes)
    assert f"rotation {rotation:.4g} K and translation {translation:.4g} K" in said
    assert f"Add {300 - (rotation + translation) / 2:.2g} K" in said
    assert "K_half" not in answer.why() and "lj/gromacs/coul/gromacs" in answer.sentence and "PPPM" in answer.sentence


def test_lammps_is_said_what_to_do_with_a_massless_site():
    for question in ({}, {"bath": "langevin", "gamma": "1/ps"}):
        of_code = {
            code: " ".join(polhode.recommend(liquid="tip4p2005", code=code, **question).notes) for code in ("lammps", "openmm")
        }
        assert (
            "tip4p/long" in of_code["lammps"] and "tip4p" not in of_code["openmm"] and "addExtraParticles" in of_code["openmm"]
        )


def test_tables_and_intervals_are_in_femtoseconds(bathed_release):
    for question in ({}, {"bath": "langevin", "gamma": "1/ps"}):
        answer = polhode.recommend(liquid="water64", **question)
        low, high = (re.escape(f"{step * 1e15:.3g} fs") for step in answer.interval)
        assert re.match(rf"Interval: (up to )?{low}\b.* {high}\b", answer.interval_means)
        assert re.search(rf"\(exact_rotor\) +{answer.dt * 1e15:.4g} ", answer.why()) and "dt (fs)" in answer.why()


def test_the_length_of_a_run_is_its_drift(release):
    assert polhode.recommend(liquid="water64", length="50ns").asked["drift"] == pytest.approx(2e-4)
    assert polhode.recommend(liquid="water64", length=50e-9).dt == polhode.recommend(liquid="water64", drift=2e-4).dt


@pytest.mark.parametrize(
    "question, message",
    [
        ({"bath": "nose", "gamma": "1/ps"}, "bath must be langevin, nose-hoover or v-rescale, got 'nose'"),
        ({"bath": np.zeros((1, 2)), "gamma": "1/ps"}, "bath must be langevin, nose-hoover or v-rescale, got"),
        ({"bath": "v-rescale", "gamma": "1/ps"}, "gamma belongs to the bath langevin; leave it out: velocity rescaling has a"),
        ({"bath": "v-rescale", "bias": 0.0}, "bias must be positive"),
        (
            {"bath": "v-rescale", "bias": 1e-9},
            "not shown of any method that velocity rescaling holds the temperature to 1e-09 K",
        ),
        ({"bath": "v-rescale", "code": "lammps"}, "excludes `fix shake`; take `bath` nose-hoover there"),
        ({"bath": "v-rescale", "code": "OpenMM"}, "got 'OpenMM'; OpenMM 8.6 has no integrator with it; take `bath` langevin"),
        ({"bath": "v-rescale", "code": "amber"}, "got 'amber'; leave it out for another one"),
        ({"bath": "v-rescale", "length": "10ns"}, "the length does not matter, as the bath takes the drift out"),
        ({"bath": "nose-hoover", "code": "openmm"}, "its NoseHooverIntegrator was not run; take `bath` langevin there"),
        ({"bath": "nose-hoover", "gamma": "1/ps"}, "gamma belongs to the bath langevin; leave it out"),
        ({"bath": "nose-hoover", "bias": 2.0}, "bias belongs to the bath langevin; leave it out"),
        ({"bath": "nose-hoover", "code": "gromacs"}, "got 'gromacs'; its chains were not run; take `bath` v-rescale there"),
        ({"bath": "langevin"}, "gamma is missing: the friction, with its unit, as in 1/ps"),
        ({"bath": "langevin", "gamma": "soon"}, "gamma must be a rate with its unit, as in 1/ps, got 'soon'"),
        ({"bath": "langevin", "gamma": "1e/ps"}, "gamma: '1e' is no number"),
        ({"bath": "langevin", "gamma": "-1/ps"}, "gamma must be positive and finite"),
        ({"bath": "langevin", "gamma": "1/ps", "bias": -1.0}, "bias must be positive"),
        ({"bath": "langevin", "gamma": "1/ps", "drift": 0.1}, "drift belongs to runs at constant energy"),
        (
            {"bath": "langevin", "gamma": "1/ps", "length": "10ns"},
            "the length does not matter, as the bath takes the drift out",
        ),
        ({"bath": "langevin", "gamma": "1/ps", "code": "AMBER"}, "must be LAMMPS, GROMACS or OpenMM in a heat bath"),
        ({"bath": "langevin", "gamma": "1/ps", "bias": 1e-9}, "not shown of any method that a friction of 1/ps"),
        ({"gamma": "1/ps"}, "gamma belongs to a run in a heat bath"),
        ({"length": "10ns", "drift": 0.1}, "say the same"),
        ({"length": "long"}, "length must be a time with its unit, as in 10ns, got 'long'"),
        ({"length": "-1ns"}, "length must be positive"),
    ],
)
def test_what_cannot_be_asked_of_a_bath_is_said(bathed_release, question, message):
    with pytest.raises(AdviceError, match=re.escape(message)):
        polhode.recommend(liquid="water64", **question)


def test_evidence_in_a_bath_has_runs_of_the_nearest_friction(bathed_release):
    """The readings of 1/ps for 2/ps, in words."""
    runs = bath_runs.BathRuns(read_dataset(HOME / files.RELEASED / bath_runs.RELEASED))
    hotter = runs.ladder("water64", "BAOAB", 1.0)[4.0].biases(runs.truth("water64"))["rotation"]
    said = " ".join(polhode.recommend(liquid="spce", bath="langevin", gamma="2/ps").why().split())
    assert "with B A O A B and a friction of 1/ps" in said
    assert f"at 4 fs {hotter.value:+.1f} ({hotter.low:+.1f} to {hotter.high:+.1f}) K" in said


# ---- a molecule in a file ----

#: SPC/E, and its density in g/cm^3, of which water64 is.
WATER = """3
SPC/E: name x y z charge epsilon sigma
O  0.00000  0.00000  0.00000  -0.8476  0.1553  3.166
H  0.81649  0.57736  0.00000   0.4238  0.0     1.0
H -0.81649  0.57736  0.00000   0.4238  0.0     1.0
"""
DENSITY = 0.997


@pytest.mark.thorough
def test_the_libration_of_water_from_a_file_is_as_released(tmp_path):
    (tmp_path / "water.xyz").write_text(WATER)
    spectrum = read_groups(HOME / files.RELEASED / "liquids.nc")["/spectrum_water64"]
    period, words = librations.period_in_file(tmp_path / "water.xyz", DENSITY)
    assert period == pytest.approx(2 * pi / fastest(spectrum), rel=0.05)
    assert f"water.xyz: the fastest libration has a period of {period:.3g} fs" in words


def test_a_file_is_asked_as_its_period_is(bathed_release, tmp_path, monkeypatch, capsys):
    (tmp_path / "water.xyz").write_text(WATER)
    densities = []
    monkeypatch.setattr(librations, "fastest_period", lambda molecule, density: densities.append(density) or 12.0)
    answer = polhode.recommend(molecule="water.xyz", bath="langevin", gamma="1/ps")
    assert answer.dt == polhode.recommend(liquid="12fs", bath="langevin", gamma="1/ps").dt
    assert answer.evidence[0].startswith("Measured for water.xyz: the fastest libration has a period of 12 fs")
    assert cli.main(["recommend", "--molecule", "water.xyz", "--liquid-density", "0.9", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["question"]["molecule"] == "water.xyz" and densities == [1.0, 0.9]


@pytest.mark.parametrize(
    "question, message",
    [
        ({"molecule": "no.xyz"}, "molecule: .*no.xyz"),
        ({"molecule": "argon.xyz"}, "molecule: argon.xyz: an atom has no librations; give the file of a molecule"),
        ({"molecule": "argon.xyz", "liquid": "spce"}, "`liquid` and `molecule` are two questions"),
        ({"liquid": "spce", "liquid_density": 1.0}, "liquid_density belongs to the file of a `molecule`"),
        ({"molecule": "argon.xyz", "liquid_density": -1.0}, "liquid_density must be positive"),
    ],
)
def test_what_cannot_be_asked_of_a_file_is_said(release, tmp_path, question, message):
    (tmp_path / "argon.xyz").write_text("1\nname x y z charge epsilon sigma\nAr 0 0 0 0 0.24 3.4\n")
    with pytest.raises(AdviceError, match=message):
        polhode.recommend(**question)
