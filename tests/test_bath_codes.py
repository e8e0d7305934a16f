"""Water in the baths of LAMMPS, OpenMM and GROMACS: what is written for them, how runs are read, the released tables."""

import re
import sys
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from polhode import manybody
from polhode_engines import worker
from polhode_engines.liquids import flow
from polhode_study.documentation import baths

HOME = Path(__file__).parents[1]
RELEASED = HOME / "data" / "released"
sys.path.insert(0, str(HOME / "benchmarks"))
import bath_codes  # noqa: E402
from bath_sides import kinetic_energies  # noqa: E402

WATER = manybody.scenes["water64"]
MASSES = WATER.clumps[0][0].masses
#: Energies of the first state of ``water64``, kcal/mol: of LAMMPS, from the velocities of its atoms.
POTENTIAL, TRANSLATION, ROTATION = -678.150359974076, 59.7025312188, 55.8870136458


def pairs(x, box):
    """Distances of all pairs of sites, which sites, and whether they belong to one molecule; x is (molecules, 3, 3)."""
    flat = x.reshape(-1, 3)
    i, j = np.triu_indices(len(flat), 1)
    apart = flat[i] - flat[j]
    return np.linalg.norm(apart - box * np.round(apart / box), axis=1), i % 3, j % 3, i // 3 == j // 3


def test_kinetic_energies_are_those_of_rigid_molecules():
    x, v = bath_codes.atoms(WATER)
    wrapped = x - WATER.box * np.floor(x / WATER.box)
    assert abs(wrapped - x).max() > 1, "no site has crossed the box"
    for places in (x, wrapped):
        np.testing.assert_allclose(kinetic_energies(places, v, MASSES, WATER.box), [TRANSLATION, ROTATION, 0], atol=1e-9)
    # A stretch of the first bond, with no momentum, is neither translation nor rotation.
    axis = (x[0, 1] - x[0, 0]) / np.linalg.norm(x[0, 1] - x[0, 0])
    stretched = v.copy()
    stretched[0, :2] += 1e-3 * np.array([-1 / MASSES[0], 1 / MASSES[1]])[:, None] * axis
    more = kinetic_energies(x, stretched, MASSES, WATER.box)
    np.testing.assert_allclose(more[:2], [TRANSLATION, ROTATION], atol=1e-9)
    assert more[2] == pytest.approx(48.88821291**2 * 0.5e-6 * (1 / MASSES[0] + 1 / MASSES[1]), rel=1e-9)


def test_the_expression_for_openmm_has_the_energy_of_lammps():
    energy, *definitions = bath_codes.energy_of_pairs(WATER).replace("^", "**").replace("max(", "np.maximum(").split(";")
    molecule = WATER.clumps[0][0]
    r, i, j, is_within = pairs(bath_codes.atoms(WATER)[0] / 10, WATER.box / 10)
    values = {"np": np, "sqrt": np.sqrt, "r": r}
    for name, column in (("charge", molecule.charges), ("sigma", molecule.sigma / 10), ("epsilon", molecule.epsilon * 4.184)):
        values |= {f"{name}1": np.asarray(column)[i], f"{name}2": np.asarray(column)[j]}
    for definition in definitions:
        name, _, expression = definition.strip().partition("=")
        values[name] = eval(expression, values)
    total = np.where(is_within | (r > 0.62), 0, eval(energy, values)).sum()
    assert total / 4.184 == pytest.approx(POTENTIAL, abs=1e-8)


