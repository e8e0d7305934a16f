"""Heat baths of liquids: what they sample against the linear analysis and closed forms, the same bits, errors."""

from dataclasses import replace
from math import exp, inf, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import expm_multiply

from polhode import manybody
from polhode.algebra.body import Body
from polhode.algebra.metrics import rotation_matrix
from polhode.algebra.quaternion import rotate
from polhode.compiling import plain
from polhode.compiling.kernel import kernel
from polhode.fits import bath_runs, baths
from polhode.interface.netcdf import read_dataset, read_groups
from polhode.manybody import Fluid, Langevin, Molecule, NoseHoover, State, VelocityRescaling, rescaling
from polhode.manybody.forces.shifted_power import with_charges
from polhode.manybody.simulation import WORK
from polhode.manybody.simulation import run as run_fluid
from polhode.methods import METHODS

RELEASED = Path(__file__).parents[1] / "data" / "released"
WATER, TRIMERS = manybody.scenes["water64"], manybody.scenes["trimers"]
#: A libration about y and z, whose stiffness is 4 with charges of 1; a spin about x and a centre that are free.
STIFFNESS, TEMPERATURE, STEP, FRICTION = 4.0, 4e-5, 0.85, 0.35


@kernel
def spring(squared, constants):
    """The energy -c r^2/2 of two charges: for neutral molecules it depends on their dipoles alone."""
    return constants[6], -0.5 * constants[6] * squared


def cross(mass):
    """Masses on a cross whose longer arm is the dipole: moments 0.98, 2 and 2.98 times the mass."""
    positions = [[1, 0, 0], [-1, 0, 0], [0, 0.7, 0], [0, -0.7, 0]]
    charges = [1, -1, 0, 0]
    return Molecule.of_sites(f"cross{mass:g}", positions, [mass] * 4, charges, units="lj")


LIBRATION = Fluid(
    key="libration",
    label="a molecule that librates in the field of one that cannot turn",
    molecules=((cross(1.0), 1), (cross(1e14), 1)),
    box=inf,
    temperature=TEMPERATURE,
    horizon=1.0,
    law=with_charges("spring", "spring", "test", 0.0, spring, lambda charge, cutoff: (charge,)).with_parameters(cutoff=1e9),
)
#: The dipoles are antiparallel, and nearly nothing moves.
NEARLY_AT_REST = State(np.zeros((2, 3)), np.zeros((2, 3)), np.array([[1.0, 0, 0, 0], [0, 0, 1.0, 0]]), np.full((2, 3), 1e-12))


def run_of(fluid, method, bath, dt, steps, **options):
    return manybody.simulate(
        fluid, method, dt, t_end=dt * (steps + 0.5), samples=options.pop("samples", steps), bath=bath, **options
    )


def librations(method, bath, steps=200_000):
    """A run from rest, without its beginning."""
    ran = run_of(LIBRATION, method, bath, STEP, steps, state=NEARLY_AT_REST, record=True)
    return ran.isel(time=slice(1000, None), molecule=0)


@pytest.fixture(scope="module")
def long_runs():
    """The runs of each scheme around NO_SQUISH, by scheme."""
    return {scheme: librations("no_squish", Langevin(FRICTION, seed=1, scheme=scheme)) for scheme in baths.SCHEMES}


def measured(run):
    """Of the librations about y and z, over equilibrium: variances of the angles and of the momenta at the end of the step."""
    across = rotation_matrix(run["q"].values)[:, 0, :0:-1]  # the axis x of the lab in the body, its components z and y
    moments = np.array(LIBRATION.clumps[0][0].inertia)[1:]
    omega = run["omega"].values[:, 1:]
    return (across**2).mean(0) * STIFFNESS / TEMPERATURE, (omega**2).mean(0) * moments / TEMPERATURE


def predicted(scheme):
    moments = LIBRATION.clumps[0][0].inertia[1:]
    return [baths.stationary(scheme, STEP * sqrt(STIFFNESS / moment), FRICTION * STEP) for moment in moments]


@pytest.mark.parametrize("friction", [0.01, 0.3, 3.0])
@pytest.mark.parametrize("turn", [0.1, 1.0, 1.8])
def test_the_linear_analysis_meets_its_closed_forms(turn, friction):
    lowered = 1 - turn**2 / 4
    middle, ends = baths.stationary("BAOAB", turn, friction), baths.stationary("OBABO", turn, friction)
    np.testing.assert_allclose([middle.angle, middle.momentum, middle.middle], [1, lowered, 1], rtol=1e-9)
    np.testing.assert_allclose([ends.angle, ends.momentum], [1 / lowered, 1], rtol=1e-9)


def test_weak_friction_as_forces_heats_the_angle_as_obabo_does():
    for turn in (0.5, 1.5):
        forces = baths.stationary("LAMMPS", turn, 1e-6)
        np.testing.assert_allclose([forces.angle, forces.momentum], [1 / (1 - turn**2 / 4), 1], rtol=1e-5)


def test_whole_steps_at_constant_energy_read_too_low():
    """Twice the kinetic energy of a leapfrog on whole steps over the energy it conserves: sin(phi)/phi, sin(phi/2) = w/2."""
    for turn in (0.1, 0.3):
        angle = 2 * np.arcsin(turn / 2)
        assert baths.on_whole_steps(turn**2, 1.0) == pytest.approx(np.sin(angle) / angle, abs=turn**4 / 30)


