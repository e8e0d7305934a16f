"""Liquids of rigid molecules: energies and forces against known numbers and a plain sum, runs, states, errors."""

import re
from dataclasses import replace
from itertools import combinations
from math import inf

import mpmath
import numpy as np
import pytest
from same_bits import both_ways

import polhode
from polhode import manybody
from polhode.algebra.metrics import rotation_matrix
from polhode.compiling.plain import in_plain_python
from polhode.manybody import Fluid, Molecule, State
from polhode.manybody.law import SitePair
from polhode.manybody.simulation import run
from polhode.manybody.sites import MANY
from polhode_study.chapters.liquids.run_shadow import shadow_terms

WATER, TRIMERS = manybody.scenes["water64"], manybody.scenes["trimers"]
SPCE, TRIMER = WATER.clumps[0][0], TRIMERS.clumps[0][0]
TURNED = np.array([1.0, 2.0, -3.0, 4.0]) / np.sqrt(30)
LAWS = [law for law in manybody.forces.values() if law.for_sites]
DIOXIDE = Molecule.of_sites(
    "dioxide",
    positions=[[0, 0, 0], [1.16, 0, 0], [-1.16, 0, 0]],
    masses=[12.0, 16.0, 16.0],
    charges=[0.7, -0.35, -0.35],
    epsilon=[0.05, 0.16, 0.16],
    sigma=[2.8, 3.05, 3.05],
)


def open_box(fluid, *molecules):
    return replace(fluid, molecules=molecules, box=inf, states=())


def at_rest(r, q):
    still = np.zeros((len(r), 3))
    return State(np.array(r, float), still, np.array(q, float), still.copy())


def loads(fluid, state):
    """Potential energy, forces (lab) and torques (body), from a step so short that velocities are loads times half of it."""
    dt = 1e-6
    masses, moments = fluid.setup.masses, np.array([molecule.body().inertia for molecule in fluid.every_molecule])
    done = run(fluid, polhode.methods["no_squish"], dt, state, np.array([0, 1]), record=True)
    rows = done["motion"][1]
    force, torque = rows[:, 3:6] * masses[:, None] / dt, rows[:, 10:13] * moments / dt
    energy = fluid.units.energy
    return done["energies"][0, 1] * energy, force * energy, torque * energy


@pytest.mark.thorough
@pytest.mark.parametrize(
    "fluid, r, energy, force, torques",
    [
        (
            WATER,
            (2.6, 1.1, -0.7),
            11.4092023222436252,
            (22.7682903349173029, 4.28067631857516823, -15.5431947300274109),
            [
                (10.4804212775649734, -14.5358467507442055, 8.97161677560761486),
                (3.62061950246256079, -9.93865631288495083, 4.94374416450598088),
            ],
        ),
        (TRIMERS, (1.1, 0.5, 0.9), 37.3838422837504962, (616.607372330368147, 194.816406525281701, 233.91004252326778), None),
    ],
)
def test_two_molecules_agree_with_an_independent_code(fluid, r, energy, force, torques):
    pair = open_box(fluid, (fluid.clumps[0][0], 2))
    state = at_rest([(0, 0, 0), r], [(1, 0, 0, 0), TURNED])
    potential, forces, in_body = loads(pair, state)
    assert potential == pytest.approx(energy, rel=1e-13)
    assert forces[1] == pytest.approx(np.array(force), rel=1e-8)  # a difference of velocities
    assert forces[0] == pytest.approx(-forces[1], rel=1e-8)
    if torques:
        in_lab = np.einsum("nij,nj->ni", rotation_matrix(state.q), in_body)
        assert in_lab == pytest.approx(np.array(torques), rel=1e-8)


@pytest.mark.thorough
def test_the_stored_water_has_its_published_energies():
    start = manybody.simulate(WATER, "no_squish", 1.0, t_end=1.0, samples=1).isel(time=0)
    assert float(start.potential) == pytest.approx(-678.150359974076, abs=1e-10)
    assert float(start.kinetic_translation) == pytest.approx(59.7025312188, rel=1e-8)  # to the digits of the units
    assert float(start.kinetic_rotation) == pytest.approx(55.8870136458, rel=1e-8)
    _, forces, _ = loads(WATER, replace(WATER.initial_state(0), v=np.zeros((64, 3)), omega=np.zeros((64, 3))))
    assert (forces**2).sum() == pytest.approx(9470.02872971, rel=1e-7)


