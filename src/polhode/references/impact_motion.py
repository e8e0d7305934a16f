"""The equations of motion of an impact as power series, and their integration from one change of the contact to the next.

With delta = s^4 and dt = 4 s^3 d(theta) it is ds/d(theta) = w, and the laws are polynomials (:class:`Coefficients`). While it
sticks, the spring has two components x along directions a, b = n x a that turn as it does. While it slips, its direction is
cos(psi) a + sin(psi) b, with

    d(psi)/d(theta) = 4 s^3 k_t (v_b cos(psi) - v_a sin(psi)) / (mu F_n).

This is singular where F_n = 0. At a first touch that slips without damping, the solution that is regular has v_t along the
spring, and its coefficients follow from a linear equation each. At the end, psi has no series; d(theta) = F_n/F d(eta), without
damping s/S d(eta), moves this point to infinity. The last piece, too short for psi to matter, is done with psi at rest.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import gmpy2
import numpy as np

from polhode.references.taylor import Series, cos, derivative, euler, expand, longest_step, sin, turning, values
from polhode.references.taylor import sqrt as root_of

#: No impact needs as many steps; one that does is not followed to its end.
MOST_STEPS = 3000
#: Coefficients below this part of the precision are zeros of a function that vanishes where its series begins.
ZERO = -0.7
#: A root is located to the last bit by so many Newton steps from double precision.
NEWTON_STEPS = 6
#: Of a sum of terms up to 1 in double precision; pieces of a step are not halved further.
FLOAT_ERROR, NARROW = 1e-14, 2.0**-45

Pair = tuple[Any, Any]


class Coefficients(NamedTuple):
    """F_n = s^p (K s^a + D w), k_t = kappa s^(p + b), gamma_t = G s^p, in powers of s = delta^(1/4), m^(1/4).

    K is ``stiffness``, D ``damping``, kappa ``tangential`` and G ``tangential_damping``, numbers of gmpy2 in SI units.
    """

    p: int
    a: int
    b: int
    stiffness: Any
    damping: Any
    tangential: Any
    tangential_damping: Any


class Energies(NamedTuple):
    """The ledger of an impact, J; kinetic + stored + lost is constant.

    ``made_by_law`` is what a spring whose stiffness changes with delta takes up without work (of either sign); a linear spring
    has none. With the incremental law stored_tangential is F_el^2 / (2 k_t).
    """

    kinetic: Any
    stored_normal: Any
    stored_tangential: Any
    dissipated_normal: Any
    dissipated_tangential: Any
    sliding: Any
    made_by_law: Any

    @property
    def lost(self) -> tuple[Any, ...]:
        """The energies, J, dissipated by the normal and the tangential dashpot and by sliding, and made by the law."""
        return self[3:]


class Snapshot(NamedTuple):
    """A state, in numbers of gmpy2 and SI units; a body is (r, velocity, q, omega, omega_lab).

    :class:`polhode.references.impact.ImpactState` explains the fields; ``force`` is the normal force F_n, N, and ``spring``
    the force (3,) of the tangential spring on the first body, lab frame, N.
    """

    t: Any
    bodies: list[Any]
    overlap: Any
    rate: Any
    force: Any
    spring: Any
    energies: Energies


@dataclass(frozen=True)
class Regime:
    """How the contact moves: ``spring`` is free, stick, slip, or two ends of slip; ``dashpot`` is none, capped, full."""

    spring: str
    dashpot: str = "none"
    #: The first touch, where s = 0.
    touch: bool = False

    @property
    def slips(self) -> bool:
        """Whether the spring is on the cone of friction."""
        return self.spring in ("slip", "slip out", "last")

    def __str__(self) -> str:
        name = "slip" if self.slips else self.spring
        return name if self.dashpot == "none" else f"{name}, tangential dashpot {self.dashpot}"


class Event(NamedTuple):
    """A function that is positive as long as a regime lasts, and what comes after it."""

    function: Series
    following: Regime | None


@dataclass
class ContactSeries:
    """Quantities of a contact that the equations of motion give beside the rates, as series or numbers, SI units.

    ``n`` (3,) is the normal, ``a`` and ``b`` (3,) are the tangential directions, all unit vectors in the lab; ``w`` is the rate
    of the overlap; ``along`` is the velocity along a spring that slips, ``sliding`` the rate of what slides, by d(theta); both
    are None where no spring slips.
    """

    n: Any
    a: Any
    b: Any
    w: Any
    #: F_n / outer, and the elastic force and the velocity along a and b: the tangential force is -outer (pull + theta gamma v).
    normal: Any
    outer: Any
    gamma: Any
    pull: Pair
    v: Pair
    along: Any
    sliding: Any


class Powers:
    """s^0, s^1, ..., each multiplied once."""

    def __init__(self, s: Any):
        self.powers = [1, s]

    def __getitem__(self, k: int) -> Any:
        while len(self.powers) <= k:
            self.powers.append(self.powers[-1] * self.powers[1])
        return self.powers[k]


@dataclass
class Motion:
    """Parameters of an impact and its equations of motion; lists have an entry for each body.

    Numbers are gmpy2's, in SI units. Of the parameters ``middle`` says whether the force acts in the middle of the overlap;
    ``normal`` is a unit vector (3,), lab frame; ``inertia`` has the principal moments (3,), ``offset`` the centre of the sphere
    from the centre of mass (3,), body frame; the others are explained by :class:`polhode.references.impact.Impact` and
    :class:`~polhode.references.impact.ImpactBody`.

    The vectors of a state are, in this order:

    * s (1,), m^(1/4), and the time t (1,), s;
    * the direction a (3,), a unit vector in the lab;
    * the spring: along a and b (2,) its displacement, m, or with the incremental law after the touch its force over kappa;
      while it slips, psi (1,), rad;
    * energies (5,), J: dissipated by the normal and by the tangential dashpot and by sliding, the work done on the spring, and
      the kinetic energy at the start;
    * of each body r (3,), m, and velocity (3,), m/s, in the lab, q (4,), body to lab, scalar first, and omega (3,), rad/s, in
      the body frame, or in the lab for a body with three equal moments whose sphere has its centre at the centre of mass.
    """

    law: Coefficients
    friction: Any
    incremental: bool
    middle: bool
    twirl: bool
    attraction: bool
    normal: Any
    mass: list[Any]
    radius: list[Any]
    inertia: list[Any]
    offset: list[Any]
    velocity: list[Any]
    omega: list[Any]
    q: list[Any]

    def __post_init__(self) -> None:
        # A body that touches at its centre and has three equal moments needs no orientation: omega is kept in the lab frame.
        self.round = [len(set(i)) == 1 and not any(c) for i, c in zip(self.inertia, self.offset, strict=True)]
        # Over a plane the directions a and b stay if the body never spins about the normal.
        self.frame: Any = None
        self.reference = self.speed = gmpy2.mpfr(1)

    def start(self) -> tuple[list[Any], Regime]:
        """The vectors of the state at the first touch, numbers, and the regime that begins there.

        Raises
        ------
        ValueError
            If the bodies do not approach each other, or a tangential dashpot acts without a normal one.
        """
        n, law, zero = self.normal, self.law, gmpy2.mpfr(0)
        bodies, u = [], (zero, zero, zero)
        for i, sign in zip(range(len(self.mass)), (1, -1), strict=False):
            to_lab = rotation(self.q[i])
            omega, offset = turned(to_lab, self.omega[i]), turned(to_lab, self.offset[i])
            arm = plus(offset, scaled(-sign * self.radius[i], n))
            at_contact = plus(self.velocity[i], cross(omega, arm))
            u = plus(u, scaled(sign, at_contact))
            r = scaled(-1, arm)
            bodies += [r, self.velocity[i], self.q[i], omega if self.round[i] else self.omega[i]]
        w = -dot(u, n)
        if not w > 0:
            raise ValueError(f"impact: the bodies do not approach each other, their distance grows by {float(-w)!r} m/s")
        tangential = plus(u, scaled(w, n))
        speed = gmpy2.sqrt(dot(tangential, tangential))
        self.speed = w + speed
        if not speed > w * gmpy2.mpfr(2) ** (-gmpy2.get_context().precision + 8):
            k = min(range(3), key=lambda j: abs(n[j]))
            axis = tuple(gmpy2.mpfr(j == k) for j in range(3))
            tangential = cross(n, axis)
        a = scaled(1 / gmpy2.sqrt(dot(tangential, tangential)), tangential)
        if len(self.mass) == 1 and (not self.twirl or (self.round[0] and not self.omega[0][2])):
            self.frame = a
        regime = Regime("stick", "full" if law.tangential_damping else "none", touch=True)
        spring: tuple[Any, ...] = (zero, zero)
        if not self.friction:
            regime = Regime("free", touch=True)
        elif law.damping:
            if law.tangential_damping * speed > self.friction * law.damping * w:
                regime = replace(regime, dashpot="capped")
        elif law.tangential_damping:
            raise ValueError(
                "impact: a tangential dashpot needs a normal one; without it there is no friction that could bear it"
            )
        else:
            share = gmpy2.mpfr(4) / (law.p + law.b + 4) if self.incremental else 1
            if share * law.tangential * speed > self.friction * law.stiffness * w:
                regime, spring = Regime("slip", touch=True), (zero,)
        energy = self._kinetic(bodies)
        return [(zero,), (zero,), a, spring, (zero, zero, zero, zero, energy), *bodies], regime

    def rates(self, vectors: Sequence[Any], regime: Regime) -> tuple[list[Any], ContactSeries]:
        """The rates of change of a state's vectors, and the quantities of the contact; series, or numbers for numbers.

        The rates are a list in the order of the vectors (see the class), by d(theta), or by d(eta) at the end of slip; in SI
        units. The energy at the start is there because the steps make energies accurate relative to the largest of them.
        """
        (s,), _, a, spring, _ = vectors[:5]
        a = self.frame or a
        law, mu = self.law, self.friction
        power = Powers(s)
        dt = 4 * power[3]
        n, gap, kinematics = self._kinematics(vectors, power[4])
        u, centres, spin = (0, 0, 0), (0, 0, 0), 0
        for sign, (centre, lever, _, omega) in zip((1, -1), kinematics, strict=False):
            u = plus(u, scaled(sign, plus(centre, cross(omega, lever))))
            centres = plus(centres, scaled(sign, centre))
            spin = add(spin, dot(omega, n))
        b = cross(n, a)
        w = -dot(centres, n)
        v = dot(u, a), dot(u, b)
        phi = law.stiffness * power[law.a] + law.damping * w
        a_rate = scaled(spin / 2, b) if self.twirl and not self.frame else (0, 0, 0)
        if gap is not None:
            a_rate = plus(a_rate, scaled(-dot(centres, a) / gap, n))

        # The total law, and the incremental one at the touch, have the displacement for a spring, in units of k_t; later the
        # latter has the force, in units of kappa.
        displacement = not self.incremental or regime.touch
        force_kept = regime.spring == "stick" and not displacement
        outer, gamma, normal = power[law.p], law.tangential_damping, phi
        if force_kept:
            outer, gamma, normal = gmpy2.mpfr(1), gamma * power[law.p], phi * power[law.p]
        along = sliding = None
        clock = (phi if law.damping else s) / self.reference if regime.spring == "slip out" else gmpy2.mpfr(1)
        if regime.slips:
            (psi,) = spring
            direction = cos(psi), sin(psi)
            pull = scaled(mu * phi, direction)
            along, across = dot(v, direction), v[1] * direction[0] - v[0] * direction[1]
            sliding = self._sliding(along, phi, w, power, dt, clock)
            rate: tuple[Any, ...] = (self._turn_of_spring(regime, psi, v, across, phi, s, w, power),)
        elif regime.spring == "stick":
            pull = scaled(law.tangential * (power[law.b] if displacement else 1), spring)
            grown = scaled(dt if displacement else dt * power[law.p + law.b], v)
            rate = grown
            if regime.touch and self.incremental and isinstance(s, Series):
                rate = tuple(_shrinking(x, g, s, w, law.p + law.b) for x, g in zip(spring, grown, strict=True))
        else:
            pull, rate = (gmpy2.mpfr(0), gmpy2.mpfr(0)), (gmpy2.mpfr(0), gmpy2.mpfr(0))

        theta = self._theta(regime, pull, v, gamma, normal, along)
        damped = theta * gamma if regime.dashpot != "none" else gmpy2.mpfr(0)
        f = scaled(-1, scaled(outer, plus(pull, scaled(damped, v))))
        force = plus(scaled(power[law.p] * phi, n), plus(scaled(f[0], a), scaled(f[1], b)))
        ledger = (
            dt * power[law.p] * (law.damping * w * w) if law.damping else 0,
            dt * outer * (damped * dot(v, v)) if regime.dashpot != "none" else 0,
            mu * power[law.p] * phi * sliding if regime.slips else 0,
            dt * outer * dot(pull, v) if regime.spring != "free" else 0,
            0,
        )
        result: list[Any] = [(w,), (dt,), scaled(dt, a_rate), rate, ledger]
        for i, (sign, (_, _, arm, _)) in enumerate(zip((1, -1), kinematics, strict=False)):
            _, velocity, q, omega = vectors[5 + 4 * i : 9 + 4 * i]
            load = scaled(sign, force)
            torque = cross(arm, load)
            if self.round[i]:
                turn, spin_up = turning_lab(q, omega), scaled(1 / self.inertia[i][0], torque)
            else:
                turn, spin_up = turning(q, omega), euler(omega, back(rotation(q), torque), self.inertia[i])
            result += [scaled(dt, x) for x in (velocity, scaled(1 / self.mass[i], load), turn, spin_up)]
        if regime.spring == "slip out":
            result = [x if i == 3 else scaled(clock, x) for i, x in enumerate(result)]
        return result, ContactSeries(n, a, b, w, normal, outer, gamma, pull, v, along, sliding)

    def _kinematics(self, vectors: Sequence[Any], delta: Any) -> tuple[Any, Any, list[Any]]:
        """The normal, the distance of the spheres (None: a plane), and of each body in the lab frame four vectors.

        They are the velocity of the centre of its sphere, the point of contact seen from there and from the centre of mass, and
        the angular velocity.
        """
        moving = []
        for i in range(len(self.mass)):
            r, velocity, q, omega = vectors[5 + 4 * i : 9 + 4 * i]
            if self.round[i]:
                moving.append((r, velocity, (0, 0, 0), omega))
            else:
                to_lab = rotation(q)
                omega, offset = turned(to_lab, omega), turned(to_lab, self.offset[i])
                moving.append((plus(r, offset), plus(velocity, cross(omega, offset)), offset, omega))
        if len(moving) == 1:
            n, gap = self.normal, None
            reach = [self.radius[0] - delta if self.middle else self.radius[0]]
        else:
            # The overlap is a state of its own, so no root of the squared distance is needed.
            gap = self.radius[0] + self.radius[1] - delta
            n = scaled(1 / gap, plus(moving[0][0], scaled(-1, moving[1][0])))
            reach = [a - delta / 2 if self.middle else a for a in self.radius]
        levers = [scaled(-sign * length, n) for sign, length in zip((1, -1), reach, strict=False)]
        return (
            n,
            gap,
            [
                (velocity, lever, plus(offset, lever), omega)
                for lever, (_, velocity, offset, omega) in zip(levers, moving, strict=True)
            ],
        )

    def _sliding(self, along: Any, phi: Any, w: Any, power: Powers, dt: Any, clock: Any) -> Any:
        """d(lambda)/d(theta): what the motion adds along a spring that slips, less the growth of its length mu F_n / k_t."""
        law = self.law
        scale = self.friction / law.tangential
        if not law.damping:
            share = gmpy2.mpfr(law.p + law.a) / 4 if self.incremental else 1
            return dt * (along - scale * law.stiffness * share * w)
        # A number has no derivative; where the state is made of numbers, nobody reads what slides.
        growth = derivative(phi) / clock if isinstance(phi, Series) else 0
        factor = law.p if self.incremental else -law.b
        if factor:
            growth += factor * phi * w / power[1]
        return dt * along - scale * growth / power[law.b]

    def _turn_of_spring(self, regime: Regime, psi: Any, v: Pair, across: Any, phi: Any, s: Any, w: Any, power: Powers) -> Any:
        """d(psi) by d(theta), or by d(eta) at the end of slip."""
        law = self.law
        if regime.spring == "last":
            return gmpy2.mpfr(0)
        if law.damping:
            speed = 4 * law.tangential / self.friction * power[3 + law.b] * across
            return speed / (self.reference if regime.spring == "slip out" else phi)
        speed = 4 * law.tangential / (self.friction * law.stiffness)
        if regime.touch and isinstance(s, Series):
            return _regular(psi, v, s, speed)
        return speed * across / (self.reference if regime.spring == "slip out" else s)

    def _theta(self, regime: Regime, pull: Pair, v: Pair, gamma: Any, normal: Any, along: Any) -> Any:
        """The largest part of the tangential dashpot, in [0, 1], that leaves the force within the cone of friction."""
        if regime.dashpot != "capped":
            return gmpy2.mpfr(regime.dashpot == "full")
        mu = self.friction
        square = gamma * gamma * dot(v, v)
        if regime.slips:
            return -2 * mu * normal * gamma * along / square
        mixed = gamma * dot(pull, v)
        room = mu * mu * (normal * normal) - dot(pull, pull)
        root = root_of(mixed * mixed + square * room)
        return room / (mixed + root) if leading(mixed) > 0 else (root - mixed) / square

    def events(self, vectors: Sequence[Any], contact: ContactSeries, regime: Regime) -> list[Event]:
        """The events that can end a regime, from the series of a state's vectors and of its contact.

        The class lists the vectors. Numbers instead of series have no events.
        """
        law, mu, s = self.law, self.friction, vectors[0][0]
        later = replace(regime, touch=False)
        events = []

        def event(function: Any, following: Regime | None) -> None:
            if isinstance(function, Series):
                events.append(Event(function, following))

        if regime.spring == "slip out":
            # To first order in the rest of the impact the force of the spring is of second order in it, or of tenth.
            if law.damping:
                event(
                    contact.normal - self.reference * gmpy2.exp2(-gmpy2.get_context().precision // 2),
                    replace(later, spring="last"),
                )
            else:
                event(s - self.reference * gmpy2.exp2(-gmpy2.get_context().precision // 9), replace(later, spring="last"))
        else:
            event(contact.normal if law.damping and not self.attraction else s, None)
        if regime.spring == "free" or gmpy2.is_infinite(mu) or regime.spring == "last":
            return events
        cone = mu * mu * (contact.normal * contact.normal)
        if regime.slips:
            # A spring that sticks again is on the cone still, and leaves no room for the dashpot as yet.
            capped = law.tangential_damping and regime.dashpot == "none"
            event(contact.sliding, replace(later, spring="stick", dashpot="capped" if capped else regime.dashpot))
            if regime.spring == "slip":
                event(contact.w, replace(later, spring="slip out"))
        elif regime.spring == "stick":
            event(cone - dot(contact.pull, contact.pull), replace(later, spring="slip", dashpot="slips"))
        if law.tangential_damping:
            whole = plus(contact.pull, scaled(contact.gamma, contact.v))
            beyond = dot(whole, whole) - cone
            if regime.dashpot == "full":
                event(-beyond, replace(later, dashpot="capped"))
            elif regime.dashpot == "capped":
                event(beyond, replace(later, dashpot="full"))
                if regime.slips:
                    event(-contact.along, replace(later, dashpot="none"))
            else:
                event(contact.along, replace(later, dashpot="capped"))
        return events

    def changed(self, vectors: list[Any], old: Regime, new: Regime) -> tuple[list[Any], Regime]:
        """The vectors of a state where the regime ``old`` ends, written for the next regime, and the next regime.

        The class lists the vectors, here of numbers. The next regime is ``new``, but for its dashpot and the end of slip,
        which depend on the state.
        """
        vectors = list(vectors)
        (s,) = vectors[0]
        law = self.law
        if new.spring == "stick":
            if old.slips:
                length = self.friction / law.tangential * self._normal_force(vectors)
                if not self.incremental:
                    length /= s ** (law.p + law.b)
                (psi,) = vectors[3]
                vectors[3] = (length * gmpy2.cos(psi), length * gmpy2.sin(psi))
            elif self.incremental and old.touch and not new.touch:
                vectors[3] = tuple(x * s ** (law.p + law.b) for x in vectors[3])
        elif new.slips and not old.slips:
            x, y = vectors[3]
            vectors[3] = (gmpy2.atan2(y, x),)
            if new.dashpot == "slips":
                new = replace(new, dashpot="none")
                if law.tangential_damping:
                    _, contact = self.rates(vectors, new)
                    whole = plus(contact.pull, scaled(contact.gamma, contact.v))
                    beyond = dot(whole, whole) - (self.friction * contact.normal) ** 2
                    if contact.along < 0:
                        new = replace(new, dashpot="capped" if beyond > 0 else "full")
        if new.slips and new.dashpot == "capped":
            _, contact = self.rates(vectors, replace(new, dashpot="none"))
            # In a plane the motion turns round where it stops: all or nothing of the dashpot fits, never a share of it.
            if dot(contact.v, contact.v) < self.speed**2 * gmpy2.exp2(int(ZERO * gmpy2.get_context().precision)):
                new = replace(new, dashpot="full" if old.dashpot == "none" else "none")
        if new.spring == "slip" and not new.touch:
            _, contact = self.rates(vectors, new)
            if contact.w <= 0:
                new = replace(new, spring="slip out")
        if new.spring == "slip out" and old.spring != "slip out":
            _, contact = self.rates(vectors, replace(new, spring="slip", dashpot="none"))
            self.reference = contact.normal if law.damping else s
        return vectors, new

    def _normal_force(self, vectors: Sequence[Any]) -> Any:
        (s,) = vectors[0]
        n, _, kinematics = self._kinematics(vectors, s**4)
        w = -sum(sign * dot(centre, n) for sign, (centre, *_) in zip((1, -1), kinematics, strict=False))
        return s**self.law.p * (self.law.stiffness * s**self.law.a + self.law.damping * w)

    def _kinetic(self, bodies: Sequence[Any]) -> Any:
        """Energy of r, v, q, omega of each body; three equal moments serve both frames."""
        doubled = gmpy2.mpfr(0)
        for i, mass in enumerate(self.mass):
            _, velocity, _, omega = bodies[4 * i : 4 * i + 4]
            doubled += mass * dot(velocity, velocity) + sum(j * x * x for j, x in zip(self.inertia[i], omega, strict=True))
        return doubled / 2

    def snapshot(self, vectors: Sequence[Any], regime: Regime, ended: bool = False) -> Snapshot:
        """The state of these vectors, numbers as of the class; if it has ``ended``, with a closed energy balance."""
        (s,), (t,), _, _, integrals = vectors[:5]
        law, zero = self.law, gmpy2.mpfr(0)
        bodies, kinetic = [], self._kinetic(vectors[5:])
        for i in range(len(self.mass)):
            r, velocity, q, omega = vectors[5 + 4 * i : 9 + 4 * i]
            to_lab = rotation(q)
            inside, outside = (back(to_lab, omega), omega) if self.round[i] else (omega, turned(to_lab, omega))
            bodies.append((r, velocity, q, inside, outside))
        if not s > 0 and not ended:
            _, contact = self.rates([(gmpy2.mpfr(0),), *vectors[1:]], Regime("free"))
            energies = Energies(kinetic, *[zero] * 6)
            return Snapshot(t, bodies, zero, contact.w, contact.normal * (law.p == 0), (zero,) * 3, energies)
        _, contact = self.rates(vectors, replace(regime, spring="slip") if regime.slips else regime)
        pull = scaled(contact.outer, contact.pull)
        spring = scaled(-1, plus(scaled(pull[0], contact.a), scaled(pull[1], contact.b)))
        delta = s**4
        normal, tangential, sliding, work, _ = integrals
        stored = 4 * law.stiffness * s ** (law.p + law.a + 4) / (law.p + law.a + 4)
        held = dot(pull, pull) / (2 * law.tangential * s ** (law.p + law.b)) if dot(pull, pull) and not ended else zero
        if ended:
            normal, stored = normal + stored, zero
        energies = Energies(kinetic, stored, held, normal, tangential, sliding, work - sliding - held)
        return Snapshot(t, bodies, delta, contact.w, contact.normal * contact.outer, spring, energies)


def _shrinking(x: Series, grown: Series, s: Series, w: Any, power: int) -> Series:
    """The rate of x from d(x)/d(theta) = grown - power x w/s where s and x vanish: coefficients x_k solve linear equations."""
    ratio = w / Series(lambda k: s[k + 1])

    def rule(k: int) -> Any:
        known = sum(x[j] * ratio[k + 1 - j] for j in range(1, k + 1))
        return (k + 1) * (grown[k] - power * known) / (k + 1 + power * ratio[0])

    return Series(rule)


def _regular(psi: Series, v: Pair, s: Series, speed: Any) -> Series:
    """The rate of psi from d(psi)/d(theta) = speed (v_b cos(psi) - v_a sin(psi))/s where s, psi and v_b vanish."""
    inverse = 1 / Series(lambda k: s[k + 1])
    sine, cosine = sin(psi), cos(psi)
    across: list[Any] = [gmpy2.mpfr(0)]

    def rule(k: int) -> Any:
        j = k + 1
        known = sum(v[1][i] * cosine[j - i] - v[0][i] * sine[j - i] for i in range(1, j + 1))
        known -= v[0][0] * sum(i * psi[i] * cosine[j - i] for i in range(1, j)) / j
        before = sum(inverse[j - i] * across[i] for i in range(1, j))
        rate = speed * (inverse[0] * known + before) / (j + speed * inverse[0] * v[0][0])
        across.append(known - v[0][0] * rate)
        return j * rate

    return Series(rule)


def integrate(
    motion: Motion, times: Sequence[Any], bits: int, order: int | None = None
) -> tuple[Snapshot, list[Snapshot], Snapshot, list[tuple[Any, str]]]:
    """The motion of an impact from the first touch to its end, in the current precision of gmpy2.

    Parameters
    ----------
    times : ascending times since the first touch at which the state is wanted, s
    bits : the current precision
    order : of the expansions; by default the one with the least work

    Returns
    -------
    start, states, end, changes
        The state at the start; the states at the times, fewer if the impact ends before; the state at the end; and the changes
        of regime, pairs of the time, s, and the name of the regime that begins.

    Raises
    ------
    ValueError
        If the bodies do not approach each other, or a tangential dashpot acts without a normal one.
    ArithmeticError
        If the impact does not end within :data:`MOST_STEPS` steps.
    """
    order = order or math.ceil(bits * math.log(2) / 2) + 1
    vectors, regime = motion.start()
    start = motion.snapshot(vectors, regime)
    states: list[Snapshot] = []
    changes = [(gmpy2.mpfr(0), str(regime))]
    fresh = True
    for _ in range(MOST_STEPS):
        contacts: list[ContactSeries] = []

        def equations(
            _: Any, unknown: Sequence[Any], regime: Regime = regime, contacts: list[ContactSeries] = contacts
        ) -> list[Any]:
            rates, contact = motion.rates(unknown, regime)
            contacts.append(contact)
            return rates

        series = expand(gmpy2.mpfr(0), vectors, equations)
        for vector in series:
            for component in vector:
                component.upto(order)
        step = longest_step(series, bits, order)
        following: Regime | None = replace(regime, touch=False)
        ended = False
        for function, next_regime in motion.events(series, contacts[0], regime):
            root = first_root(function.upto(order - 1), step, bits, fresh)
            if root is not None:
                step, following, ended = root, next_regime, next_regime is None
        while len(states) < len(times):
            late = [times[len(states)] - series[1][0][0], *(-c for c in series[1][0].coefficients[1:])]
            at = gmpy2.mpfr(0) if not late[0] else first_root(late, step, bits, False)
            if at is None:
                break
            states.append(start if not times[len(states)] else motion.snapshot(values(series, at, order), regime))
        vectors = values(series, step, order)
        if ended or following is None:
            return start, states, motion.snapshot(vectors, regime, ended=True), changes
        vectors, following = motion.changed(vectors, regime, following)
        fresh = following != replace(regime, touch=False) or regime.touch
        if str(following) != str(regime):
            changes.append((vectors[1][0], str(following)))
        regime = following
    raise ArithmeticError(
        f"the impact does not end within {MOST_STEPS} steps; it is at t = {float(vectors[1][0])!r} s, {regime}"
    )


def first_root(coefficients: Sequence[Any], last: Any, bits: int, fresh: bool) -> Any:
    """The smallest root in [0, last] at which a power series, positive before, turns negative; None if there is none.

    It is 0 where the first coefficient that counts is not positive.

    ``coefficients`` begin with the constant term, and are numbers of gmpy2 with ``bits`` bits; the root has the unit of
    ``last``.

    The interval is halved until the sign on each piece is certain from a bound of the derivative, so that no pair of roots is
    missed. A series that is ``fresh`` may vanish at 0 itself: leading coefficients that are zero but for rounding do not count.
    """
    terms, scale = [], gmpy2.mpfr(1)
    for c in coefficients:
        terms.append(c * scale)
        scale *= last
    largest = max(map(abs, terms))
    if not largest:
        return None
    if fresh:
        zero = largest * gmpy2.exp2(int(ZERO * bits))
        while abs(terms[0]) < zero:
            terms.pop(0)
    sizes = np.array([float(x / largest) for x in terms])
    if sizes[0] <= 0:
        return gmpy2.mpfr(0)
    k = np.arange(len(sizes))
    slopes, bends = (k * sizes)[1:], (k * (k - 1) * sizes)[2:]
    pieces = [(0.0, 1.0)]
    while pieces:
        low, high = pieces.pop()
        middle, half = (low + high) / 2, (high - low) / 2
        value, change = sizes @ middle**k, half * (abs(slopes) @ high ** k[:-1])
        if abs(value) > change + FLOAT_ERROR:
            if value < 0:
                return last * _polish(terms, low)
        elif abs(value) + change < FLOAT_ERROR:
            # Zero as far as can be seen here; a root shows in the next piece.
            continue
        elif abs(slopes @ middle ** k[:-1]) > half * (abs(bends) @ high ** k[:-2]) or half < NARROW:
            if sizes @ high**k < 0 or (high == 1.0 and sum(terms) < 0):
                return last * _polish(terms, middle)
        else:
            pieces += [(middle, high), (low, middle)]
    return None


def _value(coefficients: Sequence[Any], x: Any) -> Any:
    value: Any = 0
    for c in reversed(coefficients):
        value = value * x + c
    return value


def _polish(coefficients: Sequence[Any], x: float) -> Any:
    """A root of a polynomial near x to the precision of its coefficients."""
    slopes = [k * c for k, c in enumerate(coefficients)][1:]
    root = gmpy2.mpfr(x)
    for _ in range(NEWTON_STEPS):
        root -= _value(coefficients, root) / _value(slopes, root)
    return root


def leading(x: Any) -> Any:
    """The constant term of a series, or a number itself."""
    return x[0] if isinstance(x, Series) else x


def _nothing(x: Any) -> bool:
    return not isinstance(x, Series) and not x


def add(x: Any, y: Any) -> Any:
    """The sum x + y of numbers or series: a number or a series; zeros cost nothing."""
    return y if _nothing(x) else x if _nothing(y) else x + y


def product(x: Any, y: Any) -> Any:
    """The product x y of numbers or series: a number or a series; zeros and ones cost nothing."""
    if _nothing(x) or _nothing(y):
        return gmpy2.mpfr(0)
    return y if not isinstance(x, Series) and x == 1 else x if not isinstance(y, Series) and y == 1 else x * y


def dot(x: Sequence[Any], y: Sequence[Any]) -> Any:
    """The scalar product of two vectors of equal length, whose components are numbers or series: a number or a series."""
    total: Any = gmpy2.mpfr(0)
    for a, b in zip(x, y, strict=True):
        total = add(total, product(a, b))
    return total


def plus(x: Sequence[Any], y: Sequence[Any]) -> tuple[Any, ...]:
    """The sum x + y of two vectors of equal length, whose components are numbers or series, in their common unit."""
    return tuple(add(a, b) for a, b in zip(x, y, strict=True))


def scaled(c: Any, x: Sequence[Any]) -> tuple[Any, ...]:
    """The vector c x, of the length of x; c and the components are numbers or series."""
    return tuple(product(c, a) for a in x)


def cross(x: Sequence[Any], y: Sequence[Any]) -> tuple[Any, ...]:
    """The vector product of x and y (3,), whose components are numbers or series."""
    return tuple(add(product(x[i], y[j]), -product(x[j], y[i])) for i, j in ((1, 2), (2, 0), (0, 1)))


def rotation(q: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
    """The rotation matrix (3, 3), by rows, of the unit quaternion q (4,), scalar first; both body to lab."""
    w, x, y, z = q
    xx, yy, zz, xy, yz, zx, wx, wy, wz = x * x, y * y, z * z, x * y, y * z, z * x, w * x, w * y, w * z
    return (
        (1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (zx + wy)),
        (2 * (xy + wz), 1 - 2 * (zz + xx), 2 * (yz - wx)),
        (2 * (zx - wy), 2 * (yz + wx), 1 - 2 * (xx + yy)),
    )


def turned(matrix: Sequence[Sequence[Any]], x: Sequence[Any]) -> tuple[Any, ...]:
    """The vector x (3,) of the body frame in the lab frame, in its unit, by the matrix of :func:`rotation`."""
    return tuple(dot(row, x) for row in matrix)


def back(matrix: Sequence[Sequence[Any]], x: Sequence[Any]) -> tuple[Any, ...]:
    """The vector x (3,) of the lab frame in the body frame, in its unit, by the matrix of :func:`rotation`."""
    return tuple(dot(column, x) for column in zip(*matrix, strict=True))


def turning_lab(q: Sequence[Any], omega: Sequence[Any]) -> tuple[Any, ...]:
    """The rate dq/dt = (0, omega) q / 2 (4,), 1/s, from q (4,), scalar first, body to lab, and omega (3,), rad/s, lab frame."""
    w, x, y, z = q
    a, b, c = omega
    return (
        (product(-1, x) * a - y * b - z * c) / 2,
        (w * a + z * b - y * c) / 2,
        (w * b + x * c - z * a) / 2,
        (w * c + y * a - x * b) / 2,
    )