def test_gromacs_gets_the_state_and_its_forces():
    """By the formulas of its manual the files have the potential energy that GROMACS reports, in single precision."""
    files = bath_codes.gromacs_files(WATER, "sd", 4.0, 1000, 10)
    mdp = dict(line.split(" = ") for line in files["run.mdp"].splitlines())
    assert (mdp["integrator"], mdp["dt"], mdp["tau-t"], mdp["comm-mode"]) == ("sd", "0.004", "1.0", "None")
    other = bath_codes.gromacs_files(WATER, "v-rescale", 4.0, 1000, 10)["run.mdp"]
    assert "integrator = md\n" in other and "tcoupl = v-rescale\n" in other and "comm-mode = Linear\n" in other
    rows = files["start.gro"].splitlines()
    numbers = np.array([[float(number) for number in re.findall(r"-?\d+\.\d+", row[20:])] for row in rows[2:-1]])
    x, v = bath_codes.atoms(WATER)
    np.testing.assert_allclose(numbers[:, :3].reshape(x.shape), x / 10, atol=1e-10)
    np.testing.assert_allclose(numbers[:, 3:].reshape(v.shape), v * 100, atol=1e-11)
    top = files["topol.top"].splitlines()
    arms = [float(word) for word in top[top.index("[ settles ]") + 1].split()[2:]]
    within = np.linalg.norm(numbers[:3, None, :3] - numbers[None, :3, :3], axis=-1)
    np.testing.assert_allclose([within[0, 1], within[0, 2], within[1, 2]], [arms[0], arms[0], arms[1]], atol=1e-9)
    atoms = [top[top.index("[ atoms ]") + 1 + k].split() for k in range(3)]
    kinds = {words[0]: words for words in (top[top.index("[ atomtypes ]") + 1 + k].split() for k in range(3))}
    charge = np.array([float(words[-1]) for words in atoms])
    sigma, epsilon = np.array([[float(word) for word in kinds[words[1]][-2:]] for words in atoms]).T
    cutoff, switch = float(mdp["rcoulomb"]), float(mdp["rvdw-switch"])
    r, i, j, is_within = pairs(numbers[:, :3].reshape(-1, 3, 3), float(rows[-1].split()[0]))
    charges, squared = 138.935458 * charge[i] * charge[j], r**2 / (2 * cutoff**3)
    coulomb = np.where(is_within, charges * squared, charges * (1 / r + squared - 1.5 / cutoff))
    energy = coulomb
    for sign, power in ((1, 12), (-1, 6)):
        w = cutoff - switch
        a = -power * ((power + 4) * cutoff - (power + 1) * switch) / (cutoff ** (power + 2) * w**2)
        b = power * ((power + 3) * cutoff - (power + 1) * switch) / (cutoff ** (power + 2) * w**3)
        c = cutoff**-power - a / 3 * w**3 - b / 4 * w**4
        past = np.maximum(r - switch, 0)
        scale = 4 * np.sqrt(epsilon[i] * epsilon[j]) * ((sigma[i] + sigma[j]) / 2) ** power
        energy = energy + ~is_within * sign * scale * (r**-power - a / 3 * past**3 - b / 4 * past**4 - c)
    table = pd.read_csv(RELEASED / "bath_codes.csv")
    reported = table[table["code"] == "GROMACS"]["potential_at_start"]
    np.testing.assert_allclose(np.where(r < cutoff, energy, 0).sum() / 4.184 / 64, reported, atol=1e-4)


@pytest.mark.parametrize(
    ("bath", "words"),
    [
        ("rigid/small langevin", "rigid/small molecule langevin 300 300 1000 17"),
        ("rigid/nvt/small", "rigid/nvt/small molecule temp 300 300 100"),
        ("shake langevin", "langevin 300 300 1000 17"),
        ("rattle nvt", "nvt temp 300 300 100"),
    ],
)
def test_lammps_gets_the_bath_with_the_fix(tmp_path, bath, words):
    adapter = worker.load(HOME / "src/polhode_engines/adapters/lammps.py").Adapter()
    case = SimpleNamespace(**asdict(flow(WATER, WATER.initial_state(0), 2.0, [])))
    commands = []
    option, _, word = bath.partition(" ")
    engine = SimpleNamespace(command=commands.append)
    adapter.fill(engine, tmp_path / "liquid", option, case, 2.0, bath_codes.WORDS[word])
    fixes = [line for line in commands if line.startswith("fix ")]
    of_atoms = {
        "shake": ["fix langevin all ", "fix nve all nve", "fix shake all shake"],
        "rattle": ["fix nvt all ", "fix rattle"],
    }
    starts = of_atoms.get(option, ["fix rigid all "])
    assert all(line.startswith(start) for line, start in zip(fixes, starts, strict=True)) and fixes[0].endswith(f"all {words}")
    assert "192 atoms" in (tmp_path / "liquid").read_text()
    adapter.fill(engine, tmp_path / "liquid", option, case, 2.0)
    assert commands[-4].startswith(f"fix {option}" if option in of_atoms else f"fix rigid all {option} molecule")


def test_a_row_counts_the_degrees_of_freedom():
    """Kinetic energies of 300 K and of 330 K; only Nose-Hoover chains and velocity rescaling keep the momentum."""
    kt = WATER.units.boltzmann * 300 / 2
    reading = np.tile([64 * -10.0, 301.0, 3 * 64 * kt, 3.3 * 64 * kt, 0.0], (401, 1))
    reading[0, 0] = 64 * -9.0
    for bath, factor in (("sd", 1), ("v-rescale", 64 / 63)):
        row = bath_codes.row_of(WATER, "GROMACS", bath, 2.0, 1.0, bath_codes.Readings(reading, np.zeros(1), "1"))
        np.testing.assert_allclose(row["temperature_translation"], 300 * factor, atol=1e-3)
        np.testing.assert_allclose([row["temperature_rotation"], row["reported"]], [330, 301], atol=1e-3)
        assert (row["potential"], row["potential_at_start"], row["law"]) == (-10, -9, "reaction_field")