def test_two_modes_of_one_energy_are_apart_by_the_closed_form():
    """Between the kicks a mode reads 2 tan(phi/2)/phi of it, sin(phi/2) = w/2: half of the ratio of two is above the bath."""
    slow, fast = (2 * np.tan(angle / 2) / angle for angle in 2 * np.arcsin(np.array([0.1, 0.3]) / 2))
    assert baths.apart((0.01, 0.09), 1.0) == pytest.approx((fast / slow - 1) / 2, rel=0.05)
    assert baths.longest_step((0.01, 0.09), (fast / slow - 1) / 2) == pytest.approx(1.0, rel=0.03)


def test_what_the_linear_analysis_refuses():
    with pytest.raises(ValueError, match=r"OBABO with Omega dt = 2\.1 and gamma dt = 0\.1 is unstable"):
        baths.stationary("OBABO", 2.1, 0.1)
    with pytest.raises(ValueError, match="scheme must be one of BAOAB, OBABO, LAMMPS, got 'BABO'"):
        baths.stationary("BABO", 1.0, 0.1)


@pytest.mark.parametrize("scheme", baths.SCHEMES)
def test_a_libration_has_the_variances_of_the_linear_analysis(long_runs, scheme):
    """A wrong amplitude of the noise changes them by a factor; where gamma is forgotten in one place they are off, too."""
    expected = predicted(scheme)
    angle, momentum = measured(long_runs[scheme])
    assert angle == pytest.approx([variances.angle for variances in expected], rel=0.02)
    assert momentum == pytest.approx([variances.momentum for variances in expected], rel=0.02)
    # Of the six rotations two librate; the spin of the first and the heavy molecule have no forces.
    middle = float(long_runs[scheme]["temperature_middle_rotation"].mean()) / TEMPERATURE
    free = baths.stationary(scheme, 1e-3, FRICTION * STEP).middle
    assert middle == pytest.approx((4 * free + sum(variances.middle for variances in expected)) / 6, rel=0.01)


@pytest.mark.parametrize("scheme", baths.SCHEMES)
def test_momenta_of_free_motion_decay_with_the_friction(long_runs, scheme):
    """What the linear analysis of BAOAB cannot see: exp(-gamma dt) a step, of the centre and of the spin about x."""
    run, moment = long_runs[scheme], LIBRATION.clumps[0][0].inertia[0]
    decay = exp(-FRICTION * STEP) if scheme != "LAMMPS" else 1 - FRICTION * STEP
    spin = run["omega"].values[:, 0]
    for p, variance in ((run["v"].values, TEMPERATURE / 4), (spin[:, None], TEMPERATURE / moment)):
        scale = baths.stationary(scheme, 1e-3, FRICTION * STEP).momentum
        assert (p**2).mean() / variance == pytest.approx(scale, rel=0.02)
        after = [(p[k:] * p[: len(p) - k]).mean() / (p**2).mean() for k in (1, 2)]
        assert after[1] / after[0] == pytest.approx(decay, rel=0.02)
        if scheme != "LAMMPS":
            assert after[0] == pytest.approx(decay, rel=0.02)


#: A temperature at which the dipole in the field of the heavy one, of energy -K cos(angle), points anywhere: kT = K.
HOT, SHORT = STIFFNESS, 0.1


@pytest.fixture(scope="module")
def tumbling():
    """The cosine of the angle to the field, its azimuth, and a run of a molecule that tumbles in it."""
    fluid = replace(LIBRATION, temperature=HOT)
    bath = Langevin(0.7, seed=11)
    ran = run_of(fluid, "exact_rotor", bath, SHORT, 300_000, samples=75_000, state=NEARLY_AT_REST, record=True)
    ran = ran.isel(time=slice(1000, None), molecule=0)
    dipole = rotation_matrix(ran["q"].values)[:, :, 0]
    return dipole[:, 0], np.arctan2(dipole[:, 2], dipole[:, 1]), ran


def test_two_states_are_as_frequent_as_their_energies_say(tumbling):
    """Of the hemispheres with and against the field one is exp(K/kT) times as frequent, by the integral of exp(K cos/kT)."""
    cosine, _, _ = tumbling
    assert (cosine > 0).mean() / (cosine < 0).mean() == pytest.approx(np.e, rel=0.08)


def test_no_current_flows_in_equilibrium(tumbling):
    """Detailed balance: from each of three sectors of the azimuth to the next as often as back, whatever the time between."""
    _, azimuth, _ = tumbling
    sector = np.floor((azimuth + np.pi) * 3 / (2 * np.pi)).astype(int).clip(0, 2)
    for lag in (1, 4, 16):
        counts = np.array([[np.sum((sector[:-lag] == a) & (sector[lag:] == b)) for b in range(3)] for a in range(3)])
        forward, back = counts[0, 1] + counts[1, 2] + counts[2, 0], counts[1, 0] + counts[2, 1] + counts[0, 2]
        assert forward + back > 1500
        assert abs(forward - back) < 4 * sqrt((forward + back) * max(1, lag / 4))


def test_three_estimators_have_one_temperature(tumbling):
    """Kinetic, per axis; by the torque K sin and its divergence, the Laplacian of the energy, 2 K cos."""
    cosine, _, ran = tumbling
    moments = np.array(LIBRATION.clumps[0][0].inertia)
    per_axis = (ran["omega"].values ** 2).mean(0) * moments
    by_torques = STIFFNESS * (1 - cosine**2).mean() / (2 * cosine.mean())
    np.testing.assert_allclose([*per_axis, by_torques], HOT, rtol=0.05)


