r"""The loop's parts for a liquid in a heat bath: kicks B, free motions A, and friction and noise O between them.

A kick changes linear and angular momentum by the loads, for half a step. A moves the centres on and turns the molecules, by the
free motion of a splitting (:data:`DRIFTS`). O is the exact solution of friction and noise alone, for the time t and for
each component of the velocity of the centre, and of the angular momentum in the body frame:

.. math::

   v \leftarrow e^{-\gamma t} v + \sqrt{\tfrac{kT}{m} (1 - e^{-2\gamma t})}\; \xi, \qquad
   \Pi_i \leftarrow e^{-\gamma_i t} \Pi_i + \sqrt{kT I_i (1 - e^{-2\gamma_i t})}\; \xi_i ,

with one gamma for all, or rates of the axes that differ (:class:`polhode.manybody.bath.Langevin`).

Chains of Nose-Hoover thermostats (:func:`move_chain`) have S in the place of O: all velocities, and all angular momenta, times
one factor each, the same before the free motion of a step and after its loads. The rates behind the factors move on between.

The last fields of a record belong to the bath, behind what the method and its scheme for centres carry. Noise is a function
of seed, molecule and step (:mod:`polhode.algebra.philox`). It is written there in two loops of its own: random words, over
lanes, and what has library calls and does not vectorise. Everything else of the engine is as without a bath.

The kernels compute in coherent units of the fluid, in which an energy is mass length^2 / time^2. Of one molecule they take
``q`` (4,), its orientation as a unit quaternion, scalar first, body to lab; ``v`` (3,), the velocity of its centre, and
``force`` (3,), lab frame; ``momentum`` and ``torque`` (3,), angular momentum and torque in the body frame; ``mass``; ``body``
(9,), see :meth:`polhode.algebra.body.Body.coefficients`; ``noise`` (6,), standard normal numbers, three for the centre and
three for the body axes; and ``numbers`` (10,), see :data:`NUMBERS`. What it carries is ``state`` (10,), q, angular momentum and
torque, and ``moving`` (9,), position, velocity and acceleration of its centre. ``dt`` is the time step.
"""

from collections.abc import Callable
from functools import cache
from math import exp, expm1
from typing import Any

import numpy as np

from polhode.algebra.body import angular_momentum, angular_velocity
from polhode.algebra.philox import block, halves, normals_of_halves
from polhode.algebra.quaternion import normalise, to_body, to_lab
from polhode.algebra.vector import axpy, dot, scale
from polhode.compiling.kernel import hides_nothing, kernel, subroutine
from polhode.compiling.lanes import (
    FRACTION,
    LANES,
    STATE,
    fields_from,
    load_force,
    load_inertia,
    load_mass,
    load_q,
    load_r,
    load_torque,
    loader,
    place,
    store_q,
    store_r,
    storer,
)
from polhode.compiling.short_turns import shortened
from polhode.manybody import engine
from polhode.manybody.neighbours import used_margin
from polhode.methods import exact_rotor, free_top, no_squish
from polhode.methods.implicit_midpoint import turned
from polhode.methods.moser_veselov import rotation
from polhode.methods.one_body import put3, put4
from polhode.methods.splitting import kick


@kernel
def squish_drift(q: Any, momentum: Any, body: Any, dt: Any) -> Any:
    """The free motion of NO_SQUISH, five rotations, for the time ``dt``; returns ``q`` and ``momentum``.

    It has the angular momentum in the body frame in place of the quaternion momentum of the method.
    """
    q, p = no_squish.rotors(q, no_squish.kick(q, (0.0, 0.0, 0.0, 0.0), momentum, 1.0), body, dt)
    return q, angular_momentum(no_squish.omega_of(q, p, body), body)


@kernel
def constrained_drift(q: Any, momentum: Any, body: Any, dt: Any) -> Any:
    """The free motion of Moser and Veselov, its step without a torque, for the time ``dt``; returns ``q`` and ``momentum``."""
    in_lab = to_lab(q, momentum)
    q = normalise(turned(q, rotation(scale(0.5 * dt, angular_velocity(momentum, body)), body[6:9])))
    return q, to_body(q, in_lab)