def test_the_excess_is_counted_from_the_start_and_the_law():
    kt = WATER.units.boltzmann * 300
    rows = [
        ("polhode", "BAOAB", 1.0, "shifted_power", -10.0, -9.0, 0.3),
        ("polhode", "BAOAB", 1.0, "reaction_field", -8.0, -9.5, 0.3),
        ("GROMACS", "sd", 1.0, "reaction_field", -10.0, -11.5 - kt, 0.4),
    ]
    columns = ["code", "bath", "dt", "law", "potential", "potential_at_start", "potential_error"]
    runs = baths.with_excess(pd.DataFrame(rows, columns=columns))
    np.testing.assert_allclose(runs["excess"], [0, 0, 1], atol=1e-12)
    assert runs["excess_error"][2] == pytest.approx(0.5 / kt)


def test_the_released_rows_say_what_the_page_says():
    """All codes begin with our potential energy; LAMMPS' Langevin alone heats the places, its chains alone show too little."""
    runs = baths.with_excess(pd.read_csv(RELEASED / "bath_codes.csv"))
    assert not runs.duplicated(["code", "bath", "law", "dt"]).any() and runs.notna().all(axis=None)
    of_water = runs[runs["law"] == "shifted_power"]
    np.testing.assert_allclose(of_water["potential_at_start"], POTENTIAL / 64, atol=2e-5)
    long = runs[runs["dt"] >= 4].set_index("bath")
    assert set(long.index) > {"rigid/small langevin", "rigid/nvt/small", "LangevinMiddleIntegrator", "sd", "v-rescale"}
    deviations = long["excess"] / long["excess_error"]
    heats, cools = long.index.isin(["rigid/small langevin", "shake nvt"]), long.index.isin(["rattle nvt"])
    assert (deviations[heats] > 2).all() and (deviations[cools] < -10).all()
    assert (abs(deviations[~heats & ~cools]) < 3.3).all()
    off = (long["reported"] - 300) / long["reported_error"]
    assert ((off < -4) == (long.index == "rigid/nvt/small")).all() and ((off > 10) == (long.index == "rattle langevin")).all()


def test_the_page_has_the_numbers_of_the_released_rows():
    page = (HOME / "docs" / "baths.md").read_text(encoding="utf-8")
    for _, run in pd.read_csv(RELEASED / "bath_codes.csv").iterrows():
        side = (
            f"{run['code']} `{run['bath']}`{', reaction field' if 'polhode' in run['code'] and 'field' in run['law'] else ''}"
        )
        assert f"| {side} | {run['dt']:g} | {run['reported']:.1f} ± {run['reported_error']:.1f} | " in page
        # Velocities of these two are half a step older than the places: what is left belongs to the rotation, twice.
        rotation = run["temperature_rotation"] + 2 * run["temperature_rest"] * (run["code"] in ("OpenMM", "GROMACS"))
        assert f" | {rotation:.1f} ± {run['temperature_rotation_error']:.1f} | " in page
    for _, times in pd.read_csv(RELEASED / "bath_times.csv").iterrows():
        most = f" {times['us_per_step_most']:.0f} |" if times["molecules"] == 64 else ""
        assert f"| {times['us_per_step']:.0f} |{most}" in page