def test_each_axis_decays_inversely_to_its_moment():
    """``friction_rotation``: the spin about x decays at its own rate, and no rate changes what is sampled."""
    shares = 1 / np.array(LIBRATION.clumps[0][0].inertia)
    rates = 3 * FRICTION * shares / shares.sum()
    run = librations("no_squish", Langevin(FRICTION, seed=2, friction_rotation=3 * FRICTION))
    for p, rate in ((run["v"].values, FRICTION), (run["omega"].values[:, :1], rates[0])):
        after = [(p[k:] * p[: len(p) - k]).mean() / (p**2).mean() for k in (1, 2)]
        assert after[1] / after[0] == pytest.approx(exp(-rate * STEP), rel=0.02)
    angle, momentum = measured(run)
    turns = [STEP * sqrt(STIFFNESS * share) for share in shares[1:]]
    assert angle == pytest.approx([1, 1], rel=0.02)
    assert momentum == pytest.approx([1 - turn**2 / 4 for turn in turns], rel=0.02)


def in_plain_python(steps, walkers, turn, friction, generator):
    """B A O A B of a libration in equilibrium at the temperature 1, in units of the step: x and p of all walkers."""
    x, p, decay = np.zeros(walkers), np.zeros(walkers), exp(-friction)
    for _ in range(steps):
        p = p - turn**2 * x / 2
        x = x + p / 2
        p = decay * p + sqrt(1 - decay**2) * generator.standard_normal(walkers)
        x = x + p / 2
        p = p - turn**2 * x / 2
    return x, p


def test_the_distribution_is_that_of_plain_python(long_runs):
    moment = LIBRATION.clumps[0][0].inertia[1]
    turn = STEP * sqrt(STIFFNESS / moment)
    x, p = in_plain_python(200, 100_000, turn, FRICTION * STEP, np.random.Generator(np.random.MT19937(5)))
    run, scale = long_runs["BAOAB"], sqrt(TEMPERATURE / moment)
    angle = rotation_matrix(run["q"].values)[:, 0, 2] / (scale * STEP)
    shares = [0.02, 0.1, 0.25, 0.75, 0.9, 0.98]
    for values, others in ((angle, x), (run["omega"].values[:, 1] / scale, p)):
        np.testing.assert_allclose(np.quantile(values, shares), np.quantile(others, shares), atol=0.04 * others.std())


@pytest.mark.parametrize("method", ["exact_rotor", pytest.param("moser_veselov", marks=pytest.mark.thorough)])
def test_every_free_motion_samples_the_same(method):
    angle, momentum = measured(librations(method, Langevin(FRICTION, seed=2), steps=40_000))
    expected = predicted("BAOAB")
    assert angle == pytest.approx([variances.angle for variances in expected], rel=0.05)
    assert momentum == pytest.approx([variances.momentum for variances in expected], rel=0.05)


BATHS = [Langevin(1e-3, seed=3, scheme=scheme) for scheme in baths.SCHEMES]
BATHS += [VelocityRescaling(100.0, seed=3), NoseHoover(100.0)]


@pytest.mark.parametrize("bath", BATHS, ids=lambda bath: bath.scheme_of_parts)
def test_bits_depend_on_neither_samples_nor_restarts(bath):
    """Nor on the pass over lanes: in a step after a sample the molecules are moved one by one."""
    whole = run_of(WATER, "no_squish", bath, 4.0, 24, samples=1, record=True)
    every = run_of(WATER, "no_squish", bath, 4.0, 24, record=True)
    begin = run_of(WATER, "no_squish", bath, 4.0, 11, samples=3, checkpoint=True)
    end = run_of(WATER, "no_squish", bath, 4.0, 24, samples=5, state=begin, record=True)
    names = ["r", "v", "q", "omega", "potential", f"temperature_{bath.further_velocities[0]}_rotation", "heat"]
    for name in names:
        np.testing.assert_array_equal(whole[name][-1], every[name][-1], err_msg=name)
        np.testing.assert_array_equal(whole[name][-1], end[name][-1], err_msg=name)
    changed = replace(bath, seed=4) if hasattr(bath, "seed") else replace(bath, time=90.0)
    other = run_of(WATER, "no_squish", changed, 4.0, 24, samples=1, record=True)
    assert abs(whole["omega"][-1] - other["omega"][-1]).max() > 1e-6


def eight_boxes():
    """512 molecules: the first state of ``water64`` eight times in a box of twice the edge."""
    state, shifts = WATER.initial_state(0), np.stack(np.meshgrid(*[[-0.5, 0.5]] * 3), -1).reshape(-1, 1, 3) * WATER.box
    within = state.r - WATER.box * np.round(state.r / WATER.box)
    v, q, omega = (np.tile(values, (8, 1)) for values in (state.v, state.q, state.omega))
    fluid = replace(WATER, key="water512", molecules=((WATER.clumps[0][0], 512),), box=2 * WATER.box, states=())
    return fluid, State((shifts + within).reshape(-1, 3), v, q, omega)