#: The free motion, kernels (q, momentum, body, dt) -> (q, momentum), of the methods around which there are baths.
DRIFTS: dict[str, Callable[..., Any]] = {
    "exact_rotor": free_top.moved,
    "no_squish": squish_drift,
    "moser_veselov": constrained_drift,
}
#: The order of the parts of a step; LAMMPS has friction and noise as forces. N moves the chains on,
#: and S multiplies momenta by their factors.
BAOAB, OBABO, LAMMPS, CHAINS = "BAOAB", "OBABO", "LAMMPS", "BSANSB"
#: The schemes with noise for each molecule.
NOISY = (BAOAB, OBABO, LAMMPS)
#: The numbers of a bath that the part ``begin`` gets for each molecule, behind omega: the factors by which O multiplies the
#: velocity and the angular momentum about each axis, the scatter that it adds to each of these, and the seed as two numbers of
#: 32 bits. Velocity rescaling: exp(-dt/time), three zeros, the mean kinetic energy, the degrees of freedom, two zeros, seed.
#: Chains: the factors of velocities and of angular momenta, two ones, the degrees of freedom of both, kT, time, two zeros.
NUMBERS = 10
#: What a run sums up of all molecules: kinetic energy of centres and of rotation between the kicks of the last step (after O),
#: and the energy that the bath has given since the start.
SUMS = 3
NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
#: The key of all bath noise has this as its second word; further words of a counter are the molecule and which noise it is.
KEY, FIRST, SECOND = np.uint64(0x62617468), np.uint64(0), np.uint64(1)
#: In the place of a molecule's number: noise of the liquid as a whole.
ALL = np.uint64(0xFFFFFFFF)
ZERO = np.uint64(0)
#: The share of a step of the outer two of three parts that make the fourth order (Yoshida 1990), as LAMMPS has it by default.
OUTER = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))


@kernel
def random_halves(step: Any, molecule: Any, which: Any, seed: Any) -> Any:
    """The halves of three words, six numbers, from which :func:`six_normals` makes the noise of a molecule and a step.

    All arguments are ``numpy.uint64``: the number of the step and of the molecule, :data:`FIRST` or :data:`SECOND`, the seed.
    """
    a, b, c, _ = block((step, molecule, which, ZERO), (seed, KEY))
    return halves(a) + halves(b) + halves(c)


@kernel
def six_normals(words: Any) -> Any:
    """Six independent normal numbers from the halves of three words, six numbers."""
    return normals_of_halves(words[0], words[1]) + normals_of_halves(words[2], words[3]) + normals_of_halves(words[4], words[5])


@kernel
def numbers_behind(omega: Any, c: int) -> Any:
    """The numbers of a bath, ten floats, that stand behind omega in the row ``c`` of an array (molecules, 13)."""
    factors = (omega[c, 3], omega[c, 4], omega[c, 5], omega[c, 6])
    scatter = (omega[c, 7], omega[c, 8], omega[c, 9], omega[c, 10])
    return factors + scatter + (omega[c, 11], omega[c, 12])


@kernel
def seed_of(numbers: Any) -> Any:
    """The seed, ``numpy.uint64``, from the numbers of a bath."""
    return np.uint64(numbers[8]) | np.uint64(numbers[9]) << np.uint64(32)


@kernel
def energies(v: Any, momentum: Any, mass: Any, body: Any) -> Any:
    """The kinetic energies of the centre and of rotation, in the unit of ``mass`` times v^2; ``v`` and ``momentum`` (3,)."""
    return 0.5 * mass * dot(v, v), 0.5 * dot(momentum, angular_velocity(momentum, body))