def test_the_page_says_in_words_what_the_rows_have():
    """And what follows from degrees of freedom, constraints and the moments of the molecule."""
    page = re.sub(r"\s+", " ", (HOME / "docs" / "baths.md").read_text(encoding="utf-8")).replace("−", "-")
    runs = baths.with_excess(pd.read_csv(RELEASED / "bath_codes.csv")).set_index(["bath", "dt"])
    hot = 300 * runs["excess"] / baths.OF_PLACES
    middle, sd = (
        f"{run['reported'] - 300:.0f} ± {run['reported_error']:.0f}"
        for run in (runs.loc["LangevinMiddleIntegrator", 6.0], runs.loc["sd", 6.0])
    )
    cold = {
        dt: f"{-hot['v-rescale', dt]:.0f} ± {300 * runs.loc[('v-rescale', dt), 'excess_error'] / baths.OF_PLACES:.0f}"
        for dt in (4.0, 6.0)
    }
    held = {bath: runs.loc[(bath, 4.0)] for bath in ("shake nvt", "rattle nvt", "rattle langevin")}
    places = {
        bath: f"{300 + hot[bath, 4.0]:.0f} ± {300 * run['excess_error'] / baths.OF_PLACES:.0f}" for bath, run in held.items()
    }
    warm = held["rattle langevin"]
    chains = {dt: runs.loc[("rigid/nvt/small", dt), "reported"] for dt in (4.0, 6.0)}
    whole, four = (300 * 6 * number / (6 * number - 3) for number in (64, 4))
    weak, strong = (300 / 8 * -np.expm1(-2 * friction * 0.004) for friction in (1, 100))
    water, sites = WATER.clumps[0][0], np.asarray(WATER.clumps[0][0].sites)
    arms = sites - np.average(sites, axis=0, weights=water.masses)
    moments = np.linalg.eigvalsh(np.einsum("i,ij,ik->jk", water.masses, arms, arms))
    first, second, third = sorted(moments.sum() - moments)
    for text in (
        f"while the places of the molecules are {hot['rigid/small langevin', 6.0]:.0f} K too hot",
        f"it shows {300 - chains[6.0]:.0f} K too little while",
        f"read {middle} and {sd} K more than the bath",
        f"the log shows {chains[4.0]:.0f} K for 300 K there",
        f"the log shows {whole:.1f} K for 300 K, because",
        f"{four:.0f} K for four, and {whole:.1f} K for 64",
        f"{weak:.1f} K at 1/ps and 4 fs, {strong:.0f} K at 100/ps",
        f"by {cold[4.0]} K at 4 fs, by {cold[6.0]} K at 6 fs",
        f"the places are {cold[4.0]} K colder at 4 fs, {cold[6.0]} K at 6 fs",
        f"it shows {held['shake nvt']['reported']:.0f} K while the places have {places['shake nvt']} K at 4 fs",
        f"with `fix nvt` the liquid has {places['rattle nvt']} K while the log shows {held['rattle nvt']['reported']:.0f} K",
        f"shows {warm['reported']:.0f} ± {warm['reported_error']:.0f} K (64 molecules, 4 fs)",
        f"shows, {warm['temperature_rest']:.0f} K are velocities",
        f"a force of {first:.3f}, {second:.3f} and {third:.3f} kcal/mol/Å",
    ):
        assert text in page, text


def test_the_inputs_for_tip4p2005_are_the_molecule():
    """Each number by a formula of its own from the sites, charges and parameters of the library."""
    page = (HOME / "docs" / "baths.md").read_text(encoding="utf-8")
    text = page.partition("### TIP4P/2005 with its site M")[2].partition("## What your code samples")[0]
    water = manybody.molecules["tip4p2005"]
    oxygen, first, second, site = np.asarray(water.sites)
    bond, across, out = (np.linalg.norm(arm) for arm in (first - oxygen, second - first, site - oxygen))
    angle = np.arccos((first - oxygen) @ (second - oxygen) / bond**2)
    weights = np.linalg.lstsq(np.vstack([np.transpose([oxygen, first, second]), np.ones(3)]), [*site, 1], rcond=None)[0]
    charges, epsilon, sigma = (list(map(float, values)) for values in (water.charges, water.epsilon, water.sigma))
    assert np.allclose(weights @ [oxygen, first, second], site)
    for line in (
        f"4       1 2 3  1     {weights[1]:.8f}  {weights[2]:.8f}",
        f"1  1  {bond / 10:.5f}  {across / 10:.8f}",
        f"OW      8       {water.masses[0]:g}  0.0     A     {sigma[0] / 10:.5f}   {epsilon[0] * 4.184:.6f}",
        f"2  HW  1  SOL  HW1  1   {charges[1]:g}  {water.masses[1]:g}",
        f"4  MW  1  SOL  MW   1  {charges[3]:g}  {water.masses[3]:.1f}",
        f"hybrid/overlay tip4p/long 1 2 1 1 {out:.4f} 10.0 lj/gromacs 8.0 10.0",
        f"charges: O {charges[3]:g}, H {charges[1]:g}",
        f"bond_coeff       1 {bond:.4f}",
        f"angle_coeff      1 {np.degrees(angle):.2f}",
        f"mass             1 {water.masses[0]:g}",
        f"mass             2 {water.masses[2]:g}",
        f"pair_coeff       1 1 lj/gromacs {epsilon[0]:g} {sigma[0]:g}",
        f'weight1="{weights[0]:.8f}" weight2="{weights[1]:.8f}" weight3="{weights[2]:.8f}"',
        f'length="{bond / 10:.5f}"',
        f'angle="{angle:.8f}"',
        f'<Atom type="O" charge="0" sigma="{sigma[0] / 10:.5f}" epsilon="{epsilon[0] * 4.184:.6f}"/>',
        f'<Atom type="H" charge="{charges[2]:g}" sigma="1" epsilon="0"/>',
        f'<Atom type="M" charge="{charges[3]:g}" sigma="1" epsilon="0"/>',
    ):
        assert line in text, line