@pytest.mark.parametrize("bath", BATHS, ids=lambda bath: bath.scheme_of_parts)
def test_no_bit_in_a_bath_depends_on_the_list(bath):
    """Over steps in which the list is made again, but not in each."""
    fluid, state = eight_boxes()
    at, bath = np.array([0, 7, 60]), bath.at_temperature_of(fluid)
    method, how = METHODS["no_squish"], {"record": True, "bath": bath}
    listed, every = (run_fluid(fluid, method, 4.0, state, at, brute_force=slow, **how) for slow in (False, True))
    for name in ("motion", "energies", "momenta", "sums"):
        assert np.asarray(listed[name]).tobytes() == np.asarray(every[name]).tobytes(), name
    lists = [ran["work"][WORK.index("lists")] for ran in (listed, every)]
    assert 1 < lists[0] < 30 and lists[1] == 0


@pytest.mark.parametrize("bath", BATHS, ids=lambda bath: bath.scheme_of_parts)
def test_energy_without_the_heat_of_the_bath_is_conserved(bath):
    run = run_of(WATER, "exact_rotor", bath, 1.0, 400, samples=40)
    left = (run["energy"] - run["heat"]) / WATER.thermal
    assert run["heat"][0] == 0 and float(run["heat"].std()) / WATER.thermal > 3 and float(left.std()) < 0.3


#: A method that starts with four torques, leapfrogs that carry the angular velocity and the angular momentum in the lab, and
#: one that carries the momentum of the quaternion: all that velocity rescaling has to tell from one another.
RESCALED = [
    "no_squish",
    "spiral_leapfrog",
    *(pytest.param(key, marks=pytest.mark.thorough) for key in ("fincham1992", "magnus_adams4")),
]


@pytest.mark.parametrize("method", RESCALED)
def test_velocity_rescaling_samples_the_kinetic_energy(method):
    """From the wrong temperature the liquid reaches the mean and variance of a chi-squared distribution."""
    bath = VelocityRescaling(0.02, temperature=1.5 * TRIMERS.temperature, seed=5)
    run = run_of(TRIMERS, method, bath, 0.004, 20_000, samples=4000).isel(time=slice(400, None))
    numbers = TRIMERS.degrees_of_freedom
    carried = [
        run[f"temperature_carried_{name}"] * number for name, number in zip(("translation", "rotation"), numbers, strict=True)
    ]
    kinetic = sum(carried) / bath.temperature
    assert float(kinetic.mean()) == pytest.approx(sum(numbers), rel=0.005)
    assert float(kinetic.var()) == pytest.approx(2 * sum(numbers), rel=0.15)
    assert abs(run["momentum"]).max() < 1e-10


@pytest.mark.parametrize("method", [key for key, method in METHODS.items() if "many body" in method.engines])
def test_all_velocities_of_a_state_are_rescaled(method):
    """A free body whose velocities are doubled turns twice as far in a step, and has twice the angular velocity."""
    method, body, dt, still = METHODS[method], Body((1.0, 1.5, 2.0)), 1e-3, (0.0, 0.0, 0.0)
    numbers, omega = method.numbers_of(body), (0.3, -0.4, 0.5)
    start, before, after, read = (
        plain.in_plain_python(getattr(method, name)) for name in ("start", "before_torque", "after_torque", "read")
    )

    def stepped(state):
        return after(before(state, numbers, dt)[0], still, numbers, dt)

    state, places, turns = stepped(start((1.0, 0, 0, 0), omega, still, numbers, dt)), rescaling.velocities_in(method), []
    for each in (state, tuple(2 * number if k in places else number for k, number in enumerate(state))):
        # Not the first step: of two half steps around a pose only one may still be to come.
        (before_it, _), (q, spin) = (read(later, still, numbers, dt) for later in (stepped(each), stepped(stepped(each))))
        turns.append((np.subtract(q[1:], before_it[1:]), spin))
    for slow, fast in zip(*turns, strict=True):
        np.testing.assert_allclose(fast, 2 * np.array(slow), rtol=5e-3)


@pytest.mark.parametrize("method", RESCALED)
def test_what_a_rescaling_says_is_what_it_does(method):
    """A bath so fast that each step has another temperature: what is shown is what the body has, and heat is its energy."""
    bath = VelocityRescaling(1e-9, temperature=1.5 * TRIMERS.temperature, seed=5)
    run = run_of(TRIMERS, method, bath, 1e-5, 12)
    late = run.isel(time=slice(4, None))  # after the start of a method that needs earlier torques
    for name in ("translation", "rotation"):
        np.testing.assert_allclose(late[f"temperature_carried_{name}"], late[f"temperature_{name}"], rtol=1e-3)
    assert float(late["temperature_rotation"].std()) > 0.02 * bath.temperature
    exchanged = run["energy"] - run["energy"][0]
    np.testing.assert_allclose(run["heat"], exchanged, atol=2e-3 * float(exchanged.std()))


@pytest.mark.parametrize("time", [20.0, 1000.0])
def test_the_energy_that_a_leapfrog_makes_is_not_the_bath(time):
    """SPIRAL's 3.1 kT per degree of freedom and ns at 4 fs, whose heat counted at half steps would be 1.8 more with 20 fs."""
    run = run_of(WATER, "spiral_leapfrog", VelocityRescaling(time, seed=3), 4.0, 25_000, samples=100)
    left = (run["energy"] - run["heat"]).values / WATER.thermal / 381
    assert np.polyfit(np.arange(101) * 1e-3, left, 1)[0] == pytest.approx(3.07, abs=0.35)