@kernel
def exchanged(v: Any, momentum: Any, mass: Any, body: Any, noise: Any, numbers: Any) -> Any:
    """Velocity (lab) and angular momentum (body frame) after O, (3,) each, and the energy that the bath gave."""
    before, turning_before = energies(v, momentum, mass, body)
    v = axpy(numbers[4], noise[:3], scale(numbers[0], v))
    momentum = (
        numbers[1] * momentum[0] + numbers[5] * noise[3],
        numbers[2] * momentum[1] + numbers[6] * noise[4],
        numbers[3] * momentum[2] + numbers[7] * noise[5],
    )
    after, turning_after = energies(v, momentum, mass, body)
    return v, momentum, (after - before) + (turning_after - turning_before)


@kernel
def pushed(v: Any, momentum: Any, mass: Any, force: Any, torque: Any, noise: Any, numbers: Any) -> Any:
    """Force (lab) and torque (body frame), (3,) each, with friction and noise added as LAMMPS does.

    ``numbers`` has the rates of friction in place of factors, and the scatter of force and torque, not of momenta.
    """
    force = axpy(numbers[4], noise[:3], axpy(-numbers[0] * mass, v, force))
    torque = (
        -numbers[1] * momentum[0] + torque[0] + numbers[5] * noise[3],
        -numbers[2] * momentum[1] + torque[1] + numbers[6] * noise[4],
        -numbers[3] * momentum[2] + torque[2] + numbers[7] * noise[5],
    )
    return force, torque


@kernel
def work(force: Any, torque: Any, v: Any, momentum: Any, body: Any, time: Any) -> Any:
    """The energy that a force and a torque give in the duration ``time``, if ``v`` and ``momentum`` are means over it."""
    return time * (dot(force, v) + dot(torque, angular_velocity(momentum, body)))


@kernel
def work_to_come(state: Any, moving: Any, force: Any, torque: Any, mass: Any, body: Any, dt: Any) -> Any:
    """The energy that friction and noise as forces give in the half of a kick that follows a whole time.

    The torque in ``state`` and the acceleration in ``moving`` include friction and noise, ``force`` and ``torque`` do not.
    """
    force, turning = axpy(-1.0, force, scale(mass, moving[6:9])), axpy(-1.0, torque, state[7:10])
    v, momentum = axpy(0.25 * dt, moving[6:9], moving[3:6]), kick(state[4:7], state[7:10], 0.25 * dt)
    return work(force, turning, v, momentum, body, 0.5 * dt)


@subroutine
def relaxed(rate: float, above: float, push: float, time: float) -> float:
    """The rate x of a thermostat after a ``time`` in which dx/dt = push - above x: the exact solution.

    ``rate`` is the rate before, ``above`` the rate of the next thermostat in the chain, both in the inverse of the unit of
    ``time``; ``push`` is in its inverse square.
    """
    turn = above * time
    share = 1.0 if turn == 0.0 else -expm1(-turn) / turn
    return rate * exp(-turn) + push * time * share