def plain_potential(fluid, state):
    """The potential energy by a sum over all pairs of sites, with the law's kernels as plain Python."""
    turns, law, units = rotation_matrix(state.q), fluid.force_law, fluid.units
    bodies = [(m, state.r[i] + m.sites @ turns[i].T) for i, m in enumerate(fluid.every_molecule)]
    energy = 0.0
    for (first, at_one), (second, at_two) in combinations(bodies, 2):
        away = at_one[:, None] - at_two
        if fluid.box < inf:
            away -= fluid.box * np.round(away / fluid.box)
        squares = (away**2).sum(-1)
        for a, b in np.argwhere(squares < fluid.cutoff**2):
            epsilon, charge = (
                np.sqrt(first.epsilon[a] * second.epsilon[b]),
                first.charges[a] * second.charges[b] * units.coulomb,
            )
            constants = law.constants_of(SitePair(epsilon, (first.sigma[a] + second.sigma[b]) / 2, charge))
            if epsilon > 0:
                energy += in_plain_python(law.lennard_jones)(float(squares[a, b]), constants)[1]
            if charge != 0:
                energy += in_plain_python(law.coulomb)(float(squares[a, b]), constants)[1]
    return energy


def mixture(law):
    molecules = ((SPCE, 5), (DIOXIDE, 4), (Molecule.of_sites("argon", [[0, 0, 0]], [39.9], [0.0], [0.24], [3.4]), 3))
    return replace(
        WATER, key="mixture", molecules=molecules, box=9.5, states=(), law=law.with_parameters(cutoff=4.7, inner=2.0)
    )


@pytest.mark.thorough
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.key)
def test_mixtures_have_plain_sums_and_slopes(law):
    fluid = mixture(law)
    state = fluid.initial_state(3)
    state = replace(state, v=np.zeros_like(state.v), omega=np.zeros_like(state.omega))
    potential, forces, torques = loads(fluid, state)
    assert potential == pytest.approx(plain_potential(fluid, state), rel=1e-12)
    size = np.abs(forces).max()
    if law.onset > 0:  # with a jump at the cut-off differences may cross it
        for molecule, axis in ((0, 0), (6, 1), (11, 2)):
            ends = []
            for sign in (1, -1):
                r = state.r.copy()
                r[molecule, axis] += sign * 1e-4
                ends.append(plain_potential(fluid, replace(state, r=r)))
            assert forces[molecule, axis] == pytest.approx((ends[1] - ends[0]) / 2e-4, abs=1e-6 * size)
    # None about the line of a linear molecule, and on an atom.
    assert np.abs(torques[5:9, 0]).max() < 1e-12 * size and not torques[9:].any()
    assert np.abs(forces.sum(0)).max() < 1e-7 * size


CHARGED = Molecule.of_sites(
    "charged",
    [[0, 0, 0], [0.6, 0, 0], [0, 0.7, 0]],
    [1.0, 0.5, 0.5],
    [0.6, -0.3, -0.3],
    [1.0, 0, 0.2],
    [1.0, 0, 0.8],
    units="lj",
)
#: Its first site acts on the first sites of others alone, as none of the three has both charge and epsilon.
APART = Molecule.of_sites(
    "apart",
    [[0, 0, 0], [0.6, 0, 0], [0, 0.7, 0]],
    [1.0, 0.5, 0.5],
    [0.0, -0.3, 0.3],
    [1.0, 0, 0],
    [1.0, 0, 0],
    units="lj",
)
PAIR_OF_SITES = Molecule.of_sites("pair", [[0, 0, 0], [0.5, 0, 0]], [1.0, 1.0], [0.2, -0.2], [0.5, 0.5], [0.9, 0.9], units="lj")