def test_a_method_without_velocities_cannot_be_rescaled():
    """Of the two orientations that it would carry nothing is proportional to the angular velocity."""

    @kernel
    def start(q, omega, torque, body, dt):
        return q + rotate(q, omega, dt)

    @kernel
    def stored(state, body, dt):
        return (1.0, 2.0, 3.0)

    method = replace(METHODS["euler"], key="positions", start=start, stored=stored)
    with pytest.raises(ValueError, match="VelocityRescaling: method 'positions' carries no angular velocity or momentum"):
        rescaling.velocities_in(method)


#: Of LAMMPS 2025.7.22.4.0, ``fix rigid/nvt/small molecule temp 300 300 100`` from the first state of ``water64``, after 5, 20
#: and 100 steps: potential energy, kinetic energies of translation and of rotation, kcal/mol, by step in fs. Made by
#: ``of_side`` of ``benchmarks/bath_codes.py``; what the log of LAMMPS reports is not used.
OF_LAMMPS = {
    2.0: [
        [-686.360651213, 61.7602056844, 61.8778749009],
        [-680.771006032, 56.503098496, 60.490780485],
        [-684.695947186, 43.2875062711, 55.3417304994],
    ],
    4.0: [
        [-678.713522739, 62.360400603, 53.3050608255],
        [-679.403426939, 59.8227924444, 53.1520623145],
        [-696.283855668, 58.8575828097, 46.4483955188],
    ],
}


#: The same of ``fix rigid/nve/small molecule langevin 0 0 TDAMP 17`` with TDAMP of 25 steps: friction alone. A step of 1e-12 fs
#: goes before, as in its first half step LAMMPS has no friction.
OF_FRICTION_OF_LAMMPS = {
    2.0: [
        [-693.716675461, 42.287875583, 46.9438475872],
        [-732.22319438, 20.1804465004, 27.5133758379],
        [-805.091440404, 3.30320278384, 1.32586408222],
    ],
    4.0: [
        [-694.184385455, 44.5757011621, 44.5720263004],
        [-735.02368532, 25.364579353, 21.5417847074],
        [-813.332675071, 2.60839980299, 1.06085547829],
    ],
}


class ChainsOfLammps(NoseHoover):
    """LAMMPS does not leave out the momentum of the whole, which is zero."""

    def degrees_of_freedom(self, fluid):
        return 3 * len(fluid), fluid.degrees_of_freedom[1]


@pytest.mark.parametrize("dt", OF_LAMMPS)
def test_chains_move_a_liquid_as_lammps_does(dt):
    """Within its round-off; with three degrees of freedom less the energies differ at once."""
    run, ours = (run_of(WATER, "no_squish", bath(100.0), dt, 100, samples=20) for bath in (ChainsOfLammps, NoseHoover))
    names = ["potential", "kinetic_translation", "kinetic_rotation"]
    energies, others = (np.stack([data[name].values[[1, 4, 20]] for name in names], 1) for data in (run, ours))
    np.testing.assert_allclose(energies, OF_LAMMPS[dt], rtol=0, atol=1e-9)
    assert (abs(others - OF_LAMMPS[dt])[:, 1] > 5e-3).all()


@pytest.mark.parametrize("dt", OF_FRICTION_OF_LAMMPS)
def test_friction_slows_a_liquid_as_in_lammps(dt):
    """Within its round-off, at a temperature of nearly zero; as a factor (OBABO) friction leaves other energies."""
    run, other = (
        run_of(WATER, "no_squish", Langevin(1 / (25 * dt), temperature=1e-300, scheme=scheme), dt, 100, samples=20)
        for scheme in ("LAMMPS", "OBABO")
    )
    names = ["potential", "kinetic_translation", "kinetic_rotation"]
    energies, others = (np.stack([data[name].values[[1, 4, 20]] for name in names], 1) for data in (run, other))
    np.testing.assert_allclose(energies, OF_FRICTION_OF_LAMMPS[dt], rtol=0, atol=1e-9)
    assert (abs(others - OF_FRICTION_OF_LAMMPS[dt]).max(1) > 5e-3).all()


@pytest.mark.parametrize("links", [1, 2, 10])
def test_the_energy_of_liquid_and_chains_is_conserved(links):
    """The second order of the steps, and not of the chains: a quarter of the scatter with half of the step."""
    runs = [run_of(WATER, "exact_rotor", NoseHoover(50.0, links=links), dt, round(400 / dt), samples=50) for dt in (2.0, 1.0)]
    scatter = [float(((run["energy"] - run["heat"]) / WATER.thermal).std()) for run in runs]
    assert float(runs[0]["heat"].std()) / WATER.thermal > 5 and scatter[1] < 0.05
    assert scatter[0] / scatter[1] == pytest.approx(4, rel=0.25)


def test_chains_hold_the_temperatures_between_the_kicks():
    """One thermostat follows 2 K - n kT, so the mean of K is right within what its rate holds: also with a long step."""
    run = run_of(WATER, "no_squish", NoseHoover(100.0, links=1), 6.0, 2000).isel(time=slice(1, None))
    for kind in ("translation", "rotation"):
        assert float(run[f"temperature_middle_{kind}"].mean()) == pytest.approx(300, rel=0.004)
    assert float(run["temperature_rotation"].mean()) < 280


def test_chains_count_the_degrees_of_freedom():
    """Of the energies, with a step in which whole steps read right: three of 192 are 1.6 %."""
    run = run_of(WATER, "no_squish", NoseHoover(50.0, links=1), 1.0, 4000).isel(time=slice(1, None))
    for kind, freedoms in (("translation", 3 * 64 - 3), ("rotation", 3 * 64)):
        mean = float(run[f"kinetic_{kind}"].mean()) * 2 / WATER.thermal
        assert mean == pytest.approx(freedoms, rel=0.006)