@subroutine
def move_chain(fields: Any, at: int, links: int, twice: float, freedoms: float, kt: float, time: float, dt: float) -> float:
    r"""Move a chain of thermostats on by a step, and return its energy: Martyna, Klein and Tuckerman (1992).

    The chain has the rates :math:`\dot\eta_k` and the masses :math:`Q_1 = n kT\tau^2`, :math:`Q_k = kT\tau^2`, where n is the
    number of degrees of freedom and :math:`\tau` the ``time``, and follows

    .. math::

       Q_1 \ddot\eta_1 &= 2K - n kT - Q_1 \dot\eta_1 \dot\eta_2 \\
       Q_k \ddot\eta_k &= Q_{k-1} \dot\eta_{k-1}^2 - kT - Q_k \dot\eta_k \dot\eta_{k+1} .

    Parameters
    ----------
    fields, at : the record of the first molecule, flat, and the index of the first rate; behind the rates is the sum
        n eta_1 + eta_2 + ... + eta_links, from which the energy follows; further ones are :data:`LANES` apart
    links : how many rates there are
    twice : twice the kinetic energy, 2 K
    freedoms, kt, time : n, kT and tau, in coherent units as all arguments
    dt : the time step

    Returns
    -------
    float
        :math:`kT (n\eta_1 + \sum_{k>1} \eta_k) + \tfrac12 \sum_k Q_k \dot\eta_k^2`, what the bath has taken from the liquid.
        Without degrees of freedom nothing moves, and it is 0.
    """
    if freedoms <= 0.0:
        return 0.0
    last, wide = links - 1, np.uint64(LANES)
    of_kt = 1.0 / (time * time)
    for part in range(3):
        span = (1.0 - 2.0 * OUTER if part == 1 else OUTER) * dt
        wound = 0.0
        for half in range(2):
            for j in range(links):
                k = last - j if half == 0 else j
                i = np.uint64(at) + np.uint64(k) * wide
                above = fields[i + wide] if k < last else 0.0
                if k == 0:
                    push = of_kt * (twice / (freedoms * kt) - 1.0)
                else:
                    below = fields[i - wide]
                    push = (freedoms if k == 1 else 1.0) * below * below - of_kt
                fields[i] = relaxed(fields[i], above, push, 0.5 * span)
            if half == 0:
                for k in range(links):
                    wound += span * (freedoms if k == 0 else 1.0) * fields[np.uint64(at) + np.uint64(k) * wide]
        fields[np.uint64(at) + np.uint64(links) * wide] += wound
    squares = 0.0
    for k in range(links):
        rate = fields[np.uint64(at) + np.uint64(k) * wide]
        squares += (freedoms if k == 0 else 1.0) * rate * rate
    energy: float = kt * (fields[np.uint64(at) + np.uint64(links) * wide] + 0.5 * time * time * squares)
    return energy