def many(number=400, kinds=((CHARGED, 0.6), (PAIR_OF_SITES, 0.4)), density=0.329, cutoff=2.5, seed=0):
    """A liquid of so many molecules in random order, some of them whole boxes away; planes of its lattice lie on faces."""
    shares = [(molecule, round(share * number)) for molecule, share in kinds]
    law = manybody.forces["shifted_power"].with_parameters(cutoff=cutoff, inner=0.7 * cutoff)
    fluid = replace(TRIMERS, key="many", molecules=tuple(shares), box=(number / density) ** (1 / 3), states=(), law=law)
    generator, lattice = np.random.default_rng(seed), fluid.initial_state(seed)
    kind = np.repeat(range(len(shares)), [count for _, count in shares])
    order = np.lexsort((generator.random(len(kind)), kind))
    r, v, q, omega = (getattr(lattice, name)[order] for name in ("r", "v", "q", "omega"))
    boxes = generator.integers(-2, 3, r.shape) + 0.5
    return fluid, State(r - r[0] + fluid.box * boxes, v, q, omega)


def by_list(fluid, state, steps=40, dt=0.004):
    return both_ways(fluid, "no_squish", dt, state, np.array([0, steps]))


@pytest.mark.parametrize("skin", [0.01, 0.08, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_no_bit_depends_on_the_list_of_many_molecules(skin, seed, monkeypatch):
    monkeypatch.setattr("polhode.manybody.sites.UNIT_OF_MARGINS", skin)
    which = [{}, {"kinds": ((TRIMER, 1.0),), "density": 0.2}, {"kinds": ((APART, 0.7), (TRIMER, 0.3)), "density": 0.2}][seed]
    fluid, state = many(seed=seed, number=MANY + 100 * (seed + 2), **which)
    done = by_list(fluid, state)
    assert done["diverged"] < 0 and done["work"][0] >= 3  # made, and made once more
    cells = np.floor(done["motion"][:, :, :3] / fluid.box + 0.5)
    assert (cells[0] != cells[-1]).any()  # molecules have crossed faces of the box


@pytest.mark.thorough
def test_a_list_gives_the_energy_of_a_plain_sum():
    fluid, state = many()
    done = by_list(fluid, state)
    assert done["work"][0] >= 3
    r, v, q, omega = np.split(done["motion"][-1], [3, 6, 10], axis=1)
    assert done["energies"][-1, 1] == pytest.approx(plain_potential(fluid, State(r, v, q, omega)), rel=1e-11)


@pytest.mark.parametrize("number, cutoff, listed", [(MANY + 100, 3.1, True), (MANY + 300, 4.9, False)])
def test_no_bit_depends_on_a_list_in_a_small_box(number, cutoff, listed):
    """In which a molecule nearly sees two images of a site, or does."""
    fluid, state = many(number=number, cutoff=cutoff, seed=4)
    reach = max(molecule.reach for molecule, _ in fluid.clumps)
    assert (fluid.cutoff + 2 * reach < fluid.box / 2) == listed == (by_list(fluid, state)["work"][0] > 2)


def test_a_list_is_not_made_where_it_saves_nothing():
    fluid, state = many(number=MANY + 16, cutoff=4.3)
    assert fluid.cutoff > 0.49 * fluid.box and by_list(fluid, state, steps=10)["work"][0] <= 2
    few, state = many(number=MANY - 1)
    assert by_list(few, state, steps=10)["work"][0] == 1


def test_a_run_with_lists_diverges_where_it_diverges_without():
    fluid, state = many()
    assert all(by_list(fluid, state, steps=60, dt=dt)["diverged"] >= 0 for dt in (0.1, 10.0))


def test_a_run_of_many_molecules_goes_on_with_the_same_bits():
    fluid, state = many()

    def end(**how):
        run = manybody.simulate(fluid, "no_squish", 0.004, t_end=0.2, record=True, **how)
        return [run[name].values[-1].tobytes() for name in ("r", "v", "q", "omega", "energy")]

    half = manybody.simulate(fluid, "no_squish", 0.004, t_end=0.1, samples=1, state=state, checkpoint=True)
    assert end(state=half, samples=1) == end(state=state, samples=25) == end(state=state, samples=1)


def test_the_smooth_law_ends_with_two_derivatives():
    law = manybody.forces["shifted_power"].with_parameters(cutoff=6.2, inner=4.5)
    mpmath.mp.dps = 40
    constants = tuple(map(mpmath.mpf, law.constants_of(SitePair(0.3, 3.1, -2.0))))

    def energy(kernel, r):
        inverse, x = 1 / r**2, max(r - (constants[5] if kernel == "lj" else constants[10]), 0)
        first, (a, b, c) = (
            (constants[0] * inverse**6 - constants[1] * inverse**3, constants[2:5])
            if kernel == "lj"
            else (constants[6] / r, constants[7:10])
        )
        return first + a * x**3 / 3 + b * x**4 / 4 + c

    for kernel, function in (("lj", law.lennard_jones), ("charges", law.coulomb)):
        for order in range(3):
            assert abs(mpmath.diff(lambda r, k=kernel: energy(k, r), mpmath.mpf("6.2"), order)) < 1e-15
        for r in (2.9, 4.4, 5.3, 6.1):
            slope, value = in_plain_python(function)(r * r, tuple(map(float, constants)))
            assert value == pytest.approx(float(energy(kernel, mpmath.mpf(r))), rel=1e-12, abs=1e-15)
            assert -slope * r == pytest.approx(float(mpmath.diff(lambda x, k=kernel: energy(k, x), r)), rel=1e-10)


@pytest.mark.parametrize("key", ["no_squish", "magnus_adams4"])
def test_no_bit_of_a_run_depends_on_how_it_is_done(key):
    def bits(**how):
        run = manybody.simulate(TRIMERS, key, 0.01, t_end=0.3, record=True, **how)
        return {name: run[name].values[-1].tobytes() for name in ("r", "v", "q", "omega", "energy")}

    expected = bits(samples=1)
    assert bits(samples=1, brute_force=True) == bits(samples=30) == expected
    half = manybody.simulate(TRIMERS, key, 0.01, t_end=0.15, samples=1, checkpoint=True)
    assert bits(samples=1, state=half) == expected


def test_good_methods_conserve_and_jumps_at_the_cut_off_do_not():
    good = manybody.simulate(WATER, "exact_rotor", 1.0, t_end=200.0, samples=20)
    assert abs(good.energy_change).max() < 2e-3 and abs(good.momentum).max() < 1e-10
    per_freedom = (good.energy - good.energy[0]) / (6 * 64 * 0.0019872067 * 300)
    assert good.energy_change.values == pytest.approx(per_freedom.values, abs=1e-15) and "lost_at" not in good.attrs
    jumps = manybody.simulate(WATER, "exact_rotor", 1.0, t_end=200.0, samples=20, law="shifted_energy")
    assert abs(jumps.energy_change).max() > 10 * abs(good.energy_change).max()
    lost = manybody.simulate(WATER, "euler", 4.0, t_end=1400.0, samples=50)
    assert lost.attrs["lost_by"] == "heating" and 400 < lost.attrs["lost_at"] <= 1400


def test_further_seeds_draw_velocities_of_the_temperature():
    states = [WATER.initial_state(seed) for seed in (0, 2, 4)]
    assert (states[0].r == states[1].r).all() and (states[1].v != states[2].v).all()
    starts = [manybody.simulate(WATER, "no_squish", 1.0, seed=s, t_end=1.0, samples=1).isel(time=0) for s in range(2, 12)]
    for name in ("translation", "rotation"):
        assert np.mean([float(start[f"temperature_{name}"]) for start in starts]) == pytest.approx(300, abs=4 * 300 / 43)
    assert np.abs((WATER.setup.masses[:, None] * states[1].v).sum(0)).max() < 1e-12


def test_a_user_s_fluid_starts_on_a_lattice_and_is_saved(tmp_path):
    fluid = Fluid(
        key="gas", label="carbon dioxide", molecules=((DIOXIDE, 27),), box=20.0, temperature=300.0, horizon=1000.0,
        law=manybody.forces["shifted_power"].with_parameters(cutoff=9.0, inner=7.0),
    )  # fmt: skip
    state = fluid.equilibrated(100.0, 2.0, draws=5)
    assert not state.omega[:, 0].any()
    fluid.save_state(tmp_path / "state.npz", state)
    read = replace(fluid, states=(tmp_path / "state.npz",)).initial_state(0)
    assert np.abs(read.r - state.r).max() < 1e-14 and (read.omega == state.omega).all()
    run = manybody.simulate(fluid, "exact_rotor", 2.0, t_end=100.0, samples=2, state=state, record=True)
    assert not run.omega[..., 0].any() and abs(run.energy_change).max() < 0.05


@pytest.mark.parametrize("values", [{"inner": 5.0}, {"inner": 4.6}, {"inner_charges": 5.0}])
def test_forces_end_behind_their_inner_distance(values):
    with pytest.raises(ValueError, match=f"inner_charges must be less than the cutoff, 4.6, got {min(values.values()):g}"):
        manybody.forces["shifted_power"].with_parameters(cutoff=4.6, **values)


def test_states_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(ValueError, match="its box is"):
        replace(WATER, box=13.0).initial_state(0)
    with pytest.raises(ValueError, match="law must be one between sites"):
        manybody.simulate(WATER, "no_squish", 1.0, t_end=1.0, law="hertz")
    np.savez(tmp_path / "bad.npz", r=np.zeros((64, 3)), L=WATER.box)
    with pytest.raises(ValueError, match="no array 'v'"):
        replace(WATER, states=(tmp_path / "bad.npz",)).initial_state(0)
    whole = {"r": np.zeros((64, 3)), "v": np.zeros((64, 3)), "q": np.eye(4)[[0] * 64], "w": np.zeros((64, 3)), "L": WATER.box}
    path = tmp_path / "state.npz"
    for changes, message in (
        ({"r": np.array([None])}, "cannot be read (ValueError: Object arrays"),
        ({"r": np.array(["a"])}, "r must be numbers, an array (n, 3)"),
        ({"v": np.full((64, 3), np.nan)}, "v must be finite; row 0 is not"),
        ({"q": 2 * whole["q"]}, "q[0] is not a unit quaternion"),
        ({"L": "a"}, "L, the edge of the box, must be a number"),
        ({"L": np.zeros(3)}, "L, the edge of the box, must be a number"),
        ({"L": 0.0}, "L, the edge of the box, must be positive"),
    ):
        np.savez(path, **whole | changes)
        with pytest.raises((TypeError, ValueError), match=re.escape(f"state.npz: {message}")):
            WATER.read_state(path)
    np.savez(path, **whole)
    assert not WATER.read_state(path).omega.any()
    for damaged in (path.read_bytes()[:900], b"hello", b""):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"state\.npz: (cannot be read|is no npz file).*the arrays r, v, q, omega and L"):
            WATER.read_state(path)
    with pytest.raises(FileNotFoundError, match=r"state file nowhere\.npz does not exist"):
        replace(WATER, states=("nowhere.npz",)).initial_state(0)
    state = WATER.initial_state(0)
    with pytest.raises(ValueError, match="64 rows of 3"):
        manybody.simulate(WATER, "no_squish", 1.0, t_end=1.0, state=replace(state, v=state.v[:5]))


def test_too_many_molecules_are_refused_before_the_lattice():
    many = replace(WATER, molecules=((SPCE, 10**9),), states=())
    with pytest.raises(
        manybody.BoxTooFull, match=r"of all 1000000000 molecules would take \S+e\+08 % of the volume of the box"
    ):
        many.initial_state(0)
    with pytest.raises(ValueError, match="has 1000000000 molecules; at most 10,000,000 can be simulated"):
        replace(many, box=1e6).initial_state(0)


def test_the_shadow_energy_is_conserved_to_fourth_order():
    def scatter(dt):
        run = manybody.simulate(TRIMERS, "exact_rotor", dt, t_end=0.8, samples=25, record=True)
        motions = np.concatenate([run[name].values for name in ("r", "v", "q", "omega")], -1)
        energy = run["energy"].values
        return energy.std(), (energy + [shadow_terms(TRIMERS, motion, dt) for motion in motions]).std()

    (coarse, coarse_shadow), (fine, fine_shadow) = scatter(0.016), scatter(0.008)
    assert np.log2(coarse / fine) == pytest.approx(2, rel=0.1) and np.log2(coarse_shadow / fine_shadow) > 3.6
    assert fine > 50 * fine_shadow


def test_another_law_takes_over_the_parameters_of_both():
    law = WATER.force_law
    fewer = {name: parameter for name, parameter in law.parameters.items() if name != "inner"}

    def constants(pair, values):
        return law.constants(pair, {**values, "inner": 0.9 * values["cutoff"]})

    plain = WATER.with_law(replace(law, key="plain", parameters=fewer, constants=constants, values={"cutoff": 6.0}))
    assert plain.with_law("reaction_field").force_law.value("cutoff") == 6.0
    assert WATER.with_law("reaction_field").force_law.value("inner") == law.value("inner")