def test_chains_sample_the_kinetic_energies():
    """From the wrong temperature the liquid reaches the means and variances of chi-squared distributions."""
    temperature = 1.5 * TRIMERS.temperature
    run = run_of(TRIMERS, "exact_rotor", NoseHoover(0.2, temperature=temperature), 0.004, 20_000, samples=4000)
    for kind, freedoms in zip(("translation", "rotation"), TRIMERS.degrees_of_freedom, strict=True):
        kinetic = run[f"kinetic_{kind}"].values[400:] * 2 / (1.5 * TRIMERS.thermal)
        assert kinetic.mean() == pytest.approx(freedoms, rel=0.02)
        assert kinetic.var() == pytest.approx(2 * freedoms, rel=0.15)
    assert abs(run["momentum"]).max() < 1e-10


def test_a_single_thermostat_oscillates_with_its_time():
    """Of a gas, whose kinetic energy the bath alone changes: a small excess turns with the rate sqrt(2)/time."""
    fluid, state = spherical_rotors()
    run = run_of(fluid, "exact_rotor", NoseHoover(0.5, temperature=1.02, links=1), 0.02, 100, state=state)
    for kind, freedoms in zip(("translation", "rotation"), fluid.degrees_of_freedom, strict=True):
        excess = run[f"kinetic_{kind}"].values * 2 / (1.02 * freedoms) - 1
        assert 0.005 < abs(excess[0]) < 0.1
        expected = excess[0] * np.cos(np.sqrt(2) * run["time"].values / 0.5)
        np.testing.assert_allclose(excess, expected, atol=0.05 * abs(excess[0]) + excess[0] ** 2)


def test_chains_leave_a_single_libration_where_it_is():
    """Without noise nothing shares the energy: angles have less than 5 % of their variance (:class:`NoseHoover`)."""
    angle, _ = measured(librations("no_squish", NoseHoover(20.0), steps=20_000))
    assert (angle < 0.05).all()


def test_chains_are_for_atoms_too():
    atom = Molecule.of_sites("atom", [[0, 0, 0]], [1.0], epsilon=[0.01], sigma=[1.0], units="lj")
    fluid = replace(TRIMERS, key="atoms", molecules=((atom, 30),), box=12.0, states=())
    run = run_of(fluid, "exact_rotor", NoseHoover(0.5), 0.01, 400)
    left = run["energy"] - run["heat"]
    assert float(abs(left - left[0]).max()) < 1e-2 * float(run["heat"].std()) and not run["temperature_rotation"].any()


def spherical_rotors():
    """200 at the temperature 1; neutral and without a dipole, so that nothing acts between two of them."""
    arms = np.vstack([np.eye(3), -np.eye(3)])
    sphere = Molecule.of_sites("sphere", arms, [0.25] * 6, charges=[1, -1, 0, 1, -1, 0], units="lj")
    fluid = replace(LIBRATION, key="rotors", molecules=((sphere, 200),), temperature=1.0)
    still = State(np.zeros((200, 3)), np.zeros((200, 3)), np.tile([1.0, 0, 0, 0], (200, 1)), np.zeros((200, 3)))
    return fluid, fluid.with_velocities(still, 7)


def test_velocity_rescaling_relaxes_within_its_time():
    """Of a gas, whose kinetic energy the bath alone changes: after t the part exp(-t/time) of the excess is left."""
    fluid, state = spherical_rotors()
    run = run_of(fluid, "exact_rotor", VelocityRescaling(0.5, temperature=0.2, seed=9), 0.02, 25, state=state)
    kinetic = (run["kinetic_translation"] + run["kinetic_rotation"]).values * 2 / (0.2 * fluid.thermal)
    excess = kinetic / sum(fluid.degrees_of_freedom) - 1
    # The first noise of Eq. A7 scatters the ratio by 2 sqrt(c (1 - c) K/Nf), at most 0.065 with K = 5 and Nf = 1200.
    np.testing.assert_allclose(excess, excess[0] * np.exp(-run["time"] / 0.5), atol=4 * 0.065)


def of_a_sphere(friction, times, quanta=10):
    """The mean cosine of the turn of each axis of a free sphere, kT = I = 1: a row of R follows dR/dt = R [omega].

    The mean over all omega is expanded in Hermite functions of omega, of which friction damps each by its number of quanta.
    """
    states = [n for n in np.ndindex(*[quanta + 1] * 3) if sum(n) <= quanta]
    index = {n: k for k, n in enumerate(states)}
    generator = np.kron(np.diag([-friction * sum(n) for n in states]), np.eye(3))
    for axis in range(3):
        rises = np.zeros((len(states), len(states)))
        for n, k in index.items():
            more = tuple(np.add(n, np.eye(3, dtype=int)[axis]))
            if more in index:
                rises[index[more], k] = sqrt(more[axis])
        turn = np.cross(np.eye(3), np.eye(3)[axis])
        generator += np.kron(rises + rises.T, turn)
    start = np.eye(len(generator))[0]
    return expm_multiply(csr_matrix(generator), start, times[0], times[-1], len(times))[:, 0]