@cache
def steps_of(scheme: str, drift: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The parts of a step of one molecule after the loads and before the next, as kernels on what the record holds.

    They are ``finish(state, moving, force, torque, body, mass, dt, noise, numbers) -> state, moving, heat`` and
    ``begin(state, moving, body, mass, dt, noise, numbers) -> state, moving, middle, heat``, where ``middle`` is two kinetic
    energies between the kicks, of the centre and of rotation, and ``heat`` the energy that the bath gave: with friction and
    noise as forces in both halves of the kick, of which the second is yet to come.

    Parameters
    ----------
    scheme : one of :data:`BAOAB`, :data:`OBABO`, :data:`LAMMPS`, :data:`CHAINS`
    drift : kernel of :data:`DRIFTS`, the free motion
    """
    pushes, ends, is_middle, scales = scheme == LAMMPS, scheme == OBABO, scheme == BAOAB, scheme == CHAINS

    @hides_nothing
    @kernel
    def finish(
        state: Any, moving: Any, force: Any, torque: Any, body: Any, mass: Any, dt: Any, noise: Any, numbers: Any
    ) -> Any:
        q, momentum, v, of_liquid, turning = state[:4], state[4:7], moving[3:6], force, torque
        if pushes:
            force, torque = pushed(v, momentum, mass, force, torque, noise, numbers)
        acceleration = scale(1.0 / mass, force)
        if scales:
            momentum, v = scale(numbers[1], momentum), scale(numbers[0], v)
        momentum, v, heat = kick(momentum, torque, 0.5 * dt), axpy(0.5 * dt, acceleration, v), 0.0
        if pushes:  # in both halves of the kick, whose mean velocity this is
            heat = work(axpy(-1.0, of_liquid, force), axpy(-1.0, turning, torque), v, momentum, body, dt)
        if ends:
            v, momentum, heat = exchanged(v, momentum, mass, body, noise, numbers)
        return q + momentum + torque, moving[:3] + v + acceleration, heat

    @hides_nothing
    @kernel
    def begin(state: Any, moving: Any, body: Any, mass: Any, dt: Any, noise: Any, numbers: Any) -> Any:
        q, momentum, torque = state[:4], state[4:7], state[7:10]
        r, v, acceleration, heat = moving[:3], moving[3:6], moving[6:9], 0.0
        if not pushes and not is_middle and not scales:
            v, momentum, heat = exchanged(v, momentum, mass, body, noise, numbers)
        momentum, v = kick(momentum, torque, 0.5 * dt), axpy(0.5 * dt, acceleration, v)
        if is_middle:
            q, momentum = drift(q, momentum, body, 0.5 * dt)
            r = axpy(0.5 * dt, v, r)
            v, momentum, heat = exchanged(v, momentum, mass, body, noise, numbers)
        if scales:
            momentum, v = scale(numbers[1], momentum), scale(numbers[0], v)
        share = 0.5 * dt if is_middle else dt
        middle = energies(v, momentum, mass, body)
        q, momentum = drift(q, momentum, body, share)
        if scales:  # the chains follow the energy after the free motion, as LAMMPS has it
            middle = energies(v, momentum, mass, body)
        return q + momentum + torque, axpy(share, v, r) + v + acceleration, middle, heat

    return finish, begin


@cache
def parts_of(scheme: str, method: str, links: int = 0) -> engine.MethodParts:
    """The parts of the engine's loop for a scheme of a bath around the free motion of a method, compiled.

    They are a :class:`polhode.manybody.engine.MethodParts`.

    Parameters
    ----------
    scheme : one of :data:`BAOAB`, :data:`OBABO`, :data:`LAMMPS`, :data:`CHAINS`
    method : key of :data:`DRIFTS`
    links : the number of thermostats in a chain, of :data:`CHAINS`
    """
    base = engine.record_of(exact_rotor.METHOD, False)  # it carries q, angular momentum and torque, whatever the free motion
    load_state, store_state, load_moving, store_moving = base[1:5]
    both, scales, noisy = scheme == OBABO, scheme == CHAINS, scheme in NOISY
    begins = scheme != LAMMPS
    # The fields of the bath: noise of the end of a step and of the beginning of the next, numbers, step, chains, and the sums.
    noise_at = base.width
    numbers_at = noise_at + 12
    step_at = numbers_at + NUMBERS
    heat_at = step_at + 1
    chains_at = heat_at + 1
    sums_at = chains_at + 2 * (links + 1) * scales
    width = sums_at + SUMS
    load_end, load_noise = loader(fields_from(noise_at, 6)), loader(fields_from(noise_at + 6, 6))
    store_end, store_noise = storer(fields_from(noise_at, 6)), storer(fields_from(noise_at + 6, 6))
    load_numbers, store_numbers = loader(fields_from(numbers_at, NUMBERS)), storer(fields_from(numbers_at, NUMBERS))
    store_factors = storer(fields_from(numbers_at, 4))
    load_step, store_step = loader((step_at,)), storer((step_at,))
    load_heat, store_heat = loader((heat_at,)), storer((heat_at,))
    store_middle, store_shown = storer((sums_at, sums_at + 1)), storer((sums_at + 2,))
    load_middle = loader((sums_at, sums_at + 1))
    finish, begin = steps_of(scheme, DRIFTS[method])
    short = shortened(finish, begin)
    fast_finish, fast_begin = (finish, begin) if short is None else short

    @kernel
    def noise_of(fields: Any, i: Any, c: Any, step: Any, which: Any) -> Any:
        """Six normal numbers of a molecule and a step."""
        return six_normals(random_halves(np.uint64(step), np.uint64(c), which, seed_of(load_numbers(fields, i))))

    @subroutine
    def write_noise(fields: Any, blocks: int, step: float, which: Any, to_end: bool) -> None:
        """Write the noise of all molecules and a step: words over lanes, then logarithms and angles, which do not vectorise."""
        seed, number = seed_of(load_numbers(fields, place(0, width))), np.uint64(step)
        for block_number in range(np.uint64(blocks)):
            base_index = np.uint64(block_number) * np.uint64(width * LANES)
            for lane in range(np.uint64(LANES)):
                i, c = base_index + np.uint64(lane), np.uint64(block_number) * np.uint64(LANES) + np.uint64(lane)
                words = random_halves(number, c, which, seed)
                if to_end:
                    store_end(fields, i, words)
                else:
                    store_noise(fields, i, words)
        for molecule in range(blocks * LANES):
            i = place(molecule, width)
            words = load_end(fields, i) if to_end else load_noise(fields, i)
            noise = six_normals(words)
            if to_end:
                store_end(fields, i, noise)
            else:
                store_noise(fields, i, noise)

    @subroutine
    def draw_noise(fields: Any, blocks: int, first_part: bool) -> None:
        """Count the step, and write the noise of the end of the last and of the beginning of this one."""
        (step,) = load_step(fields, place(0, width))
        if noisy and not first_part and not begins:
            write_noise(fields, blocks, step, FIRST, True)
        if noisy and not first_part and both:
            write_noise(fields, blocks, step, SECOND, True)
        if noisy and begins:
            write_noise(fields, blocks, step + 1.0, FIRST, False)
        for c in range(blocks * LANES):
            store_step(fields, place(c, width), (step + 1.0,))

    @subroutine
    def move_chains(fields: Any, blocks: int, dt: float) -> None:
        """Move the chains of translation and of rotation on by a step, and write the factors of the next two S."""
        of_centres, turning = 0.0, 0.0
        for c in range(blocks * LANES):
            centre, rotation = load_middle(fields, place(c, width))
            of_centres += centre
            turning += rotation
        first = place(0, width)
        numbers = load_numbers(fields, first)
        kt, time = numbers[6], numbers[7]
        at: Any = np.int64(first) + chains_at * LANES
        other = at + (links + 1) * LANES
        stored = move_chain(fields, at, links, 2.0 * of_centres, numbers[4], kt, time, dt)
        stored += move_chain(fields, other, links, 2.0 * turning, numbers[5], kt, time, dt)
        factors = exp(-0.5 * dt * fields[np.uint64(at)]), exp(-0.5 * dt * fields[np.uint64(other)])
        for c in range(blocks * LANES):
            store_factors(fields, place(c, width), (factors[0], factors[1], 1.0, 1.0))
        store_heat(fields, first, (-stored,))

    @kernel
    def ended(fields: Any, i: Any, end: Any, dt: Any) -> Any:
        """State and centre after the loads, and what the bath gave; ``end`` is the kernel."""
        noise, numbers = load_end(fields, i) if both or not begins else NOTHING, load_numbers(fields, i)
        state, moving, force, torque = (
            load_state(fields, i),
            load_moving(fields, i),
            load_force(fields, i),
            load_torque(fields, i),
        )
        (mass,) = load_mass(fields, i)
        return end(state, moving, force, torque, load_inertia(fields, i), mass, dt, noise, numbers)

    @kernel
    def begun(fields: Any, i: Any, start: Any, state: Any, moving: Any, given: Any, dt: Any) -> bool:
        """Take the part of a step before the loads, and write everything; returns whether the molecule is within its margin."""
        noise, numbers = load_noise(fields, i) if begins and noisy else NOTHING, load_numbers(fields, i)
        (mass,) = load_mass(fields, i)
        state, moving, middle, heat = start(state, moving, load_inertia(fields, i), mass, dt, noise, numbers)
        store_state(fields, i, state)
        store_moving(fields, i, moving)
        store_q(fields, i, state[:4])
        store_r(fields, i, moving[:3])
        store_middle(fields, i, middle)
        store_heat(fields, i, (load_heat(fields, i)[0] + (given + heat),))
        used = used_margin(fields, i, moving[:3], state[:4])
        fields[i + np.uint64(FRACTION * LANES)] = used
        within: bool = used <= 1.0
        return within

    @subroutine
    def advance(fields: Any, blocks: int, dt: float, predict: bool) -> bool:
        """The end of a step and the beginning of the next, over lanes: see :func:`polhode.manybody.engine.step_of_all`."""
        draw_noise(fields, blocks, False)
        outside = 0
        for block_number in range(np.uint64(blocks)):
            base_index = np.uint64(block_number) * np.uint64(width * LANES)
            for lane in range(np.uint64(LANES)):
                i = base_index + np.uint64(lane)
                state, moving, heat = ended(fields, i, fast_finish, dt)
                outside |= not begun(fields, i, fast_begin, state, moving, heat, dt)
        if scales:
            move_chains(fields, blocks, dt)
        return outside != 0

    def advance_each(
        fields: Any, blocks: int, wide: int, dt: float, since_last: float, predict: bool, first_part: bool
    ) -> bool:
        """Advance with the complete kernels, molecule by molecule; ``first_part``: only the beginning of a step."""
        draw_noise(fields, blocks, first_part)
        outside = False
        for c in range(blocks * LANES):
            i = place(c, wide)
            state, moving, heat = load_state(fields, i), load_moving(fields, i), 0.0
            if not first_part:
                state, moving, heat = ended(fields, i, finish, dt)
            outside |= not begun(fields, i, begin, state, moving, heat, dt)
        if scales:
            move_chains(fields, blocks, dt)
        return outside

    def begin_all(fields, blocks, count, v, omega, dt):  # type: ignore[no-untyped-def]
        """Write the initial states, with the loads there, and the numbers of the bath, which stand behind omega."""
        wide: Any = np.int64(width)
        for c in range(blocks * LANES):
            i = place(c, wide)
            body, (mass,) = load_inertia(fields, i), load_mass(fields, i)
            speed, spin, numbers = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            if c < count:
                speed, spin = (v[c, 0], v[c, 1], v[c, 2]), (omega[c, 0], omega[c, 1], omega[c, 2])
                numbers = numbers_behind(omega, c)
            store_numbers(fields, i, numbers)
            force, torque, momentum = load_force(fields, i), load_torque(fields, i), angular_momentum(spin, body)
            if not begins:
                force, torque = pushed(speed, momentum, mass, force, torque, noise_of(fields, i, c, 0.0, FIRST), numbers)
            state, moving = load_q(fields, i) + momentum + torque, load_r(fields, i) + speed + scale(1.0 / mass, force)
            store_state(fields, i, state)
            store_moving(fields, i, moving)
            if not begins:
                force, torque = load_force(fields, i), load_torque(fields, i)
                store_heat(fields, i, (work_to_come(state, moving, force, torque, mass, body, dt),))
            store_middle(fields, i, energies(speed, momentum, mass, body))

    def sample(fields, at_start, count, dt, readout):  # type: ignore[no-untyped-def]
        """Read r, v, q and omega of all molecules at a whole time, and write what the bath has given until then."""
        wide: Any = np.int64(width)
        for c in range(count):
            i = place(c, wide)
            state, moving, heat = load_state(fields, i), load_moving(fields, i), 0.0
            body, (mass,) = load_inertia(fields, i), load_mass(fields, i)
            force, torque = load_force(fields, i), load_torque(fields, i)
            if not at_start:
                noise, numbers, (step,) = NOTHING, load_numbers(fields, i), load_step(fields, i)
                if both:
                    noise = noise_of(fields, i, c, step, SECOND)
                if not begins:
                    noise = noise_of(fields, i, c, step, FIRST)
                state, moving, heat = finish(state, moving, force, torque, body, mass, dt, noise, numbers)
            if not begins:
                heat -= work_to_come(state, moving, force, torque, mass, body, dt)
            put3(readout.r, c, moving[:3])
            put3(readout.v, c, moving[3:6])
            put4(readout.q, c, state[:4])
            put3(readout.omega, c, angular_velocity(state[4:7], body))
            store_shown(fields, i, (load_heat(fields, i)[0] + heat,))

    record = engine.Record(width, load_state, store_state, load_moving, store_moving, base.carried, STATE)
    plain_advance = getattr(advance, "py_func", advance)
    plain = {"begin": begin_all, "advance": plain_advance, "advance_each": advance_each, "sample": sample}
    return engine.compiled_method(exact_rotor.METHOD, False, record, short is not None, plain)