def correlation_of(values, lags):
    """The mean product of values (times, molecules, ...) with themselves later, for each lag and each of the last axis."""
    flat = values.reshape(len(values), -1, values.shape[-1])
    pairs = ((flat[k:], flat[: len(flat) - k]) for k in lags)
    return np.array([np.einsum("tni,tni->i", *pair) / (pair[0].shape[0] * pair[0].shape[1]) for pair in pairs])


@pytest.mark.parametrize(("friction", "duration"), [(1e-3, 3.0), (1.0, 4.0), (10.0, 8.0)], ids=["weak", "middle", "strong"])
def test_a_spherical_rotor_forgets_its_direction(friction, duration):
    """Of a free sphere, of any friction, and of diffusion that sets in with the friction: kT/(I gamma^2) is 0.01 there."""
    fluid, state = spherical_rotors()
    steps = round(duration / 0.02)
    run = run_of(fluid, "exact_rotor", Langevin(friction, seed=8), 0.02, 3 * steps, state=state, record=True)
    turns, times = rotation_matrix(run["q"].values), 0.02 * np.arange(steps)
    correlation = 3 * correlation_of(turns, range(steps)).mean(-1)
    if friction < 1:
        exact = 1 / 3 + 2 / 3 * (1 - times**2) * np.exp(-(times**2) / 2)
    elif friction == 1:
        exact = of_a_sphere(friction, times)
    else:
        exact = np.exp(-2 / friction * (times - (1 - np.exp(-friction * times)) / friction))
    assert abs(correlation - exact).max() < 0.03
    spin = correlation_of(run["omega"].values, range(steps)).mean(-1)
    assert abs(spin / spin[0] - np.exp(-friction * times)).max() < 0.04


def test_the_sphere_of_any_friction_meets_its_limits():
    times = np.linspace(0, 1.5, 16)
    free = 1 / 3 + 2 / 3 * (1 - times**2) * np.exp(-(times**2) / 2)
    np.testing.assert_allclose(of_a_sphere(1e-9, times), free, atol=1e-4)
    slow = np.exp(-2 / 30 * (times - (1 - np.exp(-30 * times)) / 30))
    np.testing.assert_allclose(of_a_sphere(30.0, times, 4), slow, atol=2e-4)


#: Moments 0.712, 1 and 1.312 of a neutral body without a dipole, between two of which nothing acts.
ASYMMETRIC = Molecule.of_sites(
    "asymmetric",
    [[1, 0, 0], [-1, 0, 0], [0, 0.8, 0], [0, -0.8, 0], [0, 0, 0.5], [0, 0, -0.5]],
    [0.4] * 6,
    charges=[1, 1, -1, -1, 0, 0],
    units="lj",
)


def of_asymmetric_rotors(friction, steps):
    """A run of 300 of them at kT = 1, their moments, and the step."""
    still = State(np.zeros((300, 3)), np.zeros((300, 3)), np.tile([1.0, 0, 0, 0], (300, 1)), np.zeros((300, 3)))
    fluid = replace(LIBRATION, key="asymmetric", molecules=((ASYMMETRIC, 300),), temperature=1.0)
    run = run_of(
        fluid, "exact_rotor", Langevin(friction, seed=8), 0.04, steps, state=fluid.with_velocities(still, 7), record=True
    )
    return run, np.array(fluid.clumps[0][0].inertia), 0.04


def test_momenta_of_a_free_asymmetric_body_mix_at_first():
    """With weak friction, in the body: 1 - t^2/2 kT (I_j - I_k)^2/(I_1 I_2 I_3) of the variance, by dL_i/dt."""
    run, moments, dt = of_asymmetric_rotors(1e-3, 600)
    begin, end = correlation_of(run["omega"].values * moments, (0, 25))
    for i, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
        rate = (moments[j] - moments[k]) ** 2 / moments.prod()
        assert (begin[i] - end[i]) / moments[i] == pytest.approx(rate * (25 * dt) ** 2 / 2, rel=0.2, abs=0.01)


def test_strong_friction_makes_each_axis_diffuse():
    """The momenta decay as exp(-gamma t); the axis i turns with D_j + D_k, D = kT/(gamma I), to kT/(I gamma^2) = 0.01."""
    run, moments, dt = of_asymmetric_rotors(10.0, 3000)
    momenta = correlation_of(run["omega"].values * moments, range(8)) / moments
    np.testing.assert_allclose(momenta, np.exp(-10 * dt * np.arange(8))[:, None] * np.ones(3), atol=0.02)
    (axes,) = 3 * correlation_of(rotation_matrix(run["q"].values), (75,))
    sums = -np.log(axes) / (75 * dt - 0.1)
    diffusion = sums.sum() / 2 - sums
    np.testing.assert_allclose(diffusion, 1 / (10 * moments), rtol=0.1)
    page = (Path(__file__).parents[1] / "docs" / "baths.md").read_text(encoding="utf-8")
    for axis, moment, value in zip("xyz", moments, diffusion, strict=True):
        assert f"| {axis} | {moment:.3f} | {1 / (10 * moment):.3f} | {value:.3f} |" in page


def test_atoms_and_linear_molecules_get_no_impossible_spin():
    dumbbell = Molecule.of_sites("dumbbell", [[0, 0, 0], [1, 0, 0]], [1, 2], epsilon=[0.01, 0.01], sigma=[1, 1], units="lj")
    atom = Molecule.of_sites("atom", [[0, 0, 0]], [1.0], epsilon=[0.01], sigma=[1.0], units="lj")
    fluid = replace(TRIMERS, key="mixture", molecules=((dumbbell, 20), (atom, 7)), box=12.0, states=())
    run = run_of(fluid, "exact_rotor", Langevin(2.0, seed=6), 0.01, 2000, samples=200, record=True)
    omega = run["omega"].values
    assert abs(omega[:, :20, 0]).max() < 1e-10 and not omega[:, 20:].any()
    late = run.isel(time=slice(100, None))
    assert float(late["temperature_middle_rotation"].mean()) == pytest.approx(fluid.temperature, rel=0.06)
    assert float(late["temperature_middle_translation"].mean()) == pytest.approx(fluid.temperature, rel=0.06)


def moving(state):
    """The state with a velocity added to all."""
    return replace(state, v=state.v + 1e-3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Langevin(0.0), "Langevin: friction must be positive and finite, got 0.0"),
        (lambda: Langevin(1e-3, temperature=-1.0), "Langevin: temperature must be positive"),
        (lambda: Langevin(1e-3, scheme="ABOBA"), "scheme must be one of BAOAB, OBABO, LAMMPS, got 'ABOBA'"),
        (lambda: Langevin(1e-3, seed=-1), "Langevin: seed must be at least 0"),
        (lambda: Langevin(1e-3, friction_rotation=0.0), "Langevin: friction_rotation must be positive"),
        (lambda: VelocityRescaling(0.0), "VelocityRescaling: time must be positive"),
        (lambda: NoseHoover(-1.0), "NoseHoover: time must be positive"),
        (lambda: NoseHoover(1.0, links=0), "NoseHoover: links must be at least 1"),
        (
            lambda: run_of(WATER, "exact_rotor", NoseHoover(2.0), 2.0, 2),
            "NoseHoover: time must be longer than the step, 2, got 2; take some 50 steps",
        ),
        (
            lambda: run_of(WATER, "exact_rotor", NoseHoover(99.0), 2.0, 2, state=moving(WATER.initial_state(0))),
            "NoseHoover: the liquid moves as a whole, with .* kT; subtract the mean velocity",
        ),
        (
            lambda: run_of(WATER, "spiral_leapfrog", Langevin(1e-3), 2.0, 2),
            "bath: the method must be one of exact_rotor, no_squish.*'spiral_leapfrog', which VelocityRescaling can hold",
        ),
        (lambda: run_of("rods", "exact_rotor", Langevin(1e-3), 1e-5, 2), "bath: a heat bath is for liquids; scene 'rods'"),
        (
            lambda: run_of(WATER, "exact_rotor", "Langevin", 2.0, 2),
            "bath must be a polhode.manybody.Langevin, NoseHoover or VelocityRescaling",
        ),
        (lambda: run_of(WATER, "exact_rotor", Langevin(1e-3), 2.0, 2, normalise=True), "normalise: with a bath"),
        (
            lambda: run_of(WATER, "exact_rotor", Langevin(1.0, scheme="LAMMPS"), 2.0, 2),
            "friction times dt must be below 1, got 2",
        ),
        (
            lambda: run_of(
                LIBRATION, "exact_rotor", VelocityRescaling(1.0), 0.1, 2, state=replace(NEARLY_AT_REST, omega=np.zeros((2, 3)))
            ),
            "VelocityRescaling: nothing moves at the start",
        ),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_a_run_goes_on_in_its_own_bath_only():
    begin = run_of(WATER, "no_squish", Langevin(1e-3), 2.0, 3, checkpoint=True)
    with pytest.raises(ValueError, match=r"the run was made with bath .Langevin.friction=0.001.*seed=0.*this one has .none."):
        run_of(WATER, "no_squish", None, 2.0, 6, state=begin)


def test_released_temperatures_of_water_agree_with_its_torques():
    """Half a kick lies between both readings of BAOAB: Omega^2 dt^2/4 of T, with Omega^2 of runs without a bath."""
    rates = read_groups(RELEASED / "liquids.nc")["/spectrum_water64"]["rate_squared"].values
    runs = bath_runs.BathRuns(read_dataset(RELEASED / bath_runs.RELEASED))
    for friction in (0.1, 1.0, 10.0):
        for dt, case in runs.ladder("water64", "BAOAB", friction).items():
            if not 2 <= dt <= 6:
                continue
            for kind, rate in zip(("translation", "rotation"), rates, strict=True):
                gap = case.reading(f"middle_{kind}").value - case.reading(kind).value
                assert gap / 300 == pytest.approx(1 - baths.at_the_end(rate, dt), rel=0.06)
            hotter, colder = case.reading("middle_rotation"), case.reading("middle_translation")
            scatter = hotter.high - hotter.value + colder.high - colder.value  # their sum is fixed, so both err alike
            between = hotter.value - colder.value
            assert -1.5 * scatter < between < 2 * 300 * baths.apart(rates, dt) + 1.5 * scatter


def test_the_step_for_a_bias_is_the_one_that_has_it():
    rates = (0.0014, 0.012)
    assert baths.apart(rates, baths.longest_step(rates, 0.002)) == pytest.approx(0.002)
    assert baths.of_places(0.012, baths.longest_step_of_places(0.012, 0.002)) == pytest.approx(1.002)
    # To second order the places of OBABO follow the closed form.
    assert baths.of_places(1.0, 0.1) == pytest.approx(1 / (1 - 0.1**2 / 4), rel=1e-5)
